/* ahead.c - a source that is read ahead by a thread of its own, so that decoding and checking
 * overlap. Events, numbers, names, errors and the end come as from the source itself.
 *
 * Batches are copied through a small ring buffer. The thread alone touches the inner source and its
 * table of names; new names travel with the batch before which they were read, and the consumer has
 * a table of its own. Texts are only pointed to: names never change and live as long as the inner
 * source.
 * Limitation: closing waits for the read in hand, which a silent pipe can delay. */
#include "trace/trace.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* One being filled, one in use, one between, so that neither side waits for long. */
enum { SLOTS = 3 };

/* A batch on its way, with what was read along with it. */
struct slot {
    struct batch batch; /* of rec */
    struct event *rec;  /* owns */
    size_t cap;
    struct source_extent extent; /* the inner source's, after these */
    struct name *name;           /* owns; new ones, whose texts are the inner source's */
    size_t names, names_cap;
    struct err err;
};

struct read_ahead {
    struct source base;
    struct source *inner;        /* owns; the thread's own while it runs */
    struct names *names;         /* owns; the consumer's own */
    struct source_extent extent; /* the consumer's own */
    size_t names_sent;           /* how many of the inner source's; the thread's own */
    bool holding;                /* the consumer looks at a slot; its own */
    pthread_t thread;
    pthread_mutex_t lock;     /* guards the next three */
    pthread_cond_t changed;   /* one of them did */
    uint64_t filled, emptied; /* slots so far */
    bool stop;
    struct slot slot[SLOTS];
};

/* ---- the thread ----------------------------------------------------------------------------- */

/* NULL: the source is being closed. */
static struct slot *slot_to_fill(struct read_ahead *a)
{
    struct slot *slot = NULL;

    pthread_mutex_lock(&a->lock);
    while (!a->stop && a->filled - a->emptied == SLOTS)
        pthread_cond_wait(&a->changed, &a->lock);
    if (!a->stop)
        slot = &a->slot[a->filled % SLOTS];
    pthread_mutex_unlock(&a->lock);
    return slot;
}

static void slot_filled(struct read_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    a->filled++;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

/* A source's batch is valid until its next one only, so it can't be passed on as it is. */
static void copy_events(struct slot *slot, const struct batch *b)
{
    if (b->records > slot->cap) {
        free(slot->rec);
        slot->rec = xmalloc(b->records * sizeof *slot->rec);
        slot->cap = b->records;
    }
    if (b->records)
        memcpy(slot->rec, b->rec, b->records * sizeof *slot->rec);
    slot->batch = *b;
    slot->batch.rec = slot->rec;
}

static void copy_names(struct read_ahead *a, struct slot *slot)
{
    const size_t n = names_count(a->inner->names);

    slot->names = 0;
    for (; a->names_sent < n; a->names_sent++) {
        slot->name = xgrow(slot->name, slot->names, &slot->names_cap, sizeof *slot->name);
        slot->name[slot->names++] = *names_at(a->inner->names, a->names_sent);
    }
}

/* Reads until the source ends or fails, or is closed. */
static void *read_ahead(void *arg)
{
    struct read_ahead *a = arg;
    struct slot *slot;
    bool more = true;

    while (more && (slot = slot_to_fill(a)) != NULL) {
        struct batch b = {.records = 0};
        if (source_step(a->inner, &b, &slot->err))
            b = (struct batch){.first = b.first, .kept = b.kept};
        more = b.records || b.more;
        copy_events(slot, &b);
        copy_names(a, slot);
        if (a->inner->extent)
            slot->extent = *a->inner->extent;
        slot_filled(a);
    }
    return NULL;
}

/* ---- the source ----------------------------------------------------------------------------- */

/* Gives back the slot in hand and waits for the next. The last one, without events, is kept. */
static struct slot *slot_to_use(struct read_ahead *a)
{
    struct slot *slot;

    pthread_mutex_lock(&a->lock);
    const struct slot *held = &a->slot[a->emptied % SLOTS];

    if (a->holding && (held->batch.records || held->batch.more)) {
        a->emptied++;
        pthread_cond_signal(&a->changed);
    }
    while (a->filled == a->emptied)
        pthread_cond_wait(&a->changed, &a->lock);
    slot = &a->slot[a->emptied % SLOTS];
    pthread_mutex_unlock(&a->lock);
    a->holding = true;
    return slot;
}

static int take_names(struct read_ahead *a, struct slot *slot, struct err *e)
{
    for (size_t i = 0; i < slot->names; i++)
        if (names_refer(a->names, &slot->name[i], e))
            return -1;
    slot->names = 0;
    return 0;
}

/* An error travels in its slot: it comes after the events that were read before it. */
static int ahead_next(struct source *s, struct batch *b, struct err *e)
{
    struct read_ahead *a = (struct read_ahead *)s;
    struct slot *slot = slot_to_use(a);

    a->extent = slot->extent;
    *b = slot->batch;
    if (take_names(a, slot, e))
        return -1;
    return slot->err.code ? err_pass(e, &slot->err) : 0;
}

static void ahead_free(struct read_ahead *a)
{
    for (size_t i = 0; i < SLOTS; i++) {
        free(a->slot[i].rec);
        free(a->slot[i].name);
    }
    names_free(a->names);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static void ahead_close(struct source *s)
{
    struct read_ahead *a = (struct read_ahead *)s;

    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    source_close(a->inner);
    ahead_free(a);
}

/* The new thread inherits a mask in which all signals are blocked: they are for the program's own
 * threads. */
static int start(struct read_ahead *a)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int reason = pthread_create(&a->thread, NULL, read_ahead, a);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return reason;
}

struct source *source_ahead(struct source *inner)
{
    struct read_ahead *a = xcalloc(1, sizeof *a);

    a->inner = inner;
    a->names = names_new();
    a->base = *inner;
    a->base.next = ahead_next;
    a->base.close = ahead_close;
    a->base.names = a->names;
    a->base.extent = &a->extent;
    a->base.identity = NULL; /* the inner one is ahead */
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    copy_names(a, &a->slot[0]);
    if (!take_names(a, &a->slot[0], NULL) && !start(a))
        return &a->base;
    ahead_free(a);
    return inner;
}
