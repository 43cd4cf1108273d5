/* checker.c - an instance of a policy in a run: its label and parameters, its view, happens-before
 * in that view, open transactions, its race report. A policy sees only what its view lets through.
 */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutant.h"
#include "policy/filter.h"
#include "policy/hb.h"
#include "policy/report.h"

#define POLICY(name) extern const struct policy policy_##name;
#include "policy/policies.def"
#undef POLICY

const struct policy *const policies[] = {
#define POLICY(name) &policy_##name,
#include "policy/policies.def"
#undef POLICY
    NULL,
};

const struct policy *policy_find(const char *name)
{
    for (size_t i = 0; policies[i]; i++)
        if (!strcmp(policies[i]->name, name))
            return policies[i];
    return NULL;
}

struct common_params {
    uint32_t view, after_race;
    struct filter_params filter;
};

static const char *const view_choices[] = {"tracked", "all-memory", "all-sync", "no-clear",
                                           "no-copy", "no-thread",  "naive",    NULL};
const struct param checker_param_rows[] = {
    {"view", PARAM_SET, offsetof(struct common_params, view), "tracked", 0, 0, "", view_choices,
     "What the policy looks at: one view, or several together."},
    {"after-race", PARAM_CHOICE, offsetof(struct common_params, after_race), "continue", 0, 0, "",
     after_race_choices,
     "What follows a race: all goes on, the location or the whole array is no longer looked at, or "
     "the run ends."},
    {"filter.stack", PARAM_CHOICE, offsetof(struct common_params, filter.stack), "view", 0, 0, "",
     filter_flagged_choices,
     "Whether accesses to stacks are spared the policy: as its view says, always, or never."},
    {"filter.final", PARAM_CHOICE, offsetof(struct common_params, filter.final), "view", 0, 0, "",
     filter_flagged_choices,
     "Whether accesses to finals are spared the policy: as its view says, always, or never."},
    {"filter.escape", PARAM_CHOICE, offsetof(struct common_params, filter.escape), "off", 0, 0, "",
     filter_choices,
     "Whether accesses are spared while no second thread has touched their location."},
    {"filter.redundant", PARAM_CHOICE, offsetof(struct common_params, filter.redundant), "off", 0,
     0, "", filter_choices,
     "Whether accesses are spared that repeat one of their thread since its last release."},
    {"filter.static", PARAM_STRING, offsetof(struct common_params, filter.exempt), "", 0, 0, "",
     NULL, "A file of addresses and sites whose accesses are spared; empty: none."},
    PARAM_END,
};

struct checker_stats {
    uint64_t accesses, checked, unchecked, spared, uncommitted, disabled, syncs, syncs_unheeded,
        clears, copies;
};

enum { RARE_ACCESS = EVF_IN_TXN | EVF_ORDER_MASK }; /* in a transaction, or atomic */

struct txn {              /* an open transaction's accesses */
    struct event *access; /* owns */
    size_t n, cap;
};

struct checker {
    const struct policy *policy;
    sim_cycle (*pay)(void *self, unsigned core, sim_cycle now); /* NULL: nothing */
    void *self; /* the policy's; NULL until created */
    void *params;
    char *label;
    struct checker_env env;
    struct policy_env policy_env;
    struct hb *hb;
    struct race_report report;
    struct after_race after;
    struct filter *filter; /* NULL: none */
    char *property;        /* owns; with a filter: what is promised */
    struct budget budget;
    struct txn *txn; /* by thread */
    size_t txns;
    unsigned skips;                /* flags of accesses that the view does not check */
    bool raw_clocks, other_clocks; /* written so far: by WriteVC, by other synchronisation */
    struct checker_stats st;
};

/* ---- making one ----------------------------------------------------------------------------- */

enum { LABEL_MAX = 100 }; /* a parameter's name with it fits a configuration file */

