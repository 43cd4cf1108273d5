/* push.c - events from the host of the library: from the public form to the records that all of
 * the program has. */
#include "sim/session/session.h"

/* The public numbers are the events' own. */
#define EV(NAME, code, ...)                                                                        \
    _Static_assert((int)EV_##NAME == (int)LARDSIM_##NAME, "lardsim.h and event.def differ");
#include "trace/event.def"
#undef EV
#define SAME(flag)                                                                                 \
    _Static_assert((int)LARDSIM_##flag == (int)EVF_##flag, "lardsim.h and trace.h differ")
SAME(SYSTEM);
SAME(STACK);
SAME(VOLATILE);
SAME(ARRAY);
SAME(FINAL);
SAME(IN_TXN);
SAME(NURSERY);
_Static_assert(EVF_SYSTEM == 1, "it is an index of run_stats.owner");
_Static_assert(LARDSIM_ORDER(1) == 1 << EVF_ORDER_SHIFT, "lardsim.h and trace.h differ");
#undef SAME

int lardsim_event(struct lardsim *l, const struct lardsim_event *ev)
{
    struct event rec[EVENT_RECORDS] = {{.addr = ev->addr,
                                        .aux = ev->aux,
                                        .gap = ev->gap,
                                        .tid = ev->thread,
                                        .flags = ev->flags,
                                        .kind = ev->kind}};

    /* The record of the library's own: a caller can't say how many records follow. */
    if (ev->flags & EVF_MORE)
        return err_set(&l->err, LARD_TRACE, "event %llu: no flag 0x%x",
                       (unsigned long long)l->number, EVF_MORE);

    if (ev->kind < EV_KINDS && ev_info[ev->kind].class == CLASS_ACCESS) {
        if (ev->aux || ev->addr2)
            return err_set(&l->err, LARD_TRACE,
                           "event %llu: an access has no aux and no second address",
                           (unsigned long long)l->number);
        rec[0].size = ev->size;
        rec[0].aux = ev->site;
        return session_push(l, rec);
    }
    /* Only what needs it has a second record, as in a trace. */
    if (ev->kind == EV_COPY || ev->site || ev->addr2 || ev->size) {
        rec[0].flags |= EVF_MORE;
        rec[1] = (struct event){.addr = ev->addr2, .aux = ev->site, .size = ev->size};
    }
    return session_push(l, rec);
}

struct lardsim_event sim_event(const struct event *ev)
{
    const bool access = event_is_access(ev), more = ev->flags & EVF_MORE;

    return (struct lardsim_event){.addr = ev->addr,
                                  .aux = access ? 0 : ev->aux,
                                  .addr2 = more ? ev[1].addr : 0,
                                  .site = event_site(ev),
                                  .size = more ? ev[1].size : ev->size,
                                  .gap = ev->gap,
                                  .thread = ev->tid,
                                  .flags = (uint16_t)(ev->flags & ~EVF_MORE),
                                  .kind = ev->kind};
}

/* The short forms take wider types than an event has. */
static int push_short(struct lardsim *l, unsigned thread, unsigned kind, unsigned flags,
                      struct lardsim_event ev)
{
    if (thread >= MAX_THREADS)
        return err_set(&l->err, LARD_TRACE, "thread %u: threads are numbered below %d", thread,
                       MAX_THREADS);
    if (kind > UINT8_MAX || flags > UINT16_MAX)
        return err_set(&l->err, LARD_TRACE, "kind %u with flags 0x%x: there is no such event", kind,
                       flags);
    ev.thread = (uint16_t)thread;
    ev.kind = (uint8_t)kind;
    ev.flags = (uint16_t)flags;
    return lardsim_event(l, &ev);
}

int lardsim_access(struct lardsim *l, unsigned thread, enum lardsim_kind kind, uint64_t addr,
                   uint32_t size, unsigned flags, uint64_t site)
{
    return push_short(l, thread, kind, flags,
                      (struct lardsim_event){.addr = addr, .size = size, .site = site});
}

int lardsim_sync(struct lardsim *l, unsigned thread, enum lardsim_kind kind, uint64_t object,
                 uint64_t aux, unsigned flags, uint64_t site)
{
    return push_short(l, thread, kind, flags,
                      (struct lardsim_event){.addr = object, .aux = aux, .site = site});
}

int lardsim_name(struct lardsim *l, enum lardsim_names space, uint64_t id, const char *text)
{
    if (l->err.code)
        return -1;
    if ((unsigned)space >= NAME_SPACES)
        return err_set(&l->err, LARD_USAGE, "lardsim_name: no name space %u", (unsigned)space);
    if (names_add(l->names, (enum name_space)space, id, text, &l->err))
        return -1;
    budget_have(&l->pushed, names_bytes(l->names));
    return 0;
}
