/* list.c - prints a table of names; also the manual pages and the completion, which are made of the
 * same tables. What a row says is in tables.c; this file only lays it out. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "results/job/progress.h"
#include "results/table/table.h"

/* ---- a section of a table ------------------------------------------------------------------- */

/* Hands on the rows of one section ("policy.vc" of the parameters), and counts them. */
struct section {
    const char *name; /* NULL: all */
    row_fn *fn;       /* NULL: they are counted alone */
    void *arg;
    size_t rows; /* handed on so far */
};

/* Returns the part of a row's name that follows the section. NULL: the row is not in it. */
static const char *within(const char *name, const char *section)
{
    const size_t n = section ? strlen(section) : 0;

    if (!section)
        return name;
    /* The section is a whole part of the name: "l1" has l1.accesses, and does not have
     * l10.accesses. */
    return strncmp(name, section, n) || name[n] != '.' ? NULL : name + n + 1;
}

static void section_row(void *arg, const struct row *r)
{
    struct section *s = arg;

    if (!within(r->name, s->name))
        return;
    s->rows++;
    if (s->fn)
        s->fn(s->arg, r);
}

static size_t each_of(const struct name_table *t, const char *section, row_fn *fn, void *arg)
{
    struct section s = {section, fn, arg, 0};

    t->each(section_row, &s);
    return s.rows;
}

/* ---- text: aligned, but for names that are far too long ------------------------------------- */

/* Characters of a column: a longer text sticks out rather than widen the table for all. */
enum { WIDEST = 44 };

/* The table that is being filled: heads are for Markdown alone, and the rows' own. */
struct list_table {
    struct table to;
    const struct name_table *of;
    const char *section;
    bool markdown;
};

static void list_heads(struct list_table *l, const struct row *r)
{
    struct table_head head = {.name = "", .align = TABLE_LEFT, .most = WIDEST};

    for (size_t i = 0; i < l->of->columns + 2; i++) {
        if (l->markdown) /* the table's word, without its article */
            head.name = i == 0               ? strchr(l->of->one, ' ') + 1
                        : i > l->of->columns ? "what it is"
                        : i <= r->fields     ? r->field[i - 1].key
                                             : "";
        table_head(&l->to, head);
    }
}

static void list_row(void *arg, const struct row *r)
{
    struct list_table *l = arg;

    if (!l->to.heads)
        list_heads(l, r);
    table_text(&l->to, l->markdown ? within(r->name, l->section) : r->name);
    for (size_t i = 0; i < l->of->columns; i++)
        table_text(&l->to, i < r->fields ? r->field[i].text : "");
    table_text(&l->to, r->help);
}

static void print_table(const struct name_table *t, const char *section, bool markdown)
{
    struct list_table l = {.of = t, .section = section, .markdown = markdown};

    each_of(t, section, list_row, &l);
    if (markdown)
        table_markdown(&l.to, stdout);
    else
        l.to.wrap = terminal_columns(STDOUT_FILENO);
    if (!markdown && l.to.heads)
        table_print(&l.to, stdout);
    table_free(&l.to);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_row(void *arg, const struct row *r)
{
    struct json *j = arg;

    json_object(j);
    row_json(j, r);
    json_end(j);
}

static void print_json(const struct name_table *t, const char *section)
{
    struct json j;

    json_init(&j, stdout, true);
    json_array(&j);
    each_of(t, section, json_row, &j);
    json_end(&j);
}

/* ---- which ---------------------------------------------------------------------------------- */

/* The manual and the completion are no tables, but are listed as such. */
static int unknown_table(const char *name, struct err *e)
{
    const char *names[32];
    size_t n = 0;

    for (const struct name_table *t = tables; t->name && n + 2 < ARRAY_SIZE(names); t++)
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
                   "list manual: there is no page \"%s\"; pages are the first words of `lardsim "
                   "list verbs`, or none for lardsim(1)",
                   page);
}

/* An empty section is a mistake in the name, not an empty answer. */
static int list_table(const struct cli *c, const struct name_table *t, const char *section,
                      struct err *e)
{
    if (section && !each_of(t, section, NULL, NULL))
        return err_set(e, LARD_USAGE, "list: no name in %s is below \"%s\"; leave that out",
                       t->name, section);
    if (cli_has(c, OPT_JSON))
        print_json(t, section);
    else
        print_table(t, section, cli_has(c, OPT_MARKDOWN));
    return LARD_DONE;
}

static int list_run(const struct cli *c, struct err *e)
{
    const char *what = c->args > 0 ? c->arg[0] : NULL, *of = c->args > 1 ? c->arg[1] : NULL;
    const struct name_table *t = what ? table_find(what) : &table_of_tables;
    const bool manual = what && strcmp(what, "manual") == 0;
    const bool completion = what && strcmp(what, "completion") == 0;
    const bool json = cli_has(c, OPT_JSON);

    if (t)
        return list_table(c, t, of, e);
    if (!manual && !completion)
        return unknown_table(what, e);
    if (completion && of)
        return err_set(e, LARD_USAGE, "list: \"%s\" is one operand too many", of);
    if (json || cli_has(c, OPT_MARKDOWN))
        return err_set(e, LARD_USAGE, "list: --%s is for tables, and \"%s\" is none; leave it out",
                       json ? "json" : "markdown", what);
    if (manual)
        return list_manual(of, e);
    completion_print(stdout);
    return LARD_DONE;
}

static const struct argp_option options[] = {
    ROW_JSON, OPTION("markdown", OPT_MARKDOWN, NULL, "Write a table of Markdown"), ROW_END};

const struct verb verb_list = {.help = &verb_help[HELP_list], .options = options, .run = list_run};
