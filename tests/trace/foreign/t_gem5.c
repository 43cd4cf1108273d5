/* t_gem5.c - gem5's packet traces: what each command becomes, by version; who is which thread; how
 * files are merged; what marks and a sidecar make of them; what is refused, where and why; and what
 * the real gem5 wrote, counted by the guest's source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "trace/trace.h"

enum { SEQ_CST = ORDER_SEQ_CST << EVF_ORDER_SHIFT, CS = 1, SS = 2, DS = 3, GS = 5 };

/* ---- files, written by the definition of the format ----------------------------------------- */

struct trace {
    size_t n;
    uint8_t at[20000];
};

static void byte(struct trace *t, unsigned b)
{
    assert_true(t->n < sizeof t->at);
    t->at[t->n++] = (uint8_t)b;
}

static void number(struct trace *t, uint64_t v)
{
    for (; v > 127; v >>= 7)
        byte(t, 128 | (v & 127));
    byte(t, (unsigned)v);
}

static void value(struct trace *t, unsigned field, uint64_t v)
{
    number(t, field << 3);
    number(t, v);
}

static void block(struct trace *t, unsigned field, const void *bytes, size_t n)
{
    number(t, field << 3 | 2);
    number(t, n);
    for (size_t i = 0; i < n; i++)
        byte(t, ((const uint8_t *)bytes)[i]);
}

static void message(struct trace *t, const struct trace *m)
{
    number(t, m->n);
    for (size_t i = 0; i < m->n; i++)
        byte(t, m->at[i]);
}

/* Requestors 4i + 1 are core i's walkers, 4i + 2 its fetches, 4i + 3 its data. */
static struct trace *begin(unsigned cores)
{
    struct trace *t = xcalloc(1, sizeof *t), *h = xcalloc(1, sizeof *h),
                 *name = xcalloc(1, sizeof *h);
    static const char *const part[] = {"dtb.walker", "inst", "data"};

    for (const char *p = "gem5"; *p; p++)
        byte(t, (unsigned char)*p);
    block(h, 1, "probe", 5);
    value(h, 3, UINT64_C(1000000000000));
    for (unsigned i = 0; i < cores; i++)
        for (unsigned k = 0; k < 3; k++) {
            char *text = xasprintf("cpu%u.%s", i, part[k]);
            name->n = 0;
            value(name, 1, 4 * i + 1 + k);
            block(name, 2, text, strlen(text));
            block(h, 4, name->at, name->n);
            free(text);
        }
    message(t, h);
    free(name);
    free(h);
    return t;
}

struct packet {
    uint64_t tick, cmd, addr, size, flags, id, pc;
};

static void put(struct trace *t, struct packet p)
{
    struct trace *m = xcalloc(1, sizeof *m);

    value(m, 1, p.tick);
    value(m, 2, p.cmd);
    value(m, 3, p.addr);
    value(m, 4, p.size);
    value(m, 5, p.flags);
    value(m, 6, p.id);
    if (p.pc)
        value(m, 7, p.pc);
    message(t, m);
    free(m);
}

/* Command of core's data port. */
static void on(struct trace *t, unsigned core, uint64_t tick, unsigned cmd, uint64_t addr,
               unsigned size, unsigned segment)
{
    put(t, (struct packet){tick, cmd, addr, size, segment, 4 * core + 3, 0x400000 + addr % 4096});
}

static void mark(struct trace *t, unsigned core, uint64_t tick, uint64_t addr)
{
    on(t, core, tick, 1, addr, 1, GS);
}

static char *saved(const void *bytes, size_t n)
{
    char *path = xstrdup("t_gem5-XXXXXX");
    const int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
    return path;
}

static char *saved_trace(struct trace *t)
{
    char *path = saved(t->at, t->n);

    free(t);
    return path;
}

static void forget(char *path)
{
    unlink(path);
    free(path);
}

/* ---- reading -------------------------------------------------------------------------------- */

enum { EVENTS_MAX = 300 };
struct read {
    size_t n;
    struct event ev[EVENTS_MAX];
    char threads[8][64]; /* names; "": none */
    struct err e;
};

static struct read *read_spec(const char *spec)
{
    struct read *r = xcalloc(1, sizeof *r);
    struct source *s = source_open(spec, &r->e);
    struct batch b = {.records = 1};

