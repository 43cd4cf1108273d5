/* grow.c - footprints: where they are, how accesses extend them, the commit buffers that list
 * them. */
#include <stdlib.h>
#include <string.h>

#include "policy/slimstate/slimstate.h"

/* ---- where they are ------------------------------------------------------------------------- */

static uint64_t foot_key(const struct slim_array *a, uint32_t actor)
{
    return a->id * EPOCH_THREADS + actor;
}

void slim_free_feet(struct slim *s, struct slim_array *a)
{
    for (struct slim_foot *f = a->feet, *next; f; f = next) {
        next = f->next;
        slim_unlist(s, f);
        map_remove(&s->feet, foot_key(a, f->actor));
        slim_set_free(&f->side[READS].set, s->ft.env->budget);
        slim_set_free(&f->side[WRITES].set, s->ft.env->budget);
        budget_give(s->ft.env->budget, sizeof *f);
        slim_bytes_give(s, SLIM_FOOT_BYTES);
        if (f->block.at)
            metadata_give(s->ft.cost.cost, s->ft.env->core, f->block, SLIM_FOOT_BYTES);
        free(f);
    }
    a->feet = NULL;
}

uint64_t slim_table_bytes(const struct slim *s)
{
    return s->ft.cost.cost->on ? s->ft.env->machine->cores * (uint64_t)SLIM_ENTRY_BYTES : 0;
}

/* The table has an entry a core: more threads than that share them, which only caches notice. */
static struct paddr foot_entry(const struct slim *s, const struct slim_array *a, uint32_t actor)
{
    return paddr_plus(a->table, actor * (uint64_t)SLIM_ENTRY_BYTES % slim_table_bytes(s));
}

/* Gives a footprint its simulated block, and the array its table of footprints by thread. */
static void place_foot(struct slim *s, struct slim_array *a, struct slim_foot *f)
{
    struct ft_cost *c = &s->ft.cost;

    if (!a->table.at) {
        a->table = metadata_take(c->cost, c->env->core, slim_table_bytes(s));
        charge_store(s->ft.env, a->table, slim_table_bytes(s));
        charge_store(s->ft.env, paddr_plus(a->header, 16), 8);
        slim_bytes_take(s, slim_table_bytes(s));
    }
    f->block = metadata_take(c->cost, c->env->core, SLIM_FOOT_BYTES);
    charge_store(s->ft.env, f->block, SLIM_FOOT_BYTES);
    charge_store(s->ft.env, foot_entry(s, a, f->actor), SLIM_ENTRY_BYTES);
}

struct slim_foot *slim_foot(struct slim *s, struct slim_array *a, uint32_t actor)
{
    uint64_t *at = map_put(&s->feet, foot_key(a, actor));

    if (*at)
        return (struct slim_foot *)(uintptr_t)*at;
    struct slim_foot *f = xcalloc(1, sizeof *f);
    budget_take(s->ft.env->budget, sizeof *f);
    slim_bytes_take(s, SLIM_FOOT_BYTES);
    *f = (struct slim_foot){.side = {{SLIM_EMPTY, SLIM_SET_EMPTY}, {SLIM_EMPTY, SLIM_SET_EMPTY}},
                            .array = a,
                            .next = a->feet,
                            .actor = actor};
    a->feet = f;
    *at = (uint64_t)(uintptr_t)f;
    if (s->ft.cost.cost->on)
        place_foot(s, a, f);
    return f;
}

/* ---- regions -------------------------------------------------------------------------------- */

struct slim_region *slim_region_at(struct slim *s, uint32_t actor)
{
    s->region = budget_reach(s->ft.env->budget, s->region, &s->regions, actor, sizeof *s->region);
    return &s->region[actor];
}

/* A commit ends two regions: the one before it, and that of its accesses, which begins with it. */
void slim_end_region(struct slim *s, uint32_t actor, const struct event *ev)
{
    struct slim_region *r = slim_region_at(s, actor);

    slim_commit_region(s, actor);
    r->committing = ev->kind == EV_TXN_COMMIT && !r->committing;
    r->began = *s->ft.env->number + !r->committing;
}

/* ---- how they grow -------------------------------------------------------------------------- */

