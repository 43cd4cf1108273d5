/* t_goldilocks_list.c - goldilocks' list of synchronisation events: what stays on it, what is
 * evaluated when it is cut, how much memory all takes; and what a single event costs on a machine.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/policy/goldilocks/rig.h"

#include <cmocka.h>

enum { X = 0x1000, Y = 0x2000, L = 0x9000, M = 0x9100, V = 0x9200 };

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
    struct watch w;

    (void)state;
    rig_open(NULL, &w, 4, (const char *const[]){"list-limit=20", "trim=25", NULL});
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

/* A lock's life ends while the list still has an acquire of it. */
static void elements_without_meaning_leave_locksets(void **state)
{
    enum { ROUNDS = 300, LIMIT = 16 };
    struct watch w;

    (void)state;
    rig_open(NULL, &w, 4, (const char *const[]){"list-limit=16", NULL});
    step(&w, (struct event)W(0, X));
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (sim_tid t = 0; t < 2; t++)
            step(&w, (struct event){.kind = EV_BARRIER_ARRIVE, .tid = t, .addr = V, .aux = round});
        for (sim_tid t = 0; t < 2; t++)
            step(&w, (struct event){.kind = EV_BARRIER_DEPART, .tid = t, .addr = V, .aux = round});
    }
    const struct gold_stretch *s = rig_policy(&w)->list.oldest;
    assert_true(gold_set_count(&s->set) < 2 * LIMIT);
    assert_true(watch_stat(&w, "pruned") > ROUNDS - 2 * LIMIT);
    step(&w, (struct event)W(1, X));
    assert_int_equal(w.races, 0);
    checker_finish(w.checker);
    watch_close(&w);
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

static unsigned instructions(enum gold_step s)
{
    return gold_steps[s].instructions;
}

/* What an event asks of the machine: accesses as letters (l, s, a), and instructions beside them.
 */
static const char *asks(struct rig *rig, struct watch *w, const struct event ev, uint64_t *beside)
{
    static const char letter[] = {[MEM_LOAD] = 'l', [MEM_STORE] = 's', [MEM_ATOMIC] = 'a'};
    static _Thread_local char text[RIG_ACCESSES + 1];

    rig->n = 0;
    rig->instructions = 0;
    rig_step(w, &ev);
    for (size_t i = 0; i < rig->n; i++)
        text[i] = letter[rig->access[i].cmd];
    text[rig->n] = '\0';
    *beside = rig->instructions - rig->n;
    return text;
}

enum {
    FRESH = 3 + 3, /* blocks: cost_take and cost_give */
    AGAIN = 3,
    BACK = 1,
    KL = 3 + 1
};

static void an_access_has_the_costs_of_its_steps(void **state)
{
    struct rig rig = {0};
    struct watch w;
    uint64_t n;

    (void)state;
    rig_open(&rig, &w, 4, (const char *const[]){NULL});
    step(&w, (struct event)W(0, Y)); /* the blocks of the thread and of the list's ends */
    /* KL; a block; tail, latest lock, the record, the tail's count; the chain of reads; KL */
    assert_string_equal(asks(&rig, &w, (struct event)W(0, X), &n), "allsllsass");
    assert_int_equal(n, KL + FRESH + instructions(GOLD_STEP_INFO) + instructions(GOLD_STEP_COUNT));
    assert_true(rig.access[0].at == rig.access[9].at && rig.access[0].at >= COST_SHADOW);
    assert_true(rig.access[8].at == rig.access[0].at + 8);
    assert_int_equal(rig.access[6].bytes, GOLD_INFO_BYTES);
    /* Again: the record is looked at; the old one's count goes down and its block is given back. */
    assert_string_equal(asks(&rig, &w, (struct event)W(0, X), &n), "alalssllsllsass");
    assert_int_equal(n, KL + AGAIN + BACK + instructions(GOLD_STEP_LOOK) +
                            instructions(GOLD_STEP_INFO) + 2 * instructions(GOLD_STEP_COUNT));
    watch_close(&w);
}

