/* machine.c - cores, and what an event costs on them (docs/machine.md, "Time"). A core is a clock
 * and sums, no pipeline: an instruction takes a cycle, an access what coherence answers. */
#include "sim/machine/machine.h"

#include "sim/machine/cluster.h"
#include "sim/machine/interval.h"
#include "sim/machine/timeline.h"

#include <assert.h>
#include <stdlib.h>

static const char *const contention_choices[] = {"auto", "on", "off", NULL};
static const char *const compat_choices[] = {"none", "ce", NULL};
static const char *const type_choices[] = {"simple", "pipelined", NULL};
static const char *const instruction_choices[] = {"one-plus-latency", "latency", NULL};

const struct param machine_param_rows[] = {
#define PARAMS_DEF "sim/machine/params.def"
#define PARAMS_OF  struct machine_params
#include "base/param_rows.h"
};
const struct param core_param_rows[] = {
#define PARAMS_DEF "sim/machine/core_params.def"
#define PARAMS_OF  struct core_params
#include "base/param_rows.h"
};

const char *const spent_text[SPENTS] = {
#define SPENT(NAME, text, help) text,
    LARDSIM_SPENT(SPENT)
#undef SPENT
};
static const char *const spent_help[SPENTS] = {
#define SPENT(NAME, text, help) help,
    LARDSIM_SPENT(SPENT)
#undef SPENT
};

enum spent spent_waiting(enum wait_reason why)
{
    static const enum spent of[WAIT_REASONS] = {
        [WAIT_LOCK] = SPENT_LOCK,
        [WAIT_BARRIER] = SPENT_BARRIER,
        [WAIT_JOIN] = SPENT_JOIN,
        [WAIT_FORK] = SPENT_IDLE,
        [WAIT_VOLATILE] = SPENT_VOLATILE,
        [WAIT_CLASS] = SPENT_CLASS,
        [WAIT_COMMIT] = SPENT_COMMIT,
        [WAIT_MEMORY] = SPENT_HEAP,
        [WAIT_COLLECTION] = SPENT_COLLECTION,
        [WAIT_KERNEL] = SPENT_KERNEL,
    };

    return of[why];
}

/* ---- making one ----------------------------------------------------------------------------- */

/* Sums over all cores are statistics; each core's part is a vector that is settled with them. */
static void declare_stats(struct machine *m, struct stats *stats, uint32_t kind)
{
    const size_t spents = kind == MACHINE_DSM ? SPENTS : SPENTS_MULTICORE;
    struct stats_group *g = stats_group(stats_root(stats), "machine");
    struct stats_group *all = stats_group(g, "spent"),
                       *each = stats_group(stats_root(stats), "cores");
    const uint64_t *parts[SPENTS + 1];
    const size_t n = m->params.cores;

    stats_echo(g, "cores", "cores", "Cores of the machine.", &m->params.cores);
    stats_echo(g, "frequency", "MHz", "Clock of the cores.", &m->params.frequency);
    stats_echo(g, "line", "bytes", "Bytes of a cache line.", &m->params.line);
    stats_level(g, "cores-used", "cores", "Cores that had a thread, or worked for a policy.",
                &m->used);
    stats_echo(g, "cores-unused", "cores", "The others.", &m->unused);
    /* Clocks of cores are apart at a mark, so a region's time is no difference of two of these. */
    stats_distinct(g, "cycles", "cycles", "From the first event to the end of the last.",
                   &m->cycles, &m->region_cycles);
    stats_level(g, "region-cycles", "cycles",
                "Most cycles that a core spent inside regions of interest: execution time where "
                "nobody waits for others.",
                &m->region_cycles);
    stats_level(
        g, "gaps-known", "traces",
        "1: some event says how many instructions come before it; 0: the trace does not say.",
        &m->gaps_known);
    stats_count(g, "instructions", "instructions", "Instructions of all cores.",
                &m->total_instructions);
    stats_vector(each, "instructions", "instructions", "Instructions, by core.", m->instructions, n,
                 NULL);
    for (size_t i = 0; i < spents; i++) {
        stats_count(all, spent_text[i], "cycles", spent_help[i], &m->total_spent[i]);
        stats_vector(each, spent_text[i], "cycles", spent_help[i], &m->spent[i * MAX_CORES], n,
                     NULL);
    }
    for (const char *const *late =
             (const char *const[]){"cores-used", "cores-unused", "cycles", "region-cycles",
                                   "instructions", "spent", NULL};
         *late; late++)
        stats_late(g, *late, STATS_SETTLED);
    stats_late(stats_root(stats), "cores", STATS_SETTLED);
    for (size_t core = 0; core < n; core++) {
        for (size_t i = 0; i < spents; i++)
            parts[i] = &m->spent[i * MAX_CORES + core];
        parts[spents] = NULL;
        stats_invariant(each, "cycles", "Each core's cycles add up to the run's.", parts, STATS_EQ,
                        STATS_SUM(&m->cycles));
    }
}

