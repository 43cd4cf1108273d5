/* lardsim.h - the lardsim library: simulate a machine that detects data races, over a trace or over
 * events that the caller pushes. The only installed header.
 *
 *     struct lardsim *l = lardsim_new();
 *     lardsim_set(l, "policies=vc");
 *     lardsim_start(l);
 *     lardsim_run(l, "program.lard");           // pull, or lardsim_access and lardsim_sync: push
 *     lardsim_finish(l);
 *     lardsim_stat(l, "policy.vc.races.accesses", &n);
 *     lardsim_free(l);
 *
 * Calls in that order. A call that returns int returns 0, or -1 after an error; the error stays,
 * lardsim_error says it, and every later call but lardsim_finish and lardsim_free fails with it.
 * Instances are independent of each other; one instance is for one thread at a time. The library
 * prints nothing. */
#ifndef LARDSIM_H
#define LARDSIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LARDSIM_API __attribute__((visibility("default")))
#else
#define LARDSIM_API
#endif

struct lardsim; /* an instance; opaque */

/* Kinds of events; docs/events.md says what each means. Numbers never change. */
enum lardsim_kind {
    LARDSIM_READ = 1,
    LARDSIM_WRITE = 2,
    LARDSIM_RMW = 3,
    LARDSIM_ACQUIRE = 4,
    LARDSIM_RELEASE = 5,
    LARDSIM_ACQUIRE_SHARED = 6,
    LARDSIM_RELEASE_SHARED = 7,
    LARDSIM_FORK = 8,
    LARDSIM_JOIN = 9,
    LARDSIM_WAIT_ENTER = 10,
    LARDSIM_WAIT_EXIT = 11,
    LARDSIM_NOTIFY = 12,
    LARDSIM_VOLATILE_READ = 13,
    LARDSIM_VOLATILE_WRITE = 14,
    LARDSIM_BARRIER_ARRIVE = 15,
    LARDSIM_BARRIER_DEPART = 16,
    LARDSIM_CLASS_INIT = 17,
    LARDSIM_CLASS_USE = 18,
    LARDSIM_TXN_BEGIN = 19,
    LARDSIM_TXN_COMMIT = 20,
    LARDSIM_THREAD_START = 21,
    LARDSIM_THREAD_END = 22,
    LARDSIM_ALLOC = 23,
    LARDSIM_CLEAR = 24,
    LARDSIM_COPY = 25,
    LARDSIM_GC_BEGIN = 26,
    LARDSIM_GC_END = 27,
    LARDSIM_THREAD = 28,
    LARDSIM_READVC = 29,
    LARDSIM_WRITEVC = 30,
    LARDSIM_ROI_BEGIN = 31,
    LARDSIM_ROI_END = 32,
    LARDSIM_IO = 33,
    LARDSIM_PHASE = 34,
    LARDSIM_TIME = 35,
    LARDSIM_WAITED = 36,
    LARDSIM_BRANCHES = 37,
    LARDSIM_UNINSTRUMENTED = 38,
    LARDSIM_REMAP = 39
};

/* Flags of an event; LARDSIM_ORDER(1..5): relaxed, acquire, release, acq-rel, seq-cst. LARDSIM_C11
 * belongs to each atomic write and rmw of C11 or C++: a write then ends the release sequences of
 * other threads. Without it what it releases is merged into what others have released there, as by
 * a volatile of Java. */
enum lardsim_flag {
    LARDSIM_SYSTEM = 1 << 0,
    LARDSIM_STACK = 1 << 1,
    LARDSIM_VOLATILE = 1 << 2,
    LARDSIM_ARRAY = 1 << 3,
    LARDSIM_FINAL = 1 << 4,
    LARDSIM_IN_TXN = 1 << 5,
    LARDSIM_NURSERY = 1 << 9,   /* collections */
    LARDSIM_DEPENDENT = 1 << 9, /* accesses: the address was loaded */
    LARDSIM_STATIC = 1 << 12,
    LARDSIM_SAFE = 1 << 13,
    LARDSIM_C11 = 1 << 14
};
#define LARDSIM_ORDER(o) ((o) << 6)

enum lardsim_names {
    LARDSIM_NAME_THREAD,
    LARDSIM_NAME_OBJECT,
    LARDSIM_NAME_SITE,
    LARDSIM_NAME_PHASE
};

LARDSIM_API const char *lardsim_version(void);
LARDSIM_API struct lardsim *lardsim_new(void);    /* never NULL */
LARDSIM_API void lardsim_free(struct lardsim *l); /* NULL is fine */

/* Configuration, before lardsim_start; later calls win. */
LARDSIM_API int lardsim_load(struct lardsim *l, const char *yaml_path);
LARDSIM_API int lardsim_preset(struct lardsim *l, const char *name);
LARDSIM_API int lardsim_set(struct lardsim *l,
                            const char *assignment); /* "policy.vc.history=all" */

/* Results go to the folder dir: config.yaml, stats.json, stats.txt, stats.csv, races.jsonl,
 * host.json, provenance.json and DONE; they appear together. It must be missing or empty; if
 * overwrite is set, results of lardsim are replaced. It is this instance's alone until it is
 * finished or freed; a lock sees to that, which a child process inherits. Before lardsim_start. */
LARDSIM_API int lardsim_output(struct lardsim *l, const char *dir, int overwrite);

