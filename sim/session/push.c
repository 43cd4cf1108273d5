/* push.c - events from the host of the library: from the public form to the records that all of
 * the program has. */
#include "sim/session/session.h"

/* The public numbers are the events' own. */
#define EV(NAME, code, ...)                                                                        \
    _Static_assert((int)EV_##NAME == (int)LARDSIM_##NAME, "lardsim.h and event.def differ");
#include "trace/event.def"
#undef EV
#define SAME(flag) ((int)LARDSIM_##flag == (int)EVF_##flag)
_Static_assert(SAME(SYSTEM) && SAME(STACK) && SAME(VOLATILE) && SAME(ARRAY) && SAME(FINAL) &&
                   SAME(IN_TXN) && SAME(NURSERY) && SAME(DEPENDENT) && SAME(STATIC) && SAME(SAFE) &&
                   SAME(C11) && LARDSIM_ORDER(1) == 1 << EVF_ORDER_SHIFT,
               "lardsim.h and trace.h differ");
#undef SAME
_Static_assert(EVF_SYSTEM == 1, "it counts in run_stats.system");
#define SAME(name) ((int)LARDSIM_##name == (int)name)
_Static_assert(SAME(LEVEL_NONE) && SAME(LEVEL_L1) && SAME(LEVEL_L2) && SAME(LEVEL_L3) &&
                   SAME(LEVEL_REMOTE) && SAME(LEVEL_MEMORY) && SAME(LINE_FILL) &&
                   SAME(LINE_TRANSFER) && SAME(LINE_DOWNGRADE) && SAME(LINE_INVALIDATE) &&
                   SAME(LINE_EVICT),
               "lardsim.h and coherence.h differ");
#undef SAME

static bool is_access(const struct lardsim_event *ev)
{
    return ev->kind < EV_KINDS && ev_info[ev->kind].class == CLASS_ACCESS;
}

/* An event has a second record only if it needs one, as in a trace. */
void sim_record(const struct lardsim_event *ev, struct event rec[static EVENT_RECORDS])
{
    const bool access = is_access(ev);

    rec[0] = (struct event){.addr = ev->addr,
                            .aux = access ? ev->site : ev->aux,
                            .size = access ? ev->size : 0,
                            .gap = ev->gap,
                            .tid = ev->thread,
                            .flags = ev->flags,
                            .kind = ev->kind};
    rec[1] = (struct event){0};
    if (!access && (event_has_second(ev->kind) || ev->site || ev->addr2 || ev->size)) {
        rec[0].flags |= EVF_MORE;
        rec[1] = (struct event){.addr = ev->addr2, .aux = ev->site, .size = ev->size};
    }
}

static int push(struct lardsim *l, const struct host_at *at, const struct lardsim_event *ev)
{
    struct event rec[EVENT_RECORDS];

    /* The record of the library's own: a caller can't say how many records follow. */
    if (ev->flags & EVF_MORE)
        return err_set(&l->err, LARD_TRACE, "event %llu: no flag 0x%x",
                       (unsigned long long)l->number, EVF_MORE);
    if (is_access(ev) && (ev->aux || ev->addr2))
        return err_set(&l->err, LARD_TRACE,
                       "event %llu: an access has no aux and no second address",
                       (unsigned long long)l->number);
    sim_record(ev, rec);
    if (at)
        rec[0].gap = at->gap;
    return session_push(l, at, rec);
}

int lardsim_event(struct lardsim *l, const struct lardsim_event *ev)
{
    return push(l, NULL, ev);
}

int lardsim_event_at(struct lardsim *l, const struct lardsim_at *at, const struct lardsim_event *ev,
                     uint64_t *added)
{
    const struct host_at here = {
        .cycle = at->cycle, .took = at->took, .gap = at->gap, .core = at->core, .level = at->level};
    const int bad = push(l, &here, ev);

    if (added)
        *added = bad ? 0 : host_added(scheduler_host_order(l->scheduler));
    return bad;
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

/* The short forms take wider types than an event has. *added is 0 where they are too wide. */
static int narrow(struct lardsim *l, unsigned thread, unsigned kind, unsigned flags,
                  struct lardsim_event *ev, uint64_t *added)
{
    if (added)
        *added = 0;
    if (thread >= MAX_THREADS)
        return err_set(
            &l->err, LARD_TRACE,
            "event %llu: thread %u: threads are numbered below %d; number them from 0 in "
            "the order in which they begin",
            (unsigned long long)l->number, thread, MAX_THREADS);
    if (kind > UINT8_MAX || flags > UINT16_MAX)
        return err_set(&l->err, LARD_TRACE, "kind %u with flags 0x%x: there is no such event", kind,
                       flags);
    ev->thread = (uint16_t)thread;
    ev->kind = (uint8_t)kind;
    ev->flags = (uint16_t)flags;
    return 0;
}

int lardsim_access(struct lardsim *l, unsigned thread, enum lardsim_kind kind, uint64_t addr,
                   uint32_t size, unsigned flags, uint64_t site)
{
    struct lardsim_event ev = {.addr = addr, .size = size, .site = site};

    return narrow(l, thread, kind, flags, &ev, NULL) ? -1 : lardsim_event(l, &ev);
}

int lardsim_sync(struct lardsim *l, unsigned thread, enum lardsim_kind kind, uint64_t object,
                 uint64_t aux, unsigned flags, uint64_t site)
{
    struct lardsim_event ev = {.addr = object, .aux = aux, .site = site};

    return narrow(l, thread, kind, flags, &ev, NULL) ? -1 : lardsim_event(l, &ev);
}

int lardsim_access_at(struct lardsim *l, const struct lardsim_at *at, unsigned thread,
                      enum lardsim_kind kind, uint64_t addr, uint32_t size, unsigned flags,
                      uint64_t site, uint64_t *added)
{
    struct lardsim_event ev = {.addr = addr, .size = size, .site = site};

    return narrow(l, thread, kind, flags, &ev, added) ? -1 : lardsim_event_at(l, at, &ev, added);
}

int lardsim_sync_at(struct lardsim *l, const struct lardsim_at *at, unsigned thread,
                    enum lardsim_kind kind, uint64_t object, uint64_t aux, unsigned flags,
                    uint64_t site, uint64_t *added)
{
    struct lardsim_event ev = {.addr = object, .aux = aux, .site = site};

    return narrow(l, thread, kind, flags, &ev, added) ? -1 : lardsim_event_at(l, at, &ev, added);
}

int lardsim_cycles(const struct lardsim *l, unsigned core, uint64_t *clock, uint64_t *added)
{
    const struct machine *m = l->machine;

    if (!m || core >= m->params.cores)
        return -1;
    if (clock)
        *clock = m->core[core].clock;
    if (added)
        *added = m->core[core].spent[(size_t)SPENT_HANDLER * MAX_CORES] +
                 m->core[core].spent[(size_t)SPENT_STOPPED * MAX_CORES];
    return 0;
}

/* Checks the line event that the host tells; the error names the member that is out of its range.
 */
static bool line_good(struct lardsim *l, const struct lardsim_line_event *line)
{
    const uint64_t cores = l->machine->params.cores;
    const struct {
        const char *what;
        uint64_t is, from, below;
    } rules[] = {{"what", line->what, 0, LARDSIM_LINE_RECALL + 1},
                 {"level", line->level, LARDSIM_LEVEL_L1, LARDSIM_LEVEL_L3 + 1},
                 {"core", line->core, 0, cores},
                 {"from", line->from, 0, cores},
                 {"by", line->by, 0, cores}};

    for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
        if (rules[i].is < rules[i].from || rules[i].is >= rules[i].below) {
            err_set(&l->err, LARD_TRACE,
                    "lardsim_line, before event %llu: %s is %llu, and may be %llu to %llu",
                    (unsigned long long)l->number, rules[i].what, (unsigned long long)rules[i].is,
                    (unsigned long long)rules[i].from, (unsigned long long)rules[i].below - 1);
            return false;
        }
    return true;
}

int lardsim_line(struct lardsim *l, const struct lardsim_line_event *line)
{
    const bool recalled = line->what == LARDSIM_LINE_RECALL;

    if (session_pushes(l, "lardsim_line"))
        return -1;
    if (!l->machine || !l->machine->outside)
        return err_set(&l->err, LARD_USAGE,
                       "lardsim_line: the caches are not the host's; set order=host and "
                       "caches=host");
    if (!line_good(l, line))
        return -1;
    const struct line_event is = {
        .addr = paddr_of(line->addr),
        .what = (uint8_t)(recalled ? LINE_INVALIDATE : line->what),
        .level = (uint8_t)line->level,
        .core = (uint8_t)line->core,
        .from = (uint8_t)line->from,
        .by = (uint8_t)line->by,
        .dirty = line->dirty != 0,
        .recalled = recalled,
    };
    outside_line(l->machine->outside, &is, l->lines.hears);
    if (!l->running) /* else the event in hand comes to it */
        run_tell_lines(l, is.by);
    return 0;
}

void lardsim_on_metadata(struct lardsim *l,
                         void (*fn)(void *arg, const struct lardsim_metadata *what,
                                    struct lardsim_answer *answer),
                         void *arg)
{
    l->on.metadata = fn;
    l->on.metadata_arg = arg;
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
