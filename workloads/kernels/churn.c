/* churn.c - objects that are made, linked into shared lists, moved between them, dropped: work
 * for a collector. Each bucket has a lock; a node keeps its number in three ways, which are
 * compared whenever it is seen. With race=on now and then a node's visits are counted without the
 * lock. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(SETUP, "Churn.main:10")                                                                      \
    X(FORK, "Churn.main:15")                                                                       \
    X(JOIN, "Churn.main:18")                                                                       \
    X(CLASS, "Node.<clinit>")                                                                      \
    X(NEW, "Churn.add:30")                                                                         \
    X(LINK, "Churn.add:33")                                                                        \
    X(LOCK, "Churn.add:32")                                                                        \
    X(WALK, "Churn.check:44")                                                                      \
    X(VISIT, "Churn.check:47")                                                                     \
    X(DROP, "Churn.drop:55")                                                                       \
    X(MOVE, "Churn.move:63")                                                                       \
    X(RACE, "Churn.peek:71")                                                                       \
    X(STATS, "Churn.run:80")                                                                       \
    X(COMMIT, "Churn.run:84")                                                                      \
    X(BARRIER, "Churn.run:88")                                                                     \
    X(TEMP, "Churn.run:90")
VM_SITES(SITES)

struct churn_params {
    uint64_t steps, buckets, limit, temp;
    bool race;
};
static const struct param churn_rows[] = {
    ROW_U64(churn, steps, "2000", 1, 1u << 30, "steps", "What each thread does."),
    ROW_U64(churn, buckets, "8", 1, 65536, "lists", "Shared lists."),
    ROW_U64(churn, limit, "20", 1, 65536, "nodes", "A list longer than that is dropped."),
    ROW_U64(churn, temp, "200", 1, 1u << 24, "elements", "Largest temporary array."),
    ROW_BOOL(churn, race, "off", "Visits are sometimes counted without the lock."),
    PARAM_END};

enum { NODE_KEY, NODE_SQUARE, NODE_HALF, NODE_NEXT, NODE_DATA, NODE_VISITS };
enum { BUCKET_HEAD, BUCKET_LENGTH };
static const struct vm_type_of bucket_type =
    VM_TYPE("Bucket", {"head", VM_REF, 0}, {"length", VM_I32, 0});

enum { TOTAL_MADE, TOTAL_COMMITTED, TOTAL_SEED };
static const struct vm_type_of total_type =
    VM_TYPE("Total", {"made", VM_I64, EVF_VOLATILE}, {"committed", VM_I64, 0}, {"seed", VM_I32, 0});

struct churn {
    const struct churn_params *p;
    struct vm_ref *buckets, *total;
    const struct vm_class *node;
    struct vm_barrier *barrier;
};

static void init_node(struct vm_thread *t, void *arg)
{
    struct churn *c = arg;

    vm_put_i32(t, c->total, TOTAL_SEED, 77, AT_CLASS);
}
static const struct vm_type_of node_type = VM_TYPE_INIT(
    "Node", init_node, {"key", VM_I32, EVF_FINAL}, {"square", VM_I64, 0}, {"half", VM_F64, 0},
    {"next", VM_REF, 0}, {"data", VM_REF, EVF_FINAL}, {"visits", VM_I32, 0});

/* ---- steps ---------------------------------------------------------------------------------- */

static void bucket(struct vm_thread *t, struct churn *c, struct vm_ref *to)
{
    vm_load_ref(t, to, c->buckets, rng_below(vm_rng(t), c->p->buckets), AT_WALK);
}

static void make_node(struct vm_thread *t, struct churn *c, struct vm_ref *to)
{
    const int32_t key = (int32_t)rng_below(vm_rng(t), 1 << 20);
    struct vm_ref *r = vm_enter(t, 1);

    vm_new(t, to, c->node, AT_NEW);
    vm_new_array(t, &r[0], VM_I8, rng_below(vm_rng(t), 40), AT_NEW);
    vm_put_i32(t, to, NODE_KEY, key, AT_NEW);
    vm_put_i64(t, to, NODE_SQUARE, (int64_t)key * key, AT_NEW);
    vm_put_f64(t, to, NODE_HALF, key / 2.0, AT_NEW);
    vm_put_ref(t, to, NODE_DATA, &r[0], AT_NEW);
    if (vm_length(t, &r[0]))
        vm_store_i8(t, &r[0], vm_length(t, &r[0]) - 1, (uint8_t)key, AT_NEW);
    vm_leave(t, r);
}

/* The caller has the bucket's lock. */
static void link_node(struct vm_thread *t, struct vm_ref *b, struct vm_ref *node)
{
    struct vm_ref *r = vm_enter(t, 1);

    vm_get_ref(t, &r[0], b, BUCKET_HEAD, AT_LINK);
    vm_put_ref(t, node, NODE_NEXT, &r[0], AT_LINK);
    vm_put_ref(t, b, BUCKET_HEAD, node, AT_LINK);
    vm_put_i32(t, b, BUCKET_LENGTH, vm_get_i32(t, b, BUCKET_LENGTH, AT_LINK) + 1, AT_LINK);
    vm_leave(t, r);
}

