/* t_goldilocks_list.c - goldilocks' list of synchronisation events: what stays on it, what is
 * evaluated when it is cut, how much memory all takes; and what a single event costs on a machine.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/frame/policy_rig.h"
#include "tests/policy/goldilocks/rig.h"

#include <cmocka.h>

enum { X = 0x1000, Y = 0x2000, L = 0x9000, M = 0x9100, V = 0x9200 };
enum { SHADOW_BYTES = 16, INFO_BYTES = 48, CELL_BYTES = 48 }; /* of 8-byte words */

#define R(t, a)   EV_READ4(t, a)
#define W(t, a)   EV_WRITE4(t, a)
#define ACQ(t, a) EV_ON(ACQUIRE, t, a)
#define REL(t, a) EV_ON(RELEASE, t, a)

static void step(struct watch *w, const struct event ev)
{
    rig_step(w, &ev);
}

static void pass_lock(struct watch *w, sim_tid tid, sim_addr lock, int times)
{
    for (int i = 0; i < times; i++) {
        step(w, (struct event)ACQ(tid, lock));
        step(w, (struct event)REL(tid, lock));
    }
}

static uint64_t length(const struct watch *w)
{
    const struct gold_list *l = &rig_policy(w)->list;

    return l->tail - l->head;
}

/* ---- the list ------------------------------------------------------------------------------- */

static void what_a_record_refers_to_stays(void **state)
{
    struct watch w;

    (void)state;
    rig_open(NULL, &w, 4, (const char *const[]){"collect=1", NULL});
    pass_lock(&w, 1, M, 10);
    assert_int_equal(length(&w), 1); /* nothing was referred to; the last has just come */
    step(&w, (struct event)W(0, X));
    pass_lock(&w, 1, M, 10);
    assert_int_equal(length(&w), 20);
    step(&w, (struct event)R(0, X)); /* another record; the write's stays */
    pass_lock(&w, 1, M, 10);
    assert_int_equal(length(&w), 40);
    step(&w, (struct event)W(0, X)); /* now both refer to the tail, and the read is gone */
    pass_lock(&w, 1, M, 10);
    assert_int_equal(length(&w), 20);
    checker_finish(w.checker);
    watch_close(&w);
}

/* Nothing refers to any event, so that each collection leaves none of those before it. */
static void collections_come_after_as_many_events_each_time(void **state)
{
    enum { EVERY = 10, TIMES = 5 };
    struct watch w;

    (void)state;
    rig_open(NULL, &w, 4, (const char *const[]){"collect=10", NULL});
    for (uint64_t n = 1; n <= TIMES * EVERY; n++) {
        step(&w, n % 2 ? (struct event)ACQ(1, M) : (struct event)REL(1, M));
        const uint64_t before = (n - 1) / EVERY * EVERY; /* the latest collection */
        assert_int_equal(watch_stat(&w, "collected"), before);
        assert_int_equal(length(&w), n - before);
    }
    checker_finish(w.checker);
    watch_close(&w);
}

/* A record that refers to the first of them kept all; what it does not keep any more waits for the
 * next collection. */
static void what_is_not_referred_to_any_more_waits_for_the_next_collection(void **state)
{
    enum { EVERY = 10, KEPT = 3 * EVERY - 4 };
    struct watch w;

    (void)state;
    rig_open(NULL, &w, 4, (const char *const[]){"collect=10", NULL});
    step(&w, (struct event)W(0, X));
    pass_lock(&w, 1, M, KEPT / 2);
    step(&w, (struct event)W(0, X));
    pass_lock(&w, 1, M, 2);
    assert_int_equal(watch_stat(&w, "collected"), 0);
    step(&w, (struct event)ACQ(1, M));
    assert_int_equal(watch_stat(&w, "collected"), KEPT);
    checker_finish(w.checker);
    watch_close(&w);
}

static void the_list_is_trimmed_by_its_share(void **state)
{
    struct rig rig = {0};
    struct watch w;

    (void)state;
    rig_open(&rig, &w, 4, (const char *const[]){"list-limit=20", "trim=25", NULL});
    step(&w, (struct event)W(0, X));
    pass_lock(&w, 1, M, 10);
    assert_int_equal(length(&w), 20); /* as long as it may be */
    step(&w, (struct event)ACQ(1, M));
    assert_int_equal(length(&w), 16);
    assert_int_equal(watch_stat(&w, "collected"), 5);
    assert_int_equal(watch_stat(&w, "trims"), 1);
    assert_int_equal(watch_stat(&w, "advanced"), 1); /* X's record */
    assert_int_equal(watch_stat(&w, "longest"), 20);
    checker_finish(w.checker);
    watch_close(&w);
}

