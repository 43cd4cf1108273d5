/* live.c - from what the guest does to lardsim's events.
 *
 * Threads. lardsim numbers threads from 0, densely. gem5 gives each guest thread a pid that no
 * other has while it lives; a context (a core) has one thread after the other. A runtime with
 * threads of its own says by lard_thread which of them a pid runs from now on. So there are three
 * name spaces, and one table from (space, name) to lardsim's number.
 *
 * CPUs. What passes the port of some CPUs is not what the program does: accesses that never happen,
 * or not all that do. Until their accesses are heard where they commit, a run with one only counts.
 */
#include "gem5/live.h"

#include <inttypes.h>
#include <lardsim.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gem5/guest/lard.h"
#include "gem5/map.h"

enum space { SPACE_PID, SPACE_LANGUAGE, SPACE_HANDLE };
enum { SPACE_SHIFT = 60, PAGE = 4096, NAME_MOST = 255, CACHED = 128, TEXT = 512 };
/* The part of its stack that a thread's rsp and rbp can reach: as much as glibc gives a thread, and
 * gem5's getrlimit says. */
enum { STACK_MOST = 8 << 20 };
enum { THREADS_MOST = UINT16_MAX + 1 }; /* as many as lardsim's events can name */

struct thread {
    uint64_t low, top; /* bounds of its stack: as far down as it was used; its beginning */
    uint64_t round;    /* of the barrier at which it waits */
    unsigned runtime;  /* how deep it is in the runtime's code */
    bool waits;        /* at a barrier or for a condition: it does nothing until it has waited */
};
struct core {
    uint64_t instructions, owed, paid; /* so far; cycles that it is still to stand still, and did */
    const struct model *cpu;           /* NULL: nobody has said */
    char model[80];                    /* the CPU as gem5 names it */
};
struct hole { /* from where on the run was not told what happened */
    uint64_t tick, things;
    unsigned core;   /* the first that was not heard */
    struct core was; /* then */
};
struct acting { /* the thread on a context, looked up before */
    uint64_t pid;
    unsigned thread;
    bool known;
};

struct live {
    struct lardsim *sim;
    struct live_host host;
    struct live_config is;
    struct core *core;
    struct thread *thread;
    size_t threads, room;
    struct acting acting[CACHED];
    struct lard_map names, sites, allocated; /* threads; code that has a name; bytes by address */
    struct lard_map rounds, clocks; /* rounds of barriers; entries of clocks that writevc has set */
    bool raw, allocs, finished;     /* clocks are the guest's; it has said an alloc */
    bool collects, in_region;       /* a collection, a region of interest has begun */
    bool counts_only;
    unsigned collector; /* the thread that began the collection */
    struct hole hole;
    struct live_place last;   /* the place of the last event */
    const struct model *said; /* the CPU of the latest sentence */
    char sentence[TEXT];
    const char *error; /* NULL: none; else it is why */
    char why[TEXT];
    void (*hold)(void *arg); /* to be called before the next event */
    void *hold_arg;
};

/* ---- errors --------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static int fail(struct live *l, const char *format, ...)
{
    va_list ap;

    if (l->error)
        return -1;
    va_start(ap, format);
    vsnprintf(l->why, sizeof l->why, format, ap);
    va_end(ap);
    l->error = l->why;
    return -1;
}

static int no_memory(struct live *l)
{
    return fail(l, "no memory");
}

/* Turns lardsim's verdict on a call into the run's error. */
static int check(struct live *l, int result)
{
    return result < 0 ? fail(l, "%s", lardsim_error(l->sim)) : 0;
}

const char *live_error(const struct live *l)
{
    return l->error;
}

/* ---- CPUs ----------------------------------------------------------------------------------- */

struct model {
    const char *name; /* gem5's class */
    const char *why;  /* it can't be heard at its port; NULL: it can */
};

/* CPU models as of gem5 v24.0. The last row is for any other, also a class derived from one of
 * these. */
