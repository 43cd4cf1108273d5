/* diff.c - diffs as the source of writes (4.5.4): no store is instrumented, and what an interval
 * has written of a page is what the page's diff has. Diffs are made lazily: a twin that was made in
 * one interval stands over later ones, whose writes are then in the diff of the first. So a write
 * may be taken for an earlier one (Figure 4).
 *
 * A twin goes as on machine=dsm (docs/dsm.md, "A page, state by state"): its process hears that
 * another wrote the page, or one that has heard of its writes uses the page, and asks for the diff.
 * The comparison asks for all that are left. */
#include "policy/cvm/cvm.h"

/* An interval of another process that has made the twin go before `now`. */
static bool ends_twin(const struct cvm_entry *other, const struct cvm_interval *twin,
                      const struct cvm_interval *now)
{
    const bool heard =
        other->kinds & CVM_WRITES && cvm_before(other->of, now) && !cvm_before(other->of, twin);

    return heard || cvm_before(twin, other->of);
}

static bool stands(const struct cvm_page *p, const struct cvm_entry *twin,
                   const struct cvm_interval *now)
{
    for (uint32_t i = 0; i < p->lanes; i++)
        for (const struct cvm_entry *y = p->lane[i].fresh; y && p->lane[i].actor != now->actor;
             y = y->next)
            if (ends_twin(y, twin->of, now))
                return false;
    return true;
}

struct cvm_entry *cvm_diff(struct cvm *c, struct cvm_entry *x)
{
    struct cvm_page *p = cvm_page_find(c, x->page);
    struct cvm_lane *l = cvm_lane(c, p, x->of->actor);

    if (!l->twin || (l->twin != x && !stands(p, l->twin, x->of)))
        l->twin = x;
    return l->twin;
}
