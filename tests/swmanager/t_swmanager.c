/* t_swmanager.c - the software manager by hand: every access and instruction of short handlers,
 * what is counted, memory. t_swmanager_random.c compares its contents with a plain model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/swmanager/rig.h"

/* Where things are with lines of 64 bytes and granules of 4. */
#define DIRECTORY   (RIG_BASE + 0x100000)
#define HEAP        (RIG_BASE + 0x10000000000)
#define LIST(c, n)  (RIG_BASE + 0x1000 + (c)*UINT64_C(0x200) + (n)*UINT64_C(0x10))
#define TABLE_LIST  LIST(0, 18)
#define RECORD_LIST LIST(0, 4) /* 16 granules of 16 bytes: 16 << 4 */
#define DATA        UINT64_C(0x5000)
#define TABLE       HEAP            /* the first page that is taken */
#define RECORD      (HEAP + 0x1000) /* the second */
#define BLOCK       (HEAP + 0x2000)
enum { READ = 1, WRITE = 1 << 6 | 2, ATOMIC_READ = 2 << 6 | 1 };

struct expected {
    sim_addr addr;
    unsigned bytes;
    enum mem_cmd cmd;
};

static void expect_accesses(struct rig *r, const struct expected *e, size_t n,
                            uint64_t instructions)
{
    for (size_t i = 0; i < n && i < r->n; i++)
        if (r->log[i].addr != e[i].addr || r->log[i].bytes != e[i].bytes ||
            r->log[i].cmd != e[i].cmd)
            fail_msg("access %zu is of %u bytes at 0x%llx, command %d; not of %u at 0x%llx, %d", i,
                     r->log[i].bytes, (unsigned long long)r->log[i].addr, (int)r->log[i].cmd,
                     e[i].bytes, (unsigned long long)e[i].addr, (int)e[i].cmd);
    assert_int_equal(r->n, n);
    assert_int_equal(r->instructions, instructions);
    assert_int_equal(r->now, r->began + instructions + n * RIG_LATENCY);
    rig_mark(r);
}
#define EXPECT(rig, instructions, ...)                                                             \
    expect_accesses(rig, (const struct expected[]){__VA_ARGS__},                                   \
                    sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected),      \
                    instructions)
#define EXPECT_NONE(rig, instructions) expect_accesses(rig, NULL, 0, instructions)

static void store(struct rig *r, sim_addr a, uint32_t actor, uint8_t op)
{
    const struct swm_access access = rig_access(actor, actor + 10, op);

    r->now = swm_store(r->s, 0, paddr_of(a), &access, op == WRITE, r->now);
}

static struct rig *open_handler(void)
{
    struct rig *r = rig_new(4, 64);

    r->now = swm_enter(r->s, 0, SWM_CHECK, 0);
    assert_int_equal(r->now, 100);
    rig_mark(r);
    return r;
}

static void close_handler(struct rig *r)
{
    r->now = swm_leave(r->s, 0, r->now);
    rig_free(r);
}

/* ---- accesses ------------------------------------------------------------------------------- */

static void nothing_costs_the_directory_entry_once_a_handler(void **state)
{
    (void)state;
    struct rig *r = open_handler();

    r->now = swm_find(r->s, 0, paddr_of(DATA), r->now);
    EXPECT(r, 4, {DIRECTORY + 5 * 8, 8, MEM_LOAD});
    r->now = swm_look(r->s, 0, paddr_of(DATA + 8), SWM_READS, r->now);
    r->now = swm_find(r->s, 0, paddr_of(DATA + 64), r->now);
    EXPECT_NONE(r, 0);
    r->now = swm_find(r->s, 0, paddr_of(DATA + 4096), r->now);
    EXPECT(r, 4, {DIRECTORY + 6 * 8, 8, MEM_LOAD});
    close_handler(r);
}

static void the_first_note_makes_a_table(void **state)
{
    (void)state;
    struct rig *r = open_handler();

    r->now = swm_cached(r->s, 0, paddr_of(DATA + 64), 3, true, r->now);
    EXPECT(r, 4 + 6 + (3 + 1) + (3 + 2 + 1 + 1) + (3 + 1) + 1, {DIRECTORY + 5 * 8, 8, MEM_LOAD},
           {TABLE_LIST, 16, MEM_LOAD}, {RIG_BASE, 8, MEM_ATOMIC}, {TABLE_LIST + 8, 8, MEM_STORE},
           {DIRECTORY + 5 * 8, 8, MEM_ATOMIC}, {TABLE + 32, 8, MEM_STORE});
    r->now = swm_cached(r->s, 0, paddr_of(DATA + 64), 70, true, r->now);
    EXPECT(r, 6 + 1, {TABLE + 32 + 8, 8, MEM_STORE});          /* the entry is in registers */
    r->now = swm_cached(r->s, 0, paddr_of(DATA + 64), 70, true, r->now); /* nothing changes */
    EXPECT_NONE(r, 6);
    r->now = swm_cached(r->s, 0, paddr_of(DATA + 64), 3, false, r->now);
    EXPECT(r, 7, {TABLE + 32, 8, MEM_STORE});
    close_handler(r);
}

