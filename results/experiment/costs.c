/* costs.c - what a finished run cost its policy, out of the statistics. It prints
 * nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/experiment/costs.h"
#include "results/job/told.h"
#include "sim/lardsim.h"

const char *const hardware_part_name[HARDWARE_PARTS] = {
    [PART_FILLS] = "fills",     [PART_EVICTIONS] = "evictions",   [PART_STORMS] = "storms",
    [PART_CHECKS] = "checks",   [PART_REGIONS] = "regions",       [PART_FLUSHES] = "flushes",
    [PART_RUNTIME] = "runtime", [PART_ROLL_OVERS] = "roll-overs", [PART_HISTORIES] = "histories"};

const char *const cost_spent_name[COST_SPENTS] = {
#define SPENT(NAME, text, help) [COST_SPENT_##NAME] = text,
    LARDSIM_SPENT(SPENT)
#undef SPENT
};

enum { METADATA_MISSES = 3 }; /* the first of them; what follows is no miss */
static const char *const metadata[] = {"load-misses",   "store-misses",   "atomic-misses",
                                       "load-hits",     "store-hits",     "atomic-hits",
                                       "load-upgrades", "store-upgrades", "atomic-upgrades"};

enum part { WHOLE, REGION };
static const char *const prefix[] = {[WHOLE] = "", [REGION] = "roi."};

/* 0 where the run has no such statistic: not every machine has every level, and not every policy
 * metadata. */
static uint64_t stat_of(const struct lardsim *l, enum part of, const char *group, const char *name)
{
    uint64_t v;

    run_stat(l, &v, "%s%s%s", prefix[of], group, name);
    return v;
}

static bool has_stat(const struct lardsim *l, const char *group, const char *part)
{
    return run_stat(l, &(uint64_t){0}, "%s%s", group, part);
}

static void read_metadata(struct part_costs *to, const struct lardsim *l, enum part of)
{
    for (size_t i = 0; i < ARRAY_SIZE(metadata); i++) {
        const uint64_t v = stat_of(l, of, "l1.metadata.", metadata[i]);
        to->cost[COST_METADATA] += v;
        to->cost[COST_METADATA_MISSES] += i < METADATA_MISSES ? v : 0;
    }
}

/* Bytes of metadata. A policy in software lays them out itself. One in hardware has history lines
 * on chip and the tables of its manager; each peak is at its own time, so the most of both together
 * may have been less than the sum shown. */
static const struct {
    const char *live, *peak;
    bool lines; /* counted in lines */
} bytes[] = {{"metadata.live", "metadata.peak", false},
             {"lines.live", "lines.peak", true},
             {"manager.bytes", "manager.bytes-peak", false}};

static bool has_bytes(const struct lardsim *l, const char *group)
{
    bool has = false;

    for (size_t i = 0; i < ARRAY_SIZE(bytes); i++)
        has |= has_stat(l, group, bytes[i].live);
    return has;
}

static void read_bytes(struct part_costs *to, const struct lardsim *l, enum part of,
                       const char *group)
{
    const uint64_t line = stat_of(l, WHOLE, "machine.", "line");

    for (size_t i = 0; i < ARRAY_SIZE(bytes); i++) {
        const uint64_t unit = bytes[i].lines ? line : 1;
        to->cost[COST_BYTES] += unit * stat_of(l, of, group, bytes[i].live);
        to->cost[COST_BYTES_PEAK] += unit * stat_of(l, of, group, bytes[i].peak);
    }
}

/* Reads the verdict of this execution's truth on the policy's reports. */
static void read_truth(struct own_truth *to, const struct lardsim *l, const char *label,
                       const char *truth)
{
    struct lardsim_instance in;

    for (size_t i = 0; lardsim_compare_instance(l, i, &in); i++) {
        if (strcmp(in.label, label) != 0)
            continue;
        const char *of = in.by_access ? "accesses" : "places";
        *to = (struct own_truth){.known = true, .by_access = in.by_access};
        run_stat(l, &to->racy, "policy.%s.races.%s", truth, in.by_access ? of : "locations");
        run_stat(l, &to->is_false, "compare.%s.false.%s", label, of);
        run_stat(l, &to->missed, "compare.%s.missed.%s", label, of);
    }
}

/* Handlers by reason; of evictions, those that handlers of evictions brought on stand apart. */
static void read_hardware(struct part_costs *to, const struct lardsim *l, enum part of,
                          const char *group)
{
    static const struct {
        const char *name;
        enum hardware_part part;
    } parts[] = {
        {"manager.cycles.fill", PART_FILLS},    {"manager.cycles.eviction", PART_EVICTIONS},
        {"manager.cycles.check", PART_CHECKS},  {"manager.cycles.clear", PART_REGIONS},
        {"manager.cycles.copy", PART_REGIONS},  {"manager.cycles.move", PART_REGIONS},
        {"manager.cycles.flush", PART_FLUSHES}, {"manager.cycles.roll-over", PART_ROLL_OVERS},
        {"runtime-cycles", PART_RUNTIME},       {"storm-cycles", PART_STORMS}};
    uint64_t known = 0;

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        to->hardware[parts[i].part] += stat_of(l, of, group, parts[i].name);
    for (size_t i = 0; i < HARDWARE_PARTS; i++)
        known += i == PART_STORMS ? 0 : to->hardware[i];
    const uint64_t storms = to->hardware[PART_STORMS];
    to->hardware[PART_EVICTIONS] -=
        storms < to->hardware[PART_EVICTIONS] ? storms : to->hardware[PART_EVICTIONS];
    const uint64_t all = to->spent[COST_SPENT_HANDLER];
    to->hardware[PART_HISTORIES] = all > known ? all - known : 0;
}

