/* simulate.c - a run on a simulated machine: from the session's events to the machine and back to
 * the policies. */
#include "sim/simulate.h"

#include "base/mutant.h"
#include "sim/interval.h"
#include "sim/timeline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct simulation {
    struct machine *machine;
    struct policy_machine policy; /* as policies see it */
    unsigned hears;               /* of lines, bits by enum line_what */
    bool owes[MAX_CORES];         /* by core: there may be something to pay for lines */
    struct timed *timed;          /* NULL: recorded order */
    struct schedule_params schedule;
    struct batch batch; /* of the source: read, and given to the window up to `at` */
    size_t at;
    uint64_t next; /* number of the next event to give */
    uint64_t given;
    bool finishing;
    bool limited;                        /* limits.events: the rest is not given */
    struct map thread_core, kernel_core; /* recorded order: to core + 1 */
    uint64_t placed;
    char *timeline; /* the file; NULL: none */
    bool cut;       /* the timeline, at: */
    sim_cycle cut_at;
};

/* ---- making it ------------------------------------------------------------------------------ */

struct knowing {
    struct lardsim *l;
    const char *section; /* whose rows are known */
    int bad;
};

static void know_row(void *arg, const char *section, const struct param *row)
{
    struct knowing *k = arg;

    if (k->bad || (k->section && !strcmp(k->section, section)))
        return;
    free((char *)(uintptr_t)k->section);
    k->section = xstrdup(section);
    k->bad = config_known(k->l->config, section, row, &k->l->err);
}

/* Values for a machine are no spelling mistakes in a run without one. */
static int know_machine(struct lardsim *l)
{
    struct knowing k = {.l = l};

    machine_each_param(know_row, &k);
    free((char *)(uintptr_t)k.section);
    return k.bad;
}

static bool is_timed(const struct lardsim *l)
{
    return l->params.order != ORDER_RECORDED && l->params.machine != MACHINE_NONE;
}

bool simulate_timed(const struct lardsim *l)
{
    return l->simulation && l->simulation->timed;
}

static enum fed feed(void *host);
static bool ran(void *host, const struct event *ev, uint64_t number, unsigned core,
                struct mem_outcome out);
static void soon(void *host, const struct event *ev, bool very);
static void beside(void *host, unsigned core);

/* Statistics by interval and the timeline, where they are asked for. */
static int watch(struct lardsim *l)
{
    struct simulation *s = l->simulation;
    struct machine *m = s->machine;

    m->intervals = intervals_new(&(struct intervals_env){.config = l->config,
                                                         .stats = l->stats,
                                                         .machine = m,
                                                         .output = &l->output,
                                                         .has_output = l->output_dir != NULL,
                                                         .err = &l->err});
    if (l->err.code)
        return -1;
    if (!s->timeline)
        return config_known(l->config, "timeline", timeline_param_rows, &l->err);
    m->timeline = timeline_new(s->timeline, l->config, (unsigned)m->params.cores, &l->err);
    return l->err.code ? -1 : 0;
}

int simulate_begin(struct lardsim *l)
{
    struct simulation *s = l->simulation; /* --timeline came first, or NULL */

    if (l->params.machine == MACHINE_NONE) {
        if (l->params.order == ORDER_TIMED)
            return err_set(
                &l->err, LARD_CONFIG,
                "order: timed needs a machine; set machine=multicore, or order=recorded");
        if (s)
            return err_set(&l->err, LARD_CONFIG,
                           "%s: a timeline shows a machine, and there is none; set "
                           "machine=multicore, or take a preset that has one",
                           s->timeline);
        return know_machine(l) || config_known(l->config, "schedule", schedule_param_rows, &l->err);
    }
    if (!s)
        s = l->simulation = xcalloc(1, sizeof *s);
    map_init(&s->thread_core, NULL);
    map_init(&s->kernel_core, NULL);
    const struct coh_host host = is_timed(l) ? timed_host(&s->timed) : (struct coh_host){0};
    s->machine = machine_new(l->config, l->stats, is_timed(l), &host, &l->err);
    if (!s->machine || watch(l))
        return -1;
    if (!is_timed(l))
        return config_known(l->config, "schedule", schedule_param_rows, &l->err);
    if (config_bind(l->config, "schedule", schedule_param_rows, &s->schedule, &l->err))
        return -1;
    s->timed = timed_new(&s->schedule, &(struct timed_env){.machine = s->machine,
                                                           .stats = l->stats,
                                                           .names = &l->seen,
                                                           .memory_limit = l->params.memory,
                                                           .host = l,
                                                           .feed = feed,
                                                           .ran = ran,
                                                           .soon = soon,
                                                           .beside = beside,
                                                           .err = &l->err});
    return 0;
}

