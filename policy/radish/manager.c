/* manager.c - the hardware's side of the software manager: what is stored there when a line
 * leaves the chip, what comes back with it, and the checks that it makes.
 *
 * Each of the manager's operations takes effect at once and then makes its accesses. Where several
 * must be one step, the ledger gathers what they cost, and the core pays afterwards. */
#include "policy/radish/radish.h"

#include <assert.h>
#include <stdlib.h>

static struct paddr address_of(const struct radish *r, uint64_t line)
{
    return paddr_of(line << r->line_shift);
}

static struct paddr granule_at(const struct radish *r, struct paddr first, unsigned i)
{
    return paddr_plus(first, (uint64_t)i << r->granule_shift);
}

/* ---- blocked regions ------------------------------------------------------------------------ */

static sim_cycle blocked_until(const struct radish *r, uint64_t line, sim_cycle now)
{
    const uint64_t from = address_of(r, line).at, bytes = UINT64_C(1) << r->line_shift;
    sim_cycle until = 0;

    for (unsigned i = 0; i < r->n_blocked; i++) {
        const struct blocked *b = &r->blocked[i];
        if (b->begin <= now && b->from.at < from + bytes && from < b->from.at + b->bytes &&
            b->end > until)
            until = b->end;
    }
    return until;
}

/* While the end of a copy is not known, the hardware asks again. */
sim_cycle manager_blocked(struct radish *r, unsigned core, uint64_t line, sim_cycle now)
{
    enum { AGAIN = 32 };
    const sim_cycle from = now;
    sim_cycle until = blocked_until(r, line, now);

    if (LIKELY(until <= now))
        return now;
    r->st.blocked_requests++;
    for (; until == CYCLE_NEVER; until = blocked_until(r, line, now))
        now = r->env->mem(r->env->host, core, paddr_of(r->params.manager.base), 8, MEM_LOAD, now) +
              AGAIN;
    if (until > now)
        now = until;
    r->st.blocked_cycles += now - from;
    return now;
}

/* ---- storing -------------------------------------------------------------------------------- */

static const struct swm_access *held_read(const struct swm_held *held, uint32_t actor, uint8_t op)
{
    for (size_t i = 0; i < held->n; i++)
        if (held->read[i].actor == actor && swm_class(held->read[i].op) == swm_class(op))
            return &held->read[i];
    return NULL;
}

struct stored { /* of a line: granules of which the manager has got something */
    granule_set write, reads;
};

/* Lines of the same data hear at once that the manager has something. */
static void tell_lines(struct hline *h, struct stored new)
{
    if (!(new.write | new.reads))
        return;
    for (struct hline *o = h->data->of_kind[h->kind]; o; o = o->next) {
        if (o == h)
            continue;
        o->kept |= new.write | new.reads;
        o->soft_write |= new.write;
        o->soft_reads |= new.reads;
    }
}

/* An older read of the same thread, on the core where it was before, does not take the place of a
 * newer one. */
static bool is_stale(const struct radish *r, const struct hline *h, const struct access_record *x,
                     struct paddr granule)
{
    const struct swm_held held = swm_held(r->manager, granule);
    const struct swm_access *there = op_writes(x->op) ? NULL : held_read(&held, h->actor, x->op);

    return there && there->event > x->event;
}

static sim_cycle store_granule(struct radish *r, unsigned core, struct hline *h,
                               const struct access_record *x, unsigned i, struct stored *new,
                               sim_cycle now)
{
    const struct paddr granule = line_granule(r, h, i);
    const struct swm_access a = {.clock = x->time,
                                 .actor = h->actor,
                                 .op = x->op,
                                 .tid = x->tid,
                                 .event = x->event,
                                 .site = x->site};

    if (x->saved || is_stale(r, h, x, granule))
        return swm_look(r->manager, core, granule, SWM_WRITE, now);
    *(op_writes(x->op) ? &new->write : &new->reads) |= (granule_set)1 << i;
    if (op_writes(x->op)) /* reads there came after it */
        return swm_store_under(r->manager, core, granule, &a, now);
    return swm_store(r->manager, core, granule, &a, op_writes(x->op), now);
}

/* The write first, then the reads since it. */
sim_cycle manager_store(struct radish *r, unsigned core, struct hline *h, granule_set set,
                        sim_cycle now)
{
    struct stored new = {0};

    for (unsigned pass = 0; pass < 2; pass++)
        for (granule_set left = set & records_set(h, pass ? READ_CLASSES : WRITE_CLASSES); left;) {
            const unsigned i = next_granule(&left);
            for (uint32_t k = 0; k < h->n; k++) {
                const struct access_record *x = &h->record[k];
                if (x->set >> i & 1 && op_writes(x->op) == (pass == 0))
                    now = store_granule(r, core, h, x, i, &new, now);
            }
        }
    tell_lines(h, new);
    return now;
}

