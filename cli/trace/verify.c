/* verify.c - holds a trace to all stream rules. */
#include <inttypes.h>

#include "cli/trace/trace.h"

struct verify {
    const char *name;
    struct rules *rules;
    uint64_t events;
};

/* The rules see events, and don't know which file they are of. */
static int name_file(const struct verify *v, const struct err *broken, struct err *e)
{
    return err_set(e, (enum lard_exit)broken->code, "%s: %s", v->name, broken->text);
}

static int apply(void *arg, const struct event *ev, uint64_t number, struct err *e)
{
    struct verify *v = arg;
    struct err broken = {0, ""};

    v->events++;
    return rules_apply(v->rules, ev, number, &broken) ? name_file(v, &broken, e) : WALK_ON;
}

static int verify(struct source *s, struct verify *v, struct err *e)
{
    struct err broken = {0, ""};

    if (walk(s, apply, v, e))
        return -1;
    return rules_finish(v->rules, &broken) ? name_file(v, &broken, e) : 0;
}

static void print_json(const struct verify *v)
{
    struct json j;

    json_init(&j, stdout, true);
    json_object(&j);
    json_key_str(&j, "source", v->name);
    json_key_u64(&j, "events", v->events);
    json_key_bool(&j, "holds", true);
    json_end(&j);
}

static void print_text(const struct verify *v)
{
    cli_print(stdout, v->name);
    printf(": %" PRIu64 " event%s, all rules hold\n", v->events, v->events == 1 ? "" : "s");
}

static int verify_run(const struct cli *c, struct err *e)
{
    struct progress progress;

    progress_begin(&progress, cli_has(c, OPT_QUIET), 1);
    struct source *s = progress_source(&progress, source_open(c->arg[0], e));
    if (!s)
        return -1;

    struct verify v = {s->name, rules_new(true), 0};
    const int failed = verify(s, &v, e);
    progress_clear(&progress);
    if (!failed && cli_has(c, OPT_JSON))
        print_json(&v);
    else if (!failed && !cli_has(c, OPT_QUIET))
        print_text(&v);
    rules_free(v.rules);
    source_close(s);
    return failed ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {ROW_JSON, ROW_QUIET, ROW_END};

const struct verb verb_trace_verify = {
    .name = "trace verify",
    .args = "SOURCE",
    .summary = "Checks that a trace obeys the stream rules.",
    .text =
        "Every event goes through every rule of `lardsim list rules`. The first that breaks one "
        "is named, and the exit code is 4. A part that was cut from a trace may break rules "
        "that the whole obeys: it may release what was acquired before it begins.",
    .examples = "lardsim trace verify program.lard",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = verify_run,
};
