/* judge.c - the judge: one function a rule. */
#include "tests/memory/ddr/judge.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"

static const char *const names[DDR_COMMANDS] = {"ACT", "PRE", "RD",  "WR",
                                                "RDA", "WRA", "REF", "REFb"};

static void fault(struct judge *j, const char *rule, const struct judged *was,
                  const struct judged *is)
{
    if (!j->faults++)
        snprintf(j->first, sizeof j->first,
                 "%s: %s at %" PRIu64 " (rank %u group %u bank %u), %s at %" PRIu64
                 " (rank %u group %u bank %u) of channel %u",
                 rule, was ? names[was->command] : "nothing", was ? was->cycle : 0,
                 was ? was->at.rank : 0, was ? was->at.group : 0, was ? was->at.bank : 0,
                 names[is->command], is->cycle, is->at.rank, is->at.group, is->at.bank,
                 is->at.channel);
}

static bool reads(const struct judged *c)
{
    return c->command == DDR_READ || c->command == DDR_READ_AUTO;
}

static bool writes(const struct judged *c)
{
    return c->command == DDR_WRITE || c->command == DDR_WRITE_AUTO;
}

static bool columns(const struct judged *c)
{
    return reads(c) || writes(c);
}

static bool precharges_itself(const struct judged *c)
{
    return c->command == DDR_READ_AUTO || c->command == DDR_WRITE_AUTO;
}

struct pair { /* of commands of one channel, in order */
    const struct judged *was, *is;
    bool rank, group, bank; /* the same */
};

static void at_least(struct judge *j, const struct pair *p, const char *rule, uint64_t cycles)
{
    if (p->is->cycle < p->was->cycle + cycles)
        fault(j, rule, p->was, p->is);
}

static uint64_t grouped(const struct judge *j, bool same, uint64_t l, uint64_t s)
{
    return same && j->d->groups > 1 ? l : s;
}

static void after_activate(struct judge *j, const struct pair *p)
{
    const struct ddr_device *d = j->d;
    const enum ddr_command c = p->is->command;

    if (c == DDR_ACTIVATE && p->bank)
        at_least(j, p, "tRC", d->ras + d->rp);
    else if (c == DDR_ACTIVATE && p->rank)
        at_least(j, p, "tRRD", grouped(j, p->group, d->rrd_l, d->rrd_s));
    if (p->bank && reads(p->is))
        at_least(j, p, "tRCD", d->rcd_rd - d->al);
    if (p->bank && writes(p->is))
        at_least(j, p, "tRCD of a write", d->rcd_wr - d->al);
    if (p->bank && c == DDR_PRECHARGE)
        at_least(j, p, "tRAS", d->ras);
}

static void after_precharge(struct judge *j, const struct pair *p)
{
    const struct ddr_device *d = j->d;
    const enum ddr_command c = p->is->command;

    if ((p->bank && (c == DDR_ACTIVATE || c == DDR_REFRESH_BANK)) || (p->rank && c == DDR_REFRESH))
        at_least(j, p, "tRP", d->rp);
    if (p->rank && c == DDR_PRECHARGE)
        at_least(j, p, "tPPD", d->ppd);
}

static void after_auto(struct judge *j, const struct pair *p)
{
    const enum ddr_command c = p->is->command;
    const bool concerned =
        (p->bank && (c == DDR_ACTIVATE || c == DDR_REFRESH_BANK)) || (p->rank && c == DDR_REFRESH);

    if (concerned && p->is->cycle < p->was->precharged + j->d->rp)
        fault(j, "tRP after a precharge by itself", p->was, p->is);
}

static uint64_t data_of(const struct judge *j, const struct judged *c)
{
    return c->cycle + j->d->al + (reads(c) ? j->d->cl : j->d->cwl);
}

static uint64_t until_precharge(const struct judge *j, const struct judged *c)
{
    return reads(c) ? j->d->al + j->d->rtp : j->d->al + j->d->cwl + j->d->bl / 2 + j->d->wr;
}