static const char *const memory_choices[] = {"fixed", "ddr", "dramsim3", NULL};

struct memory_params { /* section memory */
    uint32_t type;
};
static const struct param memory_param_rows[] = {
    {"type", PARAM_CHOICE, offsetof(struct memory_params, type), "fixed", 0, 0, "", memory_choices,
     "What misses of the L3 go to: a fixed latency, the built-in DDR model, DRAMSim3."},
    PARAM_END,
};

/* Checks the parameters that only make sense together. */
static int check_params(const struct machine *m, const struct pages_params *pages, struct err *e)
{
    const struct machine_params *p = &m->params;
    const struct core_params *c = &m->core_params;
    const bool simple = c->type != CORE_PIPELINED, recorded = !m->timed;
    const struct {
        bool broken;
        const char *what, *why, *remedy;
    } rules[] = {
        {simple && c->predictor != PREDICTOR_NONE, "core.predictor", "is of pipelined cores alone",
         "set core.type=pipelined, or core.predictor=none"},
        {simple && m->tlb_params.entries, "tlb.entries", "is of pipelined cores alone",
         "set core.type=pipelined, or tlb.entries=0"},
        /* its parts would lie apart, with an entry each */
        {m->tlb_params.entries && pages->mapping != PAGES_IDENTITY &&
             m->tlb_params.page > pages->size,
         "tlb.page", "is more than pages.size, which lies together in memory",
         "set pages.size to it, too, or pages.mapping=identity"},
        {c->width_hundredths && c->shared_front_end > 1, "core.width-hundredths",
         "is of cores with a front end of their own",
         "set core.shared-front-end=1, or core.width-hundredths=0"},
        {m->timed && p->compat == COMPAT_CE, "compat: ce", "has no timed order",
         "set order=recorded, or take --preset ce8"},
        {recorded && !simple, "core.type: pipelined", "works in timed order only",
         "set order=timed, or core.type=simple"},
        {recorded && p->contention == CONTENTION_ON, "contention: on",
         "needs requests in the order of time", "set order=timed, or contention=off"},
        {recorded && c->store_buffer, "core.store-buffer", "works in timed order only",
         "set order=timed, or core.store-buffer=0"},
        {recorded && c->misses, "core.misses", "works in timed order only",
         "set order=timed, or core.misses=0"},
    };

    if (!is_power_of_2(p->line))
        return err_set(e, LARD_CONFIG, "line: %llu is no power of two; give one, as 64",
                       (unsigned long long)p->line);
    if (p->cores % c->shared_front_end)
        return err_set(e, LARD_CONFIG,
                       "core.shared-front-end: %llu cores are no whole number of groups of %llu; "
                       "give another number of either",
                       (unsigned long long)p->cores, (unsigned long long)c->shared_front_end);
    if (tlb_check(&m->tlb_params, e))
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
        if (rules[i].broken)
            return err_set(e, LARD_CONFIG, "%s %s; %s", rules[i].what, rules[i].why,
                           rules[i].remedy);
    return 0;
}

/* Sections of the memories that this machine does not have are known, so that values for them are
 * no spelling mistakes. */
