/* drawing.h - a machine as boxes in boxes, and how they are drawn. */
#ifndef LARDSIM_DRAWING_H
#define LARDSIM_DRAWING_H

#include <stdio.h>

#include "results/job/given.h"
#include "sim/lardsim.h"

/* ---- the machine as boxes: boxes.c, parts.c -------------------------------------------------- */

enum holds { HOLDS_DATA = 1, HOLDS_METADATA = 2 };
struct box {
    char *title;    /* owns */
    uint64_t times; /* there are so many alike; it is drawn once */
    char *takes;    /* owns; what an access takes that is answered here; NULL: answers none */
    bool aside;     /* an access does not pass it */
    unsigned holds; /* bits by enum holds */
    char **line;    /* owns; what is said of it, a sentence each */
    size_t lines, line_cap;
    struct box **inside; /* owns; from the core to the memory */
    size_t n, cap;
};
/* Makes a box inside `in`; NULL: it is added later. */
struct box *box_new(struct box *in, uint64_t times, const char *fmt, ...) PRINTF_LIKE(3, 4);
void box_add(struct box *in, struct box *b); /* owns it from now on */
void box_say(struct box *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void box_takes(struct box *b, const char *fmt, ...) PRINTF_LIKE(2, 3);

struct machine_drawing {
    const char *name; /* of the preset or file; NULL: several, or none */
    struct box *box;  /* owns */
    char *metadata;   /* owns; the labels of policies that have any there; NULL: none has */
    char **spec;      /* owns; the policies as configured: "vc", "naive=vc" */
    bool *takes_time; /* owns; of each, whether it does */
    size_t specs;
};
/* Draws the machine of the configuration, once lardsim_resolve has made it. */
void parts_draw(struct machine_drawing *d, struct lardsim *l);
void drawing_free(struct machine_drawing *d);

/* ---- what a check costs: checks.c ----------------------------------------------------------- */

/* A box for each policy that takes time, inside d->box: measured, on this machine, with each policy
 * alone. 0 or -1 and *e. */
int checks_draw(struct machine_drawing *d, const struct given *g, struct err *e);

/* ---- the whole: draw.c ---------------------------------------------------------------------- */

/* The machine that is given; what is impossible is said. d is to be freed either way, its name is
 * the caller's. 0 or -1 and *e. */
int drawing_make(struct machine_drawing *d, const struct given *g, struct err *e);
int drawing_picture(const struct given *g, FILE *out, struct err *e);
int drawing_settings(struct lardsim *l, const struct given *g); /* for a run that measures */

/* ---- how it is drawn: text.c, picture.c ------------------------------------------------------ */

enum { TEXT_COLUMNS = 100 };
void text_draw(const struct machine_drawing *d, bool ascii, FILE *out);
void picture_draw(const struct machine_drawing *d, FILE *out);
void drawing_json(const struct machine_drawing *d, FILE *out);
/* Takes the next line of at most so many columns, of whole words, off a text: the caller's. */
char *drawing_line(const char **rest, size_t columns);
char *box_heading(const struct box *b, const char *times); /* "8 x core"; the caller's */

#endif
