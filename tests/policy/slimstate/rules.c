/* rules.c - slimstate's rules one by one, on executions by hand: the paper's Figure 2, all
 * pairs of footprints of a small array, what a clear leaves, the thresholds, the points at which
 * footprints are committed. */
#include "tests/policy/slimstate/rules.h"

#include <inttypes.h>

#include "policy/slimstate/slimstate.h"
#include "tests/frame/watch.h"

enum { ARRAY = 0x10000, LOCK = 0x900, VOLATILE = 0x910, SIZE = 4 };

static bool is(const char *what, uint64_t value, uint64_t wanted)
{
    if (value != wanted)
        printf("FAILED: %s: %" PRIu64 ", not %" PRIu64 "\n", what, value, wanted);
    return value == wanted;
}

#define VARIANT(...)                                                                               \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* ---- an execution by hand ------------------------------------------------------------------- */

static void add(struct stream *s, struct event ev)
{
    stream_add(s, &ev);
}

static void on(struct stream *s, sim_tid t, enum ev_kind kind, sim_addr addr)
{
    add(s, (struct event){.kind = (uint8_t)kind, .tid = t, .addr = addr});
}

static void alloc(struct stream *s, sim_addr at, uint64_t n)
{
    const struct event ev[2] = {{.kind = EV_ALLOC, .addr = at, .aux = n * SIZE, .flags = EVF_MORE},
                                {.addr = n, .size = SIZE}};

    stream_add(s, ev);
}

static void touch(struct stream *s, sim_tid t, enum ev_kind kind, sim_addr at, struct slim_range r)
{
    for (uint64_t i = r.b; i <= r.e; i += r.k)
        add(s, (struct event){.kind = (uint8_t)kind,
                              .tid = t,
                              .addr = at + i * SIZE,
                              .size = SIZE,
                              .flags = EVF_ARRAY});
}
#define RANGE(b, e, k) ((struct slim_range){b, e, k})

static void run(struct watch *w, struct stream *s, const char *const *settings)
{
    watch_open(w, "slimstate", SIZE, settings);
    watch_run(w, s->rec, s->records);
    stream_free(s);
}

static const struct slim *inside(const struct watch *w)
{
    const void *self;

    checker_policy(w->checker, &self);
    return self;
}

/* ---- Figure 2 ------------------------------------------------------------------------------- */

static bool figure_2_fails(void)
{
    struct stream s = {NULL, 0, 0, 0};
    struct watch w;

    alloc(&s, ARRAY, 4);
    for (unsigned i = 0; i < 3; i++) {
        on(&s, i % 2, EV_ACQUIRE, LOCK);
        touch(&s, i % 2, EV_WRITE, ARRAY, RANGE(0, i < 2 ? 3 : 1, 1));
        on(&s, i % 2, EV_RELEASE, LOCK);
    }
    run(&w, &s, VARIANT("small=1"));
    const struct slim_array *a = slim_find(inside(&w), ARRAY);
    const bool holds =
        is("Figure 2: races", w.races, 0) && is("Figure 2: checks", watch_stat(&w, "checks"), 3) &&
        is("Figure 2: commits", watch_stat(&w, "commits"), 3) &&
        is("Figure 2: refinements", watch_stat(&w, "refinements"), 1) &&
        is("Figure 2: the array", a != NULL, 1) && is("Figure 2: split", a->is.mode, SLIM_SPLIT) &&
        is("Figure 2: at", a->is.by, 2) &&
        is("Figure 2: the first part's thread", epoch_thread(slim_cell(a, 0)->at[WRITES]), 0) &&
        is("Figure 2: its time", epoch_time(slim_cell(a, 0)->at[WRITES]), 2) &&
        is("Figure 2: the second part's thread", epoch_thread(slim_cell(a, 1)->at[WRITES]), 1);
    watch_close(&w);
    return !holds;
}

/* ---- all pairs of footprints ---------------------------------------------------------------- */

