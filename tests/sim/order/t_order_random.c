/* t_order_random.c - the timed order on random traces of all kinds, run by chance through windows
 * of all sizes: nothing is lost, threads keep their order, happens-before is the same for every
 * pair of events and every view, memory changes when it did, the stream rules hold. t_order.c has
 * each rule by itself. */
#include "tests/sim/order/run.h"
#include "tests/trace/synth/spec.h"

/* Its graph, to ask for any pair what happens before what. */
#include "tests/oracle/oracle.c"

/* ---- streams -------------------------------------------------------------------------------- */

static struct stream stream_of(const char *spec)
{
    struct stream s = {0};
    struct synth_params p;
    struct batch b;
    struct err e = {0};

    if (synth_parse(&p, spec, &e))
        fail_msg("%s: %s", spec, e.text);
    struct source *from = synth_open(&p, &e);
    for (;;) {
        if (!from || source_next(from, &b, &e))
            fail_msg("%s: %s", spec, e.text);
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i]))
            stream_add(&s, &b.rec[i]);
        if (!b.records)
            break;
    }
    source_close(from);
    return s;
}

static struct scheduler *schedule(const struct stream *s, uint64_t seed)
{
    struct rng rng;

    rng_seed(&rng, seed);
    const uint64_t window = rng_chance(&rng, 1, 2) ? 1 + rng_below(&rng, 40) : 100000;
    struct scheduler *c = scheduler_new(s, window, seed);
    c->ahead = 1 + rng_below(&rng, rng_chance(&rng, 1, 2) ? 10 : 1000);
    c->keep = rng_chance(&rng, 1, 2) ? 1 : 1 + rng_below(&rng, 200);
    scheduler_run(c);
    return c;
}

/* ---- what must hold ------------------------------------------------------------------------- */

static void assert_threads_in_order(const struct scheduler *c)
{
    size_t *next = xcalloc(MAX_THREADS, sizeof *next); /* the last event run, + 1 */

    assert_int_equal(c->taken, c->s->events);
    for (size_t i = 0; i < c->taken; i++) {
        const sim_tid tid = stream_event(c->s, c->run[i])->tid;
        assert_true(c->run[i] + 1 > next[tid]);
        next[tid] = c->run[i] + 1;
    }
    for (size_t t = 0; t < order_threads(c->o); t++) {
        struct order_next over;
        order_peek(c->o, (sim_tid)t, &over);
        assert_int_equal(over.state, ORDER_OVER);
    }
    free(next);
}

static struct stream executed(const struct scheduler *c)
{
    struct stream s = {0};

    for (size_t i = 0; i < c->taken; i++)
        stream_add(&s, stream_event(c->s, c->run[i]));
    return s;
}

/* With the largest granules that the heap events allow: variables that transactions share. */
static struct oracle *judge(const struct stream *s, unsigned view, const char *spec)
{
    for (unsigned granule = 8; granule; granule /= 2) {
        struct oracle *o =
            oracle_new(s->rec, s->records, &(struct oracle_options){true, granule, view});
        if (o)
            return o;
    }
    fail_msg("%s: nothing to compare with", spec);
    return NULL;
}

static void assert_same_order(const struct stream *recorded, const struct stream *run,
                              const size_t *place, unsigned view, const char *spec)
{
    struct oracle *was = judge(recorded, view, spec), *now = judge(run, view, spec);

    for (size_t b = 0; b < recorded->events; b++)
        for (size_t a = 0; a < b; a++) {
            const bool then = before(was, a, b);
            const bool still = place[a] < place[b] && before(now, place[a], place[b]);
            const bool turned = place[a] > place[b] && before(now, place[b], place[a]);
            if (then != still || turned)
                fail_msg("%s: view %u: event %zu (%s of T%u) %s event %zu (%s of T%u)%s", spec,
                         view, a, ev_info[was->s.ev[a]->kind].text, was->s.ev[a]->tid,
                         then ? "no longer happens before" : "now happens before", b,
                         ev_info[was->s.ev[b]->kind].text, was->s.ev[b]->tid,
                         turned ? ", turned round" : "");
        }
    oracle_free(was);
    oracle_free(now);
}

static bool is_raw(const struct stream *s)
{
    for (size_t i = 0; i < s->events; i++)
        if (stream_event(s, i)->kind == EV_WRITEVC)
            return true;
    return false;
}

static bool overlap(sim_addr a, uint64_t bytes, sim_addr b, uint64_t others)
{
    return a < b ? b - a < bytes : a - b < others;
}

static bool is_heap(const struct event *ev)
{
    return ev->kind == EV_ALLOC || ev->kind == EV_CLEAR || ev->kind == EV_COPY;
}

static bool touches(const struct event *heap, const struct event *ev)
{
    const bool object =
        ev_info[ev->kind].form == FORM_OBJECT || ev_info[ev->kind].form == FORM_ROUND;
    const uint64_t bytes = event_is_access(ev) ? ev->size : object ? 8 : is_heap(ev) ? ev->aux : 0;

    return bytes && (overlap(heap->addr, heap->aux, ev->addr, bytes) ||
                     (heap->kind == EV_COPY && overlap(heap[1].addr, heap->aux, ev->addr, bytes)));
}

