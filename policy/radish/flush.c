/* flush.c - when history leaves the chip: another thread takes the core, a clock no longer
 * fits, a line is thrown out of the caches. First the lines are gone for the detector, then their
 * handlers are paid for. */
#include "policy/radish/radish.h"

#include <stdlib.h>
#include <string.h>

void flush_line(struct radish *r, struct flushed *f, struct hline **to, struct hline *h)
{
    f->drained = latest(f->drained, queue_drain_data(r, h->data));
    line_leaves(r, h);
    *to = manager_add(*to, h);
}

static void flush_core(struct radish *r, struct flushed *f, struct hline **to, unsigned core)
{
    while (r->core[core].last)
        flush_line(r, f, to, r->core[core].last);
}

/* ---- threads -------------------------------------------------------------------------------- */

static void know_actor(struct radish *r, uint32_t actor)
{
    if (LIKELY(actor < r->actors))
        return;
    const size_t n = (size_t)actor + 1, had = r->actors;
    r->at_core = xrecalloc(r->at_core, had, n, sizeof *r->at_core);
    r->base = xrecalloc(r->base, had, n, sizeof *r->base);
    budget_take(r->env->budget, (n - had) * (sizeof *r->at_core + sizeof *r->base));
    r->actors = n;
}

static void leave_core(struct radish *r, struct flushed *f, unsigned core)
{
    if (r->params.flush == FLUSH_LAZY || !r->core[core].lines)
        return;
    r->st.flushes++;
    flush_core(r, f, &f->switched, core);
}

/* The thread came from another core, which has let it go. */
static void come(struct radish *r, struct flushed *f, unsigned from, uint32_t actor)
{
    struct radish_core *c = &r->core[from];

    r->st.moves++;
    if (!c->taken || c->actor != actor)
        return;
    c->taken = false;
    leave_core(r, f, from);
}

static void take_core(struct radish *r, struct flushed *f, unsigned core, uint32_t actor)
{
    struct radish_core *c = &r->core[core];

    if (r->at_core[actor] && r->at_core[actor] != core + 1)
        come(r, f, r->at_core[actor] - 1, actor);
    r->at_core[actor] = core + 1;
    if (c->taken && c->actor != actor) {
        r->st.switches++;
        leave_core(r, f, core);
    }
    c->taken = true;
    c->actor = actor;
}

/* ---- clocks --------------------------------------------------------------------------------- */

/* The next of the lines that wait for their handler; NULL: none. */
static struct hline *next_lost(struct flushed *lost)
{
    struct hline **from = lost->gone ? &lost->gone : &lost->homeless, *h = *from;

    if (h)
        *from = h->later;
    return h;
}

/* Lines that wait for their handler hold clocks, too: when clocks roll over they are stored first.
 */
static void take_lost(struct flushed *f, struct flushed *lost)
{
    for (struct hline *h; (h = next_lost(lost));)
        f->rolled = manager_add(f->rolled, h);
    f->drained = latest(f->drained, lost->drained);
    lost->drained = 0;
}

/* Rolls the clocks over: all history leaves, so each thread's clock may count from where it is. */
static void roll_over(struct radish *r, struct flushed *f)
{
    const struct hb *hb = r->env->hb;

    r->st.roll_overs++;
    for (unsigned core = 0; core < r->cores; core++) {
        flush_core(r, f, &f->rolled, core);
        take_lost(f, &r->lost[core]);
    }
    for (uint32_t a = 0; a < r->actors && a < hb->actors; a++)
        if (hb->actor[a].now)
            r->base[a] = epoch_time(hb->actor[a].now) - 1;
}

void flush_other(struct radish *r, struct flushed *f, unsigned core, uint32_t actor, uint64_t time)
{
    know_actor(r, actor);
    take_core(r, f, core, actor);
    if (UNLIKELY(r->params.clock_bits && (time - r->base[actor]) >> r->params.clock_bits))
        roll_over(r, f);
}

/* Nobody may count on by old clocks meanwhile: all cores stop until everything is stored. */
static sim_cycle roll_over_paid(struct radish *r, unsigned core, struct hline *left, sim_cycle now)
{
    const struct policy_machine *m = r->machine;

    if (!left || !m)
        return manager_flush(r, core, left, SWM_ROLL_OVER, now);
    const sim_cycle since = m->stop(r->env->host, core, now);
    now = manager_flush(r, core, left, SWM_ROLL_OVER, since);
    r->st.stopped += now - since;
    return m->go_on(r->env->host, core, since, now);
}

