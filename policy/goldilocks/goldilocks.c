/* goldilocks.c - Goldilocks (Elmas, Qadeer, Tasiran, PLDI 2007): locksets that grow with
 * synchronisation, evaluated when a variable is accessed; precise, and aware of transactions.
 *
 * Here are variables with their records (Info of Figure 8): the last write, and since it the last
 * read of each thread. goldilocks.h tells where the rest is. It has a happens-before of its own;
 * from env->hb it has only who acts.
 *
 * Held to be equal to vc with history = last, access by access. The page
 * docs/policies/goldilocks.md says where the paper's figures could not be taken as printed. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/goldilocks/goldilocks.h"
#include "policy/op.h"

static const char *const transaction_choices[] = {"shared-variable", "all", "write-to-read", NULL};
static const struct param gold_params[] = {
#define PARAMS_DEF "policy/goldilocks/params.def"
#define PARAMS_OF  struct gold_params
#include "base/param_rows.h"
};

enum { INSIDE = 2 }; /* records that need no room of their own */
struct gold_var {
    struct gold_info in[INSIDE];
    struct gold_info *more; /* owns; from the third on */
    uint32_t n, cap;        /* records: a write, if there is one, is the first; room of `more` */
    bool raced;             /* the race mark of this life */
};

/* ---- records -------------------------------------------------------------------------------- */

static struct gold_info *record_at(struct gold_var *v, uint32_t i)
{
    return i < INSIDE ? &v->in[i] : &v->more[i - INSIDE];
}

void gold_each_info(struct goldilocks *g, void (*fn)(void *arg, const struct gold_info *i),
                    void *arg)
{
    const struct shadow *s = g->variables.shadow;
    struct shadow_page *p;

    for (size_t pos = 0; (p = shadow_page_next(s, &pos));)
        for (uint64_t k = 0; k < SHADOW_PAGE_CELLS; k++) {
            struct gold_var *v = shadow_cell(s, p, k);
            for (uint32_t i = 0; i < v->n; i++)
                fn(arg, record_at(v, i));
        }
}

static void records_forget(struct goldilocks *g, struct gold_var *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        gold_cost_forget(g, record_at(v, i));
        gold_info_give(g, record_at(v, i));
    }
    v->n = 0;
}

static NO_INLINE void more_room(struct goldilocks *g, struct gold_var *v)
{
    const uint32_t cap = v->cap ? 2 * v->cap : 2;

    v->more = xrealloc(v->more, cap, sizeof *v->more);
    budget_take(g->env->budget, (cap - v->cap) * sizeof *v->more);
    v->cap = cap;
}

/* The place of a record: the thread's last read of its class, or a new one at the end. */
static struct gold_info *place_of(struct goldilocks *g, struct gold_var *v, uint8_t op,
                                  const struct gold_now *now)
{
    for (uint32_t i = 0; i < v->n; i++) {
        struct gold_info *r = record_at(v, i);
        if (!(op_class(r->op) & PLAIN_WRITE))
            gold_cost_chain(g, r);
        if (r->actor != now->actor || op_class(r->op) != op_class(op))
            continue;
        gold_cost_forget(g, r);
        gold_info_give(g, r);
        return r;
    }
    if (v->n >= INSIDE + v->cap)
        more_room(g, v);
    return record_at(v, v->n++);
}

/* The actor's moment, in which it now accesses something at this place of the list. */
static uint64_t moment_of(struct goldilocks *g, uint32_t actor, uint64_t pos)
{
    struct gold_actor *a = gold_actor_at(g, actor);

    if (a->opened != a->moment) {
        a->opened = a->moment;
        a->base = pos;
    }
    return a->moment;
}

