/* ring.h - how the accesses of a program under capture reach lardsim: records in memory that both
 * share.
 *
 * Each thread writes into a lane of its own, a ring of slots, and whoever reads merges the lanes.
 * What orders threads takes a number of a shared counter, the clock; those numbers are the order of
 * the trace. A plain access takes none, as a locked addition alone costs more than it may. It only
 * looks at the clock: its stamp is the number that is next then. It comes before the record of that
 * number, and after those below it.
 *
 * Why that is right. Let x be an access of thread A before its record R, y one of thread B after
 * its record Q, and R < Q. Within a lane records keep their order, and numbers are taken in the
 * order of the trace, so x is before R, R before Q, and Q before y, whatever stamps say: they only
 * say more. Let x happen before a record R of another thread, without an edge that is seen. The
 * clock never goes back, so x's stamp is at most R. Let it happen after Q, and look at the clock
 * after that: its stamp is above Q.
 *
 * A reader sees a record late, when its thread was stopped between the look at the clock and the
 * record. Nobody waits for that thread: it comes where the reader is then. That is right, too. The
 * reader takes only numbers that were given out before it has last looked at the lane, and the
 * access is made after its record is there, so after that look. (Java's reads are recorded after
 * they were made. One may come after numbers that were taken in between. What it is ordered before
 * is recorded by its thread later still.)
 *
 * A record may also come late after its number was taken: a signal comes in between, whose handler
 * waits for other threads, or leaves for good. The others can't wait for that. So the reader gives
 * it some time, goes on, and takes the record where it is when it comes. No edge is lost. What
 * gives is recorded before it gives. What takes is recorded when it has taken, before its thread
 * goes on. An atomic and its record are made under one lock. So where one record is ordered before
 * another, it was there before the other one took its number. The reader takes a number only if it
 * was given out before the reader last looked at all lanes. Whatever is ordered before it is found
 * by then.
 *
 * A thread that has filled its lane waits until it is read: memory is bounded, and nothing is left
 * out. */
#ifndef LARDSIM_CAPTURE_RING_H
#define LARDSIM_CAPTURE_RING_H

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_VARIABLE "LARDSIM_CAPTURE" /* in the environment: the descriptor of the ring */

enum { RING_VERSION = 5, RING_LANES = 4096, RING_LOG = 15, RING_SLOTS = 1 << RING_LOG };
#define RING_NO_ROOM UINT32_MAX /* as a version: the program can't have so much memory */
/* Lanes begin a few cache lines further than a power of two, so that they are in different sets of
 * a cache. */
enum { RING_APART = 20 };      /* slots */
enum { RING_AHEAD = 64 };      /* slots from one that is written to one that is fetched meanwhile */
enum { RING_TICK_EVERY = 64 }; /* plain accesses of a thread from one number to the next */
enum { RING_EVERY = 4096 };    /* events of a thread from one mark of time to the next */
enum { RING_ARRAY = 1 << 4, RING_FINAL = 1 << 5, RING_ORDER = RING_ARRAY - 1 };
enum { RING_MODULES = 64, RING_PATH = 1024, RING_THREADS = UINT16_MAX };
enum { RING_BITS = 48, RING_GAP_MOST = UINT16_MAX };
enum { RING_BYTES = 65536 }; /* the most of an access: a larger range is several accesses */

/* Kinds of records that are no events; other kinds are those of trace/event.def. */
enum {
    RING_STAMP = 250, /* value: the stamp of what follows in the lane */
    RING_OWNER = 251, /* value: the thread whose records follow */
    RING_TICK = 252,  /* value: a number; that is all */
    RING_REST = 253,  /* a record's second or third slot */
    RING_NAMED = 254, /* size: a thread; addr, from: what it is called now, up to 16 bytes */
    RING_GAP = 255    /* value: belongs to the gap of the thread's next event */
};

/* A record has one to three slots.
 *   RING_ONE       value; kind
 *   RING_SMALL     addr and, from RING_BITS on, gap; site, kind, size. A plain access
 *   RING_WIDE      gap; site, kind, slots: an access of an odd size or place, a mark
 *   RING_NUMBERED  number and gap; the same
 * of the latter two the second has addr; size, order, and the third from; more. Its own slot is
 * filled last. */
