/* t_ddr_flow.c - the DDR model to the cycle: which request is first, writes, the contract of
 * memory.h, the two clocks. The device and its numbers: rig.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "tests/memory/ddr/rig.h"

static const char *const eager_writes[] = {"memory.ddr.write-idle=0", NULL};

/* ---- which request is first ----------------------------------------------------------------- */

static void an_older_conflict_lets_a_hit_pass(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    read_at(r, 0, place(0, 0, 0, 1, 0), 1);
    bench_expect(&r->b, 1, MISS);
    read_at(r, 200, place(0, 0, 0, 2, 0), 2); /* asks to close the row in 202 */
    read_at(r, 200, place(0, 0, 0, 1, 1), 3); /* is in the queue from 203 on */
    struct mem_answer a;
    assert_true(bench_step(&r->b, 1000, &a));
    assert_int_equal(a.id, 2); /* the row was closed before the hit was seen */
    assert_true(bench_step(&r->b, 1000, &a));
    rig_free(r, 1000);

    r = rig_new(NULL); /* the same while the row may not be closed yet */
    read_at(r, 0, place(0, 0, 0, 1, 0), 1);
    read_at(r, 10, place(0, 0, 0, 2, 0), 2);
    read_at(r, 11, place(0, 0, 0, 1, 1), 3);
    bench_expect(&r->b, 1, MISS);
    bench_expect(&r->b, 3, MISS + 8); /* tCCD_L */
    bench_expect(&r->b, 2, 54 + 22 + 22 + DATA);
    rig_free(r, 1000);
}

/* Reads wait for tWTR; the row of the older one stays open, although a younger one wants another.
 */
static void an_older_hit_keeps_its_row(void **state)
{
    struct rig *r = rig_new(eager_writes);
    struct mem_answer a;

    (void)state;
    read_at(r, 0, place(0, 0, 1, 1, 0), 1);
    assert_true(bench_step(&r->b, 100, &a));
    write_at(r, 200, place(0, 0, 0, 1, 0)); /* written in 224 */
    read_at(r, 223, place(0, 0, 1, 1, 1), 2);
    read_at(r, 223, place(0, 0, 1, 2, 0), 3);
    bench_expect(&r->b, 2, 224 + 32 + DATA);
    bench_expect(&r->b, 3, 224 + 32 + 12 + 22 + 22 + DATA);
    rig_free(r, 500);
}

static void banks_take_turns(void **state)
{
    struct rig *r = rig_new(NULL);
    struct mem_answer a;

    (void)state;
    for (unsigned g = 0; g < 3; g++)
        read_at(r, 0, place(0, g, 0, 1, 0), g);
    for (unsigned g = 0; g < 3; g++)
        assert_true(bench_step(&r->b, 200, &a));
    for (unsigned g = 0; g < 3; g++) /* all in the queues by 310 */
        for (unsigned k = 1; k < 4; k++)
            read_at(r, 300, place(0, g, 0, 1, k), g);
    for (unsigned i = 0; i < 9; i++) {
        assert_true(bench_step(&r->b, 500, &a));
        if (i >= 3)
            assert_int_equal(a.id, i % 3);
    }
    rig_free(r, 500);
}

/* With four hits behind it a row may be closed although a fifth waits. */
static void a_row_has_its_share_of_hits(void **state)
{
    static const char *const shares[][2] = {{NULL, NULL}, {"memory.ddr.row-hits=100", NULL}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rig *r = rig_new(shares[i]);
        struct mem_answer a;
        for (unsigned k = 0; k < 4; k++)
            read_at(r, 0, place(0, 0, 0, 1, k), k);
        for (unsigned k = 0; k < 4; k++)
            assert_true(bench_step(&r->b, 200, &a));
        /* A read of another rank that holds the bus keeps the hit from being first. */
        read_at(r, 300, place(0, 0, 0, 1, 4), 10);
        read_at(r, 300, place(0, 0, 0, 2, 0), 11);
        read_at(r, 300, place(0, 0, 0, 1, 5), 12);
        assert_true(bench_step(&r->b, 900, &a));
        assert_int_equal(a.id, 10); /* the oldest, in 302 */
        assert_true(bench_step(&r->b, 900, &a));
        assert_int_equal(a.id, 12); /* a hit, as closing must wait for tRTP */
        assert_true(bench_step(&r->b, 900, &a));
        assert_int_equal(a.id, 11);
        rig_free(r, 1000);
    }
}

