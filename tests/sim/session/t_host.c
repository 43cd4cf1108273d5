/* t_host.c - a host that has the clock (order = host): does each event take the host's time and the
 * detector's, and nothing else; does the host get back what the detector adds; are verdicts those
 * of recorded order? A fake host has cores that take a fixed time for each event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sim/lardsim.h"
#include "sim/sim.h"
#include "trace/trace.h"

enum { CORES = 4 };
static const char synth[] = "synth:seed=9,events=4000,threads=4,variables=40,locks=3";

struct host { /* its clocks, and the detector in it */
    struct lardsim *l;
    bool delays;
    uint64_t clock[CORES], added[CORES];
    uint64_t races, mix;
};

static void on_race(void *arg, const struct lardsim_race *r)
{
    struct host *h = arg;

    h->races++;
    h->mix = h->mix * 31 + r->is.event + r->earlier.event * 7 + r->addr;
}

static void set(struct lardsim *l, const char *settings)
{
    char *text = xstrdup(settings);

    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        assert_int_equal(lardsim_set(l, word), 0);
    free(text);
}

/* The detector of a machine of 4 cores; then what else is set. */
static void begin(struct host *h, const char *settings)
{
    *h = (struct host){.l = lardsim_new(), .delays = !strstr(settings, "delays=off")};
    set(h->l, "machine=multicore cores=4 order=host granularity=4 layout=default");
    set(h->l, settings);
    lardsim_on_race(h->l, on_race, h);
}

static void start(struct host *h)
{
    if (lardsim_start(h->l))
        fail_msg("%s", lardsim_error(h->l));
}

static uint64_t stat(const struct lardsim *l, const char *name)
{
    uint64_t v = 0;

    if (lardsim_stat(l, name, &v))
        fail_msg("no statistic %s", name);
    return v;
}

static void finish(struct host *h)
{
    if (lardsim_finish(h->l))
        fail_msg("%s", lardsim_error(h->l));
}

/* The event takes the core `takes` cycles of the host's, and what the detector adds. */
static uint64_t push(struct host *h, unsigned core, uint64_t takes, const struct lardsim_event *ev)
{
    const struct lardsim_at at = {
        .cycle = h->clock[core] + takes, .core = core, .gap = ev->gap, .took = 1};
    uint64_t added = 77;

    if (lardsim_event_at(h->l, &at, ev, &added))
        fail_msg("%s", lardsim_error(h->l));
    h->clock[core] = at.cycle + (h->delays ? added : 0);
    h->added[core] += added;
    return added;
}

/* Thread t is on core t. */
static void push_source(struct host *h, const char *source)
{
    struct err e = {0};
    struct source *s = source_open(source, &e);
    struct batch b;

    assert_non_null(s);
    while (!source_next(s, &b, &e) && b.records)
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i])) {
            const struct lardsim_event ev = sim_event(&b.rec[i]);
            push(h, ev.thread % CORES, ev.gap + 3, &ev);
        }
    source_close(s);
}

static uint64_t sum(const uint64_t n[CORES])
{
    return n[0] + n[1] + n[2] + n[3];
}

/* ---- the host's clock is the clock ---------------------------------------------------------- */

static void without_a_detector_nothing_is_added(void **state)
{
    struct host h;
    uint64_t clock, added;

    (void)state;
    begin(&h, "policies=none");
    start(&h);
    push_source(&h, synth);
    for (unsigned i = 0; i < CORES; i++) {
        assert_int_equal(lardsim_cycles(h.l, i, &clock, &added), 0);
        assert_int_equal(clock, h.clock[i]);
        assert_int_equal(added, 0);
    }
    finish(&h);
    assert_int_equal(sum(h.added), 0);
    assert_int_equal(stat(h.l, "host.added"), 0);
    assert_int_equal(stat(h.l, "machine.spent.memory"), 0); /* the host has waited for it */
    assert_true(stat(h.l, "l1.misses") > 0);                /* and the caches are its caches */
    lardsim_free(h.l);
}

/* What the host was told is what its statistics have, and all that its clock is beside its own
 * time. */
