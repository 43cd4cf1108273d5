/* fuzz_events.c - any stream of well-formed events, whether it obeys the stream rules or not, into
 * every policy with every choice of its parameters: nothing crashes, invariants hold, and policies
 * that must agree do. The first three bytes choose granularity, view and
 * policies; then eight make an event. */
#include "policy/checker.h"
#include "sim/sim.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_event.h"

enum { HEAD_BYTES = 3, WATCHERS_MAX = 384, EVENTS_MAX = 2000 };

/* ---- those who watch ------------------------------------------------------------------------ */

struct watcher {
    char *label; /* owns */
    struct checker *checker;
    struct err err;
    bool racy[EVENTS_MAX]; /* by event */
    struct budget memory;
};

struct watch {
    struct config *config;
    struct stats *stats;
    struct watcher *at;
    size_t n;
    uint64_t number;
    unsigned granule;
    char view[200];
};

static void on_race(void *arg, const struct race *race)
{
    struct watcher *w = arg;
    const void *self;
    const bool eager = checker_policy(w->checker, &self)->promise.claims & CLAIM_EAGER;

    MUST(!strcmp(race->policy, w->label));
    MUST(race->conflicts);
    MUST(!eager || !w->racy[race->is.event]); /* each access once */
    MUST(!eager || !race->earlier.known || race->earlier.event < race->is.event);
    w->racy[race->is.event] = true;
}

static void set(struct watch *all, const char *label, const char *name, const char *value)
{
    char *text = xasprintf("policy.%s.%s=%s", label, name, value);

    MUST(!config_set(all->config, text, NULL));
    free(text);
}

/* row: a choice other than its default; NULL: none. */
static void add_watcher(struct watch *all, const char *policy, const struct param *row,
                        const char *choice)
{
    struct watcher *w = &all->at[all->n++];

    w->memory.limit = 1 << 16;
    const struct checker_env env = {.config = all->config,
                                    .stats = all->stats,
                                    .number = &all->number,
                                    .granule = all->granule,
                                    .memory = &w->memory,
                                    .lines = 10,
                                    .on_race = on_race,
                                    .on_race_arg = w,
                                    .err = &w->err};
    struct err e = {0};

    MUST(all->n <= WATCHERS_MAX);
    w->label = row ? xasprintf("%s-%s-%s", policy, row->name, choice) : xstrdup(policy);
    for (char *dot = w->label; (dot = strchr(dot, '.'));) /* a label has none */
        *dot = '-';
    set(all, w->label, "view", all->view);
    if (row)
        set(all, w->label, row->name, choice);
    char *spec = xasprintf("%s=%s", w->label, policy);
    w->checker = checker_new(spec, &env, &e);
    MUST(w->checker || e.code == LARD_CONFIG); /* a policy may refuse a granularity or a view */
    free(spec);
}

/* some: bits of those to add, since all at once are slow. */
static void add_choices(struct watch *all, const char *policy, const struct param *row,
                        uint8_t some)
{
    unsigned bit = 0;

    for (; row && row->name; row++)
        for (size_t i = 0; row->type == PARAM_CHOICE && row->choices[i]; i++)
            if (strcmp(row->choices[i], row->value) != 0 && some >> bit++ % 8 & 1)
                add_watcher(all, policy, row, row->choices[i]);
}

static void set_view(struct watch *all, uint8_t bits)
{
    size_t n = 0;

    for (unsigned i = 0; view_info[i].name; i++)
        if (bits >> i & 1)
            n += (size_t)snprintf(all->view + n, sizeof all->view - n, "%s%s", n ? "," : "",
                                  view_info[i].name);
    if (!n)
        snprintf(all->view, sizeof all->view, "%s", view_info[0].name);
}

static void watch_open(struct watch *all, const uint8_t choice[static HEAD_BYTES])
{
    static const unsigned granules[] = {GRANULE_FIELD, 1, 2, 4, 8};

    *all = (struct watch){.config = config_new(NULL), .stats = stats_new()};
    all->granule = granules[choice[0] % ARRAY_SIZE(granules)];
    all->at = xcalloc(WATCHERS_MAX, sizeof *all->at);
    set_view(all, choice[1]);
    for (size_t i = 0; policies[i]; i++) {
        add_watcher(all, policies[i]->name, NULL, NULL);
        add_choices(all, policies[i]->name, policies[i]->params, UINT8_MAX);
        add_choices(all, policies[i]->name, checker_param_rows, choice[2]);
    }
}

