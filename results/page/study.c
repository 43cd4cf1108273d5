/* study.c - what cells have in common and what tells them apart: axes, baselines, overheads, and
 * whether an axis mattered. An axis is judged by cells that are alike but for it, so that nothing
 * else can be the reason. */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "base/text.h"
#include "results/page/report.h"

/* ---- axes of runs: parameters that differ ---------------------------------------------------- */

bool changes_nothing(const char *name)
{
    static const char *const aside[] = {"races.max", "stats.", "trace.ahead", "timeline.",
                                        "limits."};

    for (size_t i = 0; i < ARRAY_SIZE(aside); i++)
        if (!strncmp(name, aside[i], strlen(aside[i])))
            return true;
    return false;
}

/* Parameters that change no result, or whose effect is told elsewhere. */
static bool is_aside(const char *name)
{
    return changes_nothing(name) || !strcmp(name, "policies") || !strcmp(name, "source") ||
           !strncmp(name, "compare.", 8) || !strncmp(name, "policy.none.", 12) ||
           !strncmp(name, "policy.truth.", 13);
}

/* The parameter of a policy is nothing to a cell of another. */
static bool is_of(const char *name, const char *label)
{
    const size_t n = strlen(label);

    return strncmp(name, "policy.", 7) != 0 || (!strncmp(name + 7, label, n) && name[7 + n] == '.');
}

static const char *setting_of(const struct report_study *s, const struct report_cell *c,
                              const char *name)
{
    const struct report_run *run = &s->run[c->run];
    const char *text = NULL;

    if (!strcmp(name, "policy"))
        return c->label;
    if (!strcmp(name, "folder"))
        return run->dir;
    if (!strcmp(name, "source"))
        text = run->source;
    else if (is_of(name, c->label))
        text = facts_find(&run->config, name);
    return text ? text : "";
}

static bool differs(const struct report_study *s, const char *name)
{
    const char *first = NULL;

    for (size_t i = 0; i < s->cells; i++) {
        const char *text = setting_of(s, &s->cell[i], name);
        if (!*text)
            continue;
        if (first && strcmp(first, text) != 0)
            return true;
        first = text;
    }
    return false;
}

void study_axis_add(struct report_study *s, const char *name)
{
    if (study_axis(s, name) != SIZE_MAX)
        return;
    s->axis = xgrow(s->axis, s->axes, &s->axes_cap, sizeof *s->axis);
    s->axis[s->axes++] = (struct report_axis){.name = xstrdup(name)};
}

static bool same_point(const struct report_study *s, const struct report_cell *a,
                       const struct report_cell *b)
{
    for (size_t i = 0; i < s->axes; i++)
        if (strcmp(setting_of(s, a, s->axis[i].name), setting_of(s, b, s->axis[i].name)) != 0)
            return false;
    return true;
}

static bool has_twins(const struct report_study *s)
{
    for (size_t i = 0; i < s->cells; i++)
        for (size_t k = 0; k < i; k++)
            if (same_point(s, &s->cell[i], &s->cell[k]))
                return true;
    return false;
}

static void find_axes(struct report_study *s)
{
    study_axis_add(s, "policy");
    if (differs(s, "source"))
        study_axis_add(s, "source");
    for (size_t i = 0; i < s->runs; i++)
        for (size_t k = 0; k < s->run[i].config.n; k++) {
            const char *name = s->run[i].config.at[k].name;
            if (!is_aside(name) && differs(s, name))
                study_axis_add(s, name);
        }
    if (has_twins(s))
        study_axis_add(s, "folder");
    for (size_t i = 0; i < s->cells; i++) {
        struct report_cell *c = &s->cell[i];
        c->point = xcalloc(s->axes, sizeof *c->point);
        for (size_t k = 0; k < s->axes; k++)
            c->point[k] = xstrdup(setting_of(s, c, s->axis[k].name));
    }
}

