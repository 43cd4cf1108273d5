/* probe.c - what lardsim validate has to know of a host and its kernel does not say: the time of a
 * cycle, instructions a cycle, latencies of caches and memory, misses and instructions that
 * overlap, atomics, and a line's way from core to core.
 *
 *     probe L1 L2 L3
 *
 * The operands are the caches' sizes in bytes; 0: there is none. Prints a line for each: name,
 * median, least and most of several runs, in nanoseconds, or a count. Only x86-64 and AArch64. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { RUNS = 9, SHORT_RUNS = 101, LINE = 64, HUGE = 2 << 20 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double run[SHORT_RUNS];

static double tell(const char *name, int runs)
{
    qsort(run, (size_t)runs, sizeof *run, by_value);
    printf("%s %.4f %.4f %.4f\n", name, run[runs / 2], run[0], run[runs - 1]);
    fflush(stdout);
    return run[0];
}

/* ---- instructions --------------------------------------------------------------------------- */

#define TEN(x) x x x x x x x x x x

/* A chain of additions takes a cycle for each. */
static double cycle(void)
{
    enum { ROUNDS = 2000 };

    for (int r = 0; r < SHORT_RUNS; r++) {
        const double began = now();
        uint64_t a = 1, b = 1;
        for (int i = 0; i < ROUNDS; i++)
#if defined(__x86_64__)
            __asm__ volatile(TEN(TEN("add %1, %0\n\t")) : "+r"(a) : "r"(b));
#else
            __asm__ volatile(TEN(TEN("add %0, %0, %1\n\t")) : "+r"(a) : "r"(b));
#endif
        run[r] = (now() - began) / (ROUNDS * 100.0);
    }
    return tell("cycle", SHORT_RUNS);
}

/* Of 16 instructions two load, three compare and three branch, not taken, eight compute; they do
 * not depend on each other but for the eight, in four chains. */
static void width(double of_cycle)
{
    enum { ROUNDS = 2000 };
    static uint64_t words[8];

    for (int r = 0; r < SHORT_RUNS; r++) {
        const double began = now();
        uint64_t a = 1, b = 1, c = 1, d = 1, x, y;
        for (int i = 0; i < ROUNDS; i++)
#if defined(__x86_64__)
            __asm__ volatile(TEN("mov (%6), %4\n\tadd %7, %0\n\txor %7, %1\n\t"
                                 "test %7, %7\n\tjz 9f\n\tshr $1, %2\n\tand %7, %3\n\t"
                                 "mov 8(%6), %5\n\tadd %7, %0\n\txor %7, %1\n\t"
                                 "test %7, %7\n\tjz 9f\n\tshr $1, %2\n\tand %7, %3\n\t"
                                 "test %7, %7\n\tjz 9f\n\t") "9:\n\t"
                             : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "=&r"(x), "=&r"(y)
                             : "r"(words), "r"((uint64_t)3)
                             : "cc");
#else
            __asm__ volatile(TEN("ldr %4, [%6]\n\tadd %0, %0, %7\n\teor %1, %1, %7\n\t"
                                 "tst %7, %7\n\tb.eq 9f\n\tlsr %2, %2, #1\n\tand %3, %3, %7\n\t"
                                 "ldr %5, [%6, #8]\n\tadd %0, %0, %7\n\teor %1, %1, %7\n\t"
                                 "tst %7, %7\n\tb.eq 9f\n\tlsr %2, %2, #1\n\tand %3, %3, %7\n\t"
                                 "tst %7, %7\n\tb.eq 9f\n\t") "9:\n\t"
                             : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "=&r"(x), "=&r"(y)
                             : "r"(words), "r"((uint64_t)3)
                             : "cc");
#endif
        run[r] = ROUNDS * 160.0 / ((now() - began) / of_cycle);
    }
    tell("width", SHORT_RUNS);
}

/* ---- memory --------------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252u; /* xorshift64 (Marsaglia, 2003) */

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* A cycle through all lines of so much memory, in an order that no prefetcher knows (Sattolo). */
static void **chain(size_t bytes)
{
    const size_t n = bytes / LINE, room = (bytes + HUGE - 1) / HUGE * HUGE;
    char *at = aligned_alloc(HUGE, room);
    uint32_t *order = malloc(n * sizeof *order);

    if (!at || !order)
        exit(1);
    madvise(at, room, MADV_HUGEPAGE); /* translations are not what is measured */
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n - 1; i > 0; i--) {
        const size_t k = draw(i);
        const uint32_t was = order[i];
        order[i] = order[k];
        order[k] = was;
    }
    for (size_t i = 0; i < n; i++)
        *(void **)(at + (size_t)order[i] * LINE) = at + (size_t)order[(i + 1) % n] * LINE;
    free(order);
    return (void **)at;
}

static void **volatile sink;

/* Many short runs: in some of them nobody else is in the way. */
static double latency(const char *name, void **first, size_t lines)
{
    const int steps = 10000;
    void **p = first;

    for (size_t i = 0; i < 2 * lines && i < 2000000; i++)
        p = *p;
    for (int r = 0; r < SHORT_RUNS; r++) {
        const double began = now();
        for (int i = 0; i < steps; i++)
            p = *p;
        run[r] = (now() - began) / steps;
    }
    sink = p;
    return tell(name, SHORT_RUNS);
}

