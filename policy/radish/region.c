/* region.c - ClearHistory, CopyHistory and MoveHistory (LARD 4.2, charged as in its 5.3): page
 * by page, each page's part one handler.
 *
 * A history line that lies in the region only in part is thrown out like the others, and what it
 * holds of other data is stored first. A copy evicts and copies; the destination stays uncached,
 * but with in-cache copies (radish/in_cache.c). When a copy waits for a clear, to be a move:
 * radish/move.c. */
#include "policy/radish/region.h"

#include <assert.h>
#include <stdlib.h>

#define REGION_MAX (UINT64_C(4) << 30) /* a host's patience: a million pages */

static int too_big(struct radish *r, const struct event *ev)
{
    return err_set(
        r->env->err, LARD_TRACE,
        "event %llu: %s of %llu bytes; a detector in hardware goes page by page, through "
        "%llu bytes at most: split it",
        (unsigned long long)*r->env->number, ev_info[ev->kind].text, (unsigned long long)ev->aux,
        (unsigned long long)REGION_MAX);
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* Frames may be smaller than pages of the instructions. */
static bool contiguous(const struct radish *r, struct vaddr from, uint64_t bytes)
{
    const struct paddr at = machine_physical(r->machine, from);

    for (uint64_t i = RADISH_PAGE_MIN - from.at % RADISH_PAGE_MIN; r->machine && i < bytes;
         i += RADISH_PAGE_MIN)
        if (!paddr_same(machine_physical(r->machine, vaddr_plus(from, i)), paddr_plus(at, i)))
            return false;
    return true;
}

/* How much of `left` bytes is in one page on both sides: from the front, or at the end. */
static uint64_t room_of(struct vaddr to, struct vaddr from, uint64_t left, sim_addr mask, bool down)
{
    const uint64_t at = down ? left - 1 : 0, t = (to.at + at) & mask, f = (from.at + at) & mask;
    const uint64_t room = down ? (t < f ? t : f) + 1 : mask + 1 - (t > f ? t : f);

    return left < room ? left : room;
}

/* A page without a machine is the unit in which history is remembered. */
static uint64_t piece_of(const struct radish *r, struct vaddr to, struct vaddr from, uint64_t left,
                         bool down)
{
    const uint64_t page = r->machine ? r->params.page : UINT64_C(1) << PAGE_BITS;
    const uint64_t n = room_of(to, from, left, page - 1, down);
    const uint64_t skip = down ? left - n : 0;

    if (contiguous(r, vaddr_plus(to, skip), n) && contiguous(r, vaddr_plus(from, skip), n))
        return n;
    return room_of(to, from, left, RADISH_PAGE_MIN - 1, down);
}

static bool known_page(const struct radish *r, struct paddr at)
{
    return map_find(&r->pages, at.at >> PAGE_BITS);
}

static void know_pages(struct radish *r, struct paddr at, uint64_t bytes)
{
    for (uint64_t page = at.at >> PAGE_BITS; page <= (at.at + bytes - 1) >> PAGE_BITS; page++)
        *map_put(&r->pages, page) = 1;
}

/* ---- lines on chip in a part ---------------------------------------------------------------- */

/* Takes a history line out of the caches, for a hit at the level where it is. */
static void throw_out(struct radish *r, unsigned core, struct hline *h)
{
    if (r->machine) {
        ledger_drop(&r->ledger, core, line_address(r, h), 0);
        r->st.invalidated++;
    }
    line_leaves(r, h);
    r->st.discarded++;
}

/* Discards the line's entries of the part, and stores the rest. */
static void discard(struct radish *r, struct hline *h, granule_set set, unsigned core)
{
    records_cancel(r, h, set, EVERY_CLASS);
    if (h->leaving) /* its own handler goes on */
        return;
    throw_out(r, core, h);
    if (manager_all_saved(h))
        manager_forget(r, h);
    else
        manager_persist(r, core, h, line_all(r), 0);
}

void region_store(struct radish *r, struct hline *h, granule_set set, unsigned core)
{
    (void)set;
    if (h->leaving) {
        manager_store(r, core, h, line_all(r), 0);
        manager_renew(r, h);
        return;
    }
    throw_out(r, core, h);
    manager_persist(r, core, h, line_all(r), 0);
}

/* Each line on chip that has something of it; a line of data may go with its last one. */
static void visit_data(struct radish *r, uint64_t line, struct paddr from, uint64_t bytes,
                       line_visit *fn, unsigned core)
{
    for (unsigned k = 0; k < r->kinds; k++) {
        struct data_line *p = data_find(r, line);
        for (struct hline *h = p ? p->of_kind[k] : NULL, *next; h; h = next) {
            const granule_set set = region_inside(r, h, from, bytes);
            next = h->next;
            if (set)
                fn(r, h, set, core);
        }
    }
}

/* Visits one data line. The manager's records of it stay, but for the cores that may have it
 * cached. */
static void visit_line(struct radish *r, struct visit *v, uint64_t line, struct paddr from,
                       uint64_t bytes, line_visit *fn)
{
    const struct data_line *p = data_find(r, line);

    if (p) {
        v->until = latest(v->until, queue_drain_data(r, p));
        visit_data(r, line, from, bytes, fn, v->core);
        p = data_find(r, line);
    }
    if (!p || !p->lines)
        swm_uncached(r->manager, v->core, paddr_of(line << r->line_shift), 0);
}

void region_visit(struct radish *r, struct visit *v, struct paddr from, uint64_t bytes,
                  line_visit *fn)
{
    const uint64_t last = (from.at + bytes - 1) >> r->line_shift;

    for (uint64_t line = from.at >> r->line_shift; line <= last; line++)
        visit_line(r, v, line, from, bytes, fn);
}

static sim_cycle begin_part(struct radish *r, struct visit *v, enum swm_reason why, sim_cycle now)
{
    r->st.parts++;
    now = swm_enter(r->manager, v->core, why, now);
    ledger_gather(&r->ledger, ledger_account(OF_HANDLER, v->core));
    return now;
}

static sim_cycle end_part(struct radish *r, struct visit *v, sim_cycle now)
{
    now = queue_waited(r, v->until, now);
    now = handler_paid(r, v->core, now);
    return swm_leave(r->manager, v->core, now);
}

/* ---- clear ---------------------------------------------------------------------------------- */

static sim_cycle clear_part(struct radish *r, unsigned core, struct paddr from, uint64_t bytes,
                            sim_cycle now)
{
    const uint64_t size = UINT64_C(1) << r->line_shift;
    struct visit v = {.core = core};

    now = begin_part(r, &v, SWM_CLEAR, now);
    for (uint64_t done = 0, n; done < bytes; done += n) { /* line by line, each looked up once */
        const struct paddr at = paddr_plus(from, done);
        n = size - paddr_within(at, size);
        n = n < bytes - done ? n : bytes - done;
        visit_line(r, &v, at.at >> r->line_shift, from, bytes, discard);
        swm_clear(r->manager, core, at, n, 0);
    }
    return end_part(r, &v, now);
}

/* Clears the part of the region that lies in a page with history. Without a machine, so that both
 * kinds of address are one number. */
static void clear_page(struct radish *r, const struct event *ev, unsigned core, uint64_t page)
{
    const sim_addr at = page << PAGE_BITS, last = at + ((1u << PAGE_BITS) - 1);
    const sim_addr end = ev->addr + (ev->aux - 1);
    const sim_addr from = at > ev->addr ? at : ev->addr, to = last < end ? last : end;

    if (from <= to && known_page(r, paddr_of(at)))
        clear_part(r, core, paddr_of(from), to - from + 1, 0);
}

/* Clears pages without a machine: those of the region, or those with history, whichever are
 * fewer. */
static void clear_known(struct radish *r, const struct event *ev, unsigned core)
{
    const uint64_t first = ev->addr >> PAGE_BITS, last = (ev->addr + (ev->aux - 1)) >> PAGE_BITS;
    uint64_t page, *unused;
    size_t pos = 0;

    if (last - first < r->pages.n) {
        for (page = first; page <= last; page++)
            clear_page(r, ev, core, page);
        return;
    }
    while (map_next(&r->pages, &pos, &page, &unused))
        clear_page(r, ev, core, page);
}

sim_cycle region_clear(struct radish *r, const struct event *ev, unsigned core, sim_cycle now)
{
    struct vaddr at = event_at(ev);

    if (!ev->aux)
        return now;
    if (!r->machine) {
        clear_known(r, ev, core);
        return now;
    }
    if (ev->aux > REGION_MAX) {
        too_big(r, ev);
        return now;
    }
    for (uint64_t left = ev->aux; left;) {
        const uint64_t n = piece_of(r, at, at, left, false);
        now = clear_part(r, core, machine_physical(r->machine, at), n, now);
        at = vaddr_plus(at, n);
        left -= n;
    }
    return now;
}

/* ---- copy ----------------------------------------------------------------------------------- */

/* A slot for a region that is blocked until its copy ends: of one that ended long ago, or whenever
 * there is no other. */
static unsigned block(struct radish *r, struct paddr from, uint64_t bytes, sim_cycle now)
{
    enum { LONG_AGO = 1 << 20 };
    const bool full = r->n_blocked == RADISH_BLOCKED_MAX;
    unsigned i = 0;

    while (i < r->n_blocked &&
           (r->blocked[i].end == CYCLE_NEVER || (!full && r->blocked[i].end + LONG_AGO > now)))
        i++;
    assert(i < RADISH_BLOCKED_MAX);
    r->n_blocked += i == r->n_blocked;
    r->blocked[i] = (struct blocked){from, bytes, now, CYCLE_NEVER};
    return i;
}

/* Copies a part, in an open handler: the source is evicted, or what is cached of it copied to lines
 * of the destination; the manager's own follows. */
static void copy_all(struct radish *r, struct visit *v, const struct region_part *p, bool move)
{
    struct taken_along along = {0};

    copy_source(r, v, p, &along);
    region_visit(r, v, p->to, p->bytes, discard);
    if (move)
        swm_move(r->manager, v->core, p->to, p->from, p->bytes, 0);
    else
        swm_copy(r->manager, v->core, p->to, p->from, p->bytes, 0);
    copy_along(r, v, p, &along);
    if (move) /* also of lines that are leaving */
        region_visit(r, v, p->from, p->bytes, discard);
    free(along.at);
}

static sim_cycle copy_part(struct radish *r, unsigned core, const struct region_part *p, bool move,
                           sim_cycle now)
{
    const bool blocks = r->machine && !r->collections;
    const unsigned to = blocks ? block(r, p->to, p->bytes, now) : 0;
    const unsigned from = blocks ? block(r, p->from, p->bytes, now) : 0;
    struct visit v = {.core = core};

    now = begin_part(r, &v, move ? SWM_MOVE : SWM_COPY, now);
    copy_all(r, &v, p, move);
    now = end_part(r, &v, now);
    if (blocks)
        r->blocked[to].end = r->blocked[from].end = now;
    return now;
}

static bool has_history(const struct radish *r, struct paddr at)
{
    const struct swm_held held = swm_held(r->manager, at);
    const struct data_line *p = data_find(r, at.at >> r->line_shift);
    const uint64_t n = at.at >> r->granule_shift;
    const struct hline *h = p ? p->of_kind[n / r->entries % r->kinds] : NULL;

    for (; h; h = h->next)
        if (records_set(h, EVERY_CLASS) >> n % r->entries & 1)
            return true;
    return held.write || held.n;
}

/* The first granule of the destination that has history and is not the source's, too. */
static bool breach(const struct radish *r, const struct event *ev, struct vaddr *where)
{
    for (uint64_t i = 0; i < ev->aux;) {
        *where = vaddr_plus(event_at(ev), i);
        const struct paddr at = machine_physical(r->machine, *where);
        if (!known_page(r, at)) {
            i += RADISH_PAGE_MIN - where->at % RADISH_PAGE_MIN;
            continue;
        }
        if (where->at - ev[1].addr >= ev->aux && has_history(r, at))
            return true;
        i += UINT64_C(1) << r->granule_shift;
    }
    return false;
}

/* The contract of CopyHistory, where the runtime keeps it (LARD 4.2). */
static int destination_empty(struct radish *r, const struct event *ev)
{
    struct vaddr at;

    if (!r->lard || !breach(r, ev, &at))
        return 0;
    return err_set(r->env->err, LARD_TRACE,
                   "event %llu: CopyHistory to 0x%llx, %llu bytes: the location 0x%llx there has "
                   "access history; the runtime must ClearHistory the destination first, or the "
                   "policy must have another view than tracked",
                   (unsigned long long)*r->env->number, (unsigned long long)ev->addr,
                   (unsigned long long)ev->aux, (unsigned long long)at.at);
}

/* The next part of a copy, which is in one page on both sides. Without a machine those are passed
 * over of which neither side has had history. False: there are no more. */
static bool next_part(struct radish *r, struct copy_regions *at, struct region_part *p)
{
    while (at->bytes) {
        const bool down = at->to.at > at->from.at;
        const uint64_t n = piece_of(r, at->to, at->from, at->bytes, down),
                       skip = down ? at->bytes - n : 0;
        *p = (struct region_part){machine_physical(r->machine, vaddr_plus(at->to, skip)),
                                  machine_physical(r->machine, vaddr_plus(at->from, skip)), n};
        at->bytes -= n;
        at->to = vaddr_plus(at->to, down ? 0 : n);
        at->from = vaddr_plus(at->from, down ? 0 : n);
        if (!r->machine && !known_page(r, p->to) && !known_page(r, p->from))
            continue;
        know_pages(r, p->to, n);
        return true;
    }
    return false;
}

sim_cycle region_copy_parts(struct radish *r, struct copy_regions *left, unsigned core, bool move,
                            sim_cycle now)
{
    struct region_part p;

    while (next_part(r, left, &p))
        now = copy_part(r, core, &p, move, now);
    return now;
}

void region_copy_at_once(struct radish *r, struct copy_regions *left, bool move, struct visit *v)
{
    struct region_part p;

    ledger_gather(&r->ledger, ledger_account(OF_COPIES, v->core));
    while (next_part(r, left, &p)) {
        r->st.parts++;
        copy_all(r, v, &p, move);
    }
    ledger_gathered(&r->ledger);
}

sim_cycle region_copy(struct radish *r, const struct event *ev, unsigned core, sim_cycle now)
{
    struct copy_regions left = {event_at(ev), event_at(&ev[1]), ev->aux};

    if (ev->aux > REGION_MAX)
        too_big(r, ev);
    if (ev->aux > REGION_MAX || left.to.at == left.from.at || destination_empty(r, ev))
        return now;
    if (move_wants(r, ev)) {
        move_put(r, ev);
        return now;
    }
    return region_copy_parts(r, &left, core, false, now);
}