static void a_collection_of_memory_trims(void **state)
{
    struct watch w;

    (void)state;
    rig_open(NULL, &w, 4, (const char *const[]){NULL});
    step(&w, (struct event)W(0, X));
    pass_lock(&w, 1, M, 50);
    step(&w, (struct event){.kind = EV_GC_BEGIN, .flags = EVF_NURSERY, .tid = 1});
    assert_int_equal(length(&w), 100); /* not that of a nursery */
    step(&w, (struct event){.kind = EV_GC_END, .flags = EVF_NURSERY, .tid = 1});
    step(&w, (struct event)EV_NAMING(GC_BEGIN, 1, 0));
    assert_int_equal(length(&w), 90); /* the first 10 % */
    step(&w, (struct event)EV_NAMING(GC_END, 1, 0));
    checker_finish(w.checker);
    watch_close(&w);
}

/* The release that hands X on is in the part that goes. */
static void what_goes_has_been_evaluated(void **state)
{
    static const char *const limit[] = {"list-limit=1", "list-limit=2", "list-limit=5",
                                        "list-limit=1000"};
    struct rig rig = {0};

    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_SIZE(limit); i++) {
        struct watch w;
        rig_open(i % 2 ? &rig : NULL, &w, 4,
                 (const char *const[]){limit[i / 2], "held-lock=off", NULL});
        step(&w, (struct event)ACQ(0, L));
        step(&w, (struct event)W(0, X));
        step(&w, (struct event)REL(0, L));
        pass_lock(&w, 2, M, 20);
        step(&w, (struct event)ACQ(1, L));
        step(&w, (struct event)R(1, X));
        assert_int_equal(w.races, 0);
        step(&w, (struct event)R(2, X));
        assert_int_equal(w.races, 1);
        checker_finish(w.checker);
        watch_close(&w);
    }
}

/* A round's life ends while, on a machine, the list still has a departure from it. */
static void elements_without_meaning_leave_locksets(void **state)
{
    enum { ROUNDS = 300, LIMIT = 16 };
    struct rig rig = {0};

    (void)state;
    for (int machine = 0; machine < 2; machine++) {
        struct watch w;
        rig_open(machine ? &rig : NULL, &w, 4, (const char *const[]){"list-limit=16", NULL});
        step(&w, (struct event)W(0, X));
        for (uint64_t round = 1; round <= ROUNDS; round++)
            for (unsigned i = 0; i < 4; i++)
                step(&w, (struct event){.kind = i < 2 ? EV_BARRIER_ARRIVE : EV_BARRIER_DEPART,
                                        .tid = i % 2,
                                        .addr = V,
                                        .aux = round});
        assert_in_range(rig_policy(&w)->reach.n, 0, machine ? 2 * LIMIT : 0);
        assert_in_range(watch_stat(&w, "pruned"), machine ? ROUNDS - 2 * LIMIT : 0,
                        machine ? ROUNDS : 0);
        step(&w, (struct event)W(1, X));
        assert_int_equal(w.races, 0);
        checker_finish(w.checker);
        watch_close(&w);
    }
}

static void *evaluate_a_long_list(void *arg)
{
    enum { TIMES = 150000 };
    struct watch w;

    rig_open(NULL, &w, 4, (const char *const[]){NULL});
    step(&w, (struct event)W(0, X));
    step(&w, (struct event)EV_ON(VOLATILE_WRITE, 0, V));
    pass_lock(&w, 1, M, TIMES);
    step(&w, (struct event)EV_ON(VOLATILE_READ, 2, V));
    step(&w, (struct event)W(2, X));
    pass_lock(&w, 1, L, TIMES);
    *(uint64_t *)arg = w.races + (watch_stat(&w, "longest") < 2 * TIMES);
    watch_close(&w);
    return NULL;
}

/* 300,000 events are evaluated, and then collected, on a stack of a quarter of a megabyte. */
static void long_lists_do_not_recurse(void **state)
{
    enum { STACK = 1 << 18 };
    pthread_attr_t attr;
    pthread_t thread;
    uint64_t wrong = 1;

    (void)state;
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attr, evaluate_a_long_list, &wrong), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
    assert_int_equal(wrong, 0);
}