static void a_line_that_no_core_has_any_more_costs_a_store_a_word(void **state)
{
    (void)state;
    struct rig *r = open_handler();

    r->now = swm_uncached(r->s, 0, paddr_of(DATA + 64), r->now);
    EXPECT_NONE(r, 0);
    r->now = swm_cached(r->s, 0, paddr_of(DATA + 64), 3, true, r->now);
    r->now = swm_cached(r->s, 0, paddr_of(DATA + 64), 70, true, r->now);
    rig_mark(r);
    r->now = swm_uncached(r->s, 0, paddr_of(DATA + 64), r->now);
    EXPECT(r, 6 + 1 + 1, {TABLE + 32, 8, MEM_STORE}, {TABLE + 32 + 8, 8, MEM_STORE});
    assert_int_equal(r->s->lines.n, 0); /* nothing is kept of it */
    r->now = swm_uncached(r->s, 0, paddr_of(DATA + 64), r->now);
    EXPECT_NONE(r, 0);
    close_handler(r);
}

static void a_first_write_makes_table_and_record(void **state)
{
    (void)state;
    struct rig *r = open_handler();

    store(r, DATA + 8, 1, WRITE);
    EXPECT(r, 4 + 5 + 4 + 7 + 4 + 4 + 7 + 2 + 1 + 1 + 3, {DIRECTORY + 5 * 8, 8, MEM_LOAD},
           {TABLE_LIST, 16, MEM_LOAD}, {RIG_BASE, 8, MEM_ATOMIC}, {TABLE_LIST + 8, 8, MEM_STORE},
           {DIRECTORY + 5 * 8, 8, MEM_ATOMIC}, {RECORD_LIST, 16, MEM_LOAD},
           {RIG_BASE, 8, MEM_ATOMIC}, {RECORD_LIST + 8, 8, MEM_STORE}, {RECORD + 32, 16, MEM_STORE},
           {TABLE + 16, 8, MEM_STORE}, {TABLE + 24, 8, MEM_STORE});
    store(r, DATA + 8, 2, WRITE);
    EXPECT(r, 5 + 2 + 1 + 1, {RECORD + 32, 16, MEM_LOAD}, {RECORD + 32, 16, MEM_STORE});
    store(r, DATA + 12, 2, WRITE);
    EXPECT(r, 5 + 2 + 1 + 3, {RECORD + 48, 16, MEM_STORE}, {TABLE + 24, 8, MEM_STORE});
    close_handler(r);
}

static void a_look_costs_what_is_there(void **state)
{
    (void)state;
    struct rig *r = open_handler();

    store(r, DATA, 1, WRITE);
    store(r, DATA, 1, READ);
    rig_mark(r);
    r->now = swm_look(r->s, 0, paddr_of(DATA + 4), SWM_READS, r->now);
    EXPECT_NONE(r, 2);
    r->now = swm_look(r->s, 0, paddr_of(DATA), SWM_WRITE, r->now);
    EXPECT(r, 2 + 2 + 1 + 4, {RECORD, 16, MEM_LOAD});
    r->now = swm_look(r->s, 0, paddr_of(DATA), SWM_READS, r->now);
    EXPECT(r, 2 + 2 + 1 + 4 + 3 + 4, {RECORD, 16, MEM_LOAD});
    r->now = swm_look(r->s, 0, paddr_of(DATA), SWM_NO_BLOCK, r->now);
    EXPECT(r, 2 + 2 + 1 + 4 + 3 + 4, {RECORD, 16, MEM_LOAD});
    store(r, DATA, 2, READ);
    store(r, DATA, 3, READ);
    rig_mark(r);
    r->now = swm_look(r->s, 0, paddr_of(DATA), SWM_NO_BLOCK, r->now);
    EXPECT(r, 2 + 2 + 1 + 4 + 3, {RECORD, 16, MEM_LOAD});
    r->now = swm_look(r->s, 0, paddr_of(DATA), SWM_READS, r->now);
    EXPECT(r, 2 + 2 + 1 + 4 + 3 + 1 + 3 * 4, {RECORD, 16, MEM_LOAD},
           {BLOCK + 0x1000, 24, MEM_LOAD});
    swm_void(r->s, paddr_of(DATA));
    r->now = swm_look(r->s, 0, paddr_of(DATA), SWM_READS, r->now);
    EXPECT(r, 2 + 2 + 1 + 3, {RECORD, 16, MEM_LOAD});
    close_handler(r);
}

