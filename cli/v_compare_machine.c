/* v_compare_machine.c - runs one source once for each policy, each time on a machine of its own, so
 * that what a policy costs is the difference to the machine without one. The runs are computed
 * behind sim/lardsim.h; the page is in v_compare_page.c. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/param.h"
#include "cli/v_compare.h"
#include "cli/v_run.h"
#include "policy/policy.h"
#include "sim/sim.h"

/* ---- what is to be run ---------------------------------------------------------------------- */

struct asked { /* of the top level of the configuration */
    uint32_t machine;
    struct param_list policies;
};

static const struct param *run_param(const char *name)
{
    for (const struct param *p = run_param_rows; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    die("compare: a run has no parameter %s", name);
}

/* The same rows as a run binds, into a struct of ours. rows must outlive config. */
static int bind_asked(struct config *config, struct param rows[3], struct asked *to, struct err *e)
{
    rows[0] = *run_param("machine");
    rows[0].offset = offsetof(struct asked, machine);
    rows[1] = *run_param("policies");
    rows[1].offset = offsetof(struct asked, policies);
    rows[2] = (struct param)PARAM_END;
    return config_bind(config, "", rows, to, e);
}

/* As run_settings, into a configuration without a run. */
static int gather(struct config *to, const struct cli *c, struct err *e)
{
    int failed = 0;

    for (size_t i = 0; i < c->n && !failed; i++) {
        const struct given *g = &c->given[i];
        if (g->key == OPT_CONFIG || g->key == OPT_PRESET)
            failed = config_preset(to, g->value, e);
        else if (g->key == OPT_SET)
            failed = config_set(to, g->value, e);
    }
    return failed;
}

int compare_machine_wanted(const struct cli *c, bool *wanted, struct err *e)
{
    struct config *config = config_new(run_presets);
    struct param rows[3];
    struct asked asked;
    const int failed = gather(config, c, e) || bind_asked(config, rows, &asked, e);

    if (!failed)
        *wanted = asked.machine != 0; /* "none" is the first choice */
    config_free(config);
    return failed ? -1 : 0;
}

struct specs { /* "vc", "naive=vc": own */
    char **spec;
    size_t n, cap;
};

static size_t label_length(const char *spec)
{
    return strcspn(spec, "=");
}

static bool same_label(const char *a, const char *b)
{
    const size_t n = label_length(a);

    return n == label_length(b) && strncmp(a, b, n) == 0;
}

static int add_spec(struct specs *s, const char *spec, size_t length, struct err *e)
{
    char *one = xasprintf("%.*s", (int)length, spec);

    for (size_t i = 0; i < s->n; i++) {
        if (!same_label(s->spec[i], one))
            continue;
        const bool none = i == 0 && strcmp(one, "none") == 0; /* it is there already */
        if (!none)
            err_set(e, LARD_CONFIG,
                    "compare: '%s' has the label of another policy; give each its own, as in "
                    "'mine=vc'",
                    one);
        free(one);
        return none ? 0 : -1;
    }
    s->spec = xgrow(s->spec, s->n, &s->cap, sizeof *s->spec);
    s->spec[s->n++] = one;
    return 0;
}

static int add_given(struct specs *s, const char *list, struct err *e)
{
    for (const char *p = list; *p;) {
        const size_t n = strcspn(p, ",");
        if (n && add_spec(s, p, n, e))
            return -1;
        p += n + (p[n] == ',');
    }
    return 0;
}

/* None first; then those of the command line, or else of the configuration. */
static int collect_specs(struct specs *s, const struct cli *c, struct err *e)
{
    struct config *config = config_new(run_presets);
    struct param rows[3];
    struct asked asked;
    int failed = add_spec(s, "none", strlen("none"), e) || gather(config, c, e) ||
                 bind_asked(config, rows, &asked, e);

    for (size_t i = 0; i < c->n && !failed; i++)
        if (c->given[i].key == 'p')
            failed = add_given(s, c->given[i].value, e);
    for (size_t i = 0; !cli_has(c, 'p') && !failed && i < asked.policies.n; i++)
        failed = add_spec(s, asked.policies.item[i], strlen(asked.policies.item[i]), e);
    config_free(config);
    return failed ? -1 : 0;
}

static void free_specs(struct specs *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->spec[i]);
    free(s->spec);
}

/* ---- the command line of one policy's run --------------------------------------------------- */

