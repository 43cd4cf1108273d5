/* picture.c - the boxes as an SVG: one below the other, in the order in which an access passes
 * them. What there is several times is drawn once, with others of its kind behind it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/drawing/drawing.h"
#include "results/drawing/svg.h"

/* Lengths in pixels. A character is taken as wide as CHARACTER, more than most are. */
enum {
    WIDTH = 640,
    MARGIN = 14,
    INSET = 12, /* from a box's edge to what is in it */
    GAP = 12,   /* between boxes, where the way goes */
    HEAD = 22,  /* a heading */
    LINE = 17,  /* a line of text */
    BAR = 9,    /* the bar that shows a cache's content */
    BEHIND = 4, /* others of its kind, each so much to the right and up */
    LEGEND = 26,
    CHARACTER = 7
};

struct place { /* the place of a box */
    unsigned x, y, width;
};

/* The others stand out above and on the right. */
static unsigned others(const struct box *b)
{
    return b->times > 1 ? 2 * BEHIND : 0;
}

struct writer {
    FILE *out; /* NULL: lines are counted alone */
    unsigned x, y;
};

/* Writes the lines of a box, one below the other. */
static void write_lines(struct writer *w, const struct box *b, unsigned width)
{
    for (size_t i = 0; i < b->lines; i++)
        for (const char *rest = b->line[i]; *rest; w->y += LINE) {
            char *line = drawing_line(&rest, (width - 2 * INSET) / CHARACTER);
            if (w->out)
                svg_text(w->out, w->x, w->y + LINE - 5, "text", line);
            free(line);
        }
}

static unsigned height_of(const struct box *b, unsigned width)
{
    const unsigned inner = width - 2 * INSET - others(b);
    struct writer w = {.y = others(b) + HEAD + INSET / 2};

    write_lines(&w, b, width - others(b));
    if (b->holds)
        w.y += BAR + INSET / 2;
    for (size_t i = 0; i < b->n; i++)
        w.y += height_of(b->inside[i], inner) + (i + 1 < b->n ? GAP : 0);
    return w.y + (b->n ? INSET : 0);
}

/* Draws two halves, as a run alone tells how much of a cache either takes. */
static void write_bar(const struct box *b, struct writer *w, unsigned width)
{
    const unsigned data = b->holds & HOLDS_METADATA ? width / 2 : width;

    svg_rect(w->out, w->x, w->y, data, BAR, "data");
    if (data < width)
        svg_rect(w->out, w->x + data, w->y, width - data, BAR, "metadata");
    w->y += BAR + INSET / 2;
}

static void write_box(const struct box *b, struct place at, FILE *out)
{
    const unsigned width = at.width - others(b), height = height_of(b, at.width) - others(b);
    struct writer w = {out, at.x + INSET, at.y + others(b)};
    char *heading = box_heading(b, "\u00d7");

    for (unsigned i = others(b); i > 0; i -= BEHIND)
        svg_rect(out, at.x + i, w.y - i, width, height, "box");
    svg_rect(out, at.x, w.y, width, height, b->holds ? "box cache" : "box");
    svg_text(out, w.x, w.y + HEAD - 7, "text bold", heading);
    if (b->takes)
        svg_text(out, at.x + width - INSET, w.y + HEAD - 7, "text bold end", b->takes);
    w.y += HEAD;
    if (b->holds)
        write_bar(b, &w, width - 2 * INSET);
    write_lines(&w, b, width);
    w.y += INSET / 2;
    for (size_t i = 0; i < b->n; i++) {
        const struct place in = {w.x, w.y, width - 2 * INSET};
        const unsigned below = w.y + height_of(b->inside[i], in.width);
        write_box(b->inside[i], in, out);
        if (i + 1 < b->n && !b->inside[i + 1]->aside)
            svg_line(out, at.x + width / 2, below, at.x + width / 2,
                     below + GAP + others(b->inside[i + 1]), "way");
        w.y = below + GAP;
    }
    free(heading);
}

static void write_legend(const struct machine_drawing *d, unsigned y, FILE *out)
{
    svg_rect(out, MARGIN, y, 2 * INSET, BAR, "data");
    svg_text(out, MARGIN + 3 * INSET, y + BAR, "text", "data of the program");
    if (!d->metadata)
        return;
    char *kept = xasprintf("what is kept for %s", d->metadata);
    svg_rect(out, WIDTH / 3, y, 2 * INSET, BAR, "metadata");
    svg_text(out, WIDTH / 3 + 3 * INSET, y + BAR, "text", kept);
    free(kept);
}

void picture_draw(const struct machine_drawing *d, FILE *out)
{
    const struct place at = {MARGIN, MARGIN + LEGEND, WIDTH - 2 * MARGIN};

    svg_begin(out, WIDTH, at.y + height_of(d->box, at.width) + MARGIN, d->box->title);
    write_legend(d, MARGIN, out);
    write_box(d->box, at, out);
    svg_end(out);
}
