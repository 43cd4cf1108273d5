/* moldyn.c - particles in a box that attract and repel each other (Lennard-Jones); after Java
 * Grande's MolDyn. Pairs are cut among the threads: thread k has particles k, k + threads, ...,
 * each with all of a higher number. Both partners of a pair get a force, so each thread adds up
 * forces in an array of its own, and those are then added up particle by particle. Three barriers a
 * step in the place of locks; no race. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(NEW, "md.initialise:18")                                                                     \
    X(INIT, "md.initialise:27")                                                                    \
    X(FORK, "md.runiters:41")                                                                      \
    X(PARTS, "mdRunner.run:52")                                                                    \
    X(MOVE, "mdRunner.domove:60")                                                                  \
    X(ZERO, "mdRunner.domove:68")                                                                  \
    X(PLACE, "mdRunner.force:80")                                                                  \
    X(FORCE, "mdRunner.force:104")                                                                 \
    X(SUM, "mdRunner.mkekin:118")                                                                  \
    X(SPEED, "mdRunner.mkekin:122")                                                                \
    X(ENERGY, "mdRunner.mkekin:127")                                                               \
    X(SCALE, "mdRunner.dscal:135")                                                                 \
    X(BARRIER, "mdRunner.run:148")                                                                 \
    X(VERIFY, "md.validate:160")
VM_SITES(SITES)

enum { SCALE_EVERY = 10 };
enum { PLACE, SPEED, FORCE, WHATS };

struct moldyn_params {
    uint64_t cells, steps;
};
struct moldyn {
    const struct moldyn_params *p;
    uint64_t n;                  /* particles: 4 a cell */
    double side, cutoff;         /* the box's; that of forces, squared */
    struct vm_ref *array[WHATS]; /* x of all, y of all, z of all */
    struct vm_ref *parts;        /* each thread's array of forces */
    struct vm_ref *energy;       /* by thread */
    double *host[WHATS];         /* the same */
};

/* ---- physics -------------------------------------------------------------------------------- */

/* The original's constants, in its units. */
static const double time_step = 0.064, temperature = 0.722, density = 0.83134;

static double into_box(double x, double side)
{
    return x < 0 ? x + side : x > side ? x - side : x;
}
/* The box repeats itself on all sides: the distance to the nearest image of the other particle. */
static double nearest(double distance, double side)
{
    return distance < -side / 2  ? distance + side
           : distance > side / 2 ? distance - side
                                 : distance;
}
/* The Lennard-Jones force over the distance, from the distance squared. */
static double strength(double square)
{
    const double r2 = 1 / square, r4 = r2 * r2, r6 = r4 * r2;

    return r6 * r6 * r2 - 0.5 * r4 * r4;
}
/* Returns the factor that cools all speeds to the temperature. squares: the sum of their
 * squares. */
static double cooling(double squares, uint64_t n)
{
    const double scale = 16 / ((double)n - 1), h = time_step;

    return sqrt(temperature / (scale * (squares / (h * h))));
}
static double impulse(double force)
{
    return force * time_step * time_step * 0.5;
}

/* ---- the beginning -------------------------------------------------------------------------- */

/* A lattice with a particle at each corner and in the middle of each face. */
static void place(struct moldyn *s)
{
    static const double at[4][3] = {{0, 0, 0}, {.5, .5, 0}, {.5, 0, .5}, {0, .5, .5}};
    const uint64_t m = s->p->cells;
    const double a = s->side / (double)m;

    for (uint64_t i = 0; i < s->n; i++) {
        const uint64_t cell = i / 4, corner[3] = {cell % m, cell / m % m, cell / m / m};
        for (unsigned d = 0; d < 3; d++)
            s->host[PLACE][d * s->n + i] = a * ((double)corner[d] + at[i % 4][d]);
    }
}

/* Random speeds, whose sum is zero: the gas as a whole rests. */
static void push(struct moldyn *s, struct rng *r)
{
    double squares = 0, *speed = s->host[SPEED];

    for (unsigned d = 0; d < 3; d++) {
        double sum = 0;
        for (uint64_t i = d * s->n; i < (d + 1) * s->n; i++)
            sum += speed[i] = team_uniform(r) - 0.5;
        for (uint64_t i = d * s->n; i < (d + 1) * s->n; i++) {
            speed[i] -= sum / (double)s->n;
            squares += speed[i] * speed[i];
        }
    }
    for (uint64_t i = 0; i < 3 * s->n; i++)
        speed[i] *= cooling(squares, s->n);
}

