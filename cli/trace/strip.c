/* strip.c - a trace without the memory that nothing in it uses (used.h): a capture has all objects
 * of a virtual machine, and accesses of the program alone. The trace is read twice. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/trace/trace.h"
#include "trace/lives/used.h"

struct strip {
    const struct cli *cli;
    struct source *from;
    struct used_memory used;
    uint32_t *owed; /* owns; by thread: the work before events that were left out */
    size_t threads;
    struct out out;
    struct budget all;
    struct progress progress;
};

/* Work that a thread has done since its last event that was kept is added to its next one. */
static uint32_t *owed_by(struct strip *s, sim_tid tid)
{
    if (tid >= s->threads) {
        const size_t n = (size_t)tid + tid / 2 + 1;
        s->owed = xrecalloc(s->owed, s->threads, n, sizeof *s->owed);
        s->threads = n;
    }
    return &s->owed[tid];
}

static int keep(void *arg, const struct event *ev, struct err *e)
{
    struct strip *s = arg;
    struct event rec[EVENT_RECORDS] = {*ev};
    uint32_t *owed = owed_by(s, ev->tid);
    struct sink *to = s->out.sink;

    if (event_records(ev) > 1)
        rec[1] = ev[1];
    rec->gap = *owed;
    *owed = 0;
    return to->names(to, s->from->names, e) || to->event(to, rec, e) ? -1 : 0;
}

/* ---- both passes ---------------------------------------------------------------------------- */

static int look(void *arg, const struct event *ev, uint64_t at, struct err *e)
{
    struct strip *s = arg;

    used_follow(&s->used, ev);
    return memory_limit(&s->all, s->from->name, at, e) ? WALK_FAIL : WALK_ON;
}

static int take(void *arg, const struct event *ev, uint64_t at, struct err *e)
{
    struct strip *s = arg;
    uint32_t *owed = owed_by(s, ev->tid);

    *owed = *owed > UINT32_MAX - ev->gap ? UINT32_MAX : *owed + ev->gap;
    return used_take(&s->used, ev, e) || memory_limit(&s->all, s->from->name, at, e) ? WALK_FAIL
                                                                                     : WALK_ON;
}

/* ---- the verb ------------------------------------------------------------------------------- */

static int pass(struct strip *s, walk_fn *fn, struct err *e)
{
    s->from = trace_open(s->cli->arg[0], &s->all, &s->progress, e);
    if (!s->from)
        return -1;
    used_again(&s->used);
    const struct sink_info info = source_copy_info(s->from, 0);
    const bool writes = fn == take;
    int failed = writes && out_open(&s->out, s->cli, s->cli->arg[1], &info, e) ? -1 : 0;
    failed = failed || source_walk(s->from, fn, s, e) ? -1 : 0;
    if (writes && !failed)
        failed = s->out.sink->names(s->out.sink, s->from->names, e);
    if (writes)
        failed = out_close(&s->out, failed, e);
    source_close(s->from);
    return failed;
}

static int strip_run(const struct cli *cli, struct err *e)
{
    struct strip s = {.cli = cli};

    if (memory_option(&s.all, cli, e) || read_twice("trace strip", cli->arg[0], e) ||
        out_check(cli, cli->arg[1], e))
        return -1;
    s.used = (struct used_memory){.budget = &s.all, .keep = keep, .arg = &s};
    progress_begin(&s.progress, cli_has(cli, OPT_QUIET), 2);
    const int failed = pass(&s, look, e) || pass(&s, take, e) ? -1 : 0;
    progress_clear(&s.progress);
    if (!failed && !cli_has(cli, OPT_QUIET))
        print_note("%s: kept %" PRIu64 " of %" PRIu64 " allocations, %" PRIu64 " of %" PRIu64
                   " copies; %" PRIu64 " clears of %" PRIu64,
                   cli->arg[1], s.used.allocs.kept, s.used.allocs.had, s.used.copies.kept,
                   s.used.copies.had, s.used.clears.kept, s.used.clears.had);
    used_free(&s.used);
    free(s.owed);
    return failed ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {ROW_MEMORY, ROWS_OUT, ROW_END};

const struct verb verb_trace_strip = {
    .help = &verb_help[HELP_trace_strip], .options = options, .run = strip_run};
