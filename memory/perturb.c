/* perturb.c - delays of threads and of reads of memory, by a seed. */
#include "memory/perturb.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"

/* Counters of how often lines were read: so many for the program, and as many for policies. Lines
 * that lie this many apart share one: then reads of the one move on the next draw of the other. Its
 * draws are as random as before. */
enum { SLOTS = 1 << 16 };

/* Each use has a sequence of its own: draws for one say nothing of those for another. */
enum { DRAW_START, DRAW_READ, DRAWS = DRAW_READ + TRAFFICS };

struct perturb {
    struct perturb_params params;
    uint64_t key[DRAWS]; /* from the seed in force */
    uint32_t *reads[TRAFFICS];
    uint64_t starts, start_cycles, delayed, read_cycles;
};

#define AT(field) offsetof(struct perturb_params, field)
const struct param perturb_param_rows[] = {
    {"seed", PARAM_U64, AT(seed), "0", 0, UINT64_MAX, "", NULL,
     "Perturbs the run; another seed, another run of the same program. 0: the workload's own seed "
     "in program order; in other orders nothing is perturbed."},
    {"start", PARAM_U64, AT(start), "1000", 0, 1000000000, "cycles", NULL,
     "A thread starts up to so many cycles later, all numbers alike; the first one at once."},
    {"memory", PARAM_U64, AT(memory), "4", 0, 1000000, "cycles", NULL,
     "A read of memory takes up to so many cycles more, all numbers alike."},
    PARAM_END,
};
#undef AT

static void declare_stats(struct perturb *p, struct stats *stats)
{
    struct stats_group *g = stats_group(stats_root(stats), "perturb");

    stats_count(g, "starts", "threads", "Threads whose start a seed delayed, by 0 or more.",
                &p->starts);
    stats_count(g, "start-cycles", "cycles", "What they waited for that.", &p->start_cycles);
    stats_count(g, "reads", "lines", "Reads of memory that a seed delayed, by 0 or more.",
                &p->delayed);
    stats_count(g, "read-cycles", "cycles", "What these took longer.", &p->read_cycles);
}

int perturb_new(struct perturb **to, struct config *config, struct stats *stats,
                const uint64_t *workload, struct err *e)
{
    struct perturb_params params;
    struct rng r;

    *to = NULL;
    if (config_bind(config, "perturb", perturb_param_rows, &params, e))
        return -1;
    if ((!params.seed && !workload) || (!params.start && !params.memory))
        return 0;
    struct perturb *p = *to = xcalloc(1, sizeof *p);
    p->params = params;
    rng_seed(&r, params.seed ? params.seed : *workload);
    for (size_t i = 0; i < DRAWS; i++)
        p->key[i] = rng_next(&r);
    for (size_t i = 0; i < TRAFFICS && params.memory; i++)
        p->reads[i] = xcalloc(SLOTS, sizeof *p->reads[i]);
    declare_stats(p, stats);
    return 0;
}

uint64_t perturb_bytes(const struct perturb *p)
{
    return !p ? 0 : sizeof *p + (p->params.memory ? TRAFFICS * SLOTS * sizeof *p->reads[0] : 0);
}

void perturb_free(struct perturb *p)
{
    for (size_t i = 0; p && i < TRAFFICS; i++)
        free(p->reads[i]);
    free(p);
}

/* 0 to most, all alike: the number of the n-th draw for `of`, in whatever order they are asked for.
 * Each key goes through the generator's own mixing. */
static sim_cycle draw(const struct perturb *p, unsigned what, uint64_t of, uint64_t nth,
                      uint64_t most)
{
    struct rng r;

    rng_seed(&r, p->key[what] ^ of);
    rng_seed(&r, rng_next(&r) ^ nth);
    return rng_below(&r, most + 1);
}

sim_cycle perturb_start(struct perturb *p, uint32_t thread)
{
    if (!p || !p->params.start || !thread)
        return 0;
    const sim_cycle late = draw(p, DRAW_START, thread, 0, p->params.start);

    p->starts++;
    p->start_cycles += late;
    return late;
}

sim_cycle perturb_read(struct perturb *p, uint64_t line, enum mem_traffic for_whom)
{
    if (!p->params.memory)
        return 0;
    const uint64_t nth = p->reads[for_whom][line % SLOTS]++;
    const sim_cycle late = draw(p, DRAW_READ + for_whom, line, nth, p->params.memory);

    p->delayed++;
    p->read_cycles += late;
    return late;
}
