/* t_strip.c - is a trace without the memory that nobody uses (trace/lives/used.h) the same to every
 * detector? On random traces, of the generator and of little memory that is given, moved and taken
 * all the time: without allocations, used before the first, up to the last address, by halves of
 * words. Of what is left:
 *   - it obeys all stream rules that the whole obeys;
 *   - without heap events it is the whole without them, and stripped again it is the same;
 *   - by the oracle, which knows nothing of the program, the same accesses race with the same ones,
 *     by 1, 4 and 8 bytes, in each view that heeds both clears and copies, or neither;
 *   - `vc` reports the same races in the same order, by 1, 4 and 8 bytes; and so does each policy
 *     that promises to miss none and to report no other, but for the order of those that have no
 *     verdict at each access: for each seed one policy, in turn.
 * [FIRST-SEED [SEEDS [POLICY]]]; as many as one likes: `t_strip 1000000 20000`. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/lives/used.h"
#include "policy/policy.h"
#include "sim/lardsim.h"
#include "tests/frame/draw.h"
#include "tests/frame/seeds.h"
#include "tests/oracle/oracle.h"

enum { SEEDS = 200, STEPS = 400, SPACE = 256, THREADS = 4 };

/* ---- traces of little memory ---------------------------------------------------------------- */

struct little {
    sim_addr base;   /* of SPACE bytes */
    uint64_t unit;   /* of regions */
    uint64_t allocs; /* the first step that may allocate */
    uint64_t hot;    /* bytes from some address on that are accessed; others seldom */
    sim_addr at;
};

static void draw_region(struct rng *r, const struct little *l, uint64_t bytes, sim_addr *addr)
{
    *addr = l->base + l->unit * rng_below(r, (SPACE - bytes) / l->unit + 1);
}

static void draw_heap(struct rng *r, const struct little *l, uint64_t step, struct event *ev)
{
    static const uint8_t kind[] = {EV_ALLOC, EV_ALLOC, EV_CLEAR,    EV_CLEAR,
                                   EV_COPY,  EV_COPY,  EV_GC_BEGIN, EV_GC_END};

    ev->kind = kind[rng_below(r, ARRAY_SIZE(kind))];
    if (ev->kind == EV_ALLOC && step < l->allocs)
        ev->kind = EV_CLEAR;
    if (!event_is_placing(ev))
        return;
    ev->aux = l->unit * (1 + rng_below(r, 6));
    draw_region(r, l, ev->aux, &ev->addr);
    if (ev->kind == EV_COPY) {
        ev->flags |= EVF_MORE;
        draw_region(r, l, ev->aux, &ev[1].addr);
    }
}

static void draw_access(struct rng *r, const struct little *l, struct event *ev)
{
    ev->kind = rng_below(r, 2) ? EV_READ : EV_WRITE;
    ev->size = 1u << rng_below(r, 4);
    ev->addr = rng_below(r, 50) ? l->at + rng_below(r, l->hot / ev->size) * ev->size
                                : l->base + rng_below(r, SPACE / ev->size) * ev->size;
    ev->aux = 1 + rng_below(r, 20);
    ev->flags = rng_below(r, 10) ? 0 : EVF_SYSTEM;
}

static void draw_sync_event(struct rng *r, const struct little *l, struct event *ev)
{
    static const uint8_t kind[] = {EV_ACQUIRE,       EV_RELEASE,        EV_RELEASE,    EV_RELEASE,
                                   EV_VOLATILE_READ, EV_VOLATILE_WRITE, EV_FORK,       EV_JOIN,
                                   EV_THREAD_END,    EV_ACQUIRE_SHARED, EV_CLASS_INIT, EV_CLASS_USE,
                                   EV_RELEASE_SHARED};

    ev->kind = kind[rng_below(r, ARRAY_SIZE(kind))];
    if (event_has_address(ev))
        ev->addr = l->at + 8 * rng_below(r, l->hot / 8);
    else if (ev->kind != EV_THREAD_END)
        ev->aux = rng_below(r, THREADS);
}

