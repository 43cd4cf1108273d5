/* std_write.c - events into RAPID's STD text. It has plain accesses, exclusive locks, forks and
 * joins; any other event stops the writer, or is left out where that is allowed (lossy). Numbers of
 * events, sizes, gaps and what is only a hint have no place in it.
 *
 * Each thread, variable, lock and site gets one text, at its first event: its name where that can
 * stand in STD and no other has it, else one made of its number. */
#include "base/mem.h"
#include "trace/intern.h"
#include "trace/foreign/std_form.h"
#include "trace/text/form.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* RAPID takes the location for a Java int; sites that are none get a number from here on. */
enum { PLAIN_SITE_FIRST = 1 << 30 };

struct texts { /* the texts of one space of ids */
    enum name_space names;
    char prefix;       /* before texts that are made of a number; 0: the number is the id itself */
    bool dense;        /* that number is one in order of appearance */
    struct map by_id;  /* id to the text's number + 1 */
    struct intern all; /* owns the texts */
};

enum { THREADS, VARIABLES, LOCKS, SITES, SORTS };
struct std_sink {
    struct sink base;
    struct text_out out;
    struct names *names; /* owns; of what was seen so far */
    size_t named;
    uint64_t next; /* number of the next event */
    struct texts texts[SORTS];
    struct map depth; /* lossy: how often a thread holds a lock, by both */
    bool lossy;
};

/* ---- texts ---------------------------------------------------------------------------------- */

static bool bare(const char *text, bool lossy)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p <= ' ' || (*p == '|' && lossy)) /* RAPID would take a bar for the field's end */
            return false;
    return true;
}

static bool java_int(const char *text)
{
    const size_t n = strlen(text), sign = *text == '-';

    if (n == sign || text[sign + strspn(text + sign, "0123456789")])
        return false;
    return n - sign < 10 || (n - sign == 10 && strcmp(text + sign, "2147483647") <= 0);
}

static bool text_fits(const struct std_sink *s, const struct texts *t, const char *text)
{
    if (!bare(text, s->lossy) || intern_find(&t->all, text, strlen(text)) != INTERN_NONE)
        return false;
    if (t == &s->texts[THREADS])
        return !strchr(text, '|');
    if (t == &s->texts[SITES])
        return !strchr(text, '|') && strcmp(text, STD_NOWHERE) != 0 &&
               (!s->lossy || java_int(text));
    return true;
}

static char *made_text(const struct std_sink *s, const struct texts *t, uint64_t id)
{
    uint64_t number = t->dense ? t->all.n : id;
    char text[48];
    int n;

    if (t->prefix)
        n = snprintf(text, sizeof text, "%c%" PRIu64, t->prefix, number);
    else
        n = snprintf(text, sizeof text, "%" PRIu64, number);
    for (uint64_t i = 0; !text_fits(s, t, text); i++)
        if (t == &s->texts[SITES])
            snprintf(text, sizeof text, "%" PRIu64, PLAIN_SITE_FIRST + i);
        else
            snprintf(text + n, sizeof text - (size_t)n, "_%" PRIu64, i);
    return xstrdup(text);
}

static size_t number_of(struct std_sink *s, struct texts *t, uint64_t id)
{
    uint64_t *number = map_put(&t->by_id, id);
    const char *name;

    if (!*number) {
        name = names_find(s->names, t->names, id);
        *number = 1 + intern_add(&t->all, name && text_fits(s, t, name) ? xstrdup(name)
                                                                        : made_text(s, t, id));
    }
    return *number - 1;
}

