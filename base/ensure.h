/* ensure.h - where a run is, and assertions that say it. What a hot structure knows of itself is in
 * the assertion's sentence; which event, thread, core, cycle and policy it worked for, the run
 * knows, and is asked by way of a pointer that the structure was given when it was made. Nothing is
 * kept up to date for that: the run finds it where it stands anyway. */
#ifndef LARDSIM_ENSURE_H
#define LARDSIM_ENSURE_H

#include "base/base.h"

#define NOT_KNOWN UINT64_MAX
struct whereabouts {
    uint64_t event; /* NOT_KNOWN, or -1: there is none, or it is not known yet */
    sim_cycle cycle;
    int core, thread;
    const char *policy; /* that decides or works; NULL: none */
};
#define WHERE_UNKNOWN ((struct whereabouts){NOT_KNOWN, NOT_KNOWN, -1, -1, NULL})

struct run_context { /* of a run; outlives what is given it */
    void (*tell)(const void *run, struct whereabouts *to);
    const void *run;
};

/* Ends the process, as assert does, unless the rule holds. context: may be NULL, and so may what it
 * points to be empty. Then a sentence on what broke the rule. */
#define ENSURE(rule, context, ...)                                                                 \
    (LIKELY(rule) ? (void)0 : ensure_failed(__FILE__, __LINE__, #rule, context, __VA_ARGS__))
void ensure_failed(const char *file, int line, const char *rule, const struct run_context *context,
                   const char *fmt, ...) PRINTF_LIKE(5, 6) NO_RETURN;

#endif
