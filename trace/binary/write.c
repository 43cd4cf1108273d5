/* write.c - the sink that writes the binary form. Never seeks, so a pipe will do. Names go
 * out before the block of events in which they are first used. */
#include "base/mem.h"
#include "trace/binary/binary.h"
#include "trace/binary/codec.h"
#include "trace/text/form.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct binary_sink {
    struct sink base;
    FILE *out;                     /* borrowed */
    struct block_encoder *encoder; /* owns, as the tally */
    struct trace_tally *tally;
    uint64_t offset; /* bytes written */
    uint64_t preamble_digest;
    struct block_place next; /* the block that comes next */
    size_t names_taken;      /* how many of the names seen so far */
    uint32_t names_waiting;
    struct bytes names;   /* these */
    struct bytes payload; /* the block being written */
    bool failed;          /* the file is of no use */
};

static void binary_sink_abort(struct sink *s)
{
    struct binary_sink *b = (struct binary_sink *)s;

    block_encoder_free(b->encoder);
    tally_free(b->tally);
    bytes_free(&b->names);
    bytes_free(&b->payload);
    free(b);
}

static int out_put(struct binary_sink *b, const void *p, size_t n, struct err *e)
{
    errno = 0;
    if (!b->failed && fwrite(p, 1, n, b->out) == n) {
        b->offset += n;
        return 0;
    }
    b->failed = true;
    return err_set(e, LARD_OUTPUT, "the trace can't be written after %" PRIu64 " bytes: %s",
                   b->offset, errno ? strerror(errno) : "an earlier error");
}

static int section_put(struct binary_sink *b, enum section section, struct block_sum sum,
                       const struct bytes *payload, struct err *e)
{
    const struct block_header h = {
        .section = section,
        .payload = (uint32_t)payload->n,
        .events = (uint32_t)sum.events,
        .records = (uint32_t)sum.records,
        .number = (uint32_t)b->next.number,
        .first = b->next.first,
        .digest = digest_bytes(payload->at, payload->n),
    };
    uint8_t header[HEADER_BYTES];

    assert(payload->n <= PAYLOAD_MAX);
    if (section != SECTION_FOOTER)
        tally_block(b->tally, &h, b->offset);
    block_header_put(header, &h);
    b->next.number++;
    b->next.first += sum.events;
    if (out_put(b, header, sizeof header, e))
        return -1;
    return payload->n ? out_put(b, payload->at, payload->n, e) : 0;
}

/* ---- names ---------------------------------------------------------------------------------- */

static int names_flush(struct binary_sink *b, struct err *e)
{
    const uint32_t n = b->names_waiting;

    if (n == 0)
        return 0;
    const int result = section_put(b, SECTION_NAMES, (struct block_sum){0, n}, &b->names, e);
    b->names.n = 0;
    b->names_waiting = 0;
    return result;
}

static void name_take(struct binary_sink *b, const struct name *name)
{
    const size_t length = strlen(name->text);
    uint8_t head[NAME_HEAD_BYTES] = {0};

    put64(head, name->id);
    head[8] = (uint8_t)length;
    head[9] = (uint8_t)(length >> 8);
    head[10] = (uint8_t)name->space;
    bytes_add(&b->names, head, sizeof head);
    bytes_add(&b->names, name->text, length);
    b->names_waiting++;
}

static int binary_sink_names(struct sink *s, const struct names *from, struct err *e)
{
    struct binary_sink *b = (struct binary_sink *)s;
    const size_t n = from ? names_count(from) : 0;

    for (; b->names_taken < n; b->names_taken++) {
        const struct name *name = names_at(from, b->names_taken);
        if (b->names.n + NAME_HEAD_BYTES + strlen(name->text) > NAMES_BLOCK_MAX &&
            names_flush(b, e))
            return -1;
        name_take(b, name);
    }
    return 0;
}

/* ---- events --------------------------------------------------------------------------------- */

static int events_flush(struct binary_sink *b, struct err *e)
{
    const struct block_sum sum = block_sum(b->encoder);

    if (names_flush(b, e))
        return -1;
    if (sum.events == 0)
        return 0;
    tally_added(b->tally, b->encoder);
    b->payload.n = 0;
    block_put(b->encoder, &b->payload);
    return section_put(b, SECTION_EVENTS, sum, &b->payload, e);
}

