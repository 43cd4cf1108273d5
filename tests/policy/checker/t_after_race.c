/* t_after_race.c - what follows a race: which accesses are still looked at, worked out from the run
 * that goes on as before, byte by byte; the run that stops; the map of ranges that this rests on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "base/interval.h"
#include "policy/hb/hb.h"
#include "sim/lardsim.h"
#include "tests/frame/watch.h"

#include <cmocka.h>

enum { X = 0x1000, Y = 0x2000, SEEDS = 120 };

#define R(t, a)       EV_READ4(t, a)
#define W(t, a)       EV_WRITE4(t, a)
#define WIDE(t, a, n) EV_SIZED(WRITE, t, a, n)
#define CLEAR(a, n)   EV_REGION(CLEAR, 0, a, n)
#define ALLOC(a, n)   EV_REGION(ALLOC, 0, a, n)
#define MOVE(b, a, n) EV_MOVE(0, b, a, n)
#define VARIABLE      "after-race=disable-variable"
#define ARRAY         "after-race=disable-array"

/* ---- ranges --------------------------------------------------------------------------------- */

enum { BYTES = 48 };

struct bytes { /* what the map should hold: a label for each byte; 0: none */
    unsigned label[BYTES];
    unsigned labels;
};

static void label_copy(struct bytes *b, uint64_t to, uint64_t from, uint64_t n)
{
    const struct bytes was = *b;

    for (uint64_t i = 0; i < n; i++) {
        const unsigned is = was.label[from + i];
        if (i == 0 || is != was.label[from + i - 1])
            b->labels++;
        b->label[to + i] = is ? b->labels : 0;
    }
}

static void ranges_are(struct interval *x, const struct bytes *b, sim_addr base)
{
    for (uint64_t i = 0; i < BYTES; i++) {
        uint64_t first = i, end = i;
        const struct interval *found = interval_reaching(x, base + i);
        if (!b->label[i]) {
            assert_true(!found || found->lo > base + i);
            continue;
        }
        while (first > 0 && b->label[first - 1] == b->label[i])
            first--;
        while (end + 1 < BYTES && b->label[end + 1] == b->label[i])
            end++;
        assert_true(found && found->lo == base + first && found->last == base + end);
    }
}

static void change_ranges(struct rng *r, struct budget *budget, struct interval **x,
                          struct bytes *b, sim_addr base)
{
    const uint64_t from = rng_below(r, BYTES), n = 1 + rng_below(r, BYTES - from);
    const uint64_t to = rng_below(r, BYTES - n + 1), what = rng_below(r, 4);

    if (what < 2) {
        interval_mark(budget, x, base + from, base + from + (n - 1), 1);
        b->labels++;
        for (uint64_t i = 0; i < n; i++)
            b->label[from + i] = b->labels;
    } else if (what < 3) {
        interval_remove(budget, x, base + from, base + from + (n - 1));
        for (uint64_t i = 0; i < n; i++)
            b->label[from + i] = 0;
    } else {
        interval_move(budget, x, base + to, base + from, n);
        label_copy(b, to, from, n);
    }
}

static void ranges_are_what_bytes_say(void **state)
{
    static const sim_addr base[] = {0, 1 << 20, UINT64_MAX - (BYTES - 1)};
    struct rng r;

    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct budget budget = {0};
        struct bytes b = {{0}, 0};
        struct interval *x = NULL;
        rng_seed(&r, seed);
        for (int i = 0; i < 60; i++) {
            change_ranges(&r, &budget, &x, &b, base[seed % 3]);
            ranges_are(x, &b, base[seed % 3]);
            assert_true((budget.live != 0) == (x != NULL));
        }
        interval_free(&budget, &x);
        assert_int_equal(budget.live, 0);
    }
}

