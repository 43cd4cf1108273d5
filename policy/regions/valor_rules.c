/* valor_rules.c - accesses at one variable: Valor, Algorithms 3 and 4 (Valor-E), 6 and 7 (Valor-O).
 * What is plain in both is here once; who holds a variable is told by valor_holder. */
#include "policy/regions/valor.h"

/* ---- conflicts ------------------------------------------------------------------------------ */

/* Reads that were written over come first: in the paper the first conflict ends the program, and
 * it may be one of those (3.2.2). Here a region goes on, and its further conflicts are reported
 * without this. */
static void conflict(struct valor *v, struct valor_variable *x, const struct region_access *now,
                     struct race_side earlier)
{
    struct valor_thread *t = &v->thread[now->actor];

    if (!t->reported) {
        t->reported = true;
        v->st.before_report++;
        valor_validate(v, now->actor);
    }
    race_with(v->env->report, now->ev, now->addr, earlier, &x->raced);
}

/* Another thread's ongoing region has written the variable: the access conflicts. */
static bool check_holder(struct valor *v, struct valor_variable *x, const struct region_access *now,
                         uint32_t holder)
{
    if (holder == VALOR_NOBODY || holder == now->actor)
        return false;
    conflict(v, x, now, race_access(x->event, x->site, x->tid, x->kind));
    return true;
}

/* A plain access against atomic ones; the holder's write has been looked at. */
static bool check_atomics(struct valor *v, struct valor_variable *x,
                          const struct region_access *now, bool write, uint32_t holder)
{
    bool racy = false;

    for (uint32_t i = 0; x->atomics && i < x->atomics->n; i++) {
        const struct atomic_access *p = &x->atomics->at[i];
        const bool writes = p->kind != EV_READ;
        if (p->actor == now->actor || p->region != v->thread[p->actor].region ||
            (writes ? p->actor == holder : !write))
            continue;
        conflict(v, x, now, race_access(p->event, p->site, p->tid, p->kind));
        racy = true;
    }
    return racy;
}

/* ---- the rules ------------------------------------------------------------------------------ */

/* Makes room in the write set, then takes the variable. */
static void take(struct valor *v, struct valor_variable *x, const struct region_access *now)
{
    if (!v->epochs)
        valor_write_room(v, now->actor);
    valor_take(v, x, now);
}

static bool write_variable(struct valor *v, struct valor_variable *x,
                           const struct region_access *now)
{
    const uint32_t holder = valor_holder(v, x);
    bool racy = false;

    if (holder == now->actor && !x->atomic) {
        v->st.same_region++;
        return false;
    }
    racy |= check_holder(v, x, now, holder);
    racy |= check_atomics(v, x, now, true, holder);
    if (holder != now->actor)
        take(v, x, now);
    valor_name_write(x, now);
    x->atomic = false;
    atomics_free(x->atomics, v->env->budget);
    x->atomics = NULL;
    return racy;
}

static bool read_variable(struct valor *v, struct valor_variable *x,
                          const struct region_access *now)
{
    const uint32_t holder = valor_holder(v, x);
    bool racy = check_holder(v, x, now, holder);

    racy |= check_atomics(v, x, now, false, holder);
    if (UNLIKELY(v->cost->on))
        valor_charge_log(v, &v->thread[now->actor]);
    valor_log(v, x, now);
    return racy;
}

/* A write changes the word, so that reads that it overwrites are found; a read is not logged, since
 * a version does not tell a plain write from an atomic one. */
static bool atomic_variable(struct valor *v, struct valor_variable *x,
                            const struct region_access *now)
{
    const uint32_t holder = valor_holder(v, x);
    const bool racy = !x->atomic && check_holder(v, x, now, holder);

    if (event_writes(now->ev) && holder != now->actor) {
        take(v, x, now);
        valor_name_write(x, now);
        x->atomic = true;
    }
    x->atomics = atomics_add(x->atomics, now, v->thread[now->actor].region, v->env->budget);
    return racy;
}

bool valor_at_variable(struct valor *v, struct valor_variable *x, const struct region_access *now)
{
    valor_use(v, x);
    if (UNLIKELY(v->cost->on))
        valor_charge_access(v, x, now);
    if (now->ev->flags & EVF_ORDER_MASK)
        return atomic_variable(v, x, now);
    return (event_writes(now->ev) ? write_variable : read_variable)(v, x, now);
}

/* A commit's reads and writes count together. */
void valor_counted(struct valor *v, const struct region_access *now)
{
    if (!event_writes(now->ev) || now->ev->flags & EVF_IN_TXN)
        *map_put(&v->thread[now->actor].counted, now->number) = 1;
}
