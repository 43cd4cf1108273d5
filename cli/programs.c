/* programs.c - lardsim programs list, build, capture and forget. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "results/programs/kept.h"
#include "results/programs/programs.h"

/* ---- list ----------------------------------------------------------------------------------- */

/* Calls `word` for each thing that is missing, in words, each once. */
static void missing_each(const struct recipe *r, void (*word)(void *arg, const char *text),
                         void *arg)
{
    struct recipe_needs s;

    needs_read(&s, r);
    for (size_t i = 0; i < s.packages; i++)
        word(arg, s.package[i]);
    if (s.agents)
        word(arg, "a lardsim with agents of Java");
    if (s.sources)
        word(arg, "sources of apt");
    needs_free(&s);
}

static void print_word(void *words, const char *text)
{
    printf("%s%s", *(size_t *)words ? ", " : "; missing: ", text);
    ++*(size_t *)words;
}

static void json_word(void *json, const char *text)
{
    json_str(json, text);
}

static void print_recipe(const struct recipe *r, int width)
{
    size_t missing = 0;

    printf("%-*s  %s", width, r->name, r->about);
    for (size_t i = 0; i < r->packages.n; i++)
        printf("%s%s", i ? " " : " (", r->packages.item[i]);
    for (size_t i = 0; i < r->sources.n; i++)
        printf("%s%s", i || r->packages.n ? ", source of " : " (source of ", r->sources.item[i]);
    fputs(r->packages.n || r->sources.n ? ")" : "", stdout);
    missing_each(r, print_word, &missing);
    putchar('\n');
}

static void json_kept(struct json *j, const struct recipe *r, const struct kept_list *l)
{
    json_key_array(j, "kept");
    for (size_t i = 0; i < l->n; i++) {
        if (strcmp(l->at[i].program, r->name) != 0)
            continue;
        json_object(j);
        json_key_str(j, "name", l->at[i].name);
        JSON_COUNTS(j, {"bytes", l->at[i].bytes}, {"used", (uint64_t)l->at[i].used.tv_sec});
        json_end(j);
    }
    json_end(j);
}

/* Prints what is kept, the last used first. */
static void print_kept(const struct kept_list *l, uint64_t limit)
{
    char *root = kept_root();

    printf("\nkept in %s: %.1f MiB", root, (double)l->bytes / (1 << 20));
    if (limit)
        printf(" of %.0f, the limit", (double)limit / (1 << 20));
    putchar('\n');
    for (size_t i = l->n; i-- > 0;) {
        char day[16];
        struct tm at;
        strftime(day, sizeof day, "%Y-%m-%d", localtime_r(&l->at[i].used.tv_sec, &at));
        printf("  %-32s %8.1f MiB  used %s\n", l->at[i].name, (double)l->at[i].bytes / (1 << 20),
               day);
    }
    free(root);
}

static void json_recipe(struct json *j, const struct recipe *r, const struct kept_list *l)
{
    json_object(j);
    JSON_TEXTS(j, {"name", r->name}, {"about", r->about},
               {"kind", recipe_native(r) ? "native" : "java"});
    json_key_strs(j, "packages", r->packages.item, r->packages.n);
    json_key_strs(j, "sources", r->sources.item, r->sources.n);
    json_key_array(j, "missing");
    missing_each(r, json_word, j);
    json_end(j);
    json_key_str(j, "twin", *r->twin ? r->twin : NULL);
    for (size_t i = 0; i < PROGRAM_SIZES; i++)
        json_key_str(j, program_sizes[i], *r->size[i] ? r->size[i] : NULL);
    json_kept(j, r, l);
    json_end(j);
}

static int list_each(char **name, size_t n, struct json *j, const struct kept_list *l,
                     struct err *e)
{
    int width = 0;

    for (size_t i = 0; i < n; i++)
        if ((int)strlen(name[i]) > width)
            width = (int)strlen(name[i]);
    for (size_t i = 0; i < n; i++) {
        struct recipe r;
        const int failed = recipe_read(&r, name[i], e);
        if (!failed && j)
            json_recipe(j, &r, l);
        else if (!failed)
            print_recipe(&r, width);
        recipe_free(&r);
        if (failed)
            return -1;
    }
    return 0;
}

static int list_run(const struct cli *c, struct err *e)
{
    struct kept_list l;
    struct json j;
    uint64_t limit;
    size_t n;
    char **name = kept_limit(&limit, e) ? NULL : recipe_names(&n, e);
    const bool json = cli_has(c, OPT_JSON);

    if (!name)
        return -1;
    kept_read(&l);
    if (json) {
        json_init(&j, stdout, true);
        json_array(&j);
    }
    const int failed = list_each(name, n, json ? &j : NULL, &l, e);
    if (json)
        json_end(&j);
    if (!json && !failed && l.n)
        print_kept(&l, limit);
    if (!json && !failed)
        puts("next: `lardsim run program:NAME`, which captures it once");
    kept_list_free(&l);
    recipe_names_free(name, n);
    return failed ? -1 : LARD_DONE;
}

const struct verb verb_programs_list = {
    .help = &verb_help[HELP_programs_list], .options = cli_json_option, .run = list_run};

/* ---- build and capture ---------------------------------------------------------------------- */

/* Prints the path, and frees it. */
static int print_path(char *path)
{
    if (!path)
        return -1;
    puts(path);
    free(path);
    return LARD_DONE;
}

static int build_run(const struct cli *c, struct err *e)
{
    struct program_run a;
    char *path =
        program_run_read(&a, c->arg[0], e) ? NULL : program_build(&a, cli_has(c, OPT_QUIET), e);

    program_run_free(&a);
    return print_path(path);
}

static int capture_run(const struct cli *c, struct err *e)
{
    struct program_run a;
    char *path = program_run_read(&a, c->arg[0], e)
                     ? NULL
                     : program_capture(&a, cli_has(c, OPT_AGAIN), cli_has(c, OPT_QUIET), e);

    program_run_free(&a);
    return print_path(path);
}

/* ---- forget ---------------------------------------------------------------------------------- */

static int forget_run(const struct cli *c, struct err *e)
{
    const bool all = !strcmp(c->arg[0], "all");
    struct kept_list l;
    uint64_t gone = 0;
    size_t n = 0;

    kept_read(&l);
    for (size_t i = 0; i < l.n && !e->code; i++) {
        const bool meant =
            all || !strcmp(l.at[i].program, c->arg[0]) || !strcmp(l.at[i].name, c->arg[0]);
        if (!meant || kept_forget(&l.at[i], e))
            continue;
        gone += l.at[i].bytes;
        n++;
    }
    kept_list_free(&l);
    if (e->code)
        return -1;
    if (!n && !all)
        return err_set(e, LARD_USAGE,
                       "nothing is kept of %.100s; `lardsim programs list` says what is",
                       c->arg[0]);
    if (!cli_has(c, OPT_QUIET))
        print_note("removed %zu folders, %.1f MiB", n, (double)gone / (1 << 20));
    return LARD_DONE;
}

static const struct argp_option build_options[] = {ROW_QUIET, ROW_END};
static const struct argp_option capture_options[] = {
    OPTION("again", OPT_AGAIN, NULL, "Capture it also where a capture is kept"), ROW_QUIET,
    ROW_END};

const struct verb verb_programs_build = {
    .help = &verb_help[HELP_programs_build], .options = build_options, .run = build_run};

const struct verb verb_programs_capture = {
    .help = &verb_help[HELP_programs_capture], .options = capture_options, .run = capture_run};

const struct verb verb_programs_forget = {
    .help = &verb_help[HELP_programs_forget], .options = build_options, .run = forget_run};
