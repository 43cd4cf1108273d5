/* vm.h - what a kernel sees of the modelled managed runtime: objects and arrays at simulated
 * addresses on a heap that is collected, threads, monitors, volatiles, barriers, classes,
 * transactions, marks. Each call does what it says and puts the events of it into the stream.
 *
 * A kernel is plain C that runs on the stack of a language thread. Whenever it makes an event,
 * another thread may run, and objects may move: so it holds references in roots only (struct
 * vm_ref), never an address. Values of fields and elements are kept, so that results can be
 * checked. What goes wrong (null, a bad index, a failed check, no memory) ends the stream with an
 * error and does not return to the kernel: host memory is therefore taken from vm_scratch, never
 * from malloc. A stack has 256 KiB. Roots are reached by frames:
 *
 *     enum { NODE_KEY, NODE_NEXT };
 *     static const struct vm_type_of node =
 *         VM_TYPE("Node", {"key", VM_I32, 0}, {"next", VM_REF, 0});
 *
 *     struct vm_ref *r = vm_enter(t, 2);          // two roots, null
 *     vm_new(t, &r[0], my->node_class, AT_NEW);   // my->node_class = vm_class(t, &node), once
 *     vm_put_i32(t, &r[0], NODE_KEY, 7, AT_KEY);
 *     vm_get_ref(t, &r[1], &r[0], NODE_NEXT, AT_WALK);
 *     vm_leave(t, r);
 *
 * Sites are small numbers, named by the workload's list (VM_SITES), 0 for unknown. */
#ifndef LARDSIM_VM_H
#define LARDSIM_VM_H

#include <string.h>

#include "base/base.h"
#include "base/rng.h"
#include "trace/trace.h"

struct vm_thread;

/* ---- parameters that all workloads have ----------------------------------------------------- */

enum vm_schedule { VM_ROUND_ROBIN, VM_RANDOM, VM_ADVERSARIAL };
enum vm_gc {
    VM_MARKSWEEP,
    VM_SEMISPACE,
    VM_GENERATIONAL,
    VM_MARKSWEEP_CONCURRENT,
    VM_COPYING_CONCURRENT
};
enum vm_spread { VM_EVEN, VM_GEOMETRIC, VM_SPREAD_AUTO };
enum vm_tier { VM_COMPILED, VM_INTERPRETED };
struct vm_params {
    uint64_t seed;                /* of the schedule */
    uint64_t threads;             /* a kernel may use them as it likes */
    uint64_t quantum;             /* events */
    uint64_t kernel_threads;      /* 0: each language thread is one */
    uint64_t heap, nursery, tlab; /* bytes */
    uint32_t layout;              /* enum layout_id */
    uint32_t schedule;            /* enum vm_schedule */
    uint32_t gc;                  /* enum vm_gc */
    bool system_gc;               /* the program's System.gc() collects */
    bool steady;                  /* the region of interest begins after the first iteration */
    bool private_data;            /* accesses to private data are made, too */
    bool inlining;                /* the runtime's short paths have sites where they are used */
    bool analysis;                /* sites that an analysis proves free of races are marked */
    const char *gap;              /* low, mid, high, or a number */
    uint32_t gap_spread;          /* enum vm_spread */
    uint32_t tier;                /* enum vm_tier */
    const char *interpreter;      /* low, mid, high, or a number */
    const char *outside;          /* auto, or a number */
    /* The values of these texts, in hundredths (workloads/base_program.c). */
    uint64_t instructions; /* between two accesses of the program, compiled */
    uint64_t slower;       /* instructions for one of compiled code */
};
extern const struct param vm_param_rows[];
const struct vm_params *vm_params(const struct vm_thread *t);

/* ---- sites ---------------------------------------------------------------------------------- */

/* #define SITES(X) X(INIT, "Sor.init:20") X(READ, "Sor.run:31")
 * VM_SITES(SITES)
 * gives AT_INIT, AT_READ, ... and at_names, for struct workload's `sites`. Sites below
 * VM_SITE_FIRST are the runtime's. */
