/* colt.c - like CERN's Colt: matrices are objects whose fields are final, so that parts and
 * transposed ones are made without copying, over elements that threads read and write. In each
 * round the threads multiply two matrices, each in a part of its own, then reduce the product by
 * its largest element (found under a lock) and count values in a shared histogram, with barriers
 * between. Elements are small whole numbers, so results are exact. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(INIT, "Colt.init:16")                                                                        \
    X(FORK, "Colt.run:24")                                                                         \
    X(STEP, "Colt.run:31")                                                                         \
    X(VIEW, "DenseMatrix.viewPart:40")                                                             \
    X(INDEX, "DenseMatrix.index:48")                                                               \
    X(GET, "DenseMatrix.getQuick:52")                                                              \
    X(SET, "DenseMatrix.setQuick:56")                                                              \
    X(LARGEST_LOCK, "Colt.largest:65")                                                             \
    X(LARGEST, "Colt.largest:66")                                                                  \
    X(BINS_LOCK, "Histogram.fill:75")                                                              \
    X(BINS, "Histogram.fill:77")                                                                   \
    X(VERIFY, "Colt.verify:88")
VM_SITES(SITES)

enum { ROWS, COLUMNS, ZERO, ROW_STRIDE, COLUMN_STRIDE, ELEMENTS }; /* fields of a matrix */
enum { LARGEST };                                                  /* the field of a maximum */
enum { BINS = 16, LIMIT = 1000 };                                  /* elements are below that */
static const struct vm_type_of matrix_type =
    VM_TYPE("DenseMatrix", {"rows", VM_I32, EVF_FINAL}, {"columns", VM_I32, EVF_FINAL},
            {"zero", VM_I32, EVF_FINAL}, {"rowStride", VM_I32, EVF_FINAL},
            {"columnStride", VM_I32, EVF_FINAL}, {"elements", VM_REF, EVF_FINAL});
static const struct vm_type_of maximum_type = VM_TYPE("Maximum", {"largest", VM_F64, 0});

struct colt_params {
    uint64_t n, rounds;
};
struct colt {
    const struct colt_params *p;
    const struct vm_class *matrix;
    struct vm_ref *m[3];    /* in round i m[i + 2] becomes m[i] times m[i + 1], all modulo 3 */
    struct vm_ref *maximum; /* an array of one for each round */
    struct vm_ref *bins;
    double *plain[3];
    int32_t plain_bins[BINS];
};
struct matrix_shape {
    int32_t rows, columns, zero, row_stride, column_stride;
};

/* Reduces an element, so that elements stay below LIMIT, and not all become 0. */
static double reduced(double x, double largest)
{
    return (double)((uint64_t)x * 7 % (uint64_t)(largest + 1) % LIMIT);
}

static unsigned bin(double x)
{
    return (unsigned)x * BINS / LIMIT;
}

/* ---- matrices ------------------------------------------------------------------------------- */

static void new_matrix(struct vm_thread *t, const struct colt *s, struct vm_ref *to,
                       const struct matrix_shape *shape, struct vm_ref *elements)
{
    vm_new(t, to, s->matrix, AT_VIEW);
    vm_put_i32(t, to, ROWS, shape->rows, AT_VIEW);
    vm_put_i32(t, to, COLUMNS, shape->columns, AT_VIEW);
    vm_put_i32(t, to, ZERO, shape->zero, AT_VIEW);
    vm_put_i32(t, to, ROW_STRIDE, shape->row_stride, AT_VIEW);
    vm_put_i32(t, to, COLUMN_STRIDE, shape->column_stride, AT_VIEW);
    vm_put_ref(t, to, ELEMENTS, elements, AT_VIEW);
}

static struct matrix_shape shape_of(struct vm_thread *t, struct vm_ref *m)
{
    struct matrix_shape s = {.rows = vm_get_i32(t, m, ROWS, AT_VIEW)};

    s.columns = vm_get_i32(t, m, COLUMNS, AT_VIEW);
    s.zero = vm_get_i32(t, m, ZERO, AT_VIEW);
    s.row_stride = vm_get_i32(t, m, ROW_STRIDE, AT_VIEW);
    s.column_stride = vm_get_i32(t, m, COLUMN_STRIDE, AT_VIEW);
    return s;
}

/* Rows [from, end) of a matrix, over the same elements. */
static void view_rows(struct vm_thread *t, const struct colt *s, struct vm_ref *to,
                      struct vm_ref *m, uint64_t from, uint64_t end)
{
    struct vm_ref *elements = vm_enter(t, 1);
    struct matrix_shape shape = shape_of(t, m);

