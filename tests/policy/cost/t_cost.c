/* t_cost.c - what a policy's steps and accesses cost: gathered in order, cut at lines, paid while
 * other cores go on; blocks and places of metadata; clocks in software as lard-runtime has them;
 * and that the documented tables of costs are those of the code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/rng.h"
#include "tests/frame/machine_rig.h"
#include "trace/trace.h"

#include <cmocka.h>

enum { ONE, FIVE, STEPS };
static const struct cost_step steps[STEPS] = {
    [ONE] = {"one", 1, "One.", STEP_NEEDS_FREE}, [FIVE] = {"five", 5, "", STEP_NEEDS_FREE}};

struct bench {
    struct machine_rig m;
    struct ledger c;
};

static void open_bench(struct bench *b, unsigned granule)
{
    machine_rig_open(&b->m, granule);
    ledger_software(&b->c, &b->m.env, steps, STEPS, 16);
    b->m.asked.counted = NULL; /* what is decided now is paid later */
    machine_steps(&b->m, steps, STEPS);
    assert_true(b->c.on);
}

static void close_bench(struct bench *b)
{
    ledger_free(&b->c);
    assert_false(b->c.on);
    machine_rig_close(&b->m);
}

static uint64_t stat(const struct bench *b, const char *name)
{
    uint64_t v = UINT64_MAX;

    assert_true(stats_value(b->m.stats, name, &v));
    return v;
}

static void expect_line(const struct bench *b, const char *line)
{
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);

    stats_csv(b->m.stats, f);
    fclose(f);
    if (!strstr(text, line))
        fail_msg("no %s in\n%s", line, text);
    free(text);
}

/* ---- gathering and paying ------------------------------------------------------------------- */

static void what_is_gathered_is_paid_in_its_order(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, 4);
    ledger_step(&b.c, 0, FIVE);
    ledger_access(&b.c, 0, paddr_of(METADATA_FIXED + 8), 8, MEM_LOAD);
    ledger_steps(&b.c, 0, ONE, 3);
    ledger_instructions(&b.c, 0, 2);
    ledger_access(&b.c, 0, paddr_of(METADATA_FIXED), 4, MEM_ATOMIC);
    ledger_access(&b.c, 0, paddr_of(METADATA_FIXED + 4), 4, MEM_STORE);
    ledger_step(&b.c, 0, ONE);
    charges_are(&b.m.asked, ""); /* not before it is paid */
    assert_int_equal(ledger_pay(&b.c, 0, 1000), 1000 + 6 + 6 + 1 + 1 + 300);
    charges_are(&b.m.asked, "five, load metadata+8, 3 one, 2 instructions, swap metadata+0:4, "
                            "store metadata+4:4, one, 14 in all");
    assert_int_equal(ledger_pay(&b.c, 0, 1000), 1000); /* and once */
    charges_are(&b.m.asked, "");
    assert_int_equal(stat(&b, "cost.instructions"), 14);
    expect_line(&b, "cost.steps.one,4,count");
    expect_line(&b, "cost.steps.five,1,count");
    assert_int_equal(stat(&b, "cost.loads"), 1);
    assert_int_equal(stat(&b, "cost.stores"), 1);
    assert_int_equal(stat(&b, "cost.atomics"), 1);
    assert_int_equal(stat(&b, "cost.bytes"), 16);
    close_bench(&b);
}

static void cores_pay_for_themselves(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, 4);
    ledger_step(&b.c, 0, ONE);
    ledger_step(&b.c, 3, FIVE);
    ledger_access(&b.c, 3, paddr_of(METADATA_FIXED), 8, MEM_LOAD);
    ledger_access(&b.c, 0, paddr_of(METADATA_FIXED + 8), 8, MEM_STORE);
    assert_int_equal(ledger_pay(&b.c, 3, 10), 116);
    charges_are(&b.m.asked, "core 3, five, load metadata+0, 6 in all");
    assert_int_equal(ledger_pay(&b.c, 0, 10), 112);
    charges_are(&b.m.asked, "one, store metadata+8, 2 in all");
    close_bench(&b);
}

