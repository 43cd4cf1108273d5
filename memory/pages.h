/* pages.h - where the pages of the program's addresses lie in physical memory. */
#ifndef LARDSIM_PAGES_H
#define LARDSIM_PAGES_H

#include "base/addr.h"
#include "base/budget.h"
#include "base/map.h"
#include "base/param.h"
#include "base/stats.h"

enum { PAGES_IDENTITY, PAGES_FIRST_TOUCH };
struct pages_params {
    uint32_t mapping;            /* PAGES_IDENTITY or PAGES_FIRST_TOUCH */
    uint64_t size, memory, seed; /* bytes of a page, of all frames; of the permutation */
};
extern const struct param pages_param_rows[]; /* section pages */

/* A stretch of up to PAGES_LINES lines, within a page: what is looked up for each access. */
enum { PAGES_NEAR = 512, PAGES_LINES = 64 };
struct pages_near {
    uint64_t stretch;      /* + 1; 0: none */
    struct paddr base;     /* its first address in memory */
    const uint64_t *lines; /* a word for each of its lines, of whoever counts them; borrowed */
};

struct pages {
    struct pages_params params;
    unsigned shift, near_shift;         /* log2 of the bytes of a page, of a stretch */
    uint64_t offset, within;            /* bits of an address within its page, its stretch */
    unsigned bits;                      /* log2 of the frames there are */
    uint64_t keys[4];                   /* of the permutation, from the seed */
    struct map frame;                   /* page number to frame + 1 */
    uint64_t touched;                   /* pages */
    const uint64_t *no_lines;           /* words that a new stretch begins with; borrowed */
    struct pages_near near[PAGES_NEAR]; /* the stretches that were used lately */
};

int pages_init(struct pages *p, const struct pages_params *params, struct stats_group *g,
               struct err *e);
/* Counts lines of so many bytes; called before any page. no_lines: the PAGES_LINES words that a new
 * stretch begins with. */
void pages_count_lines(struct pages *p, uint64_t line, const uint64_t *no_lines);
void pages_forget_lines(struct pages *p);              /* forgets those of all stretches */
void pages_account(struct pages *p, struct budget *b); /* before any page; b is borrowed */
void pages_free(struct pages *p);
void pages_place(struct pages *p, uint64_t stretch); /* makes it near */

/* Threads' regions often lie a power of two apart. */
static inline size_t pages_slot(uint64_t stretch)
{
    return (size_t)(stretch * UINT64_C(0x9e3779b97f4a7c15) >> 32) % PAGES_NEAR;
}
static inline bool pages_is_near(const struct pages *p, uint64_t stretch)
{
    return p->near[pages_slot(stretch)].stretch == stretch + 1;
}
/* Gives its page a frame, if it has none: in the order of first touches. */
static inline struct pages_near *pages_near(struct pages *p, uint64_t stretch)
{
    if (UNLIKELY(!pages_is_near(p, stretch)))
        pages_place(p, stretch);
    return &p->near[pages_slot(stretch)];
}
static inline struct paddr pages_physical(struct pages *p, struct vaddr a)
{
    if (p->params.mapping == PAGES_IDENTITY)
        return paddr_of(a.at);
    return paddr_plus(pages_near(p, a.at >> p->near_shift)->base, a.at & p->within);
}

#endif
