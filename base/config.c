/* config.c - the configuration: names that were given and names that tables declare, brought
 * together when a section is bound, and printed in full.
 * Each part of a run binds its own section, so no part knows the others' parameters, and a name
 * that nobody has declared by the end is a mistake of the user's. The last value given for a name
 * holds. Everything that was ever handed out (texts, lists, origins) lives as long as the
 * configuration. */
#include "base/param_int.h"

#include <assert.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* ---- names ---------------------------------------------------------------------------------- */

/* Compares names: struct given_value and struct known both begin with theirs. */
static int by_name(const void *a, const void *b)
{
    const char *const *const x = a, *const *const y = b;

    return strcmp(*x, *y);
}

static void *find_named(void *const *tree, const char *name)
{
    void **const node = tfind(&name, tree, by_name);

    return node ? *node : NULL;
}

static void **add_node(void **tree, void *entry)
{
    void **const node = tsearch(entry, tree, by_name);

    if (!node)
        die("no memory for the configuration");
    return node;
}

static struct known *find_known(const struct config *c, const char *name)
{
    return find_named(&c->known_tree, name);
}

static const struct given_value *find_given(const struct config *c, const char *name)
{
    return find_named(&c->given_tree, name);
}

/* name is section, a dot and something: "l1x.size" is not in "l1". */
static bool in_section(const char *name, const char *section, size_t n)
{
    return n && strncmp(name, section, n) == 0 && name[n] == '.';
}

/* ---- life ----------------------------------------------------------------------------------- */

struct config *config_new(const struct preset *presets)
{
    struct config *const c = xcalloc(1, sizeof *c);

    c->presets = presets;
    return c;
}

/* tdestroy frees the nodes of a tree; entries are freed with the arrays, which own them. */
static void keep(void *entry)
{
    (void)entry;
}

void config_free(struct config *c)
{
    if (!c)
        return;
    tdestroy(c->given_tree, keep);
    tdestroy(c->known_tree, keep);
    for (size_t i = 0; i < c->n_given; i++) {
        free((void *)c->given[i]->name);
        free(c->given[i]->origin);
        yaml_value_free(&c->given[i]->value);
        free(c->given[i]);
    }
    for (size_t i = 0; i < c->n_known; i++) {
        free((void *)c->known[i]->name);
        param_value_free(&c->known[i]->value);
        free(c->known[i]);
    }
    free(c->given);
    free(c->known);
    free(c);
}

/* ---- gathering ------------------------------------------------------------------------------ */

/* All that was given is kept, in order, for messages; the tree has the value that holds, the last.
 */
void config_give(struct config *c, char *name, struct yaml_value value, char *origin, bool user)
{
    struct given_value *const g = xmalloc(sizeof *g);

    *g = (struct given_value){.name = name, .value = value, .origin = origin, .user = user};
    c->given = xgrow(c->given, c->n_given, &c->given_cap, sizeof(struct given_value *));
    c->given[c->n_given++] = g;
    void **node = add_node(&c->given_tree, g);
    if (*node != g)
        ((struct given_value *)*node)->superseded = true;
    *node = g;
}

int config_set_from(struct config *c, const char *assignment, const char *origin, struct err *e)
{
    const char *const equals = strchr(assignment, '=');
    struct yaml_value value = {.n = 1};

    if (!yaml_text_ok(assignment))
        return err_set(e, LARD_CONFIG, "%s: the text is not UTF-8; write it in UTF-8", origin);
    if (!equals)
        return err_set(e, LARD_CONFIG, "%s: \"%.200s\" has no \"=\"; write name=value", origin,
                       assignment);
    char *name = xasprintf("%.*s", (int)(equals - assignment), assignment);
    if (!yaml_name_ok(name) || strlen(name) > YAML_MAX_NAME || strcmp(name, "inherit") == 0) {
        err_set(e, LARD_CONFIG,
                "%s: \"%.200s\" is no parameter's name; write section.name=value "
                "(inherit stands in files; on the command line it is --preset)",
                origin, name);
        free(name);
        return -1;
    }
    /* The value is one text for now; a list is cut at its commas when its type is known. */
    value.item = xmalloc(sizeof *value.item);
    value.item[0] = xstrdup(equals + 1);
    config_give(c, name, value, xstrdup(origin), true);
    return 0;
}

