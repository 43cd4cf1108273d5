/* block.c - the bytes of a block to numbers, by thread, and these to records in recorded order, a
 * slice at a time: a block has each thread's events together, as they resemble each other, and runs
 * that tell whose turn it is. Trusts nothing in the bytes. Encoding is in block_encode.c. */
#include "trace/binary/block_form.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { COUNTS = 4, LANES = 8, PLACE_LAST = BLOCK_EVENTS - 1 };

struct shape {
    uint64_t kind_flags; /* as in a record's last word */
    uint64_t size_gap;   /* as in the one before; without a gap unless all events have the same */
    uint16_t count[COUNTS]; /* its events: the sum of four */
    uint8_t other;          /* 1: no access */
    uint8_t more;           /* 1: has a second record */
    uint8_t look;           /* 1: its events are looked at one by one */
    uint8_t unused[5];
};
_Static_assert(sizeof(struct shape) == 32, "found by a shift");
_Static_assert(BLOCK_EVENTS / COUNTS + COUNTS <= UINT16_MAX, "a shape may be that of all events");

struct part_place { /* the place of an event's numbers */
    uint16_t shape; /* in known[] */
    uint16_t place; /* in addr[] and aux[]: accesses from the first on, others from the last down */
};

struct block_decoder {
    struct column_decoder *columns; /* owns */
    unsigned version;
    size_t events, threads, runs, shapes;
    size_t total[PARTS];
    bool plain; /* no event has a second record or must be looked at */
    bool gaps;  /* they differ */

    sim_tid thread[BLOCK_EVENTS];
    uint16_t run_thread[BLOCK_EVENTS];    /* place in thread[] */
    uint16_t run_length[BLOCK_EVENTS];    /* less 1 */
    uint32_t length[PARTS][BLOCK_EVENTS]; /* events by thread */
    struct shape known[BLOCK_EVENTS];

    /* by thread, for each event: */
    struct part_place event[BLOCK_EVENTS];
    uint16_t second[BLOCK_EVENTS]; /* place in COLUMN_MORE_...; only where there are some */
    uint64_t gap[BLOCK_EVENTS], addr[BLOCK_EVENTS], aux[BLOCK_EVENTS];
    uint32_t addr_mask, aux_mask; /* masks of places: 0 if all are equal and the first tells */
    uint64_t more_addr[BLOCK_EVENTS], more_size[BLOCK_EVENTS], more_aux[BLOCK_EVENTS];
    uint64_t spare[BLOCK_EVENTS];
    uint64_t highest[COLUMNS]; /* no number of a column is above it */

    /* the merge */
    size_t given; /* events */
    size_t run;   /* the run, and how many of its events */
    uint32_t run_given;
    uint32_t next[BLOCK_EVENTS];         /* by thread: place of its next event */
    size_t ordered, ordered_at;          /* events in the next two, and which is next */
    uint16_t from[SLICE_EVENTS + LANES]; /* place of an event */
    sim_tid by[SLICE_EVENTS + LANES];    /* its thread */
};

struct block_decoder *block_decoder_new(unsigned version)
{
    struct block_decoder *b = xmalloc(sizeof *b);

    b->version = version;
    b->columns = column_decoder_new();
    b->events = b->given = 0;
    return b;
}

void block_decoder_free(struct block_decoder *b)
{
    if (!b)
        return;
    column_decoder_free(b->columns);
    free(b);
}

static int fail(struct block_fault *fault, const char *what)
{
    *fault = (struct block_fault){.what = what};
    return -1;
}

/* ---- lists: threads, runs, shapes ----------------------------------------------------------- */

/* No list of a block is longer than the block has events. */
static int count_get(struct block_decoder *b, struct byte_slice *from, size_t *n)
{
    uint64_t v;

    if (slice_varint(from, &v) || v == 0 || v > b->events)
        return -1;
    *n = (size_t)v;
    return 0;
}

/* True if some number is not below the limit, which is at most 2^63: then bit 63 of it, or of its
 * distance, is set. A strip of constant length is vectorised. */
static bool beyond(const uint64_t *v, size_t n, uint64_t limit)
{
    uint64_t any = 0;

    if (n == COLUMN_STRIP)
        for (size_t i = 0; i < COLUMN_STRIP; i++)
            any |= (limit - 1 - v[i]) | v[i];
    else
        for (size_t i = 0; i < n; i++)
            any |= (limit - 1 - v[i]) | v[i];
    return any >> 63;
}

