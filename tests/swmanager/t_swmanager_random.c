/* t_swmanager_random.c - what the software manager holds against the plainest model of it: an array
 * of granules, each with its last write and a list of reads. Random operations of every kind, every
 * granule and several lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tests/swmanager/rig.h"

enum { BYTES = 1 << 10, GRANULES = BYTES, READS = 64, CORES = 3 };
#define REGION UINT64_C(0x7e00) /* the end of a page and the beginning of the next */

struct naive {
    bool written, raced;
    struct swm_access write, read[READS];
    size_t n;
};

struct pair { /* the manager, and what it ought to hold */
    struct rig *r;
    struct rng rng;
    uint64_t clock;
    unsigned granule, line, actors;
    struct naive at[GRANULES];
    uint64_t cached[BYTES / 16][2];
};

static size_t pick(struct pair *p)
{
    return (size_t)rng_below(&p->rng, BYTES / p->granule);
}

/* A region: its first granule and how many; often short, sometimes all. */
static size_t pick_region(struct pair *p, size_t *n)
{
    const size_t first = pick(p), room = BYTES / p->granule - first;

    *n = rng_chance(&p->rng, 1, 4) ? room : 1 + (size_t)rng_below(&p->rng, room < 40 ? room : 40);
    return first;
}

static sim_addr address(const struct pair *p, size_t granule)
{
    return REGION + granule * p->granule;
}

/* ---- operations, on both sides -------------------------------------------------------------- */

static void naive_store(struct naive *g, const struct swm_access *a, bool write)
{
    size_t i = 0;

    if (write) {
        g->written = true;
        g->write = *a;
        g->n = 0;
        return;
    }
    while (i < g->n && !(g->read[i].actor == a->actor && g->read[i].op / 64 == a->op / 64))
        i++;
    assert_true(i < READS);
    g->read[i] = *a;
    g->n += i == g->n;
}

static sim_cycle store(struct pair *p, unsigned core, sim_cycle now)
{
    const size_t g = pick(p);
    const bool write = rng_chance(&p->rng, 1, 5);
    const uint8_t op =
        (uint8_t)((unsigned)write << 6 | rng_below(&p->rng, 2) << 7 | rng_below(&p->rng, 3));
    struct swm_access a = rig_access((uint32_t)rng_below(&p->rng, p->actors), ++p->clock, op);

    naive_store(&p->at[g], &a, write);
    return swm_store(p->r->s, core, paddr_of(address(p, g) + rng_below(&p->rng, p->granule)), &a,
                     write, now);
}

static sim_cycle store_under(struct pair *p, unsigned core, sim_cycle now)
{
    const size_t g = pick(p);
    const struct swm_access a =
        rig_access((uint32_t)rng_below(&p->rng, p->actors), ++p->clock, 1 << 6);

    p->at[g].written = true;
    p->at[g].write = a;
    return swm_store_under(p->r->s, core, paddr_of(address(p, g)), &a, now);
}

static sim_cycle clear(struct pair *p, unsigned core, sim_cycle now)
{
    size_t n;
    const size_t first = pick_region(p, &n);

    memset(p->at + first, 0, n * sizeof *p->at);
    return swm_clear(p->r->s, core, paddr_of(address(p, first)), n * p->granule, now);
}

static sim_cycle copy(struct pair *p, unsigned core, sim_cycle now)
{
    size_t n;
    const size_t from = pick_region(p, &n);
    const size_t to = (size_t)rng_below(&p->rng, BYTES / p->granule - n + 1);

    memmove(p->at + to, p->at + from, n * sizeof *p->at);
    return swm_copy(p->r->s, core, paddr_of(address(p, to)), paddr_of(address(p, from)),
                    n * p->granule, now);
}

