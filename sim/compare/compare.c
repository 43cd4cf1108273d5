/* compare.c - several policies and views over one execution, held against one of them, the truth
 * (docs/compare.md). Here: which one is the truth, and what is counted.
 *
 * Between detectors of happens-before that judge each access, accesses and their sites are
 * compared, as LARD's Table 3 counts them; for all others only places and pairs of sites are. */
#include <stdlib.h>
#include <string.h>

#include "sim/compare/compare.h"

#define AT(field) offsetof(struct compare_params, field)
const struct param compare_param_rows[] = {
    {"truth", PARAM_STRING, AT(truth), "", 0, 0, "", NULL,
     "The label of the policy that the others are held against; empty: the first one."},
    {"max", PARAM_U64, AT(max), "1000000", 0, UINT64_MAX, "differences", NULL,
     "Differences told one by one at most, in the list and in differences.jsonl; counts are never "
     "bounded."},
    {"why", PARAM_BOOL, AT(why), "on", 0, 0, "", NULL,
     "Find out why verdicts differ; keeps 16 bytes for each release and the like, and what became "
     "of "
     "each access that some policy remembers."},
    PARAM_END,
};
#undef AT

/* ---- the truth ------------------------------------------------------------------------------ */

/* A truth has to find each race, nothing else, and at the access itself. */
static bool exact(const struct promise *p)
{
    const unsigned all = CLAIM_SOUND | CLAIM_PRECISE | CLAIM_EAGER;

    return (p->claims & (all | CLAIM_REGION)) == all && p->conflicts == CONFLICT_ALL;
}

static char *all_labels(const struct compare *c)
{
    char *all = xstrdup("");

    for (uint32_t i = 0; i < c->n; i++)
        xappend(&all, ", ", c->instance[i].label);
    return all;
}

static int find_truth(struct compare *c, struct err *e)
{
    const char *label = c->params.truth;

    while (*label && c->truth < c->n && strcmp(c->instance[c->truth].label, label) != 0)
        c->truth++;
    if (c->truth == c->n) {
        char *all = all_labels(c);
        err_set(e, LARD_CONFIG,
                "compare.truth: no policy of this run has the label '%s'; it has %s", label, all);
        free(all);
        return -1;
    }
    const struct instance *truth = &c->instance[c->truth];
    if (exact(&truth->promise))
        return 0;
    return err_set(e, LARD_CONFIG,
                   "compare.truth: '%s' (%s) is no exact detector of happens-before, and what it "
                   "reports is no measure of false and missed; choose another with --truth, vc for "
                   "one",
                   truth->label, truth->promise.property);
}

/* ---- instances ------------------------------------------------------------------------------ */

/* Views that see the same synchronisation and threads share their order. */
static struct ordering *order_for(struct compare *c, uint32_t i)
{
    const unsigned bits = VIEW_ALL_SYNC | VIEW_NO_THREAD;

    for (uint32_t k = 0; k < i; k++)
        if (c->instance[k].order && (c->instance[k].view & bits) == (c->instance[i].view & bits))
            return c->instance[k].order;
    return c->order[c->orders++] = ordering_new(c->instance[i].checker, &c->budget);
}

static void add_instance(struct compare *c, const struct checker *checker)
{
    struct instance *in = &c->instance[c->n];

    in->checker = checker;
    in->label = checker_label(checker);
    in->view = checker_view(checker);
    in->promise = checker_promise(checker);
    in->by_access = (in->promise.claims & (CLAIM_EAGER | CLAIM_REGION)) == CLAIM_EAGER;
    if (in->by_access && c->params.why)
        in->order = order_for(c, c->n);
    c->n++;
}

/* Returns the property that the policy promises, whether or not it kept the promise: compare_same
 * tells that. */
