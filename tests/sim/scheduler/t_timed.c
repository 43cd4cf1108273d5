/* t_timed.c - what each event costs and waits for on the simulated machine: every count is worked
 * out by hand from docs/machine.md. Cores, buffers, windows and limits are in t_timed_cores.c.
 *
 * The numbers: an instruction takes 1; L1 1, L2 10, L3 35, another core 35 + 15 = 50, memory 120 in
 * all. The L1 has 64 sets of 8 ways (same set: 0x1000 apart), the L2 512 of 8 (0x8000 apart). A
 * thread that begins with "start" exists from cycle 0. */
#include "tests/frame/timed_run.h"

#define TWO   "T0 start;T1 start;"
#define THREE TWO "T2 start;"

/* n events of thread t, the first at from, each step further. */
static const char *row(char to[1000], unsigned t, const char *kind, unsigned from, unsigned step,
                       unsigned n)
{
    size_t at = 0;

    to[0] = 0;
    for (unsigned i = 0; i < n; i++)
        at += (size_t)snprintf(to + at, 1000 - at, "T%u %s 0x%x 8;", t, kind, from + i * step);
    return to;
}

static const char *joined(char to[4000], const char *a, const char *b, const char *c)
{
    snprintf(to, 4000, "%s%s%s", a, b, c);
    return to;
}

/* One access at a time: contention changes nothing. */
static void costs_both(const char *events, const char *settings, const char *want)
{
    char with[400];

    costs(events, settings, want);
    snprintf(with, sizeof with, "contention=on %s", settings);
    costs(events, with, want);
}

/* ---- one core ------------------------------------------------------------------------------- */

static void each_level_has_its_latency(void **state)
{
    char r[1000], all[4000];

    (void)state;
    /* 1 + 120 */
    costs_both("T0 read 0x10000 8", "",
               "machine.cycles=121 machine.instructions=1 machine.spent.executing=1 "
               "machine.spent.memory=120 cores.idle.0=0 cores.idle.3=121 l1.data.load-misses=1");
    costs_both("T0 write 0x10000 8", "", "machine.cycles=121 l1.data.store-misses=1");
    costs_both("T0 rmw 0x10000 8 seq-cst", "", "machine.cycles=121 l1.data.atomic-misses=1");
    /* 121, then 1 + 1 each: load in E, store in E, store in M, atomic in M */
    costs_both("T0 read 0x10000 8;T0 read 0x10008 8;T0 write 0x10000 8;T0 write 0x10000 8;"
               "T0 rmw 0x10000 8 relaxed",
               "", "machine.cycles=129 machine.spent.l1=4 machine.spent.executing=5");
    /* 9 lines of one L1 set: 9 x 121; the first is in the L2 then: 1 + 10 */
    costs_both(joined(all, row(r, 0, "read", 0x10000, 0x1000, 9), "T0 read 0x10000 8", ""), "",
               "machine.cycles=1100 machine.spent.l2=10 machine.spent.memory=1080");
    costs_both(joined(all, row(r, 0, "read", 0x10000, 0x1000, 9), "T0 write 0x10000 8", ""), "",
               "machine.cycles=1100 machine.spent.l2=10");
    /* 9 lines of one L2 set: 9 x 121; the first is in the L3 only: 1 + 35 */
    costs_both(joined(all, row(r, 0, "read", 0x10000, 0x8000, 9), "T0 read 0x10000 8", ""), "",
               "machine.cycles=1125 machine.spent.l3=35 machine.spent.memory=1080");
    costs_both(joined(all, row(r, 0, "write", 0x10000, 0x8000, 9), "T0 write 0x10000 8", ""), "",
               "machine.cycles=1125 machine.spent.l3=35");
}

