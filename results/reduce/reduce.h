/* reduce.h - the parts of `lardsim trace reduce`: a trace of which a part is kept, what must stay
 * so, and the search. */
#ifndef LARDSIM_V_REDUCE_H
#define LARDSIM_V_REDUCE_H

#include "results/job/progress.h"
#include "results/job/given.h"

/* ---- a part of a trace: reduce/part.c ------------------------------------------------------- */

/* A trace is its events by index, from 0. Of each a bit says whether it is kept. As long as many
 * are kept they are read from the source each time; a part that is small enough is held in memory,
 * and then its events have new indices. */
enum { PART_HELD = 1 << 19 }; /* events that are held in memory at most */
struct trace_part {
    const char *spec;
    struct lardsim_source *source; /* owns; the first reading: names, and what it says of itself */
    struct lardsim_event *ev;      /* owns; by index; NULL: it is read */
    uint64_t *mate; /* owns; index to 1 + that of the other half of a pair; 0: none */
    uint64_t n;     /* indices */
    uint64_t *kept; /* owns; bits */
    uint64_t count; /* how many are set */
};
static inline bool bit_is(const uint64_t *bits, uint64_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}
static inline void bit_clear(uint64_t *bits, uint64_t i)
{
    bits[i / 64] &= ~(UINT64_C(1) << i % 64);
}
uint64_t *bits_copy(const uint64_t *bits, uint64_t n); /* n bits; owned by the caller */
uint64_t bits_count(const uint64_t *bits, uint64_t n);

int part_open(struct trace_part *p, const char *spec, struct err *e); /* to be closed either way */
void part_close(struct trace_part *p);
/* Calls fn for each event whose bit is set, until it returns false. 0 or -1. */
typedef bool part_fn(void *arg, const struct lardsim_event *ev, uint64_t index);
int part_each(const struct trace_part *p, const uint64_t *which, part_fn *fn, void *arg,
              struct err *e);
/* Clears the bits of events that break a stream rule without those that are missing, until none
 * does. *dropped: how many; NULL: is not asked for. */
int part_repair(const struct trace_part *p, uint64_t *which, uint64_t *dropped, struct err *e);
/* Keeps these events from now on; takes the bits. Holds the events in memory when they have become
 * few. */
int part_keep(struct trace_part *p, uint64_t *which, struct err *e);

/* ---- what must stay so: reduce/keep.c ------------------------------------------------------- */

enum keep_kind { KEEP_RACE, KEEP_DIFFER, KEEP_EXIT };
struct aim {
    enum keep_kind kind;
    const struct given *given; /* of the runs */
    char *text;                /* owns; as it was given */
    char *word[3];             /* own; "race" ID, "differ" P Q, "exit" N */
    /* For race: both sites as text; if neither is known, the address. */
    char *site[2];
    uint64_t addr;
    bool unsited;
    /* For differ: by events, or by addresses; and which of the two policies reports what the other
     * does not. */
    bool by_event;
    unsigned ways;
    /* For exit: */
    int code;
    char *folder, *file; /* own; where a candidate is written */
};
/* Reads the text of --keep. To be freed either way. */
int keep_open(struct aim *k, const struct given *g, const char *text, struct err *e);
/* Looks at the whole trace for the property that is to be kept. -1: it is not there, and why. */
int keep_begin(struct aim *k, const struct trace_part *p, struct err *e);
/* 1: the part has the property, 0: it has not; -1. *enough: the index of the event up to which it
 * has; untouched if the end of the trace is needed. */
int keep_holds(struct aim *k, const struct trace_part *p, const uint64_t *which, uint64_t *enough,
               struct err *e);
/* Returns "race 406bc8f5ad08e3f8 (at A.java:1 and B.java:2)"; the caller owns it. */
char *keep_says(const struct aim *k);
void keep_free(struct aim *k);

/* ---- the search: reduce/search.c ------------------------------------------------------------ */

struct search {
    struct trace_part *part;
    struct aim *keep;
    struct progress *progress;
    uint64_t tests, most; /* tests so far, and at most */
    bool stopped;         /* it had no more tests */
    struct err *err;
};
int search_run(struct search *s); /* 0 or -1 and *err */

#endif
