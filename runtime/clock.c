/* clock.c - operations on clocks in the runtime's memory: merging others into a thread's (acquire),
 * publishing a thread's (release), a thread's first clock, its tick. The modelled software handles
 * a clock in lines of 16 entries, a vector register each: it loads lines, compares entries, and
 * stores only lines that changed. */
#include "runtime/runtime_int.h"

/* Sums of all clocks' entries and lines are kept up to date here, so that a collection need not
 * look at each clock to count its cost. */
static void sum(struct runtime *r, struct rt_clock *c, uint32_t entries)
{
    const uint32_t line = RT_LINE_ENTRIES;

    r->sums.entries += (uint64_t)entries - c->summed;
    r->sums.lines += (uint64_t)((entries + line - 1) / line) - (c->summed + line - 1) / line;
    c->summed = entries;
}

void rt_sum(struct runtime *r, struct rt_clock *c)
{
    sum(r, c, c->at.at ? c->v.n : 0);
}

void rt_clock_free(struct runtime *r, unsigned core, struct rt_clock *c)
{
    if (c->at.at)
        rt_discard(r, core, (struct rt_block){c->at, c->size});
    sum(r, c, 0);
    vclock_free(&c->v, r->env.budget);
    *c = (struct rt_clock){0};
}

/* Returns how many of a clock's n entries are in the line that begins with entry `first`. */
static uint32_t in_line(uint32_t n, uint32_t first)
{
    if (n <= first)
        return 0;
    return n - first < RT_LINE_ENTRIES ? n - first : RT_LINE_ENTRIES;
}

void rt_line(struct rt_walk *w, struct paddr at, uint32_t n, uint32_t first, enum mem_cmd cmd)
{
    const uint32_t entries = in_line(n, first);

    if (entries)
        rt_access(w, paddr_plus(at, (uint64_t)first * RT_ENTRY), (uint64_t)entries * RT_ENTRY, cmd);
}

static void copy_lines(struct rt_walk *w, struct paddr to, struct paddr from, uint32_t n)
{
    for (uint32_t first = 0; first < n; first += RT_LINE_ENTRIES) {
        rt_step(w, RT_STEP_COPY_LINE, 1);
        rt_line(w, from, n, first, MEM_LOAD);
        rt_line(w, to, n, first, MEM_STORE);
    }
}

static void store_word(struct rt_walk *w, struct paddr word)
{
    rt_step(w, RT_STEP_NEW_WORD, 1);
    rt_access(w, word, 8, MEM_STORE);
}

/* Makes room for `more` entries in a clock of n: copies them to a larger block, and discards the
 * old one. False: there was room. */
static bool grow(struct rt_walk *w, struct rt_clock *c, uint32_t n, uint32_t more)
{
    if (more <= rt_room(c))
        return false;
    const struct rt_block was = {c->at, c->size}, b = rt_take(w, rt_size(more));
    if (was.at.at) {
        copy_lines(w, b.at, was.at, n);
        rt_discard(w->r, w->core, was);
    }
    c->at = b.at;
    c->size = b.size;
    return true;
}

/* ---- a thread's clock ----------------------------------------------------------------------- */

struct merge { /* a merge of n clocks into the thread's */
    struct rt_walk *w;
    struct rt_clock *mine;
    const struct rt_clock *const *from;
    size_t n;
    const struct vclock *now; /* the clock that happens-before has after it */
    uint32_t actor;
    uint32_t had; /* entries of mine before */
};

/* Returns the source's entries in the line that are newer than mine: bit k for entry first + k. */
static uint32_t newer_entries(const struct merge *m, const struct rt_clock *from, uint32_t first)
{
    uint32_t newer = 0;

    for (uint32_t k = 0; k < in_line(from->v.n, first); k++) {
        const uint32_t i = first + k;
        const uint64_t mine = vclock_get(&m->mine->v, i);
        if (i != m->actor && from->v.at[i] > mine && vclock_get(m->now, i) > mine)
            newer |= UINT32_C(1) << k;
    }
    return newer;
}

/* Merges one line of mine with the same line of every source; it is stored once, if anything in it
 * changed. */
