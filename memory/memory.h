/* memory.h - where misses go: commands, and memories as values: fixed latency, the built-in DDR
 * model, DRAMSim3.
 *
 * To add one: a file memory/x.c that ends in one const struct memory_type memory_x, a line in
 * memories.def and one in memory.mk. */
#ifndef LARDSIM_MEMORY_H
#define LARDSIM_MEMORY_H

#include "base/addr.h"
#include "base/param.h"
#include "base/stats.h"

#define CYCLE_NEVER UINT64_MAX

enum mem_cmd { MEM_LOAD, MEM_STORE, MEM_ATOMIC };
enum mem_traffic { TRAFFIC_DATA, TRAFFIC_METADATA, TRAFFICS }; /* by whose bytes */

/* A step of software on a core (handlers, detectors): instructions, then one access within a line.
 */
struct mem_step {
    struct paddr at;       /* of the access */
    uint64_t instructions; /* before the access */
    uint32_t slot;         /* the slot in which coherence found it: coherence_l1_ahead */
    uint16_t bytes;        /* of the access */
    uint8_t cmd;           /* enum mem_cmd */
    uint8_t part; /* the part of the cost to which it belongs: enum cost_part (policy/machine.h) */
    bool after;   /* its address comes from the value of the load before it */
};

struct mem_request {          /* to read or write one line */
    struct paddr addr;        /* the line's address */
    uint64_t id;              /* comes back with the answer; reads only */
    sim_cycle at;             /* when it reaches the memory */
    bool write;               /* posted: never answered */
    enum mem_traffic traffic; /* for statistics */
};
struct mem_answer {
    uint64_t id;  /* the request's */
    sim_cycle at; /* the data are there */
};

struct memory_env {            /* borrowed for the memory's life */
    struct stats_group *stats; /* "memory" */
    uint64_t mhz;              /* the processor's frequency, which says how long a cycle is */
    unsigned line;             /* bytes of a request */
    sim_cycle included;        /* cycles already spent when a request arrives that a total latency
                                  contains; see the parameter `latency` */
    bool contention;           /* off: unlimited bandwidth, where the type can */
};

/* A kind of memory. Requests need not be presented in order of `at`: a memory works on each when
 * its own time reaches `at`. Only those of the same cycle are served as they were presented. But
 * time does not run back: `at` is never before the `until` of an earlier step that gave no answer,
 * nor before the cycle of an answer. */
struct memory_type {
    const char *name, *summary;
    const struct param *params; /* section memory.<name>; may be NULL */
    size_t params_size;         /* bytes of the struct that params fill */
    void *(*create)(const struct memory_env *env, const void *params, struct err *e);
    /* Presents a request. Returns the cycle of the answer to a read where the memory knows it at
     * once, else CYCLE_NEVER. A type knows that of all reads, or of none: `later`. */
    sim_cycle (*request)(void *self, const struct mem_request *r);
    bool later; /* answers come from step */
    /* Runs up to cycle `until`, or to the next answer if that is not later; false: no answer came.
     * until = CYCLE_NEVER: runs until there is an answer or nothing is outstanding. Idle time may
     * be skipped. NULL where not later. */
    bool (*step)(void *self, sim_cycle until, struct mem_answer *to);
    /* A lower bound: no request that was presented is answered before this cycle. CYCLE_NEVER: none
     * is outstanding. Cheap, as it is asked often. NULL where not later. */
    sim_cycle (*next)(const void *self);
    void (*finish)(void *self, sim_cycle end); /* the run ends at `end`: statistics; may be NULL */
    void (*destroy)(void *self);
};
#define MEMORY(name) extern const struct memory_type memory_##name;
#include "memory/memories.def"
#undef MEMORY
extern const struct memory_type *const memory_types[]; /* NULL-terminated; by memories.def, as the
                                                         choices of memory.type */

/* An instance, bound to its section of the configuration. */
struct memory {
    const struct memory_type *type;
    void *self;              /* owns: what type->create made */
    void *params;            /* owns: as bound from the configuration */
    struct perturb *perturb; /* borrows; delays reads (perturb.h); NULL: nobody does */
};
int memory_open(struct memory *m, const struct memory_type *type, struct config *config,
                const struct memory_env *env, struct err *e);
void memory_close(struct memory *m); /* all zero (never opened) is fine, too */

#endif