int config_set(struct config *c, const char *assignment, struct err *e)
{
    return config_set_from(c, assignment, "--set", e);
}

/* ---- binding -------------------------------------------------------------------------------- */

static struct known *declare(struct config *c, const char *section, const struct param *row)
{
    char *const name = *section ? xasprintf("%s.%s", section, row->name) : xstrdup(row->name);
    struct known *const k = xmalloc(sizeof *k);

    *k = (struct known){.name = name, .section = strlen(section), .row = row};
    void **const node = add_node(&c->known_tree, k);
    if (*node != k) {
        free(name);
        free(k);
        return *node;
    }
    c->known = xgrow(c->known, c->n_known, &c->known_cap, sizeof(struct known *));
    c->known[c->n_known++] = k;
    return k;
}

/* The value given, else the default as text: one way for both, so that a default is held to its
 * row's range. */
static int resolve(const struct config *c, struct known *k, struct value *to, struct err *e)
{
    const struct given_value *const g = find_given(c, k->name);
    const struct yaml_value standard = {.item = (char *[]){(char *)(uintptr_t)k->row->value},
                                        .n = 1};
    const struct conversion v = {k->row, k->name, g ? g->origin : "default", to, e};

    k->origin = v.origin;
    return param_convert(&v, g ? &g->value : &standard);
}

/* A section can be bound once only: two parts that read one parameter would be told apart by
 * nothing. */
int config_bind(struct config *c, const char *section, const struct param *rows, void *into,
                struct err *e)
{
    for (const struct param *row = rows; row && row->name; row++) {
        struct known *const k = declare(c, section, row);

        if (k->bound)
            return err_set(e, LARD_CONFIG,
                           "%s belongs to two parts of this run; give one of them another label",
                           k->name);
        k->row = row;
        if (resolve(c, k, &k->value, e))
            return -1;
        k->bound = true;
        param_store(row, &k->value, into);
    }
    return 0;
}

/* Whether the file that gave g gives the section's every parameter, as a dump does. */
static bool repeats_section(const struct config *c, const struct given_value *g, size_t section)
{
    const char *const colon = strrchr(g->origin, ':');
    const size_t file = colon ? (size_t)(colon - g->origin) + 1 : 0;

    for (size_t i = 0; i < c->n_known; i++) {
        const char *const name = c->known[i]->name;
        bool there = !in_section(name, g->name, section);

        for (size_t k = 0; k < c->n_given && !there; k++)
            there = strcmp(c->given[k]->name, name) == 0 &&
                    strncmp(c->given[k]->origin, g->origin, file) == 0;
        if (!there)
            return false;
    }
    return file != 0;
}

static int contradicts(const struct given_value *g, const char *value, const char *text,
                       const char *by, struct err *e)
{
    return err_set(e, LARD_CONFIG,
                   "%s: %s: \"%s\" contradicts %s, which always takes %s; leave it out, or do "
                   "without %s",
                   g->origin, g->name, value, by, text, by);
}

int config_decide(struct config *c, const char *section, const struct param *row, const char *text,
                  const char *by, void *into, struct err *e)
{
    struct known *const k = declare(c, section, row);
    const struct given_value *const g = find_given(c, k->name);
    char *const value = param_text(row, &k->value);
    const struct conversion v = {row, k->name, by, &k->value, e};
    const bool same = strcmp(value, text) == 0;
    int status = 0;

    assert(k->bound && row->type == PARAM_CHOICE);
    if (!same && g && (strcmp(value, row->value) || !repeats_section(c, g, k->section))) {
        status = contradicts(g, value, text, by, e);
    } else if (!same || !g) {
        status = param_convert(
            &v, &(struct yaml_value){.item = (char *[]){(char *)(uintptr_t)text}, .n = 1});
        param_store(row, &k->value, into);
        k->origin = by;
    }
    free(value);
    return status;
}

/* For sections that this run does not use: mistakes in them are found all the same. */
int config_known(struct config *c, const char *section, const struct param *rows, struct err *e)
{
    for (const struct param *row = rows; row && row->name; row++) {
        struct known *const k = declare(c, section, row);
        struct value unused = {0};
        const int status = k->bound ? 0 : resolve(c, k, &unused, e);

        param_value_free(&unused);
        if (status)
            return -1;
    }
    return 0;
}

