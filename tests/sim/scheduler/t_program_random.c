/* t_program_random.c - properties of program order on random programs and random machines: the
 * execution that is kept is a legal trace, in which nobody acts while the world is stopped; vc has
 * reported exactly the accesses that race in it, as the oracle says; a replay in recorded order
 * finds the same races, one in timed order the same number of racy locations; a second run gives
 * the same bytes.
 *
 *     t_program_random [FIRST-SEED [SEEDS]]     default: 1 60 */
#include <inttypes.h>

#include "tests/frame/seeds.h"
#include "tests/frame/settings.h"
#include "tests/oracle/oracle.h"
#include "tests/sim/scheduler/program.h"

enum { WORDS = 6, LOCKS = 3, ROUNDS = 3, PATIENCE = 20000 };
enum { AT_A = VM_SITE_FIRST, AT_B };

/* ---- a random program ----------------------------------------------------------------------- */

enum { FLAG_VALUE };
static void flag_init(struct vm_thread *t, void *arg)
{
    (void)arg;
    vm_compute(t, 300);
}
static const struct vm_type_of flag_type =
    VM_TYPE_INIT("Flag", flag_init, {"value", VM_I64, EVF_VOLATILE});

struct shared {
    struct vm_ref *data, *flag, *lock[LOCKS];
    const struct vm_class *flag_class;
    struct vm_barrier *barrier;
    unsigned next, steps, said;
    bool clean; /* data are accessed under a lock alone */
};

static void access_data(struct vm_thread *t, struct shared *s, struct rng *r)
{
    const uint64_t i = rng_below(r, WORDS);

    if (rng_below(r, 2))
        vm_store_i64(t, s->data, i, (int64_t)i, AT_A);
    else
        vm_load_i64(t, s->data, i, AT_B);
}

static void with_lock(struct vm_thread *t, struct shared *s, struct rng *r)
{
    struct vm_ref *m = s->lock[s->clean ? 0 : rng_below(r, LOCKS)];

    vm_lock(t, m, AT_A);
    for (uint64_t n = rng_below(r, 4); n--;)
        access_data(t, s, r);
    vm_compute(t, (uint32_t)rng_below(r, 500));
    if (rng_below(r, 4) == 0)
        vm_notify(t, m, rng_below(r, 2), AT_A);
    vm_unlock(t, m, AT_A);
}

static void with_garbage(struct vm_thread *t, struct rng *r)
{
    struct vm_ref *o = vm_enter(t, 1);

    for (uint64_t n = 1 + rng_below(r, 4); n--;) {
        vm_new_array(t, o, VM_I64, 1 + rng_below(r, 40), AT_A);
        vm_store_i64(t, o, 0, 1, AT_A);
    }
    vm_leave(t, o);
}

static void in_transaction(struct vm_thread *t, struct shared *s, struct rng *r)
{
    vm_txn_begin(t, 0, AT_A);
    for (uint64_t n = 1 + rng_below(r, 3); n--;)
        access_data(t, s, r);
    vm_txn_commit(t, AT_A);
}

static void step(struct vm_thread *t, struct shared *s, struct rng *r)
{
    switch (rng_below(r, 12)) {
    case 0:
    case 1:
    case 2:
        with_lock(t, s, r);
        break;
    case 3:
        vm_add_i64(t, s->flag, FLAG_VALUE, 1, AT_A);
        break;
    case 4:
        vm_get_i64(t, s->flag, FLAG_VALUE, AT_B);
        break;
    case 5:
        with_garbage(t, r);
        break;
    case 6:
        vm_class_use(t, s->flag_class, AT_B);
        break;
    case 7:
        vm_compute(t, (uint32_t)rng_below(r, 3000));
        break;
    case 8:
        if (!s->clean)
            in_transaction(t, s, r);
        break;
    case 9:
        if (rng_below(r, 40) == 0)
            vm_collect(t);
        break;
    case 10:
        vm_yield(t);
        break;
    default:
        if (!s->clean)
            access_data(t, s, r);
    }
}

