/* water.c - SPLASH-2's Water-Nsquared: molecules in a periodic box, all pairs within a cut-off.
 * Each thread sums up the forces of its pairs in an array of its own, then adds them to the
 * molecules, each under that molecule's lock; energy is summed up under one lock. Here a molecule
 * is one point with a Lennard-Jones potential, not three atoms.
 *
 * With version=dsm it locks as the published program does: a thread adds its sums "only [to] those
 * locations that it computed something for" (interf.C), its own molecules and the half that follows
 * them; locks have numbers, and are no part of a molecule; the virial has a lock, the kinetic
 * energy one for each axis (kineti.C); and a step has five barriers (mdmain.C). */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(INIT, "Water.init:17")                                                                       \
    X(FORK, "Water.run:25")                                                                        \
    X(STEP, "Water.run:31")                                                                        \
    X(MOLECULE, "Water.run:34")                                                                    \
    X(PREDICT, "Water.predict:43")                                                                 \
    X(PAIR, "Water.pair:52")                                                                       \
    X(OWN, "Water.pair:58")                                                                        \
    X(LOCK, "Water.add:69")                                                                        \
    X(ADD, "Water.add:71")                                                                         \
    X(CORRECT, "Water.correct:80")                                                                 \
    X(ENERGY, "Water.energy:92")                                                                   \
    X(VIRIAL, "Water.virial:96")                                                                   \
    X(VERIFY, "Water.verify:101")
VM_SITES(SITES)

enum { AT_X, V_X = 3, F_X = 6, AXES = 3 }; /* fields of a molecule: three of each */
enum { KINETIC, VIRIAL };
enum { /* instructions, beside those of accesses; an axis apart: a difference, two comparisons with
        * the box and a correction, square and sum */
       APART = 1 + 4 + 1 + 2,
       PAIR = 3 * APART + 2 + 2 + VM_LOOP, /* how near; the other one's number, around the end */
       NEAR = 1 + 2 + 5 + 3,               /* a division, the powers, the size; by axis a product */
       OWN = 1,                            /* by axis a sum */
       PREDICT =
           2 + 4 + 1,  /* by axis product and sum, two comparisons with the box, a correction */
       CORRECT = 2 + 3 /* by axis product and sum; the energy */
};
static const struct vm_type_of molecule_type = VM_TYPE(
    "Molecule", {"x", VM_F64, 0}, {"y", VM_F64, 0}, {"z", VM_F64, 0}, {"vx", VM_F64, 0},
    {"vy", VM_F64, 0}, {"vz", VM_F64, 0}, {"fx", VM_F64, 0}, {"fy", VM_F64, 0}, {"fz", VM_F64, 0});
static const struct vm_type_of sums_type = VM_TYPE("Sums", {"kinetic", VM_F64, 0});
static const struct vm_type_of both_type =
    VM_TYPE("Sums", {"kinetic", VM_F64, 0}, {"virial", VM_F64, 0});
static const struct vm_type_of lock_type = VM_TYPE_EMPTY("Lock", NULL);

static const double dt = 0.002, cut = 2.0, apart = 1.2;

struct water_params {
    uint64_t molecules, steps;
    uint32_t racy;    /* 1: as the paper found it */
    uint32_t version; /* enum team_version */
};
struct plain_molecule {
    double at[AXES], v[AXES], f[AXES];
};
struct water {
    const struct water_params *p;
    struct vm_ref *molecules, *sums;
    double box;             /* its side */
    double kinetic, virial; /* virial: of the last step */
    struct plain_molecule *plain;
    struct vm_ref **lock; /* locks of the molecules, by number; then those of VIRIAL and KINETIC */
};

/* The force of b on a, if they are near; d: from b to a. Adds to the virial. */
static bool force(const double a[AXES], const double b[AXES], double box, double f[AXES],
                  double *virial)
{
    double d[AXES], r2 = 0;

    for (unsigned k = 0; k < AXES; k++) {
        d[k] = a[k] - b[k];
        d[k] -= d[k] > box / 2 ? box : d[k] < -box / 2 ? -box : 0;
        r2 += d[k] * d[k];
    }
    if (r2 >= cut * cut)
        return false;
    const double by = 1 / r2, by6 = by * by * by, size = 24 * by * by6 * (2 * by6 - 1);
    for (unsigned k = 0; k < AXES; k++)
        f[k] = size * d[k];
    *virial += size * r2;
    return true;
}

