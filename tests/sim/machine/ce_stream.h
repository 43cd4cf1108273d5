/* ce_stream.h - for tests: a stream of records as the CE simulator's front-end writes them, built
 * event by event, and the statistics of a run over it. docs/foreign-formats.md has the layout. */
#ifndef LARDSIM_CE_STREAM_H
#define LARDSIM_CE_STREAM_H

#include "tests/trace/foreign/ce_record.h"
#include "tests/frame/timed_run.h"

enum { STREAM_MAX = 8000, A = 0x10000000, L1_SET = 4096, L2_SET = 32768, L3_SET = 1 << 20 };

struct stream {
    size_t n;
    uint8_t at[STREAM_MAX * RECORD];
};

/* ---- records -------------------------------------------------------------------------------- */

static inline uint8_t *record(struct stream *s, unsigned type, unsigned tid, uint64_t addr,
                              unsigned size)
{
    uint8_t *at = s->at + s->n;

    assert_true(s->n + RECORD <= sizeof s->at);
    memset(at, 0, RECORD);
    at[0] = (uint8_t)type;
    at[1] = type < READ || (type >= ACQUIRE && type <= SPAWN) ? LAST : 0;
    put(at + 2, tid, 2);
    put(at + 4, addr, 8);
    put(at + 12, size, 4);
    s->n += RECORD;
    return at;
}

static inline void rd(struct stream *s, unsigned tid, uint64_t addr)
{
    record(s, READ, tid, addr, 8);
}

static inline void wr(struct stream *s, unsigned tid, uint64_t addr)
{
    record(s, WRITE, tid, addr, 8);
}

static inline void block(struct stream *s, unsigned tid, unsigned instructions)
{
    put(record(s, BLOCK, tid, 0, 0) + 25, instructions, 4);
}

static inline void acquire(struct stream *s, unsigned tid, uint64_t addr)
{
    record(s, ACQUIRE, tid, addr, 8);
    record(s, LOCK_READ, tid, addr, 8);
    record(s, LOCK_WRITE, tid, addr, 8);
}

static inline void release(struct stream *s, unsigned tid, uint64_t addr)
{
    record(s, RELEASE, tid, addr, 8);
    record(s, UNLOCK_WRITE, tid, addr, 8);
}

static inline void atomic(struct stream *s, unsigned tid, uint64_t addr)
{
    record(s, ATOMIC_READ, tid, addr, 8);
    record(s, ATOMIC_WRITE, tid, addr, 8);
}

static inline void write_stream(const struct stream *s, const char *path)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(s->at, 1, s->n, f), s->n);
    assert_int_equal(fclose(f), 0);
}

/* The stream's statistics under a preset; settings as for ran_set. */
static inline struct ran ran_stream(const struct stream *s, const char *preset,
                                    const char *settings)
{
    char folder[300], file[340], source[360], out[340], stats[360];
    struct ran r = {0};
    struct lardsim *l = lardsim_new();

    snprintf(folder, sizeof folder, "%s/lardsim-ce-XXXXXX", ran_tmp());
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/stream", folder);
    snprintf(source, sizeof source, "ce:%s", file);
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(stats, sizeof stats, "%s/stats.json", out);
    write_stream(s, file);
    lardsim_preset(l, preset);
    ran_set(l, settings);
    lardsim_output(l, out, 0);
    lardsim_start(l);
    lardsim_run(l, source);
    if (lardsim_finish(l))
        fail_msg("%s", lardsim_error(l));
    ran_load(&r, stats);
    lardsim_free(l);
    ran_remove(out);
    ran_remove(folder);
    return r;
}

#endif
