/* collect.c - lardsim sweep collect: the cells that are done as tables, a row each: cells.csv and
 * cells.jsonl with the statistics that are asked for, index.sqlite with all of them. They are made
 * anew from the folders of the cells, each time. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/csv.h"
#include "base/mem.h"
#include "base/text.h"
#include "results/experiment/collect.h"
#include "base/program/print.h"

/* ---- columns -------------------------------------------------------------------------------- */

/* "policy.*.races.accesses" is that of the cell's policy. */
static const char any_policy[] = "policy.*.";

static const char *const standard[] = {"events.total",
                                       RUN_TIME_WHOLE,
                                       RUN_TIME_REGION,
                                       "machine.instructions",
                                       "policy.*.races.accesses",
                                       "policy.*.races.sites",
                                       "policy.*.races.locations",
                                       "l1.misses",
                                       "l2.misses",
                                       "l3.misses",
                                       "network.bytes.total",
                                       "memory.reads",
                                       "memory.writes"};

static const char *heading(const char *stat)
{
    const size_t n = sizeof any_policy - 1;

    return strncmp(stat, any_policy, n) == 0 ? stat + n : stat;
}

/* NULL: the cell has none. */
static const char *chosen_value(const struct cell_stats *s, const char *stat, const char *policy)
{
    const char *rest = heading(stat);

    if (rest == stat)
        return cell_stats_find(s, stat);
    char *name = xasprintf("policy.%s.%s", policy, rest);
    const char *value = cell_stats_find(s, name);
    free(name);
    return value;
}

/* To SQLite A and a are one. */
static bool has_column(const struct collecting *w, const char *stat)
{
    bool has = false;

    for (size_t i = 0; i < w->stats; i++)
        has |= strcasecmp(heading(w->stat[i]), heading(stat)) == 0;
    for (size_t i = LISTED_AXES; i < w->listing->head.n; i++)
        has |= strcasecmp(csv_at(&w->listing->head, i), heading(stat)) == 0;
    return has;
}

static void choose(struct collecting *w, const char *const *stat, size_t stats)
{
    w->stat = xmalloc((ARRAY_SIZE(standard) + stats) * sizeof(char *));
    for (size_t i = 0; i < ARRAY_SIZE(standard); i++)
        w->stat[w->stats++] = standard[i];
    for (size_t i = 0; i < stats; i++)
        if (!has_column(w, stat[i]))
            w->stat[w->stats++] = stat[i];
}

/* ---- rows ----------------------------------------------------------------------------------- */

static enum cell_state *state_of(const struct collecting *w, const char *hash)
{
    const uint64_t *at = map_find(&w->at, strtoull(hash, NULL, 16));

    return at ? &w->state[*at] : NULL;
}

/* Marks a cell as damaged that was as DONE says a moment ago. */
static void has_changed(struct collecting *w, const char *hash, const struct err *why)
{
    *state_of(w, hash) = CELL_DAMAGED;
    w->damaged++;
    print_note("%s", why->text);
}

/* Cells that are baselines are asked for again and again. */
static struct run_time baseline_time(struct collecting *w, const char *hash)
{
    uint64_t *known = map_put(&w->baseline, strtoull(hash, NULL, 16));
    const enum cell_state *state = state_of(w, hash);
    struct err e = {0};
    struct cell_stats s;

    if (*known)
        return w->time[*known - 1];
    if (!state || *state != CELL_DONE)
        return (struct run_time){0};
    w->time = xgrow(w->time, w->times, &w->times_cap, sizeof *w->time);
    w->time[w->times] = (struct run_time){0};
    if (cell_stats_read(&s, w->folder->dir, hash, &e))
        has_changed(w, hash, &e);
    else
        w->time[w->times] = run_time_of(&s);
    cell_stats_free(&s);
    *known = ++w->times;
    return w->time[*known - 1];
}

/* The value of an axis in a row. If all values of the axis are numbers they are written as such,
 * without units. */