/* The part that is not modelled: there is no cost, and nothing that decides changes. */
static void renew(const struct swm_access *there, const struct access_record *x)
{
    struct swm_access *a = (struct swm_access *)(uintptr_t)there;

    a->op = x->op;
    a->tid = x->tid;
    a->event = x->event;
    a->site = x->site;
}

void manager_renew(struct radish *r, struct hline *h)
{
    for (uint32_t k = 0; k < h->n; k++) {
        const struct access_record *x = &h->record[k];
        for (granule_set left = x->touched ? x->set : 0; left;) {
            const struct swm_held held =
                swm_held(r->manager, line_granule(r, h, next_granule(&left)));
            const struct swm_access *there =
                op_writes(x->op) ? held.write : held_read(&held, h->actor, x->op);
            if (there && there->clock == x->time && there->event <= x->event)
                renew(there, x);
        }
    }
}

/* ---- lines that leave ----------------------------------------------------------------------- */

struct hline *manager_add(struct hline *left, struct hline *h)
{
    h->later = left;
    return h;
}

/* Another history line of this core for the same data is on chip. */
static bool more_cached(const struct radish *r, const struct hline *h)
{
    for (unsigned k = 0; k < r->kinds; k++)
        if (line_on_core(r, h->core, line_number(r, h->data->line, k)))
            return true;
    return false;
}

/* Ends a handler: the core pays for its gathered steps. */
sim_cycle handler_paid(struct radish *r, unsigned core, sim_cycle now)
{
    ledger_gathered(&r->ledger);
    return ledger_pay_account(&r->ledger, ledger_account(OF_HANDLER, core), core, now);
}

sim_cycle manager_persist(struct radish *r, unsigned core, struct hline *h, granule_set set,
                          sim_cycle now)
{
    struct ledger *l = &r->ledger;
    struct data_line *p = h->data;
    const struct paddr line = address_of(r, p->line);
    const bool gathered = l->gathers;

    if (!gathered)
        ledger_gather(l, ledger_account(OF_HANDLER, core));
    swm_find(r->manager, core, line, now);
    manager_store(r, core, h, set, now);
    if (!more_cached(r, h))
        swm_cached(r->manager, core, line, h->core, false, now);
    manager_renew(r, h);
    line_free(r, h);
    data_tidy(r, p);
    return gathered ? now : handler_paid(r, core, now);
}

bool manager_all_saved(const struct hline *h)
{
    for (uint32_t k = 0; k < h->n; k++)
        if (h->record[k].set && !h->record[k].saved)
            return false;
    return true;
}

/* Forgets a clean line, since the manager has all that it holds. */
void manager_forget(struct radish *r, struct hline *h)
{
    struct data_line *p = h->data;

    assert(manager_all_saved(h));
    manager_renew(r, h);
    line_free(r, h);
    data_tidy(r, p);
}

static sim_cycle leave_one(struct radish *r, unsigned core, struct hline *h, enum swm_reason why,
                           sim_cycle now)
{
    if (!h->dirty) {
        r->st.lost_clean++;
        manager_forget(r, h);
        return now;
    }
    r->st.lost_dirty++;
    now = swm_enter(r->manager, core, why, now);
    now = manager_persist(r, core, h, line_all(r), now);
    return swm_leave(r->manager, core, now);
}

sim_cycle manager_leave(struct radish *r, unsigned core, struct hline *left, enum swm_reason why,
                        bool drop, sim_cycle now)
{
    while (left) {
        struct hline *h = left;
        const struct paddr at = line_address(r, h);
        const uint64_t number = h->number;
        const unsigned of = h->core;
        left = h->later;
        now = leave_one(r, core, h, why, now);
        if (drop && !line_on_core(r, of, number)) /* else it has come anew */
            now = ledger_drop(&r->ledger, core, at, now);
    }
    return now;
}

sim_cycle manager_store_flushed(struct radish *r, unsigned core, struct hline *h, sim_cycle now)
{
    r->st.flushed++;
    if (h->dirty)
        return manager_persist(r, core, h, line_all(r), now);
    manager_forget(r, h);
    return now;
}

/* A flush takes clean lines out, too: they are the thread's that leaves the core. */
sim_cycle manager_flush(struct radish *r, unsigned core, struct hline *left, enum swm_reason why,
                        sim_cycle now)
{
    if (!left)
        return now;
    now = swm_enter(r->manager, core, why, now);
    while (left) {
        struct hline *h = left;
        const struct paddr at = line_address(r, h);
        left = h->later;
        now = manager_store_flushed(r, core, h, now);
        now = ledger_drop(&r->ledger, core, at, now);
    }
    return swm_leave(r->manager, core, now);
}

/* ---- lines that come ------------------------------------------------------------------------ */

