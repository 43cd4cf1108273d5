/* cvm.c - CVM's detector (Perkovic, Keleher, TPDS): races found by what lazy release consistency
 * keeps anyway. A thread's execution is cut into intervals; of each it is remembered which words of
 * which pages it touched. At a barrier concurrent intervals with a page in common are compared word
 * by word.
 *
 * What differs from the paper: threads come and go, so what a barrier has compared is kept as far
 * as a thread may yet come that does not know of it (of each thread and word the last access of a
 * kind); a barrier may be of some threads only; memory may be cleared and moved. */
#include "policy/cvm/cvm.h"
#include "policy/cost/metadata.h"

#include <stdlib.h>
#include <string.h>

static const char *const sites_choices[] = {"off", "rerun", "at-once", NULL};
static const char *const report_choices[] = {"all", "first", NULL};
static const char *const writes_choices[] = {"calls", "diffs", NULL};
static const char *const full_choices[] = {"consolidate", "stop", NULL};
static const struct param cvm_params[] = {
#define PARAMS_DEF "policy/cvm/params.def"
#define PARAMS_OF  struct cvm_params
#include "base/param_rows.h"
};

/* ---- threads and intervals ------------------------------------------------------------------ */

static NO_INLINE void more_threads(struct cvm *c, uint32_t actor)
{
    size_t i = c->threads;

    c->thread = budget_reach(c->env->budget, c->thread, &c->threads, actor, sizeof *c->thread);
    for (; i < c->threads; i++)
        map_init(&c->thread[i].sites, c->env->budget);
}

static inline struct cvm_thread *thread_at(struct cvm *c, uint32_t actor)
{
    if (UNLIKELY(actor >= c->threads))
        more_threads(c, actor);
    return &c->thread[actor];
}

static struct cvm_vector *known_now(struct cvm *c, struct cvm_thread *t, uint32_t actor)
{
    if (!t->known) {
        t->known = xcalloc(1, sizeof *t->known);
        t->known->users = 1;
        budget_take(c->env->budget, sizeof *t->known);
        vclock_copy(&t->known->clock, &c->env->hb->actor[actor].clock, c->env->budget);
    }
    t->known->users++;
    return t->known;
}

/* A master compares all that there is, and pays for it; the others wait. */
static void compare_all(struct cvm *c)
{
    const bool on = c->env->cost->on;
    struct cvm_work work = {0};

    memset(c->asked, 0, sizeof c->asked);
    c->asked_any = false;
    c->counts = on ? &work : NULL;
    cvm_consolidate(c);
    c->counts = NULL;
    if (on)
        cvm_charge_master(c, &work);
}

/* The system's buffers are full and there was no barrier (6.2). Whose interval finds no room is the
 * master; the others stop at their next synchronisation until it is done. */
static void buffers_full(struct cvm *c, uint32_t actor)
{
    if (c->params.full == CVM_FULL_STOP) {
        err_set(c->env->err, LARD_CONFIG,
                "event %llu: policy cvm: %llu intervals have begun since the last barrier, as many "
                "as there are buffers; raise intervals, or set full=consolidate",
                (unsigned long long)*c->env->number, (unsigned long long)c->params.intervals);
        return;
    }
    c->st.consolidations++;
    compare_all(c);
    for (uint32_t a = 0; a < c->threads; a++)
        c->thread[a].held = c->env->cost->on && a != actor;
}

/* An access begins the thread's next interval: one without accesses has no notices, and is none. */
static NO_INLINE void begin_interval(struct cvm *c, uint32_t actor, const struct event *ev,
                                     uint64_t number)
{
    if (c->fresh >= c->params.intervals)
        buffers_full(c, actor);
    struct cvm_thread *t = thread_at(c, actor);
    struct cvm_interval *i = pool_get(&c->intervals);

    cvm_end_interval(c, t);
    *i = (struct cvm_interval){.known = known_now(c, t, actor),
                               .time = epoch_time(c->env->hb->actor[actor].now),
                               .serial = ++c->serial,
                               .index = ++t->intervals,
                               .event = number,
                               .actor = actor,
                               .users = 1,
                               .tid = ev->tid};
    i->sited = c->params.sites == CVM_SITES_AT_ONCE ||
               (c->params.sites && map_find(&c->named, cvm_interval_key(i->tid, i->index)));
    t->interval = i;
    t->core = c->env->core;
    t->serial = i->serial;
    t->seen = c->env->hb->actor[actor].now;
    c->fresh++;
    c->st.intervals++;
}

