/* memo.c - what resolving has found out, kept in the folder: a sweep of ten thousand cells then
 * decides at once what is left of it. An entry's key is all that decides its cell, so that none is
 * ever out of date; without the file, or when it is not as its first line says, all is found out
 * again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/experiment/sweep.h"

enum { MEMO_MOST = 1 << 30, DIGEST_LINE = 17 };

/* The lines behind the first, which is their digest. NULL: it is not. */
static const char *checked(const char *text, size_t bytes)
{
    char first[DIGEST_LINE + 1];

    if (bytes < DIGEST_LINE)
        return NULL;
    snprintf(first, sizeof first, "%016" PRIx64 "\n",
             digest_bytes(text + DIGEST_LINE, bytes - DIGEST_LINE));
    return strncmp(first, text, DIGEST_LINE) ? NULL : text + DIGEST_LINE;
}

void memo_load(struct memo *m, const char *dir)
{
    char *path = xasprintf("%s/resolved", dir);
    size_t bytes;
    char *text = file_text(path, MEMO_MOST, &bytes);
    const char *at = text ? checked(text, bytes) : NULL;

    *m = (struct memo){0};
    while (at && *at) {
        char *end;
        struct memo_entry x = {.key = strtoull(at, &end, 16)};
        x.hash = strtoull(end, &end, 16);
        x.flags = (unsigned)strtoul(end, &end, 10);
        at = end + strspn(end, "\n");
        memo_add(m, &x);
    }
    m->changed = false;
    free(text);
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
    char *text = NULL;
    size_t bytes;

    if (!m->changed)
        return 0;
    FILE *out = xmemstream(&text, &bytes);
    fprintf(out, "%0*d\n", DIGEST_LINE - 1, 0);
    for (size_t i = 0; i < m->n; i++)
        fprintf(out, "%016" PRIx64 " %016" PRIx64 " %u\n", m->at[i].key, m->at[i].hash,
                m->at[i].flags);
    if (fclose(out))
        die("no memory for what was resolved");
    char *digest = xasprintf("%016" PRIx64, digest_bytes(text + DIGEST_LINE, bytes - DIGEST_LINE));
    memcpy(text, digest, DIGEST_LINE - 1);
    const int failed = sweep_write(f, "resolved", text, bytes, e);
    free(digest);
    free(text);
    return failed;
}

void memo_free(struct memo *m)
{
    map_free(&m->index);
    free(m->at);
}
