/* page.c - the answer on standard output: as text, and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "results/why/why.h"
#include "base/program/print.h"

enum { WIDTH = 80, KEY = 13 };

/* ---- text ----------------------------------------------------------------------------------- */

static void print_said(const struct answer *a)
{
    struct sentences all = {.at = NULL};

    answer_say(a, &all);
    for (size_t i = 0; i < all.n; i++) {
        char *visible = text_visible(all.at[i]);
        print_broken(stdout, visible, 0, 0, WIDTH);
        free(visible);
    }
    sentences_free(&all);
}

static void print_side(const char *key, const struct lardsim_why *w,
                       const struct lardsim_why_side *s)
{
    char number[24];
    char *thread = thread_text(w, s->line.ev.thread), *object = object_text(w, &s->line);
    const char *site = site_name(w, s->line.ev.site, number);
    char *text =
        xasprintf("event %" PRIu64 "%s, %s, %s 0x%" PRIx64 " %" PRIu32 "%s%s%s%s%s", s->line.number,
                  s->committed ? " (its commit)" : "", thread, kind_text(&s->line.ev),
                  s->line.ev.addr, s->line.ev.size, object ? " (" : "", object ? object : "",
                  object ? ")" : "", site ? ", at " : "", site ? site : "");

    printf("%-*s", KEY, key);
    print_visible(stdout, text);
    putchar('\n');
    free(text);
    free(thread);
    free(object);
}

static void print_line(const struct lardsim_why *w, const struct lardsim_why_line *line,
                       bool access)
{
    char number[24];
    const char *site = site_name(w, line->ev.site, number);
    char *event = event_text(w, line);
    char *text = xasprintf("T%u %s%s%s", (unsigned)line->ev.thread, event, site ? ", at " : "",
                           site ? site : "");

    printf("%10" PRIu64 "%c ", line->number, access ? '*' : ' ');
    print_visible(stdout, text);
    putchar('\n');
    free(event);
    free(text);
}

static bool is_side(const struct lardsim_why_side *s, const struct lardsim_why_line *line)
{
    return s->line.ev.kind && s->line.position == line->position;
}

static void print_windows(const struct lardsim_why *w)
{
    uint64_t next = 0;

    puts("\nthe trace around the two:");
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < w->windows[k]; i++) {
            const struct lardsim_why_line *line = &w->window[k][i];
            if (line->position < next)
                continue;
            if (next && line->position > next)
                puts("        ...");
            next = line->position + 1;
            print_line(w, line, is_side(&w->earlier, line) || is_side(&w->later, line));
        }
}

