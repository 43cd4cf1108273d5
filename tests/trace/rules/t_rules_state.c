/* t_rules_state.c - the state of the stream rules: locks and sets of bytes equal plain models on
 * random streams, and what is kept is bounded by what is alive, however long the stream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "trace/rules/rules_int.h"

#define COPY(t, to, from, n)                                                                       \
    {.kind = EV_COPY, .tid = (t), .addr = (to), .aux = (n), .flags = EVF_MORE},                    \
    {                                                                                              \
        .addr = (from)                                                                             \
    }

static struct event event(sim_tid tid, enum ev_kind kind, sim_addr addr, uint64_t aux)
{
    return (struct event){.tid = tid, .kind = (uint8_t)kind, .addr = addr, .aux = aux};
}

static struct event write_8(sim_tid tid, sim_addr addr, unsigned flags)
{
    return (struct event){
        .tid = tid, .kind = EV_WRITE, .addr = addr, .size = 8, .flags = (uint16_t)flags};
}

/* ---- random streams against plain models ---------------------------------------------------- */

enum { BYTES = 96, SLOTS = 6, THREADS = 3 };

struct memory {                                         /* a byte each */
    bool allocated[BYTES], touched[BYTES], left[BYTES]; /* left: moved away */
    bool allocs;
};

static bool any(const bool *b, uint64_t at, uint64_t n)
{
    for (uint64_t i = at; i < at + n; i++)
        if (b[i])
            return true;
    return false;
}

static bool all(const bool *b, uint64_t at, uint64_t n)
{
    for (uint64_t i = at; i < at + n; i++)
        if (!b[i])
            return false;
    return true;
}

static bool model_copy(struct memory *m, uint64_t to, uint64_t from, uint64_t n)
{
    if (m->allocs && !all(m->allocated, from, n))
        return false;
    for (uint64_t i = to; i < to + n; i++)
        if (m->touched[i] && (i < from || i >= from + n))
            return false;
    memset(m->left + from, 1, n);
    memset(m->left + to, 0, n);
    memset(m->allocated + to, 1, n);
    memmove(m->touched + to, m->touched + from, n);
    return true;
}

static bool model_memory(struct memory *m, const struct event *ev, uint64_t base)
{
    const uint64_t at = ev->addr - base;

    if (ev->kind == EV_COPY)
        return model_copy(m, at, ev[1].addr - base, ev->aux);
    if (ev->kind == EV_WRITE) {
        if (any(m->left, at, ev->size))
            return false;
        memset(m->touched + at, 1, ev->size);
        return true;
    }
    if (ev->kind == EV_ALLOC) {
        if (any(m->allocated, at, ev->aux))
            return false;
        memset(m->allocated + at, 1, ev->aux);
        return m->allocs = true;
    }
    if (m->allocs && !all(m->allocated, at, ev->aux))
        return false;
    memset(m->allocated + at, 0, ev->aux);
    memset(m->touched + at, 0, ev->aux);
    memset(m->left + at, 0, ev->aux);
    return true;
}

static void random_memory_event(struct rng *g, uint64_t base, struct event ev[2])
{
    static const uint8_t kinds[] = {EV_WRITE, EV_WRITE, EV_ALLOC, EV_CLEAR, EV_CLEAR, EV_COPY};
    const uint64_t n = 1 + rng_below(g, rng_chance(g, 1, 8) ? BYTES / 2 : 9);

    memset(ev, 0, 2 * sizeof *ev);
    ev->kind = kinds[rng_below(g, sizeof kinds)];
    ev->addr = base + rng_below(g, BYTES - n + 1);
    if (ev->kind == EV_WRITE)
        ev->size = (uint32_t)n;
    else
        ev->aux = n;
    if (ev->kind == EV_COPY) {
        ev->flags = EVF_MORE;
        ev[1].addr = base + rng_below(g, BYTES - n + 1);
    }
}

