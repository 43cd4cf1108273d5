/* t_goldilocks.c - goldilocks is precise: the paper's examples with their locksets, each rule by
 * hand, and random traces against the oracle, whatever checks are switched off, wherever the list
 * is cut, with a machine and without.
 *
 *     t_goldilocks [--mutant NAME] [FIRST-SEED [SEEDS]]
 *
 * Thresholds, memory and costs are in t_goldilocks_list.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/policy/goldilocks/rig.h"
#include "tests/frame/mutant_arg.h"

#include <cmocka.h>

enum { X = 0x1000, Y = 0x2000, L = 0x9000, M = 0x9100, V = 0x9200, WHY = 300 };

static uint64_t first_seed = 1, seeds = 400;

#define R(t, a)       EV_READ4(t, a)
#define W(t, a)       EV_WRITE4(t, a)
#define ACQ(t, a)     EV_ON(ACQUIRE, t, a)
#define REL(t, a)     EV_ON(RELEASE, t, a)
#define SHARE(t, a)   EV_ON(ACQUIRE_SHARED, t, a)
#define LEAVE(t, a)   EV_ON(RELEASE_SHARED, t, a)
#define BEGIN(t)      EV_NAMING(TXN_BEGIN, t, 0)
#define COMMIT(t)     EV_NAMING(TXN_COMMIT, t, 0)
#define TR(t, a)      EV_IN_TXN(READ, t, a)
#define TW(t, a)      EV_IN_TXN(WRITE, t, a)
#define CLEAR(a, n)   EV_REGION(CLEAR, 0, a, n)
#define MOVE(b, a, n) EV_MOVE(0, b, a, n)
#define SYSTEM(k, t, a)                                                                            \
    {                                                                                              \
        .kind = EV_##k, .tid = (t), .addr = (a), .flags = EVF_SYSTEM                               \
    }

/* ---- by hand -------------------------------------------------------------------------------- */

static void check(const char *want, const char *setting, const struct event *rec, size_t records)
{
    const char *const sets[][4] = {{setting, NULL},
                                   {setting, "held-lock=off", "two-threads=off", NULL},
                                   {setting, "two-threads=off", NULL},
                                   {setting, "list-limit=1", NULL}};
    struct rig rig = {0};
    char text[200];

    for (size_t i = 0; i < 2 * ARRAY_SIZE(sets); i++) {
        struct rig *on = i % 2 ? &rig : NULL;
        struct watch w;
        rig_open(on, &w, 4, sets[i / 2]);
        rig_run(&w, rec, records);
        assert_string_equal(watch_racy(&w, text, sizeof text), want);
        watch_close(&w);
    }
}
#define RACES_WITH(setting, want, ...) check(want, setting, EVENTS(__VA_ARGS__))
#define RACES(want, ...)               RACES_WITH("view=tracked", want, __VA_ARGS__)

/* Elements that stand for what the paper's figures show. */
static gold_element element(struct goldilocks *g, unsigned kind, sim_addr a)
{
    return gold_object_get(g, kind, a, 0)->element;
}

/* An access, as its record has it. */
struct access {
    uint32_t actor;
    uint64_t moment;
};

static struct access access_now(struct goldilocks *g, uint32_t actor)
{
    return (struct access){actor, gold_actor_at(g, actor)->moment};
}

/* Which of the elements are in the lockset of that access now. */
static void letters(struct goldilocks *g, struct access a, const gold_element *e, const char *names,
                    char *to)
{
    for (size_t i = 0; names[i]; i++)
        if (gold_has(g, e[i], a.actor, a.moment))
            *to++ = names[i];
    *to = '\0';
}

/* Example 2 (Figure 6). o.data is created by thread 1, and goes to 2 under ma, and to 3 under mb.
 */
