/* judge.h - a judge of DRAM command streams, for tests: every command is held against every
 * other of the last cycles, by the definitions of the timing parameters alone. It shares nothing
 * with the model but the parameters and the names of commands. */
#ifndef LARDSIM_DDR_JUDGE_H
#define LARDSIM_DDR_JUDGE_H

#include "memory/ddr/ddr.h"

struct judged {
    uint64_t cycle;
    enum ddr_command command;
    struct ddr_place at;
    uint64_t precharged; /* of one that precharges by itself: when that begins */
};
struct judge_bank {
    bool open;
    uint64_t row, activated;
};
struct judge {
    const struct ddr_device *d;            /* borrows */
    uint64_t window;                       /* no rule reaches further back */
    struct judged *past[DDR_MAX_CHANNELS]; /* owns; of each channel, oldest first */
    size_t n[DDR_MAX_CHANNELS], cap[DDR_MAX_CHANNELS], from[DDR_MAX_CHANNELS];
    struct judge_bank bank[DDR_MAX_CHANNELS][DDR_MAX_BANKS];
    uint64_t refreshed[DDR_MAX_CHANNELS][DDR_MAX_BANKS]; /* by rank, or bank */
    uint64_t seen[DDR_COMMANDS];
    uint64_t faults;
    char first[300]; /* fault */
};

void judge_begin(struct judge *j, const struct ddr_device *d);
void judge_see(void *judge, uint64_t cycle, enum ddr_command c, const struct ddr_place *at);
/* Every rank (or bank) had its refreshes: never later than nine intervals, as the standards allow.
 */
void judge_end(struct judge *j, uint64_t cycle);
void judge_free(struct judge *j);

#endif
