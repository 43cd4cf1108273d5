/* t_cache_model.c - the cache against naive models: each replacement written from its definition,
 * on random streams over many geometries, slot by slot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cache/cache.h"

/* ---- the models ----------------------------------------------------------------------------- */

enum { MOST_SETS = 96, MOST_WAYS = 128, LINE = 64 };

struct model_set {
    bool valid[MOST_WAYS];
    uint64_t line[MOST_WAYS];
    unsigned recent[MOST_WAYS]; /* lru, fifo: ways, the most recent first */
    unsigned interval[MOST_WAYS];
    /* plru: of the ways [lo, lo + n), was the upper half the last used? By lo and n. */
    bool upper_last[MOST_WAYS][MOST_WAYS + 1];
};
struct model {
    unsigned sets, ways, replacement;
    struct rng rng;
    struct model_set set[MOST_SETS];
};

static struct model *model_new(const struct cache_geometry *g)
{
    struct model *m = xcalloc(1, sizeof *m);

    m->ways = g->ways;
    m->sets = (unsigned)(g->bytes / g->line / g->ways);
    m->replacement = g->replacement;
    assert_true(m->sets <= MOST_SETS && m->ways <= MOST_WAYS);
    rng_seed(&m->rng, g->seed);
    for (unsigned s = 0; s < m->sets; s++)
        for (unsigned w = 0; w < m->ways; w++) {
            m->set[s].recent[w] = m->ways - 1 - w;
            /* Nothing was used yet: the first to go is in the lower half everywhere. */
            for (unsigned n = 0; n <= m->ways; n++)
                m->set[s].upper_last[w][n] = true;
        }
    return m;
}

static unsigned model_set_of(const struct model *m, uint64_t line)
{
    return (unsigned)(line % m->sets);
}

static int model_way(const struct model *m, uint64_t line)
{
    const struct model_set *s = &m->set[model_set_of(m, line)];

    for (unsigned w = 0; w < m->ways; w++)
        if (s->valid[w] && s->line[w] == line)
            return (int)w;
    return -1;
}

static void make_recent(struct model *m, struct model_set *s, unsigned way)
{
    unsigned at = 0;

    while (s->recent[at] != way)
        at++;
    memmove(s->recent + 1, s->recent, at * sizeof *s->recent);
    s->recent[0] = way;
    assert_true(at < m->ways);
}

static void use_halves(struct model *m, struct model_set *s, unsigned way)
{
    unsigned lo = 0, n = m->ways;

    while (n > 1) {
        const bool upper = way >= lo + n / 2;
        s->upper_last[lo][n] = upper;
        n /= 2;
        lo += upper ? n : 0;
    }
}

/* All ways of [lo, lo + n), the first to go first. */
static unsigned list_halves(const struct model_set *s, unsigned lo, unsigned n, unsigned *to)
{
    if (n == 1) {
        *to = lo;
        return 1;
    }
    const unsigned lower = lo, upper = lo + n / 2, half = n / 2;
    const bool first_lower = s->upper_last[lo][n];
    const unsigned k = list_halves(s, first_lower ? lower : upper, half, to);
    return k + list_halves(s, first_lower ? upper : lower, half, to + k);
}

static void model_use(struct model *m, unsigned set, unsigned way, bool fill)
{
    struct model_set *s = &m->set[set];

    if (m->replacement == REPLACE_LRU || (m->replacement == REPLACE_FIFO && fill))
        make_recent(m, s, way);
    if (m->replacement == REPLACE_PLRU)
        use_halves(m, s, way);
    s->interval[way] = fill ? 2 : 0;
}

static void model_put(struct model *m, unsigned set, unsigned way, uint64_t line)
{
    m->set[set].valid[way] = true;
    m->set[set].line[way] = line;
    model_use(m, set, way, true);
}

static int first_of(const unsigned *list, unsigned n, const bool *may)
{
    for (unsigned i = 0; i < n; i++)
        if (may[list[i]])
            return (int)list[i];
    return -1;
}

static int model_old(const struct model *m, const struct model_set *s, const bool *may)
{
    for (unsigned i = m->ways; i-- > 0;)
        if (may[s->recent[i]])
            return (int)s->recent[i];
    return -1;
}

