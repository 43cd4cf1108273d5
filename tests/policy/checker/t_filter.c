/* t_filter.c - filters spare a policy what they say, and nothing else; what each may lose, and what
 * sparing redundant accesses keeps: every racy location, and the first race of each.
 *
 *     t_filter [--mutant NAME] [FIRST-SEED [SEEDS]]     default: 1 300
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <unistd.h>

#include "policy/checker/filter.h"
#include "tests/frame/mutant_arg.h"
#include "tests/frame/watch.h"

#include <cmocka.h>

enum { X = 0x1000, Y = 0x1004, L = 0x9000 };
static uint64_t first_seed = 1, seeds = 300;

#define R(t, a)       EV_READ4(t, a)
#define W(t, a)       EV_WRITE4(t, a)
#define ACQ(t, a)     EV_ON(ACQUIRE, t, a)
#define REL(t, a)     EV_ON(RELEASE, t, a)
#define CLEAR(a, n)   EV_REGION(CLEAR, 0, a, n)
#define MOVE(b, a, n) EV_MOVE(0, b, a, n)
#define FLAGGED(k, t, a, f)                                                                        \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .size = 4, .flags = (f)                           \
    }
#define AT(k, t, a, s)                                                                             \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .size = 4, .aux = (s)                             \
    }

/* ---- by hand -------------------------------------------------------------------------------- */

static const char *const none[] = {NULL}, *const escape[] = {"filter.escape=on", NULL},
                         *const redundant[] = {"filter.redundant=on", NULL};

/* Racy events, and how many were checked. */
static void check(const char *const *settings, const char *want, uint64_t checked,
                  const struct event *rec, size_t records)
{
    struct watch w;
    char text[200];

    watch_open(&w, "vc", 4, settings);
    watch_run(&w, rec, records);
    assert_string_equal(watch_racy(&w, text, sizeof text), want);
    assert_int_equal(watch_stat(&w, "checked"), checked);
    watch_close(&w);
}
#define CHECKS(settings, want, checked, ...) check(settings, want, checked, EVENTS(__VA_ARGS__))

static void without_a_filter_there_are_no_statistics_of_it(void **state)
{
    struct watch w;
    uint64_t v;

    (void)state;
    watch_open(&w, "vc", 4, none);
    assert_false(stats_value(w.stats, "policy.a.filter.escape", &v));
    watch_close(&w);
}

static void flags_are_spared_as_the_view_or_the_filter_says(void **state)
{
    static const char *const all[] = {"view=all-memory", NULL},
                             *const no_final[] = {"view=all-memory", "filter.final=on", NULL},
                             *const final[] = {"filter.final=off", NULL},
                             *const stack[] = {"filter.stack=off", NULL},
                             *const no_stack[] = {"filter.stack=on", NULL};
    const struct event rec[] = {FLAGGED(WRITE, 0, X, EVF_FINAL), FLAGGED(READ, 1, X, EVF_FINAL),
                                FLAGGED(WRITE, 0, Y, EVF_STACK), FLAGGED(READ, 1, Y, EVF_STACK),
                                FLAGGED(READ, 1, Y, EVF_STACK | EVF_SYSTEM)};

    (void)state;
    check(none, "", 0, rec, ARRAY_SIZE(rec));
    check(no_stack, "", 0, rec, ARRAY_SIZE(rec));
    check(all, "1", 2, rec, ARRAY_SIZE(rec));
    check(no_final, "", 0, rec, ARRAY_SIZE(rec));
    check(final, "1", 2, rec, ARRAY_SIZE(rec));
    check(stack, "3", 2, rec, ARRAY_SIZE(rec)); /* the system's are not the view's */
}

static void what_flags_spare_is_counted(void **state)
{
    static const char *const settings[] = {"view=all-memory", "filter.final=on", NULL};
    const struct event rec[] = {FLAGGED(WRITE, 0, X, EVF_FINAL),
                                FLAGGED(WRITE, 0, Y, EVF_STACK | EVF_FINAL), W(0, X)};
    struct watch w;

    (void)state;
    watch_open(&w, "vc", 4, settings);
    watch_run(&w, rec, ARRAY_SIZE(rec));
    assert_int_equal(watch_stat(&w, "filter.stack"), 1);
    assert_int_equal(watch_stat(&w, "filter.final"), 1);
    assert_int_equal(watch_stat(&w, "unchecked"), 2);
    assert_int_equal(watch_stat(&w, "checked"), 1);
    watch_close(&w);
}

