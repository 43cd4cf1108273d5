/* mem.c - allocation that never returns NULL: a simulation without memory has no result to save.
 * Pools hold what is accessed at random: the pages of shadows. */
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/budget.h"
#include "base/err.h"

static void *checked(void *p, size_t bytes)
{
    if (!p)
        die("no memory for %zu bytes; free some or give more", bytes);
    return p;
}

/* malloc(0) may return NULL, which here would look like an error. */
void *xmalloc(size_t bytes)
{
    return checked(malloc(bytes ? bytes : 1), bytes);
}

void *xcalloc(size_t n, size_t bytes)
{
    return checked(calloc(n ? n : 1, bytes ? bytes : 1), n * bytes);
}

void *xrealloc(void *p, size_t n, size_t bytes)
{
    size_t total;

    if (__builtin_mul_overflow(n, bytes, &total))
        die("no memory for %zu elements of %zu bytes; free some or give more", n, bytes);
    return checked(realloc(p, total ? total : 1), total);
}

void *xrecalloc(void *p, size_t had, size_t n, size_t bytes)
{
    void *to = xcalloc(n, bytes);

    if (had)
        memcpy(to, p, had * bytes);
    free(p);
    return to;
}

char *xstrdup(const char *s)
{
    const size_t n = strlen(s) + 1;

    return memcpy(xmalloc(n), s, n);
}

char *xvasprintf(const char *fmt, va_list ap)
{
    char *s;
    const int n = vasprintf(&s, fmt, ap);

    return checked(n < 0 ? NULL : s, strlen(fmt));
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    char *const s = xvasprintf(fmt, ap);
    va_end(ap);
    return s;
}

void xappend(char **all, const char *between, const char *text)
{
    char *longer = xasprintf("%s%s%s", *all ? *all : "", *all && **all ? between : "", text);

    free(*all);
    *all = longer;
}

/* Doubling, so that n additions copy less than 2 n elements. */
void *xgrow(void *array, size_t n, size_t *cap, size_t bytes)
{
    if (n < *cap)
        return array;
    *cap = *cap ? *cap * 2 : 8;
    return xrealloc(array, *cap, bytes);
}

/* ---- pools ---------------------------------------------------------------------------------- */

/* A slab begins with the address of the next, in a line of its own. Slabs grow by a factor: few for
 * large pools, and little is wasted on small ones. */
enum { LINE = 64, SLAB_BLOCKS = 8, SLAB_GROWTH = 4, SLAB_MAX = 1 << 21 /* a huge page */ };

/* Makes a slab. One of the size of a huge page or more is whole huge pages, aligned as such. */
static void slab_new(struct pool *p)
{
    const size_t least = LINE + SLAB_BLOCKS * p->bytes, more = p->slab * SLAB_GROWTH;
    size_t bytes = more > least ? more : least;

    if (bytes >= SLAB_MAX)
        bytes = (least + SLAB_MAX - 1) / SLAB_MAX * SLAB_MAX;
    unsigned char *slab = aligned_alloc(bytes < SLAB_MAX ? LINE : SLAB_MAX, bytes / LINE * LINE);
    if (!slab)
        die("no memory for %zu bytes; set limits.memory to stop earlier with partial results",
            bytes);
    if (bytes >= SLAB_MAX)
        (void)madvise(slab, bytes, MADV_HUGEPAGE); /* a wish */
    memcpy(slab, &p->slabs, sizeof p->slabs);
    p->slabs = slab;
    p->slab = bytes;
    p->taken += bytes;
    budget_take(p->budget, bytes);
    p->at = slab + LINE;
    p->left = (bytes - LINE) / p->bytes;
}

void *pool_get(struct pool *p)
{
    void *block = p->free_list;

    if (block) {
        memcpy(&p->free_list, block, sizeof p->free_list);
        return block;
    }
    if (p->left == 0)
        slab_new(p);
    block = p->at;
    p->at += p->bytes;
    p->left--;
    return block;
}

void pool_give(struct pool *p, void *block)
{
    memcpy(block, &p->free_list, sizeof p->free_list);
    p->free_list = block;
}

void pool_free(struct pool *p)
{
    while (p->slabs) {
        void *slab = p->slabs;
        memcpy(&p->slabs, slab, sizeof p->slabs);
        free(slab);
    }
    budget_give(p->budget, p->taken);
    *p = (struct pool){.bytes = p->bytes, .budget = p->budget};
}

FILE *xmemstream(char **text, size_t *bytes)
{
    FILE *out = open_memstream(text, bytes);

    if (!out)
        die("no memory for a text");
    return out;
}
