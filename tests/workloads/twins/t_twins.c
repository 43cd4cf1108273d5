/* t_twins.c - the twins of published programs: their numbers are those in results/papers/printed, what they
 * do is legal and the same twice, and their races are exactly those that were put in, under every
 * collector and schedule. That their proportions are measured as they should be:
 * tests/workloads/twins/twins.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/frame/watch.h"
#include "workloads/workloads.h"

static bool is_twin(const struct workload *w)
{
    return strchr(w->name, '@') != NULL;
}

static unsigned plants_of(const struct workload *w)
{
    unsigned n = 0;

    while (w->plants && w->plants[n].site)
        n++;
    return n;
}

/* ---- the printed numbers -------------------------------------------------------------------- */

struct number {
    char paper[16], program[24], collector[16], detector[16], measure[32];
    double value;
};
static struct number numbers[2000];
static size_t n_numbers;

static void copy_field(char *to, size_t room, char **from)
{
    const size_t n = strcspn(*from, ",\n");

    assert_true(n < room);
    memcpy(to, *from, n);
    to[n] = '\0';
    *from += n + ((*from)[n] == ',');
}

static void read_numbers(const char *file)
{
    const char *top = getenv("top_srcdir");
    char *path = xasprintf("%s/results/papers/printed/%s.csv", top ? top : ".", file);
    FILE *f = fopen(path, "r");
    char line[400], text[32];

    if (!f)
        fail_msg("%s: can't be read", path);
    assert_non_null(fgets(line, sizeof line, f));
    while (fgets(line, sizeof line, f)) {
        struct number *n = &numbers[n_numbers++];
        char *at = line;
        assert_true(n_numbers < ARRAY_SIZE(numbers));
        copy_field(n->paper, sizeof n->paper, &at);
        copy_field(text, sizeof text, &at); /* the table */
        copy_field(n->program, sizeof n->program, &at);
        copy_field(n->collector, sizeof n->collector, &at);
        copy_field(n->detector, sizeof n->detector, &at);
        copy_field(n->measure, sizeof n->measure, &at);
        copy_field(text, sizeof text, &at);
        n->value = strtod(text, NULL);
    }
    fclose(f);
    free(path);
}

static bool alike(const char *is, const char *want)
{
    return !want || !strcmp(is, want);
}

/* NULL: any. */
static double printed(const char *paper, const char *program, const char *collector,
                      const char *detector, const char *measure)
{
    for (size_t i = 0; i < n_numbers; i++) {
        const struct number *n = &numbers[i];
        if (alike(n->paper, paper) && alike(n->program, program) &&
            alike(n->collector, collector) && alike(n->detector, detector) &&
            alike(n->measure, measure))
            return n->value;
    }
    fail_msg("%s has no %s of %s", paper, measure, program);
    return 0;
}

static const struct workload_aim *aim_of(const struct workload *w, const char *trait)
{
    for (const struct workload_aim *a = w->aims; a->trait; a++)
        if (!strcmp(a->trait, trait))
            return a;
    fail_msg("%s has no target for %s", w->name, trait);
    return NULL;
}

static void holds(const struct workload *w, const char *trait, double want)
{
    const struct workload_aim *a = aim_of(w, trait);
    const double is = (double)a->value / (double)a->scale, far = is - want;

    if (far > 1e-9 || far < -1e-9)
        fail_msg("%s: the target for %s is %g, printed is %g", w->name, trait, is, want);
}

/* What a size sets. */
static void sets(const struct workload *w, const char *name, double want)
{
    char *key = xasprintf(",%s=", name);
    for (size_t size = 0; size <= SIZE_LARGE; size++) {
        const char *at = strstr(w->sizes[size], key);
        const double is = at ? strtod(at + strlen(key), NULL) : 0;
        if (is < want || is > want)
            fail_msg("%s: %s is %g, printed is %g", w->name, name, is, want);
    }
    free(key);
}

static const char *program_of(const struct workload *w)
{
    return w->summary + strlen("as ");
}

static char *printed_name(const struct workload *w)
{
    return xasprintf("%.*s", (int)(strstr(w->summary, " in ") - program_of(w)), program_of(w));
}

static void check_valor(const struct workload *w, const char *program)
{
    static const char *const same[] = {"threads", "threads-live", "accesses-per-region",
                                       "no-update-writes"};
    const double pairs = printed("valor", program, NULL, "fasttrack", "races.pairs");
    const double near = printed("valor", program, NULL, "fastrcd", "races.pairs");

    for (size_t i = 0; i < ARRAY_SIZE(same); i++)
        holds(w, same[i], printed("valor", program, NULL, NULL, same[i]));
    holds(w, "no-update-reads", printed("valor", program, NULL, "fasttrack", "no-update-reads"));
    holds(w, "read-write-ratio",
          printed("valor", program, NULL, NULL, "reads") /
              printed("valor", program, NULL, NULL, "writes"));
    holds(w, "race-pairs", pairs);
    sets(w, "close", near < pairs ? near : pairs);
    sets(w, "plants", pairs);
}

