/* block_encode.c - up to 65,536 consecutive events to bytes: the order as runs of threads, then
 * columns in which each thread's events stand together. Events are taken apart as they come, in
 * recorded order; at the block's end each thread's are put together. Decoding is in block.c. */
#include "trace/binary/block_form.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

enum {
    RECENT_BITS = 8,
    RECENT = 1 << RECENT_BITS, /* shapes that are found without the map */
    COUNTS = 4, /* counters of a shape, side by side, as the same one is seldom ready */
    COPIED = 8  /* numbers of a run at a time */
};
#define NO_SHAPE UINT64_MAX

struct block_encoder {
    struct column_encoder *columns; /* owns */
    struct map shape_index;         /* shape to its place in shape[]; empty between blocks */
    size_t threads, runs, shapes;
    size_t total[PARTS];
    sim_tid tid;                                                 /* the present run's */
    uint64_t thread[BLOCK_EVENTS];                               /* ids in order of appearance */
    uint64_t run_thread[BLOCK_EVENTS], run_length[BLOCK_EVENTS]; /* place in thread[]; events - 1 */
    uint32_t run_at[PARTS][BLOCK_EVENTS + 1]; /* by run: its first number, in recorded order */
    uint32_t run_order[BLOCK_EVENTS];         /* runs by thread */
    uint32_t runs_of[MAX_THREADS + 1];        /* by thread, while they are counted */
    uint64_t shape[BLOCK_EVENTS];             /* the first is NO_SHAPE between blocks */
    uint16_t shape_count[BLOCK_EVENTS][COUNTS];
    uint16_t recent[RECENT];              /* place of the latest shape of a hash */
    uint32_t thread_index[MAX_THREADS];   /* 1 + place in thread[]; 0 between blocks */
    uint32_t length[PARTS][BLOCK_EVENTS]; /* events by thread */
    /* Numbers in recorded order, then by thread: the place in shape[], and the columns. */
    uint64_t shape_of[BLOCK_EVENTS + COPIED];
    uint64_t number[COLUMNS][BLOCK_EVENTS + COPIED];
    uint64_t grouped[BLOCK_EVENTS + COPIED];
    uint64_t sums[COUNTED]; /* sums over is_summed kinds, by COUNT_... */
};

static void empty(struct block_encoder *b)
{
    for (size_t t = 0; t < b->threads; t++)
        b->thread_index[b->thread[t]] = 0;
    map_free(&b->shape_index);
    memset(b->recent, 0, sizeof b->recent);
    memset(b->total, 0, sizeof b->total);
    memset(b->sums, 0, sizeof b->sums);
    b->threads = b->runs = b->shapes = 0;
    b->shape[0] = NO_SHAPE;
}

struct block_encoder *block_encoder_new(enum trace_codec how, int level)
{
    struct block_encoder *b = xcalloc(1, sizeof *b);

    b->columns = column_encoder_new(how, level);
    empty(b);
    return b;
}

void block_encoder_free(struct block_encoder *b)
{
    column_encoder_free(b->columns);
    map_free(&b->shape_index);
    free(b);
}

struct block_sum block_sum(const struct block_encoder *b)
{
    return (struct block_sum){b->total[PART_ALL], b->total[PART_ALL] + b->total[PART_MORE]};
}

/* ---- events to columns ---------------------------------------------------------------------- */

/* A thread's place, in order of appearance. */
static size_t thread_place(struct block_encoder *b, sim_tid tid)
{
    if (b->thread_index[tid] == 0) {
        b->thread[b->threads++] = tid;
        b->thread_index[tid] = (uint32_t)b->threads;
    }
    return b->thread_index[tid] - 1;
}

static void run_begin(struct block_encoder *b, sim_tid tid)
{
    b->tid = tid;
    b->run_thread[b->runs] = thread_place(b, tid);
    for (int part = 0; part < PARTS; part++)
        b->run_at[part][b->runs] = (uint32_t)b->total[part];
    b->runs++;
}

static uint16_t *recent_place(struct block_encoder *b, uint64_t shape)
{
    return &b->recent[shape * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RECENT_BITS)];
}

