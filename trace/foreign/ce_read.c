/* ce_read.c - the binary event stream of the Pin front-end of the simulators CE and ARC: records of
 * 43 bytes, big-endian, without a header. Each event that this makes keeps the stream rules, also
 * where the stream names no thread (spawns, joins) or tells locks wrongly (barriers, read locks).
 * What the simulators charge is not here: docs/machine.md. */
#include "trace/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

enum {
    RECORD_BYTES = 43,
    CHUNK_BYTES = 512 * RECORD_BYTES,
    ACCESS_MAX = 127, /* the simulators keep 8 bits of it, with a sign */
    LOCK_BYTES = 2,   /* bytes of a lock that an operation accesses, whatever the record says */
    MAIN = 0,         /* the first thread, to Pin and to us */
    PIN_OWN = 1,      /* the id of the front-end's own thread */
    PIN_THREADS = 1 << 15,
    SAME_CORE = 128,    /* thread ids that far apart are on one core, of 1, 2, 4 ... 128 */
    HELD_MAX = 1 << 20, /* locks held at a time, against streams that only acquire */
    UNFORKED = MAX_THREADS,
    REST_PHASE = 0
};
enum { REGION_BEGINS = 23 };

struct ce;
struct ce_record;
struct type {
    int (*take)(struct ce *c, const struct ce_record *r, sim_tid tid);
    uint8_t kind;
    uint16_t flags; /* flags of an access */
};

struct ce_record {
    const struct type *is;
    uint64_t addr, site, offset;
    uint32_t size, instructions;
    uint16_t tid;
    uint8_t type, semantics, flags;
};

struct ce_thread {
    uint32_t gap;  /* instructions that no event has yet */
    uint32_t held; /* locks */
    bool taken;    /* this id is or was in use */
    bool acted, over;
    bool listed; /* in ce.rests */
};

/* First in, first out, without wrapping: there can't be more entries than threads. */
struct queue {
    size_t first, n;
    sim_tid at[MAX_THREADS];
};

struct ce {
    struct source base;
    struct input *in; /* owns, as names and rec */
    struct names *names;
    struct err failed;   /* the first error; it stays */
    struct map held;     /* lock to depth << 16 | thread */
    struct queue spawns; /* threads that have spawned one that was not seen yet */
    struct queue ended;  /* threads that have ended since the last join */
    struct queue rests;  /* threads that may have a gap that no event has; each once */
    struct ce_thread threads[MAX_THREADS]; /* by our id */
    uint32_t ids[PIN_THREADS];             /* by Pin's: our id + 1, 0: none */
    bool in_region, over;
    uint64_t events; /* delivered */
    uint64_t offset; /* the next record's place */
    struct event *rec;
    size_t n, cap;
    size_t chunk_at, chunk_n;
    uint8_t chunk[CHUNK_BYTES];
};

static int fail(struct ce *c, const struct ce_record *r, const char *what, const char *remedy)
{
    return err_set(&c->failed, LARD_TRACE, "%s: byte %" PRIu64 ": %s; %s", c->base.name, r->offset,
                   what, remedy);
}

/* ---- events --------------------------------------------------------------------------------- */

/* Instructions that passed since the thread's last event are the gap of this one. */
static struct event *event_add(struct ce *c, enum ev_kind kind, sim_tid tid)
{
    struct ce_thread *t = &c->threads[tid];

    c->rec = xgrow(c->rec, c->n, &c->cap, sizeof *c->rec);
    struct event *ev = &c->rec[c->n++];
    *ev = (struct event){.kind = (uint8_t)kind, .tid = tid, .gap = t->gap};
    t->gap = 0;
    t->acted = true;
    return ev;
}

static void queue_add(struct queue *q, sim_tid tid)
{
    if (q->n < MAX_THREADS)
        q->at[q->n++] = tid;
}

/* Instructions that no event of the thread can take stand in a mark of their own. */
static void rest(struct ce *c, sim_tid tid)
{
    if (c->threads[tid].gap)
        event_add(c, EV_PHASE, tid)->aux = REST_PHASE;
}

static void all_rests(struct ce *c)
{
    for (size_t i = 0; i < c->rests.n; i++) {
        rest(c, c->rests.at[i]);
        c->threads[c->rests.at[i]].listed = false;
    }
    c->rests.n = 0;
}

