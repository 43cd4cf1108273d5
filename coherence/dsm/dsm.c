/* dsm.c - the shared memory: made and freed; accesses of processes, and what their faults do. */
#include "coherence/dsm/dsm_int.h"

#include "base/mem.h"

/* ---- pages and copies ------------------------------------------------------------------------ */

static uint64_t copy_bytes(const struct dsm *d)
{
    return heap_bytes(sizeof(struct copy) + d->n * sizeof(uint32_t)) + (d->contents ? d->page : 0);
}

struct copy *copy_new(struct dsm *d, struct dsm_page *page, unsigned process)
{
    struct copy *c = xcalloc(1, sizeof *c + d->n * sizeof *c->applied);

    if (d->contents)
        c->word = xcalloc(1, (size_t)d->page);
    c->state = DSM_READ;
    budget_take(&d->budget, copy_bytes(d));
    page->copy[process] = c;
    return c;
}

void copy_free(struct dsm *d, struct dsm_page *page, unsigned process)
{
    struct copy *c = page->copy[process];

    if (!c)
        return;
    bits_free(d, c->written);
    free(c->word);
    free(c);
    page->copy[process] = NULL;
    budget_give(&d->budget, copy_bytes(d));
    memset(d->process[process].near, 0, sizeof d->process[process].near);
}

/* Makes the page at its first touch; then one process has it, and all of it is 0. */
struct dsm_page *page_of(struct dsm *d, uint64_t number)
{
    uint64_t *at = map_put(&d->pages, number);
    struct dsm_page *page = (struct dsm_page *)(uintptr_t)*at;

    if (page)
        return page;
    page = xcalloc(1, sizeof *page + d->n * sizeof(struct copy *));
    *at = (uint64_t)(uintptr_t)page;
    page->holder = d->params.home == HOME_INTERLEAVE ? (unsigned)(number % d->n) : 0;
    copy_new(d, page, page->holder);
    d->touched = xgrow(d->touched, d->touches, &d->touched_cap, sizeof(struct dsm_page *));
    d->touched[d->touches++] = page;
    budget_take(&d->budget, heap_bytes(sizeof *page + d->n * sizeof(struct copy *)));
    return page;
}

static struct copy *copy_near(struct dsm *d, unsigned process, uint64_t number)
{
    struct process *q = &d->process[process];
    const size_t slot = number % NEAR;

    if (q->near[slot].number == number + 1)
        return q->near[slot].copy;
    struct copy *c = page_of(d, number)->copy[process];
    if (c)
        q->near[slot] = (struct near_copy){number + 1, c};
    return c;
}

/* ---- accesses -------------------------------------------------------------------------------- */

bool dsm_access(struct dsm *d, unsigned process, struct vaddr addr, unsigned bytes, bool write)
{
    struct copy *c = copy_near(d, process, addr.at >> d->shift);

    assert(addr.at >> d->shift == (addr.at + bytes - 1) >> d->shift);
    if (!write)
        return c && c->state >= DSM_READ;
    if (!c || c->state != DSM_WRITE)
        return false;
    const uint64_t at = addr.at & (d->page - 1), last = (at + bytes - 1) / d->params.word;
    for (uint64_t w = at / d->params.word; w <= last; w++)
        c->written[w / 64] |= UINT64_C(1) << w % 64;
    return true;
}

/* Fetches a copy from the process that holds one. The diff of that copy's twin is still to be
 * applied: it may grow. */
static void fetch_page(struct dsm *d, struct path *p, unsigned process, struct dsm_page *page)
{
    const unsigned from = page->holder;
    const struct copy *its = page->copy[from];

    assert(from != process && its);
    message_send(d, p, process, from, DSM_MSG_PAGE_REQUEST,
                 (struct load){.bytes = {[DSM_BYTES_REQUESTS] = BYTES_PAGE}});
    message_send(
        d, p, from, process, DSM_MSG_PAGE,
        (struct load){
            .bytes = {[DSM_BYTES_PAGES] = d->page, [DSM_BYTES_CLOCKS] = d->n * BYTES_ENTRY}});
    struct copy *c = copy_new(d, page, process);
    memcpy(c->applied, its->applied, d->n * sizeof *c->applied);
    c->applied[from] = its->state == DSM_WRITE ? its->twin - 1 : d->process[from].clock[from];
    if (d->contents)
        memcpy(c->word, its->word, (size_t)d->page);
    d->st.fetched++;
}

