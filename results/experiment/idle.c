/* idle.c - axes and seeds of a sweep that change nothing. An axis is judged by cells that are alike
 * but for it, so that nothing else can be the reason. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "results/experiment/sweep.h"
#include "base/program/print.h"

uint64_t listing_point(const struct listing *l, const struct csv_row *row, size_t but)
{
    struct digest *d = digest_new();

    for (size_t i = LISTED_SOURCE; i < l->head.n; i++) {
        char *text = i == but             ? xstrdup("")
                     : i != LISTED_SOURCE ? xstrdup(csv_at(row, i))
                     : but == LISTED_SEED ? listing_source(row)
                                          : xstrdup(csv_at(row, i));
        digest_add(d, text, strlen(text) + 1);
        free(text);
    }
    const uint64_t hash = digest_value(d);
    digest_free(d);
    return hash;
}

struct axis_place { /* cells that are alike but for the axis */
    const char *behaviour;
    size_t cells;
    bool same;
};

static void add(struct axis_place *p, const char *behaviour)
{
    if (!p->cells++)
        *p = (struct axis_place){behaviour, 1, true};
    p->same &= !strcmp(p->behaviour, behaviour);
}

/* The number of places that have several cells; 0: in one of them the cells do not do the same. */
static size_t idle_places(const struct listing *l, char *const *behaviour, size_t axis)
{
    struct axis_place *place = xcalloc(l->n + 1, sizeof *place);
    size_t places = 0, several = 0;
    bool same = true;
    struct map of = {0};

    for (size_t i = 0; i < l->n; i++) {
        if (!behaviour[i] || !*csv_at(&l->row[i], axis))
            continue;
        uint64_t *at = map_put(&of, listing_point(l, &l->row[i], axis));
        if (!*at)
            *at = ++places;
        add(&place[*at - 1], behaviour[i]);
    }
    for (size_t i = 0; i < places; i++) {
        several += place[i].cells > 1;
        same &= place[i].same;
    }
    map_free(&of);
    free(place);
    return same ? several : 0;
}

void listing_idle(const struct listing *l, char *const *behaviour,
                  void (*fn)(void *arg, const char *axis, size_t places), void *arg)
{
    for (size_t i = LISTED_SEED; i < l->head.n; i++) {
        const size_t places = i == LISTED_POLICY ? 0 : idle_places(l, behaviour, i);
        if (places)
            fn(arg, csv_at(&l->head, i), places);
    }
}

static void take_behaviour(void *to, const char *name, const char *text)
{
    char **behaviour = to;

    if (!strcmp(name, "behaviour") && !*behaviour)
        *behaviour = xstrdup(text);
}

/* NULL: the cell is not done, or not as it was written, which others say. */
static char *behaviour_of(const char *dir, const char *hash)
{
    struct err unread = {0};
    struct seal *s = cell_open(dir, hash, &unread);
    char *behaviour = NULL;

    if (s && results_json(s, "provenance.json", take_behaviour, &behaviour, &unread)) {
        free(behaviour);
        behaviour = NULL;
    }
    seal_close(s);
    return behaviour;
}

void listing_idle_in(const struct listing *l, const char *dir,
                     void (*fn)(void *arg, const char *axis, size_t places), void *arg)
{
    char **behaviour = xcalloc(l->n + 1, sizeof *behaviour);

    for (size_t i = 0; i < l->n; i++)
        behaviour[i] = behaviour_of(dir, csv_at(&l->row[i], LISTED_CELL));
    listing_idle(l, behaviour, fn, arg);
    for (size_t i = 0; i < l->n; i++)
        free(behaviour[i]);
    free((void *)behaviour);
}

void idle_note(void *unused, const char *axis, size_t places)
{
    (void)unused;
    print_note(
        "%s changes nothing: in all %zu places where cells differ in it alone, they do the same",
        axis, places);
}