void simulate_free(struct lardsim *l)
{
    struct simulation *s = l->simulation;

    if (!s)
        return;
    timed_free(s->timed);
    if (s->machine) {
        intervals_free(s->machine->intervals);
        timeline_abort(s->machine->timeline);
    }
    machine_free(s->machine);
    free(s->timeline);
    map_free(&s->thread_core);
    map_free(&s->kernel_core);
    free(s);
}

/* ---- an event on the machine ---------------------------------------------------------------- */

enum { BYTES_MAX = 1 << 20 }; /* of an access that a machine makes line by line */

static int possible(struct lardsim *l, const struct event *ev, uint64_t number)
{
    if (LIKELY(!event_is_access(ev) || ev->size <= BYTES_MAX))
        return 0;
    return err_set(
        &l->err, LARD_TRACE,
        "event %llu: an access of %lu bytes; a machine makes at most %d at a time: split "
        "it, or set machine=none",
        (unsigned long long)number, (unsigned long)ev->size, BYTES_MAX);
}

/* The policies hear what happened to lines, whosever access it was, before they decide anything
 * else. That takes no time: each core pays for its own accesses. */
static void tell_lines(struct lardsim *l, unsigned core)
{
    struct simulation *s = l->simulation;
    struct coherence *c = s->machine->coherence;
    size_t n;
    const struct line_event *le = coherence_events(c, &n);

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < l->checkers; k++)
            checker_line(l->checker[k], &le[i], core);
        s->owes[le[i].by] = s->owes[core] = true;
    }
    coherence_events_clear(c);
}

/* Also what the policies' own accesses do to lines, and other cores' meanwhile. */
static NO_INLINE sim_cycle hear_lines(struct lardsim *l, unsigned core, sim_cycle now)
{
    struct simulation *s = l->simulation;

    for (tell_lines(l, core); s->owes[core]; tell_lines(l, core)) {
        s->owes[core] = false;
        for (size_t k = 0; k < l->checkers; k++)
            now = checker_line_paid(l->checker[k], core, now);
    }
    return now;
}

static inline sim_cycle heard(struct lardsim *l, unsigned core, sim_cycle now)
{
    return LIKELY(!l->simulation->hears) ? now : hear_lines(l, core, now);
}

static void soon(void *host, const struct event *ev, bool very)
{
    const struct lardsim *l = host;

    for (size_t k = 0; k < l->checkers; k++)
        checker_soon(l->checker[k], ev, very);
}

/* The core may be in the middle of something, and pays at the end of that. */
static void beside(void *host, unsigned core)
{
    struct lardsim *l = host;

    if (UNLIKELY(l->simulation->hears))
        tell_lines(l, core);
}

/* The policies see the event; what they make the core do is its handler's time. */
static bool tell(struct lardsim *l, const struct event *ev, unsigned core, struct mem_outcome out)
{
    struct machine *m = l->simulation->machine;
    const uint64_t warm_up = m->params.warm_up;
    const sim_cycle from = m->core[core].clock;
    sim_cycle now = from;

    if (UNLIKELY(l->simulation->hears))
        tell_lines(l, core);
    const bool go_on = session_ran(l, ev, core, out, &now);
    now = heard(l, core, now);

    machine_spend(m, core, SPENT_HANDLER, now - from);
    if (UNLIKELY(warm_up && l->st.events == warm_up))
        session_region(l, true);
    return go_on;
}

