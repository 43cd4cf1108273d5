/* t_reasons.c - is a reason true? Random traces under policies that differ in view, history, rules
 * and filters. Each reason that compare gives for a difference is held against sets of events that
 * know what became of each access (tests/oracle/fates.h) and against the graph of the events
 * (tests/oracle/oracle.h): what was displaced by that event, cleared or overwritten by that one,
 * not brought by that copy, not checked, not remembered, left out, or ordered. None may be false.
 * [FIRST-SEED [SEEDS]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/sim.h"
#include "tests/frame/draw.h"
#include "tests/frame/mutant_arg.h"
#include "tests/frame/seeds.h"
#include "tests/oracle/fates.h"

enum { SEEDS = 30, EVENTS = 260 };

static const struct subject {
    const char *label, *policy, *view, *set;
    struct memory_options as; /* granule: of the trace */
} subject[] = {
    {"lard", "vc", "tracked", NULL, {MEMORY_LAST, 0, 0, false}},
    {"all", "vc", "tracked", "history=all", {MEMORY_ALL, 0, 0, false}},
    {"memory", "vc", "all-memory", NULL, {MEMORY_LAST, 0, ORACLE_ALL_MEMORY, false}},
    {"sync", "vc", "all-sync", "history=all", {MEMORY_ALL, 0, ORACLE_ALL_SYNC, false}},
    {"noclear", "vc", "no-clear", NULL, {MEMORY_LAST, 0, ORACLE_NO_CLEAR, false}},
    {"nocopy", "vc", "no-copy", NULL, {MEMORY_LAST, 0, ORACLE_NO_COPY, false}},
    {"nothread", "vc", "no-thread", NULL, {MEMORY_LAST, 0, ORACLE_NO_THREAD, false}},
    {"naive",
     "fasttrack",
     "naive",
     NULL,
     {MEMORY_FASTTRACK, 0, ORACLE_ALL_MEMORY | ORACLE_ALL_SYNC | ORACLE_NO_CLEAR | ORACLE_NO_COPY,
      false}},
    {"ft", "fasttrack", "tracked", NULL, {MEMORY_FASTTRACK, 0, 0, false}},
    {"skip", "fasttrack", "tracked", "repeats=skip", {MEMORY_FASTTRACK, 0, 0, false}},
    {"dis", "fasttrack", "tracked", "after-race=disable-variable", {MEMORY_FASTTRACK, 0, 0, true}},
    {"clean", "clean", "tracked", NULL, {MEMORY_CLEAN, 0, 0, false}},
};
enum { SUBJECTS = ARRAY_SIZE(subject) };

/* ---- a trace and what is known of it -------------------------------------------------------- */

struct judging {
    struct stream *s;
    const struct event **ev;
    struct oracle *order[SUBJECTS];
    struct memory *memory[SUBJECTS];
    const char *truth;
    uint64_t seed, said, by_fate, by_rule, ordered, unknown;
    bool holds;
};

static size_t index_of(const char *label)
{
    size_t i = 0;

    while (strcmp(subject[i].label, label) != 0)
        i++;
    return i;
}

static void wrong(struct judging *j, const struct lardsim_difference *d, const char *what)
{
    if (j->holds)
        printf("FAILED: seed %" PRIu64 ", truth %s: %s %s by %s, of event %" PRIu64 " at 0x%" PRIx64
               " after %" PRIu64 ": \"%s\": %s\n",
               j->seed, j->truth, d->of, d->verdict, d->policy, d->is.event, d->location,
               d->earlier.event, d->reason, what);
    j->holds = false;
}

/* ---- a reason ------------------------------------------------------------------------------- */

/* "...: event 12 took its place" and the like, at the end of the sentence. */
static bool names_event(const char *reason, const char *front, const char *back, size_t *event)
{
    const char *at = strstr(reason, front);
    char *end;

    if (!at)
        return false;
    *event = strtoull(at + strlen(front), &end, 10);
    return end != at + strlen(front) && !strncmp(end, back, strlen(back));
}

