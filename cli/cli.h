/* cli.h - what the files of the command line share: verbs, their parsed arguments, tables of
 * everything that has a name. Only this folder prints.
 *
 * A verb is a file that ends in one const struct verb, a line in verbs.def, a line in cli.mk, and
 * what is said of it in help/verbs.txt. Parsing, --help, the manual pages and the completion follow
 * from its rows. */
#ifndef LARDSIM_CLI_H
#define LARDSIM_CLI_H

#include <argp.h>

#include "base/err.h"
#include "base/json.h"
#include "base/program/print.h"
#include "results/job/given.h"

struct cli;

struct verb_help {       /* cli/help/verbs.txt */
    const char *name;    /* "run", "trace info" */
    const char *args;    /* "IN [OUT] [KEY=VALUE...]": the operands, and so how many there may be */
    const char *summary; /* one sentence */
    const char *text;    /* paragraphs, each a line; NULL: none */
    const char *examples; /* command lines, each a line; NULL: none */
};
enum {
#define VERB(id) HELP_##id,
#include "cli/verbs.def"
#undef VERB
};
extern const struct verb_help verb_help[]; /* verbs.c */

struct verb {
    const struct verb_help *help;
    const struct argp_option *options; /* may be NULL */
    bool command; /* they are a command: what follows the first is its own, options too */
    int (*run)(const struct cli *c, struct err *e); /* an exit code, or -1 and *e */
};
extern const struct verb *const verbs[]; /* in order of verbs.def, NULL-terminated */
/* Returns the part of the verb's name that follows the group ("trace", or "" for all verbs). NULL:
 * the verb isn't in the group. */
const char *verb_in_group(const struct verb *v, const char *group);
/* Returns a sentence on the purpose of a group of verbs. NULL: there is no such group. */
const char *verb_group_summary(const char *group);

/* Keys of the options: one number for the same option of all verbs. A key that is a letter is its
 * short form; from 256 on there is none. */
enum {
    OPT_CONFIG = 'c',
    OPT_QUIET = 'q',
    OPT_TIMELINE = 't',
    OPT_RECORD = 'r',
    OPT_PRESET = 256,
    OPT_SET,
    OPT_OVERWRITE,
    OPT_ERROR_ON_RACE,
    OPT_JSON,
    OPT_MARKDOWN,
    OPT_FIRST,
    OPT_COUNT,
    OPT_THREAD,
    OPT_ROI,
    OPT_SALVAGE,
    OPT_TO,
    OPT_LOSSY,
    OPT_CODEC,
    OPT_LEVEL,
    OPT_SHARED,
    OPT_MEMORY,
    OPT_RUN,
    OPT_USAGE,
    OPT_NUMBERS,
    OPT_AGAIN,
    OPT_FROM,
    OPT_FOR,
    OPT_METHOD,
    OPT_WARM_UP,
    OPT_ON_SIGNAL,
    OPT_BASELINE,
    OPT_MEASURED,
    OPT_BAND,
    OPT_DEBUG,
    OPT_THRESHOLD
};
#define OPTION(name, key, arg, text)                                                               \
    {                                                                                              \
        name, key, arg, 0, text, 0                                                                 \
    }
#define ROW_JSON OPTION("json", OPT_JSON, NULL, "Write the result as JSON")
/* Progress is that of progress.h; a verb's text says what else it does not print then. */
#define ROW_QUIET OPTION("quiet", OPT_QUIET, NULL, "Print no summary and no progress")
#define ROW_END   OPTION(NULL, 0, NULL, NULL)
#define ROW_THRESHOLD                                                                              \
    OPTION("threshold", OPT_THRESHOLD, "PERCENT",                                                  \
           "Of two results: leave out statistics that differ by no more; else by 1")

/* ---- what was given on the command line: args.c --------------------------------------------- */

/* Options of every verb, and of the program itself. A NULL name is another short form of the row
 * before it. */
extern const struct argp_option cli_common_options[];
extern const struct argp_option cli_json_option[]; /* of verbs that have no other */
extern const struct argp_child cli_common[];       /* takes them, for struct argp */

struct given_option { /* an option as it stood there */
    int key;
    const char *value; /* borrowed from argv; NULL where the option takes none */
};
struct cli {
    const struct verb *verb;
    struct given_option *given; /* in the order given */
    size_t n, cap;              /* options given; room for them */
    const char **arg;           /* the operands */
    size_t args, args_cap;
};

/* argv[0] is the verb. --help, --version and mistakes end the process as argp does it. */
void cli_parse(struct cli *c, const struct verb *verb, int argc, char **argv);
void cli_free(struct cli *c);
/* The whole command line as it was given, "lardsim" first. */
const char *const *cli_words(size_t *n);
/* Returns the settings on the command line: --config, --preset, --set and --policy. Borrows their
 * texts; to be freed. */
struct given cli_given(const struct cli *c);
bool cli_has(const struct cli *c, int key);
const char *cli_get(const struct cli *c, int key); /* the last one's value; NULL: not given */
/* A number as the configuration has them: 42, 0x2a, 64Ki, 1M. *to stays as it is when not given. */
int cli_u64(const struct cli *c, int key, uint64_t *to, struct err *e);
int cli_index(const struct cli *c, int key, const char *const *choices, size_t *to, struct err *e);

/* Files that options name: they are opened before anything runs, so that one that can't be written
 * is known at once, and appear together when all has run. */
enum { OUTPUTS = 3 };
struct outputs {
    struct outfile *at[OUTPUTS]; /* own; NULL: not asked for */
};
/* key: of the options, with a 0 behind them. */
int outputs_open(struct outputs *o, const struct cli *c, const int *key, struct err *e);
int outputs_commit(struct outputs *o, struct err *e);
char *cli_absolute(const char *path);  /* as it can be seen from another folder; the caller's */
void outputs_abort(struct outputs *o); /* those that are not committed; in any case */

/* ---- what the model leaves out: band.c ------------------------------------------------------ */

/* --band of compare and reproduce: core.unmodelled at its upper end, 0: not given. l has the
 * settings of what is run: its core must be one that heeds it. */
int cli_band(const struct cli *c, const struct lardsim *l, uint64_t *most, struct err *e);

/* ---- tables of names: tables.c -------------------------------------------------------------- */

enum { FIELDS = 8 };
struct field {
    const char *key, *text;
};
/* A named thing, made for the call and freed after it. */
struct row { /* valid during the call */
    const char *name, *help;
    /* further columns: what list shows beside the name, and explain below it */
    struct field field[FIELDS];
    size_t fields;      /* entries of field that are in use */
    char *made[FIELDS]; /* own; texts that are made for the row: tables.c */
    size_t mades;
};
typedef void row_fn(void *arg, const struct row *row);
void row_json(struct json *j, const struct row *r); /* the members of an object */

struct name_table {
    const char *name; /* "policies" */
    const char *one;  /* "a policy" */
    const char *help;
    size_t columns; /* the first fields, which `list` shows beside the name; explain shows all */
    void (*each)(row_fn *fn, void *arg); /* calls fn for every row, in the table's order */
};
extern const struct name_table tables[], table_of_tables; /* a NULL name ends the first */
const struct name_table *table_find(const char *name);

/* ---- manual pages and completion: manual.c, completion.c ------------------------------------ */

/* page: NULL for lardsim(1), else a verb's first word, for lardsim-run(1). -1: no such page. */
int manual_print(const char *page, FILE *out);
void completion_print(FILE *out);

#endif
