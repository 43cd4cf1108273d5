/* v_compare.h - the part of `lardsim compare` that runs each policy on a machine of its own. */
#ifndef LARDSIM_V_COMPARE_H
#define LARDSIM_V_COMPARE_H

#include "cli/cli.h"
#include "sim/lardsim.h"

/* ---- a run of each policy: v_compare_machine.c ---------------------------------------------- */

enum cost { /* what is shown of a run, beside where its cycles went */
            COST_CORES,
            COST_CYCLES,
            COST_RACES,
            COST_SITES,
            COST_LOCATIONS,
            COST_METADATA,
            COST_METADATA_MISSES,
            COST_REMOTE,
            COST_BYTES,      /* of metadata, at the end */
            COST_BYTES_PEAK, /* the most at any time */
            COSTS
};
enum cost_spent { /* where cores spend their time: sim/spent.def */
#define SPENT(NAME, text, help) COST_SPENT_##NAME,
#include "sim/spent.def"
#undef SPENT
                  COST_SPENTS
};
struct costs {              /* of one policy */
    char *label, *property; /* own; property: what the policy's verdicts are about */
    uint64_t cost[COSTS], spent[COST_SPENTS];
    uint64_t events, digest;
    bool has_bytes; /* it counts its metadata */
};
struct cost_table {
    const char *source;
    const char *output;                /* NULL: none */
    struct costs *row;                 /* owns; the first is of the machine without a policy */
    size_t n;                          /* that are complete */
    char *order, *contention, *memory; /* own; of the machine */
    uint64_t frequency;
    const struct err *error; /* of the run after those that are complete; code 0: there is none */
};

/* Whether what is given sets up a machine, and asks for what the policies cost on it. */
int compare_machine_wanted(const struct cli *c, bool *wanted, struct err *e);
int compare_machine(const struct cli *c, struct err *e); /* an exit code, or -1 and *e */

/* ---- the page: v_compare_page.c ------------------------------------------------------------- */

void cost_table_text(const struct cost_table *t);
void cost_table_json(FILE *out, const struct cost_table *t);

#endif
