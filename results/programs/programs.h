/* programs.h - real programs: recipes to build and run them, and captures that are kept.
 *
 * A program is a folder with recipe.yaml and a driver: Driver.java, or build.sh for a native one.
 * What it makes is kept (kept.h), beside the text that says what it is made of;
 * where that text is another now, it is made anew. */
#ifndef LARDSIM_V_PROGRAMS_H
#define LARDSIM_V_PROGRAMS_H

#include "base/err.h"
#include "base/param.h"
#include "base/program/print.h"

/* ---- recipes: recipe.c ---------------------------------------------------------------------- */

enum { PROGRAM_SIZES = 2 };
extern const char *const program_sizes[]; /* NULL-terminated */

struct recipe {
    char *name, *dir;      /* own */
    struct config *config; /* owns what follows */
    const char *about, *driver, *jvm, *twin;
    const char *size[PROGRAM_SIZES]; /* its arguments then; %t: threads */
    struct param_list packages, sources, class_path;
};
/* Returns the names in alphabetical order; NULL: error. They are the caller's, as is each. */
char **recipe_names(size_t *n, struct err *e);
void recipe_names_free(char **name, size_t n);
int recipe_read(struct recipe *r, const char *name,
                struct err *e); /* r is to be freed either way */
void recipe_free(struct recipe *r);
static inline bool recipe_native(const struct recipe *r)
{
    return r->sources.n || !r->class_path.n;
}

enum { COLLECTOR_SERIAL, COLLECTOR_PARALLEL };
enum { LIVES_ALL, LIVES_USED };
struct program_run { /* "NAME,size=small,threads=4,collector=serial,lives=all" */
    struct recipe recipe;
    uint32_t size, collector, lives;
    uint64_t threads;
};
extern const struct param program_rows[]; /* its parameters, but the recipe */
/* spec: with or without "program:". a is to be freed either way. */
int program_run_read(struct program_run *a, const char *spec, struct err *e);
void program_run_free(struct program_run *a);

/* ---- what they need: needs.c ------------------------------------------------------------------
 */

struct recipe_needs {
    const char **package; /* that are missing; borrowed from the recipe */
    size_t packages, cap;
    char *there;     /* "libxalan2-java 2.7.2-4, ..."; NULL: it needs none that are */
    char *with;      /* java's text on its version; NULL: there is none, or the program is native */
    bool other_java; /* that is not 17 */
    bool agents;     /* lardsim was built without what records Java */
    bool sources;    /* apt knows of no sources, and it needs some */
};
void needs_read(struct recipe_needs *s, const struct recipe *r);
void needs_free(struct recipe_needs *s);
/* 0: nothing is missing but perhaps sources, which are needed once; else -1, as needs_said. */
int needs_met(const struct recipe_needs *s, const struct recipe *r, struct err *e);
/* Says all that is missing, in one sentence: -1. */
int needs_said(const struct recipe_needs *s, const struct recipe *r, struct err *e);

/* ---- what is made of them: make.c ----------------------------------------------------------- */

/* The folder of what was built, built if need be; the caller's. NULL: error. */
char *program_build(const struct program_run *a, bool quiet, struct err *e);
/* The capture, made if need be or again; the caller's. NULL: error. */
char *program_capture(const struct program_run *a, bool again, bool quiet, struct err *e);

/* The version of what `trace strip` makes of a capture. It counts up whenever that becomes
 * something else: then what is kept is made again. */
enum { STRIP_VERSION = 2 };

/* ---- as a source: source.c ------------------------------------------------------------------ */

/* "program:NAME,..." becomes the path of its capture; NULL: it is no such source, or error. */
char *program_source(const char *source, bool quiet, struct err *e);

#endif
