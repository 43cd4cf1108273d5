/* reduce.c - lardsim trace reduce: a small legal trace that still shows something. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/trace/trace.h"
#include "results/reduce/reduce.h"
#include "sim/sim.h"
#include "base/program/stop.h"

enum { OPT_KEEP = 560, OPT_TESTS };
enum { TESTS_MOST = 20000 };

/* ---- writing it ----------------------------------------------------------------------------- */

struct written_part {
    struct sink *to;
    const struct names *of;
    struct names *names; /* owns; those that are needed */
    bool *thread;        /* owns; those that act */
    uint64_t threads;
    struct err *err;
};

static bool write_event(void *arg, const struct lardsim_event *kept, uint64_t index)
{
    struct written_part *w = arg;
    struct event ev[EVENT_RECORDS];

    (void)index;
    sim_record(kept, ev);
    w->threads += !w->thread[ev->tid];
    w->thread[ev->tid] = true;
    return !names_for(w->names, w->of, ev, w->err) && !w->to->names(w->to, w->names, w->err) &&
           !w->to->event(w->to, ev, w->err);
}

static int write_part(const struct trace_part *p, const struct cli *c, uint64_t *threads,
                      struct err *e)
{
    const struct sink_info info = source_copy_info(sim_source(p->source), 0);
    struct out out = {.file = NULL};
    struct written_part w = {.of = sim_source(p->source)->names, .names = names_new(), .err = e};

    w.thread = xcalloc(MAX_THREADS, sizeof *w.thread);
    int failed = out_open(&out, c, c->arg[1], &info, e);
    w.to = out.sink;
    failed = failed || part_each(p, p->kept, write_event, &w, e) || e->code;
    failed = out_close(&out, failed, e);
    *threads = w.threads;
    names_free(w.names);
    free(w.thread);
    return failed;
}

/* ---- the verb ------------------------------------------------------------------------------- */

static void print(const struct search *s, uint64_t all, uint64_t threads, const struct cli *c)
{
    char *what = keep_says(s->keep);

    print_visible(stdout, c->arg[1]);
    printf(": %" PRIu64 " of %" PRIu64 " events, %" PRIu64 " thread%s, after %" PRIu64
           " candidates\nkept: ",
           s->part->count, all, threads, threads == 1 ? "" : "s", s->tests);
    print_visible(stdout, what);
    putchar('\n');
    free(what);
}

/* Refuses a trace that is not legal: rules that it does not obey can't make it smaller. */
static int check_legal(const struct trace_part *p, struct err *e)
{
    uint64_t *all = bits_copy(p->kept, p->n), dropped = 0;
    const int failed = part_repair(p, all, &dropped, e);

    free(all);
    if (failed || !dropped)
        return failed;
    return err_set(e, LARD_TRACE,
                   "%s: it breaks stream rules, and what is left of it would, too; `lardsim trace "
                   "verify` names the first",
                   p->spec);
}

static int reduce(const struct cli *c, struct trace_part *p, struct aim *k, struct err *e)
{
    struct progress progress;
    struct search s = {.part = p, .keep = k, .progress = &progress, .most = TESTS_MOST, .err = e};
    uint64_t threads;

    if (cli_u64(c, OPT_TESTS, &s.most, e) || part_open(p, c->arg[0], e) || check_legal(p, e) ||
        keep_begin(k, p, e))
        return -1;
    const uint64_t all = p->n;
    progress_begin(&progress, cli_has(c, OPT_QUIET), 0);
    const int failed = search_run(&s);
    progress_clear(&progress);
    if (failed || write_part(p, c, &threads, e))
        return -1;
    if (s.stopped)
        print_note("warning: stopped after %" PRIu64
                   " candidates; more (--tests) may make it smaller",
                   s.tests);
    if (!cli_has(c, OPT_QUIET) && strcmp(c->arg[1], "-") != 0)
        print(&s, all, threads, c);
    return 0;
}

static int check(const struct cli *c, struct err *e)
{
    if (!cli_has(c, OPT_KEEP))
        return err_set(e, LARD_USAGE,
                       "trace reduce: --keep is missing: 'race ID', 'differ P Q' or 'exit N'");
    if (!strcmp(c->arg[0], "-"))
        return err_set(
            e, LARD_USAGE,
            "trace reduce: IN is read many times, which a pipe can't be; write it to a file first");
    return out_check(c, c->arg[1], e);
}

static int reduce_run(const struct cli *c, struct err *e)
{
    struct trace_part part = {.spec = NULL};
    struct given g = cli_given(c);
    struct aim keep = {.given = &g};
    const int failed =
        check(c, e) || keep_open(&keep, &g, cli_get(c, OPT_KEEP), e) || reduce(c, &part, &keep, e);

    keep_free(&keep);
    given_free(&g);
    part_close(&part);
    return failed ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {
    OPTION("keep", OPT_KEEP, "WHAT", "What must stay so: 'race ID', 'differ P Q' or 'exit N'"),
    OPTION("policy", 'p', "SPEC", "Of 'race' and 'exit': run this policy (vc); may be repeated"),
    OPTION("config", OPT_CONFIG, "FILE",
           "Read parameters of the runs from a YAML file, or take a preset; may be repeated"),
    OPTION("preset", OPT_PRESET, "PRESET",
           "Take the parameters of a preset for the runs; may be repeated"),
    OPTION("set", OPT_SET, "NAME=VALUE", "Set a parameter of the runs; may be repeated"),
    OPTION("tests", OPT_TESTS, "N", "Try so many candidates at most (20000)"),
    ROWS_OUT,
    ROW_END};

const struct verb verb_trace_reduce = {
    .help = &verb_help[HELP_trace_reduce], .options = options, .run = reduce_run};
