/* input.c - the bytes of a file or pipe: the head that formats are told by, and gzip and zstd taken
 * off on the way. Memory is bounded whatever the packed data grow to. What the bytes mean is the
 * readers' business. */
#include "trace/binary/codec.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

enum { PACKED_BYTES = 1 << 16 };

/* A stream of gzip or zstd. Both may have several members one after the other; the data end well
 * only between two. */
struct packed {
    struct unpacker *unpacker; /* owns */
    const uint8_t *from, *end; /* bytes in the buffer that were not taken */
    uint64_t before;           /* bytes of the file before the buffer */
    bool between;              /* members: here the data may end */
    bool padding;              /* zeros have followed the last member of gzip */
    bool gzip, eof;
    uint8_t buffer[PACKED_BYTES];
};

/* ---- reading -------------------------------------------------------------------------------- */

/* The first fault stays: what comes after it would be misleading. */
static size_t file_read(struct input *in, void *to, size_t n)
{
    if (!n || !in->file)
        return 0;
    errno = 0;
    const size_t got = fread(to, 1, n, in->file);
    in->extent.done += got;
    if (got < n && ferror(in->file) && !*in->fault)
        snprintf(in->fault, sizeof in->fault, "%s", errno ? strerror(errno) : "an earlier error");
    return got;
}

static uint64_t packed_at(const struct packed *p)
{
    return p->before + (uint64_t)(p->from - p->buffer);
}

/* True: another member follows. As for `gzip -t`, zeros up to the end of the file, which tapes and
 * block devices leave behind the last member, say nothing. Other bytes are an error here, where
 * gzip warns of them and ignores them: a member may be damaged there. */
static bool member_follows(struct input *in, struct packed *p)
{
    while (p->from < p->end && *p->from == 0) {
        p->padding = true;
        p->from++;
    }
    if (p->from == p->end)
        return false;
    if (!p->padding && *p->from == 0x1f) /* a member's first byte */
        return true;
    snprintf(in->fault, sizeof in->fault,
             "the gzip data end before byte %" PRIu64 ", and what is there is neither more of them "
             "nor padding; if it is not of the trace, cut the file off there",
             packed_at(p));
    return false;
}

/* False: there is nothing more to unpack, or it can't be. */
static bool packed_step(struct input *in, struct packed *p, uint8_t **to, uint8_t *to_end)
{
    const uint8_t *const had = *to;

    if (p->from == p->end && !p->eof) {
        p->before = packed_at(p);
        const size_t got = file_read(in, p->buffer, sizeof p->buffer);
        p->from = p->buffer;
        p->end = p->buffer + got;
        p->eof = got < sizeof p->buffer;
    }
    if (*in->fault || (p->between && p->from == p->end))
        return false;
    if (p->between && p->gzip && !member_follows(in, p))
        return !*in->fault;
    const char *what = p->gzip ? "gzip" : "zstd";
    const uint64_t at = packed_at(p);
    int step = unpacker_step(p->unpacker, &p->from, p->end, to, to_end);
    p->between = step > 0;
    if (step < 0)
        snprintf(in->fault, sizeof in->fault,
                 "the %s data are damaged at byte %" PRIu64 " or soon after: %s", what, at,
                 unpacker_fault(p->unpacker));
    else if (!step && *to == had && p->from == p->end && p->eof)
        snprintf(in->fault, sizeof in->fault, "the %s data end too early (truncated?)", what);
    return !*in->fault;
}

static size_t packed_read(struct input *in, struct packed *p, uint8_t *to, size_t n)
{
    uint8_t *at = to;

    while (at < to + n && packed_step(in, p, &at, to + n))
        continue;
    return (size_t)(at - to);
}

/* The head was read ahead, to tell the format: it is given out first. */
size_t input_read(struct input *in, void *to, size_t n)
{
    const size_t ahead = n < in->head_n ? n : in->head_n;
    uint8_t *const rest = (uint8_t *)to + ahead;

    memcpy(to, in->head, ahead);
    memmove(in->head, in->head + ahead, in->head_n - ahead);
    in->head_n -= ahead;
    if (ahead == n || *in->fault)
        return ahead;
    if (in->packed)
        return ahead + packed_read(in, in->packed, rest, n - ahead);
    return ahead + file_read(in, rest, n - ahead);
}

const char *input_fault(const struct input *in)
{
    return *in->fault ? in->fault : NULL;
}

uint64_t input_bytes(const struct input *in)
{
    return in->packed ? unpacker_bytes(in->packed->unpacker) : 0;
}

struct source input_source(const struct input *in, const char *format,
                           int (*next)(struct source *s, struct batch *b, struct err *e),
                           void (*close)(struct source *s), const struct names *names)
{
    return (struct source){.next = next,
                           .close = close,
                           .names = names,
                           .name = in->name,
                           .format = format,
                           .extent = &in->extent};
}

void input_free(struct input *in)
{
    if (!in)
        return;
    if (in->packed)
        unpacker_free(in->packed->unpacker);
    if (in->file && in->file != stdin)
        fclose(in->file);
    for (size_t i = 0; i < in->n_more; i++)
        free(in->more[i]);
    free(in->more);
    free(in->packed);
    free(in->options);
    free(in->name);
    free(in);
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
    if (in->seekable)
        in->extent.all = (uint64_t)st.st_size;
    return 0;
}

/* The head moves into the packed data, and gets what they hold. */
static void unpack(struct input *in, enum packing how)
{
    struct packed *p = xcalloc(1, sizeof *p);

    p->unpacker = unpacker_new(how);
    p->gzip = how == PACKING_GZIP;
    memcpy(p->buffer, in->head, in->head_n);
    p->from = p->buffer;
    p->end = p->buffer + in->head_n;
    in->packed = p;
    in->seekable = false;
    in->head_n = packed_read(in, p, in->head, sizeof in->head);
}

static int read_head(struct input *in, struct err *e)
{
    const char *empty = "is empty";

    in->head_n = file_read(in, in->head, sizeof in->head);
    const enum packing how = packing_of(in->head, in->head_n);
    if (how != PACKING_NONE) {
        unpack(in, how);
        empty = "holds nothing once it is unpacked";
    }
    if (!in->head_n && *in->fault)
        return err_set(e, LARD_TRACE, "%s: can't be read: %s", in->name, in->fault);
    if (!in->head_n)
        return err_set(e, LARD_TRACE, "%s: %s; even a trace without events has a first line",
                       in->name, empty);
    return 0;
}

struct input *input_open(const char *path, struct err *e)
{
    struct input *in = xcalloc(1, sizeof *in);
    const bool standard = !strcmp(path, "-");

    in->name = xstrdup(standard ? "standard input" : path);
    if (standard)
        in->file = stdin;
    if ((standard || !open_file(in, e)) && !read_head(in, e))
        return in;
    input_free(in);
    return NULL;
}
