/* checker.c - the step of an instance of a policy in a run: its view, happens-before in that view,
 * open transactions. A policy sees only what its view lets through. */
#include "policy/checker/checker_int.h"

#include <string.h>

/* Whether synchronisation is in the view. On which kernel thread a thread runs is none, and is
 * heeded always. */
static bool heeds(const struct checker *c, const struct event *ev)
{
    return !(ev->flags & EVF_SYSTEM) || ev->kind == EV_THREAD || c->policy_env.view & VIEW_ALL_SYNC;
}

/* ---- what the policy is told ---------------------------------------------------------------- */

static NO_INLINE sim_cycle tell_access_timed(struct checker *c, const struct event *ev,
                                             unsigned core, struct mem_outcome out, sim_cycle now)
{
    if (c->hardware)
        return c->hardware->access(c->self, ev, core, out, now);
    clock_cost_access(c->clocks, ev, core);
    ledger_part(&c->cost, PART_CHECK);
    c->detector->access(c->self, ev);
    return now;
}

static inline sim_cycle tell_access(struct checker *c, const struct event *ev, unsigned core,
                                    struct mem_outcome out, sim_cycle now)
{
    if (UNLIKELY(c->timed))
        return tell_access_timed(c, ev, core, out, now);
    c->detector->access(c->self, ev);
    return now;
}

/* Tells of synchronisation, or of what happens to the heap: hook is the detector's, or NULL. */
static inline sim_cycle tell_sync(struct checker *c,
                                  void (*hook)(void *self, const struct event *ev),
                                  const struct event *ev, unsigned core, sim_cycle now)
{
    if (c->hardware)
        return c->hardware->sync(c->self, ev, core, now);
    clock_cost_sync(c->clocks, ev, core);
    if (hook)
        hook(c->self, ev);
    else if (c->cells && (ev->kind == EV_CLEAR || ev->kind == EV_COPY))
        cells_move(c->cells, ev);
    return now;
}

/* Tells the policy where happens-before gets an edge. t: the transaction that commits, or NULL. */
static void edges(struct checker *c, enum policy_edge at, const struct event *ev,
                  const struct txn_log *t)
{
    if (c->detector->edges)
        c->detector->edges(c->self, at, ev, t ? t->access : NULL, t ? t->n : 0);
}

/* The clocks are about to move. */
static void before(struct checker *c, const struct event *ev)
{
    if (c->detector->before)
        c->detector->before(c->self, ev);
}

