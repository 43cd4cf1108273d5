/* t_stats.c - the table of statistics and its outputs, regions of interest, invariants, digests. */
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/digest.h"
#include "base/stats.h"

/* ---- what the tests share ------------------------------------------------------------------- */

typedef void writer(const struct stats *s, FILE *out);

static void expect_output(const struct stats *s, writer *fn, const char *expected)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    assert_non_null(out);
    fn(s, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void write_json(const struct stats *s, FILE *out)
{
    struct json j;

    json_init(&j, out, false);
    json_object(&j);
    stats_json(s, &j);
    json_end(&j);
}

static void write_indented(const struct stats *s, FILE *out)
{
    struct json j;

    json_init(&j, out, true);
    json_object(&j);
    stats_json(s, &j);
    json_end(&j);
}

static void count(struct stats_group *g, const char *name, const uint64_t *field)
{
    stats_count(g, name, "count", "A count.", field);
}

/* One of each kind. */
struct sample {
    uint64_t hits, misses, live, ops[3];
    struct histogram sizes;
};

static struct stats *sample_stats(const struct sample *m)
{
    static const char *const labels[] = {"read", "write", "rmw"};
    struct stats *s = stats_new();
    struct stats_group *g = stats_group(stats_root(s), "l1");

    stats_count(g, "hits", "count", "Hits.", &m->hits);
    stats_count(g, "misses", "count", "Misses.", &m->misses);
    stats_level(g, "live", "bytes", "Live bytes.", &m->live);
    stats_vector(g, "ops", "count", "By kind.", m->ops, 3, labels);
    stats_histogram(g, "sizes", "bytes", "Sizes.", &m->sizes);
    stats_ratio(g, "rate", "Hits a miss.", &m->hits, &m->misses);
    return s;
}

/* ---- names and layout ----------------------------------------------------------------------- */

static void dotted_names_nest_where_first_declared(void **state)
{
    const uint64_t f[5] = {1, 2, 3, 4, 5};
    struct stats *s = stats_new();
    struct stats_group *vc = stats_group(stats_root(s), "policy.vc");

    (void)state;
    count(vc, "races.accesses", &f[0]);
    count(vc, "memory.live", &f[1]);
    count(stats_root(s), "events", &f[2]);
    count(vc, "races.sites", &f[3]);
    count(stats_group(stats_group(stats_root(s), "policy"), "vc"), "last", &f[4]);
    expect_output(
        s, write_json,
        "{\"schema\": \"lardsim-stats-1\", \"policy\": {\"vc\": {\"races\": {\"accesses\": 1, "
        "\"sites\": 4}, \"memory\": {\"live\": 2}, \"last\": 5}}, \"events\": 3}");
    expect_output(s, stats_csv,
                  "name,value,unit\npolicy.vc.races.accesses,1,count\n"
                  "policy.vc.races.sites,4,count\npolicy.vc.memory.live,2,count\n"
                  "policy.vc.last,5,count\nevents,3,count\n");
    stats_free(s);
}

static void a_group_is_the_one_there(void **state)
{
    struct stats *s = stats_new();
    struct stats_group *ab = stats_group(stats_root(s), "a.b");

    (void)state;
    assert_ptr_equal(stats_group(stats_group(stats_root(s), "a"), "b"), ab);
    assert_ptr_not_equal(stats_group(stats_root(s), "a.bc"), ab);
    assert_ptr_not_equal(stats_group(stats_root(s), "b"), ab);
    stats_free(s);
}

static void an_empty_table_is_written(void **state)
{
    struct stats *s = stats_new();
    struct err e = {0};

    (void)state;
    expect_output(s, write_json, "{\"schema\": \"lardsim-stats-1\"}");
    expect_output(s, stats_text, "");
    expect_output(s, stats_csv, "name,value,unit\n");
    assert_true(stats_digests(s).all == digest_bytes("", 0));
    assert_int_equal(stats_check(s, &e), 0);
    stats_roi_begin(s);
    stats_roi_end(s);
    expect_output(s, write_json, "{\"schema\": \"lardsim-stats-1\", \"roi\": {}}");
    stats_free(s);
    stats_free(NULL);
}

static void an_empty_group_is_an_empty_object(void **state)
{
    struct stats *s = stats_new();
    uint64_t f = UINT64_MAX;

    (void)state;
    stats_group(stats_root(s), "a.b");
    count(stats_root(s), "max", &f);
    expect_output(s, write_json,
                  "{\"schema\": \"lardsim-stats-1\", \"a\": {\"b\": {}}, "
                  "\"max\": 18446744073709551615}");
    expect_output(s, stats_text, "max  18446744073709551615  # count: A count.\n");
    stats_free(s);
}

static void append_name(void *arg, const char *name, const char *unit, const char *help)
{
    strcat(arg, name);
    strcat(arg, unit);
    strcat(arg, help);
}

static void each_statistic_comes_in_order_of_declaration(void **state)
{
    const uint64_t f[3] = {0};
    char all[200] = "";
    struct stats *s = stats_new();

    (void)state;
    stats_count(stats_root(s), "a.x", "cycles", "One.", &f[0]);
    stats_level(stats_root(s), "b", "bytes", "Two.", &f[1]);
    stats_ratio(stats_root(s), "a.y", "Three.", &f[1], &f[2]);
    stats_each(s, append_name, all);
    assert_string_equal(all, "a.xcyclesOne.bbytesTwo.a.yratioThree.");
    stats_free(s);
}

static void a_value_is_found_by_its_full_name(void **state)
{
    struct sample m = {.hits = 7, .live = 9};
    struct stats *s = sample_stats(&m);
    uint64_t v = 1;

    (void)state;
    assert_true(stats_value(s, "l1.hits", &v));
    assert_int_equal(v, 7);
    m.hits = 8;
    assert_true(stats_value(s, "l1.hits", &v));
    assert_int_equal(v, 8);
    assert_true(stats_value(s, "l1.live", &v));
    assert_int_equal(v, 9);
    assert_false(stats_value(s, "hits", &v));
    assert_false(stats_value(s, "l1", &v));
    assert_false(stats_value(s, "l1.hit", &v));
    assert_false(stats_value(s, "l1.ops", &v));
    m.misses = 5;
    assert_true(stats_value(s, "l1.rate.num", &v));
    assert_int_equal(v, 8);
    assert_true(stats_value(s, "l1.rate.den", &v));
    assert_int_equal(v, 5);
    assert_false(stats_value(s, "l1.rate", &v));
    assert_false(stats_value(s, "l1.rate.", &v));
    assert_false(stats_value(s, "l1.rate.number", &v));
    assert_false(stats_value(s, "l1.rate.value", &v));
    assert_false(stats_value(s, "l1.hits.num", &v));
    assert_false(stats_value(s, "", &v));
    stats_free(s);
}

/* ---- kinds ---------------------------------------------------------------------------------- */

static void buckets_are_powers_of_two(void **state)
{
    struct histogram h = {0};

    (void)state;
    histogram_add(&h, 0);
    histogram_add(&h, 1);
    assert_int_equal(h.bucket[0], 1);
    assert_int_equal(h.bucket[1], 1);
    for (unsigned i = 2; i <= 64; i++) {
        const uint64_t low = UINT64_C(1) << (i - 1);
        histogram_add(&h, low);
        histogram_add(&h, low + (low - 1));
        assert_int_equal(h.bucket[i], 2);
    }
    assert_int_equal(h.count, 128);
    assert_int_equal(h.min, 0);
    assert_true(h.max == UINT64_MAX);
}

static void the_first_value_is_least_and_greatest(void **state)
{
    struct histogram h = {0};

    (void)state;
    histogram_add(&h, 5);
    assert_int_equal(h.min, 5);
    assert_int_equal(h.max, 5);
    histogram_add(&h, 9);
    histogram_add(&h, 2);
    assert_int_equal(h.min, 2);
    assert_int_equal(h.max, 9);
    assert_int_equal(h.sum, 16);
}

static void json_shows_each_kind(void **state)
{
    struct sample m = {.hits = 2, .misses = 3, .live = 100, .ops = {5, 0, 6}};
    struct stats *s = sample_stats(&m);

    (void)state;
    histogram_add(&m.sizes, 0);
    histogram_add(&m.sizes, 5);
    histogram_add(&m.sizes, 7);
    expect_output(s, write_indented,
                  "{\n"
                  "  \"schema\": \"lardsim-stats-1\",\n"
                  "  \"l1\": {\n"
                  "    \"hits\": 2,\n"
                  "    \"misses\": 3,\n"
                  "    \"live\": 100,\n"
                  "    \"ops\": {\n"
                  "      \"read\": 5,\n"
                  "      \"write\": 0,\n"
                  "      \"rmw\": 6\n"
                  "    },\n"
                  "    \"sizes\": {\n"
                  "      \"count\": 3,\n"
                  "      \"sum\": 12,\n"
                  "      \"min\": 0,\n"
                  "      \"max\": 7,\n"
                  "      \"buckets\": [\n"
                  "        [0, 0, 1],\n"
                  "        [4, 7, 2]\n"
                  "      ]\n"
                  "    },\n"
                  "    \"rate\": {\n"
                  "      \"value\": 0.666667,\n"
                  "      \"num\": 2,\n"
                  "      \"den\": 3\n"
                  "    }\n"
                  "  }\n"
                  "}\n");
    stats_free(s);
}

static void text_is_aligned_and_leaves_empty_labels_out(void **state)
{
    struct sample m = {.hits = 2, .misses = 3, .live = 100, .ops = {5, 0, 6}};
    struct stats *s = sample_stats(&m);

    (void)state;
    histogram_add(&m.sizes, 5);
    expect_output(s, stats_text,
                  "l1.hits                2  # count: Hits.\n"
                  "l1.misses              3  # count: Misses.\n"
                  "l1.live              100  # bytes: Live bytes.\n"
                  "l1.ops.read            5  # count: By kind.\n"
                  "l1.ops.rmw             6  # count: By kind.\n"
                  "l1.sizes.count         1  # count: Sizes.\n"
                  "l1.sizes.sum           5  # bytes: Sizes.\n"
                  "l1.sizes.min           5  # bytes: Sizes.\n"
                  "l1.sizes.max           5  # bytes: Sizes.\n"
                  "l1.sizes.4-7           1  # count: Sizes.\n"
                  "l1.rate.value   0.666667  # ratio: Hits a miss.\n"
                  "l1.rate.num            2  # Hits a miss.\n"
                  "l1.rate.den            3  # Hits a miss.\n");
    stats_free(s);
}

static void what_has_no_value_is_empty_in_each_output(void **state)
{
    struct sample m = {.hits = 2};
    struct stats *s = sample_stats(&m);

    (void)state;
    expect_output(s, write_json,
                  "{\"schema\": \"lardsim-stats-1\", \"l1\": {\"hits\": 2, \"misses\": 0, "
                  "\"live\": 0, \"ops\": {\"read\": 0, \"write\": 0, \"rmw\": 0}, "
                  "\"sizes\": {\"count\": 0, \"sum\": 0, \"min\": null, \"max\": null, "
                  "\"buckets\": []}, \"rate\": {\"value\": null, \"num\": 2, \"den\": 0}}}");
    expect_output(s, stats_csv,
                  "name,value,unit\nl1.hits,2,count\nl1.misses,0,count\nl1.live,0,bytes\n"
                  "l1.ops.read,0,count\nl1.ops.write,0,count\nl1.ops.rmw,0,count\n"
                  "l1.sizes.count,0,count\nl1.sizes.sum,0,bytes\nl1.sizes.min,,bytes\n"
                  "l1.sizes.max,,bytes\nl1.rate.value,,ratio\nl1.rate.num,2,\nl1.rate.den,0,\n");
    expect_output(s, stats_text,
                  "l1.hits         2  # count: Hits.\n"
                  "l1.misses       0  # count: Misses.\n"
                  "l1.live         0  # bytes: Live bytes.\n"
                  "l1.sizes.count  0  # count: Sizes.\n"
                  "l1.sizes.sum    0  # bytes: Sizes.\n"
                  "l1.sizes.min    -  # bytes: Sizes.\n"
                  "l1.sizes.max    -  # bytes: Sizes.\n"
                  "l1.rate.value   -  # ratio: Hits a miss.\n"
                  "l1.rate.num     2  # Hits a miss.\n"
                  "l1.rate.den     0  # Hits a miss.\n");
    stats_free(s);
}

static void vectors_without_labels_count_from_zero(void **state)
{
    const uint64_t f[12] = {[0] = 1, [11] = 2};
    struct stats *s = stats_new();

    (void)state;
    stats_vector(stats_root(s), "v", "count", "V.", f, 12, NULL);
    stats_vector(stats_root(s), "none", "count", "N.", f, 0, NULL);
    uint64_t value;

    assert_true(stats_value(s, "v.11", &value));
    assert_int_equal(value, 2);
    assert_false(stats_value(s, "v.12", &value));
    assert_false(stats_value(s, "v", &value));
    assert_false(stats_value(s, "none.0", &value));
    expect_output(s, stats_text, "v.0   1  # count: V.\nv.11  2  # count: V.\n");
    expect_output(
        s, write_json,
        "{\"schema\": \"lardsim-stats-1\", \"v\": {\"0\": 1, \"1\": 0, \"2\": 0, \"3\": 0, "
        "\"4\": 0, \"5\": 0, \"6\": 0, \"7\": 0, \"8\": 0, \"9\": 0, \"10\": 0, "
        "\"11\": 2}, \"none\": {}}");
    stats_free(s);
}

static void csv_quotes_what_needs_it(void **state)
{
    static const char *const labels[] = {"a,b", "say \"x\"", "two\nlines", "plain"};
    const uint64_t f[4] = {1, 2, 3, 4};
    struct stats *s = stats_new();

    (void)state;
    stats_vector(stats_root(s), "v", "bytes, live", "V.", f, 4, labels);
    expect_output(s, stats_csv,
                  "name,value,unit\n\"v.a,b\",1,\"bytes, live\"\n\"v.say \"\"x\"\"\",2,"
                  "\"bytes, live\"\n\"v.two\nlines\",3,\"bytes, live\"\n"
                  "v.plain,4,\"bytes, live\"\n");
    stats_free(s);
}

/* ---- regions of interest -------------------------------------------------------------------- */

static void regions_add_up(void **state)
{
    struct sample m = {.hits = 10, .live = 50};
    struct stats *s = sample_stats(&m);

    uint64_t v;

    (void)state;
    assert_false(stats_value(s, "roi.l1.rate.num", &v));
    stats_roi_begin(s);
    m.hits = 13;
    m.ops[1] = 4;
    m.live = 70;
    stats_roi_end(s);
    m.hits = 100;
    assert_true(stats_value(s, "roi.l1.rate.num", &v));
    assert_int_equal(v, 3);
    assert_true(stats_value(s, "l1.rate.num", &v));
    assert_int_equal(v, 100);
    m.ops[1] = 100;
    m.live = 60;
    stats_roi_begin(s);
    m.hits = 102;
    m.ops[1] = 101;
    m.misses = 2;
    m.live = 40;
    stats_roi_end(s);
    m.hits = 200;
    m.live = 1;
    expect_output(s, stats_text,
                  "l1.hits                    200  # count: Hits.\n"
                  "l1.misses                    2  # count: Misses.\n"
                  "l1.live                      1  # bytes: Live bytes.\n"
                  "l1.ops.write               101  # count: By kind.\n"
                  "l1.sizes.count               0  # count: Sizes.\n"
                  "l1.sizes.sum                 0  # bytes: Sizes.\n"
                  "l1.sizes.min                 -  # bytes: Sizes.\n"
                  "l1.sizes.max                 -  # bytes: Sizes.\n"
                  "l1.rate.value       100.000000  # ratio: Hits a miss.\n"
                  "l1.rate.num                200  # Hits a miss.\n"
                  "l1.rate.den                  2  # Hits a miss.\n"
                  "roi.l1.hits                  5  # count: Hits.\n"
                  "roi.l1.misses                2  # count: Misses.\n"
                  "roi.l1.live                 40  # bytes: Live bytes.\n"
                  "roi.l1.ops.write             5  # count: By kind.\n"
                  "roi.l1.sizes.count           0  # count: Sizes.\n"
                  "roi.l1.sizes.sum             0  # bytes: Sizes.\n"
                  "roi.l1.rate.value     2.500000  # ratio: Hits a miss.\n"
                  "roi.l1.rate.num              5  # Hits a miss.\n"
                  "roi.l1.rate.den              2  # Hits a miss.\n");
    stats_free(s);
}

static void a_region_of_a_histogram_has_no_bounds(void **state)
{
    struct histogram h = {0};
    struct stats *s = stats_new();

    (void)state;
    stats_histogram(stats_root(s), "h", "bytes", "H.", &h);
    histogram_add(&h, 1);
    histogram_add(&h, 1000);
    stats_roi_begin(s);
    histogram_add(&h, 1);
    histogram_add(&h, UINT64_MAX);
    stats_roi_end(s);
    expect_output(s, write_json,
                  "{\"schema\": \"lardsim-stats-1\", \"h\": {\"count\": 4, \"sum\": 1001, "
                  "\"min\": 1, \"max\": 18446744073709551615, \"buckets\": [[1, 1, 2], "
                  "[512, 1023, 1], [9223372036854775808, 18446744073709551615, 1]]}, "
                  "\"roi\": {\"h\": {\"count\": 2, \"sum\": 0, \"buckets\": [[1, 1, 1], "
                  "[9223372036854775808, 18446744073709551615, 1]]}}}");
    stats_free(s);
}

static void a_ratio_of_levels_keeps_them(void **state)
{
    uint64_t bytes = 10, peak = 20, flow = 5;
    struct stats *s = stats_new();

    (void)state;
    stats_ratio(stats_root(s), "r", "R.", &bytes, &flow);
    stats_level(stats_root(s), "bytes", "bytes", "B.", &bytes);
    stats_level(stats_root(s), "peak", "bytes", "P.", &peak);
    stats_ratio(stats_root(s), "q", "Q.", &bytes, &peak);
    stats_roi_begin(s);
    bytes = 12;
    peak = 24;
    flow = 8;
    stats_roi_end(s);
    expect_output(s, write_json,
                  "{\"schema\": \"lardsim-stats-1\", "
                  "\"r\": {\"value\": 1.500000, \"num\": 12, \"den\": 8}, \"bytes\": 12, "
                  "\"peak\": 24, \"q\": {\"value\": 0.500000, \"num\": 12, \"den\": 24}, "
                  "\"roi\": {\"r\": {\"value\": 4.000000, \"num\": 12, \"den\": 3}, \"bytes\": 12, "
                  "\"peak\": 24, \"q\": {\"value\": 0.500000, \"num\": 12, \"den\": 24}}}");
    stats_free(s);
}

static void an_open_region_is_not_shown(void **state)
{
    uint64_t f = 1;
    struct stats *s = stats_new();

    (void)state;
    count(stats_root(s), "f", &f);
    stats_roi_begin(s);
    f = 2;
    expect_output(s, write_json, "{\"schema\": \"lardsim-stats-1\", \"f\": 2}");
    stats_roi_end(s);
    stats_roi_begin(s);
    f = 3;
    expect_output(s, write_json,
                  "{\"schema\": \"lardsim-stats-1\", \"f\": 3, \"roi\": {\"f\": 1}}");
    stats_free(s);
}

/* ---- invariants ----------------------------------------------------------------------------- */

static void a_false_invariant_is_told_with_its_numbers(void **state)
{
    struct sample m = {.hits = 3, .misses = 4};
    uint64_t accesses = 7;
    struct stats *s = sample_stats(&m);
    struct stats_group *g = stats_group(stats_root(s), "l1");
    struct err e = {0};

    (void)state;
    stats_invariant(g, "lookups", "Each access hits or misses.",
                    (const uint64_t *const[]){&m.hits, &m.misses, NULL}, STATS_EQ,
                    (const uint64_t *const[]){&accesses, NULL});
    stats_invariant(g, "second", "Second.", (const uint64_t *const[]){&m.hits, NULL}, STATS_LE,
                    (const uint64_t *const[]){NULL});
    m.hits = 0;
    m.misses = 7;
    assert_int_equal(stats_check(s, &e), 0);
    m.hits = 3;
    assert_int_equal(stats_check(s, &e), -1);
    assert_int_equal(e.code, LARD_INTERNAL);
    assert_string_equal(e.text,
                        "invariant l1.lookups does not hold: 3 (l1.hits) + 7 (l1.misses) = 7 is "
                        "false. (Each access hits or misses.) This is a fault of the simulator; "
                        "please report it with the configuration and the trace.");
    m.misses = 4;
    err_clear(&e);
    assert_int_equal(stats_check(s, &e), -1);
    assert_non_null(
        strstr(e.text, "invariant l1.second does not hold: 3 (l1.hits) <= 0 is false."));
    stats_free(s);
}

static void the_relations_mean_what_they_say(void **state)
{
    uint64_t a = 0, b = 0;
    struct stats *s = stats_new();
    struct stats *t = stats_new();
    struct err e = {0};
    const uint64_t *const left[] = {&a, NULL}, *const right[] = {&b, NULL};

    (void)state;
    stats_invariant(stats_root(s), "le", "A.", left, STATS_LE, right);
    stats_invariant(stats_root(t), "eq", "A.", left, STATS_EQ, right);
    assert_int_equal(stats_check(s, &e) | stats_check(t, &e), 0);
    b = 1;
    assert_int_equal(stats_check(s, &e), 0);
    assert_int_equal(stats_check(t, &e), -1);
    assert_non_null(strstr(e.text, "invariant eq "));
    a = 2;
    assert_int_equal(stats_check(s, &e), -1);
    assert_int_equal(stats_check(t, &e), -1);
    stats_free(s);
    stats_free(t);
}

static void sums_do_not_wrap(void **state)
{
    uint64_t max = UINT64_MAX, one = 1, zero = 0;
    struct stats *s = stats_new();
    struct err e = {0};

    (void)state;
    stats_invariant(stats_root(s), "sum", "S.", (const uint64_t *const[]){&max, &one, NULL},
                    STATS_EQ, (const uint64_t *const[]){&zero, NULL});
    assert_int_equal(stats_check(s, &e), -1);
    stats_free(s);
}

/* ---- digests -------------------------------------------------------------------------------- */

static void digests_are_xxh3(void **state)
{
    struct digest *d = digest_new();
    static const char text[] = "The quick brown fox";

    (void)state;
    assert_true(digest_bytes("", 0) == UINT64_C(0x2d06800538d394c2));
    assert_true(digest_bytes(NULL, 0) == UINT64_C(0x2d06800538d394c2));
    assert_true(digest_bytes("a", 1) == UINT64_C(0xe6c632b61e964e1f));
    digest_add(d, NULL, 0);
    assert_true(digest_value(d) == digest_bytes("", 0));
    digest_add(d, text, 4);
    assert_true(digest_value(d) == digest_bytes(text, 4));
    digest_add(d, text + 4, sizeof text - 5);
    assert_true(digest_value(d) == digest_bytes(text, sizeof text - 1));
    digest_free(d);
    digest_free(NULL);
}

static uint64_t digest_text(const char *text)
{
    return digest_bytes(text, strlen(text));
}

static void the_digest_is_of_sorted_lines(void **state)
{
    struct sample m = {.hits = 2, .misses = 3, .live = 4, .ops = {5, 0, 6}};
    struct stats *s = sample_stats(&m);

    (void)state;
    histogram_add(&m.sizes, 5);
    assert_true(stats_digests(s).all ==
                digest_text("l1.hits=2\nl1.live=4\nl1.misses=3\nl1.ops.read=5\nl1.ops.rmw=6\n"
                            "l1.ops.write=0\nl1.sizes.4-7=1\nl1.sizes.count=1\nl1.sizes.max=5\n"
                            "l1.sizes.min=5\nl1.sizes.sum=5\n"));
    stats_free(s);
}

static void the_digest_covers_regions(void **state)
{
    uint64_t f = 1;
    struct stats *s = stats_new();

    (void)state;
    count(stats_root(s), "z", &f);
    stats_roi_begin(s);
    f = 3;
    stats_roi_end(s);
    assert_true(stats_digests(s).all == digest_text("roi.z=2\nz=3\n"));
    stats_free(s);
}

static void the_behaviour_leaves_out_echoes_and_zeros(void **state)
{
    const uint64_t hits = 3, none = 0, small = 64, large = 128, labelled[2] = {0, 7};
    struct stats *s = stats_new(), *t = stats_new();
    struct stats_group *g = stats_group(stats_root(s), "l1"), *h = stats_group(stats_root(t), "l1");

    (void)state;
    count(g, "hits", &hits);
    count(g, "evictions", &none);
    stats_echo(g, "capacity", "lines", "Room.", &small);
    stats_vector(g, "core", "count", "By core.", labelled, 2, NULL);
    count(h, "hits", &hits);
    stats_echo(h, "capacity", "lines", "Room.", &large);
    stats_vector(h, "core", "count", "By core.", labelled, 2, NULL);
    assert_true(stats_digests(s).behaviour == digest_text("l1.core.1=7\nl1.hits=3\n"));
    assert_true(stats_digests(s).behaviour == stats_digests(t).behaviour);
    assert_true(stats_digests(s).all != stats_digests(t).all);
    stats_free(s);
    stats_free(t);
}

/* What a histogram of distinct things has in regions is what was counted there, no difference. */
static void a_histogram_of_distinct_things_is_counted_in_regions(void **state)
{
    struct histogram all = {0}, inside = {0};
    struct stats *s = stats_new();

    (void)state;
    stats_histogram_distinct(stats_root(s), "h", "lines", "Lines.", &all, &inside);
    histogram_add(&all, 4);
    stats_roi_begin(s);
    histogram_add(&all, 4);
    histogram_add(&inside, 1);
    stats_roi_end(s);
    assert_true(stats_digests(s).all ==
                digest_text("h.4-7=2\nh.count=2\nh.max=4\nh.min=4\nh.sum=8\n"
                            "roi.h.1-1=1\nroi.h.count=1\nroi.h.sum=1\n"));
    stats_free(s);
}

static void the_digest_does_not_depend_on_order(void **state)
{
    const uint64_t f[2] = {1, 2};
    struct stats *s = stats_new();
    struct stats *t = stats_new();

    (void)state;
    count(stats_root(s), "a", &f[0]);
    count(stats_root(s), "b", &f[1]);
    count(stats_root(t), "b", &f[1]);
    count(stats_root(t), "a", &f[0]);
    assert_true(stats_digests(s).all == stats_digests(t).all);
    stats_free(s);
    stats_free(t);
}

/* Thousands and decimals are written otherwise there. Where the locale is not installed this says
 * nothing. */
static void the_locale_changes_nothing(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        skip();
    json_shows_each_kind(state);
    text_is_aligned_and_leaves_empty_labels_out(state);
    the_digest_is_of_sorted_lines(state);
    setlocale(LC_ALL, "C");
}

/* ---- misuse --------------------------------------------------------------------------------- */

#ifndef NDEBUG

static const uint64_t zero = 0;

static bool aborts(void (*misuse)(struct stats *s))
{
    int status = 0;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        misuse(stats_new());
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void same_name_twice(struct stats *s)
{
    count(stats_root(s), "a.b", &zero);
    count(stats_group(stats_root(s), "a"), "b", &zero);
}

static void statistic_then_group(struct stats *s)
{
    count(stats_root(s), "a", &zero);
    count(stats_root(s), "a.b", &zero);
}

static void group_then_statistic(struct stats *s)
{
    count(stats_root(s), "a.b", &zero);
    count(stats_root(s), "a", &zero);
}

static void empty_name(struct stats *s)
{
    count(stats_root(s), "", &zero);
}

static void empty_segment(struct stats *s)
{
    count(stats_root(s), "a..b", &zero);
}

static void reserved_name(struct stats *s)
{
    stats_group(stats_root(s), "roi");
}

static void late_declaration(struct stats *s)
{
    stats_roi_begin(s);
    stats_roi_end(s);
    count(stats_root(s), "a", &zero);
}

static void nested_regions(struct stats *s)
{
    stats_roi_begin(s);
    stats_roi_begin(s);
}

static void end_without_begin(struct stats *s)
{
    stats_roi_end(s);
}

static void proper_use(struct stats *s)
{
    count(stats_group(stats_root(s), "a"), "b", &zero);
    count(stats_root(s), "a.c", &zero);
    count(stats_root(s), "a.roi", &zero);
    stats_roi_begin(s);
    stats_roi_end(s);
}

static void misuse_is_caught(void **state)
{
    (void)state;
    assert_true(aborts(same_name_twice));
    assert_true(aborts(statistic_then_group));
    assert_true(aborts(group_then_statistic));
    assert_true(aborts(empty_name));
    assert_true(aborts(empty_segment));
    assert_true(aborts(reserved_name));
    assert_true(aborts(late_declaration));
    assert_true(aborts(nested_regions));
    assert_true(aborts(end_without_begin));
    assert_false(aborts(proper_use));
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dotted_names_nest_where_first_declared),
        cmocka_unit_test(a_group_is_the_one_there),
        cmocka_unit_test(an_empty_table_is_written),
        cmocka_unit_test(an_empty_group_is_an_empty_object),
        cmocka_unit_test(each_statistic_comes_in_order_of_declaration),
        cmocka_unit_test(a_value_is_found_by_its_full_name),
        cmocka_unit_test(buckets_are_powers_of_two),
        cmocka_unit_test(the_first_value_is_least_and_greatest),
        cmocka_unit_test(json_shows_each_kind),
        cmocka_unit_test(text_is_aligned_and_leaves_empty_labels_out),
        cmocka_unit_test(what_has_no_value_is_empty_in_each_output),
        cmocka_unit_test(vectors_without_labels_count_from_zero),
        cmocka_unit_test(csv_quotes_what_needs_it),
        cmocka_unit_test(regions_add_up),
        cmocka_unit_test(a_region_of_a_histogram_has_no_bounds),
        cmocka_unit_test(a_ratio_of_levels_keeps_them),
        cmocka_unit_test(an_open_region_is_not_shown),
        cmocka_unit_test(a_false_invariant_is_told_with_its_numbers),
        cmocka_unit_test(the_relations_mean_what_they_say),
        cmocka_unit_test(sums_do_not_wrap),
        cmocka_unit_test(digests_are_xxh3),
        cmocka_unit_test(the_digest_is_of_sorted_lines),
        cmocka_unit_test(the_digest_covers_regions),
        cmocka_unit_test(the_behaviour_leaves_out_echoes_and_zeros),
        cmocka_unit_test(a_histogram_of_distinct_things_is_counted_in_regions),
        cmocka_unit_test(the_digest_does_not_depend_on_order),
        cmocka_unit_test(the_locale_changes_nothing),
#ifndef NDEBUG
        cmocka_unit_test(misuse_is_caught),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
