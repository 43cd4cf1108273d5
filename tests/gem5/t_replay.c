/* t_replay.c - a live run on the real lardsim: are its races those of the replay of what it
 * recorded, does each core wait for what lardsim says was added to it, and are results kept after
 * an error? A random guest is played: threads that come and go, locks, barriers of all, memory that
 * moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gem5/guest/lard.h"
#include "gem5/live.h"
#include <lardsim.h>

enum { CORES = 4, LOCKS = 2, PERIOD = 625, STEPS = 4000 };

static bool mapped(void *arg, int context, uint64_t addr)
{
    return (void)arg, (void)context, addr < 0x100000;
}
static bool guest_read(void *arg, int context, uint64_t addr, void *to, size_t bytes)
{
    return (void)arg, (void)context, (void)addr, memset(to, 'n', bytes), true;
}
static uint64_t stack(void *arg, int context)
{
    return (void)arg, 0x80000 + (uint64_t)context * 0x10000;
}
static size_t symbol(void *arg, uint64_t addr, char *to, size_t size)
{
    return (void)arg, (size_t)snprintf(to, size, "at %llu", (unsigned long long)addr);
}

struct guest {
    struct live *live;
    uint64_t draw, tick[CORES], pid[CORES], next_pid, waited[CORES]; /* pid 0: the core is free */
    int holds[LOCKS];                                                /* a core; -1: nobody */
    uint64_t did;                                                    /* accesses, operations */
    bool delays;
};

static uint64_t draw(struct guest *g, uint64_t n)
{
    g->draw ^= g->draw << 13, g->draw ^= g->draw >> 7, g->draw ^= g->draw << 17;
    return (g->draw >> 11) % n;
}

static struct live_place place(struct guest *g, unsigned core)
{
    g->tick[core] += (1 + draw(g, 9)) * PERIOD;
    return (struct live_place){.pid = g->pid[core],
                               .pc = 1 + draw(g, 20),
                               .tick = g->tick[core],
                               .context = (int)core,
                               .core = core};
}

static void say(struct guest *g, unsigned core, unsigned op, uint64_t rsi, uint64_t rdx)
{
    const uint64_t arg[6] = {(uint64_t)LARD_MAGIC << 32 | op, rsi, rdx, 0, 0, 0};
    const struct live_place at = place(g, core);
    uint64_t answer = 0;

    live_op(g->live, &at, arg, &answer);
    g->did++;
}

static void touch(struct guest *g, unsigned core)
{
    const struct live_access a = {
        .at = place(g, core),
        .addr = draw(g, 8) ? 0x1000 + 8 * draw(g, 12) : 0x1ffff8 / 2 - 8 * draw(g, 4),
        .took = PERIOD * draw(g, 4),
        .size = draw(g, 2) ? 4 : 8,
        .is = (unsigned)draw(g, 3) + 1,
    };

    live_access(g->live, &a);
    g->did++;
    const uint64_t owed = live_owed(g->live, core);

    g->tick[core] += owed;
    g->waited[core] += owed;
}

static void lock(struct guest *g, unsigned core, unsigned which)
{
    if (g->holds[which] == -1) {
        g->holds[which] = (int)core;
        say(g, core, LARD_OP_ACQUIRE, 0x2000 + 8 * which, 0);
    } else if (g->holds[which] == (int)core) {
        g->holds[which] = -1;
        say(g, core, LARD_OP_RELEASE, 0x2000 + 8 * which, 0);
    }
}

static void thread(struct guest *g, unsigned core)
{
    const unsigned other = 1 + (unsigned)draw(g, CORES - 1);
    struct live_place at;

    if (other == core)
        return;
    if (!g->pid[other]) {
        at = place(g, core);
        live_clone(g->live, &at, g->pid[other] = g->next_pid++);
        g->did++;
        say(g, other, LARD_OP_SELF, 0x90000 + other, 0);
    } else if (core == 0) {
        for (unsigned i = 0; i < LOCKS; i++)
            if (g->holds[i] == (int)other)
                return;
        at = place(g, other);
        live_exit(g->live, &at);
        g->did++;
        say(g, core, LARD_OP_JOIN_HANDLE, 0x90000 + other, 0);
        g->pid[other] = 0;
    }
}

static void heap(struct guest *g, unsigned core)
{
    const uint64_t at = 0x3000 + 0x40 * draw(g, 4);

    say(g, core, LARD_OP_FREE, at, 0);
    say(g, core, LARD_OP_ALLOC, at, 0x40);
}

static void begin(struct guest *g)
{
    g->pid[0] = 100;
    g->next_pid = 101;
    for (unsigned i = 0; i < LOCKS; i++)
        g->holds[i] = -1;
}

