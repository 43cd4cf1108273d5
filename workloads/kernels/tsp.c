/* tsp.c - the travelling salesman by branch and bound: threads take tours that have been begun
 * from a shared pool, under a lock, and complete them by depth first search. The shortest length so
 * far is shared. With racy=on it is read without its lock to decide whether to go on, and read
 * again under the lock before it is changed: the well-known benign race of this program, planted.
 */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(INIT, "Tsp.init:16")                                                                         \
    X(FORK, "Tsp.run:25")                                                                          \
    X(POOL_LOCK, "Tsp.take:33")                                                                    \
    X(POOL, "Tsp.take:35")                                                                         \
    X(TOUR, "Tsp.begin:44")                                                                        \
    X(OWN, "Tsp.search:57")                                                                        \
    X(DISTANCE, "Tsp.search:60")                                                                   \
    X(BOUND_LOCK, "Tsp.bound:71")                                                                  \
    X(BOUND, "Tsp.bound:72")                                                                       \
    X(BOUND_RACY, "Tsp.bound:75")                                                                  \
    X(BEST_LOCK, "Tsp.improve:83")                                                                 \
    X(BEST_READ, "Tsp.improve:84")                                                                 \
    X(BEST_WRITE, "Tsp.improve:86")                                                                \
    X(VERIFY, "Tsp.verify:98")
VM_SITES(SITES)

enum { MAX_CITIES = 16, DEPTH = 3 }; /* cities of a tour in the pool */
enum { PATH, NEXT };                 /* fields of a tour */
enum { TOURS };                      /* the field of the pool */
enum { LENGTH, CITIES };             /* fields of the best */
static const struct vm_type_of tour_type =
    VM_TYPE("Tour", {"path", VM_REF, EVF_FINAL}, {"next", VM_REF, 0});
static const struct vm_type_of pool_type = VM_TYPE("Pool", {"tours", VM_REF, 0});
static const struct vm_type_of best_type =
    VM_TYPE("Best", {"length", VM_I32, 0}, {"cities", VM_REF, 0});

struct tsp_params {
    uint64_t cities;
    bool racy;
};
struct tsp {
    const struct tsp_params *p;
    unsigned n;
    struct vm_ref *distance; /* n by n */
    struct vm_ref *pool, *best;
    int32_t plain[MAX_CITIES][MAX_CITIES];
};
struct tsp_search { /* one thread's */
    const struct tsp *s;
    struct vm_ref *path, *visited; /* arrays of its own: the cities so far; which those are */
};

/* ---- the shortest length -------------------------------------------------------------------- */

/* The shortest length so far, to cut the search with. An old one only makes the search longer,
 * which is why the race is benign. */
static int32_t bound(struct vm_thread *t, const struct tsp *s)
{
    if (s->p->racy)
        return vm_get_i32(t, s->best, LENGTH, AT_BOUND_RACY);
    vm_lock(t, s->best, AT_BOUND_LOCK);
    const int32_t length = vm_get_i32(t, s->best, LENGTH, AT_BOUND);
    vm_unlock(t, s->best, AT_BOUND_LOCK);
    return length;
}

static void improve(struct vm_thread *t, const struct tsp_search *q, int32_t length)
{
    const struct tsp *s = q->s;
    struct vm_ref *copy = vm_enter(t, 1);

    /* A copy, as the path goes on changing; made before the lock is taken, to hold that shortly. */
    vm_new_array(t, copy, VM_I8, s->n, AT_TOUR);
    for (unsigned i = 0; i < s->n; i++)
        vm_store_i8(t, copy, i, vm_load_i8(t, q->path, i, AT_OWN), AT_TOUR);
    vm_lock(t, s->best, AT_BEST_LOCK);
    /* Read again under the lock: another thread may have found a shorter one since bound. */
    if (length < vm_get_i32(t, s->best, LENGTH, AT_BEST_READ)) {
        vm_put_i32(t, s->best, LENGTH, length, AT_BEST_WRITE);
        vm_put_ref(t, s->best, CITIES, copy, AT_BEST_WRITE);
    }
    vm_unlock(t, s->best, AT_BEST_LOCK);
    vm_leave(t, copy);
}

/* ---- searching ------------------------------------------------------------------------------ */

static int32_t distance(struct vm_thread *t, const struct tsp *s, unsigned a, unsigned b)
{
    vm_compute(t, 2); /* multiply, add */
    return vm_load_i32(t, s->distance, (uint64_t)a * s->n + b, AT_DISTANCE);
}