/* Called with each thing that happens in the run and passes the filter, as a line of text, valid
 * during the call: turns of events, messages, changes of state, checks, charges, sleeps
 * (docs/debugging.md). filter: "all", or some of event=, address=, line=, core= and cycles=, each
 * with a number or FROM-TO, with commas between them; all of them must hold. Another call adds a
 * filter; lines pass that any lets pass, and go to the function of the first call. Watching changes
 * no result. Before lardsim_start. */
LARDSIM_API int lardsim_debug(struct lardsim *l, const char *filter,
                              void (*fn)(void *arg, const char *line), void *arg);

LARDSIM_API int lardsim_start(struct lardsim *l);

/* Pull: reads the source to its end: a path, "-", or "synth:key=value,...". NULL: what the
 * parameter source says. */
LARDSIM_API int lardsim_run(struct lardsim *l, const char *source);

/* Push. An event that breaks a stream rule is an error. site 0: unknown. */
struct lardsim_event {
    uint64_t addr; /* accesses, objects; the destination of a copy; the value of a WriteVC; the
                      virtual address of a page */
    uint64_t aux;  /* the other thread, round, bytes of a region or page, kernel thread, index,
                      phase; how often a waiting loop read; instructions */
    uint64_t
        addr2; /* the source of a copy; elements of an array; outcomes of branches, the first in
                  bit 0; a page's physical address; 1 + the thread that ended a waiting loop */
    uint64_t site;
    uint32_t size; /* of an access; of an element; how many branches */
    uint32_t gap;  /* instructions since the thread's previous event */
    uint16_t thread;
    uint16_t flags; /* enum lardsim_flag */
    uint8_t kind;   /* enum lardsim_kind */
};
LARDSIM_API int lardsim_event(struct lardsim *l, const struct lardsim_event *ev);
LARDSIM_API int lardsim_access(struct lardsim *l, unsigned thread, enum lardsim_kind kind,
                               uint64_t addr, uint32_t size, unsigned flags, uint64_t site);
LARDSIM_API int lardsim_sync(struct lardsim *l, unsigned thread, enum lardsim_kind kind,
                             uint64_t object, uint64_t aux, unsigned flags, uint64_t site);
LARDSIM_API int lardsim_name(struct lardsim *l, enum lardsim_names space, uint64_t id,
                             const char *text);

/* ---- a host that has a clock: order=host ----------------------------------------------------
 *
 * Another simulator runs the program, and its clock is the clock. It pushes each event with the
 * core and the cycle, and gets back how many cycles the detector adds there. Needs a machine, whose
 * `cores` are the host's and whose `frequency` is the clock in which the host tells cycles; its
 * caches hold what the host's would, and answer the detector (docs/library.md). */

/* The core and the time of an event on the host. Events come in the order in which they happened.
 */
struct lardsim_at {
    uint64_t cycle; /* when the access was done, or the event happened */
    uint32_t took;  /* cycles from its start to then: what hardware checks beside it; 0: unknown */
    uint32_t gap;   /* instructions since the thread's previous event; 0: unknown, or none */
    uint32_t core;  /* numbered below `cores` */
    uint32_t level; /* of an access, with caches=host: enum lardsim_level, who answered; else 0 */
};
/* As lardsim_event, lardsim_access, lardsim_sync. *added: the cycles that the detector adds to that
 * core from at->cycle on: checks, its handlers, and what other cores' stops have cost this one
 * since its previous event. The host lets the core stand still for so long (host.delays=on, the
 * default: later cycles of that core contain it) or only counts (host.delays=off: its cycles never
 * do). NULL is fine. The gap of an event is at->gap, and ev->gap is 0. Without order=host: an
 * error. */
LARDSIM_API int lardsim_event_at(struct lardsim *l, const struct lardsim_at *at,
                                 const struct lardsim_event *ev, uint64_t *added);
LARDSIM_API int lardsim_access_at(struct lardsim *l, const struct lardsim_at *at, unsigned thread,
                                  enum lardsim_kind kind, uint64_t addr, uint32_t size,
                                  unsigned flags, uint64_t site, uint64_t *added);
LARDSIM_API int lardsim_sync_at(struct lardsim *l, const struct lardsim_at *at, unsigned thread,
                                enum lardsim_kind kind, uint64_t object, uint64_t aux,
                                unsigned flags, uint64_t site, uint64_t *added);

/* A core so far, in any order on a machine: its clock, and the cycles of it that the detector took
 * (handlers and stops). With order=host `added` is the sum of what lardsim_..._at gave back. Either
 * may be NULL. -1: no machine yet, or no such core (no error is set). */
LARDSIM_API int lardsim_cycles(const struct lardsim *l, unsigned core, uint64_t *clock,
                               uint64_t *added);

/* The statistics of the region of interest begin again, here: what regions have counted so far is
 * forgotten, and a region that is open goes on from here. (Regions begin and end by the events
 * LARDSIM_ROI_BEGIN and LARDSIM_ROI_END.) The run's totals, races and verdicts are not touched, and
 * distinct things (racy locations, sites, lines) are counted since the first region. */
LARDSIM_API int lardsim_reset(struct lardsim *l);

