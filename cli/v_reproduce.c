/* v_reproduce.c - lardsim reproduce: runs the built-in programs as LARD's Tables 2 and 3 run
 * theirs, and judges what the paper says of each program and collector. Its counts are of other
 * programs, so that claims are compared, not numbers; the printed numbers are in results/paper/. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/reproduce.h"

/* ---- what is run ---------------------------------------------------------------------------- */

/* All with one small heap (SETTINGS), so that there are collections. */
#define SETTINGS "heap=256Ki,tlab=256"
static const struct program {
    const char *name, *settings; /* of the workload, beside those; NULL: none */
    bool racy;
} programs[] = {
    {"pool", NULL, false},
    {"pool", "racy=on", true},
    {"montecarlo", NULL, false},
    {"raytracer", NULL, false},
    {"raytracer", "racy=on", true},
    {"hedc", "queries=200", false},
    {"hedc", "queries=200,racy=on", true},
    {"tsp", NULL, false},
    {"tsp", "racy=on", true},
    {"multiset", NULL, false},
    {"philosopher", NULL, false},
    {"philosopher", "race=on", true},
    {"churn", "steps=500", false},
    {"churn", "steps=500,race=on", true},
};

static const struct collector {
    const char *name;
    bool moves;
} collectors[] = {{"marksweep", false}, {"semispace", true}};

struct cell { /* a program under a collector */
    const struct program *program;
    const struct collector *collector;
    struct measured is;
};

/* ---- what the paper says -------------------------------------------------------------------- */

/* No case: what the claim speaks of does not happen here, or it allows both. */
enum verdict { HOLDS, FAILS, NO_CASE, VERDICTS };
static const char *const verdict_text[] = {"holds", "FAILS", "no case"};

static enum verdict when(bool holds)
{
    return holds ? HOLDS : FAILS;
}

static bool has_false(const struct cell *c, enum view_id v)
{
    return c->is.view[v].falses.accesses > 0;
}

static bool has_missed(const struct cell *c, enum view_id v)
{
    return c->is.view[v].missed.accesses > 0;
}

static bool has_races(const struct cell *c)
{
    return c->is.truth.accesses > 0;
}

static enum verdict judge_exact(const struct cell *c)
{
    return when(!has_false(c, VIEW_LARD) && !has_missed(c, VIEW_LARD));
}

static enum verdict judge_all_memory(const struct cell *c)
{
    return when(has_false(c, VIEW_ALL_MEMORY));
}

static enum verdict judge_all_sync(const struct cell *c)
{
    return has_races(c) ? when(has_missed(c, VIEW_ALL_SYNC)) : NO_CASE;
}

static enum verdict judge_no_clear(const struct cell *c)
{
    if (c->is.uses_again == 0)
        return when(!has_false(c, VIEW_NO_CLEAR));
    return has_false(c, VIEW_NO_CLEAR) ? HOLDS : NO_CASE;
}

static enum verdict judge_no_copy(const struct cell *c)
{
    if (!c->collector->moves || !has_races(c))
        return when(!has_missed(c, VIEW_NO_COPY));
    return has_missed(c, VIEW_NO_COPY) ? HOLDS : NO_CASE;
}

static enum verdict judge_naive(const struct cell *c)
{
    return when(has_false(c, VIEW_NAIVE) && (!has_races(c) || has_missed(c, VIEW_NAIVE)));
}

static enum verdict judge_more(const struct cell *c)
{
    const struct tally *lard = &c->is.view[VIEW_LARD].races, *naive = &c->is.view[VIEW_NAIVE].races;

    return when(naive->accesses > lard->accesses && naive->sites > lard->sites &&
                naive->system > 0);
}

struct claim {
    enum view_id view;
    const char *text;
    enum verdict (*judge)(const struct cell *c);
};

static const struct claim claims2[] = {
    {VIEW_LARD, "finds what an accurate detector finds", judge_exact},
    {VIEW_NAIVE, "reports more, at more sites, also the system's", judge_more},
    {0, NULL, NULL}};
static const struct claim claims3[] = {
    {VIEW_LARD, "no false, no missed", judge_exact},
    {VIEW_ALL_MEMORY, "false everywhere", judge_all_memory},
    {VIEW_ALL_SYNC, "misses where there are races", judge_all_sync},
    {VIEW_NO_CLEAR, "false only where memory is reused", judge_no_clear},
    {VIEW_NO_COPY, "misses only what races and moves", judge_no_copy},
    {VIEW_NAIVE, "false everywhere, misses where races are", judge_naive},
    {0, NULL, NULL}};

/* LARD 5.2: "All of these LARD extensions are necessary for accuracy in practice." */
static const struct need {
    enum view_id view;
    bool missed; /* else false */
    const char *text;
} needs[] = {{VIEW_ALL_MEMORY, false, "somewhere it has false races"},
             {VIEW_ALL_SYNC, true, "somewhere it misses races"},
             {VIEW_NO_CLEAR, false, "somewhere it has false races"},
             {VIEW_NO_COPY, true, "somewhere it misses races"}};