static char *promise_text(const struct instance *in, const struct instance *truth)
{
    static const char *const how[] = {"nothing promised", "sound", "precise", "sound, precise"};
    const unsigned both = CLAIM_SOUND | CLAIM_PRECISE;

    return xasprintf("%s (%s%s)", in->promise.property, how[in->promise.claims & both],
                     in->view == truth->view ? "" : " in its own view");
}
_Static_assert(CLAIM_SOUND == 1 && CLAIM_PRECISE == 2, "promise_text's table");

static void name_properties(struct compare *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct instance *in = &c->instance[i];
        in->property = i == c->truth ? xasprintf("the truth: %s", in->promise.property)
                                     : promise_text(in, &c->instance[c->truth]);
    }
}

bool compare_same(const struct instance *in)
{
    const enum of of = in->by_access ? OF_ACCESS : OF_PLACE;

    return !in->count[VERDICT_FALSE].n[of] && !in->count[VERDICT_MISSED].n[of];
}

/* ---- statistics ----------------------------------------------------------------------------- */

static void declare_access_stats(struct stats_group *g, struct difference_counts *n, enum verdict v)
{
    static const char *const text[VERDICTS][2] = {
        {"Accesses racy here and not in the truth (LARD's F DRE).",
         "Distinct sites of those (LARD's F PC)."},
        {"Accesses racy in the truth and not here (LARD's M DRE).",
         "Distinct sites of those (LARD's M PC)."},
    };

    stats_count(g, "accesses", "accesses", text[v][0], &n->n[OF_ACCESS]);
    stats_distinct(g, "sites", "sites", text[v][1], &n->sites, &n->sites_roi);
    stats_count(g, "program", "accesses", "Of those accesses, the program's.", &n->program);
    stats_count(g, "system", "accesses", "Of those accesses, the runtime system's.", &n->system);
}

static void declare_key_stats(struct stats_group *g, struct difference_counts *n, enum verdict v)
{
    static const char *const text[VERDICTS][2] = {
        {"Places racy here and not in the truth.",
         "Pairs of sites that race here and not in the truth."},
        {"Places racy in the truth and not here.",
         "Pairs of sites that race in the truth and not here."},
    };

    stats_distinct(g, "places", "places", text[v][0], &n->n[OF_PLACE], &n->roi[OF_PLACE]);
    stats_distinct(g, "pairs", "pairs", text[v][1], &n->n[OF_PAIR], &n->roi[OF_PAIR]);
}

/* false.why.accesses.unchecked and so on. */
static void declare_why_stats(struct stats_group *g, struct difference_counts *n, enum of of)
{
    static const char *const help[WHYS] = {
        "Differences where the silent side does not check the access.",
        "Differences where the accesses named do not conflict.",
        "Differences where the silent side orders the two accesses.",
        "Differences where the silent side has no record of the earlier access at the location.",
        "Differences where the silent side goes by a rule of its own.",
        "Differences that are not explained.",
    };

    g = stats_group(stats_group(g, "why"), of_plural[of]);
    for (size_t w = 0; w < WHYS; w++)
        stats_count(g, why_text[w], "differences", help[w], &n->why[of][w]);
    stats_sum(g, "reasons", "Every difference has one reason.", n->why[of], WHYS, &n->n[of]);
}

static void declare_instance(struct compare *c, struct instance *in, struct stats_group *g)
{
    struct difference_counts *n = in->count;

    for (int v = 0; v < VERDICTS; v++) {
        struct stats_group *by = stats_group(g, verdict_text[v]);
        if (in->by_access)
            declare_access_stats(by, &n[v], (enum verdict)v);
        declare_key_stats(by, &n[v], (enum verdict)v);
        for (int of = in->by_access ? OF_ACCESS : OF_PLACE; of < OFS; of++)
            declare_why_stats(by, &n[v], (enum of)of);
    }
    if (!in->by_access)
        return;
    stats_invariant(g, "accesses",
                    "The truth's racy accesses, less missed and plus false ones, "
                    "are the policy's.",
                    STATS_SUM(&c->instance[c->truth].accesses, &n[VERDICT_FALSE].n[OF_ACCESS]),
                    STATS_EQ, STATS_SUM(&in->accesses, &n[VERDICT_MISSED].n[OF_ACCESS]));
}

