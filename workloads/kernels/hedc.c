/* hedc.c - like hedc, which asks archives of astrophysics data for what fits a query: a client
 * splits each query into tasks, a pool of workers takes them from a bounded queue (wait and notify)
 * and searches its part of an archive, the client collects the results from futures. With racy=on
 * the client reports meanwhile which worker runs what, and reads that without the task's lock:
 * planted, after the race that hedc is known for. The archive is an array here; there is no net. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(INIT, "Hedc.init:19")                                                                        \
    X(FORK, "Hedc.run:27")                                                                         \
    X(NEW, "Client.submit:35")                                                                     \
    X(QUEUE_LOCK, "Queue.lock:44")                                                                 \
    X(QUEUE, "Queue.put:48")                                                                       \
    X(QUEUE_WAIT, "Queue.put:47")                                                                  \
    X(TASK, "Task.run:60")                                                                         \
    X(RUNNER_LOCK, "Task.runner:66")                                                               \
    X(RUNNER_WRITE, "Task.setRunner:67")                                                           \
    X(RUNNER_READ, "Task.getRunner:71")                                                            \
    X(SEARCH, "Task.search:80")                                                                    \
    X(FUTURE_LOCK, "Future.lock:89")                                                               \
    X(FUTURE_SET, "Future.set:91")                                                                 \
    X(FUTURE_WAIT, "Future.get:97")                                                                \
    X(FUTURE_GET, "Future.get:99")
VM_SITES(SITES)

enum { TASK_KEY, TASK_FROM, TASK_END, TASK_FUTURE, TASK_RUNNER };
enum { FUTURE_DONE, FUTURE_HITS };
enum { QUEUE_TASKS, QUEUE_FIRST, QUEUE_COUNT, ROOM = 4 }; /* the queue is a ring of ROOM */
enum { KEYS = 16, STOP = -1 }; /* different data; the key of a task that ends its worker */
static const struct vm_type_of task_type =
    VM_TYPE("Task", {"key", VM_I32, EVF_FINAL}, {"from", VM_I32, EVF_FINAL},
            {"end", VM_I32, EVF_FINAL}, {"future", VM_REF, EVF_FINAL}, {"runner", VM_I32, 0});
static const struct vm_type_of future_type =
    VM_TYPE("Future", {"done", VM_I32, 0}, {"hits", VM_I32, 0});
static const struct vm_type_of queue_type =
    VM_TYPE("Queue", {"tasks", VM_REF, EVF_FINAL}, {"first", VM_I32, 0}, {"count", VM_I32, 0});

struct hedc_params {
    uint64_t archive, queries, tasks;
    bool racy;
};
struct hedc {
    const struct hedc_params *p;
    const struct vm_class *task, *future;
    struct vm_ref *archive, *queue;
    uint8_t *plain;    /* the archive */
    uint64_t reported; /* tasks seen running */
};

/* ---- the queue ------------------------------------------------------------------------------ */

/* Puts a task into the queue, or takes one from it. The conditions share one monitor, so notify
 * wakes all: a thread that is woken may wait for the other condition. */
static void queue_move(struct vm_thread *t, const struct hedc *h, struct vm_ref *task, bool put)
{
    struct vm_ref *tasks = vm_enter(t, 1);

    vm_lock(t, h->queue, AT_QUEUE_LOCK);
    while (vm_get_i32(t, h->queue, QUEUE_COUNT, AT_QUEUE) == (put ? ROOM : 0))
        vm_wait(t, h->queue, AT_QUEUE_WAIT);
    const int32_t n = vm_get_i32(t, h->queue, QUEUE_COUNT, AT_QUEUE);
    const int32_t first = vm_get_i32(t, h->queue, QUEUE_FIRST, AT_QUEUE);
    vm_get_ref(t, tasks, h->queue, QUEUE_TASKS, AT_QUEUE);
    if (put) {
        vm_store_ref(t, tasks, (uint64_t)(first + n) % ROOM, task, AT_QUEUE);
    } else {
        vm_load_ref(t, task, tasks, (uint64_t)first, AT_QUEUE);
        /* A slot that is free refers to nothing, or it would keep a task alive. */
        vm_store_ref(t, tasks, (uint64_t)first, NULL, AT_QUEUE);
        vm_put_i32(t, h->queue, QUEUE_FIRST, (first + 1) % ROOM, AT_QUEUE);
    }
    vm_put_i32(t, h->queue, QUEUE_COUNT, put ? n + 1 : n - 1, AT_QUEUE);
    vm_notify(t, h->queue, true, AT_QUEUE);
    vm_unlock(t, h->queue, AT_QUEUE_LOCK);
    vm_leave(t, tasks);
}

