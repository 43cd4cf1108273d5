/* machine.c - lardsim machine: draws the machine that a configuration describes. */
#include <stdlib.h>
#include <string.h>

#include "results/drawing/drawing.h"
#include "cli/run/run.h"

enum { OPT_ASCII = 512 };

/* Returns the only configuration or preset that the command line names, without its folder. NULL:
 * there is none, or several. */
static const char *name_of(const struct cli *c)
{
    const char *name = NULL;

    for (size_t i = 0; i < c->n; i++)
        if (c->given[i].key == OPT_CONFIG || c->given[i].key == OPT_PRESET) {
            if (name)
                return NULL;
            const char *slash = strrchr(c->given[i].value, '/');
            name = slash ? slash + 1 : c->given[i].value;
        }
    return name;
}

static int write_picture(const struct machine_drawing *d, const struct cli *c, struct err *e)
{
    struct outfile *f = outfile_open(cli_get(c, 'o'), cli_has(c, OPT_OVERWRITE), e);

    if (!f)
        return -1;
    picture_draw(d, outfile_stream(f));
    return outfile_commit(f, e);
}

static int draw(struct machine_drawing *d, const struct cli *c, struct err *e)
{
    const char *picture = cli_get(c, 'o');

    if (picture && write_picture(d, c, e))
        return -1;
    if (picture && !strcmp(picture, "-"))
        return LARD_DONE;
    if (cli_has(c, OPT_JSON))
        drawing_json(d, stdout);
    else if (!cli_has(c, OPT_QUIET))
        text_draw(d, cli_has(c, OPT_ASCII), stdout);
    return LARD_DONE;
}

static int machine_run(const struct cli *c, struct err *e)
{
    struct machine_drawing d = {.name = name_of(c)};
    struct given g = cli_given(c);
    int code = -1;

    for (size_t i = 0; i < c->args; i++)
        given_add(&g, GIVEN_SET, c->arg[i]);
    if (cli_get(c, 'o') && outfile_check(cli_get(c, 'o'), cli_has(c, OPT_OVERWRITE), e))
        ;
    else if (!drawing_make(&d, &g, e))
        code = draw(&d, c, e);
    drawing_free(&d);
    given_free(&g);
    return code;
}

static const struct argp_option options[] = {
    OPTION("policy", 'p', "SPEC",
           "Draw what this policy keeps, and what it takes; may be repeated"),
    ROWS_CONFIG,
    OPTION("output", 'o', "FILE",
           "Draw to this file, as an SVG, too; \"-\": to standard output, alone"),
    OPTION("overwrite", OPT_OVERWRITE, NULL, "Replace the file if it exists"),
    OPTION("ascii", OPT_ASCII, NULL, "Draw lines with characters of ASCII, whatever the locale"),
    ROW_JSON,
    OPTION("quiet", OPT_QUIET, NULL, "Print nothing"),
    ROW_END};

const struct verb verb_machine = {
    .help = &verb_help[HELP_machine], .options = options, .run = machine_run};
