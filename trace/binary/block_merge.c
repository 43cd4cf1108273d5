/* block_merge.c - the events of an open block from numbers by thread to records in recorded order,
 * a slice at a time: a block has each thread's events together, as they resemble each other, and
 * runs that tell whose turn it is. */
#include "trace/binary/block_decode.h"

#include <string.h>

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
