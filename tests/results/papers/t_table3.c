/* t_table3.c - the truth of `lardsim reproduce` is one: on the programs that it runs, cut short,
 * the events without addresses (workloads/measure/abstract.h) have the races that the oracle finds,
 * which knows no clocks; and vc, which knows addresses, Clear and Copy, has the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "workloads/measure/abstract.h"
#include "tests/frame/watch.h"

#define SMALL "heap=256Ki,tlab=256,threads=3,"

static const char *const programs[] = {SMALL "pool,rounds=1,lists=3,nodes=4,collect=1",
                                       SMALL "pool,rounds=2,lists=3,nodes=4,collect=1,racy=on",
                                       SMALL "montecarlo,tasks=1",
                                       SMALL "raytracer,n=2,side=1",
                                       SMALL "raytracer,n=2,side=1,racy=on",
                                       SMALL "hedc,archive=64,queries=6,racy=on",
                                       SMALL "tsp,cities=5",
                                       SMALL "tsp,cities=6,racy=on",
                                       SMALL "multiset,ops=40",
                                       SMALL "philosopher,meals=10",
                                       SMALL "philosopher,meals=10,race=on",
                                       SMALL "churn,steps=60,buckets=3",
                                       SMALL "churn,steps=60,buckets=3,race=on",
                                       SMALL "javagrande@lard,accesses=1500",
                                       SMALL
                                       "sunflow@lard,accesses=1500,races=20,hidden=10,moved=5",
                                       SMALL "xalan@lard,accesses=1500,races=40,hidden=20",
                                       NULL};

struct run {
    struct stream real, plain; /* plain: less the events that mean nothing */
    uint64_t *number;          /* owns; of each event of plain, in real */
    size_t n, cap;
    struct abstract abstract;
    unsigned granularity;
};

static struct source *open_program(const char *program, const char *gc)
{
    const char *name = program + sizeof SMALL - 1;
    const size_t length = strcspn(name, ",");
    char *spec = xasprintf("%.*s," SMALL "gc=%s%s", (int)length, name, gc, name + length);
    struct err e = {0};
    struct source *s = workload_open(spec, &e);

    if (!s)
        fail_msg("%s: %s", spec, e.text);
    free(spec);
    return s;
}

static void add(struct run *r, const struct event *ev, struct vm_identity is)
{
    struct event to[EVENT_RECORDS];

    abstract_event(&r->abstract, ev, is, to);
    if (to->kind != EV_IO) {
        r->number = xgrow(r->number, r->n, &r->cap, sizeof *r->number);
        r->number[r->n++] = r->real.events;
        stream_add(&r->plain, to);
    }
    stream_add(&r->real, ev);
}

static void run_program(struct run *r, const char *program, const char *gc)
{
    const struct vm_identity *identity;
    struct source *s = open_program(program, gc);
    struct batch b;
    struct err e = {0};

    *r = (struct run){.granularity = s->granularity};
    abstract_init(&r->abstract);
    assert_int_equal(workload_identify(s, &identity), 0);
    for (;;) {
        if (source_next(s, &b, &e))
            fail_msg("%s", e.text);
        if (!b.records)
            break;
        for (const struct event *ev = b.rec; ev < b.rec + b.records; ev += event_records(ev))
            add(r, ev, identity[ev - b.rec]);
    }
    source_close(s);
}

static void free_run(struct run *r)
{
    stream_free(&r->real);
    stream_free(&r->plain);
    free(r->number);
    abstract_free(&r->abstract);
}

/* By event of the real stream. Owned by the caller. */
static bool *racy_by_oracle(const struct run *r)
{
    const struct oracle_options o = {.granule = r->granularity};
    bool *plain = xcalloc(r->plain.events, 1), *racy = xcalloc(r->real.events, 1);

    if (oracle_run(r->plain.rec, r->plain.records, &o, plain))
        fail_msg("the oracle refuses the stream");
    for (size_t i = 0; i < r->n; i++)
        racy[r->number[i]] = plain[i];
    free(plain);
    return racy;
}

/* number: NULL, or the one of each event in the real stream. */
static bool *racy_by_vc(const struct run *r, const struct stream *s, const uint64_t *number)
{
    const char *const settings[] = {"view=tracked", NULL};
    bool *racy = xcalloc(r->real.events, 1);
    struct watch w;

    watch_open(&w, "vc", r->granularity, settings);
    watch_run(&w, s->rec, s->records);
    if (w.err.code)
        fail_msg("%s", w.err.text);
    for (size_t i = 0; i < w.races; i++)
        racy[number ? number[w.race[i].is.event] : w.race[i].is.event] = true;
    watch_close(&w);
    return racy;
}

