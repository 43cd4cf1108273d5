/* rig.h - a software manager with a host that logs: an access takes RIG_LATENCY cycles, an
 * instruction one. Every access must lie in one line and in the manager's span. rig_check walks the
 * manager's tables: what it has in simulated memory does not overlap and adds up. */
#ifndef LARDSIM_SWM_RIG_H
#define LARDSIM_SWM_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "swmanager/swmanager_int.h"

/* The cores whose history lines of this line of data may be cached, as a mask of two words. */
static inline void swm_may_be_cached(const struct swmanager *s, struct paddr addr,
                                     uint64_t cores[2])
{
    const struct swm_line *l = swm_line_find(s, addr.at >> s->line_shift);

    cores[0] = l ? l->cores[0] : 0;
    cores[1] = l ? l->cores[1] : 0;
}

#define RIG_BASE UINT64_C(0x800000000000)
enum { RIG_LATENCY = 10, RIG_LOG = 256 };

struct rig {
    struct swmanager *s;
    struct stats *stats;
    struct budget budget;
    struct swm_charge log[RIG_LOG]; /* since rig_mark */
    size_t n;
    uint64_t instructions;
    sim_cycle began, now;
    bool quiet;                      /* no log */
    uint64_t accesses;               /* in all */
    void (*meanwhile)(struct rig *); /* called in the middle of one */
    uint64_t meanwhile_at;
};

static sim_cycle rig_exec(void *host, unsigned core, unsigned instructions, sim_cycle now)
{
    struct rig *r = host;

    (void)core;
    assert_true(instructions > 0);
    r->instructions += instructions;
    return now + instructions;
}

static sim_cycle rig_mem(void *host, unsigned core, struct paddr at, unsigned bytes,
                         enum mem_cmd cmd, sim_cycle now)
{
    struct rig *r = host;
    const sim_addr a = at.at;
    const uint64_t line = r->s->env.line;

    assert_true(core < MAX_CORES);
    assert_true(bytes > 0 && a / line == (a + bytes - 1) / line);
    assert_true(a >= RIG_BASE && a - RIG_BASE + bytes <= SWM_SPAN);
    if (++r->accesses == r->meanwhile_at && r->meanwhile)
        r->meanwhile(r);
    if (!r->quiet && r->n < RIG_LOG)
        r->log[r->n++] = (struct swm_charge){.addr = a, .bytes = bytes, .cmd = cmd};
    return now + RIG_LATENCY;
}

static inline struct rig *rig_with(unsigned granule, unsigned line, struct swm_params p)
{
    struct rig *r = calloc(1, sizeof *r);

    assert_non_null(r);
    r->stats = stats_new();
    const struct swm_env env = {.stats = stats_group(stats_root(r->stats), "manager"),
                                .budget = &r->budget,
                                .granule = granule,
                                .line = line,
                                .host = r,
                                .exec = rig_exec,
                                .mem = rig_mem};
    r->s = swm_new(&p, &env);
    return r;
}

static inline struct rig *rig_new(unsigned granule, unsigned line)
{
    return rig_with(granule, line, (struct swm_params){.enter = 100, .base = RIG_BASE});
}

/* Everything comes back. */
static inline void rig_free(struct rig *r)
{
    swm_free(r->s);
    assert_int_equal(r->budget.live, 0);
    stats_free(r->stats);
    free(r);
}

static inline void rig_mark(struct rig *r)
{
    r->n = 0;
    r->instructions = 0;
    r->began = r->now;
}

static inline struct swm_access rig_access(uint32_t actor, uint64_t clock, uint8_t op)
{
    return (struct swm_access){.clock = clock,
                               .actor = actor,
                               .op = op,
                               .tid = (sim_tid)actor,
                               .event = clock * 3,
                               .site = actor * UINT64_C(7)};
}

/* ---- the heap ------------------------------------------------------------------------------- */

struct rig_span {
    sim_addr at;
    uint64_t bytes;
};
struct rig_spans {
    struct rig_span *span;
    size_t n, cap;
    uint64_t bytes;
};

static inline void rig_add(struct rig_spans *all, sim_addr at, uint64_t bytes)
{
    all->span = xgrow(all->span, all->n, &all->cap, sizeof *all->span);
    all->span[all->n++] = (struct rig_span){at, bytes};
    all->bytes += bytes;
}

static inline int rig_order(const void *a, const void *b)
{
    const struct rig_span *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static inline void rig_add_live(const struct swmanager *s, struct rig_spans *all)
{
    uint64_t key, *value;

    for (size_t pos = 0; map_next(&s->tables, &pos, &key, &value);)
        rig_add(all, *value, s->table_bytes);
    for (size_t pos = 0; map_next(&s->lines, &pos, &key, &value);) {
        const struct swm_line *l = (const struct swm_line *)(uintptr_t)*value;
        assert_true(l->cores[0] || l->cores[1] || l->record || swm_bits_any(s, l, SWM_RACED));
        if (l->record)
            rig_add(all, l->record, s->line_granules * UINT64_C(16));
    }
    for (size_t pos = 0; map_next(&s->cells, &pos, &key, &value);) {
        const struct swm_cell *c = (const struct swm_cell *)(uintptr_t)*value;
        const struct swm_line *l = swm_line_find(s, swm_line_of(s, key));
        assert_true(c->n || c->block);
        assert_true(swm_bit(s, l, SWM_PRESENT, swm_in_line(s, key)) && l->record);
        if (c->block)
            rig_add(all, c->block, UINT64_C(16) << c->size);
    }
}

static inline void rig_check(const struct rig *r)
{
    const struct swmanager *s = r->s;
    struct rig_spans all = {0};

    rig_add_live(s, &all);
    assert_int_equal(all.bytes, s->st.bytes);
    for (unsigned i = 0; i < MAX_CORES; i++)
        for (unsigned size = 0; s->core[i] && size < SWM_LISTS; size++)
            for (size_t k = 0; k < s->core[i]->list[size].n; k++)
                rig_add(&all, s->core[i]->list[size].at[k], UINT64_C(16) << size);
    if (all.n)
        qsort(all.span, all.n, sizeof *all.span, rig_order);
    for (size_t i = 0; i < all.n; i++) {
        const sim_addr end =
            i + 1 < all.n ? all.span[i + 1].at : RIG_BASE + SWM_HEAP_AT + s->st.heap;
        assert_true(all.span[i].at >= RIG_BASE + SWM_HEAP_AT);
        assert_true(all.span[i].at + all.span[i].bytes <= end);
    }
    free(all.span);
}

#endif
