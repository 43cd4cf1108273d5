/* t_lx_region.c - the page rule and the pieces that obey it, against bytes one by one; and what
 * instructions are as events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/isa/lardx86/codec.h"

/* ---- the rule ------------------------------------------------------------------------------- */

static bool fits_naive(sim_addr addr, uint64_t size, uint64_t page)
{
    for (uint64_t k = 0; k < size; k++)
        if ((addr + k) / page != addr / page)
            return false;
    return true;
}

static void a_region_fits_when_all_its_bytes_are_in_one_page(void **state)
{
    (void)state;
    for (uint64_t page = 1; page <= 32; page *= 2)
        for (uint64_t a = 0; a < 80; a++)
            for (uint64_t size = 0; size < 70; size++)
                if (lx_region_fits(a - 40, size, page) != fits_naive(a - 40, size, page))
                    fail_msg("%llu bytes from 40 - %llu, page %llu", (unsigned long long)size,
                             (unsigned long long)a, (unsigned long long)page);
}

static void a_region_of_any_size_is_judged(void **state)
{
    const uint64_t top = UINT64_C(1) << 63;

    (void)state;
    assert_false(lx_region_fits(0, UINT64_MAX, 4096));
    assert_false(lx_region_fits(4095, UINT64_MAX, 4096));
    assert_false(lx_region_fits(1, UINT64_MAX, 1));
    assert_true(lx_region_fits(UINT64_MAX, 1, 4096));
    assert_false(lx_region_fits(UINT64_MAX, 2, 4096));
    assert_true(lx_region_fits(0, top, top));
    assert_true(lx_region_fits(top, top, top));
    assert_false(lx_region_fits(1, top, top));
    assert_true(lx_region_fits(UINT64_MAX, 0, 1));
}

/* ---- pieces --------------------------------------------------------------------------------- */

static void a_region_comes_in_pieces_one_a_page_from_the_start(void **state)
{
    (void)state;
    for (uint64_t page = 1; page <= 32; page *= 2)
        for (uint64_t a = 0; a < 80; a++)
            for (uint64_t size = 0; size < 70; size++) {
                struct lx_split s = lx_split_region(a - 40, size, page);
                struct lx_piece p;
                sim_addr next = a - 40;
                uint64_t pieces = 0, pages = 0;

                for (; lx_split_next(&s, &p); pieces++) {
                    assert_int_equal(p.dst, next);
                    assert_int_equal(p.src, next);
                    assert_true(p.size > 0 && fits_naive(next, p.size, page));
                    next += p.size;
                }
                assert_int_equal(next, a - 40 + size);
                for (uint64_t k = 0; k < size; k++)
                    pages += k == 0 || (a - 40 + k) % page == 0;
                assert_int_equal(pieces, pages);
                assert_false(lx_split_next(&s, &p));
            }
}

/* Memory of which only 256 bytes are looked at: every address stands for one, also beyond a wrap.
 */
enum { RING = 256, LARGEST = 48 };
struct ring {
    unsigned char at[RING];
};

static struct ring ring_new(void)
{
    struct ring r;

    for (unsigned i = 0; i < RING; i++)
        r.at[i] = (unsigned char)i;
    return r;
}

static void ring_clear(struct ring *r, sim_addr a, uint64_t size)
{
    for (uint64_t k = 0; k < size; k++)
        r->at[(a + k) % RING] = 0;
}

static void ring_copy(struct ring *r, sim_addr dst, sim_addr src, uint64_t size)
{
    unsigned char taken[RING];

    assert_in_range(size, 0, RING);
    for (uint64_t k = 0; k < size; k++)
        taken[k] = r->at[(src + k) % RING];
    for (uint64_t k = 0; k < size; k++)
        r->at[(dst + k) % RING] = taken[k];
}

static void ring_move(struct ring *r, sim_addr dst, sim_addr src, uint64_t size)
{
    struct ring was = *r;

    ring_clear(r, src, size);
    for (uint64_t k = 0; k < size; k++)
        r->at[(dst + k) % RING] = was.at[(src + k) % RING];
}

/* How often a copy has to be cut, counted at each byte. */
static uint64_t pieces_naive(sim_addr dst, sim_addr src, uint64_t size, uint64_t page)
{
    uint64_t n = size > 0;

    for (uint64_t k = 1; k < size; k++)
        n += (dst + k) % page == 0 || (src + k) % page == 0;
    return n;
}

