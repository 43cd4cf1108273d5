/* sequences.h - the release sequences of a location that is a C11 atomic: who heads them, and with
 * which clock (C11 5.1.2.4; docs/events.md).
 *
 * The location's own clock, `all`, is the join of all that an acquire takes there. Nobody needs to
 * know more until a store comes: it ends what other threads have given, and leaves the sequences
 * that its own thread heads. So a head has a clock of its own as soon as it is not the only one. */
#ifndef LARDSIM_SEQUENCES_H
#define LARDSIM_SEQUENCES_H

#include "base/vclock.h"

struct sequence_head { /* the releases of a thread whose sequences have not ended */
    uint32_t thread;
    struct vclock clock;
};
struct sequences {
    uint32_t sole; /* 1 + the thread that has given all that is in `all`; 0: see head */
    uint32_t n, cap;
    struct sequence_head *head; /* owns */
};

/* Each of these comes before `all` is joined with what the thread gives. */

/* The thread releases: it heads a sequence. clock: its own. */
void sequences_begin(struct sequences *s, uint32_t thread, const struct vclock *clock,
                     const struct vclock *all, struct budget *b);
/* Somebody releases without heading a sequence (what is no atomic of C11). */
void sequences_merge(struct sequences *s, const struct vclock *all, struct budget *b);
/* The thread stores: `all` becomes what its own sequences have. True: it was more. */
bool sequences_end(struct sequences *s, uint32_t thread, struct vclock *all, struct budget *b);

struct sequences *sequences_new(struct budget *b);
struct sequences *sequences_copy(const struct sequences *s, struct budget *b); /* NULL gives NULL */
void sequences_free(struct sequences *s, struct budget *b);                    /* may be NULL */

#endif
