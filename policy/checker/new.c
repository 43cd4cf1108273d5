/* new.c - an instance of a policy is made: its label and parameters, its statistics, all
 * that it owns. The order matters: what may refuse comes before statistics are declared, which is
 * for good. */
#include "policy/checker/checker_int.h"

#include "base/text.h"
#include "policy/cost/inline_heap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct common_params {
    uint32_t view, after_race, metadata;
    struct filter_params filter;
    bool charged;
};

static const char *const view_choices[] = {"tracked", "all-memory", "all-sync", "no-clear",
                                           "no-copy", "no-thread",  "naive",    NULL};
enum { METADATA_AUTO, METADATA_INLINE, METADATA_SHADOW };
static const char *const metadata_choices[] = {"auto", "inline", "shadow", NULL};
const struct param checker_param_rows[] = {
#define PARAMS_DEF "policy/checker/params.def"
#define PARAMS_OF  struct common_params
#include "base/param_rows.h"
};

enum { LABEL_MAX = 100 }; /* a parameter's name with it fits a configuration file */

static int check_label(const char *label, size_t n, struct err *e)
{
    /* Labels are parts of parameters' names and of files' names. */
    if (n > LABEL_MAX)
        return err_set(e, LARD_CONFIG, "policies: label '%.20s...' has %zu characters; at most %d",
                       label, n, LABEL_MAX);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)label[i]) && label[i] != '-' && label[i] != '_')
            return err_set(e, LARD_CONFIG,
                           "policies: label '%.*s' may have letters, digits, '-' and '_' only",
                           (int)n, label);
    return n ? 0
             : err_set(e, LARD_CONFIG,
                       "policies: an empty label or name; write 'vc' or 'label=vc'");
}

