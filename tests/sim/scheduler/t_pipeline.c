/* t_pipeline.c - the pipelined core: what the program's instructions, loads, stores and atomics
 * take on it, and what a policy's do, worked out by hand from docs/machine.md ("The pipelined
 * core"); and what holds whatever the trace. */
#include "tests/frame/number.h"
#include "tests/frame/timed_run.h"

#define PIPE "core.type=pipelined cores=1 "
#define SLOW PIPE "core.width=1 " /* an instruction a cycle */

#define R10 "T0 read 0x9000 8;T0 read 0x9000 8;T0 read 0x9000 8;T0 read 0x9000 8;T0 read 0x9000 8;"
#define R50 R10 R10 R10 R10 R10 R10 R10 R10 R10 R10
#define R10_1                                                                                      \
    "T1 read 0x9000 8;T1 read 0x9000 8;T1 read 0x9000 8;T1 read 0x9000 8;T1 read 0x9000 8;"
#define R50_1 R10_1 R10_1 R10_1 R10_1 R10_1 R10_1 R10_1 R10_1 R10_1 R10_1

/* ---- issue ---------------------------------------------------------------------------------- */

static void independent_instructions_are_issued_together(void **state)
{
    (void)state;
    costs("T0 io +200", PIPE "core.width=4", "machine.cycles=50 machine.instructions=200");
    /* the third of a cycle that is left is not lost: 200 / 3 */
    costs("T0 io +100;T0 io +100", PIPE "core.width=3", "machine.cycles=66");
    costs("T0 io +200", SLOW, "machine.cycles=200 machine.spent.executing=200");
}

static void a_width_may_have_a_fraction(void **state)
{
    (void)state;
    /* 200 / 2.5; and what is left of a cycle is not lost: 202 / 2.5 is 80.8 */
    costs("T0 io +200", PIPE "core.width=2 core.width-hundredths=50", "machine.cycles=80");
    costs("T0 io +101;T0 io +101;T0 io +3", PIPE "core.width=2 core.width-hundredths=50",
          "machine.cycles=82");
}

#define BOTH   "T0 io +40;T1 io +40;"
#define BOTH10 BOTH BOTH BOTH BOTH BOTH BOTH BOTH BOTH BOTH BOTH
#define ONE    "T1 io +40;"
#define ONE10  ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE

#define BESIDE "T0 io;T1 io;T0 io +100000;"

/* What 100 reads more under FastTrack take on core 1, while core 0 runs all the time: 7
 * instructions each (a_hundred_reads). */
static uint64_t a_hundred_reads_beside(const char *settings)
{
    char with[300];
    uint64_t cycles[2];

    snprintf(with, sizeof with, "policies=fasttrack granularity=8 %s", settings);
    for (int more = 0; more < 2; more++) {
        struct ran r = ran_text(more ? BESIDE R50_1 R50_1 R50_1 R50_1 : BESIDE R50_1 R50_1, with);
        cycles[more] = ran_stat(&r, "cores.executing.1") + ran_stat(&r, "cores.handler.1") +
                       ran_stat(&r, "cores.l1.1");
        ran_free(&r);
    }
    return cycles[1] - cycles[0];
}

static void cores_that_run_share_a_front_end(void **state)
{
    static const char shared[] = "core.type=pipelined cores=2 core.width=4 core.shared-front-end=2";
    static const char own[] = "core.type=pipelined cores=2 core.width=4";

    (void)state;
    /* Alone a core has all of it. */
    costs("T0 io +200", shared, "machine.cycles=50");
    /* T0 begins alone: 10 cycles for its first 40 instructions. T1 begins where that event does;
     * both run, 20 cycles for each 40. At 190 T0 has ended, and T1's last 40 take 10. */
    costs(BOTH10 "T0 io", shared, "machine.cycles=200 cores.executing.0=190 cores.executing.1=190");
    costs(BOTH10 "T0 io", own, "machine.cycles=110");
    /* Who waits for the other leaves it all. */
    costs("T0 fork T1;" ONE10 "T0 join T1", shared, "machine.cycles=100");
    /* Another pair has another. */
    costs("T0 io;T2 io;" ONE10 "T2 io",
          "core.type=pipelined cores=4 core.width=4 "
          "core.shared-front-end=2",
          "machine.cycles=100");
    /* A policy's instructions come out of it, too: two instructions a cycle, not four. */
    assert_int_equal(a_hundred_reads_beside(shared), 350);
    assert_int_equal(a_hundred_reads_beside(own), 175);
    fails("T0 io", "core.type=pipelined cores=3 core.shared-front-end=2", 3,
          "core.shared-front-end", "3 cores", "another number");
}

