/* philosopher.c - dining philosophers (Dijkstra): each takes the two forks beside it, the one of
 * the lower number first, which can't deadlock, and eats. Locks and waits, hardly any data. A
 * fork's fields are under its own lock, meals under the table's. Planted with race=on: a
 * philosopher counts its meals at the table without the table's lock. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(NEW, "Philosophers.main:12")                                                                 \
    X(FORK, "Philosophers.main:20")                                                                \
    X(JOIN, "Philosophers.main:24")                                                                \
    X(LEFT, "Philosopher.eat:35")                                                                  \
    X(RIGHT, "Philosopher.eat:36")                                                                 \
    X(USE, "Philosopher.eat:38")                                                                   \
    X(COUNT, "Philosopher.eat:41")                                                                 \
    X(DONE, "Philosopher.run:50")                                                                  \
    X(WAIT, "Philosophers.main:28")                                                                \
    X(RESULT, "Philosophers.main:31")
VM_SITES(SITES)

struct philosopher_params {
    uint64_t meals;
    bool race;
};
static const struct param philosopher_rows[] = {
    ROW_U64(philosopher, meals, "50", 1, 1u << 30, "meals", "Meals of each philosopher."),
    ROW_BOOL(philosopher, race, "off", "Meals at the table are counted without its lock."),
    PARAM_END};

enum { FORK_USES, FORK_LAST };
static const struct vm_type_of fork_type =
    VM_TYPE("Fork", {"uses", VM_I32, 0}, {"last", VM_REF, 0});

enum { TABLE_MEALS, TABLE_DONE, TABLE_OPEN };
static const struct vm_type_of table_type =
    VM_TYPE("Table", {"meals", VM_I32, 0}, {"done", VM_I32, 0}, {"open", VM_I32, EVF_VOLATILE});

struct dinner {
    const struct philosopher_params *p;
    struct vm_ref *table, *forks; /* globals */
    uint64_t seats, next;
};

/* The caller has the fork's lock. */
static void use_fork(struct vm_thread *t, struct vm_ref *f)
{
    vm_put_i32(t, f, FORK_USES, vm_get_i32(t, f, FORK_USES, AT_USE) + 1, AT_USE);
    vm_put_ref(t, f, FORK_LAST, f, AT_USE);
}

static void count_meal(struct vm_thread *t, struct dinner *d)
{
    if (!d->p->race)
        vm_lock(t, d->table, AT_COUNT);
    vm_put_i32(t, d->table, TABLE_MEALS, vm_get_i32(t, d->table, TABLE_MEALS, AT_COUNT) + 1,
               AT_COUNT);
    if (!d->p->race)
        vm_unlock(t, d->table, AT_COUNT);
}

enum {                         /* instructions, beside those of accesses */
       SEAT = 2 + 2 + VM_LOOP, /* the other fork's number; which of them comes first */
       EATING = 40             /* an input: a program that eats computes nothing */
};

static void eat(struct vm_thread *t, struct dinner *d, uint64_t seat)
{
    /* The last one's other fork is number 0: it alone takes its right fork first. */
    const uint64_t other = (seat + 1) % d->seats;
    struct vm_ref *r = vm_enter(t, 2);

    vm_compute(t, SEAT);
    vm_load_ref(t, &r[0], d->forks, seat < other ? seat : other, AT_LEFT);
    vm_load_ref(t, &r[1], d->forks, seat < other ? other : seat, AT_RIGHT);
    vm_lock(t, &r[0], AT_LEFT);
    vm_lock(t, &r[1], AT_RIGHT);
    use_fork(t, &r[0]);
    vm_compute(t, EATING);
    use_fork(t, &r[1]);
    vm_unlock(t, &r[1], AT_RIGHT);
    vm_unlock(t, &r[0], AT_LEFT);
    count_meal(t, d);
    vm_leave(t, r);
}

