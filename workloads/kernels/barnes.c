/* barnes.c - SPLASH-2's Barnes: bodies that attract each other, forces from a tree of cells. In
 * each step the threads build the tree together, with a lock on each cell, sum up its masses,
 * compute forces and move the bodies, with barriers between. Every tree is garbage one step later.
 * In two dimensions, where the force is as 1/r: no roots. The published program descends without
 * locks and locks only where it inserts, which is a race; here each cell is locked as it is passed.
 * With version=dsm it is the program of distributed shared memories, which has barriers alone: "the
 * array of bodies is shared, and the cells are private", each thread reads all bodies and builds a
 * tree of its own, and "there are barriers after the MakeTree, force computation, and update
 * phases" (Rice's comparison of TreadMarks with PVM, on Barnes-Hut). CVM's Table 1 has its
 * synchronisation: barriers, an interval each. */
#include "workloads/kernels/barnes_plain.h"
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(INIT, "Barnes.init:21")                                                                      \
    X(FORK, "Barnes.run:30")                                                                       \
    X(STEP, "Barnes.run:36")                                                                       \
    X(BODY, "Barnes.run:41")                                                                       \
    X(BOX, "Barnes.setBound:52")                                                                   \
    X(CELL, "Barnes.newCell:60")                                                                   \
    X(LOCK, "Barnes.insert:70")                                                                    \
    X(CHILD, "Barnes.insert:72")                                                                   \
    X(PLACE, "Barnes.insert:75")                                                                   \
    X(LINK, "Barnes.insert:81")                                                                    \
    X(SUM_CHILD, "Barnes.sum:95")                                                                  \
    X(SUM_READ, "Barnes.sum:99")                                                                   \
    X(SUM_WRITE, "Barnes.sum:105")                                                                 \
    X(WALK_CHILD, "Barnes.force:118")                                                              \
    X(WALK_READ, "Barnes.force:121")                                                               \
    X(FORCE, "Barnes.force:133")                                                                   \
    X(MOVE, "Barnes.advance:142")                                                                  \
    X(VERIFY, "Barnes.verify:160")
VM_SITES(SITES)

enum { MASS, X, Y, VX, VY, AX, AY }; /* fields of a body; the first three of a cell, too */
enum { CHILD = 3 };                  /* the first of a cell's four */
enum { SIZE, ROOT };                 /* fields of the space */
enum { DEEPEST = 200 };
enum {                                 /* instructions, beside those of accesses */
       LOOK = 4 + VM_LOOP,             /* at a child: is there one, and is it the body */
       VISIT = 2 + 2 + 1 + 4 + 2,      /* how far; is it a cell; is it near */
       ATTRACT = 2 + 4,                /* sum and division; by axis product and sum */
       DESCEND = 10 + 1,               /* a call, and what it saves; half the side */
       QUARTER = 4 + 2 + 1 + 2,        /* two comparisons; half the side; two sums */
       INSERT = QUARTER + 4 + VM_LOOP, /* is there a child, is it a cell */
       SUM = 2 + 1 + 4 + VM_LOOP,      /* is there one; the mass; by axis product and sum */
       CENTRE = 2,                     /* two divisions */
       CELL = 3,                       /* a cell of a tree in private memory: a link, a place */
       MOVE = 4                        /* by axis two products and sums */
};
static const struct vm_type_of body_type =
    VM_TYPE("Body", {"mass", VM_F64, EVF_FINAL}, {"x", VM_F64, 0}, {"y", VM_F64, 0},
            {"vx", VM_F64, 0}, {"vy", VM_F64, 0}, {"ax", VM_F64, 0}, {"ay", VM_F64, 0});
static const struct vm_type_of cell_type =
    VM_TYPE("Cell", {"mass", VM_F64, 0}, {"x", VM_F64, 0}, {"y", VM_F64, 0}, {"child0", VM_REF, 0},
            {"child1", VM_REF, 0}, {"child2", VM_REF, 0}, {"child3", VM_REF, 0});
static const struct vm_type_of space_type =
    VM_TYPE("Space", {"size", VM_F64, 0}, {"root", VM_REF, 0});