#define VM_OWN_SITES(X)                                                                            \
    X(ALLOC, "vm.alloc")                                                                           \
    X(ZERO, "vm.zero")                                                                             \
    X(TLAB, "vm.tlab")                                                                             \
    X(LOCK, "vm.lock")                                                                             \
    X(UNLOCK, "vm.unlock")                                                                         \
    X(SAFEPOINT, "vm.safepoint")                                                                   \
    X(YIELD, "gc.yield")                                                                           \
    X(CLASS, "vm.class")                                                                           \
    X(BARRIER, "vm.write-barrier") /* the collector's, at writes of references */                  \
    X(FORWARD, "vm.read-barrier")                                                                  \
    X(ROOTS, "gc.roots")                                                                           \
    X(MARK, "gc.mark")                                                                             \
    X(SCAN, "gc.scan")                                                                             \
    X(COPY, "gc.copy")                                                                             \
    X(UPDATE, "gc.update")                                                                         \
    X(SWEEP, "gc.sweep")                                                                           \
    X(THREADS, "vm.threads")                                                                       \
    X(HEAVY, "vm.heavy-lock")                                                                      \
    X(REVOKE, "vm.revoke-bias")
#define VM_OWN_SITE(name, text) VM_SITE_##name,
enum vm_site { VM_SITE_NONE, VM_OWN_SITES(VM_OWN_SITE) VM_SITE_FIRST = 32 };
#define VM_SITE_ENUM(name, text) AT_##name,
#define VM_SITE_TEXT(name, text) text,
#define VM_SITES(list)                                                                             \
    enum at { AT_BEFORE = VM_SITE_FIRST - 1, list(VM_SITE_ENUM) AT_END };                          \
    static const char *const at_names[] = {list(VM_SITE_TEXT) NULL};
/* Makes one more site at run time; text is copied. Each call gives another number. */
uint64_t vm_site(struct vm_thread *t, const char *text);

/* ---- classes -------------------------------------------------------------------------------- */

enum vm_type { VM_I8, VM_I32, VM_I64, VM_F64, VM_REF, VM_TYPES };

struct vm_field {
    const char *name; /* NULL ends the list */
    enum vm_type type;
    unsigned flags; /* EVF_VOLATILE, EVF_FINAL */
};
struct vm_type_of { /* the make-up of a class; a constant */
    const char *name;
    const struct vm_field *fields;
    /* Runs once, in the thread that first uses the class, before its class-init; NULL: the class
     * has no initialisation, and its uses are no events. */
    void (*init)(struct vm_thread *t, void *arg);
};
/* The fields follow, each {name, type, flags}. */
#define VM_TYPE(name, ...) VM_TYPE_INIT(name, NULL, __VA_ARGS__)
#define VM_TYPE_INIT(name, init, ...)                                                              \
    {                                                                                              \
        name, (const struct vm_field[]){__VA_ARGS__, {NULL, VM_I8, 0}}, init                       \
    }
#define VM_TYPE_EMPTY(name, init)                                                                  \
    {                                                                                              \
        name, (const struct vm_field[]){{NULL, VM_I8, 0}}, init                                    \
    }

/* Fields lie behind the header in the layout's order, each aligned to its size. */
struct vm_slot {
    uint32_t offset;
    uint16_t flags;
    uint8_t type;
};
struct vm_class {
    const char *name;
    const struct vm_type_of *of; /* NULL: an array */
    uint32_t id, bytes;          /* bytes of an object, header included */
    uint32_t fields;
    uint32_t element; /* arrays: its enum vm_type; else VM_TYPES */
    void *arg;        /* handed to init */
    struct vm_slot slot[];
};
/* Loads a class; each call makes another. Not an event. */
const struct vm_class *vm_class(struct vm_thread *t, const struct vm_type_of *of, void *arg);
/* Initialises it if nobody has, waits while somebody does; an event at each thread's first use.
 * vm_new does it by itself. */
void vm_class_use(struct vm_thread *t, const struct vm_class *k, uint64_t site);

/* ---- roots ---------------------------------------------------------------------------------- */

struct vm_ref {
    sim_addr at; /* the collector writes it; 0: null */
};
/* n roots, all null, until vm_leave with the same pointer; leaves what was entered since, too. */
struct vm_ref *vm_enter(struct vm_thread *t, unsigned n);
void vm_leave(struct vm_thread *t, struct vm_ref *first);
/* A root for good, null, that all threads may use: a static final field. Reading and assigning it
 * are no events: give it its value before the threads start. */
struct vm_ref *vm_global(struct vm_thread *t);

static inline bool vm_is_null(const struct vm_ref *r)
{
    return r->at == 0;
}
void vm_assign(struct vm_thread *t, struct vm_ref *to, const struct vm_ref *from);
static inline void vm_set_null(struct vm_ref *r)
{
    r->at = 0;
}
bool vm_same(struct vm_thread *t, const struct vm_ref *a, const struct vm_ref *b);