static void check_copy(sim_addr dst, sim_addr src, uint64_t size, uint64_t page)
{
    struct ring whole = ring_new(), pieces = whole;
    struct lx_split s = lx_split_copy(dst, src, size, page);
    struct lx_piece p;
    uint64_t n = 0;

    ring_copy(&whole, dst, src, size);
    for (; lx_split_next(&s, &p); n++) {
        assert_true(p.size > 0);
        assert_true(fits_naive(p.dst, p.size, page) && fits_naive(p.src, p.size, page));
        assert_int_equal(p.dst - dst, p.src - src);
        assert_true(p.dst - dst < size);
        ring_copy(&pieces, p.dst, p.src, p.size);
    }
    assert_memory_equal(&whole, &pieces, sizeof whole);
    assert_int_equal(n, pieces_naive(dst, src, size, page));
}

static void a_copy_in_pieces_is_the_copy(void **state)
{
    (void)state;
    for (uint64_t page = 4; page <= 16; page *= 2)
        for (uint64_t size = 0; size < LARGEST; size += size < 20 ? 1 : 5)
            for (uint64_t dst = 0; dst < 64; dst += 1 + dst % 3)
                for (uint64_t src = 0; src < 64; src++)
                    check_copy(dst - 40, src - 40, size, page);
}

/* ---- events by hand ------------------------------------------------------------------------- */

static const struct lx_place here = {.thread = 3, .kernel = 9, .page = 16};

static void apply(struct ring *r, const struct event *ev, int records)
{
    for (int i = 0; i < records; i += (int)event_records(&ev[i])) {
        if (ev[i].kind == EV_COPY)
            ring_copy(r, ev[i].addr, ev[i + 1].addr, ev[i].aux);
        else if (ev[i].kind == EV_CLEAR)
            ring_clear(r, ev[i].addr, ev[i].aux);
        else
            fail_msg("a move has an event of kind %u", ev[i].kind);
    }
}

static void check_move(sim_addr dst, sim_addr src, uint64_t size)
{
    struct ring whole = ring_new(), pieces = whole;
    struct lx_split s = lx_split_copy(dst, src, size, here.page);
    struct lx_piece p;
    struct event ev[LX_MAX_RECORDS];
    struct err e = {0};

    ring_move(&whole, dst, src, size);
    while (lx_split_next(&s, &p)) {
        const struct lx_act a = {.op = LX_MOVEHISTORY, .value = {p.src, p.dst, p.size}};
        const int n = lx_events(&a, &here, ev, &e);
        assert_in_range(n, 2, 3);
        apply(&pieces, ev, n);
    }
    assert_memory_equal(&whole, &pieces, sizeof whole);
}

static void a_move_in_pieces_clears_what_it_leaves_and_nothing_else(void **state)
{
    (void)state;
    for (uint64_t size = 0; size < LARGEST; size += size < 20 ? 1 : 5)
        for (uint64_t dst = 0; dst < 64; dst += 1 + dst % 3)
            for (uint64_t src = 0; src < 64; src++)
                check_move(0x1000 + dst, 0x1000 + src, size);
}

static void check_event(const struct lx_act *a, const struct event *want, int records)
{
    struct event ev[LX_MAX_RECORDS];
    struct err e = {0};
    struct lx_act back;

    memset(ev, 0xff, sizeof ev);
    assert_int_equal(lx_events(a, &here, ev, &e), records);
    assert_memory_equal(ev, want, (size_t)records * sizeof *ev);
    assert_true(lx_of_event(ev, &back));
    assert_memory_equal(back.value, a->value, sizeof a->value);
    assert_int_equal(back.op, a->op);
    assert_int_equal(back.access, a->access);
    assert_int_equal(back.plain, a->plain);
}

