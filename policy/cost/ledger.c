/* ledger.c - what detection costs: gathered for each core, paid in order. It knows no policy and no
 * verdict. */
#include "policy/cost/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "policy/cost/metadata.h"

/* ---- state ---------------------------------------------------------------------------------- */

enum { NO_MACHINES_LINE = 64 };

void ledger_hardware(struct ledger *c, const struct policy_env *env, unsigned kinds)
{
    *c = (struct ledger){
        .on = true, .env = env, .line = env->machine ? env->machine->line : NO_MACHINES_LINE};
    c->accounts = kinds * MAX_CORES;
    c->account = xcalloc(c->accounts, sizeof *c->account);
}

#define TIMES(part) part ".instructions", part ".atomics", part ".l1", part ".local", part ".remote"
static const char *const time_names[COST_PARTS * COST_TIMES] = {
    TIMES("check"), TIMES("slow"), TIMES("maps"),
    TIMES("sync"),  TIMES("heap"), TIMES("collections")};
#undef TIMES

static void declare(struct ledger *c, struct stats_group *g)
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
    stats_count(g, "reads", "count",
                "Reads of a variable that were checked, if the policy says so.", &c->reads.all);
    stats_count(g, "reads-same", "count", "Those that changed no metadata.", &c->reads.same);
    stats_count(g, "writes", "count", "Writes of a variable that were checked, likewise.",
                &c->writes.all);
    stats_count(g, "writes-same", "count", "Those that changed no metadata.", &c->writes.same);
    stats_count(g, "local", "accesses", "Those that the L2, the L3 or memory answered.", &n->local);
    stats_count(g, "remote", "accesses", "Those in which other cores were asked.", &n->remote);
    stats_vector(g, "cycles", "cycles",
                 "Where they and the instructions took the core's time: for what, and on what.",
                 n->cycles[0], ARRAY_SIZE(time_names), time_names);
}

void ledger_software(struct ledger *c, const struct policy_env *env, const struct cost_step *step,
                     unsigned steps, unsigned shadow)
{
    *c = (struct ledger){0};
    if (!env->machine)
        return;
    ledger_hardware(c, env, 1);
    c->step = step;
    c->steps = steps;
    c->count = xcalloc(steps + 1, sizeof *c->count);
    c->name = xcalloc(steps + 1, sizeof *c->name);
    for (unsigned i = 0; i < steps; i++)
        c->name[i] = step[i].name;
    c->guessed = env->machine->guesses;
    c->metadata = metadata_new(env, shadow);
    declare(c, stats_group(env->stats, "cost"));
}

void ledger_free(struct ledger *c)
{
    for (unsigned i = 0; i < c->accounts; i++) {
        free(c->account[i].step);
        free(c->account[i].note);
    }
    free(c->account);
    free(c->count);
    free(c->name);
    metadata_free(c->metadata);
    *c = (struct ledger){0};
}

/* ---- gathering: accesses -------------------------------------------------------------------- */

/* Makes room for steps. In software their host memory is charged to the policy's budget; in
 * hardware it is no state of the policy's. */
static NO_INLINE void more_room(struct ledger *c, struct ledger_account *k)
{
    const size_t was = k->cap;

    k->step = xgrow(k->step, k->n, &k->cap, sizeof *k->step);
    if (c->metadata)
        budget_take(c->env->budget, (k->cap - was) * sizeof *k->step);
}

NO_INLINE void ledger_add_pieces(struct ledger *c, unsigned account, struct paddr at,
                                 uint64_t bytes, enum mem_cmd cmd, uint64_t unit)
{
    struct ledger_account *k = &c->account[account];
    const uint64_t line = c->line;

    for (uint64_t done = 0, n; done < bytes; done += n) {
        const uint64_t room = line - paddr_within(paddr_plus(at, done), line);
        n = bytes - done < room ? bytes - done : room;
        if (k->n == k->cap)
            more_room(c, k);
        ledger_add_step(c, k, paddr_plus(at, done), n, cmd,
                        unit ? (done + n + unit - 1) / unit - (done + unit - 1) / unit : 0);
    }
}

NO_INLINE void ledger_closed(const struct ledger *c, const struct ledger_account *k)
{
    const unsigned account = (unsigned)(k - c->account);

    ensure_failed(__FILE__, __LINE__, "!k->paying", c->env->context,
                  "account %u of core %u is charged while it is being paid", account / MAX_CORES,
                  account % MAX_CORES);
}

void ledger_add_access(struct ledger *c, unsigned account, struct paddr at, uint64_t bytes,
                       enum mem_cmd cmd)
{
    struct ledger_account *k = &c->account[account];

    ledger_open(c, k);
    if (UNLIKELY(bytes > LEDGER_REGISTER || ledger_in_pieces(c, k, at, bytes)))
        ledger_add_pieces(c, account, at, bytes, cmd, LEDGER_REGISTER);
    else
        ledger_add_step(c, k, at, bytes, cmd, 1);
}

