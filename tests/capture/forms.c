/* forms.c - two threads that touch one variable: `forms FORM racy|ordered`. Each form of
 * synchronisation orders them, or is left out, or is done wrongly. It waits in fixed places, so
 * that an unordered pair is one in every execution. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int data;
static int ordered;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static atomic_int flag, handled;
static int ready;
static mtx_t mtx;
static const struct timespec never = {.tv_sec = 1 << 30};
enum { LARGE = 200000 };
static char *block;

static void touch(void)
{
    data++;
}

static void say(void)
{
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
}

static void hear(void)
{
    while (!atomic_load_explicit(&flag, memory_order_relaxed))
        usleep(100);
}

static void in_mutex(int first)
{
    (void)first;
    if (ordered)
        pthread_mutex_lock(&mutex);
    touch();
    if (ordered)
        pthread_mutex_unlock(&mutex);
}

static void in_mtx(int first)
{
    (void)first;
    if (ordered)
        mtx_lock(&mtx);
    touch();
    if (ordered)
        mtx_unlock(&mtx);
}

static void in_spin(int first)
{
    (void)first;
    if (ordered)
        pthread_spin_lock(&spin);
    touch();
    if (ordered)
        pthread_spin_unlock(&spin);
}

static void in_rwlock(int first) /* readers are not ordered */
{
    (void)first;
    if (ordered)
        pthread_rwlock_wrlock(&rwlock);
    else
        pthread_rwlock_rdlock(&rwlock);
    touch();
    pthread_rwlock_unlock(&rwlock);
}

static void in_clock_rwlock(int first) /* std::shared_timed_mutex is one */
{
    (void)first;
    if (ordered)
        pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &never);
    else
        pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &never);
    touch();
    pthread_rwlock_unlock(&rwlock);
}

static void by_condition(int first)
{
    if (first) {
        touch();
        pthread_mutex_lock(&mutex);
        ready = 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
        if (!ordered)
            touch();
        return;
    }
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    touch();
}

static void by_barrier(int first)
{
    if (first)
        touch();
    pthread_barrier_wait(&barrier);
    if (!first || !ordered)
        touch();
}

static void by_semaphore(int first)
{
    if (!first) {
        sem_wait(&sem);
        touch();
        return;
    }
    touch();
    sem_post(&sem);
    if (!ordered)
        touch();
}

static void by_clock_semaphore(int first)
{
    if (first) {
        touch();
        sem_post(&sem);
        if (!ordered)
            touch();
        return;
    }
    sem_clockwait(&sem, CLOCK_MONOTONIC, &never);
    touch();
}

static void *touch_and_say(void *arg)
{
    touch();
    say();
    return arg;
}

static void by_clock_join(int first)
{
    pthread_t t;

    if (!first)
        return;
    pthread_create(&t, NULL, touch_and_say, NULL);
    hear();
    if (!ordered)
        touch();
    pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, &never);
    if (ordered)
        touch();
}

static void by_atomic(int first) /* relaxed accesses do not order */
{
    if (first) {
        touch();
        atomic_store_explicit(&flag, 1, ordered ? memory_order_release : memory_order_relaxed);
        return;
    }
    while (!atomic_load_explicit(&flag, ordered ? memory_order_acquire : memory_order_relaxed))
        usleep(100);
    touch();
}

static void by_fence(int first) /* relaxed accesses do, with fences */
{
    if (first) {
        touch();
        if (ordered)
            atomic_thread_fence(memory_order_release);
        say();
        return;
    }
    hear();
    if (ordered)
        atomic_thread_fence(memory_order_acquire);
    touch();
}

static void by_mixed_fence(int first) /* a fence on one side, an order on the other */
{
    if (first) {
        touch();
        if (ordered)
            atomic_thread_fence(memory_order_seq_cst);
        say();
        return;
    }
    while (!atomic_load_explicit(&flag, ordered ? memory_order_acquire : memory_order_relaxed))
        usleep(100);
    touch();
}

