/* read.c - a reading of the trace, event by event, with the clocks of happens-before beside it
 * where somebody asks for them. They are those of a checker, whose policy checks nothing: so views,
 * transactions and moves of memory are what they are in every run. */
#include "sim/why/why_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int granule_of(const char *text, unsigned of_trace)
{
    if (!strcmp(text, "trace"))
        return (int)(of_trace ? of_trace : 1);
    return !strcmp(text, "field") ? GRANULE_FIELD : atoi(text);
}

/* Nobody else reads this configuration, so the label may be any. */
static int make_checker(struct walk *r, struct err *e)
{
    char *view = xasprintf("policy.why.view=%s", r->ask->view);
    const struct checker_env env = {.config = r->config = config_new(NULL),
                                    .stats = r->stats = stats_new(),
                                    .number = &r->number,
                                    .granule = r->granule,
                                    .memory = r->ask->budget,
                                    .err = r->err};

    if (!config_set(r->config, view, e))
        r->hb = checker_new("why=none", &env, e);
    free(view);
    return r->hb ? 0 : -1;
}

int reading_open(struct walk *r, const struct lardsim_why_ask *ask, enum reading_way way,
                 struct err *e)
{
    *r = (struct walk){.ask = ask, .err = e};
    r->from = ask->open(ask->arg, e);
    if (!r->from)
        return -1;
    r->source = sim_source(r->from);
    source_account(r->source, ask->budget);
    r->granule = (unsigned)granule_of(ask->granule, r->source->granularity);
    if (way == READ_CHECKED) {
        r->rules = rules_new(false);
        rules_account(r->rules, ask->budget);
    }
    return way == READ_CLOCKS ? make_checker(r, e) : 0;
}

void reading_close(struct walk *r)
{
    checker_free(r->hb);
    stats_free(r->stats);
    config_free(r->config);
    rules_free(r->rules);
    lardsim_source_close(r->from);
    for (size_t i = 0; i < r->txns; i++)
        free(r->txn[i].access);
    free(r->txn);
    free(r->time);
    free(r->acted);
    free(r->kernel);
    *r = (struct walk){0};
}

struct lardsim_why_line reading_line(const struct walk *r, const struct event *ev)
{
    return (struct lardsim_why_line){.position = r->position,
                                     .number = r->number,
                                     .kernel = ev->tid < r->kernels ? r->kernel[ev->tid] : 0,
                                     .ev = sim_event(ev)};
}

const char *reading_name(const struct walk *r)
{
    return r->ask->name ? r->ask->name : r->source->name;
}

/* ---- accesses and when they take effect ----------------------------------------------------- */

static void find_effects(struct walk *r, const struct event *ev)
{
    r->effect = NULL;
    r->effects = 0;
    if (event_is_access(ev) && ev->flags & EVF_IN_TXN) {
        r->txn = budget_reach(NULL, r->txn, &r->txns, ev->tid, sizeof *r->txn);
        struct open_txn *t = &r->txn[ev->tid];
        t->access = xgrow(t->access, t->n, &t->cap, sizeof *t->access);
        t->access[t->n++] = *ev;
    } else if (event_is_access(ev)) {
        r->effect = ev;
        r->effects = 1;
    } else if (ev->kind == EV_TXN_COMMIT && ev->tid < r->txns) {
        struct open_txn *t = &r->txn[ev->tid];
        r->effect = t->access;
        r->effects = t->n;
        t->n = 0;
    }
}

/* ---- clocks --------------------------------------------------------------------------------- */

static uint64_t *time_of(struct walk *r, uint32_t actor)
{
    r->time = budget_reach(NULL, r->time, &r->times, actor, sizeof *r->time);
    if (!r->time[actor])
        r->time[actor] = 1;
    return &r->time[actor];
}

static bool acts_first(struct walk *r, sim_tid tid)
{
    r->acted = budget_reach(NULL, r->acted, &r->threads, tid, sizeof *r->acted);
    const bool first = !r->acted[tid];
    r->acted[tid] = true;
    return first;
}

/* A time that has gone on has been given: each outgoing edge ends with that. A thread that has
 * ended has no clock of its own any more. */
static bool gave(struct walk *r, uint32_t actor)
{
    uint64_t *time = time_of(r, actor);
    const uint64_t now = checker_time(r->hb, actor);

    if (now == *time)
        return false;
    *time = now;
    return true;
}

static void move_clocks(struct walk *r, const struct event *ev)
{
    r->first = acts_first(r, ev->tid);
    checker_step(r->hb, ev, 0, (struct mem_outcome){0}, 0);
    r->actor = checker_actor(r->hb, ev->tid);
    r->before = *time_of(r, r->actor);
    r->gave = gave(r, r->actor) ||
              (ev->kind == EV_THREAD_END && !checker_knows(r->hb, ev->tid, r->actor));
    r->other_gave = false;
    if (ev->kind == EV_JOIN && ev->aux < r->threads && r->acted[ev->aux]) {
        r->other = checker_actor(r->hb, (sim_tid)ev->aux);
        r->other_gave = r->other != r->actor && gave(r, r->other);
    }
}

static int apply(struct walk *r, const struct event *ev)
{
    if (ev->kind == EV_THREAD) {
        r->kernel = budget_reach(NULL, r->kernel, &r->kernels, ev->tid, sizeof *r->kernel);
        r->kernel[ev->tid] = ev->aux + 1;
    }
    if (r->rules && rules_apply(r->rules, ev, r->number, r->err))
        return -1;
    if (r->hb)
        move_clocks(r, ev);
    find_effects(r, ev);
    if (budget_over(r->ask->budget))
        return err_set(r->err, LARD_LIMIT,
                       "%s: event %llu: what has to be kept takes %llu bytes, and the limit is "
                       "%llu; raise it with --max-memory",
                       reading_name(r), (unsigned long long)r->number,
                       (unsigned long long)r->ask->budget->live,
                       (unsigned long long)r->ask->budget->limit);
    return r->err->code ? -1 : 0;
}

int reading_each(struct walk *r, reading_fn *fn, void *arg)
{
    struct batch b;

    for (;;) {
        if (source_next(r->source, &b, r->err))
            return -1;
        if (b.records == 0)
            return 0;
        r->position = b.first;
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i]), r->position++) {
            r->number = lardsim_executed_event(r->ask->executed, r->position);
            if (apply(r, &b.rec[i]))
                return -1;
            if (!fn(arg, r, &b.rec[i]))
                return 0;
        }
    }
}
