/* print.c - notes on standard error, and text with line breaks. */
#include "base/program/print.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

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

size_t print_columns(const char *text, size_t bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < bytes && text[i]; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

size_t print_fitting(const char *text, size_t columns)
{
    size_t line = strcspn(text, " \n");

    while (text[line] == ' ' && text[line + 1]) {
        const size_t next = line + 1 + strcspn(text + line + 1, " \n");
        if (print_columns(text, next) > columns)
            break;
        line = next;
    }
    return line;
}

void print_broken(FILE *out, const char *text, size_t column, size_t indent, size_t width)
{
    do {
        const size_t begins = column > indent ? column : indent,
                     n = print_fitting(text, width > begins ? width - begins : 0);
        fprintf(out, "%*s%.*s\n", (int)(begins - column), "", (int)n, text);
        column = 0;
        text += n;
    } while (*text && *++text);
}
