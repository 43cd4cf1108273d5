/* t_port.c - which of gem5's packets are an access of the program, and when is an answer sent on?
 * The cache, the core and the run are played by this file: they refuse, split, snoop and delay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "gem5/port.h"

/* ---- the run: keeps what it is told ---------------------------------------------------------- */

struct live {
    struct live_access got[64];
    size_t n;
    uint64_t owed; /* for the next who asks */
    void (*hold)(void *arg);
    void *hold_arg;
};

static void next(struct live *l) /* an event comes: what is held back comes before */
{
    void (*fn)(void *arg) = l->hold;

    l->hold = NULL;
    if (fn)
        fn(l->hold_arg);
}

void live_hold(struct live *l, void (*fn)(void *arg), void *arg)
{
    next(l);
    l->hold = fn;
    l->hold_arg = arg;
}

int live_access(struct live *l, const struct live_access *a)
{
    next(l);
    l->got[l->n++] = *a;
    return 0;
}

uint64_t live_owed(struct live *l, unsigned core)
{
    const uint64_t owed = l->owed;

    (void)core;
    l->owed = 0;
    return owed;
}

/* ---- the core -------------------------------------------------------------------------------- */

struct world {
    struct live live;
    struct port *port;
    const char *sent[64]; /* answers that the core has taken, in order */
    size_t n;
    int refuse; /* so many it does not take */
    uint64_t wake;
    int wakes;
};

static bool send(void *arg, void *answer)
{
    struct world *w = arg;

    if (w->refuse) {
        w->refuse--;
        return false;
    }
    w->sent[w->n++] = answer;
    return true;
}

static void wake(void *arg, uint64_t tick)
{
    struct world *w = arg;

    w->wake = tick;
    w->wakes++;
}

static int set_up(void **state)
{
    static struct world w;

    w = (struct world){0};
    w.port = port_new(&w.live, 0, &(struct port_core){64, &w, send, wake});
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    port_free(((struct world *)*state)->port);
    return 0;
}

static struct port_packet packet(const void *id, unsigned is, uint64_t addr, uint32_t size,
                                 uint64_t made)
{
    return (struct port_packet){.id = id,
                                .at = {.pid = 100, .pc = 0x400, .tick = made},
                                .addr = addr,
                                .made = made,
                                .size = size,
                                .is = is};
}

static void answered(struct world *w, struct port_packet k, uint64_t now)
{
    k.at.tick = now;
    assert_int_equal(port_answer(w->port, &k, (void *)(uintptr_t)k.id), 0);
}

static void asked_and_answered(struct world *w, struct port_packet k, uint64_t now)
{
    port_request(w->port, &k);
    answered(w, k, now);
}

/* n accesses were told, of which the last is this. */
static void last_is(const struct live *l, size_t n, unsigned is, uint64_t addr, uint32_t size)
{
    if (l->n != n)
        fail_msg("%zu accesses were told; %zu happened", l->n, n);
    if (l->got[n - 1].is != is || l->got[n - 1].addr != addr || l->got[n - 1].size != size)
        fail_msg("the access is told as %u at 0x%llx, %u bytes; it was %u at 0x%llx, %u",
                 l->got[n - 1].is, (unsigned long long)l->got[n - 1].addr, l->got[n - 1].size, is,
                 (unsigned long long)addr, size);
}

/* ---- questions
 * ----------------------------------------------------------------------------------- */

static void a_plain_access_is_told_at_its_answer(void **state)
{
    struct world *w = *state;
    const struct port_packet k = packet("a", PORT_READ, 0x1000, 8, 100);

    port_request(w->port, &k);
    assert_int_equal(w->live.n, 0);
    answered(w, k, 130);
    last_is(&w->live, 1, LIVE_READ, 0x1000, 8);
    assert_int_equal(w->live.got[0].at.tick, 130);
    assert_int_equal(w->live.got[0].took, 30);
    assert_int_equal(w->n, 1);
    assert_true(port_is_idle(w->port));
}

static void what_the_cache_refuses_is_told_once(void **state)
{
    struct world *w = *state;
    const struct port_packet k = packet("a", PORT_WRITE, 0x1000, 4, 100);

    for (int i = 0; i < 5; i++)
        port_request(w->port, &k);
    answered(w, k, 130);
    last_is(&w->live, 1, LIVE_WRITE, 0x1000, 4);
    /* The next packet may lie where this one lay. */
    asked_and_answered(w, packet("a", PORT_WRITE, 0x1000, 4, 140), 150);
    last_is(&w->live, 2, LIVE_WRITE, 0x1000, 4);
}