static double wrap(double x, double box)
{
    return x < 0 ? x + box : x >= box ? x - box : x;
}

/* ---- on the heap ---------------------------------------------------------------------------- */

static void load_at(struct vm_thread *t, struct vm_ref *m, double at[AXES])
{
    for (unsigned k = 0; k < AXES; k++)
        at[k] = vm_get_f64(t, m, AT_X + k, AT_PAIR);
}

static void predict(struct vm_thread *t, const struct water *w, struct vm_ref *m)
{
    for (unsigned k = 0; k < AXES; k++) {
        const double v = vm_get_f64(t, m, V_X + k, AT_PREDICT);
        const double at = vm_get_f64(t, m, AT_X + k, AT_PREDICT) + dt * v;
        vm_compute(t, PREDICT);
        vm_put_f64(t, m, AT_X + k, wrap(at, w->box), AT_PREDICT);
        vm_put_f64(t, m, F_X + k, 0, AT_PREDICT);
    }
}

/* Adds to three elements of the thread's own sums. */
static void own(struct vm_thread *t, struct vm_ref *sums, uint64_t i, const double f[AXES],
                double sign)
{
    for (unsigned k = 0; k < AXES; k++) {
        const double was = vm_load_f64(t, sums, AXES * i + k, AT_OWN);
        vm_compute(t, OWN);
        vm_store_f64(t, sums, AXES * i + k, was + sign * f[k], AT_OWN);
    }
}

/* Molecule i with the half of the others that follow it, around the end: each pair once, and all
 * threads have the same work. Of an even number the pairs at distance n / 2 belong to the lower.
 * Returns their virial. */
static double pairs(struct vm_thread *t, const struct water *w, struct vm_ref *sums, uint64_t i)
{
    const uint64_t n = w->p->molecules, half = (n - 1) / 2 + (n % 2 == 0 && i < n / 2);
    struct vm_ref *m = vm_enter(t, 1);
    double a[AXES], b[AXES], f[AXES], virial = 0;

    vm_load_ref(t, m, w->molecules, i, AT_MOLECULE);
    load_at(t, m, a);
    for (uint64_t k = 1; k <= half; k++) {
        vm_load_ref(t, m, w->molecules, (i + k) % n, AT_MOLECULE);
        load_at(t, m, b);
        vm_compute(t, PAIR);
        if (!force(a, b, w->box, f, &virial))
            continue;
        vm_compute(t, NEAR);
        own(t, sums, i, f, 1);
        own(t, sums, (i + k) % n, f, -1);
    }
    vm_leave(t, m);
    return virial;
}

/* The thread's sum of a molecule is taken and set to zero, for the next step. */
static void add_own(struct vm_thread *t, struct vm_ref *m, struct vm_ref *sums, uint64_t i)
{
    for (unsigned axis = 0; axis < AXES; axis++) {
        const double f = vm_load_f64(t, sums, AXES * i + axis, AT_OWN);
        vm_compute(t, OWN);
        vm_put_f64(t, m, F_X + axis, vm_get_f64(t, m, F_X + axis, AT_ADD) + f, AT_ADD);
        vm_store_f64(t, sums, AXES * i + axis, 0, AT_OWN);
    }
}

/* Adds the sums to all molecules, each under its lock; with version=dsm to its own and to the half
 * that follows them, as it has met no others. Begins with those that no other thread begins with,
 * so that threads seldom meet. */
static void forces_add(struct vm_thread *t, const struct member *c, const struct water *w,
                       struct vm_ref *sums)
{
    const bool dsm = w->p->version == TEAM_DSM;
    const uint64_t n = w->p->molecules, first = team_from(c, n);
    const uint64_t met = team_end(c, n) - first + n / 2;
    struct vm_ref *m = vm_enter(t, 1);

    for (uint64_t k = 0; k < (dsm && met < n ? met : n); k++) {
        const uint64_t i = (first + k) % n;
        if (dsm)
            vm_lock(t, w->lock[i], AT_LOCK);
        vm_load_ref(t, m, w->molecules, i, AT_MOLECULE);
        if (!dsm)
            vm_lock(t, m, AT_LOCK);
        add_own(t, m, sums, i);
        vm_unlock(t, dsm ? w->lock[i] : m, AT_LOCK);
    }
    vm_leave(t, m);
}

