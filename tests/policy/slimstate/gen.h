/* gen.h - random executions on arrays: strided sweeps and single accesses by several threads,
 * more or less protected by locks or parted by barriers; allocations, clears, copies. */
#ifndef LARDSIM_TESTS_SLIM_GEN_H
#define LARDSIM_TESTS_SLIM_GEN_H

#include "base/rng.h"
#include "tests/frame/verdict.h"

struct slim_gen_options {
    unsigned granule;  /* heap events are aligned to 8 in any case */
    bool plain;        /* no atomics, no transactions, no pieces of elements */
    uint64_t events;   /* about */
    uint64_t protect;  /* per mille of the sweeps are protected */
    uint64_t elements; /* of an array, at most */
};
enum { SLIM_GEN_BASE = 0x10000, SLIM_GEN_PLACE = 0x400, SLIM_GEN_PLACES = 12 };

/* Obeys the stream rules. */
void slim_gen(struct rng *r, const struct slim_gen_options *o, struct stream *s);

#endif
