/* filter.h - which accesses of its view a policy is spared: what software detectors leave out, for
 * any policy alike (docs/policies.md, "Filters"). What is spared is not checked, not recorded and
 * not charged; the filter's own work is not charged either. */
#ifndef LARDSIM_FILTER_H
#define LARDSIM_FILTER_H

#include "base/param.h"
#include "policy/hb/hb.h"

enum filter_flagged { FLAGGED_VIEW, FLAGGED_ON, FLAGGED_OFF };
struct filter_params {
    uint32_t stack, final; /* enum filter_flagged */
    uint32_t escape, redundant, safe;
    const char *exempt; /* a file's name; "": none */
};
extern const char *const filter_flagged_choices[], *const filter_choices[]; /* NULL-terminated */

struct filter;
struct filter_env {
    const struct hb *hb;
    struct stats_group *stats; /* the policy's */
    struct budget *budget;
    unsigned granule; /* or GRANULE_FIELD */
};
/* *to: NULL where all parameters are at their defaults, and there is nothing to do. */
int filter_new(struct filter **to, const struct filter_params *p, const struct filter_env *env,
               struct err *e);
void filter_free(struct filter *f);
void filter_names(struct filter *f, const struct names *names); /* f may be NULL */

/* The flags any of which keeps an access from being checked, where the view has these. */
unsigned filter_flags(const struct filter_params *p, unsigned view_skips);
/* An access that these flags keep from being checked. */
void filter_count_flags(struct filter *f, const struct event *ev);
/* Whether the policy is spared this access, which its view has, when it takes effect. Counts. */
bool filter_spares(struct filter *f, const struct event *ev, uint64_t number);
/* The filter that spared this access, which took effect with the event; NULL: none. */
const char *filter_spared(const struct filter *f, const struct event *ev, uint64_t number);
/* A clear or copy that the view heeds. */
void filter_heap(struct filter *f, const struct event *ev);

/* filter_text names the active filters, as "filter escape, redundant". filter_loses: they may spare
 * accesses that race. */
const char *filter_text(const struct filter *f);
bool filter_loses(const struct filter *f);

#endif
