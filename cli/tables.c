/* tables.c - every table of things that have a name, as rows of text: for list, explain, the manual
 * and the completion. It knows nothing that its tables don't say, but for the concepts
 * (help/concepts.txt). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "workloads/measure/measure.h"
#include "isa/lardx86/lardx86.h"
#include "policy/policy.h"
#include "sim/sim.h"
#include "trace/trace.h"
#include "workloads/workloads.h"

/* An empty field is left out, so a row shows only what applies to it. */
static void add(struct row *r, const char *key, const char *text)
{
    if (text && *text && r->fields < FIELDS)
        r->field[r->fields++] = (struct field){key, text};
}

/* A text that lives until the row was sent. Takes text. */
static const char *made(struct row *r, char *text)
{
    r->made[r->mades++] = text;
    return text;
}

static void add_number(struct row *r, const char *key, unsigned n)
{
    add(r, key, made(r, xasprintf("%u", n)));
}

static void send_row(row_fn *fn, void *arg, struct row *r)
{
    fn(arg, r);
    for (size_t i = 0; i < r->mades; i++)
        free(r->made[i]);
}

/* Callbacks of other rooms have their own form; this carries the caller's through them. */
struct sender {
    row_fn *fn;
    void *arg;
};

/* A row with one field. */
static void send_field(const struct sender *to, const char *name, const char *help, const char *key,
                       const char *text)
{
    struct row r = {.name = name, .help = help};

    add(&r, key, text);
    to->fn(to->arg, &r);
}

void row_json(struct json *j, const struct row *r)
{
    JSON_TEXTS(j, {"name", r->name}, {"help", r->help});
    for (size_t i = 0; i < r->fields; i++)
        json_key_str(j, r->field[i].key, r->field[i].text);
}

/* "sound, precise": owned by the caller. */
static char *join_bits(unsigned bits, const char *const *names, size_t n)
{
    char *all = xstrdup("");

    for (size_t i = 0; i < n; i++)
        if (bits >> i & 1)
            xappend(&all, ", ", names[i]);
    return all;
}

/* ---- policies, views ------------------------------------------------------------------------ */

struct param_section { /* collects the parameters of one */
    const char *name;
    char *all;
};

static void collect_param(void *arg, const char *section, const struct param *p)
{
    struct param_section *s = arg;

    if (strcmp(section, s->name) != 0)
        return;
    xappend(&s->all, ", ", section);
    xappend(&s->all, ".", p->name);
}

/* Returns the policy's charges, a line a step under a head. They are one text, because a field is
 * one; `explain` prints it as it is. The caller owns it. NULL: the policy has no table of
 * charges. */
static char *cost_lines(const struct policy *p)
{
    char *all = p->charges ? xasprintf("%-14s %12s", "step", "instructions") : NULL;

    for (unsigned i = 0; p->charges && i < p->charges->steps; i++) {
        const struct cost_step *s = &p->charges->step[i];
        char *more = xasprintf("%s\n%-14s %12u  %s", all, s->name, s->instructions, s->text);
        free(all);
        all = more;
    }
    return all;
}

static char *join_info(unsigned bits, const struct claim_info *info, size_t n)
{
    const char *name[32]; /* one for each bit */

    for (size_t i = 0; i < n; i++)
        name[i] = info[i].name;
    return join_bits(bits, name, n);
}

static void each_policy(row_fn *fn, void *arg)
{
    for (size_t i = 0; policies[i]; i++) {
        const struct policy *p = policies[i];
        const struct promise *promise = &p->promise;
        struct row r = {.name = p->name, .help = p->summary};
        const char *claim = made(&r, join_info(promise->claims, claim_info, CLAIMS));
        struct param_section params = {made(&r, xasprintf("policy.%s", p->name)), xstrdup("")};

        sim_each_param(collect_param, &params);
        add(&r, "claims", *claim ? claim : "nothing");
        /* A property that most policies have is said only of those that lack it. */
        if (promise->conflicts != CONFLICT_ALL)
            add(&r, "conflicts",
                made(&r, join_info(promise->conflicts, conflict_info, CONFLICT_KINDS)));
        if (promise->history != HISTORY_OWN)
            add(&r, "history", history_info[promise->history].name);
        add(&r, "source", p->source);
        add(&r, "parameters", made(&r, params.all));
        add(&r, "costs", made(&r, cost_lines(p)));
        send_row(fn, arg, &r);
    }
}

/* Sends a step for which a policy charges, or the manager of histories, whose handlers have no
 * policy. */
static void send_step(const struct sender *to, const char *of, const struct cost_step *s)
{
    struct row r = {.help = s->text};

    r.name = made(&r, xasprintf("%s.%s", of, s->name));
    add_number(&r, "instructions", s->instructions);
    add(&r, "needs", s->needs == STEP_NEEDS_VALUE ? "value" : "nothing");
    send_row(to->fn, to->arg, &r);
}

