/* t_ledger.c - what hardware puts on its ledger: costs that begin beside the data or after it, what
 * waits for what, questions and handlers, accounts that are paid apart, and parts whose acts are
 * gathered. What software puts there: t_cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdio.h>
#include <string.h>

#include "policy/cost/ledger.h"

#include <cmocka.h>

enum { ACCESSES, HANDLERS, KINDS };
#define AT (UINT64_C(1) << 20)

struct bench { /* an instruction takes a cycle, an access 100 */
    struct policy_machine machine;
    struct policy_env env;
    struct ledger c;
    char log[512]; /* what was asked of the machine, each with its core */
};

static void note(struct bench *b, unsigned core, const char *what, uint64_t of)
{
    const size_t n = strlen(b->log);

    snprintf(b->log + n, sizeof b->log - n, "%s%u %s %llx", n ? ", " : "", core, what,
             (unsigned long long)of);
}

static void says(struct bench *b, const char *log)
{
    assert_string_equal(b->log, log);
    b->log[0] = 0;
}

static sim_cycle runs(void *host, unsigned core, unsigned instructions, sim_cycle now)
{
    note(host, core, "runs", instructions);
    return now + instructions;
}

static sim_cycle accesses(void *host, unsigned core, struct paddr at, unsigned bytes,
                          enum mem_cmd cmd, sim_cycle now)
{
    (void)bytes;
    note(host, core, cmd == MEM_LOAD ? "loads" : "stores", at.at);
    return now + 100;
}

static sim_cycle asks(void *host, unsigned core, struct paddr line, const uint64_t cores[2],
                      unsigned bytes, sim_cycle now)
{
    assert_int_equal(bytes, 64);
    note(host, core, "asks about", line.at);
    note(host, core, "asks", cores[0]);
    return now + 15;
}

static void came_along(void *caches, uint64_t bytes)
{
    note(caches, 0, "gets along", bytes);
}

static sim_cycle drops(void *caches, unsigned core, struct paddr line, uint8_t *level,
                       sim_cycle now)
{
    *level = LEVEL_L1;
    note(caches, core, "drops", line.at);
    return now + 3;
}

static const struct caches_type caches_type = {.piggyback = came_along, .drop = drops};

static void open_bench(struct bench *b)
{
    *b = (struct bench){
        .machine = {.cores = 4, .line = 64, .ask = asks, .caches = {&caches_type, b}}};
    b->env = (struct policy_env){.machine = &b->machine, .host = b, .exec = runs, .mem = accesses};
    ledger_hardware(&b->c, &b->env, KINDS);
}

static void close_bench(struct bench *b)
{
    ledger_free(&b->c);
}

static void begin(struct bench *b, sim_cycle start, sim_cycle data)
{
    struct ledger_note *n = ledger_note(&b->c, 0, LEDGER_BILL);

    n->bill.start = start;
    n->bill.data = data;
}

static void call(struct bench *b, struct ledger_note *n, ledger_call *fn)
{
    n->call.fn = fn;
    n->call.self = b;
    n->call.core = 0;
}

/* ---- from when ------------------------------------------------------------------------------ */

static void costs_run_beside_their_data(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    begin(&b, 950, 1000);
    ledger_touch(&b.c, 0, paddr_of(AT), 8, MEM_LOAD);
    assert_int_equal(ledger_pay_account(&b.c, 0, 0, 1000), 1050);
    begin(&b, 850, 1000);
    ledger_touch(&b.c, 0, paddr_of(AT), 8, MEM_LOAD);
    assert_int_equal(ledger_pay_account(&b.c, 0, 0, 1000),
                     1000); /* over before the data were there */
    says(&b, "0 loads 100000, 0 loads 100000");
    assert_int_equal(ledger_pay_account(&b.c, 0, 0, 1000), 1000); /* and once */
    says(&b, "");
    close_bench(&b);
}

/* Those of a commit: each beside its data, until one takes longer. */
static void what_comes_after_others_waits_for_them(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    begin(&b, 880, 1000);
    ledger_touch(&b.c, 0, paddr_of(AT), 8, MEM_LOAD);
    begin(&b, 930, 1000);
    ledger_touch(&b.c, 0, paddr_of(AT), 8, MEM_LOAD);
    assert_int_equal(ledger_pay_account(&b.c, 0, 0, 1000), 1030);
    begin(&b, 930, 1000);
    ledger_touch(&b.c, 0, paddr_of(AT), 8, MEM_LOAD);
    begin(&b, 930, 1000);
    ledger_touch(&b.c, 0, paddr_of(AT), 8, MEM_LOAD);
    assert_int_equal(ledger_pay_account(&b.c, 0, 0, 1000), 1130);
    begin(&b, 850, 1000);
    ledger_touch(&b.c, 0, paddr_of(AT), 8, MEM_LOAD);
    begin(&b, CYCLE_NEVER, 1000); /* never beside */
    ledger_touch(&b.c, 0, paddr_of(AT), 8, MEM_LOAD);
    assert_int_equal(ledger_pay_account(&b.c, 0, 0, 1000), 1100);
    close_bench(&b);
}