static void go_on(struct guest *g, int steps)
{
    for (int step = 0; step < steps && !live_error(g->live); step++) {
        const unsigned core = (unsigned)draw(g, CORES);

        if (!g->pid[core])
            continue;
        switch (draw(g, 12)) {
        case 0:
            thread(g, core);
            break;
        case 1:
            heap(g, core);
            break;
        case 2:
        case 3:
            lock(g, core, (unsigned)draw(g, LOCKS));
            break;
        default:
            touch(g, core);
        }
    }
}

static void play(struct guest *g)
{
    begin(g);
    go_on(g, STEPS);
}

static void live_config(struct live_config *c, const char *const *setting, size_t n)
{
    *c = (struct live_config){.preset = "radish8",
                              .setting = setting,
                              .settings = n,
                              .period = PERIOD,
                              .ticks = 1000000000000,
                              .cores = CORES,
                              .delays = true};
}
static const struct live_host host = {NULL, mapped, guest_read, stack, symbol};

static uint64_t stat(const struct live *l, const char *name)
{
    uint64_t v = 0;

    if (live_stat(l, name, &v))
        fail_msg("%s is not known", name);
    return v;
}

static const char *const setting[] = {"policies=vc,lardish", "granularity=4"};

/* Both policies count so much live and in the replay of what was recorded. Returns it. */
static uint64_t same(const struct guest *g, uint64_t seed, const char *path, const char *order,
                     const char *what)
{
    struct lardsim *again = lardsim_new();
    uint64_t replayed = 0;

    lardsim_preset(again, "radish8");
    lardsim_set(again, "cores=4");
    lardsim_set(again, setting[0]);
    lardsim_set(again, setting[1]);
    lardsim_set(again, order);
    lardsim_start(again);
    lardsim_run(again, path);
    if (lardsim_finish(again))
        fail_msg("seed %llu, %s: the replay says: %s", (unsigned long long)seed, order,
                 lardsim_error(again));
    for (int policy = 0; policy < 2; policy++) {
        char name[64];

        snprintf(name, sizeof name, "policy.%s.%s", policy ? "lardish" : "vc", what);
        assert_int_equal(lardsim_stat(again, name, &replayed), 0);
        if (stat(g->live, name) != replayed)
            fail_msg("seed %llu, %s: %s is %llu live, and %llu in the replay",
                     (unsigned long long)seed, order, name, (unsigned long long)stat(g->live, name),
                     (unsigned long long)replayed);
    }
    lardsim_free(again);
    return replayed;
}

static void a_replay_finds_the_same(void **state)
{
    static const char *const what[] = {"races.accesses", "races.sites", "races.locations",
                                       "races.pairs"};
    char trace[] = "/tmp/t_replay.XXXXXX";
    struct live_config c;
    uint64_t races = 0;

    (void)state;
    assert_true(mkdtemp(trace) != NULL);
    char path[64];

    snprintf(path, sizeof path, "%s/r.trace", trace);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        live_config(&c, setting, 2);
        c.record = path;
        struct guest g = {.live = live_new(&c, &host), .draw = seed * 0x9e3779b97f4a7c15u};

        play(&g);
        live_finish(g.live);
        if (live_error(g.live))
            fail_msg("seed %llu: %s", (unsigned long long)seed, live_error(g.live));

        for (size_t i = 0; i < sizeof what / sizeof *what; i++)
            races += same(&g, seed, path, "order=recorded", what[i]);
        same(&g, seed, path, "order=timed", "races.locations");
        live_free(g.live);
        unlink(path);
    }
    rmdir(trace);
    assert_true(races > 100); /* else nothing was asked */
}

static void cores_wait_for_what_is_added(void **state)
{
    static const char *const fasttrack[] = {"policies=fasttrack"};
    struct live_config c;

    (void)state;
    live_config(&c, fasttrack, 1);
    struct guest g = {.live = live_new(&c, &host), .draw = 77};
    uint64_t all = 0;

    play(&g);
    for (unsigned i = 0; i < CORES; i++)
        if (g.pid[i])
            touch(&g, i); /* pays what operations have left */
    assert_null(live_error(g.live));
    for (unsigned i = 0; i < CORES; i++) {
        const uint64_t added = live_added(g.live, i), paid = live_paid(g.live, i);

        if (g.pid[i] && (added != paid || paid * PERIOD != g.waited[i]))
            fail_msg("core %u: %llu cycles were added, and it waited for %llu", i,
                     (unsigned long long)added, (unsigned long long)paid);
        all += added;
    }
    live_finish(g.live);
    assert_int_equal(all, stat(g.live, "host.added"));
    assert_true(all > 1000);
    assert_int_equal(stat(g.live, "host.behind"), 0);
    live_free(g.live);
}

