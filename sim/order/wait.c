/* wait.c - what an event needs, as lists of other events, and who is woken when they have
 * run. A thread that waits for many events is woken once, by the last of them. */
#include "sim/order/order_int.h"

#include <assert.h>
#include <stdlib.h>

void order_heap_push(struct order *o, struct heap *h, uint64_t key, uint64_t value)
{
    h->slot = order_grow(o, h->slot, h->n, &h->cap, sizeof *h->slot);
    heap_push(h, (struct heap_slot){.key = key, .value = value});
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Keeps the last one of each thread's events, as it implies the others. */
void order_tidy(struct order *o, struct need_list *l)
{
    size_t kept = 0;

    o->stamp++;
    for (size_t i = 0; i < l->n; i++) {
        const struct need *n = &l->at[i];
        struct lane *lane = &o->lane[n->tid];
        if (has_run(o, n))
            continue;
        if (lane->stamp != o->stamp) {
            lane->stamp = o->stamp;
            lane->slot = kept;
            l->at[kept++] = *n;
        } else if (n->ordinal > l->at[lane->slot].ordinal) {
            l->at[lane->slot] = *n;
        }
    }
    l->n = kept;
}

void order_list_add(struct order *o, struct need_list *l, const struct need *n)
{
    if (l->n == l->tidy) {
        order_tidy(o, l);
        l->tidy = l->n < 8 ? 16 : 2 * l->n;
    }
    l->at = order_grow(o, l->at, l->n, &l->cap, sizeof *l->at);
    l->at[l->n++] = *n;
}

void order_list_free(struct order *o, struct need_list *l)
{
    order_drop(o, l->at, l->cap, sizeof *l->at);
    *l = (struct need_list){0};
}

void order_need(struct order *o, const struct need *n, enum wait_reason why)
{
    if (!n->known || n->tid == o->me.tid || has_run(o, n))
        return;
    struct need found = *n;
    found.why = (uint8_t)why;
    order_list_add(o, &o->found, &found);
}

void order_need_all(struct order *o, struct need_list *l, enum wait_reason why)
{
    for (size_t i = 0; i < l->n; i++)
        order_need(o, &l->at[i], why);
}

void order_need_latest(struct order *o, sim_tid tid, enum wait_reason why)
{
    const struct need last = lane_latest(&o->lane[tid], tid);

    order_need(o, &last, why);
}

/* ---- waiting --------------------------------------------------------------------------------- */

bool order_met(const struct order *o, struct needs *w)
{
    while (w->met < w->list.n && has_run(o, &w->list.at[w->met]))
        w->met++;
    return w->met == w->list.n;
}

static void wait_for_next(struct order *o, struct needs *w)
{
    const struct need *n = &w->list.at[w->met];
    struct lane *by = &o->lane[n->tid];

    order_heap_push(o, &by->waiters, n->ordinal, (uint64_t)(uintptr_t)w);
    by->wanted = by->waiters.slot[0].key;
}

void order_wait(struct order *o, struct needs *w, sim_tid tid)
{
    struct lane *l = &o->lane[tid];

    if (!w->waiters)
        wait_for_next(o, w);
    l->blocked = w;
    l->next = w->waiters;
    w->waiters = tid + 1u;
}

static void wake_all(struct order *o, struct needs *w)
{
    while (w->waiters) {
        const sim_tid tid = (sim_tid)(w->waiters - 1);
        struct lane *l = &o->lane[tid];
        w->waiters = l->next;
        l->blocked = NULL;
        o->woken = order_grow(o, o->woken, o->wokens, &o->woken_cap, sizeof *o->woken);
        o->woken[o->wokens++] = tid;
    }
}

void order_wake(struct order *o, struct lane *l)
{
    struct heap *h = &l->waiters;

    while (h->n && h->slot[0].key < l->taken) {
        struct needs *w = (struct needs *)(uintptr_t)heap_pop(h).value;
        if (order_met(o, w))
            wake_all(o, w);
        else
            wait_for_next(o, w);
    }
    l->wanted = h->n ? h->slot[0].key : NEVER;
}

/* ---- shared needs ---------------------------------------------------------------------------- */

struct needs *order_share(struct order *o)
{
    struct needs *w = xcalloc(1, sizeof *w);

    budget_take(&o->budget, heap_bytes(sizeof *w));
    w->users = 1;
    return w;
}

void order_leave(struct order *o, struct needs *w)
{
    if (!w || --w->users)
        return;
    order_list_free(o, &w->list);
    order_drop(o, w, 1, sizeof *w);
}
