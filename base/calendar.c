/* calendar.c - the reservation calendar of something that serves one at a time: which of its cycles
 * are taken.
 *
 * A circular bitmap, the ring, covers the cycles from the floor on, a bit each, and is searched a
 * word at a time; it grows with the distance of what is taken. Reservations beyond the largest ring
 * are rare (a memory that is backed up): they stand in a sorted list of spans, and move into the
 * ring as time comes near them. */
#include "base/calendar.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Words of the ring at first (128 bytes) and at most (8 KiB, which cover 65536 cycles). */
enum { FIRST_WORDS = 16, MOST_WORDS = 1024 };

void calendar_init(struct calendar *s, const struct run_context *context)
{
    *s = (struct calendar){.context = context};
}

void calendar_free(struct calendar *s)
{
    free(s->busy);
    free(s->far);
    calendar_init(s, s->context);
}

static inline sim_cycle earlier(sim_cycle a, sim_cycle b)
{
    return a < b ? a : b;
}

static inline sim_cycle later(sim_cycle a, sim_cycle b)
{
    return a > b ? a : b;
}

static inline uint64_t *word_of(const struct calendar *s, sim_cycle c)
{
    return &s->busy[(c >> 6) & s->mask];
}

/* Takes the cycles [from, to), all of which lie in the ring. */
static inline void set_bits(struct calendar *s, sim_cycle from, sim_cycle to)
{
    while (from < to) {
        const sim_cycle n = earlier(to - from, 64 - (from & 63));

        *word_of(s, from) |= UINT64_MAX >> (64 - n) << (from & 63);
        from += n;
    }
}

/* ---- spans beyond the ring ------------------------------------------------------------------ */

/* Makes one span of this one and the next if they touch. */
static void join(struct calendar *s, size_t i)
{
    if (i + 1 >= s->n_far || s->far[i].to != s->far[i + 1].from)
        return;
    s->far[i].to = s->far[i + 1].to;
    memmove(&s->far[i + 1], &s->far[i + 2], (s->n_far - i - 2) * sizeof *s->far);
    s->n_far--;
}

/* Inserts a span in its place. Most come last. */
static void far_add(struct calendar *s, sim_cycle from, sim_cycle to)
{
    size_t i = s->n_far;

    while (i && s->far[i - 1].from > from)
        i--;
    s->far = xgrow(s->far, s->n_far, &s->cap_far, sizeof *s->far);
    memmove(&s->far[i + 1], &s->far[i], (s->n_far - i) * sizeof *s->far);
    s->far[i] = (struct calendar_span){from, to};
    s->n_far++;
    join(s, i);
    if (i)
        join(s, i - 1);
}

/* Moves what the ring covers by now from the list into it. */
static void far_pull(struct calendar *s)
{
    size_t gone = 0;

    while (gone < s->n_far && s->far[gone].from < s->end) {
        struct calendar_span *f = &s->far[gone];

        set_bits(s, later(f->from, s->base), earlier(f->to, s->end));
        f->from = s->end;
        if (f->to > s->end)
            break;
        gone++;
    }
    s->n_far -= gone;
    if (gone && s->n_far)
        memmove(s->far, s->far + gone, s->n_far * sizeof *s->far);
}

/* ---- the ring ------------------------------------------------------------------------------- */

/* The ring follows the floor. Words that are over are cleared, as they stand for later cycles in
 * the ring's next round; beyond `top` none is taken, so none need be cleared. */
static void forward(struct calendar *s)
{
    const sim_cycle base = s->floor & ~UINT64_C(63);
    const sim_cycle dirty = earlier(earlier(base, s->end), s->top);

    for (sim_cycle c = s->base; c < dirty; c += 64)
        *word_of(s, c) = 0;
    s->base = base;
    s->end = base + (s->busy ? 64 * (s->mask + 1) : 0);
}

/* A larger ring, from the same base, that reaches `to`. */
static void grow(struct calendar *s, sim_cycle to)
{
    const struct calendar was = *s;
    size_t words = s->busy ? s->mask + 1 : FIRST_WORDS;

    while (64 * words < to - s->base)
        words *= 2;
    s->busy = xcalloc(words, sizeof *s->busy);
    s->mask = words - 1;
    s->end = s->base + 64 * words;
    for (sim_cycle c = was.base; c < was.end; c += 64)
        *word_of(s, c) = *word_of(&was, c);
    free(was.busy);
}

