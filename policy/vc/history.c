/* history.c - blocks for the entries that a location itself has no room for.
 *
 * Blocks of the smallest size come from slabs (Bonwick): two lines of the host's cache each, with
 * what is compared in the first. A block is given back as soon as it is empty, so that the next
 * location in need gets one that is still in the host's cache. */
#include "policy/vc/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SMALL_CAP = 4, SMALL_BYTES = 128, SLAB_BLOCKS = 63 };

struct history_spare {
    struct history_spare *next;
};

struct history_slab {
    struct history_slab *next;
    _Alignas(64) unsigned char block[SLAB_BLOCKS][SMALL_BYTES];
};

static uint64_t more_bytes(uint64_t cap)
{
    return sizeof(struct history_more) + cap * (sizeof(epoch) + 1 + sizeof(struct history_past));
}

static void add_slab(struct history_pool *p)
{
    struct history_slab *slab = aligned_alloc(64, sizeof *slab);

    if (!slab)
        die("no memory for histories; set limits.memory to stop earlier with partial results");
    budget_take(p->budget, sizeof *slab);
    slab->next = p->slabs;
    p->slabs = slab;
    for (size_t i = 0; i < SLAB_BLOCKS; i++) {
        struct history_spare *s = (void *)slab->block[i];
        s->next = p->spare;
        p->spare = s;
    }
}

static struct history_more *small_new(struct history_pool *p)
{
    if (!p->spare)
        add_slab(p);
    void *block = p->spare;
    p->spare = p->spare->next;
    return block;
}

static void small_free(struct history_pool *p, void *block)
{
    struct history_spare *s = block;

    s->next = p->spare;
    p->spare = s;
}

static struct history_more *more_new(struct history_pool *p, uint32_t cap)
{
    struct history_more *m = cap == SMALL_CAP ? small_new(p) : xmalloc(more_bytes(cap));

    m->cap = cap;
    if (cap != SMALL_CAP)
        budget_take(p->budget, heap_bytes(more_bytes(cap)));
    return m;
}

static void more_free(struct history_pool *p, struct history_more *m)
{
    if (m->cap == SMALL_CAP) {
        small_free(p, m);
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

void history_pool_free(struct history_pool *p)
{
    while (p->slabs) {
        struct history_slab *next = p->slabs->next;
        budget_give(p->budget, sizeof *p->slabs);
        free(p->slabs);
        p->slabs = next;
    }
    p->spare = NULL;
}
