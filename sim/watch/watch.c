/* watch.c - filters on what is seen of a run, and its lines. */
#include "sim/watch/watch.h"
#include "base/mem.h"
#include "base/err.h"

#include <stdio.h>
#include <stdbool.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum watch_key { KEY_EVENT, KEY_ADDRESS, KEY_LINE, KEY_CORE, KEY_CYCLES, KEYS };
static const char *const key_text[KEYS] = {"event", "address", "line", "core", "cycles"};

struct watch_filter { /* all that are given must hold: from <= value <= to */
    struct watch_range {
        uint64_t from, to;
    } key[KEYS];
};

struct waiting_lines { /* of a core, until their event has a number */
    struct watch_line *line;
    size_t n, cap;
};

struct watch_lines {
    void (*print)(void *arg, const char *line);
    void *arg;
    struct watch_filter *filter; /* owns */
    size_t filters;
    unsigned line, cores;
    struct waiting_lines *waiting; /* owns; by core */
};

struct watch_lines *watch_new(void (*print)(void *arg, const char *line), void *arg)
{
    struct watch_lines *w = xcalloc(1, sizeof *w);

    w->print = print;
    w->arg = arg;
    w->line = 64;
    return w;
}

void watch_free(struct watch_lines *w)
{
    for (unsigned i = 0; w && i < w->cores; i++)
        free(w->waiting[i].line);
    free(w ? w->waiting : NULL);
    free(w ? w->filter : NULL);
    free(w);
}

void watch_machine(struct watch_lines *w, unsigned line, unsigned cores)
{
    w->line = line;
    w->cores = cores;
    w->waiting = xcalloc(cores, sizeof *w->waiting);
}

/* ---- filters --------------------------------------------------------------------------------- */

/* A number as C has them; *end: what is behind it, or NULL: it is none. */
static uint64_t number(const char *text, const char **end)
{
    char *rest;

    *end = NULL;
    if (*text < '0' || *text > '9')
        return 0;
    const uint64_t n = strtoull(text, &rest, 0);
    *end = rest;
    return n;
}

/* "12", or "12-34". False: neither. */
static bool range(const char *text, struct watch_range *to)
{
    const char *end;

    to->from = to->to = number(text, &end);
    if (end && *end == '-')
        to->to = number(end + 1, &end);
    return end && !*end && to->from <= to->to;
}

static int bad_part(const char *part, struct err *e)
{
    return err_set(e, LARD_USAGE,
                   "debug: '%s' is no filter: give all, or event=, address=, line=, core= or "
                   "cycles= with a number or FROM-TO, separated by commas, as in "
                   "event=120,core=2,cycles=1000-2000",
                   part);
}

static int read_part(struct watch_filter *f, char *part, struct err *e)
{
    char *value = strchr(part, '=');
    size_t key = 0;

    if (!strcmp(part, "all"))
        return 0;
    while (value && key < KEYS &&
           (strncmp(part, key_text[key], (size_t)(value - part)) || key_text[key][value - part]))
        key++;
    return !value || key == KEYS || !range(value + 1, &f->key[key]) ? bad_part(part, e) : 0;
}

int watch_filter(struct watch_lines *w, const char *filter, struct err *e)
{
    struct watch_filter f;
    char *all = xstrdup(filter), *rest = all, *part;
    int bad = 0;

    for (size_t i = 0; i < KEYS; i++)
        f.key[i] = (struct watch_range){0, UINT64_MAX};
    while (!bad && (part = strsep(&rest, ",")) != NULL)
        bad = read_part(&f, part, e);
    free(all);
    if (bad)
        return -1;
    w->filter = xrealloc(w->filter, w->filters + 1, sizeof *w->filter);
    w->filter[w->filters++] = f;
    return 0;
}

/* ---- whether a line passes ------------------------------------------------------------------- */

static bool is_given(const struct watch_range *r)
{
    return r->from || r->to != UINT64_MAX;
}

static bool meets(const struct watch_range *r, bool known, uint64_t from, uint64_t to)
{
    return !is_given(r) || (known && from <= r->to && to >= r->from);
}

/* A range of bytes as one of the lines in which they lie. */
static struct watch_range whole_lines(const struct watch_lines *w, struct watch_range r)
{
    const uint64_t within = w->line - 1;

    return is_given(&r) ? (struct watch_range){r.from & ~within, r.to | within} : r;
}

static bool passes(const struct watch_lines *w, const struct watch_filter *f,
                   const struct watch_line *l)
{
    const struct watch_range line = whole_lines(w, f->key[KEY_LINE]);
    const uint64_t end = l->addr + (l->bytes ? l->bytes - 1 : 0);
    const uint64_t core = (uint64_t)l->at.core, cycle = l->at.cycle, event = l->at.event;

    return meets(&f->key[KEY_EVENT], event != NOT_KNOWN, event, event) &&
           meets(&f->key[KEY_CORE], l->at.core >= 0, core, core) &&
           meets(&f->key[KEY_CYCLES], cycle != NOT_KNOWN, cycle, cycle) &&
           meets(&f->key[KEY_ADDRESS], l->placed, l->addr, end) &&
           meets(&line, l->placed, l->addr, end);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool any_passes(const struct watch_lines *w, const struct watch_line *l)
{
    for (size_t i = 0; i < w->filters; i++)
        if (passes(w, &w->filter[i], l))
            return true;
    return false;
}

static void print(const struct watch_lines *w, const struct watch_line *l)
{
    const struct {
        const char *what;
        uint64_t value;
        bool known;
    } number[] = {{"cycle", l->at.cycle, l->at.cycle != NOT_KNOWN},
                  {"core", (uint64_t)l->at.core, l->at.core >= 0},
                  {"thread", (uint64_t)l->at.thread, l->at.thread >= 0},
                  {"event", l->at.event, l->at.event != NOT_KNOWN}};
    char line[400];
    int used = 0;

    if (!any_passes(w, l))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(number); i++)
        if (number[i].known)
            used += snprintf(line + used, sizeof line - (size_t)used, "%s=%" PRIu64 " ",
                             number[i].what, number[i].value);
    snprintf(line + used, sizeof line - (size_t)used, "%s%s%s", l->what, *l->text ? " " : "",
             l->text);
    w->print(w->arg, line);
}

void watch_say(struct watch_lines *w, const struct watch_line *line)
{
    if (!line->numbered_later || line->at.core < 0 || (unsigned)line->at.core >= w->cores) {
        print(w, line);
        return;
    }
    struct waiting_lines *q = &w->waiting[line->at.core];
    q->line = xgrow(q->line, q->n, &q->cap, sizeof *q->line);
    q->line[q->n++] = *line;
}

void watch_number(struct watch_lines *w, int core, uint64_t event)
{
    struct waiting_lines *q = &w->waiting[core];

    for (size_t i = 0; i < q->n; i++) {
        q->line[i].at.event = event;
        print(w, &q->line[i]);
    }
    q->n = 0;
}

void watch_finish(struct watch_lines *w)
{
    for (unsigned i = 0; i < w->cores; i++)
        watch_number(w, (int)i, NOT_KNOWN);
}
