/* region.c - the page rule (LARD 4.1: a region must lie in one virtual page, so that the
 * instruction needs one translation), and splitting regions and copies into pieces that obey it. */
#include <assert.h>

#include "isa/lardx86/lardx86.h"

struct lx_split lx_split_region(sim_addr addr, uint64_t size, uint64_t page)
{
    return lx_split_copy(addr, addr, size, page);
}

struct lx_split lx_split_copy(sim_addr dst, sim_addr src, uint64_t size, uint64_t page)
{
    assert(page && !(page & (page - 1)));
    return (struct lx_split){
        .dst = dst, .src = src, .left = size, .page = page, .down = dst - src < size && dst != src};
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t bytes_from(sim_addr addr, uint64_t page) /* from addr to the end of its page */
{
    return page - (addr & (page - 1));
}

static uint64_t bytes_before(sim_addr end, uint64_t page) /* from the start of its page to end */
{
    return ((end - 1) & (page - 1)) + 1;
}

bool lx_split_next(struct lx_split *s, struct lx_piece *piece)
{
    const sim_addr dst = s->dst + s->left, src = s->src + s->left; /* ends */

    if (s->left == 0)
        return false;
    if (s->down) {
        const uint64_t n =
            smaller(s->left, smaller(bytes_before(dst, s->page), bytes_before(src, s->page)));
        *piece = (struct lx_piece){dst - n, src - n, n};
        s->left -= n;
    } else {
        const uint64_t n =
            smaller(s->left, smaller(bytes_from(s->dst, s->page), bytes_from(s->src, s->page)));
        *piece = (struct lx_piece){s->dst, s->src, n};
        s->dst += n;
        s->src += n;
        s->left -= n;
    }
    return true;
}
