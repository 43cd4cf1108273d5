/* session.c - the library: an instance from its configuration to its results (lardsim.h).
 *
 * The parts of a run are made (ready.c) when the granularity is known: at the start, or where the
 * trace is to say it, when a source is opened or the first event is pushed (push.c). */
#include "sim/session/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *lardsim_version(void)
{
    return PACKAGE_VERSION;
}

struct lardsim *lardsim_new(void)
{
    struct lardsim *l = xcalloc(1, sizeof *l);

    l->config = config_new(run_presets);
    l->context = (struct run_context){context_tell, l};
    l->stats = stats_new();
    l->names = names_new();
    l->seen = l->names;
    l->identity = digest_new();
    host_read(&l->began);
    return l;
}

void lardsim_free(struct lardsim *l)
{
    if (!l)
        return;
    output_abort(l->output);
    source_close(l->pulled);
    compare_free(l->compare);
    scheduler_free(l->scheduler);
    machine_gone(l);
    for (size_t i = 0; i < l->checkers; i++)
        checker_free(l->checker[i]);
    free(l->checker);
    free(l->turn);
    rules_free(l->rules);
    stats_free(l->stats);
    config_free(l->config);
    placement_free(l->placement);
    live_heap_free(&l->heap);
    inline_heap_free(l->inlined);
    names_free(l->names);
    digest_free(l->identity);
    free(l->gaps.filled);
    for (size_t i = 0; i < l->words; i++)
        free(l->word[i]);
    free(l->word);
    free(l->source);
    free(l->caveat);
    watched_free(l);
    free(l->timeline.path);
    keep_abort(l->keep);
    free(l->record.path);
    free(l->record.numbers);
    free(l->output_dir);
    free(l->property);
    free(l);
}

/* An instance in the wrong state is the caller's mistake and is said like any other. */
static int expect(struct lardsim *l, enum lardsim_state state, const char *what)
{
    if (l->err.code)
        return -1;
    if (l->state == state || (state == STATE_STARTED && l->state == STATE_READY))
        return 0;
    return err_set(&l->err, LARD_USAGE, "%s: not at this point; the order of calls is in lardsim.h",
                   what);
}

/* ---- configuration -------------------------------------------------------------------------- */

int lardsim_load(struct lardsim *l, const char *yaml_path)
{
    return expect(l, STATE_NEW, "lardsim_load") ? -1 : config_load(l->config, yaml_path, &l->err);
}

int lardsim_preset(struct lardsim *l, const char *name)
{
    return expect(l, STATE_NEW, "lardsim_preset") ? -1 : config_preset(l->config, name, &l->err);
}

int lardsim_set_from(struct lardsim *l, const char *assignment, const char *origin)
{
    return expect(l, STATE_NEW, "lardsim_set")
               ? -1
               : config_set_from(l->config, assignment, origin, &l->err);
}

int lardsim_set(struct lardsim *l, const char *assignment)
{
    return lardsim_set_from(l, assignment, "--set");
}

int lardsim_output(struct lardsim *l, const char *dir, int overwrite)
{
    if (expect(l, STATE_NEW, "lardsim_output"))
        return -1;
    if (l->output_dir)
        return err_set(&l->err, LARD_USAGE, "lardsim_output: there is a results folder already");
    l->output_dir = xstrdup(dir);
    l->overwrite = overwrite != 0;
    return 0;
}

int lardsim_output_private(struct lardsim *l, const char *dir)
{
    l->output_private = true;
    return lardsim_output(l, dir, 0);
}

void lardsim_command(struct lardsim *l, const char *const *word, size_t n)
{
    l->word = xcalloc(n + 1, sizeof *l->word);
    for (l->words = 0; l->words < n; l->words++)
        l->word[l->words] = xstrdup(word[l->words]);
}

const char *lardsim_given(const struct lardsim *l, const char *parameter)
{
    return config_given(l->config, parameter);
}

void lardsim_others(struct lardsim *l, const char *const *spec, size_t n)
{
    l->other = spec;
    l->others = n;
}

