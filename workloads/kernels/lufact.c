/* lufact.c - solves linear equations by LU factorisation with partial pivoting; after Java Grande's
 * LUFact, which is Linpack. Columns are arrays, and belong to the threads in turn (k modulo
 * threads), so that all have work to the end. Column k is read by all after its owner has made its
 * pivot, which the barrier orders; only its owner writes a column. One barrier a column does, as
 * the owner of the next has itself brought that up to date; the original has more. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(NEW, "Linpack.matgen:14")                                                                    \
    X(INIT, "Linpack.matgen:20")                                                                   \
    X(FORK, "Linpack.runBenchmark:28")                                                             \
    X(COLUMN, "Linpack.dgefa:36")                                                                  \
    X(PIVOT, "Linpack.dgefa:39")                                                                   \
    X(SWAP, "Linpack.dgefa:46")                                                                    \
    X(BARRIER, "Linpack.dgefa:52")                                                                 \
    X(IDAMAX, "Linpack.idamax:60")                                                                 \
    X(DSCAL, "Linpack.dscal:68")                                                                   \
    X(DAXPY, "Linpack.daxpy:77")                                                                   \
    X(DGESL, "Linpack.dgesl:85")                                                                   \
    X(VERIFY, "Linpack.validate:97")
VM_SITES(SITES)

struct lufact_params {
    uint64_t n;
};
struct lufact {
    uint64_t n;
    struct vm_ref *matrix; /* an array of columns */
    struct vm_ref *pivot;  /* by column, its pivot's row */
    struct vm_ref *b;      /* the right side, then the solution */
};

/* Each row's sum is the right side: the solution is all ones, which verify knows without computing.
 */
static void init(struct vm_thread *t, struct lufact *l)
{
    struct vm_ref *column = vm_enter(t, 1);
    double *sum = vm_scratch(t, l->n, sizeof *sum);

    l->matrix = team_array(t, VM_REF, l->n, AT_NEW);
    l->pivot = team_array(t, VM_I32, l->n, AT_NEW);
    l->b = team_array(t, VM_F64, l->n, AT_NEW);
    for (uint64_t j = 0; j < l->n; j++) {
        vm_new_array(t, column, VM_F64, l->n, AT_NEW);
        vm_store_ref(t, l->matrix, j, column, AT_INIT);
        for (uint64_t i = 0; i < l->n; i++) {
            const double value = 2 * team_uniform(vm_rng(t)) - 1;
            sum[i] += value;
            vm_store_f64(t, column, i, value, AT_INIT);
        }
    }
    for (uint64_t i = 0; i < l->n; i++)
        vm_store_f64(t, l->b, i, sum[i], AT_INIT);
    vm_leave(t, column);
}

/* Exchanges rows k and best of a column. Returns what row k is now. */
static double exchange(struct vm_thread *t, struct vm_ref *column, uint64_t k, uint64_t best)
{
    const double now = vm_load_f64(t, column, best, AT_SWAP);

    if (best != k) {
        vm_store_f64(t, column, best, vm_load_f64(t, column, k, AT_SWAP), AT_SWAP);
        vm_store_f64(t, column, k, now, AT_SWAP);
    }
    return now;
}

/* The largest element of what is left of the column: dividing by it keeps rounding errors small. */
static void find_pivot(struct vm_thread *t, struct lufact *l, uint64_t k, struct vm_ref *column)
{
    uint64_t best = k;

    vm_load_ref(t, column, l->matrix, k, AT_COLUMN);
    double most = fabs(vm_load_f64(t, column, k, AT_IDAMAX));
    for (uint64_t i = k + 1; i < l->n; i++) {
        const double size = fabs(vm_load_f64(t, column, i, AT_IDAMAX));
        vm_compute(t, 3 + VM_LOOP); /* absolute value, compare, branch */
        if (size > most) {
            most = size;
            best = i;
        }
    }
    vm_store_i32(t, l->pivot, k, (int32_t)best, AT_PIVOT);
    /* The negative reciprocal, so that elimination adds: Linpack's daxpy. */
    const double factor = -1 / exchange(t, column, k, best);
    for (uint64_t i = k + 1; i < l->n; i++) {
        const double value = vm_load_f64(t, column, i, AT_DSCAL);
        vm_compute(t, 1 + VM_LOOP);
        vm_store_f64(t, column, i, value * factor, AT_DSCAL);
    }
}

