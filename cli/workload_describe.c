/* workload_describe.c - lardsim workload describe: what a workload is, and what a run of it turns
 * out to be. Planted races are inputs, and are called so; races are counted by policies alone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "workloads/measure/measure.h"

enum { WITHIN = 10 }; /* percent: a target is met */

/* ---- targets -------------------------------------------------------------------------------- */

static int trait_named(const char *name)
{
    for (int i = 0; i < TRAIT_COUNT; i++)
        if (strcmp(trait_info[i].name, name) == 0)
            return i;
    return -1;
}

static double measured(const struct measure *m)
{
    return (double)m->value / (double)m->of;
}

static double target(const struct workload_aim *a)
{
    return (double)a->value / (double)(a->scale ? a->scale : 1);
}

/* The end of the target, in scale, that is nearest to what was measured; within a range that is
 * what was measured. */
static double nearest(const struct workload_aim *a, double is)
{
    const double least = target(a), most = (double)a->most / (double)(a->scale ? a->scale : 1);

    return !a->most || is < least ? least : is < most ? is : most;
}

/* Computes by how many percent of the target a measure is off; a target of 0 counts as 1. false:
 * there is nothing to compare. */
static bool difference(const struct workload_aim *a, const struct measure *m, double *to)
{
    const int trait = trait_named(a->trait);

    if (trait < 0 || m[trait].of == 0)
        return false;
    const double is = measured(&m[trait]), want = nearest(a, is);
    *to = 100 * (is - want) / (want > 0 ? want : 1);
    return true;
}

static bool met(double percent)
{
    return percent <= WITHIN && percent >= -WITHIN;
}

/* The aim for the instructions of an access, itself included: the middle of the range, whatever gap
 * the run was given. */
#define AIM_OF_GAP(gap)                                                                            \
    {                                                                                              \
        "instructions", "per access", workload_gap_middle(gap) + 100, 100, (gap)->from, NULL, 0    \
    }

/* ---- for people ----------------------------------------------------------------------------- */

static void print_head(const struct workload *w)
{
    printf("%s: %s\n", w->name, w->summary);
    if (w->source)
        printf("source    %s (docs/papers.md)\n", w->source);
    printf("races     %s\n", w->racy ? "it has some, unless its parameters say otherwise"
                                     : "none but those that are planted");
    printf("accesses  %u byte%s or more\n", w->granularity ? w->granularity : 8,
           w->granularity == 1 ? "" : "s");
    for (size_t i = 0; i < WORKLOAD_SIZES; i++) {
        char *text = workload_size_text(w, i);
        printf("size      %-8s%s\n", workload_size_names[i], *text ? text : "(the defaults)");
        free(text);
    }
}

/* Prints a parameter's value in the run. arg: the settings of that. */
static void print_param(void *arg, const struct param *p)
{
    char *range = param_range(p), *value = workload_setting(arg, p->name);

    printf("  %-16s%-14s%s%s%s\n  %-16s%s\n", p->name, value && *value ? value : "(empty)",
           range ? range : "", *p->unit ? " " : "", p->unit, "", p->help);
    free(range);
    free(value);
}

static void print_sites(const struct workload *w)
{
    if (!w->sites)
        return;
    puts("\nsites:");
    for (size_t i = 0; w->sites[i]; i++)
        printf("  %s\n", w->sites[i]);
}

static void print_plants(const struct workload *w)
{
    if (!w->plants || !w->plants->site)
        return;
    puts("\nplanted races (an input of the workload; what policies find is counted by policies):");
    for (const struct workload_plant *p = w->plants; p->site; p++)
        printf("  %s and %s: %s\n", p->site, p->other, p->text);
}

static void print_value(const struct measure *m)
{
    if (m->of == 0)
        printf("%16s", "-");
    else if (m->of == 1)
        printf("%16" PRIu64, m->value);
    else
        printf("%16.*f", m->value && measured(m) < 0.01 ? 8 : 2, measured(m));
}

