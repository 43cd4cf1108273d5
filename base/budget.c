/* budget.c - what a run says when it has taken more of the host's memory than it may. */
#include "base/budget.h"

#include <inttypes.h>

#include "base/err.h"
#include "base/mem.h"

void *budget_grow(struct budget *b, void *array, size_t n, size_t *cap, size_t bytes)
{
    const size_t was = *cap;

    array = xgrow(array, n, cap, bytes);
    budget_take(b, (*cap - was) * bytes);
    return array;
}

void *budget_grow32(struct budget *b, void *array, uint32_t n, uint32_t *cap, size_t bytes)
{
    size_t room = *cap;

    array = budget_grow(b, array, n, &room, bytes);
    *cap = (uint32_t)room;
    return array;
}

void *budget_reach_more(struct budget *b, void *array, size_t *n, size_t i, size_t bytes)
{
    const size_t had = *n;

    *n = i + 1 + i / 2;
    budget_take(b, (*n - had) * bytes);
    return xrecalloc(array, had, *n, bytes);
}

int budget_error(const struct budget *b, uint64_t event, const char *what, const char *remedy,
                 struct err *e)
{
    const struct budget *all = b;

    while (all->of)
        all = all->of;
    return err_set(e, LARD_LIMIT,
                   "event %" PRIu64 ": what the run keeps exceeds limits.memory (%" PRIu64
                   " bytes); %s has %" PRIu64
                   " of it; the results up to here hold; raise limits.memory, or %s",
                   event, all->limit, what, b->live, remedy);
}