static void each_layout(row_fn *fn, void *arg)
{
    for (size_t i = 0; i < LAYOUTS; i++) {
        const struct layout *l = &layouts[i];
        struct row r = {.name = l->name, .help = l->help};

        add_number(&r, "reference", l->reference);
        add_number(&r, "word", l->word);
        add_number(&r, "header", l->header);
        add_number(&r, "array-header", l->array);
        add_number(&r, "alignment", l->align);
        send_row(fn, arg, &r);
    }
}

static void each_step(row_fn *fn, void *arg)
{
    static const struct cost_step manager[] = {
#define SWM_STEP(NAME, instructions, needs, text) {#NAME, instructions, text, STEP_NEEDS_##needs},
#include "swmanager/steps.def"
#undef SWM_STEP
    };
    const struct sender to = {fn, arg};

    for (size_t i = 0; policies[i]; i++)
        for (unsigned k = 0; policies[i]->charges && k < policies[i]->charges->steps; k++)
            send_step(&to, policies[i]->name, &policies[i]->charges->step[k]);
    for (size_t i = 0; i < ARRAY_SIZE(manager); i++)
        send_step(&to, "swmanager", &manager[i]);
}

static void each_paper(row_fn *fn, void *arg)
{
#define PAPER(key, citation) fn(arg, &(struct row){.name = key, .help = citation});
#include "base/papers.def"
#undef PAPER
}

static void each_claim(row_fn *fn, void *arg)
{
    for (size_t i = 0; i < CLAIMS; i++)
        fn(arg, &(struct row){.name = claim_info[i].name, .help = claim_info[i].help});
    for (size_t i = 0; i < CONFLICT_KINDS; i++)
        fn(arg, &(struct row){.name = conflict_info[i].name, .help = conflict_info[i].help});
}

static void each_view(row_fn *fn, void *arg)
{
    static const char *const bits[] = {"all-memory", "all-sync", "no-clear", "no-copy",
                                       "no-thread"};

    /* A view of several bits is told by its parts; one bit is a part itself. */
    for (const struct view_info *v = view_info; v->name; v++) {
        struct row r = {.name = v->name, .help = v->help};

        if (v->bits & (v->bits - 1))
            add(&r, "means", made(&r, join_bits(v->bits, bits, ARRAY_SIZE(bits))));
        send_row(fn, arg, &r);
    }
}

/* ---- parameters, statistics, presets -------------------------------------------------------- */

/* Rows of a table are made for the call, and freed after it: so any table is printed without being
 * built. */
static void send_param(void *arg, const char *section, const struct param *p)
{
    const struct sender *to = arg;
    struct row r = {.help = p->help};

    r.name = made(&r, xasprintf("%s%s%s", section, *section ? "." : "", p->name));
    add(&r, "default", *p->value ? p->value : "(empty)");
    add(&r, "range", made(&r, param_range(p)));
    add(&r, "unit", p->unit);
    add(&r, "type", param_type_name(p->type));
    send_row(to->fn, to->arg, &r);
}

static void each_param(row_fn *fn, void *arg)
{
    sim_each_param(send_param, &(struct sender){fn, arg});
}

static void each_synth(row_fn *fn, void *arg)
{
    struct sender to = {fn, arg};

    for (const struct param *p = synth_param_rows; p->name; p++)
        send_param(&to, "", p);
}

static void send_stat(void *arg, const char *name, const char *unit, const char *help)
{
    send_field(arg, name, help, "unit", unit);
}

static void each_stat(row_fn *fn, void *arg)
{
    lardsim_each(LARDSIM_STATISTICS, send_stat, &(struct sender){fn, arg});
}

static void send_finding(void *arg, const char *key, const char *text, const char *zero,
                         const char *given, const char *parameters)
{
    const struct sender *to = arg;
    struct row r = {.name = key, .help = text};

    add(&r, "zero", zero);
    add(&r, "given", given);
    add(&r, "parameters", parameters);
    to->fn(to->arg, &r);
}

static void each_finding(row_fn *fn, void *arg)
{
    sim_each_finding(send_finding, &(struct sender){fn, arg});
}

static void send_preset(void *arg, const char *name, const char *yaml, const char *help)
{
    send_field(arg, name, help, "sets", yaml);
}

static void each_preset(row_fn *fn, void *arg)
{
    lardsim_each(LARDSIM_PRESETS, send_preset, &(struct sender){fn, arg});
}