/* A node that a collector has torn, lost or mixed up with another is found here. The caller has the
 * lock of its bucket. */
static void check_node(struct vm_thread *t, struct vm_ref *node)
{
    struct vm_ref *r = vm_enter(t, 1);
    const int32_t key = vm_get_i32(t, node, NODE_KEY, AT_WALK);
    const int64_t square = vm_get_i64(t, node, NODE_SQUARE, AT_WALK);
    const double half = vm_get_f64(t, node, NODE_HALF, AT_WALK);

    vm_check(t, square == (int64_t)key * key, "node %d has the square %lld", key,
             (long long)square);
    vm_check(t, (int32_t)(half * 2) == key, "node %d has the half %f", key, half);
    vm_get_ref(t, &r[0], node, NODE_DATA, AT_WALK);
    const uint32_t n = vm_length(t, &r[0]);
    vm_check(t, !n || vm_load_i8(t, &r[0], n - 1, AT_WALK) == (uint8_t)key, "node %d has lost data",
             key);
    vm_leave(t, r);
}

static void walk(struct vm_thread *t, struct vm_ref *b)
{
    struct vm_ref *r = vm_enter(t, 1);
    int32_t n = 0;

    vm_get_ref(t, &r[0], b, BUCKET_HEAD, AT_WALK);
    for (; !vm_is_null(&r[0]); n++) {
        vm_compute(t, 6 + VM_LOOP); /* three checks and an addition */
        check_node(t, &r[0]);
        vm_put_i32(t, &r[0], NODE_VISITS, vm_get_i32(t, &r[0], NODE_VISITS, AT_VISIT) + 1,
                   AT_VISIT);
        vm_get_ref(t, &r[0], &r[0], NODE_NEXT, AT_WALK);
    }
    const int32_t length = vm_get_i32(t, b, BUCKET_LENGTH, AT_WALK);
    vm_check(t, n == length, "a list of %d nodes has %d", length, n);
    vm_leave(t, r);
}

/* A list that gets too long is dropped whole: a heap full of nodes dies at once. */
static void node_add(struct vm_thread *t, struct churn *c)
{
    struct vm_ref *r = vm_enter(t, 2);

    make_node(t, c, &r[1]);
    bucket(t, c, &r[0]);
    vm_lock(t, &r[0], AT_LOCK);
    link_node(t, &r[0], &r[1]);
    if ((uint64_t)vm_get_i32(t, &r[0], BUCKET_LENGTH, AT_DROP) > c->p->limit) {
        vm_put_ref(t, &r[0], BUCKET_HEAD, NULL, AT_DROP);
        vm_put_i32(t, &r[0], BUCKET_LENGTH, 0, AT_DROP);
    }
    vm_unlock(t, &r[0], AT_LOCK);
    vm_add_i64(t, c->total, TOTAL_MADE, 1, AT_STATS);
    vm_leave(t, r);
}

static void check_list(struct vm_thread *t, struct churn *c)
{
    struct vm_ref *r = vm_enter(t, 1);

    bucket(t, c, &r[0]);
    vm_lock(t, &r[0], AT_LOCK);
    walk(t, &r[0]);
    vm_unlock(t, &r[0], AT_LOCK);
    vm_leave(t, r);
}

/* Takes a node from one list, then puts it into another. */
static void move(struct vm_thread *t, struct churn *c)
{
    struct vm_ref *r = vm_enter(t, 3);

    bucket(t, c, &r[0]);
    vm_lock(t, &r[0], AT_LOCK);
    vm_get_ref(t, &r[1], &r[0], BUCKET_HEAD, AT_MOVE);
    if (!vm_is_null(&r[1])) {
        vm_get_ref(t, &r[2], &r[1], NODE_NEXT, AT_MOVE);
        vm_put_ref(t, &r[0], BUCKET_HEAD, &r[2], AT_MOVE);
        vm_put_i32(t, &r[0], BUCKET_LENGTH, vm_get_i32(t, &r[0], BUCKET_LENGTH, AT_MOVE) - 1,
                   AT_MOVE);
    }
    vm_unlock(t, &r[0], AT_LOCK);
    if (!vm_is_null(&r[1])) {
        bucket(t, c, &r[0]);
        vm_lock(t, &r[0], AT_LOCK);
        link_node(t, &r[0], &r[1]);
        vm_unlock(t, &r[0], AT_LOCK);
    }
    vm_leave(t, r);
}

