/* on_machine.c - the machine of a run: made, watched, lent to the policies; and how it ends. */
#include "sim/session/session.h"

#include "sim/machine/interval.h"
#include "sim/machine/timeline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- making it ------------------------------------------------------------------------------ */

/* Values for a machine are no spelling mistakes in a run without one. */
static void know_table(void *session, const char *section, const struct param *rows)
{
    struct lardsim *l = session;

    if (rows && !l->err.code)
        config_known(l->config, section, rows, &l->err);
}

/* Values for another order are none, either. */
static int know_orders(struct lardsim *l)
{
    return config_known(l->config, "schedule", schedule_param_rows, &l->err) ||
           config_known(l->config, "host", host_param_rows, &l->err) ||
           config_known(l->config, "", caches_param_rows, &l->err);
}

static FILE *open_intervals(void *host, struct err *e)
{
    const struct lardsim *l = host;

    return output_lines(l->output, OUTPUT_INTERVALS, e);
}

/* Statistics by interval and the timeline, where they are asked for. */
static int watch(struct lardsim *l)
{
    struct machine *m = l->machine;

    m->intervals = intervals_new(
        &(struct intervals_env){.config = l->config,
                                .stats = l->stats,
                                .machine = m,
                                .open = l->output_dir || l->resolving ? open_intervals : NULL,
                                .host = l,
                                .err = &l->err});
    if (l->err.code)
        return -1;
    if (!l->timeline.path)
        return config_known(l->config, "timeline", timeline_param_rows, &l->err);
    m->timeline = timeline_new(l->timeline.path, l->timeline.overwrite, l->config,
                               (unsigned)m->params.cores, &l->err);
    return l->err.code ? -1 : 0;
}

/* An access of a policy goes to the host. */
static uint64_t host_makes(void *session, const struct outside_access *a, unsigned *level)
{
    static const int kind[] = {
        [MEM_LOAD] = LARDSIM_READ, [MEM_STORE] = LARDSIM_WRITE, [MEM_ATOMIC] = LARDSIM_RMW};
    struct lardsim *l = session;
    const struct lardsim_metadata what = {.addr = a->addr.at,
                                          .cycle = a->now,
                                          .bytes = a->bytes,
                                          .core = a->core,
                                          .kind = a->drop ? LARDSIM_CLEAR : kind[a->cmd],
                                          .history = a->history};
    struct lardsim_answer answer = {0};

    l->on.metadata(l->on.metadata_arg, &what, &answer);
    *level = answer.level;
    return answer.cycles;
}

static int use_host_caches(struct lardsim *l)
{
    struct machine *m = l->machine;
    struct caches_params p;

    if (config_bind(l->config, "", caches_param_rows, &p, &l->err))
        return -1;
    if (p.where == CACHES_OWN)
        return 0;
    if (!l->on.metadata)
        return err_set(&l->err, LARD_CONFIG,
                       "caches: host has the host make the accesses of policies, and it has not "
                       "said how; call lardsim_on_metadata before lardsim_start");
    if (m->pages.params.mapping != PAGES_IDENTITY)
        return err_set(&l->err, LARD_CONFIG,
                       "caches: host tells of lines by the program's addresses; set "
                       "pages.mapping=identity");
    m->outside = outside_new(&(struct outside_env){.access = host_makes,
                                                   .host = l,
                                                   .stats = l->stats,
                                                   .memory = &l->memory,
                                                   .cores = (unsigned)m->params.cores,
                                                   .line = (unsigned)m->params.line,
                                                   .err = &l->err});
    return 0;
}

/* A workload that is asked what it does is perturbed by the seed that it was given. */
static const uint64_t *own_seed(const struct lardsim *l)
{
    const struct source *s = l->pulled;

    return s && s->seeded && session_asks(l, s) ? &s->seed : NULL;
}

