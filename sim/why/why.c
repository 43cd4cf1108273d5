/* why.c - three looks at a trace: for the later access and what moved its memory; for the earlier
 * access; and for who got to know of that one before the other happened.
 *
 * Backwards one can't read. So of the clears and copies before the later access the latest OPS are
 * kept; where the memory came from further back, the trace is read again, up to the oldest of
 * them. */
#include "sim/why/why_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { OPS = 1 << 16 };
struct op { /* a clear or a copy */
    uint64_t position, number;
    sim_addr to, from;
    uint64_t bytes;
    bool copy;
};

struct life {       /* where they lie after an event, and up to where the next one begins */
    uint64_t since; /* a position; the first has none: it is from the start of the trace on */
    struct pieces in;
};

struct candidate { /* for the earlier access: an actor's latest read or write, plain or atomic */
    bool there;
    uint64_t position, time;
    uint32_t actor;
    struct event access;
};
enum { CANDIDATE_KINDS = 4 };

struct seeking {
    struct lardsim_why *w;
    const struct lardsim_why_ask *ask; /* its events are positions, the earlier one first */
    unsigned granule;
    /* The first look. */
    struct event access; /* the later one */
    bool found;
    struct event
        waiting;     /* one in a transaction, asked about by its own number: its commit comes */
    bool waits;      /* there is such */
    unsigned likely; /* how well it fits what is asked */
    uint64_t event, until; /* at which it takes effect; ops from `until` on are of no interest */
    struct op *ops;        /* the latest of them, as a ring */
    size_t op_next, op_n;
    bool op_lost;
    /* The places of the later access's bytes before the moves, the latest first. */
    struct life *life;
    size_t lives, lives_cap;
    size_t now; /* the second and third look: the one in hand */
    /* The second. */
    struct candidate *candidate; /* by actor and kind */
    size_t actors;
    struct candidate chosen;
    /* The third. */
    struct flow flow;
    bool flowing, in_window;
    struct placement *placement;
    struct lardsim_why_line recent[LARDSIM_WHY_WINDOW]; /* a ring of the latest events */
    size_t recents;
    size_t after[2]; /* lines still to come behind the access */
    uint32_t later_actor;
    size_t move_next;
};

struct bytes_at region_of(const struct event *access, unsigned granule)
{
    if (granule == GRANULE_FIELD)
        return (struct bytes_at){access->addr, access->addr};
    const sim_addr mask = ~(sim_addr)(granule - 1);
    return (struct bytes_at){access->addr & mask, (access->addr + access->size - 1) | ~mask};
}

enum { WRITES = 1, MEETS_THE_PLACE = 2, AT_THE_PLACE = 4, CHECKED = 8 };
unsigned likeness(const struct lardsim_why_ask *ask, unsigned granule, unsigned view,
                  const struct event *access)
{
    const struct event place = {.addr = ask->addr, .size = ask->size};
    unsigned like = event_writes(access) ? WRITES : 0;

    if (!(access->flags & view_skips(view)))
        like += CHECKED;
    if (ask->placed && access->addr == place.addr && access->size == place.size)
        like += AT_THE_PLACE;
    if (ask->placed && regions_meet(region_of(access, granule), region_of(&place, granule)))
        like += MEETS_THE_PLACE;
    return like;
}

static void keep_line(struct lardsim_why_line *to, const struct seeking *s, const struct walk *r,
                      const struct event *ev)
{
    *to = reading_line(r, ev);
    if (!s->placement)
        return;
    const struct object_place is = placement_find(s->placement, ev->addr);
    to->at = sim_object(NULL, &is);
}

/* ---- the later access, and the clears and copies before it ---------------------------------- */

static void keep_op(struct seeking *s, const struct event *ev, const struct walk *r)
{
    s->op_lost |= s->op_n == OPS;
    s->ops[s->op_next] = (struct op){.position = r->position,
                                     .number = r->number,
                                     .to = ev->addr,
                                     .from = ev->kind == EV_COPY ? ev[1].addr : 0,
                                     .bytes = ev->aux,
                                     .copy = ev->kind == EV_COPY};
    s->op_next = (s->op_next + 1) % OPS;
    s->op_n += s->op_n < OPS;
}