static bool ordered_by_memory(const struct event *a, const struct event *b)
{
    if (a->kind == EV_GC_BEGIN || a->kind == EV_GC_END || b->kind == EV_GC_BEGIN ||
        b->kind == EV_GC_END)
        return true;
    if (is_heap(a) && b->kind == EV_COPY && touches(b, a))
        return true;
    return (is_heap(a) && touches(a, b)) || (is_heap(b) && touches(b, a));
}

static void assert_memory_in_order(const struct stream *s, const size_t *place, const char *spec)
{
    for (size_t b = 0; b < s->events; b++)
        for (size_t a = 0; a < b; a++)
            if (place[a] > place[b] && ordered_by_memory(stream_event(s, a), stream_event(s, b)))
                fail_msg("%s: event %zu runs after event %zu", spec, a, b);
}

/* Marks of regions of interest are not kept in order. */
static void assert_legal_stream(const struct stream *s, const char *spec)
{
    struct rules *r = rules_new(true);

    for (size_t i = 0; i < s->events; i++) {
        struct err e = {0};
        if (rules_apply(r, stream_event(s, i), i, &e) && rules_broken(r) != RULE_ROI_NEST)
            fail_msg("%s: as run: %s", spec, e.text);
    }
    rules_free(r);
}

static void assert_holds(const char *spec, uint64_t seed)
{
    struct stream s = stream_of(spec);
    struct scheduler *c = schedule(&s, seed);
    struct stream run = executed(c);
    size_t *place = xcalloc(s.events + 1, sizeof *place);

    assert_threads_in_order(c);
    for (size_t i = 0; i < c->taken; i++)
        place[c->run[i]] = i;
    for (unsigned view = 0; view <= (ORACLE_ALL_SYNC | ORACLE_NO_THREAD); view++)
        if (!(view & ~(unsigned)(ORACLE_ALL_SYNC | ORACLE_NO_THREAD)) && (!view || !is_raw(&s)))
            assert_same_order(&s, &run, place, view, spec);
    assert_memory_in_order(&s, place, spec);
    assert_legal_stream(&run, spec);
    free(place);
    stream_drop(&run);
    stream_drop(&s);
    scheduler_free(c);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void any_trace_keeps_its_meaning(void **state)
{
    struct rng rng;

    (void)state;
    rng_seed(&rng, 4);
    for (uint64_t i = 0; i < 300; i++) {
        char *spec = synth_spec_draw(&rng, 300);
        assert_holds(spec, i);
        free(spec);
    }
}

static const char everything[] =
    "threads=6,variables=12,fields=3,stride=4,sizes=1,2,4,8,16,unaligned=80,locks=5,barriers=2,"
    "volatiles=3,atomics=3,classes=3,sharing=900,discipline=500,sync_share=350,rw_share=300,"
    "nested_share=400,wait_share=150,txn_share=80,system_share=150,"
    "flag_share=100,end_share=20,granularity=2,run_max=5,marks=off,events=400";

static void rich_traces_keep_their_meaning(void **state)
{
    static const char *const more[] = {
        "heap_share=0",
        "heap_share=100,gc_share=0",
        "heap_share=100,gc_share=100",
        "heap_share=300,gc_share=0,txn_share=200,allocs=on",
        "heap_share=0,kernel_threads=3",
        "heap_share=50,gc_share=0,kernel_threads=2,end_share=80",
        "heap_share=0,raw=on",
        "heap_share=0,fork=tree,threads=12,end_share=200",
        "heap_share=0,sync_share=1000,rw_share=600,locks=2",
        "heap_share=0,sync_share=1000,locks=0,classes=0,barriers=2",
    };

    (void)state;
    for (uint64_t seed = 0; seed < 120; seed++) {
        char *spec = xasprintf("%s,%s,seed=%llu", everything, more[seed % ARRAY_SIZE(more)],
                               (unsigned long long)seed);
        assert_holds(spec, seed);
        free(spec);
    }
}

static void a_long_trace_stays_in_bounds(void **state)
{
    char *spec = xasprintf("%s,events=60000,heap_share=50,gc_share=20", everything);
    struct stream s = stream_of(spec);
    struct scheduler *c = scheduler_new(&s, 500, 1);
    uint64_t most = 0;

    (void)state;
    c->ahead = 100;
    scheduler_feed(c);
    while (c->taken < s.events) {
        if (!scheduler_step(c) || rng_chance(&c->rng, 1, 8))
            scheduler_feed(c);
        most = order_bytes(c->o) > most ? order_bytes(c->o) : most;
        assert_true(order_pending(c->o) <= 500);
    }
    assert_in_range(most, 500 * sizeof(struct event), 2000000);
    stream_drop(&s);
    scheduler_free(c);
    free(spec);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_trace_keeps_its_meaning),
        cmocka_unit_test(rich_traces_keep_their_meaning),
        cmocka_unit_test(a_long_trace_stays_in_bounds),
    };

    return mutant_arg(&argc, &argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
