/* access.c - an access: its history lines one by one, whether permission is enough, and what that
 * costs. All is decided at once and its costs are written down; the core pays afterwards, and runs
 * the handlers that are due then, as the manager's tables are then. */
#include "policy/radish/access.h"

#include <stdlib.h>

/* Nobody says when a line has just gone and its event is still to come. */
static bool on_chip(const struct radish *r, struct hline *h)
{
    const uint64_t *lost = r->machine ? r->machine->lost : NULL;

    if (!r->machine || h->coming || (lost && h->there == *lost))
        return true;
    if (line_level(r, h) == LEVEL_NONE)
        return false;
    if (lost)
        h->there = *lost;
    return true;
}

/* The line is on chip, and the thread's: another one's is flushed now, if it was not before. */
static struct hline *own_line(struct radish_access *a, struct line_access *s)
{
    struct radish *r = a->r;
    struct hline *h = line_on_core(r, a->core, line_number(r, s->line, s->kind));

    if (!h)
        return NULL;
    if (!on_chip(r, h)) {
        flush_line(r, &a->flushed, &a->flushed.gone, h);
        return NULL;
    }
    if (LIKELY(h->actor == a->actor))
        return h;
    r->st.lazy_flushes++;
    flush_line(r, &a->flushed, &s->stored, h);
    return NULL;
}

static void allocate(struct radish_access *a, struct line_access *s)
{
    struct radish *r = a->r;
    struct data_line *p = data_get(r, s->line);

    s->drained = latest(s->drained, queue_drain(r, p, s->kind, line_all(r)));
    a->own = line_new(r, p, a->core, s->kind, a->actor);
    a->own->coming = true;
    manager_fill(r, a->own, a->write);
    s->fill = true;
    neighbours_filled(a, s);
    s->had = a->own->kept;
    r->st.nothing += !s->had;
    s->empty = !s->had && !s->stored && manager_known_empty(r, s->line);
    r->st.unasked += s->empty;
}

/* ---- handlers, when they are paid for ------------------------------------------------------- */

static struct handler handler_take(struct radish *r, void *handler)
{
    const struct handler h = *(struct handler *)handler;

    pool_give(&r->handlers, handler);
    return h;
}

static void has_come(const struct radish *r, unsigned core, const struct handler *x)
{
    struct hline *h = line_on_core(r, core, line_number(r, x->check.line, x->check.kind));

    if (h)
        h->coming = false;
}

/* Handles a fill. If the line was another thread's before, its old contents are stored first. */
static sim_cycle run_fill(void *self, unsigned core, void *handler, sim_cycle now)
{
    struct radish *r = self;
    const struct handler h = handler_take(r, handler);

    has_come(r, core, &h);
    now = swm_enter(r->manager, core, SWM_FILL, manager_blocked(r, core, h.check.line, now));
    if (h.stored)
        now = manager_store_flushed(r, core, h.stored, now);
    now = manager_fill_paid(r, core, &h.check, now);
    return swm_leave(r->manager, core, now);
}

/* A copy that works on the line holds it up all the same. */
static sim_cycle run_empty(void *self, unsigned core, void *handler, sim_cycle now)
{
    struct radish *r = self;
    const struct handler h = handler_take(r, handler);

    has_come(r, core, &h);
    now = manager_blocked(r, core, h.check.line, now);
    return manager_empty_paid(r, core, h.check.line, now);
}

static sim_cycle run_check(void *self, unsigned core, void *handler, sim_cycle now)
{
    const struct handler h = handler_take(self, handler);

    return manager_check(self, core, &h.check, now);
}

/* The core goes on meanwhile. */
static sim_cycle run_queued(void *self, unsigned core, void *handler, sim_cycle now)
{
    const struct handler h = handler_take(self, handler);

    queue_serve(self, core, h.id, &h.check, now);
    return now;
}

static sim_cycle run_flushed(void *self, unsigned core, void *handler, sim_cycle now)
{
    struct handler h = handler_take(self, handler);

    return flush_paid(self, core, &h.flushed, now);
}

static sim_cycle run_lowered(void *self, unsigned core, void *handler, sim_cycle now)
{
    const struct handler h = handler_take(self, handler);

    return radish_lower(self, &h.lowered, core, now);
}

static struct handler *call(struct radish_access *a, struct ledger_note *n, ledger_call *fn)
{
    struct radish *r = a->r;
    struct handler *h = pool_get(&r->handlers);

    n->call.fn = fn;
    n->call.self = r;
    n->call.what = h;
    n->call.core = a->core;
    return h;
}

/* ---- what a line costs ---------------------------------------------------------------------- */

static struct ledger_note *note_put(struct radish_access *a, enum ledger_what what)
{
    return ledger_note(&a->r->ledger, a->account, what);
}

