/* t_explore_shapes.c - all that a few cores can do with a few lines where cores share L2s, where
 * there are several NUMA nodes, and where there is both. Each cache has one way, so that a state is
 * what is where. Each access is tried in each state that can be reached, and held to this:
 * - what it takes and who answers, by the state before it: docs/machine.md once more (expected);
 * - a load gets what was stored last (versions.h), one core writes or many read, all invariants;
 * - from the same state it leads to the same state, whatever came before.
 *
 * One access at a time: waiting and contention are not explored. t_explore.c has private L2s and
 * one node, order of replacement, and messages. */
#include "base/mem.h"
#include "tests/coherence/bench.h"
#include "tests/coherence/versions.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_OPS = 64, MOST_WAY = 600, MOST_MET = 4000, HOP = 45, SIBLING = 4 };
enum { L1 = 1, L2 = 10, L3 = 35, REMOTE = 15, MEMORY = 120 };

struct shape {
    const char *name;
    unsigned cores, group, nodes, lines;
    bool l2, l3, inclusive, by_node, ask_all; /* the last two: numa.lookup, numa.invalidate */
    const char *settings;
    size_t states; /* that there are at least */
};

/* What the program says of a state. */
struct view {
    char l1[8][4], l2[8][4], l3[4][4]; /* by core, by leader, by node; then by line */
};

/* ---- what an access takes, by the state before it -------------------------------------------- */

struct way {
    const struct shape *s;
    const struct view *v;
    unsigned core, lead, node, line, home;
    bool store;
};
struct result {
    sim_cycle cycles;
    enum mem_level level;
};

static unsigned lead_of(const struct shape *s, unsigned core)
{
    return core - core % s->group;
}
static unsigned node_of(const struct shape *s, unsigned core)
{
    return core / (s->cores / s->nodes);
}
static sim_cycle hop(unsigned a, unsigned b)
{
    return a == b ? 0 : HOP;
}
static sim_cycle most(sim_cycle a, sim_cycle b)
{
    return a > b ? a : b;
}

/* Of a holder, a core or a group: M if an L1 has that, else what its last private level has. */
static char held(const struct way *w, unsigned lead)
{
    char state = w->s->l2 ? w->v->l2[lead][w->line] : 'I';

    for (unsigned i = lead; i < lead + w->s->group; i++) {
        const char l1 = w->v->l1[i][w->line];
        if (l1 == 'M' || (state == 'I' && l1 != 'I'))
            state = l1;
    }
    return state;
}

/* The first holder of a node but the core's own that has it in one of these states. cores: none. */
static unsigned holder(const struct way *w, const char *states, unsigned from, unsigned to)
{
    for (unsigned lead = from; lead < to; lead += w->s->group)
        if (lead != w->lead && strchr(states, held(w, lead)))
            return lead;
    return w->s->cores;
}
static unsigned any_holder(const struct way *w, const char *states)
{
    return holder(w, states, 0, w->s->cores);
}
static unsigned own_nodes(const struct way *w, const char *states)
{
    const unsigned n = w->s->cores / w->s->nodes;

    return holder(w, states, w->node * n, (w->node + 1) * n);
}
static bool in_l3(const struct way *w, unsigned node)
{
    return w->v->l3[node][w->line] != 'I';
}
static bool l3_elsewhere(const struct way *w)
{
    for (unsigned n = 0; n < w->s->nodes; n++)
        if (n != w->node && in_l3(w, n))
            return true;
    return false;
}

/* Its own node answers without the home: with what its L3 has, or, with lookup = node, one of its
 * cores; a store only if nobody outside has the line. */
static bool stays(const struct way *w, bool upgrade)
{
    const unsigned inside = own_nodes(w, "SEM"), none = w->s->cores;
    bool outside = l3_elsewhere(w);

    for (unsigned lead = 0; lead < w->s->cores; lead += w->s->group)
        outside |= node_of(w->s, lead) != w->node && held(w, lead) != 'I';
    if (w->s->nodes == 1)
        return true;
    if (upgrade)
        return w->s->by_node && !outside;
    if (w->store && outside)
        return false;
    if (any_holder(w, "EM") != none || (w->store && inside != none))
        return w->s->by_node && inside != none;
    return in_l3(w, w->node) || (w->s->by_node && inside != none);
}