static void example_2_has_the_locksets_that_the_rules_give(void **state)
{
    enum { MA = L, MB = M, DATA = X };
    const struct event rec[] = {W(1, DATA), ACQ(1, MA), REL(1, MA), ACQ(2, MA),
                                REL(2, MA), ACQ(2, MB), REL(2, MB), ACQ(3, MB),
                                W(3, DATA), REL(3, MB), W(3, DATA)};
    static const char *const want[] = {"1",    "1",     "1a", "1a2", "1a2", "1a2",
                                       "1a2b", "1a2b3", "3",  "b3",  "3"};
    struct access last = {0};
    struct watch w;
    char text[20];

    (void)state;
    rig_open(NULL, &w, 4, (const char *const[]){NULL});
    struct goldilocks *g = rig_policy(&w);
    for (size_t i = 0; i < ARRAY_SIZE(rec); i++) {
        rig_step(&w, &rec[i]);
        if (rec[i].kind == EV_WRITE)
            last = access_now(g, rec[i].tid);
        const gold_element e[] = {gold_actor(1), element(g, OBJECT_LOCK, MA), gold_actor(2),
                                  element(g, OBJECT_LOCK, MB), gold_actor(3)};
        letters(g, last, e, "1a2b3", text);
        assert_string_equal(text, want[i]);
    }
    assert_int_equal(w.races, 0);
    watch_close(&w);
}

/* Example 3 (Figure 7). o.data is written by 1, which puts o on the list in a transaction; by 2 in
 * a transaction; and by 3, which has taken o from the list in one. */
static void example_3_has_the_locksets_that_the_rules_give(void **state)
{
    enum { DATA = X, HEAD = Y, NEXT = X + 8 };
    const struct event rec[] = {W(1, DATA), BEGIN(1),   TR(1, HEAD), TW(1, NEXT), TW(1, HEAD),
                                COMMIT(1),  BEGIN(2),   TR(2, HEAD), TW(2, DATA), TR(2, NEXT),
                                COMMIT(2),  BEGIN(3),   TR(3, HEAD), TR(3, NEXT), TW(3, HEAD),
                                COMMIT(3),  R(3, DATA), W(3, DATA)};
    struct access first = {0}, second = {0};
    struct watch w;
    char text[20];

    (void)state;
    rig_open(NULL, &w, 4, (const char *const[]){NULL});
    struct goldilocks *g = rig_policy(&w);
    for (size_t i = 0; i < ARRAY_SIZE(rec); i++) {
        rig_step(&w, &rec[i]);
        if (i == 0)
            first = access_now(g, 1);
        if (i == 10) { /* a commit's accesses are of the moment that ends with it */
            second = access_now(g, 2);
            second.moment--;
        }
        const gold_element e[] = {gold_actor(1), element(g, OBJECT_COMMIT, HEAD), gold_actor(2),
                                  element(g, OBJECT_COMMIT, DATA), gold_actor(3)};
        if (i == 5) { /* {1, &head, and the other variables} */
            letters(g, first, e, "1h2d3", text);
            assert_string_equal(text, "1h");
        }
        if (i == 10) { /* 2's record is of its commit: {2, TL} and then all its variables */
            letters(g, second, e, "1h2d3", text);
            assert_string_equal(text, "h2d");
        }
        if (i == 15)
            assert_true(gold_has(g, e[4], second.actor, second.moment));
    }
    assert_int_equal(w.races, 0);
    watch_close(&w);
}

/* Figure 4: the transfer is in a transaction, the withdrawal under the account's lock. */
static void example_4_races(void **state)
{
    enum { SAVINGS = X, CHECKING = Y };
    (void)state;
    RACES("8", BEGIN(1), TR(1, SAVINGS), TW(1, SAVINGS), TR(1, CHECKING), TW(1, CHECKING),
          COMMIT(1), ACQ(2, CHECKING), REL(2, CHECKING), R(2, CHECKING));
    RACES("9", ACQ(2, CHECKING), R(2, CHECKING), W(2, CHECKING), REL(2, CHECKING), BEGIN(1),
          TR(1, SAVINGS), TW(1, SAVINGS), TR(1, CHECKING), TW(1, CHECKING), COMMIT(1));
}

