/* estimate.c - mean and 95 percent interval of a few numbers. */
#include "results/read/estimate.h"

#include <math.h>

#include "base/base.h"

/* Student's t by the tables of the distribution; beyond them its expansion in 1 / degrees around
 * the normal quantile (Cornish and Fisher), which is then right to four decimals. */
double estimate_t(size_t degrees)
{
    static const double table[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060,
                                   2.2622,  2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199,
                                   2.1098,  2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639,
                                   2.0595,  2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
    const double z = 1.959964, z2 = z * z, v = (double)degrees;

    if (degrees <= ARRAY_SIZE(table))
        return table[degrees ? degrees - 1 : 0];
    return z * (1 + (z2 + 1) / (4 * v) + ((5 * z2 + 16) * z2 + 3) / (96 * v * v) +
                (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * v * v * v));
}

/* Adds up distances from the first number: numbers that are all the same have exactly that mean. */
static double mean_of(const double *x, size_t n, size_t used)
{
    double first = NAN, sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i]))
            continue;
        first = isnan(first) ? x[i] : first;
        sum += x[i] - first;
    }
    return first + sum / (double)used;
}

struct estimate estimate_of(const double *x, size_t n)
{
    struct estimate s = {0, NAN, NAN, NAN, NAN};
    double squares = 0;

    for (size_t i = 0; i < n; i++) {
        s.n += isnan(x[i]) ? 0 : 1;
        s.least = fmin(s.least, x[i]);
        s.most = fmax(s.most, x[i]);
    }
    if (!s.n)
        return s;
    s.mean = mean_of(x, n, s.n);
    for (size_t i = 0; i < n; i++)
        squares += isnan(x[i]) ? 0 : (x[i] - s.mean) * (x[i] - s.mean);
    if (s.n > 1)
        s.half = estimate_t(s.n - 1) * sqrt(squares / (double)(s.n - 1) / (double)s.n);
    return s;
}

int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The rank of x[i] among the others, from 0, less the mean of all ranks. */
static double rank_of(const double *x, size_t n, size_t i)
{
    double less = 0, equal = 0;

    for (size_t k = 0; k < n; k++) {
        less += x[k] < x[i];
        equal += x[k] == x[i];
    }
    return less + (equal - 1) / 2 - ((double)n - 1) / 2;
}

double rank_correlation(const double *a, const double *b, size_t n)
{
    double ab = 0, aa = 0, bb = 0;

    for (size_t i = 0; i < n; i++) {
        const double x = rank_of(a, n, i), y = rank_of(b, n, i);
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}
