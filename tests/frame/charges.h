/* charges.h - what software asks of a machine, kept in its order, and held to what a test expects
 * in the words of the software's own table of steps.
 *
 * An expectation is a list, as in
 *     "call, 2 nest, load thread 0's word, thread-word, store lock's clock:4, 3 instructions"
 * which names steps of the table, each as often as the number before it says; accesses (load,
 * store, swap) by the place that the rig calls so, with their bytes where they are not 8;
 * instructions of no step; and what else the rig puts down. "core 1" goes before what another core
 * asks. An access is an instruction itself, but one that begins with "further", the second line of
 * what one instruction reads or writes. "37 in all" ends a list: its instructions as counted by
 * hand, which no change of the table changes. */
#ifndef LARDSIM_TESTS_CHARGES_H
#define LARDSIM_TESTS_CHARGES_H

#include <stdlib.h>

#include "policy/policy.h"

struct charge {
    unsigned core;
    uint64_t instructions; /* up to it, itself included */
    char what[96];         /* as an expectation says it; "": the list ends with instructions */
};
struct charges {
    struct charge *list; /* owns */
    size_t n, cap;
    uint64_t total; /* of an expectation: "37 in all" */
    bool free;      /* instructions are not charged */
    /* How often a step has been counted; UINT64_MAX: it is not. NULL: none is. */
    uint64_t (*counted)(const void *arg, const char *step);
    const void *arg;
    struct charge_step { /* owns */
        const char *name;
        unsigned instructions;
        uint64_t counted, expected;
    } * step;
    size_t steps, step_cap;
};

void charges_step(struct charges *c, const char *name,
                  unsigned instructions); /* it may expect it */
void charges_free(struct charges *c);
void charges_forget(struct charges *c); /* what has been asked up to here */

/* ---- the rig's part ------------------------------------------------------------------------- */

void charges_instructions(struct charges *c, unsigned core, uint64_t n);
void charges_access(struct charges *c, unsigned core, enum mem_cmd cmd, const char *place,
                    unsigned bytes);
void charges_other(struct charges *c, unsigned core, const char *what);

/* ---- the test's ----------------------------------------------------------------------------- */

/* NULL: all that was asked since is what is expected. Else a text, the caller's, that says what
 * differs first. Forgets. */
char *charges_differ(struct charges *c, const char *expected);
/* All of it in one line: the caller's. */
char *charges_text(const struct charges *c);

#define charges_are(c, expected)                                                                   \
    do {                                                                                           \
        char *differ_ = charges_differ(c, expected);                                               \
        if (differ_)                                                                               \
            fail_msg("%s", differ_);                                                               \
    } while (0)

#endif
