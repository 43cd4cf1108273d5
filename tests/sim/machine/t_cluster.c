/* t_cluster.c - what an event costs and waits for on processes with memories of their own: every
 * count is worked out by hand from docs/dsm.md. A cycle is a ns; a byte is on a link for a cycle;
 * an instruction takes 1, an access that misses 120, one that hits 1. A process is a host. */
#include "tests/frame/timed_run.h"

#define TWO "T0 start;T1 start;"
#define DSM                                                                                        \
    "machine=dsm cores=2 frequency=1000 dsm.host=1 dsm.latency=1000 dsm.bandwidth=8000 "           \
    "dsm.send=10 dsm.receive=20 dsm.copy=0 dsm.header=0 dsm.trap=100 dsm.protect=7 dsm.twin=0 "    \
    "dsm.diff=0 dsm.diff-change=0 dsm.apply=0 dsm.notice=0 dsm.interval=0"

/* 100 to the handler; 10 + 1000 + 4 + 20 for the request; 10 + 1000 + 4096 + 8 + 20 for the page; 7
 * to allow it; then the access of 120 and its instruction. */
static void a_fault_is_its_cores(void **state)
{
    (void)state;
    costs(TWO "T1 read 0x1000 8;T1 read 0x1008 8", DSM,
          "machine.cycles=6398 cores.page-fault.1=6275 cores.memory.1=120 cores.l1.1=1 "
          "cores.page-fault.0=0 dsm.wait.fault=6275 dsm.messages=2 machine.instructions=2");
    /* Who has the page at first: a twin needs the handler and a change of protection. */
    costs(TWO "T0 write 0x1000 8", DSM, "machine.cycles=228 cores.page-fault.0=107");
    /* On two pages: two faults. */
    costs(TWO "T1 read 0x1ffc 8", DSM, "cores.page-fault.1=12550 dsm.read-faults=2");
    /* What is no shared memory: none. */
    costs(TWO "T1 read 0x1000 8 stack", DSM, "machine.cycles=121 dsm.messages=0");
    costs(TWO "T1 write 0x1000 8 private", DSM, "machine.cycles=121 dsm.messages=0");
}

/* Each process has the line in its own memory: neither takes it from the other's cache. */
static void memories_are_apart(void **state)
{
    (void)state;
    costs(TWO "T0 write 0x1000 8;T1 write 0x1008 8;T0 write 0x1000 8 +100000", DSM,
          "coherence.upgrades=0 machine.spent.remote=0 machine.spent.memory=240 "
          "machine.spent.l1=1");
}

/* T0 has the lock until 50001. T1 asks at 0; the request is there at 1038, and waits. The grant
 * leaves with the release: 10 + 1000 + 8 + 20. */
static void a_lock_is_asked_for_when_the_wait_begins(void **state)
{
    (void)state;
    costs(TWO "T0 acq 0x10;T0 rel 0x10 +50000;T1 acq 0x10", DSM,
          "machine.cycles=51040 cores.wait-lock.1=51039 cores.wait-lock.0=0 dsm.wait.lock=1037 "
          "dsm.message.lock-request.number=1 dsm.message.lock-grant.number=1 "
          "dsm.message.lock-forward.number=0");
    /* T0 was asked, and sent: 20 + 10 of its next event. */
    costs(TWO "T0 acq 0x10;T0 rel 0x10 +50000;T1 acq 0x10;T0 io +50000", DSM,
          "cores.service.0=30 dsm.served=30 dsm.served-waiting=0");
}

/* T0 waits for T1's end, while T1 fetches a page from it; the end itself is told to it, as it is
 * the manager. 20 + 10 + 20. */
static void who_waits_serves_for_nothing(void **state)
{
    (void)state;
    costs(TWO "T1 read 0x1000 8;T1 end;T0 join T1", DSM,
          "cores.service.0=0 dsm.served=50 dsm.served-waiting=50");
}

/* T1 arrives at 0 and sends for 10; its message is at the master's at 1018, which has taken it in
 * at 1038. T0 arrives at 5000, and sends the departure: 10 + 1000 + 8 + 20. */
static void a_barrier_waits_for_the_last_and_the_master(void **state)
{
    (void)state;
    costs(TWO "T1 arrive 0x20 0;T0 arrive 0x20 0 +5000;T0 depart 0x20 0;T1 depart 0x20 0", DSM,
          "dsm.barrier-rounds=1 dsm.message.arrive.number=1 dsm.message.depart.number=1 "
          "cores.executing.0=5002 cores.wait-barrier.0=10 machine.cycles=6060 "
          "cores.wait-barrier.1=6058 cores.service.0=20");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_is_its_cores),
        cmocka_unit_test(memories_are_apart),
        cmocka_unit_test(a_lock_is_asked_for_when_the_wait_begins),
        cmocka_unit_test(who_waits_serves_for_nothing),
        cmocka_unit_test(a_barrier_waits_for_the_last_and_the_master),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
