/* live.h - a lardsim run in which gem5 runs the program: who acts, which event an access or an
 * operation of the guest is, and how long the detector lets a core stand still. C over lardsim.h
 * alone; it knows nothing of gem5's classes, so tests/gem5 runs it without gem5. */
#ifndef LARD_LIVE_H
#define LARD_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct live;

struct live_config {                            /* NULL or 0: not said */
    const char *preset, *file, *const *setting; /* as lardsim run -c and --set take them */
    size_t settings;
    const char *const
        *debug; /* filters of what is shown on standard error, as --debug takes them */
    size_t debugs;
    const char *output, *record; /* the results folder; a trace of all events */
    uint64_t period;             /* ticks of a cycle */
    uint64_t ticks;              /* ticks of a second */
    unsigned cores;
    bool delays; /* cores wait for the cycles that the detector adds; else they are only counted */
    bool marked; /* only accesses with the mark are the program's */
};
struct live_host { /* answers that only the program's simulator has; all must be there */
    void *arg;
    bool (*mapped)(void *arg, int context, uint64_t addr);
    bool (*read)(void *arg, int context, uint64_t addr, void *to, size_t bytes);
    uint64_t (*stack)(void *arg, int context); /* the stack pointer */
    /* A name for an address of the program's code; 0 bytes: it has none. */
    size_t (*symbol)(void *arg, uint64_t addr, char *to, size_t size);
};

struct live_place { /* the actor of an event, its place and time */
    uint64_t pid;   /* the guest thread's, while it lives; contexts are used again */
    uint64_t pc, tick;
    uint64_t instructions; /* instructions that this core has run so far; 0: not known */
    int context;
    unsigned core;
};

enum live_access_is { /* kinds of an access */
                      LIVE_READ = 1,
                      LIVE_WRITE = 2, /* with LIVE_READ: one atomic operation */
                      LIVE_MARKED = 4,
                      LIVE_ON_STACK =
                          8, /* addressed by way of the stack's segment, as rsp and rbp do */
};
struct live_access {
    struct live_place at; /* the tick at which it was done */
    uint64_t addr, took;  /* ticks from its start to then */
    uint32_t size;
    unsigned is; /* enum live_access_is */
};

/* Never returns NULL: a fault in the configuration is the run's error. Both arguments outlive the
 * call. */
struct live *live_new(const struct live_config *c, const struct live_host *host);
void live_free(struct live *l);
/* A port may hold back one call: it comes before the run's next event. */
void live_hold(struct live *l, void (*fn)(void *arg), void *arg);
/* NULL: no error. An error stays, and the calls below then do nothing but return -1. */
const char *live_error(const struct live *l);

/* Tells the core's CPU from this tick on, by gem5's class of it (gem5::TimingSimpleCPU): before the
 * program begins, and whenever it has changed. Accesses of some CPUs can't be heard at their port.
 * While one core has such a CPU, or one that is not known here, the run only counts: calls that
 * tell what the program does tell lardsim nothing, and the cores wait for nothing. If time has
 * passed until all cores are heard again, unheard accesses may order later ones, so the run counts
 * on to its end. Returns a sentence for the user when this changes what is heard, or the CPU
 * because of which nothing is; it is valid until the next call. NULL: nothing to say. */
const char *live_cpu(struct live *l, unsigned core, const char *model, uint64_t tick);
uint64_t live_unheard(const struct live *l); /* accesses and operations that were only counted */

/* The program begins: its first thread. Whatever is wrong with the configuration shows here. */
int live_begin(struct live *l, const struct live_place *at);
int live_access(struct live *l, const struct live_access *a);
/* The pseudo-op; arg: rdi, rsi, rdx, rcx, r8, r9. *answer is for rdx; as it was, if there is none.
 */
int live_op(struct live *l, const struct live_place *at, const uint64_t arg[6], uint64_t *answer);
int live_clone(struct live *l, const struct live_place *at, uint64_t child); /* has made it */
int live_exit(struct live *l, const struct live_place *at);                  /* its thread ends */
int live_roi(struct live *l, const struct live_place *at, bool begin);
int live_reset(struct live *l); /* statistics of the region of interest begin again */
int live_name(struct live *l, uint64_t addr, const char *name); /* names a variable */

/* Ticks for which the core is to stand still now, for all that was added to it since the last call.
 * 0 if delays are off. */
uint64_t live_owed(struct live *l, unsigned core);

/* Gets a statistic at any time. -1: not known now. */
int live_stat(const struct live *l, const char *name, uint64_t *value);
const char *live_policy(const struct live *l, size_t i);
uint64_t live_events(const struct live *l);
uint64_t live_added(const struct live *l, unsigned core);  /* cycles */
uint64_t live_paid(const struct live *l, unsigned core);   /* cycles that it has stood still */
uint64_t live_unpaid(const struct live *l, unsigned core); /* cycles that it still has to */

/* Writes the results, partial ones after an error. Later calls do nothing. */
int live_finish(struct live *l);

#ifdef __cplusplus
}
#endif
#endif
