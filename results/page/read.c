/* read.c - results of all kinds are read again, each into a study: runs and comparisons together
 * into one, each sweep into one of its own, and each table that `reproduce` wrote as JSON.
 * What is broken is a fault, and the rest is read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "results/page/report.h"
#include "results/experiment/sweep.h"

const struct report_measure_info report_measures[MEASURES] = {
#define MEASURE(NAME, key, unit, text, patterns) [M_##NAME] = {key, unit, text, patterns},
#include "results/page/measures.def"
#undef MEASURE
};
const struct report_part_info report_parts[PARTS] = {
#define PART(NAME, key, text, patterns) [P_##NAME] = {key, text, patterns},
#include "results/page/parts.def"
#undef PART
};

struct report_reading {
    struct reported *to;
    struct map matches; /* hash of a statistic's name to 1 + the measures and parts it belongs to */
    bool damaged;       /* something is not as it was written, and left out */
};

/* ---- words and faults ------------------------------------------------------------------------ */

void fault_add(struct report_faults *f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    f->at = xgrow((void *)f->at, f->n, &f->cap, sizeof *f->at);
    f->at[f->n++] = xvasprintf(fmt, ap);
    va_end(ap);
}

/* Texts of a run, in provenance.json and in host.json. */
static const struct word_row run_words[] = {
    {"schema", WORD_TEXT, offsetof(struct report_run, schema)},
    {"version", WORD_TEXT, offsetof(struct report_run, version)},
    {"build.id", WORD_TEXT, offsetof(struct report_run, build)},
    {"build.commit", WORD_TEXT, offsetof(struct report_run, commit)},
    {"build.compiler", WORD_TEXT, offsetof(struct report_run, compiler)},
    {"verb", WORD_TEXT, offsetof(struct report_run, verb)},
    {"configuration", WORD_TEXT, offsetof(struct report_run, configuration)},
    {"source", WORD_TEXT, offsetof(struct report_run, source)},
    {"caveat", WORD_TEXT, offsetof(struct report_run, caveat)},
    {"identity", WORD_TEXT, offsetof(struct report_run, identity)},
    {"digest", WORD_TEXT, offsetof(struct report_run, digest)},
    {"error", WORD_TEXT, offsetof(struct report_run, error)},
    {"host", WORD_TEXT, offsetof(struct report_run, host)},
    {"working_folder", WORD_TEXT, offsetof(struct report_run, working)},
    {"started", WORD_TEXT, offsetof(struct report_run, started)},
    {"seconds", WORD_TEXT, offsetof(struct report_run, seconds)},
    {"events", WORD_COUNT, offsetof(struct report_run, events)}};

/* ---- files ----------------------------------------------------------------------------------- */

/* A fault is told, and the folder is left out. */
static bool is_fine(struct report_reading *r, const struct err *e)
{
    if (e->code)
        fault_add(&r->to->faults, "%s", e->text);
    r->damaged |= e->code == LARD_TOLERANCE;
    return !e->code;
}

/* ---- statistics ------------------------------------------------------------------------------ */

static bool matches_one(const char *pattern, size_t n, const char *name)
{
    const char *star = memchr(pattern, '*', n);
    const size_t length = strlen(name), before = star ? (size_t)(star - pattern) : n,
                 after = star ? n - before - 1 : 0;

    if (!star)
        return length == n && !strncmp(pattern, name, n);
    return length >= before + after && !strncmp(pattern, name, before) &&
           !strncmp(star + 1, name + length - after, after);
}

bool report_matches(const char *patterns, const char *name)
{
    for (const char *at = patterns; *at; at += *at == ' ') {
        const size_t n = strcspn(at, " ");
        if (matches_one(at, n, name))
            return true;
        at += n;
    }
    return false;
}

_Static_assert((int)MEASURES + (int)PARTS < 63, "a bit for each");

static uint64_t measures_of(struct report_reading *r, const char *name)
{
    uint64_t *known = map_put(&r->matches, digest_bytes(name, strlen(name)));

    if (*known)
        return *known - 1;
    uint64_t bits = 0;
    for (unsigned i = 0; i < MEASURES; i++)
        bits |= (uint64_t)report_matches(report_measures[i].patterns, name) << i;
    for (unsigned i = 0; i < PARTS; i++)
        bits |= (uint64_t)report_matches(report_parts[i].patterns, name) << (MEASURES + i);
    *known = bits + 1;
    return bits;
}

struct reading_stats {
    struct report_reading *r;
    struct report_run *run;
    bool keep;         /* the run has them, but for histograms */
    struct facts stat; /* all, for its cells */
    char *schema;      /* owns */
};

/* The measures and parts to which a statistic adds, bits as above. *label: the policy that it is
 * of, and its length; NULL: of all. */