/* Rows of `lardsim list machines PRESET`. */
static void send_setting(void *arg, const struct machine_setting *s)
{
    const struct sender *to = arg;
    struct row r = {.help = s->source};

    r.name = made(&r, xasprintf("%s.%s", s->preset, s->key));
    add(&r, "value", s->value);
    add(&r, "basis", s->basis);
    add(&r, "sweep", *s->range ? s->range : "-");
    send_row(to->fn, to->arg, &r);
}

static void each_setting(row_fn *fn, void *arg)
{
    sim_each_machine(send_setting, &(struct sender){fn, arg});
}

/* ---- events, rules, formats ----------------------------------------------------------------- */

static const char *clocks_text(unsigned edges)
{
    return edges == (EDGE_W | EDGE_R) ? "both clocks"
           : edges == EDGE_W          ? "the write clock"
                                      : "the read clock";
}

/* NULL: no edges. Owned by the caller. What an event does to vector clocks, in a sentence. */
static char *edges_text(const struct ev_info *k)
{
    static const char *const objects[] = {[OBJECT_NONE] = "nothing",
                                          [OBJECT_LOCK] = "the lock",
                                          [OBJECT_VOLATILE] = "the volatile",
                                          [OBJECT_BARRIER] = "the barrier's round",
                                          [OBJECT_CLASS] = "the class",
                                          [OBJECT_CHILD] = "the other thread",
                                          [OBJECT_SELF] = "the thread",
                                          [OBJECT_ATOMIC] = "the location, if its order says so",
                                          [OBJECT_COMMIT] = "each variable of the transaction"};
    const char *of = objects[k->object];

    if (k->takes && k->gives)
        return xasprintf("joins %s, then merges into %s, of %s", clocks_text(k->takes),
                         clocks_text(k->gives), of);
    if (k->takes)
        return xasprintf("joins %s of %s", clocks_text(k->takes), of);
    if (k->gives)
        return xasprintf("merges into %s of %s", clocks_text(k->gives), of);
    return NULL;
}

static void each_event(row_fn *fn, void *arg)
{
    static const char *const classes[] = {"access", "sync", "heap", "raw", "mark"};
    static const char *const forms[] = {[FORM_ACCESS] = "address, size, code site",
                                        [FORM_OBJECT] = "object",
                                        [FORM_ROUND] = "barrier, round",
                                        [FORM_THREAD] = "other thread",
                                        [FORM_NONE] = "",
                                        [FORM_REGION] = "address, bytes",
                                        [FORM_ALLOC] =
                                            "address, bytes; of an array: elements, bytes of one",
                                        [FORM_COPY] = "destination, bytes, source",
                                        [FORM_KERNEL] = "kernel thread",
                                        [FORM_CLOCK] = "thread, value",
                                        [FORM_PHASE] = "phase",
                                        [FORM_TIME] = "nanoseconds",
                                        [FORM_WAITED] = "reads before, thread that wrote",
                                        [FORM_BRANCHES] = "outcomes",
                                        [FORM_COUNT] = "instructions",
                                        [FORM_REMAP] = "virtual address, bytes, physical address"};

    for (unsigned i = 0; i < EV_KINDS; i++) {
        const struct ev_info *k = &ev_info[i];
        struct row r = {.name = k->text, .help = k->help};

        if (!k->text)
            continue;
        add(&r, "class", classes[k->class]);
        add(&r, "operands", forms[k->form]);
        add(&r, "order", made(&r, edges_text(k)));
        add_number(&r, "code", i);
        send_row(fn, arg, &r);
    }
}

static void each_instruction(row_fn *fn, void *arg)
{
    for (unsigned op = 0; op < LX_OPS; op++) {
        const struct lx_info *k = &lx_info[op];
        struct row r = {.name = k->text, .help = k->help};

        add(&r, "operands", made(&r, lx_operands_text((enum lx_op)op)));
        add(&r, "encoding", made(&r, lx_encoding_text((enum lx_op)op)));
        add(&r, "page", lx_page_text((enum lx_page)k->page));
        add(&r, "paper", k->paper);
        send_row(fn, arg, &r);
    }
}

static void each_rule(row_fn *fn, void *arg)
{
    for (unsigned i = 0; i < RULES; i++)
        fn(arg, &(struct row){.name = rule_info[i].name, .help = rule_info[i].text});
}

static void each_note(row_fn *fn, void *arg)
{
    for (unsigned i = 0; i < NOTE_KINDS; i++)
        fn(arg, &(struct row){.name = note_info[i].name, .help = note_info[i].text});
}

static void each_format(row_fn *fn, void *arg)
{
    for (size_t i = 0; trace_formats[i]; i++)
        fn(arg, &(struct row){.name = trace_formats[i]->name, .help = trace_formats[i]->help});
}

