/* trace.h - the event, whatever yields events (struct source), whatever takes them (struct sink),
 * names, stream rules, and the generator. docs/events.md tells what each event means. */
#ifndef LARDSIM_TRACE_H
#define LARDSIM_TRACE_H

#include "base/addr.h"
#include "base/budget.h"
#include "base/json.h"
#include "base/param.h"
#include "trace/layout.h"

/* ---- the event ------------------------------------------------------------------------------ */

enum ev_kind {
#define EV(NAME, code, ...) EV_##NAME = code,
#include "trace/event.def"
#undef EV
    EV_KINDS /* one more than the last code */
};

enum ev_class { CLASS_ACCESS, CLASS_SYNC, CLASS_HEAP, CLASS_RAW, CLASS_MARK };

enum ev_object { /* the object through which the edges go */
                 OBJECT_NONE,
                 OBJECT_LOCK,
                 OBJECT_VOLATILE,
                 OBJECT_BARRIER,
                 OBJECT_CLASS,
                 OBJECT_CHILD,
                 OBJECT_SELF,
                 OBJECT_ATOMIC,
                 OBJECT_COMMIT
};

enum { EDGE_W = 1, EDGE_R = 2 }; /* the two clocks of an object */

enum ev_form { /* operands: which fields a kind uses. aux of the second record is always the site */
               FORM_ACCESS, /* addr, size; aux: the code site. No second record */
               FORM_OBJECT, /* addr: the object */
               FORM_ROUND,  /* addr: the barrier; aux: the round */
               FORM_THREAD, /* aux: the other thread */
               FORM_NONE,
               FORM_REGION, /* addr; aux: bytes */
               FORM_ALLOC,  /* addr; aux: bytes; second record: addr = elements of an array (0: an
                               object), size = bytes of one */
               FORM_COPY, /* addr: destination; aux: bytes; second record (always): addr = source */
               FORM_KERNEL,   /* aux: the kernel thread */
               FORM_CLOCK,    /* aux: index, a thread; addr: the value */
               FORM_PHASE,    /* aux: the phase's id; its name is in the name table */
               FORM_TIME,     /* aux: nanoseconds */
               FORM_WAITED,   /* aux: how often the same was read before; second record: addr = 1 +
                                 the thread whose write ended it (0: unknown) */
               FORM_BRANCHES, /* second record (always): size = how many, addr = their outcomes, the
                                 first in bit 0, 1: taken */
               FORM_COUNT,    /* aux: instructions */
               FORM_REMAP /* addr: virtual; aux: bytes; second record (always): addr = physical */
};
enum { BRANCHES_MAX = 64 }; /* the most in one event */

enum ev_flag {
    EVF_SYSTEM = 1 << 0,   /* the runtime's own; else the program's */
    EVF_STACK = 1 << 1,    /* accesses: */
    EVF_VOLATILE = 1 << 2, /* the data access of a volatile operation */
    EVF_ARRAY = 1 << 3,
    EVF_FINAL = 1 << 4,
    EVF_IN_TXN = 1 << 5,    /* takes effect at the thread's commit */
    EVF_NURSERY = 1 << 9,   /* collections: nursery only; else full */
    EVF_DEPENDENT = 1 << 9, /* accesses: the address comes from what the thread has loaded */
    EVF_PRIVATE = 1 << 10,  /* accesses: the process's own data, which it shares with nobody */
    EVF_PROVED = 1 << 11,   /* private accesses that an analysis of the program knows as such */
    EVF_STATIC = 1 << 12,   /* accesses: to a static field */
    EVF_SAFE = 1 << 13,     /* accesses: an analysis of the program says that they race with none */
    EVF_C11 = 1 << 14,      /* atomic write or rmw of C11, of which release sequences are made */
    EVF_MORE = 1 << 15      /* a second record follows and belongs to the same event */
};
enum { EVF_ORDER_SHIFT = 6, EVF_ORDER_MASK = 7 << EVF_ORDER_SHIFT };
enum ev_order { /* atomic accesses only; 0: not atomic */
                ORDER_NONE,
                ORDER_RELAXED,
                ORDER_ACQUIRE,
                ORDER_RELEASE,
                ORDER_ACQ_REL,
                ORDER_SEQ_CST,
                ORDERS
};

