/* t_dramsim3.c - the adapter to DRAMSim3: cycles by hand, whose answer is whose, what it refuses
 * before the library would end the process. Skipped where lardsim is built without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "memory/memory.h"

#ifndef HAVE_DRAMSIM3
#include <stdio.h>

int main(void)
{
    puts("this lardsim was built without DRAMSim3 (configure --with-dramsim3=DIR)");
    return 77;
}
#else
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

struct rig {
    struct config *config;
    struct stats *stats;
    struct memory m;
    struct err e;
};

/* At 4000 MHz a memory cycle of tests/data/ddr4_small.ini is 3.332 processor cycles. */
enum { MHZ = 4000, LINE = 64, MEMORY = 512 << 20 };

static void set(struct rig *r, const char *key, const char *value)
{
    char text[PATH_MAX + 100];

    snprintf(text, sizeof text, "memory.dramsim3.%s=%s", key, value);
    assert_int_equal(config_set(r->config, text, &r->e), 0);
}

static struct rig rig_new(const char *ini)
{
    struct rig r = {.config = config_new(NULL), .stats = stats_new()};

    if (ini)
        set(&r, "config", ini);
    return r;
}

static int rig_open_as(struct rig *r, const char *type, uint64_t mhz, unsigned line)
{
    const struct memory_env env = {.stats = stats_group(stats_root(r->stats), "memory"),
                                   .mhz = mhz,
                                   .line = line,
                                   .contention = true};

    size_t i = 0;

    while (strcmp(memory_types[i]->name, type) != 0)
        i++;
    return memory_open(&r->m, memory_types[i], r->config, &env, &r->e);
}

static int rig_open(struct rig *r, unsigned line)
{
    return rig_open_as(r, "dramsim3", MHZ, line);
}

static void rig_free(struct rig *r)
{
    memory_close(&r->m);
    stats_free(r->stats);
    config_free(r->config);
}

static const char *small(void)
{
    static char path[PATH_MAX];
    const char *top = getenv("top_srcdir");

    snprintf(path, sizeof path, "%s/tests/data/ddr4_small.ini", top ? top : ".");
    return path;
}

static struct rig opened(const char *ini)
{
    struct rig r = rig_new(ini);

    if (rig_open(&r, LINE))
        fail_msg("%s", r.e.text);
    return r;
}

static void ask(struct rig *r, sim_cycle at, sim_addr addr, bool write, uint64_t id)
{
    const struct mem_request q = {.addr = addr, .id = id, .at = at, .write = write};

    assert_true(r->m.type->request(r->m.self, &q) == CYCLE_NEVER);
}

static bool step(struct rig *r, sim_cycle until, struct mem_answer *to)
{
    return r->m.type->step(r->m.self, until, to);
}

static sim_cycle answer_to(struct rig *r, uint64_t id)
{
    struct mem_answer a;

    assert_true(step(r, CYCLE_NEVER, &a));
    assert_int_equal(a.id, id);
    return a.at;
}

static uint64_t count(const struct rig *r, const char *name)
{
    char full[64];
    uint64_t value = 0;

    snprintf(full, sizeof full, "memory.%s", name);
    assert_true(stats_value(r->stats, full, &value));
    return value;
}

static void close_after(struct rig *r, sim_cycle end)
{
    r->m.type->finish(r->m.self, end);
    if (stats_check(r->stats, &r->e))
        fail_msg("%s", r->e.text);
    rig_free(r);
}

/* ---- time ----------------------------------------------------------------------------------- */

/* A request of cycle 0 is taken in at memory cycle 1 and is a command one later: ACT, tRCD, CL and
 * half a burst make 39 memory cycles; 40 x 3.332 = 133.28. */
static void a_read_of_a_closed_and_of_an_open_row_take_what_the_standard_says(void **state)
{
    (void)state;
    struct rig r = opened(small());

    ask(&r, 0, 0, false, 7);
    assert_int_equal(answer_to(&r, 7), 134);
    /* 1000 / 3.332 = 300.1; (301 + 1 + 17 + 4) x 3.332 = 1076.2 */
    ask(&r, 1000, 64, false, 8);
    assert_int_equal(answer_to(&r, 8), 1077);
    assert_int_equal(count(&r, "cycles"), 324);
    close_after(&r, 1077);
}

