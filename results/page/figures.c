/* figures.c - the pictures of a study. Each is made of means over cells, and only where there is
 * something to be seen. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/page/report.h"

enum {
    CELLS_SHOWN = 12, /* each by itself; more are means */
    VALUES_SHOWN = 16,
    AXES_SHOWN = 4,
    CORES_SHOWN = 64
};

struct figures_of {
    struct figures *to;
    const struct report_study *s;
    const char *prefix;
};

static bool is_taken(const struct figures *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (!strcmp(f->at[i].name, name))
            return true;
    return false;
}

/* Adds a figure, whose name it takes, and makes that one that no other has; takes the title. */
static struct figure *figure_begin(const struct figures_of *m, enum figure_kind kind, char *name,
                                   char *title, const char *unit, size_t rows, size_t series)
{
    char *whole = xasprintf("%s%s", m->prefix, name);

    for (unsigned n = 2; is_taken(m->to, whole); n++) {
        free(whole);
        whole = xasprintf("%s%s-%u", m->prefix, name, n);
    }
    free(name);
    return figure_add(m->to, kind, whole, title, unit, rows, series);
}

/* Leaves out series that are 0 everywhere, and rows in which nothing is known. */
static void drop_empty(struct figure *f)
{
    const size_t all = f->all_series;
    size_t kept = 0, rows = 0, n = 0;

    for (size_t s = 0; s < all; s++) {
        bool some = false;
        for (size_t r = 0; r < f->rows; r++)
            some |= fabs(*figure_at(f, r, s)) > 1e-9;
        kept += some;
        if (!some) {
            free(f->series[s]);
            f->series[s] = NULL;
        }
    }
    for (size_t r = 0; r < f->rows; r++) {
        bool some = false;
        for (size_t s = 0; s < all; s++)
            some |= f->series[s] && !isnan(*figure_at(f, r, s));
        if (!some) {
            free(f->row[r]);
            continue;
        }
        f->row[rows++] = f->row[r];
        for (size_t s = 0; s < all; s++)
            if (f->series[s])
                f->value[n++] = *figure_at(f, r, s); /* never behind what is still to be read */
    }
    for (size_t s = 0, to = 0; s < all; s++)
        if (f->series[s]) {
            f->look[to] = f->look[s];
            f->series[to++] = f->series[s];
        }
    f->rows = rows;
    f->all_series = kept;
}

/* Ends a figure; it is dropped if there is nothing in it. */
static void figure_end(const struct figures_of *m)
{
    struct figure *f = &m->to->at[m->to->n - 1];

    drop_empty(f);
    if (f->rows && f->all_series)
        return;
    struct figures gone = {.at = xmalloc(sizeof *f), .n = 1};
    *gone.at = *f;
    m->to->n--;
    figures_free(&gone);
}

static void name_parts(struct figure *f)
{
    for (size_t p = 0; p < PARTS; p++)
        f->series[p] = xstrdup(report_parts[p].key);
}

static void add_to(struct figure *f, size_t row, size_t part, double x)
{
    double *to = figure_at(f, row, part);

    *to = or_none(*to) + x;
}

/* ---- what it costs --------------------------------------------------------------------------- */

static char *cell_name(const struct report_study *s, const struct report_cell *c)
{
    char *name = xstrdup(c->label);

    for (size_t i = 0; i < s->axes; i++) {
        if (s->axis[i].n < 2 || !strcmp(s->axis[i].name, "policy") || !*c->point[i])
            continue;
        const bool number = s->axis[i].numbers, policy = !strncmp(s->axis[i].name, "policy.", 7);
        const char *value = c->point[i] + (strncmp(c->point[i], "workload:", 9) ? 0 : 9);
        char *part = number || policy ? xasprintf("%s=%s", s->axis[i].name, value) : xstrdup(value);
        xappend(&name, ", ", part);
        free(part);
    }
    return name;
}

static bool is_shown(const struct report_cell *c, bool overheads)
{
    return !isnan(c->of[M_CYCLES]) && !(overheads && (cell_is_none(c) || isnan(c->overhead)));
}