static void record_make(struct goldilocks *g, struct gold_var *v, sim_addr addr, uint8_t op,
                        const struct gold_now *now)
{
    const uint64_t pos = g->committing ? g->commit_at : g->list.tail;

    if (!v->n)
        cells_begin_use(&g->variables);
    if (op_class(op) & PLAIN_WRITE)
        records_forget(g, v);
    struct gold_info *i = place_of(g, v, op, now);
    *i = (struct gold_info){.moment = moment_of(g, now->actor, pos),
                            .pos = pos,
                            .site = now->ev->aux,
                            .event = *g->env->number,
                            .alock = gold_held_lock(g, now),
                            .xact = now->xact,
                            .actor = now->actor,
                            .tid = now->ev->tid,
                            .op = op};
    gold_info_take(g, i);
    gold_cost_record(g, i, addr, now);
    g->st.infos++;
}

/* ---- an access ------------------------------------------------------------------------------ */

/* The element that marks an access within a transaction as ordered: that of the variable's
 * commits. */
static gold_element transaction_of(struct goldilocks *g, sim_addr a)
{
    if (!g->committing)
        return 0;
    if (g->is.transactions != GOLD_SHARED_VARIABLE)
        return GOLD_TL;
    return gold_object_get(g, OBJECT_COMMIT, a, 0)->element;
}

struct gold_in_hand { /* an access in hand */
    struct goldilocks *g;
    struct gold_now now;
};

static bool check_variable(void *arg, void *cell, sim_addr addr, const struct event *ev)
{
    struct gold_in_hand *k = arg;
    struct goldilocks *g = k->g;
    struct gold_now *now = &k->now;
    struct gold_var *v = cell;
    const uint8_t op = op_of(ev);
    const unsigned conflicts = op_conflicts(op_class(op));

    now->xact = transaction_of(g, addr);
    now->alock = 0;
    if (UNLIKELY(g->cost->on))
        gold_cost_enter(g, addr);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct gold_info *r = record_at(v, i);
        if (conflicts >> op_class(r->op) & 1 && !gold_check(g, r, now))
            race_with(g->env->report, ev, addr,
                      race_access(r->event, r->site, r->tid, op_kind(r->op)), &v->raced);
    }
    record_make(g, v, addr, op, now);
    if (UNLIKELY(g->cost->on))
        gold_cost_leave(g, addr);
    return false;
}

static void gold_access(void *self, const struct event *ev)
{
    struct goldilocks *g = self;
    struct gold_in_hand k = {g, {.ev = ev, .actor = hb_actor(g->env->hb, ev->tid)}};

    cells_access(&g->variables, ev, check_variable, &k);
}

static void gold_remembers(const void *self, sim_addr location, remembered_fn *fn, void *arg)
{
    const struct goldilocks *g = self;
    struct gold_var *v = cells_peek(&g->variables, location);

    for (uint32_t i = 0; v && i < v->n; i++)
        fn(arg, record_at(v, i)->event, op_kind(record_at(v, i)->op));
}

/* ---- clear and copy ------------------------------------------------------------------------- */

static void drop_records(void *self, void *cell)
{
    struct goldilocks *g = self;
    struct gold_var *v = cell;

    records_forget(g, v);
    budget_give(g->env->budget, v->cap * sizeof *v->more);
    free(v->more);
}

/* The copy's records refer to the same cells. */
static void own_records(void *self, void *cell)
{
    struct goldilocks *g = self;
    struct gold_var *v = cell;

    if (v->cap) {
        const struct gold_info *was = v->more;
        v->more = xmalloc(v->cap * sizeof *v->more);
        memcpy(v->more, was, v->cap * sizeof *v->more);
        budget_take(g->env->budget, v->cap * sizeof *v->more);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        struct gold_info *r = record_at(v, i);
        gold_info_take(g, r);
        gold_cost_copy(g, r);
    }
}

static void check_records(const void *self, void *cell)
{
    struct gold_var *v = cell;

    (void)self;
    for (uint32_t i = 0; i < v->n; i++) {
        assert(i == 0 || !(op_class(record_at(v, i)->op) & PLAIN_WRITE));
        for (uint32_t j = 0; j < i; j++)
            assert(record_at(v, i)->actor != record_at(v, j)->actor ||
                   op_class(record_at(v, i)->op) != op_class(record_at(v, j)->op));
    }
}

