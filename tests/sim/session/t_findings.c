/* t_findings.c - is it true that a parameter could not matter where a run says so? Random runs,
 * with machines and without, of all kinds of policies; each parameter of each finding is changed as
 * the finding allows, and everything but echoes of the configuration must stay as it is.
 *
 *     t_findings [FIRST-SEED [SEEDS]]     default: 1 200
 *
 * Each finding of the table must have come up with the default seeds, and been tried. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sim/sim.h"
#include "tests/frame/seeds.h"
#include "tests/frame/settings.h"

enum { DEFAULT_SEEDS = 200, KEYS = 100 };

static unsigned below(struct rng *r, unsigned n)
{
    return (unsigned)rng_below(r, n);
}

/* "NAME=WORD ", one of the words, which are divided by blanks. */
static void pick(struct text *t, struct rng *r, const char *name, const char *words)
{
    unsigned n = 1;

    for (const char *p = words; *p; p++)
        n += *p == ' ';
    for (unsigned i = below(r, n); i--;)
        words += strcspn(words, " ") + 1;
    add(t, "%s=%.*s ", name, (int)strcspn(words, " "), words);
}

/* ---- random runs ---------------------------------------------------------------------------- */

/* Events that reach no memory; a file, as synth has none of that kind. */
static const char quiet[] = "t_findings.trace";

static void write_quiet(void)
{
    FILE *f = fopen(quiet, "w");

    if (!f ||
        fputs("lardsim-text 1\nT0 alloc 0x1000 64\nT0 alloc 0x2000 64\nT0 clear 0x1000 64\n", f) <
            0 ||
        fclose(f))
        die("%s can't be written", quiet);
}

static void draw_source(struct text *t, struct rng *r)
{
    const unsigned sync = below(r, 2) * below(r, 400);

    if (!below(r, 16)) {
        add(t, "%s", quiet);
        return;
    }
    add(t,
        "synth:seed=%u,events=%u,threads=%u,granularity=8,unaligned=0,sizes=4,8,variables=%u,"
        "privates=%u,sharing=%u,sync_share=%u,heap_share=%u,txn_share=0,gap_max=%u,stride=%u,"
        "atomics=%u,run_max=%u",
        1 + below(r, 1u << 30), 30 + below(r, 600), 1 + below(r, 8), 1 + below(r, 200),
        1 + below(r, 40), below(r, 3) * below(r, 500), sync, below(r, 2) * below(r, 100),
        below(r, 200), 8u << below(r, 4), below(r, 3), 1 + below(r, 50));
}

/* What all policies have. */
static void draw_common(struct text *t, struct rng *r, const char *policy)
{
    static const char *const after[] = {"continue", "disable-variable", "disable-array", "stop"};
    static const char *const filters[] = {"redundant", "escape"};

    if (below(r, 2))
        add(t, "policy.%s.after-race=%s ", policy, after[below(r, ARRAY_SIZE(after))]);
    for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
        if (!below(r, 4))
            add(t, "policy.%s.filter.%s=on policy.%s.filter.safe=on ", policy, filters[i], policy);
}

static void draw_policy(struct text *t, struct rng *r)
{
    static const char *const names[] = {"none",      "none",       "vc",          "fasttrack",
                                        "slimstate", "goldilocks", "fastrcd",     "valor",
                                        "valor-e",   "valor-o",    "radish",      "radish-ts",
                                        "lardish",   "eraser",     "lard-runtime"};
    const char *name = names[below(r, ARRAY_SIZE(names))];

    add(t, "policies=%s ", name);
    draw_common(t, r, name);
    if (!strcmp(name, "goldilocks"))
        add(t, "policy.goldilocks.list-limit=%u policy.goldilocks.trim=%u ", 1 + below(r, 400),
            1 + below(r, 100));
    if (!strcmp(name, "fastrcd"))
        add(t, "policy.fastrcd.clock-bits=%u ", 2 + below(r, 9));
    if (!strncmp(name, "valor", 5))
        add(t, "policy.%s.version-bits=%u policy.%s.read-log=%u policy.%s.write-set=%u ", name,
            1 + below(r, 10), name, 1 + below(r, 60), name, 1 + below(r, 60));
    if (!strcmp(name, "slimstate"))
        add(t, "policy.slimstate.buffer=%u ", 1 + below(r, 60));
    if (strcmp(name, "lardish") != 0 && strncmp(name, "radish", 6) != 0)
        return;
    add(t, "policy.%s.clock-bits=%u policy.%s.queue=%u policy.%s.checks=%s policy.%s.flush=%s ",
        name, 4 + below(r, 6), name, 1 + below(r, 30), name, below(r, 2) ? "queued" : "synchronous",
        name, below(r, 2) ? "eager" : "lazy");
}

