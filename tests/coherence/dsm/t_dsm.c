/* t_dsm.c - does each action of the protocol take exactly the time, the messages and the bytes that
 * docs/dsm.md says? A cycle is a ns; every cost is a number that no other sum of costs is likely to
 * be; a byte is on a link for a cycle. */
#include "tests/coherence/dsm/rig.h"
#include "tests/frame/mutant_arg.h"

#define COSTS                                                                                      \
    "host=1 latency=1000 bandwidth=8000 local=300 send=10 receive=20 copy=0 header=0 trap=100 "    \
    "protect=7 twin=480 diff=800 diff-change=1024 apply=2048 notice=3 interval=5 "
enum { /* of a page of 64 bytes: what these are */
       SEND = 10,
       RECEIVE = 20,
       WAY = 1000,
       LOCAL = 300,
       TRAP = 100,
       PROTECT = 7,
       TWIN = 30,
       DIFF = 50,
       NOTICE = 3,
       INTERVAL = 5,
       PAGE = 64
};
#define MESSAGE(bytes) (SEND + WAY + (bytes) + RECEIVE)
/* With n processes: a vector, and an interval with its notices. */
#define VECTOR(n)        (4 * (n))
#define TOLD(n, notices) (8 + VECTOR(n) + 4 * (notices))
#define CHANGED(words)   (4 * (words)) /* making a diff */
#define APPLIED(words)   (8 * (words))
#define RUN(runs, words) (8 + 8 * (runs) + 4 * (words)) /* a diff in a message */

static struct rig *begin(unsigned processes, const char *more)
{
    char settings[400];

    snprintf(settings, sizeof settings, COSTS "%s", more);
    return rig_new(processes, PAGE, settings);
}

static void takes(struct rig *r, const char *what, sim_cycle since, sim_cycle cycles)
{
    if (r->now - since != cycles)
        fail_msg("%s takes %u cycles, and should take %u", what, (unsigned)(r->now - since),
                 (unsigned)cycles);
}

