/* lives.c - see lives.h. By plain search: streams are short. */
#include "tests/frame/lives.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tests/oracle/oracle.h"

struct marks { /* locations that had a finding in their present life */
    sim_addr *at;
    size_t n, cap;
};

static bool inside(sim_addr a, sim_addr from, uint64_t bytes)
{
    return a >= from && a - from < bytes;
}

static bool marked(const struct marks *m, sim_addr a)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->at[i] == a)
            return true;
    return false;
}

static void mark(struct marks *m, sim_addr a)
{
    m->at = xgrow(m->at, m->n, &m->cap, sizeof *m->at);
    m->at[m->n++] = a;
}

static void unmark(struct marks *m, sim_addr from, uint64_t bytes)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->n; i++)
        if (!inside(m->at[i], from, bytes))
            m->at[kept++] = m->at[i];
    m->n = kept;
}

static bool ends_lives(const struct event *ev, unsigned view)
{
    return (ev->kind == EV_CLEAR && !(view & ORACLE_NO_CLEAR)) ||
           (ev->kind == EV_COPY && !(view & ORACLE_NO_COPY));
}

static void heap(struct marks *m, const struct event *ev)
{
    struct marks moved = {NULL, 0, 0};

    if (ev->kind == EV_COPY)
        for (size_t i = 0; i < m->n; i++)
            if (inside(m->at[i], ev[1].addr, ev->aux))
                mark(&moved, m->at[i] - ev[1].addr + ev->addr);
    unmark(m, ev->addr, ev->aux);
    for (size_t i = 0; i < moved.n; i++)
        mark(m, moved.at[i]);
    free(moved.at);
}

uint64_t lives_number(const struct stream *s, unsigned view, sim_addr a, uint64_t event)
{
    uint64_t n = 0, number = 0;

    for (size_t i = 0; i < s->records && number < event; i += event_records(&s->rec[i]), number++)
        n += ends_lives(&s->rec[i], view) && inside(a, s->rec[i].addr, s->rec[i].aux);
    return n;
}

static int by_life(const void *left, const void *right)
{
    const struct life *a = left, *b = right;

    if (a->location != b->location)
        return a->location < b->location ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static void see(struct lives *to, struct marks *m, const struct stream *s, unsigned view,
                const struct finding *f)
{
    if (marked(m, f->location))
        return;
    mark(m, f->location);
    to->at = xgrow(to->at, to->n, &to->cap, sizeof *to->at);
    to->at[to->n++] =
        (struct life){f->location, lives_number(s, view, f->location, f->event), f->event};
}

void lives_of(struct lives *to, const struct stream *s, unsigned view, const struct finding *of,
              size_t findings)
{
    struct marks m = {NULL, 0, 0};
    uint64_t number = 0;
    size_t k = 0;

    *to = (struct lives){NULL, 0, 0};
    for (size_t i = 0; i < s->records; i += event_records(&s->rec[i]), number++) {
        for (; k < findings && of[k].event <= number; k++)
            see(to, &m, s, view, &of[k]);
        if (ends_lives(&s->rec[i], view))
            heap(&m, &s->rec[i]);
    }
    for (; k < findings; k++) /* at the end */
        see(to, &m, s, view, &of[k]);
    if (to->n)
        qsort(to->at, to->n, sizeof *to->at, by_life);
    free(m.at);
}

void lives_of_oracle(struct lives *to, const struct stream *s, unsigned view,
                     const struct oracle *o)
{
    struct finding *f = NULL;
    size_t n = 0, cap = 0;

    for (size_t e = 0; e < oracle_events(o); e++) {
        const struct oracle_pair *p;
        const size_t pairs = oracle_pairs(o, e, &p);
        for (size_t i = 0; i < pairs; i++) {
            f = xgrow(f, n, &cap, sizeof *f);
            f[n++] = (struct finding){e, p[i].location};
        }
    }
    lives_of(to, s, view, f, n);
    free(f);
}

void lives_free(struct lives *l)
{
    free(l->at);
    *l = (struct lives){NULL, 0, 0};
}

static void tell(const struct life *l, const char *who, char *why, size_t room)
{
    snprintf(why, room,
             "location %#" PRIx64 ", life %" PRIu64 ": only %s finds something, at event %" PRIu64,
             l->location, l->number, who, l->event);
}

bool lives_lack(const struct lives *a, const char *a_name, const struct lives *b, char *why,
                size_t room)
{
    for (size_t i = 0; i < a->n; i++)
        if (!b->n || !bsearch(&a->at[i], b->at, b->n, sizeof *b->at, by_life)) {
            tell(&a->at[i], a_name, why, room);
            return true;
        }
    return false;
}

bool lives_differ(const struct lives *a, const char *a_name, const struct lives *b,
                  const char *b_name, bool exact, char *why, size_t room)
{
    for (size_t i = 0; i < a->n || i < b->n; i++) {
        const int order = i == b->n ? -1 : i == a->n ? 1 : by_life(&a->at[i], &b->at[i]);
        if (order) {
            const bool first = order < 0;
            tell(first ? &a->at[i] : &b->at[i], first ? a_name : b_name, why, room);
            return true;
        }
        if (exact && a->at[i].event != b->at[i].event) {
            snprintf(why, room,
                     "location %#" PRIx64 ": %s finds something first at event %" PRIu64
                     ", %s at %" PRIu64,
                     a->at[i].location, a_name, a->at[i].event, b_name, b->at[i].event);
            return true;
        }
    }
    return false;
}

void lives_of_watch(struct lives *to, const struct stream *s, unsigned view, const struct watch *w)
{
    struct finding *f = xcalloc(w->conflicts + 1, sizeof *f);

    for (size_t i = 0; i < w->conflicts; i++)
        f[i] = (struct finding){w->conflict[i].event, w->conflict[i].location};
    lives_of(to, s, view, f, w->conflicts);
    free(f);
}