/* ---- places: values as indices --------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint64_t x = 0, y = 0;

    (void)number_of_text(*(char *const *)a, &x);
    (void)number_of_text(*(char *const *)b, &y);
    return x < y ? -1 : x > y;
}

static void sort_numbers(struct report_axis *a)
{
    uint64_t number;

    a->numbers = a->n > 0;
    for (size_t i = 0; i < a->n; i++)
        a->numbers &= number_of_text(a->value[i], &number);
    if (a->numbers)
        qsort(a->value, a->n, sizeof *a->value, by_number);
}

static uint64_t *text_put(struct map *m, const char *text)
{
    return map_put(m, digest_bytes(text, strlen(text)));
}

static void find_values(struct report_study *s, size_t axis)
{
    struct report_axis *a = &s->axis[axis];
    struct map place = {0}; /* from a value to 1 + its index */

    for (size_t i = 0; i < s->cells; i++) {
        const char *text = s->cell[i].point[axis];
        if (!*text || (*text_put(&place, text))++)
            continue;
        a->value = xgrow((void *)a->value, a->n, &a->cap, sizeof *a->value);
        a->value[a->n++] = xstrdup(text);
    }
    sort_numbers(a);
    for (size_t i = 0; i < a->n; i++)
        *text_put(&place, a->value[i]) = i + 1;
    /* A cell for which the axis has no value has its place behind the last value. */
    for (size_t i = 0; i < s->cells; i++) {
        const char *text = s->cell[i].point[axis];
        s->cell[i].place[axis] = *text ? *text_put(&place, text) - 1 : a->n;
    }
    map_free(&place);
}

/* Hashes the cell's places on all axes but one; `aside` leaves out those that are about policies,
 * too. */
static uint64_t place_hash(const struct report_study *s, const struct report_cell *c, size_t but,
                           bool aside)
{
    struct digest *d = digest_new();

    for (size_t i = 0; i < s->axes; i++)
        if (i != but && !(aside && !strncmp(s->axis[i].name, "policy", 6)))
            digest_add(d, &c->place[i], sizeof c->place[i]);
    const uint64_t value = digest_value(d);
    digest_free(d);
    return value;
}

size_t study_alike(const struct report_study *s, size_t axis, size_t *to)
{
    size_t n = 0;
    struct map of = {0};

    for (size_t i = 0; i < s->cells; i++) {
        uint64_t *at = map_put(&of, place_hash(s, &s->cell[i], axis, false));
        if (!*at)
            *at = ++n;
        to[i] = (size_t)*at - 1;
    }
    map_free(&of);
    return n;
}

/* ---- baselines and overheads ----------------------------------------------------------------- */

bool cell_is_none(const struct report_cell *c)
{
    return !strcmp(c->label, "none");
}

static void find_baselines(struct report_study *s)
{
    struct map none = {0};

    for (size_t i = 0; i < s->cells; i++)
        if (cell_is_none(&s->cell[i]))
            *map_put(&none, place_hash(s, &s->cell[i], SIZE_MAX, true)) = i + 1;
    for (size_t i = 0; i < s->cells; i++) {
        const uint64_t at = *map_put(&none, place_hash(s, &s->cell[i], SIZE_MAX, true));
        s->cell[i].baseline = at ? at - 1 : NO_BASELINE;
    }
    map_free(&none);
}

static void find_overheads(struct report_study *s)
{
    for (size_t i = 0; i < s->cells; i++) {
        struct report_cell *c = &s->cell[i];
        if (c->baseline == NO_BASELINE)
            continue;
        const struct run_time *with = &s->run[c->run].cycles,
                              *without = &s->run[s->cell[c->baseline].run].cycles;
        c->overhead = overhead_value(overhead_of(with, without, OVERHEAD));
        c->overhead_whole = overhead_value(overhead_of(with, without, OVERHEAD_WHOLE));
        s->has_overheads |= !isnan(c->overhead) && !cell_is_none(c);
    }
}

double study_part(const struct report_study *s, const struct report_cell *c, size_t part)
{
    const struct report_cell *base = c->baseline == NO_BASELINE ? NULL : &s->cell[c->baseline];
    const double used = c->of[M_CORES_USED], mine = or_none(c->part[part]);

    if (isnan(c->of[M_CYCLES]) || !(used > 0) || (s->has_overheads && !base))
        return NAN;
    if (!s->has_overheads)
        return 100 * mine / (used * c->of[M_CYCLES]);
    return 100 * (mine / used - or_none(base->part[part]) / base->of[M_CORES_USED]) /
           base->of[M_CYCLES];
}

/* ---- whether an axis mattered ---------------------------------------------------------------- */

