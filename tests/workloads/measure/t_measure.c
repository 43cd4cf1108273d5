/* t_measure.c - is each characteristic of a run what its line in measure.h says, on a trace of
 * which all were counted by hand? Are misses those of the caches that misses.c names, and are
 * settings of a source found, and set, where they stand? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "sim/lardsim.h"
#include "tests/frame/watch.h"
#include "workloads/measure/abstract.h"
#include "workloads/measure/measure.h"

/* ---- a trace by hand ------------------------------------------------------------------------- */

static const char trace[] = "lardsim-text 2\n"
                            "granularity 4\n"
                            "T0 alloc 0x1000 64\n"
                            "T0 write 0x1000 4 +9\n"
                            "T0 read 0x7000 4\n" /* a miss before the region of interest */
                            "T0 fork T1\n"
                            "T0 roi-begin\n"
                            "T0 alloc 0x2000 32\n"
                            "T0 write 0x1000 4 +1\n" /* the fork has ended a region */
                            "T0 write 0x1000 4\n"    /* again */
                            "T0 read 0x1000 4 static\n"
                            "T0 read 0x1000 4 static\n" /* again */
                            "T0 acq 0x9000 +3\n"
                            "T0 read 0x2000 4 array\n"
                            "T0 rel 0x9000\n"
                            "T0 read 0x1000 4\n"
                            "T0 vwrite 0xa000\n"
                            "T1 vread 0xa000\n"
                            "T1 read 0x1000 4\n" /* what another has accessed: seven times */
                            "T1 write 0x2010 4 array\n"
                            "T0 read 0x3000 4 system +5\n"
                            "T0 acq 0x9100 system\n"
                            "T0 rel 0x9100 system\n"
                            "T0 read 0x3000 4 stack\n"
                            "T0 rmw 0x4000 4 acq-rel\n"
                            "T0 roi-end\n"
                            "T0 gc-begin system\n"
                            "T0 gc-end system\n"
                            "T0 alloc 0x5000 16\n"
                            "T0 alloc 0x5100 8\n"
                            "T0 copy 0x6000 0x2000 32 system\n"
                            "T0 clear 0x2000 32 system\n"
                            "T0 clear 0x1000 64 system\n"
                            "T0 clear 0x5100 8 system\n"
                            "T0 read 0x1000 4\n" /* another life */
                            "T0 gc-begin system\n"
                            "T0 gc-end system\n"
                            "T0 alloc 0x8000 512\n"
                            "T1 end\n"
                            "T0 join T1\n"
                            "T0 fork T2\n"
                            "T2 write 0x6010 4 array\n" /* which T1 wrote elsewhere */
                            "T0 join T2\n"
                            "T0 end\n";

static const struct {
    enum trait trait;
    uint64_t value, of;
} counted[] = {
    {TRAIT_THREADS, 3, 1},
    {TRAIT_LIVE, 2, 1}, /* the third begins when the second is over */
    {TRAIT_EVENTS, 42, 1},
    {TRAIT_ACCESSES, 15, 1},
    {TRAIT_READS, 8, 1},
    {TRAIT_WRITES, 5, 1},
    {TRAIT_ATOMICS, 1, 1},
    {TRAIT_READ_WRITE, 8, 5},
    {TRAIT_SYSTEM, 100 * 1, 15},
    {TRAIT_ARRAYS, 100 * 3, 14},
    {TRAIT_WORK, 31 + 13, 13}, /* events of the program, and their gaps */
    {TRAIT_CHECKED, 13, 1},    /* neither the system's nor of the stack */
    {TRAIT_UNCHANGED, 100 * 2, 13},
    {TRAIT_UNCHANGED_READS, 100 * 1, 7},
    {TRAIT_UNCHANGED_WRITES, 100 * 1, 6},
    {TRAIT_LOCATIONS, 6, 1}, /* one has moved, and one is in its second life */
    {TRAIT_ARRAY_LOCATIONS, 100 * 2, 6},
    {TRAIT_SHARED_LOCATIONS, 100 * 2, 6},
    {TRAIT_SHARED, 100 * (7 + 2), 13},
    {TRAIT_FOREIGN, 100 * 2, 13},
    {TRAIT_STATIC_READS, 1000 * 2, 8},
    {TRAIT_SYNCS, 12, 1},
    {TRAIT_LOCKS, 1, 1},
    {TRAIT_LOCK_RATE, 1000 * 1, 13},
    {TRAIT_RELEASES, 7, 1}, /* two forks, a lock, a volatile, an atomic, two ends */
    {TRAIT_REGION, 13, 7},
    {TRAIT_VOLATILES, 100 * 1, 7},
    {TRAIT_HEAP, 13, 1},
    {TRAIT_ALLOCS, 5, 1},
    {TRAIT_ALLOCATED, 64 + 32 + 16 + 8 + 512, 1},
    {TRAIT_ALLOC_RATE, 1000 * 32, 10},
    {TRAIT_SURVIVAL, 100 * (64 + 32 + 16), 64 + 32 + 16 + 8}, /* what is newer is not known yet */
    {TRAIT_FIRST_MISSES, 1000 * 5, 16 + 4},
    {TRAIT_LAST_MISSES, 1000 * 3, 16 + 4},
    {TRAIT_CLEARS, 3, 1},
    {TRAIT_COPIES, 1, 1},
    {TRAIT_COLLECTIONS, 2, 1},
    {TRAIT_RACY, 0, 1},
    {TRAIT_RACE_SITES, 0, 1},
    {TRAIT_RACE_PAIRS, 0, 1},
};