/* After a quarter of the events, memory has become what it stays. */
static void memory_does_not_grow_with_the_trace(void **state)
{
    enum { EVENTS = 200000 };
    static const char source[] =
        "synth:seed=5,events=200000,threads=6,variables=100,locks=20,barriers=2,volatiles=2,"
        "sync_share=300,txn_share=50,heap_share=50,gc_share=20,names=off,end_share=0,ends=off";
    struct err e = {0};
    struct batch b;
    struct watch w;
    uint64_t quarter = 0;

    (void)state;
    rig_open(NULL, &w, 4, (const char *const[]){"list-limit=2000", NULL});
    struct source *from = source_open(source, &e);
    assert_non_null(from);
    for (bool more = true; more;) {
        assert_int_equal(source_next(from, &b, &e), 0);
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i]))
            rig_step(&w, &b.rec[i]);
        more = b.records != 0;
        if (!quarter && w.number > EVENTS / 4)
            quarter = checker_memory(w.checker)->peak;
    }
    source_close(from);
    assert_int_equal(w.err.code, 0);
    assert_true(w.number >= EVENTS);
    assert_in_range(checker_memory(w.checker)->peak, quarter, quarter + quarter / 4);
    checker_finish(w.checker);
    watch_close(&w);
}

/* ---- costs ---------------------------------------------------------------------------------- */

static const struct rig_places goldilocks_layout = {
    .each = SHADOW_BYTES,
    .field = {{0, 8, "write record"}, {8, 8, "read records"}},
    .granule = {{X, "X"}, {Y, "Y"}},
    .block = {{0, "first record"},
              {64, "list's head"},
              {72, "list's tail"},
              {80, "tail's count"},
              {88, "heap"}},
};

static void an_access_has_the_costs_of_its_steps(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "goldilocks", NULL, goldilocks_layout);
    RUN(&r, W(0, Y)); /* the blocks of the thread and of the list's ends */
    EVENTS_COST(&r,
                "lock, swap X's write record, heap list, load list of 64, load page's rest:16, "
                "heap fresh, store page's rest:16, load list's tail, load heap+40, info, "
                "store heap+2088:48, count, swap tail's count, store X's read records, unlock, "
                "store X's write record, 34 in all",
                W(0, X));
    /* Again: the record is looked at; the old one's count goes down and its block is given back. */
    EVENTS_COST(&r,
                "lock, swap X's write record, look, load heap+2088:48, count, swap tail's count, "
                "heap give, load list of 64, store heap+2088, store list of 64, heap list, "
                "load list of 64, load heap+2088, store list of 64, load list's tail, "
                "load heap+40, info, store heap+2088:48, count, swap tail's count, "
                "store X's read records, unlock, store X's write record, 46 in all",
                W(0, X));
    policy_rig_close(&r);
}

static void an_evaluation_reads_the_cells_up_to_the_hand_over(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "goldilocks", (const char *const[]){"policy.a.two-threads=off", NULL},
                    goldilocks_layout);
    RUN(&r, W(0, X));
    RUN(&r, EV_ON(VOLATILE_WRITE, 0, V));
    RUN(&r, EV_ON(VOLATILE_READ, 1, V));
    RUN(&r, R(1, Y));
    RUN(&r, EV_ON(VOLATILE_READ, 2, V)); /* behind the hand-over: not read */
    /* two cells, each with a look at the set; then as a first access */
    EVENTS_COST(&r,
                "core 1, lock, swap X's write record, look, load first record:48, "
                "load heap+2088:24, cell, load heap+4368, load heap+4008:24, cell, load heap+4536, "
                "result, heap list, load list of 64, load page's rest:16, heap fresh, "
                "store page's rest:16, load list's tail, load heap+4136, info, store heap+6184:48, "
                "count, swap tail's count, store X's read records, unlock, store X's write record, "
                "74 in all",
                R(1, X));
    assert_int_equal(policy_rig_stat(&r, "walked"), 2);
    policy_rig_close(&r);
}

