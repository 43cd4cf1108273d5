/* steps.c - how a core pays for a policy's metadata: each step's access at its turn among all
 * agents.
 *
 * Most of them hit in the L1 with permission, and nobody else can tell when that was done, until
 * somebody takes the line or its rights, or looks at statistics. So a core does not take turns for
 * the hits at hand: it looks them up and takes its next turn at the first access that is none, or
 * at the last of all, as the event ends there. The hits are made then, or earlier, when others are
 * about to change something in the core's caches (coh_host.meets): those whose turn would have been
 * by now; the rest is looked up again.
 *
 * What a core does not wait for changes its L1, too; and the statistics of intervals, and of a
 * memory that answers later, depend on turns: with any of these, each access takes its own.
 */
#include "sim/scheduler/timed.h"

/* The hits before step `end` are being made: their latencies pass, and that step begins. */
static void pass_hits(const struct timed *s, unsigned core, struct ahead_steps *h, size_t end)
{
    while (h->at < end) {
        const struct coh_result hit = {.done = h->now + s->l1_latency, .level = LEVEL_L1};
        machine_step_done(h->run, h->at, h->now, hit);
        h->at++;
        h->now = machine_step_begins(s->machine, core, h->run, h->at, hit.done);
    }
}

/* Makes those whose turn would have come before the latest of anybody. */
static void settle(struct timed *s, unsigned core)
{
    struct ahead_steps *h = &s->ahead[core];
    const bool first = s->queue.agent[core].index < s->queue.last;
    sim_cycle now = h->now;
    size_t end = h->at;

    for (; end < h->end && (now < s->queue.now || (now == s->queue.now && first)); end++)
        now += s->l1_latency + h->run->step[end + 1].instructions;
    if (end == h->at)
        return;
    coherence_l1_hits(s->machine->coherence, core, h->run->step + h->at, end - h->at);
    pass_hits(s, core, h, end);
}

void steps_settle(struct timed *s)
{
    for (unsigned i = 0; i < s->machine->params.cores; i++)
        settle(s, i);
}

void ahead_meets(void *self, unsigned core)
{
    struct timed *s = self;
    struct ahead_steps *h = &s->ahead[core];

    settle(s, core);
    if (h->at >= h->end)
        return;
    h->end = h->at;
    queue_at(s, &s->queue.agent[core], h->now);
}

/* How far it hits as things are; returns when the access behind that starts. */
static sim_cycle look_ahead(const struct timed *s, unsigned core, struct ahead_steps *h)
{
    struct mem_step *step = h->run->step + h->at;
    const size_t n = h->run->n - 1 - h->at;
    sim_cycle now = h->now;

    h->end = h->at + coherence_l1_ahead(s->machine->coherence, core, step, n, &now);
    return now;
}

static NO_INLINE NO_RETURN void not_its_turn(const struct timed *s, unsigned core, sim_cycle now)
{
    ensure_failed(__FILE__, __LINE__, "the core has the turn", s->head.env.context,
                  "a policy works on core %u at cycle %llu, and others were at cycle %llu", core,
                  (unsigned long long)now, (unsigned long long)s->queue.now);
}

/* Waits for the turn of step h->at, or of a later one if it hits. Returns the first of the hits
 * before that, which are still to be made. */
static size_t wait_turn(struct timed *s, unsigned core, struct ahead_steps *h)
{
    const struct machine *m = s->machine;

    h->now = u64_max(h->now, s->queue.now);
    if (queue_goes_on(s, h->now))
        return h->at;
    const bool each = m->access || m->intervals || m->memory.type->later;
    queue_until(s, core, each ? h->now : look_ahead(s, core, h));
    const size_t first = h->at;
    pass_hits(s, core, h, h->end);
    if (UNLIKELY(h->now != s->queue.now))
        not_its_turn(s, core, h->now);
    return first;
}

sim_cycle timed_steps(void *self, unsigned core, const struct mem_run *r, sim_cycle now)
{
    struct timed *s = self;
    struct machine *m = s->machine;
    struct ahead_steps *h = &s->ahead[core];

    if (UNLIKELY(s->queue.active != &s->queue.agent[core]))
        not_its_turn(s, core, now);
    for (*h = (struct ahead_steps){.run = r}; h->at < r->n; h->at++) {
        h->now = machine_step_begins(m, core, r, h->at, now);
        const size_t first = wait_turn(s, core, h);
        now = machine_step_done(
            r, h->at, h->now,
            coherence_steps(m->coherence, core, r->step + first, h->at - first, h->now));
    }
    return now;
}