    while (s && b.records && !source_next(s, &b, &r->e))
        for (size_t i = 0; i < b.records; i++) {
            assert_true(r->n < EVENTS_MAX);
            assert_int_equal(b.first, r->n - i);
            r->ev[r->n++] = b.rec[i];
        }
    for (unsigned i = 0; s && i < ARRAY_SIZE(r->threads); i++) {
        const char *name = names_find(s->names, NAME_THREAD, i);
        snprintf(r->threads[i], sizeof r->threads[i], "%s", name ? name : "");
    }
    if (s) {
        assert_non_null(s->caveat);
        source_close(s);
    }
    return r;
}

/* options: "" or "key=value:". Frees t. */
static struct read *read_trace(const char *options, struct trace *t)
{
    char *path = saved_trace(t), *spec = xasprintf("gem5:%s%s", options, path);
    struct read *r = read_spec(spec);

    forget(path);
    free(spec);
    return r;
}

static void is_access(const struct event *ev, unsigned tid, enum ev_kind kind, uint64_t addr,
                      unsigned size, unsigned flags)
{
    if (ev->kind != kind || ev->tid != tid || ev->addr != addr || ev->size != size ||
        ev->flags != flags || ev->aux != 0x400000 + addr % 4096)
        fail_msg(
            "found %s by T%u at %llx of %u, flags %x, site %llx; expected %s by T%u at %llx of "
            "%u, flags %x",
            ev_info[ev->kind].text, ev->tid, (unsigned long long)ev->addr, ev->size, ev->flags,
            (unsigned long long)ev->aux, ev_info[kind].text, tid, (unsigned long long)addr, size,
            flags);
}

static void is_sync(const struct event *ev, unsigned tid, enum ev_kind kind, uint64_t addr,
                    uint64_t aux)
{
    const struct event expected = {
        .kind = (uint8_t)kind, .tid = (sim_tid)tid, .addr = addr, .aux = aux};

    if (memcmp(ev, &expected, sizeof expected) != 0)
        fail_msg("found %s by T%u at %llx, aux %llx; expected %s by T%u at %llx, aux %llx",
                 ev_info[ev->kind].text, ev->tid, (unsigned long long)ev->addr,
                 (unsigned long long)ev->aux, ev_info[kind].text, tid, (unsigned long long)addr,
                 (unsigned long long)aux);
}

static void read_well(const struct read *r, size_t n)
{
    if (r->e.code)
        fail_msg("%s", r->e.text);
    assert_int_equal(r->n, n);
}

static void refused(struct read *r, size_t good, const char *expected)
{
    if (!r->e.code || !strstr(r->e.text, expected))
        fail_msg("expected \"...%s...\", found \"%s\"", expected, r->e.text);
    assert_int_equal(r->n, good);
    free(r);
}

/* ---- packets -------------------------------------------------------------------------------- */

static void commands_become_accesses(void **state)
{
    struct trace *t = begin(1);

    (void)state;
    on(t, 0, 1, 1, 0x1000, 4, DS);   /* ReadReq */
    on(t, 0, 2, 4, 0x1004, 8, DS);   /* WriteReq */
    on(t, 0, 3, 16, 0x1040, 64, DS); /* WriteLineReq */
    on(t, 0, 4, 34, 0x1008, 4, DS);  /* SwapReq */
    on(t, 0, 5, 26, 0x100c, 4, DS);  /* LoadLockedReq */
    on(t, 0, 6, 27, 0x100c, 4, DS);  /* StoreCondReq */
    on(t, 0, 7, 11, 0x1010, 4, DS);  /* SoftPFReq */
    on(t, 0, 8, 38, 0x1010, 4, DS);  /* MemFenceReq */
    on(t, 0, 9, 1, 0x1010, 4, DS | 0x1000000);
    on(t, 0, 10, 1, 0x1010, 4, 0x100);
    on(t, 0, 11, 1, 0x2000, 8, SS);
    struct read *r = read_trace("", t);
    read_well(r, 7);
    is_access(&r->ev[0], 0, EV_READ, 0x1000, 4, 0);
    is_access(&r->ev[1], 0, EV_WRITE, 0x1004, 8, 0);
    is_access(&r->ev[2], 0, EV_WRITE, 0x1040, 64, 0);
    is_access(&r->ev[3], 0, EV_RMW, 0x1008, 4, SEQ_CST | EVF_C11);
    is_access(&r->ev[4], 0, EV_READ, 0x100c, 4, SEQ_CST);
    is_access(&r->ev[5], 0, EV_WRITE, 0x100c, 4, SEQ_CST);
    is_access(&r->ev[6], 0, EV_READ, 0x2000, 8, EVF_STACK);
    free(r);
}