static void found_access(struct seeking *s, const struct walk *r, const struct event *access)
{
    s->likely = likeness(s->ask, s->granule, s->w->view, access);
    s->access = *access;
    s->event = r->position;
    s->found = true;
}

static bool look_first(void *arg, struct walk *r, const struct event *ev)
{
    struct seeking *s = arg;

    if ((ev->kind == EV_CLEAR || ev->kind == EV_COPY) && r->position < s->until)
        keep_op(s, ev, r);
    if (s->found) /* another reading, for what came before */
        return r->position + 1 < s->until;
    if (r->position == s->ask->event && event_is_access(ev) && ev->flags & EVF_IN_TXN) {
        s->waits = true;
        s->waiting = *ev;
    }
    if (s->waits && ev->kind == EV_TXN_COMMIT && ev->tid == s->waiting.tid)
        found_access(s, r, &s->waiting);
    for (size_t i = 0; r->position == s->ask->event && i < r->effects; i++)
        if (!s->found || i + 1 == s->ask->nth ||
            (!s->ask->nth && likeness(s->ask, s->granule, s->w->view, &r->effect[i]) > s->likely))
            found_access(s, r, &r->effect[i]);
    if (r->position == s->ask->event)
        s->w->accesses = r->effects;
    return !s->found && (r->position < s->ask->event || s->waits);
}

static int no_access(const struct seeking *s, const struct walk *r, struct err *e)
{
    const unsigned long long event = lardsim_executed_event(s->ask->executed, s->ask->event);

    if (s->waits)
        return err_set(e, LARD_TRACE,
                       "%s: event %llu is in a transaction that never commits, so it never took "
                       "effect",
                       reading_name(r), event);
    if (r->position < s->ask->event)
        return err_set(e, LARD_USAGE,
                       "%s: there is no event %llu: the last one is %llu; `lardsim trace info` "
                       "shows the numbers",
                       reading_name(r), event,
                       (unsigned long long)(r->position ? r->position - 1 : 0));
    return err_set(e, LARD_USAGE,
                   "%s: event %llu is no access, nor a commit of one; `lardsim trace cat --first "
                   "%llu --count 1` shows it, and `lardsim run` names those that race",
                   reading_name(r), event, event);
}

static int read_back(struct seeking *s, struct err *e)
{
    struct walk r;
    const bool again = s->found;

    s->op_n = s->op_next = 0;
    s->op_lost = false;
    s->w->passes++;
    /* A run has held its events against the rules, in recorded order. */
    if (reading_open(&r, s->ask, again || s->ask->executed ? READ_PLAIN : READ_CHECKED, e))
        return -1;
    s->granule = r.granule;
    if (s->ask->event < r.source->first && !again) {
        err_set(e, LARD_USAGE, "%s: there is no event %llu: the first one is %llu",
                reading_name(&r), (unsigned long long)s->ask->event,
                (unsigned long long)r.source->first);
        reading_close(&r);
        return -1;
    }
    int failed = reading_each(&r, look_first, s);
    if (!failed && !s->found)
        failed = no_access(s, &r, e);
    reading_close(&r);
    return failed;
}

/* ---- where its memory came from ------------------------------------------------------------- */

static void add_life(struct seeking *s, uint64_t since, const struct pieces *in)
{
    s->life = xgrow(s->life, s->lives, &s->lives_cap, sizeof *s->life);
    s->life[s->lives++] = (struct life){since, *in};
}

static void add_piece(struct pieces *p, sim_addr first, sim_addr last, sim_addr shift)
{
    if (p->n < PIECES)
        p->at[p->n++] = (struct bytes_at){first + shift, last + shift};
}

