/* seeds.h - what tests of random cases take: FIRST-SEED [SEEDS [POLICY]], as in
 * `t_verdict 1000000 20000 vc`. */
#ifndef LARDSIM_TESTS_SEEDS_H
#define LARDSIM_TESTS_SEEDS_H

#include <stdint.h>
#include <stdlib.h>

struct seeds {
    uint64_t first, n;
    const char *policy;
};

/* n, policy: where nothing else is said. */
static inline struct seeds seeds_arg(int argc, char **argv, uint64_t n, const char *policy)
{
    return (struct seeds){argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
                          argc > 2 ? strtoull(argv[2], NULL, 10) : n, argc > 3 ? argv[3] : policy};
}

#endif