/* ---- gathering: notes ----------------------------------------------------------------------- */

struct ledger_note *ledger_more_notes(struct ledger_account *k)
{
    k->note = xgrow(k->note, k->notes, &k->notes_cap, sizeof *k->note);
    return &k->note[k->notes++];
}

struct ledger_note *ledger_note_first(struct ledger *c, unsigned account, enum ledger_what what)
{
    struct ledger_account *k = &c->account[account];
    const uint64_t instructions = k->instructions;
    size_t bill = k->notes - 1;

    while (k->note[bill].what != LEDGER_BILL)
        bill--;
    ledger_note(c, account, what);
    struct ledger_note *n = &k->note[bill + 1];
    memmove(n + 1, n, (k->notes - bill - 2) * sizeof *n);
    *n = (struct ledger_note){.what = (uint8_t)what, .before = n[-1].before};
    k->instructions = instructions;
    return n;
}

void ledger_guess(struct ledger *c, unsigned core, uint64_t branch, bool taken)
{
    if (!c->env->machine->guesses(c->env->host, core, branch, taken))
        ledger_note(c, core, LEDGER_BRANCH);
}

void ledger_called(struct ledger *c, unsigned core, uint64_t from)
{
    if (UNLIKELY(c->guessed))
        c->env->machine->passes(c->env->host, core, from);
}

/* ---- parts that act as they are called ------------------------------------------------------ */

sim_cycle ledger_exec(void *ledger, unsigned core, unsigned instructions, sim_cycle now)
{
    struct ledger *c = ledger;

    if (!c->gathers)
        return c->env->exec(c->env->host, core, instructions, now);
    ledger_instructions(c, c->gathers - 1, instructions);
    return now;
}

sim_cycle ledger_mem(void *ledger, unsigned core, struct paddr at, unsigned bytes, enum mem_cmd cmd,
                     sim_cycle now)
{
    struct ledger *c = ledger;
    const unsigned account = c->gathers - 1;

    if (!c->gathers)
        return c->env->mem(c->env->host, core, at, bytes, cmd, now);
    if (core == account % MAX_CORES) {
        ledger_touch(c, account, at, bytes, cmd);
        return now;
    }
    struct ledger_note *n = ledger_note(c, account, LEDGER_OTHER);
    n->other.at = at;
    n->other.bytes = (uint16_t)bytes;
    n->other.core = (uint8_t)core;
    n->other.cmd = (uint8_t)cmd;
    return now;
}

void ledger_needs_value(void *ledger)
{
    struct ledger *c = ledger;

    if (c->gathers)
        ledger_needs(c, c->gathers - 1);
}

static sim_cycle drop_now(const struct ledger *c, unsigned core, struct paddr line, sim_cycle now)
{
    const struct policy_machine *m = c->env->machine;
    uint8_t level;

    return m ? m->caches.type->drop(m->caches.self, core, line, &level, now) : now;
}