struct barnes_params {
    uint64_t bodies, steps;
    uint32_t racy;    /* 1: as the paper found it */
    uint32_t version; /* enum team_version */
};
struct barnes {
    const struct barnes_params *p;
    const struct vm_class *body, *cell;
    struct vm_ref *bodies, *space, *root; /* root: each thread has its own */
    struct barnes_body *plain;            /* the same bodies on the host */
    struct vm_ref **at; /* by number, in private memory: a thread needs no access to find one */
};
/* ---- the tree ------------------------------------------------------------------------------- */

static bool is_cell(struct vm_thread *t, const struct barnes *s, struct vm_ref *o)
{
    return vm_class_of(t, o) == s->cell;
}

/* Puts a cell in the place of the body r[1], with that body in it; from now on it is child q of the
 * cell r[0], and r[1] refers to it. The caller has the lock of r[0]. */
static void split(struct vm_thread *t, const struct barnes *s, struct vm_ref *r, unsigned q,
                  const struct barnes_box *in)
{
    struct vm_ref *new = vm_enter(t, 1);

    vm_new(t, new, s->cell, AT_CELL);
    const double x = vm_get_f64(t, &r[1], X, AT_PLACE), y = vm_get_f64(t, &r[1], Y, AT_PLACE);
    vm_put_ref(t, new, CHILD + barnes_quadrant(in, x, y), &r[1], AT_LINK);
    vm_put_ref(t, &r[0], CHILD + q, new, AT_LINK);
    vm_assign(t, &r[1], new);
    vm_leave(t, new);
}

static void insert(struct vm_thread *t, const struct barnes *s, struct vm_ref *body, double *size)
{
    struct vm_ref *r = vm_enter(t, 2); /* a cell, its child */
    struct barnes_box in = {0, 0, *size};
    const double x = vm_get_f64(t, body, X, AT_PLACE), y = vm_get_f64(t, body, Y, AT_PLACE);

    vm_assign(t, &r[0], s->root);
    for (unsigned depth = 0;; depth++) {
        const unsigned q = barnes_quadrant(&in, x, y);
        in = barnes_quarter(&in, q);
        vm_compute(t, INSERT);
        vm_check(t, depth < DEEPEST, "barnes: two bodies have met");
        /* Each cell is locked as it is passed: another thread may be adding a child to it. */
        vm_lock(t, &r[0], AT_LOCK);
        vm_get_ref(t, &r[1], &r[0], CHILD + q, AT_CHILD);
        if (vm_is_null(&r[1])) {
            vm_put_ref(t, &r[0], CHILD + q, body, AT_LINK);
            break;
        }
        if (!is_cell(t, s, &r[1]))
            split(t, s, r, q, &in);
        vm_unlock(t, &r[0], AT_LOCK);
        vm_assign(t, &r[0], &r[1]);
    }
    vm_unlock(t, &r[0], AT_LOCK);
    vm_leave(t, r);
}

/* Mass and centre of mass of the cell; of those inside only if deep. */
static void sum(struct vm_thread *t, const struct barnes *s, struct vm_ref *cell, bool deep)
{
    struct vm_ref *child = vm_enter(t, 1);
    double mass = 0, x = 0, y = 0;

    for (unsigned q = 0; q < 4; q++) {
        vm_get_ref(t, child, cell, CHILD + q, AT_SUM_CHILD);
        if (vm_is_null(child))
            continue;
        if (deep && is_cell(t, s, child))
            sum(t, s, child, true);
        const double m = vm_get_f64(t, child, MASS, AT_SUM_READ);
        vm_compute(t, SUM);
        mass += m;
        x += m * vm_get_f64(t, child, X, AT_SUM_READ);
        y += m * vm_get_f64(t, child, Y, AT_SUM_READ);
    }
    vm_compute(t, CENTRE);
    vm_put_f64(t, cell, MASS, mass, AT_SUM_WRITE);
    vm_put_f64(t, cell, X, x / mass, AT_SUM_WRITE);
    vm_put_f64(t, cell, Y, y / mass, AT_SUM_WRITE);
    vm_leave(t, child);
}

/* The cells of the second level, each by one thread: nothing is shared, and the barrier that
 * follows publishes the sums to sum_top. */
static void sum_share(struct vm_thread *t, const struct member *m, const struct barnes *s)
{
    struct vm_ref *r = vm_enter(t, 2);

    for (unsigned i = m->id; i < 16; i += m->of) {
        vm_get_ref(t, &r[0], s->root, CHILD + i / 4, AT_SUM_CHILD);
        if (vm_is_null(&r[0]) || !is_cell(t, s, &r[0]))
            continue;
        vm_get_ref(t, &r[1], &r[0], CHILD + i % 4, AT_SUM_CHILD);
        if (!vm_is_null(&r[1]) && is_cell(t, s, &r[1]))
            sum(t, s, &r[1], true);
    }
    vm_leave(t, r);
}

