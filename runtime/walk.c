/* walk.c - what the runtime's software does for one event, step by step: gathered first, paid when
 * the event has taken effect. */
#include "runtime/runtime_int.h"

#include <stdlib.h>
#include <string.h>

enum { FREE, VALUE }; /* the need of a step's next access for its address */
static const struct {
    uint8_t instructions;
    bool needs;
} step_of[RT_STEPS] = {
#define RT_STEP(NAME, label, instructions, needs, text) {instructions, needs},
#include "runtime/steps.def"
#undef RT_STEP
};

static void empty(struct rt_walk *w)
{
    w->instructions = 0;
    w->after = false;
    w->n = 0;
    w->cap = ARRAY_SIZE(w->here);
    w->due = w->here;
}

void rt_walk_begin(struct rt_walk *w, struct runtime *r, unsigned core, sim_tid tid)
{
    w->r = r;
    w->core = core;
    w->tid = tid;
    w->writes = 0;
    empty(w);
}

void rt_step(struct rt_walk *w, enum rt_step step, uint64_t times)
{
    w->r->st.steps[step] += times;
    w->instructions += (uint32_t)(times * step_of[step].instructions);
    w->after |= times && step_of[step].needs;
}

/* Appends a due, with the instructions of the steps since the last one. */
static struct rt_due *due_add(struct rt_walk *w, uint8_t op, uint32_t instructions)
{
    if (w->n == w->cap) {
        struct rt_due *was = w->due == w->here ? NULL : w->due;
        w->due = xrealloc(was, w->cap * 2, sizeof *w->due);
        if (!was)
            memcpy(w->due, w->here, sizeof w->here);
        w->cap *= 2;
    }
    struct rt_due *d = &w->due[w->n++];
    *d = (struct rt_due){
        .op = op, .instructions = w->instructions + instructions, .after = w->after};
    w->instructions = 0;
    w->after = false;
    return d;
}

static void count_accesses(struct rt_stats *st, uint64_t n, uint64_t bytes, enum mem_cmd cmd)
{
    st->loads += cmd == MEM_LOAD ? n : 0;
    st->stores += cmd == MEM_STORE ? n : 0;
    st->atomics += cmd == MEM_ATOMIC ? n : 0;
    st->bytes += bytes;
}

void rt_access(struct rt_walk *w, struct paddr addr, uint64_t bytes, enum mem_cmd cmd)
{
    struct rt_due *d = due_add(w, RT_ACCESS, 1);

    d->value[0] = addr.at;
    d->value[1] = bytes;
    d->value[2] = cmd;
}

void rt_accesses(struct rt_walk *w, uint64_t n, uint64_t bytes, enum mem_cmd cmd)
{
    count_accesses(&w->r->st, n, bytes, cmd);
    w->instructions += (uint32_t)n;
}

bool rt_listens(const struct rt_walk *w)
{
    return w->r->env.issue != NULL;
}

void rt_issue(struct rt_walk *w, const struct lx_act *act, uint32_t instructions)
{
    if (!rt_listens(w))
        return;
    w->r->st.lardx86[act->op]++;
    w->writes += act->op == LX_WRITEVC;
    memcpy(due_add(w, act->op, instructions)->value, act->value, sizeof act->value);
}

void rt_report(struct rt_walk *w, uint32_t index, uint64_t value)
{
    if (rt_listens(w))
        rt_step(w, RT_STEP_REPORT, 1);
    rt_issue(w, &(struct lx_act){.op = LX_WRITEVC, .value = {index, value}}, 1);
}

/* ---- paying --------------------------------------------------------------------------------- */

static sim_cycle run_instructions(struct rt_walk *w, uint32_t n, sim_cycle now)
{
    const struct runtime *r = w->r;

    w->r->st.instructions += n;
    if (!n || !r->params.instructions)
        return now;
    const sim_cycle done = r->env.exec(r->env.host, w->core, n, now);
    assert(done >= now);
    return done;
}

static sim_cycle make_access(struct rt_walk *w, const struct rt_due *d, sim_cycle now)
{
    const struct runtime_env *env = &w->r->env;
    const enum mem_cmd cmd = (enum mem_cmd)d->value[2];

    count_accesses(&w->r->st, 1, d->value[1], cmd);
    if (!env->mem)
        return now;
    if (d->after && env->needs)
        env->needs(env->host);
    const sim_cycle done =
        env->mem(env->host, w->core, paddr_of(d->value[0]), (unsigned)d->value[1], cmd, now);
    assert(done >= now);
    return done;
}

static sim_cycle make_act(struct rt_walk *w, const struct rt_due *d, sim_cycle now)
{
    const struct runtime_env *env = &w->r->env;
    struct lx_act act = {.op = d->op};

    memcpy(act.value, d->value, sizeof act.value);
    const sim_cycle done = env->issue(env->host, w->core, w->tid, &act, now);
    assert(done >= now);
    return done;
}

sim_cycle rt_walk_pay(struct rt_walk *w, sim_cycle now)
{
    if (w->due != w->here) /* a run may end in the middle: then rt_heap_free must find it */
        rt_core(w->r, w->core)->paying = w->due;
    for (size_t i = 0; i < w->n; i++) {
        const struct rt_due *d = &w->due[i];
        now = run_instructions(w, d->instructions, now);
        now = d->op == RT_ACCESS ? make_access(w, d, now) : make_act(w, d, now);
    }
    now = run_instructions(w, w->instructions, now);
    if (w->due != w->here) {
        rt_core(w->r, w->core)->paying = NULL;
        free(w->due);
    }
    empty(w);
    return now;
}
