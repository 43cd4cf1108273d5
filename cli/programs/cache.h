/* cache.h - what is kept of programs and captures, in folders of the user's cache: cache.c. */
#ifndef LARDSIM_CACHE_OF_PROGRAMS_H
#define LARDSIM_CACHE_OF_PROGRAMS_H

#include <time.h>

#include "base/base.h"

char *cache_root(void); /* the folder of all; the caller's */
/* Of what is kept under that name, which may not be there, but those above are; the caller's. NULL:
 * error. */
char *cache_path(const char *name, struct err *e);
/* Nobody removes the folder while this process runs, and it is the last one used. False: it is not
 * there. */
bool cache_hold(const char *path);

/* Fills a folder that is new; 0 or -1. */
typedef int cache_fill_fn(void *arg, const char *dir, struct err *e);
/* What is filled becomes the folder of that name, and is held; then the least recently used go, as
 * far as the limit demands and nobody uses them. 0 or -1. */
int cache_make(const char *name, cache_fill_fn *fill, void *arg, bool quiet, struct err *e);
void cache_tidy(void); /* removes what somebody who was killed has left behind */
/* LARDSIM_CACHE_LIMIT, or 4 GiB; 0: none. */
int cache_limit(uint64_t *to, struct err *e);

struct cached {
    char *name; /* owns */
    uint64_t bytes;
    struct timespec used;
};
struct cache_list {    /* the least recently used first */
    struct cached *at; /* owns */
    size_t n;
    uint64_t bytes;
};
void cache_read(struct cache_list *l);
void cache_list_free(struct cache_list *l);
int cache_forget(const struct cached *c, struct err *e);

#endif
