/* eraser.c - the lockset discipline of Savage et al., "Eraser", ACM TOCS 15(4), 1997: every
 * variable should be protected by some lock.
 *
 * A variable (here: a location) goes through the states of the paper's section 2.2; once it is
 * shared, its candidate locks are those held at every access, at a write those held exclusive
 * (2.3). An empty set is reported in the state Shared-Modified, once in the variable's life.
 * As in the paper nothing but locks is known: forks, joins, barriers, volatiles, atomic accesses
 * and transactions protect nothing, so it promises nothing about happens-before.
 *
 * Ours: a lock is not its address; it keeps its identity when a copy moves it. Variables move, too.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/eraser/cost.h"
#include "policy/eraser/lockset.h"

enum state {
    VIRGIN,
    EXCLUSIVE, /* accessed by one thread only */
    SHARED,    /* since then only read */
    SHARED_MODIFIED,
    REPORTED /* Shared-Modified, and reported: once in the variable's life (ours) */
};

/* Eraser's word is state and candidates or owner. The rest is for reports: it remembers the last
 * access, and the last one by another thread than that. So every access finds one by another thread
 * to be reported with. */
struct eraser_variable {
    uint64_t event, site, other_event, other_site;
    lockset_id candidates; /* once shared */
    uint32_t actor;        /* of the last access; while EXCLUSIVE, of all */
    sim_tid tid, other_tid;
    uint8_t kind, other_kind; /* of event */
    uint8_t state;
};

struct eraser_hold { /* a thread's hold on a lock */
    uint64_t lock;
    uint64_t exclusive, shared; /* nesting, in either mode */
    bool waiting;               /* in a wait: the lock is given up meanwhile */
};

struct eraser_thread {
    struct eraser_hold *hold; /* owns; those with some nesting */
    size_t n, cap;
    lockset_id any, write; /* the paper's locks_held (any mode) and write_locks_held */
};

struct eraser {
    const struct policy_env *env;
    struct cells variables;
    struct lockset_pool *sets;
    struct eraser_thread *thread; /* owns; language threads */
    size_t threads;
    struct eraser_cost cost;
    struct {
        uint64_t shared, modified, refinements, locksets;
    } st;
};

