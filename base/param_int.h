/* param_int.h - what param.c, config.c and config_load.c share: values on their way from text to a
 * field, and how they are gathered. Nobody else includes it. */
#ifndef LARDSIM_PARAM_INT_H
#define LARDSIM_PARAM_INT_H

#include "base/param.h"
#include "base/yaml.h"

/* A converted value: the row's type decides which of `number` and `item` is used; a set uses
 * both. */
struct value {       /* converted */
    uint64_t number; /* BOOL, U64, CHOICE (its place), SET (a bit each) */
    char **item;     /* STRING, LIST; owns */
    size_t n, cap;   /* items; room for them */
};

/* A conversion of one value: the row and names for its error message, and the place that gets the
 * result. */
struct conversion {
    const struct param *row;
    const char *name, *origin;
    struct value *to;
    struct err *e;
};

int param_convert(const struct conversion *v, const struct yaml_value *from);
void param_store(const struct param *row, const struct value *v, void *into);
/* The value's text as --set takes it: owned by the caller. */
char *param_text(const struct param *row, const struct value *v);
void param_print(FILE *out, const struct param *row, const struct value *v);
void param_value_free(struct value *v);

/* "; did you mean x?" for a message, or "": owned by the caller. */
char *param_suggest(const char *name, const char *const *names, size_t n);

struct given_value { /* a value that somebody gave */
    const char *name;
    struct yaml_value value;
    char *origin;    /* "sweep.yaml:3", "--set", "preset naive" */
    bool user;       /* given by a file or --set, not by a preset */
    bool superseded; /* somebody gave another one later */
};

struct known { /* a name that a table declares */
    const char *name;
    size_t section; /* length of the part of name that is the section's */
    const struct param *row;
    const char *origin; /* of the value */
    struct value value; /* when bound */
    bool bound;         /* a part of the run has read it */
};

struct config {
    const struct preset *presets;
    struct given_value **given; /* in the order given */
    size_t n_given, given_cap;
    struct known **known; /* in the order declared */
    size_t n_known, known_cap;
    void *given_tree, *known_tree; /* by name, of the same; of given the one that holds */
    unsigned files;                /* files and presets read so far */
};

/* Takes over name, value and origin. */
void config_give(struct config *c, char *name, struct yaml_value value, char *origin, bool user);

#endif
