/* sync_object.h - synchronisation objects, found by address, and what clears and copies of memory
 * do to them: an object moves with the memory that it lives in and dies with it (LARD 4.3.2,
 * 4.3.3). Each owner keeps of an object what is its own, behind what all keep. */
#ifndef LARDSIM_SYNC_OBJECT_H
#define LARDSIM_SYNC_OBJECT_H

#include "base/shadow.h"

struct sync_hold { /* a thread's hold on a lock */
    sim_tid tid;
    bool shared;
    bool waiting;   /* the owner's: the thread has given the lock up for a wait */
    uint32_t depth; /* > 0 */
};
struct sync_object {          /* an owner's object begins with it */
    struct sync_object *next; /* in the same granule */
    sim_addr addr;
    uint64_t round;         /* barriers; else 0 */
    struct sync_hold *hold; /* owns; of a lock */
    uint32_t holds, hold_cap;
    uint8_t kind; /* enum ev_object */
};
/* The owner's part of an object; all else of it is 0 when it begins. */
struct sync_ways {
    size_t bytes; /* of an object */
    void (*begin)(void *arg, void *object);
    void (*end)(void *arg, void *object);                /* it is freed then */
    void (*copy)(void *arg, void *to, const void *from); /* NULL: a copy takes the object itself */
};
struct sync_objects {
    struct shadow *cells; /* owns; of 8 bytes: a chain of struct sync_object, as one address may be
                           * that of a lock and a barrier, and a granule may have several objects */
    const struct sync_ways *ways;
    struct budget *budget;
};

void sync_objects_init(struct sync_objects *t, const struct sync_ways *ways, struct budget *budget);
/* `arg` is what the ways are given, here and below. */
void sync_objects_free(struct sync_objects *t, void *arg);
void *sync_object_new(struct sync_objects *t, unsigned kind, sim_addr addr, uint64_t round,
                      void *arg);
void sync_object_drop(struct sync_objects *t, const void *object, void *arg);
void sync_objects_clear(struct sync_objects *t, sim_addr addr, uint64_t bytes, void *arg);
/* By a copy of memory; the two regions may overlap. */
void sync_objects_move(struct sync_objects *t, sim_addr to, sim_addr from, uint64_t bytes,
                       void *arg);
static inline void *sync_object_find(const struct sync_objects *t, unsigned kind, sim_addr addr,
                                     uint64_t round) /* NULL: none */
{
    struct sync_object *const *chain = shadow_prefetched(t->cells, addr);

    if (UNLIKELY(!chain))
        chain = shadow_peek(t->cells, addr);
    for (struct sync_object *o = chain ? *chain : NULL; o; o = o->next)
        if (LIKELY(o->addr == addr && o->kind == kind && o->round == round))
            return o;
    return NULL;
}
static inline void *sync_object_get(struct sync_objects *t, unsigned kind, sim_addr addr,
                                    uint64_t round, void *arg) /* made when new */
{
    void *o = sync_object_find(t, kind, addr, round);

    return LIKELY(o != NULL) ? o : sync_object_new(t, kind, addr, round, arg);
}

struct sync_hold *sync_hold_of(const struct sync_object *o, sim_tid tid, bool shared); /* or NULL */
/* One more acquire or release of the lock by the thread: its new depth. */
uint32_t sync_nest(struct sync_objects *t, struct sync_object *o, sim_tid tid, bool shared);
uint32_t sync_unnest(struct sync_object *o, sim_tid tid, bool shared);

#endif
