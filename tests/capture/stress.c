/* stress.c - `stress THREADS STEPS SEED [race]`: threads come and go, meet, lock, allocate and are
 * interrupted; what each does is drawn from the seed (stress.h). It has no race, but for the one
 * that is asked for, and prints the same each time. */
#define _GNU_SOURCE
#include "stress.h"
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* Where threads are interrupted by others and by a timer: 0 nowhere, 1 but where they are
 * sheltered, 2 anywhere. */
#ifndef INTERRUPT
#define INTERRUPT 2
#endif

struct group {
    pthread_barrier_t barrier;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned turn; /* under the mutex: the last step in which the condition was signalled */
    atomic_uint flag;
    sem_t heard[GROUP], done;
    int pipe[2];
    char *given[GROUP];
    pthread_t thread[GROUP];
    pthread_once_t once[MAX_STEPS];
};
struct worker {
    struct group *group;
    unsigned number;
    uint64_t k;          /* the next access to its own cells */
    atomic_uint handled; /* signals */
};

static unsigned threads, steps;
static uint64_t seed;
static int race;
static struct worker workers[MAX_THREADS + 1];
static _Thread_local struct worker *self;
static _Thread_local unsigned now; /* the step */
static _Thread_local char local[64];
static unsigned tickets[LOCKS];
static pthread_cond_t conditions[MUTEXES];
static cnd_t cnds[MTXS];
static pthread_key_t key;

static void must(int wrong, const char *what)
{
    if (!wrong)
        return;
    fprintf(stderr, "stress: %s: %s\n", what, strerror(errno));
    abort();
}

/* ---- accesses: each function has one, so that no compiler takes two for one
 * ------------------------- */

