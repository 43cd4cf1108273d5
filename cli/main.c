/* main.c - finds the verb, runs it, prints its error and ends with its exit code. Every way out of
 * the program passes here or in argp, which knows our code for a wrong command line. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli.h"
#include "results/programs/programs.h"
#include "base/program/stop.h"
#include "policy/checker.h"
#include "sim/lardsim.h"

#define VERB(id) extern const struct verb verb_##id;
#include "cli/verbs.def"
#undef VERB

const struct verb *const verbs[] = {
#define VERB(id) &verb_##id,
#include "cli/verbs.def"
#undef VERB
    NULL};

/* ---- the command line ----------------------------------------------------------------------- */

static struct {
    const char **word; /* owns */
    size_t n;
} given;

/* argp changes the order of argv, and verbs their names. */
static void keep_words(int argc, char **argv)
{
    given.n = argc > 0 ? (size_t)argc : 1;
    given.word = xcalloc(given.n, sizeof *given.word);
    given.word[0] = "lardsim"; /* wherever it lies here */
    for (size_t i = 1; i < given.n; i++)
        given.word[i] = argv[i];
}

const char *const *cli_words(size_t *n)
{
    *n = given.n;
    return given.word;
}

static void free_words(void)
{
    free(given.word);
}

/* ---- standard streams ----------------------------------------------------------------------- */

/* Called at exit, so that argp's help is covered, too. A result that could not be written whole (a
 * full disk, a closed pipe) must not end with success, and stdio tells that only on closing. */
static void close_stdout(void)
{
    const bool failed = ferror(stdout);

    errno = 0;
    if (fclose(stdout) == 0 && !failed)
        return;
    print_note("standard output can't be written%s%s; what was printed is not whole",
               errno ? ": " : "", errno ? strerror(errno) : "");
    _exit(LARD_OUTPUT);
}

/* If the caller has closed a standard stream, the next file that is opened gets its number, and
 * messages would go into a result. Streams that are missing become /dev/null; input is opened for
 * writing and output for reading, so that using them is an error. */
static void open_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
            _exit(LARD_OUTPUT);
}

/* ---- which verb ----------------------------------------------------------------------------- */

const char *verb_in_group(const struct verb *v, const char *group)
{
    const size_t n = strlen(group);

    if (n == 0)
        return v->help->name;
    return strncmp(v->help->name, group, n) == 0 && v->help->name[n] == ' ' ? v->help->name + n + 1
                                                                            : NULL;
}

/* Groups are the first words of verbs that have two; they have no row of their own. "" is the
 * program. */
const char *verb_group_summary(const char *group)
{
    static const struct {
        const char *name, *summary;
    } groups[] = {{"", "Simulates machines that detect data races: which accesses race, and how "
                       "many cycles each detector costs."},
                  {"trace", "Looks at traces and makes new ones."},
                  {"workload", "Lists the built-in programs, and records them."},
                  {"capture", "Records the execution of a real program."},
                  {"programs", "Real programs that are captured by recipe, and measured."},
                  {"sweep", "Runs the combinations of a spec, and collects their results."}};

    for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
        if (strcmp(group, groups[i].name) == 0)
            return groups[i].summary;
    return NULL;
}

/* argp wraps help to the width that it likes; lines that are short enough it keeps as they are. So
 * the list is wrapped here, with room to spare. */
static void list_verbs(const char *group, FILE *out)
{
    enum { LINE = 78, BEFORE = 2, AFTER = 2 };
    size_t longest = 0;

    for (size_t i = 0; verbs[i]; i++) {
        const char *name = verb_in_group(verbs[i], group);
        longest = name && strlen(name) > longest ? strlen(name) : longest;
    }
    const size_t column = BEFORE + longest + AFTER;
    for (size_t i = 0; verbs[i]; i++) {
        const char *name = verb_in_group(verbs[i], group);
        if (!name)
            continue;
        fprintf(out, "%*s%-*s", BEFORE, "", (int)(longest + AFTER), name);
        print_broken(out, verbs[i]->help->summary, column, column, LINE);
    }
}

static char *group_help(const char *group)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = xmemstream(&text, &size);

    fprintf(out, "%s\v", verb_group_summary(group));
    list_verbs(group, out);
    fprintf(out,
            "\n`lardsim %s%sVERB --help` or `lardsim help %s%sVERB` shows the options of a verb; "
            "`lardsim explain NAME` explains a parameter, policy, statistic, event or exit code.",
            group, *group ? " " : "", group, *group ? " " : "");
    fclose(out);
    return text;
}

