/* block.c - bytes to up to 65,536 consecutive events: columns are expanded to numbers, then merged
 * by the runs of threads into records. Trusts nothing in the bytes; encoding is in block_encode.c.
 */
#include "trace/block_form.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(struct event, addr) == 0 && offsetof(struct event, aux) == 8 &&
                   offsetof(struct event, size) == 16 && offsetof(struct event, gap) == 20 &&
                   offsetof(struct event, tid) == 24 && offsetof(struct event, flags) == 26 &&
                   offsetof(struct event, kind) == 28,
               "record_put writes a record as four words");

enum {
    SHAPE_OTHER = 1 << 8
}; /* set in decoded shapes, where those of the format have a 0: no access */
#define SHAPE_MORE ((uint64_t)EVF_MORE << SHAPE_FLAGS_SHIFT)

struct cursor { /* of a thread: places in the columns of its next event */
    uint32_t all, other, more;
};

struct block_decoder {
    struct column_coder *coder; /* owns */
    size_t events, threads, runs, shapes;
    size_t total[PARTS];
    bool check_all; /* some access may not be well-formed */
    uint64_t thread[BLOCK_EVENTS];
    uint64_t run_thread[BLOCK_EVENTS], run_length[BLOCK_EVENTS]; /* place in thread[]; events - 1 */
    uint64_t known[BLOCK_EVENTS];                                /* the shapes there are */
    uint64_t shape[BLOCK_EVENTS];                                /* of each event, by thread */
    uint32_t length[PARTS][BLOCK_EVENTS];                        /* events by thread */
    struct cursor cursor[BLOCK_EVENTS];
    uint64_t column[FIELDS][BLOCK_EVENTS]; /* addr and aux: first the accesses', then the others' */
    uint32_t checked[BLOCK_EVENTS];        /* records to look at once more */
};

struct block_decoder *block_decoder_new(void)
{
    struct block_decoder *b = xmalloc(sizeof *b);

    b->coder = column_coder_new(CODEC_RAW, 0);
    return b;
}

void block_decoder_free(struct block_decoder *b)
{
    if (!b)
        return;
    column_coder_free(b->coder);
    free(b);
}

static int fail(struct block_fault *fault, const char *what)
{
    *fault = (struct block_fault){.what = what};
    return -1;
}

/* All bits that are set in some number: at least the largest of them. Four at a time, because it is
 * limited by the chain of dependent operations otherwise. */
static uint64_t any_bits(const uint64_t *v, size_t n)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        a |= v[i];
        b |= v[i + 1];
        c |= v[i + 2];
        d |= v[i + 3];
    }
    for (; i < n; i++)
        a |= v[i];
    return a | b | c | d;
}

/* ---- lists: threads, runs, shapes ----------------------------------------------------------- */

static int count_get(struct block_decoder *b, struct slice *from, size_t *n)
{
    uint64_t v;

    if (slice_varint(from, &v) || v == 0 || v > b->events)
        return -1;
    *n = (size_t)v;
    return 0;
}

static int list_get(struct block_decoder *b, struct slice *from, uint64_t *v, size_t n,
                    struct block_fault *fault)
{
    const uint32_t length = (uint32_t)n;
    const char *what = NULL;

    if (column_get(b->coder, from, v, n, (struct groups){&length, 1}, &what))
        return fail(fault, what);
    return 0;
}

static int threads_get(struct block_decoder *b, struct slice *from, struct block_fault *fault)
{
    if (count_get(b, from, &b->threads))
        return fail(fault, "there are not as many threads as there can be");
    if (list_get(b, from, b->thread, b->threads, fault))
        return -1;
    if (any_bits(b->thread, b->threads) >= MAX_THREADS)
        return fail(fault, "a thread's number is not below 65536");
    return 0;
}