/* ---- accesses ------------------------------------------------------------------------------- */

static NO_INLINE struct cvm_entry *find_entry(struct cvm *c, struct cvm_thread *t, uint32_t actor,
                                              uint64_t number)
{
    struct cvm_page *p = cvm_page_make(c, number);
    struct cvm_lane *l = cvm_lane(c, p, actor);

    if (!l->fresh || l->fresh->of != t->interval) {
        struct cvm_entry *x = cvm_entry_new(c, t->interval);
        x->page = number;
        x->sibling = t->interval->entries;
        t->interval->entries = x;
        x->next = l->fresh;
        l->fresh = x;
        cvm_list(c, p);
    }
    t->near[number % CVM_NEAR] = (struct cvm_near){number, t->serial, l->fresh};
    return l->fresh;
}

static inline enum cvm_kind kind_of(const struct event *ev)
{
    return (enum cvm_kind)((event_writes(ev) ? CVM_WRITE : CVM_READ) +
                           (ev->flags & EVF_ORDER_MASK ? CVM_ATOMIC_READ : 0));
}

/* Keeps the place of an interval's first access of a kind to a word. */
static NO_INLINE void keep_place(struct cvm *c, const struct cvm_entry *x, enum cvm_kind k,
                                 size_t word, const struct event *ev, uint64_t number)
{
    if (!x->of->sited || x->bits[k][word / 64] >> word % 64 & 1)
        return;
    cvm_put_place(
        c, x->bits[k], word,
        (struct cvm_place){.event = number, .op = ev->kind, .known = true, .site = event_site(ev)});
    if (c->env->cost->on)
        cvm_charge_site(c, x->of->actor,
                        (x->page << c->page_shift) + ((sim_addr)word << c->word_shift),
                        event_writes(ev));
}

static inline void set_bit(struct cvm *c, struct cvm_thread *t, uint32_t actor, sim_addr at,
                           const struct event *ev, uint64_t event)
{
    const uint64_t number = at >> c->page_shift;
    const struct cvm_near *near = &t->near[number % CVM_NEAR];
    struct cvm_entry *x = near->entry;
    const size_t w = (size_t)((at & ((UINT64_C(1) << c->page_shift) - 1)) >> c->word_shift);

    if (UNLIKELY(near->page != number || near->serial != t->serial))
        x = find_entry(c, t, actor, number);
    const enum cvm_kind k = kind_of(ev);
    if (UNLIKELY(c->params.writes == CVM_WRITES_DIFFS) && CVM_WRITES >> k & 1)
        x = cvm_diff(c, x);
    uint64_t *words = cvm_words(c, x, k, w / 64);
    if (UNLIKELY(c->params.sites))
        keep_place(c, x, k, w, ev, event);
    *words |= UINT64_C(1) << w % 64;
    cvm_parts(c, x, k, w);
    x->system |= ev->flags & EVF_SYSTEM;
}

/* The routine is called, and finds that it is shared. */
static NO_INLINE bool is_seen(struct cvm *c, struct cvm_thread *t, uint32_t actor,
                              const struct event *ev)
{
    const enum cvm_way way = cvm_instrumented(c, t, ev);

    if (UNLIKELY(c->env->cost->on))
        cvm_charge_access(c, actor, ev, way);
    return way != CVM_NOOPS && !(ev->flags & EVF_PRIVATE);
}