static void many_ranges_in_order_do_not_run_deep(void **state)
{
    const uint64_t n = 200000;
    struct interval *x = NULL;

    (void)state;
    for (uint64_t i = 0; i < n; i++)
        interval_mark(NULL, &x, 16 * i, 16 * i + 7, 1);
    for (uint64_t i = 0; i < n; i += 97) {
        const struct interval *at = interval_reaching(x, 16 * i + 7);
        const struct interval *behind = interval_reaching(x, 16 * i + 8);
        assert_true(at && at->lo == 16 * i);
        assert_true(!behind || behind->lo == 16 * i + 16);
    }
    interval_remove(NULL, &x, 0, UINT64_MAX);
    assert_null(x);
}

/* ---- by hand -------------------------------------------------------------------------------- */

static void check(const char *want, uint64_t disabled, const char *after, const char *view,
                  const struct event *rec, size_t records)
{
    char *setting = xasprintf("view=%s", view), text[200];
    struct watch w;

    watch_open(&w, "vc", 4, (const char *const[]){after, setting, NULL});
    watch_run(&w, rec, records);
    assert_string_equal(watch_racy(&w, text, sizeof text), want);
    assert_int_equal(watch_stat(&w, "disabled-granules"), disabled);
    watch_close(&w);
    free(setting);
}
#define RACES_IN(view, after, want, disabled, ...)                                                 \
    check(want, disabled, after, view, EVENTS(__VA_ARGS__))
#define RACES(after, want, disabled, ...) RACES_IN("tracked", after, want, disabled, __VA_ARGS__)

static void by_default_all_goes_on(void **state)
{
    (void)state;
    RACES("view=tracked", "1 2 3", 0, W(0, X), W(1, X), W(0, X), R(1, X));
    RACES("after-race=continue", "1 2 3", 0, W(0, X), W(1, X), W(0, X), R(1, X));
}

static void a_variable_is_looked_at_until_its_first_race(void **state)
{
    (void)state;
    RACES(VARIABLE, "1", 2, W(0, X), W(1, X), W(0, X), R(1, X));
    RACES(VARIABLE, "1 3", 1, W(0, X), W(1, X), W(0, X + 4), W(1, X + 4), R(0, X));
}

static void a_clear_begins_a_new_life(void **state)
{
    (void)state;
    RACES(VARIABLE, "1 4", 0, W(0, X), W(1, X), CLEAR(X, 4), W(0, X), W(1, X));
    RACES_IN("no-clear", VARIABLE, "1", 2, W(0, X), W(1, X), CLEAR(X, 4), W(0, X), W(1, X));
    RACES(VARIABLE, "1 3", 2, W(0, X), W(1, X), W(0, X + 4), W(1, X + 4), CLEAR(X, 4), W(0, X + 4),
          W(1, X + 4), W(0, X));
}

static void a_copy_takes_the_state_along(void **state)
{
    (void)state;
    RACES(VARIABLE, "1", 3, W(0, X), W(1, X), MOVE(Y, X, 4), W(0, Y), W(1, Y), W(0, X));
    RACES(VARIABLE, "1 4", 0, W(0, X), W(1, X), MOVE(X, Y, 4), W(0, X), W(1, X));
    RACES_IN("no-copy", VARIABLE, "1 4", 1, W(0, X), W(1, X), MOVE(Y, X, 4), W(0, Y), W(1, Y),
             W(0, X));
    RACES_IN("no-clear", VARIABLE, "1", 1, W(0, X), W(1, X), MOVE(Y, X, 4), W(0, Y));
}

static void an_array_is_looked_at_until_its_first_race(void **state)
{
    (void)state;
    RACES(ARRAY, "2", 2, ALLOC(X, 32), W(0, X + 4), W(1, X + 4), W(0, X), W(1, X + 28));
    RACES(VARIABLE, "2 4", 0, ALLOC(X, 32), W(0, X + 4), W(1, X + 4), W(0, X), W(1, X));
    RACES(ARRAY, "2 4 6", 0, ALLOC(X, 32), W(0, X + 4), W(1, X + 4), W(0, X + 32), W(1, X + 32),
          W(0, X - 4), W(1, X - 4));
}