/* caches=host (with order=host): the lines are where the host says, those of access histories, too.
 * The machine's own caches are not used. Addresses are the program's: pages.mapping=identity. The
 * detector's own lie far above them. */
enum lardsim_level {
    LARDSIM_LEVEL_NONE,
    LARDSIM_LEVEL_L1,
    LARDSIM_LEVEL_L2,
    LARDSIM_LEVEL_L3,
    LARDSIM_LEVEL_REMOTE, /* another core's L1 or L2 */
    LARDSIM_LEVEL_MEMORY
};
enum lardsim_line_what {
    LARDSIM_LINE_FILL,       /* it came into a cache, */
    LARDSIM_LINE_TRANSFER,   /* from another core's: `from` */
    LARDSIM_LINE_DOWNGRADE,  /* this core may no longer write it: another one loads it */
    LARDSIM_LINE_INVALIDATE, /* it was taken away: another core stores */
    LARDSIM_LINE_EVICT,      /* it made room for another line */
    LARDSIM_LINE_RECALL      /* it was taken away: its room is needed in a cache below */
};
struct lardsim_line_event {
    uint64_t addr;  /* in the line */
    uint32_t what;  /* enum lardsim_line_what */
    uint32_t level; /* LARDSIM_LEVEL_L1, _L2 or _L3: which cache */
    uint32_t core;  /* whose; of an L3: who asked */
    uint32_t from;  /* TRANSFER: the core that gave it; else 0 */
    uint32_t by;    /* the core whose access caused it: it pays for what the detector does then */
    uint32_t dirty; /* 1: it differed from the level below */
};
/* Tells what happened to a line in a cache of the host: each fill and each loss, before the access
 * that caused it is pushed, or, of an access of the detector, before the callback below returns. */
LARDSIM_API int lardsim_line(struct lardsim *l, const struct lardsim_line_event *line);

struct lardsim_metadata {
    uint64_t addr, cycle; /* cycle: when it begins */
    uint32_t bytes, core; /* within one line */
    int kind;             /* LARDSIM_READ, LARDSIM_WRITE, LARDSIM_RMW; LARDSIM_CLEAR: see below */
    int history;          /* 1: no memory backs it: a line that is in no cache comes in empty */
};
struct lardsim_answer {
    uint64_t cycles; /* what it took */
    uint32_t level;  /* enum lardsim_level: who answered */
};
/* Called for each access of the detector's own, valid during the call: the host makes it in its
 * caches and answers. LARDSIM_CLEAR takes the line out of all caches; nothing of it is written, and
 * lardsim_line is not called for it. The callback may call lardsim_line, and nothing else of this
 * instance. Before lardsim_start. */
LARDSIM_API void lardsim_on_metadata(struct lardsim *l,
                                     void (*fn)(void *arg, const struct lardsim_metadata *what,
                                                struct lardsim_answer *answer),
                                     void *arg);

/* The events that are pushed go to a trace, too: run it later in recorded order for the same
 * verdicts, or in timed order on any machine. It appears when lardsim_finish succeeds. Before
 * lardsim_start. */
LARDSIM_API int lardsim_record(struct lardsim *l, const char *path, int overwrite);

/* Sets the caveat of the results: a reservation about the events that are pushed, as that some are
 * missing, which a reader needs to judge the results. The latest text counts. It is in the results,
 * as "caveat". Copied. Before lardsim_finish. */
LARDSIM_API int lardsim_caveat(struct lardsim *l, const char *text);

/* Ends the run as a limit does, within some thousand events: it then has an error, and
 * lardsim_exit_code is 128 + signal, the number of the one that is the cause. lardsim_finish writes
 * partial results. Safe in a signal handler, and from another thread, as long as l lives; a read
 * that waits for a silent pipe ends only if the signal interrupts it. */
LARDSIM_API void lardsim_stop(struct lardsim *l, int signal);

/* Completes statistics, checks invariants, writes the results. Also after an error: then what is
 * known so far is written, without DONE. */
LARDSIM_API int lardsim_finish(struct lardsim *l);

/* NULL: no error. The code is the one that the command line exits with. */
LARDSIM_API const char *lardsim_error(const struct lardsim *l);
LARDSIM_API int lardsim_exit_code(const struct lardsim *l);

/* A count by its full name, a ratio's halves by its name and ".num", ".den". In the middle of a
 * run: as of the latest event. -1: no such name, or a value that is known only at the end, and this
 * is not the end; in a callback also one that is known between events alone (no error is set). */
LARDSIM_API int lardsim_stat(const struct lardsim *l, const char *name, uint64_t *value);
LARDSIM_API uint64_t lardsim_digest(const struct lardsim *l); /* after lardsim_finish */
LARDSIM_API uint64_t lardsim_events(const struct lardsim *l); /* so far */

/* The label of the i-th policy, in the order of `policies`; NULL past the last. From the first
 * event on; the text lives as long as l. */
LARDSIM_API const char *lardsim_policy(const struct lardsim *l, size_t i);

