/* mutate.h - what the parts of tests/mutants/mutate.c share: texts, and the edits that were read.
 */
#ifndef LARDSIM_MUTATE_H
#define LARDSIM_MUTATE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"

struct text { /* a file */
    char *bytes;
    size_t n;
    char **line; /* NULL: it is not cut into lines */
    size_t lines, cap;
};

struct mutant {
    const char *name, *what; /* the rule, in a sentence */
    const char *test, *sign; /* who notices, and how */
    const char *in;          /* the file with the edits, and its line */
    size_t at;
    bool used;
};

struct edit {
    const char *in, *file;
    size_t at;
    char **line; /* ' ', '-' or '+', and the line; an empty one stays */
    size_t lines;
    size_t place, removed; /* in the file: its first line, and how many */
};

struct mutate {
    const char *source, *dir; /* dir: NULL: nothing is written */
    const char *room;         /* changes are drawn here; NULL: everywhere */
    struct text *text;        /* those of the edits, whose lines they are */
    size_t texts, text_cap;
    struct mutant *mutant;
    size_t mutants, mutant_cap;
    struct edit *edit;
    size_t edits, edit_cap;
    unsigned wrong; /* what was said to be */
};
extern struct mutate all;

void wrong(const char *in, size_t at, const char *fmt, ...) PRINTF_LIKE(3, 4);
void mutant_add(struct mutant m);
struct text text_read(const char *file); /* of the source */
FILE *create(const char *file);          /* in the copy; begins with what a change needs */
void finish(FILE *out);

/* mutate_random.c: draws n small changes in each room, and prints them. The edits are those that nobody can
 * notice, and are not drawn. */
void draw_mutants(size_t n, uint64_t seed);

#endif