static void fill_record(struct radish *r, struct hline *h, const struct swm_access *a, unsigned i)
{
    const granule_set set = (granule_set)1 << i;

    for (uint32_t k = 0; k < h->n; k++) {
        struct access_record *x = &h->record[k];
        if (x->op == a->op && x->time == a->clock && x->event == a->event && x->site == a->site &&
            x->tid == a->tid) {
            record_extend(h, x, set);
            return;
        }
    }
    record_add(r, h,
               &(struct access_record){.set = set,
                                       .time = a->clock,
                                       .event = a->event,
                                       .site = a->site,
                                       .tid = a->tid,
                                       .op = a->op,
                                       .saved = true});
}

/* True: the thread's own, at a clock that has bits enough, which the line now holds. */
static bool fill_own(struct radish *r, struct hline *h, const struct swm_access *a, unsigned i)
{
    if (a->actor != h->actor || a->actor >= r->actors || a->clock <= r->base[a->actor])
        return false;
    fill_record(r, h, a, i);
    return true;
}

/* Fills a granule. A read does not look into blocks of reads: their threads stay status, the own
 * one with them. */
static void fill_granule(struct radish *r, struct hline *h, unsigned i, bool write)
{
    const granule_set set = (granule_set)1 << i;
    const struct swm_held held = swm_held(r->manager, line_granule(r, h, i));

    if (held.write || held.n)
        h->kept |= set;
    if (held.write && !fill_own(r, h, held.write, i))
        h->soft_write |= set;
    for (size_t k = 0; k < held.n; k++)
        if ((held.n > 1 && !write) || !fill_own(r, h, &held.read[k], i))
            h->soft_reads |= set;
}

void manager_fill(struct radish *r, struct hline *h, bool write)
{
    if (swm_granules(r->manager) == 0)
        return;
    for (granule_set left = swm_may_hold(r->manager, line_granule(r, h, 0), r->entries); left;)
        fill_granule(r, h, next_granule(&left), write);
}

/* Hardware that knows when a line has no history (R; docs/lardish.md, "Empty histories"). */
bool manager_known_empty(const struct radish *r, uint64_t line)
{
    if (r->params.empty == EMPTY_PAGE)
        return swm_page_empty(r->manager, address_of(r, line));
    return r->params.empty == EMPTY_LINE;
}

/* The page's word is loaded as the line comes; a bit with the data line comes with the data. */
sim_cycle manager_empty_paid(struct radish *r, unsigned core, uint64_t line, sim_cycle now)
{
    if (r->params.empty != EMPTY_PAGE)
        return now;
    return r->env->mem(r->env->host, core, swm_page_word(r->manager, address_of(r, line)), 8,
                       MEM_LOAD, now);
}

/* Looks at granules of a line: at who has read, too, or no deeper than this. */
static sim_cycle look_at(struct radish *r, unsigned core, const struct check_paid *c,
                         enum swm_depth depth, sim_cycle now)
{
    const struct paddr at = address_of(r, c->line);
    const struct paddr first = granule_at(r, at, c->kind * r->entries);

    now = swm_find(r->manager, core, at, now);
    for (granule_set left = c->set; left;)
        now = swm_look(r->manager, core, granule_at(r, first, next_granule(&left)),
                       c->reads ? SWM_READS : depth, now);
    return now;
}

/* The handler says the history of each granule that the manager had; also when it had none. */
sim_cycle manager_fill_paid(struct radish *r, unsigned core, const struct check_paid *c,
                            sim_cycle now)
{
    now = look_at(r, core, c, SWM_NO_BLOCK, now);
    return swm_cached(r->manager, core, address_of(r, c->line), core, true, now);
}

/* ---- checks --------------------------------------------------------------------------------- */

sim_cycle manager_check(struct radish *r, unsigned core, const struct check_paid *c, sim_cycle now)
{
    now = manager_blocked(r, core, c->line, now);
    now = swm_enter(r->manager, core, SWM_CHECK, now);
    now = look_at(r, core, c, SWM_WRITE, now);
    return swm_leave(r->manager, core, now);
}

/* Made by another core beside the program: its accesses go to the caches now, and take as long, one
 * after the other, from when that core is free. */
sim_cycle manager_check_beside(struct radish *r, unsigned core, unsigned by,
                               const struct check_paid *c, sim_cycle now)
{
    const unsigned account = ledger_account(OF_HANDLER, core);
    sim_cycle takes = swm_enter(r->manager, core, SWM_CHECK, now) - now;

    ledger_gather(&r->ledger, account);
    look_at(r, core, c, SWM_WRITE, now);
    ledger_gathered(&r->ledger);
    takes += ledger_pay_beside(&r->ledger, account, by, now);
    swm_leave(r->manager, core, now + takes);
    return takes;
}
