/* page.c - intervals, and the pages that they touched, each with its bitmaps. */
#include "policy/cvm/cvm.h"

#include <stdlib.h>
#include <string.h>

/* ---- intervals ------------------------------------------------------------------------------ */

static void leave_vector(struct cvm *c, struct cvm_vector *v)
{
    if (--v->users)
        return;
    vclock_free(&v->clock, c->env->budget);
    budget_give(c->env->budget, sizeof *v);
    free(v);
}

void cvm_leave_interval(struct cvm *c, struct cvm_interval *i)
{
    if (--i->users)
        return;
    leave_vector(c, i->known);
    pool_give(&c->intervals, i);
}

void cvm_end_interval(struct cvm *c, struct cvm_thread *t)
{
    if (t->interval) {
        if (UNLIKELY(c->env->cost->on))
            cvm_charge_interval(c, t);
        t->interval->entries = NULL;
        cvm_leave_interval(c, t->interval);
    }
    t->interval = NULL;
    t->serial = 0;
}

void cvm_forget_vector(struct cvm *c, struct cvm_thread *t)
{
    if (t->known)
        leave_vector(c, t->known);
    t->known = NULL;
}

/* ---- pages ---------------------------------------------------------------------------------- */

struct cvm_page *cvm_page_find(const struct cvm *c, uint64_t number)
{
    const uint64_t *at = map_find(&c->pages, number);

    return at ? (struct cvm_page *)(uintptr_t)*at : NULL;
}

struct cvm_page *cvm_page_make(struct cvm *c, uint64_t number)
{
    uint64_t *at = map_put(&c->pages, number);

    if (*at)
        return (struct cvm_page *)(uintptr_t)*at;
    struct cvm_page *p = xcalloc(1, sizeof *p);
    p->number = number;
    *at = (uint64_t)(uintptr_t)p;
    budget_take(c->env->budget, heap_bytes(sizeof *p));
    return p;
}

static void free_entries(struct cvm *c, struct cvm_entry *x)
{
    while (x) {
        struct cvm_entry *next = x->next;
        cvm_entry_free(c, x);
        x = next;
    }
}

void cvm_page_free(struct cvm *c, struct cvm_page *p)
{
    for (uint32_t i = 0; i < p->lanes; i++) {
        free_entries(c, p->lane[i].fresh);
        free_entries(c, p->lane[i].old);
    }
    if (p->raced)
        cvm_bitmap_free(c, p->raced);
    budget_give(c->env->budget, heap_bytes(sizeof *p) + p->cap * sizeof *p->lane);
    free(p->lane);
    free(p);
}

void cvm_list(struct cvm *c, struct cvm_page *p)
{
    if (p->listed)
        return;
    p->listed = true;
    c->list = budget_grow(c->env->budget, c->list, c->listed, &c->list_cap, sizeof *c->list);
    c->list[c->listed++] = p;
}

/* ---- entries -------------------------------------------------------------------------------- */

static NO_INLINE struct cvm_lane *add_lane(struct cvm *c, struct cvm_page *p, uint32_t at,
                                           uint32_t actor)
{
    p->lane = budget_grow32(c->env->budget, p->lane, p->lanes, &p->cap, sizeof *p->lane);
    memmove(&p->lane[at + 1], &p->lane[at], (p->lanes++ - at) * sizeof *p->lane);
    p->lane[at] = (struct cvm_lane){.actor = actor};
    return &p->lane[at];
}

struct cvm_lane *cvm_lane(struct cvm *c, struct cvm_page *p, uint32_t actor)
{
    uint32_t lo = 0, hi = p->lanes;

    while (lo < hi) {
        const uint32_t mid = (lo + hi) / 2;
        if (p->lane[mid].actor < actor)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < p->lanes && p->lane[lo].actor == actor ? &p->lane[lo] : add_lane(c, p, lo, actor);
}

struct cvm_entry *cvm_entry_new(struct cvm *c, struct cvm_interval *of)
{
    struct cvm_entry *x = pool_get(&c->entries);

    *x = (struct cvm_entry){.of = of, .time = of->time};
    of->users++;
    return x;
}

void cvm_entry_free(struct cvm *c, struct cvm_entry *x)
{
    for (unsigned k = 0; k < CVM_KINDS; k++)
        if (x->bits[k])
            cvm_bitmap_free(c, x->bits[k]);
    cvm_leave_interval(c, x->of);
    pool_give(&c->entries, x);
}

/* ---- bitmaps, and what is behind them -------------------------------------------------------- */

uint64_t *cvm_bitmap(struct cvm *c)
{
    budget_take(&c->metadata, c->words * sizeof(uint64_t));
    return memset(pool_get(&c->bitmaps), 0, c->bitmaps.bytes);
}

void cvm_bitmap_free(struct cvm *c, uint64_t *bitmap)
{
    for (size_t i = 0; c->params.sites && i < c->words; i++)
        cvm_drop_places(c, bitmap, i);
    budget_give(&c->metadata, c->words * sizeof(uint64_t));
    pool_give(&c->bitmaps, bitmap);
}

enum { PLACES = 64, COUNTER = 8 }; /* a program counter's bytes */

static struct cvm_place **places(const struct cvm *c, const uint64_t *bitmap)
{
    return (struct cvm_place **)(uintptr_t)(bitmap + c->words);
}

struct cvm_place cvm_place(const struct cvm *c, const uint64_t *bitmap, size_t word)
{
    const struct cvm_place *at = c->params.sites ? places(c, bitmap)[word / PLACES] : NULL;

    return at ? at[word % PLACES] : (struct cvm_place){.known = false};
}

void cvm_put_place(struct cvm *c, uint64_t *bitmap, size_t word, struct cvm_place place)
{
    struct cvm_place **at = &places(c, bitmap)[word / PLACES];

    if (!*at) {
        *at = memset(pool_get(&c->places), 0, PLACES * sizeof **at);
        budget_take(&c->metadata, PLACES * COUNTER);
    }
    (*at)[word % PLACES] = place;
}

void cvm_drop_places(struct cvm *c, uint64_t *bitmap, size_t i)
{
    struct cvm_place **at = &places(c, bitmap)[i];

    if (!*at)
        return;
    budget_give(&c->metadata, PLACES * COUNTER);
    pool_give(&c->places, *at);
    *at = NULL;
}

struct cvm_entry *cvm_old_entry(struct cvm *c, struct cvm_lane *l, struct cvm_interval *of)
{
    struct cvm_entry **at = &l->old;

    while (*at && (*at)->of->serial > of->serial)
        at = &(*at)->next;
    if (!*at || (*at)->of != of) {
        struct cvm_entry *x = cvm_entry_new(c, of);
        x->next = *at;
        *at = x;
        l->olds++;
    }
    return *at;
}
