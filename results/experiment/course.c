/* course.c - whether an overhead would be another one in a longer run: what it was after an eighth,
 * a quarter and half of the events, beside that after all of them (docs/compare.md). */
#include <math.h>
#include <stdlib.h>

#include "results/experiment/costs.h"

enum { SETTLED_PERCENT = 5 }; /* of the overhead, that twice the length may move it by */
static const double settled_points = 0.005; /* or that much of the time of none */

const double course_part[COURSE_PARTS] = {0.125, 0.25, 0.5, 1};

/* Cycles when so many events were done: between two samples as if they went evenly. */
static double cycles_after(const struct lardsim_course *c, double events)
{
    const size_t i = (size_t)(events / (double)c->step);
    const size_t before = i < c->n ? i : c->n;
    const double from = (double)before * (double)c->step;
    const double low = before ? (double)c->cycles[before - 1] : 0;
    const double high = before < c->n ? (double)c->cycles[before] : (double)c->total;
    const double span = before < c->n ? (double)c->step : (double)c->events - from;

    return span > 0 ? low + (high - low) * (events - from) / span : high;
}

static double cycles_of(const struct lardsim_course *c, double part)
{
    return part >= 1 ? (double)c->total : cycles_after(c, part * (double)c->events);
}

bool course_overheads(const struct costs *r, const struct costs *none, double to[COURSE_PARTS])
{
    if (!r->course.events || !none->course.events)
        return false;
    for (size_t i = 0; i < COURSE_PARTS; i++) {
        const double before = cycles_of(&none->course, course_part[i]);
        if (before <= 0)
            return false;
        to[i] = cycles_of(&r->course, course_part[i]) / before - 1;
    }
    return true;
}

bool overhead_settled(double before, double now)
{
    const double moved = fabs(now - before);

    return moved <= settled_points || moved <= fabs(now) * SETTLED_PERCENT / 100;
}

bool course_settled(const double overhead[COURSE_PARTS])
{
    return overhead_settled(overhead[COURSE_PARTS - 2], overhead[COURSE_PARTS - 1]);
}
