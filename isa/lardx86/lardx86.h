/* lardx86.h - the instructions by which a language runtime speaks to the race detector: their
 * table, encoding and text, the page rule and the pieces that obey it, and the events they stand
 * for.
 *
 * What they do to a detector is not here: events.md tells, policies do it. The encoding is ours
 * (docs/lardx86.md). */
#ifndef LARDSIM_LARDX86_H
#define LARDSIM_LARDX86_H

#include "base/base.h"
#include "trace/trace.h"

enum lx_op {
#define LX(NAME, ...) LX_##NAME,
#define LX_CARRIER(...)
#include "isa/lardx86/lardx86.def"
#undef LX
#undef LX_CARRIER
    LX_OPS
};
enum lx_carrier { /* accesses that can be tracked */
#define LX(...)
#define LX_CARRIER(NAME, ...) LX_##NAME,
#include "isa/lardx86/lardx86.def"
#undef LX
#undef LX_CARRIER
                  LX_CARRIERS
};
enum lx_form { LX_FORM_PREFIX, LX_FORM_R, LX_FORM_RR, LX_FORM_RRR };
enum lx_page { LX_PAGE_NONE, LX_PAGE_REGION, LX_PAGE_BOTH };

enum { LX_OPERANDS = 3, LX_REGISTERS = 16 };

struct lx_info {
    const char *text, *operand[LX_OPERANDS], *paper, *help; /* operands that are not there: NULL */
    uint8_t form, byte, page;
};
extern const struct lx_info lx_info[LX_OPS];

struct lx_carrier_info {
    const char *text, *help;
    uint8_t access; /* an enum ev_kind */
    uint8_t byte;
    bool locked, mem_first;
};
extern const struct lx_carrier_info lx_carrier_info[LX_CARRIERS];

/* For people: "index, value"; "0F 0C 01 /r"; "the region". Owned by the caller. */
char *lx_operands_text(enum lx_op op);
char *lx_encoding_text(enum lx_op op);
char *lx_carrier_operands_text(enum lx_carrier c);
char *lx_carrier_encoding_text(enum lx_carrier c);
const char *lx_page_text(enum lx_page p);

/* ---- instructions --------------------------------------------------------------------------- */

/* base + index * scale + disp. An x86 index can't be rsp; its number says that there is none, and
 * then scale is 1. */
enum { LX_NO_INDEX = 4 };
struct lx_memory {
    uint8_t base, index, scale;
    int32_t disp;
};

struct lx_insn {              /* what an instruction does not have is 0 */
    uint8_t op;               /* enum lx_op */
    uint8_t reg[LX_OPERANDS]; /* in the table's order; of a carrier, [0] is its register */
    uint8_t carrier, width;   /* tracked: enum lx_carrier; 1, 2, 4 or 8 bytes */
    struct lx_memory mem;     /* tracked */
};

bool lx_valid(const struct lx_insn *i);
/* Bytes written; 0: not valid. There is one encoding of each. */
enum { LX_MAX_BYTES = 12 };
unsigned lx_encode(const struct lx_insn *i, unsigned char to[LX_MAX_BYTES]);
/* Bytes consumed (*to is filled); LX_MORE: they are the begin of one of ours, which is longer; or
 * LX_NOT_OURS. Reads at most n bytes. */
enum { LX_MORE = 0, LX_NOT_OURS = -1 };
int lx_decode(const unsigned char *p, size_t n, struct lx_insn *to);

/* "tracked mov eax, [rbx+rcx*4+0x10]", "copyhistory rsi, rdi, rcx". Returns to. The instruction
 * must be valid. */
enum { LX_MAX_TEXT = 64 };
const char *lx_disassemble(const struct lx_insn *i, char to[LX_MAX_TEXT]);
/* Takes what lx_disassemble writes, with any blanks, in any case, disp decimal or hexadecimal. */
int lx_assemble(const char *text, struct lx_insn *to, struct err *e);

/* ---- the page rule -------------------------------------------------------------------------- */

/* page is a power of 2, everywhere. No bytes lie in any page. */
bool lx_region_fits(sim_addr addr, uint64_t size, uint64_t page);

/* What a runtime does about it: pieces of which each obeys the rule, and which one after another do
 * what the whole would. Those of a copy (or a move) are in one page on both sides, and come from
 * the end where a later destination is an earlier source. Regions that wrap are cut where they do;
 * a copy's are then at most half of all memory. */
struct lx_split { /* fields are the splitter's own */
    sim_addr dst, src;
    uint64_t left, page;
    bool down;
};
struct lx_piece {
    sim_addr dst, src; /* equal, of a region */
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
    bool plain;                  /* LX_TRACKED: the same access without the prefix */
};
struct lx_place { /* who executes it */
    sim_tid thread;
    uint64_t kernel; /* the kernel thread; counts for LX_THREAD only */
    uint64_t page;   /* bytes */
};

/* The values from the registers. That of readvc is what stands in its register before: whoever
 * answers puts the entry there. The instruction must be valid. */
struct lx_act lx_evaluate(const struct lx_insn *i, const uint64_t reg[LX_REGISTERS]);

/* The events it stands for, well-formed: records written; 0: it touches no bytes. Or -1: it breaks
 * the page rule, or no event can say it. A plain access is the system's. The order of an rmw is
 * relaxed: at this level edges come from writevc alone. */
enum { LX_MAX_RECORDS = 3 };
int lx_events(const struct lx_act *a, const struct lx_place *at, struct event ev[LX_MAX_RECORDS],
              struct err *e);
/* The way back; false: the event is above this level (or a mark). Orders, sites and gaps are lost,
 * and where->page stays as it is. A move comes back as its copy and its clear. */
bool lx_of_event(const struct event *ev, struct lx_act *to, struct lx_place *where);

#endif
