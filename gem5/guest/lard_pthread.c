/* lard_pthread.c - an unmodified pthread program tells lardsim what it synchronises and allocates.
 *
 *     gcc -static -pthread -O2 -g program.c lard_pthread.c @lard_pthread.wrap
 *
 * lard_pthread.wrap makes the linker put these functions between the program and the C library.
 * What the library does for itself (its locks, its lists of memory) is the runtime's code, and not
 * the program's. gem5 itself sees threads begin and end.
 *
 * Not seen: C11's own thrd_ and mtx_ functions; synchronisation by plain loads and stores, as an
 * acquire load is on x86 (say lard_volatile_read, lard_volatile_write). */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "lard.h"

#define HERE          LARD_ADDR(__builtin_return_address(0))
#define SAY(op, addr) ((void)lard_say(op, 0, LARD_ADDR(addr), 0, 0, 0, HERE))

/* A wrapped function: REAL(int, name, (parameters)) declares it and what it stands before. */
#define REAL(type, name, parameters)                                                               \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters
/* Accesses and calls inside the library are its own, not the program's. */
#define WITHIN(call)                                                                               \
    ({                                                                                             \
        lard_runtime_begin();                                                                      \
        const int within = (call);                                                                 \
        lard_runtime_end();                                                                        \
        within;                                                                                    \
    })

/* ---- functions that take or give something, and return 0 if they did ------------------------- */

