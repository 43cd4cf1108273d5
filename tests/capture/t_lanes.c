/* t_lanes.c - do the records of all threads come out once, in an order that can have been? Lanes
 * are written by hand, step by step, and by threads; the oracle knows when each step was made. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/rng.h"
#include "capture/lanes.h"
#include "capture/write.h"
#include "tests/frame/mutant_arg.h"

enum { PLAIN = REC_READ, ORDERS = REC_VOLATILE_WRITE, MANY = 4096 };

static struct ring *ring_new(void)
{
    struct ring *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert_true(r != MAP_FAILED);
    return r;
}

static void ring_free(struct ring *r)
{
    munmap(r, sizeof *r);
}

static struct ring_writer writer(struct ring *r, uint16_t thread)
{
    struct ring_writer w;

    assert_true(ring_enter_lane(&w, r, thread));
    return w;
}

static void access_to(struct ring_writer *w, uint64_t addr)
{
    ring_access(w, &(struct ring_record){.addr = addr, .size = 4, .kind = PLAIN});
}

static void order_by(struct ring_writer *w, uint64_t addr)
{
    ring_event(w, &(struct ring_record){.addr = addr, .kind = ORDERS});
}

/* ---- a record in steps ---------------------------------------------------------------------- */

/* A plain access that has looked at the clock and begun its slot. */
static struct ring_place begun(struct ring_writer *w)
{
    ring_look(w);
    return ring_reserve(w, 1);
}

static void filled(struct ring_place p, uint64_t addr)
{
    const struct ring_record r = {.kind = PLAIN};

    ring_fill(p, 0, addr, ring_small(&r, 0));
}

/* One that takes a number: its slots are begun. */
static struct ring_place numbered_begun(struct ring_writer *w, uint64_t addr)
{
    const struct ring_place p = ring_reserve(w, 2);

    ring_fill(p, 1, addr, (uint64_t)RING_REST << RING_KIND_SHIFT);
    return p;
}

static void numbered_filled(struct ring_writer *w, struct ring_place p, uint64_t number)
{
    ring_fill(p, 0, number,
              (uint64_t)ORDERS << RING_KIND_SHIFT | UINT64_C(2) << RING_SIZE_SHIFT |
                  (uint64_t)RING_NUMBERED << RING_FORM_SHIFT);
    w->stamp = number + 1;
}

/* The address of the next record or access, alone; 0: there is none yet. */
static uint64_t next(struct lanes *l)
{
    struct lanes_next n;

    if (!lanes_next(l, 1, &n))
        return 0;
    return n.small ? n.slot->first & 0xffffffffffff : n.record.addr;
}

/* ---- rules, one by one ---------------------------------------------------------------------- */

static void nobody_waits_for_a_thread_that_was_stopped(void **state)
{
    struct ring *r = ring_new();
    struct lanes *l = lanes_new(r);
    struct ring_writer a = writer(r, 1), b = writer(r, 2);

    (void)state;
    const struct ring_place p = begun(&a);
    order_by(&b, 21);
    access_to(&b, 22);
    order_by(&b, 23);
    assert_int_equal(next(l), 21);
    assert_int_equal(next(l), 22);
    assert_int_equal(next(l), 23);
    assert_int_equal(next(l), 0);
    filled(p, 11);
    order_by(&a, 12);
    assert_int_equal(next(l), 11);
    assert_int_equal(next(l), 12);
    assert_int_equal(next(l), 0);
    lanes_free(l);
    ring_free(r);
}

/* Once: what comes soon is in its place. */
static void a_number_waits_for_those_below(void **state)
{
    struct ring *r = ring_new();
    struct lanes *l = lanes_new(r);
    struct ring_writer a = writer(r, 1), b = writer(r, 2);

    (void)state;
    const struct ring_place p = numbered_begun(&a, 11);
    const uint64_t number = atomic_fetch_add(&r->clock, 1);
    access_to(&b, 20);
    order_by(&b, 21);
    access_to(&b, 22);
    assert_int_equal(next(l), 0);
    numbered_filled(&a, p, number);
    assert_int_equal(next(l), 11);
    assert_int_equal(next(l), 20);
    assert_int_equal(next(l), 21);
    assert_int_equal(next(l), 22);
    lanes_free(l);
    ring_free(r);
}

