/* param.c - the rows of a parameter table: text converted by type, with an error that says what the
 * row allows, and values printed again such that they are read back as the same. Knows nothing of
 * where values come from. */
#include "base/param_int.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

/* ---- messages ------------------------------------------------------------------------------- */

char *param_suggest(const char *name, const char *const *names, size_t n)
{
    const char *const nearest = nearest_name(name, names, n);

    return nearest ? xasprintf("; did you mean %s?", nearest) : xstrdup("");
}

static size_t count_names(const char *const *names)
{
    size_t n = 0;

    while (names && names[n])
        n++;
    return n;
}

/* ---- conversion ----------------------------------------------------------------------------- */

/* Shortens text to at most 60 bytes, whole characters, on one line: it becomes a part of a
 * message. */
static void abbreviate(char shown[64], const char *text)
{
    size_t n = strlen(text);

    if (n > 60)
        for (n = 57; n && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
            ;
    snprintf(shown, 64, "%.*s%s", (int)n, text, text[n] ? "..." : "");
    for (char *p = shown; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
}

/* Every refusal says the same four things: where it was given, what is wrong, what is allowed, and
 * the nearest choice. */
static int refuse(const struct conversion *v, const char *text, const char *problem)
{
    const struct param *const row = v->row;
    const bool number = row->type == PARAM_U64;
    char shown[64];
    char *const range = param_range(row);
    char *const meant = param_suggest(text, row->choices, count_names(row->choices));

    abbreviate(shown, text);
    err_set(v->e, LARD_CONFIG, "%s: %s: \"%s\" %s; give %s%s%s%s%s%s", v->origin, v->name, shown,
            problem, range, number && *row->unit ? " " : "", number ? row->unit : "",
            number ? ", such as " : "", number ? row->value : "", meant);
    free(range);
    free(meant);
    return -1;
}

static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a' + 10);
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) : 16;
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
    if (!hex && *s == '0' && digit_value(s[1]) < 10)
        return "begins with 0, which others read as octal";
    for (; digit_value(*p) < base; p++)
        if (__builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, digit_value(*p), &n))
            return "is larger than 64 bits hold";
    if (p == first)
        return "is not a number";
    /* 1.5 and 1e6 are numbers to others: their digits alone would be taken for something else. */
    if (*p == '.' || ((*p == 'e' || *p == 'E') && digit_value(p[1 + (p[1] == '+')]) < 10))
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

    if (!*s || strcmp(s, unit) == 0)
        return true;
    if (strcmp(unit, "bytes") == 0 && strcmp(s, "B") == 0)
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

/* Returns what is wrong, or NULL. */
static const char *parse_number(const char *text, const char *unit, uint64_t *number)
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

static int convert_number(const struct conversion *v, const char *text)
{
    const char *const problem = parse_number(text, v->row->unit, &v->to->number);

    if (problem)
        return refuse(v, text, problem);
    if (v->to->number < v->row->min || v->to->number > v->row->max)
        return refuse(v, text, "is out of range");
    return 0;
}

static int convert_bool(const struct conversion *v, const char *text)
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes"};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (!strcasecmp(text, words[i])) {
            v->to->number = i % 2;
            return 0;
        }
    return refuse(v, text, "is neither on nor off");
}

static int convert_choice(const struct conversion *v, const char *text, uint64_t *index)
{
    for (*index = 0; v->row->choices[*index]; ++*index)
        if (strcmp(text, v->row->choices[*index]) == 0)
            return 0;
    return refuse(v, text, "is none of the choices");
}

/* Takes over text. */
static void append(struct value *v, char *text)
{
    v->item = xgrow(v->item, v->n, &v->cap, sizeof *v->item);
    v->item[v->n++] = text;
}

/* Appends what the commas of text divide, without the spaces around it. */
static int split(const struct conversion *v, const char *text)
{
    for (const char *s = text; *s;) {
        const size_t length = strcspn(s, ",");
        const size_t spaces = strspn(s, " ");
        size_t n = length;

        while (n && s[n - 1] == ' ')
            n--;
        /* Also after a trailing comma. */
        if (n <= spaces || (s[length] && !s[length + 1]))
            return refuse(v, text, "has an empty item");
        append(v->to, xasprintf("%.*s", (int)(n - spaces), s + spaces));
        s += length + (s[length] == ',');
    }
    return 0;
}

static int convert_list(const struct conversion *v, const struct yaml_value *from)
{
    if (!from->list)
        return split(v, from->item[0]);
    for (size_t i = 0; i < from->n; i++)
        append(v->to, xstrdup(from->item[i]));
    return 0;
}

/* A set is a bit for each choice; an item that is repeated is no mistake. */
static int convert_set(const struct conversion *v, const struct yaml_value *from)
{
    uint64_t index;

    assert(count_names(v->row->choices) <= 32);
    if (convert_list(v, from))
        return -1;
    for (size_t i = 0; i < v->to->n; i++) {
        if (convert_choice(v, v->to->item[i], &index))
            return -1;
        v->to->number |= UINT64_C(1) << index;
    }
    return 0;
}

