/* access.c - what a compiler calls for loads and stores with -fsanitize=thread (gcc 12, clang 14),
 * and for atomic operations. Names and arguments are those of that interface. */
#include "capture/native/record.h"

/* ---- loads and stores ----------------------------------------------------------------------- */

#define ACCESS(name, kind, bytes)                                                                  \
    void __tsan_##name(void *p)                                                                    \
    {                                                                                              \
        record_access(kind, ADDR(p), bytes, SITE());                                               \
    }
#define READ_WRITE(name, bytes)                                                                    \
    void __tsan_##name(void *p)                                                                    \
    {                                                                                              \
        record_access(REC_READ, ADDR(p), bytes, SITE());                                           \
        record_access(REC_WRITE, ADDR(p), bytes, SITE());                                          \
    }
#define SIZED(bytes)                                                                               \
    ACCESS(read##bytes, REC_READ, bytes)                                                           \
    ACCESS(write##bytes, REC_WRITE, bytes)                                                         \
    ACCESS(unaligned_read##bytes, REC_READ, bytes)                                                 \
    ACCESS(unaligned_write##bytes, REC_WRITE, bytes)                                               \
    ACCESS(volatile_read##bytes, REC_READ, bytes)                                                  \
    ACCESS(volatile_write##bytes, REC_WRITE, bytes)                                                \
    ACCESS(unaligned_volatile_read##bytes, REC_READ, bytes)                                        \
    ACCESS(unaligned_volatile_write##bytes, REC_WRITE, bytes)                                      \
    READ_WRITE(read_write##bytes, bytes)                                                           \
    READ_WRITE(unaligned_read_write##bytes, bytes)

SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)
ACCESS(vptr_read, REC_READ, 8)

void __tsan_vptr_update(void **at, void *to)
{
    if (*at != to) /* constructors store what is there already */
        record_access(REC_WRITE, ADDR(at), 8, SITE());
}

static void range(uint8_t kind, uint64_t at, uint64_t bytes, uint64_t site)
{
    for (uint64_t some; bytes; at += some, bytes -= some) {
        some = bytes < RING_BYTES ? bytes : RING_BYTES;
        record_access(kind, at, (uint32_t)some, site);
    }
}

void __tsan_read_range(void *p, size_t n)
{
    range(REC_READ, ADDR(p), n, SITE());
}
void __tsan_write_range(void *p, size_t n)
{
    range(REC_WRITE, ADDR(p), n, SITE());
}

#define NOTHING(name, argument)                                                                    \
    void __tsan_##name(argument) {}
NOTHING(ignore_thread_begin, void)
NOTHING(ignore_thread_end, void)

/* The code of the function that opens the window; 0: there is none. */
static uint64_t method_low, method_high;

void method_is(uint64_t low, uint64_t high)
{
    method_low = low;
    method_high = high;
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
    if (UNLIKELY_(SITE() - method_low < method_high - method_low) && ring && ring_enter(ring))
        self.within++;
}
void __tsan_func_exit(void)
{
    if (UNLIKELY_(SITE() - method_low < method_high - method_low) && ring && self.within) {
        self.within--;
        ring_leave(ring);
    }
}

/* ---- functions of libc that the compiler does not see into: the linker's --wrap ---------------
 */

#define WRAP(type, name, parameters, arguments, ...)                                               \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return __real_##name arguments;                                                            \
    }

WRAP(void *, memcpy, (void *to, const void *from, size_t n), (to, from, n),
     range(REC_READ, ADDR(from), n, SITE()), range(REC_WRITE, ADDR(to), n, SITE()))
WRAP(void *, memmove, (void *to, const void *from, size_t n), (to, from, n),
     range(REC_READ, ADDR(from), n, SITE()), range(REC_WRITE, ADDR(to), n, SITE()))
WRAP(void *, mempcpy, (void *to, const void *from, size_t n), (to, from, n),
     range(REC_READ, ADDR(from), n, SITE()), range(REC_WRITE, ADDR(to), n, SITE()))
WRAP(void *, memset, (void *to, int c, size_t n), (to, c, n), range(REC_WRITE, ADDR(to), n, SITE()))
WRAP(int, memcmp, (const void *a, const void *b, size_t n), (a, b, n),
     range(REC_READ, ADDR(a), n, SITE()), range(REC_READ, ADDR(b), n, SITE()))
WRAP(void *, __memcpy_chk, (void *to, const void *from, size_t n, size_t room), (to, from, n, room),
     range(REC_READ, ADDR(from), n, SITE()), range(REC_WRITE, ADDR(to), n, SITE()))
WRAP(void *, __memmove_chk, (void *to, const void *from, size_t n, size_t room),
     (to, from, n, room), range(REC_READ, ADDR(from), n, SITE()),
     range(REC_WRITE, ADDR(to), n, SITE()))
WRAP(void *, __memset_chk, (void *to, int c, size_t n, size_t room), (to, c, n, room),
     range(REC_WRITE, ADDR(to), n, SITE()))
size_t __real_strlen(const char *s);
size_t __wrap_strlen(const char *s)
{
    const size_t n = __real_strlen(s);

    range(REC_READ, ADDR(s), n + 1, SITE());
    return n;
}

/* Records the reads of a comparison, up to the first difference, as no comparison has to look
 * further. */
static void compared(const char *a, const char *b, uint64_t site)
{
    uint64_t n = 0;

    while (a[n] == b[n] && a[n])
        n++;
    range(REC_READ, ADDR(a), n + 1, site);
    range(REC_READ, ADDR(b), n + 1, site);
}
WRAP(int, strcmp, (const char *a, const char *b), (a, b), compared(a, b, SITE()))
WRAP(char *, strcpy, (char *to, const char *from), (to, from),
     range(REC_READ, ADDR(from), __real_strlen(from) + 1, SITE()),
     range(REC_WRITE, ADDR(to), __real_strlen(from) + 1, SITE()))

/* ---- atomic operations -------------------------------------------------------------------------
 * An operation and its number are one step, under one of many locks: else two operations on a
 * location could have numbers in the other order. */

static _Atomic char lock_of[1024];

/* Locks the atomic at p. NULL: a signal came while the thread had a lock, maybe this one; its
 * handler goes without. */
static _Atomic char *lock(const volatile void *p)
{
    _Atomic char *l = &lock_of[(ADDR(p) >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 54];

    if (UNLIKELY_(self.locked))
        return NULL;
    self.locked = true;
    atomic_signal_fence(memory_order_seq_cst);
    while (atomic_exchange_explicit(l, 1, memory_order_acquire))
        __builtin_ia32_pause();
    return l;
}

static void unlock(_Atomic char *l)
{
    if (UNLIKELY_(!l))
        return;
    atomic_store_explicit(l, 0, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    self.locked = false;
}

void atomics_in_child(void)
{
    for (size_t i = 0; i < sizeof lock_of; i++)
        atomic_store_explicit(&lock_of[i], 0, memory_order_relaxed);
}

/* enum ev_order, whose codes never change. */
enum { RELAXED = 1, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

/* Maps the host's memory orders, from __ATOMIC_RELAXED on, to ours; consume is acquire, as
 * compilers take it. */
static uint8_t order_of(int order)
{
    static const uint8_t to[] = {RELAXED, ACQUIRE, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST};

    return to[(unsigned)order < sizeof to ? order : __ATOMIC_SEQ_CST];
}

/* Fences. After one that releases, the thread's atomic stores release, as whoever sees one of them
 * comes after the fence. One that acquires reads once more, with that order, where the thread has
 * read before. Both order a little more than the fences do: up to the store, and from what was
 * stored since the read. */
static void atomic_done(uint8_t kind, uint64_t addr, uint32_t size, uint8_t order, uint64_t site)
{
    const bool takes = order == ACQUIRE || order == ACQ_REL || order == SEQ_CST,
               gives = order == RELEASE || order == ACQ_REL || order == SEQ_CST;

    if (UNLIKELY_(self.gives) && kind != REC_READ && !gives)
        order = takes ? ACQ_REL : RELEASE;
    if (kind != REC_WRITE && !takes) {
        const uint32_t newest = self.loads % LOADED;
        if (!self.loads || self.loaded[(newest + LOADED - 1) % LOADED].addr != addr) {
            self.loaded[newest].addr = addr;
            self.loaded[newest].size = size;
            self.loads++;
        }
    }
    record_atomic(kind, addr, size, order, site);
}

#define SEQ __ATOMIC_SEQ_CST
#define UPDATE(T, bits, name, builtin)                                                             \
    T __tsan_atomic##bits##_##name(volatile T *p, T v, int order)                                  \
    {                                                                                              \
        _Atomic char *l = lock(p);                                                                 \
        const T was = builtin(p, v, SEQ);                                                          \
        atomic_done(REC_RMW, ADDR(p), sizeof v, order_of(order), SITE());                          \
        unlock(l);                                                                                 \
        return was;                                                                                \
    }
/* A compare and exchange that fails has only read. */
#define EXCHANGE(T, bits, name)                                                                    \
    int __tsan_atomic##bits##_##name(volatile T *p, T *c, T v, int order, int fail)                \
    {                                                                                              \
        _Atomic char *l = lock(p);                                                                 \
        const int done = __atomic_compare_exchange_n(p, c, v, 0, SEQ, SEQ);                        \
        atomic_done(done ? REC_RMW : REC_READ, ADDR(p), sizeof v, order_of(done ? order : fail),   \
                    SITE());                                                                       \
        unlock(l);                                                                                 \
        return done;                                                                               \
    }
#define ATOMIC(T, bits)                                                                            \
    T __tsan_atomic##bits##_load(const volatile T *p, int order)                                   \
    {                                                                                              \
        _Atomic char *l = lock(p);                                                                 \
        const T v = __atomic_load_n(p, SEQ);                                                       \
        atomic_done(REC_READ, ADDR(p), sizeof v, order_of(order), SITE());                         \
        unlock(l);                                                                                 \
        return v;                                                                                  \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile T *p, T v, int order)                                \
    {                                                                                              \
        _Atomic char *l = lock(p);                                                                 \
        atomic_done(REC_WRITE, ADDR(p), sizeof v, order_of(order), SITE());                        \
        __atomic_store_n(p, v, SEQ);                                                               \
        unlock(l);                                                                                 \
    }                                                                                              \
    UPDATE(T, bits, exchange, __atomic_exchange_n)                                                 \
    UPDATE(T, bits, fetch_add, __atomic_fetch_add)                                                 \
    UPDATE(T, bits, fetch_sub, __atomic_fetch_sub)                                                 \
    UPDATE(T, bits, fetch_and, __atomic_fetch_and)                                                 \
    UPDATE(T, bits, fetch_or, __atomic_fetch_or)                                                   \
    UPDATE(T, bits, fetch_xor, __atomic_fetch_xor)                                                 \
    UPDATE(T, bits, fetch_nand, __atomic_fetch_nand)                                               \
    EXCHANGE(T, bits, compare_exchange_strong)                                                     \
    EXCHANGE(T, bits, compare_exchange_weak)                                                       \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T c, T v, int order, int fail)     \
    {                                                                                              \
        _Atomic char *l = lock(p);                                                                 \
        const int done = __atomic_compare_exchange_n(p, &c, v, 0, SEQ, SEQ);                       \
        atomic_done(done ? REC_RMW : REC_READ, ADDR(p), sizeof v, order_of(done ? order : fail),   \
                    SITE());                                                                       \
        unlock(l);                                                                                 \
        return c;                                                                                  \
    }

ATOMIC(uint8_t, 8)
ATOMIC(uint16_t, 16)
ATOMIC(uint32_t, 32)
ATOMIC(uint64_t, 64)

void __tsan_atomic_thread_fence(int order)
{
    const uint8_t o = order_of(order);
    const uint32_t n = self.loads < LOADED ? self.loads : LOADED;

    __atomic_thread_fence(SEQ);
    self.gives |= o >= RELEASE;
    for (uint32_t i = 0; i < n && o != RELEASE && o != RELAXED; i++)
        record_atomic(REC_READ, self.loaded[i].addr, self.loaded[i].size, ACQUIRE, SITE());
    if (o != RELEASE && o != RELAXED)
        self.loads = 0;
}
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(SEQ);
}