/* ---- tasks ---------------------------------------------------------------------------------- */

/* Notes that this thread runs the task, or tells who does. The lock is the task's; its absence is
 * the planted race. */
static int32_t runner(struct vm_thread *t, const struct hedc *h, struct vm_ref *task, bool put)
{
    int32_t who = vm_self(t);

    if (!h->p->racy)
        vm_lock(t, task, AT_RUNNER_LOCK);
    if (put)
        vm_put_i32(t, task, TASK_RUNNER, who, AT_RUNNER_WRITE);
    else
        who = vm_get_i32(t, task, TASK_RUNNER, AT_RUNNER_READ);
    if (!h->p->racy)
        vm_unlock(t, task, AT_RUNNER_LOCK);
    return who;
}

/* The archive is written before the workers begin, and only read then: no lock. */
static int32_t search(struct vm_thread *t, const struct hedc *h, struct vm_ref *task, int32_t key)
{
    const int32_t end = vm_get_i32(t, task, TASK_END, AT_TASK);
    int32_t hits = 0;

    for (int32_t i = vm_get_i32(t, task, TASK_FROM, AT_TASK); i < end; i++) {
        vm_compute(t, 2 + VM_LOOP); /* compare, add */
        hits += vm_load_i8(t, h->archive, (uint64_t)i, AT_SEARCH) == key;
    }
    return hits;
}

/* Runs a worker: it takes tasks until it gets one with the key STOP. */
static void serve(struct vm_thread *t, void *arg)
{
    const struct hedc *h = arg;
    struct vm_ref *r = vm_enter(t, 2); /* a task, its future */

    for (;;) {
        queue_move(t, h, &r[0], false);
        const int32_t key = vm_get_i32(t, &r[0], TASK_KEY, AT_TASK);
        if (key == STOP)
            break;
        runner(t, h, &r[0], true);
        const int32_t hits = search(t, h, &r[0], key);
        vm_get_ref(t, &r[1], &r[0], TASK_FUTURE, AT_TASK);
        vm_lock(t, &r[1], AT_FUTURE_LOCK);
        vm_put_i32(t, &r[1], FUTURE_HITS, hits, AT_FUTURE_SET);
        vm_put_i32(t, &r[1], FUTURE_DONE, 1, AT_FUTURE_SET);
        vm_notify(t, &r[1], true, AT_FUTURE_SET);
        vm_unlock(t, &r[1], AT_FUTURE_LOCK);
    }
    vm_leave(t, r);
}

/* ---- the client ----------------------------------------------------------------------------- */

/* A task is filled before the queue's lock publishes it; its fields are final. */
static void submit(struct vm_thread *t, const struct hedc *h, struct vm_ref *task, int32_t key,
                   uint64_t from, uint64_t end)
{
    struct vm_ref *future = vm_enter(t, 1);

    vm_new(t, future, h->future, AT_NEW);
    vm_new(t, task, h->task, AT_NEW);
    vm_put_i32(t, task, TASK_KEY, key, AT_NEW);
    vm_put_i32(t, task, TASK_FROM, (int32_t)from, AT_NEW);
    vm_put_i32(t, task, TASK_END, (int32_t)end, AT_NEW);
    vm_put_ref(t, task, TASK_FUTURE, future, AT_NEW);
    queue_move(t, h, task, true);
    vm_leave(t, future);
}

/* Waits for the task's future; hits and done are under the future's lock. */
static int32_t result(struct vm_thread *t, struct vm_ref *task)
{
    struct vm_ref *future = vm_enter(t, 1);

    vm_get_ref(t, future, task, TASK_FUTURE, AT_TASK);
    vm_lock(t, future, AT_FUTURE_LOCK);
    while (!vm_get_i32(t, future, FUTURE_DONE, AT_FUTURE_GET))
        vm_wait(t, future, AT_FUTURE_WAIT);
    const int32_t hits = vm_get_i32(t, future, FUTURE_HITS, AT_FUTURE_GET);
    vm_unlock(t, future, AT_FUTURE_LOCK);
    vm_leave(t, future);
    return hits;
}

