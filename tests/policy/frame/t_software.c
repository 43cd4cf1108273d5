/* t_software.c - what fasttrack, vc and eraser cost in software, one event at a time: each path's
 * instructions and accesses, computed by hand from the tables in docs/policies/. The log is
 * machine_rig.h's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/frame/machine_rig.h"
#include "tests/frame/watch.h"

#include <cmocka.h>

enum { X = 0x40, Y = 0x44, FAR = 0x10000, L = 0x9000, M = 0x9100 };

#define R(t, a)   EV_READ4(t, a)
#define W(t, a)   EV_WRITE4(t, a)
#define ACQ(t, a) EV_ON(ACQUIRE, t, a)
#define REL(t, a) EV_ON(RELEASE, t, a)

struct run {
    struct machine_rig m;
    struct config *config;
    struct checker *checker;
    struct err err;
};

static void open_run(struct run *r, const char *policy, const char *const *settings)
{
    char *spec = xasprintf("a=%s", policy);

    machine_rig_open(&r->m, 4);
    r->err = (struct err){0};
    r->config = config_new(NULL);
    for (; settings && *settings; settings++)
        assert_int_equal(config_set(r->config, *settings, &r->err), 0);
    const struct checker_env env = {.config = r->config,
                                    .stats = r->m.stats,
                                    .number = &r->m.number,
                                    .granule = 4,
                                    .err = &r->err,
                                    .machine = &r->m.machine,
                                    .host = &r->m,
                                    .exec = machine_exec,
                                    .mem = machine_mem};
    r->checker = checker_new(spec, &env, &r->err);
    assert_non_null(r->checker);
    free(spec);
}

static void close_run(struct run *r)
{
    checker_finish(r->checker);
    checker_free(r->checker);
    config_free(r->config);
    machine_rig_close(&r->m);
}

/* On the core of the thread's number. */
static void steps(struct run *r, const struct event *ev, size_t records)
{
    for (const struct event *end = ev + records; ev < end; ev += event_records(ev), r->m.number++)
        checker_step(r->checker, ev, ev->tid % 4, (struct mem_outcome){0}, 0);
    assert_int_equal(r->err.code, 0);
}
#define STEPS(r, ...) steps(r, EVENTS(__VA_ARGS__))

/* What these events, run as others before, cost. */
#define COSTS(r, log, ...)                                                                         \
    do {                                                                                           \
        machine_forget(&(r)->m);                                                                   \
        STEPS(r, __VA_ARGS__);                                                                     \
        machine_says(&(r)->m, log);                                                                \
    } while (0)

static uint64_t stat(const struct run *r, const char *name)
{
    char *full = xasprintf("policy.a.%s", name);
    uint64_t v = UINT64_MAX;

    assert_true(stats_value(r->m.stats, full, &v));
    free(full);
    return v;
}

/* ---- fasttrack ------------------------------------------------------------------------------ */

/* X's words are at s+256: its address / 4 * 16. A thread's words are at k+200000 + 64 * thread: at
 * 0 the word of its clock, at 16 its epoch. */

/* The epoch is new: stored, loaded. PLACE 2, read epoch; SAME 2, IS_MAP 2, SLOW 2, LOCK 4; the
 * clock's word; CLOCK 2, the write epoch; NONE 2, and of the read NONE 2; the time, the lock. */
#define FT_FIRST_READ                                                                              \
    "i1 S:k+200010:8 i1 L:k+200010:8 i3 L:s+264:8 i11 A:s+264:4 i1 L:k+200000:8 i3 L:s+256:8 "     \
    "i5 S:s+268:4 i1 S:s+264:4"

static void fasttrack_reads(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "fasttrack", NULL);
    COSTS(&r, FT_FIRST_READ, R(0, X));
    /* The same epoch: a load, compare, branch; no store, no atomic. */
    COSTS(&r, "i1 L:k+200010:8 i3 L:s+264:8 i2", R(0, X));
    assert_int_equal(stat(&r, "metadata.live"), 16);
    close_run(&r);
}

