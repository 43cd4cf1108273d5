/* sched.h - threads and who of them runs.
 *
 * Everything runs on one host thread; each language thread, and the collector, has a fiber of its
 * own. A thread runs for a turn of so many events, then the scheduler picks the next. Only
 * vm_pause, vm_block and what calls them let another thread run: between two of those, host code is
 * atomic, and up to VM_SLACK records may be made. While the scheduler is pinned nobody else runs at
 * all. */
#ifndef LARDSIM_VM_SCHED_H
#define LARDSIM_VM_SCHED_H

#include "base/fiber.h"
#include "workloads/vm/heap.h"

enum { VM_ROOTS = 8192, VM_KERNELS = 256 };

enum vm_state { VM_IS_READY, VM_IS_BLOCKED, VM_IS_ENDED };

struct vm_queue { /* threads that wait for the same, first come first served */
    struct vm_thread *first, *last;
};

struct vm_thread {
    struct vm_run run; /* first: what accesses need inline (vm.h) */
    struct vm *vm;
    struct fiber *fiber; /* owns; NULL: has not run yet, or has ended */
    void (*fn)(struct vm_thread *t, void *arg);
    void *arg;
    enum vm_state state;
    bool started; /* has made an event */

    /* Work that the thread owes before its next event (vm_catch_up). */
    bool stale;     /* a pause has been since its last event: it reads `resumed` */
    bool asked;     /* its yield flag was set: it takes that back */
    bool held_up;   /* another thread has stopped it: it takes its stop lock */
    bool reaches;   /* it stands before an access of the program */
    bool to_stop;   /* driven: the collector has set its yield flag, and it has not seen that */
    bool held_back; /* driven: ready, and waits until the scheduler is no longer pinned */
    bool mute; /* it waits on a monitor or at a barrier, and can make no event but the wait's end */

    uint32_t held;          /* monitors, each entry counts */
    uint32_t heavy;         /* a heavy lock that it keeps for its next need; 0: none */
    struct vm_thread *next; /* in a queue */
    const char *waits;      /* blocked: for what, for messages */
    uint8_t awaits;         /* blocked: the kind of event with which it goes on */
    struct vm_queue joiners;
    struct vm_ref *roots; /* owns VM_ROOTS */
    uint32_t n_roots;
    uint32_t home, on; /* kernel threads: whose queue it is in; where it runs, by its events */
    uint32_t turns;    /* on that, since another one had it */
    uint64_t stands;   /* the site of its latest access, at the latest switch; 0: not known */
    sim_addr tlab, tlab_end;  /* its allocation buffer (bump spaces) */
    sim_addr cells[VM_SIZES]; /* heads of its free lists (spaces of cells) */
    uint64_t *used;           /* owns; bitmap of classes it has used */
    uint32_t used_words;
    struct rng rng; /* for the program's own use */
};

struct vm_scheduler {
    struct fiber *host;        /* the fiber that asks for events */
    struct fiber *dead;        /* a thread's that has ended; freed by the next one that runs */
    struct vm_thread **thread; /* owns; by number; the collector too */
    size_t n_threads, cap_threads;
    size_t alive; /* threads of the program */
    struct vm_thread **ready;
    size_t n_ready, cap_ready;
    struct vm_thread *current;
    uint32_t cursor; /* round robin: the last thread, or kernel thread */
    unsigned pinned; /* calls of vm_pin that are open */
    struct rng rng;
    /* The thread that each kernel thread runs. The last kernel thread is the collector's alone. */
    struct vm_thread *runs[VM_KERNELS + 1];
    uint64_t left;      /* events of the turn, as of `from` */
    struct event *from; /* the first of the turn's events in this batch */

    /* Driven from outside (struct driven): the caller decides who runs, and there are no turns. */
    bool driven;
    uint64_t asked; /* times */
    bool rests;     /* the thread that was asked looks again in a while */
    sim_tid *woken; /* owns; since the question in hand */
    size_t wokens, cap_woken;
    struct vm_queue held; /* ready, and asked while the scheduler was pinned */
};

struct vm_thread *vm_thread_new(struct vm *v, void (*fn)(struct vm_thread *t, void *arg),
                                void *arg);
void vm_thread_free(struct vm_thread *t);
struct fiber *vm_fiber(struct vm_thread *t);
void vm_wake(struct vm *v, struct vm_thread *t);
void vm_enqueue(struct vm_queue *q, struct vm_thread *t);
void vm_bury(struct vm *v); /* a fiber can't free the stack that it runs on: the next one does */
void vm_wake_all(struct vm *v, struct vm_queue *q);
struct vm_thread *vm_unqueue(struct vm_queue *q); /* NULL: empty */
/* Blocks until woken. what: for messages; awaits: the kind of event with which it goes on. q may be
 * NULL. */
void vm_block(struct vm_thread *t, struct vm_queue *q, const char *what, enum ev_kind awaits);
extern const struct driven vm_driven; /* drive.c */
void vm_answer(struct vm_thread *t);  /* driven: until it is asked again */
/* Sets core.stop anew: where the running thread has to pause next. */
void vm_rearm(struct vm *v);
void vm_pin(struct vm *v);
void vm_unpin(struct vm *v);
void vm_urge(struct vm_thread *t);     /* a good moment for an adversary to let others run */
void vm_catch_up(struct vm_thread *t); /* pays its debts before its next event */
static inline void vm_step(struct vm_thread *t)
{
    if (UNLIKELY(t->run.core->at >= t->run.core->stop))
        vm_pause(t);
}

#endif
