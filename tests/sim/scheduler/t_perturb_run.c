/* t_perturb_run.c - what a perturbed run does with the delays that a seed draws: threads start by
 * so much later, and reads of memory take so much longer, to the cycle. */
#include "tests/sim/scheduler/program.h"

enum { AT_A = VM_SITE_FIRST };
#define MACHINE "machine=multicore order=program cores=8 granularity=8 "
#define QUIET   "perturb.start=0 perturb.memory=0 "

struct perturbed_run {
    uint64_t cycles, starts, start_cycles, reads, read_cycles, memory_reads, digest;
};

static uint64_t stat_of(struct lardsim *l, const char *name)
{
    uint64_t value = 0;

    lardsim_stat(l, name, &value);
    return value;
}

static struct perturbed_run run(const char *source, const char *settings)
{
    struct lardsim *l = lardsim_new();

    ran_set(l, settings);
    if (lardsim_start(l) || lardsim_run(l, source) || lardsim_finish(l))
        fail_msg("%s with %s: %s", source, settings, lardsim_error(l));
    const struct perturbed_run r = {
        .cycles = stat_of(l, "machine.cycles"),
        .starts = stat_of(l, "perturb.starts"),
        .start_cycles = stat_of(l, "perturb.start-cycles"),
        .reads = stat_of(l, "perturb.reads"),
        .read_cycles = stat_of(l, "perturb.read-cycles"),
        .memory_reads = stat_of(l, "memory.reads"),
        .digest = lardsim_digest(l),
    };
    lardsim_free(l);
    return r;
}

/* ---- to the cycle --------------------------------------------------------------------------- */

/* One thread waits for each read of memory: the run is longer by what all of them took longer. */
static void a_run_of_one_thread_takes_longer_by_its_reads(void **state)
{
    static const char one[] = "synth:threads=1,events=3000,sync_share=0,heap_share=0";
    const struct perturbed_run plain = run(one, "machine=multicore order=timed policies=none"),
                               late = run(one, "machine=multicore order=timed policies=none "
                                               "perturb.seed=4 perturb.memory=50");

    (void)state;
    assert_int_equal(plain.reads, 0);
    assert_int_equal(late.reads, plain.memory_reads);
    assert_int_equal(late.starts, 0);
    assert_true(late.read_cycles > 0);
    assert_int_equal(late.cycles, plain.cycles + late.read_cycles);
}

/* Likewise in recorded order, where a core waits for its own accesses alone. */
static void recorded_order_has_delays_of_reads_alone(void **state)
{
    static const char one[] = "synth:threads=1,events=3000,sync_share=0,heap_share=0",
                      some[] = "synth:threads=4,events=3000";
    const struct perturbed_run plain = run(one, "machine=multicore order=recorded policies=none"),
                               late = run(one, "machine=multicore order=recorded policies=none "
                                               "perturb.seed=4"),
                               four = run(some, "machine=multicore order=recorded policies=none "
                                                "perturb.seed=4");

    (void)state;
    assert_int_equal(late.cycles, plain.cycles + late.read_cycles);
    assert_int_equal(four.starts, 0);
    assert_true(four.reads > 0);
}

static void waits(struct vm_thread *t, void *arg)
{
    (void)arg;
    vm_compute(t, 10);
}

/* A thread that is forked does a little, and is waited for. */
static void forks_one(struct vm_thread *t, const void *p)
{
    (void)p;
    vm_join(t, vm_fork(t, waits, NULL, AT_A), AT_A);
}

static uint64_t forked(uint64_t seed, struct executed *x)
{
    const struct vm_params p = program_params(1);
    char *settings = xasprintf(MACHINE "policies=none perturb.memory=0 perturb.start=%u "
                                       "perturb.seed=%u",
                               seed ? 100000u : 0u, (unsigned)seed);

    execute_program(x, forks_one, &p, settings, NULL);
    free(settings);
    if (x->code)
        fail_msg("%s", x->error);
    executed_free(x);
    return x->cycles;
}

/* Its delay is drawn from 0 to 100000 cycles: ten seeds have ten lengths, and none is shorter than
 * the run that nothing delays or longer than the most. */
static void a_forked_thread_starts_by_its_delay_later(void **state)
{
    struct executed x;
    const uint64_t plain = forked(0, &x);
    uint64_t before = 0, most = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        const uint64_t cycles = forked(seed, &x);
        if (cycles < plain || cycles > plain + 100000)
            fail_msg("seed %u: %llu cycles, %llu without a delay", (unsigned)seed,
                     (unsigned long long)cycles, (unsigned long long)plain);
        assert_int_not_equal(cycles, before);
        before = cycles;
        most = cycles > most ? cycles : most;
    }
    assert_true(most > plain + 50000);
}