static uint64_t adds_to(struct report_reading *r, const char *name, const char **label,
                        size_t *length)
{
    const size_t group = !strncmp(name, "policy.", 7) ? 7 : !strncmp(name, "compare.", 8) ? 8 : 0;

    *label = group ? name + group : NULL;
    *length = strcspn(name + group, ".");
    if (!group)
        return measures_of(r, name);
    char *general = xasprintf("%.*s$%s", (int)group, name, *label + *length);
    const uint64_t bits = measures_of(r, general);
    free(general);
    return bits;
}

static void take_finding(struct report_run *run, const char *name, const char *text)
{
    struct report_finding *f = run->findings ? &run->finding[run->findings - 1] : NULL;

    if (!strcmp(name, "key")) {
        run->finding = xgrow(run->finding, run->findings, &run->findings_cap, sizeof *run->finding);
        run->finding[run->findings++] = (struct report_finding){.key = xstrdup(text)};
    } else if (f && !strcmp(name, "sentence")) {
        f->sentence = xstrdup(text);
    } else if (f && !strncmp(name, "parameters.", 11)) {
        xappend(&f->knobs, " ", name + 11);
        xappend(&f->knobs, ":", text);
    }
}

static void take_stat(void *arg, const char *name, const char *text)
{
    struct reading_stats *s = arg;

    if (!strcmp(name, "schema")) {
        s->schema = xstrdup(text);
    } else if (!strcmp(name, "behaviour")) {
        s->run->behaviour = xstrdup(text);
    } else if (!strncmp(name, "findings.", 9)) {
        take_finding(s->run, name + 9, text);
    } else {
        run_time_take(&s->run->cycles, name, text);
        facts_add(&s->stat, name, text);
        if (s->keep && !strstr(name, ".buckets"))
            facts_add(&s->run->stats, name, text);
    }
}

/* ---- provenance ------------------------------------------------------------------------------ */

/* Appends the word, quoted for a shell. */
void report_shell_word(char **command, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=+.,:/@%";

    if (*word && strspn(word, plain) == strlen(word)) {
        xappend(command, " ", word);
        return;
    }
    char *quoted = shell_quoted(word);
    xappend(command, " ", quoted);
    free(quoted);
}

static void take_provenance(void *arg, const char *name, const char *text)
{
    struct report_run *run = arg;

    words_take(run_words, ARRAY_SIZE(run_words), run, name, text);
    if (!strcmp(name, "command"))
        report_shell_word(&run->command, text);
}