/* Whose L3 gives the line: the own, the home's, the lowest that has it. nodes: none has it. */
static unsigned giver(const struct way *w, unsigned page_home)
{
    unsigned n = 0;

    if (in_l3(w, w->node))
        return w->node;
    if (in_l3(w, page_home))
        return page_home;
    while (n < w->s->nodes && !in_l3(w, n))
        n++;
    return n;
}

/* From the home's asking until the last acknowledgement: of sharers but `but`, and of nodes. */
static sim_cycle invalidations(const struct way *w, unsigned but, unsigned gives, bool stays_here)
{
    const unsigned none = w->s->cores;
    const bool owned = any_holder(w, "EM") != none || strchr("EM", held(w, w->lead));
    const bool shared = any_holder(w, "S") != none || held(w, w->lead) == 'S' || l3_elsewhere(w);
    const bool all = w->s->ask_all && !stays_here && !owned && shared;
    sim_cycle last = 0;

    for (unsigned lead = 0; lead < none; lead += w->s->group)
        if (lead != w->lead && lead != but && held(w, lead) == 'S')
            last = most(last, REMOTE + hop(w->home, node_of(w->s, lead)) +
                                  hop(node_of(w->s, lead), w->node));
    for (unsigned n = 0; n < w->s->nodes && w->s->nodes > 1; n++)
        if (n != w->node && (all || (in_l3(w, n) && !owned && n != gives)))
            last = most(last, REMOTE + hop(w->home, n) + hop(n, w->node));
    return last;
}

/* The group has the line in S: an upgrade, from the L1 or the L2. */
static struct result upgrade(struct way *w, bool near)
{
    const bool here = stays(w, true), alone = any_holder(w, "S") == w->s->cores;
    const sim_cycle from = near && w->s->group == 1 ? L1 : L2;

    w->home = here ? w->node : w->home;
    const sim_cycle asked = invalidations(w, w->s->cores, w->node, here);
    const sim_cycle granted = hop(w->home, w->node) + (alone ? REMOTE : 0);
    return (struct result){from + hop(w->node, w->home) + most(asked, granted), LEVEL_REMOTE};
}

/* From another's caches. */
static sim_cycle forwarded(const struct way *w, unsigned from)
{
    return REMOTE + hop(w->home, node_of(w->s, from)) + hop(node_of(w->s, from), w->node);
}

static struct result missed(struct way *w)
{
    const unsigned none = w->s->cores, page_home = w->home;
    const bool here = stays(w, false);
    const unsigned gives = giver(w, page_home), owner = any_holder(w, "EM");
    const unsigned sharer = own_nodes(w, "S") != none ? own_nodes(w, "S") : any_holder(w, "S");
    const bool has = gives < w->s->nodes;

    w->home = here ? w->node : page_home;
    const sim_cycle base = L3 + hop(w->node, w->home), back = hop(w->home, w->node);
    const sim_cycle l3 =
        gives == w->home || !has ? back : REMOTE + hop(w->home, gives) + hop(gives, w->node);
    if (owner != none)
        return (struct result){base + forwarded(w, owner), LEVEL_REMOTE};
    const sim_cycle asked = w->store ? invalidations(w, has ? none : sharer, gives, here) : 0;
    if (sharer != none && (w->store || !has))
        return (struct result){base + most(asked, has ? l3 : forwarded(w, sharer)), LEVEL_REMOTE};
    if (has)
        return (struct result){base + most(asked, l3), LEVEL_L3};
    return (struct result){base + most(asked, MEMORY - L3 + back), LEVEL_MEMORY};
}

