/* named.c - a workload by its name, its parameters, and what is in force of them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/lardsim.h"
#include "workloads/measure/measure.h"

/* ---- by name -------------------------------------------------------------------------------- */

const char *workload_spec(const char *operand)
{
    static const char prefix[] = "workload:";
    const size_t n = sizeof prefix - 1;

    return strncmp(operand, prefix, n) == 0 ? operand + n : operand;
}

/* ---- parameters ----------------------------------------------------------------------------- */

void workload_each_param(const struct workload *w, void (*fn)(void *arg, const struct param *p),
                         void *arg)
{
    const struct param *const tables[] = {w->params, workload_param_rows, vm_param_rows};

    for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
        for (const struct param *p = tables[i]; p->name; p++)
            fn(arg, p);
}

/* ---- what is in force ----------------------------------------------------------------------- */

/* Whether the text, from a comma on, sets what the n characters at name set: then they do not hold.
 * A size may be written as another size and what differs. */
static bool set_again(const char *text, const char *name, size_t n)
{
    for (; *text; text += strcspn(text, ",")) {
        text += *text == ',';
        if (!strncmp(text, name, n) && text[n] == '=')
            return true;
    }
    return false;
}

char *workload_size_text(const struct workload *w, size_t size)
{
    const char *from = w->sizes[size] ? w->sizes[size] : "";
    char *to = xcalloc(strlen(from) + 1, 1);

    while (*from) {
        const size_t n = strcspn(from, ",");
        if (!set_again(from + n, from, strcspn(from, "="))) {
            if (*to)
                strcat(to, ",");
            strncat(to, from, n);
        }
        from += n + (from[n] == ',');
    }
    return to;
}

char *workload_setting(const char *settings, const char *name)
{
    const size_t n = strlen(name);

    for (const char *line = settings; *line; line += strcspn(line, "\n") + 1)
        if (!strncmp(line, name, n) && line[n] == '=')
            return xasprintf("%.*s", (int)strcspn(line + n + 1, "\n"), line + n + 1);
    return NULL;
}

/* Parameters that plant races are switches or counts, under one of these names. */
static bool is_on(const char *settings, const char *name)
{
    char *value = workload_setting(settings, name);
    const bool on = value && strcmp(value, "off") != 0 && strcmp(value, "0") != 0;

    free(value);
    return on;
}

bool lardsim_source_plants(const char *source)
{
    const char *spec = workload_spec(source);
    struct err e = {0};
    const struct workload *w = spec == source ? NULL : workload_named(spec, &e);

    if (!w || !w->plants || !w->plants->site)
        return false;
    char *settings = workload_settings(spec, &e);
    const bool planted = settings && (is_on(settings, "racy") || is_on(settings, "race") ||
                                      is_on(settings, "plants"));
    free(settings);
    return planted;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_param(void *arg, const struct param *p)
{
    struct json *j = arg;
    char *range = param_range(p);

    json_object(j);
    json_key_str(j, "name", p->name);
    json_key_str(j, "default", p->value);
    json_key_str(j, "range", range);
    json_key_str(j, "unit", p->unit);
    json_key_str(j, "type", param_type_name(p->type));
    json_key_str(j, "help", p->help);
    json_end(j);
    free(range);
}

void workload_params_json(struct json *j, const struct workload *w)
{
    json_key(j, "parameters");
    json_array(j);
    workload_each_param(w, json_param, j);
    json_end(j);
}

void workload_sizes_json(struct json *j, const struct workload *w)
{
    json_key(j, "sizes");
    json_object(j);
    for (size_t i = 0; i < WORKLOAD_SIZES; i++) {
        char *text = workload_size_text(w, i);
        json_key_str(j, workload_size_names[i], text);
        free(text);
    }
    json_end(j);
}
