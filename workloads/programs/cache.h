/* cache.h - what is kept of programs and captures, in folders of the user's cache: cache.c. */
#ifndef LARDSIM_CACHE_OF_PROGRAMS_H
#define LARDSIM_CACHE_OF_PROGRAMS_H

#include <stdbool.h>
#include <time.h>

#include "base/err.h"

/* The folder of all; the caller's. NULL: the environment does not say where. */
char *cache_root(void);
/* Returns the path of the folder with that name; it may not be there, but those above it are. The
 * caller's. NULL: error. */
char *cache_path(const char *name, struct err *e);
/* Holds the folder, and makes it the last one used: no lardsim removes or replaces it until the
 * returned descriptor is closed, which the end of the process does, too. Waits for others who make
 * or remove it. -1: it is not there. Where a file system has no locks, nothing is removed, but a
 * folder that is made anew takes the place of the old one. */
int cache_hold(const char *path, bool quiet);
/* Holds the folder while this process runs, if it is there and made of that. */
bool cache_made_of(const char *path, const char *provenance, bool quiet);

struct cache_fill {
    int (*fill)(void *arg, const char *dir, struct err *e); /* a folder that is new; 0 or -1 */
    void *arg;
    bool again; /* also where another has meanwhile made the same */
    bool quiet;
};
/* Fills a new folder, which gets that name, and is held; then cache_shrink. 0 or -1: also if
 * somebody uses the folder of that name, or it is not lardsim's. The provenance's first line says
 * which program, and the name is that or the program's and "-SIZE-THREADS". */
int cache_make(const char *name, const char *provenance, const struct cache_fill *f, struct err *e);
void cache_tidy(void); /* removes what somebody who was killed has left behind */
/* Removes the least recently used folders, as far as LARDSIM_CACHE_LIMIT demands and nobody uses
 * them. 0 or -1. */
int cache_shrink(bool quiet, struct err *e);
/* LARDSIM_CACHE_LIMIT, or 4 GiB; 0: none. */
int cache_limit(uint64_t *to, struct err *e);

struct cached {
    char *name, *program; /* own */
    uint64_t bytes;
    struct timespec used;
};
struct cache_list {    /* lardsim's own folders alone, the least recently used first */
    struct cached *at; /* owns */
    size_t n;
    uint64_t bytes;
};
void cache_read(struct cache_list *l);
void cache_list_free(struct cache_list *l);
/* Removes the folder. -1: also if somebody uses it. */
int cache_forget(const struct cached *c, struct err *e);

#endif