static void print_measures(const char *spec, const struct measure m[TRAIT_COUNT])
{
    printf("\nmeasured in a run of workload:%s:\n", spec);
    for (size_t i = 0; i < TRAIT_COUNT; i++) {
        printf("  %-20s", trait_info[i].name);
        print_value(&m[i]);
        printf(" %-14s %s\n", trait_info[i].unit, trait_info[i].help);
    }
}

static void print_aim(const struct workload_aim *a, const struct measure m[TRAIT_COUNT])
{
    const int trait = trait_named(a->trait);
    const int digits = a->value && target(a) < 0.01 ? 8 : 2;
    double percent;
    char *text = a->most ? xasprintf("%.*f to %.*f", digits, target(a), digits,
                                     (double)a->most / (double)a->scale)
                         : xasprintf("%.*f", digits, target(a));
    printf("  %-20s%16s", a->trait, text);
    free(text);
    print_value(trait >= 0 ? &m[trait] : &(struct measure){0, 0});
    if (difference(a, m, &percent))
        /* A value that would be printed as "-0.0" is 0. */
        printf("%11.1f %%  %-11s", percent > -0.05 && percent < 0 ? 0 : percent,
               met(percent) ? "met" : "not met");
    else
        printf("%13s  %-11s", "-", "not measured");
    printf("  %s; %s\n", a->unit, a->from);
    if (a->why && !(difference(a, m, &percent) && met(percent)))
        printf("  %-20snot reached: %s\n", "", a->why);
}

static void print_base(const struct workload *w)
{
    const struct workload_gap *g = workload_gap(w);

    printf("\nbase program:\n  %-20slow %.2f, mid %.2f, high %.2f instructions between accesses\n"
           "  %-20s%s\n",
           "gap", g->low / 100.0, (double)workload_gap_middle(g) / 100, g->high / 100.0, "source",
           g->from);
    g = &workload_interpreter;
    printf("  %-20slow %.2f, mid %.2f, high %.2f instructions for one of compiled code\n"
           "  %-20s%s\n  %-20s%.2f %% of the time, interpreted%s\n",
           "interpreter", g->low / 100.0, (double)workload_gap_middle(g) / 100, g->high / 100.0,
           "source", g->from, "outside of it", (double)workload_outside(w) / 100,
           w->took.interpreted ? " (goldilocks, Table 1)" : ": not known");
}

static void print_aims(const struct workload *w, const struct measure m[TRAIT_COUNT])
{
    if (!w->aims || !w->aims->trait)
        return;
    printf("\ntargets (met: within %d percent):\n  %-20s%16s%16s%13s\n", WITHIN, "", "target",
           "measured", "difference");
    for (const struct workload_aim *a = w->aims; a->trait; a++)
        print_aim(a, m);
    if (w->gap)
        print_aim(&(struct workload_aim)AIM_OF_GAP(w->gap), m);
}

