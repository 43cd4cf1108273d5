/* t_nodes.c - what does an access take that leaves its NUMA node, and who answers? Eight cores in
 * four nodes of two, two nodes a package, one access at a time: the rules of "Several nodes" in
 * docs/machine.md, to the cycle. A page is 256 bytes; page p has its home in node p modulo 4. */
#include "tests/coherence/bench.h"

#include <stdio.h>

#define NODES                                                                                      \
    "numa.nodes=4 numa.package=2 numa.hop=100 numa.package-hop=30 numa.link-bytes=128 "            \
    "l3.inclusion=non-inclusive l1.size=1024 l1.ways=1 l2.size=1024 l2.ways=1 "
#define BY_PAGE NODES "numa.home=interleave "
#define PAGE    256
#define HOME(n) (0x10000 + (sim_addr)(n) * PAGE) /* a line whose home is in node n */
enum { HOP = 100, IN_PACKAGE = 30, L3 = 35, REMOTE = 15, MEMORY = 120 };

static void once(void (*probe)(struct bench *b), bool contention, const char *settings)
{
    struct bench b;

    if (!bench_open(&b,
                    (struct bench_options){.cores = 8, .page = PAGE, .contention = contention},
                    settings))
        fail_msg("%s", b.e.text);
    probe(&b);
    bench_close(&b);
}

static void with(void (*probe)(struct bench *b), const char *settings)
{
    once(probe, false, settings);
    once(probe, true, settings);
}

static void takes_at(struct bench *b, unsigned core, sim_addr addr, enum mem_cmd cmd,
                     sim_cycle cycles, enum mem_level level, bool far, int line)
{
    const sim_cycle start = b->now;
    const struct coh_result r = bench_access(b, core, addr, cmd);

    if (r.done - start != cycles || r.level != level || r.far != far)
        fail_msg("line %d: %llu cycles, %s, %s; not %llu, %s, %s", line,
                 (unsigned long long)(r.done - start), mem_level_text[r.level],
                 r.far ? "far" : "near", (unsigned long long)cycles, mem_level_text[level],
                 far ? "far" : "near");
}
#define takes(b, core, addr, cmd, cycles, level, far)                                              \
    takes_at(b, core, addr, cmd, cycles, level, far, __LINE__)
enum { NEAR = false, FAR = true };

