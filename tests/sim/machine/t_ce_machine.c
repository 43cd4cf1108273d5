/* t_ce_machine.c - the presets ce4 to ce32 from a stream of bytes to the counts: what the published
 * CE simulator (IPDPS 2019) charges for one event, and what it counted for a long stream. Only its
 * MESI machine; how its records become events is in t_ce.c, the protocol alone in t_coherence_ce.c.
 *
 *     t_ce_machine [FILE]     with FILE: writes the long stream there, to be fed to that simulator
 */
#include "tests/sim/machine/ce_stream.h"

/* ---- single events -------------------------------------------------------------------------- */

static void begin(struct stream *s)
{
    s->n = 0;
    record(s, START, 0, 0, 0);
}

static void roi(struct stream *s)
{
    record(s, ROI_BEGIN, 0, 0, 0);
}

static void takes_on(struct stream *s, const char *preset, unsigned cycles, unsigned messages,
                     unsigned bytes)
{
    char want[300];

    record(s, ROI_END, 0, 0, 0);
    record(s, FINISH, 0, 0, 0);
    struct ran r = ran_stream(s, preset, "");
    snprintf(want, sizeof want,
             "machine.region-cycles=%u roi.network.messages.total=%u roi.network.bytes.total=%u",
             cycles, messages, bytes);
    ran_want(&r, want);
    ran_free(&r);
    begin(s);
}

/* What came since roi takes so much, on the machine with 4 cores. */
static void takes(struct stream *s, unsigned cycles, unsigned messages, unsigned bytes)
{
    takes_on(s, "ce4", cycles, messages, bytes);
}

/* Lines that push what comes before them out of a set. */
static void push_out(struct stream *s, unsigned tid, unsigned step, unsigned lines)
{
    for (unsigned k = 1; k <= lines; k++)
        rd(s, tid, A + (uint64_t)k * step);
}

