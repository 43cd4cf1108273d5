/* hot.c [THREADS [ROUNDS [CELLS]]] - threads that load and store, each in memory of its own: what
 * an access costs its thread under capture, in nanoseconds of the thread's own time. CELLS, a power
 * of two, are taken in no order that a compressor knows. Built by capture.sh with lardsim-cc. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned long rounds, cells;

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
    unsigned long at = 1;

    for (unsigned long i = 0; i < rounds; i++) {
        at = at * 0x5851f42d4c957f2d + 1;
        mine[(at >> 40) & (cells - 1)]++;
    }
    fprintf(stderr, "%.1f ns\n", (own_time() - began) / (2 * (double)rounds));
    return arg;
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t t[64];

    rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 5000000;
    cells = argc > 3 ? strtoul(argv[3], NULL, 10) : 32;
    for (int i = 0; i < threads; i++)
        pthread_create(&t[i], NULL, work, calloc(cells, sizeof(long)));
    for (int i = 0; i < threads; i++)
        pthread_join(t[i], NULL);
    return 0;
}