    shape.zero += (int32_t)from * shape.row_stride;
    shape.rows = (int32_t)(end - from);
    vm_get_ref(t, elements, m, ELEMENTS, AT_VIEW);
    new_matrix(t, s, to, &shape, elements);
    vm_leave(t, elements);
}

/* Transposed, over the same elements. */
static void view_dice(struct vm_thread *t, const struct colt *s, struct vm_ref *to,
                      struct vm_ref *m)
{
    struct vm_ref *elements = vm_enter(t, 1);
    const struct matrix_shape is = shape_of(t, m);
    const struct matrix_shape diced = {is.columns, is.rows, is.zero, is.column_stride,
                                       is.row_stride};

    vm_get_ref(t, elements, m, ELEMENTS, AT_VIEW);
    new_matrix(t, s, to, &diced, elements);
    vm_leave(t, elements);
}

/* Returns the place of an element in the matrix's elements, to which the root e refers then. */
static uint64_t index_of(struct vm_thread *t, struct vm_ref *m, struct vm_ref *e, int32_t row,
                         int32_t column, uint64_t site)
{
    vm_compute(t, 4 + 4); /* two multiplications and additions, in a virtual method */
    int32_t i = vm_get_i32(t, m, ZERO, AT_INDEX);

    i += vm_get_i32(t, m, ROW_STRIDE, AT_INDEX) * row;
    i += vm_get_i32(t, m, COLUMN_STRIDE, AT_INDEX) * column;
    vm_get_ref(t, e, m, ELEMENTS, site);
    return (uint64_t)i;
}

static double get(struct vm_thread *t, struct vm_ref *m, struct vm_ref *e, int32_t row,
                  int32_t column)
{
    return vm_load_f64(t, e, index_of(t, m, e, row, column, AT_GET), AT_GET);
}

static void set(struct vm_thread *t, struct vm_ref *m, struct vm_ref *e, int32_t row,
                int32_t column, double x)
{
    vm_store_f64(t, e, index_of(t, m, e, row, column, AT_SET), x, AT_SET);
}

/* ---- rounds --------------------------------------------------------------------------------- */

/* r[2] = r[0] times the matrix whose transposed is r[1]; its largest element. */
static double multiply(struct vm_thread *t, struct vm_ref *r, const struct matrix_shape *of,
                       int32_t inner)
{
    double largest = 0;

    for (int32_t i = 0; i < of->rows; i++)
        for (int32_t j = 0; j < of->columns; j++) {
            double sum = 0;
            for (int32_t k = 0; k < inner; k++) {
                const double a = get(t, &r[0], &r[3], i, k);
                sum += a * get(t, &r[1], &r[3], j, k);
                vm_compute(t, 2 + VM_LOOP);
            }
            set(t, &r[2], &r[3], i, j, sum);
            largest = fmax(largest, sum);
        }
    return largest;
}

static void merge_largest(struct vm_thread *t, struct vm_ref *maximum, double x)
{
    vm_lock(t, maximum, AT_LARGEST_LOCK);
    if (x > vm_get_f64(t, maximum, LARGEST, AT_LARGEST))
        vm_put_f64(t, maximum, LARGEST, x, AT_LARGEST);
    vm_unlock(t, maximum, AT_LARGEST_LOCK);
}

static void reduce(struct vm_thread *t, const struct colt *s, struct vm_ref *r,
                   const struct matrix_shape *of, double largest)
{
    for (int32_t i = 0; i < of->rows; i++) {
        int32_t found[BINS] = {0};
        for (int32_t j = 0; j < of->columns; j++) {
            const double x = reduced(get(t, &r[2], &r[3], i, j), largest);
            vm_compute(t, 6 + VM_LOOP); /* scale, a bin by division */
            set(t, &r[2], &r[3], i, j, x);
            found[bin(x)]++;
        }
        vm_lock(t, s->bins, AT_BINS_LOCK);
        for (unsigned b = 0; b < BINS; b++)
            if (found[b])
                vm_store_i32(t, s->bins, b, found[b] + vm_load_i32(t, s->bins, b, AT_BINS),
                             AT_BINS);
        vm_unlock(t, s->bins, AT_BINS_LOCK);
    }
}

