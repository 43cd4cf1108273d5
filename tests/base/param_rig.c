/* param_rig.c - see param_rig.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/base/param_rig.h"

#define AT(field) offsetof(struct settings, field)

static const char *const histories[] = {"last", "all", NULL};
static const char *const views[] = {"all-memory", "all-sync", "no-clear", NULL};
const struct param settings_rows[] = {
    {"flag", PARAM_BOOL, AT(flag), "off", 0, 0, "", NULL, "A switch."},
    {"size", PARAM_U64, AT(size), "32Ki", 64, 1 << 20, "bytes", NULL, "A size."},
    {"ways", PARAM_U64, AT(ways), "8", 1, 64, "ways", NULL, "Associativity."},
    {"queue.entries", PARAM_U64, AT(entries), "4", 0, 100000000, "entries", NULL, "A dotted row."},
    {"plain", PARAM_U64, AT(plain), "7", 0, 1000, "", NULL, "Without a unit."},
    {"any", PARAM_U64, AT(any), "0", 0, UINT64_MAX, "accesses", NULL, "Any number."},
    {"history", PARAM_CHOICE, AT(history), "last", 0, 0, "", histories, "What is kept."},
    {"view", PARAM_SET, AT(view), "", 0, 0, "", views, "What is looked at."},
    {"text", PARAM_STRING, AT(text), "", 0, 0, "", NULL, "A text."},
    {"list", PARAM_LIST, AT(list), "", 0, 0, "", NULL, "Texts."},
    PARAM_END};

const struct preset rig_presets[] = {
    {"small", "A small one.", "policy.vc.size: 1Ki\npolicy.vc.ways: 2\n"},
    {"smaller", "A smaller one.", "inherit: small\npolicy: {vc: {ways: 1}}\n"},
    {"broken", "Inherits itself.", "inherit: [small, broken]\n"},
    {NULL, NULL, NULL}};

int param_setup(void **state)
{
    struct fixture *const f = xcalloc(1, sizeof *f);
    const char *const tmp = getenv("TMPDIR");

    snprintf(f->dir, sizeof f->dir, "%.40s/param.XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
    if (!mkdtemp(f->dir))
        return -1;
    f->c = config_new(rig_presets);
    *state = f;
    return 0;
}

int param_teardown(void **state)
{
    struct fixture *const f = *state;
    char *const command = xasprintf("rm -rf '%s'", f->dir);
    const int status = system(command);

    free(command);
    config_free(f->c);
    free(f);
    return status;
}

void renew(struct fixture *f)
{
    config_free(f->c);
    f->c = config_new(rig_presets);
    err_clear(&f->e);
}

char *path_of(const struct fixture *f, const char *name)
{
    return xasprintf("%s/%s", f->dir, name);
}

void write_bytes(const struct fixture *f, const char *name, const void *p, size_t n)
{
    char *const path = path_of(f, name);
    FILE *const out = fopen(path, "wb");

    assert_non_null(out);
    assert_int_equal(fwrite(p, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
    free(path);
}

void write_file(const struct fixture *f, const char *name, const char *text)
{
    write_bytes(f, name, text, strlen(text));
}

int load(struct fixture *f, const char *name)
{
    char *const path = path_of(f, name);
    const int status = config_load(f->c, path, &f->e);

    free(path);
    return status;
}

int load_text(struct fixture *f, const char *text)
{
    write_file(f, "a.yaml", text);
    return load(f, "a.yaml");
}

int bind(struct fixture *f)
{
    return config_bind(f->c, "policy.vc", settings_rows, &f->s, &f->e);
}

int accept(struct fixture *f, const char *text)
{
    renew(f);
    return load_text(f, text) || bind(f) || config_check_names(f->c, &f->e) ? -1 : 0;
}

int accept_set(struct fixture *f, const char *assignment)
{
    renew(f);
    return config_set(f->c, assignment, &f->e) || bind(f) || config_check_names(f->c, &f->e) ? -1
                                                                                             : 0;
}

void contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

void says(const struct fixture *f, const char *a, const char *b, const char *c)
{
    assert_int_equal(f->e.code, LARD_CONFIG);
    contains(f->e.text, a);
    contains(f->e.text, b);
    contains(f->e.text, c);
}
