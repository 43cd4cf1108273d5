/* text.c - instructions as text, both ways: a disassembler and an assembler of one instruction,
 * with no labels and no comments. Operands of an access are in Intel's order, those of other
 * instructions in the table's. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "tests/isa/lardx86/codec.h"

/* Names of registers by log2 of their width in bytes. */
static const char *const register_text[4][LX_REGISTERS] = {
    {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b", "r11b", "r12b",
     "r13b", "r14b", "r15b"},
    {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8w", "r9w", "r10w", "r11w", "r12w", "r13w",
     "r14w", "r15w"},
    {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d", "r11d", "r12d",
     "r13d", "r14d", "r15d"},
    {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
     "r14", "r15"},
};

/* ---- out ------------------------------------------------------------------------------------ */

struct out_text {
    char *to;
    size_t n;
};

static void add(struct out_text *o, const char *text)
{
    const size_t n = strlen(text);

    assert(o->n + n < LX_MAX_TEXT);
    memcpy(o->to + o->n, text, n + 1);
    o->n += n;
}

static const char *register_of(unsigned width, unsigned reg)
{
    unsigned log = 0;

    while (1u << log < width)
        log++;
    return register_text[log][reg];
}

static void add_memory(struct out_text *o, const struct lx_memory *m)
{
    const uint32_t size = m->disp < 0 ? 0 - (uint32_t)m->disp : (uint32_t)m->disp;
    char text[16];

    add(o, "[");
    add(o, register_of(8, m->base));
    if (m->index != LX_NO_INDEX) {
        add(o, "+");
        add(o, register_of(8, m->index));
    }
    if (m->scale > 1) {
        snprintf(text, sizeof text, "*%u", m->scale);
        add(o, text);
    }
    if (m->disp) {
        snprintf(text, sizeof text, "%c0x%x", m->disp < 0 ? '-' : '+', size);
        add(o, text);
    }
    add(o, "]");
}

static void add_access(struct out_text *o, const struct lx_insn *i)
{
    const struct lx_carrier_info *k = &lx_carrier_info[i->carrier];
    const char *reg = register_of(i->width, i->reg[0]);

    add(o, " ");
    add(o, k->text);
    add(o, " ");
    if (!k->mem_first) {
        add(o, reg);
        add(o, ", ");
    }
    add_memory(o, &i->mem);
    if (k->mem_first) {
        add(o, ", ");
        add(o, reg);
    }
}

const char *lx_disassemble(const struct lx_insn *i, char to[LX_MAX_TEXT])
{
    struct out_text o = {.to = to};

    assert(lx_valid(i));
    add(&o, lx_info[i->op].text);
    if (i->op == LX_TRACKED) {
        add_access(&o, i);
        return to;
    }
    for (unsigned k = 0; k < LX_OPERANDS && lx_info[i->op].operand[k]; k++) {
        add(&o, k ? ", " : " ");
        add(&o, register_of(8, i->reg[k]));
    }
    return to;
}

/* ---- in ------------------------------------------------------------------------------------- */

struct in_text {
    const char *start, *at; /* at: what is not read yet */
    struct err *e;
};

enum { WORD = 16 }; /* no word of ours has so many letters */

static int wants(const struct in_text *t, const char *what)
{
    return err_set(t->e, LARD_USAGE, "lardx86: column %zu: here must be %s",
                   (size_t)(t->at - t->start) + 1, what);
}

static int wants_one_of(const struct in_text *t, const char *what, const char *list)
{
    return err_set(t->e, LARD_USAGE, "lardx86: column %zu: here must be %s: %s",
                   (size_t)(t->at - t->start) + 1, what, list);
}

static void skip_blanks(struct in_text *t)
{
    t->at += strspn(t->at, " \t");
}

static bool letter_or_digit(char c)
{
    return isalnum((unsigned char)c) && (unsigned char)c < 0x80;
}

/* The word that comes next, in small letters; it is not read yet. Returns its length; a word of
 * WORD letters or more comes as "". */
