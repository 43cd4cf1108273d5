/* sync.c - the calls by which threads of a program order each other: each is recorded where its
 * edge lies. What takes is recorded after it has taken, what gives before it gives. */
#include "capture/native/record.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

/* The function that the program would have called. Condition variables have an older version that
 * a plain dlsym may find. */
#define REAL(name, version) REAL_AS(name, name, version)
#define REAL_AS(like, name, version)                                                               \
    static __typeof__(like) *real;                                                                 \
    if (UNLIKELY_(!real)) {                                                                        \
        void *found = find(#name, version);                                                        \
        __builtin_memcpy(&real, &found, sizeof real);                                              \
    }

static void *find(const char *name, const char *version)
{
    const bool quiet = self.quiet;
    sigset_t was;

    signals_hold(&was); /* a handler that comes now must not be missed */
    self.quiet = true;
    void *p = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
    p = p ? p : dlsym(RTLD_NEXT, name);
    self.quiet = quiet;
    signals_release(&was);
    if (!p)
        abort(); /* libc without a function that the program was linked with */
    return p;
}

/* ---- signals -------------------------------------------------------------------------------- */

/* A handler's events are those of the thread that it interrupts. While the thread waits it does
 * nothing in a trace, so there they are those of a thread of their own. It comes after what the
 * thread did before the wait, and before what it does after it: each tells the other by a volatile.
 * Programs that have no handlers have no such events. */
static _Atomic bool handlers;

/* Sets the mask by the system call: libc's function would release the signals that it keeps to
 * itself, while its threads hold them. */
static void signals_mask(int how, const sigset_t *to, sigset_t *was)
{
    syscall(SYS_rt_sigprocmask, how, to, was, _NSIG / 8);
}

void signals_hold(sigset_t *was)
{
    sigset_t all;

    sigfillset(&all);
    signals_mask(SIG_BLOCK, &all, was);
}

void signals_release(const sigset_t *was)
{
    signals_mask(SIG_SETMASK, was, NULL);
}

/* The names that libc has for setting one; `signal` in strict C is another one. SIG_HOLD is what
 * sigset takes to block a signal. */
#define SETS_ACTION(name)                                                                          \
    int name(int number, const struct sigaction *to, struct sigaction *was)                        \
    {                                                                                              \
        REAL(name, NULL)                                                                           \
        if (to && to->sa_handler != SIG_DFL && to->sa_handler != SIG_IGN)                          \
            atomic_store(&handlers, true);                                                         \
        return real(number, to, was);                                                              \
    }
#define SETS_HANDLER(name)                                                                         \
    sighandler_t name(int number, sighandler_t to)                                                 \
    {                                                                                              \
        REAL_AS(bsd_signal, name, NULL) /* sigset is deprecated */                                 \
        if (to != SIG_DFL && to != SIG_IGN && to != SIG_HOLD)                                      \
            atomic_store(&handlers, true);                                                         \
        return real(number, to);                                                                   \
    }
int __sigaction(int number, const struct sigaction *to, struct sigaction *was);
sighandler_t bsd_signal(int number, sighandler_t to);
SETS_ACTION(sigaction)
SETS_ACTION(__sigaction)
SETS_HANDLER(signal)
SETS_HANDLER(bsd_signal)
SETS_HANDLER(ssignal)
SETS_HANDLER(sysv_signal)
SETS_HANDLER(__sysv_signal)
SETS_HANDLER(sigset)

/* Records that the thread waits from now on. */
static void wait_begins(struct ring_record enter)
{
    const bool held = atomic_load(&handlers);
    sigset_t was;

    if (held) {
        signals_hold(&was);
        record_sync(REC_VOLATILE_WRITE, ADDR(&self.waiter), 0);
    }
    record_event(enter);
    self.waits = self.known;
    self.known = false;
    if (held)
        signals_release(&was);
}

static void wait_ends(struct ring_record exit)
{
    const bool held = atomic_load(&handlers);
    sigset_t was;

    if (held)
        signals_hold(&was);
    const bool handled = self.waits && self.known; /* no handler begins any more */
    if (handled) {
        record_sync(REC_VOLATILE_WRITE, ADDR(&self.handler), 0);
        self.handler = self.to;
        self.to = self.waiter;
    }
    self.known |= self.waits;
    self.waits = false;
    record_event(exit);
    if (handled)
        record_sync(REC_VOLATILE_READ, ADDR(&self.handler), 0);
    if (held)
        signals_release(&was);
}

/* ---- locks ---------------------------------------------------------------------------------- */

/* int name(lock, more...): acquires if it gives 0, or if the owner died. */
#define TAKES(kind, name, parameters, arguments)                                                   \
    int name parameters                                                                            \
    {                                                                                              \
        REAL(name, NULL)                                                                           \
        const int got = real arguments;                                                            \
        if (got == 0 || got == EOWNERDEAD)                                                         \
            record_sync(kind, ADDR(lock), SITE());                                                 \
        return got;                                                                                \
    }
#define GIVES(kind, name, T)                                                                       \
    int name(T *lock)                                                                              \
    {                                                                                              \
        REAL(name, NULL)                                                                           \
        record_sync(kind, ADDR(lock), SITE());                                                     \
        return real(lock);                                                                         \
    }

TAKES(REC_ACQUIRE, pthread_mutex_lock, (pthread_mutex_t * lock), (lock))
TAKES(REC_ACQUIRE, pthread_mutex_trylock, (pthread_mutex_t * lock), (lock))
TAKES(REC_ACQUIRE, pthread_mutex_timedlock, (pthread_mutex_t * lock, const struct timespec *t),
      (lock, t))
TAKES(REC_ACQUIRE, pthread_mutex_clocklock,
      (pthread_mutex_t * lock, clockid_t c, const struct timespec *t), (lock, c, t))
GIVES(REC_RELEASE, pthread_mutex_unlock, pthread_mutex_t)

TAKES(REC_ACQUIRE, pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
TAKES(REC_ACQUIRE, pthread_spin_trylock, (pthread_spinlock_t * lock), (lock))
GIVES(REC_RELEASE, pthread_spin_unlock, pthread_spinlock_t)

/* ---- locks for readers and writers ---------------------------------------------------------- */

/* An unlock does not say which it was: the thread notes what it has as a reader. */
enum { READING = 32 };
static _Thread_local struct {
    pthread_rwlock_t *lock[READING];
    unsigned n;
} reading;

static int read_locked(int got, pthread_rwlock_t *lock, uint64_t site)
{
    if (got)
        return got;
    if (reading.n < READING)
        reading.lock[reading.n++] = lock;
    record_sync(REC_ACQUIRE_SHARED, ADDR(lock), site);
    return 0;
}

#define READS(name, parameters, arguments)                                                         \
    int name parameters                                                                            \
    {                                                                                              \
        REAL(name, NULL)                                                                           \
        return read_locked(real arguments, lock, SITE());                                          \
    }
READS(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
READS(pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))
READS(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const struct timespec *t), (lock, t))
READS(pthread_rwlock_clockrdlock, (pthread_rwlock_t * lock, clockid_t c, const struct timespec *t),
      (lock, c, t))
TAKES(REC_ACQUIRE, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
TAKES(REC_ACQUIRE, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))
TAKES(REC_ACQUIRE, pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *t),
      (lock, t))
