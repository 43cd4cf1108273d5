/* t_network.c - the interconnect: exact arrivals by hand on each topology, what is counted,
 * parameters. Routes are t_routes.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "coherence/coherence_int.h"
#include "tests/coherence/net_rig.h"

/* ---- the crossbar --------------------------------------------------------------------------- */

static void an_idle_crossbar_adds_nothing(void **state)
{
    (void)state;
    for (int contention = 0; contention < 2; contention++) {
        struct rig r = rig_new(CROSSBAR, 4, contention);

        assert_int_equal(send(&r, 0, 3, 66, 100), 100);
        assert_int_equal(network_hops(r.net, 0, 3), 1);
        assert_int_equal(network_hops(r.net, 3, 3), 0);
        rig_free(&r);
    }
}

static void an_output_link_takes_one_message_at_a_time(void **state)
{
    (void)state;
    static const struct {
        sim_cycle at, arrival;
    } second[] = {{100, 105}, {104, 105}, {105, 105}, {106, 106}, {95, 95}, {96, 105}};

    for (size_t i = 0; i < ARRAY_SIZE(second); i++) {
        struct rig r = rig_new(CROSSBAR, 4, ON);

        assert_int_equal(send(&r, 0, 1, 66, 100), 100); /* 5 flits */
        assert_int_equal(send(&r, 0, 2, 66, second[i].at), second[i].arrival);
        assert_int_equal(value(&r, "queue-cycles"), second[i].arrival - second[i].at);
        rig_free(&r);
    }
}

static void an_input_link_takes_one_message_at_a_time(void **state)
{
    (void)state;
    struct rig r = rig_new(CROSSBAR, 4, ON);

    assert_int_equal(send(&r, 0, 1, 66, 100), 100);
    assert_int_equal(send(&r, 2, 1, 8, 104), 105);
    assert_int_equal(send(&r, 3, 1, 8, 106), 106);
    assert_int_equal(send(&r, 3, 1, 8, 105), 107); /* the flits of 105 and 106 came first */
    rig_free(&r);
}

static void other_links_of_a_crossbar_are_free(void **state)
{
    (void)state;
    struct rig r = rig_new(CROSSBAR, 4, ON);

    assert_int_equal(send(&r, 0, 1, 1000, 100), 100);
    assert_int_equal(send(&r, 1, 0, 1000, 100), 100);
    assert_int_equal(send(&r, 2, 3, 1000, 100), 100);
    assert_int_equal(send(&r, 3, 2, 1000, 100), 100);
    rig_free(&r);
}

static void a_message_waits_for_both_links_in_turn(void **state)
{
    (void)state;
    struct rig r = rig_new(CROSSBAR, 4, ON);

    assert_int_equal(send(&r, 0, 1, 66, 0), 0);  /* output 0 and input 1: 0..4 */
    assert_int_equal(send(&r, 2, 3, 66, 0), 0);  /* output 2 and input 3: 0..4 */
    assert_int_equal(send(&r, 3, 1, 66, 2), 5);  /* input 1: 5..9; output 3: 2..6 */
    assert_int_equal(send(&r, 2, 1, 66, 3), 10); /* output 2: 5..9, then 5 more for input 1 */
    assert_int_equal(send(&r, 3, 0, 66, 2), 7);  /* waiting at input 1 did not hold output 3 */
    assert_int_equal(value(&r, "queue-cycles"), 3 + 7 + 5);
    rig_free(&r);
}

static void an_earlier_message_that_comes_later_takes_the_gap(void **state)
{
    (void)state;
    struct rig r = rig_new(CROSSBAR, 2, ON);

    assert_int_equal(send(&r, 0, 1, 66, 100), 100);
    assert_int_equal(send(&r, 0, 1, 66, 90), 90);   /* before it */
    assert_int_equal(send(&r, 0, 1, 66, 91), 95);   /* exactly between the two */
    assert_int_equal(send(&r, 0, 1, 66, 91), 105);  /* now behind both */
    assert_int_equal(send(&r, 0, 1, 66, 86), 110);  /* 86..89 is a flit too short */
    assert_int_equal(send(&r, 0, 1, 64, 86), 86);   /* 4 flits */
    assert_int_equal(send(&r, 0, 1, 66, 115), 115); /* nobody was moved */
    rig_free(&r);
}

static void without_contention_nothing_waits(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < TOPOLOGIES; t++) {
        struct rig r = rig_new(t, 9, OFF);
        const sim_cycle way = t == CROSSBAR ? 0 : 2 * network_hops(r.net, 0, 8);

        for (unsigned i = 0; i < 10; i++)
            assert_int_equal(send(&r, 0, 8, 4096, 50), 50 + way);
        assert_int_equal(send(&r, 0, 8, 4096, 3), 3 + way);
        assert_int_equal(value(&r, "queue-cycles"), 0);
        assert_int_equal(value(&r, "links.flits"),
                         11 * 256 * (t == CROSSBAR ? 2 : network_hops(r.net, 0, 8)));
        rig_free(&r);
    }
}