/* Two accesses race with the one before, each at a site of its own. */
static const char racy[] = "lardsim-text 2\n"
                           "granularity 4\n"
                           "T0 fork T1\n"
                           "T0 write 0x1000 4 @1\n"
                           "T1 write 0x1000 4 @2\n"
                           "T0 write 0x1000 4 @3\n"
                           "T0 read 0x2000 4 @4\n";

static void write_file(const char *text)
{
    FILE *f = fopen("measure.trace", "w");

    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void is_measured(const struct measure is[TRAIT_COUNT], enum trait trait, uint64_t value,
                        uint64_t of)
{
    const struct measure *m = &is[trait];

    if (m->value != value || m->of != of)
        fail_msg("%s: %llu of %llu, not %llu of %llu", trait_info[trait].name,
                 (unsigned long long)m->value, (unsigned long long)m->of, (unsigned long long)value,
                 (unsigned long long)of);
}

static void each_trait_is_what_was_counted_by_hand(void **state)
{
    struct measure is[TRAIT_COUNT];
    struct err e = {0};

    (void)state;
    write_file(trace);
    if (source_measure("measure.trace", is, &e))
        fail_msg("%s", e.text);
    for (size_t i = 0; i < ARRAY_SIZE(counted); i++)
        is_measured(is, counted[i].trait, counted[i].value, counted[i].of);
    write_file(racy);
    if (source_measure("measure.trace", is, &e))
        fail_msg("%s", e.text);
    is_measured(is, TRAIT_RACY, 2, 1);
    is_measured(is, TRAIT_RACE_SITES, 2, 1);
    is_measured(is, TRAIT_RACE_PAIRS, 2, 1);
    is_measured(is, TRAIT_ALLOC_RATE, 0, 4); /* without a region of interest it is the whole */
    is_measured(is, TRAIT_FIRST_MISSES, 1000 * 3, 5);
    is_measured(is, TRAIT_LAST_MISSES, 1000 * 2, 5);
    is_measured(is, TRAIT_LIVE, 2, 1);
    is_measured(is, TRAIT_SURVIVAL, 0, 0);
    unlink("measure.trace");
    assert_int_equal(source_measure("nosuch.trace", is, &e), -1);
}

/* However many objects one clear ends, and wherever they are kept meanwhile. */
static void what_is_cleared_survives_nothing(void **state)
{
    enum { ROUNDS = 200, OBJECTS = 20, BYTES = 64 };
    struct measure is[TRAIT_COUNT];
    struct err e = {0};
    FILE *f = fopen("measure.trace", "w");

    (void)state;
    fputs("lardsim-text 2\n", f);
    for (int round = 0; round < ROUNDS; round++) {
        const int base = 0x10000 + round * OBJECTS * BYTES;
        for (int i = 0; i < OBJECTS; i++)
            fprintf(f, "T0 alloc %d %d\n", base + i * BYTES, BYTES);
        fprintf(f, "T0 clear %d %d system\nT0 gc-begin system\nT0 gc-end system\n", base,
                OBJECTS * BYTES);
    }
    fclose(f);
    if (source_measure("measure.trace", is, &e))
        fail_msg("%s", e.text);
    is_measured(is, TRAIT_SURVIVAL, 0, ROUNDS * OBJECTS * BYTES);
    unlink("measure.trace");
}

/* ---- without addresses ----------------------------------------------------------------------- */

static void what_moves_and_what_is_used_again_have_places_of_their_own(void **state)
{
    struct lardsim_unmoved counts = {0, 0, 0};
    struct err e = {0};
    struct lardsim_event ev;
    uint64_t place[64] = {0}, n = 0, nothing = 0;

    (void)state;
    write_file(trace);
    struct lardsim_source *s = lardsim_unmoved("measure.trace", &counts, &e);
    assert_non_null(s);
    for (; lardsim_source_next(s, &ev, &e) > 0; n++) {
        nothing += ev.kind == LARDSIM_IO;
        place[n] = ev.addr;
    }
    lardsim_source_close(s);
    unlink("measure.trace");
    assert_int_equal(e.code, 0);
    assert_int_equal(n, 42);           /* so that numbers stay */
    assert_int_equal(nothing, 13 + 3); /* of the heap, and the runtime's own */
    assert_int_equal(counts.system, 3);
    assert_int_equal(counts.uses_moved, 1);
    assert_int_equal(counts.uses_again, 1);
    assert_true(place[6] == place[1]);   /* 0x1000, and once more */
    assert_true(place[32] != place[1]);  /* in its second life */
    assert_true(place[39] == place[17]); /* 0x6010 is where 0x2010 has gone */
    assert_null(lardsim_unmoved("workload:nosuch", &counts, &e));
}

/* Uses by a workload's own threads, counted by the identities of its objects: an object is where it
 * was, and memory is whose it was, at the use before. */
static void uses_of_a_workload_are_counted_by_its_objects(void **state)
{
    enum { OBJECTS = 1 << 16, WORDS = 1 << 20 };
    static const char spec[] = "churn,steps=600,gc=semispace,heap=256Ki,tlab=256";
    static sim_addr begin[OBJECTS];
    static uint64_t owner[WORDS];
    struct lardsim_unmoved counts = {0, 0, 0};
    const struct vm_identity *id;
    struct err e = {0};
    struct lardsim_event one;
    uint64_t again = 0, moved = 0, system = 0;
    struct batch b;

    (void)state;
    struct source *s = workload_open(spec, &e);
    assert_non_null(s);
    assert_int_equal(workload_identify(s, &id), 0);
    do {
        assert_int_equal(source_next(s, &b, &e), 0);
        for (const struct event *ev = b.rec; ev < b.rec + b.records; ev += event_records(ev)) {
            const struct vm_identity is = id[ev - b.rec];
            const unsigned class = ev_info[ev->kind].class;
            const bool own =
                ev->flags & EVF_SYSTEM && (class == CLASS_ACCESS || class == CLASS_SYNC);
            system += own;
            if (own || class == CLASS_HEAP || !is.object)
                continue;
            uint64_t *whose = &owner[ev->addr / 8 % WORDS];
            assert_true(is.object < OBJECTS);
            moved += begin[is.object] && begin[is.object] != ev->addr - is.offset;
            again += *whose && *whose != is.object;
            begin[is.object] = ev->addr - is.offset;
            *whose = is.object;
        }
    } while (b.records);
    source_close(s);
    assert_true(again && moved && system);
    struct lardsim_source *plain =
        lardsim_unmoved("workload:churn,steps=600,gc=semispace,heap=256Ki,tlab=256", &counts, &e);
    assert_non_null(plain);
    while (lardsim_source_next(plain, &one, &e) > 0)
        continue;
    lardsim_source_close(plain);
    assert_int_equal(counts.uses_moved, moved);
    assert_int_equal(counts.uses_again, again);
    assert_int_equal(counts.system, system);
}

/* By identity: an object's 64 bytes have a place each, wherever it is. */
static void a_place_is_a_part_of_an_object(void **state)
{
    struct abstract a;
    struct event to[EVENT_RECORDS];
    sim_addr place[6];
    static const struct {
        sim_addr addr;
        struct vm_identity is;
    } uses[6] = {{0x1000, {1, 0}}, {0x1008, {1, 8}}, {0x1040, {1, 64}},
                 {0x2008, {1, 8}}, {0x1000, {2, 0}}, {0x1004, {2, 4}}};
    const struct event gone = {.kind = EV_CLEAR, .tid = 3, .addr = 0x1000, .aux = 8},
                       own = {.kind = EV_ACQUIRE, .tid = 4, .addr = 0x1000, .flags = EVF_SYSTEM},
                       mark = {.kind = EV_IO, .tid = 5, .flags = EVF_SYSTEM};

    (void)state;
    abstract_init(&a);
    for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
        const struct event ev = {.kind = EV_WRITE, .tid = 1, .addr = uses[i].addr, .size = 4};
        abstract_event(&a, &ev, uses[i].is, to);
        assert_int_equal(to[0].kind, EV_WRITE);
        assert_int_equal(to[0].tid, 1);
        place[i] = to[0].addr;
    }
    assert_true(place[1] == place[0] + 8);
    assert_true(place[2] / 64 != place[0] / 64);
    assert_true(place[3] == place[1]);
    assert_true(place[4] / 64 != place[0] / 64 && place[4] / 64 != place[2] / 64);
    assert_true(place[5] == place[4] + 4);
    assert_int_equal(a.uses_moved, 1);
    assert_int_equal(a.uses_again, 1);
    abstract_event(&a, &gone, (struct vm_identity){1, 0}, to);
    assert_true(to[0].kind == EV_IO && to[0].tid == 3);
    assert_int_equal(a.system, 0);
    abstract_event(&a, &own, (struct vm_identity){1, 0}, to);
    assert_true(to[0].kind == EV_IO && to[0].tid == 4);
    abstract_event(&a, &mark, (struct vm_identity){0, 0}, to);
    assert_int_equal(a.system, 1);
    abstract_free(&a);
}

