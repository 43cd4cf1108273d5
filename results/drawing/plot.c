/* plot.c - dots on a logarithmic scale, two kinds of them, in panels side by side that share their
 * rows; as an SVG. Without a library, and the same bytes everywhere, so that a test can compare
 * files: positions are whole numbers, and logarithms are made with integers. It knows nothing of
 * races. */
#include "results/drawing/plot.h"

#include <inttypes.h>

#include "results/drawing/svg.h"

/* Lengths in pixels. LABEL: left of the panels, for the rows' names; INSET: between a panel's edge
 * and its first and last dot, so that no dot is cut. */
enum { LABEL = 190, PANEL = 170, GAP = 18, ROW = 20, TOP = 70, BOTTOM = 34, INSET = 8 };
/* The dots of the two counts; one stands in the other where both counts are the same. */
static const struct {
    unsigned radius;
    const char *look;
} dots[2] = {{5, "hollow"}, {3, "full"}};

/* log10(n + 1) in thousandths: + 1 so that 0, the count that matters most, has a place on the
 * scale. The power of two below gives the whole part of the logarithm, a parabola the rest. */
static unsigned log_of(uint64_t n)
{
    const uint64_t v = n == UINT64_MAX ? n : n + 1; /* the largest number has no successor */
    unsigned bits = 0;

    while (v >> bits > 1)
        bits++;
    /* log2(1 + f) = f + f (1 - f) * 0.346 within a thousandth; f in 2^-20. */
    const uint64_t one = UINT64_C(1) << 20;
    const uint64_t f = bits <= 20 ? (v << (20 - bits)) - one : (v >> (bits - 20)) - one;
    const uint64_t log2 = bits * one + f + f * (one - f) / one * 346 / 1000;
    /* 30103 / 100000 is log10(2); the result is in thousandths, so 100 remain to divide by. */
    return (unsigned)(log2 * 30103 / 100 / one);
}

/* The scale fits the largest count of all panels, so that they can be compared. */
static unsigned decades_of(const struct plot *p)
{
    /* The scale has at least one decade, or it has no width. */
    unsigned most = 1000;

    for (size_t i = 0; i < p->panels * p->rows; i++)
        for (unsigned k = 0; k < 2; k++)
            if (p->count[i][k] != PLOT_NONE && log_of(p->count[i][k]) > most)
                most = log_of(p->count[i][k]);
    return (most + 999) / 1000;
}

static unsigned left_of(size_t panel)
{
    return LABEL + (unsigned)panel * (PANEL + GAP);
}

static unsigned x_of(size_t panel, unsigned log, unsigned decades)
{
    return left_of(panel) + INSET + log * (PANEL - 2 * INSET) / (decades * 1000);
}

static void write_axis(const struct plot *p, size_t panel, unsigned decades, FILE *out)
{
    const unsigned bottom = TOP + (unsigned)p->rows * ROW;

    svg_text(out, left_of(panel), TOP - 10, "text bold", p->panel[panel]);
    svg_rect(out, left_of(panel), TOP, PANEL, bottom - TOP, "panel");
    for (unsigned d = 0; d <= decades; d++) {
        char label[8];
        uint64_t n = d > 0;
        /* 10^d for d >= 1. The line at 0 is drawn for d = 0. */
        for (unsigned i = 1; i <= d; i++)
            n *= 10;
        /* log_of adds 1, so the line of 10^d is asked for at 10^d - 1. */
        const unsigned x = x_of(panel, d ? log_of(n - 1) : 0, decades);
        svg_line(out, x, TOP, x, bottom, "grid");
        /* Labels of more than four decades would touch each other: every second one. */
        if (d && d != decades && decades > 4 && d % 2)
            continue;
        snprintf(label, sizeof label, d ? "10^%u" : "0", d);
        svg_text(out, x, bottom + 14, "text small middle", label);
    }
}

static void write_dot(FILE *out, unsigned x, unsigned y, unsigned kind, uint64_t count)
{
    char tip[24];

    if (count == PLOT_NONE)
        return;
    snprintf(tip, sizeof tip, "%" PRIu64, count);
    svg_circle(out, x, y, dots[kind].radius, dots[kind].look, tip);
}

static void write_row(const struct plot *p, size_t row, unsigned decades, FILE *out)
{
    const unsigned y = TOP + (unsigned)row * ROW + ROW / 2;

    svg_text(out, LABEL - 8, y + 4, "text end", p->row[row]);
    for (size_t i = 0; i < p->panels; i++)
        for (unsigned k = 0; k < 2; k++) {
            const uint64_t count = p->count[row * p->panels + i][k];
            write_dot(out, x_of(i, log_of(count), decades), y, k, count);
        }
}

static void write_legend(const struct plot *p, FILE *out)
{
    for (unsigned k = 0; k < 2; k++) {
        svg_circle(out, 16 + 70 * k, 40, dots[k].radius, dots[k].look, NULL);
        svg_text(out, 26 + 70 * k, 44, "text", p->kind[k]);
    }
}

void plot_write(const struct plot *p, FILE *out)
{
    const unsigned decades = decades_of(p);

    svg_begin(out, left_of(p->panels), TOP + (unsigned)p->rows * ROW + BOTTOM, p->title);
    svg_text(out, 10, 22, "text title", p->title);
    write_legend(p, out);
    for (size_t i = 0; i < p->panels; i++)
        write_axis(p, i, decades, out);
    for (size_t i = 0; i < p->rows; i++)
        write_row(p, i, decades, out);
    svg_end(out);
}