static int runs_get(struct block_decoder *b, struct slice *from, struct block_fault *fault)
{
    uint64_t sum = 0;

    if (count_get(b, from, &b->runs))
        return fail(fault, "there are not as many runs of threads as there can be");
    if (list_get(b, from, b->run_thread, b->runs, fault) ||
        list_get(b, from, b->run_length, b->runs, fault))
        return -1;
    memset(b->length[PART_ALL], 0, b->threads * sizeof b->length[0][0]);
    for (size_t i = 0; i < b->runs; i++) {
        if (b->run_thread[i] >= b->threads || b->run_length[i] >= b->events)
            return fail(fault, "a run of a thread names no thread, or is too long");
        sum += b->run_length[i] + 1;
        b->length[PART_ALL][b->run_thread[i]] += (uint32_t)b->run_length[i] + 1;
    }
    return sum == b->events
               ? 0
               : fail(fault, "the runs of threads have not as many events as the block");
}

/* Shapes without a valid kind end here, so that classes can be looked up. */
static int shape_classify(uint64_t *shape, struct block_fault *fault)
{
    const uint8_t kind = shape_kind(*shape);

    if (kind >= EV_KINDS || !ev_info[kind].text)
        return fail(fault, "the kind of an event is unknown");
    if (*shape >> 8 & 0xff)
        return fail(fault, "bits 8 to 15 of an event's shape are not 0");
    if (ev_info[kind].class != CLASS_ACCESS)
        *shape |= SHAPE_OTHER;
    return 0;
}

static int shapes_get(struct block_decoder *b, struct slice *from, struct block_fault *fault)
{
    const char *what = NULL;

    if (count_get(b, from, &b->shapes))
        return fail(fault, "there are not as many shapes of events as there can be");
    if (list_get(b, from, b->known, b->shapes, fault))
        return -1;
    for (size_t i = 0; i < b->shapes; i++)
        if (shape_classify(&b->known[i], fault))
            return -1;
    if (column_get(b->coder, from, b->shape, b->events,
                   (struct groups){b->length[PART_ALL], b->threads}, &what))
        return fail(fault, what);
    for (size_t i = 0; i < b->events; i++) {
        if (UNLIKELY(b->shape[i] >= b->shapes))
            return fail(fault, "an event's shape is none of those there are");
        b->shape[i] = b->known[b->shape[i]];
    }
    return 0;
}

/* ---- columns -------------------------------------------------------------------------------- */

/* How many of each part a thread has, and where its first ones stand. */
static void parts_count(struct block_decoder *b)
{
    size_t at = 0, other = 0, more = 0;

    for (size_t t = 0; t < b->threads; t++) {
        const size_t end = at + b->length[PART_ALL][t];
        size_t others = 0, mores = 0;

        b->cursor[t] = (struct cursor){(uint32_t)at, (uint32_t)other, (uint32_t)more};
        for (; at < end; at++) {
            others += b->shape[at] / SHAPE_OTHER & 1;
            mores += b->shape[at] / SHAPE_MORE & 1;
        }
        b->length[PART_OTHER][t] = (uint32_t)others;
        b->length[PART_ACCESS][t] = (uint32_t)(b->length[PART_ALL][t] - others);
        b->length[PART_MORE][t] = (uint32_t)mores;
        other += others;
        more += mores;
    }
    b->total[PART_ALL] = b->events;
    b->total[PART_ACCESS] = b->events - other;
    b->total[PART_OTHER] = other;
    b->total[PART_MORE] = more;
}

static int columns_get(struct block_decoder *b, struct slice *from, struct block_fault *fault)
{
    const char *what = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(block_columns); i++) {
        const enum part part = (enum part)block_columns[i].part;
        const enum field field = (enum field)block_columns[i].field;
        uint64_t *to = b->column[field] + (part == PART_OTHER ? b->total[PART_ACCESS] : 0);

        if (column_get(b->coder, from, to, b->total[part],
                       (struct groups){b->length[part], b->threads}, &what))
            return fail(fault, what);
        if ((field == FIELD_GAP || field == FIELD_MORE_SIZE) &&
            any_bits(to, b->total[part]) > UINT32_MAX)
            return fail(fault, "a number of 32 bits has more");
    }
    if (from->at != from->end)
        return fail(fault, "bytes are left over");
    return 0;
}

/* An access is well-formed by its shape, and when its end does not wrap: so a shape that is at no
 * lower an address and site than any access is at all of them. Else every event is looked at by
 * itself. */
