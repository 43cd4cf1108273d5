/* view.h - what a policy looks at (LARD 5.2), and the granules in which it does. */
#ifndef LARDSIM_VIEW_H
#define LARDSIM_VIEW_H

#include <stdint.h>

enum view_bit {
    VIEW_ALL_MEMORY = 1,
    VIEW_ALL_SYNC = 2,
    VIEW_NO_CLEAR = 4,
    VIEW_NO_COPY = 8,
    VIEW_NO_THREAD = 16
};
struct view_info {
    const char *name, *help;
    unsigned bits;
};
extern const struct view_info view_info[]; /* a NULL name ends it */

enum { GRANULE_FIELD = 0 }; /* else 1, 2, 4, 8 */

/* The bits of a set of views, given as a mask of indices into view_info. */
unsigned view_bits(uint32_t set);
/* The flags any of which keeps an access from being checked. */
unsigned view_skips(unsigned view);

#endif