static void without_an_allocation_the_location_stands_alone(void **state)
{
    (void)state;
    RACES(ARRAY, "1 3", 1, W(0, X), W(1, X), W(0, X + 4), W(1, X + 4), R(0, X));
    RACES(ARRAY, "2 4", 1, ALLOC(Y, 32), W(0, X), W(1, X), W(0, Y), W(1, Y), R(0, Y + 12));
}

static void what_a_clear_leaves_of_an_array_are_arrays(void **state)
{
    (void)state;
    RACES(ARRAY, "3 5", 2, ALLOC(X, 32), CLEAR(X + 8, 8), W(0, X), W(1, X), W(0, X + 16),
          W(1, X + 16), W(0, X + 4), W(0, X + 28));
    RACES(ARRAY, "2 5", 1, ALLOC(X, 32), W(0, X), W(1, X), CLEAR(X, 16), W(0, X), W(1, X),
          W(0, X + 20));
}

static void an_array_moves_with_a_copy(void **state)
{
    (void)state;
    RACES(ARRAY, "3 5", 1, ALLOC(X, 32), MOVE(Y, X, 32), W(0, Y), W(1, Y), W(0, X), W(1, X),
          W(0, Y + 28));
    RACES_IN("no-copy", ARRAY, "3", 1, ALLOC(X, 32), MOVE(Y, X, 32), W(0, Y), W(1, Y),
             W(0, Y + 28));
    RACES(ARRAY, "2", 2, ALLOC(X, 32), W(0, X), W(1, X), MOVE(X + 8, X, 32), W(0, X + 36),
          W(0, X + 8));
}

static void of_two_arrays_in_a_granule_the_accessed_one_counts(void **state)
{
    (void)state;
    RACES(ARRAY, "3", 2, ALLOC(X, 6), ALLOC(X + 6, 6), WIDE(0, X + 6, 2), WIDE(1, X + 6, 2),
          W(0, X + 4), W(0, X + 8));
    RACES(ARRAY, "3", 0, ALLOC(X, 6), ALLOC(X + 6, 6), WIDE(0, X + 6, 2), WIDE(1, X + 6, 2),
          W(0, X));
    RACES(ARRAY, "3", 2, ALLOC(X, 6), ALLOC(X + 6, 6), WIDE(0, X + 4, 2), WIDE(1, X + 4, 2),
          W(0, X), W(0, X + 4));
    RACES(ARRAY, "3", 0, ALLOC(X, 6), ALLOC(X + 6, 6), WIDE(0, X + 4, 2), WIDE(1, X + 4, 2),
          W(0, X + 8));
}

static void an_access_is_cut_to_what_is_enabled(void **state)
{
    const struct event s[] = {WIDE(0, X, 12), W(1, X + 4), WIDE(1, X + 1, 10)};
    struct watch w;

    (void)state;
    watch_open(&w, "vc", 4, (const char *const[]){VARIABLE, NULL});
    watch_run(&w, s, ARRAY_SIZE(s));
    assert_int_equal(w.races, 2);
    assert_int_equal(w.race[1].addr, X + 1);
    assert_int_equal(w.race[1].size, 3);
    assert_int_equal(w.race[1].conflicts, 2);
    assert_int_equal(watch_stat(&w, "checked"), 3);
    assert_int_equal(watch_stat(&w, "disabled"), 0);
    assert_int_equal(watch_stat(&w, "disabled-granules"), 1);
    watch_close(&w);
}

static void the_event_that_races_is_looked_at_as_a_whole(void **state)
{
    const struct event s[] = {ALLOC(X, 32),
                              W(0, X),
                              W(0, X + 4),
                              EV_ON(TXN_BEGIN, 1, 0),
                              EV_IN_TXN(WRITE, 1, X),
                              EV_IN_TXN(WRITE, 1, X + 4),
                              EV_ON(TXN_COMMIT, 1, 0),
                              W(0, X + 8)};
    struct watch w;

    (void)state;
    watch_open(&w, "vc", 4, (const char *const[]){ARRAY, NULL});
    watch_run(&w, s, ARRAY_SIZE(s));
    assert_int_equal(w.races, 1);
    assert_int_equal(w.conflicts, 2);
    assert_int_equal(watch_stat(&w, "checked"), 4);
    assert_int_equal(watch_stat(&w, "disabled"), 1);
    watch_close(&w);
}

