/* cvm.h - what the files of CVM's detector share: intervals, the pages that they touched, the
 * policy. */
#ifndef LARDSIM_CVM_H
#define LARDSIM_CVM_H

#include "policy/hb/hb.h"
#include "policy/cost/ledger.h"

/* The bitmaps of a page in an interval. A word's plain accesses and its atomic ones are told apart,
 * as two atomic accesses do not race. */
enum cvm_kind { CVM_READ, CVM_WRITE, CVM_ATOMIC_READ, CVM_ATOMIC_WRITE, CVM_KINDS };

/* A version vector: the thread's knowledge of other threads when an interval began. Intervals of a
 * thread share one until it takes something. */
struct cvm_vector {
    struct vclock clock;
    uint32_t users;
};

/* A part of a thread's execution between two of its synchronisation accesses (3.1). */
struct cvm_interval {
    struct cvm_vector *known;   /* shared */
    struct cvm_entry *entries;  /* while it goes on: of the pages that it has touched */
    struct cvm_interval *older; /* of the thread's, not compared; with costs only */
    uint64_t time;              /* the thread's own entry while it went on */
    uint64_t serial;            /* all intervals in the order in which they began, from 1 */
    uint64_t index;             /* of the thread's intervals, from 1: sigma_p^index */
    uint64_t event;             /* of its first access */
    uint32_t notices;           /* when it has ended; with costs only */
    uint32_t actor;
    uint32_t users; /* its entries, and the thread while it goes on */
    sim_tid tid;
    bool used;  /* it is of a concurrent pair with a page in common */
    bool sited; /* sites of its accesses are kept */
};

/* The first access of a kind to a word by an interval (6.1). */
struct cvm_place {
    uint64_t event, site;
    uint8_t op;
    bool known;
};

/* A page in an interval: its notices, and a bit a word for each kind of access. A 64th of the page
 * has a bit in `parts`: most pairs are told apart by those. */
struct cvm_entry {
    struct cvm_entry *next; /* the thread's next older one of the page */
    struct cvm_interval *of;
    struct cvm_entry *sibling; /* of an interval that goes on: its next */
    uint64_t page;             /* number */
    uint64_t time;             /* of->time */
    uint64_t all, writes;      /* parts with an access, with a write; may have too many */
    uint8_t kinds;             /* that have a bitmap, bits by enum cvm_kind */
    uint8_t asked;             /* of them, those that the comparison that goes on asked for */
    bool system;               /* some of its accesses are the runtime's */
    uint64_t *bits[CVM_KINDS]; /* own, cvm_bitmap; NULL: no notice of that kind */
};

struct cvm_row { /* an entry in a comparison */
    struct cvm_entry *entry;
    struct cvm_interval *of;
    uint64_t time, all, writes;
    uint8_t kinds, asked;
};

struct cvm_lane {            /* a thread at a page; newest first */
    struct cvm_entry *fresh; /* not compared yet */
    struct cvm_entry *old;   /* compared with what came before: newer ones may replace some */
    struct cvm_entry *twin;  /* fresh; its diff gets the thread's writes; with writes=diffs only */
    uint32_t actor;
    uint32_t olds, trim_at;       /* how many; where those are looked for that others replace */
    size_t row, old_row, end_row; /* in a comparison: those of fresh, of old */
};
struct cvm_page {
    uint64_t number;
    struct cvm_lane *lane; /* owns; in order of actors */
    uint32_t lanes, cap;
    bool listed;     /* among those with something fresh */
    uint64_t *raced; /* owns; words that have raced in this life; NULL: none */
};

/* The part of the analysis routine that runs for an access (4.5). */
enum cvm_way {
    CVM_WHOLE,
    CVM_MIX,  /* batched with one of another kind to the same place */
    CVM_NEXT, /* batched with one to the place beside it */
    CVM_NONE, /* it is not instrumented, or another does it for this one */
    CVM_NOOPS /* its call was removed */
};
/* The instrumentation of a site, by the access of it that needs most (Table 3). */
enum cvm_site {
    CVM_SITE_UNKNOWN,
    CVM_SITE_PROVED,
    CVM_SITE_SAME, /* another calls for it */
    CVM_SITE_NEXT, /* it is in another's call */
    CVM_SITE_MIX,
    CVM_SITE_CALLS,
    CVM_SITE_WHATS
};
enum { CVM_BLOCK = 8, CVM_ROW = 3 }; /* accesses of a block that are looked at; of a row (5.3) */
struct cvm_batched {
    sim_addr addr;
    uint32_t size;
    bool write;
    uint8_t row; /* which of a row it is, from 1 */
};

