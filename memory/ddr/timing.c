/* timing.c - what a command does to the banks, and from when on it lets others follow. The rules
 * are those of the JEDEC standards for DDR3, DDR4, LPDDR4 and HBM; ddr_rules_derive has the cycles.
 */
#include "memory/ddr/timing.h"

#include <assert.h>

void ddr_timing_init(struct ddr_timing *t, const struct ddr_rules *r)
{
    *t = (struct ddr_timing){.rules = r, .n = (unsigned)(r->ranks * r->rank_banks)};
    assert(t->n <= DDR_MAX_BANKS);
    for (unsigned i = 0; i < t->n; i++) {
        t->bank[i].group = i / (unsigned)r->banks;
        t->bank[i].rank = i / (unsigned)r->rank_banks;
    }
}

static void not_before(uint64_t *when, uint64_t then)
{
    *when = u64_max(*when, then);
}

void ddr_activate(struct ddr_timing *t, unsigned bank, uint64_t row, uint64_t now)
{
    const struct ddr_rules *r = t->rules;
    struct ddr_bank *b = &t->bank[bank];
    struct ddr_rank *rank = &t->rank[b->rank];
    const unsigned first = b->rank * (unsigned)r->groups;

    assert(!b->open);
    b->open = true;
    b->row = row;
    b->accesses = 0;
    not_before(&b->after[CLASS_ACTIVATE], now + r->rc);
    not_before(&b->after[CLASS_PRECHARGE], now + r->ras);
    not_before(&b->after[CLASS_READ], now + r->act_rd);
    not_before(&b->after[CLASS_WRITE], now + r->act_wr);
    for (unsigned g = first; g < first + r->groups; g++)
        not_before(&t->group[g].after[CLASS_ACTIVATE], now + r->act_act[g != b->group]);
    /* tFAW: at most four activates of a rank in its window, so the next one waits for the oldest.
     */
    rank->window[rank->oldest] = now + r->faw;
    rank->oldest = (rank->oldest + 1) % 4;
    rank->after[CLASS_ACTIVATE] = rank->window[rank->oldest];
    not_before(&rank->refresh, now + r->act_act[0]); /* REFpb activates inside the device */
}

void ddr_precharge(struct ddr_timing *t, unsigned bank, uint64_t now)
{
    struct ddr_bank *b = &t->bank[bank];

    assert(b->open);
    b->open = false;
    not_before(&b->after[CLASS_ACTIVATE], now + t->rules->rp);
    not_before(&t->rank[b->rank].after[CLASS_PRECHARGE], now + t->rules->ppd);
}

/* wait: to a read, to a write. */
static void limit_columns(struct ddr_group *g, const uint64_t wait[2], uint64_t now)
{
    not_before(&g->after[CLASS_READ], now + wait[0]);
    not_before(&g->after[CLASS_WRITE], now + wait[1]);
}

void ddr_column(struct ddr_timing *t, unsigned bank, bool write, bool precharge, uint64_t now)
{
    const struct ddr_rules *r = t->rules;
    struct ddr_bank *b = &t->bank[bank];
    const unsigned groups = (unsigned)r->groups, first = b->rank * groups, end = first + groups;

    assert(b->open);
    for (unsigned g = 0; g < first; g++)
        limit_columns(&t->group[g], r->column_wait[write][NEAR_CHANNEL], now);
    for (unsigned g = first; g < end; g++)
        limit_columns(&t->group[g], r->column_wait[write][g == b->group ? NEAR_GROUP : NEAR_RANK],
                      now);
    for (unsigned g = end; g < r->ranks * groups; g++)
        limit_columns(&t->group[g], r->column_wait[write][NEAR_CHANNEL], now);
    not_before(&b->after[CLASS_PRECHARGE], now + (write ? r->write_pre : r->read_pre));
    b->accesses++;
    if (precharge) { /* the device precharges by itself as soon as it may */
        b->open = false;
        not_before(&b->after[CLASS_ACTIVATE], b->after[CLASS_PRECHARGE] + r->rp);
    }
}

void ddr_refresh_rank(struct ddr_timing *t, unsigned first, uint64_t now)
{
    const struct ddr_rules *r = t->rules;

    for (unsigned i = first; i < first + r->rank_banks; i++) {
        assert(!t->bank[i].open);
        not_before(&t->bank[i].after[CLASS_ACTIVATE], now + r->rfc);
    }
}

/* The bank is busy for tRFCpb, as are all others for another refresh; activates of the rank's other
 * banks wait for tRREFD. */
void ddr_refresh_bank(struct ddr_timing *t, unsigned bank, uint64_t now)
{
    const struct ddr_rules *r = t->rules;
    struct ddr_bank *b = &t->bank[bank];
    const unsigned first = b->rank * (unsigned)r->groups;

    assert(!b->open);
    not_before(&b->after[CLASS_ACTIVATE], now + r->rfcb);
    not_before(&t->rank[b->rank].refresh, now + r->rfcb);
    for (unsigned g = first; g < first + r->groups; g++)
        not_before(&t->group[g].after[CLASS_ACTIVATE], now + r->rrefd);
}
