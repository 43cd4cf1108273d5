/* json.c - a streaming JSON writer (RFC 8259): the same bytes for the same calls, in every locale.
 * It does not look for keys given twice. Write errors stay in the stream.
 *
 * Indented, each member of an object and each element of an array has a line, and what lies inside
 * an element stays on it, so that a list of objects is a table. */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/text.h"

void json_init(struct json *j, FILE *out, bool indent)
{
    *j = (struct json){.out = out, .indent = indent};
}

/* Whether the innermost container goes on one line. */
static bool json_inline(const struct json *j)
{
    for (unsigned d = 0; d + 1 < j->depth; d++)
        if (j->close[d] == ']')
            return true;
    return !j->indent;
}

static void json_line(struct json *j)
{
    fputc('\n', j->out);
    for (unsigned d = 0; d < j->depth; d++)
        fputs("  ", j->out);
}

/* Writes the comma after the member before a key or an element of an array, and the white space. */
static void json_separate(struct json *j)
{
    bool *first = &j->first[j->depth - 1];

    if (!*first)
        fputc(',', j->out);
    if (!json_inline(j))
        json_line(j);
    else if (!*first)
        fputc(' ', j->out);
    *first = false;
}

static void json_value(struct json *j)
{
    if (j->depth && j->close[j->depth - 1] == ']')
        json_separate(j);
    else
        assert(j->after_key == (j->depth > 0)); /* a member of an object needs its key */
    j->after_key = false;
}

static void json_begin(struct json *j, char open, char close)
{
    json_value(j);
    assert(j->depth < ARRAY_SIZE(j->close));
    fputc(open, j->out);
    j->close[j->depth] = close;
    j->first[j->depth] = true;
    j->depth++;
}

void json_object(struct json *j)
{
    json_begin(j, '{', '}');
}

void json_array(struct json *j)
{
    json_begin(j, '[', ']');
}

void json_end(struct json *j)
{
    assert(j->depth > 0 && !j->after_key);
    const bool line = !j->first[j->depth - 1] && !json_inline(j);

    j->depth--;
    if (line)
        json_line(j);
    fputc(j->close[j->depth], j->out);
    if (!j->depth && j->indent)
        fputc('\n', j->out);
}

static void write_char(FILE *out, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *escape = strchr(from, c);

    if (escape)
        fprintf(out, "\\%c", to[escape - from]);
    else if (char_hidden(c))
        fprintf(out, "\\u%04x", (unsigned)c);
    else
        fputc(c, out);
}

/* Writes \u escapes: a character of more than 16 bits as a surrogate pair. */
static void write_escaped(FILE *out, uint32_t c)
{
    if (c < 0x10000)
        fprintf(out, "\\u%04x", (unsigned)c);
    else
        fprintf(out, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (c >> 10)),
                (unsigned)(0xdc00 | (c & 0x3ff)));
}

static void write_string(FILE *out, const char *s)
{
    uint32_t c;

    fputc('"', out);
    for (size_t bytes; *s; s += bytes ? bytes : 1) {
        bytes = utf8_char(s, &c);
        if (bytes == 0)
            fputs("\xef\xbf\xbd", out);
        else if (bytes == 1)
            write_char(out, (unsigned char)*s);
        else if (char_hidden(c))
            write_escaped(out, c);
        else
            fwrite(s, 1, bytes, out);
    }
    fputc('"', out);
}

void json_key(struct json *j, const char *key)
{
    assert(key && j->depth > 0 && j->close[j->depth - 1] == '}' && !j->after_key);
    json_separate(j);
    write_string(j->out, key);
    fputs(": ", j->out);
    j->after_key = true;
}

void json_key_object(struct json *j, const char *key)
{
    json_key(j, key);
    json_object(j);
}

void json_key_array(struct json *j, const char *key)
{
    json_key(j, key);
    json_array(j);
}

void json_u64(struct json *j, uint64_t v)
{
    json_value(j);
    fprintf(j->out, "%" PRIu64, v);
}

void json_number(struct json *j, const char *text)
{
    json_value(j);
    fputs(text, j->out);
}

void json_str(struct json *j, const char *s)
{
    json_value(j);
    if (s)
        write_string(j->out, s);
    else
        fputs("null", j->out);
}

void json_bool(struct json *j, bool v)
{
    json_number(j, v ? "true" : "false");
}

void json_null(struct json *j)
{
    json_str(j, NULL);
}

void json_hex(struct json *j, uint64_t v)
{
    json_value(j);
    fprintf(j->out, "\"0x%" PRIx64 "\"", v);
}

__extension__ typedef unsigned __int128 wide; /* 2^64 with 6 decimals does not fit in 64 bits */

char *ratio_text(uint64_t num, uint64_t den)
{
    const uint64_t scale = 1000000;

    if (!den)
        return NULL;
    /* Half a millionth rounds up: floor(x + 1/2) = floor((2x + 1) / 2). */
    const wide millionths = ((wide)num * scale * 2 + den) / ((wide)den * 2);
    return xasprintf("%" PRIu64 ".%06" PRIu64, (uint64_t)(millionths / scale),
                     (uint64_t)(millionths % scale));
}

void json_fixed(struct json *j, uint64_t num, uint64_t den)
{
    char *text = ratio_text(num, den);

    json_number(j, text ? text : "null");
    free(text);
}

/* ---- members -------------------------------------------------------------------------------- */

void json_page(struct json *j, FILE *out, const char *schema)
{
    json_init(j, out, true);
    json_object(j);
    json_key_str(j, "schema", schema);
}

void json_texts(struct json *j, const struct json_text *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_key_str(j, t[i].key, t[i].text);
}

void json_counts(struct json *j, const struct json_count *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_key_u64(j, c[i].key, c[i].n);
}

void json_key_strs(struct json *j, const char *key, const char *const *s, size_t n)
{
    json_key_array(j, key);
    for (size_t i = 0; i < n; i++)
        json_str(j, s[i]);
    json_end(j);
}

void json_key_null(struct json *j, const char *key)
{
    json_key(j, key);
    json_null(j);
}

void json_key_fixed(struct json *j, const char *key, uint64_t num, uint64_t den)
{
    json_key(j, key);
    json_fixed(j, num, den);
}

void json_key_u64(struct json *j, const char *key, uint64_t v)
{
    json_key(j, key);
    json_u64(j, v);
}

void json_double(struct json *j, const char *fmt, double x)
{
    json_value(j);
    if (isfinite(x))
        fprintf(j->out, fmt, x);
    else
        fputs("null", j->out);
}

void json_key_double(struct json *j, const char *key, const char *fmt, double x)
{
    json_key(j, key);
    json_double(j, fmt, x);
}

void json_key_str(struct json *j, const char *key, const char *s)
{
    json_key(j, key);
    json_str(j, s);
}

void json_key_bool(struct json *j, const char *key, bool v)
{
    json_key(j, key);
    json_bool(j, v);
}

void json_key_hex16(struct json *j, const char *key, uint64_t v)
{
    char text[24];

    snprintf(text, sizeof text, "%016" PRIx64, v);
    json_key_str(j, key, text);
}