static const struct model models[] = {
    {"gem5::TimingSimpleCPU", NULL},
    {"gem5::AtomicSimpleCPU", NULL},
    {"gem5::NonCachingSimpleCPU", "may reach memory past its port"},
    {"gem5::MinorCPU", "also asks for what a wrong path loads"},
    {"gem5::o3::CPU", "asks for loads that are squashed, and not for those that a store answers"},
    {"gem5::BaseKvmCPU", "runs on the host's processor, past its port"},
    {"gem5::X86KvmCPU", "runs on the host's processor, past its port"},
    {NULL, "is not known to lardsim, nor what passes its port"},
};

static const struct model *model_named(const char *name)
{
    const struct model *m = models;

    while (m->name && strcmp(m->name, name))
        m++;
    return m;
}

/* The first core that can't be heard; as many as there are: all can. */
static unsigned first_unheard(const struct live *l)
{
    unsigned core = 0;

    while (core < l->is.cores && (!l->core[core].cpu || !l->core[core].cpu->why))
        core++;
    return core;
}

__attribute__((format(printf, 2, 3))) static const char *say(struct live *l, const char *format,
                                                             ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(l->sentence, sizeof l->sentence, format, ap);
    va_end(ap);
    return l->sentence;
}

static const char *falls_silent(struct live *l, uint64_t tick)
{
    const unsigned core = first_unheard(l);
    const struct core *c = &l->core[core];

    if (l->counts_only && l->said == c->cpu)
        return NULL;
    if (!l->counts_only)
        l->hole = (struct hole){.tick = tick, .core = core, .was = *c};
    l->counts_only = true;
    l->said = c->cpu;
    return say(l, "core %u is a %s, which %s: accesses are counted, and nothing is detected", core,
               c->model, c->cpu->why);
}

/* Time has passed, so the program has run. */
static const char *is_heard(struct live *l, uint64_t tick)
{
    if (!l->counts_only || !l->said)
        return NULL;
    l->said = NULL;
    l->counts_only = tick > l->hole.tick || l->hole.things;
    if (!l->counts_only)
        return say(l, "all cores are heard: races are detected");
    return say(l, "all cores are heard again, but what happened while they were not may order what "
                  "comes: accesses are counted on, and nothing is detected any more");
}

uint64_t live_unheard(const struct live *l)
{
    return l->hole.things;
}

/* ---- beginning and end ---------------------------------------------------------------------- */

static void show_line(void *arg, const char *line)
{
    (void)arg;
    fprintf(stderr, "%s\n", line);
}

static void configure(struct live *l, const struct live_config *c)
{
    if (c->preset && *c->preset)
        check(l, lardsim_preset(l->sim, c->preset));
    if (c->file && *c->file)
        check(l, lardsim_load(l->sim, c->file));
    for (size_t i = 0; i < c->settings && !l->error; i++)
        check(l, lardsim_set(l->sim, c->setting[i]));
    /* Settings that gem5 decides come last, so that they hold. */
    check(l, lardsim_set(l->sim, "machine=multicore"));
    check(l, lardsim_set(l->sim, "order=host"));
    check(l, lardsim_set(l->sim, say(l, "cores=%u", c->cores)));
    check(l, lardsim_set(l->sim, say(l, "frequency=%" PRIu64, c->ticks / c->period / 1000000)));
    check(l, lardsim_set(l->sim, c->delays ? "host.delays=on" : "host.delays=off"));
    if (c->output && *c->output)
        check(l, lardsim_output(l->sim, c->output, 1));
    if (c->record && *c->record)
        check(l, lardsim_record(l->sim, c->record, 1));
    for (size_t i = 0; i < c->debugs && !l->error; i++)
        check(l, lardsim_debug(l->sim, c->debug[i], show_line, NULL));
}

struct live *live_new(const struct live_config *c, const struct live_host *host)
{
    struct live *l = calloc(1, sizeof *l);
    struct core *core = calloc(c->cores ? c->cores : 1, sizeof *core);