static void sets_of_bytes_equal_a_byte_map(void **state)
{
    static const uint64_t bases[] = {0, 4096 - 40, UINT64_MAX - BYTES + 1};

    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        const uint64_t base = bases[seed % ARRAY_SIZE(bases)];
        struct rules *r = rules_new(true);
        struct memory m = {.allocs = false};
        struct rng g;
        rng_seed(&g, seed);
        for (uint64_t i = 0; i < 2000; i++) {
            struct event ev[2];
            struct err e = {0};
            random_memory_event(&g, base, ev);
            const bool ok = model_memory(&m, ev, base);
            if ((rules_apply(r, ev, i, &e) == 0) != ok)
                fail_msg("seed %u event %u: %s", (unsigned)seed, (unsigned)i, e.text);
        }
        rules_free(r);
    }
}

struct slot {                              /* the lock that may be at an address */
    int owner;                             /* -1: none */
    unsigned depth[2], shared[THREADS][2]; /* by side */
    bool waiting[THREADS], stale;
};
struct locks {
    struct slot at[SLOTS];
    bool waits[THREADS];
    unsigned restore[THREADS][2];
};

static unsigned sum(const unsigned by_side[2])
{
    return by_side[0] + by_side[1];
}

static bool in_use(const struct slot *s)
{
    bool use = sum(s->depth);

    for (int t = 0; t < THREADS; t++)
        use |= sum(s->shared[t]) || s->waiting[t];
    return use;
}

static bool free_for(const struct slot *s, int t, bool exclusive)
{
    if (s->stale || (sum(s->depth) && s->owner != t))
        return false;
    for (int u = 0; exclusive && u < THREADS; u++)
        if (u != t && sum(s->shared[u]))
            return false;
    return true;
}

static bool model_move(struct locks *m, uint64_t to, uint64_t from, uint64_t n)
{
    struct slot image[SLOTS];

    for (uint64_t i = to; i < to + n; i++)
        if (in_use(&m->at[i]) && !m->at[i].stale && !(i >= from && i < from + n))
            return false;
    memcpy(image, m->at + from, n * sizeof *image);
    for (uint64_t i = from; i < from + n; i++)
        m->at[i].stale = in_use(&m->at[i]);
    memcpy(m->at + to, image, n * sizeof *image);
    return true;
}

static bool model_end(struct locks *m, uint64_t at, uint64_t n)
{
    for (uint64_t i = at; i < at + n; i++)
        if (in_use(&m->at[i]) && !m->at[i].stale)
            return false;
    for (uint64_t i = at; i < at + n; i++)
        m->at[i] = (struct slot){.owner = -1};
    return true;
}

static bool model_take(struct locks *m, struct slot *s, const struct event *ev)
{
    const int t = ev->tid, side = ev->flags & EVF_SYSTEM;
    const bool shared = ev->kind == EV_ACQUIRE_SHARED, exit = ev->kind == EV_WAIT_EXIT;

    if (!free_for(s, t, !shared) || (exit && (!s->waiting[t] || !m->restore[t][side])))
        return false;
    if (shared) {
        s->shared[t][side]++;
        return true;
    }
    s->owner = t;
    s->depth[side] += exit ? m->restore[t][side] : 1;
    if (exit)
        m->waits[t] = s->waiting[t] = false;
    return true;
}

static bool model_give(struct locks *m, struct slot *s, const struct event *ev)
{
    const int t = ev->tid, side = ev->flags & EVF_SYSTEM;

    if (ev->kind == EV_RELEASE_SHARED) {
        const bool ok = !s->stale && s->shared[t][side];
        s->shared[t][side] -= ok;
        return ok;
    }
    if (s->stale || !s->depth[side] || s->owner != t)
        return false;
    if (ev->kind == EV_RELEASE) {
        s->depth[side]--;
        return true;
    }
    if (s->depth[!side])
        return false;
    m->waits[t] = s->waiting[t] = true;
    m->restore[t][side] = s->depth[side];
    m->restore[t][!side] = s->depth[side] = 0;
    return true;
}

static bool model_lock(struct locks *m, const struct event *ev, uint64_t base)
{
    const uint64_t at = (ev->addr - base) / 4;

    if (m->waits[ev->tid] && ev->kind != EV_WAIT_EXIT)
        return false;
    if (ev->kind == EV_CLEAR)
        return model_end(m, at, ev->aux / 4);
    if (ev->kind == EV_COPY)
        return model_move(m, at, (ev[1].addr - base) / 4, ev->aux / 4);
    if (ev->kind == EV_ACQUIRE || ev->kind == EV_ACQUIRE_SHARED || ev->kind == EV_WAIT_EXIT)
        return model_take(m, &m->at[at], ev);
    return model_give(m, &m->at[at], ev);
}