static size_t peek_word(struct in_text *t, char word[WORD])
{
    size_t n = 0;

    skip_blanks(t);
    while (letter_or_digit(t->at[n]))
        n++;
    word[0] = '\0';
    for (size_t i = 0; i < n && n < WORD; i++) {
        word[i] = (char)tolower((unsigned char)t->at[i]);
        word[i + 1] = '\0';
    }
    return n;
}

static bool accept_char(struct in_text *t, char c)
{
    skip_blanks(t);
    if (*t->at != c)
        return false;
    t->at++;
    return true;
}

static bool accept_word(struct in_text *t, const char *expected)
{
    char word[WORD];
    const size_t n = peek_word(t, word);

    if (strcmp(word, expected) != 0)
        return false;
    t->at += n;
    return true;
}

static bool accept_register(struct in_text *t, unsigned *log_width, uint8_t *reg)
{
    char word[WORD];
    const size_t n = peek_word(t, word);

    for (unsigned log = 0; log < ARRAY_SIZE(register_text); log++)
        for (unsigned r = 0; r < LX_REGISTERS; r++)
            if (strcmp(word, register_text[log][r]) == 0) {
                t->at += n;
                *log_width = log;
                *reg = (uint8_t)r;
                return true;
            }
    return false;
}

static int read_address_register(struct in_text *t, uint8_t *reg)
{
    const char *at = t->at;
    unsigned log;

    if (accept_register(t, &log, reg) && log == 3)
        return 0;
    t->at = at;
    skip_blanks(t);
    return wants(t, "a 64-bit register, rax to r15");
}

static int digit_value(char c, unsigned base)
{
    const int low = tolower((unsigned char)c);
    const int v = low >= '0' && low <= '9'   ? low - '0'
                  : low >= 'a' && low <= 'f' ? low - 'a' + 10
                                             : -1;

    return v < (int)base ? v : -1;
}

static int read_disp(struct in_text *t, bool minus, int32_t *disp)
{
    const uint64_t limit = (UINT64_C(1) << 31) - !minus;
    unsigned base = 10;
    uint64_t n = 0;

    skip_blanks(t);
    const char *at = t->at;
    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        base = 16;
        at += 2;
    }
    const char *first = at;
    for (int d; (d = digit_value(*at, base)) >= 0 && n <= limit; at++)
        n = n * base + (unsigned)d;
    if (at == first || n > limit || letter_or_digit(*at))
        return wants(t, "a number, decimal or after 0x, that fits 32 bits with its sign");
    t->at = at;
    *disp = (int32_t)(minus ? -(int64_t)n : (int64_t)n);
    return 0;
}

static int read_scale(struct in_text *t, uint8_t *scale)
{
    skip_blanks(t);
    const char c = *t->at;
    if ((c != '1' && c != '2' && c != '4' && c != '8') || letter_or_digit(t->at[1]))
        return wants(t, "a scale: 1, 2, 4 or 8");
    *scale = (uint8_t)(c - '0');
    t->at++;
    return 0;
}

static int read_index(struct in_text *t, struct lx_memory *m)
{
    const char *at = t->at;

    if (read_address_register(t, &m->index))
        return -1;
    if (m->index == LX_NO_INDEX) {
        t->at = at;
        skip_blanks(t);
        return wants(t, "an index other than rsp, which x86 has not");
    }
    return accept_char(t, '*') ? read_scale(t, &m->scale) : 0;
}

/* Reads a memory operand behind the opening bracket. */
static int read_memory(struct in_text *t, struct lx_memory *m)
{
    *m = (struct lx_memory){.index = LX_NO_INDEX, .scale = 1};
    if (read_address_register(t, &m->base))
        return -1;
    bool plus = accept_char(t, '+');
    skip_blanks(t);
    if (plus && digit_value(*t->at, 10) < 0) {
        if (read_index(t, m))
            return -1;
        plus = accept_char(t, '+');
    }
    const bool minus = !plus && accept_char(t, '-');
    if ((plus || minus) && read_disp(t, minus, &m->disp))
        return -1;
    return accept_char(t, ']') ? 0 : wants(t, "\"]\": an address is [base+index*scale+disp]");
}

