/* t_inline.c - do objects, and metadata inline, lie where docs/layout.md has them? Addresses, bytes
 * and charges counted by hand on IA32, where a header has 8 bytes and a word 4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "policy/cost/inline_heap.h"
#include "sim/lardsim.h"
#include "tests/frame/policy_rig.h"

#include <cmocka.h>

enum { OBJECT = 0x1000, ARRAY = 0x2000, COPY = 0x3000 };

static struct event alloc_record(sim_addr at, uint64_t bytes)
{
    return (struct event){.addr = at, .aux = bytes, .flags = EVF_MORE, .kind = EV_ALLOC};
}
static void allocate(struct inline_heap *h, sim_addr at, uint64_t bytes, uint64_t elements,
                     uint32_t element)
{
    const struct event ev[2] = {alloc_record(at, bytes), {.addr = elements, .size = element}};

    inline_heap_event(h, ev);
}

/* ---- the map -------------------------------------------------------------------------------- */

static void nothing_ended(void *arg, sim_addr base)
{
    (void)base;
    ++*(unsigned *)arg;
}

struct map_bench {
    struct inline_heap *h;
    struct budget counted;
    unsigned ended;
};

/* Metadata of 16 bytes a granule of 4: 8 bytes of fields are 8 + 32; objects 5 times as far. */
static void open_map(struct map_bench *b)
{
    struct inline_policy p = {
        .bytes = 16, .counted = &b->counted, .ended = nothing_ended, .arg = &b->ended};

    *b = (struct map_bench){.h = inline_heap_new(&layouts[LAYOUT_IA32], NULL, 4, NULL)};
    assert_true(inline_heap_add(b->h, &p));
    assert_int_equal(p.at, 0);
    assert_int_equal(b->h->scale, 5);
}

static void at(struct map_bench *b, const struct event *ev, uint64_t from, uint64_t bytes)
{
    struct inline_range to;

    assert_true(inline_heap_access(b->h, ev, ev->size, &to));
    assert_int_equal(to.at, from);
    assert_int_equal(to.bytes, bytes);
}

#define ACCESS(kind_, addr_, size_, flags_)                                                        \
    &(struct event)                                                                                \
    {                                                                                              \
        .kind = EV_##kind_, .addr = (addr_), .size = (size_), .flags = (flags_)                    \
    }

/* 8 bytes of header, a word, then from 16 on pairs of fields, each with 32 bytes behind. */
static void fields_lie_apart_with_their_metadata_behind(void **state)
{
    struct map_bench b;

    (void)state;
    open_map(&b);
    allocate(b.h, OBJECT, 32, 0, 0);
    const sim_addr o = 5 * OBJECT;
    const struct inline_object *is = inline_heap_find(b.h, OBJECT + 8);
    at(&b, ACCESS(READ, OBJECT, 8, EVF_SYSTEM), o, 8);
    at(&b, ACCESS(READ, OBJECT + 8, 4, 0), o + 16, 4);
    at(&b, ACCESS(READ, OBJECT + 12, 4, 0), o + 20, 4);
    at(&b, ACCESS(WRITE, OBJECT + 16, 8, 0), o + 56, 8);
    at(&b, ACCESS(WRITE, OBJECT + 28, 4, 0), o + 16 + 80 + 4, 4);
    assert_int_equal(inline_heap_word(b.h, is), o + 8);
    assert_int_equal(inline_heap_field(b.h, is, OBJECT + 8, 0), o + 24);
    assert_int_equal(inline_heap_field(b.h, is, OBJECT + 12, 0), o + 40);
    assert_int_equal(inline_heap_field(b.h, is, OBJECT + 16, 0), o + 64);
    /* the word, and 6 granules of 16 bytes */
    assert_int_equal(b.counted.live, 4 + 6 * 16);
    inline_heap_free(b.h);
}

/* What the runtime zeroes or copies of several fields has their metadata between: a line of zeros
 * behind the header is 16 to 136, the rest of an object of 32 bytes. */
static void the_runtime_zeroes_and_copies_metadata_too(void **state)
{
    struct map_bench b;

    (void)state;
    open_map(&b);
    allocate(b.h, OBJECT, 32, 0, 0);
    at(&b, ACCESS(WRITE, OBJECT + 8, 24, EVF_SYSTEM), 5 * OBJECT + 16, 120);
    at(&b, ACCESS(READ, OBJECT, 32, EVF_SYSTEM), 5 * OBJECT, 136);
    /* To where it is copied there is no object yet: there will be. */
    at(&b, ACCESS(WRITE, COPY, 32, EVF_SYSTEM), 5 * COPY, 136);
    at(&b, ACCESS(READ, OBJECT + 16, 16, EVF_SYSTEM), 5 * OBJECT + 56, 80);
    at(&b, ACCESS(WRITE, COPY + 16, 16, EVF_SYSTEM), 5 * COPY + 56, 80);
    inline_heap_free(b.h);
}

