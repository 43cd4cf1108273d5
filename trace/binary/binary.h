/* binary.h - what the reader, the writer and the summary of the binary form share, inside trace/
 * only: constants, the header of a block, the footer. docs/trace-format.md is the specification. */
#ifndef LARDSIM_BINARY_H
#define LARDSIM_BINARY_H

#include <endian.h>
#include <stddef.h>
#include <string.h>

#include "trace/binary/block.h"

/* Records are hashed and merged as they lie in memory. */
_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "the binary form is for little-endian hosts");

#define BINARY_MAGIC "lardsim-trace "
enum { BINARY_VERSION = 2 };

enum {
    PREAMBLE_MAX = 4096,    /* bytes */
    HEADER_BYTES = 48,      /* of a block */
    TRAILER_BYTES = 24,     /* of the file */
    PAYLOAD_MAX = 16 << 20, /* bytes of one block */
    NAMES_BLOCK_MAX = 1 << 20,
    NAME_HEAD_BYTES = 12,
    INDEX_MAX = 1 << 18 /* entries */
};
/* The greatest number of the first event, and of the one after the last. */
#define FIRST_MAX ((uint64_t)INT64_MAX)

enum section { SECTION_EVENTS = 1, SECTION_NAMES, SECTION_FOOTER, SECTIONS };

static inline void put64(uint8_t *to, uint64_t v)
{
    memcpy(to, &v, sizeof v);
}
static inline uint64_t get64(const uint8_t *from)
{
    uint64_t v;

    memcpy(&v, from, sizeof v);
    return v;
}

/* ---- block headers -------------------------------------------------------------------------- */

struct block_header { /* as it lies in the file */
    uint32_t magic;   /* block_header_put sets it, and check */
    uint32_t section; /* an enum section */
    uint32_t payload; /* bytes */
    uint32_t events;
    uint32_t records; /* a block of names: how many names */
    uint32_t number;  /* the block's number, from 0, modulo 2^32 */
    uint64_t first;   /* number of the next event: in the block, if it is one of events */
    uint64_t digest;  /* the payload's */
    uint64_t check;   /* digest of what is before it */
};
_Static_assert(sizeof(struct block_header) == HEADER_BYTES, "a header has no gaps");
void block_header_put(uint8_t to[HEADER_BYTES], const struct block_header *h);

/* The numbers that the next block's header must have. */
struct block_place {
    uint64_t number, first;
};
/* 0, or -1 and what is wrong, a string constant. All fields are within their limits after 0. */
int block_header_get(const uint8_t from[HEADER_BYTES], struct block_place place,
                     struct block_header *h, const char **what);

/* ---- the trailer: the last bytes, so that a reader that can seek finds the footer ----------- */

void trailer_put(uint8_t to[TRAILER_BYTES], uint64_t footer_at);
int trailer_get(const uint8_t from[TRAILER_BYTES], uint64_t *footer_at); /* -1: is none */

/* ---- the tally: what the footer tells of the blocks before it ------------------------------- */

struct trace_tally;
struct trace_tally *tally_new(void);
void tally_free(struct trace_tally *t);
/* Takes each block but the footer. */
void tally_block(struct trace_tally *t, const struct block_header *h, uint64_t at);
void tally_events(struct trace_tally *t, const struct event *rec, size_t records);
/* The same in two parts: counts, from what was added to an encoder, or from the open block of a
 * header; and the hash, from records. */
void tally_added(struct trace_tally *t, const struct block_encoder *b);
void tally_counts(struct trace_tally *t, const struct block_header *h,
                  const struct block_decoder *b);
void tally_identity(struct trace_tally *t, const struct event *rec, size_t records);
struct digest *tally_digest(struct trace_tally *t); /* borrowed: the identity */
/* The footer's payload; a function of the blocks alone, so that a reader may compare bytes. */
void tally_footer(const struct trace_tally *t, uint64_t preamble_digest, struct bytes *to);
/* Fills the fields that depend on events. */
void tally_summary(const struct trace_tally *t, struct trace_summary *to);

/* Fills what a footer tells. -1: the bytes are no footer, or one for another preamble. */
int footer_summary(const uint8_t *from, size_t bytes, uint64_t preamble_digest,
                   struct trace_summary *to);

/* ---- for the summary: binary/read.c --------------------------------------------------------- */

/* The names of a block whose checksum is right. 0, or -1 and *e, which names no place. */
int names_block(struct names *to, const struct block_header *h, const uint8_t *payload,
                struct err *e);

bool binary_source(const struct source *s); /* is one of ours; the following are for those only */
/* Lets damage end the source silently from now on; the returned place then has the reason. */
const char *binary_salvage(struct source *s);
struct binary_look {
    struct input *in;    /* borrowed */
    uint64_t read, good; /* bytes: read so far; in whole blocks, the preamble included */
    uint64_t blocks;     /* whole, read so far, without the footer */
    uint64_t preamble_digest;
};
void binary_look(const struct source *s, struct binary_look *to);

#endif
