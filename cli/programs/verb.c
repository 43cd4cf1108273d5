/* verb.c - lardsim programs list, build and capture. */
#include <stdlib.h>
#include <string.h>

#include "cli/programs/programs.h"

/* ---- list ----------------------------------------------------------------------------------- */

static void print_recipe(const struct recipe *r, int width)
{
    printf("%-*s  %s", width, r->name, r->about);
    for (size_t i = 0; i < r->packages.n; i++)
        printf("%s%s", i ? " " : " (", r->packages.item[i]);
    for (size_t i = 0; i < r->sources.n; i++)
        printf("%s%s", i || r->packages.n ? ", source of " : " (source of ", r->sources.item[i]);
    puts(r->packages.n || r->sources.n ? ")" : "");
}

static void json_list(struct json *j, const char *key, const struct param_list *list)
{
    json_key(j, key);
    json_array(j);
    for (size_t i = 0; i < list->n; i++)
        json_str(j, list->item[i]);
    json_end(j);
}

static void json_recipe(struct json *j, const struct recipe *r)
{
    json_object(j);
    json_key_str(j, "name", r->name);
    json_key_str(j, "about", r->about);
    json_key_str(j, "kind", recipe_native(r) ? "native" : "java");
    json_list(j, "packages", &r->packages);
    json_list(j, "sources", &r->sources);
    json_key_str(j, "twin", *r->twin ? r->twin : NULL);
    for (size_t i = 0; i < PROGRAM_SIZES; i++)
        json_key_str(j, program_sizes[i], *r->size[i] ? r->size[i] : NULL);
    json_end(j);
}

static int list_each(char **name, size_t n, struct json *j, struct err *e)
{
    int width = 0;

    for (size_t i = 0; i < n; i++)
        if ((int)strlen(name[i]) > width)
            width = (int)strlen(name[i]);
    for (size_t i = 0; i < n; i++) {
        struct recipe r;
        const int failed = recipe_read(&r, name[i], e);
        if (!failed && j)
            json_recipe(j, &r);
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
    struct json j;
    size_t n;
    char **name = recipe_names(&n, e);
    const bool json = cli_has(c, OPT_JSON);

    if (!name)
        return -1;
    if (json) {
        json_init(&j, stdout, true);
        json_array(&j);
    }
    const int failed = list_each(name, n, json ? &j : NULL, e);
    if (json)
        json_end(&j);
    else if (!failed)
        puts("next: `lardsim run program:NAME`, which captures it once");
    recipe_names_free(name, n);
    return failed ? -1 : LARD_DONE;
}

static const struct argp_option list_options[] = {ROW_JSON, ROW_END};

const struct verb verb_programs_list = {
    .name = "programs list",
    .args = "",
    .summary = "Lists real programs that can be captured.",
    .text = "In brackets what they are made of: Debian's packages, and sources of packages.",
    .examples = "lardsim programs list\nlardsim programs list --json",
    .options = list_options,
    .run = list_run,
};

/* ---- build and capture ---------------------------------------------------------------------- */

/* path: taken. */
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

static const struct argp_option build_options[] = {ROW_QUIET, ROW_END};
static const struct argp_option capture_options[] = {
    {"again", OPT_AGAIN, NULL, 0, "Capture it also where a capture is kept", 0},
    ROW_QUIET,
    ROW_END};

const struct verb verb_programs_build = {
    .name = "programs build",
    .args = "PROGRAM",
    .summary = "Builds a real program, and says where it is.",
    .text = "Its driver is compiled against Debian's packages, or the program itself from Debian's "
            "sources, for capture. What is missing is named with the command that installs it.",
    .examples = "lardsim programs build xalan",
    .options = build_options,
    .min_args = 1,
    .max_args = 1,
    .run = build_run,
};

const struct verb verb_programs_capture = {
    .name = "programs capture",
    .args = "PROGRAM[,KEY=VALUE...]",
    .summary = "Captures a real program, and says where its trace is.",
    .text =
        "A capture is made once, and kept in $XDG_CACHE_HOME/lardsim/programs (~/.cache). "
        "provenance.yaml beside it says of what: packages and their versions, the driver, the "
        "command. It is made again where that would be another. The program runs alone first, "
        "and must print the same under capture. PROGRAM may be followed by size=small|medium, "
        "threads=N, and collector=serial|parallel. As a source, program:NAME,... does the same.",
    .examples = "lardsim programs capture xalan,size=medium\n"
                "lardsim run program:xalan",
    .options = capture_options,
    .min_args = 1,
    .max_args = 1,
    .run = capture_run,
};
