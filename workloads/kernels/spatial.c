/* spatial.c - SPLASH-2's Water-Spatial: molecules in lists by the cell of space they are in, so
 * that only neighbours are looked at. A pair of neighbouring cells is computed under both cells'
 * locks; a molecule that leaves its cell is put into the other's list under that one's lock. In two
 * dimensions, with points that repel each other softly in the place of water. *
 * With version=dsm it is the published program: a thread computes the forces on its own molecules
 * alone, so each pair twice, and takes no lock for them (interf.C); a molecule that stays in its
 * cell stays in its list, and one that leaves is taken out and put in under the locks of two cells
 * (bndry.C); the virial has a lock, the kinetic energy one for each axis; a step has five barriers
 * (mdmain.C). The paper says of it that it has no "frequent synchronization" (5). Who comes into a
 * cell waits in a second list here, too, as its thread walks the first one.
 */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(INIT, "Spatial.init:18")                                                                     \
    X(FORK, "Spatial.run:27")                                                                      \
    X(STEP, "Spatial.run:33")                                                                      \
    X(CELL, "Spatial.run:36")                                                                      \
    X(LOCK, "Spatial.interact:45")                                                                 \
    X(LIST, "Spatial.interact:48")                                                                 \
    X(PAIR, "Spatial.interact:52")                                                                 \
    X(FORCE, "Spatial.interact:57")                                                                \
    X(ADVANCE, "Spatial.advance:68")                                                               \
    X(ENTER, "Spatial.enter:81")                                                                   \
    X(INSERT, "Spatial.enter:83")                                                                  \
    X(SETTLE, "Spatial.settle:92")                                                                 \
    X(LEAVE, "Spatial.leave:96")                                                                   \
    X(SUM, "Spatial.sum:99")                                                                       \
    X(VERIFY, "Spatial.verify:104")
VM_SITES(SITES)

enum { NUMBER, X, Y, VX, VY, FX, FY, NEXT }; /* fields of a molecule */
enum { LIST, INCOMING };                     /* fields of a cell */
static const struct vm_type_of molecule_type =
    VM_TYPE("Molecule", {"number", VM_I32, EVF_FINAL}, {"x", VM_F64, 0}, {"y", VM_F64, 0},
            {"vx", VM_F64, 0}, {"vy", VM_F64, 0}, {"fx", VM_F64, 0}, {"fy", VM_F64, 0},
            {"next", VM_REF, 0});
static const struct vm_type_of cell_type =
    VM_TYPE("Cell", {"list", VM_REF, 0}, {"incoming", VM_REF, 0});
enum { VIRIAL, KINETIC, SUMS };
static const struct vm_type_of sums_type =
    VM_TYPE("Sums", {"virial", VM_F64, 0}, {"kinetic", VM_F64, 0});
static const struct vm_type_of lock_type = VM_TYPE_EMPTY("Lock", NULL);

enum {                        /* instructions, beside those of accesses */
       APART = 1 + 4 + 1 + 2, /* an axis: a difference, two comparisons with the grid and a
                               * correction, square and sum */
       PAIR = 2 * (APART + 1) + 1 + 2 + 2, /* by axis a product; how near; the end of the list */
       NEAR = 2,                           /* two sums */
       ADD = 1,                            /* by axis a sum */
       PUSH = 4 + 4 + 1, /* two products and sums, two comparisons with the grid, a correction */
       CELL = 2 + 2 + 2, /* two conversions, two divisions; product and sum */
       NEIGHBOUR = 4 + 4 + 2 + 2 + VM_LOOP /* two divisions of each number; which is locked first */
};
static const double dt = 0.02;

struct spatial_params {
    uint64_t grid, density, steps;
    uint32_t racy;    /* 1: as the paper found it */
    uint32_t version; /* enum team_version */
};
struct linked_molecule {
    double at[2], v[2], f[2];
    uint64_t next; /* in its cell: number + 1; 0: the last */
};
struct spatial {
    const struct spatial_params *p;
    uint64_t n, cells;
    struct vm_ref *grid; /* cells, row after row; each is 1 by 1 */
    struct linked_molecule *plain;
    uint64_t *first;        /* the first plain molecule by cell; as next */
    double virial, kinetic; /* energies of the plain molecules in the last step */
    struct vm_ref *sums;
    struct vm_ref **lock; /* locks of the cells, by number, then those of the sums */
};