static void the_third_check_skips_others_cells(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "goldilocks", NULL, goldilocks_layout);
    RUN(&r, W(0, X));
    RUN(&r, ACQ(5, M), REL(5, M), ACQ(5, M), REL(5, M));
    RUN(&r, EV_ON(VOLATILE_WRITE, 0, V));
    RUN(&r, EV_ON(VOLATILE_READ, 1, V));
    RUN(&r, R(1, Y));
    EVENTS_COST(&r,
                "core 1, lock, swap X's write record, look, load first record:48, "
                "load heap+6056:24, skip, load heap+6120:24, skip, load heap+6184:24, skip, "
                "load heap+6248:24, skip, load heap+2088:24, cell, load heap+8336, "
                "load heap+6312:24, cell, load heap+8840, result, heap list, load list of 64, "
                "load page's rest:16, heap fresh, store page's rest:16, load list's tail, "
                "load heap+8104, info, store heap+10152:48, count, swap tail's count, "
                "store X's read records, unlock, store X's write record, 94 in all",
                R(1, X));
    assert_int_equal(policy_rig_stat(&r, "by-two-threads"), 1);
    policy_rig_close(&r);
}

/* Rule 6: a fork puts the child into locksets itself. So what happens before the child begins is
 * walked by none of its checks, however late it begins, and its beginning is no cell. */
static void a_child_is_in_locksets_from_its_fork_on(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "goldilocks", NULL, goldilocks_layout);
    RUN(&r, W(0, X), EV_NAMING(FORK, 0, 1));
    RUN(&r, ACQ(2, M), REL(2, M), ACQ(2, M), REL(2, M));
    const uint64_t cells = policy_rig_stat(&r, "cells");
    RUN(&r, R(1, X));
    if (policy_rig_stat(&r, "cells") != cells)
        fail_msg("the child's first event is a cell");
    if (policy_rig_stat(&r, "walked") != 1)
        fail_msg("its check walked %llu cells, not the fork's alone",
                 (unsigned long long)policy_rig_stat(&r, "walked"));
    assert_int_equal(policy_rig_stat(&r, "unordered"), 0);
    policy_rig_close(&r);
}

static void an_event_is_appended_atomically(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "goldilocks", NULL, goldilocks_layout);
    RUN(&r, EV_ON(VOLATILE_WRITE, 0, V));
    EVENTS_COST(&r,
                "heap list, load list of 64, load page's rest:16, heap fresh, "
                "store page's rest:16, append, store heap+40:16, swap list's tail, 19 in all",
                EV_ON(VOLATILE_WRITE, 0, V));
    RUN(&r, ACQ(0, L), REL(0, L));
    /* The locks that the thread holds are written down as well. */
    EVENTS_COST(&r,
                "locks, load heap+104, store heap+104, heap list, load list of 64, "
                "load page's rest:16, heap fresh, store page's rest:16, append, "
                "store heap+2280:16, swap list's tail, 25 in all",
                ACQ(0, L));
    EVENTS_COST(&r, "locks, load heap+104, store heap+104, 6 in all", ACQ(0, L)); /* nested */
    policy_rig_close(&r);
}

/* One more, one comparison more. */
static void the_remembered_lock_is_compared_with_each_that_is_held(void **state)
{
    uint64_t n[3] = {0};

    (void)state;
    for (int more = 0; more < 3; more++) {
        struct policy_rig r;
        policy_rig_open(&r, "goldilocks", NULL, goldilocks_layout);
        RUN(&r, ACQ(0, L));
        RUN(&r, W(0, X));
        RUN(&r, REL(0, L));
        RUN(&r, R(1, Y)); /* the thread's block */
        for (int i = 0; i < more; i++)
            RUN(&r, ACQ(1, (sim_addr)(M + 16 * i)));
        RUN(&r, ACQ(1, L));
        const uint64_t before = r.m.instructions;
        RUN(&r, W(1, X));
        n[more] = r.m.instructions - before;
        assert_int_equal(policy_rig_stat(&r, "by-lock"), 1);
        policy_rig_close(&r);
    }
    const struct cost_step *holds = gold_charges.step;
    while (strcmp(holds->name, "holds"))
        holds++;
    assert_int_equal(n[1] - n[0], holds->instructions);
    assert_int_equal(n[2] - n[1], holds->instructions);
}

/* Two variables of 16 bytes side by side, with a record each. Of a copy
 * the records are loaded, get blocks, and count at the tail, which they refer to. */
