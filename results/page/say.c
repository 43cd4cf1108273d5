/* say.c - a study in sentences: the question that it asks, and the answer, made of its numbers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/page/report.h"
#include "results/drawing/svg.h"

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static bool has_cycles(const struct report_study *s)
{
    for (size_t i = 0; i < s->cells; i++)
        if (s->cell[i].of[M_CYCLES] > 0)
            return true;
    return false;
}

/* Runs of one thing name it. */
static void say_source(FILE *out, const struct report_study *s)
{
    const char *source = s->runs ? s->run[0].source : NULL;
    const size_t axis = study_axis(s, "source");

    if (axis != SIZE_MAX && s->axis[axis].n != 1)
        fprintf(out, "%zu sources", s->axis[axis].n);
    else if (axis != SIZE_MAX)
        markup(out, "<b>%s</b>", s->axis[axis].value[0]);
    else
        markup(out, "<b>%s</b>", source ? source : "an unknown source");
}

/* ---- the question ---------------------------------------------------------------------------- */

static void say_moved(FILE *out, const struct report_study *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->axes; i++) {
        const struct report_axis *a = &s->axis[i];
        if (a->n < 2 || !strcmp(a->name, "policy") || !strcmp(a->name, "source"))
            continue;
        markup(out, "%s<b>%s</b>", n++ ? ", " : ", and what do these change: ", a->name);
    }
}

void say_question(FILE *out, const struct report_study *s)
{
    if (s->kind == STUDY_TABLE) {
        fputs("Does what the paper claims hold here?", out);
        return;
    }
    if (s->has_overheads)
        fputs("What does each detector cost in ", out);
    else if (has_cycles(s))
        fputs("How long does it take, and which accesses race, in ", out);
    else
        fputs("Which accesses race in ", out);
    say_source(out, s);
    say_moved(out, s);
    fputs("?", out);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* The largest part of the mean overhead, which must be most of what is added. */
static size_t largest_part(const struct report_study *s, const char *policy, double *share)
{
    double sum[PARTS] = {0}, all = 0;
    size_t most = 0;

    for (size_t i = 0; i < s->cells; i++)
        for (size_t p = 0; p < PARTS && !strcmp(s->cell[i].label, policy); p++) {
            const double x = study_part(s, &s->cell[i], p);
            sum[p] += or_none(x);
            all += or_none(x);
        }
    for (size_t p = 1; p < PARTS; p++)
        if (sum[p] > sum[most])
            most = p;
    *share = all > 0 ? 100 * sum[most] / all : 0;
    return most;
}

static void say_overhead(FILE *out, const struct report_study *s, const char *policy)
{
    const double mean = study_mean(s, policy, cell_overhead, OVERHEAD);
    double share, least = NAN, most = NAN;
    size_t n = 0;

    if (isnan(mean))
        return;
    for (size_t i = 0; i < s->cells; i++)
        if (!strcmp(s->cell[i].label, policy) && !isnan(s->cell[i].overhead)) {
            least = fmin(least, s->cell[i].overhead);
            most = fmax(most, s->cell[i].overhead);
            n++;
        }
    const size_t part = largest_part(s, policy, &share);
    markup(out, "<li><b>%s</b> adds %.1f %%", policy, 100 * mean);
    if (n > 1)
        fprintf(out, " in the mean of %zu runs, from %.1f to %.1f %%", n, 100 * least, 100 * most);
    if (share > 0 && mean > 0.001)
        fprintf(out, "; %.0f %% of that is %s", share, report_parts[part].key);
    if (s->has_region)
        fprintf(out, "; in the whole run %.1f %%",
                100 * study_mean(s, policy, cell_overhead, OVERHEAD_WHOLE));
    fputs(".</li>\n", out);
}

/* Names the policies from the cheapest to the dearest. */
static void say_overheads(FILE *out, const struct report_study *s)
{
    const struct report_axis *a = study_policies(s);
    const char *cheap = NULL, *dear = NULL;
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < a->n; i++) {
        const double x = study_mean(s, a->value[i], cell_overhead, OVERHEAD);
        if (isnan(x) || !strcmp(a->value[i], "none"))
            continue;
        if (x < least)
            least = x, cheap = a->value[i];
        if (x > most)
            most = x, dear = a->value[i];
    }
    if (!cheap)
        return;
    markup(out, "<b>%s</b> costs %s%.1f %% more cycles than the machine without a detector", cheap,
           cheap == dear ? "" : "least, ", 100 * least);
    if (cheap != dear)
        markup(out, "; <b>%s</b> costs most, %.1f %%", dear, 100 * most);
    fputs(!s->has_region ? ", in the whole run, as no region of interest is marked."
          : s->has_whole ? ", in the region of interest, or in the whole run where none is marked."
                         : ", in the region of interest.",
          out);
}

