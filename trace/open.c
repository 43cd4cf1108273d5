/* open.c - a source by its name: a file or standard input, its format told by its first bytes or
 * named before the path, or the generator. */
#include "trace/trace.h"

#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const struct trace_format *const trace_formats[] = {
    &trace_format_binary, &trace_format_text, &trace_format_std,
    &trace_format_lackey, &trace_format_din,  &trace_format_xdin,
    &trace_format_ce,     &trace_format_gem5, NULL};

/* ---- what else a file may be ---------------------------------------------------------------- */

/* Files that people hand over by mistake: the message says what the file is and what to do. */
static const struct looks {
    const char *magic;
    size_t bytes;
    const char *what;
} looks[] = {
    {"\x1f\x8b", 2, "gzip data packed twice; unpack it once: gzip -dc FILE | lardsim ... -"},
    {"\x28\xb5\x2f\xfd", 4,
     "zstd data packed twice; unpack it once: zstd -dc FILE | lardsim ... -"},
    {"\3757zXZ", 5, "xz data; unpack it first: xz -dc FILE | lardsim ... -"},
    {"BZh", 3, "bzip2 data; unpack it first: bzip2 -dc FILE | lardsim ... -"},
    {"PK\x03\x04", 4, "a zip or jar archive; unpack it first"},
    {"\177ELF", 4, "an ELF program or library; record a trace of its run first"},
    {"\xca\xfe\xba\xbe", 4, "a Java class; record a trace of its run first"},
    {"#!", 2, "a script"},
    {"%PDF", 4, "PDF"},
    {"<", 1, "XML or HTML"},
    {"{", 1, "JSON"},
    {"[", 1, "JSON"},
    {"\xff\xfe", 2, "UTF-16 text; a text trace is UTF-8"},
    {"\xfe\xff", 2, "UTF-16 text; a text trace is UTF-8"},
    {"\xef\xbb\xbf", 3, "text after a byte order mark; remove the mark"},
};

/* 2 415130, w 1000 8: nothing that only Dinero's traces would look like. */
static bool looks_dinero(const struct input *in)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    char line[sizeof in->head + 1];

    memcpy(line, in->head, in->head_n);
    line[in->head_n] = '\0';
    if (!strchr("01234rwimcvRWIMCV", line[0]) || (line[1] != ' ' && line[1] != '\t'))
        return false;
    size_t digits = strspn(line + 2, hex);
    return digits && digits <= 16 && strchr(" \t\r\n", line[2 + digits]);
}

static bool looks_text(const struct input *in)
{
    for (size_t i = 0; i < in->head_n; i++)
        if (in->head[i] < '\t' || (in->head[i] > '\r' && in->head[i] < ' '))
            return false;
    return true;
}

static const char *looks_like(const struct input *in)
{
    for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
        if (in->head_n >= looks[i].bytes && !memcmp(in->head, looks[i].magic, looks[i].bytes))
            return looks[i].what;
    if (!looks_text(in))
        return "binary data of some other kind";
    if (looks_dinero(in))
        return "a Dinero trace; name its format: din:FILE or xdin:FILE";
    return "text of some other kind; a text trace begins with \"lardsim-text 2\"";
}

static void unknown_format(const struct input *in, struct err *e)
{
    char *known = NULL;

    if (input_fault(in)) /* too little is known of it */
        err_set(e, LARD_TRACE, "%s: can't be read: %s", in->name, input_fault(in));
    for (size_t i = 0; trace_formats[i]; i++)
        xappend(&known, ", ", trace_formats[i]->name);
    err_set(e, LARD_TRACE, "%s: not a trace in a format that is known (%s). It looks like %s",
            in->name, known, looks_like(in));
    free(known);
}

/* ---- FORMAT:KEY=VALUE,...:PATH -------------------------------------------------------------- */

/* Behind "NAME:", where the text begins like this; else NULL. */
static const char *after_name(const char *spec, const char *name)
{
    const size_t n = strlen(name);

    return !strncmp(spec, name, n) && spec[n] == ':' ? spec + n + 1 : NULL;
}

/* The format that stands before the path, NULL if none does; *rest is what follows it. */
static const struct trace_format *named_format(const char *spec, const char **rest)
{
    for (size_t i = 0; trace_formats[i]; i++)
        if ((*rest = after_name(spec, trace_formats[i]->name)) != NULL)
            return trace_formats[i];
    *rest = spec;
    return NULL;
}

/* Takes the options off: a key, =, and whatever else up to a colon. A path that looks like this is
 * written ./PATH. */
static char *options_take(const char **rest)
{
    const size_t key = strspn(*rest, "abcdefghijklmnopqrstuvwxyz_");
    const char *colon = strchr(*rest, ':');

    if (!key || (*rest)[key] != '=' || !colon)
        return NULL;
    char *options = xasprintf("%.*s", (int)(colon - *rest), *rest);
    *rest = colon + 1;
    return options;
}

/* Takes ownership of both. format NULL: is to be found out. */
static struct source *open_as(const struct trace_format *format, struct input *in, char *options,
                              struct err *e)
{
    in->options = options;
    for (size_t i = 0; !format && trace_formats[i]; i++)
        if (trace_formats[i]->bid && trace_formats[i]->bid(in))
            format = trace_formats[i];
    if (!format)
        unknown_format(in, e);
    else if (options && !format->options)
        err_set(e, LARD_USAGE, "%s: the format %s has no options; leave out \"%s\"", in->name,
                format->name, options);
    else
        return format->open(in, e);
    input_free(in);
    return NULL;
}