static void draw_caches(struct text *t, struct rng *r, bool timed)
{
    const unsigned line = 64, l2 = below(r, 4) ? line * 4 << (3 + below(r, 6)) : 0;

    pick(t, r, "memory.type", timed ? "fixed fixed ddr" : "fixed");
    add(t, "l1.ways=2 l1.size=%u ", line * 2 * (1 + below(r, 3)) << below(r, 3));
    add(t, "l2.ways=4 l2.size=%u l3.banks=%u l3.port=%u ", l2, 1 + below(r, 8), 1 + below(r, 4));
    add(t, "l3.ways=8 l3.size=%u ", line * 8 * (1 + below(r, 3)) << (4 + below(r, 6)));
    add(t, "l3.directory-ways=4 l3.directory-size=%u ", below(r, 3) * 4u << (3 + below(r, 6)));
    add(t, "memory.fixed.interval=%u ", below(r, 2) * below(r, 30));
    add(t, "memory.ddr.read-queue=%u memory.ddr.write-queue=16 memory.ddr.write-high=%u ",
        below(r, 2) * (1 + below(r, 8)), below(r, 2) * (1 + below(r, 16)));
    pick(t, r, "l2.inclusion", "inclusive exclusive");
    pick(t, r, "l3.inclusion", "inclusive non-inclusive");
    for (const char *const *level = (const char *const[]){"l1", "l2", "l3", NULL}; *level;
         level++) {
        char name[40];
        snprintf(name, sizeof name, "%s.replacement", *level);
        pick(t, r, name, "lru plru fifo random srrip");
    }
}

static void draw_machine(struct text *t, struct rng *r)
{
    const bool timed = below(r, 4);

    add(t, "machine=multicore order=%s cores=%u schedule.threads=round-robin ",
        timed ? "timed" : "recorded", 1 + below(r, 12));
    add(t, "schedule.quantum=%u schedule.switch=%u ", 1 + below(r, 5000), below(r, 300));
    add(t, "schedule.window=%u ", below(r, 2) ? 1 + below(r, 600) : 4096);
    if (timed)
        add(t, "core.store-buffer=%u core.misses=%u ", below(r, 2) * (1 + below(r, 20)),
            below(r, 2) * (1 + below(r, 20)));
    if (timed)
        pick(t, r, "core.type", "simple simple pipelined");
    draw_caches(t, r, timed);
    pick(t, r, "contention", timed ? "on on off" : "off");
    pick(t, r, "network.topology", "crossbar ring mesh");
    add(t, "network.link-bytes=%u ", 1u << (3 + below(r, 6)));
    pick(t, r, "pages.mapping", "identity first-touch");
    if (below(r, 2))
        add(t, "perturb.seed=%u perturb.start=%u perturb.memory=%u ", below(r, 50),
            below(r, 3) * below(r, 3000), below(r, 3) * below(r, 10));
    pick(t, r, "coherence.composition", "absolute cumulative");
    pick(t, r, "coherence.remote-cost", "added added total");
}

/* ---- a run ---------------------------------------------------------------------------------- */

static struct lardsim *run(const struct text *source, const struct text *settings)
{
    struct lardsim *l = lardsim_new();
    const char *at = settings->at;
    char one[200];
    int used;

    lardsim_set(l, "granularity=8");
    for (; sscanf(at, " %199s%n", one, &used) == 1; at += used)
        lardsim_set(l, one);
    lardsim_start(l);
    lardsim_run(l, source->at);
    lardsim_finish(l);
    return l;
}

/* NULL: it has run to its end, or to the race that stops it. */
static const char *failure(const struct lardsim *l)
{
    return lardsim_exit_code(l) == LARD_RACES ? NULL : lardsim_error(l);
}

/* ---- changing a parameter ------------------------------------------------------------------- */

struct wanted { /* the row of a parameter */
    const char *name;
    const struct param *row;
};

static void look_at(void *arg, const char *section, const struct param *row)
{
    struct wanted *w = arg;
    char name[200];

    snprintf(name, sizeof name, "%s%s%s", section, *section ? "." : "", row->name);
    if (!strcmp(name, w->name))
        w->row = row;
}

