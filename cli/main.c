/* main.c - finds the verb, runs it, prints its error and ends with its exit code. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "sim/lardsim.h"

#define VERB(id) extern const struct verb verb_##id;
#include "cli/verbs.def"
#undef VERB

const struct verb *const verbs[] = {
#define VERB(id) &verb_##id,
#include "cli/verbs.def"
#undef VERB
    NULL};

void cli_note(const char *fmt, ...)
{
    va_list ap;

    fputs("lardsim: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* At exit, so that argp's help is covered, too. */
static void close_stdout(void)
{
    const bool failed = ferror(stdout);

    errno = 0;
    if (fclose(stdout) == 0 && !failed)
        return;
    cli_note("standard output can't be written%s%s; what was printed is not whole",
             errno ? ": " : "", errno ? strerror(errno) : "");
    _exit(LARD_OUTPUT);
}

/* A standard stream that was closed by the caller must not become a file that we open. */
static void open_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
            _exit(LARD_OUTPUT);
}

static void print_version(FILE *out, struct argp_state *state)
{
    (void)state;
    fprintf(out, "lardsim %s\n", lardsim_version());
}

/* ---- which verb ----------------------------------------------------------------------------- */

const char *verb_in_group(const struct verb *v, const char *group)
{
    const size_t n = strlen(group);

    if (n == 0)
        return v->name;
    return strncmp(v->name, group, n) == 0 && v->name[n] == ' ' ? v->name + n + 1 : NULL;
}

static bool group_exists(const char *group)
{
    for (size_t i = 0; verbs[i]; i++)
        if (verb_in_group(verbs[i], group))
            return true;
    return false;
}

static char *group_help(const char *group)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        die("no memory");
    fputs(*group ? "Looks at traces and makes new ones.\v"
                 : "Simulates machines that detect data races, and says which accesses race and "
                   "what the detection costs.\v",
          out);
    for (size_t i = 0; verbs[i]; i++)
        if (verb_in_group(verbs[i], group))
            fprintf(out, "  %-14s %s\n", verb_in_group(verbs[i], group), verbs[i]->summary);
    fprintf(out,
            "\n`lardsim %s%sVERB --help` tells a verb's options; `lardsim explain NAME` what "
            "a parameter, policy, statistic, event or exit code is.",
            group, *group ? " " : "");
    fclose(out);
    return text;
}

struct words { /* the command line from the verb on */
    int argc;
    char **argv;
};

static error_t parse_group(int key, char *arg, struct argp_state *state)
{
    struct words *words = state->input;

    (void)arg;
    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "a verb is missing");
    if (key != ARGP_KEY_ARGS)
        return ARGP_ERR_UNKNOWN;
    words->argc = state->argc - state->next;
    words->argv = state->argv + state->next;
    return 0;
}

static int unknown_verb(const char *group, const char *word, struct err *e)
{
    const char *names[64];
    size_t n = 0;

    for (size_t i = 0; verbs[i] && n < ARRAY_SIZE(names); i++)
        if (verb_in_group(verbs[i], group))
            names[n++] = verb_in_group(verbs[i], group);
    char *hint = did_you_mean(word, names, n);
    const char *gap = *group ? " " : "";
    err_set(e, LARD_USAGE, "%s%sthere is no verb \"%s\"%s`lardsim %s%s--help` lists them", group,
            *group ? ": " : "", word, hint, group, gap);
    free(hint);
    return -1;
}

static const struct verb *find_verb(const char *group, const char *word)
{
    for (size_t i = 0; verbs[i]; i++) {
        const char *name = verb_in_group(verbs[i], group);
        if (name && strcmp(name, word) == 0)
            return verbs[i];
    }
    return NULL;
}

static int run_verb(const struct verb *verb, int argc, char **argv, struct err *e)
{
    struct cli c;

    cli_parse(&c, verb, argc, argv);
    const int code = verb->run(&c, e);
    cli_free(&c);
    return code;
}

/* group: "" or the words so far. */
static int dispatch(const char *group, int argc, char **argv, struct err *e)
{
    char *help = group_help(group), *name = xasprintf("lardsim%s%s", *group ? " " : "", group);
    const struct argp argp = {.parser = parse_group, .args_doc = "VERB ...", .doc = help};
    struct words words = {0, NULL};

    argv[0] = name;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &words);
    argv[0] = NULL;
    free(name);
    free(help);

    const struct verb *verb = find_verb(group, words.argv[0]);
    if (verb)
        return run_verb(verb, words.argc, words.argv, e);
    if (!*group && group_exists(words.argv[0]))
        return dispatch(words.argv[0], words.argc, words.argv, e);
    return unknown_verb(group, words.argv[0], e);
}

int main(int argc, char **argv)
{
    char *nothing[] = {NULL, NULL};
    struct err e = {0, ""};

    open_standard_streams();
    atexit(close_stdout);
    argp_program_version_hook = print_version;
    argp_err_exit_status = LARD_USAGE;
    const int code = dispatch("", argc > 0 ? argc : 1, argc > 0 ? argv : nothing, &e);
    if (code >= 0)
        return code;
    fflush(stdout);
    cli_note("%s", e.text);
    if (e.code == LARD_OUTPUT)
        _exit(e.code); /* close_stdout would say it again */
    return e.code;
}
