/* t_live.c - which events does lardsim get for what a guest does in gem5? This file plays lardsim
 * and gem5: it keeps the events, adds cycles, refuses, and knows what memory the guest has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gem5/guest/lard.h"
#include "gem5/live.h"
#include <lardsim.h>

/* ---- lardsim
 * -------------------------------------------------------------------------------------- */

struct lardsim {
    int unused;
};
static struct {
    struct lardsim it;
    struct lardsim_event ev[256];
    struct lardsim_at at[256];
    size_t n;
    uint64_t add;        /* cycles, to each event */
    const char *refuses; /* the next event, with this */
    const char *error;
    char set[1024], names[1024], last_name[300], caveat[600];
    int finished, resets, stopped;
} sim;

struct lardsim *lardsim_new(void)
{
    return &sim.it;
}
void lardsim_free(struct lardsim *l)
{
    (void)l;
}
static int note(const char *what, const char *value)
{
    strcat(strcat(strcat(sim.set, what), value), "\n");
    return sim.error ? -1 : 0;
}
int lardsim_preset(struct lardsim *l, const char *name)
{
    return (void)l, note("preset ", name);
}
int lardsim_load(struct lardsim *l, const char *path)
{
    return (void)l, note("file ", path);
}
int lardsim_set(struct lardsim *l, const char *what)
{
    (void)l;
    if (!strcmp(what, "bad=1"))
        sim.error = "there is no parameter \"bad\"";
    return note("", what);
}
int lardsim_output(struct lardsim *l, const char *dir, int over)
{
    return (void)l, (void)over, note("output ", dir);
}
int lardsim_record(struct lardsim *l, const char *path, int over)
{
    return (void)l, (void)over, note("record ", path);
}
int lardsim_debug(struct lardsim *l, const char *filter, void (*fn)(void *arg, const char *line),
                  void *arg)
{
    return (void)l, (void)fn, (void)arg, note("debug ", filter);
}
int lardsim_start(struct lardsim *l)
{
    return (void)l, sim.error ? -1 : 0;
}
void lardsim_stop(struct lardsim *l, int signal)
{
    (void)l, (void)signal;
    sim.stopped++;
}
int lardsim_reset(struct lardsim *l)
{
    return (void)l, sim.resets++, 0;
}
int lardsim_caveat(struct lardsim *l, const char *text)
{
    (void)l;
    assert_int_equal(sim.finished, 0);
    snprintf(sim.caveat, sizeof sim.caveat, "%s", text);
    return 0;
}
int lardsim_finish(struct lardsim *l)
{
    return (void)l, sim.finished++, sim.error ? -1 : 0;
}
const char *lardsim_error(const struct lardsim *l)
{
    return (void)l, sim.error;
}
int lardsim_name(struct lardsim *l, enum lardsim_names space, uint64_t id, const char *text)
{
    (void)l, (void)space, (void)id;
    snprintf(sim.last_name, sizeof sim.last_name, "%s", text);
    if (strlen(sim.names) < 900)
        strcat(strcat(sim.names, text), " ");
    return 0;
}
int lardsim_event_at(struct lardsim *l, const struct lardsim_at *at, const struct lardsim_event *ev,
                     uint64_t *added)
{
    (void)l;
    if (sim.refuses) {
        sim.error = sim.refuses;
        return -1;
    }
    sim.ev[sim.n] = *ev;
    sim.at[sim.n++] = *at;
    *added = sim.add;
    return 0;
}
int lardsim_stat(const struct lardsim *l, const char *name, uint64_t *value)
{
    return (void)l, (void)name, (void)value, -1;
}
const char *lardsim_policy(const struct lardsim *l, size_t i)
{
    return (void)l, (void)i, NULL;
}
uint64_t lardsim_events(const struct lardsim *l)
{
    return (void)l, sim.n;
}
int lardsim_cycles(const struct lardsim *l, unsigned core, uint64_t *clock, uint64_t *added)
{
    return (void)l, (void)core, (void)clock, (void)added, -1;
}

/* ---- gem5
 * ----------------------------------------------------------------------------------------- */

enum { MAPPED = 0x100000, STACK = 0x7ff00800, PERIOD = 1000, MAIN = 100 };

static bool mapped(void *arg, int context, uint64_t addr)
{
    return (void)arg, (void)context, addr < MAPPED;
}
static bool guest_read(void *arg, int context, uint64_t addr, void *to, size_t bytes)
{
    memset(to, 'x', bytes);
    return mapped(arg, context, addr) && mapped(arg, context, addr + bytes - 1);
}
static uint64_t stack(void *arg, int context)
{
    return (void)arg, STACK - (uint64_t)context * 0x10000;
}
static size_t symbol(void *arg, uint64_t addr, char *to, size_t size)
{
    (void)arg;
    return (size_t)snprintf(to, size, "f+%" PRIx64, addr);
}
static const struct live_host host = {NULL, mapped, guest_read, stack, symbol};

