/* rerun.c - the second run that finds instructions (6.1): the intervals of a first run's races,
 * read from its races.jsonl. Of accesses in these alone the sites are kept. */
#include "policy/cvm/cvm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"

enum { SIDES = 2 };

struct first_line { /* what one line says */
    uint64_t thread[SIDES], interval[SIDES];
    bool policy;
};

static void take_word(void *arg, const char *name, const char *text)
{
    struct first_line *l = arg;
    static const char *const thread[SIDES] = {"thread", "earlier.thread"},
                             *const interval[SIDES] = {"interval", "earlier.interval"};

    l->policy |= !strcmp(name, "policy");
    for (int i = 0; i < SIDES; i++)
        if (!strcmp(name, thread[i]))
            l->thread[i] = strtoull(text, NULL, 10);
        else if (!strcmp(name, interval[i]))
            l->interval[i] = strtoull(text, NULL, 10);
}

struct first_run {
    struct map *to;
    const char *path;
    unsigned number;
    struct err *e;
};

static bool read_line(void *first_run, char *text, size_t bytes)
{
    struct first_run *f = first_run;
    struct first_line l = {.policy = false};

    f->number++;
    if (json_read(text, bytes, take_word, &l) || !l.policy)
        return err_set(f->e, LARD_CONFIG,
                       "%s:%u: no race; name the races.jsonl of a run of the same trace", f->path,
                       f->number);
    for (int i = 0; i < SIDES; i++)
        if (l.interval[i]) /* other policies' lines have none */
            *map_put(f->to, cvm_interval_key((sim_tid)l.thread[i], l.interval[i])) = 1;
    return false;
}

/* Reads the first run's race lines. If a DONE stands beside the file, the file must match it. */
int cvm_first_run(struct map *to, const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    char *dir = !slash          ? xstrdup(".")
                : slash == path ? xstrdup("/")
                                : xasprintf("%.*s", (int)(slash - path), path);
    struct first_run f = {.to = to, .path = path, .e = e};

    if (access(path, R_OK))
        err_set(e, LARD_CONFIG, "policy cvm: first-run: %s: %s; name a file that can be read", path,
                strerror(errno));
    struct seal *s = e->code ? NULL : seal_open(dir, e);
    if (s)
        seal_lines(s, slash ? slash + 1 : path, read_line, &f, e);
    seal_close(s);
    free(dir);
    return e->code ? -1 : 0;
}
