/* sequences.c - release sequences of C11, each with a schedule that is forced: threads wait for
 * their turn by relaxed loads, which order nothing. Whether the last thread's read of `data` races
 * with the first one's write is what sequences.sh asks lardsim and ThreadSanitizer.
 *
 *     sequences          the cases' names, and whether they race: by C11, by ThreadSanitizer
 *     sequences NAME     runs one */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum step { WRITE_DATA = 1, READ_DATA, RELEASE, RELAXED, ACQUIRE, RMW_RELEASE, RMW_RELAXED };
enum { THREADS = 3, STEPS = 4 };

static const struct a_case {
    const char *name, *c11, *tsan;
    enum step step[THREADS]
                  [STEPS]; /* of the first thread all, then of the second, then of the third */
} cases[] = {
    {"replaced", "race", "race", {{WRITE_DATA, RELEASE}, {RELEASE}, {ACQUIRE, READ_DATA}}},
    {"replaced-rmw", "race", "race", {{WRITE_DATA, RMW_RELEASE}, {RELEASE}, {ACQUIRE, READ_DATA}}},
    {"rmw-goes-on",
     "ordered",
     "ordered",
     {{WRITE_DATA, RELEASE}, {RMW_RELAXED}, {ACQUIRE, READ_DATA}}},
    {"two-heads",
     "ordered",
     "ordered",
     {{WRITE_DATA, RELEASE}, {RMW_RELEASE}, {ACQUIRE, READ_DATA}}},
    {"own-store",
     "ordered",
     "ordered",
     {{WRITE_DATA, RELEASE, RELAXED}, {0}, {ACQUIRE, READ_DATA}}},
    {"too-late", "race", "race", {{RELEASE, WRITE_DATA, RELAXED}, {0}, {ACQUIRE, READ_DATA}}},
    {"handed-on",
     "ordered",
     "ordered",
     {{WRITE_DATA, RELEASE}, {ACQUIRE, RELEASE}, {ACQUIRE, READ_DATA}}},
    /* ThreadSanitizer lets no relaxed store end a sequence. */
    {"other-store", "race", "ordered", {{WRITE_DATA, RELEASE}, {RELAXED}, {ACQUIRE, READ_DATA}}},
};

static const struct a_case *now;
static _Atomic int turn, flag;
static int data;
static volatile int got; /* so that the read is not left out */

static void take(enum step s)
{
    switch (s) {
    case WRITE_DATA:
        data = 1;
        break;
    case READ_DATA:
        got = data;
        break;
    case RELEASE:
        atomic_store_explicit(&flag, 1, memory_order_release);
        break;
    case RELAXED:
        atomic_store_explicit(&flag, 2, memory_order_relaxed);
        break;
    case ACQUIRE:
        (void)atomic_load_explicit(&flag, memory_order_acquire);
        break;
    case RMW_RELEASE:
        atomic_fetch_add_explicit(&flag, 1, memory_order_release);
        break;
    case RMW_RELAXED:
        atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);
        break;
    }
}

static void *run(void *arg)
{
    const int me = *(const int *)arg;

    while (atomic_load_explicit(&turn, memory_order_relaxed) != me)
        continue;
    for (int i = 0; i < STEPS; i++)
        take(now->step[me][i]);
    atomic_store_explicit(&turn, me + 1, memory_order_relaxed);
    return NULL;
}

int main(int argc, char **argv)
{
    static int number[THREADS] = {0, 1, 2};
    pthread_t thread[THREADS];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc < 2)
            printf("%s %s %s\n", cases[i].name, cases[i].c11, cases[i].tsan);
        else if (!strcmp(argv[1], cases[i].name))
            now = &cases[i];
    if (!now)
        return argc > 1;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, run, &number[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