/* False: the run ends. */
static inline bool remember(struct cvm *c, const struct event *ev, uint64_t number)
{
    const struct granules g = granules_of(ev, c->env->granule);
    const uint32_t actor = hb_actor(c->env->hb, ev->tid);
    struct cvm_thread *t = thread_at(c, actor);

    if (UNLIKELY(!c->plain || ev->flags & EVF_PRIVATE) && !is_seen(c, t, actor, ev))
        return true;
    if (UNLIKELY(!t->serial || t->interval->tid != ev->tid)) {
        begin_interval(c, actor, ev, number);
        t = &c->thread[actor];
    }
    for (sim_addr a = g.first;; a += g.step) {
        set_bit(c, t, actor, a, ev, number);
        if (LIKELY(a == g.last))
            return true;
        if (budget_ends(c->env->budget))
            return false;
    }
}

static void cvm_access(void *self, const struct event *ev)
{
    struct cvm *c = self;

    remember(c, ev, *c->env->number);
}

/* ---- synchronisation ------------------------------------------------------------------------ */

/* The actor's own entry has gone up, or it takes something: its interval ends. */
static void look_at(struct cvm *c, uint32_t actor, bool takes)
{
    struct cvm_thread *t = thread_at(c, actor);
    const epoch now = c->env->hb->actor[actor].now;

    if (UNLIKELY(t->held))
        cvm_charge_departure(c);
    t->held = false;
    if (takes)
        cvm_forget_vector(c, t);
    if (takes || t->seen != now) {
        cvm_end_interval(c, t);
        cvm_modify(c, t);
        t->block_n = 0;
    }
    t->seen = now;
}

/* The thread's clock has taken something, for a new interval to begin. */
static bool takes(const struct cvm *c, const struct event *ev)
{
    switch (ev->kind) {
    case EV_ACQUIRE:
    case EV_ACQUIRE_SHARED:
        return hb_lock_depth(c->env->hb, ev->addr, ev->tid, ev->kind == EV_ACQUIRE_SHARED) == 1;
    case EV_WRITEVC:
        return ev->aux != ev->tid;
    default:
        return ev_info[ev->kind].takes;
    }
}

/* The first to leave a round finds all that arrived: the master's comparison (4.3). */
static void depart(struct cvm *c, const struct event *ev)
{
    uint64_t *round = map_put(&c->rounds, ev->addr);

    if (*round == ev->aux + 1) {
        if (c->env->cost->on)
            cvm_charge_departure(c);
        return;
    }
    *round = ev->aux + 1;
    c->st.barriers++;
    compare_all(c);
}

static void cvm_sync(void *self, const struct event *ev)
{
    struct cvm *c = self;
    const sim_tid child = (sim_tid)ev->aux;

    look_at(c, hb_actor(c->env->hb, ev->tid), takes(c, ev));
    /* A join with a thread that has not ended publishes that thread's clock. */
    if (ev->kind == EV_JOIN && hb_has_begun(c->env->hb, child))
        look_at(c, hb_actor(c->env->hb, child), false);
    if (ev->kind == EV_BARRIER_DEPART)
        depart(c, ev);
}

static void cvm_edges(void *self, enum policy_edge at, const struct event *ev,
                      const struct event *accesses, size_t n)
{
    struct cvm *c = self;
    const uint32_t actor = hb_actor(c->env->hb, ev->tid);

    (void)accesses;
    (void)n;
    if (at == EDGE_BEGIN) {
        c->begun += thread_at(c, actor)->seen == 0;
        if (c->params.processes && c->begun > c->params.processes)
            err_set(c->env->err, LARD_CONFIG,
                    "event %llu: policy cvm: a version vector has %llu entries, and one more "
                    "thread comes; raise processes, or set it to 0",
                    (unsigned long long)*c->env->number, (unsigned long long)c->params.processes);
    }
    const bool acquires = ev_info[ev->kind].takes && order_takes(event_order(ev));
    const bool takes =
        at == EDGE_BEGIN || (at == EDGE_BEFORE && (ev->kind == EV_TXN_COMMIT || acquires));
    if (takes || at == EDGE_AFTER)
        look_at(c, actor, takes);
}

static void cvm_heap(void *self, const struct event *ev)
{
    if (ev->kind == EV_CLEAR)
        cvm_clear(self, ev->addr, ev->aux);
    else if (ev->kind == EV_COPY)
        cvm_copy(self, ev->addr, ev[1].addr, ev->aux);
}

