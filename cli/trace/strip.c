/* strip.c - a trace without the memory that no access and no synchronisation of it ever touches: a
 * capture has all objects of a virtual machine, and accesses of the program alone. A life of memory
 * begins with an allocation, and with a copy of what nobody allocated. One that is never touched
 * has no history and no lock, so nothing that remains is judged otherwise: not where clears and
 * copies are heeded, nor where neither is. A view that heeds one of them alone keeps histories
 * where something else is by then.
 *
 * The trace is read twice: whether a life is used is known at its end. Lives that a copy moves
 * together, as parts of one region, are used together: a copy is kept or left out as a whole. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/stop.h"
#include "cli/trace/trace.h"

enum { WORD = 8 }; /* the coarsest granule */
enum { USED = 0 }; /* the life that is used; those of the trace have numbers from 1 */

struct counted {
    uint64_t had, kept;
};
struct strip {
    const struct cli *cli;
    struct source *from;
    struct interval *lives;   /* owns; which life is where */
    struct interval *touched; /* owns; words that have a history or a lock */
    uint32_t *with;           /* owns; by life: an earlier one that is used if it is, or itself */
    size_t known, cap;        /* of with */
    uint32_t life;            /* the latest */
    uint32_t *owed;           /* owns; by thread: the work before events that were left out */
    size_t threads;
    struct out out;
    struct budget all;
    struct progress progress;
    struct counted allocs, clears, copies;
};

/* ---- lives ---------------------------------------------------------------------------------- */

/* The last number is of all lives that find no other, and so is used. */
static uint32_t begin_life(struct strip *s)
{
    s->life += s->life < UINT32_MAX;
    while (s->known <= s->life) {
        const size_t was = s->cap;
        s->with = xgrow(s->with, s->known, &s->cap, sizeof *s->with);
        budget_take(&s->all, (s->cap - was) * sizeof *s->with);
        s->with[s->known] = s->known < UINT32_MAX ? (uint32_t)s->known : USED;
        s->known++;
    }
    return s->life;
}

static uint32_t first_of(const struct strip *s, uint32_t life)
{
    for (; s->with[life] != life; life = s->with[life])
        s->with[life] = s->with[s->with[life]];
    return life;
}

static bool is_used(const struct strip *s, uint32_t life)
{
    return first_of(s, life) == USED;
}

static void use_with(struct strip *s, uint32_t life, uint32_t other)
{
    const uint32_t a = first_of(s, life), b = first_of(s, other);

    if (a < b)
        s->with[b] = a;
    else
        s->with[a] = b;
}

struct part {
    uint64_t lo, last;
    uint32_t life;
};

/* The first part of lo..last that is in the map. */
static bool part_of(struct interval *map, uint64_t lo, uint64_t last, struct part *to)
{
    const struct interval *i = interval_meeting(map, lo, last);

    if (i)
        *to = (struct part){i->lo > lo ? i->lo : lo, i->last < last ? i->last : last, i->mark};
    return i;
}

static bool next_part(struct interval *map, uint64_t last, struct part *at)
{
    return at->last < last && part_of(map, at->last + 1, last, at);
}

static void use_all_with(struct strip *s, uint64_t lo, uint64_t last, uint32_t life)
{
    struct part p;

    for (bool some = part_of(s->lives, lo, last, &p); some; some = next_part(s->lives, last, &p))
        use_with(s, p.life, life);
}

static bool is_touched(const struct strip *s, uint64_t lo, uint64_t last)
{
    return interval_meeting(s->touched, lo, last);
}

/* ---- what each event does to lives, in both passes ------------------------------------------ */

/* By words, as granules may be. Lives where something was touched are used already. */
static void touch(struct strip *s, uint64_t addr, uint64_t bytes)
{
    const uint64_t lo = addr / WORD * WORD, last = (addr + (bytes - 1)) | (WORD - 1);
    const struct interval *was = interval_reaching(s->touched, lo);

    if (was && was->lo <= lo && was->last >= last)
        return;
    interval_add(&s->all, &s->touched, lo, last);
    use_all_with(s, lo, last, USED);
}

static void live(struct strip *s, uint64_t lo, uint64_t last)
{
    const uint32_t life = begin_life(s);

    if (is_touched(s, lo, last))
        use_with(s, life, USED);
    interval_mark(&s->all, &s->lives, lo, last, life);
}

