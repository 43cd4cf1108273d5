/* sweep.h - the parts of `lardsim sweep`: a spec, the cells that it makes, the folder that they are
 * in, and whatever runs them.
 *
 * The folder is all the state there is: a cell that is done is a folder in cells/, named by the
 * hash of all that decides its results, and one that failed a folder in failed/. So a sweep is
 * resumed by finding out which cells are missing. */
#ifndef LARDSIM_V_SWEEP_H
#define LARDSIM_V_SWEEP_H

#include <signal.h>

#include "base/digest.h"
#include "base/json.h"
#include "base/map.h"
#include "results/job/given.h"
#include "results/job/progress.h"
#include "results/results.h"
#include "sim/lardsim.h"

/* ---- the spec: spec.c ----------------------------------------------------------------------- */

struct setting { /* a text of the spec, and where it stands */
    char *text;  /* owns; "l2.size=512Ki", "workload:sor", a policy */
    unsigned line;
};
struct settings {
    struct setting *at; /* owns */
    size_t n, cap;
};
void settings_add(struct settings *s, char *text, unsigned line); /* takes text over */
void settings_free(struct settings *s);

struct step {   /* one value of an axis */
    char *name; /* owns; the value, or the name of a group of settings */
    struct settings set;
};
struct axis {
    char *name; /* owns; a parameter, or of the user's choosing where its steps are groups */
    unsigned line;
    struct step *step; /* owns */
    size_t n, cap;
    bool groups;
    size_t with; /* the first axis with which it moves together; itself: it moves alone */
};
struct term {              /* "l2.size <= l3.size" */
    char *left, *right;    /* own */
    int less, equal, more; /* whether it holds then */
};
struct condition {     /* all its terms hold */
    char *text;        /* owns; as the user wrote it */
    struct term *term; /* owns */
    size_t n, cap;
    unsigned line;
};
struct conditions {
    struct condition *at; /* owns */
    size_t n, cap;
};
struct spec {
    char *path; /* owns; as the user wrote it, for messages */
    struct settings inherit, base, policies, sources, seeds;
    struct axis *axis; /* owns */
    size_t axes, axes_cap;
    struct conditions only, except;
};
/* text: of the file called path. 0 or -1; s is to be freed either way. */
int spec_read(struct spec *s, const char *path, const char *text, size_t bytes, struct err *e);
void spec_free(struct spec *s);
int spec_error(const struct spec *s, unsigned line, struct err *e, const char *fmt, ...)
    PRINTF_LIKE(4, 5);

/* ---- the points of the axes: points.c ------------------------------------------------------- */

/* One value of each axis, and one of each source, seed and policy. */
struct sweep_point {
    size_t *step;                /* owns; by axis */
    size_t source, seed, policy; /* of the spec's lists */
};
/* The number of points before conditions leave any out, at most UINT64_MAX / 2. */
uint64_t points_count(const struct spec *s);
/* A condition that can't be meant, or that leaves nothing out, is refused or noted. */
int conditions_check(const struct spec *s, struct err *e);
/* Calls fn for every point that the conditions leave, in the order of the spec: the axis that is
 * written first changes slowest, and policies fastest. Stops at -1, and returns it. */
int points_each(const struct spec *s, int (*fn)(void *arg, const struct sweep_point *p), void *arg,
                struct err *e);

/* ---- the cells: plan.c ---------------------------------------------------------------------- */

#define NO_CELL SIZE_MAX