static void hits_are_pipelined(void **state)
{
    (void)state;
    /* A miss, waited for: 120. Four instructions; the last hit's value 5 after its instruction. */
    costs("T0 read 0x10000 8;T0 read 0x10000 8;T0 read 0x10000 8;T0 read 0x10000 8",
          SLOW "l1.latency=5",
          "machine.cycles=129 machine.spent.executing=4 machine.spent.l1=5 "
          "machine.spent.memory=120");
    /* as simple has it: 121 and three times 6 */
    costs("T0 read 0x10000 8;T0 read 0x10000 8;T0 read 0x10000 8;T0 read 0x10000 8",
          "cores=1 l1.latency=5", "machine.cycles=139 machine.spent.l1=15");
    /* as long as there are instructions to go on with: four hits, 4 + 200 */
    costs("T0 acq 0x9000;T0 read 0x9000 8;T0 read 0x9000 8;T0 read 0x9000 8;T0 read 0x9000 8;"
          "T0 io +200",
          SLOW "l1.latency=5", "machine.cycles=325 machine.spent.l1=0");
}

/* ---- loads under way ------------------------------------------------------------------------- */

static void the_window_bounds_how_far_a_core_goes_on(void **state)
{
    (void)state;
    /* The load's instruction ends at 1, its value is there at 121. Nine others are issued up to
     * 10; 111; the other 91. */
    costs("T0 read 0x10000 8;T0 io +100", SLOW "core.window=10 core.misses=1",
          "machine.cycles=212 machine.spent.memory=111 schedule.overlapped=1");
    costs("T0 read 0x10000 8;T0 io +200", SLOW "core.window=1000 core.misses=1",
          "machine.cycles=201 machine.spent.memory=0");
    /* alone it is waited for at once */
    costs("T0 read 0x10000 8;T0 io +100", SLOW "core.window=1 core.misses=1",
          "machine.cycles=221 machine.spent.memory=120");
    /* a memory that answers later: the same as with a window of one */
    costs("T0 read 0x10000 8;T0 io +10", SLOW "core.window=1000 core.misses=1 memory.type=ddr",
          "schedule.overlapped=1 machine.spent.executing=11");
}

static void misses_overlap_as_far_as_there_are_mshrs(void **state)
{
    static const char three[] = "T0 read 0x10000 8;T0 read 0x20000 8;T0 read 0x30000 8;T0 io +500";

    (void)state;
    costs(three, SLOW "core.window=1024 core.misses=3",
          "machine.cycles=503 machine.spent.misses=0 schedule.misses-full=0");
    /* the third waits from 2 up to 121, when the first is done */
    costs(three, SLOW "core.window=1024 core.misses=2",
          "machine.cycles=622 machine.spent.misses=119 schedule.misses-full=1 "
          "schedule.overlapped=3");
    /* without MSHRs each is waited for: 360 */
    costs(three, SLOW "core.window=1024 core.misses=0",
          "machine.cycles=863 machine.spent.memory=360 schedule.overlapped=0");
    /* a load of a line under way joins it: then the window of 2 waits for one miss, not two */
    costs("T0 read 0x10000 8;T0 read 0x10008 8;T0 io +10", SLOW "core.window=2 core.misses=1",
          "machine.cycles=131 schedule.merged=1 schedule.overlapped=1 "
          "coherence.memory-reads=1");
}

static void both_lines_of_a_load_are_fetched_together(void **state)
{
    (void)state;
    /* Both up to 121; by then one more instruction; 199. */
    costs("T0 read 0x1003c 8;T0 io +200", SLOW "core.window=2 core.misses=2",
          "machine.cycles=320 schedule.overlapped=2");
    /* The second from 121 up to 242, as the load's own instruction is issued at 122. */
    costs("T0 read 0x1003c 8;T0 io +200", SLOW "core.window=2 core.misses=1",
          "machine.cycles=441 schedule.misses-full=1");
}

/* ---- stores ---------------------------------------------------------------------------------- */

