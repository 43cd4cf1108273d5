/* std_read.c - RAPID's STD text as a source: THREAD|OPERATION(NAME)|LOCATION, one event a line.
 * Each line is checked by itself; whether the stream obeys the stream rules is not its business.
 *
 * Numbers for threads, variables, locks and locations are given out in order of appearance, and all
 * have the name that the text has for them. A line is read by any_line; quick_line does the same
 * for lines in which nothing is new or long, at a fifth of the time. */
#include "base/mem.h"
#include "trace/intern.h"
#include "trace/foreign/std_form.h"
#include "trace/text/form.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH_EVENTS = 1024, ACCESS_BYTES = 8, KNOWN_BYTES = 1024 /* that a name has at most */ };
#define VARIABLE_FIRST (UINT64_C(1) << 32)
#define LOCK_FIRST     (UINT64_C(1) << 40)
#define LOCK_STEP      64

const char *const std_operation[EV_KINDS] = {
    [EV_READ] = "r",      [EV_WRITE] = "w",   [EV_ACQUIRE] = "acq",
    [EV_RELEASE] = "rel", [EV_FORK] = "fork", [EV_JOIN] = "join",
};

/* Each sort of name has addresses or numbers of its own, so that a lock is never a variable. */
struct id_range { /* names that get numbers in order of appearance */
    struct intern texts;
    enum name_space names;
    uint64_t first, step;
    size_t limit;
    const char *what;
};

enum { THREADS, VARIABLES, LOCKS, SITES, PHASES, IDS };
struct std_source {
    struct source base;
    struct lines *lines; /* owns, as all pointers here */
    struct names *names;
    struct id_range ids[IDS];
    struct map numbers; /* a set: locations that are numbers, and have their names */
    uint32_t *depth;    /* open begins, by thread; NULL: begin and end are marks */
    uint64_t events;    /* so far */
    unsigned in_hand;   /* events in rec */
    size_t records;
    struct event rec[BATCH_EVENTS * EVENT_RECORDS];
};

/* ---- ids ------------------------------------------------------------------------------------ */

/* The name table keeps the text: interned texts are borrowed from it. */
static int id_new(struct std_source *s, struct id_range *r, const char *text, size_t *index)
{
    if (r->texts.n >= r->limit)
        return text_fail(s->lines, "there are more than %zu %s", r->limit, r->what);
    if (text_name(s->lines, s->names, r->names, r->first + r->texts.n * r->step, text))
        return -1;
    *index = intern_add(&r->texts, names_at(s->names, names_count(s->names) - 1)->text);
    return 0;
}

static int id_of(struct std_source *s, struct id_range *r, const char *text, uint64_t *id)
{
    size_t index = intern_find(&r->texts, text, strlen(text));

    if (index == INTERN_NONE && id_new(s, r, text, &index))
        return -1;
    *id = r->first + index * r->step;
    return 0;
}

/* The site of this number is called by its decimals, as the text has it. */
static int site_numbered(struct std_source *s, uint64_t site, const char *text)
{
    uint64_t *known = map_put(&s->numbers, site);

    if (*known)
        return 0;
    *known = 1;
    return text_name(s->lines, s->names, NAME_SITE, site, text);
}

/* A location that is a number, from 1 and written as one writes it, is the site of this number. */
static int site_of(struct std_source *s, const char *text, uint64_t *site)
{
    const bool decimal = *text >= '1' && *text <= '9' && !text[strspn(text, "0123456789")];

    *site = 0;
    if (!strcmp(text, STD_NOWHERE))
        return 0;
    if (decimal && !text_number_parse(text, site) && *site < STD_SITE_NAMED)
        return site_numbered(s, *site, text);
    return id_of(s, &s->ids[SITES], text, site);
}

/* ---- events --------------------------------------------------------------------------------- */

static inline void put_access(struct std_source *s, enum ev_kind kind, sim_tid tid, size_t variable,
                              uint64_t site)
{
    s->rec[s->records++] = (struct event){.kind = (uint8_t)kind,
                                          .tid = tid,
                                          .flags = s->depth && s->depth[tid] ? EVF_IN_TXN : 0,
                                          .addr = VARIABLE_FIRST + variable * ACCESS_BYTES,
                                          .size = ACCESS_BYTES,
                                          .aux = site};
    s->in_hand++;
}

