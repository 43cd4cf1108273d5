/* t_ddr_legal.c - no command of the DDR model ever breaks a timing definition: random traffic on
 * every preset and on three description files, one of them chosen at random; the judge is
 * judge.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "tests/memory/ddr/judge.h"
#include "tests/memory/bench.h"

/* Phases of traffic: everywhere, a few rows, a stream, one bank; more and fewer writes; dense, and
 * with pauses. */
static sim_addr next_address(struct rng *r, unsigned phase, sim_addr last, unsigned line)
{
    switch (phase % 4) {
    case 0:
        return rng_below(r, 1 << 24) * line;
    case 1:
        return (rng_below(r, 4) << 22 | rng_below(r, 64)) * line;
    case 2:
        return last + line;
    default:
        return rng_below(r, 16) << 30 | rng_below(r, 8) * line;
    }
}

static uint64_t drive(struct bench *b, uint64_t seed, unsigned requests)
{
    struct rng r;
    sim_cycle at = 0;
    sim_addr addr = 0;
    struct mem_answer a;
    uint64_t reads = 0, answers = 0;

    rng_seed(&r, seed);
    for (unsigned i = 0; i < requests; i++) {
        const unsigned phase = i / 256;
        at += rng_below(&r, phase % 3 == 0 ? 20 : 60);
        if (rng_chance(&r, 1, 500))
            at += rng_below(&r, 100000);
        while (bench_step(b, at, &a))
            answers++;
        addr = next_address(&r, phase, addr, b->env.line);
        const struct mem_request q = {paddr_of(addr), i, at, rng_chance(&r, phase % 5, 6),
                                      TRAFFIC_DATA};
        b->memory.type->request(b->memory.self, &q);
        reads += !q.write;
    }
    while (bench_step(b, CYCLE_NEVER, &a)) {
        answers++;
        at = a.at;
    }
    bench_finish(b, at + 200000);
    assert_int_equal(answers, reads);
    return bench_stat(b, "cycles");
}

/* more: nothing, or that pages are closed. */
static void judge_device(const char *device, struct ddr_device is, const char *more, uint64_t seed)
{
    struct bench b;
    struct judge *j = xcalloc(1, sizeof *j);

    char *config = xasprintf("memory.ddr.config=%s", device);
    const char *const settings[] = {config, more, NULL};
    const struct memory_env env = {
        .mhz = 4000, .line = (unsigned)ddr_line_bytes(&is), .contention = true};

    is.closed |= more != NULL;
    bench_open(&b, "ddr", env, settings);
    free(config);
    judge_begin(j, &is);
    ddr_watch(b.memory.self, (struct ddr_monitor){judge_see, j});
    judge_end(j, drive(&b, seed, 6000));
    if (j->faults)
        fail_msg("%s, seed %" PRIu64 ": %" PRIu64 " faults, the first: %s", device, seed, j->faults,
                 j->first);
    assert_true(j->seen[DDR_ACTIVATE] > 100);
    assert_true(j->seen[DDR_READ] + j->seen[DDR_READ_AUTO] > 1000);
    assert_true(j->seen[DDR_WRITE] + j->seen[DDR_WRITE_AUTO] > 500);
    assert_true(j->seen[DDR_REFRESH] + j->seen[DDR_REFRESH_BANK] > 10);
    judge_free(j);
    free(j);
    bench_free(&b);
}

static void every_preset_is_legal(void **state)
{
    (void)state;
    for (const struct ddr_preset *p = ddr_presets; p->name; p++) {
        judge_device(p->name, p->device, NULL, 1);
        judge_device(p->name, p->device, "memory.ddr.page=closed", 2);
    }
}