static struct result expected(const struct shape *s, const struct view *v, unsigned core,
                              unsigned line, bool store)
{
    struct way w = {.s = s,
                    .v = v,
                    .core = core,
                    .lead = lead_of(s, core),
                    .node = node_of(s, core),
                    .line = line,
                    .home = (FIRST + line) % s->nodes,
                    .store = store};
    const char own = v->l1[core][line], all = held(&w, w.lead);
    bool asked = false;

    if (own == 'E' || own == 'M' || (own == 'S' && !store))
        return (struct result){L1, LEVEL_L1};
    for (unsigned i = w.lead; i < w.lead + s->group; i++)
        asked |=
            i != core && (store ? v->l1[i][line] != 'I' : strchr("EM", v->l1[i][line]) != NULL);
    if (all == 'E' || all == 'M' || (all == 'S' && !store))
        return (struct result){L2 + (asked ? SIBLING : 0), LEVEL_L2};
    return all == 'S' ? upgrade(&w, own == 'S') : missed(&w);
}

/* ---- the program, step by step --------------------------------------------------------------- */

struct machine {
    const struct shape *s;
    struct bench b;
    struct copies copies;
    struct view v;
    char wrong[400]; /* "": nothing so far */
};

static sim_addr address(unsigned line)
{
    return (sim_addr)(FIRST + line) << 6;
}

static void look(struct machine *m)
{
    const struct shape *s = m->s;

    for (unsigned l = 0; l < s->lines; l++) {
        for (unsigned i = 0; i < s->cores; i++)
            m->v.l1[i][l] = coherence_state(m->b.c, i, LEVEL_L1, paddr_of(address(l)));
        for (unsigned i = 0; i < s->cores; i += s->group)
            m->v.l2[i][l] = coherence_state(m->b.c, i, LEVEL_L2, paddr_of(address(l)));
        for (unsigned n = 0; n < s->nodes; n++)
            m->v.l3[n][l] =
                coherence_state(m->b.c, n * (s->cores / s->nodes), LEVEL_L3, paddr_of(address(l)));
    }
}

static void begin(struct machine *m, const struct shape *s)
{
    char settings[700];

    memset(m, 0, sizeof *m);
    m->s = s;
    snprintf(settings, sizeof settings,
             "l1.size=64 l1.ways=1 l2.shared-by=%u l2.sibling=%d l2.ways=1 l3.ways=1 "
             "l3.inclusion=%s numa.nodes=%u numa.hop=%d numa.home=interleave numa.lookup=%s "
             "numa.invalidate=%s %s",
             s->group, SIBLING, s->inclusive ? "inclusive" : "non-inclusive", s->nodes, HOP,
             s->by_node ? "node" : "home", s->ask_all ? "all" : "sharers", s->settings);
    const struct bench_options o = {.cores = s->cores, .page = 64, .line_events = true};
    if (!bench_open(&m->b, o, settings))
        fail_msg("%s: %s", s->name, m->b.e.text);
    m->copies = (struct copies){.has_l2 = s->l2,
                                .inclusive = s->inclusive,
                                .l3_lines = s->l3,
                                .group = s->group,
                                .node = s->cores / s->nodes};
    look(m);
}

static void end(struct machine *m)
{
    coherence_free(m->b.c);
    stats_free(m->b.stats);
    config_free(m->b.config);
}

#define WRONG(m, ...)                                                                              \
    do {                                                                                           \
        if (!(m)->wrong[0])                                                                        \
            snprintf((m)->wrong, sizeof(m)->wrong, __VA_ARGS__);                                   \
    } while (0)

static void check_line(struct machine *m, unsigned line)
{
    unsigned writers = 0, readers = 0;

    for (unsigned i = 0; i < m->s->cores; i++) {
        writers += m->v.l1[i][line] == 'E' || m->v.l1[i][line] == 'M';
        readers += m->v.l1[i][line] == 'S';
    }
    if (writers > 1 || (writers && readers))
        WRONG(m, "%u L1s have line %u in E or M, %u in S", writers, line, readers);
}

/* An operation is a number: core, line, and whether it stores. */
static unsigned op_count(const struct shape *s)
{
    return s->cores * s->lines * 2;
}