static void an_access_is_cut_at_lines_and_counted_by_registers(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, 4);
    ledger_access(&b.c, 0, paddr_of(METADATA_FIXED + 60), 8,
                  MEM_LOAD); /* one instruction, two lines */
    ledger_pay(&b.c, 0, 0);
    charges_are(&b.m.asked, "load metadata+60:4, further load metadata+64:4, 1 in all");
    ledger_access(&b.c, 0, paddr_of(METADATA_FIXED + 56), 8, MEM_LOAD); /* up to the end */
    ledger_access(&b.c, 0, paddr_of(METADATA_FIXED + 64), 64, MEM_STORE);
    ledger_pay(&b.c, 0, 0);
    charges_are(&b.m.asked, "load metadata+56, store metadata+64:64, 2 in all");
    ledger_access(&b.c, 0, paddr_of(METADATA_FIXED), 130, MEM_LOAD); /* 64, 64, 2 */
    ledger_pay(&b.c, 0, 0);
    charges_are(&b.m.asked,
                "load metadata+0:64, load metadata+64:64, load metadata+128:2, 3 in all");
    ledger_access(&b.c, 0, paddr_of(METADATA_FIXED + 32), 65,
                  MEM_LOAD); /* registers do not end at lines */
    ledger_pay(&b.c, 0, 0);
    charges_are(&b.m.asked, "load metadata+32:32, load metadata+64:33, 2 in all");
    ledger_access(&b.c, 0, paddr_of(METADATA_FIXED), 0, MEM_LOAD);
    ledger_pay(&b.c, 0, 0);
    charges_are(&b.m.asked, "");
    close_bench(&b);
}

static void lines_may_be_shorter(void **state)
{
    struct machine_rig m;
    struct ledger c;

    (void)state;
    machine_rig_open(&m, 4);
    m.machine.line = 32;
    ledger_software(&c, &m.env, steps, STEPS, 16);
    machine_steps(&m, steps, STEPS);
    ledger_access(&c, 0, paddr_of(METADATA_FIXED), 64, MEM_LOAD); /* still one register */
    ledger_pay(&c, 0, 0);
    charges_are(&m.asked, "load metadata+0:32, further load metadata+32:32, 1 in all");
    ledger_free(&c);
    machine_rig_close(&m);
}

static void very_many_instructions_are_all_paid(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, 4);
    ledger_steps(&b.c, 0, FIVE, UINT64_C(1) << 32);
    assert_int_equal(ledger_pay(&b.c, 0, 1), 1 + 5 * (UINT64_C(1) << 32));
    assert_int_equal(b.m.instructions, 5 * (UINT64_C(1) << 32));
    close_bench(&b);
}

static void without_a_machine_nothing_costs(void **state)
{
    struct machine_rig m;
    struct ledger c;

    (void)state;
    machine_rig_open(&m, 4);
    m.env.machine = NULL;
    ledger_software(&c, &m.env, steps, STEPS, 16);
    assert_false(c.on);
    ledger_step(&c, 0, FIVE);
    ledger_access(&c, 0, paddr_of(METADATA_FIXED), 8, MEM_LOAD);
    assert_int_equal(metadata_at(&c, 0x1000).at, 0);
    assert_int_equal(metadata_take(&c, 0, 64).at, 0);
    metadata_give(&c, 0, (struct paddr){0}, 64);
    assert_int_equal(ledger_pay(&c, 0, 77), 77);
    assert_null(clock_cost_new(&c, &m.env));
    clock_cost_access(NULL, &(struct event){.kind = EV_READ}, 0);
    clock_cost_sync(NULL, &(struct event){.kind = EV_ACQUIRE}, 0);
    clock_cost_free(NULL);
    charges_are(&m.asked, "");
    ledger_free(&c);
    machine_rig_close(&m);
}

/* While core 0 waits for its second access, core 1 decides and pays. */
static void another_core(struct machine_rig *m, unsigned core, sim_addr a)
{
    struct ledger *c = m->arg;

    if (core != 0 || a != METADATA_FIXED + 64)
        return;
    ledger_step(c, 1, FIVE);
    ledger_access(c, 1, paddr_of(METADATA_FIXED + 256), 8, MEM_STORE);
    metadata_take(c, 1, 16);
    ledger_pay(c, 1, 500);
    ledger_step(c, 2, ONE); /* and core 2 decides only */
}

