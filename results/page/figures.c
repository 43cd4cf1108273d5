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

static struct figure *add(const struct figures_of *m, enum figure_kind kind, const char *name,
                          const char *title, const char *unit, size_t rows, size_t series)
{
    char *whole = xasprintf("%s%s", m->prefix, name);

    for (unsigned n = 2; is_taken(m->to, whole); n++) {
        free(whole);
        whole = xasprintf("%s%s-%u", m->prefix, name, n);
    }
    struct figure *f = figure_add(m->to, kind, whole, title, unit, rows, series);

    free(whole);
    return f;
}

/* Leaves out series that are 0 everywhere, and rows in which nothing is known. */
static void drop_empty(struct figure *f)
{
    size_t kept = 0, rows = 0;

    for (size_t s = 0; s < f->all_series; s++) {
        bool some = false;
        for (size_t r = 0; r < f->rows; r++)
            some |= fabs(*figure_at(f, r, s)) > 1e-9;
        if (!some) {
            free(f->series[s]);
            f->series[s] = NULL;
        }
    }
    double *value = xcalloc(f->rows * f->all_series + 1, sizeof *value);
    size_t n = 0;
    for (size_t s = 0; s < f->all_series; s++)
        kept += f->series[s] != NULL;
    for (size_t r = 0; r < f->rows; r++) {
        bool some = false;
        for (size_t s = 0; s < f->all_series; s++)
            some |= f->series[s] && !isnan(*figure_at(f, r, s));
        if (!some) {
            free(f->row[r]);
            continue;
        }
        f->row[rows++] = f->row[r];
        for (size_t s = 0; s < f->all_series; s++)
            if (f->series[s])
                value[n++] = *figure_at(f, r, s);
    }
    for (size_t s = 0, to = 0; s < f->all_series; s++)
        if (f->series[s]) {
            f->look[to] = f->look[s];
            f->series[to++] = f->series[s];
        }
    free(f->value);
    f->value = value;
    f->rows = rows;
    f->all_series = kept;
}