static void init(struct vm_thread *t, struct moldyn *s)
{
    const uint64_t threads = vm_params(t)->threads;
    struct vm_ref *part = vm_enter(t, 1);

    for (unsigned w = 0; w < WHATS; w++)
        s->host[w] = vm_scratch(t, 3 * s->n, sizeof(double));
    place(s);
    push(s, vm_rng(t));
    for (unsigned w = 0; w < WHATS; w++) {
        s->array[w] = team_array(t, VM_F64, 3 * s->n, AT_NEW);
        for (uint64_t i = 0; i < 3 * s->n; i++)
            vm_store_f64(t, s->array[w], i, s->host[w][i], AT_INIT);
    }
    s->energy = team_array(t, VM_F64, threads, AT_NEW);
    s->parts = team_array(t, VM_REF, threads, AT_NEW);
    for (uint64_t i = 0; i < threads; i++) {
        vm_new_array(t, part, VM_F64, 3 * s->n, AT_NEW);
        vm_store_ref(t, s->parts, i, part, AT_INIT);
    }
    vm_leave(t, part);
}

/* ---- a step --------------------------------------------------------------------------------- */

enum {                     /* instructions, beside those of accesses */
       MOVE = 6 + VM_LOOP, /* two additions; two comparisons with the box */
       ZERO = VM_LOOP,
       PAIR =
           25 + VM_LOOP,  /* by dimension subtract, two comparisons and a correction, square, add */
       NEAR = 14 + 3 * 3, /* a division and the powers; by dimension multiply, add, subtract */
       TOTAL = 5 + VM_LOOP, /* multiply, add; square, add, multiply */
       SCALE = 1 + VM_LOOP
};

/* Moves the thread's own particles. Clears its whole array of forces, as any particle may be in
 * that. */
static void move(struct vm_thread *t, struct moldyn *s, const struct member *m, struct vm_ref *part)
{
    for (uint64_t i = team_from(m, 3 * s->n), end = team_end(m, 3 * s->n); i < end; i++) {
        const double at = vm_load_f64(t, s->array[PLACE], i, AT_MOVE);
        double speed = vm_load_f64(t, s->array[SPEED], i, AT_MOVE);
        speed += vm_load_f64(t, s->array[FORCE], i, AT_MOVE);
        vm_compute(t, MOVE);
        vm_store_f64(t, s->array[PLACE], i, into_box(at + speed, s->side), AT_MOVE);
        vm_store_f64(t, s->array[SPEED], i, speed, AT_MOVE);
    }
    for (uint64_t i = 0; i < 3 * s->n; i++) {
        vm_compute(t, ZERO);
        vm_store_f64(t, part, i, 0, AT_ZERO);
    }
}

static void add_force(struct vm_thread *t, struct vm_ref *part, uint64_t i, double force)
{
    vm_store_f64(t, part, i, vm_load_f64(t, part, i, AT_FORCE) + force, AT_FORCE);
}

/* The forces between particle i and all particles of a higher number. */
static void attract(struct vm_thread *t, struct moldyn *s, uint64_t i, struct vm_ref *part)
{
    double at[3], by[3], sum[3] = {0};

    for (unsigned d = 0; d < 3; d++)
        at[d] = vm_load_f64(t, s->array[PLACE], d * s->n + i, AT_PLACE);
    for (uint64_t j = i + 1; j < s->n; j++) {
        double square = 0;
        for (unsigned d = 0; d < 3; d++) {
            by[d] = at[d] - vm_load_f64(t, s->array[PLACE], d * s->n + j, AT_PLACE);
            by[d] = nearest(by[d], s->side);
            square += by[d] * by[d];
        }
        vm_compute(t, PAIR);
        if (square > s->cutoff)
            continue;
        vm_compute(t, NEAR);
        for (unsigned d = 0; d < 3; d++) {
            const double force = by[d] * strength(square);
            sum[d] += force;
            add_force(t, part, d * s->n + j, -force);
        }
    }
    for (unsigned d = 0; d < 3; d++)
        add_force(t, part, d * s->n + i, sum[d]);
}

/* Adds up the forces that the threads found. */
static void collect(struct vm_thread *t, struct moldyn *s, const struct member *m,
                    struct vm_ref *part)
{
    double squares = 0;

    for (uint64_t i = team_from(m, 3 * s->n), end = team_end(m, 3 * s->n); i < end; i++) {
        double sum = 0;
        for (unsigned u = 0; u < m->of; u++)
            sum += vm_load_f64(t, &part[u], i, AT_SUM);
        vm_compute(t, TOTAL + m->of * (1 + VM_LOOP));
        vm_store_f64(t, s->array[FORCE], i, impulse(sum), AT_SUM);
        double speed = vm_load_f64(t, s->array[SPEED], i, AT_SPEED);
        speed += impulse(sum);
        vm_store_f64(t, s->array[SPEED], i, speed, AT_SPEED);
        squares += speed * speed;
    }
    vm_store_f64(t, s->energy, m->id, squares, AT_ENERGY);
}