static struct live *begun(const struct live_config *c)
{
    memset(&sim, 0, sizeof sim);
    return live_new(c, &host);
}
static const struct live_config usual = {
    .period = PERIOD, .ticks = 1000000000000, .cores = 4, .delays = true};

static struct live_place place(uint64_t pid, uint64_t tick)
{
    return (struct live_place){
        .pid = pid, .pc = 0x400, .tick = tick, .context = (int)(pid % 4), .core = pid % 4};
}
static int access(struct live *l, uint64_t pid, unsigned is, uint64_t addr, uint32_t size)
{
    return live_access(
        l, &(struct live_access){.at = place(pid, 5000), .addr = addr, .size = size, .is = is});
}
static int say5(struct live *l, uint64_t pid, unsigned op, uint64_t rsi, uint64_t rdx, uint64_t rcx,
                uint64_t *answer)
{
    const uint64_t arg[6] = {(uint64_t)LARD_MAGIC << 32 | op, rsi, rdx, rcx, 0, 0};
    const struct live_place at = place(pid, 5000);

    return live_op(l, &at, arg, answer);
}
static int say(struct live *l, uint64_t pid, unsigned op, uint64_t rsi, uint64_t rdx)
{
    uint64_t answer = 0;

    return say5(l, pid, op, rsi, rdx, 0, &answer);
}
static int made(struct live *l, uint64_t parent, uint64_t child)
{
    const struct live_place at = place(parent, 5000);

    return live_clone(l, &at, child);
}
static int exits(struct live *l, uint64_t pid)
{
    const struct live_place at = place(pid, 5000);

    return live_exit(l, &at);
}

static void last(int kind, unsigned thread, uint64_t addr, uint64_t aux)
{
    const struct lardsim_event *ev = &sim.ev[sim.n - 1];

    if (ev->kind != kind || ev->thread != thread || ev->addr != addr || ev->aux != aux)
        fail_msg("the event is kind %u of thread %u, 0x%" PRIx64 ", %" PRIu64
                 "; it is to be kind %d of thread %u, 0x%" PRIx64 ", %" PRIu64,
                 ev->kind, ev->thread, ev->addr, ev->aux, kind, thread, addr, aux);
}
static void refused(struct live *l, int result, const char *with)
{
    assert_int_equal(result, -1);
    assert_non_null(live_error(l));
    if (!strstr(live_error(l), with))
        fail_msg("the message is \"%s\"; it has to say \"%s\"", live_error(l), with);
    live_free(l);
}

/* ---- questions
 * ------------------------------------------------------------------------------------ */

static void gem5_decides_the_machine(void **state)
{
    const char *const setting[] = {"policies=none", "cores=77"};
    const char *const debug[] = {"event=7", "line=0x1000"};
    struct live_config c = usual;

    (void)state;
    c.preset = "radish8";
    c.setting = setting;
    c.settings = 2;
    c.output = "m5out/lardsim";
    c.record = "r.trace";
    c.debug = debug;
    c.debugs = 2;
    c.period = 500;
    struct live *l = begun(&c);
    assert_null(live_error(l));
    assert_string_equal(sim.set, "preset radish8\npolicies=none\ncores=77\nmachine=multicore\n"
                                 "order=host\ncores=4\nfrequency=2000\nhost.delays=on\n"
                                 "output m5out/lardsim\nrecord r.trace\ndebug event=7\n"
                                 "debug line=0x1000\n");
    live_free(l);
}

static void a_wrong_configuration_is_lardsims_error(void **state)
{
    const char *const setting[] = {"bad=1", "later=1"};
    struct live_config c = usual;

    (void)state;
    c.setting = setting;
    c.settings = 2;
    struct live *l = begun(&c);
    assert_null(strstr(sim.set, "later"));
    refused(l, access(l, MAIN, LIVE_READ, 0x1000, 4), "there is no parameter \"bad\"");
    c = usual;
    c.period = 0;
    l = begun(&c);
    refused(l, live_finish(l), "clock");
}

static void accesses_are_events(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    access(l, MAIN, LIVE_READ, 0x1000, 4);
    last(LARDSIM_READ, 0, 0x1000, 0);
    assert_int_equal(sim.ev[0].size, 4);
    assert_int_equal(sim.ev[0].site, 0x400);
    assert_int_equal(sim.at[0].cycle, 5);
    assert_int_equal(sim.ev[0].flags, 0);
    assert_string_equal(sim.last_name, "f+400"); /* its place got a name */
    access(l, MAIN, LIVE_WRITE, 0x1000, 8);
    last(LARDSIM_WRITE, 0, 0x1000, 0);
    access(l, MAIN, LIVE_READ | LIVE_WRITE, 0x1008, 8);
    last(LARDSIM_RMW, 0, 0x1008, 0);
    assert_int_equal(sim.ev[2].flags, LARDSIM_ORDER(5) | LARDSIM_C11);
    assert_string_equal(sim.names, "f+400 "); /* once */
    live_free(l);
}