/* The molecule's kinetic energy afterwards. */
static double correct(struct vm_thread *t, struct vm_ref *m)
{
    double energy = 0;

    for (unsigned k = 0; k < AXES; k++) {
        double v = vm_get_f64(t, m, V_X + k, AT_CORRECT);
        v += dt * vm_get_f64(t, m, F_X + k, AT_CORRECT);
        vm_compute(t, CORRECT);
        vm_put_f64(t, m, V_X + k, v, AT_CORRECT);
        energy += v * v / 2;
    }
    return energy;
}

/* Barriers stand where what one thread writes is read by others next: places before the forces,
 * forces before the correction, energy before the next step. With version=dsm they are those of
 * mdmain.C: the sums are zero; places; forces (interf.C); energy; the end. */
static void step(struct vm_thread *t, const struct member *c, struct water *w, struct vm_ref *r)
{
    const bool dsm = w->p->version == TEAM_DSM;
    const uint64_t n = w->p->molecules, from = team_from(c, n), end = team_end(c, n);
    /* The axes' sums, which nobody here wants apart. */
    const unsigned sums = dsm ? AXES : 1;
    double virial = 0, kinetic = 0;

    if (dsm && c->id == 0)
        vm_put_f64(t, w->sums, VIRIAL, 0, AT_VIRIAL);
    if (dsm)
        team_wait(t, c, AT_STEP);
    for (uint64_t i = from; i < end; i++) {
        vm_load_ref(t, &r[0], w->molecules, i, AT_MOLECULE);
        predict(t, w, &r[0]);
    }
    team_wait(t, c, AT_STEP);
    for (uint64_t i = from; i < end; i++)
        virial += pairs(t, w, &r[1], i);
    if (dsm)
        team_add(t, w->lock[n + VIRIAL], w->sums, VIRIAL, virial, AT_VIRIAL);
    forces_add(t, c, w, &r[1]);
    team_wait(t, c, AT_STEP);
    for (uint64_t i = from; i < end; i++) {
        vm_load_ref(t, &r[0], w->molecules, i, AT_MOLECULE);
        kinetic += correct(t, &r[0]);
    }
    struct vm_ref *lock = w->p->racy ? NULL : dsm ? w->lock[n + KINETIC] : w->sums;
    for (unsigned i = 0; i < sums; i++)
        team_add(t, lock, w->sums, KINETIC, kinetic / sums, AT_ENERGY);
    team_wait(t, c, AT_STEP);
    if (dsm)
        team_wait(t, c, AT_STEP);
}

static void work(struct vm_thread *t, const struct member *c)
{
    struct water *w = c->job;
    struct vm_ref *r = vm_enter(t, 2); /* a molecule, own sums */

    vm_new_array(t, &r[1], VM_F64, AXES * w->p->molecules, AT_INIT);
    for (uint64_t i = 0; i < w->p->steps; i++) {
        step(t, c, w, r);
        team_iterated(t, c, i);
    }
    vm_leave(t, r);
}

/* ---- before and after ----------------------------------------------------------------------- */

/* Places a molecule on a lattice, a little off it. */
static void place(struct vm_thread *t, struct water *w, uint64_t i, uint64_t side)
{
    const uint64_t at[AXES] = {i % side, i / side % side, i / side / side};
    struct vm_ref *m = vm_enter(t, 1);

    vm_load_ref(t, m, w->molecules, i, AT_INIT);
    for (unsigned k = 0; k < AXES; k++) {
        w->plain[i].at[k] = apart * ((double)at[k] + 0.1 * team_uniform(vm_rng(t)));
        w->plain[i].v[k] = team_uniform(vm_rng(t)) - 0.5;
        vm_put_f64(t, m, AT_X + k, w->plain[i].at[k], AT_INIT);
        vm_put_f64(t, m, V_X + k, w->plain[i].v[k], AT_INIT);
    }
    vm_leave(t, m);
}

