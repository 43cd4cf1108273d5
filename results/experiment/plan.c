/* plan.c - the cells of a sweep: each point's configuration, resolved and checked as that of a run,
 * and the hash of all that decides its results. Points that give one run are one cell. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "results/experiment/sweep.h"
#include "sim/lardsim.h"

struct planning {
    struct plan *plan;
    const struct spec *spec;
    const char *build;
    struct memo *memo;
    uint64_t inherited; /* of what the spec inherits */
    size_t *source;     /* of the plan's, by the spec's source and seed; SIZE_MAX: not yet */
    uint64_t points;    /* so far */
    struct progress *progress;
    struct err *e;
};

/* ---- sources -------------------------------------------------------------------------------- */

/* A file's path relative to the spec's folder, as with inherit. */
static char *beside(const struct spec *s, const char *text, const char *path)
{
    const char *slash = strrchr(s->path, '/');

    if (*path == '/' || !slash)
        return xstrdup(text);
    return xasprintf("%.*s%.*s%s", (int)(path - text), text, (int)(slash + 1 - s->path), s->path,
                     path);
}

/* A text that identifies a trace file by its events and names. A damaged file is identified by what
 * could be read, as not all of its events are known. */
static char *identity_of(const char *path, const struct lardsim_summary *sum)
{
    char names[32] = "";

    if (!sum->counted)
        return xasprintf("damaged, %s: %" PRIu64 " bytes, %s", path, sum->bytes, sum->damage);
    if (sum->names)
        snprintf(names, sizeof names, ", names %016" PRIx64, sum->names);
    return xasprintf("events %016" PRIx64 ", from %" PRIu64 "%s%s%s", sum->identity, sum->first,
                     names, sum->layout ? ", layout " : "", sum->layout ? sum->layout : "");
}

/* A file is what its events and names are, wherever it lies. */
static int identify_file(struct plan_source *to, const char *path, struct err *e)
{
    struct lardsim_summary sum;
    struct stat st;

    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
        return err_set(e, LARD_CONFIG,
                       "%s: no regular file, and a sweep reads its sources more than once; save it "
                       "to a file first",
                       path);
    if (lardsim_summarize(to->text, &sum, e))
        return -1;
    to->granularity = sum.granularity;
    to->events = sum.events;
    to->hash = sum.counted ? sum.identity : 0;
    to->identity = identity_of(path, &sum);
    return 0;
}

/* A generator makes the same events whenever it is asked, in one build. */
static int identify_made(struct plan_source *to, struct err *e)
{
    struct lardsim_source *s = lardsim_source_open(to->text, e);

    if (!s)
        return -1;
    const struct lardsim_source_info is = lardsim_source_info(s);
    to->granularity = is.granularity;
    to->identity = xstrdup(to->text);
    to->asked = is.asked;
    lardsim_source_close(s);
    return 0;
}

static int check_seed(const struct planning *w, const struct setting *source)
{
    if (!strstr(source->text, ":seed=") && !strstr(source->text, ",seed="))
        return 0;
    return spec_error(w->spec, source->line, w->e,
                      "sources: %s has a seed of its own, and there are seeds; remove one",
                      source->text);
}

/* Two of the same events would be two names of one row, or one execution that counts twice. */
static int check_alone(const struct planning *w, const struct plan_source *s, unsigned line)
{
    for (const struct plan_source *o = w->plan->source; o < s; o++)
        if (o->granularity == s->granularity && !strcmp(o->identity, s->identity))
            return spec_error(w->spec, line, w->e,
                              "sources: %s has the same events and names as %s, so it would be the "
                              "same cells; remove one",
                              s->text, o->text);
    return 0;
}

