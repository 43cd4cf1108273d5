/* objects.c - every kind of synchronisation that lard_pthread.c knows, in rounds of threads that
 * come and go (cores are used again), and no race. An unmodified pthread program.
 * `objects ROUNDS THREADS`. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t many = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_once_t begun = PTHREAD_ONCE_INIT;
static sem_t one;
static int threads, turn, sum, spun, seen, posted, *made;

static void make(void)
{
    made = calloc(4, sizeof *made);
}

static void *work(void *arg)
{
    const int id = (int)(long)arg;
    int *own = malloc(8 * sizeof *own), mine;

    pthread_once(&begun, make);
    if (!own || !made)
        return NULL;
    for (int i = 0; i < 8; i++)
        own[i] = id;
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&lock);
    while (turn % threads != id)
        pthread_cond_wait(&changed, &lock);
    turn++;
    sum += own[id % 8] + 1;
    mine = sum;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_rwlock_wrlock(&many);
    seen = mine;
    pthread_rwlock_unlock(&many);
    pthread_rwlock_rdlock(&many);
    own[0] = seen;
    pthread_rwlock_unlock(&many);
    own = realloc(own, 64 * sizeof *own);
    pthread_spin_lock(&spin);
    spun += own ? own[0] > 0 : 0;
    pthread_spin_unlock(&spin);
    sem_wait(&one);
    posted++;
    sem_post(&one);
    pthread_barrier_wait(&barrier);
    free(own);
    return NULL;
}

enum { MOST = 64 };

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t t[MOST];

    threads = argc > 2 ? atoi(argv[2]) : 4;
    if (threads < 1 || threads > MOST)
        return 2;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&one, 0, 1);
    for (int r = 0; r < rounds; r++) {
        for (int i = 1; i < threads; i++)
            if (pthread_create(&t[i], NULL, work, (void *)(long)i)) {
                puts("no core is free for another thread");
                return 1;
            }
        work(NULL);
        for (int i = 1; i < threads; i++)
            pthread_join(t[i], NULL);
    }

    const int want = rounds * threads * (threads + 1) / 2;

    printf("objects: sum %d of %d, posted %d of %d\n", sum, want, posted, rounds * threads);
    return sum != want || posted != rounds * threads || spun != rounds * threads;
}