static void what_the_trace_says_is_safe_is_believed_if_it_is_asked_for(void **state)
{
    static const char *const safe[] = {"filter.safe=on", NULL};
    const struct event marked[] = {FLAGGED(WRITE, 0, X, EVF_SAFE), W(1, X)},
                       later[] = {W(0, X), FLAGGED(WRITE, 1, X, EVF_SAFE), R(2, X)};

    (void)state;
    check(none, "1", 2, marked, ARRAY_SIZE(marked));
    check(safe, "", 1, marked, ARRAY_SIZE(marked));
    check(none, "1 2", 3, later, ARRAY_SIZE(later));
    check(safe, "2", 2, later, ARRAY_SIZE(later));
}

/* The first thread's accesses are not known when the second comes: that race is lost, later ones
 * are not. */
static void a_location_escapes_when_a_second_thread_comes(void **state)
{
    (void)state;
    CHECKS(none, "2", 3, W(0, X), W(0, X), R(1, X));
    CHECKS(escape, "", 1, W(0, X), W(0, X), R(1, X));
    CHECKS(escape, "2", 2, W(0, X), R(1, X), W(0, X));
    CHECKS(escape, "3", 3, W(0, X), R(1, X), R(1, X), W(0, X));
    CHECKS(escape, "", 0, W(0, X), W(1, Y), W(0, X), W(1, Y));
}

static void an_access_is_passed_on_if_any_of_its_locations_has_escaped(void **state)
{
    (void)state;
    CHECKS(escape, "3", 3, W(0, X), R(1, X), EV_SIZED(READ, 0, X, 8), W(1, Y));
    CHECKS(escape, "", 0, EV_SIZED(WRITE, 0, X, 8), W(0, Y));
}

static void a_new_life_begins_with_one_thread(void **state)
{
    (void)state;
    CHECKS(escape, "", 1, W(0, X), R(1, X), CLEAR(X, 4), W(0, X), W(0, X));
    CHECKS(escape, "3", 2, W(0, X), R(1, X), MOVE(Y, X, 4), W(0, Y));
    CHECKS(escape, "", 1, W(0, X), R(1, X), MOVE(X, Y, 4), W(0, X)); /* Y has no life */
}

static void an_access_is_redundant_after_one_that_is_as_much(void **state)
{
    (void)state;
    CHECKS(redundant, "", 1, R(0, X), R(0, X));
    CHECKS(redundant, "", 1, W(0, X), R(0, X), W(0, X));
    CHECKS(redundant, "", 2, R(0, X), W(0, X), W(0, X), R(0, X)); /* a write after a read is not */
    CHECKS(redundant, "1 2", 3, W(0, X), R(1, X), W(1, X));       /* nor after another thread's */
    CHECKS(redundant, "1", 2, R(0, X), W(1, X), R(0, X));         /* whatever comes between */
}

static void regions_end_at_releases(void **state)
{
    (void)state;
    CHECKS(redundant, "", 1, ACQ(0, L), R(0, X), ACQ(0, Y), R(0, X));
    CHECKS(redundant, "", 2, ACQ(0, L), R(0, X), REL(0, L), R(0, X));
    CHECKS(redundant, "", 2, R(0, X), EV_NAMING(FORK, 0, 1), R(0, X));
    CHECKS(redundant, "", 2, R(0, X), EV_ON(VOLATILE_WRITE, 0, L), R(0, X));
    CHECKS(redundant, "", 1, R(0, X), EV_ON(VOLATILE_READ, 0, L), R(0, X));
    CHECKS(redundant, "", 1, R(0, X), ACQ(1, L), REL(1, L), R(0, X)); /* others' do not */
}

static void all_of_an_access_must_be_redundant(void **state)
{
    (void)state;
    CHECKS(redundant, "", 2, W(0, X), EV_SIZED(WRITE, 0, X, 8), W(0, Y));
    CHECKS(redundant, "", 2, W(0, X), W(0, Y), EV_SIZED(READ, 0, X, 8));
}

