/* ledger.c - what detection costs: gathered for each core, paid in order. It knows no policy and no
 * verdict. */
#include "policy/frame/ledger.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/frame/metadata.h"

/* ---- state ---------------------------------------------------------------------------------- */

enum { NO_MACHINES_LINE = 64 };

void ledger_init(struct cost *c, const struct policy_env *env)
{
    *c = (struct cost){
        .on = true, .env = env, .line = env->machine ? env->machine->line : NO_MACHINES_LINE};
    c->core = xcalloc(MAX_CORES, sizeof *c->core);
}

static void declare(struct cost *c, struct stats_group *g)
{
    struct mem_counts *n = &c->counts;

    if (c->steps)
        stats_vector(g, "steps", "count", "Steps of the policy's paths (docs/policies.md).",
                     c->count, c->steps, c->name);
    stats_count(g, "instructions", "count", "Instructions of the policy, accesses included.",
                &n->instructions);
    stats_count(g, "loads", "count", "Loads of metadata.", &n->access[MEM_LOAD]);
    stats_count(g, "stores", "count", "Stores to metadata.", &n->access[MEM_STORE]);
    stats_count(g, "atomics", "count", "Atomic accesses to metadata.", &n->access[MEM_ATOMIC]);
    stats_count(g, "bytes", "bytes", "What these accesses read or write.", &n->bytes);
}

void cost_init(struct cost *c, const struct policy_env *env, const struct cost_step *step,
               unsigned steps, unsigned shadow)
{
    *c = (struct cost){0};
    if (!env->machine)
        return;
    ledger_init(c, env);
    c->step = step;
    c->steps = steps;
    c->count = xcalloc(steps + 1, sizeof *c->count);
    c->name = xcalloc(steps + 1, sizeof *c->name);
    for (unsigned i = 0; i < steps; i++)
        c->name[i] = step[i].name;
    c->metadata = metadata_new(env, shadow);
    declare(c, stats_group(env->stats, "cost"));
}

void cost_free(struct cost *c)
{
    for (unsigned i = 0; c->core && i < MAX_CORES; i++) {
        free(c->core[i].step);
        free(c->core[i].note);
    }
    free(c->core);
    free(c->count);
    free(c->name);
    metadata_free(c->metadata);
    *c = (struct cost){0};
}

/* ---- gathering: accesses -------------------------------------------------------------------- */

/* What a software policy's takes on the host is its own; of hardware it is no state. */
static NO_INLINE void more_room(struct cost *c, struct ledger_core *k)
{
    const size_t was = k->cap;

    k->step = xgrow(k->step, k->n, &k->cap, sizeof *k->step);
    if (c->metadata)
        budget_take(c->env->budget, (k->cap - was) * sizeof *k->step);
}

/* In one line, after so many instructions more; there is room. */
static inline void add_step(struct ledger_core *k, sim_addr at, uint64_t bytes, enum mem_cmd cmd,
                            uint64_t instructions)
{
    k->step[k->n++] = (struct mem_step){.at = at,
                                        .instructions = k->instructions + instructions,
                                        .bytes = (uint16_t)bytes,
                                        .cmd = (uint8_t)cmd};
    k->instructions = 0;
}

/* unit: bytes for which there is an instruction; 0: none. */
static NO_INLINE void add_pieces(struct cost *c, unsigned core, sim_addr at, uint64_t bytes,
                                 enum mem_cmd cmd, uint64_t unit)
{
    struct ledger_core *k = &c->core[core];
    const uint64_t line = c->line;

    for (uint64_t done = 0, n; done < bytes; done += n) {
        const uint64_t room = line - ((at + done) & (line - 1));
        n = bytes - done < room ? bytes - done : room;
        if (k->n == k->cap)
            more_room(c, k);
        add_step(k, at + done, n, cmd,
                 unit ? (done + n + unit - 1) / unit - (done + unit - 1) / unit : 0);
    }
}

static bool in_pieces(const struct cost *c, const struct ledger_core *k, sim_addr at,
                      uint64_t bytes)
{
    return bytes > LEDGER_REGISTER || (at & (c->line - 1)) + bytes > c->line || k->n == k->cap;
}

void cost_add_access(struct cost *c, unsigned core, sim_addr at, uint64_t bytes, enum mem_cmd cmd)
{
    struct ledger_core *k = &c->core[core];

    assert(!k->paying);
    if (UNLIKELY(in_pieces(c, k, at, bytes)))
        add_pieces(c, core, at, bytes, cmd, LEDGER_REGISTER);
    else
        add_step(k, at, bytes, cmd, 1);
}

void ledger_touch(struct cost *c, unsigned core, sim_addr at, uint64_t bytes, enum mem_cmd cmd)
{
    struct ledger_core *k = &c->core[core];

    assert(!k->paying);
    if (UNLIKELY(in_pieces(c, k, at, bytes)))
        add_pieces(c, core, at, bytes, cmd, 0);
    else
        add_step(k, at, bytes, cmd, 0);
}