/* "policy.naive.view=naive" is about that label. */
static bool sets_parameter_of(const char *assignment, const char *spec)
{
    static const char section[] = "policy.";
    const size_t n = label_length(spec);

    return strncmp(assignment, section, sizeof section - 1) == 0 &&
           strncmp(assignment + sizeof section - 1, spec, n) == 0 &&
           assignment[sizeof section - 1 + n] == '.';
}

/* A run does not know the labels of the others. */
static bool about_another(const struct given *g, const struct specs *s, size_t which)
{
    if (g->key != OPT_SET || sets_parameter_of(g->value, s->spec[which]))
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (sets_parameter_of(g->value, s->spec[i]))
            return true;
    return false;
}

/* Free one.given. */
static struct cli cli_of(const struct cli *c, const struct specs *s, size_t which)
{
    struct cli one = *c;

    one.given = xcalloc(c->n + 1, sizeof *one.given);
    one.n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->given[i].key != 'p' && !about_another(&c->given[i], s, which))
            one.given[one.n++] = c->given[i];
    one.given[one.n++] = (struct given){'p', s->spec[which]};
    return one;
}

/* ---- what was given and had no effect in any run -------------------------------------------- */

struct unused {
    char *name, *origin; /* own */
    size_t runs;
};
struct all_unused {
    struct unused *item;
    size_t n, cap;
};

static void note_unused(void *arg, const char *name, const char *origin)
{
    struct all_unused *all = arg;

    for (size_t i = 0; i < all->n; i++)
        if (!strcmp(all->item[i].name, name) && !strcmp(all->item[i].origin, origin)) {
            all->item[i].runs++;
            return;
        }
    all->item = xgrow(all->item, all->n, &all->cap, sizeof *all->item);
    all->item[all->n++] = (struct unused){xstrdup(name), xstrdup(origin), 1};
}

static void warn_unused(struct all_unused *all, size_t runs)
{
    for (size_t i = 0; i < all->n; i++) {
        if (all->item[i].runs == runs)
            run_warn_unused(NULL, all->item[i].name, all->item[i].origin);
        free(all->item[i].name);
        free(all->item[i].origin);
    }
    free(all->item);
}

/* ---- what a policy's verdicts are about ----------------------------------------------------- */

static const char *view_name(unsigned bits)
{
    for (const struct view_info *v = view_info; v->name; v++)
        if (v->bits == bits)
            return v->name;
    return "of its own";
}

/* Made for a moment, without a machine, to be asked. NULL: error. Owned by the caller. */
static char *property_of(const struct cli *c, const char *spec, struct err *e)
{
    struct config *config = config_new(run_presets);
    struct stats *stats = stats_new();
    const uint64_t number = 0;
    const struct checker_env env = {
        .config = config, .stats = stats, .number = &number, .granule = 8, .err = e};
    struct checker *checker = gather(config, c, e) ? NULL : checker_new(spec, &env, e);
    char *text = NULL;

    if (checker) {
        const char *property = checker_promise(checker).property;
        const unsigned view = checker_view(checker);
        text = view ? xasprintf("%s; view %s", property, view_name(view)) : xstrdup(property);
    }
    checker_free(checker);
    stats_free(stats);
    config_free(config);
    return text;
}

/* ---- a run ---------------------------------------------------------------------------------- */

enum { METADATA_MISSES = 3 }; /* the first of them; what follows is no miss */
static const char *const metadata[] = {"load-misses",   "store-misses",   "atomic-misses",
                                       "load-hits",     "store-hits",     "atomic-hits",
                                       "load-upgrades", "store-upgrades", "atomic-upgrades"};

static uint64_t stat_of(const struct lardsim *l, const char *group, const char *part)
{
    char *name = xasprintf("%s%s", group, part);
    uint64_t v;

    if (lardsim_stat(l, name, &v))
        v = 0;
    free(name);
    return v;
}

static bool has_stat(const struct lardsim *l, const char *group, const char *part)
{
    char *name = xasprintf("%s%s", group, part);
    uint64_t v;
    const bool has = !lardsim_stat(l, name, &v);

    free(name);
    return has;
}

static void read_metadata(struct costs *to, const struct lardsim *l)
{
    for (size_t i = 0; i < ARRAY_SIZE(metadata); i++) {
        const uint64_t v = stat_of(l, "l1.metadata.", metadata[i]);
        to->cost[COST_METADATA] += v;
        to->cost[COST_METADATA_MISSES] += i < METADATA_MISSES ? v : 0;
    }
}

