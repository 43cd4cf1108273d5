/* t_timed_cores.c - threads on cores, stores and loads that are not waited for, the window, regions
 * and limits in timed order: counts worked out by hand from docs/machine.md. What single events
 * cost and wait for is in t_timed.c, with the latencies. */
#include "tests/frame/timed_run.h"

#define TWO    "T0 start;T1 start;"
#define IO4(t) t " io +500;" t " io +500;" t " io +500;" t " io +500;"

/* ---- threads on cores ----------------------------------------------------------------------- */

static void turns_end_at_the_quantum(void **state)
{
    static const char turns[] = "schedule.threads=round-robin schedule.quantum=1000 "
                                "schedule.switch=100 ";
    char set[200];

    (void)state;
    /* T0 and T2 on core 0, T1 and T3 on core 1, 2,000 cycles each: T0 1000, 100, T2 1000, 100, T0
     * 1000, 100, T2 1000 */
    snprintf(set, sizeof set, "%s cores=2", turns);
    costs("T0 start;T1 start;T2 start;T3 start;" IO4("T0") IO4("T1") IO4("T2") IO4("T3"), set,
          "machine.cycles=4300 machine.spent.switch=600 schedule.switches=6 cores.executing.0=4000 "
          "cores.executing.1=4000 machine.spent.idle=0");
    /* however the trace mixes them */
    snprintf(set, sizeof set, "%s cores=1", turns);
    costs("T0 io +10;T1 io +10;T0 io +10;T1 io +10;T0 io +10;T1 io +10", set,
          "machine.cycles=160 schedule.switches=1");
    /* alone on its core a thread has no turns */
    snprintf(set, sizeof set, "%s cores=2", turns);
    costs(TWO IO4("T0") IO4("T1"), set, "machine.cycles=2000 schedule.switches=0");
}

static void a_thread_that_waits_gives_its_core_away(void **state)
{
    (void)state;
    /* T0 0, 100, T1 500, 100, T0 */
    costs("T0 fork T1;T1 io +500;T1 end;T0 join T1",
          "cores=1 schedule.threads=round-robin schedule.switch=100",
          "machine.cycles=700 machine.spent.wait-join=0 machine.spent.switch=200 "
          "machine.spent.idle=0");
    /* with a core for each it waits there */
    costs("T0 fork T1;T1 io +500;T1 end;T0 join T1",
          "cores=2 schedule.threads=round-robin schedule.switch=100",
          "machine.cycles=500 machine.spent.wait-join=500 machine.spent.switch=0");
}

static void pinned_threads_need_a_core_each(void **state)
{
    (void)state;
    fails(TWO "T2 start", "cores=2", 3, "thread 2", "2 cores", "schedule.threads=round-robin");
    fails(TWO "T2 start;name thread 2 \"late\"", "cores=2", 3, "2 cores", "more cores", "event");
    costs(TWO "T2 start", "cores=3", "machine.cycles=0");
    costs("T5 start;T900 start;T65535 io +1", "cores=3", "machine.cycles=1 cores.executing.2=1");
}

static void cores_of_threads_that_ended_are_used_again(void **state)
{
    (void)state;
    /* T1 on core 1 up to 100, T2 there from 200 on: another thread, a switch of 10 */
    costs("T0 fork T1;T1 io +100;T1 end;T0 io +200;T0 fork T2;T2 io +50;T2 end;T0 io +500",
          "cores=2 schedule.switch=10",
          "machine.cycles=700 cores.executing.1=150 cores.switch.1=10 cores.idle.1=540 "
          "cores.idle.0=0");
    /* one after the other, joined: 100 and 10 + 50 */
    costs("T0 fork T1;T1 io +100;T1 end;T0 join T1;T0 fork T2;T2 io +50;T2 end;T0 join T2",
          "cores=2 schedule.switch=10",
          "machine.cycles=160 cores.executing.1=150 cores.wait-join.0=160 cores.idle.1=0");
}

