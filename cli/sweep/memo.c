/* memo.c - what resolving has found out, kept in the folder: a sweep of ten thousand cells then
 * decides at once what is left of it. An entry's key is all that decides its cell, so that none is
 * ever out of date; without the file all is found out again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sweep/sweep.h"

void memo_load(struct memo *m, const char *dir)
{
    char *path = xasprintf("%s/resolved", dir);
    FILE *in = fopen(path, "re");
    struct memo_entry x;

    map_init(&m->index, NULL);
    m->at = NULL;
    m->n = m->cap = 0;
    m->changed = false;
    while (in && fscanf(in, "%16" SCNx64 " %16" SCNx64 " %1u\n", &x.key, &x.hash, &x.flags) == 3)
        memo_add(m, &x);
    m->changed = false;
    if (in)
        fclose(in);
    free(path);
}

const struct memo_entry *memo_find(const struct memo *m, uint64_t key)
{
    const uint64_t *at = map_find(&m->index, key);

    return at ? &m->at[*at - 1] : NULL;
}

void memo_add(struct memo *m, const struct memo_entry *x)
{
    uint64_t *at = map_put(&m->index, x->key);

    if (*at)
        return;
    m->at = xgrow(m->at, m->n, &m->cap, sizeof *m->at);
    m->at[m->n++] = *x;
    *at = m->n;
    m->changed = true;
}

int memo_save(const struct memo *m, const struct sweep_folder *f, struct err *e)
{
    char *path = sweep_path(f, "resolved", NULL);
    struct outfile *out = m->changed ? outfile_open(path, true, e) : NULL;

    free(path);
    if (!out)
        return e->code ? -1 : 0;
    for (size_t i = 0; i < m->n; i++)
        fprintf(outfile_stream(out), "%016" PRIx64 " %016" PRIx64 " %u\n", m->at[i].key,
                m->at[i].hash, m->at[i].flags);
    return outfile_commit(out, e);
}

void memo_free(struct memo *m)
{
    map_free(&m->index);
    free(m->at);
}