    if (!l || !core)
        abort();
    *l = (struct live){.sim = lardsim_new(), .host = *host, .is = *c, .core = core};
    if (!c->cores || !c->period || c->ticks / c->period < 1000000)
        fail(l, "a machine has a core at least, and a clock of 1 MHz at least");
    if (!l->error)
        configure(l, c);
    if (!l->error)
        check(l, lardsim_start(l->sim));
    return l;
}

static void settle(struct live *l) /* a held call comes before new ones */
{
    void (*hold)(void *arg) = l->hold;

    l->hold = NULL;
    if (hold)
        hold(l->hold_arg);
}

void live_hold(struct live *l, void (*fn)(void *arg), void *arg)
{
    settle(l);
    l->hold = fn;
    l->hold_arg = arg;
}

void live_free(struct live *l)
{
    if (!l)
        return;
    lardsim_free(l->sim);
    lard_map_free(&l->names);
    lard_map_free(&l->sites);
    lard_map_free(&l->allocated);
    lard_map_free(&l->rounds);
    lard_map_free(&l->clocks);
    free(l->core);
    free(l->thread);
    free(l);
}

/* ---- threads -------------------------------------------------------------------------------- */

static uint64_t key(enum space space, uint64_t name)
{
    return (uint64_t)space << SPACE_SHIFT | name;
}

static int thread_new(struct live *l, uint64_t name, unsigned *to)
{
    if (l->threads == THREADS_MOST)
        return fail(l, "the program has more threads than the %d that a run can have",
                    (int)THREADS_MOST);
    if (l->threads == l->room) {
        const size_t room = l->room ? l->room * 2 : 16;
        struct thread *more = realloc(l->thread, room * sizeof *more);

        if (!more)
            return no_memory(l);
        l->thread = more;
        l->room = room;
    }
    if (!lard_map_put(&l->names, name, l->threads))
        return no_memory(l);
    l->thread[l->threads] = (struct thread){0};
    *to = (unsigned)l->threads++;
    return 0;
}

/* The thread of that name; a new one, if nobody has it yet. */
static int thread_named(struct live *l, enum space space, uint64_t name, unsigned *to)
{
    if (name >> SPACE_SHIFT || (space == SPACE_LANGUAGE && name >= THREADS_MOST))
        return fail(l, "0x%" PRIx64 " is no thread: a number below %d is", name, (int)THREADS_MOST);

    const uint64_t *is = lard_map_find(&l->names, key(space, name));

    if (!is)
        return thread_new(l, key(space, name), to);
    *to = (unsigned)*is;
    return 0;
}

static int actor(struct live *l, const struct live_place *at, unsigned *to)
{
    struct acting *a = &l->acting[(unsigned)at->context % CACHED];

    if (at->core >= l->is.cores)
        return fail(l, "core %u acts, and the machine has %u", at->core, l->is.cores);
    if (!a->known || a->pid != at->pid) {
        if (thread_named(l, SPACE_PID, at->pid, &a->thread))
            return -1;
        a->pid = at->pid;
        a->known = true;
    }

    struct thread *t = &l->thread[a->thread];

    if (!t->top)
        t->low = t->top = (l->host.stack(l->host.arg, at->context) + PAGE - 1) / PAGE * PAGE;
    *to = a->thread;
    return 0;
}

/* Begins a call that tells what the program does. False: it is over with *result, as nothing can be
 * told any more; or it is only counted, as nothing is heard. */
static bool act(struct live *l, const struct live_place *at, unsigned *thread, int *result)
{
    settle(l);
    *result = l->error || l->finished ? -1 : 0;
    if (*result)
        return false;
    l->hole.things += l->counts_only;
    if (!l->counts_only)
        *result = actor(l, at, thread);
    return !l->counts_only && !*result;
}

static void forget(struct live *l, uint64_t pid)
{
    for (size_t i = 0; i < CACHED; i++)
        if (l->acting[i].pid == pid)
            l->acting[i].known = false;
}

/* ---- events --------------------------------------------------------------------------------- */

