/* fake_caches.c - see the header. A private level, inclusive in a shared one. */
#include "tests/policy/radish/fake_caches.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

static struct fake_line *find(struct fake_line *set, unsigned n, uint64_t line)
{
    for (unsigned i = 0; i < n; i++)
        if (set[i].line == line + 1)
            return &set[i];
    return NULL;
}

static struct fake_line *in_l1(struct fake *f, unsigned core, uint64_t line)
{
    return find(f->l1[core], f->private_lines, line);
}

static struct fake_line *in_l3(struct fake *f, uint64_t line)
{
    return find(f->l3, f->shared_lines, line);
}

static void note(struct fake *f, enum line_what what, enum mem_level level, unsigned core,
                 uint64_t line, bool dirty)
{
    struct line_queue *q = &f->lines;

    q->at = xgrow(q->at, q->n, &q->cap, sizeof *q->at);
    q->at[q->n++] = (struct line_event){.addr = paddr_of(line * f->line),
                                        .what = (uint8_t)what,
                                        .level = (uint8_t)level,
                                        .core = (uint8_t)core,
                                        .by = (uint8_t)f->by,
                                        .dirty = dirty};
}

static bool leave_l1(struct fake *f, unsigned core, uint64_t line, enum line_what what)
{
    struct fake_line *l = in_l1(f, core, line), *shared = in_l3(f, line);

    if (!l)
        return false;
    note(f, what, LEVEL_L1, core, line, l->dirty);
    if (shared && l->dirty)
        shared->dirty = true;
    l->line = 0;
    return true;
}

static void leave_l3(struct fake *f, unsigned by, struct fake_line *l)
{
    const uint64_t line = l->line - 1;

    for (unsigned core = 0; core < f->cores; core++)
        if (leave_l1(f, core, line, LINE_INVALIDATE))
            f->lines.at[f->lines.n - 1].recalled = true;
    note(f, LINE_EVICT, LEVEL_L3, by, line, l->dirty);
    l->line = 0;
}

static struct fake_line *room_l1(struct fake *f, unsigned core)
{
    struct fake_line *l = find(f->l1[core], f->private_lines, UINT64_MAX); /* free */

    if (l)
        return l;
    l = &f->l1[core][rng_below(&f->rng, f->private_lines)];
    leave_l1(f, core, l->line - 1, LINE_EVICT);
    return l;
}

static struct fake_line *room_l3(struct fake *f, unsigned by)
{
    struct fake_line *l = find(f->l3, f->shared_lines, UINT64_MAX);

    if (l)
        return l;
    l = &f->l3[rng_below(&f->rng, f->shared_lines)];
    leave_l3(f, by, l);
    return l;
}

static void lose_some(struct fake *f, unsigned by)
{
    struct fake_line *l = &f->l3[rng_below(&f->rng, f->shared_lines)];

    if (l->line && rng_chance(&f->rng, f->loss, 1000))
        leave_l3(f, by, l);
}

static enum mem_level fetch(struct fake *f, unsigned core, uint64_t line)
{
    enum mem_level level = LEVEL_L3;

    if (!in_l3(f, line)) {
        const bool history = line * f->line - f->histories < f->history_bytes;
        level = history ? LEVEL_L3 : LEVEL_MEMORY;
        f->memory += !history;
        *room_l3(f, core) = (struct fake_line){line + 1, false};
    }
    *room_l1(f, core) = (struct fake_line){line + 1, false};
    note(f, LINE_FILL, LEVEL_L1, core, line, false);
    return level;
}

static enum mem_level touch(struct fake *f, unsigned core, uint64_t line, bool write, bool *asked)
{
    enum mem_level level = LEVEL_L1;

    f->by = core;
    lose_some(f, core);
    f->accesses++;
    *asked = false;
    for (unsigned other = 0; other < f->cores; other++) {
        const struct fake_line *l = other == core ? NULL : in_l1(f, other, line);
        if (!l)
            continue;
        if (write)
            leave_l1(f, other, line, LINE_INVALIDATE);
        else if (l->dirty)
            note(f, LINE_DOWNGRADE, LEVEL_L1, other, line, true);
        *asked |= write || l->dirty;
    }
    if (!in_l1(f, core, line)) {
        level = fetch(f, core, line);
    }
    in_l1(f, core, line)->dirty |= write;
    return level;
}

static sim_cycle latency(enum mem_level level)
{
    return level == LEVEL_L1 ? FAKE_L1 : level == LEVEL_L3 ? FAKE_L3 : FAKE_MEMORY;
}

/* ---- for policies --------------------------------------------------------------------------- */

sim_cycle fake_exec(void *host, unsigned core, unsigned instructions, sim_cycle now)
{
    (void)host;
    (void)core;
    return now + instructions;
}

/* Line by line, as a machine does. */
sim_cycle fake_mem(void *host, unsigned core, struct paddr at, unsigned bytes, enum mem_cmd cmd,
                   sim_cycle now)
{
    struct fake *f = host;
    const sim_addr a = at.at, last = a + bytes - 1;
    bool asked;

    assert(bytes && (a / f->line == last / f->line || a - f->histories >= f->history_bytes));
    f->metadata++;
    if (f->meanwhile && f->told_access)
        f->meanwhile(f->arg);
    for (uint64_t line = a / f->line; line <= last / f->line; line++)
        now += latency(touch(f, core, line, cmd != MEM_LOAD, &asked));
    return now;
}

