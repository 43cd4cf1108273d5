/* read.c - the text form as a source of events, for traces that people write. It checks each
 * event by itself; whether the stream obeys the stream rules is not its business. */
#include "trace/text/form.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { BATCH_EVENTS = 1024, KEPT_LINES = 64 /* after so many lines what is kept is looked at */ };

/* Ids for names that come without one. */
#define NEW_OBJECT_FIRST (UINT64_C(1) << 40)
#define NEW_OBJECT_STEP  64
#define NEW_SITE_FIRST   (UINT64_C(1) << 62)
#define NEW_SITE_STEP    1

struct text_source {
    struct source base;
    struct text_reader r;
    char *producer;
    unsigned given;   /* lines of the head, a bit each */
    bool line_waits;  /* the line in hand was not looked at yet */
    bool begun;       /* lines that may only stand before the first event are over */
    uint64_t events;  /* so far */
    unsigned in_hand; /* events in rec */
    size_t records;
    struct event rec[BATCH_EVENTS * EVENT_RECORDS];
};

/* ---- names ---------------------------------------------------------------------------------- */

/* The place for the text in s->first: its value is 0 when no name has it yet. */
static uint64_t *name_place(struct text_reader *t, struct id_space *s, const char *text)
{
    uint64_t key = digest_bytes(text, strlen(text)), *place;

    for (;; key++) {
        place = map_put(&s->first, key);
        if (!*place || !strcmp(names_at(t->names, *place - 1)->text, text))
            return place;
    }
}

/* A name line: the text also stands for the id from now on, unless it stands for another already.
 */
static int name_with_id(struct text_reader *t, enum name_space space, uint64_t id, const char *text)
{
    struct id_space *s = space == NAME_OBJECT ? &t->objects : space == NAME_SITE ? &t->sites : NULL;
    const size_t before = names_count(t->names);

    if (text_name(t->lines, t->names, space, id, text))
        return -1;
    if (!s || names_count(t->names) == before)
        return 0;
    uint64_t *place = name_place(t, s, text);
    if (!*place)
        *place = before + 1;
    return 0;
}