struct words { /* the command line from the verb on */
    int argc;
    char **argv;
};

/* Options before the verb are lardsim's own; the words from the verb on are the verb's to parse. */
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
    if (!*group && n < ARRAY_SIZE(names))
        names[n++] = "help";
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

/* Replaces operands "program:NAME" by the paths of their captures. The paths live as long as the
 * process. */
static int find_programs(struct cli *c, struct err *e)
{
    for (size_t i = 0; i < c->args; i++) {
        const char *path = verb_in_group(c->verb, "programs")
                               ? NULL
                               : program_source(c->arg[i], cli_has(c, OPT_QUIET), e);
        if (e->code)
            return -1;
        if (path)
            c->arg[i] = path;
    }
    return 0;
}

/* `-p` gives a policy, or several with commas between. */
static int check_labels(const struct cli *c, struct err *e)
{
    for (size_t i = 0; i < c->n; i++)
        for (const char *p = c->given[i].key == 'p' ? c->given[i].value : ""; *p;) {
            const size_t n = strcspn(p, ",");
            if (lardsim_label_check(p, n, e)) {
                e->code = LARD_USAGE;
                return -1;
            }
            p += n + (p[n] == ',');
        }
    return 0;
}

static int run_verb(const struct verb *verb, int argc, char **argv, struct err *e)
{
    struct cli c;

    cli_parse(&c, verb, argc, argv);
    const int code = check_labels(&c, e) || find_programs(&c, e) ? -1 : verb->run(&c, e);
    if (code < 0)
        stop_judge(e);
    cli_free(&c);
    return code;
}

/* Finds the verb among those of the group, and runs it. group: "" or the words so far. */
static int dispatch(const char *group, int argc, char **argv, struct err *e)
{
    char *help = group_help(group), *name = xasprintf("lardsim%s%s", *group ? " " : "", group);
    const struct argp argp = {
        .parser = parse_group, .args_doc = "VERB ...", .doc = help, .children = cli_common};
    struct words words = {0, NULL};

    argv[0] = name;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, &words))
        die("no memory for the command line");
    argv[0] = NULL;
    free(name);
    free(help);

    const struct verb *verb = find_verb(group, words.argv[0]);
    const bool more = words.argc > 1 && find_verb(words.argv[0], words.argv[1]);
    if (verb && !(more && !*group)) /* "sweep" is a verb, and "sweep status" another */
        return run_verb(verb, words.argc, words.argv, e);
    if (!*group && verb_group_summary(words.argv[0]))
        return dispatch(words.argv[0], words.argc, words.argv, e);
    return unknown_verb(group, words.argv[0], e);
}

/* "help VERB" is "VERB --help". */
static void turn_help(int argc, char **argv)
{
    static char option[] = "--help";

    if (argc < 2 || strcmp(argv[1], "help") != 0)
        return;
    for (int i = 2; i < argc; i++)
        argv[i - 1] = argv[i];
    argv[argc - 1] = option;
}

/* Refuses options that can't be printed, as the C library would repeat them in its own message as
 * they stand. */
static int check_options(int argc, char **argv, struct err *e)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        uint32_t c;
        size_t n;
        for (const char *s = argv[i]; *argv[i] == '-' && *s; s += n ? n : 1) {
            n = utf8_char(s, &c);
            if (n && char_hidden(c))
                return err_set(e, LARD_USAGE,
                               "an option has characters that can't be shown: %s; if its value has "
                               "them, give that as a word of its own",
                               argv[i]);
        }
    }
    return 0;
}

/* Finds the verb, runs it, tells its error; the error's code is the exit code. */
int main(int argc, char **argv)
{
    char *nothing[] = {NULL, NULL};
    struct err e = {0, ""};

    open_standard_streams();
    atexit(close_stdout);
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error of writing */
    keep_words(argc, argv);
    atexit(free_words);
    argp_err_exit_status = LARD_USAGE;
    turn_help(argc, argv);
    int code = check_options(argc, argv, &e);
    if (code >= 0)
        code = dispatch("", argc > 0 ? argc : 1, argc > 0 ? argv : nothing, &e);
    if (code >= 0)
        return code;
    fflush(stdout);
    print_note("%s", e.text);
    if (e.code == LARD_OUTPUT)
        _exit(e.code); /* close_stdout would say it again */
    return e.code;
}
