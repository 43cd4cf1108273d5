/* sparse.c - a sparse matrix times a vector, again and again, the result added up; after Java
 * Grande's SparseMatmult. Entries are sorted by row, and each thread has whole rows, so y has one
 * writer an element and needs no lock. x is read by all at random columns, written by none. No
 * barrier: a thread's rows do not depend on what the others write. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(NEW, "SparseMatmult.initialise:11")                                                          \
    X(INIT, "SparseMatmult.initialise:19")                                                         \
    X(FORK, "SparseMatmult.test:27")                                                               \
    X(ROW, "SparseMatmult.run:36")                                                                 \
    X(COLUMN, "SparseMatmult.run:37")                                                              \
    X(VALUE, "SparseMatmult.run:38")                                                               \
    X(VECTOR, "SparseMatmult.run:39")                                                              \
    X(SUM, "SparseMatmult.run:40")                                                                 \
    X(VERIFY, "SparseMatmult.validate:47")
VM_SITES(SITES)

struct sparse_params {
    uint64_t n, entries, steps;
};
enum { ROW, COLUMN, VALUE, X, Y, ARRAYS }; /* by entry the first three; the vectors of y += A x */
struct matrix_entry {
    uint32_t row, column;
    double value;
};
struct sparse {
    const struct sparse_params *p;
    struct vm_ref *array[ARRAYS];
    struct matrix_entry *entry; /* the host's matrix, sorted by row */
    uint64_t *first;            /* entry of a row; n + 1 of them */
    double *x, *y;              /* the host's vectors */
};

/* Counts how many entries each row has, then puts entries into their rows. */
static void make_matrix(struct vm_thread *t, struct sparse *s)
{
    const uint64_t n = s->p->n;
    struct rng *r = vm_rng(t);

    s->entry = vm_scratch(t, s->p->entries, sizeof *s->entry);
    s->first = vm_scratch(t, n + 1, sizeof *s->first);
    for (uint64_t k = 0; k < s->p->entries; k++)
        s->first[1 + rng_below(r, n)]++;
    for (uint64_t i = 0; i < n; i++)
        s->first[i + 1] += s->first[i];
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t k = s->first[i]; k < s->first[i + 1]; k++) {
            s->entry[k].row = (uint32_t)i;
            s->entry[k].column = (uint32_t)rng_below(r, n);
            s->entry[k].value = team_uniform(r);
        }
    s->x = vm_scratch(t, n, sizeof *s->x);
    s->y = vm_scratch(t, n, sizeof *s->y);
    for (uint64_t i = 0; i < n; i++)
        s->x[i] = team_uniform(r) * 1e-6;
}

static void init(struct vm_thread *t, struct sparse *s)
{
    static const enum vm_type type[ARRAYS] = {VM_I32, VM_I32, VM_F64, VM_F64, VM_F64};

    for (unsigned a = 0; a < ARRAYS; a++)
        s->array[a] = team_array(t, type[a], a < X ? s->p->entries : s->p->n, AT_NEW);
    make_matrix(t, s); /* when it is known to fit the heap */
    for (uint64_t k = 0; k < s->p->entries; k++) {
        vm_store_i32(t, s->array[ROW], k, (int32_t)s->entry[k].row, AT_INIT);
        vm_store_i32(t, s->array[COLUMN], k, (int32_t)s->entry[k].column, AT_INIT);
        vm_store_f64(t, s->array[VALUE], k, s->entry[k].value, AT_INIT);
    }
    for (uint64_t i = 0; i < s->p->n; i++)
        vm_store_f64(t, s->array[X], i, s->x[i], AT_INIT);
}

/* y[row[k]] += x[column[k]] * value[k] */
static void add_entry(struct vm_thread *t, struct sparse *s, uint64_t k)
{
    const uint32_t row = (uint32_t)vm_load_i32(t, s->array[ROW], k, AT_ROW);
    const uint32_t column = (uint32_t)vm_load_i32(t, s->array[COLUMN], k, AT_COLUMN);
    const double x = vm_load_f64(t, s->array[X], column, AT_VECTOR);
    const double value = vm_load_f64(t, s->array[VALUE], k, AT_VALUE);
    const double sum = vm_load_f64(t, s->array[Y], row, AT_SUM);

    vm_compute(t, 2 + VM_LOOP); /* multiply, add */
    vm_store_f64(t, s->array[Y], row, sum + x * value, AT_SUM);
}

/* A thread's rows are equally many, its entries need not be. */
static void work(struct vm_thread *t, const struct member *m)
{
    struct sparse *s = m->job;
    const uint64_t from = s->first[team_from(m, s->p->n)], end = s->first[team_end(m, s->p->n)];

    for (uint64_t step = 0; step < s->p->steps; step++)
        for (uint64_t k = from; k < end; k++)
            add_entry(t, s, k);
}

static void host_run(struct sparse *s)
{
    for (uint64_t step = 0; step < s->p->steps; step++)
        for (uint64_t k = 0; k < s->p->entries; k++)
            s->y[s->entry[k].row] += s->x[s->entry[k].column] * s->entry[k].value;
}

static void verify(struct vm_thread *t, struct sparse *s)
{
    host_run(s);
    for (uint64_t i = 0; i < s->p->n; i++) {
        const double is = vm_load_f64(t, s->array[Y], i, AT_VERIFY);
        vm_check(t, fabs(is - s->y[i]) <= 1e-12 * s->y[i], "sparse: sum %u is %.17g, not %.17g",
                 (unsigned)i, is, s->y[i]);
    }
}

static void sparse_main(struct vm_thread *t, const void *p)
{
    struct sparse s = {.p = p};

    vm_phase(t, "init");
    init(t, &s);
    team_measure_grande(t, "multiply", work, &s, AT_FORK);
    verify(t, &s);
}

static const struct param sparse_rows[] = {
    ROW_U64(sparse, n, "500", 1, 10000000, "rows", "Rows and columns of the matrix."),
    ROW_U64(sparse, entries, "2500", 1, 100000000, "",
            "Entries of the matrix that are not zero, over all rows."),
    ROW_U64(sparse, steps, "8", 0, 1000000, "", "Multiplications."),
    PARAM_END,
};

const struct workload workload_sparse = {
    WORKLOAD_CALLED(sparse),
    .summary = "sparse matrix times vector, rows cut among threads",
    .source = "grande",
    .length = "steps",
    .sizes = {"n=500,entries=2500,steps=8", "n=2000,entries=10000,steps=50",
              "n=50000,entries=250000,steps=80"},
    .granularity = 4,
};