static inline void put_other(struct std_source *s, struct event ev, uint64_t site)
{
    if (site)
        ev.flags = EVF_MORE;
    s->rec[s->records++] = ev;
    if (site)
        s->rec[s->records++] = (struct event){.aux = site};
    s->in_hand++;
}

/* ---- any line ------------------------------------------------------------------------------- */

struct fields { /* the fields of a line, NUL-terminated */
    char *thread, *operation, *name, *location;
};

static int malformed(struct std_source *s, const char *what)
{
    return text_fail(s->lines, "%s; a line is THREAD|OPERATION(NAME)|LOCATION, as in T0|r(V1)|12",
                     what);
}

static bool has_blank(const char *text)
{
    return text[strcspn(text, " \t\r\v\f")];
}

/* A name may have bars in it: the first and the last of the line are those between the fields. */
static int split(struct std_source *s, char *line, struct fields *f)
{
    char *const first = strchr(line, '|'), *const last = strrchr(line, '|');

    if (first == last)
        return malformed(s, first ? "a bar is missing" : "there are no bars");
    *first = *last = '\0';
    *f = (struct fields){.thread = line, .operation = first + 1, .location = last + 1};
    if (has_blank(f->thread) || has_blank(f->operation) || has_blank(f->location))
        return malformed(s, "there is a blank in the line");
    if (!*f->thread)
        return malformed(s, "the thread is missing");
    if (!*f->location)
        return malformed(s, "the location is missing");
    if (std_is_mark(f->operation))
        return 0;
    char *open = strchr(f->operation, '(');
    if (!open || last[-1] != ')' || open + 2 > last - 1)
        return malformed(s, "the operation has no name in parentheses");
    *open = last[-1] = '\0';
    f->name = open + 1;
    return 0;
}

bool std_is_mark(const char *text)
{
    const size_t n = strlen(text);
    const char *rest = !strncmp(text, STD_BEGIN, sizeof STD_BEGIN - 1) ? text + sizeof STD_BEGIN - 1
                       : !strncmp(text, STD_END, sizeof STD_END - 1)   ? text + sizeof STD_END - 1
                                                                       : NULL;

    if (!rest || has_blank(rest))
        return false;
    return !*rest || (*rest == '(' && rest + 3 <= text + n && text[n - 1] == ')');
}

/* Returns the kind of a mark. The outermost pair is a transaction; a mark inside it, or without a
 * begin, stays a mark. */
static enum ev_kind mark_kind(const struct std_source *s, sim_tid tid, bool begin)
{
    if (!s->depth)
        return EV_PHASE;
    if (begin)
        return s->depth[tid]++ ? EV_PHASE : EV_TXN_BEGIN;
    if (!s->depth[tid])
        return EV_PHASE;
    return --s->depth[tid] ? EV_PHASE : EV_TXN_COMMIT;
}

static int mark(struct std_source *s, sim_tid tid, const char *operation, uint64_t site)
{
    struct event ev = {.tid = tid};

    ev.kind = (uint8_t)mark_kind(s, tid, *operation == *STD_BEGIN);
    if (ev.kind == EV_PHASE && id_of(s, &s->ids[PHASES], operation, &ev.aux))
        return -1;
    put_other(s, ev, site);
    return 0;
}

static enum ev_kind kind_of(const char *operation)
{
    for (int k = 1; k < EV_KINDS; k++)
        if (std_operation[k] && !strcmp(std_operation[k], operation))
            return (enum ev_kind)k;
    return (enum ev_kind)0;
}

static int operation(struct std_source *s, sim_tid tid, const struct fields *f, uint64_t site)
{
    struct event ev = {.tid = tid, .kind = (uint8_t)kind_of(f->operation)};
    char shown[SHOWN_MAX];
    uint64_t addr;

    if (!ev.kind)
        return text_fail(
            s->lines, "\"%s\" is no operation; STD has r, w, acq, rel, fork, join, begin and end",
            text_shown(shown, f->operation));
    if (event_is_access(&ev)) {
        if (id_of(s, &s->ids[VARIABLES], f->name, &addr))
            return -1;
        put_access(s, ev.kind, tid, (size_t)(addr - VARIABLE_FIRST) / ACCESS_BYTES, site);
        return 0;
    }
    if (ev_info[ev.kind].form == FORM_THREAD ? id_of(s, &s->ids[THREADS], f->name, &ev.aux)
                                             : id_of(s, &s->ids[LOCKS], f->name, &ev.addr))
        return -1;
    put_other(s, ev, site);
    return 0;
}