static void accesses_probe(struct block_decoder *b)
{
    struct event probe[EVENT_RECORDS] = {0};
    const char *what;

    probe->addr = any_bits(b->column[FIELD_ADDR], b->total[PART_ACCESS]);
    probe->aux = any_bits(b->column[FIELD_AUX], b->total[PART_ACCESS]);
    b->check_all = false;
    for (size_t i = 0; i < b->shapes; i++) {
        if (b->known[i] & SHAPE_OTHER)
            continue;
        probe->kind = shape_kind(b->known[i]);
        probe->flags = shape_flags(b->known[i]);
        probe->size = shape_size(b->known[i]);
        if (event_well_formed(probe, &what))
            b->check_all = true;
    }
}

/* ---- records -------------------------------------------------------------------------------- */

static void record_put(struct event *to, uint64_t addr, uint64_t aux, uint64_t size_gap,
                       uint64_t tid_flags_kind)
{
    memcpy(&to->addr, &addr, 8);
    memcpy(&to->aux, &aux, 8);
    memcpy(&to->size, &size_gap, 8);
    memcpy(&to->tid, &tid_flags_kind, 8);
}

static void second_put(const struct block_decoder *b, struct event *to, size_t more)
{
    record_put(to, b->column[FIELD_MORE_ADDR][more], b->column[FIELD_MORE_AUX][more],
               b->column[FIELD_MORE_SIZE][more], 0);
}

/* One pass over the runs. Which column an event's address comes from is computed, not branched on:
 * it can't be predicted. Returns the number of records to check. */
static size_t merge(struct block_decoder *b, struct event *rec)
{
    const uint64_t *gap = b->column[FIELD_GAP], *addr = b->column[FIELD_ADDR],
                   *aux = b->column[FIELD_AUX];
    const uint32_t accesses = (uint32_t)b->total[PART_ACCESS];
    const uint64_t look = b->check_all ? UINT64_MAX : SHAPE_OTHER;
    size_t checks = 0;
    struct event *to = rec;

    for (size_t run = 0; run < b->runs; run++) {
        struct cursor *cursor = &b->cursor[b->run_thread[run]];
        const uint64_t tid = b->thread[b->run_thread[run]];
        const uint32_t end = cursor->all + (uint32_t)b->run_length[run] + 1;
        uint32_t other = cursor->other;

        for (uint32_t i = cursor->all; i < end; i++) {
            const uint64_t shape = b->shape[i];
            const uint32_t is_other = shape / SHAPE_OTHER & 1;
            const uint32_t at = is_other ? accesses + other : i - other;

            record_put(to, addr[at], aux[at], shape >> SHAPE_SIZE_SHIFT | gap[i] << 32,
                       tid | (shape & 0xffff0000) | (shape & 0xff) << 32);
            b->checked[checks] = (uint32_t)(to - rec);
            checks += (shape & look) != 0;
            other += is_other;
            to++;
            if (UNLIKELY(shape & SHAPE_MORE))
                second_put(b, to++, cursor->more++);
        }
        cursor->all = end;
        cursor->other = other;
    }
    return checks;
}

static size_t event_place(const struct event *rec, size_t record)
{
    size_t event = 0;

    for (size_t i = 0; i < record; i += event_records(rec + i))
        event++;
    return event;
}

static int check(const struct block_decoder *b, const struct event *rec, size_t checks,
                 struct block_fault *fault)
{
    const char *what;

    for (size_t i = 0; i < checks; i++) {
        if (LIKELY(!event_well_formed(rec + b->checked[i], &what)))
            continue;
        *fault = (struct block_fault){what, true, event_place(rec, b->checked[i])};
        return -1;
    }
    return 0;
}

int block_decode(struct block_decoder *b, const uint8_t *from, size_t bytes, size_t events,
                 size_t records, struct event *rec, struct block_fault *fault)
{
    struct slice slice = {from, from + bytes};

    assert(events > 0 && events <= BLOCK_EVENTS && records <= events * EVENT_RECORDS);
    b->events = events;
    if (threads_get(b, &slice, fault) || runs_get(b, &slice, fault) || shapes_get(b, &slice, fault))
        return -1;
    parts_count(b);
    if (b->events + b->total[PART_MORE] != records)
        return fail(fault, "its events have not as many records as it says");
    if (columns_get(b, &slice, fault))
        return -1;
    accesses_probe(b);
    return check(b, rec, merge(b, rec), fault);
}