static void what_is_added_is_what_the_host_is_told(void **state)
{
    static const char *const policies[] = {"vc",      "fasttrack", "radish",
                                           "lardish", "slimstate", "goldilocks"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        for (int delays = 0; delays < 2; delays++) {
            struct host h;
            char settings[100];
            uint64_t clock, added;
            snprintf(settings, sizeof settings, "policies=%s host.delays=%s", policies[i],
                     delays ? "on" : "off");
            begin(&h, settings);
            start(&h);
            push_source(&h, synth);
            for (unsigned k = 0; k < CORES; k++) {
                assert_int_equal(lardsim_cycles(h.l, k, &clock, &added), 0);
                assert_int_equal(added, h.added[k]);
                assert_int_equal(clock, h.clock[k] + (delays ? 0 : added));
            }
            finish(&h);
            assert_true(sum(h.added) > 0);
            assert_int_equal(stat(h.l, "host.added"), sum(h.added));
            assert_int_equal(stat(h.l, "machine.spent.handler") +
                                 stat(h.l, "machine.spent.stopped"),
                             sum(h.added));
            assert_int_equal(stat(h.l, "host.behind"), 0);
            lardsim_free(h.l);
        }
    }
}

static const struct lardsim_event write8 = {
    .kind = LARDSIM_WRITE, .addr = 0x10000, .size = 8, .thread = 0};

/* 100 cycles of a host that does not wait are over before the detector is done. */
static void a_host_that_is_early_is_counted(void **state)
{
    struct host h;
    uint64_t clock;

    (void)state;
    begin(&h, "policies=fasttrack");
    start(&h);
    struct lardsim_at at = {.cycle = 1000, .core = 2};
    uint64_t first, second;
    assert_int_equal(lardsim_event_at(h.l, &at, &write8, &first), 0);
    assert_true(first > 1);
    at.cycle++;
    assert_int_equal(lardsim_event_at(h.l, &at, &write8, &second), 0);
    assert_int_equal(lardsim_cycles(h.l, 2, &clock, NULL), 0);
    assert_int_equal(clock, 1000 + first + second);
    finish(&h);
    assert_int_equal(stat(h.l, "host.behind"), 1);
    assert_int_equal(stat(h.l, "cores.idle.2"), 1000); /* before its first event */
    lardsim_free(h.l);
}

/* RADISH looks its history up beside the access: what that takes beyond the access is added. The
 * first time its handler makes the history, which begins when the data are there. */
static void hardware_checks_beside_the_access(void **state)
{
    static const uint32_t took[] = {1, 31, 100000, 200000};
    uint64_t added[4], again;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct host h;
        begin(&h, "policies=radish");
        start(&h);
        struct lardsim_at at = {.cycle = 1000000, .took = took[i]};
        assert_int_equal(lardsim_event_at(h.l, &at, &write8, &added[i]), 0);
        at.cycle += added[i] + 5 + took[i];
        assert_int_equal(lardsim_event_at(h.l, &at, &write8, &again), 0);
        assert_int_equal(again, i ? 0 : again);
        finish(&h);
        lardsim_free(h.l);
    }
    assert_int_equal(added[1], added[0] - 30);
    assert_true(added[2] < added[1]);
    assert_int_equal(added[3], added[2]);
}

/* ---- verdicts ------------------------------------------------------------------------------- */

static void verdicts_are_those_of_recorded_order(void **state)
{
    static const char *const policies[] = {"vc", "fasttrack", "radish", "lardish", "goldilocks"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        struct host h, recorded;
        char settings[100];
        snprintf(settings, sizeof settings, "policies=%s", policies[i]);
        begin(&h, settings);
        start(&h);
        push_source(&h, synth);
        finish(&h);
        begin(&recorded, settings);
        set(recorded.l, "order=recorded");
        start(&recorded);
        assert_int_equal(lardsim_run(recorded.l, synth), 0);
        finish(&recorded);
        assert_true(h.races > 0);
        assert_int_equal(h.races, recorded.races);
        assert_int_equal(h.mix, recorded.mix);
        lardsim_free(h.l);
        lardsim_free(recorded.l);
    }
}

/* ---- stops ---------------------------------------------------------------------------------- */

/* With clocks of 4 bits each roll-over stops all others. Core 1 is told at its next event, and core
 * 3, which has no thread, never. */
