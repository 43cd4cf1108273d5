/* rerun.c - the second run that finds instructions (6.1): the intervals of a first run's races,
 * read from its races.jsonl. Of accesses in these alone the sites are kept. */
#include "policy/cvm/cvm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 1 << 16, SIDES = 2 };

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

static int read_line(struct map *to, char *text, const char *path, unsigned number, struct err *e)
{
    struct first_line l = {.policy = false};
    FILE *in = fmemopen(text, strlen(text), "r");
    const int bad = !in || json_read(in, take_word, &l) || !l.policy;

    if (in)
        fclose(in);
    if (bad)
        return err_set(e, LARD_CONFIG,
                       "%s:%u: no race; name the races.jsonl of a run of the same trace", path,
                       number);
    for (int i = 0; i < SIDES; i++)
        if (l.interval[i]) /* other policies' lines have none */
            *map_put(to, cvm_interval_key((sim_tid)l.thread[i], l.interval[i])) = 1;
    return 0;
}

int cvm_first_run(struct map *to, const char *path, struct err *e)
{
    FILE *in = fopen(path, "re");
    unsigned number = 0;
    int bad = 0;

    if (!in)
        return err_set(e, LARD_CONFIG,
                       "policy cvm: first-run: %s: %s; name a file that can be read", path,
                       strerror(errno));
    char *text = xmalloc(LINE_MOST);
    while (!bad && fgets(text, LINE_MOST, in)) {
        number++;
        if (!strchr(text, '\n') && !feof(in))
            bad = err_set(e, LARD_CONFIG,
                          "%s:%u: the line is too long for a race, or has a zero byte; name the "
                          "races.jsonl of a run of the same trace",
                          path, number);
        else
            bad = read_line(to, text, path, number, e);
    }
    if (!bad && ferror(in))
        bad = err_set(e, LARD_CONFIG, "%s: can't be read: %s", path, strerror(errno));
    free(text);
    fclose(in);
    return bad;
}
