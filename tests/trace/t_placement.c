/* t_placement.c - which object lies at an address: it follows allocations, copies and clears, and
 * has the name that docs/events.md says. A naive model judges random streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "trace/trace.h"

struct scene {
    struct placement *p;
    struct names *names;
    uint64_t number; /* of the next event */
};

static struct scene scene_new(void)
{
    struct scene s = {.p = placement_new(NULL), .names = names_new()};

    placement_names(s.p, s.names);
    return s;
}

static void scene_free(struct scene *s)
{
    placement_free(s->p);
    names_free(s->names);
}

static void call(struct scene *s, sim_addr addr, const char *text)
{
    struct err e = {0};

    if (names_add(s->names, NAME_OBJECT, addr, text, &e))
        fail_msg("%s", e.text);
}

static void happens(struct scene *s, enum ev_kind kind, sim_addr addr, sim_addr from,
                    uint64_t bytes, uint64_t site)
{
    const struct event ev[2] = {
        {.kind = (uint8_t)kind, .addr = addr, .aux = bytes, .flags = EVF_MORE},
        {.addr = from, .aux = site}};

    placement_apply(s->p, ev, s->number++);
}

static void alloc(struct scene *s, sim_addr addr, uint64_t bytes)
{
    happens(s, EV_ALLOC, addr, 0, bytes, 0);
}

static void clear(struct scene *s, sim_addr addr, uint64_t bytes)
{
    happens(s, EV_CLEAR, addr, 0, bytes, 0);
}

static void copy(struct scene *s, sim_addr to, sim_addr from, uint64_t bytes)
{
    happens(s, EV_COPY, to, from, bytes, 0);
}

static void lies(struct scene *s, sim_addr addr, const char *name, uint64_t offset)
{
    const struct object_place at = placement_find(s->p, addr);

    if (!at.known || !at.name || strcmp(at.name, name) != 0 || at.offset != offset)
        fail_msg("0x%llx is %s + %llu, expected %s + %llu", (unsigned long long)addr,
                 at.name ? at.name : "nameless", (unsigned long long)at.offset, name,
                 (unsigned long long)offset);
}

static void nameless(struct scene *s, sim_addr addr, uint64_t event, uint64_t offset)
{
    const struct object_place at = placement_find(s->p, addr);

    if (at.name)
        fail_msg("0x%llx is %s, expected no name", (unsigned long long)addr, at.name);
    assert_true(at.known && at.allocated);
    assert_int_equal(at.event, event);
    assert_int_equal(at.offset, offset);
}

static void unknown(struct scene *s, sim_addr addr)
{
    const struct object_place at = placement_find(s->p, addr);

    if (at.known)
        fail_msg("0x%llx is known as %s", (unsigned long long)addr, at.name ? at.name : "nameless");
}

static void an_address_has_its_own_name(void **state)
{
    struct scene s = scene_new();

    (void)state;
    call(&s, 64, "x");
    lies(&s, 64, "x", 0);
    unknown(&s, 65);
    call(&s, 64, "y");
    lies(&s, 64, "y", 0);
    scene_free(&s);
}

static void bytes_of_an_object_are_its_own(void **state)
{
    struct scene s = scene_new();

    (void)state;
    call(&s, 0x1000, "account");
    alloc(&s, 0x1000, 24);
    alloc(&s, 0x1018, 8);
    lies(&s, 0x1000, "account", 0);
    lies(&s, 0x1017, "account", 23);
    nameless(&s, 0x101c, 1, 4);
    unknown(&s, 0x1020);
    unknown(&s, 0xfff);
    scene_free(&s);
}

static void a_field_that_has_a_name_goes_by_it(void **state)
{
    struct scene s = scene_new();

    (void)state;
    call(&s, 0x1000, "account");
    call(&s, 0x1008, "account.balance");
    alloc(&s, 0x1000, 24);
    lies(&s, 0x1008, "account.balance", 0);
    lies(&s, 0x1009, "account", 9);
    scene_free(&s);
}

