/* history.c - blocks for the entries that a location itself has no room for.
 *
 * Blocks of the smallest size come from a pool: two lines of the host's cache each, with
 * what is compared in the first. A block is given back as soon as it is empty, so that the next
 * location in need gets one that is still in the host's cache. */
#include "policy/vc/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SMALL_CAP = 4, SMALL_BYTES = 128 };

static uint64_t more_bytes(uint64_t cap)
{
    return sizeof(struct history_more) + cap * (sizeof(epoch) + 1 + sizeof(struct history_past));
}

void history_pool_init(struct history_pool *p, struct budget *budget)
{
    *p = (struct history_pool){.small = {.bytes = SMALL_BYTES, .budget = budget}, .budget = budget};
}

static struct history_more *more_new(struct history_pool *p, uint32_t cap)
{
    struct history_more *m = cap == SMALL_CAP ? pool_get(&p->small) : xmalloc(more_bytes(cap));

    m->cap = cap;
    if (cap != SMALL_CAP)
        budget_take(p->budget, heap_bytes(more_bytes(cap)));
    return m;
}

static void more_free(struct history_pool *p, struct history_more *m)
{
    if (m->cap == SMALL_CAP) {
        pool_give(&p->small, m);
        return;
    }
    budget_give(p->budget, heap_bytes(more_bytes(m->cap)));
    free(m);
}

/* Column by column: the two may differ in cap. */
static void more_copy(struct history_more *to, struct history_more *from)
{
    to->n = from->n;
    memcpy(to->at, from->at, from->n * sizeof *to->at);
    memcpy(history_more_op(to), history_more_op(from), from->n);
    memcpy(history_more_past(to), history_more_past(from), from->n * sizeof(struct history_past));
}

void history_resize_more(struct history_pool *p, struct history *h, uint32_t n)
{
    struct history_more *was = h->more;
    uint32_t cap = was ? was->cap : SMALL_CAP;

    while (cap < n)
        cap *= 2;
    if (n && !(was && was->cap == cap)) {
        h->more = more_new(p, cap);
        if (was)
            more_copy(h->more, was);
    }
    if (was && (!n || was != h->more))
        more_free(p, was);
    if (n)
        h->more->n = n;
    else
        h->more = NULL;
}

void history_own(struct history_pool *p, struct history *h)
{
    p->entries += history_count(h);
    if (!h->more)
        return;
    struct history_more *was = h->more;
    h->more = more_new(p, was->cap);
    more_copy(h->more, was);
}