static void handle(int number)
{
    (void)number;
    atomic_fetch_add(&handled, 1);
    touch();
}

static void in_handler(int first) /* a handler is a part of the thread that it interrupts */
{
    if (first) {
        if (ordered)
            pthread_mutex_lock(&mutex);
        for (int i = 0; i < 1000; i++)
            raise(SIGUSR1);
        if (ordered)
            pthread_mutex_unlock(&mutex);
        return;
    }
    if (ordered)
        pthread_mutex_lock(&mutex);
    touch();
    if (ordered)
        pthread_mutex_unlock(&mutex);
}

/* A handler runs while its thread waits: after what the thread did before, and before what it does
 * when it has waited. */
static void in_wait(int first)
{
    static _Atomic pthread_t waits;

    if (first) {
        touch();
        waits = pthread_self();
        pthread_barrier_wait(&barrier);
        touch();
        return;
    }
    if (!ordered)
        touch();
    while (!waits)
        usleep(100);
    usleep(20000);
    for (int i = 0; i < 3; i++)
        pthread_kill(waits, SIGUSR1);
    while (!handled)
        usleep(100);
    pthread_barrier_wait(&barrier);
}

static void by_once(int first)
{
    (void)first;
    pthread_once(&once, touch);
    if (!ordered)
        touch();
}

static void in_copy(int first) /* inside libc */
{
    if (ordered)
        pthread_mutex_lock(&mutex);
    memcpy(block,
           first ? "a text that is too long for a store" : "another text, as long as it was not",
           36);
    if (ordered)
        pthread_mutex_unlock(&mutex);
}

static void in_range(int first) /* which is too large for one access */
{
    if (ordered)
        pthread_mutex_lock(&mutex);
    if (first)
        memset(block, 1, LARGE);
    else
        block[LARGE - 1] = 2;
    if (ordered)
        pthread_mutex_unlock(&mutex);
}

static void in_heap(int first) /* memory that is given again has a new life */
{
    if (first) {
        block[0] = 1;
        if (ordered)
            free(block);
        say();
        return;
    }
    hear();
    char *mine = ordered ? malloc(40) : block;
    mine[0] = 2;
    if (ordered)
        free(mine);
}

static void in_realloc(int first) /* histories go along: the race spans the move */
{
    static char *moved;

    if (first) {
        block[0] = 1;
        moved = realloc(block, 100000);
        say();
        return;
    }
    hear();
    if (ordered)
        moved[50] = 2;
    else
        moved[0] = 2;
}

static const struct {
    const char *name;
    void (*run)(int first);
} forms[] = {{"mutex", in_mutex},
             {"mtx", in_mtx},
             {"spin", in_spin},
             {"rwlock", in_rwlock},
             {"clock-rwlock", in_clock_rwlock},
             {"condition", by_condition},
             {"barrier", by_barrier},
             {"semaphore", by_semaphore},
             {"clock-semaphore", by_clock_semaphore},
             {"clock-join", by_clock_join},
             {"atomic", by_atomic},
             {"once", by_once},
             {"copy", in_copy},
             {"heap", in_heap},
             {"realloc", in_realloc},
             {"fence", by_fence},
             {"mixed-fence", by_mixed_fence},
             {"handler", in_handler},
             {"range", in_range},
             {"wait", in_wait}};
static void (*run)(int first);

static void *one(void *arg)
{
    pthread_setname_np(pthread_self(), "the first");
    run(1);
    return arg;
}

static void *other(void *arg)
{
    run(0);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t a, b;

    if (argc < 3) {
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
            puts(forms[i].name);
        return 0;
    }
    ordered = strcmp(argv[2], "ordered") == 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, argv[1]) == 0)
            run = forms[i].run;
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&sem, 0, 0);
    mtx_init(&mtx, mtx_plain);
    signal(SIGUSR1, handle);
    block = malloc(LARGE);
    memset(block, 0, LARGE);
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, other, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    touch();
    printf("%d\n", data);
    return 0;
}