/* Returns the core and the time of an event. Cycles that the core still owes are added to the time:
 * gem5 stands still for them with its next answer. */
static struct lardsim_at where(struct live *l, const struct live_place *at, uint64_t took)
{
    struct core *c = &l->core[at->core];
    const uint64_t gap =
        at->instructions > c->instructions ? at->instructions - c->instructions : 0;

    c->instructions = at->instructions;
    l->last = *at;
    return (struct lardsim_at){
        .cycle = at->tick / l->is.period + c->owed,
        .took = (uint32_t)(took / l->is.period),
        .gap = gap > 1 ? (uint32_t)(gap - 1) : 0, /* the event's own is none of them */
        .core = at->core,
    };
}

static void note_begin_and_end(struct live *l, const struct lardsim_event *ev)
{
    if (ev->kind == LARDSIM_GC_BEGIN || ev->kind == LARDSIM_GC_END)
        l->collects = ev->kind == LARDSIM_GC_BEGIN;
    if (ev->kind == LARDSIM_ROI_BEGIN || ev->kind == LARDSIM_ROI_END)
        l->in_region = ev->kind == LARDSIM_ROI_BEGIN;
    if (ev->kind == LARDSIM_GC_BEGIN)
        l->collector = ev->thread;
}

static int push(struct live *l, const struct live_place *at, uint64_t took,
                const struct lardsim_event *ev)
{
    const struct lardsim_at when = where(l, at, took);
    uint64_t added = 0;

    if (check(l, lardsim_event_at(l->sim, &when, ev, &added)))
        return -1;
    note_begin_and_end(l, ev);
    if (l->is.delays)
        l->core[at->core].owed += added;
    return 0;
}

/* The first time that a place in the program shows, it gets its name. */
static int site(struct live *l, uint64_t pc)
{
    char text[NAME_MOST + 1];

    if (lard_map_find(&l->sites, pc))
        return 0;
    if (!lard_map_put(&l->sites, pc, 1))
        return no_memory(l);
    return l->host.symbol(l->host.arg, pc, text, sizeof text)
               ? check(l, lardsim_name(l->sim, LARDSIM_NAME_SITE, pc, text))
               : 0;
}

const char *live_cpu(struct live *l, unsigned core, const char *model, uint64_t tick)
{
    if (core >= l->is.cores || !model)
        return NULL;
    settle(l); /* it was made by the CPU before */
    l->core[core].cpu = model_named(model);
    snprintf(l->core[core].model, sizeof l->core[core].model, "%s", model);
    return first_unheard(l) < l->is.cores ? falls_silent(l, tick) : is_heard(l, tick);
}

/* A pause or region that has begun has to end before the run does, so it ends with the last event
 * that was told. The results say that the rest was not told, as "no race" would mislead. */
static void close_hole(struct live *l)
{
    const struct hole *h = &l->hole;
    const struct lardsim_event pause = {.thread = (uint16_t)l->collector, .kind = LARDSIM_GC_END};
    const struct lardsim_event region = {.thread = (uint16_t)l->collector, .kind = LARDSIM_ROI_END};

    if ((l->collects && push(l, &l->last, 0, &pause)) ||
        (l->in_region && push(l, &l->last, 0, &region)))
        return;
    say(l,
        "from tick %" PRIu64 " on nothing was detected: core %u was a %s, which %s; %" PRIu64
        " accesses and operations were only counted",
        h->tick, h->core, h->was.model, h->was.cpu->why, h->things);
    check(l, lardsim_caveat(l->sim, l->sentence));
}

int live_finish(struct live *l)
{
    if (l->finished)
        return l->error ? -1 : 0;
    settle(l);
    l->finished = true;
    if (l->counts_only && !l->error)
        close_hole(l);
    if (l->error) /* not lardsim's own, perhaps: the results are partial */
        lardsim_stop(l->sim, SIGABRT);
    check(l, lardsim_finish(l->sim));
    return l->error ? -1 : 0;
}