/* The line in hand. An empty one holds no event. */
static int any_line(struct std_source *s)
{
    struct fields f = {.name = NULL};
    uint64_t thread, site;

    if (!*s->lines->at)
        return 0;
    if (split(s, s->lines->at, &f) || id_of(s, &s->ids[THREADS], f.thread, &thread) ||
        site_of(s, f.location, &site))
        return -1;
    if (!f.name)
        return mark(s, (sim_tid)thread, f.operation, site);
    return operation(s, (sim_tid)thread, &f, site);
}

/* ---- most lines ----------------------------------------------------------------------------- */

/* The text up to c at *p, which moves behind the c. There is a line's end at `last`. INTERN_NONE:
 * it is not known. */
static inline size_t quick_find(const struct intern *t, const char **p, char c, const char *last)
{
    const char *const text = *p, *end;
    uint64_t place;

    if (*text == t->letter && (end = intern_decimal(text + 1, &place)) && *end == c &&
        place < INTERN_NUMBERED_MAX) {
        *p = end + 1;
        return intern_numbered(t, place);
    }
    end = memchr(text, c, last - text <= KNOWN_BYTES ? (size_t)(last - text) : KNOWN_BYTES + 1);
    if (!end || end == text)
        return INTERN_NONE;
    *p = end + 1;
    return intern_find(t, text, (size_t)(end - text));
}

/* r( w( acq( rel(: 0 for others. *p moves behind it. */
static enum ev_kind quick_operation(const char **p)
{
    const char *at = *p;

    if (at[1] == '(' && (*at == 'r' || *at == 'w')) {
        *p += 2;
        return *at == 'r' ? EV_READ : EV_WRITE;
    }
    *p += 4;
    if (!memcmp(at, "acq(", 4))
        return EV_ACQUIRE;
    return !memcmp(at, "rel(", 4) ? EV_RELEASE : (enum ev_kind)0;
}

static bool quick_site(const struct std_source *s, const char **p, const char *last, uint64_t *site)
{
    const char *end = intern_decimal(*p, site);

    if (end && *end == '\n' && *site) {
        *p = end + 1;
        return map_find(&s->numbers, *site);
    }
    if (!strncmp(*p, STD_NOWHERE "\n", sizeof STD_NOWHERE)) {
        *site = 0;
        *p += sizeof STD_NOWHERE;
        return true;
    }
    size_t index = quick_find(&s->ids[SITES].texts, p, '\n', last + 1);
    *site = STD_SITE_NAMED + index;
    return index != INTERN_NONE;
}

/* The bytes after the line at p. NULL, and nothing was done, when it is not one of those with a
 * known thread, a known variable or lock, and a location that is known or a number. */
static const char *quick_line(struct std_source *s, const char *p, const char *last)
{
    const size_t thread = quick_find(&s->ids[THREADS].texts, &p, '|', last);
    uint64_t site;

    if (thread == INTERN_NONE || last - p < 4)
        return NULL;
    const enum ev_kind kind = quick_operation(&p);
    const bool access = kind == EV_READ || kind == EV_WRITE;
    const size_t index =
        kind ? quick_find(access ? &s->ids[VARIABLES].texts : &s->ids[LOCKS].texts, &p, ')', last)
             : INTERN_NONE;
    if (index == INTERN_NONE || *p++ != '|' || !quick_site(s, &p, last, &site))
        return NULL;
    if (access)
        put_access(s, kind, (sim_tid)thread, index, site);
    else
        put_other(s,
                  (struct event){.kind = (uint8_t)kind,
                                 .tid = (sim_tid)thread,
                                 .addr = LOCK_FIRST + index * LOCK_STEP},
                  site);
    return p;
}

/* Takes whole lines from the buffer while they are of the quick kind. */
static void quick_lines(struct std_source *s)
{
    struct lines *l = s->lines;
    const char *p = l->buffer + l->start, *next;
    const char *const last = memrchr(p, '\n', l->end - l->start);

    while (last && p <= last && s->in_hand < BATCH_EVENTS && (next = quick_line(s, p, last))) {
        l->number++;
        p = next;
    }
    l->start = (size_t)(p - l->buffer);
}

/* ---- the source ----------------------------------------------------------------------------- */