int machine_begins(struct lardsim *l, unsigned granule)
{
    const bool hosted = l->params.order == ORDER_HOST;
    const bool timed = l->params.order != ORDER_RECORDED && !hosted;

    if (l->params.machine == MACHINE_NONE) {
        if (l->params.order != ORDER_BY_MACHINE && l->params.order != ORDER_RECORDED)
            return err_set(&l->err, LARD_CONFIG,
                           "order: %s needs a machine; set machine=multicore, or order=recorded",
                           run_order(l->params.order));
        if (l->timeline.path)
            return err_set(&l->err, LARD_CONFIG,
                           "%s: a timeline shows a machine, and there is none; set "
                           "machine=multicore, or take a preset that has one",
                           l->timeline.path);
        machine_each_table(know_table, l);
        return l->err.code ? -1 : know_orders(l);
    }
    if (hosted && l->params.machine != MACHINE_MULTICORE)
        return err_set(&l->err, LARD_CONFIG,
                       "order: host is for a multicore, whose cores are the host's; set "
                       "machine=multicore");
    struct coh_host host = timed ? scheduler_host() : (struct coh_host){0};

    host.context = &l->context;
    l->machine =
        machine_new(l->config, l->stats, l->params.machine, timed, own_seed(l), &host, &l->err);
    if (!l->machine || watch(l))
        return -1;
    l->machine->sights = watched_sights(l);
    l->machine->tells_spent = l->machine->timeline || l->machine->sights;
    l->machine->word = run_layout(&l->params, l->pulled)->word;
    machine_account(l->machine, &l->memory);
    l->heap.budget.of = &l->memory;
    l->inlined = inline_heap_new(run_layout(&l->params, l->pulled), &l->machine->pages,
                                 granule == GRANULE_FIELD ? 4 : granule, &l->memory);
    if (budget_over(&l->memory))
        return err_set(&l->err, LARD_LIMIT,
                       "limits.memory: the caches and the directory of the machine alone take %llu "
                       "bytes of the host, more than %llu; raise the limit, or take smaller caches",
                       (unsigned long long)l->memory.live, (unsigned long long)l->memory.limit);
    if (hosted && use_host_caches(l))
        return -1;
    l->policies = machine_policies(l->machine);
    if (l->listing)
        l->policies.no_histories = NULL;
    l->policies.inlined = l->inlined;
    l->lines.queue = l->machine->outside ? outside_lines(l->machine->outside)
                                         : coherence_lines(l->machine->coherence);
    if (know_orders(l))
        return -1;
    if (hosted)
        return config_bind(l->config, "host", host_param_rows, &l->hosted, &l->err);
    return timed ? config_bind(l->config, "schedule", schedule_param_rows, &l->schedule, &l->err)
                 : 0;
}

void machine_gone(struct lardsim *l)
{
    if (!l->machine)
        return;
    intervals_free(l->machine->intervals);
    timeline_abort(l->machine->timeline);
    machine_free(l->machine);
}

/* ---- for policies --------------------------------------------------------------------------- */

void machine_lent(struct lardsim *l, struct checker_env *env)
{
    if (!l->machine)
        return;
    env->machine = &l->policies;
    env->host = l->machine;
    env->exec = machine_exec;
    env->mem = l->watched ? machine_mem_seen : machine_mem;
    env->heap = &l->heap;
}

void machine_heard(struct lardsim *l, const struct checker *c)
{
    const unsigned lines = checker_lines(c);

    if (!l->machine)
        return;
    l->pays |= checker_pays(c);
    l->machine->soon |= checker_looks_ahead(c);
    if (!lines)
        return;
    l->lines.hears |= lines;
    coherence_listen(l->machine->coherence, l->lines.hears);
}

/* ---- the end -------------------------------------------------------------------------------- */

/* The cores' clocks are what is left: an interval that ends in an event's cycles ends there. */
void machine_ends(struct lardsim *l)
{
    struct machine *m = l->machine;
    struct err lost = {0};

    if (!m)
        return;
    if (!l->course.region)
        course_end(l);
    machine_settle(m);
    intervals_pass(m->intervals, m->cycles ? m->cycles - 1 : 0);
    machine_finish(m);
    intervals_finish(m->intervals);
    watched_end(l);
    if (!m->timeline)
        return;
    l->timeline.cut = timeline_cut(m->timeline, &l->timeline.cut_at);
    if (timeline_close(m->timeline, &lost)) { /* matters more than why it is partial */
        err_clear(&l->err);
        l->err = lost;
    }
    m->timeline = NULL;
    m->tells_spent = m->sights;
}

/* ---- for the command line ------------------------------------------------------------------- */

int lardsim_timeline(struct lardsim *l, const char *path, bool overwrite)
{
    if (l->state != STATE_NEW || l->timeline.path)
        return err_set(&l->err, LARD_USAGE,
                       "lardsim_timeline: not at this point; once, before lardsim_start");
    l->timeline.path = xstrdup(path);
    l->timeline.overwrite = overwrite;
    return 0;
}

bool lardsim_timeline_cut(const struct lardsim *l, uint64_t *at)
{
    if (!l->timeline.cut)
        return false;
    *at = l->timeline.cut_at;
    return true;
}

const char *lardsim_machine_is(const struct lardsim *l, const char *what)
{
    const struct machine *m = l->machine;

    if (!m)
        return NULL;
    if (!strcmp(what, "order"))
        return l->program                      ? "program"
               : m->timed                      ? "timed"
               : l->params.order == ORDER_HOST ? "host"
                                               : "recorded";
    if (!strcmp(what, "contention"))
        return m->params.contention == CONTENTION_ON ? "on" : "off";
    assert(!strcmp(what, "memory"));
    return m->memory.type->name;
}