static void a_stop_is_told_at_the_next_event(void **state)
{
    struct host h;
    const struct lardsim_event fork = {.kind = LARDSIM_FORK, .aux = 1};
    struct lardsim_event other = {.kind = LARDSIM_IO, .thread = 1},
                         lock = {.kind = LARDSIM_ACQUIRE, .addr = 0x9100},
                         unlock = {.kind = LARDSIM_RELEASE, .addr = 0x9100};
    (void)state;
    begin(&h, "policies=lardish policy.lardish.clock-bits=4");
    start(&h);
    push(&h, 0, 10, &fork);
    push(&h, 1, 20, &other);
    for (unsigned i = 0; i < 40; i++) {
        push(&h, 0, 10, &write8);
        push(&h, 0, 10, &lock);
        push(&h, 0, 10, &unlock);
    }
    h.clock[1] = h.clock[0]; /* it has run all the time */
    const uint64_t added = push(&h, 1, 10, &other);
    assert_int_equal(push(&h, 1, 10, &other), 0); /* once */
    finish(&h);
    assert_true(added > 0);
    assert_true(stat(h.l, "policy.lardish.roll-overs") > 1);
    assert_int_equal(stat(h.l, "cores.stopped.1"), added);
    assert_int_equal(added, stat(h.l, "policy.lardish.stopped"));
    assert_int_equal(stat(h.l, "cores.stopped.3"), 0);
    lardsim_free(h.l);
}

/* ---- regions -------------------------------------------------------------------------------- */

static void a_reset_forgets_what_regions_have_counted(void **state)
{
    const struct lardsim_event in = {.kind = LARDSIM_ROI_BEGIN}, out = {.kind = LARDSIM_ROI_END};
    struct host h;

    (void)state;
    begin(&h, "policies=none");
    start(&h);
    push(&h, 0, 5, &write8);
    push(&h, 0, 5, &in);
    push(&h, 0, 100, &write8);
    push(&h, 0, 100, &write8);
    assert_int_equal(lardsim_reset(h.l), 0);
    push(&h, 0, 40, &write8);
    push(&h, 0, 2, &out);
    push(&h, 0, 5, &write8);
    finish(&h);
    assert_int_equal(stat(h.l, "events.kind.write"), 5);
    assert_int_equal(stat(h.l, "roi.events.kind.write"), 1);
    assert_int_equal(stat(h.l, "machine.region-cycles"), 42);
    lardsim_free(h.l);
}

/* ---- bad input ------------------------------------------------------------------------------ */

static void refused(const char *settings, const struct lardsim_at *at, unsigned thread,
                    const char *what)
{
    struct host h;
    uint64_t added = 77;

    begin(&h, settings);
    if (!lardsim_start(h.l)) {
        assert_int_equal(lardsim_access_at(h.l, at, thread, LARDSIM_READ, 0x1000, 4, 0, 0, &added),
                         -1);
        assert_int_equal(added, 0);
    }
    if (!lardsim_error(h.l))
        fail_msg("%s: nothing is wrong with it", settings);
    if (!strstr(lardsim_error(h.l), what))
        fail_msg("%s: %s; nothing of %s", settings, lardsim_error(h.l), what);
    assert_int_equal(lardsim_finish(h.l), -1);
    lardsim_free(h.l);
}

static void what_makes_no_sense_is_said(void **state)
{
    const struct lardsim_at at = {.cycle = 5}, core = {.core = 4}, far = {.core = UINT32_MAX};

    (void)state;
    refused("policies=vc", &core, 0, "event 0: core 4: the machine has 4, numbered from 0");
    refused("policies=vc", &far, 0, "core 4294967295");
    refused("policies=vc", &at, 65536, "thread 65536: threads are numbered below");
    refused("machine=none", &at, 0, "order: host needs a machine");
    refused("order=recorded", &at, 0, "only order=host takes");
    refused("order=timed", &at, 0, "only order=host takes");
    refused("memory.type=ddr", &at, 0, "memory.type: ddr answers later");
    refused("contention=on", &at, 0, "contention: on");
    refused("core.type=pipelined", &at, 0, "core.type: pipelined");
    refused("host.delays=perhaps", &at, 0, "host.delays");
}

