/* placement.c - what lies where: objects by address, with their names, for whoever tells of an
 * address.
 *
 * Objects stand in sorted arrays, one a cell of a shadow. There are several shadows, by the size of
 * the objects: in each an object is no larger than the cell, so that the object at an address
 * begins in the cell of the address, or in the one before. Most allocators go upwards, and an
 * object goes to the end of its array. */
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/shadow.h"

struct lying { /* an object, or a part of one that was cut */
    sim_addr base;
    uint64_t bytes;
    uint64_t into;    /* the offset in the object at which this part begins */
    uint64_t event;   /* its alloc's number */
    uint64_t site;    /* its alloc's site; 0: unknown */
    uint64_t size;    /* the whole object's */
    const char *name; /* borrowed; NULL: none so far */
    bool allocated;   /* false: it is known from a copy alone */
    bool moved;
};

struct shelf { /* the objects that begin in one cell, by address */
    struct lying *list;
    uint32_t n, cap;
};

enum { SIZES = 8 };
static const unsigned size_shift[SIZES] = {12, 20, 28, 36, 44, 52, 60, 63};

struct placement {
    struct shadow *of_size[SIZES]; /* own; NULL: there was none so far */
    struct budget budget;
    const struct names *names; /* borrowed; NULL: none yet */
    size_t seen;               /* names of these that stand in given */
    struct map given;          /* address to the names that nobody has taken: first and last */
    uint32_t *then;            /* owns; by name: the next one for the address, 0: none */
    size_t then_cap;
    struct lying *moving; /* owns; scratch of a copy */
    size_t moving_cap;
    const struct event *ev, *end; /* the turn: events that may have happened since */
    uint64_t number;              /* the number of ev */
};

struct placement *placement_new(struct budget *of)
{
    struct placement *o = xcalloc(1, sizeof *o);

    o->budget.of = of;
    map_init(&o->given, &o->budget);
    return o;
}

static bool free_shelf(void *arg, sim_addr addr, void *cell)
{
    (void)arg;
    (void)addr;
    free(((struct shelf *)cell)->list);
    return true;
}

void placement_free(struct placement *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < SIZES; i++) {
        if (o->of_size[i])
            shadow_all(o->of_size[i], free_shelf, NULL);
        shadow_free(o->of_size[i]);
    }
    map_free(&o->given);
    free(o->then);
    free(o->moving);
    free(o);
}

void placement_names(struct placement *o, const struct names *names)
{
    o->names = names;
}

/* ---- names ----------------------------------------------------------------------------------
 *
 * Names of one address are taken in their order, one by each object that memory there is given to:
 * a recorder may name the next object before it says that the one before is gone. */

/* Numbers of names from 1, the first of an address and the last. */
static uint64_t chain(uint32_t first, uint32_t last)
{
    return (uint64_t)first << 32 | last;
}

static void add_given(struct placement *o, uint32_t number, uint64_t id)
{
    uint64_t *at = map_put(&o->given, id);

    if (o->then_cap <= number) {
        const size_t was = o->then_cap;
        o->then_cap = number < 64 ? 128 : 2 * (size_t)number;
        o->then = xrealloc(o->then, o->then_cap, sizeof *o->then);
        budget_take(&o->budget, (o->then_cap - was) * sizeof *o->then);
    }
    o->then[number] = 0;
    if (*at >> 32)
        o->then[(uint32_t)*at] = number;
    *at = *at >> 32 ? chain((uint32_t)(*at >> 32), number) : chain(number, number);
}

static void see_names(struct placement *o)
{
    for (; o->names && o->seen < names_count(o->names); o->seen++) {
        const struct name *name = names_at(o->names, o->seen);
        if (name->space == NAME_OBJECT)
            add_given(o, (uint32_t)o->seen + 1, name->id);
    }
}

/* Takes the first name that was given to the address, and is not an object's yet. NULL: none is
 * left. */
static const char *take_name(struct placement *o, sim_addr addr)
{
    see_names(o);
    uint64_t *at = map_find(&o->given, addr);
    const uint32_t first = at ? (uint32_t)(*at >> 32) : 0;

    if (!first)
        return NULL;
    *at = o->then[first] ? chain(o->then[first], (uint32_t)*at) : 0;
    return names_at(o->names, first - 1)->text;
}

/* Returns the address's own latest name. NULL: it has none, or objects have taken them all. */
static const char *address_name(struct placement *o, sim_addr addr)
{
    see_names(o);
    const uint64_t *at = map_find(&o->given, addr);

    return at && *at ? names_find(o->names, NAME_OBJECT, addr) : NULL;
}

