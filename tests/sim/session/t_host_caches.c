/* t_host_caches.c - a host that has the clock and the caches (caches = host): do histories live
 * where the host's lines live, are the detector's accesses made there, and are verdicts right
 * whatever leaves when? The host's caches are those of tests/policy/radish/fake_caches.c, a private
 * level of a few lines in a shared one, which forget all the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/session/session.h"
#include "tests/policy/radish/fake_caches.h"

struct host {
    struct lardsim *l;
    struct fake caches;
    uint64_t clock, latency; /* latency: beyond the L1's, of the detector's accesses */
    uint64_t asked, histories, dropped;
    uint64_t races, mix;
};

static void on_race(void *arg, const struct lardsim_race *r)
{
    struct host *h = arg;

    h->races++;
    h->mix = h->mix * 31 + r->is.event * 7 + r->addr;
}

/* All that happened to lines is told, as lardsim.h asks for it. */
static void tell(struct host *h)
{
    struct line_queue *q = &h->caches.lines;

    for (size_t i = 0; i < q->n; i++) {
        const struct line_event *le = &q->at[i];
        const struct lardsim_line_event line = {.addr = le->addr.at,
                                                .what =
                                                    le->recalled ? LARDSIM_LINE_RECALL : le->what,
                                                .level = le->level,
                                                .core = le->core,
                                                .by = le->by,
                                                .dirty = le->dirty};
        if (lardsim_line(h->l, &line))
            fail_msg("%s", lardsim_error(h->l));
    }
    q->n = 0;
}

static unsigned level_of(struct host *h, unsigned core, uint64_t addr, bool write)
{
    const struct mem_outcome out = fake_data(&h->caches, core, addr, write, 0);
    const struct lardsim_line_event shared = {.addr = addr,
                                              .what = LARDSIM_LINE_FILL,
                                              .level = LARDSIM_LEVEL_L3,
                                              .core = core,
                                              .by = core};

    /* They say nothing of what comes into the shared level, which has all that the private have. */
    assert_int_equal(lardsim_line(h->l, &shared), 0);
    tell(h);
    return out.asked ? LARDSIM_LEVEL_REMOTE : out.level;
}

static void detector_accesses(void *arg, const struct lardsim_metadata *what,
                              struct lardsim_answer *answer)
{
    struct host *h = arg;
    uint8_t level;

    assert_true(what->core < h->caches.cores);
    if (what->kind == LARDSIM_CLEAR) {
        h->caches.machine.caches.type->drop(&h->caches, what->core, paddr_of(what->addr), &level,
                                            0);
        h->dropped++;
        return;
    }
    assert_true(what->bytes && what->addr / 64 == (what->addr + what->bytes - 1) / 64);
    answer->level = level_of(h, what->core, what->addr, what->kind != LARDSIM_READ);
    answer->cycles = answer->level == LARDSIM_LEVEL_L1 ? 1 : h->latency;
    h->asked++;
    h->histories += what->history != 0;
}

static void set(struct lardsim *l, const char *settings)
{
    char *text = xstrdup(settings);

    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        assert_int_equal(lardsim_set(l, word), 0);
    free(text);
}

static void prepare(struct host *h, const char *settings, uint64_t seed)
{
    *h = (struct host){.l = lardsim_new(), .latency = 30};
    fake_open(&h->caches, seed);
    h->caches.cores = 4;
    set(h->l, "granularity=4 layout=default");
    set(h->l, settings);
    lardsim_on_race(h->l, on_race, h);
}

#define HOSTED "machine=multicore cores=4 order=host caches=host pages.mapping=identity "

static void begin(struct host *h, const char *settings, uint64_t seed)
{
    prepare(h, HOSTED, seed);
    set(h->l, settings);
    lardsim_on_metadata(h->l, detector_accesses, h);
    if (lardsim_start(h->l))
        fail_msg("%s", lardsim_error(h->l));
}

/* An event of thread t on core t. Returns what it adds. */
static uint64_t push(struct host *h, const struct lardsim_event *ev)
{
    struct lardsim_at at = {.cycle = h->clock += 10, .core = ev->thread % 4};
    const bool access = ev->kind <= LARDSIM_RMW;
    uint64_t added;

    if (access)
        at.level = level_of(h, at.core, ev->addr, ev->kind != LARDSIM_READ);
    if (access && ev->addr / 64 != (ev->addr + ev->size - 1) / 64)
        level_of(h, at.core, ev->addr + ev->size - 1, ev->kind != LARDSIM_READ);
    if (lardsim_event_at(h->l, &at, ev, &added))
        fail_msg("%s", lardsim_error(h->l));
    h->clock += added;
    return added;
}