static void latencies_are_parameters(void **state)
{
    char r[1000], all[4000];

    (void)state;
    costs_both("T0 read 0x10000 8;T0 read 0x10000 8", "core.memory-instruction=latency",
               "machine.cycles=121 machine.spent.executing=0 machine.spent.memory=120 "
               "machine.instructions=2");
    costs_both("T0 read 0x10000 8;T0 read 0x10000 8", "memory.fixed.latency=300 l1.latency=4",
               "machine.cycles=306"); /* 301 + 5 */
    /* cumulative: 1; 1 + 10; 1 + 10 + 35; that + 120 */
    costs_both("T0 read 0x10000 8;T0 read 0x10000 8", "coherence.composition=cumulative",
               "machine.spent.memory=166 machine.spent.l1=1 machine.cycles=169");
    costs_both(joined(all, row(r, 0, "read", 0x10000, 0x1000, 9), "T0 read 0x10000 8", ""),
               "coherence.composition=cumulative", "machine.spent.l2=11");
    costs_both(joined(all, row(r, 0, "read", 0x10000, 0x8000, 9), "T0 read 0x10000 8", ""),
               "coherence.composition=cumulative", "machine.spent.l3=46");
}

/* A configuration may say what each memory would have; the others' part is read and not used. */
static void another_memorys_settings_may_be_there(void **state)
{
    (void)state;
    costs("T0 read 0x10000 8", "memory.type=ddr memory.fixed.latency=300", "machine.spent.l1=0");
    costs("T0 read 0x10000 8", "memory.fixed.latency=300 memory.ddr.row-hits=2",
          "machine.spent.memory=300");
}

static void a_gap_comes_before_its_event(void **state)
{
    (void)state;
    /* 3 + 1 + 120, 5 + 1 + 1, 7 + 0 */
    costs_both("T0 read 0x10000 8 +3;T0 read 0x10000 8 +5;T0 io +7", "",
               "machine.cycles=138 machine.instructions=17 machine.spent.executing=17");
    /* T1 loads at 0, from memory: 121. T0 stores at 100, T1 has it: 100 + 1 + 50, though recorded
     * first. */
    costs(TWO "T0 write 0x10000 8 +100;T1 read 0x10000 8", "cores=2",
          "machine.cycles=151 cores.memory.1=120 cores.remote.0=50 cores.idle.1=30 "
          "cores.idle.0=0");
    /* as recorded: T0 first, 100 + 121; T1 51 */
    costs(TWO "T0 write 0x10000 8 +100;T1 read 0x10000 8", "cores=2 order=recorded",
          "machine.cycles=221 cores.memory.0=120 cores.remote.1=50 cores.idle.1=170");
    /* both at 0: the lowest core first */
    costs(TWO "T1 write 0x10000 8;T0 read 0x10000 8", "cores=2",
          "cores.memory.0=120 cores.remote.1=50");
}

static void an_access_across_lines_is_one_for_each(void **state)
{
    (void)state;
    costs_both("T0 read 0x1003c 8", "",
               "machine.cycles=241 machine.instructions=1 l1.accesses=2 events.total=1");
    costs_both("T0 read 0x1003c 4", "", "machine.cycles=121 l1.accesses=1");
    costs_both("T0 read 0x1003c 8;T0 write 0x1003f 2", "", "machine.cycles=244 l1.accesses=4");
    costs_both("T0 read 0x1003f 66", "", "machine.cycles=361 l1.accesses=3");
    costs_both("T0 read 0x1003f 65", "", "machine.cycles=241 l1.accesses=2");
    costs_both("T0 read 0x10000 8", "line=16 l1.size=32Ki", "machine.cycles=121 l1.accesses=1");
    costs_both("T0 read 0x1000c 8", "line=16", "machine.cycles=241 l1.accesses=2");
    /* the largest: 65,536 bytes across 1,025 lines */
    costs("T0 read 0x10001 65536", "", "machine.cycles=123001 l1.accesses=1025");
    /* the last bytes of the address space */
    costs("T0 read 0xfffffffffffffff8 8", "", "machine.cycles=121 l1.accesses=1");
    costs("T0 read 0xffffffffffffffff 1;T0 read 0 1", "", "machine.cycles=242 l1.accesses=2");
}

/* ---- several cores -------------------------------------------------------------------------- */

