/* validate.h - what the files of `lardsim validate` share: the host as it is measured, programs
 * that are run on it, and what the model says of them. */
#ifndef LARDSIM_V_VALIDATE_H
#define LARDSIM_V_VALIDATE_H

#include "base/program/child.h"
#include "results/programs/programs.h"

/* A value that was measured several times. */
struct sampled {
    double median, least, most;
};
/* Sorts the values, and returns their spread. */
struct sampled spread_of(double *value, size_t n);

/* ---- host.c: the machine that this is ------------------------------------------------------- */

enum { CACHE_LEVELS = 3 };
struct host_cache {
    uint64_t size, ways, line; /* size 0: there is none */
    unsigned cores;            /* that share it */
};
enum host_value {              /* the values that the probe measures, in its order */
                  HOST_CYCLE,  /* ns: an addition that waits for the one before */
                  HOST_WIDTH,  /* instructions a cycle, of a function with those of a check of
                                * ThreadSanitizer;  AArch64: of 16, two load, three compare and
                                * branch, eight compute */
                  HOST_L1,     /* ns: a load whose address is the value before, in half of the L1 */
                  HOST_L2,     /* the same in half of the L2 */
                  HOST_L3,     /* the same in an eighth of the L3 */
                  HOST_MEMORY, /* the same in four times the last cache */
                  HOST_MISSES, /* loads of memory, at a time */
                  HOST_WINDOW, /* instructions between two loads of memory that overlap */
                  HOST_ATOMIC, /* ns: an addition to the core's own line */
                  /* From here on they may be missing. ns: a line's way to another core that polls,
                   * half of there and back. */
                  HOST_TRANSFER,
                  HOST_MISPREDICT, /* ns: a branch by a loaded word that is guessed wrongly, beyond
                                      one that is not */
                  HOST_TRANSLATIONS, /* the most pages whose loads take no longer than of few */
                  HOST_SECOND_TRANSLATIONS, /* the most pages whose loads take little longer */
                  HOST_SECOND_TRANSLATION, /* ns: what a load of 256 pages at random takes more than
                                              of 16 */
                  HOST_WALK, /* ns: what a load of 8192 pages at random takes more than of 16 */
                  HOST_PAGE, /* bytes of a page */
                  HOST_VALUES
};
extern const char *const host_value_name[HOST_VALUES];
struct host_facts {
    char model[128]; /* the processor's; "": nobody says */
    unsigned cores;
    struct host_cache cache[CACHE_LEVELS];
    struct sampled value[HOST_VALUES]; /* median 0: not measured */
};
/* Reads the caches from a folder like this one. */
#define HOST_SYSFS "/sys/devices/system/cpu"
int host_caches(struct host_facts *h, const char *sysfs, struct err *e);
/* The lines that the probe writes. name: for messages. */
int host_values(struct host_facts *h, const char *lines, const char *name, struct err *e);

/* A setting of the machine that stands for this host, and where it comes from. */
struct host_setting {
    char text[64]; /* "l1.size=49152" */
    const char *basis, *source;
};
enum { HOST_SETTINGS = 40 };
size_t host_settings(const struct host_facts *h, unsigned threads,
                     struct host_setting to[HOST_SETTINGS]);

/* ---- subject.c: the programs, and how they are built ---------------------------------------- */

/* Options of the run-time library: a race that it finds is not what is asked for here. */
#define TSAN_SETTINGS "exitcode=0"

struct tools {
    const char *compiler; /* "gcc" */
    char *folder;         /* owns; with the sources of kernels and probe */
    char *wrapper;        /* owns; lardsim-cc */
    char *self;           /* owns; this program */
    char *work;           /* owns; a folder for what is built */
    char version[128];    /* the compiler's own line */
    char generation[16];  /* the run-time library's: "v2"; "": it does not say */
};
int tools_open(struct tools *t, const char *compiler, struct err *e);
void tools_close(struct tools *t); /* removes the folder */

struct subject {           /* a program that is compared */
    char *name;            /* owns */
    struct recipe *recipe; /* owns; NULL: a kernel */
};
/* Finds a kernel or a recipe in C by its name. s is to be freed either way. */
int subject_find(struct subject *s, const char *name, struct err *e);
void subject_free(struct subject *s);

enum build { BUILD_PLAIN, BUILD_TSAN, BUILD_CAPTURE, BUILDS };
int native_build(const struct tools *t, const struct subject *s, enum build how, struct err *e);
/* Compiles one of our own files. */
int native_compile(const struct tools *t, const char *name, enum build how, struct err *e);
/* The command of a build, in the shell: with one unit of work, or with two, more or less. A unit is
 * a repetition of a kernel, and what a recipe's larger input has more. The caller's. */
enum work { WORK_LESS, WORK_MORE };
char *native_command(const struct tools *t, const struct subject *s, enum build how,
                     unsigned threads, enum work work);
extern const char *const native_kernels[]; /* NULL-terminated */

/* ---- native.c: programs on the host --------------------------------------------------------- */

int native_probe(const struct tools *t, struct host_facts *h, struct err *e);

struct timing {              /* nanoseconds of processor time a unit */
    struct sampled time[2];  /* BUILD_PLAIN, BUILD_TSAN */
    struct sampled slowdown; /* one value for each pair of runs */
    unsigned runs;
};
int native_measure(const struct tools *t, const struct subject *s, unsigned threads, unsigned runs,
                   double least, struct timing *to, struct err *e);

/* ---- predict.c: the same program in the model ----------------------------------------------- */

struct forecast { /* figures of one repetition, over all cores, without waiting */
    uint64_t events, races;
    double plain, tsan; /* cycles */
    double added;       /* nanoseconds: of the difference */
    double slowdown;    /* (measured plain time + added) / measured plain time */
};
int native_predict(const struct tools *t, const struct host_facts *h, const struct subject *s,
                   unsigned threads, const struct timing *m, struct forecast *to, struct err *e);

/* ---- report.c ------------------------------------------------------------------------------- */

struct pairing {
    const char *name; /* borrowed */
    unsigned threads;
    struct timing measured;
    struct forecast predicted;
};
struct summary {
    double rank; /* Spearman's, of slow-downs; of fewer than three: 0 */
    size_t within;
};
struct summary summary_of(const struct pairing *o, size_t n);
void report_page(FILE *out, const struct host_facts *h, const struct pairing *o, size_t n);
void report_json(FILE *out, const struct tools *t, const struct host_facts *h,
                 const struct pairing *o, size_t n);
/* Writes a configuration. */
void report_machine(FILE *out, const struct host_facts *h, unsigned threads);

#endif