/* Locks stand every 4 bytes: two in a granule of the shadow. */
static void random_lock_event(struct rng *g, uint64_t base, struct event ev[2])
{
    static const uint8_t kinds[] = {EV_ACQUIRE,        EV_RELEASE,    EV_ACQUIRE_SHARED,
                                    EV_RELEASE_SHARED, EV_WAIT_ENTER, EV_WAIT_EXIT,
                                    EV_CLEAR,          EV_COPY,       EV_COPY};
    const uint64_t n = 1 + rng_below(g, SLOTS / 2);

    memset(ev, 0, 2 * sizeof *ev);
    ev->kind = kinds[rng_below(g, sizeof kinds)];
    ev->tid = (sim_tid)rng_below(g, THREADS);
    ev->flags = rng_chance(g, 1, 4) ? EVF_SYSTEM : 0;
    ev->addr = base + 4 * rng_below(g, SLOTS - n + 1);
    if (ev->kind == EV_CLEAR || ev->kind == EV_COPY)
        ev->aux = 4 * n;
    if (ev->kind == EV_COPY) {
        ev->flags |= EVF_MORE;
        ev[1].addr = base + 4 * rng_below(g, SLOTS - n + 1);
    }
}

static void locks_that_move_equal_a_plain_model(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        const uint64_t base = seed % 2 ? UINT64_MAX - 4 * SLOTS + 1 : 512 - 12;
        struct rules *r = rules_new(false);
        struct locks m = {0};
        struct rng g;
        rng_seed(&g, seed);
        model_end(&m, 0, SLOTS);
        for (uint64_t i = 0; i < 1000; i++) {
            struct event ev[2];
            struct err e = {0};
            random_lock_event(&g, base, ev);
            const bool ok = model_lock(&m, ev, base);
            if ((rules_apply(r, ev, i, &e) == 0) != ok)
                fail_msg("seed %u event %u kind %u: %s", (unsigned)seed, (unsigned)i, ev->kind,
                         ok ? e.text : "accepted");
        }
        rules_free(r);
    }
}

/* ---- state is bounded by what is alive ------------------------------------------------------ */

enum { MANY = 200000 };

static void do_event(struct rules *r, struct event ev)
{
    struct err e = {0};

    if (rules_apply(r, &ev, 0, &e))
        fail_msg("%s", e.text);
}

static void memory_that_comes_and_goes_leaves_nothing(void **state)
{
    struct rules *r = rules_new(true);

    (void)state;
    for (uint64_t i = 0; i < MANY; i++) {
        do_event(r, event(0, EV_ALLOC, i << 20, 64));
        do_event(r, write_8(0, (i << 20) + 8, 0));
        do_event(r, event(0, EV_CLEAR, i << 20, 64));
    }
    assert_null(r->allocated);
    assert_null(r->touched);
    rules_free(r);
}

static void locks_on_fresh_addresses_leave_nothing(void **state)
{
    struct rules *r = rules_new(false);

    (void)state;
    for (uint64_t i = 0; i < MANY; i++) {
        do_event(r, event(0, EV_ACQUIRE, i * 4096, 0));
        do_event(r, event(0, EV_ACQUIRE_SHARED, i * 4096, 0));
        do_event(r, event(0, EV_RELEASE, i * 4096, 0));
        do_event(r, event(0, EV_RELEASE_SHARED, i * 4096, 0));
    }
    assert_in_range(shadow_pages(r->objects), 0, 2 * IDLE_LOCKS);
    assert_int_equal(r->shares.n, 0);
    rules_free(r);
}

static void barrier_rounds_and_transactions_leave_nothing(void **state)
{
    struct rules *r = rules_new(false);

    (void)state;
    for (uint64_t i = 0; i < MANY; i++) {
        for (sim_tid t = 0; t < 2; t++)
            do_event(r, event(t, EV_BARRIER_ARRIVE, 64, i));
        for (sim_tid t = 0; t < 2; t++)
            do_event(r, event(t, EV_BARRIER_DEPART, 64, i));
        do_event(r, event(0, EV_TXN_BEGIN, 0, 0));
        do_event(r, write_8(0, i * 64, EVF_IN_TXN));
        do_event(r, event(0, EV_TXN_COMMIT, 0, 0));
    }
    assert_int_equal(shadow_pages(r->objects), 1);
    assert_int_equal(r->opens, 0);
    assert_int_equal(r->open_cap, 8);
    assert_null(r->thread[0].txn);
    rules_free(r);
}

