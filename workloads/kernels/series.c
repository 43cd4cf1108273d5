/* series.c - the first n pairs of Fourier coefficients of (x+1)^x on [0, 2], each thread's in a
 * part of its own of two arrays; after Java Grande's Series. The integrals are computed in locals:
 * almost all accesses are the stack's. Nothing is shared but the two arrays, by parts: no race. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(NEW, "Series.buildTestData:14")                                                              \
    X(FORK, "Series.Do:22")                                                                        \
    X(LOCAL, "Series.TrapezoidIntegrate:31")                                                       \
    X(WRITE, "Series.run:40")                                                                      \
    X(VERIFY, "Series.validate:48")
VM_SITES(SITES)

enum { STEPS = 1000 }; /* as the original has it */
enum {
    /* Instructions of one value, beside those of its accesses: pow, which is exp, log and a
     * product; sine or cosine; an addition and two products; which of them, compared; x and the
     * sum. */
    VALUE = 3 * VM_MATH + 1 + 3 + 2 + 2 + VM_LOOP
};

struct series_params {
    uint64_t n;
};
struct series {
    const struct series_params *p;
    struct vm_ref *of[2]; /* the coefficients of cosines, and of sines */
};

/* The original's own results, to see that ours are its: it validates against these. */
static const double known[][2] = {{2.8729524964837996, 0.0},
                                  {1.1161046676147888, -1.8819691893398025},
                                  {0.34429060398168704, -1.1645642623320958},
                                  {0.15238898702519288, -0.8143461113044298}};

static double value(double x, double omega, unsigned which)
{
    return pow(x + 1, x) * (which ? sin(omega * x) : cos(omega * x));
}

/* Integrates by trapezoids, less the last of them: that is the original's sum. t NULL: on the
 * host. */
static double integral(struct vm_thread *t, double omega, unsigned which)
{
    const double dx = 2.0 / STEPS;
    double x = 0, sum = value(0, omega, which) / 2;

    for (unsigned i = 0; i < STEPS - 2; i++) {
        x += dx;
        sum += value(x, omega, which);
        /* The sum is a local of the original: one load and one store of the stack for each value.
         */
        if (t) {
            vm_stack(t, true, 0, AT_LOCAL);
            vm_stack(t, false, 0, AT_LOCAL);
            vm_compute(t, VALUE);
        }
    }
    return (sum + value(2, omega, which) / 2) * dx;
}

static double coefficient(struct vm_thread *t, uint64_t i, unsigned which)
{
    const double pi = 3.1415926535897932;

    if (i == 0)
        return which ? 0 : integral(t, 0, 0) / 2;
    return integral(t, pi * (double)i, which);
}

static void work(struct vm_thread *t, const struct member *m)
{
    struct series *s = m->job;
    for (uint64_t i = team_from(m, s->p->n), end = team_end(m, s->p->n); i < end; i++)
        for (unsigned which = 0; which < 2; which++)
            vm_store_f64(t, s->of[which], i, coefficient(t, i, which), AT_WRITE);
}

static void verify(struct vm_thread *t, struct series *s)
{
    for (uint64_t i = 0; i < s->p->n; i++)
        for (unsigned which = 0; which < 2; which++) {
            const double is = vm_load_f64(t, s->of[which], i, AT_VERIFY);
            const double want =
                i < ARRAY_SIZE(known) ? known[i][which] : coefficient(NULL, i, which);
            vm_check(t, team_near(is, want), "series: coefficient %u of %s is %.17g, not %.17g",
                     (unsigned)i, which ? "sines" : "cosines", is, want);
        }
}

static void series_main(struct vm_thread *t, const void *p)
{
    struct series s = {.p = p};

    vm_phase(t, "init");
    for (unsigned which = 0; which < 2; which++)
        s.of[which] = team_array(t, VM_F64, s.p->n, AT_NEW);
    team_measure_grande(t, "integrate", work, &s, AT_FORK);
    verify(t, &s);
}

static const struct param series_rows[] = {
    ROW_U64(series, n, "25", 1, 10000000, "coefficients", "Pairs of Fourier coefficients."),
    PARAM_END,
};

const struct workload workload_series = {
    WORKLOAD_CALLED(series),
    .summary = "Fourier coefficients, each thread's in a part of its own",
    .source = "grande",
    .length = "n",
    .sizes = {"n=25", "n=1000", "n=10000"},
    .took = {879, 884},
};