/* What the source has outside the destination goes. Of whole lines now and then. */
static sim_cycle move(struct pair *p, unsigned core, sim_cycle now)
{
    const size_t whole = p->line / p->granule, all = BYTES / p->granule;
    size_t n, from = pick_region(p, &n);
    size_t to = (size_t)rng_below(&p->rng, all - n + 1);

    if (rng_chance(&p->rng, 1, 2) && all >= 4 * whole) {
        n = whole + rng_below(&p->rng, whole);
        from = from % (all / whole - 2) * whole;
        to = to % (all / whole - 2) * whole;
    }
    struct naive *was = malloc(n * sizeof *was);
    assert_non_null(was);
    memcpy(was, p->at + from, n * sizeof *was);
    if (to != from)
        memset(p->at + from, 0, n * sizeof *was);
    memcpy(p->at + to, was, n * sizeof *was);
    free(was);
    return swm_move(p->r->s, core, paddr_of(address(p, to)), paddr_of(address(p, from)),
                    n * p->granule, now);
}

static sim_cycle cached(struct pair *p, unsigned core, sim_cycle now)
{
    const size_t g = pick(p);
    const unsigned of = (unsigned)rng_below(&p->rng, MAX_CORES);
    const bool may = rng_chance(&p->rng, 1, 2);
    uint64_t *mask = &p->cached[(address(p, g) / p->line) - REGION / p->line][of / 64];

    *mask = may ? *mask | UINT64_C(1) << of % 64 : *mask & ~(UINT64_C(1) << of % 64);
    return swm_cached(p->r->s, core, paddr_of(address(p, g)), of, may, now);
}

static void free_of_cost(struct pair *p)
{
    const size_t g = pick(p);
    const uint64_t before = p->r->accesses, instructions = p->r->instructions;

    if (rng_chance(&p->rng, 1, 2)) {
        p->at[g].written = false;
        p->at[g].n = 0;
        swm_void(p->r->s, paddr_of(address(p, g)));
    } else {
        p->at[g].raced = true;
        swm_mark_raced(p->r->s, paddr_of(address(p, g)));
    }
    assert_int_equal(p->r->accesses, before);
    assert_int_equal(p->r->instructions, instructions);
}

static sim_cycle operate(struct pair *p, unsigned core, sim_cycle now)
{
    switch (rng_below(&p->rng, 20)) {
    case 0:
        return clear(p, core, now);
    case 1:
    case 2:
        return copy(p, core, now);
    case 3:
        return cached(p, core, now);
    case 4:
    case 5:
        free_of_cost(p);
        return now;
    case 6:
        return swm_look(p->r->s, core, paddr_of(address(p, pick(p))),
                        (enum swm_depth)rng_below(&p->rng, 3), now);
    case 7:
        return store_under(p, core, now);
    case 8:
        return move(p, core, now);
    default:
        return store(p, core, now);
    }
}

/* ---- the comparison ------------------------------------------------------------------------- */

static bool same(const struct swm_access *a, const struct swm_access *b)
{
    return a->clock == b->clock && a->actor == b->actor && a->op == b->op && a->tid == b->tid &&
           a->event == b->event && a->site == b->site;
}

static size_t compare_granule(const struct pair *p, size_t i)
{
    const struct naive *g = &p->at[i];
    const struct swm_held h = swm_held(p->r->s, paddr_of(address(p, i)));

    assert_int_equal(h.write != NULL, g->written);
    assert_true(!g->written || same(h.write, &g->write));
    assert_int_equal(h.n, g->n);
    for (size_t k = 0; k < h.n; k++)
        assert_true(same(&h.read[k], &g->read[k]));
    assert_int_equal(swm_raced(p->r->s, paddr_of(address(p, i))), g->raced);
    assert_true((!h.write && !h.n) || swm_may_hold(p->r->s, paddr_of(address(p, i)), 1));
    return g->written || g->n;
}

/* Of many granules at once what is said of each. */
static void compare_marks(const struct pair *p, sim_addr line)
{
    const unsigned n = p->line / p->granule < 64 ? p->line / p->granule : 64;

    for (sim_addr from = line; from < line + p->line; from += (sim_addr)n * p->granule) {
        const uint64_t all = swm_may_hold(p->r->s, paddr_of(from), n);
        assert_true(n == 64 || all >> n == 0);
        for (unsigned k = 0; k < n; k++)
            assert_int_equal(all >> k & 1,
                             swm_may_hold(p->r->s, paddr_of(from + k * p->granule), 1));
    }
}