/* Elements stay together, behind 12 bytes and the word; those of 8 bytes began at 16 anyway. */
static void elements_stay_together(void **state)
{
    struct map_bench b;

    (void)state;
    open_map(&b);
    allocate(b.h, ARRAY, 32, 5, 4);
    at(&b, ACCESS(READ, ARRAY + 12, 4, EVF_ARRAY), 5 * ARRAY + 16, 4);
    at(&b, ACCESS(READ, ARRAY + 28, 4, EVF_ARRAY), 5 * ARRAY + 32, 4);
    at(&b, ACCESS(WRITE, ARRAY + 12, 20, EVF_SYSTEM), 5 * ARRAY + 16, 20);
    assert_int_equal(inline_heap_word(b.h, inline_heap_find(b.h, ARRAY)), 5 * ARRAY + 12);
    assert_int_equal(b.counted.live, 4);
    allocate(b.h, ARRAY, 32, 2, 8);
    at(&b, ACCESS(READ, ARRAY + 24, 8, EVF_ARRAY), 5 * ARRAY + 24, 8);
    assert_int_equal(b.ended, 1);
    inline_heap_free(b.h);
}

static void objects_come_move_and_go(void **state)
{
    const struct event copy[2] = {{.kind = EV_COPY, .addr = COPY, .aux = 32, .flags = EVF_MORE},
                                  {.addr = OBJECT}};
    const struct event clear = {.kind = EV_CLEAR, .addr = OBJECT, .aux = 32};
    const struct event part = {.kind = EV_CLEAR, .addr = COPY + 8, .aux = 8};
    struct inline_range to;
    struct map_bench b;

    (void)state;
    open_map(&b);
    assert_false(inline_heap_access(b.h, ACCESS(READ, OBJECT + 8, 4, 0), 4, &to));
    allocate(b.h, OBJECT, 32, 0, 0);
    inline_heap_event(b.h, copy);
    assert_int_equal(b.counted.live, 200);
    at(&b, ACCESS(READ, COPY + 16, 4, 0), 5 * COPY + 56, 4);
    inline_heap_event(b.h, &clear);
    assert_int_equal(b.counted.live, 100);
    assert_false(inline_heap_access(b.h, ACCESS(READ, OBJECT + 8, 4, 0), 4, &to));
    inline_heap_event(b.h, &part); /* an object goes as a whole, or not */
    assert_non_null(inline_heap_find(b.h, COPY + 16));
    for (unsigned i = 0; i < 1000; i++) { /* places of dead ones are used again */
        allocate(b.h, OBJECT, 32, 0, 0);
        inline_heap_event(b.h, &clear);
    }
    assert_true(b.h->n <= 3);
    inline_heap_free(b.h);
}

/* A page is as many frames long, at its own frame's place as many times as far. */
static void pages_keep_their_frames(void **state)
{
    struct machine_rig m;

    (void)state;
    machine_rig_open(&m, 4);
    machine_rig_pages(&m);
    struct map_bench b;
    open_map(&b);
    b.h->pages = &m.pages;
    const sim_addr frame = pages_physical(&m.pages, vaddr_of(OBJECT)).at;
    assert_int_equal(inline_heap_physical(b.h, 5 * OBJECT).at, INLINE_HEAP + 5 * frame);
    assert_int_equal(inline_heap_physical(b.h, 5 * OBJECT + 5 * 4096 - 1).at,
                     INLINE_HEAP + 5 * frame + 5 * 4096 - 1);
    inline_heap_free(b.h);
    machine_rig_close(&m);
}

/* ---- charges -------------------------------------------------------------------------------- */

static void open_inline(struct policy_rig *r, const char *policy)
{
    static const char *const set[] = {"policy.a.metadata=inline", NULL};
    const struct rig_places p = {.layout = &layouts[LAYOUT_IA32],
                                 .inlined = true,
                                 .block = {{0, "shadow"}, {4096, "log's end"}, {8192, "log"}}};

    policy_rig_open(r, policy, set, p);
    allocate(r->m.machine.inlined, OBJECT, 32, 0, 0);
    allocate(r->m.machine.inlined, ARRAY, 32, 5, 4);
}

