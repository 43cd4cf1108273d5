/* stats_int.h - the table of statistics as stats.c keeps it and stats_out.c reads it. For no other
 * file. */
#ifndef LARDSIM_STATS_INT_H
#define LARDSIM_STATS_INT_H

#include "base/stats.h"

enum stats_kind { STATS_COUNT, STATS_LEVEL, STATS_VECTOR, STATS_HISTOGRAM, STATS_RATIO };

/* The values of an entry are words: one of a count or level, n of a vector, num and den of a ratio,
 * and these of a histogram. The words of all entries make a snapshot. */
enum {
    HISTOGRAM_BUCKETS = 65,
    HISTOGRAM_COUNT = HISTOGRAM_BUCKETS,
    HISTOGRAM_SUM,
    HISTOGRAM_MIN, /* this and the next mean nothing in a region */
    HISTOGRAM_MAX,
    HISTOGRAM_WORDS
};
_Static_assert(sizeof(struct histogram) == HISTOGRAM_WORDS * sizeof(uint64_t),
               "a histogram's words are its fields, in their order");

struct stats_entry {
    enum stats_kind kind;
    const char *name, *unit, *help; /* name: the full one */
    const uint64_t *field;          /* the first word of the vector, of the histogram; num */
    const uint64_t *den;            /* ratios */
    const uint64_t *inside;         /* of distinct things, those within regions; else NULL */
    const char *const *labels;      /* vectors; may be NULL */
    size_t words, first;            /* how many, and where in a snapshot */
    bool echo;                      /* of the configuration */
    uint8_t late;                   /* enum stats_when */
    bool keeps[2]; /* levels, also as a part of a ratio: not a difference in a region */
};

/* The names are a tree, whose leaves are the entries: a statistic has an entry and no children.
 * Children are in order of declaration. */
struct stats_group {
    struct stats *stats;                              /* that it is a part of */
    struct stats_group *parent, *child, *last, *next; /* owns child and next */
    char *full;                                       /* owns; "" for the root */
    const char *name;                                 /* the last segment of full */
    struct stats_entry *entry;                        /* owns; NULL: a group */
};

struct stats_rule { /* an invariant */
    char *name;     /* owns */
    const char *help;
    const uint64_t **left, **right; /* owns the lists, which end in NULL */
    enum stats_relation op;
};

struct stats {
    struct stats_group root;
    struct stats_entry **entries; /* owns the array; in order of declaration */
    size_t n, cap;
    struct stats_rule *rules; /* owns */
    size_t n_rules, cap_rules;
    size_t words;         /* of a snapshot */
    uint64_t *base;       /* owns; the snapshot at the begin of the region; NULL until the first */
    uint64_t *roi;        /* owns; what the regions add up to */
    bool inside, has_roi; /* inside: a region is open; has_roi: one has ended */
};

uint64_t *stats_snapshot(const struct stats *s); /* owned by the caller */
/* The node after g in the order of output, or NULL. */
const struct stats_group *stats_next(const struct stats_group *g);

#endif
