/* t_ce.c - the CE simulator's event stream: what each type of record makes, whom spawns and joins
 * and misused locks become, where instructions go that no event takes, what is refused, and that
 * whatever is read keeps the stream rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/trace/foreign/ce_record.h"
#include "trace/trace.h"

enum { STREAM_MAX = 40000 };
enum {
    SEQ_CST = ORDER_SEQ_CST << EVF_ORDER_SHIFT,
    OF_LOCK = EVF_SYSTEM | ORDER_RELAXED << EVF_ORDER_SHIFT
};

struct stream {
    size_t n;
    uint8_t at[STREAM_MAX * RECORD];
};

static uint8_t *record(struct stream *s, unsigned type, unsigned tid)
{
    uint8_t *at = s->at + s->n;

    assert_true(s->n + RECORD <= sizeof s->at);
    memset(at, 0, RECORD);
    at[0] = (uint8_t)type;
    at[1] = LAST;
    put(at + 2, tid, 2);
    s->n += RECORD;
    return at;
}

static uint8_t *on(struct stream *s, unsigned type, unsigned tid, uint64_t addr, uint32_t size)
{
    uint8_t *at = record(s, type, tid);

    put(at + 4, addr, 8);
    put(at + 12, size, 4);
    return at;
}

static void block(struct stream *s, unsigned tid, uint32_t instructions)
{
    put(record(s, BLOCK, tid) + 25, instructions, 4);
}

static struct source *open_stream(const struct stream *s)
{
    struct input *in = xcalloc(1, sizeof *in);
    struct err e = {0};
    struct source *source;

    in->name = xstrdup("t");
    in->file = s->n ? fmemopen((void *)(uintptr_t)s->at, s->n, "rb") : fopen("/dev/null", "rb");
    assert_non_null(in->file);
    source = trace_format_ce.open(in, &e);
    assert_non_null(source);
    return source;
}

static struct stream *stream_new(void)
{
    return xcalloc(1, sizeof(struct stream));
}

/* Frees the stream. */
static void reads_as(struct stream *stream, const struct event *expected, size_t n)
{
    struct source *s = open_stream(stream);
    struct err e = {0};
    struct batch b;
    size_t seen = 0;

    for (;;) {
        if (source_next(s, &b, &e))
            fail_msg("%s", e.text);
        if (!b.records)
            break;
        assert_int_equal(b.first, seen);
        assert_true(seen + b.records <= n);
        for (size_t i = 0; i < b.records; i++)
            if (memcmp(&b.rec[i], &expected[seen + i], sizeof *expected) != 0)
                fail_msg("event %zu: found %s of T%u, gap %u, flags %x, addr %llx, aux %llx",
                         seen + i, ev_info[b.rec[i].kind].text, b.rec[i].tid, b.rec[i].gap,
                         b.rec[i].flags, (unsigned long long)b.rec[i].addr,
                         (unsigned long long)b.rec[i].aux);
        seen += b.records;
    }
    assert_int_equal(seen, n);
    source_close(s);
    free(stream);
}

/* After `good` events an error at the byte, with the text. Frees the stream. */
static void refused(struct stream *stream, size_t good, unsigned byte, const char *expected)
{
    struct source *s = open_stream(stream);
    char *place = xasprintf("t: byte %u: ", byte);
    struct err e = {0};
    struct batch b;
    size_t seen = 0;

    while (!source_next(s, &b, &e) && b.records)
        seen += b.records;
    assert_int_equal(e.code, LARD_TRACE);
    assert_int_equal(seen, good);
    if (strncmp(e.text, place, strlen(place)) != 0 || !strstr(e.text, expected))
        fail_msg("expected \"%s...%s\", found \"%s\"", place, expected, e.text);
    free(place);
    source_close(s);
    free(stream);
}

/* ---- what records make ---------------------------------------------------------------------- */

