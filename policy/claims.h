/* claims.h - what a policy's verdicts promise: how much (claims), of which conflicts, and against
 * which history. From it compare takes who may be the truth, and the tests what the oracle holds
 * the policy to. */
#ifndef LARDSIM_CLAIMS_H
#define LARDSIM_CLAIMS_H

/* Bits, in the order of claims.def. */
enum policy_claim {
#define CLAIM(NAME, text, help) CLAIM_##NAME##_BIT,
#include "policy/claims.def"
#undef CLAIM
    CLAIMS,
#define CLAIM(NAME, text, help) CLAIM_##NAME = 1 << CLAIM_##NAME##_BIT,
#include "policy/claims.def"
#undef CLAIM
};

/* Bits: the kind of the later access after the kind of the earlier one. */
enum policy_conflict {
#define CONFLICT(NAME, text, help) CONFLICT_##NAME##_BIT,
#include "policy/claims.def"
#undef CONFLICT
    CONFLICT_KINDS,
#define CONFLICT(NAME, text, help) CONFLICT_##NAME = 1 << CONFLICT_##NAME##_BIT,
#include "policy/claims.def"
#undef CONFLICT
    CONFLICT_ALL = (1 << CONFLICT_KINDS) - 1
};

/* The earlier accesses to a location that a later one is held against (docs/policies/vc.md). */
enum policy_history {
    HISTORY_OWN,  /* as a rule of the policy's own says, which no oracle of happens-before knows */
    HISTORY_LAST, /* the last write, and since it each thread's last read */
    HISTORY_ALL   /* each thread's last write and last read */
};

struct promise {
    unsigned claims;    /* bits of enum policy_claim */
    unsigned conflicts; /* bits of enum policy_conflict; of others it says nothing */
    enum policy_history history;
    const char *property; /* what the verdicts are about; NULL: what conflicts and history say */
};

struct claim_info {
    const char *name, *help;
};
extern const struct claim_info claim_info[], conflict_info[], history_info[];

#endif
