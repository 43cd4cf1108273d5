/* list.c - prints a table of names; also the manual pages and the completion, which are made of
 * the same tables. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* ---- text: aligned, but for names that are far too long ------------------------------------- */

enum { WIDEST = 44 };

struct widths {
    size_t columns, name, column[FIELDS];
};

static const char *column_text(const struct row *r, size_t i)
{
    return i < r->fields ? r->field[i].text : "";
}

static void widen(size_t *width, const char *text)
{
    const size_t n = strlen(text);

    if (n > *width)
        *width = n < WIDEST ? n : WIDEST;
}

static void measure(void *arg, const struct row *r)
{
    struct widths *w = arg;

    widen(&w->name, r->name);
    for (size_t i = 0; i < w->columns; i++)
        widen(&w->column[i], column_text(r, i));
}

static void print_row(void *arg, const struct row *r)
{
    const struct widths *w = arg;

    printf("%-*s", (int)w->name, r->name);
    for (size_t i = 0; i < w->columns; i++)
        printf("  %-*s", (int)w->column[i], column_text(r, i));
    printf("  %s\n", r->help);
}

static void print_text(const struct table *t)
{
    struct widths w = {.columns = t->columns};

    t->each(measure, &w);
    t->each(print_row, &w);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_row(void *arg, const struct row *r)
{
    struct json *j = arg;

    json_object(j);
    row_json(j, r);
    json_end(j);
}

static void print_json(const struct table *t)
{
    struct json j;

    json_init(&j, stdout, true);
    json_array(&j);
    t->each(json_row, &j);
    json_end(&j);
}

/* ---- which ---------------------------------------------------------------------------------- */

static void each_table(row_fn *fn, void *arg)
{
    for (const struct table *t = tables; t->name; t++)
        fn(arg, &(struct row){.name = t->name, .help = t->help});
    fn(arg,
       &(struct row){.name = "manual", .help = "The manual page of lardsim or of a verb (roff)."});
    fn(arg, &(struct row){.name = "completion", .help = "A completion script for bash."});
}

static const struct table table_of_tables = {"tables", "a table", "", 0, each_table};

static int unknown_table(const char *name, struct err *e)
{
    const char *names[32];
    size_t n = 0;

    for (const struct table *t = tables; t->name && n + 2 < ARRAY_SIZE(names); t++)
        names[n++] = t->name;
    names[n++] = "manual";
    names[n++] = "completion";
    char *hint = did_you_mean(name, names, n);
    err_set(e, LARD_USAGE, "list: there is no table \"%s\"%s`lardsim list` lists them", name, hint);
    free(hint);
    return -1;
}

static int list_manual(const char *page, struct err *e)
{
    if (manual_print(page, stdout) == 0)
        return LARD_DONE;
    return err_set(e, LARD_USAGE,
                   "list manual: there is no page \"%s\"; pages are the first words of "
                   "`lardsim list verbs`, or none for lardsim(1)",
                   page);
}

static int list_run(const struct cli *c, struct err *e)
{
    const char *what = c->args > 0 ? c->arg[0] : NULL;
    const struct table *t = what ? table_find(what) : &table_of_tables;
    const bool manual = what && strcmp(what, "manual") == 0;
    const bool completion = what && strcmp(what, "completion") == 0;

    if (c->args > 1 && !manual)
        return err_set(e, LARD_USAGE, "list: \"%s\" is one operand too many", c->arg[1]);
    if (cli_has(c, OPT_JSON) && (manual || completion))
        return err_set(e, LARD_USAGE,
                       "list: --json is for tables, and \"%s\" is none; leave it out", what);
    if (manual)
        return list_manual(c->args > 1 ? c->arg[1] : NULL, e);
    if (completion)
        completion_print(stdout);
    else if (!t)
        return unknown_table(what, e);
    else if (cli_has(c, OPT_JSON))
        print_json(t);
    else
        print_text(t);
    return LARD_DONE;
}

static const struct argp_option options[] = {ROW_JSON, ROW_END};

const struct verb verb_list = {
    .name = "list",
    .args = "[TABLE]",
    .summary = "Lists policies, parameters, events: all that has a name.",
    .text =
        "Without TABLE, lists the tables. `list manual [VERB]` prints the manual page of lardsim "
        "or of a verb (roff), `list completion` a completion script for bash.",
    .examples = "lardsim list parameters\n"
                "lardsim list events --json\n"
                "lardsim list manual run | man -l -",
    .options = options,
    .max_args = 2,
    .run = list_run,
};
