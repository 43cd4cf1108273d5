/* neighbours.c - permission for granules that no access has asked for yet: all of a line that the
 * manager has filled, and the rest of one that other cores were asked about. No race is reported
 * here: what is not ordered gets no permission, and the access that comes finds it. */
#include "policy/radish/access.h"

/* ---- a line that has come ------------------------------------------------------------------- */

/* The home knows no other core that has history of the data. */
static bool alone(const struct radish *r, const struct hline *h)
{
    for (unsigned k = 0; k < r->kinds; k++)
        for (const struct hline *o = h->data->of_kind[k]; o; o = o->next)
            if (o->core != h->core || o->leaving)
                return false;
    return true;
}

static unsigned lower_write(struct hline *o, granule_set set)
{
    const granule_set lost = o->may_write & set;

    o->may_write &= ~set;
    return (unsigned)__builtin_popcountll(lost);
}

/* Takes write permissions from other cores. A core that may write a granule knows of no other
 * core's entries: these have come, and the question of the access that brought them says so. */
static void tell_come(struct radish *r, const struct hline *h)
{
    const granule_set come = records_set(h, EVERY_CLASS);

    for (struct hline *o = h->data->of_kind[h->kind]; o; o = o->next)
        if (o != h)
            r->st.lowered += lower_write(o, come);
}

static bool held_unordered(const struct radish_access *a, const struct swm_access *h)
{
    return h->actor != a->actor && h->clock > vclock_get(a->clock, h->actor);
}

/* Compares the manager's accesses of a granule with the acting thread's clock: are they ordered?
 * Where several threads have read, a read takes them as unordered, and looks into no block. */
static void compare(const struct radish_access *a, struct line_access *s, unsigned i)
{
    const struct swm_held held = swm_held(a->r->manager, line_granule(a->r, a->own, i));
    const granule_set bit = (granule_set)1 << i;

    if (held.write && held_unordered(a, held.write)) {
        s->write_ordered &= ~bit;
        s->all_ordered &= ~bit;
    }
    for (size_t k = 0; k < held.n; k++)
        if ((held.n > 1 && !a->write) || held_unordered(a, &held.read[k]))
            s->all_ordered &= ~bit;
}

/* The handler compares all that it looks at (manager_fill_paid). */
void neighbours_filled(struct radish_access *a, struct line_access *s)
{
    struct radish *r = a->r;
    struct hline *h = a->own;

    s->write_ordered = s->all_ordered = line_all(r);
    for (granule_set left = h->kept; left;)
        compare(a, s, next_granule(&left));
    if (!alone(r, h)) {
        tell_come(r, h);
        return;
    }
    if (!s->write_ordered || r->params.fill == FILL_STATUS)
        return;
    h->may_read = s->write_ordered;
    h->may_write = s->all_ordered;
    cores_add(h->data->hears, a->core);
    r->st.granted += (unsigned)__builtin_popcountll(h->may_read);
}

/* ---- the rest of a line --------------------------------------------------------------------- */

/* Granules where all that conflicts with a read is ordered, on chip and with the manager. */
static granule_set readable(struct radish_access *a, const struct line_access *s, granule_set rest)
{
    struct hline *h = a->own;
    const bool told = s->fill && a->r->params.fill == FILL_CHECKS;
    granule_set set = rest & ~h->may_read & (told ? s->write_ordered : ~h->soft_write);

    for (const struct hline *o = h->data->of_kind[h->kind]; o; o = o->next)
        if (a->write && o != h)
            set &= ~o->may_write;
    return set & ~check_unordered(a, set);
}

/* Granules of which no other core has an entry. */
static granule_set writable(const struct radish_access *a, const struct line_access *s,
                            granule_set rest)
{
    const struct hline *h = a->own;
    const bool told = s->fill && a->r->params.fill == FILL_CHECKS;
    granule_set set = rest & ~h->may_write & (told ? s->all_ordered : ~h->kept);

    for (const struct hline *o = h->data->of_kind[h->kind]; o; o = o->next)
        if (o != h)
            set &= ~records_set(o, EVERY_CLASS);
    return set;
}

/* The answers have the entries of the whole line. A write leaves the permission to write to whom
 * has used it, so that false sharing makes no checks. */
bool neighbours_answered(struct radish_access *a, const struct line_access *s, granule_set rest)
{
    struct radish *r = a->r;
    struct hline *h = a->own;

    if (r->params.answers != ANSWERS_LINE)
        return false;
    rest &= line_all(r) & ~queue_has(r, h->data, h->kind);
    const granule_set write = a->write ? writable(a, s, rest) : 0;
    const granule_set read = readable(a, s, rest) | write;
    for (struct hline *o = h->data->of_kind[h->kind]; o; o = o->next) {
        if (o == h)
            continue;
        r->st.lowered += lower_write(o, read);
        r->st.lowered += (unsigned)__builtin_popcountll(o->may_read & write);
        o->may_read &= ~write;
    }
    r->st.granted += (unsigned)__builtin_popcountll(read & ~h->may_read);
    h->may_read |= read;
    h->may_write |= write;
    return (read | write) != 0;
}