static void reads_go_inline_then_into_blocks_that_double(void **state)
{
    (void)state;
    struct rig *r = open_handler();

    store(r, DATA, 1, WRITE);
    rig_mark(r);
    store(r, DATA, 1, READ);
    EXPECT(r, 5 + 2 + 1 + 1, {RECORD, 16, MEM_LOAD}, {RECORD + 8, 8, MEM_STORE});
    store(r, DATA, 1, READ);
    EXPECT(r, 5 + 2 + 1 + 3 + 1, {RECORD, 16, MEM_LOAD}, {RECORD + 8, 8, MEM_STORE});
    store(r, DATA, 1, ATOMIC_READ); /* another class: it has a place of its own */
    EXPECT(r, 5 + 2 + 1 + 3 + 4 + 7 + 1 + 1, {RECORD, 16, MEM_LOAD}, {LIST(0, 0), 16, MEM_LOAD},
           {RIG_BASE, 8, MEM_ATOMIC}, {LIST(0, 0) + 8, 8, MEM_STORE}, {BLOCK, 16, MEM_STORE},
           {RECORD + 8, 8, MEM_STORE});
    store(r, DATA, 1, READ); /* the first in the block */
    EXPECT(r, 5 + 2 + 1 + 3 + 3 + 1 + 1, {RECORD, 16, MEM_LOAD}, {BLOCK, 8, MEM_LOAD},
           {BLOCK, 8, MEM_STORE});
    store(r, DATA, 2, READ); /* no room: a block of four */
    EXPECT(r, 5 + 2 + 1 + 3 + 2 * 3 + 1 + 4 + 4 + 7 + 1 + 1 + 4 + 1, {RECORD, 16, MEM_LOAD},
           {BLOCK, 16, MEM_LOAD}, {LIST(0, 1), 16, MEM_LOAD}, {RIG_BASE, 8, MEM_ATOMIC},
           {LIST(0, 1) + 8, 8, MEM_STORE}, {BLOCK, 16, MEM_LOAD}, {BLOCK + 0x1000, 24, MEM_STORE},
           {LIST(0, 0), 8, MEM_LOAD}, {BLOCK, 8, MEM_STORE}, {LIST(0, 0), 8, MEM_STORE},
           {RECORD + 8, 8, MEM_STORE});
    store(r, DATA, 3, READ);
    EXPECT(r, 5 + 2 + 1 + 3 + 3 * 3 + 1 + 4 + 1 + 1, {RECORD, 16, MEM_LOAD},
           {BLOCK + 0x1000, 24, MEM_LOAD}, {BLOCK + 0x1018, 8, MEM_STORE},
           {RECORD + 8, 8, MEM_STORE});
    store(r, DATA, 4, WRITE); /* takes the place of all */
    EXPECT(r, 5 + 2 + 1 + 4 + 1, {RECORD, 16, MEM_LOAD}, {LIST(0, 1), 8, MEM_LOAD},
           {BLOCK + 0x1000, 8, MEM_STORE}, {LIST(0, 1), 8, MEM_STORE}, {RECORD, 16, MEM_STORE});
    assert_int_equal(swm_held(r->s, paddr_of(DATA)).n, 0);
    assert_int_equal(swm_held(r->s, paddr_of(DATA)).write->actor, 4);
    close_handler(r);
}

static void a_write_under_the_reads_leaves_them(void **state)
{
    (void)state;
    struct rig *r = open_handler();
    const struct swm_access a = rig_access(9, 1, WRITE);

    store(r, DATA, 1, READ);
    store(r, DATA, 2, READ);
    rig_mark(r);
    for (unsigned i = 0; i < 2; i++) { /* where there is no write, and in the place of one */
        r->now = swm_store_under(r->s, 0, paddr_of(DATA), &a, r->now);
        EXPECT(r, 5 + 2 + 1 + 1, {RECORD, 16, MEM_LOAD}, {RECORD, 8, MEM_STORE});
        assert_int_equal(swm_held(r->s, paddr_of(DATA)).n, 2);
        assert_int_equal(swm_held(r->s, paddr_of(DATA)).read[1].actor, 2);
        assert_int_equal(swm_held(r->s, paddr_of(DATA)).write->actor, 9);
    }
    swm_void(r->s, paddr_of(DATA)); /* the block goes back */
    r->now = swm_store_under(r->s, 0, paddr_of(DATA), &a, r->now);
    EXPECT(r, 5 + 2 + 1 + 4 + 1, {RECORD, 16, MEM_LOAD}, {LIST(0, 0), 8, MEM_LOAD},
           {BLOCK, 8, MEM_STORE}, {LIST(0, 0), 8, MEM_STORE}, {RECORD, 16, MEM_STORE});
    close_handler(r);
}