static void merge_line(const struct merge *m, uint32_t first)
{
    struct rt_walk *w = m->w;
    uint32_t newer = 0;

    rt_step(w, RT_STEP_MERGE_LINE, 1);
    rt_line(w, m->mine->at, m->had, first, MEM_LOAD);
    for (size_t s = 0; s < m->n; s++) {
        const struct rt_clock *from = m->from[s];
        rt_line(w, from->at, from->v.n, first, MEM_LOAD);
        rt_step(w, RT_STEP_ENTRY, in_line(from->v.n, first));
        newer |= newer_entries(m, from, first);
    }
    for (uint32_t k = 0; k < RT_LINE_ENTRIES; k++)
        if (newer >> k & 1) {
            m->mine->v.at[first + k] = vclock_get(m->now, first + k);
            rt_step(w, RT_STEP_NEWER, 1);
            rt_report(w, first + k, m->mine->v.at[first + k]);
        }
    if (newer || in_line(m->mine->v.n, first) > in_line(m->had, first))
        rt_line(w, m->mine->at, m->mine->v.n, first, MEM_STORE);
}

void rt_merge(struct rt_walk *w, uint32_t actor, struct paddr word,
              const struct rt_clock *const *from, size_t n, const struct vclock *now)
{
    struct rt_clock *mine = &w->r->actor[actor];
    const struct merge m = {w, mine, from, n, now, actor, mine->v.n};
    uint32_t entries = 0;

    assert(mine->at.at);
    for (size_t s = 0; s < n; s++)
        entries = from[s]->v.n > entries ? from[s]->v.n : entries;
    rt_step(w, RT_STEP_LENGTH, n);
    if (!entries)
        return;
    const bool moved = grow(w, mine, m.had, entries);
    vclock_extend(&mine->v, entries, w->r->env.budget);
    for (uint32_t first = 0; first < entries; first += RT_LINE_ENTRIES)
        merge_line(&m, first);
    if (moved || mine->v.n > m.had)
        store_word(w, word);
    rt_sum(w->r, mine);
}

/* A clock made from nothing is written whole. One that the parent made is in memory: it is read,
 * and the detector is told each entry that is not as its own clock of a thread begins. */
void rt_begin_clock(struct rt_walk *w, struct rt_clock *c, uint32_t actor, struct paddr word)
{
    const uint32_t had = c->at.at ? c->v.n : 0;
    const bool moved = grow(w, c, had, actor + 1);

    vclock_extend(&c->v, actor + 1, w->r->env.budget);
    c->v.at[actor] += c->v.at[actor] == 0;
    for (uint32_t first = 0; first < had; first += RT_LINE_ENTRIES) {
        rt_step(w, RT_STEP_COPY_LINE, 1);
        rt_line(w, c->at, had, first, MEM_LOAD);
        rt_step(w, RT_STEP_BORN_ENTRY, in_line(had, first));
        for (uint32_t i = first; i < first + in_line(had, first); i++)
            if (c->v.at[i] != (i == actor)) /* that begins with 1 in its own entry, 0 elsewhere */
                rt_report(w, i, c->v.at[i]);
    }
    if (actor < had)
        rt_access(w, paddr_plus(c->at, (uint64_t)actor * RT_ENTRY), RT_ENTRY, MEM_STORE);
    for (uint32_t first = had / RT_LINE_ENTRIES * RT_LINE_ENTRIES; first < c->v.n && actor >= had;
         first += RT_LINE_ENTRIES) {
        rt_step(w, RT_STEP_COPY_LINE, 1);
        rt_line(w, c->at, c->v.n, first, MEM_STORE);
    }
    if (moved || c->v.n > had)
        store_word(w, word);
    rt_sum(w->r, c);
}

void rt_tick(struct rt_walk *w, uint32_t actor, uint64_t after)
{
    struct rt_clock *mine = &w->r->actor[actor];
    const struct paddr own = paddr_plus(mine->at, (uint64_t)actor * RT_ENTRY);

    rt_step(w, RT_STEP_TICK, 1);
    if (rt_listens(w)) {
        const uint64_t was = vclock_get(&mine->v, actor);
        rt_issue(w, &(struct lx_act){.op = LX_READVC, .value = {actor, was}}, 1);
        rt_issue(w, &(struct lx_act){.op = LX_WRITEVC, .value = {actor, after}}, 1);
    } else {
        rt_access(w, own, RT_ENTRY, MEM_LOAD);
    }
    rt_access(w, own, RT_ENTRY, MEM_STORE);
    vclock_set(&mine->v, actor, after, w->r->env.budget);
}

void rt_settle(struct rt_walk *w, uint32_t actor, const struct vclock *now, uint64_t own)
{
    struct rt_clock *mine = &w->r->actor[actor];
    const uint32_t n = now->n > mine->v.n ? now->n : mine->v.n;

    for (uint32_t i = 0; i < n; i++) {
        const uint64_t to = i == actor ? own : vclock_get(now, i);
        if (vclock_get(&mine->v, i) == to)
            continue;
        vclock_set(&mine->v, i, to, w->r->env.budget);
        w->r->st.late++;
        rt_report(w, i, to);
    }
    rt_sum(w->r, mine);
}