/* Atomic accesses order and race as such; a transaction's are checked when it commits. */
static void only_plain_accesses_are_redundant(void **state)
{
    enum { RELAXED = ORDER_RELAXED << EVF_ORDER_SHIFT };

    (void)state;
    CHECKS(redundant, "", 2, FLAGGED(READ, 0, X, RELAXED), FLAGGED(READ, 0, X, RELAXED));
    CHECKS(redundant, "", 2, FLAGGED(WRITE, 0, X, RELAXED), W(0, X));
    /* An atomic write takes the last write's place: the next plain one conflicts with more. */
    CHECKS(redundant, "3", 4, W(0, X), FLAGGED(WRITE, 0, X, RELAXED), W(0, X),
           FLAGGED(WRITE, 1, X, RELAXED));
    CHECKS(redundant, "", 2, EV_IN_TXN(READ, 0, X), EV_IN_TXN(READ, 0, X),
           {.kind = EV_TXN_COMMIT, .tid = 0});
}

static void lives_do_not_make_each_other_redundant(void **state)
{
    (void)state;
    CHECKS(redundant, "", 2, W(0, X), CLEAR(X, 4), W(0, X));
    CHECKS(redundant, "", 1, W(0, X), MOVE(Y, X, 4), W(0, Y));
    CHECKS(redundant, "", 1, W(0, X), MOVE(Y, X, 4), CLEAR(X, 4), R(0, Y));
    CHECKS(redundant, "", 2, W(0, X), MOVE(X, Y, 4), W(0, X));
}

static void filters_pass_on_to_each_other(void **state)
{
    static const char *const both[] = {"filter.redundant=on", "filter.escape=on", NULL};

    (void)state;
    /* What was spared as local makes nothing redundant. */
    CHECKS(both, "2", 2, W(0, X), R(1, X), W(0, X), W(0, X));
}

static void what_may_be_lost_is_not_promised(void **state)
{
    static const struct {
        const char *setting, *text;
        bool sound;
    } rows[] = {{"filter.escape=on", "happens-before, history last; filter escape", false},
                {"filter.redundant=on", "happens-before, history last; filter redundant", false},
                {"filter.final=on", "happens-before, history last; filter final", false},
                {"filter.stack=off", "happens-before, history last; filter stack off", true}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct watch w;
        watch_open(&w, "vc", 4, (const char *const[]){rows[i].setting, NULL});
        const struct promise p = checker_promise(w.checker);
        assert_string_equal(p.property, rows[i].text);
        assert_int_equal((p.claims & CLAIM_SOUND) != 0, rows[i].sound);
        assert_true(p.claims & CLAIM_PRECISE);
        watch_close(&w);
    }
}

/* ---- the file ------------------------------------------------------------------------------- */

static char *write_file(const char *text, size_t bytes)
{
    const char *dir = getenv("TMPDIR");
    char *path = xasprintf("%s/t_filter.XXXXXX", dir ? dir : "/tmp");
    const int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, bytes), (ssize_t)bytes);
    close(fd);
    return path;
}

static void check_file(const char *text, const char *want, uint64_t spared,
                       const struct names *names, const struct event *rec, size_t records)
{
    char *path = write_file(text, strlen(text)), *setting = xasprintf("filter.static=%s", path);
    char racy[200];
    struct watch w;

    watch_open(&w, "vc", 4, (const char *const[]){setting, NULL});
    checker_names(w.checker, names);
    watch_run(&w, rec, records);
    assert_string_equal(watch_racy(&w, racy, sizeof racy), want);
    assert_int_equal(watch_stat(&w, "filter.static"), spared);
    watch_close(&w);
    unlink(path);
    free(setting);
    free(path);
}
#define FILE_CHECKS(text, want, spared, names, ...)                                                \
    check_file(text, want, spared, names, EVENTS(__VA_ARGS__))

