/* outside.c - what is known here of the caches of a host: which lines are where, as it has said. */
#include "sim/machine/outside.h"

#include <stdlib.h>

#include "base/mem.h"

enum { IN_L1 = 1, IN_L2 = 2 }; /* what a core's map says of a line */

struct outside {
    struct outside_env env;
    unsigned line_shift;
    struct paddr histories;
    uint64_t history_bytes;
    struct map core[MAX_CORES], shared; /* by number of the line */
    struct line_queue lines;            /* owns; not yet told */
    struct outside_stats {
        uint64_t data[LEVELS], metadata[LEVELS], drops, piggybacked;
    } st;
};

void outside_declare(struct stats *stats, const struct outside *o)
{
    static const struct outside_stats none;
    const struct outside_stats *st = o ? &o->st : &none;
    struct stats_group *g = stats_group(stats_root(stats), "host");

    stats_vector(g, "data", "accesses", "Of the program, by who answered in the host's caches.",
                 st->data, LEVELS, mem_level_text);
    stats_vector(g, "metadata", "accesses",
                 "Of policies, made in the host's caches: by who answered.", st->metadata, LEVELS,
                 mem_level_text);
    stats_count(g, "drops", "lines", "Lines of histories that the host was asked to drop.",
                &st->drops);
    stats_count(g, "piggybacked", "bytes", "Of histories, that went along with other messages.",
                &st->piggybacked);
}

struct outside *outside_new(const struct outside_env *env)
{
    struct outside *o = xcalloc(1, sizeof *o);

    o->env = *env;
    o->line_shift = (unsigned)__builtin_ctz(env->line);
    for (unsigned i = 0; i < MAX_CORES; i++)
        map_init(&o->core[i], env->memory);
    map_init(&o->shared, env->memory);
    outside_declare(env->stats, o);
    return o;
}

void outside_free(struct outside *o)
{
    if (!o)
        return;
    for (unsigned i = 0; i < MAX_CORES; i++)
        map_free(&o->core[i]);
    map_free(&o->shared);
    free(o->lines.at);
    free(o);
}

/* ---- accesses ------------------------------------------------------------------------------- */

static sim_cycle ask(struct outside *o, struct outside_access *a, unsigned *level)
{
    *level = LEVEL_NONE;
    a->history = a->addr.at - o->histories.at < o->history_bytes;
    const uint64_t took = o->env.access(o->env.host, a, level);

    if ((!a->drop && *level == LEVEL_NONE) || *level >= LEVELS) {
        if (!o->env.err->code)
            err_set(o->env.err, LARD_USAGE,
                    "caches: host: the host says that level %u has answered an access of a policy "
                    "at 0x%llx; the levels are in lardsim.h, enum lardsim_level",
                    *level, (unsigned long long)a->addr.at);
        *level = LEVEL_MEMORY;
    }
    return a->now + took;
}

struct coh_result outside_access(struct outside *o, unsigned core, struct paddr addr,
                                 unsigned bytes, enum mem_cmd cmd, sim_cycle now)
{
    struct outside_access a = {.addr = addr, .bytes = bytes, .core = core, .cmd = cmd, .now = now};
    unsigned level;
    const sim_cycle done = ask(o, &a, &level);

    o->st.metadata[level]++;
    return (struct coh_result){.done = done, .level = (uint8_t)level};
}

void outside_data(struct outside *o, unsigned level)
{
    o->st.data[level]++;
}

static void outside_histories(void *self, struct paddr from, uint64_t bytes)
{
    struct outside *o = self;

    o->histories = from;
    o->history_bytes = bytes;
}

static void outside_piggyback(void *self, uint64_t bytes)
{
    struct outside *o = self;

    o->st.piggybacked += bytes;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static enum mem_level outside_where(const void *self, unsigned core, struct paddr addr)
{
    const struct outside *o = self;
    const uint64_t line = addr.at >> o->line_shift;
    const uint64_t *in = map_find(&o->core[core], line);

    if (in)
        return *in & IN_L1 ? LEVEL_L1 : LEVEL_L2;
    return map_find(&o->shared, line) ? LEVEL_L3 : LEVEL_NONE;
}

static void leaves(struct map *m, uint64_t line, uint64_t in)
{
    uint64_t *had = map_find(m, line);

    if (had && !(*had &= ~in))
        map_remove(m, line);
}

void outside_line(struct outside *o, const struct line_event *le, unsigned hears)
{
    const uint64_t line = le->addr.at >> o->line_shift;
    struct map *m = le->level == LEVEL_L3 ? &o->shared : &o->core[le->core];
    const uint64_t in = le->level == LEVEL_L2 ? IN_L2 : IN_L1;
    struct line_queue *q = &o->lines;

    if (le->what == LINE_FILL || le->what == LINE_TRANSFER)
        *map_put(m, line) |= in;
    else if (le->what != LINE_DOWNGRADE)
        leaves(m, line, in);
    if (!(hears >> le->what & 1))
        return;
    q->at = xgrow(q->at, q->n, &q->cap, sizeof *q->at);
    q->at[q->n] = *le;
    q->at[q->n++].addr = paddr_of(line << o->line_shift);
}

struct line_queue *outside_lines(struct outside *o)
{
    return &o->lines;
}

static sim_cycle outside_drop(void *self, unsigned core, struct paddr addr, uint8_t *level,
                              sim_cycle now)
{
    struct outside *o = self;
    struct outside_access a = {.addr = addr, .core = core, .drop = true, .now = now};
    const uint64_t line = addr.at >> o->line_shift;
    unsigned nearest = map_remove(&o->shared, line) ? LEVEL_L3 : LEVEL_NONE, said;

    for (unsigned i = 0; i < o->env.cores; i++) {
        const uint64_t *in = map_find(&o->core[i], line);
        if (!in)
            continue;
        if (*in & IN_L1 || nearest != LEVEL_L1)
            nearest = *in & IN_L1 ? LEVEL_L1 : LEVEL_L2;
        map_remove(&o->core[i], line);
    }
    *level = (uint8_t)nearest;
    if (nearest == LEVEL_NONE)
        return now;
    o->st.drops++;
    return ask(o, &a, &said);
}

struct caches outside_caches(struct outside *o)
{
    static const struct caches_type type = {
        .histories = outside_histories,
        .drop = outside_drop,
        .piggyback = outside_piggyback,
        .where = outside_where,
    };

    return (struct caches){&type, o};
}