/* ---- objects -------------------------------------------------------------------------------- */

/* vm_new and vm_new_array collect when there is no room. Contents are zero and null. */
void vm_new(struct vm_thread *t, struct vm_ref *to, const struct vm_class *k, uint64_t site);
void vm_new_array(struct vm_thread *t, struct vm_ref *to, enum vm_type element, uint64_t length,
                  uint64_t site);
uint32_t vm_length(struct vm_thread *t, struct vm_ref *array);             /* not an event */
const struct vm_class *vm_class_of(struct vm_thread *t, struct vm_ref *o); /* not an event */

/* Fields: the number is the one in the class's list, the type must be the field's. A volatile
 * field's access makes the events of that.
 *
 *     int32_t vm_get_i32(t, object, field, site)      void vm_put_i32(t, object, field, value,
 * site) int32_t vm_load_i32(t, array, index, site)      void vm_store_i32(t, array, index, value,
 * site)
 *
 * and the same for i8 (uint8_t), i64 (int64_t) and f64 (double). */
void vm_get_ref(struct vm_thread *t, struct vm_ref *to, struct vm_ref *o, unsigned field,
                uint64_t site);
void vm_put_ref(struct vm_thread *t, struct vm_ref *o, unsigned field, const struct vm_ref *value,
                uint64_t site); /* value NULL: null */
void vm_load_ref(struct vm_thread *t, struct vm_ref *to, struct vm_ref *array, uint64_t index,
                 uint64_t site);
void vm_store_ref(struct vm_thread *t, struct vm_ref *array, uint64_t index,
                  const struct vm_ref *value, uint64_t site);
/* An atomic update of a volatile field: a vread, then a vwrite. Returns the old value. */
int64_t vm_add_i64(struct vm_thread *t, struct vm_ref *o, unsigned field, int64_t add,
                   uint64_t site);
/* An access to the thread's own stack; no value is kept. word: 0..4095. */
void vm_stack(struct vm_thread *t, bool write, unsigned word, uint64_t site);

/* ---- synchronisation ------------------------------------------------------------------------ */

/* Every object has a monitor; it is reentrant. */
void vm_lock(struct vm_thread *t, struct vm_ref *o, uint64_t site);
void vm_unlock(struct vm_thread *t, struct vm_ref *o, uint64_t site);
void vm_wait(struct vm_thread *t, struct vm_ref *o, uint64_t site); /* until notified; no more */
void vm_notify(struct vm_thread *t, struct vm_ref *o, bool all, uint64_t site);

/* A barrier is not on the heap. It counts its rounds. */
struct vm_barrier;
struct vm_barrier *vm_barrier_new(struct vm_thread *t, unsigned parties);
void vm_barrier_wait(struct vm_thread *t, struct vm_barrier *b, uint64_t site);

/* The new thread runs fn(u, arg) and ends when that returns. Its number. */
sim_tid vm_fork(struct vm_thread *t, void (*fn)(struct vm_thread *u, void *arg), void *arg,
                uint64_t site);
void vm_join(struct vm_thread *t, sim_tid u, uint64_t site);
void vm_yield(struct vm_thread *t); /* lets others run, if some can; not an event */

/* Between the two, accesses to fields and elements are the transaction's. Transactions exclude each
 * other; other threads' plain accesses do not wait. Inside: no synchronisation, no volatiles, and
 * allocations together of at most `reserve` bytes. */
void vm_txn_begin(struct vm_thread *t, uint64_t reserve, uint64_t site);
void vm_txn_commit(struct vm_thread *t, uint64_t site);

/* ---- the rest ------------------------------------------------------------------------------- */

/* Instructions before an event, beside those that vm_compute adds. Before an access of the
 * program's there are as many as the parameter `gap` says instead (vm/gap.c). */
enum { VM_GAP = 2 };
/* Work between two accesses: each kernel counts its own, as instructions of compiled code. */
enum {
    VM_LOOP = 3, /* once round: count, compare, branch */
    VM_MATH = 40 /* exp, log, sin: of fdlibm, about, as kernels have always had it (series) */
};
void vm_compute(struct vm_thread *t, uint32_t instructions);
void vm_io(struct vm_thread *t, uint64_t site);
void vm_phase(struct vm_thread *t, const char *text); /* the same text is the same phase */
void vm_roi_begin(struct vm_thread *t);
void vm_roi_end(struct vm_thread *t);
bool vm_roi_goes_on(const struct vm_thread *t);
/* Sets the program's length, in units of its own, and the function that says how much is done: for
 * showing only. It is asked at each batch, until done is NULL. */
