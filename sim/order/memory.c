/* memory.c - pending allocations, clears and copies, found by address by whatever touches the
 * same bytes later. What came earlier they look for themselves: order/search.c.
 *
 * For each byte the latest heap event is kept: it implies those before it. A trace without heap
 * events pays for none of this. */
#include "sim/order/order_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECT_BYTES = 8, FRESH_AT_LEAST = 64 };
enum { PAGE_BITS = 12, PAGES_MAX = 16 };

unsigned order_regions(const struct event *ev, struct byte_range to[EVENT_REGIONS])
{
    const sim_addr addr = ev->addr, most = UINT64_MAX - addr;

    switch ((enum ev_form)ev_info[ev->kind].form) {
    case FORM_ACCESS:
        to[0] = (struct byte_range){addr, addr + (ev->size - 1)};
        return 1;
    case FORM_OBJECT:
    case FORM_ROUND:
        to[0] =
            (struct byte_range){addr, addr + (most < OBJECT_BYTES - 1 ? most : OBJECT_BYTES - 1)};
        return 1;
    case FORM_REGION:
    case FORM_ALLOC:
        to[0] = (struct byte_range){addr, addr + (ev->aux - 1)};
        return 1;
    case FORM_COPY:
        to[0] = (struct byte_range){addr, addr + (ev->aux - 1)};
        to[1] = (struct byte_range){ev[1].addr, ev[1].addr + (ev->aux - 1)};
        return 2;
    case FORM_THREAD:
    case FORM_NONE:
    case FORM_KERNEL:
    case FORM_CLOCK:
    case FORM_PHASE:
    case FORM_TIME:
    case FORM_WAITED:
    case FORM_BRANCHES:
    case FORM_COUNT:
    case FORM_REMAP:
        return 0;
    }
    return 0;
}

/* ---- the latest heap event of each byte ----------------------------------------------------- */

/* Those that have run leave, as nobody waits for them. */
static void fresh_tidy(struct order *o)
{
    struct need *by = NULL;
    size_t n = 0, cap = 0;

    if (o->fresh_n < o->fresh_tidy)
        return;
    for (struct interval *s = interval_reaching(o->fresh, 0); s;) {
        const sim_addr lo = s->lo, last = s->last;
        const struct need *of = &o->fresh_by[s->mark - 1];
        if (has_run(o, of)) {
            interval_remove(&o->budget, &o->fresh, lo, last);
        } else {
            by = order_grow(o, by, n, &cap, sizeof *by);
            by[n++] = *of;
            s->mark = (uint32_t)n;
        }
        s = last < UINT64_MAX ? interval_reaching(o->fresh, last + 1) : NULL;
    }
    order_drop(o, o->fresh_by, o->fresh_cap, sizeof *by);
    o->fresh_by = by;
    o->fresh_n = n;
    o->fresh_cap = cap;
    o->fresh_tidy = 2 * n + FRESH_AT_LEAST;
}

void order_memory_needs(struct order *o, const struct byte_range *r)
{
    if (!order_near(o, r->lo, r->last))
        return;
    for (const struct interval *s = interval_meeting(o->fresh, r->lo, r->last); s;
         s = s->last < r->last ? interval_meeting(o->fresh, s->last + 1, r->last) : NULL)
        order_need(o, &o->fresh_by[s->mark - 1], WAIT_MEMORY);
}

static bool is_wide(const struct byte_range *r)
{
    return (r->last >> PAGE_BITS) - (r->lo >> PAGE_BITS) >= PAGES_MAX;
}

/* A heap event more, or (-1) less, touches the region. */
static void count_near(struct order *o, const struct byte_range *r, int more)
{
    const sim_addr first = r->lo >> NEAR_LINE_BITS, last = r->last >> NEAR_LINE_BITS;

    if (!o->near) {
        o->near = xcalloc(NEAR_SLOTS, sizeof *o->near);
        budget_take(&o->budget, heap_bytes(NEAR_SLOTS * sizeof *o->near));
    }
    if (is_wide(r)) {
        o->wide += (uint64_t)(int64_t)more;
        return;
    }
    for (sim_addr line = first; line <= last; line++)
        *order_near_slot(o, line) += (uint32_t)more;
}

void order_memory_change(struct order *o, const struct event *ev)
{
    struct byte_range r[EVENT_REGIONS];
    const unsigned n = order_regions(ev, r);

    fresh_tidy(o);
    o->heaps++;
    o->fresh_by = order_grow(o, o->fresh_by, o->fresh_n, &o->fresh_cap, sizeof *o->fresh_by);
    o->fresh_by[o->fresh_n++] = o->me;
    for (unsigned i = 0; i < n; i++) {
        interval_mark(&o->budget, &o->fresh, r[i].lo, r[i].last, (uint32_t)o->fresh_n);
        count_near(o, &r[i], 1);
    }
}

void order_memory_free(struct order *o)
{
    interval_free(&o->budget, &o->fresh);
    order_drop(o, o->fresh_by, o->fresh_cap, sizeof *o->fresh_by);
    o->fresh_by = NULL;
    o->fresh_n = o->fresh_cap = 0;
}

void order_memory_ran(struct order *o, const struct event *ev)
{
    struct byte_range r[EVENT_REGIONS];
    const unsigned n = order_regions(ev, r);

    assert(o->heaps > 0);
    for (unsigned i = 0; i < n; i++)
        count_near(o, &r[i], -1);
    if (--o->heaps == 0 && o->fresh_n >= FRESH_AT_LEAST)
        order_memory_free(o);
}