static void worker(struct vm_thread *t, void *arg)
{
    struct shared *s = arg;
    struct rng r;

    rng_seed(&r, vm_params(t)->seed * 1000 + s->next++);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < s->steps; i++)
            step(t, s, &r);
        vm_barrier_wait(t, s->barrier, AT_A);
    }
    /* The first one waits until the others have said that they are there. */
    vm_lock(t, s->lock[0], AT_A);
    if (++s->said < vm_params(t)->threads && rng_below(&r, 2))
        while (s->said < vm_params(t)->threads)
            vm_wait(t, s->lock[0], AT_A);
    vm_notify(t, s->lock[0], true, AT_A);
    vm_unlock(t, s->lock[0], AT_A);
}

static void anything(struct vm_thread *t, const void *p)
{
    struct shared *s = vm_scratch(t, 1, sizeof *s);
    const unsigned n = (unsigned)vm_params(t)->threads;
    sim_tid *tid = vm_scratch(t, n, sizeof *tid);
    struct rng r;

    (void)p;
    rng_seed(&r, vm_params(t)->seed);
    s->steps = 5 + (unsigned)rng_below(&r, 20);
    s->clean = rng_below(&r, 4) == 0;
    s->data = vm_global(t);
    s->flag = vm_global(t);
    s->flag_class = vm_class(t, &flag_type, NULL);
    vm_new_array(t, s->data, VM_I64, WORDS, AT_A);
    for (unsigned i = 0; i < LOCKS; i++) {
        s->lock[i] = vm_global(t);
        vm_new_array(t, s->lock[i], VM_I32, 1, AT_A);
    }
    vm_new(t, s->flag, s->flag_class, AT_A);
    s->barrier = vm_barrier_new(t, n);
    for (unsigned i = 0; i < n; i++)
        tid[i] = vm_fork(t, worker, s, AT_A);
    for (unsigned i = 0; i < n; i++)
        vm_join(t, tid[i], AT_A);
}

/* ---- random machines ------------------------------------------------------------------------ */

static unsigned below(struct rng *r, unsigned n)
{
    return (unsigned)rng_below(r, n);
}

static struct vm_params draw_program(struct rng *r, uint64_t seed)
{
    struct vm_params p = program_params(1 + below(r, 6));

    p.seed = seed;
    p.gc = below(r, VM_COPYING_CONCURRENT + 1);
    p.heap = 1 << 18;
    p.nursery = 1 << 16;
    p.tlab = 256u << below(r, 3);
    p.instructions = below(r, 3) ? p.instructions : below(r, 4000); /* per access, times 100 */
    p.gap_spread = below(r, 2);
    p.layout = below(r, 3);
    return p;
}

static struct text draw_machine(struct rng *r, uint64_t threads)
{
    static const char *const mixes[] = {"vc", "vc,fasttrack", "fasttrack,vc", "vc,valor",
                                        "vc,lardish"};
    struct text m = {0};
    const unsigned cores = 1 + below(r, 9);

    add(&m, "machine=multicore granularity=8 trace.rules=on policies=%s ",
        mixes[below(r, ARRAY_SIZE(mixes))]);
    add(&m, "cores=%u schedule.threads=%s ", cores,
        cores >= threads + 2 ? "pinned" : "round-robin");
    add(&m, "schedule.quantum=%u schedule.switch=%u ", 1 + below(r, 3000), below(r, 300));
    add(&m, "core.type=%s ", below(r, 3) ? "simple" : "pipelined");
    add(&m, "core.store-buffer=%u core.misses=%u ", below(r, 2) * below(r, 9),
        below(r, 2) * below(r, 5));
    add(&m, "memory.type=%s contention=%s ", below(r, 3) ? "fixed" : "ddr",
        below(r, 3) ? "on" : "off");
    add(&m, "l1.size=%u l1.latency=%u ", 2048u << below(r, 4), 1 + below(r, 5));
    add(&m, "policy.vc.charged=%s ", below(r, 2) ? "on" : "off");
    return m;
}

/* ---- the properties ------------------------------------------------------------------------- */