static void locked_halves_are_one_access_where_the_second_is(void **state)
{
    struct trace *t = begin(2);

    (void)state;
    on(t, 0, 1, 30, 0x1000, 4, DS);
    on(t, 1, 2, 30, 0x1000, 4, DS);
    on(t, 1, 3, 32, 0x1000, 4, DS);
    on(t, 1, 4, 4, 0x1008, 4, DS);
    on(t, 0, 5, 32, 0x1000, 4, DS);
    on(t, 0, 6, 30, 0x103c, 4, DS); /* a locked access that crosses a line: halves of halves */
    on(t, 0, 7, 30, 0x1040, 4, DS);
    on(t, 0, 8, 32, 0x103c, 4, DS);
    on(t, 0, 9, 32, 0x1040, 4, DS);
    on(t, 1, 9, 30, 0x2000, 4, DS); /* cut off by the end */
    struct read *r = read_trace("", t);
    read_well(r, 8);
    is_access(&r->ev[0], 1, EV_RMW, 0x1000, 4, SEQ_CST | EVF_C11);
    is_access(&r->ev[1], 1, EV_WRITE, 0x1008, 4, 0);
    is_access(&r->ev[2], 0, EV_RMW, 0x1000, 4, SEQ_CST | EVF_C11);
    is_access(&r->ev[3], 0, EV_READ, 0x103c, 4, SEQ_CST);
    is_access(&r->ev[4], 0, EV_READ, 0x1040, 4, SEQ_CST);
    is_access(&r->ev[5], 0, EV_WRITE, 0x103c, 4, SEQ_CST);
    is_access(&r->ev[6], 0, EV_WRITE, 0x1040, 4, SEQ_CST);
    is_access(&r->ev[7], 1, EV_READ, 0x2000, 4, SEQ_CST);
    free(r);
}

/* SwapReq has 34 since 22.0, had 30 before, 29 before 20.1; MemFenceReq is 4 behind it. */
static void versions_number_commands(void **state)
{
    static const struct {
        const char *options;
        unsigned swap;
    } at[] = {{"version=22.0:", 34}, {"version=24.0.0.1:", 34}, {"version=21.2.1:", 30},
              {"version=20.1:", 30}, {"version=20.0:", 29},     {"version=19:", 29}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
        struct trace *t = begin(1);
        on(t, 0, 1, at[i].swap, 0x1000, 4, DS);
        on(t, 0, 2, at[i].swap + 4, 0x1000, 4, DS);
        struct read *r = read_trace(at[i].options, t);
        read_well(r, 1);
        is_access(&r->ev[0], 0, EV_RMW, 0x1000, 4, SEQ_CST | EVF_C11);
        free(r);
    }
    refused(read_trace("version=25.0:", begin(1)), 0, "give one of these versions");
    refused(read_trace("version=24.x:", begin(1)), 0, "give one of these versions");
    refused(read_trace("version=22.10:", begin(1)), 0, "give one of these versions");
}

/* ReadError and WriteError came with 22.1; what stands behind them moved. */
static void a_flush_is_nothing_in_each_version(void **state)
{
    (void)state;
    for (unsigned newer = 0; newer < 2; newer++) {
        struct trace *t = begin(1);
        on(t, 0, 1, newer ? 53 : 51, 0x1000, 4, DS);
        struct read *r = read_trace(newer ? "version=22.1:" : "version=22.0:", t);
        read_well(r, 0);
        free(r);
    }
}

static void marked_accesses_are_the_tracked_ones(void **state)
{
    (void)state;
    for (unsigned marked = 0; marked < 2; marked++) {
        struct trace *t = begin(1);
        on(t, 0, 1, 1, 0x1000, 4, CS);
        on(t, 0, 2, 4, 0x1000, 4, DS);
        struct read *r = read_trace(marked ? "tracked=marked:" : "tracked=all:", t);
        read_well(r, 2);
        is_access(&r->ev[0], 0, EV_READ, 0x1000, 4, 0);
        is_access(&r->ev[1], 0, EV_WRITE, 0x1000, 4, marked ? EVF_SYSTEM : 0);
        free(r);
    }
    struct trace *t = begin(1);
    on(t, 0, 1, 1, 0x1000, 4, SS);
    struct read *r = read_trace("isa=other:", t);
    read_well(r, 1);
    is_access(&r->ev[0], 0, EV_READ, 0x1000, 4, 0);
    free(r);
}

/* ---- threads and files ---------------------------------------------------------------------- */

