/* read.c - the source that reads the binary form, block by block, from a file or a pipe. It
 * believes nothing that it has not checked, and never ends silently where a trace does not. */
#include "base/mem.h"
#include "trace/binary/binary.h"
#include "trace/text/form.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#define REMEDY "use `lardsim trace cut --salvage IN OUT`"

enum state { STATE_READING, STATE_ENDED, STATE_FAILED };

/* Reads header by header. At any time all bytes before `good` have been checked, so that errors can
 * say up to where the trace is whole. */
struct binary {
    struct source base;
    struct input *in; /* owns, as all pointers here */
    struct names *names;
    char *producer;
    struct block_decoder *decoder;
    struct trace_tally *tally;
    struct event *rec;
    size_t records; /* records of the latest batch */
    uint8_t *payload;
    size_t payload_cap;
    struct block_header block; /* the one being given out */
    uint32_t left;             /* its events that have not been given out */
    struct bytes footer;       /* as it should be */
    uint64_t offset;           /* bytes read */
    uint64_t good;             /* end of the last whole block */
    uint64_t preamble_digest;
    struct block_place next;
    /* In events, as the footer has them; all 0: there is none to be seen. */
    struct source_extent extent;
    enum state state;
    bool salvage;
    struct err failed; /* after STATE_FAILED */
    char lost[256];    /* after a salvage has met damage */
};

static size_t read_some(struct binary *b, void *to, size_t n)
{
    const size_t got = input_read(b->in, to, n);

    b->offset += got;
    return got;
}

/* ---- what is wrong -------------------------------------------------------------------------- */

/* Ends the source: with an error, or silently. fmt: what is to stand after "FILE: ". */
PRINTF_LIKE(3, 4)
static int damaged(struct binary *b, const char *remedy, const char *fmt, ...)
{
    char what[sizeof b->lost];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    b->state = b->salvage ? STATE_ENDED : STATE_FAILED;
    if (!b->salvage)
        return err_set(&b->failed, LARD_TRACE, "%s: %s%s", b->base.name, what, remedy);
    memcpy(b->lost, what, sizeof what);
    return -1;
}

static int truncated(struct binary *b)
{
    char after[48] = "its preamble";

    if (input_fault(b->in))
        return damaged(b, "", "can't be read after byte %" PRIu64 ": %s", b->offset,
                       input_fault(b->in));
    if (b->next.first > b->base.first)
        snprintf(after, sizeof after, "event %" PRIu64, b->next.first - 1);
    return damaged(b, ": " REMEDY,
                   "ends at byte %" PRIu64 " without its end mark after %s (truncated?)", b->offset,
                   after);
}

/* The block that begins at b->good, or something in it. */
static int bad_block(struct binary *b, uint64_t event, const char *what)
{
    return damaged(b, ": " REMEDY " to keep what is before it",
                   "block %" PRIu64 " at byte %" PRIu64 " (event %" PRIu64 "): %.120s",
                   b->next.number, b->good, event, what);
}

