/* verdict_hardware.c - see the header. */
#include "tests/policy/radish/verdict_hardware.h"

#include <inttypes.h>
#include <string.h>

const char *const hardware_seen[] = {
    "races.accesses",
    "permissions.lowered",
    "checks.piggybacked",
    "permissions.taken",
    "queue.checks",
    "lines.dirty",
    "lines.homeless",
    "flushes.lazy",
    "flushes.eager",
    "roll-overs",
    "heap.in-cache",
    "heap.moves",
    NULL,
};

bool hardware_policy(const char *policy)
{
    return policy_find(policy)->promise.claims & CLAIM_HARDWARE;
}

/* ---- a run ---------------------------------------------------------------------------------- */

static sim_cycle run_event(void *self, struct checker *c, const struct event *ev, sim_cycle now)
{
    struct fake *f = self;
    struct hardware *h = f->arg;

    h->shift += rng_chance(&f->rng, 20, 1000);
    now = fake_step(f, c, ev, (ev->tid + h->shift) % f->cores, now);
    if (h->events++ % 64 == 0) {
        const void *detector;
        checker_policy(c, &detector)->detector->check(detector);
    }
    return now;
}

static const struct verdict_host *open_machine(void *arg)
{
    struct hardware *h = arg;
    struct fake *f = &h->fake;

    if (!h->machine)
        return NULL;
    fake_open(f, h->seed);
    f->cores = f->machine.cores = h->cores;
    f->line = f->machine.line = h->line;
    f->private_lines = h->private_lines;
    f->shared_lines = h->shared_lines;
    f->loss = h->loss;
    fake_mix(f, h->mixes);
    f->arg = h;
    h->shift = 0;
    h->events = 0;
    h->host = (struct verdict_host){
        .self = f, .machine = &f->machine, .exec = fake_exec, .mem = fake_mem, .event = run_event};
    return &h->host;
}

static void close_machine(void *arg, const struct stats *stats)
{
    struct hardware *h = arg;

    for (size_t i = 0; hardware_seen[i]; i++) {
        char name[64];
        uint64_t value = 0;
        snprintf(name, sizeof name, "policy.a.%s", hardware_seen[i]);
        if (!stats_value(stats, name, &value))
            die("no statistic %s", name);
        h->seen[i] += value;
    }
    if (h->machine)
        fake_close(&h->fake);
}

/* ---- a draw --------------------------------------------------------------------------------- */

static void set(struct hardware *h, const char *name, const char *value)
{
    size_t i = 0;

    while (h->setting[i])
        i++;
    snprintf(h->text[i], sizeof h->text[i], "%s=%s", name, value);
    h->setting[i] = h->text[i];
}

static void set_number(struct hardware *h, const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, value);
    set(h, name, text);
}

static void draw_settings(struct hardware *h, struct rng *r)
{
    const uint64_t bits = rng_below(r, 8);

    set_number(h, "clock-bits", bits ? bits + 3 : 0);
    set(h, "flush", rng_below(r, 2) ? "eager" : "lazy");
    set(h, "checks", rng_below(r, 2) ? "queued" : "synchronous");
    set_number(h, "queue", 1 + rng_below(r, 8));
    set(h, "answers", rng_below(r, 4) ? "line" : "granules");
    set(h, "fill", rng_below(r, 4) ? "checks" : "status");
    set(h, "empty", (const char *const[]){"ask", "page", "line"}[rng_below(r, 3)]);
    set(h, "overlap", rng_below(r, 2) ? "max" : "sum");
    set_number(h, "page", UINT64_C(512) << rng_below(r, 4));
    set(h, "in-cache-copy", rng_below(r, 2) ? "on" : "off");
    set(h, "move-history", rng_below(r, 2) ? "on" : "off");
    set(h, "runtime", rng_below(r, 2) ? "on" : "off");
    set_number(h, "spare-core", rng_below(r, 6));
    set_number(h, "manager.enter", rng_below(r, 2) * rng_below(r, 1000));
}

void hardware_draw(struct hardware *h, struct rng *r, uint64_t *seen)
{
    *h = (struct hardware){.seed = rng_next(r), .machine = rng_below(r, 8), .seen = seen};
    h->cores = 1 + (unsigned)rng_below(r, 4);
    h->line = 16u << rng_below(r, 4);
    h->private_lines = 2 + (unsigned)rng_below(r, 8);
    h->shared_lines = h->private_lines * h->cores + 1 + (unsigned)rng_below(r, 12);
    h->loss = (unsigned)rng_below(r, 3) * 40;
    h->mixes = rng_next(r) & 0x7000;
    draw_settings(h, r);
    h->is = (struct verdict_hardware){
        .settings = h->setting, .open = open_machine, .close = close_machine, .arg = h};
}

void hardware_print(const struct hardware *h, FILE *out)
{
    for (size_t i = 0; h->setting[i]; i++)
        fprintf(out, "%s%s", i ? ", " : "", h->setting[i]);
    if (h->machine)
        fprintf(out,
                "; caches of %u private and %u shared lines of %u bytes, %u cores, loss %u, seed "
                "%" PRIu64 "\n",
                h->private_lines, h->shared_lines, h->line, h->cores, h->loss, h->seed);
    else
        fprintf(out, "; no machine\n");
}