static int read_comma(struct in_text *t)
{
    return accept_char(t, ',') ? 0 : wants(t, "a comma and one more operand");
}

static int read_data_register(struct in_text *t, struct lx_insn *to)
{
    unsigned log;

    if (!accept_register(t, &log, &to->reg[0]))
        return wants(t, "a register, whose width is the access's, or [base+index*scale+disp]");
    to->width = (uint8_t)(1u << log);
    return 0;
}

enum { NAMES = 128 };

/* Adds to a message's list of what could stand there. */
static void add_name(char list[NAMES], const char *name)
{
    const size_t n = strlen(list);

    snprintf(list + n, NAMES - n, "%s%s", n ? ", " : "", name);
}

static int wants_access(const struct in_text *t)
{
    char list[NAMES] = "";

    for (unsigned c = 0; c < LX_CARRIERS; c++)
        if (c == 0 || strcmp(lx_carrier_info[c].text, lx_carrier_info[c - 1].text) != 0)
            add_name(list, lx_carrier_info[c].text);
    return wants_one_of(t, "an access that can be tracked", list);
}

static int wants_mnemonic(const struct in_text *t)
{
    char list[NAMES] = "";

    for (unsigned op = 0; op < LX_OPS; op++)
        add_name(list, lx_info[op].text);
    return wants_one_of(t, "an instruction", list);
}

/* The access of this name whose first operand is memory, or is a register. -1: there is none. */
static int find_carrier(const char *text, bool mem_first, uint8_t *carrier)
{
    for (unsigned c = 0; c < LX_CARRIERS; c++)
        if (strcmp(lx_carrier_info[c].text, text) == 0 &&
            lx_carrier_info[c].mem_first == mem_first) {
            *carrier = (uint8_t)c;
            return 0;
        }
    return -1;
}

static int read_access(struct in_text *t, struct lx_insn *to)
{
    const bool lock = accept_word(t, "lock");
    char name[WORD], text[WORD + 8];
    const size_t n = peek_word(t, name);
    const char *at = t->at;

    snprintf(text, sizeof text, "%s%s", lock ? "lock " : "", name);
    if (find_carrier(text, true, &to->carrier))
        return wants_access(t);
    t->at += n;
    const bool mem_first = accept_char(t, '[');
    if (find_carrier(text, mem_first, &to->carrier)) {
        t->at = at + n;
        skip_blanks(t);
        return wants(t, "\"[\": this access has memory first");
    }
    if (mem_first ? read_memory(t, &to->mem) : read_data_register(t, to))
        return -1;
    if (read_comma(t))
        return -1;
    if (mem_first)
        return read_data_register(t, to);
    return accept_char(t, '[') ? read_memory(t, &to->mem)
                               : wants(t, "\"[\": one operand of an access is memory");
}

static int read_registers(struct in_text *t, struct lx_insn *to)
{
    const struct lx_info *k = &lx_info[to->op];

    for (unsigned i = 0; i < LX_OPERANDS && k->operand[i]; i++)
        if ((i > 0 && read_comma(t)) || read_address_register(t, &to->reg[i]))
            return -1;
    return 0;
}

static bool read_mnemonic(struct in_text *t, struct lx_insn *to)
{
    for (unsigned op = 0; op < LX_OPS; op++)
        if (accept_word(t, lx_info[op].text)) {
            to->op = (uint8_t)op;
            return true;
        }
    return false;
}

int lx_assemble(const char *text, struct lx_insn *to, struct err *e)
{
    struct in_text t = {text, text, e};
    struct lx_insn i = {0};

    if (!read_mnemonic(&t, &i))
        return wants_mnemonic(&t);
    if (i.op == LX_TRACKED ? read_access(&t, &i) : read_registers(&t, &i))
        return -1;
    skip_blanks(&t);
    if (*t.at)
        return wants(&t, "the end of the instruction");
    *to = i;
    return 0;
}