sim_cycle dsm_fault(struct dsm *d, unsigned process, struct vaddr addr, bool write, sim_cycle now)
{
    struct path p = path_begin(d, process, now);
    struct dsm_page *page = page_of(d, addr.at >> d->shift);

    d->st.write_faults += write;
    d->st.read_faults += !write;
    process_work(d, &p, process, DSM_PART_TRAP, d->time.trap);
    if (!page->copy[process])
        fetch_page(d, &p, process, page);
    if (page->copy[process]->state != DSM_WRITE) {
        page_update(d, &p, process, page);
        page->copy[process]->state = DSM_READ;
        if (write)
            twin_make(d, &p, process, page);
        d->st.protects++;
        process_work(d, &p, process, DSM_PART_TRAP, d->time.protect);
    }
    return path_end(d, DSM_WAIT_FAULT, now, &p);
}

/* ---- life ------------------------------------------------------------------------------------ */

struct dsm *dsm_new(const struct dsm_env *env, struct err *e)
{
    struct dsm *d = xcalloc(1, sizeof *d);

    d->n = env->processes;
    d->contents = env->contents;
    if (dsm_params_read(d, env, e)) {
        free(d);
        return NULL;
    }
    d->host = xcalloc(d->n, sizeof *d->host);
    d->process = xcalloc(d->n, sizeof *d->process);
    for (unsigned i = 0; i < d->n; i++) {
        d->process[i].told = DSM_MSGS;
        d->process[i].stood_to = UINT64_MAX; /* it has done nothing yet, and serves at no cost */
    }
    dsm_account(d, NULL);
    dsm_declare(d, stats_group(stats_root(env->stats), "dsm"));
    return d;
}

void dsm_account(struct dsm *d, struct budget *b)
{
    d->budget.of = b;
    map_init(&d->pages, &d->budget);
    map_init(&d->locks, &d->budget);
    map_init(&d->barriers, &d->budget);
    for (unsigned k = 0; k < DSM_OBJECTS; k++)
        map_init(&d->objects[k], &d->budget);
}

static void free_pages(struct dsm *d)
{
    for (size_t i = 0; i < d->touches; i++) {
        struct dsm_page *page = d->touched[i];
        for (size_t k = 0; k < page->notices; k++)
            diff_free(d, page->notice[k].diff);
        for (unsigned k = 0; k < d->n; k++)
            copy_free(d, page, k);
        free(page->notice);
        free(page);
    }
    free(d->touched);
}

static void free_objects(struct map *m)
{
    uint64_t key, *value;

    for (size_t at = 0; map_next(m, &at, &key, &value);) {
        uint32_t **clock = (uint32_t **)(uintptr_t)*value;
        free(*clock);
        free(clock);
    }
    map_free(m);
}

void dsm_free(struct dsm *d)
{
    if (!d)
        return;
    free_pages(d);
    ival_drop_all(d);
    for (unsigned i = 0; i < d->n; i++) {
        free(d->process[i].closed);
        free(d->process[i].dirty);
        free(d->process[i].owed);
        calendar_free(&d->process[i].handler);
        calendar_free(&d->host[i].out);
        calendar_free(&d->host[i].in);
    }
    map_free(&d->pages);
    free_objects(&d->locks);
    free_objects(&d->barriers);
    for (unsigned k = 0; k < DSM_OBJECTS; k++)
        free_objects(&d->objects[k]);
    free(d->process);
    free(d->host);
    free(d);
}