/* Y's words are beside X's. Before the write the read words are loaded to be locked. ORDERED 5: no
 * clock in memory yet. */
static void fasttrack_writes(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "fasttrack", NULL);
    STEPS(&r, R(0, X));
    COSTS(&r,
          "i1 L:k+200010:8 i3 L:s+272:8 i5 L:s+280:4 i5 A:s+280:4 i1 L:k+200000:8 i3 L:s+272:8 "
          "i7 S:s+272:8 i1 S:s+280:4",
          W(0, Y));
    COSTS(&r, "i1 L:k+200010:8 i3 L:s+272:8 i2", W(0, Y));
    /* X has been read: NONE 2, IS_MAP 2, NONE 2, the read's time, ORDERED 5. */
    COSTS(&r,
          "i1 L:k+200010:8 i3 L:s+256:8 i5 L:s+264:4 i5 A:s+264:4 i1 L:k+200000:8 i3 L:s+256:8 "
          "i7 L:s+268:4 i6 S:s+256:8 i1 S:s+264:4",
          W(0, X));
    /* As published, that write has left the read epoch. */
    COSTS(&r, "i1 L:k+200010:8 i3 L:s+264:8 i2", R(0, X));
    COSTS(&r, "i1 L:k+200010:8 i3 L:s+256:8 i2", W(0, X));
    assert_int_equal(stat(&r, "metadata.live"), 32);
    close_run(&r);
}

/* Thread 1 acquires what thread 0 has released: its clock has two entries, at k+10000000040 or so.
 */
static void fasttrack_looks_entries_up_in_the_clock(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "fasttrack", NULL);
    STEPS(&r, W(0, X), ACQ(0, L), REL(0, L), ACQ(1, L));
    machine_forget(&r.m);
    STEPS(&r, R(1, X));
    /* NONE 2, ORDERED 5 of the write, its entry 0; after it NONE 2 of the read. */
    assert_non_null(strstr(r.m.log, "L:k+200040:8 i3 L:s+256:8 i8 L:k+"));
    assert_non_null(strstr(r.m.log, ":4 i3 S:s+268:4 i1 S:s+264:4"));
    close_run(&r);
}

/* The second unordered reader makes a map of 64 bytes, on its own core's page. ORDERED 5, LIST 3;
 * FRESH 3, PAGE 2; MAP_ZERO 3; MAP_FIND 4 for each read; MAP_NEW 3. */
static void fasttrack_makes_a_read_map(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "fasttrack", NULL);
    STEPS(&r, R(0, X));
    COSTS(&r,
          "c1 i1 S:k+200050:8 i1 L:k+200050:8 i3 L:s+264:8 i11 A:s+264:4 i1 L:k+200040:8 "
          "i3 L:s+256:8 i5 L:s+268:4 i9 L:w+528:8 i1 L:w+832:16 i4 A:top:8 i3 S:w+832:16 "
          "i4 S:h+0:64 i5 S:h+0:8 i5 S:h+8:8 i4 S:s+268:4 i1 S:s+264:4",
          R(1, X));
    assert_int_equal(stat(&r, "metadata.live"), 16 + 64);
    /* Its read is there: IS_MAP 2, MAP_FIND 4, the slot, MAP_PROBE 4. */
    COSTS(&r, "c1 i1 L:k+200050:8 i3 L:s+264:8 i9 L:h+8:8 i4", R(1, X));
    /* One that is not enters it under the lock. */
    COSTS(&r,
          "c2 i1 S:k+200090:8 i1 L:k+200090:8 i3 L:s+264:8 i9 L:h+16:8 i11 A:s+264:4 "
          "i1 L:k+200080:8 i3 L:s+256:8 i3 S:h+16:8 i1 S:s+264:4",
          R(2, X));
    /* A write looks at all slots; each taken one: ORDERED 5. It races, which costs nothing. */
    COSTS(&r,
          "i1 L:k+200010:8 i3 L:s+256:8 i5 L:s+264:4 i5 A:s+264:4 i1 L:k+200000:8 i3 L:s+256:8 "
          "i9 L:h+0:8 i11 L:h+8:8 i11 L:h+16:8 i11 L:h+24:8 i6 L:h+32:8 i6 L:h+40:8 i6 L:h+48:8 "
          "i6 L:h+56:8 i7 L:w+16:8 i1 S:h+0:8 i1 S:w+16:8 i1 S:s+256:8 i1 S:s+264:4",
          W(0, X));
    assert_int_equal(stat(&r, "races.accesses"), 1);
    assert_int_equal(stat(&r, "metadata.live"), 16);
    assert_int_equal(stat(&r, "metadata.peak"), 16 + 64);
    COSTS(&r, "i1 L:k+200010:8 i3 L:s+256:8 i2", W(0, X)); /* nor do repeats */
    close_run(&r);
}

