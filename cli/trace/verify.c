/* verify.c - holds a trace to all stream rules, and notes what is legal but suspicious. */
#include <inttypes.h>

#include "cli/trace/trace.h"

struct verify {
    const char *name;
    const struct names *names;
    struct rules *rules;
    struct budget *memory;
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
    if (rules_apply(v->rules, ev, number, &broken))
        return name_file(v, &broken, e);
    rules_note(v->rules);
    return memory_limit(v->memory, v->name, number, e) ? WALK_FAIL : WALK_ON;
}

static int verify(struct source *s, struct verify *v, struct err *e)
{
    struct err broken = {0, ""};

    if (source_walk(s, apply, v, e))
        return -1;
    return rules_finish(v->rules, &broken) ? name_file(v, &broken, e) : 0;
}

/* ---- notes ---------------------------------------------------------------------------------- */

static void print_called(const char *name)
{
    if (!name)
        return;
    printf(" (");
    print_visible(stdout, name);
    putchar(')');
}

/* "event 4, thread 3 (collector), 0x1000 (account)" */
static void print_remark(const struct verify *v, enum note_kind kind, const struct note *n)
{
    if (n->number == NOTE_AT_END)
        printf("    at the end");
    else
        printf("    event %" PRIu64, n->number);
    if (note_info[kind].of & NOTE_OF_THREAD) {
        printf(", thread %u", (unsigned)n->tid);
        print_called(names_find(v->names, NAME_THREAD, n->tid));
    }
    if (note_info[kind].of & NOTE_OF_ADDRESS) {
        printf(", 0x%" PRIx64, n->addr);
        print_called(names_find(v->names, NAME_OBJECT, n->addr));
    }
    putchar('\n');
}

static void print_notes_of(const struct verify *v, enum note_kind kind)
{
    const struct notes_taken *n = rules_notes(v->rules);

    if (!n->count[kind])
        return;
    printf("  %s: %" PRIu64 "\n", note_info[kind].name, n->count[kind]);
    for (uint64_t i = 0; i < n->count[kind] && i < NOTES_KEPT; i++)
        print_remark(v, kind, &n->first[kind][i]);
    if (n->count[kind] > NOTES_KEPT)
        printf("    and %" PRIu64 " more\n", n->count[kind] - NOTES_KEPT);
}

static void print_notes(const struct verify *v)
{
    uint64_t all = 0;

    for (size_t k = 0; k < NOTE_KINDS; k++)
        all += rules_notes(v->rules)->count[k];
    if (!all)
        return;
    puts("legal, but suspicious (`lardsim list notes` says why):");
    for (size_t k = 0; k < NOTE_KINDS; k++)
        print_notes_of(v, (enum note_kind)k);
}

/* ---- the result ----------------------------------------------------------------------------- */

static void print_json(const struct verify *v)
{
    const struct notes_taken *n = rules_notes(v->rules);
    struct json j;

    json_init(&j, stdout, true);
    json_object(&j);
    json_key_str(&j, "source", v->name);
    json_key_u64(&j, "events", v->events);
    json_key_bool(&j, "holds", true);
    json_key_object(&j, "notes");
    for (size_t k = 0; k < NOTE_KINDS; k++)
        json_key_u64(&j, note_info[k].name, n->count[k]);
    json_end(&j);
    json_end(&j);
}

static void print_text(const struct verify *v)
{
    print_visible(stdout, v->name);
    printf(": %" PRIu64 " event%s, all rules hold\n", v->events, v->events == 1 ? "" : "s");
    print_notes(v);
}

static int verify_run(const struct cli *c, struct err *e)
{
    struct progress progress;
    struct budget all;

    if (memory_option(&all, c, e))
        return -1;
    progress_begin(&progress, cli_has(c, OPT_QUIET), 1);
    struct source *s = shown_source(&progress, charged(source_open(c->arg[0], e), &all));
    if (!s)
        return -1;

    struct verify v = {s->name, s->names, rules_new(true), &all, 0};
    rules_account(v.rules, &all);
    rules_take_notes(v.rules);
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

static const struct argp_option options[] = {ROW_JSON, ROW_QUIET, ROW_MEMORY, ROW_END};

const struct verb verb_trace_verify = {
    .help = &verb_help[HELP_trace_verify], .options = options, .run = verify_run};