struct lardsim_side {
    uint64_t event, site;    /* site 0: unknown */
    const char *site_name;   /* NULL: not named */
    const char *thread_name; /* NULL: not named */
    uint32_t thread;
    int kind;   /* enum lardsim_kind */
    int known;  /* 0: the policy doesn't know this side */
    int region; /* it knows not the access but its region: event is the first that may belong to it
                 */
    uint64_t interval; /* of the thread's, from 1, where a policy has such (cvm); else 0 */
};
/* The object at an address: one that the events have allocated or copied, or that has a name. */
struct lardsim_object {
    const char *name;      /* NULL: not named */
    uint64_t offset;       /* of the address in it */
    uint64_t size;         /* of the object in bytes; 0: unknown */
    uint64_t event, site;  /* of its allocation, where that is known; site 0: unknown */
    const char *site_name; /* NULL: not named */
    int known;             /* 0: nothing is known to lie there */
    int allocated;         /* its allocation is known */
};
struct lardsim_race {
    const char *policy; /* label, as lardsim_policy */
    struct lardsim_side is, earlier;
    uint64_t addr, id;
    uint32_t size;
    int system;
    struct lardsim_object object; /* at addr */
};
/* Called at each racy access, valid during the call. Before lardsim_start. */
LARDSIM_API void lardsim_on_race(struct lardsim *l,
                                 void (*fn)(void *arg, const struct lardsim_race *race), void *arg);
/* Called now and then with the events so far; from lardsim_run alone. */
LARDSIM_API void lardsim_on_progress(struct lardsim *l, void (*fn)(void *arg, uint64_t events),
                                     void *arg);
/* How far lardsim_run has come: *done of *all, in units of the source's own (events, bytes of a
 * file), and never more than all. -1: how long the source is is not known, as of a pipe (no error
 * is set). For showing: it runs somewhat ahead of the events. */
LARDSIM_API int lardsim_progress(const struct lardsim *l, uint64_t *done, uint64_t *all);
/* Called by lardsim_finish for each value the user gave that had no effect. */
LARDSIM_API void lardsim_on_unused(struct lardsim *l,
                                   void (*fn)(void *arg, const char *name, const char *origin),
                                   void *arg);

/* ---- errors of calls that have no instance ----------------------------------------------------
 */

/* Returns where the instance's error stands. A call that takes a struct err puts its own there: it
 * is given this one, and lardsim_error says it. A call that is given one with an error fails. */
struct err;
LARDSIM_API struct err *lardsim_err(struct lardsim *l);

/* ---- tables, and what a configuration says ----------------------------------------------------
 */

enum lardsim_table {
    LARDSIM_PARAMETERS, /* text: the default */
    LARDSIM_STATISTICS, /* text: the unit */
    LARDSIM_PRESETS,    /* text: as YAML */
    LARDSIM_POLICIES    /* text: what lardsim_promise says of its property */
};
/* Calls fn for each row of a table, as `lardsim list` names them. Parameters of a policy stand
 * under its name; statistics are those of a run with all policies, held against vc. */
LARDSIM_API void lardsim_each(enum lardsim_table table,
                              void (*fn)(void *arg, const char *name, const char *text,
                                         const char *help),
                              void *arg);
LARDSIM_API bool lardsim_is_preset(const char *name);

/* As lardsim_set, but messages and config.yaml name the origin: "sweep.yaml:7". */
LARDSIM_API int lardsim_set_from(struct lardsim *l, const char *assignment, const char *origin);
/* Returns the last text given so far for a parameter; NULL: none. */
LARDSIM_API const char *lardsim_given(const struct lardsim *l, const char *parameter);
/* The hash of all that was given before lardsim_start: if two are equal, so are their
 * configurations. */
LARDSIM_API uint64_t lardsim_given_hash(const struct lardsim *l);
/* Returns the value of a parameter as lardsim_set takes it, for free(); NULL: it has none, or an
 * error. Once started; before that of the top level alone, and then the instance is for such
 * questions only: it takes no settings any more, and can't start. */
LARDSIM_API char *lardsim_setting(struct lardsim *l, const char *name);
/* Calls fn for each parameter, by name. Once started; all of them from the first event on. */
LARDSIM_API void lardsim_each_setting(const struct lardsim *l,
                                      void (*fn)(void *arg, const char *name, const char *text),
                                      void *arg);
/* Starts the run, and makes its parts as for a trace with this granularity (0: none is known).
 * Nothing is read, nor written to a folder. Returns the configuration but for its source as lines
 * name=value, sorted, for free(): equal for equal configurations. NULL: error. */
LARDSIM_API char *lardsim_resolve(struct lardsim *l, unsigned granularity);
/* Names the policies of other runs that share this run's configuration: values for those policies
 * ("vc", "naive=vc") are no mistakes, and have no effect. Borrowed. Before lardsim_start. */
LARDSIM_API void lardsim_others(struct lardsim *l, const char *const *spec, size_t n);

struct lardsim_promise {  /* of an instance of a policy; valid until the next, as long as l lives */
    const char *policy;   /* its name */
    const char *property; /* what its verdicts are about */
    const char *view;     /* what it looks at: names of views, with commas between */
    bool exact;           /* it is about happens-before: each access that races, and no other */
    bool by_access, regions;  /* it decides on each access; on regions */
    bool hardware, charges;   /* its histories are in the caches; it takes time on a machine */
    bool by_process, inlines; /* metadata are of one process each; they may lie beside fields */
};
/* Says what a policy as `policies` names it ("vc", "naive=vc") promises with the parameters of this
 * instance. If it is none of the run's it is made for a moment: then as lardsim_setting. */
