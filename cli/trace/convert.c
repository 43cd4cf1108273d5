/* convert.c - a trace in another form: the same events, numbers and names. */
#include "cli/trace/trace.h"

static int convert_run(const struct cli *c, struct err *e)
{
    return out_copy_of(source_open, c->arg[0], c, c->arg[1], e) ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {ROW_MEMORY, ROWS_OUT, ROW_END};

const struct verb verb_trace_convert = {
    .help = &verb_help[HELP_trace_convert], .options = options, .run = convert_run};
