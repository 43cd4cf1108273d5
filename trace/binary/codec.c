/* codec.c - compression of one buffer at a time: a zstd frame, or a raw deflate stream (zlib
 * without header and checksum; blocks have checksums of their own). And unpacking of gzip and zstd
 * files in steps; whence the bytes come is not its business. */
#include "trace/binary/codec.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

const char *const trace_codec_text[] = {
    [CODEC_RAW] = "raw", [CODEC_ZSTD] = "zstd", [CODEC_ZLIB] = "zlib", NULL};

enum { WINDOW_BITS = 15, MEMORY_LEVEL = 8 };

struct codec {
    ZSTD_CCtx *zstd_pack; /* owns; NULL until needed, as the others and the states of these */
    ZSTD_DCtx *zstd_unpack;
    z_stream deflate, inflate;
    int deflate_level;
};

struct codec *codec_new(void)
{
    return xcalloc(1, sizeof(struct codec));
}

/* The libraries end what was never begun, too: that is nothing to them. */
void codec_free(struct codec *c)
{
    ZSTD_freeCCtx(c->zstd_pack);
    ZSTD_freeDCtx(c->zstd_unpack);
    deflateEnd(&c->deflate);
    inflateEnd(&c->inflate);
    free(c);
}

static const struct {
    int preset, highest;
} levels[CODECS] = {
    [CODEC_RAW] = {0, 0},
    [CODEC_ZSTD] = {1, 19},
    [CODEC_ZLIB] = {6, 9},
};

int codec_level(enum trace_codec how, int level, struct err *e)
{
    if ((unsigned)how >= CODECS)
        return err_set(e, LARD_USAGE, "there is no codec %u; it is raw, zstd or zlib",
                       (unsigned)how);
    if (level && !levels[how].highest)
        return err_set(e, LARD_USAGE, "the codec %s has no levels; leave the level out",
                       trace_codec_text[how]);
    if (level < 0 || level > levels[how].highest)
        return err_set(
            e, LARD_USAGE,
            "there is no level %d of the codec %s; it has 1 to %d, and 0 for its default", level,
            trace_codec_text[how], levels[how].highest);
    return level ? level : levels[how].preset;
}

static size_t zstd_pack(struct codec *c, int level, const void *from, size_t n, void *to,
                        size_t cap)
{
    if (!c->zstd_pack && !(c->zstd_pack = ZSTD_createCCtx()))
        die("no memory for a zstd compressor");
    const size_t bytes = ZSTD_compressCCtx(c->zstd_pack, to, cap, from, n, level);
    return ZSTD_isError(bytes) ? 0 : bytes;
}

static int zstd_unpack(struct codec *c, const void *from, size_t bytes, void *to, size_t n)
{
    if (!c->zstd_unpack && !(c->zstd_unpack = ZSTD_createDCtx()))
        die("no memory for a zstd decompressor");
    /* The result may be an error code, which exceeds every length. */
    return ZSTD_decompressDCtx(c->zstd_unpack, to, n, from, bytes) == n ? 0 : -1;
}

