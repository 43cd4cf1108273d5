/* bench.h - caches and directory over a memory of constant latency, for tests: one access at a
 * time, what it took, which messages went. */
#ifndef LARDSIM_COH_BENCH_H
#define LARDSIM_COH_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coherence/coherence.h"
#include "tests/coherence/check.h"
#include "coherence/network.h"
#include "tests/frame/number.h"

/* ---- a memory of constant latency that remembers its writes --------------------------------- */

struct bench_memory {
    sim_cycle latency;
    uint64_t reads, writes;
    sim_addr last_write;
    sim_cycle last_write_at;
    struct mem_request queue[256]; /* reads not answered yet, where answers come later */
    size_t n;
};

static inline sim_cycle bench_request(void *self, const struct mem_request *r)
{
    struct bench_memory *m = self;

    if (r->write) {
        m->writes++;
        m->last_write = r->addr.at;
        m->last_write_at = r->at;
        return CYCLE_NEVER;
    }
    m->reads++;
    return r->at + m->latency;
}

static inline sim_cycle bench_request_later(void *self, const struct mem_request *r)
{
    struct bench_memory *m = self;

    bench_request(self, r);
    if (!r->write) {
        assert_true(m->n < 256);
        m->queue[m->n++] = *r;
    }
    return CYCLE_NEVER;
}

static const struct memory_type bench_memory_now = {.name = "bench", .request = bench_request};
static const struct memory_type bench_memory_later = {
    .name = "bench-later", .request = bench_request_later, .later = true};

/* ---- the bench ------------------------------------------------------------------------------ */

struct bench {
    struct config *config;
    struct stats *stats;
    struct memory memory;
    struct bench_memory store;
    struct coherence *c;
    struct err e;
    sim_cycle now; /* start of the next access */
    char said[1000];
};

struct bench_options {
    unsigned cores;
    bool contention, ce, line_events, later;
    uint64_t page;    /* 0: 4 KiB */
    sim_cycle memory; /* its part of a read; 0: 85, so that a read takes 120 */
    struct coh_host host;
};

/* `settings`: assignments, one by one, separated by spaces. False: refused; see b->e. */
static inline bool bench_open(struct bench *b, struct bench_options o, const char *settings)
{
    char *all = strdup(settings), *rest = NULL;

    memset(b, 0, sizeof *b);
    b->config = config_new(NULL);
    b->stats = stats_new();
    b->store.latency = o.memory ? o.memory : 85;
    b->memory = (struct memory){.type = o.later ? &bench_memory_later : &bench_memory_now,
                                .self = &b->store};
    for (char *s = strtok_r(all, " ", &rest); s; s = strtok_r(NULL, " ", &rest))
        if (config_set(b->config, s, &b->e))
            fail_msg("%s", b->e.text);
    free(all);
    const struct coh_env env = {.stats = b->stats,
                                .config = b->config,
                                .memory = &b->memory,
                                .host = o.host,
                                .cores = o.cores ? o.cores : 4,
                                .line = 64,
                                .page = o.page,
                                .contention = o.contention,
                                .ce = o.ce};
    b->c = coherence_new(&env, &b->e);
    if (b->c && o.line_events)
        coherence_listen(b->c, (1 << LINE_WHATS) - 1);
    if (b->c && config_check_names(b->config, &b->e))
        fail_msg("%s", b->e.text);
    b->now = 1000;
    return b->c != NULL;
}

static inline void bench_close(struct bench *b)
{
    if (b->c && stats_check(b->stats, &b->e))
        fail_msg("%s", b->e.text);
    coherence_free(b->c);
    stats_free(b->stats);
    config_free(b->config);
}

/* A value from the table as it is written, so that vectors can be read, too. */
static inline uint64_t bench_value_in(const char *csv, const char *name)
{
    const size_t n = strlen(name);

    for (const char *line = csv; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (!strncmp(line, name, n) && line[n] == ',')
            return strtoull(line + n + 1, NULL, 10);
    fail_msg("no statistic %s", name);
    return 0;
}

static inline char *bench_csv(const struct bench *b)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    stats_csv(b->stats, f);
    fclose(f);
    return text;
}

