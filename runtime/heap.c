/* heap.c - the allocator of clocks in simulated memory. Each core has its own lists of free blocks,
 * by size, and takes fresh ones from pages of its own; only the pages come from a word that all
 * cores share, by an atomic.
 *
 * Other threads may still be reading a clock that was replaced, so it is garbage, not free. Garbage
 * becomes free, the oldest first, when there is more of it than runtime.garbage says. That is the
 * work of the language's garbage collector, which is not charged here. */
#include "runtime/runtime_int.h"

#include <stdlib.h>
#include <string.h>

uint8_t rt_size(uint32_t entries)
{
    uint8_t size = 0;

    assert(entries <= EPOCH_THREADS);
    while ((uint32_t)RT_LINE_ENTRIES << size < entries)
        size++;
    return size;
}

static uint64_t block_bytes(uint8_t size)
{
    return (uint64_t)RT_LINE << size;
}

struct rt_core *rt_core(struct runtime *r, unsigned core)
{
    if (core >= r->cores) {
        const size_t n = (size_t)core + 1;
        r->core = xrecalloc(r->core, r->cores, n, sizeof *r->core);
        budget_take(r->env.budget, (n - r->cores) * sizeof *r->core);
        r->cores = n;
    }
    return &r->core[core];
}

static struct rt_list *list_of(struct runtime *r, unsigned core, uint8_t size)
{
    return &rt_core(r, core)->list[size];
}

static void count_live(struct runtime *r, uint8_t size)
{
    struct rt_stats *st = &r->st;

    st->clocks++;
    st->live_bytes += block_bytes(size);
    if (++st->live > st->live_peak)
        st->live_peak = st->live;
    if (st->live_bytes > st->live_bytes_peak)
        st->live_bytes_peak = st->live_bytes;
}

/* A block never used before, from the core's page or a new page. */
static struct paddr take_fresh(struct rt_walk *w, struct rt_list *l, uint8_t size)
{
    struct runtime *r = w->r;
    const uint64_t bytes = block_bytes(size), page = bytes > RT_PAGE ? bytes : RT_PAGE;

    rt_step(w, RT_STEP_TAKE_FRESH, 1);
    if (paddr_within(l->fresh, RT_PAGE) == 0) {
        rt_step(w, RT_STEP_TAKE_PAGE, 1);
        rt_access(w, paddr_of(r->params.base), 8, MEM_ATOMIC);
        l->fresh = paddr_of(r->params.base + RT_HEAP_AT + r->st.heap);
        r->st.heap += page;
    }
    const struct paddr at = l->fresh;
    l->fresh = paddr_plus(at, bytes);
    return at;
}

struct rt_block rt_take(struct rt_walk *w, uint8_t size)
{
    struct runtime *r = w->r;
    struct rt_list *l = list_of(r, w->core, size);
    const struct paddr head =
        paddr_of(r->params.base + RT_LISTS_AT + w->core % RT_LIST_CORES * RT_LIST_BYTES +
                 size * UINT64_C(16));
    struct rt_block b = {.size = size};

    rt_step(w, RT_STEP_TAKE, 1);
    rt_access(w, head, 16, MEM_LOAD);
    if (l->n) {
        b.at = l->at[--l->n];
        rt_access(w, b.at, 8, MEM_LOAD); /* the next one */
        rt_access(w, head, 8, MEM_STORE);
    } else {
        b.at = take_fresh(w, l, size);
        rt_access(w, paddr_plus(head, 8), 8, MEM_STORE);
    }
    count_live(r, size);
    return b;
}

/* Frees the oldest garbage. The core whose event made the heap too full gets the block. */
static void collect(struct runtime *r, unsigned core)
{
    const struct rt_block b = r->garbage[r->garbage_first++];
    struct rt_list *l = list_of(r, core, b.size);

    l->at = budget_grow(r->env.budget, l->at, l->n, &l->cap, sizeof *l->at);
    l->at[l->n++] = b.at;
    r->st.garbage_bytes -= block_bytes(b.size);
}

/* Moves the queue to the front of its array when more than half of that is unused. */
static void close_up(struct runtime *r)
{
    if (r->garbage_first <= r->garbage_n / 2)
        return;
    r->garbage_n -= r->garbage_first;
    memmove(r->garbage, r->garbage + r->garbage_first, r->garbage_n * sizeof *r->garbage);
    r->garbage_first = 0;
}

void rt_discard(struct runtime *r, unsigned core, struct rt_block block)
{
    r->garbage =
        budget_grow(r->env.budget, r->garbage, r->garbage_n, &r->garbage_cap, sizeof *r->garbage);
    r->garbage[r->garbage_n++] = block;
    r->st.live--;
    r->st.live_bytes -= block_bytes(block.size);
    r->st.garbage_bytes += block_bytes(block.size);
    while (r->st.garbage_bytes > r->params.garbage)
        collect(r, core);
    close_up(r);
}

void rt_heap_free(struct runtime *r)
{
    for (size_t c = 0; c < r->cores; c++) {
        for (unsigned i = 0; i < RT_SIZES; i++) {
            budget_give(r->env.budget, r->core[c].list[i].cap * sizeof *r->core[c].list[i].at);
            free(r->core[c].list[i].at);
        }
        free(r->core[c].paying);
    }
    budget_give(r->env.budget, r->cores * sizeof *r->core + r->garbage_cap * sizeof *r->garbage);
    free(r->core);
    free(r->garbage);
}