static void a_store_leaves_behind_the_loads_before_it(void **state)
{
    (void)state;
    /* The load's value is there at 121; the store is in the cache at 241; the acquire 120, 1. */
    costs("T0 read 0x10000 8;T0 write 0x20000 8;T0 acq 0x9000",
          SLOW "core.misses=1 core.store-buffer=2",
          "machine.cycles=362 machine.spent.memory=239 machine.spent.store-buffer=120");
    /* without the load: 1 up to 121, 120, 1 */
    costs("T0 write 0x20000 8;T0 acq 0x9000", SLOW "core.misses=1 core.store-buffer=2",
          "machine.cycles=242 machine.spent.memory=120 machine.spent.store-buffer=120");
}

static void stores_that_hit_leave_one_a_cycle(void **state)
{
    static const char six[] = "T0 acq 0x9000;T0 write 0x9000 8;T0 write 0x9000 8;T0 write 0x9000 8;"
                              "T0 write 0x9000 8;T0 write 0x9000 8;T0 write 0x9000 8;T0 io +100";

    (void)state;
    costs(six, SLOW "core.store-buffer=2 l1.latency=5",
          "machine.cycles=227 machine.spent.store-buffer=0");
    /* without a buffer each is waited for */
    costs(six, SLOW "core.store-buffer=0 l1.latency=5", "machine.cycles=257 machine.spent.l1=30");
}

static void loads_see_their_cores_stores(void **state)
{
    (void)state;
    /* covered: answered as by the L1 */
    costs("T0 write 0x10000 8;T0 read 0x10004 4;T0 io +200", SLOW "core.store-buffer=2",
          "machine.cycles=202 machine.spent.store-buffer=0 schedule.forwarded=1");
    /* covered in part: from 1 up to 121 */
    costs("T0 write 0x10000 4;T0 read 0x10000 8;T0 io +200", SLOW "core.store-buffer=2",
          "machine.cycles=322 machine.spent.store-buffer=120 schedule.forwarded=0");
}

/* ---- atomics --------------------------------------------------------------------------------- */

static void atomics_cost_their_line_and_something_on_top(void **state)
{
    (void)state;
    /* memory, 120; then in M, 1; each 50 and its instruction */
    costs("T0 acq 0x9000;T0 rmw 0x9000 8 relaxed;T0 io +100", SLOW "core.atomic=50",
          "machine.cycles=323 machine.spent.atomic=100 machine.spent.memory=120 "
          "machine.spent.l1=1");
    /* A line that another core has in M: 35 + 15. T0: 171. T1 finds the lock free then. */
    costs("T0 acq 0x9000;T0 rel 0x9000;T1 acq 0x9000",
          "core.type=pipelined cores=2 core.width=1 core.atomic=50",
          "cores.atomic.1=50 cores.remote.1=50 cores.memory.0=120 cores.atomic.0=50");
    /* Nothing goes on behind one: the load before it is waited for, and so is it itself. */
    costs("T0 read 0x10000 8;T0 rmw 0x9000 8 relaxed;T0 io +1", SLOW "core.atomic=50 core.misses=4",
          "machine.cycles=293 machine.spent.memory=240");
    /* simple knows nothing of it */
    costs("T0 acq 0x9000", "cores=1 core.atomic=50", "machine.cycles=121 machine.spent.atomic=0");
}

/* Two nodes of two cores, a package each; the line's home is in the first. A read from memory is
 * 120, one level L3 35, another core's cache 15 more, a way between the nodes 45. */
#define NODES                                                                                      \
    "core.type=pipelined cores=4 core.width=1 core.atomic=50 l3.inclusion=non-inclusive "          \
    "numa.nodes=2 numa.hop=45 "
#define AT(cycle) " io +" #cycle ";"
#define RMW       " rmw 0x10000 8 relaxed;"
#define READ      " read 0x10000 8;"