enum { N = 6, FOOTPRINTS = 64 };

static size_t all_footprints(struct slim_range *f)
{
    size_t n = 0;

    for (uint64_t b = 0; b < N; b++)
        for (uint64_t e = b; e < N; e++)
            for (uint64_t k = 1; k <= (e > b ? e - b : 1); k++)
                if ((e - b) % k == 0)
                    f[n++] = RANGE(b, e, k);
    return n;
}

/* Two threads have one each; they race where both are, if they are not ordered and one writes. */
static bool pair_fails(const struct slim_range f[2], unsigned how, const char *const *settings)
{
    const bool ordered = how & 1, first_reads = how & 2, second_reads = how & 4;
    struct stream s = {NULL, 0, 0, 0};
    struct watch w;
    uint64_t wanted = 0;

    alloc(&s, ARRAY, N);
    touch(&s, 0, first_reads ? EV_READ : EV_WRITE, ARRAY, f[0]);
    if (ordered)
        on(&s, 0, EV_VOLATILE_WRITE, VOLATILE);
    on(&s, 1, EV_VOLATILE_READ, VOLATILE);
    touch(&s, 1, second_reads ? EV_READ : EV_WRITE, ARRAY, f[1]);
    run(&w, &s, settings);
    for (uint64_t i = 0; i < N && !ordered && !(first_reads && second_reads); i++)
        wanted += slim_contains(&f[0], i) && slim_contains(&f[1], i);
    bool holds = is("a pair's racy elements", watch_stat(&w, "races.locations"), wanted) &&
                 is("a pair's conflicts", w.conflicts, wanted);
    for (size_t i = 0; i < w.conflicts && holds; i++) {
        const uint64_t at = (w.conflict[i].location - ARRAY) / SIZE;
        holds = is("a racy element is in both",
                   slim_contains(&f[0], at) && slim_contains(&f[1], at), 1);
    }
    if (!holds)
        printf("%s: %d:%d:%d and %d:%d:%d, ordered %d, reads %d %d\n", settings[1], (int)f[0].b,
               (int)f[0].e, (int)f[0].k, (int)f[1].b, (int)f[1].e, (int)f[1].k, ordered,
               first_reads, second_reads);
    watch_close(&w);
    return !holds;
}

static bool pairs_fail(void)
{
    static const char *const variant[][4] = {{"small=1", "footprints=ranges"},
                                             {"small=1", "footprints=sets"},
                                             {"small=1", "partitions=sets"},
                                             {"small=1", "footprints=sets", "partitions=sets"}};
    struct slim_range f[FOOTPRINTS];
    const size_t n = all_footprints(f);

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n;
             j++) /* each variant sees a quarter of the pairs, each way a half */
            for (unsigned how = (unsigned)(i + j) % 2; how < 8; how += 2)
                if (pair_fails((const struct slim_range[]){f[i], f[j]}, how,
                               variant[(i + j / 2) % ARRAY_SIZE(variant)]))
                    return true;
    return false;
}

/* ---- what a clear leaves --------------------------------------------------------------------- */

static bool left_wrong(const struct watch *w, uint64_t cut, uint64_t writers)
{
    bool holds = is("races with what a clear left", watch_stat(w, "races.locations"), N - cut);

    for (size_t i = 0; i < w->conflicts && holds; i++) {
        const uint64_t at = (w->conflict[i].location - ARRAY) / SIZE;
        holds = is("a racy element was not cleared", at >= cut && at < N, 1) &&
                is("its last writer", w->conflict[i].earlier.thread, at % writers);
    }
    return !holds;
}

/* An array whose first elements were cleared is refined by a read of one that is left. Each of
 * those keeps its own writer: an unordered thread's sweep finds that race, and none where it was
 * cleared.
 */