static const struct paper {
    const char *name, *title;
    const struct claim *claims;
    bool differences; /* the cells show false and missed, and needs are judged; else races */
} papers[] = {
    {"lard-table2", "LARD, Table 2: races found, each program and collector", claims2, false},
    {"lard-table3", "LARD, Table 3: false and missed races with single extensions left out",
     claims3, true}};

/* ---- text ----------------------------------------------------------------------------------- */

struct report {
    const struct paper *paper;
    FILE *csv; /* NULL: none */
    bool quiet;
    unsigned verdicts[VERDICTS];           /* how many of each */
    unsigned somewhere[ARRAY_SIZE(needs)]; /* cells where it is so */
};

static const char *variant(const struct program *p)
{
    return p->racy ? "racy" : "race-free";
}

static void print_head(const struct report *r, const struct cell *c)
{
    const struct measured *m = &c->is;

    printf("\n%s, %s, %s: %" PRIu64 " events; truth: %" PRIu64 " racy accesses at %" PRIu64
           " sites\n",
           c->program->name, variant(c->program), c->collector->name, m->events, m->truth.accesses,
           m->truth.sites);
    printf("  memory of another object used %" PRIu64 " times, a moved object %" PRIu64 " times\n",
           m->uses_again, m->uses_moved);
    if (r->paper->differences)
        printf("  %-10s %8s %6s %8s %8s %6s %6s  %-41s %s\n", "detector", "F DRE", "F PC", "F sys",
               "F sysPC", "M DRE", "M PC", "paper", "ours");
    else
        printf("  %-10s %8s %6s %8s %8s  %-47s %s\n", "detector", "DRE", "PC", "sys", "sysPC",
               "paper", "ours");
}

static void print_claim(const struct report *r, const struct cell *c, const struct claim *claim,
                        enum verdict v)
{
    const struct tally *f =
        r->paper->differences ? &c->is.view[claim->view].falses : &c->is.view[claim->view].races;
    const struct tally *m = &c->is.view[claim->view].missed;

    printf("  %-10s %8" PRIu64 " %6" PRIu64 " %8" PRIu64 " %8" PRIu64, view_names[claim->view],
           f->accesses, f->sites, f->system, f->system_sites);
    if (r->paper->differences)
        printf(" %6" PRIu64 " %6" PRIu64 "  %-41s", m->accesses, m->sites, claim->text);
    else
        printf("  %-47s", claim->text);
    printf(" %s\n", verdict_text[v]);
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static void csv_row(const struct report *r, const struct cell *c, const char *view,
                    const char *measure, uint64_t value)
{
    fprintf(r->csv, "%s,%s,%s,%s,%s,%s,%" PRIu64 "\n", r->paper->name, c->program->name,
            variant(c->program), c->collector->name, view, measure, value);
}

static void csv_tally(const struct report *r, const struct cell *c, const char *view,
                      const char *of, const struct tally *t)
{
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"accesses", t->accesses},
                  {"sites", t->sites},
                  {"system", t->system},
                  {"system-sites", t->system_sites}};

    for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
        char *measure = xasprintf("%s.%s", of, counts[i].name);
        csv_row(r, c, view, measure, counts[i].value);
        free(measure);
    }
}

static void csv_cell(const struct report *r, const struct cell *c)
{
    csv_row(r, c, "", "events", c->is.events);
    csv_row(r, c, "", "uses.again", c->is.uses_again);
    csv_row(r, c, "", "uses.moved", c->is.uses_moved);
    csv_tally(r, c, "truth", "races", &c->is.truth);
    for (size_t v = 0; v < VIEWS; v++) {
        csv_tally(r, c, view_names[v], "races", &c->is.view[v].races);
        csv_tally(r, c, view_names[v], "false", &c->is.view[v].falses);
        csv_tally(r, c, view_names[v], "missed", &c->is.view[v].missed);
    }
}

/* ---- judging -------------------------------------------------------------------------------- */

/* That a program has races is part of what it is for: else the claims would say nothing. */
static void judge_program(struct report *r, const struct cell *c)
{
    const enum verdict v = when(has_races(c) == c->program->racy);

    r->verdicts[v]++;
    if (v == FAILS && !r->quiet)
        printf("  %s: the program should be %s\n", verdict_text[v], variant(c->program));
}

