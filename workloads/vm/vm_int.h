/* vm_int.h - the modelled runtime as a whole, for its own files. For no kernel: vm.h is theirs.
 *
 *     vm.c                      the source: batches, events, errors
 *     gap.c                     instructions between accesses
 *     site.c                    names of sites; inlined code
 *     sched.h  sched.c          threads, and who runs
 *     drive.c                   ... as somebody outside says
 *     monitor.h  monitor.c      monitors; locks of the runtime
 *     sync.c                    barriers, volatiles, initialisation of classes
 *     txn.c                     transactions and marks
 *     class.h  class.c          classes, roots, references
 *     heap.h  alloc.c  cells.c  new objects; spaces
 *     collect.h  collect.c  mark.c  copy.c  move.c  the collectors */
#ifndef LARDSIM_VM_INT_H
#define LARDSIM_VM_INT_H

#include "base/map.h"
#include "workloads/vm/class.h"
#include "workloads/vm/collect.h"
#include "workloads/workloads.h"

enum { VM_BATCH = 4096 };

struct vm_program { /* the program that runs */
    const struct workload *workload;
    void *params;          /* owns; the workload's own */
    struct config *config; /* owns; texts in params live in it */
    char *name;            /* owns */
    void **scratch;        /* owns; host memory of kernels */
    size_t n_scratch, cap_scratch;
};

struct vm_stream { /* the batch in hand, beside struct vm_core, and what the marks in it stand for
                    */
    struct event *end; /* the batch is full; VM_SLACK records follow */
    uint64_t doubles;  /* second records in this batch */
    struct err err;    /* the stream ends with it, after what was made before */
    bool done;
    bool in_roi;
    uint64_t phases;
    struct map phase_ids; /* by digest of their texts */
};

struct vm_progress {
    struct source_extent extent;
    uint64_t (*done)(const void *arg); /* NULL: nobody knows now */
    const void *arg;
};

struct vm_sites {
    uint64_t n;                         /* sites that have numbers */
    uint32_t (*inlined)[VM_SITE_FIRST]; /* owns; sites of inlined code, by the program's; 0: none */
    size_t n_inlined, cap_inlined;
    struct map inlined_ids; /* the same, by digest of their names */
};

struct vm_barrier {
    struct vm_barrier *next;
    sim_addr name;
    uint64_t round;
    unsigned parties, arrived;
    struct vm_queue queue;
};
struct vm_barrier_list {
    struct vm_barrier *first; /* owns */
    size_t n;
};

struct vm_txn {              /* transactions run one at a time */
    struct vm_thread *owner; /* the thread whose transaction is open; NULL: none is */
    struct vm_queue queue;
    uint64_t bytes; /* that the open one may still allocate */
};

struct vm {
    struct source source; /* first */
    struct vm_core core;  /* the part that inline accesses need (vm.h) */
    struct vm_params p;
    struct names *names; /* owns; of sites and phases */
    struct vm_program program;
    struct vm_stream stream;
    struct vm_progress progress;
    struct vm_sites sites;
    struct vm_scheduler sched;
    struct vm_monitors monitors;
    struct vm_barrier_list barriers;
    struct vm_txn txn;
    struct vm_classes classes;
    struct vm_globals globals;
    struct vm_heap heap;
    struct vm_collector gc;
};

/* ---- vm.c ----------------------------------------------------------------------------------- */

/* A second record is made for a site of what is no access, or for addr2 or size2. */
void vm_emit(struct vm_thread *t, enum ev_kind kind, sim_addr addr, uint64_t aux, unsigned flags,
             uint64_t site);
/* Synchronisation of the program, on something in an object. */
void vm_emit_on(struct vm_thread *t, enum ev_kind kind, const struct vm_ref *o, uint64_t offset,
                uint64_t site);
void vm_emit_two(struct vm_thread *t, enum ev_kind kind, sim_addr addr, uint64_t aux,
                 unsigned flags, sim_addr addr2, uint32_t size2, uint64_t site);
/* An access of the runtime; site: an enum vm_site, or what vm_inlined gave. */
void vm_system(struct vm_thread *t, enum ev_kind kind, sim_addr addr, uint32_t size, uint64_t site);
/* May pause first; else as vm_system. */
void vm_system_step(struct vm_thread *t, enum ev_kind kind, sim_addr addr, uint32_t size,
                    enum vm_site site);
void vm_to_host(struct vm *v, struct vm_thread *t);
void vm_flush(struct vm_thread *t); /* hands the batch over when it is full */
/* Takes params and config, also on error: NULL. */
struct vm *vm_open(const struct workload *w, const struct vm_params *p, void *params,
                   struct config *config, struct err *e);

/* ---- gap.c ---------------------------------------------------------------------------------- */

void vm_gaps_open(struct vm *v);

/* ---- site.c --------------------------------------------------------------------------------- */

void vm_name(struct vm *v, enum name_space space, uint64_t id, const char *text);
void vm_sites_open(struct vm *v);
void vm_sites_close(struct vm *v);
/* The site of the runtime's place where it is inlined at a site of the program. */
uint64_t vm_inlined(struct vm_thread *t, enum vm_site place, uint64_t site);
/* Notes where the thread stands, while its latest events are still in the batch. */
void vm_note_place(struct vm_thread *t);

/* ---- txn.c ---------------------------------------------------------------------------------- */

void vm_no_txn(struct vm_thread *gc); /* waits until no transaction is open */

#endif