/* quick_lines takes all it can; the line at which it stops goes the long way, which also makes what
 * is new known to it. */
static void collect(struct std_source *s)
{
    const uint64_t fills = s->lines->fills + TEXT_FILLS;

    while (s->in_hand < BATCH_EVENTS && text_goes_on(s->lines, fills)) {
        quick_lines(s);
        if (s->in_hand < BATCH_EVENTS && text_line_next(s->lines) > 0)
            (void)any_line(s);
    }
}

static uint64_t kept(const struct std_source *s)
{
    uint64_t bytes = names_bytes(s->names) + input_bytes(s->lines->in);

    for (size_t i = 0; i < IDS; i++)
        bytes += intern_bytes(&s->ids[i].texts);
    return bytes;
}

static int std_next(struct source *base, struct batch *b, struct err *e)
{
    struct std_source *s = (struct std_source *)base;

    collect(s);
    if (!s->in_hand && s->lines->failed.code)
        return err_pass(e, &s->lines->failed);
    *b = (struct batch){.rec = s->rec, .records = s->records, .first = s->events};
    b->kept = kept(s);
    b->more = !b->records && !s->lines->ended;
    s->events += s->in_hand;
    s->records = 0;
    s->in_hand = 0;
    return 0;
}

static void std_close(struct source *base)
{
    struct std_source *s = (struct std_source *)base;

    for (size_t i = 0; i < IDS; i++)
        intern_free(&s->ids[i].texts);
    map_free(&s->numbers);
    names_free(s->names);
    text_lines_free(s->lines);
    free(s->depth);
    free(s);
}

/* begin=mark, begin=transaction */
static int options_apply(struct std_source *s, const char *options, struct err *e)
{
    if (!options || !strcmp(options, "begin=mark"))
        return 0;
    if (strcmp(options, "begin=transaction") != 0)
        return err_set(e, LARD_USAGE,
                       "%s: \"%s\" is no option of STD text; give begin=mark or begin=transaction",
                       s->base.name, options);
    s->depth = xcalloc(MAX_THREADS, sizeof *s->depth);
    return 0;
}

static const struct id_range ranges[IDS] = {
    [THREADS] = {{0}, NAME_THREAD, 0, 1, MAX_THREADS, "threads"},
    [VARIABLES] = {{0}, NAME_OBJECT, VARIABLE_FIRST, ACCESS_BYTES, UINT32_MAX, "variables"},
    [LOCKS] = {{0}, NAME_OBJECT, LOCK_FIRST, LOCK_STEP, UINT32_MAX, "locks"},
    [SITES] = {{0}, NAME_SITE, STD_SITE_NAMED, 1, UINT32_MAX, "locations with a name"},
    [PHASES] = {{0}, NAME_PHASE, 0, 1, UINT32_MAX, "marks"},
};

static struct source *std_open(struct input *in, struct err *e)
{
    struct std_source *s = xcalloc(1, sizeof *s);

    s->lines = text_lines_new(in);
    s->names = names_new();
    memcpy(s->ids, ranges, sizeof ranges);
    s->base = input_source(in, "std", std_next, std_close, s->names);
    s->base.granularity = ACCESS_BYTES;
    if (!options_apply(s, in->options, e))
        return &s->base;
    std_close(&s->base);
    return NULL;
}

/* The first line has a bar, and after it a word with a parenthesis, or begin or end. */
static bool std_bid(const struct input *in)
{
    char head[sizeof in->head + 1];
    const char *line = head, *bar;

    memcpy(head, in->head, in->head_n);
    head[in->head_n] = '\0';
    line += strspn(line, "\r\n");
    bar = strchr(line, '|');
    if (!bar || bar == line || strcspn(line, " \t\r\n") < (size_t)(bar - line))
        return false;
    size_t word = strspn(bar + 1, "abcdefghijklmnopqrstuvwxyz");
    if (word && bar[1 + word] == '(')
        return true;
    return bar[1 + word] == '|' &&
           ((word == sizeof STD_BEGIN - 1 && !strncmp(bar + 1, STD_BEGIN, word)) ||
            (word == sizeof STD_END - 1 && !strncmp(bar + 1, STD_END, word)));
}

const struct trace_format trace_format_std = {
    .name = "std",
    .help = "RAPID's STD text: T0|r(V1)|12. Option: begin=mark or begin=transaction.",
    .bid = std_bid,
    .open = std_open,
    .options = true,
};
