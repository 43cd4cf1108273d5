/* access.c - an access: its history lines one by one, whether permission is enough, and,
 * when all is decided, what it costs. */
#include "policy/radish/access.h"

#include <stdlib.h>

static void later(sim_cycle *at, sim_cycle than)
{
    if (than > *at)
        *at = than;
}

/* Nobody says when a line has just gone and its event is still to come. */
static bool on_chip(const struct radish *r, struct hline *h)
{
    const uint64_t *lost = r->machine ? r->machine->lost : NULL;

    if (!r->machine || h->coming || (lost && h->there == *lost))
        return true;
    if (r->machine->where(r->env->host, h->core, line_address(r, h)) == LEVEL_NONE)
        return false;
    if (lost)
        h->there = *lost;
    return true;
}

/* The line is on chip, and the thread's: another one's is flushed now, if it was not before. */
static struct hline *own_line(struct access *a, struct step *s)
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

static void allocate(struct access *a, struct step *s)
{
    struct radish *r = a->r;
    struct place *p = place_get(r, s->line);

    later(&s->drained, queue_drain(r, p, s->kind, line_all(r)));
    a->own = line_new(r, p, a->core, s->kind, a->actor);
    a->own->coming = true;
    soft_fill(r, a->own, a->write);
    s->fill = true;
    check_filled(a, s);
    s->had = a->own->kept;
    r->st.nothing += !s->had;
}

static struct step *add_step(struct plan *p)
{
    if (UNLIKELY(p->n == p->cap))
        p->step = xgrow(p->step, p->n, &p->cap, sizeof *p->step);
    p->step[p->n] = (struct step){0};
    return &p->step[p->n++];
}

/* Granules `set` of the history line whose data begins at a physical address. */
static void access_line(struct access *a, sim_addr physical, granule_set set)
{
    struct radish *r = a->r;
    struct step *s = add_step(&a->plan);
    const unsigned first = (unsigned)__builtin_ctzll(set),
                   last = 63 - (unsigned)__builtin_clzll(set);

    s->line = physical >> r->line_shift;
    s->kind = (unsigned)(physical >> r->number_shift) & (r->kinds - 1);
    a->own = own_line(a, s);
    if (UNLIKELY(!a->own))
        allocate(a, s);
    struct hline *h = a->own;
    granule_set need = set & ~(a->write ? h->may_write : h->may_read);
    if (need) { /* else it has some, and hears already */
        cores_add(h->place->hears, a->core);
        later(&s->drained, queue_drain(r, h->place, h->kind, need));
        need = set & ~(a->write ? h->may_write : h->may_read);
    }
    r->st.checks++;
    r->st.outcome[s->fill ? OUTCOME_FILLED : OUTCOME_PERMISSION] += !need;
    s->store = need && check_granules(a, s, need);
    if (a->write)
        check_void(a, set);
    s->store |= check_record(a, set);
    h->dirty |= s->store;
    s->at = line_address(r, h) + first * RADISH_ENTRY;
    s->bytes = (last - first + 1) * RADISH_ENTRY;
    *(s->store ? &r->st.stores : &r->st.loads) += 1;
}

/* ---- an access ------------------------------------------------------------------------------ */

static int out_of_range(struct radish *r, sim_addr physical)
{
    return err_set(r->env->err, LARD_CONFIG,
                   "event %llu: physical address 0x%llx has no history lines, which are for the "
                   "first %llu bytes; set pages.mapping to first-touch, or raise the policy's "
                   "memory",
                   (unsigned long long)*r->env->number, (unsigned long long)physical,
                   (unsigned long long)r->params.memory);
}

/* All that the access decides, line by line. */
static void decide(struct access *a)
{
    struct radish *r = a->r;
    const struct granules g = granules_of(a->ev, r->env->granule);
    const sim_addr bytes = (sim_addr)r->entries << r->granule_shift;

    for (sim_addr from = g.first;;) {
        const sim_addr base = from & ~(bytes - 1), end = base + (bytes - g.step);
        const sim_addr to = end < g.last ? end : g.last;
        const unsigned low = (unsigned)((from - base) >> r->granule_shift),
                       n = (unsigned)((to - from) >> r->granule_shift) + 1;
        const sim_addr physical = r->machine ? r->machine->physical(r->env->host, base) : base;
        if (r->machine && physical >= r->params.memory) {
            out_of_range(r, physical);
            return;
        }
        a->at = base;
        access_line(a, physical, (n == 64 ? ~(granule_set)0 : ((granule_set)1 << n) - 1) << low);
        if (to == g.last || budget_over(r->env->budget))
            return;
        from = to + g.step;
    }
}