/* Thread 8's slot is thread 0's, and so on: all are taken. 128 bytes: MAP_ZERO 6; MAP_MOVE 6 each.
 */
static void fasttrack_doubles_a_full_map(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "fasttrack", NULL);
    STEPS(&r, R(0, X), R(1, X), R(2, X), R(3, X), R(4, X), R(5, X), R(6, X), R(7, X));
    assert_int_equal(stat(&r, "metadata.live"), 16 + 64);
    COSTS(&r,
          "i1 S:k+200210:8 i1 L:k+200210:8 i3 L:s+264:8 i9 L:h+0:8 i5 L:h+8:8 i5 L:h+16:8 "
          "i5 L:h+24:8 i5 L:h+32:8 i5 L:h+40:8 i5 L:h+48:8 i5 L:h+56:8 i11 A:s+264:4 "
          "i1 L:k+200200:8 i3 L:s+256:8 i6 L:w+24:8 i1 L:w+320:16 i4 A:top:8 i3 S:w+320:16 "
          "i7 S:h+4096:64 i1 S:h+4160:64 "
          "i1 L:h+0:8 i7 S:h+4096:8 i1 L:h+8:8 i7 S:h+4104:8 i1 L:h+16:8 i7 S:h+4112:8 "
          "i1 L:h+24:8 i7 S:h+4120:8 i1 L:h+32:8 i7 S:h+4128:8 i1 L:h+40:8 i7 S:h+4136:8 "
          "i1 L:h+48:8 i7 S:h+4144:8 i1 L:h+56:8 i7 S:h+4152:8 "
          "i5 L:w+16:8 i1 S:h+0:8 i1 S:w+16:8 i1 S:h+4160:8 i1 S:s+268:4 i1 S:s+264:4",
          R(8, X));
    assert_int_equal(stat(&r, "metadata.live"), 16 + 128);
    /* Threads 0 and 16 would now share a slot: 16 takes the next one that is free, 9. */
    machine_forget(&r.m);
    STEPS(&r, R(16, X));
    assert_non_null(strstr(r.m.log, "S:h+4168:8"));
    close_run(&r);
}

/* Words side by side in 64 bytes go together; a copy's map is its own. */
static void fasttrack_clears_and_copies_words(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "fasttrack", NULL);
    STEPS(&r, W(0, X), W(0, Y), W(0, X + 16), W(0, FAR));
    COSTS(&r, "i6 L:s+256:32 i1 S:s+1280:32 i6 L:s+320:16 i1 S:s+1344:16",
          EV_MOVE(0, X + 0x100, X, 32));
    assert_int_equal(stat(&r, "metadata.live"), 16 * 7);
    COSTS(&r, "i6 L:s+256:32 i1 S:s+256:32 i6 L:s+320:16 i1 S:s+320:16",
          EV_REGION(CLEAR, 0, X, 32));
    COSTS(&r, "", EV_REGION(CLEAR, 0, X, 32)); /* there is nothing */
    assert_int_equal(stat(&r, "metadata.live"), 16 * 4);
    STEPS(&r, R(0, Y), R(1, Y));
    assert_int_equal(stat(&r, "metadata.live"), 16 * 5 + 64);
    /* The map's block: loaded, and stored in a fresh one; MAP_ZERO 3 (the next 64 bytes),
     * MAP_NEW 3. */
    COSTS(&r,
          "i6 L:s+272:16 i1 S:s+2320:16 i1 L:h+0:64 i4 L:w+16:8 i1 L:w+320:16 i4 A:top:8 "
          "i3 S:w+320:16 i4 S:h+4096:64 i3",
          EV_MOVE(0, Y + 0x200, Y, 4));
    assert_int_equal(stat(&r, "metadata.live"), 16 * 6 + 128);
    STEPS(&r, EV_REGION(CLEAR, 0, 0, 0x20000));
    assert_int_equal(stat(&r, "metadata.live"), 0);
    assert_int_equal(stat(&r, "metadata.peak"), 16 * 6 + 128);
    close_run(&r);
}

