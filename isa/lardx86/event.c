/* event.c - from events to instructions: an event of this level is one instruction; those of a
 * higher level (locks, forks) are for the runtime to lower. */
#include "isa/lardx86/lardx86.h"

static struct lx_act act(enum lx_op op, uint64_t a, uint64_t b, uint64_t c)
{
    return (struct lx_act){.op = (uint8_t)op, .value = {a, b, c}};
}

bool lx_of_event(const struct event *ev, struct lx_act *to)
{
    if (event_is_access(ev)) {
        *to = act(LX_TRACKED, ev->addr, ev->size, 0);
        to->access = ev->kind;
        to->plain = !event_tracked(ev);
    } else if (ev->kind == EV_THREAD) {
        *to = act(LX_THREAD, ev->tid, 0, 0);
    } else if (ev->kind == EV_READVC || ev->kind == EV_WRITEVC) {
        *to = act(ev->kind == EV_READVC ? LX_READVC : LX_WRITEVC, ev->aux, ev->addr, 0);
    } else if (ev->kind == EV_CLEAR) {
        *to = act(LX_CLEARHISTORY, ev->addr, ev->aux, 0);
    } else if (ev->kind == EV_COPY) {
        *to = act(LX_COPYHISTORY, ev[1].addr, ev->addr, ev->aux);
    } else {
        return false;
    }
    return true;
}
