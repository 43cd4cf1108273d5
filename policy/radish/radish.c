/* radish.c - RADISH and LARDISH: race detection in hardware, with access histories in ordinary
 * cache lines and a software manager under them (LARD 4.2, Appendix A; docs/lardish.md).
 *
 * RADISH's own papers give no bit layout: entries, permissions and status are a reconstruction. The
 * verdicts are those of vc/vc.c with history = last, for every size of the caches, width of clocks,
 * and way of flushing and checking. This file has the parameters of the three policies, their
 * making and ending, and what an event that is no access does; access.c and check.c have the rest
 * of the model. */
#include <stdlib.h>

#include "policy/radish/radish.h"

static const char *const overlap_choices[] = {"max", "sum", NULL};
static const char *const checks_choices[] = {"synchronous", "queued", NULL};
static const char *const flush_choices[] = {"eager", "lazy", NULL};
static const char *const answers_choices[] = {"line", "granules", NULL};
static const char *const empty_choices[] = {"ask", "page", "line", NULL};
static const char *const fill_choices[] = {"checks", "status", NULL};

static const struct param radish_params[] = {
#define PARAMS_DEF "policy/radish/params.def"
#define PARAMS_OF  struct radish_params
#include "base/param_rows.h"
};

/* ---- configuration -------------------------------------------------------------------------- */

enum variant { RADISH, RADISH_TS, LARDISH };
static const char *const variant_name[] = {"radish", "radish-ts", "lardish"};

static int check_granule(const struct policy_env *env, enum variant variant, struct err *e)
{
    const char *name = variant_name[variant];

    if (env->granule == GRANULE_FIELD)
        return err_set(e, LARD_CONFIG,
                       "policy %s: granularity field has no place in a history line; set "
                       "granularity to 1, 2, 4 or 8",
                       name);
    if (variant == RADISH_TS && env->granule < 4)
        return err_set(e, LARD_CONFIG,
                       "policy %s: entries are of 4 bytes at least, for type-safe programs, and "
                       "granularity is %u; set it to 4 or 8, or take the policy radish",
                       name, env->granule);
    if (env->machine && env->machine->line > 64 * RADISH_ENTRY)
        return err_set(e, LARD_CONFIG,
                       "policy %s: a history line has 64 entries of %d bytes at most, and lines "
                       "have %u bytes; set line to %d or less",
                       name, RADISH_ENTRY, env->machine->line, 64 * RADISH_ENTRY);
    return 0;
}

static int check_power(const char *policy, const char *name, uint64_t v, struct err *e)
{
    if ((v & (v - 1)) == 0)
        return 0;
    return err_set(e, LARD_CONFIG, "policy %s: %s: %llu is no power of two; give one, as 4096",
                   policy, name, (unsigned long long)v);
}

/* No byte is in both, and neither wraps. */
static bool apart(sim_addr a, uint64_t a_bytes, sim_addr b, uint64_t b_bytes)
{
    if (a > UINT64_MAX - a_bytes || b > UINT64_MAX - b_bytes)
        return false;
    return a + a_bytes <= b || b + b_bytes <= a;
}

/* Base of the runtime's clocks: behind all memory that may have history lines. */
#define RUNTIME_BASE (UINT64_C(1) << 54)

static int check_runtime(const struct radish *r, const char *name, struct err *e)
{
    const struct radish_params *p = &r->params;

    if (apart(RUNTIME_BASE, RUNTIME_SPAN, 0, p->memory) &&
        apart(RUNTIME_BASE, RUNTIME_SPAN, p->base, r->stride * r->cores) &&
        apart(RUNTIME_BASE, RUNTIME_SPAN, p->manager.base, SWM_SPAN))
        return 0;
    return err_set(e, LARD_CONFIG,
                   "policy %s: the language runtime's clocks take 2^41 bytes from 0x%llx: base "
                   "(0x%llx) or manager.base (0x%llx) puts something else there; move it, or set "
                   "runtime to off",
                   name, (unsigned long long)RUNTIME_BASE, (unsigned long long)p->base,
                   (unsigned long long)p->manager.base);
}

