/* sim.h - what the command line needs of sim/ beyond the library's public header: the tables. */
#ifndef LARDSIM_SIM_H
#define LARDSIM_SIM_H

#include "base/base.h"
#include "base/param.h"
#include "base/stats.h"

extern const struct param run_param_rows[]; /* the top-level section */
extern const struct preset run_presets[];   /* presets by name */

/* Calls fn(arg, section, row) for every parameter there is: "" for the top level, "policy.vc", ...
 * A policy's section stands under its own name; an instance's label takes its place in a run. */
void sim_each_param(void (*fn)(void *arg, const char *section, const struct param *row), void *arg);
/* Every statistic of a run with all policies. */
void sim_each_stat(void (*fn)(void *arg, const char *name, const char *unit, const char *help),
                   void *arg);

#endif