static uint64_t next_core(struct simulation *s)
{
    return s->placed++ % s->machine->params.cores + 1;
}

/* Recorded order: threads take cores in turn as they appear; a kernel thread's share its core. */
static unsigned core_of(struct simulation *s, const struct event *ev)
{
    if (s->machine->params.compat == COMPAT_CE)
        return (unsigned)(ev->tid % s->machine->params.cores);
    uint64_t *core = map_put(&s->thread_core, ev->tid);
    if (UNLIKELY(ev->kind == EV_THREAD)) {
        uint64_t *kernel = map_put(&s->kernel_core, ev->aux);
        if (!*kernel)
            *kernel = *core ? *core : next_core(s);
        *core = *kernel;
    }
    if (!*core)
        *core = next_core(s);
    return (unsigned)*core - 1;
}

void simulate_event(struct lardsim *l, const struct event *ev)
{
    struct simulation *s = l->simulation;

    if (possible(l, ev, l->number))
        return;
    const unsigned core = core_of(s, ev);
    machine_touch(s->machine, ev);
    if (UNLIKELY(s->machine->timeline))
        timeline_event(s->machine->timeline, core, ev, l->number);
    machine_run(s->machine, core, ev->gap);
    tell(l, ev, core, machine_event(s->machine, core, ev));
    if (UNLIKELY(s->machine->core[core].clock >= s->machine->interval_end))
        intervals_pass(s->machine->intervals, s->machine->core[core].clock);
}

/* ---- timed order ---------------------------------------------------------------------------- */

static bool ran(void *host, const struct event *ev, uint64_t number, unsigned core,
                struct mem_outcome out)
{
    struct lardsim *l = host;

    l->number = number;
    return tell(l, ev, core, out);
}

/* Into the window, in recorded order. */
static int give(struct lardsim *l, const struct event *ev, uint64_t number)
{
    struct simulation *s = l->simulation;

    if (session_obeys(l, ev, number) || possible(l, ev, number))
        return -1;
    machine_touch(s->machine, ev);
    if (timed_add(s->timed, ev, number))
        return -1;
    s->given++;
    return 0;
}

/* Another event comes, and limits.events is reached. */
static bool at_limit(struct lardsim *l)
{
    struct simulation *s = l->simulation;

    s->limited = s->limited || (l->params.events && s->given == l->params.events);
    return s->limited;
}

static enum fed feed(void *host)
{
    struct lardsim *l = host;
    struct simulation *s = l->simulation;

    if (s->limited)
        return FED_END;
    if (!l->pulled)
        return s->finishing ? FED_END : FED_NOTHING_YET;
    if (s->at == s->batch.records) {
        s->at = 0;
        if (session_read(l, &s->batch))
            return FED_ERROR;
        if (!s->batch.records)
            return FED_END;
    }
    const struct event *ev = s->batch.rec + s->at;
    if (at_limit(l))
        return FED_END;
    if (give(l, ev, s->next))
        return FED_ERROR;
    s->next++;
    s->at += event_records(ev);
    return FED_EVENT;
}

static int limit_reached(struct lardsim *l)
{
    return l->simulation->limited && !l->err.code ? session_limit(l) : 0;
}

int simulate_source(struct lardsim *l, struct source *s)
{
    l->simulation->next = s->first;
    if (timed_run(l->simulation->timed))
        return -1;
    return limit_reached(l);
}

int simulate_push(struct lardsim *l, const struct event *ev)
{
    struct simulation *s = l->simulation;

    if (at_limit(l))
        return session_limit(l);
    if (give(l, ev, s->next))
        return -1;
    s->next++;
    return timed_run(s->timed);
}

/* ---- the end -------------------------------------------------------------------------------- */

