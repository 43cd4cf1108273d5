/* params.c - the top-level parameters, the presets, and the walk over all tables for list and
 * explain. */
#include "sim/session/session.h"

#include <stdlib.h>
#include <string.h>

#include "policy/checker.h"

static const char *const machine_choices[] = {"none", "multicore", "dsm", NULL};
static const char *const order_choices[] = {"auto", "recorded", "timed", "program", "host", NULL};
static const char *const granularity_choices[] = {"trace", "1", "2", "4", "8", "field", NULL};

static const char *const layout_choices[] = {"trace",
#define LAYOUT(NAME, name, ...) name,
#include "trace/layout.def"
#undef LAYOUT
                                             NULL};

const struct param run_param_rows[] = {
#define PARAMS_DEF "sim/session/params.def"
#define PARAMS_OF  struct run_params
#include "base/param_rows.h"
};

const char *run_order(uint32_t order)
{
    return order_choices[order];
}

const struct layout *run_layout(const struct run_params *p, const struct source *s)
{
    if (p->layout)
        return &layouts[p->layout - 1];
    return &layouts[s ? s->layout : LAYOUT_DEFAULT];
}

/* hint: what the trace says of itself; 0: nothing. */
unsigned run_granule(const struct run_params *p, unsigned hint)
{
    static const unsigned granule[] = {0, 1, 2, 4, 8, GRANULE_FIELD};

    if (p->granularity == GRANULARITY_TRACE)
        return hint ? hint : 1;
    return granule[p->granularity];
}

#include "sim/session/machines.def"
#define AS_YAML(key, value, ...) key ": " value "\n"
/* Policies in software, on a machine; threads beyond its cores take turns. */
#define ON_MACHINE "machine: multicore\npolicies: [none]\nschedule.threads: round-robin\n"

#define CE_MACHINE(cores, l3)                                                                      \
    {                                                                                              \
        "ce" cores,                                                                                \
            "The published CE simulator's MESI machine with " cores                                \
            " cores, charge for charge (compat = ce).",                                            \
            "machine: multicore\norder: recorded\ncompat: ce\ncontention: off\npolicies: [none]\n" \
            "cores: " cores "\nl3: {" l3 "}\npages.mapping: identity\n"                            \
            "core.memory-instruction: latency\n"                                                   \
    }