/* An unknown name is likely a slip of the pen: the nearest one is proposed. */
static const struct policy *lookup(const char *name, struct err *e)
{
    const struct policy *p = policy_find(name);
    const char *known[64];
    size_t n = 0;

    if (p)
        return p;
    for (; policies[n] && n < ARRAY_SIZE(known); n++)
        known[n] = policies[n]->name;
    const char *near = nearest_name(name, known, n);
    err_set(e, LARD_CONFIG, "policies: no policy '%s'; %s%s%s`lardsim list policies` shows them",
            name, near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
    return NULL;
}

int checker_label_check(const char *spec, size_t n, struct err *e)
{
    const char *eq = memchr(spec, '=', n);
    const size_t label = eq ? (size_t)(eq - spec) : 0, name = n - label - 1;

    for (size_t i = 0; label && policies[i]; i++) {
        const char *other = policies[i]->name;
        if (strlen(other) == label && strncasecmp(other, spec, label) == 0 &&
            !(name == label && strncmp(other, eq + 1, name) == 0))
            return err_set(e, LARD_CONFIG,
                           "policies: '%.*s' has the name of another policy as its label, and its "
                           "results would pass for those of %s; give it a label of its own, as in "
                           "'mine=%.*s'",
                           (int)n, spec, other, (int)name, eq + 1);
    }
    return 0;
}

/* "label=name", or a name that is its own label. */
static int parse_spec(struct checker *c, const char *spec, struct err *e)
{
    const char *eq = strchr(spec, '='), *name = eq ? eq + 1 : spec;
    const size_t n = eq ? (size_t)(eq - spec) : strlen(spec);

    if (check_label(spec, n, e) || checker_label_check(spec, strlen(spec), e))
        return -1;
    c->policy = lookup(name, e);
    if (!c->policy)
        return -1;
    c->label = xasprintf("%.*s", (int)n, spec);
    return 0;
}

static void declare_stats(struct checker *c, struct stats_group *g)
{
    struct checker_stats *st = &c->st;

    report_init(&c->report, &c->env, c->label, g, &c->budget);
    stats_count(g, "accesses", "accesses", "Data accesses, in the view or not.", &st->accesses);
    stats_count(g, "checked", "accesses", "Accesses checked.", &st->checked);
    stats_count(g, "unchecked", "accesses", "Accesses outside the view.", &st->unchecked);
    stats_count(g, "disabled", "accesses",
                "Accesses not checked, as all their locations were disabled after a race.",
                &st->disabled);
    stats_count(g, "syncs", "events", "Events of synchronisation and raw LARDx86 heeded.",
                &st->syncs);
    stats_count(g, "syncs-unheeded", "events",
                "Events of synchronisation and raw LARDx86 outside the view.", &st->syncs_unheeded);
    stats_count(g, "clears", "events", "Clears heeded.", &st->clears);
    stats_count(g, "copies", "events", "Copies heeded.", &st->copies);
    stats_invariant(
        g, "accesses.split",
        "Every access was checked, outside the view, disabled, or never committed.",
        STATS_SUM(&st->checked, &st->unchecked, &st->spared, &st->disabled, &st->uncommitted),
        STATS_EQ, STATS_SUM(&st->accesses));
    stats_invariant(g, "races.checked", "Only what was checked can race.",
                    STATS_SUM(&c->report.accesses), STATS_LE,
                    STATS_SUM(&st->checked, &c->report.several));
}

/* Without a machine, instructions and accesses take no time. */
static sim_cycle no_exec(void *host, unsigned core, unsigned instructions, sim_cycle now)
{
    (void)host;
    (void)core;
    (void)instructions;
    return now;
}

static sim_cycle no_mem(void *host, unsigned core, struct paddr a, unsigned bytes, enum mem_cmd cmd,
                        sim_cycle now)
{
    (void)host;
    (void)core;
    (void)a;
    (void)bytes;
    (void)cmd;
    return now;
}

/* Makes a policy free of charge: it gets no machine, so that it is the same detector as without
 * one. */
static int free_of_charge(struct checker *c, struct err *e)
{
    if (c->policy->hardware)
        return err_set(e, LARD_CONFIG,
                       "policy.%s.charged: what %s does is the hardware's and can't be free; "
                       "remove charged=off",
                       c->label, c->policy->name);
    c->watches = true;
    c->env.machine = NULL;
    c->env.host = NULL;
    c->env.exec = NULL;
    c->env.mem = NULL;
    return 0;
}

/* Software whose threads all go to the same metadata. */
static int needs_one_memory(const struct checker *c, struct err *e)
{
    if (!c->env.machine || !c->env.machine->dsm || !c->policy->charges || c->policy->by_process)
        return 0;
    return err_set(e, LARD_CONFIG,
                   "policy %s: all threads share its metadata, and with machine=dsm processes have "
                   "memories of their own; set policy.%s.charged=off, so that it costs nothing, or "
                   "machine=multicore",
                   c->label, c->label);
}

/* NULL: in a space of their own. */
static int place_metadata(struct checker *c, uint32_t wanted, struct err *e)
{
    struct inline_heap *h = c->env.machine ? c->env.machine->inlined : NULL;
    const struct layout *l = c->policy_env.layout;
    const bool coarse = c->env.granule == GRANULE_FIELD || c->env.granule >= 4;

    if (wanted == METADATA_INLINE && !c->policy->inlines)
        return err_set(e, LARD_CONFIG,
                       "policy.%s.metadata: inline is for fasttrack, fastrcd and valor, whose "
                       "paper has it (Valor 5.1); take shadow",
                       c->label);
    if (wanted == METADATA_INLINE && !coarse)
        return err_set(e, LARD_CONFIG,
                       "policy.%s.metadata: inline metadata are a field's, and granularity=%u has "
                       "several in one; set granularity=field or 4, or take shadow",
                       c->label, c->env.granule);
    if (wanted == METADATA_INLINE ||
        (wanted == METADATA_AUTO && c->policy->inlines && coarse && l->word == 4))
        c->policy_env.inlined = h;
    return 0;
}

static int create(struct checker *c, struct err *e)
{
    static const struct policy_hints no_hints = {0};
    char *section = xasprintf("policy.%s", c->label);
    struct common_params common;
    int bad = config_bind(c->env.config, section, checker_param_rows, &common, e);

    c->detector = c->policy->detector;
    c->hints = c->policy->hints ? c->policy->hints : &no_hints;
    c->hardware = c->policy->hardware;
    c->params = xcalloc(1, c->policy->params_size);
    if (!bad && c->policy->params)
        bad = config_bind(c->env.config, section, c->policy->params, c->params, e);
    free(section);
    if (bad || (!common.charged && free_of_charge(c, e)))
        return -1;
    struct stats_group *g = stats_group(stats_group(stats_root(c->env.stats), "policy"), c->label);
    const unsigned view = view_bits(common.view) | c->policy->view;
    c->skips = filter_flags(&common.filter, view_skips(view));
    c->budget.of = c->env.memory;
    c->budget.stop = c->env.stop;
    c->hb = hb_new(view, c->env.granule, &c->budget);
    c->policy_env = (struct policy_env){
        .stats = g,
        .report = &c->report,
        .budget = &c->budget,
        .hb = c->hb,
        .number = c->env.number,
        .view = view,
        .granule = c->env.granule,
        .layout = c->env.layout ? c->env.layout : &layouts[LAYOUT_DEFAULT],
        .special = c->skips | RARE_ACCESS,
        .cells = &c->cells,
        .charges = c->policy->charges,
        .cost = &c->cost,
        .machine = c->env.machine,
        .instance = c->env.instance,
        .host = c->env.host,
        .exec = c->env.exec ? c->env.exec : no_exec,
        .mem = c->env.mem ? c->env.mem : no_mem,
        .err = c->env.err,
        .context = c->env.context,
    };
    /* Statistics are for good: nothing is declared for a policy that can't be. */
    const struct filter_env filter = {c->hb, g, &c->budget, c->env.granule};
    if (place_metadata(c, common.metadata, e) || needs_one_memory(c, e) ||
        (c->policy->refuse && c->policy->refuse(&c->policy_env, c->params, e)) ||
        filter_new(&c->filter, &common.filter, &filter, e))
        return -1;
    declare_stats(c, g);
    after_race_init(&c->after, (enum after_race_mode)common.after_race, c->env.granule, g,
                    &c->budget);
    if (c->after.mode != AFTER_RACE_CONTINUE)
        c->report.after = &c->after;
    c->self = c->policy->create(&c->policy_env, c->params, e);
    /* `create` has said what the policy charges for: from here on it is known who takes time. */
    c->clocks = c->cells ? c->cells->clocks : NULL;
    c->timed = c->hardware || c->clocks;
    c->hinted = c->policy->hints != NULL;
    c->gathers = c->cost.on && !c->hardware;
    c->pays = c->gathers || (c->hardware && c->hardware->pay);
    if (c->gathers)
        stats_count(g, "cost.collections", "cycles",
                    "What the policy's work took as collections began and ended.",
                    &c->st.collections);
    if (!c->self)
        return -1;
    space_init(&c->space, c->env.heap, c->env.stats, c->label, g);
    checker_promises(c);
    return 0;
}

struct checker *checker_new(const char *spec, const struct checker_env *env, struct err *e)
{
    struct checker *c = xcalloc(1, sizeof *c);

    c->env = *env;
    if (parse_spec(c, spec, e) || create(c, e)) {
        checker_free(c);
        return NULL;
    }
    return c;
}

/* Cells go first: what they own is dropped by the policy's hooks. */
void checker_free(struct checker *c)
{
    if (!c)
        return;
    if (c->cells)
        cells_free(c->cells);
    if (c->self)
        (c->policy->destroy ? c->policy->destroy : free)(c->self);
    ledger_free(&c->cost);
    for (size_t i = 0; i < c->txns; i++)
        free(c->txn[i].access);
    free(c->txn);
    report_free(&c->report);
    after_race_free(&c->after);
    filter_free(c->filter);
    free(c->property);
    hb_free(c->hb);
    free(c->params);
    free(c->label);
    free(c);
}
