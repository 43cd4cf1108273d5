/* clean.c - CLEAN in software (Segulja and Abdelrahman, "Clean: A Race Detector with Cleaner
 * Semantics", ISCA 2015): races with an earlier write, by happens-before. A write that races with
 * an earlier read goes unnoticed, by design, as no reads are remembered. Ours: a bit of the word
 * says that the write was atomic. */
#include "policy/checker/cells.h"

struct clean_cell { /* the last write to a location */
    epoch at;       /* 0: none */
    uint64_t event, site;
    sim_tid tid;
    uint8_t op;
    bool atomic, raced;
};

struct clean {
    const struct policy_env *env;
    struct cells cells;
};

enum { STEP_PLACE, STEP_SAME, STEP_ATOMIC, STEP_CLOCK, STEP_ORDERED, STEP_SWAP, STEP_LINE };
static const struct cost_step steps[] = {
    {"place", 2, "A location's word, from its address: mask, scale.", STEP_NEEDS_FREE},
    {"same-epoch", 3, "The word against the own epoch: the bit: mask; compare, branch.",
     STEP_NEEDS_FREE},
    {"atomic", 2, "Before an atomic access: the last write's atomic bit: test, branch.",
     STEP_NEEDS_FREE},
    {"clock", 2, "The thread's clock, from its word: address and count: mask, shift.",
     STEP_NEEDS_FREE},
    {"ordered", 6, "Thread: shift; in the clock: compare, branch; time: mask, compare, branch.",
     STEP_NEEDS_VALUE},
    {"swap", 2, "A compare and swap: the new word: or; the outcome: branch.", STEP_NEEDS_FREE},
    {"line", 3, "64 bytes of words to clear or copy: add, compare, branch.", STEP_NEEDS_FREE},
};
enum { WORD = 4 }; /* bytes of a location's metadata */

static void access_charge(struct clean *p, const struct clean_cell *x, sim_addr at,
                          const struct event *ev, bool atomic, bool same)
{
    struct ledger *c = p->env->cost;
    const unsigned core = p->env->core;

    if (!c->held) {
        ledger_step(c, core, STEP_PLACE);
        clock_cost_epoch(p->cells.clocks, ev->tid, core);
    }
    ledger_access(c, core, metadata_at(c, at), WORD, MEM_LOAD);
    ledger_step(c, core, STEP_SAME);
    if (same)
        return;
    ledger_steps(c, core, STEP_ATOMIC, atomic);
    if (!(atomic && x->atomic)) { /* a word of 0 is time 0 of thread 0 */
        clock_cost_clock(p->cells.clocks, ev->tid, core);
        ledger_step(c, core, STEP_CLOCK);
        clock_cost_entry(p->cells.clocks, ev->tid, epoch_thread(x->at), core);
        ledger_step(c, core, STEP_ORDERED);
    }
    if (event_writes(ev)) {
        ledger_step(c, core, STEP_SWAP);
        ledger_access(c, core, metadata_at(c, at), WORD, MEM_ATOMIC);
    }
}

static bool location_check(void *self, void *cell, sim_addr at, const struct event *ev)
{
    struct clean *p = self;
    struct clean_cell *x = cell;
    const epoch now = hb_epoch(p->env->hb, ev->tid);
    const bool atomic = ev->flags & EVF_ORDER_MASK;
    const bool races =
        x->at && !(atomic && x->atomic) && !epoch_before(x->at, hb_clock(p->env->hb, ev->tid));

    if (UNLIKELY(p->env->cost->on))
        access_charge(p, x, at, ev, atomic,
                      x->at == now && (!event_writes(ev) || atomic == x->atomic));
    if (races)
        race_with(p->env->report, ev, at, race_access(x->event, x->site, x->tid, x->op), &x->raced);
    if (!event_writes(ev))
        return races;
    if (!x->at)
        cells_begin_use(&p->cells);
    *x = (struct clean_cell){now,      *p->env->number, event_site(ev), ev->tid,
                             ev->kind, atomic,          x->raced};
    return races;
}

static void clean_access(void *self, const struct event *ev)
{
    cells_access(&((struct clean *)self)->cells, ev, location_check, self);
}

static void clean_remembers(const void *self, sim_addr location, remembered_fn *fn, void *arg)
{
    const struct clean_cell *x = cells_peek(&((const struct clean *)self)->cells, location);

    if (x && x->at)
        fn(arg, x->event, x->op);
}

static void clean_rule(const void *self, sim_addr location, struct policy_rule *r)
{
    (void)self;
    (void)location;
    r->unkept = "it remembers no reads";
}

static void *clean_create(const struct policy_env *env, const void *params, struct err *e)
{
    static const struct cell_kind kind = {
        .bytes = sizeof(struct clean_cell),
        .cleared = "Locations emptied by clears and overwritten by copies.",
        .copied = "Locations that copies wrote."};
    static const struct cell_charges charges = {
        .bytes = WORD, .clear_step = STEP_LINE, .copy_step = STEP_LINE, .clocks = true};
    struct clean *p = xcalloc(1, sizeof *p);

    (void)params;
    (void)e;
    p->env = env;
    cells_init(&p->cells, &kind, env, p);
    cells_declare(&p->cells);
    cells_charge(&p->cells, &charges);
    return p;
}

const struct policy policy_clean = {
    .name = "clean",
    .summary = "races with an earlier write, by epochs of last writes",
    .source = "clean",
    .promise = {CLAIM_SOUND | CLAIM_PRECISE | CLAIM_EAGER,
                CONFLICT_WAW | CONFLICT_RAW | CONFLICT_ATOMIC, HISTORY_LAST, NULL},
    .create = clean_create,
    .detector = &(const struct policy_detector){.access = clean_access,
                                                .remembers = clean_remembers,
                                                .rule = clean_rule},
    .charges = &(const struct policy_charges){steps, ARRAY_SIZE(steps)},
    .hints = &(const struct policy_hints){.cells = true},
};