void pieces_part(const struct pieces *p, struct bytes_at of, sim_addr shift, struct pieces *to)
{
    for (size_t i = 0; i < p->n; i++)
        if (regions_meet(p->at[i], of))
            add_piece(to, p->at[i].first > of.first ? p->at[i].first : of.first,
                      p->at[i].last < of.last ? p->at[i].last : of.last, shift);
}

void pieces_without(struct pieces *p, struct bytes_at part)
{
    const struct pieces was = *p;

    p->n = 0;
    for (size_t i = 0; i < was.n; i++) {
        const struct bytes_at r = was.at[i];
        if (!regions_meet(r, part)) {
            add_piece(p, r.first, r.last, 0);
            continue;
        }
        if (r.first < part.first)
            add_piece(p, r.first, part.first - 1, 0);
        if (r.last > part.last)
            add_piece(p, part.last + 1, r.last, 0);
    }
}

bool pieces_meet(const struct pieces *p, struct bytes_at with)
{
    for (size_t i = 0; i < p->n; i++)
        if (regions_meet(p->at[i], with))
            return true;
    return false;
}

/* Takes the pieces back to the places that they had before the clear or the copy. A piece that was
 * cleared was nowhere. */
static void pieces_before(struct pieces *p, struct bytes_at to, const struct op *op)
{
    const struct pieces now = *p;

    pieces_without(p, to);
    if (op->copy)
        pieces_part(&now, to, op->from - op->to, p);
}

static void add_move(struct seeking *s, const struct op *op, bool ignored)
{
    struct lardsim_why *w = s->w;

    w->moves_in_all++;
    if (w->moves ==
        LARDSIM_WHY_MOVES) { /* the first of them stay: found backwards, those are the last */
        memmove(&w->move[0], &w->move[1], (LARDSIM_WHY_MOVES - 1) * sizeof w->move[0]);
        w->moves--;
    }
    w->move[w->moves++] =
        (struct lardsim_why_move){.line = {.position = op->position, .number = op->number},
                                  .copy = op->copy,
                                  .ignored = ignored};
}

/* Further back by one. */
static void step_back(struct seeking *s, struct pieces *in, const struct op *op)
{
    const struct bytes_at to = {op->to, op->to + op->bytes - 1};
    const bool ignored = s->w->view & (op->copy ? VIEW_NO_COPY : VIEW_NO_CLEAR);

    if (!pieces_meet(in, to))
        return;
    add_move(s, op, ignored);
    if (ignored)
        return;
    add_life(s, op->position, in);
    pieces_before(in, to, op);
}

static int find_lives(struct seeking *s, struct err *e)
{
    struct pieces in = {.at = {region_of(&s->access, s->granule)}, .n = 1};

    for (;;) {
        for (size_t i = 0; i < s->op_n && in.n; i++) {
            const struct op *op = &s->ops[(s->op_next + OPS - 1 - i) % OPS];
            if (op->position < s->event)
                step_back(s, &in, op);
            s->until = op->position;
        }
        if (!in.n || !s->op_lost)
            break;
        if (read_back(s, e))
            return -1;
    }
    add_life(s, 0, &in);
    return 0;
}

/* Lives stand the latest first. */
static const struct pieces *lies_in_now(struct seeking *s, uint64_t position)
{
    while (s->now > 0 && s->life[s->now - 1].since < position)
        s->now--;
    return &s->life[s->now].in;
}

/* ---- the earlier access --------------------------------------------------------------------- */

static bool atomic(const struct event *access)
{
    return event_order(access) != ORDER_NONE;
}

bool accesses_conflict(const struct event *a, const struct event *b)
{
    return (event_writes(a) || event_writes(b)) && !(atomic(a) && atomic(b));
}

static struct candidate *candidates_of(struct seeking *s, uint32_t actor)
{
    s->candidate = budget_reach(s->ask->budget, s->candidate, &s->actors, actor,
                                CANDIDATE_KINDS * sizeof *s->candidate);
    return &s->candidate[(size_t)actor * CANDIDATE_KINDS];
}

