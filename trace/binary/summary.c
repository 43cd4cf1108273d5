/* summary.c - what a file says of itself: from the footer of a binary trace, else from its block
 * headers; other inputs are read through. And salvage: reading up to where damage begins. */
#include "base/mem.h"
#include "trace/binary/binary.h"
#include "trace/text/form.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a binary trace in a file --------------------------------------------------------------- */

static uint64_t bytes_of(const struct binary_look *f)
{
    return f->in->extent.all;
}

/* Leaves the place where the source reads as it is. */
static bool read_at(const struct binary_look *f, uint64_t at, void *to, size_t n)
{
    char *p = to;

    if (at > bytes_of(f) || n > bytes_of(f) - at)
        return false;
    while (n > 0) {
        const ssize_t got = pread(fileno(f->in->file), p, n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return true;
}

static bool footer_fits(const struct binary_look *f, const uint8_t *header, const uint8_t *payload,
                        size_t n, struct trace_summary *to)
{
    struct trace_summary told = *to;
    struct block_header h;

    if (footer_summary(payload, n, f->preamble_digest, &told) ||
        told.events > FIRST_MAX - told.first ||
        block_header_get(header, (struct block_place){told.blocks, told.first + told.events}, &h,
                         &(const char *){NULL}) ||
        h.section != SECTION_FOOTER || h.payload != n || h.digest != digest_bytes(payload, n))
        return false;
    *to = told;
    return true;
}

/* False: the file has no footer that fits; nothing was changed. */
static bool footer_look(const struct binary_look *f, struct trace_summary *to)
{
    uint8_t trailer[TRAILER_BYTES], header[HEADER_BYTES];
    uint64_t at;

    if (bytes_of(f) < f->good + HEADER_BYTES + TRAILER_BYTES)
        return false;
    const uint64_t end = bytes_of(f) - TRAILER_BYTES;
    if (!read_at(f, end, trailer, sizeof trailer) || trailer_get(trailer, &at) || at < f->good ||
        at > end - HEADER_BYTES || end - HEADER_BYTES - at > PAYLOAD_MAX)
        return false;
    const size_t n = (size_t)(end - HEADER_BYTES - at);
    uint8_t *payload = xmalloc(n);
    bool fits = read_at(f, at, header, sizeof header) &&
                read_at(f, at + HEADER_BYTES, payload, n) && footer_fits(f, header, payload, n, to);
    free(payload);
    return fits;
}

/* Reads the header at byte `at`. Returns the reason why no whole block begins there; NULL: one
 * does, *h. */
static const char *header_look(const struct binary_look *f, uint64_t at, struct block_place place,
                               struct block_header *h)
{
    uint8_t header[HEADER_BYTES];
    const char *what = NULL;

    if (at == bytes_of(f))
        return "the file ends without its end mark (truncated?)";
    if (!read_at(f, at, header, sizeof header))
        return "the header is cut off (truncated?)";
    if (block_header_get(header, place, h, &what))
        return what;
    if (h->payload > bytes_of(f) - at - HEADER_BYTES)
        return "it is cut off (truncated?)";
    return h->section == SECTION_FOOTER ? "the footer or the end mark is not right" : NULL;
}

static bool names_look(const struct binary_look *f, uint64_t at, const struct block_header *h,
                       struct names *to)
{
    uint8_t *payload = xmalloc(h->payload + 1);
    const bool fits = read_at(f, at, payload, h->payload) &&
                      digest_bytes(payload, h->payload) == h->digest &&
                      !names_block(to, h, payload, NULL);

    free(payload);
    return fits;
}

/* Walks the headers of a file. They are a chain: each tells where the next should be, and which
 * event it begins with. Names are wanted of a file that is whole; of all payloads only theirs are
 * read, and a fault in them is reported when the file is read through. NULL: a file without a
 * footer, of which it is told where that chain ends. */
static void headers_walk(const struct binary_look *f, struct names *names, struct trace_summary *to)
{
    struct block_place next = {.number = 0, .first = to->first};
    struct block_header h;
    uint64_t at = f->good;
    const char *what;

    for (; !(what = header_look(f, at, next, &h)); at += HEADER_BYTES + (uint64_t)h.payload) {
        next.number++;
        next.first += h.events;
        if (names && h.section == SECTION_NAMES && !names_look(f, at + HEADER_BYTES, &h, names))
            return;
    }
    if (names)
        return;
    to->blocks = next.number;
    to->events = next.first - to->first;
    to->good_bytes = at;
    snprintf(to->damage, sizeof to->damage,
             "block %" PRIu64 " at byte %" PRIu64 " (event %" PRIu64 "): %s", next.number, at,
             next.first, what);
}

static void file_summarize(const struct binary_look *f, struct trace_summary *to)
{
    to->file_bytes = bytes_of(f);
    to->complete = footer_look(f, to);
    struct names *const names = to->complete ? names_new() : NULL;
    headers_walk(f, names, to);
    if (!names)
        return;
    to->good_bytes = bytes_of(f);
    to->names = names_hash(names);
    names_free(names);
}

/* Returns what the source says of itself. */
static struct trace_summary source_said(const struct source *s)
{
    return (struct trace_summary){
        .first = s->first, .granularity = s->granularity, .layout = s->layout, .gaps = s->gaps};
}

bool source_foresee(const struct source *s, struct trace_summary *to)
{
    struct binary_look look;

    *to = source_said(s);
    if (!binary_source(s))
        return false;
    binary_look(s, &look);
    return look.in->seekable && footer_look(&look, to);
}

/* ---- whatever else -------------------------------------------------------------------------- */

static int read_through(struct source *s, struct trace_summary *to, struct err *e)
{
    struct trace_tally *tally = tally_new();
    struct batch b;
    int result;

    while (!(result = source_next(s, &b, e)) && b.records)
        tally_events(tally, b.rec, b.records);
    if (!result) {
        tally_summary(tally, to);
        to->names = names_hash(s->names);
    }
    tally_free(tally);
    return result;
}

static int pipe_summarize(struct source *s, struct trace_summary *to, struct err *e)
{
    const char *lost = binary_salvage(s);
    struct binary_look look;

    if (read_through(s, to, e))
        return -1;
    binary_look(s, &look);
    to->blocks = look.blocks;
    to->file_bytes = look.read;
    to->good_bytes = look.good;
    to->complete = !*lost;
    snprintf(to->damage, sizeof to->damage, "%s", lost);
    return 0;
}

static int other_summarize(struct source *s, struct trace_summary *to, struct err *e)
{
    struct stat st;

    if (read_through(s, to, e))
        return -1;
    to->complete = true;
    if ((s->version || s->format) && !stat(s->name, &st) && S_ISREG(st.st_mode))
        to->file_bytes = to->good_bytes = (uint64_t)st.st_size;
    return 0;
}

int trace_summarize(const char *spec, struct trace_summary *to, struct err *e)
{
    struct source *s = source_open(spec, e);
    struct binary_look look;
    int result = 0;

    if (!s)
        return -1;
    *to = source_said(s);
    snprintf(to->producer, sizeof to->producer, "%s", s->producer ? s->producer : "");
    if (binary_source(s)) {
        snprintf(to->format, sizeof to->format, BINARY_MAGIC "%u", s->version);
        binary_look(s, &look);
        if (look.in->seekable)
            file_summarize(&look, to);
        else
            result = pipe_summarize(s, to, e);
    } else {
        if (s->version)
            snprintf(to->format, sizeof to->format, TEXT_MAGIC " %u", s->version);
        else
            snprintf(to->format, sizeof to->format, "%s", s->format ? s->format : "generated");
        result = other_summarize(s, to, e);
    }
    source_close(s);
    return result;
}

/* ---- salvage -------------------------------------------------------------------------------- */

struct salvage { /* a source whose error is its end */
    struct source base;
    struct source *from; /* owns */
    char lost[256];
};

/* "FILE:LINE: reason" becomes "line LINE: reason": the caller names the file. */
static void keep_reason(struct salvage *v, const char *text)
{
    const size_t name = strlen(v->base.name);
    const bool named = strncmp(text, v->base.name, name) == 0 && text[name] == ':';

    if (named)
        text += name + 1;
    snprintf(v->lost, sizeof v->lost, "%s%s", named && *text != ' ' ? "line " : "",
             text + strspn(text, " "));
}

static int salvage_next(struct source *s, struct batch *b, struct err *e)
{
    struct salvage *v = (struct salvage *)s;
    struct err end = {0, ""};

    (void)e;
    if (!*v->lost && source_step(v->from, b, &end) == 0)
        return 0;
    if (!*v->lost)
        keep_reason(v, end.text);
    *b = (struct batch){.records = 0};
    return 0;
}

static void salvage_close(struct source *s)
{
    struct salvage *v = (struct salvage *)s;

    source_close(v->from);
    free(v);
}

struct source *source_salvage(const char *spec, const char **lost, struct err *e)
{
    struct source *s = source_open(spec, e);

    *lost = "";
    if (!s)
        return NULL;
    if (binary_source(s)) {
        *lost = binary_salvage(s);
        return s;
    }
    struct salvage *v = xcalloc(1, sizeof *v);
    v->base = *s;
    v->base.next = salvage_next;
    v->base.close = salvage_close;
    v->from = s;
    *lost = v->lost;
    return &v->base;
}