static const struct param *row_of(const char *name)
{
    struct wanted w = {name, NULL};

    sim_each_param(look_at, &w);
    if (!w.row)
        die("there is no parameter %s", name);
    return w.row;
}

static uint64_t number(const char *text)
{
    char *end;
    const uint64_t n = strtoull(text, &end, 0);

    return *end == 'K' ? n << 10 : *end == 'M' ? n << 20 : *end == 'G' ? n << 30 : n;
}

/* As the settings have it, or the default. */
static uint64_t now(const struct text *settings, const char *name, const struct param *row)
{
    const size_t n = strlen(name);

    for (const char *at = settings->at; (at = strstr(at, name)); at += n)
        if ((at == settings->at || at[-1] == ' ') && at[n] == '=')
            return number(at + n + 1);
    return number(row->value);
}

static uint64_t changed(struct rng *r, uint64_t was, const struct param *row, const char *change)
{
    const uint64_t more = !strcmp(row->unit, "bits") ? 1 + rng_below(r, 4) : was * rng_below(r, 8);
    uint64_t to = was;

    if (!strcmp(change, "any") && !strcmp(row->unit, "bytes")) /* powers of two, most often */
        to = (row->min & (row->min - 1) ? 1024 : row->min) << rng_below(r, 8);
    else if (!strcmp(change, "any"))
        to = row->min + rng_below(r, 1000);
    else if (!strcmp(change, "larger"))
        to = was + 1 + more;
    else if (!strcmp(change, "smaller"))
        to = row->min + rng_below(r, was - row->min + 1);
    else if (!strcmp(change, "multiple"))
        to = was * (2 + rng_below(r, 3));
    else
        die("findings.def: %s is no change of a number", change);
    return to > row->max ? row->max : to;
}

/* Adds the changed parameter to the settings. */
static void change(struct text *settings, struct rng *r, const struct lardsim_knob *k)
{
    const struct param *row = row_of(k->parameter);
    unsigned choices = 0;

    while (row->choices && row->choices[choices])
        choices++;
    if (choices && strcmp(k->change, "any") != 0)
        add(settings, "%s=%s ", k->parameter, k->change);
    else if (choices)
        add(settings, "%s=%s ", k->parameter, row->choices[below(r, choices)]);
    else if (row->type == PARAM_BOOL)
        add(settings, "%s=%s ", k->parameter, below(r, 2) ? "on" : "off");
    else
        add(settings, "%s=%" PRIu64 " ", k->parameter,
            changed(r, now(settings, k->parameter, row), row, k->change));
}

/* ---- the claim ------------------------------------------------------------------------------ */

struct two {
    const struct lardsim *a, *b;
    char differs[120];
};

static bool ends(const char *name, const char *with)
{
    const size_t n = strlen(name), k = strlen(with);

    return n >= k && !strcmp(name + n - k, with);
}

