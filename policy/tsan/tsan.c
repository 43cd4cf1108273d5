/* tsan.c - ThreadSanitizer's run-time library in its second generation, as gcc 12 has it: four
 * shadow cells for each 8 bytes of memory.
 *
 * Written from what LLVM's compiler-rt/lib/tsan/rtl did before its commit b332134921b4 (November
 * 2021), which made it the third generation (clang 14 has that one). The rules stand there in
 * tsan_rtl.cpp (MemoryAccess, ContainsSameAccess, MemoryAccessImpl1, MemoryAccessRange,
 * MemoryRangeFreed, MemoryRangeImitateWrite), tsan_update_shadow_word_inl.h, and tsan_shadow.h or
 * tsan_rtl.h (Shadow). docs/policies/tsan.md says what is the same and what is not. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/hb/hb.h"
#include "policy/cost/ledger.h"
#include "policy/cost/metadata.h"

#define STEPS_DEF     "policy/tsan/steps.def"
#define STEPS_CHARGES tsan_charges
#include "policy/cost/steps.h"

enum {
    WORD = 8,  /* bytes of memory that have cells together */
    CELLS = 4, /* kShadowCnt */
    CELL = 8,  /* bytes of one on the machine */
    ENTRY = 8, /* of a clock: an epoch, and when it was reused */
    EVENT = 8, /* bytes in a thread's trace */
    /* Events that a trace keeps, by default (history_size=2); then the oldest are overwritten. */
    TRACE = 1 << 17,
    /* A thread's clock: entries of so many threads; further ones share places. */
    CLOCK_ENTRIES = 512,
    /* Bytes of a synchronisation variable: its lock, its clock's head and its first entries. */
    SYNC_BYTES = 64,
    /* Shadow beyond this is mapped afresh, but for a page at either end (MemoryRangeSet). */
    LARGE = 64 << 10,
    LARGE_WRITTEN = 2 * 4096 / CELLS,
    FREED_MOST = 1024 /* bytes of freed memory that are looked at (MemoryRangeFreed) */
};

enum made { MADE_NORMALLY, MADE_BEFORE, MADE_A_RACE, MADE_ROOM, MADE_WEAKER };

struct tsan_cell {
    epoch at; /* 0: empty */
    uint64_t event, site;
    sim_tid tid;
    uint8_t op;
    uint8_t bytes; /* of the word, a bit each */
    bool read, atomic;
};
struct tsan_word {
    struct tsan_cell cell[CELLS];
    uint8_t raced;   /* of which bytes a race was reported */
    uint8_t evicted; /* of which bytes a cell has made room */
    uint8_t made;    /* enum made; by the latest access, which was */
    uint8_t bytes;   /* to these */
    bool counted;    /* its cells, as metadata */
};
struct tsan_thread { /* an actor */
    uint64_t count;  /* of events in its trace: what the source calls its epoch */
    struct paddr clock, trace;
};

struct tsan {
    const struct policy_env *env;
    struct shadow *words;
    struct tsan_thread *thread; /* owns; by actor */
    size_t threads;
    struct map sync; /* where a synchronisation variable's clock lies, by address */
    uint64_t same, evictions;
    struct budget metadata; /* on the machine */
};

struct word_access { /* of one word, in hand */
    uint64_t code;   /* of the library's function that checks it: see branch */
    const struct event *ev;
    struct tsan_thread *thread;
    struct tsan_word *word;
    sim_addr at;         /* of the word */
    struct paddr shadow; /* of its cells on the machine */
    struct tsan_cell is;
};

/* Branches whose outcome depends on data. Each function of the library has its own. The first loop
 * over the cells has the same for all four. What comes behind is there for each cell, and for each
 * twice: when the access has a place yet, and when it has none. */
enum branch {
    AT_SAME_BYTES,
    AT_SAME_THREAD,
    AT_SAME_TIME,
    AT_SAME_KIND,
    AT_SAME_WRITE,
    AT_NEXT,
    AT_EMPTY,
    AT_EQUAL = AT_EMPTY + 2 * CELLS,
    AT_OWN = AT_EQUAL + 2 * CELLS,
    AT_STRONGER = AT_OWN + 2 * CELLS,
    AT_BELOW = AT_STRONGER + 2 * CELLS,
    AT_OVERLAP = AT_BELOW + 2 * CELLS,
    AT_OWN_TOO = AT_OVERLAP + 2 * CELLS,
    AT_HARMLESS = AT_OWN_TOO + 2 * CELLS,
    AT_BEFORE = AT_HARMLESS + 2 * CELLS,
    BRANCHES = 128 /* of a function, and some numbers more */
};

