/* lard_sync.c - the sidecar of a packet trace (docs/foreign-formats.md): a guest that is linked
 * with this file, and has LARD_SYNC=FILE in its environment, writes down there what it would say to
 * lardsim. So a gem5 that knows nothing of lardsim can record it.
 *
 *     gcc ... program.c lard_pthread.c lard_sync.c @lard_pthread.wrap
 *
 * Each line belongs to a mark: a load with a GS prefix, by which it is found in the packet trace. A
 * thread keeps its lines to itself and writes them when it ends; the first one when the program
 * does. A sidecar has no copies: what realloc moves has a new life. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lard.h"

enum { PAGE = 4096, LINE = 64, FIRST = 1 << 12 };

static int file = -1;
static int busy; /* a lock for what follows, and for the file */
static struct entry {
    uint64_t key, value;
} * table[3]; /* by address: a block's bytes, a barrier's round, a handle's thread */
static size_t used[3], size[3];
enum { BLOCKS, ROUNDS, HANDLES };

static __thread char *text;
static __thread size_t length, room;
static __thread unsigned depth; /* in the library */
static __thread int inside;     /* this file's own calls of malloc are nobody's business */
static __thread uint64_t round_of;

static void enter(void)
{
    while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
        __asm__ volatile("pause");
}

static void leave(void)
{
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

static void *grown(void *p, size_t bytes)
{
    p = realloc(p, bytes);
    if (!p)
        abort();
    return p;
}

/* The value at the key, made if it is not there: 0. */
static uint64_t *at(int which, uint64_t key)
{
    for (size_t i = used[which]; i-- > 0;) /* young entries are asked for most */
        if (table[which][i].key == key)
            return &table[which][i].value;
    if (used[which] == size[which]) {
        size[which] = size[which] ? size[which] * 2 : 64;
        table[which] = grown(table[which], size[which] * sizeof **table);
    }
    table[which][used[which]] = (struct entry){key, 0};
    return &table[which][used[which]++].value;
}

static void gone(int which, uint64_t key)
{
    for (size_t i = used[which]; i-- > 0;)
        if (table[which][i].key == key) {
            table[which][i] = table[which][--used[which]];
            return;
        }
}

static void mark(uint64_t addr)
{
    unsigned char c;

    __asm__ volatile("movb %%gs:(%1), %0" : "=q"(c) : "r"(addr) : "memory");
}

/* A line, and its mark at something that the program has. The writing is inside, too: after the
 * mark of an in, before that of an out. */
static void line(uint64_t addr, const char *in, const char *event, uint64_t number, int has_number)
{
    const int out = in[0] == 'o';

    if (!out)
        mark(addr);
    if (room - length < LINE)
        text = grown(text, room *= 2);
    length += (size_t)sprintf(text + length, "%s%s%s", in, *event ? " " : "", event);
    length += (size_t)(has_number ? sprintf(text + length, " %llu\n", (unsigned long long)number)
                                  : sprintf(text + length, "\n"));
    if (out)
        mark(addr);
}

static void bare(const char *in, const char *event)
{
    line(LARD_ADDR(&busy), in, event, 0, 0);
}

static void block(const char *event, uint64_t addr, uint64_t bytes)
{
    line(addr, "in", event, bytes, 1);
    for (uint64_t page = addr / PAGE * PAGE + PAGE; page < addr + bytes; page += PAGE)
        mark(page);
}

static void begins(uint64_t number, const char *name)
{
    unsigned cpu = 0;

    syscall(SYS_getcpu, &cpu, NULL, NULL);
    text = grown(NULL, room = FIRST);
    length =
        (size_t)sprintf(text, "thread %llu core %u%s\n", (unsigned long long)number, cpu, name);
}

static void ends(void)
{
    if (!text)
        return;
    bare("in", "end");
    enter();
    for (size_t done = 0; done < length;) {
        const ssize_t n = write(file, text + done, length - done);

        if (n <= 0)
            break;
        done += (size_t)n;
    }
    leave();
    free(text);
    text = NULL;
}

static uint64_t barrier(uint64_t addr, int arrives)
{
    uint64_t *now;

    enter();
    now = at(ROUNDS, addr); /* the round, doubled; and 1 if somebody has departed */
    if (arrives) {
        *now += *now & 1;
        round_of = *now / 2;
    } else if (round_of == *now / 2) {
        *now |= 1;
    }
    leave();
    return round_of;
}

static const char *const event_of[LARD_OPS] = {
    [LARD_OP_ACQUIRE] = "acq",
    [LARD_OP_RELEASE] = "rel",
    [LARD_OP_ACQUIRE_SHARED] = "acq-shared",
    [LARD_OP_RELEASE_SHARED] = "rel-shared",
    [LARD_OP_WAIT_ENTER] = "wait-enter",
    [LARD_OP_WAIT_EXIT] = "wait-exit",
    [LARD_OP_NOTIFY] = "notify",
    [LARD_OP_VOLATILE_READ] = "vread",
    [LARD_OP_VOLATILE_WRITE] = "vwrite",
    [LARD_OP_CLASS_INIT] = "class-init",
    [LARD_OP_CLASS_USE] = "class-use",
    [LARD_OP_ROI_BEGIN] = "roi-begin",
    [LARD_OP_ROI_END] = "roi-end",
};

static void allocated(uint64_t addr, uint64_t bytes)
{
    enter();
    *at(BLOCKS, addr) = bytes;
    leave();
    block("alloc", addr, bytes);
}

static void freed(uint64_t addr)
{
    uint64_t bytes;

    enter();
    bytes = *at(BLOCKS, addr);
    gone(BLOCKS, addr);
    leave();
    if (bytes)
        block("clear", addr, bytes);
}

/* Writes the line between "in" and "out". An operation outside of the library is a visit to it. */
static void say(unsigned op, unsigned flags, uint64_t rsi, uint64_t rdx)
{
    uint64_t number;

    switch (op) {
    case LARD_OP_CREATE:
        line(LARD_ADDR(&busy), "in", "fork", rdx, 1);
        return;
    case LARD_OP_JOIN_HANDLE:
        enter();
        number = *at(HANDLES, rsi);
        leave();
        line(LARD_ADDR(&busy), "in", "join", number, 1);
        return;
    case LARD_OP_BARRIER_ARRIVE:
    case LARD_OP_BARRIER_DEPART:
        number = rdx == LARD_ROUND_ANY ? barrier(rsi, op == LARD_OP_BARRIER_ARRIVE) : rdx;
        line(rsi, "in", op == LARD_OP_BARRIER_ARRIVE ? "arrive" : "depart", number, 1);
        return;
    case LARD_OP_ALLOC:
        if (rdx)
            allocated(rsi, rdx);
        return;
    case LARD_OP_FREE:
    case LARD_OP_CLEAR:
        freed(rsi);
        return;
    default:
        if (op < LARD_OPS && event_of[op] && !(flags & LARD_SYSTEM))
            line(rsi ? rsi : LARD_ADDR(&busy), "in", event_of[op], 0, 0);
    }
}

static uint64_t told(unsigned op, unsigned flags, uint64_t rsi, uint64_t rdx, uint64_t rcx)
{
    (void)rcx;
    if (inside)
        return 0;
    inside = 1;
    if (op == LARD_OP_SELF) { /* it begins in the library */
        enter();
        *at(HANDLES, rsi) = rdx;
        leave();
        begins(rdx, "");
        bare("in", "start");
        depth = 1;
    } else if (!text) {
        ; /* it has ended, or nobody knows it */
    } else if (op == LARD_OP_RUNTIME && rsi) {
        if (!depth++)
            bare("in", "");
    } else if (op == LARD_OP_RUNTIME) {
        if (depth && !--depth)
            bare("out", "");
    } else if (op == LARD_OP_LAST) {
        ends();
    } else if (depth && op != LARD_OP_ALLOC && op != LARD_OP_FREE && op != LARD_OP_CREATE) {
        ; /* the library's own synchronisation */
    } else {
        if (!depth) /* accesses of this file are not the program's either */
            bare("in", "");
        say(op, flags, rsi, rdx);
        if (!depth)
            bare("out", "");
    }
    inside = 0;
    return 0;
}

__attribute__((constructor)) static void look(void)
{
    static const char head[] = "lardsim-gem5-sync 1\n";
    const char *path = getenv("LARD_SYNC");

    if (!path)
        return;
    inside = 1;
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || write(file, head, sizeof head - 1) < 0) {
        perror(path);
        _exit(1);
    }
    begins(0, " main");
    bare("out", "");
    lard_told = told;
    inside = 0;
}

__attribute__((destructor)) static void over(void)
{
    inside = 1;
    if (lard_told)
        ends();
}
