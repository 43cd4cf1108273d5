/* t_footprint.c - is the footprint of a run what counting by hand gives? On random traces and
 * machines (more threads than cores, kernel threads that migrate, store buffers, MSHRs, detectors
 * whose own accesses must not count) each line of each thread is counted here with a set of pairs,
 * and each live byte with a set of bytes.
 *
 *     t_footprint [FIRST-SEED [SEEDS]]     default: 1 120
 *
 * Regions of interest are held to it in recorded order, where it is plain which events are in one.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sim/lardsim.h"
#include "sim/machine/footprint.h"
#include "tests/frame/seeds.h"
#include "trace/trace.h"

/* ---- counting by hand ----------------------------------------------------------------------- */

struct touch {
    uint64_t line;
    sim_tid tid;
};
struct touches { /* of a thread and a line, each once when sorted */
    struct touch *at;
    size_t n, cap;
};
struct counted {
    uint64_t lines, shared, threads, sum, least, most;
};

static int by_line(const void *a, const void *b)
{
    const struct touch *x = a, *y = b;

    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static void touch(struct touches *t, sim_tid tid, uint64_t line)
{
    t->at = xgrow(t->at, t->n, &t->cap, sizeof *t->at);
    t->at[t->n++] = (struct touch){line, tid};
}

static struct counted count(struct touches *t)
{
    uint64_t *of = xcalloc(1 << 16, sizeof *of);
    struct counted c = {.least = UINT64_MAX};

    if (t->n)
        qsort(t->at, t->n, sizeof *t->at, by_line);
    for (size_t i = 0, before = 0; i < t->n; i++) {
        const bool same_line = i && t->at[i].line == t->at[i - 1].line;
        if (same_line && t->at[i].tid == t->at[i - 1].tid)
            continue;
        before = same_line ? before + 1 : 0;
        c.lines += before == 0;
        c.shared += before == 1;
        of[t->at[i].tid]++;
    }
    for (size_t i = 0; i < 1 << 16; i++) {
        c.threads += of[i] > 0;
        c.sum += of[i];
        c.least = of[i] && of[i] < c.least ? of[i] : c.least;
        c.most = of[i] > c.most ? of[i] : c.most;
    }
    c.least = c.threads ? c.least : 0;
    free(of);
    return c;
}

/* Bytes that an event of this kind accesses at its address; docs/machine.md, "Time". */
static uint64_t accesses(const struct event *ev)
{
    static const enum ev_kind words[] = {EV_ACQUIRE,        EV_RELEASE,        EV_ACQUIRE_SHARED,
                                         EV_RELEASE_SHARED, EV_WAIT_ENTER,     EV_WAIT_EXIT,
                                         EV_VOLATILE_READ,  EV_VOLATILE_WRITE, EV_BARRIER_ARRIVE,
                                         EV_BARRIER_DEPART, EV_CLASS_INIT,     EV_CLASS_USE};

    if (event_is_access(ev))
        return ev->size;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (ev->kind == words[i])
            return 8;
    return 0;
}

struct by_hand {
    struct touches all, inside;
    struct map bytes; /* that live */
    uint64_t live, peak;
    bool in_region, allocates;
};

static void set_live(struct by_hand *h, const struct event *ev)
{
    for (uint64_t i = 0; i < ev->aux; i++) {
        uint64_t *lives = map_put(&h->bytes, ev->addr + i);
        const uint64_t now = ev->kind != EV_CLEAR;
        h->live = h->live - *lives + now;
        *lives = now;
    }
    h->peak = h->live > h->peak ? h->live : h->peak;
}

static void take(struct by_hand *h, const struct event *ev, uint64_t line)
{
    const uint64_t bytes = accesses(ev);

    for (uint64_t at = ev->addr / line; bytes && at <= (ev->addr + bytes - 1) / line; at++) {
        touch(&h->all, ev->tid, at);
        if (h->in_region)
            touch(&h->inside, ev->tid, at);
    }
    h->allocates |= ev->kind == EV_ALLOC;
    if (h->allocates && (ev->kind == EV_ALLOC || ev->kind == EV_CLEAR || ev->kind == EV_COPY))
        set_live(h, ev);
    if (ev->kind == EV_ROI_BEGIN || ev->kind == EV_ROI_END)
        h->in_region = ev->kind == EV_ROI_BEGIN;
}

static void by_hand(struct by_hand *h, const char *source, uint64_t line)
{
    struct err e = {0};
    struct source *s = source_open(source, &e);
    struct batch b;

    map_init(&h->bytes, NULL);
    while (s && !source_next(s, &b, &e) && b.records)
        for (const struct event *ev = b.rec; ev < b.rec + b.records; ev += event_records(ev))
            take(h, ev, line);
    if (e.code)
        die("%s", e.text);
    source_close(s);
}

static void free_hand(struct by_hand *h)
{
    free(h->all.at);
    free(h->inside.at);
    map_free(&h->bytes);
}

/* ---- random traces and machines ------------------------------------------------------------- */

struct drawn {
    char source[600], machine[900];
    uint64_t line;
    bool recorded;
};

static unsigned below(struct rng *r, unsigned n)
{
    return (unsigned)rng_below(r, n);
}

/* Threads that have a bit in a line's word, and threads that have none. */
static unsigned draw_threads(struct rng *r)
{
    return below(r, 4) ? 2 + below(r, 12) : FOOTPRINT_BITS - 2 + below(r, 20);
}

static void draw_source(struct drawn *d, struct rng *r)
{
    const unsigned threads = draw_threads(r);

    snprintf(
        d->source, sizeof d->source,
        "synth:seed=%u,events=%u,threads=%u,kernel_threads=%u,stride=%u,sizes=1,4,16,unaligned="
        "200,variables=%u,fields=%u,sharing=%u,heap_share=%u,gc_share=%u,allocs=%s,end_share=%u,"
        "ends=on,granularity=8,privates=%u",
        1 + below(r, 1u << 30), 100 + below(r, 1500), threads, below(r, 2) * (1 + below(r, 4)),
        8u << below(r, 4), 1 + below(r, 300), 1 + below(r, 5), below(r, 1000),
        below(r, 2) * below(r, 200), below(r, 200), below(r, 3) ? "on" : "off", below(r, 30),
        1 + below(r, 200));
}

static void draw_machine(struct drawn *d, struct rng *r)
{
    static const char *const policies[] = {"none", "vc", "fasttrack", "lard-runtime"};
    static const char *const mapping[] = {"identity", "first-touch"};
    const bool buffers = below(r, 3) == 0;

    d->line = 16u << below(r, 6);
    d->recorded = below(r, 2);
    snprintf(d->machine, sizeof d->machine,
             "machine=multicore policies=%s line=%" PRIu64
             " pages.size=%u pages.mapping=%s cores=%u "
             "schedule.threads=round-robin schedule.quantum=%u schedule.switch=10 order=%s "
             "core.store-buffer=%u core.misses=%u l1.size=%u l1.ways=2 l2.size=%u l2.ways=4 "
             "l3.size=1Mi l3.ways=8 trace.rules=%s granularity=8",
             policies[below(r, 4)], d->line, 1024u << below(r, 4), mapping[below(r, 2)],
             1 + below(r, 6), 100 + below(r, 3000), d->recorded ? "recorded" : "timed",
             !d->recorded && buffers ? 1 + below(r, 8) : 0,
             !d->recorded && buffers ? below(r, 4) : 0, (unsigned)d->line * 4 << below(r, 4),
             (unsigned)d->line * 256 << below(r, 2), below(r, 2) ? "on" : "off");
}

/* ---- the two ------------------------------------------------------------------------------- */

struct seed {
    uint64_t number;
    const struct drawn *d;
    unsigned bad;
};

static void same(struct seed *s, const struct lardsim *l, const char *name, uint64_t want)
{
    uint64_t is = 0;

    if (!lardsim_stat(l, name, &is) && is == want)
        return;
    printf("seed %" PRIu64 ": %s is %" PRIu64 ", by hand %" PRIu64 "\n", s->number, name, is, want);
    if (!s->bad++)
        printf("  %s\n  %s\n", s->d->machine, s->d->source);
}

static void same_lines(struct seed *s, const struct lardsim *l, const struct counted *c)
{
    same(s, l, "footprint.lines", c->lines);
    same(s, l, "footprint.shared", c->shared);
    same(s, l, "footprint.by-thread.count", c->threads);
    same(s, l, "footprint.by-thread.sum", c->sum);
    same(s, l, "footprint.by-thread.min", c->least);
    same(s, l, "footprint.by-thread.max", c->most);
}

static void same_region(struct seed *s, const struct lardsim *l, const struct counted *c)
{
    uint64_t value;

    if (lardsim_stat(l, "roi.footprint.lines", &value))
        return; /* there was none */
    same(s, l, "roi.footprint.lines", c->lines);
    same(s, l, "roi.footprint.shared", c->shared);
    same(s, l, "roi.footprint.by-thread.count", c->threads);
    same(s, l, "roi.footprint.by-thread.sum", c->sum);
}

static void set_all(struct lardsim *l, const char *settings)
{
    char one[200];
    int used;

    for (; sscanf(settings, " %199s%n", one, &used) == 1; settings += used)
        lardsim_set(l, one);
}

struct seen { /* that the cases are worth something */
    uint64_t shared, regions, live, none;
};

static bool seed_holds(uint64_t number, struct seen *seen)
{
    struct drawn d;
    struct by_hand h = {.live = 0};
    struct seed s = {.number = number, .d = &d};
    struct lardsim *l = lardsim_new();
    struct rng r;

    rng_seed(&r, number);
    draw_source(&d, &r);
    draw_machine(&d, &r);
    by_hand(&h, d.source, d.line);
    set_all(l, d.machine);
    lardsim_start(l);
    lardsim_run(l, d.source);
    lardsim_finish(l);
    if (lardsim_error(l)) {
        printf("seed %" PRIu64 ": %s\n  %s\n  %s\n", number, lardsim_error(l), d.machine, d.source);
        s.bad++;
    } else {
        const struct counted all = count(&h.all), inside = count(&h.inside);
        same_lines(&s, l, &all);
        same(&s, l, "footprint.peak-live", h.peak);
        if (d.recorded)
            same_region(&s, l, &inside);
        seen->shared += all.shared > 0;
        seen->regions += d.recorded && inside.lines && inside.lines < all.lines;
        seen->live += h.peak > 0;
        seen->none += h.peak == 0;
    }
    lardsim_free(l);
    free_hand(&h);
    return !s.bad;
}

/* Four threads that have no bit, one after the other and again, then one that has one: a line,
 * which two or more have touched since the second. */
static bool threads_without_a_bit_count_once(void)
{
    static const sim_tid tid[] = {
        FOOTPRINT_BITS, FOOTPRINT_BITS + 1, FOOTPRINT_BITS, FOOTPRINT_BITS + 2, 60000, 3};
    static const uint64_t shared[] = {0, 1, 1, 1, 1, 1};
    const struct pages_params params = {PAGES_FIRST_TOUCH, 4096, 1 << 20, 1};
    struct footprint f = {.line_shift = 0};
    struct stats *stats = stats_new();
    struct pages pages;
    struct err e = {0};
    bool holds = true;

    if (pages_init(&pages, &params, stats_root(stats), &e))
        die("%s", e.text);
    pages_count_lines(&pages, 64, footprint_nobody);
    footprint_init(&f, 64, stats_root(stats));
    for (size_t i = 0; i < ARRAY_SIZE(tid); i++) {
        footprint_touch(&f, tid[i], pages_near(&pages, 7), 640);
        if (f.run.lines == 1 && f.run.in_two == shared[i])
            continue;
        printf("a line after touch %zu: %" PRIu64 " lines, %" PRIu64 " of two threads or more\n",
               i + 1, f.run.lines, f.run.in_two);
        holds = false;
    }
    footprint_settle(&f);
    if (f.run.by_thread.count != 5 || f.run.by_thread.sum != 5) {
        printf("five threads touched a line each: %" PRIu64 " touched %" PRIu64 "\n",
               f.run.by_thread.count, f.run.by_thread.sum);
        holds = false;
    }
    footprint_free(&f);
    pages_free(&pages);
    stats_free(stats);
    return holds;
}

int main(int argc, char **argv)
{
    const struct seeds cases = seeds_arg(argc, argv, 120, NULL);
    struct seen seen = {0};
    uint64_t bad = !threads_without_a_bit_count_once();

    for (uint64_t seed = cases.first; seed - cases.first < cases.n; seed++)
        bad += !seed_holds(seed, &seen);
    printf("%" PRIu64 " runs from seed %" PRIu64 ": %" PRIu64 " with shared lines, %" PRIu64
           " with regions, %" PRIu64 " with allocations and %" PRIu64 " without; %" PRIu64
           " fail\n",
           cases.n, cases.first, seen.shared, seen.regions, seen.live, seen.none, bad);
    return bad || !seen.shared || !seen.regions || !seen.live || !seen.none;
}
