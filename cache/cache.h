/* cache.h - one set-associative array of tags with replacement. It knows no protocol: what a state
 * means, and when lines come and go, is the caller's.
 *
 * A line is named by its number (address / line size), which is below 2^63. A slot is one place for
 * a line: a way of a set. Slots of a set are adjacent: set s has [s x ways, (s + 1) x ways). A line
 * keeps its slot as long as it stays; callers keep what they know of it in arrays of their own, by
 * slot. */
#ifndef LARDSIM_CACHE_H
#define LARDSIM_CACHE_H

#include "base/base.h"
#include "base/err.h"
#include "base/rng.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

/* The rule that picks the victim in a full set: a file of cache/replacement/ each. */
enum cache_replacement {
#define REPLACEMENT(NAME, name) REPLACE_##NAME,
#include "cache/replacements.def"
#undef REPLACEMENT
};
extern const char *const cache_replacement_text[]; /* "lru", ...; NULL-terminated, for parameters */

enum { CACHE_MAX_WAYS = 1024, CACHE_MAX_LINES = 1 << 26 };

struct cache_geometry {
    uint64_t bytes;       /* the capacity: ways x line x sets */
    uint32_t ways, line;  /* line: bytes, a power of 2 from 2 */
    uint32_t replacement; /* enum cache_replacement */
    uint64_t seed;        /* random only */
};

#define CACHE_NONE       UINT32_MAX /* no slot */
#define CACHE_LAST_CLOCK ((uint32_t)INT32_MAX)

/* Division by a number known early, without the host's slow one: n / d for n < 2^63 is
 * n x multiplier / 2^63 / 2^shift. */
struct cache_divisor {
    uint64_t multiplier;
    unsigned shift;
};

struct cache {      /* open so that a look-up can be inline; only cache.c writes */
    uint64_t *tag;  /* by slot: line number + 1; 0: invalid */
    uint8_t *state; /* by slot: the caller's, which writes it directly; 0 in invalid slots alone */
    /* The replacement's state. LRU, FIFO: by slot, the clock at the last use, at the fill; an
     * invalid slot keeps it, 0: never filled. SRRIP: by slot, the interval. PLRU: by set, the bits
     * of the tree's nodes. Random: NULL. */
    uint32_t *order;
    uint32_t clock;      /* counts uses; at CACHE_LAST_CLOCK it starts anew (cache_clock_anew) */
    uint32_t sets, ways; /* the array's shape */
    bool masked;         /* sets are a power of 2: a mask does */
    bool plain;          /* masked, and 8 ways: the shape with the shortest look-up */
    uint32_t mask;       /* masked only */
    struct cache_divisor by_sets;   /* used if not masked */
    uint32_t tree_words;            /* PLRU: words a set */
    struct cache_geometry geometry; /* as it was asked for */
    struct rng rng;                 /* random replacement alone */
    void *memory;                   /* owns: tag, order and state lie in it */
};

/* 0, or -1 with LARD_CONFIG: e says what is impossible and what would do ("l2: 100 KiB in 7 ways of
 * 64 bytes is no whole number of sets; ..."). `name` begins the message. */
int cache_check(const struct cache_geometry *g, const char *name, struct err *e);
void cache_init(struct cache *c, const struct cache_geometry *g); /* g was checked */
uint64_t cache_bytes(const struct cache *c);                      /* on the host */
void cache_free(struct cache *c);                                 /* all zero is fine, too */

__extension__ typedef unsigned __int128 cache_wide;
static inline uint64_t cache_divide(const struct cache_divisor *d, uint64_t n)
{
    return (uint64_t)((cache_wide)n * d->multiplier >> 63) >> d->shift;
}
/* The set of a line. */
static inline uint32_t cache_set(const struct cache *c, uint64_t line)
{
    if (LIKELY(c->masked))
        return (uint32_t)line & c->mask;
    assert(line >> 63 == 0);
    return (uint32_t)(line - cache_divide(&c->by_sets, line) * c->sets);
}