static void same(const char *program, const char *gc, const char *who, const struct run *r,
                 const bool *truth, bool *other)
{
    for (size_t i = 0; i < r->real.events; i++)
        if (truth[i] != other[i])
            fail_msg("%s,gc=%s: event %zu races by %s alone", program, gc, i,
                     truth[i] ? "the oracle" : who);
    free(other);
}

static size_t count_of(const bool *racy, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += racy[i];
    return count;
}

struct seen { /* in all programs together */
    size_t races;
    uint64_t again, moved;
};

static void check(const char *program, const char *gc, struct seen *seen)
{
    struct run r;

    run_program(&r, program, gc);
    assert_true(r.plain.events < 20000);
    bool *truth = racy_by_oracle(&r);
    const size_t races = count_of(truth, r.real.events);
    print_message("%s,gc=%s: %zu events, %zu without the runtime's, %zu racy\n", program, gc,
                  r.real.events, r.plain.events, races);
    same(program, gc, "vc without addresses", &r, truth, racy_by_vc(&r, &r.plain, r.number));
    same(program, gc, "vc with addresses", &r, truth, racy_by_vc(&r, &r.real, NULL));
    if (!strstr(program, "=on") && !strstr(program, "races="))
        assert_int_equal(races, 0);
    seen->races += races;
    seen->again += r.abstract.uses_again;
    seen->moved += r.abstract.uses_moved;
    free(truth);
    free_run(&r);
}

static void the_truth_without_addresses_is_the_oracles_and_lards(void **state)
{
    struct seen seen = {0};

    (void)state;
    for (const char *const *p = programs; *p; p++) {
        check(*p, "marksweep", &seen);
        check(*p, "semispace", &seen);
    }
    assert_true(seen.races > 20);
    assert_true(seen.again > 0);
    assert_true(seen.moved > 0);
}

/* ---- by hand -------------------------------------------------------------------------------- */

#define OBJECT(n, at)                                                                              \
    (struct vm_identity)                                                                           \
    {                                                                                              \
        (n), (at)                                                                                  \
    }

static sim_addr place(struct abstract *a, sim_addr addr, struct vm_identity is)
{
    const struct event ev = EV_WRITE4(0, addr);
    struct event to[EVENT_RECORDS];

    abstract_event(a, &ev, is, to);
    assert_int_equal(to->kind, EV_WRITE);
    return to->addr;
}

static void a_place_is_an_objects_wherever_it_is(void **state)
{
    struct abstract a;

    (void)state;
    abstract_init(&a);
    const sim_addr first = place(&a, 0x1000, OBJECT(1, 8));
    assert_int_equal(place(&a, 0x5000, OBJECT(1, 8)), first);
    assert_int_equal(place(&a, 0x5004, OBJECT(1, 12)), first + 4);
    assert_int_equal(a.uses_moved, 1);
    assert_int_equal(a.uses_again, 0);
    assert_true(place(&a, 0x1000, OBJECT(2, 8)) != first);
    assert_int_equal(a.uses_again, 1);
    assert_true(place(&a, 0x9000, OBJECT(1, 4096)) != first);
    assert_true(place(&a, 0x1000, OBJECT(2, 8 + 64)) != first);
    abstract_free(&a);
}

static void what_has_no_object_stays_where_it_is(void **state)
{
    struct abstract a;

    (void)state;
    abstract_init(&a);
    assert_int_equal(place(&a, 0x1000, OBJECT(0, 0)), 0x1000);
    abstract_free(&a);
}

static void what_the_runtime_does_and_memory_mean_nothing(void **state)
{
    const struct event gone[][EVENT_RECORDS] = {
        {{.kind = EV_READ, .addr = 8, .size = 8, .flags = EVF_SYSTEM}},
        {{.kind = EV_ACQUIRE, .addr = 8, .flags = EVF_SYSTEM}},
        {EV_REGION(CLEAR, 0, 8, 8)},
        {EV_MOVE(0, 64, 8, 8)}};
    struct event to[EVENT_RECORDS];
    struct abstract a;

    (void)state;
    abstract_init(&a);
    for (size_t i = 0; i < ARRAY_SIZE(gone); i++) {
        abstract_event(&a, gone[i], OBJECT(0, 0), to);
        assert_int_equal(to->kind, EV_IO);
        assert_int_equal(event_records(to), 1);
    }
    const struct event lock = EV_ON(ACQUIRE, 1, 0x1000);
    abstract_event(&a, &lock, OBJECT(0, 0), to);
    assert_memory_equal(to, &lock, sizeof lock);
    abstract_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_an_objects_wherever_it_is),
        cmocka_unit_test(what_has_no_object_stays_where_it_is),
        cmocka_unit_test(what_the_runtime_does_and_memory_mean_nothing),
        cmocka_unit_test(the_truth_without_addresses_is_the_oracles_and_lards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