static void other_cores_go_on_while_one_pays(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, 4);
    b.m.meanwhile = another_core;
    b.m.arg = &b.c;
    for (unsigned i = 0; i < 3; i++)
        ledger_access(&b.c, 0, paddr_of(METADATA_FIXED + 64 * i), 8, MEM_LOAD);
    ledger_step(&b.c, 0, FIVE);
    assert_int_equal(ledger_pay(&b.c, 0, 0), 3 + 300 + 5);
    charges_are(&b.m.asked,
                "load metadata+0, load metadata+64, core 1, five, store metadata+256, heap list, "
                "load list of 16, load page's rest:16, heap fresh, swap heap's top, heap page, "
                "store page's rest:16, core 0, load metadata+128, five, 26 in all");
    assert_int_equal(ledger_pay(&b.c, 2, 0), 1);
    close_bench(&b);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static void a_block_comes_from_a_page_then_from_its_list(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, 4);
    /* List 3 and its head; what is left of the page, 3; none: the heap's top, 2; what is left. */
    assert_int_equal(metadata_take(&b.c, 0, 24).at, METADATA_HEAP);
    ledger_pay(&b.c, 0, 0);
    charges_are(&b.m.asked,
                "heap list, load list of 32, load page's rest:16, heap fresh, swap heap's top, "
                "heap page, store page's rest:16, 12 in all");
    assert_int_equal(metadata_take(&b.c, 0, 32).at, METADATA_HEAP + 32);
    ledger_pay(&b.c, 0, 0);
    charges_are(&b.m.asked, "heap list, load list of 32, load page's rest:16, heap fresh, "
                            "store page's rest:16, 9 in all");
    /* The list's address 1; its head; the block holds the next; the head. */
    metadata_give(&b.c, 0, paddr_of(METADATA_HEAP), 17);
    ledger_pay(&b.c, 0, 0);
    charges_are(&b.m.asked, "heap give, load list of 32, store block, store list of 32, 4 in all");
    assert_int_equal(metadata_take(&b.c, 0, 20).at, METADATA_HEAP);
    ledger_pay(&b.c, 0, 0);
    charges_are(&b.m.asked, "heap list, load list of 32, load block, store list of 32, 6 in all");
    close_bench(&b);
}

static void a_block_given_back_is_that_cores_that_gave_it(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, 4);
    const struct paddr mine = metadata_take(&b.c, 0, 64), other = metadata_take(&b.c, 1, 64);
    assert_int_equal(other.at, METADATA_HEAP + 4096); /* each has pages of its own */
    metadata_give(&b.c, 1, mine, 64);
    assert_true(metadata_take(&b.c, 0, 64).at != mine.at);
    assert_int_equal(metadata_take(&b.c, 1, 33).at, mine.at); /* of its size, 64 */
    metadata_give(&b.c, 1, mine, 64);
    metadata_give(&b.c, 1, other, 64);
    assert_int_equal(metadata_take(&b.c, 1, 64).at, other.at); /* last in, first out */
    assert_true(metadata_take(&b.c, 1, 128).at != mine.at);
    close_bench(&b);
}

static void large_blocks_take_what_they_need(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, 4);
    const struct paddr large = metadata_take(&b.c, 0, 5000), next = metadata_take(&b.c, 0, 4096);
    assert_int_equal(large.at, METADATA_HEAP);
    assert_int_equal(next.at, METADATA_HEAP + 8192);
    assert_int_equal(metadata_take(&b.c, 0, UINT64_C(1) << 40).at, METADATA_HEAP + 8192 + 4096);
    close_bench(&b);
}

struct block {
    struct paddr at;
    uint64_t bytes;
};