static size_t shape_place(struct block_encoder *b, uint64_t shape)
{
    if (b->shape[*recent_place(b, shape)] == shape)
        return *recent_place(b, shape);

    uint64_t *place = map_put(&b->shape_index, shape); /* counted from 1 */

    if (*place == 0) {
        memset(b->shape_count[b->shapes], 0, sizeof b->shape_count[0]);
        b->shape[b->shapes++] = shape;
        *place = b->shapes;
    }
    *recent_place(b, shape) = (uint16_t)(*place - 1);
    return *place - 1;
}

void block_event(struct block_encoder *b, const struct event *ev)
{
    const unsigned other = event_is_access(ev) ? 0 : 1;

    assert(b->total[PART_ALL] < BLOCK_EVENTS);
    if (b->runs == 0 || ev->tid != b->tid)
        run_begin(b, ev->tid);
    const size_t at = b->total[PART_ALL]++, part_at = b->total[PART_ACCESS + other]++,
                 shape = shape_place(b, shape_make(ev));

    b->shape_of[at] = shape;
    b->shape_count[shape][at % COUNTS]++;
    b->number[COLUMN_GAP][at] = ev->gap;
    b->number[COLUMN_ADDR + other][part_at] = ev->addr;
    b->number[COLUMN_AUX + other][part_at] = ev->aux;
    if (ev->flags & EVF_MORE) {
        const size_t more_at = b->total[PART_MORE]++;
        b->number[COLUMN_MORE_ADDR][more_at] = ev[1].addr;
        b->number[COLUMN_MORE_SIZE][more_at] = ev[1].size;
        b->number[COLUMN_MORE_AUX][more_at] = ev[1].aux;
    }
    if (is_summed(ev->kind))
        sums_add(b->sums, ev->kind, ev->aux, ev->flags & EVF_MORE ? ev[1].size : 0);
}

/* A shape that was here before needs neither the map nor a second look at kind, flags and size. */
const struct event *block_accesses(struct block_encoder *b, const struct event *ev,
                                   const struct event *end)
{
    size_t at = b->total[PART_ALL], access = b->total[PART_ACCESS];

    if ((size_t)(end - ev) > BLOCK_EVENTS - at)
        end = ev + (BLOCK_EVENTS - at);
    for (; ev < end && event_is_access(ev); ev++) {
        const uint64_t shape = shape_make(ev);
        const size_t place = *recent_place(b, shape);
        if (b->shape[place] != shape || !access_well_formed_too(ev))
            break;
        if (ev->tid != b->tid) {
            b->total[PART_ALL] = at;
            b->total[PART_ACCESS] = access;
            run_begin(b, ev->tid);
        }
        b->shape_of[at] = place;
        b->shape_count[place][at % COUNTS]++;
        b->number[COLUMN_GAP][at++] = ev->gap;
        b->number[COLUMN_ADDR][access] = ev->addr;
        b->number[COLUMN_AUX][access++] = ev->aux;
    }
    b->total[PART_ALL] = at;
    b->total[PART_ACCESS] = access;
    return ev;
}

void block_added(const struct block_encoder *b, uint64_t *kinds, uint64_t *threads)
{
    for (size_t i = 0; i < b->shapes; i++)
        for (size_t k = 0; k < COUNTS; k++)
            shape_count_add(kinds, shape_kind(b->shape[i]), shape_flags(b->shape[i]),
                            b->shape_count[i][k]);
    for (size_t i = COUNT_FIRST; i < COUNTED; i++)
        kinds[i] += b->sums[i];
    for (size_t i = 0; i < b->runs; i++)
        threads[b->thread[b->run_thread[i]]] +=
            (i + 1 < b->runs ? b->run_at[PART_ALL][i + 1] : b->total[PART_ALL]) -
            b->run_at[PART_ALL][i];
}

/* ---- by thread ------------------------------------------------------------------------------ */