static int set_up(void **state)
{
    struct stream *s = malloc(sizeof *s);

    if (s)
        begin(s);
    *state = s;
    return !s;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

static void instructions_and_cold_accesses(void **state)
{
    struct stream *s = *state;

    roi(s), block(s, 0, 10), takes(s, 10, 0, 0);
    roi(s), rd(s, 0, A), takes(s, 120, 4, 148);
    roi(s), wr(s, 0, A), takes(s, 120, 4, 148);
    roi(s), record(s, READ, 0, A, 8)[16] = 1, takes(s, 120, 4, 148); /* the stack's, too */
    roi(s), record(s, READ, 0, A, 0), takes(s, 0, 0, 0);
    block(s, 2, 7), rd(s, 0, A), roi(s), rd(s, 2, A + 64), block(s, 3, 5), takes(s, 120, 4, 148);
}

static void private_levels(void **state)
{
    struct stream *s = *state;

    rd(s, 0, A), roi(s), rd(s, 0, A), takes(s, 1, 0, 0);
    rd(s, 0, A), roi(s), wr(s, 0, A), takes(s, 1, 0, 0);
    wr(s, 0, A), roi(s), wr(s, 0, A), takes(s, 1, 0, 0);
    rd(s, 0, A), push_out(s, 0, L1_SET, 8), roi(s), rd(s, 0, A), takes(s, 10, 0, 0);
    rd(s, 0, A), push_out(s, 0, L1_SET, 8), roi(s), wr(s, 0, A), takes(s, 10, 0, 0);
    wr(s, 0, A), push_out(s, 0, L1_SET, 8), roi(s), rd(s, 0, A), takes(s, 10, 0, 0);
}

static void the_llc(void **state)
{
    struct stream *s = *state;

    /* its own set is full: a clean victim goes, 2 messages, 16 bytes */
    rd(s, 0, A), push_out(s, 0, L2_SET, 8), roi(s), rd(s, 0, A), takes(s, 25, 4, 90);
    rd(s, 0, A), push_out(s, 0, L2_SET, 8), roi(s), wr(s, 0, A), takes(s, 25, 4, 90);
    rd(s, 0, A), push_out(s, 0, L2_SET, 8), roi(s), rd(s, 2, A), takes(s, 25, 2, 74);
    wr(s, 0, A), push_out(s, 0, L2_SET, 8), roi(s), rd(s, 2, A), takes(s, 25, 2, 74);
}

static void other_cores_copies(void **state)
{
    struct stream *s = *state;

    rd(s, 2, A), roi(s), rd(s, 0, A), takes(s, 40, 4, 148);
    wr(s, 2, A), roi(s), rd(s, 0, A), takes(s, 40, 4, 148);
    rd(s, 2, A), rd(s, 3, A), roi(s), rd(s, 0, A), takes(s, 25, 2, 74);
    rd(s, 2, A), roi(s), wr(s, 0, A), takes(s, 40, 3, 82);
    wr(s, 2, A), roi(s), wr(s, 0, A), takes(s, 40, 3, 82);
    rd(s, 2, A), rd(s, 3, A), roi(s), wr(s, 0, A), takes(s, 40, 6, 106);
}

static void upgrades(void **state)
{
    struct stream *s = *state;

    rd(s, 2, A), rd(s, 0, A), roi(s), wr(s, 0, A), takes(s, 16, 3, 82);
    rd(s, 2, A), rd(s, 3, A), rd(s, 0, A), roi(s), wr(s, 0, A), takes(s, 16, 5, 98);
    rd(s, 2, A), rd(s, 0, A), push_out(s, 0, L1_SET, 8), roi(s), wr(s, 0, A);
    takes(s, 25, 3, 82);
    /* the other copy has gone by then: no invalidation, the same charge */
    rd(s, 2, A), rd(s, 0, A), push_out(s, 2, L2_SET, 8), roi(s), wr(s, 0, A);
    takes(s, 16, 1, 66);
}

static void accesses_across_lines(void **state)
{
    struct stream *s = *state;

    roi(s), rd(s, 0, A + 60), takes(s, 240, 8, 296);
    rd(s, 0, A), rd(s, 0, A + 64), roi(s), rd(s, 0, A + 60), takes(s, 2, 0, 0);
    roi(s), record(s, READ, 0, A + 63, 127), takes(s, 360, 12, 444);
}

static void atomics_and_locks(void **state)
{
    struct stream *s = *state;

    wr(s, 0, A), roi(s), atomic(s, 0, A), takes(s, 2, 0, 0);
    wr(s, 2, A), roi(s), atomic(s, 0, A), takes(s, 56, 7, 230);
    acquire(s, 0, A), release(s, 0, A), roi(s), acquire(s, 0, A), takes(s, 2, 0, 0);
    acquire(s, 0, A), roi(s), release(s, 0, A), takes(s, 1, 0, 0);
    acquire(s, 2, A), release(s, 2, A), roi(s), acquire(s, 0, A), takes(s, 56, 7, 230);
    acquire(s, 2, A), roi(s), acquire(s, 0, A), takes(s, 56, 7, 230); /* nobody waits */
    roi(s), acquire(s, 0, A + 63), takes(s, 242, 8, 296);
}

static void threads(void **state)
{
    struct stream *s = *state;

    roi(s), record(s, SPAWN, 0, 0, 0), takes(s, 0, 0, 0);
    roi(s), record(s, JOIN, 0, 0, 0), takes(s, 0, 0, 0);
    roi(s), record(s, START, 2, 0, 0), takes(s, 0, 0, 0);
    record(s, START, 2, 0, 0), roi(s), record(s, FINISH, 2, 0, 0), takes(s, 0, 0, 0);
    /* Pin's thread 5 is the fifth, on core 0 of 4: 120 + 3 there, 120 on core 3 */
    roi(s), rd(s, 5, A), block(s, 5, 3), rd(s, 4, A + 64), takes(s, 123, 8, 296);
}

static void victims(void **state)
{
    struct stream *s = *state;

    rd(s, 0, A), push_out(s, 0, L2_SET, 7), roi(s), rd(s, 0, A + 8 * L2_SET);
    takes(s, 120, 6, 164);
    wr(s, 0, A), push_out(s, 0, L2_SET, 7), roi(s), rd(s, 0, A + 8 * L2_SET);
    takes(s, 120, 6, 228);
    /* in order of fill, however recent in the L1 */
    rd(s, 0, A), push_out(s, 0, L2_SET, 7), wr(s, 0, A), roi(s), rd(s, 0, A + 8 * L2_SET);
    takes(s, 120, 6, 228);
    /* the LLC's victim is recalled */
    rd(s, 0, A), push_out(s, 3, L3_SET, 7), roi(s), rd(s, 2, A + 8 * L3_SET);
    takes(s, 120, 6, 164);
    wr(s, 0, A), push_out(s, 3, L3_SET, 7), roi(s), rd(s, 2, A + 8 * L3_SET);
    takes(s, 120, 8, 299);
    rd(s, 0, A), rd(s, 2, A), push_out(s, 3, L3_SET, 7), roi(s), rd(s, 2, A + 8 * L3_SET);
    takes(s, 120, 8, 180);
    /* from M to S the LLC's copy stays clean, so nothing is written */
    wr(s, 0, A), rd(s, 2, A), push_out(s, 3, L3_SET, 7), roi(s), rd(s, 2, A + 8 * L3_SET);
    takes(s, 120, 8, 180);
    wr(s, 0, A), push_out(s, 3, L3_SET, 7), rd(s, 2, A + 8 * L3_SET), roi(s), rd(s, 0, A);
    takes(s, 120, 6, 164);
}

static void machines_with_more_cores(void **state)
{
    static const struct {
        const char *preset;
        unsigned llc;
    } m[] = {{"ce4", 25}, {"ce8", 35}, {"ce16", 40}, {"ce32", 50}};
    struct stream *s = *state;

    for (size_t i = 0; i < sizeof m / sizeof *m; i++) {
        rd(s, 2, A), rd(s, 3, A), roi(s), rd(s, 0, A), takes_on(s, m[i].preset, m[i].llc, 2, 74);
        wr(s, 2, A), roi(s), rd(s, 0, A), takes_on(s, m[i].preset, m[i].llc + 15, 4, 148);
        rd(s, 2, A), rd(s, 0, A), roi(s), wr(s, 0, A), takes_on(s, m[i].preset, 16, 3, 82);
        roi(s), rd(s, 0, A), takes_on(s, m[i].preset, 120, 4, 148);
    }
}

/* The oldest goes, from L1 and L2, although another core's store has left a way empty. */
static void an_empty_way_stays_empty(void **state)
{
    struct stream *s = *state;

    push_out(s, 0, L2_SET, 8), wr(s, 2, A + 5 * L2_SET), roi(s), rd(s, 0, A + 9 * L2_SET);
    takes(s, 120, 6, 164);
    push_out(s, 0, L1_SET, 8), wr(s, 2, A + 5 * L1_SET), rd(s, 0, A + 9 * L1_SET);
    roi(s), rd(s, 0, A + L1_SET), takes(s, 10, 0, 0);
}

/* ---- a long stream -------------------------------------------------------------------------- */

enum { OPERATIONS = 3000, LOCKS = 8 };

struct drawn { /* Knuth's MMIX generator */
    uint64_t x;
};

static unsigned draw(struct drawn *d, unsigned n)
{
    d->x = d->x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((d->x >> 33) % n);
}

/* A few lines that all want, many lines, and lines of few sets of all levels. */
static uint64_t draw_address(struct drawn *d)
{
    const uint64_t offset = draw(d, 4) ? 8 * draw(d, 8) : draw(d, 64);

    switch (draw(d, 4)) {
    case 0:
        return A + 64 * draw(d, 12) + offset;
    case 1:
        return A + 64 * draw(d, 700) + offset;
    case 2:
        return A + (uint64_t)L2_SET * draw(d, 12) + 64 * draw(d, 2) + offset;
    default:
        return A + (uint64_t)L3_SET * draw(d, 12) + 64 * draw(d, 2) + offset;
    }
}

static void draw_lock(struct stream *s, struct drawn *d, unsigned tid, int holder[LOCKS])
{
    const unsigned lock = draw(d, LOCKS);
    const uint64_t at = A + 0x8000000 + 72 * lock; /* some across lines */

    if (holder[lock] < 0) {
        holder[lock] = (int)tid;
        acquire(s, tid, at);
    } else if (holder[lock] == (int)tid) {
        holder[lock] = -1;
        release(s, tid, at);
    }
}

static void draw_operation(struct stream *s, struct drawn *d, unsigned tid, int holder[LOCKS])
{
    static const uint8_t sizes[] = {8, 4, 8, 1, 8, 2, 100, 16};
    const unsigned what = draw(d, 100), size = sizes[draw(d, 8)];
    const uint64_t addr = draw_address(d);

    if (what < 12)
        block(s, tid, 1 + draw(d, 40));
    else if (what < 55)
        record(s, READ, tid, addr, size)[16] = draw(d, 10) == 0;
    else if (what < 82)
        record(s, WRITE, tid, addr, size);
    else if (what < 88)
        atomic(s, tid, addr & ~UINT64_C(7));
    else
        draw_lock(s, d, tid, holder);
}

static void draw_stream(struct stream *s)
{
    static const unsigned tids[] = {0, 2, 3, 4};
    struct drawn d = {2019};
    int holder[LOCKS];

    for (unsigned i = 0; i < LOCKS; i++)
        holder[i] = -1;
    begin(s);
    for (unsigned i = 1; i < 4; i++) {
        record(s, SPAWN, 0, 0, 0);
        record(s, START, tids[i], 0, 0);
    }
    for (unsigned i = 0; i < OPERATIONS; i++) {
        if (i == OPERATIONS / 10)
            roi(s);
        draw_operation(s, &d, tids[draw(&d, 4)], holder);
    }
    for (unsigned i = 0; i < LOCKS; i++)
        if (holder[i] >= 0)
            release(s, (unsigned)holder[i], A + 0x8000000 + 72 * i);
    for (unsigned i = 1; i < 4; i++) {
        record(s, FINISH, tids[i], 0, 0);
        record(s, JOIN, 0, 0, 0);
    }
    block(s, 0, 5);
    record(s, ROI_END, 0, 0, 0);
    record(s, FINISH, 0, 0, 0);
}

/* What the published simulator counted for this stream (MESISim, 4 cores, --model-only-roi). */
struct measured {
    const char *settings;
    uint64_t core_cycles[4], messages, bytes, flits;
    uint64_t hits[3][2], misses[3][2]; /* by level; reads, writes */
};

static uint64_t roi_stat(const struct ran *r, const char *format, unsigned level, const char *op)
{
    char name[96];

    snprintf(name, sizeof name, format, level, op);
    return ran_stat(r, name);
}

/* All that core c spent, but for idling. */
static uint64_t busy(const struct ran *r, unsigned c)
{
    static const char *const on[] = {"executing", "l1", "l2", "l3", "remote", "memory"};
    char name[96];
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        snprintf(name, sizeof name, "roi.cores.%s.%u", on[i], c);
        sum += ran_stat(r, name);
    }
    return sum;
}