static int open_memory(struct machine *m, struct config *config, struct stats *stats, struct err *e)
{
    struct memory_params p;
    struct memory_env env = {
        .stats = stats_group(stats_root(stats), "memory"),
        .mhz = m->params.frequency,
        .line = (unsigned)m->params.line,
        .contention = m->params.contention == CONTENTION_ON,
    };

    env.included = coherence_included(m->coherence);
    if (config_bind(config, "memory", memory_param_rows, &p, e) ||
        memory_open(&m->memory, memory_types[p.type], config, &env, e))
        return -1;
    m->memory.perturb = m->perturb;
    if (m->memory.type->later && !m->timed)
        return err_set(e, LARD_CONFIG,
                       "memory.type: %s answers later, which recorded order can't wait for; set "
                       "order=timed, or memory.type=fixed",
                       m->memory.type->name);
    for (size_t i = 0; memory_types[i]; i++) {
        char *section = xasprintf("memory.%s", memory_types[i]->name);
        const int bad = memory_types[i] != m->memory.type && memory_types[i]->params &&
                        config_known(config, section, memory_types[i]->params, e);
        free(section);
        if (bad)
            return -1;
    }
    return 0;
}

static void make_cores(struct machine *m)
{
    const size_t n = m->params.cores;

    m->core = xcalloc(n, sizeof *m->core);
    m->spent = xcalloc((size_t)SPENTS * MAX_CORES, sizeof *m->spent);
    m->instructions = xcalloc(n, sizeof *m->instructions);
    for (size_t i = 0; i < n; i++) {
        m->core[i].spent = m->spent + i;
        if (m->core_params.predictor != PREDICTOR_NONE)
            m->core[i].predictor = predictor_new((enum predictor_type)m->core_params.predictor);
    }
}

static int make(struct machine *m, struct config *config, struct stats *stats, uint32_t kind,
                const uint64_t *seed, const struct coh_host *host, struct err *e)
{
    struct pages_params pages;

    if (config_bind(config, "", machine_param_rows, &m->params, e) ||
        config_bind(config, "core", core_param_rows, &m->core_params, e) ||
        config_bind(config, "tlb", tlb_param_rows, &m->tlb_params, e) ||
        config_bind(config, "pages", pages_param_rows, &pages, e) || check_params(m, &pages, e))
        return -1;
    if (machine_pipelined(m) && m->core_params.memory_instruction == MEMORY_INSTRUCTION_PLUS)
        m->core_params.memory_instruction = MEMORY_INSTRUCTION_ISSUED;
    if (m->params.contention == CONTENTION_BY_ORDER)
        m->params.contention = m->timed ? CONTENTION_ON : CONTENTION_OFF;
    make_cores(m);
    declare_stats(m, stats, kind);
    footprint_init(&m->footprint, (unsigned)m->params.line,
                   stats_group(stats_root(stats), "footprint"));
    const struct coh_env env = {
        .stats = stats,
        .config = config,
        .memory = &m->memory,
        .host = *host,
        .cores = (unsigned)m->params.cores,
        .line = (unsigned)m->params.line,
        .page = pages.size,
        .contention = m->params.contention == CONTENTION_ON,
        .ce = m->params.compat == COMPAT_CE,
    };
    m->coherence = coherence_new(&env, e);
    if (!m->coherence || pages_init(&m->pages, &pages, stats_group(stats_root(stats), "pages"), e))
        return -1;
    pages_count_lines(&m->pages, m->params.line, footprint_nobody);
    if (perturb_new(&m->perturb, config, stats, seed, e))
        return -1;
    if (kind != MACHINE_DSM)
        return open_memory(m, config, stats, e) || config_known(config, "dsm", dsm_param_rows, e);
    m->cluster = cluster_new(m, config, stats, e);
    return m->cluster ? open_memory(m, config, stats, e) : -1;
}

struct machine *machine_new(struct config *config, struct stats *stats, uint32_t kind, bool timed,
                            const uint64_t *seed, const struct coh_host *host, struct err *e)
{
    struct machine *m = xcalloc(1, sizeof *m);

    m->word = layouts[LAYOUT_DEFAULT].word;
    m->timed = timed;
    m->interval_end = CYCLE_NEVER;
    if (!make(m, config, stats, kind, seed, host, e))
        return m;
    machine_free(m);
    return NULL;
}

