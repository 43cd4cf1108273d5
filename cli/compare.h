/* compare.h - the parts of `lardsim compare`: who is wrong, and what each policy costs. */
#ifndef LARDSIM_V_COMPARE_H
#define LARDSIM_V_COMPARE_H

#include "cli/cli.h"
#include "results/experiment/costs.h"

/* ---- --csv and --plot: compare_files.c ------------------------------------------------------ */

enum { OPT_CSV = 520, OPT_PLOT, OPT_SEEDS, OPT_CONVERGE };
struct compare_files {
    struct outfile *csv, *plot; /* NULL: not asked for */
};
int compare_files_open(struct compare_files *f, const struct cli *c, struct err *e);
int compare_files_commit(struct compare_files *f, struct err *e); /* closes them in any case */
void compare_files_abort(struct compare_files *f);

/* ---- on machines: compare_costs.c ----------------------------------------------------------- */

/* Runs each policy on a machine of its own, and tells what they cost. An exit code, or -1 and *e.
 */
int compare_costs(const struct cli *c, const struct given *g, struct err *e);

#endif