static void a_lock_is_handed_on_by_any_mode_that_excludes(void **state)
{
    (void)state;
    RACES("", ACQ(0, L), W(0, X), REL(0, L), ACQ(1, L), W(1, X), REL(1, L));
    RACES("", ACQ(0, L), W(0, X), REL(0, L), SHARE(1, L), R(1, X), LEAVE(1, L), ACQ(0, L), W(0, X));
    RACES("4", SHARE(0, L), W(0, X), LEAVE(0, L), SHARE(1, L), W(1, X));
    RACES("4", ACQ(0, L), W(0, X), REL(0, L), ACQ(1, M), W(1, X));
}

/* 1's write comes after 0's by V, and holds no lock. That 0 held L then, and 2 holds it now, orders
 * 0 and 2, but not 1 and 2. */
static void the_remembered_lock_is_the_accessors(void **state)
{
    (void)state;
    RACES("7", W(0, X), EV_ON(VOLATILE_WRITE, 0, V), EV_ON(VOLATILE_READ, 1, V), ACQ(0, L), W(1, X),
          REL(0, L), ACQ(2, L), W(2, X));
    RACES("8", ACQ(0, L), W(0, X), EV_ON(VOLATILE_WRITE, 0, V), EV_ON(VOLATILE_READ, 1, V), W(1, X),
          REL(0, L), ACQ(2, L), R(2, Y), R(2, X));
}

/* 0's release is the runtime's own, which this view does not heed: 0 holds L when 1 acquires it. */
static void a_lock_that_two_threads_hold_proves_nothing(void **state)
{
    (void)state;
    RACES("4", ACQ(0, L), W(0, X), SYSTEM(RELEASE, 0, L), ACQ(1, L), W(1, X));
    RACES_WITH("view=all-sync", "", ACQ(0, L), W(0, X), SYSTEM(RELEASE, 0, L), ACQ(1, L), W(1, X));
}

/* In this view 0 has L once more after its inner release, and 1 has had it all the time. */
static void only_the_outermost_release_and_acquire_count(void **state)
{
    (void)state;
    RACES("6", ACQ(0, L), ACQ(0, L), W(0, X), REL(0, L), SYSTEM(RELEASE, 0, L), ACQ(1, L), W(1, X));
    RACES("7", ACQ(1, L), SYSTEM(RELEASE, 1, L), ACQ(0, L), W(0, X), REL(0, L),
          SYSTEM(ACQUIRE, 1, L), ACQ(1, L), R(1, X));
}

static void a_waiter_gives_up_its_lock(void **state)
{
    (void)state;
    RACES("", ACQ(0, L), ACQ(0, L), W(0, X), EV_ON(WAIT_ENTER, 0, L), ACQ(1, L), W(1, X), REL(1, L),
          EV_ON(WAIT_EXIT, 0, L), W(0, X));
}

static void two_accesses_in_transactions_race_in_another_life(void **state)
{
    (void)state;
    RACES_WITH("view=no-clear", "6", BEGIN(1), TW(1, X), COMMIT(1), CLEAR(X, 8), BEGIN(2), TW(2, X),
               COMMIT(2));
    RACES("", BEGIN(1), TW(1, X), COMMIT(1), BEGIN(2), TW(2, X), COMMIT(2));
    RACES("5", BEGIN(1), TW(1, X), COMMIT(1), BEGIN(2), TW(2, X),
          {.kind = EV_TXN_COMMIT, .tid = 2, .flags = EVF_SYSTEM});
}

static void a_null_record_passes(void **state)
{
    (void)state;
    RACES("", R(0, X), R(1, X), R(2, X));
    RACES("", W(0, X));
    RACES("1", W(0, X), R(1, X));
}