/* ---- files ---------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t list_files(const char *folder, char ***files)
{
    DIR *d = opendir(folder);
    size_t n = 0, cap = 0;

    if (!d)
        fail_msg("%s can't be listed; set top_srcdir", folder);
    for (const struct dirent *f; (f = readdir(d));)
        if (strlen(f->d_name) > 4 && !strcmp(f->d_name + strlen(f->d_name) - 4, ".ini")) {
            *files = xgrow(*files, n, &cap, sizeof **files);
            (*files)[n++] = xasprintf("%s/%s", folder, f->d_name);
        }
    closedir(d);
    qsort(*files, n, sizeof **files, by_name);
    return n;
}

static void judge_file(const char *path, uint64_t seed)
{
    struct ddr_device d;
    struct err e = {0};
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    if (ddr_read_ini(&d, path, f, &e))
        fail_msg("%s", e.text);
    fclose(f);
    judge_device(path, d, NULL, seed);
}

/* Two that are fixed, and one of the others. */
static void three_files_are_legal(const char *folder, uint64_t seed)
{
    struct rng r;
    char **files = NULL;
    const size_t n = list_files(folder, &files);

    assert_true(n >= 3);
    rng_seed(&r, seed);
    const size_t chosen = 2 + rng_below(&r, n - 2);
    print_message("%s: seed %" PRIu64 " (LARDSIM_SEED), chooses %s\n", folder, seed, files[chosen]);
    judge_file(files[0], seed);
    judge_file(files[1], seed + 1);
    judge_file(files[chosen], seed + 2);
    for (size_t i = 0; i < n; i++)
        free(files[i]);
    free(files);
}

static uint64_t seed_of_run(void)
{
    const char *given = getenv("LARDSIM_SEED");

    return given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
}

static char *our_folder(void)
{
    const char *top = getenv("top_srcdir");

    return xasprintf("%s/tests/data/ddr", top ? top : ".");
}

/* All of them; what a seed chooses is not always the one that a fault needs. */
static void our_files_are_legal(void **state)
{
    char *folder = our_folder(), **files = NULL;
    const size_t n = list_files(folder, &files);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        judge_file(files[i], 5);
        free(files[i]);
    }
    free(files);
    three_files_are_legal(folder, seed_of_run());
    free(folder);
}

struct order {
    unsigned n, bank[20];
};

static void see_order(void *arg, uint64_t cycle, enum ddr_command c, const struct ddr_place *at)
{
    struct order *o = arg;

    assert_int_equal(c, DDR_REFRESH_BANK);
    assert_int_equal(cycle, (o->n + 1) * UINT64_C(520));
    if (o->n < ARRAY_SIZE(o->bank))
        o->bank[o->n++] = at->bank * 10 + at->group;
}

/* Group by group inside a bank number: the distances of a group do not matter then. */
static void banks_are_refreshed_group_by_group(void **state)
{
    char *folder = our_folder();
    char *config = xasprintf("memory.ddr.config=%s/banks.ini", folder);
    const char *const settings[] = {config, NULL};
    const struct memory_env env = {.mhz = 4000, .line = 64, .contention = true};
    struct bench b;
    struct order o = {0};

    (void)state;
    bench_open(&b, "ddr", env, settings);
    ddr_watch(b.memory.self, (struct ddr_monitor){see_order, &o});
    bench_close(&b, 17 * 520 * 15 / 4 + 1); /* 0.9375 ns are 3.75 cycles */
    assert_int_equal(o.n, 17);
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(o.bank[i], i / 4 * 10 + i % 4);
    assert_int_equal(o.bank[16], 0);
    free(config);
    free(folder);
}

static void dramsim3_files_are_legal(void **state)
{
    const char *folder = getenv("LARDSIM_DRAMSIM3_INI");

    (void)state;
    if (!folder)
        skip();
    three_files_are_legal(folder, seed_of_run());
}

/* ---- the judge itself ----------------------------------------------------------------------- */

struct script {
    uint64_t cycle;
    enum ddr_command command;
    struct ddr_place at;
};

static uint64_t faults_of(const struct script *s, size_t n)
{
    struct judge *j = xcalloc(1, sizeof *j);

    judge_begin(j, &ddr_presets[0].device);
    for (size_t i = 0; i < n; i++)
        judge_see(j, s[i].cycle, s[i].command, &s[i].at);
    const uint64_t faults = j->faults;
    judge_free(j);
    free(j);
    return faults;
}

#define HERE                                                                                       \
    {                                                                                              \
        .row = 5                                                                                   \
    }
#define NEXT                                                                                       \
    {                                                                                              \
        .bank = 1, .row = 5                                                                        \
    }
#define OTHER                                                                                      \
    {                                                                                              \
        .group = 1, .row = 5                                                                       \
    }