static void each_instruction_is_its_event_and_comes_back(void **state)
{
    enum { RELAXED = ORDER_RELAXED << EVF_ORDER_SHIFT };
    static const struct {
        struct lx_act act;
        struct event ev[2];
        int n;
    } row[] = {
        {{.op = LX_TRACKED, .access = EV_READ, .value = {0x1004, 4}},
         {{.kind = EV_READ, .tid = 3, .addr = 0x1004, .size = 4}},
         1},
        {{.op = LX_TRACKED, .access = EV_WRITE, .value = {15, 8}}, /* may leave its page */
         {{.kind = EV_WRITE, .tid = 3, .addr = 15, .size = 8}},
         1},
        {{.op = LX_TRACKED, .access = EV_RMW, .value = {0x1004, 4}},
         {{.kind = EV_RMW, .tid = 3, .addr = 0x1004, .size = 4, .flags = RELAXED}},
         1},
        {{.op = LX_TRACKED, .access = EV_WRITE, .plain = true, .value = {0x1004, 1}},
         {{.kind = EV_WRITE, .tid = 3, .addr = 0x1004, .size = 1, .flags = EVF_SYSTEM}},
         1},
        {{.op = LX_TRACKED, .access = EV_RMW, .plain = true, .value = {0x1004, 1}},
         {{.kind = EV_RMW, .tid = 3, .addr = 0x1004, .size = 1, .flags = EVF_SYSTEM | RELAXED}},
         1},
        {{.op = LX_THREAD, .value = {65535}}, {{.kind = EV_THREAD, .tid = 65535, .aux = 9}}, 1},
        {{.op = LX_READVC, .value = {7, 40}},
         {{.kind = EV_READVC, .tid = 3, .aux = 7, .addr = 40}},
         1},
        {{.op = LX_WRITEVC, .value = {65535, 40}},
         {{.kind = EV_WRITEVC, .tid = 3, .aux = 65535, .addr = 40}},
         1},
        {{.op = LX_CLEARHISTORY, .value = {0x1008, 8}},
         {{.kind = EV_CLEAR, .tid = 3, .addr = 0x1008, .aux = 8}},
         1},
        {{.op = LX_COPYHISTORY, .value = {0x1000, 0x2000, 16}},
         {{.kind = EV_COPY, .tid = 3, .addr = 0x2000, .aux = 16, .flags = EVF_MORE},
          {.addr = 0x1000}},
         2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(row); i++)
        check_event(&row[i].act, row[i].ev, row[i].n);
}

static void a_region_of_no_bytes_is_no_event(void **state)
{
    struct event ev[LX_MAX_RECORDS];
    struct err e = {0};

    (void)state;
    for (unsigned op = LX_CLEARHISTORY; op <= LX_MOVEHISTORY; op++)
        assert_int_equal(
            lx_events(&(struct lx_act){.op = (uint8_t)op, .value = {15, 0}}, &here, ev, &e), 0);
    assert_int_equal(
        lx_events(&(struct lx_act){.op = LX_MOVEHISTORY, .value = {0, 0, 16}}, &here, ev, &e), 2);
}

static void what_no_event_can_say_is_an_error(void **state)
{
    static const struct {
        struct lx_act act;
        const char *says;
    } bad[] = {
        {{.op = LX_THREAD, .value = {65536}}, "thread: there is no thread 65536"},
        {{.op = LX_READVC, .value = {65536, 1}}, "readvc: the index of a clock's entry"},
        {{.op = LX_WRITEVC, .value = {1, UINT64_C(1) << 46}}, "writevc: the value of a clock's"},
        {{.op = LX_TRACKED, .access = EV_READ, .value = {8, 0}}, "tracked: an access of 0 bytes"},
        {{.op = LX_TRACKED, .access = EV_READ, .value = {8, 65537}}, "more than 65536 bytes"},
        {{.op = LX_TRACKED, .access = EV_READ, .value = {8, (UINT64_C(1) << 32) + 4}},
         "an access of 4294967300 bytes"},
        {{.op = LX_TRACKED, .access = EV_READ, .value = {UINT64_MAX, 2}}, "beyond the last"},
        {{.op = LX_CLEARHISTORY, .value = {0x1008, 9}},
         "clearhistory: the 9 bytes from 0x1008 leave their page of 16 bytes"},
        {{.op = LX_CLEARHISTORY, .value = {UINT64_MAX, 2}}, "leave their page"},
        {{.op = LX_COPYHISTORY, .value = {0x1008, 0x2000, 9}},
         "copyhistory: the 9 bytes from "
         "0x1008"},
        {{.op = LX_COPYHISTORY, .value = {0x1000, 0x2008, 9}},
         "copyhistory: the 9 bytes from "
         "0x2008"},
        {{.op = LX_MOVEHISTORY, .value = {0x1000, 0x2008, 9}}, "movehistory: the 9 bytes from"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct event ev[LX_MAX_RECORDS];
        struct err e = {0};

        assert_int_equal(lx_events(&bad[i].act, &here, ev, &e), -1);
        assert_int_equal(e.code, LARD_TRACE);
        if (!strstr(e.text, bad[i].says))
            fail_msg("row %zu says %s", i, e.text);
    }
}

/* Whatever kind: it is an instruction, of the same kind of event, or above this level. */
static void the_events_of_this_level_are_those_that_are_instructions(void **state)
{
    static const uint8_t ours[] = {EV_READ,   EV_WRITE,   EV_RMW,   EV_THREAD,
                                   EV_READVC, EV_WRITEVC, EV_CLEAR, EV_COPY};

    (void)state;
    for (unsigned kind = 1; kind < EV_KINDS; kind++) {
        const struct event ev[2] = {{.kind = (uint8_t)kind, .aux = 1}};
        struct lx_act a;

        assert_int_equal(lx_of_event(ev, &a), memchr(ours, (int)kind, sizeof ours) != NULL);
    }
}

static void an_access_that_a_runtime_does_not_mark_has_no_prefix(void **state)
{
    static const uint16_t flags[] = {EVF_SYSTEM, EVF_STACK, EVF_VOLATILE, EVF_FINAL};
    struct lx_act a;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
        const struct event ev = {.kind = EV_READ, .addr = 8, .size = 4, .flags = flags[i]};
        assert_true(lx_of_event(&ev, &a));
        assert_true(a.plain);
    }
    const struct event array = {.kind = EV_READ, .addr = 8, .size = 4, .flags = EVF_ARRAY};
    assert_true(lx_of_event(&array, &a));
    assert_false(a.plain);
}

/* ---- operands ------------------------------------------------------------------------------- */

static struct lx_act evaluate(const char *text)
{
    uint64_t reg[LX_REGISTERS];
    struct lx_insn i;
    struct err e = {0};

    for (unsigned r = 0; r < LX_REGISTERS; r++)
        reg[r] = 0x1000 * (r + 1);
    reg[LX_NO_INDEX] = 77; /* rsp */
    reg[15] = UINT64_MAX;
    if (lx_assemble(text, &i, &e))
        fail_msg("%s: %s", text, e.text);
    return lx_evaluate(&i, reg);
}

static void operands_have_the_values_of_their_registers(void **state)
{
    static const struct {
        const char *text;
        uint64_t value[3];
    } row[] = {
        {"thread r8", {0x9000}},
        {"readvc rax, rcx", {0x1000, 0x2000}},
        {"writevc r15, rsp", {UINT64_MAX, 77}},
        {"copyhistory rax, rcx, rdx", {0x1000, 0x2000, 0x3000}},
        {"tracked mov eax, [rcx]", {0x2000, 4}},
        {"tracked mov [rcx+rdx*8-0x10], al", {0x2000 + 8 * 0x3000 - 0x10, 1}},
        {"tracked mov ax, [rsp+0x7fffffff]", {77 + UINT64_C(0x7fffffff), 2}},
        {"tracked mov rax, [rax-0x80000000]", {UINT64_C(0xffffffff80001000), 8}},
        {"tracked xchg [r15+rax*2], rax", {0x1fff, 8}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
        const struct lx_act a = evaluate(row[i].text);
        assert_memory_equal(a.value, row[i].value, sizeof a.value);
    }
    assert_int_equal(evaluate("tracked mov eax, [rcx]").access, EV_READ);
    assert_int_equal(evaluate("tracked mov [rcx], eax").access, EV_WRITE);
    assert_int_equal(evaluate("tracked xchg [rcx], eax").access, EV_RMW);
    assert_int_equal(evaluate("tracked lock xadd [rcx], eax").access, EV_RMW);
    assert_int_equal(evaluate("tracked lock cmpxchg [rcx], eax").access, EV_RMW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_fits_when_all_its_bytes_are_in_one_page),
        cmocka_unit_test(a_region_of_any_size_is_judged),
        cmocka_unit_test(a_region_comes_in_pieces_one_a_page_from_the_start),
        cmocka_unit_test(a_copy_in_pieces_is_the_copy),
        cmocka_unit_test(a_move_in_pieces_clears_what_it_leaves_and_nothing_else),
        cmocka_unit_test(each_instruction_is_its_event_and_comes_back),
        cmocka_unit_test(a_region_of_no_bytes_is_no_event),
        cmocka_unit_test(what_no_event_can_say_is_an_error),
        cmocka_unit_test(the_events_of_this_level_are_those_that_are_instructions),
        cmocka_unit_test(an_access_that_a_runtime_does_not_mark_has_no_prefix),
        cmocka_unit_test(operands_have_the_values_of_their_registers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
