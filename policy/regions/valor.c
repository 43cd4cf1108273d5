/* valor.c - Valor (Biswas, Zhang, Bond, Lucia, OOPSLA 2015): conflicts of regions without last
 * readers. A write is found in another's ongoing region at once; a read that is written over is
 * found when the reader validates its log, at the end of its region or before.
 *
 * Valor-O keeps owner and version, and clears ownership at the end of a region (section 4); Valor-E
 * keeps the last writer's epoch and a version (3.2). What differs from the paper: ownership is
 * cleared only if it is still the own one (Algorithm 8 asserts that, which holds up to the first
 * conflict only); atomic accesses stand in a list of their own; and a full log forgets reads, so
 * that with one, conflicts can be missed (counted). */
#include <assert.h>
#include <stdlib.h>

#include "policy/regions/valor.h"

static const struct param valor_params[] = {
#define PARAMS_DEF "policy/regions/valor_params.def"
#define PARAMS_OF  struct valor_params
#include "base/param_rows.h"
};

/* ---- threads -------------------------------------------------------------------------------- */

/* False: there is no number for it; the run ends. */
static NO_INLINE bool more_threads(struct valor *v, uint32_t actor)
{
    /* So many the word's bits can name; the last number means nobody. */
    const uint32_t limit = (UINT32_C(1) << v->params.thread_bits) - 1;
    const uint32_t more = actor + 1 + actor / 2, n = more < limit ? more : limit;

    if (actor >= limit) {
        err_set(v->env->err, LARD_CONFIG,
                "event %llu: policy valor: a word has %llu bits for its owner, one of which is "
                "nobody, and this is thread %u; raise thread-bits, and lower version-bits so that "
                "both are at most 32",
                (unsigned long long)*v->env->number, (unsigned long long)v->params.thread_bits,
                (unsigned)actor);
        return false;
    }
    v->thread = xrealloc(v->thread, n, sizeof *v->thread);
    for (uint32_t i = v->threads; i < n; i++) {
        v->thread[i] = (struct valor_thread){.region = 1, .taking = 1};
        map_init(&v->thread[i].counted, v->env->budget);
    }
    budget_take(v->env->budget, (n - v->threads) * sizeof *v->thread);
    v->threads = n;
    return true;
}

static inline bool known(struct valor *v, uint32_t actor)
{
    if (UNLIKELY(actor >= v->threads) && !more_threads(v, actor))
        return false;
    if (UNLIKELY(v->cost->on))
        valor_cost_thread(v, &v->thread[actor]);
    return true;
}

static void end_regions(struct valor *v, struct regions_ended ended)
{
    for (unsigned i = 0; i < ended.n; i++)
        if (known(v, ended.actor[i]))
            valor_end_region(v, ended.actor[i]);
}

/* ---- accesses ------------------------------------------------------------------------------- */

struct valor_check { /* an access in hand */
    struct valor *v;
    struct region_access now;
};

static bool check_variable(void *arg, void *cell, sim_addr addr, const struct event *ev)
{
    struct valor_check *k = arg;

    (void)ev;
    k->now.addr = addr;
    return valor_at_variable(k->v, cell, &k->now);
}

/* An access by the rules, at each of its variables. False: something raced or was found late, or
 * the run is to end. */
static NO_INLINE bool by_rules(void *self, const struct event *ev, uint64_t number)
{
    struct valor *v = self;
    struct valor_check k = {v,
                            {.ev = ev, .number = number, .actor = hb_actor(v->env->hb, ev->tid)}};
    const uint64_t late = v->st.late;

    if (!known(v, k.now.actor))
        return false;
    const bool racy = cells_access(&v->variables, ev, check_variable, &k);
    if (racy)
        valor_counted(v, &k.now);
    return !racy && v->st.late == late && !budget_over(v->env->budget);
}

/* The common case: an access of one variable whose cell is prefetched, which no other thread's
 * ongoing region has written, with room in the log or write set. False: it is not that. */
