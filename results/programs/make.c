/* make.c - builds programs and captures them, into folders that are kept (kept.c), each with
 * a text that says what it was made of: packages and their versions, the driver, what
 * records. While that text would be the same, what is there is taken. */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/program/child.h"
#include "base/program/place.h"
#include "results/programs/kept.h"
#include "results/programs/programs.h"
#include "sim/lardsim.h"

/* ---- texts ---------------------------------------------------------------------------------- */

enum { FILE_MOST = 1 << 30 };

/* Hashes a file; "0": it can't be read. */
static char *file_hash(const char *path)
{
    size_t n;
    char *text = file_text(path, FILE_MOST, &n);
    char *hash =
        text ? xasprintf("%016llx", (unsigned long long)digest_bytes(text, n)) : xstrdup("0");

    free(text);
    return hash;
}

static bool same_files(const char *a, const char *b)
{
    size_t n = 0, m = 0;
    char *x = file_text(a, FILE_MOST, &n), *y = file_text(b, FILE_MOST, &m);
    const bool same = x && y && n == m && !memcmp(x, y, n);

    free(x);
    free(y);
    return same;
}

/* ---- lists of words, NULL-terminated -------------------------------------------------------- */

struct word_list {
    char **at; /* owns, and each */
    size_t n, cap;
};

static void word_add(struct word_list *w, char *word) /* takes it */
{
    w->at = xgrow(w->at, w->n + 1, &w->cap, sizeof *w->at);
    w->at[w->n++] = word;
    w->at[w->n] = NULL;
}

static void words_free(struct word_list *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->at[i]);
    free(w->at);
}

/* The words of a text: %t becomes the threads, %d where the program was built. */
static void add_words(struct word_list *w, const char *text, uint64_t threads, const char *built)
{
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        const size_t n = strcspn(text, " ");
        char *word = NULL;
        for (const char *at = text; at < text + n; at++) {
            char *piece = at[0] == '%' && at[1] == 't'
                              ? xasprintf("%llu", (unsigned long long)threads)
                          : at[0] == '%' && at[1] == 'd' ? xstrdup(built)
                                                         : xasprintf("%c", *at);
            at += at[0] == '%' && (at[1] == 't' || at[1] == 'd');
            xappend(&word, "", piece);
            free(piece);
        }
        word_add(w, word);
        text += n;
    }
}

static char *one_line(const struct word_list *w)
{
    char *line = xstrdup("");

    for (size_t i = 0; i < w->n; i++)
        xappend(&line, i ? " " : "", w->at[i]);
    return line;
}

/* ---- what is there -------------------------------------------------------------------------- */

/* Jar files as a class path; the caller's. NULL: one is missing. */
static char *class_path(const struct recipe *r, struct err *e)
{
    char *path = NULL;

    for (size_t i = 0; i < r->class_path.n; i++) {
        glob_t found;
        if (glob(r->class_path.item[i], 0, NULL, &found)) {
            err_set(e, LARD_USAGE,
                    "program:%s: %s is not there, though its packages are; mend class-path in "
                    "%s/recipe.yaml",
                    r->name, r->class_path.item[i], r->dir);
            free(path);
            return NULL;
        }
        for (size_t k = 0; k < found.gl_pathc; k++)
            xappend(&path, ":", found.gl_pathv[k]);
        globfree(&found);
    }
    return path;
}

static char *driver_of(const struct recipe *r)
{
    return path_in(r->dir, *r->driver ? r->driver : recipe_native(r) ? "build.sh" : "Driver.java");
}

/* ---- building ------------------------------------------------------------------------------- */

struct building {
    const struct recipe *recipe;
    char *driver, *class_path, *with; /* own; with: java, or the compiler's wrapper */
    struct recipe_needs needs;
};

static void building_free(struct building *b)
{
    free(b->driver);
    free(b->class_path);
    free(b->with);
    needs_free(&b->needs);
}

static int build_java(const struct building *b, const char *dir, struct err *e)
{
    const char *const argv[] = {"javac", "-nowarn",     "-d",      dir,
                                "-cp",   b->class_path, b->driver, NULL};
    struct child c = {.argv = argv};

    return command_run(&c, e);
}

static int get_sources(const struct recipe *r, const char *dir, struct err *e)
{
    for (size_t i = 0; i < r->sources.n; i++) {
        const char *const argv[] = {"apt-get", "source", "-q", r->sources.item[i], NULL};
        struct child c = {.argv = argv, .dir = dir};
        struct err inner = {0};
        if (command_run(&c, &inner))
            return err_set(e, (enum lard_exit)inner.code,
                           "program:%s: the source of Debian's package %s can't be had: %s (has "
                           "`apt-get update` read the entry of type deb-src?)",
                           r->name, r->sources.item[i], inner.text);
    }
    return 0;
}

