/* rate.h - chances of a twin that add up to a share: what is missed at one time is owed at the
 * next. For twins/twin.c; the random bits are its own. */
#ifndef LARDSIM_TWIN_RATE_H
#define LARDSIM_TWIN_RATE_H

#include <stdbool.h>
#include <stdint.h>

#define ONE (INT64_C(1) << 32)
struct rate {
    int64_t owed, part; /* in parts of ONE */
};

static inline bool draw(struct rate *r, uint32_t bits)
{
    r->owed += r->part;
    if (r->owed <= (int64_t)bits)
        return false;
    r->owed -= ONE;
    return true;
}
static inline void took_place(struct rate *r, bool it_did)
{
    r->owed += r->part - (it_did ? ONE : 0);
}
/* Returns the rate part / of, never more than all. */
static struct rate rate_of(uint64_t part, uint64_t of)
{
    const double share = of ? (double)part / (double)of : 0;

    return (struct rate){0, share >= 1 ? ONE : (int64_t)(share * (double)ONE)};
}

#endif
