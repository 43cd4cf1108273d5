/* cache.c - geometry, and lines that come and go. Which line goes is said by a rule
 * (replacement.h); the look-up of a line is in the header. Limitation: no hashed index; a line's
 * set is its number modulo the sets.
 *
 * A slot costs the host 13 bytes at most: 8 of tag, 4 of order, 1 of state. */
#include "cache/replacement.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct replacement *const rules[] = {
#define REPLACEMENT(NAME, name) &replacement_##name,
#include "cache/replacements.def"
#undef REPLACEMENT
};
const char *const cache_replacement_text[] = {
#define REPLACEMENT(NAME, name) #name,
#include "cache/replacements.def"
#undef REPLACEMENT
    NULL};

enum { HOST_LINE = 64 };

/* ---- geometry ------------------------------------------------------------------------------- */

struct amount { /* bytes, as a person would write them */
    uint64_t n;
    const char *unit;
};

static struct amount amount_of(uint64_t bytes)
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB"};
    size_t i = 0;

    for (; bytes && bytes % 1024 == 0 && i + 1 < ARRAY_SIZE(unit); i++)
        bytes /= 1024;
    return (struct amount){bytes, unit[i]};
}

/* Checks each field of a geometry by itself: no size makes up for a field that is wrong here. */
static int check_alone(const struct cache_geometry *g, const char *name, struct err *e)
{
    if (g->line < 2 || !is_power_of_2(g->line))
        return err_set(e, LARD_CONFIG,
                       "%s: a line of %" PRIu32 " bytes is no power of two from 2 up; give 64",
                       name, g->line);
    if (g->ways < 1 || g->ways > CACHE_MAX_WAYS)
        return err_set(e, LARD_CONFIG, "%s: %" PRIu32 " ways are impossible; give 1 to %d", name,
                       g->ways, CACHE_MAX_WAYS);
    const struct replacement *rule = rules[g->replacement];
    return rule->check ? rule->check(g, name, e) : 0;
}

static int check_lines(const struct cache_geometry *g, const char *name, struct err *e)
{
    const uint64_t lines = g->bytes / g->line;
    const struct amount size = amount_of(g->bytes);

    if (lines > CACHE_MAX_LINES) {
        const struct amount most = amount_of((uint64_t)CACHE_MAX_LINES * g->line);
        return err_set(e, LARD_CONFIG,
                       "%s: %" PRIu64 " %s are more than %d lines of %" PRIu32
                       " bytes; give at most %" PRIu64 " %s",
                       name, size.n, size.unit, CACHE_MAX_LINES, g->line, most.n, most.unit);
    }
    if (lines < g->ways) {
        const struct amount least = amount_of((uint64_t)g->ways * g->line);
        return err_set(e, LARD_CONFIG,
                       "%s: %" PRIu64 " %s hold %" PRIu64 " lines of %" PRIu32
                       " bytes, fewer than %" PRIu32 " ways; give at least %" PRIu64
                       " %s, or fewer ways",
                       name, size.n, size.unit, lines, g->line, g->ways, least.n, least.unit);
    }
    if (g->bytes % g->line)
        return err_set(e, LARD_CONFIG,
                       "%s: %" PRIu64 " bytes are no multiple of the line of %" PRIu32
                       "; give %" PRIu64 " or %" PRIu64 " bytes",
                       name, g->bytes, g->line, lines * g->line, (lines + 1) * g->line);
    return 0;
}

/* Returns the number of ways nearest to the given one that divides the lines, for a message. */
static uint32_t ways_near(const struct cache_geometry *g)
{
    const uint64_t lines = g->bytes / g->line;

    for (uint32_t by = 1; by < g->ways; by++) {
        if (g->ways + by <= CACHE_MAX_WAYS && lines % (g->ways + by) == 0)
            return g->ways + by;
        if (lines % (g->ways - by) == 0)
            return g->ways - by;
    }
    return 1;
}

