/* executed.c - the numbers that the events of an execution have in the recording that it replayed:
 * in timed order the two orders differ, and everybody names events by the recording. */
#include "sim/why/why_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

struct lardsim_executed {
    uint64_t *at; /* maps the file; by position */
    size_t n;
};

static int map_file(struct lardsim_executed *x, int file)
{
    struct stat is;

    if (fstat(file, &is))
        return -1;
    x->n = (size_t)is.st_size / sizeof *x->at;
    if (!x->n)
        return 0;
    void *at = mmap(NULL, x->n * sizeof *x->at, PROT_READ, MAP_PRIVATE, file, 0);
    if (at == MAP_FAILED)
        return -1;
    x->at = at;
    return 0;
}

struct lardsim_executed *lardsim_executed_open(const char *path, struct err *e)
{
    struct lardsim_executed *x = xcalloc(1, sizeof *x);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const int bad = file < 0 || map_file(x, file);

    if (bad)
        err_set(e, LARD_OUTPUT, "%s: %s; it has the order in which the events ran", path,
                strerror(errno));
    if (file >= 0)
        (void)close(file);
    if (!bad)
        return x;
    free(x);
    return NULL;
}

void lardsim_executed_close(struct lardsim_executed *x)
{
    if (x && x->at)
        (void)munmap(x->at, x->n * sizeof *x->at);
    free(x);
}

uint64_t lardsim_executed_events(const struct lardsim_executed *x)
{
    return x->n;
}

uint64_t lardsim_executed_event(const struct lardsim_executed *x, uint64_t position)
{
    return x && position < x->n ? x->at[position] : position;
}

bool executed_find(const struct lardsim_executed *x, uint64_t event, uint64_t *position)
{
    if (!x) {
        *position = event;
        return true;
    }
    for (size_t i = 0; i < x->n; i++)
        if (x->at[i] == event) {
            *position = i;
            return true;
        }
    return false;
}
