/* sor.c - the program of `lardsim run workload:sor`, on real threads: red-black successive
 * over-relaxation on a square grid, rows in bands, a barrier after each half step. Its accesses to
 * the grid carry the mark. `sor N STEPS THREADS`. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "team.h"

static double **grid, *reference; /* rows; the same grid, row after row */
static size_t steps;
static pthread_barrier_t barrier;

static double relaxed(double old, double around)
{
    const double omega = 1.25;

    return omega * 0.25 * around + (1 - omega) * old;
}

static double *row(size_t i)
{
    return (double *)(uintptr_t)lard_load_u64((const uint64_t *)&grid[i]);
}

static void relax_row(size_t n, size_t i, size_t colour)
{
    double *above = row(i - 1), *here = row(i), *below = row(i + 1);

    for (size_t j = 1 + (i + colour) % 2; j < n - 1; j += 2) {
        double around = lard_load_f64(&above[j]);
        around += lard_load_f64(&below[j]);
        around += lard_load_f64(&here[j - 1]);
        around += lard_load_f64(&here[j + 1]);
        lard_store_f64(&here[j], relaxed(lard_load_f64(&here[j]), around));
    }
}

static void work(const struct member *m)
{
    for (size_t half = 0; half < 2 * steps; half++) {
        for (size_t i = 1 + team_from(m, m->n - 2); i < 1 + team_end(m, m->n - 2); i++)
            relax_row(m->n, i, half % 2);
        pthread_barrier_wait(&barrier);
    }
}

static void run_reference(size_t n)
{
    for (size_t half = 0; half < 2 * steps; half++)
        for (size_t i = 1; i < n - 1; i++)
            for (size_t j = 1 + (i + half) % 2; j < n - 1; j += 2) {
                double *at = &reference[i * n + j];
                *at = relaxed(*at, *(at - n) + at[n] + at[-1] + at[1]);
            }
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
    const size_t threads = argc > 3 ? strtoul(argv[3], NULL, 10) : 2;

    steps = argc > 2 ? strtoul(argv[2], NULL, 10) : 2;
    if (n < 3 || pthread_barrier_init(&barrier, NULL, (unsigned)threads))
        return 2;
    grid = malloc(n * sizeof *grid);
    reference = malloc(n * n * sizeof *reference);
    if (!grid || !reference)
        return 2;
    for (size_t i = 0; i < n; i++) {
        grid[i] = malloc(n * sizeof **grid);
        if (!grid[i])
            return 2;
        for (size_t j = 0; j < n; j++)
            reference[i * n + j] = grid[i][j] = (double)((i * 31 + j * 17) % 101) * 1e-6;
    }
    if (team_run(work, n, threads))
        return 1;
    run_reference(n);

    double worst = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            worst = fmax(worst, fabs(grid[i][j] - reference[i * n + j]));
    printf("sor: worst error %g\n", worst);
    return worst < 1e-15 ? 0 : 3;
}
