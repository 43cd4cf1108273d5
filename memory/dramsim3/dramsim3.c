/* dramsim3.c - DRAMSim3 (Li, Yang, Reddy, Srivastava, Jacob, IEEE CAL 2020) as a memory, where
 * configure found it. This file adapts it to memory.h: it converts between the two clocks, keeps
 * requests until their time has come and there is room, and finds the request that an answer is
 * for.
 *
 * It is slow: the library works through every memory cycle, idle ones too, at up to a microsecond
 * each. It takes only devices that the built-in model knows: no GDDR and no HMC. */
#include "base/heap.h"
#include "base/map.h"
#include "base/mem.h"
#include "memory/ddr/ddr.h"
#include "memory/dramsim3/dramsim3_int.h"
#include "memory/count.h"

#include <assert.h>
#include <stdlib.h>

struct pending { /* a request that is not answered, and its place in one of the queues below */
    struct mem_request r;
    uint64_t cycle; /* in which it is given to DRAMSim3, if there is room */
    uint64_t next;
};

/* Requests have numbers from 1 on. A queue is a ring of requests through `next`; it is held by the
 * number of its last, whose next is its first. 0: empty. */
struct adapter {
    struct dram3 *library;    /* owns */
    struct ddr_field channel; /* the part of an address that says the channel */
    uint64_t line;
    struct ddr_clock clock;
    uint64_t now;            /* memory cycles that are done */
    struct pending *request; /* owns */
    size_t requests, requests_cap;
    uint64_t unused;                    /* a queue */
    struct heap early;                  /* owns; presented, but their cycle has not come */
    uint64_t order;                     /* the next request's, between those of one cycle */
    uint64_t blocked[DDR_MAX_CHANNELS]; /* queues: those that wait for room */
    uint64_t n_blocked;
    struct map inside; /* by line: a queue of reads that DRAMSim3 has */
    struct map soon;   /* by line: likewise, those that it answers from a write that waits */
    uint64_t *called;  /* owns: the lines that it answers in this cycle, in its order */
    size_t n_called, called_cap;
    uint64_t answers;    /* a queue: those of the cycle before now */
    uint64_t unanswered; /* reads, wherever they are */
    uint64_t busy;       /* requests that are neither early nor in answers yet */
    uint64_t silent;     /* cycles since the last answer, while busy */
    bool print;          /* the library's own statistics are wanted */
    struct memory_count count;
    struct dram3_count commands;
    uint64_t full, full_cycles; /* for statistics: declare_stats */
};

/* ---- clocks --------------------------------------------------------------------------------- */

/* The last edge of the memory's clock up to a processor cycle. What reaches the memory at an edge
 * or later is taken in at the next one, so that the answers of a cycle are known when it begins.
 * DRAMSim3's own drivers do so: they call ClockTick, and then add what came in that cycle. */
static uint64_t last_edge(const struct adapter *a, sim_cycle at)
{
    return ddr_last_edge(&a->clock, at);
}

/* ---- queues --------------------------------------------------------------------------------- */

static void queue_push(struct adapter *a, uint64_t *queue, uint64_t request)
{
    struct pending *p = a->request;

    p[request].next = *queue ? p[*queue].next : request;
    if (*queue)
        p[*queue].next = request;
    *queue = request;
}

static uint64_t queue_first(const struct adapter *a, uint64_t queue)
{
    return a->request[queue].next;
}

static uint64_t queue_pop(struct adapter *a, uint64_t *queue)
{
    const uint64_t first = queue_first(a, *queue);

    if (first == *queue)
        *queue = 0;
    else
        a->request[*queue].next = a->request[first].next;
    return first;
}

static uint64_t new_request(struct adapter *a)
{
    if (a->unused)
        return queue_pop(a, &a->unused);
    a->request = xgrow(a->request, a->requests, &a->requests_cap, sizeof *a->request);
    return a->requests++;
}

/* ---- a memory cycle ------------------------------------------------------------------------- */

static uint64_t line_of(const struct adapter *a, const struct pending *p)
{
    return p->r.addr.at & ~(a->line - 1);
}