static void a_record_has_43_bytes_that_are_big_endian(void **state)
{
    static const uint8_t record_of_all[RECORD] = {
        8, 24, 0x00, 0x03,                               /* write, thread 3 */
        1, 2,  3,    4,    5, 6, 7, 8, 0, 0, 0, 4, 1,    /* address, size, stack */
        9, 9,  9,    9,    9, 9, 9, 9, 0, 0, 0, 9,       /* value, instructions */
        0, 40, 0,    7,    0, 5, 8, 8, 8, 8, 8, 8, 8, 8, /* line, file, routine, before */
    };
    static const struct event expected[] = {
        {.kind = EV_WRITE,
         .tid = 2,
         .addr = 0x0102030405060708,
         .size = 4,
         .flags = EVF_STACK,
         .aux = 0x700050028},
    };
    struct stream *s = stream_new();

    (void)state;
    memcpy(s->at, record_of_all, RECORD);
    s->n = RECORD;
    reads_as(s, expected, ARRAY_SIZE(expected));
    reads_as(stream_new(), NULL, 0);
}

static void accesses_keep_their_sizes_and_atomics_an_order(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_READ, .addr = 0x1000, .size = 1},
        {.kind = EV_WRITE, .addr = 0x1001, .size = 127},
        {.kind = EV_READ, .addr = 0x2000, .size = 4, .flags = SEQ_CST},
        {.kind = EV_WRITE, .addr = 0x2000, .size = 4, .flags = SEQ_CST},
        {.kind = EV_READ, .addr = 0x3000, .size = 8, .flags = EVF_STACK},
        {.kind = EV_READ, .addr = 0x4000, .size = 8},
    };
    struct stream *s = stream_new();

    (void)state;
    on(s, READ, 0, 0x1000, 1);
    on(s, WRITE, 0, 0x1001, 127);
    on(s, ATOMIC_READ, 0, 0x2000, 4);
    on(s, ATOMIC_WRITE, 0, 0x2000, 4);
    on(s, READ, 0, 0x3000, 8)[16] = 1;
    on(s, READ, 0, 0x4000, 8)[16] = 0xfe;
    on(s, READ, 0, 0x5000, 0); /* the front-end writes these; they touch nothing */
    reads_as(s, expected, ARRAY_SIZE(expected));
}

static void accesses_beyond_the_last_address_go_on_at_0(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_READ, .addr = UINT64_MAX, .size = 1},
        {.kind = EV_READ, .addr = UINT64_MAX, .size = 1},
        {.kind = EV_READ, .addr = 0, .size = 7},
        {.kind = EV_READ, .addr = UINT64_MAX - 7, .size = 8},
        {.kind = EV_READ, .addr = UINT64_MAX, .size = 1, .flags = OF_LOCK},
        {.kind = EV_READ, .addr = 0, .size = 1, .flags = OF_LOCK},
    };
    struct stream *s = stream_new();

    (void)state;
    on(s, READ, 0, UINT64_MAX, 1);
    on(s, READ, 0, UINT64_MAX, 8);
    on(s, READ, 0, UINT64_MAX - 7, 8);
    on(s, LOCK_READ, 0, UINT64_MAX, 0);
    reads_as(s, expected, ARRAY_SIZE(expected));
}

static void lock_accesses_are_of_2_bytes_and_never_checked(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_ACQUIRE, .addr = 0x40},
        {.kind = EV_READ, .addr = 0x40, .size = 2, .flags = OF_LOCK},
        {.kind = EV_WRITE, .addr = 0x40, .size = 2, .flags = OF_LOCK},
        {.kind = EV_RELEASE, .addr = 0x40},
        {.kind = EV_WRITE, .addr = 0x40, .size = 2, .flags = OF_LOCK},
        {.kind = EV_WRITE, .addr = 0x40, .size = 2, .flags = OF_LOCK},
    };
    struct stream *s = stream_new();

    (void)state;
    on(s, ACQUIRE, 0, 0x40, 0);
    on(s, LOCK_READ, 0, 0x40, 0);
    on(s, LOCK_WRITE, 0, 0x40, 0);
    on(s, RELEASE, 0, 0x40, 0);
    on(s, UNLOCK_WRITE, 0, 0x40, 0);
    on(s, UNLOCK_WRITE, 0, 0x40, 4000000000)[16] = 1;
    reads_as(s, expected, ARRAY_SIZE(expected));
}

