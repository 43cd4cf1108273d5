/* t_verdict.c - the property that carries all others: on random traces of all kinds of events a
 * policy's verdicts are the oracle's, access by access, in every view, history and granularity.
 *
 *     t_verdict [--mutant NAME] [FIRST-SEED [SEEDS [POLICY]]]
 *
 * Default: 1 300 vc, and then fewer for each of the other exact policies.
 *
 * Policies in hardware (radish, radish-ts, lardish) run on random hardware. lardish refuses a copy
 * to where there is history, so that its streams never have one.
 *
 * --mutant breaks a rule on purpose (base/mutants.def), in a build that can; the test must then
 * fail. A difference is printed with what reproduces it and with a trace made as small as it goes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutant.h"
#include "tests/verdict.h"
#include "tests/verdict_hardware.h"

enum { CASES = 6, WHY = 300 };

/* ---- random parameters ---------------------------------------------------------------------- */

static uint64_t between(struct rng *r, uint64_t low, uint64_t high)
{
    return low + rng_below(r, high - low + 1);
}

/* Often none at all, seldom up to most. */
static uint64_t share(struct rng *r, uint64_t most)
{
    return rng_below(r, 3) ? between(r, 0, most) : 0;
}

static void draw_program(struct rng *r, struct synth_params *p)
{
    p->events = between(r, 60, 400);
    p->threads = between(r, 2, 6);
    p->fork = (uint32_t)rng_below(r, 3);
    p->end_share = share(r, 60);
    p->ends = rng_below(r, 2);
    p->run_max = between(r, 1, 8);
    p->gap_max = 0;
    p->kernel_threads = share(r, 4);
    p->names = false;
    p->marks = rng_below(r, 4) == 0;
    p->raw = rng_below(r, 8) == 0;
    p->sites = between(r, 0, 20);
    p->site_share = share(r, 1000);
}

static void draw_memory(struct rng *r, struct synth_params *p)
{
    static const uint64_t stride[] = {1, 2, 4, 8, 16};

    p->variables = between(r, 1, 12);
    p->privates = between(r, 1, 3);
    p->fields = between(r, 1, 4);
    p->stride = stride[rng_below(r, ARRAY_SIZE(stride))];
    p->sizes = (uint32_t)between(r, 1, 31);
    p->unaligned = share(r, 500);
    p->granularity = UINT64_C(1) << rng_below(r, 4);
    p->read_share = between(r, 200, 800);
    p->sharing = between(r, 500, 1000);
    p->discipline = between(r, 0, 1000);
    p->racy = share(r, 300);
    p->system_share = share(r, 500);
    p->flag_share = share(r, 200);
    p->heap_share = share(r, 300);
    p->gc_share = share(r, 300);
    p->allocs = rng_below(r, 2);
}

static void draw_sync(struct rng *r, struct synth_params *p)
{
    p->atomics = share(r, 4);
    p->locks = between(r, 0, 4);
    p->volatiles = share(r, 2);
    p->barriers = share(r, 2);
    p->classes = share(r, 3);
    p->sync_share = between(r, 50, 700);
    p->rw_share = share(r, 800);
    p->nested_share = share(r, 700);
    p->wait_share = share(r, 300);
    p->txn_share = share(r, 300);
}

static struct synth_params draw_params(struct rng *r, uint64_t seed)
{
    struct synth_params p;
    struct err e = {0};

    if (synth_parse(&p, "", &e))
        die("%s", e.text);
    p.seed = seed;
    draw_program(r, &p);
    draw_memory(r, &p);
    draw_sync(r, &p);
    return p;
}

static const struct verdict_view *draw_view(struct rng *r, const char *policy)
{
    size_t views = 0;

    while (verdict_view[views].name)
        views++;
    if (hardware_policy(policy) && strcmp(policy, "lardish"))
        return &verdict_view[views - 1]; /* naive, always */
    return &verdict_view[rng_below(r, views)];
}

/* One that a history line can have; mostly one to which all regions are aligned. */
static unsigned draw_line_granule(struct rng *r, const char *policy, uint64_t aligned)
{
    const unsigned least = strcmp(policy, "radish-ts") ? 1 : 4;
    const unsigned most = rng_below(r, 8) && aligned >= least ? (unsigned)aligned : 8;

    for (;;) {
        const unsigned granule = 1u << rng_below(r, 4);
        if (granule >= least && granule <= most)
            return granule;
    }
}