/* The core runs no handler before its data are there. */
static struct handler *put_handler(struct radish_access *a, ledger_call *fn)
{
    note_put(a, LEDGER_DATA);
    return call(a, note_put(a, LEDGER_CALL), fn);
}

static void charge_check(struct radish_access *a, const struct line_access *s)
{
    const bool filled = s->fill && a->r->params.fill == FILL_CHECKS;

    if (!s->soft || filled) /* the fill was the check */
        return;
    struct handler *h =
        s->queued ? call(a, note_put(a, LEDGER_CALL), run_queued) : put_handler(a, run_check);
    h->check = (struct check_paid){s->line, s->kind, s->soft, a->write};
    h->id = s->id;
}

static void charge_fill(struct radish_access *a, const struct line_access *s)
{
    struct handler *h = put_handler(a, s->empty ? run_empty : run_fill);

    h->check = (struct check_paid){s->line, s->kind, s->had, a->write};
    h->stored = s->stored;
}

/* first, last: granules of the line that the access touches. */
static void charge(struct radish_access *a, const struct line_access *s, unsigned first,
                   unsigned last)
{
    struct radish *r = a->r;

    if (UNLIKELY(s->drained)) {
        struct ledger_note *n = note_put(a, LEDGER_WAIT);
        n->wait.until = s->drained;
        n->wait.counts = &r->st.queue_wait;
    }
    ledger_touch(&r->ledger, a->account, paddr_plus(line_address(r, a->own), first * RADISH_ENTRY),
                 (last - first + 1) * RADISH_ENTRY, s->store ? MEM_STORE : MEM_LOAD);
    if (s->fill)
        charge_fill(a, s);
    if (s->asks) {
        struct ledger_note *n = note_put(a, LEDGER_ASK);
        n->ask.line = paddr_of(s->line << r->line_shift);
        n->ask.cores[0] = s->ask[0];
        n->ask.cores[1] = s->ask[1];
        n->ask.bytes = s->ask_bytes;
    }
    if (s->arrives)
        note_put(a, LEDGER_ALONG)->bytes = s->ask_bytes;
    charge_check(a, s);
}

/* Granules `set` of the history line whose data begins at a physical address. */
static void access_line(struct radish_access *a, struct paddr physical, granule_set set)
{
    struct radish *r = a->r;
    struct line_access line = {.line = physical.at >> r->line_shift,
                               .kind = (unsigned)(physical.at >> r->number_shift) & (r->kinds - 1)},
                       *s = &line;

    a->own = own_line(a, s);
    if (UNLIKELY(!a->own))
        allocate(a, s);
    struct hline *h = a->own;
    granule_set need = set & ~(a->write ? h->may_write : h->may_read);
    if (need) { /* else it has some, and hears already */
        cores_add(h->data->hears, a->core);
        s->drained = latest(s->drained, queue_drain(r, h->data, h->kind, need));
        need = set & ~(a->write ? h->may_write : h->may_read);
    }
    r->st.outcome[s->fill ? OUTCOME_FILLED : OUTCOME_PERMISSION] += !need;
    s->store = need && check_granules(a, s, need);
    if (a->write)
        check_void(a, set);
    s->store |= check_record(a, set);
    h->dirty |= s->store;
    *(s->store ? &r->st.stores : &r->st.loads) += 1;
    charge(a, s, (unsigned)__builtin_ctzll(set), 63 - (unsigned)__builtin_clzll(set));
}

/* ---- an access ------------------------------------------------------------------------------ */

static int out_of_range(struct radish *r, struct paddr physical)
{
    return err_set(r->env->err, LARD_CONFIG,
                   "event %llu: physical address 0x%llx has no history lines, which are for the "
                   "first %llu bytes; set pages.mapping to first-touch, or raise the policy's "
                   "memory",
                   (unsigned long long)*r->env->number, (unsigned long long)physical.at,
                   (unsigned long long)r->params.memory);
}

/* Decides the access, line by line. */
static void decide(struct radish_access *a)
{
    struct radish *r = a->r;
    const struct granules g = granules_of(a->ev, r->env->granule);
    const sim_addr bytes = (sim_addr)r->entries << r->granule_shift;

    for (sim_addr from = g.first;;) {
        const sim_addr base = from & ~(bytes - 1), end = base + (bytes - g.step);
        const sim_addr to = end < g.last ? end : g.last;
        const unsigned low = (unsigned)((from - base) >> r->granule_shift),
                       n = (unsigned)((to - from) >> r->granule_shift) + 1;
        const struct paddr physical = machine_physical(r->machine, vaddr_of(base));
        if (r->machine && physical.at >= r->params.memory) {
            out_of_range(r, physical);
            return;
        }
        a->at = base;
        access_line(a, physical, (n == 64 ? ~(granule_set)0 : ((granule_set)1 << n) - 1) << low);
        if (to == g.last || budget_ends(r->env->budget))
            return;
        from = to + g.step;
    }
}

