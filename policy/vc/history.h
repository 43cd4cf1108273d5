/* history.h - the accesses that a location remembers, in the order in which they were added: the
 * first two beside each other in one cache line, more in a block of their own.
 *
 * What is compared stands apart from what is only reported, and all entries' together. */
#ifndef LARDSIM_HISTORY_H
#define LARDSIM_HISTORY_H

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
    uint8_t n;                 /* here */
    bool raced;                /* the owner's: the race mark of this life */
    struct history_more *more; /* owns; NULL: no others */
};
_Static_assert(sizeof(struct history) == 64, "a history is one cache line");

struct history_more {
    uint32_t n, cap; /* n > 0 */
    epoch at[];      /* cap of them, then as many ops, and as many struct history_past */
};

/* Blocks for the others; what a location has in use is charged to the budget. */
struct history_pool {
    struct history_spare *spare; /* of the smallest size */
    struct history_slab *slabs;  /* owns; where those are */
    struct budget *budget;
    uint64_t entries; /* in all histories */
};
void history_pool_free(struct history_pool *p); /* when all histories are empty */

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

/* Entries are dropped from the end, or added to it and then to be filled. */
void history_resize_more(struct history_pool *p, struct history *h, uint32_t n); /* its rare part */
static inline void history_resize(struct history_pool *p, struct history *h, uint32_t n)
{
    p->entries += (uint64_t)n - history_count(h);
    h->n = (uint8_t)(n < HISTORY_HERE ? n : HISTORY_HERE);
    if (n - h->n != history_elsewhere(h))
        history_resize_more(p, h, n - h->n);
}

/* Of a history that is the same bits as another: it gets entries of its own. */
void history_own(struct history_pool *p, struct history *h);

/* A hint for the host's caches: fetches what is compared of the others, and some of the rest. */
static inline void history_soon(const struct history *h)
{
    const uintptr_t more = (uintptr_t)h->more; /* where there is none, it does no harm */

    __builtin_prefetch((const void *)more, 1);
    __builtin_prefetch((const void *)(more + 64), 1);
}

#endif