/* Instructions are counted where they stand, inside the region or outside. */
static void region(struct ce *c, sim_tid tid, bool begins)
{
    if (begins == c->in_region)
        return;
    all_rests(c);
    event_add(c, begins ? EV_ROI_BEGIN : EV_ROI_END, tid);
    c->in_region = begins;
}

static int take_region(struct ce *c, const struct ce_record *r, sim_tid tid)
{
    region(c, tid, r->is->kind == EV_ROI_BEGIN);
    return 0;
}

/* ---- threads -------------------------------------------------------------------------------- */

/* The oldest spawner that still runs, or UNFORKED: the thread was there before. */
static unsigned spawner(struct ce *c)
{
    while (c->spawns.first < c->spawns.n) {
        const sim_tid by = c->spawns.at[c->spawns.first++];

        if (!c->threads[by].over)
            return by;
    }
    return UNFORKED;
}

static int name_thread(struct ce *c, unsigned id, unsigned pin)
{
    char name[24];

    snprintf(name, sizeof name, "pin-%u", pin);
    c->threads[id].taken = true;
    c->ids[pin] = id + 1;
    return names_add(c->names, NAME_THREAD, id, name, &c->failed);
}

/* Pin uses the id of a thread that has ended again; the new thread is on the same core. */
static int new_thread(struct ce *c, const struct ce_record *r)
{
    unsigned id = r->tid - 1U;

    for (unsigned tries = 0; c->threads[id].taken; tries++) {
        if (tries == MAX_THREADS / SAME_CORE)
            return fail(c, r, "too many threads, one after the other, with ids that are 128 apart",
                        "512 is the limit; cut the stream");
        id = (id + SAME_CORE) % MAX_THREADS;
    }
    unsigned by = spawner(c);
    if (by != UNFORKED)
        event_add(c, EV_FORK, (sim_tid)by)->aux = id;
    return name_thread(c, id, r->tid);
}

/* Our number for Pin's: its 0 stays, 2 becomes 1, and so on; 1 is the front-end's own thread. */
static int thread_of(struct ce *c, const struct ce_record *r, sim_tid *tid)
{
    if (r->tid == PIN_OWN)
        return fail(c, r, "a record of thread 1, which is the front-end's own and makes none",
                    "number the program's threads 0, 2, 3 ...");
    if (r->tid >= PIN_THREADS)
        return fail(c, r, "a thread id of 32768 or more, which is negative to the front-end",
                    "the stream is damaged, of another format or cut off in front");
    if (!c->ids[r->tid] && new_thread(c, r))
        return -1;
    *tid = (sim_tid)(c->ids[r->tid] - 1);
    return 0;
}

static int take_spawn(struct ce *c, const struct ce_record *r, sim_tid tid)
{
    (void)r;
    queue_add(&c->spawns, tid);
    return 0;
}

static int take_start(struct ce *c, const struct ce_record *r, sim_tid tid)
{
    (void)r;
    if (!c->threads[tid].acted)
        event_add(c, EV_THREAD_START, tid);
    return 0;
}

/* A thread that holds a lock can't end; it just does nothing more. */
static int take_finish(struct ce *c, const struct ce_record *r, sim_tid tid)
{
    if (r->tid == MAIN)
        region(c, tid, false);
    if (c->threads[tid].held)
        rest(c, tid);
    else
        event_add(c, EV_THREAD_END, tid);
    c->threads[tid].over = true;
    c->ids[r->tid] = 0;
    queue_add(&c->ended, tid);
    c->over = r->tid == MAIN; /* there the simulators stop */
    return 0;
}

/* The record does not say whom it joins. It is taken for a join of every thread that has ended. */
static int take_join(struct ce *c, const struct ce_record *r, sim_tid tid)
{
    (void)r;
    for (size_t i = 0; i < c->ended.n; i++)
        event_add(c, EV_JOIN, tid)->aux = c->ended.at[i];
    c->ended.n = 0;
    return 0;
}

/* ---- locks ---------------------------------------------------------------------------------- */

static bool holds(const uint64_t *hold, sim_tid tid)
{
    return hold && (sim_tid)*hold == tid;
}

/* Barriers, readers' locks and tries that fail stand in the stream as acquires, too. Where the lock
 * is another thread's, a volatile takes its place. The stream may nest a lock that its thread has:
 * the depth is counted. */