static void the_file_exempts_addresses_and_sites(void **state)
{
    struct names *names = names_new();
    struct err e = {0};

    (void)state;
    assert_int_equal(names_add(names, NAME_SITE, 7, "Main.run:7", &e), 0);
    FILE_CHECKS("", "1", 0, NULL, W(0, X), W(1, X));
    FILE_CHECKS("# nothing\n\n  \t\n", "1", 0, NULL, W(0, X), W(1, X));
    FILE_CHECKS("range 0x1000 4 # X", "", 2, NULL, W(0, X), W(1, X));
    FILE_CHECKS("range 4096 3\n", "1", 0, NULL, W(0, X), W(1, X)); /* not all of it */
    FILE_CHECKS("range 4096 3\r\naddress 0x1003\r\n", "", 2, NULL, W(0, X), W(1, X));
    FILE_CHECKS("range 0x1000 4\nrange 0x1002 6\n", "", 3, NULL, EV_SIZED(WRITE, 0, X, 8), W(1, X),
                W(1, Y));
    FILE_CHECKS("range 0xfffffffffffffffc 4\n", "", 1, NULL, W(0, UINT64_C(0xfffffffffffffffc)));
    FILE_CHECKS("site 9\n", "", 1, NULL, AT(WRITE, 0, X, 9), AT(WRITE, 1, X, 8));
    FILE_CHECKS("site \"Main.run:7\"\nsite \"none\"\n", "2", 1, names, AT(WRITE, 0, X, 7),
                AT(WRITE, 0, X, 8), AT(WRITE, 1, X, 9));
    FILE_CHECKS("site \"Main.run:7\"\n", "1", 0, NULL, AT(WRITE, 0, X, 7), AT(WRITE, 1, X, 7));
    names_free(names);
}