static int build_native(const struct building *b, const char *dir, struct err *e)
{
    char *cc = place_find(PLACE_CC), *cxx = place_find(PLACE_CXX);
    char *set_cc = xasprintf("CC=%s", cc), *set_cxx = xasprintf("CXX=%s", cxx);
    const char *const argv[] = {"env", set_cc, set_cxx, "sh", "-eu", b->driver, NULL};
    struct child c = {.argv = argv, .dir = dir};
    const int failed = get_sources(b->recipe, dir, e) || command_run(&c, e) ? -1 : 0;

    free(set_cxx);
    free(set_cc);
    free(cxx);
    free(cc);
    return failed;
}

static int build(void *arg, const char *dir, struct err *e)
{
    const struct building *b = arg;

    return recipe_native(b->recipe) ? build_native(b, dir, e) : build_java(b, dir, e);
}

static char *build_provenance(const struct building *b)
{
    char *recipe = path_in(b->recipe->dir, "recipe.yaml"), *hash = file_hash(recipe),
         *driver = file_hash(b->driver);
    char *text =
        xasprintf("program: %s\nrecipe: \"%s\"\ndriver: \"%s\"\npackages: %s\nbuilt-with: '%s'\n",
                  b->recipe->name, hash, driver, b->needs.there ? b->needs.there : "none", b->with);

    free(driver);
    free(hash);
    free(recipe);
    return text;
}

/* Hashes the recorders: the runtime that lardsim-cc links, or the agents of the JVM. */
static char *recorders(bool native)
{
    static const enum place_id in_native[] = {PLACE_NATIVE},
                               in_java[] = {PLACE_AGENT, PLACE_AGENT_JAR};
    char *all = NULL;

    for (size_t i = 0; i < (native ? ARRAY_SIZE(in_native) : ARRAY_SIZE(in_java)); i++) {
        char *path = place_find(native ? in_native[i] : in_java[i]), *hash = file_hash(path);
        xappend(&all, " ", hash);
        free(hash);
        free(path);
    }
    return all;
}

static int building_begin(struct building *b, const struct recipe *r, struct err *e)
{
    *b = (struct building){.recipe = r, .driver = driver_of(r)};
    needs_read(&b->needs, r);
    if (needs_met(&b->needs, r, e))
        return -1;
    b->with = recipe_native(r) ? recorders(true) : xstrdup(b->needs.with);
    b->class_path = b->with && !recipe_native(r) ? class_path(r, e) : NULL;
    return b->with && (b->class_path || recipe_native(r)) ? 0 : -1;
}

/* Returns the folder of the build; NULL: error. provenance: the caller's. */
static char *built(const struct building *b, bool quiet, char **provenance, struct err *e)
{
    char *to = kept_path(b->recipe->name, e);

    *provenance = build_provenance(b);
    if (!to || kept_made_of(to, *provenance, quiet))
        return to;
    if (b->needs.sources && needs_said(&b->needs, b->recipe, e)) {
        free(to);
        return NULL;
    }
    if (!quiet)
        print_note("building program:%s in %s", b->recipe->name, to);
    const struct kept_fill f = {build, (void *)b, .quiet = quiet};
    if (!kept_make(b->recipe->name, *provenance, &f, e))
        return to;
    free(to);
    return NULL;
}

char *program_build(const struct program_run *a, bool quiet, struct err *e)
{
    struct building b;
    char *provenance = NULL;

    kept_tidy();
    char *to = building_begin(&b, &a->recipe, e) ? NULL : built(&b, quiet, &provenance, e);

    free(provenance);
    building_free(&b);
    return to;
}

/* ---- capturing ------------------------------------------------------------------------------ */

struct capturing {
    const struct program_run *asked;
    struct word_list plain; /* the command */
};

static void command_of(struct word_list *w, const struct program_run *a, const struct building *b,
                       const char *folder)
{
    const struct recipe *r = &a->recipe;

    if (recipe_native(r)) {
        word_add(w, path_in(folder, "program"));
    } else {
        word_add(w, xstrdup("java"));
        word_add(w, xstrdup(a->collector == COLLECTOR_PARALLEL ? "-XX:+UseParallelGC"
                                                               : "-XX:+UseSerialGC"));
        add_words(w, r->jvm, a->threads, folder);
        word_add(w, xstrdup("-cp"));
        word_add(w, xasprintf("%s:%s", folder, b->class_path));
        word_add(w, xstrdup("Driver"));
    }
    add_words(w, r->size[a->size], a->threads, folder);
}

/* Runs the program in a folder that is removed again: other files that it writes are of no use. */
static int run_in(const char *dir, const char *out, const struct word_list *w, struct err *e)
{
    char *place = path_in(dir, "run");
    struct child c = {.argv = (const char *const *)w->at, .dir = place, .out = out};
    const int failed = mkdir(place, 0777) ? outfile_error(e, place, errno) : command_run(&c, e);

    (void)folder_remove(place);
    free(place);
    return failed;
}

