/* figure1.c - the four programs of LARD's Figure 1 on a small managed heap whose collector moves
 * objects. `figure1 WHICH`; what each policy must say of them is what workloads/litmus says of the
 * traces of these names:
 *
 *     concurrent_mark_race    a marker beside the program reads what the program writes
 *     collection_hides_race   a collection's handshake seems to order two increments
 *     reuse_without_clear     an object dies, and another gets its memory
 *     move_without_copy       an object moves between two increments
 *
 * The runtime is the heap, its collector and the turns that put the threads into the order of the
 * figure. It says what LARDx86 lets a runtime say. Accesses of the program carry the mark. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lard.h"

/* ---- the runtime ----------------------------------------------------------------------------- */

struct object {
    uint64_t header; /* the place to which it has moved; 0: it has not */
    volatile uint32_t n, more;
};
enum { SPACE = 4096 };
static _Alignas(64) unsigned char space[2][SPACE];
static size_t used;         /* bytes of the space in use */
static int in_use;          /* the number of the space in use */
static struct object *root; /* the one that the program still has */

static struct object *new_object(void)
{
    lard_runtime_begin();
    struct object *o = (struct object *)(space[in_use] + used);
    used += sizeof *o;
    memset(o, 0, sizeof *o);
    lard_alloc(o, sizeof *o);
    lard_runtime_end();
    return o;
}

/* Turns. In the runtime's code: the program knows nothing of them, they order nothing. */
static volatile int turn;

static void my_turn(int n)
{
    lard_runtime_begin();
    while (turn < n)
        __asm__ volatile("pause" ::: "memory");
    lard_runtime_end();
}

static void next_turn(void)
{
    lard_runtime_begin();
    __atomic_fetch_add(&turn, 1, __ATOMIC_SEQ_CST);
    lard_runtime_end();
}

static void handshake(unsigned op) /* the runtime's own synchronisation */
{
    (void)lard_say(op, LARD_SYSTEM, LARD_ADDR(&turn), 1, 0, 0, 0);
}

/* Objects that live go to the other space; what is left behind is cleared. */
static void collect(void)
{
    lard_runtime_begin();
    lard_gc_begin();

    struct object *to = (struct object *)space[!in_use];

    memcpy(to, root, sizeof *to);
    root->header = LARD_ADDR(to);
    lard_copy(to, root, sizeof *to);
    lard_clear(root, sizeof *root);
    root = to;
    in_use = !in_use;
    used = sizeof *to;
    lard_gc_end();
    lard_runtime_end();
}

/* Frees the object without a collection: its memory is the next to be given out. */
static void reclaim(struct object *o)
{
    lard_runtime_begin();
    lard_clear(o, sizeof *o);
    used -= sizeof *o;
    lard_runtime_end();
}

/* ---- the program ----------------------------------------------------------------------------- */

static struct object *read_root(void)
{
    lard_runtime_begin();
    struct object *o = root;
    lard_runtime_end();
    return o;
}

static void increment(void)
{
    struct object *o = read_root();

    lard_store_u32(&o->n, lard_load_u32(&o->n) + 1);
}

static void *first_increment(void *between)
{
    my_turn(0);
    increment();
    if (between)
        handshake(LARD_OP_BARRIER_ARRIVE);
    next_turn();
    my_turn(between ? 4 : 2); /* nobody goes while the world stands still */
    if (between)
        handshake(LARD_OP_BARRIER_DEPART);
    return NULL;
}

static void *second_increment(void *between)
{
    if (between) {
        my_turn(1);
        handshake(LARD_OP_BARRIER_ARRIVE);
        next_turn();
    }
    my_turn(between ? 3 : 2);
    if (between)
        handshake(LARD_OP_BARRIER_DEPART);
    increment();
    next_turn();
    return NULL;
}

static void *stop_the_world(void *arg)
{
    my_turn(2);
    handshake(LARD_OP_BARRIER_ARRIVE);
    handshake(LARD_OP_BARRIER_DEPART);
    lard_runtime_begin();
    lard_gc_begin();
    lard_gc_end();
    lard_runtime_end();
    next_turn();
    return arg;
}

static void *mover(void *arg)
{
    my_turn(1);
    collect();
    next_turn();
    return arg;
}

static void *marker(void *arg)
{
    my_turn(0);
    lard_runtime_begin();
    *(uint32_t *)arg = root->n; /* a mark looks at every field */
    lard_runtime_end();
    next_turn();
    return NULL;
}

static void *use_once(void *order)
{
    my_turn((int)(intptr_t)order);

    struct object *o = new_object();

    lard_store_u32(&o->n, 1);
    if (!order)
        reclaim(o);
    next_turn();
    return NULL;
}

/* Threads are made in the runtime's code, by functions that it has for that. */
static pthread_t started[4];
static int threads;

static void fork_thread(void *(*function)(void *), void *arg)
{
    if (pthread_create(&started[threads++], NULL, function, arg))
        puts("no core is free for another thread");
}

static void *in(uintptr_t number)
{
    return (void *)number;
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "";
    uint32_t seen = 0;

    root = new_object();
    lard_name(&root->n, "o.n");
    lard_store_u32(&root->n, 0);
    if (!strcmp(which, "concurrent_mark_race")) {
        fork_thread(marker, &seen);
        my_turn(1);
        lard_store_u32(&root->n, 5);
    } else if (!strcmp(which, "collection_hides_race")) {
        fork_thread(first_increment, in(1));
        fork_thread(second_increment, in(1));
        fork_thread(stop_the_world, NULL);
    } else if (!strcmp(which, "reuse_without_clear")) {
        fork_thread(use_once, in(0));
        fork_thread(use_once, in(1));
    } else if (!strcmp(which, "move_without_copy")) {
        fork_thread(first_increment, NULL);
        fork_thread(second_increment, NULL);
        fork_thread(mover, NULL);
    } else {
        fprintf(stderr, "figure1: no program \"%s\"; see the head of figure1.c\n", which);
        return 2;
    }
    for (int i = 0; i < threads; i++)
        pthread_join(started[i], NULL);
    printf("%s: %u\n", which, (unsigned)root->n);
    return 0;
}
