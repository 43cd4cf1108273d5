/* csv.h - CSV, written. Read: input.h. */
#ifndef LARDSIM_CSV_H
#define LARDSIM_CSV_H

#include <stdint.h>
#include <stdio.h>

void csv_field(FILE *out, const char *text); /* quoted where it has to be */
/* "0.250000": a / b - 1, rounded, by integers, the same text everywhere; b > 0. Owned by the
 * caller. */
char *csv_excess(uint64_t a, uint64_t b);

#endif
