/* manual.c - manual pages in roff, made of the same rows as --help: one for lardsim, one for each
 * first word of a verb (lardsim-run, lardsim-trace). They are printed, not kept, so they can't be
 * older than the program. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "sim/lardsim.h"

/* Text in backquotes becomes bold. Characters that roff would take for its own are escaped: a full
 * stop or quote that begins a line, backslashes, and hyphens, which would turn into dashes that
 * can't be copied. */
static void put_text(FILE *out, const char *text)
{
    bool start = true, bold = false;

    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\''))
            /* A full stop or quote at a line's start would be a request. \& has no width. */
            fputs("\\&", out);
        start = *text == '\n';
        if (*text == '`') {
            bold = !bold;
            fputs(bold ? "\\fB" : "\\fR", out);
        } else if (*text == '\\') {
            fputs("\\e", out);
        } else if (*text == '-') {
            fputs("\\-", out);
        } else if (*text == '\'') {
            fputs("\\(aq", out);
        } else {
            fputc(*text, out);
        }
    }
}

static void put_line(FILE *out, const char *text, size_t n)
{
    char *line = xasprintf("%.*s", (int)n, text);

    put_text(out, line);
    fputc('\n', out);
    free(line);
}

/* Lines of text, each after a macro: ".PP" for paragraphs. */
static void put_lines(FILE *out, const char *text, const char *before)
{
    while (text && *text) {
        const size_t n = strcspn(text, "\n");
        if (n && before)
            fprintf(out, "%s\n", before);
        if (n)
            put_line(out, text, n);
        text += n + (text[n] == '\n');
    }
}