static void compare(const struct pair *p)
{
    size_t held = 0;

    for (size_t i = 0; i < BYTES / p->granule; i++)
        held += compare_granule(p, i);
    assert_int_equal(swm_granules(p->r->s), held);
    for (sim_addr a = REGION / p->line * p->line; a < REGION + BYTES; a += p->line) {
        const uint64_t *mask = p->cached[a / p->line - REGION / p->line];
        uint64_t is[2];
        compare_marks(p, a);
        swm_may_be_cached(p->r->s, paddr_of(a), is);
        assert_true(is[0] == mask[0] && is[1] == mask[1]);
    }
    rig_check(p->r);
}

static void run(unsigned granule, unsigned line, unsigned actors, unsigned handlers, uint64_t seed)
{
    struct pair *p = calloc(1, sizeof *p);

    assert_non_null(p);
    p->r = rig_new(granule, line);
    p->r->quiet = true;
    p->granule = granule;
    p->line = line;
    p->actors = actors;
    rng_seed(&p->rng, seed);
    sim_cycle now = 0;
    for (unsigned i = 0; i < handlers; i++) {
        const unsigned core = (unsigned)rng_below(&p->rng, CORES);
        now = swm_enter(p->r->s, core, (enum swm_reason)rng_below(&p->rng, SWM_REASONS), now);
        for (uint64_t k = rng_below(&p->rng, 5); k > 0; k--) {
            now = operate(p, core, now);
            compare(p);
        }
        now = swm_leave(p->r->s, core, now);
    }
    now = swm_enter(p->r->s, 0, SWM_CLEAR, now);
    now = swm_clear(p->r->s, 0, paddr_of(REGION), BYTES, now);
    swm_leave(p->r->s, 0, now);
    assert_int_equal(swm_granules(p->r->s), 0);
    assert_int_equal(p->r->s->st.blocks, 0);
    assert_int_equal(p->r->s->st.records, 0);
    assert_int_equal(p->r->s->st.bytes, p->r->s->st.tables * p->r->s->table_bytes);
    rig_free(p->r);
    free(p);
}

static void it_holds_what_the_plain_model_holds(void **state)
{
    static const unsigned lines[] = {16, 64, 128, 1024};

    (void)state;
    for (unsigned granule = 1; granule <= 8; granule *= 2)
        for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
            run(granule, lines[i], 3, 250, granule * 100 + i);
            run(granule, lines[i], 30, 250, granule * 200 + i);
        }
}

static void it_does_so_for_long_on_few_granules(void **state)
{
    (void)state;
    run(8, 64, 20, 2500, 1);
    run(8, 16, 2, 2500, 2);
}

/* The same calls, the same accesses and cycles. */
static void costs_depend_on_nothing_else(void **state)
{
    uint64_t total[2] = {0};

    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        struct pair *p = calloc(1, sizeof *p);
        assert_non_null(p);
        p->r = rig_new(4, 64);
        p->r->quiet = true;
        p->granule = 4;
        p->line = 64;
        p->actors = 9;
        rng_seed(&p->rng, 5);
        sim_cycle now = swm_enter(p->r->s, 2, SWM_FLUSH, 0);
        for (unsigned i = 0; i < 3000; i++)
            now = operate(p, 2, now);
        total[k] = swm_leave(p->r->s, 2, now);
        assert_int_equal(total[k], 100 + p->r->instructions + p->r->accesses * RIG_LATENCY);
        rig_free(p->r);
        free(p);
    }
    assert_int_equal(total[0], total[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_holds_what_the_plain_model_holds),
        cmocka_unit_test(it_does_so_for_long_on_few_granules),
        cmocka_unit_test(costs_depend_on_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