/* Statistics that echo the configuration, and those that a finding excepts in its sentence. */
static bool excepted(const char *name)
{
    static const char *const names[] = {"machine.cores", "machine.frequency", ".capacity",
                                        "network.waits", ".metadata.live",    ".metadata.peak"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (ends(name, names[i]))
            return true;
    return false;
}

static void compare(void *arg, const char *name, const char *unit, const char *help)
{
    struct two *t = arg;
    uint64_t a = 0, b = 0;

    (void)unit;
    (void)help;
    lardsim_stat(t->a, name, &a);
    lardsim_stat(t->b, name, &b);
    if (a != b && !*t->differs && !excepted(name))
        snprintf(t->differs, sizeof t->differs, "%s: %" PRIu64 " and %" PRIu64, name, a, b);
}

struct tried { /* by key */
    const char *key[KEYS];
    uint64_t runs[KEYS];
    size_t n;
    uint64_t refused;
};

static void note(struct tried *t, const char *key)
{
    size_t i = 0;

    while (i < t->n && strcmp(t->key[i], key) != 0)
        i++;
    if (i == t->n)
        t->key[t->n++] = key;
    t->runs[i]++;
}

/* Where the sentence excepts something, counts are compared one by one. */
static bool same(const struct lardsim_finding *f, struct two *t)
{
    lardsim_each(LARDSIM_STATISTICS, compare, t);
    if (strstr(f->sentence, "changes nothing but "))
        return !*t->differs;
    return lardsim_behaviour(t->a) == lardsim_behaviour(t->b);
}

static bool knob_holds(const struct text *source, const struct text *settings,
                       const struct lardsim *l, const struct lardsim_finding *f,
                       const struct lardsim_knob *k, struct rng *r, struct tried *tried)
{
    struct text other = *settings;

    change(&other, r, k);
    struct lardsim *again = run(source, &other);
    struct two t = {.a = l, .b = again};
    bool holds = true;
    if (lardsim_exit_code(again) == LARD_CONFIG) { /* too large, or impossible with the others */
        tried->refused++;
    } else {
        note(tried, f->key);
        holds = !failure(again) && same(f, &t);
    }
    if (!holds)
        printf("%s: %s\n  but not with %s\n  %s\n  %s\n  %s\n", f->key, f->sentence,
               other.at + settings->n,
               failure(again) ? failure(again)
               : *t.differs   ? t.differs
                              : "a vector or histogram differs",
               settings->at, source->at);
    lardsim_free(again);
    return holds;
}

static bool seed_holds(uint64_t seed, struct tried *tried)
{
    struct text source = {.n = 0}, settings = {.n = 0};
    struct rng r;
    bool holds = true;

    rng_seed(&r, seed);
    draw_source(&source, &r);
    draw_policy(&settings, &r);
    if (below(&r, 5))
        draw_machine(&settings, &r);
    struct lardsim *l = run(&source, &settings);
    struct lardsim_findings all = lardsim_findings(l);
    const bool refused = lardsim_exit_code(l) == LARD_CONFIG;
    tried->refused += refused;
    if (failure(l) && !refused) {
        printf("%s\n  %s\n  %s\n", lardsim_error(l), settings.at, source.at);
        holds = false;
    }
    for (size_t i = 0; i < all.n; i++)
        for (size_t k = 0; k < all.at[i].knobs; k++)
            holds &= knob_holds(&source, &settings, l, &all.at[i], &all.at[i].knob[k], &r, tried);
    lardsim_findings_free(&all);
    lardsim_free(l);
    if (!holds)
        printf("seed %" PRIu64 "\n", seed);
    return holds;
}

struct coverage {
    const struct tried *tried;
    unsigned missing;
};

static void was_tried(void *arg, const char *key, const char *text, const char *zero,
                      const char *given, const char *parameters)
{
    struct coverage *c = arg;
    size_t i = 0;

    (void)text;
    (void)zero;
    (void)given;
    while (i < c->tried->n && strcmp(c->tried->key[i], key) != 0)
        i++;
    printf("%8" PRIu64 "  %s\n", i < c->tried->n ? c->tried->runs[i] : 0, key);
    if (!*parameters || i < c->tried->n)
        return;
    printf("no run has found %s: it is not tried\n", key);
    c->missing++;
}

/* The example of docs/results.md: an L3 that never evicted, of twice the size. */
static bool the_digests_differ_and_the_behaviour_does_not(void)
{
    const struct text source = {.at = "synth:seed=1,events=2000"};
    const struct text small = {.at = "machine=multicore l3.size=8Mi"};
    const struct text large = {.at = "machine=multicore l3.size=16Mi"};
    struct lardsim *a = run(&source, &small), *b = run(&source, &large);
    const bool holds = !lardsim_error(a) && !lardsim_error(b) &&
                       lardsim_digest(a) != lardsim_digest(b) &&
                       lardsim_behaviour(a) == lardsim_behaviour(b);

    if (!holds)
        printf("an L3 of 8 MiB and one of 16 MiB, which never evict: digests %016" PRIx64
               " and %016" PRIx64 ", behaviour %016" PRIx64 " and %016" PRIx64 "\n",
               lardsim_digest(a), lardsim_digest(b), lardsim_behaviour(a), lardsim_behaviour(b));
    lardsim_free(a);
    lardsim_free(b);
    return holds;
}

int main(int argc, char **argv)
{
    const struct seeds cases = seeds_arg(argc, argv, DEFAULT_SEEDS, NULL);
    struct tried tried = {.n = 0};
    struct coverage cover = {&tried, 0};
    uint64_t bad = !the_digests_differ_and_the_behaviour_does_not();

    write_quiet();
    for (uint64_t seed = cases.first; seed - cases.first < cases.n; seed++)
        bad += !seed_holds(seed, &tried);
    remove(quiet);
    sim_each_finding(was_tried, &cover);
    printf("%" PRIu64 " runs from seed %" PRIu64 ", %" PRIu64 " settings refused; %" PRIu64
           " fail, %u findings not tried\n",
           cases.n, cases.first, tried.refused, bad, cover.missing);
    return bad || (cover.missing && cases.n >= DEFAULT_SEEDS);
}