int live_access(struct live *l, const struct live_access *a)
{
    unsigned thread;
    int result;

    if (!act(l, &a->at, &thread, &result))
        return result;

    struct thread *t = &l->thread[thread];
    const bool both = (a->is & LIVE_READ) && (a->is & LIVE_WRITE);

    if (t->waits) /* how it waits is the library's, and no event may stand between */
        return 0;

    struct lardsim_event ev = {
        .addr = a->addr,
        .site = a->at.pc,
        .size = a->size,
        .thread = (uint16_t)thread,
        .kind = both                 ? LARDSIM_RMW
                : a->is & LIVE_WRITE ? LARDSIM_WRITE
                                     : LARDSIM_READ,
    };

    if (t->runtime || (l->is.marked && !(a->is & LIVE_MARKED)))
        ev.flags = LARDSIM_SYSTEM;
    if ((a->is & LIVE_ON_STACK) && a->addr < t->top && a->addr + STACK_MOST >= t->top) {
        ev.flags |= LARDSIM_STACK;
        if (a->addr < t->low)
            t->low = a->addr;
    }
    if (both) /* x86's locked operations order everything (a raw runtime's order nothing) */
        ev.flags |= (uint16_t)(LARDSIM_ORDER(l->raw ? 1 : 5) | LARDSIM_C11);
    return !ev.flags && site(l, ev.site) ? -1 : push(l, &a->at, a->took, &ev);
}

static int mapped(struct live *l, const struct live_place *at, const char *what, uint64_t addr,
                  uint64_t bytes)
{
    const uint64_t last = addr + bytes - 1;

    if (!bytes)
        return 0;
    if (last < addr || !l->host.mapped(l->host.arg, at->context, addr) ||
        !l->host.mapped(l->host.arg, at->context, last))
        return fail(l,
                    "the %s at pc 0x%" PRIx64 " names 0x%" PRIx64 ", %" PRIu64
                    " bytes, where the program has no memory",
                    what, at->pc, addr, bytes);
    return 0;
}

/* The barrier's round, where lardsim counts: it goes on with the first arrival after a departure.
 * The value is the round, doubled, and 1 if somebody has departed from it. */
static int barrier(struct live *l, struct lardsim_event *ev, struct thread *t)
{
    const uint64_t *at = lard_map_find(&l->rounds, ev->addr);
    uint64_t now = at ? *at : 0;

    if (ev->kind == LARDSIM_BARRIER_ARRIVE) {
        now += now & 1; /* 2r + 1 becomes 2 (r + 1) */
        t->round = now / 2;
    } else if (t->round == now / 2) {
        now |= 1;
    }
    ev->aux = t->round;
    return lard_map_put(&l->rounds, ev->addr, now) ? 0 : no_memory(l);
}

static uint64_t clock_key(unsigned thread, uint64_t index)
{
    return (uint64_t)thread << 16 | index;
}

/* ReadVC and WriteVC name language threads; the answer is what a vector clock holds in which each
 * thread's own entry begins at 1, and which nobody but WriteVC changes. */
static int raw(struct live *l, struct lardsim_event *ev, uint64_t *answer)
{
    unsigned index;

    if (!l->raw)
        return fail(l, "a readvc or writevc comes without lard_raw() before threads are created");
    if (thread_named(l, SPACE_LANGUAGE, ev->aux, &index))
        return -1;
    ev->aux = index;
    if (ev->kind == LARDSIM_WRITEVC)
        return lard_map_put(&l->clocks, clock_key(ev->thread, index), ev->addr) ? 0 : no_memory(l);

    const uint64_t *is = lard_map_find(&l->clocks, clock_key(ev->thread, index));

    ev->addr = *answer = is ? *is : index == ev->thread;
    return 0;
}

static bool waits(unsigned kind, bool before)
{
    switch (kind) {
    case LARDSIM_BARRIER_ARRIVE:
    case LARDSIM_WAIT_ENTER:
        return true;
    case LARDSIM_BARRIER_DEPART:
    case LARDSIM_WAIT_EXIT:
        return false;
    default:
        return before;
    }
}