static bool as_the_oracle(const struct executed *x, const struct stream *s, char why[400])
{
    const struct oracle_options options = {.granule = 8};
    bool *racy = xcalloc(s->events, sizeof *racy);
    bool same = oracle_run(s->rec, s->records, &options, racy) == 0;

    for (size_t i = 0; i < s->events && same; i++) {
        same = racy[i] == (i < x->events_cap && x->race[i]);
        if (!same)
            snprintf(why, 400, "event %zu races: %d by the oracle, and not so by vc", i, racy[i]);
    }
    free(racy);
    return same;
}

/* While the world is stopped nobody acts but the collector. */
static void pauses(const struct stream *s, char why[400])
{
    const struct event *begin = NULL;

    for (size_t i = 0; i < s->records && !why[0]; i += event_records(&s->rec[i])) {
        const struct event *ev = &s->rec[i];
        if (begin && ev->tid != begin->tid)
            snprintf(why, 400, "T%u acts (%s) while T%u has stopped the world", ev->tid,
                     ev_info[ev->kind].text, begin->tid);
        if (ev->kind == EV_GC_BEGIN || ev->kind == EV_GC_END)
            begin = ev->kind == EV_GC_BEGIN ? ev : NULL;
    }
}

static void replays(const struct executed *x, const char *path, const struct text *m, char why[400])
{
    struct text timed = {0};
    struct executed recorded, again;

    add(&timed, "%s order=timed", m->at);
    execute_source(&recorded, path, "machine=none policies=vc granularity=8", NULL);
    execute_source(&again, path, timed.at, NULL);
    if (recorded.code || recorded.mix != x->mix || recorded.racy != x->racy)
        snprintf(why, 400, "a replay in recorded order finds other races (%d %.200s)",
                 recorded.code, recorded.error);
    else if (again.code || again.locations != x->locations)
        snprintf(why, 400,
                 "a replay in timed order finds %" PRIu64 " locations, not %" PRIu64 " (%d %.200s)",
                 again.locations, x->locations, again.code, again.error);
    executed_free(&recorded);
    executed_free(&again);
}

static bool seed_holds(uint64_t seed, const char *path, uint64_t *races)
{
    struct rng r;
    rng_seed(&r, seed);
    const struct vm_params p = draw_program(&r, seed);
    struct text m = draw_machine(&r, p.threads);
    struct text settings = {0};
    struct executed x, again;
    struct stream s = {0};
    char why[400] = "";

    add(&settings, "%s order=program", m.at);
    execute_program(&x, anything, &p, settings.at, path);
    execute_program(&again, anything, &p, settings.at, NULL);
    if (x.code)
        snprintf(why, sizeof why, "the run fails (%d): %.350s", x.code, x.error);
    else if (again.digest != x.digest)
        snprintf(why, sizeof why, "another digest the second time");
    else
        kept_read(&s, path, why);
    if (!why[0] && s.events != x.events)
        snprintf(why, sizeof why, "%zu events are kept of %" PRIu64, s.events, x.events);
    if (!why[0])
        pauses(&s, why);
    if (!why[0] && s.events < PATIENCE)
        as_the_oracle(&x, &s, why);
    if (!why[0])
        replays(&x, path, &m, why);
    if (why[0])
        printf("seed %" PRIu64 " (%s): %s\n", seed, settings.at, why);
    *races += x.racy;
    stream_free(&s);
    executed_free(&x);
    executed_free(&again);
    unlink(path);
    return !why[0];
}

int main(int argc, char **argv)
{
    const struct seeds cases = seeds_arg(argc, argv, 60, NULL);
    uint64_t bad = 0, races = 0;
    char path[200];

    kept_path(path);
    for (uint64_t seed = cases.first; seed - cases.first < cases.n; seed++)
        bad += !seed_holds(seed, path, &races);
    printf("%" PRIu64 " programs from seed %" PRIu64 ", %" PRIu64 " racy accesses, %" PRIu64
           " fail\n",
           cases.n, cases.first, races, bad);
    return bad || !races;
}
