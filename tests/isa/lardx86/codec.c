/* codec.c - LARDx86 as bytes, out and in.
 *
 * Each instruction has one encoding, and the decoder takes no other: of x86's ways to write an
 * access it knows the shortest one that has a base register. So what it decodes encodes to the same
 * bytes. It says no at the first byte after which none of ours can follow. */
#include <assert.h>

#include "base/mem.h"
#include "tests/isa/lardx86/codec.h"

enum { REG_MEM, MEM_REG };

const struct lx_carrier_info lx_carrier_info[LX_CARRIERS] = {
#define CARRIER(NAME, text_, access_, locked_, byte_, order, help_)                                \
    [LX_##NAME] = {.text = text_,                                                                  \
                   .help = help_,                                                                  \
                   .access = EV_##access_,                                                         \
                   .byte = byte_,                                                                  \
                   .locked = locked_,                                                              \
                   .mem_first = (order) == MEM_REG},
#include "tests/isa/lardx86/carriers.def"
#undef CARRIER
};

enum { /* x86's bytes */
       OPERAND_SIZE = 0x66,
       LOCK = 0xf0,
       ESCAPE = 0x0f, /* x86's two-byte opcodes begin with it */
       OURS = 0x0c,   /* a second byte that x86 leaves free: ours */
       REX = 0x40,    /* its low four bits: */
       REX_W = 8,     /* operands of 64 bits */
       REX_R = 4,     /* the fourth bit of ModRM.reg */
       REX_X = 2,     /* of SIB.index */
       REX_B = 1,     /* of ModRM.rm or SIB.base */
       RM_SIB = 4,    /* ModRM.rm: a SIB byte follows; so a base with these low bits needs one */
       RM_NO_BASE = 5 /* ModRM.rm with mod 0: no base; so a base with these low bits needs a disp */
};

char *lx_carrier_operands_text(enum lx_carrier c)
{
    return xstrdup(lx_carrier_info[c].mem_first ? "[memory], register" : "register, [memory]");
}

char *lx_carrier_encoding_text(enum lx_carrier c)
{
    const struct lx_carrier_info *k = &lx_carrier_info[c];
    const char *lock = k->locked ? "F0 0F " : "";
    const unsigned prefix = lx_info[LX_TRACKED].byte;

    return xasprintf("%02X %s%02X /r, %02X %s%02X /r", prefix, lock, k->byte, prefix, lock,
                     k->byte + 1u);
}

/* ---- what there is -------------------------------------------------------------------------- */

static unsigned register_count(enum lx_op op)
{
    return op == LX_TRACKED ? 1u : (unsigned)lx_info[op].form - LX_FORM_R + 1;
}

static bool power_to_8(unsigned n)
{
    return n == 1 || n == 2 || n == 4 || n == 8;
}

static bool memory_valid(const struct lx_memory *m)
{
    return m->base < LX_REGISTERS && m->index < LX_REGISTERS && power_to_8(m->scale) &&
           (m->index != LX_NO_INDEX || m->scale == 1);
}

bool lx_valid(const struct lx_insn *i)
{
    const struct lx_memory *m = &i->mem;

    if (i->op >= LX_OPS)
        return false;
    for (unsigned k = 0; k < LX_OPERANDS; k++)
        if (i->reg[k] >= (k < register_count((enum lx_op)i->op) ? LX_REGISTERS : 1))
            return false;
    if (i->op == LX_TRACKED)
        return i->carrier < LX_CARRIERS && power_to_8(i->width) && memory_valid(m);
    return !i->carrier && !i->width && !m->base && !m->index && !m->scale && !m->disp;
}

/* Without a REX prefix these 8-bit registers would be ah, ch, dh and bh. */
static bool needs_rex(unsigned width, unsigned reg)
{
    return width == 1 && reg >= 4 && reg < 8;
}

static bool fits_8(int32_t disp)
{
    return disp >= INT8_MIN && disp <= INT8_MAX;
}

/* ---- encoding ------------------------------------------------------------------------------- */

struct output {
    unsigned char *to;
    unsigned n;
};

static void put(struct output *o, unsigned byte)
{
    o->to[o->n++] = (unsigned char)byte;
}

/* A ModRM byte: two registers, or a register and the kind of memory operand. SIB has the same three
 * fields. */
static unsigned modrm(unsigned mod, unsigned reg, unsigned rm)
{
    return mod << 6 | (reg & 7) << 3 | (rm & 7);
}

static unsigned high(unsigned reg, unsigned rex) /* a register's fourth bit, which stands in REX */
{
    return reg & 8 ? rex : 0;
}

