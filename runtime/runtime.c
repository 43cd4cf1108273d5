/* runtime.c - the modelled language runtime: how it is made and freed, its parameters and
 * statistics, and which of its parts an event goes to. The costs are in runtime/steps.def;
 * runtime/sync.c puts them together.
 *
 * Simulated memory has no contents: clocks are kept on the host, and simulated addresses only say
 * where accesses go. */
#include "runtime/runtime_int.h"

#include <stdlib.h>
#include <string.h>

const char *const runtime_parts[] = {"header", "trace", "wide-cas", "wrappers", "sweep", NULL};

const struct param runtime_param_rows[] = {
#define PARAMS_DEF "runtime/params.def"
#define PARAMS_OF  struct runtime_params
#include "base/param_rows.h"
};

/* ---- statistics ----------------------------------------------------------------------------- */

static const char *const step_text[RT_STEPS] = {
#define RT_STEP(NAME, label, ...) label,
#include "runtime/steps.def"
#undef RT_STEP
};

static const char *const lardx86_text[LX_OPS] = {
#define LX(NAME, text, ...) text,
#define LX_CARRIER(...)
#include "isa/lardx86/lardx86.def"
#undef LX
#undef LX_CARRIER
};

static void register_counts(struct stats_group *g, const struct rt_stats *st)
{
#define STATS_DEF "runtime/stats.def"
#include "base/stats_declare.h"
}

/* ---- synchronisation objects with a clock --------------------------------------------------- */

/* They follow the memory that they live in (base/sync_object.h). This table is the host's and costs
 * nothing: in the modelled memory a word of the object points to its clock. */
static void object_begin(void *arg, void *object)
{
    const struct rt_walk *w = arg;

    (void)object;
    w->r->st.objects++;
}

static void object_end(void *arg, void *object)
{
    const struct rt_walk *w = arg;
    struct rt_object *o = object;

    rt_clock_free(w->r, w->core, &o->write);
    rt_clock_free(w->r, w->core, &o->read);
    if (o->sync.kind == OBJECT_ATOMIC)
        sequences_free(o->sequences, w->r->env.budget);
    w->r->st.objects--;
}

static const struct sync_ways object_ways = {
    .bytes = sizeof(struct rt_object), .begin = object_begin, .end = object_end};

/* ---- life ----------------------------------------------------------------------------------- */

static uint64_t power_below(uint64_t n)
{
    uint64_t p = 1;

    while (p <= n / 2)
        p *= 2;
    return p;
}

struct runtime *runtime_new(const struct runtime_params *p, const struct runtime_env *env)
{
    struct runtime *r = xcalloc(1, sizeof *r);

    r->env = *env;
    r->params = *p;
    r->params.base &= ~(uint64_t)(RT_PAGE - 1);
    r->params.page = power_below(p->page);
    r->head.words = paddr_of(r->params.base + RT_THREADS_AT);
    sync_objects_init(&r->objects, &object_ways, env->budget);
    register_counts(env->stats, &r->st);
    return r;
}

static void thread_free(struct runtime *r, struct rt_thread *t)
{
    vclock_free(&t->birth.v, r->env.budget);
    vclock_free(&t->final.v, r->env.budget);
    if (!t->log)
        return;
    map_free(&t->log->seen);
    budget_give(r->env.budget, sizeof *t->log + t->log->cap * sizeof *t->log->addr);
    free(t->log->addr);
    free(t->log);
}

void runtime_free(struct runtime *r)
{
    if (!r)
        return;
    sync_objects_free(&r->objects, &(struct rt_walk){.r = r});
    rt_heap_free(r);
    for (size_t i = 0; i < r->threads; i++)
        thread_free(r, &r->thread[i]);
    for (size_t i = 0; i < r->actors; i++)
        vclock_free(&r->actor[i].v, r->env.budget);
    budget_give(r->env.budget, r->threads * sizeof *r->thread + r->actors * sizeof *r->actor);
    free(r->thread);
    free(r->actor);
    free(r);
}

/* ---- threads -------------------------------------------------------------------------------- */

struct rt_thread *rt_thread(struct runtime *r, uint64_t tid)
{
    assert(tid < MAX_THREADS);
    r->thread = budget_reach(r->env.budget, r->thread, &r->threads, tid, sizeof *r->thread);
    return &r->thread[tid];
}

bool runtime_pending(const struct runtime *r, sim_tid tid)
{
    return tid < r->threads && !r->thread[tid].begun && r->thread[tid].birth.at.at;
}

struct paddr runtime_entry(const struct runtime *r, uint32_t actor, uint32_t of)
{
    if (actor >= r->actors || !r->actor[actor].at.at || of >= r->actor[actor].v.n)
        return (struct paddr){0};
    return paddr_plus(r->actor[actor].at, (uint64_t)of * RT_ENTRY);
}

/* ---- heap and raw events -------------------------------------------------------------------- */