/* ---- an object's clock ---------------------------------------------------------------------- */

struct publication { /* a merge of the thread's clock into an object's */
    struct rt_walk *w;
    const struct rt_clock *mine, *old; /* old: the object's, as it was */
    struct paddr at;                   /* the block that the result goes to */
};

/* A line that both have. True: the thread's is newer in some entry, so the line changes. */
static bool compare_line(const struct publication *p, uint32_t first)
{
    const uint32_t mine = in_line(p->mine->v.n, first), old = in_line(p->old->v.n, first);
    const uint32_t both = mine < old ? mine : old;
    uint32_t newer = 0;

    rt_step(p->w, RT_STEP_MERGE_LINE, 1);
    rt_line(p->w, p->mine->at, p->mine->v.n, first, MEM_LOAD);
    rt_line(p->w, p->old->at, p->old->v.n, first, MEM_LOAD);
    rt_step(p->w, RT_STEP_ENTRY, both);
    for (uint32_t i = first; i < first + both; i++)
        newer += p->mine->v.at[i] > p->old->v.at[i];
    rt_step(p->w, RT_STEP_NEWER, newer);
    return newer || mine > old;
}

/* A line of the result: compared where both have it, else copied from the one that has. It is
 * stored if it changed, or if the result goes to a new block. */
static void publish_line(const struct publication *p, uint32_t first)
{
    const uint32_t mine = p->mine->v.n, old = p->old->at.at ? p->old->v.n : 0;
    bool stores = true;

    if (mine > first && old > first) {
        stores = compare_line(p, first);
    } else {
        const bool from_mine = mine > first;
        rt_step(p->w, RT_STEP_COPY_LINE, 1);
        rt_line(p->w, from_mine ? p->mine->at : p->old->at, from_mine ? mine : old, first,
                MEM_LOAD);
    }
    if (stores || !paddr_same(p->at, p->old->at))
        rt_line(p->w, p->at, mine > old ? mine : old, first, MEM_STORE);
}

static void swap_word(struct rt_walk *w, struct paddr word, enum rt_way way)
{
    const bool wide = way == RT_SWAP_WIDE;

    rt_step(w, RT_STEP_NEW_WORD, 1);
    if (wide && w->r->params.without & RT_WIDE_CAS) {
        rt_access(w, word, 8, MEM_STORE); /* beside the program's own store */
        return;
    }
    rt_access(w, wide ? paddr_down(word, 16) : word, wide ? 16 : 8, MEM_ATOMIC);
    rt_step(w, RT_STEP_SWAP, 1);
}

void rt_replace(struct rt_walk *w, struct rt_clock *c, struct paddr word)
{
    const struct rt_block was = {c->at, c->size};

    if (c->v.n) {
        const struct rt_block b = rt_take(w, rt_size(c->v.n));
        copy_lines(w, b.at, was.at, c->v.n);
        c->at = b.at;
        c->size = b.size;
    } else {
        vclock_free(&c->v, w->r->env.budget);
        *c = (struct rt_clock){0};
    }
    swap_word(w, word, RT_SWAP_WIDE);
    rt_discard(w->r, w->core, was);
}

void rt_publish(struct rt_walk *w, const struct rt_clock *mine, struct rt_clock *to,
                struct paddr word, enum rt_way way)
{
    const struct rt_clock was = *to;
    const uint32_t had = was.at.at ? was.v.n : 0;
    const bool fresh = way != RT_IN_PLACE || mine->v.n > rt_room(to); /* it needs a new block */
    const uint32_t n = fresh && had > mine->v.n ? had : mine->v.n;

    assert(mine->at.at);
    if (was.at.at)
        rt_step(w, RT_STEP_LENGTH, 1);
    if (fresh) {
        const struct rt_block b = rt_take(w, rt_size(n));
        to->at = b.at;
        to->size = b.size;
    }
    const struct publication p = {w, mine, &was, to->at};
    for (uint32_t first = 0; first < n; first += RT_LINE_ENTRIES)
        publish_line(&p, first);
    vclock_join(&to->v, &mine->v, w->r->env.budget);
    rt_sum(w->r, to);
    if (way != RT_IN_PLACE)
        swap_word(w, word, way);
    else if (fresh || n > had)
        store_word(w, word);
    if (fresh && was.at.at)
        rt_discard(w->r, w->core, (struct rt_block){was.at, was.size});
}
