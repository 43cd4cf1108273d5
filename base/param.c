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

static int convert_number(const struct conversion *v, const char *text)
{
    const char *const problem = number_parse(text, v->row->unit, &v->to->number);

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
    const int place = name_index(v->row->choices, text);

    *index = (uint64_t)place;
    return place < 0 ? refuse(v, text, "is none of the choices") : 0;
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

/* The texts of a list, or those of the choices that a set may have. */
static const char *const *items_of(const struct param *row, const struct value *v, size_t *n)
{
    *n = row->type == PARAM_SET ? count_names(row->choices) : v->n;
    return row->type == PARAM_SET ? row->choices : (const char *const *)v->item;
}

static bool has_item(const struct param *row, const struct value *v, size_t i)
{
    return row->type != PARAM_SET || v->number >> i & 1;
}

static void print_items(FILE *out, const struct param *row, const struct value *v)
{
    const char *between = "[";
    size_t n;
    const char *const *items = items_of(row, v, &n);

    for (size_t i = 0; i < n; i++)
        if (has_item(row, v, i)) {
            fputs(between, out);
            yaml_write_scalar(out, items[i]);
            between = ", ";
        }
    fputs(*between == '[' ? "[]" : "]", out);
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

static char *joined(const struct param *row, const struct value *v, const char *with)
{
    char *all = NULL;
    size_t n;
    const char *const *items = items_of(row, v, &n);

    for (size_t i = 0; i < n; i++)
        if (has_item(row, v, i))
            xappend(&all, with, items[i]);
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
    case PARAM_STRING:
        return xstrdup(v->item[0]);
    case PARAM_SET:
    case PARAM_LIST:
        return joined(row, v, ",");
    }
    die("parameter %s has type %d", row->name, (int)row->type);
}

/* ---- for list, explain and messages --------------------------------------------------------- */

static char *join_choices(const char *const *choices, const char *with)
{
    return joined(&(struct param){.type = PARAM_SET, .choices = choices},
                  &(struct value){.number = UINT64_MAX}, with);
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
    static const char *const names[] = {
        [PARAM_BOOL] = "on or off",     [PARAM_U64] = "number",  [PARAM_CHOICE] = "choice",
        [PARAM_SET] = "set of choices", [PARAM_STRING] = "text", [PARAM_LIST] = "list"};

    return names[t];
}