/* That simulator counts an upgrade as a hit of the level where the copy is. */
static void same_hits(const struct ran *r, const struct measured *m, unsigned level, unsigned op)
{
    const char *name = op ? "store" : "load";
    const uint64_t up = op && level < 3 ? roi_stat(r, "roi.l%u.data.%s-upgrades", level, name) : 0;

    assert_int_equal(roi_stat(r, "roi.l%u.data.%s-hits", level, name) + up, m->hits[level - 1][op]);
    assert_int_equal(roi_stat(r, "roi.l%u.data.%s-misses", level, name) - up,
                     m->misses[level - 1][op]);
}

static void same_counts(struct stream *s, const struct measured *m)
{
    struct ran r = ran_stream(s, "ce4", m->settings);
    uint64_t most = 0;

    for (unsigned c = 0; c < 4; c++) {
        assert_int_equal(busy(&r, c), m->core_cycles[c]);
        most = m->core_cycles[c] > most ? m->core_cycles[c] : most;
    }
    assert_int_equal(ran_stat(&r, "machine.region-cycles"), most);
    assert_int_equal(ran_stat(&r, "roi.network.messages.total"), m->messages);
    assert_int_equal(ran_stat(&r, "roi.network.bytes.total"), m->bytes);
    assert_int_equal(ran_stat(&r, "roi.network.flits.total"), m->flits);
    for (unsigned level = 1; level <= 3; level++)
        for (unsigned op = 0; op < 2; op++)
            same_hits(&r, m, level, op);
    ran_free(&r);
}

