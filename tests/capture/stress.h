/* stress.h - what each thread of stress.c does, by formula: the program does it, stress_check.c
 * knows from it what a trace has to hold. Threads are numbered in the order of their birth and work
 * in groups of four, in steps. All that is checked lies at addresses that say what they are: a
 * number is told by touching the byte of that number. */
#ifndef STRESS_H
#define STRESS_H

#include <stdint.h>

enum { GROUP = 4, CELLS = 4096, LOCKS = 16, COUNTERS = 8, MAX_THREADS = 4096, MAX_STEPS = 256 };
enum {
    MUTEXES = 8,
    MTXS = 10,
    SPINS = 12
}; /* locks below are mutexes, C11's, spin locks; rwlocks */
enum { CELLS_AT_START = 2, CELLS_AT_END = 3, CELLS_OF_CLEANUP = 4 };

/* Far from where systems put anything by themselves. */
#define ARENA       UINT64_C(0x200000000000)
#define OWN(thread) (ARENA + (uint64_t)(thread) * (CELLS * 8))
#define MESSAGE(group, step, role)                                                                 \
    (ARENA + (1ULL << 32) + (((uint64_t)(group)*MAX_STEPS + (step)) * GROUP) + (role))
#define LOCK(lock)       (ARENA + (2ULL << 32) + (uint64_t)(lock)*256)
#define COUNTER(counter) (LOCK(LOCKS) + (uint64_t)(counter)*64)
#define RACE             COUNTER(COUNTERS)
#define TICKET(lock)     (ARENA + (3ULL << 32) + (uint64_t)(lock) * (1 << 28))
#define DRAWN(counter)   (ARENA + (4ULL << 32) + (uint64_t)(counter) * (1 << 28))
#define HANDLED(thread)  (ARENA + (8ULL << 32) + (uint64_t)(thread) * (1 << 20))
#define COUNT(thread)    (ARENA + (12ULL << 32) + (uint64_t)(thread) * (1 << 20))
#define ARENA_END        (ARENA + (16ULL << 32))

/* A number drawn for a, b, c: splitmix64's last steps over all of them. */
static inline uint64_t draw(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = seed;

    for (int i = 0; i < 3; i++) {
        x += UINT64_C(0x9e3779b97f4a7c15) + (i == 0 ? a : i == 1 ? b : c);
        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        x ^= x >> 31;
    }
    return x;
}

/* The k-th access of a thread to cells of its own. */
enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_LOAD, ACCESS_STORE, ACCESS_RMW };
struct cell {
    enum access access;
    unsigned order; /* 0 relaxed, 1 acquire, 2 release, 3 both, 4 sequentially consistent */
    unsigned size;
    uint64_t addr;
    uint64_t drawn;
};
static inline struct cell cell(uint64_t seed, unsigned thread, uint64_t k)
{
    static const unsigned char of_load[] = {0, 1, 4, 1}, of_store[] = {0, 2, 4, 2};
    const uint64_t h = draw(seed, 1, thread, k);
    const unsigned kind = h % 16, order = h >> 4 & 3;
    struct cell c = {
        .size = 1U << (h >> 6 & 3), .addr = OWN(thread) + (h >> 8) % CELLS * 8, .drawn = h >> 20};

    c.access = kind < 7     ? ACCESS_READ
               : kind < 13  ? ACCESS_WRITE
               : kind == 13 ? ACCESS_LOAD
               : kind == 14 ? ACCESS_STORE
                            : ACCESS_RMW;
    c.order = kind == 13   ? of_load[order]
              : kind == 14 ? of_store[order]
              : kind == 15 ? (unsigned)((h >> 40) % 5)
                           : 0;
    return c;
}

/* What a group does in a step; all four meet where one waits for another. */
enum step {
    ALONE,
    RANGE,
    LOCKED,
    READER,
    COUNTED,
    HANDED,
    CONDITION,
    SEMAPHORE,
    ONCE,
    BARRIER,
    PIPE,
    HEAP,
    SIGNALS,
    RAISED,
    CHILD,
    RACING
};
static inline enum step step_of(uint64_t seed, unsigned group, unsigned step, int race)
{
    static const unsigned char often[] = {
        ALONE,   ALONE,   RANGE,  LOCKED, LOCKED, LOCKED,    LOCKED,    READER,    READER,
        COUNTED, COUNTED, HANDED, HANDED, HANDED, CONDITION, CONDITION, SEMAPHORE, ONCE,
        BARRIER, BARRIER, HEAP,   HEAP,   HEAP,   SIGNALS,   SIGNALS,   RAISED};
    const uint64_t h = draw(seed, 2, group, step);

    if (race && group == 0 && step >= 2 && step <= 4)
        return step == 3 ? RACING : BARRIER;
    if (h % 128 < 2)
        return h % 128 == 0 ? PIPE : CHILD;
    return (enum step)often[(h >> 8) % sizeof often];
}
/* A thread's own choices in a step. */
static inline uint64_t choice(uint64_t seed, unsigned thread, unsigned step)
{
    return draw(seed, 3, thread, step);
}
static inline unsigned rounds_of(uint64_t choice)
{
    return (unsigned)(1 + choice % 32);
} /* with locks and counters, each with a choice of its own */
static inline unsigned cells_of(uint64_t seed, unsigned thread, unsigned step, enum step kind)
{
    return (unsigned)(draw(seed, 4, thread, step) % (kind == ALONE ? 2000 : 40));
}
/* A range of own cells, and where it is copied to. */
static inline unsigned range_bytes(uint64_t choice)
{
    return (unsigned)(100 + choice % 900);
}
static inline uint64_t range_from(unsigned thread, uint64_t choice)
{
    return OWN(thread) + (choice >> 10) % 8192;
}
static inline uint64_t range_to(unsigned thread, uint64_t choice)
{
    return OWN(thread) + 16384 + (choice >> 24) % 8192;
}
/* Blocks that a thread makes and frees in a step, each touched at its first and its last byte. */
static inline unsigned blocks_of(uint64_t choice)
{
    return (unsigned)(1 + choice % 60);
}
/* Of locks with a condition a thread may take two tickets, and wait between. */
static inline unsigned lock_of(uint64_t choice)
{
    return choice % LOCKS;
}
static inline int waits_between(uint64_t choice)
{
    return (lock_of(choice) < 2 || (lock_of(choice) >= MUTEXES && lock_of(choice) < MTXS)) &&
           (choice >> 8 & 3) == 0;
}
static inline unsigned rwlock_of(uint64_t choice)
{
    return SPINS + choice % (LOCKS - SPINS);
}
static inline int with_fences(uint64_t seed, unsigned group, unsigned step)
{
    return draw(seed, 5, group, step) & 1;
}

#endif