static void clears_and_copies_go_through_shadow_words_and_records(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "goldilocks", NULL, goldilocks_layout);
    RUN(&r, W(0, X));
    RUN(&r, W(0, X + 4));
    EVENTS_COST(&r,
                "line, load X:32, store Y:32, load first record:48, heap list, load list of 64, "
                "load page's rest:16, heap fresh, store page's rest:16, store heap+2152:48, count, "
                "swap tail's count, load heap+2088:48, heap list, load list of 64, "
                "load page's rest:16, heap fresh, store page's rest:16, store heap+2216:48, count, "
                "swap tail's count, 35 in all",
                EV_MOVE(0, Y, X, 8));
    /* Each record's count goes down, its block back. */
    EVENTS_COST(&r,
                "count, swap tail's count, heap give, load list of 64, store heap+2152, "
                "store list of 64, count, swap tail's count, heap give, load list of 64, "
                "store heap+2216, store list of 64, line, load Y:32, store Y:32, 21 in all",
                EV_REGION(CLEAR, 0, Y, 8));
    policy_rig_close(&r);
}

/* Of 20 cells 2 go, past one record, which then counts at the third. */
static void trimming_goes_through_cells_and_records(void **state)
{
    struct policy_rig r;

    (void)state;
    policy_rig_open(&r, "goldilocks", NULL, goldilocks_layout);
    RUN(&r, W(0, X));
    for (int i = 0; i < 10; i++)
        RUN(&r, ACQ(1, M), REL(1, M));
    RUN(&r, W(1, Y)); /* at the tail: it stays */
    EVENTS_COST(&r,
                "core 2, advance, load heap+6056:48, advance, load heap+6120:48, "
                "load first record:48, moved, store first record:16, count, swap heap+6200, "
                "collect, load heap+6072, store list's head, heap give, load list of 64, "
                "store heap+6056, store list of 64, collect, load heap+6136, store list's head, "
                "heap give, load list of 64, store heap+6120, store list of 64, 57 in all",
                EV_NAMING(GC_BEGIN, 2, 0));
    policy_rig_close(&r);
}

static void metadata_is_what_is_laid_out(void **state)
{
    struct rig rig = {0};

    (void)state;
    for (int machine = 0; machine < 2; machine++) {
        const uint64_t thread = machine ? 64 + GOLD_SCRATCH_BYTES : 0; /* made when first used */
        struct watch w;
        rig_open(machine ? &rig : NULL, &w, 4, (const char *const[]){NULL});
        step(&w, (struct event)W(0, X));
        assert_int_equal(watch_stat(&w, "metadata.live"), thread + SHADOW_BYTES + INFO_BYTES);
        step(&w, (struct event)R(0, X));
        step(&w, (struct event)EV_ON(VOLATILE_WRITE, 0, V));
        assert_int_equal(watch_stat(&w, "metadata.live"),
                         thread + SHADOW_BYTES + 2 * INFO_BYTES + CELL_BYTES);
        step(&w, (struct event)EV_REGION(CLEAR, 0, X, 8));
        assert_int_equal(watch_stat(&w, "metadata.live"), thread + CELL_BYTES);
        watch_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_record_refers_to_stays),
        cmocka_unit_test(collections_come_after_as_many_events_each_time),
        cmocka_unit_test(what_is_not_referred_to_any_more_waits_for_the_next_collection),
        cmocka_unit_test(the_list_is_trimmed_by_its_share),
        cmocka_unit_test(a_collection_of_memory_trims),
        cmocka_unit_test(what_goes_has_been_evaluated),
        cmocka_unit_test(elements_without_meaning_leave_locksets),
        cmocka_unit_test(long_lists_do_not_recurse),
        cmocka_unit_test(memory_does_not_grow_with_the_trace),
        cmocka_unit_test(an_access_has_the_costs_of_its_steps),
        cmocka_unit_test(an_evaluation_reads_the_cells_up_to_the_hand_over),
        cmocka_unit_test(the_third_check_skips_others_cells),
        cmocka_unit_test(a_child_is_in_locksets_from_its_fork_on),
        cmocka_unit_test(an_event_is_appended_atomically),
        cmocka_unit_test(the_remembered_lock_is_compared_with_each_that_is_held),
        cmocka_unit_test(clears_and_copies_go_through_shadow_words_and_records),
        cmocka_unit_test(trimming_goes_through_cells_and_records),
        cmocka_unit_test(metadata_is_what_is_laid_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