static void blocks_in_use_are_aligned_and_apart(void **state)
{
    enum { LIVE = 60, TURNS = 4000 };
    struct block live[LIVE] = {{{0}, 0}};
    struct bench b;
    struct rng r;

    (void)state;
    rng_seed(&r, 7);
    open_bench(&b, 4);
    for (int turn = 0; turn < TURNS; turn++) {
        struct block *one = &live[rng_below(&r, LIVE)];
        const unsigned core = (unsigned)rng_below(&r, 3);
        if (one->at.at) {
            metadata_give(&b.c, core, one->at, one->bytes);
            one->at.at = 0;
            continue;
        }
        const uint64_t bytes = 1 + rng_below(&r, rng_chance(&r, 1, 9) ? 9000 : 200);
        const struct paddr at = metadata_take(&b.c, core, bytes);
        uint64_t size = 16;
        while (size < bytes)
            size *= 2;
        assert_int_equal(at.at % (size < 64 ? size : 64), 0);
        for (int i = 0; i < LIVE; i++)
            assert_true(!live[i].at.at || at.at + bytes <= live[i].at.at ||
                        live[i].at.at + live[i].bytes <= at.at);
        *one = (struct block){at, bytes};
    }
    close_bench(&b);
}

/* ---- places --------------------------------------------------------------------------------- */

static void each_granule_has_its_place(void **state)
{
    static const unsigned granules[] = {1, 2, 4, 8, GRANULE_FIELD};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(granules); i++) {
        const unsigned g = granules[i] ? granules[i] : 4;
        struct bench b;
        open_bench(&b, granules[i]);
        assert_int_equal(metadata_at(&b.c, 0).at, METADATA_FIXED);
        assert_int_equal(metadata_at(&b.c, 24).at, METADATA_FIXED + 24 / g * 16);
        assert_int_equal(metadata_at(&b.c, 24 + g - 1).at, metadata_at(&b.c, 24).at);
        assert_int_equal(metadata_at(&b.c, 24 + g).at, metadata_at(&b.c, 24).at + 16);
        machine_rig_pages(&b.m);
        assert_int_not_equal(pages_physical(&b.m.pages, vaddr_of(24)).at, 24);
        assert_int_equal(metadata_at(&b.c, 24).at,
                         METADATA_FIXED + pages_physical(&b.m.pages, vaddr_of(24)).at / g * 16);
        close_bench(&b);
    }
}

