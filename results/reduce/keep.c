/* keep.c - what must stay so while a trace is made smaller: a race, a difference between two
 * policies, or the exit code of a run. Each candidate is run from its start; the first two in this
 * process, the last in one of its own, which may crash. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "results/reduce/reduce.h"
#include "results/results.h"
#include "base/program/place.h"
#include "results/job/stopped.h"
#include "results/job/told.h"

/* ---- the text ------------------------------------------------------------------------------- */

static size_t split(struct aim *k)
{
    size_t n = 0;
    char *save = NULL, *copy = xstrdup(k->text);

    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
        if (n++ < ARRAY_SIZE(k->word))
            k->word[n - 1] = xstrdup(w);
    free(copy);
    return n;
}

static int parse(struct aim *k, struct err *e)
{
    const size_t n = split(k);
    uint64_t code;

    if (n == 2 && !strcmp(k->word[0], "race") && is_hash(k->word[1])) {
        k->kind = KEEP_RACE;
    } else if (n == 3 && !strcmp(k->word[0], "differ")) {
        k->kind = KEEP_DIFFER;
        if (given_has(k->given, GIVEN_POLICY))
            return err_set(e, LARD_USAGE,
                           "trace reduce: 'differ P Q' names its policies; leave -p out");
    } else if (n == 2 && !strcmp(k->word[0], "exit") && number_of_text(k->word[1], &code) &&
               code < 256) {
        k->kind = KEEP_EXIT;
        k->code = (int)code;
    } else {
        return err_set(e, LARD_USAGE,
                       "trace reduce: --keep '%s' is none of 'race ID' (16 hexadecimal digits, as "
                       "in races.jsonl), 'differ P Q' (two policies), 'exit N' (an exit code)",
                       k->text);
    }
    return 0;
}

static int make_folder(struct aim *k, struct err *e)
{
    if (place_work(&k->folder, "lardsim-reduce", "candidates are written", e))
        return -1;
    k->file = xasprintf("%s/candidate.lard", k->folder);
    return 0;
}

int keep_open(struct aim *k, const struct given *g, const char *text, struct err *e)
{
    *k = (struct aim){.given = g, .text = xstrdup(text)};
    if (parse(k, e))
        return -1;
    return k->kind == KEEP_EXIT ? make_folder(k, e) : 0;
}

void keep_free(struct aim *k)
{
    if (k->file)
        (void)unlink(k->file);
    if (k->folder)
        (void)rmdir(k->folder);
    free(k->file);
    free(k->folder);
    for (size_t i = 0; i < ARRAY_SIZE(k->word); i++)
        free(k->word[i]);
    free(k->site[0]);
    free(k->site[1]);
    free(k->text);
}

char *keep_says(const struct aim *k)
{
    if (k->kind != KEEP_RACE)
        return xstrdup(k->text);
    if (k->unsited)
        return xasprintf("%s (at 0x%" PRIx64 ", without sites)", k->text, k->addr);
    return xasprintf("%s (%s and %s)", k->text, k->site[0], k->site[1]);
}

/* ---- a run in this process ------------------------------------------------------------------ */

struct watch { /* a run that is watched */
    struct aim *k;
    const struct lardsim_source *trace; /* sites go by its names */
    uint64_t id;                        /* KEEP_RACE, at first: the race that is looked for */
    bool found;
    struct map seen; /* KEEP_DIFFER: events or addresses, to a bit for each policy */
};

static char *site_text(const struct lardsim_source *trace, uint64_t site)
{
    const char *name = site ? lardsim_source_name(trace, LARDSIM_NAME_SITE, site) : NULL;

    if (name)
        return xstrdup(name);
    return site ? xasprintf("0x%" PRIx64, site) : xstrdup("?");
}

static bool same_sites(const struct watch *w, const struct lardsim_race *race)
{
    const struct aim *k = w->k;
    char *a = site_text(w->trace, race->is.site), *b = site_text(w->trace, race->earlier.site);
    const bool same = (!strcmp(a, k->site[0]) && !strcmp(b, k->site[1])) ||
                      (!strcmp(a, k->site[1]) && !strcmp(b, k->site[0]));

    free(a);
    free(b);
    return same && (!k->unsited || race->addr == k->addr);
}

static void watch_race(void *arg, const struct lardsim_race *race)
{
    struct watch *w = arg;
    struct aim *k = w->k;

    if (k->kind == KEEP_DIFFER) {
        const bool second = policy_is(k->word[2], race->policy);
        *map_put(&w->seen, k->by_event ? race->is.event : race->addr) |= second ? 2 : 1;
        return;
    }
    if (w->found)
        return;
    if (k->site[0]) {
        w->found = same_sites(w, race);
    } else if (race->id == w->id) {
        k->site[0] = site_text(w->trace, race->is.site);
        k->site[1] = site_text(w->trace, race->earlier.site);
        k->unsited = !race->is.site && !race->earlier.site;
        k->addr = race->addr;
        w->found = true;
    }
}