/* The branch makes the usual length a constant, so that the compiler vectorises the loop. */
static void narrow16(uint16_t *restrict to, const uint64_t *restrict v, size_t n)
{
    if (n == COLUMN_STRIP)
        for (size_t i = 0; i < COLUMN_STRIP; i++)
            to[i] = (uint16_t)v[i];
    else
        for (size_t i = 0; i < n; i++)
            to[i] = (uint16_t)v[i];
}

struct wanted { /* numbers below a limit */
    size_t n;
    struct groups groups;
    uint64_t limit;
    const char *what; /* to say of others */
};

/* The next strip. Returns its length, or 0: fault tells. */
static size_t strip_get(struct block_decoder *b, const struct wanted *w, size_t at,
                        uint64_t v[COLUMN_STRIP], struct block_fault *fault)
{
    const size_t n = w->n - at < COLUMN_STRIP ? w->n - at : COLUMN_STRIP;
    const char *what = NULL;

    if (column_next(b->columns, v, n, &what)) {
        fail(fault, what);
        return 0;
    }
    if (column_bound(b->columns) >= w->limit && beyond(v, n, w->limit)) {
        fail(fault, w->what);
        return 0;
    }
    return n;
}

static int wanted_open(struct block_decoder *b, struct byte_slice *from, const struct wanted *w,
                       struct block_fault *fault)
{
    const char *what = NULL;

    return column_open(b->columns, from, w->n, w->groups, &what) ? fail(fault, what) : 0;
}

static int list_get(struct block_decoder *b, struct byte_slice *from, uint16_t *to, size_t total,
                    uint64_t limit, const char *what, struct block_fault *fault)
{
    const struct wanted w = {total, {&(uint32_t){(uint32_t)total}, 1}, limit, what};
    uint64_t v[COLUMN_STRIP];

    if (wanted_open(b, from, &w, fault))
        return -1;
    for (size_t i = 0, n; i < total; i += n) {
        if ((n = strip_get(b, &w, i, v, fault)) == 0)
            return -1;
        narrow16(to + i, v, n);
    }
    return 0;
}

/* The threads that have events in the block, in order of appearance; columns refer to them by
 * place. */
static int threads_get(struct block_decoder *b, struct byte_slice *from, struct block_fault *fault)
{
    if (count_get(b, from, &b->threads))
        return fail(fault, "there are not as many threads as there can be");
    return list_get(b, from, b->thread, b->threads, MAX_THREADS,
                    "a thread's number is not below 65536", fault);
}

/* The order: whose turn it is, and for how many events. */
static int runs_get(struct block_decoder *b, struct byte_slice *from, struct block_fault *fault)
{
    static const char bad[] = "a run of a thread names no thread, or is too long";
    uint32_t *length = b->length[PART_ALL];
    uint64_t sum = 0;

    if (count_get(b, from, &b->runs))
        return fail(fault, "there are not as many runs of threads as there can be");
    if (list_get(b, from, b->run_thread, b->runs, b->threads, bad, fault) ||
        list_get(b, from, b->run_length, b->runs, b->events, bad, fault))
        return -1;
    memset(length, 0, b->threads * sizeof *length);
    for (size_t i = 0; i < b->runs; i++) {
        sum += b->run_length[i] + UINT64_C(1);
        length[b->run_thread[i]] += b->run_length[i] + 1U;
    }
    return sum == b->events
               ? 0
               : fail(fault, "the runs of threads have not as many events as the block");
}

/* True if version 1 has no such shape. */
static bool is_newer(uint64_t shape)
{
    return shape_flags(shape) & EVF_C11 || shape_kind(shape) > EV_TIME ||
           (shape_kind(shape) <= EV_RMW && shape_flags(shape) & EVF_DEPENDENT);
}

/* Shapes without a valid kind end here, so that classes can be looked up. */
static int shape_get(unsigned version, uint64_t v, struct shape *to, struct block_fault *fault)
{
    const uint8_t kind = shape_kind(v);

    if (kind >= EV_KINDS || !ev_info[kind].text)
        return fail(fault, "the kind of an event is unknown");
    if (v >> 8 & 0xff)
        return fail(fault, "bits 8 to 15 of an event's shape are not 0");
    if (version < 2 && is_newer(v))
        return fail(fault, "an event of version 2 stands in a trace of version 1");
    *to = (struct shape){
        .kind_flags = (uint64_t)shape_flags(v) << 16 | (uint64_t)kind << 32,
        .size_gap = shape_size(v),
        .other = ev_info[kind].class != CLASS_ACCESS,
        .more = (shape_flags(v) & EVF_MORE) != 0,
    };
    return 0;
}