void machine_account(struct machine *m, struct budget *b)
{
    budget_take(b, coherence_bytes(m->coherence));
    budget_take(b, perturb_bytes(m->perturb));
    coherence_account(m->coherence, b);
    pages_account(&m->pages, b);
    cluster_account(m->cluster, b);
    m->footprint.budget.of = b;
}

void machine_free(struct machine *m)
{
    if (!m)
        return;
    coherence_free(m->coherence);
    cluster_free(m->cluster);
    outside_free(m->outside);
    memory_close(&m->memory);
    perturb_free(m->perturb);
    pages_free(&m->pages);
    footprint_free(&m->footprint);
    for (size_t i = 0; m->core && i < m->params.cores; i++)
        free(m->core[i].predictor);
    free(m->core);
    free(m->spent);
    free(m->instructions);
    free(m);
}

void machine_each_table(void (*fn)(void *arg, const char *section, const struct param *rows),
                        void *arg)
{
    static const struct {
        const char *section;
        const struct param *rows;
    } own[] = {{"", machine_param_rows},       {"core", core_param_rows},
               {"tlb", tlb_param_rows},        {"pages", pages_param_rows},
               {"memory", memory_param_rows},  {"perturb", perturb_param_rows},
               {"stats", interval_param_rows}, {"timeline", timeline_param_rows},
               {"dsm", dsm_param_rows}};

    for (size_t i = 0; i < ARRAY_SIZE(own); i++)
        fn(arg, own[i].section, own[i].rows);
    coherence_each_table(fn, arg);
    for (size_t i = 0; memory_types[i]; i++) {
        char *section = xasprintf("memory.%s", memory_types[i]->name);
        fn(arg, section, memory_types[i]->params);
        free(section);
    }
}

/* ---- what an event costs -------------------------------------------------------------------- */

enum spent spent_at(enum mem_level level)
{
    static const enum spent of[LEVELS] = {[LEVEL_L1] = SPENT_L1,
                                          [LEVEL_L2] = SPENT_L2,
                                          [LEVEL_L3] = SPENT_L3,
                                          [LEVEL_REMOTE] = SPENT_REMOTE,
                                          [LEVEL_MEMORY] = SPENT_MEMORY};

    return of[level];
}

/* Within one line. */
ALWAYS_INLINE struct coh_result access_physical(struct machine *m, unsigned core,
                                                struct paddr physical, unsigned bytes,
                                                enum mem_cmd cmd)
{
    struct core *c = &m->core[core];
    const struct coh_result r =
        UNLIKELY(m->access != NULL)
            ? m->access(m, core, physical, bytes, cmd, c->clock)
            : coherence_access(m->coherence, core, physical, cmd, TRAFFIC_DATA, c->clock);

    /* Waiting for what goes on beside has been charged already. */
    core_spend(m, c, spent_at(r.level), r.done - c->clock);
    return r;
}
enum mem_level machine_access(struct machine *m, unsigned core, struct paddr physical,
                              unsigned bytes, enum mem_cmd cmd)
{
    return (enum mem_level)access_physical(m, core, physical, bytes, cmd).level;
}
ALWAYS_INLINE struct coh_result access_line(struct machine *m, unsigned core, sim_tid tid,
                                            struct vaddr addr, unsigned bytes, enum mem_cmd cmd)
{
    struct pages_near *at = pages_near(&m->pages, addr.at >> m->pages.near_shift);
    const uint64_t within = addr.at & m->pages.within;

    footprint_touch(&m->footprint, tid, at, within);
    return access_physical(m, core, paddr_plus(at->base, within), bytes, cmd);
}

/* Lines one after the other, as by one instruction that waits for each. In timed order other cores
 * may go on between two. Returns the farthest level. */
static NO_INLINE enum mem_level access_lines(struct machine *m, unsigned core,
                                             const struct event *ev, uint64_t bytes,
                                             enum mem_cmd cmd)
{
    enum mem_level most = LEVEL_NONE;
    struct vaddr addr = event_at(ev);

