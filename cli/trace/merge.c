/* merge.c - several traces as one: independent programs that ran side by side. Inputs take turns,
 * each for a run of events; threads, addresses and sites are moved apart: input i has its number in
 * bits 48 to 57 of every address, object, site and phase. Limitation: whether the result obeys the
 * stream rules is for `trace verify` to say. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/trace/trace.h"

enum { INPUT_SHIFT = 48, INPUT_BITS = 10, INPUTS_MAX = 1 << INPUT_BITS };

/* A trace that is merged: how far it was read, and by how much its names and numbers are moved. */
struct input_trace {
    const char *spec;
    struct source *from;
    struct batch batch;
    size_t at;                         /* record in batch */
    size_t names;                      /* how many of from's names have been handed on */
    uint32_t threads, kernels;         /* the highest number it uses, plus one */
    uint32_t thread_base, kernel_base; /* the first numbers of its threads in the output */
    uint64_t offset;                   /* of addresses, sites and phases */
    bool ended, collecting;            /* collecting: between gc-begin and gc-end */
};

struct trace_merge {
    const struct cli *cli;
    struct input_trace *in;
    size_t inputs, in_roi; /* in_roi: those that are in a region of interest now */
    uint64_t run;          /* events of a turn */
    bool shared;           /* addresses and sites stay as they are */
    unsigned granularity;  /* 0: the inputs differ */
    enum layout_id layout; /* default: they differ */
    enum gap_unit gaps;
    struct names *names;
    struct budget all, own; /* memory of the inputs and of names */
    struct out out;
    struct progress progress;
};

/* ---- what an event refers to ---------------------------------------------------------------- */

static bool names_thread(const struct event *ev)
{
    const unsigned form = ev_info[ev->kind].form;

    return form == FORM_THREAD || form == FORM_CLOCK;
}

static uint64_t range_bytes(const struct event *ev)
{
    const unsigned form = ev_info[ev->kind].form;

    if (form == FORM_ACCESS)
        return ev->size;
    return form == FORM_REGION || form == FORM_ALLOC || form == FORM_COPY || form == FORM_REMAP
               ? ev->aux
               : 0;
}

/* An address, site or phase of ev that has one of the bits by which inputs are moved apart; 0: none
 * has. Of a range the last byte counts, too: it may reach into those bits. */
static uint64_t misfit(const struct event *ev)
{
    const unsigned form = ev_info[ev->kind].form;
    const uint64_t bytes = range_bytes(ev), last = bytes ? bytes - 1 : 0;
    const bool two = form == FORM_COPY || form == FORM_REMAP;
    const uint64_t ids[] = {event_site(ev),
                            event_has_address(ev) ? ev->addr : 0,
                            event_has_address(ev) ? ev->addr + last : 0,
                            two ? ev[1].addr : 0,
                            two ? ev[1].addr + last : 0,
                            form == FORM_PHASE ? ev->aux : 0};

    for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
        if (ids[i] >> INPUT_SHIFT & (INPUTS_MAX - 1))
            return ids[i];
    return 0;
}

/* ---- first pass: how many threads, and do the addresses fit --------------------------------- */

struct scan {
    struct input_trace *in;
    bool shared;
};

/* Numbers out of range are left to the stream rules. */
static void at_least(uint32_t *n, uint64_t id)
{
    if (id >= *n && id < MAX_THREADS)
        *n = (uint32_t)id + 1;
}

static int scan_event(void *arg, const struct event *ev, uint64_t number, struct err *e)
{
    const struct scan *s = arg;

    at_least(&s->in->threads, ev->tid);
    if (names_thread(ev))
        at_least(&s->in->threads, ev->aux);
    if (ev->kind == EV_WAITED)
        at_least(&s->in->threads, waited_writer(ev));
    if (ev_info[ev->kind].form == FORM_KERNEL)
        at_least(&s->in->kernels, ev->aux);
    if (s->shared || misfit(ev) == 0)
        return WALK_ON;
    return err_set(e, LARD_TRACE,
                   "%s: event %" PRIu64 ": 0x%" PRIx64
                   " has some of the bits %d to %d, by which inputs are moved apart; give --shared "
                   "to leave addresses and sites as they are",
                   s->in->spec, number, misfit(ev), INPUT_SHIFT, INPUT_SHIFT + INPUT_BITS - 1);
}