static bool extend(struct slim *s, const struct slim_array *a, struct slim_print *p, uint64_t i)
{
    if (s->p.footprints == SLIM_RANGES)
        return slim_extend(&p->range, i);
    slim_set_add(&p->set, a->n, i, s->ft.env->budget); /* over the budget the run ends */
    return true;
}

/* The footprint is to be committed at the end of the region. */
static void list(struct slim *s, struct slim_region *r, struct slim_foot *foot)
{
    const size_t was = r->cap;

    r->buffer = budget_grow(s->ft.env->budget, r->buffer, r->n, &r->cap, sizeof *r->buffer);
    if (!was)
        slim_bytes_take(s, s->p.buffer * (uint64_t)SLIM_ENTRY_BYTES);
    r->buffer[r->n++] = foot;
    foot->place = r->n;
    charge_step(s->ft.env, SLIM_STEP_LIST);
    if (!r->block.at)
        r->block = metadata_take(s->ft.cost.cost, s->ft.env->core,
                                 s->p.buffer * (uint64_t)SLIM_ENTRY_BYTES);
    charge_store(s->ft.env, paddr_plus(r->block, (r->n - 1) * SLIM_ENTRY_BYTES), SLIM_ENTRY_BYTES);
}

void slim_charge_find(struct slim *s, const struct slim_array *a)
{
    if (!s->ft.cost.cost->on)
        return;
    charge_step(s->ft.env, SLIM_STEP_FIND);
    charge_load(s->ft.env, metadata_at(s->ft.cost.cost, a->base), SLIM_ENTRY_BYTES);
    charge_step(s->ft.env, SLIM_STEP_FOOT);
    charge_load(s->ft.env, a->header, SLIM_HEADER_BYTES);
}

/* The buffer's entry leads to the header, and on to what the thread has gathered. */
void slim_charge_foot(struct slim *s, const struct slim_foot *foot)
{
    const struct slim_array *a = foot->array;

    if (!s->ft.cost.cost->on)
        return;
    charge_load(s->ft.env, a->header, SLIM_HEADER_BYTES);
    charge_load(s->ft.env, foot_entry(s, a, foot->actor), SLIM_ENTRY_BYTES);
    charge_load(s->ft.env, foot->block, SLIM_FOOT_BYTES);
    for (unsigned side = READS; side <= WRITES; side++)
        if (!slim_print_empty(&foot->side[side])) /* it becomes empty */
            charge_store(s->ft.env, paddr_plus(foot->block, side * (uint64_t)SLIM_FOOT_BYTES / 2),
                         8);
}

/* An access of the modelled software: the array's header, the thread's footprint, its new end. */
static void charge_append(struct slim *s, const struct slim_array *a, const struct slim_foot *foot,
                          unsigned side)
{
    const struct paddr at = paddr_plus(foot->block, side * (uint64_t)SLIM_FOOT_BYTES / 2);

    slim_charge_find(s, a);
    charge_load(s->ft.env, foot_entry(s, a, foot->actor), SLIM_ENTRY_BYTES);
    charge_step(s->ft.env, SLIM_STEP_APPEND);
    charge_load(s->ft.env, at, SLIM_FOOT_BYTES / 2);
    charge_store(s->ft.env, at, 8);
}

/* False: footprints were committed, and the arrays have changed; nothing is done yet. */
bool slim_append(struct slim *s, struct slim_foot *foot, uint64_t i, const struct event *ev)
{
    struct slim_array *a = foot->array;
    const unsigned side = event_writes(ev) ? WRITES : READS;
    const uint64_t generation = s->generation;
    struct slim_region *r = slim_region_at(s, foot->actor);

    if ((r->n && r->tid != ev->tid) || (!foot->place && r->n == s->p.buffer)) {
        s->st.full += r->tid == ev->tid;
        slim_commit_region(s, foot->actor);
        if (generation != s->generation)
            return false;
    }
    r->tid = ev->tid;
    if (!foot->place)
        list(s, r, foot);
    if (!extend(s, a, &foot->side[side], i)) {
        slim_commit(s, foot, side);
        if (generation != s->generation)
            return false;
        extend(s, a, &foot->side[side], i);
    }
    s->st.appended++;
    if (s->ft.cost.cost->on)
        charge_append(s, a, foot, side);
    return true;
}