static int configure(struct lardsim *l, const struct aim *k, const struct trace_part *p)
{
    char *both =
        k->kind == KEEP_DIFFER ? xasprintf("policies=%s,%s", k->word[1], k->word[2]) : NULL;
    const unsigned granularity = lardsim_source_info(p->source).granularity;
    char granule[24];

    /* A trace that is pushed says nothing of itself. What the user says wins. */
    snprintf(granule, sizeof granule, "granularity=%u", granularity);
    const int failed = (granularity && lardsim_set(l, granule)) || given_apply(k->given, l) ||
                       (both && lardsim_set(l, both)) || lardsim_set(l, "trace.rules=off") ||
                       lardsim_set(l, "races.max=0");
    free(both);
    return failed;
}

struct pushing {
    struct lardsim *l;
    const struct watch *w;
    uint64_t index;
    bool failed;
};

static bool push(void *arg, const struct lardsim_event *ev, uint64_t index)
{
    struct pushing *to = arg;

    to->index = index;
    to->failed = lardsim_event(to->l, ev) != 0;
    return !to->failed && !to->w->found;
}

static unsigned ways_of(const struct watch *w)
{
    size_t pos = 0;
    uint64_t key, *seen;
    unsigned ways = 0;

    while (map_next(&w->seen, &pos, &key, &seen))
        ways |= *seen != 3 ? (unsigned)*seen : 0;
    return ways;
}

static bool stopped(const struct lardsim *l)
{
    return lardsim_error(l) && lardsim_exit_code(l) > 128;
}

/* Errors of a candidate's run, as a clear that no longer fits the granularity, make it one that is
 * not kept; a signal is for all of us. */
static int push_all(struct watch *w, struct lardsim *l, const struct trace_part *p,
                    const uint64_t *which, uint64_t *enough, struct err *e)
{
    struct pushing to = {.l = l, .w = w};

    if (lardsim_start(l))
        return run_error(l, "", e);
    if (part_each(p, which, push, &to, e))
        return -1;
    if (w->found)
        *enough = to.index;
    else if (!to.failed)
        lardsim_finish(l); /* some races are found late */
    if (stopped(l))
        return run_error(l, "", e);
    return lardsim_error(l) ? 0 : 1;
}

static int run_here(struct watch *w, const struct trace_part *p, const uint64_t *which,
                    uint64_t *enough, struct err *e)
{
    struct lardsim *l = lardsim_new();

    lardsim_on_race(l, watch_race, w);
    stop_run(l);
    const int ran =
        configure(l, w->k, p) ? run_error(l, "", e) : push_all(w, l, p, which, enough, e);
    stop_run(NULL);
    lardsim_free(l);
    return ran;
}

static int holds_here(struct aim *k, const struct trace_part *p, const uint64_t *which,
                      uint64_t *enough, struct err *e)
{
    struct watch w = {.k = k, .trace = p->source};
    const int ran = run_here(&w, p, which, enough, e);
    const bool holds = k->kind == KEEP_RACE ? w.found : (ways_of(&w) & k->ways) != 0;

    map_free(&w.seen);
    return ran < 0 ? -1 : holds && (ran || w.found);
}

/* ---- a run in a process of its own ---------------------------------------------------------- */

enum { SECONDS_MOST = 600 }; /* the most processor time: a run that hangs does not end the search */

struct candidate_file {
    struct lardsim_writer *to;
    struct err *err;
};

static bool write_event(void *arg, const struct lardsim_event *ev, uint64_t index)
{
    struct candidate_file *w = arg;

    (void)index;
    return !lardsim_writer_event(w->to, ev, w->err);
}

static int write_candidate(const struct aim *k, const struct trace_part *p, const uint64_t *which,
                           struct err *e)
{
    struct candidate_file w = {lardsim_writer(k->file, p->source, e), e};

    if (!w.to)
        return -1;
    part_each(p, which, write_event, &w, e);
    return lardsim_writer_close(w.to, e);
}

/* The words of a command line, which are others': the caller frees the list alone. */
static const char **arguments(const struct aim *k)
{
    static const char *const option[] = {[GIVEN_FILE] = "--config",
                                         [GIVEN_PRESET] = "--preset",
                                         [GIVEN_SET] = "--set",
                                         [GIVEN_POLICY] = "--policy",
                                         [GIVEN_DEBUG] = "--debug"};
    const struct given *g = k->given;
    const char **arg = xcalloc(2 * g->n + 5, sizeof *arg);
    size_t n = 0;

    arg[n++] = "lardsim";
    arg[n++] = "run";
    for (size_t i = 0; i < g->n; i++) {
        arg[n++] = option[g->at[i].kind];
        arg[n++] = g->at[i].text;
    }
    if (k->code == LARD_RACES)
        arg[n++] = "--error-on-race";
    arg[n++] = k->file;
    return arg;
}

