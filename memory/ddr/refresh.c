/* refresh.c - refresh: ranks or banks take turns. When a target's turn has come its queues issue no
 * command, its open rows are precharged, and the refresh is issued as soon as the timing allows it
 * (as DRAMSim3 does it; refreshes are not postponed for traffic). */
#include "memory/ddr/channel.h"

void ddr_refresh_due(struct ddr_channel *c, uint64_t now)
{
    if (now < c->next_refresh)
        return;
    c->next_refresh += c->rules->refresh_interval;
    c->owed += c->rules->refresh == REFRESH_RANKS_AT_ONCE ? c->rules->ranks : 1;
}

/* The bank whose turn it is. Turns change the bank group first, so that neighbours in time are in
 * different groups. */
static unsigned target_bank(const struct ddr_channel *c)
{
    const unsigned groups = (unsigned)c->rules->groups, banks = (unsigned)c->rules->banks;
    const unsigned rank_banks = groups * banks, i = c->refresh_target % rank_banks;

    return c->refresh_target / rank_banks * rank_banks + i % groups * banks + i / groups;
}

struct span { /* n banks of the channel */
    unsigned first, n;
};
/* The banks of the refresh whose turn it is. */
static struct span target(const struct ddr_channel *c)
{
    const unsigned n = (unsigned)c->rules->rank_banks;

    if (c->rules->refresh == REFRESH_BANKS)
        return (struct span){target_bank(c), 1};
    return (struct span){c->refresh_target * n, n};
}

/* The set of command queues that serve these banks. */
static uint64_t queues_of(const struct ddr_channel *c, struct span s)
{
    if (c->rules->per_rank) /* one bank of a rank can't be kept back alone */
        return UINT64_C(1) << s.first / c->rules->rank_banks;
    return (s.n == 64 ? UINT64_MAX : (UINT64_C(1) << s.n) - 1) << s.first;
}

/* Precharges one of the span's open banks, if the timing allows one. True: a command was issued.
 * *open: the span had an open bank. */
static bool close_one(struct ddr_channel *c, struct span s, uint64_t now, bool *open)
{
    *open = false;
    for (unsigned i = s.first; i < s.first + s.n; i++) {
        if (!c->banks.bank[i].open)
            continue;
        *open = true;
        if (ddr_ready(&c->banks, CLASS_PRECHARGE, i) > now)
            continue;
        ddr_channel_precharge(c, i, false, now);
        ddr_queue_review(c, c->rules->per_rank ? c->banks.bank[i].rank : i);
        return true;
    }
    return false;
}

/* The cycle from which the refresh itself is allowed, when all of the span is closed. */
static uint64_t refresh_ready(const struct ddr_channel *c, struct span s)
{
    uint64_t ready = 0;

    if (c->rules->refresh == REFRESH_BANKS)
        return u64_max(c->banks.bank[s.first].after[CLASS_ACTIVATE],
                       c->banks.rank[c->banks.bank[s.first].rank].refresh);
    for (unsigned i = s.first; i < s.first + s.n; i++)
        ready = u64_max(ready, c->banks.bank[i].after[CLASS_ACTIVATE]);
    return ready;
}

bool ddr_refresh_work(struct ddr_channel *c, uint64_t now)
{
    const struct span s = target(c);
    bool open;

    c->refreshing = queues_of(c, s);
    if (close_one(c, s, now, &open))
        return true;
    if (open || refresh_ready(c, s) > now)
        return false;
    ddr_channel_refresh(c, s.first, c->rules->refresh != REFRESH_BANKS, now);
    c->refreshing = 0;
    c->owed--;
    c->refresh_target = (c->refresh_target + 1) % (unsigned)c->rules->refresh_targets;
    return true;
}

uint64_t ddr_refresh_earliest(const struct ddr_channel *c)
{
    const struct span s = target(c);
    uint64_t earliest = UINT64_MAX;

    for (unsigned i = s.first; i < s.first + s.n; i++)
        if (c->banks.bank[i].open)
            earliest = u64_min(earliest, ddr_ready(&c->banks, CLASS_PRECHARGE, i));
    return earliest == UINT64_MAX ? refresh_ready(c, s) : earliest;
}
