/* given.h - the settings of a run as its user gave them: files, presets and assignments in their
 * order, and policies. A command line, a results folder and a page are all able to give them. */
#ifndef LARDSIM_GIVEN_H
#define LARDSIM_GIVEN_H

#include <stdbool.h>

#include "base/err.h"
#include "sim/lardsim.h"

enum given_kind {
    GIVEN_FILE, /* or the name of a preset, without a path */
    GIVEN_PRESET,
    GIVEN_SET,    /* "l2.size=1Mi" */
    GIVEN_POLICY, /* "vc", "naive=vc"; takes effect after all else, wherever it stands */
    GIVEN_DEBUG   /* "event=120": a filter of lardsim_debug; changes no result */
};
struct given_setting {
    enum given_kind kind;
    const char *text; /* borrowed */
};
struct given {
    struct given_setting *at; /* owns */
    size_t n, cap;
    const char *const *word; /* borrowed; the command line, for provenance.json */
    size_t words;
};
void given_add(struct given *g, enum given_kind kind, const char *text);
/* Copies the settings that `takes` takes; NULL: all. To be freed. */
struct given given_copy(const struct given *g, bool (*takes)(const struct given_setting *s));
void given_free(struct given *g);
bool given_has(const struct given *g, enum given_kind kind);
bool given_is_policy(const struct given_setting *s);
bool given_is_configuration(const struct given_setting *s); /* neither a policy nor a filter */
size_t policy_label(const char *policy); /* the length of the label that "naive=vc" begins with */
bool policy_is(const char *policy, const char *other); /* of that label */

/* Applies the settings to a run, before lardsim_start, with its command line. What a filter lets
 * pass is printed to standard error. 0, or as lardsim_set. */
int given_apply(const struct given *g, struct lardsim *l);
/* An instance with all but policies and filters, which answers questions and does not run: a
 * setting as given_setting has it, which the caller frees. NULL: error; a setting of no instance,
 * too. */
struct lardsim *given_asked(const struct given *g, struct err *e);
char *given_setting(struct lardsim *l, const char *name, struct err *e);
/* Warns of a value that had no effect; for lardsim_on_unused. */
void given_warn_unused(void *arg, const char *name, const char *origin);

#endif