static int check_label(const char *label, size_t n, struct err *e)
{
    if (n > LABEL_MAX)
        return err_set(e, LARD_CONFIG, "policies: label '%.20s...' has %zu characters; at most %d",
                       label, n, LABEL_MAX);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)label[i]) && label[i] != '-' && label[i] != '_')
            return err_set(e, LARD_CONFIG,
                           "policies: label '%.*s' may have letters, digits, '-' and '_' only",
                           (int)n, label);
    return n ? 0
             : err_set(e, LARD_CONFIG,
                       "policies: an empty label or name; write 'vc' or 'label=vc'");
}

static const struct policy *lookup(const char *name, struct err *e)
{
    const struct policy *p = policy_find(name);
    const char *known[64];
    size_t n = 0;

    if (p)
        return p;
    for (; policies[n] && n < ARRAY_SIZE(known); n++)
        known[n] = policies[n]->name;
    const char *near = nearest_name(name, known, n);
    err_set(e, LARD_CONFIG, "policies: no policy '%s'%s%s%s; `lardsim list policies` shows them",
            name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return NULL;
}

static int parse_spec(struct checker *c, const char *spec, struct err *e)
{
    const char *eq = strchr(spec, '='), *name = eq ? eq + 1 : spec;
    const size_t n = eq ? (size_t)(eq - spec) : strlen(spec);

    if (check_label(spec, n, e))
        return -1;
    c->policy = lookup(name, e);
    if (!c->policy)
        return -1;
    c->label = xmalloc(n + 1);
    memcpy(c->label, spec, n);
    c->label[n] = '\0';
    return 0;
}

static void declare_stats(struct checker *c, struct stats_group *g)
{
    struct checker_stats *st = &c->st;

    report_init(&c->report, &c->env, c->label, g, &c->budget);
    stats_count(g, "accesses", "accesses", "Data accesses, in the view or not.", &st->accesses);
    stats_count(g, "checked", "accesses", "Accesses checked.", &st->checked);
    stats_count(g, "unchecked", "accesses", "Accesses outside the view.", &st->unchecked);
    stats_level(g, "uncommitted", "accesses", "Accesses in transactions that have not committed.",
                &st->uncommitted);
    stats_count(g, "disabled", "accesses",
                "Accesses not checked, as all their locations were disabled after a race.",
                &st->disabled);
    stats_count(g, "syncs", "events", "Events of synchronisation and raw LARDx86 heeded.",
                &st->syncs);
    stats_count(g, "syncs-unheeded", "events",
                "Events of synchronisation and raw LARDx86 outside the view.", &st->syncs_unheeded);
    stats_count(g, "clears", "events", "Clears heeded.", &st->clears);
    stats_count(g, "copies", "events", "Copies heeded.", &st->copies);
    stats_invariant(g, "accesses.split",
                    "Every access was checked, outside the view, disabled, or never committed.",
                    (const uint64_t *const[]){&st->checked, &st->unchecked, &st->spared,
                                              &st->disabled, &st->uncommitted, NULL},
                    STATS_EQ, (const uint64_t *const[]){&st->accesses, NULL});
    stats_invariant(g, "races.checked", "Only what was checked can race.",
                    (const uint64_t *const[]){&c->report.accesses, NULL}, STATS_LE,
                    (const uint64_t *const[]){&st->checked, &c->report.several, NULL});
}

static sim_cycle no_exec(void *host, unsigned core, unsigned instructions, sim_cycle now)
{
    (void)host;
    (void)core;
    (void)instructions;
    return now;
}

static sim_cycle no_mem(void *host, unsigned core, sim_addr a, unsigned bytes, enum mem_cmd cmd,
                        sim_cycle now)
{
    (void)host;
    (void)core;
    (void)a;
    (void)bytes;
    (void)cmd;
    return now;
}

static struct promise policy_promise(const struct checker *c)
{
    struct promise p = {c->policy->claims, c->policy->summary};

    if (c->policy->promise)
        c->policy->promise(c->self, &p);
    return p;
}

static int create(struct checker *c, struct err *e)
{
    char *section = xasprintf("policy.%s", c->label);
    struct common_params common;
    int bad = config_bind(c->env.config, section, checker_param_rows, &common, e);

    c->params = xcalloc(1, c->policy->params_size);
    if (!bad && c->policy->params)
        bad = config_bind(c->env.config, section, c->policy->params, c->params, e);
    free(section);
    if (bad)
        return -1;
    struct stats_group *g = stats_group(stats_group(stats_root(c->env.stats), "policy"), c->label);
    const unsigned view = view_bits(common.view) | c->policy->view;
    c->skips = filter_flags(&common.filter, view_skips(view));
    c->budget.limit = c->env.memory_limit;
    c->hb = hb_new(view, c->env.granule, &c->budget);
    c->policy_env = (struct policy_env){
        .stats = g,
        .report = &c->report,
        .budget = &c->budget,
        .hb = c->hb,
        .number = c->env.number,
        .view = view,
        .granule = c->env.granule,
        .special = c->skips | RARE_ACCESS,
        .machine = c->env.machine,
        .instance = c->env.instance,
        .host = c->env.host,
        .exec = c->env.exec ? c->env.exec : no_exec,
        .mem = c->env.mem ? c->env.mem : no_mem,
        .err = c->env.err,
    };
    /* Statistics are for good: nothing is declared for a policy that can't be. */
    if (c->policy->refuse && c->policy->refuse(&c->policy_env, c->params, e))
        return -1;
    const struct filter_env filter = {c->hb, g, &c->budget, c->env.granule};
    if (filter_new(&c->filter, &common.filter, &filter, e))
        return -1;
    declare_stats(c, g);
    after_race_init(&c->after, (enum after_race_mode)common.after_race, c->env.granule, g,
                    &c->budget);
    if (c->after.mode != AFTER_RACE_CONTINUE)
        c->report.after = &c->after;
    c->pay = c->env.machine || !c->policy->steps_n ? c->policy->pay : NULL;
    c->self = c->policy->create(&c->policy_env, c->params, e);
    if (c->self && c->filter)
        c->property = xasprintf("%s; %s", policy_promise(c).property, filter_text(c->filter));
    return c->self ? 0 : -1;
}

struct checker *checker_new(const char *spec, const struct checker_env *env, struct err *e)
{
    struct checker *c = xcalloc(1, sizeof *c);

    c->env = *env;
    if (parse_spec(c, spec, e) || create(c, e)) {
        checker_free(c);
        return NULL;
    }
    return c;
}

void checker_free(struct checker *c)
{
    if (!c)
        return;
    if (c->self)
        c->policy->destroy(c->self);
    for (size_t i = 0; i < c->txns; i++)
        free(c->txn[i].access);
    free(c->txn);
    report_free(&c->report);
    after_race_free(&c->after);
    filter_free(c->filter);
    free(c->property);
    hb_free(c->hb);
    free(c->params);
    free(c->label);
    free(c);
}

/* ---- the step ------------------------------------------------------------------------------- */

static bool heeds(const struct checker *c, const struct event *ev)
{
    return !(ev->flags & EVF_SYSTEM) || ev->kind == EV_THREAD ||
           c->policy_env.view & VIEW_ALL_SYNC || MUTANT(SYSTEM_SYNC_SEEN);
}

/* Only what is not disabled of the access: each run of granules as an access of its own. */
static sim_cycle check_parts(struct checker *c, const struct event *ev, unsigned core,
                             struct mem_outcome out, sim_cycle now)
{
    struct event part;
    uint32_t from = 0;
    bool some = false;

    for (; after_race_part(&c->after, ev, &from, &part); some = true)
        now = c->policy->access(c->self, &part, core, out, now);
    c->st.checked += some;
    c->st.disabled += !some;
    return now;
}

ALWAYS_INLINE sim_cycle check_access(struct checker *c, const struct event *ev, unsigned core,
                                     struct mem_outcome out, sim_cycle now)
{
    if (ev->flags & c->skips) {
        c->st.unchecked++;
        if (UNLIKELY(c->filter))
            filter_count_flags(c->filter, ev);
        return now;
    }
    if (UNLIKELY(c->filter) && filter_spares(c->filter, ev)) {
        c->st.spared++;
        return now;
    }
    if (UNLIKELY(after_race_disables(&c->after)))
        return check_parts(c, ev, core, out, now);
    c->st.checked++;
    return c->policy->access(c->self, ev, core, out, now);
}

static NO_INLINE void after_races(struct checker *c)
{
    if (c->after.mode == AFTER_RACE_STOP)
        after_race_stop(&c->report.first, c->report.names, c->env.err);
    else
        after_race_settle(&c->after);
}

/* All that the event has to be checked for is checked. */
static void event_done(struct checker *c, const struct event *blamed)
{
    report_done(&c->report, blamed);
    if (UNLIKELY(after_race_noted(&c->after)))
        after_races(c);
}

static void defer(struct checker *c, const struct event *ev)
{
    if (ev->tid >= c->txns) {
        const size_t n = (size_t)ev->tid + 1;
        c->txn = xrealloc(c->txn, n, sizeof *c->txn);
        memset(c->txn + c->txns, 0, (n - c->txns) * sizeof *c->txn);
        budget_take(&c->budget, (n - c->txns) * sizeof *c->txn);
        c->txns = n;
    }
    struct txn *t = &c->txn[ev->tid];
    const size_t was = t->cap;
    t->access = xgrow(t->access, t->n, &t->cap, sizeof *t->access);
    budget_take(&c->budget, (t->cap - was) * sizeof *t->access);
    t->access[t->n++] = *ev;
    c->st.uncommitted++;
}

/* Hardware pays for a commit's accesses before it hears of the commit. */
static bool pays_late(const struct checker *c)
{
    return c->policy->steps_n;
}

static void edges(struct checker *c, enum policy_edge at, const struct event *ev,
                  const struct txn *t, unsigned core)
{
    if (c->policy->edges)
        c->policy->edges(c->self, at, ev, t ? t->access : NULL, t ? t->n : 0, core);
}

/* The clocks are about to move. */
static void before(struct checker *c, const struct event *ev, unsigned core)
{
    if (c->policy->before)
        c->policy->before(c->self, ev, core);
}

static bool atomic_gives(const struct event *ev)
{
    return ev_info[ev->kind].gives && order_gives(event_order(ev));
}

static int mixed_levels(struct checker *c)
{
    return err_set(c->env.err, LARD_CONFIG,
                   "event %llu: policy %s: raw clock writes and synchronisation above that level "
                   "don't mix, as both count "
                   "the same clocks; leave the view all-sync out for this trace",
                   (unsigned long long)*c->env.number, c->label);
}

/* Raw writes set the entries that synchronisation above that level counts up: the two don't mix. */
static inline int one_level(struct checker *c, const struct event *ev)
{
    c->raw_clocks |= ev->kind == EV_WRITEVC;
    c->other_clocks |=
        event_is_access(ev) || (ev_info[ev->kind].gives && ev->kind != EV_THREAD_END);
    return c->raw_clocks && c->other_clocks ? mixed_levels(c) : 0;
}

static sim_cycle rare_access(struct checker *c, const struct event *ev, unsigned core,
                             struct mem_outcome out, sim_cycle now)
{
    if (ev->flags & EVF_IN_TXN && !MUTANT(TXN_AT_ACCESS)) {
        defer(c, ev);
        return now;
    }
    const bool orders = event_order(ev) != ORDER_NONE && heeds(c, ev);
    if (orders && atomic_gives(ev) && one_level(c, ev)) {
        c->st.accesses--; /* refused: it never took effect */
        return now;
    }
    before(c, ev, core);
    if (orders) {
        hb_atomic_before(c->hb, ev);
        edges(c, EDGE_BEFORE, ev, NULL, core);
    }
    now = check_access(c, ev, core, out, now);
    event_done(c, ev);
    if (orders) {
        hb_atomic_after(c->hb, ev);
        edges(c, EDGE_AFTER, ev, NULL, core);
    }
    return now;
}

ALWAYS_INLINE sim_cycle step_access(struct checker *c, const struct event *ev, unsigned core,
                                    struct mem_outcome out, sim_cycle now)
{
    c->st.accesses++;
    if (UNLIKELY(ev->flags & RARE_ACCESS))
        return rare_access(c, ev, core, out, now);
    now = check_access(c, ev, core, out, now);
    if (UNLIKELY(c->report.race.conflicts))
        event_done(c, ev);
    return now;
}

/* The transaction's accesses take effect now; the commit is blamed for their races. */
static NO_INLINE sim_cycle step_commit(struct checker *c, const struct event *ev, unsigned core,
                                       sim_cycle now)
{
    struct txn *t = ev->tid < c->txns ? &c->txn[ev->tid] : NULL;
    const bool orders = heeds(c, ev);

    if (!t || !t->n)
        return now;
    before(c, ev, core);
    if (orders) {
        hb_commit_before(c->hb, ev, t->access, t->n);
        edges(c, EDGE_BEFORE, ev, t, core);
    }
    for (size_t i = 0; i < t->n; i++)
        now = check_access(c, &t->access[i], core, (struct mem_outcome){0}, now);
    event_done(c, ev);
    before(c, ev, core);
    if (orders) {
        hb_commit_after(c->hb, ev, t->access, t->n);
        edges(c, EDGE_AFTER, ev, t, core);
    }
    c->st.uncommitted -= t->n;
    t->n = 0;
    return c->pay && !pays_late(c) ? c->pay(c->self, core, now) : now;
}

static sim_cycle step_sync(struct checker *c, const struct event *ev, unsigned core, sim_cycle now)
{
    if (ev->kind == EV_TXN_COMMIT)
        now = step_commit(c, ev, core, now);
    if (!heeds(c, ev)) {
        c->st.syncs_unheeded++;
        hb_unheeded(c->hb, ev);
        edges(c, EDGE_UNHEEDED, ev, NULL, core);
        return now;
    }
    c->st.syncs++;
    if (one_level(c, ev))
        return now;
    if (ev->kind == EV_WRITEVC && c->policy_env.view & VIEW_NO_THREAD) {
        err_set(c->env.err, LARD_CONFIG,
                "event %llu: policy %s: raw clock writes name language threads and mean nothing in "
                "the view no-thread; "
                "leave that view out for this trace",
                (unsigned long long)*c->env.number, c->label);
        return now;
    }
    if (ev->kind != EV_TXN_COMMIT) {
        before(c, ev, core);
        hb_sync(c->hb, ev);
    }
    return c->policy->sync(c->self, ev, core, now);
}

static int aligned(struct checker *c, const struct event *ev)
{
    const unsigned g = c->env.granule ? c->env.granule : 1;
    const sim_addr from = ev->kind == EV_COPY ? ev[1].addr : ev->addr;

    if (((ev->addr | from | ev->aux) & (g - 1)) == 0 || MUTANT(UNALIGNED_HEAP))
        return 0;
    return err_set(c->env.err, LARD_TRACE,
                   "event %llu: %s of %llu bytes at 0x%llx is not aligned to the granularity %u; "
                   "set granularity "
                   "to a smaller one, or to field",
                   (unsigned long long)*c->env.number, ev_info[ev->kind].text,
                   (unsigned long long)ev->aux, (unsigned long long)ev->addr, g);
}

static sim_cycle step_heap(struct checker *c, const struct event *ev, unsigned core, sim_cycle now)
{
    const unsigned view = c->policy_env.view;
    const bool clear = ev->kind == EV_CLEAR, copy = ev->kind == EV_COPY;
    const bool heeded = !(clear && view & VIEW_NO_CLEAR) && !(copy && view & VIEW_NO_COPY) &&
                        !(MUTANT(NO_CLEAR_SKIPS_COPY) && copy && view & VIEW_NO_CLEAR);

    if (clear || copy) {
        if (aligned(c, ev))
            return now;
        if (clear)
            hb_clear(c->hb, ev->addr, ev->aux);
        else
            hb_copy(c->hb, ev->addr, ev[1].addr, ev->aux);
        edges(c, EDGE_MEMORY, ev, NULL, core);
        c->st.clears += clear && heeded;
        c->st.copies += copy && heeded;
    }
    if (heeded)
        now = c->policy->sync(c->self, ev, core, now);
    if (UNLIKELY(c->filter) && heeded && (clear || copy))
        filter_heap(c->filter, ev);
    after_race_heap(&c->after, ev, heeded);
    return now;
}

static void over_limit(struct checker *c)
{
    err_set(c->env.err, LARD_LIMIT,
            "event %llu: the state of policy %s exceeds limits.memory (%llu bytes); the results up "
            "to here hold; raise "
            "limits.memory, or choose a coarser granularity",
            (unsigned long long)*c->env.number, c->label, (unsigned long long)c->budget.limit);
}

ALWAYS_INLINE sim_cycle one_step(struct checker *c, const struct event *ev, unsigned core,
                                 struct mem_outcome out, sim_cycle now)
{
    if (UNLIKELY(c->hb->by_kernel && (!hb_has_begun(c->hb, ev->tid) || ev->kind == EV_THREAD)))
        before(c, ev, core);
    if (UNLIKELY(hb_enter(c->hb, ev)))
        edges(c, EDGE_BEGIN, ev, NULL, core);
    switch ((enum ev_class)ev_info[ev->kind].class) {
    case CLASS_ACCESS:
        now = step_access(c, ev, core, out, now);
        break;
    case CLASS_SYNC:
    case CLASS_RAW:
        now = step_sync(c, ev, core, now);
        break;
    case CLASS_HEAP:
        now = step_heap(c, ev, core, now);
        break;
    case CLASS_MARK:
        if (ev->kind == EV_IO && c->policy->io)
            now = c->policy->io(c->self, ev, core, now);
        break;
    }
    if (UNLIKELY(after_race_noted(&c->after))) /* of races that were found late */
        after_races(c);
    if (UNLIKELY(budget_over(&c->budget)))
        over_limit(c);
    return now;
}

sim_cycle checker_decide(struct checker *c, const struct event *ev, unsigned core,
                         struct mem_outcome out, sim_cycle now)
{
    return one_step(c, ev, core, out, now);
}

sim_cycle checker_pay(struct checker *c, const struct event *ev, unsigned core, sim_cycle now)
{
    if (!c->pay || (ev->kind > EV_RMW && !pays_late(c)))
        return now;
    return c->pay(c->self, core, now);
}

sim_cycle checker_step(struct checker *c, const struct event *ev, unsigned core,
                       struct mem_outcome out, sim_cycle now)
{
    return checker_pay(c, ev, core, one_step(c, ev, core, out, now));
}

void checker_line(struct checker *c, const struct line_event *le, unsigned core)
{
    if (c->policy->lines >> le->what & 1)
        c->policy->line(c->self, le, core);
}

sim_cycle checker_line_paid(struct checker *c, unsigned core, sim_cycle now)
{
    return c->pay && c->policy->lines ? c->pay(c->self, core, now) : now;
}

unsigned checker_lines(const struct checker *c)
{
    return c->policy->lines;
}

bool checker_looks_ahead(const struct checker *c, bool very)
{
    return (very ? c->policy->very_soon : c->policy->soon) != NULL;
}

void checker_soon(const struct checker *c, const struct event *ev, bool very)
{
    if (checker_looks_ahead(c, very))
        (very ? c->policy->very_soon : c->policy->soon)(c->self, ev);
}

static void hint(const struct checker *c, const struct event *ev, const struct event *known)
{
    const struct policy *p = c->policy;

    if (known - ev > SOON && ev[SOON].kind > EV_RMW)
        shadow_soon(c->hb->objects, ev[SOON].addr);
    else if (p->soon && known - ev > SOON)
        p->soon(c->self, ev + SOON);
    if (p->very_soon && known - ev > VERY_SOON && ev[VERY_SOON].kind <= EV_RMW)
        p->very_soon(c->self, ev + VERY_SOON);
}

/* Plain accesses from ev on. Returns the last. */
static const struct event *run_plain(struct checker *c, const struct event *ev,
                                     const struct event *end, const struct event *known,
                                     uint64_t *number)
{
    const struct event *last = c->policy->run(c->self, ev, end, known, number);

    c->st.accesses += (uint64_t)(last - ev) + 1;
    c->st.checked += (uint64_t)(last - ev) + 1;
    if (UNLIKELY(c->report.race.conflicts || after_race_noted(&c->after)))
        event_done(c, last);
    if (UNLIKELY(budget_over(&c->budget)))
        over_limit(c);
    return last;
}

const struct event *checker_run(struct checker *c, const struct event *ev, const struct event *end,
                                const struct event *known, uint64_t *number)
{
    for (; ev < end; ev += event_records(ev), ++*number) {
        if (c->policy->run && !c->filter && access_plain(&c->policy_env, ev) &&
            !after_race_disables(&c->after)) {
            ev = run_plain(c, ev, end, known, number);
        } else {
            hint(c, ev, known);
            one_step(c, ev, 0, (struct mem_outcome){0}, 0);
            if (c->pay)
                checker_pay(c, ev, 0, 0);
            if (UNLIKELY(event_is_region(ev)))
                end = ev + event_records(ev);
        }
        if (UNLIKELY(c->env.err->code))
            break;
    }
    return ev;
}

const struct policy *checker_policy(const struct checker *c, const void **self)
{
    *self = c->self;
    return c->policy;
}

void checker_finish(struct checker *c)
{
    if (c->policy->check)
        c->policy->check(c->self);
    if (c->policy->finish)
        c->policy->finish(c->self);
    if (after_race_noted(&c->after))
        after_races(c);
}

const char *checker_label(const struct checker *c)
{
    return c->label;
}

void checker_names(struct checker *c, const struct names *names)
{
    c->report.names = names;
    filter_names(c->filter, names);
}

void checker_region(struct checker *c, bool inside)
{
    c->report.inside = inside;
}

const struct budget *checker_memory(const struct checker *c)
{
    return &c->budget;
}

uint64_t checker_races(const struct checker *c)
{
    return c->report.accesses;
}

/* ---- for comparing instances ---------------------------------------------------------------- */

unsigned checker_view(const struct checker *c)
{
    return c->policy_env.view;
}

unsigned checker_skips(const struct checker *c)
{
    return c->skips;
}

static const char after_first[] = "after-race leaves out what has raced";

static bool leaves_out(const struct checker *c)
{
    return c->after.mode == AFTER_RACE_DISABLE_VARIABLE ||
           c->after.mode == AFTER_RACE_DISABLE_ARRAY;
}

struct promise checker_promise(const struct checker *c)
{
    struct promise p = policy_promise(c);

    if (c->filter)
        p.property = c->property;
    if (c->filter && filter_loses(c->filter))
        p.claims &= ~(unsigned)CLAIM_SOUND;
    if (!leaves_out(c))
        return p;
    p.claims &= ~(unsigned)CLAIM_SOUND;
    p.property = after_first;
    return p;
}

void checker_explain(const struct checker *c, const struct event *ev, sim_addr location, char *to,
                     size_t room)
{
    *to = '\0';
    if (c->policy->explain)
        c->policy->explain(c->self, ev, location, to, room);
    if (!*to && leaves_out(c))
        snprintf(to, room, "%s", after_first);
    if (!*to && c->filter && filter_loses(c->filter))
        snprintf(to, room, "%s leaves out accesses", filter_text(c->filter));
}

uint32_t checker_actor(const struct checker *c, sim_tid tid)
{
    return hb_actor(c->hb, tid);
}

uint64_t checker_time(const struct checker *c, uint32_t actor)
{
    return epoch_time(c->hb->actor[actor].now);
}

uint64_t checker_knows(const struct checker *c, sim_tid tid, uint32_t actor)
{
    return vclock_get(hb_clock(c->hb, tid), actor);
}
