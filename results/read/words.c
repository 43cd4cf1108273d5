/* words.c - values of JSON, which its reader gives by name, become fields of a struct. */
#include "results/results.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* JSON's reader does not tell null from the text "null", which nobody writes. */
void words_take(const struct word_row *row, size_t n, void *to, const char *name, const char *text)
{
    for (size_t i = 0; i < n; i++) {
        void *field = (char *)to + row[i].offset;
        if (strcmp(row[i].name, name) != 0 || !strcmp(text, "null"))
            continue;
        if (row[i].kind == WORD_COUNT)
            *(uint64_t *)field = strtoull(text, NULL, 10);
        else if (row[i].kind == WORD_NUMBER)
            *(double *)field = strtod(text, NULL);
        else if (!*(char **)field)
            *(char **)field = xstrdup(text);
    }
}

void words_free(const struct word_row *row, size_t n, void *of)
{
    for (size_t i = 0; i < n; i++)
        if (row[i].kind == WORD_TEXT) {
            char **text = (void *)((char *)of + row[i].offset);
            free(*text);
            *text = NULL;
        }
}

void facts_add(void *facts, const char *name, const char *text)
{
    struct facts *f = facts;

    f->at = xgrow(f->at, f->n, &f->cap, sizeof *f->at);
    f->at[f->n++] = (struct fact){xstrdup(name), xstrdup(text)};
}

const char *facts_find(const struct facts *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (!strcmp(f->at[i].name, name))
            return f->at[i].text;
    return NULL;
}

void facts_free(struct facts *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->at[i].name);
        free(f->at[i].text);
    }
    free(f->at);
    *f = (struct facts){0};
}