int param_convert(const struct conversion *v, const struct yaml_value *from)
{
    const enum param_type type = v->row->type;

    if (from->list && type != PARAM_SET && type != PARAM_LIST)
        return refuse(v, from->n ? from->item[0] : "", "is a list where one value is due");
    switch (type) {
    case PARAM_BOOL:
        return convert_bool(v, from->item[0]);
    case PARAM_U64:
        return convert_number(v, from->item[0]);
    case PARAM_CHOICE:
        return convert_choice(v, from->item[0], &v->to->number);
    case PARAM_SET:
        return convert_set(v, from);
    case PARAM_STRING:
        append(v->to, xstrdup(from->item[0]));
        return 0;
    case PARAM_LIST:
        return convert_list(v, from);
    }
    die("parameter %s has type %d", v->name, (int)type);
}

/* ---- converted values ----------------------------------------------------------------------- */

void param_value_free(struct value *v)
{
    for (size_t i = 0; i < v->n; i++)
        free(v->item[i]);
    free(v->item);
    *v = (struct value){0};
}

void param_store(const struct param *row, const struct value *v, void *into)
{
    void *const field = (char *)into + row->offset;

    switch (row->type) {
    case PARAM_BOOL:
        *(bool *)field = v->number;
        return;
    case PARAM_U64:
        *(uint64_t *)field = v->number;
        return;
    case PARAM_CHOICE:
    case PARAM_SET:
        *(uint32_t *)field = (uint32_t)v->number;
        return;
    case PARAM_STRING:
        *(const char **)field = v->item[0];
        return;
    case PARAM_LIST:
        *(struct param_list *)field = (struct param_list){(const char *const *)v->item, v->n};
        return;
    }
}

static void print_item(FILE *out, bool *first, const char *text)
{
    if (!*first)
        fputs(", ", out);
    *first = false;
    yaml_write_scalar(out, text);
}

static void print_items(FILE *out, const struct param *row, const struct value *v)
{
    bool first = true;

    fputc('[', out);
    if (row->type == PARAM_SET)
        for (size_t i = 0; row->choices[i]; i++) {
            if (v->number >> i & 1)
                print_item(out, &first, row->choices[i]);
        }
    else
        for (size_t i = 0; i < v->n; i++)
            print_item(out, &first, v->item[i]);
    fputc(']', out);
}

void param_print(FILE *out, const struct param *row, const struct value *v)
{
    switch (row->type) {
    case PARAM_BOOL:
        fputs(v->number ? "on" : "off", out);
        return;
    case PARAM_U64:
        fprintf(out, "%" PRIu64, v->number);
        return;
    case PARAM_CHOICE:
        yaml_write_scalar(out, row->choices[v->number]);
        return;
    case PARAM_STRING:
        yaml_write_scalar(out, v->item[0]);
        return;
    case PARAM_SET:
    case PARAM_LIST:
        print_items(out, row, v);
        return;
    }
}

static char *joined(const struct value *v)
{
    char *all = NULL;

    for (size_t i = 0; i < v->n; i++)
        xappend(&all, ",", v->item[i]);
    return all ? all : xstrdup("");
}

static char *joined_choices(const struct param *row, uint64_t bits)
{
    char *all = NULL;

    for (size_t i = 0; row->choices[i]; i++)
        if (bits >> i & 1)
            xappend(&all, ",", row->choices[i]);
    return all ? all : xstrdup("");
}

char *param_text(const struct param *row, const struct value *v)
{
    switch (row->type) {
    case PARAM_BOOL:
        return xstrdup(v->number ? "on" : "off");
    case PARAM_U64:
        return xasprintf("%" PRIu64, v->number);
    case PARAM_CHOICE:
        return xstrdup(row->choices[v->number]);
    case PARAM_SET:
        return joined_choices(row, v->number);
    case PARAM_STRING:
        return xstrdup(v->item[0]);
    case PARAM_LIST:
        return joined(v);
    }
    die("parameter %s has type %d", row->name, (int)row->type);
}

/* ---- for list, explain and messages --------------------------------------------------------- */

static char *join_choices(const char *const *choices, const char *with)
{
    char *all = NULL;

    for (size_t i = 0; choices[i]; i++)
        xappend(&all, with, choices[i]);
    return all;
}

char *param_range(const struct param *row)
{
    switch (row->type) {
    case PARAM_BOOL:
        return xstrdup("on | off");
    case PARAM_U64:
        if (row->max == UINT64_MAX)
            return xasprintf("%" PRIu64 " or more", row->min);
        return xasprintf("%" PRIu64 "..%" PRIu64, row->min, row->max);
    case PARAM_CHOICE:
        return join_choices(row->choices, " | ");
    case PARAM_SET:
        return join_choices(row->choices, ", ");
    case PARAM_STRING:
        return xstrdup("text");
    case PARAM_LIST:
        return xstrdup("texts");
    }
    die("parameter %s has type %d", row->name, (int)row->type);
}

const char *param_type_name(enum param_type t)
{
    switch (t) {
    case PARAM_BOOL:
        return "on or off";
    case PARAM_U64:
        return "number";
    case PARAM_CHOICE:
        return "choice";
    case PARAM_SET:
        return "set of choices";
    case PARAM_STRING:
        return "text";
    case PARAM_LIST:
        return "list";
    }
    die("parameter type %d", (int)t);
}