/* Of a policy in software: as it lays them out. Of one in hardware: history lines on chip, and the
 * tables of its manager; the most of both together may have been less than the sum shown. */
static void read_bytes(struct costs *to, const struct lardsim *l)
{
    const struct {
        const char *live, *peak;
        uint64_t unit;
    } of[] = {{"metadata.live", "metadata.peak", 1},
              {"lines.live", "lines.peak", stat_of(l, "machine.", "line")},
              {"manager.bytes", "manager.bytes-peak", 1}};
    char *group = xasprintf("policy.%s.", to->label);

    for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
        to->has_bytes |= has_stat(l, group, of[i].live);
        to->cost[COST_BYTES] += of[i].unit * stat_of(l, group, of[i].live);
        to->cost[COST_BYTES_PEAK] += of[i].unit * stat_of(l, group, of[i].peak);
    }
    free(group);
}

static void read_races(struct costs *to, const struct lardsim *l)
{
    char *races = xasprintf("policy.%s.races.", to->label);

    to->cost[COST_RACES] = stat_of(l, races, "accesses");
    to->cost[COST_SITES] = stat_of(l, races, "sites");
    to->cost[COST_LOCATIONS] = stat_of(l, races, "locations");
    free(races);
}

static void read_costs(struct costs *to, const struct lardsim *l)
{
    static const char *const spent[] = {
#define SPENT(NAME, text, help) [COST_SPENT_##NAME] = "machine.spent." text,
#include "sim/spent.def"
#undef SPENT
    };

    to->cost[COST_CORES] = stat_of(l, "machine.", "cores");
    to->cost[COST_CYCLES] = stat_of(l, "machine.", "cycles");
    to->cost[COST_REMOTE] = stat_of(l, "coherence.", "from-remote");
    read_races(to, l);
    read_metadata(to, l);
    read_bytes(to, l);
    for (size_t i = 0; i < COST_SPENTS; i++)
        to->spent[i] = stat_of(l, spent[i], "");
    to->events = lardsim_events(l);
    to->digest = lardsim_digest(l);
}

static void read_machine(struct cost_table *t, const struct lardsim *l)
{
    t->order = xstrdup(sim_machine_is(l, "order"));
    t->contention = xstrdup(sim_machine_is(l, "contention"));
    t->memory = xstrdup(sim_machine_is(l, "memory"));
    t->frequency = stat_of(l, "machine.", "frequency");
}

/* Results go to a folder of the policy's own in that of --output. */
static int set_output(struct lardsim *l, const struct cli *c, const char *label)
{
    if (!cli_get(c, 'o'))
        return 0;
    char *dir = xasprintf("%s/%s", cli_get(c, 'o'), label);
    const int failed = lardsim_output(l, dir, cli_has(c, OPT_OVERWRITE));

    free(dir);
    return failed;
}

static void run_once(struct lardsim *l, const struct cli *c, const char *label,
                     struct all_unused *unused)
{
    const bool quiet = cli_has(c, OPT_QUIET);
    struct progress progress;

    progress_begin(&progress);
    lardsim_on_unused(l, note_unused, unused);
    if (!quiet)
        lardsim_on_progress(l, progress_tell, &progress);
    if (run_settings(l, c) || set_output(l, c, label) || lardsim_start(l))
        return;
    lardsim_run(l, c->arg[0]);
    lardsim_finish(l);
    if (!quiet)
        progress_end(&progress);
}

/* Costs of different executions are not compared. */
static int same_events(const struct cost_table *t, const struct costs *row, struct err *e)
{
    if (t->n == 0 || row->events == t->row[0].events)
        return 0;
    return err_set(e, LARD_TRACE,
                   "%s: it had %llu events for %s, but %llu for %s; compare reads the source once "
                   "for each policy, so it must not change meanwhile",
                   t->source, (unsigned long long)t->row[0].events, t->row[0].label,
                   (unsigned long long)row->events, row->label);
}

static int run_policy(struct cost_table *t, const struct cli *c, struct all_unused *unused,
                      struct err *e)
{
    struct costs *row = &t->row[t->n];
    struct lardsim *l = lardsim_new();

