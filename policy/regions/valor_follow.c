/* valor_follow.c - entries of read logs and write sets go where clears and copies take their
 * locations, as a collector that traces them has it (Valor 5.3).
 *
 * They are found by an index that only clears and copies keep up to date: each entry enters it
 * once. An entry whose location is cleared or copied is validated first, so that no conflict is
 * lost with the location, and none found twice: Valor's log would have kept the object alive. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/regions/valor.h"

enum { HEAD_BYTES = 8, STALE_MIN = 4096 };

/* ---- the index ------------------------------------------------------------------------------ */

static uint32_t spare_node(struct valor *v)
{
    struct follow *f = &v->follow;
    const uint32_t number = f->spare;

    f->used++;
    if (number) {
        f->spare = f->node[number - 1].next;
        return number;
    }
    f->node = budget_grow(v->env->budget, f->node, f->n, &f->cap, sizeof *f->node);
    return (uint32_t)++f->n;
}

/* Adds an entry to the index, in front of the others of its location. */
static void enter(struct valor *v, uint32_t actor, bool write, uint64_t serial, sim_addr location)
{
    const uint32_t number = spare_node(v);
    uint64_t *head = shadow_get(v->follow.heads, location);

    v->follow.node[number - 1] = (struct follow_node){
        .serial = serial, .next = (uint32_t)*head, .actor = (uint16_t)actor, .write = write};
    *head = number;
}

/* Adds those entries of a thread's log and write set that the index does not have yet. */
static void enter_thread(struct valor *v, uint32_t actor)
{
    struct valor_thread *t = &v->thread[actor];
    const uint64_t reads = t->read_base + t->reads, writes = t->write_base + t->writes;

    for (uint64_t s = t->read_indexed > t->read_base ? t->read_indexed : t->read_base; s < reads;
         s++)
        if (t->read[s - t->read_base].x)
            enter(v, actor, false, s, t->read[s - t->read_base].location);
    for (uint64_t s = t->write_indexed > t->write_base ? t->write_indexed : t->write_base;
         s < writes; s++)
        if (t->write[s - t->write_base].x)
            enter(v, actor, true, s, t->write[s - t->write_base].location);
    t->read_indexed = reads;
    t->write_indexed = writes;
}

static bool drop_head(void *arg, sim_addr addr, void *cell)
{
    (void)arg;
    (void)addr;
    (void)cell;
    return true;
}

/* Drops the whole index; live entries enter again. */
static void begin_again(struct valor *v)
{
    struct follow *f = &v->follow;

    shadow_all(f->heads, drop_head, NULL);
    f->n = f->used = f->spare = 0;
    for (uint32_t i = 0; i < v->threads; i++)
        v->thread[i].read_indexed = v->thread[i].write_indexed = 0;
}

/* Brings the index up to date. When most of it is stale, it is made anew. */
static void update(struct valor *v)
{
    struct follow *f = &v->follow;
    uint64_t live = 0;

    if (!f->heads)
        f->heads = shadow_new(v->env->granule ? v->env->granule : 1, HEAD_BYTES, v->env->budget);
    for (uint32_t i = 0; i < v->threads; i++)
        live += v->thread[i].reads + v->thread[i].writes;
    if (f->used > 2 * live + STALE_MIN)
        begin_again(v);
    for (uint32_t i = 0; i < v->threads; i++)
        enter_thread(v, i);
}

/* ---- entries in a range --------------------------------------------------------------------- */

static struct logged *read_of(const struct valor *v, const struct follow_node *n)
{
    const struct valor_thread *t = &v->thread[n->actor];

    if (n->write || n->serial < t->read_base || n->serial - t->read_base >= t->reads)
        return NULL;
    return &t->read[n->serial - t->read_base];
}

static struct written *write_of(const struct valor *v, const struct follow_node *n)
{
    const struct valor_thread *t = &v->thread[n->actor];

    if (!n->write || n->serial < t->write_base || n->serial - t->write_base >= t->writes)
        return NULL;
    return &t->write[n->serial - t->write_base];
}

