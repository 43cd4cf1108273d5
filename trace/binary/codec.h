/* codec.h - compression of one buffer at a time, and unpacking of whole gzip and zstd files, inside
 * trace/ only. codec.c is the only file that knows the libraries (zstd, zlib). */
#ifndef LARDSIM_CODEC_H
#define LARDSIM_CODEC_H

#include "trace/trace.h"

struct codec; /* contexts of the libraries, made when they are first needed */
struct codec *codec_new(void);
void codec_free(struct codec *c);

/* The level to use; 0 stands for the codec's default. -1: there is no such codec or level. */
int codec_level(enum trace_codec how, int level, struct err *e);

/* Compresses n bytes into at most cap. 0: they do not fit. CODEC_RAW never fits. */
size_t codec_pack(struct codec *c, enum trace_codec how, int level, const void *from, size_t n,
                  void *to, size_t cap);

/* 0, or -1 when `from` is not the compressed form of exactly n bytes. Writes n bytes at most. */
int codec_unpack(struct codec *c, enum trace_codec how, const void *from, size_t bytes, void *to,
                 size_t n);

/* ---- files packed as a whole ---------------------------------------------------------------- */

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };
enum packing packing_of(const uint8_t *head, size_t n); /* by the first bytes */

struct unpacker;
struct unpacker *unpacker_new(enum packing how); /* not PACKING_NONE */
void unpacker_free(struct unpacker *u);
/* Unpacks what it can and moves *from and *to on. 1: a member (gzip) or frame (zstd) is over, and
 * another may follow; 0: it goes on; -1: the data are damaged. */
int unpacker_step(struct unpacker *u, const uint8_t **from, const uint8_t *from_end, uint8_t **to,
                  uint8_t *to_end);
uint64_t unpacker_bytes(const struct unpacker *u); /* bytes on the host, in whole MiB: its window */
const char *unpacker_fault(const struct unpacker *u); /* after -1: what the library says */

#endif
