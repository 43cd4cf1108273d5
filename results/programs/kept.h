/* kept.h - what is kept of programs that were built and of captures: a folder for each. */
#ifndef LARDSIM_KEPT_H
#define LARDSIM_KEPT_H

#include <stdbool.h>
#include <time.h>

#include "base/err.h"

/* The folder of all; the caller's. NULL: the environment does not say where. */
char *kept_root(void);
/* Returns the path of the folder with that name; it may not be there, but those above it are. The
 * caller's. NULL: error. */
char *kept_path(const char *name, struct err *e);
/* Holds the folder, and makes it the last one used: no lardsim removes or replaces it until the
 * returned descriptor is closed, which the end of the process does, too. Waits for others who make
 * or remove it. -1: it is not there. Where a file system has no locks, nothing is removed, but a
 * folder that is made anew takes the place of the old one. */
int kept_hold(const char *path, bool quiet);
/* Holds the folder while this process runs, if it is there and made of that. */
bool kept_made_of(const char *path, const char *provenance, bool quiet);

struct kept_fill {
    int (*fill)(void *arg, const char *dir, struct err *e); /* a folder that is new; 0 or -1 */
    void *arg;
    bool again; /* also where another has meanwhile made the same */
    bool quiet;
};
/* Fills a new folder, which gets that name, and is held; then kept_shrink. 0 or -1: also if
 * somebody uses the folder of that name, or it is not lardsim's. The provenance's first line says
 * which program, and the name is that or the program's and "-SIZE-THREADS". */
int kept_make(const char *name, const char *provenance, const struct kept_fill *f, struct err *e);
void kept_tidy(void); /* removes what somebody who was killed has left behind */
/* Removes the least recently used folders, as far as LARDSIM_PROGRAMS_LIMIT demands and nobody uses
 * them. 0 or -1. */
int kept_shrink(bool quiet, struct err *e);
/* LARDSIM_PROGRAMS_LIMIT, or as it was called LARDSIM_CACHE_LIMIT, or 4 GiB; 0: none. */
int kept_limit(uint64_t *to, struct err *e);

struct kept_folder {
    char *name, *program; /* own */
    uint64_t bytes;
    struct timespec used;
};
struct kept_list {          /* lardsim's own folders alone, the least recently used first */
    struct kept_folder *at; /* owns */
    size_t n;
    uint64_t bytes;
};
void kept_read(struct kept_list *l);
void kept_list_free(struct kept_list *l);
/* Removes the folder. -1: also if somebody uses it. */
int kept_forget(const struct kept_folder *c, struct err *e);

#endif
