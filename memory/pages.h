/* pages.h - where the pages of the program's addresses lie in physical memory. */
#ifndef LARDSIM_PAGES_H
#define LARDSIM_PAGES_H

#include "base/base.h"
#include "base/param.h"
#include "base/stats.h"

enum { PAGES_IDENTITY, PAGES_FIRST_TOUCH };
struct pages_params {
    uint32_t mapping;
    uint64_t size, memory, seed;
};
extern const struct param pages_param_rows[]; /* section pages */

enum { PAGES_NEAR = 512 };
struct pages {
    struct pages_params params;
    unsigned shift;
    uint64_t offset; /* bits of an address within its page */
    unsigned bits;   /* log2 of the frames there are */
    uint64_t keys[4];
    struct map frame; /* page number to frame + 1 */
    uint64_t touched; /* pages */
    struct {          /* translations of late, by page number: page + 1, where its frame begins */
        uint64_t page;
        sim_addr base;
    } near[PAGES_NEAR];
};

int pages_init(struct pages *p, const struct pages_params *params, struct stats_group *g,
               struct err *e);
void pages_account(struct pages *p, struct budget *b); /* before any page; b is borrowed */
void pages_free(struct pages *p);
sim_addr pages_place(struct pages *p, uint64_t page); /* the slow way */

/* Threads' regions often lie a power of two apart. */
static inline size_t pages_slot(uint64_t page)
{
    return (size_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> 32) % PAGES_NEAR;
}
static inline bool pages_near(const struct pages *p, uint64_t page)
{
    return p->near[pages_slot(page)].page == page + 1;
}
/* Where the page's frame begins. Gives it one, if it has none: in the order of first touches. */
static inline sim_addr pages_base(struct pages *p, uint64_t page)
{
    return LIKELY(pages_near(p, page)) ? p->near[pages_slot(page)].base : pages_place(p, page);
}
static inline sim_addr pages_physical(struct pages *p, sim_addr a)
{
    if (p->params.mapping == PAGES_IDENTITY)
        return a;
    return pages_base(p, a >> p->shift) | (a & p->offset);
}

#endif
