/* runs.c - what a script wants of the library: it reads a program's events, runs two detectors over
 * one reading of them, holds a third against the truth, and asks why its first race is one. */
#include <inttypes.h>
#include <lardsim.h>
#include <stdio.h>
#include <stdlib.h>

static const char source[] = "synth:seed=4,events=2000,threads=3";

/* Errors of calls without an instance go where one has its own. */
static void check(struct lardsim *l, int status)
{
    if (!status)
        return;
    fprintf(stderr, "runs: %s\n", lardsim_error(l));
    exit(lardsim_exit_code(l));
}

/* ---- events ---- */

static void count_events(struct lardsim *l)
{
    struct lardsim_source *s = lardsim_source_open(source, lardsim_err(l));
    struct lardsim_event ev;
    unsigned accesses = 0, syncs = 0;
    int more;

    check(l, s ? 0 : -1);
    while ((more = lardsim_source_next(s, &ev, lardsim_err(l))) > 0) {
        struct lardsim_kind_info is;
        lardsim_kind_info(ev.kind, &is);
        accesses += is.access;
        syncs += is.sync;
    }
    check(l, more);
    printf("%u accesses, %u events of synchronisation\n", accesses, syncs);
    lardsim_source_close(s);
}

/* ---- two runs over one reading ---- */

static void run_over(void *unused, struct lardsim *l)
{
    uint64_t cycles = 0, races = 0;
    char name[80];

    (void)unused;
    check(l, lardsim_finish(l));
    snprintf(name, sizeof name, "policy.%s.races.accesses", lardsim_policy(l, 0));
    check(l, lardsim_stat(l, name, &races));
    if (lardsim_stat(l, "machine.cycles", &cycles)) /* there is no machine */
        cycles = 0;
    printf("%s: %" PRIu64 " racy accesses, %" PRIu64 " cycles\n", lardsim_policy(l, 0), races,
           cycles);
    lardsim_free(l);
}

static void run_two(struct lardsim *errors)
{
    static const char *const machine[] = {"machine=none", "machine=multicore"},
                             *const policy[] = {"policies=vc", "policies=fasttrack"};
    struct lardsim_shared *s = lardsim_shared_open(source, true, 0, lardsim_err(errors));

    check(errors, s ? 0 : -1);
    for (int i = 0; i < 2; i++) {
        struct lardsim *l = lardsim_new();
        lardsim_set(l, machine[i]);
        lardsim_set(l, policy[i]);
        check(l, lardsim_start(l));
        lardsim_shared_add(s, l);
    }
    check(errors, lardsim_shared_run(s, run_over, NULL, lardsim_err(errors)));
    lardsim_shared_free(s);
}

/* ---- a policy against the truth ---- */

struct seen {
    unsigned differences;
    struct lardsim_side is, earlier; /* of the first race of vc's */
};

static void difference(void *arg, const struct lardsim_difference *d)
{
    struct seen *s = arg;

    if (!s->differences++)
        printf("eraser, %s at event %" PRIu64 ": %s\n", d->verdict, d->is.event, d->reason);
}

static void race(void *arg, const struct lardsim_race *r)
{
    struct seen *s = arg;

    if (!s->is.known && r->policy[0] == 'v') {
        s->is = r->is;
        s->earlier = r->earlier;
    }
}

static void compare(struct lardsim *l, struct seen *to)
{
    lardsim_set(l, "policies=vc,eraser");
    lardsim_compare(l);
    lardsim_on_difference(l, difference, to);
    lardsim_on_race(l, race, to);
    lardsim_start(l);
    lardsim_run(l, source);
    check(l, lardsim_finish(l));
    printf("%u differences\n", to->differences);
}

/* ---- a reason ---- */

static struct lardsim_source *open_again(void *unused, struct err *e)
{
    (void)unused;
    return lardsim_source_open(source, e);
}

static void explain(struct lardsim *l, const struct seen *s)
{
    const struct lardsim_why_ask ask = {.open = open_again,
                                        .view = "tracked",
                                        .granule = "trace",
                                        .event = s->is.event,
                                        .paired = true,
                                        .earlier = s->earlier.event};
    struct lardsim_why_both both;

    check(l, lardsim_why(&ask, &both, lardsim_err(l)));
    printf("event %" PRIu64 " %s event %" PRIu64 "\n", both.why->later.line.number,
           both.why->verdict == LARDSIM_WHY_RACES ? "races with" : "is ordered after",
           both.why->earlier.line.number);
    lardsim_why_free(&both);
}

static void preset(void *first, const char *name, const char *text, const char *help)
{
    (void)text;
    (void)help;
    if (!*(const char **)first)
        *(const char **)first = name;
}

int main(void)
{
    struct lardsim *l = lardsim_new(), *asked = lardsim_new();
    struct lardsim_promise promise;
    struct seen seen = {0};
    const char *first = NULL;

    count_events(l);
    run_two(l);
    compare(l, &seen);
    explain(l, &seen);
    check(asked, lardsim_promise(asked, "radish", &promise));
    lardsim_each(LARDSIM_PRESETS, preset, &first);
    printf("radish: %s; view %s; the first preset is %s\n", promise.property, promise.view, first);
    lardsim_free(asked);
    lardsim_free(l);
    return 0;
}