/* Without a machine there is one account, as nobody says on which core an access was. */
static unsigned account_of(const struct radish *r, unsigned core)
{
    return ledger_account(OF_ACCESSES, r->machine ? core : 0);
}

sim_cycle radish_lower(struct radish *r, const struct event *ev, unsigned core, sim_cycle now)
{
    const sim_cycle done = runtime_lower(r->runtime, ev, core, hb_clock(r->env->hb, ev->tid),
                                         hb_actor(r->env->hb, ev->tid), now);

    r->st.runtime_cycles += done - now;
    return done;
}

/* Charges flushed lines first: their handlers begin when the data are there. */
static void charge_flushed(struct radish_access *a)
{
    struct ledger *l = &a->r->ledger;

    call(a, ledger_note_first(l, a->account, LEDGER_CALL), run_flushed)->flushed = a->flushed;
    if (flush_some(&a->flushed))
        ledger_note_first(l, a->account, LEDGER_DATA);
}

static void begin_bill(struct radish_access *a, sim_cycle start, sim_cycle data)
{
    struct ledger_note *n = note_put(a, LEDGER_BILL);

    n->bill.start = start;
    n->bill.data = data;
}

sim_cycle radish_decide(void *self, const struct event *ev, unsigned core, struct mem_outcome out,
                        sim_cycle now)
{
    struct radish *r = self;
    const struct hb_actor *me = hb_me(r->env->hb, ev->tid);
    const bool beside = r->params.overlap == OVERLAP_MAX && out.level != LEVEL_NONE;
    const sim_cycle start = beside ? out.began : now;
    struct radish_access a = {.r = r,
                              .ev = ev,
                              .clock = &me->clock,
                              /* without a machine every thread has its own, as far as they go */
                              .core = r->machine ? core : ev->tid % r->cores,
                              .actor = hb_actor(r->env->hb, ev->tid),
                              .time = epoch_time(me->now),
                              .op = op_of(ev),
                              .write = event_writes(ev),
                              .asked = out.asked,
                              .account = account_of(r, core)};
    const bool waiting = r->held.live; /* a later access of the commit may bring such a copy on */

    begin_bill(&a, start, now);
    queue_pass(r, start);
    if (UNLIKELY(waiting))
        a.flushed.held = move_touched(r, ev, a.core, &a.flushed.drained, start);
    flush_for(r, &a.flushed, a.core, a.actor, a.time);
    decide(&a);
    if (UNLIKELY(flush_some(&a.flushed) || a.flushed.drained || waiting))
        charge_flushed(&a);
    /* Accesses that the runtime has to do with (runtime.h). */
    if (UNLIKELY(r->runtime && runtime_lowers(r->runtime, ev, r->env->view & VIEW_ALL_SYNC))) {
        begin_bill(&a, CYCLE_NEVER, now);
        call(&a, note_put(&a, LEDGER_CALL), run_lowered)->lowered = *ev;
    }
    return now;
}

sim_cycle radish_pay(void *self, unsigned core, sim_cycle now)
{
    struct radish *r = self;

    return lost_paid(r, core, ledger_pay_account(&r->ledger, account_of(r, core), core, now));
}

/* ---- the hint ----------------------------------------------------------------------------------
 */

/* The hint of the core that the thread is on; NULL: its core is not known yet. */
static struct hline **hint_for(const struct radish *r, const struct event *ev)
{
    const struct hb *hb = r->env->hb;

    if (!r->machine || !hb_has_begun(hb, ev->tid))
        return NULL;
    const uint32_t actor = hb_actor(hb, ev->tid);
    return actor < r->actors && r->at_core[actor] ? &r->hint[r->at_core[actor] - 1] : NULL;
}

void radish_soon(const void *self, const struct event *ev)
{
    const struct radish *r = self;
    struct hline **hint = hint_for(r, ev);

    if (!hint)
        return;
    const struct paddr at = machine_physical(r->machine, event_at(ev));
    struct hline *h = line_on_core(r, (unsigned)(hint - r->hint), at.at >> r->number_shift);
    *hint = h;
    if (!h)
        return;
    __builtin_prefetch(h, 1);
    __builtin_prefetch(&h->number, 1);
    /* The entry of its history line that a granule has; pages have whole lines. */
    const unsigned i = (unsigned)(at.at >> r->granule_shift) & (r->entries - 1);
    __builtin_prefetch(&h->at[i * OP_CLASSES], 1);
}
