/* line.c - history lines on chip: where they are found, and the accesses that they hold. No
 * rule of detection is here. */
#include "policy/radish/radish.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines of data -------------------------------------------------------------------------- */

static size_t data_bytes(const struct radish *r)
{
    return sizeof(struct data_line) + r->kinds * sizeof(struct hline *);
}

struct data_line *data_find(const struct radish *r, uint64_t line)
{
    const uint64_t *at = map_find(&r->data, line);

    return at ? (struct data_line *)(uintptr_t)*at : NULL;
}

/* An access asks for the same line several times: the latest is remembered. */
struct data_line *data_get(struct radish *r, uint64_t line)
{
    if (r->latest && r->latest->line == line)
        return r->latest;
    uint64_t *at = map_put(&r->data, line);
    if (*at)
        return r->latest = (struct data_line *)(uintptr_t)*at;
    struct data_line *p = memset(pool_get(&r->data_lines), 0, data_bytes(r));
    p->line = line;
    *at = (uint64_t)(uintptr_t)p;
    /* Notes the page for regions, which pass over pages that never had history. */
    *map_put(&r->pages, line << r->line_shift >> PAGE_BITS) = 1;
    return p;
}

/* While a check of it is queued the line stays, though nobody has history of it. */
void data_tidy(struct radish *r, struct data_line *p)
{
    if (p->lines || p->queued)
        return;
    map_remove(&r->data, p->line);
    if (r->latest == p)
        r->latest = NULL;
    pool_give(&r->data_lines, p);
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* A core lists its lines in the order in which they came, for a flush: the order of a hash table
 * must be in no result. */
static void core_add(struct radish *r, struct hline *h)
{
    struct radish_core *c = &r->core[h->core];

    h->earlier = c->last;
    h->later = NULL;
    *(c->last ? &c->last->later : &c->first) = h;
    c->last = h;
    c->lines++;
    *map_put(&c->here, h->number) = (uint64_t)(uintptr_t)h;
}

static void core_remove(struct radish *r, struct hline *h)
{
    struct radish_core *c = &r->core[h->core];

    *(h->earlier ? &h->earlier->later : &c->first) = h->later;
    *(h->later ? &h->later->earlier : &c->last) = h->earlier;
    h->earlier = h->later = NULL;
    c->lines--;
    map_remove(&c->here, h->number);
}

static size_t whole_lines(size_t bytes) /* of the host's caches */
{
    return (bytes + 63) / 64 * 64;
}

static size_t line_bytes(const struct radish *r)
{
    return whole_lines(sizeof(struct hline) + (size_t)r->entries * OP_CLASSES);
}

/* The smallest has room for all records of one granule. */
static unsigned room_of(unsigned size)
{
    return 3u << size;
}

void line_pools(struct radish *r)
{
    struct budget *const b = r->env->budget;

    r->lines = (struct pool){.bytes = line_bytes(r), .budget = b};
    r->data_lines = (struct pool){.bytes = whole_lines(data_bytes(r)), .budget = b};
    for (unsigned size = 0; size < RADISH_SIZES; size++)
        r->records[size] = (struct pool){
            .bytes = whole_lines(room_of(size) * sizeof(struct access_record)), .budget = b};
}

void line_pools_free(struct radish *r)
{
    pool_free(&r->lines);
    pool_free(&r->data_lines);
    for (unsigned size = 0; size < RADISH_SIZES; size++)
        pool_free(&r->records[size]);
}

struct hline *line_new(struct radish *r, struct data_line *p, unsigned core, unsigned kind,
                       uint32_t actor)
{
    struct hline *h = pool_get(&r->lines);

    memset(h, 0, line_bytes(r));
    h->data = p;
    h->core = (uint8_t)core;
    h->kind = (uint8_t)kind;
    h->actor = actor;
    h->number = line_number(r, p->line, kind);
    h->there = UINT64_MAX;
    h->next = p->of_kind[kind];
    p->of_kind[kind] = h;
    p->lines++;
    core_add(r, h);
    r->st.allocated++;
    r->st.lines++;
    if (r->st.lines > r->st.lines_peak)
        r->st.lines_peak = r->st.lines;
    return h;
}

void line_leaves(struct radish *r, struct hline *h)
{
    ENSURE(!h->leaving, r->env->context, "history line 0x%llx of core %u leaves twice",
           (unsigned long long)h->number, h->core);
    if (r->hint[h->core] == h)
        r->hint[h->core] = NULL;
    core_remove(r, h);
    h->leaving = true;
    h->may_read = h->may_write = 0;
}

void line_free(struct radish *r, struct hline *h)
{
    struct hline **at = &h->data->of_kind[h->kind];

    if (!h->leaving)
        line_leaves(r, h);
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    h->data->lines--;
    r->st.lines--;
    for (unsigned k = 0; k < h->n; k++)
        r->st.records -= h->record[k].set != 0;
    if (h->record)
        pool_give(&r->records[h->size], h->record);
    pool_give(&r->lines, h);
}

struct paddr line_granule(const struct radish *r, const struct hline *h, unsigned i)
{
    return paddr_of((h->data->line << r->line_shift) +
                    ((uint64_t)(h->kind * r->entries + i) << r->granule_shift));
}

granule_set line_all(const struct radish *r)
{
    return r->entries == 64 ? ~(granule_set)0 : ((granule_set)1 << r->entries) - 1;
}

/* ---- records -------------------------------------------------------------------------------- */

static void index_record(struct hline *h, const struct access_record *x, granule_set set)
{
    h->has[op_class(x->op)] |= set;
    while (set)
        h->at[next_granule(&set) * OP_CLASSES + op_class(x->op)] = (uint8_t)(x - h->record + 1);
}

/* A record without granules is an empty place, and its `time` the link to the next one. */
static void cancel_granule(struct radish *r, struct hline *h, unsigned i, unsigned class)
{
    uint8_t *at = &h->at[i * OP_CLASSES + class];
    struct access_record *x = &h->record[*at - 1];

    x->set &= ~((granule_set)1 << i);
    if (!x->set) {
        x->time = h->empty;
        h->empty = *at;
        r->st.records--;
    }
    *at = 0;
}

void records_cancel(struct radish *r, struct hline *h, granule_set set, unsigned classes)
{
    for (unsigned class = 0; class < OP_CLASSES; class ++) {
        granule_set gone = classes >> class & 1 ? h->has[class] & set : 0;
        h->has[class] &= ~gone;
        while (gone)
            cancel_granule(r, h, next_granule(&gone), class);
    }
}

/* Full, with empty places that may not be used, as the new record has to come last: the others
 * move together, in their order. */
static void squeeze(struct hline *h)
{
    uint8_t kept = 0;

    for (unsigned k = 0; k < h->n; k++)
        if (h->record[k].set) {
            h->record[kept] = h->record[k];
            index_record(h, &h->record[kept], h->record[kept].set);
            kept++;
        }
    h->n = kept;
    h->empty = 0;
}

static void block_grow(struct radish *r, struct hline *h)
{
    const unsigned size = h->record ? h->size + 1u : 0;

    assert(size < RADISH_SIZES);
    struct access_record *to = pool_get(&r->records[size]);
    if (h->record) {
        memcpy(to, h->record, h->n * sizeof *to);
        pool_give(&r->records[h->size], h->record);
    }
    h->record = to;
    h->size = (uint8_t)size;
}

static bool is_full(const struct hline *h)
{
    return !h->record || h->n == room_of(h->size);
}

/* Reads of the other class at these granules have to keep the lower places. */
static bool comes_last(const struct hline *h, const struct access_record *what)
{
    return 1u << op_class(what->op) & READ_CLASSES &&
           records_set(h, READ_CLASSES & ~(1u << op_class(what->op))) & what->set;
}

static struct access_record *empty_place(struct radish *r, struct hline *h, bool last)
{
    if (h->empty && !last) {
        struct access_record *x = &h->record[h->empty - 1];
        h->empty = (uint8_t)x->time;
        return x;
    }
    if (is_full(h) && h->empty)
        squeeze(h);
    if (is_full(h))
        block_grow(r, h);
    return &h->record[h->n++];
}

void record_add(struct radish *r, struct hline *h, const struct access_record *what)
{
    struct access_record *x = empty_place(r, h, comes_last(h, what));

    ENSURE(what->set && !(h->has[op_class(what->op)] & what->set), r->env->context,
           "history line 0x%llx of core %u has a record of these granules",
           (unsigned long long)h->number, h->core);
    *x = *what;
    index_record(h, x, x->set);
    r->st.records++;
}

void record_extend(struct hline *h, struct access_record *x, granule_set set)
{
    x->set |= set;
    index_record(h, x, set);
}