/* What the rules take of what is drawn. */
static void draw_little(struct rng *r, struct stream *s)
{
    static const sim_addr base[] = {0x1000, UINT64_MAX - (SPACE - 1), UINT64_C(1) << 45};
    static const uint64_t allocs[] = {0, STEPS / 4, STEPS};
    struct little l = {.base = base[rng_below(r, ARRAY_SIZE(base))],
                       .unit = rng_below(r, 2) ? 4 : 8,
                       .allocs = allocs[rng_below(r, ARRAY_SIZE(allocs))],
                       .hot = 8u << rng_below(r, 4)};
    l.at = l.base + 8 * rng_below(r, (SPACE - l.hot) / 8);
    const uint64_t heap = 1 + rng_below(r, 12), sync = 1 + rng_below(r, 3);
    const struct event gc_end = {.kind = EV_GC_END};
    struct rules *rules = rules_new(true);
    struct err e = {0};

    for (uint64_t step = 0; step < STEPS; step++) {
        struct event ev[EVENT_RECORDS] = {{.tid = (sim_tid)rng_below(r, THREADS)}};
        const uint64_t what = rng_below(r, 8 + heap + sync);
        if (what < heap)
            draw_heap(r, &l, step, ev);
        else if (what < heap + sync)
            draw_sync_event(r, &l, ev);
        else
            draw_access(r, &l, ev);
        err_clear(&e);
        if (!rules_apply(rules, ev, s->events, &e))
            stream_add(s, ev);
    }
    err_clear(&e);
    if (!rules_apply(rules, &gc_end, s->events, &e))
        stream_add(s, &gc_end);
    rules_free(rules);
}

/* ---- what is asked -------------------------------------------------------------------------- */

struct question {
    enum { ASK_RULES, ASK_REST, ASK_TWICE, ASK_ORACLE, ASK_POLICY } of;
    bool full;              /* all contracts are kept */
    unsigned granule, view; /* as the oracle has them */
    const char *policy;
};

static int add_kept(void *arg, const struct event *ev, struct err *e)
{
    (void)e;
    stream_add(arg, ev);
    return 0;
}

static struct stream stripped(const struct stream *s)
{
    struct stream to = {NULL, 0, 0, 0};
    struct used_memory u = {.keep = add_kept, .arg = &to};
    struct err e = {0};

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]))
        used_follow(&u, &s->rec[i]);
    used_again(&u);
    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]))
        used_take(&u, &s->rec[i], &e);
    used_free(&u);
    return to;
}

static void say_event(FILE *to, const struct event *ev)
{
    fprintf(to, "T%u %s %" PRIx64 " %" PRIx64 " %u %u\n", ev->tid, ev_info[ev->kind].text, ev->addr,
            ev->aux, ev->size, ev->flags);
    if (ev->kind == EV_COPY)
        fprintf(to, "from %" PRIx64 "\n", ev[1].addr);
}

static void say_stream(FILE *to, const struct stream *s, bool heap)
{
    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]))
        if (heap || (!event_is_placing(&s->rec[i]) && s->rec[i].kind != EV_IO))
            say_event(to, &s->rec[i]);
}

/* Accesses are numbered among themselves. False: this can't be judged so. */
static bool say_oracle(FILE *to, const struct stream *s, const struct question *q)
{
    const struct oracle_options as = {false, q->granule, q->view};
    struct oracle *o = oracle_new(s->rec, s->records, &as);
    const struct event **ev = stream_index(s);
    size_t *number = xcalloc(s->events + 1, sizeof *number);

    for (size_t e = 0; e < s->events; e++)
        number[e + 1] = number[e] + event_is_access(ev[e]);
    for (size_t e = 0; o && e < s->events; e++) {
        const struct oracle_pair *p;
        const size_t n = oracle_pairs(o, e, &p);
        for (size_t i = 0; i < n; i++)
            fprintf(to, "access %zu with %zu at %" PRIx64 "\n", number[p[i].access],
                    number[p[i].earlier_access], p[i].location);
    }
    free(number);
    free(ev);
    oracle_free(o);
    return o;
}

static void say_side(FILE *to, const struct lardsim_side *is)
{
    if (is->known)
        fprintf(to, " T%u %d at %" PRIu64, is->thread, is->kind, is->site);
}

static bool claims(const char *policy, unsigned all)
{
    return (policy_find(policy)->promise.claims & all) == all;
}

/* Of several bytes of an access, a policy that checks regions late names one, and its other side.
 */
static void say_race(void *arg, const struct lardsim_race *race)
{
    const bool one = claims(race->policy, CLAIM_REGION) && !claims(race->policy, CLAIM_EAGER);

    fprintf(arg, "%u:", race->size);
    say_side(arg, &race->is);
    if (!one) {
        say_side(arg, &race->earlier);
        fprintf(arg, ", %" PRIx64, race->addr);
    }
    fputc('\n', arg);
}

