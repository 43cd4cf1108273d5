/* ddr.c - DRAM with channels, ranks, bank groups, banks and rows. This file is the memory as others
 * see it: parameters, the two clocks, answers in order, statistics. The model itself: channel.c and
 * queue.c schedule commands, timing.c and refresh.c have JEDEC's rules, device.c, ini.c and
 * preset.c the device. Power states, self-refresh and errors are not modelled. */
#include "base/heap.h"
#include "base/mem.h"
#include "base/text.h"
#include "memory/ddr/channel.h"
#include "memory/count.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct ddr_params {
    const char *config;
    uint32_t page;                                   /* PAGE_... below */
    uint64_t read_queue, write_queue, command_queue; /* 0: the device's */
    uint64_t high, low, idle, hits, pipeline;        /* as in ddr_limits; as in struct ddr */
};
enum { PAGE_CONFIG, PAGE_OPEN, PAGE_CLOSED };

struct ddr {
    struct ddr_device device;
    struct ddr_rules rules;
    struct ddr_limits limits;
    struct ddr_pool pool;
    struct ddr_channel *channel; /* owns */
    unsigned line;
    struct ddr_clock clock;
    uint64_t pipeline;   /* memory cycles that every answer takes longer */
    struct heap answers; /* owns; reads that are done and not yet told, by their number in pool */
    uint64_t order; /* the next answer's: of being done, between those of a cycle and channel */
    struct memory_count count;
    struct ddr_count commands;
    uint64_t cycles, bus_busy, bus_cycles; /* memory cycles so far; over the channels */
};

/* ---- clocks --------------------------------------------------------------------------------- */

/* The memory cycle that begins first after a processor cycle. What comes with an edge of the
 * memory's clock misses that edge. So it is with DRAMSim3: its drivers have it work through a cycle
 * before they add what came in it. */
static uint64_t next_edge(const struct ddr *d, sim_cycle at)
{
    return ddr_last_edge(&d->clock, at) + 1;
}

/* ---- answers -------------------------------------------------------------------------------- */

static uint32_t channel_of(const struct ddr *d, const struct mem_request *r)
{
    return (uint32_t)(r->addr.at >> d->rules.channel.shift & d->rules.channel.mask);
}

/* Answers come in the order in which DRAMSim3 calls back, in a cycle channel by channel: a core
 * that hears its answer first asks again first. */
static void answer_read(void *arg, uint32_t request, uint64_t cycle)
{
    struct ddr *d = arg;
    struct heap *h = &d->answers;
    const uint64_t channel = channel_of(d, &d->pool.at[request].r);

    h->slot = xgrow(h->slot, h->n, &h->cap, sizeof *h->slot);
    heap_push(h, (struct heap_slot){cycle + d->pipeline, channel << 58 | d->order++, request});
}
_Static_assert(DDR_MAX_CHANNELS <= 64, "six bits of an answer's order are for the channel");

/* ---- the memory ----------------------------------------------------------------------------- */

static sim_cycle ddr_request(void *self, const struct mem_request *r)
{
    struct ddr *d = self;
    const uint32_t channel = channel_of(d, r);
    const uint32_t i = ddr_pool_take(&d->pool);

    memory_count_request(&d->count, r, d->line);
    d->pool.at[i] = (struct ddr_request){*r, next_edge(d, r->at), DDR_NONE};
    assert(d->pool.at[i].arrival >= d->channel[channel].now);
    ddr_channel_add(&d->channel[channel], i);
    return CYCLE_NEVER;
}

/* The channel that has something to do first; *other: the cycle at which the next one has. */
static struct ddr_channel *next_channel(struct ddr *d, uint64_t *other)
{
    struct ddr_channel *first = d->channel;

    *other = UINT64_MAX;
    for (struct ddr_channel *c = d->channel + 1; c < d->channel + d->rules.channels; c++)
        if (c->wake < first->wake) {
            *other = first->wake;
            first = c;
        } else if (c->wake < *other) {
            *other = c->wake;
        }
    return first;
}

static uint64_t first_answer(const struct ddr *d)
{
    return d->answers.n ? d->answers.slot[0].key : UINT64_MAX;
}

/* The cycle before which no channel but this one answers, at most `end`: so far it may go ahead. */
static uint64_t others_quiet(struct ddr *d, const struct ddr_channel *but, uint64_t end)
{
    for (struct ddr_channel *c = d->channel; c < d->channel + d->rules.channels; c++)
        end = c == but ? end : u64_min(end, ddr_channel_quiet(c));
    return end;
}

/* Works through the cycles before `until`, but none at or after that of the first answer: whoever
 * gets it may make a request in that cycle. */