enum { CVM_NEAR = 64 }; /* entries of the interval that goes on, found without a search */
struct cvm_near {
    uint64_t page, serial;
    struct cvm_entry *entry;
};
struct cvm_thread {                /* an actor */
    struct cvm_interval *interval; /* that goes on; NULL: none has had an access */
    struct cvm_vector *known;      /* of its latest interval; NULL: it has taken something since */
    uint64_t serial;               /* of the interval; 0: none */
    uint64_t seen;                 /* its own entry, when that was last looked at */
    uint64_t intervals;
    uint64_t raced, raced_time; /* its first interval with a race: serial, time; 0: none */
    struct cvm_near near[CVM_NEAR];
    /* Instrumentation. */
    struct cvm_batched block[CVM_BLOCK];
    unsigned block_n;
    uint64_t block_span;
    struct map sites;    /* of the process's text: what each does */
    uint64_t *to_remove; /* owns; sites */
    size_t removing, remove_cap;
    /* Costs. */
    struct cvm_interval *fresh;       /* not compared, newest first */
    struct paddr buffer;              /* 0: none yet */
    uint64_t filled;                  /* of it */
    uint64_t told_reads, told_writes; /* notices of the interval that ended */
    unsigned core;                    /* on which its interval began */
    bool held;                        /* until the master of full buffers is done */
};

enum cvm_full { CVM_FULL_CONSOLIDATE, CVM_FULL_STOP };
enum cvm_writes { CVM_WRITES_CALLS, CVM_WRITES_DIFFS };
enum cvm_report { CVM_REPORT_ALL, CVM_REPORT_FIRST };
enum cvm_sites { CVM_SITES_OFF, CVM_SITES_RERUN, CVM_SITES_AT_ONCE };
struct cvm_params {
    uint64_t page, processes, intervals, block, liveness;
    uint32_t full, sites, report, writes;
    const char *first_run;
    bool data_flow, batching, modify, inlining;
};

struct cvm_found { /* a race of the comparison that goes on */
    struct cvm_page *page;
    const struct cvm_interval *one, *other;
    size_t word;
    struct race_side is, earlier;
    bool system;
};

struct cvm_work { /* what a master does at a barrier */
    uint64_t compared, walked, listed, bitmaps;
};
enum { CVM_NODES = 64 };

struct cvm_stats {
#define STATS_DEF "policy/cvm/stats.def"
#include "base/stats_fields.h"
    uint64_t sites[CVM_SITE_WHATS], sites_both;
};

struct cvm {
    const struct policy_env *env;
    struct cvm_params params;
    unsigned page_shift, word_shift; /* log2 of bytes */
    unsigned part_shift;             /* log2 of words */
    size_t words;                    /* uint64_t's of a bitmap */
    struct cvm_thread *thread;       /* owns; by actor */
    size_t threads;
    uint32_t begun;
    struct map pages;       /* number to struct cvm_page * */
    struct cvm_page **list; /* owns; those with something fresh */
    size_t listed, list_cap;
    struct cvm_found *found; /* owns */
    size_t founds, found_cap;
    struct cvm_row *row; /* owns; of the page that is compared */
    size_t rows, row_cap;
    struct pool intervals, entries, bitmaps, places;
    struct budget metadata;  /* bytes of bitmaps and sites, as CVM has them */
    struct map sites;        /* enum cvm_site, and which data they accessed */
    struct map named;        /* intervals of which the first run found races: cvm_interval_key */
    uint64_t serial;         /* of the latest interval */
    uint64_t fresh;          /* intervals begun since the latest comparison */
    bool plain;              /* nothing is charged or left out: all accesses are alike */
    uint64_t spilled;        /* thousandths of a register */
    struct cvm_work *counts; /* of the comparison that goes on; NULL: nobody counts */
    uint64_t asked[CVM_NODES], work; /* of a barrier: bytes of bitmaps, the master's instructions */
    bool asked_any;
    sim_cycle released; /* when the master is done */
    struct map rounds;  /* a barrier's address to the round that was compared, plus 1 */
    struct cvm_stats st;
};

/* I and J, of different threads: I happens before J. */
static inline bool cvm_before(const struct cvm_interval *i, const struct cvm_interval *j)
{
    return i->time <= vclock_get(&j->known->clock, i->actor);
}

enum {
    CVM_READS = 1 << CVM_READ | 1 << CVM_ATOMIC_READ,
    CVM_WRITES = 1 << CVM_WRITE | 1 << CVM_ATOMIC_WRITE
};

/* ---- intervals and pages: page.c ------------------------------------------------------------ */

