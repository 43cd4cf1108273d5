/* ray_plain.c - ray tracing on the host, sequential. */
#include "workloads/kernels/ray_plain.h"

/* The nearest sphere that a ray meets, and where; 0: none. */
static double nearest(unsigned side, struct vec from, struct vec to, struct ball *ball)
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

struct vec ray_plain(unsigned side, struct vec from, struct vec to, unsigned depth)
{
    struct ball ball, other;
    struct vec color = {0};
    const double t = nearest(side, from, to, &ball);

    if (t <= 0)
        return color;
    const struct vec at = ray_plus(from, t, to);
    const struct vec normal = ray_unit(ray_plus(at, -1, ball.centre));
    for (unsigned i = 0; i < RAY_LIGHTS; i++) {
        const struct vec light = ray_unit(ray_plus(ray_light(i), -1, at));
        if (nearest(side, at, light, &other) <= 0)
            color = ray_plus(color, 1, ray_lit(ball.color, normal, light, to));
    }
    if (depth == 0)
        return color;
    return ray_plus(color, ray_mirror, ray_plain(side, at, ray_mirrored(to, normal), depth - 1));
}
