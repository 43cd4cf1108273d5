/* record.h - inside a program under capture: how its threads write records. Nothing here allocates,
 * as malloc itself is recorded. */
#ifndef LARDSIM_CAPTURE_RECORD_H
#define LARDSIM_CAPTURE_RECORD_H

#include <signal.h>

#include "capture/write.h"

#define SITE()       ((uint64_t)(uintptr_t)__builtin_return_address(0))
#define ADDR(p)      ((uint64_t)(uintptr_t)(p))
#define UNLIKELY_(x) __builtin_expect(!!(x), 0)

/* A fence that acquires does so from what the thread has loaded before: from so many places. */
enum { LOADED = 16 };

/* A thread's state in the runtime. Declared initial-exec, as the runtime is part of the program
 * itself. */
struct self {
    struct ring_writer to;
    bool known;      /* it has a number, and a lane */
    bool quiet;      /* inside the runtime, or past its end: nothing is recorded */
    bool ended;      /* in the trace: libc still frees what it had for the thread */
    bool waits;      /* on a condition, or at a barrier: known is whether a handler has run since */
    bool locked;     /* it has one of the locks of atomics */
    bool gives;      /* it has passed a fence that releases */
    uint32_t within; /* calls of the method that opens the window */
    uint32_t loads;  /* relaxed ones so far: their places are in `loaded`, the newest last */
    struct {
        uint64_t addr;
        uint32_t size;
    } loaded[LOADED];
    struct ring_writer waiter;  /* to, while a handler has it */
    struct ring_writer handler; /* handlers' writer while the thread waits: a thread of their own */
};
#define OWN __attribute__((visibility("hidden")))
extern _Thread_local OWN struct self self __attribute__((tls_model("initial-exec")));
extern OWN struct ring *ring; /* NULL: nobody captures */
/* Instructions since the thread's last event: code that was built with lardsim-cc --gaps adds its
 * own. Seen from outside, so not a part of self. */
extern _Thread_local uint64_t lardsim_gap __attribute__((tls_model("initial-exec")));

OWN bool record_meet(void);          /* a thread's first record; false: nothing is to be recorded */
OWN uint16_t thread_new(void);       /* a number for a thread that is to be created */
OWN void thread_is(uint16_t number); /* the calling thread has been created with that number */
OWN void threads_prepare(void);      /* before the first one is created */
OWN void thread_will_end(void);      /* the calling one: that is recorded, and its lane free then */
OWN void atomics_in_child(void);     /* nobody has a lock of atomics */
OWN void barriers_in_child(void);    /* nor the one of barriers */
/* glibc's own, under names that no program takes for itself. */
extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
OWN void signals_hold(sigset_t *was);
OWN void signals_release(const sigset_t *was);
OWN void method_is(uint64_t low, uint64_t high); /* the code that opens the window */

/* Whether this is recorded: also gives the calling thread a number. least: the mode from which on
 * it is not. */
static inline bool recording(enum ring_mode least)
{
    if (UNLIKELY_(!self.known || self.quiet) && !record_meet())
        return false;
    return !UNLIKELY_(atomic_load_explicit(&self.to.ring->mode, memory_order_relaxed) >= least);
}

static inline uint64_t gap_take(void)
{
    const uint64_t gap = lardsim_gap;

    lardsim_gap = 0;
    return gap;
}

OWN void record_slowly(uint8_t kind, uint64_t addr, uint32_t size, uint64_t site);

static inline __attribute__((always_inline)) void record_access(uint8_t kind, uint64_t addr,
                                                                uint32_t size, uint64_t site)
{
    const uint64_t gap = lardsim_gap;

    if (UNLIKELY_(!self.known || self.quiet ||
                  atomic_load_explicit(&self.to.ring->mode, memory_order_relaxed) >= RING_OUTSIDE ||
                  ring_size(size) == 7 || !ring_is_usual(&self.to, addr, gap))) {
        record_slowly(kind, addr, size, site);
        return;
    }
    lardsim_gap = 0;
    ring_access_usual(
        &self.to,
        (struct ring_record){.addr = addr, .site = site, .gap = gap, .size = size, .kind = kind});
}

/* Everything else orders threads: it is recorded outside of the window, too. */
OWN void record_event(struct ring_record rec);

static inline void record_atomic(uint8_t kind, uint64_t addr, uint32_t size, uint8_t order,
                                 uint64_t site)
{
    record_event((struct ring_record){
        .addr = addr, .site = site, .size = size, .kind = kind, .order = order});
}

/* Synchronisation through what lies at addr; a fork's or join's addr is the thread's number. */
static inline void record_sync(uint8_t kind, uint64_t addr, uint64_t site)
{
    record_atomic(kind, addr, 0, 0, site);
}

/* A region or a barrier's round (more), or a copy (more bytes, from `from`). */
static inline void record_more(uint8_t kind, uint64_t addr, uint64_t more, uint64_t from,
                               uint64_t site)
{
    record_event(
        (struct ring_record){.addr = addr, .site = site, .from = from, .more = more, .kind = kind});
}

#endif