/* Several ways through the same lines at once: how many misses overlap. */
static void misses(void **first, size_t lines, double of_one)
{
    enum { WAYS = 32, STEPS = 500 };
    void **p[WAYS];

    for (int w = 0; w < WAYS; w++) {
        p[w] = (void **)((char *)first + draw(lines) * LINE);
        for (size_t i = draw(100); i; i--)
            p[w] = *p[w];
    }
    for (int r = 0; r < SHORT_RUNS; r++) {
        const double began = now();
        for (int i = 0; i < STEPS; i++)
            for (int w = 0; w < WAYS; w++)
                p[w] = *p[w];
        run[r] = of_one / ((now() - began) / (STEPS * (double)WAYS));
    }
    sink = p[0];
    for (int w = 1; w < WAYS; w++)
        sink = p[w];
    tell("misses", SHORT_RUNS);
}

/* Two misses with so many instructions between them take the time of one while the core holds all
 * of them, else of two (after Henry Wong's measurement of reorder buffers, 2013). */
#define BETWEEN(n)                                                                                 \
    static double between_##n(void **p, void **q)                                                  \
    {                                                                                              \
        enum { STEPS = 150 };                                                                      \
        const double began = now();                                                                \
        for (int i = 0; i < STEPS; i++) {                                                          \
            p = *p;                                                                                \
            __asm__ volatile(".rept " #n "\n\tnop\n\t.endr" : "+r"(p));                            \
            q = *q;                                                                                \
            __asm__ volatile(".rept " #n "\n\tnop\n\t.endr" : "+r"(q));                            \
        }                                                                                          \
        sink = p;                                                                                  \
        sink = q;                                                                                  \
        return (now() - began) / STEPS;                                                            \
    }
BETWEEN(32)
BETWEEN(64) BETWEEN(96) BETWEEN(128) BETWEEN(160) BETWEEN(192) BETWEEN(224) BETWEEN(256)
    BETWEEN(320) BETWEEN(384) BETWEEN(448) BETWEEN(512) BETWEEN(640)

        static void window(void **first, size_t lines, double of_one)
{
    static const struct {
        int n;
        double (*run)(void **p, void **q);
    } t[] = {{32, between_32},   {64, between_64},   {96, between_96},   {128, between_128},
             {160, between_160}, {192, between_192}, {224, between_224}, {256, between_256},
             {320, between_320}, {384, between_384}, {448, between_448}, {512, between_512},
             {640, between_640}};

    for (int r = 0; r < RUNS; r++) {
        run[r] = 16;
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
            double least = 1e9;
            for (int k = 0; k < 12; k++) {
                void **p = (void **)((char *)first + draw(lines) * LINE);
                void **q = (void **)((char *)first + draw(lines) * LINE);
                const double time = t[i].run(p, q);
                least = time < least ? time : least;
            }
            if (least > 1.5 * of_one)
                break;
            run[r] = t[i].n;
        }
    }
    tell("window", RUNS);
}

/* ---- atomics -------------------------------------------------------------------------------- */

static _Alignas(128) _Atomic uint64_t word;

static void atomic_own(void)
{
    enum { STEPS = 10000 };

    for (int r = 0; r < SHORT_RUNS; r++) {
        const double began = now();
        for (int i = 0; i < STEPS; i++)
            atomic_fetch_add(&word, 1);
        run[r] = (now() - began) / STEPS;
    }
    tell("atomic", SHORT_RUNS);
}

enum { PASSES = 300 };

static void on_cpu(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void *answer(void *cpu)
{
    on_cpu((int)(intptr_t)cpu);
    for (uint64_t i = 0; i < SHORT_RUNS * (uint64_t)PASSES; i++) {
        while (atomic_load_explicit(&word, memory_order_acquire) != 2 * i + 1)
            ;
        atomic_store_explicit(&word, 2 * i + 2, memory_order_release);
    }
    return NULL;
}

/* A line goes to another core and back. */
static void transfer(void)
{
    cpu_set_t may;
    int cpu[2], n = 0;
    pthread_t other;

    if (sched_getaffinity(0, sizeof may, &may))
        return;
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET(i, &may))
            cpu[n++] = i;
    if (n < 2)
        return;
    atomic_store(&word, 0);
    on_cpu(cpu[0]);
    if (pthread_create(&other, NULL, answer, (void *)(intptr_t)cpu[1]))
        return;
    for (int r = 0; r < SHORT_RUNS; r++) {
        const double began = now();
        for (uint64_t i = (uint64_t)r * PASSES; i < (uint64_t)(r + 1) * PASSES; i++) {
            atomic_store_explicit(&word, 2 * i + 1, memory_order_release);
            while (atomic_load_explicit(&word, memory_order_acquire) != 2 * i + 2)
                ;
        }
        run[r] = (now() - began) / PASSES / 2;
    }
    pthread_join(other, NULL);
    tell("transfer", SHORT_RUNS);
}

int main(int argc, char **argv)
{
    static const char *const level[] = {"l1", "l2", "l3"};
    size_t below = 0, most = 0;

    if (argc != 4)
        return 2;
    width(cycle());
    for (int i = 0; i < 3; i++) {
        const size_t size = (size_t)strtoull(argv[i + 1], NULL, 10);
        /* Half of a core's own; of what others may share an eighth, but well beyond the level
         * above. */
        const size_t some = i < 2 ? size / 2 : size / 8;
        const size_t part = some > 2 * below ? some : 2 * below < size ? 2 * below : size;
        if (!size)
            continue;
        void **p = chain(part);
        latency(level[i], p, part / LINE);
        free(p);
        below = most = size;
    }
    const size_t all = most * 4 > ((size_t)64 << 20) ? most * 4 : (size_t)64 << 20;
    void **p = chain(all);
    const double one = latency("memory", p, all / LINE);
    misses(p, all / LINE, one);
    window(p, all / LINE, one);
    atomic_own();
    transfer();
    return 0;
}
