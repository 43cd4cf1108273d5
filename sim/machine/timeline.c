/* timeline.c - what each core did in a window of time, in the form that Perfetto and Chrome show
 * (the "Trace Event Format", JSON): slices on a thread a core, a microsecond for a cycle.
 *
 * Every cycle of a core in the window is in exactly one slice. Cycles of instructions and L1 hits
 * that follow each other are one slice; an access that left the L1 has its own. */
#include "sim/machine/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"

struct timeline_params {
    uint64_t from, to, max;
};
#define AT(field) offsetof(struct timeline_params, field)
const struct param timeline_param_rows[] = {
    {"from", PARAM_U64, AT(from), "0", 0, UINT64_MAX, "cycles", NULL,
     "Where the window of --timeline begins."},
    {"to", PARAM_U64, AT(to), "100000", 1, UINT64_MAX, "cycles", NULL, "Where it ends."},
    {"max", PARAM_U64, AT(max), "500000", 1, UINT64_MAX, "slices", NULL,
     "Slices in the file of --timeline at most, about 100 bytes each; the rest is left out."},
    PARAM_END,
};
#undef AT

struct time_slice {
    sim_cycle start, end; /* equal: none */
    enum spent what;
    uint64_t l1; /* of its cycles; with SPENT_EXECUTING */
    uint64_t number;
    sim_addr addr;
    sim_tid tid;
    uint8_t kind;
};

struct timeline {
    struct timeline_params params;
    struct outfile *file;
    FILE *out;
    unsigned cores;
    struct lane {               /* of a core */
        struct time_slice open; /* not yet written: more may join it */
        struct time_slice next; /* the event in hand; for slices to come */
    } * lane;
    uint64_t written;
    bool cut;
    sim_cycle cut_at;
};

/* ---- making one ----------------------------------------------------------------------------- */

static void write_names(struct timeline *t)
{
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{\"name\":\"lardsim\"}}",
          t->out);
    for (unsigned i = 0; i < t->cores; i++)
        fprintf(t->out,
                ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":%u,"
                "\"args\":{\"name\":\"core %u\"}},\n"
                "{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":0,\"tid\":%u,"
                "\"args\":{\"sort_index\":%u}}",
                i, i, i, i);
}

struct timeline *timeline_new(const char *path, bool replace, struct config *config, unsigned cores,
                              struct err *e)
{
    struct timeline_params p;

    if (config_bind(config, "timeline", timeline_param_rows, &p, e))
        return NULL;
    if (p.from >= p.to) {
        err_set(e, LARD_CONFIG,
                "timeline.to: the window ends at %" PRIu64 ", not after its begin at %" PRIu64
                "; give a later end, or an earlier timeline.from",
                p.to, p.from);
        return NULL;
    }
    struct outfile *file = outfile_open(path, replace, e);
    if (!file)
        return NULL;
    struct timeline *t = xcalloc(1, sizeof *t);
    t->params = p;
    t->file = file;
    t->out = outfile_stream(file);
    t->cores = cores;
    t->lane = xcalloc(cores, sizeof *t->lane);
    write_names(t);
    return t;
}

/* ---- slices --------------------------------------------------------------------------------- */

/* Has a slice of its own. */
static bool is_access(enum spent what)
{
    return what == SPENT_L2 || what == SPENT_L3 || what == SPENT_REMOTE || what == SPENT_MEMORY;
}

static void write_event(const struct timeline *t, const struct time_slice *s)
{
    fprintf(t->out, ",\"args\":{\"thread\":%u,\"event\":%" PRIu64 ",\"op\":\"%s\"",
            (unsigned)s->tid, s->number, ev_info[s->kind].text);
    if (ev_info[s->kind].class == CLASS_ACCESS || is_access(s->what) || s->what == SPENT_LOCK)
        fprintf(t->out, ",\"addr\":\"0x%" PRIx64 "\"", s->addr);
    putc('}', t->out);
}

static void write_slice(struct timeline *t, unsigned core)
{
    const struct time_slice *s = &t->lane[core].open;

    if (s->start == s->end || t->cut)
        return;
    if (t->written == t->params.max) {
        t->cut = true;
        t->cut_at = s->start;
        return;
    }
    t->written++;
    fprintf(t->out,
            ",\n{\"name\":\"%s\",\"ph\":\"X\",\"pid\":0,\"tid\":%u,\"ts\":%" PRIu64
            ",\"dur\":%" PRIu64,
            spent_text[s->what], core, s->start, s->end - s->start);
    if (s->what == SPENT_EXECUTING)
        fprintf(t->out,
                ",\"args\":{\"thread\":%u,\"first_event\":%" PRIu64 ",\"l1_cycles\":%" PRIu64 "}",
                (unsigned)s->tid, s->number, s->l1);
    else if (s->what != SPENT_IDLE)
        write_event(t, s);
    putc('}', t->out);
}

static bool joins(const struct time_slice *s, const struct time_slice *next)
{
    if (s->what != next->what || s->end != next->start || is_access(s->what))
        return false;
    return s->what == SPENT_IDLE ||
           (s->tid == next->tid && (s->what == SPENT_EXECUTING || s->number == next->number));
}

void timeline_spent(struct timeline *t, unsigned core, enum spent what, sim_cycle from,
                    uint64_t cycles)
{
    struct lane *lane = &t->lane[core];
    struct time_slice s = lane->next;

    s.start = u64_max(from, t->params.from);
    s.end = u64_min(from + cycles, t->params.to);
    if (s.start >= s.end || t->cut)
        return;
    s.what = what == SPENT_L1 ? SPENT_EXECUTING : what;
    s.l1 = what == SPENT_L1 ? s.end - s.start : 0;
    if (joins(&lane->open, &s)) {
        lane->open.end = s.end;
        lane->open.l1 += s.l1;
        return;
    }
    write_slice(t, core);
    lane->open = s;
}

void timeline_event(struct timeline *t, unsigned core, const struct event *ev, uint64_t number)
{
    t->lane[core].next =
        (struct time_slice){.number = number, .addr = ev->addr, .tid = ev->tid, .kind = ev->kind};
}

/* ---- the end -------------------------------------------------------------------------------- */

static void timeline_free(struct timeline *t)
{
    free(t->lane);
    free(t);
}

bool timeline_cut(const struct timeline *t, sim_cycle *at)
{
    *at = t->cut_at;
    return t->cut;
}

/* A mark over all cores, which the viewer shows, too. */
static void write_cut(const struct timeline *t)
{
    fprintf(t->out,
            ",\n{\"name\":\"cut here: timeline.max\",\"ph\":\"i\",\"s\":\"g\",\"pid\":0,\"tid\":0,"
            "\"ts\":%" PRIu64 "}",
            t->cut_at);
}

int timeline_close(struct timeline *t, struct err *e)
{
    if (!t)
        return 0;
    for (unsigned i = 0; i < t->cores; i++)
        write_slice(t, i);
    if (t->cut)
        write_cut(t);
    fprintf(t->out,
            "\n],\"otherData\":{\"schema\":\"lardsim-timeline-1\",\"unit\":\"a microsecond is a "
            "cycle\",\"from\":\"%" PRIu64 "\",\"to\":\"%" PRIu64 "\",\"complete\":\"%s\"}}\n",
            t->params.from, t->params.to, t->cut ? "no" : "yes");
    const int bad = outfile_commit(t->file, e);
    timeline_free(t);
    return bad;
}

void timeline_abort(struct timeline *t)
{
    if (!t)
        return;
    outfile_abort(t->file);
    timeline_free(t);
}