static bool front_cleared_fails(uint64_t cut, uint64_t writers, uint64_t read)
{
    const sim_tid last = (sim_tid)writers;
    struct stream s = {NULL, 0, 0, 0};
    struct watch w;

    alloc(&s, ARRAY, N);
    for (uint64_t t = 0; t < writers; t++) /* every so many elements */
        touch(&s, (sim_tid)t, EV_WRITE, ARRAY, RANGE(t, N - writers + t, writers));
    add(&s, (struct event){.kind = EV_CLEAR, .addr = ARRAY, .aux = cut * SIZE});
    touch(&s, (sim_tid)(read % writers), EV_READ, ARRAY, RANGE(read, read, 1)); /* its writer's */
    on(&s, (sim_tid)(read % writers), EV_VOLATILE_WRITE, VOLATILE);
    touch(&s, last, EV_WRITE, ARRAY, RANGE(0, N - 1, 1));
    run(&w, &s, VARIANT("small=1"));
    const bool wrong = left_wrong(&w, cut, writers);
    if (wrong)
        printf("of %d elements, written by %d threads in turn, %d were cleared; %d was read\n", N,
               (int)writers, (int)cut, (int)read);
    watch_close(&w);
    return wrong;
}

static bool fronts_cleared_fail(void)
{
    for (uint64_t writers = 1; writers < N; writers++)
        for (uint64_t cut = 1; cut < N && N % writers == 0; cut++)
            for (uint64_t read = cut; read < N; read++)
                if (front_cleared_fails(cut, writers, read))
                    return true;
    return false;
}

/* A prefix keeps what all of the array was accessed by: in front of it, behind it. */
static bool prefix_fails(void)
{
    struct stream s = {NULL, 0, 0, 0};
    struct watch w;

    alloc(&s, ARRAY, 20);
    touch(&s, 0, EV_WRITE, ARRAY, RANGE(0, 19, 1));
    on(&s, 0, EV_VOLATILE_WRITE, VOLATILE);
    on(&s, 1, EV_VOLATILE_READ, VOLATILE);
    touch(&s, 1, EV_WRITE, ARRAY, RANGE(1, 2, 1));
    on(&s, 1, EV_VOLATILE_WRITE, VOLATILE + 8);
    touch(&s, 2, EV_WRITE, ARRAY, RANGE(0, 19, 1));
    run(&w, &s, (const char *const[]){NULL});
    const bool holds =
        is("races with a prefix and its rest", watch_stat(&w, "races.locations"), 20);
    watch_close(&w);
    return !holds;
}

/* Footprints that are no ranges: blocks of 4 elements, and then some that end within such a block.
 * The parts become smaller: elements that only one thread wrote do not race. */
static bool smaller_blocks_fail(void)
{
    enum { ELEMENTS = 24 };
    struct stream s = {NULL, 0, 0, 0};
    struct watch w;

    alloc(&s, ARRAY, ELEMENTS);
    touch(&s, 0, EV_WRITE, ARRAY, RANGE(0, 3, 1));
    touch(&s, 0, EV_WRITE, ARRAY, RANGE(8, 11, 1));
    on(&s, 0, EV_VOLATILE_WRITE, VOLATILE);
    touch(&s, 1, EV_WRITE, ARRAY, RANGE(0, 5, 1));
    touch(&s, 1, EV_WRITE, ARRAY, RANGE(12, 17, 1));
    run(&w, &s, VARIANT("small=1", "footprints=sets"));
    const struct slim_array *a = slim_find(inside(&w), ARRAY);
    const bool holds =
        is("racy elements of both footprints", watch_stat(&w, "races.locations"), 4) &&
        is("the array", a != NULL, 1) && is("blocks", a->is.mode, SLIM_BLOCK) &&
        is("of so many elements", a->is.by, 2);
    watch_close(&w);
    return !holds;
}

/* Elements of two granules. A site that has accessed whole elements accesses the first half of one;
 * the other half is another thread's, and no race. */