/* Else they would find their lines in caches, and lose them, by each other's accesses. */
static void policies_of_a_run_share_no_metadata(void **state)
{
    static const char *const label[] = {"one", "another"};
    struct machine_rig m;
    struct ledger c[2];

    (void)state;
    machine_rig_open(&m, 4);
    struct stats_group *root = m.env.stats;
    for (unsigned i = 0; i < 2; i++) {
        m.env.instance = i;
        m.env.stats = stats_group(root, label[i]);
        ledger_software(&c[i], &m.env, steps, STEPS, 16);
    }
    assert_int_equal(metadata_at(&c[1], 24).at, metadata_at(&c[0], 24).at + METADATA_APART);
    assert_true(metadata_at(&c[0], UINT64_MAX).at < METADATA_APART);
    machine_steps(&m, NULL, 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(metadata_take(&c[i], 0, 64).at, METADATA_HEAP + i * METADATA_APART);
    ledger_pay(&c[0], 0, 0);
    charges_are(&m.asked,
                "heap list, load list of 64, load page's rest:16, heap fresh, swap heap's top, "
                "heap page, store page's rest:16, 12 in all");
    for (unsigned i = 0; i < 2; i++)
        ledger_free(&c[i]);
    machine_rig_close(&m);
}

static void places_stay_between_program_and_heap(void **state)
{
    struct machine_rig m;
    struct ledger c;

    (void)state;
    machine_rig_open(&m, 1);
    ledger_software(&c, &m.env, NULL, 0, 512); /* the most there may be; and no steps */
    assert_true(metadata_at(&c, UINT64_MAX).at >= METADATA_FIXED);
    assert_true(metadata_at(&c, UINT64_MAX).at + 512 < METADATA_HEAP - (UINT64_C(1) << 21));
    ledger_free(&c);
    machine_rig_close(&m);
}

static void a_sweep_goes_by_64_bytes(void **state)
{
    struct bench b;
    struct metadata_sweep s = {.step = FIVE};

    (void)state;
    open_bench(&b, 4);
    for (unsigned i = 0; i < 6; i++) /* 32 to 128 */
        metadata_sweep(&b.c, &s, paddr_of(METADATA_FIXED + 32 + 16 * i), (struct paddr){0}, 16);
    metadata_sweep(&b.c, &s, paddr_of(METADATA_FIXED + 144), (struct paddr){0},
                   16); /* not beside them */
    metadata_sweep_end(&b.c, &s);
    metadata_sweep_end(&b.c, &s);
    ledger_pay(&b.c, 0, 0);
    charges_are(
        &b.m.asked,
        "five, load metadata+32:32, store metadata+32:32, five, load metadata+64:64, "
        "store metadata+64:64, five, load metadata+144:16, store metadata+144:16, 21 in all");
    s = (struct metadata_sweep){.core = 2, .step = ONE};
    metadata_sweep(&b.c, &s, paddr_of(METADATA_FIXED), paddr_of(METADATA_FIXED + 1024), 16);
    metadata_sweep(&b.c, &s, paddr_of(METADATA_FIXED + 16), paddr_of(METADATA_FIXED + 1040), 16);
    metadata_sweep(&b.c, &s, paddr_of(METADATA_FIXED + 32), paddr_of(METADATA_FIXED + 2048),
                   16); /* its way leads elsewhere */
    metadata_sweep_end(&b.c, &s);
    ledger_pay(&b.c, 2, 0);
    charges_are(&b.m.asked, "core 2, one, load metadata+0:32, store metadata+1024:32, one, "
                            "load metadata+32:16, store metadata+2048:16, 6 in all");
    close_bench(&b);
}

/* ---- clocks --------------------------------------------------------------------------------- */

/* One way of paying for clocks: gathered here, or by the policy lard-runtime. */
struct clocks {
    struct machine_rig m;
    struct hb *hb;
    struct ledger c;
    struct clock_cost *gathered; /* NULL: the policy's */
    void *policy;
    struct event *txn[64]; /* owns; open transactions */
    size_t txns[64], cap[64];
};

static const struct policy *runtime_policy(void)
{
    return policy_find("lard-runtime");
}

static void clocks_open(struct clocks *k, bool gather, unsigned view)
{
    struct config *config = config_new(NULL);
    struct err e = {0};

    memset(k, 0, sizeof *k);
    machine_rig_open(&k->m, GRANULE_FIELD);
    machine_rig_pages(&k->m);
    k->hb = hb_new(view, GRANULE_FIELD, NULL);
    k->m.env.hb = k->hb;
    k->m.env.view = view;
    ledger_software(&k->c, &k->m.env, steps, STEPS, 16);
    if (gather) {
        k->gathered = clock_cost_new(&k->c, &k->m.env);
        assert_non_null(k->gathered);
    } else {
        void *params = xcalloc(1, runtime_policy()->params_size);
        assert_int_equal(config_set(config, "r.base=0x200000000000000", &e), 0); /* 2^57 */
        /* Software policies charge collections themselves. */
        assert_int_equal(config_set(config, "r.without=header,trace,sweep", &e), 0);
        assert_int_equal(config_bind(config, "r", runtime_policy()->params, params, &e), 0);
        k->policy = runtime_policy()->create(&k->m.env, params, &e);
        free(params);
    }
    config_free(config);
}

static void clocks_close(struct clocks *k)
{
    clock_cost_free(k->gathered);
    if (k->policy)
        runtime_policy()->destroy(k->policy);
    ledger_free(&k->c);
    hb_free(k->hb);
    machine_rig_close(&k->m);
    for (size_t i = 0; i < ARRAY_SIZE(k->txn); i++)
        free(k->txn[i]);
}

static void clocks_access(struct clocks *k, const struct event *ev, unsigned core)
{
    if (k->gathered)
        clock_cost_access(k->gathered, ev, core);
    else
        runtime_policy()->hardware->access(k->policy, ev, core, (struct mem_outcome){0}, 0);
}

/* As a checker has it. */
static void clocks_commit(struct clocks *k, const struct event *ev, unsigned core)
{
    const sim_tid t = ev->tid;
    const size_t n = k->txns[t];

    k->txns[t] = 0;
    if (n)
        hb_commit_before(k->hb, ev, k->txn[t], n);
    for (size_t i = 0; i < n; i++)
        clocks_access(k, &k->txn[t][i], core);
    if (n)
        hb_commit_after(k->hb, ev, k->txn[t], n);
}

static void clocks_plain(struct clocks *k, const struct event *ev, unsigned core, bool heeded)
{
    const bool edges = event_order(ev) != ORDER_NONE && heeded;

    if (ev->flags & EVF_IN_TXN) {
        k->txn[ev->tid] = xgrow(k->txn[ev->tid], k->txns[ev->tid], &k->cap[ev->tid], sizeof *ev);
        k->txn[ev->tid][k->txns[ev->tid]++] = *ev;
        return;
    }
    if (edges)
        hb_atomic_before(k->hb, ev);
    clocks_access(k, ev, core);
    if (edges)
        hb_atomic_after(k->hb, ev);
}

static void clocks_step(struct clocks *k, const struct event *ev, unsigned core, unsigned view)
{
    const unsigned class = ev_info[ev->kind].class;
    const bool heeded = !(ev->flags & EVF_SYSTEM) || ev->kind == EV_THREAD || view & VIEW_ALL_SYNC;

    hb_enter(k->hb, ev);
    if (class == CLASS_MARK)
        return;
    if (class == CLASS_ACCESS) {
        clocks_plain(k, ev, core, heeded);
    } else if (class == CLASS_SYNC && !heeded) {
        hb_unheeded(k->hb, ev);
    } else {
        if (ev->kind == EV_TXN_COMMIT)
            clocks_commit(k, ev, core);
        else if (ev->kind == EV_CLEAR)
            hb_clear(k->hb, ev->addr, ev->aux);
        else if (ev->kind == EV_COPY)
            hb_copy(k->hb, ev->addr, ev[1].addr, ev->aux);
        else if (class != CLASS_HEAP)
            hb_sync(k->hb, ev);
        if (k->gathered)
            clock_cost_sync(k->gathered, ev, core);
        else
            runtime_policy()->hardware->sync(k->policy, ev, core, 0);
    }
    ledger_pay(&k->c, core, 0);
}

/* The same instructions in the same places, the same accesses. */
static void compare_clocks(uint64_t seed, const char *spec, unsigned view)
{
    struct clocks gathered, direct;
    struct err e = {0};
    struct source *s = source_open(spec, &e);
    uint64_t number = 0;
    struct batch batch;

    assert_non_null(s);
    clocks_open(&gathered, true, view);
    clocks_open(&direct, false, view);
    while (source_next(s, &batch, &e) == 0 && batch.records)
        for (size_t i = 0; i < batch.records; i += event_records(&batch.rec[i]), number++) {
            const unsigned core = batch.rec[i].tid % 4;
            clocks_step(&gathered, &batch.rec[i], core, view);
            clocks_step(&direct, &batch.rec[i], core, view);
            char *cost = charges_text(&gathered.m.asked), *same = charges_text(&direct.m.asked);
            if (strcmp(cost, same))
                fail_msg("seed %llu, event %llu: %s, not %s", (unsigned long long)seed,
                         (unsigned long long)number, cost, same);
            free(cost);
            free(same);
            charges_forget(&gathered.m.asked);
            charges_forget(&direct.m.asked);
        }
    assert_int_equal(e.code, 0);
    assert_true(gathered.m.accesses > 100);
    assert_int_equal(gathered.m.accesses, direct.m.accesses);
    assert_int_equal(gathered.m.instructions, direct.m.instructions);
    source_close(s);
    clocks_close(&gathered);
    clocks_close(&direct);
}

static void clocks_cost_what_lard_runtime_charges(void **state)
{
    static const unsigned views[] = {0, VIEW_ALL_SYNC, VIEW_NO_THREAD};

    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        char *spec = xasprintf("synth:seed=%llu,events=400", (unsigned long long)seed);
        compare_clocks(seed, spec, views[seed % ARRAY_SIZE(views)]);
        free(spec);
    }
}

