/* radish.h - inside the hardware detector: history lines on chip, what they hold, and who does what
 * with them (docs/lardish.md states the model; LARD 4.2 and Appendix A).
 *
 * A line of data has `kinds` history lines at each core, each of `entries` entries of 4 bytes, one
 * for each granule: when the core's thread last read and wrote it. Beside these an entry has a
 * permission, which says that such an access was checked and nobody has come in conflict since, and
 * a status: whether the software manager has to be asked for the rest of the history. What a line
 * holds exists here exactly while the line is on chip; what leaves goes to the manager.
 *
 * A hook first decides, without anything that takes time, and then pays: with a machine, every
 * access may let other cores go on. */
#ifndef LARDSIM_RADISH_H
#define LARDSIM_RADISH_H

#include "policy/hb/hb.h"
#include "policy/cost/ledger.h"
#include "policy/cost/software.h"
#include "policy/op.h"
#include "policy/policy.h"
#include "runtime/runtime.h"
#include "swmanager/swmanager.h"

enum { PAGE_BITS = 12 };                     /* of addresses in the pages that had history */
enum { RADISH_ENTRY = 4 };                   /* bytes of an entry in its history line */
enum { RADISH_PAGE_MIN = 512 };              /* bytes; a part of a region is no smaller */
enum { RADISH_BLOCKED_MAX = 2 * MAX_CORES }; /* a core copies one part at a time: two sides */

enum { OVERLAP_MAX, OVERLAP_SUM };          /* an access and its history's: side by side; in turn */
enum { CHECKS_SYNCHRONOUS, CHECKS_QUEUED }; /* in software: the program waits; goes on */
enum { FLUSH_EAGER, FLUSH_LAZY };           /* when another thread comes: at once; line by line */
enum { ANSWERS_LINE, ANSWERS_GRANULES };    /* entries that other cores send */
enum { FILL_CHECKS, FILL_STATUS };          /* what a filled line comes with */
/* The source that knows that the manager has nothing: itself alone; a word of the page; a bit with
 * the data line. */
enum { EMPTY_ASK, EMPTY_PAGE, EMPTY_LINE };

struct radish_params {     /* radish.c has their meaning, name by name */
    uint64_t base, memory; /* where history lines are; how much data has them */
    uint64_t page;         /* bytes that one clear or copy goes through */
    uint64_t clock_bits;   /* of a clock in hardware; 0: unbounded */
    uint64_t queue, spare; /* room in the queue; the core that serves it */
    uint32_t overlap, checks, flush, answers, fill, empty; /* choices, of the enums above */
    bool runtime, in_cache, move_history;
    uint32_t runtime_without; /* of the runtime's parts */
    struct swm_params manager;
};

static inline sim_cycle latest(sim_cycle a, sim_cycle b)
{
    return a > b ? a : b;
}

/* ---- accesses ------------------------------------------------------------------------------- */

_Static_assert((int)OP_KIND_BITS == (int)SWM_OP_KIND_BITS, "the manager has the same ops");

/* Granules of a history line, a bit for each. */
typedef uint64_t granule_set;

struct access_record { /* a thread's last access of a class to these granules */
    granule_set set;   /* empty: there is none */
    uint64_t time;     /* the thread's own */
    /* Not modelled: which access it was, for reports. */
    uint64_t event, site;
    sim_tid tid;
    uint8_t op;   /* its class is modelled */
    bool saved;   /* the manager has it */
    bool touched; /* saved, but the report's part is newer here */
};

/* ---- lines on chip -------------------------------------------------------------------------- */

/* One core's history line. What most accesses look at is together: in the second 64 bytes, and a
 * few bytes of `at`. */
struct hline {
    struct hline *next;            /* of other cores, for the same data */
    struct hline *later, *earlier; /* of the core, or waiting to be stored */
    struct data_line *data;        /* whose history this is */
    granule_set has[OP_CLASSES];   /* granules with a record of the class */

    uint64_t number;                 /* line_number */
    uint64_t there;                  /* it was on chip when the machine had lost so many */
    uint32_t actor;                  /* the thread tag: whose accesses these are */
    uint8_t core, kind;              /* kind: which of the history lines of its data */
    bool coming;                     /* the access that brings it is decided, and not yet made */
    bool leaving;                    /* not on chip any more: a handler is storing it */
    bool dirty;                      /* stored to since it came */
    bool stays;                      /* a copy takes it along in the caches */
    granule_set may_read, may_write; /* permissions; may_write is part of may_read */
    granule_set kept; /* the manager has something of it: what a write makes void there */
    /* Places for records; an empty one has no granules. Of two reads of a granule the earlier has
     * the lower place. */
    struct access_record *record; /* owns: a block of this size, or NULL */
    uint8_t n, size;              /* places ever used; the block has room for 3 << size */
    uint8_t empty; /* the place that became so last, plus 1, and from there by `time`; 0: none */

