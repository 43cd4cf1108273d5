/* t_lardx86.c - the instructions' bytes: by hand, over all registers and widths, over all short
 * inputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/isa/lardx86/lx_each.h"

/* ---- by hand -------------------------------------------------------------------------------- */

/* What stands behind 06 is what GNU as makes of the access. */
static const struct {
    const char *text, *bytes;
    size_t n;
} by_hand[] = {
#define HAND(text, bytes)                                                                          \
    {                                                                                              \
        text, bytes, sizeof bytes - 1                                                              \
    }
    HAND("thread rax", "\x0f\x0c\x00\xc0"),
    HAND("thread r15", "\x41\x0f\x0c\x00\xc7"),
    HAND("readvc rcx, rdx", "\x0f\x0c\x01\xca"),
    HAND("readvc r9, rdx", "\x44\x0f\x0c\x01\xca"),
    HAND("writevc rbx, r8", "\x41\x0f\x0c\x02\xd8"),
    HAND("writevc r15, r14", "\x45\x0f\x0c\x02\xfe"),
    HAND("clearhistory rdi, rsi", "\x0f\x0c\x03\xfe"),
    HAND("copyhistory rsi, rdi, rcx", "\x0f\x0c\x04\xf7\x10"),
    HAND("copyhistory rsi, r8, r15", "\x41\x0f\x0c\x04\xf0\xf0"),
    HAND("movehistory rax, rax, rax", "\x0f\x0c\x05\xc0\x00"),
    HAND("tracked mov eax, [rbx]", "\x06\x8b\x03"),
    HAND("tracked mov [rsp], sil", "\x06\x40\x88\x34\x24"),
    HAND("tracked mov rax, [r13]", "\x06\x49\x8b\x45\x00"),
    HAND("tracked mov [rbx+r12*2-0x8], dl", "\x06\x42\x88\x54\x63\xf8"),
    HAND("tracked xchg [rbx], r8w", "\x06\x66\x44\x87\x03"),
    HAND("tracked lock xadd [rbx], ax", "\x06\x66\xf0\x0f\xc1\x03"),
    HAND("tracked lock xadd [r12+r13*4+0x100], r9", "\x06\xf0\x4f\x0f\xc1\x8c\xac\x00\x01\x00\x00"),
    HAND("tracked lock cmpxchg [rbp+rcx], cl", "\x06\xf0\x0f\xb0\x4c\x0d\x00"),
#undef HAND
};

static void what_was_encoded_by_hand_is_encoded_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(by_hand); i++) {
        const unsigned char *bytes = (const unsigned char *)by_hand[i].bytes;
        unsigned char code[LX_MAX_BYTES];
        char text[LX_MAX_TEXT];
        struct lx_insn a, b;
        struct err e = {0};

        assert_int_equal(lx_assemble(by_hand[i].text, &a, &e), 0);
        assert_int_equal(lx_encode(&a, code), by_hand[i].n);
        assert_memory_equal(code, bytes, by_hand[i].n);
        assert_int_equal(lx_decode(bytes, by_hand[i].n, &b), by_hand[i].n);
        assert_string_equal(lx_disassemble(&b, text), by_hand[i].text);
    }
}