/* ---- threads -------------------------------------------------------------------------------- */

static struct paddr block_take(struct tsan *t, uint64_t bytes)
{
    budget_take(&t->metadata, bytes);
    return metadata_take(t->env->cost, t->env->core, bytes);
}

static struct tsan_thread *thread_of(struct tsan *t, sim_tid tid)
{
    const uint32_t actor = hb_actor(t->env->hb, tid);

    if (UNLIKELY(actor >= t->threads))
        t->thread = budget_reach(t->env->budget, t->thread, &t->threads, actor, sizeof *t->thread);
    struct tsan_thread *th = &t->thread[actor];
    if (UNLIKELY(t->env->cost->on && !th->trace.at)) {
        th->clock = block_take(t, CLOCK_ENTRIES * ENTRY);
        th->trace = block_take(t, TRACE * EVENT);
    }
    return th;
}

static void record(const struct tsan *t, struct tsan_thread *th)
{
    charge_step(t->env, STEP_RECORD);
    charge_store(t->env, paddr_plus(th->trace, th->count++ % TRACE * EVENT), EVENT);
}

/* ---- the four cells ------------------------------------------------------------------------- */

/* The outcome, which the core has guessed. */
static bool branch(const struct tsan *t, const struct word_access *a, unsigned at, bool taken)
{
    return ledger_branch(t->env->cost, t->env->core, a->code + at, taken);
}

static bool same_thread(const struct word_access *a, const struct tsan_cell *old)
{
    return epoch_thread(old->at) == epoch_thread(a->is.at);
}

/* IsRWWeakerOrEqual: whatever conflicts with the old access conflicts with this one. It holds but
 * for a plain read after an atomic write, which conflicts with fewer. */
static bool at_least_as_strong(const struct tsan_cell *is, const struct tsan_cell *old)
{
    return 2 * old->atomic + old->read >= 2 * is->atomic + is->read;
}

static bool both_read_or_atomic(const struct tsan_cell *is, const struct tsan_cell *old)
{
    return (is->read && old->read) || (is->atomic && old->atomic);
}

/* ContainsSameAccess: the thread has made it, or a stronger one, since its last release. */
static bool is_same(const struct tsan *t, const struct word_access *a, const struct tsan_cell *old)
{
    charge_step(t->env, STEP_SAME_CELL);
    if (!branch(t, a, AT_SAME_BYTES, old->at && old->bytes == a->is.bytes))
        return false;
    charge_step(t->env, STEP_SAME_RANGE);
    if (!branch(t, a, AT_SAME_THREAD, same_thread(a, old)))
        return false;
    charge_step(t->env, STEP_SAME_THREAD);
    if (!branch(t, a, AT_SAME_TIME, old->at == a->is.at))
        return false;
    charge_step(t->env, STEP_SAME_KIND);
    if (!branch(t, a, AT_SAME_KIND, old->atomic == a->is.atomic))
        return false;
    if (a->is.read)
        return true;
    charge_step(t->env, STEP_SAME_WRITE);
    return branch(t, a, AT_SAME_WRITE, !old->read);
}

static bool made_before(const struct tsan *t, const struct word_access *a)
{
    for (unsigned i = 0; i < CELLS; i++) {
        charge_load(t->env, paddr_plus(a->shadow, i * CELL), CELL);
        if (is_same(t, a, &a->word->cell[i]))
            return true;
        charge_step(t->env, STEP_NEXT);
        branch(t, a, AT_NEXT, i + 1 < CELLS);
    }
    return false;
}

static bool happens_before(const struct tsan *t, const struct word_access *a,
                           const struct tsan_cell *old)
{
    charge_load(t->env, paddr_plus(a->thread->clock, epoch_thread(old->at) % CLOCK_ENTRIES * ENTRY),
                ENTRY);
    return epoch_before(old->at, hb_clock(t->env->hb, a->ev->tid));
}

