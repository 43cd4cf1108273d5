/* t_block.c - blocks of events: what goes in comes out, costs what it should, and bytes that say
 * something impossible are refused. Columns are in t_column.c, files in t_binary.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "tests/trace/wild.h"
#include "trace/binary/block.h"

static const enum trace_codec all_codecs[] = {CODEC_RAW, CODEC_ZSTD, CODEC_ZLIB};

/* ---- blocks --------------------------------------------------------------------------------- */

struct bench { /* what a test of blocks needs */
    struct block_encoder *encoder;
    struct block_decoder *decoder;
    struct event *in, *out; /* BLOCK_RECORDS each */
    struct event *slice;
    struct block_sum done; /* of out */
    struct bytes bytes;
    size_t events, records; /* of in */
    struct block_fault fault;
};

static struct bench *bench_new(enum trace_codec how)
{
    struct bench *b = xcalloc(1, sizeof *b);

    b->encoder = block_encoder_new(how, how == CODEC_RAW ? 0 : 1);
    b->decoder = block_decoder_new(2);
    b->in = xcalloc(BLOCK_RECORDS, sizeof *b->in);
    b->out = xcalloc(BLOCK_RECORDS, sizeof *b->out);
    b->slice = xcalloc(SLICE_RECORDS, sizeof *b->slice);
    return b;
}

static void bench_free(struct bench *b)
{
    block_encoder_free(b->encoder);
    block_decoder_free(b->decoder);
    bytes_free(&b->bytes);
    free(b->in);
    free(b->out);
    free(b->slice);
    free(b);
}

static void bench_add(struct bench *b, struct event ev)
{
    b->in[b->records++] = ev;
    b->events++;
}

static void bench_encode(struct bench *b)
{
    const struct event *ev = b->in, *const end = b->in + b->records;

    for (; ev < end; ev += event_records(ev)) {
        ev = block_accesses(b->encoder, ev, end);
        if (ev == end)
            break;
        block_event(b->encoder, ev);
    }
    b->bytes.n = 0;
    block_put(b->encoder, &b->bytes);
}

/* All slices, each whole events and none too long. */
static int bench_merge(struct bench *b)
{
    struct block_sum slice;

    for (;;) {
        if (block_next(b->decoder, b->slice, &slice, &b->fault))
            return -1;
        if (slice.events == 0)
            return 0;
        assert_in_range(slice.events, 1, SLICE_EVENTS);
        assert_in_range(slice.records, slice.events, 2 * slice.events);
        assert_true(b->done.records + slice.records <= b->records);
        memcpy(b->out + b->done.records, b->slice, slice.records * sizeof *b->out);
        b->done.events += slice.events;
        b->done.records += slice.records;
    }
}

/* Decodes a copy of the exact length, so that reading too far is seen, and keeping it too long. */
static int bench_decode(struct bench *b, const uint8_t *from, size_t n)
{
    uint8_t *exact = xmalloc(n);

    memcpy(exact, from, n);
    memset(&b->fault, 0, sizeof b->fault);
    b->done = (struct block_sum){0, 0};
    int result = block_open(b->decoder, exact, n, b->events, b->records, &b->fault);
    free(exact);
    if (!result)
        result = bench_merge(b);
    if (result)
        assert_non_null(b->fault.what);
    else
        assert_true(b->done.events == b->events && b->done.records == b->records);
    return result;
}

static void bench_round(struct bench *b)
{
    bench_encode(b);
    if (bench_decode(b, b->bytes.at, b->bytes.n))
        fail_msg("%zu events: %s", b->events, b->fault.what);
    assert_memory_equal(b->in, b->out, b->records * sizeof *b->in);
}

static void wild_blocks_of_every_codec_come_back(void **state)
{
    static const size_t events[] = {1, 2, 3, 255, 256, 257, 5000, BLOCK_EVENTS};

    (void)state;
    for (size_t k = 0; k < ARRAY_SIZE(all_codecs); k++) {
        struct bench *b = bench_new(all_codecs[k]);
        for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
            b->events = events[i];
            b->records = wild_events(10 + i, events[i], b->in);
            bench_round(b);
            bench_round(b); /* nothing stays behind in encoder or decoder */
        }
        bench_free(b);
    }
}

static void as_many_threads_as_events_come_back(void **state)
{
    struct bench *b = bench_new(CODEC_ZSTD);

    (void)state;
    for (unsigned i = 0; i < BLOCK_EVENTS; i++)
        bench_add(b, (struct event){.kind = EV_READ,
                                    .addr = 16 * (uint64_t)i,
                                    .size = 1,
                                    .tid = (sim_tid)(i * 40503U)});
    bench_round(b);
    bench_free(b);
}