/* A region of more than 2^16 pages is taken to lie in larger pages, as a system would map it. */
enum { PIECES_BITS = 16 };

static uint64_t page_for(const struct runtime *r, uint64_t bytes)
{
    uint64_t page = r->params.page;

    while (bytes / page >> PIECES_BITS)
        page *= 2;
    return page;
}

static void follow(struct rt_walk *w, const struct event *ev)
{
    if (ev->kind == EV_COPY)
        sync_objects_move(&w->r->objects, ev->addr, ev[1].addr, ev->aux, w);
    else
        sync_objects_clear(&w->r->objects, ev->addr, ev->aux, w);
}

/* Issues one instruction for each page that a region touches: LARDx86's page rule
 * (isa/lardx86/lardx86.h). */
static sim_cycle issue_pieces(struct rt_walk *w, const struct event *ev, enum lx_op op,
                              sim_cycle now)
{
    const bool clear = op == LX_CLEARHISTORY;
    const uint64_t page = page_for(w->r, ev->aux);
    struct lx_split split = clear ? lx_split_region(ev->addr, ev->aux, page)
                                  : lx_split_copy(ev->addr, ev[1].addr, ev->aux, page);
    struct lx_piece piece;

    while (rt_listens(w) && lx_split_next(&split, &piece)) {
        rt_step(w, RT_STEP_PIECE, 1);
        const struct lx_act cleared = {.op = (uint8_t)op, .value = {piece.dst, piece.size}},
                            moved = {.op = (uint8_t)op,
                                     .value = {piece.src, piece.dst, piece.size}};
        rt_issue(w, clear ? &cleared : &moved, 1);
        now = rt_walk_pay(w, now);
    }
    return now;
}

void runtime_follow(struct runtime *r, const struct event *ev, unsigned core)
{
    struct rt_walk w;

    rt_walk_begin(&w, r, core, ev->tid);
    follow(&w, ev);
}

sim_cycle runtime_issue(struct runtime *r, const struct event *ev, unsigned core, bool move,
                        sim_cycle now)
{
    struct rt_walk w;

    rt_walk_begin(&w, r, core, ev->tid);
    return issue_pieces(&w, ev, move ? LX_MOVEHISTORY : LX_COPYHISTORY, now);
}

/* An instruction of the trace: the runtime only keeps what it says about threads and clocks. */
static void lower_raw(struct rt_lowering *l)
{
    struct runtime *r = l->walk.r;
    struct lx_act act;

    if (!lx_of_event(l->ev, &act))
        return;
    rt_issue(&l->walk, &act, 0); /* its cycle is the program's */
    if (l->ev->kind == EV_THREAD)
        rt_thread(r, l->ev->tid)->named = true;
    if (l->ev->kind != EV_WRITEVC)
        return;
    vclock_set(&r->actor[l->actor].v, (uint32_t)l->ev->aux,
               vclock_get(l->now, (uint32_t)l->ev->aux), r->env.budget);
    rt_sum(r, &r->actor[l->actor]);
}

sim_cycle runtime_lower(struct runtime *r, const struct event *ev, unsigned core,
                        const struct vclock *clock, uint32_t actor, sim_cycle now)
{
    struct rt_lowering l = {.ev = ev, .now = clock, .actor = actor};

    rt_walk_begin(&l.walk, r, core, ev->tid);
    r->actor = budget_reach(r->env.budget, r->actor, &r->actors, actor, sizeof *r->actor);
    rt_thread(r, ev->tid)->actor = actor;
    switch ((enum ev_class)ev_info[ev->kind].class) {
    case CLASS_ACCESS:
        rt_lower_access(&l);
        break;
    case CLASS_SYNC:
        rt_lower_sync(&l);
        histogram_add(&r->st.writes, l.walk.writes);
        break;
    case CLASS_HEAP:
        rt_lower_memory(&l.walk, ev);
        if (ev->kind == EV_CLEAR || ev->kind == EV_COPY) {
            follow(&l.walk, ev);
            now = issue_pieces(&l.walk, ev, ev->kind == EV_COPY ? LX_COPYHISTORY : LX_CLEARHISTORY,
                               now);
        }
        break;
    case CLASS_RAW:
        lower_raw(&l);
        break;
    case CLASS_MARK:
        break;
    }
    return rt_walk_pay(&l.walk, now); /* a step that no detector listens to takes time, too */
}

sim_cycle runtime_lower_access(struct runtime *r, const struct event *ev, bool all_sync,
                               unsigned core, const struct vclock *clock, uint32_t actor,
                               sim_cycle now)
{
    const bool orders = ev->flags & EVF_ORDER_MASK && (all_sync || !(ev->flags & EVF_SYSTEM));

    struct event heeded = *ev;
    if (!orders)
        heeded.flags &= (uint16_t) ~(EVF_ORDER_MASK | EVF_C11);
    return runtime_lower(r, &heeded, core, clock, actor, now);
}
