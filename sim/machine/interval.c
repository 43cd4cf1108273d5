/* interval.c - statistics by interval of simulated time. A row has the differences of chosen
 * statistics since the row before it, so each column adds up to the statistic of its name. It knows
 * names only: what is to be a column is a line in the list. Rows are written as they come; or,
 * where they are not to be more than so many, kept until the end, and become fewer and longer
 * meanwhile. */
#include "sim/machine/interval.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Behind events, instructions, and what cycles were spent for. */
static const char *const columns[] = {"l1.accesses",
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
                                      "memory.waited"};
/* More columns, if rows are few: marks of the trace, and by core ("%zu") why it does not go on.
 * Columns of zeros are left out then. */
static const char *const marks[] = {"events.kind.phase", "events.kind.gc-begin",
                                    "events.kind.gc-end", "events.kind.roi-begin",
                                    "events.kind.roi-end"};
static const char *const by_core[] = {"wait-lock",   "wait-barrier", "wait-join", "wait-volatile",
                                      "wait-class",  "wait-commit",  "wait-heap", "wait-collection",
                                      "wait-kernel", "wait-window",  "stopped",   "handler"};

enum { ROWS_MOST = 1024, FIRST_LENGTH = 1000 /* cycles; where none is given, and rows are few */ };
struct interval_params {
    uint64_t interval, rows;
};
const struct param interval_param_rows[] = {
    {"interval", PARAM_U64, offsetof(struct interval_params, interval), "0", 0, UINT64_MAX,
     "cycles", NULL,
     "Length of the intervals of simulated time for which intervals.csv in the results folder has "
     "a row each; 0: there is no such file."},
    {"rows", PARAM_U64, offsetof(struct interval_params, rows), "0", 0, ROWS_MOST, "rows", NULL,
     "The most rows of intervals.csv: where there would be more, the intervals double. It has "
     "waiting "
     "by core and the marks of the trace, too. 0: as many as come."},
    PARAM_END,
};

struct intervals {
    struct intervals_env env;
    uint64_t length, most; /* most: 0: as many rows as come */
    sim_cycle start;       /* of the row that is being counted */
    FILE *out;             /* NULL: not yet open */
    struct column {
        char *name; /* owns */
        const uint64_t *field;
        uint64_t was; /* when the row began */
    } * column;       /* owns */
    size_t n, cap;    /* columns: a machine without an L2 has none of it */
    bool found;       /* they are known */
    uint64_t *kept;   /* owns; rows of start, end and the columns */
    size_t rows, rows_cap;
};

struct intervals *intervals_new(const struct intervals_env *env)
{
    struct interval_params p;

    if (config_bind(env->config, "stats", interval_param_rows, &p, env->err) ||
        !(p.interval || p.rows))
        return NULL;
    if (!env->open) {
        err_set(env->err, LARD_CONFIG,
                "stats.%s: intervals.csv goes into the results folder, and there is none; "
                "give --output DIR, or stats.%s=0",
                p.interval ? "interval" : "rows", p.interval ? "interval" : "rows");
        return NULL;
    }
    if (p.rows == 1) {
        err_set(env->err, LARD_CONFIG, "stats.rows: one row is no time line; give 2 or more, or 0");
        return NULL;
    }
    struct intervals *i = xcalloc(1, sizeof *i);
    i->env = *env;
    i->length = env->machine->interval_end = p.interval ? p.interval : FIRST_LENGTH;
    i->most = p.rows;
    return i;
}

void intervals_free(struct intervals *i)
{
    if (!i)
        return;
    for (size_t k = 0; k < i->n; k++)
        free(i->column[k].name);
    free(i->column);
    free(i->kept);
    free(i);
}

/* ---- columns ------------------------------------------------------------------------------- */

/* Takes name over; there is no column of what is not counted. */
static void add_column(struct intervals *i, char *name)
{
    const uint64_t *field = stats_field(i->env.stats, name);

    if (!field) {
        free(name);
        return;
    }
    i->column = xgrow(i->column, i->n, &i->cap, sizeof *i->column);
    i->column[i->n++] = (struct column){.name = name, .field = field};
}