static void a_lock_that_moves_on_and_on_is_one_lock(void **state)
{
    struct rules *r = rules_new(false);
    struct err e = {0};

    (void)state;
    do_event(r, event(0, EV_ACQUIRE, 0, 0));
    for (uint64_t i = 0; i < MANY; i++) {
        const struct event copy[] = {COPY(1, (i + 1) * 4096, i * 4096, 4096)};
        assert_int_equal(rules_apply(r, copy, i, &e), 0);
        do_event(r, event(1, EV_CLEAR, i * 4096, 4096));
    }
    assert_int_equal(shadow_pages(r->objects), 1);
    do_event(r, event(0, EV_RELEASE, UINT64_C(4096) * MANY, 0));
    do_event(r, event(0, EV_THREAD_END, 0, 0));
    rules_free(r);
}

/* In ascending order an unbalanced tree would be a list. */
static void huge_regions_over_many_pieces_are_cheap(void **state)
{
    const uint64_t half = UINT64_C(1) << 63;
    struct rules *r = rules_new(true);
    const struct event copy[] = {COPY(0, half, 0, UINT64_C(1) << 62)};
    struct err e = {0};

    (void)state;
    for (uint64_t i = 0; i < MANY; i++)
        do_event(r, write_8(0, i * 64, 0));
    assert_int_equal(rules_apply(r, copy, 0, &e), 0);
    do_event(r, event(0, EV_CLEAR, 0, half));
    for (uint64_t i = 0; i < MANY; i++) {
        do_event(r, event(0, EV_ALLOC, 0, half));
        do_event(r, event(0, EV_CLEAR, 0, half));
    }
    assert_non_null(r->touched);
    do_event(r, event(0, EV_CLEAR, half, UINT64_C(1) << 62));
    assert_null(r->touched);
    rules_free(r);
}

static void neighbours_are_one_piece(void **state)
{
    struct rules *r = rules_new(false);

    (void)state;
    for (uint64_t i = 0; i < MANY; i++)
        do_event(r, event(0, EV_ALLOC, i * 16, 16));
    for (uint64_t i = MANY * 2; i > MANY; i--)
        do_event(r, event(0, EV_ALLOC, (i - 1) * 16, 16));
    do_event(r, event(0, EV_CLEAR, 0, (uint64_t)MANY * 2 * 16));
    assert_null(r->allocated);
    rules_free(r);
}

static void all_threads_at_one_barrier_and_one_lock(void **state)
{
    struct rules *r = rules_new(false);

    (void)state;
    for (unsigned t = 0; t < MAX_THREADS; t++)
        do_event(r, event((sim_tid)t, EV_BARRIER_ARRIVE, 64, 7));
    for (unsigned t = MAX_THREADS; t-- > 0;)
        do_event(r, event((sim_tid)t, EV_BARRIER_DEPART, 64, 7));
    for (unsigned t = 0; t < MAX_THREADS; t++)
        do_event(r, event((sim_tid)t, EV_ACQUIRE_SHARED, 64, 0));
    for (unsigned t = 0; t < MAX_THREADS; t++)
        do_event(r, event((sim_tid)t, EV_RELEASE_SHARED, 64, 0));
    do_event(r, event(0, EV_ACQUIRE, 64, 0));
    rules_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_of_bytes_equal_a_byte_map),
        cmocka_unit_test(locks_that_move_equal_a_plain_model),
        cmocka_unit_test(memory_that_comes_and_goes_leaves_nothing),
        cmocka_unit_test(locks_on_fresh_addresses_leave_nothing),
        cmocka_unit_test(barrier_rounds_and_transactions_leave_nothing),
        cmocka_unit_test(a_lock_that_moves_on_and_on_is_one_lock),
        cmocka_unit_test(huge_regions_over_many_pieces_are_cheap),
        cmocka_unit_test(neighbours_are_one_piece),
        cmocka_unit_test(all_threads_at_one_barrier_and_one_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