static void what_the_core_refuses_is_told_once_and_sent_later(void **state)
{
    struct world *w = *state;

    w->refuse = 2;
    asked_and_answered(w, packet("a", PORT_READ, 0x1000, 8, 100), 130);
    asked_and_answered(w, packet("b", PORT_READ, 0x1008, 8, 131), 140);
    assert_int_equal(w->n, 0);
    assert_int_equal(w->live.n, 2);
    port_pump(w->port, 145); /* it has not said that it takes answers again */
    assert_int_equal(w->n, 0);
    port_retry(w->port, 150);
    assert_int_equal(w->n, 0); /* refused again */
    port_retry(w->port, 160);
    assert_int_equal(w->n, 2);
    assert_string_equal(w->sent[0], "a");
    assert_string_equal(w->sent[1], "b");
    assert_int_equal(w->live.n, 2);
}

static void an_answer_waits_for_what_the_detector_adds(void **state)
{
    struct world *w = *state;

    w->live.owed = 50;
    asked_and_answered(w, packet("a", PORT_READ, 0x1000, 8, 100), 130);
    assert_int_equal(w->n, 0);
    assert_int_equal(w->wake, 180);
    /* One that owes nothing does not overtake it. */
    asked_and_answered(w, packet("b", PORT_READ, 0x1008, 8, 131), 140);
    assert_int_equal(w->n, 0);
    port_pump(w->port, 179);
    assert_int_equal(w->n, 0);
    port_pump(w->port, 180);
    assert_int_equal(w->n, 2);
    assert_string_equal(w->sent[0], "a");
    assert_int_equal(port_counted(w->port)->delayed, 1);
    assert_int_equal(port_counted(w->port)->ticks, 50);
}

static void an_access_over_two_lines_is_one(void **state)
{
    struct world *w = *state;
    const struct port_packet low = packet("low", PORT_READ, 0x103c, 4, 100),
                             high = packet("high", PORT_READ, 0x1040, 4, 100);

    port_request(w->port, &low);
    port_request(w->port, &high);
    port_request(w->port, &low); /* both were refused */
    port_request(w->port, &high);
    w->live.owed = 10;
    answered(w, high, 120); /* the other way round */
    assert_int_equal(w->live.n, 0);
    assert_int_equal(w->n, 1); /* the part owes nothing */
    answered(w, low, 130);
    last_is(&w->live, 1, LIVE_READ, 0x103c, 8);
    assert_int_equal(w->live.got[0].took, 30);
    assert_int_equal(w->wake, 140);
    assert_int_equal(port_counted(w->port)->split, 1);
}

/* Neighbours that are two accesses: of a later tick, another instruction, another kind, not at a
 * line. */
static void neighbours_are_not_one_access(void **state)
{
    struct world *w = *state;
    const struct port_packet a = packet("a", PORT_WRITE, 0x1038, 8, 100);
    struct port_packet b = packet("b", PORT_WRITE, 0x1040, 8, 101);

    asked_and_answered(w, a, 101);
    asked_and_answered(w, b, 110);
    last_is(&w->live, 2, LIVE_WRITE, 0x1040, 8);

    const struct port_packet c = packet("c", PORT_WRITE, 0x1038, 8, 200);

    b = packet("d", PORT_WRITE, 0x1040, 8, 200);
    b.at.pc++;
    port_request(w->port, &c);
    port_request(w->port, &b);
    answered(w, c, 210);
    answered(w, b, 210);
    assert_int_equal(w->live.n, 4);

    const struct port_packet e = packet("e", PORT_READ, 0x1038, 8, 300);

    b = packet("f", PORT_WRITE, 0x1040, 8, 300);
    port_request(w->port, &e);
    port_request(w->port, &b);
    answered(w, e, 310);
    answered(w, b, 310);
    assert_int_equal(w->live.n, 6);

    const struct port_packet g = packet("g", PORT_READ, 0x1030, 8, 400);

    b = packet("h", PORT_READ, 0x1038, 8, 400);
    port_request(w->port, &g);
    port_request(w->port, &b);
    answered(w, g, 410);
    answered(w, b, 410);
    assert_int_equal(w->live.n, 8);
    assert_int_equal(port_counted(w->port)->split, 0);
}

static void locked_halves_are_one_atomic_operation(void **state)
{
    struct world *w = *state;

    asked_and_answered(w, packet("r", PORT_READ | PORT_LOCKED, 0x1000, 4, 100), 130);
    assert_int_equal(w->live.n, 0);
    asked_and_answered(w, packet("w", PORT_WRITE | PORT_LOCKED, 0x1000, 4, 131), 135);
    last_is(&w->live, 1, LIVE_READ | LIVE_WRITE, 0x1000, 4);
    assert_int_equal(w->live.got[0].took, 34);
    assert_int_equal(w->n, 2);
    assert_int_equal(port_counted(w->port)->atomics, 1);
}

static void a_locked_read_that_is_given_up_is_a_read(void **state)
{
    struct world *w = *state;

    asked_and_answered(w, packet("r", PORT_READ | PORT_LOCKED, 0x1000, 4, 100), 130);
    asked_and_answered(w, packet("x", PORT_READ, 0x2000, 4, 140), 150);
    assert_int_equal(w->live.n, 2);
    assert_int_equal(w->live.got[0].is, LIVE_READ);
    assert_int_equal(w->live.got[0].addr, 0x1000);
    last_is(&w->live, 2, LIVE_READ, 0x2000, 4);
}

