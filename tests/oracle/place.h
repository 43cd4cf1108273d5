/* place.h - whatever has an address, for the oracle: locks, volatiles, barriers, classes,
 * atomic and commit clocks, histories. A clear or a copy treats all of them alike. */
#ifndef LARDSIM_TESTS_ORACLE_PLACE_H
#define LARDSIM_TESTS_ORACLE_PLACE_H

#include "trace/trace.h"

struct list { /* event numbers */
    size_t *at, n, cap;
};

enum space { LOCK, VOLATILE, BARRIER, CLASS, ATOMIC, COMMIT, HISTORY };

struct hold { /* how deep a thread is in a lock */
    sim_tid tid;
    bool shared;
    unsigned depth;
};

struct entry { /* of a history */
    uint64_t actor;
    size_t event, access;
    bool writes, atomic;
    bool transaction; /* and its commit counts */
};

struct place {
    enum space space;
    uint64_t addr, round;
    struct list exclusive, shared; /* who published here */
    struct hold *hold;
    size_t holds, holds_cap;
    struct entry *entry;
    size_t entries, entries_cap;
    bool marked; /* had a race in this life */
};

struct places {
    struct place *at;
    size_t n, cap;
    size_t *index, slots; /* hash: 1 + the place's number; 0: free */
};

/* The place of that name, empty when it is new. Valid until the next call. */
struct place *place_at(struct places *ps, enum space space, uint64_t addr, uint64_t round);
/* histories: whether the region's histories are cleared, copied, too. */
void places_clear(struct places *ps, uint64_t addr, uint64_t bytes, bool histories);
void places_copy(struct places *ps, uint64_t dst, uint64_t src, uint64_t bytes, bool histories);
void places_free(struct places *ps);

void *oracle_need(void *p); /* aborts on NULL */
/* The array with room for one more than its n elements. */
void *oracle_room(void *array, size_t n, size_t *cap, size_t bytes);
void list_add(struct list *l, size_t event);

#endif