static void encode_own(const struct lx_insn *i, struct output *o)
{
    const struct lx_info *k = &lx_info[i->op];
    const bool one = k->form == LX_FORM_R;
    const unsigned reg = one ? 0 : i->reg[0], rm = one ? i->reg[0] : i->reg[1];
    const unsigned rex = high(reg, REX_R) | high(rm, REX_B);

    if (rex)
        put(o, REX | rex);
    put(o, ESCAPE);
    put(o, OURS);
    put(o, k->byte);
    put(o, modrm(3, reg, rm));
    if (k->form == LX_FORM_RRR)
        put(o, (unsigned)i->reg[2] << 4);
}

/* The shortest form: no disp, 8 bits of it, or 32 (mod 0, 1, 2). */
static void encode_memory(const struct lx_memory *m, unsigned reg, struct output *o)
{
    const bool sib = m->index != LX_NO_INDEX || (m->base & 7) == RM_SIB;
    const bool none = m->disp == 0 && (m->base & 7) != RM_NO_BASE;
    const unsigned mod = none ? 0 : fits_8(m->disp) ? 1 : 2;
    unsigned log = 0;

    while (1u << log < m->scale)
        log++;
    put(o, modrm(mod, reg, sib ? RM_SIB : m->base));
    if (sib)
        put(o, modrm(log, m->index, m->base));
    for (unsigned k = 0; k < (mod == 2 ? 4 : mod); k++)
        put(o, (uint32_t)m->disp >> 8 * k & 0xff);
}

static void encode_tracked(const struct lx_insn *i, struct output *o)
{
    const struct lx_carrier_info *k = &lx_carrier_info[i->carrier];
    const struct lx_memory *m = &i->mem;
    const unsigned rex = (i->width == 8 ? REX_W : 0) | high(i->reg[0], REX_R) |
                         high(m->index, REX_X) | high(m->base, REX_B);

    put(o, lx_info[LX_TRACKED].byte);
    if (i->width == 2)
        put(o, OPERAND_SIZE);
    if (k->locked)
        put(o, LOCK);
    if (rex || needs_rex(i->width, i->reg[0]))
        put(o, REX | rex);
    if (k->locked)
        put(o, ESCAPE);
    put(o, i->width == 1 ? k->byte : k->byte | 1u);
    encode_memory(m, i->reg[0], o);
}

unsigned lx_encode(const struct lx_insn *i, unsigned char to[LX_MAX_BYTES])
{
    struct output o = {.to = to};

    if (!lx_valid(i))
        return 0;
    if (i->op == LX_TRACKED)
        encode_tracked(i, &o);
    else
        encode_own(i, &o);
    assert(o.n <= LX_MAX_BYTES);
    return o.n;
}

/* ---- decoding ------------------------------------------------------------------------------- */

enum step { GOOD, SHORT, BAD }; /* SHORT: so far so good, and the bytes have ended */

struct input_bytes {
    const unsigned char *p;
    size_t n, at;  /* at: of the next byte */
    unsigned byte; /* the latest one taken */
};

static bool take(struct input_bytes *in)
{
    if (in->at == in->n)
        return false;
    in->byte = in->p[in->at++];
    return true;
}

static enum step expect(struct input_bytes *in, unsigned byte)
{
    return !take(in) ? SHORT : in->byte == byte ? GOOD : BAD;
}

static unsigned with_rex(unsigned low, unsigned rex, unsigned bit)
{
    return (low & 7) | (rex & bit ? 8 : 0);
}

static enum step decode_registers(struct input_bytes *in, unsigned rex, struct lx_insn *to)
{
    const unsigned form = lx_info[to->op].form;

    if (!take(in))
        return SHORT;
    const unsigned reg = with_rex(in->byte >> 3, rex, REX_R);
    const unsigned rm = with_rex(in->byte, rex, REX_B);
    if (in->byte >> 6 != 3 || (form == LX_FORM_R && reg != 0))
        return BAD;
    to->reg[0] = (uint8_t)(form == LX_FORM_R ? rm : reg);
    if (form != LX_FORM_R)
        to->reg[1] = (uint8_t)rm;
    if (form != LX_FORM_RRR)
        return GOOD;
    if (!take(in))
        return SHORT;
    to->reg[2] = (uint8_t)(in->byte >> 4);
    return in->byte & 15 ? BAD : GOOD;
}

static bool find_op(unsigned byte, struct lx_insn *to)
{
    for (unsigned op = 0; op < LX_OPS; op++)
        if (lx_info[op].form != LX_FORM_PREFIX && lx_info[op].byte == byte) {
            to->op = (uint8_t)op;
            return true;
        }
    return false;
}

/* 0F 0C op, behind a REX prefix if registers need one. in->byte is the first. */
static enum step decode_own(struct input_bytes *in, struct lx_insn *to)
{
    unsigned rex = 0;

    if ((in->byte & 0xf0) == REX) {
        rex = in->byte & 15;
        if (rex == 0 || rex & (REX_W | REX_X))
            return BAD;
        if (!take(in))
            return SHORT;
    }
    if (in->byte != ESCAPE)
        return BAD;
    enum step s = expect(in, OURS);
    if (s != GOOD)
        return s;
    if (!take(in))
        return SHORT;
    if (!find_op(in->byte, to) || (lx_info[to->op].form == LX_FORM_R && rex & REX_R))
        return BAD;
    return decode_registers(in, rex, to);
}

