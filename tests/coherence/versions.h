/* versions.h - there are no values in the simulator. So a test gives each line a version, which a
 * store increments, and moves versions about as the line events say: then it knows whether a load
 * gets what was stored last. Where events and states disagree that is a failure, too. */
#ifndef LARDSIM_COH_VERSIONS_H
#define LARDSIM_COH_VERSIONS_H

#include <string.h>

#include "coherence/coherence.h"

enum { LINES = 24, MOST_CORES = 16, MOST_NODES = 4 };
enum { FIRST = 0x400 }; /* number of the first line */

struct copies {
    bool has_l2, inclusive, l3_lines; /* l3_lines: there is an L3 */
    unsigned group; /* cores that share an L2; above 1, an L1's copies are told apart from it */
    unsigned node;  /* cores of a NUMA node */
    uint64_t latest[LINES], memory[LINES], l3[MOST_NODES][LINES];
    uint64_t dropped[LINES]; /* what an L3 lost to a store in this step, for whoever stores */
    bool is_dropped[LINES];
    uint64_t wire[LINES];              /* what a core gave away last */
    uint64_t copy[MOST_CORES][LINES];  /* a core's, in L1 or L2; a group's, in its L2 */
    uint64_t above[MOST_CORES][LINES]; /* in the L1 of a group's core */
    bool has_above[MOST_CORES][LINES];
    uint64_t given[MOST_CORES][LINES]; /* under way from another core */
    bool in_l3[MOST_NODES][LINES], has[MOST_CORES][LINES], is_given[MOST_CORES][LINES];
    bool handed_on[MOST_CORES]
                  [LINES]; /* in this step, to another core: to lose it now writes nothing */
};

static inline unsigned leader(const struct copies *m, unsigned core)
{
    return core - core % m->group;
}

/* A core's copy is the newest of a group's: stores go up by one. */
static inline uint64_t newest(const struct copies *m, unsigned of, size_t l)
{
    uint64_t newest = m->copy[of][l];

    for (unsigned i = of; m->group > 1 && i < of + m->group; i++)
        if (m->has_above[i][l] && m->above[i][l] > newest)
            newest = m->above[i][l];
    return newest;
}

/* What happens in the L1 of a group's core. */
static inline void follow_above(struct copies *m, const struct line_event *e, size_t l)
{
    if (e->what == LINE_FILL) {
        m->above[e->core][l] = m->copy[leader(m, e->core)][l];
        m->has_above[e->core][l] = true;
        return;
    }
    if (e->dirty)
        m->copy[leader(m, e->core)][l] = m->above[e->core][l];
    if (e->what != LINE_DOWNGRADE)
        m->has_above[e->core][l] = false;
}

/* What an L3 or the memory gives a core: the L3 of its own node before others. */
static inline uint64_t from_below(const struct copies *m, unsigned core, size_t l)
{
    const unsigned own = core / m->node;

    if (m->in_l3[own][l])
        return m->l3[own][l];
    for (unsigned node = 0; node < MOST_NODES; node++)
        if (m->in_l3[node][l])
            return m->l3[node][l];
    return m->is_dropped[l] ? m->dropped[l] : m->memory[l];
}

static inline void fill(struct copies *m, const struct line_event *e, size_t l)
{
    if (e->level == LEVEL_L3) {
        m->l3[e->from][l] = m->inclusive ? m->memory[l] : m->wire[l];
        m->in_l3[e->from][l] = true;
        return;
    }
    if (!m->has[e->core][l])
        m->copy[e->core][l] =
            m->is_given[e->core][l] ? m->given[e->core][l] : from_below(m, e->core, l);
    m->has[e->core][l] = true;
    m->is_given[e->core][l] = false;
}

static inline void write_back(struct copies *m, unsigned core, size_t l, bool dirty)
{
    const unsigned own = core / m->node;

    m->wire[l] = m->copy[core][l];
    if (dirty && !m->l3_lines)
        m->memory[l] = m->copy[core][l];
    if (dirty && m->in_l3[own][l])
        m->l3[own][l] = m->copy[core][l];
}

static inline void leave(struct copies *m, const struct line_event *e, size_t l)
{
    const bool last = e->level == (m->has_l2 ? LEVEL_L2 : LEVEL_L1);

    if (e->level == LEVEL_L3) {
        if (e->what == LINE_INVALIDATE && (e->dirty || !m->is_dropped[l])) {
            m->dropped[l] = m->l3[e->from][l];
            m->is_dropped[l] = true;
        } else if (e->dirty && e->what == LINE_EVICT)
            m->memory[l] = m->l3[e->from][l];
        m->in_l3[e->from][l] = false;
    } else if (last || e->what == LINE_INVALIDATE) {
        if (m->has[e->core][l] && !m->handed_on[e->core][l])
            write_back(m, e->core, l, e->dirty);
        m->has[e->core][l] = false;
    }
}

static inline void follow(struct copies *m, const struct line_event *e)
{
    const size_t l = (e->addr.at >> 6) - FIRST;

    if (m->group > 1 && e->level == LEVEL_L1 && e->what != LINE_TRANSFER) {
        follow_above(m, e, l);
        return;
    }
    switch ((enum line_what)e->what) {
    case LINE_FILL:
        fill(m, e, l);
        break;
    case LINE_TRANSFER:
        m->given[e->core][l] = newest(m, e->from, l);
        m->is_given[e->core][l] = true;
        m->handed_on[e->from][l] = true;
        break;
    case LINE_DOWNGRADE:
        write_back(m, e->core, l, e->dirty);
        break;
    case LINE_INVALIDATE:
    case LINE_EVICT:
        leave(m, e, l);
        break;
    case LINE_WHATS:
        break;
    }
}

/* The events of an access. */
static inline void follow_all(struct copies *m, struct coherence *c)
{
    struct line_queue *q = coherence_lines(c);

    for (size_t i = 0; i < q->n; i++)
        follow(m, &q->at[i]);
    q->n = 0;
    memset(m->handed_on, 0, sizeof m->handed_on);
    memset(m->is_dropped, 0, sizeof m->is_dropped);
}

/* What the core itself has: a group's L2 may be behind. */
static inline uint64_t *version_of(struct copies *m, unsigned core, size_t l)
{
    return m->group > 1 ? &m->above[core][l] : &m->copy[core][l];
}
static inline bool has_version(const struct copies *m, unsigned core, size_t l)
{
    return m->group > 1 ? m->has_above[core][l] : m->has[core][l];
}

#endif
