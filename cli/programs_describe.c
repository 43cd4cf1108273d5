/* programs_describe.c - lardsim programs describe: what characterises programs, beside what their
 * twins are to have and have; or what capturing them took. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "results/table/table.h"
#include "base/yaml.h"
#include "results/programs/programs.h"
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

struct page_of_programs { /* a row a program */
    struct table table;
    bool captures; /* the costs of capturing, and not the programs' traits */
};

static size_t lines_of(const struct page_of_programs *l)
{
    return l->captures ? FIGURES : ARRAY_SIZE(shown);
}

static void make_heads(struct page_of_programs *l)
{
    table_head(&l->table, (struct table_head){.name = "", .align = TABLE_LEFT});
    for (size_t i = 0; i < lines_of(l); i++)
        table_head(&l->table, (struct table_head){.name = l->captures ? figures[i].name
                                                                      : trait_info[shown[i]].name});
}

static char *number(double x)
{
    return isfinite(x) ? xasprintf("%.*f",
                                   x >= 1000 || x == floor(x) ? 0
                                   : x >= 10                  ? 1
                                                              : 2,
                                   x)
                       : xstrdup("-");
}

static int measured(struct page_of_programs *l, const char *name, const char *source, struct err *e)
{
    struct measure m[TRAIT_COUNT];

    if (source_measure(source, m, e))
        return -1;
    table_text(&l->table, name);
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
        const struct measure *of = &m[shown[i]];
        table_take(&l->table, number(of->of ? (double)of->value / (double)of->of : NAN), false);
    }
    return 0;
}

static char *target(const struct workload *w, const char *trait)
{
    for (const struct workload_aim *a = w->aims; a && a->trait; a++) {
        const double scale = a->scale ? (double)a->scale : 1;
        if (strcmp(a->trait, trait) != 0)
            continue;
        char *least = number((double)a->value / scale), *most = number((double)a->most / scale);
        char *text = a->most ? xasprintf("%s to %s", least, most) : xstrdup(least);
        free(least);
        free(most);
        return text;
    }
    return xstrdup("-");
}

static int twin(struct page_of_programs *l, const char *name, struct err *e)
{
    const struct workload *w = workload_named(name, e);

    if (!w)
        return -1;
    table_take(&l->table, xasprintf("%s, its target", name), false);
    for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
        table_take(&l->table, target(w, trait_info[shown[i]].name), false);
    char *source = xasprintf("workload:%s", name);
    const int failed = measured(l, name, source, e);
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

static int capture_figures(struct page_of_programs *l, const char *name, const char *trace,
                           struct err *e)
{
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

    table_text(&l->table, name);
    for (size_t i = 0; i < FIGURES; i++)
        table_take(&l->table, number(of[i]), false);
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
                       : l->captures ? capture_figures(l, spec, trace, e)
                                     : measured(l, spec, trace, e) ||
                                           (*a.recipe.twin && twin(l, a.recipe.twin, e));

    free(trace);
    program_run_free(&a);
    return failed ? -1 : 0;
}

/* ---- the page ------------------------------------------------------------------------------- */

/* A trait is a line: programs are few, traits many. */
static void print_text(const struct page_of_programs *l)
{
    const struct table *from = &l->table;
    struct table to = {0};

    table_head(&to, (struct table_head){.name = "", .align = TABLE_LEFT, .least = 20, .most = 20});
    for (size_t k = 0; k < table_rows(from); k++)
        table_head(
            &to, (struct table_head){.name = table_at(from, k, 0)->text, .least = 20, .most = 20});
    table_head(&to, (struct table_head){.name = "", .align = TABLE_LEFT});
    for (size_t i = 0; i < lines_of(l); i++) {
        table_text(&to, from->head[i + 1].name);
        for (size_t k = 0; k < table_rows(from); k++)
            table_text(&to, table_at(from, k, i + 1)->text);
        table_text(&to, l->captures ? figures[i].unit : trait_info[shown[i]].unit);
    }
    table_show(&to, stdout, "%s", "");
}

static void print_json(const struct page_of_programs *l)
{
    struct json j;

    json_init(&j, stdout, true);
    json_array(&j);
    for (size_t k = 0; k < table_rows(&l->table); k++) {
        json_object(&j);
        for (size_t i = 0; i < l->table.heads; i++)
            json_key_str(&j, i ? l->table.head[i].name : "name", table_at(&l->table, k, i)->text);
        json_end(&j);
    }
    json_end(&j);
}

static int describe_run(const struct cli *c, struct err *e)
{
    struct page_of_programs l = {.captures = cli_has(c, OPT_MEASURED)};
    int failed = 0;

    make_heads(&l);
    for (size_t i = 0; i < c->args && !failed; i++)
        failed = add(&l, c->arg[i], cli_has(c, OPT_QUIET), e);
    if (!failed && cli_has(c, OPT_MARKDOWN) && !cli_has(c, OPT_JSON))
        table_markdown(&l.table, stdout);
    else if (!failed)
        (cli_has(c, OPT_JSON) ? print_json : print_text)(&l);
    table_free(&l.table);
    return failed ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {
    OPTION("measured", OPT_MEASURED, NULL,
           "Say what capturing took, in place of what they are like"),
    OPTION("markdown", OPT_MARKDOWN, NULL, "Write a table of Markdown"), ROW_JSON, ROW_QUIET,
    ROW_END};

const struct verb verb_programs_describe = {
    .help = &verb_help[HELP_programs_describe], .options = options, .run = describe_run};