static void check_lard(const struct workload *w, const char *program)
{
    const char *ms = "marksweep";

    holds(w, "race-sites", printed("lard", program, ms, "lard", "races.sites"));
    holds(w, "racy-accesses", printed("lard", program, ms, "lard", "races.accesses"));
    sets(w, "hidden", printed("lard", program, ms, "all-sync", "missed.accesses"));
    sets(w, "moved", printed("lard", program, "semispace", "no-copy", "missed.accesses"));
}

static void check_slimstate(const struct workload *w, const char *program)
{
    static const char *const same[] = {"array-locations", "array-shadow-fraction"};

    for (size_t i = 0; i < ARRAY_SIZE(same); i++)
        holds(w, same[i], printed("slimstate", program, NULL, NULL, same[i]));
}

static void targets_are_the_printed_numbers(void **state)
{
    unsigned valor = 0, lard = 0, slimstate = 0;

    (void)state;
    for (const struct workload *const *w = workloads; *w; w++) {
        if (!is_twin(*w))
            continue;
        char *program = printed_name(*w);
        if (!strcmp((*w)->source, "valor") && ++valor)
            check_valor(*w, program);
        else if (!strcmp((*w)->source, "lard") && ++lard)
            check_lard(*w, program);
        else if (!strcmp((*w)->source, "slimstate") && ++slimstate)
            check_slimstate(*w, program);
        else
            fail_msg("%s is from nowhere", (*w)->name);
        free(program);
    }
    assert_int_equal(valor, 13);
    assert_int_equal(lard, 7);
    assert_int_equal(slimstate, 24);
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* A target and the parameter that it sets: so many of something in a thousand of another. */
struct counted {
    const char *twin;
    uint64_t part, of;
};

static void are_counted(const struct counted *of, size_t rows, const char *trait, const char *knob)
{
    uint64_t all[16], n = 0;

    assert_true(rows <= ARRAY_SIZE(all));
    for (size_t i = 0; i < rows; i++) {
        const struct workload *w = workload_find(of[i].twin);
        if (!w)
            continue;
        all[n++] = (1000 * of[i].part + of[i].of / 2) / of[i].of;
        holds(w, trait, (double)all[n - 1]);
        sets(w, knob, (double)all[n - 1]);
    }
    assert_int_equal(n, 7);
    qsort(all, n, sizeof *all, ascending);
    sets(workload_find("pjbb2005@valor"), knob, (double)all[n / 2]);
}

/* The numbers in twins.c are dacapo.def's, and the median of those that Valor has. */
static void allocation_and_statics_are_those_of_the_statistics(void **state)
{
    static const struct counted bytes[] = {
#define DACAPO(program, bytecodes, reads, writes, instructions, bytes, first, last, getstatic,     \
               monitorenter)                                                                       \
    {#program "@valor", bytes, (reads) + (writes)},
#include "workloads/twins/dacapo.def"
#undef DACAPO
    };
    static const struct counted statics[] = {
#define DACAPO(program, bytecodes, reads, writes, instructions, bytes, first, last, getstatic,     \
               monitorenter)                                                                       \
    {#program "@valor", getstatic, reads},
#include "workloads/twins/dacapo.def"
#undef DACAPO
    };

    (void)state;
    are_counted(bytes, ARRAY_SIZE(bytes), "allocated-in-1000", "alloc");
    are_counted(statics, ARRAY_SIZE(statics), "static-reads", "statics");
}

/* Programs without statistics take the range of those that have some, and the median of their
 * middles: the numbers are in twins.c. */
static void a_program_without_statistics_has_the_range_of_the_others(void **state)
{
    const struct workload_gap *unknown = workload_gap(workload_find("pjbb2005@valor"));
    uint64_t middle[32], n = 0, low = UINT64_MAX, high = 0;

    (void)state;
    for (const struct workload *const *w = workloads; *w; w++) {
        const struct workload_gap *g = workload_gap(*w);
        if (!strstr((*w)->name, "@valor") || strstr((*w)->name, "6@") || g->middle)
            continue;
        middle[n++] = workload_gap_middle(g);
        low = g->low < low ? g->low : low;
        high = g->high > high ? g->high : high;
    }
    assert_int_equal(n, 7);
    qsort(middle, n, sizeof *middle, ascending);
    assert_int_equal(unknown->low, low);
    assert_int_equal(unknown->high, high);
    assert_int_equal(unknown->middle, middle[n / 2]);
}

/* ---- runs ----------------------------------------------------------------------------------- */

struct outcome {
    uint64_t digest, accesses, collections, copies, races;
    unsigned others; /* races that are not planted */
    unsigned pairs;  /* plants that raced */
};

static unsigned plant_at(const char *site, const char *prefix)
{
    const size_t n = strlen(prefix);

    return site && !strncmp(site, prefix, n) ? (unsigned)atoi(site + n) : 0;
}

/* Races are of a second access with the first of the same plant. */
static void count_races(struct outcome *o, const struct watch *w, const struct names *names)
{
    bool seen[200] = {false};

    o->races = w->races;
    for (size_t i = 0; i < w->races; i++) {
        const struct race *r = &w->race[i];
        const unsigned is = plant_at(names_find(names, NAME_SITE, r->is.site), "Planted.second:");
        const unsigned earlier =
            plant_at(names_find(names, NAME_SITE, r->earlier.site), "Planted.first:");
        o->others += !is || is != earlier;
        o->pairs += is && !seen[is];
        seen[is] = true;
    }
}

static void take(struct outcome *o, struct rules *rules, struct watch *w, const struct batch *b,
                 const char *spec)
{
    const struct event *end = b->rec + b->records;
    uint64_t number = b->first;
    struct err e = {0};

    for (const struct event *ev = b->rec; ev < end; ev += event_records(ev), number++) {
        o->accesses += event_is_access(ev) && !(ev->flags & EVF_SYSTEM);
        o->collections += ev->kind == EV_GC_BEGIN;
        o->copies += ev->kind == EV_COPY;
        if (rules && rules_apply(rules, ev, number, &e))
            fail_msg("%s: %s", spec, e.text);
    }
    for (const struct event *ev = b->rec; ev < end && !w->err.code;)
        ev = checker_run(w->checker, ev, end, end, &w->number);
}

static struct outcome run(const char *spec, bool rules, const char *policy)
{
    static const char *const none[] = {NULL};
    struct err e = {0};
    struct source *s = workload_open(spec, &e);
    struct digest *d = digest_new();
    struct rules *r = rules ? rules_new(true) : NULL;
    struct outcome o = {0};
    struct watch w;
    struct batch b;

    if (!s)
        fail_msg("%s: %s", spec, e.text);
    watch_open(&w, policy, 8, none);
    do {
        if (source_next(s, &b, &e))
            fail_msg("%s: %s", spec, e.text);
        digest_add(d, b.rec, b.records * sizeof *b.rec);
        take(&o, r, &w, &b, spec);
    } while (b.records);
    if (r && rules_finish(r, &e))
        fail_msg("%s: %s", spec, e.text);
    if (w.err.code)
        fail_msg("%s: %s", spec, w.err.text);
    checker_finish(w.checker);
    count_races(&o, &w, s->names);
    o.digest = digest_value(d);
    digest_free(d);
    rules_free(r);
    watch_close(&w);
    source_close(s);
    return o;
}

static void events_are_legal_and_as_many_as_asked_for(void **state)
{
    (void)state;
    for (const struct workload *const *w = workloads; *w; w++) {
        if (!is_twin(*w))
            continue;
        const struct outcome o = run((*w)->name, true, "none");
        if (o.accesses < 990000 || o.accesses > 1010000)
            fail_msg("%s has %llu accesses", (*w)->name, (unsigned long long)o.accesses);
    }
}

static void the_same_seed_gives_the_same_events_and_another_one_others(void **state)
{
    (void)state;
    for (const struct workload *const *w = workloads; *w; w++) {
        if (!is_twin(*w))
            continue;
        char *spec = xasprintf("%s,accesses=100k,seed=7", (*w)->name);
        char *other = xasprintf("%s,accesses=100k,seed=8", (*w)->name);
        const uint64_t digest = run(spec, false, "none").digest;
        if (digest != run(spec, false, "none").digest)
            fail_msg("%s: not the same twice", spec);
        if (digest == run(other, false, "none").digest)
            fail_msg("%s: the same as %s", spec, other);
        free(spec);
        free(other);
    }
}

static void races_are_those_that_are_planted(const struct workload *w, const char *with)
{
    char *spec = xasprintf("%s,accesses=100k%s", w->name, with);
    const unsigned plants = plants_of(w);
    const struct outcome o = run(spec, false, "vc");

    if (o.others || o.pairs != plants)
        fail_msg("%s: %u of %u planted races, %u others", spec, o.pairs, plants, o.others);
    if (!strcmp(w->source, "lard") && o.races != aim_of(w, "racy-accesses")->value)
        fail_msg("%s: %llu races", spec, (unsigned long long)o.races);
    if (!strcmp(w->source, "valor") && o.races != 10 * plants)
        fail_msg("%s: %llu races", spec, (unsigned long long)o.races);
    assert_int_equal(w->racy, plants > 0);
    free(spec);
}

static void exactly_the_planted_races_happen_under_every_collector_and_schedule(void **state)
{
    static const char *const gc[] = {"marksweep", "semispace", "generational",
                                     "marksweep-concurrent", "copying-concurrent"};
    static const char *const schedule[] = {"round-robin", "random", "adversarial"};
    unsigned n = 0;

    (void)state;
    for (const struct workload *const *w = workloads; *w; w++)
        for (size_t g = 0; g < ARRAY_SIZE(gc) && is_twin(*w); g++, n++) {
            char *with = xasprintf(",gc=%s,schedule=%s,seed=%u,quantum=%u,collections=4", gc[g],
                                   schedule[(n + n / 5) % 3], n, 1 + n * 37 % 300);
            races_are_those_that_are_planted(*w, with);
            free(with);
        }
}

static void without_plants_or_partners_there_are_no_races(void **state)
{
    static const char *const specs[] = {
        "xalan@valor,accesses=200k,plants=0,close=0", "pmd@valor,threads=1,live=1,accesses=50k",
        "avrora@lard,races=0,hidden=0,plants=0", "xalan@valor,accesses=50k,live=2,threads=2",
        "hsqldb6@valor,threads=3,live=2,accesses=50k"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
        const struct outcome o = run(specs[i], true, "vc");
        const bool two = i == 3;
        if (o.others || (o.races > 0) != two)
            fail_msg("%s: %llu races", specs[i], (unsigned long long)o.races);
    }
}

/* LARD, Table 3: what is missed with all synchronisation, and without copies. */
static uint64_t found(const char *spec, const char *view)
{
    const char *settings[] = {view, NULL};
    struct err e = {0};
    struct source *s = workload_open(spec, &e);
    struct watch w;
    struct batch b;

    if (!s)
        fail_msg("%s: %s", spec, e.text);
    watch_open(&w, "vc", 8, settings);
    do {
        assert_int_equal(source_next(s, &b, &e), 0);
        watch_run(&w, b.rec, b.records);
    } while (b.records);
    const uint64_t races = w.races;
    watch_close(&w);
    source_close(s);
    return races;
}

static void hidden_races_need_synchronisation_told_apart_and_moved_ones_copies(void **state)
{
    const char *ms = "sunflow@lard,gc=marksweep", *ss = "sunflow@lard,gc=semispace";

    (void)state;
    assert_int_equal(found(ms, "view=tracked"), 84);
    assert_int_equal(found(ss, "view=tracked"), 84);
    assert_true(found(ms, "view=all-sync") <= 84 - 81);
    assert_int_equal(found(ms, "view=no-copy"), 84);
    assert_true(found(ss, "view=no-copy") <= 84 - 9);
    assert_true(found(ss, "view=no-copy") >= 84 - 18);
}

static void parameters_that_contradict_each_other_are_errors(void **state)
{
    static const char *const bad[] = {
        "xalan@valor,length=48",  "xalan@valor,live=1",       "xalan@valor,races=32",
        "xalan@valor,plants=101", "sunflow@lard,hidden=85",   "sunflow@lard,moved=82",
        "xalan@nowhere",          "xalan@valor,accesses=999", "xalan@valor,keep=1"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct err e = {0};
        if (workload_open(bad[i], &e))
            fail_msg("%s: was taken", bad[i]);
        assert_int_equal(e.code, LARD_CONFIG);
        assert_memory_equal(e.text, "workload:", 9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_the_printed_numbers),
        cmocka_unit_test(a_program_without_statistics_has_the_range_of_the_others),
        cmocka_unit_test(allocation_and_statics_are_those_of_the_statistics),
        cmocka_unit_test(events_are_legal_and_as_many_as_asked_for),
        cmocka_unit_test(the_same_seed_gives_the_same_events_and_another_one_others),
        cmocka_unit_test(exactly_the_planted_races_happen_under_every_collector_and_schedule),
        cmocka_unit_test(without_plants_or_partners_there_are_no_races),
        cmocka_unit_test(hidden_races_need_synchronisation_told_apart_and_moved_ones_copies),
        cmocka_unit_test(parameters_that_contradict_each_other_are_errors),
    };

    read_numbers("valor-table1");
    read_numbers("valor-table2");
    read_numbers("lard-table2");
    read_numbers("lard-table3");
    read_numbers("slimstate-table3");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