ALWAYS_INLINE bool takes_place(void *self, const struct event *ev, uint64_t number)
{
    struct valor *v = self;
    struct valor_variable *x = cells_prefetched(&v->variables, ev->addr);
    const uint32_t me = hb_actor(v->env->hb, ev->tid);

    if (UNLIKELY(!x || !cells_one(&v->variables, ev) || me >= v->threads || x->atomics))
        return false;
    valor_use(v, x);
    const bool held = valor_holder(v, x) != VALOR_NOBODY;
    const struct valor_thread *t = &v->thread[me];
    const struct region_access now = {.ev = ev,
                                      .number = number,
                                      .addr = v->variables.apart ? ev->addr & v->variables.apart
                                                                 : ev->addr,
                                      .actor = me};
    if (UNLIKELY(held & (x->writer != me)))
        return false;
    if (!event_writes(ev)) {
        if (t->reads >= t->log_room)
            return false;
        valor_log(v, x, &now);
    } else if (held) {
        v->st.same_region++;
    } else {
        if (!v->epochs && t->writes >= t->writes_room) /* Valor-E has no write set */
            return false;
        valor_take(v, x, &now);
        valor_name_write(x, &now);
        x->atomic = false;
    }
    return true;
}

static void valor_access(void *self, const struct event *ev)
{
    struct valor *v = self;

    by_rules(v, ev, *v->env->number);
}

static const struct event *valor_run(void *self, const struct event *ev, const struct event *end,
                                     const struct event *known_to, uint64_t *number)
{
    struct valor *v = self;

    return cells_run(&v->variables, ev, end, known_to, number, takes_place, by_rules, NULL);
}

/* ---- other events --------------------------------------------------------------------------- */

static void valor_sync(void *self, const struct event *ev)
{
    struct valor *v = self;

    if (regions_quiet(&v->regions, ev))
        return;
    end_regions(v, regions_sync(&v->regions, ev));
    if (ev->kind == EV_CLEAR || ev->kind == EV_COPY)
        valor_move(v, ev);
    for (uint32_t i = 0; ev->kind == EV_GC_BEGIN && v->cost->on && i < v->threads; i++)
        valor_charge_trace(v, &v->thread[i]);
}

static void valor_edges(void *self, enum policy_edge at, const struct event *ev,
                        const struct event *accesses, size_t n)
{
    struct valor *v = self;

    (void)accesses;
    (void)n;
    end_regions(v, regions_edge(&v->regions, ev, at));
}

/* A sensitive operation: what a conflict may have led to must not get out (3.2.3). */
static void valor_io(void *self, const struct event *ev)
{
    struct valor *v = self;
    const uint32_t me = hb_actor(v->env->hb, ev->tid);

    if (me < v->threads) {
        v->st.before_io += v->thread[me].reads != 0;
        valor_validate(v, me);
    }
}

/* Regions that go on at the end end there. */
static void valor_finish(void *self)
{
    struct valor *v = self;

    v->cost->on = false; /* the machine has stopped */
    for (uint32_t i = 0; i < v->threads; i++)
        valor_validate(v, i);
}

/* ---- life ----------------------------------------------------------------------------------- */

static int valor_refuse(const struct policy_env *env, const void *params, struct err *e)
{
    const struct valor_params *p = params;
    const uint64_t sum = p->version_bits + p->thread_bits;

    (void)env;
    if (sum <= 32)
        return 0;
    return err_set(e, LARD_CONFIG,
                   "policy valor: version-bits (%llu) and thread-bits (%llu) are %llu, and a word "
                   "has 32; lower one of them",
                   (unsigned long long)p->version_bits, (unsigned long long)p->thread_bits,
                   (unsigned long long)sum);
}

