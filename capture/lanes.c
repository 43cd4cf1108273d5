/* lanes.c - lanes are merged by number and stamp (ring.h). Whatever has the least key is next: a
 * number n has the key 2 n + 1, a stamp s has 2 s. As a lane is left only where another one has a
 * lesser key, most of the time is spent in one.
 *
 * A round looks at the clock, and then at all lanes. What was there at the first look is found by
 * the second: no access that was made before a number below that clock was taken can still come. So
 * numbers below the clock are merged in this round, and the others in a later one.
 *
 * A number that is missing is waited for once, until all that were given out by then have had time
 * to come. Then the others go on, and its record comes late. While one is late, accesses whose
 * stamp is the clock itself wait for a later round: they may have been made after it came. */
#include "capture/lanes.h"

#include <stdlib.h>

#include "base/heap.h"
#include "base/map.h"
#include "base/mem.h"

enum { GIVE_BACK = 1024 };
#define NOTHING UINT64_MAX

struct lane {
    uint64_t at;    /* the slot that is read next */
    uint64_t given; /* slots below it were given back */
    uint64_t stamp; /* the stamp of the plain access that is next */
    uint16_t thread;
    uint64_t before; /* numbers above it wait for it, which lies behind; NOTHING: none do */
    size_t holes, room;
    uint64_t *hole; /* owns: slots below `at` that were not filled yet */
};

struct lanes {
    struct ring *ring;
    struct lane *lane;  /* owns */
    struct heap heap;   /* owns; of lanes: the least key first, with room for all of them */
    uint64_t number;    /* that is next */
    uint64_t clock;     /* when this round began */
    uint64_t most;      /* the largest key that is taken in it */
    uint64_t awaited;   /* numbers below it have been waited for */
    struct map missing; /* numbers that others went on without, until they come */
    struct lane *now;   /* that is read; NULL: none */
    uint64_t limit;     /* as far as no other one comes first */
    bool ended;
    uint64_t lost, broken;
};

struct lanes *lanes_new(struct ring *r)
{
    struct lanes *l = xcalloc(1, sizeof *l);

    l->ring = r;
    l->lane = xcalloc(RING_LANES, sizeof *l->lane);
    for (uint32_t i = 0; i < RING_LANES; i++)
        l->lane[i].before = NOTHING;
    l->heap.slot = xcalloc(RING_LANES, sizeof *l->heap.slot);
    map_init(&l->missing, NULL);
    return l;
}

void lanes_free(struct lanes *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < RING_LANES; i++)
        free(l->lane[i].hole);
    free(l->lane);
    free(l->heap.slot);
    map_free(&l->missing);
    free(l);
}

void lanes_ended(struct lanes *l)
{
    l->ended = true;
}

uint64_t lanes_lost(const struct lanes *l)
{
    const uint64_t missing = l->ended ? l->missing.n : 0;

    return l->lost > missing ? l->lost : missing; /* a number's record is in both */
}

uint64_t lanes_broken(const struct lanes *l)
{
    return l->broken;
}

/* ---- slots ---------------------------------------------------------------------------------- */

static struct ring_slot *slot_at(const struct lanes *l, const struct lane *a, uint64_t at)
{
    return ring_at(&l->ring->lane[a - l->lane], at);
}

static uint64_t last_of(const struct ring_slot *s)
{
    return atomic_load_explicit(&s->last, memory_order_acquire);
}

static enum ring_form form_of(uint64_t last)
{
    return (enum ring_form)(last >> RING_FORM_SHIFT & 3);
}

static uint8_t kind_of(uint64_t last)
{
    return (uint8_t)(last >> RING_KIND_SHIFT);
}

static uint64_t slots_of(uint64_t last)
{
    return form_of(last) < RING_WIDE ? 1 : last >> RING_SIZE_SHIFT & 7;
}

static uint64_t low(uint64_t word)
{
    return word & ((UINT64_C(1) << RING_BITS) - 1);
}