/* Completes the operands of an operation that is an event. */
static int complete(struct live *l, const struct live_place *at, struct lardsim_event *ev,
                    uint64_t *answer)
{
    unsigned other;

    switch (ev->kind) {
    case LARDSIM_FORK:
    case LARDSIM_JOIN:
        if (thread_named(l, SPACE_LANGUAGE, ev->aux, &other))
            return -1;
        ev->aux = other;
        return 0;
    case LARDSIM_BARRIER_ARRIVE:
    case LARDSIM_BARRIER_DEPART:
        return ev->aux == LARD_ROUND_ANY ? barrier(l, ev, &l->thread[ev->thread]) : 0;
    case LARDSIM_ALLOC:
        l->allocs = true;
        if (mapped(l, at, "alloc", ev->addr, ev->aux))
            return -1;
        return lard_map_put(&l->allocated, ev->addr, ev->aux) ? 0 : no_memory(l);
    case LARDSIM_CLEAR:
        lard_map_remove(&l->allocated, ev->addr);
        return mapped(l, at, "clear", ev->addr, ev->aux);
    case LARDSIM_COPY:
        return mapped(l, at, "copy", ev->addr, ev->aux) || mapped(l, at, "copy", ev->addr2, ev->aux)
                   ? -1
                   : 0;
    case LARDSIM_THREAD: /* from now on this pid runs that thread */
        if (thread_named(l, SPACE_LANGUAGE, ev->aux, &other))
            return -1;
        l->thread[other].top = l->thread[ev->thread].top;
        l->thread[other].low = l->thread[ev->thread].low;
        ev->thread = (uint16_t)other;
        ev->aux = at->pid;
        forget(l, at->pid);
        return lard_map_put(&l->names, key(SPACE_PID, at->pid), other) ? 0 : no_memory(l);
    case LARDSIM_READVC:
    case LARDSIM_WRITEVC:
        return raw(l, ev, answer);
    default:
        return 0;
    }
}

static int event_op(struct live *l, const struct live_place *at, unsigned thread,
                    const uint64_t arg[6], uint64_t *answer)
{
    struct lardsim_event ev = {
        .addr = arg[1],
        .aux = arg[2],
        .addr2 = arg[3],
        .size = (uint32_t)arg[4],
        .site = arg[5] ? arg[5] : at->pc,
        .thread = (uint16_t)thread,
        .flags = (uint16_t)(arg[0] >> 16),
        .kind = (uint8_t)arg[0],
    };

    if (ev.flags & ~(LARDSIM_SYSTEM | LARDSIM_ARRAY | LARDSIM_NURSERY))
        return fail(l, "the operation at pc 0x%" PRIx64 " has flags 0x%x, which none has", at->pc,
                    ev.flags);
    if (ev.kind >= LARDSIM_ALLOC && ev.kind <= LARDSIM_COPY && !ev.aux)
        return 0; /* no bytes: legal, and nothing */
    if (l->thread[thread].runtime)
        ev.flags |= LARDSIM_SYSTEM;
    l->thread[thread].waits = waits(ev.kind, l->thread[thread].waits);
    return complete(l, at, &ev, answer) || site(l, ev.site) || push(l, at, 0, &ev) ? -1 : 0;
}

/* An event that no operation of the guest is. A raw runtime orders threads by clocks alone. */
static int own_event(struct live *l, const struct live_place *at, unsigned thread,
                     enum lardsim_kind kind, uint64_t addr, uint64_t aux)
{
    const bool orders = kind == LARDSIM_FORK || kind == LARDSIM_THREAD_END;
    const struct lardsim_event ev = {.addr = addr,
                                     .aux = aux,
                                     .site = at->pc,
                                     .thread = (uint16_t)thread,
                                     .flags = orders && l->raw ? LARDSIM_SYSTEM : 0,
                                     .kind = (uint8_t)kind};

    return push(l, at, 0, &ev);
}