void vm_progress(struct vm_thread *t, uint64_t all, uint64_t (*done)(const void *arg),
                 const void *arg);
/* Collects the whole heap at least once, whatever the heap needs. */
void vm_collect(struct vm_thread *t);
/* The program's System.gc(): none, unless the parameter system_gc says so. */
void vm_system_gc(struct vm_thread *t);

/* A result that the kernel verifies: text becomes the error when ok is false. vm_fail is the same
 * for whatever else can't go on. */
void vm_check(struct vm_thread *t, bool ok, const char *fmt, ...) PRINTF_LIKE(3, 4);
void vm_fail(struct vm_thread *t, const char *fmt, ...) PRINTF_LIKE(2, 3) NO_RETURN;

sim_tid vm_self(const struct vm_thread *t);
/* Random numbers for the program's own use, of this thread; they do not depend on the schedule. */
struct rng *vm_rng(struct vm_thread *t);
/* Zeroed host memory for what is not on the modelled heap; it lives as long as the stream. */
void *vm_scratch(struct vm_thread *t, size_t n, size_t bytes);

/* ---- inside: what the accesses need inline -------------------------------------------------- */

/* The host's copy of a header, whatever the layout: an object has class and word, an array length,
 * too. */
struct vm_header {
    uint32_t class; /* id; VM_FORWARDED */
    uint32_t word;  /* number of the monitor, 0: none; or the new place, forwarded (vm_place) */
    uint32_t length;
};
#define VM_FORWARDED 0x80000000u

struct vm_identity { /* the object of a record's access, whatever its address */
    uint64_t object; /* from 1; 0: none */
    uint64_t offset; /* in bytes */
};

struct vm_proved { /* by site: its accesses can be part of no race */
    bool *site;    /* NULL: nobody has asked */
    uint32_t n;
};

/* Events are made between at and stop; at stop the thread pauses, and may make up to VM_SLACK
 * records before it must ask again. */
enum { VM_SLACK = 16 };
enum { VM_GAPS = 1024 }; /* a power of two */
struct vm_core {
    struct event *at, *stop;
    uintptr_t bias; /* host address of the heap less its simulated one */
    const struct vm_class *const *classes;
    const struct layout *layout;
    uint8_t shift[VM_TYPES];      /* log2 of a value's bytes */
    uint8_t elements[VM_TYPES];   /* offsets of an array's first element */
    struct event *rec;            /* the batch */
    struct vm_identity *identity; /* beside the batch; NULL: not asked for */
    struct vm_proved proved;      /* owns */
    uint32_t more[VM_GAPS];       /* gaps of the program's accesses, in turn, less VM_GAP */
};
struct vm_run { /* the beginning of a struct vm_thread */
    struct vm_core *core;
    uint32_t gap;
    uint32_t drawn; /* gaps of its accesses so far */
    sim_tid tid;
    uint16_t flags; /* EVF_IN_TXN in a transaction */
};

void vm_pause(struct vm_thread *t);
void vm_pause_access(struct vm_thread *t); /* ... before an access of the program */
void vm_identify(struct vm_core *c, const struct event *ev, sim_addr object);
const struct vm_header *vm_resolve(struct vm_thread *t, struct vm_ref *o);
unsigned char *vm_volatile(struct vm_thread *t, const struct vm_ref *o, const struct vm_slot *s,
                           enum ev_kind kind, uint64_t site);
void vm_bad_field(struct vm_thread *t, const struct vm_ref *o, unsigned field, enum vm_type type,
                  uint64_t site) NO_RETURN;
void vm_bad_element(struct vm_thread *t, const struct vm_ref *o, uint64_t index, enum vm_type type,
                    uint64_t site) NO_RETURN;