const struct preset run_presets[] = {
    {"detect", "Detection only, with the canonical detector.", "machine: none\npolicies: [vc]\n"},
    {"lard-table3",
     "LARD's Table 3: the accurate detector and one variant for each extension left out, on one "
     "execution.",
     "machine: none\n"
     "policies: [lard=vc, all-memory=vc, all-sync=vc, no-clear=vc, no-copy=vc, naive=vc]\n"
     "policy:\n"
     "  lard: {view: tracked}\n"
     "  all-memory: {view: all-memory}\n"
     "  all-sync: {view: all-sync}\n"
     "  no-clear: {view: no-clear}\n"
     "  no-copy: {view: no-copy}\n"
     "  naive: {view: naive}\n"},
    {"kernel-threads",
     "The accurate detector beside one that takes kernel threads for threads (LARD 3.5).",
     "machine: none\n"
     "policies: [lard=vc, no-thread=vc]\n"
     "policy.no-thread.view: no-thread\n"},
    {"all-accesses",
     "A history that keeps every thread's last read and write, as RAPID's happens-before engine "
     "counts.",
     "machine: none\n"
     "policies: [vc]\n"
     "policy.vc.history: all\n"},
    {"radish8",
     "RADISH's machine: 8 cores, 32 KiB L1, 256 KiB L2, 8 MiB L3, memory at 120 cycles; "
     "threads beyond 8 take turns.",
     ON_MACHINE},
    {"radish8-large",
     "The other reading of RADISH's machine: 64 KiB L1, 16 MiB L3; else as radish8.",
     "inherit: radish8\nl1.size: 64Ki\nl3.size: 16Mi\n"},
    {"opteron64",
     "Valor's machine: AMD Opteron 6272, 64 cores in pairs that share an L2, eight NUMA nodes.",
     ON_MACHINE MACHINE_OPTERON64(AS_YAML)},
    {"xeon32",
     "Valor's second machine (appendix C): Intel Xeon E5-4620, 32 cores, four NUMA nodes.",
     ON_MACHINE MACHINE_XEON32(AS_YAML)},
    {"pentium4-4",
     "LARD's own machine (5.4): a Xeon of 2.8 GHz with four NetBurst cores on one bus.",
     ON_MACHINE MACHINE_PENTIUM4_4(AS_YAML)},
    {"pentium4", "Goldilocks' machine: one Pentium 4 of 2.8 GHz.",
     ON_MACHINE MACHINE_PENTIUM4(AS_YAML)},
    {"macpro12", "SlimState's machine: a Mac Pro with a 12-core Xeon of 2.7 GHz.",
     ON_MACHINE MACHINE_MACPRO12(AS_YAML)},
    {"piledriver64",
     "SlimState's machine for scaling: four AMD processors of 16 cores, read as Opteron 6378.",
     ON_MACHINE MACHINE_PILEDRIVER64(AS_YAML)},
    {"alpha-cvm",
     "CVM's machine: 8 processes with memories of their own, on Alphas of 275 MHz, four a host, "
     "and "
     "an ATM.",
     "machine: dsm\norder: timed\npolicies: [none]\nschedule.threads: "
     "round-robin\n" MACHINE_ALPHA_CVM(AS_YAML)},
    CE_MACHINE("4", "size: 8Mi, ways: 8, latency: 25"),
    CE_MACHINE("8", "size: 16Mi, ways: 16, latency: 35"),
    CE_MACHINE("16", "size: 32Mi, ways: 16, latency: 40"),
    CE_MACHINE("32", "size: 64Mi, ways: 32, latency: 50"),
    {NULL, NULL, NULL},
};

static const char *const bases[] = {"printed", "published", "recalled", "assumed"};

void sim_each_machine(void (*fn)(void *arg, const struct machine_setting *row), void *arg)
{
    enum { PRINTED, PUBLISHED, RECALLED, ASSUMED };
    const char *preset;

#define TELL(key, value, basis, source, range)                                                     \
    fn(arg, &(struct machine_setting){preset, key, value, bases[basis], source, range});
    preset = "radish8";
    RADISH_SIZES(TELL, "32Ki", "8Mi")
    RADISH_REST(TELL)
    preset = "radish8-large";
    RADISH_SIZES(TELL, "64Ki", "16Mi")
    RADISH_REST(TELL)
    preset = "opteron64";
    MACHINE_OPTERON64(TELL)
    preset = "xeon32";
    MACHINE_XEON32(TELL)
    preset = "pentium4-4";
    MACHINE_PENTIUM4_4(TELL)
    preset = "pentium4";
    MACHINE_PENTIUM4(TELL)
    preset = "macpro12";
    MACHINE_MACPRO12(TELL)
    preset = "piledriver64";
    MACHINE_PILEDRIVER64(TELL)
    preset = "alpha-cvm";
    MACHINE_ALPHA_CVM(TELL)
#undef TELL
}

struct row_listener {
    void (*fn)(void *arg, const char *section, const struct param *row);
    void *arg;
};

static void each_row(void *listener, const char *section, const struct param *rows)
{
    const struct row_listener *to = listener;

    for (; rows && rows->name; rows++)
        to->fn(to->arg, section, rows);
}

void sim_each_param(void (*fn)(void *arg, const char *section, const struct param *row), void *arg)
{
    struct row_listener to = {fn, arg};

    each_row(&to, "", run_param_rows);
    each_row(&to, "compare", compare_param_rows);
    machine_each_table(each_row, &to);
    each_row(&to, "schedule", schedule_param_rows);
    each_row(&to, "host", host_param_rows);
    each_row(&to, "", caches_param_rows);
    for (size_t i = 0; policies[i]; i++) {
        char *section = xasprintf("policy.%s", policies[i]->name);
        each_row(&to, section, checker_param_rows);
        each_row(&to, section, policies[i]->params);
        free(section);
    }
}

