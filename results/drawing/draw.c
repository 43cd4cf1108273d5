/* draw.c - a configuration becomes a drawing: its machine is made, and what its policies add is
 * measured on it. */
#include <stdlib.h>

#include "results/drawing/drawing.h"

int drawing_settings(struct lardsim *l, const struct given *g)
{
    /* A run's config.yaml may ask for intervals, which go to a folder; a drawing has none. */
    return given_apply(g, l) || lardsim_set(l, "stats.interval=0") ||
           lardsim_set(l, "stats.rows=0");
}

/* Makes the machine, so that what is impossible is said, and all is decided. */
static int resolve(struct lardsim *l, const struct given *g, struct err *e)
{
    char *text = drawing_settings(l, g) ? NULL : lardsim_resolve(l, 0);

    free(text);
    if (!text)
        return err_set(e, (enum lard_exit)lardsim_exit_code(l), "%s", lardsim_error(l));
    if (!lardsim_machine_is(l, "order"))
        return err_set(e, LARD_CONFIG,
                       "machine: none: there is nothing to draw; give a preset, as -c radish8 "
                       "(`lardsim list machines`), or machine=multicore");
    return 0;
}

int drawing_make(struct machine_drawing *d, const struct given *g, struct err *e)
{
    struct lardsim *l = lardsim_new();
    int failed = resolve(l, g, e);

    if (!failed) {
        parts_draw(d, l);
        failed = checks_draw(d, g, e);
    }
    lardsim_free(l);
    return failed;
}

int drawing_picture(const struct given *g, FILE *out, struct err *e)
{
    struct machine_drawing d = {.name = NULL};
    const int failed = drawing_make(&d, g, e);

    if (!failed)
        picture_draw(&d, out);
    drawing_free(&d);
    return failed ? -1 : 0;
}