static void a_locked_operation_may_cross_a_line(void **state)
{
    struct world *w = *state;
    const unsigned read = PORT_READ | PORT_LOCKED, write = PORT_WRITE | PORT_LOCKED;
    const struct port_packet part[4] = {
        packet("rl", read, 0x103e, 2, 100), packet("rh", read, 0x1040, 2, 100),
        packet("wl", write, 0x103e, 2, 150), packet("wh", write, 0x1040, 2, 150)};

    for (int half = 0; half < 4; half += 2) {
        port_request(w->port, &part[half]);
        port_request(w->port, &part[half + 1]);
        answered(w, part[half], 120 + 50 * (uint64_t)half);
        answered(w, part[half + 1], 120 + 50 * (uint64_t)half);
    }
    last_is(&w->live, 1, LIVE_READ | LIVE_WRITE, 0x103e, 4);
}

static void what_is_no_access_passes_and_is_counted(void **state)
{
    struct world *w = *state;
    const unsigned is[] = {PORT_READ | PORT_PREFETCH, PORT_READ | PORT_FETCH,
                           PORT_WRITE | PORT_MAINTENANCE, 0, PORT_READ | PORT_NO_ADDRESS};
    const size_t n = sizeof is / sizeof *is;

    for (size_t i = 0; i < n; i++)
        asked_and_answered(w, packet("x", is[i], 0x1000 + 8 * i, 8, 100 + i), 150 + i);
    assert_int_equal(w->live.n, 0);
    assert_int_equal(w->n, n);
    assert_int_equal(port_counted(w->port)->ignored, n);
}

static void marks_and_the_stack_are_told(void **state)
{
    struct world *w = *state;

    asked_and_answered(w, packet("m", PORT_READ | PORT_MARKED, 0x1000, 4, 100), 130);
    last_is(&w->live, 1, LIVE_READ | LIVE_MARKED, 0x1000, 4);
    asked_and_answered(w, packet("s", PORT_WRITE | PORT_ON_STACK, 0x7000, 8, 140), 150);
    last_is(&w->live, 2, LIVE_WRITE | LIVE_ON_STACK, 0x7000, 8);
    assert_int_equal(port_counted(w->port)->marked, 1);
}

static void atomic_mode_tells_at_once(void **state)
{
    struct world *w = *state;
    struct port_packet k = packet("a", PORT_READ, 0x1000, 8, 100);

    w->live.owed = 7;
    assert_int_equal(port_atomic(w->port, &k, 30), 7);
    last_is(&w->live, 1, LIVE_READ, 0x1000, 8);
    assert_int_equal(w->live.got[0].took, 30);
}

static void atomic_mode_waits_where_a_line_ends(void **state)
{
    struct world *w = *state;
    struct port *other = port_new(&w->live, 1, &(struct port_core){64, w, send, wake});
    struct port_packet low = packet("l", PORT_READ, 0x103c, 4, 100),
                       high = packet("h", PORT_READ, 0x1040, 4, 100),
                       far = packet("f", PORT_READ, 0x1080, 8, 101);

    port_atomic(w->port, &low, 30);
    assert_int_equal(w->live.n, 0);
    port_atomic(w->port, &high, 20);
    last_is(&w->live, 1, LIVE_READ, 0x103c, 8);
    assert_int_equal(w->live.got[0].took, 50);

    /* Nothing goes on: what waited comes before another core's access, and before one that waits.
     */
    port_atomic(w->port, &low, 30);
    port_atomic(other, &far, 10);
    assert_int_equal(w->live.n, 3);
    assert_int_equal(w->live.got[1].addr, 0x103c);
    port_atomic(w->port, &low, 30);
    low.at.pc++;
    port_atomic(other, &low, 30);
    last_is(&w->live, 4, LIVE_READ, 0x103c, 4);
    next(&w->live);
    last_is(&w->live, 5, LIVE_READ, 0x103c, 4);
    port_free(other);
}

int main(void)
{
#define Q(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        Q(a_plain_access_is_told_at_its_answer),
        Q(what_the_cache_refuses_is_told_once),
        Q(what_the_core_refuses_is_told_once_and_sent_later),
        Q(an_answer_waits_for_what_the_detector_adds),
        Q(an_access_over_two_lines_is_one),
        Q(neighbours_are_not_one_access),
        Q(locked_halves_are_one_atomic_operation),
        Q(a_locked_read_that_is_given_up_is_a_read),
        Q(a_locked_operation_may_cross_a_line),
        Q(what_is_no_access_passes_and_is_counted),
        Q(marks_and_the_stack_are_told),
        Q(atomic_mode_tells_at_once),
        Q(atomic_mode_waits_where_a_line_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
