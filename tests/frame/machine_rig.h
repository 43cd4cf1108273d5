/* machine_rig.h - a machine that a policy in software can be asked on one event at a time: it has
 * no caches, an instruction takes a cycle and an access 100, and all that is asked of it is kept in
 * words (charges.h).
 *
 * Steps go by the policy's table; those of a clock in software begin with "clocks", those of the
 * lists of blocks with "heap" (docs/policies.md, "Costs that all have"). Places have the names of a
 * layout that the test gives. */
#ifndef LARDSIM_MACHINE_RIG_H
#define LARDSIM_MACHINE_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cost/clocks.h"
#include "policy/hb/hb.h"
#include "policy/cost/metadata.h"
#include "policy/cost/inline_heap.h"
#include "tests/frame/charges.h"

/* How a policy lays its metadata out. A place without a name is "metadata+16", "block+16". */
struct rig_places {
    const struct layout *layout; /* of the program's objects; NULL: the default */
    bool inlined;                /* policies may have metadata beside fields */
    unsigned each;               /* bytes for a granule of 4 bytes */
    struct layout_field {
        unsigned at, bytes;
        const char *name;
    } field[6]; /* in them, as "X's lock" */
    struct layout_name {
        uint64_t at;
        const char *name;
    } granule[6], block[8]; /* of an address of the program; in what has come from the heap */
};

struct machine_rig {
    struct policy_machine machine;
    struct pages pages; /* see machine_rig_pages */
    struct stats *stats;
    struct budget budget;
    struct policy_env env; /* of a policy; hb is the test's own */
    uint64_t number, instructions, accesses;
    struct charges asked;
    const char *counts; /* where the statistics have the policy's; default: at the root */
    struct rig_places layout;
    /* Called in the middle of each access, if any. */
    void (*meanwhile)(struct machine_rig *m, unsigned core, sim_addr a);
    void *arg;
};

/* ---- places --------------------------------------------------------------------------------- */

static inline void machine_place_in_metadata(const struct machine_rig *m, uint64_t at,
                                             unsigned bytes, char *to, size_t room)
{
    const struct rig_places *l = &m->layout;
    const uint64_t granule = l->each ? at / l->each * 4 : 0, in = l->each ? at % l->each : at;
    char field[32] = "", whole[40];

    if (in)
        snprintf(field, sizeof field, "+%u", (unsigned)in);
    for (size_t i = 0; i < ARRAY_SIZE(l->field); i++)
        if (l->field[i].bytes == bytes && l->field[i].at == in)
            snprintf(field, sizeof field, "'s %s", l->field[i].name);
    snprintf(whole, sizeof whole, "0x%llx", (unsigned long long)granule);
    for (size_t i = 0; i < ARRAY_SIZE(l->granule); i++)
        if (l->granule[i].name && l->granule[i].at == granule)
            snprintf(whole, sizeof whole, "%s", l->granule[i].name);
    if (l->each)
        snprintf(to, room, "%s%s", whole, field);
    else
        snprintf(to, room, "metadata+%llu", (unsigned long long)at);
}

static inline void machine_place_in_block(const struct machine_rig *m, uint64_t at, char *to,
                                          size_t room)
{
    const struct layout_name *near = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(m->layout.block); i++) {
        const struct layout_name *b = &m->layout.block[i];
        if (b->name && b->at <= at && (!near || near->at < b->at))
            near = b;
    }
    const unsigned long long in = at - (near ? near->at : 0);
    snprintf(to, room, in ? "%s+%llu" : "%s", near ? near->name : "block", in);
}

/* "list of 64": where a core finds its free blocks of 64 bytes; "page's rest": what it has left of
 * a page; "heap's top": of all pages. */
static inline void machine_place_of_heap(uint64_t at, unsigned core, char *to, size_t room)
{
    enum { CORE = 512, REST = 320 };
    char whose[16] = "";

    if (at / CORE != core)
        snprintf(whose, sizeof whose, "core %u's ", (unsigned)(at / CORE));
    if (at % CORE == REST)
        snprintf(to, room, "%spage's rest", whose);
    else
        snprintf(to, room, "%slist of %llu", whose, 16ULL << at % CORE / 8);
}

/* As docs/runtime.md draws it; a thread's own epoch and its bitmap of classes are beside its
 * clock's word. */
static inline void machine_place_of_clocks(uint64_t at, char *to, size_t room)
{
    const uint64_t threads = UINT64_C(1) << 21, heap = UINT64_C(1) << 40;

    if (at >= heap)
        snprintf(to, room, "clocks+%llu", (unsigned long long)(at - heap));
    else if (at < threads)
        snprintf(to, room, "clocks' %s", at == 0 ? "end" : at % 16 ? "fresh" : "free");
    else
        snprintf(to, room, "thread %llu's %s", (unsigned long long)(at - threads) / 64,
                 at % 64 == 0    ? "clock word"
                 : at % 64 == 16 ? "epoch"
                 : at % 64 == 24 ? "classes' word"
                                 : "classes");
}

