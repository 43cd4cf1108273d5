/* probe.c - what lardsim validate has to know of a host and its kernel does not say: the time of a
 * cycle, instructions a cycle, latencies of caches and memory, misses and instructions that
 * overlap, atomics, branches that are guessed wrongly, translations of addresses, and a line's way
 * from core to core.
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
#include <unistd.h>

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

static double positive(double x) /* a difference that noise has made less */
{
    return x > 0 ? x : 1e-4;
}

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

#if defined(__x86_64__)
/* A cell that is looked at, and a branch that is taken to the next; a cell that is empty, and two.
 * %1: words; r10 is 0, and r13 and the words are not. */
#define LOOK(cell)                                                                                 \
    "mov " cell "(%1), %%rcx\n\tmov %%r8, %%rdx\n\txor %%rcx, %%rdx\n\tshr $42, %%rdx\n\t"         \
    "and $31, %%edx\n\tjs 9f\n\tadd $8, %%r13\n\tcmp %%r10, %%r13\n\tjne 8f\n\tnop\n8:\n\t"
#define EMPTY(cell)                                                                                \
    "mov " cell "(%1), %%rax\n\tshr $1, %%rdi\n\ttest %%rax, %%rax\n\tjne 8f\n\tnop\n8:\n\t"       \
    "test %%r10, %%r10\n\tje 8f\n\tnop\n8:\n\t"

/* A function with the instructions of a check of ThreadSanitizer: __tsan_read8 of gcc 12, run
 * instruction by instruction, whose first cell has an older access of the same thread. It has 140:
 * 17 loads, 5 stores, the stack among them; 26 branches, half of them taken; 17 compares, 17
 * shifts, 7 constants of 64 bits, 14 moves from register to register, 35 that add and mask, a
 * multiplication, and the return. Nothing of one call waits for the one before. */
enum { CHECK = 140 };
static void checks(uint64_t rounds)
{
    static uint64_t words[16] = {[0] = 1, [1] = 3, [2] = 5, [3] = 7, [8] = 1};

    __asm__ volatile(
        "sub $128, %%rsp\n\txor %%r10d, %%r10d\n\t.p2align 4\n1:\n\t"
        "call 7f\n\tdec %0\n\tjnz 1b\n\tjmp 6f\n\t.p2align 4\n7:\n\t"
        "nopl (%%rax)\n\tpush %%r12\n\tpush %%r13\n\tpush %%rbx\n\t"
        "movabs $0x7fff87ffffff8, %%rdx\n\tand %%r9, %%rdx\n\tmovabs $0x40000000000, %%rcx\n\t"
        "xor %%rcx, %%rdx\n\tcmpq $-1, (%1)\n\tje 9f\n\tlea 8(%1), %%r13\n\tlea 40(%1), %%r12\n\t"
        "mov 32(%1), %%rax\n\tmov 64(%1), %%r11\n\ttest %%r11, %%r11\n\tje 9f\n\t"
        "mov %%r9, %%rdi\n\tshl $42, %%rdi\n\tmovabs $0x1c0000000000, %%rdx\n\t"
        "and %%rdx, %%rdi\n\tmovabs $0xffffe3ffffffffff, %%rdx\n\tand %%r11, %%rdx\n\t"
        "or %%rdx, %%rdi\n\tmovabs $0x60000000000000, %%r8\n\tor %%rdi, %%r8\n\t"
        "mov %%r8, %%rbx\n\tshr $50, %%rbx\n\tmovabs $0x3ffffffffff, %%r12\n\t"
        "and %%r8, %%r12\n\t" /* the access, as a cell */
        "mov 56(%1), %%rcx\n\tmov %%rcx, %%rdx\n\tshr $3, %%rdx\n\tjs 9f\n\tmov 96(%1), %%rdx\n\t"
        "mov %%rdx, %%rdi\n\tjs 9f\n\tmov 104(%1), %%rdi\n\tcmp %%r10, %%r13\n\tje 9f\n\t"
        "jne 8f\n\tnop\n8:\n\t" /* flags */
        LOOK("0") LOOK("8") LOOK("16") LOOK(
            "24") "add $1, %%r11\n\tmov %%r11, %%rcx\n\tmov $-1, %%rdx\n\tmov %%r11, 72(%1)\n\t"
                  "shr $42, %%rcx\n\tand $7, %%ecx\n\tadd $14, %%ecx\n\tshl %%cl, %%rdx\n\tnot "
                  "%%rdx\n\t"
                  "and %%r11, %%rdx\n\ttest $0x1fff, %%edx\n\tjs 9f\n\tmov %%r11, %%rdi\n\t"
                  "shr $50, %%rdi\n\tadd $1, %%r8\n\tand $0x1fff, %%edi\n\timul $0x1150000, %%rdi, "
                  "%%rax\n\t"
                  "lea (%%rax, %%rdx, 8), %%rdx\n\tmovabs $0x600000000000, %%rax\n\tadd %%rdx, "
                  "%%rax\n\t"
                  "mov %%r12, 80(%1)\n\t" /* its event */
                  "mov (%1), %%rax\n\ttest %%rax, %%rax\n\tje 9f\n\tmov %%r8, %%rdx\n\txor %%rax, "
                  "%%rdx\n\t"
                  "mov %%rdx, %%rcx\n\tshr $42, %%rcx\n\tand $31, %%ecx\n\tjs 9f\n\tshr $50, "
                  "%%rdx\n\t"
                  "cmp %%r10, %%r13\n\tjne 8f\n\tnop\n8:\n\tmov %%rax, %%rcx\n\tshr $47, %%rax\n\t"
                  "and $3, %%eax\n\tcmp %%r10, %%r13\n\tje 9f\n\tshr $2, %%rcx\n\tand $3, %%ecx\n\t"
                  "jmp 8f\n\tnop\n8:\n\tmov 40(%1), %%rdx\n\t" /* the first cell */
        EMPTY("8") EMPTY("16") EMPTY("24") "pop %%rbx\n\tpop %%r13\n\tpop %%r12\n\tret\n"
                                           "9:\n\tud2\n6:\n\tadd $128, %%rsp\n\t"
        : "+r"(rounds)
        : "r"(words)
        : "rax", "rbx", "rcx", "rdx", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "memory",
          "cc");
}
#else
/* Measures with 16 instructions: two load, three compare and three branch, not taken, eight
 * compute. They do not depend on each other but for the eight, in four chains. */
