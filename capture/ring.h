/* ring.h - how the accesses of a program under capture reach lardsim: a ring of records in memory
 * that both share.
 *
 * Numbers are the total order. A thread takes the next number, then fills the record of that
 * number; whoever reads takes the records in order of their numbers, so nothing is merged, and a
 * thread that stands still holds up at most what comes after its own number. A thread that has
 * filled the ring waits until it is read: memory is bounded, and nothing is left out. */
#ifndef LARDSIM_CAPTURE_RING_H
#define LARDSIM_CAPTURE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_VARIABLE "LARDSIM_CAPTURE" /* in the environment: the descriptor of the ring */

enum { RING_VERSION = 3, RING_LOG = 17, RING_RECORDS = 1 << RING_LOG };
/* Neighbours in number lie in different cache lines, as they are often of different threads: in
 * rows that begin a line further than a power of two, so that they are in different sets of a
 * cache. */
enum { RING_APART_LOG = 4, RING_APART = 1 << RING_APART_LOG };
enum { RING_ROW = (RING_RECORDS >> RING_APART_LOG) + 2 }; /* records */
enum { RING_AHEAD = 64 }; /* records from one that is written to one that is fetched meanwhile */
enum { RING_ARRAY = 1 << 4, RING_FINAL = 1 << 5, RING_ORDER = RING_ARRAY - 1 };
enum { RING_MODULES = 64, RING_PATH = 1024, RING_THREADS = UINT16_MAX };
enum { RING_SITE_BITS = 48, RING_GAP_MOST = UINT16_MAX };
enum { RING_BYTES = 65536 }; /* of an access, at most: a range of more is several accesses */
enum { RING_EVERY = 4096 }; /* events of a thread from one mark of time to the next */

/* Records that are no events; beside them kinds are those of trace/event.def. */
enum {
    RING_NAMED = 254, /* size: a thread; addr of this and of a second record: what it is called now,
                         up to 16 bytes */
    RING_GAP = 255    /* addr: belongs to the gap of the thread's next event */
};

struct ring_record {
    _Atomic uint64_t number; /* one more than the record's; stored last */
    uint64_t addr;           /* or what else the kind names: another thread, a lock */
    uint64_t site;           /* an instruction's address, the one after it; 0: none. In the upper
                                bits, from RING_SITE_BITS on: the gap before the event. Of a second
                                record: the kind's bytes, or round */
    uint32_t size;           /* of an access */
    uint16_t thread;
    uint8_t kind;  /* enum ev_kind; 0: a second record, or nothing */
    uint8_t order; /* enum ev_order; RING_ARRAY, RING_FINAL */
};
_Static_assert(sizeof(struct ring_record) == 32, "two records fill a cache line");

enum ring_mode {
    RING_ALL,     /* everything is recorded */
    RING_OUTSIDE, /* of the window: everything but plain accesses */
    RING_CLOSED   /* nobody reads any more: the program goes on alone */
};

/* What was loaded where, so that sites get names. */
struct ring_module {
    uint64_t base, low, high; /* base: what its own addresses are relative to */
    char path[RING_PATH];
};

struct ring {
    _Atomic uint32_t version; /* 0: no program has come yet */
    _Atomic uint32_t modules;
    _Atomic uint32_t threads;             /* thread numbers that were given out */
    _Atomic uint8_t mode;                 /* enum ring_mode */
    uint64_t began;                       /* by CLOCK_MONOTONIC, in nanoseconds */
    char method[RING_PATH];               /* that opens the window; "": none does */
    uint64_t warm_up;                     /* calls of it that do not yet */
    _Atomic uint64_t entered;             /* calls of it so far */
    _Atomic uint32_t inside;              /* of those that opened it and go on */
    _Alignas(128) _Atomic uint64_t next;  /* the number that is given out next */
    _Alignas(128) _Atomic uint64_t taken; /* records below it were read */
    _Alignas(128) struct ring_module module[RING_MODULES];
    _Alignas(128) struct ring_record record[RING_APART * RING_ROW];
};

static inline struct ring_record *ring_at(struct ring *r, uint64_t number)
{
    const uint64_t n = number & (RING_RECORDS - 1);

    return &r->record[(n & (RING_APART - 1)) * RING_ROW + (n >> RING_APART_LOG)];
}

#endif
