/* verify.c - the detector's invariants, asserted: what a permission means, who may hold
 * what, and that a line knows what the manager has. Walks everything: for tests and the end of a
 * run. */
#include "policy/radish/radish.h"

#include <assert.h>

/* The writes that are known of a granule: they must be one. */
struct last {
    uint64_t time;
    uint32_t actor;
    bool some;
};

static void see_write(struct last *l, uint32_t actor, uint64_t time)
{
    assert(!l->some || (l->actor == actor && l->time == time));
    *l = (struct last){time, actor, true};
}

static const struct access_record *find(const struct hline *h, unsigned i, unsigned classes)
{
    const struct access_record *x = NULL;

    for (unsigned class = 0; class < OP_CLASSES && !x; class ++)
        if (classes >> class & 1)
            x = record_of(h, i, class);
    return x;
}

/* The line says where the rest of the granule's history is. */
static void check_status(const struct hline *h, unsigned i, struct swm_held held)
{
    const granule_set bit = (granule_set)1 << i;

    assert(!(held.write || held.n) || h->kept & bit);
    assert(!held.write || h->soft_write & bit || find(h, i, WRITE_CLASSES));
    for (size_t k = 0; k < held.n; k++)
        assert(held.read[k].actor == h->actor || h->soft_reads & bit);
    (void)h;
    (void)bit;
}

/* Asserts that a core that may write without asking is the last that touched the granule. */
static void check_owner(const struct hline *h, unsigned i)
{
    for (const struct hline *o = h->data->of_kind[h->kind]; o; o = o->next)
        assert(o == h || !find(o, i, EVERY_CLASS));
    (void)i;
}

static void check_granule(const struct radish *r, const struct hline *first, unsigned i,
                          bool may_hold)
{
    const struct swm_held held =
        may_hold ? swm_held(r->manager, line_granule(r, first, i)) : (struct swm_held){0};
    struct last last = {0};

    for (const struct hline *h = first; h; h = h->next) {
        const struct access_record *x = find(h, i, WRITE_CLASSES);
        if (x)
            see_write(&last, h->actor, x->time);
        if (!h->leaving)
            check_status(h, i, held);
        if (h->may_write >> i & 1)
            check_owner(h, i);
    }
    if (held.write)
        see_write(&last, held.write->actor, held.write->clock);
}

/* Checks all lines of the same data and kind. */
static void check_same(const struct radish *r, const struct hline *first)
{
    const granule_set may = swm_may_hold(r->manager, line_granule(r, first, 0), r->entries);

    for (unsigned i = 0; i < r->entries; i++)
        check_granule(r, first, i, may >> i & 1);
}

/* Each granule of a record finds it, and nothing else is found. Returns how many there are. */
static uint64_t check_records(const struct radish *r, const struct hline *h)
{
    granule_set has[OP_CLASSES] = {0};
    uint64_t n = 0;

    for (unsigned k = 0; k < h->n; k++) {
        const struct access_record *x = &h->record[k];
        const unsigned class = op_class(x->op);
        for (granule_set left = x->set; left;)
            assert(record_of(h, next_granule(&left), class) == x);
        assert(!(x->set & ~line_all(r)) && !(x->set & has[class]));
        assert(!x->set || x->time > r->base[h->actor]);
        has[class] |= x->set;
        n += x->set != 0;
    }
    for (unsigned class = 0; class < OP_CLASSES; class ++) {
        assert(has[class] == h->has[class]);
        for (unsigned i = 0; i < r->entries; i++)
            assert((record_of(h, i, class) != NULL) == (has[class] >> i & 1));
    }
    return n;
}

static uint64_t check_line(const struct radish *r, const struct hline *h)
{
    assert(!(h->may_write & ~h->may_read));
    assert(!h->may_read || cores_have(h->data->hears, h->core));
    assert(!h->leaving || !h->may_read);
    assert(h->dirty || manager_all_saved(h));
    assert(!((h->soft_write | h->soft_reads) & ~h->kept));
    assert(h->leaving || r->core[h->core].lines);
    return check_records(r, h);
}

void radish_check(const void *self)
{
    const struct radish *r = self;
    uint64_t line, *at, lines = 0, records = 0;
    size_t pos = 0;

    while (map_next(&r->data, &pos, &line, &at)) {
        const struct data_line *p = (const struct data_line *)(uintptr_t)*at;
        uint32_t here = 0;
        for (unsigned k = 0; k < r->kinds; k++) {
            for (const struct hline *h = p->of_kind[k]; h; h = h->next, here++)
                records += check_line(r, h);
            if (p->of_kind[k])
                check_same(r, p->of_kind[k]);
        }
        assert(here == p->lines && (here || p->queued));
        lines += here;
    }
    assert(lines == r->st.lines && records == r->st.records);
    (void)lines;
    (void)records;
}
