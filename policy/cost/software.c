/* software.c - see software.h. */
#include "policy/cost/software.h"

sim_cycle software_exec(void *software, unsigned core, unsigned instructions, sim_cycle now)
{
    const struct software *s = software;

    return s->env->exec(s->env->host, core, instructions, now);
}

void software_needs(void *software)
{
    ((struct software *)software)->after = true;
}

/* Makes an access, line by line. Its instructions have been run. */
sim_cycle software_mem(void *software, unsigned core, struct paddr at, unsigned bytes,
                       enum mem_cmd cmd, sim_cycle now)
{
    struct software *s = software;
    const struct policy_machine *m = s->env->machine;
    const bool after = s->after;

    s->after = false;
    if (!m || !m->run)
        return s->env->mem(s->env->host, core, at, bytes, cmd, now);
    for (uint64_t done = 0, n; done < bytes; done += n) {
        const uint64_t room = m->line - paddr_within(paddr_plus(at, done), m->line);
        n = bytes - done < room ? bytes - done : room;
        struct mem_step step = {.at = paddr_plus(at, done),
                                .bytes = (uint16_t)n,
                                .cmd = (uint8_t)cmd,
                                .after = after && !done};
        const struct mem_run run = {.step = &step, .n = 1, .counts = &s->counts};
        now = m->run(s->env->host, core, &run, now);
    }
    return now;
}
