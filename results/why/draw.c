/* draw.c - threads side by side, time downwards, and the edges between them: as text and as SVG.
 * Both are made from one list of rows, an event each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/drawing/svg.h"
#include "results/why/why.h"

enum { ROWS_MOST = 40, THREADS_MOST = 8, NO_ROW = -1 };

struct drawn_row {
    const struct lardsim_why_line *line;
    uint16_t thread;
    bool access;  /* one of the two */
    int from;     /* an edge from that row ends here; NO_ROW: none */
    bool missing; /* that edge is not there */
    bool unknown; /* one ends here, and from where is not known */
};
struct drawing {
    const struct lardsim_why *w;
    struct drawn_row row[ROWS_MOST];
    size_t rows;
    uint16_t thread[THREADS_MOST];
    size_t threads;
    size_t left_out;
};

/* ---- what is drawn -------------------------------------------------------------------------- */

static bool add_thread(struct drawing *d, uint16_t tid)
{
    for (size_t i = 0; i < d->threads; i++)
        if (d->thread[i] == tid)
            return true;
    if (d->threads == THREADS_MOST)
        return false;
    d->thread[d->threads++] = tid;
    return true;
}

static size_t column_of(const struct drawing *d, uint16_t tid)
{
    size_t i = 0;

    while (i + 1 < d->threads && d->thread[i] != tid)
        i++;
    return i;
}

static int row_of(const struct drawing *d, uint64_t number, uint16_t tid)
{
    for (size_t i = 0; i < d->rows; i++)
        if (d->row[i].line->number == number && d->row[i].thread == tid)
            return (int)i;
    return NO_ROW;
}

static struct drawn_row *add_row(struct drawing *d, const struct lardsim_why_line *line,
                                 uint16_t tid)
{
    const int found = row_of(d, line->number, tid);

    if (found != NO_ROW)
        return &d->row[found];
    d->row[d->rows] = (struct drawn_row){.line = line, .thread = tid, .from = NO_ROW};
    return &d->row[d->rows++];
}

static void add_edge(struct drawing *d, const struct lardsim_why_edge *e)
{
    if (d->rows + 4 > ROWS_MOST || d->threads + 2 > THREADS_MOST) {
        d->left_out++;
        return;
    }
    add_thread(d, e->to_thread);
    if (!e->unknown && add_thread(d, e->from_thread))
        add_row(d, &e->from, e->from_thread);
    add_row(d, &e->to, e->to_thread)->unknown = e->unknown;
}