/* Cycle 833 is where memory cycle 250 begins. */
static void a_request_at_an_edge_is_taken_in_at_the_next(void **state)
{
    (void)state;
    const sim_cycle at[] = {832, 833, 834}, done[] = {967, 970, 970}; /* 289 and 290 + 1 cycles */

    for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
        struct rig r = opened(small());
        ask(&r, at[i], 0, false, 1);
        const sim_cycle got = answer_to(&r, 1);
        assert_in_range(got, done[i] - 4, done[i]);
        assert_int_equal(got, ((at[i] * 250 / 833 + 1 + 39) * 833 + 249) / 250);
        close_after(&r, got);
    }
}

static void a_step_stops_at_its_limit_and_not_a_cycle_before_an_answer(void **state)
{
    (void)state;
    struct rig r = opened(small());
    struct mem_answer a;

    assert_true(r.m.type->next(r.m.self) == CYCLE_NEVER);
    assert_false(step(&r, CYCLE_NEVER, &a));
    ask(&r, 0, 0, false, 1);
    for (sim_cycle until = 0; until < 134; until++) {
        assert_true(r.m.type->next(r.m.self) <= 134);
        assert_false(step(&r, until, &a));
    }
    assert_true(step(&r, 134, &a));
    assert_int_equal(a.at, 134);
    assert_true(r.m.type->next(r.m.self) == CYCLE_NEVER);
    assert_false(step(&r, CYCLE_NEVER, &a));
    close_after(&r, 134);
}

static void idle_time_is_worked_through(void **state)
{
    (void)state;
    struct rig r = opened(small());
    struct mem_answer a;

    ask(&r, 0, 0, false, 1);
    answer_to(&r, 1);
    assert_false(step(&r, 1000000, &a));
    assert_int_equal(count(&r, "cycles"), 300121); /* 0 .. 1000000 / 3.332 */
    ask(&r, 1000000, 0, false, 2);
    const sim_cycle at = answer_to(&r, 2); /* refreshes have closed its row; one may be going on */
    assert_in_range(at, 1000000 + 39 * 10 / 3, 1000000 + (39 + 420 + 17) * 10 / 3 + 10);
    ask(&r, 3000000, 0, false, 3); /* of the future: next says when it can be at the earliest */
    assert_in_range(r.m.type->next(r.m.self), 3000000, 3000010);
    assert_in_range(answer_to(&r, 3), 3000000 + 39 * 10 / 3, 3001600);
    close_after(&r, 4000000);
}

/* ---- whose answer it is --------------------------------------------------------------------- */

static void two_reads_of_one_line_are_answered_in_order(void **state)
{
    (void)state;
    struct rig r = opened(small());

    ask(&r, 0, 128, false, 1);
    ask(&r, 0, 160, false, 2); /* the same line */
    ask(&r, 50, 128, false, 3);
    assert_int_equal(answer_to(&r, 1), 134);
    assert_int_equal(answer_to(&r, 2), 134);
    assert_int_equal(answer_to(&r, 3), 134);
    close_after(&r, 134);
}

static void a_read_behind_a_write_is_answered_from_the_queue(void **state)
{
    (void)state;
    struct rig r = opened(small());

    ask(&r, 0, 128, true, 0);
    ask(&r, 0, 128, false, 1);
    ask(&r, 0, 1 << 20, false, 2);
    assert_int_equal(answer_to(&r, 1), 7); /* cycle 2 */
    assert_int_equal(answer_to(&r, 2), 134);
    assert_int_equal(count(&r, "reads"), 2);
    assert_int_equal(count(&r, "writes"), 1);
    close_after(&r, 134);
}

static void a_read_behind_a_write_behind_a_read_has_its_own_answer(void **state)
{
    (void)state;
    struct rig r = opened(small());

    ask(&r, 0, 128, false, 1);
    ask(&r, 0, 128, true, 0);
    ask(&r, 0, 128, false, 2);
    ask(&r, 0, 128, true, 0);
    ask(&r, 200, 128, false, 3); /* the write is inside by then; 61 + 1 cycles x 3.332 */
    assert_int_equal(answer_to(&r, 2), 7);
    assert_int_equal(answer_to(&r, 1), 134);
    assert_int_equal(answer_to(&r, 3), 207);
    close_after(&r, 207);
}