/* Tags are compared two at a time, and as halves: not every processor's vectors can compare 64 bits
 * at once. */
typedef uint64_t cache_pair __attribute__((vector_size(16), aligned(8), may_alias));
typedef uint32_t cache_halves __attribute__((vector_size(16), aligned(8)));
/* Compares two ways, `way` and the next, by halves: in its element of the result, a way whose lower
 * half is the wanted one's has bit `way`, and one whose upper half is has bit 32 + `way`. */
ALWAYS_INLINE cache_pair cache_same(const uint64_t *tag, cache_pair want, unsigned way)
{
    const cache_pair two = *(const cache_pair *)(const void *)(tag + way);
    const uint64_t bits = UINT64_C(0x100000001) << way;

    return (cache_pair)((cache_halves)two == (cache_halves)want) & (cache_pair){bits, 2 * bits};
}
/* Bit i: way i, of at most 64, has the wanted tag. No branch depends on where the hit is: the way
 * of a hit can't be predicted, and a misprediction costs more than comparing the remaining ways (8
 * ways, random hits with their touch: 3 ns; stopping at the hit: 9 ns). */
ALWAYS_INLINE uint64_t cache_match(const uint64_t *tag, uint32_t ways, uint64_t wanted)
{
    const cache_pair want = {wanted, wanted};
    uint64_t found = 0;
    uint32_t i = 0;

    for (; i + 8 <= ways; i += 8) {
        const cache_pair same = cache_same(tag + i, want, 0) | cache_same(tag + i, want, 2) |
                                cache_same(tag + i, want, 4) | cache_same(tag + i, want, 6);
        const uint64_t halves = same[0] | same[1];
        found |= (halves & halves >> 32) << i;
    }
    for (; i < ways; i++)
        found |= (uint64_t)(tag[i] == wanted) << i;
    return found;
}
uint32_t cache_find_other(const struct cache *c, uint64_t line);
/* The slot of a line, or CACHE_NONE. Changes nothing. Inline: it is the hottest code there is. */
static inline uint32_t cache_find(const struct cache *c, uint64_t line)
{
    if (UNLIKELY(!c->plain))
        return cache_find_other(c, line);
    const uint32_t first = ((uint32_t)line & c->mask) * 8;
    const uint64_t at = cache_match(c->tag + first, 8, line + 1);
    return at ? first + (uint32_t)__builtin_ctzll(at) : CACHE_NONE;
}
/* Starts the clock anew: stamps become small numbers that keep the order in each set. */
void cache_clock_anew(struct cache *c);
static inline void cache_stamp(struct cache *c, uint32_t slot)
{
    c->order[slot] = ++c->clock;
    if (UNLIKELY(c->clock == CACHE_LAST_CLOCK))
        cache_clock_anew(c);
}
void cache_touch_other(struct cache *c, uint32_t slot);
/* Tells the replacement of a hit in this slot, which is valid. */
static inline void cache_touch(struct cache *c, uint32_t slot)
{
    if (LIKELY(c->geometry.replacement == REPLACE_LRU))
        cache_stamp(c, slot);
    else
        cache_touch_other(c, slot);
}
/* The least stamp without branches, as it can't be predicted which way is the oldest; four stamps
 * at a time. Stamps are below 2^31, so that signed comparison will do. */
typedef int32_t cache_stamps __attribute__((vector_size(16), aligned(4), may_alias));

ALWAYS_INLINE cache_stamps cache_stamps_at(const uint32_t *order, uint32_t i)
{
    return *(const cache_stamps *)(const void *)(order + i);
}