static void what_is_no_access_that_we_track_or_not_the_shortest_is_not_ours(void **state)
{
    static const struct {
        const char *why, *bytes;
        size_t n;
    } bad[] = {
#define BAD(why, bytes) {why, bytes, sizeof bytes - 1}
        BAD("no prefix", "\x8b\x03"),
        BAD("a register, not memory", "\x06\x8b\xc3"),
        BAD("rip-relative", "\x06\x8b\x05"),
        BAD("no base", "\x06\x8b\x04\x25"),
        BAD("disp 0 in 8 bits", "\x06\x8b\x43\x00"),
        BAD("disp 1 in 32 bits", "\x06\x8b\x83\x01\x00\x00\x00"),
        BAD("disp -1 in 32 bits", "\x06\x8b\x83\xff\xff\xff\xff"),
        BAD("SIB without an index", "\x06\x8b\x04\x23"),
        BAD("a scale without an index", "\x06\x8b\x04\x64"),
        BAD("ah", "\x06\x8a\x23"),
        BAD("REX that says nothing", "\x06\x40\x8b"),
        BAD("REX that says nothing, 8 bits", "\x06\x40\x8a\x03"),
        BAD("REX.X without an index register", "\x06\x42\x8b\x03"),
        BAD("REX.W for 8 bits", "\x06\x48\x8a"),
        BAD("66 and REX.W", "\x06\x66\x48"),
        BAD("66 for 8 bits", "\x06\x66\x88"),
        BAD("lock before 66", "\x06\xf0\x66"),
        BAD("lock on a store", "\x06\xf0\x88"),
        BAD("xadd without lock", "\x06\x0f"),
        BAD("REX before the prefix", "\x48\x06"),
        BAD("the prefix twice", "\x06\x06"),
        BAD("the prefix on ours", "\x06\x0f\x0c"),
        BAD("ours in memory", "\x0f\x0c\x01\x0a"),
        BAD("a seventh", "\x0f\x0c\x06"),
        BAD("a form 0F 0C for the prefix's byte", "\x0f\x0c\x07"),
        BAD("thread /1", "\x0f\x0c\x00\xc8"),
        BAD("thread with REX.R", "\x44\x0f\x0c\x00"),
        BAD("ours with REX.W", "\x48\x0f"),
        BAD("ours with REX.X", "\x42\x0f"),
        BAD("ours with an idle REX", "\x40\x0f"),
        BAD("bits below the third register", "\x0f\x0c\x04\xc0\x11"),
#undef BAD
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct lx_insn to = {.op = 77};

        if (lx_decode((const unsigned char *)bad[i].bytes, bad[i].n, &to) != LX_NOT_OURS)
            fail_msg("%s is taken", bad[i].why);
        assert_int_equal(to.op, 77);
    }
}

static void what_is_not_valid_has_no_encoding(void **state)
{
    static const struct lx_memory m = {.index = LX_NO_INDEX, .scale = 1};
    const struct lx_insn bad[] = {
        {.op = LX_OPS},
        {.op = LX_THREAD, .reg = {16}},
        {.op = LX_THREAD, .reg = {1, 1}},
        {.op = LX_READVC, .reg = {1, 1, 1}},
        {.op = LX_COPYHISTORY, .reg = {1, 1, 16}},
        {.op = LX_WRITEVC, .width = 8},
        {.op = LX_WRITEVC, .mem = m},
        {.op = LX_TRACKED, .width = 3, .mem = m},
        {.op = LX_TRACKED, .width = 16, .mem = m},
        {.op = LX_TRACKED, .mem = m},
        {.op = LX_TRACKED, .reg = {0, 1}, .width = 4, .mem = m},
        {.op = LX_TRACKED, .carrier = LX_CARRIERS, .width = 4, .mem = m},
        {.op = LX_TRACKED, .width = 4, .mem = {.index = LX_NO_INDEX, .scale = 2}},
        {.op = LX_TRACKED, .width = 4, .mem = {.base = 16, .scale = 1}},
        {.op = LX_TRACKED, .width = 4, .mem = {.index = 16, .scale = 1}},
        {.op = LX_TRACKED, .width = 4, .mem = {.index = 1}},
    };
    unsigned char code[LX_MAX_BYTES];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_int_equal(lx_encode(&bad[i], code), 0);
}

/* ---- all of them ---------------------------------------------------------------------------- */

enum { PREFIXES = 1 << 24 };

struct tally { /* of what there is, by the encoder; of short ones all, for disp does not reach there
                */
    uint64_t n, of_length[LX_MAX_BYTES + 1];
    unsigned char *begins[4]; /* owns; by length: bit set: one of ours begins so, and is longer */
};