static void kernel_threads_share_a_core(void **state)
{
    (void)state;
    /* T1's core is 1 at first; it waits there 100 for T0, then goes to core 0: 10 + 100 */
    costs(TWO "T0 thread K7;T0 io +100;T1 thread K7;T1 io +100", "cores=2 schedule.switch=10",
          "machine.cycles=210 cores.executing.0=200 cores.executing.1=0 cores.switch.0=10 "
          "cores.wait-kernel.1=100");
    /* there and back on one core */
    costs("T0 thread K7;T0 io +100;T1 thread K7;T1 io +100;T0 thread K7;T0 io +50",
          "cores=1 schedule.switch=10", "machine.cycles=270 machine.spent.switch=20");
    /* kernel threads of their own change nothing */
    costs(TWO "T0 thread K7;T0 io +100;T1 thread K8;T1 io +100", "cores=2",
          "machine.cycles=100 cores.executing.0=100 cores.executing.1=100");
}

/* ---- the store buffer ----------------------------------------------------------------------- */

static void buffered_stores_are_not_waited_for(void **state)
{
    (void)state;
    /* 1 + 200: the store is done at 121 */
    costs("T0 write 0x10000 8;T0 io +200", "core.store-buffer=2",
          "machine.cycles=201 machine.spent.memory=0 machine.spent.store-buffer=0");
    /* In order, one at a time: 1 to 121, 121 to 241, 241 to 361. The third is there at 3 and waits
     * for a place up to 121: 118. */
    costs("T0 write 0x10000 8;T0 write 0x10040 8;T0 write 0x10080 8;T0 io +1000",
          "core.store-buffer=2", "machine.cycles=1121 machine.spent.store-buffer=118");
    costs("T0 write 0x10000 8;T0 write 0x10040 8;T0 write 0x10080 8;T0 io +1000",
          "core.store-buffer=3", "machine.cycles=1003 machine.spent.store-buffer=0");
    /* loads go ahead of stores: 1, 1 + 120 */
    costs("T0 write 0x10000 8;T0 read 0x20000 8;T0 io +200", "core.store-buffer=2",
          "machine.cycles=322 machine.spent.store-buffer=0 machine.spent.memory=120");
}

static void synchronisation_drains_the_store_buffer(void **state)
{
    (void)state;
    /* The acquire's instruction ends at 2; it waits up to 121; 120. */
    costs("T0 write 0x10000 8;T0 acq 0x9000", "core.store-buffer=2",
          "machine.cycles=241 machine.spent.store-buffer=119 machine.spent.memory=120");
    costs("T0 write 0x10000 8;T0 rmw 0x9000 8 relaxed", "core.store-buffer=2",
          "machine.cycles=241 machine.spent.store-buffer=119");
    /* 118 for a place, and from 122 up to 361; then 120 */
    costs("T0 write 0x10000 8;T0 write 0x10040 8;T0 write 0x10080 8;T0 acq 0x9000",
          "core.store-buffer=2", "machine.cycles=481 machine.spent.store-buffer=357");
    /* A lock hands on what was stored under it. T0: acq 121, store 122 (up to 242), release drains:
     * 123 + 119, 1. T1 has waited for that, takes the lock, 51, and then the line, 51. */
    costs(TWO "T0 acq 0x9000;T0 write 0x10000 8;T0 rel 0x9000;T1 acq 0x9000;T1 read 0x10000 8",
          "cores=2 core.store-buffer=4", "machine.cycles=345 cores.wait-lock.1=243");
}