static void as_many_shapes_and_records_as_there_can_be_come_back(void **state)
{
    struct bench *b = bench_new(CODEC_RAW);
    struct rng r;

    (void)state;
    rng_seed(&r, 3);
    for (unsigned i = 0; i < BLOCK_EVENTS; i++)
        bench_add(b, (struct event){.kind = EV_WRITE,
                                    .addr = rng_next(&r) >> 1,
                                    .aux = rng_next(&r),
                                    .size = i + 1,
                                    .gap = (uint32_t)rng_next(&r),
                                    .tid = (sim_tid)rng_next(&r)});
    bench_round(b);
    b->records = b->events = 0;
    for (unsigned i = 0; i < BLOCK_EVENTS; i++) {
        bench_add(b, (struct event){.kind = EV_ALLOC,
                                    .flags = EVF_MORE,
                                    .addr = rng_next(&r) >> 1,
                                    .aux = UINT64_MAX >> 1,
                                    .gap = (uint32_t)rng_next(&r),
                                    .tid = (sim_tid)rng_next(&r)});
        b->in[b->records++] = (struct event){
            .addr = rng_next(&r) >> 33, .size = (uint32_t)rng_next(&r), .aux = rng_next(&r)};
    }
    bench_round(b);
    assert_in_range(b->bytes.n, 1, 4 << 20); /* the format's limit is 16 MiB */
    bench_free(b);
}

static void run_add(struct bench *b, sim_tid tid, size_t n)
{
    for (; n > 0 && b->events < BLOCK_EVENTS; n--)
        bench_add(b, (struct event){.kind = EV_WRITE,
                                    .addr = 8 * b->events * b->events,
                                    .aux = b->events,
                                    .size = 8,
                                    .gap = tid,
                                    .tid = tid});
}

static void runs_of_any_length_come_back(void **state)
{
    static const size_t lengths[] = {
        1, 2, 3, 7, 8, 9, 16, 17, SLICE_EVENTS - 1, SLICE_EVENTS, SLICE_EVENTS + 1, 65536};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
        for (sim_tid threads = 1; threads <= 3; threads++) {
            struct bench *b = bench_new(CODEC_RAW);
            for (size_t run = 0; b->events < BLOCK_EVENTS; run++)
                run_add(b, (sim_tid)(run % threads * 21845), run % 5 ? lengths[i] : 1);
            bench_round(b);
            bench_free(b);
        }
}

static void a_block_tells_its_events_by_kind_and_thread(void **state)
{
    uint64_t *expect = xcalloc(COUNTED + MAX_THREADS, sizeof *expect);
    uint64_t *told = xcalloc(COUNTED + MAX_THREADS, sizeof *told);
    struct bench *b = bench_new(CODEC_ZSTD);

    (void)state;
    for (size_t n = 1; n <= 10000; n += 3333) {
        b->events = n;
        b->records = wild_events(n, n, b->in);
        bench_round(b);
        block_count(b->decoder, told, told + COUNTED);
        for (size_t i = 0; i < b->records; i += event_records(b->in + i)) {
            expect[b->in[i].kind]++;
            expect[COUNTED + b->in[i].tid]++;
        }
        memcpy(expect + COUNT_FIRST, told + COUNT_FIRST, /* t_summary.c has those */
               (COUNTED - COUNT_FIRST) * sizeof *told);
        assert_memory_equal(expect, told, (COUNTED + MAX_THREADS) * sizeof *told);
    }
    bench_free(b);
    free(expect);
    free(told);
}

static struct event workload_event(struct rng *r)
{
    const uint64_t share = rng_below(r, 100);
    struct event ev = {.gap = 1};

    if (share < 87) {
        ev.kind = share < 61 ? EV_READ : EV_WRITE;
        ev.addr = ((uint64_t)1 << 32) + 8 * rng_below(r, 100000);
        ev.size = 8;
    } else {
        ev.kind = rng_chance(r, 1, 2) ? EV_ACQUIRE : EV_RELEASE;
        ev.addr = ((uint64_t)1 << 40) + 64 * rng_below(r, 1000);
    }
    return ev;
}

