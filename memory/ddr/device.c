/* device.c - what must hold of a DDR device, and what follows from it: the layout of addresses
 * and the cycles from one command to another.
 *
 * Addresses, queues and the turns of refresh follow DRAMSim3, so that its files mean the same here;
 * cycles follow the JEDEC definitions. Power states and self-refresh are not modelled. */
#include "memory/ddr/ddr.h"

#include <string.h>

const char *const ddr_protocol_name[DDR_PROTOCOLS + 1] = {"DDR3",   "DDR4", "LPDDR", "LPDDR3",
                                                          "LPDDR4", "HBM",  "HBM2",  NULL};

static unsigned bits_of(uint64_t v) /* v: a power of two */
{
    return (unsigned)__builtin_ctzll(v);
}

/* DRAMSim3's HBM files count columns of two beats; others count beats. */
static uint64_t beats_of_row(const struct ddr_device *d)
{
    return ddr_is_hbm(d) ? d->columns * 2 : d->columns;
}

uint64_t ddr_line_bytes(const struct ddr_device *d)
{
    return d->bus / 8 * d->bl;
}

static uint64_t rank_bytes(const struct ddr_device *d)
{
    return beats_of_row(d) * d->bus / 8 * d->rows * d->groups * d->banks;
}

static uint64_t ranks_of(const struct ddr_device *d)
{
    return (d->channel_mib << 20) / rank_bytes(d);
}

/* ---- what must hold ------------------------------------------------------------------------- */

static int check_powers(const struct ddr_device *d, const char *where, struct err *e)
{
    const struct {
        const char *name;
        uint64_t value;
    } each[] = {
        {"bankgroups", d->groups}, {"banks_per_group", d->banks}, {"rows", d->rows},
        {"columns", d->columns},   {"device_width", d->width},    {"BL", d->bl},
        {"channels", d->channels}, {"bus_width", d->bus},
    };

    for (size_t i = 0; i < ARRAY_SIZE(each); i++)
        if (!is_power_of_2(each[i].value))
            return err_set(e, LARD_CONFIG, "%s: %s = %llu is not a power of two; take the next one",
                           where, each[i].name, (unsigned long long)each[i].value);
    if (d->bl < 2 || d->bus < 8 || d->bus < d->width || beats_of_row(d) < d->bl)
        return err_set(
            e, LARD_CONFIG,
            "%s: BL must be at least 2, bus_width at least 8 and device_width, and a row "
            "at least a burst; correct the geometry",
            where);
    return 0;
}

static int check_size(const struct ddr_device *d, const char *where, struct err *e)
{
    const uint64_t ranks = ranks_of(d), banks = d->groups * d->banks;

    if (!ranks)
        return err_set(
            e, LARD_CONFIG,
            "%s: channel_size = %llu (MiB) is less than one rank of these devices, which "
            "has %llu; enlarge it",
            where, (unsigned long long)d->channel_mib, (unsigned long long)(rank_bytes(d) >> 20));
    if (!is_power_of_2(ranks))
        return err_set(e, LARD_CONFIG,
                       "%s: channel_size = %llu (MiB) gives %llu ranks, which is not a power of "
                       "two; take a multiple of %llu that is one",
                       where, (unsigned long long)d->channel_mib, (unsigned long long)ranks,
                       (unsigned long long)(rank_bytes(d) >> 20));
    if (ranks > DDR_MAX_BANKS || ranks * banks > DDR_MAX_BANKS)
        return err_set(
            e, LARD_CONFIG,
            "%s: %llu ranks of %llu banks are more than the %d banks a channel may have; "
            "lower channel_size, raise channels",
            where, (unsigned long long)ranks, (unsigned long long)banks, DDR_MAX_BANKS);
    return 0;
}

static const char *const field_names[] = {"ch", "ra", "bg", "ba", "ro", "co"};

