/* t_lives.c - is each byte of a trace in the life that it has, wherever it was moved? The oracle
 * keeps objects, and asks all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "workloads/measure/abstract.h"

enum { SLOTS = 64, SLOT = 256, BASE = 0x10000, STEPS = 4000, TRIALS = 20 };

/* An object of the test: which one, and where it is now. A slot of memory holds one, or none. */
struct object {
    unsigned number; /* 0: none */
    uint64_t bytes;
};

static void step(struct life_map *l, unsigned kind, sim_addr addr, uint64_t bytes, sim_addr from)
{
    struct event ev[EVENT_RECORDS] = {{.kind = (uint8_t)kind, .addr = addr, .aux = bytes},
                                      {.addr = from}};

    ev[0].flags = kind == EV_COPY ? EVF_MORE : 0;
    life_map_follow(l, ev);
}

static sim_addr slot_addr(unsigned i)
{
    return BASE + (sim_addr)i * SLOT;
}

/* Where the first byte of an object stood when it was asked first; 0: it was not yet. */
struct seen {
    sim_addr first[STEPS + 1];
    uint64_t bytes[STEPS + 1];
};

static void check(const struct life_map *l, const struct object *slot, struct seen *s,
                  struct rng *r)
{
    const unsigned i = (unsigned)rng_below(r, SLOTS);

    if (!slot[i].number)
        return;
    sim_addr *first = &s->first[slot[i].number];
    const uint64_t offset = rng_below(r, slot[i].bytes);
    const sim_addr at = life_map_place(l, slot_addr(i) + offset) - offset;
    if (!*first) {
        *first = at;
        s->bytes[slot[i].number] = slot[i].bytes;
    }
    if (at != *first)
        fail_msg("object %u has two places", slot[i].number);
    for (unsigned other = 1; other < slot[i].number; other++)
        if (s->first[other] && at < s->first[other] + s->bytes[other] &&
            s->first[other] < at + slot[i].bytes)
            fail_msg("objects %u and %u have one place", other, slot[i].number);
}

static void one(struct rng *r)
{
    struct object slot[SLOTS] = {{0, 0}};
    struct seen *s = xcalloc(1, sizeof *s);
    struct life_map l;
    unsigned numbers = 0;

    life_map_init(&l);
    for (unsigned n = 0; n < STEPS; n++) {
        const unsigned i = (unsigned)rng_below(r, SLOTS), k = (unsigned)rng_below(r, SLOTS);
        if (!slot[i].number) {
            slot[i] = (struct object){++numbers, 8 * (1 + rng_below(r, SLOT / 16))};
            step(&l, EV_ALLOC, slot_addr(i), slot[i].bytes, 0);
        } else if (!slot[k].number) { /* it moves, and leaves its old place */
            step(&l, EV_COPY, slot_addr(k), slot[i].bytes, slot_addr(i));
            step(&l, EV_CLEAR, slot_addr(i), slot[i].bytes, 0);
            slot[k] = slot[i];
            slot[i].number = 0;
        } else if (rng_chance(r, 1, 3)) {
            step(&l, EV_CLEAR, slot_addr(i), slot[i].bytes, 0);
            slot[i].number = 0;
        }
        check(&l, slot, s, r);
    }
    life_map_free(&l);
    free(s);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        struct rng r;
        rng_seed(&r, seed);
        one(&r);
    }
}

/* Memory that nobody allocated stands where it is, until it is reclaimed: what is there then is
 * something else. */
static void test_unknown(void **state)
{
    struct life_map l;

    (void)state;
    life_map_init(&l);
    if (life_map_place(&l, 0x5003) != 0x5003)
        fail_msg("what was never allocated has moved");
    step(&l, EV_COPY, 0x8000, 16, 0x5000);
    if (life_map_place(&l, 0x800b) != 0x500b)
        fail_msg("what was never allocated does not move with a copy");
    step(&l, EV_CLEAR, 0x8000, 16, 0);
    if (life_map_place(&l, 0x800b) == 0x500b || life_map_place(&l, 0x800b) == 0x800b)
        fail_msg("what was reclaimed goes on");
    life_map_free(&l);
}

/* A copy onto a part of itself takes what was there before. */
static void test_overlap(void **state)
{
    sim_addr was[4];
    struct life_map l;

    (void)state;
    life_map_init(&l);
    step(&l, EV_ALLOC, 0x1000, 32, 0);
    for (unsigned i = 0; i < 4; i++)
        was[i] = life_map_place(&l, 0x1000 + 8 * i);
    step(&l, EV_COPY, 0x1008, 32, 0x1000);
    for (unsigned i = 0; i < 4; i++)
        if (life_map_place(&l, 0x1008 + 8 * i) != was[i])
            fail_msg("word %u is lost when an object moves by a word", i);
    life_map_free(&l);
}

/* Events keep their number; those of memory mean nothing; uses of memory again and of what moved
 * are counted. */
static void test_events(void **state)
{
    struct abstract a;
    struct event to[EVENT_RECORDS];
    const struct event alloc = {.kind = EV_ALLOC, .addr = 0x1000, .aux = 16, .flags = EVF_MORE},
                       free_ = {.kind = EV_CLEAR, .addr = 0x1000, .aux = 16},
                       system = {.kind = EV_READ, .addr = 0x1000, .size = 4, .flags = EVF_SYSTEM};
    const struct event
        write[EVENT_RECORDS] = {{.kind = EV_WRITE, .addr = 0x1008, .size = 4, .tid = 3}},
        move[EVENT_RECORDS] = {{.kind = EV_COPY, .addr = 0x2000, .aux = 16, .flags = EVF_MORE},
                               {.addr = 0x1000}};
    const struct event allocs[EVENT_RECORDS] = {alloc, {.size = 0}};

    (void)state;
    abstract_init(&a);
    abstract_captured(&a, allocs, to);
    if (to[0].kind != EV_IO)
        fail_msg("an allocation is told");
    abstract_captured(&a, write, to);
    const sim_addr first = to[0].addr;
    if (to[0].kind != EV_WRITE || to[0].tid != 3 || first == 0x1008)
        fail_msg("a write is not told by its place");
    abstract_captured(&a, move, to);
    abstract_captured(&a, &free_, to);
    struct event moved = write[0];
    moved.addr = 0x2008;
    abstract_captured(&a, &moved, to);
    if (to[0].addr != first || a.uses_moved != 1 || a.uses_again != 0)
        fail_msg("an object that moved: %u moved, %u again", (unsigned)a.uses_moved,
                 (unsigned)a.uses_again);
    abstract_captured(&a, write, to);
    if (to[0].addr == first || a.uses_again != 1)
        fail_msg("memory that is used again is not told apart");
    abstract_captured(&a, &system, to);
    if (to[0].kind != EV_IO || a.system != 1)
        fail_msg("what the runtime does is told");
    abstract_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_overlap), cmocka_unit_test(test_events)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