/* An input's threads are numbered behind those of the inputs before it, which are counted only at
 * their end. So inputs are read twice. */
static int scan(struct trace_merge *m, struct input_trace *in, struct err *e)
{
    struct scan s = {in, m->shared};

    if (read_twice("trace merge", in->spec, e))
        return -1;
    struct source *from = trace_open(in->spec, &m->all, &m->progress, e);
    if (!from)
        return -1;
    const bool first = in == m->in;
    if (first)
        m->gaps = from->gaps;
    m->granularity = first || m->granularity == from->granularity ? from->granularity : 0;
    m->layout = first || m->layout == from->layout ? from->layout : LAYOUT_DEFAULT;
    const int failed =
        m->gaps != from->gaps
            ? err_set(e, LARD_USAGE,
                      "trace merge: %s counts its gaps in %s, and %s in %s; a trace has one unit",
                      m->in->spec, gap_unit_names[m->gaps], in->spec, gap_unit_names[from->gaps])
            : source_walk(from, scan_event, &s, e);
    source_close(from);
    return failed;
}

static int scan_all(struct trace_merge *m, struct err *e)
{
    uint32_t threads = 0, kernels = 0;

    for (size_t i = 0; i < m->inputs; i++) {
        struct input_trace *in = &m->in[i];
        if (scan(m, in, e))
            return -1;
        in->thread_base = threads;
        in->kernel_base = kernels;
        in->offset = m->shared ? 0 : (uint64_t)i << INPUT_SHIFT;
        threads += in->threads;
        kernels += in->kernels;
        if (threads > MAX_THREADS || kernels > MAX_THREADS)
            return err_set(e, LARD_TRACE,
                           "%s: with its threads there are more than %d; merge fewer traces",
                           in->spec, MAX_THREADS);
    }
    return 0;
}

/* ---- second pass ---------------------------------------------------------------------------- */

static uint64_t moved(const struct input_trace *in, uint64_t id)
{
    return id ? id + in->offset : 0; /* site 0 is unknown; phase 0, address 0 are as good as any */
}

static void move_event(const struct input_trace *in, struct event *ev)
{
    const unsigned form = ev_info[ev->kind].form;

    ev->tid = (sim_tid)(ev->tid + in->thread_base);
    if (event_has_address(ev))
        ev->addr += in->offset;
    if (names_thread(ev))
        ev->aux += in->thread_base;
    if (form == FORM_KERNEL)
        ev->aux += in->kernel_base;
    if (form == FORM_ACCESS)
        ev->aux = moved(in, ev->aux);
    if (form == FORM_PHASE)
        ev->aux += in->offset;
    if (ev->flags & EVF_MORE)
        ev[1].aux = moved(in, ev[1].aux);
    if (form == FORM_COPY || form == FORM_REMAP)
        ev[1].addr += in->offset;
    if (ev->kind == EV_WAITED && waited_writer(ev) != NOBODY)
        ev[1].addr += in->thread_base;
}

static int move_names(struct trace_merge *m, struct input_trace *in, struct err *e)
{
    const struct names *from = in->from->names;

    for (; in->names < names_count(from); in->names++) {
        const struct name *n = names_at(from, in->names);
        const uint64_t id = n->space == NAME_THREAD ? n->id + in->thread_base
                            : n->space == NAME_SITE ? moved(in, n->id)
                                                    : n->id + in->offset;
        if (names_add(m->names, n->space, id, n->text, e))
            return -1;
    }
    budget_have(&m->own, names_bytes(m->names));
    if (memory_limit(&m->all, in->spec, in->batch.first, e))
        return -1;
    return m->out.sink->names(m->out.sink, m->names, e);
}

/* The region of interest of the whole is where any input is in one: only the first begin and the
 * last end remain. */
static bool is_left_out(struct trace_merge *m, const struct event *ev)
{
    if (ev->kind == EV_ROI_BEGIN)
        return m->in_roi++ > 0;
    if (ev->kind == EV_ROI_END && m->in_roi > 0)
        return --m->in_roi > 0;
    return false;
}

