/* diff.c - what differs between two results: configuration, build, statistics, races by identity;
 * and what of it matters. Runs are told apart as their kind does it: those of comparisons by their
 * policy, cells of sweeps by their point. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "base/text.h"
#include "results/page/report.h"
#include "base/program/print.h"

enum { PAIRS_SHOWN = 12, CHANGES_SHOWN = 15, RACES_SHOWN = 15 };

/* ---- which belong together ------------------------------------------------------------------- */

/* Returns the key by which a cell finds its partner; the caller owns it. Axes that only one of two
 * sweeps has are no part of it. */
static char *key_of(const struct report_study *s, const struct report_study *other,
                    const struct report_cell *c)
{
    if (s->kind == STUDY_RUNS)
        return xstrdup(s->runs == 1 && other->runs == 1 ? "" : s->run[c->run].name);
    char *key = xstrdup("");
    for (size_t i = 0; i < s->axes; i++) {
        if (study_axis(other, s->axis[i].name) == SIZE_MAX)
            continue;
        xappend(&key, " ", s->axis[i].name);
        xappend(&key, "=", c->point[i]);
    }
    return key;
}

static void pair_add(struct report_difference *d, const struct report_cell *a,
                     const struct report_cell *b)
{
    d->pair = xgrow(d->pair, d->pairs, &d->pairs_cap, sizeof *d->pair);
    d->pair[d->pairs++] = (struct report_pair){
        .a = &d->a->run[a->run], .b = &d->b->run[b->run], .cell_a = a, .cell_b = b};
}

static void find_pairs(struct report_difference *d)
{
    struct map at = {0};
    size_t runs_a = 0;

    for (size_t i = 0; i < d->b->cells; i++) {
        char *key = key_of(d->b, d->a, &d->b->cell[i]);
        uint64_t *to = map_put(&at, digest_bytes(key, strlen(key)));
        if (!*to)
            *to = i + 1;
        free(key);
    }
    for (size_t i = 0, last = SIZE_MAX; i < d->a->cells; i++) {
        const struct report_cell *c = &d->a->cell[i];
        if (c->run == last) /* another policy of the same run */
            continue;
        last = c->run;
        runs_a++;
        char *key = key_of(d->a, d->b, c);
        uint64_t *to = map_find(&at, digest_bytes(key, strlen(key)));
        if (to && *to) {
            pair_add(d, c, &d->b->cell[*to - 1]);
            *to = 0; /* it has its partner */
        }
        free(key);
    }
    d->only_a = runs_a - d->pairs;
    d->only_b = d->b->runs - d->pairs;
    map_free(&at);
}

/* ---- configuration --------------------------------------------------------------------------- */

/* A finding of the run that had `from` says that going to `to` changes nothing. NULL: none does. */
static const char *finding_for(const struct report_run *run, const char *name, const char *from,
                               const char *to)
{
    const char *sentence = NULL;
    uint64_t x, y;
    const bool numbers = number_of_text(from, &x) && number_of_text(to, &y), up = numbers && y > x,
               times = up && x && y % x == 0;

    for (size_t i = 0; i < run->findings && !sentence; i++) {
        const char *change = finding_knob(&run->finding[i], name);
        if (!change)
            continue;
        const size_t n = strcspn(change, " ");
        if (!strncmp(change, "any", n) || (!strncmp(change, "larger", n) && up) ||
            (!strncmp(change, "smaller", n) && numbers && !up) ||
            (!strncmp(change, "multiple", n) && times) ||
            (strlen(to) == n && !strncmp(change, to, n)))
            sentence = run->finding[i].sentence;
    }
    return sentence;
}

static void judge_setting(const struct report_pair *p, struct report_setting *s)
{
    const char *why = !s->a || !s->b ? NULL : finding_for(p->a, s->name, s->a, s->b);

    if (!why && s->a && s->b)
        why = finding_for(p->b, s->name, s->b, s->a);
    if (changes_nothing(s->name))
        s->verdict = xstrdup("changes no result");
    else if (p->same)
        s->verdict = xstrdup("did not matter: nothing that happened differs");
    else if (why)
        s->verdict = xasprintf("could not matter: %s", why);
    else
        s->verdict = xstrdup("may have mattered");
    s->matters = !strcmp(s->verdict, "may have mattered");
}

