/* binary.c - what the reader and the writer of the binary form share: block headers, the trailer,
 * and the tally from which the footer is made. Events' own bytes are in block.c. */
#include "base/mem.h"
#include "trace/binary/binary.h"
#include "trace/binary/block_form.h"

#include <stdlib.h>

/* ---- headers and trailer -------------------------------------------------------------------- */

/* "LBLK" and "LARDEND\n", little-endian */
#define HEADER_MAGIC  UINT32_C(0x4b4c424c)
#define TRAILER_MAGIC UINT64_C(0x0a444e454452414c)

static uint64_t header_check(const struct block_header *h)
{
    return digest_bytes(h, offsetof(struct block_header, check));
}

void block_header_put(uint8_t to[HEADER_BYTES], const struct block_header *h)
{
    struct block_header whole = *h;

    whole.magic = HEADER_MAGIC;
    whole.check = header_check(&whole);
    memcpy(to, &whole, sizeof whole);
}

static const char *header_fault(const struct block_header *h, struct block_place place)
{
    if (h->section == 0 || h->section >= SECTIONS)
        return "it is of an unknown type";
    if (h->payload > PAYLOAD_MAX)
        return "it has more than 16 MiB";
    if (h->number != (uint32_t)place.number)
        return "it is not the block that should be here";
    if (h->first != place.first || h->events > FIRST_MAX - h->first)
        return "its first event is not the one that should be here";
    if (h->section != SECTION_EVENTS)
        return h->events ? "it has events, but is not of their type" : NULL;
    if (h->events == 0 || h->events > BLOCK_EVENTS)
        return "it does not have 1 to 65536 events";
    if (h->records < h->events || h->records > h->events * EVENT_RECORDS)
        return "its events do not have one or two records each";
    return NULL;
}

int block_header_get(const uint8_t from[HEADER_BYTES], struct block_place place,
                     struct block_header *h, const char **what)
{
    memcpy(h, from, sizeof *h);
    if (h->magic != HEADER_MAGIC)
        *what = "here is no block";
    else if (h->check != header_check(h))
        *what = "its header does not fit its checksum";
    else
        *what = header_fault(h, place);
    return *what ? -1 : 0;
}

void trailer_put(uint8_t to[TRAILER_BYTES], uint64_t footer_at)
{
    put64(to, footer_at);
    put64(to + 8, TRAILER_MAGIC);
    put64(to + 16, digest_bytes(to, 16));
}

int trailer_get(const uint8_t from[TRAILER_BYTES], uint64_t *footer_at)
{
    *footer_at = get64(from);
    return get64(from + 8) == TRAILER_MAGIC && get64(from + 16) == digest_bytes(from, 16) ? 0 : -1;
}

/* ---- the tally ------------------------------------------------------------------------------ */

struct index_entry { /* as it lies in the footer */
    uint64_t at, first, events, section;
};

struct trace_tally {
    uint64_t events, records, blocks;
    uint64_t stride;           /* every so many blocks have an entry in the index; a power of 2 */
    struct index_entry *index; /* owns */
    size_t entries, cap;
    struct digest *identity; /* owns */
    uint64_t kinds[COUNTED];
    uint64_t threads[MAX_THREADS];
};

struct trace_tally *tally_new(void)
{
    struct trace_tally *t = xcalloc(1, sizeof *t);

    t->identity = digest_new();
    t->stride = 1;
    return t;
}

void tally_free(struct trace_tally *t)
{
    digest_free(t->identity);
    free(t->index);
    free(t);
}

void tally_block(struct trace_tally *t, const struct block_header *h, uint64_t at)
{
    if (t->blocks % t->stride == 0) {
        t->index = xgrow(t->index, t->entries, &t->cap, sizeof *t->index);
        t->index[t->entries++] = (struct index_entry){at, h->first, h->events, h->section};
    }
    /* A full index keeps every second entry, so that it never takes more than INDEX_MAX. */
    if (t->entries == INDEX_MAX) {
        for (size_t i = 0; i < t->entries / 2; i++)
            t->index[i] = t->index[2 * i];
        t->entries /= 2;
        t->stride *= 2;
    }
    t->blocks++;
}

void tally_events(struct trace_tally *t, const struct event *rec, size_t records)
{
    for (const struct event *ev = rec; ev < rec + records; ev += event_records(ev)) {
        shape_count_add(t->kinds, ev->kind, ev->flags, 1);
        if (is_summed(ev->kind))
            sums_add(t->kinds, ev->kind, ev->aux, ev->flags & EVF_MORE ? ev[1].size : 0);
        t->threads[ev->tid]++;
        t->events++;
    }
    t->records += records;
    tally_identity(t, rec, records);
}