void answer_text(const struct answer *a)
{
    const struct lardsim_why *w = a->both.why;

    print_said(a);
    putchar('\n');
    if (w->earlier.line.ev.kind)
        print_side("earlier", w, &w->earlier);
    print_side("later", w, &w->later);
    putchar('\n');
    answer_draw(a, stdout);
    print_windows(w);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static const char *const verdicts[] = {[LARDSIM_WHY_ALONE] = "alone",
                                       [LARDSIM_WHY_APART] = "apart",
                                       [LARDSIM_WHY_OUTSIDE] = "unchecked",
                                       [LARDSIM_WHY_IS_ORDERED] = "ordered",
                                       [LARDSIM_WHY_RACES] = "races"};

static void json_line(struct json *j, const struct lardsim_why *w,
                      const struct lardsim_why_line *line)
{
    char number[24];
    char *text = event_text(w, line);

    json_object(j);
    JSON_COUNTS(j, {"event", line->number}, {"thread", line->ev.thread});
    if (line->kernel)
        json_key_u64(j, "kernel_thread", line->kernel - 1);
    JSON_TEXTS(
        j, {"thread_name", lardsim_source_name(w->source, LARDSIM_NAME_THREAD, line->ev.thread)},
        {"kind", kind_text(&line->ev)}, {"text", text},
        {"site", site_name(w, line->ev.site, number)});
    json_end(j);
    free(text);
}

static void json_line_or_null(struct json *j, const char *key, const struct lardsim_why *w,
                              const struct lardsim_why_line *line, bool there)
{
    json_key(j, key);
    there ? json_line(j, w, line) : json_null(j);
}

static void json_side(struct json *j, const char *key, const struct lardsim_why *w,
                      const struct lardsim_why_side *s)
{
    struct lardsim_object at = s->line.at;

    if (!s->line.ev.kind) {
        json_key_null(j, key);
        return;
    }
    json_key_object(j, key);
    json_key(j, "access");
    json_line(j, w, &s->line);
    json_key(j, "address");
    json_hex(j, s->line.ev.addr);
    json_key_u64(j, "size", s->line.ev.size);
    at.site_name = at.site ? lardsim_source_name(w->source, LARDSIM_NAME_SITE, at.site) : NULL;
    lardsim_object_json(&at, j);
    json_key_bool(j, "in_transaction", s->committed);
    json_key_bool(j, "checked", !s->unchecked);
    json_key_array(j, "locks");
    for (size_t i = 0; i < s->holds; i++) {
        json_object(j);
        json_key(j, "address");
        json_hex(j, s->hold[i].addr);
        json_key_str(j, "name",
                     lardsim_source_name(w->source, LARDSIM_NAME_OBJECT, s->hold[i].addr));
        json_key_bool(j, "shared", s->hold[i].shared);
        json_key_u64(j, "since", s->hold[i].since);
        json_key_bool(j, "system", s->hold[i].system);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

static void json_edge(struct json *j, const struct lardsim_why *w, const struct lardsim_why_edge *e)
{
    json_object(j);
    json_line_or_null(j, "from", w, &e->from, !e->unknown);
    json_key(j, "from_thread");
    e->unknown ? json_null(j) : json_u64(j, e->from_thread);
    json_key(j, "to");
    json_line(j, w, &e->to);
    json_key_u64(j, "to_thread", e->to_thread);
    json_end(j);
}

static void json_moves(struct json *j, const struct lardsim_why *w)
{
    json_key_array(j, "moves");
    for (size_t i = 0; i < w->moves; i++) {
        json_object(j);
        json_key(j, "line");
        json_line(j, w, &w->move[i].line);
        json_key_bool(j, "ignored", w->move[i].ignored);
        json_end(j);
    }
    json_end(j);
    json_key_u64(j, "moves_in_all", w->moves_in_all);
}

static void json_flow(struct json *j, const struct lardsim_why *w)
{
    json_key_object(j, "clock");
    JSON_COUNTS(j, {"of_thread", w->earlier.line.ev.thread}, {"needed", w->needed},
                {"had", w->had});
    json_line_or_null(j, "since", w, &w->learned, w->has_learned);
    json_end(j);
    json_line_or_null(j, "first_given", w, &w->out, w->has_out);
    json_line_or_null(j, "last_given", w, &w->reach[0].out, w->reach[0].outs);
    json_line_or_null(j, "last_taken", w, &w->in, w->has_in);
    json_key_array(j, "chain");
    for (size_t i = 0; i < w->chains; i++)
        json_edge(j, w, &w->chain[i]);
    json_end(j);
    json_key_array(j, "reached");
    for (size_t i = 1; i < w->reaches; i++) {
        json_object(j);
        json_key_u64(j, "thread", w->reach[i].thread);
        json_key(j, "by");
        json_edge(j, w, &w->reach[i].edge);
        json_line_or_null(j, "last_given", w, &w->reach[i].out, w->reach[i].outs);
        json_end(j);
    }
    json_end(j);
    json_line_or_null(j, "missing_from", w, &w->missing,
                      w->verdict == LARDSIM_WHY_RACES || w->verdict == LARDSIM_WHY_OUTSIDE);
}

static void json_why(struct json *j, const struct lardsim_why *w, const char *view)
{
    json_object(j);
    JSON_TEXTS(j, {"view", view}, {"verdict", verdicts[w->verdict]});
    json_side(j, "earlier", w, &w->earlier);
    json_side(j, "later", w, &w->later);
    if (w->reaches)
        json_flow(j, w);
    json_moves(j, w);
    json_key_array(j, "trace");
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < w->windows[k]; i++)
            if (!k || !w->windows[0] ||
                w->window[1][i].position > w->window[0][w->windows[0] - 1].position)
                json_line(j, w, &w->window[k][i]);
    json_end(j);
    json_end(j);
}

void answer_json(const struct answer *a)
{
    struct sentences all = {.at = NULL};
    struct json j;

    answer_say(a, &all);
    json_page(&j, stdout, "lardsim-why-1");
    JSON_TEXTS(&j, {"source", a->asked->source}, {"order", a->asked->order},
               {"policy", a->asked->label});
    if (a->asked->race.found)
        json_key_hex16(&j, "race", a->asked->race.id);
    else
        json_key_null(&j, "race");
    json_key_strs(&j, "says", (const char *const *)all.at, all.n);
    json_key(&j, "why");
    json_why(&j, a->both.why, a->asked->view);
    json_key(&j, "truth");
    a->both.truth ? json_why(&j, a->both.truth, "tracked") : json_null(&j);
    json_end(&j);
    sentences_free(&all);
}