/* ---- what waits for what -------------------------------------------------------------------- */

static void a_note_comes_before_what_is_gathered_after_it(void **state)
{
    struct bench b;
    uint64_t waited = 0;

    (void)state;
    open_bench(&b);
    begin(&b, 900, 1200);
    ledger_touch(&b.c, 0, paddr_of(AT), 8, MEM_LOAD); /* 1000 */
    struct ledger_note *n = ledger_note(&b.c, 0, LEDGER_WAIT);
    n->wait.until = 1040;
    n->wait.counts = &waited;
    n = ledger_note(&b.c, 0, LEDGER_WAIT); /* that is over by then */
    n->wait.until = 1010;
    n->wait.counts = &waited;
    n = ledger_note(&b.c, 0, LEDGER_ASK); /* 1055 */
    n->ask.line = paddr_of(AT);
    n->ask.cores[0] = 6;
    n->ask.cores[1] = 0;
    n->ask.bytes = 64;
    ledger_instructions(&b.c, 0, 4);                   /* 1059 */
    ledger_note(&b.c, 0, LEDGER_DATA);                 /* 1200 */
    ledger_touch(&b.c, 0, paddr_of(AT), 8, MEM_STORE); /* 1300 */
    ledger_note(&b.c, 0, LEDGER_DATA);                 /* they have long been there */
    ledger_note(&b.c, 0, LEDGER_DROP)->line = paddr_of(AT + 64);
    assert_int_equal(ledger_pay_account(&b.c, 0, 0, 1200), 1303);
    says(
        &b,
        "0 loads 100000, 0 asks about 100000, 0 asks 6, 0 runs 4, 0 stores 100000, 0 drops 100040");
    assert_int_equal(waited, 40);
    close_bench(&b);
}

static void entries_that_come_along_are_there_with_the_data(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    begin(&b, 500, 1000);
    ledger_note(&b.c, 0, LEDGER_ALONG)->bytes = 128;
    ledger_touch(&b.c, 0, paddr_of(AT), 8, MEM_LOAD);
    assert_int_equal(ledger_pay_account(&b.c, 0, 0, 1000), 1100);
    says(&b, "0 gets along 80, 0 loads 100000");
    close_bench(&b);
}

static sim_cycle takes_7(void *self, unsigned core, void *what, sim_cycle now)
{
    struct bench *b = self;

    (void)what;
    note(b, core, "handles", 7);
    return now + 7;
}

static void what_is_known_late_may_come_first(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    begin(&b, 1000, 1000); /* of another access: it is left alone */
    ledger_touch(&b.c, 0, paddr_of(AT), 8, MEM_LOAD);
    begin(&b, 1000, 2000);
    ledger_note(&b.c, 0, LEDGER_DROP)->line = paddr_of(AT);
    ledger_touch(&b.c, 0, paddr_of(AT + 64), 8, MEM_LOAD);
    call(&b, ledger_note_first(&b.c, 0, LEDGER_CALL), takes_7);
    ledger_note_first(&b.c, 0, LEDGER_DATA);
    assert_int_equal(ledger_pay_account(&b.c, 0, 0, 1000), 2000 + 7 + 3 + 100);
    says(&b, "0 loads 100000, 0 handles 7, 0 drops 100000, 0 loads 100040");
    close_bench(&b);
}

/* Core 1 has gathered for a check what core 0 has for a synchronisation, and is paid first or last:
 * whose time it is was said when it was gathered. */
static void time_is_of_the_part_that_it_was_gathered_for(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    ledger_part(&b.c, PART_SYNC);
    ledger_instructions(&b.c, 0, 5);
    ledger_note(&b.c, 0, LEDGER_DATA);
    ledger_instructions(&b.c, 0, 8);
    ledger_part(&b.c, PART_CHECK);
    ledger_instructions(&b.c, 1, 3);
    ledger_pay_account(&b.c, 0, 0, 1000);
    ledger_part(&b.c, PART_HEAP);
    ledger_pay_account(&b.c, 1, 1, 1000);
    assert_int_equal(b.c.counts.cycles[PART_SYNC][TIME_INSTRUCTIONS], 5 + 8);
    assert_int_equal(b.c.counts.cycles[PART_CHECK][TIME_INSTRUCTIONS], 3);
    assert_int_equal(b.c.counts.cycles[PART_HEAP][TIME_INSTRUCTIONS], 0);
    close_bench(&b);
}

