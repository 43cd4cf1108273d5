/* watch.h - what one sees of a run, a line each (docs/debugging.md): filters, and where lines go.
 * It knows nothing of machines; sim/session/watched.c tells it what happens. */
#ifndef LARDSIM_WATCH_H
#define LARDSIM_WATCH_H

#include "base/err.h"
#include "base/ensure.h"

#include <stdbool.h>

struct watch_lines;
struct watch_lines *watch_new(void (*print)(void *arg, const char *line), void *arg);
void watch_free(struct watch_lines *w); /* NULL is fine */
/* Adds a filter: lines pass that any of the filters lets pass. -1: e names the part that is none.
 */
int watch_filter(struct watch_lines *w, const char *filter, struct err *e);
/* Tells of the machine: the bytes of a line, as `line` in filters means one, and the number of
 * cores. */
void watch_machine(struct watch_lines *w, unsigned line, unsigned cores);

/* A line to be printed: what happens, where, and to which bytes. */
struct watch_line {
    struct whereabouts at;
    const char *what;    /* "turn", "message", ... */
    bool numbered_later; /* its event has no number yet: it is printed when it gets one */
    bool placed;         /* it is of the bytes [addr, addr + bytes) */
    sim_addr addr;       /* of the program, or of a policy's own data */
    uint64_t bytes;
    char text[200]; /* key=value, ...; how the line goes on */
};
void watch_say(struct watch_lines *w, const struct watch_line *line);
/* The event in hand of the core has this number: its lines that waited for that are printed. */
void watch_number(struct watch_lines *w, int core, uint64_t event);
void watch_finish(struct watch_lines *w); /* those that never got one */

#endif