int lardsim_compare(struct lardsim *l)
{
    if (expect(l, STATE_NEW, "lardsim_compare"))
        return -1;
    l->comparing = true;
    return 0;
}

/* ---- start ---------------------------------------------------------------------------------- */

int lardsim_start(struct lardsim *l)
{
    if (expect(l, STATE_NEW, "lardsim_start") ||
        config_bind(l->config, "", run_param_rows, &l->params, &l->err))
        return -1;
    if (!l->params.policies.n)
        return err_set(&l->err, LARD_CONFIG,
                       "policies: none given; 'policies=none' runs without checking");
    l->state = STATE_STARTED;
    l->memory.limit = l->params.memory;
    l->pushed.of = &l->memory;
    session_declare(l);
    if (l->params.rules)
        l->rules = rules_new(false);
    rules_account(l->rules, &l->memory);
    rules_for_run(l->rules, NULL);
    if (l->params.granularity == GRANULARITY_TRACE || l->params.layout == LAYOUT_TRACE)
        return 0; /* the source says it */
    return session_ready(l, 0);
}

uint64_t lardsim_given_hash(const struct lardsim *l)
{
    return config_given_hash(l->config);
}

char *lardsim_resolve(struct lardsim *l, unsigned hint)
{
    char *text = NULL;
    size_t n = 0;

    l->resolving = true;
    if (lardsim_start(l) || (l->state == STATE_STARTED && session_ready(l, hint)))
        return NULL;
    config_put(l->config, "source", "", "default"); /* what it runs is told apart by its events */
    FILE *out = open_memstream(&text, &n);
    if (!out)
        die("no memory for a configuration");
    config_canonical(l->config, out);
    fclose(out);
    return text;
}

/* ---- events --------------------------------------------------------------------------------- */

/* Errors of events name their source, too. */
static int in_source(struct lardsim *l, const char *name)
{
    const struct err e = l->err;

    err_clear(&l->err);
    return err_set(&l->err, (enum lard_exit)e.code, "%s: %s", name, e.text);
}

static void use_names(struct lardsim *l, const struct names *names)
{
    l->seen = names;
    if (l->placement)
        placement_names(l->placement, names);
    for (size_t i = 0; i < l->checkers; i++)
        checker_names(l->checker[i], names);
}

int session_foresee(struct lardsim *l)
{
    if (!l->foreseen || !scheduler_foresee(l->scheduler, l->foreseen, &l->err))
        return 0;
    return in_source(l, l->pulled->name);
}

/* The trace may say at once that it can't run: before there is a folder, if there is none yet. */
static int get_ready(struct lardsim *l)
{
    struct trace_summary all;

    if (l->shared)
        l->foreseen = l->told;
    else
        l->foreseen = source_foresee(l->pulled, &all) ? &all : NULL;
    const int bad =
        l->state == STATE_STARTED ? session_ready(l, l->pulled->granularity) : session_foresee(l);
    l->foreseen = NULL;
    return bad;
}

void session_share(struct lardsim *l, const struct trace_summary *told)
{
    if (l->scheduler) /* the parts are made already, where nothing of the trace was asked */
        l->scheduler->env.rules = NULL;
    rules_free(l->rules);
    l->rules = NULL;
    l->shared = true;
    l->told = told;
}

/* Left to the machine, a source is asked if it can be. */
bool session_asks(const struct lardsim *l, const struct source *s)
{
    return l->params.machine != MACHINE_NONE && s->driven &&
           (l->params.order == ORDER_PROGRAM || l->params.order == ORDER_BY_MACHINE);
}

bool lardsim_asks(struct lardsim *l, const char *source)
{
    struct err e = {0};
    struct source *s = session_asked(l) || source_path(source) ? NULL : source_open(source, &e);
    const bool asked = s && session_asks(l, s);

    source_close(s);
    return asked;
}

/* Begins the recording. A source that is pulled has its granularity and layout in itself; with
 * pushed events only the configuration can say them. */