enum ring_form { RING_ONE, RING_SMALL, RING_WIDE, RING_NUMBERED };
enum {
    RING_KIND_SHIFT = 48, /* in `last`: enum ev_kind or one of the above, 8 bits */
    RING_SIZE_SHIFT = 56, /* log2 of a small access's size, or how many slots: 3 bits */
    RING_FLAG_SHIFT = 59, /* RING_ARRAY and RING_FINAL of a small access: 2 bits */
    RING_FORM_SHIFT = 61, /* 2 bits */
    RING_LAP_SHIFT = 63   /* 1 in the first lap, then 0, and so on: the slot is filled */
};

struct ring_slot {
    uint64_t first;
    _Atomic uint64_t last; /* stored last */
};

/* The content of a record, however it is written. */
struct ring_record {
    uint64_t addr; /* or what else the kind names: another thread, a lock */
    uint64_t site; /* an instruction's address, the one after it; 0: none */
    uint64_t from; /* a copy's source, an array's elements */
    uint64_t more; /* the bytes of a region, or a barrier's round */
    uint64_t gap;  /* instructions since the thread's last event */
    uint32_t size; /* of an access, or of an array's element */
    uint8_t kind;  /* enum ev_kind, or one of the above */
    uint8_t order; /* enum ev_order; RING_ARRAY, RING_FINAL */
};

enum ring_mode {
    RING_ALL,               /* everything is recorded; as below RING_OUTSIDE */
    RING_OUTSIDE = 1 << 30, /* outside of the window: everything but plain accesses */
    RING_CLOSED             /* nobody reads any more: the program goes on alone */
};

/* A module of the program and the addresses at which it was loaded, so that sites get names. */
struct ring_module {
    uint64_t base, low, high; /* base: what its own addresses are relative to */
    char path[RING_PATH];     /* its file */
};

struct ring_lane {
    _Alignas(128) _Atomic uint64_t reserved; /* slots that its threads have begun */
    _Atomic uint32_t below;               /* while it is free: the next free one, and 1; 0: none */
    _Alignas(128) _Atomic uint64_t taken; /* slots below it were read */
    _Alignas(128) struct ring_slot slot[RING_SLOTS + RING_APART];
};

struct ring {
    _Atomic uint32_t version;   /* 0: no program has come yet */
    _Atomic uint32_t processes; /* that came: the first one is captured, the others stay out */
    pthread_mutex_t reader;     /* robust: lardsim has it as long as it lives */
    _Atomic uint32_t modules;   /* entries of module */
    _Atomic uint32_t threads;   /* thread numbers that were given out */
    _Atomic uint32_t mode;  /* enum ring_mode, less calls of the method that opened it and go on */
    uint64_t began;         /* by CLOCK_MONOTONIC, in nanoseconds */
    char method[RING_PATH]; /* that opens the window; "": none does */
    uint64_t warm_up;       /* calls of it that do not yet */
    _Atomic uint64_t entered;             /* calls of it so far */
    _Alignas(128) _Atomic uint64_t clock; /* the number that is given out next */
    _Alignas(128) _Atomic uint32_t lanes; /* that ever had a thread: the first so many */
    _Atomic uint64_t
        free; /* the lane that was given back last, and 1; above it, how often one was */
    _Alignas(128) struct ring_module module[RING_MODULES];
    struct ring_lane lane[RING_LANES];
};

static inline struct ring_slot *ring_at(struct ring_lane *lane, uint64_t slot)
{
    return &lane->slot[slot & (RING_SLOTS - 1)];
}

/* True: nobody will read any more. libc keeps a lock's owner in its first word, in which the kernel
 * marks that the owner has died. */
static inline bool ring_is_left(const struct ring *r)
{
    return __atomic_load_n((const uint32_t *)&r->reader, __ATOMIC_RELAXED) & FUTEX_OWNER_DIED;
}

/* Returns the lap bit that the slot's `last` has once the slot of this number is filled. */
static inline uint64_t ring_lap(uint64_t slot)
{
    return ~(slot << (RING_LAP_SHIFT - RING_LOG)) & UINT64_C(1) << RING_LAP_SHIFT;
}

#endif
