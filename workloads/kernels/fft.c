/* fft.c - SPLASH-2's FFT: rows * rows complex points as a matrix, transformed in six steps
 * (transpose, transform the rows, twiddle, transpose, transform the rows, transpose) with a barrier
 * between two. Each thread has a block of rows and reads all others' when it transposes: the
 * barriers are all that orders those reads after the writes. No locks, no race. The published
 * program transposes in blocks that fit its caches; this one goes along rows. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(INIT, "Fft.init")                                                                            \
    X(FORK, "Fft.main:fork")                                                                       \
    X(ROW, "Fft.row")                                                                              \
    X(TRANSPOSE_READ, "Fft.transpose:read")                                                        \
    X(TRANSPOSE_WRITE, "Fft.transpose:write")                                                      \
    X(SWAP, "Fft.reverse:swap")                                                                    \
    X(ROOT, "Fft.butterfly:root")                                                                  \
    X(READ, "Fft.butterfly:read")                                                                  \
    X(WRITE, "Fft.butterfly:write")                                                                \
    X(TWIDDLE, "Fft.twiddle")                                                                      \
    X(STEP, "Fft.step:barrier")                                                                    \
    X(CHECK, "Fft.check")
VM_SITES(SITES)

enum {                                      /* instructions, beside those of accesses */
       TIMES = 6,                           /* four products, two sums */
       BUTTERFLY = TIMES + 4 + 1 + VM_LOOP, /* two sums, two differences; the other index */
       DISTANCE = 1 + VM_LOOP,              /* the next root's index */
       CARRY = 4,                           /* a bit is tested, cleared, and the next is taken */
       REVERSE = 4 + VM_LOOP /* i and j compared; the top bit; the bit that stays set */
};

struct fft_params {
    uint64_t rows, repeats;
};
static const struct param fft_rows[] = {
    ROW_U64(fft, rows, "32", 2, 4096, "rows",
            "Rows and columns of the matrix of points, a power of 2."),
    ROW_U64(fft, repeats, "1", 1, 16, "transforms", "How often the result is transformed again."),
    PARAM_END,
};

struct fft {
    uint64_t m, repeats;
    struct vm_ref *x, *y; /* arrays of rows; a point is two elements of a row */
    struct vm_ref *roots; /* m * m roots of unity */
};

struct point {
    double re, im;
};

