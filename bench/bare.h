/* bare.h - DRAMSim3 by itself: open-loop requests given to its own interface, with the user's file
 * as it is. What the adapter does is held against it (bench/memories.c). */
#ifndef LARDSIM_BENCH_BARE_H
#define LARDSIM_BENCH_BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bare_request {         /* in order of cycle */
    uint64_t at, cycle, addr; /* the processor's cycle; that of the memory that takes it in */
    bool write;
};
struct bare_device {
    const char *ini, *folder; /* folder: the library writes there */
    unsigned shift;           /* requests go to queues by channel: (addr >> shift) & mask */
    uint64_t mask;
    uint64_t num, den; /* a memory cycle is num / den processor cycles */
};
struct bare_outcome {
    uint64_t reads, latency, cycles; /* latency: the sum, in processor cycles */
    double seconds;
    bool stalls; /* it came to a stand with requests on their way; what is above is until then */
};
struct bare_outcome bare_run(const struct bare_device *d, const struct bare_request *q, size_t n);

#ifdef __cplusplus
}
#endif

#endif
