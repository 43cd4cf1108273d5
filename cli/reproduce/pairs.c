/* pairs.c - which pairs of sites raced in a cell, by name, as its races.jsonl has them: so that a
 * pair that several trials find is counted once. A line names one access that it conflicts with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/reproduce/table.h"

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

static void add_line(struct table_pairs *p, char *line)
{
    char *earlier = strstr(line, "\"earlier\": {");

    if (!earlier)
        return;
    *earlier = '\0';
    const char *b = site_in(earlier + 1), *a = site_in(line);
    if (!a || !b)
        return;
    const bool in_order = strcmp(a, b) <= 0;
    char *pair = xasprintf("%s and %s", in_order ? a : b, in_order ? b : a);
    pairs_add(p, pair);
    free(pair);
}

int pairs_read(struct table_pairs *p, const struct sweep *s, const char *hash, struct err *e)
{
    char *dir = sweep_path(s->folder, "cells", hash), *path = xasprintf("%s/races.jsonl", dir);
    FILE *in = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;

    *p = (struct table_pairs){.known = in != NULL};
    while (in && getline(&line, &room, in) > 0)
        add_line(p, line);
    const int failed =
        in && ferror(in) ? err_set(e, LARD_OUTPUT, "%s: can't be read; remove the cell", path) : 0;
    if (in)
        fclose(in);
    free(line);
    free(path);
    free(dir);
    return failed;
}

void pairs_free(struct table_pairs *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->name[i]);
    free(p->name);
}