static void what_the_simulators_ignore_makes_nothing(void **state)
{
    static const uint8_t types[] = {5, 6, 9, 10, 25, 26, 27, 28, 29};
    struct stream *s = stream_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        record(s, types[i], 0);
    reads_as(s, NULL, 0);
}

/* ---- instructions --------------------------------------------------------------------------- */

static void instructions_go_into_the_next_event_of_the_thread(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_READ, .tid = 1, .addr = 8, .size = 8, .gap = 7},
        {.kind = EV_READ, .tid = 0, .addr = 8, .size = 8, .gap = 5},
        {.kind = EV_READ, .tid = 0, .addr = 8, .size = 8},
        {.kind = EV_ACQUIRE, .tid = 0, .addr = 8, .gap = 9},
        {.kind = EV_THREAD_END, .tid = 1, .gap = 4},
    };
    struct stream *s = stream_new();

    (void)state;
    block(s, 0, 2);
    block(s, 2, 7);
    block(s, 0, 3);
    on(s, READ, 2, 8, 8);
    on(s, READ, 0, 8, 8);
    block(s, 0, 0);
    on(s, READ, 0, 8, 8);
    block(s, 0, 9);
    on(s, READ, 0, 8, 0);
    on(s, ACQUIRE, 0, 8, 0);
    block(s, 2, 4);
    record(s, FINISH, 2);
    reads_as(s, expected, ARRAY_SIZE(expected));
}

static void instructions_that_no_event_takes_are_not_lost(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_READ, .addr = 8, .size = 8},
        {.kind = EV_PHASE, .tid = 0, .gap = INT32_MAX},
        {.kind = EV_PHASE, .tid = 2, .gap = 6},
    };
    static const struct event huge[] = {
        {.kind = EV_PHASE, .gap = UINT32_MAX - 1},
        {.kind = EV_READ, .addr = 8, .size = 8, .gap = INT32_MAX},
    };
    static const struct event full[] = {
        {.kind = EV_READ, .addr = 8, .size = 8, .gap = UINT32_MAX},
    };
    struct stream *s = stream_new();

    (void)state;
    on(s, READ, 0, 8, 8);
    block(s, 0, INT32_MAX);
    block(s, 3, 6);
    reads_as(s, expected, ARRAY_SIZE(expected));
    s = stream_new();
    for (unsigned i = 0; i < 3; i++)
        block(s, 0, INT32_MAX);
    on(s, READ, 0, 8, 8);
    reads_as(s, huge, ARRAY_SIZE(huge));
    s = stream_new();
    block(s, 0, INT32_MAX);
    block(s, 0, INT32_MAX);
    block(s, 0, 1);
    on(s, READ, 0, 8, 8);
    reads_as(s, full, ARRAY_SIZE(full));
}

static void instructions_stay_on_their_side_of_the_region(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_PHASE, .tid = 1, .gap = 3}, {.kind = EV_PHASE, .tid = 0, .gap = 4},
        {.kind = EV_ROI_BEGIN, .tid = 0},       {.kind = EV_READ, .tid = 1, .addr = 8, .size = 8},
        {.kind = EV_PHASE, .tid = 1, .gap = 5}, {.kind = EV_ROI_END, .tid = 0},
        {.kind = EV_ROI_BEGIN, .tid = 0},       {.kind = EV_PHASE, .tid = 0, .gap = 1},
        {.kind = EV_ROI_END, .tid = 0},         {.kind = EV_PHASE, .tid = 0, .gap = 2},
    };
    struct stream *s = stream_new();

    (void)state;
    record(s, ROI_END, 0); /* nothing to end */
    block(s, 2, 3);
    block(s, 0, 4);
    record(s, ROI_BEGIN, 0);
    on(s, READ, 2, 8, 8);
    record(s, ROI_BEGIN, 0); /* it is on */
    block(s, 2, 5);
    record(s, ROI_END, 0);
    record(s, ROI_END, 2);
    record(s, ROI_BEGIN, 0); /* on again */
    block(s, 0, 1);
    record(s, ROI_END, 0);
    block(s, 0, 2);
    reads_as(s, expected, ARRAY_SIZE(expected));
}