static int take_acquire(struct ce *c, const struct ce_record *r, sim_tid tid)
{
    uint64_t *hold = map_find(&c->held, r->addr);

    if (hold && !holds(hold, tid)) {
        event_add(c, EV_VOLATILE_READ, tid)->addr = r->addr;
        return 0;
    }
    if (hold && r->semantics == REGION_BEGINS) /* the second half of an acquire */
        return 0;
    if (!hold && c->held.n == HELD_MAX)
        return fail(c, r, "more than 1048576 locks are held",
                    "their releases are missing; record the program again, or cut the stream");
    c->threads[tid].held += !hold;
    hold = map_put(&c->held, r->addr);
    *hold = ((*hold >> 16) + 1) << 16 | tid;
    event_add(c, EV_ACQUIRE, tid)->addr = r->addr;
    return 0;
}

static int take_release(struct ce *c, const struct ce_record *r, sim_tid tid)
{
    uint64_t *hold = map_find(&c->held, r->addr);

    if (!holds(hold, tid)) {
        event_add(c, EV_VOLATILE_WRITE, tid)->addr = r->addr;
        return 0;
    }
    event_add(c, EV_RELEASE, tid)->addr = r->addr;
    *hold -= UINT64_C(1) << 16;
    if (*hold >> 16)
        return 0;
    map_remove(&c->held, r->addr);
    c->threads[tid].held--;
    return 0;
}

/* ---- the rest ------------------------------------------------------------------------------- */

static int take_block(struct ce *c, const struct ce_record *r, sim_tid tid)
{
    struct ce_thread *t = &c->threads[tid];

    if (r->instructions > INT32_MAX)
        return fail(c, r, "a basic block of 2147483648 instructions or more",
                    "the stream is damaged or of another format");
    if (t->gap > UINT32_MAX - r->instructions)
        rest(c, tid);
    t->gap += r->instructions;
    if (t->gap && !t->listed) {
        t->listed = true;
        queue_add(&c->rests, tid);
    }
    return 0;
}

/* An access that goes beyond the last address goes on at 0, as it does in the simulators. */
static int take_access(struct ce *c, const struct ce_record *r, sim_tid tid)
{
    const bool of_lock = r->is->flags & EVF_SYSTEM;
    uint32_t size = of_lock ? LOCK_BYTES : r->size;
    uint64_t addr = r->addr;

    if (!of_lock && size > ACCESS_MAX)
        return fail(c, r, "an access of more than 127 bytes, which the simulators can't read",
                    "the stream is damaged or of another format");
    while (size) {
        const uint64_t left = UINT64_MAX - addr;
        struct event *ev = event_add(c, (enum ev_kind)r->is->kind, tid);

        ev->addr = addr;
        ev->aux = r->site;
        ev->size = size - 1 > left ? (uint32_t)left + 1 : size;
        ev->flags = r->is->flags;
        if (r->flags & 1 && !of_lock)
            ev->flags |= EVF_STACK;
        addr += ev->size;
        size -= ev->size;
    }
    return 0;
}

/* ---- types of records ----------------------------------------------------------------------- */

enum { /* OF_LOCK: the runtime's own, and atomic: it neither races nor orders anything */
       ATOMIC = ORDER_SEQ_CST << EVF_ORDER_SHIFT,
       OF_LOCK = EVF_SYSTEM | ORDER_RELAXED << EVF_ORDER_SHIFT
};

static const struct type types[] = {
    [1] = {take_region, EV_ROI_BEGIN, 0},
    [2] = {take_region, EV_ROI_END, 0},
    [3] = {.take = take_start},
    [4] = {.take = take_finish},
    [7] = {take_access, EV_READ, 0},
    [8] = {take_access, EV_WRITE, 0},
    [11] = {.take = take_block},
    [12] = {.take = take_acquire},
    [13] = {.take = take_release},
    [14] = {.take = take_join},
    [15] = {.take = take_spawn},
    [18] = {take_access, EV_READ, ATOMIC},
    [19] = {take_access, EV_WRITE, ATOMIC},
    [20] = {take_access, EV_READ, OF_LOCK},
    [21] = {take_access, EV_WRITE, OF_LOCK},
    [22] = {take_access, EV_WRITE, OF_LOCK},
};

/* Blocked, unblocked, allocation, deallocation; regions of servers, transactions, check points. The
 * simulators take them and do nothing. */
static bool ignored(uint8_t type)
{
    return type == 5 || type == 6 || type == 9 || type == 10 || (type >= 25 && type <= 29);
}