/* The old access conflicts with this one, and nothing orders them. */
static bool races(const struct tsan *t, const struct word_access *a, const struct tsan_cell *old,
                  unsigned place)
{
    if (branch(t, a, AT_EQUAL + place, old->bytes == a->is.bytes)) {
        charge_step(t->env, same_thread(a, old) ? STEP_OWN : STEP_OTHERS);
        if (branch(t, a, AT_OWN + place, same_thread(a, old)))
            return false;
        return !branch(t, a, AT_BEFORE + place, happens_before(t, a, old)) &&
               !both_read_or_atomic(&a->is, old);
    }
    charge_step(t->env, STEP_APART);
    branch(t, a, AT_BELOW + place, __builtin_ctz(a->is.bytes) < __builtin_ctz(old->bytes));
    if (!branch(t, a, AT_OVERLAP + place, (old->bytes & a->is.bytes) != 0))
        return false;
    charge_step(t->env, STEP_OVERLAP);
    if (branch(t, a, AT_OWN_TOO + place, same_thread(a, old)) ||
        branch(t, a, AT_HARMLESS + place, both_read_or_atomic(&a->is, old)))
        return false;
    charge_step(t->env, STEP_BEFORE);
    return !branch(t, a, AT_BEFORE + place, happens_before(t, a, old));
}

static void store(const struct tsan *t, const struct word_access *a, unsigned i, bool stored)
{
    struct tsan_cell *to = &a->word->cell[i];

    if (to->at && to->atomic && !to->read && !a->is.atomic && a->is.read)
        a->word->made = MADE_WEAKER;
    charge_store(t->env, paddr_plus(a->shadow, i * CELL), CELL);
    *to = stored ? (struct tsan_cell){0} : a->is; /* one cell has it already: this one is free */
}

static void report(const struct tsan *t, const struct word_access *a, const struct tsan_cell *old)
{
    const struct race_side earlier = race_access(old->event, old->site, old->tid, old->op);
    const uint8_t both = old->bytes & a->is.bytes;
    const unsigned granule = t->env->granule;

    if (granule == GRANULE_FIELD) {
        race_conflict(t->env->report, a->ev, a->ev->addr, &earlier, !(a->word->raced & both));
    } else {
        for (unsigned i = 0; i < WORD; i += granule) {
            const unsigned bytes = both & ((1u << granule) - 1) << i;
            if (bytes)
                race_conflict(t->env->report, a->ev, a->at + i, &earlier,
                              !(a->word->raced & bytes));
        }
    }
    a->word->raced |= both;
}

