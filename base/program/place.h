/* place.h - where the files that belong to this program lie, and the program itself. */
#ifndef LARDSIM_PLACE_H
#define LARDSIM_PLACE_H

struct err;

enum place_id {
    PLACE_PROGRAMS,  /* a folder: recipes of real programs */
    PLACE_VALIDATE,  /* likewise: what `lardsim validate` compiles */
    PLACE_NATIVE,    /* what lardsim-cc links into programs */
    PLACE_AGENT,     /* what a JVM under capture loads: the part in C */
    PLACE_AGENT_JAR, /* the part in Java */
    PLACE_CC,        /* lardsim-cc */
    PLACE_CXX
};
/* Whether it is there is not looked at. A name without a folder is for execvp. The caller's. */
char *place_find(enum place_id id);
/* This program; the caller's. NULL: it is not known. */
char *place_self(void);
/* A new folder in TMPDIR, else in /tmp. *dir: its path, or which it would have had; owned by the
 * caller. 0 or -1: errno tells. */
int place_temporary(char **dir, const char *name);
/* The same, and *e: `what` is written there. *dir is NULL then. */
int place_work(char **dir, const char *name, const char *what, struct err *e);

#endif