static void check_bytes(void *arg, const struct lx_insn *i)
{
    struct tally *t = arg;
    unsigned char code[LX_MAX_BYTES];
    struct lx_insn back;
    const unsigned n = lx_encode(i, code);

    assert_in_range(n, 3, LX_MAX_BYTES);
    assert_int_equal(lx_decode(code, n, &back), n);
    assert_true(same_insn(i, &back));
    assert_int_equal(lx_decode(code, n - 1, &back), LX_MORE);
    t->n++;
    t->of_length[n]++;
    for (uint32_t k = 1, key = 0; k <= 3 && k < n; k++) {
        key = key << 8 | code[k - 1];
        t->begins[k][key / 8] |= (unsigned char)(1 << key % 8);
    }
}

static struct tally tally_all(void)
{
    struct tally t = {0};

    for (unsigned k = 1; k <= 3; k++)
        t.begins[k] = xcalloc(PREFIXES / 8, 1);
    each_own(check_bytes, &t);
    assert_int_equal(t.n, 16 + 3 * 256 + 2 * 4096);
    each_tracked(check_bytes, &t);
    assert_int_equal(t.n, 16 + 3 * 256 + 2 * 4096 + 5 * 4 * 16 * 16 * (15 * 4 + 1) * 8);
    return t;
}

/* The last n bytes before a page that nobody may read. */
static unsigned char *fence(size_t *bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *p =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p + page, page, PROT_NONE), 0);
    *bytes = 2 * page;
    return p + page;
}

static int decode_before(unsigned char *end, uint32_t key, unsigned n, struct lx_insn *to)
{
    for (unsigned k = 0; k < n; k++)
        end[-1 - (int)k] = (unsigned char)(key >> 8 * k);
    return lx_decode(end - n, n, to);
}

struct walk {
    unsigned char *end; /* of what may be read */
    uint64_t ours[5], longer[5];
};

/* n bytes that have what they need; they are the encoding of what they are decoded to. */
static void check_accepted(uint32_t key, unsigned n, const struct lx_insn *i)
{
    unsigned char code[LX_MAX_BYTES];
    uint32_t again = 0;

    assert_int_equal(lx_encode(i, code), n);
    for (unsigned k = 0; k < n; k++)
        again = again << 8 | code[k];
    assert_int_equal(again, key);
}

/* All inputs that begin with these n bytes, up to 4 bytes. before: what was said of n - 1. Where
 * the answer is known three bytes early or more, the fourth byte is but one of 256. */
static void walk_inputs(struct walk *w, uint32_t key, unsigned n, int before)
{
    struct lx_insn i;
    const int said = decode_before(w->end, key, n, &i);

    if (before != LX_MORE) {
        if (said != before)
            fail_msg("0x%x (%u bytes): %d, and with a byte less %d", key, n, said, before);
    } else if (said > 0) {
        assert_int_equal(said, n);
        check_accepted(key, n, &i);
        w->ours[n]++;
    } else if (said == LX_MORE) {
        w->longer[n]++;
    }
    const bool all = n < 3 || (n == 3 && said == LX_MORE);
    const uint32_t step = all ? 1 : 256, first = all ? 0 : key * 0x9e3779b9u >> 24;
    for (uint32_t b = first; n < 4 && b < 256; b += step)
        walk_inputs(w, key << 8 | b, n + 1, said);
}

static unsigned is_of_4(const struct lx_insn *i)
{
    unsigned char code[LX_MAX_BYTES];

    return lx_encode(i, code) == 4;
}

static void count_own(void *arg, const struct lx_insn *i)
{
    uint64_t *n = arg;

    *n += is_of_4(i);
}