static void cvm_finish(void *self)
{
    struct cvm *c = self;

    c->env->cost->on = false; /* the machine has stopped */
    cvm_consolidate(c);
}

/* ---- life ----------------------------------------------------------------------------------- */

static void cvm_amend(const void *self, struct promise *p)
{
    const struct cvm *c = self;

    if (c->params.modify || c->params.report == CVM_REPORT_FIRST)
        p->claims &= ~(unsigned)CLAIM_SOUND;
    if (c->params.writes == CVM_WRITES_DIFFS)
        p->claims &= ~(unsigned)(CLAIM_SOUND | CLAIM_PRECISE);
    if (c->params.sites == CVM_SITES_AT_ONCE)
        p->claims &= ~(unsigned)CLAIM_UNSITED;
}

static void cvm_explain(const void *self, const struct event *ev, sim_addr location, char *to,
                        size_t room)
{
    const struct cvm *c = self;
    const char *says = "it names intervals, which it compares at the next barrier, and no sites";

    (void)ev;
    if (!cvm_page_find(c, location >> c->page_shift))
        says = "it has seen no access to this page";
    else if (c->params.writes == CVM_WRITES_DIFFS)
        says = "it takes writes from diffs, which may have later writes, too (4.5.4)";
    else if (c->st.unseen)
        says = "it does not see accesses to shared data at sites whose calls were removed (4.5.3)";
    else if (c->params.report == CVM_REPORT_FIRST)
        says = "it does not tell of races of which both sides come after others (6.3)";
    else if (c->params.sites)
        says = "of an interval's accesses of a kind to a word it names the first, and of these one "
               "pair";
    snprintf(to, room, "%s", says);
}

static int cvm_refuse(const struct policy_env *env, const void *params, struct err *e)
{
    const struct cvm_params *p = params;
    const struct policy_dsm *dsm = env->machine ? env->machine->dsm : NULL;

    if (dsm && dsm->page != p->page)
        return err_set(e, LARD_CONFIG,
                       "policy cvm: page is %llu bytes, and the machine's pages have %llu "
                       "(pages.size); set both to the same",
                       (unsigned long long)p->page, (unsigned long long)dsm->page);
    if (p->page & (p->page - 1))
        return err_set(e, LARD_CONFIG,
                       "policy cvm: page (%llu bytes) must be a power of two; set it to 4096 or "
                       "8192",
                       (unsigned long long)p->page);
    if ((p->sites == CVM_SITES_RERUN) != (*p->first_run != '\0'))
        return err_set(e, LARD_CONFIG,
                       "policy cvm: sites=rerun and first-run go together: run once with -o DIR, "
                       "then again with both, first-run=DIR/races.jsonl");
    return 0;
}

static void declare(struct cvm *c)
{
    static const char *const site[CVM_SITE_WHATS][2] = {
        [CVM_SITE_CALLS] = {"calls", "Sites that called the analysis routine; counted where "
                                     "accesses are."},
        [CVM_SITE_MIX] = {"mix", "Sites in the call of another, of another kind."},
        [CVM_SITE_NEXT] = {"next", "Sites in the call of another, at the place beside."},
        [CVM_SITE_SAME] = {"same", "Sites for which others call."},
        [CVM_SITE_PROVED] = {"proved", "Sites that data-flow analysis proved private."},
    };
    struct stats_group *g = c->env->stats;
    struct cvm_stats *st = &c->st;

    metadata_declare(&c->metadata, g);
#define STATS_DEF "policy/cvm/stats.def"
#include "base/stats_declare.h"
    g = stats_group(g, "sites");
    for (unsigned i = CVM_SITE_CALLS; i > CVM_SITE_UNKNOWN; i--)
        stats_level(g, site[i][0], "sites", site[i][1], &st->sites[i]);
    stats_level(
        g, "both", "sites",
        "Sites that accessed private data and shared data: the paper cloned their routines.",
        &st->sites_both);
}

static unsigned log2_of(uint64_t n)
{
    return 63u - (unsigned)__builtin_clzll(n);
}

