/* session.h - an instance of the library, and what the files of its room share. */
#ifndef LARDSIM_SIM_INT_H
#define LARDSIM_SIM_INT_H

#include <signal.h>

#include "policy/checker.h"
#include "policy/cost/space.h"
#include "sim/compare/compare.h"
#include "sim/lardsim.h"
#include "sim/scheduler/scheduler.h"
#include "sim/sim.h"

extern const struct param run_param_rows[]; /* the top-level section */
extern const struct preset run_presets[];   /* presets by name */
struct run_params {
    uint32_t machine, order, granularity, layout;
    const char *source; /* "": none */
    struct param_list policies;
    bool rules, ahead;
    uint64_t races_max, memory, events;
};
enum { GRANULARITY_TRACE = 0, LAYOUT_TRACE = 0 };
/* s: what is pulled, or NULL. */
const struct layout *run_layout(const struct run_params *p, const struct source *s);
const char *run_order(uint32_t order); /* as a choice of the parameter */
unsigned run_granule(const struct run_params *p,
                     unsigned hint); /* for policies; hint: the trace's, or 0 */

/* ---- the results folder: output.c ----------------------------------------------------------- */

struct results_folder; /* NULL where results go nowhere: every call takes that */
struct results_folder *output_new(const struct lardsim *l, struct err *e);
enum output_lines { OUTPUT_RACES, OUTPUT_INTERVALS, OUTPUT_DIFFERENCES, OUTPUT_LINES };
/* The stream for races.jsonl, intervals.csv, differences.jsonl; NULL: none, or error. */
FILE *output_lines(struct results_folder *o, enum output_lines which, struct err *e);
/* Writes everything; DONE only when done. Then, or on error, frees o. */
int output_finish(struct results_folder *o, const struct lardsim *l, bool done, struct err *e);
void output_abort(struct results_folder *o); /* leaves no file that looks whole */

/* ---- what the files say of the run: provenance.c --------------------------------------------- */

void provenance_write(FILE *out, const struct lardsim *l);         /* provenance.json */
void json_write_text(void *j, const char *name, const char *text); /* a member that is a text */
void host_write(FILE *out, const struct lardsim *l);               /* host.json */

/* ---- an instance ---------------------------------------------------------------------------- */

struct host_clock {
    double seconds, user, system; /* host.c: since start */
    uint64_t max_rss;             /* bytes */
    char date[32];                /* "2024-02-29T23:59:59Z" */
};
void host_read(struct host_clock *h);

/* ASKED: it has been asked for settings before it started, and can't start any more. */
enum lardsim_state { STATE_NEW, STATE_STARTED, STATE_READY, STATE_FINISHED, STATE_ASKED };

struct run_stats {
    uint64_t events, kind[EV_KINDS];
    uint64_t system; /* of the runtime system */
};

struct run_lines {            /* what happens to cache lines, for the policies */
    struct line_queue *queue; /* what nobody has heard yet */
    unsigned hears;           /* some policy, of these: bits by enum line_what */
    bool owes[MAX_CORES];     /* by core: there is something to pay for lines */
};

/* Cycles when the first step, 2 step, ... events of interest were done: course.c. */
struct run_course {
    uint64_t step;
    size_t n;
    uint64_t cycles[LARDSIM_COURSE_SAMPLES];
    uint64_t events, total; /* when the latest region ended */
    uint64_t from_events;   /* what is outside of regions, so far */
    uint64_t next;          /* the next sample, in events of the run */
    bool region;            /* something is marked; else it is of the whole run */
};

struct run_timeline {
    char *path;     /* of the file; NULL: none */
    bool overwrite; /* it may be there */
    bool cut;       /* timeline.max was reached, in cycle: */
    sim_cycle cut_at;
};

struct keep; /* keep.c: the file into which the execution goes; NULL: it is not kept */
struct run_record {
    char *path;     /* of the file; NULL: none */
    bool overwrite; /* it may be there */
    char *numbers;  /* of the events' numbers in the recording; NULL: these are not kept */
};

struct run_callbacks { /* of the library's caller; NULL: not wanted */
    void (*race)(void *, const struct lardsim_race *);
    void *race_arg;
    void (*metadata)(void *, const struct lardsim_metadata *, struct lardsim_answer *);
    void *metadata_arg;
    void (*difference)(void *, const struct lardsim_difference *);
    void *difference_arg;
    void (*progress)(void *, uint64_t);
    void *progress_arg;
    void (*unused)(void *, const char *, const char *);
    void *unused_arg;
};