struct sweep_cell { /* a run: `lardsim run` with these settings, on this source */
    char hash[HASH_TEXT];
    size_t source;       /* of the plan's */
    size_t given;        /* the source in the spec: with other seeds it has others */
    size_t baseline;     /* the cell of the same point without a policy; NO_CELL: there is none */
    char *policy;        /* owns; its label */
    char *seed;          /* owns; NULL: the source has none */
    char **value;        /* owns; by axis: the step's name; NULL: of several, which give one run */
    struct settings set; /* "l2.size=512Ki", in the order in which they are set */
    bool machine, rules;
    bool asked; /* the spec has it; otherwise it is run as a baseline alone, and in no table */
};
struct plan_source {
    char *text;           /* owns; for lardsim_run */
    char *identity;       /* owns; what is hashed of it */
    bool asked;           /* a workload whose threads a machine can ask (order=program) */
    uint64_t hash;        /* of a file's events; 0: not known before it runs */
    unsigned granularity; /* that it says of itself; 0: none */
    uint64_t events;      /* 0: not known before it runs */
};
struct plan {
    const struct spec *spec;    /* borrows */
    struct plan_source *source; /* owns */
    size_t sources, sources_cap;
    struct sweep_cell *cell; /* owns; in the order of the points */
    size_t n, cap;
    struct map index; /* hash to 1 + index of cell */
};
/* A memo of resolved configurations, which saves resolving them again: memo.c. */
enum { MEMO_MACHINE = 1, MEMO_RULES = 2, MEMO_PROGRAM = 4 }; /* its order may be the program's */
struct memo_entry {
    uint64_t key, hash; /* of settings; of the configuration that they give */
    unsigned flags;
};
struct memo {
    struct memo_entry *at; /* owns */
    size_t n, cap;
    struct map index; /* key to 1 + index */
    bool changed;
};
struct sweep_folder;
void memo_load(struct memo *m, const char *dir); /* empty where there is none */
const struct memo_entry *memo_find(const struct memo *m, uint64_t key); /* NULL: not known */
void memo_add(struct memo *m, const struct memo_entry *x);
int memo_save(const struct memo *m, const struct sweep_folder *f, struct err *e);
void memo_free(struct memo *m);

/* All cells of the spec, each resolved and checked; nothing runs. build: whose results count. 0 or
 * -1; p is to be freed either way. */
int plan_make(struct plan *p, const struct spec *s, const char *build, struct memo *memo,
              struct progress *progress, struct err *e);
void plan_free(struct plan *p);
/* Gives l the settings of the cell, as lardsim_run takes them. */
int cell_configure(const struct plan *p, const struct sweep_cell *c, struct lardsim *l);
void cell_command(const struct plan *p, const struct sweep_cell *c, struct lardsim *l);

/* plan.csv, the list of cells in the folder, which results/ reads: listing.c */
int listing_write(const struct sweep_folder *f, const struct plan *p, struct err *e);

/* ---- axes that change nothing: idle.c ------------------------------------------------------- */

/* A hash of what the cell is, but for this column. */
uint64_t listing_point(const struct listing *l, const struct csv_row *row, size_t but);
/* Calls fn for each axis, and for the seed, that changes nothing: cells that differ in it alone
 * have the same behaviour, each of several. behaviour: by row, NULL where it is not known. */
void listing_idle(const struct listing *l, char *const *behaviour,
                  void (*fn)(void *arg, const char *axis, size_t places), void *arg);
/* As listing_idle, with the behaviours that the cells of the folder have. */
void listing_idle_in(const struct listing *l, const char *dir,
                     void (*fn)(void *arg, const char *axis, size_t places), void *arg);
void idle_note(void *unused, const char *axis, size_t places); /* such a function: says it */

/* ---- the folder: folder.c ------------------------------------------------------------------- */

#define FLIGHT     "flight-"        /* rooms of tasks begin with it */
#define INDEX_PART ".index.sqlite." /* an index in the making */
struct sweep_folder {
    char *dir;          /* owns */
    int lock;           /* a file descriptor; -1: not ours */
    const char *flight; /* borrows; the room of what is in flight; NULL: tmp */
};
/* Makes it if need be, and takes it for this process, until folder_close. */
int sweep_open(struct sweep_folder *f, const char *dir, struct err *e);
void sweep_close(struct sweep_folder *f);
/* The path of a cell in this room, hash NULL: of the room, or of a file; the caller's. */
char *sweep_path(const struct sweep_folder *f, const char *room, const char *hash);
/* Each cell is held against its DONE once: the caller's, by row. What is damaged is said. */
enum cell_state *sweep_states(const struct sweep_folder *f, const struct listing *l,
                              size_t *damaged);