static int add_source(struct planning *w, const struct sweep_point *at, size_t *to)
{
    struct plan *p = w->plan;
    const struct setting *given = &w->spec->sources.at[at->source];
    const char *path = lardsim_source_path(given->text);
    struct err inner = {0};

    if (!path && w->spec->seeds.n && check_seed(w, given))
        return -1;
    p->source = xgrow(p->source, p->sources, &p->sources_cap, sizeof *p->source);
    struct plan_source *s = &p->source[p->sources];
    *s = (struct plan_source){0};
    *to = p->sources++;
    if (path)
        s->text = beside(w->spec, given->text, path);
    else if (w->spec->seeds.n)
        s->text = xasprintf("%s%sseed=%s", given->text,
                            given->text[strlen(given->text) - 1] == ':' ? "" : ",",
                            w->spec->seeds.at[at->seed].text);
    else
        s->text = xstrdup(given->text);
    if (path ? identify_file(s, lardsim_source_path(s->text), &inner) : identify_made(s, &inner))
        return err_set(w->e, (enum lard_exit)inner.code, "%s:%u: sources: %s", w->spec->path,
                       given->line, inner.text);
    return check_alone(w, s, given->line);
}

/* The plan's source at a point. A file has no seeds: it is the same at each. */
static int source_at(struct planning *w, const struct sweep_point *at, size_t *to)
{
    const size_t seeds = w->spec->seeds.n ? w->spec->seeds.n : 1;
    const bool file = lardsim_source_path(w->spec->sources.at[at->source].text) != NULL;
    size_t *known = &w->source[at->source * seeds + (file ? 0 : at->seed)];

    if (*known == SIZE_MAX && add_source(w, at, known))
        return -1;
    *to = *known;
    return 0;
}

/* ---- settings ------------------------------------------------------------------------------- */

/* "policy.naive.view=naive" is about another policy's label that the spec has: the run would not
 * know the name. */
static bool about_another(const struct spec *s, const char *text, const char *policy)
{
    static const char section[] = "policy.";

    if (strncmp(text, section, sizeof section - 1) != 0)
        return false;
    text += sizeof section - 1;
    for (size_t i = 0; i < s->policies.n; i++) {
        const char *other = s->policies.at[i].text;
        const size_t n = policy_label(other);
        if (strncmp(text, other, n) == 0 && text[n] == '.')
            return !policy_is(policy, other);
    }
    return false;
}

static void take(const struct spec *s, struct settings *to, const struct settings *from,
                 const char *policy)
{
    for (size_t i = 0; i < from->n; i++)
        if (!about_another(s, from->at[i].text, policy))
            settings_add(to, xstrdup(from->at[i].text), from->at[i].line);
}

/* All settings at a point, in the order in which they are set: later ones win. */
static struct settings settings_at(const struct spec *s, const struct sweep_point *at,
                                   const struct setting *policy)
{
    struct settings set = {0};

    take(s, &set, &s->base, policy->text);
    for (size_t i = 0; i < s->axes; i++)
        take(s, &set, &s->axis[i].step[at->step[i]].set, policy->text);
    settings_add(&set, xasprintf("policies=%s", policy->text), policy->line);
    return set;
}

/* A preset, or a file beside the spec. */
static char *inherited(const struct spec *s, const char *name)
{
    return lardsim_is_preset(name) ? xstrdup(name) : beside(s, name, name);
}

static int inherit(const struct spec *s, struct lardsim *l)
{
    int failed = 0;

    for (size_t i = 0; i < s->inherit.n && !failed; i++) {
        char *name = inherited(s, s->inherit.at[i].text);
        failed = lardsim_preset(l, name);
        free(name);
    }
    return failed;
}

int cell_configure(const struct plan *p, const struct sweep_cell *c, struct lardsim *l)
{
    int failed = inherit(p->spec, l);

    for (size_t i = 0; i < c->set.n && !failed; i++)
        failed = lardsim_set(l, c->set.at[i].text);
    return failed;
}

/* Sets the cell's command, for its provenance. One process or another may run the cell, alone or
 * with others; the command gives the same results by itself. */