/* The writes that fill the queue are drained before the read, which the first of them waits for:
 * the library alone would stand still. */
static void a_full_queue_of_writes_behind_a_read_does_not_stop_it(void **state)
{
    (void)state;
    struct rig r = opened(small());

    ask(&r, 0, 0, false, 1);
    for (uint64_t i = 0; i < 100; i++)
        ask(&r, 0, i << 18, true, 0);
    for (uint64_t i = 0; i < 100; i++)
        ask(&r, 500, i << 18, false, i);
    struct mem_answer a;
    for (uint64_t i = 0; i < 101; i++)
        assert_true(step(&r, 1000000, &a));
    assert_true(count(&r, "stalls") > 0);
    close_after(&r, 1000000);
}

/* Two reads of a row, then one of another: ACT, RD, RD; PRE, ACT, RD. */
static void commands_and_row_hits_are_counted(void **state)
{
    (void)state;
    struct rig r = opened(small());

    ask(&r, 0, 0, false, 1);
    ask(&r, 0, 64, false, 2);
    answer_to(&r, 1);
    answer_to(&r, 2);
    ask(&r, 2000, 1 << 24, false, 3);
    answer_to(&r, 3);
    assert_int_equal(count(&r, "row-hits"), 1);
    assert_int_equal(count(&r, "column-reads"), 3);
    assert_int_equal(count(&r, "column-writes"), 0);
    assert_int_equal(count(&r, "activates"), 2);
    assert_int_equal(count(&r, "stalls"), 0);
    close_after(&r, 3000);
}

enum { REQUESTS = 3000 };
struct script {
    struct mem_request q[REQUESTS];
    sim_cycle done[REQUESTS];
};

/* Few lines among many, bursts among pauses, so that lines meet and queues fill. */
static struct script *script_new(uint64_t seed)
{
    struct script *s = xcalloc(1, sizeof *s);
    struct rng rng;
    sim_cycle at = 0;

    rng_seed(&rng, seed);
    for (size_t i = 0; i < REQUESTS; i++) {
        at += rng_chance(&rng, 1, 100) ? rng_below(&rng, 4000) : rng_below(&rng, 6);
        const sim_addr line =
            rng_chance(&rng, 1, 4) ? rng_below(&rng, 16) : rng_below(&rng, MEMORY / LINE);
        s->q[i] = (struct mem_request){.addr = line * LINE,
                                       .id = i,
                                       .at = at,
                                       .write = rng_chance(&rng, 1, 3),
                                       .traffic = TRAFFIC_DATA};
    }
    return s;
}

static void note_answer(struct script *s, const struct mem_answer *a, sim_cycle *last)
{
    assert_in_range(a->id, 0, REQUESTS - 1);
    assert_false(s->q[a->id].write);
    assert_int_equal(s->done[a->id], 0);
    assert_true(a->at > s->q[a->id].at);
    assert_true(a->at >= *last);
    *last = s->done[a->id] = a->at;
}

/* Presents each request when the memory has been run to it. */
static void play(struct rig *r, struct script *s)
{
    struct mem_answer a;
    sim_cycle last = 0;

    for (size_t i = 0; i < REQUESTS; i++) {
        const sim_cycle bound = r->m.type->next(r->m.self);
        while (step(r, s->q[i].at, &a)) {
            assert_true(a.at >= bound && a.at <= s->q[i].at);
            note_answer(s, &a, &last);
        }
        r->m.type->request(r->m.self, &s->q[i]);
    }
    while (step(r, CYCLE_NEVER, &a))
        note_answer(s, &a, &last);
    for (size_t i = 0; i < REQUESTS; i++)
        assert_true(s->q[i].write == !s->done[i]);
}

static void every_read_is_answered_once_and_the_same_in_every_run(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct script *one = script_new(seed), *two = script_new(seed);
        struct rig r = opened(small());
        play(&r, one);
        assert_int_equal(count(&r, "reads") + count(&r, "writes"), REQUESTS);
        assert_int_equal(count(&r, "reads-waiting"), 0);
        assert_true(count(&r, "queue-full") > 0);
        close_after(&r, 0);
        r = opened(small());
        play(&r, two);
        close_after(&r, 0);
        assert_memory_equal(one->done, two->done, sizeof one->done);
        free(one);
        free(two);
    }
}

