/* spec.c - the specification that spec.h declares. The rows are those of the tables in
 * docs/machine.md; where it follows the program instead, a
 * comment says so ("not in machine.md"). */
#include "tests/coherence/spec.h"

#include <string.h>

enum { HOP = 2 }; /* cycles: router and wire */
enum { CONTROL = 8, LINE = 66, MEMORY_LINE = 69 };

/* ---- state ---------------------------------------------------------------------------------- */

static void tags_remove(struct tags *a, unsigned line)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < a->n; i++)
        if (a->line[i] != line)
            a->line[kept++] = a->line[i];
    memset(a->line + kept, 0, MOST_LINES - kept);
    a->n = (uint8_t)kept;
    a->state[line] = 0;
}

/* The line is there, in this state, as the last used. */
static void tags_use(struct tags *a, unsigned line, unsigned state)
{
    tags_remove(a, line);
    memmove(a->line + 1, a->line, a->n++);
    a->line[0] = (uint8_t)line;
    a->state[line] = (uint8_t)state;
}

/* The line that has to go before `line` can come: true if there is one. */
static bool tags_victim(const struct tags *a, unsigned line, unsigned size, unsigned *victim)
{
    if (a->state[line] || a->n < size)
        return false;
    *victim = a->line[a->n - 1];
    return true;
}

static unsigned state_of(const struct picture *p, unsigned core, unsigned line)
{
    return p->l1[core].state[line] ? p->l1[core].state[line] : p->l2[core].state[line];
}

static void set_state(struct picture *p, unsigned core, unsigned line, unsigned state)
{
    struct tags *const both[] = {&p->l1[core], &p->l2[core]};

    for (size_t i = 0; i < ARRAY_SIZE(both); i++)
        if (both[i]->state[line] && state)
            both[i]->state[line] = (uint8_t)state;
        else
            tags_remove(both[i], line);
}

/* The first core but `but` that has the line, or MOST_CORES. */
static unsigned holder(const struct picture *p, unsigned line, unsigned but)
{
    unsigned core = 0;

    while (core < MOST_CORES && (core == but || !state_of(p, core, line)))
        core++;
    return core;
}

/* ---- which row of the tables it is, and what it says ----------------------------------------- */

enum { /* what goes to and fro */
       REQUEST = 1,
       FORWARD = 2,    /* the lowest holder gives the line */
       NOTE = 4,       /* and says whether it was dirty */
       INVALIDATE = 8, /* to all other holders, but for one that forwards; acknowledged */
       DATA = 16,
       GRANT = 32,
       MEMORY = 64
};
static const struct {
    enum mem_level level;
    sim_cycle cycles;
    unsigned says;
} rows[ROWS] = {
    [L1_HIT] = {LEVEL_L1, 1, 0},
    [L2_HIT] = {LEVEL_L2, 10, 0},
    [L3_ANSWERS] = {LEVEL_L3, 35, REQUEST | DATA},
    [OWNER_SHARES] = {LEVEL_REMOTE, 35 + 15, REQUEST | FORWARD | NOTE},
    [OWNER_GIVES] = {LEVEL_REMOTE, 35 + 15, REQUEST | FORWARD},
    [SHARERS_GO] = {LEVEL_REMOTE, 35 + 15, REQUEST | INVALIDATE | DATA},
    [SHARER_FORWARDS] = {LEVEL_REMOTE, 35 + 15, REQUEST | FORWARD},
    /* Not in machine.md: the L3 lacks it, and the lowest sharer gives it up with the forward. */
    [SHARERS_GO_ONE_FORWARDS] = {LEVEL_REMOTE, 35 + 15, REQUEST | INVALIDATE | FORWARD},
    [L1_UPGRADE] = {LEVEL_REMOTE, 1 + 15, REQUEST | INVALIDATE | GRANT},
    [L2_UPGRADE] = {LEVEL_REMOTE, 10 + 15, REQUEST | INVALIDATE | GRANT},
    [FROM_MEMORY] = {LEVEL_MEMORY, 120, REQUEST | MEMORY | DATA},
};

struct turn {
    const struct shape *shape;
    struct picture *p;
    struct account *a;
    unsigned core, line;
    bool store;
};

static enum seen row_of(const struct turn *t)
{
    const unsigned own = state_of(t->p, t->core, t->line);
    const unsigned other = holder(t->p, t->line, t->core);
    const bool near = t->p->l1[t->core].state[t->line], in_l3 = t->p->l3.state[t->line];

    if (own >= E || (own == S && !t->store))
        return near ? L1_HIT : L2_HIT;
    if (own == S)
        return near ? L1_UPGRADE : L2_UPGRADE;
    if (other == MOST_CORES)
        return in_l3 ? L3_ANSWERS : FROM_MEMORY;
    if (state_of(t->p, other, t->line) >= E)
        return t->store ? OWNER_GIVES : OWNER_SHARES;
    if (in_l3)
        return t->store ? SHARERS_GO : L3_ANSWERS;
    return t->store ? SHARERS_GO_ONE_FORWARDS : SHARER_FORWARDS;
}

