/* gem5_packet.c - the container of gem5's traces (src/proto/protoio.cc): four bytes, then messages
 * behind their lengths, the first of them the header. Messages are protobuf's
 * (src/proto/packet.proto), of which only numbers and texts occur; they are taken apart here. */
#include "trace/foreign/gem5_form.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/bytes.h"

enum { HEADER_MAX = 1 << 24, PACKET_MAX = 1 << 16, FILL = 1 << 16, NAME_MAX_BYTES = 1000 };
enum { NAMES_MAX = 1 << 16 }; /* a requestor's id has 16 bits in gem5 */

int gem5_fail(struct gem5_file *f, uint64_t at, const char *what, const char *remedy)
{
    return err_set(&f->failed, LARD_TRACE, "%s: byte %" PRIu64 ": %s; %s", f->in->name, at, what,
                   remedy);
}

static const char foreign[] = "the file is damaged, or no packet trace of gem5";

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Whether there are n bytes to take; reads them if need be. */
static bool have(struct gem5_file *f, size_t n)
{
    if (f->end - f->start >= n)
        return true;
    memmove(f->buffer, f->buffer + f->start, f->end - f->start);
    f->end -= f->start;
    f->start = 0;
    if (f->cap < n + FILL) {
        f->cap = n + FILL;
        f->buffer = xrealloc(f->buffer, f->cap, 1);
    }
    f->end += input_read(f->in, f->buffer + f->end, f->cap - f->end);
    return f->end >= n;
}

static int cut_off(struct gem5_file *f)
{
    const char *fault = input_fault(f->in);

    if (fault)
        return err_set(&f->failed, LARD_TRACE, "%s: can't be read beyond byte %" PRIu64 ": %s",
                       f->in->name, f->at, fault);
    return gem5_fail(f, f->at, "the last packet is cut off",
                     "gem5 did not end well, or the file was not copied whole; record it again");
}

/* The next message. 1, 0: there is none, or -1. */
static int message(struct gem5_file *f, size_t max, struct byte_slice *to)
{
    enum { LENGTH_MAX = 10 };
    uint64_t n;

    f->at = f->next;
    if (!have(f, LENGTH_MAX) && f->end == f->start)
        return input_fault(f->in) ? cut_off(f) : 0;
    *to = (struct byte_slice){f->buffer + f->start, f->buffer + f->end};
    if (slice_varint(to, &n)) {
        if (to->at == to->end)
            return cut_off(f);
        n = UINT64_MAX;
    }
    if (n > max)
        return gem5_fail(f, f->at, "the message is too long", foreign);
    const size_t length = (size_t)(to->at - (f->buffer + f->start));
    if (!have(f, length + n))
        return cut_off(f);
    to->at = f->buffer + f->start + length;
    to->end = to->at + n;
    f->start += length + n;
    f->next += length + n;
    return 1;
}

/* ---- fields --------------------------------------------------------------------------------- */

enum wire { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_FIXED32 = 5 };

struct gem5_field {
    uint64_t number, value; /* value: of a varint */
    enum wire wire;
    struct byte_slice bytes; /* a field of type WIRE_BYTES */
};

static bool skip(struct byte_slice *b, uint64_t n)
{
    if (n > (uint64_t)(b->end - b->at))
        return false;
    b->at += n;
    return true;
}

/* Takes a field off a message that is not at its end. */
static bool field(struct byte_slice *b, struct gem5_field *to)
{
    uint64_t tag;

    if (slice_varint(b, &tag))
        return false;
    to->number = tag >> 3;
    to->wire = (enum wire)(tag & 7);
    switch (tag & 7) {
    case WIRE_VARINT:
        return !slice_varint(b, &to->value);
    case WIRE_FIXED64:
        return skip(b, 8);
    case WIRE_FIXED32:
        return skip(b, 4);
    case WIRE_BYTES:
        if (slice_varint(b, &to->value))
            return false;
        to->bytes.at = b->at;
        if (!skip(b, to->value))
            return false;
        to->bytes.end = b->at;
        return true;
    default:
        return false;
    }
}

/* ---- the header ----------------------------------------------------------------------------- */

static int add_name(struct gem5_file *f, struct byte_slice b)
{
    struct gem5_name name = {0, NULL};
    struct byte_slice text = {b.at, b.at};
    struct gem5_field of;

    while (b.at < b.end) {
        if (!field(&b, &of))
            return -1;
        if (of.number == 1 && of.wire == WIRE_VARINT)
            name.id = of.value;
        else if (of.number == 2 && of.wire == WIRE_BYTES)
            text = of.bytes;
    }
    if (f->names == NAMES_MAX || text.end - text.at > NAME_MAX_BYTES)
        return -1;
    name.text = xasprintf("%.*s", (int)(text.end - text.at), (const char *)text.at);
    f->name = xgrow(f->name, f->names, &f->names_cap, sizeof *f->name);
    f->name[f->names++] = name;
    return 0;
}