static char *axis_value(const struct collecting *w, const struct csv_row *r, size_t column)
{
    uint64_t n;

    if (w->number[column] && number_of_text(csv_at(r, column), &n))
        return xasprintf("%" PRIu64, n);
    return xstrdup(csv_at(r, column));
}

static void find_numbers(struct collecting *w)
{
    const struct listing *l = w->listing;
    uint64_t n;

    w->number = xcalloc(l->head.n + 1, sizeof *w->number);
    for (size_t i = LISTED_AXES; i < l->head.n; i++) {
        w->number[i] = true;
        for (size_t k = 0; k < l->n; k++)
            if (*csv_at(&l->row[k], i) && !number_of_text(csv_at(&l->row[k], i), &n))
                w->number[i] = false;
    }
}

static void add_head(struct table *to, const char *name, bool text)
{
    table_head(to, (struct table_head){.name = name, .text = text});
}

/* The names of the values of fill_row. */
static void fill_head(struct table *to, const struct collecting *w)
{
    const struct csv_row *head = &w->listing->head;

    add_head(to, "cell", true);
    for (size_t i = LISTED_AXES; i < head->n; i++)
        add_head(to, csv_at(head, i), false);
    for (size_t i = LISTED_SOURCE; i < LISTED_AXES; i++)
        add_head(to, csv_at(head, i), i != LISTED_SEED);
    add_head(to, overhead_measured_name, true);
    for (size_t i = 0; i < OVERHEADS; i++)
        add_head(to, overhead_name[i], false);
    for (size_t i = 0; i < w->stats; i++)
        add_head(to, heading(w->stat[i]), false);
    add_head(to, "behaviour", true);
    add_head(to, "findings", true);
}

static void fill_row(struct table *to, struct collecting *w, const struct csv_row *r,
                     const struct cell_stats *s)
{
    const struct run_time time = run_time_of(s),
                          base = baseline_time(w, csv_at(r, LISTED_BASELINE));

    table_text(to, csv_at(r, LISTED_CELL));
    for (size_t i = LISTED_AXES; i < r->n; i++)
        table_take(to, axis_value(w, r, i), w->number[i]);
    table_text(to, csv_at(r, LISTED_SOURCE));
    table_number(to, csv_at(r, LISTED_SEED));
    table_text(to, csv_at(r, LISTED_POLICY));
    table_text(to, run_time_measured(&time));
    for (size_t i = 0; i < OVERHEADS; i++)
        table_take(to, overhead_text(overhead_of(&time, &base, (enum overhead_of)i)), true);
    for (size_t i = 0; i < w->stats; i++) {
        const char *value = chosen_value(s, w->stat[i], csv_at(r, LISTED_POLICY));
        table_number(to, value);
        w->found[i] |= value != NULL;
    }
    table_text(to, s->behaviour);
    table_text(to, s->findings);
}

/* ---- the tables ----------------------------------------------------------------------------- */

int table_files_open(struct table_files *to, const struct sweep_folder *f, const char *name,
                     struct err *e)
{
    char *csv = xasprintf("%s.csv", name), *lines = xasprintf("%s.jsonl", name);

    to->csv = sweep_file(f, csv, e);
    to->lines = e->code ? NULL : sweep_file(f, lines, e);
    free(csv);
    free(lines);
    return e->code ? -1 : 0;
}

int table_files_close(struct table_files *to, const struct table *t, bool bad, struct err *e)
{
    if (!bad) {
        table_csv(t, outfile_stream(to->csv));
        table_json_lines(t, outfile_stream(to->lines));
        bad = outfile_commit(to->csv, e);
        to->csv = NULL;
    }
    if (!bad)
        return outfile_commit(to->lines, e);
    outfile_abort(to->csv);
    outfile_abort(to->lines);
    return -1;
}

