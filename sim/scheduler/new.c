/* new.c - the timed scheduler is made: its parameters and statistics, what it does for
 * coherence and for policies. */
#include "sim/scheduler/scheduler_int.h"

#include <stdlib.h>

static const char *const threads_choices[] = {"pinned", "round-robin", NULL};

#define AT(field) offsetof(struct schedule_params, field)
const struct param schedule_param_rows[] = {
    {"threads", PARAM_CHOICE, AT(threads), "pinned", 0, 0, "", threads_choices,
     "Threads on cores; pinned: each living thread has a core of its own; round-robin: any number "
     "share a core by turns."},
    {"quantum", PARAM_U64, AT(quantum), "100000", 1, UINT64_MAX, "cycles", NULL,
     "A turn at most, while others on the core could run; round-robin only."},
    {"switch", PARAM_U64, AT(switch_cycles), "1000", 0, 1000000000, "cycles", NULL,
     "What a switch to another thread takes."},
    {"window", PARAM_U64, AT(window), "4Mi", 1, UINT64_C(1) << 32, "events", NULL,
     "Events read ahead at most in timed order, to find the next event of a thread."},
    PARAM_END,
};
#undef AT

static sim_cycle host_sleep(void *arg, uint64_t key)
{
    struct timed **t = arg;

    return agent_sleep(*t, key);
}

static void host_wake(void *arg, uint64_t key, sim_cycle at)
{
    struct timed **t = arg;

    agents_wake(*t, key, at);
}

static void host_meets(void *arg, unsigned core)
{
    struct timed **t = arg;

    ahead_meets(*t, core);
}

/* For an access that a policy makes in this core's caches, whoever pays for it. */
static sim_cycle metadata_turn(void *arg, unsigned core, sim_cycle at)
{
    struct timed *t = arg;
    const sim_cycle turn = agent_until(t, core, at);

    if (t->active != &t->agent[core])
        ahead_meets(t, core);
    return turn;
}

struct coh_host timed_host(struct timed **t)
{
    return (struct coh_host){t, host_sleep, host_wake, host_meets};
}

void timed_first(struct timed *t, uint64_t number)
{
    t->first = number;
}

struct batch timed_taken(const struct timed *t)
{
    return (struct batch){t->batch.rec, t->at, t->batch.first};
}

uint64_t timed_added(const struct timed *t)
{
    return t->added;
}

bool timed_limited(const struct timed *t)
{
    return t->limited;
}

static void declare_stats(struct timed *t, struct stats_group *g)
{
    stats_count(g, "switches", "switches", "Cores that went on with another thread.",
                &t->st.switches);
    stats_level(g, "window-peak", "events", "Most events that were read ahead.",
                order_peak(t->order));
    stats_count(g, "window-full", "turns",
                "Turns taken while a thread's next event lay beyond the full window.",
                &t->st.window_full);
    stats_count(g, "buffered", "stores", "Stores that went into a store buffer.", &t->st.buffered);
    stats_count(g, "forwarded", "loads", "Loads answered by the core's store buffer.",
                &t->st.forwarded);
    stats_count(g, "overlapped", "loads", "Loads that were not waited for.", &t->st.overlapped);
    stats_count(g, "merged", "loads", "Loads of a line that another one was fetching.",
                &t->st.merged);
}

struct timed *timed_new(const struct schedule_params *p, const struct timed_env *env)
{
    struct timed *t = xcalloc(1, sizeof *t);
    const unsigned n = (unsigned)env->machine->params.cores;

    t->params = *p;
    t->env = *env;
    t->machine = env->machine;
    t->order = order_new(p->window, env->memory_limit);
    t->agents = n + beside_agents(t);
    t->agent = xcalloc(t->agents, sizeof *t->agent);
    agents_init(t);
    t->place = xcalloc(n, sizeof *t->place);
    t->ahead = xcalloc(n, sizeof *t->ahead);
    t->empty = n;
    for (unsigned i = 0; i < n; i++) {
        t->agent[i].core = i;
        t->agent[i].step = timed_core_step;
        t->place[i].core = &env->machine->core[i];
        t->place[i].agent = &t->agent[i];
    }
    map_init(&t->kernels, NULL);
    map_init(&t->carriers, NULL);
    map_init(&t->sleepers, NULL);
    beside_init(t);
    env->machine->scheduler = t;
    env->machine->until = metadata_turn;
    declare_stats(t, stats_group(stats_root(env->stats), "schedule"));
    return t;
}

void timed_free(struct timed *t)
{
    if (!t)
        return;
    agents_free(t);
    beside_free(t);
    order_free(t->order);
    for (size_t i = 0; i < t->machine->params.cores; i++)
        free(t->place[i].tid);
    map_free(&t->kernels);
    map_free(&t->carriers);
    map_free(&t->sleepers);
    free(t->place);
    free(t->ahead);
    free(t->thread);
    free(t->coreless);
    free(t->agent);
    free(t);
}