void cell_command(const struct plan *p, const struct sweep_cell *c, struct lardsim *l)
{
    const struct settings *above = &p->spec->inherit;
    const char **word = xmalloc((2 * above->n + 2 * c->set.n + 3) * sizeof *word);
    char **preset = xmalloc((above->n + 1) * sizeof *preset);
    size_t n = 0;

    word[n++] = "lardsim";
    word[n++] = "run";
    for (size_t i = 0; i < above->n; i++) {
        preset[i] = inherited(p->spec, above->at[i].text);
        word[n++] = "--preset";
        word[n++] = preset[i];
    }
    for (size_t i = 0; i < c->set.n; i++) {
        word[n++] = "--set";
        word[n++] = c->set.at[i].text;
    }
    word[n++] = p->source[c->source].text;
    lardsim_command(l, word, n);
    for (size_t i = 0; i < above->n; i++)
        free(preset[i]);
    free(preset);
    free((void *)word);
}

/* ---- resolving ------------------------------------------------------------------------------ */

/* As cell_configure, but messages say where the spec sets it. */
static int configure_named(const struct spec *s, const struct settings *set, struct lardsim *l)
{
    int failed = inherit(s, l);

    for (size_t i = 0; i < set->n && !failed; i++) {
        char *origin = xasprintf("%s:%u", s->path, set->at[i].line);
        failed = lardsim_set_from(l, set->at[i].text, origin);
        free(origin);
    }
    return failed;
}

/* A message that names no place of the spec gets the cell that it is about. */
static int at_cell(const struct planning *w, const struct settings *set, const struct lardsim *l)
{
    const char *text = lardsim_error(l);
    char *about = NULL;

    if (strncmp(text, w->spec->path, strlen(w->spec->path)) == 0)
        return err_set(w->e, (enum lard_exit)lardsim_exit_code(l), "%s", text);
    for (size_t i = 0; i < set->n; i++)
        xappend(&about, " ", set->at[i].text);
    err_set(w->e, (enum lard_exit)lardsim_exit_code(l), "%s:%u: with %.300s: %s", w->spec->path,
            set->at[0].line, about, text);
    free(about);
    return -1;
}

/* The resolved configuration in one form, whatever was given: owned by the caller. NULL: error. */
static char *canonical(const struct planning *w, const struct settings *set, unsigned granularity)
{
    struct lardsim *l = lardsim_new();
    char *text = configure_named(w->spec, set, l) ? NULL : lardsim_resolve(l, granularity);

    if (!text)
        at_cell(w, set, l);
    lardsim_free(l);
    return text;
}

static bool has_line(const char *text, const char *line)
{
    const char *at = strstr(text, line);

    return at && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n';
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* Parameters of other policies are not in a policy's configuration, whether the sweep has those
 * policies or not. */
static bool axis_concerns(const struct axis *a, const char *policy)
{
    static const char section[] = "policy.";
    const size_t n = policy_label(policy), before = sizeof section - 1;

    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < a->step[i].set.n; k++) {
            const char *text = a->step[i].set.at[k].text;
            if (strncmp(text, section, before) != 0 ||
                (strncmp(text + before, policy, n) == 0 && text[before + n] == '.'))
                return true;
        }
    return false;
}

/* NULL where the axis does not concern the policy. */
static char **names_at_point(const struct spec *s, const struct sweep_point *at, const char *policy)
{
    char **value = xcalloc(s->axes + 1, sizeof *value);

    for (size_t i = 0; i < s->axes; i++)
        if (axis_concerns(&s->axis[i], policy))
            value[i] = xstrdup(s->axis[i].step[at->step[i]].name);
    return value;
}

/* Another point gives the same run: where they differ the axis does not matter to it. */
static void merge(const struct spec *s, struct sweep_cell *c, const struct sweep_point *at)
{
    for (size_t i = 0; i < s->axes; i++)
        if (c->value[i] && strcmp(c->value[i], s->axis[i].step[at->step[i]].name) != 0) {
            free(c->value[i]);
            c->value[i] = NULL;
        }
}

