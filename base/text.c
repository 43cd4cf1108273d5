/* text.c - characters that are not to reach a terminal as they are; and which name was meant: the
 * nearest by edit distance. For that letters are ASCII, whatever the locale; it is for names of
 * parameters, policies and verbs, not for prose. */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"

/* ---- characters ----------------------------------------------------------------------------- */

/* Well-formed UTF-8 (Unicode, table 3-7). */
size_t utf8_char(const char *text, uint32_t *c)
{
    static const struct {
        unsigned char first, last, low, high; /* of the first byte; of the second */
        unsigned char bytes, mask;            /* mask: what the first has of the number */
    } rows[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2, 0x1f}, {0xe0, 0xe0, 0xa0, 0xbf, 3, 0x0f},
        {0xe1, 0xec, 0x80, 0xbf, 3, 0x0f}, {0xed, 0xed, 0x80, 0x9f, 3, 0x0f},
        {0xee, 0xef, 0x80, 0xbf, 3, 0x0f}, {0xf0, 0xf0, 0x90, 0xbf, 4, 0x07},
        {0xf1, 0xf3, 0x80, 0xbf, 4, 0x07}, {0xf4, 0xf4, 0x80, 0x8f, 4, 0x07},
    };
    const unsigned char *s = (const unsigned char *)text;

    *c = s[0];
    if (s[0] < 0x80)
        return 1;
    for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
        if (s[0] < rows[r].first || s[0] > rows[r].last)
            continue;
        if (s[1] < rows[r].low || s[1] > rows[r].high)
            return 0;
        *c = s[0] & rows[r].mask;
        for (size_t i = 1; i < rows[r].bytes; *c = *c << 6 | (s[i++] & 0x3f))
            if ((s[i] & 0xc0) != 0x80)
                return 0;
        return rows[r].bytes;
    }
    return 0;
}