static void parts_by_cell(const struct figures_of *m, struct figure *f, bool overheads)
{
    size_t row = 0;

    for (size_t i = 0; i < m->s->cells; i++) {
        const struct report_cell *c = &m->s->cell[i];
        if (!is_shown(c, overheads))
            continue;
        f->row[row] = cell_name(m->s, c);
        for (size_t p = 0; p < PARTS; p++)
            *figure_at(f, row, p) = study_part(m->s, c, p);
        row++;
    }
}

static void parts_by_policy(const struct figures_of *m, struct figure *f, bool overheads)
{
    const struct report_axis *a = study_policies(m->s);

    for (size_t row = 0; row < a->n; row++) {
        size_t n = 0;
        f->row[row] = xstrdup(a->value[row]);
        for (size_t i = 0; i < m->s->cells; i++) {
            const struct report_cell *c = &m->s->cell[i];
            if (!is_shown(c, overheads) || strcmp(c->label, a->value[row]) != 0)
                continue;
            n++;
            for (size_t p = 0; p < PARTS; p++)
                add_to(f, row, p, or_none(study_part(m->s, c, p)));
        }
        for (size_t p = 0; p < PARTS && n; p++)
            *figure_at(f, row, p) /= (double)n;
    }
}

static void make_parts(const struct figures_of *m)
{
    size_t shown = 0, over = 0;

    for (size_t i = 0; i < m->s->cells; i++) {
        shown += is_shown(&m->s->cell[i], false);
        over += is_shown(&m->s->cell[i], true);
    }
    const bool overheads = over > 0, each = (overheads ? over : shown) <= CELLS_SHOWN;
    if (!shown)
        return;
    struct figure *f =
        figure_begin(m, FIGURE_STACK, xstrdup(overheads ? "overhead" : "time"),
                     xstrdup(!overheads ? "Where the time of the cores went"
                             : each     ? "Overhead, by where it goes"
                                        : "Overhead, by where it goes: the mean of each policy"),
                     !overheads         ? "percent of the cores' time"
                     : m->s->has_region ? "percent of the region's time without a detector"
                                        : "percent of the time without a detector",
                     each ? overheads ? over : shown : study_policies(m->s)->n, PARTS);
    name_parts(f);
    (each ? parts_by_cell : parts_by_policy)(m, f, overheads);
    figure_end(m);
}

/* ---- by axis --------------------------------------------------------------------------------- */

static double mean_at(const struct report_study *s, size_t axis, size_t value, const char *policy)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++) {
        const struct report_cell *c = &s->cell[i];
        if (c->place[axis] != value || strcmp(c->label, policy) != 0 || isnan(c->overhead))
            continue;
        sum += 100 * c->overhead;
        n++;
    }
    return n ? sum / (double)n : NAN;
}

static void make_axis(const struct figures_of *m, size_t axis)
{
    const struct report_axis *a = &m->s->axis[axis], *p = study_policies(m->s);
    struct figure *f = figure_begin(m, FIGURE_BARS, xasprintf("by-%zu", axis),
                                    xasprintf("Overhead by %s", a->name),
                                    "percent, the mean of all else", a->n, p->n);

    for (size_t i = 0; i < p->n; i++)
        f->series[i] = xstrdup(p->value[i]);
    for (size_t r = 0; r < a->n; r++) {
        f->row[r] = xstrdup(a->value[r]);
        for (size_t i = 0; i < p->n; i++)
            if (strcmp(p->value[i], "none") != 0)
                *figure_at(f, r, i) = mean_at(m->s, axis, r, p->value[i]);
    }
    figure_end(m);
}