/* Captures the program, after a run without capture: one that fails, or prints something else under
 * capture, is none to keep. */
static int capture(void *arg, const char *dir, struct err *e)
{
    const struct capturing *k = arg;
    char *trace = path_in(dir, "trace.lard"), *out = path_in(dir, "output"),
         *alone = path_in(dir, "alone"), *measured = path_in(dir, "measured.yaml"),
         *self = place_self();
    const char *const words[] = {"capture",    recipe_native(&k->asked->recipe) ? "native" : "java",
                                 "-q",         "--baseline",
                                 "--measured", measured,
                                 "-o",         trace,
                                 "--"};
    struct word_list w = {.n = 0};

    word_add(&w, self ? self : xstrdup("lardsim"));
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        word_add(&w, xstrdup(words[i]));
    for (size_t i = 0; i < k->plain.n; i++)
        word_add(&w, xstrdup(k->plain.at[i]));
    int failed = run_in(dir, alone, &k->plain, e) || run_in(dir, out, &w, e) ? -1 : 0;
    if (!failed && !same_files(alone, out))
        failed =
            err_set(e, LARD_TRACE, "program:%s: its output under capture is another than its own",
                    k->asked->recipe.name);
    if (!failed && unlink(alone))
        failed = outfile_error(e, alone, errno);
    words_free(&w);
    free(measured);
    free(alone);
    free(out);
    free(trace);
    return failed;
}

static char *capture_name(const struct program_run *a)
{
    return xasprintf("%s-%s-%llu%s", a->recipe.name, program_sizes[a->size],
                     (unsigned long long)a->threads,
                     a->collector == COLLECTOR_PARALLEL ? "-parallel" : "");
}

/* Captures into the folder of that name; 0 or -1. */
static int capture_into(const char *name, const struct program_run *a, const struct building *b,
                        bool again, bool quiet, struct err *e)
{
    const bool native = recipe_native(&a->recipe);
    struct capturing k = {.asked = a};
    char *provenance, *folder = built(b, quiet, &provenance, e),
                      *to = folder ? kept_path(name, e) : NULL;

    if (!to) {
        free(folder);
        free(provenance);
        return -1;
    }
    command_of(&k.plain, a, b, folder);
    char *with = recorders(native), *line = one_line(&k.plain);
    char *more = xasprintf("recorded-by: '%s %s'\ncommand: '%s'\n", lardsim_version(), with, line);
    xappend(&provenance, "", more);
    int failed = 0;
    if (again || !kept_made_of(to, provenance, quiet)) {
        if (!quiet)
            print_note("capturing program:%s, once, in %s", a->recipe.name, to);
        const struct kept_fill f = {capture, &k, again, quiet};
        failed = kept_make(name, provenance, &f, e);
    }
    free(more);
    free(line);
    free(with);
    words_free(&k.plain);
    free(to);
    free(folder);
    free(provenance);
    return failed;
}

/* The capture without what its accesses never touch, beside it: what another strip made is left, as
 * somebody may be reading it. Two at once make the same twice, the later one in the other's place.
 * 0 or -1. */
static int strip(const char *trace, const char *to, bool quiet, struct err *e)
{
    if (!access(to, R_OK))
        return 0;
    char *self = place_self();
    const char *const argv[] = {self ? self : "lardsim", "trace", "strip", "-q",
                                "--overwrite",           trace,   to,      NULL};
    struct child c = {.argv = argv};
    uint64_t limit;
    const int failed =
        kept_limit(&limit, e) || command_run(&c, e) || kept_shrink(quiet, e) ? -1 : 0;

    free(self);
    return failed;
}

char *program_capture(const struct program_run *a, bool again, bool quiet, struct err *e)
{
    char *name = capture_name(a), *to = kept_path(name, e),
         *trace = to ? path_in(to, "trace.lard") : NULL,
         *used = to ? xasprintf("%s/used-%d.lard", to, STRIP_VERSION) : NULL;
    struct building b = {.recipe = NULL};
    struct err inner = {0};
    int failed = to ? 0 : -1;

    kept_tidy();
    /* A capture outlives its packages: it goes where they are not. */
    if (!failed && !building_begin(&b, &a->recipe, &inner))
        failed = capture_into(name, a, &b, again, quiet, e);
    else if (!failed && (again || kept_hold(to, quiet) < 0))
        failed = err_set(e, (enum lard_exit)inner.code, "%s", inner.text);
    if (!failed && a->lives == LIVES_USED)
        failed = strip(trace, used, quiet, e);
    building_free(&b);
    char *made = failed ? NULL : xstrdup(a->lives == LIVES_USED ? used : trace);
    free(name);
    free(to);
    free(trace);
    free(used);
    return made;
}
