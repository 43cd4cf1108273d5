/* session.c - the library: an instance from its configuration to its results (lardsim.h).
 *
 * Policies are made when the granularity is known: at the start, or where the trace is to say it,
 * when a source is opened or the first event is pushed. */
#include "sim/simulate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The public numbers are the events' own. */
#define EV(NAME, code, ...)                                                                        \
    _Static_assert((int)EV_##NAME == (int)LARDSIM_##NAME, "lardsim.h and event.def differ");
#include "trace/event.def"
#undef EV
#define SAME(flag)                                                                                 \
    _Static_assert((int)LARDSIM_##flag == (int)EVF_##flag, "lardsim.h and trace.h differ")
SAME(SYSTEM);
SAME(STACK);
SAME(VOLATILE);
SAME(ARRAY);
SAME(FINAL);
SAME(IN_TXN);
SAME(NURSERY);
_Static_assert(EVF_SYSTEM == 1, "it is an index of run_stats.owner");
_Static_assert(LARDSIM_ORDER(1) == 1 << EVF_ORDER_SHIFT, "lardsim.h and trace.h differ");
#undef SAME

const char *lardsim_version(void)
{
    return PACKAGE_VERSION;
}

struct lardsim *lardsim_new(void)
{
    struct lardsim *l = xcalloc(1, sizeof *l);

    l->config = config_new(run_presets);
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
    simulate_free(l);
    for (size_t i = 0; i < l->checkers; i++)
        checker_free(l->checker[i]);
    free(l->checker);
    rules_free(l->rules);
    stats_free(l->stats);
    config_free(l->config);
    names_free(l->names);
    digest_free(l->identity);
    free(l->source);
    free(l->output_dir);
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

int lardsim_set(struct lardsim *l, const char *assignment)
{
    return expect(l, STATE_NEW, "lardsim_set") ? -1 : config_set(l->config, assignment, &l->err);
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

int sim_compare(struct lardsim *l)
{
    if (expect(l, STATE_NEW, "sim_compare"))
        return -1;
    l->comparing = true;
    return 0;
}

/* ---- start ---------------------------------------------------------------------------------- */

static void declare_stats(struct lardsim *l)
{
    struct stats_group *g = stats_group(stats_root(l->stats), "events");

    stats_count(g, "total", "events", "Events run.", &l->st.events);
    stats_count(g, "program", "events", "Events of the program.", &l->st.owner[0]);
    stats_count(g, "system", "events", "Events of the runtime system.", &l->st.owner[EVF_SYSTEM]);
    struct stats_group *kinds = stats_group(g, "kind");
    const uint64_t *each[EV_KINDS + 1];
    size_t n = 0;
    for (size_t k = 0; k < EV_KINDS; k++) {
        if (!ev_info[k].text)
            continue;
        stats_count(kinds, ev_info[k].text, "events", ev_info[k].help, &l->st.kind[k]);
        each[n++] = &l->st.kind[k];
    }
    each[n] = NULL;
    const uint64_t *const total[] = {&l->st.events, NULL};
    const uint64_t *const owners[] = {&l->st.owner[0], &l->st.owner[EVF_SYSTEM], NULL};
    stats_invariant(g, "kinds", "Every event is of one kind.", each, STATS_EQ, total);
    stats_invariant(g, "owners", "Every event is the program's or the system's.", owners, STATS_EQ,
                    total);
}

static bool label_used(const struct lardsim *l, const char *label)
{
    for (size_t i = 0; i < l->checkers; i++)
        if (!strcmp(checker_label(l->checker[i]), label))
            return true;
    return false;
}

/* Sections of policies that do not run are known, so that values for them are no spelling mistakes.
 */
static int know_policies(struct lardsim *l)
{
    for (size_t i = 0; policies[i]; i++) {
        if (label_used(l, policies[i]->name))
            continue;
        char *section = xasprintf("policy.%s", policies[i]->name);
        int bad = config_known(l->config, section, checker_param_rows, &l->err);
        if (!bad && policies[i]->params)
            bad = config_known(l->config, section, policies[i]->params, &l->err);
        free(section);
        if (bad)
            return -1;
    }
    return l->comparing ? 0 : config_known(l->config, "compare", compare_param_rows, &l->err);
}

struct lardsim_side session_side(const struct lardsim *l, const struct race_side *s)
{
    return (struct lardsim_side){
        .event = s->event,
        .site = s->site,
        .site_name = s->site ? names_find(l->seen, NAME_SITE, s->site) : NULL,
        .thread = s->thread,
        .thread_name = s->known ? names_find(l->seen, NAME_THREAD, s->thread) : NULL,
        .kind = s->op,
        .known = s->known,
    };
}

static void tell_race(void *arg, const struct race *race)
{
    const struct lardsim *l = arg;
    const struct lardsim_race r = {
        .policy = race->policy,
        .is = session_side(l, &race->is),
        .earlier = session_side(l, &race->earlier),
        .addr = race->addr,
        .size = race->size,
        .id = race->id,
        .system = race->system,
    };

    l->on_race(l->on_race_arg, &r);
}

static int add_checker(struct lardsim *l, const char *spec, unsigned granule)
{
    struct checker_env env = {
        .config = l->config,
        .stats = l->stats,
        .names = l->seen,
        .number = &l->number,
        .granule = granule,
        .memory_limit = l->params.memory,
        .races = &l->races,
        .lines = l->params.races_max,
        .on_race = l->on_race ? tell_race : NULL,
        .on_conflict = l->comparing ? compare_conflict : NULL,
        .on_race_arg = l,
        .err = &l->err,
    };
    simulate_host(l, &env);
    const char *eq = strchr(spec, '=');
    char *label = eq ? strndup(spec, (size_t)(eq - spec)) : xstrdup(spec);
    const bool twice = label && label_used(l, label);

    free(label);
    if (twice)
        return err_set(
            &l->err, LARD_CONFIG,
            "policies: '%s' has the label of another; give each its own, as in 'mine=vc'", spec);
    struct checker *c = checker_new(spec, &env, &l->err);
    if (!c)
        return -1;
    l->checker = xrealloc(l->checker, l->checkers + 1, sizeof(struct checker *));
    l->checker[l->checkers++] = c;
    return 0;
}

/* A machine's caches hold the histories of one detector. */
static int one_in_hardware(struct lardsim *l)
{
    const char *first = NULL;

    for (size_t i = 0; i < l->checkers && l->simulation && !l->listing; i++) {
        const char *label = checker_label(l->checker[i]);
        if (!(checker_promise(l->checker[i]).claims & CLAIM_HARDWARE))
            continue;
        if (first)
            return err_set(&l->err, LARD_CONFIG,
                           "policies: %s and %s are both in hardware, and a machine has caches for "
                           "the histories of one; run them one after the other, or with "
                           "machine=none",
                           first, label);
        first = label;
    }
    return 0;
}

/* The configuration is checked whole before anything is written. */
static int make_parts(struct lardsim *l, unsigned hint)
{
    const unsigned granule = run_granule(&l->params, hint);

    if (simulate_begin(l))
        return -1;
    for (size_t i = 0; i < l->params.policies.n; i++)
        if (add_checker(l, l->params.policies.item[i], granule))
            return -1;
    if (one_in_hardware(l))
        return -1;
    if (compare_begin(l, granule) || know_policies(l) || config_check_names(l->config, &l->err))
        return -1;
    if (l->output_dir) {
        l->output = output_new(l->output_dir, l->overwrite, &l->err);
        l->races = output_races(l->output, &l->err);
        if (l->comparing)
            l->differences = output_differences(l->output, &l->err);
    }
    l->state = STATE_READY;
    return l->err.code ? -1 : 0;
}

static int make_ready(struct lardsim *l, unsigned hint)
{
    l->unready = make_parts(l, hint) != 0;
    return l->unready ? -1 : 0;
}

int lardsim_start(struct lardsim *l)
{
    if (expect(l, STATE_NEW, "lardsim_start") ||
        config_bind(l->config, "", run_param_rows, &l->params, &l->err))
        return -1;
    if (!l->params.policies.n)
        return err_set(&l->err, LARD_CONFIG,
                       "policies: none given; 'policies=none' runs without checking");
    l->state = STATE_STARTED;
    declare_stats(l);
    if (l->params.rules)
        l->rules = rules_new(false);
    return l->params.granularity == GRANULARITY_TRACE ? 0 : make_ready(l, 0);
}

/* ---- the step ------------------------------------------------------------------------------- */

static void enter_region(struct lardsim *l, bool in)
{
    if (l->in_region == in)
        return;
    simulate_region(l, in);
    l->in_region = in;
    for (size_t i = 0; i < l->checkers; i++)
        checker_region(l->checker[i], in);
    if (l->compare)
        l->compare->inside = in;
    if (in)
        stats_roi_begin(l->stats);
    else
        stats_roi_end(l->stats);
}

static int names_limit(struct lardsim *l)
{
    if (!l->params.memory || names_bytes(l->seen) <= l->params.memory)
        return 0;
    return err_set(&l->err, LARD_LIMIT,
                   "event %llu: the names so far exceed limits.memory (%llu bytes); the results up "
                   "to here hold; raise "
                   "limits.memory, or leave names out of the trace",
                   (unsigned long long)l->number, (unsigned long long)l->params.memory);
}

static int events_limit(struct lardsim *l)
{
    return err_set(&l->err, LARD_LIMIT,
                   "event %llu: limits.events (%llu) is reached; the results up to here hold; "
                   "raise it to go on",
                   (unsigned long long)l->number, (unsigned long long)l->params.events);
}

/* How many events at a time a policy runs that is alone; several take turns at each event, so that
 * they have seen the same events whatever stops the run. */
enum { SLICE = 128 };

/* The end of the next slice: whole events, and none beyond the limit of events. */
static const struct event *slice_end(const struct lardsim *l, const struct event *ev,
                                     const struct event *end)
{
    const uint64_t left = l->params.events ? l->params.events - l->st.events : UINT64_MAX;
    const size_t records = l->checkers == 1 && !l->compare && left >= SLICE ? SLICE : 1;

    if (!left)
        return ev;
    if ((size_t)(end - ev) > records)
        end = ev + records - 1 + event_records(ev + records - 1);
    return end;
}

static void count(struct lardsim *l, const struct event *ev, const struct event *end)
{
    uint64_t n = 0, system = 0;

    for (; ev < end; ev += event_records(ev), n++) {
        l->st.kind[ev->kind]++;
        system += ev->flags & EVF_SYSTEM;
    }
    l->st.events += n;
    l->st.owner[0] += n - system;
    l->st.owner[EVF_SYSTEM] += system;
}

/* What a mark of a region of interest that ends the events before `end` says. */
static void region_end(struct lardsim *l, const struct event *end)
{
    const struct event *last = end - 1 - !end[-1].kind; /* a second record has no kind */

    if (event_is_region(last))
        enter_region(l, last->kind == EV_ROI_BEGIN);
}

/* Runs a slice of [ev, end), or what of it is before a mark; returns how far it came: behind what
 * has been run, or to the event that stopped the run. */
static const struct event *run_slice(struct lardsim *l, const struct event *ev,
                                     const struct event *end)
{
    const uint64_t number = l->number;
    const struct event *stop = slice_end(l, ev, end), *at = ev;

    if (stop == ev) {
        events_limit(l);
        return ev;
    }
    if (l->rules)
        stop = rules_run(l->rules, ev, stop, number, &l->broken);
    for (size_t i = 0; i < l->checkers && stop > ev; i++) {
        l->number = number;
        at = checker_run(l->checker[i], ev, stop, end, &l->number);
    }
    if (l->compare && stop > ev) { /* its slices are of one event */
        l->number = number;
        compare_step(l->compare, ev);
        l->number++;
    }
    count(l, ev, l->err.code ? at + event_records(at) : at); /* what stops a policy has been run */
    if (at > ev && !l->err.code)
        region_end(l, at);
    if (l->broken.code && !l->err.code)
        l->err = l->broken;
    return at;
}

/* ---- on a machine --------------------------------------------------------------------------- */

void session_region(struct lardsim *l, bool inside)
{
    enter_region(l, inside);
}

int session_obeys(struct lardsim *l, const struct event *ev, uint64_t number)
{
    return l->rules ? rules_apply(l->rules, ev, number, &l->err) : 0;
}

int session_limit(struct lardsim *l)
{
    return events_limit(l);
}

bool session_ran(struct lardsim *l, const struct event *ev, unsigned core, struct mem_outcome out,
                 sim_cycle *now)
{
    for (size_t i = 0; i < l->checkers; i++)
        *now = checker_step(l->checker[i], ev, core, out, *now);
    if (l->compare)
        compare_step(l->compare, ev);
    count(l, ev, ev + event_records(ev));
    if (UNLIKELY(ev->kind == EV_ROI_BEGIN || ev->kind == EV_ROI_END) && !l->err.code)
        enter_region(l, ev->kind == EV_ROI_BEGIN);
    return !l->err.code;
}

/* Recorded order. */
static const struct event *run_on_machine(struct lardsim *l, const struct event *ev)
{
    if (l->params.events && l->st.events == l->params.events) {
        events_limit(l);
        return ev;
    }
    if (session_obeys(l, ev, l->number))
        return ev;
    simulate_event(l, ev);
    l->number++;
    return l->err.code ? ev : ev + event_records(ev);
}

/* ---- pull ----------------------------------------------------------------------------------- */

static int run_batch(struct lardsim *l, const struct batch *b)
{
    const struct event *ev = b->rec, *end = ev + b->records;

    while (ev < end && !l->err.code)
        ev = l->simulation ? run_on_machine(l, ev) : run_slice(l, ev, end);
    /* Of what was run. A source that keeps the hash itself adds the batch when the next is asked
     * for. */
    if (run_identity(l) == l->identity || l->err.code)
        digest_add(run_identity(l), b->rec, (size_t)(ev - b->rec) * sizeof *ev);
    return l->err.code ? -1 : names_limit(l);
}

/* Errors of events name their source, too. */
static int in_source(struct lardsim *l, const char *name)
{
    const struct err e = l->err;

    err_clear(&l->err);
    return err_set(&l->err, (enum lard_exit)e.code, "%s: %s", name, e.text);
}

int session_read(struct lardsim *l, struct batch *b)
{
    if (l->pulled->identity == NULL)
        digest_add(l->identity, b->rec, b->records * sizeof *b->rec);
    if (names_limit(l) || source_next(l->pulled, b, &l->err))
        return -1;
    if (l->on_progress)
        l->on_progress(l->on_progress_arg, l->st.events);
    return 0;
}

static int run_timed(struct lardsim *l, struct source *s)
{
    const int bad = simulate_source(l, s);

    simulate_taken(l, run_identity(l));
    return bad ? in_source(l, s->name) : 0;
}

static int run_source(struct lardsim *l, struct source *s)
{
    struct batch b;

    if (simulate_timed(l))
        return run_timed(l, s);
    for (;;) {
        if (source_next(s, &b, &l->err))
            return -1;
        if (!b.records)
            return 0;
        if (run_batch(l, &b))
            return in_source(l, s->name);
        if (l->on_progress)
            l->on_progress(l->on_progress_arg, l->st.events);
    }
}

static void use_names(struct lardsim *l, const struct names *names)
{
    l->seen = names;
    for (size_t i = 0; i < l->checkers; i++)
        checker_names(l->checker[i], names);
}

int lardsim_run(struct lardsim *l, const char *source)
{
    if (expect(l, STATE_STARTED, "lardsim_run"))
        return -1;
    if (l->source || l->st.events)
        return err_set(&l->err, LARD_USAGE,
                       "lardsim_run: a run has one source, or events that are pushed; merge "
                       "traces with `lardsim trace merge`");
    struct source *s = source_open(source, &l->err);
    if (!s)
        return -1;
    if (l->params.ahead)
        s = source_ahead(s);
    l->pulled = s;
    l->source = xstrdup(source);
    l->number = s->first;
    if (l->state == STATE_STARTED && make_ready(l, s->granularity))
        return -1;
    use_names(l, s->names);
    return run_source(l, s);
}

/* ---- push ----------------------------------------------------------------------------------- */

static int push(struct lardsim *l, const struct event rec[static EVENT_RECORDS])
{
    const char *what;

    if (expect(l, STATE_STARTED, "lardsim_event") ||
        (l->state == STATE_STARTED && make_ready(l, 0)))
        return -1;
    if (event_well_formed(rec, &what))
        return err_set(&l->err, LARD_TRACE, "event %llu: %s", (unsigned long long)l->number, what);
    if (l->seen != l->names)
        use_names(l, l->names);
    if (simulate_timed(l))
        simulate_push(l, rec);
    else if (l->simulation)
        run_on_machine(l, rec);
    else
        run_slice(l, rec, rec + event_records(rec));
    if (l->err.code)
        return -1;
    digest_add(l->identity, rec, event_records(rec) * sizeof *rec);
    return names_limit(l);
}

int lardsim_event(struct lardsim *l, const struct lardsim_event *ev)
{
    struct event rec[EVENT_RECORDS] = {{.addr = ev->addr,
                                        .aux = ev->aux,
                                        .gap = ev->gap,
                                        .tid = ev->thread,
                                        .flags = ev->flags,
                                        .kind = ev->kind}};

    if (ev->flags & EVF_MORE)
        return err_set(&l->err, LARD_TRACE, "event %llu: no flag 0x%x",
                       (unsigned long long)l->number, EVF_MORE);

    if (ev->kind < EV_KINDS && ev_info[ev->kind].class == CLASS_ACCESS) {
        if (ev->aux || ev->addr2)
            return err_set(&l->err, LARD_TRACE,
                           "event %llu: an access has no aux and no second address",
                           (unsigned long long)l->number);
        rec[0].size = ev->size;
        rec[0].aux = ev->site;
        return push(l, rec);
    }
    if (ev->kind == EV_COPY || ev->site || ev->addr2 || ev->size) {
        rec[0].flags |= EVF_MORE;
        rec[1] = (struct event){.addr = ev->addr2, .aux = ev->site, .size = ev->size};
    }
    return push(l, rec);
}

/* The short forms take wider types than an event has. */
static int push_short(struct lardsim *l, unsigned thread, unsigned kind, unsigned flags,
                      struct lardsim_event ev)
{
    if (thread >= MAX_THREADS)
        return err_set(&l->err, LARD_TRACE, "thread %u: threads are numbered below %d", thread,
                       MAX_THREADS);
    if (kind > UINT8_MAX || flags > UINT16_MAX)
        return err_set(&l->err, LARD_TRACE, "kind %u with flags 0x%x: there is no such event", kind,
                       flags);
    ev.thread = (uint16_t)thread;
    ev.kind = (uint8_t)kind;
    ev.flags = (uint16_t)flags;
    return lardsim_event(l, &ev);
}

int lardsim_access(struct lardsim *l, unsigned thread, enum lardsim_kind kind, uint64_t addr,
                   uint32_t size, unsigned flags, uint64_t site)
{
    return push_short(l, thread, kind, flags,
                      (struct lardsim_event){.addr = addr, .size = size, .site = site});
}

int lardsim_sync(struct lardsim *l, unsigned thread, enum lardsim_kind kind, uint64_t object,
                 uint64_t aux, unsigned flags, uint64_t site)
{
    return push_short(l, thread, kind, flags,
                      (struct lardsim_event){.addr = object, .aux = aux, .site = site});
}

int lardsim_name(struct lardsim *l, enum lardsim_names space, uint64_t id, const char *text)
{
    if (l->err.code)
        return -1;
    if ((unsigned)space >= NAME_SPACES)
        return err_set(&l->err, LARD_USAGE, "lardsim_name: no name space %u", (unsigned)space);
    return names_add(l->names, (enum name_space)space, id, text, &l->err);
}

/* ---- the end -------------------------------------------------------------------------------- */

/* Invariants hold on partial results too: the error that stopped the run stands before theirs. */
static void complete(struct lardsim *l)
{
    simulate_finish(l);
    for (size_t i = 0; i < l->checkers; i++)
        checker_finish(l->checker[i]);
    compare_finish(l->compare);
    if (l->rules && !l->err.code)
        rules_finish(l->rules, &l->err);
    enter_region(l, false);
    stats_check(l->stats, &l->err);
    l->result = stats_digest(l->stats);
}

/* A run that ends at a race on request (after-race = stop) is done. */
int lardsim_finish(struct lardsim *l)
{
    struct err late = {0};

    if (l->state == STATE_FINISHED)
        return l->err.code ? -1 : 0;
    if (l->state == STATE_STARTED && !l->err.code)
        make_ready(l, 0);
    if (l->state == STATE_READY) {
        complete(l);
        output_finish(l->output, l, !l->err.code || l->err.code == LARD_RACES, &late);
    } else {
        output_abort(l->output);
    }
    l->output = NULL;
    l->state = STATE_FINISHED;
    if (late.code) {
        err_clear(&l->err); /* lost results matter more than why they were partial */
        l->err = late;
    }
    if (l->on_unused && !l->err.code)
        config_unused(l->config, l->on_unused, l->on_unused_arg);
    return l->err.code ? -1 : 0;
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
    if (l->unready) /* what was refused has left its statistics behind */
        return -1;
    return stats_value(l->stats, name, value) ? 0 : -1;
}

const char *lardsim_policy(const struct lardsim *l, size_t i)
{
    return i < l->checkers ? checker_label(l->checker[i]) : NULL;
}

uint64_t lardsim_digest(const struct lardsim *l)
{
    return l->result;
}

uint64_t lardsim_events(const struct lardsim *l)
{
    return l->st.events;
}

void lardsim_on_race(struct lardsim *l, void (*fn)(void *arg, const struct lardsim_race *race),
                     void *arg)
{
    l->on_race = fn;
    l->on_race_arg = arg;
}

void lardsim_on_progress(struct lardsim *l, void (*fn)(void *arg, uint64_t events), void *arg)
{
    l->on_progress = fn;
    l->on_progress_arg = arg;
}

void lardsim_on_unused(struct lardsim *l,
                       void (*fn)(void *arg, const char *name, const char *origin), void *arg)
{
    l->on_unused = fn;
    l->on_unused_arg = arg;
}
