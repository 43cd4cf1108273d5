/* verdict.h - holds a policy to the oracle on one stream: the same racy accesses, as many racy
 * locations, and every race names an earlier access that it really races with. */
#ifndef LARDSIM_TESTS_VERDICT_H
#define LARDSIM_TESTS_VERDICT_H

#include "tests/oracle.h"
#include "trace/trace.h"

struct stream {        /* events in memory */
    struct event *rec; /* owns */
    size_t records, cap, events;
};
void stream_add(struct stream *s, const struct event *ev);
int stream_read(struct stream *s, struct source *from, struct err *e); /* all; does not close it */
void stream_free(struct stream *s);
/* In the text form, to out. */
void stream_print(const struct stream *s, const struct names *names, FILE *out);

struct verdict_view {
    const char *name; /* as the configuration has it */
    unsigned bits;    /* as the oracle has it */
};
extern const struct verdict_view verdict_view[]; /* a NULL name ends it */

/* Only vc remembers all, and knows every partner of a race; others name the latest. */
bool verdict_has_all(const char *policy);

struct verdict_case {
    const char *policy;
    const struct verdict_view *view;
    unsigned granule;
    bool history_all;
};
void verdict_case_text(const struct verdict_case *c, char *to, size_t room);

/* True: policy and oracle differ, and why says where. A stream that both refuse is agreed on. */
bool verdict_differs(const struct stream *s, const struct verdict_case *c, char *why, size_t room);

/* What one of them says: racy has a value for each event. False: it refuses. */
bool verdict_of_oracle(const struct stream *s, const struct verdict_case *c, bool *racy,
                       uint64_t *locations);
bool verdict_of_policy(const struct stream *s, const struct verdict_case *c, bool *racy,
                       uint64_t *locations);

#endif