/* Ends a figure. False: it is dropped, as there is nothing in it. */
static bool done(const struct figures_of *m)
{
    struct figure *f = &m->to->at[m->to->n - 1];

    drop_empty(f);
    if (f->rows && f->all_series)
        return true;
    struct figures gone = {.at = xmalloc(sizeof *f), .n = 1};
    *gone.at = *f;
    m->to->n--;
    figures_free(&gone);
    return false;
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
        char *name = cell_name(m->s, c);
        figure_row(f, row, name);
        free(name);
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
        figure_row(f, row, a->value[row]);
        for (size_t i = 0; i < m->s->cells; i++) {
            const struct report_cell *c = &m->s->cell[i];
            if (!is_shown(c, overheads) || strcmp(c->label, a->value[row]) != 0)
                continue;
            n++;
            for (size_t p = 0; p < PARTS; p++) {
                double *to = figure_at(f, row, p);
                const double x = study_part(m->s, c, p);
                *to = (isnan(*to) ? 0 : *to) + (isnan(x) ? 0 : x);
            }
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
    struct figure *f = add(m, FIGURE_STACK, overheads ? "overhead" : "time",
                           !overheads ? "Where the time of the cores went"
                           : each     ? "Overhead, by where it goes"
                                      : "Overhead, by where it goes: the mean of each policy",
                           !overheads         ? "percent of the cores' time"
                           : m->s->has_region ? "percent of the region's time without a detector"
                                              : "percent of the time without a detector",
                           each ? overheads ? over : shown : study_policies(m->s)->n, PARTS);
    for (size_t p = 0; p < PARTS; p++)
        figure_series(f, p, report_parts[p].key);
    (each ? parts_by_cell : parts_by_policy)(m, f, overheads);
    (void)done(m);
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
    char *name = xasprintf("by-%zu", axis), *title = xasprintf("Overhead by %s", a->name);
    struct figure *f =
        add(m, FIGURE_BARS, name, title, "percent, the mean of all else", a->n, p->n);

    for (size_t i = 0; i < p->n; i++)
        figure_series(f, i, p->value[i]);
    for (size_t r = 0; r < a->n; r++) {
        figure_row(f, r, a->value[r]);
        for (size_t i = 0; i < p->n; i++)
            if (strcmp(p->value[i], "none") != 0)
                *figure_at(f, r, i) = mean_at(m->s, axis, r, p->value[i]);
    }
    (void)done(m);
    free(name);
    free(title);
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

/* ---- metadata -------------------------------------------------------------------------------- */

static const struct pressure {
    const char *text;
    enum report_measure data, metadata;
    bool both; /* data has the metadata in it */
} traffic[] = {{"L1 accesses", M_L1_DATA, M_L1_METADATA, false},
               {"L1 misses", M_L1_DATA_MISSES, M_L1_METADATA_MISSES, false},
               {"L2 misses", M_L2_DATA_MISSES, M_L2_METADATA_MISSES, false},
               {"L3 misses", M_L3_DATA_MISSES, M_L3_METADATA_MISSES, false},
               {"network bytes", M_NETWORK_DATA, M_NETWORK_METADATA, false},
               {"memory bytes", M_MEMORY_DATA, M_MEMORY_METADATA, false}},
  lines[] = {{"L1 lines", M_L1_RESIDENT, M_L1_RESIDENT_METADATA, true},
             {"L2 lines", M_L2_RESIDENT, M_L2_RESIDENT_METADATA, true},
             {"L3 lines", M_L3_RESIDENT, M_L3_RESIDENT_METADATA, true}};

static void make_pressure(const struct figures_of *m, const char *name, const char *title,
                          const struct pressure *of, size_t n)
{
    const struct report_axis *p = study_policies(m->s);
    struct figure *f =
        add(m, FIGURE_BARS, name, title, "percent of all, the mean of each policy", p->n, n);

    for (size_t k = 0; k < n; k++)
        figure_series(f, k, of[k].text);
    for (size_t r = 0; r < p->n; r++) {
        figure_row(f, r, p->value[r]);
        for (size_t k = 0; k < n && strcmp(p->value[r], "none") != 0; k++) {
            const double data = study_mean(m->s, p->value[r], cell_measure, of[k].data),
                         metadata = study_mean(m->s, p->value[r], cell_measure, of[k].metadata),
                         all = of[k].both ? data : data + metadata;
            *figure_at(f, r, k) = all > 0 ? 100 * metadata / all : NAN;
        }
    }
    (void)done(m);
}

/* ---- races ----------------------------------------------------------------------------------- */

static void make_races(const struct figures_of *m)
{
    static const enum report_measure of[] = {M_RACES, M_FALSE, M_MISSED};
    static const char *const text[] = {"racy accesses", "false", "missed"};
    const struct report_axis *p = study_policies(m->s);
    struct figure *f = add(m, FIGURE_BARS, "races", "Races by policy",
                           "accesses, the mean of all runs", p->n, ARRAY_SIZE(of));

    for (size_t k = 0; k < ARRAY_SIZE(of); k++)
        figure_series(f, k, text[k]);
    for (size_t r = 0; r < p->n; r++) {
        figure_row(f, r, p->value[r]);
        for (size_t k = 0; k < ARRAY_SIZE(of) && strcmp(p->value[r], "none") != 0; k++)
            *figure_at(f, r, k) = study_mean(m->s, p->value[r], cell_measure, of[k]);
    }
    (void)done(m);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* "l1 l2 l3" of "machine.spent.l1 machine.spent.l2 ..."; sums what `value` gives for each reason.
 */
struct reasons {
    double (*value)(const struct reasons *r, const char *reason, size_t length);
    const struct report_run *run;
    size_t row, core;
};

static double sum_reasons(const struct reasons *r, enum report_part part)
{
    static const char spent[] = "machine.spent.";
    double sum = NAN;

    for (const char *at = report_parts[part].patterns; *at;) {
        const size_t n = strcspn(at, " "), before = sizeof spent - 1;
        const double x = r->value(r, at + before, n - before);
        if (!isnan(x))
            sum = (isnan(sum) ? 0 : sum) + x;
        at += n + (at[n] == ' ');
    }
    return sum;
}

/* A reason may be a pattern: "wait-*". */
static bool is_reason(const char *name, size_t have, const char *reason, size_t n)
{
    return reason[n - 1] == '*' ? have >= n - 1 && !strncmp(name, reason, n - 1)
                                : have == n && !strncmp(name, reason, n);
}

static double reason_of_core(const struct reasons *r, const char *reason, size_t n)
{
    char *tail = xasprintf(".%zu", r->core);
    double sum = NAN;

    for (size_t i = 0; i < r->run->stats.n; i++) {
        const struct report_fact *f = &r->run->stats.at[i];
        const char *dot = strrchr(f->name, '.');
        if (strncmp(f->name, "cores.", 6) != 0 || !dot || strcmp(dot, tail) != 0 ||
            dot < f->name + 6 || !is_reason(f->name + 6, (size_t)(dot - f->name) - 6, reason, n))
            continue;
        sum = (isnan(sum) ? 0 : sum) + strtod(f->text, NULL);
    }
    free(tail);
    return sum;
}

static void make_cores(const struct figures_of *m, const struct report_run *run)
{
    const char *text = facts_find(&run->stats, "machine.cores");
    const size_t cores = text ? strtoul(text, NULL, 10) : 0;
    char *title = xasprintf("Each core's time: %s", run->name),
         *name = xasprintf("cores-%s", run->name);

    if (cores && cores <= CORES_SHOWN) {
        struct figure *f =
            add(m, FIGURE_STACK, name, title, "percent of the run's cycles", cores, PARTS);
        for (size_t p = 0; p < PARTS; p++)
            figure_series(f, p, report_parts[p].key);
        for (size_t c = 0; c < cores; c++) {
            struct reasons r = {.value = reason_of_core, .run = run, .core = c};
            char *core = xasprintf("core %zu", c);
            const char *cycles = facts_find(&run->stats, "machine.cycles");
            figure_row(f, c, core);
            free(core);
            for (size_t p = 0; p < PARTS; p++)
                *figure_at(f, c, p) = 100 * sum_reasons(&r, (enum report_part)p) /
                                      (cycles ? strtod(cycles, NULL) : NAN);
        }
        (void)done(m);
    }
    free(title);
    free(name);
}

static double reason_at_time(const struct reasons *r, const char *reason, size_t n)
{
    static const char spent[] = "machine.spent.";
    const struct report_series *t = r->run->time;
    double sum = NAN;

    for (size_t i = 0; i < t->columns; i++)
        if (!strncmp(t->name[i], spent, sizeof spent - 1) &&
            is_reason(t->name[i] + sizeof spent - 1, strlen(t->name[i]) - sizeof spent + 1, reason,
                      n))
            sum = (isnan(sum) ? 0 : sum) + t->value[r->row * t->columns + i];
    return sum;
}

static void time_row(struct figure *f, const struct report_series *t, size_t row)
{
    char *at = xasprintf("%.0f", t->value[row * t->columns]);

    figure_row(f, row, at);
    free(at);
}

static void make_time(const struct figures_of *m, const struct report_run *run)
{
    const struct report_series *t = run->time;
    char *title = xasprintf("Over time, where the time of the cores goes: %s", run->name),
         *name = xasprintf("timeline-%s", run->name);
    struct figure *f = add(m, FIGURE_COLUMNS, name, title, "percent", t->rows, PARTS);

    for (size_t p = 0; p < PARTS; p++)
        figure_series(f, p, report_parts[p].key);
    for (size_t r = 0; r < t->rows; r++) {
        double all = 0;
        time_row(f, t, r);
        for (size_t p = 0; p < PARTS; p++) {
            const struct reasons what = {.value = reason_at_time, .run = run, .row = r};
            *figure_at(f, r, p) = sum_reasons(&what, (enum report_part)p);
            all += isnan(*figure_at(f, r, p)) ? 0 : *figure_at(f, r, p);
        }
        for (size_t p = 0; p < PARTS && all > 0; p++)
            *figure_at(f, r, p) *= 100 / all;
    }
    (void)done(m);
    free(title);
    free(name);
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
    char *title = xasprintf("Over time, how long each core waits or is stopped: %s", run->name),
         *name = xasprintf("waiting-%s", run->name);
    struct figure *f = add(m, FIGURE_HEAT, name, title, "percent", t->rows, cores);
    for (size_t c = 0; c < cores; c++) {
        char *core = xasprintf("core %zu", c);
        figure_series(f, c, core);
        free(core);
    }
    for (size_t r = 0; r < t->rows; r++) {
        time_row(f, t, r);
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
    (void)done(m);
    free(title);
    free(name);
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
    const struct report_series *t = run->time;
    char *title = xasprintf("Over time, phases and collections: %s", run->name),
         *name = xasprintf("marks-%s", run->name);
    struct figure *f = add(m, FIGURE_COLUMNS, name, title, "how many", t->rows, ARRAY_SIZE(marks));

    for (size_t k = 0; k < ARRAY_SIZE(marks); k++)
        figure_series(f, k, marks[k].text);
    for (size_t r = 0; r < t->rows; r++) {
        time_row(f, t, r);
        for (size_t k = 0; k < ARRAY_SIZE(marks); k++)
            *figure_at(f, r, k) = series_at(t, r, marks[k].column);
    }
    (void)done(m);
    free(title);
    free(name);
}

/* ---- tables of papers ------------------------------------------------------------------------ */

static void make_column(const struct figures_of *m, const char *column, size_t which)
{
    const struct report_study *s = m->s;
    char *name = xasprintf("%s-%zu", s->name, which), *title = xasprintf("%s: %s", s->name, column);
    struct figure *f = add(m, FIGURE_BARS, name, title, "as in the paper", s->rows, 2);
    size_t row = 0;

    figure_series(f, 0, "the paper");
    figure_series(f, 1, "ours");
    for (size_t i = 0; i < s->rows; i++)
        if (!strcmp(s->row[i].column, column)) {
            figure_row(f, row, s->row[i].program);
            *figure_at(f, row, 0) = s->row[i].paper;
            *figure_at(f, row, 1) = s->row[i].ours;
            row++;
        }
    (void)done(m);
    free(name);
    free(title);
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
    make_pressure(&m, "metadata-traffic", "How much of each level's traffic is metadata", traffic,
                  ARRAY_SIZE(traffic));
    make_pressure(&m, "metadata-lines", "How much of each cache holds metadata, at the end", lines,
                  ARRAY_SIZE(lines));
    make_races(&m);
    for (size_t i = 0; i < s->runs && s->kind == STUDY_RUNS; i++)
        make_cores(&m, &s->run[i]);
    for (size_t i = 0; i < s->runs; i++)
        if (s->run[i].time) {
            make_time(&m, &s->run[i]);
            make_waiting(&m, &s->run[i]);
            make_marks(&m, &s->run[i]);
        }
}