/* of: the listing's. */
static int write_row(struct collecting *w, size_t of, struct err *e)
{
    const struct csv_row *r = &w->listing->row[of];
    struct cell_stats s;
    struct err changed = {0};

    if (cell_stats_read(&s, w->folder->dir, csv_at(r, LISTED_CELL), &changed)) {
        has_changed(w, csv_at(r, LISTED_CELL), &changed);
    } else {
        fill_row(&w->table, w, r, &s);
        w->row[of] = table_rows(&w->table);
        w->behaviour[of] = s.behaviour ? xstrdup(s.behaviour) : NULL;
        index_row(w->index, &w->table, &s, e);
    }
    cell_stats_free(&s);
    return e->code ? -1 : 0;
}

static int write_rows(struct collecting *w, struct err *e)
{
    int failed = 0;

    for (size_t i = 0; i < w->listing->n && !failed; i++) {
        const struct csv_row *r = &w->listing->row[i];
        w->asked += listing_asked(r);
        if (listing_asked(r) && *state_of(w, csv_at(r, LISTED_CELL)) == CELL_DONE)
            failed = write_row(w, i, e);
    }
    return failed;
}

/* All files are open before one is renewed: those of a sweep are of one time. The index comes
 * first: it can be done without. */
static int collect(struct collecting *w, struct err *e)
{
    struct table_files cells = {NULL, NULL}, means = {NULL, NULL};
    struct table t = {0};

    w->index = index_new(w->folder, &w->table, e);
    bool bad = e->code || write_rows(w, e) || table_files_open(&cells, w->folder, "cells", e);
    w->means = bad ? 0 : means_fill(&t, w);
    bad = bad || (w->means && table_files_open(&means, w->folder, "means", e));
    if (bad)
        index_abort(w->index);
    bad = bad || index_commit(w->index, e);
    bad = table_files_close(&cells, &w->table, bad, e);
    if (w->means || bad)
        bad = table_files_close(&means, &t, bad, e);
    else
        means_remove(w->folder);
    table_free(&t);
    return bad ? -1 : 0;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void warn(const struct collecting *w)
{
    listing_idle(w->listing, w->behaviour, idle_note, NULL);
    for (size_t i = ARRAY_SIZE(standard); i < w->stats; i++)
        if (!w->found[i])
            print_note("warning: no cell has the statistic %s; `lardsim list statistics` shows all",
                       w->stat[i]);
    if (table_rows(&w->table) < w->asked)
        print_note("%zu of %zu cells are not done, and not in the tables",
                   w->asked - table_rows(&w->table), w->asked);
}

static void collecting_free(struct collecting *w)
{
    for (size_t i = 0; w->row && i < w->listing->n; i++)
        free(w->behaviour[i]);
    table_free(&w->table);
    map_free(&w->baseline);
    map_free(&w->at);
    void *const own[] = {w->row, w->behaviour, w->number, w->found, w->stat, w->state, w->time};
    for (size_t i = 0; i < ARRAY_SIZE(own); i++)
        free(own[i]);
}

int sweep_collect(struct sweep_tables *to, const char *dir, const char *const *stat, size_t stats,
                  struct err *e)
{
    const struct sweep_folder f = {.dir = xstrdup(dir), .lock = -1};
    struct listing l;
    struct collecting w = {.folder = &f, .listing = &l};

    if (!listing_read(&l, f.dir, e)) {
        w.state = sweep_states(&f, &l, &w.damaged);
        for (size_t i = 0; i < l.n; i++)
            *map_put(&w.at, strtoull(csv_at(&l.row[i], LISTED_CELL), NULL, 16)) = i;
        choose(&w, stat, stats);
        w.found = xcalloc(w.stats, sizeof *w.found);
        find_numbers(&w);
        fill_head(&w.table, &w);
        w.row = xcalloc(l.n + 1, sizeof *w.row);
        w.behaviour = xcalloc(l.n + 1, sizeof *w.behaviour);
        if (!collect(&w, e)) {
            const size_t cells = table_rows(&w.table);
            warn(&w);
            *to = (struct sweep_tables){cells, w.asked - cells, w.damaged, w.means};
        }
    }
    collecting_free(&w);
    listing_free(&l);
    free(f.dir);
    return e->code ? -1 : 0;
}