LARDSIM_API int lardsim_promise(struct lardsim *l, const char *spec, struct lardsim_promise *to);

/* -1: the label of a policy as `policies` names it, in n characters, is another policy's name. */
LARDSIM_API int lardsim_label_check(const char *spec, size_t n, struct err *e);
/* Whether a run of this source on the machine of these settings, with their order, is in program
 * order. As lardsim_setting. */
LARDSIM_API bool lardsim_asks(struct lardsim *l, const char *source);

/* ---- what a run says of itself ----------------------------------------------------------------
 */

/* The digest of the events so far. */
LARDSIM_API uint64_t lardsim_identity(const struct lardsim *l);
/* The digest of what happened alone, without echoes of the configuration: two runs that differ in a
 * parameter that did not matter have the same. After lardsim_finish. */
LARDSIM_API uint64_t lardsim_behaviour(const struct lardsim *l);
/* The words of the command line, for provenance.json. Before lardsim_finish; once. */
LARDSIM_API void lardsim_command(struct lardsim *l, const char *const *word, size_t n);
/* As lardsim_output, for a folder inside one of the caller's own: it has no lock. */
LARDSIM_API int lardsim_output_private(struct lardsim *l, const char *dir);

/* A run on a machine keeps its events in the order in which the policies decided on them, as a
 * trace that begins with event 0; and in a file of uint64_t, their numbers in the recording. Also
 * of a run that stops early. Both are new files. Its source is pulled. Before lardsim_start. */
LARDSIM_API int lardsim_keep_executed(struct lardsim *l, const char *trace, const char *numbers);

/* The run writes a timeline to this file. Before lardsim_start. */
LARDSIM_API int lardsim_timeline(struct lardsim *l, const char *path, bool overwrite);
/* After lardsim_finish: the timeline stops at this cycle, as it has timeline.max slices. */
LARDSIM_API bool lardsim_timeline_cut(const struct lardsim *l, uint64_t *at);
/* "order", "contention", "memory": as this run has it; NULL: no machine. From the first event on.
 */
LARDSIM_API const char *lardsim_machine_is(const struct lardsim *l, const char *what);

/* The uses of the cycles of a machine's cores: SPENT(NAME, text, help) for each; the statistic is
 * machine.spent.<text>. The last two are of distributed shared memory alone. */
#define LARDSIM_SPENT(SPENT)                                                                       \
    SPENT(EXECUTING, "executing", "Cycles of instructions.")                                       \
    SPENT(L1, "l1", "Cycles of accesses that the L1 answered.")                                    \
    SPENT(L2, "l2", "Cycles of accesses that the L2 answered.")                                    \
    SPENT(L3, "l3", "Cycles of accesses that the L3 answered.")                                    \
    SPENT(REMOTE, "remote",                                                                        \
          "Cycles of accesses that another core's cache answered or had to give up.")              \
    SPENT(MEMORY, "memory", "Cycles of accesses that memory answered.")                            \
    SPENT(STORE_BUFFER, "store-buffer",                                                            \
          "Cycles waited for the store buffer: full, or drained at synchronisation.")              \
    SPENT(MISSES, "misses",                                                                        \
          "Cycles waited for outstanding loads: too many, or all at synchronisation.")             \
    SPENT(ATOMIC, "atomic", "Cycles of atomics beyond what their lines take.")                     \
    SPENT(LOCK, "wait-lock", "Cycles waited for locks.")                                           \
    SPENT(BARRIER, "wait-barrier", "Cycles waited at barriers.")                                   \
    SPENT(JOIN, "wait-join", "Cycles waited for threads to end.")                                  \
    SPENT(VOLATILE, "wait-volatile", "Cycles waited to keep the order of a volatile or atomic.")   \
    SPENT(CLASS, "wait-class", "Cycles waited for a class's initialisation.")                      \
    SPENT(COMMIT, "wait-commit", "Cycles waited for transactions that share a variable.")          \
    SPENT(HEAP, "wait-heap", "Cycles waited for a clear, copy or allocation of the same memory.")  \
    SPENT(COLLECTION, "wait-collection", "Cycles waited while a collection stops the world.")      \
    SPENT(KERNEL, "wait-kernel",                                                                   \
          "Cycles waited for another language thread on the same kernel thread.")                  \
    SPENT(WINDOW, "wait-window", "Cycles that passed because the window of the trace was full.")   \
    SPENT(SWITCH, "switch", "Cycles of thread switches.")                                          \
    SPENT(STOPPED, "stopped", "Cycles that a policy stopped the core for, as it had to stop all.") \
    SPENT(HANDLER, "handler", "Cycles of a policy's instructions and accesses.")                   \
    SPENT(IDLE, "idle", "Cycles without a thread.")                                                \
    SPENT(PAGE_FAULT, "page-fault",                                                                \
          "Cycles of page faults: until the page is there, and may be used.")                      \
    SPENT(SERVICE, "service", "Cycles of messages of others that the process had to answer.")

/* Cycles when the first step, 2 step, ... n step events were done: of the regions of interest, or
 * of the run where none is marked; and of all of them. */
enum { LARDSIM_COURSE_SAMPLES = 128 };
struct lardsim_course {
    uint64_t step;
    size_t n;
    uint64_t cycles[LARDSIM_COURSE_SAMPLES];
    uint64_t events, total;
};
/* After lardsim_finish. False: no machine, or no event. */
LARDSIM_API bool lardsim_course(const struct lardsim *l, struct lardsim_course *to);

