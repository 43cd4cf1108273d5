/* montecarlo.c - prices of a share, made up by chance many times over, and what they tell of its
 * return; after Java Grande's MonteCarlo. Threads take tasks from a common list, whose counter and
 * results are under one lock; each task makes objects and arrays that are garbage when it is done,
 * but for its result: work for collectors, and memory that passes from thread to thread without
 * synchronisation. No race. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(NEW_TASK, "AppDemo.initTasks:15")                                                            \
    X(TASK, "AppDemo.initTasks:18")                                                                \
    X(FORK, "AppDemo.runThread:26")                                                                \
    X(TAKE, "AppDemo.run:34")                                                                      \
    X(NEXT, "AppDemo.run:35")                                                                      \
    X(GET_TASK, "AppDemo.run:39")                                                                  \
    X(KEEP, "AppDemo.run:45")                                                                      \
    X(RESULTS, "AppDemo.run:46")                                                                   \
    X(NEW_RANDOM, "PriceStock.run:57")                                                             \
    X(RANDOM, "Random.nextGaussian:64")                                                            \
    X(NEW_PATH, "MonteCarloPath.<init>:83")                                                        \
    X(FLUCTUATION, "MonteCarloPath.computeFluctuationsGaussian:92")                                \
    X(PRICE, "MonteCarloPath.computePathValue:103")                                                \
    X(NEW_RETURN, "RatePath.getReturnCompounded:112")                                              \
    X(RETURN, "RatePath.getReturnCompounded:118")                                                  \
    X(MEAN, "ReturnPath.computeMean:127")                                                          \
    X(VARIANCE, "ReturnPath.computeVariance:136")                                                  \
    X(NEW_RESULT, "PriceStock.getResult:145")                                                      \
    X(RESULT, "PriceStock.getResult:148")                                                          \
    X(VERIFY, "AppDemo.validate:159")
VM_SITES(SITES)

enum { TASK_SEED };
enum { CHANCE_SEED, CHANCE_SPARE, CHANCE_HAS_SPARE };
enum { PATH_FLUCTUATIONS, PATH_PRICES };
enum { RESULT_RETURN, RESULT_VOLATILITY, RESULT_LAST };
enum { LIST_NEXT, LIST_DONE };

enum { TASK, RANDOM, PATH, RESULT, LIST, CLASSES };
static const struct vm_type_of types[CLASSES] = {
    VM_TYPE("ToTask", {"seed", VM_I64, EVF_FINAL}),
    VM_TYPE("Random", {"seed", VM_I64, 0}, {"nextNextGaussian", VM_F64, 0}, {"haveNext", VM_I8, 0}),
    VM_TYPE("MonteCarloPath", {"fluctuations", VM_REF, 0}, {"prices", VM_REF, 0}),
    VM_TYPE("ToResult", {"expectedReturn", VM_F64, 0}, {"volatility", VM_F64, 0},
            {"last", VM_F64, 0}),
    VM_TYPE("TaskList", {"next", VM_I32, 0}, {"done", VM_I32, 0})};

struct montecarlo_params {
    uint64_t tasks, steps;
};
struct montecarlo {
    const struct montecarlo_params *p;
    const struct vm_class *class[CLASSES];
    struct vm_ref *list, *tasks, *results;
};

static const double day = 1.0 / 365, volatility = 0.25, drift = 0.05, first_price = 100;

/* ---- java.util.Random ----------------------------------------------------------------------- */

/* On the host, and as an object of the heap: the same numbers from the same seed. Only normally
 * distributed ones. */
struct chance { /* on the host */
    uint64_t seed;
    double spare;
    bool has_spare;
};

static uint64_t chance_scrambled(uint64_t seed)
{
    return (seed ^ 0x5deece66d) & ((UINT64_C(1) << 48) - 1);
}
static uint64_t chance_stepped(uint64_t seed)
{
    return (seed * 0x5deece66d + 11) & ((UINT64_C(1) << 48) - 1);
}
/* Returns a number from -1 to 1, out of two seeds that follow each other. */
static double chance_double(uint64_t first, uint64_t second)
{
    return 2 * ((double)((first >> 22 << 27) + (second >> 21)) * 0x1p-53) - 1;
}
static bool chance_fits(double a, double b)
{
    return a * a + b * b < 1 && a * a + b * b > 0;
}
static double chance_polar(double a, double b)
{
    const double square = a * a + b * b;

    return sqrt(-2 * log(square) / square);
}