static const struct cell_kind variable_kind = {
    .bytes = sizeof(struct gold_var),
    .cleared = "Variables emptied by clears and overwritten by copies.",
    .copied = "Variables that copies wrote.",
    .drop = drop_records,
    .own = own_records,
    .check = check_records,
};

static void gold_on_sync(void *self, const struct event *ev)
{
    struct goldilocks *g = self;

    if (ev->kind == EV_CLEAR || ev->kind == EV_COPY)
        cells_move(&g->variables, ev);
    else if (ev->kind == EV_GC_BEGIN && !(ev->flags & EVF_NURSERY)) /* Kaffe had no nursery */
        gold_trim(g);
    else if (ev_info[ev->kind].class != CLASS_HEAP)
        gold_sync(g, ev);
}

/* ---- life ----------------------------------------------------------------------------------- */

static void declare(struct gold_stats *st, struct stats_group *g)
{
#define STATS_DEF "policy/goldilocks/stats.def"
#include "base/stats_declare.h"
    stats_invariant(g, "checks.split", "Every check passed somehow, or found a race.",
                    STATS_SUM(&st->by_transaction, &st->by_thread, &st->by_lock, &st->by_two,
                              &st->by_lockset, &st->unordered),
                    STATS_EQ, STATS_SUM(&st->checks));
}

static void *gold_create(const struct policy_env *env, const void *params, struct err *e)
{
    struct goldilocks *g = xcalloc(1, sizeof *g);

    (void)e;
    g->env = env;
    g->is = *(const struct gold_params *)params;
    g->by_kernel = env->view & VIEW_NO_THREAD;
    g->cost = env->cost;
    cells_init(&g->variables, &variable_kind, env, g);
    gold_list_init(g);
    gold_objects_init(g);
    map_init(&g->reach, env->budget);
    declare(&g->st, env->stats);
    cells_declare(&g->variables);
    gold_cost_init(g);
    return g;
}

static void gold_amend(const void *self, struct promise *p)
{
    const struct goldilocks *g = self;

    if (g->is.transactions == GOLD_SHARED_VARIABLE)
        return;
    p->claims &= ~(unsigned)CLAIM_SOUND;
    if (g->is.transactions == GOLD_ALL_COMMITS) {
        p->property = "happens-before with all commits ordered";
        return;
    }
    p->claims &= ~(unsigned)CLAIM_PRECISE;
    p->property = "happens-before with commits ordered from write to read";
}

static void gold_explain(const void *self, const struct event *ev, sim_addr location, char *to,
                         size_t room)
{
    const struct goldilocks *g = self;

    (void)ev;
    (void)location;
    if (g->is.transactions != GOLD_SHARED_VARIABLE)
        snprintf(to, room, "with transactions = %s other commits are ordered",
                 transaction_choices[g->is.transactions]);
}

static void gold_destroy(void *self)
{
    struct goldilocks *g = self;

    gold_objects_free(g);
    gold_list_free(g);
    for (size_t i = 0; i < g->threads; i++)
        free(g->thread[i].held);
    free(g->thread);
    gold_reach_free(g);
    gold_set_free(&g->scratch, g->env->budget);
    free(g);
}

const struct policy policy_goldilocks = {
    .name = "goldilocks",
    .summary = "locksets that grow, evaluated when asked for; transactions",
    .source = "goldilocks",
    .promise = {CLAIM_SOUND | CLAIM_PRECISE | CLAIM_EAGER, CONFLICT_ALL, HISTORY_LAST, NULL},
    .params = gold_params,
    .params_size = sizeof(struct gold_params),
    .create = gold_create,
    .destroy = gold_destroy,
    .detector = &(const struct policy_detector){.access = gold_access,
                                                .sync = gold_on_sync,
                                                .heap = gold_on_sync,
                                                .edges = gold_edges,
                                                .check = gold_list_check,
                                                .amend = gold_amend,
                                                .explain = gold_explain,
                                                .remembers = gold_remembers},
    .charges = &gold_charges,
    .hints = &(const struct policy_hints){.cells = true},
};