/* Pays for the event's gathered steps: in software by the ledger, in hardware its own way. */
static sim_cycle pay(struct checker *c, unsigned core, sim_cycle now)
{
    if (!c->hardware)
        return ledger_pay(&c->cost, core, now);
    return c->hardware->pay ? c->hardware->pay(c->self, core, now) : now;
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* Checks those parts of the access that are not disabled: each run of granules as an access of its
 * own. */
static sim_cycle check_parts(struct checker *c, const struct event *ev, unsigned core,
                             struct mem_outcome out, sim_cycle now)
{
    const uint64_t before = c->after.granules;
    struct event part;
    uint32_t from = 0;
    bool some = false;

    for (; after_race_part(&c->after, ev, &from, &part); some = true)
        now = tell_access(c, &part, core, out, now);
    c->st.checked += some;
    c->st.disabled += !some;
    c->did[core] = some ? DID_CHECK : DID_PASS;
    if (c->after.granules != before)
        c->left_out = *c->env.number + 1;
    return now;
}

static sim_cycle check_access(struct checker *c, const struct event *ev, unsigned core,
                              struct mem_outcome out, sim_cycle now)
{
    if (ev->flags & c->skips) {
        c->st.unchecked++;
        c->did[core] = DID_LEAVE;
        if (UNLIKELY(c->filter))
            filter_count_flags(c->filter, ev);
        return now;
    }
    if (UNLIKELY(c->filter) && filter_spares(c->filter, ev, *c->env.number)) {
        c->st.spared++;
        c->did[core] = DID_SPARE;
        return now;
    }
    if (UNLIKELY(after_race_disables(&c->after)))
        return check_parts(c, ev, core, out, now);
    c->st.checked++;
    return tell_access(c, ev, core, out, now);
}

static NO_INLINE void after_races(struct checker *c)
{
    if (c->after.mode == AFTER_RACE_STOP)
        after_race_stop(&c->report.first, c->report.names, c->env.err);
    else
        after_race_settle(&c->after);
    c->settled = *c->env.number + 1;
}

/* Ends an event, when all that it has to be checked for is checked. */
static void event_done(struct checker *c, const struct event *blamed)
{
    report_done(&c->report, blamed);
    if (UNLIKELY(after_race_noted(&c->after)))
        after_races(c);
}

/* Keeps an access of a transaction, which takes effect when that commits. */
static void defer(struct checker *c, const struct event *ev)
{
    if (ev->tid >= c->txns) {
        const size_t n = (size_t)ev->tid + 1;
        c->txn = xrecalloc(c->txn, c->txns, n, sizeof *c->txn);
        budget_take(&c->budget, (n - c->txns) * sizeof *c->txn);
        c->txns = n;
    }
    struct txn_log *t = &c->txn[ev->tid];
    t->access = budget_grow(&c->budget, t->access, t->n, &t->cap, sizeof *t->access);
    t->access[t->n++] = *ev;
    c->st.uncommitted++;
}

/* Raw writes (LARDx86) set entries of clocks to values that the runtime has counted;
 * synchronisation above that level makes the frame count them. Both in one run would count twice,
 * so that is refused. */
static inline int one_level(struct checker *c, const struct event *ev)
{
    c->raw_clocks |= ev->kind == EV_WRITEVC;
    c->other_clocks |=
        event_is_access(ev) || (ev_info[ev->kind].gives && ev->kind != EV_THREAD_END);
    if (!c->raw_clocks || !c->other_clocks)
        return 0;
    return err_set(c->env.err, LARD_CONFIG,
                   "event %llu: policy %s: raw clock writes and synchronisation above that level "
                   "don't mix, as both count the same clocks; leave the view all-sync out for this "
                   "trace",
                   (unsigned long long)*c->env.number, c->label);
}

static sim_cycle rare_access(struct checker *c, const struct event *ev, unsigned core,
                             struct mem_outcome out, sim_cycle now)
{
    if (ev->flags & EVF_IN_TXN) {
        defer(c, ev);
        c->did[core] = DID_DEFER;
        return now;
    }
    /* An atomic access acquires before the check and releases after it: its own access lies
     * between. */
    const bool orders = event_order(ev) != ORDER_NONE && heeds(c, ev);
    if (orders && ev_info[ev->kind].gives && order_gives(event_order(ev)) && one_level(c, ev)) {
        c->st.accesses--; /* refused: it never took effect */
        return now;
    }
    before(c, ev);
    if (orders) {
        hb_atomic_before(c->hb, ev);
        edges(c, EDGE_BEFORE, ev, NULL);
    }
    now = check_access(c, ev, core, out, now);
    event_done(c, ev);
    if (orders) {
        hb_atomic_after(c->hb, ev);
        edges(c, EDGE_AFTER, ev, NULL);
    }
    return now;
}

static sim_cycle step_access(struct checker *c, const struct event *ev, unsigned core,
                             struct mem_outcome out, sim_cycle now)
{
    c->st.accesses++;
    if (UNLIKELY(ev->flags & RARE_ACCESS))
        return rare_access(c, ev, core, out, now);
    now = check_access(c, ev, core, out, now);
    if (UNLIKELY(c->report.race.conflicts))
        event_done(c, ev);
    return now;
}

/* The transaction's accesses take effect now, in one step between two sets of edges; the commit is
 * blamed for their races, as they have no time of their own. */
static NO_INLINE sim_cycle step_commit(struct checker *c, const struct event *ev, unsigned core,
                                       sim_cycle now)
{
    struct txn_log *t = ev->tid < c->txns ? &c->txn[ev->tid] : NULL;
    const bool orders = heeds(c, ev);

    /* An empty transaction orders nothing. */
    if (!t || !t->n)
        return now;
    before(c, ev);
    if (orders) {
        hb_commit_before(c->hb, ev, t->access, t->n);
        edges(c, EDGE_BEFORE, ev, t);
    }
    for (size_t i = 0; i < t->n; i++)
        now = check_access(c, &t->access[i], core, (struct mem_outcome){0}, now);
    event_done(c, ev);
    before(c, ev);
    if (orders) {
        hb_commit_after(c->hb, ev, t->access, t->n);
        edges(c, EDGE_AFTER, ev, t);
    }
    c->st.uncommitted -= t->n;
    t->n = 0;
    return c->gathers ? now : pay(c, core, now); /* hardware: before it hears of the commit */
}

static sim_cycle step_sync(struct checker *c, const struct event *ev, unsigned core, sim_cycle now)
{
    if (ev->kind == EV_TXN_COMMIT)
        now = step_commit(c, ev, core, now);
    if (!heeds(c, ev)) {
        c->st.syncs_unheeded++;
        hb_unheeded(c->hb, ev);
        edges(c, EDGE_UNHEEDED, ev, NULL);
        return now;
    }
    c->st.syncs++;
    if (one_level(c, ev))
        return now;
    if (ev->kind == EV_WRITEVC && c->policy_env.view & VIEW_NO_THREAD) {
        err_set(c->env.err, LARD_CONFIG,
                "event %llu: policy %s: raw clock writes name language threads and mean nothing in "
                "the view no-thread; leave that view out for this trace",
                (unsigned long long)*c->env.number, c->label);
        return now;
    }
    if (ev->kind != EV_TXN_COMMIT) {
        before(c, ev);
        hb_sync(c->hb, ev);
    }
    return tell_sync(c, c->detector->sync, ev, core, now);
}

/* A clear or copy of a part of a granule would be about half a history. */
static int aligned(struct checker *c, const struct event *ev)
{
    const unsigned g = c->env.granule ? c->env.granule : 1;
    const sim_addr from = ev->kind == EV_COPY ? ev[1].addr : ev->addr;

    if (((ev->addr | from | ev->aux) & (g - 1)) == 0)
        return 0;
    return err_set(c->env.err, LARD_TRACE,
                   "event %llu: %s of %llu bytes at 0x%llx is not aligned to the granularity %u; "
                   "set granularity to a smaller one, or to field",
                   (unsigned long long)*c->env.number, ev_info[ev->kind].text,
                   (unsigned long long)ev->aux, (unsigned long long)ev->addr, g);
}

static sim_cycle step_heap(struct checker *c, const struct event *ev, unsigned core, sim_cycle now)
{
    const unsigned view = c->policy_env.view;
    const bool clear = ev->kind == EV_CLEAR, copy = ev->kind == EV_COPY;
    /* Locks move even with a copy or clear that the view ignores: a view is about histories, and an
     * object's lock goes with the object. */
    const bool heeded = !(clear && view & VIEW_NO_CLEAR) && !(copy && view & VIEW_NO_COPY);

    if (clear || copy) {
        if (aligned(c, ev))
            return now;
        if (clear)
            hb_clear(c->hb, ev->addr, ev->aux);
        else
            hb_copy(c->hb, ev->addr, ev[1].addr, ev->aux);
        edges(c, EDGE_MEMORY, ev, NULL);
        c->st.clears += clear && heeded;
        c->st.copies += copy && heeded;
    }
    if (heeded)
        now = tell_sync(c, c->detector->heap, ev, core, now);
    if (UNLIKELY(c->filter) && heeded && (clear || copy))
        filter_heap(c->filter, ev);
    after_race_heap(&c->after, ev, heeded);
    if (ev->kind == EV_GC_END && !(ev->flags & EVF_NURSERY))
        space_look(&c->space);
    return now;
}

static void over_limit(struct checker *c)
{
    const int stop = c->budget.stop ? *c->budget.stop : 0;
    char what[80];

    if (stop) {
        err_stopped(c->env.err, *c->env.number, stop);
        return;
    }
    snprintf(what, sizeof what, "policy %.60s", c->label);
    budget_error(&c->budget, *c->env.number, what, "choose a coarser granularity", c->env.err);
}

/* A plain access of a thread that has begun: the policy sees it as it is. */
static inline bool is_plain(const struct checker *c, const struct event *ev)
{
    return access_plain(&c->policy_env, ev) && !c->filter && !after_race_disables(&c->after);
}

static NO_INLINE sim_cycle step_any(struct checker *c, const struct event *ev, unsigned core,
                                    struct mem_outcome out, sim_cycle now)
{
    const enum ev_class class = (enum ev_class)ev_info[ev->kind].class;
    const bool collection = ev->kind == EV_GC_BEGIN || ev->kind == EV_GC_END;

    /* The ledger is told for what the policy is about to charge. */
    ledger_part(&c->cost, collection            ? PART_COLLECTIONS
                          : class == CLASS_HEAP ? PART_HEAP
                                                : PART_SYNC);
    /* An event may change whose clock moves, if kernel threads count instead of threads. */
    if (UNLIKELY(c->hb->by_kernel && (!hb_has_begun(c->hb, ev->tid) || ev->kind == EV_THREAD)))
        before(c, ev);
    if (UNLIKELY(hb_enter(c->hb, ev)))
        edges(c, EDGE_BEGIN, ev, NULL);
    switch (class) {
    case CLASS_ACCESS:
        return step_access(c, ev, core, out, now);
    case CLASS_SYNC:
    case CLASS_RAW:
        return step_sync(c, ev, core, now);
    case CLASS_HEAP:
        return step_heap(c, ev, core, now);
    case CLASS_MARK:
        if (ev->kind == EV_IO && c->detector->io)
            c->detector->io(c->self, ev);
        return now;
    }
    return now;
}

sim_cycle checker_decide(struct checker *c, const struct event *ev, unsigned core,
                         struct mem_outcome out, sim_cycle now)
{
    c->policy_env.core = core;
    if (LIKELY(is_plain(c, ev))) {
        c->st.accesses++;
        c->st.checked++;
        now = tell_access(c, ev, core, out, now);
        if (UNLIKELY(c->report.race.conflicts))
            event_done(c, ev);
    } else {
        now = step_any(c, ev, core, out, now);
    }
    /* Races that are found late belong to an earlier event, and to no event_done. */
    if (UNLIKELY(after_race_noted(&c->after)))
        after_races(c);
    if (UNLIKELY(budget_over(&c->budget)))
        over_limit(c);
    return now;
}

unsigned checker_turn(const struct checker *c)
{
    if (c->gathers || c->watches)
        return 0;
    return c->hardware && c->hardware->pay ? 1 : 2;
}

sim_cycle checker_pay(struct checker *c, const struct event *ev, unsigned core, sim_cycle now)
{
    /* Kinds up to EV_RMW are data accesses; hardware is told of the rest as it decides. */
    if (!c->pays || (ev->kind > EV_RMW && !c->gathers))
        return now;
    const sim_cycle done = pay(c, core, now);
    if (UNLIKELY(ev->kind == EV_GC_BEGIN || ev->kind == EV_GC_END))
        c->st.collections += done - now;
    return done;
}

sim_cycle checker_step(struct checker *c, const struct event *ev, unsigned core,
                       struct mem_outcome out, sim_cycle now)
{
    return checker_pay(c, ev, core, checker_decide(c, ev, core, out, now));
}

void checker_lines_told(struct checker *c, const struct line_queue *q, unsigned core, bool *owes)
{
    const unsigned wanted = checker_lines(c);

    for (const struct line_event *le = q->at; wanted && le < q->at + q->n; le++)
        if (wanted >> le->what & 1 && c->hardware->line(c->self, le, core))
            owes[le->by] = owes[core] = true;
}

sim_cycle checker_line_paid(struct checker *c, unsigned core, sim_cycle now)
{
    return checker_lines(c) ? pay(c, core, now) : now;
}

enum checker_did checker_did(struct checker *c, unsigned core)
{
    const enum checker_did did = (enum checker_did)c->did[core];

    c->did[core] = DID_CHECK;
    return did;
}

unsigned checker_lines(const struct checker *c)
{
    return c->hardware ? c->hardware->lines : 0;
}

bool checker_looks_ahead(const struct checker *c)
{
    return c->hints->cells || c->hints->soon;
}

static inline void soon(const struct checker *c, const struct event *ev)
{
    if (c->hints->cells)
        cells_prefetch(c->cells, ev);
    else if (c->hints->soon)
        c->hints->soon(c->self, ev);
}

void checker_soon(const struct checker *c, const struct event *ev)
{
    soon(c, ev);
}

/* Near the end of what is known it is not worth the question. */
static inline void hint(const struct checker *c, const struct event *ev, const struct event *known)
{
    if (UNLIKELY(known - ev <= SOON))
        return;
    if (ev[SOON].kind > EV_RMW)
        shadow_prefetch(c->hb->objects.cells, ev[SOON].addr);
    else if (c->hinted)
        soon(c, ev + SOON);
    if (c->hinted && c->hints->very_soon && ev[VERY_SOON].kind <= EV_RMW)
        c->hints->very_soon(c->self, ev + VERY_SOON);
}

/* Plain accesses from ev on. Returns the last. */
static const struct event *run_plain(struct checker *c, const struct event *ev,
                                     const struct event *end, const struct event *known,
                                     uint64_t *number)
{
    const struct event *last = c->hints->run(c->self, ev, end, known, number);

    c->st.accesses += (uint64_t)(last - ev) + 1;
    c->st.checked += (uint64_t)(last - ev) + 1;
    if (UNLIKELY(c->report.race.conflicts || after_race_noted(&c->after)))
        event_done(c, last);
    if (UNLIKELY(budget_over(&c->budget)))
        over_limit(c);
    return last;
}

const struct event *checker_run(struct checker *c, const struct event *ev, const struct event *end,
                                const struct event *known, uint64_t *number)
{
    for (; ev < end; ev += event_records(ev), ++*number) {
        if (c->hints->run && is_plain(c, ev)) {
            ev = run_plain(c, ev, end, known, number);
        } else {
            hint(c, ev, known);
            checker_decide(c, ev, 0, (struct mem_outcome){0}, 0);
            if (c->pays)
                checker_pay(c, ev, 0, 0);
            if (UNLIKELY(event_is_region(ev)))
                end = ev + event_records(ev);
        }
        if (UNLIKELY(c->env.err->code))
            break;
    }
    return ev;
}

void checker_names(struct checker *c, const struct names *names)
{
    c->report.names = names;
    filter_names(c->filter, names);
}

void checker_region(struct checker *c, bool inside)
{
    c->report.inside = inside;
}

void checker_finish(struct checker *c)
{
    if (c->cells)
        cells_check(c->cells);
    if (c->detector->check)
        c->detector->check(c->self);
    if (c->detector->finish)
        c->detector->finish(c->self);
    if (after_race_noted(&c->after))
        after_races(c);
    space_finish(&c->space);
}
