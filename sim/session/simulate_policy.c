/* simulate_policy.c - what policies get of the machine, and what they hear of it. */
#include "sim/session/simulate_int.h"

/* While a core waits here, others go on with events of their own: then this core's is in hand
 * again, by its number. */

static struct machine *machine_of(void *host)
{
    const struct lardsim *l = host;

    return l->simulation->machine;
}

static sim_cycle policy_exec(void *host, unsigned core, unsigned instructions, sim_cycle now)
{
    machine_of(host)->core[core].instructions += instructions;
    return now + instructions;
}

static sim_cycle policy_mem(void *host, unsigned core, sim_addr a, unsigned bytes, enum mem_cmd cmd,
                            sim_cycle now)
{
    struct lardsim *l = host;
    const uint64_t number = l->number;

    now = machine_metadata(l->simulation->machine, core, a, bytes, cmd, now);
    l->number = number;
    return now;
}

static sim_cycle policy_run(void *host, unsigned core, const struct mem_run *r, sim_cycle now)
{
    struct lardsim *l = host;
    struct scheduler *t = l->simulation->timed;
    const uint64_t number = l->number;

    now = t ? scheduler_steps(t, core, r, now) : machine_steps(machine_of(host), core, r, now);
    l->number = number;
    return now;
}

static sim_addr policy_physical(void *host, sim_addr a)
{
    return pages_physical(&machine_of(host)->pages, a);
}

static void policy_histories(void *host, sim_addr from, uint64_t bytes)
{
    coherence_histories(machine_of(host)->coherence, from, bytes);
}

static sim_cycle policy_drop(void *host, unsigned core, sim_addr line, uint8_t *level,
                             sim_cycle now)
{
    return coherence_drop(machine_of(host)->coherence, core, line, level, now);
}

static sim_cycle policy_ask(void *host, unsigned core, sim_addr line, const uint64_t cores[2],
                            unsigned bytes, sim_cycle now)
{
    struct lardsim *l = host;
    const struct machine *m = l->simulation->machine;
    const uint64_t number = l->number;

    if (m->until)
        now = m->until(m->scheduler, core, now);
    l->number = number;
    return coherence_ask(m->coherence, core, line, cores, bytes, now);
}

static void policy_piggyback(void *host, uint64_t bytes)
{
    coherence_piggyback(machine_of(host)->coherence, bytes);
}

static uint8_t policy_where(void *host, unsigned core, sim_addr line)
{
    return (uint8_t)coherence_where(machine_of(host)->coherence, core, line);
}

static sim_cycle policy_stop(void *host, unsigned core, sim_cycle now)
{
    struct lardsim *l = host;
    const uint64_t number = l->number;

    if (l->simulation->timed)
        now = scheduler_stop(l->simulation->timed, core, now);
    l->number = number;
    return now;
}

static sim_cycle policy_go_on(void *host, unsigned core, sim_cycle since, sim_cycle now)
{
    struct lardsim *l = host;
    struct machine *m = machine_of(host);
    const uint64_t number = l->number;

    if (l->simulation->timed) {
        now = scheduler_go_on(l->simulation->timed, core, now);
        l->number = number;
        return now;
    }
    for (unsigned i = 0; i < m->params.cores; i++)
        if (i != core && m->core[i].clock)
            machine_spend(m, i, SPENT_STOPPED, now - since);
    return now;
}

void simulate_host(struct lardsim *l, struct checker_env *env)
{
    struct simulation *s = l->simulation;

    if (!s || !s->machine)
        return;
    s->policy = (struct policy_machine){
        .cores = (unsigned)s->machine->params.cores,
        .line = (unsigned)s->machine->params.line,
        .memory = s->machine->pages.params.mapping == PAGES_IDENTITY
                      ? 0
                      : s->machine->pages.params.memory,
        .run = policy_run,
        .physical = policy_physical,
        .histories = policy_histories,
        .drop = policy_drop,
        .ask = policy_ask,
        .piggyback = policy_piggyback,
        .stop = policy_stop,
        .go_on = policy_go_on,
        .where = policy_where,
        .lost = coherence_lost(s->machine->coherence),
    };
    env->machine = &s->policy;
    env->host = l;
    env->exec = policy_exec;
    env->mem = policy_mem;
}

void simulate_checker(struct lardsim *l, const struct checker *c)
{
    struct simulation *s = l->simulation;
    const unsigned lines = checker_lines(c);

    if (!s || !s->machine)
        return;
    s->pays |= checker_pays(c);
    s->machine->soon[false] |= checker_looks_ahead(c, false);
    s->machine->soon[true] |= checker_looks_ahead(c, true);
    if (!lines)
        return;
    s->hears |= lines;
    coherence_listen(s->machine->coherence, s->hears);
}