struct alike { /* cells that differ in one axis alone */
    size_t cells;
    double least, most, least_over, most_over;
    const char *behaviour;
    bool same;
};

static void alike_add(struct alike *g, const struct report_study *s, const struct report_cell *c)
{
    const char *behaviour = s->run[c->run].behaviour;
    const double cycles = c->of[M_CYCLES];

    if (!g->cells++)
        *g = (struct alike){1,           cycles,    cycles,           c->overhead,
                            c->overhead, behaviour, behaviour != NULL};
    g->least = fmin(g->least, cycles);
    g->most = fmax(g->most, cycles);
    g->least_over = fmin(g->least_over, c->overhead);
    g->most_over = fmax(g->most_over, c->overhead);
    g->same &= behaviour && g->behaviour && !strcmp(behaviour, g->behaviour);
}

static void judge_group(struct report_axis *a, const struct alike *g)
{
    if (g->cells < 2)
        return;
    a->groups++;
    a->same += g->same;
    if (g->least > 0 && g->most / g->least > a->cycles)
        a->cycles = g->most / g->least;
    if (!isnan(g->most_over)) {
        a->has_overhead = true;
        a->overhead = fmax(a->overhead, 100 * (g->most_over - g->least_over));
    }
}

/* A sentence of the runs themselves that says why it could not matter. */
static void find_why(struct report_study *s, struct report_axis *a)
{
    for (size_t i = 0; i < s->runs; i++)
        for (size_t k = 0; k < s->run[i].findings; k++) {
            const struct report_finding *f = &s->run[i].finding[k];
            if (!f->sentence || !finding_knob(f, a->name))
                continue;
            if (!a->why)
                a->why = xstrdup(f->sentence);
            a->why_of++;
            break;
        }
}

const char *finding_knob(const struct report_finding *f, const char *name)
{
    const size_t n = strlen(name);

    for (const char *at = f->knobs; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (!strncmp(at, name, n) && at[n] == ':')
            return at + n + 1;
    }
    return NULL;
}

static void judge_axis(struct report_study *s, size_t axis)
{
    struct report_axis *a = &s->axis[axis];
    struct alike *group = xcalloc(s->cells + 1, sizeof *group);
    size_t *of = xcalloc(s->cells + 1, sizeof *of);
    const size_t n = study_alike(s, axis, of);

    for (size_t i = 0; i < s->cells; i++)
        if (s->cell[i].place[axis] != a->n)
            alike_add(&group[of[i]], s, &s->cell[i]);
    for (size_t i = 0; i < n; i++)
        judge_group(a, &group[i]);
    free(of);
    free(group);
    find_why(s, a);
}

/* ---- the whole ------------------------------------------------------------------------------- */

size_t study_axis(const struct report_study *s, const char *name)
{
    for (size_t i = 0; i < s->axes; i++)
        if (!strcmp(s->axis[i].name, name))
            return i;
    return SIZE_MAX;
}

const struct report_axis *study_policies(const struct report_study *s)
{
    return &s->axis[study_axis(s, "policy")];
}

void study_complete(struct report_study *s)
{
    if (s->kind == STUDY_TABLE)
        return;
    if (s->kind == STUDY_RUNS)
        find_axes(s);
    for (size_t i = 0; i < s->cells; i++)
        s->cell[i].place = xcalloc(s->axes, sizeof *s->cell[i].place);
    for (size_t i = 0; i < s->axes; i++)
        find_values(s, i);
    if (s->kind == STUDY_RUNS)
        find_baselines(s);
    find_overheads(s);
    for (size_t i = 0; i < s->axes; i++)
        judge_axis(s, i);
}

double cell_overhead(const struct report_cell *c, size_t which)
{
    return which == OVERHEAD ? c->overhead : c->overhead_whole;
}

double cell_measure(const struct report_cell *c, size_t measure)
{
    return c->of[measure];
}

double study_mean(const struct report_study *s, const char *policy,
                  double (*of)(const struct report_cell *c, size_t arg), size_t arg)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++) {
        const double x = strcmp(s->cell[i].label, policy) ? NAN : of(&s->cell[i], arg);
        sum += or_none(x);
        n += isnan(x) ? 0 : 1;
    }
    return n ? sum / (double)n : NAN;
}
