/* search.c - delta debugging (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing
 * Input, TSE 2002) along several lines, the coarse ones first: threads, memory, synchronisation
 * objects, objects of the heap, kinds of events, then events with the other half of their pair, and
 * by themselves.
 *
 * Along each line, pieces are taken away from all that there is down to one thing, each time
 * through the whole line; what can't be missed stays. When a round along all lines finds nothing
 * any more, no thread, location, object, pair or event can be taken away alone. */
#include "results/reduce/reduce.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/program/stop.h"

/* ---- the lines ------------------------------------------------------------------------------ */

enum line {
    LINE_THREADS,
    LINE_MEMORY,
    LINE_OBJECTS,
    LINE_HEAP,
    LINE_KINDS,
    LINE_PAIRS,
    LINE_EVENTS,
    LINES
};
enum { LINE_BITS = 6, BLOCK_BITS = 12 }; /* log2: bytes of memory, events of a read trace */

static bool key_on(const struct trace_part *p, enum line line, const struct lardsim_event *ev,
                   uint64_t index, uint64_t *key)
{
    struct lardsim_kind_info is;

    lardsim_kind_info(ev->kind, &is);
    switch (line) {
    case LINE_THREADS:
        *key = ev->thread;
        return true;
    case LINE_MEMORY:
        *key = ev->addr >> LINE_BITS;
        return is.access;
    case LINE_OBJECTS:
        *key = ev->addr * 16 + is.object;
        return is.sync && is.of_object;
    case LINE_HEAP:
        *key = ev->addr;
        return is.heap;
    case LINE_KINDS:
        *key = ev->kind;
        return !is.access;
    case LINE_EVENTS:
        *key = p->ev ? index : index >> BLOCK_BITS;
        return true;
    case LINE_PAIRS:
        *key = !p->ev                                         ? index >> BLOCK_BITS
               : p->mate[index] && p->mate[index] - 1 < index ? p->mate[index] - 1
                                                              : index;
        return true;
    case LINES:
        break;
    }
    return false;
}

/* ---- one candidate -------------------------------------------------------------------------- */

/* Events after the one that shows it are not needed, if no event before has to go with them. */
static int cut(struct search *s, uint64_t **which, uint64_t enough)
{
    uint64_t *shorter = bits_copy(*which, s->part->n), dropped = 0;

    for (uint64_t i = enough + 1; i < s->part->n; i++)
        bit_clear(shorter, i);
    if (part_repair(s->part, shorter, &dropped, s->err)) {
        free(shorter);
        return -1;
    }
    uint64_t *drop = dropped ? shorter : *which;
    if (!dropped)
        *which = shorter;
    free(drop);
    return 0;
}

/* Keeps the candidate if it is smaller, and holds; takes it. 1: it does, 0, or -1. */
static int try(struct search *s, uint64_t *which)
{
    uint64_t enough = UINT64_MAX;
    int holds = stop_asked(s->err) || part_repair(s->part, which, NULL, s->err) ? -1 : 0;

    if (!holds && bits_count(which, s->part->n) < s->part->count) {
        s->tests++;
        holds = keep_holds(s->keep, s->part, which, &enough, s->err);
        if (progress_due(s->progress))
            progress_show(s->progress, "%" PRIu64 " events left, %" PRIu64 " candidates tried",
                          s->part->count, s->tests);
    }
    if (holds == 1 && enough < s->part->n && cut(s, &which, enough))
        holds = -1;
    if (holds == 1) {
        free(s->part->kept);
        s->part->kept = which;
        s->part->count = bits_count(which, s->part->n);
        return 1;
    }
    free(which);
    return holds;
}

/* ---- pieces of a line ----------------------------------------------------------------------- */

struct keys { /* on a line, in the order in which they come */
    const struct trace_part *part;
    enum line line;
    struct map place; /* key to 1 + its place */
    uint64_t n;
    /* The keys that are taken away: `piece` of them, from `first` on. */
    uint64_t first, piece;
    uint64_t *which;
};

static bool collect(void *arg, const struct lardsim_event *ev, uint64_t index)
{
    struct keys *k = arg;
    uint64_t key;

    if (!key_on(k->part, k->line, ev, index, &key))
        return true;
    uint64_t *place = map_put(&k->place, key);
    if (!*place)
        *place = ++k->n;
    return true;
}

static bool is_taken(const struct keys *k, uint64_t key)
{
    const uint64_t *place = map_find(&k->place, key);

    return place && *place - 1 - k->first < k->piece;
}

/* Events that name a thread go with it. */
static bool take_away(void *arg, const struct lardsim_event *ev, uint64_t index)
{
    struct keys *k = arg;
    uint64_t key;
    struct lardsim_kind_info is;
    const bool named = k->line == LINE_THREADS && lardsim_kind_info(ev->kind, &is) && is.of_thread;

    if ((key_on(k->part, k->line, ev, index, &key) && is_taken(k, key)) ||
        (named && is_taken(k, ev->aux)))
        bit_clear(k->which, index);
    return true;
}

/* Goes along the line once. 1: something was taken away, 0, or -1. */
static int sweep(struct search *s, enum line line, uint64_t *piece)
{
    struct keys k = {.part = s->part, .line = line};
    int found = 0;

    if (part_each(s->part, s->part->kept, collect, &k, s->err))
        found = -1;
    *piece = *piece < k.n ? *piece : k.n;
    for (k.piece = *piece; found >= 0 && k.first < k.n; k.first += k.piece) {
        if (s->tests >= s->most) {
            s->stopped = true;
            break;
        }
        k.which = bits_copy(s->part->kept, s->part->n);
        if (part_each(s->part, s->part->kept, take_away, &k, s->err)) {
            free(k.which);
            found = -1;
            break;
        }
        const int went = try(s, k.which);
        found = went < 0 ? -1 : found | went;
    }
    map_free(&k.place);
    return found;
}

/* A trace that has become small is held in memory, where its events have other indices. */
static int settle(struct search *s)
{
    uint64_t *kept = s->part->kept;

    s->part->kept = NULL;
    return part_keep(s->part, kept, s->err);
}

/* 1: something went, 0, or -1. */
static int along(struct search *s, enum line line)
{
    uint64_t piece = UINT64_MAX;
    int found = 0;

    while (piece && !s->stopped) {
        const int went = sweep(s, line, &piece);
        if (went < 0 || settle(s))
            return -1;
        found |= went;
        piece = went ? piece : piece / 2;
    }
    return found;
}

int search_run(struct search *s)
{
    int found;

    do {
        found = 0;
        for (enum line line = 0; line < LINES && !s->stopped; line++) {
            const int went = along(s, line);
            if (went < 0)
                return -1;
            found |= went;
        }
    } while (found && !s->stopped);
    return 0;
}