static void inside_a_node_no_link_is_used(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < TOPOLOGIES; t++) {
        struct rig r = rig_new(t, 4, ON);

        assert_int_equal(send(&r, 0, 1, 4096, 0), t == CROSSBAR ? 0 : 2);
        const uint64_t before = value(&r, "links.flits");
        assert_int_equal(send(&r, 0, 0, 4096, 1), 1);
        assert_int_equal(send(&r, 1, 1, 4096, 1), 1);
        assert_int_equal(value(&r, "links.flits"), before);
        assert_int_equal(value(&r, "messages.inside"), 2);
        assert_int_equal(value(&r, "messages.between"), 1);
        assert_int_equal(value(&r, "bytes.total"), 3 * 4096);
        rig_free(&r);
    }
}

/* ---- the ring ------------------------------------------------------------------------------- */

static void a_ring_goes_the_shorter_way(void **state)
{
    (void)state;
    static const unsigned hops[] = {0, 1, 2, 3, 4, 3, 2, 1};
    struct rig r = rig_new(RING, 8, ON);

    for (unsigned to = 0; to < 8; to++) {
        const sim_cycle at = 1000 * (to + 1);
        assert_int_equal(network_hops(r.net, 0, to), hops[to]);
        assert_int_equal(send(&r, 0, to, 66, at), at + 2 * hops[to]);
    }
    assert_int_equal(network_next(r.net, 0, 3), 1);
    assert_int_equal(network_next(r.net, 0, 5), 7);
    assert_int_equal(network_next(r.net, 7, 1), 0);
    rig_free(&r);
}

static void a_ring_goes_clockwise_when_equal(void **state)
{
    (void)state;
    struct rig r = rig_new(RING, 8, ON);

    assert_int_equal(send(&r, 0, 1, 66, 0), 2); /* its link: 1..5 */
    assert_int_equal(send(&r, 0, 4, 66, 0), 8 + 5);
    assert_int_equal(send(&r, 0, 5, 66, 0), 6);
    assert_int_equal(network_next(r.net, 6, 2), 7);
    rig_free(&r);
    r = rig_new(RING, 2, ON); /* both ways are one hop */
    assert_int_equal(send(&r, 0, 1, 66, 0), 2);
    assert_int_equal(send(&r, 1, 0, 66, 0), 2);
    assert_int_equal(send(&r, 0, 1, 66, 0), 7);
    rig_free(&r);
}

static void the_head_waits_at_each_hop(void **state)
{
    (void)state;
    static const struct {
        sim_cycle at, arrival; /* at the second link 3 cycles after `at` */
    } cases[] = {{7, 17}, {8, 17}, {12, 17}, {13, 17}, {14, 18}, {3, 7}, {4, 17}};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct rig r = rig_new(RING, 8, ON);

        assert_int_equal(send(&r, 1, 2, 66, 10), 12); /* its link: 11..15 */
        assert_int_equal(send(&r, 0, 2, 66, cases[i].at), cases[i].arrival);
        rig_free(&r);
    }
}

static void a_waiting_message_holds_no_link_behind(void **state)
{
    (void)state;
    struct rig r = rig_new(RING, 8, ON);

    assert_int_equal(send(&r, 1, 2, 1600, 0), 2);   /* its link: 1..100 */
    assert_int_equal(send(&r, 0, 2, 66, 0), 102);   /* first link: 1..5; second: 101..105 */
    assert_int_equal(send(&r, 0, 1, 66, 5), 7);     /* first link: 6..10 */
    assert_int_equal(send(&r, 0, 1, 66, 0), 12);    /* first link: 11..15 */
    assert_int_equal(send(&r, 1, 2, 66, 100), 107); /* second: 106.. */
    rig_free(&r);
}

static void router_and_wire_cycles_add_up(void **state)
{
    (void)state;
    static const uint64_t cycles[][2] = {{0, 0}, {0, 1}, {1, 0}, {3, 2}, {1000, 1000}};

    for (size_t i = 0; i < ARRAY_SIZE(cycles); i++) {
        const uint64_t router = cycles[i][0], wire = cycles[i][1];
        struct rig r = rig_of(&(struct network_params){MESH, 16, router, wire, 1}, 16, ON);

        assert_int_equal(send(&r, 0, 15, 66, 7), 7 + 6 * (router + wire));
        assert_int_equal(send(&r, 0, 1, 66, 7), 7 + router + 5 + wire); /* behind it */
        assert_int_equal(send(&r, 0, 1, 66, 16), 17 + router + wire);
        assert_int_equal(send(&r, 0, 1, 66, 22), 22 + router + wire);
        rig_free(&r);
    }
    struct rig x = rig_of(&(struct network_params){CROSSBAR, 16, 1000, 1000, 1}, 16, ON);
    assert_int_equal(send(&x, 0, 15, 66, 7), 7);
    rig_free(&x);
}