static int keep(struct lardsim *l)
{
    const struct source *of = l->pulled;
    const struct sink_info info = {
        .first = of && !l->record.numbers ? of->first : 0,
        .granularity = of ? of->granularity : run_granule(&l->params, 0),
        .layout = (enum layout_id)(run_layout(&l->params, of) - layouts),
    };

    l->keep = keep_new(&l->record, &info, &l->err);
    return l->keep ? 0 : -1;
}

static int choose_order(struct lardsim *l)
{
    l->program = session_asks(l, l->pulled);
    if (l->params.order == ORDER_HOST)
        return err_set(&l->err, LARD_CONFIG,
                       "order: host takes events that a host pushes with cores and cycles "
                       "(lardsim.h), and %s is read; set order=timed or order=recorded",
                       l->pulled->name);
    if (l->params.order == ORDER_PROGRAM && !l->program)
        return err_set(&l->err, LARD_CONFIG,
                       "order: program asks a workload what its threads do, and %s can't be asked; "
                       "give workload:NAME (without kernel_threads), or set order=timed",
                       l->pulled->name);
    if (!l->record.path)
        return 0;
    if (!l->program && !(l->record.numbers && l->machine))
        return err_set(&l->err, LARD_CONFIG,
                       "%s: an execution is recorded in program order, and this is %s; give a "
                       "workload and a machine, or take `lardsim trace convert`",
                       l->record.path, l->machine ? "another" : "a run without a machine");
    return keep(l);
}

int session_pull(struct lardsim *l, struct source *s, const char *source)
{
    source_account(s, &l->memory);
    l->pulled = s;
    l->source = xstrdup(source);
    if (strcmp(source, l->params.source) != 0)
        config_put(l->config, "source", source, "the command line");
    l->number = s->first;
    if (get_ready(l) || choose_order(l))
        return -1;
    if (l->params.ahead && !l->shared && !l->program)
        l->pulled = s = source_ahead(s);
    use_names(l, s->names);
    return run_pull(l) && !l->source_failed ? in_source(l, s->name) : l->err.code ? -1 : 0;
}

static int may_pull(struct lardsim *l)
{
    if (expect(l, STATE_STARTED, "lardsim_run"))
        return -1;
    if (l->source || l->st.events)
        return err_set(&l->err, LARD_USAGE,
                       "lardsim_run: a run has one source, or events that are pushed; merge "
                       "traces with `lardsim trace merge`");
    return 0;
}

int lardsim_run(struct lardsim *l, const char *source)
{
    if (may_pull(l))
        return -1;
    if (!source)
        source = l->params.source;
    if (!*source)
        return err_set(&l->err, LARD_USAGE,
                       "lardsim_run: there is no source; give one, or set the parameter source");
    struct source *s = source_open(source, &l->err);
    if (!s)
        return l->stop ? run_stopped(l) : -1;
    return session_pull(l, s, source);
}

int lardsim_run_source(struct lardsim *l, struct lardsim_source *s)
{
    if (!may_pull(l))
        return session_pull(l, sim_source(s), sim_source(s)->name);
    lardsim_source_close(s);
    return -1;
}

/* Before the first event that is pushed. */
static int begin_pushing(struct lardsim *l)
{
    if (l->state == STATE_STARTED && session_ready(l, 0))
        return -1;
    if (l->params.order == ORDER_PROGRAM)
        return err_set(&l->err, LARD_CONFIG,
                       "order: program asks a workload what its threads do, and these events are "
                       "pushed; set order=timed");
    if (l->record.path && keep(l))
        return -1;
    l->pushing = true;
    return 0;
}

int session_pushes(struct lardsim *l, const char *what)
{
    return expect(l, STATE_STARTED, what) || (UNLIKELY(!l->pushing) && begin_pushing(l)) ? -1 : 0;
}