struct lardsim_knob {         /* a parameter that could not matter */
    char *parameter, *change; /* own; change: "any", "larger", "smaller", "multiple", or a value */
};
struct lardsim_finding {
    const char *key;
    char *sentence;            /* owns */
    struct lardsim_knob *knob; /* owns; none: a fact without a claim */
    size_t knobs;
};
struct lardsim_findings {
    struct lardsim_finding *at; /* owns */
    size_t n;
};
/* The findings of a run, after lardsim_finish; none if it stopped early. To be freed. */
LARDSIM_API struct lardsim_findings lardsim_findings(const struct lardsim *l);
LARDSIM_API void lardsim_findings_free(struct lardsim_findings *all);
struct json;
/* In lardsim's own programs: writes the member "findings"; "object", "offset", "allocated" and
 * "allocated_at". */
LARDSIM_API void lardsim_findings_json(const struct lardsim_findings *all, struct json *j);
LARDSIM_API void lardsim_object_json(const struct lardsim_object *o, struct json *j);

/* ---- sources, event by event ------------------------------------------------------------------
 */

struct lardsim_source;
/* source: as lardsim_run takes it. NULL: error. */
LARDSIM_API struct lardsim_source *lardsim_source_open(const char *source, struct err *e);
LARDSIM_API void lardsim_source_close(struct lardsim_source *s); /* NULL is fine */
/* Reads the next event: 1; 0: there is none; -1: error. */
LARDSIM_API int lardsim_source_next(struct lardsim_source *s, struct lardsim_event *ev,
                                    struct err *e);
struct lardsim_source_info {
    const char *name, *layout;
    uint64_t first;       /* number of the first event */
    unsigned granularity; /* in bytes; 0: none is known */
    bool asked;           /* a machine may ask its threads (order=program) */
};
LARDSIM_API struct lardsim_source_info lardsim_source_info(const struct lardsim_source *s);
/* NULL: not named so far. */
LARDSIM_API const char *lardsim_source_name(const struct lardsim_source *s,
                                            enum lardsim_names space, uint64_t id);
/* The path in a source; NULL: its events are made without a file. */
LARDSIM_API const char *lardsim_source_path(const char *source);
/* The parameter that says how long the program of a generated source runs, and its seed. -1: it is
 * no program, or has none. */
struct lardsim_source_length {
    const char *name;
    uint64_t value, most;
};
LARDSIM_API int lardsim_source_length(const char *source, struct lardsim_source_length *to,
                                      struct err *e);
LARDSIM_API int lardsim_source_seed(const char *source, uint64_t *to, struct err *e);
/* The source with this parameter, whatever it was; for free(). */
LARDSIM_API char *lardsim_source_with(const char *source, const char *name, uint64_t value);
/* Whether races are put into it: its label wherever they are counted. */
LARDSIM_API bool lardsim_source_plants(const char *source);
struct lardsim_unmoved { /* what a collector does to memory in it, complete at its end */
    uint64_t uses_again; /* uses by the program of memory where it has used another object */
    uint64_t uses_moved; /* uses of what has another address than at the use before */
    uint64_t system;     /* accesses and synchronisation of the runtime */
};
/* A workload, or a trace in a file, as it would be if no memory were used twice and nothing moved:
 * an event of the runtime's own, or about memory, means nothing there. NULL: error. */
LARDSIM_API struct lardsim_source *lardsim_unmoved(const char *source, struct lardsim_unmoved *to,
                                                   struct err *e);
/* Runs it to its end, as lardsim_run; takes s. */
LARDSIM_API int lardsim_run_source(struct lardsim *l, struct lardsim_source *s);

struct lardsim_reading {
    uint64_t events, done, all; /* done of all: as lardsim_progress; all 0: not known */
    bool over;                  /* the end was read */
};
typedef int lardsim_read_fn(void *arg, const struct lardsim_reading *at, struct err *e);
/* A source that calls fn for each batch of events that is read, also by lardsim; e has an error if
 * that failed. -1: it fails. at is NULL when it is closed. Takes s; NULL gives NULL. */
LARDSIM_API struct lardsim_source *lardsim_source_watch(struct lardsim_source *s,
                                                        lardsim_read_fn *fn, void *arg);

struct lardsim_summary { /* of all that a source has, if it could be read */
    uint64_t first, events, identity;
    uint64_t names;       /* a hash of them; 0: there are none */
    uint64_t bytes;       /* of the file */
    unsigned granularity; /* 0: none is known */
    const char *layout;   /* NULL: of no particular runtime */
    bool counted;         /* it could */
    char damage[256];     /* else why */
};
/* Reads all of the source; a trace in a file that has a footer, without its events. */
LARDSIM_API int lardsim_summarize(const char *source, struct lardsim_summary *to, struct err *e);

struct lardsim_kind_info {
    const char *text, *help;          /* text: the word of the text form */
    bool access, sync, heap;          /* its class, if it is one of these */
    bool at;                          /* addr is an address */
    bool of_object, of_thread, alone; /* addr is an object; aux is a thread; it has no operand */
    unsigned char object;             /* kinds with one number are about the same sort of object */
};
/* False: there is no such kind. */
LARDSIM_API bool lardsim_kind_info(int kind, struct lardsim_kind_info *to);

