/* timing.h - the state of a channel's banks: which rows are open, and from which cycle on each
 * command is allowed. A command that is issued pushes these cycles back, for its bank, its bank
 * group and its rank; a command is legal when all three allow it. No requests here. For the DDR
 * model only.
 */
#ifndef LARDSIM_DDR_TIMING_H
#define LARDSIM_DDR_TIMING_H

#include "memory/ddr/ddr.h"

/* Commands of one class have the same limits. A refresh has those of an activate. */
enum ddr_class { CLASS_ACTIVATE, CLASS_PRECHARGE, CLASS_READ, CLASS_WRITE, DDR_CLASSES };

struct ddr_bank {
    uint64_t after[DDR_CLASSES]; /* a command of the class not before this cycle */
    uint64_t row;                /* the open row */
    unsigned group, rank;        /* group: counted through all ranks */
    unsigned accesses;           /* column commands since the row was opened */
    bool open;                   /* a row is open */
    bool conflict;               /* the latest precharge made way for another row */
};
struct ddr_group {
    uint64_t after[DDR_CLASSES]; /* as in a bank, for all of the group */
};
struct ddr_rank {
    uint64_t after[DDR_CLASSES]; /* as in a bank, for all of the rank */
    uint64_t refresh;            /* no refresh of a single bank before this cycle */
    uint64_t window[4];          /* the last four activates' cycles, plus tFAW: a ring */
    unsigned oldest;             /* index of the oldest in the window */
};
struct ddr_timing {
    const struct ddr_rules *rules; /* borrows */
    unsigned n;                    /* banks of the channel */
    struct ddr_bank bank[DDR_MAX_BANKS];
    struct ddr_group group[DDR_MAX_BANKS];
    struct ddr_rank rank[DDR_MAX_BANKS];
};

void ddr_timing_init(struct ddr_timing *t, const struct ddr_rules *r);
/* These functions issue a command; the caller has seen that it is allowed (ddr_ready). */
void ddr_activate(struct ddr_timing *t, unsigned bank, uint64_t row, uint64_t now);
void ddr_precharge(struct ddr_timing *t, unsigned bank, uint64_t now);
void ddr_column(struct ddr_timing *t, unsigned bank, bool write, bool precharge, uint64_t now);
void ddr_refresh_rank(struct ddr_timing *t, unsigned first, uint64_t now); /* first: its bank 0 */
void ddr_refresh_bank(struct ddr_timing *t, unsigned bank, uint64_t now);

/* The first cycle at which a command of the class is allowed, if no other comes before it. */
static inline uint64_t ddr_ready(const struct ddr_timing *t, enum ddr_class c, unsigned bank)
{
    const struct ddr_bank *b = &t->bank[bank];

    return u64_max(b->after[c], u64_max(t->group[b->group].after[c], t->rank[b->rank].after[c]));
}

#endif