static int put(struct trace_merge *m, struct input_trace *in, const struct event *ev, struct err *e)
{
    struct event rec[EVENT_RECORDS] = {*ev};

    if (event_records(ev) == 2)
        rec[1] = ev[1];
    in->collecting = ev->kind == EV_GC_BEGIN || (in->collecting && ev->kind != EV_GC_END);
    if (is_left_out(m, ev))
        return 0;
    move_event(in, rec);
    return m->out.sink->event(m->out.sink, rec, e);
}

/* The next event, or NULL at the end or after an error. */
static const struct event *next_event(struct trace_merge *m, struct input_trace *in, struct err *e)
{
    if (in->at == in->batch.records) {
        in->at = 0;
        if (source_next(in->from, &in->batch, e) || move_names(m, in, e))
            return NULL;
    }
    if (in->batch.records == 0) {
        in->ended = true;
        return NULL;
    }
    const struct event *ev = &in->batch.rec[in->at];
    in->at += event_records(ev);
    return ev;
}

/* A collection stops the world, so a turn does not end inside one. */
static int take_turn(struct trace_merge *m, struct input_trace *in, struct err *e)
{
    for (uint64_t n = 0; n < m->run || in->collecting; n++) {
        const struct event *ev = next_event(m, in, e);
        if (!ev)
            return in->ended ? 0 : -1;
        if (put(m, in, ev, e))
            return -1;
    }
    return 0;
}

static int take_turns(struct trace_merge *m, struct err *e)
{
    for (size_t running = m->inputs; running > 0;) {
        running = 0;
        for (size_t i = 0; i < m->inputs; i++) {
            if (!m->in[i].ended && take_turn(m, &m->in[i], e))
                return -1;
            running += !m->in[i].ended;
        }
    }
    return 0;
}

static int open_inputs(struct trace_merge *m, struct err *e)
{
    for (size_t i = 0; i < m->inputs; i++) {
        m->in[i].from = trace_open(m->in[i].spec, &m->all, &m->progress, e);
        if (!m->in[i].from)
            return -1;
    }
    return 0;
}

static int merge(struct trace_merge *m, struct err *e)
{
    if (scan_all(m, e) || open_inputs(m, e))
        return -1;
    const struct sink_info info = {
        .granularity = m->granularity, .layout = m->layout, .gaps = m->gaps};
    const int failed = out_open(&m->out, m->cli, m->cli->arg[0], &info, e) || take_turns(m, e);
    return out_close(&m->out, failed, e);
}

static int merge_run(const struct cli *c, struct err *e)
{
    struct trace_merge m = {
        .cli = c, .run = 64, .shared = cli_has(c, OPT_SHARED), .inputs = c->args - 1};

    if (out_check(c, c->arg[0], e) || cli_u64(c, OPT_RUN, &m.run, e) || memory_option(&m.all, c, e))
        return -1;
    m.own.of = &m.all;
    if (m.run == 0 || m.inputs > INPUTS_MAX)
        return err_set(e, LARD_USAGE,
                       "trace merge: --run is at least 1, and there are at most %d inputs",
                       INPUTS_MAX);
    progress_begin(&m.progress, cli_has(c, OPT_QUIET), 2 * m.inputs); /* scanned, then copied */
    m.names = names_new();
    m.in = xcalloc(m.inputs, sizeof *m.in);
    for (size_t i = 0; i < m.inputs; i++)
        m.in[i].spec = c->arg[i + 1];
    const int failed = merge(&m, e);
    for (size_t i = 0; i < m.inputs; i++)
        source_close(m.in[i].from);
    free(m.in);
    names_free(m.names);
    return failed ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {
    OPTION("run", OPT_RUN, "N", "Events that an input has at a turn (64)"),
    OPTION("shared", OPT_SHARED, NULL,
           "Leave addresses, objects, sites and phases as they are: the programs share memory"),
    ROW_MEMORY, ROWS_OUT, ROW_END};

const struct verb verb_trace_merge = {
    .help = &verb_help[HELP_trace_merge], .options = options, .run = merge_run};