/* Each thread adds up all threads' energies by itself, in the same order: all get the same sum. */
static void rescale(struct vm_thread *t, struct moldyn *s, const struct member *m)
{
    double squares = 0;

    for (unsigned u = 0; u < m->of; u++)
        squares += vm_load_f64(t, s->energy, u, AT_SCALE);
    for (uint64_t i = team_from(m, 3 * s->n), end = team_end(m, 3 * s->n); i < end; i++) {
        const double speed = vm_load_f64(t, s->array[SPEED], i, AT_SCALE);
        vm_compute(t, SCALE);
        vm_store_f64(t, s->array[SPEED], i, speed * cooling(squares, s->n), AT_SCALE);
    }
}

/* Between two barriers each array has one writer a part, or is only read: places are written by
 * move alone, a thread's forces by attract, their sum by collect. rescale and the next move write
 * the same part of the speeds in the same thread. */
static void work(struct vm_thread *t, const struct member *m)
{
    struct moldyn *s = m->job;
    struct vm_ref *part = vm_enter(t, m->of);

    for (unsigned u = 0; u < m->of; u++)
        vm_load_ref(t, &part[u], s->parts, u, AT_PARTS);
    for (uint64_t step = 1; step <= s->p->steps; step++) {
        move(t, s, m, &part[m->id]);
        team_wait(t, m, AT_BARRIER);
        for (uint64_t i = m->id; i < s->n; i += m->of)
            attract(t, s, i, &part[m->id]);
        team_wait(t, m, AT_BARRIER);
        collect(t, s, m, part);
        team_wait(t, m, AT_BARRIER);
        if (step % SCALE_EVERY == 0)
            rescale(t, s, m);
    }
    vm_leave(t, part);
}

/* ---- the same on the host ------------------------------------------------------------------- */

static void host_attract(const struct moldyn *s, uint64_t i, uint64_t j, double *force)
{
    const double *at = s->host[PLACE];
    double by[3], square = 0;

    for (unsigned d = 0; d < 3; d++) {
        by[d] = nearest(at[d * s->n + i] - at[d * s->n + j], s->side);
        square += by[d] * by[d];
    }
    for (unsigned d = 0; d < 3 && square <= s->cutoff; d++) {
        force[d * s->n + i] += by[d] * strength(square);
        force[d * s->n + j] -= by[d] * strength(square);
    }
}

static void host_step(struct moldyn *s, bool rescale)
{
    double *at = s->host[PLACE], *speed = s->host[SPEED], *force = s->host[FORCE], squares = 0;

    for (uint64_t i = 0; i < 3 * s->n; i++) {
        speed[i] += force[i];
        at[i] = into_box(at[i] + speed[i], s->side);
        force[i] = 0;
    }
    for (uint64_t i = 0; i < s->n; i++)
        for (uint64_t j = i + 1; j < s->n; j++)
            host_attract(s, i, j, force);
    for (uint64_t i = 0; i < 3 * s->n; i++) {
        force[i] = impulse(force[i]);
        speed[i] += force[i];
        squares += speed[i] * speed[i];
    }
    for (uint64_t i = 0; rescale && i < 3 * s->n; i++)
        speed[i] *= cooling(squares, s->n);
}

/* Rounding differs with the order of sums, and grows from step to step. */
static void verify(struct vm_thread *t, struct moldyn *s)
{
    for (uint64_t step = 1; step <= s->p->steps; step++)
        host_step(s, step % SCALE_EVERY == 0);
    for (uint64_t i = 0; i < 3 * s->n; i++) {
        const double is = vm_load_f64(t, s->array[PLACE], i, AT_VERIFY), want = s->host[PLACE][i];
        vm_check(t, fabs(nearest(is - want, s->side)) < 1e-6,
                 "moldyn: particle %u is at %.17g, not %.17g", (unsigned)(i % s->n), is, want);
    }
}

static void moldyn_main(struct vm_thread *t, const void *p)
{
    struct moldyn s = {.p = p};

    s.n = 4 * s.p->cells * s.p->cells * s.p->cells;
    s.side = cbrt((double)s.n / density);
    s.cutoff = s.side < 4 ? s.side * s.side / 4 : 4;
    vm_phase(t, "init");
    init(t, &s);
    team_measure_grande(t, "move", work, &s, AT_FORK);
    verify(t, &s);
}

static const struct param moldyn_rows[] = {
    ROW_U64(moldyn, cells, "3", 1, 40, "", "Side of the box in cells of four particles."),
    ROW_U64(moldyn, steps, "4", 0, 100, "", "Steps in time."),
    PARAM_END,
};

const struct workload workload_moldyn = {
    WORKLOAD_CALLED(moldyn),
    .summary = "particles that attract each other, with forces by thread and barriers",
    .source = "grande",
    .length = "steps",
    .sizes = {"cells=3,steps=4", "cells=5,steps=6", "cells=8,steps=10"},
    .took = {216, 1352},
};
