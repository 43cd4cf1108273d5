/* subject.c - the programs that are compared, and the tools that build each three ways. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/program/place.h"
#include "base/program/stop.h"
#include "base/text.h"
#include "results/validate/validate.h"

const char *const native_kernels[] = {"series", "crypt", "lufact", "sor", "sparse", NULL};

/* ---- tools ---------------------------------------------------------------------------------- */

static int read_version(struct tools *t, struct err *e)
{
    const char *const argv[] = {t->compiler, "--version", NULL};
    struct err why = {0};
    struct child_process c;
    int failed = child_run(&c, argv, &why);

    if (stop_asked(e))
        ;
    else if (failed)
        err_set(e, LARD_USAGE, "%s; install gcc, or name another compiler with --cc", why.text);
    else
        snprintf(t->version, sizeof t->version, "%.*s", (int)strcspn(c.said, "\n"), c.said);
    child_free(&c);
    return failed;
}

int tools_open(struct tools *t, const char *compiler, struct err *e)
{
    *t = (struct tools){.compiler = compiler, .self = place_self()};
    if (!t->self)
        return err_set(e, LARD_USAGE, "where this program lies is not known: /proc/self/exe");
    t->folder = place_find(PLACE_VALIDATE);
    t->wrapper = place_find(PLACE_CC);
    if (place_work(&t->work, "lardsim-validate", "programs are built", e))
        return -1;
    if (setenv("TSAN_OPTIONS", TSAN_SETTINGS, 1))
        return err_set(e, LARD_LIMIT, "TSAN_OPTIONS can't be set");
    return read_version(t, e);
}

static const char *const build_name[BUILDS] = {"plain", "tsan", "capture"};

void tools_close(struct tools *t)
{
    if (t->work)
        (void)folder_remove(t->work);
    free(t->folder);
    free(t->wrapper);
    free(t->self);
    free(t->work);
}

/* ---- compiling ------------------------------------------------------------------------------ */

static char *built(const struct tools *t, const char *name, enum build how)
{
    return xasprintf("%s/%s.%s", t->work, name, build_name[how]);
}

int native_compile(const struct tools *t, const char *name, enum build how, struct err *e)
{
    char *source = xasprintf("%s/%s.c", t->folder, name), *to = built(t, name, how);
    const char *const argv[] = {how == BUILD_CAPTURE ? t->wrapper : t->compiler,
                                "-O2",
                                "-g",
                                "-pthread",
                                "-I",
                                t->folder,
                                "-o",
                                to,
                                source,
                                "-lm",
                                how == BUILD_TSAN ? "-fsanitize=thread" : NULL,
                                NULL};
    struct child_process c = {0};
    int failed = 0;

    if (access(source, R_OK))
        failed = err_set(e, LARD_USAGE,
                         "%s can't be read: %s; install lardsim, or name the folder of its "
                         "programs in LARDSIM_VALIDATE",
                         source, strerror(errno));
    else if (setenv("CC", t->compiler, 1) || child_run(&c, argv, e))
        failed = -1;
    else if (child_failed(&c))
        failed =
            err_set(e, LARD_USAGE, "%s does not build %s%s: %s%s", argv[0], source,
                    how == BUILD_TSAN ? " with -fsanitize=thread" : "", child_complaint(&c),
                    how == BUILD_TSAN ? "; its ThreadSanitizer must be installed (libtsan)" : "");
    child_free(&c);
    free(source);
    free(to);
    return failed;
}

/* ---- programs of others --------------------------------------------------------------------- */

int subject_find(struct subject *s, const char *name, struct err *e)
{
    *s = (struct subject){.name = xstrdup(name)};
    for (size_t i = 0; native_kernels[i]; i++)
        if (!strcmp(native_kernels[i], name))
            return 0;
    char *hint = did_you_mean(name, native_kernels, ARRAY_SIZE(native_kernels) - 1);
    struct err inner = {0};
    s->recipe = xcalloc(1, sizeof *s->recipe);
    int failed = recipe_read(s->recipe, name, &inner);
    if (failed || !recipe_native(s->recipe))
        failed = err_set(e, LARD_USAGE,
                         "validate: there is no program \"%s\"%sthere are series, crypt, lufact, "
                         "sor, sparse, and of `lardsim programs list` those in C",
                         name, hint);
    free(hint);
    return failed;
}

void subject_free(struct subject *s)
{
    if (s->recipe)
        recipe_free(s->recipe);
    free(s->recipe);
    free(s->name);
}

