/* pause.h - what a collector did in one pause, as events that can follow each other.
 *
 * In the pause all objects go at once: a new place can be another object's old one. Events follow
 * one another, so a move comes after the moves of those whose old places it takes; where that goes
 * in a circle, one object waits at a place that no program has. */
#ifndef LARDSIM_CAPTURE_PAUSE_H
#define LARDSIM_CAPTURE_PAUSE_H

#include "trace/trace.h"

struct move {
    sim_addr to, from; /* the new place, the old one */
    uint64_t bytes;
};

struct pause {
    struct move *move; /* owns */
    size_t moves, move_cap;
    struct event *rec; /* owns; the result, from pause_end on */
    size_t records, rec_cap, events;
    uint64_t aside; /* bytes of the places aside that are in use */
};

/* Forgets the pause before; the first time all of p is zero. The events are gc-begin to gc-end. */
void pause_begin(struct pause *p, sim_tid tid);
void pause_free(struct pause *p);
void pause_freed(struct pause *p, sim_tid tid, sim_addr addr, uint64_t bytes);
void pause_moved(struct pause *p, const struct move *m);
/* Puts the events in order: freed memory is cleared first, and each old place once its object has
 * gone. No two old places overlap, and no two new ones. */
void pause_end(struct pause *p, sim_tid tid);

#endif
