/* validate.c - lardsim validate: measures what a real detector costs on this host, predicts it, and
 * puts both side by side. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/outfile.h"
#include "cli/cli.h"
#include "results/validate/validate.h"

enum {
    OPT_PROGRAMS = 512,
    OPT_THREADS,
    OPT_REPEATS,
    OPT_QUICK,
    OPT_CC,
    OPT_DESCRIBE,
    OPT_SYSFS,
    OPT_PROBE
};

struct trial_plan {
    struct subject program[8];
    size_t programs;
    unsigned threads[2];
    size_t n; /* of threads */
    uint64_t runs;
    double least; /* nanoseconds of a run */
};

static int choose_programs(struct trial_plan *p, const char *names, struct err *e)
{
    char *text = xstrdup(names), *rest = text, *name;
    int failed = 0;

    while (!failed && (name = strsep(&rest, ",")))
        failed = p->programs == ARRAY_SIZE(p->program)
                     ? err_set(e, LARD_USAGE, "validate: --programs has more than %zu names",
                               ARRAY_SIZE(p->program))
                     : subject_find(&p->program[p->programs++], name, e);
    free(text);
    return failed;
}

static int make_plan(struct trial_plan *p, const struct cli *c, const struct host_facts *h,
                     struct err *e)
{
    const char *names = cli_get(c, OPT_PROGRAMS);
    const bool quick = cli_has(c, OPT_QUICK);
    uint64_t threads = h->cores > 64 ? 64 : h->cores;

    *p = (struct trial_plan){.runs = quick ? 3 : 9, .least = quick ? 2e7 : 3e8};
    if (cli_u64(c, OPT_REPEATS, &p->runs, e) || cli_u64(c, OPT_THREADS, &threads, e))
        return -1;
    if (p->runs < 1 || p->runs > 1000)
        return err_set(e, LARD_USAGE, "validate: --repeats is 1 to 1000");
    if (threads < 1 || threads > 64)
        return err_set(e, LARD_USAGE, "validate: --threads is 1 to 64");
    p->threads[p->n++] = 1;
    if (threads > 1)
        p->threads[p->n++] = (unsigned)threads;
    return choose_programs(p, names ? names : "series,crypt,lufact,sor,sparse", e);
}

/* ---- a host --------------------------------------------------------------------------------- */

static int read_file(struct host_facts *h, const char *path, struct err *e)
{
    FILE *f = fopen(path, "re");
    char text[4096];

    if (!f)
        return err_set(e, LARD_USAGE, "%s can't be read; --probe names a file of measurements",
                       path);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return host_values(h, text, path, e);
}

