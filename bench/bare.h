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

struct bare_request { /* in order of cycle */
    uint64_t cycle, addr;
    bool write;
};
struct bare_outcome {
    uint64_t reads, latency, cycles; /* latency: the sum */
    double seconds;
    bool stalls; /* it came to a stand with requests on their way; what is above is until then */
};
/* Requests go to queues by channel: (addr >> shift) & mask. The library writes into folder. */
struct bare_outcome bare_run(const char *ini, const char *folder, const struct bare_request *q,
                             size_t n, unsigned shift, uint64_t mask);

#ifdef __cplusplus
}
#endif

#endif
