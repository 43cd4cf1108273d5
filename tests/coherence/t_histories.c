/* t_histories.c - the caches' part in access histories: a line of them comes in empty, and can be
 * taken out of all caches at once, for a hit where it is and a message each way for each copy. */
#include "tests/coherence/bench.h"

#include <stdio.h>

#define HISTORY 0x10000 /* a line of set 0 everywhere, home at core 0; so is */
#define DATA    0x80000
enum { IN_L1 = 1, IN_L2 = 10, IN_L3 = 35 }; /* cycles of a hit there */

/* A bench whose lines from HISTORY on hold histories. */
static void open_bench(struct bench *b, struct bench_options options, const char *settings)
{
    if (!bench_open(b, options, settings))
        fail_msg("%s", b->e.text);
    coherence_caches(b->c).type->histories(b->c, paddr_of(HISTORY), 4096);
}

static void bring(struct bench *b, unsigned core, enum mem_cmd cmd)
{
    coherence_access(b->c, core, paddr_of(HISTORY), cmd, TRAFFIC_METADATA, b->now);
    b->now += 10000;
}

static void is_in_no_cache(struct bench *b)
{
    for (unsigned core = 0; core < 4; core++)
        for (enum mem_level level = LEVEL_L1; level <= LEVEL_L3; level++)
            line_is(b, core, level, HISTORY, INVALID);
}

/* A drop finds the line there, takes so long, and sends exactly that. */
static void drop_is(struct bench *b, enum mem_level where, sim_cycle cycles, const char *messages)
{
    char *before = bench_csv(b);
    uint8_t level;
    const struct caches caches = coherence_caches(b->c);
    const sim_cycle took =
        caches.type->drop(caches.self, 0, paddr_of(HISTORY), &level, b->now) - b->now;
    char *after = bench_csv(b);

    bench_messages(b, before, after, "metadata");
    if (level != where || took != cycles || strcmp(b->said, messages))
        fail_msg("the drop found it in %s, took %llu cycles and sent %s; not %s, %llu, %s",
                 mem_level_text[level], (unsigned long long)took, b->said, mem_level_text[where],
                 (unsigned long long)cycles, messages);
    free(before);
    free(after);
    is_in_no_cache(b);
    coherence_check(b->c);
}

/* ---- where the line is ---------------------------------------------------------------------- */

static void in_no_cache(struct bench *b)
{
    drop_is(b, LEVEL_NONE, 0, "");
    assert_int_equal(bench_value(b, "coherence.histories.dropped"), 0);
}

static void in_the_l1_of_one_core(struct bench *b)
{
    bring(b, 1, MEM_STORE);
    drop_is(b, LEVEL_L1, IN_L1, "invalidate 1/8, ack 1/8");
    assert_int_equal(bench_value(b, "coherence.histories.dropped"), 1);
    assert_int_equal(b->store.writes, 0); /* what was in it is the policy's to keep */
}

static void in_the_caches_of_two_cores(struct bench *b)
{
    bring(b, 1, MEM_LOAD);
    bring(b, 2, MEM_LOAD);
    drop_is(b, LEVEL_L1, IN_L1, "invalidate 2/16, ack 2/16");
}

static void in_an_l2(struct bench *b)
{
    bring(b, 1, MEM_STORE);
    bench_access(b, 1, DATA, MEM_LOAD);
    bench_access(b, 1, DATA + 4096, MEM_LOAD);
    drop_is(b, LEVEL_L2, IN_L2, "invalidate 1/8, ack 1/8");
}

static void in_the_l3(struct bench *b)
{
    bring(b, 1, MEM_STORE);
    for (unsigned i = 0; i < 4; i++)
        bench_access(b, 1, DATA + 4096 * i, MEM_LOAD);
    drop_is(b, LEVEL_L3, IN_L3, "");
}

static const struct where {
    void (*probe)(struct bench *b);
    const char *caches;
} places[] = {
    {in_no_cache, ""},
    {in_the_l1_of_one_core, ""},
    {in_the_caches_of_two_cores, ""},
    {in_an_l2, "l1.size=128 l1.ways=2 l2.ways=4 l2.size=16384"},
    {in_the_l3, "l1.size=128 l1.ways=2 l2.size=128 l2.ways=2"},
};

static void a_drop_costs_a_hit_where_the_line_is_and_a_message_each_way_a_copy(void **unused)
{
    static const char *const inclusion[] = {"inclusive", "non-inclusive"};

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE(inclusion); i++)
        for (size_t k = 0; k < ARRAY_SIZE(places); k++)
            for (int contention = 0; contention < 2; contention++) {
                struct bench b;
                char settings[200];
                snprintf(settings, sizeof settings, "%s l3.inclusion=%s", places[k].caches,
                         inclusion[i]);
                open_bench(&b, (struct bench_options){.contention = contention}, settings);
                places[k].probe(&b);
                bench_close(&b);
            }
}

/* ---- afterwards ----------------------------------------------------------------------------- */