static int model_srrip(struct model *m, struct model_set *s, const bool *may)
{
    for (;;) {
        for (unsigned w = 0; w < m->ways; w++)
            if (may[w] && s->interval[w] == 3)
                return (int)w;
        for (unsigned w = 0; w < m->ways; w++)
            if (s->interval[w] < 3)
                s->interval[w]++;
    }
}

static int model_victim(struct model *m, unsigned set, const bool *may)
{
    struct model_set *s = &m->set[set];
    unsigned list[MOST_WAYS], n = 0;

    for (unsigned w = 0; w < m->ways; w++)
        if (may[w] && !s->valid[w])
            return (int)w;
    for (unsigned w = 0; w < m->ways; w++)
        if (may[w])
            list[n++] = w;
    if (n == 0)
        return -1;
    switch ((enum cache_replacement)m->replacement) {
    case REPLACE_LRU:
    case REPLACE_FIFO:
        return model_old(m, s, may);
    case REPLACE_PLRU:
        return first_of(list, list_halves(s, 0, m->ways, list), may);
    case REPLACE_RANDOM:
        return (int)list[rng_below(&m->rng, n)];
    case REPLACE_SRRIP:
        return model_srrip(m, s, may);
    }
    return -1;
}

/* ---- cache and model side by side ----------------------------------------------------------- */

struct pair {
    struct cache c;
    struct model *m;
    struct rng rng; /* of the stream */
    bool may[MOST_WAYS];
};

static bool may_of(void *arg, uint32_t slot)
{
    struct pair *p = arg;

    return p->may[slot % p->c.ways];
}

static uint32_t slot_of(const struct pair *p, unsigned set, int way)
{
    return way < 0 ? CACHE_NONE : set * p->c.ways + (unsigned)way;
}

static void allow(struct pair *p, uint64_t part)
{
    for (unsigned w = 0; w < MOST_WAYS; w++)
        p->may[w] = rng_chance(&p->rng, part, 4);
}

static void fill(struct pair *p, uint64_t line, int way)
{
    const unsigned set = model_set_of(p->m, line);
    const uint8_t state = (uint8_t)(1 + line % 200);

    cache_put(&p->c, slot_of(p, set, way), line, state);
    model_put(p->m, set, (unsigned)way, line);
    const uint32_t slot = cache_find(&p->c, line);
    assert_int_equal(slot, slot_of(p, set, way));
    assert_int_equal(p->c.state[slot], state);
    assert_true(cache_valid(&p->c, slot) && cache_line(&p->c, slot) == line);
}

static void step_access(struct pair *p, uint64_t line)
{
    const unsigned set = model_set_of(p->m, line);
    int way = model_way(p->m, line);

    assert_int_equal(cache_find(&p->c, line), slot_of(p, set, way));
    if (way >= 0) {
        cache_touch(&p->c, slot_of(p, set, way));
        model_use(p->m, set, (unsigned)way, false);
        return;
    }
    allow(p, rng_chance(&p->rng, 1, 8) ? rng_below(&p->rng, 4) : 4);
    way = model_victim(p->m, set, p->may);
    bool all = true;
    for (unsigned w = 0; w < p->c.ways; w++)
        all = all && p->may[w];
    const uint32_t victim =
        all ? cache_victim(&p->c, line) : cache_victim_among(&p->c, line, may_of, p);
    assert_int_equal(victim, slot_of(p, set, way));
    if (way >= 0)
        fill(p, line, way);
}

static void step_drop(struct pair *p, uint64_t line)
{
    const unsigned set = model_set_of(p->m, line);
    const int way = model_way(p->m, line);

    if (way < 0)
        return;
    cache_drop(&p->c, slot_of(p, set, way));
    p->m->set[set].valid[way] = false;
    assert_int_equal(cache_find(&p->c, line), CACHE_NONE);
    assert_int_equal(p->c.state[slot_of(p, set, way)], 0);
    assert_false(cache_valid(&p->c, slot_of(p, set, way)));
}

