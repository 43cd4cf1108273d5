/* interval.c - intervals of processes, the notices of what was written in them, and what an acquire
 * makes of those.
 *
 * An interval ends at each acquire and release. It has a notice for each page that was twinned in
 * it. A page that has its twin from an earlier interval needs no other notice: whoever has not got
 * that twin's diff yet gets what is written now with it (002, 4.5.4). */
#include "coherence/dsm/dsm_int.h"

#include "base/mem.h"

struct ival *ival_new(struct dsm *d, unsigned process)
{
    struct process *q = &d->process[process];
    struct ival *i = xcalloc(1, sizeof *i + d->n * sizeof *i->clock);

    i->process = process;
    i->index = q->clock[process];
    for (unsigned k = 0; k < d->n; k++)
        i->sum += i->clock[k] = q->clock[k];
    q->closed = xgrow(q->closed, q->n, &q->cap, sizeof *q->closed);
    q->closed[q->n++] = i;
    budget_take(&d->budget, heap_bytes(sizeof *i + d->n * sizeof *i->clock));
    return i;
}

void ival_kept(struct dsm *d, unsigned process, uint64_t bytes)
{
    struct process *q = &d->process[process];

    q->kept += bytes;
    d->st.kept_peak = u64_max(d->st.kept_peak, q->kept);
}

void ival_close(struct dsm *d, unsigned process)
{
    struct process *q = &d->process[process];

    q->clock[process]++;
    q->told = DSM_MSGS;
    q->at = NULL;
    d->st.intervals++;
    if (!q->dirties)
        return;
    struct ival *i = ival_new(d, process);
    i->n = q->dirties;
    i->page = q->dirty;
    for (size_t k = 0; k < i->n; k++) {
        struct dsm_page *page = i->page[k];
        page->notice = xgrow(page->notice, page->notices, &page->cap, sizeof *page->notice);
        page->notice[page->notices++] = (struct notice){.of = i};
    }
    d->st.notices += i->n;
    q->dirty = NULL;
    q->dirties = q->dirty_cap = 0;
    budget_take(&d->budget, i->n * (sizeof *i->page + sizeof(struct notice)));
    ival_kept(d, process, BYTES_INTERVAL + d->n * BYTES_ENTRY + i->n * BYTES_PAGE);
}

void clock_join(const struct dsm *d, uint32_t *into, const uint32_t *from)
{
    for (unsigned k = 0; k < d->n; k++)
        if (from[k] > into[k])
            into[k] = from[k];
}

/* The first interval of the process behind this index. */
static size_t behind(const struct process *q, uint32_t index)
{
    size_t from = 0, to = q->n;

    while (from < to) {
        const size_t half = from + (to - from) / 2;
        if (q->closed[half]->index <= index)
            from = half + 1;
        else
            to = half;
    }
    return from;
}

struct ival *ival_find(const struct dsm *d, unsigned process, uint32_t index)
{
    const struct process *q = &d->process[process];
    const size_t i = behind(q, index);

    return i && q->closed[i - 1]->index == index ? q->closed[i - 1] : NULL;
}

/* A message with the sender's vector, and all intervals behind `from` up to `to`. */
struct load ival_load(const struct dsm *d, const uint32_t *from, const uint32_t *to)
{
    struct load l = {.bytes = {[DSM_BYTES_CLOCKS] = d->n * BYTES_ENTRY}};

    for (unsigned k = 0; k < d->n; k++) {
        const struct process *q = &d->process[k];
        for (size_t i = behind(q, from[k]); i < q->n && q->closed[i]->index <= to[k]; i++) {
            const struct ival *x = q->closed[i];
            l.bytes[x->n ? DSM_BYTES_CLOCKS : DSM_BYTES_MORE_CLOCKS] +=
                BYTES_INTERVAL + d->n * BYTES_ENTRY;
            l.bytes[DSM_BYTES_NOTICES] += x->n * BYTES_PAGE;
            l.bytes[DSM_BYTES_READ_NOTICES] += x->read * BYTES_PAGE;
            l.bytes[DSM_BYTES_MORE_NOTICES] += x->more * BYTES_PAGE;
        }
    }
    return l;
}

/* A notice of a page that the process has valid: it no longer is, unless those writes came with the
 * page. What it wrote itself becomes a diff either way: what it writes from now on comes after
 * those writes, and in a diff of an earlier interval it would be applied before them. */
static void invalidate(struct dsm *d, struct path *p, unsigned process, struct dsm_page *page,
                       const struct ival *by)
{
    struct copy *c = page->copy[process];

    process_work(d, p, process, DSM_PART_NOTICES, d->time.notice);
    if (!c || c->state == DSM_INVALID)
        return;
    if (c->state == DSM_WRITE)
        diff_make(d, p, process, page);
    if (c->applied[by->process] >= by->index)
        return;
    c->state = DSM_INVALID;
    d->st.invalidations++;
    d->st.protects++;
    process_work(d, p, process, DSM_PART_TRAP, d->time.protect);
}

void ival_learn(struct dsm *d, struct path *p, unsigned process, const uint32_t *to)
{
    struct process *me = &d->process[process];

    for (unsigned k = 0; k < d->n; k++) {
        const struct process *q = &d->process[k];
        if (k == process || to[k] <= me->clock[k])
            continue;
        for (size_t i = behind(q, me->clock[k]); i < q->n && q->closed[i]->index <= to[k]; i++) {
            const struct ival *x = q->closed[i];
            process_work(d, p, process, DSM_PART_NOTICES,
                         d->time.interval + (x->read + x->more) * d->time.notice);
            for (size_t n = 0; n < x->n; n++)
                invalidate(d, p, process, x->page[n], x);
        }
        me->clock[k] = to[k];
    }
}

/* Drops all intervals: with the last notice nobody needs them. */
void ival_drop_all(struct dsm *d)
{
    for (unsigned k = 0; k < d->n; k++) {
        struct process *q = &d->process[k];
        for (size_t i = 0; i < q->n; i++) {
            struct ival *x = q->closed[i];
            budget_give(&d->budget, heap_bytes(sizeof *x + d->n * sizeof *x->clock) +
                                        x->n * (sizeof *x->page + sizeof(struct notice)));
            free(x->page);
            free(x);
        }
        q->n = 0;
        q->kept = 0;
    }
}
