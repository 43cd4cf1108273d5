/* budget.h - how much of the host's memory a part of a run has taken, and may take. */
#ifndef LARDSIM_BUDGET_H
#define LARDSIM_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct err;

/* A budget counts the bytes of host memory that grow with the input. Every container that can grow
 * charges one; the run stops with LARD_LIMIT when a budget is over its limit. Parts of a run have
 * budgets of their own, which borrow from a common one with the limit. A container that is given
 * NULL is not accounted. */
struct budget {
    uint64_t live, peak;
    uint64_t limit;    /* bytes; 0: no limit */
    struct budget *of; /* borrows: is charged, too; NULL: none is */
    bool over;         /* it, or what it is of, was over its limit when it was last charged */
    const volatile int *stop; /* not 0: the signal that ends the run; NULL: none can */
};
static inline void budget_take(struct budget *b, uint64_t bytes)
{
    bool over = false;

    for (struct budget *at = b; at; at = at->of) {
        at->live += bytes;
        if (at->live > at->peak)
            at->peak = at->live;
        over |= at->over |= at->limit && at->live > at->limit;
    }
    if (over)
        b->over = true;
}
static inline void budget_give(struct budget *b, uint64_t bytes)
{
    for (; b; b = b->of)
        b->live -= bytes;
}
/* xgrow, charged; the second where an array's room is counted in 32 bits. */
void *budget_grow(struct budget *b, void *array, size_t n, size_t *cap, size_t bytes);
void *budget_grow32(struct budget *b, void *array, uint32_t n, uint32_t *cap, size_t bytes);
/* An array of *n elements gets element i: with half as many again behind it, all zero. */
void *budget_reach_more(struct budget *b, void *array, size_t *n, size_t i, size_t bytes);
static inline void *budget_reach(struct budget *b, void *array, size_t *n, size_t i, size_t bytes)
{
    return LIKELY(i < *n) ? array : budget_reach_more(b, array, n, i, bytes);
}
/* Sets the bytes that the budget has charged, whatever they were. */
static inline void budget_have(struct budget *b, uint64_t bytes)
{
    if (bytes > b->live)
        budget_take(b, bytes - b->live);
    else
        budget_give(b, b->live - bytes);
}
static inline bool budget_over(const struct budget *b)
{
    return b && b->over;
}
/* The error of a run whose budget is over, with LARD_LIMIT: `what` has it, "policy vc", and may
 * take less if ... `remedy`. */
int budget_error(const struct budget *b, uint64_t event, const char *what, const char *remedy,
                 struct err *e);
/* Inside an event: what is left of it does not matter any more. A stop is as if nothing more may be
 * taken, so that whoever asks budget_over later knows. */
static inline bool budget_ends(struct budget *b)
{
    if (b && b->stop && UNLIKELY(*b->stop))
        b->over = true;
    return budget_over(b);
}

#endif
