/* svg.c - elements of an SVG. The same calls give the same bytes everywhere. */
#include "results/drawing/svg.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void write_text(FILE *out, const char *text)
{
    static const char from[] = "&<>\"", *const to[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    char *visible = text_visible(text ? text : "");

    for (const char *s = visible; *s; s++) {
        const char *escaped = strchr(from, *s);
        if (escaped)
            fputs(to[escaped - from], out);
        else
            fputc(*s, out);
    }
    free(visible);
}

_Static_assert(sizeof(size_t) == sizeof(unsigned long), "%zu and %lu are read alike");

void markup(FILE *out, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    for (const char *at = fmt; *at; at++) {
        char spec[8];
        if (*at != '%') {
            fputc(*at, out);
            continue;
        }
        const size_t n = strcspn(at + 1, "dfgsu%") + 2;
        snprintf(spec, sizeof spec, "%.*s", (int)n, at);
        at += n - 1;
        if (*at == 's')
            write_text(out, va_arg(ap, const char *));
        else if (*at == 'f' || *at == 'g')
            fprintf(out, spec, va_arg(ap, double));
        else if (*at == '%')
            fputc('%', out);
        else if (n > 2)
            fprintf(out, spec, va_arg(ap, size_t));
        else
            fprintf(out, spec, va_arg(ap, int));
    }
    va_end(ap);
}

const struct svg_style svg_styles[] = {
#define STYLE(name, light, dark) {name, light, dark},
#include "results/drawing/styles.def"
#undef STYLE
    {NULL, NULL, NULL}};

void svg_write_styles(FILE *out, const char *before, bool dark)
{
    for (const struct svg_style *s = svg_styles; s->name; s++)
        if (*(dark ? s->dark : s->light))
            fprintf(out, "%s.%s{%s}\n", before, s->name, dark ? s->dark : s->light);
}

void svg_begin(FILE *out, unsigned width, unsigned height, const char *title)
{
    markup(out,
           "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
           "viewBox=\"0 0 %u %u\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\">\n"
           "<title>%s</title>\n<style>\n",
           width, height, width, height, title);
    svg_write_styles(out, "", false);
    fputs("@media (prefers-color-scheme:dark){\n", out);
    svg_write_styles(out, "", true);
    fprintf(out, "}\n</style>\n<rect class=\"back\" width=\"%u\" height=\"%u\"/>\n", width, height);
}

void svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void svg_text(FILE *out, unsigned x, unsigned y, const char *look, const char *text)
{
    markup(out, "<text x=\"%u\" y=\"%u\" class=\"%s\">%s</text>\n", x, y, look, text);
}

void svg_line(FILE *out, unsigned x1, unsigned y1, unsigned x2, unsigned y2, const char *look)
{
    fprintf(out, "<line x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\" class=\"%s\"/>\n", x1, y1, x2, y2,
            look);
}

/* The tip of an element, and its end. */
static void write_tip(FILE *out, const char *element, const char *tip)
{
    if (tip)
        markup(out, "><title>%s</title></%s>\n", tip, element);
    else
        fputs("/>\n", out);
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