static void query(struct vm_thread *t, struct hedc *h, int32_t key)
{
    const uint64_t n = h->p->tasks, bytes = h->p->archive;
    struct vm_ref *task = vm_enter(t, (unsigned)n);
    int32_t hits = 0, want = 0;

    for (uint64_t i = 0; i < n; i++)
        submit(t, h, &task[i], key, bytes * i / n, bytes * (i + 1) / n);
    for (uint64_t i = 0; i < n; i++)
        h->reported += runner(t, h, &task[i], false) != 0;
    for (uint64_t i = 0; i < n; i++)
        hits += result(t, &task[i]);
    for (uint64_t i = 0; i < bytes; i++)
        want += h->plain[i] == key;
    vm_check(t, hits == want, "hedc: %d hits for %d, not %d", (int)hits, (int)key, (int)want);
    vm_leave(t, task);
}

static void init(struct vm_thread *t, struct hedc *h)
{
    struct vm_ref *tasks = vm_enter(t, 1);

    h->task = vm_class(t, &task_type, NULL);
    h->future = vm_class(t, &future_type, NULL);
    h->archive = vm_global(t);
    h->plain = vm_scratch(t, h->p->archive, 1);
    h->queue = team_new(t, vm_class(t, &queue_type, NULL), AT_INIT);
    vm_new_array(t, tasks, VM_REF, ROOM, AT_INIT);
    vm_put_ref(t, h->queue, QUEUE_TASKS, tasks, AT_INIT);
    vm_new_array(t, h->archive, VM_I8, h->p->archive, AT_INIT);
    for (uint64_t i = 0; i < h->p->archive; i++) {
        h->plain[i] = (uint8_t)rng_below(vm_rng(t), KEYS);
        vm_store_i8(t, h->archive, i, h->plain[i], AT_INIT);
    }
    vm_leave(t, tasks);
}

static void hedc_main(struct vm_thread *t, const void *p)
{
    const uint64_t workers = vm_params(t)->threads;
    sim_tid *worker = vm_scratch(t, workers, sizeof *worker);
    struct hedc h = {.p = p};
    struct vm_ref *stop = vm_enter(t, 1);

    init(t, &h);
    vm_phase(t, "run");
    vm_roi_begin(t);
    for (uint64_t i = 0; i < workers; i++)
        worker[i] = vm_fork(t, serve, &h, AT_FORK);
    for (uint64_t i = 0; i < h.p->queries; i++)
        query(t, &h, (int32_t)rng_below(vm_rng(t), KEYS));
    for (uint64_t i = 0; i < workers; i++)
        /* Each worker gets a STOP: it ends with the one that it takes, and leaves the others
         * theirs. */
        submit(t, &h, stop, STOP, 0, 0);
    for (uint64_t i = 0; i < workers; i++)
        vm_join(t, worker[i], AT_FORK);
    vm_roi_end(t);
    vm_phase(t, "verify");
    vm_check(t, h.reported <= h.p->queries * h.p->tasks, "hedc: too many tasks run");
    vm_leave(t, stop);
}

static const struct param hedc_rows[] = {
    ROW_U64(hedc, archive, "4096", 1, 1 << 30, "bytes", "What is searched."),
    ROW_U64(hedc, queries, "20", 0, UINT32_MAX, "queries", "How many."),
    ROW_U64(hedc, tasks, "8", 1, 1000, "tasks", "Parts of a query."),
    ROW_BOOL(hedc, racy, "off", "Leaves the lock away that protects who runs a task."),
    PARAM_END,
};
static const struct workload_plant hedc_plants[] = {
    {"Task.getRunner:71", "Task.setRunner:67",
     "With racy=on the client reads who runs a task while the worker writes it."},
    {NULL, NULL, NULL}};

const struct workload workload_hedc = {
    WORKLOAD_CALLED(hedc),
    .summary = "queries split into tasks for a pool of workers, with futures",
    .source = "goldilocks",
    .length = "queries",
    .sizes = {"archive=4096,queries=20", "archive=16384,queries=200", "archive=65536,queries=1500"},
    .granularity = 1,
    .took = {31, 75},
    .plants = hedc_plants,
};