void cvm_end_interval(struct cvm *c, struct cvm_thread *t);
void cvm_leave_interval(struct cvm *c, struct cvm_interval *i); /* one user less */
void cvm_forget_vector(struct cvm *c, struct cvm_thread *t);    /* the thread takes something */
struct cvm_page *cvm_page_find(const struct cvm *c, uint64_t number); /* NULL: none */
struct cvm_page *cvm_page_make(struct cvm *c, uint64_t number);
void cvm_page_free(struct cvm *c, struct cvm_page *p);
struct cvm_lane *cvm_lane(struct cvm *c, struct cvm_page *p, uint32_t actor);
/* The page has something fresh. */
void cvm_list(struct cvm *c, struct cvm_page *p);
struct cvm_entry *cvm_entry_new(struct cvm *c, struct cvm_interval *of);
void cvm_entry_free(struct cvm *c, struct cvm_entry *x);
/* Makes a bitmap, all zero. If sites are kept, a pointer to 64 places, or NULL, for each 64 words
 * is behind it. */
uint64_t *cvm_bitmap(struct cvm *c);
void cvm_bitmap_free(struct cvm *c, uint64_t *bitmap);
/* The 64 words from 64 * i on of its bitmap of that kind; where there is none yet, it gets one. */
static inline uint64_t *cvm_words(struct cvm *c, struct cvm_entry *x, enum cvm_kind k, size_t i)
{
    if (UNLIKELY(!x->bits[k])) {
        x->bits[k] = cvm_bitmap(c);
        x->kinds |= (uint8_t)(1u << k);
    }
    return &x->bits[k][i];
}
/* The word's place; unknown: nobody kept it. */
struct cvm_place cvm_place(const struct cvm *c, const uint64_t *bitmap, size_t word);
void cvm_put_place(struct cvm *c, uint64_t *bitmap, size_t word, struct cvm_place place);
/* Gives up the places of the 64 words from 64 * i on. */
void cvm_drop_places(struct cvm *c, uint64_t *bitmap, size_t i);
/* The interval's entry among those that were compared; made if need be. */
struct cvm_entry *cvm_old_entry(struct cvm *c, struct cvm_lane *l, struct cvm_interval *of);

/* The entry with the writes of x's interval under writes=diffs: x, or an older entry of its
 * page. */
struct cvm_entry *cvm_diff(struct cvm *c, struct cvm_entry *x);

/* ---- instrumentation: instrument.c ------------------------------------------------------------
 */

enum cvm_way cvm_instrumented(struct cvm *c, struct cvm_thread *t, const struct event *ev);
void cvm_modify(struct cvm *c, struct cvm_thread *t);

/* ---- the second run: rerun.c ---------------------------------------------------------------- */

static inline uint64_t cvm_interval_key(sim_tid tid, uint64_t index)
{
    return (uint64_t)tid << 44 | index;
}
/* Adds the intervals of a first run's races. */
int cvm_first_run(struct map *to, const char *path, struct err *e);

/* ---- costs: cost.c. With a machine only -------------------------------------------------------
 */

extern const struct policy_charges cvm_charges;
void cvm_charge_access(struct cvm *c, uint32_t actor, const struct event *ev, enum cvm_way way);
void cvm_charge_site(struct cvm *c, uint32_t actor, sim_addr at, bool write);
void cvm_charge_modify(struct cvm *c, uint64_t sites);
void cvm_charge_interval(struct cvm *c, struct cvm_thread *t);
void cvm_charge_asked(struct cvm *c, uint32_t actor, unsigned bitmaps);
void cvm_charge_master(struct cvm *c, const struct cvm_work *w);
void cvm_charge_departure(struct cvm *c);

/* ---- comparison: compare.c ------------------------------------------------------------------ */

/* Compares all fresh entries with all that are concurrent with them; they are old from then on. */
void cvm_consolidate(struct cvm *c);
/* As cvm_consolidate, at the words from..last of a page only. */
void cvm_settle(struct cvm *c, struct cvm_page *p, size_t from, size_t last);

/* The word has raced. True: for the first time in this life. */
bool cvm_raced(struct cvm *c, struct cvm_page *p, size_t word);

static inline void cvm_parts(const struct cvm *c, struct cvm_entry *x, enum cvm_kind k, size_t word)
{
    const uint64_t part = UINT64_C(1) << (word >> c->part_shift);

    x->all |= part;
    x->writes |= CVM_WRITES >> k & 1 ? part : 0;
}

/* ---- clears and copies: move.c -------------------------------------------------------------- */

void cvm_clear(struct cvm *c, sim_addr at, uint64_t bytes);
void cvm_copy(struct cvm *c, sim_addr to, sim_addr from, uint64_t bytes);

#endif
