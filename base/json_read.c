/* json_read.c - reads JSON (RFC 8259): each text, number, true, false and null is told with the
 * keys above it. Memory is bounded by the longest text, and that by TEXT_MOST. */
#include "base/input.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { DEPTH_MOST = 64, TEXT_MOST = 1 << 20 };

struct json_token {
    char *at; /* owns */
    size_t n, cap;
};
struct json_reading {
    const char *at, *end; /* what is left to be read */
    json_fn *fn;
    void *arg;
    struct json_token name, value; /* keys, joined by dots */
    unsigned depth;
};

static void token_put(struct json_token *t, int c)
{
    t->at = xgrow(t->at, t->n + 1, &t->cap, 1);
    t->at[t->n++] = (char)c;
    t->at[t->n] = '\0';
}

static void token_cut(struct json_token *t, size_t n)
{
    t->at = xgrow(t->at, n, &t->cap, 1);
    t->n = n;
    t->at[n] = '\0';
}

enum { JSON_END = -1 };

static int json_take(struct json_reading *r)
{
    return r->at < r->end ? (unsigned char)*r->at++ : JSON_END;
}

/* The next that is no white space. */
static int next(struct json_reading *r)
{
    int c;

    do
        c = json_take(r);
    while (c == ' ' || c == '\n' || c == '\t' || c == '\r');
    return c;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static int digits(struct json_reading *r, uint32_t *to)
{
    *to = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned digit = hex_digit((char)json_take(r)); /* the end is none */
        if (digit > 15)
            return -1;
        *to = *to << 4 | digit;
    }
    return 0;
}

/* Reads the digits behind "\u". Zero would end the text, and half a pair is no character. */
static int escaped_unit(struct json_reading *r, struct json_token *to)
{
    char utf8[UTF8_MAX + 1];
    uint32_t c, low;

    if (digits(r, &c))
        return -1;
    if (c >= 0xd800 && c < 0xdc00) {
        if (json_take(r) != '\\' || json_take(r) != 'u' || digits(r, &low) || low < 0xdc00 ||
            low > 0xdfff)
            return -1;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    if (!c || (c >= 0xdc00 && c <= 0xdfff))
        return -1;
    utf8_put(utf8, c);
    for (const char *at = utf8; *at; at++)
        token_put(to, *at);
    return 0;
}

static int escaped(struct json_reading *r, struct json_token *to)
{
    static const char from[] = "\"\\/bfnrt", is[] = "\"\\/\b\f\n\r\t";
    const int c = json_take(r);
    const char *at = c > 0 ? strchr(from, c) : NULL;

    if (c == 'u')
        return escaped_unit(r, to);
    if (!at)
        return -1;
    token_put(to, is[at - from]);
    return 0;
}

/* The rest of a text, after its first quote, goes to the end of `to`. */
static int read_text(struct json_reading *r, struct json_token *to)
{
    for (int c; (c = json_take(r)) != '"';) {
        if (c < ' ' || to->n > TEXT_MOST || (c == '\\' && escaped(r, to)))
            return -1;
        if (c != '\\')
            token_put(to, c);
    }
    return 0;
}

/* ---- values --------------------------------------------------------------------------------- */

static int read_value(struct json_reading *r, int c);

static int tell(struct json_reading *r)
{
    r->fn(r->arg, r->name.at, r->value.at);
    return 0;
}

static int read_word(struct json_reading *r, int c)
{
    static const char *const words[] = {"true", "false", "null", NULL};

    for (; c > ' ' && !strchr(",]}", c); c = json_take(r)) {
        if (r->value.n > TEXT_MOST)
            return -1;
        token_put(&r->value, c);
    }
    if (c != JSON_END)
        r->at--;
    const size_t number = strspn(r->value.at, "+-.0123456789eE");
    if (name_index(words, r->value.at) < 0 && (!number || number != r->value.n))
        return -1;
    return tell(r);
}

static int read_member(struct json_reading *r, int c)
{
    const size_t above = r->name.n;

    if (c != '"')
        return -1;
    if (above)
        token_put(&r->name, '.');
    const int bad = read_text(r, &r->name) || next(r) != ':' || read_value(r, next(r));
    token_cut(&r->name, above);
    return bad ? -1 : 0;
}

/* Members of an object or elements of an array, which have its name. */
static int read_inside(struct json_reading *r, char close,
                       int (*read)(struct json_reading *r, int c))
{
    int c = next(r);

    if (c == close)
        return 0;
    for (;; c = next(r)) {
        if (read(r, c))
            return -1;
        c = next(r);
        if (c != ',')
            return c == close ? 0 : -1;
    }
}

static int read_value(struct json_reading *r, int c)
{
    token_cut(&r->value, 0);
    if (c == '"')
        return read_text(r, &r->value) ? -1 : tell(r);
    if (c != '{' && c != '[')
        return read_word(r, c);
    if (r->depth == DEPTH_MOST)
        return -1;
    r->depth++;
    int bad = c == '{' ? read_inside(r, '}', read_member) : read_inside(r, ']', read_value);
    r->depth--;
    return bad;
}

int json_read(const char *text, size_t bytes, json_fn *fn, void *arg)
{
    struct json_reading r = {.at = text, .end = text + bytes, .fn = fn, .arg = arg};

    token_cut(&r.name, 0);
    const int bad = read_value(&r, next(&r)) || next(&r) != JSON_END ? -1 : 0;
    free(r.name.at);
    free(r.value.at);
    return bad;
}