static void the_stack_is_what_rsp_reaches_and_not_what_rbp_points_to(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    access(l, MAIN, LIVE_READ | LIVE_ON_STACK, STACK - 8, 8);
    assert_int_equal(sim.ev[0].flags, LARDSIM_STACK);
    access(l, MAIN, LIVE_READ | LIVE_ON_STACK, STACK + 0x10000, 8); /* rbp as any register */
    assert_int_equal(sim.ev[1].flags, 0);
    access(l, MAIN, LIVE_READ | LIVE_ON_STACK, STACK - 0x900000, 8); /* the heap, or another's */
    assert_int_equal(sim.ev[2].flags, 0);
    access(l, MAIN, LIVE_READ, STACK - 8, 8); /* by a pointer, which others may have */
    assert_int_equal(sim.ev[3].flags, 0);
    live_free(l);
}

static void only_the_mark_counts_where_it_is_asked_for(void **state)
{
    struct live_config c = usual;

    (void)state;
    c.marked = true;
    struct live *l = begun(&c);
    access(l, MAIN, LIVE_READ, 0x1000, 4);
    assert_int_equal(sim.ev[0].flags, LARDSIM_SYSTEM);
    access(l, MAIN, LIVE_READ | LIVE_MARKED, 0x1000, 4);
    assert_int_equal(sim.ev[1].flags, 0);
    live_free(l);
}

static void what_the_runtime_does_is_its_own_and_nests(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    say(l, MAIN, LARD_OP_RUNTIME, 1, 0);
    say(l, MAIN, LARD_OP_RUNTIME, 1, 0);
    say(l, MAIN, LARD_OP_RUNTIME, 0, 0);
    assert_int_equal(sim.n, 0);
    access(l, MAIN, LIVE_READ | LIVE_WRITE, 0x1000, 4);
    assert_int_equal(sim.ev[0].flags, LARDSIM_SYSTEM | LARDSIM_ORDER(5) | LARDSIM_C11);
    say(l, MAIN, LARD_OP_ACQUIRE, 0x1000, 0);
    assert_int_equal(sim.ev[1].flags, LARDSIM_SYSTEM);
    access(l, 101, LIVE_READ, 0x1000, 4); /* another thread is not in it */
    assert_int_equal(sim.ev[2].flags, 0);
    made(l, MAIN, 102); /* one that is made there is */
    access(l, 102, LIVE_READ, 0x1000, 4);
    assert_int_equal(sim.ev[4].flags, LARDSIM_SYSTEM);
    say(l, MAIN, LARD_OP_RUNTIME, 0, 0);
    access(l, MAIN, LIVE_READ, 0x1000, 4);
    assert_int_equal(sim.ev[5].flags, 0);
    refused(l, say(l, MAIN, LARD_OP_RUNTIME, 0, 0), "did not begin");
}

/* Contexts are used again, pids after their end; a thread is neither. */
static void threads_come_and_go(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    access(l, MAIN, LIVE_READ, 0x1000, 4);
    made(l, MAIN, 101);
    last(LARDSIM_FORK, 0, 0, 1);
    access(l, 101, LIVE_WRITE, 0x1000, 4);
    last(LARDSIM_WRITE, 1, 0x1000, 0);
    exits(l, 101);
    last(LARDSIM_THREAD_END, 1, 0, 0);
    made(l, MAIN, 105); /* on the same context */
    last(LARDSIM_FORK, 0, 0, 2);
    access(l, 105, LIVE_WRITE, 0x1000, 4);
    last(LARDSIM_WRITE, 2, 0x1000, 0);
    exits(l, 105);
    made(l, MAIN, 101); /* the same pid */
    last(LARDSIM_FORK, 0, 0, 3);
    access(l, 101, LIVE_WRITE, 0x1000, 4);
    last(LARDSIM_WRITE, 3, 0x1000, 0);
    live_free(l);
}

