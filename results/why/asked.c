/* asked.c - which race is asked about, of which policy, in which trace: from a results folder, or
 * from the command line. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/text.h"
#include "results/why/why.h"

/* ---- the settings of the run ---------------------------------------------------------------- */

struct top { /* the top level of the configuration */
    uint32_t machine, order, granularity;
    struct param_list policies;
    const char *source;
};

static const struct {
    const char *name;
    size_t offset;
} top_rows[] = {{"machine", offsetof(struct top, machine)},
                {"order", offsetof(struct top, order)},
                {"granularity", offsetof(struct top, granularity)},
                {"policies", offsetof(struct top, policies)},
                {"source", offsetof(struct top, source)}};

static struct param top_row(size_t i)
{
    const struct param *p = run_param_rows;

    while (strcmp(p->name, top_rows[i].name) != 0)
        p++;
    struct param row = *p;
    row.offset = top_rows[i].offset;
    return row;
}

static int bind_top(struct config *config, struct param rows[ARRAY_SIZE(top_rows) + 1],
                    struct top *to, struct err *e)
{
    for (size_t i = 0; i < ARRAY_SIZE(top_rows); i++)
        rows[i] = top_row(i);
    rows[ARRAY_SIZE(top_rows)] = (struct param)PARAM_END;
    return config_bind(config, "", rows, to, e);
}

/* ---- the policy ----------------------------------------------------------------------------- */

static size_t label_length(const char *spec)
{
    return strcspn(spec, "=");
}

/* Picks the policy that is asked for, or else the configuration's first one that checks. */
static int pick_spec(struct why_asked *a, const char *wanted, const struct param_list *all,
                     struct err *e)
{
    if (wanted && !a->dir) {
        a->spec = xstrdup(wanted);
        return 0;
    }
    for (size_t i = 0; i < all->n && !a->spec; i++) {
        const char *spec = all->item[i];
        const size_t n = label_length(spec);
        const bool is =
            wanted ? strlen(wanted) == n && !strncmp(spec, wanted, n) : strcmp(spec, "none") != 0;
        a->spec = is ? xstrdup(spec) : NULL;
    }
    if (!a->spec && wanted)
        return err_set(e, LARD_USAGE, "%s: no policy of that run has the label '%s'", a->dir,
                       wanted);
    if (!a->spec)
        a->spec = xstrdup("vc");
    return 0;
}

static void keep_specs(struct why_asked *a, const struct param_list *all)
{
    a->other = xcalloc(all->n + 1, sizeof *a->other);
    for (size_t i = 0; i < all->n; i++)
        a->other[a->others++] = xstrdup(all->item[i]);
}

static char *view_names(unsigned bits)
{
    char *all = NULL;

    for (const struct view_info *v = view_info; v->name; v++)
        if (v->bits == bits)
            return xstrdup(v->name);
    for (const struct view_info *v = view_info; v->name; v++)
        if (v->bits && !(v->bits & (v->bits - 1)) && bits & v->bits)
            xappend(&all, all ? "," : "", v->name);
    return all ? all : xstrdup("tracked");
}

/* Makes the policy for a moment, to ask it for its view and its promises. */
static int ask_policy(struct why_asked *a, struct config *config, struct err *e)
{
    enum { EXACT = CLAIM_SOUND | CLAIM_PRECISE | CLAIM_EAGER };
    struct stats *stats = stats_new();
    const uint64_t number = 0;
    const struct checker_env env = {
        .config = config, .stats = stats, .number = &number, .granule = 8, .err = e};
    struct checker *checker = checker_new(a->spec, &env, e);

    if (checker) {
        const void *self;
        a->promise = checker_promise(checker);
        a->property = xstrdup(a->promise.property ? a->promise.property : "");
        a->view_bits = checker_view(checker);
        a->view = view_names(a->view_bits);
        a->policy = checker_policy(checker, &self)->name;
        a->by_access = (a->promise.claims & (CLAIM_EAGER | CLAIM_REGION)) == CLAIM_EAGER;
        a->exact = (a->promise.claims & (EXACT | CLAIM_REGION)) == EXACT &&
                   a->promise.conflicts == CONFLICT_ALL;
        a->label = xasprintf("%.*s", (int)label_length(a->spec), a->spec);
    }
    a->promise.property = NULL;
    checker_free(checker);
    stats_free(stats);
    return e->code ? -1 : 0;
}

