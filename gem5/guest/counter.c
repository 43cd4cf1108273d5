/* counter.c - threads count together. `counter racy N THREADS` loses counts: nothing orders the
 * increments. `locked` and `atomic` are the repairs. An unmodified pthread program: it knows
 * nothing of lardsim. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int times;

static void *racy(void *arg)
{
    for (int i = 0; i < times; i++)
        counter++;
    return arg;
}

static void *locked(void *arg)
{
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *atomic(void *arg)
{
    for (int i = 0; i < times; i++)
        __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
    return arg;
}

enum { MOST = 64 };

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "racy";
    void *(*work)(void *) = !strcmp(how, "locked")   ? locked
                            : !strcmp(how, "atomic") ? atomic
                                                     : racy;
    const int threads = argc > 3 ? atoi(argv[3]) : 4;
    pthread_t t[MOST];

    times = argc > 2 ? atoi(argv[2]) : 20;
    if (threads < 1 || threads > MOST)
        return 2;
    for (int i = 1; i < threads; i++)
        if (pthread_create(&t[i], NULL, work, NULL)) {
            puts("no core is free for another thread");
            return 1;
        }
    work(NULL);
    for (int i = 1; i < threads; i++)
        pthread_join(t[i], NULL);
    printf("%s: %d of %d\n", how, counter, times * threads);
    return work != racy && counter != times * threads;
}