    /* Status: the manager has the last write, or reads of others since it, that no line on chip may
     * have. Both are parts of `kept`. */
    granule_set soft_write, soft_reads;
    uint8_t at[]; /* by granule, then class: its record's place, plus 1; 0: none */
};
enum { RADISH_SIZES = 7 }; /* of blocks of records: 3 << size, as a granule has at most 3 */

struct data_line {           /* a data line that has history on chip */
    uint64_t line;           /* its physical number */
    uint64_t hears[2];       /* cores that the home would tell of another's access */
    uint32_t lines, queued;  /* history lines; checks in the queue */
    struct hline *of_kind[]; /* lists of its history lines, those that leave included */
};

struct radish_core {
    struct hline *first, *last; /* its lines on chip, in the order in which they came */
    uint64_t lines;
    struct map here; /* the same, by number */
    uint32_t actor;  /* of the thread on it */
    bool taken;      /* there is one */
};

struct queued_check { /* in software; its verdict is told already */
    struct data_line *data;
    uint64_t id;
    sim_cycle done;      /* when it is over; CYCLE_NEVER: not known yet */
    granule_set set;     /* what it looks at, */
    granule_set granted; /* and what of it then gets permission */
    uint32_t actor;      /* whose access it was, */
    uint8_t core, kind;  /* by which history line */
    bool write;
};

struct blocked { /* a region that a copy works on */
    struct paddr from;
    uint64_t bytes;
    sim_cycle begin, end; /* CYCLE_NEVER: still going on */
};

enum check_outcome {                     /* of a history line that an access touches */
                     OUTCOME_PERMISSION, /* enough for all granules */
                     OUTCOME_FILLED, /* the manager has just filled it, and it came with permission
                                      */
                     OUTCOME_LOCAL,  /* checked against the own entries, */
                     OUTCOME_REMOTE, /* those of other cores, which were asked, */
                     OUTCOME_PIGGYBACKED, /* or whose entries came along with what was sent anyway,
                                           */
                     OUTCOME_SOFTWARE,    /* and by the manager */
                     OUTCOMES
};
enum software_need { /* what was not on chip */
                     NEED_WRITE,
                     NEED_READS,
                     NEED_BOTH,
                     SOFTWARE_NEEDS
};

struct radish_stats {
#define STATS_DEF "policy/radish/stats.def"
#include "base/stats_fields.h"
};

struct visit { /* of the lines of a part of a region, for one handler */
    unsigned core;
    sim_cycle until; /* checks that had to be over first */
};

struct copy_regions { /* of a copy */
    struct vaddr to, from;
    uint64_t bytes;
};
struct held_copy; /* a copy that is held back, of radish/move.c */
struct held_set {
    struct held_copy **at;  /* own */
    size_t n, cap;          /* those that are over included, */
    size_t live;            /* and without them */
    size_t busy;            /* in the making: then nothing moves in `at` */
    struct map pages;       /* page to the first node of those that touch it, plus 1 */
    struct held_node *node; /* owns */
    size_t nodes, nodes_cap;
    /* A handler that an access has entered as it was decided, and that its core has not paid. */
    struct visit due[MAX_CORES];
    bool open[MAX_CORES];
};

struct flushed {            /* lines that left before an access could go on: lists */
    struct hline *switched; /* another thread has the core */
    struct hline *rolled;   /* a clock no longer fits, and all begin anew */
    struct hline *gone;     /* the caches have thrown them out */
    struct hline *homeless; /* still in the caches; their data are not */
    sim_cycle drained;      /* checks that had to be over first */
    bool held;              /* a copy was held back, and could be no longer */
};

struct check_paid {  /* what a handler of the manager looks at */
    uint64_t line;   /* of data, */
    unsigned kind;   /* which of its history lines, */
    granule_set set; /* these granules; */
    bool reads;      /* also who has read, as a write is to be checked */
};
struct handler { /* that a core runs when it pays for an access that was decided before */
    union {
        struct { /* a fill or a check */
            struct check_paid check;
            struct hline *stored; /* first, of a line that is filled; NULL: none */
            uint64_t id;          /* in the queue */
        };
        struct flushed flushed; /* lines to store */
        struct event lowered;   /* an event that the language runtime has to do with */
    };
};
/* Kinds of accounts in the ledger: accesses that were decided; copies that an access has brought
 * on, paid as one handler before all of them; what the handler in hand has done in one step. */