static struct lardsim_event pushed(const struct event *ev)
{
    const bool access = event_is_access(ev);

    return (struct lardsim_event){.addr = ev->addr,
                                  .aux = access ? 0 : ev->aux,
                                  .addr2 = ev->kind == EV_COPY ? ev[1].addr : 0,
                                  .site = access ? event_site(ev) : 0,
                                  .size = ev->size,
                                  .thread = ev->tid,
                                  .flags = ev->flags & (uint16_t)~EVF_MORE,
                                  .kind = ev->kind};
}

static bool say_policy(FILE *to, const struct stream *s, const struct question *q)
{
    struct lardsim *l = lardsim_new();
    char *set = xasprintf("policies=%s", q->policy), granularity[40];
    const bool hardware = claims(q->policy, CLAIM_HARDWARE);
    bool good = !hardware || (!lardsim_preset(l, "radish8") && !lardsim_set(l, "order=recorded"));

    snprintf(granularity, sizeof granularity, "granularity=%u", q->granule);
    good = good && (hardware || !lardsim_set(l, "machine=none")) && !lardsim_set(l, set) &&
           !lardsim_set(l, granularity);
    if (!good)
        die("%s", lardsim_error(l));
    lardsim_on_race(l, say_race, to);
    good = !lardsim_start(l);
    for (size_t i = 0; good && i < s->records; i += event_records(&s->rec[i])) {
        const struct lardsim_event ev = pushed(&s->rec[i]);
        good = !lardsim_event(l, &ev);
    }
    good = good && !lardsim_finish(l);
    free(set);
    lardsim_free(l);
    return good;
}

static bool say(FILE *to, const struct stream *s, const struct question *q)
{
    struct stream less = {NULL, 0, 0, 0};

    switch (q->of) {
    case ASK_RULES:
        return stream_lawful(s, q->full);
    case ASK_REST:
        say_stream(to, s, false);
        return true;
    case ASK_TWICE:
        less = stripped(s);
        say_stream(to, &less, true);
        stream_free(&less);
        return true;
    case ASK_ORACLE:
        return say_oracle(to, s, q);
    case ASK_POLICY:
        return say_policy(to, s, q);
    }
    return false;
}

struct answer {
    bool good; /* it can be asked */
    char *text;
    size_t bytes;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The lines of an answer in an order of their own. */
static void sort_lines(struct answer *a)
{
    char **line = NULL, *sorted = NULL, *rest = NULL;
    size_t n = 0, cap = 0;

    for (char *at = strtok_r(a->text, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest)) {
        line = xgrow(line, n, &cap, sizeof *line);
        line[n++] = at;
    }
    if (n)
        qsort(line, n, sizeof *line, by_text);
    for (size_t i = 0; i < n; i++)
        xappend(&sorted, i ? "\n" : "", line[i]);
    free(line);
    free(a->text);
    a->text = sorted ? sorted : xstrdup("");
}

static struct answer ask(const struct stream *s, const struct question *q)
{
    struct answer a = {.text = NULL};
    FILE *to = open_memstream(&a.text, &a.bytes);

