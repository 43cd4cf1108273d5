/* vclock.h - vector clocks.
 *
 * A clock counts, for each thread, the outgoing edges it has made, from 1; entry 0 means "never"
 * and is what every entry beyond n stands for. u's access at u's own time c happens before t
 * exactly when c <= entry u of t's clock. */
#ifndef LARDSIM_VCLOCK_H
#define LARDSIM_VCLOCK_H

#include <assert.h>

#include "base/base.h"
#include "base/budget.h"

struct vclock {
    uint64_t *at; /* owns; NULL while cap is 0 */
    uint32_t n;   /* entries that may differ from 0 */
    uint32_t cap;
};

static inline uint64_t vclock_get(const struct vclock *c, uint32_t thread)
{
    return thread < c->n ? c->at[thread] : 0;
}

void vclock_extend(struct vclock *c, uint32_t n, struct budget *b); /* to n entries at the least */
static inline void vclock_set(struct vclock *c, uint32_t thread, uint64_t time, struct budget *b)
{
    if (UNLIKELY(thread >= c->n))
        vclock_extend(c, thread + 1, b);
    c->at[thread] = time;
}
/* Entry-wise maximum. True: it is `from`. (False may be said where entries of 0 make a difference.)
 */
bool vclock_join(struct vclock *into, const struct vclock *from, struct budget *b);
void vclock_copy(struct vclock *into, const struct vclock *from, struct budget *b);
void vclock_free(struct vclock *c, struct budget *b); /* leaves the clock "never" */

/* An epoch is one thread's entry, packed: the thread in the top 17 bits, its time below. 0: none.
 * (65,536 language threads, and as many kernel threads where a view goes by those.) At one outgoing
 * edge a nanosecond 47 bits last for 39 hours. */
typedef uint64_t epoch;
enum { EPOCH_TIME_BITS = 47, EPOCH_THREADS = 1 << (64 - EPOCH_TIME_BITS) };

static inline epoch epoch_make(uint32_t thread, uint64_t time)
{
    assert(thread < EPOCH_THREADS && time > 0 && time >> EPOCH_TIME_BITS == 0);
    return (uint64_t)thread << EPOCH_TIME_BITS | time;
}
static inline uint32_t epoch_thread(epoch e)
{
    return (uint32_t)(e >> EPOCH_TIME_BITS);
}
static inline uint64_t epoch_time(epoch e)
{
    return e & ((UINT64_C(1) << EPOCH_TIME_BITS) - 1);
}
/* The access at e happens before the current moment of the owner of c. */
static inline bool epoch_before(epoch e, const struct vclock *c)
{
    return epoch_time(e) <= vclock_get(c, epoch_thread(e));
}

#endif