static void watch_close(struct watch *all)
{
    struct err e = {0};

    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].checker)
            checker_finish(all->at[i].checker);
    if (stats_check(all->stats, &e))
        fuzz_failed(__FILE__, __LINE__, e.text);
    for (size_t i = 0; i < all->n; i++) {
        checker_free(all->at[i].checker);
        free(all->at[i].label);
    }
    free(all->at);
    stats_free(all->stats);
    config_free(all->config);
}

/* A watcher that has an error has stopped. */
static void step(struct watch *all, const struct event *ev)
{
    for (size_t i = 0; i < all->n; i++) {
        struct watcher *w = &all->at[i];
        if (!w->checker || w->err.code)
            continue;
        if (event_is_access(ev))
            checker_soon(w->checker, ev);

        if (ev->kind == EV_ROI_BEGIN || ev->kind == EV_ROI_END)
            checker_region(w->checker, ev->kind == EV_ROI_BEGIN);
        checker_step(w->checker, ev, 0, (struct mem_outcome){0}, 0);
        MUST(!w->err.code || w->err.code == LARD_LIMIT || w->err.code == LARD_TRACE ||
             w->err.code == LARD_CONFIG || w->err.code == LARD_RACES);
    }
}

/* ---- what must hold ------------------------------------------------------------------------- */

static const struct watcher *find(const struct watch *all, const char *label)
{
    for (size_t i = 0; i < all->n; i++)
        if (!strcmp(all->at[i].label, label))
            return all->at[i].checker ? &all->at[i] : NULL;
    return NULL;
}

/* The happens-before that w's verdicts on accesses are about, and against what history it holds
 * them: vc's, which the oracle knows (tests/policy/verdict/t_verdict.c). */
static const struct watcher *judge_of(const struct watch *all, const struct watcher *w)
{
    const struct promise p = checker_promise(w->checker);
    const struct watcher *judge = find(all, p.history == HISTORY_ALL ? "vc-history-all" : "vc");
    const bool hb = p.claims & CLAIM_EAGER && p.history != HISTORY_OWN;

    if (!judge || judge->err.code || checker_view(judge->checker) != checker_view(w->checker))
        return NULL;
    if (checker_skips(judge->checker) & ~checker_skips(w->checker))
        return NULL; /* filter.stack = off: it is shown more */
    return hb && p.conflicts == CONFLICT_ALL ? judge : NULL;
}

/* As far as neither has stopped: what is promised of the event in hand. Clocks that are written
 * against the rules may say that things to come happened before. */
static void check_all(const struct watch *all, bool sane)
{
    const uint64_t n = all->number - 1;

    for (size_t i = 0; sane && i < all->n; i++) {
        const struct watcher *w = &all->at[i];
        const struct watcher *judge = w->checker && !w->err.code ? judge_of(all, w) : NULL;
        if (!judge)
            continue;
        const unsigned claims = checker_promise(w->checker).claims;
        MUST(!(claims & CLAIM_PRECISE) || !w->racy[n] || judge->racy[n]);
        MUST(!(claims & CLAIM_SOUND) || w->racy[n] || !judge->racy[n]);
    }
}

/* The rules themselves take any stream, too: the simple ones and all. */
static void apply_rules(struct rules *r, bool *broken, const struct event *ev, uint64_t number)
{
    struct err e = {0};

    if (*broken)
        return;
    *broken = rules_apply(r, ev, number, &e) != 0;
    MUST(*broken == (e.code == LARD_TRACE));
    MUST(!*broken || rules_broken(r) < RULES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct rules *rules[2] = {rules_new(false), rules_new(true)};
    struct event ev[EVENT_RECORDS];
    uint8_t choice[HEAD_BYTES] = {0};
    bool broken[2] = {false, false}, raw = false;
    struct watch all;

    for (size_t i = 0; i < HEAD_BYTES && i < n; i++)
        choice[i] = data[i];
    watch_open(&all, choice);
    for (size_t at = HEAD_BYTES; at + EVENT_BYTES <= n && all.number < EVENTS_MAX;
         at += EVENT_BYTES) {
        if (!event_from(data + at, ev))
            continue;
        for (unsigned i = 0; i < 2; i++)
            apply_rules(rules[i], &broken[i], ev, all.number);
        step(&all, ev);
        all.number++;
        raw |= ev->kind == EV_WRITEVC;
        check_all(&all, !raw || !broken[0]);
    }
    for (unsigned i = 0; i < 2; i++) {
        if (!broken[i])
            rules_finish(rules[i], &(struct err){0});
        rules_free(rules[i]);
    }
    watch_close(&all);
    return 0;
}