enum { OPENS = 1, CONFLICTS, HITS }; /* reads, by what each does to its row */

/* Cycle 54 is the first in which a conflict may close the row; a hit comes for that cycle. Which of
 * them is answered first, and when is the row closed? */
static void conflict_and_hit(const char *const *settings, uint64_t first, sim_cycle closed)
{
    struct rig *r = rig_new(settings);
    struct mem_answer a;

    read_at(r, 0, place(0, 0, 0, 1, 0), OPENS);
    read_at(r, 50, place(0, 0, 0, 2, 0), CONFLICTS);
    read_at(r, 52, place(0, 0, 0, 1, 1), HITS);
    assert_true(bench_step(&r->b, 900, &a));
    assert_true(bench_step(&r->b, 900, &a));
    number_is("the read that is answered after the first", a.id, first);
    command_goes(r, DDR_PRECHARGE, 0, closed);
    assert_true(bench_step(&r->b, 900, &a));
    rig_free(r, 1000);
}

static void at_the_share_the_conflict_goes_first(void **state)
{
    (void)state;
    conflict_and_hit((const char *const[]){"memory.ddr.row-hits=1", NULL}, CONFLICTS, 54);
    conflict_and_hit(NULL, HITS, 54 + 12); /* a share of four */
}

static void a_closed_page_precharges_by_itself(void **state)
{
    const char *const settings[] = {"memory.ddr.page=closed", NULL};
    struct rig *r = rig_new(settings);

    (void)state;
    read_at(r, 0, place(0, 0, 0, 1, 0), 1);
    bench_expect(&r->b, 1, MISS);
    read_at(r, 200, place(0, 0, 0, 1, 1), 2); /* the same row: activated again */
    bench_expect(&r->b, 2, 200 + MISS);
    read_at(r, 251, place(0, 0, 0, 2, 0), 3); /* activated at 202; tRC is 74 */
    bench_expect(&r->b, 3, 202 + 74 + 22 + DATA);
    command_goes(r, DDR_PRECHARGE, 0, CYCLE_NEVER);
    command_goes(r, DDR_READ_AUTO, 0, 24);
    bench_counts(&r->b, "row-misses", 3);
    rig_free(r, 1000);
}

/* ---- writes --------------------------------------------------------------------------------- */

static size_t writes_logged(const struct rig *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->log.n; i++)
        n += r->log.row[i].command == DDR_WRITE;
    return n;
}

#define writes_went(r, n) number_is("the number of writes that went", writes_logged(r), n)

static void writes_wait_until_their_queue_is_full(void **state)
{
    const char *const settings[] = {"memory.ddr.write-idle=1024", NULL};
    struct rig *r = rig_new(settings);

    (void)state;
    for (unsigned i = 0; i < 31; i++)
        write_at(r, i, place(0, 0, 0, 1, i));
    run_until(r, 2000);
    writes_went(r, 0);
    write_at(r, 2000, place(0, 0, 0, 1, 31));
    run_until(r, 5000);
    writes_went(r, 32); /* and the drain takes all */
    bench_counts(&r->b, "write-drains", 1);
    rig_free(r, 5000);
}

static void the_marks_say_when_a_drain_starts_and_ends(void **state)
{
    const char *const settings[] = {"memory.ddr.write-idle=1024", "memory.ddr.write-high=10",
                                    "memory.ddr.write-low=4", NULL};
    struct rig *r = rig_new(settings);

    (void)state;
    for (unsigned i = 0; i < 9; i++)
        write_at(r, 0, place(0, 0, 0, 1, i));
    run_until(r, 1000);
    writes_went(r, 0);
    write_at(r, 1000, place(0, 0, 0, 1, 9));
    run_until(r, 2000);
    writes_went(r, 6);
    bench_counts(&r->b, "writes-waiting", 4);
    rig_free(r, 2000);
}

