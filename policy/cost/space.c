/* space.c - live bytes of the program's heap, and of metadata beside them. */
#include "policy/cost/space.h"

#include <stdlib.h>

#include "base/mem.h"

/* ---- the program's heap --------------------------------------------------------------------- */

void live_heap_free(struct live_heap *h)
{
    interval_free(&h->budget, &h->allocated);
}

/* A copy's destination lives from then on, and its source until it is cleared. */
void live_heap_event(struct live_heap *h, const struct event *ev)
{
    const uint64_t lo = ev->addr, last = ev->addr + (ev->aux - 1);

    h->allocates |= ev->kind == EV_ALLOC;
    if (!h->allocates)
        return;
    const uint64_t there = interval_bytes(h->allocated, lo, last);
    if (ev->kind == EV_CLEAR) {
        h->live -= there;
        interval_remove(&h->budget, &h->allocated, lo, last);
        return;
    }
    h->live += ev->aux - there;
    interval_add(&h->budget, &h->allocated, lo, last);
    h->peak = h->live > h->peak ? h->live : h->peak;
}

/* ---- a policy's ----------------------------------------------------------------------------- */

static bool has(const struct space *s, const char *name, uint64_t *value)
{
    char *full = xasprintf("policy.%s.%s", s->label, name);
    const bool known = stats_value(s->stats, full, value);

    free(full);
    return known;
}

static bool is_counted(struct space *s)
{
    static const char *const counted[][2] = {{"metadata.live", "metadata.peak"},
                                             {"manager.bytes", "manager.bytes-peak"}};
    uint64_t value;

    for (size_t i = 0; i < ARRAY_SIZE(counted); i++)
        if (has(s, counted[i][0], &value)) {
            s->live = counted[i][0];
            s->peak = counted[i][1];
            return true;
        }
    return false;
}

static void declare(const struct space *st, struct stats_group *g)
{
    static const char *const late[] = {"heap",      "metadata",      "total",        "overhead",
                                       "mean-heap", "mean-metadata", "mean-overhead"};

    g = stats_group(g, "space");
#define STATS_DEF "policy/cost/space_stats.def"
#include "base/stats_declare.h"
    /* Without a collection they are what stands for it. */
    for (size_t i = 0; i < ARRAY_SIZE(late); i++)
        stats_late(g, late[i], STATS_AT_END);
}

void space_init(struct space *s, const struct live_heap *heap, const struct stats *stats,
                const char *label, struct stats_group *g)
{
    s->stats = stats;
    s->label = label;
    if (!heap || !is_counted(s))
        return;
    s->heap = heap;
    declare(s, g);
}

static uint64_t permille(uint64_t part, uint64_t of)
{
    return of ? (part * 1000 + of / 2) / of : 0;
}

/* Looks for the last of so many times, at the heap and at the statistic that has the metadata. */
static void look(struct space *s, uint64_t heap, const char *name, uint64_t looks)
{
    uint64_t metadata = 0;

    has(s, name, &metadata);
    s->heap_most = heap > s->heap_most ? heap : s->heap_most;
    s->metadata_most = metadata > s->metadata_most ? metadata : s->metadata_most;
    s->most = heap + metadata > s->most ? heap + metadata : s->most;
    s->heap_sum += heap;
    s->metadata_sum += metadata;
    s->heap_mean = s->heap_sum / looks;
    s->metadata_mean = s->metadata_sum / looks;
    s->overhead = s->most > s->heap_most ? permille(s->most - s->heap_most, s->heap_most) : 0;
    s->mean_overhead = permille(s->metadata_sum, s->heap_sum);
}

void space_look(struct space *s)
{
    if (!s->heap || !s->heap->allocates)
        return;
    s->collections++;
    look(s, s->heap->live, s->live, s->collections);
}

void space_finish(struct space *s)
{
    if (!s->heap || !s->heap->allocates || s->collections)
        return;
    look(s, s->heap->peak, s->peak, 1);
}