static inline struct vm_run *vm_run(struct vm_thread *t)
{
    return (struct vm_run *)(void *)t;
}
static inline unsigned vm_shift(const struct vm_core *c, enum vm_type type) /* log2 of its bytes */
{
    return type == VM_I8 ? 0 : type == VM_I32 ? 2 : type == VM_REF ? c->shift[VM_REF] : 3;
}
static inline struct vm_header *vm_header(const struct vm_core *c, sim_addr at)
{
    return (struct vm_header *)(c->bias + (uintptr_t)at);
}
/* The header of what a root refers to, at its place of now; NULL: null. */
ALWAYS_INLINE const struct vm_header *vm_stands(struct vm_thread *t, struct vm_ref *o)
{
    if (UNLIKELY(!o->at))
        return NULL;
    const struct vm_header *h = vm_header(vm_run(t)->core, o->at);
    return UNLIKELY(h->class & VM_FORWARDED) ? vm_resolve(t, o) : h;
}
/* The same, after the pause before an access, if one is due. */
ALWAYS_INLINE const struct vm_header *vm_reach(struct vm_thread *t, struct vm_ref *o)
{
    const struct vm_core *c = vm_run(t)->core;

    if (UNLIKELY(c->at >= c->stop))
        vm_pause_access(t);
    return vm_stands(t, o);
}
ALWAYS_INLINE unsigned char *vm_touch(struct vm_thread *t, sim_addr object, uint64_t offset,
                                      enum vm_type type, unsigned flags, enum ev_kind kind,
                                      uint64_t site)
{
    struct vm_run *r = vm_run(t);
    struct vm_core *c = r->core;
    struct event *ev = c->at++;

    *ev = (struct event){.addr = object + offset,
                         .aux = site,
                         .size = 1u << vm_shift(c, type),
                         .gap = r->gap + c->more[r->drawn++ % VM_GAPS],
                         .tid = r->tid,
                         .flags = (uint16_t)(r->flags | flags),
                         .kind = (uint8_t)kind};
    r->gap = VM_GAP;
    if (UNLIKELY(c->proved.site != NULL) && site < c->proved.n && c->proved.site[site])
        ev->flags |= EVF_SAFE;
    if (UNLIKELY(c->identity != NULL))
        vm_identify(c, ev, object);
    return (unsigned char *)(c->bias + (uintptr_t)(object + offset));
}
/* Makes the events of an access; where the value is, until the next event. */
ALWAYS_INLINE unsigned char *vm_field(struct vm_thread *t, struct vm_ref *o, unsigned field,
                                      enum vm_type type, enum ev_kind kind, uint64_t site)
{
    const struct vm_header *h = vm_reach(t, o);

    if (UNLIKELY(!h))
        vm_bad_field(t, o, field, type, site);
    const struct vm_class *k = vm_run(t)->core->classes[h->class];
    if (UNLIKELY(field >= k->fields || k->slot[field].type != type))
        vm_bad_field(t, o, field, type, site);
    const struct vm_slot *s = &k->slot[field];
    if (UNLIKELY(s->flags & EVF_VOLATILE))
        return vm_volatile(t, o, s, kind, site);
    return vm_touch(t, o->at, s->offset, type, s->flags, kind, site);
}
ALWAYS_INLINE unsigned char *vm_element(struct vm_thread *t, struct vm_ref *a, uint64_t index,
                                        enum vm_type type, enum ev_kind kind, uint64_t site)
{
    const struct vm_header *h = vm_reach(t, a);

    if (UNLIKELY(!h || index >= h->length || h->class != (uint32_t)type))
        vm_bad_element(t, a, index, type, site);
    const struct vm_core *c = vm_run(t)->core;
    return vm_touch(t, a->at, c->elements[type] + (index << vm_shift(c, type)), type, EVF_ARRAY,
                    kind, site);
}

#define VM_ACCESSORS(reads, writes, of, which, ctype, type)                                        \
    static inline ctype reads(struct vm_thread *t, struct vm_ref *o, which at, uint64_t site)      \
    {                                                                                              \
        ctype value;                                                                               \
        memcpy(&value, of(t, o, at, type, EV_READ, site), sizeof value);                           \
        return value;                                                                              \
    }                                                                                              \
    static inline void writes(struct vm_thread *t, struct vm_ref *o, which at, ctype value,        \
                              uint64_t site)                                                       \
    {                                                                                              \
        memcpy(of(t, o, at, type, EV_WRITE, site), &value, sizeof value);                          \
    }
#define VM_ACCESS(name, ctype, type)                                                               \
    VM_ACCESSORS(vm_get_##name, vm_put_##name, vm_field, unsigned, ctype, type)                    \
    VM_ACCESSORS(vm_load_##name, vm_store_##name, vm_element, uint64_t, ctype, type)
VM_ACCESS(i8, uint8_t, VM_I8)
VM_ACCESS(i32, int32_t, VM_I32)
VM_ACCESS(i64, int64_t, VM_I64)
VM_ACCESS(f64, double, VM_F64)
#undef VM_ACCESS
#undef VM_ACCESSORS

#endif
