/* overhead.c - the one definition of an overhead. */
#include "results/read/overhead.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/mem.h"

const char *const overhead_name[OVERHEADS] = {
    [OVERHEAD] = "overhead", [OVERHEAD_WHOLE] = "overhead-whole"};
const char overhead_measured_name[] = "measured";

void run_time_take(struct run_time *t, const char *stat, const char *value)
{
    if (!value)
        return;
    if (!strcmp(stat, RUN_TIME_WHOLE)) {
        t->whole = strtoull(value, NULL, 10);
        t->has_whole = true;
    } else if (!strcmp(stat, RUN_TIME_REGION)) {
        t->region = strtoull(value, NULL, 10);
        t->has_region = true;
    }
}

struct run_time run_time_of(const struct cell_stats *s)
{
    struct run_time t = {0};

    run_time_take(&t, RUN_TIME_WHOLE, cell_stats_find(s, RUN_TIME_WHOLE));
    run_time_take(&t, RUN_TIME_REGION, cell_stats_find(s, RUN_TIME_REGION));
    return t;
}

const char *run_time_measured(const struct run_time *t)
{
    return !t->has_whole ? "" : t->has_region ? "region" : "run";
}

struct overhead overhead_of(const struct run_time *with, const struct run_time *without,
                            enum overhead_of which)
{
    static const struct overhead unknown = {0, 0};

    if (!with->has_whole || !without->has_whole)
        return unknown;
    if (which == OVERHEAD_WHOLE || !(with->has_region || without->has_region))
        return (struct overhead){with->whole, without->whole};
    /* A run that stopped before its region can't be compared with the other's region. */
    return with->has_region && without->has_region
               ? (struct overhead){with->region, without->region}
               : unknown;
}

double overhead_value(struct overhead o)
{
    return o.without ? (double)o.with / (double)o.without - 1 : NAN;
}

char *overhead_text(struct overhead o)
{
    return o.without ? csv_excess(o.with, o.without) : xstrdup("");
}
