/* v_explain.c - tells what a name means, wherever it stands in the tables. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { WIDTH = 80 };

/* Paragraphs, each a line, broken between words. */
static void print_wrapped(const char *text, size_t indent)
{
    size_t column = 0;

    while (*text) {
        const size_t word = strcspn(text, " \n");
        if (column > 0 && column + 1 + word > WIDTH) {
            putchar('\n');
            column = 0;
        }
        printf("%*s%.*s", column == 0 ? (int)indent : 1, "", (int)word, text);
        column += word + (column == 0 ? indent : 1);
        text += word;
        if (*text == '\n') {
            putchar('\n');
            column = 0;
        }
        if (*text)
            text++;
    }
    putchar('\n');
}

/* Kept as it is: YAML, commands. */
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
        print_wrapped(f->text, 2);
    } else if (strchr(f->text, '\n') || strcmp(f->key, "sets") == 0) {
        printf("  %s\n", f->key);
        print_block(f->text);
    } else {
        printf("  %-10s  %s\n", f->key, f->text);
    }
}

/* ---- looking for a name --------------------------------------------------------------------- */

struct search {
    const char *name;
    bool endings; /* also "policy.vc.history" for "history" */
    const struct table *table;
    size_t found, seen;
    char **names; /* owned; all that were looked at and their last parts, for the hint */
    size_t cap;
};

static bool matches(const struct search *s, const char *name)
{
    const size_t n = strlen(name), m = strlen(s->name);

    if (!s->endings)
        return strcmp(name, s->name) == 0;
    return n > m && name[n - m - 1] == '.' && strcmp(name + n - m, s->name) == 0;
}

static void explain_row(const struct search *s, const struct row *r)
{
    printf("%s%s: %s.\n", s->found ? "\n" : "", r->name, s->table->one);
    print_wrapped(r->help, 2);
    for (size_t i = 0; i < r->fields; i++)
        print_field(&r->field[i]);
    if (strcmp(s->table->name, "parameters") == 0)
        printf("  %-10s  lardsim run --set %s=VALUE SOURCE\n", "set by", r->name);
    if (strcmp(s->table->name, "verbs") == 0)
        printf("  %-10s  lardsim %s --help\n", "options", r->name);
}

static void remember(struct search *s, const char *name)
{
    s->names = xgrow(s->names, s->seen, &s->cap, sizeof *s->names);
    s->names[s->seen++] = xstrdup(name);
}

static void look_at(void *arg, const struct row *r)
{
    struct search *s = arg;

    if (matches(s, r->name)) {
        explain_row(s, r);
        s->found++;
    }
    remember(s, r->name);
    if (strrchr(r->name, '.'))
        remember(s, strrchr(r->name, '.') + 1);
}

static void search_tables(struct search *s)
{
    for (s->table = tables; s->table->name; s->table++)
        s->table->each(look_at, s);
    const struct table *t = table_find(s->name);
    if (t && !s->endings && !s->found) {
        printf("%s: a table.\n  %s\n  `lardsim list %s` prints it.\n", t->name, t->help, t->name);
        s->found++;
    }
}

static int unknown_name(const struct search *s, struct err *e)
{
    char *hint = did_you_mean(s->name, (const char *const *)s->names, s->seen);

    err_set(e, LARD_USAGE, "explain: nothing is called \"%s\"%s`lardsim list` tells what has names",
            s->name, hint);
    free(hint);
    return -1;
}

static int explain_name(const char *name, struct err *e)
{
    struct search s = {.name = name};
    int code = LARD_DONE;

    search_tables(&s);
    if (!s.found) {
        s.endings = true;
        search_tables(&s);
    }
    if (!s.found)
        code = unknown_name(&s, e);
    for (size_t i = 0; i < s.seen; i++)
        free(s.names[i]);
    free(s.names);
    return code;
}

static int explain_run(const struct cli *c, struct err *e)
{
    int code = LARD_DONE;

    for (size_t i = 0; i < c->args && code == LARD_DONE; i++) {
        if (i > 0)
            putchar('\n');
        code = explain_name(c->arg[i], e);
    }
    return code;
}

const struct verb verb_explain = {
    .name = "explain",
    .args = "NAME...",
    .summary = "Tells what a name means: a parameter, policy, event, ...",
    .text = "A name's last part is enough: `history` finds policy.vc.history.",
    .examples = "lardsim explain races\n"
                "lardsim explain policy.vc.history vc 66",
    .min_args = 1,
    .max_args = (size_t)-1,
    .run = explain_run,
};
