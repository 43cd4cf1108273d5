/* pairs.c - which pairs of sites raced in a cell, by name, as its races.jsonl has them: so that a
 * pair that several trials find is counted once. A line names one access that it conflicts with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/papers/table.h"

/* The value of "site" from there on, as it is written; NULL: none, or null. Ends it. */
static char *site_in(char *from)
{
    static const char key[] = "\"site\": \"";
    char *at = strstr(from, key);

    if (!at)
        return NULL;
    at += sizeof key - 1;
    for (char *end = at; *end; end++) {
        if (*end == '"') {
            *end = '\0';
            return at;
        }
        end += *end == '\\' && end[1];
    }
    return NULL;
}

void pairs_add(struct table_pairs *p, const char *pair)
{
    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->name[i], pair))
            return;
    p->name = xgrow(p->name, p->n, &p->cap, sizeof *p->name);
    p->name[p->n++] = xstrdup(pair);
}

static bool add_line(void *pairs, char *line, size_t bytes)
{
    char *earlier = strstr(line, "\"earlier\": {");

    (void)bytes;
    if (!earlier)
        return false;
    *earlier = '\0';
    const char *b = site_in(earlier + 1), *a = site_in(line);
    if (!a || !b)
        return false;
    const bool in_order = strcmp(a, b) <= 0;
    char *pair = xasprintf("%s and %s", in_order ? a : b, in_order ? b : a);
    pairs_add(pairs, pair);
    free(pair);
    return false;
}

int pairs_read(struct table_pairs *p, const struct sweep *s, const char *hash, struct err *e)
{
    struct seal *seal = cell_open(s->folder->dir, hash, e);

    *p = (struct table_pairs){.known = seal && seal_names(seal, "races.jsonl")};
    if (p->known)
        seal_lines(seal, "races.jsonl", add_line, p, e);
    seal_close(seal);
    return e->code ? -1 : 0;
}

void pairs_free(struct table_pairs *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->name[i]);
    free(p->name);
}