sim_cycle flush_paid(struct radish *r, unsigned core, struct flushed *f, sim_cycle now)
{
    now = queue_waited(r, f->drained, now);
    now = move_paid(r, core, now);
    now = manager_flush(r, core, f->switched, SWM_FLUSH, now);
    now = roll_over_paid(r, core, f->rolled, now);
    return manager_leave(r, core, f->gone, SWM_EVICTION, false, now);
}

/* ---- what happens to lines ------------------------------------------------------------------ */

/* Most are in another cache still. A clean one is dropped, and nobody has to pay. */
static void history_line(struct radish *r, struct flushed *f, struct paddr addr)
{
    const unsigned core = (unsigned)((addr.at - r->params.base) / r->stride);

    if (level_on(r, core, addr) != LEVEL_NONE)
        return;
    struct hline *h =
                     line_on_core(r, core, (addr.at - r->params.base) % r->stride >> r->line_shift),
                 *left = NULL;
    if (!h || h->coming)
        return;
    flush_line(r, f, h->dirty ? &f->gone : &left, h);
    manager_leave(r, core, left, SWM_EVICTION, false, 0);
}

/* The home forgets a core that throws out its data: nobody would tell it of another's access. */
static void data_evicted(struct radish *r, struct flushed *f, struct data_line *p, unsigned core)
{
    if (UNLIKELY(p->queued))
        f->drained = latest(f->drained, queue_drain_data(r, p));
    cores_remove(p->hears, core);
    for (unsigned k = 0; k < r->kinds; k++) {
        struct hline *h = line_on_core(r, core, line_number(r, p->line, k));
        if (!h || !h->may_read)
            continue;
        r->st.taken_away += (unsigned)__builtin_popcountll(h->may_read);
        h->may_read = h->may_write = 0;
    }
}

bool data_anywhere(const struct radish *r, struct paddr addr)
{
    for (unsigned core = 0; core < r->cores; core++)
        if (level_on(r, core, addr) != LEVEL_NONE)
            return true;
    return false;
}

/* No directory entry is left that would find its histories. */
static void data_left(struct radish *r, struct flushed *f, struct data_line *p)
{
    for (unsigned k = 0; k < r->kinds; k++)
        for (struct hline *h = p->of_kind[k], *next; h; h = next) {
            next = h->next;
            if (h->leaving)
                continue;
            r->st.homeless++;
            flush_line(r, f, &f->homeless, h);
        }
}

static void data_line(struct radish *r, struct flushed *f, const struct line_event *le)
{
    if (le->addr.at >= r->params.memory) /* the manager's, or the runtime's */
        return;
    const enum mem_level left_in = level_on(r, le->core, le->addr);
    if (left_in == LEVEL_L1 || left_in == LEVEL_L2)
        return;
    struct data_line *p = data_find(r, le->addr.at >> r->line_shift);
    if (p && le->level != LEVEL_L3)
        data_evicted(r, f, p, le->core);
    if (p && p->lines && !left_in && !data_anywhere(r, le->addr))
        data_left(r, f, p);
}

/* Decides, and no more: the cost is paid by the core that displaced the line. A line that the
 * server of the queue displaces is paid by the core whose program waits for it. */
bool radish_line(void *self, const struct line_event *le, unsigned core)
{
    struct radish *r = self;
    const bool teller = queue_serves(r, le->by);
    struct flushed *f = &r->lost[teller ? core : le->by];

    if (le->what == LINE_INVALIDATE && !le->recalled) /* a store has it now, and has told */
        return false;
    if (le->addr.at - r->params.base < r->stride * r->cores)
        history_line(r, f, le->addr);
    else
        data_line(r, f, le);
    return lost_some(f);
}

static size_t lost_lines(const struct flushed *lost)
{
    size_t n = 0;

    for (unsigned i = 0; i < 2; i++)
        for (const struct hline *h = i ? lost->homeless : lost->gone; h; h = h->later)
            n++;
    return n;
}

/* Pays for lost lines one by one: more may be lost while one is paid for, or a roll-over store the
 * rest. If the handlers of evictions displace lines themselves, that is a storm. */
sim_cycle flush_lost_paid(struct radish *r, unsigned core, sim_cycle now)
{
    struct flushed *lost = &r->lost[core];
    const size_t first = lost_lines(lost);

    for (size_t i = 0; lost_some(lost); i++) {
        const bool drop = !lost->gone;
        const sim_cycle from = now;
        struct hline *h = next_lost(lost);
        now = queue_waited(r, lost->drained, now);
        lost->drained = 0;
        now = manager_leave(r, core, h ? manager_add(NULL, h) : NULL, SWM_EVICTION, drop, now);
        r->st.storm += i >= first;
        r->st.storm_cycles += i >= first ? now - from : 0;
    }
    return now;
}
