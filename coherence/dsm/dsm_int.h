/* dsm_int.h - what the files of coherence/dsm/ share.
 *
 *   dsm.c       made and freed; accesses and faults
 *   interval.c  intervals, notices, what an acquire brings
 *   diff.c      twins and diffs
 *   sync.c      locks, barriers, other objects
 *   collect.c   garbage collection of consistency data
 *   message.c   messages in time; what is owed
 *   params.c    parameters, statistics */
#ifndef LARDSIM_DSM_INT_H
#define LARDSIM_DSM_INT_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/calendar.h"
#include "base/map.h"
#include "coherence/dsm/dsm.h"

struct dsm_params { /* section dsm */
    uint64_t host, latency, bandwidth, local, send, receive, copy, header;
    uint64_t trap, protect, twin, diff, diff_change, apply, notice, interval;
    uint64_t word, collect, force;
    uint32_t home;
};
enum { HOME_FIRST, HOME_INTERLEAVE };

/* Sizes of what messages carry: a page's number, a vector's entry, an interval's process and index,
 * a run of a diff (offset and length). All are our encoding: nobody prints one. */
enum { BYTES_PAGE = 4, BYTES_ENTRY = 4, BYTES_INTERVAL = 8, BYTES_RUN = 8 };

/* Cycles, from the parameters. */
struct dsm_times {
    sim_cycle latency, local, send, receive, trap, protect, notice, interval;
    sim_cycle twin, diff; /* of a page */
};

struct dsm_page;
struct ival { /* an interval of a process that is over, and wrote something */
    uint32_t process, index;
    uint64_t sum;           /* the sum of its clock: grows along happens-before */
    uint64_t read, more;    /* notices that a detector adds: pages read, more pages written */
    size_t n;               /* pages */
    struct dsm_page **page; /* owns; those with a notice */
    uint32_t clock[];       /* by process */
};

struct diff {
    uint64_t bytes;    /* in a message */
    uint64_t changed;  /* bytes of words */
    uint64_t *written; /* owns; a bit a word */
    uint32_t *word;    /* owns; with contents: the page when the diff was made */
};
struct notice { /* this page was written in that interval */
    struct ival *of;
    struct diff *diff; /* owns; NULL: not made yet, its writer has a twin */
};

struct copy { /* a process's, of a page */
    enum dsm_state state;
    uint32_t twin;      /* WRITE: the interval in which the twin was made */
    uint64_t *written;  /* owns; WRITE: a bit a word since then */
    uint32_t *word;     /* owns; with contents */
    uint32_t applied[]; /* by process: of intervals up to there all writes are in it */
};
struct dsm_page {
    unsigned holder;       /* has a copy to give to those that have none */
    struct notice *notice; /* owns; in the order in which they were made */
    size_t notices, cap;
    struct copy *copy[]; /* own; by process; NULL: NONE */
};

struct path { /* a chain of actions in time, and what its time went into */
    sim_cycle at;
    uint64_t part[DSM_PARTS];
};

struct barrier;
struct owed {
    sim_cycle at, cycles;
};
enum { NEAR = 64 };
struct process {
    uint32_t clock[DSM_PROCESSES]; /* intervals that it knows; its own: those that are over */
    struct ival **closed;          /* own, by index; those without notices are left out */
    size_t n, cap;
    struct dsm_page **dirty; /* owns; twinned in the interval that is open */
    size_t dirties, dirty_cap;
    uint64_t kept; /* bytes of consistency data: its own intervals, diffs that it has */
    struct owed *owed;
    size_t owes, owed_cap;
    sim_cycle stood, stood_to; /* it stood still last */
    enum dsm_message told;     /* has told of its last interval that ended; DSM_MSGS: none has */
    struct barrier *at;        /* ARRIVE: there */
    struct calendar handler;   /* serves others one at a time */
    struct near_copy {
        uint64_t number; /* + 1; 0: none */
        struct copy *copy;
    } near[NEAR];
};
struct host {
    struct calendar out, in; /* its link */
};

/* Locks, barriers and other objects begin with their clocks, which they own. */
struct lock {
    uint32_t *clock;          /* at the release; NULL: never released */
    unsigned manager, holder; /* holder: who released it last; at first the manager */
    bool shared;              /* somebody has had it shared: its clock is the manager's */
    sim_cycle free;           /* it was released then */
};
enum { MASTER = 0 };
struct barrier {
    uint32_t *clock;      /* of all arrivals */
    uint64_t waiting;     /* a bit a process: they have arrived, and the master has not answered */
    struct path handled;  /* the arrival that the master took in last */
    struct path depart[]; /* by process */
};
struct dsm_object {
    uint32_t *clock;
    unsigned manager; /* the process that keeps its clock */
    sim_cycle there;  /* the manager has got the latest release */
};

struct load { /* the content of a message */
    uint64_t bytes[DSM_CONTENTS];
};
struct mail { /* a message that has arrived, and is to be received */
    struct path there;
    uint64_t bytes; /* of the message */
};

struct dsm_stats {
    uint64_t messages, bytes, message[DSM_MSGS], message_bytes[DSM_MSGS], content[DSM_CONTENTS];
    uint64_t local; /* messages inside a host */
    uint64_t read_faults, write_faults, fetched, twins, diffs, applied, protects, invalidations;
    uint64_t intervals, notices; /* intervals that are over; their notices */
    uint64_t acquires, remote, forwarded, rounds, collections, forced;
    uint64_t wait[DSM_WAITS], part[DSM_WAITS][DSM_PARTS], part_all[DSM_PARTS];
    uint64_t served, hidden; /* cycles for others; of these while the process stood still */
    uint64_t kept_peak;      /* the most consistency data that a process had */
};

