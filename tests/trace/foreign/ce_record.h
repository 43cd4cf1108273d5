/* ce_record.h - for tests: the types of the records of the CE simulator's event stream, and how
 * their numbers are written. docs/foreign-formats.md has the layout. */
#ifndef LARDSIM_CE_RECORD_H
#define LARDSIM_CE_RECORD_H

#include <stdint.h>

enum { RECORD = 43 }; /* bytes */
enum {
    ROI_BEGIN = 1,
    ROI_END = 2,
    START = 3,
    FINISH = 4,
    READ = 7,
    WRITE = 8,
    BLOCK = 11,
    ACQUIRE = 12,
    RELEASE = 13,
    JOIN = 14,
    SPAWN = 15,
    ATOMIC_READ = 18,
    ATOMIC_WRITE = 19,
    LOCK_READ = 20,
    LOCK_WRITE = 21,
    UNLOCK_WRITE = 22,
    FIRST = 23, /* a region begins: the semantics of a record */
    LAST = 24   /* it ends */
};

/* Big-endian. */
static inline void put(uint8_t *to, uint64_t v, unsigned bytes)
{
    while (bytes--) {
        to[bytes] = (uint8_t)v;
        v >>= 8;
    }
}

#endif
