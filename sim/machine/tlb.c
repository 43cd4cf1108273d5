/* tlb.c - translations of addresses (tlb.h): two arrays of tags, whose lines are pages. */
#include "sim/machine/tlb.h"

#include "base/mem.h"
#include "cache/cache.h"

#include <stdlib.h>

enum { MOST_ENTRIES = 1 << 16, MOST_CYCLES = 100000 };

#define AT(field) offsetof(struct tlb_params, field)
const struct param tlb_param_rows[] = {
    {"entries", PARAM_U64, AT(entries), "0", 0, MOST_ENTRIES, "pages", NULL,
     "Translations that a pipelined core has at hand; 0: all of them."},
    {"ways", PARAM_U64, AT(ways), "4", 1, CACHE_MAX_WAYS, "ways", NULL, "Their associativity."},
    {"second-entries", PARAM_U64, AT(second_entries), "0", 0, MOST_ENTRIES, "pages", NULL,
     "Translations of its second level; 0: there is none."},
    {"second-ways", PARAM_U64, AT(second_ways), "8", 1, CACHE_MAX_WAYS, "ways", NULL,
     "Their associativity."},
    {"second-latency", PARAM_U64, AT(second_latency), "7", 0, MOST_CYCLES, "cycles", NULL,
     "What an access takes longer whose translation is in the second level alone."},
    {"walk", PARAM_U64, AT(walk), "30", 0, MOST_CYCLES, "cycles", NULL,
     "What it takes longer whose translation is in neither: the walk of page tables."},
    {"page", PARAM_U64, AT(page), "4Ki", 4096, UINT64_C(1) << 30, "bytes", NULL,
     "What a translation is of, a power of two."},
    PARAM_END,
};
#undef AT

struct tlb {
    const struct tlb_params *params; /* borrowed */
    unsigned shift;                  /* of pages */
    uint64_t latest;                 /* page */
    struct cache first, second;      /* second.tag NULL: there is none */
};

static struct cache_geometry geometry(uint64_t entries, uint64_t ways)
{
    enum { ANY = 64 }; /* the arrays are asked by number */

    return (struct cache_geometry){.bytes = entries * ANY,
                                   .ways = (uint32_t)(ways < entries ? ways : entries),
                                   .line = ANY,
                                   .replacement = REPLACE_LRU};
}

static int check_level(const char *name, uint64_t entries, uint64_t ways, struct err *e)
{
    if (entries && ways < entries && entries % ways)
        return err_set(e, LARD_CONFIG,
                       "%s: %llu translations in %llu ways are no whole number of sets; give "
                       "another number of either",
                       name, (unsigned long long)entries, (unsigned long long)ways);
    if (entries && ways >= entries && entries > CACHE_MAX_WAYS)
        return err_set(e, LARD_CONFIG, "%s: %llu translations in one set are too many; give ways",
                       name, (unsigned long long)entries);
    return 0;
}

int tlb_check(const struct tlb_params *p, struct err *e)
{
    if (p->page & (p->page - 1))
        return err_set(e, LARD_CONFIG, "tlb.page: %llu is no power of two; give one, as 4Ki",
                       (unsigned long long)p->page);
    return check_level("tlb.entries", p->entries, p->ways, e) ||
                   check_level("tlb.second-entries", p->second_entries, p->second_ways, e)
               ? -1
               : 0;
}

struct tlb *tlb_new(const struct tlb_params *p)
{
    struct tlb *t;

    if (!p->entries)
        return NULL;
    t = xcalloc(1, sizeof *t);
    t->params = p;
    t->shift = (unsigned)__builtin_ctzll(p->page);
    t->latest = UINT64_MAX;
    const struct cache_geometry first = geometry(p->entries, p->ways);
    const struct cache_geometry second = geometry(p->second_entries, p->second_ways);
    cache_init(&t->first, &first);
    if (p->second_entries)
        cache_init(&t->second, &second);
    return t;
}

void tlb_free(struct tlb *t)
{
    if (!t)
        return;
    cache_free(&t->first);
    cache_free(&t->second);
    free(t);
}

/* Was it there? It is now. */
static bool had(struct cache *c, uint64_t page)
{
    const uint32_t slot = cache_find(c, page);

    if (slot != CACHE_NONE)
        cache_touch(c, slot);
    else
        cache_put(c, cache_victim(c, page), page, 1);
    return slot != CACHE_NONE;
}

sim_cycle tlb_cycles(struct tlb *t, struct paddr at, uint64_t *second, uint64_t *walks)
{
    const uint64_t page = at.at >> t->shift;

    if (page == t->latest)
        return 0;
    t->latest = page;
    if (had(&t->first, page))
        return 0;
    if (t->params->second_entries && had(&t->second, page)) {
        ++*second;
        return t->params->second_latency;
    }
    ++*walks;
    return t->params->walk;
}
