/* compare_files.c - --csv and --plot of `lardsim compare`. They are opened before anything runs,
 * and written when all has run. */
#include <string.h>

#include "cli/compare.h"

/* "-" would be mixed with the page. */
static struct outfile *open_file(const struct cli *c, const char *path, struct err *e)
{
    if (!path || e->code)
        return NULL;
    if (!strcmp(path, "-") && !cli_has(c, OPT_QUIET))
        err_set(e, LARD_USAGE,
                "compare: standard output has the page; give --csv and --plot a file, or --quiet");
    else
        return outfile_open(path, cli_has(c, OPT_OVERWRITE), e);
    return NULL;
}

int compare_files_open(struct compare_files *f, const struct cli *c, struct err *e)
{
    f->csv = open_file(c, cli_get(c, OPT_CSV), e);
    f->plot = open_file(c, cli_get(c, OPT_PLOT), e);
    if (!e->code)
        return 0;
    compare_files_abort(f);
    return -1;
}

void compare_files_abort(struct compare_files *f)
{
    outfile_abort(f->csv);
    outfile_abort(f->plot);
    *f = (struct compare_files){0};
}

int compare_files_commit(struct compare_files *f, struct err *e)
{
    int failed = f->csv ? outfile_commit(f->csv, e) : 0;

    f->csv = NULL;
    if (f->plot && !failed)
        failed = outfile_commit(f->plot, e);
    else
        outfile_abort(f->plot);
    f->plot = NULL;
    return failed;
}
