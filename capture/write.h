/* write.h - the writing end of the ring: what the runtime in native programs and the agent in a JVM
 * both do. It runs inside foreign programs: it allocates nothing, and calls libc alone. */
#ifndef LARDSIM_CAPTURE_WRITE_H
#define LARDSIM_CAPTURE_WRITE_H

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/ring.h"

/* The kinds of trace/trace.h, whose codes never change; that header is the simulator's. */
enum {
#define EV(NAME, code, ...) REC_##NAME = code,
#include "trace/event.def"
#undef EV
};

/* A thread's end of the ring. */
struct ring_writer {
    struct ring *ring;
    struct ring_lane *lane; /* NULL: none yet */
    uint64_t room;          /* slots below it have room */
    uint64_t stamp;         /* its last record's stamp */
    int32_t left;           /* events up to the next tick */
    uint32_t ticks;         /* up to the next mark of time */
    uint64_t nap;           /* nanoseconds that it will have to wait for room, presumably */
    uint16_t thread;        /* its number */
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

/* ---- slots ---------------------------------------------------------------------------------- */

static inline void ring_number(struct ring_writer *w);
static __attribute__((unused)) bool ring_enter_lane(struct ring_writer *w, struct ring *r,
                                                    uint16_t thread);

/* The thread goes on in another lane: in this one lies a record that was interrupted, or left for
 * good by a jump out of the handler, and behind it no room is given back. */
static inline void ring_change_lane(struct ring_writer *w)
{
    const struct ring_writer was = *w;

    ring_enter_lane(w, was.ring, was.thread);
    ring_number(w); /* later records come after all in the other lane */
    w->left = was.left;
    w->ticks = was.ticks;
}

/* The place of a record. A handler of a signal may come at any time, and give its thread another
 * lane, so a record keeps to the lane in which it began. */
struct ring_place {
    struct ring_lane *lane;
    uint64_t at;
};

/* Reserves n slots in one instruction, as a handler of a signal may come at any time. */
static inline struct ring_place ring_add(const struct ring_writer *w, uint64_t n)
{
    struct ring_place p = {w->lane, n};

    __asm__ volatile("xaddq %0, %1" : "+r"(p.at), "+m"(*(uint64_t *)&p.lane->reserved) : : "cc");
    return p;
}

/* Returns how long to sleep until `more` slots are read, if `read` were in as many nanoseconds. A
 * sleep costs as much as thousands of records, so few that are long are best. */
static inline uint64_t ring_nap(uint64_t nanoseconds, uint64_t read, uint64_t more)
{
    const uint64_t nap = nanoseconds * more / (read ? read : 1);

    return nap < 100000 ? 100000 : nap > 4000000 ? 4000000 : nap;
}

/* Waits until n slots from there on have room, or nobody reads any more. Returns the ones that
 * have: the thread may have gone on in another lane. Where the reader was killed the program goes
 * on without it. Once it waits it does so for most of the lane. */
static __attribute__((noinline, unused)) struct ring_place
ring_wait(struct ring_writer *w, struct ring_place p, uint64_t n)
{
    const int was = errno;
    uint64_t began = 0, slept = 0;

    for (unsigned tries = 0;; tries++) {
        const uint64_t taken = atomic_load_explicit(&p.lane->taken, memory_order_acquire),
                       first = atomic_load_explicit(&ring_at(p.lane, taken)->last,
                                                    memory_order_relaxed),
                       wanted = p.at + n - RING_SLOTS + (tries ? RING_SLOTS / 4 * 3 : 0);
        if ((int64_t)(wanted - taken) <= 0 ||
            atomic_load_explicit(&w->ring->mode, memory_order_relaxed) == RING_CLOSED) {
            if (slept)
                w->nap = ring_nap(slept, taken - began, RING_SLOTS / 4 * 3);
            if (p.lane == w->lane)
                w->room = taken + RING_SLOTS;
            break;
        }
        if (tries && taken < p.at && (first ^ ring_lap(taken)) >> RING_LAP_SHIFT) {
            if (p.lane == w->lane)
                ring_change_lane(w);
            p = ring_add(w, n);
            tries = 0;
            slept = 0;
            continue;
        }
        began = slept ? began : taken;
        const uint64_t sleep = slept ? ring_nap(slept, taken - began, wanted - taken) : w->nap;
        slept += sleep;
        const struct timespec nap = {.tv_nsec = (long)sleep};
        syscall(SYS_nanosleep, &nap, NULL); /* libc's is a place where threads are cancelled */
        if (ring_is_left(w->ring))
            atomic_store(&w->ring->mode, RING_CLOSED);
    }
    errno = was;
    return p;
}

/* Fills the first of n slots; it is for this record alone. */
static inline struct ring_place ring_reserve(struct ring_writer *w, uint64_t n)
{
    const struct ring_place p = ring_add(w, n);

    return __builtin_expect(p.at + n > w->room, 0) ? ring_wait(w, p, n) : p;
}

/* Fills the i-th of its slots. A lane that nobody reads may be overwritten. */
static inline void ring_fill(struct ring_place p, uint64_t i, uint64_t first, uint64_t last)
{
    struct ring_slot *to = ring_at(p.lane, p.at + i);

    to->first = first;
    atomic_store_explicit(&to->last, last | ring_lap(p.at + i), memory_order_release);
}

static inline void ring_one(struct ring_writer *w, uint8_t kind, uint64_t value)
{
    ring_fill(ring_reserve(w, 1), 0, value,
              (uint64_t)kind << RING_KIND_SHIFT | (uint64_t)RING_ONE << RING_FORM_SHIFT);
}

/* ---- lanes ---------------------------------------------------------------------------------- */

/* False: more threads live than there are lanes, and the capture ends as with ring_thread. */
static __attribute__((noinline, unused)) bool ring_enter_lane(struct ring_writer *w, struct ring *r,
                                                              uint16_t thread)
{
    uint64_t top = atomic_load(&r->free);
    uint32_t i;

    while ((uint32_t)top &&
           !atomic_compare_exchange_weak(
               &r->free, &top, (top >> 32) << 32 | atomic_load(&r->lane[(uint32_t)top - 1].below)))
        continue;
    i = (uint32_t)top ? (uint32_t)top - 1 : atomic_fetch_add(&r->lanes, 1);
    if (i >= RING_LANES) {
        atomic_store(&r->mode, RING_CLOSED);
        i = 0;
    }
    *w = (struct ring_writer){.ring = r,
                              .lane = &r->lane[i],
                              .stamp = UINT64_MAX,
                              .nap = 500000,
                              .left = RING_TICK_EVERY,
                              .ticks = RING_EVERY / RING_TICK_EVERY - 1,
                              .thread = thread};
    ring_one(w, RING_OWNER, thread);
    return atomic_load(&r->mode) != RING_CLOSED;
}

/* Ends the thread's writing. Its records are still read; the next thread goes on behind them. */
static inline void ring_leave_lane(struct ring_writer *w)
{
    struct ring *r = w->ring;
    uint64_t top = atomic_load(&r->free);

    do
        atomic_store(&w->lane->below, (uint32_t)top);
    while (!atomic_compare_exchange_weak(
        &r->free, &top, ((top >> 32) + 1) << 32 | (uint64_t)(w->lane - r->lane + 1)));
    w->lane = NULL;
}

/* ---- records -------------------------------------------------------------------------------- */

/* Returns the nanoseconds since the capture began. */
static inline uint64_t ring_time(const struct ring *r)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - r->began;
}

