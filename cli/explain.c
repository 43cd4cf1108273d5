/* explain.c - tells what a name means, wherever it stands in the tables. A word may stand in
 * several tables: it is told of each. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli.h"

enum { WIDTH = 80, FIELD = 14 }; /* columns: of a line; before a field's text */

static void print_line(const char *key, const char *text)
{
    printf("  %-10s  ", key);
    print_broken(stdout, text, FIELD, FIELD, WIDTH);
}

/* Prints text as it is, line by line: YAML, commands. */
static void print_block(const char *text)
{
    while (*text) {
        const size_t line = strcspn(text, "\n");
        printf("      %.*s\n", (int)line, text);
        text += line + (text[line] == '\n');
    }
}

static void print_field(const struct field *f)
{
    if (strcmp(f->key, "more") == 0) {
        putchar('\n');
        print_broken(stdout, f->text, 0, 2, WIDTH);
    } else if (strchr(f->text, '\n') || strcmp(f->key, "sets") == 0) {
        printf("  %s\n", f->key);
        print_block(f->text);
    } else {
        print_line(f->key, f->text);
    }
}

/* ---- looking for a name --------------------------------------------------------------------- */

/* The ways in which a name is found. Each is tried only if the one before it found nothing. */
enum match { WHOLE, SECTION, ENDING }; /* "policy.vc.history": itself, by "policy", by "history" */

struct name_search {
    const char *name;
    enum match match;
    struct json *json; /* NULL: text */
    const struct name_table *table;
    char *told;         /* owned; of the latest name, NULL: nothing */
    char *alike;        /* owned; names after it of which the same is told, NULL: none */
    bool members;       /* statistics of a group are being told */
    size_t found, seen; /* found: rows that were told; seen: in names */
    char **names; /* owned; all that were looked at, their last parts and sections, for the hint */
    size_t cap;
};

static bool matches(const struct name_search *s, const char *name)
{
    const size_t n = strlen(name), m = strlen(s->name);

    switch (s->match) {
    case WHOLE:
        return strcmp(name, s->name) == 0;
    case SECTION:
        return n > m && name[m] == '.' && strncmp(name, s->name, m) == 0;
    case ENDING:
        return n > m && name[n - m - 1] == '.' && strcmp(name + n - m, s->name) == 0;
    }
    return false;
}

static void explain_text(const struct name_search *s, const struct row *r)
{
    printf("%s%s: %s.\n", s->found ? "\n" : "", r->name, s->table->one);
    print_broken(stdout, r->help, 0, 2, WIDTH);
    for (size_t i = 0; i < r->fields; i++)
        print_field(&r->field[i]);
    if (strcmp(s->table->name, "parameters") == 0)
        printf("  %-10s  lardsim run --set %s=VALUE SOURCE\n", "set by", r->name);
    if (strcmp(s->table->name, "verbs") == 0)
        printf("  %-10s  lardsim %s --help\n", "options", r->name);
}

/* Returns all that is printed on a name as one text, so that two names with the same text are seen.
 * The caller owns it. */
static char *told_of(const struct name_search *s, const struct row *r)
{
    char *all = xasprintf("%s\n%s", s->table->name, r->help);

    for (size_t i = 0; i < r->fields; i++) {
        xappend(&all, "\n", r->field[i].key);
        xappend(&all, " ", r->field[i].text);
    }
    return all;
}

static void end_alike(struct name_search *s)
{
    if (s->alike)
        print_line("likewise", s->alike);
    free(s->alike);
    s->alike = NULL;
}

/* Many policies may have a parameter with the same last part of its name (view, history). It is
 * told once; the other names follow in a line, "likewise". */
static void explain_once(struct name_search *s, const struct row *r)
{
    char *told = told_of(s, r);

    if (s->match == ENDING && s->told && strcmp(told, s->told) == 0) {
        xappend(&s->alike, ", ", r->name);
    } else {
        end_alike(s);
        explain_text(s, r);
    }
    free(s->told);
    s->told = told;
}

/* A group of statistics can be long: a line each. */
static void explain_member(struct name_search *s, const struct row *r)
{
    if (!s->members)
        printf("%s%s: a group of statistics.\n", s->found ? "\n" : "", s->name);
    s->members = true;
    printf("  %s: %s\n", r->name, r->help);
}

