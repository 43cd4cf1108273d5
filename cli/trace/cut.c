/* cut.c - a part of a trace as a trace of its own, with the original numbers. Limitation:
 * what happened before the part (who holds which lock) is not carried over. */
#include <inttypes.h>

#include "cli/trace/trace.h"

struct cut {
    struct source *from;
    struct event_range part;
    const struct cli *cli;
    struct out out;
    uint64_t first, next; /* numbers of what was taken */
};

static int open_output(struct cut *c, uint64_t first, struct err *e)
{
    const struct sink_info info = source_copy_info(c->from, first);

    c->first = first;
    return out_open(&c->out, c->cli, c->cli->arg[1], &info, e);
}

/* The output is opened with the first event that is taken, whose number it begins with. */
static int take(void *arg, const struct event *ev, uint64_t number, struct err *e)
{
    struct cut *c = arg;
    struct sink *to;

    if (part_takes(&c->part, ev, number)) {
        if (!c->out.sink && open_output(c, number, e))
            return WALK_FAIL;
        to = c->out.sink;
        /* Names first: a reader is to know a name when it meets the event that uses it. */
        if (to->names(to, c->from->names, e) || to->event(to, ev, e))
            return WALK_FAIL;
        c->next = number + 1;
    }
    return c->part.done ? WALK_STOP : WALK_ON;
}

static int nothing_taken(const struct cut *c, const char *lost, struct err *e)
{
    const char *what = c->part.roi ? "region of interest" : "event";

    if (*lost)
        return err_set(e, LARD_TRACE,
                       "%s: %s; before that there is no %s at or after number %" PRIu64 " to take",
                       c->from->name, lost, what, c->part.first);
    return err_set(e, LARD_TRACE,
                   "%s: there is no event to take: no %s at or after number %" PRIu64
                   "; `lardsim trace info` shows the numbers",
                   c->from->name, what, c->part.first);
}

/* lost: why the source ended early, once it has; "": it has not. */
static int cut(struct cut *c, const char *lost, struct err *e)
{
    int failed = source_walk(c->from, take, c, e);

    if (!failed && !c->out.sink)
        return nothing_taken(c, lost, e);
    failed = failed || c->out.sink->names(c->out.sink, c->from->names, e);
    return out_close(&c->out, failed, e);
}

static int cut_run(const struct cli *cli, struct err *e)
{
    struct cut c = {.cli = cli};
    const char *lost = "";
    struct progress progress;
    struct budget all;

    if (part_options(&c.part, cli, e) || memory_option(&all, cli, e))
        return -1;
    if (c.part.count == 0)
        return err_set(e, LARD_USAGE, "trace cut: --count 0 takes no event; give at least 1");
    if (out_check(cli, cli->arg[1], e))
        return -1;
    progress_begin(&progress, cli_has(cli, OPT_QUIET), 1);
    c.from =
        shown_source(&progress, stopped_source(charged(cli_has(cli, OPT_SALVAGE)
                                                           ? source_salvage(cli->arg[0], &lost, e)
                                                           : source_open(cli->arg[0], e),
                                                       &all)));
    if (!c.from)
        return -1;
    const int failed = cut(&c, lost, e);
    progress_clear(&progress);
    if (!failed && *lost)
        print_note("%s: %s; kept the events %" PRIu64 " to %" PRIu64, c.from->name, lost, c.first,
                   c.next - 1);
    source_close(c.from);
    return failed ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {
    OPTION("first", OPT_FIRST, "N", "Begin with the event of this number"),
    OPTION("count", OPT_COUNT, "N", "Take that many events"),
    OPTION("roi", OPT_ROI, NULL, "Take the first region of interest, from its begin to its end"),
    OPTION("salvage", OPT_SALVAGE, NULL, "Of a damaged trace take what comes before the damage"),
    ROW_MEMORY,
    ROWS_OUT,
    ROW_END};

const struct verb verb_trace_cut = {
    .help = &verb_help[HELP_trace_cut], .options = options, .run = cut_run};