static void a_name_goes_along_with_a_copy(void **state)
{
    struct scene s = scene_new();

    (void)state;
    call(&s, 0x1000, "account");
    alloc(&s, 0x1000, 16);
    copy(&s, 0x2000, 0x1000, 16);
    lies(&s, 0x2008, "account", 8);
    clear(&s, 0x1000, 16);
    copy(&s, 0x3000, 0x2000, 16);
    lies(&s, 0x3008, "account", 8);
    unknown(&s, 0x1008);
    scene_free(&s);
}

static void what_was_never_allocated_goes_along_by_its_name(void **state)
{
    struct scene s = scene_new();

    (void)state;
    call(&s, 0x1000, "account");
    copy(&s, 0x2000, 0x1000, 16);
    lies(&s, 0x200f, "account", 15);
    copy(&s, 0x5000, 0x4000, 16);
    unknown(&s, 0x5000);
    scene_free(&s);
}

static void memory_that_is_used_again_needs_another_name(void **state)
{
    struct scene s = scene_new();

    (void)state;
    call(&s, 0x1000, "account");
    alloc(&s, 0x1000, 16);
    clear(&s, 0x1000, 16);
    happens(&s, EV_ALLOC, 0x1000, 0, 16, 77);
    nameless(&s, 0x1008, 2, 8);
    assert_int_equal(placement_find(s.p, 0x1008).site, 77);
    clear(&s, 0x1000, 16);
    call(&s, 0x1000, "receipt");
    alloc(&s, 0x1000, 16);
    lies(&s, 0x1008, "receipt", 8);
    scene_free(&s);
}

/* Names of a whole block are known before its events. */
static void names_are_taken_in_their_order(void **state)
{
    struct scene s = scene_new();

    (void)state;
    call(&s, 0x1000, "account");
    call(&s, 0x1000, "receipt");
    call(&s, 0x2000, "moved account");
    alloc(&s, 0x1000, 16);
    lies(&s, 0x1008, "account", 8);
    copy(&s, 0x2000, 0x1000, 16);
    clear(&s, 0x1000, 16);
    alloc(&s, 0x1000, 16);
    lies(&s, 0x1008, "receipt", 8);
    lies(&s, 0x2008, "moved account", 8);
    scene_free(&s);
}

static void a_name_may_come_later_than_its_object(void **state)
{
    struct scene s = scene_new();

    (void)state;
    alloc(&s, 0x1000, 16);
    call(&s, 0x1000, "account");
    lies(&s, 0x1004, "account", 4);
    scene_free(&s);
}

static void a_cut_leaves_the_rest_of_an_object(void **state)
{
    struct scene s = scene_new();

    (void)state;
    call(&s, 0x1000, "buffer");
    alloc(&s, 0x1000, 100000);
    clear(&s, 0x1100, 256);
    lies(&s, 0x10ff, "buffer", 0xff);
    unknown(&s, 0x1100);
    unknown(&s, 0x11ff);
    lies(&s, 0x1200, "buffer", 0x200);
    scene_free(&s);
}

static void objects_may_be_as_large_as_memory(void **state)
{
    struct scene s = scene_new();

    (void)state;
    call(&s, 1, "all");
    alloc(&s, 1, UINT64_MAX - 1);
    lies(&s, UINT64_MAX - 1, "all", UINT64_MAX - 2);
    unknown(&s, 0);
    unknown(&s, UINT64_MAX);
    clear(&s, 0, UINT64_MAX);
    unknown(&s, 1);
    scene_free(&s);
}