static int check_places(const struct radish *r, const char *name, struct err *e)
{
    const struct radish_params *p = &r->params;
    const uint64_t bytes = r->stride * r->cores;

    if (p->base % r->stride == 0 && apart(p->base, bytes, 0, p->memory) &&
        apart(p->base, bytes, p->manager.base, SWM_SPAN) &&
        apart(p->manager.base, SWM_SPAN, 0, p->memory))
        return 0;
    return err_set(e, LARD_CONFIG,
                   "policy %s: history lines take %llu bytes from base (0x%llx, a multiple of "
                   "%llu), the manager 2^41 from manager.base (0x%llx), data the first %llu: "
                   "these must not meet",
                   name, (unsigned long long)bytes, (unsigned long long)p->base,
                   (unsigned long long)r->stride, (unsigned long long)p->manager.base,
                   (unsigned long long)p->memory);
}

static int check_memory(const struct radish *r, const char *name, struct err *e)
{
    if (!r->machine || r->machine->memory <= r->params.memory)
        return 0;
    return err_set(e, LARD_CONFIG,
                   "policy %s: memory: history lines are for the first %llu bytes, and the "
                   "machine has %llu; raise the policy's memory, or lower pages.memory",
                   name, (unsigned long long)r->params.memory,
                   (unsigned long long)r->machine->memory);
}

static int check_caches(const struct radish *r, const char *name, struct err *e)
{
    if (!r->machine || !r->machine->no_histories)
        return 0;
    return err_set(e, LARD_CONFIG,
                   "policy %s: %s, and a history belongs to the caches of one core, with its home "
                   "on the same chip (RADISH's machine); take a machine with private L2s and one "
                   "node, as --preset radish8",
                   name, r->machine->no_histories);
}

static int check_params(const struct radish *r, const char *name, struct err *e)
{
    const struct radish_params *p = &r->params;

    if (check_caches(r, name, e))
        return -1;
    if (p->clock_bits && p->clock_bits < 4)
        return err_set(e, LARD_CONFIG,
                       "policy %s: clock-bits: %llu is too few; give 4 to 32, or 0 for unbounded",
                       name, (unsigned long long)p->clock_bits);
    if (check_power(name, "page", p->page, e) || check_power(name, "memory", p->memory, e))
        return -1;
    return check_memory(r, name, e) || check_places(r, name, e) ? -1 : 0;
}

/* ---- life ----------------------------------------------------------------------------------- */

static struct radish *laid_out(const struct policy_env *env, const void *params)
{
    struct radish *r = xcalloc(1, sizeof *r);
    const unsigned line = env->machine ? env->machine->line : 64;
    const unsigned fit = line / RADISH_ENTRY, have = line / env->granule;

    r->env = env;
    r->software.env = env;
    r->machine = env->machine;
    r->params = *(const struct radish_params *)params;
    r->cores = r->machine ? r->machine->cores : MAX_CORES;
    r->line_shift = (unsigned)__builtin_ctz(line);
    r->granule_shift = (unsigned)__builtin_ctz(env->granule);
    r->kinds = have > fit ? have / fit : 1;
    r->entries = have / r->kinds;
    r->number_shift = r->granule_shift + (unsigned)__builtin_ctz(r->entries);
    r->stride = r->params.memory * r->kinds;
    return r;
}

static void new_manager(struct radish *r)
{
    r->manager = swm_new(&r->params.manager,
                         &(struct swm_env){.stats = stats_group(r->env->stats, "manager"),
                                           .budget = r->env->budget,
                                           .granule = r->env->granule,
                                           .line = 1u << r->line_shift,
                                           .host = &r->ledger,
                                           .exec = ledger_exec,
                                           .mem = ledger_mem,
                                           .context = r->env->context,
                                           .needs = ledger_needs_value});
}

