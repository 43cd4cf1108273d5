/* repeat.c - lardsim run --again: repeats the run that wrote a results folder, and says whether it
 * gives the same digest. Paths lead on from where that run was started, if that folder is here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/build.h"
#include "base/mem.h"
#include "cli/run/run.h"
#include "results/job/told.h"

/* ---- what is run ---------------------------------------------------------------------------- */

/* Returns the path as it can be seen from another folder, too; a owns it. */
static const char *absolute(struct repeat *a, const char *path)
{
    char *full = cli_absolute(path);

    a->path = xgrow(a->path, a->paths, &a->paths_cap, sizeof *a->path);
    a->path[a->paths++] = full;
    return full;
}

static void add(struct repeat *a, int key, const char *value)
{
    struct cli *c = &a->cli;

    c->given = xgrow(c->given, c->n, &c->cap, sizeof *c->given);
    c->given[c->n++] = (struct given_option){key, value};
}

static int check(const struct cli *c, struct err *e)
{
    if (cli_has(c, OPT_CONFIG) || cli_has(c, OPT_PRESET) || cli_has(c, OPT_SET) ||
        cli_has(c, 'p') || c->args)
        return err_set(e, LARD_USAGE,
                       "run: --again takes the source and every parameter from its folder; to "
                       "change one, give --config %s/config.yaml and the option that changes it",
                       cli_get(c, OPT_AGAIN));
    return 0;
}

static int read_past(struct repeat *a, struct err *e)
{
    struct seal *s = seal_open(a->dir, e);
    const int failed = !s || past_read(&a->past, s, a->dir, e);

    seal_close(s);
    if (failed)
        return -1;
    if (!a->past.complete)
        return err_set(e, LARD_USAGE,
                       "%s: that run stopped before its end, so there is no result to hold another "
                       "against; `lardsim run --config %s/config.yaml` runs it anew",
                       a->dir, a->dir);
    return 0;
}

/* Makes the command line that repeats the folder's run. */
static void make_cli(struct repeat *a, const struct cli *c)
{
    char *config = xasprintf("%s/config.yaml", a->dir);

    add(a, OPT_CONFIG, absolute(a, config));
    free(config);
    for (size_t i = 0; i < c->n; i++)
        if (c->given[i].key == 'o' || c->given[i].key == OPT_TIMELINE ||
            c->given[i].key == OPT_RECORD)
            add(a, c->given[i].key, absolute(a, c->given[i].value));
        else if (c->given[i].key != OPT_AGAIN)
            add(a, c->given[i].key, c->given[i].value);
}

/* Intervals go to a results folder, and change no result. */
static int leave_out_intervals(struct repeat *a, struct err *e)
{
    static const char *const asks[][2] = {{"stats.interval", "stats.interval=0"},
                                          {"stats.rows", "stats.rows=0"}};
    struct lardsim *l = lardsim_new();

    if (run_settings(l, &a->cli))
        run_error(l, "", e);
    for (size_t i = 0; i < ARRAY_SIZE(asks); i++) {
        const char *given = lardsim_given(l, asks[i][0]);
        if (given && strcmp(given, "0") != 0 && !cli_has(&a->cli, 'o'))
            add(a, OPT_SET, asks[i][1]);
    }
    lardsim_free(l);
    return e->code ? -1 : 0;
}

int repeat_begin(struct repeat *a, const struct cli *c, struct err *e)
{
    *a = (struct repeat){.dir = cli_get(c, OPT_AGAIN), .cli = {.verb = c->verb}};
    if (check(c, e) || read_past(a, e))
        return -1;
    make_cli(a, c);
    if (a->past.folder && chdir(a->past.folder) && errno == ENOMEM)
        die("no memory");
    return leave_out_intervals(a, e);
}

void repeat_free(struct repeat *a)
{
    for (size_t i = 0; i < a->paths; i++)
        free(a->path[i]);
    free(a->path);
    free(a->cli.given);
    free(a->past.folder);
}

/* ---- what came of it ------------------------------------------------------------------------ */

static bool is(const char *was, uint64_t now)
{
    char text[20];

    snprintf(text, sizeof text, "%016llx", (unsigned long long)now);
    return !strcmp(was, text);
}

bool repeat_same(const struct repeat *a, const struct lardsim *l)
{
    return is(a->past.digest, lardsim_digest(l));
}

int repeat_judge(const struct repeat *a, const struct lardsim *l, struct err *e)
{
    char id[BUILD_ID];
    const char *why = "neither source, configuration nor build is another; please report it";

    if (repeat_same(a, l))
        return 0;
    build_id(id);
    if (!is(a->past.identity, lardsim_identity(l)))
        why = "the source has other events now";
    else if (strcmp(a->past.build, id) != 0)
        why = "another build of lardsim wrote it: `lardsim --version` and its provenance.json name "
              "both";
    else if (!is(a->past.configuration, sim_config_hash(l)))
        why = "its config.yaml is not the configuration of that run";
    return err_set(e, LARD_TOLERANCE, "%s: the digest was %s, and is %016llx now; %s", a->dir,
                   a->past.digest, (unsigned long long)lardsim_digest(l), why);
}