static struct verdict_case draw_case(struct rng *r, const char *policy, uint64_t aligned)
{
    static const unsigned granule[] = {0, 1, 2, 4, 8};
    const struct verdict_view *view = draw_view(r, policy);

    return (struct verdict_case){policy, view,
                                 hardware_policy(policy)
                                     ? draw_line_granule(r, policy, aligned)
                                     : granule[rng_below(r, ARRAY_SIZE(granule))],
                                 rng_below(r, 2) && verdict_has_all(policy)};
}

/* ---- telling of a difference ---------------------------------------------------------------- */

static void print_names(const struct param *row, uint32_t value)
{
    const char *comma = "";

    for (uint32_t i = 0; row->choices[i]; i++)
        if (row->type == PARAM_SET ? value >> i & 1 : value == i) {
            printf("%s%s", comma, row->choices[i]);
            comma = ",";
        }
}

static void print_params(const struct synth_params *p)
{
    const char *before = "synth:";

    for (const struct param *row = synth_param_rows; row->name; row++, before = ",") {
        const void *field = (const char *)p + row->offset;
        printf("%s%s=", before, row->name);
        if (row->type == PARAM_U64)
            printf("%" PRIu64, *(const uint64_t *)field);
        else if (row->type == PARAM_BOOL)
            printf("%s", *(const bool *)field ? "on" : "off");
        else
            print_names(row, *(const uint32_t *)field);
    }
    printf("\n");
}

struct trial { /* a stream's case, on hardware or not */
    struct verdict_case is;
    struct hardware on; /* drawn for policies in hardware only */
    bool hard, full;    /* full: all contracts are kept */
};

static bool differs(const struct stream *s, const struct trial *t, char why[WHY])
{
    return t->hard ? verdict_differs_on(s, &t->is, &t->on.is, why, WHY)
                   : verdict_differs(s, &t->is, why, WHY);
}

static bool lawful(const struct stream *s, bool full)
{
    struct rules *r = rules_new(full);
    struct err e = {0};
    uint64_t number = 0;
    bool good = true;

    for (size_t i = 0; good && i < s->records; i += event_records(&s->rec[i]))
        good = rules_apply(r, &s->rec[i], number++, &e) == 0;
    rules_free(r);
    return good;
}

/* All but `count` events from `first`. */
static struct stream without(const struct stream *s, size_t first, size_t count)
{
    struct stream less = {NULL, 0, 0, 0};
    size_t e = 0;

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]), e++)
        if (e < first || e - first >= count)
            stream_add(&less, &s->rec[i]);
    return less;
}

/* One event the runtime's instead of the program's, or the other way round. Not one half of passing
 * a barrier: whoever arrives for the program leaves for the program. */
static struct stream with_other_owner(const struct stream *s, size_t event)
{
    struct stream other = {NULL, 0, 0, 0};

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i])) {
        const uint8_t kind = s->rec[i].kind;
        stream_add(&other, &s->rec[i]);
        if (other.events == event + 1 && kind != EV_BARRIER_ARRIVE && kind != EV_BARRIER_DEPART)
            other.rec[other.records - event_records(&s->rec[i])].flags ^= EVF_SYSTEM;
    }
    return other;
}

/* What the generator never does: here and there an event is missing, or has another owner. */
static void perturb(struct rng *r, struct stream *s, bool full)
{
    for (uint64_t changes = share(r, 12); changes > 0 && s->events; changes--) {
        const size_t event = rng_below(r, s->events);
        struct stream next =
            rng_below(r, 2) ? without(s, event, 1 + rng_below(r, 4)) : with_other_owner(s, event);
        struct stream drop = next;
        if (lawful(&next, full)) {
            drop = *s;
            *s = next;
        }
        stream_free(&drop);
    }
}

/* Takes pieces away, from halves down to single events, as long as the difference stays. */
static void minimise(struct stream *s, const struct trial *t)
{
    char why[WHY];
    bool shrunk = true;

    for (size_t piece = s->events / 2; piece > 0; piece = shrunk ? piece : piece / 2) {
        shrunk = false;
        for (size_t first = 0; first < s->events;) {
            struct stream less = without(s, first, piece);
            if (lawful(&less, t->full) && differs(&less, t, why)) {
                stream_free(s);
                *s = less;
                shrunk = true;
            } else {
                stream_free(&less);
                first += piece;
            }
        }
    }
}