static void atomics_cost_by_the_state_of_their_line(void **state)
{
    (void)state;
    /* T0: from memory, 120 + 50; in M, 1 + 50. T1, its neighbour: 35 + 15 + 50. T1 again. */
    costs("T0" RMW "T0" RMW "T1" AT(1000) "T1" RMW "T1" RMW "T2 io;T3 io", NODES,
          "core.atomics.memory.accesses=1 core.atomics.memory.cycles=170 "
          "core.atomics.own.accesses=2 core.atomics.own.cycles=102 "
          "core.atomics.remote.accesses=1 core.atomics.remote.cycles=100 "
          "core.atomics.remote.far=0 core.atomics.shared.accesses=0");
    /* T2, of the other node: two ways more. Then T0 again, which asks its own home: from there to
     * T2 and back. */
    costs("T0" RMW "T1 io;T2" AT(1000) "T2" RMW "T3 io;T0" AT(5000) "T0" RMW, NODES,
          "core.atomics.remote.accesses=2 core.atomics.remote.cycles=380 "
          "core.atomics.remote.far=2 core.atomics.remote.far-cycles=380");
    /* From another node's memory. */
    costs("T0" READ "T1 io;T2" AT(1000) "T2 rmw 0x10040 8 relaxed;T3 io", NODES,
          "core.atomics.memory.far=1 core.atomics.memory.cycles=260");
    /* Both of a node have S: the upgrade is l1 + remote. */
    costs("T0" READ "T1" AT(1000) "T1" READ "T1" AT(1000) "T1" RMW "T2 io;T3 io", NODES,
          "core.atomics.shared.accesses=1 core.atomics.shared.cycles=66 "
          "core.atomics.shared.far=0");
    /* The other's copy is in the other node: its invalidation there, its acknowledgement back. */
    costs("T0" READ "T1 io;T2" AT(1000) "T2" READ "T3 io;T0" AT(5000) "T0" RMW, NODES,
          "core.atomics.shared.accesses=1 core.atomics.shared.cycles=156 "
          "core.atomics.shared.far=1 core.atomics.shared.far-cycles=156");
    /* Synchronisation is atomic, too, and so is a policy's. */
    costs("T0 acq 0x9000", SLOW "core.atomic=50",
          "core.atomics.memory.accesses=1 core.atomics.memory.cycles=170");
    struct ran r = ran_text("T0 write 0x9000 8;T0 io", SLOW "policies=fasttrack granularity=8");
    number_is("atomics", ran_stat(&r, "policy.fasttrack.cost.atomics"),
              ran_stat(&r, "core.atomics.memory.accesses") +
                  ran_stat(&r, "core.atomics.own.accesses"));
    assert_true(ran_stat(&r, "policy.fasttrack.cost.atomics") > 0);
    ran_free(&r);
}

/* ---- translations ---------------------------------------------------------------------------- */

#define TLB                                                                                        \
    "tlb.entries=2 tlb.ways=2 tlb.second-entries=4 tlb.second-ways=4 tlb.second-latency=7 "        \
    "tlb.walk=30 "

static void an_access_waits_for_its_translation(void **state)
{
    (void)state;
    /* 30 for the walk, then a miss, 120, its instruction; the same page again: nothing. */
    costs("T0 read 0x10000 8;T0 read 0x10000 8;T0 io +100", SLOW TLB,
          "machine.cycles=252 core.tlb.walks=1 core.tlb.second=0");
    /* Three pages by turns, of which two are at hand: the fourth load's is in the second level.
     * Three misses with a walk each, 150; the hit's 7 are hidden behind what follows. */
    costs("T0 read 0x10000 8;T0 read 0x20040 8;T0 read 0x30080 8;T0 read 0x10000 8;T0 io +100",
          SLOW TLB, "machine.cycles=554 core.tlb.walks=3 core.tlb.second=1");
    /* With a window of one nothing is hidden: 1 of the L1 and 7. */
    costs("T0 read 0x10000 8;T0 read 0x20040 8;T0 read 0x30080 8;T0 read 0x10000 8;T0 io +100",
          SLOW TLB "core.window=1", "machine.cycles=562");
    /* Walks overlap, as the misses do. */
    costs("T0 read 0x10000 8;T0 read 0x20040 8;T0 io +200",
          SLOW TLB "core.misses=2 core.window=1024", "machine.cycles=202 core.tlb.walks=2");
    /* A store waits in the buffer for it; synchronisation waits for the store. */
    costs("T0 write 0x20000 8;T0 acq 0x9000", SLOW TLB "core.store-buffer=2",
          "machine.cycles=302 core.tlb.walks=2");
}

/* ---- policies -------------------------------------------------------------------------------- */

/* What 100 reads more of one field by one thread cost under FastTrack, whose read epoch they find:
 * the own epoch's load, two steps of 2 and the word's load make 6 instructions, the read is one. */