static void run_before(struct ddr *d, uint64_t until)
{
    for (;;) {
        uint64_t other;
        struct ddr_channel *c = next_channel(d, &other);
        uint64_t end = u64_min(first_answer(d), until);
        if (c->wake >= end || (end == UINT64_MAX && !d->commands.waiting_reads))
            return;
        ddr_channel_skip(c, others_quiet(d, c, end));
        while (c->wake < end && c->wake <= other) {
            ddr_channel_run(c);
            end = u64_min(first_answer(d), end);
            if (c->wake == c->next_refresh) /* it may be idle, and can skip ahead */
                break;
        }
    }
}

/* Brings the counts of time and of the data bus up to this cycle. */
static void note_time(struct ddr *d, uint64_t cycle)
{
    if (cycle <= d->cycles)
        return;
    d->cycles = cycle;
    d->bus_cycles = cycle * d->rules.channels;
    d->bus_busy = (d->commands.reads + d->commands.writes) * d->rules.burst;
}

static bool ddr_step(void *self, sim_cycle until, struct mem_answer *to)
{
    struct ddr *d = self;

    run_before(d, until == CYCLE_NEVER ? UINT64_MAX : next_edge(d, until));
    if (!d->answers.n)
        return false;
    const sim_cycle at = ddr_to_processor(&d->clock, first_answer(d));
    if (at > until)
        return false;
    note_time(d, first_answer(d));
    const uint32_t i = (uint32_t)heap_pop(&d->answers).value;
    const struct mem_request *r = &d->pool.at[i].r;
    *to = (struct mem_answer){r->id, at};
    assert(at > r->at);
    histogram_add(&d->count.latency, at - r->at);
    ddr_pool_give(&d->pool, i);
    return true;
}

/* A channel that has a read to do can't answer it before its next action and a read's latency. */
static sim_cycle ddr_next(const void *self)
{
    const struct ddr *d = self;
    uint64_t first = first_answer(d);

    for (uint64_t i = 0; i < d->rules.channels; i++) {
        const struct ddr_channel *c = &d->channel[i];
        /* A read that has not been taken in may find its line in the write queue: a cycle. */
        const uint64_t least = c->n_arrivals ? 1 : d->rules.read_done;
        if (c->unread)
            first = u64_min(first, c->wake + least + d->pipeline);
    }
    return first == UINT64_MAX ? CYCLE_NEVER : ddr_to_processor(&d->clock, first);
}

static void ddr_finish(void *self, sim_cycle end)
{
    struct ddr *d = self;
    const uint64_t last = next_edge(d, end);

    for (run_before(d, last); d->answers.n; run_before(d, last))
        ddr_pool_give(&d->pool, (uint32_t)heap_pop(&d->answers).value);
    note_time(d, last);
}

static void ddr_destroy(void *self)
{
    struct ddr *d = self;

    for (uint64_t i = 0; i < d->rules.channels; i++)
        ddr_channel_free(&d->channel[i]);
    free(d->channel);
    free(d->pool.at);
    free(d->answers.slot);
    free(d);
}

/* ---- what it is made of --------------------------------------------------------------------- */

static int unknown_config(const char *name, struct err *e)
{
    const char *known[16];
    size_t n = 0;

    for (; ddr_presets[n].name && n < ARRAY_SIZE(known); n++)
        known[n] = ddr_presets[n].name;
    const char *near = nearest_name(name, known, n);
    return err_set(e, LARD_CONFIG,
                   "memory.ddr.config: '%s' is neither a preset%s%s%s nor a file that can be read; "
                   "write a preset such as %s, or the path of an .ini file",
                   name, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "",
                   known[0]);
}

static int find_device(struct ddr_device *to, const char *name, struct err *e)
{
    for (const struct ddr_preset *p = ddr_presets; p->name; p++)
        if (!strcmp(p->name, name)) {
            *to = p->device;
            return 0;
        }
    FILE *f = fopen(name, "r");
    if (!f)
        return unknown_config(name, e);
    const int bad = ddr_read_ini(to, name, f, e);
    fclose(f);
    return bad;
}

static int set_device(struct ddr *d, const struct ddr_params *p, const struct memory_env *env,
                      struct err *e)
{
    if (find_device(&d->device, p->config, e))
        return -1;
    if (p->page != PAGE_CONFIG)
        d->device.closed = p->page == PAGE_CLOSED;
    ddr_rules_derive(&d->rules, &d->device);
    d->line = env->line;
    if (ddr_line_bytes(&d->device) == env->line)
        return 0;
    return err_set(
        e, LARD_CONFIG,
        "memory.ddr.config: %s moves %llu bytes a burst (bus_width / 8 x BL), a cache line "
        "has %u; take another device or line size",
        p->config, (unsigned long long)ddr_line_bytes(&d->device), env->line);
}

