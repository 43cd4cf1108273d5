/* dramsim3_int.h - DRAMSim3 as C sees it. For memory/dramsim3/ only; others use memory.h. */
#ifndef LARDSIM_DRAMSIM3_INT_H
#define LARDSIM_DRAMSIM3_INT_H

#include <stdbool.h>
#include <stdint.h>

#ifndef __cplusplus
#include "base/param.h"

/* dramsim3/params.c: also where the library is not. */
#define DRAMSIM3_SUMMARY "DRAMSim3, every memory cycle of it"
struct dramsim3_params {
    const char *config, *output;
};
extern const struct param dramsim3_rows[];
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* dramsim3/glue.cc. Objects may not be used by two threads at a time, not even different ones. */
struct dram3;
typedef void dram3_answer(void *arg, uint64_t addr); /* the read of addr that was made first */

/* Ends the process where the file is bad: check it before. NULL: any other failure. */
struct dram3 *dram3_open(const char *ini, const char *folder, dram3_answer *answer, void *arg);
void dram3_close(struct dram3 *d);          /* NULL is fine */
uint64_t dram3_line(const struct dram3 *d); /* bytes of a request */
bool dram3_accepts(const struct dram3 *d, uint64_t addr, bool write);
/* Adds a request that DRAMSim3 accepts. True: it is a read that is answered in the next cycle, from
 * a write in the queue. */
bool dram3_add(struct dram3 *d, uint64_t addr, bool write);
void dram3_tick(struct dram3 *d); /* works through a cycle; answers that are due in it come first */
struct dram3_count {              /* over all channels, so far */
    uint64_t hits, reads, writes, activates, precharges, refreshes; /* commands */
    uint64_t stalls; /* times that it was helped over a write that waits for a read */
};
void dram3_counts(const struct dram3 *d, struct dram3_count *to);
void dram3_print(const struct dram3 *d); /* its statistics, into its folder */

/* dramsim3/open.c. Checks all that would make the library end the process, then opens it. NULL:
 * error. */
struct ddr_device;
struct err;
struct dram3_setup {
    const char *config, *output; /* the parameters; output: empty: none */
    unsigned line;
    dram3_answer *answer;
    void *arg;
};
struct dram3 *dram3_make(const struct dram3_setup *s, struct ddr_device *device, struct err *e);

#ifdef __cplusplus
}
#endif

#endif