static uint64_t cell_at(const struct spatial *s, const double at[2])
{
    return (uint64_t)at[1] % s->p->grid * s->p->grid + (uint64_t)at[0] % s->p->grid;
}

/* The k-th of the neighbours that are behind: with all cells' four, each pair is met once. The grid
 * is closed in both directions. */
static uint64_t neighbour(const struct spatial *s, uint64_t cell, unsigned k)
{
    static const uint64_t dx[4] = {1, 0, 1, 2}, dy[4] = {0, 1, 1, 1}; /* 2: -1 */
    const uint64_t g = s->p->grid, x = cell % g, y = cell / g;

    return (y + dy[k]) % g * g + (x + (dx[k] == 2 ? g - 1 : dx[k])) % g;
}

/* Force of b on a. */
static bool force(const struct spatial *s, const double a[2], const double b[2], double f[2])
{
    const double side = (double)s->p->grid;
    double d[2];

    for (unsigned k = 0; k < 2; k++) {
        d[k] = a[k] - b[k];
        d[k] -= d[k] > side / 2 ? side : d[k] < -side / 2 ? -side : 0;
    }
    const double r2 = d[0] * d[0] + d[1] * d[1];
    for (unsigned k = 0; k < 2; k++)
        f[k] = (1 - r2) * d[k];
    return r2 < 1;
}

static void push(double *at, double *v, double f, double side)
{
    *v += dt * f;
    *at += dt * *v;
    *at += *at < 0 ? side : *at >= side ? -side : 0;
}

/* ---- on the heap ---------------------------------------------------------------------------- */

static void load_at(struct vm_thread *t, struct vm_ref *m, double at[2])
{
    at[0] = vm_get_f64(t, m, X, AT_PAIR);
    at[1] = vm_get_f64(t, m, Y, AT_PAIR);
}

static void add_force(struct vm_thread *t, struct vm_ref *m, const double f[2], double sign)
{
    for (unsigned k = 0; k < 2; k++) {
        vm_compute(t, ADD);
        vm_put_f64(t, m, FX + k, vm_get_f64(t, m, FX + k, AT_FORCE) + sign * f[k], AT_FORCE);
    }
}

/* Computes the forces between molecule a and those of the list that begins with b; b is null then.
 * both: on them, too. Returns the virial of those on a. */
static double interact(struct vm_thread *t, const struct spatial *s, struct vm_ref *a,
                       struct vm_ref *b, bool both)
{
    double at[2], other[2], f[2], sum[2] = {0, 0}, virial = 0;

    load_at(t, a, at);
    for (; !vm_is_null(b); vm_get_ref(t, b, b, NEXT, AT_LIST)) {
        if (vm_same(t, a, b))
            continue;
        load_at(t, b, other);
        vm_compute(t, PAIR);
        if (!force(s, at, other, f))
            continue;
        vm_compute(t, NEAR);
        if (both)
            add_force(t, b, f, -1);
        sum[0] += f[0];
        sum[1] += f[1];
        virial += f[0] * f[0] + f[1] * f[1];
    }
    add_force(t, a, sum, 1);
    return virial;
}

/* All pairs of a molecule of r[0] and one of r[1]; in the same cell each pair once, as a molecule
 * meets only those behind it. The caller holds both locks. */
static void interact_cells(struct vm_thread *t, const struct spatial *s, struct vm_ref r[2])
{
    struct vm_ref *m = vm_enter(t, 2);
    const bool same = vm_same(t, &r[0], &r[1]);

    for (vm_get_ref(t, &m[0], &r[0], LIST, AT_LIST); !vm_is_null(&m[0]);
         vm_get_ref(t, &m[0], &m[0], NEXT, AT_LIST)) {
        vm_get_ref(t, &m[1], same ? &m[0] : &r[1], same ? NEXT : LIST, AT_LIST);
        interact(t, s, &m[0], &m[1], true);
    }
    vm_leave(t, m);
}

/* Locks are taken in the order of cells' numbers, so threads can't wait for each other in a circle.
 */
