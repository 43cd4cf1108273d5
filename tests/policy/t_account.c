/* t_account.c - what a policy in software says that it holds on the host, which limits.memory
 * bounds (docs/results.md), is what it holds: by the C library's own count of the heap. Where that
 * can't be had, as under the sanitizers, there is nothing to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/frame/heap.h"
#include "tests/frame/watch.h"

/* ---- a machine that keeps nothing ----------------------------------------------------------- */

static sim_cycle runs(void *host, unsigned core, unsigned instructions, sim_cycle now)
{
    (void)host;
    (void)core;
    return now + instructions;
}

static sim_cycle accesses(void *host, unsigned core, struct paddr at, unsigned bytes,
                          enum mem_cmd cmd, sim_cycle now)
{
    (void)host;
    (void)core;
    (void)at;
    (void)bytes;
    (void)cmd;
    return now + 1;
}

static const struct policy_machine machine = {.cores = 4, .line = 64};
static const struct checker_env on_machine = {.machine = &machine, .exec = runs, .mem = accesses};

/* ---- what it is asked ----------------------------------------------------------------------- */

struct account {
    const char *what;
    size_t n;
    struct event (*at)(size_t i);
    uint64_t percent; /* of what it holds it says at least so much: the rest is slabs and slack */
};

static struct event far_thread(size_t i)
{
    enum { FAR = 60000, LOCK = 0x9000 };

    return i == 0   ? (struct event)EV_ON(ACQUIRE, FAR, LOCK)
           : i == 1 ? (struct event)EV_WRITE4(FAR, 0x1000)
                    : (struct event)EV_ON(RELEASE, FAR, LOCK);
}

enum { LOCATIONS = 100000, AT = 0x100000 };

static struct event many_locations(size_t i)
{
    return (struct event)EV_WRITE4(1, AT + 4 * i);
}

/* All of those before it at once. */
static struct event a_large_clear(size_t i)
{
    return i < LOCATIONS ? many_locations(i) : (struct event)EV_REGION(CLEAR, 1, AT, 4 * LOCATIONS);
}

/* Two of many locks held at a time: one of 100, then one of 97; two threads take turns. */
static struct event many_locks(size_t i)
{
    enum { FIRST = 0x900000, SECOND = 0xa00000 };
    static const uint8_t kind[] = {EV_ACQUIRE, EV_ACQUIRE, EV_WRITE, EV_RELEASE, EV_RELEASE};
    const size_t round = i / 5, at = i % 5;
    struct event ev = {.kind = kind[at], .tid = (uint16_t)(1 + round % 2)};

    ev.addr = at == 2              ? AT + 4 * (round % 1000)
              : at == 1 || at == 3 ? SECOND + 8 * (round % 97)
                                   : FIRST + 8 * (round % 100);
    ev.size = at == 2 ? 4 : 0;
    return ev;
}

static const struct account accounts[] = {
    {"many locks", 50000, many_locks, 90},
    {"a thread with a large number", 3, far_thread, 97},
    {"many locations", LOCATIONS, many_locations, 95},
    {"a large clear", LOCATIONS + 1, a_large_clear, 95},
};

/* Slabs of pools are not given back before the end: what it has held at most is there still. */
static void says_what_it_holds(const char *policy, const struct account *s)
{
    struct watch w;

    watch_open_on(&w, policy, 4, (const char *const[]){NULL}, &on_machine);
    const struct budget *b = checker_memory(w.checker);
    const uint64_t was = heap(), said = b->live;
    for (size_t i = 0; i < s->n; i++, w.number++) {
        const struct event ev = s->at(i);
        checker_step(w.checker, &ev, 0, (struct mem_outcome){0}, 0);
    }
    const uint64_t holds = heap() - was, says = b->peak - said;
    if (says < holds / 100 * s->percent || says > holds / 100 * 105)
        fail_msg("%s with %s holds %llu bytes and says %llu", policy, s->what,
                 (unsigned long long)holds, (unsigned long long)says);
    checker_finish(w.checker);
    watch_close(&w);
}

static void a_policy_says_what_it_holds(void **state)
{
    (void)state;
    if (!heap())
        skip();
    for (size_t i = 0; policies[i]; i++)
        for (size_t k = 0; k < ARRAY_SIZE(accounts); k++)
            if (policies[i]->charges && !policies[i]->hardware)
                says_what_it_holds(policies[i]->name, &accounts[k]);
}

/* ---- what is given back --------------------------------------------------------------------- */

static void ask(struct watch *w, struct event ev)
{
    checker_step(w->checker, &ev, 0, (struct mem_outcome){0}, 0);
    w->number++;
}

/* An array with parts of its own is divided by a clear in its middle, and cleared. */
static void an_array_lives_and_ends(struct watch *w)
{
    enum { ELEMENTS = 256 };
    static const struct event array[] = {
        {.kind = EV_ALLOC, .addr = AT, .aux = 4 * ELEMENTS, .flags = EVF_MORE},
        {.addr = ELEMENTS, .size = 4}};

    checker_step(w->checker, array, 0, (struct mem_outcome){0}, 0);
    w->number++;
    for (uint64_t i = 0; i < ELEMENTS; i += 1 + i % 3)
        ask(w, (struct event){
                   .kind = EV_WRITE, .tid = 1, .addr = AT + 4 * i, .size = 4, .flags = EVF_ARRAY});
    ask(w, (struct event)EV_ON(ACQUIRE, 1, 0x9000));
    ask(w, (struct event)EV_ON(RELEASE, 1, 0x9000));
    ask(w, (struct event)EV_REGION(CLEAR, 1, AT + 400, 64));
    ask(w, (struct event)EV_REGION(CLEAR, 1, AT, 4 * ELEMENTS));
}

static void watch_arrays(struct watch *w, const char *policy)
{
    static const struct {
        const char *policy, *with[3];
    } settings[] = {{"slimstate", {"partitions=sets", "footprints=sets"}},
                    {"goldilocks", {"list-limit=4"}}, /* else its list grows */
                    {"cvm", {"intervals=2"}},         /* else they wait for a barrier */
                    {NULL, {NULL}}};
    size_t i = 0;

    while (settings[i].policy && strcmp(settings[i].policy, policy) != 0)
        i++;
    watch_open_on(w, policy, 4, settings[i].with, &on_machine);
}

static uint64_t lives(struct watch *w, unsigned times)
{
    while (times--)
        an_array_lives_and_ends(w);
    return checker_memory(w->checker)->live;
}

/* Tables have grown before; one that goes on growing by a word an array would double. */
static void what_comes_and_goes_leaves_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; policies[i]; i++) {
        struct watch w;
        if (!policies[i]->charges || policies[i]->hardware)
            continue;
        watch_arrays(&w, policies[i]->name);
        const uint64_t live = lives(&w, 100), later = lives(&w, 200);
        if (later != live)
            fail_msg("%s says %llu bytes %s after 200 more arrays have come and gone",
                     policies[i]->name,
                     (unsigned long long)(later > live ? later - live : live - later),
                     later > live ? "more" : "less");
        checker_finish(w.checker);
        watch_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_says_what_it_holds),
        cmocka_unit_test(what_comes_and_goes_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