static void a_join_goes_by_the_handle(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    access(l, MAIN, LIVE_READ, 0x1000, 4);
    made(l, MAIN, 101);
    say(l, 101, LARD_OP_SELF, 0x7777, 0);
    const size_t n = sim.n;

    say(l, 101, LARD_OP_LAST, 0, 0); /* gem5 sees it itself, and what follows */
    say(l, MAIN, LARD_OP_CREATE, 0, 2);
    assert_int_equal(sim.n, n);
    exits(l, 101);
    made(l, MAIN, 102); /* the C library gives it the same control block */
    say(l, 102, LARD_OP_SELF, 0x7777, 0);
    say(l, MAIN, LARD_OP_JOIN_HANDLE, 0x7777, 0);
    last(LARDSIM_JOIN, 0, 0, 2);
    refused(l, say(l, MAIN, LARD_OP_JOIN_HANDLE, 0x8888, 0), "no thread has said");
}

/* What a thread used of its stack is nobody's after its end. */
static void a_stack_dies_with_its_thread(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    access(l, MAIN, LIVE_READ, 0x1000, 4);
    made(l, MAIN, 101);
    const uint64_t top = (stack(NULL, 1) + 4095) / 4096 * 4096;

    access(l, 101, LIVE_WRITE | LIVE_ON_STACK, top - 0x108, 8);
    access(l, 101, LIVE_WRITE | LIVE_ON_STACK, top - 0x88, 8);
    exits(l, 101);
    assert_int_equal(sim.ev[sim.n - 2].kind, LARDSIM_CLEAR);
    assert_int_equal(sim.ev[sim.n - 2].addr, top - 0x110);
    assert_int_equal(sim.ev[sim.n - 2].aux, 0x110);
    last(LARDSIM_THREAD_END, 1, 0, 0);
    live_free(l);
}

static void barriers_are_counted_in_rounds(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    for (uint64_t round = 0; round < 3; round++) {
        say(l, 100, LARD_OP_BARRIER_ARRIVE, 0x2000, LARD_ROUND_ANY);
        last(LARDSIM_BARRIER_ARRIVE, 0, 0x2000, round);
        if (round) { /* who is slow leaves the round before this one */
            say(l, 101, LARD_OP_BARRIER_DEPART, 0x2000, LARD_ROUND_ANY);
            last(LARDSIM_BARRIER_DEPART, 1, 0x2000, round - 1);
        }
        say(l, 101, LARD_OP_BARRIER_ARRIVE, 0x2000, LARD_ROUND_ANY);
        last(LARDSIM_BARRIER_ARRIVE, 1, 0x2000, round);
        say(l, 100, LARD_OP_BARRIER_DEPART, 0x2000, LARD_ROUND_ANY);
        last(LARDSIM_BARRIER_DEPART, 0, 0x2000, round);
    }
    say(l, 100, LARD_OP_BARRIER_ARRIVE, 0x2008, 9); /* the guest counts */
    last(LARDSIM_BARRIER_ARRIVE, 0, 0x2008, 9);
    live_free(l);
}

static void who_waits_does_nothing(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    say(l, MAIN, LARD_OP_BARRIER_ARRIVE, 0x2000, 0);
    access(l, MAIN, LIVE_READ | LIVE_WRITE, 0x2000, 4); /* how the library waits */
    assert_int_equal(sim.n, 1);
    access(l, 101, LIVE_READ, 0x1000, 4); /* others do not wait */
    assert_int_equal(sim.n, 2);
    say(l, MAIN, LARD_OP_BARRIER_DEPART, 0x2000, 0);
    access(l, MAIN, LIVE_READ, 0x1000, 4);
    assert_int_equal(sim.n, 4);
    say(l, MAIN, LARD_OP_WAIT_ENTER, 0x3000, 0);
    access(l, MAIN, LIVE_READ, 0x3000, 4);
    say(l, MAIN, LARD_OP_WAIT_EXIT, 0x3000, 0);
    access(l, MAIN, LIVE_READ, 0x1000, 4);
    assert_int_equal(sim.n, 7);
    live_free(l);
}

static void memory_is_given_moved_and_freed(void **state)
{
    struct live *l = begun(&usual);
    uint64_t answer = 0;

    (void)state;
    say(l, MAIN, LARD_OP_FREE, 0x3000, 0); /* nobody has said that it was allocated */
    assert_int_equal(sim.n, 0);
    say(l, MAIN, LARD_OP_ALLOC, 0x3000, 24);
    last(LARDSIM_ALLOC, 0, 0x3000, 24);
    say5(l, MAIN, LARD_OP_COPY, 0x4000, 24, 0x3000, &answer);
    last(LARDSIM_COPY, 0, 0x4000, 24);
    assert_int_equal(sim.ev[1].addr2, 0x3000);
    say(l, MAIN, LARD_OP_FREE, 0x3000, 0);
    last(LARDSIM_CLEAR, 0, 0x3000, 24);
    say(l, MAIN, LARD_OP_FREE, 0x3000, 0); /* once */
    assert_int_equal(sim.n, 3);
    say(l, MAIN, LARD_OP_CLEAR, 0x4000, 24);
    last(LARDSIM_CLEAR, 0, 0x4000, 24);
    say(l, MAIN, LARD_OP_CLEAR, MAPPED * 2, 0); /* no bytes are nowhere */
    assert_null(live_error(l));
    assert_int_equal(sim.n, 4);
    live_free(l);
}

