/* recipe.c - reads the recipe of a program, and which run of it is asked for. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/program/place.h"
#include "base/text.h"
#include "results/programs/programs.h"

const char *const program_sizes[] = {"small", "medium", NULL};
static const char *const collectors[] = {"serial", "parallel", NULL};
static const char *const lives[] = {"all", "used", NULL};

/* ---- recipes -------------------------------------------------------------------------------- */

#define ROW(name_, type, field, value, help)                                                       \
    {                                                                                              \
        name_, type, offsetof(struct recipe, field), value, 0, 0, "", NULL, help                   \
    }
static const struct param rows[] = {
    ROW("about", PARAM_STRING, about, "", "What the program does, a sentence."),
    ROW("packages", PARAM_LIST, packages, "", "Debian's packages that it needs."),
    ROW("class-path", PARAM_LIST, class_path, "", "Of a Java program: jar files, or patterns."),
    ROW("sources", PARAM_LIST, sources, "", "Of a native one: Debian's source packages."),
    ROW("driver", PARAM_STRING, driver, "", "Driver.java or build.sh, if it is another's."),
    ROW("jvm", PARAM_STRING, jvm, "", "Options of the JVM."),
    ROW("twin", PARAM_STRING, twin, "", "The workload that imitates it."),
    ROW("small", PARAM_STRING, size[0], "", "Arguments; %t stands for the threads."),
    ROW("medium", PARAM_STRING, size[1], "", "Likewise."),
    PARAM_END};

static char *programs_folder(void)
{
    char *folder = place_find(PLACE_PROGRAMS);
    char *whole = realpath(folder, NULL); /* a program is started in another folder */

    if (!whole)
        return folder;
    free(folder);
    return whole;
}

static char *recipe_path(const char *folder, const char *name)
{
    return xasprintf("%s/%s/recipe.yaml", folder, name);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **recipe_names(size_t *n, struct err *e)
{
    char *folder = programs_folder(), **name = xcalloc(1, sizeof *name);
    size_t cap = 1;
    DIR *dir = opendir(folder);
    const struct dirent *at;

    *n = 0;
    while (dir && (at = readdir(dir))) {
        char *path = recipe_path(folder, at->d_name);
        if (at->d_name[0] != '.' && !access(path, R_OK)) {
            name = xgrow(name, *n, &cap, sizeof *name);
            name[(*n)++] = xstrdup(at->d_name);
        }
        free(path);
    }
    if (dir)
        closedir(dir);
    if (!*n) {
        err_set(e, LARD_USAGE,
                "%s: there are no recipes of programs; install lardsim, or name their folder in "
                "LARDSIM_PROGRAMS",
                folder);
        recipe_names_free(name, 0);
        name = NULL;
    } else {
        qsort(name, *n, sizeof *name, by_text);
    }
    free(folder);
    return name;
}

void recipe_names_free(char **name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(name[i]);
    free(name);
}

static int unknown(const char *name, struct err *e)
{
    size_t n;
    char **names = recipe_names(&n, e);

    if (!names)
        return -1;
    char *hint = did_you_mean(name, (const char *const *)names, n);
    err_set(e, LARD_USAGE,
            "program:%.100s: there is no such program%s`lardsim programs list` lists them", name,
            hint);
    free(hint);
    recipe_names_free(names, n);
    return -1;
}

static int check(const struct recipe *r, const char *path, struct err *e)
{
    if (!*r->size[0])
        return err_set(e, LARD_CONFIG, "%s: the arguments of size small are missing", path);
    if (r->sources.n && r->class_path.n)
        return err_set(
            e, LARD_CONFIG,
            "%s: sources are of a native program, and class-path is of a Java one; remove one",
            path);
    return 0;
}

/* Names are letters and digits, so that none leads elsewhere. */
static bool is_name(const char *name)
{
    return *name && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

int recipe_read(struct recipe *r, const char *name, struct err *e)
{
    char *folder = programs_folder(), *path = recipe_path(folder, name);

    *r = (struct recipe){.name = xstrdup(name), .config = config_new(NULL)};
    r->dir = xasprintf("%s/%s", folder, name);
    const int failed = !is_name(name) || access(path, R_OK) ? unknown(name, e)
                       : config_load(r->config, path, e) ||
                               config_bind(r->config, "", rows, r, e) ||
                               config_check_names(r->config, e)
                           ? -1
                           : check(r, path, e);
    free(folder);
    free(path);
    return failed;
}

void recipe_free(struct recipe *r)
{
    free(r->name);
    free(r->dir);
    config_free(r->config);
}

/* ---- what is asked for ---------------------------------------------------------------------- */

const struct param program_rows[] = {
    {"size", PARAM_CHOICE, offsetof(struct program_run, size), "small", 0, 0, "", program_sizes,
     "How much it does: its recipe says what."},
    {"threads", PARAM_U64, offsetof(struct program_run, threads), "4", 1, 256, "threads", NULL,
     "Of the program."},
    {"collector", PARAM_CHOICE, offsetof(struct program_run, collector), "serial", 0, 0, "",
     collectors, "The JVM's garbage collector."},
    {"lives", PARAM_CHOICE, offsetof(struct program_run, lives), "all", 0, 0, "", lives,
     "All memory that is allocated, or what accesses and synchronisation touch: trace strip."},
    PARAM_END};

static int set_each(struct config *c, const char *rest, struct err *e)
{
    while (*rest) {
        const size_t n = strcspn(rest, ",");
        char *one = xasprintf("%.*s", (int)n, rest);
        const int bad = config_set_from(c, one, "program", e);
        free(one);
        if (bad)
            return -1;
        rest += n + (rest[n] == ',');
    }
    return 0;
}

int program_run_read(struct program_run *a, const char *spec, struct err *e)
{
    static const char prefix[] = "program:";
    const char *from = strncmp(spec, prefix, sizeof prefix - 1) ? spec : spec + sizeof prefix - 1;
    const size_t n = strcspn(from, ",");
    char *name = xasprintf("%.*s", (int)n, from);
    struct config *c = config_new(NULL);

    *a = (struct program_run){0};
    const int failed = recipe_read(&a->recipe, name, e) ||
                               set_each(c, from + n + (from[n] == ','), e) ||
                               config_bind(c, "", program_rows, a, e) || config_check_names(c, e)
                           ? -1
                           : 0;
    config_free(c);
    free(name);
    if (!failed && !*a->recipe.size[a->size])
        return err_set(e, LARD_USAGE, "program:%s has no size %s", a->recipe.name,
                       program_sizes[a->size]);
    return failed;
}

void program_run_free(struct program_run *a)
{
    recipe_free(&a->recipe);
}