static void an_evaluation_reads_the_cells_up_to_the_hand_over(void **state)
{
    struct rig rig = {0};
    struct watch w;
    uint64_t n;

    (void)state;
    rig_open(&rig, &w, 4, (const char *const[]){"two-threads=off", NULL});
    step(&w, (struct event)W(0, X));
    step(&w, (struct event)EV_ON(VOLATILE_WRITE, 0, V));
    step(&w, (struct event)EV_ON(VOLATILE_READ, 1, V));
    step(&w, (struct event)R(1, Y));
    step(&w, (struct event)EV_ON(VOLATILE_READ, 2, V)); /* behind the hand-over: not read */
    /* KL, the record; two cells, each with a look at the set; then as a first access */
    assert_string_equal(asks(&rig, &w, (struct event)R(1, X), &n), "alllllllsllsass");
    assert_int_equal(n, KL + FRESH + instructions(GOLD_STEP_LOOK) +
                            2 * instructions(GOLD_STEP_CELL) + instructions(GOLD_STEP_RESULT) +
                            instructions(GOLD_STEP_INFO) + instructions(GOLD_STEP_COUNT));
    assert_int_equal(watch_stat(&w, "walked"), 2);
    watch_close(&w);
}

static void the_third_check_skips_others_cells(void **state)
{
    struct rig rig = {0};
    struct watch w;
    uint64_t n;

    (void)state;
    rig_open(&rig, &w, 4, (const char *const[]){NULL});
    step(&w, (struct event)W(0, X));
    pass_lock(&w, 5, M, 2);
    step(&w, (struct event)EV_ON(VOLATILE_WRITE, 0, V));
    step(&w, (struct event)EV_ON(VOLATILE_READ, 1, V));
    step(&w, (struct event)R(1, Y));
    assert_string_equal(asks(&rig, &w, (struct event)R(1, X), &n), "al"
                                                                   "llllllll"
                                                                   "llsllsass");
    assert_int_equal(watch_stat(&w, "by-two-threads"), 1);
    assert_int_equal(n, KL + FRESH + instructions(GOLD_STEP_LOOK) +
                            4 * instructions(GOLD_STEP_SKIP) + 2 * instructions(GOLD_STEP_CELL) +
                            instructions(GOLD_STEP_RESULT) + instructions(GOLD_STEP_INFO) +
                            instructions(GOLD_STEP_COUNT));
    watch_close(&w);
}

static void an_event_is_appended_atomically(void **state)
{
    struct rig rig = {0};
    struct watch w;
    uint64_t n;

    (void)state;
    rig_open(&rig, &w, 4, (const char *const[]){NULL});
    step(&w, (struct event)EV_ON(VOLATILE_WRITE, 0, V));
    assert_string_equal(asks(&rig, &w, (struct event)EV_ON(VOLATILE_WRITE, 0, V), &n), "llssa");
    assert_int_equal(n, FRESH + instructions(GOLD_STEP_APPEND));
    pass_lock(&w, 0, L, 1);
    /* The locks that the thread holds are written down as well. */
    assert_string_equal(asks(&rig, &w, (struct event)ACQ(0, L), &n), "lsllssa");
    assert_int_equal(n, FRESH + instructions(GOLD_STEP_APPEND) + instructions(GOLD_STEP_LOCKS));
    assert_string_equal(asks(&rig, &w, (struct event)ACQ(0, L), &n), "ls"); /* nested */
    watch_close(&w);
}

/* One more, one comparison more. */
static void the_remembered_lock_is_compared_with_each_that_is_held(void **state)
{
    uint64_t n[3] = {0};

    (void)state;
    for (int more = 0; more < 3; more++) {
        struct rig rig = {0};
        struct watch w;
        rig_open(&rig, &w, 4, (const char *const[]){NULL});
        step(&w, (struct event)ACQ(0, L));
        step(&w, (struct event)W(0, X));
        step(&w, (struct event)REL(0, L));
        step(&w, (struct event)R(1, Y)); /* the thread's block */
        for (int i = 0; i < more; i++)
            step(&w, (struct event)ACQ(1, (sim_addr)(M + 16 * i)));
        step(&w, (struct event)ACQ(1, L));
        asks(&rig, &w, (struct event)W(1, X), &n[more]);
        assert_int_equal(watch_stat(&w, "by-lock"), 1);
        watch_close(&w);
    }
    assert_int_equal(n[1] - n[0], instructions(GOLD_STEP_HOLDS));
    assert_int_equal(n[2] - n[1], instructions(GOLD_STEP_HOLDS));
}

