/* prove.h - which sites of a program can be part of no race, by an analysis of the program:
 * workloads/prove.c. */
#ifndef LARDSIM_PROVE_H
#define LARDSIM_PROVE_H

#include "workloads/workloads.h"

/* Runs the program of s to its end; s is still the caller's. On success to->site is the caller's,
 * too. */
int workload_prove(struct source *s, struct vm_proved *to, struct err *e);

#endif
