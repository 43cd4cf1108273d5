/* barnes_plain.c - Barnes and Hut's computation on the host, one body after the other, and the tree
 * of a thread that has one of its own. */
#include "workloads/kernels/barnes_plain.h"

#include <math.h>

/* Brings those of the range that lie in quadrant q to its front; how many. */
static uint64_t gather(const struct barnes_tree *p, uint64_t first, uint64_t n,
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

/* Makes room for one more cell, in the VM's memory, as an error does not come back here. The old
 * array is left: as rooms double, that costs no more than the new one. */
static void grow(struct barnes_tree *p)
{
    const struct barnes_cell *was = p->cell;

    p->room = p->room ? 2 * p->room : 64;
    p->cell = vm_scratch(p->t, p->room, sizeof *p->cell);
    if (was)
        memcpy(p->cell, was, p->cells * sizeof *was);
}

static uint64_t build(struct barnes_tree *p, uint64_t first, uint64_t n, struct barnes_box in)
{
    const size_t at = p->cells;
    struct barnes_cell c = {.in = in, .first = first, .n = n};
    uint64_t passed = n > 1 ? n : 0;

    if (p->cells == p->room)
        grow(p);
    p->cell[p->cells++] = c;
    for (unsigned q = 0; n > 1 && q < 4; q++) {
        const uint64_t inside = gather(p, first, c.first + n - first, &in, q);
        const size_t child = p->cells;
        if (!inside)
            continue;
        passed += build(p, first, inside, barnes_quarter(&in, q));
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
    return passed;
}

uint64_t barnes_tree_build(struct barnes_tree *p, uint64_t n)
{
    double size = 1;

    for (uint64_t i = 0; i < n; i++) {
        p->order[i] = i;
        size = fmax(size, 2 * fmax(fabs(p->body[i].at[0]), fabs(p->body[i].at[1])));
    }
    p->cells = 0;
    return build(p, 0, n, (struct barnes_box){0, 0, size});
}

static void force(const struct barnes_tree *p, struct barnes_body *b, uint64_t number)
{
    b->a[0] = b->a[1] = 0;
    for (uint64_t i = 0; i < p->cells;) {
        const struct barnes_cell *c = &p->cell[i];
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

static void step(struct barnes_tree *p, struct barnes_body *b, uint64_t n)
{
    barnes_tree_build(p, n);
    for (uint64_t i = 0; i < n; i++)
        force(p, &b[i], i);
    for (uint64_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 2; k++) {
            b[i].v[k] += barnes_dt * b[i].a[k];
            b[i].at[k] += barnes_dt * b[i].v[k];
        }
}

void barnes_plain(struct vm_thread *t, struct barnes_body *b, uint64_t n, uint64_t steps)
{
    struct barnes_tree p = {.t = t, .body = b, .order = vm_scratch(t, n, sizeof *p.order)};

    for (uint64_t i = 0; i < steps; i++)
        step(&p, b, n);
}