TAKES(REC_ACQUIRE, pthread_rwlock_clockwrlock,
      (pthread_rwlock_t * lock, clockid_t c, const struct timespec *t), (lock, c, t))

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    REAL(pthread_rwlock_unlock, NULL)
    uint8_t kind = REC_RELEASE;

    for (unsigned i = reading.n; i-- > 0;)
        if (reading.lock[i] == lock) {
            reading.lock[i] = reading.lock[--reading.n];
            kind = REC_RELEASE_SHARED;
            break;
        }
    record_sync(kind, ADDR(lock), SITE());
    return real(lock);
}

/* ---- condition variables -------------------------------------------------------------------- */

struct waiting {
    pthread_mutex_t *lock;
    uint64_t site;
};

/* Ends a wait, also when the thread is cancelled: it holds the mutex again then. */
static void waited(void *arg)
{
    const struct waiting *w = arg;

    wait_ends((struct ring_record){.addr = ADDR(w->lock), .site = w->site, .kind = REC_WAIT_EXIT});
}

#define WAITS(name, parameters, arguments)                                                         \
    int name parameters                                                                            \
    {                                                                                              \
        REAL(name, "GLIBC_2.3.2")                                                                  \
        struct waiting w = {lock, SITE()};                                                         \
        int got;                                                                                   \
        wait_begins(                                                                               \
            (struct ring_record){.addr = ADDR(lock), .site = w.site, .kind = REC_WAIT_ENTER});     \
        pthread_cleanup_push(waited, &w);                                                          \
        got = real arguments;                                                                      \
        pthread_cleanup_pop(1);                                                                    \
        return got;                                                                                \
    }