/* Bursts do not overlap; between two ranks' reads, and where the direction changes, the bus rests.
 */
static void on_the_bus(struct judge *j, const struct pair *p)
{
    const uint64_t a = data_of(j, p->was), b = data_of(j, p->is), burst = j->d->bl / 2;
    const bool turns = reads(p->was) != reads(p->is) || (!p->rank && reads(p->is));
    const uint64_t rest = turns ? j->d->rtrs : 0;

    if (a < b + burst + rest && b < a + burst + rest)
        fault(j, "data bus", p->was, p->is);
}

static void after_column(struct judge *j, const struct pair *p)
{
    const struct ddr_device *d = j->d;

    if (columns(p->is)) {
        on_the_bus(j, p);
        if (p->rank && reads(p->was) == reads(p->is))
            at_least(j, p, "tCCD", grouped(j, p->group, d->ccd_l, d->ccd_s));
        if (p->rank && writes(p->was) && reads(p->is))
            at_least(j, p, "tWTR",
                     d->al + d->cwl + d->bl / 2 + grouped(j, p->group, d->wtr_l, d->wtr_s));
    }
    if (p->bank && p->is->command == DDR_PRECHARGE)
        at_least(j, p, reads(p->was) ? "tRTP" : "tWR", until_precharge(j, p->was));
    if (precharges_itself(p->was))
        after_auto(j, p);
}

static void after_refresh(struct judge *j, const struct pair *p)
{
    const struct ddr_device *d = j->d;
    const enum ddr_command c = p->is->command;
    const bool activates = c == DDR_ACTIVATE, again = c == DDR_REFRESH || c == DDR_REFRESH_BANK;

    if (!p->rank || (!activates && !again))
        return;
    if (p->was->command == DDR_REFRESH)
        at_least(j, p, "tRFC", d->rfc);
    else if (again || p->bank)
        at_least(j, p, "tRFCb", d->rfcb);
    else
        at_least(j, p, "tRREFD", d->rrefd);
}

/* One command a cycle; where there are two buses, one of each kind. */
static void on_the_command_bus(struct judge *j, const struct pair *p)
{
    const bool two = j->d->dual && (j->d->protocol == HBM || j->d->protocol == HBM2);

    if (p->was->cycle == p->is->cycle && !(two && columns(p->was) != columns(p->is)))
        fault(j, "command bus", p->was, p->is);
    if (p->is->cycle < p->was->cycle)
        fault(j, "order of time", p->was, p->is);
}

static void hold_against(struct judge *j, const struct judged *was, const struct judged *is)
{
    struct pair p = {.was = was, .is = is};

    p.rank = was->at.rank == is->at.rank;
    p.group = p.rank && was->at.group == is->at.group;
    p.bank = p.group && was->at.bank == is->at.bank;
    on_the_command_bus(j, &p);
    if (was->command == DDR_ACTIVATE)
        after_activate(j, &p);
    else if (was->command == DDR_PRECHARGE)
        after_precharge(j, &p);
    else if (columns(was))
        after_column(j, &p);
    else
        after_refresh(j, &p);
}

/* ---- state: what is open -------------------------------------------------------------------- */

static struct judge_bank *bank_of(struct judge *j, const struct ddr_place *at)
{
    const uint64_t i = (at->rank * j->d->groups + at->group) * j->d->banks + at->bank;

    return &j->bank[at->channel][i];
}

static bool rank_closed(struct judge *j, struct ddr_place at)
{
    bool closed = true;

    for (at.group = 0; at.group < j->d->groups; at.group++)
        for (at.bank = 0; at.bank < j->d->banks; at.bank++)
            closed &= !bank_of(j, &at)->open;
    return closed;
}