/* Its thread may be in the handler of a signal, and stay there. What it had recorded when others
 * took their numbers is before those. */
static void nobody_waits_for_a_number_that_does_not_come(void **state)
{
    struct ring *r = ring_new();
    struct lanes *l = lanes_new(r);
    struct ring_writer a = writer(r, 1), b = writer(r, 2);

    (void)state;
    const struct ring_place p = numbered_begun(&a, 11);
    const uint64_t number = atomic_fetch_add(&r->clock, 1);
    order_by(&b, 21);
    access_to(&b, 22);
    order_by(&a, 12);
    order_by(&b, 23);
    assert_int_equal(next(l), 0);
    assert_int_equal(next(l), 21);
    assert_int_equal(next(l), 22);
    assert_int_equal(next(l), 12);
    assert_int_equal(next(l), 23);
    assert_int_equal(next(l), 0);
    order_by(&b, 24);
    numbered_filled(&a, p, number);
    order_by(&b, 25);
    access_to(&a, 13);
    assert_int_equal(next(l), 11);
    assert_int_equal(next(l), 24);
    assert_int_equal(next(l), 25);
    assert_int_equal(next(l), 13);
    assert_int_equal(next(l), 0);
    lanes_ended(l);
    assert_int_equal(next(l), 0);
    assert_int_equal(lanes_lost(l) + lanes_broken(l), 0);
    lanes_free(l);
    ring_free(r);
}

/* An access is in the trace after the numbers that its thread saw given out, and before those that
 * were taken later. */
static void accesses_lie_between_the_numbers_of_others(void **state)
{
    struct ring *r = ring_new();
    struct lanes *l = lanes_new(r);
    struct ring_writer a = writer(r, 1), b = writer(r, 2);

    (void)state;
    access_to(&b, 20);
    order_by(&a, 11);
    access_to(&b, 21);
    order_by(&a, 12);
    access_to(&b, 22);
    assert_int_equal(next(l), 20);
    assert_int_equal(next(l), 11);
    assert_int_equal(next(l), 21);
    assert_int_equal(next(l), 12);
    assert_int_equal(next(l), 22);
    lanes_free(l);
    ring_free(r);
}

/* A handler that interrupts a record writes behind it; its records need not wait for the other. */
static void a_handler_comes_before_what_it_interrupts(void **state)
{
    struct ring *r = ring_new();
    struct lanes *l = lanes_new(r);
    struct ring_writer a = writer(r, 1);

    (void)state;
    access_to(&a, 10);
    const struct ring_place p = begun(&a);
    access_to(&a, 12);
    const struct ring_place inner = numbered_begun(&a, 13);
    order_by(&a, 14);
    assert_int_equal(next(l), 10);
    assert_int_equal(next(l), 12);
    assert_int_equal(next(l), 14);
    assert_int_equal(next(l), 0);
    if (atomic_load(&r->lane[0].taken) > p.at)
        fail_msg("the slot of a record that was interrupted is given back");
    numbered_filled(&a, inner, atomic_fetch_add(&r->clock, 1));
    access_to(&a, 15);
    assert_int_equal(next(l), 13);
    assert_int_equal(next(l), 15);
    filled(p, 11);
    access_to(&a, 16);
    assert_int_equal(next(l), 11);
    assert_int_equal(next(l), 16);
    assert_int_equal(next(l), 0);
    assert_int_equal(atomic_load(&r->lane[0].taken), atomic_load(&r->lane[0].reserved));
    lanes_free(l);
    ring_free(r);
}

