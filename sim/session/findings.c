/* findings.c - what a run finds out about its own configuration: the table findings.def held
 * against its statistics and parameters. */
#include "sim/session/session.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct finding_row {
    const char *key, *zero, *given, *parameters, *text;
} rows[] = {
#define FINDING(key, zero, given, parameters, text) {key, zero, given, parameters, text},
#include "sim/session/findings.def"
#undef FINDING
};

/* ---- words ---------------------------------------------------------------------------------- */

/* The next word at *at, which it goes past, with `label` in the place of "*". NULL: none. Owned by
 * the caller. */
static char *next_word(const char **at, const char *label)
{
    *at += strspn(*at, " ");
    const size_t n = strcspn(*at, " "), star = strcspn(*at, "*");
    const char *word = *at;

    if (!n)
        return NULL;
    *at += n;
    if (star >= n)
        return strndup(word, n);
    return xasprintf("%.*s%s%.*s", (int)star, word, label, (int)(n - star - 1), word + star + 1);
}

/* ---- conditions ----------------------------------------------------------------------------- */

/* Whether statistics that are said to be 0 are. */
static bool is_zero(const struct lardsim *l, const char *name, bool must_exist)
{
    const bool wanted = *name == '!';
    uint64_t value = 0;

    if (!stats_value(l->stats, name + wanted, &value) && must_exist)
        return false;
    return (value != 0) == wanted;
}

static bool all_zero(const struct lardsim *l, const struct finding_row *r, const char *label)
{
    bool holds = true, first = true;
    const char *at = r->zero;

    for (char *name; holds && (name = next_word(&at, label)); free(name), first = false)
        holds = is_zero(l, name, first || label);
    return holds;
}

static uint64_t lines_of(const struct lardsim *l, const char *level)
{
    char *name = xasprintf("%s.capacity", level);
    uint64_t lines = 0;

    stats_value(l->stats, name, &lines);
    free(name);
    return lines;
}

/* An inclusive L3 has all lines of the private caches. An inclusive L2 has those of its L1s. */
static char *l3_room(const struct lardsim *l)
{
    char *below = config_value(l->config, "l2.inclusion");
    const uint64_t l1 = lines_of(l, "l1"), l2 = lines_of(l, "l2");
    const bool exclusive = below && strcmp(below, "exclusive") == 0;
    const uint64_t included = !l2 ? l1 : exclusive ? l1 + l2 : l2;

    free(below);
    return xstrdup(lines_of(l, "l3") < included ? "short" : "enough");
}

static char *text_of(const struct lardsim *l, const char *name)
{
    const bool resolved = !strcmp(name, "order") || !strcmp(name, "contention");
    const char *has = resolved ? lardsim_machine_is(l, name) : NULL;

    if (resolved)
        return has ? xstrdup(has) : NULL;
    return strcmp(name, "l3.room") == 0 ? l3_room(l) : config_value(l->config, name);
}

/* "NAME=VALUE" or "NAME!=VALUE". */
static bool term_holds(const struct lardsim *l, const char *term, size_t n)
{
    const char *equals = memchr(term, '=', n);
    const bool unequal = equals[-1] == '!';
    char *name = xasprintf("%.*s", (int)(equals - term - unequal), term);
    char *value = xasprintf("%.*s", (int)(term + n - equals - 1), equals + 1);
    char *text = text_of(l, name);
    const bool holds = text && (strcmp(text, value) == 0) != unequal;

    free(text);
    free(value);
    free(name);
    return holds;
}

static bool any_term(const struct lardsim *l, const char *terms)
{
    for (size_t n; *terms; terms += n + (terms[n] == '|')) {
        n = strcspn(terms, "|");
        if (term_holds(l, terms, n))
            return true;
    }
    return false;
}

static bool given(const struct lardsim *l, const struct finding_row *r, const char *label)
{
    const char *at = r->given;
    bool holds = true;

    for (char *terms; holds && (terms = next_word(&at, label)); free(terms))
        holds = any_term(l, terms);
    return holds;
}

