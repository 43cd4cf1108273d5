/* workload_record.c - lardsim workload record: writes the trace of a workload. */
#include "cli/trace/trace.h"
#include "workloads/measure/measure.h"

static int record_run(const struct cli *c, struct err *e)
{
    return out_copy_of(workload_open, workload_spec(c->arg[0]), c, c->arg[1], e) ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {ROWS_OUT, ROW_END};

const struct verb verb_workload_record = {
    .name = "workload record",
    .args = "NAME[,KEY=VALUE...] OUT",
    .summary = "Writes the trace of a workload.",
    .text = "The same parameters give the same trace. A run of the trace finds what a run of "
            "workload:NAME,KEY=VALUE,... finds, which needs no file.",
    .examples = "lardsim workload record sor,size=medium sor.lard\n"
                "lardsim workload record --to text philosopher -",
    .options = options,
    .run = record_run,
};