struct event {
    sim_addr addr;   /* virtual, and of the record: event_at */
    uint64_t aux;    /* accesses: code site, 0 unknown; else by form */
    uint32_t size;   /* bytes; accesses alone have some */
    uint32_t gap;    /* instructions of this thread since its previous event; see enum gap_unit */
    sim_tid tid;     /* the acting thread */
    uint16_t flags;  /* EVF_..., and an enum ev_order */
    uint8_t kind;    /* enum ev_kind */
    uint8_t zero[3]; /* always 0 */
};
_Static_assert(sizeof(struct event) == 32, "an event's record has 32 bytes");
enum { EVENT_RECORDS = 2 }; /* at the most */
/* Returns the event's address, typed: a program's address, which a machine has yet to translate. */
static inline struct vaddr event_at(const struct event *ev)
{
    return vaddr_of(ev->addr);
}

/* A second record is a struct event too: addr and size by form, aux the site, the rest 0 (kind,
 * too). */
static inline unsigned event_records(const struct event *ev)
{
    return ev->flags & EVF_MORE ? 2 : 1;
}
/* Whether events of the kind always have a second record. */
static inline bool event_has_second(int kind)
{
    return kind == EV_COPY || kind == EV_BRANCHES || kind == EV_REMAP;
}
/* Whether its operand is an address; else it has none, or a number. */
bool event_has_address(const struct event *ev);
static inline enum ev_order event_order(const struct event *ev)
{
    return (enum ev_order)((ev->flags & EVF_ORDER_MASK) >> EVF_ORDER_SHIFT);
}
/* An atomic write or rmw: it may be of C11. */
static inline bool event_modifies_atomic(const struct event *ev)
{
    return (ev->kind == EV_WRITE || ev->kind == EV_RMW) && ev->flags & EVF_ORDER_MASK;
}
/* A store of C11: it ends the release sequences that other threads head at its address. */
static inline bool event_ends_sequences(const struct event *ev) /* accesses only */
{
    return ev->kind == EV_WRITE && ev->flags & EVF_C11;
}
static inline bool order_takes(enum ev_order o)
{
    return o == ORDER_ACQUIRE || o == ORDER_ACQ_REL || o == ORDER_SEQ_CST;
}
static inline bool order_gives(enum ev_order o)
{
    return o == ORDER_RELEASE || o == ORDER_ACQ_REL || o == ORDER_SEQ_CST;
}

struct ev_info {
    const char *text, *help;                   /* the word of the text form; a sentence */
    uint8_t class, object, takes, gives, form; /* columns of event.def */
};
extern const struct ev_info ev_info[EV_KINDS]; /* text is NULL for codes that are no kind */

static inline bool event_is_access(const struct event *ev)
{
    return ev->kind <= EV_RMW; /* event.def has them first */
}
static inline bool event_is_region(const struct event *ev) /* a mark of a region of interest */
{
    return ev->kind == EV_ROI_BEGIN || ev->kind == EV_ROI_END;
}
static inline bool event_is_placing(const struct event *ev) /* changes what lies where */
{
    return (unsigned)(ev->kind - EV_ALLOC) <= EV_COPY - EV_ALLOC;
}
static inline bool event_writes(const struct event *ev) /* accesses only */
{
    return ev->kind != EV_READ;
}
/* The thread whose write ended a waiting loop; NOBODY: unknown. */
enum { NOBODY = MAX_THREADS };
static inline uint32_t waited_writer(const struct event *ev) /* EV_WAITED */
{
    return ev->flags & EVF_MORE && ev[1].addr ? (uint32_t)(ev[1].addr - 1) : NOBODY;
}
static inline uint64_t event_site(const struct event *ev) /* 0: unknown */
{
    return event_is_access(ev) ? ev->aux : ev->flags & EVF_MORE ? ev[1].aux : 0;
}
/* True for the program's accesses that a language runtime marks for checking (LARD 4.3.1): not
 * those of the stack, of finals, or of the data side of volatiles. */
