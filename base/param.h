/* param.h - one table declares every parameter; from its rows come parsing, --set, the resolved
 * dump, `list parameters`, `explain`, the manual and completion.
 *
 * A component declares a static table of rows over a plain struct of its own, and binds it to a
 * section of the configuration: the struct is filled and every name in that section becomes known.
 * Values given for a section that nothing binds in a run are reported as "had no effect". */
#ifndef LARDSIM_PARAM_H
#define LARDSIM_PARAM_H

#include <stdbool.h>
#include <stdio.h>

#include "base/digest.h"
#include "base/err.h"

enum param_type {
    PARAM_BOOL, /* bool: on, off, true, false, yes, no */
    PARAM_U64, /* uint64_t: 42, 0x2a, 64Ki, 1M (k M G are 1000s, Ki Mi Gi are 1024s), unit optional:
                  "32 KiB" */
    PARAM_CHOICE, /* uint32_t: index into choices */
    PARAM_SET, /* uint32_t: a bit for each of the choices that is named, comma separated or a YAML
                  list */
    PARAM_STRING, /* const char *: owned by the configuration, never NULL */
    PARAM_LIST    /* struct param_list: strings, comma separated or a YAML list */
};

struct param_list {
    const char *const *item; /* owned by the configuration */
    size_t n;
};

struct param {
    const char *name; /* within its section: "history"; may have dots */
    enum param_type type;
    size_t offset;              /* of the field */
    const char *value;          /* default, as text */
    uint64_t min, max;          /* PARAM_U64 only, inclusive */
    const char *unit;           /* "bytes", "accesses", ...; "" where there is none */
    const char *const *choices; /* NULL-terminated; CHOICE and SET */
    const char *help;           /* one sentence */
};
#define PARAM_END                                                                                  \
    {                                                                                              \
        NULL, PARAM_BOOL, 0, NULL, 0, 0, NULL, NULL, NULL                                          \
    }

struct config;

/* Presets: name, one sentence, YAML text; a NULL name ends the table. `inherit:` and --preset take
 * these names as well as files. */
struct preset {
    const char *name, *help, *yaml;
};

void config_library(library_fn *fn, void *arg); /* the one that reads YAML */

struct config *config_new(const struct preset *presets);
void config_free(struct config *c);

/* Gather what the user says; later calls win over earlier ones, a file wins over what it inherits.
 * Nothing is checked against the tables until config_bind, except the syntax. */
int config_load(struct config *c, const char *path, struct err *e); /* a YAML file */
/* Loads a preset, or a file with that name. */
int config_preset(struct config *c, const char *name, struct err *e);
int config_set(struct config *c, const char *assignment,
               struct err *e); /* "policy.vc.history=all" */
/* origin: for messages and the dump, instead of "--set". */
int config_set_from(struct config *c, const char *assignment, const char *origin, struct err *e);

/* Fills *into with section's values (given, else default); "" is the top level. rows must outlive
 * c. A bad value is an error that names its origin (file:line, or --set), the rule and a remedy. */
int config_bind(struct config *c, const char *section, const struct param *rows, void *into,
                struct err *e);

/* Declares a section that exists but is not used in this run (its names are known, its values
 * checked for syntax by type and range, and reported as without effect). */
int config_known(struct config *c, const char *section, const struct param *rows, struct err *e);

/* Called after all binds: a name that belongs to no bound or known section is an error with the
 * nearest name. */
int config_check_names(const struct config *c, struct err *e);

/* Names given by the user (not by a preset) that had no effect: calls fn(name, origin) for each, in
 * the order given. */
void config_unused(const struct config *c,
                   void (*fn)(void *arg, const char *name, const char *origin), void *arg);

/* The complete resolved configuration as YAML that loads to the same values; each line ends in a
 * comment with the origin of its value ("default", "preset naive", "sweep.yaml:3", "--set"). */
void config_dump(const struct config *c, FILE *out);

/* The value of a bound row as config_dump has it; NULL: no such. Owned by the caller. */
char *config_value(const struct config *c, const char *name);

/* Canonical name=value lines of all bound rows, sorted; for digests. */
void config_canonical(const struct config *c, FILE *out);
/* Hash of the canonical lines without that of the parameter `without` (NULL: of all): two runs with
 * one hash were configured alike, wherever that came from. The output folder is no parameter, and
 * not in it. */
uint64_t config_hash(const struct config *c, const char *without);
/* Calls fn for every bound row, by name; text: the value as --set takes it. */
void config_each(const struct config *c, void (*fn)(void *arg, const char *name, const char *text),
                 void *arg);

/* For a choice of a bound section that another parameter decides: into's field and the resolved
 * configuration get `text`, whose origin is `by` ("compat: ce"; outlives c). Another value that was
 * given is an error. But a file that repeats the whole section may have the default: that is what
 * config_dump wrote before choices were decided so. */
int config_decide(struct config *c, const char *section, const struct param *row, const char *text,
                  const char *by, void *into, struct err *e);

/* The last value that was given for a name, bound or not, if it is one text; NULL: none. Valid
 * while c is. */
const char *config_given(const struct config *c, const char *name);
/* A bound text that is known only while running; origin outlives c. False: not UTF-8, which a
 * configuration can't hold; it stays as it was. */
bool config_put(struct config *c, const char *name, const char *text, const char *origin);

/* Hash of all values given so far, by name and value, without origins: two configurations with one
 * hash resolve alike. */
uint64_t config_given_hash(const struct config *c);

/* For list and explain: the default, type and range of a row as text ("1..65536", "last | all"). */
char *param_range(const struct param *row); /* owned by the caller */
const char *param_type_name(enum param_type t);

#endif