/* Counts the events of each part in each run and thread, and lists each thread's runs. */
static void runs_count(struct block_encoder *b)
{
    uint32_t *const runs = b->runs_of; /* not on the stack: a fiber's is small */

    memset(runs, 0, (b->threads + 1) * sizeof *runs);
    for (int part = 0; part < PARTS; part++) {
        const uint32_t *const at = b->run_at[part];
        memset(b->length[part], 0, b->threads * sizeof *b->length[part]);
        b->run_at[part][b->runs] = (uint32_t)b->total[part];
        for (size_t i = 0; i < b->runs; i++)
            b->length[part][b->run_thread[i]] += at[i + 1] - at[i];
    }
    for (size_t i = 0; i < b->runs; i++) {
        b->run_length[i] = b->run_at[PART_ALL][i + 1] - b->run_at[PART_ALL][i] - 1;
        runs[b->run_thread[i] + 1]++;
    }
    for (size_t t = 0; t < b->threads; t++)
        runs[t + 1] += runs[t];
    for (size_t i = 0; i < b->runs; i++)
        b->run_order[runs[b->run_thread[i]]++] = (uint32_t)i;
}

/* Brings each thread's numbers together. Numbers copied beyond a run's end are overwritten by the
 * next run. */
static const uint64_t *part_group(struct block_encoder *b, const uint64_t *v, enum part part)
{
    const uint32_t *const at = b->run_at[part];
    uint64_t *to = b->grouped;

    if (b->threads == 1)
        return v;
    for (size_t i = 0; i < b->runs; i++) {
        const size_t run = b->run_order[i], end = at[run + 1];
        for (size_t k = at[run]; k < end; k += COPIED)
            memcpy(to + (k - at[run]), v + k, COPIED * sizeof *v);
        to += end - at[run];
    }
    return b->grouped;
}

/* ---- columns to bytes ----------------------------------------------------------------------- */

static void list_put(struct block_encoder *b, struct bytes *to, const uint64_t *v, size_t n)
{
    column_put(b->columns, to, v, n, (struct groups){&(uint32_t){(uint32_t)n}, 1});
}

static void part_put(struct block_encoder *b, struct bytes *to, const uint64_t *v, enum part part)
{
    if (b->total[part])
        column_put(b->columns, to, part_group(b, v, part), b->total[part],
                   (struct groups){b->length[part], b->threads});
}

/* True: most runs have one event. A thread for each event then takes less than runs with lengths:
 * most lengths are 0, but each takes about a bit. */
static bool runs_are_short(const struct block_encoder *b)
{
    const unsigned thread = bits_of(b->threads - 1);

    return b->runs > 1 && b->total[PART_ALL] * thread <= b->runs * (thread + 1);
}

/* Splits runs into runs of one event, in place. There are more of them than before, so it goes from
 * the last to the first. */
static void runs_split(struct block_encoder *b)
{
    size_t to = b->total[PART_ALL];

    for (size_t i = b->runs; i-- > 0;) {
        const uint64_t thread = b->run_thread[i];
        for (uint64_t n = b->run_length[i] + 1; n > 0; n--)
            b->run_thread[--to] = thread;
    }
    b->runs = b->total[PART_ALL];
    memset(b->run_length, 0, b->runs * sizeof *b->run_length);
}

static void runs_put(struct block_encoder *b, struct bytes *to)
{
    const size_t runs = b->runs;

    if (runs_are_short(b))
        runs_split(b);
    bytes_varint(to, b->runs);
    list_put(b, to, b->run_thread, b->runs);
    list_put(b, to, b->run_length, b->runs);
    b->runs = runs;
}

void block_put(struct block_encoder *b, struct bytes *to)
{
    assert(b->total[PART_ALL] > 0);
    runs_count(b);
    bytes_varint(to, b->threads);
    list_put(b, to, b->thread, b->threads);
    runs_put(b, to);
    bytes_varint(to, b->shapes);
    list_put(b, to, b->shape, b->shapes);
    part_put(b, to, b->shape_of, PART_ALL);
    for (int i = 0; i < COLUMNS; i++)
        part_put(b, to, b->number[i], (enum part)column_part[i]);
    empty(b);
}