/* Events of a turn count as soon as someone asks, up to the event in hand. */
static void a_turn_is_followed_as_far_as_asked(void **state)
{
    const struct event ev[] = {{.kind = EV_ALLOC, .addr = 64, .aux = 8},
                               {.kind = EV_READ, .addr = 64, .size = 8},
                               {.kind = EV_CLEAR, .addr = 64, .aux = 8}};
    struct scene s = scene_new();

    (void)state;
    placement_turn(s.p, ev, ev + 3, 10);
    unknown(&s, 64);
    placement_reach(s.p, 11);
    nameless(&s, 64, 10, 0);
    placement_reach(s.p, 12);
    nameless(&s, 64, 10, 0);
    placement_reach(s.p, 13);
    unknown(&s, 64);
    scene_free(&s);
}

/* ---- random streams, against a byte for each byte ------------------------------------------- */

enum { BYTES = 1 << 14, STEPS = 400 };
struct naive { /* of a byte: 1 + the event of its alloc, and its offset; 0: none */
    uint64_t owner[BYTES], offset[BYTES];
};

static void naive_step(struct naive *n, enum ev_kind kind, uint64_t to, uint64_t from,
                       uint64_t bytes, uint64_t number)
{
    if (kind == EV_COPY) {
        memmove(n->owner + to, n->owner + from, bytes * sizeof *n->owner);
        memmove(n->offset + to, n->offset + from, bytes * sizeof *n->offset);
        return;
    }
    for (uint64_t i = 0; i < bytes; i++) {
        n->owner[to + i] = kind == EV_ALLOC ? number + 1 : 0;
        n->offset[to + i] = i;
    }
}

static void agree(struct scene *s, const struct naive *n, uint64_t seed)
{
    for (uint64_t at = 0; at < BYTES; at += 7) {
        const struct object_place is = placement_find(s->p, at);
        if (is.allocated != (n->owner[at] != 0) ||
            (is.allocated && (is.event + 1 != n->owner[at] || is.offset != n->offset[at])))
            fail_msg("seed %llu, event %llu: byte %llu is of event %lld + %llu, expected %lld "
                     "+ %llu",
                     (unsigned long long)seed, (unsigned long long)s->number,
                     (unsigned long long)at, is.allocated ? (long long)is.event : -1,
                     (unsigned long long)is.offset, (long long)n->owner[at] - 1,
                     (unsigned long long)n->offset[at]);
    }
}

static void random_streams_agree_with_a_byte_for_each_byte(void **state)
{
    static const enum ev_kind kinds[] = {EV_ALLOC, EV_ALLOC, EV_CLEAR, EV_COPY};
    struct naive *n = xmalloc(sizeof *n);
    struct rng r;

    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct scene s = scene_new();
        memset(n, 0, sizeof *n);
        rng_seed(&r, seed);
        for (int i = 0; i < STEPS; i++) {
            const enum ev_kind kind = kinds[rng_below(&r, ARRAY_SIZE(kinds))];
            const uint64_t bytes = 1 + rng_below(&r, rng_below(&r, 8) ? 64 : BYTES / 2);
            const uint64_t to = rng_below(&r, BYTES - bytes), from = rng_below(&r, BYTES - bytes);
            naive_step(n, kind, to, from, bytes, s.number);
            happens(&s, kind, to, from, bytes, 0);
            if (i % 20 == 0)
                agree(&s, n, seed);
        }
        scene_free(&s);
    }
    free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_has_its_own_name),
        cmocka_unit_test(bytes_of_an_object_are_its_own),
        cmocka_unit_test(a_field_that_has_a_name_goes_by_it),
        cmocka_unit_test(a_name_goes_along_with_a_copy),
        cmocka_unit_test(what_was_never_allocated_goes_along_by_its_name),
        cmocka_unit_test(memory_that_is_used_again_needs_another_name),
        cmocka_unit_test(names_are_taken_in_their_order),
        cmocka_unit_test(a_name_may_come_later_than_its_object),
        cmocka_unit_test(a_cut_leaves_the_rest_of_an_object),
        cmocka_unit_test(objects_may_be_as_large_as_memory),
        cmocka_unit_test(a_turn_is_followed_as_far_as_asked),
        cmocka_unit_test(random_streams_agree_with_a_byte_for_each_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