static void a_raw_runtime_keeps_the_clocks(void **state)
{
    struct live *l = begun(&usual);
    uint64_t answer = 55;

    (void)state;
    say(l, MAIN, LARD_OP_RAW, 0, 0);
    made(l, MAIN, 101);
    assert_int_equal(sim.ev[0].flags, LARDSIM_SYSTEM); /* orders nothing */
    say(l, MAIN, LARD_OP_THREAD, 0, 7);
    assert_int_equal(sim.ev[1].kind, LARDSIM_THREAD);
    assert_int_equal(sim.ev[1].aux, MAIN);
    const unsigned seven = sim.ev[1].thread;

    access(l, MAIN, LIVE_READ | LIVE_WRITE, 0x1000, 4);
    last(LARDSIM_RMW, seven, 0x1000, 0);
    assert_int_equal(sim.ev[2].flags, LARDSIM_ORDER(1) | LARDSIM_C11);
    say5(l, MAIN, LARD_OP_READVC, 0, 7, 0, &answer);
    assert_int_equal(answer, 1); /* its own entry begins at 1 */
    say5(l, MAIN, LARD_OP_READVC, 0, 8, 0, &answer);
    assert_int_equal(answer, 0);
    say(l, MAIN, LARD_OP_WRITEVC, 42, 8);
    assert_int_equal(sim.ev[sim.n - 1].addr, 42);
    assert_int_not_equal(sim.ev[sim.n - 1].aux, seven);
    say5(l, MAIN, LARD_OP_READVC, 0, 8, 0, &answer);
    assert_int_equal(answer, 42);
    say(l, 101, LARD_OP_THREAD, 0, 8); /* the other's clock is its own */
    say5(l, 101, LARD_OP_READVC, 0, 8, 0, &answer);
    assert_int_equal(answer, 1);
    live_free(l);
}

/* The core waits once for each cycle that was added, be it by an access, an operation or, later,
 * with the next access; events in between come as late as they will be. */
static void what_is_added_is_owed_once(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    sim.add = 10;
    say(l, MAIN, LARD_OP_ACQUIRE, 0x1000, 0);
    assert_int_equal(sim.at[0].cycle, 5);
    access(l, MAIN, LIVE_READ, 0x1008, 4);
    assert_int_equal(sim.at[1].cycle, 15);
    assert_int_equal(live_owed(l, 0), 20 * PERIOD);
    assert_int_equal(live_owed(l, 0), 0);
    assert_int_equal(live_paid(l, 0), 20);
    assert_int_equal(live_paid(l, 1), 0);
    live_free(l);

    struct live_config c = usual;

    c.delays = false;
    l = begun(&c);
    sim.add = 10;
    access(l, MAIN, LIVE_READ, 0x1008, 4);
    access(l, MAIN, LIVE_READ, 0x1008, 4);
    assert_int_equal(sim.at[1].cycle, 5);
    assert_int_equal(live_owed(l, 0), 0);
    live_free(l);
}

static void instructions_are_a_cores_since_its_last_event(void **state)
{
    struct live *l = begun(&usual);
    struct live_access a = {.at = place(MAIN, 5000), .addr = 0x1000, .size = 4, .is = LIVE_READ};

    (void)state;
    a.at.instructions = 100;
    live_access(l, &a);
    assert_int_equal(sim.at[0].gap, 99); /* the access is an instruction itself */
    a.at.instructions = 101;
    live_access(l, &a);
    assert_int_equal(sim.at[1].gap, 0);
    a.at.instructions = 101; /* the same one's second */
    live_access(l, &a);
    assert_int_equal(sim.at[2].gap, 0);
    a.at.instructions = 111;
    live_access(l, &a);
    assert_int_equal(sim.at[3].gap, 9);
    live_free(l);
}