/* 1 what wrote it, 2 a version that is never set, 3 ticks of a second, 4 names of requestors. The
 * headers of gem5's other traces have a number in place of the names. */
static int take_header(struct gem5_file *f, struct byte_slice b)
{
    bool object = false;
    struct gem5_field of;

    while (b.at < b.end) {
        if (!field(&b, &of))
            return gem5_fail(f, f->at, "the header can't be taken apart", foreign);
        object |= of.number == 1 && of.wire == WIRE_BYTES;
        if (of.number == 3 && of.wire == WIRE_VARINT)
            f->ticks = of.value;
        if (of.number == 4 && of.wire == WIRE_VARINT)
            return gem5_fail(f, f->at,
                             "the header is that of a trace of instructions or dependencies",
                             "record packets, with a CommMonitor and a MemTraceProbe");
        if (of.number == 4 && of.wire == WIRE_BYTES && add_name(f, of.bytes))
            return gem5_fail(f, f->at, "a requestor's name can't be taken apart", foreign);
    }
    if (object && f->ticks)
        return 0;
    return gem5_fail(f, f->at, "the header names no object or no ticks of a second", foreign);
}

static int read_header(struct gem5_file *f)
{
    struct byte_slice b;

    if (!have(f, sizeof GEM5_MAGIC - 1) ||
        memcmp(f->buffer + f->start, GEM5_MAGIC, sizeof GEM5_MAGIC - 1) != 0)
        return gem5_fail(f, 0, "a trace of gem5 begins with \"" GEM5_MAGIC "\"",
                         "name what MemTraceProbe has written");
    f->start += sizeof GEM5_MAGIC - 1;
    f->next = sizeof GEM5_MAGIC - 1;
    const int got = message(f, HEADER_MAX, &b);
    if (got <= 0)
        return got ? -1 : gem5_fail(f, f->at, "the header is missing", foreign);
    return take_header(f, b);
}

struct gem5_file *gem5_file_open(struct input *in, struct err *e)
{
    struct gem5_file *f = xcalloc(1, sizeof *f);

    *f = (struct gem5_file){.in = in, .cap = FILL, .buffer = xmalloc(FILL)};
    if (!read_header(f))
        return f;
    err_pass(e, &f->failed);
    gem5_file_close(f);
    return NULL;
}

void gem5_file_close(struct gem5_file *f)
{
    input_free(f->in);
    for (size_t i = 0; i < f->names; i++)
        free(f->name[i].text);
    free(f->name);
    free(f->buffer);
    free(f);
}

/* ---- packets -------------------------------------------------------------------------------- */

/* 1 tick, 2 command, 3 address, 4 size; 5 flags, 6 requestor and 7 PC may be missing. */
static bool take_packet(struct byte_slice b, struct gem5_packet *p)
{
    enum { NUMBERS = 8, NEEDED = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 };
    uint64_t *const to[NUMBERS] = {NULL,     &p->tick,  &p->command,   &p->addr,
                                   &p->size, &p->flags, &p->requestor, &p->pc};
    unsigned seen = 0;
    struct gem5_field of;

    while (b.at < b.end) {
        if (!field(&b, &of) || !of.number)
            return false;
        if (of.number >= NUMBERS)
            continue;
        if (of.wire != WIRE_VARINT)
            return false;
        *to[of.number] = of.value;
        seen |= 1U << of.number;
    }
    return (seen & NEEDED) == NEEDED;
}

int gem5_packet_next(struct gem5_file *f, struct gem5_packet *p)
{
    struct byte_slice b;

    if (f->failed.code)
        return -1;
    int got = message(f, PACKET_MAX, &b);
    if (got <= 0)
        return got;
    *p = (struct gem5_packet){.at = f->at};
    if (!take_packet(b, p))
        return gem5_fail(f, f->at,
                         "the packet can't be taken apart, or lacks tick, command, "
                         "address or size",
                         foreign);
    if (p->tick < f->before)
        return gem5_fail(f, f->at, "the packet is earlier than the one before it",
                         "packets stand in the order of their ticks; name the file as gem5 has "
                         "written it, and several of them with commas between");
    f->before = p->tick;
    return 1;
}