static void become(const char **arg)
{
    const struct rlimit seconds = {SECONDS_MOST, SECONDS_MOST}, core = {0, 0};
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)setrlimit(RLIMIT_CPU, &seconds);
    (void)setrlimit(RLIMIT_CORE, &core);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
        _exit(127);
    execv("/proc/self/exe", (char *const *)(uintptr_t)arg);
    _exit(127);
}

static int exit_code(const struct aim *k, struct err *e)
{
    const char **arg = arguments(k);
    int status = 0;
    const pid_t child = fork();

    if (child == 0)
        become(arg);
    if (child < 0)
        err_set(e, LARD_LIMIT, "a run in a process of its own: %s", strerror(errno));
    else
        while (waitpid(child, &status, 0) < 0)
            if (errno != EINTR)
                die("waitpid: %s", strerror(errno));
    free((void *)arg);
    if (e->code)
        return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int holds_outside(const struct aim *k, const struct trace_part *p, const uint64_t *which,
                         struct err *e)
{
    const int code = write_candidate(k, p, which, e) ? -1 : exit_code(k, e);

    /* A signal that reached the other process was meant for this one. */
    if (stop_code(code))
        return err_set(e, (enum lard_exit)code,
                       "stopped by a signal before its end; no file was written");
    return code < 0 ? -1 : code == k->code;
}

/* ---- what is kept --------------------------------------------------------------------------- */

int keep_holds(struct aim *k, const struct trace_part *p, const uint64_t *which, uint64_t *enough,
               struct err *e)
{
    return k->kind == KEEP_EXIT ? holds_outside(k, p, which, e)
                                : holds_here(k, p, which, enough, e);
}

/* *each stays true if the policy has a verdict on each access: accesses are compared if both have,
 * else addresses. */
static int decides_each(const struct aim *k, const char *spec, bool *each, struct err *e)
{
    struct lardsim *l = given_asked(k->given, e);
    struct lardsim_promise is;
    const int failed = !l || lardsim_promise(l, spec, &is);

    if (!failed)
        *each &= is.by_access;
    else if (l)
        *e = *lardsim_err(l);
    lardsim_free(l);
    return failed ? -1 : 0;
}

static int find_race(struct aim *k, const struct trace_part *p, struct err *e)
{
    struct watch w = {.k = k, .trace = p->source, .id = strtoull(k->word[1], NULL, 16)};
    struct lardsim *l = lardsim_new();

    lardsim_on_race(l, watch_race, &w);
    stop_run(l);
    if (!configure(l, k, p) && !lardsim_set(l, "trace.rules=on") && !lardsim_start(l))
        lardsim_run(l, p->spec);
    lardsim_finish(l);
    if (lardsim_error(l))
        run_error(l, "", e);
    else if (!w.found)
        err_set(e, LARD_USAGE,
                "%s: no race %s is reported there; `lardsim run --json` has those that are",
                p->spec, k->word[1]);
    stop_run(NULL);
    lardsim_free(l);
    return e->code ? -1 : 0;
}

static int find_difference(struct aim *k, const struct trace_part *p, struct err *e)
{
    struct watch w = {.k = k, .trace = p->source};
    uint64_t enough;

    k->by_event = true;
    if (decides_each(k, k->word[1], &k->by_event, e) ||
        decides_each(k, k->word[2], &k->by_event, e))
        return -1;
    const int ran = run_here(&w, p, p->kept, &enough, e);
    k->ways = ways_of(&w);
    map_free(&w.seen);
    if (ran < 0)
        return -1;
    if (k->ways == 3) /* one way is enough, and it must stay that one */
        k->ways = 1;
    if (!k->ways)
        return err_set(e, LARD_USAGE, "%s: %s and %s report the same racy %s there", p->spec,
                       k->word[1], k->word[2], k->by_event ? "accesses" : "places");
    return 0;
}

int keep_begin(struct aim *k, const struct trace_part *p, struct err *e)
{
    uint64_t enough;

    if (k->kind == KEEP_RACE)
        return find_race(k, p, e);
    if (k->kind == KEEP_DIFFER)
        return find_difference(k, p, e);
    const int holds = keep_holds(k, p, p->kept, &enough, e);
    if (holds)
        return holds < 0 ? -1 : 0;
    return err_set(e, LARD_USAGE, "%s: a run of it does not end with exit code %d", p->spec,
                   k->code);
}