static int read_config(struct report_run *run, const struct seal *seal, struct err *e)
{
    struct yaml_flat f = {0};
    size_t bytes;
    char *text = seal_text(seal, "config.yaml", &bytes, e);
    char *path = path_in(run->dir, "config.yaml");

    if (text)
        yaml_flat_text(&f, path, text, bytes, e);
    for (size_t i = 0; i < f.n && !e->code; i++) {
        char *value = NULL;
        for (size_t k = 0; k < f.entry[i].value.n; k++)
            xappend(&value, ",", f.entry[i].value.item[k]);
        facts_add(&run->config, f.entry[i].name, value ? value : "");
        free(value);
    }
    yaml_flat_free(&f);
    free(path);
    free(text);
    return e->code ? -1 : 0;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void run_free(struct report_run *run)
{
    words_free(run_words, ARRAY_SIZE(run_words), run);
    free(run->dir);
    free(run->name);
    free(run->command);
    free(run->behaviour);
    facts_free(&run->config);
    facts_free(&run->stats);
    for (size_t i = 0; i < run->findings; i++) {
        free(run->finding[i].key);
        free(run->finding[i].sentence);
        free(run->finding[i].knobs);
    }
    free(run->finding);
    series_free(run->time);
}

/* Time of the cores that no part has is idle, so that parts add up to the whole; cores that had no
 * thread are no part. */
static void fit_parts(struct report_cell *c)
{
    const double all = c->of[M_CYCLES] * c->of[M_CORES_USED],
                 unused = c->of[M_CYCLES] * (c->of[M_CORES] - c->of[M_CORES_USED]);
    double sum = 0;

    for (size_t i = 0; i < PARTS; i++)
        sum += or_none(c->part[i]);
    if (isnan(all) || isnan(unused))
        return;
    c->part[P_IDLE] = fmax(0, or_none(c->part[P_IDLE]) + all - sum);
}

static void add_number(double *to, const char *text)
{
    *to = or_none(*to) + strtod(text, NULL);
}

static void add_cell(struct report_study *s, const struct reading_stats *n, const char *label)
{
    const size_t run = s->runs - 1;
    const bool region = s->run[run].cycles.has_region;

    s->cell = xgrow(s->cell, s->cells, &s->cells_cap, sizeof *s->cell);
    struct report_cell *c = &s->cell[s->cells++];
    *c = (struct report_cell){.run = run,
                              .label = xstrdup(label),
                              .baseline = NO_BASELINE,
                              .overhead = NAN,
                              .overhead_whole = NAN};
    for (size_t k = 0; k < MEASURES; k++)
        c->of[k] = NAN;
    for (size_t k = 0; k < PARTS; k++)
        c->part[k] = NAN;
    for (size_t i = 0; i < n->stat.n; i++) {
        const char *of, *name = n->stat.at[i].name;
        size_t length;
        if (!strncmp(name, "roi.", 4) != region)
            continue;
        uint64_t bits = adds_to(n->r, name + (region ? 4 : 0), &of, &length);
        if (of && (strncmp(of, label, length) != 0 || label[length]))
            continue;
        for (size_t k = 0; bits; k++, bits >>= 1)
            if (bits & 1)
                add_number(k < MEASURES ? &c->of[k] : &c->part[k - MEASURES], n->stat.at[i].text);
    }
    fit_parts(c);
}

/* Adds the cells of a run: of the policy that it is about; NULL: of all whose numbers it has. */
static void add_cells(struct report_study *s, const struct reading_stats *n, const char *only)
{
    struct facts seen = {0};

    for (size_t i = 0; i < n->stat.n && !only; i++) {
        const char *of, *name = n->stat.at[i].name;
        size_t length;
        if (!adds_to(n->r, name + (strncmp(name, "roi.", 4) ? 0 : 4), &of, &length) || !of)
            continue;
        char *label = xasprintf("%.*s", (int)length, of);
        if (!facts_find(&seen, label)) {
            facts_add(&seen, label, "");
            add_cell(s, n, label);
        }
        free(label);
    }
    if (!seen.n)
        add_cell(s, n, only ? only : "none");
    facts_free(&seen);
}

static int read_words(struct report_run *run, const struct seal *seal, struct err *e)
{
    if (results_json(seal, "provenance.json", take_provenance, run, e))
        return -1;
    if (!run->schema || strncmp(run->schema, "lardsim-provenance-", 19) != 0)
        return err_set(e, LARD_CONFIG,
                       "%s/provenance.json: has another schema; what made these results is not "
                       "known, and the folder is left out",
                       run->dir);
    return 0;
}

static int read_numbers(struct reading_stats *s, const struct seal *seal, struct err *e)
{
    if (results_json(seal, "stats.json", take_stat, s, e))
        return -1;
    if (!s->schema || strcmp(s->schema, "lardsim-stats-1") != 0)
        return err_set(e, LARD_CONFIG,
                       "%s/stats.json: its schema is \"%s\", and this version reads "
                       "lardsim-stats-1; the folder is left out",
                       s->run->dir, s->schema ? s->schema : "");
    return 0;
}

/* Reads the files of a run. checked: the whole folder was held against DONE. */
static int read_files(struct reading_stats *s, const struct seal *seal, bool checked, struct err *e)
{
    struct report_run *run = s->run;

    run->done = seal_there(seal);
    if ((run->done && !checked && results_check(seal, e)) || read_words(run, seal, e) ||
        read_numbers(s, seal, e) ||
        (seal_names(seal, "host.json") && results_json(seal, "host.json", take_provenance, run, e)))
        return -1;
    if (!s->keep)
        return 0;
    run->time = series_read(seal, e);
    return e->code || read_config(run, seal, e) ? -1 : 0;
}

/* False: there is nothing to be read; a fault says so. */
static bool read_run(struct report_reading *r, struct report_study *s, const struct seal *seal,
                     const char *name, const char *only, bool config)
{
    s->run = xgrow(s->run, s->runs, &s->runs_cap, sizeof *s->run);
    struct report_run *run = &s->run[s->runs++];
    *run = (struct report_run){.dir = xstrdup(seal_dir(seal)), .name = xstrdup(name)};
    struct reading_stats stats = {.r = r, .run = run, .keep = config};
    struct err e = {0};

    read_files(&stats, seal, s->kind == STUDY_SWEEP, &e);
    const bool good = is_fine(r, &e);
    if (good && !run->done)
        fault_add(&r->to->faults,
                  "%s: has no DONE, so it is not whole: %s. What there is of it is shown", run->dir,
                  run->error ? run->error : "the run stopped, or still runs");
    if (good) {
        s->has_region |= run->cycles.has_region;
        s->has_whole |= run->cycles.has_whole && !run->cycles.has_region;
        add_cells(s, &stats, only);
    } else {
        run_free(run);
        s->runs--;
    }
    facts_free(&stats.stat);
    free(stats.schema);
    return good;
}

/* ---- races ----------------------------------------------------------------------------------- */

struct race_read {
    struct report_study *study;
    const char *dir, *label; /* label: the policy that is asked for; NULL: all */
    /* A line of races.jsonl or of differences.jsonl; all own. */
    struct report_race race;
    char *policy, *of, *verdict, *reason;
};
static const struct word_row race_words[] = {
    {"policy", WORD_TEXT, offsetof(struct race_read, policy)},
    {"race", WORD_TEXT, offsetof(struct race_read, race.id)},
    {"thread", WORD_TEXT, offsetof(struct race_read, race.is.thread)},
    {"op", WORD_TEXT, offsetof(struct race_read, race.is.op)},
    {"site", WORD_TEXT, offsetof(struct race_read, race.is.site)},
    {"event", WORD_TEXT, offsetof(struct race_read, race.is.event)},
    {"earlier.thread", WORD_TEXT, offsetof(struct race_read, race.earlier.thread)},
    {"earlier.op", WORD_TEXT, offsetof(struct race_read, race.earlier.op)},
    {"earlier.site", WORD_TEXT, offsetof(struct race_read, race.earlier.site)},
    {"earlier.event", WORD_TEXT, offsetof(struct race_read, race.earlier.event)},
    {"address", WORD_TEXT, offsetof(struct race_read, race.address)},
    {"object", WORD_TEXT, offsetof(struct race_read, race.object)},
    {"offset", WORD_TEXT, offsetof(struct race_read, race.offset)},
    {"allocated_at", WORD_TEXT, offsetof(struct race_read, race.allocated_at)},
    {"of", WORD_TEXT, offsetof(struct race_read, of)},
    {"verdict", WORD_TEXT, offsetof(struct race_read, verdict)},
    {"reason", WORD_TEXT, offsetof(struct race_read, reason)}};

static void take_member(void *arg, const char *name, const char *text)
{
    words_take(race_words, ARRAY_SIZE(race_words), arg, name, text);
}

/* Sites tell races apart; where neither is known, addresses do. */
static uint64_t race_hash(const struct report_race *r)
{
    char *key = xasprintf("%s %s", r->id ? r->id : "",
                          r->is.site || r->earlier.site || !r->address ? "" : r->address);
    const uint64_t hash = digest_bytes(key, strlen(key));

    free(key);
    return hash;
}

const struct report_race *study_race(const struct report_study *s, const struct report_race *like)
{
    const uint64_t *at = map_find(&s->race_at, race_hash(like));

    return at ? &s->race[*at - 1] : NULL;
}

/* The race of the study that was read; it is added if it is new. NULL: there are too many. */
static struct report_race *race_find(struct race_read *r)
{
    struct report_study *s = r->study;
    const uint64_t hash = race_hash(&r->race);
    uint64_t *at = s->races < RACES_MOST ? map_put(&s->race_at, hash) : map_find(&s->race_at, hash);

    if (!at || *at)
        return at ? &s->race[*at - 1] : NULL;
    *at = s->races + 1;
    s->race = xgrow(s->race, s->races, &s->races_cap, sizeof *s->race);
    struct report_race *race = &s->race[s->races++];
    *race = r->race;
    race->id = race->id ? race->id : xstrdup("");
    race->dir = xstrdup(r->dir);
    r->race = (struct report_race){.id = NULL};
    return race;
}

static bool end_race(void *arg)
{
    struct race_read *r = arg;

    if (r->policy && (!r->label || !strcmp(r->label, r->policy))) {
        struct report_race *race = race_find(r);
        size_t i = 0;
        if (!race)
            r->study->races_left_out++;
        while (race && i < race->counts && strcmp(race->count[i].policy, r->policy) != 0)
            i++;
        if (race && i == race->counts) {
            race->count = xgrow(race->count, i, &race->counts_cap, sizeof *race->count);
            race->count[race->counts++] = (struct report_count){xstrdup(r->policy), 0};
        }
        if (race)
            race->count[i].n++;
    }
    words_free(race_words, ARRAY_SIZE(race_words), r);
    return false;
}

/* A difference of a comparison belongs to the race whose first access it is. */
static bool end_difference(void *arg)
{
    struct race_read *r = arg;
    const char *event = r->race.is.event;

    for (size_t i = 0; i < r->study->races && event && r->of && r->policy && r->verdict; i++) {
        struct report_race *race = &r->study->race[i];
        if (strcmp(r->of, "access") != 0 || !race->is.event || strcmp(race->is.event, event) != 0 ||
            strcmp(race->dir, r->dir) != 0)
            continue;
        char *name = xasprintf("%s for %s", r->verdict, r->policy);
        if (!facts_find(&race->verdicts, name))
            facts_add(&race->verdicts, name, r->reason ? r->reason : "");
        free(name);
    }
    words_free(race_words, ARRAY_SIZE(race_words), r);
    return false;
}

static void read_races(struct report_reading *r, struct report_study *s, const struct seal *seal,
                       const char *label)
{
    struct race_read race = {.study = s, .dir = seal_dir(seal), .label = label};
    struct err e = {0};

    if (seal_names(seal, "races.jsonl"))
        results_lines(seal, "races.jsonl", take_member, end_race, &race, &e);
    if (!e.code && seal_names(seal, "differences.jsonl"))
        results_lines(seal, "differences.jsonl", take_member, end_difference, &race, &e);
    (void)is_fine(r, &e);
    words_free(race_words, ARRAY_SIZE(race_words), &race);
}

/* The machine of a study is that of the first. */
static void draw_from(struct report_study *s, const char *dir)
{
    if (!s->config)
        s->config = path_in(dir, "config.yaml");
}

/* ---- runs and comparisons -------------------------------------------------------------------- */

static struct report_study *study_add(struct reported *to, enum report_kind kind, const char *name)
{
    to->study = xgrow(to->study, to->n, &to->cap, sizeof *to->study);
    to->study[to->n] = (struct report_study){.kind = kind, .name = xstrdup(name)};
    return &to->study[to->n++];
}

/* Returns the study in which all runs stand together. */
static struct report_study *runs_study(struct reported *to, const char *name)
{
    for (size_t i = 0; i < to->n; i++)
        if (to->study[i].kind == STUDY_RUNS) {
            char *both = xasprintf("%s, %s", to->study[i].name, name);
            free(to->study[i].name);
            to->study[i].name = both;
            return &to->study[i];
        }
    return study_add(to, STUDY_RUNS, name);
}

struct policies_seen {
    char *schema, *error; /* own */
    struct facts policies;
};
static const struct word_row policies_words[] = {
    {"schema", WORD_TEXT, offsetof(struct policies_seen, schema)},
    {"error", WORD_TEXT, offsetof(struct policies_seen, error)}};

static void take_policy(void *arg, const char *name, const char *text)
{
    struct policies_seen *p = arg;

    words_take(policies_words, ARRAY_SIZE(policies_words), p, name, text);
    if (!strcmp(name, "policies.policy"))
        facts_add(&p->policies, text, "");
}

/* A label names a folder: what is none is not taken for one. */
static bool is_label(const char *text)
{
    return *text && !strchr(text, '/') && text[0] != '.';
}

static void read_part(struct report_reading *r, struct report_study *s, const char *dir,
                      const char *label)
{
    char *child = path_in(dir, label);
    struct err e = {0};
    struct seal *seal = seal_open(child, &e);

    if (is_fine(r, &e) && read_run(r, s, seal, label, label, true)) {
        read_races(r, s, seal, label);
        if (strcmp(label, "none") != 0)
            draw_from(s, child);
    }
    seal_close(seal);
    free(child);
}

static void read_comparison(struct report_reading *r, const struct seal *seal,
                            const struct policies_seen *p)
{
    const char *dir = seal_dir(seal);
    struct report_study *s = runs_study(r->to, dir);

    if (p->error)
        fault_add(&r->to->faults, "%s: the comparison stopped: %s. What there is of it is shown",
                  dir, p->error);
    else if (!seal_there(seal))
        fault_add(&r->to->faults,
                  "%s: has no DONE, so it is not whole. What there is of it is shown", dir);
    for (size_t i = 0; i < p->policies.n; i++)
        if (is_label(p->policies.at[i].name))
            read_part(r, s, dir, p->policies.at[i].name);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* The axes are the columns from the source on. */
static void sweep_point(struct report_study *s, struct report_cell *c, const struct csv_row *row)
{
    c->point = xcalloc(s->axes, sizeof *c->point);
    c->point[0] = listing_source(row); /* the seed is an axis of its own */
    for (size_t i = 1; i < s->axes; i++)
        c->point[i] = xstrdup(csv_at(row, LISTED_SOURCE + i));
}

/* The cell's index, or NO_BASELINE: it is not as it was written. shown: sources and policies whose
 * races are read. */
static size_t done_cell(struct report_reading *r, struct report_study *s, const struct seal *seal,
                        const struct csv_row *row, struct map *shown)
{
    const char *label = csv_at(row, LISTED_POLICY);

    if (!read_run(r, s, seal, csv_at(row, LISTED_CELL), label, s->runs == 0))
        return NO_BASELINE;
    char *first = xasprintf("%s %s", csv_at(row, LISTED_SOURCE), label);
    uint64_t *seen = map_put(shown, digest_bytes(first, strlen(first)));
    if (!(*seen)++)
        read_races(r, s, seal, label);
    free(first);
    draw_from(s, seal_dir(seal));
    sweep_point(s, &s->cell[s->cells - 1], row);
    return s->cells - 1;
}

static size_t sweep_cell(struct report_reading *r, struct report_study *s,
                         const struct csv_row *row, struct map *shown)
{
    const char *hash = csv_at(row, LISTED_CELL);
    struct err e = {0};
    const enum cell_state state = cell_state(s->dir, hash, &e);
    struct seal *seal = state == CELL_DONE ? cell_open(s->dir, hash, &e) : NULL;
    size_t at = NO_BASELINE;

    s->failed += state == CELL_FAILED;
    s->missing += state != CELL_FAILED && state != CELL_DONE;
    if (is_fine(r, &e) && seal)
        at = done_cell(r, s, seal, row, shown);
    seal_close(seal);
    return at;
}

/* Finds the baselines of a sweep's cells. at: the cell of each row. */
static void sweep_baselines(struct report_study *s, const struct listing *l, const size_t *at)
{
    struct map where = {0};

    for (size_t i = 0; i < l->n; i++)
        if (at[i] != NO_BASELINE)
            *map_put(&where, strtoull(csv_at(&l->row[i], LISTED_CELL), NULL, 16)) = at[i] + 1;
    for (size_t i = 0; i < l->n; i++) {
        const char *hash = csv_at(&l->row[i], LISTED_BASELINE);
        const uint64_t *base = *hash ? map_find(&where, strtoull(hash, NULL, 16)) : NULL;
        if (base && at[i] != NO_BASELINE)
            s->cell[at[i]].baseline = *base - 1;
    }
    map_free(&where);
}

static void read_listed(struct report_reading *r, const char *dir, const struct listing *l)
{
    struct report_study *s = study_add(r->to, STUDY_SWEEP, dir);
    size_t *at = xcalloc(l->n + 1, sizeof *at);
    struct map shown = {0};

    s->dir = xstrdup(dir);
    for (size_t i = LISTED_SOURCE; i < l->head.n; i++)
        study_axis_add(s, csv_at(&l->head, i));
    for (size_t i = 0; i < l->n; i++)
        at[i] = sweep_cell(r, s, &l->row[i], &shown);
    sweep_baselines(s, l, at);
    if (s->failed + s->missing)
        fault_add(&r->to->faults,
                  "%s: of %zu cells %zu have failed and %zu are missing; the others are shown. "
                  "`lardsim sweep status` says why",
                  dir, l->n, s->failed, s->missing);
    map_free(&shown);
    free(at);
}

static void read_sweep(struct report_reading *r, const char *dir)
{
    struct listing l;
    struct err e = {0};

    listing_read(&l, dir, &e);
    if (is_fine(r, &e))
        read_listed(r, dir, &l);
    listing_free(&l);
}

/* ---- tables of papers ------------------------------------------------------------------------ */

struct reading_table {
    struct reported *to;
    struct report_study *s; /* NULL: none has begun */
    const char *path;
    char *program, *detector;
};

static const struct word_row claim_words[] = {
    {"claim", WORD_TEXT, offsetof(struct report_claim, text)},
    {"unit", WORD_TEXT, offsetof(struct report_claim, unit)},
    {"verdict", WORD_TEXT, offsetof(struct report_claim, verdict)},
    {"paper", WORD_NUMBER, offsetof(struct report_claim, paper)},
    {"ours", WORD_NUMBER, offsetof(struct report_claim, ours)},
    {"interval-low", WORD_NUMBER, offsetof(struct report_claim, interval[0])},
    {"interval-high", WORD_NUMBER, offsetof(struct report_claim, interval[1])},
    {"low", WORD_NUMBER, offsetof(struct report_claim, low)},
    {"high", WORD_NUMBER, offsetof(struct report_claim, high)}};
static const struct word_row number_words[] = {
    {"program", WORD_TEXT, offsetof(struct report_row, program)},
    {"column", WORD_TEXT, offsetof(struct report_row, column)},
    {"paper", WORD_NUMBER, offsetof(struct report_row, paper)},
    {"ours", WORD_NUMBER, offsetof(struct report_row, ours)}};

static void row_begin(struct reading_table *t, char *column)
{
    struct report_study *s = t->s;

    s->row = xgrow(s->row, s->rows, &s->rows_cap, sizeof *s->row);
    s->row[s->rows++] = (struct report_row){.program = xstrdup(t->program ? t->program : ""),
                                            .column = column,
                                            .paper = NAN,
                                            .ours = NAN};
}

/* Takes a value of the latest column. */
static void take_number_of(struct reading_table *t, const char *name, const char *text)
{
    if (t->s->rows)
        words_take(number_words, ARRAY_SIZE(number_words), &t->s->row[t->s->rows - 1], name, text);
}

static void take_claim(struct reading_table *t, const char *name, const char *text)
{
    struct report_study *s = t->s;

    if (!strcmp(name, "claim")) {
        s->claim = xgrow(s->claim, s->claims, &s->claims_cap, sizeof *s->claim);
        s->claim[s->claims++] = (struct report_claim){
            .text = t->detector ? xasprintf("%s, %s: %s", t->program, t->detector, text)
                                : xstrdup(text),
            .paper = NAN,
            .ours = NAN,
            .low = NAN,
            .high = NAN,
            .interval = {NAN, NAN}};
    } else if (s->claims) {
        words_take(claim_words, ARRAY_SIZE(claim_words), &s->claim[s->claims - 1], name, text);
    }
}

static void replace(char **to, const char *text)
{
    free(*to);
    *to = text ? xstrdup(text) : NULL;
}

/* Rows of one program are told apart by what stands behind its name. */
static void program_append(struct reading_table *t, const char *text)
{
    char *both = xasprintf("%s %s", t->program ? t->program : "", text);

    if (strcmp(text, "null") != 0)
        replace(&t->program, both);
    free(both);
}

static void take_row(struct reading_table *t, const char *name, const char *text)
{
    if (!strcmp(name, "program"))
        replace(&t->program, text);
    else if (!strcmp(name, "step"))
        program_append(t, text);
    else if (!strcmp(name, "columns.column"))
        row_begin(t, xstrdup(text));
    else if (!strncmp(name, "columns.", 8))
        take_number_of(t, name + 8, text);
}

/* Reads a value of lard-table2 or lard-table3, which judge each detector in each program. */
static void take_judged(struct reading_table *t, const char *name, const char *text)
{
    if (!strcmp(name, "program")) {
        replace(&t->program, text);
        replace(&t->detector, "truth");
    } else if (!strcmp(name, "variant") || !strcmp(name, "collector")) {
        program_append(t, text);
    } else if (!strcmp(name, "claims.detector")) {
        replace(&t->detector, text);
    } else if (!strncmp(name, "truth.", 6)) {
        take_claim(t, name + 6, text);
    } else if (!strcmp(name, "claims.claim") || !strcmp(name, "claims.verdict")) {
        take_claim(t, name + 7, text);
    } else if (!strcmp(name, "claims.counts.measure")) {
        row_begin(t, xasprintf("%s %s", t->detector ? t->detector : "", text));
    } else if (!strncmp(name, "claims.counts.", 14)) {
        take_number_of(t, name + 14, text);
    }
}

static void take_table(void *arg, const char *name, const char *text)
{
    struct reading_table *t = arg;

    if (!strcmp(name, "schema")) { /* each table of several begins with it */
        t->s = !strcmp(text, "lardsim-table-1") || !strcmp(text, "lardsim-reproduce-1")
                   ? study_add(t->to, STUDY_TABLE, t->path)
                   : NULL;
        replace(&t->program, NULL);
        replace(&t->detector, NULL);
    } else if (!t->s) {
        return;
    } else if (!strcmp(name, "title")) {
        replace(&t->s->title, text);
    } else if (!strcmp(name, "result")) {
        replace(&t->s->name, text);
    } else if (!strncmp(name, "claims.", 7)) {
        take_claim(t, name + 7, text);
    } else if (!strncmp(name, "programs.", 9)) {
        take_row(t, name + 9, text);
    } else if (!strncmp(name, "cells.", 6)) {
        take_judged(t, name + 6, text);
    }
}

enum { TABLE_MOST = 1 << 28 };

static void read_table(struct report_reading *r, const char *path)
{
    const size_t before = r->to->n;
    struct reading_table t = {.to = r->to, .path = path};
    size_t bytes;
    char *text = file_text(path, TABLE_MOST, &bytes);

    if (!text)
        fault_add(&r->to->faults, "%s: can't be read: %s", path, strerror(errno));
    else if (json_read(text, bytes, take_table, &t))
        fault_add(&r->to->faults,
                  "%s: is no JSON; give a results folder, or what `lardsim reproduce "
                  "NAME --json` wrote",
                  path);
    else if (r->to->n == before)
        fault_add(&r->to->faults,
                  "%s: has another schema; give a results folder, or what `lardsim reproduce NAME "
                  "--json` wrote",
                  path);
    free(t.program);
    free(t.detector);
    free(text);
}

/* ---- whatever it is -------------------------------------------------------------------------- */

static void read_sealed(struct report_reading *r, const char *dir, const struct seal *seal)
{
    struct policies_seen p = {0};
    struct err e = {0};

    if (seal_names(seal, "compare.json"))
        results_json(seal, "compare.json", take_policy, &p, &e);
    if (!is_fine(r, &e)) {
        /* told */
    } else if (p.schema && !strncmp(p.schema, "lardsim-costs-", strlen("lardsim-costs-"))) {
        read_comparison(r, seal, &p);
    } else if (seal_names(seal, "stats.json")) {
        struct report_study *s = runs_study(r->to, dir);
        if (read_run(r, s, seal, dir, NULL, true)) {
            draw_from(s, dir);
            read_races(r, s, seal, NULL);
        }
    } else {
        fault_add(&r->to->faults,
                  "%s: holds no results: neither stats.json nor compare.json nor plan.csv. Give a "
                  "folder that `lardsim run -o`, `compare -o` or `sweep -o` wrote; while a run "
                  "lasts, its folder is empty",
                  dir);
    }
    words_free(policies_words, ARRAY_SIZE(policies_words), &p);
    facts_free(&p.policies);
}

static void read_folder(struct report_reading *r, const char *dir)
{
    struct err e = {0};
    struct stat st;
    char *plan = path_in(dir, "plan.csv");
    const bool sweep = !stat(plan, &st) && S_ISREG(st.st_mode);

    free(plan);
    if (sweep) {
        read_sweep(r, dir);
        return;
    }
    struct seal *seal = seal_open(dir, &e);
    if (is_fine(r, &e))
        read_sealed(r, dir, seal);
    seal_close(seal);
}

static void check_builds(struct report_study *s, struct report_faults *faults)
{
    struct facts builds = {0};
    char *all = NULL;

    for (size_t i = 0; i < s->runs; i++) {
        const char *build = s->run[i].build;
        if (!build || facts_find(&builds, build))
            continue;
        facts_add(&builds, build, "");
        if (builds.n <= 4)
            xappend(&all, ", ", build);
    }
    if (builds.n > 1)
        fault_add(faults,
                  "%s: has results of %zu builds (%s%s); what differs between them may be "
                  "the builds' doing",
                  s->name, builds.n, all, builds.n > 4 ? ", ..." : "");
    free(all);
    facts_free(&builds);
}

int reported_read(struct reported *to, const char *const *path, size_t n, struct err *e)
{
    struct report_reading r = {.to = to};
    struct stat st;
    size_t cells = 0;

    for (size_t i = 0; i < n; i++) {
        if (stat(path[i], &st))
            fault_add(&to->faults, "%s: %s", path[i], strerror(errno));
        else if (S_ISDIR(st.st_mode))
            read_folder(&r, path[i]);
        else
            read_table(&r, path[i]);
    }
    map_free(&r.matches);
    for (size_t i = 0; i < to->n; i++) {
        check_builds(&to->study[i], &to->faults);
        study_complete(&to->study[i]);
        cells += to->study[i].cells + (to->study[i].kind == STUDY_TABLE);
    }
    if (!cells)
        return err_set(e, r.damaged ? LARD_TOLERANCE : LARD_CONFIG, "%s",
                       to->faults.n ? to->faults.at[0] : "nothing to report");
    return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void race_free(struct report_race *race)
{
    struct race_read texts = {.race = *race};

    words_free(race_words, ARRAY_SIZE(race_words), &texts);
    free(race->dir);
    free(race->picture);
    free(race->unexplained);
    for (size_t i = 0; i < race->counts; i++)
        free(race->count[i].policy);
    free(race->count);
    facts_free(&race->verdicts);
    facts_free(&race->said);
}

static void study_free(struct report_study *s)
{
    for (size_t i = 0; i < s->cells; i++) {
        for (size_t k = 0; s->cell[i].point && k < s->axes; k++)
            free(s->cell[i].point[k]);
        free((void *)s->cell[i].point);
        free(s->cell[i].place);
        free(s->cell[i].label);
    }
    for (size_t i = 0; i < s->runs; i++)
        run_free(&s->run[i]);
    for (size_t i = 0; i < s->races; i++)
        race_free(&s->race[i]);
    map_free(&s->race_at);
    for (size_t i = 0; i < s->axes; i++) {
        for (size_t k = 0; k < s->axis[i].n; k++)
            free(s->axis[i].value[k]);
        free((void *)s->axis[i].value);
        free(s->axis[i].name);
        free(s->axis[i].why);
    }
    for (size_t i = 0; i < s->claims; i++)
        words_free(claim_words, ARRAY_SIZE(claim_words), &s->claim[i]);
    for (size_t i = 0; i < s->rows; i++)
        words_free(number_words, ARRAY_SIZE(number_words), &s->row[i]);
    void *const all[] = {s->cell, s->run,   s->race, s->axis,   s->claim,  s->row,
                         s->name, s->title, s->dir,  s->config, s->machine};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        free(all[i]);
}

void reported_free(struct reported *r)
{
    for (size_t i = 0; i < r->n; i++)
        study_free(&r->study[i]);
    free(r->study);
    for (size_t i = 0; i < r->faults.n; i++)
        free(r->faults.at[i]);
    free((void *)r->faults.at);
    *r = (struct reported){0};
}