/* ---- the mesh ------------------------------------------------------------------------------- */

static void a_mesh_is_timed_hop_by_hop(void **state)
{
    (void)state;
    struct rig r = rig_new(MESH, 9, ON);

    assert_int_equal(send(&r, 0, 8, 66, 0), 8);  /* links at 1, 3, 5, 7 */
    assert_int_equal(send(&r, 0, 3, 66, 0), 2);  /* south is another link than east */
    assert_int_equal(send(&r, 1, 0, 66, 0), 2);  /* and back another than forth */
    assert_int_equal(send(&r, 5, 8, 66, 0), 2);  /* its last link: 7..11; this: 1..5 */
    assert_int_equal(send(&r, 5, 8, 66, 0), 13); /* 12..16 */
    assert_int_equal(send(&r, 5, 8, 16, 0), 7);  /* 6 */
    rig_free(&r);
}

/* ---- counting ------------------------------------------------------------------------------- */

static char *csv(const struct rig *r) /* owned by the caller */
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    assert_non_null(out);
    stats_csv(r->stats, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void expect_line(const struct rig *r, const char *line)
{
    char *text = csv(r);

    if (!strstr(text, line))
        fail_msg("no %s in\n%s", line, text);
    free(text);
}

static void flits_are_rounded_up(void **state)
{
    (void)state;
    static const struct {
        uint64_t width;
        unsigned bytes;
        uint64_t flits;
    } cases[] = {{16, 0, 0},      {16, 1, 1},  {16, 8, 1},
                 {16, 15, 1},     {16, 16, 1}, {16, 17, 2},
                 {16, 64, 4},     {16, 66, 5}, {16, 69, 5},
                 {1, 66, 66},     {2, 69, 35}, {1024, 66, 1},
                 {1024, 1025, 2}, {64, 64, 1}, {64, 66, 2},
                 {8, 66, 9},      {1, 1, 1},   {1024, UINT32_MAX, 1 << 22}};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct rig r = rig_of(&(struct network_params){CROSSBAR, cases[i].width, 1, 1, 1}, 2, ON);

        assert_int_equal(send(&r, 0, 1, cases[i].bytes, 0), 0);
        assert_int_equal(value(&r, "flits.total"), cases[i].flits);
        assert_int_equal(value(&r, "bytes.total"), cases[i].bytes);
        assert_int_equal(send(&r, 0, 1, 8, 0), cases[i].flits);
        rig_free(&r);
    }
}

static void classes_and_traffic_are_counted_apart(void **state)
{
    (void)state;
    struct rig r = rig_new(RING, 8, ON);

    network_send(r.net, 0, 2, MSG_REQUEST, 8, TRAFFIC_DATA, 0, 0);
    network_send(r.net, 2, 0, MSG_DATA, 66, TRAFFIC_DATA, 0, 50);
    network_send(r.net, 2, 0, MSG_DATA, 66, TRAFFIC_METADATA, 0, 100);
    network_send(r.net, 3, 3, MSG_DATA, 66, TRAFFIC_METADATA, 0, 100);
    network_count(r.net, MSG_MEMORY_WRITE, 69, TRAFFIC_METADATA);
    expect_line(&r, "network.messages.data.request,1,");
    expect_line(&r, "network.messages.data.data,1,");
    expect_line(&r, "network.messages.metadata.data,2,");
    expect_line(&r, "network.messages.metadata.memory-write,1,");
    expect_line(&r, "network.messages.metadata.request,0,");
    expect_line(&r, "network.bytes.data.request,8,");
    expect_line(&r, "network.bytes.metadata.data,132,");
    expect_line(&r, "network.flits.metadata.data,10,");
    expect_line(&r, "network.flits.metadata.memory-write,5,");
    assert_int_equal(value(&r, "messages.total"), 5);
    assert_int_equal(value(&r, "messages.inside"), 1);
    assert_int_equal(value(&r, "messages.between"), 3);
    assert_int_equal(value(&r, "messages.untimed"), 1);
    assert_int_equal(value(&r, "bytes.total"), 8 + 3 * 66 + 69);
    assert_int_equal(value(&r, "flits.total"), 1 + 3 * 5 + 5);
    assert_int_equal(value(&r, "hops"), 6);
    assert_int_equal(value(&r, "flit-hops"), 2 + 10 + 10);
    assert_int_equal(value(&r, "links.flits"), 22);
    assert_int_equal(value(&r, "links.busiest"), 10);
    rig_free(&r);
}