static inline bool event_tracked(const struct event *ev)
{
    return !(ev->flags & (EVF_SYSTEM | EVF_STACK | EVF_FINAL | EVF_VOLATILE));
}

int ev_kind_by_text(const char *text); /* 0: none */
/* "T3 write 0x1000 8": the event as the text form has it, without its attributes. */
enum { EVENT_SHOWN_MAX = 160 };
void event_shown(const struct event *ev, char to[EVENT_SHOWN_MAX]);
const char *order_text(enum ev_order o);

/* 0, or -1 when a record by itself breaks a rule that needs no context: an unknown kind, a flag
 * that the kind can't have, a size of 0, a range that wraps, a missing or superfluous second
 * record, bytes that must be 0. `what` gets the reason, a string constant. Every reader and the
 * push API apply it, so that nothing behind them needs to. */
int event_well_formed(const struct event *ev, const char **what);
/* The same of an access, if one of the same kind, flags and size was. */
static inline bool access_well_formed_too(const struct event *ev)
{
    return !(ev->zero[0] | ev->zero[1] | ev->zero[2]) && ev->addr <= UINT64_MAX - (ev->size - 1);
}

/* ---- names ---------------------------------------------------------------------------------- */

enum name_space { NAME_THREAD, NAME_OBJECT, NAME_SITE, NAME_PHASE, NAME_SPACES };
/* "thread", "object", "site", "phase", NULL */
extern const char *const name_space_text[NAME_SPACES + 1];

struct name {
    enum name_space space;
    uint64_t id;
    const char *text;
};

struct names; /* grows as a source is read; later names for the same id win */
struct names *names_new(void);
void names_free(struct names *n);
/* Copies text. The error is about text that is empty, too long (1 KiB), has control bytes or is not
 * UTF-8. */
int names_add(struct names *n, enum name_space space, uint64_t id, const char *text, struct err *e);
/* As names_add, but only points to the text, which another table of names has already. */
int names_refer(struct names *n, const struct name *of, struct err *e);
const char *names_find(const struct names *n, enum name_space space, uint64_t id); /* NULL: none */
size_t names_count(const struct names *n);
/* The bytes of names on the host: the texts, and twice the tables, as a source that is read ahead
 * has those twice. */
uint64_t names_bytes(const struct names *n);
const struct name *names_at(const struct names *n, size_t i); /* in order of addition */
/* Hashes all names, earlier ones of the same things too. The order among things does not count, as
 * each form of a trace has its own. n may be NULL. 0: no names. */
uint64_t names_hash(const struct names *n);

/* ---- what lies where ------------------------------------------------------------------------ */

/* The object that an address belongs to: one that was allocated, copied or named (docs/events.md,
 * Names of objects). */
struct object_place {
    bool known;
    bool allocated;   /* in the trace; then: */
    const char *name; /* borrowed from the names; NULL: not named */
    uint64_t offset;  /* the address's offset in the object */
    uint64_t size;    /* the object's; 0: unknown */
    uint64_t event;   /* its alloc's number */
    uint64_t site;    /* its alloc's site; 0: unknown */
};
struct placement;                                   /* follows allocs, clears and copies */
struct placement *placement_new(struct budget *of); /* charged, too; NULL: none is */
void placement_free(struct placement *o);
void placement_names(struct placement *o, const struct names *names); /* borrowed; they may grow */
void placement_apply(struct placement *o, const struct event *ev, uint64_t number);
/* Events that run now, from ev, which has this number; borrowed until the next call. They are
 * looked at only where somebody asks: placement_reach takes those before a number. */
void placement_turn(struct placement *o, const struct event *ev, const struct event *end,
                    uint64_t number);
void placement_reach(struct placement *o, uint64_t number);
struct object_place placement_find(struct placement *o, sim_addr addr);
/* "object", "offset", "allocated", "allocated_at", into an object that is open. site: of the alloc,
 * as text; NULL: unknown. */
