/* t_lines.c - what a detector in hardware hears of a real machine's caches, and who pays for it:
 * data that leave take permissions along, history lines that leave go to the manager, the core
 * whose access displaced them pays, when it has nothing else in hand.
 *
 *     t_lines [--mutant NAME]     a rule broken on purpose (tests/mutants/): must fail
 */
#include "tests/frame/mutant_arg.h"
#include "tests/frame/timed_run.h"

/* Thread t is on core t. One private cache of 16 sets of 4 lines, a shared one of 64 sets of 8,
 * both of LRU. A line's history is in the line's own sets. Permission is for what was accessed. */
#define CACHES                                                                                     \
    "policies=lardish granularity=4 policy.lardish.runtime=off l1.size=4Ki l1.ways=4 l2.size=0 "   \
    "l3.size=32Ki l3.ways=8 policy.lardish.fill=status policy.lardish.answers=granules "
#define STARTS "T0 start;T1 start;"

/* Four lines of A's set in the private cache, and not in the shared one. */
#define A       "0x10200"
#define WRITE_A "T0 write " A " 8;"
#define OTHERS                                                                                     \
    "T0 read 0x20600 8 system;T0 read 0x20a00 8 system;T0 read 0x20e00 8 system;"                  \
    "T0 read 0x21600 8 system;"

enum { TEXT = 1 << 16 };
struct text {
    size_t n;
    char text[TEXT];
};

static void say(struct text *t, const char *format, ...)
{
    va_list more;

    va_start(more, format);
    t->n += (size_t)vsnprintf(t->text + t->n, TEXT - t->n, format, more);
    va_end(more);
    assert_true(t->n < TEXT);
}

/* Unchecked accesses of a thread to n lines. */
static void pass_through(struct text *t, unsigned thread, const char *kind, unsigned from,
                         unsigned n, unsigned gap)
{
    for (unsigned i = 0; i < n; i++)
        say(t, "T%u %s 0x%x 8 +%u system;", thread, kind, from + 64 * i, gap);
}

static const char *const orders[] = {CACHES "order=timed", CACHES "order=recorded",
                                     CACHES "order=timed memory.type=ddr contention=on", NULL};

static void data_that_the_core_throws_out_take_permissions_along(void **state)
{
    (void)state;
    for (size_t i = 0; orders[i]; i++) {
        costs(STARTS WRITE_A WRITE_A, orders[i],
              "policy.lardish.permissions.taken=0 policy.lardish.checks.outcome.permission=1");
        costs(STARTS WRITE_A OTHERS WRITE_A, orders[i],
              "policy.lardish.permissions.taken=2 policy.lardish.permissions.granted=4 "
              "policy.lardish.checks.outcome.permission=0 policy.lardish.checks.outcome.local=2 "
              "policy.lardish.manager.handlers.eviction=0");
    }
}

/* Also while a load that nobody waits for throws them out, or a store in the store buffer. */
static void so_do_data_that_buffered_accesses_throw_out(void **state)
{
    static const char stores[] =
        "T0 write 0x20600 8 system;T0 write 0x20a00 8 system;T0 write 0x20e00 8 system;"
        "T0 write 0x21600 8 system;T0 io +5000;";
    char text[1000];

    (void)state;
    snprintf(text, sizeof text, "%s%s%sT0 io +5000;%s", STARTS, WRITE_A, OTHERS, WRITE_A);
    costs(text, CACHES "core.misses=4",
          "policy.lardish.permissions.taken=2 policy.lardish.checks.outcome.local=2 "
          "schedule.overlapped=4");
    snprintf(text, sizeof text, "%s%s%s%s", STARTS, WRITE_A, stores, WRITE_A);
    costs(text, CACHES "core.store-buffer=8",
          "policy.lardish.permissions.taken=2 policy.lardish.checks.outcome.local=2 "
          "schedule.buffered=6");
}

/* Nobody tells T0 that T1 writes: it no longer holds the data. */
static void a_race_after_that_is_found(void **state)
{
    static const char kept[] = STARTS WRITE_A "T1 write " A " 8 +20000;T0 write " A " 8 +40000";
    static const char gone[] =
        STARTS WRITE_A OTHERS "T1 write " A " 8 +20000;T0 write " A " 8 +40000";

    (void)state;
    for (size_t i = 0; orders[i]; i++) {
        costs(kept, orders[i],
              "policy.lardish.races.accesses=2 policy.lardish.permissions.lowered=2");
        costs(gone, orders[i],
              "policy.lardish.races.accesses=2 policy.lardish.permissions.lowered=0");
    }
}

