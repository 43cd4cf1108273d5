/* lard.h - what a program that runs in gem5 says to lardsim: LARDx86's instructions, and what its
 * runtime synchronises, allocates and moves. For C and C++, x86-64; needs nothing else of lardsim.
 *
 * Each call is one instruction, gem5's pseudo-op 0x70, which gem5/lard_workload.cc hands to the
 * detector. The same binary runs on real hardware, where the calls do nothing: they look once
 * whether the processor is gem5's.
 *
 * Order. What gives (a release, a volatile write, an arrival, a fork) is said before it is done,
 * what takes (an acquire, a volatile read, a departure, a join) after it was done. So the detector
 * never hears of an acquire before the release that it waited for. */
#ifndef LARD_H
#define LARD_H

#include <stdint.h>

/* Operations, in the low 16 bits of rdi. Up to 255 they are lardsim's kinds of events, with its
 * numbers (lardsim.h, docs/events.md): rsi is the address, the object or the value, rdx the other
 * thread, round, bytes or index, rcx the source of a copy, r8 the size of an element, r9 the place
 * in the program (0: the instruction itself). */
enum lard_op {
    LARD_OP_ACQUIRE = 4,
    LARD_OP_RELEASE = 5,
    LARD_OP_ACQUIRE_SHARED = 6,
    LARD_OP_RELEASE_SHARED = 7,
    LARD_OP_FORK = 8,
    LARD_OP_JOIN = 9,
    LARD_OP_WAIT_ENTER = 10,
    LARD_OP_WAIT_EXIT = 11,
    LARD_OP_NOTIFY = 12,
    LARD_OP_VOLATILE_READ = 13,
    LARD_OP_VOLATILE_WRITE = 14,
    LARD_OP_BARRIER_ARRIVE = 15,
    LARD_OP_BARRIER_DEPART = 16,
    LARD_OP_CLASS_INIT = 17,
    LARD_OP_CLASS_USE = 18,
    LARD_OP_ALLOC = 23,
    LARD_OP_CLEAR = 24,
    LARD_OP_COPY = 25,
    LARD_OP_GC_BEGIN = 26,
    LARD_OP_GC_END = 27,
    LARD_OP_THREAD = 28,
    LARD_OP_READVC = 29,
    LARD_OP_WRITEVC = 30,
    LARD_OP_ROI_BEGIN = 31,
    LARD_OP_ROI_END = 32,
    /* Operations from here on are no events. */
    LARD_OP_RUNTIME = 256, /* rsi: 1, the runtime's code begins; 0, it ends. They nest */
    LARD_OP_RAW,           /* the program keeps clocks by readvc and writevc alone */
    LARD_OP_CREATE,        /* rdx: the number of the thread that is created next */
    LARD_OP_SELF,          /* rsi: pthread_self() of the thread that begins here; rdx: its number */
    LARD_OP_LAST,          /* the thread ends */
    LARD_OP_JOIN_HANDLE,   /* rsi: pthread_self() of the thread that has ended */
    LARD_OP_FREE,          /* rsi: ends the life of what was allocated there, if anything was */
    LARD_OP_NAME,          /* rsi: an address; rdx: its name, rcx: the name's bytes */
    LARD_OPS
};

/* The upper 32 bits of rdi; then 16 of flags (enum lardsim_flag), then the operation. */
#define LARD_MAGIC     0x4c415244u /* "LARD" */
#define LARD_SYSTEM    1u          /* the runtime's own, not the program's */
#define LARD_ROUND_ANY UINT64_MAX  /* a barrier's round: lardsim counts them */

#if defined(__x86_64__) && defined(__GNUC__)

/* Another listener: lard_sync.c, which writes down what is said for a packet trace. */
typedef uint64_t lard_told_fn(unsigned op, unsigned flags, uint64_t rsi, uint64_t rdx,
                              uint64_t rcx);
__attribute__((weak)) lard_told_fn *lard_told;

/* Is the processor gem5's? Its name says so ("Fake gem5 x86_64 CPU"; cpuid, 0x80000002). */
__attribute__((weak)) int lard_is_live; /* one for the whole program; set before main */
__attribute__((constructor(101), unused)) static void lard_look(void)
{
    uint32_t a = 0x80000000u, b = 0, c = 0, d = 0;

    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    if (a < 0x80000002u)
        return;
    a = 0x80000002u;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    lard_is_live = a == 0x656b6146u && b == 0x6d656720u; /* "Fake", " gem" */
}

