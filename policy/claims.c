/* claims.c - the names of what policies promise. */
#include "policy/claims.h"

const struct claim_info claim_info[] = {
#define CLAIM(NAME, text, help) {text, help},
#include "policy/claims.def"
#undef CLAIM
};
const struct claim_info conflict_info[] = {
#define CONFLICT(NAME, text, help) {text, help},
#include "policy/claims.def"
#undef CONFLICT
};
const struct claim_info history_info[] = {
    [HISTORY_OWN] = {"its own", "What a rule of the policy's own remembers."},
    [HISTORY_LAST] = {"last", "The last write, and since it the last read of each thread."},
    [HISTORY_ALL] = {"all", "The last write and the last read of each thread."},
};
