/* gaps.c - traces that do not say how many instructions lie between accesses: as long as no event
 * has, each access of the program gets core.unknown-gap of them. And those that count bytecodes:
 * each takes core.bytecode. The events' identity stays that of the trace. */
#include "sim/session/session.h"

#include <stdlib.h>
#include <string.h>

/* Returns the instructions of so many bytecodes. The fraction that is left goes to the next gap, so
 * that sums are right. */
static uint32_t instructions(struct lardsim *l, uint32_t bytecodes)
{
    const uint64_t all = bytecodes * l->machine->core_params.bytecode + l->gaps.rest,
                   whole = all / 100;

    l->gaps.rest = all % 100;
    return whole < UINT32_MAX ? (uint32_t)whole : UINT32_MAX;
}

static bool counts_bytecodes(const struct lardsim *l)
{
    return l->pulled && l->pulled->gaps == GAPS_BYTECODES &&
           l->machine->core_params.bytecode != 100;
}

/* Up to the first event that has a gap they are unknown. */
static void fill_all(struct lardsim *l, struct event *rec, size_t records)
{
    const bool bytecodes = counts_bytecodes(l);

    for (size_t i = 0; i < records; i += event_records(&rec[i])) {
        struct event *ev = &rec[i];
        l->machine->gaps_known |= ev->gap != 0;
        if (bytecodes)
            ev->gap = instructions(l, ev->gap);
        if (!l->machine->gaps_known && event_is_access(ev) && !(ev->flags & EVF_SYSTEM))
            ev->gap = (uint32_t)l->machine->core_params.unknown_gap;
        else if (l->machine->gaps_known && !bytecodes)
            return;
    }
}

void gaps_batch(struct lardsim *l, struct batch *b)
{
    l->gaps.original = NULL;
    if (!l->machine)
        return;
    const bool fills = !l->machine->gaps_known && l->machine->core_params.unknown_gap;
    if (!fills && !counts_bytecodes(l)) {
        for (size_t i = 0; i < b->records && !l->machine->gaps_known; i++)
            l->machine->gaps_known = b->rec[i].gap != 0;
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