static void forces(struct vm_thread *t, const struct spatial *s, uint64_t cell)
{
    struct vm_ref *r = vm_enter(t, 2);

    for (unsigned k = 0; k < 5; k++) {
        const uint64_t other = k == 4 ? cell : neighbour(s, cell, k);
        const unsigned first = !s->p->racy && other < cell;
        vm_compute(t, NEIGHBOUR);
        vm_load_ref(t, &r[0], s->grid, cell, AT_CELL);
        vm_load_ref(t, &r[1], s->grid, other, AT_CELL);
        vm_lock(t, &r[first], AT_LOCK);
        if (!s->p->racy)
            vm_lock(t, &r[!first], AT_LOCK);
        interact_cells(t, s, r);
        if (!s->p->racy)
            vm_unlock(t, &r[!first], AT_LOCK);
        vm_unlock(t, &r[first], AT_LOCK);
    }
    vm_leave(t, r);
}

/* Adds the molecule to those that come into the cell, under its lock, or NULL: the cell itself. Its
 * own list may still be walked by its thread. */
static void enter(struct vm_thread *t, const struct spatial *s, struct vm_ref *m, uint64_t cell,
                  struct vm_ref *lock)
{
    struct vm_ref *r = vm_enter(t, 2); /* the cell, what is in its list */

    if (lock)
        vm_lock(t, lock, AT_ENTER);
    vm_load_ref(t, &r[0], s->grid, cell, AT_CELL);
    if (!lock)
        vm_lock(t, &r[0], AT_ENTER);
    vm_get_ref(t, &r[1], &r[0], INCOMING, AT_INSERT);
    vm_put_ref(t, m, NEXT, &r[1], AT_INSERT);
    vm_put_ref(t, &r[0], INCOMING, m, AT_INSERT);
    vm_unlock(t, lock ? lock : &r[0], AT_ENTER);
    vm_leave(t, r);
}

/* Takes the molecule out of the list of its cell, behind `last`, or at its head if that is null,
 * and adds it to those that come into another. */
static void leave(struct vm_thread *t, const struct spatial *s, struct vm_ref *m,
                  struct vm_ref *last, struct vm_ref *next, uint64_t from, uint64_t to)
{
    struct vm_ref *cell = vm_enter(t, 1);
    const bool head = vm_is_null(last);

    vm_lock(t, s->lock[from], AT_LEAVE);
    vm_load_ref(t, cell, s->grid, from, AT_CELL);
    vm_put_ref(t, head ? cell : last, head ? LIST : NEXT, next, AT_LEAVE);
    vm_unlock(t, s->lock[from], AT_LEAVE);
    vm_leave(t, cell);
    enter(t, s, m, to, s->lock[to]);
}

/* Moves the cell's molecules: each goes into the list of those that come into its cell, and the
 * forces on it are 0 then; or, as published, those that leave their cell go. Returns their kinetic
 * energy. */
static double advance(struct vm_thread *t, const struct spatial *s, uint64_t cell)
{
    const bool dsm = s->p->version == TEAM_DSM;
    struct vm_ref *r = vm_enter(t, 3); /* a molecule, the next one, the last one that stays */
    double at[2], kinetic = 0;

    vm_load_ref(t, &r[1], s->grid, cell, AT_CELL);
    for (vm_get_ref(t, &r[0], &r[1], LIST, AT_ADVANCE); !vm_is_null(&r[0]);
         vm_assign(t, &r[0], &r[1])) {
        vm_get_ref(t, &r[1], &r[0], NEXT, AT_ADVANCE);
        for (unsigned k = 0; k < 2; k++) {
            double v = vm_get_f64(t, &r[0], VX + k, AT_ADVANCE);
            at[k] = vm_get_f64(t, &r[0], X + k, AT_ADVANCE);
            vm_compute(t, PUSH);
            push(&at[k], &v, vm_get_f64(t, &r[0], FX + k, AT_ADVANCE), (double)s->p->grid);
            vm_put_f64(t, &r[0], X + k, at[k], AT_ADVANCE);
            vm_put_f64(t, &r[0], VX + k, v, AT_ADVANCE);
            if (!dsm)
                vm_put_f64(t, &r[0], FX + k, 0, AT_ADVANCE);
            kinetic += v * v / 2;
        }
        vm_compute(t, CELL);
        if (!dsm)
            enter(t, s, &r[0], cell_at(s, at), NULL);
        else if (cell_at(s, at) == cell)
            vm_assign(t, &r[2], &r[0]);
        else
            leave(t, s, &r[0], &r[2], &r[1], cell, cell_at(s, at));
    }
    vm_leave(t, r);
    return kinetic;
}

