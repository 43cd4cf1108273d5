/* table.h - whatever is shown in rows and columns: it is filled in once, row by row, and written
 * for a terminal, as CSV, as lines of JSON, or into SQLite. Each writer shows the same values.
 *
 * A table begins as {0}. Its heads come first, then a value for each head, row after row. */
#ifndef LARDSIM_TABLE_H
#define LARDSIM_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"

enum table_align { TABLE_RIGHT, TABLE_LEFT };
struct table_head {
    const char *name;  /* for programs: the field of CSV and JSON, the column of SQLite */
    const char *title; /* for people: over the column of a terminal; NULL: the name; "": nothing */
    const char *above; /* over titles: ends where the title does; NULL: nothing */
    enum table_align align;
    /* Characters of a column: it is as wide as its longest text, and at least so wide. most: what
     * is longer sticks out, and moves the rest of its row; 0: nothing does. */
    size_t least, most;
    bool text; /* no value is a number, though it may look like one, as a digest does */
};
struct table_value {
    char *text;  /* owns; NULL: there is none, which a terminal shows as "-" */
    bool number; /* JSON and SQLite have it as such */
};
struct table {
    struct table_head *head; /* owns, and names; other texts are borrowed */
    size_t heads, heads_cap;
    struct table_value *at; /* owns; `heads` of them a row */
    size_t n, cap;
    size_t wrap; /* columns of the terminal, in which the last column is broken; 0: it is not */
};
void table_free(struct table *t);
void table_head(struct table *t, struct table_head head); /* copies its name */
void table_heads(struct table *t, const struct table_head *head, size_t n);
size_t table_rows(const struct table *t);
const struct table_value *table_at(const struct table *t, size_t row, size_t column);

/* ---- the next value of a row ---------------------------------------------------------------- */

void table_take(struct table *t, char *text, bool number); /* takes text; NULL: no value */
void table_text(struct table *t, const char *text);
void table_number(struct table *t, const char *digits); /* "": no value */
void table_u64(struct table *t, uint64_t value);
void table_known(struct table *t, bool known, uint64_t value);  /* not known: no value */
void table_percent(struct table *t, double part, double whole); /* "12.3 %" by table_percent_text */
/* Rounded to tenths; NULL: there is no whole, or no part. The caller's. */
char *table_percent_text(double part, double whole);

/* ---- writers -------------------------------------------------------------------------------- */

/* For a terminal: titles if there is one, then the rows. Nothing is hidden in them. */
void table_print(const struct table *t, FILE *out);
/* The rows, if there is one, below lines that say what they are. Frees t. */
void table_show(struct table *t, FILE *out, const char *fmt, ...) PRINTF_LIKE(3, 4);
void table_csv(const struct table *t, FILE *out); /* heads and rows */
void table_markdown(const struct table *t, FILE *out);
/* An object a row, on a line; a value that is not there, or is empty, is left out. */
void table_json_lines(const struct table *t, FILE *out);

#endif
