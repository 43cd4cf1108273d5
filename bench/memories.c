/* memories.c - the memories ddr and dramsim3, and DRAMSim3 by itself (bare), with the same
 * open-loop requests, for the same .ini files and processors of several frequencies: mean read
 * latency, row hits, speed. Needs a lardsim that was built with DRAMSim3.
 *
 * Each request has its time beforehand, whatever the answers. Gaps and latencies are in memory
 * cycles; speed is memory cycles by second of processor time. Numbers of one machine say little:
 * compare rows of one run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "bench/bare.h"
#include "memory/ddr/ddr.h"
#include "trace/trace.h"

struct request {
    uint64_t cycle, line;
    bool write;
};
struct stream {
    struct request *q;
    size_t n, cap;
};
struct outcome {
    uint64_t reads, latency, cycles; /* latency: the sum, in processor cycles */
    uint64_t stalls;      /* times that the library was helped on; bare: it came to a stand */
    double hits, seconds; /* hits: part of the column commands */
};

/* ---- streams -------------------------------------------------------------------------------- */

enum { SPACE = 1 << 22 }; /* lines: 256 MiB where they have 64 bytes */

static void add(struct stream *s, uint64_t cycle, uint64_t line, bool write)
{
    s->q = xgrow(s->q, s->n, &s->cap, sizeof *s->q);
    s->q[s->n++] = (struct request){cycle, line, write};
}

static void make_random(struct stream *s, size_t n, uint64_t gap, struct rng *r)
{
    for (uint64_t at = 1; s->n < n; at += rng_below(r, 2 * gap + 1))
        add(s, at, rng_below(r, SPACE), rng_chance(r, 1, 3));
}

/* Sums of arrays: reads two, writes one; then others. */
static void make_stream(struct stream *s, size_t n, uint64_t gap, struct rng *r)
{
    enum { ARRAY = 4096 };
    uint64_t at = 1, base[3] = {0};

    for (uint64_t i = 0; s->n < n; i++) {
        for (size_t k = 0; k < 3; k++) {
            if (i % ARRAY == 0)
                base[k] = rng_below(r, SPACE - ARRAY);
            add(s, at, base[k] + i % ARRAY, k == 2);
            at += rng_below(r, 2 * gap + 1);
        }
    }
}

/* As programs have it: some walk through memory, some return, some jump; bursts and pauses. */
static void make_mixed(struct stream *s, size_t n, uint64_t gap, struct rng *r)
{
    uint64_t at = 1, walk[4];

    for (size_t i = 0; i < ARRAY_SIZE(walk); i++)
        walk[i] = rng_below(r, SPACE);
    while (s->n < n) {
        const uint64_t kind = rng_below(r, 16);
        uint64_t *w = &walk[kind % ARRAY_SIZE(walk)];
        if (kind < 10)
            *w = (*w + rng_below(r, 3)) % SPACE;
        add(s, at, kind < 10 ? *w : rng_below(r, kind < 13 ? 4096 : SPACE), rng_chance(r, 1, 3));
        at += rng_chance(r, 1, 64) ? rng_below(r, 64 * gap) : rng_below(r, gap + 1);
    }
}

/* ---- a recorded one: what misses a direct-mapped cache of 256 KiB --------------------------- */

enum { FILTER = 4096 };

static void filter(struct stream *s, const struct event *ev, uint64_t now, uint64_t *cache)
{
    const uint64_t line = ev->addr / 64, tag = line << 2 | 2;
    uint64_t *slot = &cache[line % FILTER];

    if ((*slot & ~UINT64_C(1)) != tag) {
        if (*slot & 1)
            add(s, now, *slot >> 2, true);
        add(s, now, line, false);
        *slot = tag;
    }
    *slot |= event_writes(ev);
}

enum { TRACE_GAP = 10 };

/* The times keep their proportions; the mean gap becomes TRACE_GAP. */
static void stretch(struct stream *s)
{
    const double scale = (double)(TRACE_GAP * s->n) / (double)(s->q[s->n - 1].cycle + 1);

    for (size_t i = 0; i < s->n; i++)
        s->q[i].cycle = 1 + (uint64_t)((double)s->q[i].cycle * scale);
}