/* A shape is all of an event but addr, aux and gap: kind, flags, size. A program has few. */
static int shapes_list(struct block_decoder *b, struct byte_slice *from, struct block_fault *fault)
{
    uint64_t *v = b->spare;
    const char *what = NULL;

    if (count_get(b, from, &b->shapes))
        return fail(fault, "there are not as many shapes of events as there can be");
    if (column_get(b->columns, from, v, b->shapes,
                   (struct groups){&(uint32_t){(uint32_t)b->shapes}, 1}, &what))
        return fail(fault, what);
    for (size_t i = 0; i < b->shapes; i++)
        if (shape_get(b->version, v[i], &b->known[i], fault))
            return -1;
    return 0;
}

/* ---- events by shape and part --------------------------------------------------------------- */

/* Finds the place at which the columns of parts have the numbers of the event at `at`. Returns how
 * many events up to it are no accesses. */
static inline size_t event_place(struct block_decoder *restrict b, uint64_t shape, size_t at,
                                 size_t other, unsigned lane)
{
    const size_t is_other = b->known[shape].other;
    const size_t from = is_other ? PLACE_LAST : at;

    b->event[at] = (struct part_place){(uint16_t)shape, (uint16_t)(from - other)};
    b->known[shape].count[lane]++;
    return other + is_other;
}

/* The same of events from `at` on. Four are written out, because the same count is seldom ready for
 * the next event. */
static size_t events_place(struct block_decoder *b, const uint64_t *restrict shape, size_t n,
                           size_t at, size_t other)
{
    size_t i = 0;

    for (; i + COUNTS <= n; i += COUNTS, at += COUNTS) {
        other = event_place(b, shape[i], at, other, 0);
        other = event_place(b, shape[i + 1], at + 1, other, 1);
        other = event_place(b, shape[i + 2], at + 2, other, 2);
        other = event_place(b, shape[i + 3], at + 3, other, 3);
    }
    for (; i < n; i++, at++)
        other = event_place(b, shape[i], at, other, 0);
    return other;
}

static int shapes_get(struct block_decoder *b, struct byte_slice *from, struct block_fault *fault)
{
    struct wanted w = {b->events,
                       {b->length[PART_ALL], b->threads},
                       0,
                       "an event's shape is none of those there are"};
    uint64_t v[COLUMN_STRIP];
    size_t other = 0;

    if (shapes_list(b, from, fault) || wanted_open(b, from, &w, fault))
        return -1;
    w.limit = b->shapes;
    for (size_t i = 0, n; i < w.n; i += n) {
        if ((n = strip_get(b, &w, i, v, fault)) == 0)
            return -1;
        other = events_place(b, v, n, i, other);
    }
    b->total[PART_ALL] = b->events;
    b->total[PART_OTHER] = other;
    b->total[PART_ACCESS] = b->events - other;
    return 0;
}

/* Adds up the four counts of a shape that events_place keeps side by side. */
static uint64_t shape_count(const struct block_decoder *b, size_t shape)
{
    const uint16_t *n = b->known[shape].count;

    return (uint64_t)n[0] + n[1] + n[2] + n[3];
}

/* Counts second records, and finds each event's place in their columns. */
static void seconds_count(struct block_decoder *b)
{
    size_t more = 0;

    b->total[PART_MORE] = 0;
    for (size_t i = 0; i < b->shapes; i++)
        if (b->known[i].more)
            b->total[PART_MORE] += shape_count(b, i);
    for (size_t i = 0; b->total[PART_MORE] && i < b->events; i++) {
        b->second[i] = (uint16_t)more;
        more += b->known[b->event[i].shape].more;
    }
}

/* Events that are no accesses before this one, out of what event_place wrote down: no array of
 * their own. */
static uint32_t others_before(const struct block_decoder *b, size_t event)
{
    if (event == b->events)
        return (uint32_t)b->total[PART_OTHER];
    const struct part_place *e = &b->event[event];
    return b->known[e->shape].other ? (uint32_t)PLACE_LAST - e->place : (uint32_t)event - e->place;
}

static uint32_t seconds_before(const struct block_decoder *b, size_t event)
{
    return (uint32_t)(event == b->events ? b->total[PART_MORE] : b->second[event]);
}

