/* t_stop.c - what it costs the other cores when a policy stops them all: probes of one stop, worked
 * out by hand from docs/machine.md. The policy is lardish: the 15th release of a thread makes its
 * clock 16, which 4 bits do not hold, and the roll-over flushes one history line.
 *
 *     t_stop [--mutant NAME]     a rule broken on purpose (tests/mutants/): must fail
 */
#include "tests/frame/mutant_arg.h"
#include "tests/frame/timed_run.h"

/* T0 writes: 121, and 608 for the handler that fills its history line. Then it takes and leaves a
 * lock fifteen times: 121, 14 x 2, 15 x 2. The last release ends at 908; the flush takes 400. */
#define AGAIN   "T0 acq 0x9000;T0 rel 0x9000;"
#define AGAIN5  AGAIN AGAIN AGAIN AGAIN AGAIN
#define OTHER   "T1 acq 0x9200;T1 rel 0x9200;"
#define OTHER5  OTHER OTHER OTHER OTHER OTHER
#define STARTS  "T0 start;T1 start;"
#define ROLL    "T0 write 0x10000 8;" AGAIN5 AGAIN5 AGAIN5
#define ROLLS   STARTS ROLL
#define LARDISH "policies=lardish granularity=4 policy.lardish.runtime=off "
#define FOUR    LARDISH "policy.lardish.clock-bits=4 "

static void a_core_stands_still_in_the_middle_of_its_instructions(void **state)
{
    (void)state;
    costs(ROLLS "T1 io +100000", FOUR,
          "machine.cycles=100400 cores.stopped.1=400 cores.executing.1=100000 cores.stopped.0=0 "
          "cores.stopped.2=0 policy.lardish.stopped=400 policy.lardish.roll-overs=1 "
          "policy.lardish.manager.cycles.roll-over=400");
    /* it is over before, or begins after */
    costs(ROLLS "T1 io +907", FOUR, "machine.cycles=1308 cores.stopped.1=0 cores.idle.1=401");
    costs(ROLLS "T1 io +909", FOUR, "machine.cycles=1309 cores.stopped.1=400 cores.idle.1=0");
    costs(ROLLS "T1 io +100000", LARDISH,
          "machine.cycles=100000 machine.spent.stopped=0 policy.lardish.stopped=0");
}

/* Its turn comes while it is stopped, or after. */
static void what_it_does_next_comes_later_by_the_stop(void **state)
{
    (void)state;
    costs(ROLLS "T1 read 0x20000 8 +1000 system;T1 io +500", FOUR,
          "machine.cycles=2021 cores.stopped.1=400 cores.memory.1=120");
    costs(ROLLS "T1 read 0x20000 8 +1308 system;T1 io +500", FOUR,
          "machine.cycles=2329 cores.stopped.1=400 cores.memory.1=120");
    costs(ROLLS "T1 read 0x20000 8 +1400 system;T1 io +500", FOUR,
          "machine.cycles=2421 cores.stopped.1=400");
}

/* The read begins at 848 and ends at 969: 339 of the stop are left. */
static void an_event_in_hand_is_finished_first(void **state)
{
    (void)state;
    costs(ROLLS "T1 read 0x20000 8 +848 system;T1 io +5000", FOUR,
          "machine.cycles=6308 cores.stopped.1=339 cores.memory.1=120");
    /* the rest of it is longer than the stop: 1024 bytes are 16 lines, up to 848 + 1921 */
    costs(ROLLS "T1 read 0x20000 1024 +848 system;T1 io +5000", FOUR,
          "machine.cycles=7769 cores.stopped.1=0 cores.memory.1=1920");
}

/* T0 has the lock 0x9100 from the start and leaves it after the flush. */
static void a_core_that_waits_is_not_stopped(void **state)
{
    static const char holds[] =
        "T0 start;T1 start;T0 acq 0x9100 system;T0 write 0x10000 8;" AGAIN5 AGAIN5 AGAIN5
        "T0 rel 0x9100 system;T1 acq 0x9100 +10 system";

    (void)state;
    costs(holds, FOUR, "cores.stopped.1=0 policy.lardish.stopped=400 cores.wait-lock.1=1421");
    costs(holds, LARDISH, "cores.stopped.1=0 cores.wait-lock.1=1021");
}

/* Clocks are not compared: whoever has run by then loses as much. */
static void in_recorded_order_all_that_have_run_lose_the_same(void **state)
{
    (void)state;
    costs(STARTS "T1 io +10;" ROLL "T2 io +10", FOUR "order=recorded",
          "cores.stopped.0=0 cores.stopped.1=400 cores.stopped.2=0 cores.stopped.3=0 "
          "machine.cycles=1308 cores.idle.1=898 cores.idle.2=1298");
}

/* T1 does the same from 5400 on, as it has lost 400 before. Its handlers make tables of their own.
 */
static void stops_add_up(void **state)
{
    (void)state;
    struct ran r = ran_text(STARTS "T2 start;" ROLL "T1 write 0x30000 8 +5000;" OTHER5 OTHER5 OTHER5
                                   "T2 io +50000",
                            FOUR);
    const uint64_t both = ran_stat(&r, "policy.lardish.stopped");
    ran_want(&r, "policy.lardish.roll-overs=2 cores.stopped.1=400 cores.stopped.0=0");
    assert_true(both > 400);
    assert_int_equal(ran_stat(&r, "cores.stopped.2"), both);
    assert_int_equal(ran_stat(&r, "policy.lardish.manager.cycles.roll-over"), both);
    assert_int_equal(ran_stat(&r, "machine.cycles"), 50000 + both);
    ran_free(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_core_stands_still_in_the_middle_of_its_instructions),
        cmocka_unit_test(what_it_does_next_comes_later_by_the_stop),
        cmocka_unit_test(an_event_in_hand_is_finished_first),
        cmocka_unit_test(a_core_that_waits_is_not_stopped),
        cmocka_unit_test(in_recorded_order_all_that_have_run_lose_the_same),
        cmocka_unit_test(stops_add_up),
    };

    if (!mutant_arg(&argc, &argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
