/* raytracer.c - a picture of spheres that shade and mirror each other; after Java Grande's
 * RayTracer. Threads take rows from a common counter under a lock; the scene is read by all, each
 * row written by one; every ray makes vectors and other objects that soon are garbage. The original
 * locks its checksum with an object of the thread's own, which protects nothing: that race is
 * planted with racy=on. */
#include "workloads/kernels/team.h"
#include "workloads/workloads.h"

#define SITES(X)                                                                                   \
    X(NEW, "RayTracer.createScene:17")                                                             \
    X(SCENE, "RayTracer.createScene:24")                                                           \
    X(FORK, "JGFRayTracerBench.JGFapplication:33")                                                 \
    X(TAKE, "RayTracerRunner.run:41")                                                              \
    X(ROW, "RayTracerRunner.run:42")                                                               \
    X(PIXEL, "RayTracer.render:55")                                                                \
    X(NEW_VEC, "Vec.<init>:63")                                                                    \
    X(GET_VEC, "Vec.get:68")                                                                       \
    X(SET_VEC, "Vec.set:72")                                                                       \
    X(RAY, "Ray.<init>:80")                                                                        \
    X(SPHERE, "Sphere.intersect:89")                                                               \
    X(NEAREST, "RayTracer.intersect:104")                                                          \
    X(SHADE, "RayTracer.shade:120")                                                                \
    X(LIGHT, "RayTracer.shade:131")                                                                \
    X(SUM_LOCK, "RayTracerRunner.run:148")                                                         \
    X(SUM_READ, "RayTracerRunner.run:149")                                                         \
    X(SUM_WRITE, "RayTracerRunner.run:150")                                                        \
    X(VERIFY, "JGFRayTracerBench.JGFvalidate:160")
VM_SITES(SITES)

enum { VEC_X, VEC_Y, VEC_Z };
enum { RAY_FROM, RAY_TO };
enum { BALL_CENTRE, BALL_COLOR, BALL_SQUARE };
enum { HIT_BALL, HIT_T };
enum { BENCH_NEXT, BENCH_CHECKSUM };
enum { VEC, RAY, BALL, HIT, BENCH, RUNNER, CLASSES };
static const struct vm_type_of types[CLASSES] = {
    VM_TYPE("Vec", {"x", VM_F64, 0}, {"y", VM_F64, 0}, {"z", VM_F64, 0}),
    VM_TYPE("Ray", {"P", VM_REF, 0}, {"D", VM_REF, 0}),
    VM_TYPE("Sphere", {"c", VM_REF, 0}, {"color", VM_REF, 0}, {"r2", VM_F64, 0}),
    VM_TYPE("Isect", {"prim", VM_REF, 0}, {"t", VM_F64, 0}),
    VM_TYPE("JGFRayTracerBench", {"next", VM_I32, 0}, {"checksum1", VM_I64, 0}),
    VM_TYPE_EMPTY("RayTracerRunner", NULL)};
struct raytracer_params {
    uint64_t n, side;
    bool racy;
};
struct scene {
    const struct raytracer_params *p;
    const struct vm_class *class[CLASSES];
    struct vm_ref *bench, *balls, *lights, *picture; /* picture: an array of rows */
    unsigned n;                                      /* spheres */
};

/* ---- the scene and its arithmetic as numbers, which the pictures are held to ----------------- */

enum { RAY_LIGHTS = 5, RAY_DEPTH = 2 };

static const double ray_mirror = 0.3; /* how much a sphere mirrors */

