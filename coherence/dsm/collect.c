/* collect.c - garbage collection of consistency data, as TreadMarks has it: each process brings up
 * to date the pages that it has written; other copies that are not, go; then notices, intervals and
 * diffs are thrown away. At a barrier, where all have heard of all; or, without one, when one
 * process makes all others stop (002, 6.2). */
#include "coherence/dsm/dsm_int.h"

#include "base/mem.h"

bool collect_due(const struct dsm *d)
{
    for (unsigned q = 0; q < d->n; q++)
        if (d->process[q].kept > d->params.collect)
            return true;
    return false;
}

static bool page_wrote(const struct dsm_page *page, unsigned process)
{
    for (size_t i = 0; i < page->notices; i++)
        if (page->notice[i].of->process == process)
            return true;
    return false;
}

static void update_own(struct dsm *d, struct path *p, unsigned process)
{
    d->actor = process;
    for (size_t i = 0; i < d->touches; i++) {
        struct dsm_page *page = d->touched[i];
        struct copy *c = page->copy[process];
        if (!page->notices || !c || c->state != DSM_INVALID || !page_wrote(page, process))
            continue;
        page_update(d, p, process, page);
        c->state = DSM_READ;
        d->st.protects++;
        process_work(d, p, process, DSM_PART_TRAP, d->time.protect);
    }
}

static void page_forget(struct dsm *d, struct dsm_page *page)
{
    bool first = true;

    for (unsigned q = 0; q < d->n; q++) {
        struct copy *c = page->copy[q];
        if (c && c->state == DSM_INVALID)
            copy_free(d, page, q);
        else if (c && c->state == DSM_WRITE)
            twin_drop(d, c);
        if (first && page_wrote(page, q)) {
            page->holder = q;
            first = false;
        }
    }
    for (size_t i = 0; i < page->notices; i++)
        diff_free(d, page->notice[i].diff);
    page->notices = 0;
    assert(page->copy[page->holder]);
}

/* The master waits for all, and tells all that they may forget. */
static void collect_agree(struct dsm *d, struct path *path, unsigned master)
{
    for (unsigned q = 0; q < d->n; q++) {
        if (q == master)
            continue;
        d->actor = q;
        struct mail m = message_post(d, &path[q], q, master, DSM_MSG_COLLECTED, (struct load){{0}});
        d->actor = master;
        if (m.there.at > path[master].at)
            path_spend(&path[master], DSM_PART_OTHERS, m.there.at - path[master].at);
        message_accept(d, &path[master], master, m.bytes);
    }
    struct path all = path[master];
    for (unsigned q = 0; q < d->n; q++) {
        if (q == master)
            continue;
        d->actor = master;
        struct mail m = message_post(d, &all, master, q, DSM_MSG_COLLECT, (struct load){{0}});
        d->actor = q;
        path_reach(&path[q], DSM_PART_OTHERS, m.there.at);
        message_accept(d, &path[q], q, m.bytes);
    }
    path[master] = all;
}

static void collect(struct dsm *d, struct path *path, unsigned master)
{
    d->st.collections++;
    for (unsigned q = 0; q < d->n; q++)
        update_own(d, &path[q], q);
    collect_agree(d, path, master);
    for (size_t i = 0; i < d->touches; i++)
        if (d->touched[i]->notices)
            page_forget(d, d->touched[i]);
    ival_drop_all(d);
}

void collect_at(struct dsm *d, struct path *path, uint64_t there, unsigned master,
                const uint32_t *clock)
{
    struct path *all = xcalloc(d->n, sizeof *all);
    sim_cycle *since = xcalloc(d->n, sizeof *since);
    const unsigned actor = d->actor;
    uint32_t heard[DSM_PROCESSES];

    /* A process that has not come is stopped here, and its interval ends; all must hear of that. */
    memcpy(heard, clock, d->n * sizeof *heard);
    for (unsigned q = 0; q < d->n; q++) {
        all[q] = path[q];
        if (there >> q & 1)
            continue;
        ival_close(d, q);
        clock_join(d, heard, d->process[q].clock);
        all[q] = path[master];
        d->actor = q;
        if (q != master)
            message_send(d, &all[q], master, q, DSM_MSG_COLLECT,
                         ival_load(d, d->process[q].clock, clock));
        since[q] = all[q].at;
    }
    for (unsigned q = 0; q < d->n; q++) {
        d->actor = q;
        ival_learn(d, &all[q], q, heard);
    }
    collect(d, all, master);
    for (unsigned q = 0; q < d->n; q++)
        if (there >> q & 1)
            path[q] = all[q];
        else
            process_owe(d, q, since[q], all[q].at - since[q]);
    d->actor = actor;
    free(since);
    free(all);
}

void collect_forced(struct dsm *d, struct path *p, unsigned process)
{
    struct path *path = xcalloc(d->n, sizeof *path);

    d->st.forced++;
    path[process] = *p;
    collect_at(d, path, UINT64_C(1) << process, process, d->process[process].clock);
    *p = path[process];
    free(path);
}