static int name_op(struct live *l, const struct live_place *at, const uint64_t arg[6])
{
    char text[NAME_MOST + 1];

    if (arg[3] > NAME_MOST)
        return fail(l, "the name at pc 0x%" PRIx64 " has %" PRIu64 " bytes; a name has %d at most",
                    at->pc, arg[3], (int)NAME_MOST);
    if (!l->host.read(l->host.arg, at->context, arg[2], text, arg[3]))
        return mapped(l, at, "name", arg[2], arg[3]) ? -1 : fail(l, "a name can't be read");
    text[arg[3]] = 0;
    return check(l, lardsim_name(l->sim, LARDSIM_NAME_OBJECT, arg[1], text));
}

static int free_op(struct live *l, const struct live_place *at, unsigned thread, uint64_t addr)
{
    const uint64_t *bytes = lard_map_find(&l->allocated, addr);

    if (!bytes) /* allocated by what says nothing */
        return 0;

    const uint64_t n = *bytes;

    lard_map_remove(&l->allocated, addr);
    return own_event(l, at, thread, LARDSIM_CLEAR, addr, n);
}

static int self_op(struct live *l, unsigned thread, uint64_t handle)
{
    struct thread *t = &l->thread[thread];

    if (handle >> SPACE_SHIFT)
        return fail(l, "0x%" PRIx64 " is no handle of a thread", handle);
    if (handle >= t->top && handle - t->top < STACK_MOST)
        t->top = handle; /* a pthread's control block lies just above its stack */
    return lard_map_put(&l->names, key(SPACE_HANDLE, handle), thread) ? 0 : no_memory(l);
}

static int join_op(struct live *l, const struct live_place *at, unsigned thread, uint64_t handle)
{
    const uint64_t *is =
        handle >> SPACE_SHIFT ? NULL : lard_map_find(&l->names, key(SPACE_HANDLE, handle));

    if (!is)
        return fail(l,
                    "the join at pc 0x%" PRIx64 " names 0x%" PRIx64
                    ", and no thread has said that it is that one",
                    at->pc, handle);
    return own_event(l, at, thread, LARDSIM_JOIN, 0, *is);
}

static int runtime_op(struct live *l, const struct live_place *at, struct thread *t, bool begins)
{
    if (!begins && !t->runtime)
        return fail(l, "the runtime's code ends at pc 0x%" PRIx64 " and did not begin", at->pc);
    t->runtime += begins ? 1 : -1u;
    return 0;
}

static int raw_op(struct live *l, const struct live_place *at)
{
    if (l->threads > 1)
        return fail(l, "lard_raw() at pc 0x%" PRIx64 " comes after threads were created", at->pc);
    l->raw = true;
    return 0;
}

int live_op(struct live *l, const struct live_place *at, const uint64_t arg[6], uint64_t *answer)
{
    const unsigned op = arg[0] & 0xffff;
    unsigned thread;
    int result;

    if (!act(l, at, &thread, &result))
        return result;
    if (arg[0] >> 32 != LARD_MAGIC)
        return fail(l,
                    "the pseudo-op 0x70 at pc 0x%" PRIx64 " has 0x%" PRIx64
                    " in rdi, which no call of lard.h puts there",
                    at->pc, arg[0]);
    switch (op) {
    case LARD_OP_RUNTIME:
        return runtime_op(l, at, &l->thread[thread], arg[1] != 0);
    case LARD_OP_RAW:
        return raw_op(l, at);
    case LARD_OP_CREATE: /* gem5 sees these itself: live_clone, live_exit */
    case LARD_OP_LAST:
        return 0;
    case LARD_OP_SELF:
        return self_op(l, thread, arg[1]);
    case LARD_OP_JOIN_HANDLE:
        return join_op(l, at, thread, arg[1]);
    case LARD_OP_FREE:
        return free_op(l, at, thread, arg[1]);
    case LARD_OP_NAME:
        return name_op(l, at, arg);
    default:
        if (op >= LARD_OP_ACQUIRE && op <= LARD_OP_ROI_END)
            return event_op(l, at, thread, arg, answer);
        return fail(l,
                    "the operation at pc 0x%" PRIx64
                    " has the number %u, which this lardsim does not know; was the program "
                    "compiled with its gem5/guest/lard.h?",
                    at->pc, op);
    }
}