/* The handler came before the thread could take its number. Then the lane became full, and the
 * thread has begun a slot that it waits for. */
static void a_full_lane_has_a_number_behind_a_larger_one(void **state)
{
    struct ring *r = ring_new();
    struct lanes *l = lanes_new(r);
    struct ring_writer a = writer(r, 1);

    (void)state;
    const struct ring_place p = numbered_begun(&a, 11);
    order_by(&a, 12);
    numbered_filled(&a, p, atomic_fetch_add(&r->clock, 1));
    while (atomic_load(&r->lane[0].reserved) + 4 < RING_SLOTS)
        access_to(&a, 13);
    atomic_store(&r->lane[0].reserved, p.at + RING_SLOTS + 1);
    assert_int_equal(next(l), 12);
    assert_int_equal(next(l), 11);
    assert_int_equal(next(l), 13);
    lanes_free(l);
    ring_free(r);
}

/* A handler that writes more than a lane holds, or one that jumps away for good. */
static void a_record_that_was_interrupted_stops_nobody(void **state)
{
    struct ring *r = ring_new();
    struct lanes *l = lanes_new(r);
    struct ring_writer a = writer(r, 1);
    const struct ring_place p = begun(&a);
    struct lanes_next n;
    uint64_t seen = 0;

    (void)state;
    for (int i = 0; i < 100; i++) { /* that are never filled */
        begun(&a);
        numbered_begun(&a, 1);
        atomic_fetch_add(&r->clock, 1);
    }
    for (uint64_t i = 1; i <= 60000; i++) {
        ring_access(&a, &(struct ring_record){.addr = i, .size = 4, .kind = PLAIN});
        for (bool more = i % 1000 == 0; more && lanes_next(l, MANY, &n);)
            for (size_t k = 0; k < n.small; k++)
                if ((n.slot[k].first & 0xffffffffffff) != ++seen || n.thread != 1)
                    fail_msg("access %lu comes out of turn", (unsigned long)seen);
    }
    ring_number(&a);
    for (int again = 0; again < 2; again++) /* once it waits */
        while (lanes_next(l, MANY, &n))
            seen += n.small;
    assert_int_equal(seen, 60000);
    assert_int_equal(atomic_load(&r->lanes), 2);
    filled(p, 77);
    order_by(&a, 78);
    assert_int_equal(next(l), 77);
    assert_int_equal(next(l), 78);
    lanes_ended(l);
    assert_int_equal(next(l), 0);
    assert_int_equal(lanes_lost(l), 100);
    lanes_free(l);
    ring_free(r);
}

