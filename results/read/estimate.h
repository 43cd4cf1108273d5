/* estimate.h - the mean of some runs of one thing with different seeds, and how far it can be
 * trusted: the 95 percent interval of the mean, by Student's t with n - 1 degrees of freedom. */
#ifndef LARDSIM_ESTIMATE_H
#define LARDSIM_ESTIMATE_H

#include <stddef.h>

struct estimate {
    size_t n;
    double mean, least, most; /* NAN: there are none */
    double half;              /* the interval goes from mean - half to mean + half; NAN: n < 2 */
};
/* A value that is no number is left out. */
struct estimate estimate_of(const double *x, size_t n);
/* Spearman's rank correlation; equal ones share the mean of their ranks. NAN: there is none. */
double rank_correlation(const double *a, const double *b, size_t n);
int by_size(const void *a, const void *b); /* two doubles, for qsort */
/* Student's t, two-sided, 95 percent; at least one degree of freedom. */
double estimate_t(size_t degrees);

#endif
