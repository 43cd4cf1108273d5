/* program.h - for tests of program order: programs of a test's own are run on a machine, the
 * execution is kept as a trace, and read back. It judges nothing itself but that runs end well. */
#ifndef LARDSIM_TESTS_PROGRAM_H
#define LARDSIM_TESTS_PROGRAM_H

#include "sim/session/session.h"
#include "tests/frame/timed_run.h"
#include "tests/frame/verdict.h"
#include "workloads/vm/vm_int.h"

typedef void program_main(struct vm_thread *t, const void *p);

struct executed { /* what a run gave */
    int code;
    char error[600];
    uint64_t digest, events, cycles, switches, waited, racy, locations;
    uint64_t mix; /* of the races: number, place, earlier one */
    bool *race;   /* owns; by event: the policy vc reports one */
    size_t events_cap;
};

static inline void executed_race(void *arg, const struct lardsim_race *r)
{
    struct executed *x = arg;

    if (strcmp(r->policy, "vc") != 0)
        return;
    x->mix = x->mix * 31 + r->is.event * 7 + r->earlier.event + r->addr * 3 + r->is.thread;
    while (x->events_cap <= r->is.event) {
        const size_t n = 2 * x->events_cap + 1024;
        x->race = xrecalloc(x->race, x->events_cap, n, sizeof *x->race);
        x->events_cap = n;
    }
    x->race[r->is.event] = true;
}

static inline void executed_read(struct executed *x, struct lardsim *l)
{
    lardsim_finish(l);
    x->code = lardsim_exit_code(l);
    snprintf(x->error, sizeof x->error, "%s", lardsim_error(l) ? lardsim_error(l) : "");
    x->digest = lardsim_digest(l);
    x->events = lardsim_events(l);
    lardsim_stat(l, "machine.cycles", &x->cycles);
    lardsim_stat(l, "schedule.switches", &x->switches);
    lardsim_stat(l, "machine.spent.wait-lock", &x->waited);
    lardsim_stat(l, "policy.vc.races.accesses", &x->racy);
    lardsim_stat(l, "policy.vc.races.locations", &x->locations);
    lardsim_free(l);
}

static inline struct lardsim *execution_new(struct executed *x, const char *settings)
{
    struct lardsim *l = lardsim_new();

    *x = (struct executed){.code = 0};
    ran_set(l, settings);
    lardsim_on_race(l, executed_race, x);
    return l;
}

/* keep: a file for the execution, or NULL. */
static inline void execute_program(struct executed *x, program_main *program,
                                   const struct vm_params *p, const char *settings,
                                   const char *keep)
{
    struct err e = {0};
    struct workload w = {.name = "test", .main = program};
    struct vm *v = vm_open(&w, p, NULL, NULL, &e);
    struct lardsim *l = execution_new(x, settings);

    assert_non_null(v);
    if (keep)
        assert_int_equal(lardsim_record(l, keep, true), 0);
    if (lardsim_start(l))
        source_close(&v->source);
    else
        session_pull(l, &v->source, "workload:test");
    executed_read(x, l);
}

static inline void execute_source(struct executed *x, const char *source, const char *settings,
                                  const char *keep)
{
    struct lardsim *l = execution_new(x, settings);

    if (keep)
        assert_int_equal(lardsim_record(l, keep, true), 0);
    if (!lardsim_start(l))
        lardsim_run(l, source);
    executed_read(x, l);
}

static inline void executed_free(struct executed *x)
{
    free(x->race);
}

static inline struct vm_params program_params(uint64_t threads)
{
    return (struct vm_params){.seed = 1,
                              .threads = threads,
                              .quantum = 10,
                              .heap = 1 << 20,
                              .nursery = 1 << 16,
                              .tlab = 1024,
                              .instructions = 100 * VM_GAP,
                              .slower = 100,
                              .schedule = VM_RANDOM};
}

/* The file of the test's own. */
static inline const char *kept_path(char to[200])
{
    snprintf(to, 200, "%s/t_program.%ld.lard", ran_tmp(), (long)getpid());
    return to;
}

/* The whole trace, held against all stream rules; why: "" or what is wrong. */
static inline void kept_read(struct stream *to, const char *path, char why[400])
{
    struct rules *rules = rules_new(true);
    struct err e = {0};
    struct batch b;
    struct source *s = source_open(path, &e);
    uint64_t number = 0;

    *to = (struct stream){0};
    why[0] = 0;
    while (s && !e.code && !source_next(s, &b, &e) && b.records)
        for (size_t i = 0; i < b.records && !e.code; i += event_records(&b.rec[i])) {
            stream_add(to, &b.rec[i]);
            rules_apply(rules, &b.rec[i], number++, &e);
        }
    if (!e.code)
        rules_finish(rules, &e);
    if (e.code)
        snprintf(why, 400, "%.390s", e.text);
    source_close(s);
    rules_free(rules);
}

#endif
