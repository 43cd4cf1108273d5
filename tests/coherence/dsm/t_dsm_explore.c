/* t_dsm_explore.c - the states of two processes, two pages, a lock and a barrier: does each action
 * in each of them do to the pages what the table of docs/dsm.md says, with the messages that it
 * says, and does a read that races with nothing find the last write?
 *
 * States are told apart by all of the protocol that can matter to what comes: numbers of intervals
 * are only as they compare, and notices of one writer that stand alike to all are one. From each
 * state each action is tried. Of one page, states are come to by a shortest sequence of actions
 * each time. Of two there are too many for that: after an action the next one is tried in the state
 * that it has led to, for some steps; and that a state is the one of its first sequence is seen
 * whenever that is played again. Page 0 has two words, so that it is shared falsely and truly; page
 * 1 has one. Accesses may race; values are judged where none has.
 *
 *     t_dsm_explore [STATES]     two pages, so many states; 0: all */
#include "base/mem.h"
#include "coherence/dsm/dsm_int.h"
#include "tests/coherence/dsm/rig.h"
#include "tests/coherence/dsm/truth.h"

#include <inttypes.h>

enum { PROCESSES = 2, PAGES = 2, PAGE = 8, LOCK = 0x8000, BARRIER = 0x9000 };
static const sim_addr words[] = {0, 4, 8};

/* ---- the world ------------------------------------------------------------------------------- */

enum action { LOAD, STORE = LOAD + 3, TAKE = STORE + 3, FREE, ARRIVE, DEPART, COLLECT, ACTIONS };
static const char *const action_text[ACTIONS] = {
    "loads word 0",        "loads word 1", "loads word 2", "stores word 0", "stores word 1",
    "stores word 2",       "locks",        "unlocks",      "arrives",       "departs",
    "unlocks and collects"};

struct world {
    struct rig *rig;
    struct truth truth;
    bool one_page; /* page 1 is left alone */
    int holder;    /* of the lock; -1: nobody */
    bool waits[PROCESSES], goes[PROCESSES];
    uint32_t lock[TRUTH_PROCESSES], all[TRUTH_PROCESSES];
    bool raced[3]; /* words: then nobody knows what is to be read */
};

static struct world *world_new(bool one_page)
{
    struct world *w = calloc(1, sizeof *w);

    w->one_page = one_page;
    w->rig = rig_new(PROCESSES, PAGE, "host=1");
    truth_begin(&w->truth);
    w->holder = -1;
    return w;
}
static void world_free(struct world *w)
{
    rig_free(w->rig);
    free(w);
}

/* It is a step of a program: who waits at the barrier does nothing, and the lock has one holder. */
static bool possible(const struct world *w, unsigned p, unsigned a)
{
    if (w->one_page && (a == LOAD + 2 || a == STORE + 2))
        return false;
    if (w->goes[p])
        return a == DEPART;
    if (w->waits[p])
        return false;
    if (a < TAKE)
        return true;
    if (a == TAKE)
        return w->holder < 0;
    if (a == FREE || a == COLLECT)
        return w->holder == (int)p;
    return a == ARRIVE && !w->goes[!p]; /* a round begins when the one before is over */
}

static void at_barrier(struct world *w, unsigned p)
{
    struct rig *r = w->rig;

    r->now = dsm_arrive(r->d, p, vaddr_of(BARRIER), r->now);
    truth_release(&w->truth, p, w->all);
    w->waits[p] = true;
    if (!w->waits[0] || !w->waits[1])
        return;
    for (unsigned q = 0; q < PROCESSES; q++) {
        w->waits[q] = false;
        w->goes[q] = true;
    }
}

/* What is wrong with it; NULL: nothing. */
static const char *act(struct world *w, unsigned p, unsigned a)
{
    struct rig *r = w->rig;

    if (a < STORE) {
        const bool raced = w->raced[a] || !truth_may(&w->truth, p, a, false);
        const uint32_t is = rig_load(r, p, words[a - LOAD]), last = truth_read(&w->truth, p, a);
        if (!raced && is != last)
            return "reads an old value";
    } else if (a < TAKE) {
        w->raced[a - STORE] |= !truth_may(&w->truth, p, a - STORE, true);
        rig_store(r, p, words[a - STORE], truth_write(&w->truth, p, a - STORE));
    } else if (a == TAKE) {
        rig_lock(r, p, LOCK, false);
        truth_acquire(&w->truth, p, w->lock);
        w->holder = (int)p;
    } else if (a == FREE || a == COLLECT) {
        r->d->params.force = a == FREE ? UINT64_MAX : 0;
        rig_unlock(r, p, LOCK);
        r->d->params.force = UINT64_MAX;
        truth_release(&w->truth, p, w->lock);
        w->holder = -1;
    } else if (a == ARRIVE) {
        at_barrier(w, p);
    } else {
        r->now = dsm_depart(r->d, p, vaddr_of(BARRIER), r->now);
        truth_acquire(&w->truth, p, w->all);
        w->goes[p] = false;
    }
    dsm_check(r->d);
    return NULL;
}

