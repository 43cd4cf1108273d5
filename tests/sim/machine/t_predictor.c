/* t_predictor.c - what does a branch predictor guess? A counter for each branch, by hand; and what
 * histories are for: outcomes that come again, or go by others, and on which way a branch is met.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"
#include "sim/machine/predictor.h"
#include "tests/frame/mutant_arg.h"

enum { BRANCH = 17, OTHER = 99, BETWEEN = 55 };

static bool coin(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 63;
}

/* From 0, not taken at the least: -2 to 1, and a guess is "taken" from 0 on. */
static void a_counter_changes_its_mind_after_two(void **state)
{
    static const struct {
        bool taken, right;
    } way[] = {{true, true},  {true, true},  {false, false}, {false, false},
               {false, true}, {true, false}, {false, true},  {true, false},
               {true, false}, {true, true},  {false, false}, {true, true}};
    struct predictor *p = predictor_new(PREDICTOR_TWO_BIT);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(way); i++) {
        if (predictor_guesses(p, BRANCH, way[i].taken) != way[i].right)
            fail_msg("branch %u is guessed %s", (unsigned)i, way[i].right ? "wrongly" : "rightly");
        predictor_guesses(p, OTHER, !way[i].taken); /* another one has its own */
    }
    free(p);
}

/* What happens before, and the outcome of the n-th time. */
typedef bool outcome_fn(struct predictor *p, unsigned n, uint64_t *seed);

static bool by_turns(struct predictor *p, unsigned n, uint64_t *seed)
{
    (void)p;
    (void)seed;
    return n % 2;
}

static bool every_seventh(struct predictor *p, unsigned n, uint64_t *seed)
{
    (void)p;
    (void)seed;
    return n % 7 == 0;
}

static bool as_another(struct predictor *p, unsigned n, uint64_t *seed)
{
    const bool taken = coin(seed);

    (void)n;
    predictor_guesses(p, OTHER, taken);
    return taken;
}

/* The longest history is of 130 branches: with 129 in between, the other one is the last of it. */
static bool as_another_before(struct predictor *p, uint64_t *seed, unsigned in_between)
{
    const bool taken = coin(seed);

    predictor_guesses(p, OTHER, taken);
    for (unsigned i = 0; i < in_between; i++)
        predictor_guesses(p, BETWEEN, true);
    return taken;
}

/* Coins, by their low bits where BRANCH is, ask for entries all the time. Those that are of use
 * keep their places. */
static bool as_another_amid_coins(struct predictor *p, unsigned n, uint64_t *seed)
{
    (void)n;
    for (uint64_t i = 1; i <= 20; i++)
        predictor_guesses(p, i << 10, coin(seed));
    return as_another_before(p, seed, 0);
}

static bool as_another_130_before(struct predictor *p, unsigned n, uint64_t *seed)
{
    (void)n;
    return as_another_before(p, seed, 129);
}

static bool as_another_131_before(struct predictor *p, unsigned n, uint64_t *seed)
{
    (void)n;
    return as_another_before(p, seed, 130);
}

static bool by_who_calls(struct predictor *p, unsigned n, uint64_t *seed)
{
    const bool one = coin(seed);

    (void)n;
    predictor_passes(p, one ? 0x4010 : 0x4029);
    return one;
}

static bool by_a_coin(struct predictor *p, unsigned n, uint64_t *seed)
{
    (void)p;
    (void)n;
    return coin(seed);
}

/* Wrong guesses of the last thousand of ten. */
static unsigned wrong(enum predictor_type type, outcome_fn *outcome)
{
    struct predictor *p = predictor_new(type);
    uint64_t seed = 1;
    unsigned n = 0;

    for (unsigned i = 0; i < 10000; i++) {
        const bool taken = outcome(p, i, &seed);
        n += !predictor_guesses(p, BRANCH, taken) && i >= 9000;
    }
    free(p);
    return n;
}

static void between(const char *what, unsigned n, unsigned least, unsigned most)
{
    if (n < least || n > most)
        fail_msg("%s: %u of 1000 are guessed wrongly, not %u to %u", what, n, least, most);
}

static void histories_find_what_comes_again(void **state)
{
    (void)state;
    between("by turns", wrong(PREDICTOR_TAGE, by_turns), 0, 0);
    between("every seventh", wrong(PREDICTOR_TAGE, every_seventh), 0, 0);
    between("every seventh, by a counter", wrong(PREDICTOR_TWO_BIT, every_seventh), 142, 143);
    between("as another branch before", wrong(PREDICTOR_TAGE, as_another), 0, 30);
    between("the same, by a counter", wrong(PREDICTOR_TWO_BIT, as_another), 400, 600);
    between("as another amid coins", wrong(PREDICTOR_TAGE, as_another_amid_coins), 0, 200);
    between("as another 130 before", wrong(PREDICTOR_TAGE, as_another_130_before), 0, 30);
    between("as another 131 before", wrong(PREDICTOR_TAGE, as_another_131_before), 400, 600);
    between("by who calls", wrong(PREDICTOR_TAGE, by_who_calls), 0, 30);
}

static void nobody_guesses_a_coin(void **state)
{
    (void)state;
    between("a coin", wrong(PREDICTOR_TAGE, by_a_coin), 400, 600);
    between("a coin, by a counter", wrong(PREDICTOR_TWO_BIT, by_a_coin), 400, 600);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_changes_its_mind_after_two),
        cmocka_unit_test(histories_find_what_comes_again),
        cmocka_unit_test(nobody_guesses_a_coin),
    };

    return mutant_arg(&argc, &argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