/* Makes figures of the axes with the largest effect on the overhead, the largest first. */
static void make_axes(const struct figures_of *m)
{
    bool *made = xcalloc(m->s->axes + 1, sizeof *made);

    for (size_t n = 0; n < AXES_SHOWN && m->s->cells > CELLS_SHOWN; n++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < m->s->axes; i++) {
            const struct report_axis *a = &m->s->axis[i];
            if (made[i] || a->n < 2 || a->n > VALUES_SHOWN || !strcmp(a->name, "policy") ||
                a->same == a->groups || !a->has_overhead)
                continue;
            if (best == SIZE_MAX || a->overhead > m->s->axis[best].overhead)
                best = i;
        }
        if (best == SIZE_MAX)
            break;
        made[best] = true;
        make_axis(m, best);
    }
    free(made);
}

/* ---- metadata and races: a bar for each policy ------------------------------------------------
 */

static const struct policy_bar {
    const char *text;
    enum { BAR_ITSELF, BAR_OF_ALL, BAR_OF_BOTH } as; /* or percent of `all`, or of both together */
    enum report_measure of, all;
} traffic[] = {{"L1 accesses", BAR_OF_BOTH, M_L1_METADATA, M_L1_DATA},
               {"L1 misses", BAR_OF_BOTH, M_L1_METADATA_MISSES, M_L1_DATA_MISSES},
               {"L2 misses", BAR_OF_BOTH, M_L2_METADATA_MISSES, M_L2_DATA_MISSES},
               {"L3 misses", BAR_OF_BOTH, M_L3_METADATA_MISSES, M_L3_DATA_MISSES},
               {"network bytes", BAR_OF_BOTH, M_NETWORK_METADATA, M_NETWORK_DATA},
               {"memory bytes", BAR_OF_BOTH, M_MEMORY_METADATA, M_MEMORY_DATA}},
  lines[] = {{"L1 lines", BAR_OF_ALL, M_L1_RESIDENT_METADATA, M_L1_RESIDENT},
             {"L2 lines", BAR_OF_ALL, M_L2_RESIDENT_METADATA, M_L2_RESIDENT},
             {"L3 lines", BAR_OF_ALL, M_L3_RESIDENT_METADATA, M_L3_RESIDENT}},
  races[] = {{.text = "racy accesses", .of = M_RACES},
             {.text = "false", .of = M_FALSE},
             {.text = "missed", .of = M_MISSED}};

static double bar_of(const struct report_study *s, const char *policy, const struct policy_bar *b)
{
    const double of = study_mean(s, policy, cell_measure, b->of),
                 all =
                     study_mean(s, policy, cell_measure, b->all) + (b->as == BAR_OF_BOTH ? of : 0);

    return b->as == BAR_ITSELF ? of : all > 0 ? 100 * of / all : NAN;
}