static void a_region_that_is_open_ends_with_the_stream(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_ROI_BEGIN, .tid = 1},
        {.kind = EV_THREAD_END, .tid = 1},
        {.kind = EV_PHASE, .tid = 0, .gap = 2},
        {.kind = EV_ROI_END, .tid = 0},
    };
    static const struct event main_ends[] = {
        {.kind = EV_ROI_BEGIN, .tid = 0},
        {.kind = EV_PHASE, .tid = 0, .gap = 2},
        {.kind = EV_ROI_END, .tid = 0},
        {.kind = EV_THREAD_END, .tid = 0},
    };
    struct stream *s = stream_new();

    (void)state;
    record(s, ROI_BEGIN, 2);
    record(s, FINISH, 2);
    block(s, 0, 2);
    reads_as(s, expected, ARRAY_SIZE(expected));
    s = stream_new();
    record(s, ROI_BEGIN, 0);
    block(s, 0, 2);
    record(s, FINISH, 0);
    reads_as(s, main_ends, ARRAY_SIZE(main_ends));
}

/* ---- threads -------------------------------------------------------------------------------- */

static void a_spawned_thread_is_forked_by_the_oldest_spawner_that_runs(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_THREAD_START, .tid = 0},
        {.kind = EV_FORK, .tid = 0, .aux = 2, .gap = 6},
        {.kind = EV_THREAD_START, .tid = 2},
        {.kind = EV_FORK, .tid = 0, .aux = 1},
        {.kind = EV_READ, .tid = 1, .addr = 8, .size = 8}, /* no start: it is seen all the same */
        {.kind = EV_THREAD_END, .tid = 2},
        {.kind = EV_FORK, .tid = 1, .aux = 3},
        {.kind = EV_THREAD_START, .tid = 3},
        {.kind = EV_THREAD_START, .tid = 4}, /* nobody spawned it */
    };
    struct stream *s = stream_new();

    (void)state;
    record(s, START, 0);
    record(s, SPAWN, 0);
    record(s, SPAWN, 0);
    block(s, 0, 6);
    record(s, START, 3);
    on(s, READ, 2, 8, 8);
    record(s, START, 2); /* too late to be one */
    record(s, SPAWN, 3);
    record(s, SPAWN, 2);
    record(s, FINISH, 3);
    record(s, START, 4);
    record(s, START, 5);
    reads_as(s, expected, ARRAY_SIZE(expected));
}

static void a_join_is_of_all_that_have_ended(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_THREAD_END, .tid = 2},     {.kind = EV_THREAD_END, .tid = 1},
        {.kind = EV_JOIN, .aux = 2, .gap = 3}, {.kind = EV_JOIN, .aux = 1},
        {.kind = EV_THREAD_END, .tid = 3},     {.kind = EV_JOIN, .aux = 3, .gap = 1},
    };
    struct stream *s = stream_new();

    (void)state;
    record(s, FINISH, 3);
    record(s, FINISH, 2);
    block(s, 0, 3);
    record(s, JOIN, 0);
    record(s, JOIN, 0);
    record(s, FINISH, 4);
    block(s, 0, 1);
    record(s, JOIN, 0);
    reads_as(s, expected, ARRAY_SIZE(expected));
}