/* Returns what the detector answers; 0 on real hardware. The lfence is for an out-of-order core,
 * which could read an answer in rdx before it is there. */
static inline uint64_t lard_say(unsigned op, unsigned flags, uint64_t rsi, uint64_t rdx,
                                uint64_t rcx, uint64_t r8, uint64_t r9)
{
    uint64_t rax;
    register uint64_t five __asm__("r8") = r8;
    register uint64_t six __asm__("r9") = r9;

    if (lard_told)
        return lard_told(op, flags, rsi, rdx, rcx);
    if (!lard_is_live)
        return 0;
    __asm__ volatile(".byte 0x0f, 0x04, 0x70, 0x00\n\tlfence" /* rax is always overwritten */
                     : "=a"(rax), "+d"(rdx)
                     : "D"((uint64_t)LARD_MAGIC << 32 | (uint64_t)flags << 16 | op), "S"(rsi),
                       "c"(rcx), "r"(five), "r"(six)
                     : "memory");
    return rdx;
}

/* An access that is tracked even if others are not (gem5/run.py --tracked marked): a prefix on the
 * load or store itself, which hardware ignores. Of 1, 2, 4 or 8 bytes. */
#define LARD_LOAD_AS(name, type, suffix, reg)                                                      \
    static inline type lard_load_##name(const volatile type *p)                                    \
    {                                                                                              \
        type v;                                                                                    \
        __asm__ volatile("mov" suffix " %%cs:%1, %0" : "=" reg(v) : "m"(*p) : "memory");           \
        return v;                                                                                  \
    }                                                                                              \
    static inline void lard_store_##name(volatile type *p, type v)                                 \
    {                                                                                              \
        __asm__ volatile("mov" suffix " %1, %%cs:%0" : "=m"(*p) : reg(v) : "memory");              \
    }
LARD_LOAD_AS(u8, uint8_t, "b", "q")
LARD_LOAD_AS(u16, uint16_t, "w", "r")
LARD_LOAD_AS(u32, uint32_t, "l", "r")
LARD_LOAD_AS(u64, uint64_t, "q", "r")
LARD_LOAD_AS(f64, double, "sd", "x")
#undef LARD_LOAD_AS

#else /* another compiler or processor: the program runs, and says nothing */

static const int lard_is_live = 0;
static inline uint64_t lard_say(unsigned op, unsigned flags, uint64_t rsi, uint64_t rdx,
                                uint64_t rcx, uint64_t r8, uint64_t r9)
{
    return (void)op, (void)flags, (void)rsi, (void)rdx, (void)rcx, (void)r8, (void)r9, 0;
}
#define LARD_LOAD_AS(name, type)                                                                   \
    static inline type lard_load_##name(const volatile type *p)                                    \
    {                                                                                              \
        return *p;                                                                                 \
    }                                                                                              \
    static inline void lard_store_##name(volatile type *p, type v)                                 \
    {                                                                                              \
        *p = v;                                                                                    \
    }
LARD_LOAD_AS(u8, uint8_t)
LARD_LOAD_AS(u16, uint16_t)
LARD_LOAD_AS(u32, uint32_t)
LARD_LOAD_AS(u64, uint64_t)
LARD_LOAD_AS(f64, double)
#undef LARD_LOAD_AS

#endif

#define LARD_ADDR(p)        ((uint64_t)(uintptr_t)(p))
#define LARD_SAY1(op, a)    ((void)lard_say(op, 0, a, 0, 0, 0, 0))
#define LARD_SAY2(op, a, b) ((void)lard_say(op, 0, a, b, 0, 0, 0))

