/* codec.h - compression of one buffer at a time, inside trace/ only. codec.c is the only file that
 * knows the libraries (zstd, zlib). */
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

#endif