/* Where some are presented long before their time, in any order. */
static void the_order_of_presentation_does_not_matter(void **state)
{
    (void)state;
    struct script *one = script_new(9), *two = script_new(9);
    struct rig r = opened(small());
    struct mem_answer a;
    sim_cycle last = 0;

    for (size_t i = 1; i < REQUESTS; i++) /* no two at once: those are served as presented */
        one->q[i].at = two->q[i].at =
            one->q[i].at > one->q[i - 1].at ? one->q[i].at : one->q[i - 1].at + 1;
    play(&r, one);
    close_after(&r, 0);
    r = opened(small());
    for (size_t i = 0; i < REQUESTS; i++)
        r.m.type->request(r.m.self, &two->q[i * 7 % REQUESTS]); /* 7 is no factor of it */
    while (step(&r, CYCLE_NEVER, &a))
        note_answer(two, &a, &last);
    close_after(&r, 0);
    assert_memory_equal(one->done, two->done, sizeof one->done);
    free(one);
    free(two);
}

/* ---- the built-in model --------------------------------------------------------------------- */

/* A device and a processor: a memory cycle takes so many of its cycles. Where these are small
 * numbers the edges of the two clocks meet all the time. (No decimal tCK has a 3 below the line.)
 * Devices of open pages whose ranks are refreshed in turn: others are not alike, see
 * docs/machine.md. */
static const struct machine {
    const char *ini;
    uint64_t mhz;
} machines[] = {
    {"ddr4_small.ini", 4000}, /* 833:250 */
    {"ddr4_small.ini", 1000}, /* 833:1000 */
    {"ddr/stack.ini", 1000},  /* 1:1, four channels */
    {"ddr/stack.ini", 2000},  /* 2:1 */
    {"ddr/stack.ini", 500},   /* 1:2 */
    {"ddr/stack.ini", 250},   /* 1:4 */
    {"ddr/stack.ini", 1500},  /* 3:2 */
    {"ddr/stack.ini", 600},   /* 3:5 */
    {"ddr/stack.ini", 333},   /* 333:1000 */
    {"ddr/wide.ini", 3200},   /* 3:1 */
    {"ddr/wide.ini", 1600},   /* 3:2 */
    {"ddr/wide.ini", 4000},   /* 15:4 */
    {"ddr/wide.ini", 400},    /* 3:8 */
    {"ddr/wide.ini", 3333},   /* 9999:3200 */
};
#define BEYOND (UINT64_C(1) << 50)
static const char *const models[] = {"dramsim3", "ddr"};

static struct rig opened_in(const struct machine *m, const char *model)
{
    const char *top = getenv("top_srcdir");
    struct rig r = {.config = config_new(NULL), .stats = stats_new()};
    char *config = xasprintf("memory.%s.config=%s/tests/data/%s", model, top ? top : ".", m->ini);

    assert_int_equal(config_set(r.config, config, &r.e), 0);
    free(config);
    if (rig_open_as(&r, model, m->mhz, LINE))
        fail_msg("%s", r.e.text);
    return r;
}