/* Finds the order of events. There is only one without a machine ("none", the first choice). */
static void find_order(struct why_asked *a, const struct top *top, const struct param *order)
{
    const bool machine = a->dir && top->machine,
               program = machine && sim_asks(top->order, top->source);

    a->repeats = program || (machine && strcmp(order->choices[top->order], "recorded") != 0);
    a->order = program ? "program" : a->repeats ? "timed" : "recorded";
}

static int settle(struct why_asked *a, const struct why_question *q, struct err *e)
{
    struct config *config = config_new(run_presets);
    struct param rows[ARRAY_SIZE(top_rows) + 1];
    struct top top;
    int failed = given_gather(&a->settings, config, e) || bind_top(config, rows, &top, e);

    if (!failed) {
        a->source = xstrdup(a->dir ? top.source : q->where);
        a->granule = xstrdup(rows[2].choices[top.granularity]);
        find_order(a, &top, &rows[1]);
        keep_specs(a, &top.policies);
        failed = pick_spec(a, q->policy, &top.policies, e) || ask_policy(a, config, e);
    }
    config_free(config);
    return failed ? -1 : 0;
}

/* ---- a results folder ----------------------------------------------------------------------- */

struct race_line { /* a line of races.jsonl */
    struct sighting s;
    char policy[128];
    bool has_event;
};

static void take(void *line, const char *name, const char *text)
{
    struct race_line *l = line;

    if (!strcmp(name, "policy"))
        snprintf(l->policy, sizeof l->policy, "%s", text);
    else if (!strcmp(name, "race"))
        l->s.id = strtoull(text, NULL, 16);
    else if (!strcmp(name, "event") && strcmp(text, "null") != 0) {
        l->s.event = strtoull(text, NULL, 10);
        l->has_event = true;
    } else if (!strcmp(name, "address"))
        l->s.addr = strtoull(text, NULL, 16);
    else if (!strcmp(name, "size"))
        l->s.size = (uint32_t)strtoul(text, NULL, 10);
    else if (!strcmp(name, "earlier.event") && strcmp(text, "null") != 0) {
        l->s.earlier = strtoull(text, NULL, 10);
        l->s.paired = true;
    }
}

struct reading_races {
    struct why_asked *a;
    struct race_line line;
    bool without; /* one that was asked for names no event */
};

static void take_member(void *reading, const char *name, const char *text)
{
    take(&((struct reading_races *)reading)->line, name, text);
}

static bool is_it(const struct why_asked *a, const struct race_line *l)
{
    if (strcmp(l->policy, a->label) != 0)
        return false;
    return a->by_id ? l->s.id == a->id : l->has_event && l->s.event == a->event;
}

static bool end_line(void *reading)
{
    struct reading_races *r = reading;

    if (is_it(r->a, &r->line)) {
        r->without |= !r->line.has_event;
        r->line.s.found = r->line.has_event;
        r->a->race = r->line.s;
    }
    r->line = (struct race_line){.has_event = false};
    return r->a->race.found;
}

static int read_races(struct why_asked *a, const struct seal *s, struct err *e)
{
    struct reading_races r = {.a = a};

    if (!seal_names(s, "races.jsonl"))
        return err_set(e, LARD_CONFIG, "%s: has no races.jsonl; `lardsim run -o` writes it",
                       a->dir);
    if (results_lines(s, "races.jsonl", take_member, end_line, &r, e))
        return -1;
    if (!a->race.found && r.without)
        return err_set(e, LARD_USAGE,
                       "%s: policy %s knows of this race the region, and not the event; ask about "
                       "an event, or with -p about a policy that knows it",
                       a->dir, a->label);
    if (!a->by_id || a->race.found)
        return 0;
    return err_set(e, LARD_USAGE,
                   "%s: policy %s has reported no race %016" PRIx64
                   "; races.jsonl has those that it did",
                   a->dir, a->label, a->id);
}