/* Tries all ways to go on after `depth` cities that ended in `last`. */
static void complete(struct vm_thread *t, const struct tsp_search *q, unsigned depth, unsigned last,
                     int32_t length)
{
    const struct tsp *s = q->s;

    vm_compute(t, 10); /* a call with four arguments, what it saves, two comparisons */
    /* The bound: no way to go on gets shorter. INT32_MAX until a first tour is complete. */
    if (length >= bound(t, s))
        return;
    if (depth == s->n) {
        length += distance(t, s, last, 0);
        if (length < bound(t, s))
            improve(t, q, length);
        return;
    }
    for (unsigned c = 1; c < s->n; c++) {
        vm_compute(t, 2 + VM_LOOP);
        if (vm_load_i8(t, q->visited, c, AT_OWN))
            continue;
        vm_store_i8(t, q->visited, c, 1, AT_OWN);
        vm_store_i8(t, q->path, depth, (uint8_t)c, AT_OWN);
        complete(t, q, depth + 1, c, length + distance(t, s, last, c));
        vm_store_i8(t, q->visited, c, 0, AT_OWN);
    }
}

/* Begins the search with the tour's cities. */
static void begin(struct vm_thread *t, const struct tsp_search *q, struct vm_ref *tour)
{
    const struct tsp *s = q->s;
    struct vm_ref *path = vm_enter(t, 1);
    unsigned last = 0;
    int32_t length = 0;

    vm_get_ref(t, path, tour, PATH, AT_TOUR);
    for (unsigned c = 0; c < s->n; c++)
        vm_store_i8(t, q->visited, c, 0, AT_OWN);
    for (unsigned i = 0; i < DEPTH; i++) {
        const unsigned c = vm_load_i8(t, path, i, AT_TOUR);
        vm_store_i8(t, q->path, i, (uint8_t)c, AT_OWN);
        vm_store_i8(t, q->visited, c, 1, AT_OWN);
        length += i ? distance(t, s, last, c) : 0;
        last = c;
    }
    complete(t, q, DEPTH, last, length);
    vm_leave(t, path);
}

/* The pool is a linked list under its lock; null: it is empty, and stays so. */
static void tour_take(struct vm_thread *t, const struct tsp *s, struct vm_ref *tour)
{
    struct vm_ref *next = vm_enter(t, 1);

    vm_lock(t, s->pool, AT_POOL_LOCK);
    vm_get_ref(t, tour, s->pool, TOURS, AT_POOL);
    if (!vm_is_null(tour)) {
        vm_get_ref(t, next, tour, NEXT, AT_POOL);
        vm_put_ref(t, s->pool, TOURS, next, AT_POOL);
    }
    vm_unlock(t, s->pool, AT_POOL_LOCK);
    vm_leave(t, next);
}

static void work(struct vm_thread *t, const struct member *m)
{
    struct vm_ref *r = vm_enter(t, 3);
    const struct tsp_search q = {m->job, &r[0], &r[1]};

    vm_new_array(t, q.path, VM_I8, q.s->n, AT_TOUR);
    vm_new_array(t, q.visited, VM_I8, q.s->n, AT_TOUR);
    for (tour_take(t, q.s, &r[2]); !vm_is_null(&r[2]); tour_take(t, q.s, &r[2]))
        begin(t, &q, &r[2]);
    vm_leave(t, r);
}

/* ---- before and after ----------------------------------------------------------------------- */

static void init_map(struct vm_thread *t, struct tsp *s)
{
    double x[MAX_CITIES], y[MAX_CITIES];

    for (unsigned i = 0; i < s->n; i++) {
        x[i] = team_uniform(vm_rng(t));
        y[i] = team_uniform(vm_rng(t));
    }
    for (unsigned i = 0; i < s->n * s->n; i++) {
        const unsigned a = i / s->n, b = i % s->n;
        s->plain[a][b] = (int32_t)(1000 * (fabs(x[a] - x[b]) + fabs(y[a] - y[b])));
        vm_store_i32(t, s->distance, i, s->plain[a][b], AT_INIT);
    }
}

