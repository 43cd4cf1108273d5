/* scene.h - the run that an oracle judges, and what all oracles read of it alike: who acts, what a
 * view sees and heeds, where an access lies, how deep a lock is held, what memory does. */
#ifndef LARDSIM_TESTS_SCENE_H
#define LARDSIM_TESTS_SCENE_H

#include "tests/oracle/place.h"

struct scene_thread {
    bool acted, mapped; /* mapped: it has named its kernel thread */
    uint64_t kernel;
    struct list txn; /* the open transaction's accesses */
};

struct scene {
    unsigned view; /* ORACLE_... of oracle.h */
    uint64_t granule;
    const struct event **ev; /* by event number */
    size_t events;
    struct scene_thread *thread;
    size_t threads;
    struct places places;
};

void scene_open(struct scene *s, const struct event *rec, size_t records, unsigned view,
                uint64_t granule);
void scene_close(struct scene *s);

/* The thread acts. True: for the first time. */
bool scene_enter(struct scene *s, const struct event *ev);
uint64_t scene_actor(const struct scene *s, sim_tid tid);
bool scene_sees(const struct scene *s, const struct event *access);
bool scene_heeds(const struct scene *s, const struct event *sync);
/* Where an access begins in its i-th location. False: it has no so many. */
bool scene_location(const struct scene *s, const struct event *ev, uint64_t i, uint64_t *addr);
unsigned *scene_depth(struct scene *s, const struct event *ev, bool shared);
/* A clear or a copy. -1: it cuts through a granule. */
int scene_heap_event(struct scene *s, const struct event *ev);

/* The access is one of an open transaction, and waits for its commit. */
bool scene_waits(struct scene *s, size_t event);
/* An access that event e (itself, or the commit of its transaction) makes happen. */
struct entry scene_entry(const struct scene *s, size_t e, size_t access);
/* Two accesses of a location, if nothing keeps them apart. */
bool scene_conflict(const struct entry *a, const struct entry *b);

#endif