struct dsm {
    struct dsm_params params;
    struct dsm_times time;
    unsigned n;                      /* processes */
    unsigned shift;                  /* log2 of a page's bytes */
    uint64_t page, words, mhz;       /* bytes and words of a page */
    bool contents;                   /* words have values: twins and diffs carry them */
    unsigned actor;                  /* the process whose call it is */
    sim_cycle floor;                 /* the latest start of a call */
    struct process *process;         /* owns; by number */
    struct host *host;               /* owns; by number */
    struct map pages;                /* number to struct dsm_page * */
    struct map locks;                /* address to struct lock * */
    struct map barriers;             /* address to struct barrier * */
    struct map objects[DSM_OBJECTS]; /* id to struct dsm_object * */
    struct dsm_page **touched;       /* owns; all pages, in order of first touch */
    size_t touches, touched_cap;
    uint64_t managed; /* locks and objects so far */
    struct budget budget;
    struct dsm_stats st;
};

static inline sim_cycle ns_cycles(const struct dsm *d, uint64_t ns)
{
    return (ns * d->mhz + 500) / 1000;
}
static inline void path_spend(struct path *p, enum dsm_part part, sim_cycle cycles)
{
    p->at += cycles;
    p->part[part] += cycles;
}
/* Lets the path go on at that cycle, if that is later. */
static inline void path_reach(struct path *p, enum dsm_part part, sim_cycle at)
{
    if (at > p->at)
        path_spend(p, part, at - p->at);
}

/* message.c */
struct path path_begin(struct dsm *d, unsigned process, sim_cycle now);
/* Ends the actor's waiting, and counts it. */
sim_cycle path_end(struct dsm *d, enum dsm_wait what, sim_cycle since, const struct path *p);
/* Lets a process work for that long: the actor at once, another when it is free, and owes it. */
void process_work(struct dsm *d, struct path *p, unsigned process, enum dsm_part part,
                  sim_cycle cycles);
/* Sends a message. p is the sender's path, and then the receiver's. With message_post the sender
 * goes on, and mail->there is the receiver's path, which accepts the message. */
void message_send(struct dsm *d, struct path *p, unsigned from, unsigned to, enum dsm_message kind,
                  struct load load);
struct mail message_post(struct dsm *d, struct path *p, unsigned from, unsigned to,
                         enum dsm_message kind, struct load load);
void message_accept(struct dsm *d, struct path *p, unsigned to, uint64_t bytes);
/* As message_send, for data that go along with a message that is counted already: message_ride adds
 * no byte to it, message_send_on so many. */
void message_ride(struct dsm *d, struct path *p, unsigned from, unsigned to);
void message_send_on(struct dsm *d, struct path *p, unsigned from, unsigned to, uint64_t bytes);
void process_owe(struct dsm *d, unsigned process, sim_cycle at, sim_cycle cycles);
/* Adds bytes to a message that has been counted. */
void message_add(struct dsm *d, enum dsm_message kind, struct load load);

/* interval.c */
void ival_close(struct dsm *d, unsigned process);
struct load ival_load(const struct dsm *d, const uint32_t *from, const uint32_t *to);
/* The process hears of intervals up to there: pages become invalid. */
void ival_learn(struct dsm *d, struct path *p, unsigned process, const uint32_t *to);
void clock_join(const struct dsm *d, uint32_t *into, const uint32_t *from);
struct ival *ival_find(const struct dsm *d, unsigned process, uint32_t index);
struct ival *ival_new(struct dsm *d, unsigned process);
void ival_drop_all(struct dsm *d);
void ival_kept(struct dsm *d, unsigned process, uint64_t bytes); /* consistency data, more */

/* diff.c */
uint64_t *bits_new(struct dsm *d);
void bits_free(struct dsm *d, uint64_t *bits);
void twin_make(struct dsm *d, struct path *p, unsigned process, struct dsm_page *page);
void twin_drop(struct dsm *d, struct copy *c);
/* The process's latest notice of the page gets its diff, and the twin goes. */
void diff_make(struct dsm *d, struct path *p, unsigned process, struct dsm_page *page);
/* Brings the copy up to date with all writes that its process knows of. */
void page_update(struct dsm *d, struct path *p, unsigned process, struct dsm_page *page);
void diff_free(struct dsm *d, struct diff *x);
/* The first notice that the copy lacks and its process knows, from *i on; NULL: none. */
struct notice *notice_lacking(const struct dsm *d, unsigned process, const struct dsm_page *page,
                              size_t *i);

/* dsm.c */
struct dsm_page *page_of(struct dsm *d, uint64_t number);
struct copy *copy_new(struct dsm *d, struct dsm_page *page, unsigned process);
void copy_free(struct dsm *d, struct dsm_page *page, unsigned process);

/* collect.c */
bool collect_due(const struct dsm *d);
/* Collects when the processes of the set `there` have heard of all up to the clock at the ends of
 * their paths. The paths become the cycles at which they go on. The other processes are stopped for
 * as long as it takes. */
void collect_at(struct dsm *d, struct path *path, uint64_t there, unsigned master,
                const uint32_t *clock);
/* Collects at a process's release or acquire, as without a barrier its data are too many. */
void collect_forced(struct dsm *d, struct path *p, unsigned process);

/* params.c */
int dsm_params_read(struct dsm *d, const struct dsm_env *env, struct err *e);
void dsm_declare(struct dsm *d, struct stats_group *g);

#endif
