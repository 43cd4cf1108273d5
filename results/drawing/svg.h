/* svg.h - what pictures are made of: elements of an SVG in whole pixels, with colours for light
 * pages and dark ones. Text is text, whoever wrote it: nothing in it is markup. */
#ifndef LARDSIM_SVG_H
#define LARDSIM_SVG_H

#include <stdbool.h>
#include <stdio.h>

#include "base/base.h"

/* How elements look, by class: on a light page, and what is other on a dark one; "": nothing is. A
 * NULL name ends the table. */
extern const struct svg_style {
    const char *name, *light, *dark;
} svg_styles[];
/* Writes a rule for each; before: what stands before its class. */
void svg_write_styles(FILE *out, const char *before, bool dark);

/* As fprintf writes it, for SVG and for HTML; but %s is text, between tags or in an attribute: what
 * would be markup in it is escaped, what is hidden is shown as \u{202e} (text_visible), and NULL is
 * as good as "". Other conversions: %d and %u of int, %zu, %lu, and of double %f and %g. */
void markup(FILE *out, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* look: classes of styles.def, as "text bold". */
void svg_begin(FILE *out, unsigned width, unsigned height, const char *title);
void svg_end(FILE *out);
void svg_text(FILE *out, unsigned x, unsigned y, const char *look, const char *text);
void svg_line(FILE *out, unsigned x1, unsigned y1, unsigned x2, unsigned y2, const char *look);
/* how_full: of 100, how much of its colour it has. tip: as below. */
void svg_bar(FILE *out, unsigned x, unsigned y, unsigned width, unsigned height, const char *look,
             unsigned how_full, const char *tip);
static inline void svg_rect(FILE *out, unsigned x, unsigned y, unsigned width, unsigned height,
                            const char *look)
{
    svg_bar(out, x, y, width, height, look, 100, NULL);
}
/* tip: shown where the pointer is; NULL: none. */
void svg_circle(FILE *out, unsigned x, unsigned y, unsigned r, const char *look, const char *tip);

#endif
