/* json.h - JSON, written as it comes, the same bytes for the same calls. Read: input.h. */
#ifndef LARDSIM_JSON_H
#define LARDSIM_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"

struct json {  /* open so that it can live on the stack; fields are the writer's own */
    FILE *out; /* borrows */
    unsigned depth;
    bool indent;    /* false: everything on one line, no newline at the end */
    bool after_key; /* a key waits for its value */
    bool first[64]; /* by depth: nothing written at this level yet */
    char close[64]; /* by depth: '}' or ']' */
};
void json_init(struct json *j, FILE *out, bool indent);
/* Begins a page, which is an object that names its schema first. */
void json_page(struct json *j, FILE *out, const char *schema);
void json_object(struct json *j); /* begins */
void json_array(struct json *j);
void json_end(struct json *j); /* ends the innermost; the outermost adds a newline when indented */
void json_key(struct json *j, const char *key);
void json_u64(struct json *j, uint64_t v);
/* Writes null for NULL. Bytes that are not UTF-8 become U+FFFD. */
void json_str(struct json *j, const char *s);
void json_number(struct json *j, const char *text); /* digits, and what else a number has */
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
void json_hex(struct json *j, uint64_t v); /* "0x1f": for addresses, which exceed 2^53 */
void json_double(struct json *j, const char *fmt, double x) PRINTF_LIKE(2, 0); /* as below */
/* A key, and the object or array that begins behind it. */
void json_key_object(struct json *j, const char *key);
void json_key_array(struct json *j, const char *key);
/* A key and its value. */
void json_key_u64(struct json *j, const char *key, uint64_t v);
/* A key and its number in a printf format for one double; null if x is NAN or not finite. */
void json_key_double(struct json *j, const char *key, const char *fmt, double x) PRINTF_LIKE(3, 0);
void json_key_str(struct json *j, const char *key, const char *s);
void json_key_bool(struct json *j, const char *key, bool v);
void json_key_null(struct json *j, const char *key);
void json_key_hex16(struct json *j, const char *key, uint64_t v); /* "00000000000000ff": digests */
/* Keys and their values, one after the other. */
struct json_text {
    const char *key, *text;
};
struct json_count {
    const char *key;
    uint64_t n;
};
void json_texts(struct json *j, const struct json_text *t, size_t n);
void json_counts(struct json *j, const struct json_count *c, size_t n);
void json_key_strs(struct json *j, const char *key, const char *const *s, size_t n); /* an array */
#define JSON_TEXTS(j, ...)                                                                         \
    json_texts(j, (const struct json_text[]){__VA_ARGS__},                                         \
               sizeof((const struct json_text[]){__VA_ARGS__}) / sizeof(struct json_text))
#define JSON_COUNTS(j, ...)                                                                        \
    json_counts(j, (const struct json_count[]){__VA_ARGS__},                                       \
                sizeof((const struct json_count[]){__VA_ARGS__}) / sizeof(struct json_count))
/* num/den with 6 decimals, by integers; den 0: null. */
void json_fixed(struct json *j, uint64_t num, uint64_t den);
char *ratio_text(uint64_t num, uint64_t den); /* the same as a text, the caller's; den 0: NULL */
void json_key_fixed(struct json *j, const char *key, uint64_t num, uint64_t den);

#endif