static const char *text_of(struct std_sink *s, struct texts *t, uint64_t id)
{
    const size_t number = number_of(s, t, id);

    return t->all.text[number];
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void put_line(struct std_sink *s, const struct event *ev, const char *operation,
                     const char *name)
{
    const uint64_t site = event_site(ev);
    const char *thread = text_of(s, &s->texts[THREADS], ev->tid),
               *at = site ? text_of(s, &s->texts[SITES], site) : STD_NOWHERE;

    fprintf(s->out.file, "%s|%s%s%s%s|%s\n", thread, operation, name ? "(" : "", name ? name : "",
            name ? ")" : "", at);
}

/* Puts a line. The thread gets its text first, as a reader meets it first. */
static void put_event(struct std_sink *s, const struct event *ev)
{
    const char *operation = std_operation[ev->kind];

    (void)text_of(s, &s->texts[THREADS], ev->tid);
    if (event_is_access(ev))
        put_line(s, ev, operation, text_of(s, &s->texts[VARIABLES], ev->addr));
    else if (ev_info[ev->kind].form == FORM_THREAD)
        put_line(s, ev, operation, text_of(s, &s->texts[THREADS], ev->aux));
    else
        put_line(s, ev, operation, text_of(s, &s->texts[LOCKS], ev->addr));
}

/* The text of a phase that is a begin or an end; else NULL. */
static const char *mark_of(const struct std_sink *s, const struct event *ev)
{
    const char *text = ev->kind == EV_PHASE ? names_find(s->names, NAME_PHASE, ev->aux) : NULL;

    return text && std_is_mark(text) && bare(text, s->lossy) ? text : NULL;
}

/* ---- what STD lacks ------------------------------------------------------------------------- */

/* Returns the word for the event's flag that STD text can't express; NULL: it has no such flag. */
static const char *flag_lacking(const struct event *ev)
{
    if (event_order(ev))
        return "atomic";
    if (ev->flags & EVF_SYSTEM)
        return "system";
    if (ev->flags & EVF_STACK)
        return "stack";
    if (ev->flags & EVF_VOLATILE)
        return "volatile";
    if (ev->flags & EVF_FINAL)
        return "final";
    return ev->flags & EVF_IN_TXN ? "in-transaction" : NULL;
}

static int lacks(const struct std_sink *s, const struct event *ev, struct err *e)
{
    const char *flag = flag_lacking(ev), *text = ev_info[ev->kind].text;

    return err_set(e, LARD_TRACE,
                   "event %" PRIu64
                   ", of thread %u, is of the kind %s%s%s, which STD text does not "
                   "have; --lossy leaves out what it does not have",
                   s->next, (unsigned)ev->tid, text, flag ? ", " : "", flag ? flag : "");
}

/* Returns the counter of how often the thread holds the lock. */
static uint64_t *depth_of(struct std_sink *s, const struct event *ev)
{
    return map_put(&s->depth, number_of(s, &s->texts[LOCKS], ev->addr) << 16 | ev->tid);
}

/* A thread that waits lets go of the lock as often as it holds it, and takes it as often again. */
static void put_wait(struct std_sink *s, const struct event *ev)
{
    const enum ev_kind as = ev->kind == EV_WAIT_ENTER ? EV_RELEASE : EV_ACQUIRE;
    const uint64_t times = *depth_of(s, ev);

    for (uint64_t i = 0; i < times; i++)
        put_line(s, ev, std_operation[as], text_of(s, &s->texts[LOCKS], ev->addr));
}

/* Leaves out the accesses that the view `tracked` does not check, and atomic ones, which a reader
 * would take for racy. */
static void put_lossy(struct std_sink *s, const struct event *ev)
{
    if (event_is_access(ev) ? event_order(ev) || !event_tracked(ev) : ev->flags & EVF_SYSTEM)
        return;
    if (ev->kind == EV_TXN_BEGIN || ev->kind == EV_TXN_COMMIT) {
        put_line(s, ev, ev->kind == EV_TXN_BEGIN ? STD_BEGIN : STD_END, NULL);
    } else if (ev->kind == EV_WAIT_ENTER || ev->kind == EV_WAIT_EXIT) {
        put_wait(s, ev);
    } else if (std_operation[ev->kind]) {
        if (ev->kind == EV_ACQUIRE)
            ++*depth_of(s, ev);
        else if (ev->kind == EV_RELEASE && *depth_of(s, ev))
            --*depth_of(s, ev);
        put_event(s, ev);
    }
}

/* ---- the sink ------------------------------------------------------------------------------- */

static int std_sink_event(struct sink *base, const struct event *ev, struct err *e)
{
    struct std_sink *s = (struct std_sink *)base;
    const char *mark = mark_of(s, ev);

    assert(ev_info[ev->kind].text);
    errno = 0;
    if (mark)
        put_line(s, ev, mark, NULL);
    else if (s->lossy)
        put_lossy(s, ev);
    else if (!std_operation[ev->kind] || flag_lacking(ev))
        return lacks(s, ev, e);
    else
        put_event(s, ev);
    s->next++;
    return text_written(&s->out, e);
}

static int std_sink_names(struct sink *base, const struct names *from, struct err *e)
{
    struct std_sink *s = (struct std_sink *)base;

    for (; s->named < names_count(from); s->named++) {
        const struct name *name = names_at(from, s->named);

        if (names_add(s->names, name->space, name->id, name->text, e))
            return -1;
    }
    return 0;
}

static void std_sink_abort(struct sink *base)
{
    struct std_sink *s = (struct std_sink *)base;

    for (struct texts *t = s->texts; t < s->texts + SORTS; t++) {
        for (size_t i = 0; i < t->all.n; i++)
            free((void *)(uintptr_t)t->all.text[i]);
        intern_free(&t->all);
        map_free(&t->by_id);
    }
    map_free(&s->depth);
    names_free(s->names);
    free(s);
}

static int std_sink_finish(struct sink *base, struct err *e)
{
    const int result = text_flushed(&((struct std_sink *)base)->out, e);

    std_sink_abort(base);
    return result;
}

static const struct texts sorts[SORTS] = {
    [THREADS] = {.names = NAME_THREAD, .prefix = 'T'},
    [VARIABLES] = {.names = NAME_OBJECT, .prefix = 'V', .dense = true},
    [LOCKS] = {.names = NAME_OBJECT, .prefix = 'L', .dense = true},
    [SITES] = {.names = NAME_SITE},
};

struct sink *sink_std(FILE *out, const struct sink_info *info, bool lossy, struct err *e)
{
    if (info->first > INT64_MAX) {
        err_set(e, LARD_TRACE, "the number of the first event must be below 2^63");
        return NULL;
    }
    struct std_sink *s = xcalloc(1, sizeof *s);
    s->base = (struct sink){.event = std_sink_event,
                            .names = std_sink_names,
                            .finish = std_sink_finish,
                            .abort = std_sink_abort};
    s->out.file = out;
    s->names = names_new();
    s->next = info->first;
    memcpy(s->texts, sorts, sizeof sorts);
    s->lossy = lossy;
    return &s->base;
}