/* The error when so many are damaged; -1. */
int sweep_damaged(const struct sweep_folder *f, size_t cells, struct err *e);
/* The path of a cell in flight; hash NULL: that of the room. Owned by the caller. */
char *folder_flight(const struct sweep_folder *f, const char *hash);
/* Moves a cell from its place in flight to cells/, whole. */
int sweep_done(const struct sweep_folder *f, const char *hash, struct err *e);
/* Moves a cell to failed/, with what there is of it, and a log. more: a file whose text is added;
 * may be NULL. */
int sweep_failed(const struct sweep_folder *f, const char *hash, const char *text, const char *more,
                 struct err *e);
int sweep_clean(const struct sweep_folder *f, struct err *e); /* what nobody flies any more */
/* Removes cells in flight of tasks and collectors that were killed, when none runs any more. */
void folder_clean_flights(const struct sweep_folder *f);
/* A file of the folder's own, as long as a spec may be, and a byte more: owned by the caller. NULL:
 * error. */
char *sweep_read(const struct sweep_folder *f, const char *name, size_t *bytes, struct err *e);
struct outfile *sweep_file(const struct sweep_folder *f, const char *name, struct err *e);
int sweep_write(const struct sweep_folder *f, const char *name, const char *text, size_t bytes,
                struct err *e);

/* ---- a group of cells, in this process: work.c ---------------------------------------------- */

/* Limits of a process: cells that run at a time, and records of their source that one run goes
 * through before the next. A machine's model is large, and a batch is soon over; detection alone is
 * so quick that a batch should be in the host's caches, so it keeps none. */
enum { GROUP_MOST = 16, KEPT_RECORDS = 2 << 20, RECORD_BYTES = 32 };

struct sweep;
struct group {    /* cells of one source, which one process runs side by side */
    size_t *cell; /* owns; of the plan's */
    size_t n, cap;
};
enum told { TOLD_EVENTS, TOLD_DONE, TOLD_FAILED, TOLD_ALONE, TOLD_NO_ROOM };
/* TOLD_EVENTS: n more have run, in all cells. TOLD_ALONE: the cell must run without others, to say
 * what is wrong. TOLD_NO_ROOM: results can't be written; the sweep can't go on. Of the others n is
 * an exit code. */
struct teller {
    void (*tell)(void *arg, enum told what, size_t cell, uint64_t n);
    void *arg;
};
void group_add(struct group *g, size_t cell);
/* How many cells a process takes when so many are left: fewer towards the end, so that all
 * processes end at about the same time. */
size_t group_most(const struct sweep *s, size_t left);
bool same_reading(const struct sweep_cell *a, const struct sweep_cell *b); /* may be in one group */
void work_run(const struct sweep_folder *f, const struct plan *p, const struct group *g,
              const struct teller *t);

/* ---- what cells will take: predict.c -------------------------------------------------------- */

struct predicted {         /* alone, in a process of its own */
    double seconds;        /* of a processor */
    uint64_t memory, disk; /* bytes; memory: of the process, at its peak */
    uint64_t own;          /* of that, what it adds to a process that is there */
    bool known;            /* how long its source is is known */
};
/* Predicts each cell. That takes about ten seconds of a processor, if the sweep takes more. */
int predict(struct predicted *to, struct plan *p, struct err *e);
void predicted_print(const struct sweep *s, const struct predicted *x); /* dry_run.c */
void predicted_json(const struct sweep *s, const struct predicted *x);
uint64_t process_memory(long pid); /* bytes that are its own; 0: it is gone */

/* ---- engines: what runs groups -------------------------------------------------------------- */