static void work(struct vm_thread *t, const struct member *c)
{
    const struct colt *s = c->job;
    const uint64_t n = s->p->n, from = team_from(c, n), end = team_end(c, n);
    struct vm_ref *r = vm_enter(t, 5); /* three matrices, elements, a maximum */

    for (uint64_t i = 0; i < s->p->rounds; i++) {
        view_rows(t, s, &r[0], s->m[i % 3], from, end);
        view_dice(t, s, &r[1], s->m[(i + 1) % 3]);
        view_rows(t, s, &r[2], s->m[(i + 2) % 3], from, end);
        const struct matrix_shape of = shape_of(t, &r[2]);
        const double own = multiply(t, r, &of, (int32_t)n);
        vm_load_ref(t, &r[4], s->maximum, i, AT_LARGEST);
        merge_largest(t, &r[4], own);
        team_wait(t, c, AT_STEP);
        reduce(t, s, r, &of, vm_get_f64(t, &r[4], LARGEST, AT_LARGEST));
        team_wait(t, c, AT_STEP);
    }
    vm_leave(t, r);
}

/* ---- before and after ----------------------------------------------------------------------- */

static void init_matrix(struct vm_thread *t, struct colt *s, unsigned k, struct vm_ref *elements)
{
    const uint64_t n = s->p->n;
    const struct matrix_shape shape = {(int32_t)n, (int32_t)n, 0, (int32_t)n, 1};

    s->plain[k] = vm_scratch(t, n * n, sizeof *s->plain[k]);
    s->m[k] = vm_global(t);
    vm_new_array(t, elements, VM_F64, n * n, AT_INIT);
    for (uint64_t i = 0; i < n * n; i++) {
        s->plain[k][i] = (double)rng_below(vm_rng(t), LIMIT);
        vm_store_f64(t, elements, i, s->plain[k][i], AT_INIT);
    }
    new_matrix(t, s, s->m[k], &shape, elements);
}

static void init(struct vm_thread *t, struct colt *s)
{
    const struct vm_class *maximum = vm_class(t, &maximum_type, NULL);
    struct vm_ref *r = vm_enter(t, 1);

    s->matrix = vm_class(t, &matrix_type, NULL);
    s->maximum = vm_global(t);
    s->bins = vm_global(t);
    for (unsigned k = 0; k < 3; k++)
        init_matrix(t, s, k, r);
    vm_new_array(t, s->bins, VM_I32, BINS, AT_INIT);
    vm_new_array(t, s->maximum, VM_REF, s->p->rounds, AT_INIT);
    team_fill(t, s->maximum, s->p->rounds, maximum, r, AT_INIT);
    vm_leave(t, r);
}

static void plain_round(struct colt *s, const double *a, const double *b, double *c)
{
    const uint64_t n = s->p->n;
    double largest = 0;

    for (uint64_t i = 0; i < n * n; i++) {
        c[i] = 0;
        for (uint64_t k = 0; k < n; k++)
            c[i] += a[i / n * n + k] * b[k * n + i % n];
        largest = fmax(largest, c[i]);
    }
    for (uint64_t i = 0; i < n * n; i++) {
        c[i] = reduced(c[i], largest);
        s->plain_bins[bin(c[i])]++;
    }
}

static void verify(struct vm_thread *t, struct colt *s)
{
    const int32_t n = (int32_t)s->p->n;
    struct vm_ref *e = vm_enter(t, 1);

    for (uint64_t i = 0; i < s->p->rounds; i++)
        plain_round(s, s->plain[i % 3], s->plain[(i + 1) % 3], s->plain[(i + 2) % 3]);
    for (int32_t i = 0; i < 3 * n * n; i++) {
        const double is = get(t, s->m[i % 3], e, i / 3 / n, i / 3 % n);
        vm_check(t, is == s->plain[i % 3][i / 3], "colt: an element is %g, not %g", is,
                 s->plain[i % 3][i / 3]);
    }
    for (unsigned b = 0; b < BINS; b++) {
        const int32_t is = vm_load_i32(t, s->bins, b, AT_VERIFY);
        vm_check(t, is == s->plain_bins[b], "colt: %d in bin %u, not %d", (int)is, b,
                 (int)s->plain_bins[b]);
    }
    vm_leave(t, e);
}

static void colt_main(struct vm_thread *t, const void *p)
{
    struct colt s = {.p = p};

    init(t, &s);
    team_measure(t, work, &s, AT_FORK);
    verify(t, &s);
}

static const struct param colt_rows[] = {
    ROW_U64(colt, n, "16", 1, 4096, "rows", "Side of the matrices."),
    ROW_U64(colt, rounds, "3", 0, 1000000, "", "Products."),
    PARAM_END,
};

const struct workload workload_colt = {
    WORKLOAD_CALLED(colt),
    .summary = "a library of matrices with final fields over shared elements",
    .source = "slimstate",
    .length = "rounds",
    .sizes = {"n=16,rounds=3", "n=48,rounds=3", "n=128,rounds=4"},
    .granularity = 4,
    .took = {63, 68},
};