int cache_check(const struct cache_geometry *g, const char *name, struct err *e)
{
    assert(g->replacement < ARRAY_SIZE(cache_replacement_text) - 1);
    if (check_alone(g, name, e) || check_lines(g, name, e))
        return -1;
    const uint64_t row = (uint64_t)g->ways * g->line, below = g->bytes / row * row;
    const struct amount size = amount_of(g->bytes);
    if (below == g->bytes)
        return 0;
    const uint32_t other = ways_near(g);
    return err_set(e, LARD_CONFIG,
                   "%s: %" PRIu64 " %s in %" PRIu32 " ways of %" PRIu32
                   " bytes is no whole number of sets; give %" PRIu64 " or %" PRIu64
                   " bytes, or %" PRIu32 " %s",
                   name, size.n, size.unit, g->ways, g->line, below, below + row, other,
                   other == 1 ? "way" : "ways");
}

/* Granlund and Montgomery, PLDI 1994. With 2^shift >= d the multiplier is (2^(63+shift) + e) / d,
 * e < d, so for n < 2^63 the quotient is too large by less than 1/d: never enough to reach the next
 * whole number. And as 2^shift < 2d the multiplier fits in 64 bits. */
static struct cache_divisor divisor_of(uint64_t d)
{
    const unsigned shift = d == 1 ? 0 : (unsigned)(64 - __builtin_clzll(d - 1));
    const cache_wide power = (cache_wide)1 << (63 + shift);

    return (struct cache_divisor){(uint64_t)((power + d - 1) / d), shift};
}

static const struct replacement *rule_of(const struct cache *c)
{
    return rules[c->geometry.replacement];
}

/* Returns how many words of replacement state the whole array has. */
static uint64_t order_words(const struct cache *c)
{
    return rule_of(c)->words ? rule_of(c)->words(c) : cache_slots(c);
}

static uint64_t array_bytes(const struct cache *c)
{
    return (uint64_t)cache_slots(c) * (sizeof *c->tag + 1) + order_words(c) * sizeof *c->order +
           HOST_LINE;
}

uint64_t cache_bytes(const struct cache *c)
{
    return c->memory ? array_bytes(c) : 0;
}

/* Allocates one block for all arrays, on a boundary of the host's cache lines, so that the tags of
 * a set of 8 ways are in one of these. */
static void allocate(struct cache *c)
{
    const uint64_t slots = cache_slots(c), order = order_words(c);

    c->memory = xcalloc(1, array_bytes(c));
    c->tag = (uint64_t *)(((uintptr_t)c->memory + HOST_LINE - 1) / HOST_LINE * HOST_LINE);
    c->order = order ? (uint32_t *)(c->tag + slots) : NULL;
    c->state = (uint8_t *)(c->tag + slots) + order * sizeof *c->order;
}

void cache_init(struct cache *c, const struct cache_geometry *g)
{
    const uint32_t sets = (uint32_t)(g->bytes / g->line / g->ways);

    *c = (struct cache){.sets = sets,
                        .ways = g->ways,
                        .masked = is_power_of_2(sets),
                        .mask = sets - 1,
                        .by_sets = divisor_of(sets),
                        .tree_words = (g->ways + 31) / 32,
                        .geometry = *g};
    c->plain = c->masked && c->ways == 8;
    rng_seed(&c->rng, g->seed);
    allocate(c);
}

void cache_free(struct cache *c)
{
    free(c->memory);
    *c = (struct cache){0};
}

/* ---- looking up ----------------------------------------------------------------------------- */

uint32_t cache_find_other(const struct cache *c, uint64_t line)
{
    const uint32_t first = cache_set(c, line) * c->ways, end = first + c->ways;

    if (LIKELY(c->ways == 16)) {
        const uint64_t at = cache_match(c->tag + first, 16, line + 1);
        return at ? first + (uint32_t)__builtin_ctzll(at) : CACHE_NONE;
    }
    for (uint32_t i = first; i < end; i += 64) {
        const uint64_t at = cache_match(c->tag + i, end - i < 64 ? end - i : 64, line + 1);
        if (at)
            return i + (uint32_t)__builtin_ctzll(at);
    }
    return CACHE_NONE;
}

