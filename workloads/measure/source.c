/* source.c - the parameters of a generated source, a workload or synth:, that say which run of it
 * this is, and how long: for what is run several times. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/param.h"
#include "base/text.h"
#include "sim/lardsim.h"
#include "workloads/measure/measure.h"

static const char synth[] = "synth:";

static bool is_synth(const char *source)
{
    return strncmp(source, synth, strlen(synth)) == 0;
}

/* Returns the last "name=" of the source, which is the one that counts. NULL: there is none. */
static const char *last_given(const char *source, const char *name)
{
    const size_t n = strlen(name);
    const char *at = NULL;

    for (const char *p = strchr(source, ':') + 1; *p; p += strcspn(p, ","), p += *p == ',')
        if (strncmp(p, name, n) == 0 && p[n] == '=')
            at = p;
    return at;
}

char *lardsim_source_with(const char *source, const char *name, uint64_t value)
{
    const char *at = last_given(source, name), *end = at ? at : source + strlen(source);
    const char *comma = at || end[-1] == ':' ? "" : ",";

    return xasprintf("%.*s%s%s=%" PRIu64 "%s", (int)(end - source), source, comma, name, value,
                     end + strcspn(end, ","));
}

/* ---- parameters of the source --------------------------------------------------------------- */

/* A number as parameters have them: "200k". */
static int number_of(const char *text, uint64_t *to, struct err *e)
{
    return number_of_text(text, to) ? 0 : err_set(e, LARD_CONFIG, "%s is no number", text);
}

static int synth_parameter(const char *source, const char *name, uint64_t otherwise, uint64_t *to,
                           struct err *e)
{
    const char *found = last_given(source, name);

    *to = otherwise;
    if (!found)
        return 0;
    found += strlen(name) + 1;
    char *text = xasprintf("%.*s", (int)strcspn(found, ","), found);
    const int bad = number_of(text, to, e);
    free(text);
    return bad;
}

static int workload_parameter(const char *source, const char *name, uint64_t *to, struct err *e)
{
    char *settings = workload_settings(workload_spec(source), e);
    char *text = settings ? workload_setting(settings, name) : NULL;
    int bad = -1;

    if (text)
        bad = number_of(text, to, e);
    else if (settings)
        err_set(e, LARD_CONFIG, "%s: it has no parameter %s", source, name);
    free(text);
    free(settings);
    return bad;
}

static const struct workload *workload_of(const char *source)
{
    const char *spec = workload_spec(source);
    struct err e = {0};

    return spec == source ? NULL : workload_named(spec, &e);
}

int lardsim_source_seed(const char *source, uint64_t *to, struct err *e)
{
    if (is_synth(source))
        return synth_parameter(source, "seed", 1, to, e);
    if (workload_spec(source) != source)
        return workload_parameter(source, "seed", to, e);
    return err_set(e, LARD_USAGE,
                   "--seeds runs a program with other seeds, and %s is the record of one run; give "
                   "a workload: or synth:",
                   source);
}

int lardsim_source_length(const char *source, struct lardsim_source_length *to, struct err *e)
{
    const struct workload *w = workload_of(source);

    *to = (struct lardsim_source_length){.name = "events", .most = UINT64_C(1) << 48};
    if (is_synth(source))
        return synth_parameter(source, to->name, 10000, &to->value, e);
    if (workload_spec(source) == source)
        return err_set(e, LARD_USAGE,
                       "--converge runs a program for longer, and %s is the record of one run; "
                       "give a workload: or synth:",
                       source);
    if (w && !w->length)
        return err_set(e, LARD_USAGE,
                       "--converge: no parameter of workload:%s says how long it runs and nothing "
                       "else; give the sizes by hand",
                       w->name);
    if (!w || workload_parameter(source, w->length, &to->value, e))
        return e->code ? -1 : err_set(e, LARD_CONFIG, "%s: there is no such workload", source);
    to->name = w->length;
    for (const struct param *p = w->params; p->name; p++)
        if (!strcmp(p->name, w->length))
            to->most = p->max;
    return 0;
}
