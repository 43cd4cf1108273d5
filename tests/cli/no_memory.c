/* no_memory.c - to be loaded before the C library (LD_PRELOAD): the allocation of number FAIL_AT of
 * the process, counted from 1, finds no memory, and so do all after it if FAIL_ALL is set. The
 * file MEMORY_MET is made when that happens. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t n);

static long at = -1, allocations; /* at: which fails; 0: none */

static void meet(void)
{
    const char *file = getenv("MEMORY_MET");
    const int fd = file ? open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;

    if (fd >= 0)
        close(fd);
    errno = ENOMEM;
}

static bool fails(void)
{
    const char *text = getenv("FAIL_AT");

    if (at < 0)
        at = text ? strtol(text, NULL, 10) : 0;
    if (!at || ++allocations < at || (allocations > at && !getenv("FAIL_ALL")))
        return false;
    meet();
    return true;
}

void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}