static double chance_next(struct chance *c)
{
    const uint64_t first = chance_stepped(c->seed);

    c->seed = chance_stepped(first);
    return chance_double(first, c->seed);
}
static double chance_gaussian(struct chance *c)
{
    double a, b;

    c->has_spare = !c->has_spare;
    if (!c->has_spare)
        return c->spare;
    do {
        a = chance_next(c);
        b = chance_next(c);
    } while (!chance_fits(a, b));
    c->spare = b * chance_polar(a, b);
    return a * chance_polar(a, b);
}

/* Instructions: a step multiplies 48 bits, adds and masks; a polar pair is tried with two of them,
 * added up from four halves. */
enum { CHANCE_STEP = 4, CHANCE_TRY = 10, CHANCE_POLAR = 2 * VM_MATH };

/* The same with the object o. */
static uint64_t chance_step(struct vm_thread *t, struct vm_ref *o, uint64_t site)
{
    const uint64_t seed = chance_stepped((uint64_t)vm_get_i64(t, o, CHANCE_SEED, site));

    vm_compute(t, CHANCE_STEP);
    vm_put_i64(t, o, CHANCE_SEED, (int64_t)seed, site);
    return seed;
}
static double chance_draw_next(struct vm_thread *t, struct vm_ref *o, uint64_t site)
{
    const uint64_t first = chance_step(t, o, site);

    return chance_double(first, chance_step(t, o, site));
}
static double chance_draw(struct vm_thread *t, struct vm_ref *o, uint64_t site)
{
    double a, b;

    if (vm_get_i8(t, o, CHANCE_HAS_SPARE, site)) {
        vm_put_i8(t, o, CHANCE_HAS_SPARE, 0, site);
        return vm_get_f64(t, o, CHANCE_SPARE, site);
    }
    do {
        a = chance_draw_next(t, o, site);
        b = chance_draw_next(t, o, site);
        vm_compute(t, CHANCE_TRY);
    } while (!chance_fits(a, b));
    vm_compute(t, CHANCE_POLAR);
    vm_put_f64(t, o, CHANCE_SPARE, b * chance_polar(a, b), site);
    vm_put_i8(t, o, CHANCE_HAS_SPARE, 1, site);
    return a * chance_polar(a, b);
}

/* ---- a task --------------------------------------------------------------------------------- */

/* A step of geometric Brownian motion, in logarithms. */
static double fluctuation(double gaussian)
{
    return (drift - volatility * volatility / 2) * day + volatility * sqrt(day) * gaussian;
}

struct outcome {
    double expected, volatility, last;
};
static struct outcome outcome_of(double mean, double variance, double last)
{
    const double v = sqrt(variance / day);

    return (struct outcome){mean / day + v * v / 2, v, last};
}

/* The reference: a task depends on its seed alone, not on who runs it. */
static struct outcome host_task(uint64_t seed, uint64_t steps, double *returns)
{
    struct chance c = {chance_scrambled(seed), 0, false};
    double price = first_price, sum = 0, squares = 0;

    for (uint64_t i = 0; i < steps; i++) {
        const double was = price;
        price *= exp(fluctuation(chance_gaussian(&c)));
        sum += returns[i] = log(price / was);
    }
    for (uint64_t i = 0; i < steps; i++)
        squares += (returns[i] - sum / (double)steps) * (returns[i] - sum / (double)steps);
    return outcome_of(sum / (double)steps, squares / (double)(steps - 1), price);
}

enum { R_TASK, R_RANDOM, R_PATH, R_FLUCTUATIONS, R_PRICES, R_RETURNS, R_RESULT, ROOTS };

