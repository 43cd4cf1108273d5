/* told.h - what a run tells of itself, for those who print it. */
#ifndef LARDSIM_TOLD_H
#define LARDSIM_TOLD_H

#include <stdbool.h>

#include "base/err.h"
#include "sim/lardsim.h"

/* The statistic of that name; false: the run has none, and *to is 0. */
bool run_stat(const struct lardsim *l, uint64_t *to, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* *e becomes the run's error, if it has one; before: what it is about, or "". -1. */
int run_error(const struct lardsim *l, const char *before, struct err *e);
/* Some policy has found a racy access. */
bool run_any_race(const struct lardsim *l);

#endif