/* Fills the pool with all tours of DEPTH cities from 0. */
static void init_pool(struct vm_thread *t, const struct tsp *s)
{
    const struct vm_class *tour = vm_class(t, &tour_type, NULL);
    struct vm_ref *r = vm_enter(t, 3);

    /* City 0 begins every tour, so it is not stored: arrays are made of zeros. */
    for (unsigned i = 0; i < s->n * s->n; i++) {
        const unsigned a = i / s->n, b = i % s->n;
        if (!a || !b || a == b)
            continue;
        vm_new(t, &r[0], tour, AT_INIT);
        vm_new_array(t, &r[1], VM_I8, DEPTH, AT_INIT);
        vm_store_i8(t, &r[1], 1, (uint8_t)a, AT_INIT);
        vm_store_i8(t, &r[1], 2, (uint8_t)b, AT_INIT);
        vm_put_ref(t, &r[0], PATH, &r[1], AT_INIT);
        vm_get_ref(t, &r[2], s->pool, TOURS, AT_INIT);
        vm_put_ref(t, &r[0], NEXT, &r[2], AT_INIT);
        vm_put_ref(t, s->pool, TOURS, &r[0], AT_INIT);
    }
    vm_leave(t, r);
}

/* Held and Karp: the shortest way from 0 through all of a set that ends in each of its cities. Sets
 * are numbers by their bits; those without city 0 are left out. */
static int32_t plain_shortest(struct vm_thread *t, const struct tsp *s)
{
    const unsigned n = s->n, all = (1u << n) - 1;
    int32_t(*way)[MAX_CITIES] = vm_scratch(t, all + 1, sizeof *way), shortest = INT32_MAX;

    for (unsigned set = 1; set <= all; set += 2)
        for (unsigned end = 0; end < n; end++) {
            const unsigned before = set & ~(1u << end);
            /* Half of the largest: adding a distance to it does not overflow. */
            way[set][end] = set == 1 && end == 0 ? 0 : INT32_MAX / 2;
            for (unsigned c = 0; end && before != set && c < n; c++)
                if (before >> c & 1 && way[before][c] + s->plain[c][end] < way[set][end])
                    way[set][end] = way[before][c] + s->plain[c][end];
            if (set == all && end && way[set][end] + s->plain[end][0] < shortest)
                shortest = way[set][end] + s->plain[end][0];
        }
    return shortest;
}

/* The tour must be as long as it is said to be, visit every city, and be a shortest one. */
static void verify(struct vm_thread *t, const struct tsp *s)
{
    struct vm_ref *cities = vm_enter(t, 1);
    const int32_t is = vm_get_i32(t, s->best, LENGTH, AT_VERIFY), want = plain_shortest(t, s);
    int32_t length = 0;
    unsigned seen = 0;

    vm_get_ref(t, cities, s->best, CITIES, AT_VERIFY);
    for (unsigned i = 0; i < s->n; i++) {
        const unsigned c = vm_load_i8(t, cities, i, AT_VERIFY);
        length += s->plain[c][vm_load_i8(t, cities, (i + 1) % s->n, AT_VERIFY)];
        seen |= 1u << c;
    }
    vm_check(t, is == want && length == want && seen == (1u << s->n) - 1,
             "tsp: a tour of length %d, said to be %d; the shortest is %d", (int)length, (int)is,
             (int)want);
    vm_leave(t, cities);
}

static void tsp_main(struct vm_thread *t, const void *p)
{
    struct tsp s = {.p = p};

    s.n = (unsigned)s.p->cities;
    s.distance = team_array(t, VM_I32, (uint64_t)s.n * s.n, AT_INIT);
    s.pool = team_new(t, vm_class(t, &pool_type, NULL), AT_INIT);
    s.best = team_new(t, vm_class(t, &best_type, NULL), AT_INIT);
    vm_put_i32(t, s.best, LENGTH, INT32_MAX, AT_INIT);
    init_map(t, &s);
    init_pool(t, &s);
    team_measure(t, work, &s, AT_FORK);
    verify(t, &s);
}

static const struct param tsp_rows[] = {
    ROW_U64(tsp, cities, "8", 4, MAX_CITIES, "cities", "How many."),
    ROW_BOOL(tsp, racy, "off", "Reads the shortest length without its lock."),
    PARAM_END,
};
static const struct workload_plant tsp_plants[] = {
    {"Tsp.bound:75", "Tsp.improve:86",
     "With racy=on the shortest length is read without the lock under which it is written."},
    {NULL, NULL, NULL}};

const struct workload workload_tsp = {
    WORKLOAD_CALLED(tsp),
    .summary = "travelling salesman by branch and bound, with a shared pool of tours",
    .source = "goldilocks",
    .sizes = {"cities=8", "cities=10", "cities=12"},
    .granularity = 1,
    .took = {16, 25},
    .plants = tsp_plants,
};
