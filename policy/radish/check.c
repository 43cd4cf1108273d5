/* check.c - what a check gathers of a history line's granules, what it says, and what an
 * access leaves behind. The rules of conflict are those of vc/vc.c. */
#include "policy/radish/access.h"

struct gathered {            /* an access that a check compares with */
    struct access_record is; /* of granules of the check, wherever it was found */
    uint32_t actor;          /* who made it */
};

/* ---- what a check gathers ------------------------------------------------------------------- */

/* All accesses of a commit have its number: then a copy from the manager is older than what the
 * manager has. */
static bool newer(const struct gathered *x, const struct gathered *y)
{
    return x->is.event > y->is.event ||
           (x->is.event == y->is.event && y->is.saved && !y->is.touched);
}

/* Gathers an access; the latest of one thread and class counts: an older one may be on the thread's
 * last core, or with the manager. */
static void gather(struct radish_access *a, struct gathered x)
{
    struct radish *r = a->r;

    for (size_t i = 0; i < a->gathered && x.is.set; i++) {
        struct gathered *y = &r->past[i];
        if (y->actor != x.actor || op_class(y->is.op) != op_class(x.is.op))
            continue;
        if (newer(&x, y))
            y->is.set &= ~x.is.set;
        else
            x.is.set &= ~y->is.set;
    }
    if (!x.is.set)
        return;
    r->past = xgrow(r->past, a->gathered, &r->past_cap, sizeof *r->past);
    r->past[a->gathered++] = x;
}

static void gather_line(struct radish_access *a, const struct hline *h, granule_set need)
{
    const unsigned classes = a->write ? EVERY_CLASS : WRITE_CLASSES;

    if (h->actor == a->actor || !(records_set(h, classes) & need)) /* ordered by itself */
        return;
    for (uint32_t k = 0; k < h->n; k++) {
        const struct access_record *x = &h->record[k];
        if (!(x->set & need) || !(classes >> op_class(x->op) & 1))
            continue;
        struct gathered part = {*x, h->actor};
        part.is.set &= need;
        gather(a, part);
    }
}

static void gather_held(struct radish_access *a, const struct swm_access *h, unsigned i)
{
    if (h->actor == a->actor)
        return;
    gather(a, (struct gathered){.is = {.set = (granule_set)1 << i,
                                       .time = h->clock,
                                       .event = h->event,
                                       .site = h->site,
                                       .tid = h->tid,
                                       .op = h->op},
                                .actor = h->actor});
}

static void gather_soft(struct radish_access *a, granule_set soft)
{
    while (soft) {
        const unsigned i = next_granule(&soft);
        const struct swm_held held = swm_held(a->r->manager, line_granule(a->r, a->own, i));
        if (held.write)
            gather_held(a, held.write, i);
        for (size_t k = 0; k < held.n && a->write; k++)
            gather_held(a, &held.read[k], i);
    }
}

/* Granules whose needed history is not all on chip. */
static granule_set software(struct radish_access *a, granule_set need)
{
    granule_set here = 0, last;

    for (const struct hline *o = a->own->data->of_kind[a->own->kind]; o; o = o->next)
        here |= records_set(o, WRITE_CLASSES);
    last = need & a->own->soft_write & ~here;
    const granule_set reads = a->write ? need & a->own->soft_reads : 0;
    if (last | reads)
        a->r->st.need[last && reads ? NEED_BOTH : last ? NEED_WRITE : NEED_READS]++;
    return last | reads;
}

static void gather_chip(struct radish_access *a, granule_set need)
{
    a->gathered = 0;
    for (const struct hline *o = a->own->data->of_kind[a->own->kind]; o; o = o->next)
        gather_line(a, o, need);
}

static bool unordered(const struct gathered *x, const struct vclock *clock)
{
    return x->is.time > vclock_get(clock, x->actor);
}

granule_set check_unordered(struct radish_access *a, granule_set set)
{
    granule_set loose = 0;

    gather_chip(a, set);
    for (size_t k = 0; k < a->gathered; k++)
        if (unordered(&a->r->past[k], a->clock))
            loose |= a->r->past[k].is.set;
    return loose;
}

/* ---- races ---------------------------------------------------------------------------------- */

