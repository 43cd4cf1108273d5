/* calendar.h - the reservation calendar that makes a link or a bank serve one thing at a time: it
 * tells when that is free. */
#ifndef LARDSIM_CALENDAR_H
#define LARDSIM_CALENDAR_H

#include "base/base.h"
#include "base/ensure.h"

#include <assert.h>
#include <stdbool.h>

struct calendar_span { /* taken cycles, [from, to) */
    sim_cycle from, to;
};
/* A calendar marks the cycles at which a link or bank is busy. Transactions are simulated one by
 * one, so reservations do not come in order of their times: one that wants an earlier time takes a
 * gap that later ones have left. The floor is the start of the access being simulated; times before
 * it are over. */
struct calendar {    /* open so that it can stand in its owner; all zero: nothing taken yet */
    uint64_t *busy;  /* a ring of bits, a cycle each, from base to end; owns; NULL until needed */
    size_t mask;     /* words of the ring - 1 */
    sim_cycle base;  /* first cycle of the ring; a multiple of 64 */
    sim_cycle end;   /* the ring ends before this cycle */
    sim_cycle floor; /* the latest floor that a caller gave */
    sim_cycle top;   /* nothing is taken from here on */
    struct calendar_span *far; /* taken from end on, in order, none touching; owns */
    size_t n_far, cap_far;
    const struct run_context *context; /* borrows; for who is too early; may be NULL */
};
void calendar_init(struct calendar *s, const struct run_context *context);
void calendar_free(struct calendar *s);
/* The usual case of calendar_take: the cycles lie in the ring, are at most 64, and are free. The
 * general one would do it too, in 8.5 ns where this takes 6.4 (random offsets, a calendar one
 * twentieth full). False: not that case, nothing is taken. */
static inline bool calendar_take_at_once(struct calendar *s, sim_cycle at, unsigned cycles)
{
    const unsigned bit = at & 63;

    if (at + cycles > s->end || cycles - 1 > 63)
        return false;
    const uint64_t bits = UINT64_MAX >> (64 - cycles);
    const uint64_t low = bits << bit, high = bits >> 1 >> (63 - bit);
    const uint64_t word = at >> 6;
    uint64_t *first = &s->busy[word & s->mask], *second = &s->busy[(word + 1) & s->mask];
    if ((*first & low) | (*second & high))
        return false;
    *first |= low;
    *second |= high;
    if (at + cycles > s->top)
        s->top = at + cycles;
    return true;
}
/* Ends the process: the call comes too early, or ends too late. */
void calendar_refuse(const struct calendar *s, sim_cycle at, unsigned cycles) NO_RETURN;
sim_cycle calendar_take_other(struct calendar *s, sim_cycle at, unsigned cycles);
/* Takes the first `cycles` free cycles in a row at or after `at`; returns the first of them (`at`
 * where cycles is 0). floor <= at is the promise that no later reservation will want a time before
 * it (asserted): what is over can be forgotten. Far-away times work, too. */
static inline sim_cycle calendar_take(struct calendar *s, sim_cycle floor, sim_cycle at,
                                      unsigned cycles)
{
    if (floor > s->floor)
        s->floor = floor;
    if (UNLIKELY(at < s->floor || at > UINT64_MAX - cycles))
        calendar_refuse(s, at, cycles);
    return LIKELY(calendar_take_at_once(s, at, cycles)) ? at : calendar_take_other(s, at, cycles);
}

#endif