static void a_long_stream_counts_what_was_measured(void **state)
{
    static const struct measured m[] = {
        {"",
         {30625, 33467, 36504, 32517},
         9301,
         290322,
         24113,
         {{382, 484}, {15, 3}, {830, 464}},
         {{1247, 691}, {1232, 688}, {402, 224}}},
        {"l1.size=1024 l1.ways=2 l2.size=4096 l2.ways=4 l3.size=32768 l3.ways=8",
         {43350, 47751, 54549, 48379},
         12454,
         392806,
         32466,
         {{168, 339}, {83, 69}, {576, 308}},
         {{1461, 836}, {1378, 767}, {802, 459}}},
    };
    struct stream *s = *state;

    draw_stream(s);
    for (size_t i = 0; i < sizeof m / sizeof *m; i++)
        same_counts(s, &m[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(instructions_and_cold_accesses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(private_levels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_llc, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_cores_copies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(upgrades, set_up, tear_down),
        cmocka_unit_test_setup_teardown(accesses_across_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(atomics_and_locks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(victims, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_way_stays_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(machines_with_more_cores, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_stream_counts_what_was_measured, set_up, tear_down),
    };
    static struct stream s;

    if (argc > 1) {
        draw_stream(&s);
        write_stream(&s, argv[1]);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
