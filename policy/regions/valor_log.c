/* valor_log.c - read logs and write sets: room in them, validation, the ends of regions (Valor,
 * Algorithms 5 and 8, and 5.3). */
#include <stdlib.h>

#include "policy/regions/valor.h"

/* ---- validation ----------------------------------------------------------------------------- */

/* Algorithm 5, line 3, and Algorithm 8, line 3: another version, and not just by this thread's own
 * write, which adds 1. Versions wrap, so their difference is taken in their bits. */
static bool conflicts(const struct valor *v, uint32_t actor, const struct logged *e)
{
    const struct valor_variable *x = e->x;
    const uint32_t by = (x->version - e->version) & v->version_mask;
    const bool mine = x->writer == actor && (v->epochs || valor_holder(v, x) == actor);

    if (LIKELY(!by))
        return false;
    return !mine || by >= 2;
}

/* The side that a conflict names: the last writer, unless that is the reader itself (Figure
 * 2(b)). */
static struct race_side other_side(const struct valor_variable *x, uint32_t actor)
{
    if (x->writer == actor)
        return (struct race_side){.known = false};
    return race_access(x->event, x->site, x->tid, x->kind);
}

/* A conflict is reported once: the entry then stands for a read of the version as it is now. */
static void report(struct valor *v, uint32_t actor, struct logged *e)
{
    struct valor_variable *x = e->x;
    const struct event ev = {.addr = e->location,
                             .aux = e->site,
                             .size = e->size,
                             .tid = e->tid,
                             .flags = e->system ? EVF_SYSTEM : 0,
                             .kind = EV_READ};
    const struct race_side other = other_side(x, actor);
    uint64_t *counted = map_put(&v->thread[actor].counted, e->event);

    race_late(v->env->report, &ev, e->event, &other, !x->raced, *counted);
    *counted = 1;
    v->st.late++;
    x->raced = true;
    e->version = x->version;
}

void valor_validate_one(struct valor *v, uint32_t actor, struct logged *e)
{
    if (e->x && conflicts(v, actor, e))
        report(v, actor, e);
}

/* log_room: up to how many reads nothing need be done, until the log is full or the period is over.
 */
static void set_room(const struct valor *v, struct valor_thread *t)
{
    const uint64_t due = t->checked + v->params.period;

    t->log_room = due < t->reads_room ? (uint32_t)due : t->reads_room;
}

void valor_validate(struct valor *v, uint32_t actor)
{
    struct valor_thread *t = &v->thread[actor];

    t->checked = t->reads;
    set_room(v, t);
    if (!t->reads)
        return;
    v->st.validations++;
    v->st.validated += t->reads;
    if (UNLIKELY(v->cost->on))
        valor_charge_validation(v, t);
    const uint64_t late = v->st.late;
    for (struct logged *e = t->read, *end = e + t->reads; e < end; e++)
        if (UNLIKELY(e->x && e->x->version != e->version))
            valor_validate_one(v, actor, e);
    if (UNLIKELY(v->st.late != late))
        race_late_done(v->env->report);
}

/* ---- logs ----------------------------------------------------------------------------------- */

/* Forgets the reads. What is validated can't conflict any more; what is not is missed. */
static void empty_log(struct valor *v, uint32_t actor)
{
    struct valor_thread *t = &v->thread[actor];

    v->st.logged += t->reads - t->followed;
    t->read_base += t->reads;
    t->reads = t->followed = t->checked = 0;
    set_room(v, t);
}

/* Gives a log pages of the machine, up to its limit, when it is longer than ever before. */
static void more_pages(struct valor *v, uint32_t entries, unsigned bytes, uint32_t *paged,
                       uint64_t limit)
{
    const uint64_t page = 4096 / bytes;

    for (uint64_t more; entries >= *paged && *paged < limit; *paged += (uint32_t)more) {
        more = limit - *paged < page ? limit - *paged : page;
        budget_take(&v->variables.metadata, more * bytes);
    }
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Room for one entry more: on the host, and in pages of the machine. */
static void grow_log(struct valor *v, struct valor_thread *t)
{
    t->read = budget_grow32(v->env->budget, t->read, t->reads, &t->reads_cap, sizeof *t->read);
    more_pages(v, t->reads, valor_log_bytes(v), &t->reads_paged, v->params.read_log);
    t->reads_room = lesser(t->reads_cap, t->reads_paged);
    set_room(v, t);
}

static void grow_set(struct valor *v, struct valor_thread *t)
{
    t->write = budget_grow32(v->env->budget, t->write, t->writes, &t->writes_cap, sizeof *t->write);
    more_pages(v, t->writes, valor_set_bytes(v), &t->writes_paged, v->params.write_set);
    t->writes_room = lesser(t->writes_cap, t->writes_paged);
}

void valor_log_room(struct valor *v, uint32_t actor)
{
    struct valor_thread *t = &v->thread[actor];

    if (t->reads - t->checked == v->params.period) {
        v->st.periodic++;
        valor_validate(v, actor);
    }
    if (t->reads < t->reads_room)
        return;
    if (t->reads < v->params.read_log) {
        grow_log(v, t);
        return;
    }
    v->st.log_full++;
    valor_validate(v, actor);
    empty_log(v, actor);
}

void valor_add_read(struct valor *v, uint32_t actor, const struct logged *is)
{
    struct valor_thread *t = &v->thread[actor];

    if (t->reads >= t->reads_room)
        grow_log(v, t);
    t->read[t->reads++] = *is;
    t->followed++;
    t->checked++;
    set_room(v, t);
}

void valor_add_write(struct valor *v, uint32_t actor, const struct written *is)
{
    struct valor_thread *t = &v->thread[actor];

    if (t->writes >= t->writes_room)
        grow_set(v, t);
    t->write[t->writes++] = *is;
}

/* ---- write sets, and the ends of regions ---------------------------------------------------- */

/* Algorithm 8, lines 6 to 9: the thread gives up all that it owns. A variable is owned while it has
 * the thread's number `taking`, so to change that number gives up all at once. */
static void release(struct valor *v, uint32_t actor)
{
    struct valor_thread *t = &v->thread[actor];

    if (UNLIKELY(v->cost->on))
        valor_charge_release(v, t, actor);
    t->write_base += t->writes;
    t->writes = 0;
    t->taking++;
}

/* A full write set splits the region (5.3). */
void valor_write_room(struct valor *v, uint32_t actor)
{
    struct valor_thread *t = &v->thread[actor];

    if (t->writes >= v->params.write_set) {
        v->st.splits++;
        valor_validate(v, actor);
        empty_log(v, actor);
        release(v, actor);
    }
    if (t->writes >= t->writes_room)
        grow_set(v, t);
}

void valor_end_region(struct valor *v, uint32_t actor)
{
    struct valor_thread *t = &v->thread[actor];

    v->st.regions++;
    if (UNLIKELY(v->cost->on))
        valor_charge_region_end(v, t);
    valor_validate(v, actor);
    empty_log(v, actor);
    if (UNLIKELY(t->counted.n))
        map_free(&t->counted);
    release(v, actor);
    t->region++;
    t->reported = false;
}