static void an_idle_memory_drains_above_a_few(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    for (unsigned i = 0; i < 8; i++)
        write_at(r, 0, place(0, 0, 0, 1, i));
    run_until(r, 1000);
    writes_went(r, 0);
    write_at(r, 1000, place(0, 0, 0, 1, 8));
    run_until(r, 2000);
    writes_went(r, 9);
    rig_free(r, 2000);
}

static void a_read_of_a_waiting_write_is_answered_at_once(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    write_at(r, 100, place(0, 0, 0, 1, 0));
    read_at(r, 100, place(0, 0, 0, 1, 0), 1);
    bench_expect(&r->b, 1, 102);
    read_at(r, 500, place(0, 0, 0, 1, 0), 2);
    bench_expect(&r->b, 2, 502);
    read_at(r, 600, place(0, 0, 0, 1, 1), 3); /* another line */
    bench_expect(&r->b, 3, 600 + MISS);
    bench_counts(&r->b, "reads-forwarded", 2);
    rig_free(r, 1000);
}

static void writes_to_one_line_are_one(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    for (unsigned i = 0; i < 5; i++)
        write_at(r, i, place(0, 0, 0, 1, 0));
    run_until(r, 100);
    bench_counts(&r->b, "writes-merged", 4);
    bench_counts(&r->b, "writes-waiting", 1);
    bench_counts(&r->b, "writes", 5);
    rig_free(r, 100);
}

static void reads_of_one_line_are_one(void **state)
{
    struct rig *r = rig_new(NULL);

    (void)state;
    read_at(r, 0, place(0, 0, 0, 1, 0), 1);
    read_at(r, 21, place(0, 0, 0, 1, 0), 2);
    read_at(r, 22, place(0, 0, 0, 1, 0), 3);
    for (uint64_t id = 1; id <= 3; id++) { /* in their order */
        struct mem_answer a;
        assert_true(bench_step(&r->b, MISS, &a));
        number_is("the cycle of the answer", a.at, MISS);
        number_is("the read that is answered", a.id, id);
    }
    read_at(r, 100, place(0, 0, 0, 1, 0), 4); /* too late for that */
    bench_expect(&r->b, 4, 100 + HIT);
    bench_counts(&r->b, "reads-merged", 2);
    bench_counts(&r->b, "column-reads", 2);
    rig_free(r, 200);
}

static void a_write_does_not_overtake_a_read_of_its_line(void **state)
{
    const char *const settings[] = {"memory.ddr.write-high=1", "memory.ddr.command-queue=1",
                                    "memory.ddr.write-queue=1", NULL};
    struct rig *r = rig_new(settings);
    struct mem_answer a;

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        read_at(r, 0, place(0, 0, 0, i, 0), i);
        write_at(r, 0, place(0, 0, 0, i, 0));
    }
    for (unsigned i = 0; i < 6; i++)
        assert_true(bench_step(&r->b, CYCLE_NEVER, &a));
    run_until(r, a.at + 2000);
    for (size_t row = 0; row < 6; row++) {
        bool was_read = false;
        for (size_t i = 0; i < r->log.n; i++) {
            if (r->log.row[i].at.row != row)
                continue;
            was_read |= r->log.row[i].command == DDR_READ;
            assert_true(was_read || r->log.row[i].command != DDR_WRITE);
        }
    }
    writes_went(r, 6);
    rig_free(r, a.at + 2000);
}

/* Addresses larger than the device wrap. Another line in the same place is written after the read
 * of the first, although tWTR holds that up and not the write. A write next to it goes before. */