static void counts_equal(const struct machine *m, const struct rig r[2])
{
    static const char *const names[] = {
        "reads",        "writes",    "row-hits",      "activates",  "precharges",
        "column-reads", "refreshes", "column-writes", "queue-full", "queue-full-cycles",
        "cycles"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (count(&r[0], names[i]) != count(&r[1], names[i]))
            fail_msg("%s at %llu MHz: %s are %llu of dramsim3 and %llu of ddr", m->ini,
                     (unsigned long long)m->mhz, names[i],
                     (unsigned long long)count(&r[0], names[i]),
                     (unsigned long long)count(&r[1], names[i]));
}

enum { MOST = 4 * REQUESTS };
struct tale { /* answers as they came */
    struct mem_answer a[MOST];
    size_t n;
};

static void tales_equal(const struct machine *m, const struct tale t[2])
{
    for (size_t i = 0; i < t[0].n && i < t[1].n; i++)
        if (t[0].a[i].id != t[1].a[i].id || t[0].a[i].at != t[1].a[i].at)
            fail_msg("%s at %llu MHz: answer %zu is of dramsim3 to %llu at %llu, of ddr to %llu at "
                     "%llu",
                     m->ini, (unsigned long long)m->mhz, i, (unsigned long long)t[0].a[i].id,
                     (unsigned long long)t[0].a[i].at, (unsigned long long)t[1].a[i].id,
                     (unsigned long long)t[1].a[i].at);
    assert_int_equal(t[0].n, t[1].n);
}

/* Lines that are used again while requests for them wait, in bursts, and lines beyond the device's
 * size, which are in the same places; the times are spread so far
 * that the device is loaded, and not overrun, at any frequency. */
static void make_bursts(struct script *s, const struct machine *m)
{
    for (size_t i = 0; i < REQUESTS; i++) {
        struct mem_request *q = &s->q[i];
        const sim_cycle burst = i / 100 * m->mhz;
        q->at = i % 100 > 0 && i % 100 < 50 ? q[-1].at : burst + q->at * m->mhz / MHZ;
        q->write = i % 100 == 0 ? false : i % 100 < 50 || q->write;
        if (q->write && i % 7 < 3 && i)
            q->addr = paddr_plus(q[-1].addr, i % 7 == 2 ? BEYOND : 0);
    }
}

static void hear_answers(struct rig *r, sim_cycle until, struct tale *t)
{
    while (t->n < MOST && step(r, until, &t->a[t->n]))
        t->n++;
}

/* Requests that come by themselves: what is answered, when, and in which order. */
static void the_built_in_model_is_the_same(void **state)
{
    struct tale *t = xcalloc(2, sizeof *t);
    uint64_t stalls = 0;

    (void)state;
    for (size_t m = 0; m < ARRAY_SIZE(machines); m++) {
        struct rig r[2];
        for (size_t k = 0; k < 2; k++) {
            struct script *s = script_new(m + 1);
            sim_cycle last = 0;
            r[k] = opened_in(&machines[m], models[k]);
            make_bursts(s, &machines[m]);
            t[k].n = 0;
            for (size_t i = 0; i < REQUESTS; i++) {
                last = s->q[i].at > last ? s->q[i].at : last;
                s->q[i].at = last;
                hear_answers(&r[k], last, &t[k]);
                r[k].m.type->request(r[k].m.self, &s->q[i]);
            }
            hear_answers(&r[k], CYCLE_NEVER, &t[k]);
            last = t[k].a[t[k].n - 1].at + 1000;
            hear_answers(&r[k], last, &t[k]);
            r[k].m.type->finish(r[k].m.self, last);
            free(s);
        }
        tales_equal(&machines[m], t);
        counts_equal(&machines[m], r);
        stalls += count(&r[0], "stalls");
        rig_free(&r[0]);
        rig_free(&r[1]);
    }
    assert_true(stalls > 0);
    free(t);
}

/* Of cores that ask again when they are answered, in that very cycle or a few later. A request that
 * is taken in a memory cycle sooner or later moves all that follow. */
static void ask_again(struct rig *r, uint64_t seed, struct tale *t)
{
    enum { ASKERS = 6 };
    struct rng g;
    uint64_t asked = 0;

    rng_seed(&g, seed);
    for (; asked < ASKERS; asked++)
        ask(r, 0, rng_below(&g, MEMORY / LINE) * LINE, false, asked);
    for (t->n = 0; t->n < REQUESTS; t->n++) {
        struct mem_answer *a = &t->a[t->n];
        const sim_addr near = (rng_below(&g, 4) << 22) + rng_below(&g, 64) * LINE;
        assert_true(step(r, CYCLE_NEVER, a));
        const sim_cycle at = a->at + (rng_chance(&g, 1, 2) ? 0 : rng_below(&g, 9));
        if (rng_chance(&g, 1, 4))
            ask(r, at, rng_chance(&g, 1, 2) ? near : near + (1 << 27), true, 0);
        if (rng_chance(&g, 1, 8))
            ask(r, at + 1, near + BEYOND, true, 0);
        ask(r, at, near, false, asked++);
    }
    for (size_t i = 0; i < ASKERS; i++, t->n++)
        assert_true(step(r, CYCLE_NEVER, &t->a[t->n]));
}

static void the_built_in_model_is_the_same_to_cores_that_wait(void **state)
{
    struct tale *t = xcalloc(2, sizeof *t);

    (void)state;
    for (size_t m = 0; m < ARRAY_SIZE(machines); m++) {
        struct rig r[2];
        for (size_t k = 0; k < 2; k++) {
            r[k] = opened_in(&machines[m], models[k]);
            ask_again(&r[k], m + 1, &t[k]);
            r[k].m.type->finish(r[k].m.self, t[k].a[t[k].n - 1].at);
        }
        tales_equal(&machines[m], t);
        counts_equal(&machines[m], r);
        rig_free(&r[0]);
        rig_free(&r[1]);
    }
    free(t);
}

/* Where DRAMSim3 leaves the standards and `ddr` does not: docs/machine.md has the table. */

static void refreshed(const char *ini, const char *model, uint64_t interval, uint64_t each)
{
    enum { INTERVALS = 50 };
    const struct machine m = {ini, 1000}; /* a cycle is a nanosecond, and tCK less than two */
    struct rig r = opened_in(&m, model);

    r.m.type->finish(r.m.self, 2 * INTERVALS * interval);
    const uint64_t cycles = count(&r, "cycles"), got = count(&r, "refreshes");
    const uint64_t wanted = (cycles - 1) / interval * each;
    if (got + each < wanted || got > wanted + each)
        fail_msg("%s: %llu refreshes in %llu cycles by %s, not about %llu", ini,
                 (unsigned long long)got, (unsigned long long)cycles, model,
                 (unsigned long long)wanted);
    rig_free(&r);
}

static void it_refreshes_less_than_the_standards_want(void **state)
{
    (void)state;
    refreshed("ddr/old.ini", "ddr", 5200, 4); /* all four ranks at once */
    refreshed("ddr/old.ini", "dramsim3", 5200, 1);
    refreshed("ddr/phone.ini", "ddr", 780, 2); /* each tREFIb a bank of each channel */
    /* The eight banks of a rank, tREFI apart, before the next rank's first. */
    refreshed("ddr/phone.ini", "dramsim3", 7 * 6246, 2 * 8);
}

static void two_at_once_do_not_disturb_each_other(void **state)
{
    (void)state;
    struct rig r = opened(small()), other = opened(small());

    ask(&other, 0, 64, false, 5);
    ask(&r, 0, 0, false, 7);
    assert_int_equal(answer_to(&r, 7), 134);
    ask(&r, 1000, 64, false, 8);
    assert_int_equal(answer_to(&other, 5), 134);
    assert_int_equal(answer_to(&r, 8), 1077);
    close_after(&other, 134);
    close_after(&r, 1077);
}

static void a_run_may_end_with_reads_on_their_way(void **state)
{
    (void)state;
    struct rig r = opened(small());

    for (uint64_t i = 0; i < 300; i++)
        ask(&r, i % 2 ? 0 : 5000, i << 16, i % 3 == 0, i);
    assert_int_equal(count(&r, "reads-waiting"), 200);
    close_after(&r, 1000);
}

/* ---- files ---------------------------------------------------------------------------------- */

static char folder[PATH_MAX]; /* a fresh one a test */

static int make_folder(void **state)
{
    const char *tmp = getenv("TMPDIR");

    (void)state;
    snprintf(folder, sizeof folder, "%s/t_dramsim3.XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static char *in_folder(const char *name)
{
    return xasprintf("%s/%s", folder, name);
}

static unsigned empty_folder(void)
{
    DIR *d = opendir(folder);
    unsigned n = 0;

    assert_non_null(d);
    for (struct dirent *f; (f = readdir(d));)
        if (f->d_name[0] != '.') {
            char *path = in_folder(f->d_name);
            n++;
            unlink(path);
            free(path);
        }
    closedir(d);
    return n;
}

static int remove_folder(void **state)
{
    (void)state;
    empty_folder();
    return rmdir(folder);
}

struct change { /* the first line that begins with `from`; to: NULL: left out */
    const char *from, *to;
};

static void put_line(FILE *out, const char *line, const struct change *c, size_t n, size_t *done)
{
    for (size_t i = 0; i < n; i++)
        if (c[i].from && !(*done >> i & 1) && !strncmp(line, c[i].from, strlen(c[i].from))) {
            *done |= (size_t)1 << i;
            if (c[i].to)
                fprintf(out, "%s\n", c[i].to);
            return;
        }
    fputs(line, out);
}

/* The small device with up to two changes. */
static char *changed(const struct change c[2])
{
    char line[200], *path = in_folder("changed.ini");
    FILE *in = fopen(small(), "r"), *out = fopen(path, "w");
    size_t done = 0;

    assert_true(in && out);
    while (fgets(line, sizeof line, in))
        put_line(out, line, c, 2, &done);
    assert_int_equal(done, c[1].from ? 3 : 1);
    fclose(in);
    fclose(out);
    return path;
}

static void refused(const char *ini, unsigned line, const char *output, int code, const char *why)
{
    struct rig r = rig_new(ini);

    if (output)
        set(&r, "output", output);
    assert_int_equal(rig_open(&r, line), -1);
    assert_int_equal(r.e.code, code);
    if (!strstr(r.e.text, why))
        fail_msg("'%s' does not say '%s'", r.e.text, why);
    rig_free(&r);
}

static void a_file_that_is_no_device_is_refused(void **state)
{
    (void)state;
    char *none = in_folder("none"), name[32], text[4096];
    int ends[2];

    refused(NULL, LINE, NULL, LARD_CONFIG, "memory.dramsim3.config: is not given");
    refused(none, LINE, NULL, LARD_CONFIG, "No such file");
    refused(folder, LINE, NULL, LARD_CONFIG, "can't be read");
    refused("/dev/null", LINE, NULL, LARD_CONFIG, "lacks");
    FILE *in = fopen(small(), "r");
    assert_non_null(in);
    const size_t n = fread(text, 1, sizeof text, in);
    fclose(in);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, n), (ssize_t)n);
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    refused(name, LINE, NULL, LARD_CONFIG, "can't be read twice");
    close(ends[0]);
    free(none);
}

static void a_device_that_it_would_misread_is_refused(void **state)
{
    (void)state;
    const struct {
        struct change c[2];
        const char *why;
    } each[] = {
        {{{"tRFC", NULL}}, "lacks tRFC"},
        {{{"tRFC", "tRFX = 420"}}, "no key 'tRFX'"},
        {{{"CL =", "CL = many"}}, "whole number"},
        {{{"protocol", "protocol = HMC"}}, "protocol"},
        {{{"protocol", "protocol = DDR9"}}, "protocol"},
        {{{"address_mapping", "address_mapping = rochrababgro"}}, "address_mapping"},
        {{{"queue_structure", "queue_structure = NONE"}}, "queue_structure"},
        {{{"rows", "rows = 512"}, {"channel_size", "channel_size = 128"}}, "counts in MiB"},
        {{{"channels", "channels = 3"}}, "power of two"},
        {{{"BL", "BL = 16"}}, "128 bytes a burst"},
        {{{"tCK", "tCK = 0"}}, "tCK"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
        char *ini = changed(each[i].c);
        refused(ini, LINE, NULL, LARD_CONFIG, each[i].why);
        free(ini);
    }
    refused(small(), 128, NULL, LARD_CONFIG, "64 bytes a burst (bus_width / 8 x BL)");
}

static void an_output_that_is_no_folder_is_refused(void **state)
{
    (void)state;
    char *none = in_folder("none");

    refused(small(), LINE, none, LARD_OUTPUT, "make that folder");
    refused(small(), LINE, small(), LARD_OUTPUT, "is not a folder");
    free(none);
}

/* Comments of either kind, small letters, leading zeros, the other name of tREFI. */
static void a_file_means_the_same_however_it_is_written(void **state)
{
    (void)state;
    const struct change each[][2] = {
        {{"protocol", "protocol = ddr4 # a comment"}},
        {{"CL =", "cl : 017;DRAMSim3 reads octal"}},
        {{"row_buf", "row_buf_policy = Open_Page"}},
        {{"refresh", "refresh_policy=rank_level_staggered"}},
        {{"queue", "queue_structure = per_bank#"}},
        {{"output_level", "output_level = 2"}, {"epoch_period", "epoch_period = 0"}},
    };
    struct script *plain = script_new(4);
    struct rig r = opened(small());

    play(&r, plain);
    close_after(&r, 0);
    for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
        struct script *s = script_new(4);
        char *ini = changed(each[i]);
        r = opened(ini);
        play(&r, s);
        close_after(&r, 0);
        assert_memory_equal(plain->done, s->done, sizeof s->done);
        free(ini);
        free(s);
    }
    free(plain);
}

static void it_writes_nothing_unless_a_folder_is_named(void **state)
{
    (void)state;
    char from[PATH_MAX], ini[PATH_MAX], *said = in_folder("said");

    assert_non_null(realpath(small(), ini));
    assert_non_null(getcwd(from, sizeof from));
    assert_int_equal(chdir(folder), 0);
    fflush(stdout);
    const int out = dup(1), file = open(said, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(dup2(file, 1), 1);
    struct rig r = opened(ini);
    ask(&r, 0, 0, false, 1);
    answer_to(&r, 1);
    close_after(&r, 100000);
    fflush(stdout);
    dup2(out, 1);
    struct stat s;
    assert_int_equal(fstat(file, &s), 0);
    assert_int_equal(s.st_size, 0);
    close(out);
    close(file);
    assert_int_equal(chdir(from), 0);
    assert_int_equal(empty_folder(), 1); /* said */
    free(said);
}

static void its_own_statistics_go_where_they_are_wanted(void **state)
{
    (void)state;
    char *json = in_folder("dramsim3.json"), text[20000];
    struct rig r = rig_new(small());

    set(&r, "output", folder);
    assert_int_equal(rig_open(&r, LINE), 0);
    for (uint64_t i = 0; i < 5; i++)
        ask(&r, 0, i * LINE, false, i);
    for (uint64_t i = 0; i < 5; i++)
        answer_to(&r, i);
    close_after(&r, 10000);
    FILE *f = fopen(json, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    assert_non_null(strstr(text, "\"num_reads_done\":5,"));
    assert_non_null(strstr(text, "\"num_read_row_hits\":4,"));
    assert_non_null(strstr(text, "\"num_cycles\":3002,")); /* 0 .. 10000 / 3.332 */
    free(json);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_of_a_closed_and_of_an_open_row_take_what_the_standard_says),
        cmocka_unit_test(a_request_at_an_edge_is_taken_in_at_the_next),
        cmocka_unit_test(a_step_stops_at_its_limit_and_not_a_cycle_before_an_answer),
        cmocka_unit_test(idle_time_is_worked_through),
        cmocka_unit_test(two_reads_of_one_line_are_answered_in_order),
        cmocka_unit_test(a_read_behind_a_write_is_answered_from_the_queue),
        cmocka_unit_test(a_read_behind_a_write_behind_a_read_has_its_own_answer),
        cmocka_unit_test(a_full_queue_of_writes_behind_a_read_does_not_stop_it),
        cmocka_unit_test(commands_and_row_hits_are_counted),
        cmocka_unit_test(every_read_is_answered_once_and_the_same_in_every_run),
        cmocka_unit_test(the_order_of_presentation_does_not_matter),
        cmocka_unit_test(the_built_in_model_is_the_same),
        cmocka_unit_test(the_built_in_model_is_the_same_to_cores_that_wait),
        cmocka_unit_test(it_refreshes_less_than_the_standards_want),
        cmocka_unit_test(two_at_once_do_not_disturb_each_other),
        cmocka_unit_test(a_run_may_end_with_reads_on_their_way),
        WITH_FOLDER(a_file_that_is_no_device_is_refused),
        WITH_FOLDER(a_device_that_it_would_misread_is_refused),
        WITH_FOLDER(an_output_that_is_no_folder_is_refused),
        WITH_FOLDER(a_file_means_the_same_however_it_is_written),
        WITH_FOLDER(it_writes_nothing_unless_a_folder_is_named),
        WITH_FOLDER(its_own_statistics_go_where_they_are_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