static void requestors_are_threads(void **state)
{
    struct trace *t = begin(2);

    (void)state;
    put(t, (struct packet){1, 4, 0x1000, 4, DS, 99, 0x400000}); /* a device: not named */
    on(t, 1, 2, 1, 0x1000, 4, DS);
    on(t, 0, 3, 1, 0x1000, 4, DS);
    put(t, (struct packet){4, 1, 0x1000, 4, DS, 1, 0}); /* core 0's walker */
    put(t, (struct packet){5, 1, 0x1000, 4, DS, 2, 0}); /* and its fetches */
    struct read *r = read_trace("", t);
    read_well(r, 3);
    is_access(&r->ev[0], 2, EV_WRITE, 0x1000, 4, 0);
    is_access(&r->ev[1], 1, EV_READ, 0x1000, 4, 0);
    is_access(&r->ev[2], 0, EV_READ, 0x1000, 4, 0);
    assert_string_equal(r->threads[0], "cpu0");
    assert_string_equal(r->threads[1], "cpu1");
    assert_string_equal(r->threads[2], "");
    free(r);
}

static void files_are_merged_by_tick(void **state)
{
    struct trace *a = begin(2), *b = begin(2);

    (void)state;
    on(a, 0, 1, 1, 0x1000, 4, DS);
    on(a, 0, 5, 1, 0x1004, 4, DS);
    on(a, 0, 5, 1, 0x1008, 4, DS);
    on(b, 1, 3, 4, 0x1010, 4, DS);
    on(b, 1, 5, 4, 0x1014, 4, DS);
    on(b, 1, 9, 4, 0x1018, 4, DS);
    char *of_a = saved_trace(a), *of_b = saved_trace(b);
    for (unsigned way = 0; way < 2; way++) {
        char *spec = way ? xasprintf("gem5:%.7s*", of_a) /* in the order of names, then */
                         : xasprintf("gem5:%s,%s", of_a, of_b);
        struct read *r = read_spec(spec);
        const unsigned swapped = way && strcmp(of_a, of_b) > 0;
        read_well(r, 6);
        is_access(&r->ev[0], 0, EV_READ, 0x1000, 4, 0);
        is_access(&r->ev[1], 1, EV_WRITE, 0x1010, 4, 0);
        is_access(&r->ev[swapped ? 3 : 2], 0, EV_READ, 0x1004, 4, 0);
        is_access(&r->ev[swapped ? 4 : 3], 0, EV_READ, 0x1008, 4, 0);
        is_access(&r->ev[swapped ? 2 : 4], 1, EV_WRITE, 0x1014, 4, 0);
        is_access(&r->ev[5], 1, EV_WRITE, 0x1018, 4, 0);
        free(r);
        free(spec);
    }
    forget(of_a);
    forget(of_b);
}

static void files_of_two_runs_are_refused(void **state)
{
    struct trace *a = begin(1), *b = xcalloc(1, sizeof *b);

    (void)state;
    *b = *a;
    memcpy(strstr((char *)b->at + 6, "cpu0.data"), "cpu7", 4);
    char *of_a = saved_trace(a), *of_b = saved_trace(b);
    char *spec = xasprintf("gem5:%s,%s", of_a, of_b);
    refused(read_spec(spec), 0, "calls requestor 3 cpu7.data, which is cpu0.data in a file before");
    free(spec);
    spec = xasprintf("gem5:%s,", of_a);
    refused(read_spec(spec), 0, "a file has no name");
    forget(of_a);
    forget(of_b);
    free(spec);
}

static void a_requestor_in_two_files_is_refused(void **state)
{
    struct trace *t = begin(1);

    (void)state;
    on(t, 0, 1, 1, 0x1000, 4, DS);
    char *path = saved_trace(t), *spec = xasprintf("gem5:%s,%s", path, path);
    refused(read_spec(spec), 1, "the requestor has packets in another file, too");
    forget(path);
    free(spec);
}

/* ---- marks ---------------------------------------------------------------------------------- */

static struct read *read_marked(const char *sidecar, struct trace *t)
{
    char *side = saved(sidecar, strlen(sidecar)), *options = xasprintf("sync=%s:", side);
    struct read *r = read_trace(options, t);

    forget(side);
    free(options);
    return r;
}