static int by_position(const void *a, const void *b)
{
    const struct drawn_row *x = a, *y = b;

    if (x->line->position != y->line->position)
        return x->line->position < y->line->position ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static void join_rows(struct drawing *d, const struct lardsim_why_edge *e, bool missing)
{
    const int to = row_of(d, e->to.number, e->to_thread);

    if (to == NO_ROW || e->unknown)
        return;
    d->row[to].from = row_of(d, e->from.number, e->from_thread);
    d->row[to].missing = missing;
}

static bool has_pair(const struct lardsim_why *w)
{
    return w->verdict >= LARDSIM_WHY_OUTSIDE;
}

static bool is_missing(const struct lardsim_why *w)
{
    return w->verdict == LARDSIM_WHY_RACES || w->verdict == LARDSIM_WHY_OUTSIDE;
}

/* Returns the thread of the event at which the missing edge begins: a join of a thread that never
 * ended is an event of another thread. */
static uint16_t missing_thread(const struct lardsim_why *w)
{
    return w->missing.ev.thread;
}

static void lay_out(struct drawing *d, const struct lardsim_why *w)
{
    const struct lardsim_why_edge missing = {.from = w->missing,
                                             .to = w->later.line,
                                             .from_thread = missing_thread(w),
                                             .to_thread = w->later.line.ev.thread};
    const bool ordered = w->verdict == LARDSIM_WHY_IS_ORDERED;
    const size_t n = !has_pair(w) ? 0 : ordered ? w->chains : w->reaches;

    *d = (struct drawing){.w = w};
    if (has_pair(w)) {
        add_thread(d, w->earlier.line.ev.thread);
        add_row(d, &w->earlier.line, w->earlier.line.ev.thread)->access = true;
    }
    add_row(d, &w->later.line, w->later.line.ev.thread)->access = true;
    if (is_missing(w) && add_thread(d, missing_thread(w)))
        add_row(d, &w->missing, missing_thread(w));
    for (size_t i = !ordered; i < n; i++)
        add_edge(d, ordered ? &w->chain[i] : &w->reach[i].edge);
    add_thread(d, w->later.line.ev.thread);
    qsort(d->row, d->rows, sizeof d->row[0], by_position);
    for (size_t i = !ordered; i < n; i++)
        join_rows(d, ordered ? &w->chain[i] : &w->reach[i].edge, false);
    if (is_missing(w))
        join_rows(d, &missing, true);
}

/* ---- as text -------------------------------------------------------------------------------- */

enum { NUMBER = 10, COLUMN = 26 };

static size_t left_of(size_t column)
{
    return NUMBER + 2 + column * COLUMN;
}

static void put_edge(char *line, const struct drawing *d, const struct drawn_row *r, size_t at,
                     size_t text)
{
    const size_t from = left_of(column_of(d, d->row[r->from].thread));
    const char dash = r->missing ? '.' : '-';

    if (from < at) {
        for (size_t i = from; i + 2 < at; i++)
            line[i] = i == from ? '\'' : dash;
        line[at - 2] = '>';
    } else if (from > at) {
        for (size_t i = at + text + 1; i <= from; i++)
            line[i] = i == from ? '\'' : dash;
        line[at + text + 1] = '<';
    }
}

static void draw_row(const struct drawing *d, const struct drawn_row *r, FILE *out)
{
    char line[NUMBER + 2 + (THREADS_MOST + 1) * COLUMN + 1];
    char *text = event_short(r->line);
    const size_t at = left_of(column_of(d, r->thread));
    size_t n = strlen(text) < COLUMN - 3 ? strlen(text) : COLUMN - 3;

    text[n] = '\0';
    memset(line, ' ', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    for (size_t i = 0; i < d->threads; i++)
        line[left_of(i)] = '|';
    if (r->from != NO_ROW)
        put_edge(line, d, r, at, n);
    memcpy(line + at, text, n); /* line has room for a column more */
    for (n = sizeof line - 1; n && line[n - 1] == ' ';)
        line[--n] = '\0';
    fprintf(out, "%*" PRIu64 "%c %s\n", NUMBER, r->line->number, r->access ? '*' : ' ',
            line + NUMBER + 2);
    free(text);
}

void answer_draw(const struct answer *a, FILE *out)
{
    struct drawing d;

    lay_out(&d, a->both.why);
    fprintf(out, "%*s", NUMBER, "event");
    int gap = 2;
    for (size_t i = 0; i < d.threads; i++)
        gap = COLUMN - fprintf(out, "%*sthread %u", gap, "", (unsigned)d.thread[i]) + gap;
    fputc('\n', out);
    for (size_t i = 0; i < d.rows; i++)
        draw_row(&d, &d.row[i], out);
    if (d.left_out)
        fprintf(out, "%*s  (%zu edges more)\n", NUMBER, "", d.left_out);
}

/* ---- as SVG --------------------------------------------------------------------------------- */

enum {
    SVG_LEFT = 90,
    SVG_COLUMN = 190,
    SVG_TOP = 70,
    SVG_ROW = 34,
    SVG_RIGHT = 190,
    SVG_POINT = 5
};

static unsigned svg_x(const struct drawing *d, uint16_t tid)
{
    return SVG_LEFT + (unsigned)column_of(d, tid) * SVG_COLUMN;
}

static unsigned svg_y(size_t row)
{
    return SVG_TOP + (unsigned)row * SVG_ROW + SVG_ROW / 2;
}

static void svg_threads(const struct drawing *d, FILE *out)
{
    for (size_t i = 0; i < d->threads; i++) {
        char *text = thread_text(d->w, d->thread[i]);
        const unsigned x = svg_x(d, d->thread[i]);
        svg_line(out, x, SVG_TOP - 6, x, SVG_TOP + (unsigned)d->rows * SVG_ROW, "grid");
        svg_text(out, x, SVG_TOP - 14, "text bold middle", text);
        free(text);
    }
}

/* Down along the one thread, and across to the other. */
static void svg_edge(const struct drawing *d, size_t i, FILE *out)
{
    const struct drawn_row *r = &d->row[i], *from = &d->row[r->from];
    const unsigned x1 = svg_x(d, from->thread), x2 = svg_x(d, r->thread), y = svg_y(i);
    const char *look = r->missing ? "edge missing" : "edge";

    svg_line(out, x1, svg_y((size_t)r->from), x1, y, look);
    if (x1 == x2)
        return;
    const unsigned tip = x1 < x2 ? x2 - SVG_POINT : x2 + SVG_POINT;
    const unsigned back = x1 < x2 ? tip - 8 : tip + 8;
    svg_line(out, x1, y, tip, y, look);
    svg_line(out, back, y - 4, tip, y, "edge");
    svg_line(out, back, y + 4, tip, y, "edge");
}

static void svg_row(const struct drawing *d, size_t i, FILE *out)
{
    const struct drawn_row *r = &d->row[i];
    const unsigned x = svg_x(d, r->thread), y = svg_y(i);
    char *tip = event_text(d->w, r->line), *shown = event_short(r->line);
    char number[24];

    snprintf(number, sizeof number, "%" PRIu64, r->line->number);
    svg_text(out, 10, y + 4, "text faint", number);
    if (r->from != NO_ROW)
        svg_edge(d, i, out);
    svg_circle(out, x, y, SVG_POINT, r->access ? "accused" : "full", tip);
    svg_text(out, x + 10, y - 5, "text", shown);
    free(tip);
    free(shown);
}

void answer_svg(const struct answer *a, FILE *out)
{
    struct sentences said = {.at = NULL};
    struct drawing d;

    lay_out(&d, a->both.why);
    answer_say(a, &said);
    svg_begin(out, SVG_LEFT + (unsigned)(d.threads - 1) * SVG_COLUMN + SVG_RIGHT,
              SVG_TOP + (unsigned)d.rows * SVG_ROW + 20, said.at[0]);
    svg_text(out, 10, 24, "text title", said.at[0]);
    svg_threads(&d, out);
    for (size_t i = 0; i < d.rows; i++)
        svg_row(&d, i, out);
    svg_end(out);
    sentences_free(&said);
}
