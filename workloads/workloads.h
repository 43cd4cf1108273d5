/* workloads.h - the built-in programs: what they are called, their parameters, and each as a source
 * of events. To add one: a file workloads/kernels/x.c that ends in one const struct workload, a
 * line in workloads.def, a line in workloads.mk. How kernels are written: vm/vm.h. */
#ifndef LARDSIM_WORKLOADS_H
#define LARDSIM_WORKLOADS_H

#include "base/err.h"
#include "base/param.h"
#include "trace/trace.h"
#include "workloads/vm/vm.h"

enum workload_size { SIZE_SMALL, SIZE_MEDIUM, SIZE_LARGE, SIZE_PAPER, WORKLOAD_SIZES };
/* "small", "medium", "large"; "paper": the input that its paper prints; NULL */
extern const char *const workload_size_names[];

struct workload_aim {  /* a characteristic of the program that this is to be like */
    const char *trait; /* as `workload describe` calls it */
    const char *unit;
    uint64_t value, scale; /* the target is value / scale */
    const char *from;      /* the paper and table it comes from */
    const char *why;       /* it isn't reached in the small size; NULL: it is */
    uint64_t most;         /* the target is a range up to most / scale; 0: value alone */
};

/* Instructions between two accesses of the program, in hundredths (docs/workloads.md). */
struct workload_gap {
    const char *from;           /* the facts, and how this follows from them */
    uint32_t low, middle, high; /* middle 0: the geometric mean of low and high */
    bool geometric;             /* as drawn by default; false: all alike */
};

/* Times without a detector, in tenths of a second: Goldilocks, Table 1. */
struct workload_times {
    uint32_t compiled, interpreted;
};

/* Accesses that a detector of single instructions checks, beside those with which the kernel
 * computes: a row of CVM, Table 4. Any unit. */
struct workload_private {
    uint32_t none, data_flow, batching, modified, all;
};

/* A race that was put in. For tests: counts come from policies. */
struct workload_plant {
    const char *site, *other; /* the names of the two sites; the same, or in any order */
    const char *text;         /* one sentence */
};

/* Rows of parameters that are called as the fields of struct OF_params. */
#define ROW_OF(of, field, type, value, min, max, unit, names, help)                                \
    {                                                                                              \
#field, type, offsetof(struct of##_params, field), value, min, max, unit, names, help      \
    }
#define ROW_U64(of, field, value, min, max, unit, help)                                            \
    ROW_OF(of, field, PARAM_U64, value, min, max, unit, NULL, help)
#define ROW_BOOL(of, field, value, help) ROW_OF(of, field, PARAM_BOOL, value, 0, 0, "", NULL, help)
#define ROW_CHOICE(of, field, value, names, help)                                                  \
    ROW_OF(of, field, PARAM_CHOICE, value, 0, 0, "", names, help)

struct workload {
    const char *name, *summary;
    const char *source;         /* key into base/papers.def, or NULL */
    const struct param *params; /* its own, ended by PARAM_END, beside vm_param_rows */
    size_t params_size;         /* bytes of the struct that they fill */
    const char
        *sizes[WORKLOAD_SIZES]; /* "n=100,steps=2": what size=... sets; "" or NULL: nothing */
    const char *length; /* its parameter that says how long it runs, and nothing else; NULL: none */
    unsigned granularity;     /* hint for the run: the smallest access it makes; 0: 8 */
    const char *const *sites; /* at_names; NULL ends it; may be NULL */
    /* Runs as thread 0. All threads should be joined when it returns. p: its own parameters. */
    void (*main)(struct vm_thread *t, const void *p);
    /* Checks conditions that the ranges of single parameters can't express; may be NULL. vm may be
     * changed: a workload that needs four threads can say so here. */
    int (*check)(const void *p, const struct vm_params *vm, struct err *e);
    bool racy;                           /* it has races unless its parameters say otherwise */
    const struct workload_aim *aims;     /* a NULL trait ends it; NULL: none */
    const struct workload_plant *plants; /* a NULL site ends it; NULL: none */
    const struct workload_gap *gap;      /* NULL: a kernel's, which counts its own work */
    struct workload_times took;          /* in Kaffe; 0: not printed */
    struct workload_private with;        /* for the parameter `private`; none 0: it has no such */
};

/* What is called after a kernel: its parameters, struct NAME_params in NAME_rows; its NAME_main.
 * Its sites are those of VM_SITES. */
#define WORKLOAD_CALLED(called)                                                                    \
    .name = #called, .params = called##_rows, .params_size = sizeof(struct called##_params),       \
    .sites = at_names, .main = called##_main

extern const struct workload *const workloads[]; /* NULL-terminated, in order of workloads.def */
const struct workload *workload_find(const char *name); /* NULL: none */

/* The base program: base_program.c. What p->gap, p->interpreter and p->outside mean for w goes into
 * p; errors do not name w. Instructions and percent are in hundredths. */
int workload_base_program(const struct workload *w, struct vm_params *p, struct err *e);
extern const struct workload_gap workload_interpreter;
const struct workload_gap *workload_gap(const struct workload *w);
uint64_t workload_gap_middle(const struct workload_gap *g);
uint64_t workload_outside(const struct workload *w);

/* rest: "NAME" or "NAME,key=value,...": size (small), those of vm_param_rows, the workload's own.
 * NULL: error. */
const struct workload *workload_named(const char *rest,
                                      struct err *e); /* asks for the name alone */
struct source *workload_open(const char *rest, struct err *e);
/* Returns the settings in force: a line "name=value" for each parameter, sorted; the caller's.
 * NULL: error. */
char *workload_settings(const char *rest, struct err *e);
extern const struct param workload_param_rows[]; /* size */

/* Identifies the objects of a workload, for truth without addresses. Called before the first
 * source_next of a source from workload_open; then *identity is beside the records of each batch:
 * [i] is about b.rec[i], of the program's accesses to objects and its synchronisation on them
 * (monitors, volatiles); 0 for all else. -1: this workload has no objects. */
int workload_identify(struct source *s, const struct vm_identity **identity);

#endif
