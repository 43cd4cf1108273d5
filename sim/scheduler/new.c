/* new.c - the timed scheduler is made: its parameters and statistics, what it does for
 * coherence and for the accesses of policies. */
#include "sim/scheduler/timed.h"

#include <stdlib.h>

static const char *const threads_choices[] = {"pinned", "round-robin", NULL};

const struct param schedule_param_rows[] = {
#define PARAMS_DEF "sim/scheduler/params.def"
#define PARAMS_OF  struct schedule_params
#include "base/param_rows.h"
};

/* ---- what coherence and policies ask --------------------------------------------------------- */

/* For an access that a policy makes in this core's caches, whoever pays for it. */
static sim_cycle metadata_turn(void *arg, unsigned core, sim_cycle at)
{
    struct timed *s = arg;
    const sim_cycle turn = queue_until(s, core, at);

    if (s->queue.active != &s->queue.agent[core])
        ahead_meets(s, core);
    return turn;
}

struct coh_host scheduler_host(void)
{
    return (struct coh_host){NULL, queue_sleep, queue_wake, ahead_meets, buffers_ahead, NULL};
}

/* ---- making and freeing ---------------------------------------------------------------------- */

static void declare_stats(struct timed *s, struct stats_group *g)
{
    const struct timed_stats *st = &s->st;

    stats_count(g, "switches", "switches", "Cores that went on with another thread.",
                &st->switches);
    stats_level(g, "window-peak", "events", "Most events that were read ahead.",
                order_peak(s->order));
#define STATS_DEF "sim/scheduler/stats.def"
#include "base/stats_declare.h"
}

static void timed_destroy(struct scheduler *head)
{
    struct timed *s = (struct timed *)head;

    queue_free(s);
    buffers_free(s);
    pipeline_free(s);
    order_free(s->order);
    for (size_t i = 0; i < s->machine->params.cores; i++)
        free(s->core[i].tid);
    for (size_t i = 0; i < s->threads.n; i++)
        free(s->threads.at[i].woken.tid);
    map_free(&s->threads.kernels);
    map_free(&s->threads.carriers);
    map_free(&s->queue.sleepers);
    free(s->core);
    free(s->ahead);
    free(s->threads.at);
    free(s->threads.coreless);
    free(s->queue.agent);
    free(s);
}

static const struct scheduler_type timed = {
    .run = timed_run,
    .next = timed_next,
    .settle = timed_settle,
    .where = timed_where,
    .destroy = timed_destroy,
};

static const struct machine_turns machine_turns = {
    .until = metadata_turn,
    .steps = timed_steps,
    .stop = timed_stop,
    .go_on = timed_go_on,
};

int scheduler_foresee(const struct scheduler *s, const struct trace_summary *all, struct err *e)
{
    return s->type == &timed ? threads_foresee((const struct timed *)s, all, e) : 0;
}

struct scheduler *scheduler_timed(const struct schedule_params *p, const struct scheduler_env *env)
{
    struct timed *s = xcalloc(1, sizeof *s);
    const unsigned n = (unsigned)env->machine->params.cores;

    s->head.type = &timed;
    s->params = *p;
    s->head.env = *env;
    s->machine = env->machine;
    s->l1_latency = coherence_l1_latency(env->machine->coherence);
    s->order = order_new(p->window, env->context, env->memory);
    /* The cores, then their store buffers and MSHRs: all that has a time at which it goes on. */
    s->queue.agents = n + buffers_agents(s);
    s->queue.agent = xcalloc(s->queue.agents, sizeof *s->queue.agent);
    queue_init(s);
    s->core = xcalloc(n, sizeof *s->core);
    s->ahead = xcalloc(n, sizeof *s->ahead);
    s->threads.empty = n;
    for (unsigned i = 0; i < n; i++) {
        s->queue.agent[i].core = i;
        s->core[i].core = &env->machine->core[i];
        s->core[i].agent = &s->queue.agent[i];
    }
    map_init(&s->threads.kernels, env->memory);
    map_init(&s->threads.carriers, env->memory);
    map_init(&s->queue.sleepers, env->memory);
    buffers_init(s);
    /* From here on accesses of policies wait for their turn. */
    env->machine->scheduler = s;
    coherence_serve(env->machine->coherence, s);
    s->turns = machine_turns;
    env->machine->turns = &s->turns;
    declare_stats(s, stats_group(stats_root(env->stats), "schedule"));
    pipeline_init(s, &s->turns, stats_root(env->stats));
    return &s->head;
}
