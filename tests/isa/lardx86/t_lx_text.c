/* t_lx_text.c - the instructions' text, both ways, and that docs/lardx86.md shows the table as it
 * is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/isa/lardx86/lx_each.h"

/* ---- text ----------------------------------------------------------------------------------- */

static void check_text(void *arg, const struct lx_insn *i)
{
    char text[LX_MAX_TEXT];
    struct lx_insn back;
    struct err e = {0};

    (void)arg;
    if (lx_assemble(lx_disassemble(i, text), &back, &e))
        fail_msg("%s: %s", text, e.text);
    if (!same_insn(i, &back))
        fail_msg("%s is read as another one", text);
}

static void text_comes_back_as_the_same_instruction(void **state)
{
    static const struct lx_memory m = {15, 14, 8, INT32_MIN};

    (void)state;
    each_own(check_text, NULL);
    for (unsigned c = 0; c < LX_CARRIERS; c++)
        for (unsigned w = 1; w <= 8; w *= 2)
            for (unsigned r = 0; r < LX_REGISTERS; r++)
                check_text(NULL, &(struct lx_insn){.op = LX_TRACKED,
                                                   .reg = {(uint8_t)r},
                                                   .carrier = (uint8_t)c,
                                                   .width = (uint8_t)w,
                                                   .mem = m});
    each_memory(&(struct lx_insn){.op = LX_TRACKED, .carrier = LX_CMPXCHG, .width = 1}, check_text,
                NULL);
}

static void blanks_case_and_the_base_of_numbers_do_not_matter(void **state)
{
    static const char *const same[][2] = {
        {"  COPYHISTORY\tRsi ,rdi,  RCX ", "copyhistory rsi, rdi, rcx"},
        {"tracked mov eax,[ rbx + rcx * 4 + 16 ]", "tracked mov eax, [rbx+rcx*4+0x10]"},
        {"Tracked Lock  XADD [r8-0X7F],R9D", "tracked lock xadd [r8-0x7f], r9d"},
        {"tracked mov [rax+rbx*1+0], al", "tracked mov [rax+rbx], al"},
        {"tracked mov [rax+0x007fffffff], al", "tracked mov [rax+0x7fffffff], al"},
        {"tracked mov [rax-2147483648], al", "tracked mov [rax-0x80000000], al"},
    };

    (void)state;
    for (size_t k = 0; k < ARRAY_SIZE(same); k++) {
        char text[LX_MAX_TEXT];
        struct lx_insn i;
        struct err e = {0};

        if (lx_assemble(same[k][0], &i, &e))
            fail_msg("%s: %s", same[k][0], e.text);
        assert_string_equal(lx_disassemble(&i, text), same[k][1]);
    }
}

static void text_that_is_wrong_is_told_where_and_what_must_be_there(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "column 1: here must be an instruction: tracked, thread, readvc, writevc, "},
        {"mov eax, [rbx]", "column 1: here must be an instruction"},
        {"threads rax", "column 1: here must be an instruction"},
        {"thread", "column 7: here must be a 64-bit register"},
        {"thread eax", "column 8: here must be a 64-bit register"},
        {"thread rax, rbx", "column 11: here must be the end"},
        {"readvc rax", "column 11: here must be a comma"},
        {"copyhistory rax, rbx", "column 21: here must be a comma"},
        {"writevc rax, r16", "column 14: here must be a 64-bit register"},
        {"tracked", "column 8: here must be an access that can be tracked: mov, xchg, lock xadd, "
                    "lock cmpxchg"},
        {"tracked add [rax], eax", "column 9: here must be an access"},
        {"tracked lock mov [rax], eax", "column 14: here must be an access"},
        {"tracked xchg eax, [rax]", "column 14: here must be \"[\": this access has memory first"},
        {"tracked mov eax, ebx", "column 18: here must be \"[\": one operand"},
        {"tracked mov [rax], [rbx]", "column 20: here must be a register, whose width"},
        {"tracked mov [rax], ah", "column 20: here must be a register, whose width"},
        {"tracked mov [eax], al", "column 14: here must be a 64-bit register"},
        {"tracked mov [16], al", "column 14: here must be a 64-bit register"},
        {"tracked mov [rax+rsp], al", "column 18: here must be an index other than rsp"},
        {"tracked mov [rax+rbx*3], al", "column 22: here must be a scale"},
        {"tracked mov [rax+rbx*16], al", "column 22: here must be a scale"},
        {"tracked mov [rax+0x80000000], al", "column 18: here must be a number"},
        {"tracked mov [rax-0x80000001], al", "column 18: here must be a number"},
        {"tracked mov [rax+99999999999999999999999], al", "column 18: here must be a number"},
        {"tracked mov [rax+0x], al", "column 18: here must be a number"},
        {"tracked mov [rax-rbx], al", "column 18: here must be a number"},
        {"tracked mov [rax+8+rbx], al", "column 19: here must be \"]\""},
        {"tracked mov [rax, al", "column 17: here must be \"]\""},
        {"tracked mov [rax] al", "column 19: here must be a comma"},
        {"thread rax\n", "column 11: here must be the end"},
        {"thread raxraxraxraxraxraxraxrax", "column 8: here must be a 64-bit register"},
        {"thread r\xc3\xa1x", "column 8: here must be a 64-bit register"},
    };

    (void)state;
    for (size_t k = 0; k < ARRAY_SIZE(bad); k++) {
        struct lx_insn i = {.op = 77};
        struct err e = {0};

        assert_int_equal(lx_assemble(bad[k].text, &i, &e), -1);
        assert_int_equal(e.code, LARD_USAGE);
        if (!strstr(e.text, bad[k].says))
            fail_msg("%s: says %s", bad[k].text, e.text);
        assert_int_equal(i.op, 77);
    }
}