struct elsewhere { /* for engines beyond this machine; NULL: not given */
    const char *partition, *account, *time, *memory;
    uint64_t seconds; /* that a task should take */
    bool accept_build;
};
struct engine;
struct sweep {
    struct plan *plan;
    const struct sweep_folder *folder;
    enum cell_state *state;      /* owns; by cell */
    int *code;                   /* owns; by cell: of those that failed now, an exit code */
    size_t had;                  /* cells that were done, or had failed, at first */
    size_t others;               /* cells that are not its business, and count as done */
    size_t jobs;                 /* processes at a time; elsewhere: of a task */
    struct predicted *predicted; /* owns; by cell; NULL: not asked for */
    uint64_t max_memory;         /* bytes, of all processes; 0: no limit */
    uint64_t timeout;            /* seconds without an event, after which a process is ended */
    bool quiet, json, inside;    /* inside: of another verb, which prints */
    const struct engine *engine;
    struct elsewhere elsewhere;
};
size_t sweep_count(const struct sweep *s, enum cell_state state);

/* A request for a sweep. */
struct sweep_asked {
    struct sweep how; /* engine, elsewhere, jobs, limits, and what is printed */
    bool dry_run;     /* says what would be run, and runs nothing */
};
size_t sweep_processors(void); /* that this process may use */
/* An exit code, or -1 and *e. spec: a file. */
int sweep_run(const struct sweep_asked *asked, const char *spec, const char *dir, struct err *e);
/* sweep_retry goes on with a sweep that has begun in this folder; sweep_run_task runs one task of a
 * batch of it. */
int sweep_retry(const struct sweep_asked *asked, const char *dir, struct err *e);
int sweep_run_task(const struct sweep_asked *asked, const char *dir, unsigned batch, uint64_t task,
                   struct err *e);

/* Another verb's sweep: cells that the folder has are not run again, whatever spec made them. */
struct sweep_inside {
    const char *name, *text; /* of the spec; the name is for messages */
    const char *dir;
    size_t jobs; /* 0: as many as there are processors */
    bool quiet;
    /* The cells are there, but for those that failed: an exit code, or -1 and *e. */
    int (*then)(void *arg, const struct sweep *s, struct err *e);
    void *arg;
};
int sweep_inside(const struct sweep_inside *o, struct err *e);
struct engine {
    const char *name, *help;
    /* Runs what is missing. -1: it could not go on. */
    int (*run)(struct sweep *s, struct err *e);
    bool follows; /* when it returns, all has been run */
};
extern const struct engine engine_local, engine_slurm, engine_shell;
/* Engines that wait share this: task.c. The signals that stop a sweep come through *signals, and
 * *before is the mask for what is started; engine_stopped tells the one that has come, -1, or that
 * none has, 0. more: what becomes of the sweep then. */
int engine_listen(int *signals, sigset_t *before, struct err *e);
void engine_leave(int signals, const sigset_t *before); /* signals -1: it does not listen */
int engine_stopped(int signals, const struct sweep *s, const char *more, struct err *e);
/* Shows how far the sweep is, if that is due: task.c. events: that have run here. */
void sweep_progress(struct progress *p, const struct sweep *s, uint64_t events);

/* ---- tasks: cells that another machine runs in one go: task.c ------------------------------- */

/* A batch is a file of tasks/, with a line for each task: the names of its cells. */
struct batch_of_tasks {
    unsigned number;
    struct group *task; /* owns */
    size_t n, cap;
};
/* The missing cells, as tasks that s->predicted says take about s->elsewhere.seconds; those marked
 * in alone have one each. At the most `most` tasks. */
void tasks_make(struct batch_of_tasks *b, const struct sweep *s, const bool *alone, size_t most);
/* Gives it a number that no other has. */
int tasks_write(struct batch_of_tasks *b, const struct sweep_folder *f, const struct plan *p,
                struct err *e);
/* Cells that the plan does not have are left out. */
int tasks_read(struct batch_of_tasks *b, unsigned number, const struct sweep_folder *f,
               const struct plan *p, struct err *e);
void tasks_free(struct batch_of_tasks *b);
/* The highest number of a batch; 0: there is none. */
unsigned tasks_last(const struct sweep_folder *f);
/* "'/usr/bin/lardsim' sweep task '/home/me/l2' 3": what a shell runs, and then the task's number.
 * NULL: a path has what can't be given to it. */
char *task_command(const struct sweep *s, unsigned batch, struct err *e);
/* For sh: in quotes. Owned by the caller. */
char *shell_quoted(const char *text);

#endif