static void read_trace(struct stream *s, const char *path, size_t n)
{
    struct err e = {0};
    struct source *source = source_open(path, &e);
    uint64_t *cache = xcalloc(FILTER, sizeof *cache), now = 0;
    struct batch b = {0};

    while (source && s->n < n && !source_next(source, &b, &e) && b.records)
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i])) {
            now += b.rec[i].gap + 1;
            if (event_is_access(&b.rec[i]))
                filter(s, &b.rec[i], now, cache);
        }
    if (source)
        source_close(source);
    free(cache);
    if (e.code || !s->n) {
        fprintf(stderr, "memories: %s\n", e.code ? e.text : "the trace has no accesses");
        exit(4);
    }
    stretch(s);
}

/* ---- one memory ----------------------------------------------------------------------------- */

/* A processor beside a device: a memory cycle is num / den of its cycles. */
struct clocks {
    uint64_t mhz, num, den;
};

static const struct {
    uint64_t num, den;
} ratios[] = {{100, 1}, {1, 1}, {2, 1}, {1, 2}, {3, 2}};

/* As near to that ratio as whole MHz allow. Where it is reached the edges of the clocks meet. */
static struct clocks clocks_of(const struct ddr_device *d, size_t ratio)
{
    const uint64_t unit = 1000000000, by = ratios[ratio].den * d->tck;
    const uint64_t mhz = (unit * ratios[ratio].num + by / 2) / by;

    return (struct clocks){mhz, d->tck * mhz, unit};
}

static struct ddr_device device_of(const char *ini)
{
    struct ddr_device d;
    struct err e = {0};
    FILE *f = fopen(ini, "r");

    if (!f) {
        perror(ini);
        exit(3);
    }
    if (ddr_read_ini(&d, ini, f, &e)) {
        fprintf(stderr, "memories: %s\n", e.text);
        exit(3);
    }
    fclose(f);
    return d;
}

/* The last processor cycle before a memory cycle. */
static sim_cycle before_cycle(uint64_t cycle, const struct clocks *c)
{
    return (cycle * c->num - 1) / c->den;
}

static void note(struct outcome *o, const struct stream *s, const struct mem_answer *a,
                 const struct clocks *c)
{
    o->reads++;
    o->latency += a->at - before_cycle(s->q[a->id].cycle, c);
}

static void drive(struct memory *m, const struct stream *s, const struct ddr_device *d,
                  const struct clocks *c, struct outcome *o)
{
    const clock_t began = clock();
    struct mem_answer a = {0};

    for (size_t i = 0; i < s->n; i++) {
        const struct mem_request r = {.addr = paddr_of(s->q[i].line * ddr_line_bytes(d)),
                                      .id = i,
                                      .at = before_cycle(s->q[i].cycle, c),
                                      .write = s->q[i].write};
        while (m->type->step(m->self, r.at, &a))
            note(o, s, &a, c);
        m->type->request(m->self, &r);
    }
    while (m->type->step(m->self, CYCLE_NEVER, &a))
        note(o, s, &a, c);
    m->type->finish(m->self, a.at);
    o->seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
}

static double hits_of(const struct stats *stats)
{
    uint64_t hits = 0, reads = 0, writes = 0;

    stats_value(stats, "memory.row-hits", &hits);
    stats_value(stats, "memory.column-reads", &reads);
    stats_value(stats, "memory.column-writes", &writes);
    return (double)hits / (double)(reads + writes);
}

static void set(struct config *c, const char *type, const char *key, const char *value,
                struct err *e)
{
    char *text = xasprintf("memory.%s.%s=%s", type, key, value);

    config_set(c, text, e);
    free(text);
}

static struct outcome run(const char *type, const char *ini, const struct ddr_device *d,
                          const struct clocks *c, const struct stream *s)
{
    struct config *config = config_new(NULL);
    struct stats *stats = stats_new();
    struct outcome o = {0};
    struct memory m;
    struct err e = {0};
    const struct memory_env env = {.stats = stats_group(stats_root(stats), "memory"),
                                   .mhz = c->mhz,
                                   .line = (unsigned)ddr_line_bytes(d),
                                   .contention = true};

    set(config, type, "config", ini, &e);
    if (e.code || memory_open(&m, type, config, &env, &e)) {
        fprintf(stderr, "memories: %s\n", e.text);
        exit(e.code);
    }
    drive(&m, s, d, c, &o);
    stats_value(stats, "memory.cycles", &o.cycles);
    stats_value(stats, "memory.stalls", &o.stalls);
    o.hits = hits_of(stats);
    memory_close(&m);
    stats_free(stats);
    config_free(config);
    return o;
}