/* ---- misses ---------------------------------------------------------------------------------- */

/* Reads n lines that are so far apart, twice. */
static struct misses_count twice(uint64_t n, uint64_t apart, bool counts)
{
    struct misses *m = misses_new();

    for (uint64_t i = 0; i < 2 * n; i++)
        misses_access(m, &(struct event){.kind = EV_READ, .addr = i % n * apart, .size = 4},
                      counts);
    const struct misses_count c = *misses_count(m);
    misses_free(m);
    return c;
}

static void caches_have_the_sizes_that_are_said(void **state)
{
    static const struct {
        const char *what;
        uint64_t n, apart, first, last;
    } cases[] = {
        {"512 lines of 64 bytes fit into 32 KiB", 512, 64, 512, 512},
        {"513 do not", 513, 64, 513 + 9, 513},
        {"8 lines of a set fit", 8, 32 << 10, 8, 8},
        {"9 do not", 9, 4096, 18, 9},
        {"16 of a set of the last level fit", 16, 2 << 20, 32, 16},
        {"17 do not", 17, 2 << 20, 34, 34},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct misses_count c = twice(cases[i].n, cases[i].apart, true);
        if (c.first != cases[i].first || c.last != cases[i].last)
            fail_msg("%s: %llu and %llu misses, not %llu and %llu", cases[i].what,
                     (unsigned long long)c.first, (unsigned long long)c.last,
                     (unsigned long long)cases[i].first, (unsigned long long)cases[i].last);
    }
    assert_int_equal(twice(9, 4096, false).first, 0);
    assert_int_equal(twice(17, 2 << 20, false).last, 0);

    struct misses *m = misses_new();
    misses_access(m, &(struct event){.kind = EV_READ, .tid = 2, .addr = 62, .size = 4},
                  true); /* two lines */
    assert_int_equal(misses_count(m)->first, 2);
    misses_access(m, &(struct event){.kind = EV_READ, .tid = 2, .addr = 60, .size = 4}, true);
    misses_access(m, &(struct event){.kind = EV_READ, .tid = 2, .addr = 64, .size = 64}, true);
    assert_int_equal(misses_count(m)->first, 2);
    misses_access(m, &(struct event){.kind = EV_READ, .tid = 1, .addr = 64, .size = 4},
                  true); /* another thread */
    assert_int_equal(misses_count(m)->first, 3);
    assert_int_equal(misses_count(m)->last, 2);
    misses_forget(m);
    misses_access(m, &(struct event){.kind = EV_READ, .tid = 1, .addr = 64, .size = 4}, true);
    assert_int_equal(misses_count(m)->first, 0);
    misses_free(m);
}