static void consider(struct seeking *s, const struct walk *r, const struct event *access)
{
    if (s->ask->paired && r->position != s->ask->earlier)
        return;
    if (access->flags & checker_skips(r->hb) && !s->ask->paired)
        return;
    const struct candidate c = {.there = true,
                                .position = r->position,
                                .time = r->before,
                                .actor = r->actor,
                                .access = *access};
    struct candidate *to = &candidates_of(s, r->actor)[2 * event_writes(access) + atomic(access)];
    const unsigned skips = checker_skips(r->hb);
    if (!to->there || !(access->flags & skips) || to->access.flags & skips)
        *to = c;
}

/* Chooses the earlier access: one that races before one that does not; of those, the latest. What
 * the view does not check races with nobody: a commit that is named may have made such an access,
 * too. */
static void choose(struct seeking *s, const struct walk *r)
{
    const unsigned skips = checker_skips(r->hb);
    bool racy = false;

    for (size_t i = 0; i < s->actors * CANDIDATE_KINDS; i++) {
        const struct candidate *c = &s->candidate[i];
        if (!c->there || c->actor == r->actor || !accesses_conflict(&c->access, &s->access))
            continue;
        const bool races =
            !(c->access.flags & skips) && c->time > checker_knows(r->hb, s->access.tid, c->actor);
        if (!s->chosen.there || (races && !racy) ||
            (races == racy && c->position > s->chosen.position))
            s->chosen = *c;
        racy |= races;
    }
}

static bool look_second(void *arg, struct walk *r, const struct event *ev)
{
    struct seeking *s = arg;

    (void)ev;
    if (r->position == s->event) {
        choose(s, r);
        return false;
    }
    const struct pieces *in = lies_in_now(s, r->position);
    for (size_t i = 0; i < r->effects; i++)
        if (pieces_meet(in, region_of(&r->effect[i], s->granule)))
            consider(s, r, &r->effect[i]);
    return true;
}

static int find_earlier(struct seeking *s, struct err *e)
{
    struct walk r;

    s->w->passes++;
    s->now = s->lives - 1;
    if (reading_open(&r, s->ask, READ_CLOCKS, e))
        return -1;
    const int failed = reading_each(&r, look_second, s);
    reading_close(&r);
    return failed;
}

/* ---- locks that are held -------------------------------------------------------------------- */

static struct lardsim_why_hold *hold_find(struct lardsim_why_side *side, const struct event *ev,
                                          bool shared)
{
    const bool system = ev->flags & EVF_SYSTEM;

    for (size_t i = 0; i < side->holds; i++)
        if (side->hold[i].addr == ev->addr && side->hold[i].shared == shared &&
            side->hold[i].system == system)
            return &side->hold[i];
    return NULL;
}

static void hold_drop(struct lardsim_why_side *side, const struct lardsim_why_hold *h)
{
    const size_t i = (size_t)(h - side->hold);

    memmove(&side->hold[i], &side->hold[i + 1], (side->holds - i - 1) * sizeof *h);
    side->holds--;
}

static void hold_step(struct lardsim_why_side *side, const struct walk *r, const struct event *ev)
{
    const bool shared = ev->kind == EV_ACQUIRE_SHARED || ev->kind == EV_RELEASE_SHARED;
    struct lardsim_why_hold *h = hold_find(side, ev, shared);

    if (ev->kind == EV_ACQUIRE || ev->kind == EV_ACQUIRE_SHARED) {
        if (!h) {
            side->hold = xgrow(side->hold, side->holds, &side->holds_cap, sizeof *side->hold);
            h = &side->hold[side->holds++];
            *h = (struct lardsim_why_hold){.addr = ev->addr,
                                           .since = r->number,
                                           .shared = shared,
                                           .system = ev->flags & EVF_SYSTEM};
        }
        h->depth++;
    } else if (h && --h->depth == 0) {
        hold_drop(side, h);
    }
}