/* ---- gathering: notes ----------------------------------------------------------------------- */

struct ledger_place ledger_place(const struct cost *c, unsigned core)
{
    const struct ledger_core *k = &c->core[core];

    assert(!k->instructions); /* they would be behind it */
    return (struct ledger_place){k->n, k->notes};
}

static struct ledger_note *more_notes(struct ledger_core *k)
{
    assert(!k->paying);
    if (UNLIKELY(k->notes == k->notes_cap))
        k->note = xgrow(k->note, k->notes, &k->notes_cap, sizeof *k->note);
    return &k->note[k->notes++];
}

void ledger_note(struct cost *c, unsigned core, const struct ledger_note *n)
{
    struct ledger_core *k = &c->core[core];
    struct ledger_note *to = more_notes(k);

    *to = *n;
    to->before = k->n;
    to->instructions = k->instructions;
    k->instructions = 0;
}

void ledger_note_at(struct cost *c, unsigned core, struct ledger_place at,
                    const struct ledger_note *n)
{
    struct ledger_core *k = &c->core[core];
    const size_t behind = k->notes - at.note;

    more_notes(k);
    memmove(&k->note[at.note + 1], &k->note[at.note], behind * sizeof *n);
    k->note[at.note] = *n;
    k->note[at.note].before = at.step;
    k->note[at.note].instructions = 0;
}

/* ---- parts that act as they are called ------------------------------------------------------ */

sim_cycle ledger_exec(void *ledger, unsigned core, unsigned instructions, sim_cycle now)
{
    struct cost *c = ledger;

    if (!c->gathers)
        return c->env->exec(c->env->host, core, instructions, now);
    cost_add_instructions(c, c->gathers - 1, instructions);
    return now;
}

sim_cycle ledger_mem(void *ledger, unsigned core, sim_addr at, unsigned bytes, enum mem_cmd cmd,
                     sim_cycle now)
{
    struct cost *c = ledger;

    if (!c->gathers)
        return c->env->mem(c->env->host, core, at, bytes, cmd, now);
    if (core == c->gathers - 1)
        ledger_touch(c, core, at, bytes, cmd);
    else
        ledger_note(c, c->gathers - 1,
                    &(struct ledger_note){.what = LEDGER_OTHER,
                                          .core = (uint8_t)core,
                                          .cmd = (uint8_t)cmd,
                                          .bytes = bytes,
                                          .at = at});
    return now;
}

static sim_cycle drop_now(const struct cost *c, unsigned core, sim_addr line, sim_cycle now)
{
    const struct policy_machine *m = c->env->machine;
    uint8_t level;

    return m ? m->drop(c->env->host, core, line, &level, now) : now;
}

sim_cycle ledger_drop(struct cost *c, unsigned core, sim_addr line, sim_cycle now)
{
    if (!c->gathers)
        return drop_now(c, core, line, now);
    assert(core == c->gathers - 1);
    ledger_note(c, core, &(struct ledger_note){.what = LEDGER_DROP, .at = line});
    return now;
}

sim_addr ledger_physical(void *ledger, sim_addr virtual_addr)
{
    const struct policy_env *env = ((const struct cost *)ledger)->env;

    return env->machine->physical(env->host, virtual_addr);
}

/* ---- paying: instructions and accesses ------------------------------------------------------ */

static NO_INLINE sim_cycle run_very_many(const struct policy_env *env, unsigned core, uint64_t n,
                                         sim_cycle now)
{
    enum { AT_ONCE = 1 << 30 };

    for (; n > AT_ONCE; n -= AT_ONCE)
        now = env->exec(env->host, core, AT_ONCE, now);
    return env->exec(env->host, core, (unsigned)n, now);
}

static inline sim_cycle run_instructions(struct cost *c, unsigned core, uint64_t n, sim_cycle now)
{
    c->counts.instructions += n;
    if (LIKELY(n <= UINT32_MAX))
        return n ? c->env->exec(c->env->host, core, (unsigned)n, now) : now;
    return run_very_many(c->env, core, n, now);
}

static inline sim_cycle make_access(struct cost *c, unsigned core, const struct mem_step *s,
                                    sim_cycle now)
{
    const enum mem_cmd cmd = (enum mem_cmd)s->cmd;

    c->counts.access[cmd]++;
    c->counts.bytes += s->bytes;
    const sim_cycle done = c->env->mem(c->env->host, core, s->at, s->bytes, cmd, now);
    assert(done >= now);
    return done;
}

/* For machines that know single accesses only. */
static NO_INLINE sim_cycle one_by_one(struct cost *c, unsigned core, const struct mem_run *r,
                                      sim_cycle now)
{
    for (size_t i = 0; i < r->n; i++) {
        now = run_instructions(c, core, r->step[i].instructions, now);
        now = make_access(c, core, &r->step[i], now);
    }
    return now;
}