static void rubbish_is_refused(void **state)
{
    const struct live_place at = place(MAIN, 5000);
    uint64_t answer = 0, arg[6] = {LARD_OP_ACQUIRE, 0x1000, 0, 0, 0, 0};
    struct live *l = begun(&usual);

    (void)state;
    refused(l, live_op(l, &at, arg, &answer), "pc 0x400 has 0x4 in rdi");
    assert_int_equal(sim.n, 0);
    l = begun(&usual);
    arg[0] = (uint64_t)LARD_MAGIC << 32 | 0x40 << 16 | LARD_OP_ACQUIRE;
    refused(l, live_op(l, &at, arg, &answer), "flags 0x40");
    static const unsigned no_op[] = {0, 1, 3, 33, 255, LARD_OPS, 0xffff};

    for (size_t i = 0; i < sizeof no_op / sizeof *no_op; i++) {
        l = begun(&usual);
        refused(l, say(l, MAIN, no_op[i], 0x1000, 8), "was the program compiled with");
    }
    l = begun(&usual);
    refused(l, say(l, MAIN, LARD_OP_FORK, 0, 65536), "is no thread");
    l = begun(&usual);
    refused(l, say(l, MAIN, LARD_OP_JOIN_HANDLE, UINT64_MAX, 0), "no thread has said");
    l = begun(&usual);
    refused(l, say(l, MAIN, LARD_OP_SELF, UINT64_MAX, 0), "no handle");
    l = begun(&usual);
    refused(l, say(l, MAIN, LARD_OP_READVC, 0, 0), "without lard_raw()");
    l = begun(&usual);
    access(l, 101, LIVE_READ, 0x1000, 4);
    refused(l, say(l, MAIN, LARD_OP_RAW, 0, 0), "after threads were created");
}

static void memory_that_is_not_there_is_refused(void **state)
{
    uint64_t answer = 0;
    struct live *l = begun(&usual);

    (void)state;
    refused(l, say(l, MAIN, LARD_OP_CLEAR, MAPPED - 8, 16), "0xffff8, 16 bytes, where the program");
    l = begun(&usual);
    refused(l, say(l, MAIN, LARD_OP_ALLOC, MAPPED, 16), "alloc at pc 0x400");
    l = begun(&usual);
    refused(l, say(l, MAIN, LARD_OP_CLEAR, 0x1000, UINT64_MAX), "no memory");
    l = begun(&usual);
    refused(l, say5(l, MAIN, LARD_OP_COPY, 0x1000, 16, MAPPED, &answer), "copy at pc 0x400");
    l = begun(&usual);
    refused(l, say5(l, MAIN, LARD_OP_NAME, 0x1000, MAPPED, 8, &answer), "name at pc 0x400");
    l = begun(&usual);
    refused(l, say5(l, MAIN, LARD_OP_NAME, 0x1000, 0x2000, 256, &answer), "255 at most");
    l = begun(&usual);
    assert_int_equal(say5(l, MAIN, LARD_OP_NAME, 0x1000, 0x2000, 3, &answer), 0);
    assert_string_equal(sim.last_name, "xxx");
    live_free(l);
}

static void threads_and_cores_have_a_limit(void **state)
{
    struct live *l = begun(&usual);
    struct live_place at = place(MAIN, 5000);
    uint64_t pid = 1000;

    (void)state;
    while (!live_error(l) && pid < 70000) {
        sim.n = 0;
        live_clone(l, &at, pid++);
    }
    assert_int_equal(pid, 1000 + 65536);
    refused(l, -1, "more threads than the 65536");
    l = begun(&usual);
    at.core = 4;
    refused(l, live_roi(l, &at, true), "the machine has 4");
}

static void lardsims_refusal_is_kept_and_results_too(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    sim.refuses = "event 0: a lock is released that is not held";
    assert_int_equal(say(l, MAIN, LARD_OP_RELEASE, 0x1000, 0), -1);
    assert_string_equal(live_error(l), sim.refuses);
    sim.refuses = NULL;
    assert_int_equal(access(l, MAIN, LIVE_READ, 0x1000, 4), -1); /* it stays */
    assert_int_equal(sim.n, 0);
    assert_int_equal(live_finish(l), -1);
    assert_int_equal(live_finish(l), -1);
    assert_int_equal(sim.finished, 1);
    assert_int_equal(sim.stopped, 1); /* what is written is partial */
    live_free(l);
}

/* ---- CPUs ----------------------------------------------------------------------------------- */

static void says(const char *sentence, const char *what)
{
    if (!what && sentence)
        fail_msg("there was nothing to say, and it says \"%s\"", sentence);
    if (what && (!sentence || !strstr(sentence, what)))
        fail_msg("it says \"%s\", and nothing of \"%s\"", sentence ? sentence : "", what);
}

/* All cores at once, as m5.switchCpus does; returns what is said first. */
static const char *switch_all(struct live *l, const char *model, uint64_t tick)
{
    static char first[512];

    *first = 0;
    for (unsigned core = 0; core < 4; core++) {
        const char *s = live_cpu(l, core, model, tick);
        if (s && *first)
            fail_msg("it says \"%s\", and then \"%s\"", first, s);
        if (s)
            snprintf(first, sizeof first, "%s", s);
    }
    return *first ? first : NULL;
}

