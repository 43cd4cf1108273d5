/* report.h - the race report of one checker: counts, sets of sites and pairs, lines of races.jsonl.
 */
#ifndef LARDSIM_REPORT_H
#define LARDSIM_REPORT_H

#include "policy/checker.h"
#include "policy/checker/after_race.h"

struct race_report {
    const struct checker_env *env; /* borrowed */
    const char *policy;            /* label */
    const struct names *names;     /* may be NULL */
    struct after_race *after;      /* is told of each race; borrowed; NULL: nobody is */
    struct race race;              /* of the event in hand; conflicts 0: none so far */
    struct race late;              /* of an access that is over; the same */
    struct race_side told;         /* the access of a conflict that is told late */
    bool late_counted;             /* that access has been counted */
    bool late_several;             /* it may count several times */
    uint64_t several;              /* of the accesses: those that may have */
    struct race first;             /* of the run, once there is one */
    bool inside;                   /* a region of interest */
    uint64_t lines;                /* of races.jsonl that may still be written */
    struct map sites, pairs;       /* sets; pairs by hash of both sites */
    struct map locations_inside;   /* a set */
    uint64_t sites_roi, locations_roi, pairs_roi; /* within regions of interest */
    uint64_t accesses, site_count, locations, pair_count, conflicts, program, system, unsited,
        unwritten;
};

void report_init(struct race_report *r, const struct checker_env *env, const char *policy,
                 struct stats_group *g, struct budget *budget);
void report_free(struct race_report *r);
/* The event in hand (an access, or a commit with all its accesses) has been checked: counts it if
 * it raced. blamed: the access, or the commit. */
void report_done(struct race_report *r, const struct event *blamed);

#endif
