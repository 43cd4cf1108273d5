/* raw.c - synchronisation lowered to ReadVC and WriteVC, as a language runtime that keeps the
 * clocks of its locks itself would do it (LARD 4.2). The generator is that runtime: it has the
 * clocks of threads and locks.
 *
 * Shared and exclusive acquisitions are the same at this level; every release orders all that
 * follow. */
#include "trace/synth/synth_int.h"

static void read_entry(struct synth *g, uint32_t t, uint32_t i)
{
    synth_plain(g, t, EV_READVC, vclock_get(&g->threads[t].clock, i), i, false);
}

static void write_entry(struct synth *g, uint32_t t, uint32_t i, uint64_t value)
{
    vclock_set(&g->threads[t].clock, i, value, NULL);
    synth_plain(g, t, EV_WRITEVC, value, i, false);
}

static void tick(struct synth *g, uint32_t t)
{
    read_entry(g, t, t);
    write_entry(g, t, t, vclock_get(&g->threads[t].clock, t) + 1);
}

void synth_raw_give(struct synth *g, uint32_t t, struct vclock *to)
{
    g->syncs++;
    vclock_join(to, &g->threads[t].clock, NULL);
    tick(g, t);
}

void synth_raw_take(struct synth *g, uint32_t t, const struct vclock *from)
{
    const struct vclock *mine = &g->threads[t].clock;

    g->syncs++;
    for (uint32_t i = 0; i < from->n; i++) {
        const uint64_t value = vclock_get(from, i);
        if (i == t || !value)
            continue;
        read_entry(g, t, i);
        if (value > vclock_get(mine, i))
            write_entry(g, t, i, value);
    }
}

void synth_raw_fork(struct synth *g, uint32_t t, uint32_t child)
{
    g->syncs++;
    vclock_join(&g->threads[child].clock, &g->threads[t].clock, NULL);
    tick(g, t);
}

/* A forked child has its parent's entries already; its first events say so. */
void synth_raw_born(struct synth *g, uint32_t t)
{
    const struct vclock *mine = &g->threads[t].clock;

    for (uint32_t i = 0; i < mine->n; i++)
        if (i != t && vclock_get(mine, i))
            synth_plain(g, t, EV_WRITEVC, vclock_get(mine, i), i, false);
}