static void make_path(struct vm_thread *t, struct montecarlo *s, struct vm_ref *r)
{
    const int64_t seed = vm_get_i64(t, &r[R_TASK], TASK_SEED, AT_GET_TASK);

    vm_new(t, &r[R_RANDOM], s->class[RANDOM], AT_NEW_RANDOM);
    vm_put_i64(t, &r[R_RANDOM], CHANCE_SEED, (int64_t)chance_scrambled((uint64_t)seed), AT_RANDOM);
    vm_new(t, &r[R_PATH], s->class[PATH], AT_NEW_PATH);
    vm_new_array(t, &r[R_FLUCTUATIONS], VM_F64, s->p->steps, AT_NEW_PATH);
    vm_put_ref(t, &r[R_PATH], PATH_FLUCTUATIONS, &r[R_FLUCTUATIONS], AT_NEW_PATH);
    vm_new_array(t, &r[R_PRICES], VM_F64, s->p->steps, AT_NEW_PATH);
    vm_put_ref(t, &r[R_PATH], PATH_PRICES, &r[R_PRICES], AT_NEW_PATH);
    for (uint64_t i = 0; i < s->p->steps; i++) {
        const double by = fluctuation(chance_draw(t, &r[R_RANDOM], AT_RANDOM));
        vm_compute(t, 2 + VM_LOOP);
        vm_store_f64(t, &r[R_FLUCTUATIONS], i, by, AT_FLUCTUATION);
    }
    double price = first_price;
    for (uint64_t i = 0; i < s->p->steps; i++) {
        price *= exp(vm_load_f64(t, &r[R_FLUCTUATIONS], i, AT_PRICE));
        vm_compute(t, VM_MATH + 1 + VM_LOOP);
        vm_store_f64(t, &r[R_PRICES], i, price, AT_PRICE);
    }
}

static void make_returns(struct vm_thread *t, struct montecarlo *s, struct vm_ref *r)
{
    double was = first_price;

    vm_get_ref(t, &r[R_PRICES], &r[R_PATH], PATH_PRICES, AT_RETURN);
    vm_new_array(t, &r[R_RETURNS], VM_F64, s->p->steps, AT_NEW_RETURN);
    for (uint64_t i = 0; i < s->p->steps; i++) {
        const double price = vm_load_f64(t, &r[R_PRICES], i, AT_RETURN);
        vm_compute(t, VM_MATH + 1 + VM_LOOP);
        vm_store_f64(t, &r[R_RETURNS], i, log(price / was), AT_RETURN);
        was = price;
    }
}

static struct outcome make_outcome(struct vm_thread *t, struct montecarlo *s, struct vm_ref *r)
{
    const uint64_t n = s->p->steps;
    double sum = 0, squares = 0;

    for (uint64_t i = 0; i < n; i++) {
        vm_compute(t, 1 + VM_LOOP);
        sum += vm_load_f64(t, &r[R_RETURNS], i, AT_MEAN);
    }
    for (uint64_t i = 0; i < n; i++) {
        const double off = vm_load_f64(t, &r[R_RETURNS], i, AT_VARIANCE) - sum / (double)n;
        squares += off * off;
        vm_compute(t, 3 + VM_LOOP);
    }
    return outcome_of(sum / (double)n, squares / (double)(n - 1),
                      vm_load_f64(t, &r[R_PRICES], n - 1, AT_MEAN));
}

static void run_task(struct vm_thread *t, struct montecarlo *s, uint64_t i)
{
    struct vm_ref *r = vm_enter(t, ROOTS);

    vm_load_ref(t, &r[R_TASK], s->tasks, i, AT_GET_TASK);
    make_path(t, s, r);
    make_returns(t, s, r);
    const struct outcome o = make_outcome(t, s, r);
    vm_new(t, &r[R_RESULT], s->class[RESULT], AT_NEW_RESULT);
    vm_put_f64(t, &r[R_RESULT], RESULT_RETURN, o.expected, AT_RESULT);
    vm_put_f64(t, &r[R_RESULT], RESULT_VOLATILITY, o.volatility, AT_RESULT);
    vm_put_f64(t, &r[R_RESULT], RESULT_LAST, o.last, AT_RESULT);
    vm_lock(t, s->list, AT_KEEP);
    vm_store_ref(t, s->results, i, &r[R_RESULT], AT_RESULTS);
    const int32_t done = vm_get_i32(t, s->list, LIST_DONE, AT_RESULTS);
    vm_put_i32(t, s->list, LIST_DONE, done + 1, AT_RESULTS);
    vm_unlock(t, s->list, AT_KEEP);
    vm_leave(t, r);
}