static void *cvm_create(const struct policy_env *env, const void *params, struct err *e)
{
    struct cvm *c = xcalloc(1, sizeof *c);
    const unsigned word = env->granule == GRANULE_FIELD ? 1 : env->granule;

    c->env = env;
    c->params = *(const struct cvm_params *)params;
    map_init(&c->named, env->budget);
    if (c->params.sites == CVM_SITES_RERUN && cvm_first_run(&c->named, c->params.first_run, e)) {
        map_free(&c->named);
        free(c);
        return NULL;
    }
    c->page_shift = log2_of(c->params.page);
    c->word_shift = log2_of(word);
    c->words = (size_t)((c->params.page / word + 63) / 64);
    c->part_shift = c->words > 1 ? log2_of(c->words) : 0;
    c->intervals = (struct pool){.bytes = 128, .budget = env->budget};
    c->entries = (struct pool){.bytes = 128, .budget = env->budget};
    const size_t bitmap = c->words * sizeof(uint64_t) * (c->params.sites ? 2 : 1);
    c->bitmaps = (struct pool){.bytes = (bitmap + 63) / 64 * 64, .budget = env->budget};
    c->places = (struct pool){.bytes = 64 * sizeof(struct cvm_place), .budget = env->budget};
    map_init(&c->pages, env->budget);
    map_init(&c->rounds, env->budget);
    map_init(&c->sites, env->budget);
    ledger_software(env->cost, env, cvm_charges.step, cvm_charges.steps, 0);
    c->plain = !env->cost->on && !c->params.data_flow && !c->params.batching && !c->params.modify &&
               c->params.writes == CVM_WRITES_CALLS;
    declare(c);
    return c;
}
_Static_assert(sizeof(struct cvm_interval) <= 128 && sizeof(struct cvm_entry) <= 128,
               "a block of a pool each");

static void cvm_destroy(void *self)
{
    struct cvm *c = self;
    size_t pos = 0;
    uint64_t number, *at;

    while (map_next(&c->pages, &pos, &number, &at))
        cvm_page_free(c, (struct cvm_page *)(uintptr_t)*at);
    for (uint32_t i = 0; i < c->threads; i++) {
        cvm_end_interval(c, &c->thread[i]);
        cvm_forget_vector(c, &c->thread[i]);
        map_free(&c->thread[i].sites);
        free(c->thread[i].to_remove);
    }
    pool_free(&c->intervals);
    pool_free(&c->entries);
    pool_free(&c->bitmaps);
    pool_free(&c->places);
    map_free(&c->named);
    map_free(&c->pages);
    map_free(&c->rounds);
    map_free(&c->sites);
    free(c->thread);
    free(c->list);
    free(c->found);
    free(c->row);
    free(c);
}

static const struct event *cvm_run(void *self, const struct event *ev, const struct event *end,
                                   const struct event *known, uint64_t *number)
{
    struct cvm *c = self;

    (void)known;
    for (uint64_t n = *number;; ev++, n++) {
        const bool go_on = remember(c, ev, n);
        if (ev + 1 == end || !go_on || c->env->err->code || budget_over(c->env->budget) ||
            !access_plain(c->env, ev + 1)) {
            *number = n;
            return ev;
        }
    }
}

const struct policy policy_cvm = {
    .name = "cvm",
    .summary = "intervals of lazy release consistency, compared at barriers",
    .source = "cvm",
    .promise = {CLAIM_SOUND | CLAIM_PRECISE | CLAIM_UNSITED, CONFLICT_ALL, HISTORY_ALL, NULL},
    .params = cvm_params,
    .params_size = sizeof(struct cvm_params),
    .refuse = cvm_refuse,
    .create = cvm_create,
    .destroy = cvm_destroy,
    .detector = &(const struct policy_detector){.access = cvm_access,
                                                .sync = cvm_sync,
                                                .edges = cvm_edges,
                                                .heap = cvm_heap,
                                                .finish = cvm_finish,
                                                .amend = cvm_amend,
                                                .explain = cvm_explain},
    .hints = &(const struct policy_hints){.run = cvm_run},
    .charges = &cvm_charges,
    .by_process = true,
};
