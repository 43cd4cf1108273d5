/* programs_describe.c - lardsim programs describe: what characterises programs, beside what their
 * twins are to have and have; or what capturing them took. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "base/yaml.h"
#include "workloads/programs/programs.h"
#include "workloads/measure/measure.h"

/* The traits by which two runs of a program are compared. */
static const enum trait shown[] = {TRAIT_EVENTS,     TRAIT_THREADS,         TRAIT_READ_WRITE,
                                   TRAIT_REGION,     TRAIT_UNCHANGED_READS, TRAIT_UNCHANGED_WRITES,
                                   TRAIT_SHARED,     TRAIT_FOREIGN,         TRAIT_LOCK_RATE,
                                   TRAIT_ALLOC_RATE, TRAIT_SURVIVAL,        TRAIT_COLLECTIONS,
                                   TRAIT_COPIES,     TRAIT_FIRST_MISSES,    TRAIT_ARRAY_LOCATIONS,
                                   TRAIT_SHADOWS,    TRAIT_RACE_PAIRS};

/* Figures from measured.yaml beside a trace, and the size of the capture. OWN_TIMES and
 * PROCESS_TIMES: processor seconds of the program's own threads and of its process, with capture to
 * without it. OWN_NS and RECORDER_NS: nanoseconds an event that capture takes the own threads,
 * instrumenting apart, and lardsim. */
enum { OWN_TIMES, PROCESS_TIMES, OWN_NS, INSTRUMENTING, RECORDER_NS, EVENT_BYTES, FIGURES };
static const struct {
    const char *name, *unit;
} figures[FIGURES] = {
    [OWN_TIMES] = {"own-threads", "times"},
    [PROCESS_TIMES] = {"process", "times"},
    [OWN_NS] = {"own-threads-ns", "ns an event, more than without capture"},
    [INSTRUMENTING] = {"instrumenting", "s"},
    [RECORDER_NS] = {"recorder-ns", "ns an event"},
    [EVENT_BYTES] = {"bytes", "bytes an event"},
};

enum { CELL = 40, CELLS = ARRAY_SIZE(shown) > FIGURES ? ARRAY_SIZE(shown) : FIGURES };
struct described { /* a row of the table */
    char *name;
    char cell[CELLS][CELL];
};
struct page_of_programs {
    struct described *at; /* owns */
    size_t n, cap;
    bool captures; /* the costs of capturing, and not the programs' traits */
};

static size_t lines_of(const struct page_of_programs *l)
{
    return l->captures ? FIGURES : ARRAY_SIZE(shown);
}

static const char *line_name(const struct page_of_programs *l, size_t i)
{
    return l->captures ? figures[i].name : trait_info[shown[i]].name;
}

static const char *line_unit(const struct page_of_programs *l, size_t i)
{
    return l->captures ? figures[i].unit : trait_info[shown[i]].unit;
}

static struct described *new_line(struct page_of_programs *l, char *name) /* takes name */
{
    l->at = xgrow(l->at, l->n, &l->cap, sizeof *l->at);
    l->at[l->n] = (struct described){.name = name};
    return &l->at[l->n++];
}

static void write_number(char to[static CELL], double x)
{
    if (!isfinite(x)) {
        strcpy(to, "-");
        return;
    }
    snprintf(to, CELL, "%.*f", x >= 1000 || x == floor(x) ? 0 : x >= 10 ? 1 : 2, x);
}

static int measured(struct page_of_programs *l, char *name, const char *source, struct err *e)
{
    struct described *line = new_line(l, name);
    struct measure m[TRAIT_COUNT];

    if (source_measure(source, m, e))
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
        const struct measure *of = &m[shown[i]];
        if (of->of)
            write_number(line->cell[i], (double)of->value / (double)of->of);
        else
            strcpy(line->cell[i], "-");
    }
    return 0;
}

static void target(char to[static CELL], const struct workload *w, const char *trait)
{
    strcpy(to, "-");
    for (const struct workload_aim *a = w->aims; a && a->trait; a++) {
        const double scale = a->scale ? (double)a->scale : 1;
        char least[CELL / 2], most[CELL];
        if (strcmp(a->trait, trait) != 0)
            continue;
        write_number(to, (double)a->value / scale);
        if (!a->most)
            continue;
        snprintf(least, sizeof least, "%.15s", to);
        write_number(most, (double)a->most / scale);
        snprintf(to, CELL, "%s to %.15s", least, most);
    }
}

static int twin(struct page_of_programs *l, const char *name, struct err *e)
{
    const struct workload *w = workload_named(name, e);

    if (!w)
        return -1;
    struct described *line = new_line(l, xasprintf("%s, its target", name));
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
        target(line->cell[i], w, trait_info[shown[i]].name);
    char *source = xasprintf("workload:%s", name);
    const int failed = measured(l, xstrdup(name), source, e);
    free(source);
    return failed;
}

static double value(const struct yaml_flat *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (!strcmp(f->entry[i].name, name))
            return strtod(f->entry[i].value.item[0], NULL);
    return NAN;
}

