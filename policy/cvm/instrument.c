/* instrument.c - which accesses call the analysis routine, and for how much of it (4.5): what
 * data-flow analysis proves private is not instrumented; accesses of a basic block share a call; a
 * call at an access that turned out private is removed. */
#include "policy/cvm/cvm.h"

#include <stdlib.h>

/* ---- batching ------------------------------------------------------------------------------- */

static enum cvm_way way_in_block(struct cvm *c, const struct cvm_thread *t, const struct event *ev)
{
    const bool write = event_writes(ev);
    enum cvm_way way = CVM_WHOLE;

    for (unsigned i = 0; i < t->block_n; i++) {
        const struct cvm_batched *b = &t->block[i];
        if (b->addr == ev->addr && b->size == ev->size) {
            if (b->write == write) {
                c->st.same++;
                return CVM_NONE;
            }
            way = CVM_MIX;
        } else if (way == CVM_WHOLE && b->write == write && b->row < CVM_ROW &&
                   (b->addr + b->size == ev->addr || ev->addr + ev->size == b->addr)) {
            way = CVM_NEXT;
        }
    }
    c->st.mix += way == CVM_MIX;
    c->st.next += way == CVM_NEXT;
    return way;
}

static unsigned row_of(const struct cvm_thread *t, const struct event *ev, enum cvm_way way)
{
    unsigned row = 1;

    for (unsigned i = 0; way == CVM_NEXT && i < t->block_n; i++)
        if (t->block[i].row >= row && t->block[i].write == event_writes(ev))
            row = t->block[i].row + 1u;
    return row;
}

/* A trace has no basic blocks: accesses of a thread are taken to be of one while they are within so
 * many instructions of its first, and no synchronisation is between them. */
static enum cvm_way batch(struct cvm *c, struct cvm_thread *t, const struct event *ev)
{
    enum cvm_way way = CVM_WHOLE;

    t->block_span += ev->gap + 1;
    if (!t->block_n || t->block_n == CVM_BLOCK || t->block_span > c->params.block) {
        t->block_n = 0;
        t->block_span = 1;
    } else {
        way = way_in_block(c, t, ev);
    }
    if (way != CVM_NONE)
        t->block[t->block_n++] = (struct cvm_batched){.addr = ev->addr,
                                                      .size = ev->size,
                                                      .write = event_writes(ev),
                                                      .row = (uint8_t)row_of(t, ev, way)};
    return way;
}

/* ---- run-time code modification ------------------------------------------------------------- */

enum { CALLS, TO_REMOVE, REMOVED }; /* what a site does */

/* True: the call at that site is gone, and whatever it accesses is not seen. */
static bool removed(struct cvm_thread *t, const struct event *ev)
{
    const uint64_t site = event_site(ev);

    if (!site)
        return false;
    uint64_t *is = map_put(&t->sites, site);
    if (*is == REMOVED)
        return true;
    if (*is == CALLS && ev->flags & EVF_PRIVATE) {
        *is = TO_REMOVE;
        t->to_remove = xgrow(t->to_remove, t->removing, &t->remove_cap, sizeof *t->to_remove);
        t->to_remove[t->removing++] = site;
    }
    return false;
}

/* Removes calls at a synchronisation: not before, as the routine would return to what is no call
 * any more. */
void cvm_modify(struct cvm *c, struct cvm_thread *t)
{
    for (size_t i = 0; i < t->removing; i++)
        *map_put(&t->sites, t->to_remove[i]) = REMOVED;
    c->st.modified += t->removing;
    if (c->env->cost->on && t->removing)
        cvm_charge_modify(c, t->removing);
    t->removing = 0;
}

/* ---- sites ---------------------------------------------------------------------------------- */

/* A binary's static counts: here of sites that have had an access. */
static void note_site(struct cvm *c, const struct event *ev, enum cvm_site needs)
{
    enum { WHAT = 7, PRIVATE = 8, SHARED = 16, BOTH = PRIVATE | SHARED };
    const uint64_t site = event_site(ev);

    if (!site)
        return;
    uint64_t *is = map_put(&c->sites, site);
    const uint64_t was = *is, data = ev->flags & EVF_PRIVATE ? PRIVATE : SHARED;
    if ((was & WHAT) < needs) {
        c->st.sites[was & WHAT]--; /* of those that are unknown nobody asks */
        c->st.sites[needs]++;
        *is = (was & BOTH) | needs;
    }
    *is |= data;
    c->st.sites_both += (*is & BOTH) == BOTH && (was & BOTH) != BOTH;
}

/* ---- an access ------------------------------------------------------------------------------ */

enum cvm_way cvm_instrumented(struct cvm *c, struct cvm_thread *t, const struct event *ev)
{
    static const enum cvm_site needs[] = {[CVM_WHOLE] = CVM_SITE_CALLS,
                                          [CVM_MIX] = CVM_SITE_MIX,
                                          [CVM_NEXT] = CVM_SITE_NEXT,
                                          [CVM_NONE] = CVM_SITE_SAME};

    if (c->params.writes == CVM_WRITES_DIFFS && event_writes(ev)) {
        c->st.diffed++;
        return CVM_NONE;
    }
    if (c->params.data_flow && ev->flags & EVF_PROVED) {
        c->st.proved++;
        note_site(c, ev, CVM_SITE_PROVED);
        return CVM_NONE;
    }
    if (c->params.modify && removed(t, ev)) {
        c->st.noops++;
        c->st.unseen += !(ev->flags & EVF_PRIVATE);
        note_site(c, ev, CVM_SITE_UNKNOWN);
        return CVM_NOOPS;
    }
    const enum cvm_way way = c->params.batching ? batch(c, t, ev) : CVM_WHOLE;
    c->st.called += way != CVM_NONE;
    c->st.called_private += way != CVM_NONE && ev->flags & EVF_PRIVATE;
    note_site(c, ev, needs[way]);
    return way;
}
