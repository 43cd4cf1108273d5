/* trace.h - what the verbs of `lardsim trace` share: a new trace file, and walking over events.
 */
#ifndef LARDSIM_V_TRACE_H
#define LARDSIM_V_TRACE_H

#include "base/outfile.h"
#include "cli/cli.h"
#include "results/job/progress.h"
#include "trace/trace.h"

/* ---- a trace file that appears whole or not at all ------------------------------------------ */

#define ROWS_OUT                                                                                   \
    OPTION("to", OPT_TO, "binary|text|std",                                                        \
           "The form of OUT; by default text when its name ends in .txt or .trace, STD when in "   \
           ".std, else binary"),                                                                   \
        OPTION("codec", OPT_CODEC, "zstd|zlib|raw", "How a binary OUT is compressed (zstd)"),      \
        OPTION("lossy", OPT_LOSSY, NULL, "Leave out of an STD file what STD can't say"),           \
        OPTION("level", OPT_LEVEL, "N", "How hard it is compressed (the codec's default)"),        \
        OPTION("overwrite", OPT_OVERWRITE, NULL, "Replace OUT if it exists"), ROW_QUIET

#define ROW_MEMORY                                                                                 \
    OPTION("max-memory", OPT_MEMORY, "BYTES",                                                      \
           "Stop where what has to be kept, names above all, takes more (8Gi); 0: no limit")
/* Sets the limit of --memory (ROW_MEMORY), or its default. */
int memory_option(struct budget *all, const struct cli *c, struct err *e);
/* The same source, whose reading is shown, and one that a signal ends; take s, NULL gives NULL. */
struct source *shown_source(struct progress *p, struct source *s);
struct source *stopped_source(struct source *s);
/* Charges s to all, and returns it; NULL is fine. */
struct source *charged(struct source *s, struct budget *all);
/* Opens a source that is charged to all, and stops and shows its progress as one that is read
 * whole. */
struct source *trace_open(const char *spec, struct budget *all, struct progress *p, struct err *e);
/* Returns -1 if the verb's own memory is over the limit. */
int memory_limit(const struct budget *all, const char *name, uint64_t event, struct err *e);

struct out {
    struct outfile *file; /* owns; NULL: not open */
    struct sink *sink;    /* owns */
    const char *path;     /* borrowed */
};
/* Checks what can be checked before anything is read: options make sense, OUT may be written. */
int out_check(const struct cli *c, const char *path, struct err *e);
int out_open(struct out *o, const struct cli *c, const char *path, const struct sink_info *info,
             struct err *e);
/* Closes the output. failed: not 0 leaves nothing; else finishes and commits. 0 or -1. */
int out_close(struct out *o, int failed, struct err *e);

/* Copies a whole source to a new file; takes from. */
int out_copy(struct source *from, const struct cli *c, const char *path, struct err *e);
/* Copies the source that open makes of spec: 0 or -1. */
typedef struct source *open_fn(const char *spec, struct err *e);
int out_copy_of(open_fn *open, const char *spec, const struct cli *c, const char *path,
                struct err *e);

/* Checks that the source can be read twice: 0 or -1. verb: the one that reads it. */
int read_twice(const char *verb, const char *spec, struct err *e);

/* Adds to `to` the names of `of` that the event needs, where they are other there. 0 or -1. */
int names_for(struct names *to, const struct names *of, const struct event *ev, struct err *e);

/* ---- a part of a trace ---------------------------------------------------------------------- */

struct event_range {
    uint64_t first, count; /* numbers of events */
    uint64_t thread;       /* ANY_THREAD: all */
    bool roi;              /* from the first roi-begin there to its roi-end */
    bool inside;           /* that region has begun */
    bool done;             /* no event after this one can be taken */
};
#define ANY_THREAD UINT64_MAX
int part_options(struct event_range *p, const struct cli *c, struct err *e);
bool part_takes(struct event_range *p, const struct event *ev, uint64_t number);

#endif