enum { CHECK = 160 };
static void checks(uint64_t rounds)
{
    static uint64_t words[8];
    uint64_t a = 1, b = 1, c = 1, d = 1, x, y;

    while (rounds--)
        __asm__ volatile(TEN("ldr %4, [%6]\n\tadd %0, %0, %7\n\teor %1, %1, %7\n\t"
                             "tst %7, %7\n\tb.eq 9f\n\tlsr %2, %2, #1\n\tand %3, %3, %7\n\t"
                             "ldr %5, [%6, #8]\n\tadd %0, %0, %7\n\teor %1, %1, %7\n\t"
                             "tst %7, %7\n\tb.eq 9f\n\tlsr %2, %2, #1\n\tand %3, %3, %7\n\t"
                             "tst %7, %7\n\tb.eq 9f\n\t") "9:\n\t"
                         : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "=&r"(x), "=&r"(y)
                         : "r"(words), "r"((uint64_t)3)
                         : "cc");
}
#endif

static void width(double of_cycle)
{
    enum { ROUNDS = 1000 };

    checks(ROUNDS);
    for (int r = 0; r < SHORT_RUNS; r++) {
        const double began = now();
        checks(ROUNDS);
        run[r] = ROUNDS * (double)CHECK / ((now() - began) / of_cycle);
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

/* Puts numbers into an order by chance. reach 0: one that is a cycle (Sattolo); 1: any. */
static void shuffle(uint64_t *a, size_t n, size_t reach)
{
    for (size_t i = n - 1; i > 0; i--) {
        const size_t k = draw(i + reach);
        const uint64_t was = a[i];
        a[i] = a[k];
        a[k] = was;
    }
}

/* A cycle through all lines of so much memory, in an order that no prefetcher knows. */
static void **chain(size_t bytes)
{
    const size_t n = bytes / LINE, room = (bytes + HUGE - 1) / HUGE * HUGE;
    char *at = aligned_alloc(HUGE, room);
    uint64_t *order = malloc(n * sizeof *order);

    if (!at || !order)
        exit(1);
    madvise(at, room, MADV_HUGEPAGE); /* translations are not what is measured */
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    shuffle(order, n, 0);
    for (size_t i = 0; i < n; i++)
        *(void **)(at + order[i] * LINE) = at + order[(i + 1) % n] * LINE;
    free(order);
    return (void **)at;
}

static void **volatile sink;

/* Measures many short runs: in some of them no other process is in the way. */
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
#define WINDOWS(X)                                                                                 \
    X(32) X(64) X(96) X(128) X(160) X(192) X(224) X(256) X(320) X(384) X(448) X(512) X(640)
WINDOWS(BETWEEN)

static void window(void **first, size_t lines, double of_one)
{
#define ROW(n) {n, between_##n},
    static const struct {
        int n;
        double (*run)(void **p, void **q);
    } t[] = {WINDOWS(ROW)};

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

/* ---- branches ------------------------------------------------------------------------------- */

/* Each round loads a word, as a cell, and branches by some of its bits after an exclusive or, a
 * shift and a mask. Words are a coin's throws, new ones each time, as what came again would be
 * learned; where bits is 0 it is always the same way. */
static double rounds_of(uint64_t bits)
{
    enum { ROUNDS = 2000 };
    static uint64_t cell[ROUNDS];
    uint64_t n = 0;

    for (int i = 0; i < ROUNDS; i++)
        cell[i] = draw(UINT64_MAX);
    const double began = now();
    for (int i = 0; i < ROUNDS; i++)
        if ((cell[i] ^ n) >> 42 & bits)
            __asm__ volatile("" : "+r"(n)); /* no conditional move */
        else
            __asm__ volatile("nop" : "+r"(n));
    return (now() - began) / ROUNDS;
}

/* Measures a mispredicted branch once its word is there: twice the difference between random and
 * predictable outcomes, as half the random ones are mispredicted, less an L1 hit. */
static void mispredict(double l1)
{
    double right = 1e9;

    for (int r = 0; r < SHORT_RUNS; r++) {
        const double took = rounds_of(0);
        right = took < right ? took : right;
        run[r] = rounds_of(1);
    }
    for (int r = 0; r < SHORT_RUNS; r++)
        run[r] = positive(2 * (run[r] - right) - l1);
    tell("mispredict", SHORT_RUNS);
}

/* ---- translations --------------------------------------------------------------------------- */

enum { MOST_PAGES = 8192, SAME = 8 };

/* Loads of so many pages at random, each address with the value before. All of them are the same
 * few pages of memory, so that their lines stay in the L1: what is more than of few pages is what
 * translations take. */
static double of_pages(char *at, size_t page, size_t n)
{
    static uint64_t offset[MOST_PAGES];
    const size_t steps = 4 * MOST_PAGES;
    double least = 1e9;

    for (size_t i = 0; i < n; i++)
        offset[i] = i * page + i % (SAME * (page / LINE)) / SAME * LINE;
    shuffle(offset, n, 1);
    for (int r = 0; r < 2 * RUNS; r++) {
        const double began = now();
        uint64_t value = 0;
        for (size_t i = 0, k = 0; i < steps; i++) {
            value = *(volatile uint64_t *)(at + offset[k] + value);
            k = k + 1 == n ? 0 : k + 1;
        }
        const double took = (now() - began) / (double)steps;
        least = r && took < least ? took : least;
    }
    return least;
}

/* The most pages of the list that take less than that. */
static void most_below(const char *name, char *at, size_t page, const size_t *list, double limit)
{
    for (int r = 0; r < 3; r++) {
        run[r] = (double)*list;
        for (const size_t *n = list; *n && of_pages(at, page, *n) < limit; n++)
            run[r] = (double)*n;
    }
    tell(name, 3);
}

static void translations(void)
{
    static const size_t first[] = {16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128, 160, 192, 0};
    static const size_t second[] = {256,  384,  512,  768,  1024, 1280, 1536,
                                    1792, 2048, 2560, 3072, 4096, 0};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const int file = memfd_create("probe", MFD_CLOEXEC);
    char *at = mmap(NULL, MOST_PAGES * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (file < 0 || at == MAP_FAILED || ftruncate(file, (off_t)(SAME * page)))
        return;
    for (size_t i = 0; i < MOST_PAGES; i += SAME)
        if (mmap(at + i * page, SAME * page, PROT_READ, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file,
                 0) == MAP_FAILED)
            return;
    double walks[RUNS];
    for (int r = 0; r < RUNS; r++) {
        const double few = of_pages(at, page, 16), some = of_pages(at, page, 256);
        run[r] = positive(some - few);
        walks[r] = positive(of_pages(at, page, MOST_PAGES) - few);
    }
    const double more = tell("second-translation", RUNS);
    for (int r = 0; r < RUNS; r++)
        run[r] = walks[r];
    const double walk = tell("walk", RUNS), few = of_pages(at, page, 16);
    run[0] = (double)page;
    tell("page", 1);
    most_below("translations", at, page, first, few + more / 2);
    most_below("second-translations", at, page, second, few + more + (walk - more) / 4);
    munmap(at, MOST_PAGES * page);
    close(file);
}

int main(int argc, char **argv)
{
    static const char *const level[] = {"l1", "l2", "l3"};
    size_t below = 0, most = 0;
    double l1 = 0;

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
        const double took = latency(level[i], p, part / LINE);
        l1 = i == 0 ? took : l1;
        free(p);
        below = most = size;
    }
    const size_t all = most * 4 > ((size_t)64 << 20) ? most * 4 : (size_t)64 << 20;
    void **p = chain(all);
    const double one = latency("memory", p, all / LINE);
    misses(p, all / LINE, one);
    window(p, all / LINE, one);
    atomic_own();
    mispredict(l1);
    translations();
    transfer();
    return 0;
}