/* Makes the ring reach `to`, unless that is beyond the largest ring. */
static void make_room(struct calendar *s, sim_cycle to)
{
    const uint64_t most = 64 * MOST_WORDS;

    forward(s);
    if (!s->busy || (to > s->end && to - s->base <= most))
        grow(s, to - s->base <= most ? to : s->base);
    far_pull(s);
}

/* ---- searching ------------------------------------------------------------------------------ */

/* The first taken cycle in [from, to), or to. */
static sim_cycle next_taken(const struct calendar *s, sim_cycle from, sim_cycle to)
{
    const sim_cycle stop = earlier(to, s->end);

    for (sim_cycle c = from; c < stop; c = (c | 63) + 1) {
        const uint64_t w = *word_of(s, c) >> (c & 63);
        if (w)
            return earlier(c + (unsigned)__builtin_ctzll(w), to);
    }
    for (size_t i = 0; i < s->n_far && s->far[i].from < to; i++)
        if (s->far[i].to > from)
            return later(s->far[i].from, from);
    return to;
}

/* The first free cycle from c on. */
static sim_cycle next_free(const struct calendar *s, sim_cycle c)
{
    for (; c < s->end; c = (c | 63) + 1) {
        const uint64_t w = ~*word_of(s, c) >> (c & 63);
        if (w)
            return c + (unsigned)__builtin_ctzll(w);
    }
    for (size_t i = 0; i < s->n_far && s->far[i].from <= c; i++)
        c = later(c, s->far[i].to);
    return c;
}

/* Skips from gap to gap until one is long enough. */
static sim_cycle first_fit(const struct calendar *s, sim_cycle at, unsigned cycles)
{
    sim_cycle taken;

    while ((taken = next_taken(s, at, at + cycles)) < at + cycles)
        at = next_free(s, taken);
    return at;
}

/* The first fit that starts within the next 64 cycles, which is nearly always there; UINT64_MAX: it
 * is not. Bit k of `fits` says that the cycles at + k to at + k + n - 1 are free. To double n, AND
 * the word with itself shifted by n: log2(cycles) steps find all starts at once. */
static inline sim_cycle near_fit(const struct calendar *s, sim_cycle at, unsigned cycles)
{
    const unsigned bit = at & 63;

    if (at + 128 > s->end || cycles - 1 > 63)
        return UINT64_MAX;
    uint64_t fits = ~(*word_of(s, at) >> bit | *word_of(s, at + 64) << 1 << (63 - bit));
    for (unsigned n = 1; n < cycles;) {
        const unsigned more = n < cycles - n ? n : cycles - n;
        fits &= fits >> more;
        n += more;
    }
    return fits ? at + (unsigned)__builtin_ctzll(fits) : UINT64_MAX;
}

void calendar_refuse(const struct calendar *s, sim_cycle at, unsigned cycles)
{
    ENSURE(at >= s->floor, s->context,
           "a call for cycle %llu comes before its turn: calls are at cycle %llu by now",
           (unsigned long long)at, (unsigned long long)s->floor);
    ensure_failed(__FILE__, __LINE__, "at <= UINT64_MAX - cycles", s->context,
                  "a call for %u cycles from %llu on", cycles, (unsigned long long)at);
}

sim_cycle calendar_take_other(struct calendar *s, sim_cycle at, unsigned cycles)
{
    const sim_cycle near = near_fit(s, at, cycles);

    if (LIKELY(near != UINT64_MAX) && calendar_take_at_once(s, near, cycles))
        return near;
    const sim_cycle start = at >= s->top ? at : first_fit(s, at, cycles);
    const sim_cycle end = start + cycles;

    if (end > s->end)
        make_room(s, end);
    set_bits(s, start, earlier(end, s->end));
    if (end > s->end && cycles)
        far_add(s, later(start, s->end), end);
    s->top = later(s->top, end);
    return start;
}