/* The files that the list names: "a,b" or "core*.gz". A pattern that fits nothing is a path. */
static struct input *open_several(const char *list, struct err *e)
{
    glob_t found = {0};
    int bad = 0;

    for (const char *at = list; !bad && at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char *pattern = xasprintf("%.*s", (int)strcspn(at, ","), at);
        if (!*pattern)
            bad =
                err_set(e, LARD_TRACE,
                        "\"%s\": a file has no name; name files, with one comma between two", list);
        else if (glob(pattern, GLOB_NOCHECK | (at == list ? 0 : GLOB_APPEND), NULL, &found))
            bad =
                err_set(e, LARD_TRACE, "%s: the pattern can't be looked up; name the files", list);
        free(pattern);
    }
    struct input *in = bad ? NULL : input_open(found.gl_pathv[0], e);
    if (in && found.gl_pathc > 1) {
        in->more = xcalloc(found.gl_pathc - 1, sizeof *in->more);
        for (size_t i = 1; i < found.gl_pathc; i++)
            in->more[in->n_more++] = xstrdup(found.gl_pathv[i]);
    }
    globfree(&found);
    return in;
}

static struct source *open_generator(const char *assignments, struct err *e)
{
    struct synth_params p = {0};

    return synth_parse(&p, assignments, e) ? NULL : synth_open(&p, e);
}

/* The maker, the generator for one, whose name comes first; *rest is what follows it. */
static const struct source_maker *named_maker(const char *spec, const char **rest)
{
    static const struct source_maker generator = {"synth", open_generator};

    if ((*rest = after_name(spec, generator.name)) != NULL)
        return &generator;
    for (size_t i = 0; source_makers[i]; i++)
        if ((*rest = after_name(spec, source_makers[i]->name)) != NULL)
            return source_makers[i];
    return NULL;
}

const char *source_path(const char *spec)
{
    const char *path;

    if (named_maker(spec, &path))
        return NULL;
    if (named_format(spec, &path))
        free(options_take(&path));
    return path;
}

/* A generator's or maker's name comes before any file's, as a format's does: ./PATH names a file.
 */
static struct source *open_spec(const char *spec, struct err *e)
{
    const char *path;
    const struct source_maker *maker = named_maker(spec, &path);

    if (maker)
        return maker->open(path, e);
    const struct trace_format *format = named_format(spec, &path);
    char *options = format ? options_take(&path) : NULL;
    struct input *in = format && format->several ? open_several(path, e) : input_open(path, e);
    if (in)
        return open_as(format, in, options, e);
    free(options);
    return NULL;
}

struct source *source_open(const char *spec, struct err *e)
{
    struct source *s = open_spec(spec, e);

    if (s)
        s->kept.limit = SOURCE_MEMORY;
    return s;
}

/* ---- reading -------------------------------------------------------------------------------- */

void source_account(struct source *s, struct budget *all)
{
    s->kept = (struct budget){.of = all};
}

static int keeps_too_much(const struct source *s, uint64_t event, struct err *e)
{
    const struct budget *const all = s->kept.of ? s->kept.of : &s->kept;

    return err_set(e, LARD_LIMIT,
                   "%s: event %" PRIu64 ": what is kept of the trace takes %" PRIu64
                   " bytes, with its names, and all that is kept more than the limit on memory, "
                   "%" PRIu64 "; raise it (limits.memory of a run, --max-memory of `lardsim "
                   "trace`), or leave names out of the trace",
                   s->name, event, s->kept.live, all->limit);
}

/* True: the batch has a release store. In version 1 it merged what it gives, unlike in C11. */
static bool has_release_store(const struct batch *b)
{
    for (size_t i = 0; i < b->records; i++) {
        const struct event *ev = &b->rec[i];
        if (ev->kind == EV_WRITE && order_gives(event_order(ev)))
            return true;
        i += (ev->flags & EVF_MORE) != 0;
    }
    return false;
}

int source_next(struct source *s, struct batch *b, struct err *e)
{
    do {
        if (source_step(s, b, e))
            return -1;
        if (s->version == 1 && !s->merges)
            s->merges = has_release_store(b);
        budget_have(&s->kept, b->kept);
        if (UNLIKELY(budget_over(&s->kept))) {
            *b = (struct batch){.first = b->first};
            return keeps_too_much(s, b->first, e);
        }
    } while (!b->records && b->more);
    return 0;
}

/* ---- copying -------------------------------------------------------------------------------- */

static int pump_batch(const struct batch *b, struct sink *to, struct err *e)
{
    const struct event *const end = b->rec + b->records;

    if (to->events)
        return to->events(to, b->rec, b->records, e);
    for (const struct event *ev = b->rec; ev < end; ev += event_records(ev))
        if (to->event(to, ev, e))
            return -1;
    return 0;
}

int trace_pump(struct source *from, struct sink *to, struct err *e)
{
    struct batch b;

    do {
        /* Names of a batch go before its events. */
        if (source_next(from, &b, e) || to->names(to, from->names, e) || pump_batch(&b, to, e))
            return -1;
    } while (b.records);
    return 0;
}