static void settle(struct vm_thread *t, const struct spatial *s, uint64_t cell)
{
    struct vm_ref *r = vm_enter(t, 2);

    vm_load_ref(t, &r[0], s->grid, cell, AT_CELL);
    vm_get_ref(t, &r[1], &r[0], INCOMING, AT_SETTLE);
    vm_put_ref(t, &r[0], LIST, &r[1], AT_SETTLE);
    vm_put_ref(t, &r[0], INCOMING, NULL, AT_SETTLE);
    vm_leave(t, r);
}

/* ---- as published --------------------------------------------------------------------------- */

static void at_rest(struct vm_thread *t, const struct spatial *s, uint64_t cell)
{
    struct vm_ref *r = vm_enter(t, 1);

    vm_load_ref(t, r, s->grid, cell, AT_CELL);
    for (vm_get_ref(t, r, r, LIST, AT_LIST); !vm_is_null(r); vm_get_ref(t, r, r, NEXT, AT_LIST)) {
        vm_put_f64(t, r, FX, 0, AT_ADVANCE);
        vm_put_f64(t, r, FY, 0, AT_ADVANCE);
    }
    vm_leave(t, r);
}

/* Computes the forces on the molecules of a cell, by those in it and in the eight around it. */
static double forces_on(struct vm_thread *t, const struct spatial *s, uint64_t cell)
{
    struct vm_ref *r = vm_enter(t, 4); /* the cell, a neighbour, a molecule of each */
    const uint64_t g = s->p->grid, x = cell % g, y = cell / g;
    double virial = 0;

    vm_load_ref(t, &r[0], s->grid, cell, AT_CELL);
    for (uint64_t k = 0; k < 9; k++) {
        const uint64_t other = (y + g - 1 + k / 3) % g * g + (x + g - 1 + k % 3) % g;
        vm_compute(t, NEIGHBOUR);
        vm_load_ref(t, &r[1], s->grid, other, AT_CELL);
        for (vm_get_ref(t, &r[2], &r[0], LIST, AT_LIST); !vm_is_null(&r[2]);
             vm_get_ref(t, &r[2], &r[2], NEXT, AT_LIST)) {
            vm_get_ref(t, &r[3], &r[1], LIST, AT_LIST);
            virial += interact(t, s, &r[2], &r[3], false);
        }
    }
    vm_leave(t, r);
    return virial;
}

/* Particles that have come into the cell go before those that have stayed. */
static void settle_in(struct vm_thread *t, const struct spatial *s, uint64_t cell)
{
    struct vm_ref *r = vm_enter(t, 4); /* the cell, its first, one that comes in, the next one */

    vm_load_ref(t, &r[0], s->grid, cell, AT_CELL);
    for (vm_get_ref(t, &r[2], &r[0], INCOMING, AT_SETTLE); !vm_is_null(&r[2]);
         vm_assign(t, &r[2], &r[3])) {
        vm_get_ref(t, &r[3], &r[2], NEXT, AT_SETTLE);
        vm_get_ref(t, &r[1], &r[0], LIST, AT_SETTLE);
        vm_put_ref(t, &r[2], NEXT, &r[1], AT_SETTLE);
        vm_put_ref(t, &r[0], LIST, &r[2], AT_SETTLE);
    }
    vm_put_ref(t, &r[0], INCOMING, NULL, AT_SETTLE);
    vm_leave(t, r);
}

