/* twin.h - what the files of the twins share: the parameters of a twin, and the races that are put
 * into it. A twin is no program: it makes accesses in the proportions that a paper has printed for
 * one. The printed numbers are in twins.def; twins/twin.c makes the accesses; twins.c gives each
 * program its name. */
#ifndef LARDSIM_TWIN_H
#define LARDSIM_TWIN_H

#include "workloads/vm/vm.h"
#include "workloads/workloads.h"

struct twin_params {
    uint64_t accesses, live;
    uint64_t reads, writes;             /* their ratio */
    uint64_t again_reads, again_writes; /* per mille */
    uint64_t region;
    uint64_t arrays, length, scatter, shared, renew; /* percent, but for length */
    uint64_t handed;                                 /* percent */
    uint64_t statics, classes;                       /* per mille; of which they are fields */
    uint64_t volatiles;                              /* percent */
    uint64_t misses, old;                            /* in a million instructions; MiB */
    uint64_t array_accesses;                         /* per mille; 0: as locations */
    uint64_t alloc;                                  /* bytes in 1000 accesses; 0: as renew says */
    uint64_t keep, locks, collections;
    uint64_t rest, touched; /* MiB; percent */
    bool whole;
    uint64_t plants, races, close, hidden, moved;
};
extern const struct param twin_rows[];
extern const char *const twin_sites[];
void twin_main(struct vm_thread *t, const void *p);

/* rest.c: as much as p->rest says, until the thread ends. */
void twin_rest(struct vm_thread *t, const struct twin_params *p, uint64_t site);

static inline uint64_t twin_races(const struct twin_params *p)
{
    return p->races ? p->races : 10 * p->plants;
}

/* ---- places: fields of records and elements of arrays ---------------------------------------- */

/* True: places here have 4 bytes, as have most fields and elements of programs if references do.
 * Else they have 8. */
static inline bool twin_narrow(struct vm_thread *t)
{
    return layouts[vm_params(t)->layout].reference == 4;
}
ALWAYS_INLINE void twin_put(struct vm_thread *t, struct vm_ref *o, bool array, bool narrow,
                            uint32_t i, int64_t value, uint64_t site)
{
    if (UNLIKELY(narrow)) {
        if (array)
            vm_store_i32(t, o, i, (int32_t)value, site);
        else
            vm_put_i32(t, o, i, (int32_t)value, site);
    } else if (array) {
        vm_store_i64(t, o, i, value, site);
    } else {
        vm_put_i64(t, o, i, value, site);
    }
}
ALWAYS_INLINE int64_t twin_get(struct vm_thread *t, struct vm_ref *o, bool array, bool narrow,
                               uint32_t i, uint64_t site)
{
    if (UNLIKELY(narrow))
        return array ? vm_load_i32(t, o, i, site) : vm_get_i32(t, o, i, site);
    return array ? vm_load_i64(t, o, i, site) : vm_get_i64(t, o, i, site);
}

/* ---- planted races: twins/plant.c ------------------------------------------------------------ */

enum { TWIN_PLANTS = 100 }; /* at the most */

/* Races are made in bursts: two threads meet beside the program, with no event; one accesses the
 * cells of a new array at first sites, then the other at second sites. Each cell is used once. */
struct twin_plants {
    const struct twin_params *p;
    struct twin_burst *burst; /* in the order in which all threads take them */
    unsigned n, members;      /* threads that take part: 0..members - 1 */
    uint64_t first[TWIN_PLANTS], second[TWIN_PLANTS]; /* sites */
};
/* Called before the threads start. With fewer than two members there are no races. */
void twin_plants_init(struct vm_thread *t, struct twin_plants *s, const struct twin_params *p,
                      unsigned members);
/* The number of the member's first burst from `from` on; s->n: there is none. */
unsigned twin_burst_next(const struct twin_plants *s, unsigned member, unsigned from);
struct twin_tally {
    uint64_t reads, writes;
    bool released; /* the thread's region has ended */
};
/* Runs the member's part of the burst, and waits for the other member's. */
struct twin_tally twin_burst_run(struct vm_thread *t, struct twin_plants *s, unsigned member,
                                 unsigned burst);

#endif