/* ---- seeds ---------------------------------------------------------------------------------- */

static const char *const programs[] = {"xalan@lard,accesses=5k", "avrora@lard,accesses=5k", "sor",
                                       "pool", "hedc"};

/* Once, all five gave the same digest with each seed. */
static void a_workload_runs_otherwise_with_another_seed(void **state)
{
    static const unsigned seeds[] = {1, 2, 7};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
        struct perturbed_run r[ARRAY_SIZE(seeds)];
        for (size_t k = 0; k < ARRAY_SIZE(seeds); k++) {
            char *source = xasprintf("workload:%s,seed=%u", programs[i], seeds[k]);
            r[k] = run(source, "machine=multicore cores=8 policies=fasttrack "
                               "schedule.threads=round-robin");
            const struct perturbed_run again = run(source, "machine=multicore cores=8 "
                                                           "policies=fasttrack "
                                                           "schedule.threads=round-robin");
            if (again.digest != r[k].digest)
                fail_msg("%s: two runs have different digests", source);
            for (size_t j = 0; j < k; j++)
                if (r[j].cycles == r[k].cycles || r[j].digest == r[k].digest)
                    fail_msg("%s: %llu cycles, as with seed %u", source,
                             (unsigned long long)r[k].cycles, seeds[j]);
            free(source);
        }
    }
}

static void without_delays_a_seed_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
        char *a = xasprintf("workload:%s,seed=1", programs[i]),
             *b = xasprintf("workload:%s,seed=2", programs[i]);
        const struct perturbed_run x = run(a, "machine=multicore cores=8 policies=none "
                                              "schedule.threads=round-robin " QUIET),
                                   y = run(b, "machine=multicore cores=8 policies=none "
                                              "schedule.threads=round-robin " QUIET);
        if (x.cycles != y.cycles)
            fail_msg("%s: %llu and %llu cycles", programs[i], (unsigned long long)x.cycles,
                     (unsigned long long)y.cycles);
        free(a);
        free(b);
    }
}

/* The threads of a program start as late under every policy. */
static void all_policies_have_the_same_delays_of_threads(void **state)
{
    static const char *const watching[] = {"none", "vc", "fasttrack", "lardish", "eraser", "valor"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
        struct perturbed_run none = {0};
        for (size_t k = 0; k < ARRAY_SIZE(watching); k++) {
            char *source = xasprintf("workload:%s,seed=3", programs[i]);
            char *settings = xasprintf("machine=multicore cores=8 schedule.threads=round-robin "
                                       "granularity=8 policies=%s",
                                       watching[k]);
            const struct perturbed_run r = run(source, settings);
            none = k ? none : r;
            assert_true(r.starts > 0);
            if (r.starts != none.starts || r.start_cycles != none.start_cycles)
                fail_msg("%s: %llu threads wait %llu cycles under %s, %llu wait %llu under none",
                         source, (unsigned long long)r.starts, (unsigned long long)r.start_cycles,
                         watching[k], (unsigned long long)none.starts,
                         (unsigned long long)none.start_cycles);
            free(settings);
            free(source);
        }
    }
}

/* A replay is perturbed where it is asked for, and by no seed of the workload's. */
static void timed_order_is_perturbed_on_request_alone(void **state)
{
    static const char timed[] = "machine=multicore cores=8 order=timed policies=none ",
                      asked[] = "machine=multicore cores=8 order=timed policies=none "
                                "perturb.seed=1 ",
                      other[] = "machine=multicore cores=8 order=timed policies=none "
                                "perturb.seed=2 ";
    static const char source[] = "workload:sor,threads=4";
    const struct perturbed_run plain = run(source, timed), one = run(source, asked),
                               again = run(source, asked), two = run(source, other);

    (void)state;
    assert_int_equal(plain.reads + plain.starts, 0);
    assert_true(one.reads > 0 && one.starts > 0);
    assert_int_equal(one.digest, again.digest);
    assert_int_not_equal(one.cycles, plain.cycles);
    assert_int_not_equal(one.cycles, two.cycles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_of_one_thread_takes_longer_by_its_reads),
        cmocka_unit_test(recorded_order_has_delays_of_reads_alone),
        cmocka_unit_test(a_forked_thread_starts_by_its_delay_later),
        cmocka_unit_test(a_workload_runs_otherwise_with_another_seed),
        cmocka_unit_test(without_delays_a_seed_changes_nothing),
        cmocka_unit_test(all_policies_have_the_same_delays_of_threads),
        cmocka_unit_test(timed_order_is_perturbed_on_request_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
