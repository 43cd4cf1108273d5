/* given.c - settings as a user gave them, and how they get into a run. A later one wins. */
#include "results/job/given.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/program/print.h"

void given_add(struct given *g, enum given_kind kind, const char *text)
{
    g->at = xgrow(g->at, g->n, &g->cap, sizeof *g->at);
    g->at[g->n++] = (struct given_setting){kind, text};
}

struct given given_copy(const struct given *g, bool (*takes)(const struct given_setting *s))
{
    struct given to = {.word = g->word, .words = g->words};

    for (size_t i = 0; i < g->n; i++)
        if (!takes || takes(&g->at[i]))
            given_add(&to, g->at[i].kind, g->at[i].text);
    return to;
}

void given_free(struct given *g)
{
    free(g->at);
}

bool given_has(const struct given *g, enum given_kind kind)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->at[i].kind == kind)
            return true;
    return false;
}

bool given_is_policy(const struct given_setting *s)
{
    return s->kind == GIVEN_POLICY;
}

bool given_is_configuration(const struct given_setting *s)
{
    return s->kind != GIVEN_POLICY && s->kind != GIVEN_DEBUG;
}

size_t policy_label(const char *policy)
{
    return strcspn(policy, "=");
}

bool policy_is(const char *policy, const char *other)
{
    const size_t n = policy_label(policy);

    return n == policy_label(other) && !strncmp(policy, other, n);
}

/* "policies=vc,exact=vc", or NULL: owned by the caller. */
static char *policies_setting(const struct given *g)
{
    char *all = given_has(g, GIVEN_POLICY) ? xstrdup("policies=") : NULL;
    const char *between = "";

    for (size_t i = 0; i < g->n; i++)
        if (given_is_policy(&g->at[i])) {
            xappend(&all, between, g->at[i].text);
            between = ",";
        }
    return all;
}

static int apply_one(const struct given_setting *s, struct lardsim *l)
{
    switch (s->kind) {
    case GIVEN_FILE:
    case GIVEN_PRESET: /* a file is taken, too */
        return lardsim_preset(l, s->text);
    case GIVEN_SET:
        return lardsim_set(l, s->text);
    case GIVEN_DEBUG:
        return lardsim_debug(l, s->text, print_seen, NULL);
    case GIVEN_POLICY:
        break;
    }
    return 0;
}

int given_apply(const struct given *g, struct lardsim *l)
{
    char *policies = policies_setting(g);
    int failed = 0;

    if (g->words)
        lardsim_command(l, g->word, g->words);
    for (size_t i = 0; i < g->n && !failed; i++)
        failed = apply_one(&g->at[i], l);
    if (!failed && policies)
        failed = lardsim_set(l, policies);
    free(policies);
    return failed;
}

struct lardsim *given_asked(const struct given *g, struct err *e)
{
    struct given own = given_copy(g, given_is_configuration);
    struct lardsim *l = lardsim_new();

    if (given_apply(&own, l)) {
        *e = *lardsim_err(l);
        lardsim_free(l);
        l = NULL;
    }
    given_free(&own);
    return l;
}

char *given_setting(struct lardsim *l, const char *name, struct err *e)
{
    char *text = l ? lardsim_setting(l, name) : NULL;

    if (l && !text)
        *e = *lardsim_err(l);
    return text;
}

void given_warn_unused(void *arg, const char *name, const char *origin)
{
    (void)arg;
    print_note("warning: %s (%s) had no effect in this run", name, origin);
}