/* ---- stamps ---------------------------------------------------------------------------------- */

static uint32_t least_of_any(const uint32_t *order, uint32_t ways)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < ways; i++)
        best = order[i] < order[best] ? i : best;
    return best;
}

static inline uint32_t oldest_of_all(const struct cache *c, uint32_t first)
{
    const uint32_t *order = c->order + first;

    if (LIKELY(c->ways == 8))
        return first + cache_least(order, 8);
    return first + (c->ways == 16 ? cache_least(order, 16) : least_of_any(order, c->ways));
}

uint32_t cache_oldest(struct cache *c, uint32_t first, may_fn *may, void *arg)
{
    uint32_t best = CACHE_NONE;

    if (!may)
        return oldest_of_all(c, first);
    for (uint32_t i = first; i < first + c->ways; i++)
        if ((best == CACHE_NONE || c->order[i] < c->order[best]) && may(arg, i))
            best = i;
    return best;
}

/* ---- coming and going ----------------------------------------------------------------------- */

/* The rank of a way in the order of its set, from 1 on; 0 if it was never filled. */
static uint32_t place(const uint32_t *order, uint32_t ways, uint32_t way)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < ways; i++)
        before += order[i] && order[i] < order[way];
    return order[way] ? before + 1 : 0;
}

void cache_clock_anew(struct cache *c)
{
    uint32_t places[CACHE_MAX_WAYS];

    for (uint32_t first = 0; first < cache_slots(c); first += c->ways) {
        for (uint32_t i = 0; i < c->ways; i++)
            places[i] = place(c->order + first, c->ways, i);
        memcpy(c->order + first, places, c->ways * sizeof *places);
    }
    c->clock = c->ways;
}

void cache_touch_other(struct cache *c, uint32_t slot)
{
    if (rule_of(c)->hit)
        rule_of(c)->hit(c, slot);
}

void cache_fill_other(struct cache *c, uint32_t slot)
{
    if (rule_of(c)->fill)
        rule_of(c)->fill(c, slot);
    else
        cache_touch_other(c, slot);
}

uint32_t cache_victim_among(struct cache *c, uint64_t line, may_fn *may, void *arg)
{
    const uint32_t first = cache_set(c, line) * c->ways;

    for (uint32_t i = first; i < first + c->ways; i++)
        if (!c->tag[i] && (!may || may(arg, i)))
            return i;
    return rule_of(c)->victim(c, first, may, arg);
}

/* The lowest invalid slot of a set of 8, 16, ... ways, or CACHE_NONE. */
static inline uint32_t empty_slot(const struct cache *c, uint32_t first)
{
    for (uint32_t i = first; i < first + c->ways; i += 8) {
        const uint32_t empty = cache_empty(c->state + i);
        if (UNLIKELY(empty != CACHE_NONE))
            return i + empty;
    }
    return CACHE_NONE;
}

static inline bool has_order(const struct cache *c)
{
    return LIKELY(c->geometry.replacement == REPLACE_LRU) || rule_of(c)->ordered;
}

/* The short way for other usual shapes: a rule with stamps, 8, 16, ... ways. */
uint32_t cache_victim_other(struct cache *c, uint64_t line)
{
    if (!has_order(c) || c->ways % 8)
        return cache_victim_among(c, line, NULL, NULL);
    const uint32_t first = cache_set(c, line) * c->ways;
    const uint32_t empty = empty_slot(c, first);
    return UNLIKELY(empty != CACHE_NONE) ? empty : oldest_of_all(c, first);
}

bool cache_had(struct cache *c, uint64_t line)
{
    const uint32_t slot = cache_find(c, line);

    if (slot != CACHE_NONE)
        cache_touch(c, slot);
    else
        cache_put(c, cache_victim(c, line), line, 1);
    return slot != CACHE_NONE;
}

uint32_t cache_last(struct cache *c, uint64_t line)
{
    return has_order(c) ? oldest_of_all(c, cache_set(c, line) * c->ways) : cache_victim(c, line);
}
