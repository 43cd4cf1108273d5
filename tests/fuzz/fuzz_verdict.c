/* fuzz_verdict.c - streams that obey the rules: what any bytes make of events, without those that
 * would break one. Each policy is held to the oracle on them, as far as it promises something. The
 * first two bytes choose granularity and setting, and the view. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_event.h"
#include "tests/frame/verdict.h"

enum { HEAD_BYTES = 2, EVENTS_MAX = 80 };

struct lawful {
    struct stream stream;
    struct rules *rules; /* after the stream */
    bool raw;            /* clocks were written */
};

/* The rules after the stream so far; they can't go on once one is broken. */
static void start_again(struct lawful *l)
{
    struct err e = {0};
    uint64_t number = 0;

    rules_free(l->rules);
    l->rules = rules_new(false);
    for (size_t i = 0; i < l->stream.records; i += event_records(&l->stream.rec[i]))
        MUST(!rules_apply(l->rules, &l->stream.rec[i], number++, &e));
}

static void offer(struct lawful *l, const struct event *ev)
{
    struct err e = {0};

    if (rules_apply(l->rules, ev, l->stream.events, &e))
        start_again(l);
    else
        stream_add(&l->stream, ev);
    l->raw |= ev->kind == EV_WRITEVC;
}

/* The oracle's tables are for small numbers. */
static bool small(const struct event *ev)
{
    const uint64_t most = 1 << 12;

    return ev->addr < 2 * most && ev->aux < most && ev->size < most && ev->tid < most;
}

static void hold(const struct stream *s, const struct verdict_case *c)
{
    char why[300];

    if (!verdict_differs(s, c, why, sizeof why))
        return;
    stream_print(s, NULL, stderr);
    verdict_case_text(c, why + strlen(why), sizeof why - strlen(why));
    fuzz_failed(__FILE__, __LINE__, why);
}

/* Raw clocks and the system's synchronisation policies refuse together, not so the oracle. What
 * needs hardware is held to the oracle in t_verdict, on hardware. */
static void hold_all(const struct lawful *l, uint8_t how, uint8_t view)
{
    static const unsigned granules[] = {0, 1, 2, 4, 8};
    size_t views = 0;

    while (verdict_view[views].name)
        views++;
    for (size_t i = 0; policies[i]; i++) {
        struct verdict_case c = {.policy = policies[i]->name,
                                 .view = &verdict_view[view % views],
                                 .granule = granules[how % ARRAY_SIZE(granules)]};
        if (how >= 128)
            verdict_setting(c.policy, how % verdict_settings(c.policy), c.setting);
        if (policies[i]->promise.claims & CLAIM_HARDWARE ||
            (l->raw && c.view->bits & ORACLE_ALL_SYNC) || !verdict_takes(&c))
            continue;
        hold(&l->stream, &c);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct lawful l = {.rules = rules_new(false)};
    struct event ev[EVENT_RECORDS];

    for (size_t at = HEAD_BYTES; at + EVENT_BYTES <= n && l.stream.events < EVENTS_MAX;
         at += EVENT_BYTES)
        if (event_from(data + at, ev) && small(ev))
            offer(&l, ev);
    if (l.stream.events)
        hold_all(&l, data[0], data[1]);
    stream_free(&l.stream);
    rules_free(l.rules);
    return 0;
}
