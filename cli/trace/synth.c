/* synth.c - writes a trace that the generator makes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/trace/trace.h"

/* The parameters of --set, then those of the operands after OUT. */
static int parameters(const struct cli *c, struct synth_params *p, struct err *e)
{
    char *all = xstrdup("");

    for (size_t i = 0; i < c->n; i++)
        if (c->given[i].key == OPT_SET)
            xappend(&all, ",", c->given[i].value);
    for (size_t i = 1; i < c->args; i++)
        xappend(&all, ",", c->arg[i]);
    const int failed = synth_parse(p, all, e);
    free(all);
    return failed;
}

static int synth_run(const struct cli *c, struct err *e)
{
    struct synth_params p;

    if (strchr(c->arg[0], '=') && c->args == 1)
        return err_set(e, LARD_USAGE,
                       "trace synth: OUT is missing before %s; \"-\" is standard output",
                       c->arg[0]);
    if (out_check(c, c->arg[0], e) || parameters(c, &p, e))
        return -1;
    struct source *from = synth_open(&p, e);
    return from && !out_copy(stopped_source(from), c, c->arg[0], e) ? LARD_DONE : -1;
}

static const struct argp_option options[] = {
    OPTION("set", OPT_SET, "KEY=VALUE", "The same as the operand KEY=VALUE"), ROWS_OUT, ROW_END};

const struct verb verb_trace_synth = {
    .help = &verb_help[HELP_trace_synth], .options = options, .run = synth_run};