/* Counts the events of each part that each thread has. */
static void parts_count(struct block_decoder *b)
{
    size_t at = 0;

    for (size_t t = 0; t < b->threads; t++) {
        const size_t end = at + b->length[PART_ALL][t];

        b->next[t] = (uint32_t)at;
        b->length[PART_OTHER][t] = others_before(b, end) - others_before(b, at);
        b->length[PART_ACCESS][t] = (uint32_t)(end - at) - b->length[PART_OTHER][t];
        if (b->total[PART_MORE])
            b->length[PART_MORE][t] = seconds_before(b, end) - seconds_before(b, at);
        at = end;
    }
}

/* Adds up the numbers of events whose kinds are summed, before the merge has made their records. */
static void numbers_count(const struct block_decoder *b, uint64_t *kinds)
{
    for (size_t i = 0; i < b->events; i++) {
        const struct part_place e = b->event[i];
        const uint8_t kind = (uint8_t)(b->known[e.shape].kind_flags >> 32);
        if (is_summed(kind))
            sums_add(kinds, kind, b->aux[e.place & b->aux_mask],
                     b->known[e.shape].more ? b->more_size[b->second[i]] : 0);
    }
}

void block_count(const struct block_decoder *b, uint64_t *kinds, uint64_t *threads)
{
    bool summed = false;

    for (size_t i = 0; i < b->shapes; i++) {
        const uint64_t kind_flags = b->known[i].kind_flags;
        const uint8_t kind = (uint8_t)(kind_flags >> 32);
        shape_count_add(kinds, kind, (uint16_t)(kind_flags >> 16), shape_count(b, i));
        summed |= is_summed(kind);
    }
    if (summed)
        numbers_count(b, kinds);
    for (size_t i = 0; i < b->threads; i++)
        threads[b->thread[i]] += b->length[PART_ALL][i];
}

/* ---- columns -------------------------------------------------------------------------------- */

/* Returns all bits that are set in some number: at least the largest of them. */
static uint64_t any_bits(const uint64_t *v, size_t n)
{
    uint64_t any = 0;

    for (size_t i = 0; i < n; i++)
        any |= v[i];
    return any;
}

/* A column's numbers; of a constant one, *constant, only the first. A bound above all numbers is
 * found on the way: it decides whether events need a look. */
static int numbers_get(struct block_decoder *b, struct byte_slice *from, enum column column,
                       uint64_t *to, bool *constant, struct block_fault *fault)
{
    const enum part part = (enum part)column_part[column];
    const size_t n = b->total[part];
    const char *what = NULL;

    if (column_open(b->columns, from, n, (struct groups){b->length[part], b->threads}, &what))
        return fail(fault, what);
    b->highest[column] = column_bound(b->columns);
    *constant = column_constant(b->columns);
    if (*constant)
        to[0] = b->highest[column];
    else if (column_rest(b->columns, to, n, &what))
        return fail(fault, what);
    else if (b->highest[column] == UINT64_MAX)
        b->highest[column] = any_bits(to, n);
    return 0;
}

static void numbers_fill(uint64_t *to, size_t n)
{
    for (size_t i = 1; i < n; i++)
        to[i] = to[0];
}

/* A column of accesses, and after it the same of the others. Accesses fill an array from the front,
 * others from the back, so that one index finds either. Where all are equal the mask makes every
 * index 0. */
static int parts_get(struct block_decoder *b, struct byte_slice *from, enum column column,
                     uint64_t *to, uint32_t *mask, struct block_fault *fault)
{
    const size_t accesses = b->total[PART_ACCESS], others = b->total[PART_OTHER];
    bool constant[2];

    if (numbers_get(b, from, column, to, &constant[0], fault) ||
        numbers_get(b, from, (enum column)(column + 1), b->spare, &constant[1], fault))
        return -1;
    *mask = constant[0] && constant[1] && to[0] == b->spare[0] ? 0 : UINT32_MAX;
    if (*mask == 0)
        return 0;
    if (constant[0])
        numbers_fill(to, accesses);
    if (constant[1])
        numbers_fill(b->spare, others);
    for (size_t i = 0; i < others; i++)
        to[PLACE_LAST - i] = b->spare[i];
    return 0;
}

static int narrow_get(struct block_decoder *b, struct byte_slice *from, enum column column,
                      uint64_t *to, bool *constant, struct block_fault *fault)
{
    const size_t n = b->total[column_part[column]];

    if (numbers_get(b, from, column, to, constant, fault))
        return -1;
    if (b->highest[column] > UINT32_MAX && any_bits(to, *constant ? n > 0 : n) > UINT32_MAX)
        return fail(fault, "a number of 32 bits has more");
    return 0;
}

