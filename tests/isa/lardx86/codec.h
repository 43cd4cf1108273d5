/* codec.h - LARDx86 as bytes and as text, and what its instructions are as events. The simulator
 * takes events alone, so this is here: it holds docs/lardx86.md to what it says of encoding, text
 * and events. */
#ifndef LARDSIM_LX_CODEC_H
#define LARDSIM_LX_CODEC_H

#include "isa/lardx86/lardx86.h"

enum lx_carrier { /* x86's accesses that the Tracked prefix can stand before */
#define CARRIER(NAME, ...) LX_##NAME,
#include "tests/isa/lardx86/carriers.def"
#undef CARRIER
                  LX_CARRIERS
};
struct lx_carrier_info {
    const char *text, *help;
    uint8_t access;         /* an enum ev_kind */
    uint8_t byte;           /* opcode for 8 bits; one more is that for 16 to 64 */
    bool locked, mem_first; /* a lock prefix belongs to it; memory is its first operand in text */
};
extern const struct lx_carrier_info lx_carrier_info[LX_CARRIERS];

/* Texts for people; the caller owns them. */
char *lx_carrier_operands_text(enum lx_carrier c);
char *lx_carrier_encoding_text(enum lx_carrier c);

enum { LX_REGISTERS = 16 };

/* ---- instructions --------------------------------------------------------------------------- */

/* A memory operand: base + index * scale + disp. As in x86 rsp can't be an index; its number says
 * that there is none, and then scale is 1. */
enum { LX_NO_INDEX = 4 };
struct lx_memory {
    uint8_t base, index, scale;
    int32_t disp;
};

struct lx_insn {              /* a part that an instruction does not have is 0 */
    uint8_t op;               /* enum lx_op */
    uint8_t reg[LX_OPERANDS]; /* in the table's order; of a carrier, [0] is its register */
    uint8_t carrier, width;   /* tracked: enum lx_carrier; 1, 2, 4 or 8 bytes */
    struct lx_memory mem;     /* tracked */
};

bool lx_valid(const struct lx_insn *i); /* every field is in range, and 0 where it has no meaning */
/* Returns the bytes written; 0: not valid. Each instruction has exactly one encoding. */
enum { LX_MAX_BYTES = 12 };
unsigned lx_encode(const struct lx_insn *i, unsigned char to[LX_MAX_BYTES]);
/* Returns the bytes consumed (*to is filled); LX_MORE: an instruction of ours may begin here, but
 * it would be longer; or LX_NOT_OURS. Reads at most n bytes. */
enum { LX_MORE = 0, LX_NOT_OURS = -1 };
int lx_decode(const unsigned char *p, size_t n, struct lx_insn *to);

/* "tracked mov eax, [rbx+rcx*4+0x10]", "copyhistory rsi, rdi, rcx". Returns to. The instruction
 * must be valid. */
enum { LX_MAX_TEXT = 64 };
const char *lx_disassemble(const struct lx_insn *i, char to[LX_MAX_TEXT]);
/* Takes what lx_disassemble writes, with any blanks, in any case, disp decimal or hexadecimal. */
int lx_assemble(const char *text, struct lx_insn *to, struct err *e);

/* ---- execution and events ------------------------------------------------------------------- */

/* Does the region lie in one page, as ClearHistory and the like demand? An empty one does. page is
 * in bytes, a power of 2. */
bool lx_region_fits(sim_addr addr, uint64_t size, uint64_t page);

struct lx_place { /* the thread that executes it, and its place */
    sim_tid thread;
    uint64_t kernel; /* the kernel thread; counts for LX_THREAD only */
    uint64_t page;   /* bytes */
};

/* Takes the operands' values from the registers. The value of readvc is what its register held
 * before: whoever answers puts the entry of the clock there. The instruction must be valid. */
struct lx_act lx_evaluate(const struct lx_insn *i, const uint64_t reg[LX_REGISTERS]);

/* Writes the events that it stands for, well-formed; returns the number of records; 0: it touches
 * no bytes. -1: it breaks the page rule, or no event can say it. A plain access is the system's. An
 * rmw is relaxed: at this level threads are ordered by writevc alone. */
enum { LX_MAX_RECORDS = 3 };
int lx_events(const struct lx_act *a, const struct lx_place *at, struct event ev[LX_MAX_RECORDS],
              struct err *e);

#endif