/* ---- a state --------------------------------------------------------------------------------- */

enum { KEY = 96 };
struct key {
    uint8_t n, at[KEY];
};

static void put(struct key *k, unsigned value)
{
    assert_true(k->n < KEY && value < 256);
    k->at[k->n++] = (uint8_t)value;
}

static const struct lock *the_lock(const struct dsm *d)
{
    const uint64_t *at = map_find(&d->locks, LOCK);

    return at ? (const struct lock *)(uintptr_t)*at : NULL;
}

/* How a notice stands: to the other process, to its copy, to the lock. What does not matter any
 * more to what comes is left out. */
static unsigned standing(const struct dsm *d, const struct dsm_page *page, const struct notice *n)
{
    const unsigned from = n->of->process, other = !from;
    const struct copy *c = page->copy[other];
    const struct lock *l = the_lock(d);
    const bool heard = d->process[other].clock[from] >= n->of->index,
               applied = c && c->applied[from] >= n->of->index,
               released = !heard && l && l->clock && l->clock[from] >= n->of->index,
               made = !applied && n->diff;

    return 1U << (heard | applied << 1 | released << 2 | made << 3);
}

static void put_page(struct key *k, const struct world *w, const struct dsm_page *page)
{
    const struct dsm *d = w->rig->d;
    unsigned stand[PROCESSES] = {0};

    for (size_t i = 0; i < page->notices; i++)
        stand[page->notice[i].of->process] |= standing(d, page, &page->notice[i]);
    put(k, page->holder);
    for (unsigned p = 0; p < PROCESSES; p++) {
        const struct copy *c = page->copy[p];
        const bool open = c && c->state == DSM_WRITE && c->twin > d->process[p].clock[p];
        put(k, (c ? (unsigned)c->state : 0) | (unsigned)open << 2);
        put(k, stand[p] & 255);
        put(k, stand[p] >> 8);
    }
}

static struct key key_of(const struct world *w)
{
    const struct dsm *d = w->rig->d;
    struct key k = {0};
    const struct lock *l = the_lock(d);

    put(&k,
        (unsigned)(w->holder + 1) | (l ? l->holder + 1 : 0) << 2 | (unsigned)(l && l->clock) << 4);
    put(&k, (unsigned)w->waits[0] | (unsigned)w->waits[1] << 1 | (unsigned)w->goes[0] << 2 |
                (unsigned)w->goes[1] << 3);
    for (unsigned i = 0; i < PAGES; i++) {
        const uint64_t *at = map_find(&d->pages, i);
        if (at)
            put_page(&k, w, (const struct dsm_page *)(uintptr_t)*at);
        else
            put(&k, 255);
    }
    return k;
}

/* ---- what an action must do ------------------------------------------------------------------ */

/* The page's state at a process after its own access: the table "a load", "a store". */
static enum dsm_state after_access(enum dsm_state was, bool write)
{
    return write || was == DSM_WRITE ? DSM_WRITE : DSM_READ;
}

/* Messages of an access: a page for who has none, diffs for who lacks them. */
static uint64_t messages_of_access(enum dsm_state was, bool lacks)
{
    return (was == DSM_NONE ? 2U : 0) + (lacks ? 2U : 0);
}

struct before {
    enum dsm_state state[PROCESSES][PAGES];
    bool due[PROCESSES][PAGES]; /* its twin's diff, which the other lacks and knows of */
    uint64_t messages, asked, collections;
};

static bool diff_due(const struct dsm *d, unsigned p, unsigned i)
{
    const uint64_t *at = map_find(&d->pages, i);
    const struct dsm_page *page = at ? (const struct dsm_page *)(uintptr_t)*at : NULL;

    for (size_t n = 0; page && n < page->notices; n++) {
        const struct copy *its = page->copy[!p];
        const uint32_t index = page->notice[n].of->index;
        if (page->notice[n].of->process == p && !page->notice[n].diff &&
            index <= d->process[!p].clock[p] && (!its || its->applied[p] < index))
            return true;
    }
    return false;
}

