/* probe.h - for tests of the detectors in hardware: one of them on fake caches, whole or
 * event by event, with what each step did and cost. */
#ifndef LARDSIM_RADISH_PROBE_H
#define LARDSIM_RADISH_PROBE_H

#include "policy/radish/radish.h"
#include "tests/policy/radish/fake_caches.h"
#include "tests/frame/number.h"
#include "tests/frame/watch.h"

enum { SETTINGS = 12 };

/* ---- a run, on a machine or not ------------------------------------------------------------- */

struct drawn { /* what a policy runs with */
    const char *policy;
    unsigned granule;
    char text[SETTINGS][40];
    const char *setting[SETTINGS + 1];
};

static inline void add(struct drawn *d, const char *name, const char *value)
{
    size_t i = 0;

    while (d->setting[i])
        i++;
    snprintf(d->text[i], sizeof d->text[i], "%s=%s", name, value);
    d->setting[i] = d->text[i];
}

static inline void add_number(struct drawn *d, const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    add(d, name, text);
}

static inline void open_on(struct watch *w, struct fake *f, const struct drawn *d)
{
    char *spec = xasprintf("a=%s", d->policy);

    *w = (struct watch){.config = config_new(NULL), .stats = stats_new()};
    for (size_t i = 0; d->setting[i]; i++) {
        char *text = xasprintf("policy.a.%s", d->setting[i]);
        if (config_set(w->config, text, &w->err))
            die("%s", w->err.text);
        free(text);
    }
    if (config_set(w->config, "policy.a.runtime=off", &w->err)) /* it has tests of its own */
        die("%s", w->err.text);
    const struct checker_env env = {.config = w->config,
                                    .stats = w->stats,
                                    .number = &w->number,
                                    .granule = d->granule,
                                    .lines = UINT64_MAX,
                                    .on_race = watch_race,
                                    .on_conflict = watch_conflict,
                                    .on_race_arg = w,
                                    .err = &w->err,
                                    .machine = f ? &f->machine : NULL,
                                    .host = f,
                                    .exec = f ? fake_exec : NULL,
                                    .mem = f ? fake_mem : NULL};
    w->checker = checker_new(spec, &env, &w->err);
    free(spec);
}

static inline struct radish *inside(const struct watch *w)
{
    const void *self;

    checker_policy(w->checker, &self);
    return (struct radish *)(uintptr_t)self;
}

/* One event on a core of the fake machine, data and all. */
static inline sim_cycle step_on(struct watch *w, struct fake *f, const struct event *ev,
                                unsigned core, sim_cycle now)
{
    return fake_step(f, w->checker, ev, core, now);
}

/* ---- one step at a time --------------------------------------------------------------------- */

enum { A = 0x10000, B = 0x20000, LOCK = 0x70000000 };

struct probe { /* four cores that forget nothing; thread t is on core t */
    struct watch w;
    struct fake f;
    struct drawn d;
    struct radish_stats was; /* before the latest step */
    uint64_t drops;
};

static inline void probe_open_on(struct probe *p, const char *policy, unsigned granule,
                                 unsigned line, const char *const *settings)
{
    p->d = (struct drawn){.policy = policy, .granule = granule};
    for (size_t i = 0; settings[i]; i++)
        p->d.setting[i] = settings[i];
    fake_open(&p->f, 1);
    p->f.line = p->f.machine.line = line;
    p->f.cores = p->f.machine.cores = 4;
    p->f.private_lines = 32;
    p->f.shared_lines = 400;
    p->f.loss = 0;
    open_on(&p->w, &p->f, &p->d);
    if (!p->w.checker)
        die("%s", p->w.err.text);
}

static inline void probe_open(struct probe *p, const char *policy, unsigned granule,
                              const char *const *settings)
{
    probe_open_on(p, policy, granule, 64, settings);
}

static inline void probe_close(struct probe *p)
{
    if (!p->w.err.code)
        checker_finish(p->w.checker);
    watch_close(&p->w);
    fake_close(&p->f);
}

/* Returns how many cycles it took. */
static inline sim_cycle step_at(struct probe *p, const struct event *ev, sim_cycle now)
{
    p->was = inside(&p->w)->st;
    p->drops = p->f.drops;
    const sim_cycle done = step_on(&p->w, &p->f, ev, ev->tid, now);
    p->w.number++;
    return done - now;
}

static inline sim_cycle step(struct probe *p, struct event ev)
{
    return step_at(p, &ev, 1000000 + 100000 * p->w.number);
}

/* By how much the latest step has raised a statistic. */
#define GROWTH(p, field)  (inside(&(p)->w)->st.field - (p)->was.field)
#define GREW(p, field, n) number_is("what the step adds to " #field, GROWTH(p, field), n)
#define CHECKED(p, n)                                                                              \
    number_is("history lines that the step checked", GROWTH(p, loads) + GROWTH(p, stores), n)
#define RACES(p, n)       number_is("the number of races found so far", (p)->w.races, n)

#define READ(t, a, n)  (struct event) EV_SIZED(READ, t, a, n)
#define WRITE(t, a, n) (struct event) EV_SIZED(WRITE, t, a, n)
#define ON(k, t, a)    (struct event) EV_ON(k, t, a)
#define DEFAULTS                                                                                   \
    (const char *const[])                                                                          \
    {                                                                                              \
        NULL                                                                                       \
    }
#define WITH(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static inline void copy(struct probe *p, sim_tid t, sim_addr to, sim_addr from, uint64_t n)
{
    const struct event ev[] = {EV_MOVE(t, to, from, n)};

    step_at(p, ev, 1000000 + 100000 * p->w.number);
}

#endif
