/* check.c - what tests ask of the shared memory: the state and the contents of a process's copy,
 * and what must hold of all copies at any time. */
#include "base/mem.h"
#include "coherence/dsm/dsm_int.h"
#include "tests/coherence/dsm/check.h"

enum dsm_state dsm_state(const struct dsm *d, unsigned process, struct vaddr addr)
{
    const uint64_t *at = map_find(&d->pages, addr.at >> d->shift);
    const struct dsm_page *page = at ? (const struct dsm_page *)(uintptr_t)*at : NULL;

    return page && page->copy[process] ? page->copy[process]->state : DSM_NONE;
}

static uint32_t *word_of(const struct dsm *d, unsigned process, struct vaddr addr)
{
    const uint64_t *at = map_find(&d->pages, addr.at >> d->shift);
    const struct dsm_page *page = (const struct dsm_page *)(uintptr_t)*at;

    return &page->copy[process]->word[(addr.at & (d->page - 1)) / sizeof(uint32_t)];
}

uint32_t dsm_load(const struct dsm *d, unsigned process, struct vaddr addr)
{
    return *word_of(d, process, addr);
}

void dsm_store(struct dsm *d, unsigned process, struct vaddr addr, uint32_t value)
{
    assert(dsm_state(d, process, addr) == DSM_WRITE);
    *word_of(d, process, addr) = value;
}

uint64_t dsm_page_room(const struct dsm *d)
{
    return heap_bytes(sizeof(struct dsm_page) + d->n * sizeof(struct copy *));
}

/* ---- what must hold -------------------------------------------------------------------------- */

static void check_copy(const struct dsm *d, const struct dsm_page *page, unsigned process)
{
    const struct copy *c = page->copy[process];
    size_t i = 0;

    if (!c)
        return;
    const bool lacks = notice_lacking(d, process, page, &i) != NULL;
    assert((c->state == DSM_INVALID) == lacks); /* valid is what lacks nothing known */
    assert((c->state == DSM_WRITE) == (c->written != NULL));
    for (unsigned k = 0; k < d->n; k++)
        assert(c->applied[k] <= d->process[k].clock[k]);
    (void)lacks;
}

void dsm_check(const struct dsm *d)
{
    for (size_t i = 0; i < d->touches; i++) {
        const struct dsm_page *page = d->touched[i];
        assert(page->copy[page->holder]);
        for (unsigned k = 0; k < d->n; k++)
            check_copy(d, page, k);
        for (size_t k = 0; k < page->notices; k++) { /* a diff, or its writer's twin */
            const struct notice *n = &page->notice[k];
            const struct copy *c = page->copy[n->of->process];
            assert(n->diff || (c && c->state == DSM_WRITE && c->twin == n->of->index));
            (void)n;
            (void)c;
        }
    }
    for (unsigned p = 0; p < d->n; p++)
        for (unsigned q = 0; q < d->n; q++)
            assert(d->process[p].clock[q] <= d->process[q].clock[q]);
}