    while (bytes) {
        const uint64_t n = u64_min(bytes, line_room(m, addr.at));
        if (most != LEVEL_NONE && m->turns)
            m->turns->until(m->scheduler, core, m->core[core].clock);
        const enum mem_level level = access_line(m, core, ev->tid, addr, (unsigned)n, cmd).level;
        most = level > most ? level : most;
        addr = vaddr_plus(addr, n);
        bytes -= n;
    }
    return most;
}

/* Accesses the bytes at the place that they have with metadata beside fields. The footprint is that
 * of the program alone. */
static NO_INLINE enum mem_level access_inflated(struct machine *m, unsigned core,
                                                const struct event *ev, uint64_t bytes,
                                                struct inline_range to, enum mem_cmd cmd)
{
    enum mem_level most = LEVEL_NONE;

    for (uint64_t n; to.bytes; to.at += n, to.bytes -= n) {
        const struct paddr physical = inline_heap_physical(m->inlined, to.at);
        n = u64_min(to.bytes, line_room(m, physical.at));
        if (most != LEVEL_NONE && m->turns)
            m->turns->until(m->scheduler, core, m->core[core].clock);
        const enum mem_level level =
            (enum mem_level)access_physical(m, core, physical, (unsigned)n, cmd).level;
        most = level > most ? level : most;
    }
    for (uint64_t i = 0, n; i < bytes; i += n) {
        n = line_room(m, ev->addr + i);
        const sim_addr addr = ev->addr + i;
        footprint_touch(&m->footprint, ev->tid, pages_near(&m->pages, addr >> m->pages.near_shift),
                        addr & m->pages.within);
    }
    return most;
}

/* The instruction and access that an event's kind costs: 1 + enum mem_cmd; 0: neither
 * (docs/machine.md, "Time"). */
enum { A_LOAD = 1 + MEM_LOAD, A_STORE = 1 + MEM_STORE, AN_ATOMIC = 1 + MEM_ATOMIC };
static const uint8_t costs[EV_KINDS] = {[EV_READ] = A_LOAD,
                                        [EV_WRITE] = A_STORE,
                                        [EV_RMW] = AN_ATOMIC,
                                        [EV_ACQUIRE] = AN_ATOMIC,
                                        [EV_RELEASE] = A_STORE,
                                        [EV_ACQUIRE_SHARED] = AN_ATOMIC,
                                        [EV_RELEASE_SHARED] = A_STORE,
                                        [EV_WAIT_ENTER] = A_STORE,
                                        [EV_WAIT_EXIT] = AN_ATOMIC,
                                        [EV_VOLATILE_READ] = A_LOAD,
                                        [EV_VOLATILE_WRITE] = A_STORE,
                                        [EV_BARRIER_ARRIVE] = AN_ATOMIC,
                                        [EV_BARRIER_DEPART] = A_LOAD,
                                        [EV_CLASS_INIT] = A_STORE,
                                        [EV_CLASS_USE] = A_LOAD};

/* The bytes that an event touches in memory. */
static uint64_t event_bytes(const struct machine *m, const struct event *ev)
{
    return event_is_access(ev) ? ev->size : m->word;
}

struct mem_outcome machine_event(struct machine *m, unsigned core, const struct event *ev)
{
    struct core *c = &m->core[core];
    struct mem_outcome out = {.began = c->clock};

    /* compat = ce: streams of the published CE simulator bring a lock's accesses as events of their
     * own, and count instructions apart, so nothing but an access costs anything. */
    if (UNLIKELY(m->params.compat == COMPAT_CE && !event_is_access(ev)))
        return out;
    if (UNLIKELY(m->cluster))
        return cluster_event(m, core, ev, costs[ev->kind] != 0);
    if (UNLIKELY(!costs[ev->kind]))
        return out;
    const enum mem_cmd cmd = (enum mem_cmd)(costs[ev->kind] - 1);
    const uint64_t bytes = event_bytes(m, ev);
    struct inline_range to;
    if (UNLIKELY(m->inlined && inline_heap_access(m->inlined, ev, bytes, &to))) {
        out.level = (uint8_t)access_inflated(m, core, ev, bytes, to, cmd);
    } else if (LIKELY(bytes <= line_room(m, ev->addr))) {
        const struct coh_result r =
            access_line(m, core, ev->tid, event_at(ev), (unsigned)bytes, cmd);
        out.level = r.level;
        out.asked = r.level == LEVEL_REMOTE;
        out.far = r.far;
        out.upgraded = r.upgraded;
    } else {
        out.level = (uint8_t)access_lines(m, core, ev, bytes, cmd);
    }
    c->instructions++;
    if (LIKELY(m->core_params.memory_instruction == MEMORY_INSTRUCTION_PLUS))
        core_spend(m, c, SPENT_EXECUTING, 1);
    else if (m->core_params.memory_instruction == MEMORY_INSTRUCTION_ISSUED)
        m->turns->issue(m->scheduler, core);
    return out;
}

