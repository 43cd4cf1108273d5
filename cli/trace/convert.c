/* convert.c - a trace in another form: the same events, numbers and names. */
#include "cli/trace/trace.h"

static int convert_run(const struct cli *c, struct err *e)
{
    return out_copy_of(source_open, c->arg[0], c, c->arg[1], e) ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {ROW_MEMORY, ROWS_OUT, ROW_END};

const struct verb verb_trace_convert = {
    .name = "trace convert",
    .args = "IN OUT",
    .summary = "Writes a trace in another form.",
    .text = "IN is a path, \"-\", \"workload:...\" or \"synth:...\"; OUT is a path or \"-\". In "
            "binary and text, events, their numbers, the names and the identity stay the same. STD "
            "(RAPID's text) has only reads, writes, locks, forks and joins: other events stop the "
            "conversion unless --lossy is given.",
    .examples = "lardsim trace convert program.txt program.lard\n"
                "lardsim trace convert --to text program.lard - | less",
    .options = options,
    .run = convert_run,
};