static inline void machine_place(const struct machine_rig *m, unsigned core, sim_addr a,
                                 unsigned bytes, char *to, size_t room)
{
    const uint64_t clocks = UINT64_C(1) << 57, words = METADATA_HEAP - (UINT64_C(1) << 20);

    if (a >= METADATA_HEAP)
        machine_place_in_block(m, a - METADATA_HEAP, to, room);
    else if (a >= words)
        machine_place_of_heap(a - words, core, to, room);
    else if (a == words - 64)
        snprintf(to, room, "heap's top");
    else if (a >= METADATA_FIXED)
        machine_place_in_metadata(m, a - METADATA_FIXED, bytes, to, room);
    else if (a >= clocks)
        machine_place_of_clocks(a - clocks, to, room);
    else if (a >= INLINE_HEAP)
        snprintf(to, room, "inflated+%llu", (unsigned long long)(a - INLINE_HEAP));
    else
        snprintf(to, room, "0x%llx", (unsigned long long)a);
}

/* ---- the machine ---------------------------------------------------------------------------- */

static inline sim_cycle machine_exec(void *host, unsigned core, unsigned n, sim_cycle now)
{
    struct machine_rig *m = host;

    if (n == 0)
        die("machine_rig: no instructions on core %u", core);
    m->instructions += n;
    charges_instructions(&m->asked, core, n);
    return now + n;
}

static inline sim_cycle machine_mem(void *host, unsigned core, struct paddr a, unsigned bytes,
                                    enum mem_cmd cmd, sim_cycle now)
{
    struct machine_rig *m = host;
    char place[80];

    if (bytes == 0 || paddr_within(a, m->machine.line) + bytes > m->machine.line)
        die("machine_rig: %u bytes at 0x%llx", bytes, (unsigned long long)a.at);
    m->accesses++;
    machine_place(m, core, a.at, bytes, place, sizeof place);
    charges_access(&m->asked, core, cmd, place, bytes);
    if (m->meanwhile)
        m->meanwhile(m, core, a.at);
    return now + 100;
}

static inline uint64_t machine_counted(const void *rig, const char *step)
{
    static const char clocks[] = "clocks ";
    const struct machine_rig *m = rig;
    const bool clock = !strncmp(step, clocks, strlen(clocks));
    char *name = xasprintf("%s%s.steps.%s", m->counts ? m->counts : "", clock ? "clocks" : "cost",
                           clock ? step + strlen(clocks) : step);
    uint64_t n;

    if (!stats_value(m->stats, name, &n))
        n = UINT64_MAX; /* the heap's are not counted */
    free(name);
    return n;
}

/* What it may be asked for by name. */
static inline void machine_steps(struct machine_rig *m, const struct cost_step *step, unsigned n)
{
    static const struct cost_step common[] = {
        {"heap list", 3, "", STEP_NEEDS_FREE},
        {"heap fresh", 3, "", STEP_NEEDS_FREE},
        {"heap page", 2, "", STEP_NEEDS_FREE},
        {"heap give", 1, "", STEP_NEEDS_FREE},
#define RT_STEP(NAME, label, instructions, needs, text)                                            \
    {"clocks " label, instructions, "", STEP_NEEDS_##needs},
#include "runtime/steps.def"
#undef RT_STEP
    };

    for (unsigned i = 0; i < n; i++)
        charges_step(&m->asked, step[i].name, step[i].instructions);
    for (size_t i = 0; i < ARRAY_SIZE(common); i++)
        charges_step(&m->asked, common[i].name, common[i].instructions);
    charges_forget(&m->asked);
}

static inline void machine_rig_open(struct machine_rig *m, unsigned granule)
{
    *m = (struct machine_rig){.machine = {.cores = 4, .line = 64},
                              .stats = stats_new(),
                              .asked = {.counted = machine_counted, .arg = m}};
    m->env = (struct policy_env){.stats = stats_root(m->stats),
                                 .layout = &layouts[LAYOUT_DEFAULT],
                                 .budget = &m->budget,
                                 .number = &m->number,
                                 .granule = granule,
                                 .machine = &m->machine,
                                 .host = m,
                                 .exec = machine_exec,
                                 .mem = machine_mem};
}

/* Addresses of the program are not physical from now on. */
static inline void machine_rig_pages(struct machine_rig *m)
{
    const struct pages_params p = {PAGES_FIRST_TOUCH, 4096, UINT64_C(1) << 30, 1};
    struct err e = {0};

    if (pages_init(&m->pages, &p, stats_group(stats_root(m->stats), "pages"), &e))
        die("%s", e.text);
    m->machine.pages = &m->pages;
}

static inline void machine_rig_close(struct machine_rig *m)
{
    pages_free(&m->pages);
    charges_free(&m->asked);
    stats_free(m->stats);
}

#endif
