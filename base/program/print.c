/* print.c - notes on standard error, and text with line breaks. */
#include "base/program/print.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void print_visible(FILE *out, const char *text)
{
    char *visible = text_visible(text);

    fputs(visible, out);
    free(visible);
}

void print_note(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    char *text = xvasprintf(fmt, ap);
    va_end(ap);
    char *visible = text_visible(text);
    fprintf(stderr, "lardsim: %s\n", visible);
    free(visible);
    free(text);
}

void print_seen(void *unused, const char *line)
{
    (void)unused;
    fprintf(stderr, "%s\n", line);
}

void print_broken(FILE *out, const char *text, size_t column, size_t indent, size_t width)
{
    bool first = true; /* no word stands on this line yet */

    while (*text) {
        const size_t word = strcspn(text, " \n");
        /* A word that is longer than the line is printed as it is: names and paths must stay whole.
         */
        if (!first && column + 1 + word > width) {
            fputc('\n', out);
            column = 0;
            first = true;
        }
        const size_t gap = first ? (column < indent ? indent - column : 0) : 1;
        fprintf(out, "%*s%.*s", (int)gap, "", (int)word, text);
        column += gap + word;
        first = false;
        text += word;
        if (*text == '\n') {
            fputc('\n', out);
            column = 0;
            first = true;
        }
        if (*text)
            text++;
    }
    fputc('\n', out);
}