static bool piece_fails(void)
{
    enum { ELEMENTS = 16, WHOLE = 2 * SIZE, SITE = 5, PIECE_OF = 9 };
    const struct event alloc_wide[2] = {
        {.kind = EV_ALLOC, .addr = ARRAY, .aux = ELEMENTS * WHOLE, .flags = EVF_MORE},
        {.addr = ELEMENTS, .size = WHOLE}};
    struct event access = {.kind = EV_WRITE, .size = WHOLE, .flags = EVF_ARRAY, .aux = SITE};
    struct stream s = {NULL, 0, 0, 0};
    struct watch w;

    stream_add(&s, alloc_wide);
    for (uint64_t i = 0; i < PIECE_OF; i++) {
        access.addr = ARRAY + i * WHOLE;
        add(&s, access);
    }
    access.addr = ARRAY + PIECE_OF * WHOLE;
    access.size = SIZE;
    add(&s, access);
    access.tid = 1;
    access.addr += SIZE;
    add(&s, access);
    run(&w, &s, VARIANT("small=1"));
    const bool holds = is("races of an element's halves", w.races, 0) &&
                       is("elements gathered at once", watch_stat(&w, "appended") > 0, 1);
    watch_close(&w);
    return !holds;
}

/* Several elements narrower than a granule count as one; a granule in part only is no element. */
static bool narrow_elements_fail(void)
{
    enum { ELEMENTS = 64, NARROW = SIZE / 2 };
    bool holds = true;

    for (unsigned off = 0; off <= NARROW; off += NARROW) { /* where the first one begins */
        const struct event alloc_narrow[2] = {
            {.kind = EV_ALLOC, .addr = ARRAY + off, .aux = ELEMENTS * NARROW, .flags = EVF_MORE},
            {.addr = ELEMENTS, .size = NARROW}};
        struct stream s = {NULL, 0, 0, 0};
        struct watch w;
        stream_add(&s, alloc_narrow);
        for (sim_tid t = 0; t < 2; t++) /* one has the even elements, the other the odd ones */
            for (uint64_t i = t; i < ELEMENTS; i += 2)
                add(&s, (struct event){.kind = EV_WRITE,
                                       .tid = t,
                                       .addr = ARRAY + off + i * NARROW,
                                       .size = NARROW,
                                       .flags = EVF_ARRAY});
        run(&w, &s, VARIANT("small=1"));
        const struct slim_array *a = slim_find(inside(&w), ARRAY + SIZE);
        holds = is("the array of granules", a != NULL, 1) && is("their size", a->slot, SIZE) &&
                is("granules with all of their elements", a->n,
                   (unsigned)(ELEMENTS * NARROW - (off ? SIZE : 0)) / SIZE) &&
                is("granules that both wrote", watch_stat(&w, "races.locations"),
                   ELEMENTS * NARROW / SIZE - (off ? 1 : 0)) &&
                holds;
        watch_close(&w);
    }
    return !holds;
}

/* ---- thresholds ----------------------------------------------------------------------------- */

static bool small_arrays_fail(void)
{
    bool holds = true;

    for (uint64_t n = 15; n <= 17; n++) {
        struct stream s = {NULL, 0, 0, 0};
        struct watch w;
        alloc(&s, ARRAY, n);
        touch(&s, 0, EV_WRITE, ARRAY, RANGE(0, n - 1, 1));
        run(&w, &s, (const char *const[]){NULL});
        holds = is("elements gathered", watch_stat(&w, "appended"), n < 16 ? 0 : n) && holds;
        holds =
            is("elements of small arrays", watch_stat(&w, "arrays.small"), n < 16 ? n : 0) && holds;
        watch_close(&w);
    }
    return !holds;
}

