/* region.h - between the files of clears, copies and moves. region.c goes through a region's parts
 * and the lines on chip in them. in_cache.c copies such lines in the caches. move.c holds a copy
 * back for the clear that makes it a move. */
#ifndef LARDSIM_RADISH_REGION_H
#define LARDSIM_RADISH_REGION_H

#include "policy/radish/radish.h"

struct region_part { /* of a region, in one page on either side */
    struct paddr to, from;
    uint64_t bytes;
};

/* ---- radish/region.c --------------------------------------------------------------------------
 */

/* The granules of a history line that are in [from, from + bytes). */
static inline granule_set region_inside(const struct radish *r, const struct hline *h,
                                        struct paddr from, uint64_t bytes)
{
    granule_set set = 0;

    for (unsigned i = 0; i < r->entries; i++)
        if (line_granule(r, h, i).at - from.at < bytes)
            set |= (granule_set)1 << i;
    return set;
}

/* set: what of the line is in the region. */
typedef void line_visit(struct radish *r, struct hline *h, granule_set set, unsigned core);
void region_visit(struct radish *r, struct visit *v, struct paddr from, uint64_t bytes,
                  line_visit *fn);
line_visit region_store; /* all that the line holds goes to the manager, and the line */
/* Each part a handler. */
/* *left is what has not taken effect: meanwhile others may do that. */
sim_cycle region_copy_parts(struct radish *r, struct copy_regions *left, unsigned core, bool move,
                            sim_cycle now);
/* Copies all at once in an open handler: the costs are gathered in the core's account of copies. */
void region_copy_at_once(struct radish *r, struct copy_regions *left, bool move, struct visit *v);

/* ---- radish/in_cache.c: cached lines of a copy's source -----------------------------------------
 */

struct taken_along { /* lines that are copied in the caches; they stay meanwhile */
    struct along {
        struct hline *line;
        granule_set set;
    } * at; /* owns */
    size_t n, cap;
};

/* Evicts the lines of the source, all but those that `along` then has. */
void copy_source(struct radish *r, struct visit *v, const struct region_part *p,
                 struct taken_along *along);
/* Copies cached lines, after the manager's own have been copied and the destination is not
 * cached. */
void copy_along(struct radish *r, struct visit *v, const struct region_part *p,
                const struct taken_along *along);

#endif
