/* mem.h - the host's memory: allocation that never returns NULL, and pools of blocks of one size.
 */
#ifndef LARDSIM_MEM_H
#define LARDSIM_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"

struct budget;

void *xmalloc(size_t bytes);
void *xcalloc(size_t n, size_t bytes);
void *xrealloc(void *p, size_t n, size_t bytes); /* n * bytes, checked */
/* p, whose first `had` elements stay, with n; those behind them are 0, and large ones cost nothing
 * on the host before they are touched. */
void *xrecalloc(void *p, size_t had, size_t n, size_t bytes);
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);
char *xvasprintf(const char *fmt, va_list ap) PRINTF_LIKE(1, 0);
/* Appends text to *all, with `between` before it unless *all is empty. NULL is as good as "". */
void xappend(char **all, const char *between, const char *text);
/* A stream into memory: closing it makes *text and *bytes, the text the caller's. */
FILE *xmemstream(char **text, size_t *bytes);

/* Makes room for one more element in an array that doubles: returns the array. */
void *xgrow(void *array, size_t n, size_t *cap, size_t bytes);

/* Host memory that malloc takes for a block of so many bytes: exact for glibc on 64 bits, and near
 * enough elsewhere. */
static inline uint64_t heap_bytes(uint64_t bytes)
{
    return !bytes ? 0 : bytes <= 24 ? 32 : (bytes + 8 + 15) / 16 * 16;
}

/* Blocks of one size, from slabs that grow and are freed together; those that were given back are
 * given out first. Many blocks lie on huge pages where the host has them for the asking: random
 * accesses then seldom miss the host's table of pages. Open so that it can be part of a struct. */
struct pool {
    size_t bytes;          /* of a block: a multiple of 64, as is its address */
    void *free_list;       /* blocks given back; each begins with the next */
    void *slabs;           /* owns; each begins with the next */
    unsigned char *at;     /* the next block of the latest slab */
    size_t left, slab;     /* blocks from there on; bytes of the latest slab */
    uint64_t taken;        /* bytes of all slabs */
    struct budget *budget; /* borrows: is charged for slabs; NULL: not accounted */
};
void *pool_get(struct pool *p);
void pool_give(struct pool *p, void *block);
void pool_free(struct pool *p);

#endif
