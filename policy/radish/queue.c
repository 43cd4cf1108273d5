/* queue.c - checks in software that the program does not wait for: a queue that a spare core
 * serves, one after the other.
 *
 * The verdict is that of the state in which the check was put in: nothing that could change it may
 * happen to its granules before it is over (the queue is drained first), so it is known at once and
 * reported with its access. What comes later is the permission, and the time. */
#include "policy/radish/radish.h"

#include <assert.h>

static struct queued_check *item(const struct radish *r, uint64_t i)
{
    return &r->queue[(r->queue_head + i) % r->params.queue];
}

static unsigned spare_core(const struct radish *r)
{
    return r->params.spare < r->cores ? (unsigned)r->params.spare : r->cores - 1;
}

bool queue_serves(const struct radish *r, unsigned core)
{
    return r->params.checks == CHECKS_QUEUED && core == spare_core(r);
}

/* The check has passed: the thread has its permission, if its line is still there. */
static void grant(struct radish *r, const struct queued_check *c)
{
    struct hline *h = line_on_core(r, c->core, line_number(r, c->data->line, c->kind));

    if (!h || h->actor != c->actor || !cores_have(c->data->hears, c->core))
        return;
    h->may_read |= c->granted;
    if (c->write)
        h->may_write |= c->granted;
    r->st.granted += (unsigned)__builtin_popcountll(c->granted);
}

/* The oldest is over. Returns when. */
static sim_cycle finish_oldest(struct radish *r)
{
    const struct queued_check c = *item(r, 0);

    assert(r->queue_n);
    r->queue_head = (r->queue_head + 1) % r->params.queue;
    r->queue_n--;
    grant(r, &c);
    c.data->queued--;
    return c.done == CYCLE_NEVER ? r->queue_free : c.done; /* it comes after what is served */
}

static sim_cycle finish_until(struct radish *r, uint64_t n)
{
    sim_cycle done = 0;

    while (n--)
        done = latest(done, finish_oldest(r));
    return done;
}

uint64_t queue_put(struct radish *r, const struct queued_check *c, sim_cycle *wait)
{
    *wait = 0;
    if (r->queue_n == r->params.queue) {
        r->st.stalls++;
        *wait = finish_oldest(r);
    }
    histogram_add(&r->st.queue, r->queue_n);
    r->st.queued++;
    struct queued_check *q = item(r, r->queue_n++);
    *q = *c;
    q->id = r->queue_ids++;
    q->done = CYCLE_NEVER;
    q->data->queued++;
    return q->id;
}

void queue_serve(struct radish *r, unsigned core, uint64_t id, const struct check_paid *c,
                 sim_cycle now)
{
    const sim_cycle takes = manager_check_beside(r, core, spare_core(r), c, now);

    r->queue_free = latest(r->queue_free, now) + takes;
    for (uint64_t i = 0; i < r->queue_n; i++)
        if (item(r, i)->id == id)
            item(r, i)->done = r->queue_free;
}

sim_cycle queue_drain(struct radish *r, const struct data_line *p, unsigned kind, granule_set set)
{
    uint64_t n = 0;

    if (LIKELY(!p->queued))
        return 0;
    for (uint64_t i = 0; i < r->queue_n; i++)
        if (item(r, i)->data == p && item(r, i)->kind == kind && item(r, i)->set & set)
            n = i + 1;
    return finish_until(r, n);
}

granule_set queue_has(const struct radish *r, const struct data_line *p, unsigned kind)
{
    granule_set set = 0;

    for (uint64_t i = 0; i < r->queue_n && p->queued; i++)
        if (item(r, i)->data == p && item(r, i)->kind == kind)
            set |= item(r, i)->set;
    return set;
}

sim_cycle queue_drain_data(struct radish *r, const struct data_line *p)
{
    sim_cycle done = 0;

    for (unsigned k = 0; k < r->kinds; k++)
        done = latest(done, queue_drain(r, p, k, line_all(r)));
    return done;
}

/* Returns when the last check is over. Some were over for the detector before their cost was known:
 * queue_free has their end. */
sim_cycle queue_drain_all(struct radish *r)
{
    return latest(finish_until(r, r->queue_n), r->queue_free);
}

void queue_pass_some(struct radish *r, sim_cycle now)
{
    while (r->queue_n && item(r, 0)->done <= now)
        finish_oldest(r);
}