/* A name without an id gets the next number that no name has. */
int text_id(struct text_reader *t, struct id_space *s, const char *text, uint64_t *id)
{
    uint64_t *place = name_place(t, s, text);

    if (*place) {
        *id = names_at(t->names, *place - 1)->id;
        return 0;
    }
    while (names_find(t->names, s->space, s->next))
        s->next += s->step;
    *id = s->next;
    if (text_name(t->lines, t->names, s->space, *id, text))
        return -1;
    *place = names_count(t->names);
    return 0;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* The quoted text that ends a line. */
static int quoted_text(struct text_source *t, const char *usage, const char **text)
{
    struct word w;
    const int got = text_word(t->r.lines, &w);

    if (got < 0)
        return -1;
    if (!got || !w.quoted || w.at)
        return text_fail(t->r.lines, "a text in quotes is missing; write %s", usage);
    *text = w.text;
    return text_line_over(t->r.lines);
}

static int name_line(struct text_source *t)
{
    static const char usage[] = "name SPACE ID \"TEXT\", as in name thread 0 \"main\"";
    char shown[SHOWN_MAX];
    const char *text;
    struct word w;
    uint64_t id;

    if (text_bare_word(t->r.lines, "the name space", usage, &w))
        return -1;
    const int space = name_index(name_space_text, w.text);
    if (space < 0)
        return text_fail(t->r.lines, "\"%s\" has no names; thread, object, site and phase have",
                         text_shown(shown, w.text));
    if (text_number(t->r.lines, "the id", usage, UINT64_MAX, &id) || quoted_text(t, usage, &text))
        return -1;
    return name_with_id(&t->r, (enum name_space)space, id, text);
}

static const struct keyword {        /* lines of the head, which stand before the first event */
    const char *text, *what, *usage; /* what: a word, the value; NULL: a text in quotes is */
} keywords[] = {
    {"first", "the number of the first event", "first NUMBER"},
    {"granularity", "the granularity", "granularity BYTES"},
    {"layout", "the layout", "layout NAME"},
    {"gaps", "the unit of gaps", "gaps UNIT"},
    {"producer", NULL, "producer \"TEXT\""},
    {"name", NULL, NULL}, /* may stand anywhere: name_line */
};
enum { HEADERS = ARRAY_SIZE(keywords) - 1 };

static int header_line(struct text_source *t, const struct keyword *k)
{
    const unsigned bit = 1U << (k - keywords);
    struct word w;

    if (t->begun)
        return text_fail(t->r.lines,
                         "%s must come before the first event, and before the first %d KiB of "
                         "names and comments",
                         k->text, KEPT_STEP >> 10);
    if (t->given & bit)
        return text_twice(t->r.lines, k->text);
    t->given |= bit;
    if (k == keywords)
        return text_number(t->r.lines, k->what, k->usage, INT64_MAX, &t->base.first) ||
                       text_line_over(t->r.lines)
                   ? -1
                   : 0;
    const char *text;
    if (k->what ? text_bare_word(t->r.lines, k->what, k->usage, &w)
                : quoted_text(t, k->usage, &text))
        return -1;
    const char *fault = text_header(&t->base, &t->producer, k->text, k->what ? w.text : text);
    return fault ? text_fail(t->r.lines, "%s", fault) : text_line_over(t->r.lines);
}

static int unknown_line(struct text_source *t, const struct word *w)
{
    const char *known[ARRAY_SIZE(keywords)];

    for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
        known[i] = keywords[i].text;
    return text_unknown(t->r.lines, w->text, known, w->at || w->quoted ? 0 : ARRAY_SIZE(keywords),
                        "begins no line",
                        "begins no line; an event begins with its thread, as in T0, a comment "
                        "with #");
}

/* The event is parsed right into its place in the batch; the numbers are only moved on when it is
 * well-formed. */
static int event_line(struct text_source *t, const char *actor)
{
    struct event *ev = t->rec + t->records;

    if (t->events == INT64_MAX - t->base.first)
        return text_fail(t->r.lines, "the numbers of events must be below 2^63 - 1");
    if (text_event(&t->r, actor, ev))
        return -1;
    t->records += event_records(ev);
    t->in_hand++;
    t->events++;
    return 0;
}

static int any_line(struct text_source *t)
{
    struct word w;
    const int got = text_word(t->r.lines, &w);

    if (got <= 0)
        return got;
    if (w.at || w.quoted)
        return unknown_line(t, &w);
    if (w.text[0] == 'T' && w.text[1] >= '0' && w.text[1] <= '9')
        return event_line(t, w.text);
    if (!strcmp(w.text, "name"))
        return name_line(t);
    for (size_t i = 0; i < HEADERS; i++)
        if (!strcmp(w.text, keywords[i].text))
            return header_line(t, &keywords[i]);
    return unknown_line(t, &w);
}

/* A name belongs to the events after it, so that it ends a batch: a copy of a trace then has its
 * names at the same places. */
static bool line_is_name(const char *line)
{
    return !strncmp(line + strspn(line, " \t"), "name", 4);
}

static uint64_t kept(const struct text_source *t)
{
    return names_bytes(t->r.names) + map_bytes(&t->r.objects.first) + map_bytes(&t->r.sites.first) +
           input_bytes(t->r.lines->in);
}

/* Takes lines until there are `enough` events in hand, or no more are to be had now. */
static void collect(struct text_source *t, unsigned enough)
{
    const uint64_t most = kept(t) + KEPT_STEP, fills = t->r.lines->fills + TEXT_FILLS;

    while (t->in_hand < enough && text_goes_on(t->r.lines, fills) &&
           (t->r.lines->number % KEPT_LINES || kept(t) < most)) {
        const bool got = t->line_waits || text_line_next(t->r.lines) > 0;
        t->line_waits = got && t->in_hand && line_is_name(t->r.lines->at);
        if (t->line_waits)
            return;
        if (got)
            (void)any_line(t);
    }
}

/* ---- the source ----------------------------------------------------------------------------- */

static int text_next(struct source *s, struct batch *b, struct err *e)
{
    struct text_source *t = (struct text_source *)s;

    collect(t, BATCH_EVENTS);
    if (!t->in_hand && t->r.lines->failed.code)
        return err_pass(e, &t->r.lines->failed);
    b->rec = t->rec;
    b->records = t->records;
    b->first = s->first + t->events - t->in_hand;
    b->kept = kept(t);
    b->more = !t->in_hand && !t->r.lines->ended;
    t->records = 0;
    t->in_hand = 0;
    return 0;
}

static void text_close(struct source *s)
{
    struct text_source *t = (struct text_source *)s;

    map_free(&t->r.objects.first);
    map_free(&t->r.sites.first);
    names_free(t->r.names);
    text_lines_free(t->r.lines);
    free(t->producer);
    free(t);
}

static int magic_line(struct text_source *t)
{
    char shown[SHOWN_MAX];
    uint64_t version = 0;
    struct word w;
    int got;

    while ((got = text_line_next(t->r.lines)) > 0 && (got = text_word(t->r.lines, &w)) == 0)
        continue;
    if (got < 0)
        return -1;
    if (!got || strcmp(w.text, TEXT_MAGIC) != 0)
        return text_fail(t->r.lines, "the first line must be \"" TEXT_MAGIC " %d\"", TEXT_VERSION);
    if (text_bare_word(t->r.lines, "the version", TEXT_MAGIC " 2", &w))
        return -1;
    if (text_number_parse(w.text, &version) || !version || version > TEXT_VERSION)
        return text_fail(t->r.lines,
                         "version \"%s\" is unknown; this lardsim reads versions 1 to %d",
                         text_shown(shown, w.text), TEXT_VERSION);
    t->base.version = t->r.version = (unsigned)version;
    return text_line_over(t->r.lines);
}

/* Reads as far as the first event, since what is said before it belongs to the source. */
static struct source *text_open(struct input *in, struct err *e)
{
    struct text_source *t = xcalloc(1, sizeof *t);

    t->r.lines = text_lines_new(in);
    t->r.names = names_new();
    t->r.objects =
        (struct id_space){.space = NAME_OBJECT, .next = NEW_OBJECT_FIRST, .step = NEW_OBJECT_STEP};
    t->r.sites =
        (struct id_space){.space = NAME_SITE, .next = NEW_SITE_FIRST, .step = NEW_SITE_STEP};
    t->base = input_source(in, NULL, text_next, text_close, t->r.names);
    if (!magic_line(t))
        collect(t, 1);
    t->begun = true;
    if (!t->r.lines->failed.code)
        return &t->base;
    err_pass(e, &t->r.lines->failed);
    text_close(&t->base);
    return NULL;
}

static bool text_bid(const struct input *in)
{
    const char *p = (const char *)in->head, *end = p + in->head_n, *line_end;
    const size_t magic = sizeof TEXT_MAGIC - 1;

    for (;; p = line_end + 1) {
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
            p++;
        if (p == end)
            return false;
        if (*p != '#')
            return (size_t)(end - p) >= magic && !memcmp(p, TEXT_MAGIC, magic);
        line_end = memchr(p, '\n', (size_t)(end - p));
        if (!line_end) /* nothing but comments, as far as they could be read */
            return in->head_n == sizeof in->head;
    }
}

const struct trace_format trace_format_text = {
    .name = "text",
    .help = "One event a line, to read and to write by hand; begins with \"" TEXT_MAGIC " 2\".",
    .bid = text_bid,
    .open = text_open,
};