/* Locks, shared ones, condition variables. */
#define lard_acquire(lock)        LARD_SAY1(LARD_OP_ACQUIRE, LARD_ADDR(lock))
#define lard_release(lock)        LARD_SAY1(LARD_OP_RELEASE, LARD_ADDR(lock))
#define lard_acquire_shared(lock) LARD_SAY1(LARD_OP_ACQUIRE_SHARED, LARD_ADDR(lock))
#define lard_release_shared(lock) LARD_SAY1(LARD_OP_RELEASE_SHARED, LARD_ADDR(lock))
#define lard_wait_enter(lock)     LARD_SAY1(LARD_OP_WAIT_ENTER, LARD_ADDR(lock))
#define lard_wait_exit(lock)      LARD_SAY1(LARD_OP_WAIT_EXIT, LARD_ADDR(lock))
#define lard_notify(lock)         LARD_SAY1(LARD_OP_NOTIFY, LARD_ADDR(lock))

/* Volatiles, barriers, initialisation of classes. */
#define lard_volatile_read(p)       LARD_SAY1(LARD_OP_VOLATILE_READ, LARD_ADDR(p))
#define lard_volatile_write(p)      LARD_SAY1(LARD_OP_VOLATILE_WRITE, LARD_ADDR(p))
#define lard_arrive(barrier, round) LARD_SAY2(LARD_OP_BARRIER_ARRIVE, LARD_ADDR(barrier), round)
#define lard_depart(barrier, round) LARD_SAY2(LARD_OP_BARRIER_DEPART, LARD_ADDR(barrier), round)
#define lard_class_init(c)          LARD_SAY1(LARD_OP_CLASS_INIT, LARD_ADDR(c))
#define lard_class_use(c)           LARD_SAY1(LARD_OP_CLASS_USE, LARD_ADDR(c))

/* Threads of a runtime of its own, by the numbers of lard_thread. (pthreads need none of this: a
 * clone is seen by gem5, and the interposer says who was joined.) */
#define lard_fork(thread) LARD_SAY2(LARD_OP_FORK, 0, thread)
#define lard_join(thread) LARD_SAY2(LARD_OP_JOIN, 0, thread)

/* Memory. An address has a new life after a clear; a copy takes histories and locks along. */
#define lard_alloc(p, bytes) LARD_SAY2(LARD_OP_ALLOC, LARD_ADDR(p), bytes)
#define lard_free(p)         LARD_SAY1(LARD_OP_FREE, LARD_ADDR(p))
#define lard_clear(p, bytes) LARD_SAY2(LARD_OP_CLEAR, LARD_ADDR(p), bytes)
#define lard_copy(to, from, bytes)                                                                 \
    ((void)lard_say(LARD_OP_COPY, 0, LARD_ADDR(to), bytes, LARD_ADDR(from), 0, 0))
#define lard_gc_begin()             LARD_SAY1(LARD_OP_GC_BEGIN, 0)
#define lard_gc_end()               LARD_SAY1(LARD_OP_GC_END, 0)
#define lard_name(p, text)          lard_name_bytes(LARD_ADDR(p), text, sizeof(text) - 1)
#define lard_name_bytes(a, text, n) ((void)lard_say(LARD_OP_NAME, 0, a, LARD_ADDR(text), n, 0, 0))

/* The runtime's own code, between these: its accesses and synchronisation are not the program's. */
#define lard_runtime_begin() LARD_SAY1(LARD_OP_RUNTIME, 1)
#define lard_runtime_end()   LARD_SAY1(LARD_OP_RUNTIME, 0)

/* LARDx86 (docs/lardx86.md): a runtime that keeps the clocks itself. lard_raw comes first, before
 * threads are created; then there is no synchronisation but this. */
#define lard_raw()                        LARD_SAY1(LARD_OP_RAW, 0)
#define lard_thread(number)               LARD_SAY2(LARD_OP_THREAD, 0, number)
#define lard_readvc(index)                lard_say(LARD_OP_READVC, 0, 0, index, 0, 0, 0)
#define lard_writevc(index, value)        LARD_SAY2(LARD_OP_WRITEVC, value, index)
#define lard_clearhistory(p, bytes)       lard_clear(p, bytes)
#define lard_copyhistory(from, to, bytes) lard_copy(to, from, bytes)

/* The region of interest. gem5's m5_work_begin and m5_work_end do the same. */
#define lard_roi_begin() LARD_SAY1(LARD_OP_ROI_BEGIN, 0)
#define lard_roi_end()   LARD_SAY1(LARD_OP_ROI_END, 0)

#endif