static void step_dsm(struct vm_thread *t, const struct member *c, const struct spatial *s)
{
    const uint64_t from = team_from(c, s->cells), end = team_end(c, s->cells);
    double virial = 0, kinetic = 0;

    for (unsigned which = 0; c->id == 0 && which < SUMS; which++)
        vm_put_f64(t, s->sums, which, 0, AT_SUM);
    team_wait(t, c, AT_STEP);
    for (uint64_t cell = from; cell < end; cell++)
        at_rest(t, s, cell);
    team_wait(t, c, AT_STEP);
    for (uint64_t cell = from; cell < end; cell++)
        virial += forces_on(t, s, cell);
    team_add(t, s->p->racy ? NULL : s->lock[s->cells + VIRIAL], s->sums, VIRIAL, virial, AT_SUM);
    team_wait(t, c, AT_STEP);
    for (uint64_t cell = from; cell < end; cell++)
        kinetic += advance(t, s, cell);
    /* The axes' sums, which nobody here wants apart. */
    for (unsigned axis = 0; axis < 2; axis++)
        team_add(t, s->lock[s->cells + KINETIC], s->sums, KINETIC, kinetic / 2, AT_SUM);
    team_wait(t, c, AT_STEP);
    for (uint64_t cell = from; cell < end; cell++)
        settle_in(t, s, cell);
    team_wait(t, c, AT_STEP);
}

static void work_dsm(struct vm_thread *t, const struct member *c)
{
    const struct spatial *s = c->job;

    for (uint64_t i = 0; i < s->p->steps; i++) {
        step_dsm(t, c, s);
        team_iterated(t, c, i);
    }
}

/* ---- with a lock on each cell ---------------------------------------------------------------- */

static void work(struct vm_thread *t, const struct member *c)
{
    const struct spatial *s = c->job;

    for (uint64_t i = 0; i < 3 * s->p->steps; i++) {
        for (uint64_t cell = team_from(c, s->cells); cell < team_end(c, s->cells); cell++)
            if (i % 3 == 0)
                forces(t, s, cell);
            else if (i % 3 == 1)
                advance(t, s, cell);
            else
                settle(t, s, cell);
        team_wait(t, c, AT_STEP);
        if (i % 3 == 2)
            team_iterated(t, c, i / 3);
    }
}

/* ---- before and after ----------------------------------------------------------------------- */

static void init(struct vm_thread *t, struct spatial *s)
{
    const struct vm_class *molecule = vm_class(t, &molecule_type, NULL);
    const struct vm_class *cell = vm_class(t, &cell_type, NULL);
    struct vm_ref *r = vm_enter(t, 1);

    if (s->p->version == TEAM_DSM) {
        s->lock = team_locks(t, vm_class(t, &lock_type, NULL), s->cells + SUMS, AT_INIT);
        s->sums = team_new(t, vm_class(t, &sums_type, NULL), AT_INIT);
    }
    vm_new_array(t, s->grid, VM_REF, s->cells, AT_INIT);
    team_fill(t, s->grid, s->cells, cell, r, AT_INIT);
    for (uint64_t i = 0; i < s->n; i++) {
        struct linked_molecule *m = &s->plain[i];
        vm_new(t, r, molecule, AT_INIT);
        vm_put_i32(t, r, NUMBER, (int32_t)i, AT_INIT);
        for (unsigned k = 0; k < 2; k++) {
            m->at[k] = team_uniform(vm_rng(t)) * (double)s->p->grid;
            m->v[k] = 2 * team_uniform(vm_rng(t)) - 1;
            vm_put_f64(t, r, X + k, m->at[k], AT_INIT);
            vm_put_f64(t, r, VX + k, m->v[k], AT_INIT);
        }
        enter(t, s, r, cell_at(s, m->at), NULL);
    }
    for (uint64_t i = 0; i < s->cells; i++)
        settle(t, s, i);
    vm_leave(t, r);
}

/* Adds the forces on i of all molecules in a cell but itself. */
static void plain_force(struct spatial *s, uint64_t i, uint64_t cell)
{
    struct linked_molecule *m = &s->plain[i];
    double f[2];

    for (uint64_t j = s->first[cell]; j; j = s->plain[j - 1].next)
        if (j - 1 != i && force(s, m->at, s->plain[j - 1].at, f)) {
            m->f[0] += f[0];
            m->f[1] += f[1];
            s->virial += f[0] * f[0] + f[1] * f[1];
        }
}

