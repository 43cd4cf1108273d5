/* cat.c - a trace, or a part of it, as text on standard output, with the names that it
 * needs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/trace/trace.h"

/* The names that an event needs go before it, so a part of a trace can be read, and read back,
 * alone. */
struct cat {
    struct source *from;
    struct event_range part;
    struct out out;
    struct names *names; /* owns; those that were needed so far */
    struct budget all;   /* memory of the source and of names */
    struct budget own;   /* the part of it that names take */
    uint64_t next;       /* number that the text form counts to by itself */
    bool numbers;
    FILE *line; /* with numbers: what the sink writes of an event, before the comment */
    char *text;
    size_t text_n;
    struct placement *placement; /* with numbers: of the source so far */
};

static int open_output(struct cat *c, uint64_t first, struct err *e)
{
    const struct sink_info info = source_copy_info(c->from, first);

    c->next = first;
    c->out.path = "-";
    c->out.file = outfile_open(c->out.path, false, e);
    if (c->numbers)
        c->line = xmemstream(&c->text, &c->text_n);
    c->out.sink = sink_text(c->line ? c->line : outfile_stream(c->out.file), &info, e);
    return c->out.sink ? 0 : -1;
}

/* ---- numbers and names ---------------------------------------------------------------------- */

struct remark { /* a comment in the making; names have no control characters, so it ends no line */
    FILE *out;
    const char *before; /* the next part */
};

static bool part(struct remark *r, const char *what, const char *name)
{
    if (!name)
        return false;
    fprintf(r->out, "%s%s", r->before, what);
    print_visible(r->out, name);
    r->before = ", ";
    return true;
}

static void part_object(struct cat *c, struct remark *r, sim_addr addr)
{
    const struct object_place at = placement_find(c->placement, addr);

    if (part(r, "", at.name) && at.offset)
        fprintf(r->out, " + %" PRIu64, at.offset);
}

static void part_operand(struct cat *c, struct remark *r, const struct event *ev)
{
    const struct names *names = c->from->names;

    switch ((enum ev_form)ev_info[ev->kind].form) {
    case FORM_THREAD:
        part(r, "", names_find(names, NAME_THREAD, ev->aux));
        break;
    case FORM_PHASE:
        part(r, "", names_find(names, NAME_PHASE, ev->aux));
        break;
    case FORM_WAITED:
        if (waited_writer(ev) != NOBODY)
            part(r, "", names_find(names, NAME_THREAD, waited_writer(ev)));
        break;
    case FORM_COPY:
        part_object(c, r, ev[1].addr);
        break;
    case FORM_ACCESS:
    case FORM_OBJECT:
    case FORM_ROUND:
    case FORM_REGION:
    case FORM_ALLOC:
        part_object(c, r, ev->addr);
        break;
    case FORM_NONE:
    case FORM_KERNEL:
    case FORM_CLOCK:
    case FORM_TIME:
    case FORM_BRANCHES:
    case FORM_COUNT:
    case FORM_REMAP:
        break;
    }
}

/* "# 17: teller-2, account + 8, at Account.deposit:15" */
static void comment(struct cat *c, const struct event *ev, uint64_t number)
{
    const struct names *names = c->from->names;
    const uint64_t site = event_site(ev);
    struct remark r = {stdout, ": "};

    printf("# %" PRIu64, number);
    part(&r, "", names_find(names, NAME_THREAD, ev->tid));
    part_operand(c, &r, ev);
    part(&r, "at ", site ? names_find(names, NAME_SITE, site) : NULL);
}

enum { COMMENT_COLUMN = 56 };

/* Prints the lines that the sink has written; the last one is the event's, and gets its comment. */
static void put_line(struct cat *c, const struct event *ev, uint64_t number)
{
    (void)fflush(c->line);
    const char *end = memrchr(c->text, '\n', c->text_n - 1);
    const size_t before = end ? (size_t)(end + 1 - c->text) : 0;
    const int event = (int)(c->text_n - 1 - before);

    fwrite(c->text, 1, before, stdout); /* lines of names, or the trace's head */
    printf("%-*.*s ", COMMENT_COLUMN, event, c->text + before);
    comment(c, ev, number);
    putchar('\n');
    rewind(c->line);
}

/* Numbers in a text trace count on by themselves. Where events were left out, a comment tells the
 * next one's. */
static int show(void *arg, const struct event *ev, uint64_t number, struct err *e)
{
    struct cat *c = arg;

    if (c->numbers && ev->kind == EV_ALLOC)
        placement_apply(c->placement, ev, number);
    if (part_takes(&c->part, ev, number)) {
        if (!c->out.sink && open_output(c, number, e))
            return WALK_FAIL;
        /* A trace may have a million names: a page of 20 events must not begin with them. */
        if (names_for(c->names, c->from->names, ev, e) ||
            c->out.sink->names(c->out.sink, c->names, e))
            return WALK_FAIL;
        budget_have(&c->own, names_bytes(c->names));
        /* Events of other threads are missing with --thread. */
        if (number != c->next && !c->numbers)
            fprintf(stdout, "# event %" PRIu64 "\n", number);
        c->next = number + 1;
        if (c->out.sink->event(c->out.sink, ev, e))
            return WALK_FAIL;
        if (c->numbers)
            put_line(c, ev, number);
    }
    /* Follows all other events after they were shown: an object that a clear ends or a copy takes
     * away still has its name on that event's line. */
    if (c->numbers && ev->kind != EV_ALLOC)
        placement_apply(c->placement, ev, number);
    if (memory_limit(&c->all, c->from->name, number, e))
        return WALK_FAIL;
    return c->part.done ? WALK_STOP : WALK_ON;
}

static int cat_run(const struct cli *cli, struct err *e)
{
    struct cat c = {.numbers = cli_has(cli, OPT_NUMBERS)};

    if (part_options(&c.part, cli, e) || memory_option(&c.all, cli, e))
        return -1;
    c.own.of = &c.all;
    c.from = charged(source_open(cli->arg[0], e), &c.all);
    if (!c.from)
        return -1;
    c.names = names_new();
    c.placement = placement_new(&c.all);
    placement_names(c.placement, c.from->names);
    int failed = source_walk(c.from, show, &c, e);
    if (!failed && !c.out.sink)
        failed = open_output(&c, c.from->first, e);
    /* The output is finished after an error, too: events before the damage are shown. */
    if (c.line && fflush(c.line) == 0)
        fwrite(c.text, 1, c.text_n, stdout); /* no event came after it */
    const int unclosed = out_close(&c.out, c.out.sink == NULL, e);
    if (c.line)
        (void)fclose(c.line);
    free(c.text);
    placement_free(c.placement);
    names_free(c.names);
    source_close(c.from);
    return failed || unclosed ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {
    OPTION("first", OPT_FIRST, "N", "Begin with the event of this number"),
    OPTION("count", OPT_COUNT, "N", "Show the events of that many numbers"),
    OPTION("thread", OPT_THREAD, "T", "Of those, show one thread's"),
    OPTION("numbers", OPT_NUMBERS, NULL, "Behind each event its number, and the names in it"),
    ROW_MEMORY,
    ROW_END};

const struct verb verb_trace_cat = {
    .help = &verb_help[HELP_trace_cat], .options = options, .run = cat_run};