/* A gap that all events have becomes part of their shapes, and the merge needs no column of
 * gaps. */
static int gaps_get(struct block_decoder *b, struct byte_slice *from, struct block_fault *fault)
{
    bool constant;

    if (narrow_get(b, from, COLUMN_GAP, b->gap, &constant, fault))
        return -1;
    b->gaps = !constant;
    for (size_t i = 0; constant && i < b->shapes; i++)
        b->known[i].size_gap |= b->gap[0] << 32;
    return 0;
}

static int seconds_get(struct block_decoder *b, struct byte_slice *from, struct block_fault *fault)
{
    const size_t n = b->total[PART_MORE];
    bool addr, size, aux;

    if (numbers_get(b, from, COLUMN_MORE_ADDR, b->more_addr, &addr, fault) ||
        narrow_get(b, from, COLUMN_MORE_SIZE, b->more_size, &size, fault) ||
        numbers_get(b, from, COLUMN_MORE_AUX, b->more_aux, &aux, fault))
        return -1;
    if (addr)
        numbers_fill(b->more_addr, n);
    if (size)
        numbers_fill(b->more_size, n);
    if (aux)
        numbers_fill(b->more_aux, n);
    return 0;
}

static int columns_get(struct block_decoder *b, struct byte_slice *from, struct block_fault *fault)
{
    if (gaps_get(b, from, fault) ||
        parts_get(b, from, COLUMN_ADDR, b->addr, &b->addr_mask, fault) ||
        parts_get(b, from, COLUMN_AUX, b->aux, &b->aux_mask, fault) || seconds_get(b, from, fault))
        return -1;
    return from->at == from->end ? 0 : fail(fault, "bytes are left over");
}

/* ---- which events are to be looked at ------------------------------------------------------- */

/* An event of one record that is well-formed at some address and aux is so at all lower ones, too,
 * unless it is a heap event, whose aux must not be 0. So a shape that is well-formed at no lower an
 * address and aux than any of its part has is so in all its events. Else they are looked at. */
static void shapes_probe(struct block_decoder *b)
{
    struct event probe[2][EVENT_RECORDS] = {{{0}}}; /* accesses, others */
    const char *what;

    for (int other = 0; other < 2; other++) {
        probe[other]->addr = b->highest[COLUMN_ADDR + other];
        probe[other]->aux = b->highest[COLUMN_AUX + other];
    }
    b->plain = b->total[PART_MORE] == 0;
    for (size_t i = 0; i < b->shapes; i++) {
        struct shape *s = &b->known[i];
        struct event *p = probe[s->other];
        p->kind = (uint8_t)(s->kind_flags >> 32);
        p->flags = (uint16_t)(s->kind_flags >> 16);
        p->size = (uint32_t)s->size_gap;
        s->look = ev_info[p->kind].class == CLASS_HEAP || s->more || event_well_formed(p, &what);
        b->plain = b->plain && !s->look;
    }
}

/* Each step relies only on fields that the steps before it have checked. */
int block_open(struct block_decoder *b, const uint8_t *from, size_t bytes, size_t events,
               size_t records, struct block_fault *fault)
{
    struct byte_slice slice = {from, from + bytes};

    assert(events > 0 && events <= BLOCK_EVENTS && records <= events * EVENT_RECORDS);
    b->events = events;
    b->given = b->run = b->ordered = b->ordered_at = 0;
    b->run_given = 0;
    if (threads_get(b, &slice, fault) || runs_get(b, &slice, fault) || shapes_get(b, &slice, fault))
        return -1;
    seconds_count(b);
    if (b->events + b->total[PART_MORE] != records)
        return fail(fault, "its events have not as many records as it says");
    parts_count(b);
    if (columns_get(b, &slice, fault))
        return -1;
    shapes_probe(b);
    return 0;
}

_Static_assert(offsetof(struct event, addr) == 0 && offsetof(struct event, aux) == 8 &&
                   offsetof(struct event, size) == 16 && offsetof(struct event, gap) == 20 &&
                   offsetof(struct event, tid) == 24 && offsetof(struct event, flags) == 26 &&
                   offsetof(struct event, kind) == 28,
               "record_put writes a record as four words");

/* ---- the order ------------------------------------------------------------------------------ */