static void a_write_does_not_overtake_a_read_of_its_place(void **state)
{
    const char *const settings[] = {"memory.ddr.write-high=1", NULL};
    const sim_addr beyond = UINT64_C(1) << 50;

    (void)state;
    for (unsigned column = 2; column < 4; column++) {
        struct rig *r = rig_new(settings);
        struct mem_answer a;
        read_at(r, 0, place(0, 0, 0, 1, 0), 1); /* opens the row */
        assert_true(bench_step(&r->b, 100, &a));
        write_at(r, 200, place(0, 0, 0, 1, 1));
        read_at(r, 203, place(0, 0, 0, 1, 2), 2);
        write_at(r, 205, place(0, 0, 0, 1, column) + beyond);
        assert_true(bench_step(&r->b, 400, &a));
        run_until(r, 400);
        const bool first = when(&r->log, DDR_WRITE, 1) < when(&r->log, DDR_READ, 1);
        if (first != (column != 2))
            fail_msg("the write to column %u goes %s the read of column 2", column,
                     first ? "before" : "after");
        rig_free(r, 400);
    }
}

/* A read, a write to its line, and 31 more, which fill the queue; of no command left the drain
 * would never let the read go, so it does. From then on the drain begins again each cycle, and
 * waits: the write for the read of cycle 34, the 31 others behind it one a cycle, and a second read
 * for all of them, though its bank is idle. It moves in cycle 66. */
static void a_full_queue_whose_first_write_waits_for_a_read_keeps_reads_back(void **state)
{
    struct rig *r = rig_new(NULL);
    uint64_t activate = CYCLE_NEVER;

    (void)state;
    read_at(r, 10, place(0, 0, 0, 1, 0), 1);
    write_at(r, 10, place(0, 0, 0, 1, 0));
    for (unsigned i = 0; i < 31; i++)
        write_at(r, 10, place(0, 1 + i / 16, i / 4 % 4, 1, i % 4));
    read_at(r, 12, place(1, 3, 3, 1, 0), 2);
    bench_expect(&r->b, 1, 10 + MISS);
    command_goes(r, DDR_READ, 0, 34);
    run_until(r, 65);
    for (size_t i = 0; i < r->log.n; i++)
        if (r->log.row[i].at.rank == 1)
            activate = r->log.row[i].cycle;
    assert_true(activate == CYCLE_NEVER);
    command_goes(r, DDR_WRITE, 32, CYCLE_NEVER);
    struct mem_answer a;
    assert_true(bench_step(&r->b, CYCLE_NEVER, &a));
    assert_int_equal(a.id, 2);
    for (size_t i = r->log.n; i-- > 0;)
        if (r->log.row[i].at.rank == 1 && r->log.row[i].command == DDR_ACTIVATE)
            activate = r->log.row[i].cycle;
    assert_in_range(activate, 67, 67 + 32); /* other commands may take their turn before */
    rig_free(r, a.at);
}

/* ---- the contract --------------------------------------------------------------------------- */

static void nothing_outstanding_is_no_answer(void **state)
{
    struct rig *r = rig_new(NULL);
    struct mem_answer a;

    (void)state;
    assert_true(r->b.memory.type->next(r->b.memory.self) == CYCLE_NEVER);
    assert_false(bench_step(&r->b, CYCLE_NEVER, &a));
    write_at(r, 0, place(0, 0, 0, 1, 0));
    assert_true(r->b.memory.type->next(r->b.memory.self) == CYCLE_NEVER);
    assert_false(bench_step(&r->b, CYCLE_NEVER, &a));
    read_at(r, 0, place(0, 0, 0, 2, 0), 1);
    assert_true(r->b.memory.type->next(r->b.memory.self) <= MISS);
    rig_free(r, 100);
}

