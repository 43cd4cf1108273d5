/* print.c - a table on a terminal: columns as wide as what is in them, two blanks between. */
#include <stdbool.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/mem.h"
#include "base/program/print.h"
#include "results/table/table.h"

enum { GAP = 2 }; /* between columns */
/* Below so many characters beside the other columns, the last column begins a line of its own. */
enum { LAST_LEAST = 40, LAST_INDENT = 4 };

enum line { LINE_ABOVE, LINE_TITLES, LINE_ROWS }; /* row i is LINE_ROWS + i */

static const char *cell_text(const struct table *t, size_t line, size_t k)
{
    const struct table_head *h = &t->head[k];

    if (line == LINE_ABOVE)
        return h->above ? h->above : "";
    if (line == LINE_TITLES)
        return h->title ? h->title : h->name;
    const char *text = table_at(t, line - LINE_ROWS, k)->text;
    return text ? text : "-";
}

static size_t *column_widths(const struct table *t)
{
    size_t *width = xcalloc(t->heads, sizeof *width);

    for (size_t k = 0; k < t->heads; k++) {
        for (size_t i = 0; i < LINE_ROWS + table_rows(t); i++) {
            const size_t n = print_columns(cell_text(t, i, k), SIZE_MAX);
            width[k] = n > width[k] ? n : width[k];
        }
        if (t->head[k].most && width[k] > t->head[k].most)
            width[k] = t->head[k].most;
        if (width[k] < t->head[k].least)
            width[k] = t->head[k].least;
        width[k] += k ? GAP : 0;
    }
    return width;
}

/* Prints the last column's text from column `at` on; the column begins at `begins`. */
static void print_last(const struct table *t, size_t at, size_t begins, const char *text, FILE *out)
{
    if (!t->wrap || begins + print_columns(text, SIZE_MAX) <= t->wrap) {
        fprintf(out, "%*s%s\n", (int)(begins - at), "", text);
    } else if (begins + LAST_LEAST <= t->wrap) {
        print_broken(out, text, at, begins, t->wrap);
    } else {
        fputc('\n', out);
        print_broken(out, text, 0, LAST_INDENT, t->wrap);
    }
}

/* Blanks are printed before a text, so that a line has none at its end. */
static void print_line(const struct table *t, size_t line, const size_t *width, FILE *out)
{
    size_t begins = 0, at = 0; /* the column; what is printed */

    for (size_t k = 0; k < t->heads; k++) {
        char *text = text_visible(cell_text(t, line, k));
        const size_t gap = k ? GAP : 0, n = print_columns(text, SIZE_MAX),
                     right = begins + width[k];
        const bool left = t->head[k].align == TABLE_LEFT;
        const size_t start = left || begins + gap + n > right ? begins + gap : right - n;
        if (n && k + 1 == t->heads && left) {
            print_last(t, at, start, text, out);
            free(text);
            return;
        }
        if (n) {
            fprintf(out, "%*s%s", (int)(start - at), "", text);
            at = start + n;
        }
        begins = at > right ? at : right;
        free(text);
    }
    fputc('\n', out);
}

static bool has_line(const struct table *t, enum line line)
{
    for (size_t k = 0; k < t->heads; k++)
        if (*cell_text(t, line, k))
            return true;
    return false;
}

void table_print(const struct table *t, FILE *out)
{
    size_t *width = column_widths(t);

    for (size_t i = 0; i < LINE_ROWS + table_rows(t); i++)
        if (i >= LINE_ROWS || has_line(t, (enum line)i))
            print_line(t, i, width, out);
    free(width);
}

void table_show(struct table *t, FILE *out, const char *fmt, ...)
{
    va_list ap;

    if (table_rows(t)) {
        va_start(ap, fmt);
        vfprintf(out, fmt, ap);
        va_end(ap);
        table_print(t, out);
    }
    table_free(t);
}
