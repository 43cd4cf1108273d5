/* hot.c - threads that load and store, each in a line of its own: what an access costs its thread
 * under capture, in nanoseconds of the thread's own time. Built by capture.sh with lardsim-cc. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LINE = 64, CELLS = 32 };
static volatile long cells[64][LINE];
static long rounds;

static double own_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *work(void *arg)
{
    volatile long *mine = arg;
    const double began = own_time();

    for (long i = 0; i < rounds; i++)
        mine[i % CELLS]++;
    fprintf(stderr, "%.1f ns\n", (own_time() - began) / (2 * (double)rounds));
    return arg;
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t t[64];

    rounds = argc > 2 ? atol(argv[2]) : 5000000;
    for (int i = 0; i < threads; i++)
        pthread_create(&t[i], NULL, work, (void *)cells[i]);
    for (int i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    return 0;
}