    if (!to)
        die("no memory for an answer");
    a.good = say(to, s, q);
    fclose(to);
    if (q->of == ASK_POLICY && !claims(q->policy, CLAIM_EAGER))
        sort_lines(&a);
    return a;
}

/* Of the whole that can be asked, not the same is said as of what is left. */
static bool differs(const struct stream *s, const void *arg)
{
    struct stream less = stripped(s);
    const struct answer whole = ask(s, arg), left = ask(&less, arg);
    const bool other = whole.good && (!left.good || strcmp(whole.text, left.text));

    free(whole.text);
    free(left.text);
    stream_free(&less);
    return other;
}

/* ---- the property --------------------------------------------------------------------------- */

static const char *const asked[] = {
    [ASK_RULES] = "what is left breaks a rule",
    [ASK_REST] = "other events than the heap's are changed",
    [ASK_TWICE] = "stripped twice it is another trace",
    [ASK_ORACLE] = "other accesses race by the oracle",
    [ASK_POLICY] = "the policy reports other races",
};

static bool holds(struct stream *s, struct question q)
{
    if (!differs(s, &q))
        return true;
    stream_minimise(s, q.full, differs, &q);
    struct stream less = stripped(s);
    const struct answer whole = ask(s, &q), left = ask(&less, &q);
    printf("FAILED: %s, granularity %u, view %u, policy %s. The whole, as small as it goes:\n",
           asked[q.of], q.granule, q.view, q.policy ? q.policy : "none");
    stream_print(s, NULL, stdout);
    printf("What is left:\n");
    stream_print(&less, NULL, stdout);
    printf("Of the whole:\n%s\nOf what is left:\n%s\n", whole.text, left.text);
    free(whole.text);
    free(left.text);
    stream_free(&less);
    return false;
}

static bool holds_by_granules(struct stream *s, struct question q)
{
    static const unsigned granule[] = {1, 4, 8};
    bool good = true;

    for (size_t i = 0; good && i < ARRAY_SIZE(granule); i++) {
        q.granule = granule[i];
        good = holds(s, q);
    }
    return good;
}

/* All, but what is ignored is ignored together. */
static bool holds_in_views(struct stream *s, struct question q)
{
    static const unsigned view[] = {0,
                                    ORACLE_ALL_MEMORY,
                                    ORACLE_ALL_SYNC,
                                    ORACLE_NO_THREAD,
                                    ORACLE_NO_CLEAR | ORACLE_NO_COPY,
                                    ORACLE_ALL_MEMORY | ORACLE_ALL_SYNC | ORACLE_NO_CLEAR |
                                        ORACLE_NO_COPY};
    bool good = true;

    for (size_t i = 0; good && i < ARRAY_SIZE(view); i++) {
        q.view = view[i];
        good = holds_by_granules(s, q);
    }
    return good;
}

static const char *exact_policy(uint64_t turn)
{
    const char *name[64];
    size_t n = 0;

    for (size_t i = 0; policies[i] && n < ARRAY_SIZE(name); i++)
        if (claims(policies[i]->name, CLAIM_SOUND | CLAIM_PRECISE))
            name[n++] = policies[i]->name;
    return n ? name[turn % n] : "vc";
}

/* Allocations, clears and copies. */
static uint64_t placings(const struct stream *s)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]))
        n += event_is_placing(&s->rec[i]);
    return n;
}

struct sums {
    uint64_t placings, left;
};

static bool all_hold(struct stream *s, const char *policy)
{
    struct question q = {.full = stream_lawful(s, true)};
    static const unsigned once[] = {ASK_RULES, ASK_REST, ASK_TWICE};

    for (size_t i = 0; i < ARRAY_SIZE(once); i++) {
        q.of = once[i];
        if (!holds(s, q))
            return false;
    }
    q.of = ASK_ORACLE;
    if (!holds_in_views(s, q))
        return false;
    q.of = ASK_POLICY;
    q.policy = "vc";
    if (!holds_by_granules(s, q))
        return false;
    q.policy = policy;
    return holds_by_granules(s, q);
}

static bool seed_holds(uint64_t seed, const char *policy, struct sums *sums)
{
    struct stream s = {NULL, 0, 0, 0};
    struct rng r;

    rng_seed(&r, seed);
    if (seed % 2) {
        draw_little(&r, &s);
    } else {
        const struct synth_params p = draw_params(&r, seed);
        draw_stream(&s, &p);
        if (!p.raw)
            draw_changes(&r, &s, false);
    }
    struct stream less = stripped(&s);
    sums->placings += placings(&s);
    sums->left += placings(&less);
    stream_free(&less);
    const bool good = all_hold(&s, policy ? policy : exact_policy(seed / 2));
    if (!good)
        printf("seed %" PRIu64 "\n", seed);
    stream_free(&s);
    return good;
}

int main(int argc, char **argv)
{
    const struct seeds is = seeds_arg(argc, argv, SEEDS, NULL);
    struct sums sums = {0, 0};

    if (is.policy && !policy_find(is.policy)) {
        printf("SKIPPED: this build has no policy %s; nothing was tested of it\n", is.policy);
        return 77;
    }
    for (uint64_t seed = is.first; seed - is.first < is.n; seed++)
        if (!seed_holds(seed, is.policy, &sums))
            return 1;
    printf("strip: %" PRIu64 " traces from seed %" PRIu64 ", %" PRIu64 " of %" PRIu64
           " allocations, clears and copies left\n",
           is.n, is.first, sums.left, sums.placings);
    if (is.n >= SEEDS && sums.left > sums.placings / 10 * 9) {
        printf("FAILED: hardly anything is left out, so this shows little\n");
        return 1;
    }
    return 0;
}