void simulate_taken(const struct lardsim *l, struct digest *identity)
{
    const struct simulation *s = l->simulation;

    digest_add(identity, s->batch.rec, s->at * sizeof *s->batch.rec);
}

/* The cores' clocks are what is left: an interval that ends in an event's cycles ends there. */
static void finish_machine(struct lardsim *l)
{
    struct simulation *s = l->simulation;
    struct machine *m = s->machine;
    struct err lost = {0};

    machine_settle(m);
    intervals_pass(m->intervals, m->cycles ? m->cycles - 1 : 0);
    machine_finish(m);
    intervals_finish(m->intervals);
    if (!m->timeline)
        return;
    s->cut = timeline_cut(m->timeline, &s->cut_at);
    if (timeline_close(m->timeline, &lost)) { /* matters more than why it is partial */
        err_clear(&l->err);
        l->err = lost;
    }
    m->timeline = NULL;
}

void simulate_finish(struct lardsim *l)
{
    struct simulation *s = l->simulation;

    if (!s)
        return;
    s->finishing = true;
    if (s->timed && !l->err.code && !timed_run(s->timed) && !limit_reached(l) &&
        l->st.events != s->given)
        err_set(
            &l->err, LARD_INTERNAL,
            "the timed order ends after %llu of %llu events, and says nothing; please report it",
            (unsigned long long)l->st.events, (unsigned long long)s->given);
    finish_machine(l);
}

void simulate_checker(struct lardsim *l, const struct checker *c)
{
    struct simulation *s = l->simulation;
    const unsigned lines = checker_lines(c);

    if (!s || !s->machine)
        return;
    s->machine->soon[false] |= checker_looks_ahead(c, false);
    s->machine->soon[true] |= checker_looks_ahead(c, true);
    if (!lines || MUTANT(LINE_EVENTS_OFF))
        return;
    s->hears |= lines;
    coherence_listen(s->machine->coherence, s->hears);
}

void simulate_region(struct lardsim *l, bool begins)
{
    if (l->simulation && l->simulation->timed)
        timed_settle(l->simulation->timed);
    if (l->simulation)
        machine_region(l->simulation->machine, begins);
}

/* ---- for the command line ------------------------------------------------------------------- */

int sim_timeline(struct lardsim *l, const char *path)
{
    if (l->state != STATE_NEW || l->simulation)
        return err_set(&l->err, LARD_USAGE,
                       "sim_timeline: not at this point; once, before lardsim_start");
    l->simulation = xcalloc(1, sizeof *l->simulation);
    l->simulation->timeline = xstrdup(path);
    return 0;
}

bool sim_timeline_cut(const struct lardsim *l, uint64_t *at)
{
    if (!l->simulation || !l->simulation->cut)
        return false;
    *at = l->simulation->cut_at;
    return true;
}

const char *sim_machine_is(const struct lardsim *l, const char *what)
{
    const struct machine *m = l->simulation ? l->simulation->machine : NULL;

    if (!m)
        return NULL;
    if (!strcmp(what, "order"))
        return m->timed ? "timed" : "recorded";
    if (!strcmp(what, "contention"))
        return m->params.contention == CONTENTION_ON ? "on" : "off";
    assert(!strcmp(what, "memory"));
    return m->memory.type->name;
}

/* ---- for policies --------------------------------------------------------------------------- */

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
    struct timed *t = l->simulation->timed;
    const uint64_t number = l->number;

    now = t ? timed_steps(t, core, r, now) : machine_steps(machine_of(host), core, r, now);
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
        now = timed_stop(l->simulation->timed, core, now);
    l->number = number;
    return now;
}

static sim_cycle policy_go_on(void *host, unsigned core, sim_cycle since, sim_cycle now)
{
    struct lardsim *l = host;
    struct machine *m = machine_of(host);
    const uint64_t number = l->number;

    if (l->simulation->timed) {
        now = timed_go_on(l->simulation->timed, core, now);
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