static struct eraser_thread *thread_at(struct eraser *e, sim_tid tid)
{
    if (UNLIKELY(tid >= e->threads))
        e->thread = budget_reach(e->env->budget, e->thread, &e->threads, tid, sizeof *e->thread);
    return &e->thread[tid];
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* The state diagram of section 2.2; locks play no part in it. */
ALWAYS_INLINE enum state next_state(const struct eraser_variable *v, uint32_t actor, bool write)
{
    const enum state was = (enum state)v->state;

    switch (was) {
    case VIRGIN:
        return EXCLUSIVE;
    case EXCLUSIVE:
        if (v->actor == actor)
            return EXCLUSIVE;
        return write ? SHARED_MODIFIED : SHARED;
    case SHARED:
        return write ? SHARED_MODIFIED : SHARED;
    case SHARED_MODIFIED:
    case REPORTED:
        return was;
    }
    die("eraser: state %d", (int)was);
}

static void change_state(struct eraser *e, struct eraser_variable *v, enum state to)
{
    if (to == v->state)
        return;
    e->st.shared += to == SHARED;
    e->st.modified += to == SHARED_MODIFIED;
    v->state = (uint8_t)to;
}

static void variable_report(struct eraser *e, struct eraser_variable *v, sim_addr addr,
                            const struct event *ev, uint32_t actor)
{
    struct race_side earlier = race_access(v->event, v->site, v->tid, v->kind);

    if (v->actor == actor)
        earlier = race_access(v->other_event, v->other_site, v->other_tid, v->other_kind);
    race_conflict(e->env->report, ev, addr, &earlier, true);
    change_state(e, v, REPORTED);
}

static void remember(const struct eraser *e, struct eraser_variable *v, const struct event *ev,
                     uint32_t actor)
{
    if (v->actor != actor) {
        v->other_event = v->event;
        v->other_site = v->site;
        v->other_tid = v->tid;
        v->other_kind = v->kind;
    }
    v->event = *e->env->number;
    v->site = event_site(ev);
    v->actor = actor;
    v->tid = ev->tid;
    v->kind = ev->kind;
}

ALWAYS_INLINE void change_variable(struct eraser *e, struct eraser_variable *v, sim_addr addr,
                                   const struct event *ev, uint32_t actor, lockset_id held)
{
    const bool was_shared = v->state >= SHARED;

    if (v->state == REPORTED)
        return;
    change_state(e, v, next_state(v, actor, event_writes(ev)));
    if (v->state >= SHARED) { /* until now every lock was a candidate */
        v->candidates = was_shared ? lockset_both(e->sets, v->candidates, held) : held;
        e->st.refinements++;
    }
    if (v->state == SHARED_MODIFIED && v->candidates == LOCKSET_EMPTY)
        variable_report(e, v, addr, ev, actor);
    remember(e, v, ev, actor);
}

/* The state in the modelled shadow word: Eraser has none for what it has reported. */
static enum state in_word(uint8_t state)
{
    return state == REPORTED ? SHARED_MODIFIED : (enum state)state;
}

struct eraser_check { /* an access in hand */
    struct eraser *e;
    uint32_t actor;
    lockset_id held;
};

static inline bool change(void *arg, void *cell, sim_addr addr, const struct event *ev)
{
    const struct eraser_check *k = arg;

    change_variable(k->e, cell, addr, ev, k->actor, k->held);
    return false;
}

static bool change_charged(void *arg, void *cell, sim_addr addr, const struct event *ev)
{
    const struct eraser_check *k = arg;
    struct eraser_variable *v = cell;
    const enum state was = in_word(v->state);
    struct eraser_change x = {.first = was == VIRGIN,
                              .exclusive = was == EXCLUSIVE,
                              .same = v->actor == k->actor,
                              .refined = was >= SHARED,
                              .before = v->candidates,
                              .held = k->held};

    if (x.first)
        cells_begin_use(&k->e->variables);
    change_variable(k->e, v, addr, ev, k->actor, k->held);
    x.after = v->candidates;
    x.state_changes = in_word(v->state) != was;
    eraser_charge_access(&k->e->cost, addr, ev->tid, &x);
    return false;
}

static void eraser_access(void *self, const struct event *ev)
{
    struct eraser *e = self;
    const struct eraser_thread *t = thread_at(e, ev->tid);
    struct eraser_check k = {e, hb_actor(e->env->hb, ev->tid),
                             event_writes(ev) ? t->write : t->any};

    if (LIKELY(!e->env->cost->on))
        cells_access(&e->variables, ev, change, &k);
    else
        cells_access(&e->variables, ev, change_charged, &k);
    e->st.locksets = lockset_count(e->sets);
}

/* ---- locks ---------------------------------------------------------------------------------- */

static struct eraser_hold *find_hold(const struct eraser_thread *t, uint64_t lock)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->hold[i].lock == lock)
            return &t->hold[i];
    return NULL;
}

static struct eraser_hold *make_hold(struct eraser *e, struct eraser_thread *t, uint64_t lock)
{
    struct eraser_hold *h = find_hold(t, lock);

    if (h)
        return h;
    t->hold = budget_grow(e->env->budget, t->hold, t->n, &t->cap, sizeof *t->hold);
    h = &t->hold[t->n++];
    *h = (struct eraser_hold){.lock = lock};
    return h;
}

/* Counts an acquire or release in the thread's hold on the lock. */
static void count_hold(struct eraser *e, struct eraser_thread *t, enum ev_kind kind, uint64_t lock)
{
    const bool takes = kind == EV_ACQUIRE || kind == EV_ACQUIRE_SHARED;
    const bool shared = kind == EV_ACQUIRE_SHARED || kind == EV_RELEASE_SHARED;
    struct eraser_hold *h = takes ? make_hold(e, t, lock) : find_hold(t, lock);

    if (!h)
        return;
    uint64_t *nesting = shared ? &h->shared : &h->exclusive;
    if (kind == EV_WAIT_ENTER || kind == EV_WAIT_EXIT)
        h->waiting = kind == EV_WAIT_ENTER;
    else if (takes)
        ++*nesting;
    else if (*nesting) /* else it was acquired where this view does not look */
        --*nesting;
    if (!h->exclusive && !h->shared)
        *h = t->hold[--t->n];
}

static lockset_id set_lock(struct lockset_pool *sets, lockset_id set, uint64_t lock, bool in)
{
    return in ? lockset_with(sets, set, lock) : lockset_without(sets, set, lock);
}