static uint64_t a_hundred_reads(const char *settings)
{
    char with[300];
    uint64_t cycles[2];

    snprintf(with, sizeof with, "cores=1 policies=fasttrack granularity=8 %s", settings);
    for (int more = 0; more < 2; more++) {
        struct ran r = ran_text(more ? R50 R50 R50 R50 : R50 R50, with);
        cycles[more] = ran_stat(&r, "machine.cycles");
        ran_free(&r);
    }
    return cycles[1] - cycles[0];
}

static void a_policys_instructions_and_hits_are_the_same_kind(void **state)
{
    (void)state;
    assert_int_equal(a_hundred_reads("core.type=simple l1.latency=4"), 100 * (7 + 3 * 4));
    assert_int_equal(a_hundred_reads("core.type=pipelined core.width=1 l1.latency=4"), 100 * 7);
    assert_int_equal(a_hundred_reads("core.type=pipelined core.width=2 l1.latency=4"), 350);
    assert_int_equal(a_hundred_reads("core.type=pipelined core.width=7 l1.latency=4"), 100);
    assert_int_equal(a_hundred_reads("core.type=pipelined core.width=1 core.unmodelled=50"),
                     100 * (1 + 6 + 3));
}

/* The one write misses all its metadata. FastTrack's store of the new epoch goes where the
 * program's stores go. */
static void a_policys_stores_use_the_same_buffer(void **state)
{
    static const char two[] = "T0 write 0x9000 8;T0 write 0xa000 8;T0 io +2000";
    struct ran with = ran_text(two, SLOW "policies=fasttrack granularity=8 core.store-buffer=9"),
               without = ran_text(two, SLOW "policies=fasttrack granularity=8");

    (void)state;
    assert_int_equal(ran_stat(&with, "schedule.buffered"),
                     2 + ran_stat(&with, "policy.fasttrack.cost.stores"));
    assert_int_equal(ran_stat(&without, "schedule.buffered"), 0);
    assert_true(ran_stat(&with, "machine.cycles") < ran_stat(&without, "machine.cycles"));
    ran_free(&with);
    ran_free(&without);
}

/* FastTrack's lock on the variable waits for the program's store, which misses; there is room for
 * all stores. */
static void a_policys_atomics_drain_the_programs_stores(void **state)
{
    struct ran r = ran_text("T0 write 0x9000 8;T0 io +1000",
                            SLOW "policies=fasttrack granularity=8 core.store-buffer=64");

    (void)state;
    assert_true(ran_stat(&r, "core.policy.store-buffer") > 0);
    ran_free(&r);
}

/* The language runtime is software, too, by itself and beside a detector in hardware. */
static void the_runtimes_accesses_are_the_cores(void **state)
{
    static const char source[] = "synth:seed=3,events=3000,threads=1,gc_share=0,sync_share=300";

    (void)state;
    struct ran runtime = ran_source(source, SLOW "policies=lard-runtime core.store-buffer=64"),
               none = ran_source(source, SLOW "policies=none core.store-buffer=64");
    number_is("stores in the buffer", ran_stat(&runtime, "schedule.buffered"),
              ran_stat(&none, "schedule.buffered") +
                  ran_stat(&runtime, "policy.lard-runtime.runtime.stores"));
    ran_free(&runtime);
    struct ran narrow = ran_source(source, SLOW "policies=lardish granularity=4 core.window=1"),
               wide = ran_source(source, SLOW "policies=lardish granularity=4 core.window=64");
    const uint64_t stores = ran_stat(&narrow, "policy.lardish.runtime.stores");
    if (!stores || ran_stat(&wide, "machine.cycles") >= ran_stat(&narrow, "machine.cycles"))
        fail_msg("%llu cycles with a window, %llu without",
                 (unsigned long long)ran_stat(&wide, "machine.cycles"),
                 (unsigned long long)ran_stat(&narrow, "machine.cycles"));
    ran_free(&none);
    ran_free(&narrow);
    ran_free(&wide);
}

/* ---- prefetches ------------------------------------------------------------------------------ */

#define AHEAD "core.prefetch.streams=1 core.prefetch.degree=1 "

/* The second load makes the prefetcher ask for the third's line, at the cycle at which it misses
 * itself (coherence/: t_prefetch.c has what is asked for). */
