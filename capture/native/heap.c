/* heap.c - the memory of a program: allocations, and the ends of their lives. An address is given
 * again only after the record that says that it was free. */
#include "capture/native/record.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* glibc's own, under names that no program takes for itself. */
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_memalign(size_t, size_t);
void *__real_memcpy(void *to, const void *from, size_t n); /* as the linker wraps memcpy */

/* Records an allocation with all bytes that the program may use: glibc rounds up, and programs may
 * ask by how much. */
static void *given(void *p, uint64_t site)
{
    if (p)
        record_more(REC_ALLOC, ADDR(p), malloc_usable_size(p), 0, site);
    return p;
}

#define GIVES(name, parameters, from)                                                              \
    void *name parameters                                                                          \
    {                                                                                              \
        return given(from, SITE());                                                                \
    }
GIVES(malloc, (size_t n), __libc_malloc(n))
GIVES(calloc, (size_t n, size_t bytes), __libc_calloc(n, bytes))
GIVES(memalign, (size_t to, size_t n), __libc_memalign(to, n))
GIVES(aligned_alloc, (size_t to, size_t n), __libc_memalign(to, n))
GIVES(valloc, (size_t n), __libc_memalign((size_t)sysconf(_SC_PAGESIZE), n))

int posix_memalign(void **at, size_t to, size_t n)
{
    void *p;

    if (to == 0 || to % sizeof p || (to & (to - 1)))
        return EINVAL;
    p = given(__libc_memalign(to, n), SITE());
    if (!p)
        return ENOMEM;
    *at = p;
    return 0;
}

static void taken(void *p, uint64_t site)
{
    if (p)
        record_more(REC_CLEAR, ADDR(p), malloc_usable_size(p), 0, site);
    __libc_free(p);
}

void free(void *p)
{
    taken(p, SITE());
}

/* A block that stays in place makes no event. One that has to move is copied here and not by libc,
 * so that the new place is known before the old one is free. */
static void *resize(void *p, size_t n, uint64_t site)
{
    const size_t has = p ? malloc_usable_size(p) : 0;

    if (!p)
        return given(__libc_malloc(n), site);
    if (n == 0) {
        taken(p, site);
        return NULL;
    }
    if (n <= has && (has - n < 64 || n > has / 2))
        return p;
    void *to = given(__libc_malloc(n), site);
    if (!to)
        return NULL;
    const size_t room = malloc_usable_size(to), some = has < room ? has : room;
    __real_memcpy(to, p, n < has ? n : has);
    record_more(REC_COPY, ADDR(to), some, ADDR(p), site);
    taken(p, site);
    return to;
}

void *realloc(void *p, size_t n)
{
    return resize(p, n, SITE());
}
void *reallocarray(void *p, size_t n, size_t bytes)
{
    size_t all;

    if (__builtin_mul_overflow(n, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return resize(p, all, SITE());
}

int munmap(void *p, size_t n)
{
    static int (*real)(void *, size_t);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (!real) {
        void *found = dlsym(RTLD_NEXT, "munmap");
        __builtin_memcpy(&real, &found, sizeof real);
    }
    record_more(REC_CLEAR, ADDR(p), (n + page - 1) & ~(page - 1), 0, SITE());
    return real(p, n);
}
