/* verdict.h - holds a policy to the oracle on one stream, restricted to what the policy promises:
 * its claims, its history, its kinds of conflict. Of one that has a verdict on each access: the
 * same racy accesses, as many racy locations, and every race names an earlier access that it really
 * races with; of one that finds races late: the same racy locations, each in its life. */
#ifndef LARDSIM_TESTS_VERDICT_H
#define LARDSIM_TESTS_VERDICT_H

#include "policy/checker.h"
#include "tests/oracle/oracle.h"
#include "trace/trace.h"

struct stream {        /* events in memory */
    struct event *rec; /* owns */
    size_t records, cap, events;
};
void stream_add(struct stream *s, const struct event *ev);
int stream_read(struct stream *s, struct source *from, struct err *e); /* all; does not close it */
void stream_free(struct stream *s);
/* Its events by their numbers. Owned by the caller, whose s must stay. */
const struct event **stream_index(const struct stream *s);
/* In the text form, to out. */
void stream_print(const struct stream *s, const struct names *names, FILE *out);

struct verdict_view {
    const char *name; /* as the configuration has it */
    unsigned bits;    /* as the oracle has it */
};
extern const struct verdict_view verdict_view[]; /* a NULL name ends it */

/* The ways to set a policy, from 0: as it is by default, then verdict_other of each parameter of
 * its own. False: there are no so many. */
enum { VERDICT_SETTING = 48, VERDICT_SETTINGS = 16 * VERDICT_SETTING };
bool verdict_setting(const char *policy, size_t i, char to[VERDICT_SETTING]);
size_t verdict_settings(const char *policy);
/* The ways to set a parameter, from 0: its other choices, "history=all", or numbers within its
 * limits, small and large, "period=17". */
bool verdict_other(const struct param *row, size_t k, char to[VERDICT_SETTING]);

struct verdict_case {
    const char *policy;
    const struct verdict_view *view; /* the policy may have more of its own */
    unsigned granule;
    char setting[VERDICT_SETTINGS]; /* "history=all period=17"; "": as it is */
    const struct promise *as;       /* judged as if it promised that; NULL: what it does promise */
};
void verdict_case_text(const struct verdict_case *c, char *to, size_t room);

/* The side of a race is that event, which is that access. */
bool side_is(const struct race_side *side, uint64_t event, const struct event *access);

/* The policy can be had like that, and promises something that the oracle can judge. */
bool verdict_takes(const struct verdict_case *c);

/* True: policy and oracle differ in something that the policy promises, and why says where. A
 * stream that both refuse is agreed on. */
bool verdict_differs(const struct stream *s, const struct verdict_case *c, char *why, size_t room);

/* For policies in hardware: parameters, and a machine that each run has anew. */
struct verdict_host {
    void *self;
    const struct policy_machine *machine;
    sim_cycle (*exec)(void *self, unsigned core, unsigned instructions, sim_cycle now);
    sim_cycle (*mem)(void *self, unsigned core, struct paddr a, unsigned bytes, enum mem_cmd cmd,
                     sim_cycle now);
    /* Runs one event, and tells the policy what happened to lines. */
    sim_cycle (*event)(void *self, struct checker *c, const struct event *ev, sim_cycle now);
};
struct verdict_hardware {
    const char *const *settings;                         /* of the policy: "queue=4"; NULL ends */
    const struct verdict_host *(*open)(void *arg);       /* NULL: there is no machine */
    void (*close)(void *arg, const struct stats *stats); /* after the run */
    void *arg;
};
bool verdict_differs_on(const struct stream *s, const struct verdict_case *c,
                        const struct verdict_hardware *on, char *why, size_t room);

/* What the oracle says: racy has a value for each event. False: it refuses. */
bool verdict_of_oracle(const struct stream *s, const struct oracle_options *is, bool *racy,
                       uint64_t *locations);

#endif
