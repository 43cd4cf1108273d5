/* svg.c - elements of an SVG. The same calls give the same bytes everywhere. */
#include "results/drawing/svg.h"

#include <stdlib.h>

#include "base/text.h"

void markup_text(FILE *out, const char *text)
{
    char *visible = text_visible(text);

    for (const char *s = visible; *s; s++)
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
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*s, out);
        }
    free(visible);
}

static void write_styles(FILE *out)
{
    fputs("<style>\n", out);
#define STYLE(name, light, dark) fputs("." name "{" light "}\n", out);
#include "results/drawing/styles.def"
#undef STYLE
    fputs("@media (prefers-color-scheme:dark){\n", out);
#define STYLE(name, light, dark)                                                                   \
    if (*dark)                                                                                     \
        fputs("." name "{" dark "}\n", out);
#include "results/drawing/styles.def"
#undef STYLE
    fputs("}\n</style>\n", out);
}

void svg_begin(FILE *out, unsigned width, unsigned height, const char *title)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
            "viewBox=\"0 0 %u %u\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<title>",
            width, height, width, height);
    markup_text(out, title);
    fputs("</title>\n", out);
    write_styles(out);
    fprintf(out, "<rect class=\"back\" width=\"%u\" height=\"%u\"/>\n", width, height);
}

void svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void svg_text(FILE *out, unsigned x, unsigned y, const char *look, const char *text)
{
    fprintf(out, "<text x=\"%u\" y=\"%u\" class=\"%s\">", x, y, look);
    markup_text(out, text);
    fputs("</text>\n", out);
}

void svg_rect(FILE *out, unsigned x, unsigned y, unsigned width, unsigned height, const char *look)
{
    fprintf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" class=\"%s\"/>\n", x, y, width,
            height, look);
}

void svg_line(FILE *out, unsigned x1, unsigned y1, unsigned x2, unsigned y2, const char *look)
{
    fprintf(out, "<line x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\" class=\"%s\"/>\n", x1, y1, x2, y2,
            look);
}

/* The tip of an element, and its end. */
static void write_tip(FILE *out, const char *element, const char *tip)
{
    if (tip) {
        fputs("><title>", out);
        markup_text(out, tip);
        fprintf(out, "</title></%s>\n", element);
    } else {
        fputs("/>\n", out);
    }
}

void svg_bar(FILE *out, unsigned x, unsigned y, unsigned width, unsigned height, const char *look,
             unsigned how_full, const char *tip)
{
    fprintf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" class=\"%s\"", x, y, width,
            height, look);
    if (how_full < 100)
        fprintf(out, " fill-opacity=\"%u%%\"", how_full);
    write_tip(out, "rect", tip);
}

void svg_circle(FILE *out, unsigned x, unsigned y, unsigned r, const char *look, const char *tip)
{
    fprintf(out, "<circle cx=\"%u\" cy=\"%u\" r=\"%u\" class=\"%s\"", x, y, r, look);
    write_tip(out, "circle", tip);
}