static void the_stream_ends_with_thread_0(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_READ, .tid = 1, .addr = 8, .size = 8},
        {.kind = EV_THREAD_END, .tid = 0, .gap = 1},
        {.kind = EV_PHASE, .tid = 1, .gap = 2},
    };
    struct stream *s = stream_new();

    (void)state;
    on(s, READ, 2, 8, 8);
    block(s, 2, 2);
    block(s, 0, 1);
    record(s, FINISH, 0);
    on(s, READ, 2, 8, 8);
    record(s, 99, 77);
    s->n -= 7;
    reads_as(s, expected, ARRAY_SIZE(expected));
}

static void an_id_that_pin_uses_again_is_a_new_thread_on_the_same_core(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_THREAD_START, .tid = 1},
        {.kind = EV_THREAD_END, .tid = 1},
        {.kind = EV_JOIN, .aux = 1},
        {.kind = EV_FORK, .aux = 129},
        {.kind = EV_THREAD_START, .tid = 129},
        {.kind = EV_READ, .tid = 257, .addr = 8, .size = 8}, /* 130, whose place is taken */
        {.kind = EV_THREAD_END, .tid = 129},
        {.kind = EV_READ, .tid = 385, .addr = 8, .size = 8},
        {.kind = EV_READ, .tid = 32766, .addr = 8, .size = 8},
    };
    struct stream *s = stream_new();

    (void)state;
    record(s, START, 2);
    record(s, FINISH, 2);
    record(s, JOIN, 0);
    record(s, SPAWN, 0);
    record(s, START, 2);
    on(s, READ, 130, 8, 8);
    record(s, FINISH, 2);
    on(s, READ, 2, 8, 8);
    on(s, READ, 32767, 8, 8);
    reads_as(s, expected, ARRAY_SIZE(expected));
}

static void threads_have_pin_s_numbers_in_their_names(void **state)
{
    struct stream *s = stream_new();
    struct err e = {0};
    struct source *source;
    struct batch b;

    (void)state;
    record(s, START, 2);
    record(s, FINISH, 2);
    record(s, START, 2);
    source = open_stream(s);
    assert_int_equal(source_next(source, &b, &e), 0);
    assert_string_equal(names_find(source->names, NAME_THREAD, 0), "pin-0");
    assert_string_equal(names_find(source->names, NAME_THREAD, 1), "pin-2");
    assert_string_equal(names_find(source->names, NAME_THREAD, 129), "pin-2");
    assert_non_null(names_find(source->names, NAME_PHASE, 0));
    source_close(source);
    free(s);
}

/* ---- locks ---------------------------------------------------------------------------------- */

static void a_lock_nests_and_the_second_half_of_an_acquire_is_none(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_ACQUIRE, .addr = 8}, {.kind = EV_ACQUIRE, .addr = 8},
        {.kind = EV_RELEASE, .addr = 8}, {.kind = EV_RELEASE, .addr = 8},
        {.kind = EV_ACQUIRE, .addr = 8}, {.kind = EV_VOLATILE_READ, .tid = 1, .addr = 8},
    };
    struct stream *s = stream_new();

    (void)state;
    on(s, ACQUIRE, 0, 8, 0);
    on(s, ACQUIRE, 0, 8, 0)[1] = FIRST;
    on(s, ACQUIRE, 0, 8, 0);
    on(s, RELEASE, 0, 8, 0);
    on(s, RELEASE, 0, 8, 0);
    on(s, ACQUIRE, 0, 8, 0)[1] = FIRST; /* without a first half */
    on(s, ACQUIRE, 2, 8, 0);            /* thread 0 has it */
    reads_as(s, expected, ARRAY_SIZE(expected));
}

static void a_lock_that_another_has_becomes_a_volatile(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_VOLATILE_WRITE, .tid = 0, .addr = 8}, /* nobody's */
        {.kind = EV_ACQUIRE, .tid = 1, .addr = 8},
        {.kind = EV_VOLATILE_READ, .tid = 2, .addr = 8},
        {.kind = EV_VOLATILE_WRITE, .tid = 2, .addr = 8},
        {.kind = EV_RELEASE, .tid = 1, .addr = 8},
        {.kind = EV_ACQUIRE, .tid = 2, .addr = 8},
    };
    struct stream *s = stream_new();

    (void)state;
    on(s, RELEASE, 0, 8, 0);
    on(s, ACQUIRE, 2, 8, 0);
    on(s, ACQUIRE, 3, 8, 0);
    on(s, RELEASE, 3, 8, 0);
    on(s, RELEASE, 2, 8, 0);
    on(s, ACQUIRE, 3, 8, 0);
    reads_as(s, expected, ARRAY_SIZE(expected));
}