/* Puts events into the block until it is full, or one is not well-formed. */
static const struct event *events_take(struct binary_sink *b, const struct event *ev,
                                       const struct event *end, const char **what)
{
    while (ev < end && block_sum(b->encoder).events < BLOCK_EVENTS) {
        ev = block_accesses(b->encoder, ev, end);
        if (ev == end || block_sum(b->encoder).events == BLOCK_EVENTS ||
            event_well_formed(ev, what))
            break;
        block_event(b->encoder, ev);
        ev += event_records(ev);
    }
    return ev;
}

/* Works in portions that stay in the nearest cache between being taken and being hashed. */
static int portion_take(struct binary_sink *b, const struct event **rec, const struct event *end,
                        struct err *e)
{
    enum { PORTION = 256 };
    const struct event *const from = *rec;
    const uint64_t number = b->next.first + block_sum(b->encoder).events;
    const char *what = NULL;

    if (number == FIRST_MAX)
        return err_set(e, LARD_TRACE, "the numbers of events must be below 2^63 - 1");
    if (FIRST_MAX - number < PORTION)
        end = from + 1;
    else if (end - from > PORTION)
        end = from + PORTION;
    *rec = events_take(b, from, end, &what);
    tally_identity(b->tally, from, (size_t)(*rec - from));
    return what ? err_set(e, LARD_TRACE, "event %" PRIu64 " can't be written: %s",
                          b->next.first + block_sum(b->encoder).events, what)
                : 0;
}

static int binary_sink_events(struct sink *s, const struct event *rec, size_t records,
                              struct err *e)
{
    struct binary_sink *b = (struct binary_sink *)s;

    for (const struct event *const end = rec + records; rec < end;) {
        if ((block_sum(b->encoder).events == BLOCK_EVENTS && events_flush(b, e)) ||
            portion_take(b, &rec, end, e))
            return -1;
    }
    return 0;
}

static int binary_sink_event(struct sink *s, const struct event *ev, struct err *e)
{
    return binary_sink_events(s, ev, event_records(ev), e);
}

static int binary_sink_finish(struct sink *s, struct err *e)
{
    struct binary_sink *b = (struct binary_sink *)s;
    uint8_t trailer[TRAILER_BYTES];
    int result = events_flush(b, e);

    if (!result) {
        trailer_put(trailer, b->offset);
        b->payload.n = 0;
        tally_footer(b->tally, b->preamble_digest, &b->payload);
        result = section_put(b, SECTION_FOOTER, (struct block_sum){0, 0}, &b->payload, e);
    }
    if (!result)
        result = out_put(b, trailer, sizeof trailer, e);
    errno = 0;
    if (!result && (fflush(b->out) || ferror(b->out)))
        result = err_set(e, LARD_OUTPUT, "the trace of %" PRIu64 " bytes can't be written: %s",
                         b->offset, errno ? strerror(errno) : "an earlier error");
    binary_sink_abort(s);
    return result;
}

/* ---- the preamble --------------------------------------------------------------------------- */

static int preamble_put(struct binary_sink *b, const struct sink_info *info, struct err *e)
{
    const char *producer = info->producer ? info->producer : "lardsim " PACKAGE_VERSION;
    char text[512], granularity[32] = "", layout[64] = "", gaps[32] = "";
    int n;

    if (text_info_check(info, producer, e))
        return -1;
    if (info->granularity)
        snprintf(granularity, sizeof granularity, "granularity: %u\n", info->granularity);
    if (info->layout)
        snprintf(layout, sizeof layout, "layout: %s\n", layouts[info->layout].name);
    if (info->gaps)
        snprintf(gaps, sizeof gaps, "gaps: %s\n", gap_unit_names[info->gaps]);
    n = snprintf(text, sizeof text, BINARY_MAGIC "%d\nproducer: %s\nfirst: %" PRIu64 "\n%s%s%s\n",
                 BINARY_VERSION, producer, info->first, granularity, layout, gaps);
    assert(n > 0 && (size_t)n < sizeof text);
    b->preamble_digest = digest_bytes(text, (size_t)n);
    return out_put(b, text, (size_t)n, e);
}

struct sink *sink_binary(FILE *out, const struct sink_info *info, enum trace_codec codec, int level,
                         struct err *e)
{
    level = codec_level(codec, level, e);
    if (level < 0)
        return NULL;
    struct binary_sink *b = xcalloc(1, sizeof *b);
    b->base = (struct sink){binary_sink_event, binary_sink_events, binary_sink_names,
                            binary_sink_finish, binary_sink_abort};
    b->out = out;
    b->next.first = info->first;
    b->encoder = block_encoder_new(codec, level);
    b->tally = tally_new();
    if (!preamble_put(b, info, e))
        return &b->base;
    binary_sink_abort(&b->base);
    return NULL;
}