static void a_load_finds_what_was_fetched_ahead(void **state)
{
    static const char waits[] =
        "T0 read 0x10000 8;T0 read 0x10040 8;T0 io +200;T0 read 0x10080 8;T0 io +1";
    static const char goes_on[] =
        "T0 read 0x10000 8;T0 read 0x10040 8;T0 read 0x10080 8;T0 io +500";

    (void)state;
    costs(waits, SLOW, "machine.cycles=564 machine.spent.memory=360");
    /* The third load hits the L2: 10 cycles, not 120. */
    costs(waits, SLOW AHEAD,
          "machine.cycles=454 machine.spent.l2=10 core.prefetch.data.useful=1 "
          "core.prefetch.data.issued=2");
    /* the same of a simple core */
    costs(waits, "cores=1 " AHEAD "core.type=simple",
          "machine.cycles=454 machine.spent.l2=10 core.prefetch.data.useful=1");
    /* a memory that answers later: as by one more load, which nobody waits for */
    costs(waits, SLOW AHEAD "memory.type=ddr",
          "machine.spent.l2=10 core.prefetch.data.useful=1 core.prefetch.data.issued=2 "
          "memory.reads=4");
    costs(goes_on, SLOW AHEAD "core.window=1000 core.misses=4 memory.type=ddr",
          "core.prefetch.data.late=1 memory.reads=4 coherence.merged=1");
    /* The second begins at 1, so does the fetch: up to 121. The third begins at 2, would have it at
     * 12, and waits 109 longer. */
    costs(goes_on, SLOW AHEAD "core.window=1000 core.misses=4",
          "machine.cycles=503 core.prefetch.data.late=1 core.prefetch.data.late-cycles=109 "
          "coherence.memory-reads=4");
}

/* Of fields side by side by a policy that has a word for each: its metadata is a stream, too. */
static void a_policys_accesses_are_streams_too(void **state)
{
    static const char policy[] = SLOW "policies=fasttrack granularity=4 core.misses=4 ";
    char events[4000] = "", with[300];
    uint64_t cycles[2];

    (void)state;
    for (int i = 0; i < 100; i++)
        sprintf(events + strlen(events), "%sT0 read 0x%x 4", i ? ";" : "", 0x10000 + 4 * i);
    for (int i = 0; i < 2; i++) {
        snprintf(with, sizeof with, "%score.prefetch.streams=%d", policy, 4 * i);
        struct ran r = ran_text(events, with);
        cycles[i] = ran_stat(&r, "machine.cycles");
        if (i && (!ran_stat(&r, "core.prefetch.metadata.useful") ||
                  !(ran_stat(&r, "core.prefetch.data.useful") +
                    ran_stat(&r, "core.prefetch.data.late"))))
            fail_msg("no metadata, or no data, was fetched ahead");
        ran_free(&r);
    }
    if (cycles[1] >= cycles[0])
        fail_msg("%llu cycles with a prefetcher, %llu without", (unsigned long long)cycles[1],
                 (unsigned long long)cycles[0]);
}

static struct ran recorded(const char *policy, unsigned streams)
{
    char folder[300], out[340], with[300];
    struct ran r = {0};

    snprintf(folder, sizeof folder, "%s/lardsim-ahead-XXXXXX", ran_tmp());
    assert_non_null(mkdtemp(folder));
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(with, sizeof with,
             "order=recorded l1.size=2Ki l2.size=8Ki policies=%s core.prefetch.streams=%u", policy,
             streams);
    ran_once(&r, "synth:seed=5,events=3000,threads=4,variables=500,txn_share=0", with, RAN_PULL,
             out);
    ran_remove(out);
    ran_remove(folder);
    if (r.code)
        fail_msg("%s: %s", with, r.error);
    return r;
}

/* In recorded order nothing decides on a verdict but the events. */
static void prefetches_change_no_verdict(void **state)
{
    static const char *const each[] = {"fasttrack", "fastrcd", "valor",  "slimstate",  "vc",
                                       "eraser",    "clean",   "radish", "goldilocks", "lardish"};
    static const char *const same[] = {"accesses", "sites", "locations", "pairs"};
    uint64_t issued = 0, racy = 0;
    char name[100];

    (void)state;
    for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
        struct ran r[2] = {recorded(each[k], 0), recorded(each[k], 4)};
        for (size_t n = 0; n < sizeof same / sizeof *same; n++) {
            snprintf(name, sizeof name, "policy.%s.races.%s", each[k], same[n]);
            const uint64_t without = ran_stat(&r[0], name), ahead = ran_stat(&r[1], name);
            racy += without;
            if (without != ahead)
                fail_msg("%s: %llu, with a prefetcher %llu", name, (unsigned long long)without,
                         (unsigned long long)ahead);
        }
        issued += ran_stat(&r[1], "core.prefetch.data.issued");
        ran_free(&r[0]);
        ran_free(&r[1]);
    }
    assert_true(issued && racy);
}

