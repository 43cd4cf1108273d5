/* outside.h - caches = host: lines are where a host says that they are, and the accesses of
 * policies are made by the host, in its caches. In the place of coherence/, for whoever asks a
 * machine for its caches (struct caches). */
#ifndef LARDSIM_OUTSIDE_H
#define LARDSIM_OUTSIDE_H

#include "policy/machine.h"

struct outside_access { /* of a policy, within one line */
    struct paddr addr;
    unsigned bytes, core;
    enum mem_cmd cmd;
    bool drop;    /* no access: the line leaves all caches, and nothing of it is written */
    bool history; /* no memory backs it: one that is in no cache is empty */
    sim_cycle now;
};
struct outside_env { /* borrowed */
    /* The host makes it: *level answered. Returns the cycles that it took. */
    uint64_t (*access)(void *host, const struct outside_access *a, unsigned *level);
    void *host;
    struct stats *stats;
    struct budget *memory;
    unsigned cores, line;
    struct err *err;
};

struct outside;
struct outside *outside_new(const struct outside_env *env);
void outside_free(struct outside *o); /* NULL is fine */

/* For sim/machine/. */
struct coh_result outside_access(struct outside *o, unsigned core, struct paddr addr,
                                 unsigned bytes, enum mem_cmd cmd, sim_cycle now);
void outside_data(struct outside *o,
                  unsigned level); /* an access of the program, by who answered */

/* Takes a line event that the host tells, and keeps it for policies if one of them hears it (hears:
 * bits by line_what). */
void outside_line(struct outside *o, const struct line_event *line, unsigned hears);
struct line_queue *outside_lines(struct outside *o);

struct caches outside_caches(struct outside *o); /* as policies ask them */

void outside_declare(struct stats *stats, const struct outside *o); /* NULL: for the list alone */

#endif