    run_once(l, c, row->label, unused);
    if (lardsim_error(l))
        err_set(e, (enum lard_exit)lardsim_exit_code(l), "%s: %s", row->label, lardsim_error(l));
    if (!e->code) {
        read_costs(row, l);
        if (t->n == 0)
            read_machine(t, l);
        if (!same_events(t, row, e))
            t->n++;
    }
    lardsim_free(l);
    return e->code ? -1 : 0;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* What can be said before anything is run. */
static int check_source(const char *source, struct err *e)
{
    const char *colon = strrchr(source, ':'), *path = colon ? colon + 1 : source;
    struct stat st;

    if (strcmp(path, "-") == 0)
        return err_set(e, LARD_USAGE,
                       "compare: with a machine, each policy reads the source from its beginning, "
                       "and standard input can't be read twice; save it to a file first");
    if ((stat(source, &st) == 0 || stat(path, &st) == 0) && S_ISFIFO(st.st_mode))
        return err_set(e, LARD_USAGE,
                       "compare: with a machine, each policy reads the source from its beginning, "
                       "and the pipe %s can't be read twice; save it to a file first",
                       path);
    return 0;
}

static int make_folder(const struct cli *c, struct err *e)
{
    const char *dir = cli_get(c, 'o');
    struct stat st;

    if (!dir || mkdir(dir, 0777) == 0)
        return 0;
    if (stat(dir, &st) || !S_ISDIR(st.st_mode))
        return err_set(e, LARD_OUTPUT, "%s: can't be made; name a folder that can", dir);
    if (!cli_has(c, OPT_OVERWRITE))
        return err_set(e, LARD_OUTPUT, "%s: exists; give --overwrite to replace its results", dir);
    return 0;
}

static int write_json(const struct cost_table *t, struct err *e)
{
    char *path = xasprintf("%s/compare.json", t->output);
    struct outfile *f = outfile_open(path, e);

    free(path);
    if (!f)
        return -1;
    cost_table_json(outfile_stream(f), t);
    return outfile_commit(f, e);
}

static bool any_race(const struct cost_table *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->row[i].cost[COST_RACES])
            return true;
    return false;
}

static int show(const struct cost_table *t, const struct cli *c, struct err *e)
{
    if (t->n == 0)
        return -1;
    if (cli_has(c, OPT_JSON))
        cost_table_json(stdout, t);
    else if (!cli_has(c, OPT_QUIET))
        cost_table_text(t);
    if (!e->code && t->output && write_json(t, e))
        return -1;
    if (!e->code && cli_has(c, OPT_ERROR_ON_RACE) && any_race(t))
        err_set(e, LARD_RACES, "%s: races were found, and --error-on-race was given", t->source);
    return e->code ? -1 : LARD_DONE;
}

static void free_table(struct cost_table *t, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        free(t->row[i].label);
        free(t->row[i].property);
    }
    free(t->row);
    free(t->order);
    free(t->contention);
    free(t->memory);
}

/* A mistake in any policy is told before the first one runs. */
static int name_rows(struct cost_table *t, const struct cli *c, const struct specs *s,
                     struct err *e)
{
    t->row = xcalloc(s->n, sizeof *t->row);
    for (size_t i = 0; i < s->n; i++) {
        struct cli one = cli_of(c, s, i);
        const char *spec = s->spec[i];
        t->row[i].label = xasprintf("%.*s", (int)label_length(spec), spec);
        t->row[i].property = property_of(&one, spec, e);
        free(one.given);
        if (!t->row[i].property)
            return -1;
    }
    return 0;
}

/* Until one fails. */
static void run_all(struct cost_table *t, const struct cli *c, const struct specs *s, struct err *e)
{
    struct all_unused unused = {NULL, 0, 0};
    bool failed = false;

    for (size_t i = 0; i < s->n && !failed; i++) {
        struct cli one = cli_of(c, s, i);
        failed = run_policy(t, &one, &unused, e);
        free(one.given);
    }
    warn_unused(&unused, t->n);
}

int compare_machine(const struct cli *c, struct err *e)
{
    struct cost_table t = {.source = c->arg[0], .output = cli_get(c, 'o'), .error = e};
    struct specs specs = {NULL, 0, 0};
    int status = -1;

    if (!check_source(t.source, e) && !collect_specs(&specs, c, e) &&
        !name_rows(&t, c, &specs, e) && !make_folder(c, e)) {
        run_all(&t, c, &specs, e);
        status = show(&t, c, e);
    }
    free_table(&t, t.row ? specs.n : 0);
    free_specs(&specs);
    return status;
}