void machine_touch_pages(struct machine *m, const struct event *ev)
{
    struct pages *p = &m->pages;

    if (UNLIKELY(ev->kind == EV_ALLOC || ev->kind == EV_CLEAR || ev->kind == EV_COPY))
        footprint_heap(&m->footprint, ev);
    if (!costs[ev->kind] || p->params.mapping == PAGES_IDENTITY)
        return;
    const uint64_t last = (ev->addr + event_bytes(m, ev) - 1) >> p->near_shift;
    for (uint64_t stretch = ev->addr >> p->near_shift; stretch <= last; stretch++)
        pages_near(p, stretch);
}

/* ---- the end -------------------------------------------------------------------------------- */

/* A core may serve a policy without ever having a thread. */
static bool is_used(const struct machine *m, size_t core)
{
    uint64_t busy = m->core[core].had_thread;

    for (size_t r = 0; r < SPENTS && !busy; r++)
        busy = r != SPENT_IDLE && m->core[core].spent[r * MAX_CORES];
    return busy;
}

/* Cores count by themselves, as that is on the path of each event; sums are made when asked for. */
void machine_settle(struct machine *m)
{
    m->total_instructions = m->used = 0;
    for (size_t i = 0; i < m->params.cores; i++) {
        m->cycles = u64_max(m->cycles, m->core[i].clock);
        m->total_instructions += m->instructions[i] = m->core[i].instructions;
        m->used += is_used(m, i);
    }
    m->unused = m->params.cores - m->used;
    for (size_t r = 0; r < SPENTS; r++) {
        m->total_spent[r] = 0;
        for (size_t i = 0; i < m->params.cores; i++)
            m->total_spent[r] += m->spent[r * MAX_CORES + i];
    }
}

sim_cycle machine_inside(const struct machine *m)
{
    sim_cycle most = 0;

    for (size_t i = 0; i < m->params.cores; i++) {
        const struct core *c = &m->core[i];
        most = u64_max(most, c->inside + u64_max(c->clock, c->entered) - c->entered);
    }
    return most;
}

void machine_region(struct machine *m, bool begins, sim_cycle now)
{
    for (size_t i = 0; i < m->params.cores; i++) {
        struct core *c = &m->core[i];
        const sim_cycle at = u64_max(c->clock, now);
        if (!begins)
            c->inside += at - c->entered;
        c->entered = at;
    }
    if (!begins) {
        m->region_cycles = machine_inside(m);
        coherence_census(m->coherence);
    }
    footprint_region(&m->footprint, &m->pages, begins);
    footprint_settle(&m->footprint);
    machine_settle(m);
}

void machine_forget_regions(struct machine *m)
{
    for (size_t i = 0; i < m->params.cores; i++)
        m->core[i].inside = 0;
    m->region_cycles = 0;
}

void machine_look(struct machine *m, bool in_region)
{
    machine_settle(m);
    if (in_region)
        m->region_cycles = machine_inside(m);
    footprint_settle(&m->footprint);
}

/* A core that has no more to do is idle until the last one has done. */
void machine_finish(struct machine *m)
{
    machine_settle(m);
    for (unsigned i = 0; i < m->params.cores; i++)
        machine_spend(m, i, SPENT_IDLE, m->cycles - m->core[i].clock);
    machine_settle(m);
    footprint_settle(&m->footprint);
    coherence_census(m->coherence);
    if (m->memory.type->finish)
        m->memory.type->finish(m->memory.self, m->cycles);
}