enum { OF_ACCESSES, OF_COPIES, OF_HANDLER, ACCOUNTS };

struct radish {
    const struct policy_env *env;         /* borrowed */
    const struct policy_machine *machine; /* NULL: none */
    struct radish_params params;
    bool lard; /* a copy's destination must be empty */
    unsigned cores;
    unsigned granule_shift, line_shift, number_shift; /* address to granule, line, line_number */
    unsigned entries, kinds; /* of a history line; history lines of a line. Powers of two */
    uint64_t stride;         /* bytes of one core's history lines */
    struct swmanager *manager;
    struct runtime *runtime;  /* NULL: nobody pays for one */
    struct software software; /* as which it runs */
    struct map data;          /* number to struct data_line * */
    struct data_line *latest; /* the one that was asked for last, or NULL */
    struct map pages;         /* that ever had history: a set of numbers */
    struct radish_core core[MAX_CORES];
    struct hline **hint; /* owns; by core: of the access that it comes to, on chip; or NULL */
    struct pool lines, records[RADISH_SIZES], data_lines; /* of hlines; their records; data_lines */
    uint32_t *at_core;                                    /* by actor: the core it is on, plus 1 */
    uint64_t *base; /* by actor: what clocks in hardware count from */
    size_t actors;
    struct queued_check *queue;   /* owns; a ring of params.queue */
    uint64_t queue_head, queue_n; /* the oldest; how many */
    uint64_t queue_ids;           /* the next one's */
    sim_cycle queue_free;         /* when the spare core is */
    struct gathered *past;        /* owns; what a check gathers, of radish/check.c */
    size_t past_cap;
    struct ledger ledger;           /* where all costs go; accounts of the kinds above */
    struct pool handlers;           /* that its notes are about */
    struct flushed lost[MAX_CORES]; /* what its accesses have displaced, not paid */
    struct blocked blocked[RADISH_BLOCKED_MAX];
    unsigned n_blocked;   /* of these that were ever used */
    unsigned collections; /* begun and not over */
    struct held_set held;
    struct radish_stats st;
};

/* ---- radish/line.c: lines and records ------------------------------------------------------- */

struct data_line *data_find(const struct radish *r, uint64_t line); /* NULL: none */
struct data_line *data_get(struct radish *r, uint64_t line);
void data_tidy(struct radish *r, struct data_line *p); /* frees it when nothing needs it */
static inline uint64_t line_number(const struct radish *r, uint64_t line, unsigned kind)
{
    return line * r->kinds + kind;
}
/* The history line of this number on this core, without a look at its line of data; or NULL. One
 * that is leaving is off the chip for the detector: a new one may stand beside it. */
static inline struct hline *line_on_core(const struct radish *r, unsigned core, uint64_t number)
{
    struct hline *hinted = r->hint[core];

    if (LIKELY(hinted && hinted->number == number))
        return hinted;
    const uint64_t *at = map_find(&r->core[core].here, number);
    return at ? (struct hline *)(uintptr_t)*at : NULL;
}
struct hline *line_new(struct radish *r, struct data_line *p, unsigned core, unsigned kind,
                       uint32_t actor);