static void *create(const struct policy_env *env, const void *params, bool epochs)
{
    struct valor *v = xcalloc(1, sizeof *v);
    struct valor_stats *st = &v->st;
    struct stats_group *g = env->stats;

    v->env = env;
    v->params = *(const struct valor_params *)params;
    if (!v->params.period)
        v->params.period = UINT64_C(1) << 33; /* more than a log may have */
    v->epochs = epochs;
    v->version_mask = (uint32_t)((UINT64_C(1) << v->params.version_bits) - 1);
    v->cost = env->cost;
    cells_init(&v->variables, &valor_variable_kind, env, v);
    regions_init(&v->regions, env, (enum region_kind)v->params.regions);
    valor_cost_init(v);
#define STATS_DEF "policy/regions/valor_stats.def"
#include "base/stats_declare.h"
    cells_declare(&v->variables);
    return v;
}

static void *valor_o_create(const struct policy_env *env, const void *params, struct err *e)
{
    (void)e;
    return create(env, params, false);
}

static void *valor_e_create(const struct policy_env *env, const void *params, struct err *e)
{
    (void)e;
    return create(env, params, true);
}

static void valor_check(const void *self)
{
    const struct valor *v = self;

    for (uint32_t i = 0; i < v->threads; i++)
        for (uint32_t k = 0; k < v->thread[i].reads; k++)
            assert(!v->thread[i].read[k].x ||
                   v->thread[i].read[k].x ==
                       cells_peek(&v->variables, v->thread[i].read[k].location));
}

static void valor_amend(const void *self, struct promise *p)
{
    const struct valor *v = self;

    if (v->params.regions == REGION_SYNC_FREE)
        p->property = "conflicts of synchronisation-free regions";
}

static void valor_explain(const void *self, const struct event *ev, sim_addr location, char *to,
                          size_t room)
{
    const struct valor *v = self;

    (void)ev;
    (void)location;
    snprintf(to, room,
             "no region of another thread that had made a conflicting access was going on%s",
             v->st.log_full + v->st.splits ? ", or its log had been full" : "");
}

static void valor_destroy(void *self)
{
    struct valor *v = self;

    valor_follow_free(v);
    for (uint32_t i = 0; i < v->threads; i++) {
        free(v->thread[i].read);
        free(v->thread[i].write);
        map_free(&v->thread[i].counted);
    }
    regions_free(&v->regions);
    free(v->thread);
    free(v);
}

static const struct policy_detector detector = {
    .access = valor_access,
    .sync = valor_sync,
    .heap = valor_sync,
    .io = valor_io,
    .edges = valor_edges,
    .finish = valor_finish,
    .check = valor_check,
    .amend = valor_amend,
    .explain = valor_explain,
};
static const struct policy_hints hints = {.cells = true, .run = valor_run};

#define VALOR_POLICY(...)                                                                          \
    {                                                                                              \
        __VA_ARGS__, .source = "valor",                                                            \
                     .promise = {CLAIM_SOUND | CLAIM_PRECISE | CLAIM_REGION, CONFLICT_ALL,         \
                                 HISTORY_OWN, "conflicts of release-free regions"},                \
                     .params = valor_params, .params_size = sizeof(struct valor_params),           \
                     .refuse = valor_refuse, .destroy = valor_destroy, .detector = &detector,      \
                     .inlines = true, .charges = &valor_charges, .hints = &hints,                  \
    }

const struct policy policy_valor =
    VALOR_POLICY(.name = "valor", .summary = "valor-o, which the paper evaluates",
                 .create = valor_o_create);
const struct policy policy_valor_e =
    VALOR_POLICY(.name = "valor-e",
                 .summary = "conflicts with ongoing regions, reads checked late "
                            "(epochs and versions)",
                 .create = valor_e_create);
const struct policy policy_valor_o =
    VALOR_POLICY(.name = "valor-o",
                 .summary = "conflicts with ongoing regions, reads checked late "
                            "(owners and versions)",
                 .create = valor_o_create);