static void each_workload(row_fn *fn, void *arg)
{
    for (size_t i = 0; workloads[i]; i++)
        send_field(&(struct sender){fn, arg}, workloads[i]->name, workloads[i]->summary, "source",
                   workloads[i]->source);
}

/* ---- the command line's own ----------------------------------------------------------------- */

static void each_exit(row_fn *fn, void *arg)
{
#define EXIT(NAME, code, text) fn(arg, &(struct row){.name = #code, .help = text});
#include "base/exits.def"
#undef EXIT
}

static void each_verb(row_fn *fn, void *arg)
{
    for (size_t i = 0; verbs[i]; i++) {
        struct row r = {.name = verbs[i]->help->name, .help = verbs[i]->help->summary};

        add(&r, "usage",
            made(&r, xasprintf("lardsim %s [OPTION...] %s", verbs[i]->help->name,
                               verbs[i]->help->args)));
        add(&r, "examples", verbs[i]->help->examples);
        send_row(fn, arg, &r);
    }
}

static void each_concept(row_fn *fn, void *arg)
{
#define CONCEPT(name_, summary, text_)                                                             \
    fn(arg,                                                                                        \
       &(struct row){                                                                              \
           .name = name_, .help = summary, .field = {{"more", text_}}, .fields = *text_ ? 1 : 0});
#include "concepts.inc"
#undef CONCEPT
}

static void each_head(row_fn *fn, void *arg)
{
#define HEAD(name_, pages, text)                                                                   \
    fn(arg,                                                                                        \
       &(struct row){.name = name_, .help = text, .field = {{"printed by", pages}}, .fields = 1});
#include "heads.inc"
#undef HEAD
}

static void each_trait(row_fn *fn, void *arg)
{
    for (size_t i = 0; i < TRAIT_COUNT; i++)
        send_field(&(struct sender){fn, arg}, trait_info[i].name, trait_info[i].help, "unit",
                   trait_info[i].unit);
}

/* The order is that of `lardsim list`. explain looks at all, in this order. */
const struct name_table tables[] = {
    {"policies", "a policy", "What detects races: `run --policy NAME`.", 1, each_policy},
    {"claims", "a claim", "What policies promise, and of which conflicts.", 0, each_claim},
    {"layouts", "a layout", "How objects and arrays lie in memory, in bytes.", 0, each_layout},
    {"steps", "a step", "What a policy charges for: its instructions beside its accesses.", 1,
     each_step},
    {"papers", "a paper", "What `source` names.", 0, each_paper},
    {"parameters", "a parameter", "The choices of a run: `run --set NAME=VALUE`.", 2, each_param},
    {"statistics", "a statistic", "What a run counts: stats.json.", 1, each_stat},
    {"findings", "a finding", "What a run says of parameters that could not matter.", 1,
     each_finding},
    {"views", "a view", "What of a trace a policy looks at.", 0, each_view},
    {"presets", "a preset", "Settings under a name: `run --preset NAME`.", 0, each_preset},
    {"machines", "a setting",
     "What papers' machines are made of, and who says so: presets, key by key.", 3, each_setting},
    {"events", "an event", "The kinds of events, and the order they make.", 1, each_event},
    {"instructions", "an instruction", "What LARDx86 adds to x86-64.", 2, each_instruction},
    {"rules", "a rule", "What a trace must obey: `trace verify`.", 0, each_rule},
    {"notes", "a note", "What is legal but suspicious: `trace verify`.", 0, each_note},
    {"formats", "a format", "The formats of traces that are read.", 0, each_format},
    {"synth", "a parameter of synth", "The choices of `trace synth`.", 2, each_synth},
    {"workloads", "a workload", "The built-in programs: `run workload:NAME`.", 0, each_workload},
    {"exits", "an exit code", "What the exit codes mean.", 0, each_exit},
    {"verbs", "a verb", "What lardsim can do.", 0, each_verb},
    {"heads", "on a printed page", "Heads of columns and lines, as pages print them.", 1,
     each_head},
    {"traits", "a trait", "What `workload describe` measures.", 1, each_trait},
    {"concepts", "a concept", "Words that the results use.", 0, each_concept},
    {NULL, NULL, NULL, 0, NULL}};

const struct name_table *table_find(const char *name)
{
    for (const struct name_table *t = tables; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

static void each_table(row_fn *fn, void *arg)
{
    for (const struct name_table *t = tables; t->name; t++)
        fn(arg, &(struct row){.name = t->name, .help = t->help});
    fn(arg,
       &(struct row){.name = "manual", .help = "The manual page of lardsim or of a verb (roff)."});
    fn(arg, &(struct row){.name = "completion", .help = "A completion script for bash."});
}

const struct name_table table_of_tables = {"tables", "a table", "", 0, each_table};