/* Requests of a window in any order, answers as if they came by time; steps of any size. */
static uint64_t answers_digest(uint64_t seed, bool mixed, sim_cycle stride)
{
    enum { N = 400, WINDOW = 8 };
    struct rig *r = rig_new(NULL);
    struct rng g;
    struct mem_request q[N];
    struct mem_answer a;
    struct digest *d = digest_new();
    sim_cycle at = 0, seen = 0;
    uint64_t shuffle = seed;

    rng_seed(&g, seed);
    for (size_t i = 0; i < N; i++) {
        at += 1 + rng_below(&g, 20) + (i % WINDOW ? 0 : 500);
        q[i] = (struct mem_request){paddr_of(rng_below(&g, 1 << 12) * 8192 + rng_below(&g, 8) * 64),
                                    i, at, rng_chance(&g, 1, 4), TRAFFIC_DATA};
    }
    for (size_t i = 0; i < N; i++) {
        if (i % WINDOW == 0) {
            for (; seen < q[i].at; seen = seen + stride < q[i].at ? seen + stride : q[i].at)
                while (bench_step(&r->b, seen, &a))
                    digest_add(d, &a, sizeof a);
            while (bench_step(&r->b, q[i].at, &a))
                digest_add(d, &a, sizeof a);
            shuffle = shuffle * 5 + 1;
        }
        const size_t k = i ^ (mixed ? shuffle % WINDOW : 0); /* of the same window */
        r->b.memory.type->request(r->b.memory.self, &q[k]);
    }
    while (bench_step(&r->b, CYCLE_NEVER, &a))
        digest_add(d, &a, sizeof a);
    const uint64_t value = digest_value(d);
    digest_free(d);
    rig_free(r, a.at);
    return value;
}

/* Of a few lines, in four rows of each bank: hits and conflicts. */
static sim_addr any_row(struct rng *g)
{
    return rng_below(g, 4) << 28 | rng_below(g, 256) * 64;
}

/* Of a processor that asks again when it is answered, in that very cycle, any channel: none may
 * have gone ahead. Answers of one cycle come channel by channel. */
static uint64_t asked_again_digest(const char *device, uint64_t seed, sim_cycle stride)
{
    enum { ASKERS = 6, N = 2000 };
    char *config = xasprintf("memory.ddr.config=%s", device);
    const char *const settings[] = {config, NULL};
    const struct memory_env env = {.mhz = 1600, .line = 64, .contention = true};
    struct digest *d = digest_new();
    struct mem_answer a = {0};
    struct bench b;
    struct rng g;
    sim_cycle until = 0;
    uint64_t asked = 0, answered = 0;

    rng_seed(&g, seed);
    bench_open(&b, "ddr", env, settings);
    free(config);
    for (; asked < ASKERS; asked++)
        bench_put(&b, 0, any_row(&g), false, asked);
    while (answered < N) {
        const sim_cycle last = a.at;
        if (!bench_step(&b, until, &a)) {
            until += stride;
            continue;
        }
        if (a.at < last)
            fail_msg("%s: an answer at %llu comes after one at %llu", device,
                     (unsigned long long)a.at, (unsigned long long)last);
        digest_add(d, &a, sizeof a);
        answered++;
        if (rng_chance(&g, 1, 4))
            bench_put(&b, a.at, any_row(&g), true, 0);
        bench_put(&b, a.at, any_row(&g), false, asked++);
        until = a.at;
    }
    while (bench_step(&b, CYCLE_NEVER, &a))
        digest_add(d, &a, sizeof a);
    const uint64_t value = digest_value(d);
    digest_free(d);
    bench_close(&b, a.at);
    return value;
}

static void no_channel_goes_ahead_of_what_others_answers_bring(void **state)
{
    static const char *const devices[] = {"ddr4-3200", "hbm2"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
        for (uint64_t seed = 1; seed < 4; seed++)
            assert_int_equal(asked_again_digest(devices[i], seed, 7),
                             asked_again_digest(devices[i], seed, 100000));
}

/* A read that comes late, and another line's in the cycle in which that is answered. Returns when
 * the second is answered. */
static sim_cycle answered_after(sim_addr line, sim_cycle stride)
{
    enum { LATE = 100000 };
    const char *const settings[] = {"memory.ddr.config=hbm2", NULL};
    const struct memory_env env = {.mhz = 1600, .line = 64, .contention = true};
    struct mem_answer a;
    struct bench b;
    sim_cycle until = 0;

    bench_open(&b, "ddr", env, settings);
    bench_put(&b, LATE, 0, false, 1);
    while (!bench_step(&b, until, &a))
        until += stride;
    bench_put(&b, a.at, line, false, 2);
    for (until = a.at; !bench_step(&b, until, &a);)
        until += stride;
    assert_int_equal(a.id, 2);
    bench_close(&b, a.at);
    return a.at;
}

static void an_idle_channel_jumps_over_no_answer_of_anothers(void **state)
{
    (void)state;
    for (sim_addr line = 64; line < 64 * 64; line *= 2)
        assert_int_equal(answered_after(line, UINT64_C(1) << 30), answered_after(line, 1000));
}

static void the_order_of_presentation_does_not_matter(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 6; seed++)
        assert_int_equal(answers_digest(seed, false, 1000), answers_digest(seed, true, 1000));
}

