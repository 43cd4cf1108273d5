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

/* ---- the policy ----------------------------------------------------------------------------- */

/* Picks the policy that is asked for, or else the configuration's first one that checks. */
static int pick_spec(struct why_asked *a, const char *wanted, struct err *e)
{
    if (wanted && !a->dir) {
        a->spec = xstrdup(wanted);
        return 0;
    }
    for (size_t i = 0; i < a->others && !a->spec; i++) {
        const char *spec = a->other[i];
        const size_t n = policy_label(spec);
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

static void keep_specs(struct why_asked *a, const char *all)
{
    a->other = xcalloc(strlen(all) + 1, sizeof *a->other);
    for (const char *at = all; *at; at += strspn(at, ",")) {
        a->other[a->others++] = xasprintf("%.*s", (int)strcspn(at, ","), at);
        at += strcspn(at, ",");
    }
}

static int ask_policy(struct why_asked *a, struct lardsim *l, struct err *e)
{
    struct lardsim_promise is;

    if (lardsim_promise(l, a->spec, &is)) {
        *e = *lardsim_err(l);
        return -1;
    }
    is.property = a->property = xstrdup(is.property);
    is.view = a->view = xstrdup(is.view);
    a->is = is;
    a->label = xasprintf("%.*s", (int)policy_label(a->spec), a->spec);
    return 0;
}

/* Finds the order of events. There is only one without a machine. */
static void find_order(struct why_asked *a, struct lardsim *l, const char *machine,
                       const char *order)
{
    const bool has = a->dir && strcmp(machine, "none") != 0,
               program = has && lardsim_asks(l, a->source);

    a->repeats = program || (has && strcmp(order, "recorded") != 0);
    a->order = program ? "program" : a->repeats ? "timed" : "recorded";
}

static int settle(struct why_asked *a, const struct why_question *q, struct err *e)
{
    struct lardsim *l = given_asked(&a->settings, e);
    char *policies = given_setting(l, "policies", e);
    int failed = !policies;

    if (!failed) {
        char *machine = lardsim_setting(l, "machine"), *order = lardsim_setting(l, "order");
        a->source = a->dir ? lardsim_setting(l, "source") : xstrdup(q->where);
        a->granule = lardsim_setting(l, "granularity");
        find_order(a, l, machine, order);
        keep_specs(a, policies);
        failed = pick_spec(a, q->policy, e) || ask_policy(a, l, e);
        free(machine);
        free(order);
    }
    free(policies);
    lardsim_free(l);
    return failed ? -1 : 0;
}

/* ---- a results folder ----------------------------------------------------------------------- */

struct race_line { /* a line of races.jsonl */
    struct sighting s;
    char policy[128];
    bool has_event;
};

struct reading_races {
    struct why_asked *a;
    struct race_line line;
    bool without; /* one that was asked for names no event */
};

static void take_member(void *reading, const char *name, const char *text)
{
    struct race_line *l = &((struct reading_races *)reading)->line;

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
    struct lardsim_summary is;
    char identity[24];

    if (lardsim_summarize(a->source, &is, e))
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
    struct lardsim_source *s = lardsim_source_open(a->source, &gone);

    lardsim_source_close(s);
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

static int parse_which(struct why_asked *a, const char *text, struct err *e)
{
    a->by_id = is_hash(text);
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
    if (a->past.folder && lardsim_source_path(a->source) && chdir(a->past.folder) &&
        errno == ENOMEM)
        die("no memory");
}

int asked_find(struct why_asked *a, const struct why_question *q, struct err *e)
{
    struct stat st;

    *a = (struct why_asked){.dir = NULL};
    if (parse_which(a, q->which, e))
        return -1;
    if (!stat(q->where, &st) && S_ISDIR(st.st_mode)) {
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
    lardsim_executed_close(a->executed);
    if (a->folder)
        (void)folder_remove(a->folder);
    for (size_t i = 0; i < a->others; i++)
        free(a->other[i]);
    void *const own[] = {a->config,  a->source,   a->other,  a->spec,   a->label,      a->view,
                         a->granule, a->property, a->events, a->folder, a->past.folder};
    for (size_t i = 0; i < ARRAY_SIZE(own); i++)
        free(own[i]);
}
