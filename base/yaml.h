/* yaml.h - a YAML text flattened to dotted names and their values, in the order written.
 *
 * Not all of YAML: one document of maps, single values and lists of single values. Anchors,
 * aliases, tags and empty values are errors, and so is a name that is there twice. Every value is
 * text; what it means is for the parameter table. The only place that uses libyaml. */
#ifndef LARDSIM_YAML_H
#define LARDSIM_YAML_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

enum {
    YAML_MAX_BYTES = 1 << 20,
    YAML_MAX_DEPTH = 16,    /* maps in maps */
    YAML_MAX_NAME = 255,    /* characters of a dotted name */
    YAML_MAX_VALUES = 10000 /* in one text */
};

struct yaml_value {
    char **item; /* owns; one when it isn't a list */
    size_t n;
    bool list;
};

struct yaml_entry {
    char *name; /* "policy.vc.history" */
    struct yaml_value value;
    unsigned line; /* of the name, from 1 */
};

struct yaml_flat {
    struct yaml_entry *entry;
    size_t n, cap;
};

/* yaml_flat_file and yaml_flat_text fill *f, and leave it to be freed after an error, too. Errors
 * are LARD_CONFIG. origin stands for the file in messages. */
int yaml_flat_file(struct yaml_flat *f, const char *path, struct err *e);
int yaml_flat_text(struct yaml_flat *f, const char *origin, const char *text, size_t bytes,
                   struct err *e);
void yaml_flat_free(struct yaml_flat *f);
void yaml_value_free(struct yaml_value *v); /* leaves an empty list */

bool yaml_name_ok(const char *name); /* segments of A-Z a-z 0-9 _ - joined by dots */
bool yaml_text_ok(const char *text); /* UTF-8 */

/* One scalar that reads back as text, quoted when it has to be. */
void yaml_write_scalar(FILE *out, const char *text);
/* text on one line, for after a "# ". */
void yaml_write_comment(FILE *out, const char *text);

#endif