static struct point times(struct point a, struct point b)
{
    return (struct point){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static struct point root(uint64_t k, uint64_t n) /* e to the -2 pi i k / n */
{
    const double x = -6.283185307179586 * (double)k / (double)n;

    return (struct point){cos(x), sin(x)};
}

/* ---- on the heap ---------------------------------------------------------------------------- */

static struct point load(struct vm_thread *t, struct vm_ref *row, uint64_t i, uint64_t site)
{
    const double re = vm_load_f64(t, row, 2 * i, site);

    return (struct point){re, vm_load_f64(t, row, 2 * i + 1, site)};
}

static void store(struct vm_thread *t, struct vm_ref *row, uint64_t i, struct point p,
                  uint64_t site)
{
    vm_store_f64(t, row, 2 * i, p.re, site);
    vm_store_f64(t, row, 2 * i + 1, p.im, site);
}

/* Writes the thread's own rows; for each it reads a column, which has an element of every row. */
static void transpose(struct vm_thread *t, const struct member *c, struct vm_ref *from,
                      struct vm_ref *to)
{
    const struct fft *f = c->job;
    struct vm_ref *r = vm_enter(t, 2);

    for (uint64_t i = team_from(c, f->m); i < team_end(c, f->m); i++) {
        vm_load_ref(t, &r[0], to, i, AT_ROW);
        for (uint64_t j = 0; j < f->m; j++) {
            vm_load_ref(t, &r[1], from, j, AT_ROW);
            vm_compute(t, VM_LOOP);
            store(t, &r[0], j, load(t, &r[1], i, AT_TRANSPOSE_READ), AT_TRANSPOSE_WRITE);
        }
    }
    vm_leave(t, r);
}

/* Bit reversal: j counts as i does, but carries from the top bit down. i < j swaps each pair once.
 */
static void reverse(struct vm_thread *t, struct vm_ref *row, uint64_t m)
{
    for (uint64_t i = 0, j = 0; i < m; i++) {
        if (i < j) {
            const struct point a = load(t, row, i, AT_SWAP), b = load(t, row, j, AT_SWAP);
            store(t, row, i, b, AT_SWAP);
            store(t, row, j, a, AT_SWAP);
        }
        uint64_t bit = m >> 1;
        uint32_t carries = 0;
        for (; j & bit; bit >>= 1, carries++)
            j ^= bit;
        j |= bit;
        vm_compute(t, REVERSE + CARRY * carries);
    }
}

/* Cooley and Tukey, iterative: bit reversal, then butterflies over distances that double. */
static void transform_row(struct vm_thread *t, const struct fft *f, struct vm_ref *row)
{
    reverse(t, row, f->m);
    for (uint64_t half = 1; half < f->m; half *= 2)
        for (uint64_t k = 0; k < half; k++) {
            vm_compute(t, DISTANCE);
            const struct point w = load(t, f->roots, f->m * f->m / (2 * half) * k, AT_ROOT);
            for (uint64_t i = k; i < f->m; i += 2 * half) {
                vm_compute(t, BUTTERFLY);
                const struct point a = load(t, row, i, AT_READ);
                const struct point b = times(w, load(t, row, i + half, AT_READ));
                store(t, row, i, (struct point){a.re + b.re, a.im + b.im}, AT_WRITE);
                store(t, row, i + half, (struct point){a.re - b.re, a.im - b.im}, AT_WRITE);
            }
        }
}

static void transform(struct vm_thread *t, const struct member *c, struct vm_ref *x, bool twiddle)
{
    const struct fft *f = c->job;
    struct vm_ref *row = vm_enter(t, 1);

    for (uint64_t i = team_from(c, f->m); i < team_end(c, f->m); i++) {
        vm_load_ref(t, row, x, i, AT_ROW);
        transform_row(t, f, row);
        for (uint64_t j = 0; twiddle && j < f->m; j++) {
            const struct point w = load(t, f->roots, i * j, AT_ROOT);
            vm_compute(t, TIMES + 1 + VM_LOOP);
            store(t, row, j, times(w, load(t, row, j, AT_TWIDDLE)), AT_TWIDDLE);
        }
    }
    vm_leave(t, row);
}

static void work(struct vm_thread *t, const struct member *c)
{
    const struct fft *f = c->job;

    for (uint64_t i = 0; i < f->repeats; i++) {
        /* An odd number of transposes: the result is in the other matrix. */
        struct vm_ref *x = i % 2 ? f->y : f->x, *y = i % 2 ? f->x : f->y;
        transpose(t, c, x, y);
        team_wait(t, c, AT_STEP);
        transform(t, c, y, true);
        team_wait(t, c, AT_STEP);
        transpose(t, c, y, x);
        team_wait(t, c, AT_STEP);
        transform(t, c, x, false);
        team_wait(t, c, AT_STEP);
        transpose(t, c, x, y);
        team_wait(t, c, AT_STEP);
        team_iterated(t, c, i);
    }
}

/* ---- before and after ----------------------------------------------------------------------- */

static struct vm_ref *matrix(struct vm_thread *t, uint64_t m)
{
    struct vm_ref *all = team_array(t, VM_REF, m, AT_INIT), *row = vm_enter(t, 1);

    for (uint64_t i = 0; i < m; i++) {
        vm_new_array(t, row, VM_F64, 2 * m, AT_INIT);
        vm_store_ref(t, all, i, row, AT_INIT);
    }
    vm_leave(t, row);
    return all;
}

static void fill(struct vm_thread *t, const struct fft *f, struct point *plain)
{
    struct rng rng;
    struct vm_ref *row = vm_enter(t, 1);

    /* The points have a generator of their own, so that they do not depend on other draws from the
     * thread's. */
    rng_seed(&rng, 1);
    for (uint64_t i = 0; i < f->m; i++) {
        vm_load_ref(t, row, f->x, i, AT_INIT);
        for (uint64_t j = 0; j < f->m; j++) {
            struct point p = {.re = team_uniform(&rng)};
            p.im = team_uniform(&rng);
            plain[i * f->m + j] = p;
            store(t, row, j, p, AT_INIT);
            store(t, f->roots, i * f->m + j, root(i * f->m + j, f->m * f->m), AT_INIT);
        }
    }
    vm_leave(t, row);
}

/* The textbook's recursion, over every step-th point from `from`. */
static void plain_fft(struct point *to, const struct point *from, uint64_t n, uint64_t step)
{
    if (n == 1) {
        *to = *from;
        return;
    }
    plain_fft(to, from, n / 2, 2 * step);
    plain_fft(to + n / 2, from + step, n / 2, 2 * step);
    for (uint64_t k = 0; k < n / 2; k++) {
        const struct point a = to[k], b = times(root(k, n), to[k + n / 2]);
        to[k] = (struct point){a.re + b.re, a.im + b.im};
        to[k + n / 2] = (struct point){a.re - b.re, a.im - b.im};
    }
}

static bool near(struct point a, struct point b, double within)
{
    const double re = a.re - b.re, im = a.im - b.im;

    return re * re + im * im <= within * within;
}

/* Errors grow with the size and the number of transforms. */
static void check_result(struct vm_thread *t, const struct fft *f, struct point *plain)
{
    const uint64_t n = f->m * f->m;
    struct point *other = vm_scratch(t, n, sizeof *other);
    struct vm_ref *row = vm_enter(t, 1);
    double within = 1e-9;

    for (uint64_t i = 0; i < f->repeats; i++) {
        plain_fft(other, plain, n, 1);
        memcpy(plain, other, n * sizeof *plain);
        within *= (double)f->m;
    }
    for (uint64_t i = 0; i < f->m; i++) {
        vm_load_ref(t, row, f->repeats % 2 ? f->y : f->x, i, AT_CHECK);
        for (uint64_t j = 0; j < f->m; j++)
            vm_check(t, near(load(t, row, j, AT_CHECK), plain[i * f->m + j], within),
                     "fft: point (%u, %u) is not what a sequential transform gives", (unsigned)i,
                     (unsigned)j);
    }
    vm_leave(t, row);
}

static void fft_main(struct vm_thread *t, const void *p)
{
    const struct fft_params *q = p;
    struct fft f = {.m = q->rows, .repeats = q->repeats};
    struct point *plain = vm_scratch(t, q->rows * q->rows, sizeof *plain);

    f.x = matrix(t, f.m);
    f.y = matrix(t, f.m);
    f.roots = team_array(t, VM_F64, 2 * f.m * f.m, AT_INIT);
    fill(t, &f, plain);
    team_measure(t, work, &f, AT_FORK);
    check_result(t, &f, plain);
}

static int check(const void *p, const struct vm_params *vm, struct err *e)
{
    const struct fft_params *q = p;

    (void)vm;
    return q->rows & (q->rows - 1) ? err_set(e, LARD_CONFIG, "rows must be a power of 2") : 0;
}

const struct workload workload_fft = {
    WORKLOAD_CALLED(fft),
    .with = {58, 53, 58, 15, 15},
    .summary = "SPLASH-2's FFT: six steps with transposes and barriers",
    .source = "cvm",
    .length = "repeats",
    .sizes = {"rows=32,repeats=1", "rows=128,repeats=2", "rows=512,repeats=4",
              "rows=256,repeats=2"},
    .check = check,
};