/* What a copy takes along has a life, allocated or not. */
static void live_all(struct strip *s, uint64_t lo, uint64_t last)
{
    struct part p;

    while (part_of(s->lives, lo, last, &p)) {
        if (p.lo > lo)
            live(s, lo, p.lo - 1);
        if (p.last == last)
            return;
        lo = p.last + 1;
    }
    live(s, lo, last);
}

/* What comes where something was touched ends that, and so is not left out. */
static void move(struct strip *s, uint64_t to, uint64_t from, uint64_t bytes)
{
    const uint64_t last = from + (bytes - 1);
    struct part p;

    live_all(s, from, last);
    if (part_of(s->lives, from, last, &p))
        use_all_with(s, from, last, is_touched(s, to, to + (bytes - 1)) ? USED : p.life);
    interval_move(&s->all, &s->lives, to, from, bytes);
    interval_move(&s->all, &s->touched, to, from, bytes);
}

static bool touches(const struct event *ev)
{
    const uint8_t class = ev_info[ev->kind].class;

    return class == CLASS_ACCESS || (class == CLASS_SYNC && event_has_address(ev));
}

static void follow(struct strip *s, const struct event *ev)
{
    if (touches(ev)) {
        touch(s, ev->addr, event_is_access(ev) ? ev->size : 1);
    } else if (ev->kind == EV_ALLOC) {
        live(s, ev->addr, ev->addr + (ev->aux - 1));
    } else if (ev->kind == EV_COPY) {
        move(s, ev->addr, ev[1].addr, ev->aux);
    } else if (ev->kind == EV_CLEAR) {
        interval_remove(&s->all, &s->lives, ev->addr, ev->addr + (ev->aux - 1));
        interval_remove(&s->all, &s->touched, ev->addr, ev->addr + (ev->aux - 1));
    }
}

static int look(void *arg, const struct event *ev, uint64_t at, struct err *e)
{
    struct strip *s = arg;

    follow(s, ev);
    return memory_limit(&s->all, s->from->name, at, e) ? WALK_FAIL : WALK_ON;
}

/* ---- second pass: what is kept -------------------------------------------------------------- */

/* What the thread has worked since its last event that was kept is the next one's. */
static uint32_t *owed_by(struct strip *s, sim_tid tid)
{
    if (tid >= s->threads) {
        const size_t n = (size_t)tid + tid / 2 + 1;
        s->owed = xrecalloc(s->owed, s->threads, n, sizeof *s->owed);
        s->threads = n;
    }
    return &s->owed[tid];
}

