/* compare.h - the parts of `lardsim compare`: who is wrong, and what each policy costs. */
#ifndef LARDSIM_V_COMPARE_H
#define LARDSIM_V_COMPARE_H

#include "cli/cli.h"
#include "results/experiment/costs.h"

enum { OPT_CSV = 520, OPT_PLOT, OPT_SEEDS, OPT_CONVERGE };
enum { COMPARE_CSV, COMPARE_PLOT };
/* Opens the files of --csv and --plot, which may not be mixed with the page. */
int compare_outputs(struct outputs *o, const struct cli *c, struct err *e);

/* ---- on machines: compare_costs.c ----------------------------------------------------------- */

/* Runs each policy on a machine of its own, and tells what they cost. An exit code, or -1 and *e.
 */
int compare_costs(const struct cli *c, const struct given *g, struct err *e);

#endif