static int check_host(struct lardsim *l, const struct host_at *at, const struct event *ev)
{
    const struct host_order *h = scheduler_host_order(l->scheduler);

    if (!h && !at)
        return 0;
    if (!at)
        return err_set(&l->err, LARD_USAGE,
                       "event %llu: with order=host each event has a core and a cycle: push it "
                       "with lardsim_event_at, lardsim_access_at or lardsim_sync_at",
                       (unsigned long long)l->number);
    if (!h)
        return err_set(&l->err, LARD_USAGE,
                       "event %llu: it has a core and a cycle, which only order=host takes; set "
                       "that, and a machine",
                       (unsigned long long)l->number);
    if (at->core >= l->machine->params.cores)
        return err_set(&l->err, LARD_TRACE,
                       "event %llu: core %u: the machine has %llu, numbered from 0; set cores",
                       (unsigned long long)l->number, at->core,
                       (unsigned long long)l->machine->params.cores);
    if (l->machine->outside &&
        (at->level >= LEVELS || (event_is_access(ev) && at->level == LEVEL_NONE)))
        return err_set(&l->err, LARD_TRACE,
                       "event %llu: level %u: with caches=host each access says who answered it; "
                       "the levels are in lardsim.h, enum lardsim_level",
                       (unsigned long long)l->number, at->level);
    return 0;
}

int session_push(struct lardsim *l, const struct host_at *at,
                 const struct event rec[static EVENT_RECORDS])
{
    const char *what;

    if (session_pushes(l, "lardsim_event") || check_host(l, at, rec))
        return -1;
    if (event_well_formed(rec, &what))
        return err_set(&l->err, LARD_TRACE, "event %llu: %s", (unsigned long long)l->number, what);
    if (l->seen != l->names)
        use_names(l, l->names);
    return run_push(l, at, rec);
}

int lardsim_reset(struct lardsim *l)
{
    if (expect(l, STATE_STARTED, "lardsim_reset"))
        return -1;
    if (l->state == STATE_READY) /* else nothing has been counted */
        run_forget_regions(l);
    return 0;
}

int lardsim_caveat(struct lardsim *l, const char *text)
{
    if (expect(l, STATE_STARTED, "lardsim_caveat"))
        return -1;
    free(l->caveat);
    l->caveat = xstrdup(text);
    return 0;
}

