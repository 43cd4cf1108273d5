/* watched.c - a run as one sees it: what the scheduler, the machine, the caches and the checkers
 * tell becomes lines (docs/debugging.md). A run that nobody watches has none of this: its loop is
 * compiled without (run.c), and the others tell it by functions that stand in the place of others.
 *
 * A line says for which event it is. In program order an event has its number when its own access
 * is done: its lines wait for that. */
#include "sim/session/session.h"

#include "sim/watch/watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct watched {
    struct lardsim *run;
    struct watch_lines *lines;
    struct machine_sights sights;
    struct map page_of;                      /* frame to virtual page + 1 */
    uint64_t pages;                          /* that it has */
    const struct checker *policy[MAX_CORES]; /* by core: the latest that has worked on it */
    struct numbered {                        /* by core, in program order: */
        bool any;
        uint64_t made, number; /* the event that was made as this one has this number */
    } numbered[MAX_CORES];
};

int lardsim_debug(struct lardsim *l, const char *filter, void (*fn)(void *arg, const char *line),
                  void *arg)
{
    if (l->err.code)
        return -1;
    if (l->state != STATE_NEW)
        return err_set(&l->err, LARD_USAGE, "lardsim_debug: only before lardsim_start");
    if (!l->watched) {
        l->watched = xcalloc(1, sizeof *l->watched);
        l->watched->run = l;
        l->watched->lines = watch_new(fn, arg);
        map_init(&l->watched->page_of, NULL);
    }
    return watch_filter(l->watched->lines, filter, &l->err);
}

void watched_free(struct lardsim *l)
{
    if (!l->watched)
        return;
    watch_free(l->watched->lines);
    map_free(&l->watched->page_of);
    free(l->watched);
    l->watched = NULL;
}

/* ---- where the run is ------------------------------------------------------------------------ */

/* The policy that works on the core. Of several that may, it is known in a run that is watched. */
static const struct checker *policy_on(const struct lardsim *l, int core)
{
    const struct checker *only = NULL;

    if (l->machine && (core < 0 || !l->pays || !l->machine->core[core].serves))
        return NULL;
    if (l->watched)
        return l->watched->policy[l->machine ? core : 0];
    for (size_t i = 0; i < l->checkers; i++)
        if (!l->machine || checker_pays(l->checker[i])) {
            if (only)
                return NULL;
            only = l->checker[i];
        }
    return only;
}

/* Finds the event that runs on the core, or, with -1, that of the core which has the turn. */
static const struct event *find(const struct lardsim *l, int core, struct whereabouts *to,
                                bool *later)
{
    *to = WHERE_UNKNOWN;
    *later = false;
    if (!l->scheduler)
        return NULL;
    const struct event *ev = scheduler_where(l->scheduler, core, to);
    const struct checker *policy = policy_on(l, to->core);
    to->policy = policy ? checker_label(policy) : NULL;
    if (l->program && ev) {
        const struct numbered *n = l->watched ? &l->watched->numbered[to->core] : NULL;
        const bool known = n && n->any && n->made == to->event;
        *later = !known;
        to->event = known ? n->number : NOT_KNOWN;
    }
    return ev;
}

