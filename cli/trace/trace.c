/* trace.c - what the verbs of `lardsim trace` share: a trace file that appears whole or not at all,
 * walking over events, choosing a part of a trace. */
#include <inttypes.h>
#include "cli/trace/trace.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/job/stopped.h"
#include "sim/sim.h"

/* ---- a trace file that appears whole or not at all ------------------------------------------ */

static const char *const forms[] = {"binary", "text", "std", NULL};
enum { FORM_BINARY, FORM_TEXT, FORM_STD };

struct out_options {
    size_t form, codec; /* indices into forms, trace_codec_text */
    uint64_t level;     /* 0: the codec's default */
};

static bool ends_in(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);

    return n > m && strcmp(name + n - m, ending) == 0;
}

static int out_options(struct out_options *o, const struct cli *c, const char *path, struct err *e)
{
    *o = (struct out_options){.form = ends_in(path, ".std") ? FORM_STD
                                      : ends_in(path, ".txt") || ends_in(path, ".trace")
                                          ? FORM_TEXT
                                          : FORM_BINARY,
                              .codec = CODEC_ZSTD};
    if (cli_index(c, OPT_TO, forms, &o->form, e) ||
        cli_index(c, OPT_CODEC, trace_codec_text, &o->codec, e) ||
        cli_u64(c, OPT_LEVEL, &o->level, e))
        return -1;
    if (cli_has(c, OPT_LOSSY) && o->form != FORM_STD)
        return err_set(e, LARD_USAGE,
                       "%s: --lossy is for STD, which lacks events that the other forms have; give "
                       "--to std, or leave it out",
                       path);
    if (o->form != FORM_BINARY && (cli_has(c, OPT_CODEC) || cli_has(c, OPT_LEVEL)))
        return err_set(e, LARD_USAGE,
                       "%s: --codec and --level are for binary traces; this one is text. Give --to "
                       "binary, or leave them out",
                       path);
    return 0;
}

int out_check(const struct cli *c, const char *path, struct err *e)
{
    struct out_options o;

    if (out_options(&o, c, path, e))
        return -1;
    if (strcmp(path, "-") == 0) {
        if (o.form == FORM_BINARY && isatty(STDOUT_FILENO))
            return err_set(e, LARD_USAGE,
                           "a binary trace is no use on a terminal; redirect standard output, or "
                           "give --to text");
        return 0;
    }
    return outfile_check(path, cli_has(c, OPT_OVERWRITE), e);
}

int out_open(struct out *o, const struct cli *c, const char *path, const struct sink_info *info,
             struct err *e)
{
    struct out_options opt;

    if (out_options(&opt, c, path, e))
        return -1;
    o->path = path;
    o->file = outfile_open(path, cli_has(c, OPT_OVERWRITE), e);
    if (!o->file)
        return -1;
    FILE *stream = outfile_stream(o->file);
    const int level = opt.level < 1000 ? (int)opt.level : 1000; /* no codec has 1000 */
    if (opt.form == FORM_STD)
        o->sink = sink_std(stream, info, cli_has(c, OPT_LOSSY), e);
    else if (opt.form == FORM_TEXT)
        o->sink = sink_text(stream, info, e);
    else
        o->sink = sink_binary(stream, info, (enum trace_codec)opt.codec, level, e);
    return o->sink ? 0 : -1;
}

/* A sink writes to a stream and doesn't know its name; what it says is made complete here. */
static void name_output(const struct out *o, struct err *e)
{
    const char *name = strcmp(o->path, "-") == 0 ? "standard output" : o->path;
    const struct err nameless = *e;

    if (e->code != LARD_OUTPUT || strncmp(e->text, name, strlen(name)) == 0)
        return;
    err_clear(e); /* to be replaced: err_set keeps the first */
    err_set(e, LARD_OUTPUT, "%s: %s", name, nameless.text);
}

/* A failure leaves nothing behind: outfile writes beside the path, and only a commit puts the file
 * there. */
int out_close(struct out *o, int failed, struct err *e)
{
    if (!o->file)
        return failed ? -1 : 0;
    if (failed && o->sink)
        o->sink->abort(o->sink);
    else if (!failed)
        failed = o->sink->finish(o->sink, e);
    name_output(o, e);
    if (failed)
        outfile_abort(o->file);
    else
        failed = outfile_commit(o->file, e);
    *o = (struct out){.file = NULL};
    return failed ? -1 : 0;
}

int memory_option(struct budget *all, const struct cli *c, struct err *e)
{
    *all = (struct budget){.limit = SOURCE_MEMORY};
    return cli_u64(c, OPT_MEMORY, &all->limit, e);
}