static void another_cores_copy_costs_remote(void **state)
{
    char r[1000], all[4000];

    (void)state;
    /* 200 + 1 + 50, whether T0 has it E or M */
    costs_both(TWO "T0 read 0x10000 8;T1 read 0x10000 8 +200", "",
               "machine.cycles=251 machine.spent.remote=50");
    costs_both(TWO "T0 write 0x10000 8;T1 read 0x10000 8 +200", "",
               "machine.cycles=251 machine.spent.remote=50");
    costs_both(TWO "T0 read 0x10000 8;T1 write 0x10000 8 +200", "",
               "machine.cycles=251 machine.spent.remote=50");
    costs_both(TWO "T0 write 0x10000 8;T1 rmw 0x10000 8 relaxed +200", "",
               "machine.cycles=251 machine.spent.remote=50");
    /* two have it S: a load is answered by the L3, 400 + 1 + 35; a store asks them, 400 + 1 + 50 */
    costs_both(THREE "T0 read 0x10000 8;T1 read 0x10000 8 +200;T2 read 0x10000 8 +400", "",
               "machine.cycles=436 machine.spent.l3=35 machine.spent.remote=50");
    costs(THREE "T0 read 0x10000 8;T1 read 0x10000 8 +200;T2 write 0x10000 8 +400", "",
          "machine.cycles=451 machine.spent.remote=100 coherence.invalidations=2");
    /* T0 has dropped it: 2000 + 1 + 35 */
    costs_both(joined(all, TWO, row(r, 0, "read", 0x10000, 0x8000, 9), "T1 write 0x10000 8 +2000"),
               "", "machine.cycles=2036 machine.spent.l3=35");
    costs_both(TWO "T0 read 0x10000 8;T1 read 0x10000 8 +200", "coherence.remote-cost=total",
               "machine.cycles=216 machine.spent.remote=15");
    costs_both(TWO "T0 read 0x10000 8;T1 read 0x10000 8 +200", "coherence.composition=cumulative",
               "machine.cycles=262 machine.spent.remote=61");
}

static void an_upgrade_costs_remote_and_its_level(void **state)
{
    char r[1000], all[4000];

    (void)state;
    /* T1 has read at 251, 1 + 1 + 15 */
    costs_both(TWO "T0 read 0x10000 8;T1 read 0x10000 8 +200;T1 write 0x10000 8", "",
               "machine.cycles=268 machine.spent.remote=66 coherence.upgrades=1");
    costs_both(TWO "T0 read 0x10000 8;T1 read 0x10000 8 +200;T1 write 0x10000 8",
               "coherence.upgrade-cost=home", "machine.cycles=302 machine.spent.remote=100");
    /* 8 more lines of the L1 set, 8 x 121, put it into the L2: 251 + 968 + 1 + 10 + 15 */
    costs_both(joined(all, TWO "T0 read 0x10000 8;T1 read 0x10000 8 +200;",
                      row(r, 1, "read", 0x11000, 0x1000, 8), "T1 write 0x10000 8"),
               "", "machine.cycles=1245 machine.spent.remote=75");
    /* T0 drops its copy from 321 on: 8 more lines of the L2 set. T1 is alone then, and pays
     * the same at 251 + 2000. */
    costs_both(joined(all, TWO "T0 read 0x10000 8;T1 read 0x10000 8 +200;T0 io +200;",
                      row(r, 0, "read", 0x18000, 0x8000, 8), "T1 write 0x10000 8 +2000"),
               "", "machine.cycles=2268 machine.spent.remote=66 coherence.invalidations=0");
}

static void hops_count_without_contention_too(void **state)
{
    (void)state;
    /* Line 0x10080 / 64 = 1026: bank 2, node 2. Ring of 4: request 2 hops, data 2 hops; memory is
     * at node 0: 2 and 2 more. 8 hops of 1 + 1. */
    costs_both("T0 read 0x10080 8", "network.topology=ring", "machine.cycles=137");
    costs_both("T0 read 0x10080 8", "network.topology=ring network.router=3 network.wire=2",
               "machine.cycles=161");
    costs_both("T0 read 0x10000 8", "network.topology=ring", "machine.cycles=121");
    /* mesh 2 x 2: bank 3 is 2 hops from node 0, bank 1 is 1 */
    costs_both("T0 read 0x100c0 8", "network.topology=mesh", "machine.cycles=137");
    costs_both("T0 read 0x10040 8", "network.topology=mesh", "machine.cycles=129");
    /* ring: T1 asks bank 2 (1 hop), that forwards to core 0 (2), that sends to core 1 (1) */
    costs_both(TWO "T0 read 0x10080 8;T1 read 0x10080 8 +200", "network.topology=ring",
               "machine.cycles=259 machine.spent.remote=58");
}