static void loads_see_their_cores_stores(void **state)
{
    (void)state;
    /* covered: answered as by the L1; 1, 1 + 1, 200 */
    costs("T0 write 0x10000 8;T0 read 0x10004 4;T0 io +200", "core.store-buffer=2",
          "machine.cycles=203 machine.spent.store-buffer=0 schedule.forwarded=1");
    /* covered in part: waits from 2 up to 121, hits */
    costs("T0 write 0x10000 4;T0 read 0x10000 8;T0 io +200", "core.store-buffer=2",
          "machine.cycles=322 machine.spent.store-buffer=119 schedule.forwarded=0");
    /* the youngest that overlaps decides: covered by the older one only. The two are done at 121
     * and, a hit then, at 122. */
    costs("T0 write 0x10000 8;T0 write 0x10004 1;T0 read 0x10000 8;T0 io +200",
          "core.store-buffer=2",
          "machine.spent.store-buffer=119 schedule.forwarded=0 "
          "machine.cycles=323");
    costs("T0 write 0x10004 1;T0 write 0x10000 8;T0 read 0x10000 8;T0 io +200",
          "core.store-buffer=2", "machine.cycles=204 schedule.forwarded=1");
    /* neighbours do not overlap; the load goes ahead, to memory */
    costs("T0 write 0x10000 4;T0 read 0x10044 4;T0 io +200", "core.store-buffer=2",
          "machine.cycles=322 schedule.forwarded=0 machine.spent.store-buffer=0");
}

/* ---- outstanding loads ---------------------------------------------------------------------- */

static void missing_loads_overlap(void **state)
{
    (void)state;
    /* 1 up to 121, 2 up to 122; the acquire is there at 3 and waits 119; 120 */
    costs("T0 read 0x10000 8;T0 read 0x20000 8;T0 acq 0x9000", "core.misses=2",
          "machine.cycles=242 machine.spent.misses=119 machine.spent.memory=120");
    /* a third waits for the first: 118; it is done at 241, the acquire there at 122 */
    costs("T0 read 0x10000 8;T0 read 0x20000 8;T0 read 0x30000 8;T0 acq 0x9000", "core.misses=2",
          "machine.cycles=361 machine.spent.misses=237");
    costs("T0 read 0x10000 8;T0 read 0x20000 8;T0 read 0x30000 8;T0 acq 0x9000", "core.misses=1",
          "machine.cycles=481"); /* 1 121 241 361 */
    /* a load of a line on its way joins it, and takes no place */
    costs("T0 read 0x10000 8;T0 read 0x10008 8;T0 acq 0x9000", "core.misses=1",
          "machine.cycles=241 coherence.memory-reads=2");
    costs("T0 read 0x10000 8;T0 read 0x10008 8;T0 acq 0x9000", "core.misses=1 memory.type=ddr",
          "schedule.overlapped=1 schedule.merged=1");
    /* hits are waited for as ever: 121 + 2 */
    costs("T0 read 0x10000 8;T0 acq 0x9000;T0 read 0x10000 8;T0 read 0x10000 8", "core.misses=2",
          "machine.cycles=245");
    /* without synchronisation nobody asks for the values: the most that overlap can give */
    costs("T0 read 0x10000 8;T0 read 0x20000 8;T0 io +200", "core.misses=2",
          "machine.cycles=202 machine.spent.misses=0");
}

/* ---- the window ----------------------------------------------------------------------------- */

#define IO5 "T0 io +100;T0 io +100;T0 io +100;T0 io +100;T0 io +100;"

static void a_full_window_leaves_a_sleeper_behind(void **state)
{
    static const char trace[] = TWO IO5 IO5 IO5 IO5 IO5 IO5 "T1 read 0x10000 8";

    (void)state;
    costs(trace, "cores=2",
          "machine.cycles=3000 schedule.window-full=0 "
          "machine.spent.wait-window=0 cores.idle.1=2879");
    /* 8 events: T1's comes in when 7 of T0's 30 are left, at 2300. It could have gone at 0. */
    costs(trace, "cores=2 schedule.window=8",
          "machine.cycles=3000 schedule.window-full=23 cores.wait-window.1=2300 "
          "cores.memory.1=120 cores.idle.1=579 schedule.window-peak=8");
    /* one event: as recorded, almost */
    costs(trace, "cores=2 schedule.window=1", "machine.cycles=3121 cores.wait-window.1=3000");
    /* a thread without an end holds nothing up, but the window */
    costs("T0 fork T1;T1 io +1;" IO5 IO5, "cores=2 schedule.window=4", "machine.cycles=1000");
    costs("T0 fork T1;T1 io +1;T1 end;" IO5 IO5, "cores=2 schedule.window=4",
          "machine.cycles=1000 schedule.window-full=0");
}