static void read_part(struct part_costs *to, const struct lardsim *l, enum part of,
                      const char *group)
{
    to->cost[COST_CORES] = stat_of(l, WHOLE, "machine.", "cores");
    to->cost[COST_CORES_USED] = stat_of(l, WHOLE, "machine.", "cores-used");
    to->cost[COST_CYCLES] = stat_of(l, of, RUN_TIME_WHOLE, "");
    to->cost[COST_REMOTE] = stat_of(l, of, "coherence.", "from-remote");
    to->cost[COST_COLLECTIONS] = stat_of(l, of, group, "cost.collections");
    to->cost[COST_SPACE_COLLECTIONS] = stat_of(l, of, group, "space.collections");
    to->cost[COST_SPACE_HEAP] = stat_of(l, of, group, "space.heap");
    to->cost[COST_SPACE_METADATA] = stat_of(l, of, group, "space.metadata");
    to->cost[COST_SPACE] = stat_of(l, of, group, "space.total");
    to->cost[COST_CHIP_PEAK] =
        stat_of(l, of, group, "lines.peak") * stat_of(l, WHOLE, "machine.", "line");
    to->cost[COST_RACES] = stat_of(l, of, group, "races.accesses");
    to->cost[COST_SITES] = stat_of(l, of, group, "races.sites");
    to->cost[COST_LOCATIONS] = stat_of(l, of, group, "races.locations");
    read_metadata(to, l, of);
    read_bytes(to, l, of, group);
    for (size_t i = 0; i < COST_SPENTS; i++)
        to->spent[i] = stat_of(l, of, "machine.spent.", cost_spent_name[i]);
    read_hardware(to, l, of, group);
}

/* Cores that wait at the end of a region, and those that went on beyond it, are not all as long in
 * it: what is missing is idle, so that cycles add up. */
static void fill_up(struct part_costs *to)
{
    const uint64_t all = to->cost[COST_CYCLES] * to->cost[COST_CORES];
    uint64_t sum = 0;

    for (size_t i = 0; i < COST_SPENTS; i++)
        sum += to->spent[i];
    to->spent[COST_SPENT_IDLE] += all > sum ? all - sum : 0;
}

void costs_read(struct costs *to, const struct lardsim *l, const char *truth)
{
    char *group = xasprintf("policy.%s.", to->label);

    read_part(&to->whole, l, WHOLE, group);
    if (has_stat(l, RUN_TIME_REGION, "")) {
        read_part(&to->region, l, REGION, group);
        fill_up(&to->region);
    }
    if (!lardsim_course(l, &to->course))
        to->course.events = 0;
    to->has_bytes = has_bytes(l, group);
    to->has_manager = has_stat(l, group, "manager.cycles.fill");
    if (truth)
        read_truth(&to->truth, l, to->label, truth);
    to->findings = lardsim_findings(l);
    to->events = lardsim_events(l);
    to->identity = lardsim_identity(l);
    to->digest = lardsim_digest(l);
    to->behaviour = lardsim_behaviour(l);
    free(group);
}

struct run_time costs_time(const struct cost_table *t, const struct costs *r)
{
    return (struct run_time){.whole = r->whole.cost[COST_CYCLES],
                             .region = r->region.cost[COST_CYCLES],
                             .has_whole = true,
                             .has_region = t->region};
}

struct overhead costs_overhead(const struct cost_table *t, const struct costs *r,
                               enum overhead_of which)
{
    const struct run_time with = costs_time(t, r), without = costs_time(t, &t->row[0]);

    return overhead_of(&with, &without, which);
}

void costs_machine(struct cost_table *t, const struct lardsim *l)
{
    t->order = xstrdup(lardsim_machine_is(l, "order"));
    t->contention = xstrdup(lardsim_machine_is(l, "contention"));
    t->memory = xstrdup(lardsim_machine_is(l, "memory"));
    t->frequency = stat_of(l, WHOLE, "machine.", "frequency");
    t->region = has_stat(l, RUN_TIME_REGION, "");
}

/* ---- what was configured -------------------------------------------------------------------- */

/* Runs differ in `policies` alone, and in whose section there is. */
void costs_setting(void *table, const char *name, const char *text)
{
    struct cost_table *t = table;

    for (size_t i = 0; i < t->settings; i++)
        if (!strcmp(t->setting[i].name, name))
            return;
    t->setting = xgrow(t->setting, t->settings, &t->settings_cap, sizeof *t->setting);
    t->setting[t->settings++] = (struct cost_setting){
        xstrdup(name), xstrdup(strcmp(name, "policies") ? text : t->policies)};
}
