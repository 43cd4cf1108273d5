/* cat.c - a trace, or a part of it, as text on standard output, with the names that it
 * needs. */
#include <inttypes.h>
#include <string.h>

#include "cli/trace/trace.h"

/* The names that an event needs go before it, so a part of a trace can be read, and read back,
 * alone. */
struct cat {
    struct source *from;
    struct event_range part;
    struct out out;
    struct names *names; /* owns; those that were needed so far */
    uint64_t next;       /* number that the text form counts to by itself */
};

static int open_output(struct cat *c, uint64_t first, struct err *e)
{
    const struct sink_info info = copy_info(c->from, first);

    c->next = first;
    c->out.path = "-";
    c->out.file = outfile_open(c->out.path, e);
    c->out.sink = sink_text(outfile_stream(c->out.file), &info, e);
    return c->out.sink ? 0 : -1;
}

static int use_name(struct cat *c, enum name_space space, uint64_t id, struct err *e)
{
    const char *name = names_find(c->from->names, space, id);
    const char *known = names_find(c->names, space, id);

    if (!name || (known && strcmp(name, known) == 0))
        return 0;
    return names_add(c->names, space, id, name, e);
}

/* Only names that an event on the page needs, before it: a trace may have a million names, and a
 * page of 20 events must not begin with them. */
static int use_names(struct cat *c, const struct event *ev, struct err *e)
{
    const unsigned form = ev_info[ev->kind].form;

    if (use_name(c, NAME_THREAD, ev->tid, e) || use_name(c, NAME_SITE, event_site(ev), e))
        return -1;
    if (form == FORM_THREAD && use_name(c, NAME_THREAD, ev->aux, e))
        return -1;
    if (form == FORM_PHASE && use_name(c, NAME_PHASE, ev->aux, e))
        return -1;
    if (form != FORM_NONE && form != FORM_CLOCK && use_name(c, NAME_OBJECT, ev->addr, e))
        return -1;
    return c->out.sink->names(c->out.sink, c->names, e);
}

/* Numbers in a text trace count on by themselves. Where events were left out, a comment tells the
 * next one's. */
static int show(void *arg, const struct event *ev, uint64_t number, struct err *e)
{
    struct cat *c = arg;

    if (part_takes(&c->part, ev, number)) {
        if (!c->out.sink && open_output(c, number, e))
            return WALK_FAIL;
        if (use_names(c, ev, e))
            return WALK_FAIL;
        /* With --thread there are gaps. */
        if (number != c->next)
            fprintf(stdout, "# event %" PRIu64 "\n", number);
        c->next = number + 1;
        if (c->out.sink->event(c->out.sink, ev, e))
            return WALK_FAIL;
    }
    return c->part.done ? WALK_STOP : WALK_ON;
}

static int cat_run(const struct cli *cli, struct err *e)
{
    struct cat c = {.from = NULL};

    if (part_options(&c.part, cli, e))
        return -1;
    c.from = source_open(cli->arg[0], e);
    if (!c.from)
        return -1;
    c.names = names_new();
    int failed = walk(c.from, show, &c, e);
    if (!failed && !c.out.sink)
        failed = open_output(&c, c.from->first, e);
    /* After an error the output is finished all the same: what came before the damage is shown. */
    const int unclosed = out_close(&c.out, c.out.sink == NULL, e);
    names_free(c.names);
    source_close(c.from);
    return failed || unclosed ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {
    {"first", OPT_FIRST, "N", 0, "Begin with the event of this number", 0},
    {"count", OPT_COUNT, "N", 0, "Show the events of that many numbers", 0},
    {"thread", OPT_THREAD, "T", 0, "Of those, show one thread's", 0},
    ROW_END};

const struct verb verb_trace_cat = {
    .name = "trace cat",
    .args = "SOURCE",
    .summary = "Prints a trace, or a part of it, as text.",
    .text = "The output is a text trace itself. Events keep their numbers; where some are left out "
            "(--thread), a comment has the number of the next. It has the names that its events need; "
            "`lardsim trace convert --to text` keeps all.",
    .examples = "lardsim trace cat --first 1200 --count 20 program.lard\n"
                "lardsim trace cat synth:events=50,threads=2",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = cat_run,
};
