/* args.c - the one argp parser behind all verbs: it notes options and operands in the order given.
 * What they mean is the verb's business. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/build.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/text.h"
#include "cli/cli.h"
#include "sim/lardsim.h"

/* The verb's row of an option. NULL: it has none. */
static const struct argp_option *option_row(const struct verb *verb, int key)
{
    for (const struct argp_option *o = verb->options; o && o->name; o++)
        if (o->key == key)
            return o;
    return NULL;
}

static void note_option(struct cli *c, int key, const char *value, struct argp_state *state)
{
    /* An empty value is most often a shell variable that is unset. */
    if (value && !*value)
        argp_error(state, "the value of --%s is empty; leave the option out, or give one",
                   option_row(c->verb, key)->name);
    c->given = xgrow(c->given, c->n, &c->cap, sizeof *c->given);
    c->given[c->n++] = (struct given_option){key, value};
}

/* The numbers of operands that a usage line allows: "IN OUT" is two, "[SOURCE]" at most one,
 * "DIR..." one or more; of "A | B" one stands there. */
struct operands {
    size_t least, most;
};
static struct operands operands_of(const char *args)
{
    struct operands n = {0, 0};
    bool optional = false;

    for (const char *word = args; *word; word += strspn(word, " ")) {
        const size_t length = strcspn(word, " ");
        const char *last = word + length - (*word == '[' && word[length - 1] == ']');
        const bool more = last - word > 3 && !strncmp(last - 3, "...", 3);
        optional |= *word == '[';
        n.least += !optional;
        n.most = more ? SIZE_MAX : *word == '|' ? n.most - 1 : n.most + 1;
        word += length;
    }
    return n;
}

/* argp_error does not return: it ends the process. */
static void note_operand(struct cli *c, const char *arg, struct argp_state *state)
{
    char *shown = text_visible(arg);

    if (c->args == operands_of(c->verb->help->args).most)
        argp_error(state, "\"%s\" is one operand too many", shown);
    if (!*arg && !(c->verb->command && c->args))
        argp_error(state, "an operand is empty; operands are: %s", c->verb->help->args);
    free(shown);
    c->arg = xgrow(c->arg, c->args, &c->args_cap, sizeof *c->arg);
    c->arg[c->args++] = arg;
}

/* argp asks for every key; those that the verb has no row for are refused. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cli *c = state->input;

    if (key == ARGP_KEY_ARG) {
        note_operand(c, arg, state);
        while (c->verb->command && state->next < state->argc)
            note_operand(c, state->argv[state->next++], state);
    } else if (key == ARGP_KEY_END && c->args < operands_of(c->verb->help->args).least) {
        argp_error(state, "operands are missing: %s", c->verb->help->args);
    } else if (option_row(c->verb, key)) {
        note_option(c, key, arg, state);
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- options of every verb ------------------------------------------------------------------ */

/* The options that argp has by itself, but for -h. */
const struct argp_option cli_common_options[] = {
    {"help", 'h', NULL, 0, "Give this help list", -1},
    {NULL, '?', NULL, OPTION_ALIAS, NULL, 0},
    OPTION("usage", OPT_USAGE, NULL, "Give a short usage message"),
    OPTION("version", 'V', NULL, "Print program version"),
    ROW_END};

const struct argp_option cli_json_option[] = {ROW_JSON, ROW_END};