static sim_cycle latest(sim_cycle a, sim_cycle b)
{
    return a > b ? a : b;
}

static sim_cycle pay_check(struct access *a, const struct step *s, sim_cycle data, sim_cycle now)
{
    struct radish *r = a->r;
    const struct check_paid c = {s->line, s->kind, s->soft, a->write};

    if (s->asks && r->machine)
        now = r->machine->ask(r->env->host, a->core, s->line << r->line_shift, s->ask, s->ask_bytes,
                              now);
    if (s->arrives && r->machine)
        r->machine->piggyback(r->env->host, s->ask_bytes);
    if (s->arrives)
        now = latest(data, now);
    if (!s->soft || (s->fill && r->params.fill == FILL_CHECKS))
        return now;
    if (!s->queued)
        return soft_check(r, a->core, &c, latest(data, now));
    queue_serve(r, a->core, s->id, &c, now);
    return now;
}

/* Of a line that was another thread's and is this one's now, what it held is stored first. */
static sim_cycle pay_fill(const struct access *a, const struct step *s, sim_cycle now)
{
    struct radish *r = a->r;
    const unsigned core = a->core;

    now = swm_enter(r->manager, core, SWM_FILL, soft_blocked(r, core, s->line, now));
    if (s->stored)
        now = soft_store_flushed(r, core, s->stored, now);
    now = soft_fill_paid(r, core, s->line, s->kind, s->had, a->write, now);
    return swm_leave(r->manager, core, now);
}

static void has_come(const struct access *a, const struct step *s)
{
    struct hline *h = line_on_core(a->r, a->core, line_number(a->r, s->line, s->kind));

    if (h)
        h->coming = false;
}

/* The core runs no handler before its data are there. */
static sim_cycle pay(struct access *a, sim_cycle data, sim_cycle now)
{
    struct radish *r = a->r;

    if (UNLIKELY(flush_some(&a->flushed)))
        now = latest(data, now);
    if (UNLIKELY(flush_some(&a->flushed) || a->flushed.drained || r->held.open[a->core]))
        now = flush_paid(r, a->core, &a->flushed, now);
    for (size_t i = 0; i < a->plan.n; i++) {
        const struct step *s = &a->plan.step[i];
        now = queue_waited(r, s->drained, now);
        now = r->env->mem(r->env->host, a->core, s->at, s->bytes, s->store ? MEM_STORE : MEM_LOAD,
                          now);
        if (s->fill) {
            has_come(a, s);
            now = pay_fill(a, s, latest(data, now));
        }
        if (s->asks || s->arrives || s->soft)
            now = pay_check(a, s, data, now);
    }
    return now;
}

/* Without a machine every thread has a core of its own, as far as they go. */
static unsigned core_of(const struct radish *r, const struct event *ev, unsigned core)
{
    return r->machine ? core : ev->tid % r->cores;
}

static struct access *take(struct radish *r)
{
    struct access *a = r->paid;

    if (!a)
        return xcalloc(1, sizeof *a);
    r->paid = a->later;
    return a;
}

static struct access *begin(struct radish *r, const struct event *ev, unsigned core,
                            struct mem_outcome out, sim_cycle now)
{
    const struct hb_actor *me = hb_me(r->env->hb, ev->tid);
    const bool beside = r->params.overlap == OVERLAP_MAX && out.level != LEVEL_NONE;
    struct access *a = take(r);

    a->later = NULL;
    a->r = r;
    a->ev = ev;
    a->clock = &me->clock;
    a->flushed = (struct flushed){0};
    a->plan.n = 0;
    a->core = core_of(r, ev, core);
    a->actor = hb_actor(r->env->hb, ev->tid);
    a->time = epoch_time(me->now);
    a->op = access_op(ev);
    a->write = event_writes(ev);
    a->level = out.level;
    a->asked = out.asked;
    a->start = beside ? out.began : now;
    a->data = now;
    return a;
}