/* Writes a trace, with the names of a source and what that says of itself. -1 when it is closed,
 * also if e has an error of the caller's by then: the file does not count. */
struct lardsim_writer;
LARDSIM_API struct lardsim_writer *lardsim_writer(const char *path,
                                                  const struct lardsim_source *like, struct err *e);
LARDSIM_API int lardsim_writer_event(struct lardsim_writer *w, const struct lardsim_event *ev,
                                     struct err *e);
LARDSIM_API int lardsim_writer_close(struct lardsim_writer *w, struct err *e);

/* Holds events against all stream rules. An event that breaks one is as if it were not there; the
 * end, too, may break one. */
struct lardsim_rules;
LARDSIM_API struct lardsim_rules *lardsim_rules_new(void);
LARDSIM_API int lardsim_rules_event(struct lardsim_rules *r, const struct lardsim_event *ev,
                                    struct err *e);
LARDSIM_API int lardsim_rules_free(struct lardsim_rules *r, struct err *e);

/* ---- several runs over one reading of a source ------------------------------------------------
 */

struct lardsim_shared;
/* rules: hold the events against the stream rules, for runs whose trace.rules is on. keep: records
 * that a run goes through at its turn; 0: a batch, however long. NULL: error. */
LARDSIM_API struct lardsim_shared *lardsim_shared_open(const char *source, bool rules, size_t keep,
                                                       struct err *e);
/* After lardsim_start, instead of lardsim_run. The reading outlives l. */
LARDSIM_API void lardsim_shared_add(struct lardsim_shared *s, struct lardsim *l);
/* Runs them all; ended is called for each that needs no more events: for lardsim_finish, and to
 * free it. -1: the source failed, or broke a rule; runs that have not ended can only be freed, and
 * each by itself says what its results are. */
LARDSIM_API int lardsim_shared_run(struct lardsim_shared *s,
                                   void (*ended)(void *arg, struct lardsim *l), void *arg,
                                   struct err *e);
/* The source ends after the batch in hand. */
LARDSIM_API void lardsim_shared_stop(struct lardsim_shared *s);
LARDSIM_API bool lardsim_shared_stopped(const struct lardsim_shared *s);
LARDSIM_API void lardsim_shared_free(struct lardsim_shared *s); /* NULL is fine */

/* ---- policies of a run held against one of them (docs/compare.md) -----------------------------
 */

LARDSIM_API int lardsim_compare(struct lardsim *l); /* this run compares; before lardsim_start */

struct lardsim_instance {         /* valid while l is */
    const char *label, *property; /* property: what it promises */
    bool truth;
    bool by_access; /* accesses are compared, too; else locations and pairs of sites alone */
    bool same;      /* so far: as the truth, accesses, or locations where those are not compared */
};
/* From the first event on. False: past the last. Counts are the statistics compare.<label>.... */
LARDSIM_API bool lardsim_compare_instance(const struct lardsim *l, size_t i,
                                          struct lardsim_instance *to);

struct lardsim_difference { /* valid during the call */
    const char *policy, *verdict, *of;
    struct lardsim_side is, earlier; /* as the one that reports names them */
    uint64_t noticed; /* the event at which it was told: that of the access, or a later one */
    uint64_t addr, location;
    const char *location_name;    /* NULL: not named */
    struct lardsim_object object; /* at addr; of a location or pair at location */
    uint32_t size;
    bool system;
    const char *reported_by, *why, *reason;
};
/* Called for each difference, compare.max times at most. Before lardsim_start. */
LARDSIM_API void lardsim_on_difference(struct lardsim *l,
                                       void (*fn)(void *arg, const struct lardsim_difference *),
                                       void *arg);

/* ---- why two accesses race, or why they do not (docs/why.md) ----------------------------------
 */

/* The order in which a run executed the events of a recording: the numbers that
 * lardsim_keep_executed wrote. NULL: error. */
struct lardsim_executed;
LARDSIM_API struct lardsim_executed *lardsim_executed_open(const char *path, struct err *e);
LARDSIM_API void lardsim_executed_close(struct lardsim_executed *x); /* NULL is fine */
/* How many there are, and the number of the event that ran at a position, from 0 on. */
LARDSIM_API uint64_t lardsim_executed_events(const struct lardsim_executed *x);
LARDSIM_API uint64_t lardsim_executed_event(const struct lardsim_executed *x, uint64_t position);

struct budget;
struct lardsim_why_ask {
    /* The same events each time. */
    struct lardsim_source *(*open)(void *arg, struct err *e);
    void *arg;
    const char *name; /* of the source, for messages; NULL: its own */
    /* The numbers of these events, which stand in the order in which a run executed them; NULL: in
     * that of the recording. */
    const struct lardsim_executed *executed;
    const char *view;    /* the names of views, with commas between: as the parameter has it */
    const char *granule; /* "trace", "field", "4": as the parameter has it */
    uint64_t event;      /* of the access, or its commit */
    bool paired;         /* the other one is known, too: */
    uint64_t earlier;    /* its event, or its commit's. It may come after `event`, where a policy
                            notices late: then that is the earlier one */
    bool reported;       /* a policy reports it, be it late: the other side may come after it */
    bool placed;         /* the access is known: */
    uint64_t addr;       /* of a commit's accesses, the one here */
    uint32_t size;
    size_t nth;            /* of a commit's accesses, this one, from 1; 0: the likeliest */
    uint64_t memory;       /* the most that is kept, in bytes; 0: no limit */
    struct budget *budget; /* lardsim's own */
};