static void print_version(void)
{
    char id[BUILD_ID];

    build_id(id);
    printf("lardsim %s\nbuild %s\ncompiler %s\n", lardsim_version(), id, build_known()->compiler);
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    switch (key) {
    case 'h':
    case '?':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    case OPT_USAGE:
        argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
        return 0;
    case 'V':
        print_version();
        exit(0);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp common = {.options = cli_common_options, .parser = parse_common};
const struct argp_child cli_common[] = {{&common, 0, NULL, -1}, {NULL, 0, NULL, 0}};

/* The summary, then the text and the examples: argp prints what is before the \v above the options,
 * what is behind it below them. Owned by the caller. */
static char *help_text(const struct verb *v)
{
    char *help = NULL;
    size_t size = 0;
    FILE *out = xmemstream(&help, &size);

    fprintf(out, "%s\v%s%s", v->help->summary, v->help->text ? v->help->text : "",
            v->help->examples ? "\n\nExamples:" : "");
    for (const char *p = v->help->examples; p && *p; p += strspn(p, "\n")) {
        const int line = (int)strcspn(p, "\n");
        fprintf(out, "\n  %.*s", line, p);
        p += line;
    }
    fclose(out);
    return help;
}

void cli_parse(struct cli *c, const struct verb *verb, int argc, char **argv)
{
    char *help = help_text(verb), *name = xasprintf("lardsim %s", verb->help->name);
    const struct argp argp = {.options = verb->options,
                              .parser = parse,
                              .args_doc = verb->help->args,
                              .doc = help,
                              .children = cli_common};

    *c = (struct cli){.verb = verb};
    /* argp names the program by argv[0] in its messages; it must say "lardsim trace info", not
     * "info". */
    argv[0] = name;
    /* argp ends the process by itself, unless it has no memory. cli_common has help; a command's
     * options are not this verb's. */
    if (argp_parse(&argp, argc, argv, ARGP_NO_HELP | (verb->command ? ARGP_IN_ORDER : 0), NULL, c))
        die("no memory for the command line");
    argv[0] = NULL;
    free(name);
    free(help);
}

void cli_free(struct cli *c)
{
    free(c->given);
    free(c->arg);
}

/* An option that is given again replaces the earlier one, so that a script's default can be
 * overridden at the end of its line. */
static const struct given_option *last_given(const struct cli *c, int key)
{
    for (size_t i = c->n; i-- > 0;)
        if (c->given[i].key == key)
            return &c->given[i];
    return NULL;
}

bool cli_has(const struct cli *c, int key)
{
    return last_given(c, key) != NULL;
}

const char *cli_get(const struct cli *c, int key)
{
    const struct given_option *g = last_given(c, key);

    return g ? g->value : NULL;
}

int cli_u64(const struct cli *c, int key, uint64_t *to, struct err *e)
{
    const char *text = cli_get(c, key);

    if (!text || number_of_text(text, to))
        return 0;
    return err_set(e, LARD_USAGE,
                   "--%s: \"%s\" is no number from 0 to 2^64-1; write it as 42, 0x2a, 64Ki or 1M",
                   option_row(c->verb, key)->name, text);
}

int cli_index(const struct cli *c, int key, const char *const *choices, size_t *to, struct err *e)
{
    const char *text = cli_get(c, key);
    char *all = NULL;
    size_t n = 0;

    if (!text)
        return 0;
    for (; choices[n] && strcmp(text, choices[n]) != 0; n++)
        xappend(&all, ", ", choices[n]);
    if (choices[n])
        *to = n;
    else
        err_set(e, LARD_USAGE, "--%s: \"%s\" is none of %s", option_row(c->verb, key)->name, text,
                all);
    free(all);
    return choices[n] ? 0 : -1;
}

struct given cli_given(const struct cli *c)
{
    static const int key[] = {[GIVEN_FILE] = OPT_CONFIG,
                              [GIVEN_PRESET] = OPT_PRESET,
                              [GIVEN_SET] = OPT_SET,
                              [GIVEN_POLICY] = 'p',
                              [GIVEN_DEBUG] = OPT_DEBUG};
    struct given g = {.at = NULL};

    g.word = cli_words(&g.words);
    for (size_t i = 0; i < c->n; i++)
        for (size_t kind = 0; kind < ARRAY_SIZE(key); kind++)
            if (c->given[i].key == key[kind])
                given_add(&g, (enum given_kind)kind, c->given[i].value);
    return g;
}

/* ---- files that are written in the end ------------------------------------------------------- */

int outputs_open(struct outputs *o, const struct cli *c, const int *key, struct err *e)
{
    for (size_t i = 0; i < OUTPUTS && key[i] && !e->code; i++)
        if (cli_get(c, key[i]))
            o->at[i] = outfile_open(cli_get(c, key[i]), cli_has(c, OPT_OVERWRITE), e);
    return e->code ? -1 : 0;
}

int outputs_commit(struct outputs *o, struct err *e)
{
    int failed = 0;

    for (size_t i = 0; i < OUTPUTS && !failed; i++) {
        failed = o->at[i] ? outfile_commit(o->at[i], e) : 0;
        o->at[i] = NULL;
    }
    return failed;
}

void outputs_abort(struct outputs *o)
{
    for (size_t i = 0; i < OUTPUTS; i++)
        outfile_abort(o->at[i]);
    *o = (struct outputs){{NULL}};
}

char *cli_absolute(const char *path)
{
    char *here = getcwd(NULL, 0);
    char *full = *path == '/' || !here ? xstrdup(path) : xasprintf("%s/%s", here, path);

    free(here);
    return full;
}
