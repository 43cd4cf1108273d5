/* stress_check.c - `stress_check native|java THREADS STEPS SEED [race] <TEXT`: is the trace that
 * which this run of stress.c or Stress.java has to give? From the formulas of stress.h and the
 * definition of a trace alone:
 *
 * - each thread made exactly the accesses that it has to make, each once, in its order, with its
 * size and order;
 * - the tickets of a lock come in order, and whoever takes one holds the lock in the trace;
 * - the n-th update of a counter drew n;
 * - what was handed over is read after it was written;
 * - a handler's accesses are in order, and those of the thread that it interrupted; where that one
 *   waits, those of a thread that does nothing else;
 * - each access to a block is made while the block lives; in Java each access to an object.
 *
 * An element of an array of Java is told as the address that stress.c has for it; the array's
 * allocation says by its site and its length which one it is, and copies say where it goes. */
#include "stress.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDS = 65536, EXPECTED = 4096 };

static unsigned threads, steps;
static uint64_t seed;
static int java, race;
static unsigned long line;

static void wrong(const char *form, ...)
{
    va_list args;

    va_start(args, form);
    fprintf(stderr, "line %lu: ", line);
    vfprintf(stderr, form, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

/* ---- the blocks that live
 * ---------------------------------------------------------------------------- */

struct region {
    uint64_t from, to;
};
static struct region *blocks;
static size_t n_blocks, room;

/* The first region that ends above the address. */
static size_t region_at(uint64_t addr)
{
    size_t low = 0, high = n_blocks;

    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (blocks[middle].to > addr)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void insert(size_t i, struct region r)
{
    if (n_blocks == room && !(blocks = realloc(blocks, (room = room * 2 + 64) * sizeof *blocks)))
        abort();
    memmove(blocks + i + 1, blocks + i, (n_blocks++ - i) * sizeof *blocks);
    blocks[i] = r;
}

static void born(uint64_t addr, uint64_t bytes)
{
    const size_t i = region_at(addr);

    if (i < n_blocks && blocks[i].from < addr + bytes)
        wrong("an allocation at 0x%" PRIx64 " overlaps one that lives", addr);
    insert(i, (struct region){addr, addr + bytes});
}

static void cleared(uint64_t addr, uint64_t bytes)
{
    const size_t i = region_at(addr);
    size_t n = i;

    while (n < n_blocks && blocks[n].from < addr + bytes)
        n++;
    if (n == i)
        return;
    const struct region before = {blocks[i].from, addr}, after = {addr + bytes, blocks[n - 1].to};
    memmove(blocks + i, blocks + n, (n_blocks - n) * sizeof *blocks);
    n_blocks -= n - i;
    if (after.to > after.from)
        insert(i, after);
    if (before.to > before.from)
        insert(i, before);
}

static int lives(uint64_t addr, uint64_t bytes)
{
    const size_t i = region_at(addr);

    return i < n_blocks && blocks[i].from <= addr && addr + bytes <= blocks[i].to;
}

/* ---- Java's objects
 * ------------------------------------------------------------------------------------ */

struct object {
    uint64_t addr, bytes;
    uint64_t means; /* what the first element is in stress.c's arena, or 0 */
    int monitor;    /* the lock whose monitor it is, or -1 */
};
static struct object *objects; /* 0 is none */
static size_t n_objects = 1, objects_room;
static uint32_t *spare; /* dead ones */
static size_t n_spare, spare_room;
/* Which object has each 8 bytes of memory, by chunks of 2^20 of them. */
enum { CHUNK_BITS = 23, CHUNKS = 4096, HEADER = 16 };
static struct chunk {
    uint64_t number;
    uint32_t *owner;
} chunks[CHUNKS];

static uint32_t *owner_at(uint64_t addr)
{
    const uint64_t number = (addr >> CHUNK_BITS) + 1;
    size_t i = number % CHUNKS;

    while (chunks[i].number && chunks[i].number != number)
        i = (i + 1) % CHUNKS;
    if (!chunks[i].number) {
        chunks[i].number = number;
        if (!(chunks[i].owner = calloc(1 << (CHUNK_BITS - 3), sizeof(uint32_t))))
            abort();
    }
    return &chunks[i].owner[(addr & ((1 << CHUNK_BITS) - 1)) >> 3];
}

/* Takes its place; nobody who lives may be there. */
static void settle(uint32_t id, uint64_t addr)
{
    objects[id].addr = addr;
    for (uint64_t at = addr; at < addr + objects[id].bytes; at += 8) {
        uint32_t *owner = owner_at(at);
        if (*owner)
            wrong("an object at 0x%" PRIx64 " lies over one at 0x%" PRIx64, addr,
                  objects[*owner].addr);
        *owner = id;
    }
}

static void leave(uint32_t id)
{
    for (uint64_t at = objects[id].addr; at < objects[id].addr + objects[id].bytes; at += 8)
        *owner_at(at) = 0;
}

static void object_born(struct object o)
{
    uint32_t id;

    if (n_spare) {
        id = spare[--n_spare];
    } else {
        if (n_objects >= objects_room &&
            !(objects =
                  realloc(objects, (objects_room = objects_room * 2 + 1024) * sizeof *objects)))
            abort();
        id = (uint32_t)n_objects++;
    }
    objects[id] = o;
    settle(id, o.addr);
}

static void objects_cleared(uint64_t addr, uint64_t bytes)
{
    for (uint64_t at = addr; at < addr + bytes; at += 8) {
        const uint32_t id = *owner_at(at);
        if (!id)
            continue;
        if (objects[id].addr < addr || objects[id].addr + objects[id].bytes > addr + bytes)
            wrong("a part of the object at 0x%" PRIx64 " is cleared", objects[id].addr);
        leave(id);
        if (n_spare == spare_room &&
            !(spare = realloc(spare, (spare_room = spare_room * 2 + 1024) * sizeof *spare)))
            abort();
        spare[n_spare++] = id;
    }
}

static void object_moved(uint64_t to, uint64_t from, uint64_t bytes)
{
    const uint32_t id = *owner_at(from);

    if (!id || objects[id].addr != from || objects[id].bytes != bytes)
        wrong("0x%" PRIx64 " is moved, and no object of %" PRIu64 " bytes", from, bytes);
    leave(id);
    settle(id, to);
}

static const struct object *object_of(uint64_t addr)
{
    const uint32_t id = *owner_at(addr);

    return id ? &objects[id] : NULL;
}

/* ---- what a thread has to do next
 * -------------------------------------------------------------------- */

struct event {
    unsigned thread;
    char kind[16];
    uint64_t addr, size, site;
    char order[10];
    int block; /* made where stress.c touches blocks */
    int is_static;
};

/* An access of the next step; what varies from run to run is said by its form. */
struct expected {
    enum { EXACTLY, OWN_CELL, TAKE, LOOK, UPDATE, DRAW, BLOCK, FENCE, FIRST_ONE } form;
    const char *kind;
    uint64_t addr, size;
    unsigned of; /* the lock, the counter */
};

static struct worker {
    unsigned number;
    int thread;        /* of the trace, or -1 */
    int half;          /* of Java's updates the read was seen */
    unsigned part;     /* what comes next: the start, the steps, the end, the last words */
    uint64_t k, cells; /* the next own cell; how many are left of a row */
    uint64_t drawn;
    struct expected expected[EXPECTED];
    unsigned at, n;
    unsigned char *handled; /* by interruption, how many of its four accesses were seen */
    unsigned interrupts, whole, within[64], depth;
    int counted;
} * workers;
static struct worker *of_thread[IDS];
static struct worker *stands_for[IDS]; /* a thread of handlers, while the worker's own waits */
static unsigned char waits[IDS];
enum { JAVA_TICKETS = 65536, JAVA_MESSAGES = 1100 };
static unsigned taken[LOCKS], drawn[COUNTERS];
static unsigned char was_drawn[COUNTERS][JAVA_TICKETS];
static int holder[LOCKS];            /* thread + 1 */
static unsigned char *shared[LOCKS]; /* by thread */
static unsigned char *written;       /* messages */
static unsigned raced;

static void expect(struct worker *w, struct expected e)
{
    if (w->n == EXPECTED)
        abort();
    w->expected[w->n++] = e;
}
static void expect_cells(struct worker *w, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        expect(w, (struct expected){.form = OWN_CELL});
}
static void expect_put(struct worker *w, uint64_t addr)
{
    expect(w, (struct expected){EXACTLY, "write", addr, 1, 0});
}
static void expect_get(struct worker *w, uint64_t addr)
{
    expect(w, (struct expected){EXACTLY, "read", addr, 1, 0});
}
static void expect_blocks(struct worker *w, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        expect(w, (struct expected){.form = BLOCK});
}

static void expect_round(struct worker *w, enum step kind, uint64_t chosen)
{
    const unsigned counter = chosen % COUNTERS;

    if (java && kind == COUNTED) {
        expect(w, (struct expected){DRAW, "write", 0, 1, counter});
        return;
    }
    switch (kind) {
    case LOCKED:
        for (int i = 0; i <= waits_between(chosen); i++)
            expect(w, (struct expected){TAKE, "write", 0, 1, lock_of(chosen)});
        break;
    case READER:
        expect(w, (struct expected){LOOK, "read", 0, 1, rwlock_of(chosen)});
        break;
    default:
        expect(w, (struct expected){UPDATE, "rmw", COUNTER(counter), 4, counter});
        expect(w, (struct expected){DRAW, "write", 0, 1, counter});
    }
}

static void expect_storm(struct worker *w, uint64_t chosen)
{
    for (unsigned i = 0; i < blocks_of(chosen); i++)
        expect_blocks(w, draw(chosen, 6, i, 0) >> 7 & 1 ? 4 : 2);
    expect_blocks(w, 2 + 1); /* the one that is given, and the one that is taken */
}

static void expect_step(struct worker *w, unsigned s)
{
    const unsigned group = w->number / GROUP, role = w->number % GROUP;
    const enum step kind = step_of(seed, group, s, race);
    const uint64_t chosen = choice(seed, w->number, s), message = MESSAGE(group, s, 0);

    expect_cells(w, cells_of(seed, w->number, s, kind));
    switch (kind) {
    case RANGE:
        if (java) {
            const uint64_t bytes = range_bytes(chosen) / 8 * 8;
            expect(w, (struct expected){EXACTLY, "read", range_from(w->number, chosen) / 8 * 8,
                                        bytes, 0});
            expect(w, (struct expected){EXACTLY, "write", range_to(w->number, chosen) / 8 * 8,
                                        bytes, 0});
            break;
        }
        expect(w, (struct expected){EXACTLY, "write", range_from(w->number, chosen),
                                    range_bytes(chosen), 0});
        expect(w, (struct expected){EXACTLY, "read", range_from(w->number, chosen),
                                    range_bytes(chosen), 0});
        expect(w, (struct expected){EXACTLY, "write", range_to(w->number, chosen),
                                    range_bytes(chosen), 0});
        break;
    case LOCKED:
    case READER:
    case COUNTED:
        for (unsigned i = 0; i < rounds_of(chosen); i++)
            expect_round(w, kind, choice(chosen, w->number, i));
        break;
    case HANDED:
    case CONDITION:
    case SEMAPHORE:
        if (role == 0)
            expect_put(w, message);
        else {
            if (kind == HANDED && !java && with_fences(seed, group, s))
                expect(w, (struct expected){.form = FENCE});
            expect_get(w, message);
        }
        break;
    case ONCE:
        expect(w, (struct expected){FIRST_ONE, "write", message, 1, 0});
        expect_get(w, message);
        break;
    case BARRIER:
        expect_put(w, message + role);
        for (unsigned r = 0; r < GROUP; r++)
            expect_get(w, message + r);
        break;
    case HEAP:
        expect_storm(w, chosen);
        break;
    case RAISED:
        if (java) { /* an array takes the place of another */
            expect(w, (struct expected){EXACTLY, "read", OWN(w->number), CELLS * 8, 0});
            expect(w, (struct expected){EXACTLY, "write", OWN(w->number), CELLS * 8, 0});
        }
        expect_cells(w, 5);
        break;
    case RACING:
        if (role < 2)
            expect_put(w, RACE);
        break;
    default:
        break;
    }
}

/* What comes next in a worker's life; 0 when that is over. */
static int refill(struct worker *w)
{
    const unsigned group = w->number / GROUP, role = w->number % GROUP, part = w->part++;

    w->at = w->n = 0;
    if (w->number == threads) { /* the sleeper */
        if (part < 1)
            expect_cells(w, 2000);
        return part < 1;
    }
    if (part == 0) {
        if (role == 0)
            expect_put(w, MESSAGE(group, steps, 0));
        expect_cells(w, CELLS_AT_START);
        if (role != 0)
            expect_get(w, MESSAGE(group, steps, 0));
    } else if (part <= steps) {
        expect_step(w, part - 1);
    } else if (part == steps + 1) {
        if (!java)
            expect(w, (struct expected){EXACTLY, "write", COUNT(w->number), 1, 1});
        if (role != 0)
            expect_put(w, MESSAGE(group, steps + 1, role));
        if (role == 0)
            for (unsigned r = 1; r < GROUP; r++)
                expect_get(w, MESSAGE(group, steps + 1, r));
        if (role == 2)
            expect_cells(w, CELLS_OF_CLEANUP);
        if (role != 3)
            expect_cells(w, CELLS_AT_END);
    } else {
        return 0;
    }
    return 1;
}

/* ---- is this event the next one?
 * --------------------------------------------------------------------- */

/* An order that is at least as strong: fences before it may have made it so. */
static int as_strong(const char *order, unsigned wanted)
{
    static const char *const names[] = {"relaxed", "acquire", "release", "acq-rel", "seq-cst"};
    static const unsigned char gives[] = {0, 1, 2, 3, 7};

    for (unsigned i = 0; i < 5; i++)
        if (strcmp(order, names[i]) == 0)
            return (gives[i] & gives[wanted]) == gives[wanted];
    return 0;
}

static int is_cell(const struct worker *w, const struct event *e)
{
    static const char *const kinds[] = {"read", "write", "read", "write", "rmw"};
    const struct cell c = cell(seed, w->number, w->k);

    return strcmp(e->kind, kinds[c.access]) == 0 && e->addr == c.addr && e->size == c.size &&
           (c.access <= ACCESS_WRITE ? !e->order[0] : as_strong(e->order, c.order));
}

/* Java's elements have 8 bytes and no order, and an update is a read and a write. */
static int is_element(struct worker *w, const struct event *e)
{
    const struct cell c = cell(seed, w->number, w->k);
    const int reads =
        c.access == ACCESS_READ || c.access == ACCESS_LOAD || (c.access == ACCESS_RMW && !w->half);

    if (strcmp(e->kind, reads ? "read" : "write") || e->addr != c.addr || e->size != 8)
        return -1;
    w->half = c.access == ACCESS_RMW && reads;
    return !w->half;
}

static int is_message(uint64_t addr)
{
    return addr >= MESSAGE(0, 0, 0) && addr < LOCK(0);
}

enum { HALF = 2 }; /* it is, and there is more to come */
static int is(struct worker *w, const struct expected *x, const struct event *e)
{
    const int same = x->kind && strcmp(e->kind, x->kind) == 0 && e->size == x->size && !e->block;

    switch (x->form) {
    case OWN_CELL:
        if (java) {
            const int whole = is_element(w, e);
            if (whole < 1)
                return whole == 0 ? HALF : 0;
        } else if (!is_cell(w, e)) {
            return 0;
        }
        w->k++;
        return 1;
    case EXACTLY:
        if (x->of) { /* how often it was interrupted */
            if (!same || e->addr < x->addr || e->addr >= x->addr + (1 << 20))
                return 0;
            w->counted = 1;
            if (e->addr - x->addr != w->interrupts || w->whole != w->interrupts)
                wrong("T%u was interrupted %" PRIu64
                      " times; the trace begins %u of them and ends %u",
                      e->thread, e->addr - x->addr, w->interrupts, w->whole);
            return 1;
        }
        if (!same || e->addr != x->addr || e->order[0])
            return 0;
        raced += e->addr == RACE;
        if (is_message(e->addr) && e->kind[0] == 'r' && !written[e->addr - MESSAGE(0, 0, 0)])
            wrong("T%u reads at 0x%" PRIx64 " what was not written yet", e->thread, e->addr);
        if (is_message(e->addr) && e->kind[0] == 'w')
            written[e->addr - MESSAGE(0, 0, 0)] = 1;
        return 1;
    case FIRST_ONE:
        if (!same || e->addr != x->addr)
            return 0;
        if (written[e->addr - MESSAGE(0, 0, 0)]++)
            wrong("T%u does once more at 0x%" PRIx64 " what is done once", e->thread, e->addr);
        return 1;
    case TAKE:
        if (!same || e->addr != TICKET(x->of) + taken[x->of])
            return 0;
        if (holder[x->of] != (int)e->thread + 1 && (!java || x->of < MUTEXES))
            wrong("T%u takes a ticket of lock %u, which T%d holds", e->thread, x->of,
                  holder[x->of] - 1);
        taken[x->of]++;
        return 1;
    case LOOK:
        if (!same || e->addr != TICKET(x->of) + taken[x->of])
            return 0;
        if (!java && (!shared[x->of][e->thread] || holder[x->of]))
            wrong("T%u reads what lock %u guards and does not hold it", e->thread, x->of);
        return 1;
    case UPDATE:
        if (!same || e->addr != x->addr)
            return 0;
        w->drawn = drawn[x->of]++;
        return 1;
    case DRAW:
        if (java) { /* when which one was drawn is not told */
            if (!same || e->addr < DRAWN(x->of) || e->addr >= DRAWN(x->of) + JAVA_TICKETS)
                return 0;
            drawn[x->of]++;
            if (was_drawn[x->of][e->addr - DRAWN(x->of)]++)
                wrong("T%u draws what was drawn before", e->thread);
            return 1;
        }
        return same && e->addr == DRAWN(x->of) + w->drawn;
    case BLOCK:
        if (!e->block)
            return 0;
        if (!java && !lives(e->addr, e->size))
            wrong("T%u touches a block at 0x%" PRIx64 " that does not live", e->thread, e->addr);
        return 1;
    default:
        return 0;
    }
}

/* May the trace do without it, or have more of it? */
static int optional(const struct worker *w, const struct expected *x)
{
    (void)w;
    return x->form == FENCE || (x->form == FIRST_ONE && written[x->addr - MESSAGE(0, 0, 0)]);
}

static void describe(const struct worker *w)
{
    const struct expected *x = &w->expected[w->at];
    const struct cell c = cell(seed, w->number, w->k);

    fprintf(stderr,
            "line %lu: worker %u is in part %u of %u at %u of %u, form %u %s 0x%" PRIx64 " %" PRIu64
            "; cell %" PRIu64 ": %u 0x%" PRIx64 " %u order %u; lock %u has %u tickets\n",
            line, w->number, w->part - 1, steps, w->at, w->n, x->form, x->kind ? x->kind : "",
            x->addr, x->size, w->k, c.access, c.addr, c.size, c.order, x->of,
            x->of < LOCKS ? taken[x->of] : 0);
}

static void handled(struct worker *w, const struct event *e)
{
    const uint64_t n = (e->addr - HANDLED(w->number)) / 4, i = (e->addr - HANDLED(w->number)) % 4;

    if (strcmp(e->kind, "write") || e->size != 1)
        wrong("T%u: a handler writes bytes", e->thread);
    if (i == 0 && !w->handled[n]) {
        if (w->depth == 64)
            abort();
        w->within[w->depth++] = (unsigned)n;
        w->interrupts++;
    }
    if (!w->depth || w->within[w->depth - 1] != n || w->handled[n] != i)
        wrong("T%u: access %u of interruption %u comes out of order", e->thread, (unsigned)i,
              (unsigned)n);
    if (++w->handled[n] == 4) {
        w->depth--;
        w->whole++;
    }
}

static void next(struct worker *w, const struct event *e)
{
    for (;;) {
        while (w->at == w->n)
            if (!refill(w))
                wrong("T%u has ended as worker %u, and does %s 0x%" PRIx64, e->thread, w->number,
                      e->kind, e->addr);
        struct expected *x = &w->expected[w->at];
        if (x->form == FENCE && strcmp(e->kind, "read") == 0 && strcmp(e->order, "acquire") == 0)
            return;
        const int found = is(w, x, e);
        if (found) {
            w->at += found != HALF;
            return;
        }
        if (!optional(w, x)) {
            describe(w);
            wrong("T%u does %s 0x%" PRIx64 " %" PRIu64 " %s%s, which is not the next", e->thread,
                  e->kind, e->addr, e->size, e->order, e->block ? " to a block" : "");
        }
        w->at++;
    }
}

/* The worker that an address makes known: a leader writes its first message, the others touch
 * cells. */
static struct worker *known_by(const struct event *e)
{
    unsigned n = threads + 1;

    if (e->addr >= OWN(0) && e->addr < OWN(threads + 1))
        n = (unsigned)((e->addr - OWN(0)) / (OWN(1) - OWN(0)));
    else if (is_message(e->addr))
        n = (unsigned)((e->addr - MESSAGE(0, 0, 0)) / (MAX_STEPS * GROUP)) * GROUP;
    if (n > threads)
        wrong("T%u begins with %s 0x%" PRIx64, e->thread, e->kind, e->addr);
    if (workers[n].thread >= 0)
        wrong("T%u does the work of T%d", e->thread, workers[n].thread);
    workers[n].thread = (int)e->thread;
    return of_thread[e->thread] = &workers[n];
}

/* Whose handler's access this is. */
static struct worker *interrupted_by(const struct event *e)
{
    struct worker *w = &workers[(e->addr - HANDLED(0)) / (HANDLED(1) - HANDLED(0))];
    const struct worker *own = of_thread[e->thread], *stands = stands_for[e->thread];

    if (own ? own != w : stands ? stands != w : 0)
        wrong("T%u has a handler of worker %u", e->thread, w->number);
    if (own)
        return w;
    if (w->thread < 0 || !waits[w->thread])
        wrong("T%u has a handler of T%d, which does not wait", e->thread, w->thread);
    return stands_for[e->thread] = w;
}

static void accessed(const struct event *e)
{
    if (!e->block && (e->addr < ARENA || e->addr >= ARENA_END))
        return;
    if (e->addr >= COUNTER(0) && e->addr < COUNTER(COUNTERS) && strcmp(e->kind, "read") == 0)
        return; /* a look before an exchange, or an exchange that failed */
    if (e->addr >= HANDLED(0) && e->addr < HANDLED(threads + 1)) {
        handled(interrupted_by(e), e);
        return;
    }
    if (stands_for[e->thread])
        wrong("T%u has handlers alone, and does %s 0x%" PRIx64, e->thread, e->kind, e->addr);
    next(of_thread[e->thread] ? of_thread[e->thread] : known_by(e), e);
}

static void locked(const struct event *e)
{
    unsigned n = (unsigned)((e->addr - LOCK(0)) / 256);

    if (java) {
        const struct object *o = object_of(e->addr);
        if (!o || o->monitor < 0)
            return;
        n = (unsigned)o->monitor;
        static unsigned nested[LOCKS];
        nested[n] += strcmp(e->kind, "acq") == 0;
        nested[n] -= strcmp(e->kind, "rel") == 0;
        if (strcmp(e->kind, "rel") == 0 && nested[n])
            return;
    } else if (e->addr < LOCK(0) || n >= LOCKS) {
        return;
    }
    if (strcmp(e->kind, "acq-shared") == 0)
        shared[n][e->thread] = 1;
    else if (strcmp(e->kind, "rel-shared") == 0)
        shared[n][e->thread] = 0;
    else
        holder[n] = strcmp(e->kind, "acq") == 0 || strcmp(e->kind, "wait-exit") == 0
                        ? (int)e->thread + 1
                        : 0;
}

/* ---- the text
 * ---------------------------------------------------------------------------------------- */

/* Sites of interest: where blocks are touched, and where Java makes what is checked. */
enum made { BLOCKS, OWN_ARRAY, TICKET_ARRAY, DRAWN_ARRAY, MESSAGE_ARRAY, RACE_ARRAY };
static const char *const made_at[] = {" \"block_",
                                      " \"Stress.ownArray:",
                                      " \"Stress.ticketArray:",
                                      " \"Stress.drawnArray:",
                                      " \"Stress.messageArray:",
                                      " \"Stress.raceArray:"};
static struct {
    uint64_t site;
    enum made made;
} sites[64];
static unsigned n_sites;
static unsigned collections;

static int made_by(uint64_t site)
{
    for (unsigned i = 0; i < n_sites; i++)
        if (sites[i].site == site)
            return (int)sites[i].made;
    return -1;
}

/* An object of Java, with what its elements mean. */
static struct object known(uint64_t addr, uint64_t bytes, uint64_t elements, uint64_t site)
{
    struct object o = {.addr = addr, .bytes = (bytes + 7) / 8 * 8, .monitor = -1};

    if (!elements)
        return o;
    switch (made_by(site)) {
    case OWN_ARRAY:
        o.means = OWN(elements - CELLS);
        break;
    case TICKET_ARRAY:
        o.means = TICKET(elements - JAVA_TICKETS);
        if (elements - JAVA_TICKETS < MUTEXES)
            o.monitor = (int)(elements - JAVA_TICKETS);
        break;
    case DRAWN_ARRAY:
        o.means = DRAWN(elements - JAVA_TICKETS);
        break;
    case MESSAGE_ARRAY:
        o.means = MESSAGE(elements - JAVA_MESSAGES, 0, 0);
        break;
    case RACE_ARRAY:
        o.means = RACE;
        break;
    default:
        break;
    }
    return o;
}

/* An access of Java as it would be one of stress.c; 0 if it is to nothing that is checked. */
static int as_native(struct event *e)
{
    if (e->is_static)
        return 0;
    const struct object *o = object_of(e->addr);
    if (!o || e->addr + e->size > o->addr + o->bytes)
        wrong("T%u %ss at 0x%" PRIx64 ", where no object lives", e->thread, e->kind, e->addr);
    if (o->means && e->addr >= o->addr + HEADER)
        e->addr = o->means + (e->addr - o->addr - HEADER);
    else if (!e->block)
        return 0;
    return 1;
}

static uint64_t number(char **p)
{
    uint64_t n = 0;

    while (**p == ' ')
        ++*p;
    if ((*p)[0] == '0' && (*p)[1] == 'x') {
        for (*p += 2;; ++*p) {
            const char c = **p;
            if (c >= '0' && c <= '9')
                n = n << 4 | (uint64_t)(c - '0');
            else if (c >= 'a' && c <= 'f')
                n = n << 4 | (uint64_t)(c - 'a' + 10);
            else
                return n;
        }
    }
    while (**p >= '0' && **p <= '9')
        n = n * 10 + (uint64_t)(*(*p)++ - '0');
    return n;
}

static void word(char **p, char *to, size_t room_for)
{
    size_t n = 0;

    while (**p == ' ')
        ++*p;
    while (**p > ' ') {
        if (n + 1 < room_for)
            to[n++] = **p;
        ++*p;
    }
    to[n] = 0;
}

static void read_line(char *p)
{
    struct event e = {0};

    if (strncmp(p, "name site ", 10) == 0) {
        p += 10;
        const uint64_t site = number(&p);
        if (strncmp(p, " \"Stress.block_", 15) == 0)
            memmove(p + 2, p + 9, strlen(p + 9) + 1);
        for (unsigned i = 0; i < sizeof made_at / sizeof *made_at && n_sites < 64; i++)
            if (strncmp(p, made_at[i], strlen(made_at[i])) == 0) {
                sites[n_sites].site = site;
                sites[n_sites++].made = (enum made)i;
            }
        return;
    }
    if (*p != 'T')
        return;
    p++;
    e.thread = (unsigned)number(&p);
    word(&p, e.kind, sizeof e.kind);
    collections += strcmp(e.kind, "gc-begin") == 0;
    const int access =
        strcmp(e.kind, "read") == 0 || strcmp(e.kind, "write") == 0 || strcmp(e.kind, "rmw") == 0;
    const int heap =
        strcmp(e.kind, "alloc") == 0 || strcmp(e.kind, "clear") == 0 || strcmp(e.kind, "copy") == 0;
    if (strcmp(e.kind, "wait-enter") == 0 || strcmp(e.kind, "arrive") == 0)
        waits[e.thread] = 1;
    if (strcmp(e.kind, "wait-exit") == 0 || strcmp(e.kind, "depart") == 0)
        waits[e.thread] = 0;
    const int lock = strncmp(e.kind, "acq", 3) == 0 || strncmp(e.kind, "rel", 3) == 0 ||
                     strncmp(e.kind, "wait-", 5) == 0;
    if (!access && !heap && !lock)
        return;
    e.addr = number(&p);
    if (access || heap)
        e.size = number(&p);
    if (lock)
        locked(&e);
    uint64_t more_numbers[2] = {0};
    unsigned n = 0;
    for (char more[64]; word(&p, more, sizeof more), more[0];) {
        char *at = more + (more[0] == '@');
        if (more[0] == '@')
            e.site = number(&at);
        else if (more[0] >= '0' && more[0] <= '9' && n < 2)
            more_numbers[n++] = number(&at);
        else if (strcmp(more, "static") == 0)
            e.is_static = 1;
        else if (access && more[0] >= 'a' && strcmp(more, "array") && strcmp(more, "final") &&
                 strlen(more) < sizeof e.order)
            strcpy(e.order, more);
    }
    if (strcmp(e.kind, "alloc") == 0)
        java ? object_born(known(e.addr, e.size, more_numbers[0], e.site)) : born(e.addr, e.size);
    else if (strcmp(e.kind, "clear") == 0)
        java ? objects_cleared(e.addr, e.size) : cleared(e.addr, e.size);
    else if (heap && java)
        object_moved(e.addr, e.size, more_numbers[0]);
    if (!access)
        return;
    e.block = made_by(e.site) == BLOCKS;
    if (!java || as_native(&e))
        accessed(&e);
}

int main(int argc, char **argv)
{
    static char text[70000];
    unsigned long long interrupts = 0;

    if (argc < 5)
        return 2;
    java = strcmp(argv[1], "java") == 0;
    threads = (unsigned)atoi(argv[2]) / GROUP * GROUP;
    steps = (unsigned)atoi(argv[3]);
    seed = strtoull(argv[4], NULL, 10);
    race = argc > 5;
    workers = calloc(threads + 1, sizeof *workers);
    written = calloc(MESSAGE(MAX_THREADS / GROUP, 0, 0) - MESSAGE(0, 0, 0), 1);
    for (unsigned n = 0; n <= threads; n++) {
        workers[n].number = n;
        workers[n].thread = -1;
        workers[n].handled = calloc(1 << 18, 1);
    }
    for (unsigned n = 0; n < LOCKS; n++)
        shared[n] = calloc(IDS, 1);
    while (fgets(text, sizeof text, stdin)) {
        line++;
        read_line(text);
    }
    for (unsigned n = 0; n <= threads; n++) {
        struct worker *w = &workers[n];
        if (w->thread < 0)
            wrong("worker %u is not in the trace", n);
        if (w->at < w->n || refill(w))
            wrong("T%d, worker %u, ends in part %u of %u, access %u of %u", w->thread, n,
                  w->part - 1, steps + 2, w->at, w->n);
        interrupts += w->interrupts;
    }
    if (raced != (race ? 2 : 0))
        wrong("%u accesses race, %d should", raced, race ? 2 : 0);
    if (!n_sites)
        wrong("no site is named: addr2line is not here");
    for (unsigned n = 0; java && n < COUNTERS; n++)
        for (unsigned i = 0; i < drawn[n]; i++)
            if (!was_drawn[n][i])
                wrong("number %u of counter %u was drawn by nobody", i, n);
    printf("%lu lines, %u threads, %llu interruptions, %u collections\n", line, threads + 1,
           interrupts, collections);
    return 0;
}