static void commit(struct vm_thread *t, struct churn *c)
{
    struct vm_ref *r = vm_enter(t, 1);

    vm_txn_begin(t, 256, AT_COMMIT);
    vm_new_array(t, &r[0], VM_I64, 4, AT_COMMIT);
    vm_store_i64(t, &r[0], 3, vm_get_i64(t, c->total, TOTAL_COMMITTED, AT_COMMIT), AT_COMMIT);
    vm_put_i64(t, c->total, TOTAL_COMMITTED, vm_load_i64(t, &r[0], 3, AT_COMMIT) + 1, AT_COMMIT);
    vm_txn_commit(t, AT_COMMIT);
    vm_leave(t, r);
}

static void temporary(struct vm_thread *t, struct churn *c)
{
    struct vm_ref *r = vm_enter(t, 1);
    const uint64_t n = 1 + rng_below(vm_rng(t), c->p->temp);

    vm_new_array(t, &r[0], VM_F64, n, AT_TEMP);
    vm_store_f64(t, &r[0], n - 1, (double)n, AT_TEMP);
    vm_stack(t, true, 1, AT_TEMP);
    vm_check(t, vm_load_f64(t, &r[0], n - 1, AT_TEMP) >= (double)n, "a temporary array changed");
    vm_leave(t, r);
}

/* The planted race, with race=on: a node's visits without its bucket's lock. */
static void peek(struct vm_thread *t, struct churn *c)
{
    struct vm_ref *r = vm_enter(t, 2);

    bucket(t, c, &r[0]);
    vm_get_ref(t, &r[1], &r[0], BUCKET_HEAD, AT_RACE);
    if (!vm_is_null(&r[1]))
        vm_put_i32(t, &r[1], NODE_VISITS, 0, AT_RACE);
    vm_leave(t, r);
}

static void step(struct vm_thread *t, struct churn *c)
{
    const uint64_t what = rng_below(vm_rng(t), 100);

    if (what < 45)
        node_add(t, c);
    else if (what < 55)
        check_list(t, c);
    else if (what < 75)
        move(t, c);
    else if (what < 80)
        commit(t, c);
    else if (what < 96 || !c->p->race)
        temporary(t, c);
    else
        peek(t, c);
}

static void worker(struct vm_thread *t, void *arg)
{
    struct churn *c = arg;

    for (uint64_t i = 0; i < c->p->steps; i++) {
        step(t, c);
        if (i % 500 == 499)
            vm_barrier_wait(t, c->barrier, AT_BARRIER);
    }
}

static void setup(struct vm_thread *t, struct churn *c)
{
    const struct vm_class *bucket_class = vm_class(t, &bucket_type, NULL);
    struct vm_ref *r = vm_enter(t, 1);

    c->node = vm_class(t, &node_type, c);
    c->barrier = vm_barrier_new(t, (unsigned)vm_params(t)->threads);
    vm_new(t, c->total, vm_class(t, &total_type, NULL), AT_SETUP);
    vm_new_array(t, c->buckets, VM_REF, c->p->buckets, AT_SETUP);
    team_fill(t, c->buckets, c->p->buckets, bucket_class, &r[0], AT_SETUP);
    vm_leave(t, r);
}

static void check_all(struct vm_thread *t, struct churn *c)
{
    struct vm_ref *r = vm_enter(t, 1);

    for (uint64_t i = 0; i < c->p->buckets; i++) {
        vm_load_ref(t, &r[0], c->buckets, i, AT_WALK);
        walk(t, &r[0]);
    }
    vm_leave(t, r);
}

static void churn_main(struct vm_thread *t, const void *p)
{
    const uint64_t n = vm_params(t)->threads;
    struct churn c = {.p = p, .buckets = vm_global(t), .total = vm_global(t)};
    sim_tid *child = vm_scratch(t, n, sizeof *child);

    setup(t, &c);
    vm_phase(t, "work");
    vm_roi_begin(t);
    for (uint64_t i = 0; i < n; i++)
        child[i] = vm_fork(t, worker, &c, AT_FORK);
    for (uint64_t i = 0; i < n; i++)
        vm_join(t, child[i], AT_JOIN);
    vm_roi_end(t);
    vm_phase(t, "check");
    vm_system_gc(t);
    check_all(t, &c);
    vm_io(t, AT_STATS);
}

static const struct workload_plant plants[] = {
    {"Churn.peek:71", "Churn.check:47", "With race=on: a node's visits."},
    {"Churn.peek:71", "Churn.peek:71", "With race=on: a node's visits."},
    {"Churn.peek:71", "Churn.add:33", "With race=on: the head of a list, and a node just linked."},
    {"Churn.peek:71", "Churn.add:30", "With race=on: a node that was just made."},
    {"Churn.peek:71", "Churn.drop:55", "With race=on: the head of a list."},
    {"Churn.peek:71", "Churn.move:63", "With race=on: the head of a list."},
    {NULL, NULL, NULL}};

const struct workload workload_churn = {
    WORKLOAD_CALLED(churn),
    .summary = "Lists of short-lived objects in many hands: work for the collector.",
    .length = "steps",
    .sizes = {"steps=2000", "steps=50000", "steps=2000000"},
    .granularity = 1,
    .plants = plants,
};
