/* lardx86.h - the instructions by which a language runtime speaks to the race detector (LARD 4.1):
 * their table, encoding and text, the page rule and how a region is split to obey it, and the
 * events they stand for.
 *
 * What they do to a detector is not here: docs/events.md says it, policies do it. The paper gives
 * no encoding; this one is ours (docs/lardx86.md). */
#ifndef LARDSIM_LARDX86_H
#define LARDSIM_LARDX86_H

#include "base/base.h"
#include "base/err.h"
#include "trace/trace.h"

enum lx_op {
#define LX(NAME, ...) LX_##NAME,
#define LX_CARRIER(...)
#include "isa/lardx86/lardx86.def"
#undef LX
#undef LX_CARRIER
    LX_OPS
};
enum lx_carrier { /* x86's accesses that the Tracked prefix can stand before */
#define LX(...)
#define LX_CARRIER(NAME, ...) LX_##NAME,
#include "isa/lardx86/lardx86.def"
#undef LX
#undef LX_CARRIER
                  LX_CARRIERS
};
enum lx_form {
    LX_FORM_PREFIX,
    LX_FORM_R,
    LX_FORM_RR,
    LX_FORM_RRR
};                                                           /* a prefix, or 1 to 3 registers */
enum lx_page { LX_PAGE_NONE, LX_PAGE_REGION, LX_PAGE_BOTH }; /* the regions that keep to one page */

enum { LX_OPERANDS = 3, LX_REGISTERS = 16 };

struct lx_info {
    const char *text, *operand[LX_OPERANDS], *paper, *help; /* operands that are not there: NULL */
    uint8_t form, byte, page; /* enum lx_form; the byte that tells it from others; enum lx_page */
};
extern const struct lx_info lx_info[LX_OPS];

struct lx_carrier_info {
    const char *text, *help;
    uint8_t access;         /* an enum ev_kind */
    uint8_t byte;           /* opcode for 8 bits; one more is that for 16 to 64 */
    bool locked, mem_first; /* a lock prefix belongs to it; memory is its first operand in text */
};
extern const struct lx_carrier_info lx_carrier_info[LX_CARRIERS];

/* Texts for people: "index, value"; "0F 0C 01 /r"; "the region". The caller owns them. */
char *lx_operands_text(enum lx_op op);
char *lx_encoding_text(enum lx_op op);
char *lx_carrier_operands_text(enum lx_carrier c);
char *lx_carrier_encoding_text(enum lx_carrier c);
const char *lx_page_text(enum lx_page p);

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

/* ---- the page rule -------------------------------------------------------------------------- */

/* Does the region lie in one page, as ClearHistory and the like demand? An empty one does. page is
 * in bytes, a power of 2, here and below. */
bool lx_region_fits(sim_addr addr, uint64_t size, uint64_t page);

/* How a runtime keeps the rule: it splits a region into pieces that obey it, and that one after
 * another do what the whole would. A piece of a copy (or a move) is in one page on both sides.
 * Where the destination overlaps the end of the source, pieces come from the end, so that none
 * overwrites what a later one has to read. Regions that wrap around the end of memory are cut
 * there; those of a copy are then at most half of all memory. */
struct lx_split { /* fields are the splitter's own */
    sim_addr dst, src;
    uint64_t left, page;
    bool down;
};
struct lx_piece {
    sim_addr dst, src; /* equal, of a region that is not copied */
    uint64_t size;
};
struct lx_split lx_split_region(sim_addr addr, uint64_t size, uint64_t page);
struct lx_split lx_split_copy(sim_addr dst, sim_addr src, uint64_t size, uint64_t page);
bool lx_split_next(struct lx_split *s, struct lx_piece *piece); /* false: that was all */

/* ---- execution and events ------------------------------------------------------------------- */

struct lx_act {                  /* an instruction with the values of its operands */
    uint64_t value[LX_OPERANDS]; /* in the table's order; of an access: address, bytes */
    uint8_t op;                  /* enum lx_op */
    uint8_t access;              /* LX_TRACKED: EV_READ, EV_WRITE or EV_RMW */
    bool plain;                  /* LX_TRACKED: in truth it had no prefix, and is not tracked */
};
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
/* The way back. False: the event is of a higher level (a lock, a fork: the runtime lowers it), or a
 * mark. Orders, sites and gaps are lost, and where->page stays as it is. A move comes back as its
 * copy and its clear. */
bool lx_of_event(const struct event *ev, struct lx_act *to, struct lx_place *where);

#endif