static void report_past(struct radish_access *a, const struct gathered *x, unsigned i)
{
    struct radish *r = a->r;
    const struct paddr granule = line_granule(r, a->own, i);
    const struct race_side earlier =
        race_access(x->is.event, x->is.site, x->is.tid, op_kind(x->is.op));

    race_conflict(r->env->report, a->ev, a->at + ((sim_addr)i << r->granule_shift), &earlier,
                  !swm_raced(r->manager, granule));
    swm_mark_raced(r->manager, granule);
}

/* The last write first, as it was: a commit's accesses all have its number. */
static void report_granule(struct radish_access *a, unsigned i)
{
    const unsigned conflicts = op_conflicts(op_class(a->op));

    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < a->gathered; k++) {
            const struct gathered *x = &a->r->past[k];
            if (x->is.set >> i & 1 && conflicts >> op_class(x->is.op) & 1 &&
                op_writes(x->is.op) == (pass == 0) && unordered(x, a->clock))
                report_past(a, x, i);
        }
}

/* Reports the races with what was gathered. Returns the granules where all of it is ordered. */
static granule_set judge(struct radish_access *a, granule_set need)
{
    const unsigned conflicts = op_conflicts(op_class(a->op));
    granule_set racy = 0, loose = 0;

    for (size_t k = 0; k < a->gathered; k++) {
        const struct gathered *x = &a->r->past[k];
        if (!unordered(x, a->clock))
            continue;
        loose |= x->is.set;
        if (conflicts >> op_class(x->is.op) & 1)
            racy |= x->is.set;
    }
    while (UNLIKELY(racy))
        report_granule(a, next_granule(&racy));
    return need & ~loose;
}

/* ---- what it leaves behind ------------------------------------------------------------------ */

/* Other cores' entries: the home tells those that it knows to hold the data, or to have had it
 * taken from them. */
static void permission_lower(struct radish_access *a, struct hline *o, granule_set set)
{
    if (!cores_have(o->data->hears, o->core))
        return;
    const granule_set lost = set & (a->write ? o->may_read : o->may_write);
    a->r->st.lowered += (unsigned)__builtin_popcountll(lost);
    o->may_write &= ~lost;
    if (a->write)
        o->may_read &= ~lost;
}

/* A write makes void what came before, wherever it is. */
static void cancel(struct radish_access *a, struct hline *o, granule_set set)
{
    records_cancel(a->r, o, set, EVERY_CLASS);
    o->soft_write &= ~set;
    o->soft_reads &= ~set;
    o->kept &= ~set;
}

static void tell_others(struct radish_access *a, granule_set need)
{
    for (struct hline *o = a->own->data->of_kind[a->own->kind]; o; o = o->next) {
        if (o == a->own)
            continue;
        permission_lower(a, o, need);
        if (a->write)
            cancel(a, o, need);
    }
}

void check_void(struct radish_access *a, granule_set set)
{
    struct hline *h = a->own;

    if (LIKELY(!(set & h->kept)))
        return;
    for (granule_set left = set & h->kept; left;)
        swm_void(a->r->manager, line_granule(a->r, h, next_granule(&left)));
    h->soft_write &= ~set;
    h->soft_reads &= ~set;
    h->kept &= ~set;
}

static struct access_record record_now(const struct radish_access *a, granule_set set, bool saved)
{
    return (struct access_record){.set = set,
                                  .time = a->time,
                                  .event = *a->r->env->number,
                                  .site = a->ev->aux,
                                  .tid = a->ev->tid,
                                  .op = a->op,
                                  .saved = saved,
                                  .touched = saved};
}

/* The record that says the same of just these granules, if nothing else of them has to go. */
static struct access_record *same_again(const struct radish_access *a, granule_set set)
{
    const unsigned own = op_class(a->op);
    struct access_record *x = record_of(a->own, (unsigned)__builtin_ctzll(set), own);

    if (!x || x->set != set || x->time != a->time)
        return NULL;
    if (a->write && (x->saved || records_set(a->own, EVERY_CLASS & ~(1u << own)) & set))
        return NULL;
    return x;
}

/* The granules of the set that the line has from this very time of the thread: `saved` or not. */
static granule_set of_now(const struct radish_access *a, granule_set set, bool saved)
{
    const unsigned own = op_class(a->op);
    granule_set now = 0;

    for (granule_set left = set & a->own->has[own]; left;) {
        const unsigned i = next_granule(&left);
        const struct access_record *x = record_of(a->own, i, own);
        if (x->time == a->time && x->saved == saved)
            now |= (granule_set)1 << i;
    }
    return now;
}