static void the_size_of_steps_does_not_matter(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 4; seed++) {
        const uint64_t one = answers_digest(seed, false, 1);
        assert_int_equal(one, answers_digest(seed, false, 1));
        assert_int_equal(one, answers_digest(seed, false, 17));
        assert_int_equal(one, answers_digest(seed, false, 100000));
        assert_int_not_equal(one, answers_digest(seed + 100, false, 1));
    }
}

static void a_full_queue_delays_and_is_counted(void **state)
{
    const char *const settings[] = {"memory.ddr.read-queue=1", "memory.ddr.command-queue=1", NULL};
    struct rig *r = rig_new(settings);
    struct mem_answer a;

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        read_at(r, 0, place(0, 0, 0, 1, i), i);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(bench_step(&r->b, CYCLE_NEVER, &a));
        assert_int_equal(a.id, i);
    }
    /* One waits in the command queue and one for it. The second is taken in in cycle 2, the third
     * when the first is read (24), the fourth a cycle after the second (32). */
    bench_counts(&r->b, "queue-full", 3);
    bench_counts(&r->b, "queue-full-cycles", 1 + 24 + 32);
    rig_free(r, a.at);
}

static void the_bus_is_counted(void **state)
{
    struct rig *r = rig_new(NULL);
    struct mem_answer a;

    (void)state;
    for (unsigned i = 0; i < 10; i++)
        read_at(r, 0, place(0, 0, 0, 1, i), i);
    while (bench_step(&r->b, CYCLE_NEVER, &a))
        ;
    bench_finish(&r->b, 4000);
    bench_counts(&r->b, "cycles", 4001); /* 0 .. 4000 */
    bench_counts(&r->b, "column-reads", 10);
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    stats_csv(r->b.stats, f);
    fclose(f);
    assert_non_null(strstr(text, "memory.bus-busy.0,40,"));
    free(text);
    rig_free(r, 4000);
}

/* ---- refresh -------------------------------------------------------------------------------- */

static void look_on(void *arg, uint64_t cycle, enum ddr_command c, const struct ddr_place *at)
{
    (void)cycle;
    (void)at;
    ++((uint64_t *)arg)[c == DDR_REFRESH || c == DDR_REFRESH_BANK];
}

static void same_or_fail(const char *what, const char *device, uint64_t is, uint64_t must,
                         sim_cycle gap)
{
    if (is != must)
        fail_msg("%s after %llu idle cycles of %s: %llu, not %llu as refresh by refresh", what,
                 (unsigned long long)gap, device, (unsigned long long)is, (unsigned long long)must);
}

/* One of two memories is looked on, so that it goes through every refresh; the other may jump.
 * Their answers are the same after every idle time, and so is the number of refreshes. */
static void idle_times_do_not_matter(const char *config)
{
    enum { TIMES = 3000 };
    const char *const settings[] = {config, NULL};
    const struct memory_env env = {.mhz = 1600, .line = 64, .contention = true};
    const struct ddr_monitor monitor = {look_on, (uint64_t[2]){0}};
    struct bench b[2];
    struct mem_answer a[2];
    sim_cycle at = 0, gap = 0;
    struct rng g;

    rng_seed(&g, 1);
    for (unsigned i = 0; i < 2; i++)
        bench_open(&b[i], "ddr", env, settings);
    ddr_watch(b[1].memory.self, monitor);
    for (uint64_t id = 0; id < TIMES; id++) {
        const sim_addr addr = rng_below(&g, 1 << 16) * 64 * 97;
        for (unsigned i = 0; i < 2; i++) {
            bench_put(&b[i], at, addr, false, id);
            assert_true(bench_step(&b[i], CYCLE_NEVER, &a[i]));
            assert_int_equal(a[i].id, id);
        }
        same_or_fail("the answer", config, a[0].at, a[1].at, gap);
        same_or_fail("refreshes", config, bench_stat(&b[0], "refreshes"),
                     bench_stat(&b[1], "refreshes"), gap);
        gap = 1 + rng_below(&g, UINT64_C(1) << (10 + id % 11));
        at = a[0].at + gap;
    }
    assert_int_equal(((uint64_t *)monitor.arg)[true], bench_stat(&b[1], "refreshes"));
    assert_true(bench_stat(&b[0], "refreshes") > TIMES);
    for (unsigned i = 0; i < 2; i++)
        bench_close(&b[i], at);
}

