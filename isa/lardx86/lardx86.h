/* lardx86.h - the instructions by which a language runtime speaks to the race detector (LARD 4.1):
 * their table, how a region is split to obey the page rule, and what an event is as one of them.
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
#include "isa/lardx86/lardx86.def"
#undef LX
    LX_OPS
};
/* A prefix, or 1 to 3 registers. */
enum lx_form { LX_FORM_PREFIX, LX_FORM_R, LX_FORM_RR, LX_FORM_RRR };
enum lx_page { LX_PAGE_NONE, LX_PAGE_REGION, LX_PAGE_BOTH }; /* the regions that keep to one page */

enum { LX_OPERANDS = 3 };

struct lx_info {
    const char *text, *operand[LX_OPERANDS], *paper, *help; /* operands that are not there: NULL */
    uint8_t form, byte, page; /* enum lx_form; the byte that tells it from others; enum lx_page */
};
extern const struct lx_info lx_info[LX_OPS];

/* Texts for people: "index, value"; "0F 0C 01 /r"; "the region". The caller owns them. */
char *lx_operands_text(enum lx_op op);
char *lx_encoding_text(enum lx_op op);
const char *lx_page_text(enum lx_page p);

/* ---- the page rule -------------------------------------------------------------------------- */

/* A region lies in one page, as ClearHistory and the like demand. A runtime keeps the rule by
 * splitting: it makes pieces that obey it, and that one after another do what the whole would. page
 * is in bytes, a power of 2. A piece of a copy (or a move) is in one page on both sides.
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

/* ---- events --------------------------------------------------------------------------------- */

struct lx_act {                  /* an instruction with the values of its operands */
    uint64_t value[LX_OPERANDS]; /* in the table's order; of an access: address, bytes */
    uint8_t op;                  /* enum lx_op */
    uint8_t access;              /* LX_TRACKED: EV_READ, EV_WRITE or EV_RMW */
    bool plain;                  /* LX_TRACKED: in truth it had no prefix, and is not tracked */
};
/* False: the event is of a higher level (a lock, a fork: the runtime lowers it), or a mark. Orders,
 * sites and gaps are lost. A move comes back as its copy and its clear. */
bool lx_of_event(const struct event *ev, struct lx_act *to);

#endif