static void a_lane_has_many_laps_and_threads(void **state)
{
    struct ring *r = ring_new();
    struct lanes *l = lanes_new(r);
    struct lanes_next n;
    uint64_t seen = 0, wrong = 0;

    (void)state;
    for (uint16_t thread = 1; thread <= 40; thread++) {
        struct ring_writer a = writer(r, thread), other = writer(r, 99);
        ring_leave_lane(&other);
        for (uint64_t i = 1; i <= 5000; i++) {
            access_to(&a, i);
            if (i % 100 == 0)
                order_by(&a, i);
        }
        ring_leave_lane(&a);
        while (lanes_next(l, MANY, &n)) {
            wrong += n.thread != thread;
            seen += n.small ? n.small : 1;
        }
        assert_int_equal(seen, (uint64_t)thread * (5050 + 1)); /* and a mark of time */
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(atomic_load(&r->lanes), 2);
    lanes_free(l);
    ring_free(r);
}

/* A writer knows how far it may go without a look at its lane: as far as was read, and the lane's
 * length. A record that was begun in another lane, and waits for that, says nothing of this one. */
static void a_writer_knows_its_own_lanes_room(void **state)
{
    struct ring *r = ring_new();
    struct ring_writer w = writer(r, 1);
    struct ring_lane *before = w.lane;

    (void)state;
    const struct ring_place in_time = {before, 4}, late = {before, 5000 + RING_SLOTS - 1};
    before->taken = 5000;
    assert_ptr_equal(ring_wait(&w, in_time, 1).lane, before);
    assert_int_equal(w.room, 5000 + RING_SLOTS);
    assert_int_equal(ring_wait(&w, late, 1).at, late.at);
    assert_int_equal(w.room, 5000 + RING_SLOTS);
    ring_change_lane(&w);
    assert_ptr_not_equal(w.lane, before);
    w.room = 7;
    assert_ptr_equal(ring_wait(&w, late, 1).lane, before);
    assert_int_equal(w.room, 7);
    w.lane->taken = 6000;
    assert_ptr_equal(ring_wait(&w, (struct ring_place){w.lane, 9}, 1).lane, w.lane);
    assert_int_equal(w.room, 6000 + RING_SLOTS);
    ring_free(r);
}

static void what_was_begun_and_never_came_is_counted(void **state)
{
    struct ring *r = ring_new();
    struct lanes *l = lanes_new(r);
    struct ring_writer a = writer(r, 1), b = writer(r, 2);

    (void)state;
    access_to(&a, 11);
    numbered_begun(&a, 12);
    atomic_fetch_add(&r->clock, 1); /* it is killed here */
    order_by(&b, 21);
    access_to(&b, 22);
    assert_int_equal(next(l), 11);
    assert_int_equal(next(l), 0);
    lanes_ended(l);
    assert_int_equal(next(l), 21);
    assert_int_equal(next(l), 22);
    assert_int_equal(next(l), 0);
    assert_int_equal(lanes_lost(l), 1);
    assert_int_equal(lanes_broken(l), 0);
    lanes_free(l);
    ring_free(r);
}

static void what_no_thread_can_have_written_is_counted(void **state)
{
    struct ring *r = ring_new();
    struct lanes *l = lanes_new(r);
    struct ring_writer a = writer(r, 1), b = writer(r, 2);

    (void)state;
    order_by(&a, 11);
    numbered_filled(&b, numbered_begun(&b, 20), 0);    /* a second one of that number */
    numbered_filled(&b, numbered_begun(&b, 20), 1000); /* one that nobody has taken */
    ring_one(&b, RING_STAMP, 1000);
    ring_one(&b, 7, 0);
    ring_one(&b, RING_REST, 0);
    access_to(&b, 21);
    order_by(&b, 22);
    assert_int_equal(next(l), 11);
    assert_int_equal(next(l), 21);
    assert_int_equal(next(l), 22);
    assert_int_equal(next(l), 0);
    assert_int_equal(lanes_broken(l), 3);
    lanes_free(l);
    ring_free(r);
}

static void a_thread_takes_a_number_each_64_accesses(void **state)
{
    struct ring *r = ring_new();
    struct ring_writer a = writer(r, 1);

    (void)state;
    for (uint64_t i = 0; i < 64; i++)
        access_to(&a, i);
    assert_int_equal(atomic_load(&r->clock), 0);
    access_to(&a, 64);
    assert_int_equal(atomic_load(&r->clock), 1);
    ring_free(r);
}

/* ---- any schedule --------------------------------------------------------------------------- */

enum { WRITERS = 4, DEPTH = 3, EVENTS = 400 };

struct truth {              /* of a record, by its address */
    uint64_t began, filled; /* steps */
    uint64_t high;          /* numbers from this on come later */
    uint64_t number;        /* unless plain */
    uint16_t thread;
    bool plain, there, seen;
};

struct schedule {
    struct rng rng;
    struct ring *r;
    struct lanes *l;
    struct {
        struct ring_writer w;
        struct { /* that were begun, and interrupted but for the last */
            struct ring_place at;
            uint32_t id;
            uint8_t done; /* looked, or reserved; begun; a number taken */
        } open[DEPTH];
        unsigned depth;
        uint16_t thread;
    } writer[WRITERS];
    struct truth truth[EVENTS + 1];
    uint32_t events;
    uint16_t threads;
    uint64_t step;
    uint64_t newest, floor; /* above all numbers that came; when the last of the accesses began */
    uint64_t late[EVENTS];  /* by thread: when what came last of it began */
};

static void check(struct schedule *s, uint16_t thread, uint64_t id)
{
    struct truth *t = &s->truth[id];

    assert_in_range(id, 1, s->events);
    if (!t->there || t->seen)
        fail_msg("record %lu comes %s", (unsigned long)id, t->seen ? "twice" : "too early");
    t->seen = true;
    if (t->thread != thread)
        fail_msg("record %lu is of another thread", (unsigned long)id);
    if (t->filled < s->late[thread])
        fail_msg("record %lu comes after a later one of its thread", (unsigned long)id);
    s->late[thread] = t->began > s->late[thread] ? t->began : s->late[thread];
    if (s->newest > t->high)
        fail_msg("%s comes after a number that was taken when it was there",
                 t->plain ? "an access" : "a number");
    if (!t->plain && t->filled < s->floor)
        fail_msg("a number comes after an access that was begun when it was there");
    if (t->plain)
        s->floor = t->began > s->floor ? t->began : s->floor;
    else if (t->number >= s->newest)
        s->newest = t->number + 1;
}

static void drain(struct schedule *s, uint64_t most)
{
    struct lanes_next n;

    while (most-- && lanes_next(s->l, 1 + rng_below(&s->rng, 5), &n)) {
        for (size_t i = 0; i < n.small; i++)
            check(s, n.thread, n.slot[i].first & 0xffffffffffff);
        if (!n.small)
            check(s, n.thread, n.record.addr);
    }
}

/* A step of the innermost record of a writer. */
static void go_on(struct schedule *s, unsigned i)
{
    struct ring_writer *w = &s->writer[i].w;
    const unsigned top = s->writer[i].depth - 1;
    struct truth *t = &s->truth[s->writer[i].open[top].id];
    struct ring_place *at = &s->writer[i].open[top].at;
    const uint64_t id = s->writer[i].open[top].id;

    switch (s->writer[i].open[top].done++) {
    case 0:
        *at = t->plain ? ring_reserve(w, 1) : numbered_begun(w, id);
        return;
    case 1:
        if (!t->plain)
            t->number = atomic_fetch_add(&s->r->clock, 1);
        return;
    default:
        if (t->plain)
            filled(*at, id);
        else
            numbered_filled(w, *at, t->number);
        t->high = t->high ? t->high : atomic_load(&s->r->clock);
        t->filled = s->step;
        t->there = true;
        s->writer[i].depth--;
        /* A handler's records may come after the one that it interrupts. */
        for (uint32_t inner = s->writer[i].open[top].id + 1; !t->plain && inner <= s->events;
             inner++)
            if (s->truth[inner].thread == t->thread && s->truth[inner].plain &&
                s->truth[inner].high <= t->number)
                s->truth[inner].high = t->number + 1;
    }
}

static void begin(struct schedule *s, unsigned i)
{
    struct ring_writer *w = &s->writer[i].w;
    const unsigned top = s->writer[i].depth++;

    s->events++;
    s->truth[s->events] = (struct truth){
        .began = s->step, .thread = s->writer[i].thread, .plain = rng_chance(&s->rng, 3, 4)};
    s->writer[i].open[top].id = s->events;
    s->writer[i].open[top].done = 0;
    if (s->truth[s->events].plain)
        ring_look(w);
}

static void thread_new(struct schedule *s, unsigned i)
{
    s->writer[i].thread = s->threads++;
    s->writer[i].w = writer(s->r, s->writer[i].thread);
    s->writer[i].depth = 0;
}

static void one(struct schedule *s)
{
    s->r->clock = 0;
    s->r->lanes = 0;
    s->r->free = 0;
    for (unsigned i = 0; i < WRITERS; i++) {
        s->r->lane[i].reserved = s->r->lane[i].taken = 0;
        memset(s->r->lane[i].slot, 0, 4 * EVENTS * sizeof *s->r->lane->slot);
    }
    s->l = lanes_new(s->r);
    const uint64_t rarely = 2 + rng_below(&s->rng, 7); /* the lanes are read; the last is slow */
    s->events = s->threads = 0;
    s->newest = s->floor = 0;
    memset(s->late, 0, sizeof s->late);
    for (unsigned i = 0; i < WRITERS; i++)
        thread_new(s, i);
    for (s->step = 1; s->events < EVENTS - 1; s->step++) {
        const unsigned i = (unsigned)rng_below(&s->rng, 1 + rng_below(&s->rng, WRITERS)),
                       depth = s->writer[i].depth;
        if (rng_chance(&s->rng, 1, rarely))
            drain(s, rng_below(&s->rng, 6));
        else if (depth == 0 && rng_chance(&s->rng, 1, 40) && s->threads < EVENTS - 1) {
            ring_leave_lane(&s->writer[i].w);
            thread_new(s, i);
        } else if (depth == 0 || (depth < DEPTH && rng_chance(&s->rng, 1, 5)))
            begin(s, i);
        else
            go_on(s, i);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        for (; s->writer[i].depth; s->step++)
            go_on(s, i);
    drain(s, UINT64_MAX);
    for (uint32_t id = 1; id <= s->events; id++)
        if (!s->truth[id].seen)
            fail_msg("record %u never comes", id);
    lanes_ended(s->l);
    drain(s, UINT64_MAX);
    assert_int_equal(lanes_lost(s->l) + lanes_broken(s->l), 0);
    lanes_free(s->l);
}

static void any_schedule_comes_out_as_it_can_have_been(void **state)
{
    static struct schedule s;

    (void)state;
    rng_seed(&s.rng, 23);
    s.r = ring_new();
    for (unsigned i = 0; i < 3000; i++)
        one(&s);
    ring_free(s.r);
}

/* ---- threads -------------------------------------------------------------------------------- */

enum { THREADS = 3, EACH = 300000 };

static struct {
    struct ring *r;
    struct {
        uint64_t low, high; /* the clock before and after */
        uint64_t number;    /* unless plain */
    } of[THREADS][EACH + 1];
    struct {
        uint32_t thread, id;
    } came[THREADS * EACH];
} stress;

/* Three of four are; the address says which. */
static bool is_plain(uint64_t i)
{
    return i % 64 < 48;
}

static void *work(void *arg)
{
    const uint16_t me = *(uint16_t *)arg;
    struct ring_writer w = writer(stress.r, me);

    for (uint64_t i = 1; i <= EACH; i++) {
        stress.of[me][i].low = atomic_load(&stress.r->clock);
        if (is_plain(i))
            access_to(&w, i);
        else
            order_by(&w, i);
        stress.of[me][i].number = w.stamp - 1;
        stress.of[me][i].high = atomic_load(&stress.r->clock);
    }
    ring_leave_lane(&w);
    return NULL;
}

static void threads_come_out_as_they_ran(void **state)
{
    uint16_t me[THREADS];
    pthread_t t[THREADS];
    uint64_t last[THREADS] = {0}, seen = 0, marks = 0, newest = 0, floor = 0;
    struct lanes_next n;

    (void)state;
    stress.r = ring_new();
    struct lanes *l = lanes_new(stress.r);
    for (uint16_t i = 0; i < THREADS; i++) {
        me[i] = i;
        assert_int_equal(pthread_create(&t[i], NULL, work, &me[i]), 0);
    }
    while (seen < (uint64_t)THREADS * EACH) {
        if (!lanes_next(l, MANY, &n)) {
            sched_yield();
            continue;
        }
        for (size_t i = 0; i < (n.small ? n.small : 1); i++) {
            const uint64_t id = n.small ? n.slot[i].first & 0xffffffffffff : n.record.addr;
            if (!n.small && n.record.kind == REC_TIME) {
                marks++;
                continue;
            }
            if (n.thread >= THREADS || id != ++last[n.thread])
                fail_msg("thread %u: record %lu comes after %lu", n.thread, (unsigned long)id,
                         (unsigned long)last[n.thread % THREADS] - 1);
            stress.came[seen].thread = n.thread;
            stress.came[seen++].id = (uint32_t)id;
            if (is_plain(id) != (n.small != 0))
                fail_msg("a record has become another one");
        }
    }
    for (uint16_t i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (uint64_t i = 0; i < seen; i++) {
        const bool plain = is_plain(stress.came[i].id);
        const uint64_t low = stress.of[stress.came[i].thread][stress.came[i].id].low,
                       high = stress.of[stress.came[i].thread][stress.came[i].id].high,
                       number = stress.of[stress.came[i].thread][stress.came[i].id].number;
        if (newest > high || (!plain && floor > high))
            fail_msg("%lu of thread %u comes late", (unsigned long)stress.came[i].id,
                     stress.came[i].thread);
        if (plain)
            floor = low > floor ? low : floor;
        else
            newest = number >= newest ? number + 1 : newest;
    }
    assert_int_equal(marks, THREADS * ((EACH - 1) / RING_EVERY));
    assert_int_equal(lanes_lost(l) + lanes_broken(l), 0);
    lanes_free(l);
    ring_free(stress.r);
}

/* ---- the window ----------------------------------------------------------------------------- */

static _Atomic uint32_t unseen;

static void *calls(void *arg)
{
    struct ring *r = arg;
    uint32_t mine = 0;

    for (int i = 0; i < 200000; i++) {
        ring_enter(r);
        for (int k = 0; k < 4; k++)
            mine += atomic_load(&r->mode) >= RING_OUTSIDE;
        ring_leave(r);
    }
    unseen += mine;
    return NULL;
}

static void the_window_is_open_while_any_call_goes_on(void **state)
{
    struct ring *r = ring_new();
    pthread_t t[THREADS];

    (void)state;
    atomic_store(&r->mode, RING_OUTSIDE);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, calls, r), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    if (unseen)
        fail_msg("%u times the window is closed while a call goes on", unseen);
    assert_int_equal(atomic_load(&r->mode), RING_OUTSIDE);
    ring_enter(r);
    atomic_store(&r->mode, RING_CLOSED);
    ring_leave(r);
    assert_int_equal(atomic_load(&r->mode), RING_CLOSED);
    ring_free(r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_waits_for_a_thread_that_was_stopped),
        cmocka_unit_test(a_number_waits_for_those_below),
        cmocka_unit_test(nobody_waits_for_a_number_that_does_not_come),
        cmocka_unit_test(accesses_lie_between_the_numbers_of_others),
        cmocka_unit_test(a_handler_comes_before_what_it_interrupts),
        cmocka_unit_test(a_full_lane_has_a_number_behind_a_larger_one),
        cmocka_unit_test(a_record_that_was_interrupted_stops_nobody),
        cmocka_unit_test(a_lane_has_many_laps_and_threads),
        cmocka_unit_test(a_writer_knows_its_own_lanes_room),
        cmocka_unit_test(what_was_begun_and_never_came_is_counted),
        cmocka_unit_test(what_no_thread_can_have_written_is_counted),
        cmocka_unit_test(a_thread_takes_a_number_each_64_accesses),
        cmocka_unit_test(any_schedule_comes_out_as_it_can_have_been),
        cmocka_unit_test(threads_come_out_as_they_ran),
        cmocka_unit_test(the_window_is_open_while_any_call_goes_on),
    };

    return mutant_arg(&argc, &argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