static void a_void_record_is_started_anew_by_the_next_store(void **state)
{
    (void)state;
    struct rig *r = open_handler();

    store(r, DATA, 1, READ);
    store(r, DATA, 2, READ);
    rig_mark(r);
    swm_void(r->s, paddr_of(DATA));
    EXPECT_NONE(r, 0);
    assert_int_equal(r->s->st.blocks, 1);
    assert_int_equal(swm_granules(r->s), 0);
    store(r, DATA, 3, READ);
    EXPECT(r, 5 + 2 + 1 + 4 + 1, {RECORD, 16, MEM_LOAD}, {LIST(0, 0), 8, MEM_LOAD},
           {BLOCK, 8, MEM_STORE}, {LIST(0, 0), 8, MEM_STORE}, {RECORD, 16, MEM_STORE});
    assert_int_equal(swm_held(r->s, paddr_of(DATA)).n, 1);
    assert_int_equal(swm_held(r->s, paddr_of(DATA)).read->actor, 3);
    close_handler(r);
}

static void a_clear_reads_what_is_there_and_gives_an_empty_record_back(void **state)
{
    (void)state;
    struct rig *r = open_handler();

    store(r, DATA + 4, 1, WRITE);
    store(r, DATA + 60, 1, WRITE);
    store(r, DATA + 60, 1, READ);
    store(r, DATA + 60, 2, READ);
    rig_mark(r);
    r->now = swm_clear(r->s, 0, paddr_of(DATA), 8, r->now);
    EXPECT(r, 4 + 4 + 1 + 3 + 1, {RECORD + 16, 16, MEM_LOAD}, {TABLE + 24, 8, MEM_STORE});
    r->now = swm_clear(r->s, 0, paddr_of(DATA), 8, r->now); /* not there any more */
    EXPECT_NONE(r, 4);
    r->now = swm_clear(r->s, 0, paddr_of(DATA + 32), 64, r->now); /* into the next line */
    EXPECT(r, 4 + 4 + 1 + 4 + 3 + 4 + 1 + 1 + 5 + 4, {RECORD + 240, 16, MEM_LOAD},
           {LIST(0, 0), 8, MEM_LOAD}, {BLOCK, 8, MEM_STORE}, {LIST(0, 0), 8, MEM_STORE},
           {RECORD_LIST, 8, MEM_LOAD}, {RECORD, 8, MEM_STORE}, {RECORD_LIST, 8, MEM_STORE},
           {TABLE + 16, 8, MEM_STORE}, {TABLE + 24, 8, MEM_STORE}, {TABLE + 32, 32, MEM_LOAD});
    assert_int_equal(r->s->st.cleared, 2);
    r->now = swm_clear(r->s, 0, paddr_of(DATA), 0, r->now);
    EXPECT_NONE(r, 0);
    assert_int_equal(r->s->st.records, 0);
    assert_int_equal(r->s->st.bytes, 2048); /* the table stays */
    close_handler(r);
}

static void what_was_given_back_is_taken_again(void **state)
{
    (void)state;
    struct rig *r = open_handler();

    store(r, DATA, 1, WRITE);
    r->now = swm_clear(r->s, 0, paddr_of(DATA), 64, r->now);
    rig_mark(r);
    store(r, DATA + 64, 1, WRITE);
    EXPECT(r, 5 + 5 + 4 + 1 + 1 + 2 + 1 + 1 + 3, {TABLE + 32, 32, MEM_LOAD},
           {RECORD_LIST, 16, MEM_LOAD}, {RECORD, 8, MEM_LOAD}, {RECORD_LIST, 8, MEM_STORE},
           {RECORD, 16, MEM_STORE}, {TABLE + 48, 8, MEM_STORE}, {TABLE + 56, 8, MEM_STORE});
    assert_int_equal(r->s->st.heap, 8192);
    close_handler(r);
}