static void put_title(FILE *out, const char *page)
{
    char *name = xasprintf("lardsim%s%s", page ? "-" : "", page ? page : "");
    char *upper = xstrdup(name);

    for (char *p = upper; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    fputs(".\\\" Made by lardsim list manual.\n", out);
    fprintf(out, ".TH %s 1 \"\" \"lardsim %s\" \"User Commands\"\n.SH NAME\n", upper,
            lardsim_version());
    put_text(out, name);
    free(upper);
    free(name);
}

/* ---- options and synopses ------------------------------------------------------------------- */

static void put_option(FILE *out, const struct argp_option *o)
{
    fputs(".TP\n", out);
    for (const struct argp_option *s = o; s == o || (s->key && !s->name); s++)
        if (s->key > 0 && s->key < 256)
            fprintf(out, "\\fB\\-%c\\fR, ", s->key);
    fputs("\\fB\\-\\-", out);
    put_text(out, o->name);
    fputs("\\fR", out);
    if (o->arg) {
        fputs("=\\fI", out);
        put_text(out, o->arg);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    put_line(out, o->doc, strlen(o->doc));
}

static void put_options(FILE *out, const struct verb *v)
{
    for (const struct argp_option *o = v ? v->options : NULL; o && o->name; o++)
        put_option(out, o);
    for (const struct argp_option *o = cli_common_options; o->key; o++)
        if (o->name)
            put_option(out, o);
}

static void put_usage(FILE *out, const struct verb *v)
{
    fputs("\\fBlardsim ", out);
    put_text(out, v->help->name);
    fputs("\\fR [\\fIOPTION\\fR]... \\fI", out);
    put_text(out, v->help->args);
    fputs("\\fR\n", out);
}

static void put_examples(FILE *out, const char *heading, const char *lines)
{
    if (!lines)
        return;
    fprintf(out, "%s\n.nf\n", heading);
    put_lines(out, lines, NULL);
    fputs(".fi\n", out);
}

static void put_exits(FILE *out)
{
    fputs(".SH EXIT STATUS\n", out);
#define EXIT(NAME, code, text)                                                                     \
    fprintf(out, ".TP\n.B %d\n", code);                                                            \
    put_line(out, text, strlen(text));
#include "base/exits.def"
#undef EXIT
}

/* ---- pages ---------------------------------------------------------------------------------- */

static bool first_word_is(const struct verb *v, const char *word)
{
    return strcmp(v->help->name, word) == 0 || verb_in_group(v, word);
}

/* Is verbs[i] the first with its first word? Verbs of a group stand next to each other in
 * verbs.def. */
static bool starts_page(size_t i)
{
    const size_t n = strcspn(verbs[i]->help->name, " ");

    /* strchr finds the terminator, too: the name before has the same first word if that ends here,
     * with the name or at a blank. */
    return i == 0 || strncmp(verbs[i - 1]->help->name, verbs[i]->help->name, n) != 0 ||
           !strchr(" ", verbs[i - 1]->help->name[n]);
}

static void put_see_also(FILE *out, const char *page)
{
    const char *comma = "";

    fputs(".SH SEE ALSO\n", out);
    if (page) {
        fputs(".BR lardsim (1)", out);
        comma = ",";
    }
    for (size_t i = 0; verbs[i]; i++) {
        if (!starts_page(i) || (page && first_word_is(verbs[i], page)))
            continue;
        fprintf(out, "%s%s.BR lardsim\\-%.*s (1)", comma, *comma ? "\n" : "",
                (int)strcspn(verbs[i]->help->name, " "), verbs[i]->help->name);
        comma = ",";
    }
    fputc('\n', out);
}

static void print_main_page(FILE *out)
{
    put_title(out, NULL);
    fputs(
        " \\- simulate machines that detect data races\n.SH SYNOPSIS\n"
        ".B lardsim\n\\fIVERB\\fR [\\fIOPTION\\fR]... [\\fIOPERAND\\fR]...\n.SH DESCRIPTION\n"
        "Simulates multicore machines that detect data races in hardware or software, over traces "
        "of programs, and says which accesses race and what the detection costs.\n.SH VERBS\n",
        out);
    for (size_t i = 0; verbs[i]; i++) {
        fputs(".TP\n", out);
        put_usage(out, verbs[i]);
        put_line(out, verbs[i]->help->summary, strlen(verbs[i]->help->summary));
    }
    fputs(".SH OPTIONS\n", out);
    put_options(out, NULL);
    put_exits(out);
    put_see_also(out, NULL);
}

/* Prints the summary as the rest of a title: without its capital and its stop. */
static void put_summary(FILE *out, const char *page)
{
    const char *summary = verb_group_summary(page); /* one line for all of a group */

    for (size_t i = 0; verbs[i] && !summary; i++)
        if (first_word_is(verbs[i], page))
            summary = verbs[i]->help->summary;
    fprintf(out, " \\- %c", tolower((unsigned char)summary[0]));
    char *rest = xasprintf("%.*s\n", (int)strlen(summary) - 2, summary + 1);
    put_text(out, rest);
    free(rest);
}

/* A verb alone on its page has sections; of several each has a subsection. */
static void put_verb(FILE *out, const struct verb *v, bool alone)
{
    if (!alone) {
        fputs(".SS lardsim ", out);
        put_text(out, v->help->name);
        fputs("\n", out);
        put_usage(out, v);
        fputs(".PP\n", out);
    }
    put_line(out, v->help->summary, strlen(v->help->summary));
    put_lines(out, v->help->text, ".PP");
    if (alone)
        fputs(".SH OPTIONS\n", out);
    if (alone)
        put_options(out, v);
    else
        for (const struct argp_option *o = v->options; o && o->name; o++)
            put_option(out, o);
    put_examples(out, alone ? ".SH EXAMPLES" : ".PP\nExamples:\n.PP", v->help->examples);
}

static void put_parameter(void *arg, const struct row *r)
{
    FILE *out = arg;

    fputs(".TP\n\\fB", out);
    put_text(out, r->name);
    fputs("\\fR (", out);
    for (size_t i = 0; i < r->fields; i++) {
        fputs(i ? ", " : "", out);
        put_text(out, r->field[i].key);
        fputc(' ', out);
        put_text(out, r->field[i].text);
    }
    fputs(")\n", out);
    put_line(out, r->help, strlen(r->help));
}

static void put_parameters(FILE *out, const char *heading, const char *table)
{
    fprintf(out, "%s\n", heading);
    table_find(table)->each(put_parameter, out);
}

static void print_page(FILE *out, const char *page, bool alone)
{
    size_t n = 0;

    put_title(out, page);
    put_summary(out, page);
    fputs(".SH SYNOPSIS\n", out);
    for (size_t i = 0; verbs[i]; i++)
        if (first_word_is(verbs[i], page)) {
            fputs(n++ ? ".br\n" : "", out);
            put_usage(out, verbs[i]);
        }
    fputs(".SH DESCRIPTION\n", out);
    for (size_t i = 0; verbs[i]; i++)
        if (first_word_is(verbs[i], page))
            put_verb(out, verbs[i], alone);
    if (strcmp(page, "run") == 0)
        put_parameters(out, ".SH PARAMETERS", "parameters");
    if (strcmp(page, "trace") == 0)
        put_parameters(out, ".SH PARAMETERS OF THE GENERATOR", "synth");
    put_exits(out);
    put_see_also(out, page);
}

int manual_print(const char *page, FILE *out)
{
    size_t n = 0;

    if (!page || strcmp(page, "lardsim") == 0) {
        print_main_page(out);
        return 0;
    }
    for (size_t i = 0; verbs[i]; i++)
        n += first_word_is(verbs[i], page);
    if (n == 0)
        return -1;
    print_page(out, page, n == 1);
    return 0;
}
