/* plot.h - counts of two kinds side by side, as an SVG: rows of points in panels, logarithmic. */
#ifndef LARDSIM_PLOT_H
#define LARDSIM_PLOT_H

#include <stdint.h>
#include <stdio.h>

#define PLOT_NONE UINT64_MAX /* no such count */

struct plot {
    const char *title;
    const char *kind[2]; /* the names of hollow points and of full ones */
    size_t panels, rows;
    const char *const *panel;   /* titles */
    const char *const *row;     /* labels */
    const uint64_t (*count)[2]; /* row r in panel p has count[r * panels + p] */
};
void plot_write(const struct plot *p, FILE *out);

#endif
