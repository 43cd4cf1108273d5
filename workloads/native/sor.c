/* sor.c - successive over-relaxation on a grid, red points and black points in turn; after Java
 * Grande's SOR, with a barrier after each half step. Each thread has a band of rows. */
#include <team.h>

enum { N = 250, STEPS = 2 };
static double **grid;

static void setup(void)
{
    grid = team_get(N, sizeof *grid);
    for (int i = 0; i < N; i++) {
        grid[i] = team_get(N, sizeof **grid);
        for (int j = 0; j < N; j++)
            grid[i][j] = team_random() * 1e-6;
    }
}

static void relax(size_t i, size_t colour)
{
    const double omega = 1.25;
    const double *above = grid[i - 1], *below = grid[i + 1];
    double *row = grid[i];

    for (size_t j = 1 + (i + colour) % 2; j < N - 1; j += 2)
        row[j] =
            omega * 0.25 * (above[j] + below[j] + row[j - 1] + row[j + 1]) + (1 - omega) * row[j];
}

static void work(unsigned member, unsigned members)
{
    for (size_t half = 0; half < 2 * STEPS; half++) {
        for (size_t i = 1 + team_part(N - 2, member, members);
             i < 1 + team_part(N - 2, member + 1, members); i++)
            relax(i, half % 2);
        team_wait();
    }
}

static double result(void)
{
    double sum = 0;

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += grid[i][j];
    return sum;
}
