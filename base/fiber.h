/* fiber.h - stacks to switch between, inside one thread: what waits in the middle of something
 * keeps its stack. For schedulers of simulated cores and threads. */
#ifndef LARDSIM_FIBER_H
#define LARDSIM_FIBER_H

struct fiber;
/* The stack that the caller runs on, as a fiber. */
struct fiber *fiber_host(void);
/* A new one; it runs fn(arg) when first switched to. fn must not return. */
struct fiber *fiber_new(void (*fn)(void *arg), void *arg);
/* Switches from the fiber `from`, which runs, to another; returns when something switches back. */
void fiber_switch(struct fiber *from, struct fiber *to);
void fiber_free(struct fiber *f); /* not the one that runs, unless it is the host's */

#endif