static struct before look(const struct world *w)
{
    const struct dsm_stats *st = &w->rig->d->st;
    struct before b = {.messages = st->messages,
                       .collections = st->collections,
                       .asked = st->message[DSM_MSG_DIFF_REQUEST]};

    for (unsigned p = 0; p < PROCESSES; p++)
        for (unsigned i = 0; i < PAGES; i++) {
            b.state[p][i] = dsm_state(w->rig->d, p, vaddr_of(i * PAGE));
            b.due[p][i] = diff_due(w->rig->d, p, i);
        }
    return b;
}

static const char *judge_access(const struct before *b, const struct before *is, unsigned p,
                                unsigned a)
{
    const bool write = a >= STORE;
    const unsigned page = (unsigned)(words[write ? a - STORE : a - LOAD] / PAGE), q = !p;
    const enum dsm_state was = b->state[p][page];
    const bool first = was == DSM_NONE && b->state[q][page] == DSM_NONE; /* a home, as yet unseen */
    const bool asked = is->asked > b->asked;

    if (is->state[p][page] != after_access(was, write))
        return "the page is in the wrong state";
    if (!first && was == DSM_INVALID && !asked)
        return "an invalid copy asks for no diff";
    if (was >= DSM_READ && asked)
        return "a valid copy asks for a diff";
    if (!first && is->messages - b->messages != messages_of_access(was, asked))
        return "it takes other messages";
    if (b->state[q][page] == DSM_INVALID && is->state[q][page] != DSM_INVALID)
        return "another's access makes a copy valid";
    if (b->state[q][page] == DSM_WRITE && b->due[q][page] != (is->state[q][page] == DSM_READ))
        return "a twin goes if its diff is asked for, and only then";
    return NULL;
}

/* What it hears makes copies invalid, or takes their twins, and nothing else. */
static bool heard(enum dsm_state was, enum dsm_state is)
{
    return is == was || (is == DSM_INVALID && was >= DSM_READ) ||
           (is == DSM_READ && was == DSM_WRITE);
}

static const char *judge_sync(const struct world *w, const struct before *b,
                              const struct before *is, unsigned p, unsigned a)
{
    const uint64_t messages = is->messages - b->messages;
    const struct lock *l = the_lock(w->rig->d);

    for (unsigned i = 0; i < PAGES; i++) {
        if (a == TAKE && !heard(b->state[p][i], is->state[p][i]))
            return "an acquire does to a page what a notice does not";
        if (a == TAKE && b->state[!p][i] != is->state[!p][i])
            return "an acquire changes another's page";
        if ((a == FREE || a == ARRIVE) && memcmp(b->state, is->state, sizeof b->state) != 0)
            return "a release changes a page";
        if (is->collections > b->collections && is->state[p][i] != DSM_NONE &&
            is->state[p][i] != DSM_READ)
            return "a collection leaves more than copies to be read";
    }
    if (a == TAKE && messages && messages != 2)
        return "a lock of two processes takes none or two messages";
    if (a == TAKE && !messages && l->holder != p)
        return "a lock comes from another without a message";
    if (a == FREE && messages)
        return "a release sends something";
    if (a == ARRIVE && messages != (p != MASTER))
        return "an arrival is one message, of all but the master";
    return NULL;
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct known {
    struct key key;
    uint32_t from, tried; /* tried: a bit an action of a process */
    uint8_t process, action;
    uint16_t depth;
    bool done; /* all that is possible has been tried */
};
struct explored {
    struct known *known;
    size_t n, cap;
    uint64_t tried, played;
    bool one_page;
    unsigned steps; /* that are tried one after the other */
    uint32_t *slot; /* by hash: 1 + place; 0: free */
    size_t slots;
};

static uint32_t *slot_of(const struct explored *x, const struct key *k)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < sizeof *k; i++)
        h = (h ^ ((const unsigned char *)k)[i]) * 1099511628211u;
    for (size_t i = h ^ h >> 32;; i++) {
        uint32_t *s = &x->slot[i & (x->slots - 1)];
        if (!*s || !memcmp(&x->known[*s - 1].key, k, sizeof *k))
            return s;
    }
}

