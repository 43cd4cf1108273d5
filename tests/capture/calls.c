/* calls.c - each call that the runtime of captures knows, and the events that it has to leave: one
 * line each, on standard output, for calls.sh. It is compiled as usual, so that nothing but these
 * calls is recorded; those of the compiler are called by their names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static char said[1 << 18];
static size_t used;
static int bad;
static pthread_spinlock_t begins_and_ends; /* around what a group does */

/* Standard output would allocate. */
__attribute__((format(printf, 1, 2))) static void expect(const char *form, ...)
{
    va_list args;

    va_start(args, form);
    used += (size_t)vsnprintf(said + used, sizeof said - used, form, args);
    said[used++] = '\n';
    va_end(args);
}

#define CHECK(condition) check(condition, __LINE__, #condition)
static void check(int holds, int line, const char *condition)
{
    if (!holds)
        fprintf(stderr, "calls.c:%d: %s does not hold\n", line, condition);
    bad |= !holds;
}

static const struct timespec past = {.tv_sec = 1}, later = {.tv_sec = (time_t)1 << 33};

/* ---- what a compiler calls ------------------------------------------------------------------ */

static uint64_t data[4] __attribute__((aligned(64)));

#define PLAIN(bytes)                                                                               \
    PLAIN_ONE(read##bytes, "read", bytes)                                                          \
    PLAIN_ONE(write##bytes, "write", bytes)                                                        \
    PLAIN_ONE(unaligned_read##bytes, "read", bytes)                                                \
    PLAIN_ONE(unaligned_write##bytes, "write", bytes)                                              \
    PLAIN_ONE(volatile_read##bytes, "read", bytes)                                                 \
    PLAIN_ONE(volatile_write##bytes, "write", bytes)                                               \
    PLAIN_ONE(unaligned_volatile_read##bytes, "read", bytes)                                       \
    PLAIN_ONE(unaligned_volatile_write##bytes, "write", bytes)                                     \
    PLAIN_TWO(read_write##bytes, bytes)                                                            \
    PLAIN_TWO(unaligned_read_write##bytes, bytes)
#define PLAINS                        PLAIN(1) PLAIN(2) PLAIN(4) PLAIN(8) PLAIN(16)
#define PLAIN_ONE(name, event, bytes) void __tsan_##name(void *);
#define PLAIN_TWO(name, bytes)        void __tsan_##name(void *);
PLAINS
#undef PLAIN_ONE
#undef PLAIN_TWO
#define PLAIN_ONE(name, event, bytes)                                                              \
    expect(event " %p " #bytes, (void *)data), __tsan_##name(data);
#define PLAIN_TWO(name, bytes)                                                                     \
    expect("read %p " #bytes, (void *)data), expect("write %p " #bytes, (void *)data);             \
    __tsan_##name(data);

void __tsan_vptr_read(void *);
void __tsan_vptr_update(void **at, void *to);
void __tsan_read_range(void *p, size_t n);
void __tsan_write_range(void *p, size_t n);

static void plain(void)
{
    void *table = data;

    PLAINS
    expect("read %p 8", (void *)&table), __tsan_vptr_read(&table);
    expect("write %p 8", (void *)&table), __tsan_vptr_update(&table, NULL);
    __tsan_vptr_update(&table, data); /* what is there already */
    expect("read %p 65536", (void *)data), expect("read %p 3", (void *)((char *)data + 65536));
    __tsan_read_range(data, 65539);
    expect("write %p 65536", (void *)data), __tsan_write_range(data, 65536);
    __tsan_write_range(data, 0);
    expect("write %p 5", (void *)data), __tsan_write_range(data, 5);
}

/* ---- atomic operations ---------------------------------------------------------------------- */

#define ATOMICS(T, bits)                                                                           \
    T __tsan_atomic##bits##_load(const volatile T *, int);                                         \
    void __tsan_atomic##bits##_store(volatile T *, T, int);                                        \
    T __tsan_atomic##bits##_exchange(volatile T *, T, int);                                        \
    T __tsan_atomic##bits##_fetch_add(volatile T *, T, int);                                       \
    T __tsan_atomic##bits##_fetch_sub(volatile T *, T, int);                                       \
    T __tsan_atomic##bits##_fetch_and(volatile T *, T, int);                                       \
    T __tsan_atomic##bits##_fetch_or(volatile T *, T, int);                                        \
    T __tsan_atomic##bits##_fetch_xor(volatile T *, T, int);                                       \
    T __tsan_atomic##bits##_fetch_nand(volatile T *, T, int);                                      \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile T *, T *, T, int, int);             \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile T *, T *, T, int, int);               \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T *, T, T, int, int);                    \
                                                                                                   \
    static void atomic##bits(const char *order, int code, const char *fails, int fail_code)        \
    {                                                                                              \
        static T at;                                                                               \
        T seen = 6;                                                                                \
        static const char *const kinds[] = {"read", "write", "rmw", "rmw", "rmw", "rmw",           \
                                            "rmw",  "rmw",   "rmw", "rmw", "rmw", "rmw"};          \
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)                                  \
            expect("%s %p %zu %s", kinds[i], (void *)&at, sizeof at, order);                       \
        for (int i = 0; i < 3; i++)                                                                \
            expect("read %p %zu %s", (void *)&at, sizeof at, fails);                               \
        at = 9;                                                                                    \
        CHECK(__tsan_atomic##bits##_load(&at, code) == 9);                                         \
        __tsan_atomic##bits##_store(&at, 7, code);                                                 \
        CHECK(__tsan_atomic##bits##_exchange(&at, 4, code) == 7);                                  \
        CHECK(__tsan_atomic##bits##_fetch_add(&at, 3, code) == 4);                                 \
        CHECK(__tsan_atomic##bits##_fetch_sub(&at, 1, code) == 7);                                 \
        CHECK(__tsan_atomic##bits##_fetch_and(&at, 3, code) == 6);                                 \
        CHECK(__tsan_atomic##bits##_fetch_or(&at, 8, code) == 2);                                  \
        CHECK(__tsan_atomic##bits##_fetch_xor(&at, 3, code) == 10);                                \
        CHECK(__tsan_atomic##bits##_fetch_nand(&at, 1, code) == 9 && at == (T)~1);                 \
        at = 6;                                                                                    \
        CHECK(__tsan_atomic##bits##_compare_exchange_strong(&at, &seen, 7, code, fail_code));      \
        seen = 7;                                                                                  \
        CHECK(__tsan_atomic##bits##_compare_exchange_weak(&at, &seen, 8, code, fail_code));        \
        CHECK(__tsan_atomic##bits##_compare_exchange_val(&at, 8, 9, code, fail_code) == 8);        \
        CHECK(!__tsan_atomic##bits##_compare_exchange_strong(&at, &seen, 1, code, fail_code));     \
        CHECK(seen == 9);                                                                          \
        seen = 5;                                                                                  \
        CHECK(!__tsan_atomic##bits##_compare_exchange_weak(&at, &seen, 1, code, fail_code));       \
        CHECK(__tsan_atomic##bits##_compare_exchange_val(&at, 5, 1, code, fail_code) == 9);        \
        CHECK(at == 9 && seen == 9);                                                               \
    }
ATOMICS(uint8_t, 8)
ATOMICS(uint16_t, 16)
ATOMICS(uint32_t, 32)
ATOMICS(uint64_t, 64)
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

static void load(const uint32_t *at)
{
    expect("read %p 4 relaxed", (const void *)at);
    __tsan_atomic32_load(at, __ATOMIC_RELAXED);
}

/* A fence that acquires reads with that order what was read without since the last one: the last 16
 * places, one after the other, each once. */
static void fences(void)
{
    static uint32_t at[20], *const other = &at[19];

    load(&at[0]), load(&at[1]), load(&at[1]);
    expect("read %p 4 acquire", (void *)&at[2]);
    __tsan_atomic32_load(&at[2], __ATOMIC_ACQUIRE);
    __tsan_atomic_thread_fence(__ATOMIC_RELAXED);
    __tsan_atomic_signal_fence(__ATOMIC_SEQ_CST);
    expect("read %p 4 acquire", (void *)&at[0]), expect("read %p 4 acquire", (void *)&at[1]);
    __tsan_atomic_thread_fence(__ATOMIC_ACQUIRE);
    __tsan_atomic_thread_fence(__ATOMIC_ACQUIRE);
    for (int i = 0; i < 18; i++)
        load(&at[i]);
    expect("write %p 4 relaxed", (void *)other);
    __tsan_atomic32_store(other, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 16; i++)
        expect("read %p 4 acquire", (void *)&at[i < 2 ? 16 + i : i]);
    __tsan_atomic_thread_fence(__ATOMIC_ACQUIRE);
    expect("rmw %p 4 relaxed", (void *)other); /* which has read, too */
    __tsan_atomic32_fetch_add(other, 1, __ATOMIC_RELAXED);
    expect("read %p 4 acquire", (void *)other), __tsan_atomic_thread_fence(__ATOMIC_ACQ_REL);
    expect("read %p 4 seq-cst", (void *)&at[2]); /* and these have acquired */
    __tsan_atomic32_load(&at[2], __ATOMIC_SEQ_CST);
    expect("rmw %p 4 acq-rel", (void *)other);
    __tsan_atomic32_fetch_add(other, 1, __ATOMIC_ACQ_REL);
    __tsan_atomic_thread_fence(__ATOMIC_ACQUIRE);
    /* From the first that releases on, all that is stored is released. */
    load(&at[0]);
    expect("read %p 4 acquire", (void *)&at[0]), __tsan_atomic_thread_fence(__ATOMIC_SEQ_CST);
    load(&at[3]);
    __tsan_atomic_thread_fence(__ATOMIC_RELEASE);
    expect("write %p 4 release", (void *)other);
    __tsan_atomic32_store(other, 1, __ATOMIC_RELAXED);
    expect("rmw %p 4 release", (void *)other);
    __tsan_atomic32_fetch_add(other, 1, __ATOMIC_RELAXED);
    expect("rmw %p 4 acq-rel", (void *)other);
    __tsan_atomic32_fetch_add(other, 1, __ATOMIC_ACQUIRE);
    expect("write %p 4 seq-cst", (void *)other);
    __tsan_atomic32_store(other, 1, __ATOMIC_SEQ_CST);
    expect("read %p 4 acquire", (void *)&at[3]), expect("read %p 4 acquire", (void *)other);
    __tsan_atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static void atomics(void)
{
    static const struct {
        const char *name;
        int code;
        const char *fails;
        int fail_code;
    } order[] = {{"relaxed", __ATOMIC_RELAXED, "acquire", __ATOMIC_ACQUIRE},
                 {"acquire", __ATOMIC_CONSUME, "seq-cst", __ATOMIC_SEQ_CST},
                 {"acquire", __ATOMIC_ACQUIRE, "acquire", __ATOMIC_CONSUME},
                 {"release", __ATOMIC_RELEASE, "relaxed", __ATOMIC_RELAXED},
                 {"acq-rel", __ATOMIC_ACQ_REL, "acquire", __ATOMIC_ACQUIRE},
                 {"seq-cst", __ATOMIC_SEQ_CST, "seq-cst", __ATOMIC_SEQ_CST}};

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        atomic8(order[i].name, order[i].code, order[i].fails, order[i].fail_code);
        atomic16(order[i].name, order[i].code, order[i].fails, order[i].fail_code);
        atomic32(order[i].name, order[i].code, order[i].fails, order[i].fail_code);
        atomic64(order[i].name, order[i].code, order[i].fails, order[i].fail_code);
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__memmove_chk(void *to, const void *from, size_t n, size_t room);
void *__memset_chk(void *to, int c, size_t n, size_t room);

static void copies(const void *from, const void *to, int n)
{
    expect("read %p %d", from, n);
    expect("write %p %d", to, n);
}

static void bytes(void)
{
    static char a[64] = "a text", b[64] = "a tale";

    copies(b, a + 32, 7), CHECK(memcpy(a + 32, b, 7) == a + 32 && !strncmp(a + 32, b, 7));
    copies(a, a + 1, 9), CHECK(memmove(a + 1, a, 9) == a + 1 && a[2] == ' ');
    copies(a + 1, a, 9), memmove(a, a + 1, 9);
    copies(b, a + 32, 3), CHECK(mempcpy(a + 32, b, 3) == a + 35);
    copies(b, a + 32, 4), __memcpy_chk(a + 32, b, 4, 32);
    copies(b, a + 32, 5), __memmove_chk(a + 32, b, 5, 32);
    expect("write %p 6", (void *)(a + 32)), CHECK(memset(a + 32, 0, 6) == a + 32);
    expect("write %p 8", (void *)(a + 32)), __memset_chk(a + 32, 0, 8, 32);
    expect("read %p 3", (void *)a), expect("read %p 3", (void *)b), CHECK(memcmp(a, b, 3) == 0);
    expect("read %p 7", (void *)a), CHECK(strlen(a) == 6);
    expect("read %p 1", (void *)(a + 6)), CHECK(strlen(a + 6) == 0);
    expect("read %p 4", (void *)a), expect("read %p 4", (void *)b), CHECK(strcmp(a, b) > 0);
    copies(b, a, 7), CHECK(strcpy(a, b) == a);
    expect("read %p 7", (void *)a), expect("read %p 7", (void *)b), CHECK(strcmp(a, b) == 0);
    expect("read %p 1", (void *)a), expect("read %p 1", (void *)(b + 1)),
        CHECK(strcmp(a, b + 1) > 0);
    expect("read %p 1", (void *)(a + 6)), expect("read %p 1", (void *)(b + 6));
    CHECK(strcmp(a + 6, b + 6) == 0);
    memcpy(a, b, 0);
}

static void *given(void *p, size_t n)
{
    CHECK(p && malloc_usable_size(p) >= n);
    expect("alloc %p %zu", p, malloc_usable_size(p));
    return p;
}

static void freed(void *p)
{
    expect("clear %p %zu", p, malloc_usable_size(p));
    free(p);
}

/* Resizes to n: it stays where it is, or moves, and its bytes go along. */
static char *resized(char *p, size_t n, int moves)
{
    const size_t has = malloc_usable_size(p);
    char *to;

    for (size_t i = 0; i < has; i++)
        p[i] = (char)i;
    to = n % 2 ? realloc(p, n) : reallocarray(p, n / 2, 2);
    CHECK((to != p) == moves);
    if (moves) {
        given(to, n);
        const size_t room = malloc_usable_size(to);
        expect("copy %p %p %zu", (void *)to, (void *)p, has < room ? has : room);
        expect("clear %p %zu", (void *)p, has);
    }
    for (size_t i = 0; i < has && i < n; i++)
        CHECK(to[i] == (char)i);
    return to;
}

static void heap(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *p;
    char *c;

    freed(given(malloc(10), 10));
    c = given(calloc(100, 3), 300);
    CHECK(c[0] == 0 && c[299] == 0);
    freed(c);
    freed(p = given(memalign(256, 10), 10));
    CHECK((uintptr_t)p % 256 == 0);
    freed(p = given(aligned_alloc(512, 10), 10));
    CHECK((uintptr_t)p % 512 == 0);
    freed(p = given(valloc(10), 10));
    CHECK((uintptr_t)p % page == 0);
    CHECK(posix_memalign(&p, 1024, 10) == 0 && (uintptr_t)p % 1024 == 0);
    freed(given(p, 10));
    CHECK(posix_memalign(&p, 8, 10) == 0);
    freed(given(p, 10));
    CHECK(posix_memalign(&p, 0, 10) == EINVAL && posix_memalign(&p, 4, 10) == EINVAL);
    CHECK(posix_memalign(&p, 24, 10) == EINVAL);
    CHECK(posix_memalign(&p, 64, SIZE_MAX / 2) == ENOMEM && !malloc(SIZE_MAX / 2));
    free(NULL);
    /* Where half of a block, and 64 bytes, would be left over, it moves. */
    c = given(realloc(NULL, 1000), 1000);
    c = resized(c, 1000, 0);
    c = resized(c, 501, 0);
    c = resized(c, 500, 1);
    c = resized(c, 2000, 1);
    c = resized(c, 999, 1);
    c = resized(c, 104, 1);
    c = resized(c, 41, 0);
    c = resized(c, 40, 1);
    CHECK(!realloc(c, SIZE_MAX / 2) && errno == ENOMEM);
    errno = 0;
    CHECK(!reallocarray(c, SIZE_MAX / 2, 4) && errno == ENOMEM);
    expect("clear %p %zu", (void *)c, malloc_usable_size(c));
    CHECK(!realloc(c, 0));
    p = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* Nobody has said when they began: that comes just before they end. */
    expect("alloc %p %zu", p, 2 * page), expect("clear %p %zu", p, 2 * page);
    CHECK(munmap(p, page + 1) == 0);
    p = (char *)p + 2 * page;
    expect("alloc %p %zu", p, page), expect("clear %p %zu", p, page);
    CHECK(munmap(p, page) == 0);
}

/* ---- locks ---------------------------------------------------------------------------------- */

#define TAKE(call, event, at) (expect(event " %p", (void *)(at)), CHECK((call) == 0))
#define FAIL(call, how)       CHECK((call) == (how))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, robust;

static void *dies(void *arg)
{
    pthread_mutex_lock(&robust);
    return arg;
}

static void mutexes(void)
{
    pthread_spinlock_t spin;

    TAKE(pthread_mutex_lock(&mutex), "acq", &mutex);
    FAIL(pthread_mutex_trylock(&mutex), EBUSY);
    FAIL(pthread_mutex_timedlock(&mutex, &past), ETIMEDOUT);
    FAIL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past), ETIMEDOUT);
    TAKE(pthread_mutex_unlock(&mutex), "rel", &mutex);
    TAKE(pthread_mutex_trylock(&mutex), "acq", &mutex);
    TAKE(pthread_mutex_unlock(&mutex), "rel", &mutex);
    TAKE(pthread_mutex_timedlock(&mutex, &later), "acq", &mutex);
    TAKE(pthread_mutex_unlock(&mutex), "rel", &mutex);
    TAKE(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &later), "acq", &mutex);
    TAKE(pthread_mutex_unlock(&mutex), "rel", &mutex);
    pthread_spin_init(&spin, 0);
    TAKE(pthread_spin_lock(&spin), "acq", &spin);
    FAIL(pthread_spin_trylock(&spin), EBUSY);
    TAKE(pthread_spin_unlock(&spin), "rel", &spin);
    TAKE(pthread_spin_trylock(&spin), "acq", &spin);
    TAKE(pthread_spin_unlock(&spin), "rel", &spin);
}

/* Its owner has died: whoever gets it has it. */
static void of_the_dead(void)
{
    pthread_mutexattr_t a;
    pthread_t t;

    pthread_mutexattr_init(&a);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &a);
    expect("fork T1"), CHECK(pthread_create(&t, NULL, dies, NULL) == 0);
    expect("join T1"), pthread_join(t, NULL);
    expect("acq %p", (void *)&robust), CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD);
    CHECK(pthread_mutex_consistent(&robust) == 0);
    TAKE(pthread_mutex_unlock(&robust), "rel", &robust);
}

static void rwlocks(void)
{
    enum { ALL = 32 };
    static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER, all[ALL];

    TAKE(pthread_rwlock_rdlock(&l), "acq-shared", &l);
    FAIL(pthread_rwlock_trywrlock(&l), EBUSY);
    FAIL(pthread_rwlock_timedwrlock(&l, &past), ETIMEDOUT);
    FAIL(pthread_rwlock_clockwrlock(&l, CLOCK_MONOTONIC, &past), ETIMEDOUT);
    TAKE(pthread_rwlock_tryrdlock(&l), "acq-shared", &l);
    TAKE(pthread_rwlock_timedrdlock(&l, &later), "acq-shared", &l);
    TAKE(pthread_rwlock_clockrdlock(&l, CLOCK_MONOTONIC, &later), "acq-shared", &l);
    for (int i = 0; i < 4; i++)
        TAKE(pthread_rwlock_unlock(&l), "rel-shared", &l);
    TAKE(pthread_rwlock_wrlock(&l), "acq", &l);
    FAIL(pthread_rwlock_tryrdlock(&l), EBUSY);
    FAIL(pthread_rwlock_timedrdlock(&l, &past), EDEADLK);
    TAKE(pthread_rwlock_unlock(&l), "rel", &l);
    TAKE(pthread_rwlock_trywrlock(&l), "acq", &l);
    TAKE(pthread_rwlock_unlock(&l), "rel", &l);
    TAKE(pthread_rwlock_timedwrlock(&l, &later), "acq", &l);
    TAKE(pthread_rwlock_unlock(&l), "rel", &l);
    TAKE(pthread_rwlock_clockwrlock(&l, CLOCK_MONOTONIC, &later), "acq", &l);
    TAKE(pthread_rwlock_unlock(&l), "rel", &l);
    /* Many at once, which are given back in another order. */
    for (int i = 0; i < ALL; i++) {
        pthread_rwlock_init(&all[i], NULL);
        TAKE(pthread_rwlock_rdlock(&all[i]), "acq-shared", &all[i]);
    }
    for (int i = 0; i < ALL; i++)
        TAKE(pthread_rwlock_unlock(&all[i * 7 % ALL]), "rel-shared", &all[i * 7 % ALL]);
    TAKE(pthread_rwlock_wrlock(&all[0]), "acq", &all[0]);
    TAKE(pthread_rwlock_unlock(&all[0]), "rel", &all[0]);
}

/* ---- conditions, barriers, semaphores, once ------------------------------------------------- */

static void waits(void)
{
    static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    static sem_t s;

    TAKE(pthread_mutex_lock(&mutex), "acq", &mutex);
    expect("wait-enter %p", (void *)&mutex), expect("wait-exit %p", (void *)&mutex);
    FAIL(pthread_cond_timedwait(&c, &mutex, &past), ETIMEDOUT);
    expect("wait-enter %p", (void *)&mutex), expect("wait-exit %p", (void *)&mutex);
    FAIL(pthread_cond_clockwait(&c, &mutex, CLOCK_MONOTONIC, &past), ETIMEDOUT);
    pthread_cond_signal(&c), pthread_cond_broadcast(&c);
    TAKE(pthread_mutex_unlock(&mutex), "rel", &mutex);
    sem_init(&s, 0, 0);
    FAIL(sem_trywait(&s), -1);
    FAIL(sem_timedwait(&s, &past), -1);
    FAIL(sem_clockwait(&s, CLOCK_MONOTONIC, &past), -1);
    for (int i = 0; i < 4; i++)
        TAKE(sem_post(&s), "vwrite", &s);
    TAKE(sem_wait(&s), "vread", &s);
    TAKE(sem_trywait(&s), "vread", &s);
    TAKE(sem_timedwait(&s, &later), "vread", &s);
    TAKE(sem_clockwait(&s, CLOCK_MONOTONIC, &later), "vread", &s);
}

static pthread_barrier_t barrier[3];

static void meets(pthread_barrier_t *b, int round)
{
    expect("arrive %p %d", (void *)b, round);
    expect("depart %p %d", (void *)b, round);
    CHECK(pthread_barrier_wait(b) == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void *meet_twice(void *arg)
{
    pthread_barrier_wait(&barrier[1]);
    pthread_barrier_wait(&barrier[1]);
    return arg;
}

/* A barrier that begins anew has new rounds, however many threads come to it now. */
static void barriers(void)
{
    static pthread_barrier_t foreign;
    int (*makes)(pthread_barrier_t *, const pthread_barrierattr_t *, unsigned);
    pthread_t t[3];

    for (int i = 0; i < 3; i++)
        pthread_barrier_init(&barrier[i], NULL, 1);
    meets(&barrier[2], 0), meets(&barrier[0], 0), meets(&barrier[2], 1), meets(&barrier[1], 0);
    meets(&barrier[1], 1), meets(&barrier[1], 2), meets(&barrier[1], 3), meets(&barrier[1], 4);
    for (int life = 0; life < 2; life++) {
        const int n = 3 - 2 * life;
        pthread_barrier_destroy(&barrier[1]);
        pthread_barrier_init(&barrier[1], NULL, (unsigned)n + 1);
        for (int i = 0; i < n; i++) {
            expect("fork T%d", 1 + 3 * life + i);
            CHECK(pthread_create(&t[i], NULL, meet_twice, NULL) == 0);
        }
        for (int i = 0; i < 2; i++) {
            expect("arrive %p %d", (void *)&barrier[1], 5 + 2 * life + i);
            expect("depart %p %d", (void *)&barrier[1], 5 + 2 * life + i);
        }
        meet_twice(NULL);
        for (int i = 0; i < n; i++) {
            expect("join T%d", 1 + 3 * life + i);
            CHECK(pthread_join(t[i], NULL) == 0);
        }
    }
    FAIL(pthread_barrier_init(&barrier[0], NULL, 0), EINVAL);
    meets(&barrier[0], 1), meets(&barrier[2], 2);
    /* One that another program has made. */
    *(void **)&makes = dlsym(RTLD_NEXT, "pthread_barrier_init");
    CHECK(makes(&foreign, NULL, 1) == 0);
    meets(&foreign, 0);
}

/* The runtime has room for 1,024; those that come when one place is left share it, and its rounds.
 */
static void many_barriers(void)
{
    enum { OWN = 1023, ALL = 1027 };
    static pthread_barrier_t many[ALL];
    int shared = 0;

    for (int i = 0; i < ALL; i++)
        pthread_barrier_init(&many[i], NULL, 1);
    for (int i = 0; i < 2 * ALL; i++)
        meets(&many[i % ALL], i % ALL < OWN ? i / ALL : shared++);
}

static pthread_once_t outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static int made;

static void make_inner(void)
{
    made++;
    expect("class-init %p", (void *)&inner), expect("class-use %p", (void *)&inner);
}

static void make_outer(void)
{
    made++;
    pthread_once(&inner, make_inner);
    expect("class-init %p", (void *)&outer), expect("class-use %p", (void *)&outer);
}

static void make_flag(void)
{
    made++;
    expect("class-init %p", (void *)&flag), expect("class-use %p", (void *)&flag);
}

static void onces(void)
{
    CHECK(pthread_once(&outer, make_outer) == 0 && made == 2);
    expect("class-use %p", (void *)&outer), pthread_once(&outer, make_outer);
    expect("class-use %p", (void *)&inner), pthread_once(&inner, make_outer);
    call_once(&flag, make_flag);
    expect("class-use %p", (void *)&flag), call_once(&flag, make_flag);
    CHECK(made == 3);
}

/* ---- threads -------------------------------------------------------------------------------- */

static sem_t go;

static void *goes(void *arg)
{
    sem_wait(&go);
    return arg;
}

static int gives(void *arg)
{
    return *(int *)arg;
}

static void joins(int how)
{
    const int number = how + 1;
    pthread_t t;
    void *got = NULL;

    expect("fork T%d", number);
    CHECK(pthread_create(&t, NULL, goes, &go) == 0);
    CHECK(pthread_setname_np(t, how == 0 ? "a name of 15 by" : "short") == 0);
    CHECK(pthread_setname_np(t, "sixteen bytes long, and more") == ERANGE);
    FAIL(pthread_tryjoin_np(t, NULL), EBUSY);
    FAIL(pthread_timedjoin_np(t, NULL, &past), ETIMEDOUT);
    FAIL(pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, &past), ETIMEDOUT);
    TAKE(sem_post(&go), "vwrite", &go);
    expect("join T%d", number);
    if (how == 0)
        CHECK(pthread_join(t, &got) == 0);
    else if (how == 1)
        while (pthread_tryjoin_np(t, &got) == EBUSY)
            usleep(1000);
    else if (how == 2)
        CHECK(pthread_timedjoin_np(t, &got, &later) == 0);
    else
        CHECK(pthread_clockjoin_np(t, &got, CLOCK_MONOTONIC, &later) == 0);
    CHECK(got == &go);
}

/* Returns what the thread's attributes ask for, or what its creator had. */
static void *mask(void *arg)
{
    sigset_t *now = arg;

    pthread_sigmask(SIG_SETMASK, NULL, now);
    return arg;
}

static pthread_attr_t with_mask;

static void ask_for_mask(void)
{
    sigset_t asked;

    sigemptyset(&asked);
    sigaddset(&asked, SIGUSR1);
    pthread_attr_init(&with_mask);
    pthread_attr_setsigmask_np(&with_mask, &asked);
}

static void masks(void)
{
    static sigset_t now;
    pthread_t t;

    for (int i = 0; i < 2; i++) {
        expect("fork T%d", i + 5),
            CHECK(pthread_create(&t, i ? NULL : &with_mask, mask, &now) == 0);
        expect("join T%d", i + 5), CHECK(pthread_join(t, NULL) == 0);
        CHECK(sigismember(&now, SIGUSR1) == !i && !sigismember(&now, SIGUSR2));
    }
    mask(&now); /* the creator's is as it was */
    CHECK(!sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2));
}

static void threads(void)
{
    pthread_setname_np(pthread_self(), "the one");
    for (int how = 0; how < 4; how++)
        joins(how);
    masks();
}

/* Threads of C11, and what their calls say. */
static void c11(void)
{
    mtx_t m;
    cnd_t c;
    thrd_t t;
    int gave = 42, got = 0;

    mtx_init(&m, mtx_timed);
    cnd_init(&c);
    expect("fork T1"), CHECK(thrd_create(&t, gives, &gave) == thrd_success);
    expect("join T1"), CHECK(thrd_join(t, &got) == thrd_success && got == 42);
    expect("fork T2"), CHECK(thrd_create(&t, gives, &gave) == thrd_success);
    expect("join T2"), CHECK(thrd_join(t, NULL) == thrd_success);
    CHECK(thrd_join(thrd_current(), NULL) == thrd_error);
    TAKE(mtx_lock(&m) - thrd_success, "acq", &m);
    CHECK(mtx_trylock(&m) == thrd_busy && mtx_timedlock(&m, &past) == thrd_timedout);
    expect("wait-enter %p", (void *)&m), expect("wait-exit %p", (void *)&m);
    CHECK(cnd_timedwait(&c, &m, &past) == thrd_timedout);
    TAKE(mtx_unlock(&m) - thrd_success, "rel", &m);
    TAKE(mtx_trylock(&m) - thrd_success, "acq", &m);
    TAKE(mtx_unlock(&m) - thrd_success, "rel", &m);
    TAKE(mtx_timedlock(&m, &later) - thrd_success, "acq", &m);
    TAKE(mtx_unlock(&m) - thrd_success, "rel", &m);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*make)(void);
    } groups[] = {{"plain", plain},
                  {"atomics", atomics},
                  {"fences", fences},
                  {"bytes", bytes},
                  {"heap", heap},
                  {"mutexes", mutexes},
                  {"rwlocks", rwlocks},
                  {"waits", waits},
                  {"barriers", barriers},
                  {"onces", onces},
                  {"threads", threads},
                  {"c11", c11},
                  {"of-the-dead", of_the_dead},
                  {"many-barriers", many_barriers}};
    size_t i = 0;

    if (argc < 2) {
        for (; i < sizeof groups / sizeof *groups; i++)
            puts(groups[i].name);
        return 0;
    }
    while (strcmp(groups[i].name, argv[1]) != 0)
        i++;
    sem_init(&go, 0, 0);
    ask_for_mask(); /* which allocates */
    pthread_spin_init(&begins_and_ends, 0);
    TAKE(pthread_spin_lock(&begins_and_ends), "acq", &begins_and_ends);
    groups[i].make();
    TAKE(pthread_spin_unlock(&begins_and_ends), "rel", &begins_and_ends);
    return bad || write(STDOUT_FILENO, said, used) != (ssize_t)used;
}