static void with_contention_requests_queue(void **state)
{
    (void)state;
    /* one bank takes a request each 10 cycles; without contention any number */
    costs(TWO "T0 read 0x10000 8;T1 read 0x20000 8", "contention=on l3.banks=1 l3.port=10",
          "machine.cycles=131 cores.memory.0=120 cores.memory.1=130 coherence.bank-waits=1 "
          "coherence.bank-wait-cycles=10");
    costs(TWO "T0 read 0x10000 8;T1 read 0x20000 8", "l3.banks=1 l3.port=10", "machine.cycles=121");
    /* the memory takes a line each 50 cycles */
    costs(TWO "T0 read 0x10000 8;T1 read 0x20040 8", "contention=on memory.fixed.interval=50",
          "machine.cycles=171 cores.memory.1=170");
}

/* ---- synchronisation's own cost ------------------------------------------------------------- */

static void synchronisation_accesses_its_object(void **state)
{
    (void)state;
    costs_both("T0 acq 0x9000;T0 rel 0x9000", "", /* 121 + 2 */
               "machine.cycles=123 machine.instructions=2 l1.data.atomic-misses=1 "
               "l1.data.store-hits=1 machine.spent.wait-lock=0");
    costs_both("T0 acq-shared 0x9000;T0 rel-shared 0x9000", "",
               "machine.cycles=123 l1.data.atomic-misses=1 l1.data.store-hits=1");
    costs_both("T0 acq 0x9000;T0 wait-enter 0x9000;T0 wait-exit 0x9000;T0 rel 0x9000", "",
               "machine.cycles=127 machine.instructions=4 l1.data.atomic-misses=1 "
               "l1.data.store-hits=2 l1.data.atomic-hits=1");
    costs_both("T0 vread 0x9000;T0 vwrite 0x9000", "",
               "machine.cycles=123 l1.data.load-misses=1 l1.data.store-hits=1");
    costs_both("T0 class-init 0x9000;T0 class-use 0x9000", "",
               "machine.cycles=123 l1.data.store-misses=1 l1.data.load-hits=1");
    costs_both("T0 arrive 0x9000 1;T0 depart 0x9000 1", "",
               "machine.cycles=123 l1.data.atomic-misses=1 l1.data.load-hits=1");
    costs_both("T0 acq 0x903c", "", "machine.cycles=241 l1.accesses=2"); /* 8 bytes, across lines */
    costs_both("T0 acq 0x9038", "", "machine.cycles=121 l1.accesses=1");
    costs_both("T0 acq 0xffffffffffffffff", "", "machine.instructions=1"); /* no address, a name */
}

