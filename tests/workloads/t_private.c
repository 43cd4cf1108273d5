/* t_private.c - with private=on, is a program what it was but for accesses to private data, and are
 * these as many as CVM's Table 4 says? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/frame/verdict.h"
#include "trace/trace.h"
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void read_all(struct stream *s, const char *spec)
{
    struct err e = {0};
    struct source *from = source_open(spec, &e);

    *s = (struct stream){NULL, 0, 0, 0};
    if (!from || stream_read(s, from, &e))
        die("%s", e.text);
    source_close(from);
}

static bool same_but_for_gap(const struct event *a, const struct event *b)
{
    struct event x = *a, y = *b;

    x.gap = y.gap = 0;
    return !memcmp(&x, &y, sizeof x);
}

enum { THREADS = 64 };
struct instructions { /* gaps, and those of private accesses */
    uint64_t of[THREADS];
};

static struct instructions instructions_of(const struct stream *s)
{
    struct instructions n = {{0}};

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]))
        n.of[s->rec[i].tid] += s->rec[i].gap + !!(s->rec[i].flags & EVF_PRIVATE);
    return n;
}

static void the_rest_is_what_it_was(void **state)
{
    struct stream with, without;
    size_t k = 0;

    (void)state;
    read_all(&with, "workload:sor,n=20,steps=2,gap=40,private=on");
    read_all(&without, "workload:sor,n=20,steps=2,gap=40");
    for (size_t i = 0; i < with.records; i++)
        if (!(with.rec[i].flags & EVF_PRIVATE)) {
            assert_true(k < without.records && same_but_for_gap(&with.rec[i], &without.rec[k]));
            k++;
        }
    assert_int_equal(k, without.records);
    const struct instructions a = instructions_of(&with), b = instructions_of(&without);
    assert_memory_equal(&a, &b, sizeof a); /* they are in the gaps */
    stream_free(&with);
    stream_free(&without);
}

struct row {
    const char *program;
    double none, data_flow, modified; /* Table 4, millions */
};

static void as_many_as_table_4_says(void **state)
{
    static const struct row row[] = {{"barnes", 435.8, 415.0, 88.5},
                                     {"fft", 5.8, 5.3, 1.5},
                                     {"sor", 38.5, 38.5, 27.7},
                                     {"spatial", 108.3, 39.5, 28.5},
                                     {"water", 124.9, 51.8, 21.6}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
        struct stream s;
        double shared = 0, private = 0, proved = 0;
        char *spec = xasprintf("workload:%s,private=on", row[i].program);
        read_all(&s, spec);
        for (size_t k = 0; k < s.records; k += event_records(&s.rec[k])) {
            const struct event *ev = &s.rec[k];
            private += !!(ev->flags & EVF_PRIVATE);
            proved += !!(ev->flags & EVF_PROVED);
            shared += event_is_access(ev) && event_tracked(ev) && !(ev->flags & EVF_PRIVATE);
        }
        const double want = (row[i].none - row[i].modified) / row[i].modified;
        const double known = (row[i].none - row[i].data_flow) / row[i].modified;
        if (private / shared < want * 0.99 || private / shared > want * 1.01 ||
            proved / shared < known * 0.99 - 0.001 || proved / shared > known * 1.01 + 0.001)
            fail_msg("%s has %g private accesses for a shared one, %g of them proved; not %g, %g",
                     row[i].program, private / shared, proved / shared, want, known);
        stream_free(&s);
        free(spec);
    }
}

static void others_have_none(void **state)
{
    struct err e = {0};

    (void)state;
    assert_null(source_open("workload:crypt,private=on", &e));
    assert_int_equal(e.code, LARD_CONFIG);
    assert_non_null(strstr(e.text, "private"));
}

/* With steady=on the region of interest begins once, after the first iteration. */
static void steady_leaves_the_first_iteration_out(void **state)
{
    static const char *const of[] = {"barnes", "fft,repeats=2", "sor", "spatial", "water"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
        struct stream s;
        uint64_t barriers = 0, begins = 0, ends = 0;
        char *spec = xasprintf("workload:%s,steady=on", of[i]);
        read_all(&s, spec);
        for (size_t k = 0; k < s.records; k += event_records(&s.rec[k])) {
            barriers += s.rec[k].kind == EV_BARRIER_DEPART;
            begins += s.rec[k].kind == EV_ROI_BEGIN && barriers;
            ends += s.rec[k].kind == EV_ROI_END;
        }
        if (begins != 1 || ends != 1)
            fail_msg("%s begins %u times and ends %u times", of[i], (unsigned)begins,
                     (unsigned)ends);
        stream_free(&s);
        free(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_is_what_it_was),
        cmocka_unit_test(as_many_as_table_4_says),
        cmocka_unit_test(others_have_none),
        cmocka_unit_test(steady_leaves_the_first_iteration_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