static void philosopher(struct vm_thread *t, void *arg)
{
    struct dinner *d = arg;
    /* The seat is taken without an event, as it is no part of the program. */
    const uint64_t seat = d->next++;

    /* The philosophers begin when the table is open, so that they meet; a volatile tells them, as
     * no lock is held. */
    while (!vm_get_i32(t, d->table, TABLE_OPEN, AT_WAIT))
        vm_yield(t);
    for (uint64_t i = 0; i < d->p->meals; i++)
        eat(t, d, seat);
    vm_lock(t, d->table, AT_DONE);
    vm_put_i32(t, d->table, TABLE_DONE, vm_get_i32(t, d->table, TABLE_DONE, AT_DONE) + 1, AT_DONE);
    vm_notify(t, d->table, true, AT_DONE);
    vm_unlock(t, d->table, AT_DONE);
}

static void lay_table(struct vm_thread *t, struct dinner *d)
{
    struct vm_ref *r = vm_enter(t, 1);
    const struct vm_class *fork_class = vm_class(t, &fork_type, NULL);

    vm_new(t, d->table, vm_class(t, &table_type, NULL), AT_NEW);
    vm_new_array(t, d->forks, VM_REF, d->seats, AT_NEW);
    team_fill(t, d->forks, d->seats, fork_class, &r[0], AT_NEW);
    vm_leave(t, r);
}

/* Each fork is between two philosophers, so it is used twice as often as each of them eats: it
 * holds with race=on, too, which takes away the table's lock only. */
static void check_forks(struct vm_thread *t, struct dinner *d)
{
    struct vm_ref *r = vm_enter(t, 1);

    for (uint64_t i = 0; i < d->seats; i++) {
        vm_load_ref(t, &r[0], d->forks, i, AT_RESULT);
        const int32_t uses = vm_get_i32(t, &r[0], FORK_USES, AT_RESULT);
        vm_check(t, (uint64_t)uses == 2 * d->p->meals, "fork %u was used %d times", (unsigned)i,
                 uses);
    }
    vm_leave(t, r);
}

static void philosopher_main(struct vm_thread *t, const void *p)
{
    struct dinner d = {
        .p = p, .table = vm_global(t), .forks = vm_global(t), .seats = vm_params(t)->threads};

    lay_table(t, &d);
    sim_tid *child = vm_scratch(t, d.seats, sizeof *child);
    vm_roi_begin(t);
    for (uint64_t i = 0; i < d.seats; i++)
        child[i] = vm_fork(t, philosopher, &d, AT_FORK);
    vm_put_i32(t, d.table, TABLE_OPEN, 1, AT_FORK);
    vm_lock(t, d.table, AT_WAIT);
    while ((uint64_t)vm_get_i32(t, d.table, TABLE_DONE, AT_WAIT) < d.seats)
        vm_wait(t, d.table, AT_WAIT);
    vm_unlock(t, d.table, AT_WAIT);
    for (uint64_t i = 0; i < d.seats; i++)
        vm_join(t, child[i], AT_JOIN);
    vm_roi_end(t);
    const int32_t meals = vm_get_i32(t, d.table, TABLE_MEALS, AT_RESULT);
    vm_check(t, d.p->race || (uint64_t)meals == d.seats * d.p->meals, "%d meals", meals);
    check_forks(t, &d);
}

static int check(const void *p, const struct vm_params *vm, struct err *e)
{
    const struct philosopher_params *own = p;

    if (vm->threads < 2)
        return err_set(e, LARD_CONFIG, "threads: at least 2 have to dine");
    if (own->meals * vm->threads > INT32_MAX)
        return err_set(e, LARD_CONFIG, "meals: more than 2^31 in all");
    return 0;
}

static const struct workload_plant plants[] = {
    {"Philosopher.eat:41", "Philosopher.eat:41", "With race=on: meals are counted without a lock."},
    {NULL, NULL, NULL}};

const struct workload workload_philosopher = {
    WORKLOAD_CALLED(philosopher),
    .summary = "Dining philosophers: monitors, waits, hardly any data.",
    .length = "meals",
    .sizes = {"meals=50", "meals=5000", "meals=500000"},
    .granularity = 4,
    .took = {29, 26},
    .check = check,
    .plants = plants,
};