static uint32_t sum(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static int keep(struct strip *s, const struct event *ev, struct err *e)
{
    struct event rec[EVENT_RECORDS] = {*ev};
    uint32_t *owed = owed_by(s, ev->tid);
    struct sink *to = s->out.sink;

    if (event_records(ev) > 1)
        rec[1] = ev[1];
    rec->gap = *owed;
    *owed = 0;
    return to->names(to, s->from->names, e) || to->event(to, rec, e) ? -1 : 0;
}

static int take_alloc(struct strip *s, const struct event *ev, struct err *e)
{
    struct part p;

    s->allocs.had++;
    if (!part_of(s->lives, ev->addr, ev->addr + (ev->aux - 1), &p) || !is_used(s, p.life))
        return 0;
    s->allocs.kept++;
    return keep(s, ev, e);
}

static int clear(struct strip *s, const struct event *ev, const struct part *p, struct err *e)
{
    struct event part[EVENT_RECORDS] = {*ev};

    if (event_records(ev) > 1)
        part[1] = (struct event){.aux = ev[1].aux};
    if (ev->kind == EV_COPY)
        part->flags &= (uint16_t)~EVF_MORE;
    part->kind = EV_CLEAR;
    part->addr = p->lo;
    part->aux = p->last - p->lo + 1;
    s->clears.kept++;
    return keep(s, part, e);
}

/* Each run of what is used, or was touched without a life, is a clear. */
static int clear_used(struct strip *s, const struct event *ev, struct err *e)
{
    const uint64_t lo = ev->addr, last = lo + (ev->aux - 1);
    struct interval *run = NULL;
    struct part p;
    int failed = 0;

    for (bool some = part_of(s->lives, lo, last, &p); some; some = next_part(s->lives, last, &p))
        if (is_used(s, p.life))
            interval_add(&s->all, &run, p.lo, p.last);
    for (bool some = part_of(s->touched, lo, last, &p); some;
         some = next_part(s->touched, last, &p))
        interval_add(&s->all, &run, p.lo, p.last);
    for (bool some = part_of(run, lo, last, &p); some && !failed; some = next_part(run, last, &p))
        failed = clear(s, ev, &p, e);
    interval_free(&s->all, &run);
    return failed;
}

/* What is not used still ends the allocation of what was there. */
static int take_copy(struct strip *s, const struct event *ev, struct err *e)
{
    const uint64_t from = ev[1].addr, last = from + (ev->aux - 1);
    struct part p;

    s->copies.had++;
    live_all(s, from, last);
    if (part_of(s->lives, from, last, &p) && !is_used(s, p.life))
        return clear_used(s, ev, e);
    s->copies.kept++;
    return keep(s, ev, e);
}

static int take(void *arg, const struct event *ev, uint64_t at, struct err *e)
{
    struct strip *s = arg;
    uint32_t *owed = owed_by(s, ev->tid);
    int failed = 0;

    *owed = sum(*owed, ev->gap);
    s->clears.had += ev->kind == EV_CLEAR;
    if (ev->kind == EV_CLEAR)
        failed = clear_used(s, ev, e);
    else if (ev->kind == EV_COPY)
        failed = take_copy(s, ev, e);
    else if (ev->kind != EV_ALLOC)
        failed = keep(s, ev, e);
    follow(s, ev);
    if (ev->kind == EV_ALLOC) /* it has its life by now */
        failed = take_alloc(s, ev, e);
    return failed || memory_limit(&s->all, s->from->name, at, e) ? WALK_FAIL : WALK_ON;
}

/* ---- the verb ------------------------------------------------------------------------------- */

static int pass(struct strip *s, walk_fn *fn, struct err *e)
{
    s->from = progress_source(&s->progress,
                              stop_source(charged(source_open(s->cli->arg[0], e), &s->all)));
    if (!s->from)
        return -1;
    s->life = USED;
    const struct sink_info info = copy_info(s->from, 0);
    const bool writes = fn == take;
    int failed = writes && out_open(&s->out, s->cli, s->cli->arg[1], &info, e) ? -1 : 0;
    failed = failed || walk(s->from, fn, s, e) ? -1 : 0;
    if (writes && !failed)
        failed = s->out.sink->names(s->out.sink, s->from->names, e);
    if (writes)
        failed = out_close(&s->out, failed, e);
    interval_free(&s->all, &s->lives);
    interval_free(&s->all, &s->touched);
    source_close(s->from);
    return failed;
}

static int strip_run(const struct cli *cli, struct err *e)
{
    struct strip s = {.cli = cli};

    if (memory_option(&s.all, cli, e) || read_twice("trace strip", cli->arg[0], e) ||
        out_check(cli, cli->arg[1], e))
        return -1;
    progress_begin(&s.progress, cli_has(cli, OPT_QUIET), 2);
    const int failed = pass(&s, look, e) || pass(&s, take, e) ? -1 : 0;
    progress_clear(&s.progress);
    if (!failed && !cli_has(cli, OPT_QUIET))
        cli_note("%s: kept %" PRIu64 " of %" PRIu64 " allocations, %" PRIu64 " of %" PRIu64
                 " copies; %" PRIu64 " clears of %" PRIu64,
                 cli->arg[1], s.allocs.kept, s.allocs.had, s.copies.kept, s.copies.had,
                 s.clears.kept, s.clears.had);
    free(s.with);
    free(s.owed);
    return failed ? -1 : LARD_DONE;
}

static const struct argp_option options[] = {ROW_MEMORY, ROWS_OUT, ROW_END};

const struct verb verb_trace_strip = {
    .name = "trace strip",
    .args = "IN OUT",
    .summary = "Leaves out the memory that nothing in a trace uses.",
    .text =
        "A capture of Java has all objects of the virtual machine, those of its libraries and of "
        "the agent among them, and accesses of the program alone. OUT has allocations, copies "
        "and clears of those lives only that some access or synchronisation touches. A clear "
        "of several lives becomes one for each run of those. Races stay what they are in each "
        "view that heeds both clears and copies, or neither. What threads have worked is kept; "
        "events have new numbers. IN is read twice.",
    .examples = "lardsim trace strip program.lard own.lard",
    .options = options,
    .min_args = 2,
    .max_args = 2,
    .run = strip_run,
};