static void a_disabled_atomic_access_still_orders(void **state)
{
    const uint16_t release = ORDER_RELEASE << EVF_ORDER_SHIFT;
    const uint16_t acquire = ORDER_ACQUIRE << EVF_ORDER_SHIFT;

    (void)state;
    RACES(VARIABLE, "1", 2, W(0, X), W(1, X), W(0, Y),
          {.kind = EV_WRITE, .tid = 0, .addr = X, .size = 4, .flags = release},
          {.kind = EV_READ, .tid = 1, .addr = X, .size = 4, .flags = acquire}, W(1, Y));
}

static void the_end_of_memory_is_no_exception(void **state)
{
    const sim_addr top = UINT64_MAX - 7;

    (void)state;
    RACES(VARIABLE, "1 3", 1, W(0, top + 4), W(1, top + 4), W(1, top), WIDE(0, top, 8));
    RACES(ARRAY, "2", 2, ALLOC(top, 8), W(0, top + 4), W(1, top + 4), WIDE(0, top, 8));
    RACES(ARRAY, "2 5", 0, ALLOC(top, 8), W(0, top + 4), W(1, top + 4), CLEAR(top, 8), W(0, top),
          W(1, top));
}

/* ---- random traces: worked out from the run that goes on ------------------------------------ */

struct model { /* by byte */
    struct map label, off;
    uint64_t labels;
    bool arrays;
    const struct stream *s;
    const struct verdict_view *view;
    unsigned granule;
    uint64_t accesses, granules, cut; /* disabled; accesses of which a part is */
};

static uint64_t at(const struct map *m, sim_addr byte)
{
    const uint64_t *value = map_find(m, byte);

    return value ? *value : 0;
}

static void set_bytes(struct map *m, sim_addr from, uint64_t n, uint64_t value)
{
    for (uint64_t i = 0; i < n; i++)
        *map_put(m, from + i) = value;
}

static void copy_bytes(struct map *m, sim_addr to, sim_addr from, uint64_t n, uint64_t *labels)
{
    uint64_t *was = xcalloc(n, sizeof *was);

    for (uint64_t i = 0; i < n; i++)
        was[i] = at(m, from + i);
    for (uint64_t i = 0; i < n; i++) {
        if (labels && (i == 0 || was[i] != was[i - 1]))
            ++*labels;
        *map_put(m, to + i) = labels && was[i] ? *labels : was[i];
    }
    free(was);
}

static void model_disable(struct model *m, sim_addr location)
{
    const unsigned g = m->granule ? m->granule : 1;
    const uint64_t label = at(&m->label, location);
    sim_addr lo = location, last = location;

    while (m->arrays && label && at(&m->label, lo - 1) == label)
        lo--;
    while (m->arrays && label && at(&m->label, last + 1) == label)
        last++;
    lo = lo / g * g;
    set_bytes(&m->off, lo, last / g * g + g - lo, 1);
}

/* An access takes effect. */
static void model_access(struct model *m, const struct event *ev)
{
    const struct granules g = granules_of(ev, m->granule);
    uint64_t off = 0;

    if (m->view->bits & ORACLE_ALL_MEMORY ? ev->flags & EVF_STACK : !event_tracked(ev))
        return;
    for (sim_addr a = g.first;; a += g.step) {
        off += at(&m->off, a);
        if (a == g.last)
            break;
    }
    m->granules += off;
    m->accesses += off == granules_count(ev, m->granule);
    m->cut += off && off < granules_count(ev, m->granule);
}

