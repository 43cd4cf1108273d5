/* extent.c - an AVL tree of ranges that do not overlap, by where they begin. A sorted array would
 * copy its tail for each cut; a bit per byte would be as large as the memory that is ruled out. */
#include "policy/checker/extent.h"

#include <stdlib.h>

#include "base/mem.h"

struct extent {
    struct extent *kid[2]; /* by address: below, above */
    sim_addr lo, last; /* its first and its last byte: an end beyond the last address would be 0 */
    int height;        /* of the subtree */
};

void extents_init(struct extents *x, struct budget *budget)
{
    *x = (struct extents){.budget = budget};
}

static void free_tree(struct extent *e)
{
    if (!e)
        return;
    free_tree(e->kid[0]);
    free_tree(e->kid[1]);
    free(e);
}

void extents_free(struct extents *x)
{
    free_tree(x->root);
    budget_give(x->budget, x->n * sizeof *x->root);
    extents_init(x, x->budget);
}

/* ---- the tree ------------------------------------------------------------------------------- */

static int height(const struct extent *e)
{
    return e ? e->height : 0;
}

static void measure(struct extent *e)
{
    const int left = height(e->kid[0]), right = height(e->kid[1]);

    e->height = (left > right ? left : right) + 1;
}

static struct extent *rotate(struct extent *e, int dir) /* kid[!dir] comes up */
{
    struct extent *up = e->kid[!dir];

    e->kid[!dir] = up->kid[dir];
    up->kid[dir] = e;
    measure(e);
    measure(up);
    return up;
}

static struct extent *balance(struct extent *e)
{
    const int lean = height(e->kid[1]) - height(e->kid[0]);

    measure(e);
    if (lean >= -1 && lean <= 1)
        return e;
    const int heavy = lean > 0;
    struct extent *kid = e->kid[heavy];
    if (height(kid->kid[!heavy]) > height(kid->kid[heavy]))
        e->kid[heavy] = rotate(kid, heavy);
    return rotate(e, !heavy);
}

static struct extent *insert(struct extent *root, struct extent *e)
{
    if (!root)
        return e;
    struct extent **kid = &root->kid[e->lo > root->lo];
    *kid = insert(*kid, e);
    return balance(root);
}

static struct extent *take_first(struct extent *root, struct extent **first)
{
    if (!root->kid[0]) {
        *first = root;
        return root->kid[1];
    }
    root->kid[0] = take_first(root->kid[0], first);
    return balance(root);
}

/* Takes out the extent that begins at lo, which is there. */
static struct extent *extract(struct extent *root, sim_addr lo)
{
    struct extent *right = root->kid[1], *next;

    if (lo != root->lo) {
        struct extent **kid = &root->kid[lo > root->lo];
        *kid = extract(*kid, lo);
        return balance(root);
    }
    if (!right) {
        next = root->kid[0];
    } else {
        right = take_first(right, &next);
        next->kid[0] = root->kid[0];
        next->kid[1] = right;
        next = balance(next);
    }
    free(root);
    return next;
}

static struct extent *reaching(const struct extents *x, sim_addr addr)
{
    struct extent *best = NULL;

    for (struct extent *e = x->root; e; e = e->kid[e->last < addr])
        if (e->last >= addr)
            best = e;
    return best;
}

/* ---- ranges --------------------------------------------------------------------------------- */

static void add(struct extents *x, sim_addr lo, sim_addr last)
{
    struct extent *e = xmalloc(sizeof *e);

    *e = (struct extent){.lo = lo, .last = last, .height = 1};
    x->root = insert(x->root, e);
    x->n++;
    budget_take(x->budget, sizeof *e);
}

static void take_out(struct extents *x, sim_addr lo)
{
    x->root = extract(x->root, lo);
    x->n--;
    budget_give(x->budget, sizeof *x->root);
}

bool extents_next(const struct extents *x, sim_addr addr, sim_addr *lo, sim_addr *last)
{
    const struct extent *e = reaching(x, addr);

    if (!e)
        return false;
    *lo = e->lo;
    *last = e->last;
    return true;
}

/* Each range that meets [lo, last] gets shorter, is cut in two, or goes. */
void extents_cut(struct extents *x, sim_addr lo, sim_addr last)
{
    struct extent *e;

    while ((e = reaching(x, lo)) && e->lo <= last) {
        const sim_addr end = e->last;
        if (e->lo < lo) {
            e->last = lo - 1;
            if (end > last)
                add(x, last + 1, end);
        } else if (end > last) {
            /* Still between its neighbours, so its place in the tree is right. */
            e->lo = last + 1;
        } else {
            take_out(x, e->lo);
        }
        if (end >= last)
            return;
    }
}

void extents_put(struct extents *x, sim_addr lo, sim_addr last)
{
    extents_cut(x, lo, last);
    add(x, lo, last);
}

/* An image first, as source and destination may overlap. */
void extents_copy(struct extents *x, sim_addr to, sim_addr from, uint64_t bytes)
{
    const sim_addr from_last = from + (bytes - 1);
    struct extents image = {.budget = x->budget};
    sim_addr lo, last, at = from;

    while (extents_next(x, at, &lo, &last) && lo <= from_last && !budget_ends(x->budget)) {
        add(&image, lo > from ? lo : from, last < from_last ? last : from_last);
        if (last >= from_last)
            break;
        at = last + 1;
    }
    extents_cut(x, to, to + (bytes - 1));
    while (extents_next(&image, 0, &lo, &last)) {
        take_out(&image, lo);
        add(x, to + (lo - from), to + (last - from));
    }
}
