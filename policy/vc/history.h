/* history.h - the accesses that a location remembers, in the order in which they were added: the
 * first two in the location's own cache line of the host, more in a block of their own.
 *
 * Fields are stored by column, those that a check compares (epoch, op) first: a check of a long
 * history touches few of the host's lines, and what is only reported stays out of its cache. */
#ifndef LARDSIM_HISTORY_H
#define LARDSIM_HISTORY_H

#include "base/mem.h"
#include "base/vclock.h"
#include "trace/trace.h"

enum { HISTORY_HERE = 2 };

struct history_past { /* what is only reported */
    uint64_t site, event;
    sim_tid tid;
} __attribute__((packed)); /* or two would not fit */

struct history { /* all zero: empty */
    epoch at[HISTORY_HERE];
    struct history_past past[HISTORY_HERE];
    uint8_t op[HISTORY_HERE];  /* what the owner tells accesses apart by */
    uint8_t n;                 /* entries here; the others are in `more` */
    bool raced;                /* the owner's: the race mark of this life */
    struct history_more *more; /* owns; NULL: no others */
};
_Static_assert(sizeof(struct history) == 64, "a history is one cache line");

struct history_more {
    uint32_t n, cap; /* n > 0 */
    epoch at[];      /* cap of them, then as many ops, and as many struct history_past */
};

/* Memory for blocks; what a location has in use is charged to the budget. */
struct history_pool {
    struct pool small; /* blocks of the smallest size; freed when all histories are empty */
    struct budget *budget;
    uint64_t entries; /* in all histories */
};
void history_pool_init(struct history_pool *p, struct budget *budget);

static inline uint8_t *history_more_op(struct history_more *m)
{
    return (uint8_t *)(m->at + m->cap);
}
static inline struct history_past *history_more_past(struct history_more *m)
{
    return (struct history_past *)(history_more_op(m) + m->cap);
}

static inline uint32_t history_elsewhere(const struct history *h) /* how many */
{
    return h->more ? h->more->n : 0;
}
static inline uint32_t history_count(const struct history *h)
{
    return h->n + history_elsewhere(h);
}

/* Entry i. */
static inline epoch *history_at(struct history *h, uint32_t i)
{
    return i < HISTORY_HERE ? &h->at[i] : &h->more->at[i - HISTORY_HERE];
}
static inline uint8_t *history_op(struct history *h, uint32_t i)
{
    return i < HISTORY_HERE ? &h->op[i] : &history_more_op(h->more)[i - HISTORY_HERE];
}
static inline struct history_past *history_past(struct history *h, uint32_t i)
{
    return i < HISTORY_HERE ? &h->past[i] : &history_more_past(h->more)[i - HISTORY_HERE];
}

/* The history gets n entries: some are dropped from the end, or added there for the caller to fill.
 */
void history_resize_more(struct history_pool *p, struct history *h, uint32_t n); /* its rare part */
static inline void history_resize(struct history_pool *p, struct history *h, uint32_t n)
{
    p->entries += (uint64_t)n - history_count(h);
    h->n = (uint8_t)(n < HISTORY_HERE ? n : HISTORY_HERE);
    if (n - h->n != history_elsewhere(h))
        history_resize_more(p, h, n - h->n);
}

/* After a history was copied bit by bit: the copy gets a block of its own. */
void history_own(struct history_pool *p, struct history *h);

/* A hint for the host's caches: fetches the first lines of the block, with what is compared. */
static inline void history_soon(const struct history *h)
{
    const uintptr_t more = (uintptr_t)h->more; /* where there is none, it does no harm */

    __builtin_prefetch((const void *)more, 1);
    __builtin_prefetch((const void *)(more + 64), 1);
}

#endif
