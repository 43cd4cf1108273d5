/* info.c - what a trace is, without reading all of it where the format allows that. */
#include <inttypes.h>
#include <string.h>

#include "cli/trace/trace.h"

static const char *kind_text(unsigned k)
{
    return k < EV_KINDS ? ev_info[k].text : count_text[k - COUNT_FIRST];
}

/* Kinds of events from `first` on to before `end`, each that there is on a line. */
static void print_list(const char *head, const struct trace_summary *s, unsigned first,
                       unsigned end, int width)
{
    for (unsigned k = first; k < end; k++) {
        if (s->kinds[k] == 0)
            continue;
        printf("%-13s%-*s %12" PRIu64 "\n", head, width, kind_text(k), s->kinds[k]);
        head = "";
    }
}

static void print_bytes(const struct trace_summary *s)
{
    printf("bytes        %" PRIu64, s->file_bytes);
    if (s->events)
        printf(" (%.2f an event)", (double)s->file_bytes / (double)s->events);
    putchar('\n');
}

static void print_text(const struct trace_summary *s)
{
    printf("format       %s\n", s->format);
    if (s->producer[0]) {
        fputs("producer     ", stdout);
        print_visible(stdout, s->producer);
        putchar('\n');
    }
    printf("events       %" PRIu64 "%s\n", s->events,
           s->counted ? "" : " by the headers of the blocks; what is in them was not read");
    if (s->events)
        printf("numbers      %" PRIu64 " to %" PRIu64 "\n", s->first, s->first + s->events - 1);
    if (s->counted)
        printf("threads      %" PRIu64 "\n", s->threads);
    if (s->granularity)
        printf("granularity  %u bytes\n", s->granularity);
    if (s->layout)
        printf("layout       %s\n", layouts[s->layout].name);
    if (s->gaps)
        printf("gaps         %s\n", gap_unit_names[s->gaps]);
    if (s->file_bytes)
        print_bytes(s);
    if (s->blocks)
        printf("blocks       %" PRIu64 "\n", s->blocks);
    if (s->counted) {
        printf("identity     %016" PRIx64 "\n", s->identity);
        print_list("kinds", s, 0, EV_KINDS, 12);
        print_list("counts", s, COUNT_FIRST, COUNTED, 30);
    }
    printf("state        %s\n", s->damage[0] ? "damaged" : s->complete ? "complete" : "cut off");
}

static void json_list(struct json *j, const char *key, const struct trace_summary *s,
                      unsigned first, unsigned end)
{
    json_key_object(j, key);
    for (unsigned k = first; k < end; k++)
        if (s->kinds[k])
            json_key_u64(j, kind_text(k), s->kinds[k]);
    json_end(j);
}

static void json_contents(struct json *j, const struct trace_summary *s)
{
    json_key_u64(j, "threads", s->threads);
    json_key_hex16(j, "identity", s->identity);
    json_list(j, "kinds", s, 0, EV_KINDS);
    json_list(j, "counts", s, COUNT_FIRST, COUNTED);
}

static void print_json(const struct trace_summary *s)
{
    struct json j;

    json_init(&j, stdout, true);
    json_object(&j);
    JSON_TEXTS(&j, {"format", s->format}, {"producer", s->producer[0] ? s->producer : NULL});
    JSON_COUNTS(&j, {"events", s->events}, {"first", s->first}, {"granularity", s->granularity});
    JSON_TEXTS(&j, {"layout", layouts[s->layout].name}, {"gaps", gap_unit_names[s->gaps]});
    JSON_COUNTS(&j, {"bytes", s->file_bytes}, {"blocks", s->blocks});
    if (s->counted)
        json_contents(&j, s);
    json_key_bool(&j, "complete", s->complete && !s->damage[0]);
    json_key_str(&j, "damage", s->damage[0] ? s->damage : NULL);
    json_end(&j);
}

/* Headers alone do not tell whether what they announce can be read, so a trace without a footer
 * ends with an error although all counts were printed. */
static int damage(const struct trace_summary *s, const char *spec, struct err *e)
{
    const char *what = s->damage[0] ? s->damage : "it ends without a footer";

    if (strcmp(spec, "-") == 0)
        return err_set(e, LARD_TRACE,
                       "standard input: %s; save it to a file, then `lardsim trace cut --salvage "
                       "FILE OUT` keeps what can be read before that",
                       what);
    return err_set(
        e, LARD_TRACE,
        "%s: %s; `lardsim trace cut --salvage %s OUT` keeps what can be read before that", spec,
        what, spec);
}

static int info_run(const struct cli *c, struct err *e)
{
    struct trace_summary s;

    if (trace_summarize(c->arg[0], &s, e))
        return -1;
    if (cli_has(c, OPT_JSON))
        print_json(&s);
    else
        print_text(&s);
    return s.complete && !s.damage[0] ? LARD_DONE : damage(&s, c->arg[0], e);
}

const struct verb verb_trace_info = {
    .help = &verb_help[HELP_trace_info], .options = cli_json_option, .run = info_run};