struct other_stats { /* of those that another run has not */
    void (*fn)(void *arg, const char *name, const char *unit, const char *help);
    void *arg;
    const struct stats *told;
};

static void tell_new(void *arg, const char *name, const char *unit, const char *help)
{
    const struct other_stats *t = arg;
    char *first = xasprintf("%s.0", name);
    uint64_t value;

    if (!stats_value(t->told, name, &value) && !stats_value(t->told, first, &value) &&
        (!strncmp(name, "dsm.", 4) || strstr(name, spent_text[SPENT_PAGE_FAULT]) ||
         strstr(name, spent_text[SPENT_SERVICE])))
        t->fn(t->arg, name, unit, help);
    free(first);
}

/* Names the statistics of processes with memories of their own, too. */
static void each_stat_of_dsm(struct other_stats *t)
{
    struct lardsim *l = lardsim_new();

    if (!lardsim_set(l, "policies=none") && !lardsim_set(l, "granularity=4") &&
        !lardsim_set(l, "layout=default") && !lardsim_set(l, "machine=dsm") && !lardsim_start(l))
        stats_each(l->stats, tell_new, t);
    lardsim_free(l);
}

/* Names the statistics of a run that has all policies, on a machine of several nodes with shared
 * L2s and pipelined cores, compared; the run is made, and nothing runs. */
static void each_stat(void (*fn)(void *arg, const char *name, const char *unit, const char *help),
                      void *arg)
{
    struct lardsim *l = lardsim_new();
    char *all = xstrdup("policies=none");

    for (size_t i = 0; policies[i]; i++)
        if (strcmp(policies[i]->name, "none") != 0)
            xappend(&all, ",", policies[i]->name);
    l->listing = true; /* policies that exclude each other may be there together */
    if (!lardsim_set(l, all) && !lardsim_set(l, "granularity=4") &&
        !lardsim_set(l, "layout=default") && !lardsim_set(l, "machine=multicore") &&
        !lardsim_set(l, "l2.shared-by=2") && !lardsim_set(l, "numa.nodes=2") &&
        !lardsim_set(l, "l3.inclusion=non-inclusive") && !lardsim_set(l, "core.type=pipelined") &&
        !lardsim_set(l, "perturb.seed=1") && !lardsim_compare(l) &&
        !lardsim_set(l, "compare.truth=vc") && !lardsim_start(l))
        stats_each(l->stats, fn, arg);
    each_stat_of_dsm(&(struct other_stats){fn, arg, l->stats});
    free(all);
    lardsim_free(l);
}

struct row_teller { /* of lardsim_each */
    void (*fn)(void *arg, const char *name, const char *text, const char *help);
    void *arg;
};

static void tell_param(void *teller, const char *section, const struct param *row)
{
    const struct row_teller *t = teller;
    char *name = xasprintf("%s%s%s", section, *section ? "." : "", row->name);

    t->fn(t->arg, name, row->value, row->help);
    free(name);
}

static void each_policy(const struct row_teller *t)
{
    for (size_t i = 0; policies[i]; i++) {
        struct lardsim *l = lardsim_new();
        struct lardsim_promise promise;
        if (!lardsim_promise(l, policies[i]->name, &promise))
            t->fn(t->arg, promise.policy, promise.property, policies[i]->summary);
        lardsim_free(l);
    }
}

void lardsim_each(enum lardsim_table table,
                  void (*fn)(void *arg, const char *name, const char *text, const char *help),
                  void *arg)
{
    struct row_teller t = {fn, arg};

    if (table == LARDSIM_PARAMETERS)
        sim_each_param(tell_param, &t);
    if (table == LARDSIM_STATISTICS)
        each_stat(fn, arg);
    for (size_t i = 0; table == LARDSIM_PRESETS && run_presets[i].name; i++)
        fn(arg, run_presets[i].name, run_presets[i].yaml, run_presets[i].help);
    if (table == LARDSIM_POLICIES)
        each_policy(&t);
}

bool lardsim_is_preset(const char *name)
{
    for (const struct preset *p = run_presets; p->name; p++)
        if (!strcmp(p->name, name))
            return true;
    return false;
}
