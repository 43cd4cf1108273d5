/* access.h - an access in hand, between radish/access.c, which goes through its history
 * lines and writes down what they cost, and radish/check.c, which decides on one of them. */
#ifndef LARDSIM_RADISH_ACCESS_H
#define LARDSIM_RADISH_ACCESS_H

#include "policy/radish/radish.h"

struct line_access { /* what is decided of one history line of the access */
    uint64_t line;   /* of data; and which of its history lines: */
    unsigned kind;
    bool fill;            /* it comes on chip, */
    bool empty;           /* and the hardware knows that the manager has nothing */
    struct hline *stored; /* after the same line of another thread was stored; NULL: none was */
    granule_set had;      /* of which the manager had something then */
    granule_set soft;     /* that the manager has to check */
    bool queued;          /* by the spare core, as number `id` in the queue */
    uint64_t id;
    bool asks, arrives; /* other cores' entries: by a question, or with what was sent anyway */
    uint64_t ask[2];    /* these cores */
    unsigned ask_bytes; /* that each answers with */
    bool store;         /* the entries change */
    sim_cycle drained;  /* checks that had to be over first */
    granule_set write_ordered, all_ordered; /* that the manager has; of a line that it has filled */
};

struct radish_access {
    struct radish *r;
    const struct event *ev;
    const struct vclock *clock; /* of its thread */
    unsigned core;
    uint32_t actor;
    uint64_t time; /* the thread's own */
    uint8_t op;
    bool write;
    bool asked;             /* the home has asked other cores for the data: entries come along */
    uint64_t asked_line;    /* the latest line for which the check has asked, plus 1 */
    struct flushed flushed; /* what left so that it could go on */
    struct hline *own;      /* of the line in hand, */
    sim_addr at;            /* and its first granule; virtual */
    size_t gathered;        /* in radish.past */
    unsigned account;       /* where its costs go */
};

/* Checks the line in hand. The permission is not enough for these granules: races are reported,
 * others' permissions and entries go. True: the own entries change. */
bool check_granules(struct radish_access *a, struct line_access *s, granule_set need);
/* Granules of these where something that was gathered on chip is not ordered before the access. */
granule_set check_unordered(struct radish_access *a, granule_set set);
void check_void(struct radish_access *a, granule_set set); /* a write: what the manager has, goes */
bool check_record(struct radish_access *a, granule_set set); /* true: as above */

/* radish/neighbours.c: of a line that the manager has just filled; and of the granules beside those
 * of a check. True: as above. */
void neighbours_filled(struct radish_access *a, struct line_access *s);
bool neighbours_answered(struct radish_access *a, const struct line_access *s, granule_set rest);

#endif
