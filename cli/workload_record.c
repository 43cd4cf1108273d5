/* workload_record.c - lardsim workload record: writes the trace of a workload. */
#include "cli/trace/trace.h"
#include "workloads/measure/measure.h"

static int record_run(const struct cli *c, struct err *e)
{
    return out_copy_of(workload_open, workload_spec(c->arg[0]), c, c->arg[1], e) ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {ROWS_OUT, ROW_END};

const struct verb verb_workload_record = {
    .help = &verb_help[HELP_workload_record], .options = options, .run = record_run};
