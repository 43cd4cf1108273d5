/* t_slimstate.c - SlimState finds the oracle's racy locations, reports only what races, and keeps
 * the shadow that FastTrack would keep; Table I of the paper row by row.
 *
 *     t_slimstate [--mutant NAME] [FIRST-SEED [SEEDS]]     default: 1 400
 *
 * --mutant breaks a rule on purpose (tests/mutants/), in a build that can; the test must then
 * fail. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/frame/draw.h"
#include "tests/frame/mutant_arg.h"
#include "tests/frame/seeds.h"
#include "tests/policy/slimstate/gen.h"
#include "tests/policy/slimstate/judge.h"
#include "tests/policy/slimstate/rules.h"
#include "tests/policy/slimstate/shadow.h"
#include "tests/policy/slimstate/table.h"
#include "tests/frame/watch.h"

enum { WHY = 400 };

static struct slim_case draw_case(struct rng *r)
{
    static const unsigned granule[] = {0, 1, 1, 2, 4, 4, 8};
    static const char *const small[] = {"small=16", "small=1", "small=5"};
    static const char *const buffer[] = {"buffer=2048", "buffer=1", "buffer=2"};
    size_t views = 0, n = 0;

    while (verdict_view[views].name)
        views++;
    struct slim_case c = {.granule = granule[rng_below(r, ARRAY_SIZE(granule))],
                          .view = &verdict_view[rng_below(r, 2) ? rng_below(r, views) : 0]};
    c.setting[n++] = small[rng_below(r, ARRAY_SIZE(small))];
    c.setting[n++] = buffer[rng_below(r, ARRAY_SIZE(buffer))];
    if (rng_below(r, 4) == 0)
        c.setting[n++] = "footprints=sets";
    if (rng_below(r, 4) == 0)
        c.setting[n++] = "partitions=sets";
    return c;
}

static void tell(const struct stream *s, const struct slim_case *c, uint64_t seed, const char *why)
{
    printf("seed %" PRIu64 " FAILED: %s\nview %s, granularity %u", seed, why, c->view->name,
           c->granule);
    for (size_t i = 0; c->setting[i]; i++)
        printf(", %s", c->setting[i]);
    printf("\n");
    stream_print(s, NULL, stdout);
}

static bool lawful_or(const struct stream *s, struct err *why)
{
    struct rules *r = rules_new(false);
    uint64_t number = 0;
    bool good = true;

    for (size_t i = 0; good && i < s->records; i += event_records(&s->rec[i]))
        good = rules_apply(r, &s->rec[i], number++, why) == 0;
    rules_free(r);
    return good;
}

static bool lawful(const struct stream *s)
{
    struct err unused = {0};

    return lawful_or(s, &unused);
}

/* Takes pieces away as long as it still differs. */
static void minimise(struct stream *s, const struct slim_case *c, char *why)
{
    struct slim_judged unused = {0};

    for (size_t piece = s->events / 2; piece > 0; piece /= 2)
        for (size_t first = 0; first < s->events;) {
            struct stream less = stream_without(s, first, piece);
            char because[WHY];
            if (lawful(&less) && slim_differs(&less, c, &unused, because, sizeof because)) {
                struct stream drop = *s;
                memcpy(why, because, sizeof because);
                *s = less;
                less = drop;
            } else {
                first += piece;
            }
            stream_free(&less);
        }
}

static void draw_execution(struct rng *r, const struct slim_case *c, struct stream *s)
{
    const struct slim_gen_options o = {.granule = c->granule,
                                       .events = watch_between(r, 20, 500),
                                       .protect = rng_below(r, 2) ? 1000 : rng_below(r, 1001),
                                       .elements = 12 * watch_between(r, 1, 5)};
    if (rng_below(r, 5))
        slim_gen(r, &o, s);
    else
        watch_synth(r, s, rng_below(r, 2) ? ",fields=20,stride=4" : ",fields=32,stride=8");
}

static bool seed_holds(uint64_t seed, struct slim_judged *j)
{
    struct rng r;
    struct stream s = {NULL, 0, 0, 0};
    struct err unlawful = {0};
    char why[WHY];

    rng_seed(&r, seed);
    const struct slim_case c = draw_case(&r);
    draw_execution(&r, &c, &s);
    if (!lawful_or(&s, &unlawful))
        die("seed %" PRIu64 ": %s", seed, unlawful.text);
    const bool holds = !slim_differs(&s, &c, j, why, sizeof why);
    if (!holds) {
        minimise(&s, &c, why);
        tell(&s, &c, seed, why);
    }
    stream_free(&s);
    return holds;
}

int main(int argc, char **argv)
{
    if (!mutant_arg(&argc, &argv))
        return 2;
    const struct seeds cases = seeds_arg(argc, argv, 400, NULL);
    struct slim_judged j = {0};

    if (slim_table_fails() || slim_more_fails())
        return 1;
    for (uint64_t seed = cases.first; seed - cases.first < cases.n; seed++)
        if (!seed_holds(seed, &j) || !slim_shadow_holds(seed))
            return 1;
    printf("slimstate: %" PRIu64 " traces from seed %" PRIu64 ", %" PRIu64
           " racy locations, %" PRIu64 " reports by regions, %" PRIu64 " accesses gathered\n",
           cases.n, cases.first, j.locations, j.late, j.compressed);
    if (cases.n >= 100 && (!j.locations || !j.late || j.compressed < 1000 * cases.n / 100)) {
        printf("FAILED: that is too little to tell anything\n");
        return 1;
    }
    return 0;
}