static int check_mapping(const struct ddr_device *d, const char *where, struct err *e)
{
    unsigned named = 0; /* a bit each */

    for (size_t i = 0; i < ARRAY_SIZE(field_names) && strlen(d->mapping) == 12; i++)
        for (size_t k = 0; k < 12; k += 2)
            named |= (unsigned)!memcmp(d->mapping + k, field_names[i], 2) << i;
    if (named == (1U << ARRAY_SIZE(field_names)) - 1)
        return 0;
    return err_set(e, LARD_CONFIG,
                   "%s: address_mapping '%s' does not name each of ch, ra, bg, ba, ro, co once; "
                   "write for example rochrababgco",
                   where, d->mapping);
}

/* Refresh, with closing the rows for it, may take a rank or bank at most half of the time, or its
 * requests might never be served. `open` bounds what a bank may still need before it can be
 * precharged. */
static int check_refresh(const struct ddr_device *d, const char *where, struct err *e)
{
    const bool of_banks = d->refresh == REFRESH_BANKS;
    const uint64_t ranks = ranks_of(d), banks = of_banks ? 1 : d->groups * d->banks;
    const uint64_t open = d->rcd_rd + d->rcd_wr + d->ras + d->al + d->cwl + d->bl + d->wr + d->rtp;
    const uint64_t closing = open + d->rp + banks * (1 + d->ppd);
    const uint64_t need = of_banks ? closing + d->rfcb : closing * ranks + d->rfc;
    const uint64_t period = of_banks ? d->refib * ranks * d->groups * d->banks : d->refi;

    if (period / 2 < need)
        return err_set(
            e, LARD_CONFIG,
            "%s: %s gives %llu cycles from a refresh to the next, which takes up to %llu; "
            "make it at least twice that",
            where, of_banks ? "tREFIb" : "tREFI", (unsigned long long)period,
            (unsigned long long)need);
    if (of_banks && d->refib < d->rfcb)
        return err_set(e, LARD_CONFIG, "%s: tREFIb is less than tRFCb; enlarge it", where);
    return 0;
}

static int check_timing(const struct ddr_device *d, const char *where, struct err *e)
{
    if (!d->tck || !d->rp || !d->ras || !d->cl)
        return err_set(e, LARD_CONFIG,
                       "%s: tCK, tRP, tRAS and CL must be more than 0; correct them", where);
    if (d->rcd_rd < d->al || d->rcd_wr < d->al)
        return err_set(e, LARD_CONFIG, "%s: AL = %llu is more than tRCD; lower it", where,
                       (unsigned long long)d->al);
    return check_refresh(d, where, e);
}

int ddr_check(const struct ddr_device *d, const char *where, struct err *e)
{
    if (check_powers(d, where, e) || check_size(d, where, e) || check_mapping(d, where, e))
        return -1;
    return check_timing(d, where, e);
}

/* ---- clocks --------------------------------------------------------------------------------- */

/* tCK times MHz is a memory cycle in 10^-9 processor cycles; reduced. */
int ddr_clock_set(struct ddr_clock *c, uint64_t tck, uint64_t mhz, const char *memory,
                  struct err *e)
{
    enum { UNIT = 1000000000 };
    uint64_t a = tck * mhz, b = UNIT;

    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    *c = (struct ddr_clock){tck * mhz / a, UNIT / a};
    if (mhz && c->num >> 32 == 0)
        return 0;
    return err_set(
        e, LARD_CONFIG,
        "%s: tCK and the processor's %llu MHz have no ratio of numbers below 2^32; write "
        "tCK with fewer decimals",
        memory, (unsigned long long)mhz);
}

/* ---- what follows --------------------------------------------------------------------------- */