/* So many arrays in one region, and another thread's writes to all of them. */
static bool buffer_fails(uint64_t arrays)
{
    struct stream s = {NULL, 0, 0, 0};
    struct watch w;

    for (uint64_t i = 0; i < arrays; i++)
        alloc(&s, ARRAY + i * 256, 16);
    for (sim_tid t = 0; t < 2; t++)
        for (uint64_t i = 0; i < arrays; i++)
            touch(&s, t, EV_WRITE, ARRAY + i * 256, RANGE(0, 15, 1));
    run(&w, &s, (const char *const[]){NULL});
    const bool holds =
        is("full commit buffers", watch_stat(&w, "buffer-full"), arrays > 2048 ? 2 : 0) &&
        is("racy elements of many arrays", watch_stat(&w, "races.locations"), arrays * 16) &&
        is("checks of many arrays", watch_stat(&w, "checks"), arrays * 2);
    watch_close(&w);
    return !holds;
}

/* ---- when footprints are committed ---------------------------------------------------------- */

/* A thread that has not ended is joined: it published. */
static bool join_fails(void)
{
    struct stream s = {NULL, 0, 0, 0};
    struct watch w;

    alloc(&s, ARRAY, 16);
    add(&s, (struct event){.kind = EV_FORK, .aux = 1});
    touch(&s, 1, EV_WRITE, ARRAY, RANGE(0, 15, 1));
    add(&s, (struct event){.kind = EV_JOIN, .aux = 1});
    touch(&s, 0, EV_WRITE, ARRAY, RANGE(0, 15, 1));
    run(&w, &s, (const char *const[]){NULL});
    const bool holds = is("races with a joined thread", w.races, 0);
    watch_close(&w);
    return !holds;
}

/* A race is told by regions, at the end, when nobody synchronises. */
static bool report_fails(void)
{
    struct stream s = {NULL, 0, 0, 0};
    struct watch w;

    alloc(&s, ARRAY, 16);
    on(&s, 1, EV_VOLATILE_READ, VOLATILE);
    touch(&s, 0, EV_WRITE, ARRAY, RANGE(0, 15, 1));
    touch(&s, 1, EV_READ, ARRAY, RANGE(3, 3, 1));
    run(&w, &s, (const char *const[]){NULL});
    bool holds = is("one race", w.races, 1);
    if (holds) {
        const struct race *r = &w.race[0];
        holds = is("its address", r->addr, ARRAY + 3 * SIZE) && is("its size", r->size, SIZE) &&
                is("its thread", r->is.thread, 1) && is("its region", r->is.region, 1) &&
                is("which begins at", r->is.event, 2) && is("its site", r->is.site, 0) &&
                is("the earlier thread", r->earlier.thread, 0) &&
                is("the earlier region", r->earlier.region, 1) &&
                is("which begins at the beginning", r->earlier.event, 0);
    }
    watch_close(&w);
    return !holds;
}

/* What is no array is told at once, as fasttrack tells it; arrays unchecked are not told at all. */
static bool unchecked_fails(void)
{
    struct stream s = {NULL, 0, 0, 0};
    struct watch w;

    alloc(&s, ARRAY, 16);
    for (sim_tid t = 0; t < 2; t++) {
        touch(&s, t, EV_WRITE, ARRAY, RANGE(0, 15, 1));
        add(&s, (struct event){.kind = EV_WRITE, .tid = t, .addr = 0x800, .size = SIZE, .aux = 7});
    }
    run(&w, &s, VARIANT("arrays=unchecked"));
    const bool holds = is("races of objects alone", w.races, 1) &&
                       is("at", w.race[0].addr, 0x800) && is("by", w.race[0].is.event, 34) &&
                       is("after", w.race[0].earlier.event, 17);
    watch_close(&w);
    return !holds;
}

bool slim_more_fails(void)
{
    return figure_2_fails() || small_arrays_fail() || buffer_fails(2048) || buffer_fails(2049) ||
           join_fails() || prefix_fails() || smaller_blocks_fail() || piece_fails() ||
           narrow_elements_fail() || report_fails() || unchecked_fails() || fronts_cleared_fail() ||
           pairs_fail();
}
