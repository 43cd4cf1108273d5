/* lufact.c - LU factorisation with partial pivoting; after Java Grande's LUFact, which is Linpack.
 * Columns belong to the threads in turn; a barrier before each pivot and after. Every repetition
 * factorises the same matrix. */
#include <math.h>

#include <team.h>

enum { N = 120 };
static double **matrix, **original;
static int *pivot;

static void setup(void)
{
    matrix = team_get(N, sizeof *matrix);
    original = team_get(N, sizeof *original);
    pivot = team_get(N, sizeof *pivot);
    for (int j = 0; j < N; j++) {
        matrix[j] = team_get(N, sizeof **matrix);
        original[j] = team_get(N, sizeof **original);
        for (int i = 0; i < N; i++)
            original[j][i] = 2 * team_random() - 1;
    }
}

static void make_pivot(int k)
{
    double *column = matrix[k], was;
    int best = k;

    for (int i = k + 1; i < N; i++)
        if (fabs(column[i]) > fabs(column[best]))
            best = i;
    pivot[k] = best;
    was = column[best];
    column[best] = column[k];
    column[k] = was;
    for (int i = k + 1; i < N; i++)
        column[i] *= -1 / was;
}

static void update(double *column, int k)
{
    const double *from = matrix[k];
    const double factor = column[pivot[k]];

    column[pivot[k]] = column[k];
    column[k] = factor;
    for (int i = k + 1; i < N; i++)
        column[i] += factor * from[i];
}

static void work(unsigned member, unsigned members)
{
    for (int j = (int)member; j < N; j += (int)members)
        for (int i = 0; i < N; i++)
            matrix[j][i] = original[j][i];
    for (int k = 0; k < N - 1; k++) {
        if ((unsigned)k % members == member)
            make_pivot(k);
        team_wait();
        for (int j = (int)member; j < N; j += (int)members)
            if (j > k)
                update(matrix[j], k);
    }
    team_wait();
}

static double result(void)
{
    double sum = 0;

    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            sum += matrix[j][i];
    return sum;
}