struct watched;
struct lardsim {
    enum lardsim_state state;
    struct watched *watched; /* NULL: nobody watches */
    struct run_context context;
    struct err err;
    struct config *config;
    struct run_params params;
    struct budget memory; /* all that the run keeps; has limits.memory */
    struct budget pushed; /* of it: names that were pushed */
    struct stats *stats;
    struct run_stats st;
    struct live_heap heap;       /* on a machine */
    struct inline_heap *inlined; /* on a machine; used where a policy asks for it */
    struct rules *rules;         /* NULL: not checked */
    struct checker **checker;    /* as they are listed */
    struct checker **turn; /* the same on a machine, in the order in which they decide: ready.c */
    size_t checkers;
    struct names *names;         /* pushed */
    const struct names *seen;    /* of the source being pulled, or names */
    struct placement *placement; /* once ready; NULL: nobody is told of addresses */
    char *output_dir;            /* NULL: results go nowhere */
    bool overwrite;
    bool output_private; /* lardsim_output_private */
    char **word;         /* the command line, for provenance.json; NULL: none */
    size_t words;
    struct results_folder *output; /* once ready */
    FILE *races;                   /* races.jsonl, once ready */
    FILE *differences;             /* differences.jsonl, once ready */
    char *source;                  /* what was pulled; NULL: pushed */
    char *caveat;                  /* owns; of what is pushed; NULL: none */
    struct source *pulled;         /* until the end, for its names */
    bool sampled;                  /* a part of it is all that was wanted: lardsim_shared_stop */
    struct digest *identity;       /* of the events */
    struct {
        struct event *filled;         /* owns; the batch in hand, with gaps in instructions */
        uint64_t rest;                /* of a bytecode, in percent of an instruction */
        const struct event *original; /* as the source has it; NULL: it was left as it is */
    } gaps;
    const struct trace_summary *foreseen; /* of those to come, while the parts are made, or NULL */
    uint64_t number;                      /* of the event in hand; between events, of the next */
    struct stats_digests result;          /* once finished */
    bool in_region;                       /* of interest */
    bool unready;                         /* making the parts of the run failed */
    bool comparing;
    const char *const *other; /* policies of other runs with this configuration */
    size_t others;
    bool shared;                      /* its source is read for others, too */
    const struct trace_summary *told; /* of it; NULL: nothing */
    bool listing;                     /* made for its tables alone */
    bool resolving;                   /* made to be checked, as if there were a results folder */
    struct compare *compare;          /* once ready, where comparing */
    struct scheduler *scheduler;      /* once ready */
    volatile sig_atomic_t stop;       /* the signal that ends the run; 0: none */
    bool running;                     /* in the middle of events: a caller is called back */
    bool pushing;                     /* an event has been pushed */
    bool finishing;                   /* no more events are pushed */
    bool source_failed;               /* the error is the source's own, and names it */

    /* On a machine. */
    struct machine *machine;        /* once ready; NULL: detection only */
    struct policy_machine policies; /* as policies see it */
    struct schedule_params schedule;
    struct host_params hosted;
    bool pays; /* some policy: what it has decided takes time */
    struct run_lines lines;
    struct run_timeline timeline;
    struct run_course course;
    bool program; /* its source is asked, in program order */
    struct run_record record;
    struct keep *keep; /* once its source is known */

    struct host_clock began;
    struct run_callbacks on;
    char *property; /* owns; of the latest promise */
    char view[64];
};

struct lardsim_side session_side(const struct lardsim *l, const struct race_side *s);
void session_declare(struct lardsim *l); /* the statistics of events */
/* -1: what is known of the events to come says that they can't run. */
int session_foresee(struct lardsim *l);
/* Makes the parts of the run: ready.c. hint: the trace's granularity, or 0. */
int session_ready(struct lardsim *l, unsigned hint);
/* Reads the source to its end; l owns it from now on. name: as the user wrote it. */
int session_pull(struct lardsim *l, struct source *s, const char *name);
/* The run's events come from a source that is read for others, too, and are held against the rules
 * there. told: what that source says of itself before it is read; NULL: nothing. Borrowed. */
void session_share(struct lardsim *l, const struct trace_summary *told);
/* Whether its threads are asked one by one, in program order; else it is read. */
bool session_asks(const struct lardsim *l, const struct source *s);
/* Events may be pushed; the first time all is made ready for them. what: the call, for the error.
 */