/* True: the entries change. A read may say again what the manager has, too; a write makes that
 * void.
 */
bool check_record(struct radish_access *a, granule_set set)
{
    struct hline *h = a->own;
    const unsigned own = 1u << op_class(a->op), classes = a->write ? EVERY_CLASS : own;
    struct access_record *again = same_again(a, set);

    if (again) {
        *again = record_now(a, set, again->saved);
        return false;
    }
    const granule_set saved = a->write ? 0 : of_now(a, set, true);
    granule_set same = saved | of_now(a, set, false);
    if (a->write)
        same &= ~records_set(h, EVERY_CLASS & ~own);
    records_cancel(a->r, h, set, classes);
    for (unsigned of_manager = 0; of_manager < 2; of_manager++) {
        const struct access_record x = record_now(a, of_manager ? saved : set & ~saved, of_manager);
        if (x.set)
            record_add(a->r, h, &x);
    }
    return (set & ~same) != 0;
}

static bool grant(struct radish_access *a, granule_set passed)
{
    struct hline *h = a->own;
    const granule_set more = passed & ~(a->write ? h->may_write : h->may_read);

    h->may_read |= passed;
    if (a->write)
        h->may_write |= passed;
    a->r->st.granted += (unsigned)__builtin_popcountll(more);
    return more != 0;
}

/* ---- a line --------------------------------------------------------------------------------- */

static bool ask_cores(const struct radish_access *a, uint64_t cores[2])
{
    cores[0] = cores[1] = 0;
    for (unsigned k = 0; k < a->r->kinds; k++)
        for (const struct hline *o = a->own->data->of_kind[k]; o; o = o->next)
            if (o->core != a->core && !o->leaving)
                cores_add(cores, o->core);
    return cores[0] | cores[1];
}

static void plan_question(struct radish_access *a, struct line_access *s, granule_set need)
{
    struct radish *r = a->r;
    const bool whole = r->params.answers == ANSWERS_LINE;

    if (!ask_cores(a, s->ask)) {
        r->st.outcome[s->soft ? OUTCOME_SOFTWARE : OUTCOME_LOCAL]++;
        return;
    }
    const unsigned n =
        (unsigned)(__builtin_popcountll(s->ask[0]) + __builtin_popcountll(s->ask[1]));
    s->ask_bytes = RADISH_ENTRY * (whole ? r->entries : (unsigned)__builtin_popcountll(need));
    s->arrives = a->asked || a->asked_line == s->line + 1; /* one question goes for all of them */
    s->asks = !s->arrives;
    a->asked_line = s->line + 1;
    if (s->arrives) {
        s->ask_bytes *= n;
        r->st.piggybacked += s->ask_bytes;
    } else {
        r->st.asks++;
        r->st.asked += n;
    }
    const enum check_outcome chip = s->arrives ? OUTCOME_PIGGYBACKED : OUTCOME_REMOTE;
    r->st.outcome[s->soft ? OUTCOME_SOFTWARE : chip]++;
}

/* The permission comes when the check is over. */
static void put_in_queue(struct radish_access *a, struct line_access *s, granule_set passed)
{
    const struct queued_check c = {.data = a->own->data,
                                   .set = s->soft,
                                   .granted = passed & s->soft,
                                   .actor = a->actor,
                                   .core = (uint8_t)a->core,
                                   .kind = a->own->kind,
                                   .write = a->write};
    sim_cycle wait;

    s->queued = true;
    s->id = queue_put(a->r, &c, &wait);
    s->drained = latest(s->drained, wait);
}

bool check_granules(struct radish_access *a, struct line_access *s, granule_set need)
{
    struct radish *r = a->r;
    const bool queues =
        r->params.checks == CHECKS_QUEUED && !(s->fill && r->params.fill == FILL_CHECKS);

    gather_chip(a, need);
    s->soft = software(a, need);
    gather_soft(a, s->soft);
    const granule_set passed = judge(a, need);
    plan_question(a, s, need);
    tell_others(a, need);
    if (s->soft && queues)
        put_in_queue(a, s, passed);
    const bool rest = (s->asks || s->arrives) && neighbours_answered(a, s, ~need);
    return grant(a, s->queued ? passed & ~s->soft : passed) || rest;
}