static void random_accesses_to_many_variables_cost_three_bytes(void **state)
{
    for (uint64_t longest = 1; longest <= 10; longest += 9) {
        struct bench *b = bench_new(CODEC_ZSTD);
        sim_tid tid = 0;
        uint64_t run = 0;
        struct rng r;

        (void)state;
        rng_seed(&r, 4);
        while (b->events < BLOCK_EVENTS) {
            if (run == 0) {
                run = 1 + rng_below(&r, longest);
                tid = (sim_tid)rng_below(&r, 8);
            }
            bench_add(b, workload_event(&r));
            b->in[b->records - 1].tid = tid;
            run--;
        }
        bench_round(b);
        assert_in_range(b->bytes.n, BLOCK_EVENTS, 3 * BLOCK_EVENTS);
        bench_free(b);
    }
}

static void a_monotonous_block_costs_next_to_nothing(void **state)
{
    struct bench *b = bench_new(CODEC_RAW);

    (void)state;
    for (unsigned i = 0; i < BLOCK_EVENTS; i++)
        bench_add(b, (struct event){
                         .kind = EV_READ, .addr = 4096, .aux = 7, .size = 4, .gap = 3, .tid = 2});
    bench_round(b);
    assert_in_range(b->bytes.n, 1, 80);
    bench_free(b);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void refused(struct bench *b, const char *why)
{
    assert_int_equal(bench_decode(b, b->bytes.at, b->bytes.n), -1);
    if (!strstr(b->fault.what, why))
        fail_msg("expected \"%s\" in \"%s\"", why, b->fault.what);
}

/* The encoder does not look at an event: so it can write what the decoder must refuse. */
static void an_event_that_is_not_well_formed_is_named(void **state)
{
    static const struct event bad[] = {
        {.kind = EV_READ, .addr = UINT64_MAX, .size = 2},
        {.kind = EV_READ, .addr = 1, .size = 0},
        {.kind = EV_RMW, .addr = 1, .size = 8},
        {.kind = EV_READ, .addr = 1, .size = 8, .flags = 1 << 14},
        {.kind = EV_ACQUIRE, .addr = 1, .aux = 1},
        {.kind = EV_CLEAR, .addr = 1},
        {.kind = EV_COPY, .addr = 64, .aux = 8},
        {.kind = EV_FORK, .aux = 65536},
    };
    struct bench *b = bench_new(CODEC_ZSTD);
    const char *what;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        b->records = wild_events(i, 300, b->in);
        b->events = 300;
        bench_add(b, bad[i]);
        b->records += wild_events(i + 1, 300, b->in + b->records);
        b->events += 300;
        assert_int_equal(event_well_formed(&bad[i], &what), -1);
        bench_encode(b);
        refused(b, what);
        assert_int_equal(b->fault.event, 300);
        assert_int_equal(b->done.events, 300); /* those before it are given out */
        assert_memory_equal(b->in, b->out, b->done.records * sizeof *b->in);
    }
    bench_free(b);
}

/* Kind, flags and size are as in the event before: the rest is looked at all the same. */
static void an_access_like_the_one_before_may_be_ill_formed(void **state)
{
    const struct event good = {.kind = EV_READ, .addr = 64, .size = 8};
    struct event wraps = good, dirty = good, other = good;
    struct bench *b = bench_new(CODEC_ZSTD);

    (void)state;
    wraps.addr = UINT64_MAX - 6;
    dirty.zero[2] = 1;
    other.tid = 9;
    const struct event *const bad[] = {&wraps, &dirty};
    block_event(b->encoder, &good);
    assert_ptr_equal(block_accesses(b->encoder, &other, &other + 1), &other + 1);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_ptr_equal(block_accesses(b->encoder, bad[i], bad[i] + 1), bad[i]);
    assert_int_equal(block_sum(b->encoder).events, 2);
    bench_free(b);
}

static void a_bad_event_in_a_later_slice_is_named_again_and_again(void **state)
{
    enum { BAD = 2 * SLICE_EVENTS + 17 };
    struct bench *b = bench_new(CODEC_RAW);
    struct block_sum slice;

    (void)state;
    for (unsigned i = 0; i < 3 * SLICE_EVENTS; i++)
        bench_add(b, (struct event){.kind = EV_READ, .addr = i, .size = i == BAD ? 0 : 4});
    bench_encode(b);
    refused(b, "0 bytes");
    assert_int_equal(b->fault.event, BAD);
    assert_int_equal(b->done.events, BAD);
    assert_int_equal(block_next(b->decoder, b->slice, &slice, &b->fault), -1);
    assert_int_equal(b->fault.event, BAD);
    bench_free(b);
}

/* What the decoder rests on when it looks at a shape once instead of at all its events: what is
 * well-formed is so at lower addresses and aux, heap events and second records apart. */
