/* series.c - the program of `lardsim run workload:series`, on real threads: the first N pairs of
 * Fourier coefficients of (x+1)^x on [0, 2], each thread's in a part of its own of two arrays. What
 * it stores there carries the mark. `series N THREADS`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "team.h"

enum { STEPS = 1000 };
static double *of[2]; /* the coefficients of cosines, and of sines */

static double value(double x, double omega, unsigned which)
{
    return pow(x + 1, x) * (which ? sin(omega * x) : cos(omega * x));
}

static double integral(double omega, unsigned which)
{
    const double dx = 2.0 / STEPS;
    double x = 0, sum = value(0, omega, which) / 2;

    for (unsigned i = 0; i < STEPS - 2; i++) {
        x += dx;
        sum += value(x, omega, which);
    }
    return (sum + value(2, omega, which) / 2) * dx;
}

static void work(const struct member *m)
{
    const double pi = 3.1415926535897932;

    for (size_t i = team_from(m, m->n); i < team_end(m, m->n); i++)
        for (unsigned which = 0; which < 2; which++)
            lard_store_f64(&of[which][i], i       ? integral(pi * (double)i, which)
                                          : which ? 0
                                                  : integral(0, 0) / 2);
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 4;

    of[0] = malloc(n * sizeof **of);
    of[1] = malloc(n * sizeof **of);
    if (!n || !of[0] || !of[1])
        return 2;
    if (team_run(work, n, argc > 2 ? strtoul(argv[2], NULL, 10) : 2))
        return 1;
    /* The values of Java Grande's own results. */
    printf("series: %.12f %.12f\n", of[0][0], n > 1 ? of[1][1] : 0);
    return fabs(of[0][0] - 2.8729524964837996) < 1e-9 ? 0 : 3;
}
