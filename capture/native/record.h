/* record.h - inside a program under capture: how its threads write records. Nothing here allocates,
 * as malloc itself is recorded. */
#ifndef LARDSIM_CAPTURE_RECORD_H
#define LARDSIM_CAPTURE_RECORD_H

#include "capture/write.h"

#define SITE()       ((uint64_t)(uintptr_t)__builtin_return_address(0))
#define ADDR(p)      ((uint64_t)(uintptr_t)(p))
#define LIKELY_(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY_(x) __builtin_expect(!!(x), 0)

/* A fence that acquires does so from what the thread has loaded before: from so many places. */
enum { LOADED = 16 };

/* Of a thread. initial-exec: the runtime is part of the program itself. */
struct self {
    uint64_t room;   /* numbers below it have room in the ring */
    uint16_t number; /* thread number */
    bool known;      /* it has a number */
    bool quiet;      /* inside the runtime, or past its end: nothing is recorded */
    bool locked;     /* it has one of the locks of atomics */
    bool gives;      /* it has passed a fence that releases */
    uint32_t left;   /* events up to the next mark of time */
    uint32_t within; /* calls of the method that opens the window */
    uint32_t loads;  /* relaxed ones so far: their places are in `loaded`, the newest last */
    struct {
        uint64_t addr;
        uint32_t size;
    } loaded[LOADED];
};
#define OWN __attribute__((visibility("hidden")))
extern _Thread_local OWN struct self self __attribute__((tls_model("initial-exec")));
extern OWN struct ring *ring; /* NULL: nobody captures */
/* Instructions since the thread's last event: code that was built with lardsim-cc --gaps adds its
 * own. Seen from outside, so not a part of self. */
extern _Thread_local uint64_t lardsim_gap __attribute__((tls_model("initial-exec")));

OWN bool record_meet(void);       /* a thread's first record; false: nothing is to be recorded */
OWN void ring_wait(uint64_t end); /* until numbers below end have room, or nobody reads any more */
OWN uint16_t thread_new(void);    /* a number for a thread that is to be created */
OWN void method_is(uint64_t low, uint64_t high); /* the code that opens the window */
OWN void record_aside(void); /* a mark of time, a gap that is too large for a record */

/* Whether this is recorded: also gives the calling thread a number. least: the mode from which on
 * it is not. */
static inline bool recording(enum ring_mode least)
{
    if (UNLIKELY_(!self.known || self.quiet) && !record_meet())
        return false;
    return LIKELY_(atomic_load_explicit(&ring->mode, memory_order_relaxed) < least);
}

/* The number of the first of n records. */
static inline uint64_t record_take(unsigned n)
{
    if (UNLIKELY_(self.left-- == 0 || lardsim_gap > RING_GAP_MOST))
        record_aside();
    const uint64_t number = atomic_fetch_add(&ring->next, n);

    if (UNLIKELY_(number + n > self.room))
        ring_wait(number + n);
    return number;
}

static inline void record_fill(uint64_t number, struct ring_record rec)
{
    ring_fill(ring, number, self.number, lardsim_gap, rec);
    lardsim_gap = 0;
}

static inline void record_access(uint8_t kind, uint64_t addr, uint32_t size, uint64_t site)
{
    if (LIKELY_(recording(RING_OUTSIDE)))
        record_fill(record_take(1),
                    (struct ring_record){.addr = addr, .site = site, .size = size, .kind = kind});
}

/* An atomic access orders threads: it is recorded outside of the window, too. */
static inline void record_atomic(uint8_t kind, uint64_t addr, uint32_t size, uint8_t order,
                                 uint64_t site)
{
    if (recording(RING_CLOSED))
        record_fill(record_take(1),
                    (struct ring_record){
                        .addr = addr, .site = site, .size = size, .kind = kind, .order = order});
}

/* Synchronisation through what lies at addr; a fork's or join's addr is the thread's number. */
static inline void record_sync(uint8_t kind, uint64_t addr, uint64_t site)
{
    record_atomic(kind, addr, 0, 0, site);
}

/* Two records: a region or a barrier's round (more), or a copy (more bytes, from `from`). */
static inline void record_more(uint8_t kind, uint64_t addr, uint64_t more, uint64_t from,
                               uint64_t site)
{
    if (!recording(RING_CLOSED))
        return;
    const uint64_t n = record_take(2);
    record_fill(n, (struct ring_record){.addr = addr, .site = site, .kind = kind});
    record_fill(n + 1, (struct ring_record){.addr = from, .site = more});
}

#endif