static void step(struct machine *m, unsigned op)
{
    const unsigned core = op / 2 / m->s->lines, line = op / 2 % m->s->lines;
    const bool store = op % 2;
    const struct result want = expected(m->s, &m->v, core, line, store);
    const struct coh_result is =
        coherence_access(m->b.c, core, paddr_of(address(line)), store ? MEM_STORE : MEM_LOAD,
                         TRAFFIC_DATA, m->b.now);

    if (is.done - m->b.now != want.cycles || is.level != want.level)
        WRONG(m, "%" PRIu64 " cycles, %s; not %" PRIu64 ", %s", is.done - m->b.now,
              mem_level_text[is.level], want.cycles, mem_level_text[want.level]);
    m->b.now += 10000;
    follow_all(&m->copies, m->b.c);
    uint64_t *const version = version_of(&m->copies, core, line);
    if (!has_version(&m->copies, core, line) || *version != m->copies.latest[line])
        WRONG(m, "not what was stored last");
    if (store)
        *version = ++m->copies.latest[line];
    look(m);
    for (unsigned l = 0; l < m->s->lines; l++)
        check_line(m, l);
    coherence_check(m->b.c);
}

/* ---- all states ------------------------------------------------------------------------------ */

struct known {
    struct view v;
    uint32_t from, depth; /* a way: from this state, by op; it has so many steps at most */
    uint8_t op, tried;    /* tried: the first so many operations */
};
#define UNKNOWN UINT32_MAX
struct explore {
    const struct shape *s;
    struct known *known;        /* owns */
    uint32_t (*next)[MOST_OPS]; /* owns; UNKNOWN: not tried */
    size_t n, cap, next_cap;
    uint32_t *index; /* owns; by hash: place in known + 1 */
    size_t slots;
    uint64_t transitions;
};

static uint32_t *index_slot(const struct explore *x, const struct view *v)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < sizeof *v; i++)
        h = (h ^ ((const unsigned char *)v)[i]) * 1099511628211u;
    for (size_t i = h ^ h >> 32;; i++) {
        uint32_t *slot = &x->index[i & (x->slots - 1)];
        if (!*slot || !memcmp(&x->known[*slot - 1].v, v, sizeof *v))
            return slot;
    }
}

static void index_grow(struct explore *x)
{
    free(x->index);
    x->slots = x->slots ? 4 * x->slots : 4096;
    x->index = xcalloc(x->slots, sizeof *x->index);
    for (size_t i = 0; i < x->n; i++)
        *index_slot(x, &x->known[i].v) = (uint32_t)(i + 1);
}

/* The state, which is known from now on. */
static uint32_t learn(struct explore *x, const struct view *v, uint32_t from, unsigned op)
{
    const uint32_t depth = x->n ? x->known[from].depth + 1 : 0;
    const uint32_t found = *index_slot(x, v);

    if (found && x->known[found - 1].depth > depth) { /* a shorter way */
        x->known[found - 1].from = from;
        x->known[found - 1].op = (uint8_t)op;
        x->known[found - 1].depth = depth;
    }
    if (found)
        return found - 1;
    if (2 * x->n >= x->slots)
        index_grow(x);
    x->known = xgrow(x->known, x->n, &x->cap, sizeof *x->known);
    x->next = xgrow(x->next, x->n, &x->next_cap, sizeof *x->next);
    for (unsigned i = 0; i < MOST_OPS; i++)
        x->next[x->n][i] = UNKNOWN;
    x->known[x->n++] = (struct known){.v = *v, .from = from, .depth = depth, .op = (uint8_t)op};
    *index_slot(x, v) = (uint32_t)x->n;
    return (uint32_t)x->n - 1;
}

/* One operation of a machine that is in this state; returns the one after it. */
static uint32_t go(struct explore *x, struct machine *m, uint32_t state, unsigned op)
{
    step(m, op);
    const uint32_t now = learn(x, &m->v, state, op);
    if (x->next[state][op] != UNKNOWN && x->next[state][op] != now)
        WRONG(m, "another state than the last time");
    x->next[state][op] = now;
    if (m->wrong[0])
        fail_msg("%s: core %u %s line %u: %s (state %u, %u steps from the beginning)", x->s->name,
                 op / 2 / x->s->lines, op % 2 ? "stores" : "loads", op / 2 % x->s->lines, m->wrong,
                 state, x->known[state].depth);
    return now;
}

static bool tried_all(const struct explore *x, uint32_t state)
{
    return x->known[state].tried == op_count(x->s);
}