/* Locks lie in memory and move with it. A wait gives a lock up, and ends before anything else. */
static void hold_follow(struct lardsim_why_side *side, const struct event *ev)
{
    for (size_t i = 0; ev->kind == EV_COPY && i < side->holds; i++)
        if (side->hold[i].addr - ev[1].addr < ev->aux)
            side->hold[i].addr += ev->addr - ev[1].addr;
}

static void holds(struct lardsim_why_side *side, sim_tid tid, const struct walk *r,
                  const struct event *ev)
{
    if (ev->kind == EV_COPY)
        hold_follow(side, ev);
    if (ev->tid == tid && ev_info[ev->kind].object == OBJECT_LOCK && ev->kind != EV_WAIT_ENTER &&
        ev->kind != EV_WAIT_EXIT)
        hold_step(side, r, ev);
}

/* ---- who got to know ------------------------------------------------------------------------ */

static void in_window(struct seeking *s, size_t which, const struct walk *r, const struct event *ev)
{
    keep_line(&s->w->window[which][s->w->windows[which]++], s, r, ev);
}

/* At the access: the lines before it, and its own. */
static void begin_window(struct seeking *s, size_t which, const struct walk *r,
                         const struct event *ev)
{
    const size_t n = s->recents < LARDSIM_WHY_WINDOW ? s->recents : LARDSIM_WHY_WINDOW;

    for (size_t i = s->recents - n; i < s->recents; i++)
        s->w->window[which][s->w->windows[which]++] = s->recent[i % LARDSIM_WHY_WINDOW];
    in_window(s, which, r, ev);
    s->after[which] = LARDSIM_WHY_WINDOW;
}

static void windows(struct seeking *s, const struct walk *r, const struct event *ev)
{
    for (size_t i = 0; i < 2; i++)
        if (s->after[i] > 0) {
            in_window(s, i, r, ev);
            s->after[i]--;
        }
    if (r->position == s->event)
        begin_window(s, 1, r, ev);
    else if (s->chosen.there && r->position == s->chosen.position)
        begin_window(s, 0, r, ev);
    keep_line(&s->recent[s->recents++ % LARDSIM_WHY_WINDOW], s, r, ev);
}

static void see_side(struct seeking *s, struct lardsim_why_side *side, const struct walk *r,
                     const struct event *access)
{
    keep_line(&side->line, s, r, access);
    side->committed = access->flags & EVF_IN_TXN;
    side->unchecked = access->flags & checker_skips(r->hb);
}

static void see_moves(struct seeking *s, const struct walk *r, const struct event *ev)
{
    struct lardsim_why *w = s->w;

    if (s->move_next < w->moves && w->move[s->move_next].line.position == r->position)
        keep_line(&w->move[s->move_next++].line, s, r, ev);
}

/* Keeps the event from which the later one's thread has what it knows of the earlier one's thread.
 */
static void see_learning(struct seeking *s, const struct walk *r, const struct event *ev)
{
    struct lardsim_why *w = s->w;
    const uint32_t of = s->chosen.actor;

    if (ev->tid != s->access.tid)
        return;
    /* Less, where a kernel thread is taken for the thread and the thread has changed it. */
    const uint64_t now = checker_knows(r->hb, ev->tid, of);
    if (now != w->had) {
        w->had = now;
        w->has_learned = now > 0;
        keep_line(&w->learned, s, r, ev);
    }
}

/* Keeps the latest event before the access by which its thread learned of others, as an acquire; of
 * a nested monitor only the outermost acquire counts. */
static void see_taking(struct seeking *s, const struct walk *r, const struct event *ev)
{
    struct lardsim_why *w = s->w;
    const bool shared = ev->kind == EV_ACQUIRE_SHARED;
    const struct lardsim_why_hold *h = hold_find(&w->later, ev, shared);

    if (ev->tid != s->access.tid || r->position >= s->event || !ev_info[ev->kind].takes ||
        (event_is_access(ev) && !order_takes(event_order(ev))) ||
        (ev->flags & EVF_SYSTEM && !(w->view & VIEW_ALL_SYNC)) ||
        ((ev->kind == EV_ACQUIRE || shared) && h && h->depth > 1))
        return;
    keep_line(&w->in, s, r, ev);
    w->has_in = true;
}