static void step_last(struct pair *p, uint64_t line)
{
    const unsigned set = model_set_of(p->m, line);
    const struct model_set *s = &p->m->set[set];
    const bool ordered = p->m->replacement == REPLACE_LRU || p->m->replacement == REPLACE_FIFO;

    allow(p, 4);
    const int way = ordered ? (int)s->recent[p->m->ways - 1] : model_victim(p->m, set, p->may);
    assert_int_equal(cache_last(&p->c, line), slot_of(p, set, way));
    if (model_way(p->m, line) < 0 && rng_chance(&p->rng, 1, 2))
        fill(p, line, way);
}

static void compare_all(const struct pair *p)
{
    for (unsigned s = 0; s < p->m->sets; s++)
        for (unsigned w = 0; w < p->m->ways; w++) {
            const uint32_t slot = s * p->m->ways + w;
            const bool valid = p->m->set[s].valid[w];
            assert_int_equal(cache_valid(&p->c, slot), valid);
            if (valid)
                assert_true(cache_line(&p->c, slot) == p->m->set[s].line[w]);
            else
                assert_int_equal(p->c.state[slot], 0);
        }
}

/* It begins anew within the next few uses. */
static void step_clock(struct pair *p)
{
    const uint32_t near = CACHE_LAST_CLOCK - 1 - (uint32_t)rng_below(&p->rng, 20);

    p->c.clock = near > p->c.clock ? near : p->c.clock;
}

static void run_stream(const struct cache_geometry *g)
{
    struct pair p = {.m = model_new(g)};
    const uint64_t lines = g->bytes / g->line, far = UINT64_C(1) << 57;

    cache_init(&p.c, g);
    assert_int_equal(cache_slots(&p.c), lines);
    rng_seed(&p.rng, lines + g->replacement * 7);
    const unsigned steps = 1500 + (unsigned)lines * 2;
    for (unsigned i = 0; i < steps; i++) {
        /* Somewhat more lines than fit, some of them the neighbours of an enormous number. */
        uint64_t line = rng_below(&p.rng, lines + lines / 4 + 2);
        if (line % 3 == 0)
            line += far;
        const uint64_t what = rng_below(&p.rng, 16);
        if (rng_chance(&p.rng, 1, 300))
            step_clock(&p);
        if (what == 0)
            step_drop(&p, line);
        else if (what == 1)
            step_last(&p, line);
        else
            step_access(&p, line);
    }
    compare_all(&p);
    cache_free(&p.c);
    free(p.m);
}

static void run_geometry(uint32_t replacement, unsigned sets, unsigned ways)
{
    const struct cache_geometry g = {.bytes = (uint64_t)sets * ways * LINE,
                                     .ways = ways,
                                     .line = LINE,
                                     .replacement = replacement,
                                     .seed = sets * 100 + ways};
    struct err e = {0};

    if (replacement == REPLACE_PLRU && (ways & (ways - 1)))
        return;
    assert_int_equal(cache_check(&g, "l1", &e), 0);
    run_stream(&g);
}

static void run_geometries(uint32_t replacement)
{
    static const unsigned sets[] = {1, 3, 7, 64, 96}, ways[] = {1, 2, 3, 4, 7, 8, 12, 16, 31, 64};

    for (size_t s = 0; s < ARRAY_SIZE(sets); s++)
        for (size_t w = 0; w < ARRAY_SIZE(ways); w++)
            run_geometry(replacement, sets[s], ways[w]);
    run_geometry(replacement, 3, MOST_WAYS); /* a tree of more than a word */
}

static void lru_agrees_with_its_definition(void **state)
{
    (void)state;
    run_geometries(REPLACE_LRU);
}
static void plru_agrees_with_its_definition(void **state)
{
    (void)state;
    run_geometries(REPLACE_PLRU);
}
static void fifo_agrees_with_its_definition(void **state)
{
    (void)state;
    run_geometries(REPLACE_FIFO);
}
static void random_agrees_with_its_definition(void **state)
{
    (void)state;
    run_geometries(REPLACE_RANDOM);
}
static void srrip_agrees_with_its_definition(void **state)
{
    (void)state;
    run_geometries(REPLACE_SRRIP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru_agrees_with_its_definition),
        cmocka_unit_test(plru_agrees_with_its_definition),
        cmocka_unit_test(fifo_agrees_with_its_definition),
        cmocka_unit_test(random_agrees_with_its_definition),
        cmocka_unit_test(srrip_agrees_with_its_definition),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