static void see(struct turn *t, enum seen what)
{
    t->a->seen |= UINT64_C(1) << what;
}

/* Returns the cycles of its way. */
static sim_cycle say(struct turn *t, unsigned from, unsigned to, enum msg m, unsigned bytes)
{
    const unsigned cores = t->shape->cores, right = (to + cores - from) % cores;
    const unsigned round = right < cores - right ? right : cores - right;
    const unsigned hops = t->shape->ring ? round : from != to;

    t->a->messages[m]++;
    t->a->bytes[m] += bytes;
    t->a->hops += hops;
    return t->shape->ring ? hops * HOP : 0;
}

static unsigned home(const struct turn *t, unsigned line)
{
    return (FIRST_LINE + line) % t->shape->cores;
}

static void memory_write(struct turn *t, unsigned line)
{
    say(t, home(t, line), 0, MSG_MEMORY_WRITE, MEMORY_LINE);
    t->a->writes++;
    t->a->written = line;
}

/* All holders but this core and the one that forwards; returns the longest way. */
static sim_cycle invalidate(struct turn *t, unsigned forwards)
{
    sim_cycle longest = 0;

    for (unsigned core = 0; core < t->shape->cores; core++) {
        if (core == t->core || core == forwards || !state_of(t->p, core, t->line))
            continue;
        const sim_cycle way = say(t, home(t, t->line), core, MSG_INVALIDATE, CONTROL) +
                              say(t, core, t->core, MSG_ACK, CONTROL);
        longest = way > longest ? way : longest;
    }
    return longest;
}

static void exchange(struct turn *t, enum seen row)
{
    const unsigned says = rows[row].says, at = home(t, t->line);
    const unsigned other = holder(t->p, t->line, t->core);
    sim_cycle there = 0, back = 0, acks = 0;

    if (says & REQUEST)
        there += say(t, t->core, at, MSG_REQUEST, CONTROL);
    if (says & MEMORY)
        there += say(t, at, 0, MSG_MEMORY_READ, CONTROL) + say(t, 0, at, MSG_MEMORY_DATA, LINE);
    if (says & FORWARD)
        back = say(t, at, other, MSG_FORWARD, CONTROL) + say(t, other, t->core, MSG_DATA, LINE);
    if (says & DATA)
        back = say(t, at, t->core, MSG_DATA, LINE);
    if (says & GRANT)
        back = say(t, at, t->core, MSG_GRANT, CONTROL);
    if (says & INVALIDATE)
        acks = invalidate(t, says & FORWARD ? other : MOST_CORES);
    if ((says & NOTE) && state_of(t->p, other, t->line) == M)
        say(t, other, at, MSG_WRITE_BACK, LINE);
    else if (says & NOTE)
        say(t, other, at, MSG_NOTICE, CONTROL);
    t->a->reads += (says & MEMORY) != 0;
    t->a->level = rows[row].level;
    t->a->cycles = rows[row].cycles + there + (acks > back ? acks : back);
}

/* ---- what comes and goes --------------------------------------------------------------------- */

/* A directory of its own: the L3 takes a line. That a line which is there does not become the last
 * used is not in machine.md. */
static void l3_take(struct turn *t, unsigned line, bool dirty)
{
    struct tags *l3 = &t->p->l3;
    unsigned victim;

    if (l3->state[line]) {
        if (dirty)
            l3->state[line] = DIRTY;
        return;
    }
    if (tags_victim(l3, line, t->shape->l3, &victim)) {
        const bool write = l3->state[victim] == DIRTY;
        see(t, write ? L3_VICTIM_DIRTY : L3_VICTIM_CLEAN);
        if (write)
            memory_write(t, victim);
        tags_remove(l3, victim);
    }
    tags_use(l3, line, dirty ? DIRTY : CLEAN);
}

/* That an L3 with a directory apart takes what an owner writes back for a load is not in
 * machine.md. */
static void write_back(struct turn *t, unsigned line)
{
    if (t->shape->directory)
        l3_take(t, line, true);
    else
        t->p->l3.state[line] = DIRTY;
}

/* The last private level has thrown the line out. */
static void put(struct turn *t, unsigned line, unsigned state)
{
    const unsigned at = home(t, line);
    const bool last = holder(t->p, line, MOST_CORES) == MOST_CORES;
    const bool take = t->shape->directory && last && !t->p->l3.state[line];

    see(t, VICTIM_S + state - S);
    if (state == M)
        say(t, t->core, at, MSG_WRITE_BACK, LINE);
    else
        say(t, t->core, at, MSG_PUT, take ? LINE : CONTROL);
    say(t, at, t->core, MSG_ACK, CONTROL);
    if (state == M)
        write_back(t, line);
    else if (take)
        l3_take(t, line, false);
    if (last)
        tags_remove(&t->p->directory, line);
}

