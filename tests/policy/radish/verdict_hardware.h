/* verdict_hardware.h - random hardware for t_verdict: parameters of the detectors in hardware, and
 * caches that forget all the time, or no machine. */
#ifndef LARDSIM_VERDICT_HARDWARE_H
#define LARDSIM_VERDICT_HARDWARE_H

#include "tests/policy/radish/fake_caches.h"
#include "tests/frame/verdict.h"

enum { HARDWARE_SETTINGS = 14 };

/* What must happen now and then, or the runs tell little: statistics of the policy. */
extern const char *const hardware_seen[]; /* a NULL ends it */
enum { HARDWARE_SEEN = 12 };

struct hardware { /* one draw; it serves any number of runs */
    uint64_t seed;
    bool machine;
    unsigned cores, line, private_lines, shared_lines, loss;
    uint64_t mixes;
    char text[HARDWARE_SETTINGS][48];
    const char *setting[HARDWARE_SETTINGS + 1];
    struct fake fake; /* of the run in hand */
    struct verdict_host host;
    unsigned shift;       /* threads go from core to core */
    uint64_t events;      /* of it */
    const void *detector; /* its invariants are checked, too */
    struct verdict_hardware is;
    uint64_t *seen; /* borrowed: sums of hardware_seen */
};

bool hardware_policy(const char *policy); /* it is one of these */
void hardware_draw(struct hardware *h, struct rng *r, uint64_t *seen);
void hardware_print(const struct hardware *h, FILE *out);

#endif