/* ---- shelves -------------------------------------------------------------------------------- */

static size_t size_of(uint64_t bytes)
{
    size_t i = 0;

    while (i + 1 < SIZES && bytes > UINT64_C(1) << size_shift[i])
        i++;
    return i;
}

/* A shadow's granule is an unsigned: its addresses are scaled down to what that holds. */
static sim_addr scaled(size_t size, sim_addr addr)
{
    return addr >> size_shift[size];
}

/* Counts the objects on the shelf that begin at or before addr. */
static uint32_t up_to(const struct shelf *s, sim_addr addr)
{
    uint32_t lo = 0, hi = s->n;

    if (hi && s->list[hi - 1].base <= addr)
        return hi;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (s->list[mid].base <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static struct lying *last_at(struct shadow *s, sim_addr cell, sim_addr addr)
{
    struct shelf *shelf = shadow_peek(s, cell);
    const uint32_t n = shelf ? up_to(shelf, addr) : 0;

    return n ? &shelf->list[n - 1] : NULL;
}

/* The object of that size that holds the address. */
static struct lying *holding(struct placement *o, size_t size, sim_addr addr)
{
    struct shadow *s = o->of_size[size];
    const sim_addr cell = scaled(size, addr);
    struct lying *l = s ? last_at(s, cell, addr) : NULL;

    if (s && !l && cell)
        l = last_at(s, cell - 1, addr);
    return l && addr - l->base < l->bytes ? l : NULL;
}

static void shelf_reserve(struct placement *o, struct shelf *s)
{
    const uint32_t cap = s->cap ? 2 * s->cap : 4;

    if (s->n < s->cap)
        return;
    s->list = xrealloc(s->list, cap, sizeof *s->list);
    budget_take(&o->budget, (cap - s->cap) * sizeof *s->list);
    s->cap = cap;
}

static void lying_put(struct placement *o, const struct lying *l)
{
    const size_t size = size_of(l->bytes);

    if (!o->of_size[size])
        o->of_size[size] = shadow_new(1, sizeof(struct shelf), &o->budget);
    struct shelf *s = shadow_get(o->of_size[size], scaled(size, l->base));
    const uint32_t at = up_to(s, l->base);
    shelf_reserve(o, s);
    memmove(&s->list[at + 1], &s->list[at], (s->n - at) * sizeof *s->list);
    s->list[at] = *l;
    s->n++;
}

/* ---- regions -------------------------------------------------------------------------------- */

struct placed_range {
    struct placement *o;
    sim_addr lo, last;
    size_t n; /* gather: in moving */
};

static bool drop_in(void *arg, sim_addr addr, void *cell)
{
    const struct placed_range *r = arg;
    struct shelf *s = cell;
    const uint32_t from = r->lo ? up_to(s, r->lo - 1) : 0, to = up_to(s, r->last);

    (void)addr;
    memmove(&s->list[from], &s->list[to], (s->n - to) * sizeof *s->list);
    s->n -= to - from;
    if (s->n)
        return false;
    budget_give(&r->o->budget, s->cap * sizeof *s->list);
    free(s->list);
    return true;
}

static bool gather(void *arg, sim_addr addr, void *cell)
{
    struct placed_range *r = arg;
    struct placement *o = r->o;
    const struct shelf *s = cell;

    (void)addr;
    for (uint32_t i = r->lo ? up_to(s, r->lo - 1) : 0, to = up_to(s, r->last); i < to; i++) {
        o->moving = xgrow(o->moving, r->n, &o->moving_cap, sizeof *o->moving);
        o->moving[r->n++] = s->list[i];
    }
    return false;
}

/* Splits an object that lies across x. The part from x on can then be dropped by itself. */
static void cut(struct placement *o, sim_addr x)
{
    for (size_t i = 0; i < SIZES; i++) {
        struct lying *l = holding(o, i, x);
        if (!l || l->base == x)
            continue;
        struct lying rest = *l;
        l->bytes = x - l->base;
        rest.base = x;
        rest.bytes -= l->bytes;
        rest.into += l->bytes;
        lying_put(o, &rest);
    }
}

/* Visits the shelves of a region, at whose ends objects are split. Most regions lie in one cell,
 * which needs no walk over its page. A page whose last shelf goes like this stays: a kilobyte for
 * 256 of what was allocated. */
static void each_in(struct placed_range *r, shadow_visit *fn)
{
    cut(r->o, r->lo);
    if (r->last < UINT64_MAX)
        cut(r->o, r->last + 1);
    for (size_t i = 0; i < SIZES; i++) {
        const sim_addr from = scaled(i, r->lo), to = scaled(i, r->last);
        struct shadow *s = r->o->of_size[i];
        struct shelf *one = s && from == to ? shadow_peek(s, from) : NULL;
        if (s && from != to)
            shadow_each(s, from, to - from + 1, fn, r);
        else if (one && one->n && fn(r, from, one))
            *one = (struct shelf){.list = NULL};
    }
}

static void drop(struct placement *o, sim_addr lo, sim_addr last)
{
    each_in(&(struct placed_range){.o = o, .lo = lo, .last = last}, drop_in);
}

/* ---- events --------------------------------------------------------------------------------- */

static void alloc(struct placement *o, const struct event *ev, uint64_t number)
{
    const struct lying l = {.base = ev->addr,
                            .bytes = ev->aux,
                            .size = ev->aux,
                            .event = number,
                            .site = event_site(ev),
                            .allocated = true,
                            .name = take_name(o, ev->addr)};

    drop(o, ev->addr, ev->addr + (ev->aux - 1));
    lying_put(o, &l);
}

/* Copies an object that is only known by the name of the address at which it begins. */
static void copy_named(struct placement *o, const struct event *ev)
{
    const char *name = take_name(o, ev->addr), *before = address_name(o, ev[1].addr);
    const struct lying l = {.base = ev->addr,
                            .bytes = ev->aux,
                            .size = ev->aux,
                            .moved = true,
                            .name = name ? name : before};

    if (l.name)
        lying_put(o, &l);
}

static void put_moved(struct placement *o, struct lying l, uint64_t distance)
{
    const char *name = l.into ? NULL : take_name(o, l.base + distance);

    if (!l.name && !l.into)
        l.name = take_name(o, l.base);
    if (name)
        l.name = name;
    l.base += distance;
    l.moved = true;
    lying_put(o, &l);
}

static void copy(struct placement *o, const struct event *ev)
{
    const sim_addr to = ev->addr, from = ev[1].addr;
    struct placed_range r = {.o = o, .lo = from, .last = from + (ev->aux - 1)};

    each_in(&r, gather);
    drop(o, to, to + (ev->aux - 1));
    for (size_t i = 0; i < r.n; i++)
        put_moved(o, o->moving[i], to - from);
    if (!r.n)
        copy_named(o, ev);
}

void placement_apply(struct placement *o, const struct event *ev, uint64_t number)
{
    if (ev->kind == EV_ALLOC)
        alloc(o, ev, number);
    else if (ev->kind == EV_CLEAR)
        drop(o, ev->addr, ev->addr + (ev->aux - 1));
    else if (ev->kind == EV_COPY)
        copy(o, ev);
}

void placement_turn(struct placement *o, const struct event *ev, const struct event *end,
                    uint64_t number)
{
    o->ev = ev;
    o->end = end;
    o->number = number;
}

void placement_reach(struct placement *o, uint64_t number)
{
    for (; o->ev < o->end && o->number < number; o->ev += event_records(o->ev), o->number++)
        placement_apply(o, o->ev, o->number);
}

/* ---- what lies at an address ---------------------------------------------------------------- */

static struct object_place place_of(struct placement *o, struct lying *l, sim_addr addr)
{
    const char *field = l->moved || addr == l->base ? NULL : address_name(o, addr);

    if (!l->name && !l->into)
        l->name = take_name(o, l->base);
    return (struct object_place){.known = true,
                                 .name = field ? field : l->name,
                                 .offset = field ? 0 : addr - l->base + l->into,
                                 .allocated = l->allocated,
                                 .size = l->size,
                                 .event = l->event,
                                 .site = l->site};
}

struct object_place placement_find(struct placement *o, sim_addr addr)
{
    for (size_t i = 0; i < SIZES; i++) {
        struct lying *l = holding(o, i, addr);
        if (l)
            return place_of(o, l, addr);
    }
    const char *name = address_name(o, addr);
    return (struct object_place){.known = name != NULL, .name = name};
}

void object_json(struct json *j, const struct object_place *p, const char *site)
{
    json_key_str(j, "object", p->name);
    if (p->known)
        json_key_u64(j, "offset", p->offset);
    if (!p->allocated)
        return;
    json_key_u64(j, "allocated", p->event);
    json_key_str(j, "allocated_at", site);
}