/* The transaction's accesses were before its commit, which is record `commit`. */
static void model_commit(struct model *m, size_t commit)
{
    const struct event *rec = m->s->rec;
    size_t begin = commit;

    while (begin > 0 &&
           !(rec[begin - 1].tid == rec[commit].tid && rec[begin - 1].kind == EV_TXN_COMMIT))
        begin--;
    for (; begin < commit; begin++)
        if (rec[begin].tid == rec[commit].tid && rec[begin].kind && event_is_access(&rec[begin]) &&
            rec[begin].flags & EVF_IN_TXN)
            model_access(m, &rec[begin]);
}

static void model_heap(struct model *m, const struct event *ev)
{
    if (ev->kind == EV_ALLOC)
        set_bytes(&m->label, ev->addr, ev->aux, ++m->labels);
    if (ev->kind == EV_CLEAR) {
        set_bytes(&m->label, ev->addr, ev->aux, 0);
        if (!(m->view->bits & ORACLE_NO_CLEAR))
            set_bytes(&m->off, ev->addr, ev->aux, 0);
    }
    if (ev->kind == EV_COPY) {
        copy_bytes(&m->label, ev->addr, ev[1].addr, ev->aux, &m->labels);
        if (!(m->view->bits & ORACLE_NO_COPY))
            copy_bytes(&m->off, ev->addr, ev[1].addr, ev->aux, NULL);
    }
}

/* Takes the conflicts of the run that goes on, event by event, and holds the other run to those
 * whose location is enabled then. */
static void model_holds(struct model *m, const struct watch *all, const struct watch *w)
{
    uint64_t number = 0, racy = 0;
    size_t a = 0, k = 0;

    for (size_t i = 0; i < m->s->records; i += event_records(&m->s->rec[i]), number++) {
        const struct event *ev = &m->s->rec[i];
        const size_t first = k;
        if (event_is_access(ev) && !(ev->flags & EVF_IN_TXN))
            model_access(m, ev);
        if (ev->kind == EV_TXN_COMMIT)
            model_commit(m, i);
        for (; a < all->conflicts && all->conflict[a].event == number; a++) {
            if (at(&m->off, all->conflict[a].location))
                continue;
            assert_true(k < w->conflicts);
            assert_int_equal(w->conflict[k].event, number);
            assert_int_equal(w->conflict[k].location, all->conflict[a].location);
            k++;
        }
        for (size_t c = first; c < k; c++)
            model_disable(m, w->conflict[c].location);
        racy += k > first;
        model_heap(m, ev);
    }
    assert_int_equal(a, all->conflicts);
    assert_int_equal(k, w->conflicts);
    assert_int_equal(watch_stat(w, "races.accesses"), racy);
    assert_int_equal(watch_stat(w, "disabled"), m->accesses);
    assert_int_equal(watch_stat(w, "disabled-granules"), m->granules);
}

struct tried { /* so that the property is not about nothing */
    uint64_t races, fewer_by_array, cut;
};

static uint64_t mode_holds(const struct stream *s, const char *policy, const char *setting,
                           const struct verdict_view *view, unsigned granule,
                           const struct watch *all, bool arrays, struct tried *tried)
{
    char *in = xasprintf("view=%s", view->name);
    struct model m = {.arrays = arrays, .s = s, .view = view, .granule = granule};
    struct watch w;

    map_init(&m.label, NULL);
    map_init(&m.off, NULL);
    watch_open(&w, policy, granule,
               (const char *const[]){in, arrays ? ARRAY : VARIABLE, setting, NULL});
    watch_run(&w, s->rec, s->records);
    model_holds(&m, all, &w);
    if (!arrays) /* the first race of each location and life, and no other */
        assert_int_equal(watch_stat(&w, "races.locations"), watch_stat(all, "races.locations"));
    const uint64_t n = w.conflicts;
    tried->cut += m.cut;
    watch_close(&w);
    map_free(&m.label);
    map_free(&m.off);
    free(in);
    return n;
}

