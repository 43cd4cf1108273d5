/* t_tsan.c - what four shadow cells for 8 bytes find. Where four are enough, by the definition: the
 * first race of each word that the oracle with history = all finds, at the same access. Where they
 * are not, which cell has to make room, and that the race is missed then. (That nothing else is
 * reported t_verdict holds.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/frame/watch.h"
#include "tests/oracle/oracle.h"

#include <cmocka.h>

enum { SEEDS = 400, WORDS = 6, LOCKS = 2, WORKERS = 3, EVENTS_EACH = 120, BASE = 0x1000 };

static const char *const none[] = {NULL};

static void add(struct stream *s, struct event ev)
{
    stream_add(s, &ev);
}

/* A word is accessed by two threads alone, always the same bytes of it: each of them needs a cell
 * for its last write and one for the read since, and so never more than four are needed. */
static void draw_few(struct rng *r, struct stream *s)
{
    static const unsigned sizes[] = {1, 2, 4, 8};
    struct {
        unsigned size;
        sim_addr at;
        sim_tid of[2];
    } word[WORDS];
    int holds[WORKERS + 1] = {0};

    for (unsigned i = 0; i < WORDS; i++) {
        word[i].size = sizes[rng_below(r, ARRAY_SIZE(sizes))];
        word[i].at = BASE + 8 * i + word[i].size * rng_below(r, 8 / word[i].size);
        word[i].of[0] = (sim_tid)(1 + rng_below(r, WORKERS));
        word[i].of[1] = (sim_tid)(1 + word[i].of[0] % WORKERS);
    }
    for (sim_tid t = 1; t <= WORKERS; t++)
        add(s, (struct event)EV_NAMING(FORK, 0, t));
    for (unsigned i = 0; i < EVENTS_EACH; i++) {
        const unsigned w = (unsigned)rng_below(r, WORDS);
        const sim_tid t = word[w].of[rng_below(r, 2)];
        if (w % 2) { /* half of the words have a lock of their own, and no race */
            add(s, (struct event)EV_ON(ACQUIRE, t, BASE - 128 + 8 * w));
            if (rng_below(r, 2))
                add(s, (struct event)EV_SIZED(READ, t, word[w].at, word[w].size));
            add(s, (struct event)EV_SIZED(WRITE, t, word[w].at, word[w].size));
            add(s, (struct event)EV_ON(RELEASE, t, BASE - 128 + 8 * w));
        } else if (!rng_below(r, 3) && !holds[t]) {
            const int lock = 1 + (int)rng_below(r, LOCKS);
            bool taken = false;
            for (sim_tid u = 1; u <= WORKERS; u++)
                taken |= holds[u] == lock;
            if (!taken)
                add(s,
                    (struct event)EV_ON(ACQUIRE, t, BASE - 64 + 8 * (unsigned)(holds[t] = lock)));
        } else if (!rng_below(r, 3) && holds[t]) {
            add(s, (struct event)EV_ON(RELEASE, t, BASE - 64 + 8 * (unsigned)holds[t]));
            holds[t] = 0;
        } else if (rng_below(r, 2)) {
            add(s, (struct event)EV_SIZED(READ, t, word[w].at, word[w].size));
        } else {
            add(s, (struct event)EV_SIZED(WRITE, t, word[w].at, word[w].size));
        }
    }
}

/* The number of the first racy access to a word; -1: none. */
static int64_t first_by_oracle(const struct oracle *o, const struct event **at, sim_addr word)
{
    for (size_t e = 0; e < oracle_events(o); e++)
        if (oracle_racy(o, e) && at[e]->addr / 8 == word / 8)
            return (int64_t)e;
    return -1;
}

static int64_t first_by_policy(const struct watch *w, sim_addr word)
{
    for (size_t i = 0; i < w->races; i++)
        if (w->race[i].addr / 8 == word / 8)
            return (int64_t)w->race[i].is.event;
    return -1;
}

static void four_cells_are_enough_for_two_threads(void **state)
{
    unsigned racy = 0, silent = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct stream s = {0};
        struct watch w;
        struct rng r;
        rng_seed(&r, seed);
        draw_few(&r, &s);
        watch_open(&w, "tsan", 1, none);
        watch_run(&w, s.rec, s.records);
        const struct oracle_options all = {true, 1, 0};
        struct oracle *o = oracle_new(s.rec, s.records, &all);
        const struct event **at = stream_index(&s);
        assert_int_equal(watch_stat(&w, "evictions"), 0);
        for (unsigned i = 0; i < WORDS; i++) {
            const int64_t is = first_by_oracle(o, at, BASE + 8 * i);
            const int64_t says = first_by_policy(&w, BASE + 8 * i);
            if (is != says)
                fail_msg("seed %d, word %u: its first race is at event %d, tsan says %d", (int)seed,
                         i, (int)is, (int)says);
            racy += is >= 0;
            silent += is < 0;
        }
        free(at);
        oracle_free(o);
        watch_close(&w);
        stream_free(&s);
    }
    assert_true(racy > 100 && silent > 100); /* or the test would show nothing */
}