/* All that decides what the settings resolve to. */
static uint64_t key_of(const struct planning *w, const struct settings *set, unsigned granularity)
{
    struct digest *d = digest_new();

    digest_add(d, w->build, strlen(w->build) + 1);
    digest_add(d, &granularity, sizeof granularity);
    digest_add(d, &w->inherited, sizeof w->inherited);
    for (size_t i = 0; i < set->n; i++)
        digest_add(d, set->at[i].text, strlen(set->at[i].text) + 1);
    const uint64_t key = digest_value(d);
    digest_free(d);
    return key;
}

/* Resolved once, whatever the source and the seed, and not again in later plans: it takes most of
 * the time of planning, as a machine is made to see whether it can be. */
static int resolve(struct planning *w, const struct settings *set, unsigned granularity,
                   struct memo_entry *to)
{
    *to = (struct memo_entry){.key = key_of(w, set, granularity)};
    const struct memo_entry *known = memo_find(w->memo, to->key);
    if (known) {
        *to = *known;
        return 0;
    }
    char *text = canonical(w, set, granularity);
    if (!text)
        return -1;
    to->hash = digest_bytes(text, strlen(text));
    to->flags =
        (!has_line(text, "machine=none") ? MEMO_MACHINE : 0) |
        (has_line(text, "trace.rules=on") ? MEMO_RULES : 0) |
        (has_line(text, "order=auto") || has_line(text, "order=program") ? MEMO_PROGRAM : 0);
    free(text);
    memo_add(w->memo, to);
    return 0;
}

/* All that decides the results: also the order, where the configuration leaves it to the source. */
static uint64_t cell_hash(const struct planning *w, const struct plan_source *source,
                          const struct memo_entry *x)
{
    const bool asks = source->asked && x->flags & MEMO_MACHINE && x->flags & MEMO_PROGRAM;
    char *key = xasprintf("%s\n%s%s\n%016llx", w->build, source->identity,
                          asks ? ", in program order" : "", (unsigned long long)x->hash);
    const uint64_t hash = digest_bytes(key, strlen(key));

    free(key);
    return hash;
}

static void add_cell(struct planning *w, const struct sweep_point *at, const struct setting *policy,
                     unsigned flags, uint64_t hash, struct settings *set)
{
    const struct setting *source = &w->spec->sources.at[at->source];
    struct plan *p = w->plan;

    p->cell = xgrow(p->cell, p->n, &p->cap, sizeof *p->cell);
    struct sweep_cell *c = &p->cell[p->n++];
    *c = (struct sweep_cell){.given = at->source,
                             .baseline = NO_CELL,
                             .policy =
                                 xasprintf("%.*s", (int)policy_label(policy->text), policy->text),
                             .value = names_at_point(w->spec, at, policy->text),
                             .set = *set,
                             .machine = flags & MEMO_MACHINE,
                             .rules = flags & MEMO_RULES};
    snprintf(c->hash, sizeof c->hash, "%016" PRIx64, hash);
    source_at(w, at, &c->source);
    if (w->spec->seeds.n && !lardsim_source_path(source->text))
        c->seed = xstrdup(w->spec->seeds.at[at->seed].text);
    *set = (struct settings){0};
}

/* The cell of a point with this policy, made if it isn't there. */
static int cell_at(struct planning *w, const struct sweep_point *at, const struct setting *policy,
                   size_t *to)
{
    struct plan *p = w->plan;
    struct memo_entry x;
    size_t source = 0;

    if (source_at(w, at, &source))
        return -1;
    struct settings set = settings_at(w->spec, at, policy);
    const int failed = resolve(w, &set, p->source[source].granularity, &x);
    if (!failed) {
        const uint64_t hash = cell_hash(w, &p->source[source], &x);
        uint64_t *known = map_put(&p->index, hash);
        if (*known)
            merge(w->spec, &p->cell[*known - 1], at);
        else
            add_cell(w, at, policy, x.flags, hash, &set);
        *known = *known ? *known : p->n;
        *to = *known - 1;
    }
    settings_free(&set);
    return failed;
}

