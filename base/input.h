/* input.h - what was written is read again: files, JSON, CSV. Readers of JSON and CSV take a text
 * that is in memory, so that the end of a text is its end, and never a read that failed. */
#ifndef LARDSIM_INPUT_H
#define LARDSIM_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- files: input.c ------------------------------------------------------------------------- */

/* The whole file, or its first `most` bytes, and a zero byte behind them: owned by the caller.
 * NULL: errno tells, be it of the last read. */
char *file_text(const char *path, size_t most, size_t *bytes);
/* Bytes read, fewer at the end alone; -1: errno tells. */
int64_t file_bytes(int fd, void *to, size_t most);

/* ---- JSON: json_read.c ---------------------------------------------------------------------- */

/* name: the keys above the value, joined by dots; what is in an array has its name. text: without
 * quotes and escapes. */
typedef void json_fn(void *arg, const char *name, const char *text);
int json_read(const char *text, size_t bytes, json_fn *fn, void *arg); /* -1: it is no JSON */

/* ---- CSV: csv.c ----------------------------------------------------------------------------- */

struct csv_row { /* begins as all zero */
    char *text;  /* owns */
    size_t bytes, room;
    size_t *at; /* owns; where fields begin in text */
    size_t n, cap;
};
struct csv_text { /* what is left to be read */
    const char *at, *end;
};
bool csv_read(struct csv_row *r, struct csv_text *in); /* the next row; false: the end */
static inline const char *csv_at(const struct csv_row *r, size_t i) /* "": there is none */
{
    return i < r->n ? r->text + r->at[i] : "";
}
void csv_free(struct csv_row *r);

#endif