WAITS(pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *lock), (c, lock))
WAITS(pthread_cond_timedwait, (pthread_cond_t * c, pthread_mutex_t *lock, const struct timespec *t),
      (c, lock, t))
WAITS(pthread_cond_clockwait,
      (pthread_cond_t * c, pthread_mutex_t *lock, clockid_t clock, const struct timespec *t),
      (c, lock, clock, t))

/* The mutex orders; a notification by itself does not. */

/* ---- barriers ------------------------------------------------------------------------------- */

/* Barriers in use: how many threads a round needs, how many have come to this one, and its
 * number. */
enum { BARRIERS = 1024 };
static struct {
    pthread_barrier_t *at;
    uint64_t needs, came, round;
} barrier[BARRIERS];
static atomic_flag barriers_lock = ATOMIC_FLAG_INIT;

static uint64_t barrier_do(pthread_barrier_t *at, unsigned needs)
{
    uint64_t round = 0;
    unsigned i = 0;

    while (atomic_flag_test_and_set_explicit(&barriers_lock, memory_order_acquire))
        sched_yield();
    while (i + 1 < BARRIERS && barrier[i].at && barrier[i].at != at)
        i++;
    if (needs) {
        barrier[i].at = at;
        barrier[i].needs = needs;
        /* The address begins a new life, with new rounds: nobody departs from one that had begun.
         */
        barrier[i].round += barrier[i].came > 0;
        barrier[i].came = 0;
    } else if (barrier[i].needs) {
        round = barrier[i].round;
        barrier[i].came = (barrier[i].came + 1) % barrier[i].needs;
        barrier[i].round += barrier[i].came == 0;
    }
    atomic_flag_clear_explicit(&barriers_lock, memory_order_release);
    return round;
}

void barriers_in_child(void)
{
    atomic_flag_clear(&barriers_lock);
}

int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *a, unsigned n)
{
    REAL(pthread_barrier_init, NULL)
    const int got = real(b, a, n);

    if (got == 0)
        barrier_do(b, n);
    return got;
}

int pthread_barrier_wait(pthread_barrier_t *b)
{
    REAL(pthread_barrier_wait, NULL)
    struct ring_record rec = {.addr = ADDR(b), .site = SITE(), .more = barrier_do(b, 0)};

    rec.kind = REC_BARRIER_ARRIVE;
    wait_begins(rec);
    int got = real(b);
    rec.kind = REC_BARRIER_DEPART;
    wait_ends(rec);
    return got;
}

/* ---- semaphores: a volatile that is written and read ------------------------------------------
 */

int sem_post(sem_t *s)
{
    REAL(sem_post, NULL)
    record_sync(REC_VOLATILE_WRITE, ADDR(s), SITE());
    return real(s);
}
TAKES(REC_VOLATILE_READ, sem_wait, (sem_t * lock), (lock))
TAKES(REC_VOLATILE_READ, sem_trywait, (sem_t * lock), (lock))
TAKES(REC_VOLATILE_READ, sem_timedwait, (sem_t * lock, const struct timespec *t), (lock, t))
TAKES(REC_VOLATILE_READ, sem_clockwait, (sem_t * lock, clockid_t c, const struct timespec *t),
      (lock, c, t))

/* ---- once: the first call is a class's initialisation -----------------------------------------
 */

static _Thread_local struct once {
    pthread_once_t *control;
    void (*make)(void);
} once;

static void once_made(void)
{
    pthread_once_t *control = once.control;

    once.make();
    record_sync(REC_CLASS_INIT, ADDR(control), 0);
}

int pthread_once(pthread_once_t *control, void (*make)(void))
{
    REAL(pthread_once, NULL)
    const struct once outer = once;

    once = (struct once){control, make};
    int got = real(control, once_made);
    once = outer;
    record_sync(REC_CLASS_USE, ADDR(control), SITE());
    return got;
}

/* A static of C++: whoever looks reads the guard as an atomic; the end of the initialisation is a
 * store to it, inside a library. */
void __real___cxa_guard_release(uint64_t *guard) __attribute__((weak));
void __wrap___cxa_guard_release(uint64_t *guard)
{
    record_atomic(REC_WRITE, ADDR(guard), 1, 3, SITE());
    __real___cxa_guard_release(guard);
}