static void marks_become_synchronisation(void **state)
{
    static const char sidecar[] = "lardsim-gem5-sync 1 # of a run\n"
                                  "thread 0 core 0 main\nout\nin fork 1\nout\nin rel\nout\n"
                                  "in arrive 7\nout depart 7\n"
                                  "\nthread 1 core 1\nout start\nin\nout acq\nin end\n";
    struct trace *t = begin(3);

    (void)state;
    on(t, 0, 1, 4, 0x1000, 4, DS); /* before the first mark */
    mark(t, 0, 2, 0x9000);
    on(t, 0, 3, 4, 0x1000, 4, DS);
    mark(t, 0, 4, 0x9000); /* in fork */
    on(t, 0, 5, 4, 0x1000, 4, DS);
    on(t, 0, 5, 4, 0x1000, 4, CS); /* marked accesses are the program's everywhere */
    mark(t, 0, 6, 0x9000);
    on(t, 1, 7, 4, 0x1000, 4, DS);
    mark(t, 1, 8, 0x9000); /* out start */
    on(t, 1, 9, 1, 0x1000, 4, DS);
    mark(t, 1, 10, 0x9000);
    mark(t, 0, 11, 0x5040);         /* in rel */
    mark(t, 1, 12, 0x5040);         /* out acq */
    on(t, 1, 13, 1, 0x1000, 1, GS); /* no mark: none is left that is not taken */
    struct read *r = read_marked(sidecar, t);
    /* The last packet is the mark "in end". */
    is_sync(&r->ev[r->n - 1], 1, EV_THREAD_END, 0, 0);
    refused(r, 9, "the trace ends before its marks do");

    t = begin(3);
    mark(t, 0, 2, 0x9000);
    on(t, 0, 3, 4, 0x1000, 4, DS);
    mark(t, 0, 4, 0x9000);
    on(t, 0, 5, 4, 0x1000, 4, DS);
    on(t, 0, 5, 4, 0x1004, 4, CS);
    mark(t, 0, 6, 0x9000);
    on(t, 1, 7, 4, 0x1000, 4, DS);
    mark(t, 1, 8, 0x9000);
    on(t, 1, 9, 1, 0x1000, 4, DS);
    mark(t, 1, 10, 0x9000);
    mark(t, 0, 11, 0x5040);
    mark(t, 1, 12, 0x5040);
    mark(t, 0, 13, 0x9000);
    mark(t, 0, 14, 0x6040);
    on(t, 0, 15, 1, 0x6040, 4, DS); /* while it waits at the barrier */
    mark(t, 0, 15, 0x6040);
    mark(t, 1, 16, 0x9000);
    on(t, 1, 17, 4, 0x1000, 4, DS); /* after the end */
    r = read_marked(sidecar, t);
    read_well(r, 11);
    is_access(&r->ev[0], 0, EV_WRITE, 0x1000, 4, 0);
    is_sync(&r->ev[1], 0, EV_FORK, 0, 1);
    is_access(&r->ev[2], 0, EV_WRITE, 0x1000, 4, EVF_SYSTEM);
    is_access(&r->ev[3], 0, EV_WRITE, 0x1004, 4, 0);
    is_sync(&r->ev[4], 1, EV_THREAD_START, 0, 0);
    is_access(&r->ev[5], 1, EV_READ, 0x1000, 4, 0);
    is_sync(&r->ev[6], 0, EV_RELEASE, 0x5040, 0);
    is_sync(&r->ev[7], 1, EV_ACQUIRE, 0x5040, 0);
    is_sync(&r->ev[8], 0, EV_BARRIER_ARRIVE, 0x6040, 7);
    is_sync(&r->ev[9], 0, EV_BARRIER_DEPART, 0x6040, 7);
    is_sync(&r->ev[10], 1, EV_THREAD_END, 0, 0);
    assert_string_equal(r->threads[0], "main");
    assert_string_equal(r->threads[1], "thread-1");
    free(r);
}

/* Two threads on core 1, one after the other; each has the accesses between its marks. */
static void a_core_runs_threads_one_after_the_other(void **state)
{
    struct trace *t = begin(2);

    (void)state;
    mark(t, 1, 1, 0x9000);
    on(t, 1, 2, 4, 0x1000, 4, DS);
    mark(t, 1, 3, 0x9000);
    on(t, 1, 4, 4, 0x1000, 4, DS);
    mark(t, 1, 5, 0x9000);
    on(t, 1, 6, 4, 0x1000, 4, DS);
    mark(t, 1, 7, 0x9000);
    struct read *r = read_marked("lardsim-gem5-sync 1\nthread 4 core 1\nout\nin end\n"
                                 "thread 2 core 1\nout\nin end\n",
                                 t);
    read_well(r, 4);
    is_access(&r->ev[0], 4, EV_WRITE, 0x1000, 4, 0);
    is_sync(&r->ev[1], 4, EV_THREAD_END, 0, 0);
    is_access(&r->ev[2], 2, EV_WRITE, 0x1000, 4, 0);
    is_sync(&r->ev[3], 2, EV_THREAD_END, 0, 0);
    free(r);
}