static void add_setting(struct report_pair *p, const char *name, const char *a, const char *b)
{
    p->setting = xgrow(p->setting, p->settings, &p->settings_cap, sizeof *p->setting);
    p->setting[p->settings] = (struct report_setting){.name = name, .a = a, .b = b};
    judge_setting(p, &p->setting[p->settings++]);
}

static void find_settings(struct report_pair *p)
{
    const struct facts *a = &p->a->config, *b = &p->b->config;

    for (size_t i = 0; i < a->n; i++) {
        const char *other = facts_find(b, a->at[i].name);
        if (!other || strcmp(other, a->at[i].text) != 0)
            add_setting(p, a->at[i].name, a->at[i].text, other);
    }
    for (size_t i = 0; i < b->n; i++)
        if (!facts_find(a, b->at[i].name))
            add_setting(p, b->at[i].name, NULL, b->at[i].text);
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void compare_numbers(const struct report_difference *d, struct report_pair *p,
                            const char *name, double a, double b)
{
    if (isnan(a) || isnan(b))
        return;
    p->compared++;
    if (a == b)
        return;
    const double percent = a != 0 ? 100 * (b - a) / a : INFINITY;
    if (fabs(percent) <= d->threshold)
        return;
    p->change = xgrow(p->change, p->changes, &p->changes_cap, sizeof *p->change);
    p->change[p->changes++] = (struct report_change){name, a, b, percent};
}

/* True for a statistic of a core, of a region that has its whole beside it, or of a step of a
 * charge: the text has those behind the others. */
static bool is_detail(const char *name)
{
    return !strncmp(name, "roi.", 4) || !strncmp(name, "cores.", 6) || strstr(name, ".core.") ||
           strstr(name, ".steps.");
}

static int by_percent(const void *a, const void *b)
{
    const struct report_change *x = a, *y = b;
    const double far_x = fabs(x->percent), far_y = fabs(y->percent);
    const bool detail_x = is_detail(x->name), detail_y = is_detail(y->name);

    if (detail_x != detail_y)
        return detail_x ? 1 : -1;
    if (far_x != far_y)
        return far_x < far_y ? 1 : -1;
    return strcmp(x->name, y->name);
}

static double number_of(const char *text)
{
    char *end;
    const double x = text ? strtod(text, &end) : NAN;

    return text && end != text && !*end ? x : NAN;
}

static void find_changes(const struct report_difference *d, struct report_pair *p)
{
    const struct facts *a = &p->a->stats, *b = &p->b->stats;

    for (size_t i = 0; i < a->n && b->n; i++)
        compare_numbers(d, p, a->at[i].name, number_of(a->at[i].text),
                        number_of(facts_find(b, a->at[i].name)));
    for (size_t i = 0; i < MEASURES && !(a->n && b->n); i++)
        compare_numbers(d, p, report_measures[i].key, p->cell_a->of[i], p->cell_b->of[i]);
    for (size_t i = 0; i < OVERHEADS; i++)
        compare_numbers(d, p, overhead_name[i], cell_overhead(p->cell_a, i),
                        cell_overhead(p->cell_b, i));
    if (p->changes)
        qsort(p->change, p->changes, sizeof *p->change, by_percent);
}

/* ---- races ----------------------------------------------------------------------------------- */

static bool same_counts(const struct report_race *a, const struct report_race *b)
{
    if (a->counts != b->counts)
        return false;
    for (size_t i = 0; i < a->counts; i++)
        if (strcmp(a->count[i].policy, b->count[i].policy) != 0 || a->count[i].n != b->count[i].n)
            return false;
    return true;
}

static void met_add(struct report_difference *d, const struct report_race *a,
                    const struct report_race *b)
{
    d->met = xgrow(d->met, d->mets, &d->mets_cap, sizeof *d->met);
    d->met[d->mets++] = (struct report_met){a, b};
    d->gone += !b;
    d->come += !a;
    d->moved += a && b;
}

static void find_races(struct report_difference *d)
{
    for (size_t i = 0; i < d->a->races; i++) {
        const struct report_race *b = study_race(d->b, &d->a->race[i]);
        if (!b || !same_counts(&d->a->race[i], b))
            met_add(d, &d->a->race[i], b);
    }
    for (size_t i = 0; i < d->b->races; i++)
        if (!study_race(d->a, &d->b->race[i]))
            met_add(d, NULL, &d->b->race[i]);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const struct report_study *only_study(const struct reported *r, struct err *e)
{
    if (r->n == 1 && r->study[0].kind != STUDY_TABLE)
        return &r->study[0];
    err_set(e, LARD_USAGE,
            "what differs is told of two results folders: of runs, comparisons or "
            "sweeps, one each");
    return NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

int difference_make(struct report_difference *d, const char *const path[2], double threshold,
                    struct err *e)
{
    const int failed =
        reported_read(&d->of[0], &path[0], 1, e) || reported_read(&d->of[1], &path[1], 1, e);

    for (size_t i = 0; i < d->of[1].faults.n; i++)
        fault_add(&d->of[0].faults, "%s", d->of[1].faults.at[i]);
    if (failed)
        return -1;
    d->threshold = threshold;
    d->a = only_study(&d->of[0], e);
    d->b = d->a ? only_study(&d->of[1], e) : NULL;
    if (!d->b)
        return -1;
    d->name_a = d->a->name;
    d->name_b = d->b->name;
    if (d->a->kind != d->b->kind)
        return err_set(e, LARD_USAGE, "%s and %s are of two kinds: a sweep, and none", d->name_a,
                       d->name_b);
    find_pairs(d);
    for (size_t i = 0; i < d->pairs; i++) {
        struct report_pair *p = &d->pair[i];
        p->same = same_text(p->a->behaviour, p->b->behaviour);
        d->differing += !p->same;
        find_settings(p);
        find_changes(d, p);
    }
    find_races(d);
    return 0;
}

void difference_free(struct report_difference *d)
{
    for (size_t i = 0; i < d->pairs; i++) {
        for (size_t k = 0; k < d->pair[i].settings; k++)
            free(d->pair[i].setting[k].verdict);
        free(d->pair[i].setting);
        free(d->pair[i].change);
    }
    free(d->pair);
    free(d->met);
    reported_free(&d->of[0]);
    reported_free(&d->of[1]);
}

/* ---- what it comes to ------------------------------------------------------------------------ */

struct telling_lines {
    void (*fn)(void *arg, const char *line);
    void *arg;
};

static PRINTF_LIKE(2, 3) void tell(const struct telling_lines *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    char *text = xvasprintf(fmt, ap);
    va_end(ap);
    t->fn(t->arg, text);
    free(text);
}

static void say_measure(const struct telling_lines *t, const struct report_pair *p,
                        enum report_measure m)
{
    const double a = p->cell_a->of[m], b = p->cell_b->of[m];

    if (isnan(a) || isnan(b) || a == b)
        return;
    if (a != 0)
        tell(t, "%s of %s: from %.10g to %.10g (%+.2f %%)", report_measures[m].key,
             p->cell_a->label, a, b, 100 * (b - a) / a);
    else
        tell(t, "%s of %s: from 0 to %.10g", report_measures[m].key, p->cell_a->label, b);
}

static void say_overhead(const struct telling_lines *t, const struct report_pair *p,
                         enum overhead_of which)
{
    const double a = cell_overhead(p->cell_a, which), b = cell_overhead(p->cell_b, which);

    if (!isnan(a) && !isnan(b) && a != b)
        tell(t, "%s of %s: from %.1f %% to %.1f %% (%+.1f points)", overhead_name[which],
             p->cell_a->label, 100 * a, 100 * b, 100 * (b - a));
}

static void say_numbers(const struct telling_lines *t, const struct report_difference *d)
{
    static const enum report_measure heads[] = {M_CYCLES, M_RACES, M_METADATA_PEAK};
    size_t said = 0;

    for (size_t i = 0; i < d->pairs && said < PAIRS_SHOWN; i++) {
        const struct report_pair *p = &d->pair[i];
        if (p->same)
            continue;
        for (size_t k = 0; k < ARRAY_SIZE(heads); k++)
            say_measure(t, p, heads[k]);
        for (size_t k = 0; k < OVERHEADS; k++)
            say_overhead(t, p, (enum overhead_of)k);
        said++;
    }
    if (d->differing > said)
        tell(t, "... and %zu more that differ", d->differing - said);
}

/* Says one of the possible reasons for the differences; the first pair's is as good as any. */
static void say_reasons(const struct telling_lines *t, const struct report_difference *d)
{
    bool build = false, source = false, events = false;
    char *names = NULL;

    for (size_t i = 0; i < d->pairs; i++) {
        const struct report_pair *p = &d->pair[i];
        build |= !same_text(p->a->build, p->b->build);
        source |= !same_text(p->a->source, p->b->source);
        events |= !same_text(p->a->identity, p->b->identity);
        for (size_t k = 0; k < p->settings && i == 0; k++)
            if (p->setting[k].matters && strcmp(p->setting[k].name, "source") != 0)
                xappend(&names, ", ", p->setting[k].name);
    }
    if (names)
        tell(t, "parameters that may be the reason: %s", names);
    if (build)
        tell(t, "the builds differ; that may be a reason");
    if (source)
        tell(t, "the sources differ");
    else if (events)
        tell(t, "the events differ, though the source has the same name: the file has changed, or "
                "each machine has an execution of its own");
    if (!names && !build && !source && !events)
        tell(t, "and nothing that could be the reason: the same build and configuration gave other "
                "results, or one of the folders was changed");
    free(names);
}

void difference_say(const struct report_difference *d, void (*fn)(void *, const char *), void *arg)
{
    const struct telling_lines t = {fn, arg};

    if (!d->pairs)
        tell(&t, "nothing can be compared: no run of one is one of the other");
    else if (!d->differing)
        tell(&t, "nothing that happened differs%s",
             d->pairs > 1 ? ", in any of the runs" : ": both have the same behaviour");
    else if (d->pairs == 1)
        tell(&t, "they differ in what happened");
    else
        tell(&t, "of %zu runs, %zu differ in what happened", d->pairs, d->differing);
    say_numbers(&t, d);
    if (d->gone + d->come + d->moved)
        tell(&t,
             "races: %zu of the first are gone, %zu have come, %zu are as before with other counts",
             d->gone, d->come, d->moved);
    if (d->differing)
        say_reasons(&t, d);
    if (d->only_a + d->only_b)
        tell(&t, "runs without a partner: %zu in the first, %zu in the second", d->only_a,
             d->only_b);
}

/* ---- as text --------------------------------------------------------------------------------- */

static void text_line(void *out, const char *line)
{
    print_visible(out, line);
    fputc('\n', out);
}

static void text_provenance(const struct report_pair *p, const struct telling_lines *t)
{
    const char *const rows[][3] = {{"version", p->a->version, p->b->version},
                                   {"build", p->a->build, p->b->build},
                                   {"compiler", p->a->compiler, p->b->compiler},
                                   {"source", p->a->source, p->b->source},
                                   {"events", p->a->identity, p->b->identity},
                                   {"behaviour", p->a->behaviour, p->b->behaviour}};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (rows[i][1] && rows[i][2] && strcmp(rows[i][1], rows[i][2]) != 0)
            tell(t, "  %-10s%s -> %s", rows[i][0], rows[i][1], rows[i][2]);
}

static void text_pair(const struct report_difference *d, const struct report_pair *p,
                      const struct telling_lines *t)
{
    tell(t, "%s", "");
    tell(t, "%s: %zu parameter%s, and %zu of %zu statistics by more than %.6g %%", p->cell_a->label,
         p->settings, p->settings == 1 ? " differs" : "s differ", p->changes, p->compared,
         d->threshold);
    text_provenance(p, t);
    for (size_t i = 0; i < p->settings; i++) {
        const struct report_setting *s = &p->setting[i];
        tell(t, "  %s: %s -> %s (%s)", s->name, s->a ? s->a : "-", s->b ? s->b : "-", s->verdict);
    }
    for (size_t i = 0; i < p->changes && i < CHANGES_SHOWN; i++) {
        const struct report_change *c = &p->change[i];
        if (isinf(c->percent))
            tell(t, "  %s: 0 -> %.10g", c->name, c->b);
        else
            tell(t, "  %s: %.10g -> %.10g (%+.2f %%)", c->name, c->a, c->b, c->percent);
    }
    if (p->changes > CHANGES_SHOWN)
        tell(t, "  ... and %zu more; --json has all", p->changes - CHANGES_SHOWN);
}

static const char *change_of(const struct report_met *m)
{
    return !m->b ? "gone" : !m->a ? "come" : "counts";
}

static void text_met(const struct report_met *m, const struct telling_lines *t)
{
    const struct report_race *r = m->a ? m->a : m->b;

    tell(t, "  %-6s  %s  %s by %s after %s by %s", change_of(m), r->id,
         r->is.op ? r->is.op : "access", r->is.site ? r->is.site : "?",
         r->earlier.op ? r->earlier.op : "access", r->earlier.site ? r->earlier.site : "?");
}

void difference_text(const struct report_difference *d, FILE *out)
{
    const struct telling_lines t = {text_line, out};
    size_t shown = 0;

    tell(&t, "%s -> %s", d->name_a, d->name_b);
    difference_say(d, text_line, out);
    for (size_t i = 0; i < d->pairs && shown < PAIRS_SHOWN; i++)
        if (!d->pair[i].same || d->pair[i].settings || d->pair[i].changes) {
            text_pair(d, &d->pair[i], &t);
            shown++;
        }
    if (d->mets)
        fputs("\nraces:\n", out);
    for (size_t i = 0; i < d->mets && i < RACES_SHOWN; i++)
        text_met(&d->met[i], &t);
    if (d->mets > RACES_SHOWN)
        tell(&t, "  ... and %zu more; --json has all", d->mets - RACES_SHOWN);
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void json_line(void *j, const char *line)
{
    json_str(j, line);
}

static void json_pair(struct json *j, const struct report_pair *p)
{
    json_object(j);
    JSON_TEXTS(j, {"policy", p->cell_a->label}, {"from", p->a->dir}, {"to", p->b->dir});
    json_key_bool(j, "same", p->same);
    json_key_array(j, "build");
    json_str(j, p->a->build);
    json_str(j, p->b->build);
    json_end(j);
    json_key_array(j, "parameters");
    for (size_t i = 0; i < p->settings; i++) {
        const struct report_setting *s = &p->setting[i];
        json_object(j);
        JSON_TEXTS(j, {"name", s->name}, {"from", s->a}, {"to", s->b}, {"verdict", s->verdict});
        json_end(j);
    }
    json_end(j);
    json_key_u64(j, "compared", p->compared);
    json_key_array(j, "statistics");
    for (size_t i = 0; i < p->changes; i++) {
        json_object(j);
        json_key_str(j, "name", p->change[i].name);
        json_key_double(j, "from", "%.17g", p->change[i].a);
        json_key_double(j, "to", "%.17g", p->change[i].b);
        json_key_double(j, "percent", "%.17g", p->change[i].percent);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void json_met(struct json *j, const struct report_met *m)
{
    const struct report_race *of = m->a ? m->a : m->b;

    json_object(j);
    JSON_TEXTS(j, {"race", of->id}, {"change", change_of(m)}, {"site", of->is.site},
               {"earlier-site", of->earlier.site});
    for (unsigned i = 0; i < 2; i++) {
        const struct report_race *r = i ? m->b : m->a;
        json_key_object(j, i ? "to" : "from");
        for (size_t k = 0; r && k < r->counts; k++)
            json_key_u64(j, r->count[k].policy, r->count[k].n);
        json_end(j);
    }
    json_end(j);
}

void difference_json(const struct report_difference *d, FILE *out)
{
    struct json j;

    json_page(&j, out, "lardsim-difference-1");
    JSON_TEXTS(&j, {"from", d->name_a}, {"to", d->name_b});
    json_key_double(&j, "threshold", "%.17g", d->threshold);
    json_key_array(&j, "summary");
    difference_say(d, json_line, &j);
    json_end(&j);
    JSON_COUNTS(&j, {"differing", d->differing}, {"only-from", d->only_a}, {"only-to", d->only_b});
    json_key_array(&j, "runs");
    for (size_t i = 0; i < d->pairs; i++)
        json_pair(&j, &d->pair[i]);
    json_end(&j);
    json_key_array(&j, "races");
    for (size_t i = 0; i < d->mets; i++)
        json_met(&j, &d->met[i]);
    json_end(&j);
    json_end(&j);
}

/* ---- for verbs ------------------------------------------------------------------------------- */

int difference_threshold(const char *text, double *percent, struct err *e)
{
    char *end = NULL;

    *percent = text ? strtod(text, &end) : 1;
    if (text && (end == text || *end || !(*percent >= 0) || !isfinite(*percent)))
        return err_set(e, LARD_USAGE,
                       "--threshold: \"%s\" is no percentage; write it as 0, 2.5 or 10", text);
    return 0;
}

int difference_verb(const char *const path[2], double threshold, bool json, struct err *e)
{
    struct report_difference d = {0};
    int status = difference_make(&d, path, threshold, e) ? -1 : LARD_DONE;
    const struct report_faults *faults = &d.of[0].faults;

    for (size_t i = 0; i < faults->n; i++)
        print_note("warning: %s", faults->at[i]);
    if (!status) {
        (json ? difference_json : difference_text)(&d, stdout);
        if (faults->n)
            status = err_set(e, LARD_TOLERANCE,
                             "what is whole was compared; not all was, as said above");
    }
    difference_free(&d);
    return status;
}