/* An event of the trace. Lines are in the order of their positions, and go by their numbers. */
struct lardsim_why_line {
    uint64_t position; /* among the events as they are read */
    uint64_t number;   /* in the recording */
    uint64_t kernel;   /* 1 + the kernel thread on which its thread runs; 0: not told */
    struct lardsim_event ev;
    struct lardsim_object at; /* at its address, at that time; its site is not named */
};

struct lardsim_why_hold { /* a lock that is held */
    uint64_t addr;
    uint64_t since; /* the number of the event that acquired it */
    uint32_t depth;
    bool shared;
    bool system; /* the runtime system acquired it: that orders nothing, unless the view heeds it */
};

struct lardsim_why_side {
    struct lardsim_why_line
        line;       /* the access; its number is that of the event at which it takes effect */
    bool committed; /* with a transaction: the number is the commit's */
    bool unchecked; /* outside the view */
    struct lardsim_why_hold *hold; /* owns; in the order in which they were acquired */
    size_t holds, holds_cap;
};

/* How a thread got to know of another's past: at `from` that thread gave what it knew, at `to` this
 * one took it. */
struct lardsim_why_edge {
    struct lardsim_why_line from, to;
    uint16_t from_thread, to_thread;
    uint32_t from_actor;
    bool unknown; /* what `from` is, the events do not say */
};

struct lardsim_why_reach { /* an actor that knows of the earlier access */
    uint16_t thread;
    struct lardsim_why_edge edge; /* by which it first did; of the earlier access's own: none */
    struct lardsim_why_line out;  /* what it gave last since; outs 0: nothing */
    uint64_t outs;
};

struct lardsim_why_move {         /* a clear, or a copy, of the memory between the two accesses */
    struct lardsim_why_line line; /* ev is all zero where it lies beyond what is read */
    bool copy, ignored;           /* by the view */
};
enum {
    LARDSIM_WHY_MOVES = 64,
    LARDSIM_WHY_WINDOW = 3
}; /* kept at most; lines on either side of an access */

enum lardsim_verdict {
    LARDSIM_WHY_ALONE,   /* no earlier access of another thread conflicts */
    LARDSIM_WHY_APART,   /* the earlier access is of another life of the memory, or conflicts with
                            nothing */
    LARDSIM_WHY_OUTSIDE, /* nothing orders them, but the view does not check one of them */
    LARDSIM_WHY_IS_ORDERED,
    LARDSIM_WHY_RACES
};

struct lardsim_why {
    enum lardsim_verdict verdict;
    unsigned view, granule;  /* view: in bits; 0: tracked */
    bool by_kernel, no_copy; /* of it: threads are kernel threads; copies are ignored */
    struct lardsim_why_side later, earlier; /* earlier: not where it is ALONE */
    /* The clock of the later access's thread, in the entry of the earlier's actor. */
    uint64_t needed, had;
    struct lardsim_why_line learned; /* the event by which it had that; */
    bool has_learned;                /* there is one between the two accesses, or before */
    struct lardsim_why_edge *chain;  /* owns; IS_ORDERED: from the earlier to the later */
    size_t chains;
    struct lardsim_why_reach
        *reach; /* owns; the earlier one's own first, then as they came to know */
    size_t reaches;
    struct lardsim_why_line out; /* the first that the earlier access's thread gives since */
    bool has_out;
    struct lardsim_why_line in; /* the last that the later one's thread takes before it */
    bool has_in;
    /* An edge from here to the later access would order the two: from the latest event at which a
     * thread that knows of the earlier one gives, or from the earlier access itself. */
    struct lardsim_why_line missing;
    uint64_t newer; /* the number of a write between the two that takes the earlier's place */
    bool displaced; /* newer is one */
    struct lardsim_why_move move[LARDSIM_WHY_MOVES]; /* the latest of them, as they came */
    size_t moves, moves_in_all;
    struct lardsim_why_line window[2]
                                  [2 * LARDSIM_WHY_WINDOW + 1]; /* around the earlier, the later */
    size_t windows[2];
    const char *name;              /* of the source */
    size_t accesses;               /* that take effect with the event that is asked about */
    uint64_t passes;               /* how often it was read */
    struct lardsim_source *source; /* owns; names */
};

/* The answer in a policy's view, and beside it the answer in the view tracked: about the same two
 * accesses, if one of the views finds a race. A policy may name another access than the one that it
 * races with; then it is any that it does race with. */
struct lardsim_why_both {
    struct lardsim_why *why;
    struct lardsim_why *truth; /* NULL: the view is tracked */
    struct budget *budget;     /* lardsim's own */
};
/* The source is read a few times, and never kept. To be freed, also after an error. */
LARDSIM_API int lardsim_why(const struct lardsim_why_ask *ask, struct lardsim_why_both *to,
                            struct err *e);
LARDSIM_API void lardsim_why_free(struct lardsim_why_both *both);

#ifdef __cplusplus
}
#endif
#endif