/* Adds factor times `from` to `to`, rows [first, end). */
static void column_add(struct vm_thread *t, struct vm_ref *to, struct vm_ref *from, double factor,
                       uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        const double x = vm_load_f64(t, from, i, AT_DAXPY);
        const double y = vm_load_f64(t, to, i, AT_DAXPY);
        vm_compute(t, 2 + VM_LOOP); /* multiply, add */
        vm_store_f64(t, to, i, y + factor * x, AT_DAXPY);
    }
}

static void work(struct vm_thread *t, const struct member *m)
{
    struct lufact *l = m->job;
    struct vm_ref *r = vm_enter(t, 2), *column = &r[0], *other = &r[1];

    for (uint64_t k = 0; k + 1 < l->n; k++) {
        if (k % m->of == m->id)
            find_pivot(t, l, k, column);
        team_wait(t, m, AT_BARRIER);
        vm_load_ref(t, column, l->matrix, k, AT_COLUMN);
        const uint32_t best = (uint32_t)vm_load_i32(t, l->pivot, k, AT_PIVOT);
        for (uint64_t j = k + 1; j < l->n; j++)
            if (j % m->of == m->id) {
                vm_load_ref(t, other, l->matrix, j, AT_COLUMN);
                column_add(t, other, column, exchange(t, other, k, best), k + 1, l->n);
            }
    }
    vm_leave(t, r);
}

/* Back substitution, by the first thread alone, as in Linpack. */
static void solve(struct vm_thread *t, struct lufact *l)
{
    struct vm_ref *column = vm_enter(t, 1);

    for (uint64_t k = 0; k + 1 < l->n; k++) {
        const uint32_t best = (uint32_t)vm_load_i32(t, l->pivot, k, AT_DGESL);
        vm_load_ref(t, column, l->matrix, k, AT_DGESL);
        column_add(t, l->b, column, exchange(t, l->b, k, best), k + 1, l->n);
    }
    for (uint64_t k = l->n; k-- > 0;) {
        vm_load_ref(t, column, l->matrix, k, AT_DGESL);
        const double sum = vm_load_f64(t, l->b, k, AT_DGESL);
        const double x = sum / vm_load_f64(t, column, k, AT_DGESL);
        vm_store_f64(t, l->b, k, x, AT_DGESL);
        column_add(t, l->b, column, -x, 0, k);
    }
    vm_leave(t, column);
}

static void verify(struct vm_thread *t, struct lufact *l)
{
    for (uint64_t i = 0; i < l->n; i++) {
        const double is = vm_load_f64(t, l->b, i, AT_VERIFY);
        vm_check(t, fabs(is - 1) < 1e-4, "lufact: unknown %u is %.17g, not 1", (unsigned)i, is);
    }
}

static void lufact_main(struct vm_thread *t, const void *p)
{
    struct lufact l = {.n = ((const struct lufact_params *)p)->n};

    vm_phase(t, "init");
    init(t, &l);
    vm_system_gc(t); /* System.gc(): arrays move before the threads use them */
    vm_roi_begin(t);
    vm_phase(t, "factorise");
    team_run(t, work, &l, AT_FORK);
    vm_phase(t, "solve");
    solve(t, &l);
    vm_roi_end(t);
    vm_system_gc(t);
    vm_phase(t, "validate");
    verify(t, &l);
}

static const struct param lufact_rows[] = {
    ROW_U64(lufact, n, "50", 1, 10000, "", "Equations, and unknowns."),
    PARAM_END,
};

const struct workload workload_lufact = {
    WORKLOAD_CALLED(lufact), .summary = "LU factorisation, columns in turn, with barriers",
    .source = "grande",      .sizes = {"n=50", "n=150", "n=500"},
    .granularity = 4,        .took = {2, 5},
};