/* The next n events of a thread. Eight at a time and up to seven too many: a short run costs no
 * branch that depends on its length. */
static void run_order(struct block_decoder *b, size_t to, size_t run, uint32_t n)
{
    const uint16_t thread = b->run_thread[run];
    const uint32_t at = b->next[thread];
    const sim_tid tid = b->thread[thread];

    for (uint32_t i = 0; i < n; i += LANES)
        for (uint32_t k = 0; k < LANES; k++) {
            b->from[to + i + k] = (uint16_t)(at + i + k);
            b->by[to + i + k] = tid;
        }
    b->next[thread] = at + n;
}

/* Runs of one event each, as when threads alternate: no length is looked at. */
static void singles_order(struct block_decoder *b)
{
    const size_t left = b->runs - b->run, n = left < SLICE_EVENTS ? left : SLICE_EVENTS;
    const uint16_t *run = b->run_thread + b->run;

    for (size_t i = 0; i < n; i++) {
        b->from[i] = (uint16_t)b->next[run[i]]++;
        b->by[i] = b->thread[run[i]];
    }
    b->run += n;
    b->ordered = n;
    b->ordered_at = 0;
}

static void runs_order(struct block_decoder *b)
{
    size_t n = 0;

    while (n < SLICE_EVENTS && b->run < b->runs) {
        /* A run may have been cut by the end of the slice before. */
        const uint32_t left = b->run_length[b->run] + 1U - b->run_given;
        if (left > SLICE_EVENTS - n) {
            const uint32_t some = (uint32_t)(SLICE_EVENTS - n);
            run_order(b, n, b->run, some);
            b->run_given += some;
            n += some;
            break;
        }
        run_order(b, n, b->run++, left);
        b->run_given = 0;
        n += left;
    }
    b->ordered = n;
    b->ordered_at = 0;
}

/* ---- records -------------------------------------------------------------------------------- */

static inline void record_put(struct event *to, uint64_t addr, uint64_t aux, uint64_t size_gap,
                              uint64_t tid_flags_kind)
{
    memcpy(&to->addr, &addr, 8);
    memcpy(&to->aux, &aux, 8);
    memcpy(&to->size, &size_gap, 8);
    memcpy(&to->tid, &tid_flags_kind, 8);
}

/* Writes an event's first record. Nothing here depends on the event before, and there is no branch,
 * so that the processor works on several events at once. */
ALWAYS_INLINE const struct shape *first_put(const struct block_decoder *b, size_t i, bool gaps,
                                            struct event *to)
{
    const uint32_t at = b->from[i], place = b->event[at].place;
    const struct shape *shape = &b->known[b->event[at].shape];

    record_put(to, b->addr[place & b->addr_mask], b->aux[place & b->aux_mask],
               shape->size_gap | (gaps ? b->gap[at] << 32 : 0), b->by[i] | shape->kind_flags);
    return shape;
}

static struct block_sum merge_plain(const struct block_decoder *b, struct event *restrict rec)
{
    const size_t n = b->ordered;

    if (b->gaps)
        for (size_t i = 0; i < n; i++)
            first_put(b, i, true, rec + i);
    else
        for (size_t i = 0; i < n; i++)
            first_put(b, i, false, rec + i);
    return (struct block_sum){n, n};
}

/* Stops before an event that is not well-formed. */
static struct block_sum merge_any(const struct block_decoder *b, struct event *restrict rec,
                                  const char **what)
{
    struct block_sum done = {0, 0};

    for (size_t i = b->ordered_at; i < b->ordered; i++) {
        struct event *to = rec + done.records;
        const struct shape *shape = first_put(b, i, b->gaps, to);
        if (shape->more) {
            const uint16_t at = b->second[b->from[i]];
            record_put(to + 1, b->more_addr[at], b->more_aux[at], b->more_size[at], 0);
        }
        if (shape->look && event_well_formed(to, what))
            break;
        done.records += shape->more + 1U;
        done.events++;
    }
    return done;
}

int block_next(struct block_decoder *b, struct event *rec, struct block_sum *to,
               struct block_fault *fault)
{
    const char *what = NULL;

    if (b->ordered_at == b->ordered)
        (b->runs == b->events ? singles_order : runs_order)(b);
    *to = b->plain ? merge_plain(b, rec) : merge_any(b, rec, &what);
    if (what && to->events == 0) {
        *fault = (struct block_fault){what, b->given};
        return -1;
    }
    b->ordered_at += to->events;
    b->given += to->events;
    return 0;
}
