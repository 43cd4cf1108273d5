/* t_machines.c - do the machines of papers take what the table in docs/machine.md, "Machines of
 * papers", says? Each preset's own rows, one access at a time, nothing in the way. */
#include "tests/coherence/bench.h"

#include <stdio.h>

#include "sim/session/machines.def"

struct setting {
    const char *key, *value;
};
#define AS_SETTING(key, value, ...) {key, value},
static const struct setting opteron64[] = {MACHINE_OPTERON64(AS_SETTING){NULL, NULL}};
static const struct setting xeon32[] = {MACHINE_XEON32(AS_SETTING){NULL, NULL}};

#define A 0x100000 /* of one page; B and C are of others */
#define B 0x200000
#define C 0x300000

static unsigned value(const struct setting *s, const char *key)
{
    while (s->key && strcmp(s->key, key) != 0)
        s++;
    if (!s->key)
        fail_msg("no row %s", key);
    return (unsigned)strtoul(s->value, NULL, 10);
}

/* The rows that caches and directory have; the bench is the memory. */
static void open_machine(struct bench *b, const struct setting *s)
{
    char settings[2000] = "";

    for (const struct setting *row = s; row->key; row++)
        if (strchr(row->key, '.') && strncmp(row->key, "memory.", 7) != 0 &&
            strncmp(row->key, "core.", 5) != 0)
            snprintf(settings + strlen(settings), sizeof settings - strlen(settings), "%s=%s ",
                     row->key, row->value);
    const struct bench_options o = {
        .cores = value(s, "cores"),
        .memory = value(s, "memory.fixed.latency") - value(s, "l3.latency"),
    };
    if (!bench_open(b, o, settings))
        fail_msg("%s", b->e.text);
}

static void takes_at(struct bench *b, unsigned core, sim_addr addr, enum mem_cmd cmd,
                     sim_cycle cycles, int line)
{
    const sim_cycle start = b->now;
    const struct coh_result r = bench_access(b, core, addr, cmd);

    if (r.done - start != cycles)
        fail_msg("line %d: %llu cycles (%s), not %llu", line, (unsigned long long)(r.done - start),
                 mem_level_text[r.level], (unsigned long long)cycles);
}
#define takes(b, core, addr, cmd, cycles) takes_at(b, core, addr, cmd, cycles, __LINE__)

/* Core `owner` modifies A, then `core` loads it. */
static void modified_takes_at(struct bench *b, unsigned owner, unsigned core, sim_cycle cycles,
                              int line)
{
    bench_access(b, owner, A, MEM_STORE);
    takes_at(b, core, A, MEM_LOAD, cycles, line);
}
#define modified_takes(b, owner, core, cycles) modified_takes_at(b, owner, core, cycles, __LINE__)

/* Until C is out of core 0's L2, in the L3: lines of its set, as many as ways. */
static void push_out(struct bench *b, sim_addr way, unsigned ways)
{
    for (unsigned i = 1; i <= ways; i++)
        bench_access(b, 0, C + i * way, MEM_LOAD);
    line_is(b, 0, LEVEL_L2, C, INVALID);
}

static void test_opteron64_takes_what_its_page_says(void **unused)
{
    struct bench b;

    (void)unused;
    open_machine(&b, opteron64);
    takes(&b, 0, A, MEM_LOAD, 150);
    takes(&b, 0, A, MEM_LOAD, 4);
    takes(&b, 1, A, MEM_LOAD, 21); /* the pair's L2 */
    modified_takes(&b, 0, 2, 98);
    takes(&b, 2, A, MEM_STORE, 268); /* shared: all nodes are asked */
    modified_takes(&b, 0, 8, 178);   /* the package's other node */
    modified_takes(&b, 0, 16, 188);  /* another package */
    modified_takes(&b, 0, 24, 268);  /* its other node */
    takes(&b, 0, B, MEM_LOAD, 150);
    takes(&b, 16, B + 64, MEM_LOAD, 240);
    takes(&b, 24, B + 128, MEM_LOAD, 320);
    bench_access(&b, 0, C, MEM_LOAD);
    push_out(&b, 128 << 10, 16);
    takes(&b, 0, C, MEM_LOAD, 57);
    bench_close(&b);
}

static void test_xeon32_takes_what_its_page_says(void **unused)
{
    struct bench b;

    (void)unused;
    open_machine(&b, xeon32);
    takes(&b, 0, A, MEM_LOAD, 156);
    takes(&b, 0, A, MEM_LOAD, 4);
    modified_takes(&b, 0, 1, 65);
    takes(&b, 1, A, MEM_STORE, 65); /* shared in the node only */
    modified_takes(&b, 0, 8, 245);
    takes(&b, 0, A, MEM_STORE, 425); /* shared with another: all are asked */
    modified_takes(&b, 0, 16, 245);
    modified_takes(&b, 0, 24, 425); /* two links */
    takes(&b, 0, B, MEM_LOAD, 156);
    takes(&b, 16, B + 64, MEM_LOAD, 336);
    takes(&b, 24, B + 128, MEM_LOAD, 516);
    bench_access(&b, 0, C, MEM_LOAD);
    for (unsigned i = 1; i <= 8; i++) /* out of the L1 */
        bench_access(&b, 0, C + i * 4096 + (i << 15), MEM_LOAD);
    line_is(&b, 0, LEVEL_L1, C, INVALID);
    takes(&b, 0, C, MEM_LOAD, 12);
    push_out(&b, 32 << 10, 8);
    takes(&b, 0, C, MEM_LOAD, 30);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opteron64_takes_what_its_page_says),
        cmocka_unit_test(test_xeon32_takes_what_its_page_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