static void print_text(const struct workload *w, const char *spec, char *settings,
                       const struct measure m[TRAIT_COUNT])
{
    print_head(w);
    puts("\nparameters, as in the run measured below, and their ranges (a size sets those of its "
         "line that are not given):");
    workload_each_param(w, print_param, settings);
    print_sites(w);
    print_plants(w);
    print_base(w);
    print_measures(spec, m);
    print_aims(w, m);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_sites(struct json *j, const struct workload *w)
{
    json_key_array(j, "sites");
    for (size_t i = 0; w->sites && w->sites[i]; i++)
        json_str(j, w->sites[i]);
    json_end(j);
}

static void json_plants(struct json *j, const struct workload *w)
{
    json_key_array(j, "planted-inputs");
    for (const struct workload_plant *p = w->plants; p && p->site; p++) {
        json_object(j);
        JSON_TEXTS(j, {"site", p->site}, {"other", p->other}, {"text", p->text});
        json_end(j);
    }
    json_end(j);
}

static void json_value(struct json *j, const char *key, const struct measure *m)
{
    json_key(j, key);
    m->of == 1 ? json_u64(j, m->value) : json_fixed(j, m->value, m->of);
}

static void json_aim(struct json *j, const struct workload_aim *a,
                     const struct measure m[TRAIT_COUNT])
{
    const int trait = trait_named(a->trait);
    double percent;

    json_object(j);
    JSON_TEXTS(j, {"trait", a->trait}, {"unit", a->unit}, {"from", a->from},
               {"not-reached", a->why});
    json_key_fixed(j, "target", a->value, a->scale ? a->scale : 1);
    if (a->most)
        json_key_fixed(j, "target-most", a->most, a->scale);
    json_value(j, "measured", trait >= 0 ? &m[trait] : &(struct measure){0, 0});
    json_key(j, "met");
    difference(a, m, &percent) ? json_bool(j, met(percent)) : json_null(j);
    json_end(j);
}

static void json_aims(struct json *j, const struct workload *w, const struct measure m[TRAIT_COUNT])
{
    json_key_array(j, "targets");
    for (const struct workload_aim *a = w->aims; a && a->trait; a++)
        json_aim(j, a, m);
    if (w->gap)
        json_aim(j, &(struct workload_aim)AIM_OF_GAP(w->gap), m);
    json_end(j);
}

static void json_base(struct json *j, const struct workload *w)
{
    const struct workload_gap *g = workload_gap(w);

    json_key_object(j, "base-program");
    json_key_str(j, "from", g->from);
    json_key_fixed(j, "gap-low", g->low, 100);
    json_key_fixed(j, "gap-mid", workload_gap_middle(g), 100);
    json_key_fixed(j, "gap-high", g->high, 100);
    json_key_fixed(j, "interpreter", workload_gap_middle(&workload_interpreter), 100);
    json_key_fixed(j, "outside", workload_outside(w), 100);
    json_key_bool(j, "outside-printed", w->took.interpreted);
    json_end(j);
}

struct settings_json {
    struct json *j;
    const char *settings;
};
static void json_setting(void *arg, const struct param *p)
{
    const struct settings_json *to = arg;
    char *value = workload_setting(to->settings, p->name);

    json_key_str(to->j, p->name, value);
    free(value);
}

static void print_json(const struct workload *w, const char *spec, const char *settings,
                       const struct measure m[TRAIT_COUNT])
{
    struct json j;

    json_page(&j, stdout, "lardsim-workload-1");
    JSON_TEXTS(&j, {"name", w->name}, {"summary", w->summary}, {"source", w->source});
    json_key_bool(&j, "racy", w->racy);
    workload_sizes_json(&j, w);
    workload_params_json(&j, w);
    json_sites(&j, w);
    json_plants(&j, w);
    json_base(&j, w);
    json_key_str(&j, "run", spec);
    json_key_object(&j, "settings");
    workload_each_param(w, json_setting, &(struct settings_json){&j, settings});
    json_end(&j);
    json_key_object(&j, "measured");
    for (size_t i = 0; i < TRAIT_COUNT; i++)
        json_value(&j, trait_info[i].name, &m[i]);
    json_end(&j);
    json_aims(&j, w, m);
    json_end(&j);
}

/* ---- the verb ------------------------------------------------------------------------------- */

static int describe_run(const struct cli *c, struct err *e)
{
    const char *spec = workload_spec(c->arg[0]);
    const struct workload *w = workload_named(spec, e);
    struct measure m[TRAIT_COUNT];

    char *settings = w ? workload_settings(spec, e) : NULL,
         *source = xasprintf("workload:%s", spec);
    const int failed = !settings || source_measure(source, m, e);

    if (!failed && cli_has(c, OPT_JSON))
        print_json(w, spec, settings, m);
    else if (!failed)
        print_text(w, spec, settings, m);
    free(source);
    free(settings);
    return failed ? -1 : LARD_DONE;
}

const struct verb verb_workload_describe = {
    .help = &verb_help[HELP_workload_describe], .options = cli_json_option, .run = describe_run};