/* ---- settings of a source -------------------------------------------------------------------- */

static void a_parameter_is_set_where_it_stands(void **state)
{
    static const struct {
        const char *source, *name, *is;
    } cases[] = {
        {"synth:", "seed", "synth:seed=7"},
        {"workload:sor", "seed", "workload:sor,seed=7"},
        {"synth:seed=1,events=3", "seed", "synth:seed=7,events=3"},
        {"synth:events=3,seed=1", "seed", "synth:events=3,seed=7"},
        {"synth:seed=1,events=3,seed=2,threads=4", "seed",
         "synth:seed=1,events=3,seed=7,threads=4"},
        {"workload:hedc,seeds=1", "seed", "workload:hedc,seeds=1,seed=7"},
        {"workload:hedc,racy=on", "on", "workload:hedc,racy=on,on=7"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *is = lardsim_source_with(cases[i].source, cases[i].name, 7);
        assert_string_equal(is, cases[i].is);
        free(is);
    }
}

static void seeds_and_lengths_are_found(void **state)
{
    static const struct {
        const char *source;
        uint64_t seed;
        const char *says;
    } seeds[] = {
        {"synth:", 1, NULL},
        {"synth:events=9,seed=2k", 2000, NULL},
        {"synth:seed=3,seed=0x10", 16, NULL},
        {"synth:seed=x,events=3", 0, "x is no number"},
        {"workload:hedc,seed=12,racy=on", 12, NULL},
        {"a.lard", 0,
         "--seeds runs a program with other seeds, and a.lard is the record of one run; give a "
         "workload: or synth:"},
    };
    struct lardsim_source_length length;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(seeds); i++) {
        struct err e = {0};
        uint64_t seed = 99;
        const int bad = lardsim_source_seed(seeds[i].source, &seed, &e);
        assert_int_equal(bad, seeds[i].says ? -1 : 0);
        assert_string_equal(e.text, seeds[i].says ? seeds[i].says : "");
        if (!bad)
            assert_int_equal(seed, seeds[i].seed);
    }
    struct err e = {0};
    assert_int_equal(lardsim_source_length("synth:threads=3,events=5k", &length, &e), 0);
    assert_string_equal(length.name, "events");
    assert_int_equal(length.value, 5000);
    assert_int_equal(lardsim_source_length("synth:", &length, &e), 0);
    assert_int_equal(length.value, 10000);
    assert_int_equal(lardsim_source_length("workload:sor,n=8,steps=3", &length, &e), 0);
    assert_string_equal(length.name, "steps");
    assert_int_equal(length.value, 3);
    const struct workload *sor = workload_find("sor");
    for (const struct param *p = sor->params; p->name; p++)
        if (!strcmp(p->name, "steps"))
            assert_int_equal(length.most, p->max);
    assert_int_equal(lardsim_source_length("workload:nosuch", &length, &e), -1);
    assert_string_equal(e.text, "workload:nosuch: there is no such workload");
    err_clear(&e);
    assert_int_equal(lardsim_source_length("a.lard", &length, &e), -1);
    assert_string_equal(
        e.text, "--converge runs a program for longer, and a.lard is the record of one run; give a "
                "workload: or synth:");
}