static inline uint64_t bench_value(const struct bench *b, const char *name)
{
    char *csv = bench_csv(b);
    const uint64_t v = bench_value_in(csv, name);

    free(csv);
    return v;
}

#define bench_counts(b, name, n) number_is(name, bench_value(b, name), n)

/* What messages `after` has more than `before`: "request 1/8, data 1/66" (messages/bytes). */
static inline void bench_messages(struct bench *b, const char *before, const char *after,
                                  const char *traffic)
{
    b->said[0] = '\0';
    for (size_t m = 0; m < MSGS; m++) {
        char name[100];
        snprintf(name, sizeof name, "network.messages.%s.%s", traffic, msg_text[m]);
        const uint64_t n = bench_value_in(after, name) - bench_value_in(before, name);
        snprintf(name, sizeof name, "network.bytes.%s.%s", traffic, msg_text[m]);
        const uint64_t bytes = bench_value_in(after, name) - bench_value_in(before, name);
        const size_t used = strlen(b->said);
        if (n)
            snprintf(b->said + used, sizeof b->said - used, "%s%s %llu/%llu", used ? ", " : "",
                     msg_text[m], (unsigned long long)n, (unsigned long long)bytes);
    }
}

/* One access, long after the one before; b->said becomes its messages. */
static inline struct coh_result bench_access(struct bench *b, unsigned core, sim_addr addr,
                                             enum mem_cmd cmd)
{
    char *before = bench_csv(b);
    const struct coh_result r =
        coherence_access(b->c, core, paddr_of(addr), cmd, TRAFFIC_DATA, b->now);
    char *after = bench_csv(b);

    bench_messages(b, before, after, "data");
    free(before);
    free(after);
    b->now += 10000;
    coherence_check(b->c);
    return r;
}

/* The access takes exactly so long, is answered there, and sends exactly that. */
static inline void bench_expect_at(struct bench *b, unsigned core, sim_addr addr, enum mem_cmd cmd,
                                   sim_cycle cycles, enum mem_level level, const char *messages,
                                   const char *file, int line)
{
    const sim_cycle start = b->now;
    const struct coh_result r = bench_access(b, core, addr, cmd);

    if (r.done - start != cycles || r.level != level || strcmp(b->said, messages) ||
        r.left_core != (level >= LEVEL_L3))
        fail_msg("%s:%d: %llu cycles, %s, %s; not %llu, %s, %s", file, line,
                 (unsigned long long)(r.done - start), mem_level_text[r.level], b->said,
                 (unsigned long long)cycles, mem_level_text[level], messages);
}
#define bench_expect(b, core, addr, cmd, cycles, level, messages)                                  \
    bench_expect_at(b, core, addr, cmd, cycles, level, messages, __FILE__, __LINE__)

/* What coherence_state calls them; the last two, with INVALID, are those of a line in the L3. */
enum line_state {
    MODIFIED = 'M',
    EXCLUSIVE = 'E',
    SHARED = 'S',
    INVALID = 'I',
    L3_CLEAN = 'C',
    L3_DIRTY = 'D'
};

static inline void line_is_at(struct bench *b, unsigned core, enum mem_level level, sim_addr addr,
                              enum line_state expected, const char *file, int line)
{
    const char is = coherence_state(b->c, core, level, paddr_of(addr));

    if (is != (char)expected)
        fail_msg("%s:%d: to core %u, the %s has the line of %llx in state %c, not %c", file, line,
                 core, mem_level_text[level], (unsigned long long)addr, is, (char)expected);
}
#define line_is(b, core, level, addr, state)                                                       \
    line_is_at(b, core, level, addr, state, __FILE__, __LINE__)

/* Runs a probe without contention, and with it: nothing is in the way, so nothing changes. */
static inline void bench_both(void (*probe)(struct bench *b), const char *settings)
{
    for (int contention = 0; contention < 2; contention++) {
        struct bench b;
        if (!bench_open(&b, (struct bench_options){.contention = contention}, settings))
            fail_msg("%s", b.e.text);
        probe(&b);
        bench_close(&b);
    }
}

#endif