/* Its place among the known. */
static size_t add(struct explored *x, const struct key *k, size_t from, unsigned p, unsigned a)
{
    if (2 * x->n >= x->slots) {
        free(x->slot);
        x->slots = x->slots ? 4 * x->slots : 4096;
        x->slot = calloc(x->slots, sizeof *x->slot);
        for (size_t i = 0; i < x->n; i++)
            *slot_of(x, &x->known[i].key) = (uint32_t)(i + 1);
    }
    uint32_t *s = slot_of(x, k);
    if (*s)
        return *s - 1;
    x->known = xgrow(x->known, x->n, &x->cap, sizeof *x->known);
    x->known[x->n] = (struct known){.key = *k,
                                    .from = (uint32_t)from,
                                    .process = (uint8_t)p,
                                    .action = (uint8_t)a,
                                    .depth = x->n ? (uint16_t)(x->known[from].depth + 1) : 0};
    *s = (uint32_t)++x->n;
    return x->n - 1;
}

static struct world *arrive_at(struct explored *x, size_t i)
{
    const size_t steps = x->known[i].depth;
    size_t *way = calloc(steps + 1, sizeof *way), at = i;
    struct world *w = world_new(x->one_page);

    for (size_t n = steps; n; n--, at = x->known[at].from)
        way[n - 1] = at;
    for (size_t n = 0; n < steps; n++)
        assert_null(act(w, x->known[way[n]].process, x->known[way[n]].action));
    free(way);
    const struct key k = key_of(w);
    if (memcmp(&k, &x->known[i].key, sizeof k) != 0)
        fail_msg("state %zu is another when it is come to again: states are not told apart", i);
    x->played++;
    return w;
}

static void say_way(const struct explored *x, size_t i)
{
    if (!i)
        return;
    say_way(x, x->known[i].from);
    print_error("  process %u %s\n", x->known[i].process, action_text[x->known[i].action]);
}

/* The next action that is possible and has not been tried there. */
static bool untried(struct explored *x, size_t i, const struct world *w, unsigned *p, unsigned *a)
{
    for (unsigned n = 0; n < PROCESSES * ACTIONS; n++) {
        *p = n / ACTIONS;
        *a = n % ACTIONS;
        if (x->known[i].tried >> n & 1 || !possible(w, *p, *a))
            continue;
        x->known[i].tried |= 1U << n;
        return true;
    }
    x->known[i].done = true;
    return false;
}

/* Where it leads to. */
static size_t try_one(struct explored *x, size_t i, struct world *w, unsigned p, unsigned a)
{
    const struct before was = look(w);
    const char *wrong = act(w, p, a);
    const struct before is = look(w);

    if (!wrong)
        wrong = a < TAKE ? judge_access(&was, &is, p, a) : judge_sync(w, &was, &is, p, a);
    if (wrong) {
        say_way(x, i);
        fail_msg("process %u %s: %s", p, action_text[a], wrong);
    }
    const struct key k = key_of(w);
    x->tried++;
    return add(x, &k, i, p, a);
}

/* Every action in state i; and some in those that it leads to. */
static void try_all(struct explored *x, size_t i)
{
    unsigned p, a;

    while (!x->known[i].done) {
        struct world *w = arrive_at(x, i);
        size_t at = i;
        for (unsigned n = 0; n < x->steps && untried(x, at, w, &p, &a); n++)
            at = try_one(x, at, w, p, a);
        world_free(w);
    }
}

/* most: states that actions are tried in; 0: all. */
static struct explored explore(bool one_page, size_t most)
{
    struct explored x = {.one_page = one_page, .steps = one_page ? 1 : 60};
    struct world *w = world_new(one_page);
    const struct key first = key_of(w);

    world_free(w);
    add(&x, &first, 0, 0, 0);
    for (size_t i = 0; i < x.n && (!most || i < most); i++)
        try_all(&x, i);
    return x;
}

static void every_action_in_every_state_of_one_page(void **state)
{
    struct explored x = explore(true, 0);

    (void)state;
    assert_true(x.n > 5000);
    free(x.known);
    free(x.slot);
}

static void every_action_in_the_nearest_states_of_two_pages(void **state)
{
    struct explored x = explore(false, 4000);

    (void)state;
    assert_true(x.n > 4000);
    free(x.known);
    free(x.slot);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_action_in_every_state_of_one_page),
        cmocka_unit_test(every_action_in_the_nearest_states_of_two_pages),
    };

    if (argc == 1)
        return cmocka_run_group_tests(tests, NULL, NULL);
    struct explored x = explore(false, strtoul(argv[1], NULL, 10));
    printf("%zu states, %" PRIu64 " actions, %" PRIu64 " sequences from the start\n", x.n, x.tried,
           x.played);
    free(x.known);
    free(x.slot);
    return 0;
}
