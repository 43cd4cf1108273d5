/* pool.c - many short lives: threads fill buffers from a shared pool with the sums of lists that
 * they build and drop, while the heap is collected again and again. Memory that one thread's dead
 * nodes lay in becomes another's without any synchronisation of the program (a false race for who
 * ignores Clear), and what lives on is moved between its accesses.
 *
 * In each round one thread hands a ticket to the next through the pool, and then both punch it, the
 * second one after a collection has moved it. With racy=on that is done without the ticket's lock:
 * the race of LARD's Figure 1, lower right, planted, and missed by who ignores Copy. That the
 * punches come in this order, as if by chance, is arranged beside the program, with no event. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(INIT, "Pool.init:18")                                                                        \
    X(FORK, "Pool.run:26")                                                                         \
    X(NODE, "Worker.grow:34")                                                                      \
    X(GROW, "Worker.grow:36")                                                                      \
    X(SUM, "Worker.sum:45")                                                                        \
    X(CHANGE, "Worker.sum:47")                                                                     \
    X(POOL_LOCK, "Pool.lock:55")                                                                   \
    X(POOL, "Pool.take:58")                                                                        \
    X(BUFFER_NEW, "Pool.take:60")                                                                  \
    X(FILL, "Buffer.fill:68")                                                                      \
    X(TOTAL, "Pool.give:75")                                                                       \
    X(TICKET, "Pool.publish:84")                                                                   \
    X(PUNCH_LOCK, "Ticket.lock:92")                                                                \
    X(FIRST, "Ticket.first:95")                                                                    \
    X(SECOND, "Ticket.second:99")                                                                  \
    X(VERIFY, "Pool.verify:107")
VM_SITES(SITES)

enum { NODE_KEY, NODE_SUM, NODE_NEXT };
enum { BUFFER_USES, BUFFER_DATA, BUFFER_NEXT };
enum { POOL_BUFFERS, POOL_TICKETS, POOL_TOTAL };
enum { TICKET_PUNCHES };
enum { WORDS = 8, WEAR = 3 }; /* words of a buffer; uses until it is thrown away */
static const struct vm_type_of node_type =
    VM_TYPE("Node", {"key", VM_I32, 0}, {"sum", VM_I64, 0}, {"next", VM_REF, 0});
static const struct vm_type_of buffer_type =
    VM_TYPE("Buffer", {"uses", VM_I32, 0}, {"data", VM_REF, 0}, {"next", VM_REF, 0});
static const struct vm_type_of pool_type =
    VM_TYPE("Pool", {"buffers", VM_REF, 0}, {"tickets", VM_REF, EVF_FINAL}, {"total", VM_I64, 0});
static const struct vm_type_of ticket_type = VM_TYPE("Ticket", {"punches", VM_I32, 0});

struct pool_params {
    uint64_t rounds, lists, nodes, collect;
    bool racy;
};
enum turn { PUBLISHED = 1, MET, PUNCHED }; /* how far a round's two threads have come */
struct pool_job {
    const struct pool_params *p;
    const struct vm_class *node, *buffer, *ticket;
    struct vm_ref *pool;
    uint8_t *turn; /* by round: enum turn */
};

