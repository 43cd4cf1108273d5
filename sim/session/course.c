/* course.c - how many cycles the first so many events of the region of interest took, or of the run
 * where nothing marks one: samples at even distances. There are at most LARDSIM_COURSE_SAMPLES of
 * them; when there is no more room, every second one goes, and the distance doubles. */
#include "sim/session/session.h"

#include <string.h>

static void halve(struct run_course *c)
{
    for (size_t i = 0; i < LARDSIM_COURSE_SAMPLES / 2; i++)
        c->cycles[i] = c->cycles[2 * i + 1];
    c->n = LARDSIM_COURSE_SAMPLES / 2;
    c->step *= 2;
}

void course_begin(struct lardsim *l, bool region)
{
    struct run_course *c = &l->course;

    if (!c->step || region != c->region) /* what was before the first region does not count */
        *c = (struct run_course){.step = 1, .region = region};
    c->from_events = l->st.events - c->events;
    c->next = c->from_events + (c->n + 1) * c->step;
}

void course_sample(struct lardsim *l)
{
    struct run_course *c = &l->course;

    c->cycles[c->n++] = machine_inside(l->machine);
    if (c->n == LARDSIM_COURSE_SAMPLES)
        halve(c);
    c->next += c->step;
}

void course_end(struct lardsim *l)
{
    struct run_course *c = &l->course;

    c->events = l->st.events - c->from_events;
    c->total = machine_inside(l->machine);
    c->next = UINT64_MAX;
}

bool lardsim_course(const struct lardsim *l, struct lardsim_course *to)
{
    const struct run_course *c = &l->course;

    if (!l->machine || !c->events)
        return false;
    *to =
        (struct lardsim_course){.step = c->step, .n = c->n, .events = c->events, .total = c->total};
    memcpy(to->cycles, c->cycles, c->n * sizeof *c->cycles);
    return true;
}