static void who_finishes_with_a_lock_has_no_end(void **state)
{
    static const struct event expected[] = {
        {.kind = EV_ACQUIRE, .tid = 1, .addr = 8},
        {.kind = EV_PHASE, .tid = 1, .gap = 2},
        {.kind = EV_JOIN, .aux = 1},
        {.kind = EV_VOLATILE_READ, .addr = 8},
        {.kind = EV_READ, .tid = 129, .addr = 8, .size = 8},
    };
    struct stream *s = stream_new();

    (void)state;
    on(s, ACQUIRE, 2, 8, 0);
    block(s, 2, 2);
    record(s, FINISH, 2);
    record(s, JOIN, 0);
    on(s, ACQUIRE, 0, 8, 0);
    on(s, READ, 2, 8, 8);
    reads_as(s, expected, ARRAY_SIZE(expected));
}

/* ---- bad input ------------------------------------------------------------------------------ */

static void types_that_are_none_are_refused(void **state)
{
    static const uint8_t types[] = {0, 16, 17, 23, 24, 30, 128, 255};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        struct stream *s = stream_new();
        char *expected = xasprintf("of the type %u, which is none", types[i]);

        on(s, READ, 0, 8, 8);
        record(s, types[i], 0);
        on(s, READ, 0, 8, 8);
        refused(s, 1, RECORD, expected);
        free(expected);
    }
}

static void thread_ids_that_can_t_be_are_refused(void **state)
{
    struct stream *s = stream_new();

    (void)state;
    on(s, READ, 1, 8, 8);
    refused(s, 0, 0, "thread 1, which is the front-end's own");
    s = stream_new();
    on(s, READ, 32767, 8, 8);
    on(s, READ, 32768, 8, 8);
    refused(s, 1, RECORD, "thread id of 32768 or more");
}

static void sizes_that_can_t_be_are_refused(void **state)
{
    static const uint32_t sizes[] = {128, 256, 264, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        struct stream *s = stream_new();

        on(s, WRITE, 0, 8, 127);
        on(s, WRITE, 0, 8, sizes[i]);
        refused(s, 1, RECORD, "more than 127 bytes");
    }
    struct stream *s = stream_new();
    block(s, 0, (uint32_t)INT32_MAX + 1);
    refused(s, 0, 0, "2147483648 instructions or more");
}

static void a_record_that_is_cut_off_is_refused_after_those_before(void **state)
{
    (void)state;
    for (unsigned missing = 1; missing < RECORD; missing += 41) {
        struct stream *s = stream_new();

        on(s, READ, 0, 8, 8);
        on(s, READ, 0, 8, 8);
        s->n -= missing;
        refused(s, 1, RECORD, "the last record is cut off");
    }
    struct stream *s = stream_new(); /* beyond what is read at a time */
    for (unsigned i = 0; i < 2000; i++)
        on(s, READ, 0, 8, 8);
    s->n--;
    refused(s, 1999, 1999 * RECORD, "the last record is cut off");
}

static void more_threads_than_there_are_ids_are_refused(void **state)
{
    struct stream *s = stream_new();

    (void)state;
    for (unsigned i = 0; i < 513; i++)
        record(s, FINISH, 3);
    refused(s, 512, 512 * RECORD, "too many threads");
}

/* ---- whatever is read ----------------------------------------------------------------------- */