static unsigned size_or(uint64_t given, uint64_t otherwise)
{
    return (unsigned)(given ? given : otherwise);
}

static int set_limits(struct ddr *d, const struct ddr_params *p, struct err *e)
{
    const unsigned writes = size_or(p->write_queue, d->device.trans_queue);
    const struct ddr_limits *l = &d->limits;

    d->limits = (struct ddr_limits){.reads = size_or(p->read_queue, d->device.trans_queue),
                                    .writes = writes,
                                    .commands = size_or(p->command_queue, d->device.cmd_queue),
                                    .high = size_or(p->high, writes),
                                    .low = (unsigned)p->low,
                                    .idle = (unsigned)p->idle,
                                    .hits = (unsigned)p->hits};
    if (l->high <= l->writes && l->low < l->high)
        return 0;
    return err_set(e, LARD_CONFIG,
                   "memory.ddr: write-low (%u) must be below write-high (%u), and that at most "
                   "write-queue (%u); correct them",
                   l->low, l->high, l->writes);
}

/* ---- statistics ----------------------------------------------------------------------------- */

static void declare_stats(struct stats_group *g, const struct ddr *d)
{
    const struct ddr_count *st = &d->commands;

    memory_count_declare(g, &d->count);
#define STATS_DEF "memory/ddr/stats.def"
#include "base/stats_declare.h"
    stats_vector(g, "bus-busy", "memory cycles", "Cycles with data on the bus, by channel.",
                 st->busy, d->rules.channels, NULL);
    stats_count(g, "cycles", "memory cycles", "Cycles of the memory clock.", &d->cycles);
    stats_ratio(g, "bandwidth-used", "Part of the cycles of all channels that carry data.",
                &d->bus_busy, &d->bus_cycles);
    stats_invariant(g, "rows", "Every column command is a hit, a miss or a conflict.",
                    STATS_SUM(&st->hits, &st->misses, &st->conflicts), STATS_EQ,
                    STATS_SUM(&st->reads, &st->writes));
    stats_invariant(g, "reads", "Every read is a command, forwarded, merged, or waits.",
                    STATS_SUM(&d->count.reads), STATS_EQ,
                    STATS_SUM(&st->reads, &st->forwarded, &st->merged_reads, &st->waiting_reads));
    stats_invariant(g, "writes", "Every write is a command, merged, or waits.",
                    STATS_SUM(&d->count.writes), STATS_EQ,
                    STATS_SUM(&st->writes, &st->merged_writes, &st->waiting_writes));
}

/* ---- life ----------------------------------------------------------------------------------- */

static void make_channels(struct ddr *d)
{
    d->channel = xcalloc(d->rules.channels, sizeof *d->channel);
    for (unsigned i = 0; i < d->rules.channels; i++) {
        ddr_channel_init(&d->channel[i], i, &d->rules, &d->limits, &d->pool, &d->commands);
        d->channel[i].done = answer_read;
        d->channel[i].done_arg = d;
    }
}

static void *ddr_create(const struct memory_env *env, const void *params, struct err *e)
{
    const struct ddr_params *p = params;
    struct ddr *d = xcalloc(1, sizeof *d);

    d->pool.free = DDR_NONE;
    d->pipeline = p->pipeline;
    if (set_device(d, p, env, e) || set_limits(d, p, e) ||
        ddr_clock_set(&d->clock, d->device.tck, env->mhz, "memory.ddr", e)) {
        free(d);
        return NULL;
    }
    make_channels(d);
    declare_stats(env->stats, d);
    return d;
}

void ddr_watch(void *self, struct ddr_monitor monitor)
{
    struct ddr *d = self;

    for (uint64_t i = 0; i < d->rules.channels; i++)
        d->channel[i].monitor = monitor;
}

static const char *const page_choices[] = {"config", "open", "closed", NULL};

static const struct param ddr_rows[] = {
#define PARAMS_DEF "memory/ddr/params.def"
#define PARAMS_OF  struct ddr_params
#include "base/param_rows.h"
};

const struct memory_type memory_ddr = {
    .name = "ddr",
    .summary = "DRAM with channels, ranks, banks and rows, first ready first served",
    .params = ddr_rows,
    .params_size = sizeof(struct ddr_params),
    .create = ddr_create,
    .request = ddr_request,
    .later = true,
    .step = ddr_step,
    .next = ddr_next,
    .finish = ddr_finish,
    .destroy = ddr_destroy,
};