void object_json(struct json *j, const struct object_place *p, const char *site);

/* ---- sources -------------------------------------------------------------------------------- */

struct batch {
    const struct event *rec; /* valid until the next source_next or source_close */
    size_t records;          /* whole events only; 0: the end */
    uint64_t first;          /* number of the first event */
    uint64_t kept;           /* bytes of the host's that the source has by now, but for buffers */
    bool more;               /* no events, and not the end: much was kept since the last batch */
};
enum { KEPT_STEP = 1 << 18 }; /* bytes; so much, about, may be kept from batch to batch */

/* The progress of a source, in events or in bytes of its file: for showing only. */
struct source_extent {
    uint64_t done, all; /* all 0: how long it is nobody knows */
};

/* The state of a thread after it has been asked. */
enum driven_state {
    DRIVEN_STANDS,  /* it is about to do something; it is asked when it has come to that */
    DRIVEN_RESTS,   /* it looks again in a while */
    DRIVEN_BLOCKED, /* until another thread lets it go on */
    DRIVEN_ENDED
};
struct driven_answer {
    /* The events of the step, in order. Events that it made other threads do come behind them. */
    const struct event *rec; /* valid until the next call */
    size_t records;          /* whole events only; may be 0 */
    enum driven_state then;
    uint8_t awaits;       /* BLOCKED: the kind of event with which it will go on */
    bool over;            /* the program has ended: nobody is asked again */
    const sim_tid *woken; /* they are new, or were blocked; asked again when all that is done */
    size_t wokens;
};
/* A program whose threads are asked one by one, by whoever has the clock (order = program): it
 * decides who is next, and who comes first is served first. */
struct source;
struct driven {
    /* Returns the next step of the thread; thread 0 is the first one. -1: the source failed. */
    int (*next)(struct source *s, sim_tid tid, struct driven_answer *to, struct err *e);
    /* Instructions before whatever the thread does next, as far as it is known. */
    uint32_t (*gap)(const struct source *s, sim_tid tid);
};

/* The unit in which gaps are counted. */
enum gap_unit { GAPS_INSTRUCTIONS, GAPS_BYTECODES, GAP_UNITS };
extern const char *const gap_unit_names[GAP_UNITS + 1]; /* NULL-terminated */

struct source {
    /* 0 and a batch, 0 and an empty batch at the end, or -1. Events before an error have been
     * delivered. Called by source_step. */
    int (*next)(struct source *s, struct batch *b, struct err *e);
    void (*close)(struct source *s); /* frees s */
    const struct names *names;       /* borrowed; what was named so far */
    const char *name;                /* for messages: path, "standard input", "synth" */
    uint64_t first;                  /* number of the first event */
    const char *producer;            /* may be NULL */
    unsigned granularity;            /* hint in bytes; 0: none */
    enum layout_id layout;           /* of the program's objects */
    enum gap_unit gaps;
    unsigned version;   /* the format's; 0: not a file, or it has none */
    const char *format; /* the name of a format without versions; NULL: it has some */
    bool merges;        /* it is of version 1, and so far there were atomic stores that give */
    const char *caveat; /* a warning on its events, for the judge of results; NULL: none */
    /* Hash of the records delivered before the latest batch; NULL: the source keeps none. A
     * consumer that stops inside the latest batch adds what it took. */
    struct digest *identity;
    const struct source_extent *extent; /* borrowed; NULL: nobody knows */
    const struct driven *driven; /* its threads can be asked instead of `next`; NULL: they can't */
    struct budget kept;          /* memory that the source keeps; source_account names the budget */
    uint64_t seed;               /* a generator's */
    bool seeded;                 /* it has one */
};

/* A maker of events without a file: NAME:rest. The table has those that are linked in
 * (workloads/makers.c); synth stands beside it. */
struct source_maker {
    const char *name;
    struct source *(*open)(const char *rest, struct err *e); /* NULL: error */
};
extern const struct source_maker *const source_makers[]; /* NULL-terminated */

