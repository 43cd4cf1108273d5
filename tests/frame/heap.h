/* heap.h - how many bytes of the heap this process holds, by the C library's own count. */
#ifndef LARDSIM_TESTS_HEAP_H
#define LARDSIM_TESTS_HEAP_H

#include <malloc.h>
#include <stdint.h>

#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
#define HEAP_IS_COUNTED
#endif
#endif

/* 0: it can't be had, as under the sanitizers. */
static inline uint64_t heap(void)
{
#ifdef HEAP_IS_COUNTED
    const struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
#else
    return 0;
#endif
}

#endif
