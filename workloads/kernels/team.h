/* team.h - what kernels for a team of threads share: running one function in all of them, cutting a
 * range into parts, numbers to compute with, results to compare. Not for programs whose threads
 * come and go. */
#ifndef LARDSIM_TEAM_H
#define LARDSIM_TEAM_H

#include <math.h>

#include "workloads/vm/vm.h"

/* Parameter version, of kernels that also exist as a program for a distributed shared memory. */
enum team_version { TEAM_MANAGED, TEAM_DSM };
static const char *const team_versions[] = {"managed", "dsm", NULL};
/* Their parameter racy. */
static const char *const team_racy[] = {"off", "paper", NULL};

struct member;
typedef void team_work(struct vm_thread *t, const struct member *m);
struct member {
    void *job;                  /* the same for all */
    unsigned id, of;            /* of: how many members there are */
    struct vm_barrier *barrier; /* of all */
    team_work *work;
};

/* A new object, or array, in a root for good. */
static inline struct vm_ref *team_new(struct vm_thread *t, const struct vm_class *of, uint64_t site)
{
    struct vm_ref *root = vm_global(t);

    vm_new(t, root, of, site);
    return root;
}
static inline struct vm_ref *team_array(struct vm_thread *t, enum vm_type element, uint64_t n,
                                        uint64_t site)
{
    struct vm_ref *root = vm_global(t);

    vm_new_array(t, root, element, n, site);
    return root;
}
/* Fills an array with new objects, by way of the root r. */
static inline void team_fill(struct vm_thread *t, struct vm_ref *array, uint64_t n,
                             const struct vm_class *of, struct vm_ref *r, uint64_t site)
{
    for (uint64_t i = 0; i < n; i++) {
        vm_new(t, r, of, site);
        vm_store_ref(t, array, i, r, site);
    }
}

/* n locks that are no part of the program's data: threads have them by number, in private memory.
 */
static inline struct vm_ref **team_locks(struct vm_thread *t, const struct vm_class *of, uint64_t n,
                                         uint64_t site)
{
    struct vm_ref **lock = vm_scratch(t, n, sizeof(struct vm_ref *));

    for (uint64_t i = 0; i < n; i++)
        lock[i] = team_new(t, of, site);
    return lock;
}

static inline void team_member(struct vm_thread *t, void *member)
{
    const struct member *m = member;

    m->work(t, m);
}

/* Runs work in as many threads as the parameters say, this one as member 0, until all are done. */
static inline void team_run(struct vm_thread *t, team_work *work, void *job, uint64_t site)
{
    const unsigned n = (unsigned)vm_params(t)->threads;
    struct member *m = vm_scratch(t, n, sizeof *m);
    sim_tid *tid = vm_scratch(t, n, sizeof *tid);
    struct vm_barrier *barrier = vm_barrier_new(t, n);

    for (unsigned i = 0; i < n; i++)
        m[i] = (struct member){job, i, n, barrier, work};
    for (unsigned i = 1; i < n; i++)
        tid[i] = vm_fork(t, team_member, &m[i], site);
    work(t, &m[0]);
    for (unsigned i = 1; i < n; i++)
        vm_join(t, tid[i], site);
}

static inline void team_wait(struct vm_thread *t, const struct member *m, uint64_t site)
{
    vm_barrier_wait(t, m->barrier, site);
}

/* The measured part of a kernel, up to where it verifies its result: all of it, or with steady=on
 * what follows the first iteration. */
static inline void team_measure_phase(struct vm_thread *t, const char *phase, team_work *work,
                                      void *job, uint64_t site)
{
    vm_phase(t, phase);
    if (!vm_params(t)->steady)
        vm_roi_begin(t);
    team_run(t, work, job, site);
    if (vm_roi_goes_on(t))
        vm_roi_end(t);
}
static inline void team_measure(struct vm_thread *t, team_work *work, void *job, uint64_t site)
{
    team_measure_phase(t, "run", work, job, site);
    vm_phase(t, "verify");
}
/* The same in the kernels of Java Grande, which call System.gc() before and after: what the first
 * thread has made moves before the others use it. */
static inline void team_measure_grande(struct vm_thread *t, const char *phase, team_work *work,
                                       void *job, uint64_t site)
{
    vm_system_gc(t);
    team_measure_phase(t, phase, work, job, site);
    vm_system_gc(t);
    vm_phase(t, "validate");
}

/* Called at the end of each iteration, i from 0, behind a barrier. */
static inline void team_iterated(struct vm_thread *t, const struct member *m, uint64_t i)
{
    if (vm_params(t)->steady && m->id == 0 && i == 0)
        vm_roi_begin(t);
}

/* The member's part of [0, n): from team_from on, up to but without team_end. */
/* n * id / of: parts differ by one at most, and follow each other without a gap. */
static inline uint64_t team_from(const struct member *m, uint64_t n)
{
    return n * m->id / m->of;
}
static inline uint64_t team_end(const struct member *m, uint64_t n)
{
    return n * (m->id + 1) / m->of;
}

/* Adds x to a field that all threads share, under its lock. lock NULL: without. */
static inline void team_add(struct vm_thread *t, struct vm_ref *lock, struct vm_ref *o,
                            unsigned field, double x, uint64_t site)
{
    if (lock)
        vm_lock(t, lock, site);
    vm_put_f64(t, o, field, x + vm_get_f64(t, o, field, site), site);
    if (lock)
        vm_unlock(t, lock, site);
}

/* Draws evenly from [0, 1): 53 random bits, as many as a double has. */
static inline double team_uniform(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

/* True if the two are equal but for rounding, as sums in another order are. */
static inline bool team_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

#endif