static void order_host_takes_no_other_events(void **state)
{
    struct host h;

    (void)state;
    begin(&h, "policies=vc");
    start(&h);
    assert_int_equal(lardsim_access(h.l, 0, LARDSIM_READ, 8, 8, 0, 0), -1);
    assert_non_null(strstr(lardsim_error(h.l), "lardsim_access_at"));
    lardsim_free(h.l);
    begin(&h, "policies=vc");
    start(&h);
    assert_int_equal(lardsim_run(h.l, synth), -1);
    assert_non_null(strstr(lardsim_error(h.l), "order: host"));
    lardsim_free(h.l);
    begin(&h, "policies=vc");
    assert_int_equal(lardsim_cycles(h.l, 0, NULL, NULL), -1); /* no machine yet */
    start(&h);
    assert_int_equal(lardsim_cycles(h.l, 0, NULL, NULL), 0);
    assert_int_equal(lardsim_cycles(h.l, CORES, NULL, NULL), -1);
    assert_null(lardsim_error(h.l));
    lardsim_free(h.l);
}

/* ---- the recorder --------------------------------------------------------------------------- */

/* Both find the same locations in any order, but only who remembers all accesses finds the same
 * accesses racy at each, and a wide one is told by the first place at which it races. */
#define RECORDED "policies=vc,all=vc policy.all.history=all"

struct found { /* where the policy `all` has told of races, once each */
    uint64_t at[400];
    size_t n;
    uint64_t locations; /* of vc */
};