/* A compressor is large and slow to set up: it is kept, and made anew for another level only. */
static void deflate_ready(struct codec *c, int level)
{
    if (c->deflate.state && c->deflate_level == level) {
        deflateReset(&c->deflate);
        return;
    }
    deflateEnd(&c->deflate);
    c->deflate_level = level;
    if (deflateInit2(&c->deflate, level, Z_DEFLATED, -WINDOW_BITS, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        die("no memory for a zlib compressor");
}

/* zlib counts in unsigned int, and its next_in is not const unless asked. */
static void stream_set(z_stream *z, const void *from, size_t bytes, void *to, size_t n)
{
    z->next_in = (Bytef *)(uintptr_t)from;
    z->avail_in = (uInt)bytes;
    z->next_out = to;
    z->avail_out = (uInt)n;
}

static size_t zlib_pack(struct codec *c, int level, const void *from, size_t n, void *to,
                        size_t cap)
{
    deflate_ready(c, level);
    stream_set(&c->deflate, from, n, to, cap);
    return deflate(&c->deflate, Z_FINISH) == Z_STREAM_END ? cap - c->deflate.avail_out : 0;
}

static int zlib_unpack(struct codec *c, const void *from, size_t bytes, void *to, size_t n)
{
    z_stream *const z = &c->inflate;

    if ((z->state ? inflateReset(z) : inflateInit2(z, -WINDOW_BITS)) != Z_OK)
        die("no memory for a zlib decompressor");
    stream_set(z, from, bytes, to, n);
    return inflate(z, Z_FINISH) != Z_STREAM_END || z->avail_in || z->avail_out ? -1 : 0;
}

size_t codec_pack(struct codec *c, enum trace_codec how, int level, const void *from, size_t n,
                  void *to, size_t cap)
{
    if (how == CODEC_ZSTD)
        return zstd_pack(c, level, from, n, to, cap);
    return how == CODEC_ZLIB ? zlib_pack(c, level, from, n, to, cap) : 0;
}

int codec_unpack(struct codec *c, enum trace_codec how, const void *from, size_t bytes, void *to,
                 size_t n)
{
    if (how == CODEC_ZSTD)
        return zstd_unpack(c, from, bytes, to, n);
    return how == CODEC_ZLIB ? zlib_unpack(c, from, bytes, to, n) : -1;
}

/* ---- files packed as a whole ---------------------------------------------------------------- */

enum { GZIP_BITS = 15 + 16 }; /* zlib: the largest window, and gzip's header and checksum */

struct unpacker {
    ZSTD_DCtx *zstd; /* owns; NULL: gzip */
    z_stream gzip;
    const char *fault; /* a string constant */
};

enum packing packing_of(const uint8_t *head, size_t n)
{
    static const uint8_t gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd},
                         skippable[] = {0x2a, 0x4d, 0x18}; /* after a byte 5x: a zstd frame, too */

    if (n >= sizeof gzip && !memcmp(head, gzip, sizeof gzip))
        return PACKING_GZIP;
    if (n < 4)
        return PACKING_NONE;
    return !memcmp(head, zstd, sizeof zstd) ||
                   (head[0] >> 4 == 5 && !memcmp(head + 1, skippable, sizeof skippable))
               ? PACKING_ZSTD
               : PACKING_NONE;
}

struct unpacker *unpacker_new(enum packing how)
{
    struct unpacker *u = xcalloc(1, sizeof *u);

    if (how == PACKING_ZSTD ? !(u->zstd = ZSTD_createDCtx())
                            : inflateInit2(&u->gzip, GZIP_BITS) != Z_OK)
        die("no memory for a decompressor");
    return u;
}

void unpacker_free(struct unpacker *u)
{
    ZSTD_freeDCtx(u->zstd);
    inflateEnd(&u->gzip);
    free(u);
}

/* zstd's default limit for the window holds: 128 MiB. */
static int zstd_step(struct unpacker *u, const uint8_t **from, const uint8_t *from_end,
                     uint8_t **to, uint8_t *to_end)
{
    ZSTD_inBuffer in = {*from, (size_t)(from_end - *from), 0};
    ZSTD_outBuffer out = {*to, (size_t)(to_end - *to), 0};
    const size_t left = ZSTD_decompressStream(u->zstd, &out, &in);

    *from += in.pos;
    *to += out.pos;
    if (!ZSTD_isError(left))
        return left == 0;
    u->fault = ZSTD_getErrorName(left);
    return -1;
}

static int gzip_step(struct unpacker *u, const uint8_t **from, const uint8_t *from_end,
                     uint8_t **to, uint8_t *to_end)
{
    stream_set(&u->gzip, *from, (size_t)(from_end - *from), *to, (size_t)(to_end - *to));
    const int result = inflate(&u->gzip, Z_NO_FLUSH);
    *from = u->gzip.next_in;
    *to = u->gzip.next_out;
    switch (result) {
    case Z_OK:
    case Z_BUF_ERROR: /* no progress is possible with what there is */
        return 0;
    case Z_STREAM_END:
        inflateReset(&u->gzip);
        return 1;
    case Z_MEM_ERROR:
        die("no memory for a decompressor");
    default:
        u->fault = u->gzip.msg ? u->gzip.msg : "it needs a dictionary";
        return -1;
    }
}

int unpacker_step(struct unpacker *u, const uint8_t **from, const uint8_t *from_end, uint8_t **to,
                  uint8_t *to_end)
{
    return u->zstd ? zstd_step(u, from, from_end, to, to_end)
                   : gzip_step(u, from, from_end, to, to_end);
}

/* The data say how large a window they want, and a few bytes can want the most. What else there is,
 * and what versions of the library differ in, is less than a MiB. */
uint64_t unpacker_bytes(const struct unpacker *u)
{
    return u->zstd ? ZSTD_sizeof_DCtx(u->zstd) >> 20 << 20 : 0;
}

const char *unpacker_fault(const struct unpacker *u)
{
    return u->fault;
}

void trace_libraries(library_fn *fn, void *arg)
{
    fn(arg, "zlib", zlibVersion());
    fn(arg, "zstd", ZSTD_versionString());
}