static void stop_holds(const struct stream *s, const char *policy, const char *setting,
                       const struct verdict_view *view, unsigned granule, const struct watch *all)
{
    char *in = xasprintf("view=%s", view->name);
    struct watch w;

    watch_open(&w, policy, granule, (const char *const[]){in, "after-race=stop", setting, NULL});
    watch_run(&w, s->rec, s->records);
    assert_int_equal(w.err.code, all->races ? LARD_RACES : 0);
    assert_int_equal(w.races, all->races ? 1 : 0);
    if (all->races) {
        const struct race *race = &w.race[0], *first = &all->race[0];
        assert_int_equal(race->is.event, first->is.event);
        assert_int_equal(race->earlier.event, first->earlier.event);
        assert_int_equal(race->conflicts, first->conflicts);
        assert_int_equal(w.number, first->is.event + 1);
    }
    watch_close(&w);
    free(in);
}

static void modes_hold(const struct stream *s, const char *policy, const char *setting,
                       const struct verdict_view *view, unsigned granule, struct tried *tried)
{
    char *in = xasprintf("view=%s", view->name);
    struct watch all;

    watch_open(&all, policy, granule, (const char *const[]){in, setting, NULL});
    watch_run(&all, s->rec, s->records);
    const uint64_t n = mode_holds(s, policy, setting, view, granule, &all, false, tried);
    tried->fewer_by_array += mode_holds(s, policy, setting, view, granule, &all, true, tried) < n;
    stop_holds(s, policy, setting, view, granule, &all);
    tried->races += all.races;
    watch_close(&all);
    free(in);
}

static void disabling_takes_away_what_it_says_and_nothing_else(void **state)
{
    static const char *const policy[][2] = {
        {"vc", "history=last"},          {"vc", "history=all"},
        {"fasttrack", "repeats=report"}, {"fasttrack", "repeats=skip"},
        {"goldilocks", "list-limit=20"}, {"eraser", NULL}};
    static const unsigned granule[] = {GRANULE_FIELD, 1, 2, 4, 8};
    struct tried tried = {0};
    size_t views = 0;

    (void)state;
    while (verdict_view[views].name)
        views++;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct stream s = {NULL, 0, 0, 0};
        struct rng r;
        rng_seed(&r, seed);
        watch_synth(&r, &s, seed % 4 ? ",allocs=on" : ",allocs=off");
        for (size_t i = 0; i < ARRAY_SIZE(policy); i++)
            modes_hold(&s, policy[i][0], policy[i][1], &verdict_view[rng_below(&r, views)],
                       granule[rng_below(&r, 5)], &tried);
        stream_free(&s);
    }
    assert_true(tried.races > 20 * SEEDS);
    assert_true(tried.fewer_by_array > SEEDS);
    assert_true(tried.cut > SEEDS);
}

/* ---- the end of a run ----------------------------------------------------------------------- */

static struct lardsim *push_races(const char *dir, const char *after)
{
    struct lardsim *l = lardsim_new();

    assert_int_equal(lardsim_set(l, "policies=vc,other=vc"), 0);
    assert_int_equal(lardsim_set(l, after), 0);
    assert_int_equal(lardsim_output(l, dir, 0), 0);
    assert_int_equal(lardsim_start(l), 0);
    lardsim_name(l, LARDSIM_NAME_SITE, 7, "main.c:7");
    lardsim_access(l, 0, LARDSIM_WRITE, X, 4, 0, 7);
    lardsim_sync(l, 0, LARDSIM_ACQUIRE, Y, 0, 0, 0); /* and never released */
    lardsim_access(l, 1, LARDSIM_READ, X, 2, 0, 9);
    lardsim_access(l, 1, LARDSIM_WRITE, X, 4, 0, 0);
    return l;
}

static bool in_dir(const char *dir, const char *name)
{
    char *path = xasprintf("%s/%s", dir, name);
    const bool is = access(path, F_OK) == 0;

    free(path);
    return is;
}

static void remove_results(const char *dir)
{
    static const char *const name[] = {"DONE",      "config.yaml",     "stats.json", "stats.txt",
                                       "stats.csv", "provenance.json", "host.json",  "races.jsonl"};

    for (size_t i = 0; i < ARRAY_SIZE(name); i++) {
        char *path = xasprintf("%s/%s", dir, name[i]);
        assert_int_equal(unlink(path), 0);
        free(path);
    }
    assert_int_equal(rmdir(dir), 0);
}