static void see_between(struct seeking *s, const struct walk *r, const struct event *ev)
{
    struct lardsim_why *w = s->w;
    const struct pieces *in = lies_in_now(s, r->position);

    for (size_t i = 0; i < r->effects && !w->displaced; i++)
        if (event_writes(&r->effect[i]) && !(r->effect[i].flags & checker_skips(r->hb)) &&
            pieces_meet(in, region_of(&r->effect[i], s->granule))) {
            w->newer = r->number;
            w->displaced = true;
        }
    if (!w->has_out && r->actor == s->flow.origin && r->gave) {
        keep_line(&w->out, s, r, ev);
        w->has_out = true;
    }
}

static void flow_on(struct seeking *s, const struct walk *r, const struct event *ev)
{
    if (!s->chosen.there || r->position < s->chosen.position || r->position > s->event)
        return;
    if (r->position == s->chosen.position) {
        flow_begin(&s->flow, r, ev, s->ask->budget);
        s->flowing = true;
        s->w->needed = s->flow.needed;
        see_side(s, &s->w->earlier, r, &s->chosen.access);
    } else if (r->position < s->event) {
        see_between(s, r, ev);
    }
    if (r->position == s->chosen.position && r->gave) {
        keep_line(&s->w->out, s, r, ev);
        s->w->has_out = true;
    }
    flow_step(&s->flow, r, ev);
}

static bool look_third(void *arg, struct walk *r, const struct event *ev)
{
    struct seeking *s = arg;

    if (ev->kind == EV_ALLOC)
        placement_apply(s->placement, ev, r->number);
    windows(s, r, ev);
    see_moves(s, r, ev);
    if (r->position <= s->event) {
        if (s->chosen.there && r->position <= s->chosen.position)
            holds(&s->w->earlier, s->chosen.access.tid, r, ev);
        holds(&s->w->later, s->access.tid, r, ev);
        if (s->chosen.there)
            see_learning(s, r, ev);
        see_taking(s, r, ev);
        flow_on(s, r, ev);
    }
    if (r->position == s->event) {
        see_side(s, &s->w->later, r, &s->access);
        s->later_actor = r->actor;
    }
    if (event_is_placing(ev) && ev->kind != EV_ALLOC)
        placement_apply(s->placement, ev, r->number);
    return r->position < s->event || s->after[1] > 0;
}

static int follow(struct seeking *s, struct err *e)
{
    struct walk r;

    s->w->passes++;
    s->now = s->lives - 1;
    if (reading_open(&r, s->ask, READ_CLOCKS, e))
        return -1;
    s->placement = placement_new(s->ask->budget);
    placement_names(s->placement, r.source->names);
    const int failed = reading_each(&r, look_third, s);
    s->w->name = r.source->name;
    s->w->source = r.from;
    r.from = NULL;
    placement_free(s->placement);
    reading_close(&r);
    return failed;
}

/* ---- what came of it ------------------------------------------------------------------------ */

/* Backwards, from who knows to who told it; then turned round. */
static void make_chain(struct seeking *s)
{
    struct lardsim_why *w = s->w;
    const struct flow *f = &s->flow;
    uint32_t actor = s->later_actor;

    w->chain = xcalloc(w->reaches, sizeof *w->chain);
    while (actor != f->origin && w->chains < w->reaches) {
        const struct lardsim_why_edge *edge = &w->reach[f->actor[actor].reach].edge;
        w->chain[w->chains++] = *edge;
        if (edge->unknown)
            break;
        actor = edge->from_actor;
    }
    for (size_t i = 0; i < w->chains / 2; i++) {
        const struct lardsim_why_edge edge = w->chain[i];
        w->chain[i] = w->chain[w->chains - 1 - i];
        w->chain[w->chains - 1 - i] = edge;
    }
}