static void lower_numbers_do_no_harm(void **state)
{
    struct event ev[EVENT_RECORDS];
    const char *what;
    struct rng r;

    (void)state;
    rng_seed(&r, 9);
    for (int i = 0; i < 50000; i++) {
        wild_event(&r, ev);
        if (ev->flags & EVF_MORE || ev_info[ev->kind].class == CLASS_HEAP)
            continue;
        ev->addr = rng_chance(&r, 1, 2) ? ev->addr : rng_below(&r, ev->addr | 1);
        ev->aux = rng_chance(&r, 1, 2) ? ev->aux : rng_below(&r, ev->aux | 1);
        assert_int_equal(event_well_formed(ev, &what), 0);
    }
}

static void an_access_that_ends_at_the_last_byte_comes_back(void **state)
{
    struct bench *b = bench_new(CODEC_ZSTD);

    (void)state;
    bench_add(b, (struct event){.kind = EV_READ, .addr = UINT64_MAX, .size = 1});
    bench_add(b, (struct event){.kind = EV_READ, .addr = UINT64_MAX - 7, .size = 8});
    bench_round(b);
    bench_free(b);
}

/* A block of two events made of constant columns. */
struct hand {
    const char *why; /* NULL: is right */
    uint64_t threads, thread, runs, run, length, shapes, shape, index, gap;
};

static void hand_column(struct column_encoder *c, struct bytes *to, uint64_t n, uint64_t value)
{
    const uint64_t v[4] = {value, value, value, value};
    const uint32_t length = (uint32_t)n;

    column_put(c, to, v, n, (struct groups){&length, 1});
}

static void hand_encode(const struct hand *h, struct bytes *to)
{
    struct column_encoder *c = column_encoder_new(CODEC_RAW, 0);

    to->n = 0;
    bytes_varint(to, h->threads);
    hand_column(c, to, h->threads, h->thread);
    bytes_varint(to, h->runs);
    hand_column(c, to, h->runs, h->run);
    hand_column(c, to, h->runs, h->length);
    bytes_varint(to, h->shapes);
    hand_column(c, to, h->shapes, h->shape);
    hand_column(c, to, 2, h->index);
    hand_column(c, to, 2, h->gap);
    hand_column(c, to, 2, 9); /* address */
    hand_column(c, to, 2, 0); /* aux */
    column_encoder_free(c);
}

static void blocks_that_contradict_themselves_are_refused(void **state)
{
    const uint64_t k = EV_NOTIFY;
    const struct hand hand[] = {
        {NULL, 1, 3, 1, 0, 1, 1, k, 0, 0},
        {NULL, 1, 65535, 2, 0, 0, 1, k, 0, UINT32_MAX},
        {"as many threads", 0, 3, 1, 0, 1, 1, k, 0, 0},
        {"as many threads", 3, 3, 1, 0, 1, 1, k, 0, 0},
        {"not below 65536", 1, 65536, 1, 0, 1, 1, k, 0, 0},
        {"as many runs", 1, 3, 0, 0, 1, 1, k, 0, 0},
        {"as many runs", 1, 3, 3, 0, 0, 1, k, 0, 0},
        {"names no thread", 1, 3, 1, 1, 1, 1, k, 0, 0},
        {"too long", 1, 3, 1, 0, 2, 1, k, 0, 0},
        {"too long", 1, 3, 1, 0, UINT64_MAX, 1, k, 0, 0},
        {"as many events", 1, 3, 1, 0, 0, 1, k, 0, 0},
        {"as many events", 1, 3, 2, 0, 1, 1, k, 0, 0},
        {"as many shapes", 1, 3, 1, 0, 1, 0, k, 0, 0},
        {"as many shapes", 1, 3, 1, 0, 1, 3, k, 0, 0},
        {"none of those", 1, 3, 1, 0, 1, 1, k, 1, 0},
        {"kind of an event is unknown", 1, 3, 1, 0, 1, 1, 0, 0, 0},
        {"kind of an event is unknown", 1, 3, 1, 0, 1, 1, EV_KINDS, 0, 0},
        {"kind of an event is unknown", 1, 3, 1, 0, 1, 1, 255, 0, 0},
        {"bits 8 to 15", 1, 3, 1, 0, 1, 1, k | 1 << 8, 0, 0},
        {"bits 8 to 15", 1, 3, 1, 0, 1, 1, k | 1 << 15, 0, 0},
        {"of 32 bits", 1, 3, 1, 0, 1, 1, k, 0, (uint64_t)1 << 32},
    };
    struct bench *b = bench_new(CODEC_RAW);

    (void)state;
    b->events = b->records = 2;
    for (size_t i = 0; i < ARRAY_SIZE(hand); i++) {
        hand_encode(&hand[i], &b->bytes);
        if (hand[i].why)
            refused(b, hand[i].why);
        else
            assert_int_equal(bench_decode(b, b->bytes.at, b->bytes.n), 0);
    }
    assert_int_equal(b->out[1].kind, EV_NOTIFY);
    bench_free(b);
}