void line_free(struct radish *r, struct hline *h);
void line_pools(struct radish *r);
void line_pools_free(struct radish *r);
static inline struct paddr line_address(const struct radish *r, const struct hline *h)
{
    return paddr_of(r->params.base + h->core * r->stride + (h->number << r->line_shift));
}
/* The cache level at which a core has this address; on a machine. */
static inline enum mem_level level_on(const struct radish *r, unsigned core, struct paddr at)
{
    const struct caches *c = &r->machine->caches;

    return c->type->where(c->self, core, at);
}
static inline enum mem_level line_level(const struct radish *r, const struct hline *h)
{
    return level_on(r, h->core, line_address(r, h));
}
struct paddr line_granule(const struct radish *r, const struct hline *h, unsigned i);
granule_set line_all(const struct radish *r); /* every entry */
/* The line is not on chip any more; it stays to be found until it has been stored, and freed. */
void line_leaves(struct radish *r, struct hline *h);
/* Records of these granules go: all, or those of a class. */
void records_cancel(struct radish *r, struct hline *h, granule_set set, unsigned classes);
void record_add(struct radish *r, struct hline *h, const struct access_record *what);
/* Extends the record to these granules. */
void record_extend(struct hline *h, struct access_record *x, granule_set set);
static inline struct access_record *record_of(const struct hline *h, unsigned i, unsigned class)
{
    const unsigned at = h->at[i * OP_CLASSES + class];

    return at ? &h->record[at - 1] : NULL;
}
static inline granule_set records_set(const struct hline *h, unsigned classes) /* that have such */
{
    granule_set set = 0;

    for (unsigned class = 0; class < OP_CLASSES; class ++)
        set |= classes >> class & 1 ? h->has[class] : 0;
    return set;
}
static inline bool cores_have(const uint64_t cores[2], unsigned core)
{
    return cores[core / 64] >> core % 64 & 1;
}
static inline void cores_add(uint64_t cores[2], unsigned core)
{
    cores[core / 64] |= UINT64_C(1) << core % 64;
}
static inline void cores_remove(uint64_t cores[2], unsigned core)
{
    cores[core / 64] &= ~(UINT64_C(1) << core % 64);
}
static inline unsigned next_granule(granule_set *set) /* takes the lowest out */
{
    const unsigned i = (unsigned)__builtin_ctzll(*set);

    *set &= *set - 1;
    return i;
}

/* ---- radish/manager.c: what the software manager is asked for ----------------------------------
 */

/* Fills a new line with its thread's own accesses and the state of the others, at once; what that
 * takes in the handler is paid for later. */
void manager_fill(struct radish *r, struct hline *h, bool write);
bool manager_known_empty(const struct radish *r, uint64_t line);
sim_cycle manager_empty_paid(struct radish *r, unsigned core, uint64_t line, sim_cycle now);
sim_cycle manager_fill_paid(struct radish *r, unsigned core, const struct check_paid *c,
                            sim_cycle now);
/* Within a handler: stores what the line holds of these granules. */
sim_cycle manager_store(struct radish *r, unsigned core, struct hline *h, granule_set set,
                        sim_cycle now);
/* Stores a line that has left: at once for the detector, then paid for, or put on the open bill.
 * Frees the line. */
sim_cycle manager_persist(struct radish *r, unsigned core, struct hline *h, granule_set set,
                          sim_cycle now);
/* A handler for each of the lines that have left and are dirty; all are freed. drop: they are still
 * in the caches, and are taken out. */
sim_cycle manager_leave(struct radish *r, unsigned core, struct hline *left, enum swm_reason why,
                        bool drop, sim_cycle now);
bool manager_all_saved(const struct hline *h);          /* the manager has all that it holds */
void manager_forget(struct radish *r, struct hline *h); /* frees such a one, which has left */
/* The core pays for the gathered steps of the handler in hand. */
sim_cycle handler_paid(struct radish *r, unsigned core, sim_cycle now);
/* In a handler: a line that was flushed, dirty or clean, is stored; then it is freed. */
sim_cycle manager_store_flushed(struct radish *r, unsigned core, struct hline *h, sim_cycle now);
/* Stores all of these lines with one handler, which also takes them out of the caches. */
sim_cycle manager_flush(struct radish *r, unsigned core, struct hline *left, enum swm_reason why,
                        sim_cycle now);
struct hline *manager_add(struct hline *left, struct hline *h); /* to the front of such a list */
/* The manager's copies get the report's part of this line's accesses; nothing is charged. */
void manager_renew(struct radish *r, struct hline *h);
sim_cycle manager_check(struct radish *r, unsigned core, const struct check_paid *c, sim_cycle now);
/* A check by a spare core, `by`, while the program goes on. Returns how many cycles it takes. */
sim_cycle manager_check_beside(struct radish *r, unsigned core, unsigned by,
                               const struct check_paid *c, sim_cycle now);
sim_cycle manager_blocked(struct radish *r, unsigned core, uint64_t line, sim_cycle now);

/* ---- radish/queue.c: checks that another core makes later ----------------------------------- */

/* Puts a check in; *wait: when there was room. Returns its number, for queue_serve. */
uint64_t queue_put(struct radish *r, const struct queued_check *c, sim_cycle *wait);
void queue_serve(struct radish *r, unsigned core, uint64_t id, const struct check_paid *c,
                 sim_cycle now);