/* ---- threads -------------------------------------------------------------------------------- */

/* Maps a pthread_t to its thread's number; the newest entry counts, as a pthread_t is used
 * again. */
enum { LIVING = 65536 };
static struct {
    _Atomic pthread_t thread;
    _Atomic uint16_t number;
} living[LIVING];
static _Atomic uint32_t lives;
static pthread_key_t end_key;

struct birth {
    void *(*run)(void *);
    void *arg;
    uint16_t number;
    bool held; /* signals are, until the thread has started in the trace, too */
    sigset_t mask;
};

/* A thread's stack is memory that it is given, and that the next one may have. */
static void record_stack(uint8_t kind)
{
    const bool quiet = self.quiet;
    pthread_attr_t a;
    void *low;
    size_t bytes;

    self.quiet = true;
    const bool known = pthread_getattr_np(pthread_self(), &a) == 0;
    const bool told = known && pthread_attr_getstack(&a, &low, &bytes) == 0;
    if (known)
        pthread_attr_destroy(&a);
    self.quiet = quiet;
    if (told)
        record_more(kind, ADDR(low), bytes, 0, 0);
}

/* Runs for a return, an exit and a cancellation. Other destructors may still follow, so it goes
 * last: each thread has a few rounds of them. */
static void thread_ends(void *rounds)
{
    const uintptr_t left = (uintptr_t)rounds - 1;

    if (left) {
        pthread_setspecific(end_key, (void *)left); /* NOLINT: a count */
        return;
    }
    sigset_t was;
    signals_hold(&was); /* for good: what comes after the end is no thread's */
    if (self.handler.lane) {
        self.waiter = self.to;
        self.to = self.handler;
        record_sync(REC_THREAD_END, 0, 0);
        ring_leave_lane(&self.to);
        self.to = self.waiter;
    }
    record_stack(REC_CLEAR);
    record_sync(REC_THREAD_END, 0, 0);
    self.quiet = true;
    self.ended = true;
    if (self.known)
        ring_leave_lane(&self.to);
}

void threads_prepare(void)
{
    pthread_key_create(&end_key, thread_ends);
}

void thread_will_end(void)
{
    pthread_setspecific(end_key, (void *)(uintptr_t)(PTHREAD_DESTRUCTOR_ITERATIONS - 1));
}

static void *thread_begins(void *arg)
{
    const struct birth b = *(struct birth *)arg;

    self.quiet = true;
    __libc_free(arg);
    thread_will_end();
    thread_is(b.number);
    self.quiet = false;
    record_sync(REC_THREAD_START, 0, 0);
    record_stack(REC_ALLOC);
    if (b.held)
        signals_release(&b.mask);
    return b.run(b.arg);
}

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *arg)
{
    REAL(pthread_create, "GLIBC_2.34")
    const bool quiet = self.quiet;

    if (!ring || quiet)
        return real(t, a, run, arg);
    struct birth *b = __libc_malloc(sizeof *b);
    if (!b)
        return EAGAIN;
    *b = (struct birth){.run = run, .arg = arg, .number = thread_new()};
    const uint16_t number = b->number;
    record_sync(REC_FORK, number, SITE());
    sigset_t was;
    signals_hold(&was);
    sigset_t given; /* the attributes may have a mask: the thread starts with that one */
    b->mask = was;
    b->held = !a || pthread_attr_getsigmask_np(a, &given) == PTHREAD_ATTR_NO_SIGMASK_NP;
    self.quiet = true;
    const int got = real(t, a, thread_begins, b);
    if (got)
        __libc_free(b);
    self.quiet = quiet;
    signals_release(&was);
    if (got == 0) {
        const uint32_t i = atomic_fetch_add(&lives, 1) % LIVING;
        atomic_store(&living[i].number, number);
        atomic_store(&living[i].thread, *t);
    }
    return got;
}

/* Returns the thread's place among the living, or LIVING if it has none. */
static uint32_t living_at(pthread_t t)
{
    const uint32_t n = atomic_load(&lives);

    for (uint32_t i = n; i-- > 0 && n - i <= LIVING;)
        if (atomic_load(&living[i % LIVING].thread) == t)
            return i % LIVING;
    return LIVING;
}