static void tell(const struct synth_params *p, struct stream *s, const struct trial *t,
                 char why[WHY])
{
    char text[100];

    verdict_case_text(&t->is, text, sizeof text);
    printf("seed %" PRIu64 ", %s\n%s\n", p->seed, text, why);
    print_params(p);
    if (t->hard)
        hardware_print(&t->on, stdout);
    fflush(stdout);
    minimise(s, t);
    differs(s, t, why);
    printf("smallest: %s\n", why);
    fflush(stdout);
    stream_print(s, NULL, stdout);
}

/* ---- the property --------------------------------------------------------------------------- */

/* Counts over all seeds. */
struct sums {
    uint64_t events, cases, seen[HARDWARE_SEEN];
};

static bool case_holds(const struct synth_params *p, struct stream *s, struct rng *r,
                       const char *policy, struct sums *sums)
{
    struct trial t = {.is = draw_case(r, policy, p->granularity),
                      .hard = hardware_policy(policy),
                      .full = !strcmp(policy, "lardish")};
    char why[WHY];

    if (t.hard)
        hardware_draw(&t.on, r, sums->seen);
    if (p->raw && t.is.view->bits & ORACLE_ALL_SYNC)
        return true; /* the runtime that wrote the clocks knew nothing of its own locks */
    sums->cases++;
    if (!differs(s, &t, why))
        return true;
    tell(p, s, &t, why);
    return false;
}

static bool seed_holds(uint64_t seed, const char *policy, struct sums *sums)
{
    struct stream s = {NULL, 0, 0, 0};
    struct err e = {0};
    struct rng r;
    bool holds = true;

    rng_seed(&r, seed);
    const struct synth_params p = draw_params(&r, seed);
    struct source *from = synth_open(&p, &e);
    if (!from || stream_read(&s, from, &e))
        die("%s", e.text);
    source_close(from);
    if (!p.raw) /* there a runtime writes all entries of a clock, or order isn't transitive */
        perturb(&r, &s, !strcmp(policy, "lardish"));
    for (int i = 0; i < CASES && holds; i++)
        holds = case_holds(&p, &s, &r, policy, sums);
    sums->events += s.events;
    stream_free(&s);
    return holds;
}

/* What hardware did, all over. False: something never happened, in a run that is long enough. */
static bool tell_seen(const struct sums *sums, const char *policy, uint64_t seeds)
{
    bool all = true;

    for (size_t i = 0; hardware_policy(policy) && hardware_seen[i]; i++) {
        const bool heap = !strncmp(hardware_seen[i], "heap.", 5);
        printf("  %s %" PRIu64 "\n", hardware_seen[i], sums->seen[i]);
        all &= sums->seen[i] || (heap && strcmp(policy, "lardish"));
    }
    if (!all && seeds >= 300)
        printf("FAILED: something never happened\n");
    return all || seeds < 300;
}

/* False: there is no such mutant in this build. */
static bool set_mutant(const char *name)
{
#ifdef LARDSIM_MUTANTS
    for (int m = 0; m < MUTANT_COUNT; m++)
        if (!strcmp(mutant_name[m], name)) {
            mutant_active = m;
            return true;
        }
#endif
    fprintf(stderr, "no mutant %s in this build\n", name);
    return false;
}

static bool seeds_hold(uint64_t first, uint64_t seeds, const char *policy)
{
    struct sums sums = {0};

    for (uint64_t seed = first; seed - first < seeds; seed++)
        if (!seed_holds(seed, policy, &sums))
            return false;
    printf("%s: %" PRIu64 " traces from seed %" PRIu64 ", %" PRIu64 " events, %" PRIu64 " cases\n",
           policy, seeds, first, sums.events, sums.cases);
    return tell_seen(&sums, policy, seeds);
}

int main(int argc, char **argv)
{
    static const char *const others[] = {"fasttrack", "radish", "radish-ts", "lardish"};

    if (argc > 2 && !strcmp(argv[1], "--mutant")) {
        if (!set_mutant(argv[2]))
            return 2;
        argc -= 2;
        argv += 2;
    }
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 300;

    if (!seeds_hold(first, seeds, argc > 3 ? argv[3] : "vc"))
        return 1;
    for (size_t i = 0; argc < 2 && i < ARRAY_SIZE(others); i++)
        if (!seeds_hold(first, seeds / 3, others[i]))
            return 1;
    return 0;
}