static uint64_t stat(const struct lardsim *l, const char *name)
{
    uint64_t v = 0;

    if (lardsim_stat(l, name, &v))
        fail_msg("no statistic %s", name);
    return v;
}

static void end(struct host *h)
{
    if (lardsim_finish(h->l))
        fail_msg("%s", lardsim_error(h->l));
}

static void gone(struct host *h)
{
    lardsim_free(h->l);
    fake_close(&h->caches);
}

/* ---- verdicts ------------------------------------------------------------------------------- */

static void push_all(struct host *h, const char *source, bool hosted)
{
    struct err e = {0};
    struct source *s = source_open(source, &e);
    struct batch b;

    assert_non_null(s);
    while (!source_next(s, &b, &e) && b.records)
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i])) {
            const struct lardsim_event ev = sim_event(&b.rec[i]);
            if (hosted)
                push(h, &ev);
            else if (lardsim_event(h->l, &ev))
                fail_msg("%s", lardsim_error(h->l));
        }
    source_close(s);
}

/* Without a machine a detector in hardware says what it would say with caches that lose nothing. */
static void verdicts_do_not_depend_on_what_leaves(void **state)
{
    static const char *const detectors[] = {"radish", "lardish", "fasttrack"};
    uint64_t left = 0, races = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        for (size_t i = 0; i < ARRAY_SIZE(detectors); i++) {
            char source[100], policy[40];
            struct host h, sure;
            snprintf(source, sizeof source,
                     "synth:seed=%u,events=1500,threads=4,variables=60,locks=3", (unsigned)seed);
            snprintf(policy, sizeof policy, "policies=%s", detectors[i]);
            begin(&h, policy, seed);
            h.caches.private_lines = 2 + (unsigned)seed % 7;
            h.caches.shared_lines = 10 + (unsigned)seed * 3;
            push_all(&h, source, true);
            end(&h);
            prepare(&sure, policy, seed);
            assert_int_equal(lardsim_start(sure.l), 0);
            push_all(&sure, source, false);
            end(&sure);
            if (h.races != sure.races || h.mix != sure.mix)
                fail_msg("%s, seed %u: %u racy accesses in the host's caches, %u without",
                         detectors[i], (unsigned)seed, (unsigned)h.races, (unsigned)sure.races);
            assert_true(h.asked > 0);
            assert_int_equal(stat(h.l, "host.metadata.l1") + stat(h.l, "host.metadata.l3") +
                                 stat(h.l, "host.metadata.remote") +
                                 stat(h.l, "host.metadata.memory"),
                             h.asked);
            assert_int_equal(stat(h.l, "host.drops"), h.dropped);
            assert_int_equal(stat(h.l, "l1.fills") + stat(h.l, "l1.misses"), 0); /* not used */
            races += h.races;
            if (i < 2) {
                char name[60];
                snprintf(name, sizeof name, "policy.%s.lines.dirty", detectors[i]);
                assert_true(h.histories > 0);
                left += stat(h.l, name);
            }
            gone(&h);
            gone(&sure);
        }
    }
    assert_true(races > 100);
    assert_true(left > 100); /* the caches did lose histories */
}

/* ---- by hand -------------------------------------------------------------------------------- */

static const struct lardsim_event writes = {.kind = LARDSIM_WRITE, .addr = 0x10000, .size = 4},
                                  other = {.kind = LARDSIM_WRITE,
                                           .addr = 0x10000,
                                           .size = 4,
                                           .thread = 1};

/* Caches of many lines that forget nothing by themselves. */
static void begin_roomy(struct host *h, const char *settings)
{
    begin(h, settings, 1);
    h->caches.private_lines = h->caches.shared_lines = FAKE_LINES;
    h->caches.loss = 0;
}

static void a_history_leaves_with_its_line(void **state)
{
    struct host h;

    (void)state;
    begin_roomy(&h, "policies=radish");
    push(&h, &writes);
    push(&h, &writes);
    assert_int_equal(stat(h.l, "policy.radish.lines.allocated"), 1);
    assert_int_equal(stat(h.l, "policy.radish.lines.homeless"), 0);
    fake_lose(&h.caches, 0, paddr_of(writes.addr)); /* the data, out of all caches */
    tell(&h);
    push(&h, &writes); /* is told of it, and comes in anew */
    assert_int_equal(stat(h.l, "policy.radish.lines.homeless"), 1);
    assert_int_equal(stat(h.l, "policy.radish.lines.allocated"), 2);
    fake_lose(&h.caches, 0, paddr_of(writes.addr));
    tell(&h);
    push(&h, &other); /* the manager has the write */
    end(&h);
    assert_int_equal(h.races, 1);
    gone(&h);
}