/* Prints a line for each setting of a preset's machine, and its source. */
static void explain_setting(struct name_search *s, const struct row *r)
{
    const char *key = r->name + strlen(s->name) + 1;
    const char *sweep = r->field[2].text;

    if (!s->members)
        puts("  what is printed, published, recalled and assumed of it");
    s->members = true;
    printf("      %s = %s, %s: %s%s%s\n", key, r->field[0].text, r->field[1].text, r->help,
           *sweep == '-' ? "" : "; sweep ", *sweep == '-' ? "" : sweep);
}

static void explain_row(struct name_search *s, const struct row *r)
{
    if (s->json) {
        json_object(s->json);
        json_key_str(s->json, "table", s->table->name);
        row_json(s->json, r);
        json_end(s->json);
    } else if (s->match == SECTION && strcmp(s->table->name, "machines") == 0) {
        explain_setting(s, r);
    } else if (s->match == SECTION && strcmp(s->table->name, "statistics") == 0) {
        explain_member(s, r);
    } else {
        explain_once(s, r);
    }
}

/* Keeps a name that was seen, its last part or its section: a proposal is one of the names that a
 * user may type. */
static void remember(struct name_search *s, const char *name, size_t n)
{
    s->names = xgrow(s->names, s->seen, &s->cap, sizeof *s->names);
    s->names[s->seen++] = xasprintf("%.*s", (int)n, name);
}

static void look_at(void *arg, const struct row *r)
{
    struct name_search *s = arg;

    /* A key alone means the parameter, not what some machine has. */
    if (s->match == ENDING && strcmp(s->table->name, "machines") == 0)
        return;
    if (matches(s, r->name)) {
        explain_row(s, r);
        s->found++;
    }
    /* The other rounds see the same names. */
    if (s->match != WHOLE)
        return;
    remember(s, r->name, strlen(r->name));
    const char *dot = strrchr(r->name, '.');
    if (!dot)
        return;
    remember(s, dot + 1, strlen(dot + 1));
    remember(s, r->name, (size_t)(dot - r->name));
}

static void look_at_tables(struct name_search *s)
{
    s->table = &table_of_tables;
    for (const struct name_table *t = tables; t->name; t++) {
        char *print = xasprintf("lardsim list %s", t->name);
        const struct row r = {
            .name = t->name, .help = t->help, .field = {{"print", print}}, .fields = 1};
        look_at(s, &r);
        free(print);
    }
}

static void search_table(struct name_search *s, const struct name_table *t, enum match match)
{
    s->match = match;
    s->table = t;
    t->each(look_at, s);
}

/* Looks for the name as a whole; else as a section; else by its last part. A parameter by its last
 * part in any case: what `view` means as a word, and how it is set, belong together. */
static void search_tables(struct name_search *s)
{
    for (enum match m = WHOLE; m <= ENDING && !s->found; m++) {
        for (const struct name_table *t = tables; t->name; t++)
            search_table(s, t, m);
        if (m == WHOLE && !s->found) {
            look_at_tables(s);
        } else if (m == WHOLE) {
            search_table(s, table_find("parameters"), ENDING);
            search_table(s, table_find("machines"), SECTION);
        }
    }
}

static int unknown_name(const struct name_search *s, struct err *e)
{
    char *hint = did_you_mean(s->name, (const char *const *)s->names, s->seen);

    err_set(e, LARD_USAGE, "explain: there is no \"%s\"%s`lardsim list` shows what has a name",
            s->name, hint);
    free(hint);
    return -1;
}

static int explain_name(const char *name, struct json *j, struct err *e)
{
    struct name_search s = {.name = name, .json = j};

    search_tables(&s);
    end_alike(&s);
    free(s.told);
    const int code = s.found ? LARD_DONE : unknown_name(&s, e);
    for (size_t i = 0; i < s.seen; i++)
        free(s.names[i]);
    free(s.names);
    return code;
}

static int explain_run(const struct cli *c, struct err *e)
{
    const bool json = cli_has(c, OPT_JSON);
    int code = LARD_DONE;
    struct json j;

    if (json) {
        json_init(&j, stdout, true);
        json_array(&j);
    }
    for (size_t i = 0; i < c->args && code == LARD_DONE; i++) {
        if (i > 0 && !json)
            putchar('\n');
        code = explain_name(c->arg[i], json ? &j : NULL, e);
    }
    if (json)
        json_end(&j);
    return code;
}

const struct verb verb_explain = {
    .help = &verb_help[HELP_explain], .options = cli_json_option, .run = explain_run};