static void version_1_has_nothing_of_version_2(void **state)
{
    static const struct event older = {
        .kind = EV_WRITE, .addr = 8, .size = 4, .flags = ORDER_RELEASE << EVF_ORDER_SHIFT};
    static const struct event newer[] = {
        {.kind = EV_WRITE,
         .addr = 8,
         .size = 4,
         .flags = ORDER_RELEASE << EVF_ORDER_SHIFT | EVF_C11},
        {.kind = EV_READ, .addr = 8, .size = 4, .flags = EVF_DEPENDENT},
        {.kind = EV_UNINSTRUMENTED, .aux = 1}};
    struct bench *b = bench_new(CODEC_RAW);

    (void)state;
    block_decoder_free(b->decoder);
    b->decoder = block_decoder_new(1);
    bench_add(b, older);
    bench_encode(b);
    assert_int_equal(bench_decode(b, b->bytes.at, b->bytes.n), 0);
    for (size_t i = 0; i < ARRAY_SIZE(newer); i++) {
        b->events = b->records = 0;
        bench_add(b, newer[i]);
        bench_encode(b);
        refused(b, "an event of version 2 stands in a trace of version 1");
    }
    bench_free(b);
}

static void bytes_that_are_missing_or_left_over_are_refused(void **state)
{
    struct bench *b = bench_new(CODEC_ZSTD);

    (void)state;
    b->events = 500;
    b->records = wild_events(5, 500, b->in);
    bench_encode(b);
    for (size_t n = 0; n < b->bytes.n; n++)
        assert_int_equal(bench_decode(b, b->bytes.at, n), -1);
    bytes_add(&b->bytes, "", 1);
    refused(b, "left over");
    b->bytes.n--;
    b->records++;
    refused(b, "records");
    bench_free(b);
}

/* Without a checksum before it the decoder may accept changed bytes, but only as well-formed
 * events. */
static void noise_gives_an_error_or_well_formed_events(void **state)
{
    enum { EVENTS = 300, ROUNDS = 6000 };
    struct bench *b = bench_new(CODEC_ZLIB);
    const char *what;
    struct rng r;

    (void)state;
    rng_seed(&r, 6);
    b->events = EVENTS;
    b->records = wild_events(6, EVENTS, b->in);
    bench_encode(b);
    for (int i = 0; i < ROUNDS; i++) {
        const size_t at = rng_below(&r, 3) ? rng_below(&r, 150) : rng_below(&r, b->bytes.n);
        const uint8_t was = b->bytes.at[at];
        b->bytes.at[at] = (uint8_t)rng_next(&r);
        if (!bench_decode(b, b->bytes.at, b->bytes.n))
            for (size_t k = 0; k < b->records; k += event_records(b->out + k))
                assert_int_equal(event_well_formed(b->out + k, &what), 0);
        b->bytes.at[at] = was;
    }
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wild_blocks_of_every_codec_come_back),
        cmocka_unit_test(as_many_threads_as_events_come_back),
        cmocka_unit_test(as_many_shapes_and_records_as_there_can_be_come_back),
        cmocka_unit_test(runs_of_any_length_come_back),
        cmocka_unit_test(a_block_tells_its_events_by_kind_and_thread),
        cmocka_unit_test(random_accesses_to_many_variables_cost_three_bytes),
        cmocka_unit_test(a_monotonous_block_costs_next_to_nothing),
        cmocka_unit_test(an_event_that_is_not_well_formed_is_named),
        cmocka_unit_test(an_access_like_the_one_before_may_be_ill_formed),
        cmocka_unit_test(a_bad_event_in_a_later_slice_is_named_again_and_again),
        cmocka_unit_test(lower_numbers_do_no_harm),
        cmocka_unit_test(an_access_that_ends_at_the_last_byte_comes_back),
        cmocka_unit_test(blocks_that_contradict_themselves_are_refused),
        cmocka_unit_test(version_1_has_nothing_of_version_2),
        cmocka_unit_test(bytes_that_are_missing_or_left_over_are_refused),
        cmocka_unit_test(noise_gives_an_error_or_well_formed_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
