/* open.c - a source by its name: a file or standard input, its format told by its first bytes, or
 * the generator. Compressed text is recognised and refused. */
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const struct trace_format *const trace_formats[] = {&trace_format_binary, &trace_format_text, NULL};

/* ---- input ---------------------------------------------------------------------------------- */

size_t input_read(struct input *in, void *to, size_t n)
{
    const size_t ahead = n < in->head_n ? n : in->head_n;

    memcpy(to, in->head, ahead);
    memmove(in->head, in->head + ahead, in->head_n - ahead);
    in->head_n -= ahead;
    if (ahead == n || !in->file)
        return ahead;
    return ahead + fread((unsigned char *)to + ahead, 1, n - ahead, in->file);
}

void input_free(struct input *in)
{
    if (!in)
        return;
    if (in->file && in->file != stdin)
        fclose(in->file);
    free(in->name);
    free(in);
}

/* ---- what else a file may be ---------------------------------------------------------------- */

static const struct looks {
    const char *magic;
    size_t bytes;
    const char *what;
} looks[] = {
    {"\x1f\x8b", 2, "gzip data; unpack it first: gzip -dc FILE | lardsim ... -"},
    {"\x28\xb5\x2f\xfd", 4, "zstd data; unpack it first: zstd -dc FILE | lardsim ... -"},
    {"\xfd"
     "7zXZ",
     5, "xz data; unpack it first: xz -dc FILE | lardsim ... -"},
    {"BZh", 3, "bzip2 data; unpack it first: bzip2 -dc FILE | lardsim ... -"},
    {"PK\x03\x04", 4, "a zip or jar archive; unpack it first"},
    {"\x7f"
     "ELF",
     4, "an ELF program or library; record a trace of its run first"},
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

/* RAPID's STD text: T0|w(V1)|23 */
static bool looks_std(const struct input *in)
{
    const unsigned char *p = in->head, *const end = p + in->head_n;
    const unsigned char *bar = memchr(p, '|', in->head_n), *line = memchr(p, '\n', in->head_n);

    if (!bar || (line && line < bar))
        return false;
    p = bar + 1;
    while (p < end && *p >= 'a' && *p <= 'z')
        p++;
    return p > bar + 1 && p < end && (*p == '(' || *p == '|');
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
    if (looks_std(in))
        return "RAPID's STD text; convert it first";
    return looks_text(in) ? "text of some other kind; a text trace begins with \"lardsim-text 1\""
                          : "binary data of some other kind";
}

static int unknown_format(const struct input *in, struct err *e)
{
    char known[200] = "";
    size_t n = 0;

    for (size_t i = 0; trace_formats[i] && n < sizeof known; i++) {
        const int more =
            snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", trace_formats[i]->name);

        n += more > 0 ? (size_t)more : 0;
    }
    return err_set(e, LARD_TRACE,
                   "%s: not a trace in a format that is known (%s). It looks like %s", in->name,
                   known, looks_like(in));
}

/* ---- opening -------------------------------------------------------------------------------- */

static int open_file(struct input *in, struct err *e)
{
    struct stat st;

    in->file = fopen(in->name, "rb");
    if (!in->file && errno == ENOENT)
        return err_set(e, LARD_TRACE, "%s: there is no such file", in->name);
    if (!in->file)
        return err_set(e, LARD_TRACE, "%s: can't be opened: %s", in->name, strerror(errno));
    if (fstat(fileno(in->file), &st))
        return err_set(e, LARD_TRACE, "%s: can't be looked at: %s", in->name, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return err_set(e, LARD_TRACE, "%s: is a directory; name a trace in it", in->name);
    in->seekable = S_ISREG(st.st_mode);
    return 0;
}

static int read_head(struct input *in, struct err *e)
{
    errno = 0;
    in->head_n = fread(in->head, 1, sizeof in->head, in->file);
    if (ferror(in->file))
        return err_set(e, LARD_TRACE, "%s: can't be read: %s", in->name, strerror(errno));
    if (!in->head_n)
        return err_set(e, LARD_TRACE, "%s: is empty; even a trace without events has a first line",
                       in->name);
    return 0;
}

static struct input *input_open(const char *spec, struct err *e)
{
    struct input *in = xcalloc(1, sizeof *in);
    const bool standard = !strcmp(spec, "-");

    in->name = xstrdup(standard ? "standard input" : spec);
    if (standard)
        in->file = stdin;
    if ((standard || !open_file(in, e)) && !read_head(in, e))
        return in;
    input_free(in);
    return NULL;
}

static struct source *open_generator(const char *assignments, struct err *e)
{
    struct synth_params p = {0};

    return synth_parse(&p, assignments, e) ? NULL : synth_open(&p, e);
}

struct source *source_open(const char *spec, struct err *e)
{
    static const char generator[] = "synth:";
    struct input *in;

    if (!strncmp(spec, generator, sizeof generator - 1))
        return open_generator(spec + sizeof generator - 1, e);
    in = input_open(spec, e);
    if (!in)
        return NULL;
    for (size_t i = 0; trace_formats[i]; i++)
        if (trace_formats[i]->bid(in))
            return trace_formats[i]->open(in, e);
    unknown_format(in, e);
    input_free(in);
    return NULL;
}

/* ---- copying -------------------------------------------------------------------------------- */

static int pump_batch(const struct batch *b, struct sink *to, struct err *e)
{
    const struct event *const end = b->rec + b->records;

    for (const struct event *ev = b->rec; ev < end; ev += event_records(ev))
        if (to->event(to, ev, e))
            return -1;
    return 0;
}

int trace_pump(struct source *from, struct sink *to, struct err *e)
{
    struct batch b;

    do {
        if (source_next(from, &b, e) || to->names(to, from->names, e) || pump_batch(&b, to, e))
            return -1;
    } while (b.records);
    return 0;
}
