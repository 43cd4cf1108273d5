/* block_encode.c - up to 65,536 consecutive events to bytes: the order as runs of threads, then
 * columns in which each thread's events stand together. Decoding is in block.c. */
#include "trace/block_form.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct block_encoder {
    struct column_coder *coder; /* owns */
    struct map shape_index;     /* shape to its place in shape[]; empty between blocks */
    size_t events, threads, runs, shapes;
    uint64_t thread[BLOCK_EVENTS];                               /* ids in order of appearance */
    uint64_t run_thread[BLOCK_EVENTS], run_length[BLOCK_EVENTS]; /* place in thread[]; events - 1 */
    uint64_t shape[BLOCK_EVENTS];
    uint32_t thread_index[MAX_THREADS];   /* 1 + place in thread[]; 0 between blocks */
    uint32_t length[PARTS][BLOCK_EVENTS]; /* events by thread */
    size_t total[PARTS];
    uint32_t at[BLOCK_EVENTS];   /* first records, each thread's together */
    uint32_t next[BLOCK_EVENTS]; /* by thread: where its next event goes in at[] */
    uint64_t column[BLOCK_EVENTS];
};

struct block_encoder *block_encoder_new(enum trace_codec how, int level)
{
    struct block_encoder *b = xcalloc(1, sizeof *b);

    b->coder = column_coder_new(how, level);
    map_init(&b->shape_index, NULL);
    return b;
}

void block_encoder_free(struct block_encoder *b)
{
    if (!b)
        return;
    column_coder_free(b->coder);
    map_free(&b->shape_index);
    free(b);
}

/* ---- order: threads and runs ---------------------------------------------------------------- */

static size_t thread_place(struct block_encoder *b, sim_tid tid)
{
    if (b->thread_index[tid] == 0) {
        for (int part = 0; part < PARTS; part++)
            b->length[part][b->threads] = 0;
        b->thread[b->threads++] = tid;
        b->thread_index[tid] = (uint32_t)b->threads;
    }
    return b->thread_index[tid] - 1;
}

static void run_extend(struct block_encoder *b, size_t thread)
{
    if (b->runs && b->run_thread[b->runs - 1] == thread) {
        b->run_length[b->runs - 1]++;
        return;
    }
    b->run_thread[b->runs] = thread;
    b->run_length[b->runs++] = 0;
}

static void order_scan(struct block_encoder *b, const struct event *rec, size_t records)
{
    b->events = b->threads = b->runs = 0;
    for (size_t i = 0; i < records; i += event_records(rec + i)) {
        const size_t thread = thread_place(b, rec[i].tid);

        assert(b->events < BLOCK_EVENTS);
        run_extend(b, thread);
        b->length[PART_ALL][thread]++;
        b->length[event_is_access(rec + i) ? PART_ACCESS : PART_OTHER][thread]++;
        b->length[PART_MORE][thread] += rec[i].flags & EVF_MORE ? 1 : 0;
        b->events++;
    }
}

static void order_group(struct block_encoder *b, const struct event *rec, size_t records)
{
    memset(b->total, 0, sizeof b->total);
    for (size_t t = 0; t < b->threads; t++) {
        b->next[t] = (uint32_t)b->total[PART_ALL];
        for (int part = 0; part < PARTS; part++)
            b->total[part] += b->length[part][t];
    }
    for (size_t i = 0; i < records; i += event_records(rec + i))
        b->at[b->next[b->thread_index[rec[i].tid] - 1]++] = (uint32_t)i;
    for (size_t t = 0; t < b->threads; t++)
        b->thread_index[b->thread[t]] = 0;
}

/* ---- columns -------------------------------------------------------------------------------- */

static struct groups one_group(const uint32_t *length)
{
    return (struct groups){.length = length, .n = 1};
}

static void list_put(struct block_encoder *b, struct bytes *to, const uint64_t *v, size_t n)
{
    const uint32_t length = (uint32_t)n;

    column_put(b->coder, to, v, n, one_group(&length));
}

static void shapes_put(struct block_encoder *b, struct bytes *to, const struct event *rec)
{
    b->shapes = 0;
    for (size_t i = 0; i < b->events; i++) {
        const uint64_t shape = shape_make(rec + b->at[i]);
        uint64_t *place = map_put(&b->shape_index, shape); /* counted from 1 */

        if (*place == 0) {
            b->shape[b->shapes++] = shape;
            *place = b->shapes;
        }
        b->column[i] = *place - 1;
    }
    map_free(&b->shape_index);
    bytes_varint(to, b->shapes);
    list_put(b, to, b->shape, b->shapes);
    column_put(b->coder, to, b->column, b->events,
               (struct groups){b->length[PART_ALL], b->threads});
}

static bool in_part(const struct event *ev, enum part part)
{
    switch (part) {
    case PART_ACCESS:
        return event_is_access(ev);
    case PART_OTHER:
        return !event_is_access(ev);
    case PART_MORE:
        return ev->flags & EVF_MORE;
    case PART_ALL:
    case PARTS:
        break;
    }
    return true;
}

static uint64_t field_of(const struct event *ev, enum field field)
{
    switch (field) {
    case FIELD_GAP:
        return ev->gap;
    case FIELD_ADDR:
        return ev->addr;
    case FIELD_AUX:
        return ev->aux;
    case FIELD_MORE_ADDR:
        return ev->flags & EVF_MORE ? ev[1].addr : 0;
    case FIELD_MORE_SIZE:
        return ev->flags & EVF_MORE ? ev[1].size : 0;
    case FIELD_MORE_AUX:
        return ev->flags & EVF_MORE ? ev[1].aux : 0;
    case FIELDS:
        break;
    }
    return 0;
}

/* Every number is stored, and the place kept when it belongs: whether it does can't be predicted.
 */
static void field_put(struct block_encoder *b, struct bytes *to, const struct event *rec,
                      enum part part, enum field field)
{
    size_t n = 0;

    for (size_t i = 0; i < b->events && b->total[part]; i++) {
        const struct event *ev = rec + b->at[i];
        b->column[n] = field_of(ev, field);
        n += in_part(ev, part);
    }
    column_put(b->coder, to, b->column, n, (struct groups){b->length[part], b->threads});
}

void block_encode(struct block_encoder *b, const struct event *rec, size_t records,
                  struct bytes *to)
{
    assert(records > 0);
    order_scan(b, rec, records);
    order_group(b, rec, records);
    bytes_varint(to, b->threads);
    list_put(b, to, b->thread, b->threads);
    bytes_varint(to, b->runs);
    list_put(b, to, b->run_thread, b->runs);
    list_put(b, to, b->run_length, b->runs);
    shapes_put(b, to, rec);
    for (size_t i = 0; i < ARRAY_SIZE(block_columns); i++)
        field_put(b, to, rec, block_columns[i].part, block_columns[i].field);
}