static void keeps(unsigned op, uint64_t rsi, const char *why)
{
    static const char *const vc[] = {"policies=vc"};
    char dir[] = "/tmp/t_replay.XXXXXX", path[128];
    struct live_config c;

    assert_true(mkdtemp(dir) != NULL);
    live_config(&c, vc, 1);
    c.output = dir;
    struct guest g = {.live = live_new(&c, &host), .draw = 5, .pid = {100}};

    touch(&g, 0);
    say(&g, 0, op, rsi, 0);
    assert_non_null(strstr(live_error(g.live), why));
    assert_int_equal(live_finish(g.live), -1);
    snprintf(path, sizeof path, "%s/stats.json", dir);
    assert_int_equal(access(path, R_OK), 0);
    snprintf(path, sizeof path, "%s/DONE", dir);
    assert_int_not_equal(access(path, R_OK), 0);
    live_free(g.live);
    snprintf(path, sizeof path, "rm -r %s", dir);
    assert_int_equal(system(path), 0);
}

/* One of lardsim's, one of ours. */
static void an_error_keeps_partial_results(void **state)
{
    keeps(LARD_OP_RELEASE, 0x2000, "release-held");
    keeps(LARD_OPS, 0, "which this lardsim does not know");
    (void)state;
}

static uint64_t latest(const struct guest *g)
{
    uint64_t tick = 0;

    for (unsigned i = 0; i < CORES; i++)
        tick = g->tick[i] > tick ? g->tick[i] : tick;
    return tick;
}

static void switch_to(struct guest *g, const char *model)
{
    for (unsigned i = 0; i < CORES; i++)
        live_cpu(g->live, i, model, latest(g));
}

static bool file_says(const char *folder, const char *name, const char *what)
{
    char path[128], text[20000];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return strstr(text, what) != NULL;
}

/* Atomic, then O3, then Timing: the verdicts are those of the part on Atomic, as if the run had
 * ended there; the rest is counted; the results say so, and are whole. The guest is switched in the
 * midst of what it does: threads live, and hold locks. */
static void after_a_switch_to_a_cpu_that_is_not_heard_verdicts_stay(void **state)
{
    static const char *const what[] = {"events.total", "policy.vc.races.accesses",
                                       "policy.vc.checked", "policy.lardish.races.accesses",
                                       "host.added"};
    static const char *const models[] = {"gem5::AtomicSimpleCPU", "gem5::o3::CPU",
                                         "gem5::TimingSimpleCPU"};
    char dir[] = "/tmp/t_replay.XXXXXX", command[64];
    struct live_config c;
    uint64_t races = 0;

    (void)state;
    assert_true(mkdtemp(dir) != NULL);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        live_config(&c, setting, 2);
        c.delays = false; /* else time would go another way when nobody waits */
        c.output = dir;
        struct guest part = {.live = live_new(&c, &host), .draw = seed * 0x9e3779b97f4a7c15u};
        begin(&part);
        switch_to(&part, models[0]);
        go_on(&part, STEPS / 4);
        live_finish(part.live);
        assert_false(file_says(dir, "provenance.json", "\"caveat\""));

        struct guest g = {.live = live_new(&c, &host), .draw = seed * 0x9e3779b97f4a7c15u};
        begin(&g);
        switch_to(&g, models[0]);
        go_on(&g, STEPS / 4);
        const uint64_t heard = g.did;
        switch_to(&g, models[1]);
        go_on(&g, STEPS / 4);
        switch_to(&g, models[2]);
        go_on(&g, STEPS / 4);
        live_finish(g.live);
        if (live_error(g.live))
            fail_msg("seed %llu: %s", (unsigned long long)seed, live_error(g.live));
        for (size_t i = 0; i < sizeof what / sizeof *what; i++)
            if (stat(g.live, what[i]) != stat(part.live, what[i]))
                fail_msg("seed %llu: %s is %llu, and %llu when it was last heard",
                         (unsigned long long)seed, what[i],
                         (unsigned long long)stat(g.live, what[i]),
                         (unsigned long long)stat(part.live, what[i]));
        assert_int_equal(live_unheard(g.live), g.did - heard);
        assert_true(file_says(dir, "provenance.json", "core 0 was a gem5::o3::CPU"));
        assert_true(file_says(dir, "DONE", ""));
        races += stat(g.live, "policy.vc.races.accesses");
        live_free(part.live);
        live_free(g.live);
    }
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
    assert_true(races > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_finds_the_same),
        cmocka_unit_test(cores_wait_for_what_is_added),
        cmocka_unit_test(an_error_keeps_partial_results),
        cmocka_unit_test(after_a_switch_to_a_cpu_that_is_not_heard_verdicts_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