#define FAR                                                                                        \
    {                                                                                              \
        .rank = 1, .row = 5                                                                        \
    }
/* ddr4-2400: a pair of commands at the least distance has no fault, one cycle earlier it has. */
static void the_judge_finds_each_rule_broken(void **state)
{
    static const struct { /* the last command is the one that is moved */
        struct script s[6];
        size_t n;
    } each[] = {
        {{{10, DDR_ACTIVATE, HERE}, {27, DDR_READ, HERE}}, 2},      /* tRCD */
        {{{10, DDR_ACTIVATE, HERE}, {49, DDR_PRECHARGE, HERE}}, 2}, /* tRAS */
        {{{10, DDR_ACTIVATE, HERE}, {60, DDR_PRECHARGE, HERE}, {77, DDR_ACTIVATE, HERE}}, 3},
        {{{10, DDR_ACTIVATE, HERE}, {16, DDR_ACTIVATE, NEXT}}, 2},  /* tRRD_L */
        {{{10, DDR_ACTIVATE, HERE}, {14, DDR_ACTIVATE, OTHER}}, 2}, /* tRRD_S */
        {{{10, DDR_ACTIVATE, HERE}, {60, DDR_READ, HERE}, {69, DDR_PRECHARGE, HERE}}, 3},
        {{{10, DDR_ACTIVATE, HERE}, {60, DDR_WRITE, HERE}, {94, DDR_PRECHARGE, HERE}}, 3},
        {{{10, DDR_ACTIVATE, HERE}, {60, DDR_READ, HERE}, {66, DDR_READ, HERE}}, 3},
        {{{10, DDR_ACTIVATE, HERE}, {60, DDR_WRITE, HERE}, {85, DDR_READ, HERE}}, 3},
        {{{10, DDR_ACTIVATE, HERE}, {60, DDR_READ, HERE}, {70, DDR_WRITE, HERE}}, 3},
        {{{10, DDR_ACTIVATE, HERE},
          {20, DDR_ACTIVATE, FAR},
          {60, DDR_READ, HERE},
          {65, DDR_READ, FAR}},
         4},
        {{{10, DDR_REFRESH, HERE}, {430, DDR_ACTIVATE, HERE}}, 2},
        {{{10, DDR_ACTIVATE, HERE}, {60, DDR_READ_AUTO, HERE}, {86, DDR_ACTIVATE, HERE}}, 3},
        {{{10, DDR_ACTIVATE, HERE},
          {16, DDR_ACTIVATE, OTHER},
          {22, DDR_ACTIVATE, {.group = 2}},
          {28, DDR_ACTIVATE, {.group = 3}},
          {36, DDR_ACTIVATE, NEXT}},
         5}, /* tFAW */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
        struct script s[6];
        memcpy(s, each[i].s, sizeof s);
        if (faults_of(s, each[i].n))
            fail_msg("script %zu has a fault", i);
        s[each[i].n - 1].cycle--;
        if (!faults_of(s, each[i].n))
            fail_msg("script %zu has no fault one cycle earlier", i);
    }
}

static void the_judge_knows_what_is_open(void **state)
{
    static const struct ddr_place row = {.row = 5}, other = {.row = 6};
    const struct script wrong_row[] = {{10, DDR_ACTIVATE, row}, {100, DDR_READ, other}};
    const struct script closed[] = {{100, DDR_READ, row}};
    const struct script twice[] = {{10, DDR_ACTIVATE, row}, {100, DDR_ACTIVATE, row}};
    const struct script refresh[] = {{10, DDR_ACTIVATE, row}, {100, DDR_REFRESH, row}};

    (void)state;
    assert_int_not_equal(faults_of(wrong_row, 2), 0);
    assert_int_not_equal(faults_of(closed, 1), 0);
    assert_int_not_equal(faults_of(twice, 2), 0);
    assert_int_not_equal(faults_of(refresh, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_judge_finds_each_rule_broken),
        cmocka_unit_test(the_judge_knows_what_is_open),
        cmocka_unit_test(every_preset_is_legal),
        cmocka_unit_test(our_files_are_legal),
        cmocka_unit_test(banks_are_refreshed_group_by_group),
        cmocka_unit_test(dramsim3_files_are_legal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