/* The detector reads clocks from the checker, so that what is issued has nobody to go to. */
static sim_cycle issued(void *host, unsigned core, sim_tid tid, const struct lx_act *act,
                        sim_cycle now)
{
    (void)host;
    (void)core;
    (void)tid;
    (void)act;
    return now;
}

static void new_runtime(struct radish *r)
{
    const struct policy_env *env = r->env;
    const struct runtime_params p = {.base = RUNTIME_BASE,
                                     .page = r->params.page,
                                     .garbage = 1 << 20,
                                     .instructions = true,
                                     .without = r->params.runtime_without};
    const struct runtime_env of = {.stats = stats_group(env->stats, "runtime"),
                                   .budget = env->budget,
                                   .host = &r->software,
                                   .exec = software_exec,
                                   .mem = software_mem,
                                   .needs = software_needs,
                                   .pages = env->machine->pages,
                                   .issue = issued};

    r->runtime = runtime_new(&p, &of);
}

static int refuse(const struct policy_env *env, const void *params, enum variant variant,
                  struct err *e)
{
    if (check_granule(env, variant, e))
        return -1;
    struct radish *r = laid_out(env, params);
    int bad = check_params(r, variant_name[variant], e);
    if (!bad && variant == LARDISH && r->machine && r->params.runtime)
        bad = check_runtime(r, variant_name[variant], e);
    free(r);
    return bad;
}

static int radish_refuse(const struct policy_env *env, const void *params, struct err *e)
{
    return refuse(env, params, RADISH, e);
}

static int radish_ts_refuse(const struct policy_env *env, const void *params, struct err *e)
{
    return refuse(env, params, RADISH_TS, e);
}

static int lardish_refuse(const struct policy_env *env, const void *params, struct err *e)
{
    return refuse(env, params, LARDISH, e);
}

static void *radish_create(const struct policy_env *env, const void *params, struct err *e)
{
    struct radish *r = laid_out(env, params);

    (void)e;
    map_init(&r->data, env->budget);
    map_init(&r->pages, env->budget);
    map_init(&r->held.pages, env->budget);
    for (unsigned core = 0; core < MAX_CORES; core++)
        map_init(&r->core[core].here, env->budget);
    r->hint = xcalloc(r->cores, sizeof *r->hint);
    line_pools(r);
    r->handlers.bytes = sizeof(struct handler);
    ledger_hardware(&r->ledger, env, ACCOUNTS);
    r->queue = xcalloc(r->params.queue, sizeof *r->queue);
    new_manager(r);
    radish_declare(r, env->stats);
    if (r->machine)
        r->machine->caches.type->histories(r->machine->caches.self, paddr_of(r->params.base),
                                           r->stride * r->cores);
    return r;
}

static void *lardish_create(const struct policy_env *env, const void *params, struct err *e)
{
    struct radish *r = radish_create(env, params, e);

    r->lard = env->view == 0;
    if (r->machine && r->params.runtime)
        new_runtime(r);
    return r;
}

static void free_data(struct radish *r, struct data_line *p)
{
    p->queued = 0;
    for (unsigned k = 0; k < r->kinds; k++)
        while (p->of_kind[k])
            line_free(r, p->of_kind[k]);
    pool_give(&r->data_lines, p);
}

static void radish_destroy(void *self)
{
    struct radish *r = self;
    uint64_t line, *at;
    size_t pos = 0;

    for (unsigned core = 0; core < MAX_CORES; core++) /* first: nobody has to be taken out */
        map_free(&r->core[core].here);
    while (map_next(&r->data, &pos, &line, &at))
        free_data(r, (struct data_line *)(uintptr_t)*at);
    line_pools_free(r);
    ledger_free(&r->ledger);
    pool_free(&r->handlers);
    move_free(r);
    map_free(&r->data);
    map_free(&r->pages);
    swm_free(r->manager);
    if (r->runtime)
        runtime_free(r->runtime);
    free(r->hint);
    free(r->queue);
    free(r->past);
    free(r->at_core);
    free(r->base);
    free(r);
}

