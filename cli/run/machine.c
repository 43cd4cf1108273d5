/* machine.c - prints what a run cost on its machine: cycles, where they went, levels,
 * traffic. All of it is in stats.json; this is the page to paste into a mail, and the "machine" of
 * the JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/run/run.h"
#include "results/table/table.h"

/* ---- what is shown: once, for both forms ---------------------------------------------------- */

enum figure {
#define FIGURE(NAME, group, key, stat) NAME,
#include "cli/run/figures.def"
#undef FIGURE
    FIGURES
};
static const struct {
    const char *group, *key; /* in the JSON */
    const char *stat;        /* the statistic that has the number */
} figures[FIGURES] = {
#define FIGURE(NAME, group, key, stat) [NAME] = {group, key, stat},
#include "cli/run/figures.def"
#undef FIGURE
};

static bool has(const struct run_result *r, enum figure f, uint64_t *v)
{
    return lardsim_stat(r->run, figures[f].stat, v) == 0;
}

/* Returns 0 if the machine has no such figure. */
static uint64_t value(const struct run_result *r, enum figure f)
{
    uint64_t v;

    return has(r, f, &v) ? v : 0;
}

/* Bandwidth in MB/s, MB being 10^6 bytes: a machine's frequency is in MHz, so no factor is left.
 * The budgets are those of the published CE evaluation, which stretches a run that needs more. */
struct bandwidth {
    const char *key, *text;
    uint64_t used, budget;
};
enum { BANDWIDTHS = 2 };

__extension__ typedef unsigned __int128 wide;

/* Bytes a cycle times cycles a microsecond. The product of two counts may not fit 64 bits. */
static uint64_t rate(const struct run_result *r, uint64_t bytes)
{
    const uint64_t cycles = value(r, CYCLES);

    return cycles ? (uint64_t)((wide)bytes * value(r, FREQUENCY) / cycles) : 0;
}

static void bandwidths(const struct run_result *r, struct bandwidth to[BANDWIDTHS])
{
    const uint64_t lines = value(r, MEMORY_READS) + value(r, MEMORY_WRITES);

    to[0] = (struct bandwidth){"on-chip", "on chip", rate(r, value(r, NETWORK_BYTES)), 100000};
    to[1] = (struct bandwidth){"off-chip", "off chip", rate(r, lines * value(r, LINE)), 48000};
}

/* ---- for people ----------------------------------------------------------------------------- */

enum { LABEL_WIDTH = 18, COUNT_WIDTH = 17, SHARE_WIDTH = 8 };

/* Parts per thousand, rounded; exact where the product fits, else near enough to print. */
static uint64_t per_mille(uint64_t part, uint64_t of)
{
    if (of == 0)
        return 0;
    return part > UINT64_MAX / 2000 ? part / (of / 1000) : (part * 2000 / of + 1) / 2;
}

static void add_share(struct table *to, uint64_t part, uint64_t of)
{
    const uint64_t m = per_mille(part, of);

    table_take(to, xasprintf("%" PRIu64 ".%" PRIu64 " %%", m / 10, m % 10), false);
}

/* "1.25" of a ratio, rounded. */
static void print_ratio(uint64_t num, uint64_t den)
{
    const uint64_t m = den ? num / den * 100 + (num % den * 200 / den + 1) / 2 : 0;

    printf("%" PRIu64 ".%02" PRIu64, m / 100, m % 100);
}

static void print_machine(const struct run_result *r)
{
    const uint64_t cores = value(r, CORES);

    printf("machine    %" PRIu64 " core%s at %" PRIu64 " MHz, %s order, contention %s, memory %s\n",
           cores, cores == 1 ? "" : "s", value(r, FREQUENCY), lardsim_machine_is(r->run, "order"),
           lardsim_machine_is(r->run, "contention"), lardsim_machine_is(r->run, "memory"));
}

