/* ray_plain.h - the ray tracer's scene and arithmetic as numbers, and its pictures computed from
 * them, without a modelled heap: what workload raytracer is held to. */
#ifndef LARDSIM_RAY_PLAIN_H
#define LARDSIM_RAY_PLAIN_H

#include <math.h>
#include <stdint.h>

enum { RAY_LIGHTS = 5, RAY_DEPTH = 2 };

static const double ray_mirror = 0.3; /* how much a sphere mirrors */

struct vec {
    double x, y, z;
};
static inline struct vec ray_plus(struct vec a, double times, struct vec b)
{
    return (struct vec){a.x + times * b.x, a.y + times * b.y, a.z + times * b.z};
}
static inline double ray_dot(struct vec a, struct vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline struct vec ray_unit(struct vec a)
{
    return ray_plus((struct vec){0}, 1 / sqrt(ray_dot(a, a)), a);
}

struct ball {
    struct vec centre, color;
    double square; /* the radius, squared */
};
static inline struct ball ray_ball(unsigned i, unsigned side)
{
    const double step = 20.0 / side;
    const unsigned x = i % side, y = i / side % side, z = i / side / side;

    return (struct ball){{step * (x + 0.5) - 10, step * (y + 0.5) - 10, step * (z + 0.5) - 10},
                         {0.2, 0.5, (x + y + 1.0) / (2 * side)},
                         0.2 * step * step};
}
static inline struct vec ray_light(unsigned i)
{
    static const struct vec at[RAY_LIGHTS] = {
        {100, 100, -50}, {-100, 100, -50}, {100, -100, -50}, {-100, -100, -50}, {200, 200, 0}};

    return at[i];
}
static const struct vec ray_eye = {0, 0, -30};
static inline struct vec ray_towards(uint64_t x, uint64_t y, uint64_t n)
{
    const double scale = 24 / (double)n, half = (double)n / 2;

    return ray_unit(
        (struct vec){((double)x + 0.5 - half) * scale, ((double)y + 0.5 - half) * scale, 30});
}

/* Returns the distance from `from` at which a ray enters a sphere; 0: it does not. */
static inline double ray_meet(struct vec centre, double square, struct vec from, struct vec to)
{
    const struct vec v = ray_plus(centre, -1, from);
    const double b = ray_dot(v, to), rest = b * b - ray_dot(v, v) + square;

    if (rest < 0)
        return 0;
    const double t = b - sqrt(rest) < 1e-6 ? b + sqrt(rest) : b - sqrt(rest);
    return t < 1e-6 ? 0 : t;
}
static inline struct vec ray_mirrored(struct vec to, struct vec normal)
{
    return ray_plus(to, -2 * ray_dot(to, normal), normal);
}
/* Returns the colour with one light added; `to` is the ray's direction. */
static inline struct vec ray_lit(struct vec color, struct vec normal, struct vec light,
                                 struct vec to)
{
    const double diffuse = fmax(ray_dot(normal, light), 0) / RAY_LIGHTS;
    const double shine = fmax(ray_dot(ray_mirrored(to, normal), light), 0),
                 s4 = shine * shine * shine * shine;
    const double specular = 0.3 * s4 * s4 * s4 * s4 / RAY_LIGHTS;

    return ray_plus((struct vec){specular, specular, specular}, diffuse, color);
}
static inline int32_t ray_pixel(struct vec c)
{
    const unsigned r = (unsigned)fmin(255 * c.x, 255), g = (unsigned)fmin(255 * c.y, 255);

    return (int32_t)(r << 16 | g << 8 | (unsigned)fmin(255 * c.z, 255));
}
static inline int64_t ray_sum(int32_t pixel)
{
    return (pixel >> 16) + (pixel >> 8 & 255) + (pixel & 255);
}

/* The colour that comes back along a ray, mirrored depth times at most. */
struct vec ray_plain(unsigned side, struct vec from, struct vec to, unsigned depth);

#endif
