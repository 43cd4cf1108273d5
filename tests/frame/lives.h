/* lives.h - locations with a finding, each in its life: what two tellers of the same stream are
 * compared by when they need not find at the same access. A clear ends a life, a copy begins one at
 * the destination; the mark of a location that had a finding goes with the copy, so that its next
 * finding there is no new one (docs/events.md). */
#ifndef LARDSIM_TESTS_LIVES_H
#define LARDSIM_TESTS_LIVES_H

#include "tests/frame/verdict.h"
#include "tests/frame/watch.h"

struct finding { /* at the event, before it changes any life */
    uint64_t event;
    sim_addr location;
};

struct life {
    sim_addr location;
    uint64_t
        number;     /* of lives at this address that ended before; the address alone isn't enough */
    uint64_t event; /* of its first finding */
};

struct lives {
    struct life *at; /* owns; by location, then number */
    size_t n, cap;
};

/* The view's bits as oracle.h has them. The findings are in the order of their events. */
void lives_of(struct lives *to, const struct stream *s, unsigned view, const struct finding *of,
              size_t findings);
void lives_of_watch(struct lives *to, const struct stream *s, unsigned view, const struct watch *w);
void lives_of_oracle(struct lives *to, const struct stream *s, unsigned view,
                     const struct oracle *o);
void lives_free(struct lives *l);
/* How many lives at that address ended before the event. */
uint64_t lives_number(const struct stream *s, unsigned view, sim_addr a, uint64_t event);

/* False: the same ones. exact: the same first findings, too. why tells of the first difference: the
 * names are of the tellers. */
bool lives_differ(const struct lives *a, const char *a_name, const struct lives *b,
                  const char *b_name, bool exact, char *why, size_t room);

/* True: b lacks one that a has, and why tells which. */
bool lives_lack(const struct lives *a, const char *a_name, const struct lives *b, char *why,
                size_t room);

#endif