/* Steps from one to another, and instructions behind them. */
static inline sim_cycle make_steps(struct cost *c, unsigned core, size_t from, size_t to,
                                   uint64_t instructions, sim_cycle now)
{
    struct ledger_core *k = &c->core[core];
    const struct policy_machine *m = c->env->machine;
    const struct mem_run run = {k->step + from, to - from, &c->counts};

    k->paying = true; /* nobody moves the steps meanwhile */
    if (run.n)
        now = m && m->run ? m->run(c->env->host, core, &run, now) : one_by_one(c, core, &run, now);
    now = run_instructions(c, core, instructions, now);
    k->paying = false;
    return now;
}

/* ---- paying: what stands between them ------------------------------------------------------- */

struct payment {
    sim_cycle began, at;  /* when it began, and how far it is, maybe before that */
    sim_cycle data, done; /* of the bill in hand; when all before it were paid */
};

static sim_cycle later(sim_cycle a, sim_cycle b)
{
    return a > b ? a : b;
}

/* Beside its data, unless it comes after others that have taken time. */
static void begin_bill(struct payment *p, const struct ledger_note *n)
{
    p->done = later(p->done, p->at);
    p->at = p->done > p->began || n->bill.start > p->began ? p->done : n->bill.start;
    p->data = n->bill.data;
}

static void wait(struct payment *p, const struct ledger_note *n)
{
    if (n->wait.until <= p->at)
        return;
    *n->wait.waited += n->wait.until - p->at;
    p->at = n->wait.until;
}

static void pay_note(struct cost *c, unsigned core, const struct ledger_note *n, struct payment *p)
{
    const struct policy_env *env = c->env;

    switch ((enum ledger_what)n->what) {
    case LEDGER_BILL:
        begin_bill(p, n);
        break;
    case LEDGER_DATA:
        p->at = later(p->data, p->at);
        break;
    case LEDGER_WAIT:
        wait(p, n);
        break;
    case LEDGER_ASK:
        p->at = env->machine->ask(env->host, core, n->ask.line, n->ask.cores, n->bytes, p->at);
        break;
    case LEDGER_DROP:
        p->at = drop_now(c, core, n->at, p->at);
        break;
    case LEDGER_OTHER:
        p->at = env->mem(env->host, n->core, n->at, n->bytes, (enum mem_cmd)n->cmd, p->at);
        break;
    case LEDGER_CALL:
        p->at = n->call.fn(n->call.self, n->core, n->call.what, p->at);
        break;
    }
}

/* All from a place on, which then is the end. */
static sim_cycle pay_from(struct cost *c, unsigned core, struct ledger_place from, sim_cycle now)
{
    struct ledger_core *k = &c->core[core];
    struct payment p = {.began = now, .at = now, .done = now};
    const size_t end = k->n, notes = k->notes;
    const uint64_t last = k->instructions;
    size_t made = from.step;

    k->instructions = 0;
    for (size_t i = from.note; i < notes; i++) {
        const struct ledger_note n = k->note[i]; /* others may be gathered, and paid, meanwhile */
        p.at = make_steps(c, core, made, n.before, n.instructions, p.at);
        made = n.before;
        pay_note(c, core, &n, &p);
    }
    p.at = make_steps(c, core, made, end, last, p.at);
    assert(k->n == end && k->notes == notes && !k->instructions);
    k->n = from.step;
    k->notes = from.note;
    return later(p.done, p.at);
}

sim_cycle cost_pay_due(struct cost *c, unsigned core, sim_cycle now)
{
    return pay_from(c, core, (struct ledger_place){0}, now);
}

/* ---- parts ---------------------------------------------------------------------------------- */

struct ledger_part ledger_part(struct cost *c, unsigned core)
{
    struct ledger_core *k = &c->core[core];
    const struct ledger_part p = {{k->n, k->notes}, k->instructions};

    k->instructions = 0;
    return p;
}

sim_cycle ledger_pay_part(struct cost *c, unsigned core, struct ledger_part p, sim_cycle now)
{
    now = pay_from(c, core, p.from, now);
    c->core[core].instructions = p.instructions;
    return now;
}

sim_cycle ledger_beside(struct cost *c, unsigned core, unsigned by, struct ledger_part p,
                        sim_cycle now)
{
    struct ledger_core *k = &c->core[core];
    sim_cycle takes = k->instructions;

    assert(k->notes == p.from.note);
    k->instructions = 0;
    k->paying = true;
    for (size_t i = p.from.step; i < k->n; i++)
        takes += k->step[i].instructions + (make_access(c, by, &k->step[i], now) - now);
    k->paying = false;
    k->n = p.from.step;
    k->instructions = p.instructions;
    return takes;
}
