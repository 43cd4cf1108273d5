/* part.c - a trace of which a part is kept, and its repair: what breaks a stream rule because
 * something else is gone goes, too, until what is left is a legal trace. */
#include "results/reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/map.h"
#include "base/mem.h"
#include "results/job/stopped.h"

static size_t words(uint64_t n)
{
    return (size_t)(n / 64 + 1);
}

uint64_t *bits_copy(const uint64_t *bits, uint64_t n)
{
    uint64_t *copy = xcalloc(words(n), sizeof *copy);

    memcpy(copy, bits, words(n) * sizeof *copy);
    return copy;
}

uint64_t bits_count(const uint64_t *bits, uint64_t n)
{
    uint64_t count = 0;

    for (size_t i = 0; i < words(n); i++)
        count += (uint64_t)__builtin_popcountll(bits[i]);
    return count;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int each_read(struct lardsim_source *s, const uint64_t *which, part_fn *fn, void *arg,
                     struct err *e)
{
    struct lardsim_event ev;
    int more;

    for (uint64_t index = 0; (more = lardsim_source_next(s, &ev, e)) > 0; index++)
        if ((!which || bit_is(which, index)) && !fn(arg, &ev, index))
            return 0;
    return more;
}

int part_each(const struct trace_part *p, const uint64_t *which, part_fn *fn, void *arg,
              struct err *e)
{
    if (p->ev) {
        for (uint64_t i = 0; i < p->n; i++)
            if (bit_is(which, i) && !fn(arg, &p->ev[i], i))
                return 0;
        return 0;
    }
    struct lardsim_source *s = stop_source(lardsim_source_open(p->spec, e));
    const int failed = s ? each_read(s, which, fn, arg, e) : -1;
    lardsim_source_close(s);
    return failed;
}

static bool count(void *arg, const struct lardsim_event *ev, uint64_t index)
{
    struct trace_part *p = arg;

    (void)ev;
    p->n = index + 1;
    return true;
}

int part_open(struct trace_part *p, const char *spec, struct err *e)
{
    *p = (struct trace_part){.spec = spec};
    p->source = stop_source(lardsim_source_open(spec, e));
    if (!p->source || each_read(p->source, NULL, count, p, e))
        return -1;
    p->kept = xcalloc(words(p->n), sizeof *p->kept);
    for (uint64_t i = 0; i < p->n; i++)
        p->kept[i / 64] |= UINT64_C(1) << i % 64;
    p->count = p->n;
    return 0;
}

void part_close(struct trace_part *p)
{
    lardsim_source_close(p->source);
    free(p->ev);
    free(p->mate);
    free(p->kept);
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* Returns the kind by which the two halves of a pair know each other: one half without the other is
 * of no use, or breaks a rule. */
static int pair_of(const struct lardsim_event *ev)
{
    static const int pairs[][2] = {
        {LARDSIM_ACQUIRE, LARDSIM_RELEASE},      {LARDSIM_ACQUIRE_SHARED, LARDSIM_RELEASE_SHARED},
        {LARDSIM_WAIT_ENTER, LARDSIM_WAIT_EXIT}, {LARDSIM_BARRIER_ARRIVE, LARDSIM_BARRIER_DEPART},
        {LARDSIM_TXN_BEGIN, LARDSIM_TXN_COMMIT}, {LARDSIM_GC_BEGIN, LARDSIM_GC_END},
        {LARDSIM_ROI_BEGIN, LARDSIM_ROI_END}};

    for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
        if (ev->kind == pairs[i][0] || ev->kind == pairs[i][1])
            return pairs[i][0];
    return 0;
}

/* The beginnings that wait for their end: by a hash of who and what, a stack through `below`. */
static void find_mates(struct trace_part *p)
{
    uint64_t *below = xcalloc((size_t)p->n + 1, sizeof *below);
    struct map open = {0};

    p->mate = xcalloc((size_t)p->n + 1, sizeof *p->mate);
    for (uint64_t i = 0; i < p->n; i++) {
        const struct lardsim_event *ev = &p->ev[i];
        const int pair = pair_of(ev);
        if (!pair)
            continue;
        const bool wide = pair == LARDSIM_GC_BEGIN || pair == LARDSIM_ROI_BEGIN;
        const uint64_t key[3] = {(uint64_t)pair, wide ? 0 : ev->thread, wide ? 0 : ev->addr};
        uint64_t *top = map_put(&open, digest_bytes(key, sizeof key));
        if (ev->kind == pair) {
            below[i] = *top;
            *top = i + 1;
        } else if (*top) {
            p->mate[i] = *top;
            p->mate[*top - 1] = i + 1;
            *top = below[*top - 1];
        }
    }
    map_free(&open);
    free(below);
}

/* ---- holding what is left ------------------------------------------------------------------- */

struct taking {
    struct lardsim_event *ev;
    size_t n;
};

static bool take(void *arg, const struct lardsim_event *ev, uint64_t index)
{
    struct taking *t = arg;

    (void)index;
    t->ev[t->n++] = *ev;
    return true;
}

static int hold(struct trace_part *p, struct err *e)
{
    struct taking t = {.ev = xcalloc((size_t)p->count + 1, sizeof *t.ev)};

    if (part_each(p, p->kept, take, &t, e)) {
        free(t.ev);
        return -1;
    }
    free(p->ev);
    free(p->mate);
    free(p->kept);
    p->ev = t.ev;
    p->n = p->count = t.n;
    p->kept = xcalloc(words(p->n), sizeof *p->kept);
    for (uint64_t i = 0; i < p->n; i++)
        p->kept[i / 64] |= UINT64_C(1) << i % 64;
    find_mates(p);
    return 0;
}

int part_keep(struct trace_part *p, uint64_t *which, struct err *e)
{
    free(p->kept);
    p->kept = which;
    p->count = bits_count(which, p->n);
    const bool few = p->ev ? p->count < p->n / 2 : p->count <= PART_HELD;
    return few ? hold(p, e) : 0;
}

/* ---- repair --------------------------------------------------------------------------------- */

struct repair {
    struct lardsim_rules *rules;
    uint64_t *which;
    uint64_t dropped;
    uint64_t gc, roi; /* 1 + the index of the begin that is open */
};

static bool obey(void *arg, const struct lardsim_event *ev, uint64_t index)
{
    struct repair *r = arg;
    struct err broken = {0, ""};

    if (lardsim_rules_event(r->rules, ev, &broken)) {
        bit_clear(r->which, index);
        r->dropped++;
        return true;
    }
    if (ev->kind == LARDSIM_GC_BEGIN || ev->kind == LARDSIM_GC_END)
        r->gc = ev->kind == LARDSIM_GC_BEGIN ? index + 1 : 0;
    if (ev->kind == LARDSIM_ROI_BEGIN || ev->kind == LARDSIM_ROI_END)
        r->roi = ev->kind == LARDSIM_ROI_BEGIN ? index + 1 : 0;
    return true;
}

static void drop_open(struct repair *r, uint64_t open)
{
    if (!open)
        return;
    bit_clear(r->which, open - 1);
    r->dropped++;
}

/* An event that has been dropped has left traces in the rules (its thread has acted), so all is
 * held against them again. */
int part_repair(const struct trace_part *p, uint64_t *which, uint64_t *dropped, struct err *e)
{
    struct repair r;
    uint64_t all = 0;

    do {
        struct err broken = {0, ""};
        r = (struct repair){.rules = lardsim_rules_new(), .which = which};
        int failed = part_each(p, which, obey, &r, e);
        if (lardsim_rules_free(r.rules, &broken) && !failed) {
            drop_open(&r, r.gc);
            drop_open(&r, r.roi);
        }
        if (failed)
            return -1;
        all += r.dropped;
    } while (r.dropped);
    if (dropped)
        *dropped = all;
    return 0;
}