static void make_bars(const struct figures_of *m, const char *name, const char *title,
                      const char *unit, const struct policy_bar *bar, size_t n)
{
    const struct report_axis *p = study_policies(m->s);
    struct figure *f = figure_begin(m, FIGURE_BARS, xstrdup(name), xstrdup(title), unit, p->n, n);

    for (size_t k = 0; k < n; k++)
        f->series[k] = xstrdup(bar[k].text);
    for (size_t r = 0; r < p->n; r++) {
        f->row[r] = xstrdup(p->value[r]);
        for (size_t k = 0; k < n && strcmp(p->value[r], "none") != 0; k++)
            *figure_at(f, r, k) = bar_of(m->s, p->value[r], &bar[k]);
    }
    figure_end(m);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* The part to which a statistic of machine.spent belongs; PARTS: to none. */
static size_t part_of(const char *stat)
{
    size_t p = 0;

    while (p < PARTS && !report_matches(report_parts[p].patterns, stat))
        p++;
    return p;
}

/* A figure of one run, named after it. */
static struct figure *add_run(const struct figures_of *m, enum figure_kind kind,
                              const struct report_run *run, const char *name, const char *title,
                              const char *unit, size_t rows, size_t series)
{
    return figure_begin(m, kind, xasprintf("%s-%s", name, run->name),
                        xasprintf("%s: %s", title, run->name), unit, rows, series);
}

/* Adds a statistic like "cores.wait-lock.3" to the part of its core. */
static void add_core(struct figure *f, const char *name, const char *text)
{
    const char *dot = strncmp(name, "cores.", 6) ? NULL : strrchr(name + 6, '.');
    char *end;

    if (!dot)
        return;
    const size_t core = strtoul(dot + 1, &end, 10);
    char *spent = xasprintf("machine.spent.%.*s", (int)(dot - name) - 6, name + 6);
    if (end > dot + 1 && !*end && core < f->rows && part_of(spent) < PARTS)
        add_to(f, core, part_of(spent), strtod(text, NULL));
    free(spent);
}

static void make_cores(const struct figures_of *m, const struct report_run *run)
{
    const char *text = facts_find(&run->stats, "machine.cores"),
               *cycles = facts_find(&run->stats, "machine.cycles");
    const size_t cores = text ? strtoul(text, NULL, 10) : 0;

    if (!cores || cores > CORES_SHOWN)
        return;
    struct figure *f = add_run(m, FIGURE_STACK, run, "cores", "Each core's time",
                               "percent of the run's cycles", cores, PARTS);
    name_parts(f);
    for (size_t i = 0; i < run->stats.n; i++)
        add_core(f, run->stats.at[i].name, run->stats.at[i].text);
    for (size_t c = 0; c < cores; c++) {
        f->row[c] = xasprintf("core %zu", c);
        for (size_t p = 0; p < PARTS; p++)
            *figure_at(f, c, p) = 100 * *figure_at(f, c, p) / (cycles ? strtod(cycles, NULL) : NAN);
    }
    figure_end(m);
}

/* A figure with a row for each stretch of time. */
static struct figure *add_time(const struct figures_of *m, enum figure_kind kind,
                               const struct report_run *run, const char *name, const char *title,
                               const char *unit, size_t series)
{
    const struct report_series *t = run->time;
    struct figure *f = add_run(m, kind, run, name, title, unit, t->rows, series);

    for (size_t r = 0; r < t->rows; r++)
        f->row[r] = xasprintf("%.0f", t->value[r * t->columns]);
    return f;
}

static void make_time(const struct figures_of *m, const struct report_run *run)
{
    const struct report_series *t = run->time;
    struct figure *f = add_time(m, FIGURE_COLUMNS, run, "timeline",
                                "Over time, where the time of the cores goes", "percent", PARTS);

    name_parts(f);
    for (size_t i = 0; i < t->columns; i++) {
        const size_t p = part_of(t->name[i]);
        for (size_t r = 0; r < t->rows && p < PARTS; r++)
            add_to(f, r, p, t->value[r * t->columns + i]);
    }
    for (size_t r = 0; r < t->rows; r++) {
        double all = 0;
        for (size_t p = 0; p < PARTS; p++)
            all += or_none(*figure_at(f, r, p));
        for (size_t p = 0; p < PARTS && all > 0; p++)
            *figure_at(f, r, p) *= 100 / all;
    }
    figure_end(m);
}

/* Returns the core of a column with a name like "cores.wait-lock.3"; SIZE_MAX: the column is not
 * one of waiting. */
static size_t waiting_core(const char *name)
{
    const char *dot = strrchr(name, '.');

    if (strncmp(name, "cores.wait-", 11) != 0 && strncmp(name, "cores.stopped.", 14) != 0)
        return SIZE_MAX;
    return strtoul(dot + 1, NULL, 10);
}

static void make_waiting(const struct figures_of *m, const struct report_run *run)
{
    const struct report_series *t = run->time;
    size_t cores = 0;

    for (size_t i = 0; i < t->columns; i++) {
        const size_t core = waiting_core(t->name[i]);
        if (core != SIZE_MAX && core < CORES_SHOWN && core >= cores)
            cores = core + 1;
    }
    if (!cores)
        return;
    struct figure *f =
        add_time(m, FIGURE_HEAT, run, "waiting",
                 "Over time, how long each core waits or is stopped", "percent", cores);
    for (size_t c = 0; c < cores; c++)
        f->series[c] = xasprintf("core %zu", c);
    for (size_t r = 0; r < t->rows; r++) {
        for (size_t c = 0; c < cores; c++)
            *figure_at(f, r, c) = 0;
        for (size_t i = 0; i < t->columns; i++) {
            const size_t core = waiting_core(t->name[i]);
            if (core < cores)
                *figure_at(f, r, core) += t->value[r * t->columns + i];
        }
    }
    /* Waiting is counted where it ends: what is longer than the row was before it. */
    for (size_t c = 0; c < cores; c++) {
        double before = 0;
        for (size_t r = t->rows; r-- > 0;) {
            const double *value = &t->value[r * t->columns], length = value[1] - value[0],
                         all = *figure_at(f, r, c) + before;
            before = fmax(0, all - length);
            *figure_at(f, r, c) = length > 0 ? 100 * fmin(all, length) / length : 0;
        }
    }
    figure_end(m);
}

/* Marks that the trace makes: phases, collections, regions of interest. */
static void make_marks(const struct figures_of *m, const struct report_run *run)
{
    static const struct {
        const char *column, *text;
    } marks[] = {{"events.kind.phase", "phases"},
                 {"events.kind.gc-begin", "collections begin"},
                 {"events.kind.gc-end", "collections end"},
                 {"events.kind.roi-begin", "regions of interest begin"},
                 {"events.kind.roi-end", "regions of interest end"}};
    struct figure *f = add_time(m, FIGURE_COLUMNS, run, "marks",
                                "Over time, phases and collections", "how many", ARRAY_SIZE(marks));

    for (size_t k = 0; k < ARRAY_SIZE(marks); k++) {
        f->series[k] = xstrdup(marks[k].text);
        for (size_t r = 0; r < run->time->rows; r++)
            *figure_at(f, r, k) = series_at(run->time, r, marks[k].column);
    }
    figure_end(m);
}

/* ---- tables of papers ------------------------------------------------------------------------ */

static void make_column(const struct figures_of *m, const char *column, size_t which)
{
    const struct report_study *s = m->s;
    struct figure *f =
        figure_begin(m, FIGURE_BARS, xasprintf("%s-%zu", s->name, which),
                     xasprintf("%s: %s", s->name, column), "as in the paper", s->rows, 2);
    size_t row = 0;

    f->series[0] = xstrdup("the paper");
    f->series[1] = xstrdup("ours");
    for (size_t i = 0; i < s->rows; i++)
        if (!strcmp(s->row[i].column, column)) {
            f->row[row] = xstrdup(s->row[i].program);
            *figure_at(f, row, 0) = s->row[i].paper;
            *figure_at(f, row++, 1) = s->row[i].ours;
        }
    figure_end(m);
}

static void make_table(const struct figures_of *m)
{
    enum { COLUMNS_SHOWN = 12 };
    size_t shown = 0;

    for (size_t i = 0; i < m->s->rows && shown < COLUMNS_SHOWN; i++) {
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= !strcmp(m->s->row[k].column, m->s->row[i].column);
        if (!seen)
            make_column(m, m->s->row[i].column, shown++);
    }
}

void figures_make(struct figures *to, const struct report_study *s, const char *prefix)
{
    const struct figures_of m = {to, s, prefix};

    if (s->kind == STUDY_TABLE) {
        make_table(&m);
        return;
    }
    make_parts(&m);
    make_axes(&m);
    make_bars(&m, "metadata-traffic", "How much of each level's traffic is metadata",
              "percent of all, the mean of each policy", traffic, ARRAY_SIZE(traffic));
    make_bars(&m, "metadata-lines", "How much of each cache holds metadata, at the end",
              "percent of all, the mean of each policy", lines, ARRAY_SIZE(lines));
    make_bars(&m, "races", "Races by policy", "accesses, the mean of all runs", races,
              ARRAY_SIZE(races));
    for (size_t i = 0; i < s->runs && s->kind == STUDY_RUNS; i++)
        make_cores(&m, &s->run[i]);
    for (size_t i = 0; i < s->runs; i++)
        if (s->run[i].time) {
            make_time(&m, &s->run[i]);
            make_waiting(&m, &s->run[i]);
            make_marks(&m, &s->run[i]);
        }
}
