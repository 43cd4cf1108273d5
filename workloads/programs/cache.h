/* cache.h - what is kept of programs and captures, in folders of the user's cache: cache.c. */
#ifndef LARDSIM_CACHE_OF_PROGRAMS_H
#define LARDSIM_CACHE_OF_PROGRAMS_H

#include <time.h>

#include "base/base.h"

/* The folder of all; the caller's. NULL: the environment does not say where. */
char *cache_root(void);
/* Of what is kept under that name, which may not be there, but those above are; the caller's. NULL:
 * error. */
char *cache_path(const char *name, struct err *e);
/* It is the last one used, and no lardsim removes or replaces it until what is returned is closed,
 * which the end of the process does, too. Who makes or removes it is waited for. -1: it is not
 * there. Where a file system has no locks, nothing is removed, but what is made anew takes the
 * place of what was there. */
int cache_hold(const char *path, bool quiet);
/* If it is there and made of that: then it is held while this process runs. */
bool cache_made_of(const char *path, const char *provenance, bool quiet);

struct cache_fill {
    int (*fill)(void *arg, const char *dir, struct err *e); /* a folder that is new; 0 or -1 */
    void *arg;
    bool again; /* also where another has meanwhile made the same */
    bool quiet;
};
/* What is filled becomes the folder of that name, and is held; then cache_shrink. 0 or -1: also
 * where somebody uses what is there, or where that is not lardsim's. The provenance's first line
 * says which program, and the name is that or the program's and "-SIZE-THREADS". */
int cache_make(const char *name, const char *provenance, const struct cache_fill *f, struct err *e);
void cache_tidy(void); /* removes what somebody who was killed has left behind */
/* The least recently used go, as far as LARDSIM_CACHE_LIMIT demands and nobody uses them. 0 or -1.
 */
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
/* Somebody uses it: -1. */
int cache_forget(const struct cached *c, struct err *e);

#endif