/* Debian's sources, unpacked anew and built by the recipe with compilers that are scripts: what is
 * in the folder of the recipe's own build was compiled for capture. */
static const char build_script[] =
    "set -eu\n"
    "from=$1 to=$2 cc=$3 cxx=$4 flag=$5 driver=$6 real=$7 realxx=$8\n"
    "mkdir \"$to\"\n"
    "cd \"$to\"\n"
    /* lardsim-cc calls what CC names; others know no gaps. */
    "gaps=; [ \"$(basename \"$cc\")\" = lardsim-cc ] || gaps='[ \"$1\" = --gaps ] && shift'\n"
    "line='#!/bin/sh\\n%s\\nCC=%s CXX=%s exec %s %s \"$@\"\\n'\n"
    "printf \"$line\" \"$gaps\" \"$real\" \"$realxx\" \"$cc\" \"$flag\" >cc\n"
    "printf \"$line\" \"$gaps\" \"$real\" \"$realxx\" \"$cxx\" \"$flag\" >c++\n"
    "chmod +x cc c++\n"
    "for d in \"$from\"/*.dsc; do dpkg-source --no-check -x \"$d\" >/dev/null; done\n"
    "CC=$PWD/cc CXX=$PWD/c++ sh -eu \"$driver\" >/dev/null\n"
    "mkdir run\n";

/* g++ for gcc, clang++ for clang, c++ for cc. */
static char *of_cxx(const char *cc)
{
    const size_t n = strlen(cc);

    if (n >= 3 && !strcmp(cc + n - 3, "gcc"))
        return xasprintf("%.*sg++", (int)(n - 3), cc);
    if (n >= 2 && !strcmp(cc + n - 2, "cc"))
        return xasprintf("%.*sc++", (int)(n - 2), cc);
    return xasprintf("%s++", cc);
}

static int build_other(const struct tools *t, const struct subject *s, enum build how,
                       struct err *e)
{
    const struct program_run asked = {.recipe = *s->recipe, .threads = 1};
    char *from = program_build(&asked, false, e), *to = built(t, s->name, how);
    char *cxx = of_cxx(t->compiler), *wrapped = of_cxx(t->wrapper);
    char *driver = xasprintf("%s/build.sh", s->recipe->dir);
    const bool capture = how == BUILD_CAPTURE;
    const char *const argv[] = {"sh",
                                "-c",
                                build_script,
                                "build",
                                from,
                                to,
                                capture ? t->wrapper : t->compiler,
                                capture ? wrapped : cxx,
                                how == BUILD_TSAN ? "-fsanitize=thread" : "",
                                driver,
                                t->compiler,
                                cxx,
                                NULL};
    struct child_process c = {0};
    int failed = from && !setenv("CC", t->compiler, 1) && !setenv("CXX", cxx, 1)
                     ? child_run(&c, argv, e)
                     : -1;

    if (!failed && child_failed(&c))
        failed = err_set(e, LARD_USAGE, "%s does not build with %s: %s", s->name, argv[6],
                         child_complaint(&c));
    child_free(&c);
    free(driver);
    free(wrapped);
    free(cxx);
    free(to);
    free(from);
    return failed;
}

int native_build(const struct tools *t, const struct subject *s, enum build how, struct err *e)
{
    return s->recipe ? build_other(t, s, how, e) : native_compile(t, s->name, how, e);
}

/* The recipe's words, with what stands for threads and folder. */
static char *words_of(const char *text, unsigned threads, const char *folder)
{
    char *all = xstrdup("");

    for (; *text; text++) {
        const bool mark = text[0] == '%' && (text[1] == 't' || text[1] == 'd');
        char *piece = !mark            ? xasprintf("%c", *text)
                      : text[1] == 't' ? xasprintf("%u", threads)
                                       : xstrdup(folder);
        xappend(&all, "", piece);
        free(piece);
        text += mark;
    }
    return all;
}

char *native_command(const struct tools *t, const struct subject *s, enum build how,
                     unsigned threads, enum work work)
{
    char *path = built(t, s->name, how), *text;

    if (!s->recipe) {
        text = xasprintf("exec '%s' %u %d", path, threads, work == WORK_LESS ? 1 : 2);
    } else {
        char *words = words_of(s->recipe->size[work], threads, path);
        text = xasprintf("cd '%s/run' && rm -f * && exec ../program %s", path, words);
        free(words);
    }
    free(path);
    return text;
}
