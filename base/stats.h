/* stats.h - one table of statistics: plain uint64_t fields, each declared once with a unit and a
 * sentence, as fast to update as the fields they are.
 *
 * Groups nest; a statistic's full name is its groups' names and its own, joined by dots. Snapshots
 * (region of interest) and the outputs follow from the table. */
#ifndef LARDSIM_STATS_H
#define LARDSIM_STATS_H

#include "base/err.h"
#include "base/json.h"

struct stats;
struct stats_group;

struct histogram { /* by powers of two: bucket 0 counts 0, bucket i counts 2^(i-1) .. 2^i - 1 */
    uint64_t bucket[65];
    uint64_t count, sum, min, max; /* min is meaningless while count is 0 */
};
void histogram_add(struct histogram *h, uint64_t value);

struct stats *stats_new(void);
void stats_free(struct stats *s);
struct stats_group *stats_root(struct stats *s);
/* Returns a new group, or the one there. */
struct stats_group *stats_group(struct stats_group *in, const char *name);

/* The fields are borrowed and must live as long as s. Names and sentences are string constants, or
 * live as long. A name given twice in a group is a bug (assert). */
void stats_count(struct stats_group *g, const char *name, const char *unit, const char *help,
                 const uint64_t *field);
/* A level, not a flow (peak bytes): a snapshot keeps its value instead of a difference. */
void stats_level(struct stats_group *g, const char *name, const char *unit, const char *help,
                 const uint64_t *field);
/* A level that only repeats what the configuration says (cores, capacity): not behaviour. */
void stats_echo(struct stats_group *g, const char *name, const char *unit, const char *help,
                const uint64_t *field);
/* A number of distinct things, which no subtraction gives for a region: the component counts those
 * seen inside regions by itself, in `inside`. */
void stats_distinct(struct stats_group *g, const char *name, const char *unit, const char *help,
                    const uint64_t *field, const uint64_t *inside);
/* labels: n names, or NULL for 0..n-1. */
void stats_vector(struct stats_group *g, const char *name, const char *unit, const char *help,
                  const uint64_t *field, size_t n, const char *const *labels);
void stats_histogram(struct stats_group *g, const char *name, const char *unit, const char *help,
                     const struct histogram *h);
/* A histogram of distinct things, as stats_distinct counts them. */
void stats_histogram_distinct(struct stats_group *g, const char *name, const char *unit,
                              const char *help, const struct histogram *h,
                              const struct histogram *inside);
/* num/den; written with both parts, null when den is 0. */
void stats_ratio(struct stats_group *g, const char *name, const char *help, const uint64_t *num,
                 const uint64_t *den);

/* Holds at the end of every run: the sum of the left fields <op> the sum of the right ones. Lists
 * end in NULL. */
enum stats_relation { STATS_EQ, STATS_LE };
#define STATS_SUM(...) ((const uint64_t *const[]){__VA_ARGS__, NULL})
void stats_invariant(struct stats_group *g, const char *name, const char *help,
                     const uint64_t *const *left, enum stats_relation op,
                     const uint64_t *const *right);
/* Likewise: the n fields of an array from `part` on add up to the total. */
void stats_sum(struct stats_group *g, const char *name, const char *help, const uint64_t *part,
               size_t n, const uint64_t *total);
/* 0, or -1 with LARD_INTERNAL and an error that names the first invariant that fails and its
 * numbers. */
int stats_check(const struct stats *s, struct err *e);

/* When a value is up to date: always, as most are counted where things happen; between events,
 * after whoever counts late was asked to settle (scheduler_settle and the like); or at the end of
 * the run alone. name: of a statistic, or of a group, for all of it. */
enum stats_when { STATS_ALWAYS, STATS_SETTLED, STATS_AT_END };
void stats_late(struct stats_group *g, const char *name, enum stats_when when);

/* Region of interest: values between begin and end are added up over all regions. */
void stats_roi_begin(struct stats *s);
void stats_roi_end(struct stats *s);
/* Between regions: what they have added up is forgotten. Who counts distinct things does not. */
void stats_roi_forget(struct stats *s);

/* stats.json: {"schema": "lardsim-stats-1", "<group>": {...}, ..., "roi": {...}} - groups nest, so
 * that policy.vc.races.accesses is .policy.vc.races.accesses. A dot in a statistic's name nests
 * too. Counts are numbers, vectors objects by label, histograms {count, sum, min, max, buckets:
 * [[low, high, n], ...]} (empty buckets left out), ratios {value, num, den}. "roi" is there only
 * after a region. Whoever opened the object may add to it: "behaviour" and "findings" are no names
 * of groups. */
void stats_json(const struct stats *s, struct json *j); /* into an object that is open */
void stats_text(const struct stats *s, FILE *out); /* "name  value  # unit: sentence", aligned */
void stats_csv(const struct stats *s, FILE *out);  /* name,value,unit; header line; no sentences */
/* Digests of the canonical sorted name=value lines, roi included. `behaviour` leaves out echoes of
 * the configuration, and zeros: an event that did not happen may not even be declared in another
 * configuration. */
struct stats_digests {
    uint64_t all, behaviour;
};
struct stats_digests stats_digests(const struct stats *s);
/* The value of a count or level by its full name, or by the name behind "roi."; of a vector's
 * element by the vector's name and "." and the label, or index; of a ratio's halves by its name and
 * ".num", ".den"; of a histogram by ".count", ".sum", and, not behind "roi.", ".min" and ".max" (0
 * where it is empty). False: no such statistic. */
bool stats_value(const struct stats *s, const char *name, uint64_t *value);
/* As stats_value, but false also for a value that is one later than `now`. Behind "roi." a region
 * that is open counts as if it ended here. */
bool stats_value_now(const struct stats *s, const char *name, enum stats_when now, uint64_t *value);
/* The field of that value, for callers that read it again and again; NULL: no such statistic. Names
 * behind "roi." have none. */
const uint64_t *stats_field(const struct stats *s, const char *name);
/* Every statistic, in order of declaration: for list and explain. */
void stats_each(const struct stats *s,
                void (*fn)(void *arg, const char *name, const char *unit, const char *help),
                void *arg);

#endif