static void report_cell(struct report *r, const struct cell *c)
{
    if (!r->quiet)
        print_head(r, c);
    judge_program(r, c);
    for (const struct claim *claim = r->paper->claims; claim->text; claim++) {
        const enum verdict v = claim->judge(c);
        r->verdicts[v]++;
        if (!r->quiet)
            print_claim(r, c, claim, v);
        if (r->csv)
            fprintf(r->csv, "%s,%s,%s,%s,%s,verdict,%s\n", r->paper->name, c->program->name,
                    variant(c->program), c->collector->name, view_names[claim->view],
                    verdict_text[v]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
        r->somewhere[i] +=
            needs[i].missed ? has_missed(c, needs[i].view) : has_false(c, needs[i].view);
    if (r->csv)
        csv_cell(r, c);
}

static void report_needs(struct report *r)
{
    if (!r->paper->differences)
        return;
    if (!r->quiet)
        puts("\nover all programs: every extension is needed");
    for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
        const enum verdict v = when(r->somewhere[i] > 0);
        r->verdicts[v]++;
        if (!r->quiet)
            printf("  %-10s %-30s in %u of %zu  %s\n", view_names[needs[i].view], needs[i].text,
                   r->somewhere[i], ARRAY_SIZE(programs) * ARRAY_SIZE(collectors), verdict_text[v]);
    }
}

static int report_all(struct report *r, struct err *e)
{
    if (!r->quiet)
        printf("%s\nDRE: racy accesses; PC: their sites; F: false; M: missed; sys: those of the "
               "runtime system.\nThe truth goes by (object identity, offset), not by addresses, "
               "Clear or Copy.\n",
               r->paper->title);
    for (size_t p = 0; p < ARRAY_SIZE(programs); p++)
        for (size_t k = 0; k < ARRAY_SIZE(collectors); k++) {
            struct cell c = {.program = &programs[p], .collector = &collectors[k]};
            const char *own = programs[p].settings;
            char *spec = xasprintf("%s,gc=%s," SETTINGS "%s%s", programs[p].name,
                                   collectors[k].name, own ? "," : "", own ? own : "");
            const int status = reproduce_measure(spec, &c.is, e);
            free(spec);
            if (status)
                return -1;
            report_cell(r, &c);
        }
    report_needs(r);
    if (!r->quiet)
        printf("\nclaims: %u hold, %u fail, %u have no case\n", r->verdicts[HOLDS],
               r->verdicts[FAILS], r->verdicts[NO_CASE]);
    return 0;
}

/* ---- the verb ------------------------------------------------------------------------------- */

static const struct paper *paper_find(const char *name, struct err *e)
{
    for (size_t i = 0; i < ARRAY_SIZE(papers); i++)
        if (!strcmp(papers[i].name, name))
            return &papers[i];
    err_set(e, LARD_USAGE, "reproduce: %.100s: no such result; lard-table2 and lard-table3 are",
            name);
    return NULL;
}

static int check_file(const struct cli *c, const char *path, struct err *e)
{
    struct stat st;

    if (!path || cli_has(c, OPT_OVERWRITE) || stat(path, &st) || !S_ISREG(st.st_mode))
        return 0;
    return err_set(e, LARD_OUTPUT, "%s: exists; give --overwrite to replace it", path);
}

static int run_reproduce(const struct cli *c, struct err *e)
{
    const char *path = cli_get(c, 'o');
    struct report r = {.quiet = cli_has(c, OPT_QUIET), .paper = paper_find(c->arg[0], e)};

    if (!r.paper || check_file(c, path, e))
        return -1;
    struct outfile *file = path ? outfile_open(path, e) : NULL;
    if (path && !file)
        return -1;
    r.csv = file ? outfile_stream(file) : NULL;
    if (r.csv)
        fputs("table,program,variant,collector,detector,measure,value\n", r.csv);
    if (report_all(&r, e)) {
        outfile_abort(file);
        return -1;
    }
    if (file && outfile_commit(file, e))
        return -1;
    if (r.verdicts[FAILS])
        return err_set(e, LARD_TOLERANCE, "%s: %u claims fail; the table says which", r.paper->name,
                       r.verdicts[FAILS]);
    return LARD_DONE;
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write all counts to this file as CSV, too; - is standard output",
     0},
    {"overwrite", OPT_OVERWRITE, NULL, 0, "Replace FILE if it exists", 0},
    {"quiet", OPT_QUIET, NULL, 0, "No table", 0},
    ROW_END};

const struct verb verb_reproduce = {
    .name = "reproduce",
    .args = "lard-table2|lard-table3",
    .summary = "Runs the built-in programs as a table of a paper runs its own, and judges what the "
               "paper claims.",
    .text = "Each program runs under a collector that moves objects and one that does not. The six "
            "detectors are the preset lard-table3; the truth goes by objects, not by addresses. "
            "What is judged is what the paper says of every program and collector; its counts are "
            "of other programs. With a claim that fails the exit code is 6.",
    .examples = "lardsim reproduce lard-table3\n"
                "lardsim reproduce --quiet -o table2.csv lard-table2",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_reproduce,
};
