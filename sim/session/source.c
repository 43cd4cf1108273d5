/* source.c - sources as the library's callers have them: read by events of the public form, run,
 * watched, copied to a trace, and held against the stream rules. */
#include "sim/session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"

/* Inside, it is a source like any other: base reads it. */
struct lardsim_source {
    struct source base;
    struct source *inner;  /* owns */
    lardsim_read_fn *read; /* NULL: nobody looks */
    void *arg;
    const struct event *at, *end; /* of the batch in hand */
};

struct source *sim_source(struct lardsim_source *s)
{
    return (struct source *)s;
}

static int read_on(struct source *source, struct batch *b, struct err *e)
{
    struct lardsim_source *s = (struct lardsim_source *)source;
    const struct source_extent *x = s->inner->extent;
    const int failed = source_next(s->inner, b, e);
    const struct lardsim_reading at = {.events = failed ? 0 : b->first - s->inner->first,
                                       .done = x ? x->done : 0,
                                       .all = x ? x->all : 0,
                                       .over = !failed && !b->records};

    return (s->read && s->read(s->arg, &at, e)) || failed ? -1 : 0;
}

static void read_ends(struct source *source)
{
    struct lardsim_source *s = (struct lardsim_source *)source;

    if (s->read)
        s->read(s->arg, NULL, NULL);
    source_close(s->inner);
    free(s);
}

struct lardsim_source *sim_adopt(struct source *inner)
{
    if (!inner)
        return NULL;
    struct lardsim_source *s = xcalloc(1, sizeof *s);
    s->base = *inner;
    s->base.next = read_on;
    s->base.close = read_ends;
    s->base.kept = (struct budget){0}; /* inner has it */
    s->inner = inner;
    return s;
}

struct lardsim_source *lardsim_source_open(const char *source, struct err *e)
{
    return sim_adopt(source_open(source, e));
}

struct lardsim_source *lardsim_source_watch(struct lardsim_source *s,
                                            int (*fn)(void *arg, const struct lardsim_reading *at,
                                                      struct err *e),
                                            void *arg)
{
    struct lardsim_source *outer = sim_adopt(sim_source(s));

    if (outer) {
        outer->read = fn;
        outer->arg = arg;
    }
    return outer;
}

void lardsim_source_close(struct lardsim_source *s)
{
    source_close(sim_source(s));
}

int lardsim_source_next(struct lardsim_source *s, struct lardsim_event *ev, struct err *e)
{
    struct batch b;

    if (s->at == s->end) {
        if (source_next(&s->base, &b, e))
            return -1;
        s->at = b.rec;
        s->end = b.rec + b.records;
        if (!b.records)
            return 0;
    }
    *ev = sim_event(s->at);
    s->at += event_records(s->at);
    return 1;
}

struct lardsim_source_info lardsim_source_info(const struct lardsim_source *s)
{
    return (struct lardsim_source_info){.name = s->base.name,
                                        .first = s->base.first,
                                        .granularity = s->base.granularity,
                                        .layout = layouts[s->base.layout].name,
                                        .asked = s->base.driven != NULL};
}

const char *lardsim_source_name(const struct lardsim_source *s, enum lardsim_names space,
                                uint64_t id)
{
    return names_find(s->base.names, (enum name_space)space, id);
}

const char *lardsim_source_path(const char *source)
{
    return source_path(source);
}

int lardsim_summarize(const char *source, struct lardsim_summary *to, struct err *e)
{
    struct trace_summary is;

    if (trace_summarize(source, &is, e))
        return -1;
    *to = (struct lardsim_summary){.first = is.first,
                                   .events = is.events,
                                   .identity = is.identity,
                                   .names = is.names,
                                   .bytes = is.file_bytes,
                                   .granularity = is.granularity,
                                   .layout = is.layout ? layouts[is.layout].name : NULL,
                                   .counted = is.counted};
    snprintf(to->damage, sizeof to->damage, "%s", is.damage);
    return 0;
}

/* ---- kinds ---------------------------------------------------------------------------------- */

bool lardsim_kind_info(int kind, struct lardsim_kind_info *to)
{
    const struct ev_info *is = kind > 0 && kind < EV_KINDS ? &ev_info[kind] : NULL;

    if (!is || !is->text)
        return false;
    *to = (struct lardsim_kind_info){
        .text = is->text,
        .help = is->help,
        .access = is->class == CLASS_ACCESS,
        .sync = is->class == CLASS_SYNC,
        .heap = is->class == CLASS_HEAP,
        .object = is->object,
        .at = event_has_address(&(struct event){.kind = (uint8_t)kind}),
        .of_object = is->form == FORM_OBJECT || is->form == FORM_ROUND,
        .of_thread = is->form == FORM_THREAD,
        .alone = is->form == FORM_NONE || is->form == FORM_BRANCHES,
    };
    return true;
}

/* ---- a trace that is written ---------------------------------------------------------------- */

struct lardsim_writer {
    FILE *file;
    char *path;
    struct sink *sink;
};

struct lardsim_writer *lardsim_writer(const char *path, const struct lardsim_source *like,
                                      struct err *e)
{
    const struct sink_info info = source_copy_info(&like->base, 0);
    FILE *file = fopen(path, "we");
    struct sink *sink = NULL;

    if (!file)
        outfile_error(e, path, errno);
    else
        sink = sink_binary(file, &info, CODEC_RAW, 0, e);
    if (!sink) {
        if (file)
            fclose(file);
        return NULL;
    }
    struct lardsim_writer *w = xmalloc(sizeof *w);
    *w = (struct lardsim_writer){file, xstrdup(path), sink};
    sink->names(sink, like->base.names, e);
    return w;
}

int lardsim_writer_event(struct lardsim_writer *w, const struct lardsim_event *ev, struct err *e)
{
    struct event rec[EVENT_RECORDS];

    sim_record(ev, rec);
    return w->sink->event(w->sink, rec, e);
}

int lardsim_writer_close(struct lardsim_writer *w, struct err *e)
{
    w->sink->finish(w->sink, e->code ? &(struct err){0} : e);
    if (fclose(w->file))
        outfile_error(e, w->path, errno);
    free(w->path);
    free(w);
    return e->code ? -1 : 0;
}

/* ---- the stream rules ----------------------------------------------------------------------- */

struct lardsim_rules {
    struct rules *rules;
    uint64_t number;
};

struct lardsim_rules *lardsim_rules_new(void)
{
    struct lardsim_rules *r = xcalloc(1, sizeof *r);

    r->rules = rules_new(true);
    return r;
}

int lardsim_rules_event(struct lardsim_rules *r, const struct lardsim_event *ev, struct err *e)
{
    struct event rec[EVENT_RECORDS];

    sim_record(ev, rec);
    return rules_apply(r->rules, rec, r->number++, e);
}

int lardsim_rules_free(struct lardsim_rules *r, struct err *e)
{
    const int bad = rules_finish(r->rules, e);

    rules_free(r->rules);
    free(r);
    return bad;
}