/* Section 3: what orders 1's write of X before 2's read of it. */
static void commits_are_ordered_as_is_asked(void **state)
{
    static const struct event shared[] = {W(1, X),  BEGIN(1), TR(1, Y),  COMMIT(1),
                                          BEGIN(2), TW(2, Y), COMMIT(2), R(2, X)},
                              disjoint[] = {W(1, X),  BEGIN(1),     TW(1, Y),  COMMIT(1),
                                            BEGIN(2), TW(2, Y + 8), COMMIT(2), R(2, X)},
                              reads[] = {W(1, X),  BEGIN(1), TW(1, Y),  COMMIT(1),
                                         BEGIN(2), TR(2, Y), COMMIT(2), R(2, X)};
    static const char share[] = "transactions=shared-variable", all[] = "transactions=all",
                      flow[] = "transactions=write-to-read";

    (void)state;
    check("", share, shared, ARRAY_SIZE(shared));
    check("", all, shared, ARRAY_SIZE(shared));
    check("7", flow, shared, ARRAY_SIZE(shared));
    check("7", share, disjoint, ARRAY_SIZE(disjoint));
    check("", all, disjoint, ARRAY_SIZE(disjoint));
    check("7", flow, disjoint, ARRAY_SIZE(disjoint));
    check("", share, reads, ARRAY_SIZE(reads));
    check("", all, reads, ARRAY_SIZE(reads));
    check("", flow, reads, ARRAY_SIZE(reads));
}

/* Two commits that write the same variable are no race in any of the orders. */
static void accesses_in_transactions_do_not_race_in_any_order(void **state)
{
    (void)state;
    RACES_WITH("transactions=write-to-read", "", BEGIN(1), TW(1, X), COMMIT(1), BEGIN(2), TW(2, X),
               COMMIT(2));
    RACES_WITH("transactions=write-to-read", "6", BEGIN(1), TW(1, X), COMMIT(1), BEGIN(2), TW(2, Y),
               COMMIT(2), W(2, X));
}

static void locks_and_their_elements_follow_their_memory(void **state)
{
    (void)state;
    RACES("", ACQ(1, L), W(1, X), REL(1, L), MOVE(M, L, 8), ACQ(2, M), W(2, X));
    RACES("6", ACQ(1, L), W(1, X), REL(1, L), CLEAR(L, 8), ACQ(2, L), R(2, Y), W(2, X));
    RACES("", ACQ(1, L), W(1, X), MOVE(M, L, 8), CLEAR(L, 8), W(1, X), REL(1, M), ACQ(2, M),
          W(2, X));
}

static void each_check_is_counted(void **state)
{
    const struct event rec[] = {W(0, X),
                                W(0, X),
                                ACQ(0, L),
                                W(0, X),
                                REL(0, L),
                                ACQ(1, L),
                                W(1, X),
                                REL(1, L),
                                BEGIN(1),
                                TW(1, Y),
                                COMMIT(1),
                                BEGIN(0),
                                TW(0, Y),
                                COMMIT(0),
                                EV_ON(VOLATILE_WRITE, 1, V),
                                EV_ON(VOLATILE_READ, 2, V),
                                W(2, X),
                                W(2, X + 4),
                                EV_ON(VOLATILE_WRITE, 2, V),
                                EV_ON(VOLATILE_READ, 3, V),
                                EV_ON(VOLATILE_WRITE, 3, V + 8),
                                EV_ON(VOLATILE_READ, 1, V + 8),
                                R(1, X),
                                W(3, X)};
    struct watch w;

    (void)state;
    rig_open(NULL, &w, 4, (const char *const[]){NULL});
    rig_run(&w, rec, ARRAY_SIZE(rec));
    assert_int_equal(watch_stat(&w, "by-thread"), 2);      /* 1, 3 */
    assert_int_equal(watch_stat(&w, "by-lock"), 1);        /* 6 */
    assert_int_equal(watch_stat(&w, "by-transaction"), 1); /* 13 */
    assert_int_equal(watch_stat(&w, "by-two-threads"), 2); /* 16; 23 with 16 */
    assert_int_equal(watch_stat(&w, "by-lockset"), 1);     /* 22: 2 to 3 to 1 */
    assert_int_equal(watch_stat(&w, "unordered"), 1);      /* 23 with 22 */
    assert_int_equal(watch_stat(&w, "checks"), 8);
    assert_int_equal(watch_stat(&w, "infos"), 10);
    watch_close(&w);
}

