/* barnes_plain.c - Barnes and Hut's computation on the host, one body after the other. In the place
 * of the tree it has an array of bodies in the order of the tree's leaves: a cell is a range of it.
 */
#include "workloads/kernels/barnes_plain.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>

struct tree_cell {
    struct barnes_box in;
    double mass, x, y;
    uint64_t first, n, next; /* next: the cell behind all that are inside this one */
};
struct plain_tree {
    struct barnes_body *body;
    uint64_t *order; /* bodies, by number */
    struct tree_cell *cell;
    size_t cells, cap;
};

/* Brings those of the range that lie in quadrant q to its front; how many. */
static uint64_t gather(const struct plain_tree *p, uint64_t first, uint64_t n,
                       const struct barnes_box *in, unsigned q)
{
    uint64_t found = 0;

    for (uint64_t i = first; i < first + n; i++) {
        const uint64_t b = p->order[i];
        if (barnes_quadrant(in, p->body[b].at[0], p->body[b].at[1]) != q)
            continue;
        p->order[i] = p->order[first + found];
        p->order[first + found++] = b;
    }
    return found;
}

static void build(struct plain_tree *p, uint64_t first, uint64_t n, struct barnes_box in)
{
    const size_t at = p->cells;
    struct tree_cell c = {.in = in, .first = first, .n = n};

    p->cell = xgrow(p->cell, p->cells, &p->cap, sizeof *p->cell);
    p->cell[p->cells++] = c;
    for (unsigned q = 0; n > 1 && q < 4; q++) {
        const uint64_t inside = gather(p, first, c.first + n - first, &in, q);
        const size_t child = p->cells;
        if (!inside)
            continue;
        build(p, first, inside, barnes_quarter(&in, q));
        c.mass += p->cell[child].mass;
        c.x += p->cell[child].mass * p->cell[child].x;
        c.y += p->cell[child].mass * p->cell[child].y;
        first += inside;
    }
    if (n > 1) {
        c.x /= c.mass;
        c.y /= c.mass;
    } else {
        const struct barnes_body *b = &p->body[p->order[first]];
        c.mass = b->mass;
        c.x = b->at[0];
        c.y = b->at[1];
    }
    c.next = p->cells;
    p->cell[at] = c;
}

static void force(const struct plain_tree *p, uint64_t number)
{
    struct barnes_body *b = &p->body[number];

    b->a[0] = b->a[1] = 0;
    for (uint64_t i = 0; i < p->cells;) {
        const struct tree_cell *c = &p->cell[i];
        const double dx = c->x - b->at[0], dy = c->y - b->at[1];
        if (c->n > 1 && (i == 0 || barnes_near(c->in.half, dx, dy))) {
            i++;
            continue;
        }
        if (c->n > 1 || p->order[c->first] != number)
            barnes_attract(b, c->mass, dx, dy);
        i = c->next;
    }
}

static void step(struct plain_tree *p, uint64_t n)
{
    double size = 1;

    for (uint64_t i = 0; i < n; i++) {
        p->order[i] = i;
        size = fmax(size, 2 * fmax(fabs(p->body[i].at[0]), fabs(p->body[i].at[1])));
    }
    p->cells = 0;
    build(p, 0, n, (struct barnes_box){0, 0, size});
    for (uint64_t i = 0; i < n; i++)
        force(p, i);
    for (uint64_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 2; k++) {
            p->body[i].v[k] += barnes_dt * p->body[i].a[k];
            p->body[i].at[k] += barnes_dt * p->body[i].v[k];
        }
}

void barnes_plain(struct barnes_body *b, uint64_t n, uint64_t steps)
{
    struct plain_tree p = {.body = b, .order = xmalloc(n * sizeof *p.order)};

    for (uint64_t i = 0; i < steps; i++)
        step(&p, n);
    free(p.order);
    free(p.cell);
}
