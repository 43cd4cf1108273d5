/* lx_each.h - all instructions of LARDx86, for tests that go through them. Of displacements there
 * are those at the limits of their sizes. */
#ifndef LARDSIM_LX_EACH_H
#define LARDSIM_LX_EACH_H

#include <string.h>

#include "tests/isa/lardx86/codec.h"

static inline bool same_insn(const struct lx_insn *a, const struct lx_insn *b)
{
    return a->op == b->op && memcmp(a->reg, b->reg, sizeof a->reg) == 0 &&
           a->carrier == b->carrier && a->width == b->width && a->mem.base == b->mem.base &&
           a->mem.index == b->mem.index && a->mem.scale == b->mem.scale &&
           a->mem.disp == b->mem.disp;
}

typedef void insn_fn(void *arg, const struct lx_insn *i);

static inline void each_own(insn_fn *fn, void *arg)
{
    for (unsigned op = LX_TRACKED + 1; op < LX_OPS; op++) {
        const unsigned n = lx_info[op].operand[2] ? 4096 : lx_info[op].operand[1] ? 256 : 16;
        for (unsigned r = 0; r < n; r++)
            fn(arg, &(struct lx_insn){.op = (uint8_t)op,
                                      .reg = {r & 15, r >> 4 & 15, (uint8_t)(r >> 8)}});
    }
}

static inline void each_memory(const struct lx_insn *like, insn_fn *fn, void *arg)
{
    static const int32_t disps[] = {0, 1, -128, 127, -129, 128, INT32_MIN, INT32_MAX};
    struct lx_insn i = *like;

    for (unsigned m = 0; m < 16 * 16 * 4 * ARRAY_SIZE(disps); m++) {
        i.mem =
            (struct lx_memory){m & 15, m >> 4 & 15, (uint8_t)(1u << (m >> 8 & 3)), disps[m >> 10]};
        if (i.mem.index != LX_NO_INDEX || i.mem.scale == 1)
            fn(arg, &i);
    }
}

static inline void each_tracked(insn_fn *fn, void *arg)
{
    for (unsigned c = 0; c < LX_CARRIERS; c++)
        for (unsigned w = 1; w <= 8; w *= 2)
            for (unsigned r = 0; r < LX_REGISTERS; r++)
                each_memory(&(struct lx_insn){.op = LX_TRACKED,
                                              .reg = {(uint8_t)r},
                                              .carrier = (uint8_t)c,
                                              .width = (uint8_t)w},
                            fn, arg);
}

#endif
