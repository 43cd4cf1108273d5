/* stats.c - what a hardware designer asks of the detector, declared: stats.def, and what holds
 * between its rows. */
#include "policy/radish/radish.h"

/* In the order of enum check_outcome, and of enum software_need. */
static const char *const outcome_text[OUTCOMES] = {"permission", "filled",      "local",
                                                   "remote",     "piggybacked", "software"};
static const char *const need_text[SOFTWARE_NEEDS] = {"last-write", "reads", "both"};

void radish_declare(struct radish *r, struct stats_group *g)
{
    struct radish_stats *st = &r->st;

#define STATS_DEF "policy/radish/stats.def"
#include "base/stats_declare.h"
    stats_invariant(g, "checks.outcome", "Each check has one outcome.",
                    STATS_SUM(&st->outcome[OUTCOME_PERMISSION], &st->outcome[OUTCOME_FILLED],
                              &st->outcome[OUTCOME_LOCAL], &st->outcome[OUTCOME_REMOTE],
                              &st->outcome[OUTCOME_PIGGYBACKED], &st->outcome[OUTCOME_SOFTWARE]),
                    STATS_EQ, STATS_SUM(&st->loads, &st->stores));
    stats_invariant(g, "checks.software", "Each check in software has a reason.",
                    STATS_SUM(&st->need[NEED_WRITE], &st->need[NEED_READS], &st->need[NEED_BOTH]),
                    STATS_EQ, STATS_SUM(&st->outcome[OUTCOME_SOFTWARE]));
    stats_invariant(
        g, "lines", "Each line that came has left, or is there.",
        STATS_SUM(&st->lost_dirty, &st->lost_clean, &st->flushed, &st->discarded, &st->lines),
        STATS_EQ, STATS_SUM(&st->allocated));
}