static void what_is_jumped_over_is_as_what_is_gone_through(void **state)
{
    static const char *const files[] = {"old.ini", "phone.ini", "banks.ini"};
    const char *top = getenv("top_srcdir");

    (void)state;
    idle_times_do_not_matter("memory.ddr.config=ddr4-3200"); /* ranks in turn */
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {         /* all ranks at once; banks in turn */
        char *config =
            xasprintf("memory.ddr.config=%s/tests/data/ddr/%s", top ? top : ".", files[i]);
        idle_times_do_not_matter(config);
        free(config);
    }
}

/* ---- the two clocks ------------------------------------------------------------------------- */

/* tCK x MHz / 10^9 processor cycles are a memory cycle. A request waits for the next one to begin:
 * where it comes with an edge of the memory's clock, not for that one. Its answer comes with the
 * first processor cycle after its data, or with them. */
static void clocks_of_any_ratio_are_exact(void **state)
{
    static const struct {
        const char *device;
        uint64_t mhz;
        sim_cycle at, answer;
    } each[] = {
        /* ddr4-2400: 1 + 17 + 17 + 4 = 39 cycles of 833333 fs */
        {"ddr4-2400", 4000, 0, 134}, /* cycle 1; 133.33 */
        {"ddr4-2400", 4000, 1, 134}, /* cycle 1 begins at 3.33 */
        {"ddr4-2400", 4000, 3, 134}, /* as does this */
        {"ddr4-2400", 4000, 4, 137}, /* cycle 2; 136.66 */
        {"ddr4-2400", 1000, 5, 39},  /* cycle 7 at 5.833; 46 x 0.833333 = 38.33 */
        /* ddr3-1600: 1 + 11 + 11 + 4 = 27 cycles of 1250000 fs. One to one: all edges meet. */
        {"ddr3-1600", 800, 9, 10 + 27},
        {"ddr3-1600", 800, 10, 11 + 27},
        {"ddr3-1600", 800, 11, 12 + 27},
        /* Two processor cycles a memory cycle: that of 10 is the fifth, which it misses. */
        {"ddr3-1600", 1600, 9, 2 * (5 + 27)},
        {"ddr3-1600", 1600, 10, 2 * (6 + 27)},
        {"ddr3-1600", 1600, 11, 2 * (6 + 27)},
        {"ddr3-1600", 1600, 12, 2 * (7 + 27)},
        /* Half a processor cycle: that of 10 is the twentieth. */
        {"ddr3-1600", 400, 9, 23}, /* cycle 19 + 27 = 46 */
        {"ddr3-1600", 400, 10, 24},
        {"ddr3-1600", 400, 11, 25},
        /* Three processor cycles are two of the memory's: 3 is where the second begins. */
        {"ddr3-1600", 1200, 2, 44}, /* cycle 2 + 27 = 29; 43.5 */
        {"ddr3-1600", 1200, 3, 45}, /* cycle 3 */
        {"ddr3-1600", 1200, 4, 45}, /* cycle 3 begins at 4.5 */
        {"ddr3-1600", 1200, 5, 47}, /* cycle 4; 46.5 */
        /* hbm2: 1 + 14 + 14 + 2 = 31 cycles of 1 ns. Three are five of the memory's. */
        {"hbm2", 600, 2, 21}, /* cycle 4 + 31 */
        {"hbm2", 600, 3, 23}, /* 3 is where the fifth begins; cycle 6 + 31 = 37; 22.2 */
        {"hbm2", 600, 4, 23}, /* cycle 7 begins at 4.2; 38; 22.8 */
        {"hbm2", 3000, 3, 3 * (2 + 31)},
        /* 333 are 1000: no other edges meet below. */
        {"hbm2", 333, 332, 343}, /* cycle 997 + 31 = 1028; 342.3 */
        {"hbm2", 333, 333, 344}, /* cycle 1001 + 31 = 1032; 343.7 */
        {"hbm2", 333, 334, 345}, /* cycle 1004 + 31 = 1035; 344.7 */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
        char *config = xasprintf("memory.ddr.config=%s", each[i].device);
        const char *const settings[] = {config, NULL};
        const struct memory_env env = {.mhz = each[i].mhz, .line = 64, .contention = true};
        struct bench b;
        struct mem_answer a;
        bench_open(&b, "ddr", env, settings);
        bench_put(&b, each[i].at, 0, false, i);
        assert_true(b.memory.type->next(b.memory.self) <= each[i].answer);
        assert_true(bench_step(&b, CYCLE_NEVER, &a));
        if (a.at != each[i].answer)
            fail_msg("%s at %llu MHz: a read of cycle %llu is answered at %llu, not at %llu",
                     each[i].device, (unsigned long long)each[i].mhz,
                     (unsigned long long)each[i].at, (unsigned long long)a.at,
                     (unsigned long long)each[i].answer);
        bench_close(&b, 1000);
        free(config);
    }
}

