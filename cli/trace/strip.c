/* strip.c - a trace without the memory that no access and no synchronisation of it ever touches: a
 * capture has all objects of a virtual machine, and accesses of the program alone. Such a life has
 * no history and no lock, so nothing that remains is judged otherwise.
 *
 * The trace is read twice: whether a life is used is known at its end. Lives that a copy moves
 * together, as parts of one region, are used together: a copy is kept or left out as a whole. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/lives.h"
#include "cli/stop.h"
#include "cli/trace/trace.h"

enum { WORD = 8 };
enum { USED = 1, GIVEN = 2 };

struct bits {     /* one for each word of each life, by its place */
    uint64_t *at; /* owns */
    size_t n;
};
struct counted {
    uint64_t had, kept;
};
struct strip {
    const struct cli *cli;
    struct source *from;
    struct life_map lives;
    uint64_t first;       /* place of the first life */
    struct bits used;     /* one bit is enough for a life, until its allocation is kept */
    struct bits edges;    /* words before and behind lives that were allocated */
    struct bits given;    /* words that an allocation or a copy that was kept has given: they end */
    struct map elsewhere; /* the same of memory without a life: USED, GIVEN */
    uint64_t *together;   /* owns; places that a copy moved together, and a 0 behind them */
    size_t places, cap;
    uint32_t *owed; /* owns; by thread: the work before events that were left out */
    size_t threads;
    struct out out;
    struct budget all;
    struct progress progress;
    struct counted allocs, clears, copies;
};

/* ---- bits ----------------------------------------------------------------------------------- */

static bool bit(const struct bits *b, uint64_t i)
{
    return i / 64 < b->n && b->at[i / 64] >> i % 64 & 1;
}

static void set_bit(struct bits *b, uint64_t i)
{
    if (i / 64 >= b->n) {
        const size_t n = i / 64 + i / 128 + 1;
        b->at = xrecalloc(b->at, b->n, n, sizeof *b->at);
        b->n = n;
    }
    b->at[i / 64] |= UINT64_C(1) << i % 64;
}

/* Places begin a word behind the first bit, so that the first life has an edge, too. */
static uint64_t number(const struct strip *s, uint64_t place)
{
    return (place - s->first) / WORD + 1;
}

/* What was never allocated, and never reclaimed, has no life, and stands where it is. */
static bool has_life(const struct strip *s, uint64_t place)
{
    return place >= s->first;
}

static uint64_t elsewhere(const struct strip *s, uint64_t place)
{
    const uint64_t *here = map_find(&s->elsewhere, place / WORD);

    return here ? *here : 0;
}

static bool is_used(const struct strip *s, uint64_t place)
{
    return has_life(s, place) ? bit(&s->used, number(s, place)) : elsewhere(s, place) & USED;
}

static void use(struct strip *s, uint64_t place)
{
    if (has_life(s, place))
        set_bit(&s->used, number(s, place));
    else
        *map_put(&s->elsewhere, place / WORD) |= USED;
}

static void give(struct strip *s, uint64_t place)
{
    if (has_life(s, place))
        set_bit(&s->given, number(s, place));
    else
        *map_put(&s->elsewhere, place / WORD) |= GIVEN;
}

static bool is_given(const struct strip *s, uint64_t place)
{
    return has_life(s, place) ? bit(&s->given, number(s, place)) : elsewhere(s, place) & GIVEN;
}

/* ---- first pass: what is used --------------------------------------------------------------- */

static bool touches(const struct event *ev)
{
    const uint8_t class = ev_info[ev->kind].class;

    return class == CLASS_ACCESS || (class == CLASS_SYNC && event_has_address(ev));
}

static void look_at_alloc(struct strip *s, const struct event *ev)
{
    set_bit(&s->edges, number(s, s->lives.next) - 1);
    life_map_follow(&s->lives, ev);
    set_bit(&s->edges, number(s, s->lives.next) - 1);
}

static void note_place(struct strip *s, uint64_t place)
{
    s->together = xgrow(s->together, s->places, &s->cap, sizeof *s->together);
    s->together[s->places++] = place;
}