struct vec {
    double x, y, z;
};
static struct vec ray_plus(struct vec a, double times, struct vec b)
{
    return (struct vec){a.x + times * b.x, a.y + times * b.y, a.z + times * b.z};
}
static double ray_dot(struct vec a, struct vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static struct vec ray_unit(struct vec a)
{
    return ray_plus((struct vec){0}, 1 / sqrt(ray_dot(a, a)), a);
}

struct ball {
    struct vec centre, color;
    double square; /* the radius, squared */
};
static struct ball ray_ball(unsigned i, unsigned side)
{
    const double step = 20.0 / side;
    const unsigned x = i % side, y = i / side % side, z = i / side / side;

    return (struct ball){{step * (x + 0.5) - 10, step * (y + 0.5) - 10, step * (z + 0.5) - 10},
                         {0.2, 0.5, (x + y + 1.0) / (2 * side)},
                         0.2 * step * step};
}
static struct vec ray_light(unsigned i)
{
    static const struct vec at[RAY_LIGHTS] = {
        {100, 100, -50}, {-100, 100, -50}, {100, -100, -50}, {-100, -100, -50}, {200, 200, 0}};

    return at[i];
}
static const struct vec ray_eye = {0, 0, -30};
static struct vec ray_towards(uint64_t x, uint64_t y, uint64_t n)
{
    const double scale = 24 / (double)n, half = (double)n / 2;

    return ray_unit(
        (struct vec){((double)x + 0.5 - half) * scale, ((double)y + 0.5 - half) * scale, 30});
}

/* Returns the distance from `from` at which a ray enters a sphere; 0: it does not. */
static double ray_meet(struct vec centre, double square, struct vec from, struct vec to)
{
    const struct vec v = ray_plus(centre, -1, from);
    const double b = ray_dot(v, to), rest = b * b - ray_dot(v, v) + square;

    if (rest < 0)
        return 0;
    const double t = b - sqrt(rest) < 1e-6 ? b + sqrt(rest) : b - sqrt(rest);
    return t < 1e-6 ? 0 : t;
}
static struct vec ray_mirrored(struct vec to, struct vec normal)
{
    return ray_plus(to, -2 * ray_dot(to, normal), normal);
}
/* Returns the colour with one light added; `to` is the ray's direction. */
static struct vec ray_lit(struct vec color, struct vec normal, struct vec light, struct vec to)
{
    const double diffuse = fmax(ray_dot(normal, light), 0) / RAY_LIGHTS;
    const double shine = fmax(ray_dot(ray_mirrored(to, normal), light), 0),
                 s4 = shine * shine * shine * shine;
    const double specular = 0.3 * s4 * s4 * s4 * s4 / RAY_LIGHTS;

    return ray_plus((struct vec){specular, specular, specular}, diffuse, color);
}
static int32_t ray_pixel(struct vec c)
{
    const unsigned r = (unsigned)fmin(255 * c.x, 255), g = (unsigned)fmin(255 * c.y, 255);

    return (int32_t)(r << 16 | g << 8 | (unsigned)fmin(255 * c.z, 255));
}
static int64_t ray_sum(int32_t pixel)
{
    return (pixel >> 16) + (pixel >> 8 & 255) + (pixel & 255);
}

/* The nearest sphere that a ray meets, and where; 0: none. */
static double plain_nearest(unsigned side, struct vec from, struct vec to, struct ball *ball)
{
    double best = 0;

    for (unsigned i = 0; i < side * side * side; i++) {
        const struct ball b = ray_ball(i, side);
        const double t = ray_meet(b.centre, b.square, from, to);
        if (t > 0 && (best <= 0 || t < best)) {
            best = t;
            *ball = b;
        }
    }
    return best;
}

/* The colour that comes back along a ray, mirrored depth times at most. */
static struct vec ray_plain(unsigned side, struct vec from, struct vec to, unsigned depth)
{
    struct ball ball, other;
    struct vec color = {0};
    const double t = plain_nearest(side, from, to, &ball);

    if (t <= 0)
        return color;
    const struct vec at = ray_plus(from, t, to);
    const struct vec normal = ray_unit(ray_plus(at, -1, ball.centre));
    for (unsigned i = 0; i < RAY_LIGHTS; i++) {
        const struct vec light = ray_unit(ray_plus(ray_light(i), -1, at));
        if (plain_nearest(side, at, light, &other) <= 0)
            color = ray_plus(color, 1, ray_lit(ball.color, normal, light, to));
    }
    if (depth == 0)
        return color;
    return ray_plus(color, ray_mirror, ray_plain(side, at, ray_mirrored(to, normal), depth - 1));
}

/* ---- vectors, rays -------------------------------------------------------------------------- */

static struct vec vec_get(struct vm_thread *t, struct vm_ref *o)
{
    struct vec v;

    v.x = vm_get_f64(t, o, VEC_X, AT_GET_VEC);
    v.y = vm_get_f64(t, o, VEC_Y, AT_GET_VEC);
    v.z = vm_get_f64(t, o, VEC_Z, AT_GET_VEC);
    return v;
}
static void vec_set(struct vm_thread *t, struct vm_ref *o, struct vec v)
{
    vm_put_f64(t, o, VEC_X, v.x, AT_SET_VEC);
    vm_put_f64(t, o, VEC_Y, v.y, AT_SET_VEC);
    vm_put_f64(t, o, VEC_Z, v.z, AT_SET_VEC);
}
static void vec_new(struct vm_thread *t, const struct scene *s, struct vm_ref *to, struct vec v)
{
    vm_new(t, to, s->class[VEC], AT_NEW_VEC);
    vec_set(t, to, v);
}
/* The vector that a field refers to. */
static struct vec vec_of(struct vm_thread *t, struct vm_ref *o, unsigned field, uint64_t site)
{
    struct vm_ref *v = vm_enter(t, 1);

    vm_get_ref(t, v, o, field, site);
    const struct vec value = vec_get(t, v);
    vm_leave(t, v);
    return value;
}
/* from: a vector, which the ray shares. */
static void ray_new(struct vm_thread *t, const struct scene *s, struct vm_ref *to,
                    const struct vm_ref *from, struct vec direction)
{
    struct vm_ref *v = vm_enter(t, 1);

    vec_new(t, s, v, direction);
    vm_new(t, to, s->class[RAY], AT_RAY);
    vm_put_ref(t, to, RAY_FROM, from, AT_RAY);
    vm_put_ref(t, to, RAY_TO, v, AT_RAY);
    vm_leave(t, v);
}

/* ---- a pixel -------------------------------------------------------------------------------- */

enum {                           /* instructions, beside those of accesses */
       MEET = 3 + 5 + 5 + 3 + 2, /* a difference, two products, a discriminant, its sign */
       ROOT = 4,         /* the place at which it is met: a root, a difference, two comparisons */
       UNIT = 5 + 1 + 4, /* a product, a root, a division and three multiplications */
       LIT = 2 * 5 + 12, /* two products, by colour four more */
       PIXEL = 3 * 4     /* by colour scale, compare, convert, shift */
};

/* The original has it as a method of the sphere, which is given the ray. */
static double intersect(struct vm_thread *t, struct vm_ref *ball, struct vm_ref *ray)
{
    const struct vec centre = vec_of(t, ball, BALL_CENTRE, AT_SPHERE);
    const struct vec from = vec_of(t, ray, RAY_FROM, AT_SPHERE);
    const double square = vm_get_f64(t, ball, BALL_SQUARE, AT_SPHERE);

    vm_compute(t, MEET);
    return ray_meet(centre, square, from, vec_of(t, ray, RAY_TO, AT_SPHERE));
}

/* The nearest sphere that a ray meets, in a new hit, and where; 0: none. */
static double nearest(struct vm_thread *t, const struct scene *s, struct vm_ref *hit,
                      struct vm_ref *ray)
{
    struct vm_ref *ball = vm_enter(t, 1);
    double best = 0;

    vm_new(t, hit, s->class[HIT], AT_NEAREST);
    for (unsigned i = 0; i < s->n; i++) {
        vm_load_ref(t, ball, s->balls, i, AT_NEAREST);
        const double distance = intersect(t, ball, ray);
        vm_compute(t, ROOT + VM_LOOP);
        if (distance > 0 && (best <= 0 || distance < best)) {
            best = distance;
            vm_put_ref(t, hit, HIT_BALL, ball, AT_NEAREST);
            vm_put_f64(t, hit, HIT_T, distance, AT_NEAREST);
        }
    }
    vm_leave(t, ball);
    return best;
}

enum { R_HIT, R_OTHER, R_BALL, R_POINT, R_NORMAL, R_LIGHT, R_RAY, R_COLOR, ROOTS };

/* Adds the lights at r[R_POINT] to the colour; the ray came from `to`. */
static void shade(struct vm_thread *t, const struct scene *s, struct vm_ref *r, struct vec to,
                  struct vm_ref *color)
{
    for (unsigned i = 0; i < RAY_LIGHTS; i++) {
        vm_load_ref(t, &r[R_LIGHT], s->lights, i, AT_LIGHT);
        const struct vec light = vec_get(t, &r[R_LIGHT]);
        const struct vec by = ray_unit(ray_plus(light, -1, vec_get(t, &r[R_POINT])));
        vm_compute(t, 3 + UNIT + VM_LOOP);
        ray_new(t, s, &r[R_RAY], &r[R_POINT], by);
        if (nearest(t, s, &r[R_OTHER], &r[R_RAY]) > 0)
            continue;
        const struct vec own = vec_of(t, &r[R_BALL], BALL_COLOR, AT_SHADE);
        const struct vec add = ray_lit(own, vec_get(t, &r[R_NORMAL]), by, to);
        vm_compute(t, LIT);
        vec_set(t, color, ray_plus(vec_get(t, color), 1, add));
    }
}

/* The colour that comes back along a ray, as a new vector. */
static void trace(struct vm_thread *t, const struct scene *s, struct vm_ref *color,
                  struct vm_ref *ray, unsigned depth)
{
    struct vm_ref *r = vm_enter(t, ROOTS);
    const double distance = nearest(t, s, &r[R_HIT], ray);

    vec_new(t, s, color, (struct vec){0});
    if (distance > 0) {
        const struct vec from = vec_of(t, ray, RAY_FROM, AT_SHADE);
        const struct vec to = vec_of(t, ray, RAY_TO, AT_SHADE);
        vec_new(t, s, &r[R_POINT], ray_plus(from, distance, to));
        vm_get_ref(t, &r[R_BALL], &r[R_HIT], HIT_BALL, AT_SHADE);
        const struct vec centre = vec_of(t, &r[R_BALL], BALL_CENTRE, AT_SHADE);
        const struct vec out = ray_unit(ray_plus(vec_get(t, &r[R_POINT]), -1, centre));
        vm_compute(t, 6 + 3 + UNIT);
        vec_new(t, s, &r[R_NORMAL], out);
        shade(t, s, r, to, color);
        if (depth > 0) {
            ray_new(t, s, &r[R_RAY], &r[R_POINT], ray_mirrored(to, out));
            trace(t, s, &r[R_COLOR], &r[R_RAY], depth - 1);
            const struct vec mirror = vec_get(t, &r[R_COLOR]);
            vec_set(t, color, ray_plus(vec_get(t, color), ray_mirror, mirror));
        }
    }
    vm_leave(t, r);
}

static int32_t render(struct vm_thread *t, const struct scene *s, uint64_t x, uint64_t y)
{
    struct vm_ref *r = vm_enter(t, 3), *from = &r[0], *ray = &r[1], *color = &r[2];

    vm_compute(t, UNIT + PIXEL + VM_LOOP);
    vec_new(t, s, from, ray_eye);
    ray_new(t, s, ray, from, ray_towards(x, y, s->p->n));
    trace(t, s, color, ray, RAY_DEPTH);
    const int32_t pixel = ray_pixel(vec_get(t, color));
    vm_leave(t, r);
    return pixel;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static bool take_row(struct vm_thread *t, const struct scene *s, uint64_t *y)
{
    vm_lock(t, s->bench, AT_TAKE);
    *y = (uint64_t)vm_get_i32(t, s->bench, BENCH_NEXT, AT_ROW);
    if (*y < s->p->n)
        vm_put_i32(t, s->bench, BENCH_NEXT, (int32_t)*y + 1, AT_ROW);
    vm_unlock(t, s->bench, AT_TAKE);
    return *y < s->p->n;
}

static void work(struct vm_thread *t, const struct member *m)
{
    const struct scene *s = m->job;
    struct vm_ref *r = vm_enter(t, 2), *row = &r[0], *own = &r[1];
    int64_t checksum = 0;

    vm_new(t, own, s->class[RUNNER], AT_NEW);
    for (uint64_t y; take_row(t, s, &y);) {
        vm_load_ref(t, row, s->picture, y, AT_PIXEL);
        for (uint64_t x = 0; x < s->p->n; x++) {
            const int32_t pixel = render(t, s, x, y);
            vm_store_i32(t, row, x, pixel, AT_PIXEL);
            checksum += ray_sum(pixel);
        }
    }
    struct vm_ref *lock = s->p->racy ? own : s->bench;
    vm_lock(t, lock, AT_SUM_LOCK);
    checksum += vm_get_i64(t, s->bench, BENCH_CHECKSUM, AT_SUM_READ);
    vm_put_i64(t, s->bench, BENCH_CHECKSUM, checksum, AT_SUM_WRITE);
    vm_unlock(t, lock, AT_SUM_LOCK);
    vm_leave(t, r);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void add_ball(struct vm_thread *t, const struct scene *s, unsigned i)
{
    const struct ball b = ray_ball(i, (unsigned)s->p->side);
    struct vm_ref *r = vm_enter(t, 2), *ball = &r[0], *vec = &r[1];

    vm_new(t, ball, s->class[BALL], AT_NEW);
    vec_new(t, s, vec, b.centre);
    vm_put_ref(t, ball, BALL_CENTRE, vec, AT_SCENE);
    vec_new(t, s, vec, b.color);
    vm_put_ref(t, ball, BALL_COLOR, vec, AT_SCENE);
    vm_put_f64(t, ball, BALL_SQUARE, b.square, AT_SCENE);
    vm_store_ref(t, s->balls, i, ball, AT_SCENE);
    vm_leave(t, r);
}

static void init(struct vm_thread *t, struct scene *s)
{
    struct vm_ref *r = vm_enter(t, 1);

    for (unsigned i = 0; i < CLASSES; i++)
        s->class[i] = vm_class(t, &types[i], NULL);
    s->bench = team_new(t, s->class[BENCH], AT_NEW);
    s->balls = team_array(t, VM_REF, s->n, AT_NEW);
    for (unsigned i = 0; i < s->n; i++)
        add_ball(t, s, i);
    s->lights = team_array(t, VM_REF, RAY_LIGHTS, AT_NEW);
    for (unsigned i = 0; i < RAY_LIGHTS; i++) {
        vec_new(t, s, r, ray_light(i));
        vm_store_ref(t, s->lights, i, r, AT_SCENE);
    }
    s->picture = team_array(t, VM_REF, s->p->n, AT_NEW);
    for (uint64_t y = 0; y < s->p->n; y++) {
        vm_new_array(t, r, VM_I32, s->p->n, AT_NEW);
        vm_store_ref(t, s->picture, y, r, AT_SCENE);
    }
    vm_leave(t, r);
}

static void verify(struct vm_thread *t, struct scene *s)
{
    const unsigned side = (unsigned)s->p->side;
    struct vm_ref *row = vm_enter(t, 1);
    int64_t sum = 0;

    for (uint64_t y = 0; y < s->p->n; y++) {
        vm_load_ref(t, row, s->picture, y, AT_VERIFY);
        for (uint64_t x = 0; x < s->p->n; x++) {
            const struct vec to = ray_towards(x, y, s->p->n);
            const int32_t want = ray_pixel(ray_plain(side, ray_eye, to, RAY_DEPTH));
            const int32_t is = vm_load_i32(t, row, x, AT_VERIFY);
            vm_check(t, is == want, "raytracer: pixel (%u, %u) is %06x, not %06x", (unsigned)x,
                     (unsigned)y, (unsigned)is, (unsigned)want);
            sum += ray_sum(want);
        }
    }
    const int64_t is = vm_get_i64(t, s->bench, BENCH_CHECKSUM, AT_VERIFY);
    vm_check(t, s->p->racy || is == sum, "raytracer: the checksum is %lld, not %lld", (long long)is,
             (long long)sum);
    vm_leave(t, row);
}

static void raytracer_main(struct vm_thread *t, const void *p)
{
    struct scene s = {.p = p};

    s.n = (unsigned)(s.p->side * s.p->side * s.p->side);
    vm_phase(t, "init");
    init(t, &s);
    team_measure_grande(t, "render", work, &s, AT_FORK);
    verify(t, &s);
}

static const struct param raytracer_rows[] = {
    ROW_U64(raytracer, n, "14", 1, 10000, "pixels", "Side of the picture."),
    ROW_U64(raytracer, side, "2", 1, 100, "spheres", "Side of the cube that spheres stand in."),
    ROW_BOOL(
        raytracer, racy, "off",
        "Planted race: threads add to the checksum under locks of their own, as in the original."),
    PARAM_END,
};
static const struct workload_plant plants[] = {
    {"RayTracerRunner.run:149", "RayTracerRunner.run:150",
     "With racy=on, the checksum is read and written under each thread's own lock."},
    {"RayTracerRunner.run:150", "RayTracerRunner.run:150",
     "With racy=on, the checksum is written under each thread's own lock."},
    {NULL, NULL, NULL},
};

const struct workload workload_raytracer = {
    WORKLOAD_CALLED(raytracer),
    .summary = "spheres that mirror each other, rows by tasks, garbage by pixel",
    .source = "grande",
    .sizes = {"n=14,side=2", "n=20,side=4", "n=100,side=4"},
    .granularity = 4,
    .took = {4, 34},
    .plants = plants,
};