/* Its words are a line each from 2 MiB on; its clock has been made with its first synchronisation.
 */
static void a_threads_epoch_and_clock_are_read_where_the_runtime_has_them(void **state)
{
    struct clocks k;
    const struct event in = {.kind = EV_NOTIFY, .tid = 1, .addr = 0x1000};
    const struct event end = {.kind = EV_RELEASE, .tid = 1, .addr = 0x1000};

    (void)state;
    clocks_open(&k, true, 0);
    hb_enter(k.hb, &in);
    clock_cost_entry(k.gathered, 1, 1, 0);
    ledger_pay(&k.c, 0, 0);
    charges_are(&k.m.asked, ""); /* no clock in memory yet */
    clocks_step(&k, &in, 0, 0);
    charges_forget(&k.m.asked);
    clock_cost_epoch(k.gathered, 1, 0); /* new: kept up to date, then read */
    clock_cost_epoch(k.gathered, 1, 0);
    clock_cost_clock(k.gathered, 1, 0);
    clock_cost_entry(k.gathered, 1, 1, 0);
    clock_cost_entry(k.gathered, 1, 2, 0); /* its clock has two entries */
    clock_cost_entries(k.gathered, 1, 0, 16, 0);
    ledger_pay(&k.c, 0, 0);
    charges_are(&k.m.asked, "store thread 1's epoch, load thread 1's epoch, load thread 1's epoch, "
                            "load thread 1's clock word, load clocks+4:4, load clocks+0, 6 in all");
    clocks_step(&k, &end, 0, 0); /* gives: its time goes on */
    charges_forget(&k.m.asked);
    clock_cost_epoch(k.gathered, 1, 0);
    ledger_pay(&k.c, 0, 0);
    charges_are(&k.m.asked, "store thread 1's epoch, load thread 1's epoch, 2 in all");
    clocks_close(&k);
}

