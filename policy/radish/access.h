/* access.h - an access in hand, between radish/access.c, which goes through its history
 * lines and pays, and radish/check.c, which decides on one of them. */
#ifndef LARDSIM_RADISH_ACCESS_H
#define LARDSIM_RADISH_ACCESS_H

#include "policy/radish/radish.h"

struct step { /* what one history line of the access costs, once all is decided */
    sim_addr at;
    uint64_t line, ask[2], id;
    struct hline *stored; /* the same line, until now another thread's; NULL: none */
    granule_set had, soft;
    granule_set write_ordered, all_ordered; /* that the manager has; of a line that it has filled */
    sim_cycle drained;                      /* checks that had to be over first */
    unsigned kind, bytes, ask_bytes;
    bool store, fill, asks, arrives, queued;
};

struct plan {
    struct step *step; /* owns */
    size_t n, cap;
};

struct access {
    struct access *later; /* of the same core, decided after it and not yet paid for */
    struct radish *r;
    const struct event *ev;
    const struct vclock *clock;
    struct flushed flushed;
    struct plan plan;
    unsigned core;
    uint32_t actor;
    uint64_t time;
    uint8_t op, level; /* level: who answered for the data */
    bool write, asked;
    bool lowered; /* the runtime has to do with it, too: */
    struct event lowered_event;
    struct hline *own; /* of the line in hand */
    sim_addr at;       /* virtual, of its first granule */
    size_t gathered;
    sim_cycle start, data; /* when its cost begins; when the data was there */
};

static inline uint8_t access_op(const struct event *ev)
{
    const unsigned class = (event_writes(ev) ? PLAIN_WRITE : PLAIN_READ) |
                           (ev->flags & EVF_ORDER_MASK ? ATOMIC_READ : 0u);

    return (uint8_t)(class << SWM_OP_KIND_BITS | ev->kind);
}

/* Of the line in hand. The permission is not enough for these granules: races are reported, others'
 * permissions and entries go. True: the own entries change. */
bool check_granules(struct access *a, struct step *s, granule_set need);
/* Granules of these where something that was gathered on chip is not ordered before the access. */
granule_set check_unordered(struct access *a, granule_set set);
void check_void(struct access *a, granule_set set);   /* a write: what the manager has, goes */
bool check_record(struct access *a, granule_set set); /* true: as above */

/* radish/rest.c: of a line that the manager has just filled; and of the granules beside those of a
 * check. True: as above. */
void check_filled(struct access *a, struct step *s);
bool check_rest(struct access *a, const struct step *s, granule_set rest);

#endif