ALWAYS_INLINE int32_t cache_lesser(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* The way with the least stamp, the lowest if several have it (never filled: 0). ways: 8 or 16.
 * Each element of `found` collects the bits of its ways; the last line folds the four into one. */
ALWAYS_INLINE uint32_t cache_least(const uint32_t *order, uint32_t ways)
{
    const cache_stamps bits = {1, 2, 4, 8};
    cache_stamps least = cache_stamps_at(order, 0), found = {0, 0, 0, 0};

    for (uint32_t i = 4; i < ways; i += 4) {
        const cache_stamps more = cache_stamps_at(order, i), less = more < least;
        least = (more & less) | (least & ~less);
    }
    const int32_t of_all =
        cache_lesser(cache_lesser(least[0], least[1]), cache_lesser(least[2], least[3]));
    const cache_stamps wanted = {of_all, of_all, of_all, of_all};
    for (uint32_t i = 0; i < ways; i += 4)
        found |= (cache_stamps_at(order, i) == wanted) & (bits << (int32_t)i);
    const cache_pair halves = (cache_pair)found;
    const uint64_t both = halves[0] | halves[1];
    return (uint32_t)__builtin_ctzll(both | both >> 32);
}
/* The lowest invalid one of eight ways, or CACHE_NONE: a state is 0 in invalid slots alone, so this
 * looks for a zero byte. */
static inline uint32_t cache_empty(const uint8_t *state)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t states;

    memcpy(&states, state, sizeof states);
    states = le64toh(states);
    /* Marks the zero bytes. A borrow can mark a byte above a zero one falsely, never the lowest. */
    const uint64_t zeros = (states - ones) & ~states & ones << 7;
    return UNLIKELY(zeros) ? (uint32_t)__builtin_ctzll(zeros) / 8 : CACHE_NONE;
}
uint32_t cache_victim_other(struct cache *c, uint64_t line);
/* Returns the slot into which the line would be filled: the lowest invalid slot of its set, or else
 * the replacement's victim. Changes nothing but the random sequence and SRRIP's ageing. */
static inline uint32_t cache_victim(struct cache *c, uint64_t line)
{
    if (UNLIKELY(!(c->plain && c->geometry.replacement == REPLACE_LRU)))
        return cache_victim_other(c, line);
    const uint32_t first = ((uint32_t)line & c->mask) * 8;
    const uint32_t empty = cache_empty(c->state + first);
    return first + (UNLIKELY(empty != CACHE_NONE) ? empty : cache_least(c->order + first, 8));
}
/* The same among those slots of which may(arg, slot) is true; CACHE_NONE: there is none. `may` is
 * asked in no certain order, and possibly twice. */
uint32_t cache_victim_among(struct cache *c, uint64_t line, bool (*may)(void *arg, uint32_t slot),
                            void *arg);
/* LRU, FIFO: the last slot of the set's order, even if another one is free: an invalid slot keeps
 * the place that its line had, and slots that were never filled are chosen first. This is how the
 * CE simulator replaces (compat = ce). Other replacements have no order: as cache_victim.
 */
uint32_t cache_last(struct cache *c, uint64_t line);
void cache_fill_other(struct cache *c, uint32_t slot);
/* Puts the line into the slot (whatever was there is gone) and tells the replacement of a fill. The
 * slot is in the line's set, and no other slot holds the line. The state is not 0. */
static inline void cache_put(struct cache *c, uint32_t slot, uint64_t line, uint8_t state)
{
    assert(line >> 63 == 0 && state);
    c->tag[slot] = line + 1;
    c->state[slot] = state;
    if (LIKELY(c->geometry.replacement == REPLACE_LRU))
        cache_stamp(c, slot);
    else
        cache_fill_other(c, slot);
}
bool cache_had(struct cache *c, uint64_t line); /* an access: true if it was there; now it is */
static inline void cache_drop(struct cache *c, uint32_t slot) /* invalidates */
{
    c->tag[slot] = 0;
    c->state[slot] = 0;
}
static inline uint64_t cache_line(const struct cache *c, uint32_t slot) /* the slot is valid */
{
    return c->tag[slot] - 1;
}
static inline bool cache_valid(const struct cache *c, uint32_t slot)
{
    return c->tag[slot] != 0;
}
static inline uint32_t cache_slots(const struct cache *c)
{
    return c->sets * c->ways;
}

#endif