static void say_races(FILE *out, const struct report_study *s)
{
    const struct report_axis *a = study_policies(s);
    double first = NAN;
    bool same = true;
    size_t n = 0;

    for (size_t i = 0; i < s->cells; i++)
        if (!cell_is_none(&s->cell[i]) && !isnan(s->cell[i].of[M_RACES])) {
            same &= isnan(first) || s->cell[i].of[M_RACES] == first;
            first = s->cell[i].of[M_RACES];
            n++;
        }
    if (!n)
        return;
    if (same) {
        fprintf(out, " %s %.0f racy access%s", n == 1 ? "It finds" : "All find", first,
                first == 1 ? "" : "es");
        if (s->races)
            fprintf(out, " at %zu pair%s of sites", s->races, plural(s->races));
        fputs(".", out);
        return;
    }
    fputs(" Racy accesses, in the mean:", out);
    for (size_t i = 0, told = 0; i < a->n; i++) {
        const double x = study_mean(s, a->value[i], cell_measure, M_RACES);
        if (isnan(x) || !strcmp(a->value[i], "none"))
            continue;
        markup(out, "%s<b>%s</b> %.6g", told++ ? ", " : " ", a->value[i], x);
    }
    fputs(".", out);
}

static void say_wrong(FILE *out, const struct report_study *s)
{
    for (size_t i = 0; i < s->cells; i++) {
        const struct report_cell *c = &s->cell[i];
        const double wrong = c->of[M_FALSE], missed = c->of[M_MISSED];
        if (wrong > 0 || missed > 0)
            markup(out, " <b>%s</b> reports %.0f false and misses %.0f true racy accesses.",
                   c->label, wrong, missed);
    }
}

static void say_machine(FILE *out, const struct report_study *s)
{
    for (size_t i = 0; i < s->cells && s->cells <= 8; i++) {
        const struct report_cell *c = &s->cell[i];
        if (!(c->of[M_CYCLES] > 0))
            continue;
        markup(out,
               "<b>%s</b> runs %.0f cycles on %.0f of %.0f cores, of which the detector takes "
               "%.1f %% of their time. ",
               c->label, c->of[M_CYCLES], c->of[M_CORES_USED], c->of[M_CORES],
               100 * or_none(c->part[P_DETECTOR]) / (c->of[M_CYCLES] * c->of[M_CORES_USED]));
    }
    fputs("Without a run of <code>--policy none</code> there is no overhead to tell.", out);
}

static void say_claims(FILE *out, const struct report_study *s)
{
    size_t holds = 0, fails = 0;

    for (size_t i = 0; i < s->claims; i++) {
        const char *v = s->claim[i].verdict ? s->claim[i].verdict : "";
        holds += !strcmp(v, "holds");
        fails += !strcmp(v, "differs") || !strcmp(v, "FAILS") || !strcmp(v, "fails");
    }
    fprintf(out, "%zu of %zu claims hold, %zu differ", holds, s->claims, fails);
    if (holds + fails < s->claims)
        fprintf(out, ", and of %zu nothing here could tell", s->claims - holds - fails);
    fputs(".", out);
}

void say_answer(FILE *out, const struct report_study *s)
{
    if (s->kind == STUDY_TABLE) {
        say_claims(out, s);
        return;
    }
    if (s->has_overheads)
        say_overheads(out, s);
    else if (has_cycles(s))
        say_machine(out, s);
    say_races(out, s);
    say_wrong(out, s);
    if (!s->has_overheads)
        return;
    fputs("<ul>\n", out);
    for (size_t i = 0; i < study_policies(s)->n; i++)
        if (strcmp(study_policies(s)->value[i], "none") != 0)
            say_overhead(out, s, study_policies(s)->value[i]);
    fputs("</ul>\n", out);
}

/* ---- an axis --------------------------------------------------------------------------------- */

static void say_why(FILE *out, const struct report_axis *a, const char *before)
{
    if (a->why)
        markup(out, "%s%s (so in %zu run%s)", before, a->why, a->why_of, plural(a->why_of));
}

void say_axis(FILE *out, const struct report_axis *a)
{
    if (a->n < 2) {
        fputs("has one value", out);
    } else if (!a->groups) {
        fputs("no two runs are alike but for it: it can't be judged alone", out);
    } else if (a->same == a->groups) {
        fputs("did not matter: where all else is alike, nothing that happened differs", out);
        say_why(out, a, ", as ");
    } else {
        fputs(a->cycles < 1.01 && a->overhead < 1 ? "hardly mattered" : "mattered", out);
        if (a->cycles > 0)
            fprintf(out, ": cycles differ by a factor of up to %.3f", a->cycles);
        if (a->has_overhead)
            fprintf(out, "%s overheads by up to %.1f points", a->cycles > 0 ? ", and" : ":",
                    a->overhead);
        if (a->same)
            fprintf(out, "; in %zu of %zu places nothing that happened differs", a->same,
                    a->groups);
        say_why(out, a, a->same ? ": " : "; in some runs it could not: ");
    }
}