static void declare_stats(struct compare *c, struct stats *stats)
{
    struct stats_group *all = stats_group(stats_root(stats), "compare");

    for (uint32_t i = 0; i < c->n; i++)
        if (i != c->truth)
            declare_instance(c, &c->instance[i], stats_group(all, c->instance[i].label));
}

/* ---- life ----------------------------------------------------------------------------------- */

static int setup(struct compare *c, const struct compare_env *env, struct err *e)
{
    if (config_bind(env->config, "compare", compare_param_rows, &c->params, e))
        return -1;
    if (env->checkers < 2)
        return err_set(e, LARD_CONFIG, "policies: compare needs two or more, as in 'vc,fasttrack'");
    if (env->checkers > COMPARE_INSTANCES)
        return err_set(e, LARD_CONFIG,
                       "policies: compare takes %d at most; leave out some, or use several runs",
                       COMPARE_INSTANCES);
    for (size_t i = 0; i < env->checkers; i++)
        add_instance(c, env->checker[i]);
    if (find_truth(c, e))
        return -1;
    name_properties(c);
    declare_stats(c, env->stats);
    return 0;
}

struct compare *compare_new(const struct compare_env *env, struct err *e)
{
    struct compare *c = xcalloc(1, sizeof *c);

    c->env = *env;
    c->budget.of = env->memory;
    c->granule = env->granule ? env->granule : 1;
    c->granule_is_size = env->granule != GRANULE_FIELD;
    c->ids = shadow_new(c->granule, sizeof(uint64_t), &c->budget);
    for (int i = 0; i < OFS; i++) {
        map_init(&c->seen[i], &c->budget);
        map_init(&c->seen_roi[i], &c->budget);
    }
    for (int v = 0; v < VERDICTS; v++) {
        map_init(&c->sites[v], &c->budget);
        map_init(&c->sites_roi[v], &c->budget);
    }
    if (!setup(c, env, e)) {
        if (c->params.why)
            c->fates = fates_new(env->checker, c->n, env->granule, &c->budget);
        return c;
    }
    compare_free(c);
    return NULL;
}

void compare_free(struct compare *c)
{
    if (!c)
        return;
    fates_free(c->fates);
    for (uint32_t i = 0; i < c->orders; i++)
        ordering_free(c->order[i]);
    for (uint32_t i = 0; i < c->n; i++)
        free(c->instance[i].property);
    for (int i = 0; i < OFS; i++) {
        map_free(&c->seen[i]);
        map_free(&c->seen_roi[i]);
    }
    for (int v = 0; v < VERDICTS; v++) {
        map_free(&c->sites[v]);
        map_free(&c->sites_roi[v]);
    }
    for (size_t i = 0; i < c->open_n; i++) {
        if (c->open[i].told)
            free(c->open[i].told->says);
        free(c->open[i].told);
    }
    shadow_free(c->ids);
    free(c->fresh);
    free(c->open);
    free(c);
}

/* ---- the end -------------------------------------------------------------------------------- */

/* A difference that was open may have gone: the side that was silent has found the race later. */
static bool stands(const struct compare *c, const struct open *o)
{
    const uint64_t finders = *map_find(&c->seen[o->of], o->key);
    const uint32_t silent = o->verdict == VERDICT_MISSED ? o->instance : c->truth;

    return !(finders >> silent & 1);
}

void compare_finish(struct compare *c)
{
    if (!c)
        return;
    compare_settle(c, NULL);
    for (size_t i = 0; i < c->open_n; i++) {
        const struct open *o = &c->open[i];
        if (!stands(c, o))
            continue;
        c->instance[o->instance].count[o->verdict].why[o->of][o->why]++;
        if (o->told)
            compare_list(c, o->told);
        else
            c->unlisted += !o->implied;
    }
}