struct source *shown_source(struct progress *p, struct source *s)
{
    return sim_source(progress_source(p, sim_adopt(s)));
}

struct source *stopped_source(struct source *s)
{
    return sim_source(stop_source(sim_adopt(s)));
}

struct source *charged(struct source *s, struct budget *all)
{
    if (s)
        source_account(s, all);
    return s;
}

struct source *trace_open(const char *spec, struct budget *all, struct progress *p, struct err *e)
{
    return shown_source(p, stopped_source(charged(source_open(spec, e), all)));
}

int memory_limit(const struct budget *all, const char *name, uint64_t event, struct err *e)
{
    if (LIKELY(!budget_over(all)))
        return 0;
    return err_set(e, LARD_LIMIT,
                   "%s: event %" PRIu64 ": what has to be kept takes %" PRIu64
                   " bytes, and the limit is %" PRIu64 "; raise it with --max-memory",
                   name, event, all->live, all->limit);
}

int out_copy(struct source *from, const struct cli *c, const char *path, struct err *e)
{
    const struct sink_info info = source_copy_info(from, from->first);
    struct out out = {.file = NULL};
    struct progress progress;
    int failed = out_open(&out, c, path, &info, e);

    progress_begin(&progress, cli_has(c, OPT_QUIET), 1);
    from = shown_source(&progress, from);
    failed = failed || trace_pump(from, out.sink, e);
    failed = out_close(&out, failed, e);
    source_close(from);
    return failed;
}

int out_copy_of(open_fn *open, const char *spec, const struct cli *c, const char *path,
                struct err *e)
{
    struct budget all;

    if (out_check(c, path, e) || memory_option(&all, c, e))
        return -1;
    struct source *from = stopped_source(charged(open(spec, e), &all));
    return from ? out_copy(from, c, path, e) : -1;
}

int read_twice(const char *verb, const char *spec, struct err *e)
{
    const char *colon = strrchr(spec, ':'); /* behind the name of a format, see source_open */
    const char *path = colon ? colon + 1 : spec;
    struct stat st;

    if (strcmp(path, "-") != 0 && (stat(path, &st) != 0 || S_ISREG(st.st_mode)))
        return 0;
    return err_set(
        e, LARD_USAGE,
        "%s: %s: inputs are read twice, so each has to be a regular file; write it to one first",
        verb, spec);
}

/* ---- names ---------------------------------------------------------------------------------- */

static int name_for(struct names *to, const struct names *of, enum name_space space, uint64_t id,
                    struct err *e)
{
    const char *name = names_find(of, space, id), *known = names_find(to, space, id);

    if (!name || (known && strcmp(name, known) == 0))
        return 0;
    return names_add(to, space, id, name, e);
}

int names_for(struct names *to, const struct names *of, const struct event *ev, struct err *e)
{
    const unsigned form = ev_info[ev->kind].form;

    return name_for(to, of, NAME_THREAD, ev->tid, e) ||
                   name_for(to, of, NAME_SITE, event_site(ev), e) ||
                   (form == FORM_THREAD && name_for(to, of, NAME_THREAD, ev->aux, e)) ||
                   (form == FORM_PHASE && name_for(to, of, NAME_PHASE, ev->aux, e)) ||
                   (form != FORM_NONE && form != FORM_CLOCK &&
                    name_for(to, of, NAME_OBJECT, ev->addr, e))
               ? -1
               : 0;
}

/* ---- a part of a trace ---------------------------------------------------------------------- */

int part_options(struct event_range *p, const struct cli *c, struct err *e)
{
    *p =
        (struct event_range){.count = UINT64_MAX, .thread = ANY_THREAD, .roi = cli_has(c, OPT_ROI)};
    if (cli_u64(c, OPT_FIRST, &p->first, e) || cli_u64(c, OPT_COUNT, &p->count, e) ||
        cli_u64(c, OPT_THREAD, &p->thread, e))
        return -1;
    if (cli_has(c, OPT_THREAD) && p->thread >= MAX_THREADS)
        return err_set(e, LARD_USAGE, "--thread: threads are numbered from 0 to %d",
                       MAX_THREADS - 1);
    return 0;
}

/* A count counts events of the range, whichever thread's they are: so --first and --count select
 * the same events with and without --thread. */
bool part_takes(struct event_range *p, const struct event *ev, uint64_t number)
{
    if (p->done || number < p->first)
        return false;
    if (p->roi && !p->inside && ev->kind != EV_ROI_BEGIN)
        return false;
    p->inside = true;
    if (p->count == 0) {
        p->done = true;
        return false;
    }
    p->count--;
    p->done = p->count == 0 || (p->roi && ev->kind == EV_ROI_END);
    return p->thread == ANY_THREAD || ev->tid == p->thread;
}