static void give(struct adapter *a, uint64_t request)
{
    struct pending *p = &a->request[request];
    const uint64_t line = line_of(a, p);

    a->full += a->now > p->cycle;
    a->full_cycles += a->now - p->cycle;
    p->cycle = a->now;
    const bool soon = dram3_add(a->library, line, p->r.write);
    queue_push(a, p->r.write ? &a->unused : map_put(soon ? &a->soon : &a->inside, line), request);
}

/* Gives what waits to the library, channel by channel and in order: a request for which there is no
 * room holds up those behind it. */
static void unblock(struct adapter *a)
{
    for (size_t i = 0; i <= a->channel.mask; i++)
        while (a->blocked[i]) {
            const struct pending *p = &a->request[queue_first(a, a->blocked[i])];
            if (!dram3_accepts(a->library, line_of(a, p), p->r.write))
                break;
            give(a, queue_pop(a, &a->blocked[i]));
            a->n_blocked--;
        }
}

static void take_early(struct adapter *a)
{
    while (a->early.n && a->request[a->early.slot[0].value].cycle <= a->now) {
        const uint64_t request = heap_pop(&a->early).value;
        const struct mem_request *r = &a->request[request].r;
        a->busy += !r->write;
        a->n_blocked++;
        queue_push(a, &a->blocked[r->addr.at >> a->channel.shift & a->channel.mask], request);
    }
}

/* Called for an answer. DRAMSim3 names only its line, and read_of_call finds the request. */
static void answered(void *arg, uint64_t line)
{
    struct adapter *a = arg;

    a->called = xgrow(a->called, a->n_called, &a->called_cap, sizeof *a->called);
    a->called[a->n_called++] = line;
}

/* The number of the line's reads that it answers in this cycle from a write. */
static size_t due_soon(const struct adapter *a, uint64_t line)
{
    const uint64_t *queue = map_find(&a->soon, line);
    size_t n = 0;

    if (!queue)
        return 0;
    for (uint64_t i = queue_first(a, *queue); a->request[i].cycle < a->now;
         i = a->request[i].next) {
        n++;
        if (i == *queue)
            break;
    }
    return n;
}

static uint64_t take_read(struct adapter *a, struct map *from, uint64_t line)
{
    uint64_t *queue = map_find(from, line);
    const uint64_t request = queue_pop(a, queue);

    if (!*queue)
        map_remove(from, line);
    return request;
}

/* Returns the read that a call of DRAMSim3 answers. A read answered from a write in the queue comes
 * in the cycle after its request, behind the line's other answers of that cycle. The other reads of
 * a line are answered in their order. */
static uint64_t read_of_call(struct adapter *a, size_t call)
{
    const uint64_t line = a->called[call];
    const size_t soon = due_soon(a, line);
    size_t left = 0; /* answers to this line in this cycle, from this one on */

    for (size_t i = call; soon && i < a->n_called; i++)
        left += a->called[i] == line;
    if (soon && soon >= left)
        return take_read(a, &a->soon, line);
    if (!map_find(&a->inside, line))
        die("dramsim3: an answer that nobody waits for");
    return take_read(a, &a->inside, line);
}

static void answer_calls(struct adapter *a)
{
    for (size_t i = 0; i < a->n_called; i++) {
        queue_push(a, &a->answers, read_of_call(a, i));
        a->busy--;
        a->silent = 0;
    }
    a->n_called = 0;
}

enum { SILENT = 1 << 24 }; /* far more than a full queue and all refreshes take */

/* Runs one memory cycle. */
static void tick(struct adapter *a)
{
    take_early(a);
    if (a->n_blocked)
        unblock(a);
    dram3_tick(a->library);
    answer_calls(a);
    dram3_counts(a->library, &a->commands);
    a->now++;
    if (a->busy && ++a->silent == SILENT)
        die("dramsim3: no answer in %d memory cycles although it has requests", SILENT);
}

/* ---- the memory ----------------------------------------------------------------------------- */

