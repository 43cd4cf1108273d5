/* simulate.c - a run on a simulated machine: how it is made, and how it ends. */
#include "sim/session/simulate_int.h"

#include "sim/machine/interval.h"
#include "sim/machine/timeline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

static FILE *open_intervals(void *host, struct err *e)
{
    const struct lardsim *l = host;

    return output_intervals(l->output, e);
}

/* Statistics by interval and the timeline, where they are asked for. */
static int watch(struct lardsim *l)
{
    struct simulation *s = l->simulation;
    struct machine *m = s->machine;

    m->intervals =
        intervals_new(&(struct intervals_env){.config = l->config,
                                              .stats = l->stats,
                                              .machine = m,
                                              .open = l->output_dir ? open_intervals : NULL,
                                              .host = l,
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
    const struct coh_host host = is_timed(l) ? scheduler_host(&s->timed) : (struct coh_host){0};
    s->machine = machine_new(l->config, l->stats, is_timed(l), &host, &l->err);
    if (!s->machine || watch(l))
        return -1;
    if (!is_timed(l))
        return config_known(l->config, "schedule", schedule_param_rows, &l->err);
    if (config_bind(l->config, "schedule", schedule_param_rows, &s->schedule, &l->err))
        return -1;
    s->timed = scheduler_new(&s->schedule,
                             &(struct scheduler_env){.machine = s->machine,
                                                     .stats = l->stats,
                                                     .names = &l->seen,
                                                     .memory_limit = l->params.memory,
                                                     .host = l,
                                                     .events = l->params.events,
                                                     .feed = simulate_feed,
                                                     .comes = l->rules ? simulate_comes : NULL,
                                                     .ran = simulate_ran,
                                                     .soon = simulate_soon,
                                                     .beside = simulate_beside,
                                                     .err = &l->err});
    return 0;
}

void simulate_free(struct lardsim *l)
{
    struct simulation *s = l->simulation;

    if (!s)
        return;
    scheduler_free(s->timed);
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

/* ---- the end -------------------------------------------------------------------------------- */

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
    if (s->timed && !l->err.code && !scheduler_run(s->timed) && !simulate_limited(l) &&
        l->st.events != scheduler_added(s->timed))
        err_set(
            &l->err, LARD_INTERNAL,
            "the timed order ends after %llu of %llu events, and says nothing; please report it",
            (unsigned long long)l->st.events, (unsigned long long)scheduler_added(s->timed));
    finish_machine(l);
}

void simulate_region(struct lardsim *l, bool begins)
{
    if (l->simulation && l->simulation->timed)
        scheduler_settle(l->simulation->timed);
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