/* At the first row, when all statistics are declared. */
static void find_columns(struct intervals *i)
{
    if (i->found)
        return;
    i->found = true;
    add_column(i, xstrdup("events.total"));
    add_column(i, xstrdup("machine.instructions"));
    for (size_t k = 0; k < SPENTS; k++)
        add_column(i, xasprintf("machine.spent.%s", spent_text[k]));
    for (size_t k = 0; k < ARRAY_SIZE(columns); k++)
        add_column(i, xstrdup(columns[k]));
    for (size_t k = 0; k < ARRAY_SIZE(marks) && i->most; k++)
        add_column(i, xstrdup(marks[k]));
    for (size_t k = 0; k < ARRAY_SIZE(by_core) && i->most; k++)
        for (size_t core = 0; core < i->env.machine->params.cores; core++)
            add_column(i, xasprintf("cores.%s.%zu", by_core[k], core));
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* The file, with its header of the columns that are shown. False: an error is set. */
static bool opened(struct intervals *i, const bool *shown)
{
    if (i->out || i->env.err->code == LARD_OUTPUT)
        return i->out != NULL;
    i->out = i->env.open(i->env.host, i->env.err);
    if (!i->out)
        return false;
    fputs("start,end", i->out);
    for (size_t k = 0; k < i->n; k++)
        if (!shown || shown[k])
            fprintf(i->out, ",%s", i->column[k].name);
    putc('\n', i->out);
    return true;
}

static void print_row(const struct intervals *i, const uint64_t *row, const bool *shown)
{
    fprintf(i->out, "%" PRIu64 ",%" PRIu64, row[0], row[1]);
    for (size_t k = 0; k < i->n; k++)
        if (!shown || shown[k])
            fprintf(i->out, ",%" PRIu64, row[2 + k]);
    putc('\n', i->out);
}

/* Rows that lie in one interval of twice the length become one, until there is room for more. */
static void double_length(struct intervals *i)
{
    const size_t width = i->n + 2;

    while (i->rows == i->most) {
        size_t to = 0;
        i->length = i->length > CYCLE_NEVER / 2 ? CYCLE_NEVER : 2 * i->length;
        for (size_t r = 1; r < i->rows; r++) {
            uint64_t *into = &i->kept[to * width];
            const uint64_t *row = &i->kept[r * width];
            if (into[0] / i->length == (row[1] - 1) / i->length) {
                into[1] = row[1];
                for (size_t k = 2; k < width; k++)
                    into[k] += row[k];
            } else {
                memmove(into + width, row, width * sizeof *row);
                to++;
            }
        }
        i->rows = to + 1;
    }
}

/* Returns the room in which the next row is put together. */
static uint64_t *next_row(struct intervals *i)
{
    const size_t width = i->n + 2;

    if (i->most && i->rows == i->most)
        double_length(i);
    i->kept = xgrow(i->kept, i->rows, &i->rows_cap, width * sizeof *i->kept);
    return &i->kept[i->rows * width];
}

static void write_row(struct intervals *i, sim_cycle end)
{
    find_columns(i);
    if (!i->most && !opened(i, NULL))
        return;
    machine_settle(i->env.machine);
    uint64_t *row = next_row(i);
    row[0] = i->start;
    row[1] = end;
    for (size_t k = 0; k < i->n; k++) {
        struct column *c = &i->column[k];
        row[2 + k] = *c->field - c->was;
        c->was = *c->field;
    }
    if (i->most)
        i->rows++;
    else
        print_row(i, row, NULL);
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
    const sim_cycle from = now - now % i->length; /* the length may have doubled */
    i->env.machine->interval_end = from > CYCLE_NEVER - i->length ? CYCLE_NEVER : from + i->length;
}

static void write_kept(struct intervals *i)
{
    bool *shown = xcalloc(i->n + 1, sizeof *shown);

    for (size_t k = 0; k < i->n; k++) {
        shown[k] = !strcmp(i->column[k].name, "events.total");
        for (size_t r = 0; r < i->rows; r++)
            shown[k] |= i->kept[r * (i->n + 2) + 2 + k] != 0;
    }
    if (opened(i, shown))
        for (size_t r = 0; r < i->rows; r++)
            print_row(i, &i->kept[r * (i->n + 2)], shown);
    free(shown);
}

void intervals_finish(struct intervals *i)
{
    if (!i)
        return;
    write_row(i, u64_max(i->env.machine->cycles, i->start));
    if (i->most)
        write_kept(i);
}