/* ---- random traces -------------------------------------------------------------------------- */

struct trial {
    const struct verdict_view *view;
    unsigned granule, commits; /* bits for the oracle */
    char *setting[9];          /* owns */
    bool machine;
};

static char *pick(struct rng *r, const char *name, const char *const *value)
{
    size_t n = 0;

    while (value[n])
        n++;
    return xasprintf("%s=%s", name, value[rng_below(r, n)]);
}

static struct trial draw(struct rng *r, bool raw)
{
    static const char *const bools[] = {"on", "off", NULL}, *const limits[] = {"1", "2",  "3",
                                                                               "7", "20", "1000000",
                                                                               NULL},
                             *const trims[] = {"1", "10", "50", "100", NULL},
                             *const periods[] = {"1", "3", "10", "1000", NULL};
    static const struct {
        const char *name;
        unsigned bits;
    } orders[] = {{"shared-variable", 0},
                  {"all", ORACLE_ALL_COMMITS},
                  {"write-to-read", ORACLE_WRITE_TO_READ}};
    static const unsigned granule[] = {0, 1, 2, 4, 8};
    const size_t order = rng_below(r, 2) ? rng_below(r, ARRAY_SIZE(orders)) : 0;
    struct trial t = {.granule = granule[rng_below(r, ARRAY_SIZE(granule))],
                      .commits = orders[order].bits,
                      .machine = rng_below(r, 2)};
    size_t views = 0;

    while (verdict_view[views].name)
        views++;
    t.view = &verdict_view[raw ? 0 : rng_below(r, views)];
    t.setting[0] = xasprintf("view=%s", t.view->name);
    t.setting[1] = xasprintf("transactions=%s", orders[order].name);
    t.setting[2] = pick(r, "same-thread", bools);
    t.setting[3] = pick(r, "held-lock", bools);
    t.setting[4] = pick(r, "two-threads", bools);
    t.setting[5] = pick(r, "list-limit", limits);
    t.setting[6] = pick(r, "trim", trims);
    t.setting[7] = pick(r, "collect", periods);
    return t;
}

static void trial_free(struct trial *t)
{
    for (size_t i = 0; t->setting[i]; i++)
        free(t->setting[i]);
}

static void compare(const struct stream *s, const struct trial *t, uint64_t seed)
{
    const struct oracle_options o = {.granule = t->granule, .view = t->view->bits | t->commits};
    bool *racy = xcalloc(s->events + 1, sizeof *racy), *said = xcalloc(s->events + 1, sizeof *said);
    struct rig *rig = t->machine ? xcalloc(1, sizeof *rig) : NULL;
    struct watch w;

    assert_int_equal(oracle_run(s->rec, s->records, &o, racy), 0);
    rig_open(rig, &w, t->granule, (const char *const *)t->setting);
    rig_run(&w, s->rec, s->records);
    assert_int_equal(w.err.code, 0);
    for (size_t i = 0; i < w.races; i++)
        said[w.race[i].is.event] = true;
    for (size_t e = 0; e < s->events; e++)
        if (said[e] != racy[e])
            fail_msg("seed %llu, granule %u, machine %d, %s %s %s %s %s %s %s %s: event %zu, the "
                     "oracle says %s",
                     (unsigned long long)seed, t->granule, t->machine, t->setting[0], t->setting[1],
                     t->setting[2], t->setting[3], t->setting[4], t->setting[5], t->setting[6],
                     t->setting[7], e, racy[e] ? "race" : "no race");
    watch_close(&w);
    free(rig);
    free(racy);
    free(said);
}

