/* predict.c - a program in the model: captured with less work and with more, run on the machine
 * that stands for the host without a policy and with tsan. What more work adds is a unit of it
 * without beginning and end, in caches that are warm. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/job/stopped.h"
#include "results/job/told.h"
#include "results/validate/validate.h"
#include "sim/lardsim.h"

static int capture(const struct tools *t, const struct subject *s, unsigned threads, enum work work,
                   const char *to, struct err *e)
{
    char *text = native_command(t, s, BUILD_CAPTURE, threads, work);
    const char *const argv[] = {t->self,       "capture", "native", "-q", "-o", to,
                                "--overwrite", "--",      "sh",     "-c", text, NULL};
    struct child_process c;
    int failed = child_run(&c, argv, e);

    if (!failed && child_failed(&c))
        failed = err_set(e, LARD_USAGE, "%s can't be captured: %s", s->name, child_complaint(&c));
    child_free(&c);
    free(text);
    return failed;
}

struct model_run {
    uint64_t busy, events, races;
};

/* The parts of a core's time in which it was busy. Waiting for each other is none, as that takes no
 * processor time. */
static const char *const busy[] = {"executing", "l1",     "l2",           "l3",
                                   "remote",    "memory", "store-buffer", "misses",
                                   "atomic",    "switch", "stopped",      "handler"};

/* others: a program that has threads as it likes, on all processors. */
static int run(const struct host_facts *h, const char *policy, unsigned threads, bool others,
               const char *trace, struct model_run *to, struct err *e)
{
    struct host_setting set[HOST_SETTINGS];
    const size_t n = host_settings(h, others ? h->cores : threads, set);
    struct lardsim *l = lardsim_new();
    char *text = xasprintf("policies=%s", policy);
    int failed = lardsim_set(l, "machine=multicore") || lardsim_set(l, text);

    for (size_t i = 0; i < n && !failed; i++)
        failed = lardsim_set(l, set[i].text);
    if (others && !failed)
        failed = lardsim_set(l, "schedule.threads=round-robin");
    stop_run(l);
    failed = failed || lardsim_start(l) || lardsim_run(l, trace) || lardsim_finish(l);
    stop_run(NULL);
    free(text);
    *to = (struct model_run){.events = lardsim_events(l)};
    for (size_t i = 0; i < ARRAY_SIZE(busy) && !failed; i++) {
        uint64_t part;
        failed = !run_stat(l, &part, "machine.spent.%s", busy[i]);
        to->busy += part;
    }
    run_stat(l, &to->races, "policy.%s.races.accesses", policy);
    if (failed)
        err_set(e, (enum lard_exit)lardsim_exit_code(l), "the model of this host: %s",
                lardsim_error(l) ? lardsim_error(l) : "a statistic is not there");
    lardsim_free(l);
    return failed ? -1 : 0;
}

int native_predict(const struct tools *t, const struct host_facts *h, const struct subject *s,
                   unsigned threads, const struct timing *m, struct forecast *to, struct err *e)
{
    char *trace[2] = {xasprintf("%s/once.lard", t->work), xasprintf("%s/twice.lard", t->work)};
    static const char *const policy[2] = {"none", "tsan"};
    struct model_run r[2][2];
    int failed = 0;

    for (unsigned i = 0; i < 2 && !failed; i++) {
        failed = capture(t, s, threads, (enum work)i, trace[i], e);
        for (unsigned p = 0; p < 2 && !failed; p++)
            failed = run(h, policy[p], threads, s->recipe != NULL, trace[i], &r[i][p], e);
    }
    free(trace[0]);
    free(trace[1]);
    if (failed)
        return -1;
    to->events = r[1][0].events - r[0][0].events;
    to->races = r[1][1].races;
    to->plain = (double)r[1][0].busy - (double)r[0][0].busy;
    to->tsan = (double)r[1][1].busy - (double)r[0][1].busy;
    to->added = (to->tsan - to->plain) * h->value[HOST_CYCLE].least;
    to->slowdown = 1 + to->added / m->time[BUILD_PLAIN].median;
    return 0;
}