static bool fate_said(const struct lardsim_difference *d, enum memory_fate *fate, size_t *by)
{
    const char *reason = d->reason;

    *by = 0;
    if (strstr(d->reason, ": another access of ") &&
        strstr(d->reason, " transaction took its place")) {
        *fate = MEMORY_DISPLACED;
        *by = strstr(d->reason, "access of this") ? d->is.event : d->earlier.event;
    } else if (names_event(reason, ": event ", " took its place", by))
        *fate = MEMORY_DISPLACED;
    else if (names_event(reason, ": event ", " cleared it", by))
        *fate = MEMORY_CLEARED;
    else if (names_event(reason, ": the copy at event ", " overwrote it", by))
        *fate = MEMORY_OVERWRITTEN;
    else if (names_event(reason, ": the copy at event ", ", which brought it", by))
        *fate = MEMORY_NOT_BROUGHT;
    else if (strstr(reason, "of that site: it remembers another access of its transaction"))
        *fate = MEMORY_HAS;
    else if (strstr(reason, ": it did not check it"))
        *fate = MEMORY_UNCHECKED;
    else if (strstr(reason, ": it did not remember it (it remembers no reads)"))
        *fate = MEMORY_UNKEPT;
    else if (strstr(reason, ": it did not remember it (it had raced here"))
        *fate = MEMORY_DISABLED;
    else
        return false;
    return true;
}

/* A commit without accesses gives nothing. */
static bool gives(const struct judging *j, size_t event)
{
    const struct event *ev = j->ev[event];

    if (ev->kind != EV_TXN_COMMIT)
        return ev_info[ev->kind].gives && !event_is_access(ev) && !(ev->flags & EVF_SYSTEM);
    for (size_t i = event; i-- > 0;)
        if (j->ev[i]->tid == ev->tid && j->ev[i]->kind == EV_TXN_BEGIN)
            return false;
        else if (j->ev[i]->tid == ev->tid && event_is_access(j->ev[i]) &&
                 j->ev[i]->flags & EVF_IN_TXN)
            return !(ev->flags & EVF_SYSTEM);
    return false;
}

/* Its thread has made such an access to the location, which is remembered, and given nothing since.
 */
static bool repeats(const struct judging *j, const struct lardsim_difference *d, size_t silent)
{
    static const uint8_t ops[] = {EV_READ, EV_WRITE, EV_RMW};
    const sim_tid tid = j->ev[d->is.event]->tid;

    for (size_t i = d->is.event; i-- > 0;) {
        const struct event *ev = j->ev[i];
        if (ev->tid != tid)
            continue;
        for (size_t k = 0; k < ARRAY_SIZE(ops); k++)
            if ((ops[k] == EV_READ) == (d->is.kind == LARDSIM_READ) &&
                memory_had(j->memory[silent], d->is.event, d->location, i, ops[k], MEMORY_HAS, 0))
                return true;
        if (gives(j, i))
            return false;
    }
    return false;
}

/* The accesses of the event that are to that location. */
static bool any_access(const struct judging *j, const struct lardsim_difference *d, unsigned flags)
{
    if (event_is_access(j->ev[d->is.event]))
        return j->ev[d->is.event]->flags & flags;
    for (size_t i = 0; i < d->is.event; i++)
        if (event_is_access(j->ev[i]) && j->ev[i]->flags & flags && j->ev[i]->flags & EVF_IN_TXN)
            return true;
    return false;
}

static void judge_rule(struct judging *j, const struct lardsim_difference *d, size_t silent)
{
    if (strstr(d->reason, "did not check this access: with repeats = skip")) {
        if (strcmp(subject[silent].label, "skip") != 0 || !repeats(j, d, silent))
            wrong(j, d, "it repeats nothing");
    } else if (strstr(d->reason, "did not check this access: it had raced here")) {
        if (!memory_was_off(j->memory[silent], d->is.event, d->location))
            wrong(j, d, "it had not raced");
    } else if (strstr(d->reason, "does not look for write-after-read")) {
        if (strcmp(subject[silent].label, "clean") != 0 || d->is.kind == LARDSIM_READ ||
            d->earlier.kind != LARDSIM_READ)
            wrong(j, d, "it does");
    } else {
        wrong(j, d, "no such rule is known here");
    }
    j->by_rule++;
}

static void judge(void *arg, const struct lardsim_difference *d)
{
    struct judging *j = arg;
    const bool missed = !strcmp(d->verdict, "missed");
    const size_t silent = index_of(missed ? d->policy : j->truth);
    enum memory_fate fate;
    size_t by;

    j->said++;
    if (!strcmp(d->why, "unchecked")) {
        if (!any_access(j, d, EVF_SYSTEM | EVF_STACK | EVF_FINAL | EVF_VOLATILE))
            wrong(j, d, "it is checked");
    } else if (!strcmp(d->why, "ordered")) {
        j->ordered++;
        if (strstr(d->reason, "finds all conflicting accesses"))
            return;
        if (!oracle_before(j->order[silent], d->earlier.event, d->is.event))
            wrong(j, d, "nothing orders them");
    } else if (fate_said(d, &fate, &by)) {
        j->by_fate++;
        const size_t now = d->is.event + (by == d->is.event);
        if (!memory_had(j->memory[silent], now, d->location, d->earlier.event,
                        (uint8_t)d->earlier.kind, fate, by))
            wrong(j, d, "it was another fate");
        if (oracle_before(j->order[silent], d->earlier.event, d->is.event))
            wrong(j, d, "they are ordered");
    } else if (!strcmp(d->why, "rule")) {
        judge_rule(j, d, silent);
    } else {
        j->unknown++;
        wrong(j, d, "no reason is given");
    }
}

