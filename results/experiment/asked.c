/* asked.c - what is asked of a comparison on machines: whether there is one, which
 * policies, and the settings of each one's run. Nothing is run here. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/experiment/costs.h"

/* ---- what is to be run ---------------------------------------------------------------------- */

int costs_wanted(const struct given *g, bool *wanted, struct err *e)
{
    struct lardsim *l = given_asked(g, e);
    char *machine = given_setting(l, "machine", e);

    *wanted = machine && strcmp(machine, "none") != 0;
    free(machine);
    lardsim_free(l);
    return e->code ? -1 : 0;
}

/* Labels name folders and rows, so each can be there once. */
static int add_spec(struct specs *s, const char *spec, size_t length, struct err *e)
{
    char *one = xasprintf("%.*s", (int)length, spec);

    for (size_t i = 0; i < s->n; i++) {
        if (!policy_is(s->spec[i], one))
            continue;
        /* The first row is there in any case; asking for it is no mistake. */
        const bool none = i == 0 && strcmp(one, "none") == 0;
        if (!none)
            err_set(
                e, LARD_CONFIG,
                "compare: '%s' has the label of another policy; give each its own, as in 'mine=vc'",
                one);
        free(one);
        return none ? 0 : -1;
    }
    s->spec = xgrow(s->spec, s->n, &s->cap, sizeof *s->spec);
    s->spec[s->n++] = one;
    return 0;
}

static int add_given(struct specs *s, const char *list, struct err *e)
{
    for (const char *p = list; *p;) {
        const size_t n = strcspn(p, ",");
        if (n && add_spec(s, p, n, e))
            return -1;
        p += n + (p[n] == ',');
    }
    return 0;
}

/* Adds a policy that tells the truth. In program order each machine has an execution of its own,
 * with a truth of its own: the policy watches there, and takes no time. */
#define TRUTH "truth"
static int add_truth(struct specs *s, struct err *e)
{
    if (add_spec(s, TRUTH "=vc", strlen(TRUTH "=vc"), e))
        return -1;
    s->n--; /* it has no run */
    s->truth = TRUTH;
    return 0;
}

int specs_collect(struct specs *s, const struct given *g, const char *source, struct err *e)
{
    struct lardsim *l = given_asked(g, e);
    char *configured = given_setting(l, "policies", e);
    int failed = !configured || add_spec(s, "none", strlen("none"), e);

    for (size_t i = 0; i < g->n && !failed; i++)
        if (given_is_policy(&g->at[i]))
            failed = add_given(s, g->at[i].text, e);
    if (!given_has(g, GIVEN_POLICY) && !failed)
        failed = add_given(s, configured, e);
    if (!failed && lardsim_asks(l, source))
        failed = add_truth(s, e);
    free(configured);
    lardsim_free(l);
    return failed ? -1 : 0;
}

void specs_free(struct specs *s)
{
    for (size_t i = 0; i < s->n + (s->truth != NULL); i++)
        free(s->spec[i]);
    free(s->spec);
}

/* ---- the settings of one policy's run ------------------------------------------------------- */

static bool is_no_policy(const struct given_setting *s)
{
    return !given_is_policy(s);
}

struct given specs_given(const struct given *g, const struct specs *s, size_t which)
{
    struct given one = given_copy(g, is_no_policy);

    given_add(&one, GIVEN_POLICY, s->spec[which]);
    if (s->truth && which > 0) {
        given_add(&one, GIVEN_POLICY, s->spec[s->n]);
        given_add(&one, GIVEN_SET, "policy." TRUTH ".charged=off");
        given_add(&one, GIVEN_SET, "compare.truth=" TRUTH);
    }
    return one;
}

/* ---- what a policy's verdicts are about ----------------------------------------------------- */

char *spec_property(const struct given *g, const char *spec, struct err *e)
{
    struct lardsim *l = given_asked(g, e);
    struct lardsim_promise is;
    char *text = NULL;

    if (l && !lardsim_promise(l, spec, &is))
        text = !strcmp(is.view, "tracked")
                   ? xstrdup(is.property)
                   : xasprintf("%s; view %s", is.property,
                               strchr(is.view, ',') ? "of its own" : is.view);
    else if (l)
        *e = *lardsim_err(l);
    lardsim_free(l);
    return text;
}
