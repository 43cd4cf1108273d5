/* private.h - a program's accesses with those to private data between them (workloads/private.c).
 */
#ifndef LARDSIM_PRIVATE_H
#define LARDSIM_PRIVATE_H

#include "workloads/workloads.h"

/* Puts private accesses between those of `of`, and takes it. */
struct source *private_open(struct source *of, const struct workload_private *table);

#endif