#ifdef HAVE_DRAMSIM3
static struct outcome run_bare(const char *ini, const struct ddr_device *d, const struct clocks *c,
                               const struct stream *s, const char *folder)
{
    struct bare_request *q = xcalloc(s->n, sizeof *q);
    struct ddr_rules rules;

    ddr_rules_derive(&rules, d);
    for (size_t i = 0; i < s->n; i++) {
        const sim_cycle at = before_cycle(s->q[i].cycle, c);
        q[i] = (struct bare_request){at, at * c->den / c->num + 1, s->q[i].line * ddr_line_bytes(d),
                                     s->q[i].write};
    }
    const struct bare_device b = {ini,    folder, rules.channel.shift, rules.channel.mask,
                                  c->num, c->den};
    const struct bare_outcome o = bare_run(&b, q, s->n);
    free(q);
    return (struct outcome){.reads = o.reads,
                            .latency = o.latency,
                            .cycles = o.cycles,
                            .seconds = o.seconds,
                            .stalls = o.stalls};
}
#else
static struct outcome run_bare(const char *ini, const struct ddr_device *d, const struct clocks *c,
                               const struct stream *s, const char *folder)
{
    (void)ini, (void)d, (void)c, (void)s, (void)folder;
    return (struct outcome){.reads = 0};
}
#endif

/* ---- all three ------------------------------------------------------------------------------ */

struct bench {
    size_t requests;
    struct stream trace; /* empty: none */
    char folder[32];
    uint64_t seed[3];
    double latency, adapter, hits, speed; /* the worst so far */
    unsigned stalls;                      /* streams on which the library came to a stand */
};

static double mean(const struct outcome *o, const struct clocks *c) /* in memory cycles */
{
    const double cycle = (double)c->num / (double)c->den;

    return o->reads ? (double)o->latency / cycle / (double)o->reads : 0;
}

static double speed(const struct outcome *o)
{
    return (double)o->cycles / 1e6 / (o->seconds > 0 ? o->seconds : 1e-6);
}

static double size_of(double v)
{
    return v < 0 ? -v : v;
}

static void note_worst(double *worst, double v)
{
    if (size_of(v) > *worst)
        *worst = size_of(v);
}

/* Where the library alone comes to a stand, there is nothing to compare with but the adapter. */
static void compare_at(struct bench *b, const char *ini, const char *name, uint64_t gap,
                       const struct stream *s, size_t ratio)
{
    const struct ddr_device d = device_of(ini);
    const struct clocks c = clocks_of(&d, ratio);
    const struct outcome ours = run("ddr", ini, &d, &c, s);
    const struct outcome theirs = run("dramsim3", ini, &d, &c, s);
    const struct outcome bare = run_bare(ini, &d, &c, s, b->folder);
    const double to = mean(bare.stalls ? &theirs : &bare, &c);
    const double latency = 100 * (mean(&ours, &c) / to - 1);
    const double adapter = 100 * (mean(&theirs, &c) / to - 1);
    const double hits = 100 * (ours.hits - theirs.hits), times = speed(&ours) / speed(&theirs);

    printf("  %-7s %4llu %6llu  %9.2f %+7.2f %%  %9.2f %+7.2f %%  ", name, (unsigned long long)gap,
           (unsigned long long)c.mhz, mean(&ours, &c), latency, mean(&theirs, &c), adapter);
    if (bare.stalls)
        printf("%9s", "stalls");
    else
        printf("%9.2f", mean(&bare, &c));
    printf("  %6.2f %6.2f %+6.2f  %8.2f %8.2f %6.1f\n", 100 * ours.hits, 100 * theirs.hits, hits,
           speed(&ours), speed(&theirs), times);
    b->stalls += bare.stalls != 0;
    note_worst(&b->latency, latency);
    note_worst(&b->adapter, adapter);
    note_worst(&b->hits, hits);
    if (times < b->speed)
        b->speed = times;
}

