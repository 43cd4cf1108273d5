/* prefetch.c - a core's stream prefetcher: lines that it expects come into its L2 before anybody
 * asks for them.
 *
 * It sees what its core's L1 does not have, the program's accesses and those to metadata alike.
 * Such accesses to one page are a stream while each is a few lines further on, in one direction.
 * Then the lines ahead are read: as by a load of the core, through the protocol, so that they come
 * in E or S. Nobody waits for them. Who accesses one that is under way waits for the rest of its
 * way. Pages are physical, so no stream leaves its page.
 *
 * With docs/machine.md, "The stream prefetcher", which has the sources. */
#include "coherence/coherence_int.h"

#include <stdlib.h>

#include "base/mem.h"

enum { MOST_PAGE = 4096 }; /* bytes in which a stream stays */

struct stream {
    uint64_t page, last; /* numbers: of the page + 1 (0: unused), of the latest line */
    uint64_t next;       /* line to fetch */
    uint64_t used;       /* the higher, the later */
    int direction;       /* -1, 1; 0: not known yet */
};
struct fetch { /* a line that was asked for */
    uint64_t line;
    sim_cycle done; /* CYCLE_NEVER: not known yet */
    enum mem_traffic traffic;
};
struct prefetcher {
    struct stream *stream; /* owns */
    struct fetch *fetch;   /* owns; so many may be under way */
    uint64_t clock;
};

static const struct prefetch_params *params(const struct coherence *c)
{
    return &c->params.prefetch;
}

/* ---- lines that were fetched ahead, and that nobody has accessed yet ------------------------- */

static struct fetched *fetched_at(const struct coherence *c, unsigned core, uint32_t l2_slot)
{
    return &c->priv[core].l2_fetched[l2_slot];
}

void prefetch_came(struct txn *t, uint32_t l2_slot, sim_cycle at)
{
    *fetched_at(t->c, t->core, l2_slot) =
        (struct fetched){.ready = at, .traffic = (uint8_t)t->traffic, .untouched = true};
    t->c->stats.prefetch[t->traffic].issued++;
    t->c->stats.prefetch[t->traffic].untouched++;
}

void prefetch_lost(struct coherence *c, unsigned core, uint32_t l2_slot)
{
    struct fetched *f = fetched_at(c, core, l2_slot);
    struct prefetch_stats *s = &c->stats.prefetch[f->traffic];

    if (!f->untouched)
        return;
    f->untouched = false;
    s->untouched--;
    s->useless++;
}