static void a_copy_reads_both_sides_and_writes_one(void **state)
{
    (void)state;
    struct rig *r = open_handler();
    enum { TO = 0x80 }; /* two lines on */

    store(r, DATA, 1, WRITE);
    store(r, DATA + 8, 1, READ);
    store(r, DATA + 8, 2, READ);
    rig_mark(r);
    r->now = swm_copy(r->s, 0, paddr_of(DATA + TO), paddr_of(DATA), 16, r->now);
    EXPECT(r, 6 + 4 + 5 + 4 + 5 + 2 * 4 + 1 + 4 + 3 + 1 + 4 + 3 + 1 + 1 + 1 + 1 + 3 + 2,
           {DIRECTORY + 5 * 8, 8, MEM_LOAD}, {TABLE, 32, MEM_LOAD},
           {DIRECTORY + 5 * 8, 8, MEM_LOAD}, {TABLE + 64, 32, MEM_LOAD}, {RECORD, 48, MEM_LOAD},
           {RECORD_LIST, 16, MEM_LOAD}, {RECORD_LIST + 8, 8, MEM_STORE}, {LIST(0, 0), 16, MEM_LOAD},
           {LIST(0, 0) + 8, 8, MEM_STORE}, {BLOCK, 16, MEM_LOAD}, {BLOCK + 16, 16, MEM_STORE},
           {RECORD + 256, 48, MEM_STORE}, {TABLE + 80, 8, MEM_STORE}, {TABLE + 88, 8, MEM_STORE});
    assert_int_equal(swm_held(r->s, paddr_of(DATA + TO)).write->actor, 1);
    assert_int_equal(swm_held(r->s, paddr_of(DATA + TO + 8)).n, 2);
    assert_int_equal(r->s->st.copied, 2);
    r->now = swm_copy(r->s, 0, paddr_of(DATA), paddr_of(DATA), 64, r->now);
    EXPECT_NONE(r, 0);
    close_handler(r);
}

/* Of a granule with a write and reads since, the write is in the record: the block, as it is read
 * and written, has 8 bytes for each read. */
static void a_copied_block_has_the_reads_alone(void **state)
{
    (void)state;
    enum { TO = 0x80, EPOCH = 8 };

    for (uint32_t readers = 2; readers <= 4; readers++)
        for (unsigned written = 0; written < 2; written++) {
            struct rig *r = open_handler();
            unsigned loaded = 0, stored = 0;
            if (written)
                store(r, DATA, 1, WRITE);
            for (uint32_t reader = 0; reader < readers; reader++)
                store(r, DATA, 2 + reader, READ);
            const sim_addr from = swm_cell_find(r->s, DATA >> r->s->shift)->block;
            rig_mark(r);
            r->now = swm_copy(r->s, 0, paddr_of(DATA + TO), paddr_of(DATA), 4, r->now);
            const sim_addr to = swm_cell_find(r->s, (DATA + TO) >> r->s->shift)->block;
            for (size_t i = 0; i < r->n; i++) {
                if (r->log[i].addr == from && r->log[i].cmd == MEM_LOAD)
                    loaded += r->log[i].bytes;
                if (r->log[i].addr == to && r->log[i].cmd == MEM_STORE)
                    stored += r->log[i].bytes;
            }
            assert_int_equal(loaded, readers * EPOCH);
            assert_int_equal(stored, readers * EPOCH);
            assert_int_equal(swm_held(r->s, paddr_of(DATA + TO)).n, readers);
            rig_check(r);
            close_handler(r);
        }
}

static void a_copy_of_nothing_empties_the_destination(void **state)
{
    (void)state;
    struct rig *r = open_handler();

    store(r, DATA + 64, 1, WRITE);
    swm_mark_raced(r->s, paddr_of(DATA + 64));
    rig_mark(r);
    r->now = swm_copy(r->s, 0, paddr_of(DATA + 64), paddr_of(0x9000), 64, r->now);
    EXPECT(r, 6 + 4 + 4 + 5 + 4 + 1 + 3 + 4 + 1 + 1, {DIRECTORY + 9 * 8, 8, MEM_LOAD},
           {DIRECTORY + 5 * 8, 8, MEM_LOAD}, {TABLE + 32, 32, MEM_LOAD}, {RECORD, 16, MEM_LOAD},
           {RECORD_LIST, 8, MEM_LOAD}, {RECORD, 8, MEM_STORE}, {RECORD_LIST, 8, MEM_STORE},
           {TABLE + 48, 8, MEM_STORE}, {TABLE + 56, 8, MEM_STORE});
    assert_null(swm_held(r->s, paddr_of(DATA + 64)).write);
    assert_false(swm_raced(r->s, paddr_of(DATA + 64)));
    close_handler(r);
}

static void a_move_hands_the_record_of_a_whole_line_over(void **state)
{
    (void)state;
    struct rig *r = open_handler();
    enum { TO = 0x80 };

    store(r, DATA, 1, WRITE);
    store(r, DATA + 8, 1, READ);
    store(r, DATA + 8, 2, READ);
    swm_mark_raced(r->s, paddr_of(DATA + 60));
    rig_mark(r);
    r->now = swm_move(r->s, 0, paddr_of(DATA + TO), paddr_of(DATA), 64, r->now);
    EXPECT(r, 6 + 4 + 5 + 4 + 5 + 4 + 4, {DIRECTORY + 5 * 8, 8, MEM_LOAD}, {TABLE, 32, MEM_LOAD},
           {DIRECTORY + 5 * 8, 8, MEM_LOAD}, {TABLE + 64, 32, MEM_LOAD}, {TABLE + 80, 8, MEM_STORE},
           {TABLE + 88, 8, MEM_STORE}, {TABLE + 16, 8, MEM_STORE}, {TABLE + 24, 8, MEM_STORE});
    assert_int_equal(swm_held(r->s, paddr_of(DATA + TO)).write->actor, 1);
    assert_int_equal(swm_held(r->s, paddr_of(DATA + TO + 8)).n, 2);
    assert_true(swm_raced(r->s, paddr_of(DATA + TO + 60)) && !swm_raced(r->s, paddr_of(DATA + 60)));
    assert_null(swm_held(r->s, paddr_of(DATA)).write);
    assert_int_equal(r->s->st.moved, 2);
    assert_int_equal(r->s->st.records, 1);
    assert_int_equal(r->s->st.blocks, 1);
    close_handler(r);
}

