/* fuzz_binary.c - any bytes as a binary trace: reading, salvage and the summary agree with each
 * other; events are well-formed, survive being written again, and can be run. So that changes get
 * past the checksums, the bytes are taken a second time with all of those set right. */
#include "tests/fuzz/fuzz.h"
#include "trace/binary/binary.h"

/* ---- checksums ------------------------------------------------------------------------------ */

/* The end of the preamble; 0: there is none. */
static size_t preamble_end(const uint8_t *data, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (data[i] == '\n' && data[i - 1] == '\n')
            return i + 1;
    return 0;
}

static uint32_t field(const uint8_t *header, size_t at)
{
    return header[at] | (uint32_t)header[at + 1] << 8 | (uint32_t)header[at + 2] << 16 |
           (uint32_t)header[at + 3] << 24;
}

/* docs/trace-format.md has the layout of a block's header. The first event is 0 here. */
static void set_checksums(uint8_t *data, size_t n)
{
    size_t at = preamble_end(data, n);
    struct block_header h = {.section = 0};
    uint64_t first = 0;

    for (uint32_t number = 0; at && n - at >= HEADER_BYTES; number++) {
        const size_t left = n - at - HEADER_BYTES;
        uint8_t *header = data + at;
        h = (struct block_header){.section = (enum section)(field(header, 4) % (SECTIONS + 1)),
                                  .payload = field(header, 8),
                                  .events = field(header, 12),
                                  .records = field(header, 16),
                                  .number = number,
                                  .first = first};
        if (h.payload > left)
            h.payload = (uint32_t)left;
        h.digest = digest_bytes(header + HEADER_BYTES, h.payload);
        block_header_put(header, &h);
        first += h.events;
        if (h.section == SECTION_FOOTER)
            break;
        at += HEADER_BYTES + h.payload;
    }
    if (at && n >= at + TRAILER_BYTES && h.section == SECTION_FOOTER)
        trailer_put(data + n - TRAILER_BYTES, at);
}

/* ---- what must hold ------------------------------------------------------------------------- */

/* Salvage gives the events before the damage, without an error. */
static void check_salvage(const char *path, const struct fuzz_trace *t)
{
    struct fuzz_trace saved = {0};
    const char *lost;
    struct source *s = source_salvage(path, &lost, &saved.err);

    fuzz_read(&saved, s);
    MUST(!s == !t->opened);
    MUST(!s || !saved.err.code);
    MUST(saved.events == t->events && saved.records == t->records);
    MUST(!t->records || !memcmp(saved.rec, t->rec, t->records * sizeof *t->rec));
    fuzz_trace_free(&saved);
}

/* Where reading finds nothing wrong the summary must not, and tells the same. */
static void check_summary(const char *path, const struct fuzz_trace *t)
{
    struct trace_summary sum = {.first = 0};
    struct err e = {0};
    uint64_t events = 0;

    if (trace_summarize(path, &sum, &e)) {
        MUST(e.code == LARD_TRACE && (t->err.code || t->cut));
        return;
    }
    MUST(sum.complete == !*sum.damage);
    if (t->err.code || t->cut)
        return;
    MUST(sum.complete && sum.counted && sum.events == t->events && sum.first == t->first);
    for (size_t k = 0; k < EV_KINDS; k++)
        events += sum.kinds[k];
    MUST(events == sum.events);
    MUST(sum.identity == digest_bytes(t->rec, t->records * sizeof *t->rec));
}

/* last: the second time. Decoding the same events twice and more is slow. */
static void take(const uint8_t *data, size_t n, bool last)
{
    static const char *const policies[] = {"policies=vc,fasttrack", NULL};
    struct fuzz_file f = fuzz_file(data, n);
    struct fuzz_trace t = fuzz_open(f.path);

    check_salvage(f.path, &t);
    check_summary(f.path, &t);
    if (last && t.events) {
        fuzz_round_trip(&t, fuzz_binary_sink);
        fuzz_run(f.path, policies);
    }
    fuzz_trace_free(&t);
    fuzz_file_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *set = xmalloc(n);

    memcpy(set, data, n);
    set_checksums(set, n);
    if (memcmp(set, data, n) != 0)
        take(data, n, false);
    take(set, n, true);
    free(set);
    return 0;
}
