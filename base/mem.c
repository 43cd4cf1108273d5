/* mem.c - allocation that never returns NULL: a simulation without memory has no result to save. */
#include "base/base.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *p, size_t bytes)
{
    if (!p)
        die("no memory for %zu bytes; free some or give more", bytes);
    return p;
}

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

char *xstrdup(const char *s)
{
    const size_t n = strlen(s) + 1;

    return memcpy(xmalloc(n), s, n);
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;
    char *s;

    va_start(ap, fmt);
    int n = vasprintf(&s, fmt, ap);
    va_end(ap);
    return checked(n < 0 ? NULL : s, strlen(fmt));
}

void *xgrow(void *array, size_t n, size_t *cap, size_t bytes)
{
    if (n < *cap)
        return array;
    *cap = *cap ? *cap * 2 : 8;
    return xrealloc(array, *cap, bytes);
}