sim_cycle prefetch_used(struct coherence *c, unsigned core, uint32_t l2_slot, sim_cycle at)
{
    struct fetched *f = fetched_at(c, core, l2_slot);
    struct prefetch_stats *s = &c->stats.prefetch[f->traffic];

    if (!f->untouched)
        return at;
    f->untouched = false;
    s->untouched--;
    if (f->ready <= at) {
        s->useful++;
        return at;
    }
    s->late++;
    s->late_cycles += f->ready - at;
    return f->ready;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* The stream of the page; else the least recently used one, to become that. */
static struct stream *stream_of(struct coherence *c, unsigned core, uint64_t page)
{
    struct prefetcher *p = &c->prefetcher[core];
    struct stream *oldest = p->stream;

    p->clock++;
    for (uint64_t i = 0; i < params(c)->streams; i++) {
        if (p->stream[i].page == page)
            return &p->stream[i];
        if (p->stream[i].used < oldest->used)
            oldest = &p->stream[i];
    }
    return oldest;
}

static uint64_t page_of(const struct coherence *c, uint64_t line)
{
    return (line >> c->stream_shift) + 1;
}

/* Lines from one to another, counted in a direction. */
static int64_t ahead(uint64_t from, uint64_t to, int direction)
{
    return (int64_t)(to - from) * direction;
}

/* Whether the access goes on with the stream; else one begins with it. */
static bool goes_on(const struct coherence *c, struct stream *s, uint64_t page, uint64_t line)
{
    const int direction = line > s->last ? 1 : -1;
    const bool near = ahead(s->last, line, direction) <= (int64_t)params(c)->distance;

    if (s->page != page || !near || (s->direction && s->direction != direction)) {
        *s = (struct stream){.page = page, .last = line, .used = s->used};
        return false;
    }
    if (!s->direction || ahead(line, s->next, direction) <= 0)
        s->next = line + (uint64_t)direction;
    s->direction = direction;
    s->last = line;
    return true;
}

/* Returns the number of a prefetch that is not under way; if all are, how many there may be. */
static unsigned unused(const struct coherence *c, unsigned core, sim_cycle now)
{
    unsigned i = 0;

    while (i < params(c)->misses && c->prefetcher[core].fetch[i].done > now)
        i++;
    return i;
}

unsigned coherence_fetches(const struct coherence *c)
{
    return c->prefetcher ? (unsigned)params(c)->misses : 0;
}

void coherence_ahead(struct coherence *c, unsigned core, unsigned fetch, sim_cycle now)
{
    struct fetch *f = &c->prefetcher[core].fetch[fetch];
    struct txn t;

    c->latest = now;
    f->done = now;
    if (private_state(c, core, f->line) != PRIV_I) /* it has come while nobody looked */
        return;
    f->done = CYCLE_NEVER;
    txn_begin(&t, c, core, f->line, MEM_LOAD, f->traffic, now);
    t.ahead = true;
    f->done = home_get(&t).done;
}

/* False: as many are under way as may be. */
static bool fetch(struct coherence *c, unsigned core, uint64_t line, enum mem_traffic traffic,
                  sim_cycle now)
{
    const unsigned i = unused(c, core, now);

    if (i == params(c)->misses) {
        c->stats.prefetch[traffic].full++;
        return false;
    }
    c->prefetcher[core].fetch[i] = (struct fetch){line, CYCLE_NEVER, traffic};
    if (c->memory->type->later)
        c->host.ahead(c->host.self, core, i);
    else
        coherence_ahead(c, core, i, now);
    return true;
}

void prefetch_sees(struct coherence *c, unsigned core, uint64_t line, enum mem_traffic traffic,
                   sim_cycle now)
{
    const uint64_t page = page_of(c, line);
    struct stream *s = stream_of(c, core, page);

    s->used = c->prefetcher[core].clock;
    if ((s->page == page && s->last == line) || is_history(c, line) || !goes_on(c, s, page, line))
        return;
    for (uint64_t n = 0; n < params(c)->degree && page_of(c, s->next) == page &&
                         ahead(line, s->next, s->direction) <= (int64_t)params(c)->distance;
         s->next += (uint64_t)s->direction) {
        if (is_history(c, s->next) || private_state(c, core, s->next) != PRIV_I)
            continue;
        if (!fetch(c, core, s->next, traffic, now))
            return;
        n++;
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

void prefetch_init(struct coherence *c, const struct coh_env *env)
{
    const uint64_t page = env->page && env->page < MOST_PAGE ? env->page : MOST_PAGE;

    if (!params(c)->streams)
        return;
    c->stream_shift = page > env->line ? (unsigned)__builtin_ctzll(page) - c->line_shift : 0;
    c->prefetcher = xcalloc(c->cores, sizeof *c->prefetcher);
    for (unsigned i = 0; i < c->cores; i++) {
        struct private_caches *p = &c->priv[i];
        c->prefetcher[i].stream = xcalloc(params(c)->streams, sizeof(struct stream));
        c->prefetcher[i].fetch = xcalloc(params(c)->misses, sizeof(struct fetch));
        if (i == leader(c, i))
            p->l2_fetched = xcalloc(cache_slots(&p->l2), sizeof *p->l2_fetched);
    }
}

void prefetch_free(struct coherence *c)
{
    for (unsigned i = 0; c->prefetcher && i < c->cores; i++) {
        free(c->prefetcher[i].stream);
        free(c->prefetcher[i].fetch);
        free(c->priv[i].l2_fetched);
    }
    free(c->prefetcher);
}

uint64_t prefetch_bytes(const struct coherence *c)
{
    const struct private_caches *p = c->priv;
    const uint64_t each =
        params(c)->streams * sizeof(struct stream) + params(c)->misses * sizeof(struct fetch);

    if (!c->prefetcher)
        return 0;
    return c->cores * (each + sizeof *c->prefetcher) +
           c->cores / (c->group_mask + 1) * cache_slots(&p->l2) * sizeof *p->l2_fetched;
}