/* Records the join of a thread that was living, at the i-th place, before it: since then another
 * thread may have its pthread_t. */
static void joined(pthread_t t, uint32_t i, uint64_t site)
{
    if (i == LIVING || atomic_load(&living[i].thread) != t)
        return;
    const uint16_t number = atomic_load(&living[i].number);
    atomic_store(&living[i].thread, 0);
    record_sync(REC_JOIN, number, site);
}

int pthread_setname_np(pthread_t t, const char *name)
{
    REAL(pthread_setname_np, NULL)
    const int got = real(t, name);
    const uint32_t i = t == pthread_self() ? LIVING : living_at(t);
    uint64_t part[2] = {0, 0};

    if (got || !recording(RING_CLOSED) || (i == LIVING && t != pthread_self()))
        return got;
    __builtin_strncpy((char *)part, name, sizeof part - 1);
    ring_wide(&self.to, RING_WIDE,
              &(struct ring_record){.addr = part[0],
                                    .from = part[1],
                                    .size = i == LIVING ? self.to.thread : living[i].number,
                                    .kind = RING_NAMED});
    return got;
}

#define JOINS(name, parameters, arguments)                                                         \
    int name parameters                                                                            \
    {                                                                                              \
        REAL(name, "GLIBC_2.34")                                                                   \
        const uint32_t at = living_at(t);                                                          \
        const int got = real arguments;                                                            \
        if (got == 0)                                                                              \
            joined(t, at, SITE());                                                                 \
        return got;                                                                                \
    }
JOINS(pthread_join, (pthread_t t, void **result), (t, result))
JOINS(pthread_tryjoin_np, (pthread_t t, void **result), (t, result))
JOINS(pthread_timedjoin_np, (pthread_t t, void **result, const struct timespec *to),
      (t, result, to))
JOINS(pthread_clockjoin_np, (pthread_t t, void **result, clockid_t c, const struct timespec *to),
      (t, result, c, to))

/* ---- threads of C11: glibc's are its pthreads --------------------------------------------------
 */

static int c11(int got)
{
    return got == 0                         ? thrd_success
           : got == EBUSY                   ? thrd_busy
           : got == ENOMEM || got == EAGAIN ? thrd_nomem
           : got == ETIMEDOUT               ? thrd_timedout
                                            : thrd_error;
}

struct c11_birth {
    thrd_start_t run;
    void *arg;
};

static void *c11_begins(void *arg)
{
    const struct c11_birth b = *(struct c11_birth *)arg;

    __libc_free(arg);
    return (void *)(intptr_t)b.run(b.arg);
}

int thrd_create(thrd_t *t, thrd_start_t run, void *arg)
{
    struct c11_birth *b = __libc_malloc(sizeof *b);

    if (!b)
        return thrd_nomem;
    *b = (struct c11_birth){run, arg};
    return c11(pthread_create(t, NULL, c11_begins, b));
}
int thrd_join(thrd_t t, int *result)
{
    void *gave;
    const int got = pthread_join(t, &gave);

    if (got == 0 && result)
        *result = (int)(intptr_t)gave;
    return c11(got);
}
#define IS_PTHREADS(name, pthread_name, parameters, arguments)                                     \
    int name parameters                                                                            \
    {                                                                                              \
        return c11(pthread_name arguments);                                                        \
    }
#define MUTEX(m) ((pthread_mutex_t *)(m))
#define COND(c)  ((pthread_cond_t *)(c))
IS_PTHREADS(mtx_lock, pthread_mutex_lock, (mtx_t * m), (MUTEX(m)))
IS_PTHREADS(mtx_trylock, pthread_mutex_trylock, (mtx_t * m), (MUTEX(m)))
IS_PTHREADS(mtx_timedlock, pthread_mutex_timedlock, (mtx_t * m, const struct timespec *t),
            (MUTEX(m), t))
IS_PTHREADS(mtx_unlock, pthread_mutex_unlock, (mtx_t * m), (MUTEX(m)))
IS_PTHREADS(cnd_wait, pthread_cond_wait, (cnd_t * c, mtx_t *m), (COND(c), MUTEX(m)))
IS_PTHREADS(cnd_timedwait, pthread_cond_timedwait, (cnd_t * c, mtx_t *m, const struct timespec *t),
            (COND(c), MUTEX(m), t))
void call_once(once_flag *flag, void (*make)(void))
{
    pthread_once((pthread_once_t *)flag, make);
}
