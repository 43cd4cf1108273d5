/* asked.c - what is asked of a comparison on machines: whether there is one, which
 * policies, and the settings of each one's run. Nothing is run here. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/param.h"
#include "results/experiment/costs.h"
#include "policy/checker.h"
#include "sim/sim.h"

/* ---- what is to be run ---------------------------------------------------------------------- */

struct asked { /* of the top level of the configuration */
    uint32_t machine, order;
    struct param_list policies;
};

static const struct param *run_param(const char *name)
{
    for (const struct param *p = run_param_rows; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    die("compare: a run has no parameter %s", name);
}

/* Binds the same rows as a run does, with their defaults, types and checks, into a struct of ours.
 * rows must outlive config. */
static int bind_asked(struct config *config, struct param rows[4], struct asked *to, struct err *e)
{
    rows[0] = *run_param("machine");
    rows[0].offset = offsetof(struct asked, machine);
    rows[1] = *run_param("policies");
    rows[1].offset = offsetof(struct asked, policies);
    rows[2] = *run_param("order");
    rows[2].offset = offsetof(struct asked, order);
    rows[3] = (struct param)PARAM_END;
    return config_bind(config, "", rows, to, e);
}

int costs_wanted(const struct given *g, bool *wanted, struct err *e)
{
    struct config *config = config_new(run_presets);
    struct param rows[4];
    struct asked asked;
    const int failed = given_gather(g, config, e) || bind_asked(config, rows, &asked, e);

    if (!failed)
        *wanted = asked.machine != 0; /* "none" is the first choice */
    config_free(config);
    return failed ? -1 : 0;
}

size_t spec_label(const char *spec)
{
    return strcspn(spec, "=");
}

static bool same_label(const char *a, const char *b)
{
    const size_t n = spec_label(a);

    return n == spec_label(b) && strncmp(a, b, n) == 0;
}

/* Labels name folders and rows, so each can be there once. */
static int add_spec(struct specs *s, const char *spec, size_t length, struct err *e)
{
    char *one = xasprintf("%.*s", (int)length, spec);

    for (size_t i = 0; i < s->n; i++) {
        if (!same_label(s->spec[i], one))
            continue;
        /* The first row is there in any case; asking for it is no mistake. */
        const bool none = i == 0 && strcmp(one, "none") == 0;
        if (!none)
            err_set(e, LARD_CONFIG,
                    "compare: '%s' has the label of another policy; give each its own, as in "
                    "'mine=vc'",
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
    struct config *config = config_new(run_presets);
    struct param rows[4];
    struct asked asked;
    int failed = add_spec(s, "none", strlen("none"), e) || given_gather(g, config, e) ||
                 bind_asked(config, rows, &asked, e);

    for (size_t i = 0; i < g->n && !failed; i++)
        if (given_is_policy(&g->at[i]))
            failed = add_given(s, g->at[i].text, e);
    for (size_t i = 0; !given_has(g, GIVEN_POLICY) && !failed && i < asked.policies.n; i++)
        failed = add_spec(s, asked.policies.item[i], strlen(asked.policies.item[i]), e);
    config_free(config);
    if (!failed && sim_asks(asked.order, source))
        failed = add_truth(s, e);
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

static const char *view_name(unsigned bits)
{
    for (const struct view_info *v = view_info; v->name; v++)
        if (v->bits == bits)
            return v->name;
    return "of its own";
}

/* A policy is made for a moment, without a machine, to be asked what it promises: that may depend
 * on its parameters. */
char *spec_property(const struct given *g, const char *spec, struct err *e)
{
    struct config *config = config_new(run_presets);
    struct stats *stats = stats_new();
    const uint64_t number = 0;
    const struct checker_env env = {
        .config = config, .stats = stats, .number = &number, .granule = 8, .err = e};
    struct checker *checker = given_gather(g, config, e) ? NULL : checker_new(spec, &env, e);
    char *text = NULL;

    if (checker) {
        const char *property = checker_promise(checker).property;
        const unsigned view = checker_view(checker);
        text = view ? xasprintf("%s; view %s", property, view_name(view)) : xstrdup(property);
    }
    checker_free(checker);
    stats_free(stats);
    config_free(config);
    return text;
}