static void metadata_has_its_level_and_peak(void **state)
{
    struct machine_rig m;
    struct budget bytes = {0};
    uint64_t v = 0;

    (void)state;
    machine_rig_open(&m, 4);
    metadata_declare(&bytes, m.env.stats);
    budget_take(&bytes, 48);
    budget_give(&bytes, 16);
    assert_true(stats_value(m.stats, "metadata.live", &v));
    assert_int_equal(v, 32);
    assert_true(stats_value(m.stats, "metadata.peak", &v));
    assert_int_equal(v, 48);
    machine_rig_close(&m);
}

/* ---- tables of steps ------------------------------------------------------------------------ */

static const struct policy_charges *charges_of(const struct policy *p)
{
    static const struct policy_charges none = {0};

    return p->charges ? p->charges : &none;
}

static void steps_have_names_of_their_own_and_reasons(void **state)
{
    (void)state;
    for (size_t i = 0; policies[i]; i++) {
        const struct policy *p = policies[i];
        assert_true(!charges_of(p)->step == !charges_of(p)->steps);
        for (unsigned k = 0; k < charges_of(p)->steps; k++) {
            assert_true(strlen(charges_of(p)->step[k].text) > 10);
            assert_null(strchr(charges_of(p)->step[k].text, '|'));
            assert_true(charges_of(p)->step[k].instructions > 0);
            /* More is not counted by hand: the text says that it was run. */
            assert_true(charges_of(p)->step[k].instructions < 50 ||
                        strstr(charges_of(p)->step[k].text, "run"));
            for (unsigned j = 0; j < k; j++)
                assert_string_not_equal(charges_of(p)->step[k].name, charges_of(p)->step[j].name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_gathered_is_paid_in_its_order),
        cmocka_unit_test(cores_pay_for_themselves),
        cmocka_unit_test(an_access_is_cut_at_lines_and_counted_by_registers),
        cmocka_unit_test(lines_may_be_shorter),
        cmocka_unit_test(very_many_instructions_are_all_paid),
        cmocka_unit_test(without_a_machine_nothing_costs),
        cmocka_unit_test(other_cores_go_on_while_one_pays),
        cmocka_unit_test(a_block_comes_from_a_page_then_from_its_list),
        cmocka_unit_test(a_block_given_back_is_that_cores_that_gave_it),
        cmocka_unit_test(large_blocks_take_what_they_need),
        cmocka_unit_test(blocks_in_use_are_aligned_and_apart),
        cmocka_unit_test(each_granule_has_its_place),
        cmocka_unit_test(policies_of_a_run_share_no_metadata),
        cmocka_unit_test(places_stay_between_program_and_heap),
        cmocka_unit_test(a_sweep_goes_by_64_bytes),
        cmocka_unit_test(clocks_cost_what_lard_runtime_charges),
        cmocka_unit_test(a_threads_epoch_and_clock_are_read_where_the_runtime_has_them),
        cmocka_unit_test(metadata_has_its_level_and_peak),
        cmocka_unit_test(steps_have_names_of_their_own_and_reasons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