/* An index leaves no byte for disp. */
static uint64_t count_memory(struct lx_insn *i)
{
    uint64_t n = 0;

    for (unsigned m = 0; m < 16 * 4 * 16; m++) {
        i->mem = (struct lx_memory){m & 15, m >> 6 & 15, (uint8_t)(1u << (m >> 4 & 3)), 0};
        if (i->mem.index != LX_NO_INDEX)
            n += is_of_4(i);
    }
    for (int m = 0; m < 16 * 256; m++) {
        i->mem = (struct lx_memory){m & 15, LX_NO_INDEX, 1, (m >> 4) - 128};
        n += is_of_4(i);
    }
    return n;
}

/* What the encoder has of 4 bytes. */
static uint64_t count_of_4(void)
{
    uint64_t n = 0;

    each_own(count_own, &n);
    for (unsigned k = 0; k < LX_CARRIERS * 4 * 16; k++)
        n += count_memory(&(struct lx_insn){.op = LX_TRACKED,
                                            .reg = {k & 15},
                                            .carrier = (uint8_t)(k >> 6),
                                            .width = (uint8_t)(1u << (k >> 4 & 3))});
    return n;
}

static uint64_t bits_set(const unsigned char *p)
{
    uint64_t n = 0;

    for (size_t i = 0; i < PREFIXES / 8; i++)
        n += (uint64_t)__builtin_popcount(p[i]);
    return n;
}

static void of_all_short_inputs_ours_are_taken_and_no_other_and_no_byte_beyond_is_read(void **state)
{
    struct tally t = tally_all();
    size_t bytes;
    struct walk w = {.end = fence(&bytes)};
    struct lx_insn i;

    (void)state;
    assert_int_equal(lx_decode(w.end, 0, &i), LX_MORE);
    for (uint32_t b = 0; b < 256; b++)
        walk_inputs(&w, b, 1, LX_MORE);
    for (unsigned n = 1; n <= 3; n++) {
        assert_int_equal(w.ours[n], t.of_length[n]);
        assert_int_equal(w.longer[n], bits_set(t.begins[n]));
    }
    assert_int_equal(w.ours[4], count_of_4());
    assert_true(w.ours[3] > 0 && w.longer[3] > 0);
    for (unsigned n = 1; n <= 3; n++)
        free(t.begins[n]);
    munmap(w.end - bytes / 2, bytes);
}

static void a_damaged_encoding_is_another_one_or_not_ours(void **state)
{
    struct rng r;
    uint64_t taken = 0;

    (void)state;
    rng_seed(&r, 5);
    for (unsigned round = 0; round < 300000; round++) {
        unsigned char code[LX_MAX_BYTES] = {0}, again[LX_MAX_BYTES];
        struct lx_insn i = {.op = LX_TRACKED,
                            .reg = {(uint8_t)rng_below(&r, 16)},
                            .carrier = (uint8_t)rng_below(&r, LX_CARRIERS),
                            .width = (uint8_t)(1u << rng_below(&r, 4)),
                            .mem = {(uint8_t)rng_below(&r, 16), (uint8_t)rng_below(&r, 4), 4,
                                    (int32_t)(uint32_t)rng_next(&r)}};
        const unsigned n = lx_encode(&i, code);
        assert_true(n > 0);
        code[rng_below(&r, n)] = (unsigned char)rng_next(&r);
        const int said = lx_decode(code, sizeof code, &i);
        if (said <= 0)
            continue;
        taken++;
        assert_int_equal(lx_encode(&i, again), said);
        assert_memory_equal(code, again, (size_t)said);
    }
    assert_in_range(taken, 10000, 290000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_encoded_by_hand_is_encoded_alike),
        cmocka_unit_test(what_is_no_access_that_we_track_or_not_the_shortest_is_not_ours),
        cmocka_unit_test(what_is_not_valid_has_no_encoding),
        cmocka_unit_test(
            of_all_short_inputs_ours_are_taken_and_no_other_and_no_byte_beyond_is_read),
        cmocka_unit_test(a_damaged_encoding_is_another_one_or_not_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