/* An event on a lock: afterwards the thread's two sets have it, or not. */
static void eraser_sync(void *self, const struct event *ev)
{
    struct eraser *e = self;

    if (ev_info[ev->kind].object != OBJECT_LOCK)
        return;
    const uint64_t lock = hb_lock_id(e->env->hb, ev->addr);
    struct eraser_thread *t = thread_at(e, ev->tid);
    const lockset_id before[2] = {t->any, t->write};

    count_hold(e, t, (enum ev_kind)ev->kind, lock);
    const struct eraser_hold *h = find_hold(t, lock);
    const bool holds = h && !h->waiting;
    t->any = set_lock(e->sets, t->any, lock, holds);
    t->write = set_lock(e->sets, t->write, lock, holds && h->exclusive);
    e->st.locksets = lockset_count(e->sets);
    if (e->env->cost->on)
        eraser_charge_lock(&e->cost, ev->tid, lock, before,
                           (const lockset_id[2]){t->any, t->write});
}

/* ---- life ----------------------------------------------------------------------------------- */

static void check_variable(const void *self, void *cell)
{
    const struct eraser *e = self;
    const struct eraser_variable *v = cell;

    assert(v->state > VIRGIN && v->state <= REPORTED);
    assert(v->candidates < lockset_count(e->sets));
    assert(v->state != EXCLUSIVE || v->candidates == LOCKSET_EMPTY);
    assert(v->state != SHARED_MODIFIED || v->candidates != LOCKSET_EMPTY);
    (void)e;
    (void)v;
}

static const struct cell_kind variable_kind = {
    .bytes = sizeof(struct eraser_variable),
    .cleared = "Variables made Virgin by clears and overwritten by copies.",
    .copied = "Variables that copies wrote.",
    .check = check_variable,
};

static void *eraser_create(const struct policy_env *env, const void *params, struct err *err)
{
    struct eraser *e = xcalloc(1, sizeof *e);

    (void)params;
    (void)err;
    e->env = env;
    e->sets = lockset_pool_new(env->budget);
    e->st.locksets = lockset_count(e->sets);
    stats_count(env->stats, "shared", "count", "Variables that became Shared.", &e->st.shared);
    stats_count(env->stats, "shared-modified", "count", "Variables that became Shared-Modified.",
                &e->st.modified);
    stats_count(env->stats, "refinements", "count",
                "Candidate sets set or intersected with the locks held.", &e->st.refinements);
    stats_level(env->stats, "locksets", "count", "Different sets of locks, the empty one included.",
                &e->st.locksets);
    cells_init(&e->variables, &variable_kind, env, e);
    cells_declare(&e->variables);
    eraser_cost_init(&e->cost, env, e->sets, &e->variables);
    return e;
}

static void eraser_explain(const void *self, const struct event *ev, sim_addr location, char *to,
                           size_t room)
{
    static const char *const text[] = {
        [VIRGIN] = "it has seen no access to this location",
        [EXCLUSIVE] = "one thread alone has accessed this location so far (Exclusive)",
        [SHARED] = "since a second thread came, this location has only been read (Shared)",
        [SHARED_MODIFIED] = "some lock has been held at each access since a second thread came, "
                            "writes under it exclusive (Shared-Modified)",
        [REPORTED] = "no lock was held at each access since a second thread came; it reports that "
                     "once in a location's life",
    };
    const struct eraser *e = self;
    const struct eraser_variable *v = cells_peek(&e->variables, location);

    (void)ev;
    snprintf(to, room, "%s", text[v ? v->state : VIRGIN]);
}

static void eraser_destroy(void *self)
{
    struct eraser *e = self;

    for (size_t i = 0; i < e->threads; i++)
        free(e->thread[i].hold);
    free(e->thread);
    lockset_pool_free(e->sets);
    eraser_cost_free(&e->cost);
    free(e);
}

const struct policy policy_eraser = {
    .name = "eraser",
    .summary = "the lockset discipline: a lock for every variable",
    .source = "eraser",
    .promise = {.property = "lockset discipline"},
    .create = eraser_create,
    .destroy = eraser_destroy,
    .detector = &(const struct policy_detector){.access = eraser_access,
                                                .sync = eraser_sync,
                                                .explain = eraser_explain},
    .charges = &eraser_charges,
};