static int capture_figures(struct page_of_programs *l, char *name, const char *trace, struct err *e)
{
    struct described *line = new_line(l, name);
    const char *slash = strrchr(trace, '/');
    char *path = xasprintf("%.*s/measured.yaml", (int)(slash - trace), trace);
    char *whole =
        xasprintf("%.*s/trace.lard", (int)(slash - trace), trace); /* of all lives, used or not */
    struct yaml_flat f = {.n = 0};
    struct stat is;
    const int failed = yaml_flat_file(&f, path, e);
    const double events = value(&f, "events"), own = value(&f, "own-seconds"),
                 plain = value(&f, "plain-own-seconds");
    const double of[FIGURES] = {
        [OWN_TIMES] = own / plain,
        [PROCESS_TIMES] = value(&f, "process-seconds") / value(&f, "plain-process-seconds"),
        [OWN_NS] = (own - plain) * 1e9 / events,
        [INSTRUMENTING] = value(&f, "instrumenting-seconds"),
        [RECORDER_NS] = value(&f, "recorder-seconds") * 1e9 / events,
        [EVENT_BYTES] = stat(whole, &is) ? NAN : (double)is.st_size / events,
    };

    for (size_t i = 0; i < FIGURES; i++)
        write_number(line->cell[i], of[i]);
    yaml_flat_free(&f);
    free(whole);
    free(path);
    return failed;
}

static int add(struct page_of_programs *l, const char *spec, bool quiet, struct err *e)
{
    struct program_run a;
    char *trace = program_run_read(&a, spec, e) ? NULL : program_capture(&a, false, quiet, e);
    const int failed = !trace        ? -1
                       : l->captures ? capture_figures(l, xstrdup(spec), trace, e)
                                     : measured(l, xstrdup(spec), trace, e) ||
                                           (*a.recipe.twin && twin(l, a.recipe.twin, e));

    free(trace);
    program_run_free(&a);
    return failed ? -1 : 0;
}

/* ---- the page ------------------------------------------------------------------------------- */

static void print_markdown(const struct page_of_programs *l)
{
    printf("| |");
    for (size_t i = 0; i < lines_of(l); i++)
        printf(" %s |", line_name(l, i));
    printf("\n| --- |");
    for (size_t i = 0; i < lines_of(l); i++)
        printf(" --: |");
    putchar('\n');
    for (size_t k = 0; k < l->n; k++) {
        printf("| %s |", l->at[k].name);
        for (size_t i = 0; i < lines_of(l); i++)
            printf(" %s |", l->at[k].cell[i]);
        putchar('\n');
    }
}

/* A trait is a line: programs are few, traits many. */
static void print_text(const struct page_of_programs *l)
{
    printf("%-20s", "");
    for (size_t k = 0; k < l->n; k++)
        printf("  %20s", l->at[k].name);
    putchar('\n');
    for (size_t i = 0; i < lines_of(l); i++) {
        printf("%-20s", line_name(l, i));
        for (size_t k = 0; k < l->n; k++)
            printf("  %20s", l->at[k].cell[i]);
        printf("  %s\n", line_unit(l, i));
    }
}

static void print_json(const struct page_of_programs *l)
{
    struct json j;

    json_init(&j, stdout, true);
    json_array(&j);
    for (size_t k = 0; k < l->n; k++) {
        json_object(&j);
        json_key_str(&j, "name", l->at[k].name);
        for (size_t i = 0; i < lines_of(l); i++)
            json_key_str(&j, line_name(l, i), l->at[k].cell[i]);
        json_end(&j);
    }
    json_end(&j);
}

static int describe_run(const struct cli *c, struct err *e)
{
    struct page_of_programs l = {.captures = cli_has(c, OPT_MEASURED)};
    int failed = 0;

    for (size_t i = 0; i < c->args && !failed; i++)
        failed = add(&l, c->arg[i], cli_has(c, OPT_QUIET), e);
    if (!failed)
        (cli_has(c, OPT_JSON)       ? print_json
         : cli_has(c, OPT_MARKDOWN) ? print_markdown
                                    : print_text)(&l);
    for (size_t k = 0; k < l.n; k++)
        free(l.at[k].name);
    free(l.at);
    return failed ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {
    OPTION("measured", OPT_MEASURED, NULL,
           "Say what capturing took, in place of what they are like"),
    OPTION("markdown", OPT_MARKDOWN, NULL, "Write a table of Markdown"), ROW_JSON, ROW_QUIET,
    ROW_END};

const struct verb verb_programs_describe = {
    .name = "programs describe",
    .args = "PROGRAM[,KEY=VALUE...]...",
    .summary = "Measures real programs, beside the workloads that imitate them.",
    .text = "Of each program its capture is measured, which is made if need be. Below it stand "
            "what its twin is to have, which comes of the papers (`lardsim workload describe` says "
            "of which), and what the twin has. `lardsim list traits` explains the lines.\n"
            "With --measured: the processor time of the program's own threads, and of its process, "
            "with capture to without it; what capture took the own threads for an event; what "
            "instrumenting took; what lardsim took for an event; bytes of the trace for an event.",
    .examples = "lardsim programs describe xalan\n"
                "lardsim programs describe --markdown xalan sunflow h2,size=medium\n"
                "lardsim programs describe --measured xalan",
    .options = options,
    .run = describe_run,
};