/* MemoryAccessImpl1. A race ends it: what has no cell by then gets none. */
static bool check_cells(struct tsan *t, const struct word_access *a)
{
    bool stored = false;

    for (unsigned i = 0; i < CELLS; i++) {
        const struct tsan_cell *old = &a->word->cell[i];
        const unsigned place = i + (stored ? CELLS : 0);
        charge_load(t->env, paddr_plus(a->shadow, i * CELL), CELL);
        charge_step(t->env, STEP_CELL);
        if (branch(t, a, AT_EMPTY + place, !old->at)) {
            if (!stored)
                store(t, a, i, false);
            stored = true;
            continue;
        }
        charge_step(t->env, STEP_TAKEN);
        if (races(t, a, old, place)) {
            report(t, a, old);
            if (!stored)
                a->word->made = MADE_A_RACE;
            return true;
        }
        if (old->bytes != a->is.bytes ||
            !(same_thread(a, old) || epoch_before(old->at, hb_clock(t->env->hb, a->ev->tid))) ||
            !branch(t, a, AT_STRONGER + place, at_least_as_strong(&a->is, old)))
            continue;
        store(t, a, i, stored);
        stored = true;
    }
    if (stored)
        return false;
    /* "Choose a random candidate": the thread's count decides, in the source, too. */
    const unsigned i = a->thread->count % CELLS;
    charge_step(t->env, STEP_REPLACE);
    t->evictions++;
    const uint8_t evicted = a->word->cell[i].bytes & (uint8_t)~a->is.bytes;
    store(t, a, i, false);
    a->word->evicted |= evicted;
    a->word->made = MADE_ROOM;
    return false;
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* Checks bytes in one word. alone: they are no part of a range. */
static bool check(struct tsan *t, const struct event *ev, struct tsan_thread *th, sim_addr at,
                  unsigned bytes, bool alone)
{
    const bool writes = event_writes(ev);
    const sim_addr word = at & ~(sim_addr)(WORD - 1);
    /* The library has 16: __tsan_read1 to __tsan_write8, and those of ranges. */
    const unsigned function = 8u * writes + (alone ? (unsigned)__builtin_ctz(bytes) : 4);
    struct word_access a = {(uint64_t)function * BRANCHES,
                            ev,
                            th,
                            shadow_get(t->words, word),
                            word,
                            metadata_at(t->env->cost, word),
                            {hb_epoch(t->env->hb, ev->tid), *t->env->number, event_site(ev),
                             ev->tid, ev->kind, (uint8_t)(((1u << bytes) - 1) << (at - word)),
                             !writes, (ev->flags & EVF_ORDER_MASK) != 0}};

    if (t->env->cost->on && !a.word->counted) {
        a.word->counted = true;
        budget_take(&t->metadata, CELLS * CELL);
    }
    if (alone) {
        ledger_called(t->env->cost, t->env->core, a.is.site);
        charge_step(t->env, writes ? STEP_WRITE : STEP_READ);
    } else {
        charge_step(t->env, STEP_RANGE_WORD);
    }
    if (alone && !writes)
        charge_load(t->env, a.shadow, CELL); /* is it read-only data? */
    a.word->made = MADE_NORMALLY;
    a.word->bytes = a.is.bytes;
    if (made_before(t, &a)) {
        a.word->made = MADE_BEFORE;
        t->same++;
        return false;
    }
    if (alone)
        record(t, th);
    return check_cells(t, &a);
}

/* Pieces as the compiler and MemoryAccessRange make them: what is aligned and of a size that a cell
 * can have is one, 16 bytes are two; of all else single bytes up to a word, words, single bytes. */
static void check_range(struct tsan *t, const struct event *ev, struct tsan_thread *th)
{
    const sim_addr end = ev->addr + ev->size;

    charge_step(t->env, STEP_RANGE);
    record(t, th);
    for (sim_addr at = ev->addr; at != end && !budget_over(t->env->budget);) {
        const unsigned bytes = at % WORD || end - at < WORD ? 1 : WORD;
        check(t, ev, th, at, bytes, false);
        at += bytes;
    }
}

/* Charges an operation on a synchronisation variable: its step, atomics, and the clock of the
 * variable. */
static void use_sync(struct tsan *t, sim_addr at, enum step s, unsigned atomics, enum mem_cmd clock)
{
    if (LIKELY(!t->env->cost->on))
        return;
    uint64_t *block = map_put(&t->sync, at);
    if (!*block)
        *block = block_take(t, SYNC_BYTES).at;
    const struct paddr var = paddr_of(*block);
    charge_step(t->env, s);
    for (unsigned i = 0; i < atomics; i++)
        charge_access(t->env, var, EVENT, MEM_ATOMIC);
    charge_access(t->env, paddr_plus(var, EVENT), SYNC_BYTES - EVENT, clock);
}

static void atomic_access(struct tsan *t, const struct event *ev)
{
    const enum ev_order o = event_order(ev);

    if (ev->kind == EV_RMW && (order_takes(o) || order_gives(o)))
        use_sync(t, ev->addr, STEP_UPDATE, 2, MEM_STORE);
    else if (ev->kind == EV_WRITE && order_gives(o))
        use_sync(t, ev->addr, STEP_STORE_RELEASE, 3, MEM_STORE);
    else if (ev->kind == EV_READ && order_takes(o))
        use_sync(t, ev->addr, STEP_LOAD_ACQUIRE, 2, MEM_LOAD);
    else
        charge_step(t->env, STEP_RELAXED);
}

static void tsan_access(void *self, const struct event *ev)
{
    struct tsan *t = self;
    struct tsan_thread *th = thread_of(t, ev->tid);

    if (UNLIKELY((ev->size | ev->addr) & (ev->size - 1) || ev->size > 2 * WORD))
        check_range(t, ev, th);
    else
        for (unsigned i = 0; i < ev->size; i += WORD)
            check(t, ev, th, ev->addr + i, ev->size < WORD ? ev->size : WORD, true);
    if (event_order(ev) != ORDER_NONE)
        atomic_access(t, ev);
}

/* ---- synchronisation and the heap ----------------------------------------------------------- */

/* A thread's start and end are seldom, and not charged. */
static const struct sync_cost {
    enum step step;
    unsigned atomics; /* 0: not charged */
    enum mem_cmd clock;
} sync_cost[EV_KINDS] = {
    [EV_ACQUIRE] = {STEP_LOCK, 4, MEM_LOAD},
    [EV_ACQUIRE_SHARED] = {STEP_LOCK, 4, MEM_LOAD},
    [EV_WAIT_EXIT] = {STEP_LOCK, 4, MEM_LOAD},
    [EV_RELEASE] = {STEP_UNLOCK, 2, MEM_STORE},
    [EV_RELEASE_SHARED] = {STEP_UNLOCK, 2, MEM_STORE},
    [EV_WAIT_ENTER] = {STEP_UNLOCK, 2, MEM_STORE},
    [EV_VOLATILE_READ] = {STEP_LOAD_ACQUIRE, 2, MEM_LOAD},
    [EV_CLASS_USE] = {STEP_LOAD_ACQUIRE, 2, MEM_LOAD},
    [EV_VOLATILE_WRITE] = {STEP_STORE_RELEASE, 3, MEM_STORE},
    [EV_CLASS_INIT] = {STEP_STORE_RELEASE, 3, MEM_STORE},
    [EV_BARRIER_ARRIVE] = {STEP_BARRIER, 4, MEM_STORE}, /* the whole call */
};

static void tsan_sync(void *self, const struct event *ev)
{
    const struct sync_cost *c = &sync_cost[ev->kind];

    if (c->atomics)
        use_sync(self, ev->addr, c->step, c->atomics, c->clock);
}

struct clear_range { /* of what is cleared */
    struct tsan *t;
    sim_addr at, last;
};

static bool clear_word(void *arg, sim_addr at, void *cell)
{
    const struct clear_range *range = arg;
    struct tsan_word *w = cell;
    const unsigned from = range->at > at ? (unsigned)(range->at - at) : 0;
    const unsigned to = range->last - at < WORD - 1 ? (unsigned)(range->last - at) : WORD - 1;
    const uint8_t keep = (uint8_t) ~(((2u << to) - 1) & ~((1u << from) - 1));

    for (unsigned i = 0; i < CELLS; i++) {
        w->cell[i].bytes &= keep;
        if (!w->cell[i].bytes)
            w->cell[i] = (struct tsan_cell){0};
    }
    w->raced &= keep;
    w->evicted &= keep;
    if (!keep && w->counted)
        budget_give(&range->t->metadata, CELLS * CELL);
    return !keep;
}

static void charge_words(struct tsan *t, sim_addr at, uint64_t bytes, enum step s, bool loads)
{
    const sim_addr last = (at + bytes - 1) & ~(sim_addr)(WORD - 1);

    for (sim_addr a = at & ~(sim_addr)(WORD - 1);; a += WORD) {
        const struct paddr shadow = metadata_at(t->env->cost, a);
        charge_step(t->env, s);
        for (unsigned i = 0; i < CELLS; i++) {
            if (loads)
                charge_load(t->env, paddr_plus(shadow, i * CELL), CELL);
            charge_store(t->env, paddr_plus(shadow, i * CELL), CELL);
        }
        if (a == last)
            return;
    }
}

static void charge_heap(struct tsan *t, const struct event *ev)
{
    const uint64_t bytes = ev->aux;

    if (LIKELY(!t->env->cost->on) || !bytes)
        return;
    charge_step(t->env, ev->kind == EV_ALLOC ? STEP_ALLOC : STEP_FREE);
    if (ev->kind == EV_ALLOC)
        charge_words(t, ev->addr, bytes < LARGE ? bytes : LARGE_WRITTEN, STEP_ALLOC_WORD, false);
    else
        charge_words(t, ev->addr, bytes < FREED_MOST ? bytes : FREED_MOST, STEP_FREE_WORD, true);
}

/* realloc copies bytes, and no cells: a copy begins without a history, like all new memory. */
static void tsan_heap(void *self, const struct event *ev)
{
    struct tsan *t = self;

    if ((ev->kind == EV_CLEAR || ev->kind == EV_COPY) && ev->aux)
        shadow_each(t->words, ev->addr, ev->aux, clear_word,
                    &(struct clear_range){t, ev->addr, ev->addr + ev->aux - 1});
    if (ev->kind == EV_CLEAR || ev->kind == EV_ALLOC)
        charge_heap(t, ev);
}

/* ---- for compare ---------------------------------------------------------------------------- */

/* The bytes of a location in its word; of a field the first one. */
static uint8_t location_bytes(const struct tsan *t, sim_addr location)
{
    const unsigned granule = t->env->granule == GRANULE_FIELD ? 1 : t->env->granule;

    return (uint8_t)(((1u << granule) - 1) << location % WORD);
}

static void tsan_remembers(const void *self, sim_addr location, remembered_fn *fn, void *arg)
{
    const struct tsan *t = self;
    const struct tsan_word *w = shadow_peek(t->words, location);
    const uint8_t bytes = location_bytes(t, location);

    for (unsigned i = 0; w && i < CELLS; i++)
        if (w->cell[i].at && w->cell[i].bytes & bytes)
            fn(arg, w->cell[i].event, w->cell[i].op);
}

#define MADE_ROOM_TEXT "the four cells of the 8 bytes were full, and one had to make room"

static void tsan_rule(const void *self, sim_addr location, struct policy_rule *r)
{
    const struct tsan *t = self;
    const struct tsan_word *w = shadow_peek(t->words, location);

    switch (w && w->bytes & location_bytes(t, location) ? (enum made)w->made : MADE_NORMALLY) {
    case MADE_NORMALLY:
        break;
    case MADE_BEFORE:
        r->unchecked = r->unkept =
            "its thread had made it since it last released anything, and it is not checked again";
        break;
    case MADE_A_RACE:
        r->unkept = "it raced here, and a race ends the check";
        break;
    case MADE_ROOM:
        r->displaces = MADE_ROOM_TEXT;
        break;
    case MADE_WEAKER:
        r->displaces = "a plain read takes the place of an atomic write of the same bytes";
        break;
    }
}

/* ---- life ----------------------------------------------------------------------------------- */

static bool check_word(void *arg, sim_addr at, void *cell)
{
    const struct tsan_word *w = cell;

    (void)arg;
    (void)at;
    for (unsigned i = 0; i < CELLS; i++)
        assert(!w->cell[i].at == !w->cell[i].bytes);
    (void)w;
    return false;
}

/* An access to other bytes of the word may have taken the cell. And it compares bytes, where a
 * granule of several is one location for others. */
static void tsan_explain(const void *self, const struct event *ev, sim_addr location, char *to,
                         size_t room)
{
    const struct tsan *t = self;
    const struct tsan_word *w = shadow_peek(t->words, location);
    const sim_addr word = location & ~(sim_addr)(WORD - 1);
    uint8_t bytes = 0;

    for (sim_addr at = word; at < word + WORD; at++)
        bytes |= (uint8_t)((at - ev->addr < ev->size) << (at - word));
    if (w && w->evicted & bytes)
        snprintf(to, room, "%s", MADE_ROOM_TEXT);
    for (int i = 0; w && i < CELLS; i++) {
        const struct tsan_cell *c = &w->cell[i];
        if (c->at && c->bytes & location_bytes(t, location) && !(c->bytes & bytes))
            snprintf(to, room, "the bytes of event %llu are others of the granule",
                     (unsigned long long)c->event);
    }
}

static void tsan_check(const void *self)
{
    shadow_all(((const struct tsan *)self)->words, check_word, NULL);
}

/* With `field` a location is an access's first byte: others that overlap are other locations. */
static void tsan_amend(const void *self, struct promise *p)
{
    if (((const struct tsan *)self)->env->granule == GRANULE_FIELD)
        p->claims &= ~(unsigned)CLAIM_PRECISE;
}

static void *tsan_create(const struct policy_env *env, const void *params, struct err *e)
{
    const unsigned granule = env->granule == GRANULE_FIELD ? 4 : env->granule;
    struct tsan *t = xcalloc(1, sizeof *t);

    (void)params;
    (void)e;
    t->env = env;
    t->words = shadow_new(WORD, sizeof(struct tsan_word), env->budget);
    map_init(&t->sync, env->budget);
    stats_count(env->stats, "same", "words",
                "Accesses of a word that the thread had made since its last release.", &t->same);
    stats_count(env->stats, "evictions", "cells", "Cells that had to make room for another access.",
                &t->evictions);
    ledger_software(env->cost, env, tsan_charges.step, tsan_charges.steps,
                    granule * CELLS * CELL / WORD);
    if (env->cost->on)
        metadata_declare(&t->metadata, env->stats);
    return t;
}

static void tsan_destroy(void *self)
{
    struct tsan *t = self;

    shadow_free(t->words);
    map_free(&t->sync);
    free(t->thread);
    free(t);
}

const struct policy policy_tsan = {
    .name = "tsan",
    .summary = "ThreadSanitizer of gcc 12: four shadow cells for each 8 bytes",
    .source = "tsan",
    .promise = {CLAIM_PRECISE | CLAIM_EAGER, CONFLICT_ALL, HISTORY_ALL, NULL},
    .create = tsan_create,
    .destroy = tsan_destroy,
    .detector = &(const struct policy_detector){.access = tsan_access,
                                                .sync = tsan_sync,
                                                .heap = tsan_heap,
                                                .check = tsan_check,
                                                .amend = tsan_amend,
                                                .explain = tsan_explain,
                                                .remembers = tsan_remembers,
                                                .rule = tsan_rule},
    .charges = &tsan_charges,
};