/* ---- whatever the trace ---------------------------------------------------------------------- */

/* One thread alone, so that no time changes what runs when; the L1 is small. */
static const char *const sources[] = {
    "synth:seed=1,events=3000,threads=1,gc_share=0,unaligned=0",
    "synth:seed=2,events=3000,threads=1,gc_share=0,unaligned=0,variables=4000",
    "synth:seed=3,events=3000,threads=1,gc_share=0,unaligned=0,sync_share=300"};
static const char *const policies[] = {"none",      "fasttrack",    "fastrcd", "valor",
                                       "slimstate", "vc",           "eraser",  "goldilocks",
                                       "clean",     "lard-runtime", "tsan"};

static struct ran alone(const char *source, const char *policy, const char *settings)
{
    char with[400];

    snprintf(with, sizeof with, "cores=1 granularity=4 l1.size=2Ki policies=%s %s", policy,
             settings);
    return ran_source(source, with);
}

/* A window of one instruction, and nothing that goes on beside: that is a core in order that waits
 * for each access. */
static void narrowed_down_it_is_the_simple_core(void **state)
{
    static const char *const same[] = {"machine.cycles", "machine.instructions",
                                       "l1.data.load-misses", "l1.metadata.load-misses",
                                       "coherence.memory-reads"};

    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        for (size_t k = 0; k < sizeof policies / sizeof *policies; k++) {
            struct ran a = alone(sources[i], policies[k], "core.type=simple"),
                       b = alone(sources[i], policies[k],
                                 "core.type=pipelined core.width=1 core.window=1");
            assert_int_equal(a.code, 0);
            for (size_t n = 0; n < sizeof same / sizeof *same; n++)
                if (ran_stat(&a, same[n]) != ran_stat(&b, same[n]))
                    fail_msg("%s %s: %s is %llu simple, %llu pipelined", sources[i], policies[k],
                             same[n], (unsigned long long)ran_stat(&a, same[n]),
                             (unsigned long long)ran_stat(&b, same[n]));
            ran_free(&a);
            ran_free(&b);
        }
}

/* Each row has more of one thing than the row before it. */
static void more_of_anything_is_never_slower(void **state)
{
    static const char *const more[] = {
        "core.width=1 core.window=1",
        "core.width=1 core.window=16",
        "core.width=2 core.window=16",
        "core.width=4 core.window=16",
        "core.width=4 core.window=128",
        "core.width=4 core.window=128 core.misses=1",
        "core.width=4 core.window=128 core.misses=8",
    };
    char with[200];

    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        for (size_t k = 0; k < sizeof policies / sizeof *policies; k++) {
            uint64_t before = UINT64_MAX;
            for (size_t n = 0; n < sizeof more / sizeof *more; n++) {
                snprintf(with, sizeof with, "core.type=pipelined %s", more[n]);
                struct ran r = alone(sources[i], policies[k], with);
                const uint64_t cycles = ran_stat(&r, "machine.cycles");
                if (cycles > before)
                    fail_msg("%s %s: %s takes %llu cycles, less of it %llu", sources[i],
                             policies[k], more[n], (unsigned long long)cycles,
                             (unsigned long long)before);
                before = cycles;
                ran_free(&r);
            }
        }
}

/* A thread writes two bytes of a word by turns, and then one of them again and again. The branches
 * of each check are learned. core.mispredict is what each wrong guess takes beyond its wait. */
static void wrong_guesses_take_time(void **state)
{
    static const char trace[] =
        "T0 write 0x9000 1;T0 write 0x9001 1;T0 write 0x9000 1;T0 write 0x9001 1;" R50;
    static const char settings[] = SLOW "policies=tsan granularity=1 core.predictor=two-bit ";
    uint64_t cycles[3], wrong = 0;
    char with[300];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        snprintf(with, sizeof with, "%s core.mispredict=%u", settings, 10 * i);
        struct ran r = ran_text(trace, with);
        cycles[i] = ran_stat(&r, "machine.cycles");
        wrong = ran_stat(&r, "core.branches.mispredicted");
        assert_true(ran_stat(&r, "core.branches.all") > wrong);
        ran_free(&r);
    }
    assert_true(wrong > 0);
    number_is("ten cycles for each wrong guess", cycles[1] - cycles[0], 10 * wrong);
    number_is("twenty", cycles[2] - cycles[0], 20 * wrong);
    struct ran r = ran_text(trace, SLOW "policies=tsan granularity=1");
    assert_true(ran_stat(&r, "machine.cycles") <= cycles[0]);
    ran_free(&r);
}