/* The same accesses, but the detector's take longer. */
static void the_host_says_what_the_detectors_accesses_take(void **state)
{
    uint64_t added[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct host h;
        begin_roomy(&h, "policies=radish");
        h.latency = 100 + 50 * i;
        added[i] = push(&h, &writes);
        const uint64_t missed = h.asked - stat(h.l, "host.metadata.l1");
        assert_true(missed > 0);
        if (i)
            assert_true(added[1] > added[0] && (added[1] - added[0]) % 50 == 0 &&
                        (added[1] - added[0]) / 50 <= missed);
        end(&h);
        gone(&h);
    }
}

/* ---- bad input ------------------------------------------------------------------------------ */

static void no_good(void *arg, const struct lardsim_metadata *what, struct lardsim_answer *answer)
{
    (void)arg;
    (void)what;
    answer->level = 9;
}

static void says(struct host *h, int result, const char *what)
{
    assert_int_equal(result, -1);
    if (!strstr(lardsim_error(h->l), what))
        fail_msg("%s; nothing of %s", lardsim_error(h->l), what);
    gone(h);
}

static void what_makes_no_sense_is_said(void **state)
{
    const struct lardsim_at none = {.cycle = 1}, l1 = {.level = LARDSIM_LEVEL_L1};
    static const struct {
        struct lardsim_line_event line;
        const char *says;
    } lines[] = {
        {{.level = LARDSIM_LEVEL_L1, .what = 6}, "what is 6"},
        {{.level = LARDSIM_LEVEL_MEMORY}, "level is 5, and may be 1 to 3"},
        {{.level = LARDSIM_LEVEL_NONE}, "level is 0"},
        {{.level = LARDSIM_LEVEL_L1, .core = 4}, "core is 4, and may be 0 to 3"},
        {{.level = LARDSIM_LEVEL_L1, .from = 4}, "from is 4"},
        {{.level = LARDSIM_LEVEL_L1, .by = UINT32_MAX}, "by is 4294967295"},
    };
    struct host h;

    (void)state;
    prepare(&h, HOSTED "policies=radish", 1);
    says(&h, lardsim_start(h.l), "lardsim_on_metadata");
    prepare(&h, "machine=multicore order=host caches=host policies=radish", 1);
    lardsim_on_metadata(h.l, detector_accesses, &h);
    says(&h, lardsim_start(h.l), "pages.mapping=identity");
    prepare(&h, HOSTED "machine=dsm", 1);
    says(&h, lardsim_start(h.l), "machine=multicore");
    prepare(&h, "machine=multicore order=host", 1);
    assert_int_equal(lardsim_start(h.l), 0);
    says(&h, lardsim_line(h.l, &lines[0].line), "caches=host");
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        begin(&h, "policies=radish", 1);
        says(&h, lardsim_line(h.l, &lines[i].line), lines[i].says);
    }
    begin(&h, "policies=radish", 1);
    says(&h, lardsim_event_at(h.l, &none, &writes, NULL), "event 0: level 0");
    begin(&h, "policies=radish", 1);
    lardsim_on_metadata(h.l, no_good, NULL);
    says(&h, lardsim_event_at(h.l, &l1, &writes, NULL), "level 9");
}

static void unused(void *arg, const char *name, const char *origin)
{
    (void)origin;
    strcat((char *)arg, name);
}

/* In another order the parameter has no effect, and that is said. */
static void caches_are_the_hosts_in_its_order_alone(void **state)
{
    char named[100] = "";
    struct host h;

    (void)state;
    prepare(&h, "machine=multicore order=recorded caches=host", 1);
    lardsim_on_unused(h.l, unused, named);
    assert_int_equal(lardsim_start(h.l), 0);
    end(&h);
    gone(&h);
    assert_string_equal(named, "caches");
    begin_roomy(&h, "policies=radish");
    *named = '\0';
    lardsim_on_unused(h.l, unused, named);
    push(&h, &writes);
    end(&h);
    gone(&h);
    assert_string_equal(named, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_do_not_depend_on_what_leaves),
        cmocka_unit_test(a_history_leaves_with_its_line),
        cmocka_unit_test(the_host_says_what_the_detectors_accesses_take),
        cmocka_unit_test(what_makes_no_sense_is_said),
        cmocka_unit_test(caches_are_the_hosts_in_its_order_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