/* The events must be those of that run: else their numbers mean others. */
static int same_source(const struct why_asked *a, struct err *e)
{
    struct trace_summary is;
    char identity[24];

    if (trace_summarize(a->source, &is, e))
        return -1;
    snprintf(identity, sizeof identity, "%016" PRIx64, is.identity);
    if (!a->past.complete || !is.counted || !strcmp(identity, a->past.identity))
        return 0;
    return err_set(e, LARD_USAGE,
                   "%s: %s has other events now (identity %s; that run had %s), so the numbers of "
                   "its races mean others; run it anew (lardsim run --config %s/config.yaml)",
                   a->dir, a->source, identity, a->past.identity, a->dir);
}

/* A source that is gone gets the message of its reader, which says which file it is. */
static int source_there(const struct why_asked *a, struct err *e)
{
    struct err gone = {0, ""};
    struct source *s = source_open(a->source, &gone);

    source_close(s);
    if (s)
        return same_source(a, e);
    return err_set(e, (enum lard_exit)gone.code,
                   "%s: the source of that run can't be read any more: %s%s%s", a->dir, gone.text,
                   a->past.folder ? "; it ran in " : "", a->past.folder ? a->past.folder : "");
}

static int ask_folder(struct why_asked *a, const struct why_question *q, struct err *e)
{
    a->config = xasprintf("%s/config.yaml", a->dir);
    given_add(&a->settings, GIVEN_FILE, a->config);
    if (q->given && q->given->n)
        return err_set(
            e, LARD_USAGE,
            "%s: a results folder has the configuration of its run; leave --config, --preset and "
            "--set out, or ask about its trace",
            a->dir);
    struct seal *s = seal_open(a->dir, e);
    const int failed =
        !s || past_read(&a->past, s, a->dir, e) || settle(a, q, e) || read_races(a, s, e) ? -1 : 0;

    seal_close(s);
    return failed;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

enum { ID_DIGITS = 16 };

static int parse_which(struct why_asked *a, const char *text, struct err *e)
{
    a->by_id = strlen(text) == ID_DIGITS && strspn(text, "0123456789abcdef") == ID_DIGITS;
    if (a->by_id)
        a->id = strtoull(text, NULL, 16);
    if (a->by_id || number_of_text(text, &a->event))
        return 0;
    return err_set(
        e, LARD_USAGE,
        "why: '%s' is neither an event's number nor the identity of a race, which has 16 "
        "hexadecimal digits; races.jsonl and `lardsim run --json` have both",
        text);
}

/* Relative paths of a run lead on from where it was started, if that is still there. */
static void go_there(const struct why_asked *a)
{
    if (a->past.folder && source_path(a->source) && chdir(a->past.folder) && errno == ENOMEM)
        die("no memory");
}

int asked_find(struct why_asked *a, const struct why_question *q, struct err *e)
{
    *a = (struct why_asked){.dir = NULL};
    if (parse_which(a, q->which, e))
        return -1;
    if (is_folder(q->where)) {
        a->dir = q->where;
        if (ask_folder(a, q, e))
            return -1;
        go_there(a);
        return !strcmp(a->order, "program") ? 0 : source_there(a, e);
    }
    a->settings = given_copy(q->given, given_is_configuration);
    return settle(a, q, e);
}

void asked_free(struct why_asked *a)
{
    given_free(&a->settings);
    free(a->config);
    free(a->source);
    for (size_t i = 0; i < a->others; i++)
        free(a->other[i]);
    free(a->other);
    free(a->spec);
    free(a->label);
    free(a->view);
    free(a->granule);
    free(a->property);
    executed_close(a->executed);
    free(a->events);
    if (a->folder)
        (void)folder_remove(a->folder);
    free(a->folder);
    free(a->past.folder);
}