/* ---- what the system does ------------------------------------------------------------------- */

int live_begin(struct live *l, const struct live_place *at)
{
    unsigned thread;

    if (l->error || l->finished || actor(l, at, &thread) ||
        check(l, lardsim_name(l->sim, LARDSIM_NAME_PHASE, 1, "program")))
        return -1;
    return own_event(l, at, thread, LARDSIM_PHASE, 0, 1);
}

/* The child begins where its parent is: in the runtime's code, if it was made there. */
int live_clone(struct live *l, const struct live_place *at, uint64_t child)
{
    unsigned parent, other;
    int result;

    if (!act(l, at, &parent, &result))
        return result;
    if (thread_named(l, SPACE_PID, child, &other))
        return -1;
    l->thread[other].runtime = l->thread[parent].runtime;
    return own_event(l, at, parent, LARDSIM_FORK, 0, other);
}

/* A stack dies with its thread; the next thread may get its memory. */
static int stack_ends(struct live *l, const struct live_place *at, unsigned thread)
{
    const struct thread *t = &l->thread[thread];
    const uint64_t low = t->low & ~(uint64_t)15, bytes = (t->top & ~(uint64_t)15) - low;

    if (t->low >= t->top || !bytes)
        return 0;
    /* Only what was allocated is cleared, where allocations are told. */
    return (l->allocs && own_event(l, at, thread, LARDSIM_ALLOC, low, bytes)) ||
                   own_event(l, at, thread, LARDSIM_CLEAR, low, bytes)
               ? -1
               : 0;
}

int live_exit(struct live *l, const struct live_place *at)
{
    unsigned thread;
    int result;

    if (!act(l, at, &thread, &result))
        return result;
    if (stack_ends(l, at, thread) || own_event(l, at, thread, LARDSIM_THREAD_END, 0, 0))
        return -1;
    forget(l, at->pid);
    lard_map_remove(&l->names, key(SPACE_PID, at->pid)); /* the pid's next thread is another one */
    return 0;
}

int live_roi(struct live *l, const struct live_place *at, bool begin)
{
    unsigned thread;
    int result;

    if (!act(l, at, &thread, &result))
        return result;
    return own_event(l, at, thread, begin ? LARDSIM_ROI_BEGIN : LARDSIM_ROI_END, 0, 0);
}

int live_reset(struct live *l)
{
    settle(l);
    return l->error || l->finished ? -1 : check(l, lardsim_reset(l->sim));
}

int live_name(struct live *l, uint64_t addr, const char *name)
{
    return l->error || l->finished
               ? -1
               : check(l, lardsim_name(l->sim, LARDSIM_NAME_OBJECT, addr, name));
}

/* ---- time and statistics -------------------------------------------------------------------- */

uint64_t live_owed(struct live *l, unsigned core)
{
    struct core *c = &l->core[core];
    const uint64_t cycles = c->owed;

    if (l->counts_only)
        return 0;
    c->paid += cycles;
    c->owed = 0;
    return cycles * l->is.period;
}

int live_stat(const struct live *l, const char *name, uint64_t *value)
{
    return lardsim_stat(l->sim, name, value);
}

const char *live_policy(const struct live *l, size_t i)
{
    return lardsim_policy(l->sim, i);
}

uint64_t live_events(const struct live *l)
{
    return lardsim_events(l->sim);
}

uint64_t live_added(const struct live *l, unsigned core)
{
    uint64_t added = 0;

    return lardsim_cycles(l->sim, core, NULL, &added) ? 0 : added;
}

uint64_t live_unpaid(const struct live *l, unsigned core)
{
    return l->core[core].owed;
}

uint64_t live_paid(const struct live *l, unsigned core)
{
    return l->core[core].paid;
}
