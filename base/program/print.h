/* print.h - how a program prints: notes on standard error, and text that a user or a file has
 * named, of which a terminal obeys nothing. For the program alone: the library prints nothing. */
#ifndef LARDSIM_PRINT_H
#define LARDSIM_PRINT_H

#include <stdio.h>

#include "base/base.h"

/* A line on standard error, "lardsim: " before it. */
void print_note(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* A line on standard error as it is, for who is told lines. unused: NULL. */
void print_seen(void *unused, const char *line);
/* Prints text made visible by text_visible. */
void print_visible(FILE *out, const char *text);
/* Characters of UTF-8 in so many bytes of text, or up to its end. */
size_t print_columns(const char *text, size_t bytes);
/* Bytes of text that fit into a line of so many characters: whole words of its first paragraph, and
 * always one, as names and paths must stay whole. */
size_t print_fitting(const char *text, size_t columns);
/* text broken between words, each paragraph (a line) anew, from column on; further lines are
 * indented. width: the most columns of a line. */
void print_broken(FILE *out, const char *text, size_t column, size_t indent, size_t width);

#endif
