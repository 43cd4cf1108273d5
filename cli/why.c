/* why.c - lardsim why: explains why two accesses race, or why they do not. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/trace/trace.h"
#include "results/why/why.h"

enum { OPT_SVG = 540 };

/* ---- the SVG -------------------------------------------------------------------------------- */

static int write_svg(const struct answer *a, const char *path, bool overwrite, struct err *e)
{
    struct outfile *out = outfile_open(path, overwrite, e);

    if (!out)
        return -1;
    answer_svg(a, outfile_stream(out));
    return outfile_commit(out, e);
}

static int check_svg(const struct cli *c, char **path, struct err *e)
{
    const char *svg = cli_get(c, OPT_SVG);

    if (cli_has(c, OPT_OVERWRITE) && !svg)
        return err_set(e, LARD_USAGE, "why: --overwrite needs --svg, whose file it replaces");
    if (svg && !strcmp(svg, "-") && cli_has(c, OPT_JSON))
        return err_set(e, LARD_USAGE, "why: --json and --svg - both write to standard output");
    if (!svg)
        return 0;
    *path = strcmp(svg, "-") ? cli_absolute(svg) : xstrdup(svg); /* the run of DIR was elsewhere */
    return strcmp(svg, "-") != 0 ? outfile_check(*path, cli_has(c, OPT_OVERWRITE), e) : 0;
}

/* ---- the verb ------------------------------------------------------------------------------- */

struct showing {
    const struct cli *c;
    const char *svg; /* NULL: none is wanted */
};

static int show(void *arg, const struct answer *a, struct err *e)
{
    const struct showing *s = arg;

    if (s->svg && write_svg(a, s->svg, cli_has(s->c, OPT_OVERWRITE), e))
        return -1;
    if (cli_has(s->c, OPT_JSON))
        answer_json(a);
    else if (!cli_has(s->c, OPT_QUIET) && !(s->svg && !strcmp(s->svg, "-")))
        answer_text(a);
    return 0;
}

static int why_run(const struct cli *c, struct err *e)
{
    char *svg = NULL;
    struct given all = cli_given(c), settings = given_copy(&all, given_is_configuration);
    struct budget memory;
    int failed = check_svg(c, &svg, e) || memory_option(&memory, c, e);
    const struct why_question q = {.where = c->arg[0],
                                   .which = c->arg[1],
                                   .policy = cli_get(c, 'p'),
                                   .given = &settings,
                                   .memory = memory.limit,
                                   .quiet = cli_has(c, OPT_QUIET)};

    struct showing s = {c, svg};

    given_free(&all);
    failed = failed || why_answer(&q, show, &s, e);
    given_free(&settings);
    free(svg);
    return failed ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {
    OPTION("policy", 'p', "SPEC",
           "Explain what this policy says: NAME or LABEL=NAME, of a results folder a LABEL (the "
           "first one; of a trace vc)"),
    OPTION("config", OPT_CONFIG, "FILE",
           "Of a trace: read parameters from a YAML file, or take a preset; may be repeated"),
    OPTION("preset", OPT_PRESET, "PRESET",
           "Of a trace: take the parameters of a preset; may be repeated"),
    OPTION("set", OPT_SET, "NAME=VALUE", "Of a trace: set a parameter; may be repeated"),
    OPTION("svg", OPT_SVG, "FILE", "Draw threads and edges to this file"),
    OPTION("overwrite", OPT_OVERWRITE, NULL, "Replace the file of --svg if it exists"),
    ROW_JSON,
    ROW_QUIET,
    ROW_MEMORY,
    ROW_END};

const struct verb verb_why = {.help = &verb_help[HELP_why], .options = options, .run = why_run};