static void print_cycles(const struct run_result *r)
{
    const uint64_t cycles = value(r, CYCLES), inside = value(r, INSIDE);

    printf("cycles     %" PRIu64 " (", cycles);
    print_ratio(cycles, value(r, FREQUENCY));
    printf(" us), %" PRIu64 " instructions, ", value(r, INSTRUCTIONS));
    print_ratio(value(r, INSTRUCTIONS), cycles);
    printf(" a cycle\n");
    if (inside)
        printf("region     %" PRIu64
               " cycles of interest; its numbers are under roi in stats.json\n",
               inside);
}

/* Prints how much memory the program needs, whatever the machine: the fewest and the most distinct
 * lines, and the most bytes that are live. */
static void print_footprint(const struct run_result *r)
{
    const uint64_t least = value(r, LINES_LEAST), most = value(r, LINES_MOST);

    printf("footprint  %" PRIu64 " lines of %" PRIu64 " bytes, %" PRIu64
           " of them shared; %" PRIu64,
           value(r, LINES_TOUCHED), value(r, LINE), value(r, LINES_SHARED), least);
    if (most != least)
        printf(" to %" PRIu64, most);
    if (value(r, ALLOCATIONS))
        printf(" a thread; at most %" PRIu64 " bytes allocated\n", value(r, LIVE_MOST));
    else
        printf(" a thread; the trace tells no allocations\n");
}

/* A core that had nothing to do is idle all the time, which says nothing about the run. */
static uint64_t spent(const struct run_result *r, enum figure f)
{
    const uint64_t unused = value(r, CORES) - value(r, CORES_USED);

    return value(r, f) - (f == SPENT_IDLE ? value(r, CYCLES) * unused : 0);
}

/* Prints how the cores that had threads spent their cycles; a part with no cycles is left out. The
 * shares are of cycles times those cores, so they add up to the whole. */
static void print_spent(const struct run_result *r)
{
    static const struct table_head heads[] = {
        {.name = "cores' time", .align = TABLE_LEFT, .least = LABEL_WIDTH},
        {.name = "cycles", .least = COUNT_WIDTH},
        {.name = "share", .least = SHARE_WIDTH}};
    struct table to = {0};
    const uint64_t cores = value(r, CORES), used = value(r, CORES_USED);
    const uint64_t all = value(r, CYCLES) * used;

    if (used < cores)
        printf("cores      %" PRIu64 " of %" PRIu64
               " had threads; the others are left out of the shares\n",
               used, cores);
    table_heads(&to, heads, ARRAY_SIZE(heads));
    for (enum figure f = SPENT_EXECUTING; f < L1_ACCESSES; f++) {
        const uint64_t cycles = spent(r, f);
        if (!cycles)
            continue;
        table_text(&to, figures[f].key);
        table_u64(&to, cycles);
        add_share(&to, cycles, all);
    }
    table_show(&to, stdout, "\n");
}

/* The figure is that of the level's accesses; its misses follow. */
static void add_level(struct table *to, const struct run_result *r, enum figure accesses)
{
    const uint64_t n = value(r, accesses), misses = value(r, accesses + 1);

    if (!n)
        return;
    table_text(to, figures[accesses].group);
    table_u64(to, n);
    table_u64(to, misses);
    add_share(to, misses, n);
}

static void print_levels(const struct run_result *r)
{
    static const struct table_head heads[] = {
        {.name = "level", .align = TABLE_LEFT, .least = LABEL_WIDTH},
        {.name = "accesses", .least = COUNT_WIDTH},
        {.name = "misses", .least = COUNT_WIDTH},
        {.name = "rate", .least = SHARE_WIDTH}};
    struct table to = {0};

    table_heads(&to, heads, ARRAY_SIZE(heads));
    add_level(&to, r, L1_ACCESSES);
    add_level(&to, r, L2_ACCESSES);
    add_level(&to, r, L3_ACCESSES);
    table_show(&to, stdout, "\n");
    if (value(r, UPGRADES))
        printf("upgrades   %" PRIu64 " of these misses: stores and atomics to lines held shared; "
               "they go to the directory at once\n",
               value(r, UPGRADES));
}