/* ---- regions, limits, mistakes -------------------------------------------------------------- */

static void a_region_begins_when_the_caches_are_warm(void **state)
{
    (void)state;
    costs("T0 read 0x10000 8;T0 read 0x10000 8;T0 read 0x10000 8", "cores=1 warm-up=1",
          "machine.cycles=125 roi.machine.cycles=4 roi.machine.instructions=2 "
          "roi.l1.data.load-hits=2 roi.l1.data.load-misses=0 roi.events.total=2 "
          "machine.region-cycles=4");
    costs("T0 read 0x10000 8;T0 roi-begin;T0 read 0x10000 8;T0 roi-end;T0 read 0x20000 8",
          "cores=1",
          "machine.cycles=244 roi.machine.cycles=2 roi.machine.instructions=1 "
          "roi.machine.spent.l1=1 machine.region-cycles=2");
}

static void limits_stop_a_timed_run_too(void **state)
{
    (void)state;
    fails(TWO IO5 "T1 read 0x10000 8", "cores=2 limits.events=4", 5, "limits.events", "4", "raise");
    fails(TWO "T1 rel 0x9000", "cores=2", 4, "release-held", "0x9000", "event 2");
}

static void orders_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    fails("T0 io", "machine=none order=timed", 3, "order", "timed", "machine=multicore");
    fails("T0 io", "contention=on order=recorded", 3, "contention", "order=timed", "off");
    fails("T0 io", "cores=0", 3, "cores", "1..128", "0");
    fails("T0 io", "cores=129", 3, "cores", "1..128", "129");
    fails("T0 io", "l1.size=3000", 3, "l1", "3000", "");
    fails("T0 io", "line=48", 3, "line", "48", "");
    fails("T0 io", "schedule.window=0", 3, "schedule.window", "0", "");
}

static void an_access_too_large_is_an_error(void **state)
{
    struct lardsim *l = lardsim_new();

    (void)state;
    ran_set(l, "machine=multicore policies=none");
    assert_int_equal(lardsim_start(l), 0);
    assert_int_equal(lardsim_access(l, 0, LARDSIM_READ, 0x10000, 65536, 0, 0), 0);
    assert_int_equal(lardsim_access(l, 0, LARDSIM_READ, 0x10000, 65537, 0, 0), -1);
    assert_int_equal(lardsim_exit_code(l), 4);
    lardsim_finish(l);
    lardsim_free(l);
}

static void counts_of_a_refused_machine_can_be_asked_for(void **state)
{
    struct lardsim *l = lardsim_new();
    uint64_t n = 0;

    (void)state;
    ran_set(l, "machine=multicore policies=none l3.size=3000");
    lardsim_start(l);
    assert_int_equal(lardsim_access(l, 0, LARDSIM_READ, 0x10000, 8, 0, 0), -1);
    assert_int_equal(lardsim_exit_code(l), 3);
    assert_int_equal(lardsim_finish(l), -1);
    if (!lardsim_stat(l, "machine.instructions", &n))
        assert_int_equal(n, 0);
    lardsim_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_end_at_the_quantum),
        cmocka_unit_test(a_thread_that_waits_gives_its_core_away),
        cmocka_unit_test(pinned_threads_need_a_core_each),
        cmocka_unit_test(cores_of_threads_that_ended_are_used_again),
        cmocka_unit_test(kernel_threads_share_a_core),
        cmocka_unit_test(buffered_stores_are_not_waited_for),
        cmocka_unit_test(synchronisation_drains_the_store_buffer),
        cmocka_unit_test(loads_see_their_cores_stores),
        cmocka_unit_test(missing_loads_overlap),
        cmocka_unit_test(a_full_window_leaves_a_sleeper_behind),
        cmocka_unit_test(a_region_begins_when_the_caches_are_warm),
        cmocka_unit_test(limits_stop_a_timed_run_too),
        cmocka_unit_test(orders_that_make_no_sense_are_refused),
        cmocka_unit_test(an_access_too_large_is_an_error),
        cmocka_unit_test(counts_of_a_refused_machine_can_be_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
