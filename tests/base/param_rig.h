/* param_rig.h - for tests of the configuration: a table of every type, presets, files in a folder
 * of the test's own, and what an error has to say. */
#ifndef LARDSIM_PARAM_RIG_H
#define LARDSIM_PARAM_RIG_H

#include "base/param.h"

struct settings {
    bool flag;
    uint64_t size, ways, entries, plain, any;
    uint32_t history, view;
    const char *text;
    struct param_list list;
};
extern const struct param settings_rows[];

/* "small", "smaller" (inherits it), "broken" (inherits itself). */
extern const struct preset rig_presets[];

struct fixture {
    char dir[64];
    struct config *c; /* with rig_presets */
    struct settings s;
    struct err e;
};
int param_setup(void **state);
int param_teardown(void **state);
#define PARAM_TEST(f) cmocka_unit_test_setup_teardown(f, param_setup, param_teardown)

void renew(struct fixture *f); /* as after the set-up; files stay */

char *path_of(const struct fixture *f, const char *name); /* owned by the caller */
void write_bytes(const struct fixture *f, const char *name, const void *p, size_t n);
void write_file(const struct fixture *f, const char *name, const char *text);

/* What the functions of base/param.h give. */
int load(struct fixture *f, const char *name);
int load_text(struct fixture *f, const char *text); /* as a.yaml */
int bind(struct fixture *f);                        /* to policy.vc */

/* A fresh configuration of this one file, or this one assignment, bound: 0 or -1. */
int accept(struct fixture *f, const char *text);
int accept_set(struct fixture *f, const char *assignment);

void contains(const char *text, const char *part); /* or the test fails */

/* The error is one of configuration and contains all parts. */
void says(const struct fixture *f, const char *a, const char *b, const char *c);

#endif