static void mistakes_in_the_file_are_told_with_their_line(void **state)
{
    static const struct {
        const char *text;
        size_t bytes;
        const char *says;
    } rows[] = {
        {"address\n", 8, ":1: an address is expected"},
        {"\n# x\naddress 12z\n", 18, ":3: an address is expected"},
        {"address 1 2\n", 12, ":1: an address is expected"},
        {"address -1\n", 11, ":1: an address is expected"},
        {"address 0x10000000000000000\n", 28, ":1: an address is expected"},
        {"range 1\n", 8, ":1: an address and bytes are expected"},
        {"range 1 0\n", 10, ":1: the range is empty"},
        {"range 0xffffffffffffffff 2\n", 27, ":1: the range is empty, or passes the last address"},
        {"site\n", 5, ":1: a site's number"},
        {"site 0\n", 7, ":1: 0 is no site"},
        {"site \"a\n", 8, ":1: a name in quotes"},
        {"site \"\"\n", 8, ":1: a name in quotes"},
        {"site \"a\" b\n", 11, ":1: a name in quotes"},
        {"sites 1\n", 8, ":1: it says nothing that is known"},
        {"ad\0ress 1\n", 10, ":1: the line is too long, or has a zero byte"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char *path = write_file(rows[i].text, rows[i].bytes);
        char *want = xasprintf("%s%s", path, rows[i].says);
        const struct filter_params p = {.exempt = path};
        const struct filter_env env = {.granule = 4};
        struct filter *f;
        struct err e = {0};
        assert_int_equal(filter_new(&f, &p, &env, &e), -1);
        assert_int_equal(e.code, LARD_CONFIG);
        if (strncmp(e.text, want, strlen(want)))
            fail_msg("%s, not %s", e.text, want);
        unlink(path);
        free(want);
        free(path);
    }
}

static void a_file_that_cannot_be_read_is_told(void **state)
{
    static const char *const paths[] = {"/nonexistent/file", "/"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        const struct filter_params p = {.exempt = paths[i]};
        const struct filter_env env = {.granule = 4};
        struct filter *f;
        struct err e = {0};
        assert_int_equal(filter_new(&f, &p, &env, &e), -1);
        assert_non_null(strstr(e.text, paths[i]));
    }
}

/* ---- random streams ------------------------------------------------------------------------- */

/* Without heap events: a location is an address. */
static void random_stream(uint64_t seed, struct stream *s)
{
    struct stream all = {NULL, 0, 0, 0};
    struct rng r;

    rng_seed(&r, seed);
    watch_synth(&r, &all, "");
    for (size_t i = 0; i < all.records; i += event_records(&all.rec[i]))
        if (ev_info[all.rec[i].kind].class != CLASS_HEAP)
            stream_add(s, &all.rec[i]);
    stream_free(&all);
}

struct firsts { /* the first race of each location */
    struct watch_conflict at[4096];
    size_t n;
};

static void find_firsts(const struct watch *w, struct firsts *f)
{
    f->n = 0;
    for (size_t i = 0; i < w->conflicts; i++) {
        size_t k = 0;
        while (k < f->n && f->at[k].location != w->conflict[i].location)
            k++;
        if (k < f->n)
            continue;
        assert_true(f->n < ARRAY_SIZE(f->at));
        f->at[f->n++] = w->conflict[i];
    }
}

static void open_both(struct watch w[2], const char *policy, const char *setting,
                      const char *filter, unsigned granule, const struct stream *s)
{
    watch_open(&w[0], policy, granule, (const char *const[]){setting, NULL});
    watch_open(&w[1], policy, granule, (const char *const[]){setting, filter, NULL});
    watch_run(&w[0], s->rec, s->records);
    watch_run(&w[1], s->rec, s->records);
    assert_int_equal(w[0].err.code, 0);
    assert_int_equal(w[1].err.code, 0);
}

static bool is_racy(const struct watch *w, uint64_t event)
{
    for (size_t i = 0; i < w->races; i++)
        if (w->race[i].is.event == event)
            return true;
    return false;
}

/* The same racy locations, and the same event is each one's first race. With history = all nothing
 * races that did not. */
static uint64_t compare_redundant(uint64_t seed, const char *policy, const char *setting,
                                  const struct stream *s)
{
    static const unsigned granules[] = {1, 4, 8};
    static struct firsts firsts[2];
    struct watch w[2];

    open_both(w, policy, setting, "filter.redundant=on", granules[seed % 3], s);
    find_firsts(&w[0], &firsts[0]);
    find_firsts(&w[1], &firsts[1]);
    bool same = firsts[0].n == firsts[1].n;
    for (size_t i = 0; same && i < firsts[0].n; i++)
        same = firsts[0].at[i].location == firsts[1].at[i].location &&
               firsts[0].at[i].event == firsts[1].at[i].event;
    if (!same)
        fail_msg("seed %llu, %s, %s: other first races", (unsigned long long)seed, policy, setting);
    for (size_t i = 0; !strcmp(setting, "history=all") && i < w[1].races; i++)
        if (!is_racy(&w[0], w[1].race[i].is.event))
            fail_msg("seed %llu: event %llu races with a filter only", (unsigned long long)seed,
                     (unsigned long long)w[1].race[i].is.event);
    const uint64_t spared = watch_stat(&w[1], "filter.redundant");
    watch_close(&w[0]);
    watch_close(&w[1]);
    return spared;
}

static void sparing_redundant_accesses_keeps_first_races(void **state)
{
    uint64_t spared = 0;

    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + seeds; seed++) {
        struct stream s = {NULL, 0, 0, 0};
        random_stream(seed, &s);
        spared += compare_redundant(seed, "vc", "history=last", &s);
        spared += compare_redundant(seed, "vc", "history=all", &s);
        spared += compare_redundant(seed, "fasttrack", "repeats=report", &s);
        spared += compare_redundant(seed, "fasttrack", "view=naive", &s);
        stream_free(&s);
    }
    assert_true(spared > seeds);
}

/* Only races with what the first thread did alone can be lost: an access races with the filter if
 * and only if it does with the first thread's accesses, before the second came, left out. */
static void remove_local(const struct stream *s, unsigned granule, struct stream *to)
{
    struct shadow *owner = shadow_new(granule, sizeof(uint32_t), NULL);

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i])) {
        const struct event *ev = &s->rec[i];
        bool local = event_is_access(ev) && event_tracked(ev);
        struct event kept = *ev;
        if (local) {
            const struct granules g = granules_of(ev, granule);
            for (sim_addr a = g.first;; a += g.step) {
                uint32_t *o = shadow_get(owner, a);
                *o = !*o || *o == ev->tid + 1u ? ev->tid + 1u : UINT32_MAX;
                local &= *o != UINT32_MAX;
                if (a == g.last)
                    break;
            }
        }
        if (local)
            kept.flags |= EVF_STACK; /* no longer looked at, and orders what it did */
        struct event both[2] = {kept, {0}};
        if (event_records(ev) == 2)
            both[1] = ev[1];
        stream_add(to, both);
    }
    shadow_free(owner);
}

