/* gaps.c - traces that do not say how many instructions lie between accesses. As long as no event
 * has, each access of the program gets core.unknown-gap of them. The events' identity stays that of
 * the trace. */
#include "sim/session/session.h"

#include <stdlib.h>
#include <string.h>

static void fill(const struct lardsim *l, struct event *ev)
{
    if (event_is_access(ev) && !(ev->flags & EVF_SYSTEM))
        ev->gap = (uint32_t)l->machine->core_params.unknown_gap;
}

/* Up to the first event that has a gap. */
static void fill_all(struct lardsim *l, struct event *rec, size_t records)
{
    for (size_t i = 0; i < records && !l->machine->gaps_known; i += event_records(&rec[i])) {
        l->machine->gaps_known = rec[i].gap != 0;
        if (!rec[i].gap)
            fill(l, &rec[i]);
    }
}

static void look(struct lardsim *l, const struct batch *b)
{
    for (size_t i = 0; i < b->records && !l->machine->gaps_known; i++)
        l->machine->gaps_known = b->rec[i].gap != 0;
}

void gaps_batch(struct lardsim *l, struct batch *b)
{
    l->gaps.original = NULL;
    if (!l->machine || l->machine->gaps_known)
        return;
    if (!l->machine->core_params.unknown_gap) {
        look(l, b);
        return;
    }
    l->gaps.filled = xrealloc(l->gaps.filled, b->records + 1, sizeof *l->gaps.filled);
    memcpy(l->gaps.filled, b->rec, b->records * sizeof *b->rec);
    fill_all(l, l->gaps.filled, b->records);
    l->gaps.original = b->rec;
    b->rec = l->gaps.filled;
}

const struct event *gaps_original(const struct lardsim *l, const struct batch *b)
{
    return l->gaps.original ? l->gaps.original : b->rec;
}

void gaps_free(struct lardsim *l)
{
    free(l->gaps.filled);
}
