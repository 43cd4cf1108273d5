/* live_hold.h - what a port may hold back: one call, that comes before the run's next event. */
#ifndef LARD_LIVE_HOLD_H
#define LARD_LIVE_HOLD_H

struct live;
void live_hold(struct live *l, void (*fn)(void *arg), void *arg);

#endif
