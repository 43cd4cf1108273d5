/* text.c - the boxes as lines of text, each box as wide as there is room. */
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/program/print.h"
#include "results/drawing/drawing.h"

/* The characters with which a terminal draws lines. */
struct strokes {
    const char *across, *down, *top_left, *top_right, *bottom_left, *bottom_right, *times;
};
static const struct strokes plain = {"-", "|", "+", "+", "+", "+", "x"},
                            drawn = {"\u2500", "\u2502", "\u250c", "\u2510",
                                     "\u2514", "\u2518", "\u00d7"};

struct sheet {
    const struct machine_drawing *drawing;
    const struct strokes *strokes;
    FILE *out;
    size_t depth; /* boxes around */
};

/* A box around takes a stroke and a blank on either side. */
static void edge(const struct sheet *p, bool left)
{
    for (size_t i = 0; i < p->depth; i++)
        fprintf(p->out, left ? "%s " : " %s", p->strokes->down);
    if (!left)
        fputc('\n', p->out);
}

static size_t room(const struct sheet *p)
{
    const size_t around = 4 * p->depth;

    return around < TEXT_COLUMNS ? TEXT_COLUMNS - around : 0;
}

static void fill(const struct sheet *p, const char *with, size_t used)
{
    for (size_t n = used; n < room(p); n++)
        fputs(with, p->out);
}

/* "+- 8 x core ------------ 4 cycles -+" */
static void top(const struct sheet *p, const struct box *b)
{
    const struct strokes *s = p->strokes;
    char *heading = box_heading(b, s->times);
    const size_t takes = b->takes ? print_columns(b->takes, SIZE_MAX) + 3 : 0;

    edge(p, true);
    fprintf(p->out, "%s%s %s ", s->top_left, s->across, heading);
    fill(p, s->across, 5 + print_columns(heading, SIZE_MAX) + takes);
    if (b->takes)
        fprintf(p->out, " %s %s", b->takes, s->across);
    fputs(s->top_right, p->out);
    edge(p, false);
    free(heading);
}

static void bottom(const struct sheet *p)
{
    edge(p, true);
    fputs(p->strokes->bottom_left, p->out);
    fill(p, p->strokes->across, 2);
    fputs(p->strokes->bottom_right, p->out);
    edge(p, false);
}

/* Inside the box. */
static void lines(const struct sheet *p, const char *text)
{
    while (*text) {
        char *line = drawing_line(&text, room(p));
        edge(p, true);
        fputs(line, p->out);
        fill(p, " ", print_columns(line, SIZE_MAX));
        edge(p, false);
        free(line);
    }
}

static void draw(struct sheet *p, const struct box *b)
{
    top(p, b);
    p->depth++;
    for (size_t i = 0; i < b->lines; i++)
        lines(p, b->line[i]);
    if (b->holds & HOLDS_METADATA) {
        char *holds = xasprintf("has data, and what is kept for: %s", p->drawing->metadata);
        lines(p, holds);
        free(holds);
    }
    for (size_t i = 0; i < b->n; i++)
        draw(p, b->inside[i]);
    p->depth--;
    bottom(p);
}

/* True: the terminal's locale has UTF-8. Nothing else here depends on the locale. */
static bool knows_utf8(void)
{
    const locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    const bool knows = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");

    if (locale)
        freelocale(locale);
    return knows;
}

void text_draw(const struct machine_drawing *d, bool ascii, FILE *out)
{
    struct sheet p = {d, ascii || !knows_utf8() ? &plain : &drawn, out, 0};

    draw(&p, d->box);
}
