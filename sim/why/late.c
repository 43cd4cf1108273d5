/* late.c - a policy may notice a race late, name its earlier access alone, and forget the other: a
 * lazy check of a read finds that somebody has written since, and not who. Then the other side is
 * looked for from there on. */
#include "sim/why/why_int.h"

struct later_side {
    const struct lardsim_why_ask *ask;
    uint64_t position; /* of the access that is asked about */
    bool there, found;
    struct event access;
    uint32_t actor;
    uint64_t time, number;
    struct pieces in; /* where its locations lie by now */
};

static void begin(struct later_side *l, const struct walk *r)
{
    const struct event *best = r->effect;
    const unsigned view = checker_view(r->hb);

    for (size_t i = 1; i < r->effects; i++)
        if (likeness(l->ask, r->granule, view, &r->effect[i]) >
            likeness(l->ask, r->granule, view, best))
            best = &r->effect[i];
    if (l->ask->nth && l->ask->nth <= r->effects)
        best = &r->effect[l->ask->nth - 1];
    if (!best)
        return;
    l->there = true;
    l->access = *best;
    l->actor = r->actor;
    l->time = r->before;
    l->in = (struct pieces){.at = {region_of(best, r->granule)}, .n = 1};
}

/* As memmove does it: what lay at the source, then the destination emptied, then put there. */
static void follow(struct later_side *l, const struct walk *r, const struct event *ev)
{
    const struct bytes_at to = {ev->addr, ev->addr + ev->aux - 1};
    const struct pieces was = l->in;
    const unsigned view = checker_view(r->hb);

    if (view & (ev->kind == EV_COPY ? VIEW_NO_COPY : VIEW_NO_CLEAR))
        return;
    pieces_without(&l->in, to);
    if (ev->kind == EV_COPY)
        pieces_part(&was, (struct bytes_at){ev[1].addr, ev[1].addr + ev->aux - 1},
                    ev->addr - ev[1].addr, &l->in);
}

static bool races(const struct later_side *l, const struct walk *r, const struct event *access)
{
    return r->actor != l->actor && !(access->flags & checker_skips(r->hb)) &&
           accesses_conflict(&l->access, access) &&
           pieces_meet(&l->in, region_of(access, r->granule)) &&
           checker_knows(r->hb, access->tid, l->actor) < l->time;
}

static bool look(void *arg, struct walk *r, const struct event *ev)
{
    struct later_side *l = arg;

    for (size_t i = 0; i < r->effects && l->there && !l->found; i++)
        l->found = races(l, r, &r->effect[i]);
    l->number = r->number;
    if (r->position == l->position)
        begin(l, r);
    if (l->there && (ev->kind == EV_CLEAR || ev->kind == EV_COPY))
        follow(l, r, ev);
    return !l->found && l->in.n + !l->there > 0;
}

int find_late(const struct lardsim_why_ask *ask, bool *found, uint64_t *number, struct err *e)
{
    struct later_side l = {.ask = ask};
    struct walk r;

    *found = false;
    if (!executed_find(ask->executed, ask->event, &l.position))
        return 0;
    if (reading_open(&r, ask, READ_CLOCKS, e))
        return -1;
    const int failed = reading_each(&r, look, &l);
    reading_close(&r);
    *found = l.found;
    *number = l.number;
    return failed;
}