static inline void ring_look(struct ring_writer *w)
{
    const uint64_t now = atomic_load_explicit(&w->ring->clock, memory_order_acquire);

    if (__builtin_expect(now != w->stamp, 0)) {
        ring_one(w, RING_STAMP, now);
        w->stamp = now;
    }
}

/* Returns the gap for the record; one that is too large is written before it. */
static inline uint64_t ring_gap(struct ring_writer *w, uint64_t gap)
{
    if (__builtin_expect(gap <= RING_GAP_MOST, 1))
        return gap;
    ring_one(w, RING_GAP, gap);
    return 0;
}

/* Writes a record of two or three slots. The number is taken last, so that a thread is hardly ever
 * stopped between it and the record. */
static inline void ring_wide(struct ring_writer *w, enum ring_form form,
                             const struct ring_record *rec)
{
    const uint64_t gap = ring_gap(w, rec->gap), slots = rec->more || rec->from ? 3 : 2;
    const uint64_t rest = (uint64_t)RING_REST << RING_KIND_SHIFT,
                   below = (UINT64_C(1) << RING_BITS) - 1;
    uint64_t number = 0;

    if (form == RING_WIDE)
        ring_look(w);
    const struct ring_place p = ring_reserve(w, slots);
    ring_fill(p, 1, rec->addr, rest | (uint64_t)rec->order << 32 | rec->size);
    if (slots == 3)
        ring_fill(p, 2, rec->from, rest | (rec->more & below));
    if (form == RING_NUMBERED)
        number = atomic_fetch_add(&w->ring->clock, 1);
    ring_fill(p, 0, number | gap << RING_BITS,
              (rec->site & below) | (uint64_t)rec->kind << RING_KIND_SHIFT |
                  slots << RING_SIZE_SHIFT | (uint64_t)form << RING_FORM_SHIFT);
    if (form == RING_NUMBERED)
        w->stamp = number + 1;
}

/* Takes a number for nothing else, and writes it. */
static inline void ring_number(struct ring_writer *w)
{
    const struct ring_place p = ring_reserve(w, 1);
    const uint64_t number = atomic_fetch_add(&w->ring->clock, 1);

    ring_fill(p, 0, number,
              (uint64_t)RING_TICK << RING_KIND_SHIFT | (uint64_t)RING_ONE << RING_FORM_SHIFT);
    w->stamp = number + 1;
}

