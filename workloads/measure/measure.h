/* measure.h - finding a workload, and measuring a run of one. */
#ifndef LARDSIM_MEASURE_H
#define LARDSIM_MEASURE_H

#include "base/base.h"
#include "base/err.h"
#include "base/json.h"
#include "base/param.h"
#include "workloads/workloads.h"

/* ---- by name: named.c ----------------------------------------------------------- */

/* An operand is NAME[,key=value...], with or without "workload:". */
const char *workload_spec(const char *operand); /* behind the prefix */

/* Calls fn for each parameter of w: its own, size, those of all. */
void workload_each_param(const struct workload *w, void (*fn)(void *arg, const struct param *p),
                         void *arg);
/* Returns the settings of a size, each parameter once: "n=100,steps=2"; the caller's. */
char *workload_size_text(const struct workload *w, size_t size);
/* The value of a parameter in text from workload_settings; NULL: there is none; the caller's. */
char *workload_setting(const char *settings, const char *name);
#define PLANTED_TEXT "planted: an input of the workload, as `lardsim workload describe` shows"
void workload_sizes_json(struct json *j, const struct workload *w);
void workload_params_json(struct json *j, const struct workload *w);

/* ---- the characteristics of a run: measure.c ------------------------------------- */

/* TRAIT(id, name, unit, help): what a run of a workload is measured by. A target (struct
 * workload_aim) goes by the name and is in the unit. */
#define TRAITS(X)                                                                                  \
    X(THREADS, "threads", "threads", "The program's threads that act.")                            \
    X(LIVE, "threads-live", "threads", "Of these, between their first event and end, at most.")    \
    X(EVENTS, "events", "events", "All events.")                                                   \
    X(ACCESSES, "accesses", "accesses", "Data accesses, the program's and the system's.")          \
    X(READS, "reads", "accesses", "Of the program.")                                               \
    X(WRITES, "writes", "accesses", "Of the program.")                                             \
    X(ATOMICS, "atomics", "accesses", "Atomic read-modify-writes of the program.")                 \
    X(READ_WRITE, "read-write-ratio", "reads a write", "Reads by writes, of the program.")         \
    X(SYSTEM, "system-accesses", "%", "The system's share of the accesses.")                       \
    X(ARRAYS, "array-accesses", "%", "The share of arrays in the program's accesses.")             \
    X(WORK, "instructions", "per access", "Of the program, by checked accesses.")                  \
    X(CHECKED, "checked-accesses", "accesses", "What a detector with a runtime system checks.")    \
    X(UNCHANGED, "no-metadata-update", "%", "Of these, repeats in a release-free region.")         \
    X(UNCHANGED_READS, "no-update-reads", "%", "Checked reads that repeat a read.")                \
    X(UNCHANGED_WRITES, "no-update-writes", "%", "Checked writes that repeat a write.")            \
    X(LOCATIONS, "locations", "locations", "Fields and elements with checked accesses.")           \
    X(ARRAY_LOCATIONS, "array-locations", "%", "Of these, array elements.")                        \
    X(SHARED_LOCATIONS, "shared-locations", "%", "Of these, accessed by several threads.")         \
    X(SHARED, "shared-accesses", "%", "Checked accesses to such locations.")                       \
    X(FOREIGN, "foreign-accesses", "%", "Checked accesses to what another thread accessed last.")  \
    X(STATIC_READS, "static-reads", "in 1000 reads", "Of static fields, of the program's reads.")  \
    X(SYNCS, "sync-events", "events", "Synchronisation, the program's and the system's.")          \
    X(LOCKS, "lock-acquisitions", "events", "Of locks by the program.")                            \
    X(LOCK_RATE, "locks-in-1000", "acquisitions", "In 1000 checked accesses.")                     \
    X(RELEASES, "releases", "events", "The program's that end a release-free region.")             \
    X(REGION, "accesses-per-region", "accesses", "Checked accesses by releases.")                  \
    X(VOLATILES, "volatile-releases", "%", "Of these releases, writes of volatiles.")              \
    X(HEAP, "heap-events", "events", "Allocations, clears, copies, collections.")                  \
    X(ALLOCS, "allocations", "objects", "Objects and arrays.")                                     \
    X(ALLOCATED, "allocated", "bytes", "By allocations.")                                          \
    X(ALLOC_RATE, "allocated-in-1000", "bytes",                                                    \
      "In 1000 accesses of the program in its region of interest.")                                \
    X(SURVIVAL, "survival", "%",                                                                   \
      "Of the bytes allocated between two collections, what outlives the second.")                 \
    X(FIRST_MISSES, "l1-misses", "in 1000 instructions",                                           \
      "Of the program's threads in its region of interest, each with a cache of 32 KiB.")          \
    X(LAST_MISSES, "llc-misses", "in 1000 instructions",                                           \
      "Of these, in one cache of 32 MiB that all share.")                                          \
    X(CLEARS, "clears", "events", "Regions reclaimed, or left by a move.")                         \
    X(COPIES, "copies", "events", "Moves of objects.")                                             \
    X(COLLECTIONS, "collections", "events", "Stop-the-world collections.")                         \
    X(RACY, "racy-accesses", "accesses", "As FastTrack counts.")                                   \
    X(RACE_SITES, "race-sites", "sites", "Of these.")                                              \
    X(RACE_PAIRS, "race-pairs", "pairs", "Of sites that raced, unordered, as FastTrack counts.")   \
    X(SHADOWS, "array-shadow-fraction", "of 1", "What SlimState keeps for an array element.")
enum trait {
#define X(id, ...) TRAIT_##id,
    TRAITS(X)
#undef X
        TRAIT_COUNT
};
struct trait_info {
    const char *name, *unit, *help;
};
extern const struct trait_info trait_info[TRAIT_COUNT];

struct measure { /* value / of; of 0: there is none */
    uint64_t value, of;
};
/* Reads it twice: once to count, once under FastTrack for its races. A source without a region of
 * interest has one that is the whole. */
int source_measure(const char *source, struct measure to[TRAIT_COUNT], struct err *e);

/* ---- misses in caches: misses.c ------------------------------------------------------
 */

struct misses_count {
    uint64_t first, last; /* lines that the first level did not have; of these, nor the last */
};
struct misses;
struct misses *misses_new(void);
void misses_free(struct misses *m);
void misses_access(struct misses *m, const struct event *ev, bool counts); /* or only fills */
void misses_forget(struct misses *m); /* forgets the counts; lines stay */
const struct misses_count *misses_count(const struct misses *m);

/* ---- repeats in a region: again.c ----------------------------------------------- */

/* A repeat: a read (write) of a location by a thread that has read it (was the last to write it) in
 * the same release-free region. */
struct again_count {
    uint64_t reads, reads_again, writes, writes_again;
    uint64_t locations, elements;
    uint64_t shared_locations, shared; /* locations of several threads; accesses to them */
    uint64_t foreign;                  /* accesses to what another thread accessed last */
};
struct again;
struct again *again_new(unsigned granularity); /* granularity: the smallest access */
void again_free(struct again *p);
void again_access(struct again *p, const struct event *ev); /* one that is checked */
void again_release(struct again *p, sim_tid tid);           /* its region ends */
void again_move(struct again *p, const struct event *ev);   /* a clear or copy */
const struct again_count *again_count(const struct again *p);

#endif