void lardsim_stop(struct lardsim *l, int signal)
{
    l->stop = signal;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* A region of interest that never begins would be results of nothing: overheads of 0 %. */
static void warm_up_ends(struct lardsim *l)
{
    const uint64_t warm_up = l->machine ? l->machine->params.warm_up : 0;

    if (warm_up && warm_up >= l->st.events && !l->err.code && !l->sampled)
        err_set(
            &l->err, LARD_CONFIG,
            "warm-up = %llu, and there are %llu events: no region of interest begins after them, "
            "so nothing would be measured; give fewer",
            (unsigned long long)warm_up, (unsigned long long)l->st.events);
}

/* Invariants hold on partial results too: the error that stopped the run stands before theirs. */
static void complete(struct lardsim *l)
{
    run_finish(l);
    warm_up_ends(l);
    machine_ends(l);
    for (size_t i = 0; i < l->checkers; i++)
        checker_finish(l->checker[i]);
    compare_finish(l->compare);
    if (l->rules && !l->err.code)
        rules_finish(l->rules, &l->err);
    if (l->record.path && !l->pulled && !l->keep && !l->err.code)
        keep(l);                                          /* of no events */
    if (l->keep && (!l->err.code || l->record.numbers)) { /* with numbers: as far as it came */
        keep_finish(l->keep, l->seen, l->err.code ? &(struct err){0} : &l->err);
        l->keep = NULL;
    }
    run_region(l, false);
    stats_check(l->stats, &l->err);
    l->result = stats_digests(l->stats);
}

/* A run that ends at a race on request (after-race = stop) is done. */
int lardsim_finish(struct lardsim *l)
{
    struct err late = {0};

    if (l->state == STATE_FINISHED)
        return l->err.code ? -1 : 0;
    if (l->stop && l->pushing && !l->err.code) /* no event has come since to notice it */
        run_stopped(l);
    if (l->state == STATE_STARTED && !l->err.code)
        session_ready(l, 0);
    if (l->state == STATE_READY)
        complete(l);
    /* A run that fails by its configuration has no results, not even in part. */
    if (l->state == STATE_READY && l->err.code != LARD_CONFIG)
        output_finish(l->output, l, !l->err.code || l->err.code == LARD_RACES, &late);
    else
        output_abort(l->output);
    l->output = NULL;
    l->state = STATE_FINISHED;
    if (late.code) {
        err_clear(&l->err); /* lost results matter more than why they were partial */
        l->err = late;
    }
    if (l->on.unused && !l->err.code)
        config_unused(l->config, l->on.unused, l->on.unused_arg);
    return l->err.code ? -1 : 0;
}

struct err *lardsim_err(struct lardsim *l)
{
    return &l->err;
}

const char *lardsim_error(const struct lardsim *l)
{
    return l->err.code ? l->err.text : NULL;
}

int lardsim_exit_code(const struct lardsim *l)
{
    return l->err.code;
}

int lardsim_stat(const struct lardsim *l, const char *name, uint64_t *value)
{
    enum stats_when now = STATS_AT_END;

    if (l->unready) /* what was refused has left its statistics behind */
        return -1;
    if (l->state != STATE_FINISHED)
        now = l->running ? STATS_ALWAYS : STATS_SETTLED;
    if (now == STATS_SETTLED && l->state == STATE_READY)
        run_look(l);
    return stats_value_now(l->stats, name, now, value) ? 0 : -1;
}

struct budget *sim_memory(struct lardsim *l)
{
    return &l->memory;
}

const char *lardsim_policy(const struct lardsim *l, size_t i)
{
    return i < l->checkers ? checker_label(l->checker[i]) : NULL;
}

uint64_t lardsim_digest(const struct lardsim *l)
{
    return l->result.all;
}

uint64_t lardsim_behaviour(const struct lardsim *l)
{
    return l->result.behaviour;
}

uint64_t lardsim_events(const struct lardsim *l)
{
    return l->st.events;
}

void lardsim_on_race(struct lardsim *l, void (*fn)(void *arg, const struct lardsim_race *race),
                     void *arg)
{
    l->on.race = fn;
    l->on.race_arg = arg;
}

void lardsim_on_progress(struct lardsim *l, void (*fn)(void *arg, uint64_t events), void *arg)
{
    l->on.progress = fn;
    l->on.progress_arg = arg;
}

/* A limit may end the run before its source does: what is nearer to its end counts. */
static void limit_progress(const struct lardsim *l, uint64_t *done, uint64_t *all)
{
    const uint64_t limit = l->params.events;

    if (!limit || (double)l->st.events / (double)limit <= (double)*done / (double)*all)
        return;
    *done = l->st.events;
    *all = limit;
}

#define NO_GRANULARITY                                                                             \
    "the trace does not state its granularity, so locations are single bytes; its producer "       \
    "should "                                                                                      \
    "state it (in text by a line, `granularity 4`), or give --set granularity=4"
#define STORES_MERGE                                                                               \
    "the trace is of version 1, in which a release store adds to what others have released at "    \
    "its "                                                                                         \
    "location; in C11 it replaces that, so races may be missed here (docs/events.md, \"Release "   \
    "sequences\")"

/* A producer who leaves the granularity out gets verdicts by byte, and may have meant words. */
const char *sim_caveat(const struct lardsim *l)
{
    if (!l->pulled || l->pulled->caveat)
        return l->pulled ? l->pulled->caveat : l->caveat;
    const bool bytes = l->params.granularity == GRANULARITY_TRACE && !l->pulled->granularity;
    return l->pulled->merges ? bytes ? NO_GRANULARITY ". And " STORES_MERGE : STORES_MERGE
           : bytes           ? NO_GRANULARITY
                             : NULL;
}

int lardsim_progress(const struct lardsim *l, uint64_t *done, uint64_t *all)
{
    const struct source_extent *x = l->pulled ? l->pulled->extent : NULL;

    if (!x || !x->all)
        return -1;
    *done = x->done < x->all ? x->done : x->all;
    *all = x->all;
    limit_progress(l, done, all);
    return 0;
}

void lardsim_on_unused(struct lardsim *l,
                       void (*fn)(void *arg, const char *name, const char *origin), void *arg)
{
    l->on.unused = fn;
    l->on.unused_arg = arg;
}