static void work(struct vm_thread *t, const struct member *m)
{
    struct montecarlo *s = m->job;
    uint64_t i;

    /* The number is taken under the lock, the task is run without it. */
    do {
        vm_lock(t, s->list, AT_TAKE);
        i = (uint64_t)vm_get_i32(t, s->list, LIST_NEXT, AT_NEXT);
        if (i < s->p->tasks)
            vm_put_i32(t, s->list, LIST_NEXT, (int32_t)i + 1, AT_NEXT);
        vm_unlock(t, s->list, AT_TAKE);
        if (i < s->p->tasks)
            run_task(t, s, i);
    } while (i < s->p->tasks);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void init(struct vm_thread *t, struct montecarlo *s)
{
    struct vm_ref *task = vm_enter(t, 1);

    for (unsigned i = 0; i < CLASSES; i++)
        s->class[i] = vm_class(t, &types[i], NULL);
    s->list = team_new(t, s->class[LIST], AT_NEW_TASK);
    s->tasks = team_array(t, VM_REF, s->p->tasks, AT_NEW_TASK);
    s->results = team_array(t, VM_REF, s->p->tasks, AT_NEW_TASK);
    for (uint64_t i = 0; i < s->p->tasks; i++) {
        vm_new(t, task, s->class[TASK], AT_NEW_TASK);
        vm_put_i64(t, task, TASK_SEED, (int64_t)i * 11, AT_TASK);
        vm_store_ref(t, s->tasks, i, task, AT_TASK);
    }
    vm_leave(t, task);
}

static void verify(struct vm_thread *t, struct montecarlo *s)
{
    double *returns = vm_scratch(t, s->p->steps, sizeof *returns);
    struct vm_ref *r = vm_enter(t, 1);
    const int32_t done = vm_get_i32(t, s->list, LIST_DONE, AT_VERIFY);

    vm_check(t, (uint64_t)done == s->p->tasks, "montecarlo: %d tasks were done", (int)done);
    for (uint64_t i = 0; i < s->p->tasks; i++) {
        const struct outcome want = host_task(11 * i, s->p->steps, returns);
        vm_load_ref(t, r, s->results, i, AT_VERIFY);
        const double expected = vm_get_f64(t, r, RESULT_RETURN, AT_VERIFY);
        const double spread = vm_get_f64(t, r, RESULT_VOLATILITY, AT_VERIFY);
        const double last = vm_get_f64(t, r, RESULT_LAST, AT_VERIFY);
        vm_check(t,
                 team_near(expected, want.expected) && team_near(spread, want.volatility) &&
                     team_near(last, want.last),
                 "montecarlo: task %u ends at %.17g, not %.17g", (unsigned)i, last, want.last);
    }
    vm_leave(t, r);
}

static void montecarlo_main(struct vm_thread *t, const void *p)
{
    struct montecarlo s = {.p = p};

    vm_phase(t, "init");
    init(t, &s);
    team_measure_grande(t, "tasks", work, &s, AT_FORK);
    verify(t, &s);
}

static const struct param montecarlo_rows[] = {
    ROW_U64(montecarlo, tasks, "40", 0, 100000000, "", "Courses of the price that are made up."),
    ROW_U64(montecarlo, steps, "250", 2, 1000000, "", "Days of each."),
    PARAM_END,
};

const struct workload workload_montecarlo = {
    WORKLOAD_CALLED(montecarlo),
    .summary = "courses of a price, made up by tasks that leave garbage",
    .source = "grande",
    .length = "tasks",
    .sizes = {"tasks=40", "tasks=1000", "tasks=20000"},
    .granularity = 1,
    .took = {438, 441},
};