static int32_t key(uint64_t id, uint64_t list, uint64_t i)
{
    return (int32_t)((id * 7919 + list * 104729 + i * 31) % 1000);
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* Nodes that hold the sums of their keys and those behind. */
static void grow(struct vm_thread *t, const struct member *m, uint64_t list, struct vm_ref *first)
{
    const struct pool_job *j = m->job;
    struct vm_ref *new = vm_enter(t, 1);

    vm_set_null(first);
    for (uint64_t i = 0; i < j->p->nodes; i++) {
        vm_new(t, new, j->node, AT_NODE);
        vm_compute(t, 6 + VM_LOOP); /* the key: three products, two sums, a remainder */
        vm_put_i32(t, new, NODE_KEY, key(m->id, list, i), AT_GROW);
        vm_put_i64(t, new, NODE_SUM, 0, AT_GROW);
        vm_put_ref(t, new, NODE_NEXT, first, AT_GROW);
        vm_assign(t, first, new);
    }
    vm_leave(t, new);
}

static int64_t sum(struct vm_thread *t, struct vm_ref *first)
{
    struct vm_ref *at = vm_enter(t, 1);
    int64_t sum = 0;

    for (vm_assign(t, at, first); !vm_is_null(at); vm_get_ref(t, at, at, NODE_NEXT, AT_SUM)) {
        vm_compute(t, 2 + 2); /* two additions, compare with null, branch */
        sum += vm_get_i32(t, at, NODE_KEY, AT_SUM) + vm_get_i64(t, at, NODE_SUM, AT_SUM);
        /* A change that a second walk after a collection must find where the node is now. */
        vm_put_i64(t, at, NODE_SUM, 1, AT_CHANGE);
    }
    vm_leave(t, at);
    return sum;
}

/* Two lists at a time live: the last but one was summed up before a collection, is summed up again
 * after it, and dies. */
static int64_t churn(struct vm_thread *t, const struct member *m, uint64_t round)
{
    const struct pool_params *p = ((const struct pool_job *)m->job)->p;
    struct vm_ref *list = vm_enter(t, 2);
    int64_t all = 0;

    for (uint64_t i = 0; i < p->lists; i++) {
        vm_assign(t, &list[1], &list[0]);
        grow(t, m, round * p->lists + i, &list[0]);
        all += sum(t, &list[0]);
        if (p->collect && i % p->collect == p->collect - 1)
            vm_collect(t);
        all += sum(t, &list[1]);
    }
    vm_leave(t, list);
    return all;
}

/* ---- the pool ------------------------------------------------------------------------------- */

/* A buffer that is taken is its thread's alone until it is given back: no lock is held while it is
 * filled, and the pool's lock orders one user after the other. */
static void buffer_take(struct vm_thread *t, const struct pool_job *j, struct vm_ref *buffer)
{
    struct vm_ref *r = vm_enter(t, 1);

    vm_lock(t, j->pool, AT_POOL_LOCK);
    vm_get_ref(t, buffer, j->pool, POOL_BUFFERS, AT_POOL);
    if (!vm_is_null(buffer)) {
        vm_get_ref(t, r, buffer, BUFFER_NEXT, AT_POOL);
        vm_put_ref(t, j->pool, POOL_BUFFERS, r, AT_POOL);
    }
    vm_unlock(t, j->pool, AT_POOL_LOCK);
    /* The buffer is made without the lock, as no other thread knows it yet. */
    if (vm_is_null(buffer)) {
        vm_new(t, buffer, j->buffer, AT_BUFFER_NEW);
        vm_new_array(t, r, VM_I64, WORDS, AT_BUFFER_NEW);
        vm_put_ref(t, buffer, BUFFER_DATA, r, AT_BUFFER_NEW);
    }
    vm_leave(t, r);
}

static int64_t buffer_fill(struct vm_thread *t, struct vm_ref *buffer, int64_t sum)
{
    struct vm_ref *data = vm_enter(t, 1);
    int64_t checksum = 0;

    vm_get_ref(t, data, buffer, BUFFER_DATA, AT_FILL);
    for (uint64_t i = 0; i < WORDS; i++)
        vm_store_i64(t, data, i, sum >> i, AT_FILL);
    for (uint64_t i = 0; i < WORDS; i++)
        checksum += vm_load_i64(t, data, i, AT_FILL);
    vm_put_i32(t, buffer, BUFFER_USES, 1 + vm_get_i32(t, buffer, BUFFER_USES, AT_FILL), AT_FILL);
    vm_leave(t, data);
    return checksum;
}

static void buffer_give(struct vm_thread *t, const struct pool_job *j, struct vm_ref *buffer,
                        int64_t checksum)
{
    struct vm_ref *r = vm_enter(t, 1);
    const bool worn = vm_get_i32(t, buffer, BUFFER_USES, AT_FILL) >= WEAR;

    vm_lock(t, j->pool, AT_POOL_LOCK);
    vm_put_i64(t, j->pool, POOL_TOTAL, checksum + vm_get_i64(t, j->pool, POOL_TOTAL, AT_TOTAL),
               AT_TOTAL);
    if (!worn) {
        vm_get_ref(t, r, j->pool, POOL_BUFFERS, AT_POOL);
        vm_put_ref(t, buffer, BUFFER_NEXT, r, AT_POOL);
        vm_put_ref(t, j->pool, POOL_BUFFERS, buffer, AT_POOL);
    }
    vm_unlock(t, j->pool, AT_POOL_LOCK);
    vm_leave(t, r);
}

/* ---- tickets -------------------------------------------------------------------------------- */

/* The round's ticket, put into the pool or got from there. */
static void exchange(struct vm_thread *t, const struct pool_job *j, uint64_t round, bool put,
                     struct vm_ref *ticket)
{
    struct vm_ref *tickets = vm_enter(t, 1);

    vm_lock(t, j->pool, AT_POOL_LOCK);
    vm_get_ref(t, tickets, j->pool, POOL_TICKETS, AT_TICKET);
    if (put)
        vm_store_ref(t, tickets, round, ticket, AT_TICKET);
    else
        vm_load_ref(t, ticket, tickets, round, AT_TICKET);
    vm_unlock(t, j->pool, AT_POOL_LOCK);
    vm_leave(t, tickets);
}

static int32_t punch(struct vm_thread *t, const struct pool_job *j, struct vm_ref *ticket,
                     uint64_t site)
{
    if (!j->p->racy)
        vm_lock(t, ticket, AT_PUNCH_LOCK);
    const int32_t n = 1 + vm_get_i32(t, ticket, TICKET_PUNCHES, site);
    vm_put_i32(t, ticket, TICKET_PUNCHES, n, site);
    if (!j->p->racy)
        vm_unlock(t, ticket, AT_PUNCH_LOCK);
    return n;
}

/* Yields without an event: the order is arranged beside the program, so no policy sees a reason for
 * it. */
static void await(struct vm_thread *t, const uint8_t *turn, enum turn until)
{
    while (*turn < until)
        vm_yield(t);
}

/* Punches after the other has the ticket: so the pool's lock, which both take before, does not
 * order the two punches. */
static void first(struct vm_thread *t, const struct pool_job *j, uint64_t round)
{
    struct vm_ref *ticket = vm_enter(t, 1);

    vm_new(t, ticket, j->ticket, AT_TICKET);
    exchange(t, j, round, true, ticket);
    j->turn[round] = PUBLISHED;
    await(t, &j->turn[round], MET);
    vm_check(t, punch(t, j, ticket, AT_FIRST) == 1, "pool: a new ticket is punched");
    j->turn[round] = PUNCHED;
    vm_leave(t, ticket);
}

static void second(struct vm_thread *t, const struct pool_job *j, uint64_t round)
{
    struct vm_ref *ticket = vm_enter(t, 1);

    await(t, &j->turn[round], PUBLISHED);
    exchange(t, j, round, false, ticket);
    j->turn[round] = MET;
    await(t, &j->turn[round], PUNCHED);
    vm_collect(t);
    vm_check(t, punch(t, j, ticket, AT_SECOND) == 2, "pool: the first punch is lost");
    exchange(t, j, round, true, NULL);
    vm_leave(t, ticket);
}

static void work(struct vm_thread *t, const struct member *m)
{
    const struct pool_job *j = m->job;
    struct vm_ref *buffer = vm_enter(t, 1);

    for (uint64_t i = 0; i < j->p->rounds; i++) {
        const int64_t all = churn(t, m, i);
        buffer_take(t, j, buffer);
        buffer_give(t, j, buffer, buffer_fill(t, buffer, all));
        if (m->of > 1 && i % m->of == m->id)
            first(t, j, i);
        if (m->of > 1 && (i + 1) % m->of == m->id)
            second(t, j, i);
    }
    vm_leave(t, buffer);
}

/* ---- before and after ----------------------------------------------------------------------- */

static void init(struct vm_thread *t, struct pool_job *j)
{
    struct vm_ref *r = vm_enter(t, 1);

    j->node = vm_class(t, &node_type, NULL);
    j->buffer = vm_class(t, &buffer_type, NULL);
    j->ticket = vm_class(t, &ticket_type, NULL);
    j->turn = vm_scratch(t, j->p->rounds + 1, 1);
    j->pool = team_new(t, vm_class(t, &pool_type, NULL), AT_INIT);
    vm_new_array(t, r, VM_REF, j->p->rounds, AT_INIT);
    vm_put_ref(t, j->pool, POOL_TICKETS, r, AT_INIT);
    vm_leave(t, r);
}

/* Returns the value that a round of one thread adds to the total. */
static int64_t plain(const struct pool_params *p, uint64_t id, uint64_t round)
{
    int64_t all = 0, checksum = 0, last = 0;

    for (uint64_t i = 0; i < p->lists; i++) {
        int64_t keys = 0;
        for (uint64_t k = 0; k < p->nodes; k++)
            keys += key(id, round * p->lists + i, k);
        all += keys + last; /* when summed up again, each node's sum is 1 */
        last = keys + (int64_t)p->nodes;
    }
    for (unsigned i = 0; i < WORDS; i++)
        checksum += all >> i;
    return checksum;
}

static void pool_main(struct vm_thread *t, const void *p)
{
    struct pool_job j = {.p = p};
    int64_t want = 0;

    init(t, &j);
    team_measure(t, work, &j, AT_FORK);
    for (uint64_t i = 0; i < vm_params(t)->threads * j.p->rounds; i++)
        want += plain(j.p, i / j.p->rounds, i % j.p->rounds);
    const int64_t is = vm_get_i64(t, j.pool, POOL_TOTAL, AT_VERIFY);
    vm_check(t, is == want, "pool: the total is %lld, not %lld", (long long)is, (long long)want);
}

static const struct param pool_rows[] = {
    ROW_U64(pool, rounds, "6", 0, 1000000, "", "Buffers that each thread fills."),
    ROW_U64(pool, lists, "8", 1, 1000000, "lists", "Built for each buffer."),
    ROW_U64(pool, nodes, "40", 0, 1000000, "nodes", "In a list."),
    ROW_U64(pool, collect, "2", 0, 1000000, "lists",
            "A thread asks for a collection after so many, 0 for never."),
    ROW_BOOL(pool, racy, "off", "Punches tickets without their locks."),
    PARAM_END,
};
static const struct workload_plant pool_plants[] = {
    {"Ticket.first:95", "Ticket.second:99",
     "With racy=on a ticket is punched by two threads, and moved by a collection between."},
    {NULL, NULL, NULL}};

const struct workload workload_pool = {
    WORKLOAD_CALLED(pool),
    .summary = "short lives and buffers from a pool: memory is reused, what lives moves",
    .source = "lard",
    .length = "rounds",
    .sizes = {"rounds=6,lists=8,nodes=40,collect=2", "rounds=24,lists=24,nodes=100,collect=4",
              "rounds=100,lists=64,nodes=250,collect=16"},
    .granularity = 4,
    .plants = pool_plants,
};
