/* multiset.c - the concurrent multiset of Goldilocks 6.1: threads insert, delete and look for
 * numbers in an array of slots. An insertion takes its slots one by one, each in a transaction, and
 * then makes all of them visible, or frees them when there were too few, in one more. The arrays of
 * what is to be inserted come from a shared factory and are handled outside transactions. With
 * mode=locks each slot has a lock, and what is one transaction holds the locks that it needs. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(INIT, "Multiset.init:14")                                                                    \
    X(FORK, "Multiset.run:22")                                                                     \
    X(FACTORY_LOCK, "Factory.lock:30")                                                             \
    X(FACTORY, "Factory.take:33")                                                                  \
    X(FACTORY_NEW, "Factory.take:36")                                                              \
    X(ARRAY, "Multiset.insert:45")                                                                 \
    X(TXN, "Multiset.transaction:50")                                                              \
    X(LOCK, "Multiset.lock:54")                                                                    \
    X(SLOT, "Multiset.slot:58")                                                                    \
    X(FIND, "Multiset.take:63")                                                                    \
    X(TAKE, "Multiset.take:66")                                                                    \
    X(SET, "Multiset.setAll:74")                                                                   \
    X(DELETE, "Multiset.delete:83")                                                                \
    X(LOOK, "Multiset.count:95")                                                                   \
    X(VERIFY, "Multiset.verify:104")
VM_SITES(SITES)

enum { MOST = 3, STOCK = 8 }; /* the most of one insertion; arrays in the factory */
enum { STATE, VALUE };        /* fields of a slot */
enum { FREE, TAKEN, FULL };   /* states */
enum { ARRAYS, COUNT };       /* fields of the factory */
enum { MODE_TXN, MODE_LOCKS };
static const struct vm_type_of slot_type =
    VM_TYPE("Slot", {"state", VM_I32, 0}, {"value", VM_I32, 0});
static const struct vm_type_of factory_type =
    VM_TYPE("Factory", {"arrays", VM_REF, EVF_FINAL}, {"count", VM_I32, 0});

struct multiset_params {
    uint64_t slots, ops, values;
    uint32_t mode;
};
struct multiset {
    const struct multiset_params *p;
    struct vm_ref *elements, *factory;
    int64_t *net; /* by member and value: insertions less deletions; the sum is what must be left */
};
struct user { /* one thread's tools; roots, an own column of net */
    const struct multiset_params *p;
    const struct multiset *s;
    struct vm_ref *slot, *array, *stock;
    int64_t *net;
};

/* ---- transactions, or locks ----------------------------------------------------------------- */

static void enter(struct vm_thread *t, const struct user *u)
{
    if (u->p->mode == MODE_TXN)
        vm_txn_begin(t, 0, AT_TXN);
}

static void leave(struct vm_thread *t, const struct user *u)
{
    if (u->p->mode == MODE_TXN)
        vm_txn_commit(t, AT_TXN);
}

/* Slot i is the user's `slot` from now on. */
static void open_slot(struct vm_thread *t, const struct user *u, uint64_t i)
{
    vm_load_ref(t, u->slot, u->s->elements, i, AT_SLOT);
    if (u->p->mode == MODE_LOCKS)
        vm_lock(t, u->slot, AT_LOCK);
}

static void close_slot(struct vm_thread *t, const struct user *u)
{
    if (u->p->mode == MODE_LOCKS)
        vm_unlock(t, u->slot, AT_LOCK);
}

/* ---- operations ----------------------------------------------------------------------------- */

/* Takes a free slot from number `from` on for the value, and returns it; if there is none, the
 * number of slots. */
static uint64_t slot_take(struct vm_thread *t, const struct user *u, uint64_t from, int32_t value)
{
    uint64_t i = from;
    bool found = false;

    enter(t, u);
    while (i < u->p->slots && !found) {
        vm_compute(t, 2 + VM_LOOP);
        open_slot(t, u, i);
        found = vm_get_i32(t, u->slot, STATE, AT_FIND) == FREE;
        if (found) {
            vm_put_i32(t, u->slot, STATE, TAKEN, AT_TAKE);
            vm_put_i32(t, u->slot, VALUE, value, AT_TAKE);
        }
        close_slot(t, u);
        i += !found;
    }
    leave(t, u);
    return i;
}