/* Accesses of transactions take effect later, and are tried in t_repeats' way only: left out. */
static void the_escape_filter_is_the_definition(void **state)
{
    uint64_t spared = 0;

    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + seeds; seed++) {
        struct stream s = {NULL, 0, 0, 0}, less = {NULL, 0, 0, 0}, plain = {NULL, 0, 0, 0};
        char racy[2][4096];
        struct watch w[2];
        random_stream(seed, &s);
        for (size_t i = 0; i < s.records; i += event_records(&s.rec[i]))
            if (!(event_is_access(&s.rec[i]) && s.rec[i].flags & EVF_IN_TXN))
                stream_add(&plain, &s.rec[i]);
        remove_local(&plain, 4, &less);
        watch_open(&w[0], "vc", 4, none);
        watch_open(&w[1], "vc", 4, escape);
        watch_run(&w[0], less.rec, less.records);
        watch_run(&w[1], plain.rec, plain.records);
        spared += watch_stat(&w[1], "filter.escape");
        if (strcmp(watch_racy(&w[0], racy[0], sizeof racy[0]),
                   watch_racy(&w[1], racy[1], sizeof racy[1])))
            fail_msg("seed %llu: %s, not %s", (unsigned long long)seed, racy[1], racy[0]);
        watch_close(&w[0]);
        watch_close(&w[1]);
        stream_free(&s);
        stream_free(&less);
        stream_free(&plain);
    }
    assert_true(spared > seeds);
}

static void every_policy_has_the_filters(void **state)
{
    (void)state;
    for (size_t i = 0; policies[i]; i++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct stream s = {NULL, 0, 0, 0};
            struct rng r;
            struct watch w;
            rng_seed(&r, seed);
            watch_synth(&r, &s, "");
            watch_open(&w, policies[i]->name, 8,
                       (const char *const[]){"filter.redundant=on", "filter.escape=on",
                                             "filter.stack=off", "filter.final=on", NULL});
            watch_run(&w, s.rec, s.records);
            assert_true(watch_stat(&w, "accesses") == 0 || watch_stat(&w, "filter.escape") > 0);
            watch_close(&w);
            stream_free(&s);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_filter_there_are_no_statistics_of_it),
        cmocka_unit_test(flags_are_spared_as_the_view_or_the_filter_says),
        cmocka_unit_test(what_flags_spare_is_counted),
        cmocka_unit_test(what_the_trace_says_is_safe_is_believed_if_it_is_asked_for),
        cmocka_unit_test(a_location_escapes_when_a_second_thread_comes),
        cmocka_unit_test(an_access_is_passed_on_if_any_of_its_locations_has_escaped),
        cmocka_unit_test(a_new_life_begins_with_one_thread),
        cmocka_unit_test(an_access_is_redundant_after_one_that_is_as_much),
        cmocka_unit_test(regions_end_at_releases),
        cmocka_unit_test(all_of_an_access_must_be_redundant),
        cmocka_unit_test(only_plain_accesses_are_redundant),
        cmocka_unit_test(lives_do_not_make_each_other_redundant),
        cmocka_unit_test(filters_pass_on_to_each_other),
        cmocka_unit_test(what_may_be_lost_is_not_promised),
        cmocka_unit_test(the_file_exempts_addresses_and_sites),
        cmocka_unit_test(mistakes_in_the_file_are_told_with_their_line),
        cmocka_unit_test(a_file_that_cannot_be_read_is_told),
        cmocka_unit_test(sparing_redundant_accesses_keeps_first_races),
        cmocka_unit_test(the_escape_filter_is_the_definition),
        cmocka_unit_test(every_policy_has_the_filters),
    };

    if (!mutant_arg(&argc, &argv))
        return 2;
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seeds = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
