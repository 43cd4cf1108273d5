/* interval.c - sets of bytes, and maps: disjoint intervals in an AVL tree, those of a set never
 * adjacent. A bump allocator's objects are one interval of a set, and no input makes an operation
 * cost more than the logarithm (amortised: what is removed was inserted). */
#include "base/interval.h"

#include <stdlib.h>

#include "base/budget.h"
#include "base/mem.h"

static int height(const struct interval *s)
{
    return s ? s->height : 0;
}

static void measure(struct interval *s)
{
    const int left = height(s->kid[0]), right = height(s->kid[1]);

    s->height = (left > right ? left : right) + 1;
}

static struct interval *rotate(struct interval *s, int dir) /* kid[!dir] comes up */
{
    struct interval *up = s->kid[!dir];

    s->kid[!dir] = up->kid[dir];
    up->kid[dir] = s;
    measure(s);
    measure(up);
    return up;
}

/* The AVL step: at most two rotations where one side is two higher than the other. */
static struct interval *balance(struct interval *s)
{
    const int lean = height(s->kid[1]) - height(s->kid[0]);

    measure(s);
    if (lean >= -1 && lean <= 1)
        return s;
    const int heavy = lean > 0;
    struct interval *kid = s->kid[heavy];
    if (height(kid->kid[!heavy]) > height(kid->kid[heavy]))
        s->kid[heavy] = rotate(kid, heavy);
    return rotate(s, !heavy);
}

static struct interval *insert(struct budget *b, struct interval *root, uint64_t lo, uint64_t last,
                               uint32_t mark)
{
    if (!root) {
        root = xmalloc(sizeof *root);
        budget_take(b, heap_bytes(sizeof *root));
        *root = (struct interval){.lo = lo, .last = last, .mark = mark, .height = 1};
        return root;
    }
    struct interval **kid = &root->kid[lo > root->lo];
    *kid = insert(b, *kid, lo, last, mark);
    return balance(root);
}

static struct interval *take_first(struct interval *root, struct interval **first)
{
    if (!root->kid[0]) {
        *first = root;
        return root->kid[1];
    }
    root->kid[0] = take_first(root->kid[0], first);
    return balance(root);
}

/* Removes the interval that starts at lo, which is there. */
static struct interval *extract(struct budget *b, struct interval *root, uint64_t lo)
{
    if (lo != root->lo) {
        struct interval **kid = &root->kid[lo > root->lo];
        *kid = extract(b, *kid, lo);
        return balance(root);
    }
    struct interval *left = root->kid[0], *right = root->kid[1], *next;
    budget_give(b, heap_bytes(sizeof *root));
    free(root);
    if (!right)
        return left;
    right = take_first(right, &next);
    next->kid[0] = left;
    next->kid[1] = right;
    return balance(next);
}

struct interval *interval_reaching(struct interval *root, uint64_t x)
{
    struct interval *best = NULL;

    while (root) {
        if (root->last >= x)
            best = root;
        root = root->kid[root->last < x];
    }
    return best;
}

struct interval *interval_meeting(struct interval *root, uint64_t lo, uint64_t last)
{
    struct interval *s = interval_reaching(root, lo);

    return s && s->lo <= last ? s : NULL;
}

/* Adds lo..last. Intervals that it overlaps or touches become part of it: so they stay disjoint and
 * few. */
void interval_add(struct budget *b, struct interval **root, uint64_t lo, uint64_t last)
{
    const uint64_t below = lo ? lo - 1 : 0, above = last < UINT64_MAX ? last + 1 : last;
    struct interval *s = interval_meeting(*root, below, above), *next;

    if (!s) {
        *root = insert(b, *root, lo, last, 0);
        return;
    }
    while (s->last < last && (next = interval_meeting(*root, s->last + 1, above))) {
        const uint64_t end = next->last;
        *root = extract(b, *root, next->lo);
        s->last = end; /* only now: the tree must find next */
    }
    if (s->last < last)
        s->last = last;
    if (s->lo > lo)
        s->lo = lo;
}

/* May shorten one at either end, split one, and remove those in between. */
void interval_remove(struct budget *b, struct interval **root, uint64_t lo, uint64_t last)
{
    struct interval *s = interval_meeting(*root, lo, last);

    while (s) {
        const uint64_t end = s->last;
        if (s->lo < lo) {
            s->last = lo - 1;
            if (end > last)
                *root = insert(b, *root, last + 1, end, s->mark);
        } else if (end > last) {
            s->lo = last + 1;
        } else {
            *root = extract(b, *root, s->lo);
        }
        s = end < last ? interval_meeting(*root, lo, last) : NULL;
    }
}

void interval_mark(struct budget *b, struct interval **map, uint64_t lo, uint64_t last,
                   uint32_t mark)
{
    interval_remove(b, map, lo, last);
    *map = insert(b, *map, lo, last, mark);
}

void interval_free(struct budget *b, struct interval **set)
{
    struct interval *s = *set;

    if (!s)
        return;
    interval_free(b, &s->kid[0]);
    interval_free(b, &s->kid[1]);
    budget_give(b, heap_bytes(sizeof *s));
    free(s);
    *set = NULL;
}

void interval_move(struct budget *b, struct interval **set, uint64_t to, uint64_t from,
                   uint64_t bytes)
{
    const uint64_t from_last = from + (bytes - 1), to_last = to + (bytes - 1);
    struct interval *image = NULL;
    uint64_t at = from;

    for (struct interval *s; (s = interval_meeting(*set, at, from_last)); at = s->last + 1) {
        const uint64_t lo = s->lo > from ? s->lo : from;
        image = insert(b, image, lo, s->last < from_last ? s->last : from_last, s->mark);
        if (s->last >= from_last)
            break;
    }
    interval_remove(b, set, to, to_last);
    for (struct interval *s; (s = interval_reaching(image, 0)); image = extract(b, image, s->lo))
        if (s->mark)
            *set = insert(b, *set, s->lo - from + to, s->last - from + to, s->mark);
        else
            interval_add(b, set, s->lo - from + to, s->last - from + to);
}

uint64_t interval_bytes(struct interval *set, uint64_t lo, uint64_t last)
{
    uint64_t n = 0;

    for (const struct interval *s; (s = interval_meeting(set, lo, last)); lo = s->last + 1) {
        const uint64_t from = s->lo > lo ? s->lo : lo, to = s->last < last ? s->last : last;
        n += to - from + 1;
        if (s->last >= last)
            break;
    }
    return n;
}