/* Sets the state of n slots, in ascending order so that locks are, too, as one change. */
static void set_all(struct vm_thread *t, const struct user *u, const uint64_t *slot, unsigned n,
                    int32_t state)
{
    struct vm_ref *r = vm_enter(t, MOST);

    enter(t, u);
    for (unsigned i = 0; i < n; i++) {
        open_slot(t, u, slot[i]);
        vm_assign(t, &r[i], u->slot);
        vm_put_i32(t, u->slot, STATE, state, AT_SET);
    }
    for (unsigned i = n; i-- > 0;) {
        vm_assign(t, u->slot, &r[i]);
        close_slot(t, u);
    }
    leave(t, u);
    vm_leave(t, r);
}

static void insert(struct vm_thread *t, const struct user *u)
{
    const unsigned n = vm_length(t, u->array);
    uint64_t slot[MOST], from = 0;
    int32_t value[MOST];
    unsigned taken = 0;

    for (unsigned i = 0; i < n; i++)
        value[i] = vm_load_i32(t, u->array, i, AT_ARRAY);
    while (taken < n && (from = slot_take(t, u, from, value[taken])) < u->p->slots)
        slot[taken++] = from++;
    set_all(t, u, slot, taken, taken == n ? FULL : FREE);
    for (unsigned i = 0; taken == n && i < n; i++)
        u->net[value[i]]++;
}

static void erase(struct vm_thread *t, const struct user *u, int32_t value)
{
    bool found = false;

    enter(t, u);
    for (uint64_t i = 0; i < u->p->slots && !found; i++) {
        vm_compute(t, 4 + VM_LOOP);
        open_slot(t, u, i);
        found = vm_get_i32(t, u->slot, STATE, AT_DELETE) == FULL &&
                vm_get_i32(t, u->slot, VALUE, AT_DELETE) == value;
        if (found)
            vm_put_i32(t, u->slot, STATE, FREE, AT_DELETE);
        close_slot(t, u);
    }
    leave(t, u);
    u->net[value] -= found;
}

static uint64_t count(struct vm_thread *t, const struct user *u, int32_t value)
{
    uint64_t n = 0;

    enter(t, u);
    for (uint64_t i = 0; i < u->p->slots; i++) {
        open_slot(t, u, i);
        n += vm_get_i32(t, u->slot, STATE, AT_LOOK) == FULL &&
             vm_get_i32(t, u->slot, VALUE, AT_LOOK) == value;
        close_slot(t, u);
    }
    leave(t, u);
    return n;
}

/* ---- the factory ---------------------------------------------------------------------------- */

static int32_t value(struct vm_thread *t, const struct user *u)
{
    return (int32_t)rng_below(vm_rng(t), u->p->values);
}

/* An array that somebody may have used before, with numbers of this thread's. */
static void get_array(struct vm_thread *t, const struct user *u)
{
    struct vm_ref *factory = u->s->factory;

    vm_lock(t, factory, AT_FACTORY_LOCK);
    vm_get_ref(t, u->stock, factory, ARRAYS, AT_FACTORY);
    const int32_t n = vm_get_i32(t, factory, COUNT, AT_FACTORY);
    if (n > 0) {
        vm_load_ref(t, u->array, u->stock, (uint64_t)n - 1, AT_FACTORY);
        vm_put_i32(t, factory, COUNT, n - 1, AT_FACTORY);
    } else {
        vm_new_array(t, u->array, VM_I32, 1 + rng_below(vm_rng(t), MOST), AT_FACTORY_NEW);
    }
    vm_unlock(t, factory, AT_FACTORY_LOCK);
    for (uint32_t i = 0; i < vm_length(t, u->array); i++)
        vm_store_i32(t, u->array, i, value(t, u), AT_ARRAY);
}

