/* write.h - the writing end of the ring: what the runtime in native programs and the agent in a JVM
 * both do. It runs inside foreign programs: it allocates nothing, and calls libc alone. */
#ifndef LARDSIM_CAPTURE_WRITE_H
#define LARDSIM_CAPTURE_WRITE_H

#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "capture/ring.h"

/* The kinds of trace/trace.h, whose codes never change; that header is the simulator's. */
enum {
    REC_NOTHING = 0,
#define EV(NAME, code, ...) REC_##NAME = code,
#include "trace/event.def"
#undef EV
};

/* A new thread number. False: there are no more, and the capture ends; the reader sees the count,
 * and says so. */
static inline bool ring_thread(struct ring *r, uint16_t *number)
{
    const uint32_t n = atomic_fetch_add(&r->threads, 1);

    *number = n < RING_THREADS ? (uint16_t)n : 0;
    if (n >= RING_THREADS)
        atomic_store(&r->mode, RING_CLOSED);
    return n < RING_THREADS;
}

/* Waits until numbers below end have room, or nobody reads any more. Returns the number below which
 * there is room. A reader that was killed leaves an orphan, which goes on without it. */
static inline uint64_t ring_room(struct ring *r, uint64_t end, pid_t reader)
{
    const struct timespec nap = {.tv_nsec = 50000};

    for (unsigned tries = 1;; tries++) {
        const uint64_t room = atomic_load_explicit(&r->taken, memory_order_acquire) + RING_RECORDS;
        if (end <= room || atomic_load_explicit(&r->mode, memory_order_relaxed) == RING_CLOSED)
            return room;
        if (tries < 64)
            __builtin_ia32_pause();
        else
            nanosleep(&nap, NULL);
        if (tries % 1024 == 0 && getppid() != reader)
            atomic_store(&r->mode, RING_CLOSED);
    }
}

/* rec.thread and rec.number are not looked at. gap: at most RING_GAP_MOST. A ring that nobody reads
 * may be overwritten. */
static inline void ring_fill(struct ring *r, uint64_t number, uint16_t thread, uint64_t gap,
                             struct ring_record rec)
{
    struct ring_record *to = ring_at(r, number);

    /* Numbers are locked operations, which wait for stores: a line that is about to be written is
     * fetched in time. */
    __asm__ volatile("prefetchw %0" : : "m"(*ring_at(r, number + RING_AHEAD)));
    to->addr = rec.addr;
    to->site = rec.site | gap << RING_SITE_BITS;
    to->size = rec.size;
    to->thread = thread;
    to->kind = rec.kind;
    to->order = rec.order;
    atomic_store_explicit(&to->number, number + 1, memory_order_release);
}

/* Nanoseconds since the capture began. */
static inline uint64_t ring_time(const struct ring *r)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - r->began;
}

/* The method that opens the window is entered and left. True: this call is one that opens it. */
static inline bool ring_enter(struct ring *r)
{
    uint8_t outside = RING_OUTSIDE;

    if (atomic_fetch_add(&r->entered, 1) < r->warm_up)
        return false;
    atomic_fetch_add(&r->inside, 1);
    atomic_compare_exchange_strong(&r->mode, &outside, RING_ALL);
    return true;
}

static inline void ring_leave(struct ring *r)
{
    uint8_t all = RING_ALL;

    if (atomic_fetch_sub(&r->inside, 1) == 1)
        atomic_compare_exchange_strong(&r->mode, &all, RING_OUTSIDE);
}

#endif