int session_pushes(struct lardsim *l, const char *what);
/* at: where and when it is, by the host's clock; NULL: that has none. */
int session_push(struct lardsim *l, const struct host_at *at,
                 const struct event rec[static EVENT_RECORDS]); /* session.c */

/* Binds the top level of an instance that has not started: it is for questions then. promise.c. */
int session_asked(struct lardsim *l);

/* ---- how many cycles events take, as the run goes on: course.c --------------------------------
 */

void course_begin(struct lardsim *l, bool region); /* the run, or a region of interest */
void course_sample(struct lardsim *l);             /* st.events is course.next */
void course_end(struct lardsim *l);

/* ---- the machine of the run: on_machine.c --------------------------------------------------- */

/* Makes the machine of the configuration, if it has one, or lets its parameters be known. */
int machine_begins(struct lardsim *l, unsigned granule);
/* Lends the machine, if there is one, to the policy of a checker that is about to be made. */
void machine_lent(struct lardsim *l, struct checker_env *env);
/* Notes what a checker that has been made hears of the machine. */
void machine_heard(struct lardsim *l, const struct checker *c);
void machine_ends(struct lardsim *l); /* its totals are brought up to date */
void machine_gone(struct lardsim *l); /* freed */

/* ---- the trace that is kept: keep.c --------------------------------------------------------- */

struct keep *keep_new(const struct run_record *to, const struct sink_info *info, struct err *e);
int keep_event(struct keep *k, const struct event *ev, uint64_t number, const struct names *names,
               struct err *e);
/* Frees it in any case. */
int keep_finish(struct keep *k, const struct names *names, struct err *e);
void keep_abort(struct keep *k); /* nothing remains; NULL is fine */

/* ---- gaps.c -----------------------------------------------------------------------------------
 */

/* Fills in the gaps of a batch that does not say them, for a machine. gaps_original returns the
 * batch's events as they were. */
void gaps_batch(struct lardsim *l, struct batch *b);
const struct event *gaps_original(const struct lardsim *l, const struct batch *b);

/* ---- the events: run.c ---------------------------------------------------------------------- */

int run_stopped(struct lardsim *l); /* sets the error that l->stop is; always returns -1 */
void run_begin(struct lardsim *l);  /* makes the scheduler, after the machine */
int run_pull(struct lardsim *l);    /* all that l->pulled has */
/* Runs one event more; at: as session_push. */
int run_push(struct lardsim *l, const struct host_at *at, const struct event *ev);
void run_finish(struct lardsim *l);          /* what is left */
void run_region(struct lardsim *l, bool in); /* of interest */
void run_forget_regions(struct lardsim *l);
/* Between events: policies hear what happened to lines, before more does. */
void run_tell_lines(struct lardsim *l, unsigned core);
void run_look(const struct lardsim *l); /* between events: all that is counted late is counted */

/* ---- the run as one sees it, a line each thing: watched.c ------------------------------------ */

struct machine_sights *watched_sights(struct lardsim *l); /* NULL: nobody watches */
void watched_begin(struct lardsim *l);                    /* machine and scheduler are made */
void watched_end(struct lardsim *l);
void watched_free(struct lardsim *l);
void watched_turn(struct lardsim *l, const struct turn *t);   /* it begins */
void watched_number(struct lardsim *l, const struct turn *t); /* it has its number */
void watched_check(struct lardsim *l, struct checker *c, uint64_t number, const struct event *ev,
                   unsigned core, sim_cycle now); /* c has decided on it, until now */
/* The core begins to work for this policy. */
void watched_policy(struct lardsim *l, unsigned core, const struct checker *c);
void watched_race(struct lardsim *l, const struct race *race);
void context_tell(const void *session, struct whereabouts *to); /* of struct run_context */

/* ---- the comparison of the run: compared.c -------------------------------------------------- */

int compared_begin(struct lardsim *l, unsigned granule); /* if it is to compare */
/* A checker's on_conflict. */
void compared_conflict(void *session, const char *label, const struct event *ev, sim_addr location,
                       const struct race_side *earlier);
void compared_write(FILE *out, const struct lardsim *l); /* compare.json */
/* The hash of the events that ran: the source's own, where it keeps one. */
static inline struct digest *run_identity(const struct lardsim *l)
{
    return l->pulled && l->pulled->identity ? l->pulled->identity : l->identity;
}

#endif