/* A path, "-" for standard input, "synth:key=value,...", or a maker's, as
 * "workload:sor,size=large". Formats are told by their first bytes, or named: FORMAT:PATH or
 * FORMAT:KEY=VALUE,...:PATH; some take PATH,PATH,... and patterns. gzip and zstd are taken off
 * first. NULL: error. */
struct source *source_open(const char *spec, struct err *e);
void trace_libraries(library_fn *fn, void *arg); /* that read and write files */
/* The path in it; NULL: its events are made without a file. */
const char *source_path(const char *spec);
/* The next batch with events, an empty one at the end, or -1: also LARD_LIMIT, if what the source
 * keeps takes a budget over its limit. */
int source_next(struct source *s, struct batch *b, struct err *e);
/* Reads one batch, which may have `more` behind it; nothing is charged. */
static inline int source_step(struct source *s, struct batch *b, struct err *e)
{
    *b = (struct batch){.records = 0};
    return s->next(s, b, e);
}
/* Charges the memory that the source keeps to `all`. Before that it has a limit of its own,
 * SOURCE_MEMORY. */
#define SOURCE_MEMORY (UINT64_C(8) << 30)
void source_account(struct source *s, struct budget *all);
static inline void source_close(struct source *s)
{
    if (!s)
        return;
    budget_have(&s->kept, 0);
    s->close(s);
}
/* The same source, read ahead by a thread of its own (ahead.c): for one consumer at a time. Takes
 * inner; where there can't be a thread, returns it. */
struct source *source_ahead(struct source *inner);

/* ---- sinks ---------------------------------------------------------------------------------- */

struct sink_info {
    const char *producer; /* one line, printable ASCII; NULL: "lardsim VERSION" */
    uint64_t first;       /* number of the first event */
    unsigned granularity; /* hint; 0: none */
    enum layout_id layout;
    enum gap_unit gaps;
};

struct sink {
    /* Takes one event, of 1 or 2 records. */
    int (*event)(struct sink *s, const struct event *ev, struct err *e);
    /* Whole events, as if one by one. NULL: they are given so. */
    int (*events)(struct sink *s, const struct event *rec, size_t records, struct err *e);
    /* Called before an event: writes names that were added to `from` since the last call. */
    int (*names)(struct sink *s, const struct names *from, struct err *e);
    int (*finish)(struct sink *s, struct err *e); /* completes and frees s; frees also on error */
    void (*abort)(struct sink *s);                /* frees s; leaves nothing that looks whole */
};

enum trace_codec { CODEC_RAW, CODEC_ZSTD, CODEC_ZLIB, CODECS };
extern const char *const trace_codec_text[]; /* NULL-terminated */

struct sink *sink_binary(FILE *out, const struct sink_info *info, enum trace_codec codec, int level,
                         struct err *e);
struct sink *sink_text(FILE *out, const struct sink_info *info, struct err *e);
/* RAPID's STD text. It stops at an event that STD lacks; lossy: leaves it out, and writes only what
 * RAPID's own reader takes. docs/foreign-formats.md tells what is written how. */
struct sink *sink_std(FILE *out, const struct sink_info *info, bool lossy, struct err *e);

/* Copies a whole source into a sink, names included; does not finish it. */
int trace_pump(struct source *from, struct sink *to, struct err *e);

/* ---- readers: each takes what source_open has opened and read the first bytes of ------------ */

struct input { /* bytes of a file or pipe, from the start; owned by the source it is given to */
    FILE *file;
    char *name;
    char *options; /* owns; what the user said of the format; NULL: nothing */
    char **more;   /* owns; paths of further files of the trace; NULL: it has one */
    size_t n_more;
    unsigned char head[512]; /* the first bytes, already read from file */
    size_t head_n;
    bool seekable; /* and not packed */
    /* In bytes of the file, packed if it is; of a pipe nothing is known. */
    struct source_extent extent;
    struct packed *packed; /* owns; gzip or zstd is taken off; NULL: there is none */
    char fault[200];       /* why no more can be read; "": it can, or is at the end */
};
struct input *input_open(const char *path, struct err *e); /* "-": standard input. NULL: error */
/* Reads the head first, then the file; short at the end, or at a fault. */
size_t input_read(struct input *in, void *to, size_t n);
const char *input_fault(const struct input *in); /* after a short read: NULL at the end */
uint64_t input_bytes(const struct input *in);    /* bytes on the host that packed data have taken */
/* A source that reads it, and is called as it is; format: as in struct source. */
struct source input_source(const struct input *in, const char *format,
                           int (*next)(struct source *s, struct batch *b, struct err *e),
                           void (*close)(struct source *s), const struct names *names);