void tally_added(struct trace_tally *t, const struct block_encoder *b)
{
    const struct block_sum sum = block_sum(b);

    t->events += sum.events;
    t->records += sum.records;
    block_added(b, t->kinds, t->threads);
}

void tally_counts(struct trace_tally *t, const struct block_header *h,
                  const struct block_decoder *b)
{
    t->events += h->events;
    t->records += h->records;
    block_count(b, t->kinds, t->threads);
}

void tally_identity(struct trace_tally *t, const struct event *rec, size_t records)
{
    if (records)
        digest_add(t->identity, rec, records * sizeof *rec);
}

struct digest *tally_digest(struct trace_tally *t)
{
    return t->identity;
}

void tally_summary(const struct trace_tally *t, struct trace_summary *to)
{
    to->events = t->events;
    to->identity = digest_value(t->identity);
    to->threads = 0;
    for (size_t i = 0; i < MAX_THREADS; i++)
        to->threads += t->threads[i] != 0;
    memcpy(to->kinds, t->kinds, sizeof to->kinds);
    to->counted = true;
}

/* ---- the footer ----------------------------------------------------------------------------- */

enum footer_word {
    FOOTER_EVENTS,
    FOOTER_RECORDS,
    FOOTER_BLOCKS,
    FOOTER_IDENTITY,
    FOOTER_PREAMBLE,
    FOOTER_STRIDE,
    FOOTER_KINDS,   /* pairs of a kind and its count, */
    FOOTER_THREADS, /* then of a thread and its count, */
    FOOTER_ENTRIES, /* then entries of the index */
    FOOTER_WORDS
};
enum { PAIR_WORDS = 2, ENTRY_WORDS = 4 };

static uint64_t counts_some(const uint64_t *count, size_t n)
{
    uint64_t some = 0;

    for (size_t i = 0; i < n; i++)
        some += count[i] != 0;
    return some;
}

static void counts_add(struct bytes *to, const uint64_t *count, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (count[i])
            bytes_add(to, (const uint64_t[PAIR_WORDS]){i, count[i]}, 8 * PAIR_WORDS);
}

void tally_footer(const struct trace_tally *t, uint64_t preamble_digest, struct bytes *to)
{
    const uint64_t head[FOOTER_WORDS] = {
        [FOOTER_EVENTS] = t->events,
        [FOOTER_RECORDS] = t->records,
        [FOOTER_BLOCKS] = t->blocks,
        [FOOTER_IDENTITY] = digest_value(t->identity),
        [FOOTER_PREAMBLE] = preamble_digest,
        [FOOTER_STRIDE] = t->stride,
        [FOOTER_KINDS] = counts_some(t->kinds, COUNTED),
        [FOOTER_THREADS] = counts_some(t->threads, MAX_THREADS),
        [FOOTER_ENTRIES] = t->entries,
    };

    bytes_add(to, head, sizeof head);
    counts_add(to, t->kinds, COUNTED);
    counts_add(to, t->threads, MAX_THREADS);
    bytes_add(to, t->index, t->entries * sizeof *t->index);
}

static uint64_t word_at(const uint8_t *from, uint64_t i)
{
    return get64(from + 8 * i);
}

int footer_summary(const uint8_t *from, size_t bytes, uint64_t preamble_digest,
                   struct trace_summary *to)
{
    if (bytes < 8 * FOOTER_WORDS || word_at(from, FOOTER_PREAMBLE) != preamble_digest)
        return -1;
    const uint64_t kinds = word_at(from, FOOTER_KINDS), threads = word_at(from, FOOTER_THREADS),
                   entries = word_at(from, FOOTER_ENTRIES);
    if (kinds > COUNTED || threads > MAX_THREADS || entries > INDEX_MAX ||
        bytes != 8 * (FOOTER_WORDS + PAIR_WORDS * (kinds + threads) + ENTRY_WORDS * entries))
        return -1;
    memset(to->kinds, 0, sizeof to->kinds);
    for (uint64_t i = 0; i < kinds; i++) {
        const uint64_t kind = word_at(from, FOOTER_WORDS + PAIR_WORDS * i);
        if (kind >= COUNTED)
            return -1;
        to->kinds[kind] = word_at(from, FOOTER_WORDS + PAIR_WORDS * i + 1);
    }
    to->events = word_at(from, FOOTER_EVENTS);
    to->blocks = word_at(from, FOOTER_BLOCKS);
    to->identity = word_at(from, FOOTER_IDENTITY);
    to->threads = threads;
    to->counted = true;
    return 0;
}