/* Without a machine there is one list, as nobody says on which core an access was. */
static struct access **unpaid(struct radish *r, unsigned core)
{
    return &r->unpaid[r->machine ? core : 0];
}

static void put_off(struct radish *r, struct access *a)
{
    struct access **at = unpaid(r, a->core);

    while (*at)
        at = &(*at)->later;
    *at = a;
}

/* Accesses that the runtime has to do with (runtime.h). */
static bool needs_lowering(const struct radish *r, const struct event *ev)
{
    const bool unheeded = ev->flags & EVF_SYSTEM && !(r->env->view & VIEW_ALL_SYNC);

    return r->runtime && (ev->flags & EVF_IN_TXN || (ev->flags & EVF_ORDER_MASK && !unheeded) ||
                          runtime_pending(r->runtime, ev->tid));
}

sim_cycle radish_lower(struct radish *r, const struct event *ev, unsigned core, sim_cycle now)
{
    return runtime_lower(r->runtime, ev, core, hb_clock(r->env->hb, ev->tid),
                         hb_actor(r->env->hb, ev->tid), now);
}

sim_cycle radish_decide(void *self, const struct event *ev, unsigned core, struct mem_outcome out,
                        sim_cycle now)
{
    struct radish *r = self;
    struct access *a = begin(r, ev, core, out, now);

    queue_pass(r, a->start);
    if (UNLIKELY(r->held.live))
        a->flushed.held = held_touched(r, ev, a->core, &a->flushed.drained, a->start);
    flush_for(r, &a->flushed, a->core, a->actor, a->time);
    decide(a);
    a->lowered = needs_lowering(r, ev);
    if (UNLIKELY(a->lowered))
        a->lowered_event = *ev;
    put_off(r, a);
    return now;
}

/* It serves again. */
static void finish_first(struct radish *r, struct access **first)
{
    struct access *a = *first;

    *first = a->later;
    a->later = r->paid;
    r->paid = a;
}

static void free_all(struct access *a)
{
    while (a) {
        struct access *later = a->later;
        free(a->plan.step);
        free(a);
        a = later;
    }
}

/* An access stays in the list until it is paid for: a run may end in the middle. */
sim_cycle radish_pay(void *self, unsigned core, sim_cycle now)
{
    struct access **first = unpaid(self, core);
    sim_cycle done = now;

    for (; *first; finish_first(self, first)) {
        struct access *a = *first;
        const sim_cycle start = done > now || a->start > now ? done : a->start;
        done = latest(pay(a, a->data, start), done);
        if (a->lowered)
            done = radish_lower(self, &a->lowered_event, core, done);
    }
    return lost_paid(self, core, done);
}

void radish_unpaid_free(struct radish *r)
{
    for (unsigned core = 0; core < MAX_CORES; core++)
        free_all(r->unpaid[core]);
    free_all(r->paid);
}

/* ---- hints ---------------------------------------------------------------------------------- */

/* Of its history line, as a page has whole lines. */
static unsigned index_of(const struct radish *r, sim_addr a)
{
    return (unsigned)(a >> r->granule_shift) & (r->entries - 1);
}

/* Where the thread is; NULL: that is not known yet. */
static struct radish_hint *hint_for(const struct radish *r, const struct event *ev)
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
    struct radish_hint *hint = hint_for(r, ev);

    if (!hint)
        return;
    const sim_addr at = r->machine->physical(r->env->host, ev->addr);
    const struct hline *h = line_on_core(r, (unsigned)(hint - r->hint), at >> r->number_shift);
    *hint = (struct radish_hint){ev->addr, (struct hline *)(uintptr_t)h};
    if (!h)
        return;
    __builtin_prefetch(h, 1);
    __builtin_prefetch(&h->number, 1);
    __builtin_prefetch(&h->at[index_of(r, at) * ACCESS_CLASSES], 1);
}

void radish_very_soon(const void *self, const struct event *ev)
{
    const struct radish *r = self;
    const struct radish_hint *hint = hint_for(r, ev);

    if (!hint || !hint->line || hint->addr != ev->addr)
        return;
    for (unsigned class = 0; class < ACCESS_CLASSES; class ++) {
        const struct record *x = record_of(hint->line, index_of(r, ev->addr), class);
        if (x)
            __builtin_prefetch(x, 1);
    }
}