/* A disp that a shorter form could hold is not ours. */
static enum step decode_disp(struct input_bytes *in, unsigned mod, struct lx_memory *m)
{
    const unsigned bytes = mod == 2 ? 4 : mod;
    uint32_t disp = 0;

    for (unsigned k = 0; k < bytes; k++) {
        if (!take(in))
            return SHORT;
        disp |= (uint32_t)in->byte << 8 * k;
    }
    m->disp = mod == 1 ? (int8_t)disp : (int32_t)disp;
    if (mod == 1 && m->disp == 0 && (m->base & 7) != RM_NO_BASE)
        return BAD;
    return mod == 2 && fits_8(m->disp) ? BAD : GOOD;
}

/* in->byte is the ModRM byte. */
static enum step decode_memory(struct input_bytes *in, unsigned rex, struct lx_memory *m)
{
    const unsigned mod = in->byte >> 6, rm = in->byte & 7;

    *m = (struct lx_memory){(uint8_t)with_rex(rm, rex, REX_B), LX_NO_INDEX, 1, 0};
    if (rm == RM_SIB) {
        if (!take(in))
            return SHORT;
        m->base = (uint8_t)with_rex(in->byte, rex, REX_B);
        m->index = (uint8_t)with_rex(in->byte >> 3, rex, REX_X);
        m->scale = (uint8_t)(1u << (in->byte >> 6));
        if (m->index == LX_NO_INDEX && (m->scale != 1 || (m->base & 7) != RM_SIB))
            return BAD;
    } else if (rex & REX_X) {
        return BAD;
    }
    if (mod == 0 && (m->base & 7) == RM_NO_BASE)
        return BAD;
    return decode_disp(in, mod, m);
}

struct prefixes {
    unsigned rex;    /* the byte; 0: none */
    bool half, lock; /* half: operands of 16 bits */
};

/* Decodes prefixes in the one order that encode_tracked writes. Leaves the opcode in in->byte. */
static enum step decode_prefixes(struct input_bytes *in, struct prefixes *p)
{
    if (!take(in))
        return SHORT;
    p->half = in->byte == OPERAND_SIZE;
    if (p->half && !take(in))
        return SHORT;
    p->lock = in->byte == LOCK;
    if (p->lock && !take(in))
        return SHORT;
    if ((in->byte & 0xf0) == REX) {
        p->rex = in->byte;
        if (p->half && (p->rex & REX_W || p->rex == REX))
            return BAD;
        if (!take(in))
            return SHORT;
    }
    if (!p->lock)
        return GOOD;
    if (in->byte != ESCAPE)
        return BAD;
    return take(in) ? GOOD : SHORT;
}

/* The opcode's lowest bit and the prefixes say the width: 1 byte, else 2, 8 or 4. */
static bool find_carrier(unsigned byte, const struct prefixes *p, struct lx_insn *to)
{
    const bool narrow = !(byte & 1);

    to->width = narrow ? 1 : p->rex & REX_W ? 8 : p->half ? 2 : 4;
    if (narrow ? p->half || p->rex & REX_W : p->rex == REX)
        return false;
    for (unsigned c = 0; c < LX_CARRIERS; c++)
        if (lx_carrier_info[c].byte == (byte & ~1u) && lx_carrier_info[c].locked == p->lock) {
            to->carrier = (uint8_t)c;
            return true;
        }
    return false;
}

static enum step decode_tracked(struct input_bytes *in, struct lx_insn *to)
{
    struct prefixes p = {0};
    const enum step s = decode_prefixes(in, &p);

    if (s != GOOD)
        return s;
    to->op = LX_TRACKED;
    if (!find_carrier(in->byte, &p, to))
        return BAD;
    if (!take(in))
        return SHORT;
    to->reg[0] = (uint8_t)with_rex(in->byte >> 3, p.rex, REX_R);
    if (in->byte >> 6 == 3 || (p.rex == 0 && needs_rex(to->width, to->reg[0])) ||
        (p.rex == REX && !needs_rex(to->width, to->reg[0])))
        return BAD;
    return decode_memory(in, p.rex, &to->mem);
}

int lx_decode(const unsigned char *p, size_t n, struct lx_insn *to)
{
    struct input_bytes in = {.p = p, .n = n};
    struct lx_insn i = {0};

    if (!take(&in))
        return LX_MORE;
    const enum step s =
        in.byte == lx_info[LX_TRACKED].byte ? decode_tracked(&in, &i) : decode_own(&in, &i);
    if (s != GOOD)
        return s == SHORT ? LX_MORE : LX_NOT_OURS;
    *to = i;
    return (int)in.at;
}