static void give_array(struct vm_thread *t, const struct user *u)
{
    struct vm_ref *factory = u->s->factory;

    vm_lock(t, factory, AT_FACTORY_LOCK);
    vm_get_ref(t, u->stock, factory, ARRAYS, AT_FACTORY);
    const int32_t n = vm_get_i32(t, factory, COUNT, AT_FACTORY);
    if (n < STOCK) {
        vm_store_ref(t, u->stock, (uint64_t)n, u->array, AT_FACTORY);
        vm_put_i32(t, factory, COUNT, n + 1, AT_FACTORY);
    }
    vm_unlock(t, factory, AT_FACTORY_LOCK);
}

static void work(struct vm_thread *t, const struct member *m)
{
    const struct multiset *s = m->job;
    struct vm_ref *r = vm_enter(t, 3);
    const struct user u = {s->p, s, &r[0], &r[1], &r[2], s->net + m->id * s->p->values};

    for (uint64_t i = 0; i < s->p->ops; i++) {
        const uint64_t what = rng_below(vm_rng(t), 4);
        if (what < 2) {
            get_array(t, &u);
            insert(t, &u);
            give_array(t, &u);
        } else if (what == 2) {
            erase(t, &u, value(t, &u));
        } else {
            vm_check(t, count(t, &u, value(t, &u)) <= s->p->slots, "multiset: too many");
        }
    }
    vm_leave(t, r);
}

/* ---- before and after ----------------------------------------------------------------------- */

static void init(struct vm_thread *t, struct multiset *s)
{
    struct vm_ref *r = vm_enter(t, 1);

    s->net = vm_scratch(t, vm_params(t)->threads * s->p->values, sizeof *s->net);
    s->elements = team_array(t, VM_REF, s->p->slots, AT_INIT);
    team_fill(t, s->elements, s->p->slots, vm_class(t, &slot_type, NULL), r, AT_INIT);
    s->factory = team_new(t, vm_class(t, &factory_type, NULL), AT_INIT);
    vm_new_array(t, r, VM_REF, STOCK, AT_INIT);
    vm_put_ref(t, s->factory, ARRAYS, r, AT_INIT);
    vm_leave(t, r);
}

/* The elements at the end must be those that all operations together leave, in whatever order. */
static void verify(struct vm_thread *t, const struct multiset *s)
{
    int64_t *left = vm_scratch(t, s->p->values, sizeof *left);
    struct vm_ref *slot = vm_enter(t, 1);

    for (uint64_t i = 0; i < vm_params(t)->threads * s->p->values; i++)
        left[i % s->p->values] += s->net[i];
    for (uint64_t i = 0; i < s->p->slots; i++) {
        vm_load_ref(t, slot, s->elements, i, AT_VERIFY);
        const int32_t state = vm_get_i32(t, slot, STATE, AT_VERIFY);
        vm_check(t, state != TAKEN, "multiset: slot %u is half inserted", (unsigned)i);
        if (state == FULL)
            left[vm_get_i32(t, slot, VALUE, AT_VERIFY)]--;
    }
    for (uint64_t i = 0; i < s->p->values; i++)
        vm_check(t, left[i] == 0, "multiset: %d of number %u too few", (int)left[i], (unsigned)i);
    vm_leave(t, slot);
}

static void multiset_main(struct vm_thread *t, const void *p)
{
    struct multiset s = {.p = p};

    init(t, &s);
    team_measure(t, work, &s, AT_FORK);
    verify(t, &s);
}

static const char *const modes[] = {"txn", "locks", NULL};
static const struct param multiset_rows[] = {
    ROW_U64(multiset, slots, "10", 1, 1000000, "slots", "Room for numbers."),
    ROW_U64(multiset, ops, "500", 0, UINT32_MAX, "operations", "Of each thread."),
    ROW_U64(multiset, values, "8", 1, 10000, "numbers", "Different ones."),
    ROW_CHOICE(multiset, mode, "txn", modes, "Transactions, or a lock on each slot."),
    PARAM_END,
};

const struct workload workload_multiset = {
    WORKLOAD_CALLED(multiset),
    .summary = "a concurrent multiset with transactions, or with locks (mode=locks)",
    .source = "goldilocks",
    .length = "ops",
    .sizes = {"ops=500", "ops=30000", "ops=500000"},
    .granularity = 4,
};