/* TRACE 5 for each variable; a map, MARK 3. A nursery's collection goes through what it copies. */
static void fasttrack_read_maps_are_traced_at_full_collections(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "fasttrack", NULL);
    STEPS(&r, R(0, X), R(1, X), W(0, Y));
    COSTS(&r, "i1 L:s+264:4 i6 L:h+0:8 i4 S:h+0:8 i1 L:s+280:4 i5", {.kind = EV_GC_BEGIN},
          {.kind = EV_GC_END});
    COSTS(&r, "", {.kind = EV_GC_BEGIN, .flags = EVF_NURSERY},
          {.kind = EV_GC_END, .flags = EVF_NURSERY});
    close_run(&r);
}

/* What all granules of an access have in common is in registers from the second on: the own epoch,
 * clock or locks, PLACE, the call. */
static void further_granules_cost_what_they_have_of_their_own(void **state)
{
    static const struct event both = {.kind = EV_WRITE, .addr = X, .size = 8};
    struct run r;

    (void)state;
    open_run(&r, "fasttrack", NULL);
    STEPS(&r, both);
    COSTS(&r, "i1 L:k+200010:8 i3 L:s+256:8 i3 L:s+272:8 i2", both); /* SAME 2 each */
    close_run(&r);
    open_run(&r, "vc", NULL);
    STEPS(&r, both);
    /* The second: LOCK 4, NONE 2, ORDERED 5 (no clock yet), VECTOR 4 */
    COSTS(&r,
          "i3 L:k+200010:8 i1 L:k+200000:8 i5 L:s+264:8 i5 A:s+264:8 i1 L:s+256:8 i12 S:s+256:8 "
          "i1 S:s+264:8 i1 L:s+280:8 i5 A:s+280:8 i1 L:s+272:8 i12 S:s+272:8 i1 S:s+280:8",
          both);
    close_run(&r);
    open_run(&r, "eraser", NULL);
    STEPS(&r, both, {.kind = EV_WRITE, .tid = 1, .addr = X, .size = 8});
    /* STATE 4, what it holds, SAME_SET 3, EMPTY 4; the second: STATE 4, SAME_SET 3, EMPTY 4 */
    COSTS(&r, "c1 i5 L:s+64:4 i5 L:h+0:8 i8 L:s+68:4 i11",
          {.kind = EV_WRITE, .tid = 1, .addr = X, .size = 8});
    close_run(&r);
}

/* Verdicts differ with `repeats`, costs do not. */
static void fasttrack_costs_the_same_however_repeats_count(void **state)
{
    static const char *const skip[] = {"policy.a.repeats=skip", NULL};
    const struct event rec[] = {W(0, X), W(1, X), R(0, X), R(0, X), W(0, X), R(1, X), W(1, X)};
    struct run reports, skips;

    (void)state;
    open_run(&reports, "fasttrack", NULL);
    open_run(&skips, "fasttrack", skip);
    steps(&reports, rec, ARRAY_SIZE(rec));
    steps(&skips, rec, ARRAY_SIZE(rec));
    assert_int_not_equal(stat(&reports, "races.accesses"), stat(&skips, "races.accesses"));
    assert_string_equal(reports.m.log, skips.m.log);
    close_run(&reports);
    close_run(&skips);
}

/* ---- vc ------------------------------------------------------------------------------------- */

