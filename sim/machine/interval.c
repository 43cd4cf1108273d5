/* interval.c - statistics by interval of simulated time. A row has the differences of chosen
 * statistics since the row before it, so each column adds up to the statistic of its name. It knows
 * names only: what is to be a column is a line in the list. */
#include "sim/machine/interval.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const columns[] = {
    "events.total",
    "machine.instructions",
#define SPENT(NAME, text, help) "machine.spent." text,
#include "sim/machine/spent.def"
#undef SPENT
    "l1.accesses",
    "l1.misses",
    "l2.accesses",
    "l2.misses",
    "l3.accesses",
    "l3.misses",
    "network.messages.total",
    "network.bytes.total",
    "memory.reads",
    "memory.writes",
    "coherence.bank-wait-cycles",
    "coherence.line-wait-cycles",
    "network.queue-cycles",
    "memory.waited",
};

struct interval_params {
    uint64_t interval;
};
const struct param interval_param_rows[] = {
    {"interval", PARAM_U64, offsetof(struct interval_params, interval), "0", 0, UINT64_MAX,
     "cycles", NULL,
     "Length of the intervals of simulated time for which intervals.csv in the results folder has "
     "a row each; 0: there is no such file."},
    PARAM_END,
};

struct intervals {
    struct intervals_env env;
    uint64_t length;
    sim_cycle start; /* of the row that is being counted */
    FILE *out;       /* NULL: not yet open */
    struct column {
        const char *name;
        uint64_t was; /* when the row began */
    } column[ARRAY_SIZE(columns)];
    size_t n; /* columns: a machine without an L2 has none of it */
};

struct intervals *intervals_new(const struct intervals_env *env)
{
    struct interval_params p;

    if (config_bind(env->config, "stats", interval_param_rows, &p, env->err) || !p.interval)
        return NULL;
    if (!env->open) {
        err_set(env->err, LARD_CONFIG,
                "stats.interval: intervals.csv goes into the results folder, and there is none; "
                "give --output DIR, or stats.interval=0");
        return NULL;
    }
    struct intervals *i = xcalloc(1, sizeof *i);
    i->env = *env;
    i->length = env->machine->interval_end = p.interval;
    return i;
}

void intervals_free(struct intervals *i)
{
    free(i);
}

/* Which columns there are, and the header: at the first row, when all statistics are declared.
 * False: an error is set. */
static bool opened(struct intervals *i)
{
    uint64_t value;

    if (i->out || i->env.err->code == LARD_OUTPUT)
        return i->out != NULL;
    i->out = i->env.open(i->env.host, i->env.err);
    if (!i->out)
        return false;
    fputs("start,end", i->out);
    for (size_t k = 0; k < ARRAY_SIZE(columns); k++)
        if (stats_value(i->env.stats, columns[k], &value)) {
            i->column[i->n++].name = columns[k];
            fprintf(i->out, ",%s", columns[k]);
        }
    putc('\n', i->out);
    return true;
}

static void write_row(struct intervals *i, sim_cycle end)
{
    if (!opened(i))
        return;
    machine_settle(i->env.machine);
    fprintf(i->out, "%" PRIu64 ",%" PRIu64, i->start, end);
    for (size_t k = 0; k < i->n; k++) {
        struct column *c = &i->column[k];
        uint64_t now = c->was;
        stats_value(i->env.stats, c->name, &now);
        fprintf(i->out, ",%" PRIu64, now - c->was);
        c->was = now;
    }
    putc('\n', i->out);
    i->start = end;
}

/* Intervals in which nothing began are one row, so that there are not more rows than events. */
void intervals_pass(struct intervals *i, sim_cycle now)
{
    if (!i || now < i->env.machine->interval_end)
        return;
    const sim_cycle last = now - now % i->length;
    write_row(i, i->env.machine->interval_end);
    if (last > i->start)
        write_row(i, last);
    i->env.machine->interval_end = last > CYCLE_NEVER - i->length ? CYCLE_NEVER : last + i->length;
}

void intervals_finish(struct intervals *i)
{
    if (i)
        write_row(i, i->env.machine->cycles > i->start ? i->env.machine->cycles : i->start);
}