/* 0x2800 bytes from byte 0x800 of a page: 0x800 of it, two whole ones. The second follows the first
 * in physical memory, the third does not. */
static void blocks_lie_where_their_pages_do(void **state)
{
    struct trace *t = begin(1);

    (void)state;
    mark(t, 0, 1, 0x3800);
    mark(t, 0, 2, 0x4000);
    on(t, 0, 3, 1, 0x1000, 4, DS);
    mark(t, 0, 4, 0x9000);
    mark(t, 0, 5, 0x3800);
    struct read *r =
        read_marked("lardsim-gem5-sync 1\nthread 0 core 0\nout alloc 0x2800\nin clear 8\n", t);
    read_well(r, 4);
    is_access(&r->ev[0], 0, EV_READ, 0x1000, 4, 0);
    is_sync(&r->ev[1], 0, EV_ALLOC, 0x3800, 0x1800);
    is_sync(&r->ev[2], 0, EV_ALLOC, 0x9000, 0x1000);
    is_sync(&r->ev[3], 0, EV_CLEAR, 0x3800, 8);
    free(r);

    t = begin(1);
    mark(t, 0, 1, 0x3800);
    mark(t, 0, 2, 0x4008);
    refused(read_marked("lardsim-gem5-sync 1\nthread 0 core 0\nout alloc 0x2800\nin clear 8\n", t),
            0, "a block is not marked to its end");
}

static void sidecars_that_do_not_fit_are_refused(void **state)
{
#define HEAD "lardsim-gem5-sync 1\n"
    static const struct {
        const char *sidecar, *expected;
        bool at_open;
    } bad[] = {
        {"", "is empty", true},
        {"thread 0 core 0\n", ":1: a sidecar begins with \"lardsim-gem5-sync 1\"", true},
        {"# nothing\n", ": a sidecar begins with \"lardsim-gem5-sync 1\"", true},
        {"lardsim-gem5-sync 2\n", ":1: version 2 is not known; this lardsim reads version 1", true},
        {HEAD "out\n", ":2: a mark is of no thread; write \"thread N core C [NAME]\"", true},
        {HEAD "thread 0 core 0\nover\n", ":3: \"over\" begins no line", true},
        {HEAD "thread 0 core 0\nout read\n", ":3: \"read\" is no event of a mark", true},
        {HEAD "thread 0 core 0\nout gc-begin\n", ":3: \"gc-begin\" is no event of a mark", true},
        {HEAD "thread 0 core 0\nout fork\n", ":3: the thread's number is missing", true},
        {HEAD "thread 0 core 0\nout fork 65536\n", ":3: the thread's number", true},
        {HEAD "thread 0 core 0\nout alloc 0\n", ":3: a block of no bytes", true},
        {HEAD "thread 0 core 0\nout acq 5\n", ":3: \"5\" is too much", true},
        {HEAD "thread 0 core 0\nthread 0 core 1\n", ":3: the thread is given twice", true},
        {HEAD "thread 0 kern 0\n", ":2: \"core\" should stand behind the number", true},
        {HEAD "thread 0 core 65536\n", ":2: the core's number", true},
        {HEAD "thread 0 core 5\nout\n", "names core 5, and the trace has 2 cores", true},
        {HEAD "thread 0 core 0\nout\nout\nout\n", "the trace ends before its marks do", false},
        {HEAD "thread 0 core 0\nout\n", "the core has more marks", false},
        {HEAD "thread 0 core 1\nout\n", "it has no thread on this core", false},
        {HEAD "thread 0 core 0\nout\nout clear 5000\n", "the trace ends before its marks do",
         false},
    };
#undef HEAD

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct trace *t = begin(2);
        mark(t, 0, 1, 0x9000);
        mark(t, 0, 2, 0x9000);
        struct read *r = read_marked(bad[i].sidecar, t);
        assert_int_equal(r->e.code, LARD_TRACE);
        refused(r, 0, bad[i].expected);
    }
    refused(read_trace("sync=t_gem5-none:", begin(1)), 0, "t_gem5-none: there is no such file");
}

/* ---- what is no such trace ------------------------------------------------------------------ */