/* T0 writes four lines and does no more; T1 passes through the shared cache, unchecked. */
static void who_displaces_another_cores_histories_pays(void **state)
{
    for (size_t i = 0; orders[i]; i++) {
        struct text *t = calloc(1, sizeof *t);
        (void)state;
        assert_non_null(t);
        say(t,
            STARTS "T0 write 0x10000 8;T0 write 0x10040 8;T0 write 0x10080 8;T0 write 0x100c0 8;");
        struct ran before = ran_text(t->text, orders[i]);
        say(t, "T1 io +50000;");
        pass_through(t, 1, "read", 0x40000, 1024, 0);
        struct ran after = ran_text(t->text, orders[i]);
        ran_want(&before, "policy.lardish.manager.handlers.eviction=0 cores.handler.1=0");
        ran_want(&after, "policy.lardish.manager.handlers.eviction=4 policy.lardish.lines.dirty=4 "
                         "policy.lardish.lines.live=0 policy.lardish.manager.granules=8");
        assert_int_equal(ran_stat(&after, "cores.handler.0"), ran_stat(&before, "cores.handler.0"));
        assert_true(ran_stat(&after, "cores.handler.1") >=
                    ran_stat(&after, "policy.lardish.manager.cycles.eviction"));
        ran_free(&before);
        ran_free(&after);
        free(t);
    }
}

/* T1 does nothing in memory, one event after the other, and so is the first to hear of what T0's
 * handlers displace. */
static void who_only_tells_of_them_does_not(void **state)
{
    struct text *t = calloc(1, sizeof *t);

    (void)state;
    assert_non_null(t);
    say(t, STARTS);
    for (unsigned i = 0; i < 500; i++)
        say(t, "T0 write 0x%x 8;", 0x40000 + 64 * i);
    for (unsigned i = 0; i < 3000; i++)
        say(t, "T1 io +50;");
    struct ran r = ran_text(t->text, CACHES);
    assert_true(ran_stat(&r, "policy.lardish.manager.handlers.eviction") > 20);
    assert_true(ran_stat(&r, "cores.handler.0") >
                ran_stat(&r, "policy.lardish.manager.cycles.eviction"));
    ran_want(&r, "cores.handler.1=0");
    ran_free(&r);
    free(t);
}

/* T0's handlers displace history lines of its own, whose eviction displaces more: all are paid for
 * at once, and an access behind the last, which has permission, finds nothing to pay. */
static void what_a_handler_displaces_is_paid_for_at_its_event(void **state)
{
    enum { SHORTEST = 480, LENGTHS = 16 };

    (void)state;
    for (unsigned n = SHORTEST; n < SHORTEST + LENGTHS; n++) {
        struct text *t = calloc(1, sizeof *t);
        assert_non_null(t);
        say(t, STARTS);
        for (unsigned i = 0; i < n; i++)
            say(t, "T0 write 0x%x 8;", 0x40000 + 64 * i);
        struct ran r = ran_text(t->text, CACHES);
        say(t, "T0 write 0x%x 8;", 0x40000 + 64 * (n - 1));
        struct ran later = ran_text(t->text, CACHES);
        assert_int_equal(ran_stat(&later, "policy.lardish.manager.handlers.eviction"),
                         ran_stat(&r, "policy.lardish.manager.handlers.eviction"));
        assert_int_equal(ran_stat(&later, "cores.handler.0"), ran_stat(&r, "cores.handler.0"));
        ran_free(&r);
        ran_free(&later);
        free(t);
    }
}

/* T0's store buffer displaces the history lines of T0's own; the core pays once it is free, and
 * stands in no handler twice (asserted in swm_enter). */