/* In program order the number of what a policy works for is the one in hand. */
void context_tell(const void *session, struct whereabouts *to)
{
    const struct lardsim *l = session;
    bool later;

    find(l, -1, to, &later);
    if (later && to->core >= 0 && l->machine->core[to->core].serves)
        to->event = l->number;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* Pages are placed while the run goes on. */
static void know_pages(struct watched *w, const struct pages *p)
{
    uint64_t page, *frame;
    size_t at = 0;

    while (map_next(&p->frame, &at, &page, &frame))
        *map_put(&w->page_of, *frame - 1) = page + 1;
    w->pages = p->touched;
}

/* The program's address of a physical one. False: no page of it lies there. */
static bool virtual_of(struct watched *w, struct paddr physical, struct vaddr *to)
{
    const struct pages *p = &w->run->machine->pages;

    *to = vaddr_of(physical.at);
    if (p->params.mapping == PAGES_IDENTITY)
        return true;
    const uint64_t frame = physical.at >> p->shift, *page = map_find(&w->page_of, frame);
    if (!page && w->pages != p->touched) {
        know_pages(w, p);
        page = map_find(&w->page_of, frame);
    }
    if (!page)
        return false;
    *to = vaddr_of((*page - 1) << p->shift | (physical.at & p->offset));
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static PRINTF_LIKE(2, 3) void add(struct watch_line *line, const char *fmt, ...)
{
    const size_t used = strnlen(line->text, sizeof line->text);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line->text + used, sizeof line->text - used, fmt, ap);
    va_end(ap);
}

/* Places the line at the bytes that its event is about. */
static void place_event(struct watch_line *line, const struct event *ev)
{
    line->placed = ev && (event_is_access(ev) || ev_info[ev->kind].form == FORM_OBJECT);
    if (!line->placed)
        return;
    line->addr = ev->addr;
    line->bytes = event_is_access(ev) ? ev->size : 1;
}

/* A line about what runs on the core, or has the turn, placed at the bytes of that event. */
static struct watch_line begin(const struct watched *w, int core, const char *what)
{
    struct watch_line line = {.what = what};

    place_event(&line, find(w->run, core, &line.at, &line.numbered_later));
    return line;
}

/* Adds the place of these bytes of physical memory to the line; key: "line", or "address". */
static void place(struct watched *w, struct watch_line *line, enum mem_traffic traffic,
                  const char *key, struct paddr physical, uint64_t bytes)
{
    struct vaddr at;

    line->placed = true;
    line->bytes = bytes;
    if (traffic == TRAFFIC_DATA && virtual_of(w, physical, &at)) {
        line->addr = at.at;
        add(line, " %s=0x%" PRIx64 " physical=0x%" PRIx64, key, at.at, physical.at);
        return;
    }
    line->addr = physical.at;
    add(line, " metadata=0x%" PRIx64, physical.at);
}

/* ---- what the machine tells ------------------------------------------------------------------ */

static const char *const what_text[LINE_WHATS] = {"fill", "transfer", "downgrade", "invalidate",
                                                  "evict"};

static void see_message(struct watched *w, const struct coh_sight *s)
{
    struct watch_line line = begin(w, -1, "message");

    line.at.cycle = s->at;
    add(&line, "%s bytes=%u from=%u to=%u arrives=%" PRIu64, s->class, s->bytes, s->from, s->to,
        s->there);
    place(w, &line, (enum mem_traffic)s->traffic, "line", s->line, w->run->machine->params.line);
    watch_say(w->lines, &line);
}

static void see_line(struct watched *w, const struct coh_sight *s)
{
    struct watch_line line = begin(w, -1, "line");

    line.at.cycle = s->at;
    add(&line, "%s %s", what_text[s->what], mem_level_text[s->level]);
    if (s->level == LEVEL_L3)
        add(&line, " node=%u", s->from);
    else
        add(&line, " cache=%u", s->core);
    if (s->was)
        add(&line, " %c->%c", s->was, s->is);
    else
        add(&line, " from=%u", s->from);
    if (s->why)
        add(&line, " for=%s", s->why);
    place(w, &line, (enum mem_traffic)s->traffic, "line", s->line, w->run->machine->params.line);
    if (s->why && !paddr_same(s->cause, s->line))
        add(&line, " by=0x%" PRIx64, s->cause.at);
    watch_say(w->lines, &line);
}

static void see(void *watched, const struct coh_sight *s)
{
    if (s->message)
        see_message(watched, s);
    else
        see_line(watched, s);
}

static void see_state(struct watched *w, unsigned core, const struct seen_access *a, unsigned i)
{
    struct watch_line line = begin(w, -1, "line");

    line.at.cycle = a->from;
    add(&line, "store %s cache=%u %c->%c", i ? "l2" : "l1", core, a->was[i], a->has[i]);
    place(w, &line, a->traffic, "line", paddr_down(a->at, w->run->machine->params.line),
          w->run->machine->params.line);
    watch_say(w->lines, &line);
}

/* A line that comes, goes or is shared is told by coherence; what is left is the permission that a
 * store takes in silence, or was given for a line in S. */
static void see_access(void *watched, unsigned core, const struct seen_access *a)
{
    static const char *const cmd[] = {
        [MEM_LOAD] = "load", [MEM_STORE] = "store", [MEM_ATOMIC] = "atomic"};
    struct watched *w = watched;
    const bool silent = a->is.level <= LEVEL_L2 || a->is.upgraded;

    for (unsigned i = 0; i < ARRAY_SIZE(a->was); i++)
        if (silent && a->has[i] == 'M' && (a->was[i] == 'E' || a->was[i] == 'S'))
            see_state(w, core, a, i);
    struct watch_line line = begin(w, -1, "access");
    line.at.cycle = a->from;
    add(&line, "%s bytes=%u level=%s done=%" PRIu64, cmd[a->cmd], a->bytes,
        mem_level_text[a->is.level], a->is.done);
    if (a->traffic == TRAFFIC_METADATA && line.at.policy)
        add(&line, " policy=%s", line.at.policy);
    place(w, &line, a->traffic, "address", a->at, a->bytes);
    watch_say(w->lines, &line);
}

static void see_spent(void *watched, unsigned core, enum spent what, sim_cycle from,
                      uint64_t cycles)
{
    struct watch_line line = begin(watched, (int)core, "charge");

    line.at.cycle = from;
    add(&line, "%s cycles=%" PRIu64 " clock=%" PRIu64, spent_text[what], cycles, from + cycles);
    watch_say(((struct watched *)watched)->lines, &line);
}

static void see_sleep(void *watched, const char *until_what, sim_cycle until)
{
    struct watch_line line = begin(watched, -1, "sleep");

    add(&line, "for=%s", until_what);
    if (until != CYCLE_NEVER)
        add(&line, " until=%" PRIu64, until);
    watch_say(((struct watched *)watched)->lines, &line);
}

static void see_wake(void *watched, sim_cycle at)
{
    struct watch_line line = begin(watched, -1, "wake");

    line.at.cycle = at;
    watch_say(((struct watched *)watched)->lines, &line);
}

static void see_wait(void *watched, unsigned core, enum wait_reason why, sim_tid by, uint64_t event)
{
    const struct watched *w = watched;
    struct watch_line line = begin(w, (int)core, "sleep");

    add(&line, "for=%s thread=%u", wait_reason_text[why], by);
    if (!w->run->program)
        add(&line, " after=%" PRIu64, event);
    watch_say(w->lines, &line);
}

struct machine_sights *watched_sights(struct lardsim *l)
{
    struct watched *w = l->watched;

    if (!w)
        return NULL;
    w->sights = (struct machine_sights){.self = w,
                                        .access = see_access,
                                        .spent = see_spent,
                                        .sleeps = see_sleep,
                                        .wakes = see_wake,
                                        .waits = see_wait};
    return &w->sights;
}

void watched_begin(struct lardsim *l)
{
    if (!l->watched || !l->machine)
        return;
    watch_machine(l->watched->lines, (unsigned)l->machine->params.line,
                  (unsigned)l->machine->params.cores);
    coherence_watch(l->machine->coherence, see, l->watched);
    machine_watch(l->machine);
}

void watched_end(struct lardsim *l)
{
    if (l->watched)
        watch_finish(l->watched->lines);
}

/* ---- what the run tells ---------------------------------------------------------------------- */

void watched_turn(struct lardsim *l, const struct turn *t)
{
    struct watched *w = l->watched;
    const struct event *ev = t->ev;
    struct watch_line line = begin(w, l->machine ? (int)t->core : -1, "turn");

    if (l->machine) {
        line.at.cycle = l->machine->core[t->core].clock;
    } else {
        line.at.event = t->number;
        line.at.thread = ev->tid;
    }
    add(&line, "%s", ev_info[ev->kind].text);
    place_event(&line, ev);
    if (event_is_access(ev))
        add(&line, " bytes=%u", (unsigned)ev->size);
    if (line.placed)
        add(&line, " address=0x%" PRIx64, ev->addr);
    if (line.placed && l->machine)
        add(&line, " physical=0x%" PRIx64, pages_physical(&l->machine->pages, event_at(ev)).at);
    watch_say(w->lines, &line);
}

void watched_number(struct lardsim *l, const struct turn *t)
{
    struct watched *w = l->watched;
    struct whereabouts made = WHERE_UNKNOWN;

    if (!l->program || !scheduler_where(l->scheduler, (int)t->core, &made))
        return;
    w->numbered[t->core] = (struct numbered){true, made.event, t->number};
    watch_number(w->lines, (int)t->core, t->number);
}

void watched_policy(struct lardsim *l, unsigned core, const struct checker *c)
{
    l->watched->policy[core] = c;
}

void watched_check(struct lardsim *l, struct checker *c, uint64_t number, const struct event *ev,
                   unsigned core, sim_cycle now)
{
    static const char *const did[CHECKER_DIDS] = {[DID_CHECK] = "checked",
                                                  [DID_LEAVE] = "not-in-view",
                                                  [DID_SPARE] = "filtered",
                                                  [DID_PASS] = "had-raced",
                                                  [DID_DEFER] = "until-commit"};
    struct watch_line line = begin(l->watched, l->machine ? (int)core : -1, "check");
    const enum checker_did said = checker_did(c, core);

    line.at.event = number;
    line.at.thread = ev->tid;
    if (l->machine)
        line.at.cycle = now;
    line.numbered_later = false;
    add(&line, "policy=%s %s %s", checker_label(c), ev_info[ev->kind].text,
        event_is_access(ev) ? did[said] : "heard");
    place_event(&line, ev);
    if (line.placed)
        add(&line, " address=0x%" PRIx64, ev->addr);
    watch_say(l->watched->lines, &line);
}

void watched_race(struct lardsim *l, const struct race *race)
{
    if (!l->watched)
        return;
    struct watch_line line = begin(l->watched, -1, "race");

    line.at.event = race->is.event;
    line.at.thread = race->is.thread;
    line.numbered_later = false;
    line.placed = true;
    line.addr = race->addr;
    line.bytes = race->size;
    add(&line, "policy=%s", race->policy);
    if (race->earlier.known)
        add(&line, " with=%" PRIu64 " thread=%u", race->earlier.event,
            (unsigned)race->earlier.thread);
    add(&line, " address=0x%" PRIx64, race->addr);
    watch_say(l->watched->lines, &line);
}
