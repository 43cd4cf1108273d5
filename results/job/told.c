/* told.c - what a run tells of itself. */
#include "results/job/told.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"

bool run_stat(const struct lardsim *l, uint64_t *to, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    char *name = xvasprintf(fmt, ap);
    va_end(ap);
    const bool found = lardsim_stat(l, name, to) == 0;
    free(name);
    *to = found ? *to : 0;
    return found;
}

int run_error(const struct lardsim *l, const char *before, struct err *e)
{
    return err_set(e, (enum lard_exit)lardsim_exit_code(l), "%s%s%s", before, *before ? ": " : "",
                   lardsim_error(l));
}

bool run_any_race(const struct lardsim *l)
{
    uint64_t n;

    for (size_t i = 0; lardsim_policy(l, i); i++)
        if (run_stat(l, &n, "policy.%s.races.accesses", lardsim_policy(l, i)) && n > 0)
            return true;
    return false;
}