/* A collector's copy is of one object, whose places follow each other. */
static void look_at_copy(struct strip *s, const struct event *ev)
{
    const sim_addr from = ev[1].addr / WORD * WORD, end = ev[1].addr + ev->aux;
    const uint64_t place = life_map_place(&s->lives, from);
    bool one = has_life(s, place);

    for (sim_addr at = from; at < end && one; at += WORD)
        one = life_map_place(&s->lives, at) == place + (at - from);
    for (sim_addr at = from; at < end && !one; at += WORD)
        note_place(s, life_map_place(&s->lives, at));
    if (!one)
        note_place(s, 0);
    life_map_follow(&s->lives, ev);
}

static int look(void *arg, const struct event *ev, uint64_t at, struct err *e)
{
    struct strip *s = arg;
    const uint64_t bytes = event_is_access(ev) ? ev->size : 1;

    for (sim_addr word = ev->addr / WORD * WORD; touches(ev) && word < ev->addr + bytes;
         word += WORD)
        use(s, life_map_place(&s->lives, word));
    if (ev->kind == EV_ALLOC)
        look_at_alloc(s, ev);
    else if (ev->kind == EV_COPY)
        look_at_copy(s, ev);
    else
        life_map_follow(&s->lives, ev);
    return memory_limit(&s->all, s->from->name, at, e) ? WALK_FAIL : WALK_ON;
}

/* Memory that was reclaimed, and used again without an allocation, is judged word by word. */
static bool life_is_used(const struct strip *s, uint64_t place)
{
    const uint64_t here = number(s, place);
    uint64_t i = here;

    if (is_used(s, place) || !has_life(s, place))
        return is_used(s, place);
    while (i && !bit(&s->edges, i) && !bit(&s->used, i))
        i--;
    if (!bit(&s->edges, i))
        return i;
    for (i = here; i / 64 < s->edges.n && !bit(&s->edges, i) && !bit(&s->used, i);)
        i++;
    return bit(&s->used, i);
}

/* Whether something was changed. */
static bool use_together(struct strip *s, const uint64_t *place)
{
    bool some = false, all = true;

    for (size_t i = 0; place[i]; i++) {
        const bool used = life_is_used(s, place[i]);
        some |= used;
        all &= used;
    }
    for (size_t i = 0; some && !all && place[i]; i++)
        use(s, place[i]);
    return some && !all;
}

static void use_all_together(struct strip *s)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < s->places; i++) {
            changed |= use_together(s, s->together + i);
            while (s->together[i])
                i++;
        }
    }
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
    const uint64_t place = s->lives.next, bytes = ev->addr % WORD + ev->aux;
    bool used = false;

    s->allocs.had++;
    for (uint64_t at = 0; at < bytes && !used; at += WORD)
        used = is_used(s, place + at);
    if (!used)
        return 0;
    s->allocs.kept++;
    for (uint64_t at = 0; at < bytes; at += WORD) {
        use(s, place + at);
        give(s, place + at);
    }
    return keep(s, ev, e);
}

static int clear(struct strip *s, const struct event *ev, sim_addr from, sim_addr end,
                 struct err *e)
{
    struct event part[EVENT_RECORDS] = {*ev};

    if (event_records(ev) > 1)
        part[1] = (struct event){.aux = ev[1].aux};
    if (ev->kind == EV_COPY)
        part->flags &= (uint16_t)~EVF_MORE;
    part->kind = EV_CLEAR;
    part->addr = from;
    part->aux = end - from;
    s->clears.kept++;
    return keep(s, part, e);
}

/* Each run of what was given is a clear: lives that lie beside each other end together. */
static int clear_given(struct strip *s, const struct event *ev, struct err *e)
{
    const sim_addr end = ev->addr + ev->aux;
    sim_addr begin = end; /* of the run */
    int failed = 0;

    for (sim_addr at = ev->addr; at < end && !failed; at = at / WORD * WORD + WORD) {
        const bool given = is_given(s, life_map_place(&s->lives, at));
        if (given && begin == end)
            begin = at;
        if (!given && begin != end) {
            failed = clear(s, ev, begin, at, e);
            begin = end;
        }
    }
    return failed || begin == end ? failed : clear(s, ev, begin, end, e);
}