static void a_line_that_was_dropped_comes_in_empty_and_exclusive(void **unused)
{
    static const char *const inclusion[] = {"l3.inclusion=inclusive", "l3.inclusion=non-inclusive"};

    (void)unused;
    for (size_t i = 0; i < ARRAY_SIZE(inclusion); i++) {
        struct bench b;
        open_bench(&b, (struct bench_options){0}, inclusion[i]);
        bring(&b, 1, MEM_STORE);
        drop_is(&b, LEVEL_L1, IN_L1, "invalidate 1/8, ack 1/8");
        bench_expect(&b, 2, HISTORY, MEM_LOAD, IN_L3, LEVEL_L3, "request 1/8, data 1/66");
        line_is(&b, 2, LEVEL_L1, HISTORY, EXCLUSIVE);
        assert_int_equal(bench_value(&b, "coherence.histories.allocated"), 2);
        assert_int_equal(b.store.reads, 0);
        bench_close(&b);
    }
}

/* An inclusive L3's slot is the entry; else the directory is apart and keeps count. */
static void a_directory_apart_forgets_a_line_that_was_dropped(void **unused)
{
    struct bench b;

    (void)unused;
    open_bench(&b, (struct bench_options){0}, "l3.inclusion=non-inclusive");
    bring(&b, 1, MEM_STORE);
    drop_is(&b, LEVEL_L1, IN_L1, "invalidate 1/8, ack 1/8");
    assert_int_equal(bench_value(&b, "l3.directory.made"), 1);
    assert_int_equal(bench_value(&b, "l3.directory.ended"), 1);
    bench_close(&b);
}

static void a_drop_is_told_to_nobody_and_what_follows_is(void **unused)
{
    struct bench b;
    struct line_queue *heard;

    (void)unused;
    open_bench(&b, (struct bench_options){.line_events = true}, "");
    bring(&b, 1, MEM_STORE);
    heard = coherence_lines(b.c);
    assert_true(heard->n > 0);
    heard->n = 0;
    drop_is(&b, LEVEL_L1, IN_L1, "invalidate 1/8, ack 1/8");
    if (heard->n)
        fail_msg("%zu line events came of a drop, which nobody hears of", heard->n);
    bring(&b, 1, MEM_STORE);
    if (!heard->n)
        fail_msg("after a drop nobody hears of lines any more");
    bench_close(&b);
}

/* The L3 tells of what it takes in; one that is not inclusive has only what the L2s lose. */
static void a_history_from_nowhere_comes_into_an_l3_that_is_inclusive(void **unused)
{
    (void)unused;
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        struct bench b;
        open_bench(&b, (struct bench_options){.line_events = true},
                   inclusive ? "l3.inclusion=inclusive" : "l3.inclusion=non-inclusive");
        bring(&b, 1, MEM_STORE);
        const struct line_queue *heard = coherence_lines(b.c);
        unsigned fills[LEVEL_L3 + 1] = {0};
        for (size_t i = 0; i < heard->n; i++)
            fills[heard->at[i].level] += heard->at[i].what == LINE_FILL;
        assert_int_equal(fills[LEVEL_L1], 1);
        assert_int_equal(fills[LEVEL_L2], 1);
        number_is("fills of the L3 that are told", fills[LEVEL_L3], inclusive);
        bench_close(&b);
    }
}

/* ---- room for it ---------------------------------------------------------------------------- */

/* The L3 has room for one line. What is in core 1's caches only is asked for when the L3 answers,
 * after its lookup, and written to memory when it has come; nobody waits for that. With contention
 * the history itself leaves the home before the question does. */
static void a_history_displaces_modified_data_when_the_l3_answers(void **unused)
{
    enum { START = 20000, TO_HOME = 10, LOOKUP = 25, DATA_FLITS = 5 };

    (void)unused;
    for (int contention = 0; contention < 2; contention++) {
        struct bench b;
        open_bench(&b, (struct bench_options){.contention = contention},
                   "l1.size=64 l1.ways=1 l2.size=64 l2.ways=1 l3.size=64 l3.ways=1 l3.banks=1");
        bench_access(&b, 1, DATA, MEM_STORE);
        const sim_cycle done =
            coherence_access(b.c, 2, paddr_of(HISTORY), MEM_LOAD, TRAFFIC_METADATA, START).done;
        assert_int_equal(done - START, TO_HOME + LOOKUP);
        assert_int_equal(b.store.last_write, DATA);
        assert_int_equal(b.store.last_write_at - START,
                         TO_HOME + LOOKUP + (contention ? DATA_FLITS : 0));
        coherence_check(b.c);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drop_costs_a_hit_where_the_line_is_and_a_message_each_way_a_copy),
        cmocka_unit_test(a_line_that_was_dropped_comes_in_empty_and_exclusive),
        cmocka_unit_test(a_directory_apart_forgets_a_line_that_was_dropped),
        cmocka_unit_test(a_drop_is_told_to_nobody_and_what_follows_is),
        cmocka_unit_test(a_history_from_nowhere_comes_into_an_l3_that_is_inclusive),
        cmocka_unit_test(a_history_displaces_modified_data_when_the_l3_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