static void plain_step(struct spatial *s)
{
    const uint64_t g = s->p->grid;

    s->virial = s->kinetic = 0;
    memset(s->first, 0, s->cells * sizeof *s->first);
    for (uint64_t i = 0; i < s->n; i++) {
        uint64_t *first = &s->first[cell_at(s, s->plain[i].at)];
        s->plain[i].next = *first;
        *first = i + 1;
        s->plain[i].f[0] = s->plain[i].f[1] = 0;
    }
    for (uint64_t i = 0; i < s->n; i++) {
        const uint64_t cell = cell_at(s, s->plain[i].at), x = cell % g, y = cell / g;
        for (uint64_t k = 0; k < 9; k++)
            plain_force(s, i, (y + g - 1 + k / 3) % g * g + (x + g - 1 + k % 3) % g);
    }
    for (uint64_t i = 0; i < s->n; i++)
        for (unsigned k = 0; k < 2; k++) {
            push(&s->plain[i].at[k], &s->plain[i].v[k], s->plain[i].f[k], (double)g);
            s->kinetic += s->plain[i].v[k] * s->plain[i].v[k] / 2;
        }
}

static void verify(struct vm_thread *t, struct spatial *s)
{
    struct vm_ref *r = vm_enter(t, 1);
    uint64_t n = 0;

    for (uint64_t i = 0; i < s->p->steps; i++)
        plain_step(s);
    for (uint64_t i = 0; i < s->cells; i++) {
        vm_load_ref(t, r, s->grid, i, AT_VERIFY);
        for (vm_get_ref(t, r, r, LIST, AT_VERIFY); !vm_is_null(r);
             vm_get_ref(t, r, r, NEXT, AT_VERIFY), n++) {
            const uint64_t number = (uint64_t)vm_get_i32(t, r, NUMBER, AT_VERIFY);
            const double v = vm_get_f64(t, r, VX, AT_VERIFY), want = s->plain[number].v[0];
            vm_check(t, s->p->racy || fabs(v - want) < 1e-6,
                     "spatial: molecule %u moves at %g, not %g", (unsigned)number, v, want);
        }
    }
    if (s->p->version == TEAM_DSM && s->p->steps) {
        const double virial = vm_get_f64(t, s->sums, VIRIAL, AT_VERIFY);
        const double kinetic = vm_get_f64(t, s->sums, KINETIC, AT_VERIFY);
        vm_check(t, s->p->racy || fabs(virial - s->virial) <= 1e-6 * (1 + s->virial),
                 "spatial: the virial is %g, not %g", virial, s->virial);
        vm_check(t, fabs(kinetic - s->kinetic) <= 1e-6 * (1 + s->kinetic),
                 "spatial: kinetic energy %g, not %g", kinetic, s->kinetic);
    }
    vm_check(t, n == s->n, "spatial: %u molecules are left of %u", (unsigned)n, (unsigned)s->n);
    vm_leave(t, r);
}

static void spatial_main(struct vm_thread *t, const void *p)
{
    struct spatial s = {.p = p};

    s.cells = s.p->grid * s.p->grid;
    s.n = s.cells * s.p->density;
    s.plain = vm_scratch(t, s.n, sizeof *s.plain);
    s.first = vm_scratch(t, s.cells, sizeof *s.first);
    s.grid = vm_global(t);
    init(t, &s);
    team_measure(t, s.p->version == TEAM_DSM ? work_dsm : work, &s, AT_FORK);
    verify(t, &s);
}

static const struct param spatial_rows[] = {
    ROW_CHOICE(spatial, racy, "off", team_racy,
               "paper: a thread that adds forces locks its own cell alone, or with version=dsm "
               "adds to the virial without a lock; they are not verified."),
    ROW_CHOICE(spatial, version, "managed", team_versions,
               "managed: a thread adds a pair's forces to both molecules, under the locks of two "
               "cells; dsm: to its own alone, without a lock, as the published program, whose step "
               "has five barriers."),
    ROW_U64(spatial, grid, "6", 3, 1000, "cells", "Side of the space."),
    ROW_U64(spatial, density, "4", 0, 100, "molecules", "For each cell, on average."),
    ROW_U64(spatial, steps, "3", 0, 1000000, "", "Steps of time."),
    PARAM_END,
};

const struct workload workload_spatial = {
    WORKLOAD_CALLED(spatial),
    .with = {1083, 395, 882, 285, 200},
    .summary = "SPLASH-2's Water-Spatial: lists of molecules in locked cells, and barriers",
    .source = "cvm",
    .length = "steps",
    .sizes = {"grid=6,density=4,steps=3", "grid=24,density=4,steps=8",
              "grid=100,density=4,steps=10", "grid=8,density=8,steps=5"},
    .granularity = 4,
};