/* Two variables of 16 bytes side by side, with a record each: LINE, a load and a store. Of a copy
 * the records are loaded, get blocks, and count at the tail, which they refer to. */
static void clears_and_copies_go_through_shadow_words_and_records(void **state)
{
    struct rig rig = {0};
    struct watch w;
    uint64_t n;

    (void)state;
    rig_open(&rig, &w, 4, (const char *const[]){NULL});
    step(&w, (struct event)W(0, X));
    step(&w, (struct event)W(0, X + 4));
    const struct event move[] = {EV_MOVE(0, Y, X, 8)};
    rig.n = 0;
    rig.instructions = 0;
    rig_step(&w, move);
    assert_int_equal(rig.access[0].bytes, 2 * GOLD_SHADOW_BYTES);
    assert_true(rig.access[1].cmd == MEM_STORE && rig.access[1].bytes == 2 * GOLD_SHADOW_BYTES);
    assert_true(rig.access[1].at - rig.access[0].at == (Y - X) / 4 * GOLD_SHADOW_BYTES);
    assert_int_equal(rig.n, 2 + 2 * 6); /* load, the block's l l s, store, atomic */
    assert_int_equal(rig.instructions - rig.n,
                     instructions(GOLD_STEP_LINE) + 2 * (FRESH + instructions(GOLD_STEP_COUNT)));
    /* Each record's count goes down, its block back. */
    assert_string_equal(asks(&rig, &w, (struct event)EV_REGION(CLEAR, 0, Y, 8), &n), "alss"
                                                                                     "alss"
                                                                                     "ls");
    assert_int_equal(n, instructions(GOLD_STEP_LINE) + 2 * (BACK + instructions(GOLD_STEP_COUNT)));
    watch_close(&w);
}

/* Of 20 cells 2 go: ADVANCE for each of the two, for the one record. It is loaded, stored, and
 * counts at the third; the cells leave. */
static void trimming_goes_through_cells_and_records(void **state)
{
    struct rig rig = {0};
    struct watch w;
    uint64_t n;

    (void)state;
    rig_open(&rig, &w, 4, (const char *const[]){NULL});
    step(&w, (struct event)W(0, X));
    pass_lock(&w, 1, M, 10);
    step(&w, (struct event)W(1, Y)); /* at the tail: it stays */
    assert_string_equal(asks(&rig, &w, (struct event)EV_NAMING(GC_BEGIN, 2, 0), &n), "ll"
                                                                                     "lsa"
                                                                                     "lslss"
                                                                                     "lslss");
    assert_int_equal(n, 2 * instructions(GOLD_STEP_ADVANCE) + instructions(GOLD_STEP_MOVED) +
                            instructions(GOLD_STEP_COUNT) +
                            2 * (instructions(GOLD_STEP_COLLECT) + BACK));
    watch_close(&w);
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
        assert_int_equal(watch_stat(&w, "metadata.live"),
                         thread + GOLD_SHADOW_BYTES + GOLD_INFO_BYTES);
        step(&w, (struct event)R(0, X));
        step(&w, (struct event)EV_ON(VOLATILE_WRITE, 0, V));
        assert_int_equal(watch_stat(&w, "metadata.live"),
                         thread + GOLD_SHADOW_BYTES + 2 * GOLD_INFO_BYTES + GOLD_CELL_BYTES);
        step(&w, (struct event)EV_REGION(CLEAR, 0, X, 8));
        assert_int_equal(watch_stat(&w, "metadata.live"), thread + GOLD_CELL_BYTES);
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
        cmocka_unit_test(an_event_is_appended_atomically),
        cmocka_unit_test(the_remembered_lock_is_compared_with_each_that_is_held),
        cmocka_unit_test(clears_and_copies_go_through_shadow_words_and_records),
        cmocka_unit_test(trimming_goes_through_cells_and_records),
        cmocka_unit_test(metadata_is_what_is_laid_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