static void a_move_of_part_of_a_line_takes_blocks_along(void **state)
{
    (void)state;
    struct rig *r = open_handler();
    enum { TO = 0x80 };

    store(r, DATA, 1, WRITE);
    store(r, DATA + 8, 1, READ);
    store(r, DATA + 8, 2, READ);
    rig_mark(r);
    r->now = swm_move(r->s, 0, paddr_of(DATA + TO), paddr_of(DATA), 16, r->now);
    EXPECT(r, 6 + 4 + 5 + 4 + 5 + 2 * 4 + 1 + 4 + 3 + 1 + 1 + 3 + 1 + 1 + 3 + 1 + 3 + 2,
           {DIRECTORY + 5 * 8, 8, MEM_LOAD}, {TABLE, 32, MEM_LOAD},
           {DIRECTORY + 5 * 8, 8, MEM_LOAD}, {TABLE + 64, 32, MEM_LOAD}, {RECORD, 48, MEM_LOAD},
           {RECORD_LIST, 16, MEM_LOAD}, {RECORD_LIST + 8, 8, MEM_STORE},
           {RECORD + 256, 48, MEM_STORE}, {TABLE + 80, 8, MEM_STORE}, {TABLE + 88, 8, MEM_STORE},
           {RECORD_LIST, 8, MEM_LOAD}, {RECORD, 8, MEM_STORE}, {RECORD_LIST, 8, MEM_STORE},
           {TABLE + 16, 8, MEM_STORE}, {TABLE + 24, 8, MEM_STORE});
    assert_int_equal(swm_held(r->s, paddr_of(DATA + TO + 8)).n, 2);
    assert_int_equal(r->s->st.records, 1);
    /* nothing there, and nothing to come: as a copy, but that there is no source to look at twice
     */
    r->now = swm_move(r->s, 0, paddr_of(DATA + 0x400), paddr_of(DATA + 0x200), 16, r->now);
    EXPECT(r, 6 + 4 + 5 + 4 + 5, {DIRECTORY + 5 * 8, 8, MEM_LOAD}, {TABLE + 256, 32, MEM_LOAD},
           {DIRECTORY + 5 * 8, 8, MEM_LOAD}, {TABLE + 512, 32, MEM_LOAD});
    close_handler(r);
}

/* What is void is in a record still: both sides of a move of a part look at it. */
static void a_move_over_what_is_void_empties_it(void **state)
{
    (void)state;
    struct rig *r = open_handler();
    enum { TO = 0x80 };

    store(r, DATA, 1, WRITE);
    store(r, DATA + TO + 4, 2, WRITE);
    swm_void(r->s, paddr_of(DATA + TO + 4));
    rig_mark(r);
    r->now = swm_move(r->s, 0, paddr_of(DATA + TO), paddr_of(DATA), 16, r->now);
    EXPECT(r, 6 + 4 + 5 + 4 + 5 + 2 * 4 + 2 + 1 + 3 + 1 + 3 + 4 + 2, {DIRECTORY + 5 * 8, 8, MEM_LOAD},
           {TABLE, 32, MEM_LOAD}, {DIRECTORY + 5 * 8, 8, MEM_LOAD}, {TABLE + 64, 32, MEM_LOAD},
           {RECORD, 16, MEM_LOAD}, {RECORD + 256 + 16, 16, MEM_LOAD}, {RECORD + 256, 16, MEM_STORE},
           {TABLE + 88, 8, MEM_STORE}, {RECORD_LIST, 8, MEM_LOAD}, {RECORD, 8, MEM_STORE},
           {RECORD_LIST, 8, MEM_STORE}, {TABLE + 16, 8, MEM_STORE}, {TABLE + 24, 8, MEM_STORE});
    assert_int_equal(swm_held(r->s, paddr_of(DATA + TO)).write->actor, 1);
    assert_int_equal(swm_granules(r->s), 1);
    close_handler(r);
}