static void close_inline(struct policy_rig *r)
{
    struct inline_heap *h = r->m.machine.inlined;

    policy_rig_close(r);
    inline_heap_free(h);
}

/* FastRCD's 8 bytes: pairs of 24, objects 3 times as far. The read word of the second field is at 8
 * + 4 + pad to 16, 8 of fields, 8 of the first's, 4. No instruction: the code has the distance. */
static void beside_a_field_nothing_need_be_computed(void **state)
{
    struct policy_rig r;

    (void)state;
    open_inline(&r, "fastrcd");
    RUN(&r, EV_READ4(0, OBJECT + 8));
    EVENTS_COST(&r,
                "load shadow:4, load inflated+12324:4, same-region, is-map, slow-path, lock, "
                "swap inflated+12324:4, load inflated+12320:4, 2 none, store inflated+12324:4, "
                "19 in all",
                EV_READ4(0, OBJECT + 12));
    close_inline(&r);
}

/* The first access to an array makes its shadow: a header of 16 bytes, 5 elements of 8. */
static void an_array_s_shadow_is_made_at_its_first_access(void **state)
{
    struct policy_rig r;

    (void)state;
    open_inline(&r, "fastrcd");
    RUN(&r, EV_READ4(0, OBJECT + 8));
    const uint64_t before = policy_rig_stat(&r, "metadata.live");
    EVENTS_COST(&r,
                "load shadow:4, load inflated+24588:4, array-shadow, heap list, load list of 64, "
                "load page's rest:16, heap fresh, store page's rest:16, array-shadow-new, "
                "array-shadow-line, store shadow+64:56, swap inflated+24588:4, "
                "load shadow+84:4, same-region, is-map, slow-path, lock, swap shadow+84:4, "
                "load shadow+80:4, 2 none, store shadow+84:4, 43 in all",
                EV_READ4(0, ARRAY + 12));
    assert_int_equal(policy_rig_stat(&r, "metadata.live"), before + 56);
    EVENTS_COST(&r,
                "load shadow:4, load inflated+24588:4, array-shadow, load shadow+92:4, "
                "same-region, is-map, slow-path, lock, swap shadow+92:4, load shadow+88:4, 2 none, "
                "store shadow+92:4, 23 in all",
                EV_READ4(0, ARRAY + 16));
    close_inline(&r);
}

/* An object outside is in no heap: its metadata have the fixed place. */
static void what_was_not_allocated_has_a_fixed_place(void **state)
{
    struct policy_rig r;

    (void)state;
    open_inline(&r, "valor-o");
    RUN(&r, EV_READ4(0, OBJECT + 8));
    EVENTS_COST(&r,
                "place, load metadata+16384:4, none, load shadow:4, log, store log's end+12:12, "
                "store shadow:4, 14 in all",
                EV_READ4(0, 0x4000));
    close_inline(&r);
}

static void who_has_no_such_paper_is_refused(void **state)
{
    struct lardsim *l = lardsim_new();

    (void)state;
    lardsim_set(l, "granularity=4");
    lardsim_set(l, "layout=ia32");
    lardsim_set(l, "policies=vc");
    lardsim_set(l, "policy.vc.metadata=inline");
    assert_int_equal(lardsim_start(l), -1);
    assert_int_equal(lardsim_exit_code(l), LARD_CONFIG);
    lardsim_free(l);
    l = lardsim_new();
    lardsim_set(l, "granularity=1");
    lardsim_set(l, "layout=ia32");
    lardsim_set(l, "policies=fasttrack");
    lardsim_set(l, "policy.fasttrack.metadata=inline");
    assert_int_equal(lardsim_start(l), -1);
    assert_non_null(strstr(lardsim_error(l), "granularity=1"));
    lardsim_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_lie_apart_with_their_metadata_behind),
        cmocka_unit_test(the_runtime_zeroes_and_copies_metadata_too),
        cmocka_unit_test(elements_stay_together),
        cmocka_unit_test(objects_come_move_and_go),
        cmocka_unit_test(pages_keep_their_frames),
        cmocka_unit_test(beside_a_field_nothing_need_be_computed),
        cmocka_unit_test(an_array_s_shadow_is_made_at_its_first_access),
        cmocka_unit_test(what_was_not_allocated_has_a_fixed_place),
        cmocka_unit_test(who_has_no_such_paper_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
