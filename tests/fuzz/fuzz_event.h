/* fuzz_event.h - events from bytes, for fuzz targets: eight bytes make one. */
#ifndef LARDSIM_FUZZ_EVENT_H
#define LARDSIM_FUZZ_EVENT_H

#include <string.h>

#include "base/map.h"
#include "trace/trace.h"

enum { EVENT_BYTES = 8 };

/* Mostly few threads and places, so that they meet. */

/* The highest thread would make every table as large as it can be, and this slow. */
static inline sim_tid thread_from(uint8_t b)
{
    return b < 0xf0 ? b % 4 : (sim_tid)((b - 0xec) * (b - 0xec));
}

static inline uint64_t number_from(uint8_t b, unsigned few)
{
    static const uint64_t edge[16] = {0,          64,         4096,       1 << 20,
                                      UINT32_MAX, 1ull << 32, 1ull << 40, (1ull << 46) - 1,
                                      1ull << 46, 1ull << 62, 1ull << 63, UINT64_MAX - 4096,
                                      MAP_EMPTY,  (1u << 16), UINT64_MAX, UINT64_MAX - 1};

    return b < 0xf0 ? b % few : edge[b - 0xf0];
}

static inline sim_addr address_from(uint8_t b)
{
    return b < 0xf0 ? 0x1000u + b % 24 : number_from(b, 1);
}

static inline void access_from(const uint8_t *p, struct event *ev)
{
    static const uint32_t large[8] = {12, 16, 24, 31, 32, 64, 65, 1000};

    ev->flags = (uint16_t)((p[2] | p[3] << 8) & (EVF_C11 | 0x1ff));
    ev->addr = address_from(p[4]);
    ev->aux = p[5];
    ev->size = p[6] < 0xf8 ? 1 + p[6] % 8u : large[p[6] - 0xf8];
    if (ev->kind == EV_RMW && event_order(ev) == ORDER_NONE)
        ev->flags |= ORDER_SEQ_CST << EVF_ORDER_SHIFT;
    if (!event_modifies_atomic(ev))
        ev->flags &= (uint16_t)~EVF_C11;
}

static inline void second_from(const uint8_t *p, struct event ev[EVENT_RECORDS])
{
    ev->flags |= EVF_MORE;
    if (ev->kind == EV_COPY)
        ev[1].addr = address_from(p[6]);
    if (ev->kind == EV_BRANCHES)
        ev[1] = (struct event){.addr = p[4] & 0x7f, .size = 7};
    ev[1].aux = p[7];
}

/* False: these bytes make none. */
static inline bool event_from(const uint8_t *p, struct event ev[EVENT_RECORDS])
{
    const char *what;

    memset(ev, 0, EVENT_RECORDS * sizeof *ev);
    /* Four bytes that once were other kinds: all others are the kinds that they were. */
    ev->kind = (uint8_t)(p[0] > 0xfb ? EV_WAITED + (p[0] - 0xfc) : 1 + p[0] % EV_TIME);
    ev->tid = thread_from(p[1]);
    ev->gap = p[7];
    if (event_is_access(ev)) {
        access_from(p, ev);
        return !event_well_formed(ev, &what);
    }
    const enum ev_form form = (enum ev_form)ev_info[ev->kind].form;
    ev->flags = p[2] & EVF_SYSTEM;
    if (form == FORM_CLOCK)
        ev->addr = number_from(p[4], 24);
    else if (event_has_address(ev))
        ev->addr = address_from(p[4]) & (form == FORM_REMAP ? ~UINT64_C(4095) : UINT64_MAX);
    if (form == FORM_THREAD || form == FORM_KERNEL || form == FORM_CLOCK)
        ev->aux = thread_from(p[5]);
    else if (form == FORM_REMAP)
        ev->aux = 4096;
    else if (form != FORM_NONE && form != FORM_OBJECT && form != FORM_BRANCHES)
        ev->aux = number_from(p[5], 32);
    if (event_has_second(ev->kind) || p[3] & 1)
        second_from(p, ev);
    return !event_well_formed(ev, &what);
}

#endif