/* They share no line, so that the record can be handed over. */
static void a_move_to_the_next_line_hands_the_record_over_too(void **state)
{
    (void)state;
    for (int down = 0; down < 2; down++) {
        struct rig *r = open_handler();
        const sim_addr from = down ? DATA + 64 : DATA, to = down ? DATA : DATA + 64;
        store(r, from, 1, WRITE);
        store(r, from + 60, 2, WRITE);
        r->now = swm_move(r->s, 0, paddr_of(to), paddr_of(from), 64, r->now);
        assert_int_equal(r->s->st.moved, 2);
        assert_int_equal(r->s->st.copied, 0);
        assert_int_equal(swm_held(r->s, paddr_of(to + 60)).write->actor, 2);
        assert_null(swm_held(r->s, paddr_of(from)).write);
        close_handler(r);
    }
}

static void a_move_of_nothing_or_to_where_it_is_costs_nothing(void **state)
{
    (void)state;
    struct rig *r = open_handler();

    store(r, DATA, 1, WRITE);
    rig_mark(r);
    r->now = swm_move(r->s, 0, paddr_of(DATA), paddr_of(DATA), 64, r->now);
    r->now = swm_move(r->s, 0, paddr_of(DATA + 128), paddr_of(DATA), 0, r->now);
    EXPECT_NONE(r, 0);
    r->now = swm_find(r->s, 0, paddr_of(DATA), r->now); /* the entry is in registers still */
    EXPECT_NONE(r, 0);
    assert_int_equal(swm_held(r->s, paddr_of(DATA)).write->actor, 1);
    close_handler(r);
}

/* ---- counts --------------------------------------------------------------------------------- */

static void cycles_are_counted_by_reason_from_enter_to_leave(void **state)
{
    (void)state;
    struct rig *r = rig_new(4, 64);
    struct err e = {0};

    for (unsigned i = 0; i < 3; i++) {
        sim_cycle now = swm_enter(r->s, i, SWM_FILL, 1000);
        now = swm_find(r->s, i, paddr_of(DATA), now); /* 4 instructions and a load */
        assert_int_equal(swm_leave(r->s, i, now), 1000 + 100 + 4 + RIG_LATENCY);
    }
    swm_leave(r->s, 0, swm_enter(r->s, 0, SWM_ROLL_OVER, 7));
    assert_int_equal(r->s->st.handlers[SWM_FILL], 3);
    assert_int_equal(r->s->st.cycles[SWM_FILL], 3 * (104 + RIG_LATENCY));
    assert_int_equal(r->s->st.handlers[SWM_ROLL_OVER], 1);
    assert_int_equal(r->s->st.cycles[SWM_ROLL_OVER], 100);
    assert_int_equal(r->s->st.length.min, 100);
    assert_int_equal(r->s->st.instructions, 12);
    assert_int_equal(r->s->st.loads, 3);
    assert_int_equal(stats_check(r->stats, &e), 0);
    rig_free(r);
}

static void the_way_in_takes_what_the_parameter_says(void **state)
{
    (void)state;
    struct rig *r = rig_with(4, 64, (struct swm_params){.enter = 0, .base = RIG_BASE + 4095});
    assert_int_equal(swm_enter(r->s, 0, SWM_FILL, 5), 5);
    r->now = swm_find(r->s, 0, (struct paddr){0}, 5);
    assert_int_equal(r->log[0].addr, DIRECTORY); /* base is rounded down */
    swm_leave(r->s, 0, r->now);
    rig_free(r);
}

/* ---- several -------------------------------------------------------------------------------- */

static void two_managers_know_nothing_of_each_other(void **state)
{
    (void)state;
    struct rig *a = open_handler(), *b = open_handler();

    store(a, DATA, 1, WRITE);
    swm_mark_raced(a->s, paddr_of(DATA));
    assert_null(swm_held(b->s, paddr_of(DATA)).write);
    assert_false(swm_raced(b->s, paddr_of(DATA)));
    b->now = swm_look(b->s, 0, paddr_of(DATA), SWM_READS, b->now);
    EXPECT(b, 4, {DIRECTORY + 5 * 8, 8, MEM_LOAD});
    close_handler(a);
    close_handler(b);
}

/* Another core's handler in the middle of an access clears what is being stored. */
static void clear_meanwhile(struct rig *r)
{
    sim_cycle now = swm_enter(r->s, 1, SWM_CLEAR, r->now);
    now = swm_clear(r->s, 1, paddr_of(DATA), 4096, now);
    swm_leave(r->s, 1, now);
}

static void handlers_of_other_cores_may_run_inside_an_access(void **state)
{
    (void)state;
    for (unsigned at = 1; at < 60; at++) {
        struct rig *r = open_handler();
        r->meanwhile = clear_meanwhile;
        r->meanwhile_at = at;
        for (uint32_t actor = 1; actor < 6; actor++)
            store(r, DATA, actor, READ);
        r->now = swm_copy(r->s, 0, paddr_of(DATA + 4), paddr_of(DATA), 200, r->now);
        r->now = swm_clear(r->s, 0, paddr_of(DATA), 4, r->now);
        rig_check(r);
        close_handler(r);
    }
}