/* ---- names that are not known, values that are not used ------------------------------------- */

/* Length of the longest section that name lies in; 0: the top level. */
static size_t section_of(const struct config *c, const char *name)
{
    size_t longest = 0;

    for (size_t i = 0; i < c->n_known; i++) {
        const struct known *const k = c->known[i];

        if (k->section > longest && in_section(name, k->name, k->section))
            longest = k->section;
    }
    return longest;
}

/* The parameter that was meant, or NULL. In a section the names are compared without it, as
 * otherwise a long section makes all its names look alike. */
static const char *nearest_known(const struct config *c, const char *name, size_t section)
{
    const size_t skip = section ? section + 1 : 0;
    const char **const names = xcalloc(c->n_known, sizeof *names);
    size_t n = 0;

    for (size_t i = 0; i < c->n_known; i++)
        if (!section || in_section(c->known[i]->name, name, section))
            names[n++] = c->known[i]->name + skip;
    const char *nearest = nearest_name(name + skip, names, n);
    free((void *)names);
    return nearest ? nearest - skip : NULL;
}

static int unknown_name(const struct config *c, const struct given_value *g, struct err *e)
{
    const size_t section = section_of(c, g->name);
    const char *const nearest = nearest_known(c, g->name, section);

    for (size_t i = 0; i < c->n_known; i++)
        if (in_section(c->known[i]->name, g->name, strlen(g->name)))
            return err_set(e, LARD_CONFIG,
                           "%s: %s is a section and takes no value; give one of its parameters, "
                           "such as %s",
                           g->origin, g->name, c->known[i]->name);
    return err_set(e, LARD_CONFIG, "%s: unknown parameter %s: %s%.*s has no %s; %s%s%s", g->origin,
                   g->name, section ? "section " : "the configuration", (int)section, g->name,
                   g->name + (section ? section + 1 : 0), nearest ? "did you mean " : "",
                   nearest ? nearest : "`lardsim list parameters` shows all there are",
                   nearest ? "?" : "");
}

/* A name that is a parameter and a section could not be printed as nested maps. */
static int check_apart(const struct config *c, const struct known *k, struct err *e)
{
    char outer[2 * YAML_MAX_NAME];

    for (const char *dot = strchr(k->name, '.'); dot; dot = strchr(dot + 1, '.')) {
        const int n = snprintf(outer, sizeof outer, "%.*s", (int)(dot - k->name), k->name);

        if (n < (int)sizeof outer && find_known(c, outer))
            return err_set(e, LARD_CONFIG,
                           "%s is a parameter, so that %s can't be one; choose another label",
                           outer, k->name);
    }
    return 0;
}

int config_check_names(const struct config *c, struct err *e)
{
    for (size_t i = 0; i < c->n_known; i++)
        if (check_apart(c, c->known[i], e))
            return -1;
    for (size_t i = 0; i < c->n_given; i++)
        /* A preset may speak of labels that the user's own list of policies leaves out. */
        if (c->given[i]->user && !c->given[i]->superseded && !find_known(c, c->given[i]->name))
            return unknown_name(c, c->given[i], e);
    return 0;
}

void config_unused(const struct config *c,
                   void (*fn)(void *arg, const char *name, const char *origin), void *arg)
{
    /* Only what the user gave: presets set what a run may not need. */
    for (size_t i = 0; i < c->n_given; i++) {
        const struct given_value *const g = c->given[i];
        const struct known *const k = find_known(c, g->name);

        if (g->user && !g->superseded && k && !k->bound)
            fn(arg, g->name, g->origin);
    }
}

/* ---- printing ------------------------------------------------------------------------------- */

static int compare_known(const void *a, const void *b)
{
    const struct known *const *const x = a, *const *const y = b;

    return strcmp((*x)->name, (*y)->name);
}

/* Names of one section are neighbours in this order. Owned by the caller. */
static const struct known **bound_by_name(const struct config *c, size_t *n)
{
    const struct known **const bound = xcalloc(c->n_known, sizeof *bound);

    *n = 0;
    for (size_t i = 0; i < c->n_known; i++)
        if (c->known[i]->bound)
            bound[(*n)++] = c->known[i];
    qsort((void *)bound, *n, sizeof *bound, compare_known);
    return bound;
}