static void planted_races_are_known(void **state)
{
    (void)state;
    assert_true(lardsim_source_plants("workload:hedc,racy=on"));
    assert_false(lardsim_source_plants("workload:hedc,racy=off"));
    assert_false(lardsim_source_plants("workload:sor"));
    assert_false(lardsim_source_plants("workload:nosuch,racy=on"));
    assert_false(lardsim_source_plants("hedc,racy=on")); /* a file */
    assert_false(lardsim_source_plants("synth:racy=9"));
}

static void settings_are_found_by_their_whole_names(void **state)
{
    char *value = workload_setting("ab=1\nb=2,3\na=\n", "b"),
         *empty = workload_setting("ab=1\nb=2\na=\n", "a");

    (void)state;
    assert_string_equal(value, "2,3");
    assert_string_equal(empty, "");
    free(value);
    free(empty);
    assert_null(workload_setting("ab=1\nb=2\n", "a"));
    assert_null(workload_setting("", "a"));
    assert_string_equal(workload_spec("workload:sor,n=3"), "sor,n=3");
    assert_string_equal(workload_spec("sor,n=3"), "sor,n=3");
}

struct params_seen {
    size_t n;
    const char *name[200];
};

static void see(void *arg, const struct param *p)
{
    struct params_seen *to = arg;

    for (size_t i = 0; i < to->n; i++)
        assert_string_not_equal(to->name[i], p->name);
    to->name[to->n++] = p->name;
}