/* ---- size ----------------------------------------------------------------------------------- */

static void a_few_hundred_thousand_granules_take_little(void **state)
{
    (void)state;
    enum { N = 300000 };

    for (uint64_t step = 4; step <= 64; step *= 16) { /* dense; one in each line */
        struct rig *r = open_handler();
        r->quiet = true;
        for (uint64_t i = 0; i < N; i++) {
            store(r, i * step, 1, WRITE);
            store(r, i * step, 2, READ);
        }
        assert_int_equal(swm_granules(r->s), N);
        assert_in_range(r->budget.peak, N * 64, UINT64_C(80) << 20);
        for (uint64_t i = 0; i < N; i++)
            swm_void(r->s, paddr_of(i * step));
        assert_int_equal(swm_granules(r->s), 0);
        assert_int_equal(r->s->st.voided, N);
        assert_int_equal(r->s->st.granules_peak, N);
        close_handler(r);
    }
}

static void as_many_readers_as_there_can_be(void **state)
{
    (void)state;
    enum { SOME = 3000 }; /* each a walk over those before */
    struct rig *r = open_handler();

    r->quiet = true;
    for (uint32_t i = 0; i < SOME; i++)
        store(r, DATA, i, i % 2 ? READ : ATOMIC_READ);
    assert_int_equal(swm_held(r->s, paddr_of(DATA)).n, SOME);
    assert_int_equal(r->s->st.blocks, 1);
    assert_int_equal(r->s->st.bytes, 2048 + 256 + 4096 * 8);
    rig_check(r);
    r->now = swm_clear(r->s, 0, paddr_of(DATA), 4, r->now);
    assert_int_equal(r->s->st.bytes, 2048);
    close_handler(r);
}

static void addresses_at_both_ends_work(void **state)
{
    (void)state;
    struct rig *r = open_handler();
    const sim_addr last = UINT64_MAX - 63;

    store(r, 0, 1, WRITE);
    store(r, last + 60, 2, WRITE);
    assert_int_equal(swm_held(r->s, (struct paddr){0}).write->actor, 1);
    assert_int_equal(swm_held(r->s, paddr_of(UINT64_MAX)).write->actor, 2);
    r->now = swm_clear(r->s, 0, paddr_of(last), 64, r->now);
    assert_null(swm_held(r->s, paddr_of(UINT64_MAX)).write);
    r->now = swm_copy(r->s, 0, paddr_of(last), (struct paddr){0}, 64, r->now);
    assert_int_equal(swm_held(r->s, paddr_of(last)).write->actor, 1);
    rig_check(r);
    close_handler(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_costs_the_directory_entry_once_a_handler),
        cmocka_unit_test(the_first_note_makes_a_table),
        cmocka_unit_test(a_line_that_no_core_has_any_more_costs_a_store_a_word),
        cmocka_unit_test(a_first_write_makes_table_and_record),
        cmocka_unit_test(a_look_costs_what_is_there),
        cmocka_unit_test(reads_go_inline_then_into_blocks_that_double),
        cmocka_unit_test(a_write_under_the_reads_leaves_them),
        cmocka_unit_test(a_void_record_is_started_anew_by_the_next_store),
        cmocka_unit_test(a_clear_reads_what_is_there_and_gives_an_empty_record_back),
        cmocka_unit_test(what_was_given_back_is_taken_again),
        cmocka_unit_test(a_copy_reads_both_sides_and_writes_one),
        cmocka_unit_test(a_copied_block_has_the_reads_alone),
        cmocka_unit_test(a_copy_of_nothing_empties_the_destination),
        cmocka_unit_test(a_move_hands_the_record_of_a_whole_line_over),
        cmocka_unit_test(a_move_of_part_of_a_line_takes_blocks_along),
        cmocka_unit_test(a_move_over_what_is_void_empties_it),
        cmocka_unit_test(a_move_to_the_next_line_hands_the_record_over_too),
        cmocka_unit_test(a_move_of_nothing_or_to_where_it_is_costs_nothing),
        cmocka_unit_test(cycles_are_counted_by_reason_from_enter_to_leave),
        cmocka_unit_test(the_way_in_takes_what_the_parameter_says),
        cmocka_unit_test(two_managers_know_nothing_of_each_other),
        cmocka_unit_test(handlers_of_other_cores_may_run_inside_an_access),
        cmocka_unit_test(a_few_hundred_thousand_granules_take_little),
        cmocka_unit_test(as_many_readers_as_there_can_be),
        cmocka_unit_test(addresses_at_both_ends_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