static void waits_are_counted_by_length(void **state)
{
    (void)state;
    struct rig r = rig_new(CROSSBAR, 4, ON);

    send(&r, 0, 1, 66, 0);
    send(&r, 0, 2, 66, 0); /* 5 */
    send(&r, 0, 3, 66, 9); /* 1 */
    send(&r, 3, 3, 66, 9); /* in no histogram */
    expect_line(&r, "network.waits.count,3,");
    expect_line(&r, "network.waits.sum,6,");
    expect_line(&r, "network.waits.max,5,");
    assert_int_equal(value(&r, "queue-cycles"), 6);
    assert_int_equal(value(&r, "links.busiest"), 15); /* the output of node 0 */
    assert_int_equal(value(&r, "links.flits"), 30);
    rig_free(&r);
}

static void every_class_has_its_text(void **state)
{
    (void)state;
    assert_string_equal(msg_text[MSG_REQUEST], "request");
    assert_string_equal(msg_text[MSG_WRITE_BACK], "write-back");
    assert_string_equal(msg_text[MSG_MEMORY_WRITE], "memory-write");
    for (unsigned i = 0; i < MSGS; i++)
        assert_non_null(msg_text[i]);
}

/* ---- parameters ----------------------------------------------------------------------------- */

static void find_rows(void *rows, const char *section, const struct param *of)
{
    if (!strcmp(section, "network"))
        *(const struct param **)rows = of;
}

static int bind(const char *setting, struct network_params *p, struct err *e)
{
    struct config *c = config_new(NULL);
    const struct param *rows = NULL;
    struct coh_params all;
    coherence_each_table(find_rows, &rows);
    const int bad = (setting && config_set(c, setting, e)) ||
                    config_bind(c, "network", rows, &all, e) || network_check(&all.network, e);
    *p = all.network;

    config_free(c);
    return bad;
}

static void the_defaults_are_as_documented(void **state)
{
    (void)state;
    struct network_params p;
    struct err e = {.code = 0};

    assert_int_equal(bind(NULL, &p, &e), 0);
    assert_int_equal(p.topology, CROSSBAR);
    assert_int_equal(p.link_bytes, 16);
    assert_int_equal(p.router, 1);
    assert_int_equal(p.wire, 1);
    assert_int_equal(p.controllers, 1);
}

static void parameters_have_their_limits(void **state)
{
    (void)state;
    static const char *const good[] = {
        "network.link-bytes=1",    "network.link-bytes=1024", "network.link-bytes=1Ki",
        "network.router=0",        "network.router=1000",     "network.wire=0",
        "network.controllers=128", "network.topology=ring",   "network.topology=mesh",
    };
    static const char *const bad[] = {
        "network.link-bytes=0",    "network.link-bytes=2048", "network.link-bytes=24",
        "network.link-bytes=1023", "network.router=1001",     "network.wire=1001",
        "network.controllers=0",   "network.controllers=129", "network.topology=torus",
    };

    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        struct network_params p;
        struct err e = {.code = 0};
        if (bind(good[i], &p, &e))
            fail_msg("%s: %s", good[i], e.text);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct network_params p;
        struct err e = {.code = 0};
        if (!bind(bad[i], &p, &e))
            fail_msg("%s was taken", bad[i]);
        assert_int_equal(e.code, LARD_CONFIG);
        assert_non_null(strstr(e.text, "network."));
    }
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    network_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_crossbar_adds_nothing),
        cmocka_unit_test(an_output_link_takes_one_message_at_a_time),
        cmocka_unit_test(an_input_link_takes_one_message_at_a_time),
        cmocka_unit_test(other_links_of_a_crossbar_are_free),
        cmocka_unit_test(a_message_waits_for_both_links_in_turn),
        cmocka_unit_test(an_earlier_message_that_comes_later_takes_the_gap),
        cmocka_unit_test(without_contention_nothing_waits),
        cmocka_unit_test(inside_a_node_no_link_is_used),
        cmocka_unit_test(a_ring_goes_the_shorter_way),
        cmocka_unit_test(a_ring_goes_clockwise_when_equal),
        cmocka_unit_test(the_head_waits_at_each_hop),
        cmocka_unit_test(a_waiting_message_holds_no_link_behind),
        cmocka_unit_test(router_and_wire_cycles_add_up),
        cmocka_unit_test(a_mesh_is_timed_hop_by_hop),
        cmocka_unit_test(flits_are_rounded_up),
        cmocka_unit_test(classes_and_traffic_are_counted_apart),
        cmocka_unit_test(waits_are_counted_by_length),
        cmocka_unit_test(every_class_has_its_text),
        cmocka_unit_test(the_defaults_are_as_documented),
        cmocka_unit_test(parameters_have_their_limits),
        cmocka_unit_test(freeing_nothing_is_fine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
