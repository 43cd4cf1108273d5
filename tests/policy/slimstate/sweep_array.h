/* sweep_array.h - the arrays of sweep.h's programs: their shapes, and what a runtime does with
 * them. Elements begin behind a header of any size; what is allocated ends where a unit ends. */
#ifndef LARDSIM_TESTS_SWEEP_ARRAY_H
#define LARDSIM_TESTS_SWEEP_ARRAY_H

#include "base/rng.h"
#include "tests/frame/verdict.h"

enum { ARRAY_UNIT = 16 }; /* of heap events */

enum pattern { WHOLE, BLOCK, CYCLIC, PREFIX, SUFFIX, STRIDE, BACKWARDS, SINGLE, PATTERNS };
enum guard { PHASE, LOCK }; /* what keeps an array from races */

struct array {
    sim_addr home[2], at; /* where it may be, where it is now: in home[in] */
    unsigned in;
    uint64_t n, size, header, bytes;
    enum guard guard;
    enum pattern pattern; /* of this phase: BLOCK, CYCLIC: written so; WHOLE: by the owner */
    unsigned owner, wide; /* CYCLIC goes on by so many rounds of the workers */
    bool read_only;
};

struct arrays { /* where their events go */
    struct rng *r;
    struct stream *s;
    bool allocs;
};

static inline sim_addr array_element(const struct array *a, uint64_t i)
{
    return a->at + a->header + i * a->size;
}

/* The i-th, at one of its two homes. */
void array_make(const struct arrays *x, sim_tid tid, struct array *a, unsigned i);
/* To its other home; a few units up; cleared and allocated once more, perhaps in another shape. */
void array_move(const struct arrays *x, sim_tid tid, struct array *a);
void array_slide(const struct arrays *x, sim_tid tid, struct array *a);
void array_renew(const struct arrays *x, sim_tid tid, struct array *a);
/* A part dies, and becomes another object, or an array within. */
void array_cut(const struct arrays *x, sim_tid tid, const struct array *a);

#endif