static void l2_arrive(struct turn *t, unsigned line, unsigned state)
{
    struct tags *l2 = &t->p->l2[t->core];
    unsigned victim;

    if (tags_victim(l2, line, t->shape->l2, &victim)) {
        const unsigned was = state_of(t->p, t->core, victim);
        if (t->p->l1[t->core].state[victim])
            see(t, VICTIM_IN_L1);
        set_state(t->p, t->core, victim, I);
        put(t, victim, was);
    }
    tags_use(l2, line, state);
}

static void l1_arrive(struct turn *t, unsigned state)
{
    struct tags *l1 = &t->p->l1[t->core];
    unsigned victim;

    if (tags_victim(l1, t->line, t->shape->l1, &victim)) {
        const unsigned was = l1->state[victim];
        tags_remove(l1, victim);
        if (!t->shape->l2)
            put(t, victim, was);
        else if (t->shape->exclusive)
            l2_arrive(t, victim, was);
    }
    tags_use(l1, t->line, state);
}

/* The core has the line, and this state now. An L1 hit is no use of the L2's copy (not in
 * machine.md). */
static void own(struct turn *t, unsigned state)
{
    if (t->p->l1[t->core].state[t->line])
        tags_use(&t->p->l1[t->core], t->line, state);
    else if (t->shape->exclusive)
        tags_remove(&t->p->l2[t->core], t->line);
    else
        tags_use(&t->p->l2[t->core], t->line, state);
    l1_arrive(t, state);
    set_state(t->p, t->core, t->line, state);
}

/* The victim of the inclusive L3, or of the directory. What becomes of the directory's is not in
 * machine.md: messages as for the L3's; a dirty line goes into the L3, a clean one nowhere. */
static void recall(struct turn *t, unsigned victim)
{
    const unsigned at = home(t, victim);
    bool dirty = !t->shape->directory && t->p->l3.state[victim] == DIRTY;
    unsigned core, copies = 0;

    for (; (core = holder(t->p, victim, MOST_CORES)) < MOST_CORES; copies++) {
        const unsigned state = state_of(t->p, core, victim);
        say(t, at, core, MSG_INVALIDATE, CONTROL);
        if (state == M)
            say(t, core, at, MSG_WRITE_BACK, LINE);
        else
            say(t, core, at, MSG_ACK, CONTROL);
        see(t, RECALL_S + state - S);
        dirty |= state == M;
        set_state(t->p, core, victim, I);
    }
    if (!copies || copies == t->shape->cores)
        see(t, copies ? RECALL_ALL : RECALL_NONE);
    tags_remove(t->shape->directory ? &t->p->directory : &t->p->l3, victim);
    if (dirty && t->shape->directory)
        l3_take(t, victim, true);
    else if (dirty)
        memory_write(t, victim);
    if (!t->shape->directory)
        see(t, dirty ? L3_VICTIM_DIRTY : L3_VICTIM_CLEAN);
}

/* At the home, a request is a use of what is there: of the directory's entry, and, unless it is an
 * upgrade, of the L3's line. Puts and write-backs are none. Not in machine.md. */
static void look_up(struct turn *t, bool upgrade)
{
    const bool apart = t->shape->directory, in_l3 = t->p->l3.state[t->line];
    struct tags *tags = apart ? &t->p->directory : &t->p->l3;
    unsigned victim;

    if (apart && in_l3 && !upgrade)
        tags_use(&t->p->l3, t->line, t->p->l3.state[t->line]);
    if (tags_victim(tags, t->line, apart ? t->shape->directory : t->shape->l3, &victim))
        recall(t, victim);
    tags_use(tags, t->line, apart || !in_l3 ? CLEAN : tags->state[t->line]);
}

static void change_others(struct turn *t)
{
    for (unsigned core = 0; core < t->shape->cores; core++) {
        const unsigned was = state_of(t->p, core, t->line);
        if (core == t->core || !was)
            continue;
        set_state(t->p, core, t->line, t->store ? I : S);
        if (was == M && !t->store)
            write_back(t, t->line);
    }
}

static void do_access(struct turn *t)
{
    const enum seen row = row_of(t);
    const unsigned was = state_of(t->p, t->core, t->line);
    const bool shared = holder(t->p, t->line, t->core) < MOST_CORES;

    see(t, row);
    exchange(t, row);
    if (rows[row].says) {
        look_up(t, was != I);
        change_others(t);
    }
    if (was) {
        own(t, t->store ? M : was);
        return;
    }
    const unsigned state = t->store ? M : shared ? S : E;
    if (t->shape->l2 && !t->shape->exclusive)
        l2_arrive(t, t->line, state);
    l1_arrive(t, state);
}

void spec_access(const struct shape *s, struct picture *p, unsigned core, unsigned line, bool store,
                 struct account *a)
{
    do_access(
        &(struct turn){.shape = s, .p = p, .a = a, .core = core, .line = line, .store = store});
}
