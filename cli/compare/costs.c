/* costs.c - what a finished run cost its policy, out of the statistics. It prints
 * nothing. */
#include <stdlib.h>
#include <string.h>

#include "cli/compare/compare.h"
#include "sim/sim.h"

enum { METADATA_MISSES = 3 }; /* the first of them; what follows is no miss */
static const char *const metadata[] = {"load-misses",   "store-misses",   "atomic-misses",
                                       "load-hits",     "store-hits",     "atomic-hits",
                                       "load-upgrades", "store-upgrades", "atomic-upgrades"};

/* 0 where the run has no such statistic: not every machine has every level, and not every policy
 * metadata. */
static uint64_t stat_of(const struct lardsim *l, const char *group, const char *part)
{
    char *name = xasprintf("%s%s", group, part);
    uint64_t v;

    if (lardsim_stat(l, name, &v))
        v = 0;
    free(name);
    return v;
}

static bool has_stat(const struct lardsim *l, const char *group, const char *part)
{
    char *name = xasprintf("%s%s", group, part);
    uint64_t v;
    const bool has = !lardsim_stat(l, name, &v);

    free(name);
    return has;
}

static void read_metadata(struct costs *to, const struct lardsim *l)
{
    for (size_t i = 0; i < ARRAY_SIZE(metadata); i++) {
        const uint64_t v = stat_of(l, "l1.metadata.", metadata[i]);
        to->cost[COST_METADATA] += v;
        to->cost[COST_METADATA_MISSES] += i < METADATA_MISSES ? v : 0;
    }
}

/* Bytes of metadata. A policy in software lays them out itself. One in hardware has history lines
 * on chip and the tables of its manager; each peak is at its own time, so the most of both together
 * may have been less than the sum shown. */
static void read_bytes(struct costs *to, const struct lardsim *l)
{
    const struct {
        const char *live, *peak;
        uint64_t unit;
    } of[] = {{"metadata.live", "metadata.peak", 1},
              {"lines.live", "lines.peak", stat_of(l, "machine.", "line")},
              {"manager.bytes", "manager.bytes-peak", 1}};
    char *group = xasprintf("policy.%s.", to->label);

    for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
        to->has_bytes |= has_stat(l, group, of[i].live);
        to->cost[COST_BYTES] += of[i].unit * stat_of(l, group, of[i].live);
        to->cost[COST_BYTES_PEAK] += of[i].unit * stat_of(l, group, of[i].peak);
    }
    free(group);
}

static void read_races(struct costs *to, const struct lardsim *l)
{
    char *races = xasprintf("policy.%s.races.", to->label);

    to->cost[COST_RACES] = stat_of(l, races, "accesses");
    to->cost[COST_SITES] = stat_of(l, races, "sites");
    to->cost[COST_LOCATIONS] = stat_of(l, races, "locations");
    free(races);
}

void costs_read(struct costs *to, const struct lardsim *l)
{
    static const char *const spent[] = {
#define SPENT(NAME, text, help) [COST_SPENT_##NAME] = "machine.spent." text,
#include "sim/machine/spent.def"
#undef SPENT
    };
    char *group = xasprintf("policy.%s.", to->label);

    to->cost[COST_CORES] = stat_of(l, "machine.", "cores");
    to->cost[COST_CORES_USED] = stat_of(l, "machine.", "cores-used");
    to->cost[COST_CYCLES] = stat_of(l, "machine.", "cycles");
    to->cost[COST_REMOTE] = stat_of(l, "coherence.", "from-remote");
    to->cost[COST_COLLECTIONS] = stat_of(l, group, "cost.collections");
    free(group);
    read_races(to, l);
    read_metadata(to, l);
    read_bytes(to, l);
    for (size_t i = 0; i < COST_SPENTS; i++)
        to->spent[i] = stat_of(l, spent[i], "");
    to->findings = sim_findings(l);
    to->events = lardsim_events(l);
    to->identity = sim_identity(l);
    to->digest = lardsim_digest(l);
    to->behaviour = sim_behaviour(l);
}

void costs_machine(struct cost_table *t, const struct lardsim *l)
{
    t->order = xstrdup(sim_machine_is(l, "order"));
    t->contention = xstrdup(sim_machine_is(l, "contention"));
    t->memory = xstrdup(sim_machine_is(l, "memory"));
    t->frequency = stat_of(l, "machine.", "frequency");
}

/* ---- what was configured -------------------------------------------------------------------- */

/* Runs differ in `policies` alone, and in whose section there is. */
static void add_setting(void *table, const char *name, const char *text)
{
    struct cost_table *t = table;

    for (size_t i = 0; i < t->settings; i++)
        if (!strcmp(t->setting[i].name, name))
            return;
    t->setting = xgrow(t->setting, t->settings, &t->settings_cap, sizeof *t->setting);
    t->setting[t->settings++] = (struct cost_setting){
        xstrdup(name), xstrdup(strcmp(name, "policies") ? text : t->policies)};
}

void costs_settings(struct cost_table *t, const struct lardsim *l)
{
    sim_each_setting(l, add_setting, t);
}