/* ---- random ones ---------------------------------------------------------------------------- */

static void configure(struct lardsim *l, const char *truth, unsigned granule)
{
    char *all = xstrdup("policies="), set[100];

    for (size_t i = 0; i < SUBJECTS; i++) {
        char *one = xasprintf("%s%s=%s", i ? "," : "", subject[i].label, subject[i].policy);
        xappend(&all, "", one);
        free(one);
    }
    lardsim_compare(l);
    lardsim_set(l, all);
    free(all);
    for (size_t i = 0; i < SUBJECTS; i++) {
        snprintf(set, sizeof set, "policy.%s.view=%s", subject[i].label, subject[i].view);
        lardsim_set(l, set);
        if (!subject[i].set)
            continue;
        snprintf(set, sizeof set, "policy.%s.%s", subject[i].label, subject[i].set);
        lardsim_set(l, set);
    }
    snprintf(set, sizeof set, "compare.truth=%s", truth);
    lardsim_set(l, set);
    if (granule)
        snprintf(set, sizeof set, "granularity=%u", granule);
    lardsim_set(l, granule ? set : "granularity=field");
}

static void run(struct judging *j, unsigned granule)
{
    struct lardsim *l = lardsim_new();

    configure(l, j->truth, granule);
    lardsim_on_difference(l, judge, j);
    lardsim_start(l);
    for (size_t i = 0; i < j->s->events; i++) {
        const struct lardsim_event ev = sim_event(j->ev[i]);
        lardsim_event(l, &ev);
    }
    if (lardsim_finish(l)) {
        printf("FAILED: seed %" PRIu64 ": %s\n", j->seed, lardsim_error(l));
        j->holds = false;
    }
    lardsim_free(l);
}

static bool seed_holds(uint64_t seed, struct judging *j)
{
    struct stream s = {NULL, 0, 0, 0};
    struct rng r;

    rng_seed(&r, seed);
    struct synth_params p = draw_params(&r, seed);
    p.raw = false;
    p.events = EVENTS;
    p.racy = 150;
    p.heap_share = p.heap_share ? 60 : 0;
    p.nested_share = 0;
    draw_stream(&s, &p);
    const unsigned granule = seed % 5 ? (unsigned)p.granularity : 0;
    j->s = &s;
    j->ev = stream_index(&s);
    j->seed = seed;
    j->truth = seed % 2 ? "lard" : "all";
    for (size_t i = 0; i < SUBJECTS; i++) {
        struct memory_options as = subject[i].as;
        const struct oracle_options order = {true, granule, as.view};
        as.granule = granule;
        j->order[i] = oracle_new(s.rec, s.records, &order);
        if (!j->order[i])
            die("seed %" PRIu64 ": no oracle", seed);
        j->memory[i] = memory_new(s.rec, s.records, &as, j->order[i]);
    }
    run(j, granule);
    for (size_t i = 0; i < SUBJECTS; i++) {
        memory_free(j->memory[i]);
        oracle_free(j->order[i]);
    }
    if (!j->holds) {
        draw_print(&p);
        stream_print(&s, NULL, stdout);
    }
    free(j->ev);
    stream_free(&s);
    return j->holds;
}

int main(int argc, char **argv)
{
    if (!mutant_arg(&argc, &argv))
        return 2;
    const struct seeds is = seeds_arg(argc, argv, SEEDS, NULL);
    struct judging j = {.holds = true};

    for (uint64_t seed = is.first; seed - is.first < is.n && j.holds; seed++)
        seed_holds(seed, &j);
    printf("reasons: %" PRIu64 " of %" PRIu64 " traces: %" PRIu64 " fates, %" PRIu64
           " rules, %" PRIu64 " orders\n",
           j.said, is.n, j.by_fate, j.by_rule, j.ordered);
    if (j.holds && is.n >= SEEDS && (j.by_fate < 20 * is.n || !j.by_rule || !j.ordered)) {
        printf("FAILED: a kind of reason hardly came\n");
        return 1;
    }
    return !j.holds;
}