static void fake_histories(void *caches, struct paddr from, uint64_t bytes)
{
    struct fake *f = caches;

    f->histories = from.at;
    f->history_bytes = bytes;
}

static enum mem_level fake_where(const void *caches, unsigned core, struct paddr at)
{
    struct fake *f = (struct fake *)(uintptr_t)caches;

    if (in_l1(f, core, at.at / f->line))
        return LEVEL_L1;
    return in_l3(f, at.at / f->line) ? LEVEL_L3 : LEVEL_NONE;
}

static sim_cycle fake_drop(void *caches, unsigned core, struct paddr at, uint8_t *level,
                           sim_cycle now)
{
    struct fake *f = caches;
    const uint64_t line = at.at / f->line;
    struct fake_line *shared = in_l3(f, line);

    *level = shared ? LEVEL_L3 : LEVEL_NONE;
    f->drops += shared != NULL;
    for (unsigned c = 0; c < f->cores; c++) {
        struct fake_line *l = in_l1(f, c, line);
        if (l)
            l->line = 0;
        *level = l ? LEVEL_L1 : *level;
    }
    if (shared)
        shared->line = 0;
    (void)core;
    return shared ? now + latency((enum mem_level) * level) : now;
}

static sim_cycle fake_ask(void *host, unsigned core, struct paddr line, const uint64_t cores[2],
                          unsigned bytes, sim_cycle now)
{
    struct fake *f = host;

    assert((cores[0] | cores[1]) && line.at % f->line == 0 && bytes);
    assert(!(cores[core / 64] >> core % 64 & 1));
    (void)core;
    (void)line;
    (void)cores;
    f->asks++;
    f->asked_bytes += bytes;
    return now + 15;
}

static void fake_piggyback(void *caches, uint64_t bytes)
{
    struct fake *f = caches;

    f->piggybacked += bytes;
}

static sim_cycle fake_stop(void *host, unsigned core, sim_cycle now)
{
    struct fake *f = host;

    (void)core;
    f->stops++;
    return now;
}

static sim_cycle fake_go_on(void *host, unsigned core, sim_cycle since, sim_cycle now)
{
    struct fake *f = host;

    (void)core;
    assert(now >= since);
    f->stopped += now - since;
    return now;
}

/* ---- life ----------------------------------------------------------------------------------- */

static const struct caches_type fake_caches_type = {.histories = fake_histories,
                                                    .drop = fake_drop,
                                                    .piggyback = fake_piggyback,
                                                    .where = fake_where};

void fake_open(struct fake *f, uint64_t seed)
{
    *f = (struct fake){.line = 64, .cores = 2, .private_lines = 4, .shared_lines = 12, .loss = 20};
    rng_seed(&f->rng, seed);
    f->machine = (struct policy_machine){.cores = f->cores,
                                         .line = f->line,
                                         .pages = &f->pages,
                                         .caches = {&fake_caches_type, f},
                                         .ask = fake_ask,
                                         .stop = fake_stop,
                                         .go_on = fake_go_on};
}

void fake_mix(struct fake *f, uint64_t seed)
{
    const struct pages_params p = {PAGES_FIRST_TOUCH, 4096, UINT64_C(1) << 30, seed};
    struct err e = {0};

    f->stats = stats_new();
    if (seed && pages_init(&f->pages, &p, stats_root(f->stats), &e))
        die("%s", e.text);
}

void fake_close(struct fake *f)
{
    pages_free(&f->pages);
    stats_free(f->stats);
    free(f->lines.at);
}

struct mem_outcome fake_data(struct fake *f, unsigned core, sim_addr a, bool write, sim_cycle now)
{
    struct mem_outcome out = {.began = now};

    out.level = (uint8_t)touch(f, core, pages_physical(&f->pages, vaddr_of(a)).at / f->line, write,
                               &out.asked);
    return out;
}

sim_cycle fake_tell(struct fake *f, struct checker *c, unsigned core, sim_cycle now)
{
    bool owes[MAX_CORES]; /* it is asked to pay anyway */

    do {
        checker_lines_told(c, &f->lines, core, owes);
        f->lines.n = 0;
        now = checker_line_paid(c, core, now);
    } while (f->lines.n);
    return now;
}

void fake_lose(struct fake *f, unsigned by, struct paddr physical)
{
    struct fake_line *l = in_l3(f, physical.at / f->line);

    f->by = by;
    if (l)
        leave_l3(f, by, l);
}

void fake_evict(struct fake *f, unsigned core, struct paddr physical)
{
    f->by = core;
    leave_l1(f, core, physical.at / f->line, LINE_EVICT);
}

sim_cycle fake_step(struct fake *f, struct checker *c, const struct event *ev, unsigned core,
                    sim_cycle now)
{
    const bool outer = f->told_access;
    struct mem_outcome out = {.began = now};

    f->told_access = false;
    if (event_is_access(ev)) {
        const sim_addr last = ev->addr + ev->size - 1;
        for (sim_addr a = ev->addr; a <= last; a = (a | (f->line - 1)) + 1)
            out = fake_data(f, core, a, event_writes(ev), now);
        out.asked &= ev->addr / f->line == last / f->line;
        now += FAKE_L1;
    }
    now = fake_tell(f, c, core, now);
    f->told_access = true;
    now = checker_step(c, ev, core, out, now);
    now = fake_tell(f, c, core, now);
    f->told_access = outer;
    return now;
}