sim_cycle ledger_drop(struct ledger *c, unsigned core, struct paddr line, sim_cycle now)
{
    if (!c->gathers)
        return drop_now(c, core, line, now);
    ENSURE(core == (c->gathers - 1) % MAX_CORES, c->env->context,
           "core %u drops line 0x%llx while what core %u does is gathered", core,
           (unsigned long long)line.at, (c->gathers - 1) % MAX_CORES);
    ledger_note(c, c->gathers - 1, LEDGER_DROP)->line = line;
    return now;
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

/* part: what they were for when they were gathered; by now others may have gathered, too. */
static inline sim_cycle run_instructions(struct ledger *c, unsigned core, uint64_t n, unsigned part,
                                         sim_cycle now)
{
    c->counts.instructions += n;
    if (!n)
        return now;
    const sim_cycle done = LIKELY(n <= UINT32_MAX)
                               ? c->env->exec(c->env->host, core, (unsigned)n, now)
                               : run_very_many(c->env, core, n, now);
    c->counts.cycles[part][TIME_INSTRUCTIONS] += done - now;
    return done;
}

static inline sim_cycle make_access(struct ledger *c, unsigned core, const struct mem_step *s,
                                    sim_cycle now)
{
    const enum mem_cmd cmd = (enum mem_cmd)s->cmd;

    c->counts.access[cmd]++;
    c->counts.bytes += s->bytes;
    const sim_cycle done = c->env->mem(c->env->host, core, s->at, s->bytes, cmd, now);
    ENSURE(done >= now, c->env->context,
           "an access of core %u to 0x%llx that begins at cycle %llu is done at %llu", core,
           (unsigned long long)s->at.at, (unsigned long long)now, (unsigned long long)done);
    return done;
}

/* Makes the steps one by one, on machines that know single accesses only. */
static NO_INLINE sim_cycle one_by_one(struct ledger *c, unsigned core, const struct mem_run *r,
                                      sim_cycle now)
{
    for (size_t i = 0; i < r->n; i++) {
        now = run_instructions(c, core, r->step[i].instructions, r->step[i].part, now);
        now = make_access(c, core, &r->step[i], now);
    }
    return now;
}

/* Steps, and instructions behind them. */
static inline sim_cycle make_steps(struct ledger *c, unsigned core, struct mem_step *step, size_t n,
                                   uint64_t instructions, unsigned part, sim_cycle now)
{
    const struct policy_machine *m = c->env->machine;
    const struct mem_run run = {step, n, !c->metadata, &c->counts};

    if (n)
        now = m && m->run ? m->run(c->env->host, core, &run, now) : one_by_one(c, core, &run, now);
    return UNLIKELY(instructions) ? run_instructions(c, core, instructions, part, now) : now;
}

/* ---- paying: what stands between them ------------------------------------------------------- */

struct payment {
    sim_cycle began, at;  /* when it began, and how far it is, maybe before that */
    sim_cycle data, done; /* of the bill in hand; when all before it were paid */
};

static inline sim_cycle later(sim_cycle a, sim_cycle b)
{
    return a > b ? a : b;
}

/* Begins a bill beside its data, unless it comes after others that have taken time. */
static inline void begin_bill(struct payment *p, const struct ledger_note *n)
{
    p->done = later(p->done, p->at);
    p->at = p->done > p->began || n->bill.start > p->began ? p->done : n->bill.start;
    p->data = n->bill.data;
}

static sim_cycle waited(const struct ledger_note *n, sim_cycle now)
{
    if (n->wait.until <= now)
        return now;
    *n->wait.counts += n->wait.until - now;
    return n->wait.until;
}

/* The wait for what decided the branch is the branch's. */
static sim_cycle mispredicted(struct ledger *c, unsigned core, const struct ledger_note *n,
                              sim_cycle now)
{
    const sim_cycle done = c->env->machine->mispredicted(c->env->host, core, now);

    c->counts.cycles[n->part][TIME_INSTRUCTIONS] += done - now;
    return done;
}

static sim_cycle pay_note(struct ledger *c, unsigned core, const struct ledger_note *n,
                          sim_cycle data, sim_cycle now)
{
    const struct policy_env *env = c->env;
    const struct policy_machine *m = env->machine;

    switch ((enum ledger_what)n->what) {
    case LEDGER_BILL:
        break;
    case LEDGER_DATA:
        return later(data, now);
    case LEDGER_WAIT:
        return waited(n, now);
    case LEDGER_ASK:
        return m ? m->ask(env->host, core, n->ask.line, n->ask.cores, n->ask.bytes, now) : now;
    case LEDGER_ALONG:
        if (m)
            m->caches.type->piggyback(m->caches.self, n->bytes);
        return later(data, now);
    case LEDGER_DROP:
        return drop_now(c, core, n->line, now);
    case LEDGER_OTHER:
        return env->mem(env->host, n->other.core, n->other.at, n->other.bytes,
                        (enum mem_cmd)n->other.cmd, now);
    case LEDGER_BRANCH:
        return mispredicted(c, core, n, now);
    case LEDGER_CALL:
        return n->call.fn(n->call.self, n->call.core, n->call.what, now);
    }
    return now;
}

sim_cycle ledger_pay_due(struct ledger *c, unsigned account, unsigned core, sim_cycle now)
{
    struct ledger_account *k = &c->account[account];
    struct payment p = {.began = now, .at = now, .done = now};
    const uint64_t last = k->instructions;
    size_t made = 0;

    ledger_open(c, k);
    k->paying = true; /* nobody moves it meanwhile */
    k->instructions = 0;
    for (const struct ledger_note *n = k->note, *end = n + k->notes; n != end; n++) {
        if (n->before != made || n->instructions)
            p.at = make_steps(c, core, k->step + made, n->before - made, n->instructions, n->part,
                              p.at);
        made = n->before;
        if (n->what == LEDGER_BILL)
            begin_bill(&p, n);
        else
            p.at = pay_note(c, core, n, p.data, p.at);
    }
    if (k->n != made || last)
        p.at = make_steps(c, core, k->step + made, k->n - made, last, k->part, p.at);
    k->n = k->notes = 0;
    k->paying = false;
    return later(p.done, p.at);
}

sim_cycle ledger_pay_beside(struct ledger *c, unsigned account, unsigned core, sim_cycle now)
{
    struct ledger_account *k = &c->account[account];
    sim_cycle takes = k->instructions;

    ledger_open(c, k);
    ENSURE(!k->notes, c->env->context, "core %u pays beside its event, with %zu notes to heed",
           core, k->notes);
    k->paying = true;
    k->instructions = 0;
    for (size_t i = 0; i < k->n; i++)
        takes += k->step[i].instructions + (make_access(c, core, &k->step[i], now) - now);
    k->n = 0;
    k->paying = false;
    return takes;
}