static sim_cycle dramsim3_request(void *self, const struct mem_request *r)
{
    struct adapter *a = self;
    const uint64_t request = new_request(a);

    memory_count_request(&a->count, r, (unsigned)a->line);
    a->unanswered += !r->write;
    a->request[request] = (struct pending){.r = *r, .cycle = last_edge(a, r->at) + 1};
    assert(a->request[request].cycle >= a->now);
    a->early.slot = xgrow(a->early.slot, a->early.n, &a->early.cap, sizeof *a->early.slot);
    heap_push(&a->early, (struct heap_slot){r->at, a->order++, request});
    return CYCLE_NEVER;
}

static bool dramsim3_step(void *self, sim_cycle until, struct mem_answer *to)
{
    struct adapter *a = self;
    const uint64_t last = until == CYCLE_NEVER ? UINT64_MAX : last_edge(a, until);

    while (!a->answers && a->now <= last && (a->unanswered || until != CYCLE_NEVER))
        tick(a);
    if (!a->answers || a->now - 1 > last)
        return false;
    const uint64_t request = queue_pop(a, &a->answers);
    const struct mem_request *r = &a->request[request].r;
    *to = (struct mem_answer){r->id, ddr_to_processor(&a->clock, a->now - 1)};
    assert(to->at > r->at);
    histogram_add(&a->count.latency, to->at - r->at);
    a->unanswered--;
    queue_push(a, &a->unused, request);
    return true;
}

static sim_cycle dramsim3_next(const void *self)
{
    const struct adapter *a = self;

    if (a->answers)
        return ddr_to_processor(&a->clock, a->now - 1);
    if (!a->unanswered)
        return CYCLE_NEVER;
    if (a->busy)
        return ddr_to_processor(&a->clock, a->now);
    return ddr_to_processor(&a->clock, last_edge(a, a->early.slot[0].key) + 2);
}

static void dramsim3_finish(void *self, sim_cycle end)
{
    struct adapter *a = self;

    for (const uint64_t last = last_edge(a, end); a->now <= last; tick(a))
        while (a->answers)
            queue_push(a, &a->unused, queue_pop(a, &a->answers));
    if (a->print)
        dram3_print(a->library);
}

static void dramsim3_destroy(void *self)
{
    struct adapter *a = self;

    dram3_close(a->library);
    map_free(&a->inside);
    map_free(&a->soon);
    free(a->request);
    free(a->early.slot);
    free(a->called);
    free(a);
}

/* ---- life ----------------------------------------------------------------------------------- */

static void declare_stats(struct stats_group *g, const struct adapter *st)
{
    memory_count_declare(g, &st->count);
#define STATS_DEF "memory/dramsim3/stats.def"
#include "base/stats_declare.h"
    stats_invariant(g, "reads", "Every read is answered or waits.", STATS_SUM(&st->count.reads),
                    STATS_EQ, STATS_SUM(&st->count.latency.count, &st->unanswered));
}

static void *dramsim3_create(const struct memory_env *env, const void *params, struct err *e)
{
    const struct dramsim3_params *p = params;
    struct adapter *a = xcalloc(1, sizeof *a);
    struct ddr_device device;
    struct ddr_rules rules;

    map_init(&a->inside, NULL);
    map_init(&a->soon, NULL);
    a->request = xgrow(NULL, 0, &a->requests_cap, sizeof *a->request);
    a->requests = 1;
    a->line = env->line;
    a->print = *p->output;
    a->library =
        dram3_make(&(struct dram3_setup){p->config, p->output, env->line, answered, a}, &device, e);
    if (!a->library || ddr_clock_set(&a->clock, device.tck, env->mhz, "memory.dramsim3", e)) {
        dramsim3_destroy(a);
        return NULL;
    }
    ddr_rules_derive(&rules, &device);
    a->channel = rules.channel;
    declare_stats(env->stats, a);
    return a;
}

const struct memory_type memory_dramsim3 = {
    .name = "dramsim3",
    .summary = DRAMSIM3_SUMMARY,
    .params = dramsim3_rows,
    .params_size = sizeof(struct dramsim3_params),
    .create = dramsim3_create,
    .request = dramsim3_request,
    .later = true,
    .step = dramsim3_step,
    .next = dramsim3_next,
    .finish = dramsim3_finish,
    .destroy = dramsim3_destroy,
};
