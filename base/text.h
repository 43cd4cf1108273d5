/* text.h - characters that must not reach a terminal, names that were meant, numbers as the
 * configuration has them. */
#ifndef LARDSIM_TEXT_H
#define LARDSIM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The UTF-8 character that begins at text: how many bytes it has, and its number; 0: there is none
 * (bytes that are cut off, overlong, surrogates). At the end, 1 and the number 0. */
enum { UTF8_MAX = 4 };
size_t utf8_char(const char *text, uint32_t *c);
void utf8_put(char to[UTF8_MAX + 1], uint32_t c); /* c is a character */
/* Tells if a character can't be seen, or changes how others are shown: controls, bidi controls,
 * zero widths, ends of lines and paragraphs, variation selectors, tags. Such characters of a name
 * must not reach a terminal. */
bool char_hidden(uint32_t c);
/* For people: \u{202e} in place of what is hidden, \xff of a byte that is no UTF-8. The caller's.
 * What is to be read back (traces, JSON) has its own ways to write the same characters. */
char *text_visible(const char *text);

/* The place of a name in a list that ends in NULL; -1: it is not there. */
int name_index(const char *const *names, const char *name);
/* The nearest of n names within a third of its length in edits, or NULL ("did you mean"). */
const char *nearest_name(const char *name, const char *const *names, size_t n);
/* "; did you mean X? " for the nearest of names, or "; ": owned by the caller. */
char *did_you_mean(const char *name, const char *const *names, size_t n);
/* A digit's value; 16: it is none, not even a hexadecimal one. */
unsigned hex_digit(char c);
/* A number as the configuration has them: 42, 0x2a, 64Ki, 1M, and behind it the unit or nothing.
 * NULL, or what is wrong with it: "is negative", ... */
const char *number_parse(const char *text, const char *unit, uint64_t *number);
/* One without a unit: true. */
bool number_of_text(const char *text, uint64_t *to);

#endif