/* Out of the core's caches, into the L3 of its node: 1 KiB is one way of its L1 and L2. */
static void push_out(struct bench *b, unsigned core, sim_addr addr)
{
    bench_access(b, core, addr + 1024, MEM_LOAD);
    line_is(b, core, LEVEL_L1, addr, INVALID);
    line_is(b, core, LEVEL_L2, addr, INVALID);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void memory_probe(struct bench *b)
{
    takes(b, 0, HOME(0), MEM_LOAD, MEMORY, LEVEL_MEMORY, NEAR);
    takes(b, 0, HOME(1), MEM_LOAD, MEMORY + 2 * IN_PACKAGE, LEVEL_MEMORY, FAR);
    takes(b, 0, HOME(2), MEM_STORE, MEMORY + 2 * HOP, LEVEL_MEMORY, FAR);
    takes(b, 0, HOME(3), MEM_LOAD, MEMORY + 2 * (HOP + IN_PACKAGE), LEVEL_MEMORY, FAR);
    bench_counts(b, "coherence.data.memory.accesses", 4);
    bench_counts(b, "coherence.data.memory.far", 3);
    bench_counts(b, "coherence.data.memory.far-cycles", 3 * MEMORY + 4 * IN_PACKAGE + 4 * HOP);
}

static void test_memory_of_another_node_is_a_way_there_and_back(void **unused)
{
    (void)unused;
    with(memory_probe, BY_PAGE);
}

static void touch_probe(struct bench *b)
{
    takes(b, 6, HOME(0), MEM_LOAD, MEMORY, LEVEL_MEMORY, NEAR); /* node 3 gets the page */
    takes(b, 7, HOME(0) + 64, MEM_LOAD, MEMORY, LEVEL_MEMORY, NEAR);
    takes(b, 0, HOME(0) + 128, MEM_LOAD, MEMORY + 2 * (HOP + IN_PACKAGE), LEVEL_MEMORY, FAR);
    takes(b, 0, HOME(1), MEM_LOAD, MEMORY, LEVEL_MEMORY, NEAR);
    bench_counts(b, "numa.pages.0", 1);
    bench_counts(b, "numa.pages.3", 1);
}

static void test_who_misses_a_page_first_has_its_memory(void **unused)
{
    (void)unused;
    with(touch_probe, NODES);
}

/* ---- L3s ------------------------------------------------------------------------------------ */

static void l3_probe(struct bench *b)
{
    bench_access(b, 0, HOME(2), MEM_STORE);
    push_out(b, 0, HOME(2));
    line_is(b, 0, LEVEL_L3, HOME(2), L3_DIRTY); /* of its own node, not of the home's */
    line_is(b, 4, LEVEL_L3, HOME(2), INVALID);
    takes(b, 1, HOME(2), MEM_LOAD, L3, LEVEL_L3, NEAR);
    line_is(b, 1, LEVEL_L1, HOME(2), EXCLUSIVE);
    push_out(b, 1, HOME(2));
    /* To the home in node 2, which has it forwarded from node 0; from there to node 3. */
    takes(b, 6, HOME(2), MEM_LOAD, L3 + REMOTE + IN_PACKAGE + HOP + (HOP + IN_PACKAGE), LEVEL_L3,
          FAR);
    line_is(b, 6, LEVEL_L1, HOME(2), SHARED); /* beside the L3 of node 0 */
    line_is(b, 0, LEVEL_L3, HOME(2), L3_DIRTY);
    push_out(b, 6, HOME(2));
    line_is(b, 6, LEVEL_L3, HOME(2), L3_CLEAN);
    takes(b, 7, HOME(2), MEM_LOAD, L3, LEVEL_L3, NEAR);
    takes(b, 0, HOME(2), MEM_LOAD, L3, LEVEL_L3, NEAR);
}

static void test_a_nodes_l3_has_what_its_cores_evicted(void **unused)
{
    (void)unused;
    with(l3_probe, BY_PAGE);
}

static void l3_store_probe(struct bench *b)
{
    bench_access(b, 0, HOME(0), MEM_STORE);
    push_out(b, 0, HOME(0));
    bench_access(b, 2, HOME(0), MEM_LOAD);
    push_out(b, 2, HOME(0)); /* now in the L3s of nodes 0 and 1 */
    takes(b, 2, HOME(0), MEM_STORE, L3 + REMOTE + 2 * IN_PACKAGE, LEVEL_L3, FAR);
    line_is(b, 0, LEVEL_L3, HOME(0), INVALID);
    line_is(b, 2, LEVEL_L1, HOME(0), MODIFIED);
}

static void test_a_store_takes_the_line_out_of_other_nodes_l3s(void **unused)
{
    (void)unused;
    with(l3_store_probe, BY_PAGE);
}

/* ---- other cores ---------------------------------------------------------------------------- */

static void owner_probe(struct bench *b)
{
    bench_access(b, 0, HOME(0), MEM_STORE);
    takes(b, 1, HOME(0), MEM_LOAD, L3 + REMOTE, LEVEL_REMOTE, NEAR);
    bench_access(b, 0, HOME(0), MEM_STORE);
    takes(b, 2, HOME(0), MEM_LOAD, L3 + REMOTE + 2 * IN_PACKAGE, LEVEL_REMOTE, FAR);
    bench_access(b, 0, HOME(0), MEM_STORE);
    takes(b, 6, HOME(0), MEM_ATOMIC, L3 + REMOTE + 2 * (HOP + IN_PACKAGE), LEVEL_REMOTE, FAR);
    line_is(b, 0, LEVEL_L3, HOME(0), INVALID); /* what core 0 wrote back for a load has gone, too */
    line_is(b, 6, LEVEL_L1, HOME(0), MODIFIED);
}

static void test_another_nodes_core_is_as_far_as_its_node(void **unused)
{
    (void)unused;
    with(owner_probe, BY_PAGE);
}

/* The home is in node 2; the owner is core 0's neighbour. */
static void home_probe(struct bench *b)
{
    bench_access(b, 0, HOME(2), MEM_STORE);
    takes(b, 1, HOME(2), MEM_LOAD, L3 + REMOTE + 2 * HOP, LEVEL_REMOTE, FAR);
    bench_access(b, 0, HOME(2), MEM_STORE);
    takes(b, 1, HOME(2), MEM_STORE, L3 + REMOTE + 2 * HOP, LEVEL_REMOTE, FAR);
}

static void node_probe(struct bench *b)
{
    bench_access(b, 0, HOME(2), MEM_STORE);
    takes(b, 1, HOME(2), MEM_LOAD, L3 + REMOTE, LEVEL_REMOTE, NEAR);
    takes(b, 0, HOME(2), MEM_STORE, 1 + REMOTE, LEVEL_REMOTE, NEAR);
    takes(b, 1, HOME(2), MEM_STORE, L3 + REMOTE, LEVEL_REMOTE, NEAR);
    takes(b, 2, HOME(2), MEM_LOAD, L3 + REMOTE + (HOP + IN_PACKAGE) + HOP + IN_PACKAGE,
          LEVEL_REMOTE, FAR);
    /* A core of node 1 has it now, so that the home must be asked: there and back. */
    takes(b, 1, HOME(2), MEM_STORE, 1 + REMOTE + HOP + (HOP + IN_PACKAGE) + IN_PACKAGE,
          LEVEL_REMOTE, FAR);
}

static void test_lookup_says_whether_a_neighbour_is_found_without_the_home(void **unused)
{
    (void)unused;
    with(home_probe, BY_PAGE);
    with(node_probe, BY_PAGE "numa.lookup=node");
}

/* ---- stores to shared lines ----------------------------------------------------------------- */

static void share_in_node_0(struct bench *b)
{
    bench_access(b, 0, HOME(0), MEM_LOAD);
    bench_access(b, 1, HOME(0), MEM_LOAD);
    line_is(b, 0, LEVEL_L1, HOME(0), SHARED);
}

static void sharers_probe(struct bench *b)
{
    share_in_node_0(b);
    takes(b, 0, HOME(0), MEM_STORE, L3 + REMOTE, LEVEL_REMOTE, NEAR);
}

static void all_probe(struct bench *b)
{
    share_in_node_0(b);
    takes(b, 0, HOME(0), MEM_STORE, L3 + REMOTE + 2 * (HOP + IN_PACKAGE), LEVEL_REMOTE, FAR);
    takes(b, 1, HOME(0), MEM_STORE, L3 + REMOTE, LEVEL_REMOTE, NEAR); /* it has an owner now */
}

static void test_a_directory_that_does_not_know_the_sharers_asks_all_nodes(void **unused)
{
    (void)unused;
    with(sharers_probe, BY_PAGE "coherence.upgrade-cost=home");
    /* With contention the home's own messages queue, one a cycle. */
    once(all_probe, false, BY_PAGE "coherence.upgrade-cost=home numa.invalidate=all");
}

/* ---- links ---------------------------------------------------------------------------------- */

static void test_a_link_between_nodes_carries_so_many_bytes_a_cycle(void **unused)
{
    struct bench b;

    (void)unused;
    if (!bench_open(&b, (struct bench_options){.cores = 8, .page = PAGE, .contention = true},
                    BY_PAGE "numa.link-bytes=2"))
        fail_msg("%s", b.e.text);
    /* Two requests at once: the second one's 8 bytes wait 4 cycles. One more it waits on the node's
     * crossbar, where the memory is; its data wait the rest of the first one's 33. */
    const struct coh_result first =
        coherence_access(b.c, 0, paddr_of(HOME(2)), MEM_LOAD, TRAFFIC_DATA, 0);
    const struct coh_result second =
        coherence_access(b.c, 1, paddr_of(HOME(2) + 64), MEM_LOAD, TRAFFIC_DATA, 0);
    number_is("the first", first.done, MEMORY + 2 * HOP);
    number_is("the second", second.done, MEMORY + 2 * HOP + 33);
    bench_counts(&b, "numa.queue-cycles", 32);
    bench_counts(&b, "network.queue-cycles", 1);
    bench_counts(&b, "numa.messages", 4);
    bench_counts(&b, "numa.bytes", 2 * (8 + 66));
    bench_close(&b);
}

/* ---- no L3 ---------------------------------------------------------------------------------- */

static void no_l3_probe(struct bench *b)
{
    bench_access(b, 0, HOME(0), MEM_STORE);
    number_is("writes", b->store.writes, 0);
    push_out(b, 0, HOME(0));
    number_is("writes", b->store.writes, 1);
    takes(b, 1, HOME(0), MEM_LOAD, MEMORY, LEVEL_MEMORY, NEAR);
    takes(b, 0, HOME(0), MEM_LOAD, L3 + REMOTE, LEVEL_REMOTE, NEAR);
}

static void test_without_an_l3_victims_go_to_memory(void **unused)
{
    (void)unused;
    with(no_l3_probe, "l3.size=0 l3.inclusion=non-inclusive l1.size=1024 l1.ways=1 l2.size=1024 "
                      "l2.ways=1");
}

/* ---- impossible ones ------------------------------------------------------------------------ */

static void refused(const char *settings, const char *why)
{
    struct bench b;

    if (bench_open(&b, (struct bench_options){.cores = 8}, settings))
        fail_msg("%s is taken", settings);
    if (!strstr(b.e.text, why))
        fail_msg("%s: \"%s\" does not say \"%s\"", settings, b.e.text, why);
    bench_close(&b);
}

static void test_nodes_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    refused("numa.nodes=2", "l3.inclusion=non-inclusive");
    refused("numa.nodes=3 l3.inclusion=non-inclusive", "no whole number");
    refused("numa.nodes=4 l2.shared-by=4 l3.inclusion=non-inclusive", "no whole number");
    refused("numa.nodes=4 numa.package=3 l3.inclusion=non-inclusive", "packages");
    refused("l3.size=0", "non-inclusive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_of_another_node_is_a_way_there_and_back),
        cmocka_unit_test(test_who_misses_a_page_first_has_its_memory),
        cmocka_unit_test(test_a_nodes_l3_has_what_its_cores_evicted),
        cmocka_unit_test(test_a_store_takes_the_line_out_of_other_nodes_l3s),
        cmocka_unit_test(test_another_nodes_core_is_as_far_as_its_node),
        cmocka_unit_test(test_lookup_says_whether_a_neighbour_is_found_without_the_home),
        cmocka_unit_test(test_a_directory_that_does_not_know_the_sharers_asks_all_nodes),
        cmocka_unit_test(test_a_link_between_nodes_carries_so_many_bytes_a_cycle),
        cmocka_unit_test(test_without_an_l3_victims_go_to_memory),
        cmocka_unit_test(test_nodes_that_cannot_be_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
