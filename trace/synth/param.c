/* param.c - the generator's parameters: the table, "key=value,..." and what may go together.
 * docs/synth.md has recipes. */
#include "trace/synth/synth_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static const char *const fork_names[] = {"roots", "flat", "tree", NULL};
static const char *const size_names[] = {"1", "2", "4", "8", "16", NULL};

enum { MANY = 1 << 20 };

const struct param synth_param_rows[] = {
#define PARAMS_DEF "trace/synth/params.def"
#define PARAMS_OF  struct synth_params
#include "base/param_rows.h"
};

/* ---- text ----------------------------------------------------------------------------------- */

enum { NAMES_MAX = 64 };

static int check_name(const char *name, struct err *e)
{
    const char *names[NAMES_MAX];
    size_t n = 0;

    for (const struct param *row = synth_param_rows; row->name; row++) {
        if (!strcmp(row->name, name))
            return 0;
        if (n < NAMES_MAX)
            names[n++] = row->name;
    }
    const char *nearest = nearest_name(name, names, n);
    return err_set(e, LARD_CONFIG, "synth: unknown parameter %.100s; %s%s%s", name,
                   nearest ? "did you mean " : "`lardsim list synth` shows all there are",
                   nearest ? nearest : "", nearest ? "?" : "");
}

/* The message of a configuration, which thinks of --set, is about the generator. */
static int as_synth(const struct err *from, struct err *e)
{
    static const char set[] = "--set: ";
    const size_t skip = strncmp(from->text, set, sizeof set - 1) ? 0 : sizeof set - 1;

    return err_set(e, (enum lard_exit)from->code, "synth: %s", from->text + skip);
}

static int assign(struct config *c, char *assignment, struct err *e)
{
    char *const equals = strchr(assignment, '=');
    struct err inner = {0};

    if (!equals)
        return err_set(e, LARD_CONFIG, "synth: \"%.100s\" has no \"=\"; write key=value,key=value",
                       assignment);
    *equals = '\0';
    const int unknown = check_name(assignment, e);
    *equals = '=';
    if (unknown)
        return -1;
    return config_set(c, assignment, &inner) ? as_synth(&inner, e) : 0;
}

/* The end of the first assignment: a comma after which there is a "=" before the next comma. So
 * that a list of values may have commas: "sizes=1,2,seed=3". */
static char *assignment_end(char *text)
{
    for (;;) {
        char *const comma = text + strcspn(text, ",");
        if (!*comma || comma[1 + strcspn(comma + 1, ",=")] == '=')
            return comma;
        text = comma + 1;
    }
}

static int assign_all(struct config *c, char *text, struct err *e)
{
    while (*text) {
        char *const end = assignment_end(text), *const next = *end ? end + 1 : end;
        *end = '\0';
        if (assign(c, text, e))
            return -1;
        text = next;
    }
    return 0;
}

int synth_parse(struct synth_params *p, const char *assignments, struct err *e)
{
    struct config *c = config_new(NULL);
    char *text = xstrdup(assignments);
    struct err inner = {0};

    *p = (struct synth_params){0};
    int status = assign_all(c, text, e);
    if (!status && config_bind(c, "", synth_param_rows, p, &inner))
        status = as_synth(&inner, e);
    free(text);
    config_free(c);
    return status;
}

/* ---- what may go together ------------------------------------------------------------------- */

int synth_check(const struct synth_params *p, struct err *e)
{
    const uint64_t clocks_max = 1 << 24, objects_max = 1 << 22;

    if (!p->sizes)
        return err_set(e, LARD_CONFIG,
                       "synth: sizes: none of its choices; `lardsim list synth` shows them");
    if (p->granularity & (p->granularity - 1))
        return err_set(e, LARD_CONFIG, "synth: granularity: give 1, 2, 4 or 8");
    if (p->raw && p->threads * (p->threads + p->locks) > clocks_max)
        return err_set(e, LARD_CONFIG,
                       "synth: raw=on: too many clocks, as threads * (threads + "
                       "locks) exceeds 16 Mi; use fewer threads or locks");
    if (p->heap_share && p->variables / p->fields >= objects_max)
        return err_set(e, LARD_CONFIG,
                       "synth: heap_share: more than 4 Mi objects can't move; use "
                       "fewer variables, more fields, or heap_share=0");
    return 0;
}