/* Writes a number, which tells how the thread's accesses lie among those of others; now and then a
 * mark of time before it. */
static inline void ring_tick(struct ring_writer *w)
{
    const uint32_t ticks = w->ticks;

    w->ticks = ticks ? ticks - 1 : RING_EVERY / RING_TICK_EVERY - 1;
    if (ticks == 0)
        ring_wide(w, RING_WIDE,
                  &(struct ring_record){.addr = ring_time(w->ring), .kind = REC_TIME});
    ring_number(w);
}

/* Counts an event; called once for each. */
static inline void ring_count(struct ring_writer *w)
{
    int32_t left = w->left; /* a signal's handler may count meanwhile */

    if (__builtin_expect(left <= 0, 0)) {
        ring_tick(w);
        left = RING_TICK_EVERY;
    }
    w->left = left - 1;
}

/* Writes a record that orders threads, with a number. */
static inline void ring_event(struct ring_writer *w, const struct ring_record *rec)
{
    /* A mark of time must not come between an event and the one that has to follow it. */
    if (w->left > 0 || (rec->kind != REC_WAIT_EXIT && rec->kind != REC_BARRIER_DEPART))
        ring_count(w);
    ring_wide(w, RING_NUMBERED, rec);
}

/* Returns log2 of a small access's size, or 7. */
static inline unsigned ring_size(uint32_t size)
{
    return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : size == 16 ? 4 : 7;
}

static inline uint64_t ring_small(const struct ring_record *rec, unsigned size)
{
    return rec->site | (uint64_t)rec->kind << RING_KIND_SHIFT | (uint64_t)size << RING_SIZE_SHIFT |
           (uint64_t)(rec->order >> 4) << RING_FLAG_SHIFT | (uint64_t)RING_SMALL << RING_FORM_SHIFT;
}

/* Writes a plain access of any form. */
static inline void ring_access(struct ring_writer *w, const struct ring_record *rec)
{
    const unsigned size = ring_size(rec->size);

    ring_count(w);
    if ((rec->addr | rec->site) >> RING_BITS || rec->gap > RING_GAP_MOST || size == 7) {
        ring_wide(w, RING_WIDE, rec);
        return;
    }
    ring_look(w);
    ring_fill(ring_reserve(w, 1), 0, rec->addr | rec->gap << RING_BITS, ring_small(rec, size));
}

/* True if a plain access of the usual form can be written at once. */
static inline __attribute__((always_inline)) bool ring_is_usual(const struct ring_writer *w,
                                                                uint64_t addr, uint64_t gap)
{
    return __builtin_expect(w->left > 0 && !(addr >> RING_BITS) && gap <= RING_GAP_MOST &&
                                atomic_load_explicit(&w->ring->clock, memory_order_acquire) ==
                                    w->stamp,
                            1);
}

static __attribute__((noinline, unused)) void
ring_wait_fill(struct ring_writer *w, struct ring_place p, uint64_t first, uint64_t last)
{
    ring_fill(ring_wait(w, p, 1), 0, first, last);
}

/* Writes an access of the usual form: the site is small, and the size one of ring_size. */
static inline __attribute__((always_inline)) void ring_access_usual(struct ring_writer *w,
                                                                    struct ring_record rec)
{
    const uint64_t first = rec.addr | rec.gap << RING_BITS,
                   last = ring_small(&rec, ring_size(rec.size));

    w->left--;
    const struct ring_place p = ring_add(w, 1);
    if (__builtin_expect(p.at >= w->room, 0)) {
        ring_wait_fill(w, p, first, last);
        return;
    }
    /* Fetches a line that will be written soon. */
    __asm__ volatile("prefetchw %0" : : "m"(*ring_at(p.lane, p.at + RING_AHEAD)));
    ring_fill(p, 0, first, last);
}

/* ---- the method that opens the window -------------------------------------------------------- */

/* Notes that n calls less of the method that opens the window go on. One word says how many and
 * what is recorded, as else a call could begin unseen while another one ends. */
static inline void ring_calls_less(struct ring *r, uint32_t n)
{
    uint32_t mode = atomic_load(&r->mode);

    while (mode != RING_CLOSED && !atomic_compare_exchange_weak(&r->mode, &mode, mode + n))
        continue;
}

/* Enters the method that opens the window. True: this call opens it. */
static inline bool ring_enter(struct ring *r)
{
    if (atomic_fetch_add(&r->entered, 1) < r->warm_up)
        return false;
    ring_calls_less(r, UINT32_MAX);
    return true;
}

static inline void ring_leave(struct ring *r)
{
    ring_calls_less(r, 1);
}

#endif