static size_t times(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* Parameters of its own, of all workloads and of the runtime, each once; sizes have each parameter
 * once, too. */
static void parameters_are_shown_once_each(void **state)
{
    static const char *const members[] = {
        "\"name\": ", "\"default\": ", "\"range\": ", "\"unit\": ", "\"type\": ", "\"help\": "};
    const struct workload *w = workload_find("hedc");
    struct params_seen seen = {0};
    size_t own = 0, bytes;
    char *text;
    struct json j;
    FILE *out = xmemstream(&text, &bytes);

    (void)state;
    assert_non_null(w);
    workload_each_param(w, see, &seen);
    for (const struct param *p = w->params; p && p->name; p++)
        own++;
    assert_true(seen.n > own + 2);
    json_init(&j, out, true);
    json_object(&j);
    workload_params_json(&j, w);
    workload_sizes_json(&j, w);
    json_end(&j);
    fclose(out);
    for (size_t i = 0; i < ARRAY_SIZE(members); i++)
        assert_int_equal(times(text, members[i]), seen.n);
    for (size_t i = 0; i < WORKLOAD_SIZES; i++) {
        char *size = workload_size_text(w, i),
             *shown = xasprintf("\"%s\": \"%s\"", workload_size_names[i], size);
        assert_int_equal(times(text, shown), 1);
        for (size_t k = 0; k < seen.n; k++) {
            char *set = xasprintf(",%s=", seen.name[k]), *all = xasprintf(",%s", size);
            assert_true(times(all, set) <= 1);
            free(set);
            free(all);
        }
        free(size);
        free(shown);
    }
    free(text);
}

static void a_size_that_changes_another_has_its_own_values(void **state)
{
    const struct workload w = {.name = "w", .sizes = {"n=1,steps=2,n=3", "mn=4,n=5", NULL}};
    char *first = workload_size_text(&w, 0), *second = workload_size_text(&w, 1),
         *none = workload_size_text(&w, 2);

    (void)state;
    assert_string_equal(first, "steps=2,n=3");
    assert_string_equal(second, "mn=4,n=5");
    assert_string_equal(none, "");
    free(first);
    free(second);
    free(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_trait_is_what_was_counted_by_hand),
        cmocka_unit_test(what_is_cleared_survives_nothing),
        cmocka_unit_test(what_moves_and_what_is_used_again_have_places_of_their_own),
        cmocka_unit_test(uses_of_a_workload_are_counted_by_its_objects),
        cmocka_unit_test(a_place_is_a_part_of_an_object),
        cmocka_unit_test(caches_have_the_sizes_that_are_said),
        cmocka_unit_test(a_parameter_is_set_where_it_stands),
        cmocka_unit_test(seeds_and_lengths_are_found),
        cmocka_unit_test(planted_races_are_known),
        cmocka_unit_test(settings_are_found_by_their_whole_names),
        cmocka_unit_test(parameters_are_shown_once_each),
        cmocka_unit_test(a_size_that_changes_another_has_its_own_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