static void other_events_cost_nothing(void **state)
{
    (void)state;
    costs_both("T0 start +1;T0 fork T1 +1;T0 join T1 +1;T0 notify 0x9000 +1;T0 txn-begin +1;"
               "T0 txn-commit +1;T0 alloc 0x1000 64 +1;T0 copy 0x2000 0x1000 64 +1;"
               "T0 clear 0x1000 64 +1;T0 gc-begin +1 system;T0 gc-end +1 system;T0 roi-begin +1;"
               "T0 roi-end +1;T0 io +1;T0 phase 1 +1;T0 end +1",
               "",
               "machine.cycles=16 machine.instructions=16 machine.spent.executing=16 l1.accesses=0 "
               "network.messages.total=0");
    costs_both("T0 writevc T0 2 +1;T0 readvc T0 2 +1;T0 thread K0 +1", "",
               "machine.cycles=3 machine.instructions=3 l1.accesses=0");
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void a_lock_waits_for_the_release_before(void **state)
{
    (void)state;
    /* T0: 0 acq 121 +100 rel 223. T1 is there at 50 and waits 173; the line is T0's: 51; 2. */
    costs_both(
        TWO "T0 acq 0x9000;T0 rel 0x9000 +100;T1 acq 0x9000 +50;T1 rel 0x9000", "cores=2",
        "machine.cycles=276 machine.spent.wait-lock=173 cores.wait-lock.1=173 "
        "cores.executing.1=52 cores.remote.1=50 cores.l1.1=1 cores.idle.0=53 cores.idle.1=0");
    /* T1 comes first and still waits: T0 0 +1000 acq 1121 rel 1123; T1 51, 2 */
    costs_both(TWO "T0 acq 0x9000 +1000;T0 rel 0x9000;T1 acq 0x9000;T1 rel 0x9000", "cores=2",
               "machine.cycles=1176 machine.spent.wait-lock=1123");
    /* T1 comes later than the release: no wait. 500 + 51 + 2 */
    costs_both(TWO "T0 acq 0x9000;T0 rel 0x9000;T1 acq 0x9000 +500;T1 rel 0x9000", "cores=2",
               "machine.cycles=553 machine.spent.wait-lock=0");
    /* as recorded nobody waits: T0 223; T1 51 + 2 */
    costs(TWO "T0 acq 0x9000;T0 rel 0x9000 +100;T1 acq 0x9000;T1 rel 0x9000",
          "cores=2 order=recorded",
          "machine.cycles=223 machine.spent.wait-lock=0 cores.idle.1=170");
}

static void unrelated_locks_do_not_wait(void **state)
{
    (void)state;
    costs_both(TWO "T0 acq 0x9000;T0 rel 0x9000 +1000;T1 acq 0xa040;T1 rel 0xa040", "cores=2",
               "machine.cycles=1123 machine.spent.wait-lock=0 cores.idle.1=1000 cores.idle.0=0");
    /* nor does a lock wait for a volatile, barrier or class of the same name */
    costs(THREE "T0 vwrite 0x9000 +1000;T1 acq 0x9000;T2 class-init 0x9000", "cores=3",
          "machine.spent.wait-lock=0 machine.spent.wait-volatile=0 machine.spent.wait-class=0");
}

static void shared_acquisitions_overlap(void **state)
{
    static const char readers[] = THREE "T0 acq-shared 0x9000;T1 acq-shared 0x9000;"
                                        "T0 rel-shared 0x9000 +100;T1 rel-shared 0x9000 +100;";
    char all[4000];

    (void)state;
    /* Acquisitions keep their order: T0 121, T1 waits that long, 51: 172. Then T0 releases at 221,
     * T1 has the line: 272; T1 at 272, T0 has it: 323. */
    costs(readers, "cores=3",
          "machine.cycles=323 cores.wait-lock.1=121 machine.spent.wait-lock=121");
    /* an exclusive one waits for both, and takes the line from T1: 51 */
    costs(joined(all, readers, "T2 acq 0x9000", ""), "cores=3",
          "machine.cycles=374 cores.wait-lock.1=121 cores.wait-lock.2=323");
    /* shared ones after an exclusive one: T0 121, 100 + 2 = 223; T1 51: 274; T2 51 */
    costs(THREE "T0 acq 0x9000;T0 rel 0x9000 +100;T1 acq-shared 0x9000;T2 acq-shared 0x9000",
          "cores=3", "machine.cycles=325 cores.wait-lock.1=223 cores.wait-lock.2=274");
    /* a shared one does not wait for shared releases */
    costs(TWO "T0 acq-shared 0x9000;T0 rel-shared 0x9000 +1000;T1 acq-shared 0x9000", "cores=2",
          "cores.wait-lock.1=121 cores.remote.1=50");
}

static void a_waiter_gives_the_lock_away(void **state)
{
    (void)state;
    /* T0 acq 121, wait-enter 123. T1 waits 123, acq 51 = 174, rel 176. T0 waits 53, 51, rel 2. */
    costs_both(TWO "T0 acq 0x9000;T0 wait-enter 0x9000;T1 acq 0x9000;T1 notify 0x9000;"
                   "T1 rel 0x9000;T0 wait-exit 0x9000;T0 rel 0x9000",
               "cores=2", "machine.cycles=229 cores.wait-lock.0=53 cores.wait-lock.1=123");
    /* nested: the inner release lets nobody in. T0 121 2 2 and rel +100 = 227; T1 51. */
    costs_both(TWO "T0 acq 0x9000;T0 acq 0x9000;T0 rel 0x9000;T0 rel 0x9000 +100;T1 acq 0x9000",
               "cores=2", "machine.cycles=278 cores.wait-lock.1=227");
}

static void a_barrier_waits_for_all_arrivals(void **state)
{
    (void)state;
    /* T0 arrives 121, T1 at 500: 551. T0 waits 430 and loads from T1: 602. T1 loads 2: 553. */
    costs(TWO "T0 arrive 0x9000 1;T1 arrive 0x9000 1 +500;T0 depart 0x9000 1;T1 depart 0x9000 1",
          "cores=2", "machine.cycles=602 cores.wait-barrier.0=430 cores.wait-barrier.1=0");
    /* rounds are apart */
    costs(TWO "T0 arrive 0x9000 1;T1 arrive 0x9000 2 +500;T0 depart 0x9000 1;T1 depart 0x9000 2",
          "cores=2", "machine.spent.wait-barrier=0");
    /* an arrival recorded after the depart is none of its */
    costs(TWO "T0 arrive 0x9000 1;T0 depart 0x9000 1;T1 io +500", "cores=2",
          "machine.cycles=500 machine.spent.wait-barrier=0 cores.idle.0=377");
}

static void fork_and_join_order_lives(void **state)
{
    (void)state;
    /* T1 begins at 100: 10 + 121 = 231; T0 waits from 100 on */
    costs_both("T0 fork T1 +100;T1 write 0x10000 8 +10;T1 end;T0 join T1;T0 io +5", "cores=2",
               "machine.cycles=236 machine.spent.wait-join=131 cores.idle.1=105 cores.idle.0=0 "
               "cores.executing.1=11 cores.memory.1=120");
    /* without an end: its last event */
    costs_both("T0 fork T1 +100;T1 write 0x10000 8 +10;T0 join T1", "cores=2",
               "machine.cycles=231 machine.spent.wait-join=131");
    /* a child that never acts */
    costs_both("T0 fork T1 +100;T0 join T1 +3", "cores=2",
               "machine.cycles=103 machine.spent.wait-join=0 cores.idle.1=103");
    /* T1 is over when T0 comes */
    costs_both("T0 fork T1;T1 io +10;T1 end;T0 join T1 +100", "cores=2",
               "machine.cycles=100 machine.spent.wait-join=0 cores.idle.1=90");
}

static void volatiles_keep_their_order(void **state)
{
    (void)state;
    /* T0 100 + 121. T1 waits 221, loads from T0: 272. T0 waits for that, 51, and upgrades: 17 */
    costs(TWO "T0 vwrite 0x9000 +100;T1 vread 0x9000;T0 vwrite 0x9000", "cores=2",
          "machine.cycles=289 cores.wait-volatile.1=221 cores.wait-volatile.0=51");
    /* reads of one write do not wait for each other: T1 at 0, T0 at 1000 */
    costs_both(TWO "T0 vread 0x9000 +1000;T1 vread 0x9000", "cores=2",
               "machine.cycles=1051 machine.spent.wait-volatile=0 cores.idle.1=930");
    /* atomic locations are volatiles, by their orders */
    costs_both(TWO "T0 write 0x9000 4 seq-cst +100;T1 read 0x9000 4 acquire", "cores=2",
               "machine.cycles=272 machine.spent.wait-volatile=221");
    costs_both(TWO "T0 rmw 0x9000 4 acq-rel +100;T1 rmw 0x9000 4 acq-rel", "cores=2",
               "machine.cycles=272 machine.spent.wait-volatile=221");
    /* relaxed ones are not: T1 at 0 from memory, T0 at 100 from T1: 151 */
    costs(TWO "T0 write 0x9000 4 relaxed +100;T1 read 0x9000 4 relaxed", "cores=2",
          "machine.cycles=151 machine.spent.wait-volatile=0");
    /* a class is used after its initialisation */
    costs_both(TWO "T0 class-init 0x9000 +100;T1 class-use 0x9000", "cores=2",
               "machine.cycles=272 machine.spent.wait-class=221");
}

static void commits_that_share_a_variable_keep_their_order(void **state)
{
    (void)state;
    /* T0 stores 121, commits at 221. T1 takes the line at 0: 51, and waits 170. */
    costs(TWO "T0 txn-begin;T0 write 0x9000 8 txn;T0 txn-commit +100;T1 txn-begin;"
              "T1 write 0x9000 8 txn;T1 txn-commit",
          "cores=2", "machine.cycles=221 machine.spent.wait-commit=170");
    costs(TWO "T0 txn-begin;T0 write 0x9000 8 txn;T0 txn-commit +100;T1 txn-begin;"
              "T1 write 0xa040 8 txn;T1 txn-commit",
          "cores=2", "machine.cycles=221 machine.spent.wait-commit=0");
}

static void the_heap_keeps_its_order(void **state)
{
    (void)state;
    /* T0 stores at 221. T1's clear waits for it, T2's new use for the clear; T0 has the line: 272
     */
    costs_both(THREE "T0 write 0x9000 8 +100;T1 clear 0x9000 64;T2 write 0x9000 8", "cores=3",
               "machine.cycles=272 cores.wait-heap.1=221 cores.wait-heap.2=221");
    /* other memory waits for nothing */
    costs_both(THREE "T0 write 0x9000 8 +100;T1 clear 0xa000 64;T2 write 0xb040 8", "cores=3",
               "machine.cycles=221 machine.spent.wait-heap=0");
    /* a copy waits for its source's last store; the copy is waited for by a load there */
    costs_both(THREE "T0 write 0x9000 8 +100;T1 copy 0xa040 0x9000 64;T2 read 0xa040 8", "cores=3",
               "machine.cycles=342 cores.wait-heap.1=221 cores.wait-heap.2=221");
    /* and by a store to its source */
    costs_both(THREE "T0 write 0x9000 8 +100;T1 copy 0xa040 0x9000 64;T2 write 0x9000 8", "cores=3",
               "machine.cycles=272 cores.wait-heap.1=221 cores.wait-heap.2=221");
    /* what is allocated is used after that; two threads' allocations do not wait */
    costs_both(THREE "T0 alloc 0x9000 64 +100;T1 write 0x9000 8;T2 alloc 0xa000 64", "cores=3",
               "machine.cycles=221 cores.wait-heap.1=100 cores.wait-heap.2=0");
}

static void a_collection_stops_the_world(void **state)
{
    (void)state;
    /* T0 221. T1 waits for that; 50 + 121 inside: 392. T0 waits 171, then hits: 2. */
    costs_both(TWO "T0 write 0x9000 8 +100;T1 gc-begin system;T1 write 0xa040 8 +50 system;"
                   "T1 gc-end system;T0 write 0x9000 8",
               "cores=2",
               "machine.cycles=394 cores.wait-collection.1=221 cores.wait-collection.0=171");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_level_has_its_latency),
        cmocka_unit_test(latencies_are_parameters),
        cmocka_unit_test(another_memorys_settings_may_be_there),
        cmocka_unit_test(a_gap_comes_before_its_event),
        cmocka_unit_test(an_access_across_lines_is_one_for_each),
        cmocka_unit_test(another_cores_copy_costs_remote),
        cmocka_unit_test(an_upgrade_costs_remote_and_its_level),
        cmocka_unit_test(hops_count_without_contention_too),
        cmocka_unit_test(with_contention_requests_queue),
        cmocka_unit_test(synchronisation_accesses_its_object),
        cmocka_unit_test(other_events_cost_nothing),
        cmocka_unit_test(a_lock_waits_for_the_release_before),
        cmocka_unit_test(unrelated_locks_do_not_wait),
        cmocka_unit_test(shared_acquisitions_overlap),
        cmocka_unit_test(a_waiter_gives_the_lock_away),
        cmocka_unit_test(a_barrier_waits_for_all_arrivals),
        cmocka_unit_test(fork_and_join_order_lives),
        cmocka_unit_test(volatiles_keep_their_order),
        cmocka_unit_test(commits_that_share_a_variable_keep_their_order),
        cmocka_unit_test(the_heap_keeps_its_order),
        cmocka_unit_test(a_collection_stops_the_world),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