/* A location is cleared or overwritten: its entries are validated, and then stand for nothing. */
static bool drop_entries(void *arg, sim_addr addr, void *cell)
{
    struct valor *v = arg;
    struct follow *f = &v->follow;
    uint64_t *head = cell;

    (void)addr;
    while (*head) {
        const uint32_t number = (uint32_t)*head;
        struct follow_node *n = &f->node[number - 1];
        struct logged *r = read_of(v, n);
        struct written *w = write_of(v, n);
        *head = n->next;
        if (r)
            valor_validate_one(v, n->actor, r);
        if (r)
            r->x = NULL;
        if (w)
            w->x = NULL;
        n->next = f->spare;
        f->spare = number;
        f->used--;
    }
    return true;
}

struct travellers { /* entries that are copied */
    struct valor *v;
    struct follow_node *node; /* owns */
    struct logged *read;      /* owns; of each node that is a read */
    struct written *write;    /* owns; the others */
    size_t n, node_cap, read_cap, write_cap, reads, writes;
};

static bool gather_entries(void *arg, sim_addr addr, void *cell)
{
    struct travellers *g = arg;
    struct valor *v = g->v;

    (void)addr;
    for (uint64_t number = *(uint64_t *)cell; number; number = v->follow.node[number - 1].next) {
        const struct follow_node *n = &v->follow.node[number - 1];
        struct logged *r = read_of(v, n);
        struct written *w = write_of(v, n);
        if (!(r && r->x) && !(w && w->x))
            continue;
        g->node = xgrow(g->node, g->n, &g->node_cap, sizeof *g->node);
        g->node[g->n++] = *n;
        if (r) {
            valor_validate_one(v, n->actor, r);
            g->read = xgrow(g->read, g->reads, &g->read_cap, sizeof *g->read);
            g->read[g->reads++] = *r;
        } else {
            g->write = xgrow(g->write, g->writes, &g->write_cap, sizeof *g->write);
            g->write[g->writes++] = *w;
        }
    }
    return false;
}

/* Adds the gathered entries again, at the locations that the copy has taken them to. */
static void arrive(struct travellers *g, sim_addr by)
{
    struct valor *v = g->v;
    size_t r = 0, w = 0;

    for (size_t i = 0; i < g->n; i++) {
        if (g->node[i].write) {
            struct written is = g->write[w++];
            is.location += by;
            is.x = cells_get(&v->variables, is.location);
            valor_add_write(v, g->node[i].actor, &is);
        } else {
            struct logged is = g->read[r++];
            is.location += by;
            is.x = cells_get(&v->variables, is.location);
            valor_add_read(v, g->node[i].actor, &is);
        }
    }
    free(g->node);
    free(g->read);
    free(g->write);
}

/* ---- variables ------------------------------------------------------------------------------ */

static void drop_atomics(void *self, void *cell)
{
    const struct valor *v = self;
    struct valor_variable *x = cell;

    atomics_free(x->atomics, v->env->budget);
}

static void own_atomics(void *self, void *cell)
{
    const struct valor *v = self;
    struct valor_variable *x = cell;

    x->atomics = atomics_copy(x->atomics, v->env->budget);
}

static void check_variable(const void *self, void *cell)
{
    const struct valor *v = self;
    const struct valor_variable *x = cell;

    (void)v;
    assert(x->used && x->version <= v->version_mask);
    assert(!x->taking || (x->writer < v->threads && x->taking <= v->thread[x->writer].taking));
    (void)x;
}

const struct cell_kind valor_variable_kind = {
    .bytes = sizeof(struct valor_variable),
    .cleared = "Metadata emptied by clears and overwritten by copies.",
    .copied = "Metadata that copies wrote.",
    .drop = drop_atomics,
    .own = own_atomics,
    .check = check_variable,
};

void valor_move(struct valor *v, const struct event *ev)
{
    const bool copy = ev->kind == EV_COPY;
    const sim_addr from = copy ? ev[1].addr : ev->addr;
    struct travellers g = {.v = v};

    update(v);
    if (copy)
        shadow_each(v->follow.heads, from, ev->aux, gather_entries, &g);
    shadow_each(v->follow.heads, ev->addr, ev->aux, drop_entries, v);
    race_late_done(v->env->report);
    cells_move(&v->variables, ev);
    arrive(&g, ev->addr - from);
}

void valor_follow_free(struct valor *v)
{
    shadow_free(v->follow.heads);
    free(v->follow.node);
}