#define ACCESSES(bits)                                                                             \
    __attribute__((noinline)) static uint64_t get##bits(uint64_t at)                               \
    {                                                                                              \
        return *(volatile uint##bits##_t *)at;                                                     \
    }                                                                                              \
    __attribute__((noinline)) static void put##bits(uint64_t at, uint64_t v)                       \
    {                                                                                              \
        *(volatile uint##bits##_t *)at = (uint##bits##_t)v;                                        \
    }                                                                                              \
    static uint64_t load##bits(uint64_t at, unsigned order)                                        \
    {                                                                                              \
        _Atomic uint##bits##_t *p = (void *)at;                                                    \
        return order == 0   ? atomic_load_explicit(p, memory_order_relaxed)                        \
               : order == 1 ? atomic_load_explicit(p, memory_order_acquire)                        \
                            : atomic_load_explicit(p, memory_order_seq_cst);                       \
    }                                                                                              \
    static void store##bits(uint64_t at, uint64_t value, unsigned order)                           \
    {                                                                                              \
        _Atomic uint##bits##_t *p = (void *)at;                                                    \
        const uint##bits##_t v = (uint##bits##_t)value;                                            \
        if (order == 0)                                                                            \
            atomic_store_explicit(p, v, memory_order_relaxed);                                     \
        else if (order == 2)                                                                       \
            atomic_store_explicit(p, v, memory_order_release);                                     \
        else                                                                                       \
            atomic_store_explicit(p, v, memory_order_seq_cst);                                     \
    }                                                                                              \
    static void update##bits(uint64_t at, uint64_t value, unsigned order)                          \
    {                                                                                              \
        _Atomic uint##bits##_t *p = (void *)at;                                                    \
        const uint##bits##_t v = (uint##bits##_t)value;                                            \
        /* a result that nobody wants would let a compiler make it a store */                      \
        volatile uint64_t was =                                                                    \
            order == 0   ? atomic_fetch_add_explicit(p, v, memory_order_relaxed)                   \
            : order == 1 ? atomic_fetch_xor_explicit(p, v, memory_order_acquire)                   \
            : order == 2 ? atomic_exchange_explicit(p, v, memory_order_release)                    \
            : order == 3 ? atomic_fetch_sub_explicit(p, v, memory_order_acq_rel)                   \
            : v & 1      ? atomic_fetch_or(p, v)                                                   \
                         : atomic_fetch_and(p, v);                                                      \
        (void)was;                                                                                 \
    }
ACCESSES(8)
ACCESSES(16)
ACCESSES(32)
ACCESSES(64)

#define OF_SIZE(c, f, ...)                                                                         \
    ((c).size == 1   ? f##8(__VA_ARGS__)                                                           \
     : (c).size == 2 ? f##16(__VA_ARGS__)                                                          \
     : (c).size == 4 ? f##32(__VA_ARGS__)                                                          \
                     : f##64(__VA_ARGS__))

/* The next n accesses of a thread to its own cells, with no others between. */
static void cells(struct worker *w, unsigned n)
{
    const uint64_t of = seed, first = w->k;
    const unsigned number = w->number;

    w->k += n;
    for (unsigned i = 0; i < n; i++) {
        const struct cell c = cell(of, number, first + i);
        switch (c.access) {
        case ACCESS_READ:
            OF_SIZE(c, get, c.addr);
            break;
        case ACCESS_WRITE:
            OF_SIZE(c, put, c.addr, c.drawn);
            break;
        case ACCESS_LOAD:
            OF_SIZE(c, load, c.addr, c.order);
            break;
        case ACCESS_STORE:
            OF_SIZE(c, store, c.addr, c.drawn, c.order);
            break;
        case ACCESS_RMW:
            OF_SIZE(c, update, c.addr, c.drawn, c.order);
            break;
        }
    }
}

/* In a handler: four bytes of this interruption's own. A thread that has not begun has none. */
static void interrupted(int number)
{
    const int was = errno;

    (void)number;
    if (self) {
        const uint64_t n = atomic_fetch_add_explicit(&self->handled, 1, memory_order_relaxed);
        for (uint64_t i = 0; i < 4; i++)
            put8(HANDLED(self->number) + n * 4 + i, n);
    }
    errno = was;
}

/* A signal that a thread sends itself: its handler is the thread's next work. */
static void raised(int number)
{
    (void)number;
    cells(self, 5);
}

static void mask(int how)
{
    sigset_t all;

    sigfillset(&all);
    sigdelset(&all, SIGUSR2);
    pthread_sigmask(how, &all, NULL);
}

/* Where a handler would be an event in a place that has none: while its thread waits at a barrier
 * or on a condition, or before its thread's start. */
static void sheltered(int how)
{
    if (INTERRUPT == 1)
        mask(how);
}

static void meet(struct group *g)
{
    sheltered(SIG_BLOCK);
    pthread_barrier_wait(&g->barrier);
    sheltered(SIG_UNBLOCK);
}

/* ---- locks
 * ----------------------------------------------------------------------------------------- */

static struct timespec in_ms(unsigned ms)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += (long)ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* lock by waiting, by trying, with a limit. */
static void lock(unsigned n, unsigned how)
{
    void *p = (void *)LOCK(n);
    const struct timespec late = in_ms(1000000);

    if (n < MUTEXES) {
        if (how == 0)
            while (pthread_mutex_trylock(p))
                sched_yield();
        else if (how == 1)
            must(pthread_mutex_timedlock(p, &late), "timedlock");
        else
            must(pthread_mutex_lock(p), "lock");
        if (n / 2 == 2) /* recursive */
            must(pthread_mutex_lock(p), "lock again");
    } else if (n < MTXS) {
        if (how == 0)
            while (mtx_trylock(p) != thrd_success)
                sched_yield();
        else if (how == 1)
            must(mtx_timedlock(p, &late) != thrd_success, "mtx_timedlock");
        else
            must(mtx_lock(p) != thrd_success, "mtx_lock");
    } else if (n < SPINS) {
        if (how == 0)
            while (pthread_spin_trylock(p))
                sched_yield();
        else
            must(pthread_spin_lock(p), "spin");
    } else if (how == 0) {
        while (pthread_rwlock_trywrlock(p))
            sched_yield();
    } else if (how == 1) {
        must(pthread_rwlock_timedwrlock(p, &late), "timedwrlock");
    } else {
        must(pthread_rwlock_wrlock(p), "wrlock");
    }
}

static void unlock(unsigned n)
{
    void *p = (void *)LOCK(n);

    if (n < MUTEXES && n / 2 == 2)
        pthread_mutex_unlock(p);
    must(n < MUTEXES ? pthread_mutex_unlock(p)
         : n < MTXS  ? mtx_unlock(p)
         : n < SPINS ? pthread_spin_unlock(p)
                     : pthread_rwlock_unlock(p),
         "unlock");
}

static void ticket(unsigned n)
{
    const unsigned t = tickets[n]++;

    put8(TICKET(n) + t, 1);
}

static void in_lock(uint64_t choice)
{
    const unsigned n = lock_of(choice);

    lock(n, choice >> 16 & 3);
    ticket(n);
    if (waits_between(choice)) {
        const struct timespec soon = in_ms(choice >> 20 & 1);
        sheltered(SIG_BLOCK);
        if (n < MUTEXES) {
            pthread_cond_broadcast(&conditions[n]);
            pthread_cond_timedwait(&conditions[n], (void *)LOCK(n), &soon);
        } else {
            cnd_signal(&cnds[n]);
            cnd_timedwait(&cnds[n], (void *)LOCK(n), &soon);
        }
        sheltered(SIG_UNBLOCK);
        ticket(n);
    }
    unlock(n);
}

static void as_reader(uint64_t choice)
{
    const unsigned n = rwlock_of(choice);
    void *p = (void *)LOCK(n);
    const struct timespec late = in_ms(1000000);

    if ((choice >> 16 & 3) == 0)
        while (pthread_rwlock_tryrdlock(p))
            sched_yield();
    else if ((choice >> 16 & 3) == 1)
        must(pthread_rwlock_timedrdlock(p, &late), "timedrdlock");
    else
        must(pthread_rwlock_rdlock(p), "rdlock");
    get8(TICKET(n) + tickets[n]); /* the next writer's */
    must(pthread_rwlock_unlock(p), "unlock");
}

/* A ticket of an atomic; its number is the one that the thread draws. */
static void count(uint64_t choice)
{
    const unsigned n = choice % COUNTERS;
    atomic_uint *p = (void *)COUNTER(n);
    unsigned t;

    switch (n) {
    case 0:
        t = atomic_fetch_add(p, 1);
        break;
    case 1:
        t = atomic_fetch_add_explicit(p, 1, memory_order_relaxed);
        break;
    case 2:
        t = atomic_fetch_add_explicit(p, 1, memory_order_acquire);
        break;
    case 3:
        t = atomic_fetch_add_explicit(p, 1, memory_order_release);
        break;
    case 4:
        t = atomic_fetch_sub_explicit(p, UINT32_MAX, memory_order_acq_rel);
        break;
    case 5:
        t = atomic_load_explicit(p, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(p, &t, t + 1, memory_order_acq_rel,
                                                      memory_order_relaxed))
            ;
        break;
    default:
        t = atomic_load(p);
        while (!atomic_compare_exchange_strong(p, &t, t + 1))
            ;
    }
    put8(DRAWN(n) + t, 1);
}

/* ---- memory
 * ---------------------------------------------------------------------------------------- */

__attribute__((noinline)) static void block_put(char *p, int v)
{
    *(volatile char *)p = (char)v;
}
__attribute__((noinline)) static char block_get(const char *p)
{
    return *(const volatile char *)p;
}

/* Is the first byte as block() left it? In a block of one byte it is the last one. */
static int first_of(const char *p)
{
    const char c = block_get(p);

    return c == 1 || c == 2;
}

/* A block of n bytes, touched at both ends. */
static char *block(uint64_t h, size_t n)
{
    void *p = NULL;

    switch (h % 5) {
    case 0:
        p = calloc(1, n);
        break;
    case 1:
        p = aligned_alloc(64, (n + 63) / 64 * 64);
        break;
    case 2:
        must(posix_memalign(&p, 16 << (h >> 4 & 7), n), "posix_memalign");
        break;
    default:
        p = malloc(n);
    }
    must(!p, "no memory");
    block_put(p, 1);
    block_put((char *)p + n - 1, 2);
    return p;
}

/* Blocks of all sizes; each takes 2 accesses, and up to 3 where its size changes. The last one is
 * for the next in the group. */
static void storm(struct worker *w, uint64_t choice)
{
    struct group *g = w->group;
    const unsigned role = w->number % GROUP, n = blocks_of(choice);
    char *kept[8] = {0};

    for (unsigned i = 0; i < n; i++) {
        const uint64_t h = draw(choice, 6, i, 0);
        size_t bytes = 1 + (h >> 8) % (UINT64_C(1) << (1 + (h >> 32) % 20));
        char *p = block(h, bytes);
        if (h >> 7 & 1) {
            bytes = 1 + (h >> 40) % (2 * bytes);
            p = realloc(p, bytes);
            must(!p || !first_of(p), "realloc");
            block_put(p + bytes - 1, 3);
        }
        free(kept[i % 8]);
        kept[i % 8] = p;
    }
    for (unsigned i = 0; i < 8; i++)
        free(kept[i]);
    char *map = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(map == MAP_FAILED, "mmap");
    put8((uint64_t)map + choice % 65536, 1);
    munmap(map, 65536);

    g->given[role] = block(choice, 1 + choice % 5000);
    meet(g);
    char *p = g->given[(role + 1) % GROUP];
    must(!first_of(p), "a block that was given");
    free(p);
    meet(g); /* before the next ones are given */
}

/* ---- steps
 * ----------------------------------------------------------------------------------------- */

static void doze(unsigned ms)
{
    struct timespec t = {.tv_nsec = (long)ms * 1000000};

    while (nanosleep(&t, &t) && errno == EINTR)
        ;
}

static void once(void)
{
    put8(MESSAGE(self->number / GROUP, now, 0), 1);
}

static void wait_for(sem_t *s)
{
    while (sem_wait(s) && errno == EINTR)
        ;
}

static void hand_over(struct worker *w, unsigned s, uint64_t message)
{
    struct group *g = w->group;
    const int fences = with_fences(seed, w->number / GROUP, s);

    if (w->number % GROUP == 0) {
        put8(message, 1);
        if (fences) {
            atomic_thread_fence(memory_order_release);
            atomic_store_explicit(&g->flag, s + 1, memory_order_relaxed);
        } else {
            atomic_store_explicit(&g->flag, s + 1, memory_order_release);
        }
        return;
    }
    if (fences) {
        while (atomic_load_explicit(&g->flag, memory_order_relaxed) < s + 1)
            sched_yield();
        atomic_thread_fence(memory_order_acquire);
    } else {
        while (atomic_load_explicit(&g->flag, memory_order_acquire) < s + 1)
            sched_yield();
    }
    get8(message);
}

static void signal_condition(struct worker *w, unsigned s, uint64_t message)
{
    struct group *g = w->group;

    if (w->number % GROUP == 0)
        put8(message, 1);
    pthread_mutex_lock(&g->mutex);
    if (w->number % GROUP == 0) {
        g->turn = s + 1;
        pthread_cond_broadcast(&g->changed);
    }
    sheltered(SIG_BLOCK);
    while (g->turn < s + 1)
        pthread_cond_wait(&g->changed, &g->mutex);
    sheltered(SIG_UNBLOCK);
    pthread_mutex_unlock(&g->mutex);
    if (w->number % GROUP != 0)
        get8(message);
}

static void step(struct worker *w, unsigned s)
{
    struct group *g = w->group;
    const unsigned number = w->number, group = number / GROUP, role = number % GROUP;
    const enum step kind = step_of(seed, group, s, race);
    const uint64_t chosen = choice(seed, number, s), message = MESSAGE(group, s, 0);
    char byte = 0;

    local[s % sizeof local]++;
    cells(w, cells_of(seed, number, s, kind));
    switch (kind) {
    case ALONE:
        break;
    case RANGE:
        memset((void *)range_from(number, chosen), (int)chosen, range_bytes(chosen));
        memcpy((void *)range_to(number, chosen), (void *)range_from(number, chosen),
               range_bytes(chosen));
        break;
    case LOCKED:
    case READER:
    case COUNTED:
        for (unsigned i = 0; i < rounds_of(chosen); i++)
            (kind == LOCKED   ? in_lock
             : kind == READER ? as_reader
                              : count)(choice(chosen, number, i));
        break;
    case HANDED:
        hand_over(w, s, message);
        break;
    case CONDITION:
        signal_condition(w, s, message);
        break;
    case SEMAPHORE:
        if (role == 0) {
            put8(message, 1);
            for (unsigned r = 1; r < GROUP; r++)
                sem_post(&g->heard[r]);
        } else {
            if (chosen & 1)
                wait_for(&g->heard[role]);
            else
                while (sem_trywait(&g->heard[role]))
                    sched_yield();
            get8(message);
        }
        break;
    case ONCE:
        now = s;
        pthread_once(&g->once[s], once);
        get8(message);
        break;
    case BARRIER:
        put8(message + role, 1);
        meet(g);
        for (unsigned r = 0; r < GROUP; r++)
            get8(message + r);
        break;
    case PIPE:
        if (role == 0)
            must(read(g->pipe[0], &byte, 1) != 1, "read");
        else if (role == 1) {
            doze(1 + chosen % 100);
            must(write(g->pipe[1], &byte, 1) != 1, "write");
        } else
            doze(chosen % 50);
        break;
    case HEAP:
        storm(w, chosen);
        break;
    case SIGNALS:
        for (unsigned i = 0; i < 1 + chosen % 8; i++)
            pthread_kill(g->thread[(role + 1 + i) % GROUP], SIGUSR1);
        break;
    case RAISED:
        raise(SIGUSR2);
        break;
    case CHILD:
        if (role == 0) {
            const pid_t child = fork();
            if (child == 0) {
                cells(w, 5);
                _exit(0);
            }
            must(child < 0, "fork");
            while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
                ;
        }
        break;
    case RACING:
        if (role < 2)
            put8(RACE, 1);
        break;
    }
}

/* ---- lives of threads
 * ------------------------------------------------------------------------------ */

/* A value of the thread's own: its destructor is the thread's last work. */
static void destroyed(void *worker)
{
    cells(worker, CELLS_AT_END);
}

static void cleaned(void *worker)
{
    cells(worker, CELLS_OF_CLEANUP);
}

static void work(struct worker *w)
{
    struct group *g = w->group;
    const unsigned group = w->number / GROUP, role = w->number % GROUP;

    cells(w, CELLS_AT_START);
    if (role != 0)
        get8(MESSAGE(group, steps, 0)); /* from before its birth */
    g->thread[role] = pthread_self();
    self = w;
    sheltered(SIG_UNBLOCK);
    meet(g);
    for (unsigned s = 0; s < steps; s++)
        step(w, s);
    meet(g);
    mask(SIG_BLOCK);
    put8(COUNT(w->number) + atomic_load(&w->handled), 1);
    if (role != 0)
        put8(MESSAGE(group, steps + 1, role), 1);
}

/* Those who are led return, exit, are cancelled, or nobody joins them. */
static void *led(void *arg)
{
    struct worker *w = arg;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    work(w);
    if (w->number % GROUP == 3) {
        sem_post(&w->group->done);
        return NULL;
    }
    pthread_setspecific(key, w);
    if (w->number % GROUP == 1)
        pthread_exit(w);
    pthread_cleanup_push(cleaned, w);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}

static void *lead(void *arg)
{
    struct worker *w = arg;
    const unsigned group = w->number / GROUP;
    struct group *g = calloc(1, sizeof *g);
    pthread_attr_t attr;

    pthread_barrier_init(&g->barrier, NULL, GROUP);
    pthread_mutex_init(&g->mutex, NULL);
    pthread_cond_init(&g->changed, NULL);
    sem_init(&g->done, 0, 0);
    must(pipe(g->pipe), "pipe");
    for (unsigned i = 0; i < MAX_STEPS; i++)
        g->once[i] = (pthread_once_t)PTHREAD_ONCE_INIT;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (64 + choice(seed, w->number, MAX_STEPS) % 200) * 4096);
    put8(MESSAGE(group, steps, 0), 1);
    sheltered(SIG_BLOCK);
    for (unsigned r = 0; r < GROUP; r++) {
        sem_init(&g->heard[r], 0, 0);
        w[r].group = g;
        pthread_t led_by;
        if (r != 0) {
            must(pthread_create(&led_by, &attr, led, w + r), "create");
            if (r == 3)
                pthread_detach(led_by);
        }
    }
    work(w);
    pthread_cancel(g->thread[2]);
    for (unsigned r = 1; r < 3; r++)
        pthread_join(g->thread[r], NULL);
    wait_for(&g->done);
    for (unsigned r = 1; r < GROUP; r++)
        get8(MESSAGE(group, steps + 1, r));
    close(g->pipe[0]);
    close(g->pipe[1]);
    pthread_setspecific(key, w);
    free(g);
    return NULL;
}

/* One that waits all the time holds up nobody. */
static int never[2];
static void *sleeper(void *arg)
{
    struct worker *w = arg;
    char byte;

    mask(SIG_BLOCK);
    cells(w, 1000);
    while (read(never[0], &byte, 1) < 0 && errno == EINTR)
        ;
    cells(w, 1000);
    return NULL;
}

static void prepare(void)
{
    pthread_mutexattr_t kind;

    must(mmap((void *)ARENA, ARENA_END - ARENA, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
              0) != (void *)ARENA,
         "the arena");
    for (unsigned n = 0; n < LOCKS; n++) {
        void *p = (void *)LOCK(n);
        if (n < MUTEXES) {
            pthread_mutexattr_init(&kind);
            pthread_mutexattr_settype(&kind, n / 2 == 2   ? PTHREAD_MUTEX_RECURSIVE
                                             : n / 2 == 3 ? PTHREAD_MUTEX_ERRORCHECK
                                                          : PTHREAD_MUTEX_NORMAL);
            pthread_mutex_init(p, &kind);
            pthread_cond_init(&conditions[n], NULL);
        } else if (n < MTXS) {
            mtx_init(p, mtx_timed);
            cnd_init(&cnds[n]);
        } else if (n < SPINS) {
            pthread_spin_init(p, 0);
        } else {
            pthread_rwlock_init(p, NULL);
        }
    }
    pthread_key_create(&key, destroyed);
    signal(SIGUSR1, interrupted);
    signal(SIGUSR2, raised);
    signal(SIGALRM, interrupted);
}

__attribute__((no_sanitize("thread"))) static uint64_t sum(void)
{
    uint64_t all = 0;

    for (uint64_t at = OWN(0); at < OWN(threads); at += 8)
        all = all * 31 + *(const volatile uint64_t *)at;
    for (unsigned n = 0; n < LOCKS; n++)
        all = all * 31 + tickets[n];
    for (unsigned n = 0; n < COUNTERS; n++)
        all = all * 31 + *(const volatile unsigned *)COUNTER(n);
    return all;
}

int main(int argc, char **argv)
{
    static pthread_t leaders[MAX_THREADS / GROUP];
    pthread_t asleep;

    must(argc < 4, "THREADS STEPS SEED [race]");
    threads = (unsigned)atoi(argv[1]) / GROUP * GROUP;
    steps = (unsigned)atoi(argv[2]);
    seed = strtoull(argv[3], NULL, 10);
    race = argc > 4;
    must(threads > MAX_THREADS || steps > MAX_STEPS - 2, "too many threads or steps");
    for (unsigned n = 0; n <= threads; n++)
        workers[n].number = n;
    prepare();
    must(pipe(never), "pipe");
    if (INTERRUPT == 0)
        mask(SIG_BLOCK);
    sheltered(SIG_BLOCK);
    pthread_create(&asleep, NULL, sleeper, &workers[threads]);
    sheltered(SIG_UNBLOCK);
    const struct itimerval often = {{0, 1000}, {0, 1000}}, off = {0};
    setitimer(ITIMER_REAL, &often, NULL);
    const unsigned groups = threads / GROUP, most = 1 + seed % 16; /* at once: up to 64 threads */
    for (unsigned g = 0; g < groups + most; g++) {
        if (g >= most)
            pthread_join(leaders[g - most], NULL);
        sheltered(SIG_BLOCK);
        if (g < groups)
            must(pthread_create(&leaders[g], NULL, lead, &workers[g * GROUP]), "create");
        sheltered(SIG_UNBLOCK);
    }
    setitimer(ITIMER_REAL, &off, NULL);
    close(never[1]);
    pthread_join(asleep, NULL);
    printf("%016llx\n", (unsigned long long)sum());
    return 0;
}