static void print_network(const struct run_result *r)
{
    printf("\nnetwork    %" PRIu64 " messages, %" PRIu64 " bytes, ", value(r, NETWORK_MESSAGES),
           value(r, NETWORK_BYTES));
    print_ratio(value(r, NETWORK_BYTES), value(r, CYCLES));
    printf(" bytes a cycle; %" PRIu64 " cycles waited for links\n", value(r, NETWORK_WAITED));
}

/* Prints the messages between processes that have memories of their own. */
static void print_shared(const struct run_result *r)
{
    uint64_t messages;

    if (!has(r, DSM_MESSAGES, &messages))
        return;
    printf("shared     %" PRIu64 " messages, %" PRIu64 " bytes between processes; %" PRIu64
           " rounds of barriers\n",
           messages, value(r, DSM_BYTES), value(r, DSM_ROUNDS));
    printf("pages      %" PRIu64 " faults of loads, %" PRIu64 " of stores; %" PRIu64
           " pages fetched, %" PRIu64 " diffs made\n",
           value(r, DSM_READ_FAULTS), value(r, DSM_WRITE_FAULTS), value(r, DSM_FETCHED),
           value(r, DSM_DIFFS));
}

static void print_memory(const struct run_result *r)
{
    const uint64_t hits = value(r, ROW_HITS),
                   all = hits + value(r, ROW_MISSES) + value(r, ROW_CONFLICTS);

    printf("memory     %" PRIu64 " reads, %" PRIu64 " writes", value(r, MEMORY_READS),
           value(r, MEMORY_WRITES));
    if (all) {
        const uint64_t m = per_mille(hits, all);
        printf(", row hits %" PRIu64 ".%" PRIu64 " %%", m / 10, m % 10);
    }
    putchar('\n');
}

/* A budget that nothing in the machine enforces: what is more than it would take longer. */
static void print_bandwidth(const struct run_result *r)
{
    struct bandwidth b[BANDWIDTHS];

    bandwidths(r, b);
    printf("bandwidth  ");
    for (size_t i = 0; i < BANDWIDTHS; i++) {
        printf("%s%s ", i ? ", " : "", b[i].text);
        print_ratio(b[i].used, 1000);
        printf(" GB/s (%s %" PRIu64 ")", b[i].used > b[i].budget ? "over the budget of" : "budget",
               b[i].budget / 1000);
    }
    putchar('\n');
}

void run_machine_text(const struct run_result *r)
{
    if (!value(r, CORES))
        return;
    print_machine(r);
    print_cycles(r);
    print_footprint(r);
    print_spent(r);
    print_levels(r);
    print_network(r);
    print_shared(r);
    print_memory(r);
    print_bandwidth(r);
    putchar('\n');
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_figures(struct json *j, const struct run_result *r)
{
    const char *group = "";

    for (enum figure f = 0; f < FIGURES; f++) {
        uint64_t v;
        if (!has(r, f, &v))
            continue;
        if (strcmp(figures[f].group, group) != 0) {
            if (*group)
                json_end(j);
            group = figures[f].group;
            json_key_object(j, group);
        }
        json_key_u64(j, figures[f].key, v);
    }
    if (*group)
        json_end(j);
}

static void json_bandwidths(struct json *j, const struct run_result *r)
{
    struct bandwidth b[BANDWIDTHS];

    bandwidths(r, b);
    json_key_object(j, "gb-per-second");
    for (size_t i = 0; i < BANDWIDTHS; i++)
        json_key_fixed(j, b[i].key, b[i].used, 1000);
    json_end(j);
}

void run_machine_json(struct json *j, const struct run_result *r)
{
    if (!value(r, CORES)) {
        json_key_null(j, "machine");
        return;
    }
    json_key_object(j, "machine");
    JSON_TEXTS(j, {"order", lardsim_machine_is(r->run, "order")},
               {"contention", lardsim_machine_is(r->run, "contention")},
               {"memory-type", lardsim_machine_is(r->run, "memory")});
    json_figures(j, r);
    json_bandwidths(j, r);
    json_end(j);
}