void input_free(struct input *in);

/* Bids on the first bytes: true if this format's; NULL: only by its name. open takes ownership of
 * in, also on error. */
struct trace_format {
    const char *name, *help;
    bool (*bid)(const struct input *in);
    struct source *(*open)(struct input *in, struct err *e);
    bool options; /* it has some */
    bool several; /* a trace may have several files: PATH,PATH,..., and each may be a pattern */
};
extern const struct trace_format trace_format_binary, trace_format_text, trace_format_std,
    trace_format_lackey, trace_format_din, trace_format_xdin, trace_format_ce, trace_format_gem5;
extern const struct trace_format *const trace_formats[]; /* NULL-terminated */

/* ---- what a file says of itself without being decoded --------------------------------------- */

/* Counters beside those of kinds, in the same array, with codes that no kind will have. */
enum {
    COUNT_FIRST = 128,
    COUNT_C11 = COUNT_FIRST, /* atomic writes and rmws of C11 */
    COUNT_DEPENDENT,         /* accesses whose address was loaded */
    COUNT_REREADS,           /* the sum over all `waited` */
    COUNT_OUTCOMES,          /* the sum over all `branches` */
    COUNT_UNINSTRUMENTED,    /* instructions */
    COUNTED                  /* one more than the last */
};
_Static_assert((int)EV_KINDS <= COUNT_FIRST, "codes of kinds are below those");
extern const char *const count_text[COUNTED - COUNT_FIRST];

struct trace_summary {
    char format[32]; /* "lardsim-trace 2" */
    char producer[128];
    uint64_t first, events, blocks, file_bytes;
    uint64_t kinds[COUNTED]; /* events by kind, and COUNT_...; valid when counted */
    uint64_t threads;        /* distinct; valid when counted */
    uint64_t identity;       /* hash of the events; valid when counted */
    uint64_t names;          /* names_hash; 0: none */
    unsigned granularity;
    enum layout_id layout;
    enum gap_unit gaps;
    bool counted;        /* from the footer, or by reading everything */
    bool complete;       /* a footer is there and fits */
    uint64_t good_bytes; /* up to here the file is whole blocks by their headers */
    char damage[256];    /* the fault after that; "" if there is none */
};
/* Reads the footer, or walks block headers where there is none; of a seekable binary file it reads
 * no block's payload but names. Other inputs are read through. */
int trace_summarize(const char *spec, struct trace_summary *to, struct err *e);

/* Reads the footer of a binary trace in a file, which summarises all events, before any was read.
 * False: there is no footer, or the source can't be searched for one. The source goes on as if
 * nobody had asked. */
bool source_foresee(const struct source *s, struct trace_summary *to);

/* Reads as source_open, but a binary trace that is damaged ends silently where the damage begins;
 * *lost says why
 * ("" when nothing was). For `trace cut --salvage`. Names survive as far as they stand in the good
 * part. */
struct source *source_salvage(const char *spec, const char **lost, struct err *e);

/* ---- stream rules --------------------------------------------------------------------------- */

/* rules.def: RULE(id, text). What a stream of well-formed events must obey. */
enum rule_id {
#define RULE(id, ...) RULE_##id,
#include "trace/rules/rules.def"
#undef RULE
    RULES
};
struct rule_info {
    const char *name, *text;
};
extern const struct rule_info rule_info[RULES];

struct rules;
/* full: also the contracts that need a shadow of all memory (destination of a copy was empty, its
 * source is not used any more). */
