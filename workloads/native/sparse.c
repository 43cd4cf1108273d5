/* sparse.c - a sparse matrix times a vector, added up; after Java Grande's SparseMatmult. Entries
 * are sorted by row, and each thread has whole rows; columns are random. */
#include <team.h>

enum { N = 20000, PER_ROW = 5, ENTRIES = N * PER_ROW };
static int *row, *column;
static double *value, *x, *y;

static void setup(void)
{
    row = team_get(ENTRIES, sizeof *row);
    column = team_get(ENTRIES, sizeof *column);
    value = team_get(ENTRIES, sizeof *value);
    x = team_get(N, sizeof *x);
    y = team_get(N, sizeof *y);
    for (int k = 0; k < ENTRIES; k++) {
        row[k] = k / PER_ROW;
        column[k] = (int)(team_random() * N);
        value[k] = team_random();
    }
    for (int i = 0; i < N; i++)
        x[i] = team_random() * 1e-6;
}

static void work(unsigned member, unsigned members)
{
    for (size_t k = team_part(N, member, members) * PER_ROW,
                end = team_part(N, member + 1, members) * PER_ROW;
         k < end; k++)
        y[row[k]] += x[column[k]] * value[k];
}

static double result(void)
{
    double sum = 0;

    for (int i = 0; i < N; i++)
        sum += y[i];
    return sum / (double)team_repeats;
}