/* The first operation on a short way from here to where one is untried. False: none is near. */
static bool nearest(const struct explore *x, uint32_t state, unsigned *op)
{
    struct {
        uint32_t state;
        unsigned first; /* of the way there */
    } met[MOST_MET] = {{state, 0}};
    size_t n = 1;

    for (size_t i = 0; i < n; i++)
        for (unsigned o = 0; o < op_count(x->s) && n < MOST_MET; o++) {
            const uint32_t next = x->next[met[i].state][o];
            const unsigned first = i ? met[i].first : o;
            if (!tried_all(x, next)) {
                *op = first;
                return true;
            }
            met[n].state = next;
            met[n++].first = first;
        }
    return false;
}

/* What to do next in this state. False: nothing that would lead to something new. */
static bool next_op(struct explore *x, uint32_t state, unsigned *op)
{
    if (tried_all(x, state))
        return nearest(x, state, op);
    x->transitions++;
    *op = x->known[state].tried++;
    return true;
}

/* A machine goes to this state, and on as long as something is untried where it comes. */
static void try_from(struct explore *x, uint32_t to)
{
    struct machine m;
    uint8_t way[MOST_WAY];
    size_t n = 0;
    uint32_t state = to;

    for (uint32_t i = to; i; i = x->known[i].from)
        n++;
    assert_true(n <= MOST_WAY);
    for (size_t i = n; i; state = x->known[state].from)
        way[--i] = x->known[state].op;
    begin(&m, x->s);
    for (size_t i = 0; i < n; i++)
        state = go(x, &m, state, way[i]);
    assert_int_equal(state, to);
    for (unsigned op; next_op(x, state, &op);)
        state = go(x, &m, state, op);
    end(&m);
}

static void explore(const struct shape *s)
{
    struct explore x = {.s = s};
    struct machine m;

    assert_true(op_count(s) <= MOST_OPS);
    index_grow(&x);
    begin(&m, s);
    learn(&x, &m.v, 0, 0);
    end(&m);
    for (uint32_t i = 0; i < x.n; i++)
        while (!tried_all(&x, i))
            try_from(&x, i);
    print_message("%s: %zu states, %" PRIu64 " transitions\n", s->name, x.n, x.transitions);
    if (x.n < s->states || x.transitions != x.n * op_count(s))
        fail_msg("%s: %zu states, at least %zu expected", s->name, x.n, s->states);
    free(x.known);
    free(x.next);
    free(x.index);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

#define APART "l3.size=128 l3.directory-size=4 l3.directory-ways=1 "

static const struct shape shapes[] = {
    {"two groups, inclusive L3", 4, 2, 1, 2, true, true, true, false, false,
     "l2.size=128 l3.size=128", 2063},
    {"two groups, small inclusive L3", 4, 2, 1, 3, true, true, true, false, false,
     "l2.size=128 l3.size=128 l3.banks=1", 4377},
    {"two groups, directory apart", 4, 2, 1, 2, true, true, false, false, false,
     "l2.size=128 " APART, 2063},
    {"two nodes of one core", 2, 1, 2, 3, true, true, false, false, false, "l2.size=64 " APART,
     7462},
    {"two nodes of two cores", 4, 1, 2, 2, true, true, false, false, false, "l2.size=64 " APART,
     7297},
    {"three nodes, asking all", 3, 1, 3, 2, true, true, false, false, true, "l2.size=64 " APART,
     6259},
    {"two nodes that find their own lines", 4, 1, 2, 2, true, true, false, true, false,
     "l2.size=64 " APART, 7297},
    {"two nodes without L3s", 4, 1, 2, 2, true, false, false, false, false,
     "l2.size=64 l3.size=0 l3.directory-size=4 l3.directory-ways=1", 361},
    {"two nodes of a group each", 4, 2, 2, 2, true, true, false, false, true, "l2.size=128 " APART,
     2889},
};

static void test_each_access_in_each_state(void **state)
{
    explore(*state);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_SIZE(shapes)];

    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
        tests[i] = (struct CMUnitTest){.name = shapes[i].name,
                                       .test_func = test_each_access_in_each_state,
                                       .initial_state = (void *)(uintptr_t)&shapes[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