static void show_progress(struct planning *w)
{
    struct progress *p = w->progress;
    const uint64_t all = points_count(w->spec);
    char so_far[32], left[32];

    w->points++;
    if (!progress_due(p))
        return;
    const double seconds = p->looked - p->began;
    progress_show(p, "planning: point %" PRIu64 " of at most %" PRIu64 ", %s, %s left", w->points,
                  all, progress_time(so_far, seconds),
                  progress_time(left, seconds / (double)w->points * (double)(all - w->points)));
}

/* Adds a point's cell, on a machine also the one without a policy, so that the policy's cost is
 * known. */
static int add_point(void *planning, const struct sweep_point *at)
{
    static const struct setting none = {(char *)(uintptr_t) "none", 0};
    struct planning *w = planning;
    size_t cell = 0, baseline = NO_CELL;

    show_progress(w);
    if (cell_at(w, at, &w->spec->policies.at[at->policy], &cell))
        return -1;
    if (w->plan->cell[cell].machine && cell_at(w, at, &none, &baseline))
        return -1;
    w->plan->cell[cell].baseline = baseline;
    w->plan->cell[cell].asked = true;
    if (baseline != NO_CELL)
        w->plan->cell[baseline].baseline = baseline;
    return 0;
}

/* Reads what the spec inherits once by itself, so that a mistake there is told by itself. */
static int read_inherited(struct planning *w)
{
    struct lardsim *l = lardsim_new();
    const int failed = inherit(w->spec, l);

    if (failed)
        spec_error(w->spec, w->spec->inherit.at[0].line, w->e, "base.inherit: %s",
                   lardsim_error(l));
    w->inherited = lardsim_given_hash(l);
    lardsim_free(l);
    return failed;
}

/* Whether cells differ along it: where they do not, it makes no difference to them. */
static bool axis_tells(const struct plan *p, size_t axis)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->cell[i].asked && p->cell[i].value[axis])
            return true;
    return false;
}

/* Refuses an axis that sets nothing: its rows would look as if it did not matter. */
static int check_axes(const struct plan *p, struct err *e)
{
    const struct spec *s = p->spec;

    for (size_t i = 0; i < s->axes; i++)
        if (!axis_tells(p, i))
            return spec_error(s, s->axis[i].line, e,
                              "the axis %s changes no cell: all its values give the same runs, as "
                              "no policy, source or machine of this sweep has that parameter, or "
                              "all values mean the same; correct or remove it",
                              s->axis[i].name);
    return 0;
}

int plan_make(struct plan *p, const struct spec *s, const char *build, struct memo *memo,
              struct progress *progress, struct err *e)
{
    const size_t sources = s->sources.n * (s->seeds.n ? s->seeds.n : 1);
    struct planning w = {
        .plan = p, .spec = s, .build = build, .memo = memo, .progress = progress, .e = e};

    *p = (struct plan){.spec = s};
    w.source = xmalloc(sources * sizeof *w.source);
    memset(w.source, 0xff, sources * sizeof *w.source);
    const int status =
        read_inherited(&w) || points_each(s, add_point, &w, e) || check_axes(p, e) ? -1 : 0;
    free(w.source);
    return status;
}

void plan_free(struct plan *p)
{
    for (size_t i = 0; i < p->n; i++) {
        struct sweep_cell *c = &p->cell[i];
        for (size_t k = 0; k < p->spec->axes; k++)
            free(c->value[k]);
        free(c->value);
        free(c->policy);
        free(c->seed);
        settings_free(&c->set);
    }
    for (size_t i = 0; i < p->sources; i++) {
        free(p->source[i].text);
        free(p->source[i].identity);
    }
    free(p->source);
    free(p->cell);
    map_free(&p->index);
}