static bool has_number(const struct ring_slot *s, uint64_t *number)
{
    const uint64_t last = last_of(s);

    *number = form_of(last) == RING_ONE ? s->first : low(s->first);
    return form_of(last) == RING_NUMBERED ||
           (form_of(last) == RING_ONE && kind_of(last) == RING_TICK);
}

/* ---- where a lane goes on ------------------------------------------------------------------- */

/* True if a record begins there: the slot is filled, and not with the rest of one. A slot that
 * waits for room has nothing but an older lap. */
static bool begins(const struct lanes *l, const struct lane *a, uint64_t at)
{
    const uint64_t last = last_of(slot_at(l, a, at));

    return at - a->given < RING_SLOTS && (last ^ ring_lap(at)) >> RING_LAP_SHIFT == 0 &&
           (form_of(last) != RING_ONE || kind_of(last) != RING_REST);
}

static void give_back(struct lanes *l, struct lane *a)
{
    uint64_t to = a->at;

    for (size_t i = 0; i < a->holes; i++)
        to = a->hole[i] < to ? a->hole[i] : to;
    if (to != a->given)
        atomic_store_explicit(&l->ring->lane[a - l->lane].taken, to, memory_order_release);
    a->given = to;
}

/* Notes that the next slot is a hole for now: a record may still come there. */
static void hole_add(struct lane *a)
{
    a->hole = xgrow(a->hole, a->holes, &a->room, sizeof *a->hole);
    a->hole[a->holes++] = a->at++;
}

static void hole_remove(struct lane *a, uint64_t from, uint64_t end)
{
    size_t kept = 0;

    for (size_t i = 0; i < a->holes; i++)
        if (a->hole[i] < from || a->hole[i] >= end)
            a->hole[kept++] = a->hole[i];
    a->holes = kept;
}

/* Looks behind a slot that is not filled for one that is: a signal came, and its handler writes
 * records, which come first. A record may begin in each slot between. */
static uint64_t behind(struct lanes *l, struct lane *a)
{
    const uint64_t reserved =
        atomic_load_explicit(&l->ring->lane[a - l->lane].reserved, memory_order_acquire);
    const uint64_t end = reserved - a->at < RING_SLOTS ? reserved : a->at + RING_SLOTS;
    uint64_t at = a->at + 1;

    if (reserved == a->at)
        return NOTHING;
    while (at < end && !begins(l, a, at))
        at++;
    if (at >= end)
        return NOTHING;
    while (a->at < at && !begins(l, a, a->at)) /* one may just have come: then it is first */
        hole_add(a);
    return a->at;
}

static bool is_missing(const struct lanes *l, uint64_t number)
{
    return map_find(&l->missing, number) != NULL;
}

/* Returns the slot of the lane's next record. Of several interrupted records the latest is first,
 * unless another one has the number that is next, or a late one. */
static uint64_t where(struct lanes *l, struct lane *a)
{
    const bool more = begins(l, a, a->at);
    uint64_t number, found = NOTHING;

    /* Interrupted records come after the look at the record behind them, as they may have come
     * later. */
    for (size_t i = a->holes; i-- > 0;) {
        if (!begins(l, a, a->hole[i]))
            continue;
        const bool numbered = has_number(slot_at(l, a, a->hole[i]), &number);
        if (numbered && number > a->before)
            continue;
        if (numbered && number <= l->number)
            return a->hole[i];
        if (found == NOTHING)
            found = a->hole[i];
    }
    return found != NOTHING ? found : more ? a->at : behind(l, a);
}

/* Whether the number that is next, or one that is late, lies behind a larger one, as the handler of
 * a signal took it that came before the thread could take its own. Then that one waits. A handler's
 * are all behind it, and below: what is above ends the search. */