static uint64_t sum_of(const struct ran *r, const char *names)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < r->n; i++)
        if (!strncmp(r->stat[i].name, names, strlen(names)))
            sum += r->stat[i].value;
    return sum;
}

/* A policy's cycles by cause, and by what they were for, are those that the core was charged. */
static void a_policys_cycles_add_up(void **state)
{
    char parts[80];

    (void)state;
    for (size_t k = 1; k < sizeof policies / sizeof *policies; k++) {
        struct ran r = alone(sources[2], policies[k],
                             "core.type=pipelined core.store-buffer=4 core.misses=4 "
                             "core.atomic=20 core.predictor=two-bit tlb.entries=8");
        const uint64_t handler = ran_stat(&r, "machine.spent.handler");
        snprintf(parts, sizeof parts, "policy.%s.cost.cycles.", policies[k]);
        assert_int_equal(sum_of(&r, "core.policy."), handler);
        if (strcmp(policies[k], "lard-runtime") != 0) /* that has no ledger */
            assert_int_equal(sum_of(&r, parts), handler);
        ran_free(&r);
    }
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    fails("T0 io", "core.type=pipelined order=recorded", 3, "core.type", "order=timed", "simple");
    fails("T0 io", "core.predictor=tage", 3, "core.predictor", "core.type=pipelined", "none");
    fails("T0 io", "tlb.entries=64", 3, "tlb.entries", "core.type=pipelined", "tlb.entries=0");
    fails("T0 io", "core.type=pipelined tlb.entries=64 tlb.ways=3", 3, "tlb.entries", "3 ways",
          "another number");
    fails("T0 io", "core.type=pipelined tlb.entries=64 tlb.page=64Ki pages.mapping=first-touch", 3,
          "tlb.page", "pages.size", "pages.mapping=identity");
    fails("T0 io", "core.type=pipelined core.width-hundredths=5 core.shared-front-end=2", 3,
          "core.width-hundredths", "a front end of their own", "core.shared-front-end=1");
    fails("T0 io", "core.type=pipelined core.width=0", 3, "core.width", "1..16", "0");
    fails("T0 io", "core.type=pipelined core.window=0", 3, "core.window", "1..1024", "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_instructions_are_issued_together),
        cmocka_unit_test(a_width_may_have_a_fraction),
        cmocka_unit_test(cores_that_run_share_a_front_end),
        cmocka_unit_test(hits_are_pipelined),
        cmocka_unit_test(the_window_bounds_how_far_a_core_goes_on),
        cmocka_unit_test(misses_overlap_as_far_as_there_are_mshrs),
        cmocka_unit_test(both_lines_of_a_load_are_fetched_together),
        cmocka_unit_test(a_store_leaves_behind_the_loads_before_it),
        cmocka_unit_test(stores_that_hit_leave_one_a_cycle),
        cmocka_unit_test(loads_see_their_cores_stores),
        cmocka_unit_test(atomics_cost_their_line_and_something_on_top),
        cmocka_unit_test(atomics_cost_by_the_state_of_their_line),
        cmocka_unit_test(an_access_waits_for_its_translation),
        cmocka_unit_test(a_policys_instructions_and_hits_are_the_same_kind),
        cmocka_unit_test(a_policys_stores_use_the_same_buffer),
        cmocka_unit_test(a_policys_atomics_drain_the_programs_stores),
        cmocka_unit_test(the_runtimes_accesses_are_the_cores),
        cmocka_unit_test(a_load_finds_what_was_fetched_ahead),
        cmocka_unit_test(a_policys_accesses_are_streams_too),
        cmocka_unit_test(prefetches_change_no_verdict),
        cmocka_unit_test(narrowed_down_it_is_the_simple_core),
        cmocka_unit_test(more_of_anything_is_never_slower),
        cmocka_unit_test(wrong_guesses_take_time),
        cmocka_unit_test(a_policys_cycles_add_up),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
