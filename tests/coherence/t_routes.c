/* t_routes.c - the ways of messages: routes by hand and between all pairs of nodes, that what is
 * timed is the route, random traffic against a plain model of links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "tests/coherence/net_rig.h"

/* ---- the mesh by hand ----------------------------------------------------------------------- */

static void expect_route(unsigned nodes, unsigned from, unsigned to, const char *expected)
{
    struct rig r = rig_new(MESH, nodes, ON);
    char *route = xasprintf("%u", from);

    for (unsigned at = from; at != to;) {
        at = network_next(r.net, at, to);
        char *longer = xasprintf("%s %u", route, at);
        free(route);
        route = longer;
    }
    assert_string_equal(route, expected);
    free(route);
    rig_free(&r);
}

static void a_mesh_goes_along_the_row_first(void **state)
{
    (void)state;
    expect_route(9, 0, 8, "0 1 2 5 8");
    expect_route(9, 8, 0, "8 7 6 3 0");
    expect_route(9, 2, 6, "2 1 0 3 6");
    expect_route(9, 6, 2, "6 7 8 5 2");
    expect_route(2, 0, 1, "0 1");
    expect_route(3, 2, 1, "2 0 1"); /* two columns: 2 stands below 0 */
    expect_route(3, 1, 2, "1 0 2");
}

/* 8 nodes: 0 1 2 / 3 4 5 / 6 7 */
static void a_message_from_an_incomplete_row_goes_around_the_hole(void **state)
{
    (void)state;
    expect_route(8, 6, 5, "6 3 4 5");
    expect_route(8, 7, 5, "7 4 5");
    expect_route(8, 6, 2, "6 3 4 5 2");
    expect_route(8, 7, 0, "7 6 3 0"); /* the row has that column */
    expect_route(8, 5, 6, "5 4 3 6");
    expect_route(8, 2, 7, "2 1 4 7");
    expect_route(7, 6, 5, "6 3 4 5"); /* a row of one */
}

/* ---- routes between all pairs --------------------------------------------------------------- */

static unsigned square_columns(unsigned nodes)
{
    unsigned c = 0;

    for (c = 1; c * c < nodes;)
        c++;
    return c;
}

static unsigned apart(unsigned a, unsigned b)
{
    return a < b ? b - a : a - b;
}

static bool neighbours(uint32_t topology, unsigned nodes, unsigned a, unsigned b)
{
    const unsigned c = square_columns(nodes);

    if (a >= nodes || b >= nodes || a == b)
        return false;
    switch (topology) {
    case RING:
        return (a + 1) % nodes == b || (b + 1) % nodes == a;
    case MESH:
        return apart(a % c, b % c) + apart(a / c, b / c) == 1;
    default:
        return true;
    }
}

static unsigned shortest(uint32_t topology, unsigned nodes, unsigned a, unsigned b)
{
    const unsigned c = square_columns(nodes), d = apart(a, b);

    if (topology == MESH)
        return apart(a % c, b % c) + apart(a / c, b / c);
    if (topology == RING)
        return d < nodes - d ? d : nodes - d;
    return a != b;
}

static void check_route(const struct rig *r, uint32_t topology, unsigned nodes, unsigned from,
                        unsigned to)
{
    const unsigned hops = shortest(topology, nodes, from, to);
    unsigned at = from;

    for (unsigned i = 0; i < hops; i++) {
        const unsigned next = network_next(r->net, at, to);
        if (!neighbours(topology, nodes, at, next))
            fail_msg("topology %u, %u nodes, %u to %u: from %u to %u is no hop", topology, nodes,
                     from, to, at, next);
        at = next;
    }
    if (at != to || network_hops(r->net, from, to) != hops)
        fail_msg("topology %u, %u nodes, %u to %u: %u hops, not %u", topology, nodes, from, to,
                 network_hops(r->net, from, to), hops);
}

static void every_route_is_possible_and_shortest(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < TOPOLOGIES; t++)
        for (unsigned nodes = 1; nodes <= 128; nodes++) {
            struct rig r = rig_new(t, nodes, OFF);

            for (unsigned from = 0; from < nodes; from++)
                for (unsigned to = 0; to < nodes; to++)
                    check_route(&r, t, nodes, from, to);
            rig_free(&r);
        }
}

/* Occupies the link from a to its neighbour b when the message is about to want it (`step`: its
 * place on the route), or for long; returns how much later than undisturbed the message comes. */
