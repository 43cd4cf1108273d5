/* checks.c - what a check costs on this machine: a few events run on it, one more each time, and
 * what the last one adds is what it costs. So nothing is said here that the policy and the caches
 * have not done. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/drawing/drawing.h"
#include "results/job/told.h"

/* Places of the probes: two neighbours, whose metadata are neighbours, too, and a lock far away. */
enum { HERE = 0x10000, BESIDE = HERE + 4, LOCK = 0x20000, BYTES = 4 };

static const struct probe {
    unsigned thread;
    enum lardsim_kind kind;
    uint64_t addr;    /* or the object; the thread, of a fork */
    const char *what; /* NULL: it only leads to the next */
} probes[] = {
    {0, LARDSIM_FORK, 1, NULL},
    {0, LARDSIM_ACQUIRE, LOCK, NULL},
    {0, LARDSIM_WRITE, HERE, "the first write, metadata in no cache"},
    {0, LARDSIM_WRITE, HERE, "the same write again"},
    {0, LARDSIM_READ, HERE, "a read of it"},
    {0, LARDSIM_READ, HERE, "the same read again"},
    {0, LARDSIM_WRITE, BESIDE, "the first write to its neighbour"},
    {0, LARDSIM_RELEASE, LOCK, "the release of a lock"},
    {1, LARDSIM_ACQUIRE, LOCK, "its acquire by another core"},
    {1, LARDSIM_READ, HERE, "a read of what the other core wrote"},
    {1, LARDSIM_WRITE, HERE, "a write to it"},
};

struct cost { /* up to and including an event */
    uint64_t cycles, instructions, accesses;
};

static uint64_t stat_of(const struct lardsim *l, const char *group, const char *name)
{
    uint64_t v;

    run_stat(l, &v, "%s%s", group, name);
    return v;
}

static int push(struct lardsim *l, const struct probe *p)
{
    if (p->kind == LARDSIM_READ || p->kind == LARDSIM_WRITE)
        return lardsim_access(l, p->thread, p->kind, p->addr, BYTES, 0, 0);
    return p->kind == LARDSIM_FORK ? lardsim_sync(l, p->thread, p->kind, 0, p->addr, 0, 0)
                                   : lardsim_sync(l, p->thread, p->kind, p->addr, 0, 0, 0);
}

/* The i-th policy alone, on the machine that is given. Events are pushed, in an order of time
 * where the program's own, or a host's, would decide. */
static int configure(struct lardsim *l, const struct given *g, const struct machine_drawing *d,
                     size_t i)
{
    char *one = xasprintf("policies=%s", d->spec[i]);
    int failed = drawing_settings(l, g);
    const char *order = lardsim_given(l, "order");

    if (!failed && order && (!strcmp(order, "program") || !strcmp(order, "host")))
        failed = lardsim_set(l, "order=timed");
    /* The granularity is that of a trace of a program with accesses of words. */
    if (!failed && !lardsim_given(l, "granularity"))
        failed = lardsim_set(l, "granularity=4");
    failed = failed || lardsim_set(l, one);
    lardsim_others(l, (const char *const *)d->spec, d->specs);
    free(one);
    return failed;
}

static void read_cost(struct cost *to, const struct lardsim *l)
{
    char *group = xasprintf("policy.%s.cost.", lardsim_policy(l, 0));

    to->cycles = stat_of(l, "machine.spent.", "handler") + stat_of(l, "machine.spent.", "stopped");
    to->instructions = stat_of(l, group, "instructions");
    to->accesses =
        stat_of(l, group, "loads") + stat_of(l, group, "stores") + stat_of(l, group, "atomics");
    free(group);
}

/* Adds the cost of the first n events under the i-th policy. */
static int run_some(struct cost *to, const struct given *g, const struct machine_drawing *d,
                    size_t i, size_t n, struct err *e)
{
    struct lardsim *l = lardsim_new();
    int failed = configure(l, g, d, i) || lardsim_start(l);

    for (size_t k = 0; k < n && !failed; k++)
        failed = push(l, &probes[k]);
    failed = failed || lardsim_finish(l);
    if (failed)
        err_set(e, (enum lard_exit)lardsim_exit_code(l), "%s", lardsim_error(l));
    else
        read_cost(to, l);
    lardsim_free(l);
    return failed ? -1 : 0;
}

static void say_cost(struct box *b, const char *what, const struct cost *before,
                     const struct cost *is)
{
    const uint64_t cycles = is->cycles - before->cycles;
    const uint64_t instructions = is->instructions - before->instructions;
    char *more = instructions ? xasprintf(", %" PRIu64 " instructions, %" PRIu64 " accesses",
                                          instructions, is->accesses - before->accesses)
                              : xstrdup("");

    box_say(b, "%s: %" PRIu64 " cycle%s%s", what, cycles, cycles == 1 ? "" : "s", more);
    free(more);
}

static int draw_checks(struct machine_drawing *d, const struct given *g, size_t i, struct err *e)
{
    struct box *b =
        box_new(d->box, 1, "what %.*s adds to an event", (int)policy_label(d->spec[i]), d->spec[i]);
    struct cost before = {0, 0, 0}, is = before;

    b->aside = true;
    box_say(b, "accesses have 4 bytes, and so have granules, unless the configuration says else");
    for (size_t n = 1; n <= ARRAY_SIZE(probes); n++) {
        if (run_some(&is, g, d, i, n, e))
            return -1;
        if (probes[n - 1].what)
            say_cost(b, probes[n - 1].what, &before, &is);
        before = is;
    }
    return 0;
}

int checks_draw(struct machine_drawing *d, const struct given *g, struct err *e)
{
    for (size_t i = 0; i < d->specs; i++)
        if (d->takes_time[i] && draw_checks(d, g, i, e))
            return -1;
    return 0;
}