/* Fields in the mapping's order, the last one lowest, above the bytes of a burst. */
static void derive_layout(struct ddr_rules *r, const struct ddr_device *d)
{
    const uint64_t lines = beats_of_row(d) / d->bl; /* of a row */
    const unsigned width[] = {bits_of(r->channels), bits_of(r->ranks), bits_of(r->groups),
                              bits_of(r->banks),    bits_of(d->rows),  bits_of(lines)};
    struct ddr_field *const field[] = {&r->channel, &r->rank, &r->group,
                                       &r->bank,    &r->row,  &r->column};
    unsigned shift = bits_of(ddr_line_bytes(d));

    r->line_shift = shift;
    for (size_t k = 12; k > 0; k -= 2)
        for (size_t i = 0; i < ARRAY_SIZE(field_names); i++)
            if (!memcmp(d->mapping + k - 2, field_names[i], 2)) {
                *field[i] = (struct ddr_field){shift, (UINT64_C(1) << width[i]) - 1};
                shift += width[i];
            }
}

static uint64_t above(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* A read's data are on the bus from AL + CL on, a write's from AL + CWL on, for a burst each. Two
 * commands must be so far apart that their data do not overlap; where the driver of the bus changes
 * (from a read to a write, from a write to a read of another rank, between reads of two ranks)
 * tRTRS comes between them. Within a rank tCCD, and tWTR after a write's data, must pass as well.
 */
static void derive_columns(struct ddr_rules *r, const struct ddr_device *d)
{
    const bool grouped = r->groups > 1; /* without groups the short distances hold */
    const uint64_t ccd_l = grouped ? d->ccd_l : d->ccd_s, wtr_l = grouped ? d->wtr_l : d->wtr_s;
    const uint64_t write_done = d->al + d->cwl + r->burst, turn = r->burst + d->rtrs;
    uint64_t(*wait)[3][2] = r->column_wait; /* [after a write?][near][to a write?] */

    wait[0][NEAR_GROUP][0] = wait[1][NEAR_GROUP][1] = u64_max(r->burst, ccd_l);
    wait[0][NEAR_RANK][0] = wait[1][NEAR_RANK][1] = u64_max(r->burst, d->ccd_s);
    wait[0][NEAR_CHANNEL][0] = turn;
    wait[1][NEAR_CHANNEL][1] = r->burst;
    for (int near = NEAR_GROUP; near <= NEAR_CHANNEL; near++)
        wait[0][near][1] = above(d->cl + turn, d->cwl);
    wait[1][NEAR_GROUP][0] = write_done + wtr_l;
    wait[1][NEAR_RANK][0] = write_done + d->wtr_s;
    wait[1][NEAR_CHANNEL][0] = above(d->cwl + turn, d->cl);
    r->read_done = d->al + d->cl + r->burst;
    r->read_pre = d->al + d->rtp;
    r->write_pre = write_done + d->wr;
}

void ddr_rules_derive(struct ddr_rules *r, const struct ddr_device *d)
{
    *r = (struct ddr_rules){.channels = d->channels,
                            .ranks = ranks_of(d),
                            .groups = d->groups,
                            .banks = d->banks,
                            .rank_banks = d->groups * d->banks,
                            .burst = d->bl / 2,
                            .act_act = {d->groups > 1 ? d->rrd_l : d->rrd_s, d->rrd_s},
                            .act_rd = d->rcd_rd - d->al,
                            .act_wr = d->rcd_wr - d->al,
                            .rc = d->ras + d->rp,
                            .ras = d->ras,
                            .rp = d->rp,
                            .faw = d->faw,
                            .ppd = d->ppd,
                            .rfc = d->rfc,
                            .rfcb = d->rfcb,
                            .rrefd = d->rrefd,
                            .refresh = (enum ddr_refresh)d->refresh,
                            .closed = d->closed,
                            .per_rank = d->per_rank,
                            .dual = d->dual && ddr_is_hbm(d)};
    derive_layout(r, d);
    derive_columns(r, d);
    r->refresh_targets = r->refresh == REFRESH_BANKS ? r->ranks * r->rank_banks : r->ranks;
    r->refresh_interval = r->refresh == REFRESH_BANKS   ? d->refib
                          : r->refresh == REFRESH_RANKS ? d->refi / r->ranks
                                                        : d->refi;
}