/* Opens the sections of name that last was not in; indents; returns the last segment. */
static const char *print_sections(FILE *out, const char *last, const char *name)
{
    const char *segment = name;
    int indent = 0;

    for (const char *dot; (dot = strchr(segment, '.')); segment = dot + 1, indent += 2)
        if (strncmp(last, name, (size_t)(dot + 1 - name)) != 0)
            fprintf(out, "%*s%.*s:\n", indent, "", (int)(dot - segment), segment);
    fprintf(out, "%*s", indent, "");
    return segment;
}

void config_dump(const struct config *c, FILE *out)
{
    size_t n;
    const struct known **const bound = bound_by_name(c, &n);

    for (size_t i = 0; i < n; i++) {
        const char *const last = i ? bound[i - 1]->name : "";

        fprintf(out, "%s: ", print_sections(out, last, bound[i]->name));
        param_print(out, bound[i]->row, &bound[i]->value);
        fputs(" # ", out);
        yaml_write_comment(out, bound[i]->origin);
        fputc('\n', out);
    }
    free((void *)bound);
}

char *config_value(const struct config *c, const char *name)
{
    const struct known *k = find_known(c, name);

    return k && k->bound ? param_text(k->row, &k->value) : NULL;
}

static void print_canonical(const struct config *c, const char *without, FILE *out)
{
    size_t n;
    const struct known **const bound = bound_by_name(c, &n);

    for (size_t i = 0; i < n; i++) {
        if (without && !strcmp(bound[i]->name, without))
            continue;
        fprintf(out, "%s=", bound[i]->name);
        param_print(out, bound[i]->row, &bound[i]->value);
        fputc('\n', out);
    }
    free((void *)bound);
}

void config_canonical(const struct config *c, FILE *out)
{
    print_canonical(c, NULL, out);
}

uint64_t config_hash(const struct config *c, const char *without)
{
    char *text = NULL;
    size_t n = 0;
    FILE *const out = xmemstream(&text, &n);

    print_canonical(c, without, out);
    if (fclose(out))
        die("no memory for a configuration");
    const uint64_t hash = digest_bytes(text, n);
    free(text);
    return hash;
}

void config_each(const struct config *c, void (*fn)(void *arg, const char *name, const char *text),
                 void *arg)
{
    size_t n;
    const struct known **const bound = bound_by_name(c, &n);

    for (size_t i = 0; i < n; i++) {
        char *const text = param_text(bound[i]->row, &bound[i]->value);
        fn(arg, bound[i]->name, text);
        free(text);
    }
    free((void *)bound);
}

/* ---- one value ------------------------------------------------------------------------------ */

const char *config_given(const struct config *c, const char *name)
{
    const struct given_value *const g = find_given(c, name);

    return g && g->value.n == 1 ? g->value.item[0] : NULL;
}

/* Puts a new text into the value. The old text may have been handed out, and stays valid: it is
 * kept behind the new one. */
bool config_put(struct config *c, const char *name, const char *text, const char *origin)
{
    struct known *const k = find_known(c, name);

    assert(k && k->bound && k->row->type == PARAM_STRING);
    if (!yaml_text_ok(text))
        return false;
    k->value.item = xgrow(k->value.item, k->value.n, &k->value.cap, sizeof *k->value.item);
    k->value.item[k->value.n++] = k->value.item[0];
    k->value.item[0] = xstrdup(text);
    k->origin = origin;
    return true;
}

static void add_text(struct digest *d, const char *text)
{
    digest_add(d, text, strlen(text) + 1);
}

uint64_t config_given_hash(const struct config *c)
{
    struct digest *d = digest_new();

    for (size_t i = 0; i < c->n_given; i++) {
        const struct given_value *const g = c->given[i];
        if (g->superseded)
            continue;
        add_text(d, g->name);
        for (size_t k = 0; k < g->value.n; k++)
            add_text(d, g->value.item[k]);
        add_text(d, g->user ? g->value.list ? "user's list" : "user" : "preset");
    }
    return digest_end(d);
}
