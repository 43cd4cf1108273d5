/* plot.c - dots on a logarithmic scale, two kinds of them, in panels side by side that share their
 * rows; as an SVG. Without a library, and the same bytes everywhere, so that a test can compare
 * files: positions are whole numbers, and logarithms are made with integers. It knows nothing of
 * races. */
#include "cli/plot.h"

#include <inttypes.h>

/* In pixels. LABEL: left of the panels, for the rows' names; INSET: between a panel's edge and its
 * first and last dot, so that no dot is cut. */
enum { LABEL = 190, PANEL = 170, GAP = 18, ROW = 20, TOP = 70, BOTTOM = 34, INSET = 8 };

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

/* Labels come from the user; these three characters would end or begin a tag. */
static void text(FILE *out, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        default:
            fputc(*s, out);
        }
}

/* The scale fits the largest count of all panels, so that they can be compared. */
static unsigned decades_of(const struct plot *p)
{
    /* At least one decade, or the scale has no width. */
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

    fprintf(out, "<text x=\"%u\" y=\"%u\" font-weight=\"bold\">", left_of(panel), TOP - 10);
    text(out, p->panel[panel]);
    fputs("</text>\n", out);
    fprintf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"#f6f6f6\"/>\n",
            left_of(panel), TOP, PANEL, bottom - TOP);
    for (unsigned d = 0; d <= decades; d++) {
        uint64_t n = d > 0;
        /* 10^d for d >= 1. The line at 0 is drawn for d = 0. */
        for (unsigned i = 1; i <= d; i++)
            n *= 10;
        /* log_of adds 1, so the line of 10^d is asked for at 10^d - 1. */
        const unsigned x = x_of(panel, d ? log_of(n - 1) : 0, decades);
        fprintf(out, "<line x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\" stroke=\"#dddddd\"/>\n", x, TOP,
                x, bottom);
        /* Labels of more than four decades would touch each other: every second one. */
        if (d == 0 || d == decades || decades <= 4 || d % 2 == 0)
            fprintf(
                out,
                /* %.0u of 0 prints nothing: the "0" of the first label is in the text before it. */
                "<text x=\"%u\" y=\"%u\" text-anchor=\"middle\" font-size=\"10\">%s%.0u</text>\n",
                x, bottom + 14, d == 0 ? "0" : "10^", d);
    }
}

static void write_row(const struct plot *p, size_t row, unsigned decades, FILE *out)
{
    const unsigned y = TOP + (unsigned)row * ROW + ROW / 2;

    fprintf(out, "<text x=\"%u\" y=\"%u\" text-anchor=\"end\">", LABEL - 8, y + 4);
    text(out, p->row[row]);
    fputs("</text>\n", out);
    for (size_t i = 0; i < p->panels; i++) {
        const uint64_t *count = p->count[row * p->panels + i];
        if (count[0] != PLOT_NONE)
            fprintf(out,
                    "<circle cx=\"%u\" cy=\"%u\" r=\"5\" fill=\"none\" stroke=\"#c0392b\" "
                    "stroke-width=\"1.5\"><title>%" PRIu64 "</title></circle>\n",
                    x_of(i, log_of(count[0]), decades), y, count[0]);
        if (count[1] != PLOT_NONE)
            fprintf(out,
                    "<circle cx=\"%u\" cy=\"%u\" r=\"3\" fill=\"#1f4e79\"><title>%" PRIu64
                    "</title></circle>\n",
                    x_of(i, log_of(count[1]), decades), y, count[1]);
    }
}

static void write_legend(const struct plot *p, FILE *out)
{
    fputs("<circle cx=\"16\" cy=\"40\" r=\"5\" fill=\"none\" stroke=\"#c0392b\" "
          "stroke-width=\"1.5\"/>\n<text x=\"26\" y=\"44\">",
          out);
    text(out, p->kind[0]);
    fputs("</text>\n<circle cx=\"86\" cy=\"40\" r=\"3\" fill=\"#1f4e79\"/>\n<text x=\"96\" "
          "y=\"44\">",
          out);
    text(out, p->kind[1]);
    fputs("</text>\n", out);
}

void plot_write(const struct plot *p, FILE *out)
{
    const unsigned decades = decades_of(p), width = left_of(p->panels),
                   height = TOP + (unsigned)p->rows * ROW + BOTTOM;

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
            "viewBox=\"0 0 %u %u\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"%u\" height=\"%u\" fill=\"white\"/>\n"
            "<text x=\"10\" y=\"22\" font-size=\"15\">",
            width, height, width, height, width, height);
    text(out, p->title);
    fputs("</text>\n", out);
    write_legend(p, out);
    for (size_t i = 0; i < p->panels; i++)
        write_axis(p, i, decades, out);
    for (size_t i = 0; i < p->rows; i++)
        write_row(p, i, decades, out);
    fputs("</svg>\n", out);
}