/* Sums up the cells above the second level, in one thread. */
static void sum_top(struct vm_thread *t, const struct barnes *s)
{
    struct vm_ref *child = vm_enter(t, 1);

    for (unsigned q = 0; q < 4; q++) {
        vm_get_ref(t, child, s->root, CHILD + q, AT_SUM_CHILD);
        if (!vm_is_null(child) && is_cell(t, s, child))
            sum(t, s, child, false);
    }
    sum(t, s, s->root, false);
    vm_put_f64(t, s->space, SIZE, 0, AT_BOX);
    vm_leave(t, child);
}

/* ---- forces --------------------------------------------------------------------------------- */

/* half: of the cell's side. b: what of the body is known here. */
static void walk(struct vm_thread *t, const struct barnes *s, struct vm_ref *cell, double half,
                 struct vm_ref *body, struct barnes_body *b)
{
    struct vm_ref *child = vm_enter(t, 1);

    for (unsigned q = 0; q < 4; q++) {
        vm_get_ref(t, child, cell, CHILD + q, AT_WALK_CHILD);
        vm_compute(t, LOOK);
        if (vm_is_null(child) || vm_same(t, child, body))
            continue;
        const double dx = vm_get_f64(t, child, X, AT_WALK_READ) - b->at[0];
        const double dy = vm_get_f64(t, child, Y, AT_WALK_READ) - b->at[1];
        vm_compute(t, VISIT);
        if (is_cell(t, s, child) && barnes_near(half, dx, dy)) {
            vm_compute(t, DESCEND);
            walk(t, s, child, half / 2, body, b);
        } else {
            vm_compute(t, ATTRACT);
            barnes_attract(b, vm_get_f64(t, child, MASS, AT_WALK_READ), dx, dy);
        }
    }
    vm_leave(t, child);
}

static void force(struct vm_thread *t, const struct barnes *s, struct vm_ref *body, double *size)
{
    struct barnes_body b = {.at[0] = vm_get_f64(t, body, X, AT_BODY)};

    b.at[1] = vm_get_f64(t, body, Y, AT_BODY);
    walk(t, s, s->root, *size / 2, body, &b);
    vm_put_f64(t, body, AX, b.a[0], AT_FORCE);
    vm_put_f64(t, body, AY, b.a[1], AT_FORCE);
}