static sim_cycle disturbed(uint32_t topology, unsigned nodes, unsigned from, unsigned to,
                           unsigned a, unsigned b, unsigned step)
{
    struct rig r = rig_new(topology, nodes, ON);

    send(&r, a, b, 160, 2 * step);
    const sim_cycle late = send(&r, from, to, 16, 0) - 2 * network_hops(r.net, from, to);
    rig_free(&r);
    return late;
}

/* A link on the route delays, one that is not does not: what is timed is the route. */
static void the_links_taken_are_those_of_the_route(void **state)
{
    (void)state;
    static const unsigned sizes[] = {2, 5, 8};

    for (uint32_t t = RING; t <= MESH; t++)
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
            for (unsigned from = 0; from < sizes[i]; from++)
                for (unsigned to = 0; to < sizes[i]; to++) {
                    const unsigned n = sizes[i];
                    struct rig r = rig_new(t, n, OFF);
                    unsigned on[8][8];

                    memset(on, 0, sizeof on);
                    for (unsigned at = from, k = 1; at != to; k++) {
                        const unsigned next = network_next(r.net, at, to);
                        on[at][next] = k;
                        at = next;
                    }
                    for (unsigned ab = 0; ab < n * n; ab++) {
                        const unsigned a = ab / n, b = ab % n, k = on[a][b];
                        if (neighbours(t, n, a, b))
                            assert_int_equal(disturbed(t, n, from, to, a, b, k ? k - 1 : 0),
                                             k ? 10 : 0);
                    }
                    rig_free(&r);
                }
}

/* ---- random traffic against a plain model --------------------------------------------------- */

enum { PLAIN_NODES = 11, PLAIN_CYCLES = 40000 };

struct plain { /* a byte for each cycle of each link; the crossbar's stand at [node][node or 0] */
    unsigned char taken[PLAIN_NODES][PLAIN_NODES + 1][PLAIN_CYCLES];
};

static sim_cycle plain_take(unsigned char *taken, sim_cycle at, unsigned n)
{
    for (sim_cycle c = at; c < at + n; c++) {
        assert_true(c < PLAIN_CYCLES);
        if (taken[c])
            at = c + 1;
    }
    memset(taken + at, 1, n);
    return at;
}

static sim_cycle plain_send(struct plain *p, const struct rig *r, uint32_t topology, unsigned from,
                            unsigned to, unsigned flits, sim_cycle at)
{
    if (from == to)
        return at;
    if (topology == CROSSBAR) {
        at = plain_take(p->taken[from][PLAIN_NODES], at, flits);
        return plain_take(p->taken[to][to], at, flits);
    }
    for (unsigned node = from; node != to;) {
        const unsigned next = network_next(r->net, node, to);
        at = plain_take(p->taken[node][next], at + 3, flits) + 2;
        node = next;
    }
    return at;
}

static void random_traffic_arrives_as_defined(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < TOPOLOGIES; t++) {
        struct rig r = rig_of(&(struct network_params){t, 8, 3, 2, 1}, PLAIN_NODES, ON);
        struct plain *p = calloc(1, sizeof *p);
        struct rng rng;
        sim_cycle floor = 0;

        assert_non_null(p);
        rng_seed(&rng, t + 1);
        for (unsigned i = 0; i < 4000; i++) {
            const unsigned from = (unsigned)rng_below(&rng, PLAIN_NODES);
            const unsigned to = (unsigned)rng_below(&rng, PLAIN_NODES);
            const unsigned bytes = (unsigned)rng_below(&rng, 80);
            const sim_cycle at = floor + rng_below(&rng, rng_below(&rng, 20) ? 150 : 3000);
            const sim_cycle want = plain_send(p, &r, t, from, to, (bytes + 7) / 8, at);

            assert_int_equal(
                network_send(r.net, from, to, MSG_DATA, bytes, TRAFFIC_DATA, floor, at), want);
            floor += rng_below(&rng, 9);
        }
        assert_true(value(&r, "queue-cycles") > 1000); /* there was something to wait for */
        free(p);
        rig_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mesh_goes_along_the_row_first),
        cmocka_unit_test(a_message_from_an_incomplete_row_goes_around_the_hole),
        cmocka_unit_test(every_route_is_possible_and_shortest),
        cmocka_unit_test(the_links_taken_are_those_of_the_route),
        cmocka_unit_test(random_traffic_arrives_as_defined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