/* Makes the access, and says what its faults took. */
static void load(struct rig *r, unsigned p, sim_addr a, sim_cycle cycles)
{
    const sim_cycle since = r->now;

    rig_load(r, p, a);
    takes(r, "the load", since, cycles);
}
static void store(struct rig *r, unsigned p, sim_addr a, sim_cycle cycles)
{
    const sim_cycle since = r->now;

    rig_store(r, p, a, 1);
    takes(r, "the store", since, cycles);
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void whoever_has_a_page_at_first_reads_it_for_nothing(void **state)
{
    (void)state;
    struct rig *r = begin(2, "");

    load(r, 0, 0, 0);
    assert_int_equal(dsm_state(r->d, 0, vaddr_of(0)), DSM_READ);
    assert_int_equal(dsm_state(r->d, 1, vaddr_of(0)), DSM_NONE);
    rig_want(r, "dsm.read-faults=0 dsm.messages=0");
    rig_free(r);
}

static void pages_may_have_homes_in_turn(void **state)
{
    (void)state;
    struct rig *r = begin(2, "home=interleave");

    load(r, 0, 0, 0);
    load(r, 1, PAGE, 0);
    rig_free(r);
}

static void a_first_store_makes_a_twin(void **state)
{
    (void)state;
    struct rig *r = begin(2, "");

    store(r, 0, 0, TRAP + TWIN + PROTECT);
    store(r, 0, 4, 0);
    assert_int_equal(dsm_state(r->d, 0, vaddr_of(0)), DSM_WRITE);
    rig_want(r, "dsm.write-faults=1 dsm.twins=1 dsm.messages=0 dsm.time.twin=30 dsm.time.trap=107 "
                "dsm.wait.fault=137");
    rig_free(r);
}

#define FETCHED (MESSAGE(4) + MESSAGE(PAGE + VECTOR(2)))
static void who_has_no_copy_fetches_the_page(void **state)
{
    (void)state;
    struct rig *r = begin(2, "");

    load(r, 1, 0, TRAP + FETCHED + PROTECT);
    load(r, 1, 60, 0);
    assert_int_equal(dsm_state(r->d, 1, vaddr_of(0)), DSM_READ);
    store(r, 1, PAGE, TRAP + FETCHED + TWIN + PROTECT);
    rig_want(r, "dsm.messages=4 dsm.message.page-request.number=2 dsm.message.page.number=2 "
                "dsm.message.page-request.bytes=8 dsm.message.page.bytes=144 "
                "dsm.bytes.pages=128 dsm.bytes.clocks=16 dsm.bytes.requests=8 "
                "dsm.pages-fetched=2 dsm.time.wire=4152 dsm.time.send=40 dsm.time.receive=80");
    rig_free(r);
}

/* Process 1 writes words of a page that 0 has, under a lock that then goes to 0, who was there. */
static struct rig *written_by_1(unsigned words)
{
    struct rig *r = begin(2, "");

    rig_load(r, 0, 0);
    rig_lock(r, 1, 0x8000, false);
    for (unsigned w = 0; w < words; w++)
        rig_store(r, 1, 8 * w, 1);
    rig_unlock(r, 1, 0x8000);
    return r;
}

static void a_notice_makes_a_copy_invalid_and_a_fault_brings_the_diff(void **state)
{
    (void)state;
    struct rig *r = written_by_1(3);
    const sim_cycle since = r->now;

    rig_lock(r, 0, 0x8000, false); /* its manager: forwards to itself, so asks 1 at once */
    takes(r, "the lock", since,
          MESSAGE(VECTOR(2)) + MESSAGE(VECTOR(2) + TOLD(2, 1)) + INTERVAL + NOTICE + PROTECT);
    assert_int_equal(dsm_state(r->d, 0, vaddr_of(0)), DSM_INVALID);
    load(r, 0, 0,
         TRAP + MESSAGE(4 + 8) + DIFF + CHANGED(3) + PROTECT + MESSAGE(RUN(3, 3)) + APPLIED(3) +
             PROTECT);
    assert_int_equal(dsm_state(r->d, 0, vaddr_of(0)), DSM_READ);
    assert_int_equal(dsm_state(r->d, 1, vaddr_of(0)), DSM_READ); /* its twin went with the diff */
    rig_want(r, "dsm.diffs-made=1 dsm.diffs-applied=1 dsm.invalidations=1 dsm.notices=1 "
                "dsm.message.diffs.bytes=44 dsm.bytes.diffs=44 dsm.time.diff=62 dsm.time.apply=24");
    rig_free(r);
}

static void a_store_to_an_invalid_page_gets_the_diff_and_a_twin(void **state)
{
    (void)state;
    struct rig *r = written_by_1(1);

    rig_lock(r, 0, 0x8000, false);
    store(r, 0, 32,
          TRAP + MESSAGE(4 + 8) + DIFF + CHANGED(1) + PROTECT + MESSAGE(RUN(1, 1)) + APPLIED(1) +
              TWIN + PROTECT);
    assert_int_equal(dsm_state(r->d, 0, vaddr_of(0)), DSM_WRITE);
    rig_free(r);
}

/* Words that follow each other are one run; Figure 4: what is written after the interval is in its
 * diff, as it is made late. */
static void a_late_diff_has_later_writes_and_runs(void **state)
{
    (void)state;
    struct rig *r = written_by_1(1);

    rig_store(r, 1, 4, 1); /* the page still has its twin: no fault, no notice */
    rig_lock(r, 0, 0x8000, false);
    load(r, 0, 0,
         TRAP + MESSAGE(4 + 8) + DIFF + CHANGED(2) + PROTECT + MESSAGE(RUN(1, 2)) + APPLIED(2) +
             PROTECT);
    assert_int_equal(dsm_load(r->d, 0, vaddr_of(4)), 1);
    rig_want(r, "dsm.notices=1 dsm.twins=1");
    rig_free(r);
}

static void a_notice_of_a_page_with_a_twin_makes_its_diff_first(void **state)
{
    (void)state;
    struct rig *r = written_by_1(1);

    rig_store(r, 0, 32, 1); /* false sharing */
    const sim_cycle since = r->now;
    rig_lock(r, 0, 0x8000, false);
    takes(r, "the lock", since,
          MESSAGE(VECTOR(2)) + MESSAGE(VECTOR(2) + TOLD(2, 1)) + INTERVAL + NOTICE + DIFF +
              CHANGED(1) + PROTECT + PROTECT);
    assert_int_equal(dsm_state(r->d, 0, vaddr_of(0)), DSM_INVALID);
    rig_free(r);
}

/* A page came with writes that its process hears of later. It stays valid; but its twin ends, or
 * what it writes now would be in a diff that is applied before those writes. */
static void a_twin_ends_when_writes_are_heard_of_that_came_with_the_page(void **state)
{
    (void)state;
    struct rig *r = begin(3, "");

    rig_lock(r, 0, 0x8000, false);
    rig_store(r, 0, 0, 1);
    rig_unlock(r, 0, 0x8000);
    rig_lock(r, 2, 0x8008, false); /* so that the diff is made, and 0's copy is sent as it is */
    rig_unlock(r, 2, 0x8008);
    rig_lock(r, 2, 0x8000, false);
    rig_load(r, 2, 0);
    rig_unlock(r, 2, 0x8000);
    rig_store(r, 1, 4, 2); /* fetches 0's page with the write in it */
    r->now = dsm_give(r->d, 1, DSM_VOLATILE, 1, r->now);
    rig_lock(r, 1, 0x8000, false); /* hears of it */
    assert_int_equal(dsm_state(r->d, 1, vaddr_of(0)), DSM_READ);
    rig_store(r, 1, 0, 3); /* happens after the first write of the word */
    rig_unlock(r, 1, 0x8000);
    rig_lock(r, 2, 0x8000, false);
    assert_int_equal(rig_load(r, 2, 0), 3);
    rig_free(r);
}

/* The last writer has what it knew when it wrote: one request for both diffs. */
static void the_last_writer_is_asked_for_what_it_had(void **state)
{
    (void)state;
    struct rig *r = begin(3, "");

    rig_load(r, 2, 0);
    for (unsigned p = 0; p < 2; p++) {
        rig_lock(r, p, 0x8000, false);
        rig_store(r, p, 8 * p, 1);
        rig_unlock(r, p, 0x8000);
    }
    rig_lock(r, 2, 0x8000, false);
    load(r, 2, 0,
         TRAP + MESSAGE(4 + 8 + 8) + DIFF + CHANGED(1) + PROTECT + MESSAGE(2 * RUN(1, 1)) +
             2 * APPLIED(1) + PROTECT);
    rig_want(r, "dsm.message.diff-request.number=2"); /* the other one was process 1's */
    rig_free(r);
}

/* Nobody has both: two requests leave one after the other, and the answers come back so. Both
 * diffs were made at the barrier, where the writers heard of each other. */
static void writers_who_knew_nothing_of_each_other_are_all_asked(void **state)
{
    (void)state;
    struct rig *r = begin(3, "");

    for (unsigned p = 0; p < 3; p++)
        rig_load(r, p, 0);
    rig_store(r, 0, 0, 1);
    rig_store(r, 1, 8, 1);
    rig_barrier(r, 3);
    const sim_cycle since = r->now;
    rig_load(r, 2, 0);
    takes(r, "the load", since,
          TRAP + MESSAGE(4 + 8) + MESSAGE(RUN(1, 1)) + RECEIVE + 2 * APPLIED(1) + PROTECT);
    rig_want(r, "dsm.message.diff-request.number=2 dsm.diffs-applied=2");
    rig_free(r);
}

/* Words on both sides of where the set of written words goes on in another 64 bits, and what the
 * other process has written beside them. */
static void a_large_pages_diff_has_each_word_and_each_run(void **state)
{
    static const unsigned written[] = {0, 62, 63, 64, 65, 127, 128, 200, 255};
    enum { WORDS = 256, RUNS = 5 };
    struct rig *r = rig_new(2, 4 * WORDS, "host=1");
    uint32_t expected[WORDS] = {[1] = 7, [66] = 7, [126] = 7, [191] = 7};

    (void)state;
    for (unsigned w = 0; w < WORDS; w++)
        if (expected[w])
            rig_store(r, 0, 4 * w, expected[w]);
    rig_lock(r, 1, 0x8000, false);
    for (unsigned i = 0; i < ARRAY_SIZE(written); i++)
        rig_store(r, 1, 4 * written[i], expected[written[i]] = 100 + i);
    rig_unlock(r, 1, 0x8000);
    rig_lock(r, 0, 0x8000, false);
    rig_load(r, 0, 0);
    for (unsigned w = 0; w < WORDS; w++)
        if (dsm_load(r->d, 0, vaddr_of(4 * w)) != expected[w])
            fail_msg("word %u is %u, not %u", w, dsm_load(r->d, 0, vaddr_of(4 * w)), expected[w]);
    assert_int_equal(rig_stat(r, "dsm.bytes.diffs"), RUN(RUNS, ARRAY_SIZE(written)));
    rig_free(r);
}

static void a_word_is_any_power_of_two(void **state)
{
    (void)state;
    for (uint64_t word = 1; word <= 64; word++) {
        struct config *config = config_new(NULL);
        struct stats *stats = stats_new();
        struct err e = {0};
        char set[20];
        snprintf(set, sizeof set, "dsm.word=%u", (unsigned)word);
        assert_int_equal(config_set(config, set, &e), 0);
        struct dsm *d = dsm_new(
            &(struct dsm_env){
                .stats = stats, .config = config, .processes = 2, .page = PAGE, .frequency = 1000},
            &e);
        if (__builtin_popcountll(word) == 1 ? !d : d || !strstr(e.text, "no power of two"))
            fail_msg("%s is %s: %s", set, d ? "taken" : "refused", e.text);
        dsm_free(d);
        stats_free(stats);
        config_free(config);
    }
}

static void what_is_kept_for_others_grows_by_intervals(void **state)
{
    struct rig *r = written_by_1(1);

    (void)state;
    assert_int_equal(rig_stat(r, "dsm.kept-peak"), TOLD(2, 1));
    rig_lock(r, 1, 0x8000, false);
    rig_store(r, 1, PAGE, 1);
    rig_unlock(r, 1, 0x8000);
    assert_int_equal(rig_stat(r, "dsm.kept-peak"), 2 * TOLD(2, 1));
    rig_free(r);
}

static void a_copy_is_charged_until_a_collection_takes_it(void **state)
{
    struct rig *r = begin(2, "collect=1");
    struct budget b = {0};

    (void)state;
    dsm_account(r->d, &b);
    rig_load(r, 0, 0);
    const uint64_t one = b.live;
    rig_load(r, 1, 0);
    const uint64_t copy = b.live - one;
    if (b.live < one + PAGE)
        fail_msg("a copy of %u bytes is charged as %u", PAGE, (unsigned)copy);
    rig_store(r, 1, 0, 1);
    rig_barrier(r, 2); /* 0 loses its copy, 1 the twin */
    const uint64_t since = b.live;
    rig_load(r, 0, 0);
    assert_int_equal(b.live - since, copy);
    rig_free(r);
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* Managers are the processes in turn: this one has as its manager process `of`. */
static sim_addr lock_managed_by(struct rig *r, unsigned of)
{
    for (unsigned p = 0; p < of; p++) {
        rig_lock(r, p, 0x8100 + 8 * p, false);
        rig_unlock(r, p, 0x8100 + 8 * p);
    }
    return 0x8000;
}

static void lock_takes(unsigned manager, unsigned holder, unsigned asks, sim_cycle cycles,
                       const char *messages)
{
    struct rig *r = begin(4, "");
    const sim_addr lock = lock_managed_by(r, manager);

    rig_lock(r, holder, lock, false);
    rig_unlock(r, holder, lock);
    const uint64_t before = rig_stat(r, "dsm.messages"), remote = rig_stat(r, "dsm.lock-remote"),
                   forwarded = rig_stat(r, "dsm.lock-forwarded");
    const sim_cycle since = r->now;
    rig_lock(r, asks, lock, false);
    takes(r, messages, since, cycles);
    assert_int_equal(rig_stat(r, "dsm.messages") - before, (unsigned)(messages[0] - '0'));
    assert_int_equal(rig_stat(r, "dsm.lock-remote") - remote, holder != asks);
    assert_int_equal(rig_stat(r, "dsm.lock-forwarded") - forwarded,
                     holder != asks && holder != manager);
    rig_free(r);
}

static void a_lock_takes_none_two_or_three_messages(void **state)
{
    (void)state;
    const sim_cycle m = MESSAGE(VECTOR(4));

    lock_takes(1, 2, 2, 0, "0: it had the lock last");
    lock_takes(1, 1, 1, 0, "0: it is the manager and had it last");
    lock_takes(1, 1, 3, m + m, "2: the manager had it last");
    lock_takes(1, 3, 1, m + m, "2: it is the manager");
    lock_takes(1, 2, 3, m + m + m, "3: the manager forwards");
}

/* It asks when it begins to wait; the request is there when the lock is released. */
static void a_request_leaves_when_the_wait_begins(void **state)
{
    (void)state;
    struct rig *r = begin(2, "");

    rig_lock(r, 1, 0x8000, false);
    const sim_cycle asked = r->now;
    r->now += 5000;
    rig_unlock(r, 1, 0x8000);
    assert_int_equal(dsm_lock(r->d, 0, vaddr_of(0x8000), false, asked, r->now) - r->now,
                     MESSAGE(VECTOR(2)));
    rig_want(r, "dsm.time-of.lock.others=0");
    rig_free(r);
}

/* ---- barriers -------------------------------------------------------------------------------- */

/* Process 1 has written a page; 0 and 2 have not. All at once: arrivals are taken in one after the
 * other, and departures leave so. */
static void a_barrier_is_arrivals_and_departures(void **state)
{
    (void)state;
    struct rig *r = begin(3, "");
    sim_cycle at[3];

    rig_load(r, 0, 0);
    rig_load(r, 2, 0);
    rig_store(r, 1, 0, 1);
    const sim_cycle t = r->now += 100000;
    assert_int_equal(dsm_arrive(r->d, 0, vaddr_of(0x9000), t), t);
    assert_int_equal(dsm_arrive(r->d, 1, vaddr_of(0x9000), t), t + SEND);
    assert_int_equal(dsm_arrive(r->d, 2, vaddr_of(0x9000), t), t + SEND);
    for (unsigned p = 0; p < 3; p++)
        at[p] = dsm_depart(r->d, p, vaddr_of(0x9000), t + SEND) - t;
    /* 1's arrival is longer, as it has an interval; while the master takes it in, the other comes.
     */
    const sim_cycle both = SEND + WAY + VECTOR(3) + TOLD(3, 1) + 2 * RECEIVE;
    const sim_cycle told = INTERVAL + NOTICE + PROTECT;
    assert_int_equal(at[1], both + MESSAGE(VECTOR(3)));
    /* The link has the first departure for longer than the master needs to send the second. */
    assert_int_equal(at[2], both + VECTOR(3) + MESSAGE(VECTOR(3) + TOLD(3, 1)) + told);
    assert_int_equal(at[0], both + 2 * SEND + told);
    rig_want(r, "dsm.message.arrive.number=2 dsm.message.depart.number=2 dsm.barrier-rounds=1 "
                "dsm.message.arrive.bytes=48 dsm.message.depart.bytes=48");
    rig_free(r);
}

/* ---- other objects, hosts, what is owed -------------------------------------------------------
 */

static void a_release_tells_the_manager_and_an_acquire_asks_it(void **state)
{
    (void)state;
    struct rig *r = begin(3, "");
    sim_cycle since = r->now; /* the first object is process 0's */

    r->now = dsm_give(r->d, 1, DSM_VOLATILE, 1, r->now);
    takes(r, "the release", since, SEND);
    since = r->now += 10000;
    r->now = dsm_take(r->d, 2, DSM_VOLATILE, 1, r->now);
    takes(r, "the acquire", since, MESSAGE(0) + MESSAGE(VECTOR(3)));
    since = r->now;
    r->now = dsm_take(r->d, 0, DSM_VOLATILE, 1, r->now);
    takes(r, "the manager's acquire", since, 0);
    rig_want(r, "dsm.message.tell.number=1 dsm.message.ask.number=1 dsm.message.answer.number=1");
    rig_free(r);
}

static void inside_a_host_messages_take_no_link(void **state)
{
    (void)state;
    struct rig *r = begin(2, "host=2");
    const sim_cycle message = SEND + LOCAL + RECEIVE;

    load(r, 1, 0, TRAP + 2 * message + PROTECT);
    rig_want(r, "dsm.messages=2 dsm.messages-local=2");
    rig_free(r);
}

static void who_serves_owes_it_unless_it_stood_still(void **state)
{
    (void)state;
    struct rig *r = begin(3, "");

    assert_int_equal(dsm_owed(r->d, 0, 0), 0); /* it runs */
    rig_load(r, 1, 0);
    assert_int_equal(dsm_owed(r->d, 0, r->now), RECEIVE + SEND);
    assert_int_equal(dsm_owed(r->d, 0, r->now), 0); /* paid */
    const sim_cycle since = r->now;
    rig_load(r, 2, 0);
    dsm_stood(r->d, 0, since, r->now);
    assert_int_equal(dsm_owed(r->d, 0, r->now), 0);
    rig_want(r, "dsm.served=60 dsm.served-waiting=30");
    rig_free(r);
}

static void links_carry_one_message_at_a_time(void **state)
{
    (void)state;
    struct rig *r = begin(3, "");
    const sim_cycle way = TRAP + FETCHED + 4 + PROTECT; /* a vector of three is longer by 4 */

    assert_int_equal(dsm_fault(r->d, 1, vaddr_of(0), false, 0), way);
    /* The page of the second is behind that of the first on process 0's link; but process 0 was
     * busy with the first for as long as a receive takes, and sends later by a send. */
    assert_int_equal(dsm_fault(r->d, 2, vaddr_of(0), false, 0), way + PAGE + VECTOR(3));
    assert_true(rig_stat(r, "dsm.time.queue") > 0);
    rig_free(r);
}

/* ---- collections ----------------------------------------------------------------------------- */

static void a_collection_keeps_the_writers_copies_and_forgets_the_rest(void **state)
{
    (void)state;
    struct rig *r = begin(3, "collect=1");

    for (unsigned p = 0; p < 3; p++)
        rig_load(r, p, 0);
    rig_store(r, 1, 0, 7);
    rig_barrier(r, 3);
    assert_int_equal(dsm_state(r->d, 0, vaddr_of(0)), DSM_NONE);
    assert_int_equal(dsm_state(r->d, 1, vaddr_of(0)), DSM_READ);
    assert_int_equal(dsm_state(r->d, 2, vaddr_of(0)), DSM_NONE);
    assert_int_equal(rig_load(r, 2, 0), 7); /* from who holds it now */
    rig_want(r, "dsm.collections=1 dsm.message.collected.number=2 dsm.message.collect.number=2 "
                "dsm.diffs-made=0");
    rig_barrier(r, 3);
    rig_want(r, "dsm.collections=1"); /* there was nothing to collect */
    rig_free(r);
}

static void without_a_barrier_one_process_makes_all_collect(void **state)
{
    (void)state;
    struct rig *r = begin(3, "force=1");

    rig_load(r, 0, 0);
    dsm_owed(r->d, 0, 0);
    rig_store(r, 1, 0, 7);
    rig_unlock(r, 1, 0x8000);
    rig_want(r, "dsm.collections=1 dsm.collections-forced=1");
    assert_int_equal(dsm_state(r->d, 0, vaddr_of(0)), DSM_NONE);
    assert_true(dsm_owed(r->d, 0, r->now) > WAY); /* it was stopped */
    assert_int_equal(rig_load(r, 0, 0), 7);
    rig_free(r);
}

/* ---- a detector's messages ------------------------------------------------------------------- */

static void a_detectors_notices_go_along(void **state)
{
    (void)state;
    struct rig *r = written_by_1(1);
    const uint64_t before = rig_stat(r, "dsm.messages");

    dsm_notices(r->d, 1, 5, 3, r->now); /* one of the three is there already */
    rig_lock(r, 0, 0x8000, false);
    rig_want(r, "dsm.bytes.read-notices=20 dsm.bytes.more-notices=8");
    assert_int_equal(rig_stat(r, "dsm.messages") - before, 2);
    dsm_arrive(r->d, 1, vaddr_of(0x9000), r->now);
    dsm_notices(r->d, 1, 2, 0, r->now);       /* of an arrival that is under way */
    rig_want(r, "dsm.bytes.read-notices=48"); /* the master gets the five of before, too */
    rig_free(r);
}

/* Without it nobody would be told of an interval without a write. */
static void an_interval_that_only_read_is_the_detectors(void **state)
{
    (void)state;
    struct rig *r = begin(2, "");

    rig_lock(r, 1, 0x8000, false);
    rig_unlock(r, 1, 0x8000);
    dsm_notices(r->d, 1, 2, 0, r->now);
    rig_lock(r, 0, 0x8000, false);
    rig_want(r, "dsm.bytes.more-clocks=16 dsm.bytes.read-notices=8 dsm.bytes.clocks=32");
    rig_free(r);
}

static void bitmaps_are_a_round_of_their_own(void **state)
{
    (void)state;
    struct rig *r = begin(3, "");
    const uint64_t bytes[3] = {1000, 100, 0};

    assert_int_equal(dsm_fetch(r->d, bytes, 0), SEND + WAY + RECEIVE + MESSAGE(100));
    assert_int_equal(dsm_released(r->d, 1, 50), 50 + SEND + WAY + RECEIVE);
    assert_int_equal(dsm_released(r->d, 0, 50), 50);
    rig_want(r, "dsm.message.bitmaps.number=1 dsm.bytes.bitmaps=100");
    rig_free(r);
}

/* ---- what a process owes for long ---------------------------------------------------------------
 */

/* Process 0 does nothing while 1 fetches page after page from it: of 1025 works that it owes for,
 * the older half becomes one, which is due when the last of them was, and nothing of it is lost. */
static void what_is_owed_for_long_becomes_one_and_loses_nothing(void **state)
{
    enum { FETCHES = 513, HALF = 512 };
    struct rig *r = begin(2, "");
    sim_cycle half = 0;

    (void)state;
    assert_int_equal(dsm_owed(r->d, 0, 0), 0);      /* from now on its work for others costs it */
    dsm_stood(r->d, 0, UINT64_MAX - 1, UINT64_MAX); /* that is later than all of it */
    for (unsigned i = 0; i < FETCHES; i++) {
        if (2 * i == HALF) /* its work for this fetch begins when the request has come */
            half = r->now + TRAP + SEND + WAY + 4;
        rig_load(r, 1, i * PAGE);
    }
    assert_int_equal(rig_stat(r, "dsm.served"), FETCHES * (RECEIVE + SEND));
    assert_int_equal(dsm_owed(r->d, 0, half - 1), 0);
    assert_int_equal(dsm_owed(r->d, 0, half), HALF / 2 * (RECEIVE + SEND) + RECEIVE);
    assert_int_equal(dsm_owed(r->d, 0, half + RECEIVE), SEND);
    assert_int_equal(dsm_owed(r->d, 0, r->now),
                     (FETCHES - HALF / 2) * (RECEIVE + SEND) - RECEIVE - SEND);
    assert_int_equal(dsm_owed(r->d, 0, r->now), 0);
    rig_free(r);
}

/* It stands from one cycle to before the other: a request that comes in the first is served for
 * nothing, and one that comes in the other is not. */
static void who_stands_serves_for_nothing_until_it_goes_on(void **state)
{
    enum { COMES = TRAP + SEND + WAY + 4 };
    struct rig *r = begin(2, "");

    (void)state;
    assert_int_equal(dsm_owed(r->d, 0, 0), 0);
    dsm_stood(r->d, 0, 0, COMES);
    rig_load(r, 1, 0);
    rig_want(r, "dsm.served=30 dsm.served-waiting=0");
    assert_int_equal(dsm_owed(r->d, 0, r->now), RECEIVE + SEND);
    dsm_stood(r->d, 0, r->now + COMES, r->now + COMES + 1);
    rig_load(r, 1, PAGE);
    rig_want(r, "dsm.served=60 dsm.served-waiting=20");
    assert_int_equal(dsm_owed(r->d, 0, r->now), SEND);
    rig_free(r);
}

static NO_INLINE void leave_a_dirty_stack(void)
{
    volatile unsigned char room[8192];

    for (size_t i = 0; i < sizeof room; i++)
        room[i] = 0xff;
}

/* It knows nothing of what process 1 has done since the last barrier; who has done it tells. */
static void an_arrival_tells_of_the_process_alone(void **state)
{
    struct rig *r = begin(3, "");

    (void)state;
    rig_lock(r, 1, 0x8000, false);
    rig_store(r, 1, 0, 1);
    rig_unlock(r, 1, 0x8000);
    leave_a_dirty_stack();
    r->now = dsm_arrive(r->d, 2, vaddr_of(0x9000), r->now);
    rig_want(r, "dsm.message.arrive.number=1 dsm.message.arrive.bytes=12"); /* a vector */
    rig_free(r);
}

/* ---- first takes, and pages' room
 * ---------------------------------------------------------------- */

/* A thread was there at the beginning unless somebody has forked it. Another object's manager has
 * to be asked, also if nobody has given it anything. */
static void what_nobody_gave_is_asked_for_unless_it_is_a_birth(void **state)
{
    struct rig *r = begin(2, "");

    (void)state;
    assert_int_equal(dsm_take(r->d, 1, DSM_BORN, 7, 50), 50);
    rig_want(r, "dsm.messages=0 dsm.intervals=0");
    assert_int_equal(dsm_take(r->d, 1, DSM_VOLATILE, 7, 50),
                     50 + MESSAGE(0) + MESSAGE(VECTOR(2))); /* its manager is process 0 */
    rig_want(r, "dsm.message.ask.number=1 dsm.message.answer.number=1 dsm.message.ask.bytes=0 "
                "dsm.message.answer.bytes=8");
    rig_free(r);
}

/* A page takes room beside its copies. */
static void a_page_is_charged_beside_its_copies(void **state)
{
    struct rig *r = begin(8, "");
    struct budget b = {0};

    (void)state;
    dsm_account(r->d, &b);
    rig_load(r, 0, 0); /* the table of pages has room for the next from now on */
    const uint64_t before = b.live;
    rig_load(r, 0, PAGE);
    const uint64_t page = b.live - before;
    rig_load(r, 1, PAGE);
    assert_int_equal(page, b.live - before - page + dsm_page_room(r->d));
    rig_free(r);
}

/* Send and receive take as long, so an answer is there when the one before has been received:
 * nothing was waited for, and the time went into receiving both. */
static void an_answer_that_is_there_in_time_is_not_waited_for(void **state)
{
    struct rig *r = rig_new(3, PAGE, COSTS "send=20"); /* as RECEIVE */

    (void)state;
    for (unsigned p = 0; p < 3; p++)
        rig_load(r, p, 0);
    rig_store(r, 0, 0, 1);
    rig_store(r, 1, 8, 1);
    rig_barrier(r, 3);
    const uint64_t sent = rig_stat(r, "dsm.time-of.fault.send"),
                   received = rig_stat(r, "dsm.time-of.fault.receive");
    rig_load(r, 2, 0);
    assert_int_equal(rig_stat(r, "dsm.time-of.fault.send") - sent, 2 * 20); /* request, answer */
    assert_int_equal(rig_stat(r, "dsm.time-of.fault.receive") - received, 3 * RECEIVE);
    rig_free(r);
}

/* Notices that a detector adds go with what has told of the interval, also if it has read alone; of
 * pages written, only those that the protocol has no notice of. */
static void a_detectors_notices_are_of_what_the_protocol_does_not_tell(void **state)
{
    struct rig *r = begin(3, "");

    (void)state;
    assert_int_equal(dsm_notices(r->d, 1, 0, 0, 5), 5);
    for (unsigned i = 0; i < 2; i++)
        rig_store(r, 1, i * PAGE, 1);
    r->now = dsm_arrive(r->d, 1, vaddr_of(0x9000), r->now);
    dsm_notices(r->d, 1, 0, 1, r->now); /* the protocol has two */
    for (unsigned p = 0; p < 3; p += 2)
        r->now = dsm_arrive(r->d, p, vaddr_of(0x9000), r->now);
    for (unsigned p = 0; p < 3; p++)
        r->now = dsm_depart(r->d, p, vaddr_of(0x9000), r->now);
    rig_want(r, "dsm.bytes.read-notices=0 dsm.bytes.more-notices=0");
    const uint64_t kept = rig_stat(r, "dsm.kept-peak"),
                   empty = rig_stat(r, "dsm.bytes.more-clocks");
    r->now = dsm_arrive(r->d, 1, vaddr_of(0x9000), r->now);
    assert_int_equal(dsm_notices(r->d, 1, 0, 0, r->now), r->now); /* no interval, for nothing */
    for (unsigned p = 0; p < 3; p += 2)
        r->now = dsm_arrive(r->d, p, vaddr_of(0x9000), r->now);
    for (unsigned p = 0; p < 3; p++)
        r->now = dsm_depart(r->d, p, vaddr_of(0x9000), r->now);
    assert_int_equal(rig_stat(r, "dsm.bytes.more-clocks"), empty);
    r->now = dsm_arrive(r->d, 1, vaddr_of(0x9000), r->now);
    dsm_notices(r->d, 1, 3, 5, r->now);
    rig_want(r, "dsm.bytes.read-notices=12 dsm.bytes.more-notices=20");
    assert_int_equal(rig_stat(r, "dsm.kept-peak"), kept + (3 + 5) * 4);
    rig_free(r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_has_a_page_at_first_reads_it_for_nothing),
        cmocka_unit_test(pages_may_have_homes_in_turn),
        cmocka_unit_test(a_first_store_makes_a_twin),
        cmocka_unit_test(who_has_no_copy_fetches_the_page),
        cmocka_unit_test(a_notice_makes_a_copy_invalid_and_a_fault_brings_the_diff),
        cmocka_unit_test(a_store_to_an_invalid_page_gets_the_diff_and_a_twin),
        cmocka_unit_test(a_late_diff_has_later_writes_and_runs),
        cmocka_unit_test(a_notice_of_a_page_with_a_twin_makes_its_diff_first),
        cmocka_unit_test(a_twin_ends_when_writes_are_heard_of_that_came_with_the_page),
        cmocka_unit_test(the_last_writer_is_asked_for_what_it_had),
        cmocka_unit_test(writers_who_knew_nothing_of_each_other_are_all_asked),
        cmocka_unit_test(a_large_pages_diff_has_each_word_and_each_run),
        cmocka_unit_test(a_word_is_any_power_of_two),
        cmocka_unit_test(what_is_kept_for_others_grows_by_intervals),
        cmocka_unit_test(a_copy_is_charged_until_a_collection_takes_it),
        cmocka_unit_test(a_lock_takes_none_two_or_three_messages),
        cmocka_unit_test(a_request_leaves_when_the_wait_begins),
        cmocka_unit_test(a_barrier_is_arrivals_and_departures),
        cmocka_unit_test(a_release_tells_the_manager_and_an_acquire_asks_it),
        cmocka_unit_test(inside_a_host_messages_take_no_link),
        cmocka_unit_test(who_serves_owes_it_unless_it_stood_still),
        cmocka_unit_test(links_carry_one_message_at_a_time),
        cmocka_unit_test(a_collection_keeps_the_writers_copies_and_forgets_the_rest),
        cmocka_unit_test(without_a_barrier_one_process_makes_all_collect),
        cmocka_unit_test(a_detectors_notices_go_along),
        cmocka_unit_test(an_interval_that_only_read_is_the_detectors),
        cmocka_unit_test(bitmaps_are_a_round_of_their_own),
        cmocka_unit_test(what_is_owed_for_long_becomes_one_and_loses_nothing),
        cmocka_unit_test(who_stands_serves_for_nothing_until_it_goes_on),
        cmocka_unit_test(an_arrival_tells_of_the_process_alone),
        cmocka_unit_test(what_nobody_gave_is_asked_for_unless_it_is_a_birth),
        cmocka_unit_test(a_page_is_charged_beside_its_copies),
        cmocka_unit_test(an_answer_that_is_there_in_time_is_not_waited_for),
        cmocka_unit_test(a_detectors_notices_are_of_what_the_protocol_does_not_tell),
    };

    return mutant_arg(&argc, &argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
