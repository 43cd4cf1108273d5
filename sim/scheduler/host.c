/* host.c - the clock of another simulator is the clock (order = host): each event comes with its
 * core and cycle, and takes no time here but what the detector adds.
 *
 * The host's time is all that passes between a core's events: `executing`. Accesses of the program
 * go through the caches, which so hold what the host's would hold, and take no time, as the host
 * has charged it. What policies do takes time from there on. Stops reach a core at its next event,
 * where the host can let it stand still. */
#include "sim/scheduler/host.h"

#include "sim/machine/timeline.h"

#include <stdlib.h>

#define AT(field) offsetof(struct host_params, field)
const struct param host_param_rows[] = {
    {"delays", PARAM_BOOL, AT(delays), "on", 0, 0, "", NULL,
     "With order=host: the host lets a core stand still for the cycles that it is told, so that "
     "its "
     "later cycles contain them; off: it only counts them."},
    PARAM_END,
};
#undef AT

static const char *const caches_choices[] = {"own", "host", NULL};
const struct param caches_param_rows[] = {
    {"caches", PARAM_CHOICE, offsetof(struct caches_params, where), "own", 0, 0, "", caches_choices,
     "With order=host, whose caches there are: those of the machine, which the host's accesses go "
     "through; or the host's, which tells what happens to their lines and makes the accesses of "
     "policies in them."},
    PARAM_END,
};

struct host_core {
    sim_cycle owed; /* stops, until the core's next event */
    sim_cycle lag;  /* what the host has been told, and does not delay by */
    bool runs;      /* a thread: its time passes with instructions */
};

struct host_order {
    struct machine *machine;
    struct host_params params;
    struct machine_turns turns;
    struct host_core core[MAX_CORES];
    struct host_at at; /* of the event in hand */
    sim_cycle from;    /* when that began here */
    sim_cycle latest;
    struct {
        unsigned deep;
        sim_cycle from;
    } stops;
    uint64_t added; /* to the event in hand */
    struct host_stats st;
};

/* ---- what machine and policies ask --------------------------------------------------------- */

/* The host has waited for it. */
static struct coh_result host_access(struct machine *m, unsigned core, struct paddr physical,
                                     unsigned bytes, enum mem_cmd cmd, sim_cycle now)
{
    const struct host_order *h = m->scheduler;
    struct coh_result r = {.level = (uint8_t)h->at.level};

    (void)bytes;
    if (h->machine->outside)
        outside_data(h->machine->outside, r.level);
    else
        r = coherence_access(h->machine->coherence, core, physical, cmd, TRAFFIC_DATA, now);
    r.done = now;
    return r;
}

static sim_cycle host_until(void *self, unsigned core, sim_cycle at)
{
    (void)self;
    (void)core;
    return at;
}

static sim_cycle host_steps(void *self, unsigned core, const struct mem_run *r, sim_cycle now)
{
    const struct host_order *h = self;

    return machine_steps(h->machine, core, r, now);
}

static sim_cycle host_stop(void *self, unsigned core, sim_cycle now)
{
    struct host_order *h = self;

    (void)core;
    if (!h->stops.deep++)
        h->stops.from = now;
    return now;
}

/* A core may still have been in the middle of an event when the stop began; where the host only
 * counts, clocks of cores are not compared. */
static sim_cycle loses(const struct host_order *h, unsigned core, sim_cycle end)
{
    const sim_cycle busy = h->machine->core[core].clock + h->core[core].owed;
    const sim_cycle from = h->params.delays && busy > h->stops.from ? busy : h->stops.from;

    return end > from ? end - from : 0;
}

static sim_cycle host_go_on(void *self, unsigned core, sim_cycle since, sim_cycle now)
{
    struct host_order *h = self;

    (void)since;
    if (--h->stops.deep)
        return now;
    for (unsigned i = 0; i < h->machine->params.cores; i++)
        if (i != core && h->core[i].runs)
            h->core[i].owed += loses(h, i, now);
    return now;
}

/* ---- the events ----------------------------------------------------------------------------- */

void host_tell(struct host_order *h, const struct host_at *at)
{
    h->at = *at;
    h->added = 0;
}

uint64_t host_added(const struct host_order *h)
{
    return h->added;
}

/* The host's own time passes on the core; then what others have stopped it for. */
static void come_to(struct host_order *h, struct core *c)
{
    struct host_core *hc = &h->core[h->at.core];
    const sim_cycle now = h->at.cycle + (h->params.delays ? 0 : hc->lag);

    if (now < c->clock)
        h->st.behind++;
    else
        core_spend(h->machine, c, hc->runs ? SPENT_EXECUTING : SPENT_IDLE, now - c->clock);
    h->from = c->clock;
    core_spend(h->machine, c, SPENT_STOPPED, hc->owed);
    hc->owed = 0;
}

void host_start(struct host_order *h, struct turn *t)
{
    struct machine *m = h->machine;
    struct core *c = &m->core[h->at.core];

    come_to(h, c);
    c->had_thread = true;
    c->instructions += t->ev->gap;
    h->core[h->at.core].runs = t->ev->kind != EV_THREAD_END;
    t->core = h->at.core;
    t->took = h->at.took;
    machine_touch(m, t->ev);
    if (UNLIKELY(m->timeline))
        timeline_event(m->timeline, t->core, t->ev, t->number);
}

void host_ran(struct host_order *h, const struct turn *t)
{
    const sim_cycle now = h->machine->core[t->core].clock;

    h->added = now - h->from;
    h->core[t->core].lag += h->added;
    h->st.added += h->added;
    h->latest = u64_max(h->latest, now);
}

unsigned host_core(const struct host_order *h)
{
    return h->at.core;
}

sim_cycle host_latest(const struct host_order *h)
{
    return h->latest;
}

/* ---- making one ----------------------------------------------------------------------------- */

static const struct machine_turns machine_turns = {
    .until = host_until,
    .steps = host_steps,
    .stop = host_stop,
    .go_on = host_go_on,
};

void host_declare(struct stats *stats, const struct host_stats *st)
{
    struct stats_group *g = stats_group(stats_root(stats), "host");

    stats_count(g, "added", "cycles", "Cycles that the detector added to the host's events.",
                &st->added);
    stats_count(g, "behind", "events",
                "Events that the host told with a cycle at which the core was still busy with the "
                "detector: they begin when that is done.",
                &st->behind);
}

struct host_order *host_order_new(const struct host_params *p, struct machine *m,
                                  struct stats *stats)
{
    struct host_order *h = xcalloc(1, sizeof *h);

    h->machine = m;
    h->params = *p;
    host_declare(stats, &h->st);
    h->turns = machine_turns;
    m->turns = &h->turns;
    m->scheduler = h;
    m->access = host_access;
    m->core_params.memory_instruction = MEMORY_INSTRUCTION_LATENCY;
    return h;
}