static bool is_behind(struct lanes *l, struct lane *a)
{
    const uint64_t first = where(l, a);
    uint64_t large, number;

    if (first == NOTHING || !has_number(slot_at(l, a, first), &large))
        return false;
    const uint64_t end = first + slots_of(last_of(slot_at(l, a, first))),
                   most = a->given + RING_SLOTS; /* slots that wait for room are reserved above */
    const uint64_t reserved = atomic_load(&l->ring->lane[a - l->lane].reserved);
    for (uint64_t at = end; at < reserved && at < most; at++) {
        if (!begins(l, a, at) || !has_number(slot_at(l, a, at), &number))
            continue;
        if (number > large)
            return false;
        if (number == large || (number != l->number && !is_missing(l, number)))
            continue;
        while (a->at < end)
            hole_add(a);
        a->before = number;
        return true;
    }
    return false;
}

/* A record that was begun and never written in full is lost. Counts it, and goes on behind it. */
static void abandon(struct lanes *l, struct lane *a)
{
    const uint64_t reserved = atomic_load(&l->ring->lane[a - l->lane].reserved);

    l->lost += (a->holes ? 1u : 0u) + (reserved != a->at ? 1u : 0u);
    a->holes = 0;
    a->at = reserved;
}

static void pass(struct lane *a, uint64_t at, uint64_t slots)
{
    if (at == a->at)
        a->at += slots;
    else
        hole_remove(a, at, at + slots);
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* True if the number was given out: the clock is above all that were. */
static bool is_given_out(struct lanes *l, uint64_t number)
{
    return number < l->clock || number < atomic_load(&l->ring->clock);
}

/* True if a record with the number can still come. */
static bool is_due(struct lanes *l, uint64_t number)
{
    return number < l->number ? is_missing(l, number) : is_given_out(l, number);
}

static void stamp(struct lanes *l, struct lane *a, uint64_t to)
{
    if (to > a->stamp && is_given_out(l, to - 1))
        a->stamp = to;
}

/* Returns the key of the lane's next record, and its place; NOTHING: there is none. */
static uint64_t look(struct lanes *l, struct lane *a, uint64_t *at)
{
    for (;;) {
        while (l->missing.n && is_behind(l, a))
            continue;
        *at = where(l, a);
        if (*at == NOTHING)
            return NOTHING;
        const struct ring_slot *s = slot_at(l, a, *at);
        const uint64_t last = last_of(s), slots = slots_of(last);
        uint64_t number;
        const bool numbered = has_number(s, &number);
        if (numbered && is_due(l, number))
            return 2 * number + 1;
        if (numbered || slots < 1 || slots > 3) {
            l->broken++;
            pass(a, *at, slots >= 1 && slots <= 3 ? slots : 1);
        } else if (form_of(last) != RING_ONE || kind_of(last) == RING_GAP) {
            return 2 * a->stamp;
        } else {
            if (kind_of(last) == RING_STAMP)
                stamp(l, a, s->first);
            else if (kind_of(last) == RING_OWNER)
                a->thread = (uint16_t)s->first;
            else
                l->broken++;
            pass(a, *at, 1);
        }
    }
}

/* ---- the order of lanes --------------------------------------------------------------------- */

static void begin_round(struct lanes *l)
{
    l->heap.n = 0;
    l->clock = atomic_load(&l->ring->clock);
    l->most = 2 * l->clock - (l->missing.n && !l->ended ? 1 : 0);
    const uint32_t n = atomic_load(&l->ring->lanes);
    for (uint32_t i = 0; i < n && i < RING_LANES; i++) {
        struct lane *a = &l->lane[i];
        uint64_t at, key = look(l, a, &at);
        if (key == NOTHING && l->ended)
            abandon(l, a);
        if (key == NOTHING)
            give_back(l, a);
        else if (key <= l->most)
            heap_push(&l->heap, (struct heap_slot){.key = key, .value = i});
    }
}

static uint64_t key_of_first(const struct lanes *l)
{
    return l->heap.n ? u64_min(l->heap.slot[0].key, l->most) : l->most;
}

/* The lane on top of the heap is the one that is read. */
static void enter(struct lanes *l)
{
    l->now = &l->lane[heap_pop(&l->heap).value];
    l->limit = key_of_first(l);
}

static void leave(struct lanes *l, uint64_t key)
{
    struct lane *a = l->now;

    l->now = NULL;
    if (key == NOTHING || a->at - a->given >= GIVE_BACK)
        give_back(l, a);
    if (key <= l->most)
        heap_push(&l->heap, (struct heap_slot){.key = key, .value = (uint64_t)(a - l->lane)});
}

/* The number that is next is missing. False: it is waited for. */
static bool is_settled(struct lanes *l)
{
    for (uint32_t i = 0; i < RING_LANES && i < atomic_load(&l->ring->lanes); i++) {
        give_back(l, &l->lane[i]); /* so that who waits sees what is not filled */
        if (is_behind(l, &l->lane[i]))
            return true;
    }
    if (!l->ended && l->number >= l->awaited) {
        l->awaited = l->clock;
        return false;
    }
    map_put(&l->missing, l->number++);
    return true;
}

/* Notes that the record with this number comes now. */
static void count(struct lanes *l, struct lane *a, uint64_t number)
{
    if (number == l->number)
        l->number++;
    else
        map_remove(&l->missing, number);
    if (number >= a->stamp) /* its thread knows that it was given out */
        a->stamp = number + 1;
    a->before = NOTHING;
}

/* ---- what is next --------------------------------------------------------------------------- */

/* Takes plain accesses that lie together. */
static size_t smalls(struct lanes *l, const struct lane *a, size_t most)
{
    const struct ring_slot *s = slot_at(l, a, a->at);
    const uint64_t form = ring_lap(a->at) | (uint64_t)RING_SMALL << RING_FORM_SHIFT,
                   whole = RING_SLOTS - (a->at & (RING_SLOTS - 1));
    size_t n = 0;

    most = most < whole ? most : whole;
    while (n < most && (last_of(&s[n]) ^ form) >> RING_FORM_SHIFT == 0)
        n++;
    return n;
}

static void read_record(struct lanes *l, struct lane *a, uint64_t at, struct ring_record *to)
{
    const struct ring_slot *s = slot_at(l, a, at), *second = slot_at(l, a, at + 1),
                           *third = slot_at(l, a, at + 2);
    const uint64_t last = last_of(s), rest = last_of(second), slots = slots_of(last);

    *to = (struct ring_record){.kind = kind_of(last), .addr = s->first};
    if (slots > 1)
        *to = (struct ring_record){.kind = kind_of(last),
                                   .site = low(last),
                                   .gap = s->first >> RING_BITS,
                                   .addr = second->first,
                                   .size = (uint32_t)rest,
                                   .order = (uint8_t)(rest >> 32)};
    if (slots > 2) {
        to->from = third->first;
        to->more = low(last_of(third));
    }
}

bool lanes_next(struct lanes *l, size_t most, struct lanes_next *to)
{
    for (bool looked = false, settled = false;;) { /* settled: a round may find more */
        if (!l->now && !l->heap.n) {
            if (looked && !settled)
                return false;
            begin_round(l);
            looked = true;
            settled = false;
            if (!l->heap.n)
                return false;
        }
        if (!l->now)
            enter(l);
        struct lane *a = l->now;
        uint64_t at, key = look(l, a, &at);
        if (key > l->limit) {
            leave(l, key);
            continue;
        }
        if (key / 2 > l->number) {
            if (looked && !(settled = is_settled(l)))
                return false;
            l->now = NULL;
            l->heap.n = 0;
            give_back(l, a);
            continue;
        }
        const uint64_t last = last_of(slot_at(l, a, at)), slots = slots_of(last);
        if (a->at - a->given >= GIVE_BACK)
            give_back(l, a);
        if (key & 1)
            count(l, a, key / 2);
        to->thread = a->thread;
        to->small = 0;
        if (form_of(last) == RING_SMALL) {
            to->slot = slot_at(l, a, at);
            to->small = at == a->at && !a->holes ? smalls(l, a, most) : 1;
        } else {
            read_record(l, a, at, &to->record);
        }
        pass(a, at, to->small ? to->small : slots);
        if (form_of(last) != RING_ONE || kind_of(last) == RING_GAP)
            return true;
    }
}