#define TAKES(name, op, object, parameters, arguments)                                             \
    REAL(int, name, parameters)                                                                    \
    {                                                                                              \
        const int result = WITHIN(__real_##name arguments);                                        \
        if (result == 0)                                                                           \
            SAY(op, object);                                                                       \
        return result;                                                                             \
    }
#define GIVES(name, op, object, parameters, arguments)                                             \
    REAL(int, name, parameters)                                                                    \
    {                                                                                              \
        SAY(op, object);                                                                           \
        return WITHIN(__real_##name arguments);                                                    \
    }
#define QUIET(name, parameters, arguments)                                                         \
    REAL(int, name, parameters)                                                                    \
    {                                                                                              \
        return WITHIN(__real_##name arguments);                                                    \
    }

TAKES(pthread_mutex_lock, LARD_OP_ACQUIRE, m, (pthread_mutex_t * m), (m))
TAKES(pthread_mutex_trylock, LARD_OP_ACQUIRE, m, (pthread_mutex_t * m), (m))
TAKES(pthread_mutex_timedlock, LARD_OP_ACQUIRE, m,
      (pthread_mutex_t * m, const struct timespec *until), (m, until))
GIVES(pthread_mutex_unlock, LARD_OP_RELEASE, m, (pthread_mutex_t * m), (m))
QUIET(pthread_mutex_init, (pthread_mutex_t * m, const pthread_mutexattr_t *a), (m, a))
QUIET(pthread_mutex_destroy, (pthread_mutex_t * m), (m))

TAKES(pthread_spin_lock, LARD_OP_ACQUIRE, s, (pthread_spinlock_t * s), (s))
TAKES(pthread_spin_trylock, LARD_OP_ACQUIRE, s, (pthread_spinlock_t * s), (s))
GIVES(pthread_spin_unlock, LARD_OP_RELEASE, s, (pthread_spinlock_t * s), (s))
QUIET(pthread_spin_init, (pthread_spinlock_t * s, int shared), (s, shared))

TAKES(pthread_rwlock_rdlock, LARD_OP_ACQUIRE_SHARED, l, (pthread_rwlock_t * l), (l))
TAKES(pthread_rwlock_tryrdlock, LARD_OP_ACQUIRE_SHARED, l, (pthread_rwlock_t * l), (l))
TAKES(pthread_rwlock_wrlock, LARD_OP_ACQUIRE, l, (pthread_rwlock_t * l), (l))
TAKES(pthread_rwlock_trywrlock, LARD_OP_ACQUIRE, l, (pthread_rwlock_t * l), (l))
QUIET(pthread_rwlock_init, (pthread_rwlock_t * l, const pthread_rwlockattr_t *a), (l, a))
QUIET(pthread_rwlock_destroy, (pthread_rwlock_t * l), (l))

/* A post gives, a wait takes: as if the semaphore were a volatile. */
TAKES(sem_wait, LARD_OP_VOLATILE_READ, s, (sem_t * s), (s))
TAKES(sem_trywait, LARD_OP_VOLATILE_READ, s, (sem_t * s), (s))
GIVES(sem_post, LARD_OP_VOLATILE_WRITE, s, (sem_t * s), (s))
QUIET(sem_init, (sem_t * s, int shared, unsigned value), (s, shared, value))
QUIET(sem_destroy, (sem_t * s), (s))

/* A notification orders nothing. */
GIVES(pthread_cond_signal, LARD_OP_NOTIFY, c, (pthread_cond_t * c), (c))
GIVES(pthread_cond_broadcast, LARD_OP_NOTIFY, c, (pthread_cond_t * c), (c))
QUIET(pthread_cond_init, (pthread_cond_t * c, const pthread_condattr_t *a), (c, a))
QUIET(pthread_cond_destroy, (pthread_cond_t * c), (c))

QUIET(pthread_barrier_init, (pthread_barrier_t * b, const pthread_barrierattr_t *a, unsigned count),
      (b, a, count))
QUIET(pthread_barrier_destroy, (pthread_barrier_t * b), (b))

/* ---- others ---------------------------------------------------------------------------------- */

/* The lock's own field tells whether this thread holds it for writing: nobody else can write it
 * while this thread holds the lock. */
REAL(int, pthread_rwlock_unlock, (pthread_rwlock_t * l))
{
    SAY(WITHIN(l->__data.__cur_writer) ? LARD_OP_RELEASE : LARD_OP_RELEASE_SHARED, l);
    return WITHIN(__real_pthread_rwlock_unlock(l));
}

#define WAITS(name, parameters, arguments)                                                         \
    REAL(int, name, parameters)                                                                    \
    {                                                                                              \
        SAY(LARD_OP_WAIT_ENTER, m);                                                                \
        const int result = WITHIN(__real_##name arguments);                                        \
        SAY(LARD_OP_WAIT_EXIT, m);                                                                 \
        return result;                                                                             \
    }
WAITS(pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), (c, m))
/* gem5's futex never times out. */
WAITS(pthread_cond_timedwait,
      (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *until), (c, m, until))

REAL(int, pthread_barrier_wait, (pthread_barrier_t * b))
{
    (void)lard_say(LARD_OP_BARRIER_ARRIVE, 0, LARD_ADDR(b), LARD_ROUND_ANY, 0, 0, HERE);
    const int result = WITHIN(__real_pthread_barrier_wait(b));
    (void)lard_say(LARD_OP_BARRIER_DEPART, 0, LARD_ADDR(b), LARD_ROUND_ANY, 0, 0, HERE);
    return result;
}

/* The function that runs once ends with a volatile write: a thread that comes later reads that, and
 * is ordered after the function. */
static __thread void (*once_function)(void);
static __thread pthread_once_t *once_of;

static void once(void)
{
    pthread_once_t *of = once_of;
    void (*function)(void) = once_function;

    lard_runtime_end();
    function();
    lard_volatile_write(of);
    lard_runtime_begin();
}

REAL(int, pthread_once, (pthread_once_t * of, void (*function)(void)))
{
    int result;

    lard_runtime_begin();
    once_of = of;
    once_function = function;
    result = __real_pthread_once(of, once);
    lard_runtime_end();
    SAY(LARD_OP_VOLATILE_READ, of);
    return result;
}

/* ---- threads --------------------------------------------------------------------------------- */

struct start {
    void *(*function)(void *arg);
    void *arg;
    uint64_t number; /* the thread's number; 0 is the first one */
};
static uint64_t threads; /* but for that */

REAL(void *, malloc, (size_t bytes));
REAL(void, free, (void *p));

/* A thread is born in the runtime's code, as the call that creates it is. */
static void *start(void *arg)
{
    const struct start s = *(struct start *)arg;
    void *result;

    __real_free(arg);
    LARD_SAY2(LARD_OP_SELF, LARD_ADDR(pthread_self()), s.number);
    lard_runtime_end();
    result = s.function(s.arg);
    lard_runtime_begin();
    LARD_SAY1(LARD_OP_LAST, 0);
    return result;
}

REAL(int, pthread_create,
     (pthread_t * t, const pthread_attr_t *a, void *(*function)(void *arg), void *arg))
{
    struct start *s;
    int result = EAGAIN;

    lard_runtime_begin();
    s = __real_malloc(sizeof *s);
    if (s) {
        *s = (struct start){function, arg, __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED)};
        LARD_SAY2(LARD_OP_CREATE, 0, s->number);
        result = __real_pthread_create(t, a, start, s);
        if (result)
            __real_free(s);
    }
    lard_runtime_end();
    return result;
}

REAL(int, pthread_join, (pthread_t t, void **value))
{
    const int result = WITHIN(__real_pthread_join(t, value));

    if (result == 0)
        (void)lard_say(LARD_OP_JOIN_HANDLE, 0, LARD_ADDR(t), 0, 0, 0, HERE);
    return result;
}

__attribute__((noreturn)) void __real_pthread_exit(void *value);
__attribute__((noreturn)) void __wrap_pthread_exit(void *value);
void __wrap_pthread_exit(void *value)
{
    lard_runtime_begin();
    LARD_SAY1(LARD_OP_LAST, 0);
    __real_pthread_exit(value);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Called in the runtime's code, after it was allocated, and before it is freed. */
static void *allocated(void *p, uint64_t where)
{
    if (p)
        (void)lard_say(LARD_OP_ALLOC, 0, LARD_ADDR(p), malloc_usable_size(p), 0, 0, where);
    lard_runtime_end();
    return p;
}

void *__wrap_malloc(size_t bytes)
{
    lard_runtime_begin();
    return allocated(__real_malloc(bytes), HERE);
}

void __wrap_free(void *p)
{
    lard_runtime_begin();
    if (p)
        SAY(LARD_OP_FREE, p);
    __real_free(p);
    lard_runtime_end();
}

#define ALLOCATES(name, parameters, arguments)                                                     \
    REAL(void *, name, parameters)                                                                 \
    {                                                                                              \
        lard_runtime_begin();                                                                      \
        return allocated(__real_##name arguments, HERE);                                           \
    }
ALLOCATES(calloc, (size_t n, size_t bytes), (n, bytes))
ALLOCATES(aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
ALLOCATES(memalign, (size_t alignment, size_t bytes), (alignment, bytes))

REAL(int, posix_memalign, (void **p, size_t alignment, size_t bytes))
{
    int result;

    lard_runtime_begin();
    result = __real_posix_memalign(p, alignment, bytes);
    (void)allocated(result ? NULL : *p, HERE);
    return result;
}

/* Always moves the block: the library's realloc would free the old memory before that can be
 * said. */
REAL(void *, realloc, (void *p, size_t bytes))
{
    const uint64_t where = HERE;
    void *to;

    if (!p)
        return __wrap_malloc(bytes);
    if (!bytes) {
        __wrap_free(p);
        return NULL;
    }
    lard_runtime_begin();
    to = __real_malloc(bytes);
    if (to) {
        const size_t old = malloc_usable_size(p), now = malloc_usable_size(to);
        const size_t both = old < now ? old : now;

        (void)lard_say(LARD_OP_ALLOC, 0, LARD_ADDR(to), now, 0, 0, where);
        (void)lard_say(LARD_OP_COPY, 0, LARD_ADDR(to), both, LARD_ADDR(p), 0, where);
        memcpy(to, p, both);
        (void)lard_say(LARD_OP_FREE, 0, LARD_ADDR(p), 0, 0, 0, where);
        __real_free(p);
    }
    lard_runtime_end();
    return to;
}