static void init(struct vm_thread *t, struct water *w)
{
    const struct vm_class *molecule = vm_class(t, &molecule_type, NULL);
    const bool dsm = w->p->version == TEAM_DSM;
    struct vm_ref *m = vm_enter(t, 1);
    uint64_t side = 1;

    while (side * side * side < w->p->molecules)
        side++;
    w->box = apart * (double)side;
    w->plain = vm_scratch(t, w->p->molecules, sizeof *w->plain);
    w->molecules = vm_global(t);
    w->sums = team_new(t, vm_class(t, dsm ? &both_type : &sums_type, NULL), AT_INIT);
    vm_new_array(t, w->molecules, VM_REF, w->p->molecules, AT_INIT);
    for (uint64_t i = 0; i < w->p->molecules; i++) {
        vm_new(t, m, molecule, AT_INIT);
        vm_store_ref(t, w->molecules, i, m, AT_INIT);
        place(t, w, i, side);
    }
    if (dsm)
        w->lock = team_locks(t, vm_class(t, &lock_type, NULL), w->p->molecules + 2, AT_INIT);
    vm_leave(t, m);
}

static void plain_forces(struct water *w)
{
    for (uint64_t i = 0; i < w->p->molecules; i++)
        for (uint64_t j = 0; j < i; j++) {
            struct plain_molecule *a = &w->plain[i], *b = &w->plain[j];
            double f[AXES];
            if (!force(a->at, b->at, w->box, f, &w->virial))
                continue;
            for (unsigned k = 0; k < AXES; k++) {
                a->f[k] += f[k];
                b->f[k] -= f[k];
            }
        }
}

static void plain_step(struct water *w)
{
    for (uint64_t i = 0; i < w->p->molecules; i++)
        for (unsigned k = 0; k < AXES; k++) {
            struct plain_molecule *m = &w->plain[i];
            m->at[k] = wrap(m->at[k] + dt * m->v[k], w->box);
            m->f[k] = 0;
        }
    w->virial = 0;
    plain_forces(w);
    for (uint64_t i = 0; i < w->p->molecules; i++)
        for (unsigned k = 0; k < AXES; k++) {
            double *v = &w->plain[i].v[k];
            *v += dt * w->plain[i].f[k];
            w->kinetic += *v * *v / 2;
        }
}

static void verify(struct vm_thread *t, struct water *w)
{
    struct vm_ref *m = vm_enter(t, 1);

    for (uint64_t i = 0; i < w->p->steps; i++)
        plain_step(w);
    for (uint64_t i = 0; i < w->p->molecules; i++) {
        vm_load_ref(t, m, w->molecules, i, AT_VERIFY);
        for (unsigned k = 0; k < AXES; k++) {
            const double v = vm_get_f64(t, m, V_X + k, AT_VERIFY), want = w->plain[i].v[k];
            vm_check(t, fabs(v - want) < 1e-6, "water: molecule %u moves at %g, not %g",
                     (unsigned)i, v, want);
        }
    }
    const double kinetic = vm_get_f64(t, w->sums, KINETIC, AT_VERIFY);
    vm_check(t, w->p->racy || fabs(kinetic - w->kinetic) <= 1e-6 * (1 + w->kinetic),
             "water: kinetic energy %g, not %g", kinetic, w->kinetic);
    if (w->p->version == TEAM_DSM) {
        const double virial = vm_get_f64(t, w->sums, VIRIAL, AT_VERIFY);
        vm_check(t, fabs(virial - w->virial) <= 1e-6 * (1 + fabs(w->virial)),
                 "water: the virial is %g, not %g", virial, w->virial);
    }
    vm_leave(t, m);
}

static void water_main(struct vm_thread *t, const void *p)
{
    struct water w = {.p = p};

    init(t, &w);
    team_measure(t, work, &w, AT_FORK);
    verify(t, &w);
}

static const struct param water_rows[] = {
    ROW_CHOICE(water, racy, "off", team_racy,
               "paper: the kinetic energy is summed up without a lock, and not verified."),
    ROW_CHOICE(water, version, "managed", team_versions,
               "managed: a thread adds to all molecules, each of which is a lock; dsm: to those "
               "that it has met, as the published program, whose locks have numbers, and whose "
               "step has five barriers."),
    ROW_U64(water, molecules, "64", 1, 1000000, "molecules", "How many."),
    ROW_U64(water, steps, "4", 0, 1000000, "", "Steps of time."),
    PARAM_END,
};

const struct workload workload_water = {
    WORKLOAD_CALLED(water),
    .with = {1249, 518, 1050, 216, 75},
    .summary = "SPLASH-2's Water-Nsquared: a lock on each molecule, and barriers",
    .source = "cvm",
    .length = "steps",
    .sizes = {"molecules=64,steps=4", "molecules=512,steps=5", "molecules=2048,steps=12",
              "molecules=512,steps=5"},
};