static void a_core_pays_for_its_store_buffer_after_what_it_has_in_hand(void **state)
{
    static const char *const with[] = {CACHES "core.store-buffer=4",
                                       CACHES "core.store-buffer=4 memory.type=ddr contention=on",
                                       CACHES "core.store-buffer=1 core.misses=4", NULL};

    (void)state;
    for (size_t i = 0; with[i]; i++) {
        struct text *t = calloc(1, sizeof *t);
        assert_non_null(t);
        say(t, STARTS "T0 write 0x10000 8;T0 write 0x10040 8;");
        pass_through(t, 0, "write", 0x40000, 1024, 0);
        for (unsigned k = 0; k < 20; k++)
            say(t, "T0 write 0x%x 8;T0 write 0x%x 8 system;", 0x60000 + 64 * k, 0x70000 + 64 * k);
        say(t, "T0 io +10;");
        struct ran r = ran_text(t->text, with[i]);
        assert_true(ran_stat(&r, "policy.lardish.manager.handlers.eviction") >= 2);
        assert_true(ran_stat(&r, "cores.handler.0") >
                    ran_stat(&r, "policy.lardish.manager.cycles.eviction"));
        ran_want(&r, "cores.handler.1=0 policy.lardish.races.accesses=0");
        ran_free(&r);
        free(t);
    }
}

/* The last copy of the data leaves the chip first, as it came first. */
static void data_that_leave_the_chip_take_their_histories_along(void **state)
{
    struct text *t = calloc(1, sizeof *t);

    (void)state;
    assert_non_null(t);
    say(t, STARTS WRITE_A);
    for (unsigned i = 1; i <= 7; i++) /* of A's set in the shared cache */
        say(t, "T1 read 0x%x 8 +1000 system;", 0x10200 + 0x1000 * i);
    costs(
        t->text, CACHES,
        "policy.lardish.lines.homeless=1 policy.lardish.lines.dirty=1 policy.lardish.lines.live=0 "
        "policy.lardish.permissions.taken=2 coherence.histories.dropped=1");
    free(t);
}

/* An access that synchronises has a part that is the runtime's, whose instructions and accesses the
 * core makes when it has paid for the check; one that does not has none. */
static void the_runtimes_part_of_an_access_is_paid_with_it(void **state)
{
    static const char with[] = CACHES "policy.lardish.runtime=on";
    struct ran plain = ran_text(STARTS "T0 write " A " 8", with);
    struct ran relaxed = ran_text(STARTS "T0 write " A " 8 relaxed", with);
    struct ran release = ran_text(STARTS "T0 write " A " 8 release", with);
    const uint64_t none = ran_stat(&plain, "policy.lardish.runtime.instructions");

    (void)state;
    assert_int_equal(ran_stat(&relaxed, "policy.lardish.runtime.instructions"), none);
    assert_true(ran_stat(&release, "policy.lardish.runtime.instructions") > none);
    assert_int_equal(ran_stat(&relaxed, "cores.handler.0"), ran_stat(&plain, "cores.handler.0"));
    assert_true(ran_stat(&release, "cores.handler.0") > ran_stat(&plain, "cores.handler.0"));
    ran_free(&plain);
    ran_free(&relaxed);
    ran_free(&release);
}

static void the_runtimes_part_of_synchronisation_is_paid_at_its_event(void **state)
{
    static const char with[] = CACHES "policy.lardish.runtime=on";
    struct ran without = ran_text(STARTS "T0 read " A " 8", with);
    struct ran once = ran_text(STARTS "T0 read " A " 8;T0 acq 0x9000;T0 rel 0x9000", with);
    struct ran off = ran_text(STARTS "T0 read " A " 8;T0 acq 0x9000;T0 rel 0x9000", CACHES);

    (void)state;
    assert_true(ran_stat(&once, "policy.lardish.runtime.instructions") >
                ran_stat(&without, "policy.lardish.runtime.instructions"));
    assert_true(ran_stat(&once, "cores.handler.0") > ran_stat(&off, "cores.handler.0"));
    ran_free(&without);
    ran_free(&once);
    ran_free(&off);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_that_the_core_throws_out_take_permissions_along),
        cmocka_unit_test(so_do_data_that_buffered_accesses_throw_out),
        cmocka_unit_test(a_race_after_that_is_found),
        cmocka_unit_test(who_displaces_another_cores_histories_pays),
        cmocka_unit_test(who_only_tells_of_them_does_not),
        cmocka_unit_test(what_a_handler_displaces_is_paid_for_at_its_event),
        cmocka_unit_test(a_core_pays_for_its_store_buffer_after_what_it_has_in_hand),
        cmocka_unit_test(data_that_leave_the_chip_take_their_histories_along),
        cmocka_unit_test(the_runtimes_part_of_an_access_is_paid_with_it),
        cmocka_unit_test(the_runtimes_part_of_synchronisation_is_paid_at_its_event),
    };

    if (!mutant_arg(&argc, &argv))
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