void utf8_put(char to[UTF8_MAX + 1], uint32_t c)
{
    const unsigned bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

    to[bytes] = '\0';
    for (unsigned i = bytes; --i > 0; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(lead[bytes] | c);
}

/* Unicode 15: categories Cc, Cf, Zl and Zp, and what is Default_Ignorable_Code_Point besides
 * (fillers, variation selectors, and what is kept for more of them). */
bool char_hidden(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } rows[] = {
        {0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
        {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},
        {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},   {0x17b4, 0x17b5},
        {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
        {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
        {0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
        {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
    };

    if (c >= 0x20 && c < 0x7f)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (c >= rows[i].first && c <= rows[i].last)
            return true;
    return false;
}

char *text_visible(const char *text)
{
    enum { ESCAPE_MOST = 10 }; /* \u{e0001} */
    char *const all = xmalloc(strlen(text) * ESCAPE_MOST + 1), *to = all;
    uint32_t c;

    for (size_t n; *text; text += n ? n : 1) {
        n = utf8_char(text, &c);
        if (!n)
            to += sprintf(to, "\\x%02x", (unsigned)(unsigned char)*text);
        else if (char_hidden(c))
            to += sprintf(to, "\\u{%x}", (unsigned)c);
        else
            to = (char *)memcpy(to, text, n) + n;
    }
    *to = '\0';
    return all;
}

/* ---- names that were meant ------------------------------------------------------------------ */

enum { NAME_MAX_LENGTH = 128 }; /* longer names are nobody's typing error */

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fold(a[i]) != fold(b[i]))
            return false;
    return true;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, substitutions and exchanges of neighbours that make b of a (optimal string
 * alignment); both are at most NAME_MAX_LENGTH long. */
static size_t edits(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][NAME_MAX_LENGTH + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= nb; j++)
        last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = least(last[j], row[j - 1]) + 1;
            row[j] = least(row[j], last[j - 1] + !same(a + i - 1, b + j - 1, 1));
            if (i > 1 && j > 1 && same(a + i - 1, b + j - 2, 1) && same(a + i - 2, b + j - 1, 1))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[nb];
}

/* 0: but for case the same; 1: its last segments; then by edits; SIZE_MAX: too far. */
static size_t distance(const char *name, size_t n, const char *candidate)
{
    const size_t nc = strlen(candidate);
    const size_t longer = n > nc ? n : nc;

    /* "history" of "policy.vc.history" */
    if (n && nc > n && candidate[nc - n - 1] == '.' && same(candidate + nc - n, name, n))
        return 1;
    if (longer > NAME_MAX_LENGTH || longer - least(n, nc) > longer / 3)
        return SIZE_MAX;
    const size_t d = edits(name, n, candidate, nc);
    return d > longer / 3 ? SIZE_MAX : d ? d + 1 : 0;
}

int name_index(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

const char *nearest_name(const char *name, const char *const *names, size_t n)
{
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;
    const size_t length = strlen(name);

    for (size_t i = 0; i < n; i++) {
        const size_t d = distance(name, length, names[i]);
        if (d < best_distance) {
            best_distance = d;
            best = names[i];
        }
    }
    return best;
}

/* The message ends with what to do, so there is a semicolon even when no name is near. */
char *did_you_mean(const char *name, const char *const *names, size_t n)
{
    const char *near = nearest_name(name, names, n);

    return near ? xasprintf("; did you mean \"%s\"? ", near) : xstrdup("; ");
}

/* ---- numbers -------------------------------------------------------------------------------- */

unsigned hex_digit(char c)
{
    const char low = (char)(c | 0x20); /* of a letter */

    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    return low >= 'a' && low <= 'f' ? (unsigned)(low - 'a' + 10) : 16;
}

/* Moves *text past the digits. Returns what is wrong, or NULL. strtoull would take signs, spaces,
 * octal and out-of-range numbers: each is a mistake here, and named. */
static const char *parse_digits(const char **text, uint64_t *number)
{
    const char *const s = *text;
    const bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    const unsigned base = hex ? 16 : 10;
    const char *const first = hex ? s + 2 : s, *p = first;
    uint64_t n = 0;

    if (*s == '-')
        return "is negative";
    if (!hex && *s == '0' && hex_digit(s[1]) < 10)
        return "begins with 0, which others read as octal";
    for (; hex_digit(*p) < base; p++)
        if (__builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, hex_digit(*p), &n))
            return "is larger than 64 bits hold";
    if (p == first)
        return "is not a number";
    /* 1.5 and 1e6 are numbers to others: their digits alone would be taken for something else. */
    if (*p == '.' || ((*p == 'e' || *p == 'E') && hex_digit(p[1 + (p[1] == '+')]) < 10))
        return "is not a whole number in plain digits";
    *number = n;
    *text = p;
    return NULL;
}

/* The unit as the row has it, or its singular or plural: accesses and access, entries and entry,
 * bytes and byte. No unit at all is fine for every row. */
static bool is_unit(const char *s, const char *unit)
{
    const size_t n = strlen(unit);

    if (!*s || strcmp(s, unit) == 0 || (strcmp(unit, "bytes") == 0 && strcmp(s, "B") == 0))
        return true;
    if (n > 4 && strcmp(unit + n - 4, "sses") == 0)
        return strlen(s) == n - 2 && strncmp(s, unit, n - 2) == 0;
    if (n > 3 && strcmp(unit + n - 3, "ies") == 0)
        return strlen(s) == n - 2 && strncmp(s, unit, n - 3) == 0 && s[n - 3] == 'y';
    if (n > 1 && unit[n - 1] == 's')
        return strlen(s) == n - 1 && strncmp(s, unit, n - 1) == 0;
    return n && strncmp(s, unit, n) == 0 && strcmp(s + n, "s") == 0;
}

static const char *after_spaces(const char *s)
{
    return s + strspn(s, " ");
}

const char *number_parse(const char *text, const char *unit, uint64_t *number)
{
    static const struct {
        const char *text;
        uint64_t factor;
    } prefix[] = {{"Ki", UINT64_C(1) << 10},
                  {"Mi", UINT64_C(1) << 20},
                  {"Gi", UINT64_C(1) << 30},
                  {"Ti", UINT64_C(1) << 40},
                  {"k", 1000},
                  {"K", 1000},
                  {"M", 1000000},
                  {"G", 1000000000},
                  {"T", UINT64_C(1000000000000)}};
    const char *const problem = parse_digits(&text, number);

    if (problem)
        return problem;
    text = after_spaces(text);
    if (is_unit(text, unit))
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(prefix); i++) {
        const size_t n = strlen(prefix[i].text);

        if (strncmp(text, prefix[i].text, n) != 0 || !is_unit(after_spaces(text + n), unit))
            continue;
        /* A bare K is refused rather than guessed. */
        if (strcmp(text, "K") == 0)
            return "ends in K, which could be k (1000) or Ki (1024)";
        if (__builtin_mul_overflow(*number, prefix[i].factor, number))
            return "is larger than 64 bits hold";
        return NULL;
    }
    return *unit ? "has a wrong unit" : "is not a plain number, and there is no unit here";
}

bool number_of_text(const char *text, uint64_t *to)
{
    return !number_parse(text, "", to);
}