#define RUN(w, granule, ...)                                                                       \
    do {                                                                                           \
        static const struct event ev[] = {__VA_ARGS__};                                            \
        watch_open(w, "tsan", granule, none);                                                      \
        watch_run(w, ev, ARRAY_SIZE(ev));                                                          \
    } while (0)

static void expect_racy(struct watch *w, const char *what, const char *racy)
{
    char is[100];

    if (strcmp(watch_racy(w, is, sizeof is), racy))
        fail_msg("%s: races at \"%s\", and not at \"%s\"", what, is, racy);
    watch_close(w);
}

#define BYTE(k, t, i) EV_SIZED(k, t, BASE + (i), 1)

#define FIVE_BYTES                                                                                 \
    EV_NAMING(FORK, 0, 1), BYTE(WRITE, 0, 0), BYTE(WRITE, 0, 1), BYTE(WRITE, 0, 2),                \
        BYTE(WRITE, 0, 3), BYTE(WRITE, 0, 4)

/* A thread's nth event takes cell n modulo 4 where none is free: the fifth that of byte 1. */
static void the_count_decides_who_makes_room(void **state)
{
    struct watch w;

    (void)state;
    RUN(&w, 1, FIVE_BYTES, BYTE(READ, 1, 1));
    assert_int_equal(watch_stat(&w, "evictions"), 2); /* the reader's, too */
    expect_racy(&w, "byte 1 has made room", "");
    RUN(&w, 1, FIVE_BYTES, BYTE(READ, 1, 0));
    expect_racy(&w, "byte 0 is remembered", "6");
    RUN(&w, 1, FIVE_BYTES, BYTE(READ, 1, 4));
    expect_racy(&w, "byte 4 is remembered", "6");
}

static void bytes_that_are_not_shared_do_not_race(void **state)
{
    struct watch w;

    (void)state;
    RUN(&w, 8, EV_NAMING(FORK, 0, 1), BYTE(WRITE, 0, 0), BYTE(WRITE, 1, 1),
        EV_SIZED(READ, 1, BASE, 2));
    expect_racy(&w, "bytes 0 and 1 of a word, then both", "3");
}

/* A race ends the check: the access has no cell, and nobody races with it later. */
static void what_raced_is_not_remembered(void **state)
{
    struct watch w;

    (void)state;
    RUN(&w, 1, EV_NAMING(FORK, 0, 1), EV_NAMING(FORK, 0, 2), EV_WRITE4(0, BASE), EV_WRITE4(1, BASE),
        EV_WRITE4(0, BASE), EV_WRITE4(2, BASE));
    expect_racy(&w, "of three writers, the second and third race with the first", "3 5");
    RUN(&w, 1, EV_NAMING(FORK, 0, 1), EV_NAMING(FORK, 0, 2), EV_READ4(0, BASE), EV_WRITE4(1, BASE),
        EV_READ4(2, BASE));
    expect_racy(&w, "a read does not race with the write that raced", "3");
}

static void repeats_are_not_checked(void **state)
{
    struct watch w;

    (void)state;
    RUN(&w, 1, EV_NAMING(FORK, 0, 1), EV_WRITE4(0, BASE), EV_READ4(1, BASE + 4), EV_READ4(0, BASE),
        EV_WRITE4(0, BASE), EV_READ4(0, BASE));
    assert_int_equal(watch_stat(&w, "same"), 3);
    expect_racy(&w, "a thread alone", "");
}

static void memory_begins_anew(void **state)
{
    struct watch w;

    (void)state;
    RUN(&w, 1, EV_NAMING(FORK, 0, 1), EV_SIZED(WRITE, 0, BASE, 8), EV_REGION(CLEAR, 0, BASE, 4),
        EV_READ4(1, BASE), EV_READ4(1, BASE + 4));
    expect_racy(&w, "half of a word is cleared", "4");
    RUN(&w, 1, EV_NAMING(FORK, 0, 1), EV_SIZED(WRITE, 0, BASE, 8), EV_SIZED(WRITE, 0, BASE + 8, 8),
        EV_MOVE(0, BASE + 8, BASE, 8), EV_READ4(1, BASE + 8), EV_READ4(1, BASE));
    expect_racy(&w, "a copy leaves its histories behind, and ends those of where it goes", "5");
}

static void ranges_are_taken_apart(void **state)
{
    struct watch w;

    (void)state;
    RUN(&w, 1, EV_NAMING(FORK, 0, 1), EV_SIZED(WRITE, 0, BASE + 5, 21), BYTE(READ, 1, 4),
        BYTE(READ, 1, 5), BYTE(READ, 1, 16), BYTE(READ, 1, 25), BYTE(READ, 1, 26));
    expect_racy(&w, "a range from byte 5 to 25", "3 4 5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_cells_are_enough_for_two_threads),
        cmocka_unit_test(the_count_decides_who_makes_room),
        cmocka_unit_test(bytes_that_are_not_shared_do_not_race),
        cmocka_unit_test(what_raced_is_not_remembered),
        cmocka_unit_test(repeats_are_not_checked),
        cmocka_unit_test(memory_begins_anew),
        cmocka_unit_test(ranges_are_taken_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