/* ---- parts that act as they are called ------------------------------------------------------ */

static void an_act_is_made_at_once_or_gathered(void **state)
{
    const unsigned account = ledger_account(HANDLERS, 2);
    struct bench b;

    (void)state;
    open_bench(&b);
    assert_int_equal(ledger_exec(&b.c, 2, 5, 10), 15);
    assert_int_equal(ledger_mem(&b.c, 2, paddr_of(AT), 8, MEM_LOAD, 15), 115);
    assert_int_equal(ledger_drop(&b.c, 2, paddr_of(AT), 115), 118);
    says(&b, "2 runs 5, 2 loads 100000, 2 drops 100000");
    ledger_gather(&b.c, account);
    assert_int_equal(ledger_exec(&b.c, 2, 5, 10), 10);
    assert_int_equal(ledger_exec(&b.c, 2, 1, 10), 10);
    assert_int_equal(ledger_mem(&b.c, 2, paddr_of(AT), 8, MEM_LOAD, 10), 10);
    assert_int_equal(ledger_mem(&b.c, 1, paddr_of(AT), 8, MEM_STORE, 10), 10); /* by another core */
    assert_int_equal(ledger_drop(&b.c, 2, paddr_of(AT), 10), 10);
    assert_int_equal(ledger_exec(&b.c, 2, 2, 10), 10);
    ledger_gathered(&b.c);
    says(&b, "");
    assert_int_equal(ledger_pay_account(&b.c, account, 2, 1000), 1000 + 6 + 100 + 100 + 3 + 2);
    says(&b, "2 runs 6, 2 loads 100000, 1 stores 100000, 2 drops 100000, 2 runs 2");
    close_bench(&b);
}

/* A handler of an access that is being paid for: what it does in one step is paid in the middle. */
static sim_cycle handles(void *self, unsigned core, void *what, sim_cycle now)
{
    struct bench *b = self;

    (void)what;
    ledger_gather(&b->c, ledger_account(HANDLERS, core));
    ledger_exec(&b->c, core, 3, now);
    ledger_mem(&b->c, core, paddr_of(AT + 128), 16, MEM_LOAD, now);
    ledger_gathered(&b->c);
    return ledger_pay_account(&b->c, ledger_account(HANDLERS, core), core, now);
}

static void accounts_are_paid_apart(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    begin(&b, 1000, 1000);
    ledger_touch(&b.c, 0, paddr_of(AT), 8, MEM_LOAD);
    call(&b, ledger_note(&b.c, 0, LEDGER_CALL), handles);
    ledger_touch(&b.c, 0, paddr_of(AT + 64), 8, MEM_STORE);
    assert_int_equal(ledger_pay_account(&b.c, 0, 0, 1000), 1303);
    says(&b, "0 loads 100000, 0 runs 3, 0 loads 100080, 0 stores 100040");
    close_bench(&b);
}

/* The accesses start together; they count as long as they take one after the other. */
static void another_core_may_do_it_beside_the_program(void **state)
{
    const unsigned account = ledger_account(HANDLERS, 0);
    struct bench b;

    (void)state;
    open_bench(&b);
    ledger_gather(&b.c, account);
    ledger_exec(&b.c, 0, 3, 1000);
    ledger_mem(&b.c, 0, paddr_of(AT), 8, MEM_LOAD, 1000);
    ledger_mem(&b.c, 0, paddr_of(AT + 64), 8, MEM_LOAD, 1000);
    ledger_exec(&b.c, 0, 2, 1000);
    ledger_gathered(&b.c);
    assert_int_equal(ledger_pay_beside(&b.c, account, 3, 1000), 3 + 100 + 100 + 2);
    says(&b, "3 loads 100000, 3 loads 100040");
    assert_int_equal(ledger_pay_account(&b.c, account, 0, 1000), 1000);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_run_beside_their_data),
        cmocka_unit_test(what_comes_after_others_waits_for_them),
        cmocka_unit_test(a_note_comes_before_what_is_gathered_after_it),
        cmocka_unit_test(entries_that_come_along_are_there_with_the_data),
        cmocka_unit_test(what_is_known_late_may_come_first),
        cmocka_unit_test(time_is_of_the_part_that_it_was_gathered_for),
        cmocka_unit_test(an_act_is_made_at_once_or_gathered),
        cmocka_unit_test(accounts_are_paid_apart),
        cmocka_unit_test(another_core_may_do_it_beside_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