/* If what comes is not used, it still ends what was there. */
static int take_copy(struct strip *s, const struct event *ev, struct err *e)
{
    const sim_addr end = ev[1].addr + ev->aux;
    bool used = false;

    s->copies.had++;
    for (sim_addr at = ev[1].addr / WORD * WORD; at < end && !used; at += WORD)
        used = is_used(s, life_map_place(&s->lives, at));
    if (!used)
        return clear_given(s, ev, e);
    s->copies.kept++;
    for (sim_addr at = ev[1].addr / WORD * WORD; at < end; at += WORD)
        give(s, life_map_place(&s->lives, at));
    return keep(s, ev, e);
}

static int take(void *arg, const struct event *ev, uint64_t at, struct err *e)
{
    struct strip *s = arg;
    uint32_t *owed = owed_by(s, ev->tid);

    (void)at;
    *owed = sum(*owed, ev->gap);
    s->clears.had += ev->kind == EV_CLEAR;
    const int failed = ev->kind == EV_ALLOC   ? take_alloc(s, ev, e)
                       : ev->kind == EV_COPY  ? take_copy(s, ev, e)
                       : ev->kind == EV_CLEAR ? clear_given(s, ev, e)
                                              : keep(s, ev, e);
    life_map_follow(&s->lives, ev);
    return failed ? WALK_FAIL : WALK_ON;
}

/* ---- the verb ------------------------------------------------------------------------------- */

static int pass(struct strip *s, walk_fn *fn, struct err *e)
{
    s->from = progress_source(&s->progress,
                              stop_source(charged(source_open(s->cli->arg[0], e), &s->all)));
    if (!s->from)
        return -1;
    life_map_init(&s->lives);
    s->first = s->lives.next;
    const struct sink_info info = copy_info(s->from, 0);
    const bool writes = fn == take;
    int failed = writes && out_open(&s->out, s->cli, s->cli->arg[1], &info, e) ? -1 : 0;
    failed = failed || walk(s->from, fn, s, e) ? -1 : 0;
    if (writes && !failed)
        failed = s->out.sink->names(s->out.sink, s->from->names, e);
    if (writes)
        failed = out_close(&s->out, failed, e);
    life_map_free(&s->lives);
    source_close(s->from);
    return failed;
}

static int passes(struct strip *s, struct err *e)
{
    if (pass(s, look, e))
        return -1;
    use_all_together(s);
    return pass(s, take, e);
}

static int strip_run(const struct cli *cli, struct err *e)
{
    struct strip s = {.cli = cli};

    if (memory_option(&s.all, cli, e) || read_twice("trace strip", cli->arg[0], e) ||
        out_check(cli, cli->arg[1], e))
        return -1;
    map_init(&s.elsewhere, NULL);
    progress_begin(&s.progress, cli_has(cli, OPT_QUIET), 2);
    const int failed = passes(&s, e);
    progress_clear(&s.progress);
    if (!failed && !cli_has(cli, OPT_QUIET))
        cli_note("%s: kept %" PRIu64 " of %" PRIu64 " allocations, %" PRIu64 " of %" PRIu64
                 " copies; %" PRIu64 " clears of %" PRIu64,
                 cli->arg[1], s.allocs.kept, s.allocs.had, s.copies.kept, s.copies.had,
                 s.clears.kept, s.clears.had);
    map_free(&s.elsewhere);
    free(s.used.at);
    free(s.given.at);
    free(s.edges.at);
    free(s.together);
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
        "of several lives becomes one for each run of those. Races stay what they are. What "
        "threads have worked is kept; events have new numbers. IN is read twice.",
    .examples = "lardsim trace strip program.lard own.lard",
    .options = options,
    .min_args = 2,
    .max_args = 2,
    .run = strip_run,
};
