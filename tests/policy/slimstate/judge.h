/* judge.h - holds slimstate to the oracle on one stream: the same racy locations, each in its
 * life, and both sides of each report name accesses, or regions with accesses, that race. */
#ifndef LARDSIM_TESTS_SLIM_JUDGE_H
#define LARDSIM_TESTS_SLIM_JUDGE_H

#include "tests/frame/verdict.h"

struct slim_case {
    unsigned granule;
    const struct verdict_view *view;
    const char *setting[8]; /* of the policy, beside the view; NULL ends them */
};
struct slim_judged {
    uint64_t locations, late,
        compressed; /* racy locations, reports by regions, accesses gathered */
};

/* True: it differs, and why says where. Streams that one of both refuses agree if both do. */
bool slim_differs(const struct stream *s, const struct slim_case *c, struct slim_judged *j,
                  char *why, size_t room);

#endif