static void note(void *arg, const struct lardsim_race *r)
{
    struct found *f = arg;

    if (strcmp(r->policy, "all") != 0)
        return;
    for (size_t i = 0; i < f->n; i++)
        if (f->at[i] == r->addr)
            return;
    assert_true(f->n < ARRAY_SIZE(f->at));
    f->at[f->n++] = r->addr;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void replay(const char *trace, const char *settings, struct host *same,
                   struct found *locations)
{
    begin(same, RECORDED);
    set(same->l, settings);
    if (locations)
        lardsim_on_race(same->l, note, locations);
    start(same);
    if (lardsim_run(same->l, trace))
        fail_msg("%s", lardsim_error(same->l));
    finish(same);
    if (locations)
        locations->locations = stat(same->l, "policy.vc.races.locations");
    lardsim_free(same->l);
    if (locations)
        qsort(locations->at, locations->n, sizeof locations->at[0], by_value);
}

/* Of one run: recorded twice, as a host that takes locations down can't take down the order. */
static void recorded(const char *path, const char *source)
{
    struct found live = {.n = 0}, later = {.n = 0};
    struct host h, again;

    for (int pass = 0; pass < 2; pass++) {
        begin(&h, RECORDED);
        if (pass)
            lardsim_on_race(h.l, note, &live);
        assert_int_equal(lardsim_record(h.l, path, pass), 0);
        start(&h);
        push_source(&h, source);
        assert_int_equal(lardsim_name(h.l, LARDSIM_NAME_THREAD, 1, "late"), 0);
        if (!pass)
            assert_int_equal(access(path, F_OK), -1); /* not before it is whole */
        finish(&h);
        live.locations = stat(h.l, "policy.vc.races.locations");
        if (!pass) {
            replay(path, "order=recorded", &again, NULL);
            assert_true(h.races > 0);
            assert_int_equal(again.races, h.races);
            assert_int_equal(again.mix, h.mix);
        }
        lardsim_free(h.l);
    }
    qsort(live.at, live.n, sizeof live.at[0], by_value);
    replay(path, "order=timed schedule.threads=round-robin", &again, &later);
    assert_int_equal(later.locations, live.locations);
    assert_int_equal(later.n, live.n);
    assert_memory_equal(later.at, live.at, live.n * sizeof live.at[0]);
}

static void a_recording_says_what_the_live_run_said(void **state)
{
    char dir[] = "/tmp/lardsim-host-XXXXXX", path[100];
    struct err e = {0};

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/live.lard", dir);
    for (unsigned seed = 1; seed <= 6; seed++) {
        char source[100];
        snprintf(source, sizeof source,
                 "synth:seed=%u,events=3000,threads=4,variables=40,locks=3,atomics=0", seed);
        recorded(path, source);
        struct source *s = source_open(path, &e);
        assert_non_null(s);
        assert_int_equal(s->granularity, 4); /* whoever runs it later has it from the trace */
        source_close(s);
        unlink(path);
    }
    rmdir(dir);
}

/* Also an empty one; none after an error; and not in place of a file that nobody gave up. */
static void a_recording_is_whole_or_not_there(void **state)
{
    char dir[] = "/tmp/lardsim-host-XXXXXX", path[100];
    struct host h;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/live.lard", dir);
    begin(&h, "policies=vc");
    assert_int_equal(lardsim_record(h.l, path, 0), 0);
    start(&h);
    push(&h, 0, 1, &write8);
    assert_int_equal(lardsim_sync(h.l, 0, LARDSIM_RELEASE, 8, 0, 0, 0), -1);
    assert_int_equal(lardsim_finish(h.l), -1);
    lardsim_free(h.l);
    assert_int_equal(access(path, F_OK), -1);

    begin(&h, "policies=vc");
    assert_int_equal(lardsim_record(h.l, path, 0), 0);
    start(&h);
    finish(&h);
    lardsim_free(h.l);
    assert_int_equal(access(path, F_OK), 0);

    begin(&h, "policies=vc");
    assert_int_equal(lardsim_record(h.l, path, 0), 0);
    start(&h);
    const struct lardsim_at at = {.cycle = 1};
    assert_int_equal(lardsim_event_at(h.l, &at, &write8, NULL), -1);
    assert_non_null(strstr(lardsim_error(h.l), path));
    lardsim_free(h.l);
    unlink(path);
    rmdir(dir);
}

/* ---- a host's event can be watched ----------------------------------------------------------- */

struct seen { /* lines that a watched run printed */
    size_t lines, turns, checks, charges, wrong_place;
    uint64_t charged; /* cycles of "charge" lines */
};

static void see_line(void *arg, const char *line)
{
    struct seen *s = arg;
    const char *cycles = strstr(line, " cycles=");

    s->lines++;
    s->turns += strstr(line, " turn ") != NULL;
    s->checks += strstr(line, " check ") != NULL;
    s->wrong_place += !strstr(line, " core=2 ") || !strstr(line, " event=1 ");
    if (strstr(line, " charge ") && cycles) {
        s->charges++;
        s->charged += strtoull(cycles + strlen(" cycles="), NULL, 10);
    }
}

/* Thread 0 writes on core 0, thread 1 on core 2; the second write is watched. */
static uint64_t two_writes(struct host *h, struct seen *seen)
{
    const struct lardsim_event first = {.kind = LARDSIM_WRITE, .addr = 0x1000, .size = 4};
    struct lardsim_event second = first;

    second.thread = 1;
    begin(h, "policies=fasttrack");
    if (seen)
        assert_int_equal(lardsim_debug(h->l, "event=1", see_line, seen), 0);
    start(h);
    push(h, 0, 10, &first);
    const uint64_t added = push(h, 2, 40, &second);
    finish(h);
    return added;
}

static void a_watched_event_shows_what_the_host_is_told(void **state)
{
    struct seen seen = {0};
    struct host watched, alone;

    (void)state;
    const uint64_t added = two_writes(&watched, &seen), unseen = two_writes(&alone, NULL);
    assert_int_equal(added, unseen);
    assert_int_equal(lardsim_digest(watched.l), lardsim_digest(alone.l));
    assert_int_equal(watched.races, 1);
    assert_int_equal(seen.turns, 1);
    assert_int_equal(seen.checks, 1);
    assert_int_equal(seen.wrong_place, 0);
    assert_true(added > 0);
    if (seen.charged != watched.clock[2])
        fail_msg("the charges of the event are %" PRIu64 " cycles in %zu lines; the core's clock "
                 "has gone to %" PRIu64,
                 seen.charged, seen.charges, watched.clock[2]);
    lardsim_free(watched.l);
    lardsim_free(alone.l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_detector_nothing_is_added),
        cmocka_unit_test(what_is_added_is_what_the_host_is_told),
        cmocka_unit_test(a_host_that_is_early_is_counted),
        cmocka_unit_test(hardware_checks_beside_the_access),
        cmocka_unit_test(verdicts_are_those_of_recorded_order),
        cmocka_unit_test(a_stop_is_told_at_the_next_event),
        cmocka_unit_test(a_watched_event_shows_what_the_host_is_told),
        cmocka_unit_test(a_reset_forgets_what_regions_have_counted),
        cmocka_unit_test(what_makes_no_sense_is_said),
        cmocka_unit_test(order_host_takes_no_other_events),
        cmocka_unit_test(a_recording_says_what_the_live_run_said),
        cmocka_unit_test(a_recording_is_whole_or_not_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