static void find_missing(struct lardsim_why *w)
{
    w->missing = w->earlier.line;
    for (size_t i = 0; i < w->reaches; i++)
        if (w->reach[i].outs && w->reach[i].out.position >= w->missing.position)
            w->missing = w->reach[i].out;
}

static void conclude(struct seeking *s)
{
    struct lardsim_why *w = s->w;

    w->verdict = s->ask->paired ? LARDSIM_WHY_APART : LARDSIM_WHY_ALONE;
    if (!s->flowing)
        return;
    w->reach = s->flow.reach; /* it owns them now */
    w->reaches = s->flow.reaches;
    s->flow.reach = NULL;
    w->verdict = flow_knows(&s->flow, s->later_actor)         ? LARDSIM_WHY_IS_ORDERED
                 : w->later.unchecked || w->earlier.unchecked ? LARDSIM_WHY_OUTSIDE
                                                              : LARDSIM_WHY_RACES;
    if (w->verdict == LARDSIM_WHY_IS_ORDERED)
        make_chain(s);
    find_missing(w);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void turn_moves(struct lardsim_why *w)
{
    for (size_t i = 0; i < w->moves / 2; i++) {
        const struct lardsim_why_move m = w->move[i];
        w->move[i] = w->move[w->moves - 1 - i];
        w->move[w->moves - 1 - i] = m;
    }
}

static unsigned view_of(const char *names)
{
    unsigned bits = 0;

    for (const struct view_info *v = view_info; v->name; v++) {
        const size_t n = strlen(v->name);
        for (const char *p = names; (p = strstr(p, v->name)); p += n)
            if ((p == names || p[-1] == ',') && (!p[n] || p[n] == ','))
                bits |= v->bits;
    }
    return bits;
}

/* The events that are asked about by their positions, the earlier one first. */
static int find_positions(struct lardsim_why_ask *ask, struct err *e)
{
    const struct lardsim_executed *x = ask->executed;
    const uint64_t event = ask->event;

    if (!executed_find(x, event, &ask->event))
        return err_set(e, LARD_USAGE, "%s: that run came to no event %llu",
                       ask->name ? ask->name : "the source", (unsigned long long)event);
    ask->paired = ask->paired && executed_find(x, ask->earlier, &ask->earlier);
    if (ask->paired && ask->earlier > ask->event) {
        const uint64_t first = ask->event;
        ask->event = ask->earlier;
        ask->earlier = first;
    }
    return 0;
}

static int find(struct seeking *s, struct err *e)
{
    s->until = UINT64_MAX;
    if (read_back(s, e) || find_lives(s, e))
        return -1;
    s->w->granule = s->granule;
    turn_moves(s->w);
    if (find_earlier(s, e) || follow(s, e))
        return -1;
    conclude(s);
    return 0;
}

struct lardsim_why *why_find(const struct lardsim_why_ask *ask, struct err *e)
{
    struct lardsim_why *w = xcalloc(1, sizeof *w);
    struct lardsim_why_ask by_position = *ask;
    struct seeking s = {.w = w, .ask = &by_position, .ops = xcalloc(OPS, sizeof *s.ops)};

    w->view = view_of(ask->view);
    w->by_kernel = w->view & VIEW_NO_THREAD;
    w->no_copy = w->view & VIEW_NO_COPY;
    const int failed = find_positions(&by_position, e) || find(&s, e);
    flow_free(&s.flow);
    free(s.ops);
    free(s.life);
    free(s.candidate);
    if (!failed)
        return w;
    why_free(w);
    return NULL;
}

void why_free(struct lardsim_why *w)
{
    if (!w)
        return;
    lardsim_source_close(w->source);
    free(w->earlier.hold);
    free(w->later.hold);
    free(w->chain);
    free(w->reach);
    free(w);
}