static void advance(struct vm_thread *t, const struct barnes *s, struct vm_ref *body, double *size)
{
    (void)s;
    (void)size;
    for (unsigned k = 0; k < 2; k++) {
        const double v =
            vm_get_f64(t, body, VX + k, AT_MOVE) + barnes_dt * vm_get_f64(t, body, AX + k, AT_MOVE);
        vm_compute(t, MOVE);
        vm_put_f64(t, body, VX + k, v, AT_MOVE);
        vm_put_f64(t, body, X + k, vm_get_f64(t, body, X + k, AT_MOVE) + barnes_dt * v, AT_MOVE);
    }
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* The thread's bodies are every so many-th: scattered over the heap. */
static void each_body(struct vm_thread *t, const struct member *m, const struct barnes *s,
                      void (*fn)(struct vm_thread *t, const struct barnes *s, struct vm_ref *body,
                                 double *size),
                      double *size)
{
    struct vm_ref *body = vm_enter(t, 1);

    for (uint64_t i = m->id; i < s->p->bodies; i += m->of) {
        vm_load_ref(t, body, s->bodies, i, AT_BODY);
        fn(t, s, body, size);
    }
    vm_leave(t, body);
}

static void reach(struct vm_thread *t, const struct barnes *s, struct vm_ref *body, double *size)
{
    (void)s;
    for (unsigned k = 0; k < 2; k++)
        *size = fmax(*size, 2 * fabs(vm_get_f64(t, body, X + k, AT_BODY)));
}

/* Half the side of a square that holds all bodies; member 0 makes its root. */
static void bound(struct vm_thread *t, const struct member *m, const struct barnes *s)
{
    double size = 1;

    each_body(t, m, s, reach, &size);
    if (m->id == 0)
        vm_new(t, s->root, s->cell, AT_CELL);
    vm_lock(t, s->space, AT_BOX);
    vm_put_f64(t, s->space, SIZE, fmax(size, vm_get_f64(t, s->space, SIZE, AT_BOX)), AT_BOX);
    if (m->id == 0)
        vm_put_ref(t, s->space, ROOT, s->root, AT_BOX);
    vm_unlock(t, s->space, AT_BOX);
    team_wait(t, m, AT_STEP);
}

/* ---- a tree for each thread ------------------------------------------------------------------ */

/* Reads all bodies, and makes the tree of what it has read. */
static void make_tree(struct vm_thread *t, const struct barnes *s, struct barnes_tree *tree,
                      struct barnes_body *seen)
{
    for (uint64_t i = 0; i < s->p->bodies; i++) {
        seen[i].mass = vm_get_f64(t, s->at[i], MASS, AT_PLACE);
        for (unsigned k = 0; k < 2; k++)
            seen[i].at[k] = vm_get_f64(t, s->at[i], X + k, AT_PLACE);
    }
    vm_compute(t, (uint32_t)(INSERT * barnes_tree_build(tree, s->p->bodies)));
    vm_compute(t, (uint32_t)((4 * SUM + CENTRE) * (tree->cells - s->p->bodies)));
}

/* Computes the force on a body. The tree is the thread's own; bodies that are met in it are
 * shared. */
static void force_of(struct vm_thread *t, const struct barnes *s, const struct barnes_tree *tree,
                     uint64_t number)
{
    struct barnes_body b = {.at[0] = vm_get_f64(t, s->at[number], X, AT_BODY)};

    b.at[1] = vm_get_f64(t, s->at[number], Y, AT_BODY);
    for (uint64_t i = 0; i < tree->cells;) {
        const struct barnes_cell *c = &tree->cell[i];
        const uint64_t other = tree->order[c->first];
        double dx = c->x - b.at[0], dy = c->y - b.at[1], mass = c->mass;
        vm_compute(t, CELL + LOOK + VISIT);
        if (c->n > 1 && (i == 0 || barnes_near(c->in.half, dx, dy))) {
            vm_compute(t, DESCEND);
            i++;
            continue;
        }
        if (c->n == 1 && other != number) {
            dx = vm_get_f64(t, s->at[other], X, AT_WALK_READ) - b.at[0];
            dy = vm_get_f64(t, s->at[other], Y, AT_WALK_READ) - b.at[1];
            mass = vm_get_f64(t, s->at[other], MASS, AT_WALK_READ);
        }
        if (c->n > 1 || other != number) {
            vm_compute(t, ATTRACT);
            barnes_attract(&b, mass, dx, dy);
        }
        i = c->next;
    }
    vm_put_f64(t, s->at[number], AX, b.a[0], AT_FORCE);
    vm_put_f64(t, s->at[number], AY, b.a[1], AT_FORCE);
}

static void work_dsm(struct vm_thread *t, const struct member *m)
{
    const struct barnes *s = m->job;
    const uint64_t n = s->p->bodies;
    struct barnes_body *seen = vm_scratch(t, n, sizeof *seen);
    struct barnes_tree tree = {.t = t, .body = seen, .order = vm_scratch(t, n, sizeof *tree.order)};

    for (uint64_t i = 0; i < s->p->steps; i++) {
        make_tree(t, s, &tree, seen);
        team_wait(t, m, AT_STEP);
        for (uint64_t k = m->id; k < n; k += m->of)
            force_of(t, s, &tree, k);
        if (!s->p->racy)
            team_wait(t, m, AT_STEP);
        for (uint64_t k = m->id; k < n; k += m->of)
            advance(t, s, s->at[k], NULL);
        team_wait(t, m, AT_STEP);
        team_iterated(t, m, i);
    }
}

/* ---- a tree for all -------------------------------------------------------------------------- */

static void work(struct vm_thread *t, const struct member *m)
{
    struct barnes mine = *(const struct barnes *)m->job;

    mine.root = vm_enter(t, 1);
    for (uint64_t i = 0; i < mine.p->steps; i++) {
        bound(t, m, &mine);
        double size = vm_get_f64(t, mine.space, SIZE, AT_BOX);
        vm_get_ref(t, mine.root, mine.space, ROOT, AT_BOX);
        each_body(t, m, &mine, insert, &size);
        team_wait(t, m, AT_STEP);
        sum_share(t, m, &mine);
        team_wait(t, m, AT_STEP);
        if (m->id == 0)
            sum_top(t, &mine);
        team_wait(t, m, AT_STEP);
        each_body(t, m, &mine, force, &size);
        if (!mine.p->racy)
            team_wait(t, m, AT_STEP);
        each_body(t, m, &mine, advance, &size);
        team_iterated(t, m, i);
    }
    vm_leave(t, mine.root);
}

/* ---- before and after ----------------------------------------------------------------------- */

static void add_body(struct vm_thread *t, const struct barnes *s, uint64_t i, struct vm_ref *new)
{
    struct barnes_body *b = &s->plain[i];

    b->mass = 1 / (double)s->p->bodies;
    vm_new(t, new, s->body, AT_INIT);
    vm_put_f64(t, new, MASS, b->mass, AT_INIT);
    for (unsigned k = 0; k < 2; k++) {
        b->at[k] = team_uniform(vm_rng(t)) - 0.5;
        b->v[k] = team_uniform(vm_rng(t)) - 0.5;
        vm_put_f64(t, new, X + k, b->at[k], AT_INIT);
        vm_put_f64(t, new, VX + k, b->v[k], AT_INIT);
    }
    vm_store_ref(t, s->bodies, i, new, AT_INIT);
    if (s->p->version == TEAM_DSM)
        vm_assign(t, s->at[i] = vm_global(t), new);
}

static void init(struct vm_thread *t, struct barnes *s)
{
    struct vm_ref *new = vm_enter(t, 1);

    s->body = vm_class(t, &body_type, NULL);
    s->cell = vm_class(t, &cell_type, NULL);
    s->bodies = vm_global(t);
    s->plain = vm_scratch(t, s->p->bodies, sizeof *s->plain);
    s->at = vm_scratch(t, s->p->bodies, sizeof *s->at);
    s->space = team_new(t, vm_class(t, &space_type, NULL), AT_INIT);
    vm_new_array(t, s->bodies, VM_REF, s->p->bodies, AT_INIT);
    for (uint64_t i = 0; i < s->p->bodies; i++)
        add_body(t, s, i, new);
    vm_leave(t, new);
}

static void verify(struct vm_thread *t, const struct barnes *s)
{
    struct vm_ref *body = vm_enter(t, 1);

    barnes_plain(t, s->plain, s->p->bodies, s->p->steps);
    for (uint64_t i = 0; i < s->p->bodies; i++) {
        vm_load_ref(t, body, s->bodies, i, AT_VERIFY);
        for (unsigned k = 0; k < 2; k++) {
            const double is = vm_get_f64(t, body, X + k, AT_VERIFY), want = s->plain[i].at[k];
            vm_check(t, s->p->racy || fabs(is - want) < 1e-6, "barnes: body %u is at %g, not %g",
                     (unsigned)i, is, want);
        }
    }
    vm_leave(t, body);
}

static void barnes_main(struct vm_thread *t, const void *p)
{
    struct barnes s = {.p = p};

    init(t, &s);
    team_measure(t, s.p->version == TEAM_DSM ? work_dsm : work, &s, AT_FORK);
    verify(t, &s);
}

static const struct param barnes_rows[] = {
    ROW_CHOICE(barnes, racy, "off", team_racy,
               "paper: no barrier between forces and moves, as CVM's version had it (6.4); places "
               "are not verified."),
    ROW_CHOICE(barnes, version, "managed", team_versions,
               "managed: one tree, whose cells are locked; dsm: a tree for each thread in private "
               "memory, and barriers alone, as on TreadMarks."),
    ROW_U64(barnes, bodies, "128", 1, 1000000, "bodies", "How many."),
    ROW_U64(barnes, steps, "2", 0, 1000000, "", "Steps of time."),
    PARAM_END,
};

const struct workload workload_barnes = {
    WORKLOAD_CALLED(barnes),
    .with = {4358, 4150, 4343, 885, 870},
    .summary = "SPLASH-2's Barnes: a tree of locked cells, rebuilt in each step, and barriers",
    .source = "cvm",
    .length = "steps",
    .sizes = {"bodies=128,steps=2", "bodies=2048,steps=3", "bodies=16384,steps=6",
              "bodies=8192,steps=2"},
};
