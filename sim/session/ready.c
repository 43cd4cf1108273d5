/* ready.c - makes the parts of a run once its granularity is known: the machine, the policies, the
 * files of results. The configuration is checked whole before anything is written. */
#include "sim/session/session.h"

#include <stdlib.h>
#include <string.h>

void session_declare(struct lardsim *l)
{
    struct stats_group *g = stats_group(stats_root(l->stats), "events");

    stats_count(g, "total", "events", "Events run.", &l->st.events);
    stats_count(g, "system", "events",
                "Events of the runtime system; the others are the program's.", &l->st.system);
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
    stats_invariant(g, "kinds", "Every event is of one kind.", each, STATS_EQ,
                    STATS_SUM(&l->st.events));
    stats_invariant(g, "system", "The runtime system's are some of them.", STATS_SUM(&l->st.system),
                    STATS_LE, STATS_SUM(&l->st.events));
}

static bool label_used(const struct lardsim *l, const char *label)
{
    for (size_t i = 0; i < l->checkers; i++)
        if (!strcmp(checker_label(l->checker[i]), label))
            return true;
    return false;
}

/* The label of what `policies` names: up to '=', or all. */
static size_t label_length(const char *spec)
{
    return strcspn(spec, "=");
}

static int know_policy(struct lardsim *l, const struct policy *p, const char *label)
{
    if (label_used(l, label))
        return 0;
    char *section = xasprintf("policy.%s", label);
    int bad = config_known(l->config, section, checker_param_rows, &l->err);
    if (!bad && p->params)
        bad = config_known(l->config, section, p->params, &l->err);
    free(section);
    return bad;
}

/* "naive=vc" of another run. */
static int know_other(struct lardsim *l, const char *spec)
{
    const size_t n = label_length(spec);
    char *label = xasprintf("%.*s", (int)n, spec);
    int bad = 0;

    for (size_t i = 0; policies[i]; i++)
        if (!strcmp(policies[i]->name, spec[n] ? spec + n + 1 : spec))
            bad = know_policy(l, policies[i], label);
    free(label);
    return bad;
}

/* Sections of policies that do not run are known, so that values for them are no spelling mistakes.
 */
static int know_policies(struct lardsim *l)
{
    for (size_t i = 0; i < l->others; i++)
        if (know_other(l, l->other[i]))
            return -1;
    for (size_t i = 0; policies[i]; i++)
        if (know_policy(l, policies[i], policies[i]->name))
            return -1;
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
        .region = s->region,
        .interval = s->interval,
    };
}

/* Tells the caller of a race, in the form of lardsim.h, with names. */
static void tell_race(void *arg, const struct race *race)
{
    struct lardsim *l = arg;

    watched_race(l, race);
    if (!l->on.race)
        return;
    const struct lardsim_race r = {
        .policy = race->policy,
        .is = session_side(l, &race->is),
        .earlier = session_side(l, &race->earlier),
        .addr = race->addr,
        .size = race->size,
        .id = race->id,
        .system = race->system,
        .object = sim_object(l->seen, &race->object),
    };

    l->on.race(l->on.race_arg, &r);
}

static int label_order(const char *a, const char *b)
{
    const size_t n = label_length(a), k = label_length(b);
    const int by = strncmp(a, b, n < k ? n : k);

    return by ? by : (n > k) - (n < k);
}

/* Counts the labels in front of this one in their own order, so that a policy's metadata lie at the
 * same place in whatever order the policies are listed. */
static unsigned labels_before(const struct lardsim *l, const char *spec)
{
    unsigned before = 0;

    for (size_t i = 0; i < l->params.policies.n; i++)
        before += label_order(l->params.policies.item[i], spec) < 0;
    return before;
}

/* Policies whose decisions take no time decide first, as other cores go on while others pay; the
 * rest go by their labels. */
static int turn_order(const void *a, const void *b)
{
    const struct checker *const *x = a, *const *y = b;
    const int by = (int)checker_turn(*x) - (int)checker_turn(*y);

    return by ? by : strcmp(checker_label(*x), checker_label(*y));
}

static void take_turns(struct lardsim *l)
{
    const size_t bytes = l->checkers * sizeof(struct checker *);

    if (!l->checkers)
        return;
    l->turn = xmalloc(bytes);
    memcpy(l->turn, l->checker, bytes);
    qsort(l->turn, l->checkers, sizeof *l->turn, turn_order);
}

static int add_checker(struct lardsim *l, const char *spec, unsigned granule)
{
    struct checker_env env = {
        .config = l->config,
        .stats = l->stats,
        .names = l->seen,
        .number = &l->number,
        .granule = granule,
        .layout = run_layout(&l->params, l->pulled),
        .memory = &l->memory,
        .stop = &l->stop,
        .races = &l->races,
        .lines = l->params.races_max,
        .placement = &l->placement,
        .on_race = l->on.race || l->watched ? tell_race : NULL,
        .on_conflict = l->comparing ? compared_conflict : NULL,
        .on_race_arg = l,
        .err = &l->err,
        .context = &l->context,
        .instance = labels_before(l, spec),
    };
    machine_lent(l, &env);
    char *label = strndup(spec, label_length(spec));
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
    machine_heard(l, c);
    return 0;
}

/* A machine's caches hold the histories of one detector. */
static int one_in_hardware(struct lardsim *l)
{
    const char *first = NULL;

    for (size_t i = 0; i < l->checkers && l->machine && !l->listing; i++) {
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

/* The program's objects lie apart where metadata lie in them. Hardware has histories of lines as
 * the program has them. */
static int inflate(struct lardsim *l)
{
    if (!l->inlined || !l->inlined->policies)
        return 0;
    l->machine->inlined = l->inlined;
    for (size_t i = 0; i < l->checkers; i++)
        if (checker_promise(l->checker[i]).claims & CLAIM_HARDWARE)
            return err_set(&l->err, LARD_CONFIG,
                           "policies: %s is in hardware, and another has its metadata beside "
                           "fields (policy.LABEL.metadata=inline), which moves them to other "
                           "lines; run them one after the other, or with metadata=shadow",
                           checker_label(l->checker[i]));
    return 0;
}

static int make_parts(struct lardsim *l, unsigned hint)
{
    const unsigned granule = run_granule(&l->params, hint);

    if (machine_begins(l, granule))
        return -1;
    run_begin(l);
    watched_begin(l);
    if (l->on.race || l->on.difference || l->output_dir) {
        l->placement = placement_new(&l->memory);
        placement_names(l->placement, l->seen);
    }
    for (size_t i = 0; i < l->params.policies.n; i++)
        if (add_checker(l, l->params.policies.item[i], granule))
            return -1;
    /* Only now is it known what each instance promises, and where it has its metadata. */
    if (inflate(l) || one_in_hardware(l))
        return -1;
    take_turns(l);
    if (compared_begin(l, granule) || know_policies(l) || config_check_names(l->config, &l->err))
        return -1;
    if (session_foresee(l))
        return -1;
    /* All that may be refused has been: now the folder may be made. */
    if (l->output_dir) {
        l->output = output_new(l, &l->err);
        l->races = output_lines(l->output, OUTPUT_RACES, &l->err);
        if (l->comparing)
            l->differences = output_lines(l->output, OUTPUT_DIFFERENCES, &l->err);
    }
    l->state = STATE_READY;
    return l->err.code ? -1 : 0;
}

int session_ready(struct lardsim *l, unsigned hint)
{
    l->unready = make_parts(l, hint) != 0;
    return l->unready ? -1 : 0;
}
