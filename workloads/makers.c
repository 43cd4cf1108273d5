/* makers.c - sources without a file, beside the generator (trace.h). */
#include "workloads/workloads.h"

static const struct source_maker maker_workload = {"workload", workload_open};

const struct source_maker *const source_makers[] = {&maker_workload, NULL};