static void tells(struct live *l, bool does, const char *model)
{
    const size_t n = sim.n;
    const uint64_t unheard = live_unheard(l);

    assert_int_equal(access(l, MAIN, LIVE_READ, 0x1000, 4), 0);
    if ((sim.n == n + 1) != does)
        fail_msg("with %s an access is %stold", model, does ? "not " : "");
    if (live_unheard(l) != unheard + !does)
        fail_msg("with %s the run does not know whether it counts only", model);
}

static void which_cpus_are_heard(void **state)
{
    static const struct {
        const char *model;
        bool heard;
    } each[] = {
        {"gem5::TimingSimpleCPU", true},
        {"gem5::AtomicSimpleCPU", true},
        {"gem5::MinorCPU", false},
        {"gem5::o3::CPU", false},
        {"gem5::X86KvmCPU", false},
        {"gem5::BaseKvmCPU", false},
        {"gem5::NonCachingSimpleCPU", false},
        {"gem5::MyTimingSimpleCPU", false}, /* derived: who knows what it does */
        {"TimingSimpleCPU", false},
        {"", false},
        {"N4gem52o33CPUE", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        struct live *l = begun(&usual);
        const char *said = live_cpu(l, 2, each[i].model, 0);
        says(said, each[i].heard ? NULL : "nothing is detected");
        says(said, each[i].heard ? NULL : "core 2 is a ");
        says(said, each[i].heard ? NULL : each[i].model);
        tells(l, each[i].heard, each[i].model);
        assert_int_equal(live_finish(l), 0);
        if (!*sim.caveat == !each[i].heard)
            fail_msg("of %s the results say \"%s\"", each[i].model, sim.caveat);
        live_free(l);
    }
}

static void one_core_that_is_not_heard_silences_all(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    says(switch_all(l, "gem5::TimingSimpleCPU", 0), NULL);
    says(live_cpu(l, 3, "gem5::MinorCPU", 0), "core 3 is a gem5::MinorCPU, which also asks for");
    tells(l, false, "a Minor elsewhere");
    says(live_cpu(l, 4, "gem5::TimingSimpleCPU", 9), NULL); /* there is none of that number */
    live_free(l);
}

static void each_switch_is_asked_again(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    says(switch_all(l, "gem5::AtomicSimpleCPU", 0), NULL);
    tells(l, true, "Atomic");
    says(switch_all(l, "gem5::TimingSimpleCPU", 6000), NULL);
    tells(l, true, "Timing");
    says(switch_all(l, "gem5::o3::CPU", 7000), "core 0 is a gem5::o3::CPU");
    says(switch_all(l, "gem5::o3::CPU", 7500), NULL);
    tells(l, false, "O3");
    says(switch_all(l, "gem5::MinorCPU", 8000), "core 0 is a gem5::MinorCPU");
    tells(l, false, "Minor");
    says(switch_all(l, "gem5::TimingSimpleCPU", 9000), "nothing is detected any more");
    tells(l, false, "Timing after O3");
    says(switch_all(l, "gem5::AtomicSimpleCPU", 9200), NULL);
    says(switch_all(l, "gem5::o3::CPU", 9500), "core 0 is a gem5::o3::CPU");
    says(switch_all(l, "gem5::AtomicSimpleCPU", 9900), "nothing is detected any more");
    tells(l, false, "Atomic after O3");
    assert_int_equal(live_finish(l), 0);
    says(sim.caveat,
         "from tick 7000 on nothing was detected: core 0 was a gem5::o3::CPU, which asks "
         "for loads that are squashed");
    says(sim.caveat, "4 accesses and operations");
    live_free(l);
}

/* Whether the program ran: by time, as some CPUs show nothing of what it did. */
static void a_cpu_that_never_ran_is_forgotten(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    says(switch_all(l, "gem5::X86KvmCPU", 0), "nothing is detected");
    says(switch_all(l, "gem5::TimingSimpleCPU", 0), "races are detected");
    tells(l, true, "a KVM that did not run");
    assert_int_equal(live_finish(l), 0);
    assert_string_equal(sim.caveat, "");
    live_free(l);

    l = begun(&usual);
    switch_all(l, "gem5::X86KvmCPU", 0);
    says(switch_all(l, "gem5::TimingSimpleCPU", 1), "nothing is detected any more");
    tells(l, false, "a KVM that ran");
    live_free(l);
}

static void nothing_that_happens_is_told_while_a_run_counts(void **state)
{
    struct live *l = begun(&usual);
    struct live_place at = place(MAIN, 5000);
    uint64_t answer = 7;

    (void)state;
    switch_all(l, "gem5::o3::CPU", 0);
    assert_int_equal(live_begin(l, &at), 0);
    assert_int_equal(sim.n, 1);
    assert_int_equal(say5(l, MAIN, LARD_OP_READVC, 0, 0, 0, &answer), 0);
    assert_int_equal(answer, 7);
    assert_int_equal(say(l, MAIN, LARD_OP_JOIN_HANDLE, 0x900, 0), 0); /* nobody is that one */
    assert_int_equal(made(l, MAIN, 101), 0);
    assert_int_equal(access(l, 101, LIVE_WRITE, 0x1000, 4), 0);
    assert_int_equal(exits(l, 101), 0);
    assert_int_equal(live_roi(l, &at, true), 0);
    assert_int_equal(sim.n, 1);
    assert_int_equal(live_unheard(l), 6);
    live_free(l);
}

static void what_is_owed_is_not_paid_while_a_run_counts(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    sim.add = 30;
    access(l, MAIN, LIVE_READ, 0x1000, 4);
    switch_all(l, "gem5::o3::CPU", 6000);
    assert_int_equal(live_owed(l, MAIN % 4), 0);
    assert_int_equal(live_unpaid(l, MAIN % 4), 30);
    assert_int_equal(live_paid(l, MAIN % 4), 0);
    live_free(l);
}

static void tell_held(void *arg)
{
    access(arg, MAIN, LIVE_WRITE, 0x1038, 8);
}

static void what_the_cpu_before_did_is_told(void **state)
{
    struct live *l = begun(&usual);

    (void)state;
    live_hold(l, tell_held, l);
    assert_int_equal(sim.n, 0);
    switch_all(l, "gem5::o3::CPU", 6000);
    assert_int_equal(sim.n, 1);
    last(LARDSIM_WRITE, 0, 0x1038, 0);
    live_free(l);
}

/* Else the run would end with an error: a region, a collection without an end. */
static void what_has_begun_ends_with_what_was_told_last(void **state)
{
    struct live *l = begun(&usual);
    const struct live_place at = place(MAIN, 5000), later = place(MAIN, 9000);

    (void)state;
    live_roi(l, &at, true);
    say(l, MAIN, LARD_OP_GC_BEGIN, 0, 0);
    switch_all(l, "gem5::o3::CPU", 6000);
    live_roi(l, &later, false);
    assert_int_equal(sim.n, 2);
    assert_int_equal(live_finish(l), 0);
    assert_int_equal(sim.n, 4);
    assert_int_equal(sim.ev[2].kind, LARDSIM_GC_END);
    assert_int_equal(sim.ev[3].kind, LARDSIM_ROI_END);
    assert_int_equal(sim.at[3].cycle, 5);
    live_free(l);

    l = begun(&usual);
    live_roi(l, &at, true);
    live_roi(l, &at, false);
    switch_all(l, "gem5::o3::CPU", 6000);
    assert_int_equal(live_finish(l), 0);
    assert_int_equal(sim.n, 2);
    live_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gem5_decides_the_machine),
        cmocka_unit_test(a_wrong_configuration_is_lardsims_error),
        cmocka_unit_test(accesses_are_events),
        cmocka_unit_test(the_stack_is_what_rsp_reaches_and_not_what_rbp_points_to),
        cmocka_unit_test(only_the_mark_counts_where_it_is_asked_for),
        cmocka_unit_test(what_the_runtime_does_is_its_own_and_nests),
        cmocka_unit_test(threads_come_and_go),
        cmocka_unit_test(a_join_goes_by_the_handle),
        cmocka_unit_test(a_stack_dies_with_its_thread),
        cmocka_unit_test(barriers_are_counted_in_rounds),
        cmocka_unit_test(who_waits_does_nothing),
        cmocka_unit_test(memory_is_given_moved_and_freed),
        cmocka_unit_test(a_raw_runtime_keeps_the_clocks),
        cmocka_unit_test(what_is_added_is_owed_once),
        cmocka_unit_test(instructions_are_a_cores_since_its_last_event),
        cmocka_unit_test(rubbish_is_refused),
        cmocka_unit_test(memory_that_is_not_there_is_refused),
        cmocka_unit_test(threads_and_cores_have_a_limit),
        cmocka_unit_test(lardsims_refusal_is_kept_and_results_too),
        cmocka_unit_test(which_cpus_are_heard),
        cmocka_unit_test(one_core_that_is_not_heard_silences_all),
        cmocka_unit_test(each_switch_is_asked_again),
        cmocka_unit_test(a_cpu_that_never_ran_is_forgotten),
        cmocka_unit_test(nothing_that_happens_is_told_while_a_run_counts),
        cmocka_unit_test(what_is_owed_is_not_paid_while_a_run_counts),
        cmocka_unit_test(what_the_cpu_before_did_is_told),
        cmocka_unit_test(what_has_begun_ends_with_what_was_told_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
