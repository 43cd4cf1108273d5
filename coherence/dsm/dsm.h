/* dsm.h - software distributed shared memory: processes with private memories and page tables, a
 * network between their hosts, and multiple-writer lazy release consistency. docs/dsm.md has the
 * protocol state by state.
 *
 * A call is an action of one process, which starts at a cycle; it returns the cycle at which the
 * process may go on. It changes what all processes have at once, in the order of the calls; only
 * messages and software take time. What others have to do for it is owed by them (dsm_owed).
 * Calls come in order of their start. */
#ifndef LARDSIM_DSM_H
#define LARDSIM_DSM_H

#include "base/addr.h"
#include "base/budget.h"
#include "base/param.h"
#include "base/stats.h"

enum { DSM_PROCESSES = 64 }; /* entries that a version vector can have */

enum dsm_state {              /* the state of a process's copy of a page */
                 DSM_NONE,    /* it never had one, or a collection took it */
                 DSM_INVALID, /* somebody has written it, as the process has heard */
                 DSM_READ,    /* valid, and protected against writing */
                 DSM_WRITE    /* valid, with a twin */
};

enum dsm_message {
#define MESSAGE(NAME, ...) DSM_MSG_##NAME,
#include "coherence/dsm/messages.def"
#undef MESSAGE
    DSM_MSGS
};
enum dsm_content {
#define CONTENT(NAME, ...) DSM_BYTES_##NAME,
#include "coherence/dsm/contents.def"
#undef CONTENT
    DSM_CONTENTS
};
enum dsm_part {
#define PART(NAME, ...) DSM_PART_##NAME,
#include "coherence/dsm/parts.def"
#undef PART
    DSM_PARTS
};
enum dsm_wait { /* reasons of a process to wait */
                DSM_WAIT_FAULT,
                DSM_WAIT_LOCK,
                DSM_WAIT_BARRIER,
                DSM_WAIT_OTHER,
                DSM_WAITS
};

struct dsm_env {           /* borrowed */
    struct stats *stats;   /* group dsm is made in it */
    struct config *config; /* section dsm is bound */
    unsigned processes;
    uint64_t page;      /* bytes, a power of 2 */
    uint64_t frequency; /* MHz: what a cycle is */
    bool contents;      /* memories have contents: for tests */
};

struct dsm;
struct dsm *dsm_new(const struct dsm_env *env, struct err *e); /* NULL: error, LARD_CONFIG */
void dsm_account(struct dsm *d, struct budget *b);             /* before the first access */
void dsm_free(struct dsm *d);
extern const struct param dsm_param_rows[]; /* section dsm */

/* ---- memory --------------------------------------------------------------------------------- */

/* The process may make the access without a fault: the bytes are of one page. What it writes is
 * marked. */
bool dsm_access(struct dsm *d, unsigned process, struct vaddr addr, unsigned bytes, bool write);
/* Handles the fault of an access that is not allowed. Another process's request may have come in
 * between: ask again. */
sim_cycle dsm_fault(struct dsm *d, unsigned process, struct vaddr addr, bool write, sim_cycle now);

/* ---- synchronisation ------------------------------------------------------------------------ */

/* asked: when the process began to wait for the lock, at the latest now. */
sim_cycle dsm_lock(struct dsm *d, unsigned process, struct vaddr lock, bool shared, sim_cycle asked,
                   sim_cycle now);
sim_cycle dsm_unlock(struct dsm *d, unsigned process, struct vaddr lock, sim_cycle now);
/* A barrier's round: all arrivals that a departure waits for come before it. */
sim_cycle dsm_arrive(struct dsm *d, unsigned process, struct vaddr barrier, sim_cycle now);
sim_cycle dsm_depart(struct dsm *d, unsigned process, struct vaddr barrier, sim_cycle now);
/* The kinds of all other objects. The process takes from the object what was given to it before, or
 * gives, or both. */
enum dsm_objects {
    DSM_VOLATILE,
    DSM_ATOMIC,
    DSM_CLASS,
    DSM_BORN, /* a thread, from its fork */
    DSM_DEAD, /* a thread, to its join */
    DSM_TRANSACTION,
    DSM_RWLOCK, /* a lock that somebody has had shared */
    DSM_OBJECTS
};
sim_cycle dsm_give(struct dsm *d, unsigned process, enum dsm_objects kind, uint64_t id,
                   sim_cycle now);
sim_cycle dsm_take(struct dsm *d, unsigned process, enum dsm_objects kind, uint64_t id,
                   sim_cycle now);

/* ---- what processes do for others ------------------------------------------------------------ */

/* Cycles that the process has worked for others until now, and has not paid. */
sim_cycle dsm_owed(struct dsm *d, unsigned process, sim_cycle now);
/* The process stood still from one cycle to the other: it could handle requests meanwhile. */
void dsm_stood(struct dsm *d, unsigned process, sim_cycle from, sim_cycle to);

/* ---- for a detector on top (policy/machine.h, struct policy_dsm) ----------------------------- */

sim_cycle dsm_notices(struct dsm *d, unsigned process, uint64_t read, uint64_t written,
                      sim_cycle now);
sim_cycle dsm_fetch(struct dsm *d, const uint64_t *bytes, sim_cycle now);
sim_cycle dsm_released(struct dsm *d, unsigned process, sim_cycle done);

#endif