static void compare(struct bench *b, const char *ini, const char *name, uint64_t gap,
                    const struct stream *s)
{
    for (size_t i = 0; i < ARRAY_SIZE(ratios); i++)
        compare_at(b, ini, name, gap, s, i);
}

typedef void maker(struct stream *s, size_t n, uint64_t gap, struct rng *r);
static const struct {
    const char *name;
    maker *make;
    uint64_t gap; /* the mean, in memory cycles, where a burst is eight */
} kinds[] = {
    {"random", make_random, 7}, {"random", make_random, 20}, {"random", make_random, 100},
    {"stream", make_stream, 8}, {"stream", make_stream, 20}, {"mixed", make_mixed, 4},
    {"mixed", make_mixed, 8},   {"mixed", make_mixed, 40},
};

static void compare_all(struct bench *b, const char *ini)
{
    const uint64_t burst = device_of(ini).bl;

    printf("%s\n", ini);
    for (size_t i = 0; i < ARRAY_SIZE(b->seed); i++)
        for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
            struct stream s = {0};
            struct rng r;
            const uint64_t gap = kinds[k].gap * burst / 8 + (burst < 8);
            rng_seed(&r, b->seed[i]);
            kinds[k].make(&s, b->requests, gap, &r);
            compare(b, ini, kinds[k].name, gap, &s);
            free(s.q);
        }
    if (b->trace.n)
        compare(b, ini, "trace", TRACE_GAP, &b->trace);
}

static void end_folder(const struct bench *b)
{
    const char *const name[] = {"dramsim3.json", "dramsim3.txt", "dramsim3epoch.json"};

    for (size_t i = 0; i < ARRAY_SIZE(name); i++) {
        char *path = xasprintf("%s/%s", b->folder, name[i]);
        unlink(path);
        free(path);
    }
    rmdir(b->folder);
}

static int usage(void)
{
    fputs("usage: memories [-n REQUESTS] [-s SEED] [-t TRACE] INI...\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct bench b = {.requests = 50000, .folder = "/tmp/lardsim-bench-XXXXXX", .speed = 1e9};

    if (getrandom(b.seed, sizeof b.seed, 0) != sizeof b.seed)
        return 1;
    for (size_t i = 0; i < ARRAY_SIZE(b.seed); i++)
        b.seed[i] >>= 32;
    const char *trace = NULL;
    for (int c; (c = getopt(argc, argv, "n:s:t:")) != -1;)
        if (c == 'n')
            b.requests = strtoull(optarg, NULL, 10);
        else if (c == 't')
            trace = optarg;
        else if (c == 's')
            for (size_t i = 0; i < ARRAY_SIZE(b.seed); i++)
                b.seed[i] = strtoull(optarg, NULL, 10) + i;
        else
            return usage();
    if (optind == argc || !b.requests)
        return usage();
#ifndef HAVE_DRAMSIM3
    fputs("memories: built without DRAMSim3; make with-dramsim3 DRAMSIM3=DIR\n", stderr);
    return 3;
#endif
    for (int i = optind; i < argc; i++)
        device_of(argv[i]);
    if (trace)
        read_trace(&b.trace, trace, b.requests);
    if (!mkdtemp(b.folder)) {
        perror(b.folder);
        return 7;
    }
    printf("%zu requests, seeds %llu %llu %llu\n", b.requests, (unsigned long long)b.seed[0],
           (unsigned long long)b.seed[1], (unsigned long long)b.seed[2]);
    printf("  %-7s %4s %6s  %9s %9s  %9s %9s  %9s  %6s %6s %6s  %8s %8s %6s\n", "", "gap", "MHz",
           "ddr", "", "dramsim3", "", "bare", "hits %", "", "points", "Mcycle/s", "", "times");
    for (int i = optind; i < argc; i++)
        compare_all(&b, argv[i]);
    printf(
        "latency: ddr at most %.2f %%, dramsim3 %.2f %% off the library alone; on %u streams that "
        "stalls\nrow hits: at most %.2f points apart; ddr is at least %.1f times as fast\n",
        b.latency, b.adapter, b.stalls, b.hits, b.speed);
    end_folder(&b);
    free(b.trace.q);
    return 0;
}