static void a_run_that_stops_at_a_race_is_done(void **state)
{
    const char *tmp = getenv("TMPDIR");
    char *top = xasprintf("%s/t_after_race.XXXXXX", tmp ? tmp : "/tmp");
    uint64_t n;

    (void)state;
    assert_non_null(mkdtemp(top));
    char *dir = xasprintf("%s/out", top);
    struct lardsim *l = push_races(dir, "policy.vc.after-race=stop");
    assert_int_equal(lardsim_exit_code(l), LARD_RACES);
    assert_int_equal(lardsim_events(l), 3);
    assert_int_equal(lardsim_finish(l), -1);
    assert_int_equal(lardsim_exit_code(l), LARD_RACES);
    assert_string_equal(lardsim_error(l),
                        "policy vc: the read by thread 1, event 2 (site 0x9), of 2 bytes at 0x1000 "
                        "races with the write by thread 0, event 0 (main.c:7); the run ends here, "
                        "as policy.vc.after-race is stop");
    assert_int_equal(lardsim_stat(l, "policy.vc.races.accesses", &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(lardsim_stat(l, "policy.other.races.accesses", &n), 0);
    assert_int_equal(n, 1); /* every policy has seen the event */
    lardsim_free(l);
    assert_true(in_dir(dir, "DONE"));
    remove_results(dir);
    assert_int_equal(rmdir(top), 0);
    free(dir);
    free(top);
}

static void a_run_without_a_race_does_not_stop(void **state)
{
    struct lardsim *l = lardsim_new();

    (void)state;
    assert_int_equal(lardsim_set(l, "policy.vc.after-race=stop"), 0);
    assert_int_equal(lardsim_start(l), 0);
    assert_int_equal(lardsim_access(l, 0, LARDSIM_WRITE, X, 4, 0, 7), 0);
    assert_int_equal(lardsim_access(l, 1, LARDSIM_WRITE, Y, 4, 0, 7), 0);
    assert_int_equal(lardsim_finish(l), 0);
    assert_int_equal(lardsim_exit_code(l), 0);
    lardsim_free(l);
}

static void an_unknown_mode_is_refused(void **state)
{
    struct lardsim *l = lardsim_new();

    (void)state;
    lardsim_set(l, "granularity=1"); /* nothing has to be waited for */
    lardsim_set(l, "layout=default");
    lardsim_set(l, "policy.vc.after-race=explode");
    assert_int_equal(lardsim_start(l), -1);
    assert_int_equal(lardsim_exit_code(l), LARD_CONFIG);
    lardsim_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_what_bytes_say),
        cmocka_unit_test(many_ranges_in_order_do_not_run_deep),
        cmocka_unit_test(by_default_all_goes_on),
        cmocka_unit_test(a_variable_is_looked_at_until_its_first_race),
        cmocka_unit_test(a_clear_begins_a_new_life),
        cmocka_unit_test(a_copy_takes_the_state_along),
        cmocka_unit_test(an_array_is_looked_at_until_its_first_race),
        cmocka_unit_test(without_an_allocation_the_location_stands_alone),
        cmocka_unit_test(what_a_clear_leaves_of_an_array_are_arrays),
        cmocka_unit_test(an_array_moves_with_a_copy),
        cmocka_unit_test(of_two_arrays_in_a_granule_the_accessed_one_counts),
        cmocka_unit_test(an_access_is_cut_to_what_is_enabled),
        cmocka_unit_test(the_event_that_races_is_looked_at_as_a_whole),
        cmocka_unit_test(a_disabled_atomic_access_still_orders),
        cmocka_unit_test(the_end_of_memory_is_no_exception),
        cmocka_unit_test(disabling_takes_away_what_it_says_and_nothing_else),
        cmocka_unit_test(a_run_that_stops_at_a_race_is_done),
        cmocka_unit_test(a_run_without_a_race_does_not_stop),
        cmocka_unit_test(an_unknown_mode_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