static void other_packets_are_refused(void **state)
{
    static const struct {
        struct packet p;
        const char *expected;
    } bad[] = {
        {{5, 2, 0x1000, 4, 0, 3, 0}, "the packet is a ReadResp; attach the probe to PktRequest"},
        {{5, 7, 0x1000, 64, 0, 3, 0}, "the packet is a WritebackDirty; caches send these"},
        {{5, 25, 0x1000, 64, 0, 3, 0}, "the packet is a ReadSharedReq; caches send these"},
        {{5, 0, 0x1000, 4, 0, 3, 0}, "command 0 is none of a packet's; name the gem5"},
        {{5, 60, 0x1000, 4, 0, 3, 0}, "command 60 is none of a packet's"},
        {{5, UINT64_MAX, 0x1000, 4, 0, 3, 0}, "command 18446744073709551615 is none"},
        {{5, 1, 0x1000, 0, 0, 3, 0}, "; the trace is damaged"},
        {{5, 1, UINT64_MAX, 2, 0, 3, 0}, "; the trace is damaged"},
        {{5, 1, 0x1000, UINT64_C(1) << 32, 0, 3, 0}, "; the trace is damaged"},
        {{3, 1, 0x1000, 4, 0, 3, 0}, "the packet is earlier than the one before it"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct trace *t = begin(1);
        on(t, 0, 4, 1, 0x1000, 4, DS);
        char *place = xasprintf(": byte %zu: ", t->n);
        put(t, bad[i].p);
        struct read *r = read_trace("", t);
        assert_int_equal(r->e.code, LARD_TRACE);
        assert_non_null(strstr(r->e.text, place));
        refused(r, 1, bad[i].expected);
        free(place);
    }
}

/* At every byte: where a packet ends it is a trace, elsewhere the error says that it is cut off. */
static void a_trace_that_is_cut_off_says_so(void **state)
{
    struct trace *t = begin(1);

    (void)state;
    const size_t header = t->n;
    on(t, 0, 1, 1, 0x1000, 4, DS);
    const size_t one = t->n;
    on(t, 0, 2, 1, 0x1000, 4, DS);
    for (size_t n = 1; n <= t->n; n++) {
        struct trace *cut = xcalloc(1, sizeof *cut);
        *cut = *t;
        cut->n = n;
        struct read *r = read_trace("", cut);
        const bool whole = n == header || n == one || n == t->n;
        assert_int_equal(r->n, (n >= one) + (n == t->n));
        if (whole != !r->e.code)
            fail_msg("%zu of %zu bytes: \"%s\"", n, t->n, r->e.text);
        if (n > header && !whole)
            assert_non_null(strstr(r->e.text, "is cut off; gem5 did not end well"));
        free(r);
    }
    free(t);
}

static void foreign_files_are_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *expected;
    } bad[] = {
        {"gem", 3, "byte 0: a trace of gem5 begins with \"gem5\""},
        {"lardsim-text 1\n", 15, "byte 0: a trace of gem5 begins with \"gem5\""},
        {"gem5", 4, "byte 4: the header is missing"},
        {"gem5\0", 5, "byte 4: the header names no object or no ticks"},
        {"gem5\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 15, "the message is too long"},
        {"gem5\xff\xff\xff\xff\x0f", 9, "the message is too long"},
        {"gem5\x02\x07\x01", 7, "the header can't be taken apart"},
        {"gem5\x04\x12\x7f\x00\x00", 9, "the header can't be taken apart"},
        {"gem5\x07\x0a\x01x\x18\x01\x20\x01", 12, "is that of a trace of instructions"},
        {"gem5\x08\x0a\x01x\x18\x01\x22\x01\xff", 13, "a requestor's name can't be taken apart"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        char *path = saved(bad[i].bytes, bad[i].n), *spec = xasprintf("gem5:%s", path);
        struct read *r = read_spec(spec);
        assert_int_equal(r->e.code, LARD_TRACE);
        refused(r, 0, bad[i].expected);
        forget(path);
        free(spec);
    }
    refused(read_trace("sync=:", begin(1)), 0, "there is no such file");
    refused(read_trace("speed=9:", begin(1)), 0, "\"speed=9\" is no option of gem5's traces");
}

/* ---- the real gem5 -------------------------------------------------------------------------- */

/* three.c: three threads increment `marked` with marked accesses, the atomic `atomic`, and `plain`,
 * three times each. */
static void what_gem5_wrote_is_what_the_guest_did(void **state)
{
    const char *top = getenv("top_srcdir");
    char *spec = xasprintf("%s/tests/data/gem5/three_shared.ptrc.gz", top ? top : ".");
    struct read *r = read_spec(spec);
    unsigned reads = 0, writes = 0, atomic = 0, threads = 0;
    uint64_t marked = 0, counter = 0;

    (void)state;
    read_well(r, 67); /* 27 reads, 31 writes, 9 pairs of halves */
    free(spec);
    for (size_t i = 0; i < r->n; i++)
        threads |= 1U << r->ev[i].tid;
    assert_int_equal(threads, 7);
    free(r);
    spec =
        xasprintf("gem5:tracked=marked:%s/tests/data/gem5/three_shared.ptrc.gz", top ? top : ".");
    r = read_spec(spec);
    for (size_t i = 0; i < r->n; i++) {
        const struct event *ev = &r->ev[i];
        if (!(ev->flags & EVF_SYSTEM)) {
            assert_true(!marked || ev->addr == marked);
            marked = ev->addr;
            reads += ev->kind == EV_READ;
            writes += ev->kind == EV_WRITE;
        }
    }
    assert_int_equal(reads, 9);
    assert_int_equal(writes, 9);
    for (size_t i = 0; i < r->n; i++)
        if (r->ev[i].kind == EV_RMW) {
            assert_true(!counter || r->ev[i].addr == counter);
            counter = r->ev[i].addr;
            atomic++;
        }
    assert_int_equal(atomic, 9);
    assert_int_not_equal(counter, marked);
    assert_string_equal(r->threads[2], "processor.cores2.core");
    free(r);
    free(spec);
}

/* t9.c: two threads increment `racy` twice each and, between acquire and release, `guarded`; the
 * first joins the second and increments `guarded` once more. What happens in the library is
 * system. Stream rules hold. */
static void what_a_guest_has_marked_is_its_synchronisation(void **state)
{
    const char *top = getenv("top_srcdir");
    char *spec = xasprintf("gem5:sync=%s/tests/data/gem5/t9.sync:%s/tests/data/gem5/t9_core*.gz",
                           top ? top : ".", top ? top : ".");
    struct read *r = read_spec(spec);
    struct rules *rules = rules_new(true);
    unsigned kinds[EV_KINDS] = {0}, racy = 0, guarded = 0;
    int locked[2] = {0};
    uint64_t lock = 0;

    (void)state;
    free(spec);
    read_well(r, 53);
    for (size_t i = 0; i < r->n; i++)
        if (r->ev[i].kind == EV_ACQUIRE)
            lock = r->ev[i].addr;
    for (size_t i = 0; i < r->n; i++) {
        const struct event *ev = &r->ev[i];
        if (rules_apply(rules, ev, i, &r->e))
            fail_msg("%s", r->e.text);
        kinds[ev->kind]++;
        locked[ev->tid] += (ev->kind == EV_ACQUIRE) - (ev->kind == EV_RELEASE);
        if (!event_is_access(ev) || ev->flags & (EVF_SYSTEM | EVF_STACK))
            continue;
        if (ev->addr == lock + 4) { /* .bss: done, guarded, lockv, racy */
            assert_int_equal(locked[ev->tid], 0);
            racy++;
        } else {
            assert_int_equal(ev->addr, lock - 4);
            assert_true(locked[ev->tid] || kinds[EV_JOIN]);
            guarded++;
        }
    }
    assert_int_equal(racy, 8);
    assert_int_equal(guarded, 10);
    assert_int_equal(kinds[EV_ACQUIRE], 4);
    assert_int_equal(kinds[EV_RELEASE], 4);
    assert_int_equal(kinds[EV_FORK], 1);
    assert_int_equal(kinds[EV_JOIN], 1);
    assert_int_equal(kinds[EV_THREAD_END], 2);
    assert_int_equal(rules_finish(rules, &r->e), 0);
    rules_free(rules);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_become_accesses),
        cmocka_unit_test(locked_halves_are_one_access_where_the_second_is),
        cmocka_unit_test(versions_number_commands),
        cmocka_unit_test(a_flush_is_nothing_in_each_version),
        cmocka_unit_test(marked_accesses_are_the_tracked_ones),
        cmocka_unit_test(requestors_are_threads),
        cmocka_unit_test(files_are_merged_by_tick),
        cmocka_unit_test(files_of_two_runs_are_refused),
        cmocka_unit_test(a_requestor_in_two_files_is_refused),
        cmocka_unit_test(marks_become_synchronisation),
        cmocka_unit_test(a_core_runs_threads_one_after_the_other),
        cmocka_unit_test(blocks_lie_where_their_pages_do),
        cmocka_unit_test(sidecars_that_do_not_fit_are_refused),
        cmocka_unit_test(other_packets_are_refused),
        cmocka_unit_test(a_trace_that_is_cut_off_says_so),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(what_gem5_wrote_is_what_the_guest_did),
        cmocka_unit_test(what_a_guest_has_marked_is_its_synchronisation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
