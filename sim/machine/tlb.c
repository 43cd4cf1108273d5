/* tlb.c - translations of addresses (tlb.h): two arrays of tags, whose lines are pages. */
#include "sim/machine/tlb.h"

#include "base/mem.h"
#include "cache/cache.h"

#include <stdlib.h>

enum { MOST_ENTRIES = 1 << 16, MOST_CYCLES = 100000 };

const struct param tlb_param_rows[] = {
#define PARAMS_DEF "sim/machine/tlb_params.def"
#define PARAMS_OF  struct tlb_params
#include "base/param_rows.h"
};

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
    if (check_level("tlb.entries", p->entries, p->ways, e))
        return -1;
    return check_level("tlb.second-entries", p->second_entries, p->second_ways, e);
}

struct tlb *tlb_new(const struct tlb_params *p)
{
    if (!p->entries)
        return NULL;
    struct tlb *t = xcalloc(1, sizeof *t);
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

sim_cycle tlb_cycles(struct tlb *t, struct paddr at, uint64_t *second, uint64_t *walks)
{
    const uint64_t page = at.at >> t->shift;

    if (page == t->latest)
        return 0;
    t->latest = page;
    if (cache_had(&t->first, page))
        return 0;
    if (t->params->second_entries && cache_had(&t->second, page)) {
        ++*second;
        return t->params->second_latency;
    }
    ++*walks;
    return t->params->walk;
}