static int bad_end(struct binary *b, const char *what)
{
    return damaged(b, ": " REMEDY " to write it anew",
                   "all its blocks are whole, but at byte %" PRIu64 " %s", b->good, what);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static int payload_read(struct binary *b, const struct block_header *h)
{
    if (!b->payload || h->payload > b->payload_cap) {
        free(b->payload);
        b->payload = xmalloc(h->payload);
        b->payload_cap = h->payload;
    }
    if (read_some(b, b->payload, h->payload) < h->payload)
        return truncated(b);
    if (digest_bytes(b->payload, h->payload) != h->digest)
        return bad_block(b, b->next.first, "its bytes do not fit its checksum");
    return 0;
}

static int block_read(struct binary *b, struct block_header *h)
{
    uint8_t header[HEADER_BYTES];
    const char *what = NULL;

    errno = 0;
    if (read_some(b, header, sizeof header) < sizeof header)
        return truncated(b);
    if (block_header_get(header, b->next, h, &what))
        return bad_block(b, b->next.first, what);
    return payload_read(b, h);
}

static void block_done(struct binary *b, const struct block_header *h)
{
    tally_block(b->tally, h, b->good);
    b->next.number++;
    b->next.first += h->events;
    b->good = b->offset;
}

static int events_open(struct binary *b, const struct block_header *h)
{
    struct block_fault fault;

    if (!b->rec)
        b->rec = xmalloc(SLICE_RECORDS * sizeof *b->rec);
    if (!b->decoder)
        b->decoder = block_decoder_new(b->base.version);
    if (block_open(b->decoder, b->payload, h->payload, h->events, h->records, &fault))
        return bad_block(b, h->first, fault.what);
    tally_counts(b->tally, h, b->decoder);
    b->block = *h;
    b->left = h->events;
    return 0;
}

static int events_next(struct binary *b, struct batch *to)
{
    struct block_sum slice;
    struct block_fault fault;

    if (block_next(b->decoder, b->rec, &slice, &fault))
        return bad_block(b, b->block.first + fault.event, fault.what);
    *to = (struct batch){.rec = b->rec,
                         .records = slice.records,
                         .first = b->block.first + b->block.events - b->left};
    b->records = slice.records;
    b->extent.done += slice.events;
    b->left -= (uint32_t)slice.events;
    if (b->left == 0)
        block_done(b, &b->block);
    return 0;
}

/* Returns the bytes of the name at `at`, or 0 and *e. */
static size_t name_read(struct names *to, const uint8_t *at, size_t left, struct err *e)
{
    const size_t length = left < NAME_HEAD_BYTES ? left : at[8] | (size_t)at[9] << 8;
    char text[UINT16_MAX + 1];

    if (left < NAME_HEAD_BYTES + length || at[11] || memchr(at + NAME_HEAD_BYTES, 0, length)) {
        err_set(e, LARD_TRACE, "a name in it is not whole");
        return 0;
    }
    memcpy(text, at + NAME_HEAD_BYTES, length);
    text[length] = 0;
    return names_add(to, (enum name_space)at[10], get64(at), text, e) ? 0
                                                                      : NAME_HEAD_BYTES + length;
}

int names_block(struct names *to, const struct block_header *h, const uint8_t *payload,
                struct err *e)
{
    size_t at = 0;

    for (uint32_t i = 0; i < h->records; i++) {
        const size_t n = name_read(to, payload + at, h->payload - at, e);
        if (n == 0)
            return -1;
        at += n;
    }
    return at == h->payload ? 0 : err_set(e, LARD_TRACE, "bytes are left over after its names");
}

/* The footer must say what the blocks said, and nothing may follow but its trailer. */
static int footer_read(struct binary *b, const struct block_header *h)
{
    uint8_t trailer[TRAILER_BYTES], more;
    uint64_t footer_at;

    tally_footer(b->tally, b->preamble_digest, &b->footer);
    if (h->records || h->payload != b->footer.n ||
        memcmp(b->payload, b->footer.at, b->footer.n) != 0)
        return bad_end(b, "the footer tells of other blocks or of another preamble");
    errno = 0;
    if (read_some(b, trailer, sizeof trailer) < sizeof trailer)
        return truncated(b);
    if (trailer_get(trailer, &footer_at) || footer_at != b->good)
        return bad_end(b, "the end mark is not right");
    b->good = b->offset;
    if (read_some(b, &more, 1))
        return bad_end(b, "more bytes follow");
    b->state = STATE_ENDED;
    return 0;
}

/* The block is whole and its bytes fit; its events are given out later. */
static int block_take(struct binary *b)
{
    struct block_header h;

    if (block_read(b, &h))
        return -1;
    if (h.section == SECTION_EVENTS)
        return events_open(b, &h);
    if (h.section == SECTION_FOOTER)
        return footer_read(b, &h);
    struct err e = {0};
    if (names_block(b->names, &h, b->payload, &e))
        return bad_block(b, h.first, e.text);
    block_done(b, &h);
    return 0;
}

static uint64_t kept(const struct binary *b)
{
    return names_bytes(b->names) + b->payload_cap + input_bytes(b->in);
}

/* The identity takes the records of the batch before, which the consumer had time to use: a
 * consumer that stops inside a batch adds what it took by itself. */
static int binary_read(struct binary *b, struct batch *to)
{
    tally_identity(b->tally, b->rec, b->records);
    b->records = 0;
    const uint64_t most = kept(b) + KEPT_STEP;

    while (b->state == STATE_READING && to->records == 0 && !to->more) {
        if (b->left ? events_next(b, to) : block_take(b))
            return -1;
        to->more = to->records == 0 && kept(b) > most;
    }
    to->kept = kept(b);
    return 0;
}

static int binary_next(struct source *s, struct batch *to, struct err *e)
{
    struct binary *b = (struct binary *)s;

    *to = (struct batch){.first = b->next.first};
    if (binary_read(b, to))
        *to = (struct batch){.first = b->next.first};
    return b->state == STATE_FAILED ? err_pass(e, &b->failed) : 0;
}

static void binary_close(struct source *s)
{
    struct binary *b = (struct binary *)s;

    input_free(b->in);
    names_free(b->names);
    free(b->producer);
    block_decoder_free(b->decoder);
    tally_free(b->tally);
    free(b->rec);
    free(b->payload);
    bytes_free(&b->footer);
    free(b);
}

/* ---- the preamble --------------------------------------------------------------------------- */

static int preamble_fail(struct binary *b, unsigned line, const char *what, struct err *e)
{
    return err_set(e, LARD_TRACE,
                   "%s:%u: %s; the preamble of a trace is damaged, or it is no trace", b->base.name,
                   line, what);
}

static int preamble_short(struct binary *b, struct err *e)
{
    if (input_fault(b->in))
        return err_set(e, LARD_TRACE, "%s: can't be read after byte %" PRIu64 ": %s", b->base.name,
                       b->offset, input_fault(b->in));
    return err_set(e, LARD_TRACE,
                   "%s: ends at byte %" PRIu64
                   " inside its preamble; nothing of the trace is left, record it again",
                   b->base.name, b->offset);
}

/* Reads up to the empty line; text gets the lines, with a NUL behind them. */
static int preamble_read(struct binary *b, char text[PREAMBLE_MAX + 1], struct err *e)
{
    size_t n = 0;

    for (;;) {
        if (n == PREAMBLE_MAX)
            return preamble_fail(b, 1, "no empty line within 4096 bytes", e);
        if (!read_some(b, text + n, 1))
            return preamble_short(b, e);
        if (text[n] != '\n' && (text[n] < ' ' || text[n] > '~'))
            return preamble_fail(b, 1, "a byte that is not printable ASCII", e);
        n++;
        if (n >= 2 && text[n - 1] == '\n' && text[n - 2] == '\n')
            break;
    }
    text[n] = 0;
    b->preamble_digest = digest_bytes(text, n);
    return 0;
}

static bool decimal(const char *text, uint64_t max, uint64_t *v)
{
    return text[strspn(text, "0123456789")] == 0 && !text_number_parse(text, v) && *v <= max;
}

static int version_check(struct binary *b, const char *line, struct err *e)
{
    const char *version = line + sizeof BINARY_MAGIC - 1;
    uint64_t v;

    if (strncmp(line, BINARY_MAGIC, sizeof BINARY_MAGIC - 1) != 0)
        return preamble_fail(b, 1, "the first line is not \"" BINARY_MAGIC "VERSION\"", e);
    if (!decimal(version, UINT64_MAX, &v))
        return preamble_fail(b, 1, "the version is not a number", e);
    if (!v || v > BINARY_VERSION)
        return err_set(e, LARD_TRACE,
                       "%s: is a trace of version %" PRIu64
                       ", this program knows versions 1 to %d: use a newer lardsim",
                       b->base.name, v, BINARY_VERSION);
    b->base.version = (unsigned)v;
    return 0;
}

/* "key: value". Keys that are unknown say nothing to this reader. */
static int preamble_line(struct binary *b, char *line, unsigned number, struct err *e)
{
    char *value = strstr(line, ": ");

    if (!value || value == line)
        return preamble_fail(b, number, "not a line \"key: value\"", e);
    *value = 0;
    value += 2;
    if (!strcmp(line, "first")) {
        if (!decimal(value, FIRST_MAX, &b->base.first))
            return preamble_fail(b, number, "first is not a number below 2^63", e);
        return 0;
    }
    const char *fault = text_header(&b->base, &b->producer, line, value);
    return fault ? preamble_fail(b, number, fault, e) : 0;
}

static int preamble_parse(struct binary *b, struct err *e)
{
    char text[PREAMBLE_MAX + 1], *rest = text, *line;

    if (preamble_read(b, text, e))
        return -1;
    for (unsigned number = 1; *(line = strsep(&rest, "\n")); number++)
        if (number == 1 ? version_check(b, line, e) : preamble_line(b, line, number, e))
            return -1;
    b->good = b->offset;
    b->next = (struct block_place){.number = 0, .first = b->base.first};
    return 0;
}

/* ---- the format ----------------------------------------------------------------------------- */

static bool binary_bid(const struct input *in)
{
    static const char magic[] = BINARY_MAGIC;
    const size_t n = in->head_n < sizeof magic - 1 ? in->head_n : sizeof magic - 1;

    return n > strlen("lardsim-t") && !memcmp(in->head, magic, n); /* shorter: cut off */
}

static struct source *binary_open(struct input *in, struct err *e)
{
    struct binary *b = xcalloc(1, sizeof *b);
    struct trace_summary told;

    b->in = in;
    b->names = names_new();
    b->tally = tally_new();
    b->base = input_source(in, NULL, binary_next, binary_close, b->names);
    b->base.identity = tally_digest(b->tally);
    if (preamble_parse(b, e)) {
        binary_close(&b->base);
        return NULL;
    }
    if (source_foresee(&b->base, &told) && told.events) {
        b->extent.all = told.events;
        b->base.extent = &b->extent;
    }
    return &b->base;
}

const struct trace_format trace_format_binary = {
    .name = "binary",
    .help = "lardsim's own: compressed blocks with checksums, see docs/trace-format.md.",
    .bid = binary_bid,
    .open = binary_open,
};

/* ---- for the summary ------------------------------------------------------------------------ */

bool binary_source(const struct source *s)
{
    return s->next == binary_next;
}

const char *binary_salvage(struct source *s)
{
    struct binary *b = (struct binary *)s;

    b->salvage = true;
    return b->lost;
}

void binary_look(const struct source *s, struct binary_look *to)
{
    const struct binary *b = (const struct binary *)s;

    *to = (struct binary_look){.in = b->in,
                               .read = b->offset,
                               .good = b->good,
                               .blocks = b->next.number,
                               .preamble_digest = b->preamble_digest};
}