static int record_take(struct ce *c, struct ce_record *r)
{
    char what[64];
    sim_tid tid = 0;

    if (ignored(r->type))
        return 0;
    if (r->type >= ARRAY_SIZE(types) || !types[r->type].take) {
        snprintf(what, sizeof what, "a record of the type %u, which is none", r->type);
        return fail(c, r, what,
                    "types are 1 to 15, 18 to 22 and 25 to 29; the stream is damaged, of another "
                    "format or cut off in front");
    }
    r->is = &types[r->type];
    return thread_of(c, r, &tid) ? -1 : r->is->take(c, r, tid);
}

/* ---- records -------------------------------------------------------------------------------- */

static uint64_t big(const uint8_t *at, unsigned bytes)
{
    uint64_t v = 0;

    while (bytes--)
        v = v << 8 | *at++;
    return v;
}

/* Type 1, semantics 1, thread 2, address 8, size 4, flags 1, value 8, instructions 4; then line 2,
 * file 2, routine 2, and 8 bytes on what was before. */
static struct ce_record decode(const uint8_t *at, uint64_t offset)
{
    return (struct ce_record){
        .offset = offset,
        .type = at[0],
        .semantics = at[1],
        .tid = (uint16_t)big(at + 2, 2),
        .addr = big(at + 4, 8),
        .size = (uint32_t)big(at + 12, 4),
        .flags = at[16],
        .instructions = (uint32_t)big(at + 25, 4),
        .site = big(at + 31, 2) << 32 | big(at + 33, 2) << 16 | big(at + 29, 2),
    };
}

static bool no_record(struct ce *c)
{
    const char *fault = input_fault(c->in);

    if (fault)
        err_set(&c->failed, LARD_TRACE, "%s: can't be read beyond byte %" PRIu64 ": %s",
                c->base.name, c->offset, fault);
    else if (c->chunk_at < c->chunk_n)
        fail(c, &(struct ce_record){.offset = c->offset}, "the last record is cut off",
             "records have 43 bytes; record the program again, or cut the file there");
    return false;
}

static bool next_record(struct ce *c, struct ce_record *r)
{
    if (c->chunk_at == c->chunk_n) {
        c->chunk_at = 0;
        c->chunk_n = input_read(c->in, c->chunk, CHUNK_BYTES);
    }
    if (c->chunk_n - c->chunk_at < RECORD_BYTES)
        return no_record(c);
    *r = decode(c->chunk + c->chunk_at, c->offset);
    c->chunk_at += RECORD_BYTES;
    c->offset += RECORD_BYTES;
    return true;
}

/* ---- the source ----------------------------------------------------------------------------- */

static void collect(struct ce *c)
{
    struct ce_record r;

    for (size_t i = 0; i < CHUNK_BYTES / RECORD_BYTES && !c->over; i++)
        if (!next_record(c, &r) || record_take(c, &r))
            c->over = true;
    if (!c->over || c->failed.code)
        return;
    all_rests(c);
    region(c, MAIN, false); /* if it is still open, thread 0 has not ended */
}

static int ce_next(struct source *s, struct batch *b, struct err *e)
{
    struct ce *c = (struct ce *)s;

    c->n = 0;
    while (!c->n && !c->over)
        collect(c);
    if (!c->n && c->failed.code)
        return err_pass(e, &c->failed);
    *b = (struct batch){.rec = c->rec, .records = c->n, .first = c->events};
    b->kept = names_bytes(c->names) + map_bytes(&c->held) + input_bytes(c->in);
    c->events += c->n;
    return 0;
}

static void ce_close(struct source *s)
{
    struct ce *c = (struct ce *)s;

    names_free(c->names);
    input_free(c->in);
    map_free(&c->held);
    free(c->rec);
    free(c);
}

static struct source *ce_open(struct input *in, struct err *e)
{
    struct ce *c = xcalloc(1, sizeof *c);

    c->in = in;
    c->names = names_new();
    c->base = input_source(in, "ce", ce_next, ce_close, c->names);
    if (!name_thread(c, MAIN, MAIN) &&
        !names_add(c->names, NAME_PHASE, REST_PHASE, "instructions of no event", e))
        return &c->base;
    ce_close(&c->base);
    return NULL;
}

const struct trace_format trace_format_ce = {
    .name = "ce",
    .help =
        "What the Pin front-end of the CE and ARC simulators writes. Told by name only: ce:FILE.",
    .open = ce_open,
};
