/* base.h - units, and what C leaves to compilers. */
#ifndef LARDSIM_BASE_H
#define LARDSIM_BASE_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t sim_cycle;
typedef uint64_t sim_addr;
typedef uint16_t sim_tid; /* a language thread; dense from 0 */

enum { MAX_THREADS = 65536 };

#define ARRAY_SIZE(a) (sizeof(a) / sizeof *(a))

static inline uint64_t u64_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}
static inline uint64_t u64_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}
static inline int is_power_of_2(uint64_t n)
{
    return n && !(n & (n - 1));
}

/* gcc and clang have these; the sources need more of theirs, as __builtin_clzll. */
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define NO_RETURN         __attribute__((noreturn))
#define LIKELY(x)         __builtin_expect(!!(x), 1)
#define UNLIKELY(x)       __builtin_expect(!!(x), 0)
#define ALWAYS_INLINE     static inline __attribute__((always_inline))
#define NO_INLINE         __attribute__((noinline))

#endif