/* ---- findings ------------------------------------------------------------------------------- */

static char *value_of(const struct lardsim *l, const char *name, size_t n)
{
    char *full = xasprintf("%.*s", (int)n, name);
    uint64_t value = 0;

    stats_value(l->stats, full, &value);
    free(full);
    return xasprintf("%" PRIu64, value);
}

/* Returns the sentence with values and the label in their places. Owned by the caller. */
static char *sentence(const struct lardsim *l, const char *text, const char *label)
{
    char *all = xstrdup("");

    while (*text) {
        const size_t plain = strcspn(text, "{*"), name = strcspn(text + plain, "}");
        char *more = text[plain] == '{'   ? value_of(l, text + plain + 1, name - 1)
                     : text[plain] == '*' ? xstrdup(label)
                                          : xstrdup("");
        char *longer = xasprintf("%s%.*s%s", all, (int)plain, text, more);
        free(more);
        free(all);
        all = longer;
        text += plain + (text[plain] == '{' ? name + 1 : text[plain] == '*');
    }
    return all;
}

static void add_knobs(struct lardsim_finding *f, const char *parameters, const char *label)
{
    for (char *word; (word = next_word(&parameters, label));) {
        char *colon = strchr(word, ':');
        *colon = '\0';
        f->knob = xrealloc(f->knob, f->knobs + 1, sizeof *f->knob);
        f->knob[f->knobs++] = (struct lardsim_knob){word, xstrdup(colon + 1)};
    }
}

static void add(struct lardsim_findings *all, const struct lardsim *l, const struct finding_row *r,
                const char *label)
{
    if (!all_zero(l, r, label) || !given(l, r, label))
        return;
    all->at = xrealloc(all->at, all->n + 1, sizeof *all->at);
    struct lardsim_finding *f = &all->at[all->n++];
    *f = (struct lardsim_finding){.key = r->key, .sentence = sentence(l, r->text, label)};
    add_knobs(f, r->parameters, label);
}

/* A run that has not come to its end has no findings: with another configuration it might stop
 * elsewhere. */
struct lardsim_findings lardsim_findings(const struct lardsim *l)
{
    struct lardsim_findings all = {NULL, 0};

    for (size_t i = 0; i < ARRAY_SIZE(rows) && (!l->err.code || l->err.code == LARD_RACES); i++)
        if (!strchr(rows[i].zero, '*'))
            add(&all, l, &rows[i], NULL);
        else
            for (size_t k = 0; k < l->checkers; k++)
                add(&all, l, &rows[i], checker_label(l->checker[k]));
    return all;
}

void lardsim_findings_free(struct lardsim_findings *all)
{
    for (size_t i = 0; i < all->n; i++) {
        for (size_t k = 0; k < all->at[i].knobs; k++) {
            free(all->at[i].knob[k].parameter);
            free(all->at[i].knob[k].change);
        }
        free(all->at[i].knob);
        free(all->at[i].sentence);
    }
    free(all->at);
    *all = (struct lardsim_findings){NULL, 0};
}

void lardsim_findings_json(const struct lardsim_findings *all, struct json *j)
{
    json_key_array(j, "findings");
    for (size_t i = 0; i < all->n; i++) {
        const struct lardsim_finding *f = &all->at[i];
        json_object(j);
        json_key_str(j, "key", f->key);
        json_key_object(j, "parameters");
        for (size_t k = 0; k < f->knobs; k++)
            json_key_str(j, f->knob[k].parameter, f->knob[k].change);
        json_end(j);
        json_key_str(j, "sentence", f->sentence);
        json_end(j);
    }
    json_end(j);
}

void sim_each_finding(void (*fn)(void *arg, const char *key, const char *text, const char *zero,
                                 const char *given, const char *parameters),
                      void *arg)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        fn(arg, rows[i].key, rows[i].text, rows[i].zero, rows[i].given, rows[i].parameters);
}