static void refresh(struct judge *j, const struct judged *is)
{
    const bool whole = is->command == DDR_REFRESH;
    const uint64_t interval = whole ? j->d->refi : j->d->refib;
    const uint64_t i =
        whole ? is->at.rank
              : (is->at.rank * j->d->groups + is->at.group) * j->d->banks + is->at.bank;
    const uint64_t turns = whole ? 1 : j->d->groups * j->d->banks;
    uint64_t *last = &j->refreshed[is->at.channel][i];

    if (whole ? !rank_closed(j, is->at) : bank_of(j, &is->at)->open)
        fault(j, "refresh of an open row", NULL, is);
    if (*last && is->cycle > *last + 9 * interval * turns)
        fault(j, "a refresh too late", NULL, is);
    *last = is->cycle;
}

static void change_state(struct judge *j, struct judged *is)
{
    struct judge_bank *b = bank_of(j, &is->at);

    if (is->command == DDR_REFRESH || is->command == DDR_REFRESH_BANK) {
        refresh(j, is);
        return;
    }
    if (b->open == (is->command == DDR_ACTIVATE))
        fault(j, "the bank is open, or not", NULL, is);
    if (columns(is) && b->row != is->at.row)
        fault(j, "another row is open", NULL, is);
    if (is->command == DDR_ACTIVATE)
        *b = (struct judge_bank){true, is->at.row, is->cycle};
    if (is->command == DDR_PRECHARGE || precharges_itself(is))
        b->open = false;
    if (precharges_itself(is)) {
        const uint64_t earliest = is->cycle + until_precharge(j, is);
        const uint64_t active = b->activated + j->d->ras;
        is->precharged = earliest > active ? earliest : active;
    }
}

static void four_activates(struct judge *j, const struct judged *is)
{
    const unsigned channel = is->at.channel;
    unsigned n = 0;

    for (size_t i = j->n[channel]; i > j->from[channel] && n < 4; i--) {
        const struct judged *was = &j->past[channel][i - 1];
        if (was->command != DDR_ACTIVATE || was->at.rank != is->at.rank)
            continue;
        if (++n == 4 && is->cycle < was->cycle + j->d->faw)
            fault(j, "tFAW", was, is);
    }
}

void judge_see(void *judge, uint64_t cycle, enum ddr_command c, const struct ddr_place *at)
{
    struct judge *j = judge;
    const unsigned k = at->channel;
    struct judged is = {.cycle = cycle, .command = c, .at = *at};

    change_state(j, &is);
    while (j->from[k] < j->n[k] && j->past[k][j->from[k]].cycle + j->window < cycle)
        j->from[k]++;
    for (size_t i = j->from[k]; i < j->n[k]; i++)
        hold_against(j, &j->past[k][i], &is);
    if (c == DDR_ACTIVATE)
        four_activates(j, &is);
    j->past[k] = xgrow(j->past[k], j->n[k], &j->cap[k], sizeof *j->past[k]);
    j->past[k][j->n[k]++] = is;
    j->seen[c]++;
}

void judge_begin(struct judge *j, const struct ddr_device *d)
{
    *j = (struct judge){.d = d};
    j->window = d->rfc + d->rfcb + d->ras + d->rp + d->faw + d->al + d->cl + d->cwl + d->bl +
                d->wr + d->wtr_l + d->rtp + d->rrefd;
}

void judge_end(struct judge *j, uint64_t cycle)
{
    const struct judged end = {.cycle = cycle, .command = DDR_REFRESH};
    const bool of_banks = j->d->refresh == REFRESH_BANKS;
    const uint64_t banks = j->d->groups * j->d->banks,
                   rank_mib = j->d->columns *
                                  (j->d->protocol == HBM || j->d->protocol == HBM2 ? 2 : 1) *
                                  j->d->bus / 8 * j->d->rows * banks >>
                              20;
    const uint64_t n = j->d->channel_mib / rank_mib * (of_banks ? banks : 1);
    const uint64_t period = of_banks ? j->d->refib * banks : j->d->refi;

    for (uint64_t c = 0; c < j->d->channels; c++)
        for (uint64_t i = 0; i < n; i++)
            if (cycle > j->refreshed[c][i] + 9 * period)
                fault(j, "no refresh for long", NULL, &end);
}

void judge_free(struct judge *j)
{
    for (size_t i = 0; i < DDR_MAX_CHANNELS; i++)
        free(j->past[i]);
}