struct rules *rules_new(bool full);
void rules_account(struct rules *r, struct budget *b); /* before any event; NULL is fine */
/* Prepares the rules for a run: errors say that it can do without them. format: of the trace, if
 * that is another tool's (source.format; borrowed); else NULL. */
void rules_for_run(struct rules *r, const char *format); /* NULL is fine */
void rules_free(struct rules *r);
/* 0, or -1: e names the event number, thread, rule and what was seen. */
int rules_apply(struct rules *r, const struct event *ev, uint64_t number, struct err *e);
/* The events of [ev, end) up to one that breaks a rule, which is returned, or up to a mark of a
 * region of interest. Else returns what is behind the last. number: of the first. */
const struct event *rules_run(struct rules *r, const struct event *ev, const struct event *end,
                              uint64_t number, struct err *e);
int rules_finish(struct rules *r, struct err *e); /* checks that nothing is open at the end */
enum rule_id rules_broken(const struct rules *r); /* after -1 */

/* notes.def: NOTE(id, name, text, place). What is legal, but suspicious. */
enum note_kind {
#define NOTE(id, ...) NOTE_##id,
#include "trace/rules/notes.def"
#undef NOTE
    NOTE_KINDS
};
enum note_of { NOTE_OF_THREAD = 1, NOTE_OF_ADDRESS = 2, NOTE_OF_BOTH = 3 };
struct note_info {
    const char *name, *text;
    enum note_of of;
};
extern const struct note_info note_info[NOTE_KINDS];

enum { NOTES_KEPT = 3 };       /* so many notes of each kind are kept; all are counted */
#define NOTE_AT_END UINT64_MAX /* for an event's number */
struct note {
    uint64_t number;
    sim_tid tid;
    sim_addr addr;
};
struct notes_taken {
    uint64_t count[NOTE_KINDS];
    struct note first[NOTE_KINDS][NOTES_KEPT];
};
void rules_take_notes(struct rules *r); /* before any event; full rules only */
void rules_note(struct rules *r);       /* after each event that has obeyed the rules */
const struct notes_taken *rules_notes(const struct rules *r); /* after rules_finish */

/* ---- the generator -------------------------------------------------------------------------- */

enum synth_fork { SYNTH_ROOTS, SYNTH_FLAT, SYNTH_TREE };
struct synth_params { /* see synth_param_rows for meanings */
    uint64_t seed, events, threads, variables, locks, barriers, volatiles, atomics, classes;
    uint64_t discipline, sharing, racy;                      /* per mille */
    uint64_t read_share, sync_share, rw_share, nested_share; /* per mille */
    uint64_t run_max, gap_max, sites, system_share;
    uint64_t wait_share, txn_share, heap_share, gc_share, kernel_threads;
    uint64_t granularity;
    uint64_t privates, fields, stride, unaligned, c11;
    uint64_t flag_share, end_share, site_share;
    uint32_t fork;  /* enum synth_fork */
    uint32_t sizes; /* bit i: accesses of 1 << i bytes */
    bool raw, ends, names, marks, allocs;
};
extern const struct param synth_param_rows[];
/* "key=value,key=value" over the defaults. */
int synth_parse(struct synth_params *p, const char *assignments, struct err *e);
/* A generated stream obeys all rules, full ones too. The same params make the same events on every
 * machine. */
struct source *synth_open(const struct synth_params *p, struct err *e);

/* ---- reading a whole source: walk.c -----------------------------------------------------------
 */

/* Results of a walk_fn: an error (*e is set), go on to the next event, or stop without an error. */
enum { WALK_FAIL = -1, WALK_ON, WALK_STOP };
typedef int walk_fn(void *arg, const struct event *ev, uint64_t number, struct err *e);
int source_walk(struct source *from, walk_fn *fn, void *arg, struct err *e); /* 0 or -1 */
/* Returns the information for a sink that gets a copy of the source from event first on. */
struct sink_info source_copy_info(const struct source *from, uint64_t first);

#endif
