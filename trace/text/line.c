/* line.c - lines and words of the text form: bounded lines, comments, quotes, numbers. Knows
 * nothing of events. */
#include "trace/text/form.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

const struct flag_word text_flag_words[FLAG_WORDS] = {
    {.text = "system", .flag = EVF_SYSTEM},
    {.text = "stack", .flag = EVF_STACK},
    {.text = "volatile", .flag = EVF_VOLATILE},
    {.text = "array", .flag = EVF_ARRAY},
    {.text = "final", .flag = EVF_FINAL},
    {.text = "txn", .flag = EVF_IN_TXN},
    {"nursery", EVF_NURSERY, "only gc-begin and gc-end can be nursery", false},
    {.text = "private", .flag = EVF_PRIVATE},
    {.text = "proved", .flag = EVF_PROVED},
    {.text = "static", .flag = EVF_STATIC},
    {.text = "safe", .flag = EVF_SAFE},
    {"dependent", EVF_DEPENDENT, "only an access can be dependent", true},
};

bool text_producer_fits(const char *text)
{
    const size_t n = strnlen(text, PRODUCER_MAX + 1);

    for (size_t i = 0; i < n; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return n > 0 && n <= PRODUCER_MAX;
}

bool text_granularity_fits(uint64_t granularity)
{
    return granularity == 1 || granularity == 2 || granularity == 4 || granularity == 8;
}

const char *text_header(struct source *s, char **producer, const char *key, const char *value)
{
    const int layout = name_index(layout_names, value), gaps = name_index(gap_unit_names, value);
    uint64_t bytes;

    if (!strcmp(key, "producer")) {
        if (!text_producer_fits(value))
            return "a producer is 1 to 127 characters of printable ASCII";
        free(*producer);
        s->producer = *producer = xstrdup(value);
    } else if (!strcmp(key, "granularity")) {
        if (text_number_parse(value, &bytes) || !text_granularity_fits(bytes))
            return "a granularity is 1, 2, 4 or 8 bytes";
        s->granularity = (unsigned)bytes;
    } else if (!strcmp(key, "layout")) {
        if (layout < 0)
            return "there is no such layout; `lardsim list layouts` shows those that are";
        s->layout = (enum layout_id)layout;
    } else if (!strcmp(key, "gaps")) {
        if (gaps < 0)
            return "gaps are counted in instructions or bytecodes";
        s->gaps = (enum gap_unit)gaps;
    }
    return NULL;
}

struct lines *text_lines_new(struct input *in)
{
    struct lines *l = xcalloc(1, sizeof *l);

    l->in = in;
    l->at = l->buffer;
    return l;
}

void text_lines_free(struct lines *l)
{
    input_free(l->in);
    free(l);
}

int text_fail(struct lines *l, const char *fmt, ...)
{
    char text[600];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(&l->failed, LARD_TRACE, "%s:%" PRIu64 ": %s", l->in->name, l->number, text);
}

int text_name(struct lines *l, struct names *to, enum name_space space, uint64_t id,
              const char *text)
{
    struct err e;

    e.code = 0; /* all of it would take longer than the name */
    return names_add(to, space, id, text, &e) ? text_fail(l, "%s", e.text) : 0;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Moves what is left to the front and reads more behind it, one byte being kept for a NUL. */
static void fill(struct lines *l)
{
    const size_t left = l->end - l->start, room = sizeof l->buffer - 1 - left;

    assert(room > 0);
    memmove(l->buffer, l->buffer + l->start, left);
    size_t got = input_read(l->in, l->buffer + left, room);
    l->fills++;
    l->start = 0;
    l->end = left + got;
    l->eof = got < room;
}

/* The line is n bytes from start, and `skip` more end it. A line ends in a newline, with a carriage
 * return before it or not, or with the file. */
static int give(struct lines *l, size_t n, size_t skip)
{
    char *line = l->buffer + l->start;

    l->start += n + skip;
    if (n && line[n - 1] == '\r')
        n--;
    if (n > TEXT_LINE_MAX)
        return text_fail(l, "the line is longer than %d bytes; is this a text trace?",
                         TEXT_LINE_MAX);
    if (memchr(line, '\0', n))
        return text_fail(l, "the line has a NUL byte; is this a text trace?");
    line[n] = '\0';
    l->at = line;
    return 1;
}

int text_line_next(struct lines *l)
{
    if (l->failed.code)
        return -1;
    l->number++;
    const char *end = memchr(l->buffer + l->start, '\n', l->end - l->start);
    if (!end && !l->eof && l->end - l->start <= TEXT_LINE_MAX + 1) {
        fill(l);
        end = memchr(l->buffer, '\n', l->end);
    }
    if (end)
        return give(l, (size_t)(end - (l->buffer + l->start)), 1);
    if (l->eof && input_fault(l->in))
        return text_fail(l, "the file can't be read any further: %s", input_fault(l->in));
    if (l->end > l->start)
        return give(l, l->end - l->start, 0);
    l->number--;
    l->ended = true;
    return 0;
}

/* ---- words ---------------------------------------------------------------------------------- */

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool word_end(char c)
{
    return blank(c) || c == '\0' || c == '#';
}

/* "\u{202e}" at *from becomes the character at *to, which is never longer. */
static NO_INLINE int escaped(struct lines *l, char **from, char **to)
{
    char put[UTF8_MAX + 1];
    uint32_t c = 0, digits = 0;
    char *p = *from + 3;

    for (unsigned digit; digits <= 6 && (digit = hex_digit(*p)) < 16; p++, digits++)
        c = c << 4 | digit;
    if ((*from)[2] != '{' || !digits || digits > 6 || *p != '}' || c > 0x10ffff || !c ||
        (c >= 0xd800 && c < 0xe000))
        return text_fail(l, "\\u stands before the number of a character in braces, as in "
                            "\\u{202e}");
    utf8_put(put, c);
    *to = stpcpy(*to, put);
    *from = p + 1;
    return 0;
}

/* Unquotes in place: from just after the opening quote. */
static int quoted_word(struct lines *l, struct word *w, char *from)
{
    char *to = from;

    w->text = to;
    w->quoted = true;
    for (; *from != '"'; from++) {
        while (*from == '\\' && from[1] == 'u')
            if (escaped(l, &from, &to))
                return -1;
        if (*from == '"')
            break;
        if (*from == '\\' && from[1] != '"' && from[1] != '\\')
            return text_fail(l, "a backslash in quotes stands before a quote, a backslash or u "
                                "only");
        if (*from == '\\')
            from++;
        if (!*from)
            return text_fail(l, "a quote is opened and not closed");
        *to++ = *from;
    }
    if (!word_end(from[1]))
        return text_fail(l, "a blank is missing after the closing quote");
    *to = '\0';
    l->at = from + 1;
    return 1;
}

int text_word(struct lines *l, struct word *w)
{
    char *p = l->at;

    while (blank(*p))
        p++;
    l->at = p;
    if (word_end(*p))
        return 0;
    *w = (struct word){.at = *p == '@'};
    p += w->at;
    if (*p == '"')
        return quoted_word(l, w, p + 1);
    w->text = p;
    while (!word_end(*p) && *p != '"')
        p++;
    if (*p == '"')
        return text_fail(l, "a quote begins inside a word; put a blank before it");
    l->at = p;
    if (blank(*p))
        l->at++;
    *p = '\0';
    return 1;
}

/* ---- numbers, and what messages show -------------------------------------------------------- */

const char *text_number_parse(const char *text, uint64_t *value)
{
    const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const unsigned base = hex ? 16 : 10;
    const char *p = hex ? text + 2 : text;
    bool over = false;
    uint64_t v = 0;

    if (!*p)
        return "is not a number";
    for (; *p; p++) {
        const unsigned digit = hex_digit(*p);

        if (digit >= base)
            return "is not a number, decimal or hexadecimal after 0x";
        if (v > (UINT64_MAX - digit) / base)
            over = true;
        v = v * base + digit;
    }
    if (over)
        return "does not fit in 64 bits";
    *value = v;
    return NULL;
}

const char *text_shown(char to[SHOWN_MAX], const char *text)
{
    size_t n = 0;

    for (; text[n] && n < SHOWN_MAX - 4; n++)
        to[n] = text[n] < ' ' || text[n] > '~' ? '?' : text[n];
    memcpy(to + n, text[n] ? "..." : "", text[n] ? 4 : 1);
    return to;
}

/* ---- words of a sort ------------------------------------------------------------------------ */

int text_bare_word(struct lines *l, const char *what, const char *usage, struct word *w)
{
    char shown[SHOWN_MAX];
    const int got = text_word(l, w);

    if (got < 0)
        return -1;
    if (!got)
        return text_fail(l, "%s is missing; write %s", what, usage);
    if (w->at || w->quoted)
        return text_fail(l, "%s%s stands where %s should; write %s", w->at ? "@" : "",
                         text_shown(shown, w->text), what, usage);
    return 0;
}

int text_number_of(struct lines *l, const char *text, const char *what, uint64_t max, uint64_t *to)
{
    char shown[SHOWN_MAX];
    const char *fault = text_number_parse(text, to);

    if (fault)
        return text_fail(l, "%s: \"%s\" %s", what, text_shown(shown, text), fault);
    if (*to > max)
        return text_fail(l, "%s: %s is more than %" PRIu64, what, text_shown(shown, text), max);
    return 0;
}

int text_number(struct lines *l, const char *what, const char *usage, uint64_t max, uint64_t *to)
{
    struct word w;

    return text_bare_word(l, what, usage, &w) ? -1 : text_number_of(l, w.text, what, max, to);
}

int text_line_over(struct lines *l)
{
    char shown[SHOWN_MAX];
    struct word w;
    const int got = text_word(l, &w);

    if (got > 0)
        return text_fail(l, "\"%s\" is too much on this line", text_shown(shown, w.text));
    return got;
}

int text_twice(struct lines *l, const char *what)
{
    return text_fail(l, "%s is given twice; leave one out", what);
}

int text_unknown(struct lines *l, const char *text, const char *const *known, size_t n,
                 const char *is, const char *otherwise)
{
    const char *near = nearest_name(text, known, n);
    char shown[SHOWN_MAX];

    text_shown(shown, text);
    return near ? text_fail(l, "\"%s\" %s; did you mean %s?", shown, is, near)
                : text_fail(l, "\"%s\" %s", shown, otherwise);
}