static void random_records(struct stream *s, struct rng *r, size_t n, uint64_t *instructions)
{
    static const uint8_t types[] = {1,  2,  3,  3,  4,  5,  7,  8,  11, 11, 12, 12,
                                    12, 13, 13, 14, 15, 15, 18, 19, 20, 21, 22, 29};

    for (size_t i = 0; i < n; i++) {
        const unsigned pin = (unsigned)rng_below(r, 6);
        const uint8_t type = types[rng_below(r, ARRAY_SIZE(types))];
        uint8_t *at;

        if (type == FINISH && pin == 0)
            continue;
        at = on(s, type, pin ? pin + 1 : 0, UINT64_MAX - 8 + rng_below(r, 16),
                (uint32_t)rng_below(r, 20));
        at[1] = (uint8_t)(FIRST + rng_below(r, 2));
        put(at + 25, rng_below(r, 100), 4);
        *instructions += type == BLOCK ? at[28] : 0;
    }
}

static void any_stream_keeps_the_rules_and_its_instructions(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct rules *rules = rules_new(true);
        struct stream *stream = stream_new();
        uint64_t instructions = 0, gaps = 0, number = 0;
        struct source *s;
        struct err e = {0};
        struct batch b;
        struct rng r;

        rng_seed(&r, seed);
        random_records(stream, &r, 3000, &instructions);
        s = open_stream(stream);
        while (!source_next(s, &b, &e) && b.records)
            for (size_t i = 0; i < b.records && !e.code; i++) {
                const char *what;

                assert_int_equal(event_well_formed(&b.rec[i], &what), 0);
                gaps += b.rec[i].gap;
                rules_apply(rules, &b.rec[i], number++, &e);
            }
        if (!e.code)
            rules_finish(rules, &e);
        if (e.code)
            fail_msg("seed %llu: %s", (unsigned long long)seed, e.text);
        assert_true(number > 2000);
        assert_true(gaps == instructions);
        source_close(s);
        rules_free(rules);
        free(stream);
    }
}

static void it_is_told_by_name_only(void **state)
{
    (void)state;
    assert_string_equal(trace_format_ce.name, "ce");
    assert_null(trace_format_ce.bid);
    assert_false(trace_format_ce.options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_has_43_bytes_that_are_big_endian),
        cmocka_unit_test(accesses_keep_their_sizes_and_atomics_an_order),
        cmocka_unit_test(accesses_beyond_the_last_address_go_on_at_0),
        cmocka_unit_test(lock_accesses_are_of_2_bytes_and_never_checked),
        cmocka_unit_test(what_the_simulators_ignore_makes_nothing),
        cmocka_unit_test(instructions_go_into_the_next_event_of_the_thread),
        cmocka_unit_test(instructions_that_no_event_takes_are_not_lost),
        cmocka_unit_test(instructions_stay_on_their_side_of_the_region),
        cmocka_unit_test(a_region_that_is_open_ends_with_the_stream),
        cmocka_unit_test(a_spawned_thread_is_forked_by_the_oldest_spawner_that_runs),
        cmocka_unit_test(a_join_is_of_all_that_have_ended),
        cmocka_unit_test(the_stream_ends_with_thread_0),
        cmocka_unit_test(an_id_that_pin_uses_again_is_a_new_thread_on_the_same_core),
        cmocka_unit_test(threads_have_pin_s_numbers_in_their_names),
        cmocka_unit_test(a_lock_nests_and_the_second_half_of_an_acquire_is_none),
        cmocka_unit_test(a_lock_that_another_has_becomes_a_volatile),
        cmocka_unit_test(who_finishes_with_a_lock_has_no_end),
        cmocka_unit_test(types_that_are_none_are_refused),
        cmocka_unit_test(thread_ids_that_can_t_be_are_refused),
        cmocka_unit_test(sizes_that_can_t_be_are_refused),
        cmocka_unit_test(a_record_that_is_cut_off_is_refused_after_those_before),
        cmocka_unit_test(more_threads_than_there_are_ids_are_refused),
        cmocka_unit_test(any_stream_keeps_the_rules_and_its_instructions),
        cmocka_unit_test(it_is_told_by_name_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