static void far_times_do_not_overflow(void **state)
{
    const char *const settings[] = {"memory.ddr.config=ddr4-2400", NULL};
    const struct memory_env env = {.mhz = 3333, .line = 64, .contention = true};
    const sim_cycle far = UINT64_C(1) << 62;
    struct bench b;
    struct mem_answer a;

    (void)state;
    bench_open(&b, "ddr", env, settings);
    bench_put(&b, far, 64, false, 1);
    assert_true(bench_step(&b, CYCLE_NEVER, &a));
    assert_in_range(a.at, far + 108, far + 112 + 1200); /* a refresh may be under way */
    bench_close(&b, a.at + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_conflict_lets_a_hit_pass),
        cmocka_unit_test(an_older_hit_keeps_its_row),
        cmocka_unit_test(banks_take_turns),
        cmocka_unit_test(a_row_has_its_share_of_hits),
        cmocka_unit_test(at_the_share_the_conflict_goes_first),
        cmocka_unit_test(a_closed_page_precharges_by_itself),
        cmocka_unit_test(writes_wait_until_their_queue_is_full),
        cmocka_unit_test(the_marks_say_when_a_drain_starts_and_ends),
        cmocka_unit_test(an_idle_memory_drains_above_a_few),
        cmocka_unit_test(a_read_of_a_waiting_write_is_answered_at_once),
        cmocka_unit_test(writes_to_one_line_are_one),
        cmocka_unit_test(reads_of_one_line_are_one),
        cmocka_unit_test(a_write_does_not_overtake_a_read_of_its_line),
        cmocka_unit_test(a_write_does_not_overtake_a_read_of_its_place),
        cmocka_unit_test(a_full_queue_whose_first_write_waits_for_a_read_keeps_reads_back),
        cmocka_unit_test(nothing_outstanding_is_no_answer),
        cmocka_unit_test(an_idle_channel_jumps_over_no_answer_of_anothers),
        cmocka_unit_test(the_order_of_presentation_does_not_matter),
        cmocka_unit_test(no_channel_goes_ahead_of_what_others_answers_bring),
        cmocka_unit_test(the_size_of_steps_does_not_matter),
        cmocka_unit_test(a_full_queue_delays_and_is_counted),
        cmocka_unit_test(the_bus_is_counted),
        cmocka_unit_test(what_is_jumped_over_is_as_what_is_gone_through),
        cmocka_unit_test(clocks_of_any_ratio_are_exact),
        cmocka_unit_test(far_times_do_not_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
