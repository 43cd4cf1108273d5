/* budget.c - what a run says when it has taken more of the host's memory than it may. */
#include "base/budget.h"

#include <inttypes.h>

#include "base/err.h"

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