/* CALL 2; CLOCK 2, PLACE 2; LOCK 4; the last write; NONE 2, OWN 2, GROW 5, LIST 3, and the block.
 */
static void vc_reads_and_writes_under_a_lock(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "vc", NULL);
    COSTS(&r,
          "i3 S:k+200010:8 i1 L:k+200010:8 i1 L:k+200000:8 i5 L:s+264:8 i5 A:s+264:8 "
          "i1 L:s+256:8 i13 L:w+0:8 i1 L:w+320:16 i4 A:top:8 i3 S:w+320:16 i4 S:h+0:16 "
          "i1 S:h+0:4 i1 S:s+264:8",
          R(0, X));
    COSTS(&r,
          "i3 L:k+200010:8 i1 L:k+200000:8 i5 L:s+264:8 i5 A:s+264:8 i1 L:s+256:8 i5 S:h+0:4 "
          "i1 S:s+264:8",
          R(0, X));
    /* NONE 2, VECTOR 4, LINE 3; ENTRY 3 times 4, LINE 3: zeros. */
    COSTS(&r,
          "i3 L:k+200010:8 i1 L:k+200000:8 i5 L:s+264:8 i5 A:s+264:8 i1 L:s+256:8 i10 L:h+0:16 "
          "i16 S:h+0:16 i1 S:s+256:8 i1 S:s+264:8",
          W(0, X));
    assert_int_equal(stat(&r, "metadata.live"), 16 + 16);
    /* Thread 4's entry is beyond the vector's four. NONE 2, ORDERED 5. */
    COSTS(&r,
          "i3 S:k+200110:8 i1 L:k+200110:8 i1 L:k+200100:8 i5 L:s+264:8 i5 A:s+264:8 "
          "i1 L:s+256:8 i18 L:w+8:8 i1 L:w+320:16 i4 S:w+320:16 i4 L:h+0:16 i1 S:h+32:16 "
          "i4 S:h+48:16 i2 L:w+0:8 i1 S:h+0:8 i1 S:w+0:8 i1 S:h+48:4 i1 S:s+264:8",
          R(4, X));
    assert_int_equal(stat(&r, "metadata.live"), 16 + 32);
    STEPS(&r, EV_MOVE(0, X + 0x100, X, 4), EV_REGION(CLEAR, 0, X, 4));
    assert_int_equal(stat(&r, "metadata.live"), 16 + 32);
    assert_int_equal(stat(&r, "metadata.peak"), 2 * (16 + 32));
    close_run(&r);
}

/* A read goes through the vector of writes, a write through both. */
static void vc_with_all_has_two_vectors(void **state)
{
    static const char *const all[] = {"policy.a.history=all", NULL};
    struct run r;

    (void)state;
    open_run(&r, "vc", all);
    STEPS(&r, W(0, X), R(0, X));
    assert_int_equal(stat(&r, "metadata.live"), 16 + 16 + 16);
    COSTS(&r,
          "i3 L:k+200010:8 i1 L:k+200000:8 i5 L:s+264:8 i5 A:s+264:8 i1 L:s+256:8 i8 L:h+0:16 "
          "i15 S:h+16:4 i1 S:s+264:8",
          R(0, X));
    COSTS(&r,
          "i3 L:k+200010:8 i1 L:k+200000:8 i5 L:s+264:8 i5 A:s+264:8 i1 L:s+256:8 i8 L:h+0:16 "
          "i20 L:h+16:16 i15 S:h+0:4 i1 S:s+256:8 i1 S:s+264:8",
          W(0, X));
    close_run(&r);
}

/* ---- eraser --------------------------------------------------------------------------------- */

