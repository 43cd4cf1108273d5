/* svg.h - what pictures are made of: elements of an SVG in whole pixels, with colours for light
 * pages and dark ones. Text is text, whoever wrote it: nothing in it is markup. */
#ifndef LARDSIM_SVG_H
#define LARDSIM_SVG_H

#include <stdio.h>

/* Text between tags, and in attributes, of SVG and of HTML: what would be markup is escaped, what
 * is hidden is shown as \u{202e} (text_visible). */
void markup_text(FILE *out, const char *text);

/* look: classes of styles.def, as "text bold". */
void svg_begin(FILE *out, unsigned width, unsigned height, const char *title);
void svg_end(FILE *out);
void svg_text(FILE *out, unsigned x, unsigned y, const char *look, const char *text);
void svg_rect(FILE *out, unsigned x, unsigned y, unsigned width, unsigned height, const char *look);
void svg_line(FILE *out, unsigned x1, unsigned y1, unsigned x2, unsigned y2, const char *look);
/* how_full: of 100, how much of its colour it has. tip: as below. */
void svg_bar(FILE *out, unsigned x, unsigned y, unsigned width, unsigned height, const char *look,
             unsigned how_full, const char *tip);
/* tip: shown where the pointer is; NULL: none. */
void svg_circle(FILE *out, unsigned x, unsigned y, unsigned r, const char *look, const char *tip);

#endif