/* Checks of these granules, and those before them, are over. Returns when, or 0. */
sim_cycle queue_drain(struct radish *r, const struct data_line *p, unsigned kind, granule_set set);
granule_set queue_has(const struct radish *r, const struct data_line *p, unsigned kind);
sim_cycle queue_drain_data(struct radish *r, const struct data_line *p);
sim_cycle queue_drain_all(struct radish *r);
void queue_pass_some(struct radish *r, sim_cycle now);
bool queue_serves(const struct radish *r, unsigned core);      /* this core serves the queue */
static inline void queue_pass(struct radish *r, sim_cycle now) /* what is over by now */
{
    if (UNLIKELY(r->queue_n))
        queue_pass_some(r, now);
}
static inline sim_cycle queue_waited(struct radish *r, sim_cycle until, sim_cycle now)
{
    if (LIKELY(until <= now))
        return now;
    r->st.queue_wait += until - now;
    return until;
}

/* ---- radish/access.c, radish/check.c: an access --------------------------------------------- */

/* Charges the language runtime's work at an event; after happens-before has moved. */
sim_cycle radish_lower(struct radish *r, const struct event *ev, unsigned core, sim_cycle now);
/* The two halves of an access: the first takes no time and lets no other core in between, so that
 * one event's may follow each other; the second pays for all that the core has decided. */
sim_cycle radish_decide(void *self, const struct event *ev, unsigned core, struct mem_outcome out,
                        sim_cycle now);
sim_cycle radish_pay(void *self, unsigned core, sim_cycle now);
/* A hint for the host's caches, of an access to come: its first history line. */
void radish_soon(const void *self, const struct event *ev);

/* ---- radish/flush.c: thread switches, roll-over, what happens to lines ---------------------- */

void flush_other(struct radish *r, struct flushed *f, unsigned core, uint32_t actor, uint64_t time);
/* The actor is on this core, at this time of its own. */
static inline void flush_for(struct radish *r, struct flushed *f, unsigned core, uint32_t actor,
                             uint64_t time)
{
    const struct radish_core *c = &r->core[core];

    if (UNLIKELY(actor >= r->actors || !c->taken || c->actor != actor ||
                 r->at_core[actor] != core + 1 ||
                 (r->params.clock_bits && (time - r->base[actor]) >> r->params.clock_bits)))
        flush_other(r, f, core, actor, time);
}
static inline bool flush_some(const struct flushed *f) /* a handler has to run */
{
    return f->switched || f->rolled || f->gone || f->held;
}
sim_cycle flush_paid(struct radish *r, unsigned core, struct flushed *f, sim_cycle now);
/* A line goes: its queued checks are over first. */
void flush_line(struct radish *r, struct flushed *f, struct hline **to, struct hline *h);
bool radish_line(void *self, const struct line_event *le, unsigned core);
sim_cycle flush_lost_paid(struct radish *r, unsigned core, sim_cycle now); /* of radish_line */
static inline bool lost_some(const struct flushed *f) /* of radish_line: a core has to pay */
{
    return f->gone || f->homeless || f->drained;
}
static inline sim_cycle lost_paid(struct radish *r, unsigned core, sim_cycle now)
{
    return UNLIKELY(lost_some(&r->lost[core])) ? flush_lost_paid(r, core, now) : now;
}

bool data_anywhere(const struct radish *r, struct paddr addr); /* in some cache */

/* ---- radish/region.c: clear and copy ----------------------------------------------------------
 */

sim_cycle region_clear(struct radish *r, const struct event *ev, unsigned core, sim_cycle now);
sim_cycle region_copy(struct radish *r, const struct event *ev, unsigned core, sim_cycle now);

/* ---- radish/move.c: copies that wait for the clear of their source -------------------------- */

bool move_wants(const struct radish *r, const struct event *ev); /* the copy is held back */
void move_put(struct radish *r, const struct event *ev);
/* The clear that makes a held copy a move. */
struct held_copy *move_match(const struct radish *r, const struct event *ev); /* NULL: none */
sim_cycle move_make(struct radish *r, struct held_copy *h, unsigned core, sim_cycle now);
/* Makes the copies that can be held back no longer, before an event that is no access. */
sim_cycle move_before(struct radish *r, const struct event *ev, unsigned core, sim_cycle now);
/* Makes held copies before an access to what they touch: at once; move_paid pays. True: there were
 * some. */
bool move_touched(struct radish *r, const struct event *ev, unsigned core, sim_cycle *drained,
                  sim_cycle now);
sim_cycle move_paid(struct radish *r, unsigned core, sim_cycle now);
void move_free(struct radish *r);

/* ---- radish/verify.c, radish/stats.c -------------------------------------------------------- */

void radish_check(const void *self);
void radish_declare(struct radish *r, struct stats_group *g);

#endif
