/* chance.h - java.util.Random, on the host and as an object of the modelled heap: the same numbers
 * from the same seed. Only normally distributed ones, which is what kernels ask it for. */
#ifndef LARDSIM_CHANCE_H
#define LARDSIM_CHANCE_H

#include <math.h>

#include "workloads/vm/vm.h"

enum { CHANCE_SEED, CHANCE_SPARE, CHANCE_HAS_SPARE };
#define CHANCE_TYPE(name)                                                                          \
    VM_TYPE(name, {"seed", VM_I64, 0}, {"nextNextGaussian", VM_F64, 0}, {"haveNext", VM_I8, 0})

struct chance { /* on the host */
    uint64_t seed;
    double spare;
    bool has_spare;
};

/* ---- the arithmetic of both ----------------------------------------------------------------- */

static inline uint64_t chance_scrambled(uint64_t seed)
{
    return (seed ^ 0x5deece66d) & ((UINT64_C(1) << 48) - 1);
}
static inline uint64_t chance_stepped(uint64_t seed)
{
    return (seed * 0x5deece66d + 11) & ((UINT64_C(1) << 48) - 1);
}
/* Returns a number from -1 to 1, out of two seeds that follow each other. */
static inline double chance_double(uint64_t first, uint64_t second)
{
    return 2 * ((double)((first >> 22 << 27) + (second >> 21)) * 0x1p-53) - 1;
}
static inline bool chance_fits(double a, double b)
{
    return a * a + b * b < 1 && a * a + b * b > 0;
}
static inline double chance_polar(double a, double b)
{
    const double square = a * a + b * b;

    return sqrt(-2 * log(square) / square);
}

/* ---- on the host ---------------------------------------------------------------------------- */

static inline struct chance chance_of(uint64_t seed)
{
    return (struct chance){chance_scrambled(seed), 0, false};
}
static inline double chance_next(struct chance *c)
{
    const uint64_t first = chance_stepped(c->seed);

    c->seed = chance_stepped(first);
    return chance_double(first, c->seed);
}
static inline double chance_gaussian(struct chance *c)
{
    double a, b;

    c->has_spare = !c->has_spare;
    if (!c->has_spare)
        return c->spare;
    do {
        a = chance_next(c);
        b = chance_next(c);
    } while (!chance_fits(a, b));
    c->spare = b * chance_polar(a, b);
    return a * chance_polar(a, b);
}

/* Instructions: a step multiplies 48 bits, adds and masks; a polar pair is tried with two of them,
 * added up from four halves. */
enum { CHANCE_STEP = 4, CHANCE_TRY = 10, CHANCE_POLAR = 2 * VM_MATH };

/* ---- on the heap: o is an object of a CHANCE_TYPE ------------------------------ */

static inline void chance_seed(struct vm_thread *t, struct vm_ref *o, uint64_t seed, uint64_t site)
{
    vm_put_i64(t, o, CHANCE_SEED, (int64_t)chance_scrambled(seed), site);
}
static inline uint64_t chance_step(struct vm_thread *t, struct vm_ref *o, uint64_t site)
{
    const uint64_t seed = chance_stepped((uint64_t)vm_get_i64(t, o, CHANCE_SEED, site));

    vm_compute(t, CHANCE_STEP);
    vm_put_i64(t, o, CHANCE_SEED, (int64_t)seed, site);
    return seed;
}
static inline double chance_draw_next(struct vm_thread *t, struct vm_ref *o, uint64_t site)
{
    const uint64_t first = chance_step(t, o, site);

    return chance_double(first, chance_step(t, o, site));
}
static inline double chance_draw(struct vm_thread *t, struct vm_ref *o, uint64_t site)
{
    double a, b;

    if (vm_get_i8(t, o, CHANCE_HAS_SPARE, site)) {
        vm_put_i8(t, o, CHANCE_HAS_SPARE, 0, site);
        return vm_get_f64(t, o, CHANCE_SPARE, site);
    }
    do {
        a = chance_draw_next(t, o, site);
        b = chance_draw_next(t, o, site);
        vm_compute(t, CHANCE_TRY);
    } while (!chance_fits(a, b));
    vm_compute(t, CHANCE_POLAR);
    vm_put_f64(t, o, CHANCE_SPARE, b * chance_polar(a, b), site);
    vm_put_i8(t, o, CHANCE_HAS_SPARE, 1, site);
    return a * chance_polar(a, b);
}

#endif