/* "Running under ThreadSanitizer v2" */
static int know_runtime(struct tools *t, const struct subject *s, struct err *e)
{
    char *text = native_command(t, s, BUILD_TSAN, 1, WORK_LESS);
    const char *const argv[] = {
        "env", "TSAN_OPTIONS=" TSAN_SETTINGS " verbosity=1", "sh", "-c", text, NULL};
    static const char says[] = "under ThreadSanitizer ";
    struct child_process c;
    int failed = child_run(&c, argv, e);

    if (!failed && child_failed(&c))
        failed = err_set(e, LARD_USAGE, "%s failed: %s", s->name, child_complaint(&c));
    const char *at = failed ? NULL : strstr(c.error, says);
    if (at)
        snprintf(t->generation, sizeof t->generation, "%.*s",
                 (int)strcspn(at + strlen(says), " *\n"), at + strlen(says));
    child_free(&c);
    free(text);
    return failed;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int do_all(struct pairing *o, size_t *n, const struct trial_plan *p, struct tools *t,
                  const struct host_facts *h, bool quiet, struct err *e)
{
    for (size_t i = 0; i < p->programs; i++) {
        const struct subject *s = &p->program[i];
        for (unsigned b = 0; b < BUILDS; b++)
            if (native_build(t, s, (enum build)b, e))
                return -1;
        if (i == 0 && know_runtime(t, s, e))
            return -1;
        for (size_t k = 0; k < p->n; k++, ++*n) {
            const unsigned threads = p->threads[k];
            struct pairing *to = &o[*n];
            *to = (struct pairing){.name = s->name, .threads = threads};
            if (!quiet)
                print_note("%s, %u thread%s", s->name, threads, threads == 1 ? "" : "s");
            if (native_measure(t, s, threads, (unsigned)p->runs, p->least, &to->measured, e) ||
                native_predict(t, h, s, threads, &to->measured, &to->predicted, e))
                return -1;
        }
    }
    return 0;
}

static int write_file(const struct cli *c, const struct tools *t, const struct host_facts *h,
                      const struct pairing *o, size_t n, struct err *e)
{
    const char *path = cli_get(c, 'o');
    struct outfile *f = path ? outfile_open(path, cli_has(c, OPT_OVERWRITE), e) : NULL;

    if (!path)
        return 0;
    if (!f)
        return -1;
    report_json(outfile_stream(f), t, h, o, n);
    return outfile_commit(f, e);
}

static int compare_all(const struct cli *c, const struct trial_plan *p, struct tools *t,
                       const struct host_facts *h, struct err *e)
{
    struct pairing o[2 * ARRAY_SIZE(p->program)];
    size_t n = 0;

    if (do_all(o, &n, p, t, h, cli_has(c, OPT_QUIET), e) || write_file(c, t, h, o, n, e))
        return -1;
    report_page(stdout, h, o, n);
    if (strcmp(t->generation, "v2"))
        printf("%s has ThreadSanitizer%s%s: policy tsan is v2, of gcc 12\n", t->compiler,
               *t->generation ? " " : "", t->generation);
    return 0;
}

static int do_plan(const struct cli *c, const struct trial_plan *p, struct tools *t,
                   struct host_facts *h, struct err *e)
{
    const char *compiler = cli_get(c, OPT_CC), *probe = cli_get(c, OPT_PROBE);
    const bool describe = cli_has(c, OPT_DESCRIBE);

    if ((!describe || !probe) && tools_open(t, compiler ? compiler : "cc", e))
        return -1;
    if (probe ? read_file(h, probe, e) : native_probe(t, h, e))
        return -1;
    if (!describe)
        return compare_all(c, p, t, h, e);
    report_machine(stdout, h, p->threads[p->n - 1]);
    return 0;
}

static int validate_run(const struct cli *c, struct err *e)
{
    const char *sysfs = cli_get(c, OPT_SYSFS), *path = cli_get(c, 'o');
    struct trial_plan p = {.n = 0};
    struct tools t = {0};
    struct host_facts h;

    const int failed = (path && outfile_check(path, cli_has(c, OPT_OVERWRITE), e)) ||
                       host_caches(&h, sysfs ? sysfs : HOST_SYSFS, e) || make_plan(&p, c, &h, e) ||
                       do_plan(c, &p, &t, &h, e);
    tools_close(&t);
    for (size_t i = 0; i < p.programs; i++)
        subject_free(&p.program[i]);
    return failed ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {
    OPTION("output", 'o', "FILE", "Write all of it to this file, as JSON"),
    OPTION("overwrite", OPT_OVERWRITE, NULL, "Replace FILE if it exists"),
    OPTION("programs", OPT_PROGRAMS, "NAME,...", "These alone"),
    OPTION("threads", OPT_THREADS, "N", "Threads, beside one alone; by default the processors"),
    OPTION("repeats", OPT_REPEATS, "N", "Runs of each program (9)"),
    OPTION("quick", OPT_QUICK, NULL, "Short runs, three of each"),
    OPTION("cc", OPT_CC, "COMPILER", "Compile with this (cc)"),
    OPTION("describe", OPT_DESCRIBE, NULL,
           "Only measure the host, and print the machine that stands for it, for --config"),
    OPTION("sysfs", OPT_SYSFS, "FOLDER", "Where the kernel tells of processors and caches"),
    OPTION("probe", OPT_PROBE, "FILE", "Take what the probe would measure from this file"),
    ROW_QUIET,
    ROW_END};

const struct verb verb_validate = {
    .help = &verb_help[HELP_validate], .options = options, .run = validate_run};