/* ---- events --------------------------------------------------------------------------------- */

/* A copy that may become a move is issued later. */
static sim_cycle event_lower(struct radish *r, const struct event *ev, unsigned core, sim_cycle now)
{
    if (!r->runtime)
        return now;
    if (!move_wants(r, ev) && !move_match(r, ev))
        return radish_lower(r, ev, core, now);
    runtime_follow(r->runtime, ev, core);
    return now;
}

static sim_cycle heap(struct radish *r, const struct event *ev, unsigned core, sim_cycle now)
{
    struct held_copy *held = move_match(r, ev);

    r->collections += ev->kind == EV_GC_BEGIN;
    r->collections -= ev->kind == EV_GC_END && r->collections;
    if (held)
        return move_make(r, held, core, now);
    if (ev->kind == EV_CLEAR)
        return region_clear(r, ev, core, now);
    return ev->kind == EV_COPY ? region_copy(r, ev, core, now) : now;
}

static sim_cycle radish_sync(void *self, const struct event *ev, unsigned on, sim_cycle now)
{
    struct radish *r = self;
    const unsigned core = r->machine ? on : ev->tid % r->cores;
    const unsigned class = ev_info[ev->kind].class;
    struct flushed f = {0};

    queue_pass(r, now);
    if (ev->kind == EV_ALLOC)
        return now;
    flush_for(r, &f, core, hb_actor(r->env->hb, ev->tid),
              epoch_time(hb_epoch(r->env->hb, ev->tid)));
    if (class == CLASS_SYNC || class == CLASS_RAW)
        f.drained = latest(f.drained, queue_drain_all(r));
    now = flush_paid(r, core, &f, now);
    if (UNLIKELY(r->held.live))
        now = move_before(r, ev, core, now);
    now = event_lower(r, ev, core, now);
    return heap(r, ev, core, now);
}

static void radish_finish(void *self)
{
    queue_drain_all(self);
}

/* The view without a language runtime: all memory and synchronisation, and nothing of memory
 * management. */
enum { RADISH_VIEW = VIEW_ALL_MEMORY | VIEW_ALL_SYNC | VIEW_NO_CLEAR | VIEW_NO_COPY };

static const struct policy_detector detector = {.finish = radish_finish, .check = radish_check};
static const struct policy_hints hints = {.soon = radish_soon};
static const struct policy_hardware hardware = {
    .access = radish_decide,
    .sync = radish_sync,
    .pay = radish_pay,
    .line = radish_line,
    .lines = 1 << LINE_EVICT | 1 << LINE_INVALIDATE,
};

#define RADISH_POLICY(...)                                                                         \
    {                                                                                              \
        __VA_ARGS__, .source = "lard", .params = radish_params,                                    \
                     .promise = {CLAIM_SOUND | CLAIM_PRECISE | CLAIM_EAGER | CLAIM_HARDWARE,       \
                                 CONFLICT_ALL, HISTORY_LAST, NULL},                                \
                     .params_size = sizeof(struct radish_params), .destroy = radish_destroy,       \
                     .detector = &detector, .hints = &hints, .hardware = &hardware,                \
    }

const struct policy policy_radish =
    RADISH_POLICY(.name = "radish",
                  .summary = "histories in cache lines, checked in hardware (RADISH)",
                  .view = RADISH_VIEW, .refuse = radish_refuse, .create = radish_create);
const struct policy policy_radish_ts =
    RADISH_POLICY(.name = "radish-ts",
                  .summary = "RADISH for type-safe programs: entries of 4 bytes or more",
                  .view = RADISH_VIEW, .refuse = radish_ts_refuse, .create = radish_create);
const struct policy policy_lardish =
    RADISH_POLICY(.name = "lardish",
                  .summary = "RADISH under a language runtime, with LARDx86 (LARDISH)",
                  .refuse = lardish_refuse, .create = lardish_create);
