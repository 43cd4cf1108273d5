/* sor.c - successive over-relaxation on a square grid, red points and black points in turn: a
 * point's neighbours are all of the other colour, so those of one colour can be done in any order
 * and by any thread. After Java Grande's SOR, whose threads wait for their neighbours only; here a
 * barrier ends each half step. Rows are arrays; each thread has a band of them and reads one row
 * beyond each edge. No locks, and no race: what one half step writes only the next one reads. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(NEW, "Sor.init:12")                                                                          \
    X(INIT, "Sor.init:15")                                                                         \
    X(FORK, "Sor.run:24")                                                                          \
    X(ROWS, "Sor.relax:33")                                                                        \
    X(READ, "Sor.relax:37")                                                                        \
    X(WRITE, "Sor.relax:38")                                                                       \
    X(BARRIER, "Sor.run:44")                                                                       \
    X(VERIFY, "Sor.validate:51")
VM_SITES(SITES)

struct sor_params {
    uint64_t n, steps;
};
struct sor {
    const struct sor_params *p;
    struct vm_ref *grid; /* an array of rows */
    double *host;        /* the reference: the same grid, row after row */
};

/* omega > 1 goes beyond the mean of the neighbours, which is what over-relaxation means. */
static double relaxed(double old, double around)
{
    const double omega = 1.25;

    return omega * 0.25 * around + (1 - omega) * old;
}

static void init(struct vm_thread *t, struct sor *s)
{
    const uint64_t n = s->p->n;
    struct vm_ref *row = vm_enter(t, 1);

    s->host = vm_scratch(t, n * n, sizeof *s->host);
    s->grid = team_array(t, VM_REF, n, AT_NEW);
    for (uint64_t i = 0; i < n; i++) {
        vm_new_array(t, row, VM_F64, n, AT_NEW);
        vm_store_ref(t, s->grid, i, row, AT_INIT);
        for (uint64_t j = 0; j < n; j++) {
            s->host[i * n + j] = team_uniform(vm_rng(t)) * 1e-6;
            vm_store_f64(t, row, j, s->host[i * n + j], AT_INIT);
        }
    }
    vm_leave(t, row);
}

enum { POINT = 6 + VM_LOOP }; /* four additions, two multiplications */

/* Relaxes the points of row i whose colour is in turn. */
static void relax_row(struct vm_thread *t, struct sor *s, struct vm_ref row[3], uint64_t i,
                      uint64_t colour)
{
    for (unsigned k = 0; k < 3; k++)
        vm_load_ref(t, &row[k], s->grid, i - 1 + k, AT_ROWS);
    for (uint64_t j = 1 + (i + colour) % 2; j < s->p->n - 1; j += 2) {
        double around = vm_load_f64(t, &row[0], j, AT_READ);
        around += vm_load_f64(t, &row[2], j, AT_READ);
        around += vm_load_f64(t, &row[1], j - 1, AT_READ);
        around += vm_load_f64(t, &row[1], j + 1, AT_READ);
        const double old = vm_load_f64(t, &row[1], j, AT_READ);
        vm_compute(t, POINT);
        vm_store_f64(t, &row[1], j, relaxed(old, around), AT_WRITE);
    }
}

/* Row 0 and the last one are the border: read, never relaxed. */
static void work(struct vm_thread *t, const struct member *m)
{
    struct sor *s = m->job;
    const uint64_t inner = s->p->n - 2, end = 1 + team_end(m, inner);
    struct vm_ref *row = vm_enter(t, 3);

    for (uint64_t half = 0; half < 2 * s->p->steps; half++) {
        for (uint64_t i = 1 + team_from(m, inner); i < end; i++)
            relax_row(t, s, row, i, half % 2);
        team_wait(t, m, AT_BARRIER);
        if (half % 2)
            team_iterated(t, m, half / 2);
    }
    vm_leave(t, row);
}

/* The reference: the same arithmetic in the same order, without threads, so that results are equal
 * but for rounding. */
static void host_run(struct sor *s)
{
    const uint64_t n = s->p->n;

    for (uint64_t half = 0; half < 2 * s->p->steps; half++)
        for (uint64_t i = 1; i < n - 1; i++)
            for (uint64_t j = 1 + (i + half) % 2; j < n - 1; j += 2) {
                double *at = &s->host[i * n + j];
                *at = relaxed(*at, at[-(ptrdiff_t)n] + at[n] + at[-1] + at[1]);
            }
}

static void verify(struct vm_thread *t, struct sor *s)
{
    const uint64_t n = s->p->n;
    struct vm_ref *row = vm_enter(t, 1);

    host_run(s);
    for (uint64_t i = 0; i < n; i++) {
        vm_load_ref(t, row, s->grid, i, AT_VERIFY);
        for (uint64_t j = 0; j < n; j++) {
            const double is = vm_load_f64(t, row, j, AT_VERIFY), want = s->host[i * n + j];
            vm_check(t, fabs(is - want) < 1e-15, "sor: point (%u, %u) is %g, not %g", (unsigned)i,
                     (unsigned)j, is, want);
        }
    }
    vm_leave(t, row);
}

static void sor_main(struct vm_thread *t, const void *p)
{
    struct sor s = {.p = p};

    vm_phase(t, "init");
    init(t, &s);
    team_measure_grande(t, "relax", work, &s, AT_FORK);
    verify(t, &s);
}

static const struct param sor_rows[] = {
    ROW_U64(sor, n, "50", 3, 20000, "points", "Side of the grid."),
    ROW_U64(sor, steps, "10", 0, 1000000, "", "Times that each point is relaxed."),
    PARAM_END,
};

const struct workload workload_sor = {
    WORKLOAD_CALLED(sor),
    .with = {385, 385, 385, 277, 277},
    .summary = "red-black successive over-relaxation, with barriers",
    .source = "grande",
    .length = "steps",
    .sizes = {"n=50,steps=10", "n=250,steps=10", "n=1000,steps=20", "n=1024,steps=4"},
    .took = {315, 328},
};