static void words_in_any_order_are_an_instruction_or_an_error(void **state)
{
    static const char *const words[] = {"tracked", " ",      "lock", "mov", "xadd", "[",  "]",
                                        "rax",     "+",      "*",    "8",   ",",    "al", "-",
                                        "0x",      "thread", "r8",   "\t",  "\xff"};
    struct rng r;

    (void)state;
    rng_seed(&r, 7);
    for (unsigned round = 0; round < 50000; round++) {
        char text[200] = "";
        struct lx_insn i;
        struct err e = {0};

        if (rng_chance(&r, 1, 2))
            strcpy(text, rng_chance(&r, 1, 2) ? "tracked mov [rax" : "tracked mov al, [r8");
        for (uint64_t n = rng_below(&r, 12); n > 0; n--)
            strcat(text, words[rng_below(&r, ARRAY_SIZE(words))]);
        if (lx_assemble(text, &i, &e))
            assert_true(strncmp(e.text, "lardx86: column ", 16) == 0);
        else
            check_text(NULL, &i);
    }
}

/* ---- the page that shows the table ---------------------------------------------------------- */

static char *read_page(void)
{
    const char *top = getenv("top_srcdir");
    char *path = xasprintf("%s/docs/lardx86.md", top ? top : ".");
    FILE *f = fopen(path, "r");
    char *text = xcalloc(1, 1 << 16);

    if (!f)
        fail_msg("%s can't be read; set top_srcdir", path);
    const size_t n = fread(text, 1, (1 << 16) - 1, f);
    assert_in_range(n, 1, (1 << 16) - 2);
    fclose(f);
    free(path);
    return text;
}

/* Takes row. */
static void check_row(const char *page, char *row)
{
    if (!strstr(page, row))
        fail_msg("docs/lardx86.md lacks this row: %s", row);
    free(row);
}

static void check_op_row(const char *page, enum lx_op op)
{
    const struct lx_info *k = &lx_info[op];
    char *operands = lx_operands_text(op), *encoding = lx_encoding_text(op);

    check_row(page, xasprintf("\n| `%s` | `%s` | `%s` | %s | %s | %s |\n", k->text, operands,
                              encoding, k->help, lx_page_text((enum lx_page)k->page), k->paper));
    free(operands);
    free(encoding);
}

static void check_carrier_row(const char *page, enum lx_carrier c)
{
    char *operands = lx_carrier_operands_text(c), *encoding = lx_carrier_encoding_text(c);

    check_row(page,
              xasprintf("\n| `%s %s` | `%s` | `%s` | %s |\n", lx_info[LX_TRACKED].text,
                        lx_carrier_info[c].text, operands, encoding, lx_carrier_info[c].help));
    free(operands);
    free(encoding);
}

static void the_page_shows_each_row_of_the_table_and_no_other(void **state)
{
    char *page = read_page();
    unsigned rows = 0;

    (void)state;
    for (unsigned op = 0; op < LX_OPS; op++)
        check_op_row(page, (enum lx_op)op);
    for (unsigned c = 0; c < LX_CARRIERS; c++)
        check_carrier_row(page, (enum lx_carrier)c);
    for (const char *p = page; (p = strstr(p, "\n| `")); p++)
        rows++;
    assert_int_equal(rows, LX_OPS + LX_CARRIERS);
    free(page);
}

/* "    tracked mov eax, [rbx]     06 8B 03" */
static void check_example(const char *line)
{
    char text[LX_MAX_TEXT], bytes[3 * LX_MAX_BYTES + 1] = "";
    unsigned char code[LX_MAX_BYTES];
    struct lx_insn i;
    struct err e = {0};
    const char *gap = strstr(line, "   ");

    assert_in_range(gap - line, 1, LX_MAX_TEXT - 1);
    memcpy(text, line, (size_t)(gap - line));
    text[gap - line] = '\0';
    if (lx_assemble(text, &i, &e))
        fail_msg("docs/lardx86.md: %s: %s", text, e.text);
    for (unsigned k = 0, n = lx_encode(&i, code); k < n; k++)
        sprintf(bytes + 3 * k, "%02X ", code[k]);
    bytes[strlen(bytes) - 1] = '\n';
    gap += strspn(gap, " ");
    if (strncmp(gap, bytes, strlen(bytes)) != 0)
        fail_msg("docs/lardx86.md: %s is %s", text, bytes);
}

static void the_examples_on_the_page_have_these_bytes(void **state)
{
    char *page = read_page();
    unsigned n = 0;

    (void)state;
    for (const char *p = page; (p = strstr(p, "\n    ")); n++) {
        p += 5;
        check_example(p);
    }
    assert_int_equal(n, 6);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_comes_back_as_the_same_instruction),
        cmocka_unit_test(blanks_case_and_the_base_of_numbers_do_not_matter),
        cmocka_unit_test(text_that_is_wrong_is_told_where_and_what_must_be_there),
        cmocka_unit_test(words_in_any_order_are_an_instruction_or_an_error),
        cmocka_unit_test(the_page_shows_each_row_of_the_table_and_no_other),
        cmocka_unit_test(the_examples_on_the_page_have_these_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