/* A word of 4 bytes: X's is at s+64. CALL 2, PLACE 2; STATE 4; OWNER 3; MAKE 2. */
static void eraser_has_a_word_a_variable(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "eraser", NULL);
    COSTS(&r, "i5 L:s+64:4 i7 S:s+64:4", W(0, X));
    COSTS(&r, "i5 L:s+64:4 i7", W(0, X)); /* Exclusive, the same thread: nothing changes */
    /* Another: what it holds is asked; its block is made. EMPTY 4. No lock: reported, for nothing.
     */
    COSTS(&r,
          "c1 i5 L:s+64:4 i11 L:w+512:8 i1 L:w+832:16 i4 A:top:8 i3 S:w+832:16 i1 L:h+0:8 "
          "i7 S:s+64:4",
          W(1, X));
    assert_int_equal(stat(&r, "races.accesses"), 1);
    /* Reported: the candidates are none, as is what it holds: SAME_SET 3. */
    COSTS(&r, "c1 i5 L:s+64:4 i5 L:h+0:8 i7", W(1, X));
    COSTS(&r, "i4 L:s+64:4 i1 S:s+64:4", EV_REGION(CLEAR, 0, X, 4));
    assert_int_equal(stat(&r, "metadata.live"), 16);
    assert_int_equal(stat(&r, "metadata.peak"), 16 + 4);
    close_run(&r);
}

static uint64_t times(const char *log, const char *what)
{
    uint64_t n = 0;

    for (; (log = strstr(log, what)); log++)
        n++;
    return n;
}

/* The first time sets are worked out and kept; afterwards each is one look-up of 16 bytes. */
static void eraser_finds_known_sets_in_its_cache(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "eraser", NULL);
    STEPS(&r, ACQ(0, L), ACQ(0, M), REL(0, M), REL(0, L));
    machine_forget(&r.m);
    STEPS(&r, ACQ(0, L)); /* both sets become {L}: what it holds, and two look-ups */
    assert_int_equal(times(r.m.log, "L:"), 3);
    assert_int_equal(times(r.m.log, "S:"), 1);
    assert_int_equal(times(r.m.log, " i7 L:h+"), 2); /* CACHE 6 */
    assert_int_equal(times(r.m.log, "A:"), 0);
    /* Candidates {L} and {L, M}: looked up, worked out, kept; then known. */
    STEPS(&r, W(1, X), W(0, X), ACQ(0, M));
    machine_forget(&r.m);
    STEPS(&r, W(0, X));
    assert_int_equal(times(r.m.log, "S:h+"), 1);
    machine_forget(&r.m);
    STEPS(&r, W(0, X));
    assert_int_equal(times(r.m.log, "S:"), 0);
    assert_int_equal(times(r.m.log, "L:"), 3); /* the word, what it holds, the cache */
    close_run(&r);
}

/* Words whose state or set does not change are not written. */
static void eraser_writes_words_that_change(void **state)
{
    struct run r;

    (void)state;
    open_run(&r, "eraser", NULL);
    STEPS(&r, ACQ(0, L), W(0, X), REL(0, L), ACQ(1, L));
    machine_forget(&r.m);
    STEPS(&r, R(1, X)); /* Shared */
    assert_int_equal(times(r.m.log, "S:s+64:4"), 1);
    machine_forget(&r.m);
    STEPS(&r, R(1, X));
    assert_int_equal(times(r.m.log, "S:s+64:4"), 0);
    STEPS(&r, W(1, X)); /* Shared-Modified */
    assert_int_equal(times(r.m.log, "S:s+64:4"), 1);
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fasttrack_reads),
        cmocka_unit_test(fasttrack_writes),
        cmocka_unit_test(fasttrack_looks_entries_up_in_the_clock),
        cmocka_unit_test(fasttrack_makes_a_read_map),
        cmocka_unit_test(fasttrack_doubles_a_full_map),
        cmocka_unit_test(fasttrack_clears_and_copies_words),
        cmocka_unit_test(fasttrack_read_maps_are_traced_at_full_collections),
        cmocka_unit_test(further_granules_cost_what_they_have_of_their_own),
        cmocka_unit_test(fasttrack_costs_the_same_however_repeats_count),
        cmocka_unit_test(vc_reads_and_writes_under_a_lock),
        cmocka_unit_test(vc_with_all_has_two_vectors),
        cmocka_unit_test(eraser_has_a_word_a_variable),
        cmocka_unit_test(eraser_finds_known_sets_in_its_cache),
        cmocka_unit_test(eraser_writes_words_that_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
