/* place.h - for tests: a folder of the test's own, and a file in it. */
#ifndef LARDSIM_TESTS_PLACE_H
#define LARDSIM_TESTS_PLACE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

struct place {
    char *dir, *file; /* own */
};

static inline int place_make(void **state)
{
    const char *base = getenv("TMPDIR");
    struct place *p = xcalloc(1, sizeof *p);

    p->dir = xasprintf("%s/lardsim-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(p->dir))
        return -1;
    p->file = xasprintf("%s/trace", p->dir);
    *state = p;
    return 0;
}

static inline int place_remove(void **state)
{
    struct place *p = *state;

    unlink(p->file);
    rmdir(p->dir);
    free(p->file);
    free(p->dir);
    free(p);
    return 0;
}

static inline void place_put(const struct place *p, const void *bytes, size_t n)
{
    FILE *f = fopen(p->file, "wb");

    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f))
        die("%s: can't be written", p->file);
}

#endif