static void verdicts_are_the_oracles_whatever_is_set(void **state)
{
    enum { TRIALS = 4 };
    (void)state;
    for (uint64_t seed = first_seed; seed - first_seed < seeds; seed++) {
        struct stream s = {NULL, 0, 0, 0};
        struct rng r;
        rng_seed(&r, seed);
        const bool raw = rng_below(&r, 10) == 0;
        watch_synth(&r, &s, raw ? ",raw=on,system_share=0" : rng_below(&r, 3) ? "" : ",barriers=2");
        for (int i = 0; i < TRIALS; i++) {
            struct trial t = draw(&r, raw);
            compare(&s, &t, seed);
            trial_free(&t);
        }
        stream_free(&s);
    }
}

/* How many checks passed which way. */
static void ways(const struct stream *s, struct rig *rig, uint64_t seed, uint64_t n[6])
{
    static const char *const way[] = {"by-transaction", "by-thread",  "by-lock",
                                      "by-two-threads", "by-lockset", "unordered"};
    struct rng r;
    struct watch w;

    rng_seed(&r, seed);
    const char *const held = rng_below(&r, 2) ? "held-lock=on" : "held-lock=off",
                      *const same = rng_below(&r, 2) ? "same-thread=on" : "same-thread=off",
                      *const order = rng_below(&r, 2) ? "transactions=write-to-read"
                                                      : "transactions=shared-variable";
    rig_open(rig, &w, 8, (const char *const[]){held, same, order, NULL});
    rig_run(&w, s->rec, s->records);
    for (size_t i = 0; i < ARRAY_SIZE(way); i++)
        n[i] = watch_stat(&w, way[i]);
    watch_close(&w);
}

/* On a machine the list is walked, without one it is not. (Where nothing has been trimmed; what
 * trimming has left to a record is of all threads.) */
static void checks_pass_the_same_way_with_a_machine_and_without(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed; seed - first_seed < seeds; seed++) {
        struct stream s = {NULL, 0, 0, 0};
        struct rig rig = {0};
        struct rng r;
        uint64_t on[6], off[6];
        rng_seed(&r, seed);
        const bool raw = rng_below(&r, 10) == 0;
        watch_synth(&r, &s, raw ? ",raw=on,system_share=0,gc_share=0" : ",barriers=1,gc_share=0");
        ways(&s, &rig, seed, on);
        ways(&s, NULL, seed, off);
        for (size_t i = 0; i < ARRAY_SIZE(on); i++)
            if (on[i] != off[i])
                fail_msg("seed %llu, way %zu: %llu checks on a machine, %llu without",
                         (unsigned long long)seed, i, (unsigned long long)on[i],
                         (unsigned long long)off[i]);
        stream_free(&s);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_2_has_the_locksets_that_the_rules_give),
        cmocka_unit_test(example_3_has_the_locksets_that_the_rules_give),
        cmocka_unit_test(example_4_races),
        cmocka_unit_test(a_lock_is_handed_on_by_any_mode_that_excludes),
        cmocka_unit_test(the_remembered_lock_is_the_accessors),
        cmocka_unit_test(a_lock_that_two_threads_hold_proves_nothing),
        cmocka_unit_test(only_the_outermost_release_and_acquire_count),
        cmocka_unit_test(a_waiter_gives_up_its_lock),
        cmocka_unit_test(two_accesses_in_transactions_race_in_another_life),
        cmocka_unit_test(a_null_record_passes),
        cmocka_unit_test(commits_are_ordered_as_is_asked),
        cmocka_unit_test(accesses_in_transactions_do_not_race_in_any_order),
        cmocka_unit_test(locks_and_their_elements_follow_their_memory),
        cmocka_unit_test(each_check_is_counted),
        cmocka_unit_test(verdicts_are_the_oracles_whatever_is_set),
        cmocka_unit_test(checks_pass_the_same_way_with_a_machine_and_without),
    };

    if (!mutant_arg(&argc, &argv))
        return 2;
    first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : first_seed;
    seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : seeds;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
