/* pipeline.c - core.type = pipelined (docs/machine.md, "The pipelined core").
 *
 * A core issues core.width instructions a cycle, the program's and a policy's alike. A load takes
 * its place among them, and its value is there later: the core goes on, core.window instructions
 * at most past the oldest load that is under way. What an access needs a loaded value for waits
 * for that. Stores go into the store buffer (buffers.c), misses into MSHRs. An atomic waits for
 * all of these, and all behind it wait for it.
 *
 * Each access is made in the caches at its turn among all agents. When a load's value is there is
 * known then, unless the memory answers later: then an agent makes it (buffers.c). */
#include "sim/scheduler/timed.h"

#include <stdlib.h>

struct flight {      /* a load under way */
    uint64_t number; /* of its instruction */
    sim_cycle ready; /* when its value is there; CYCLE_NEVER: `slot` will tell */
    const struct mshr *slot;
    uint8_t level;
};
enum { PARTS = 100 }; /* of an instruction: core.width-hundredths */

struct pipeline { /* of a core */
    uint64_t
        width; /* what it issues in a cycle, in parts of instructions: its part of core.width */
    uint64_t window;
    sim_cycle reach;       /* a load that takes no longer never holds the core up */
    sim_cycle at;          /* in this cycle */
    unsigned issued;       /* ... so many parts of instructions were issued */
    uint64_t number;       /* of the latest instruction */
    struct flight *flight; /* owns; a ring of core.window + 1, in order of numbers */
    size_t first, n;
    struct flight value; /* of the latest load of a policy */
    struct flight last;  /* of all loads so far the one whose value is there last */
    sim_cycle fetches;   /* MSHRs are free from then on */
    uint64_t extra;      /* hundredths of an instruction: core.unmodelled */
    struct tlb *tlb;     /* owns; NULL: all translations are at hand */
};

/* The owner of the cycles that pass: the program's are charged to the core, a policy's are counted,
 * and the foreseen ones are neither. */
enum who { PROGRAM, POLICY, FORESEEN };
struct moment { /* how far a core is */
    struct timed *s;
    struct pipeline *p;
    unsigned core;
    enum who who;
    sim_cycle now;
    const struct mem_run *run; /* of POLICY, in a step; else NULL */
    sim_cycle translates;      /* what the translation of the access in hand takes */
    uint8_t part;
    bool atomic; /* waits for what is before an atomic */
};

static const struct core_params *params(const struct timed *s)
{
    return &s->machine->core_params;
}

static struct moment program_at(struct timed *s, unsigned core)
{
    return (struct moment){.s = s,
                           .p = &s->pipe[core],
                           .core = core,
                           .who = PROGRAM,
                           .now = s->machine->core[core].clock};
}
static struct moment policy_at(struct timed *s, unsigned core, sim_cycle now)
{
    return (struct moment){.s = s, .p = &s->pipe[core], .core = core, .who = POLICY, .now = now};
}

/* ---- time passes ----------------------------------------------------------------------------- */

static enum cost_time time_of(const struct moment *t, enum spent what)
{
    return what == SPENT_EXECUTING             ? TIME_INSTRUCTIONS
           : what == SPENT_L1                  ? TIME_L1
           : what == SPENT_REMOTE              ? TIME_REMOTE
           : what == SPENT_ATOMIC || t->atomic ? TIME_ATOMICS
                                               : TIME_LOCAL;
}

static inline void count(const struct moment *t, enum spent what, uint64_t cycles)
{
    t->s->st.policy[what] += cycles;
    if (t->run)
        t->run->counts->cycles[t->part][time_of(t, what)] += cycles;
}

static inline void passes(struct moment *t, enum spent what, sim_cycle to)
{
    if (to <= t->now)
        return;
    if (t->who == PROGRAM)
        machine_spend(t->s->machine, t->core, what, to - t->now);
    else if (t->who == POLICY)
        count(t, what, to - t->now);
    t->now = to;
}

/* Lets others whose time comes first go first. */
static inline void turn(struct moment *t)
{
    if (t->now != t->s->queue.now)
        t->now = queue_until(t->s, t->core, t->now);
}

static void sleep_for(struct moment *t, enum spent what)
{
    t->s->buffers[t->core].waits = true;
    passes(t, what, queue_sleep(t->s, KEY_CORE(t->core)));
}

static void wait_value(struct moment *t, const struct flight *f)
{
    while (f->ready == CYCLE_NEVER)
        sleep_for(t, SPENT_MISSES);
    passes(t, spent_at((enum mem_level)f->level), f->ready);
}

/* ---- the front end --------------------------------------------------------------------------- */

/* Divides the front end among the cores that share it; one that waits, or has no thread, leaves its
 * part to the others. */
static NO_INLINE void share(const struct timed *s, unsigned core)
{
    const unsigned n = (unsigned)params(s)->shared_front_end, first = core - core % n;
    uint64_t run = 0;

    for (unsigned i = first; i < first + n; i++)
        run += i == core || s->core[i].busy;
    s->pipe[core].width = PARTS * (params(s)->width > run ? params(s)->width / run : 1);
}

/* Sets the core's part of the front end, which holds until the core asks again. */
static inline void take_part(const struct timed *s, unsigned core)
{
    if (UNLIKELY(params(s)->shared_front_end > 1))
        share(s, core);
}

/* ---- issue ----------------------------------------------------------------------------------- */

static inline struct flight *oldest(const struct pipeline *p)
{
    return &p->flight[p->first];
}

/* How many instructions may be issued before the oldest load must have its value. */
static inline uint64_t room(const struct moment *t)
{
    struct pipeline *p = t->p;

    for (; p->n && oldest(p)->ready <= t->now; p->n--)
        p->first = p->first == p->window ? 0 : p->first + 1;
    return p->n ? oldest(p)->number + p->window - 1 - p->number : UINT64_MAX;
}

/* False: nobody can foresee how long. */
static bool wait_oldest(struct moment *t)
{
    if (t->who == FORESEEN && oldest(t->p)->ready == CYCLE_NEVER)
        return false;
    wait_value(t, oldest(t->p));
    return true;
}

static inline void issue_at_once(struct moment *t, uint64_t n)
{
    struct pipeline *p = t->p;
    const uint64_t all = (p->at == t->now ? p->issued : 0) + n * PARTS;

    passes(t, SPENT_EXECUTING, t->now + all / p->width);
    p->at = t->now;
    p->issued = (unsigned)(all % p->width);
    p->number += n;
}

static void issue(struct moment *t, uint64_t n)
{
    while (n) {
        const uint64_t may = room(t), now = n < may ? n : may;
        issue_at_once(t, now);
        n -= now;
        if (n && !wait_oldest(t))
            return;
    }
}

/* Issues the n instructions in front of an access, and waits until there is room for the access. */
static inline void issue_before(struct moment *t, uint64_t n)
{
    if (LIKELY(!t->p->n)) {
        if (n)
            issue_at_once(t, n);
        return;
    }
    issue(t, n);
    while (!room(t) && wait_oldest(t))
        ;
}

/* Returns how many instructions the n that a policy counts stand for. */
static inline uint64_t with_unmodelled(const struct moment *t, uint64_t n)
{
    if (LIKELY(!params(t->s)->unmodelled))
        return n;
    t->p->extra += n * params(t->s)->unmodelled;
    n += t->p->extra / 100;
    t->p->extra %= 100;
    return n;
}

/* ---- translations ---------------------------------------------------------------------------- */

static inline void translate(struct moment *t, struct paddr at)
{
    if (UNLIKELY(t->p->tlb != NULL))
        t->translates = tlb_cycles(t->p->tlb, at, &t->s->st.second_translations, &t->s->st.walks);
}

/* ---- loads ----------------------------------------------------------------------------------- */

struct access {
    struct paddr at;
    unsigned bytes;
    enum mem_cmd cmd;
    enum mem_traffic traffic;
    bool after; /* its address comes from the value of the load before */
};

/* An event's own instruction is issued behind its access, and that counts from its end. */
static inline bool has_own(const struct moment *t)
{
    return t->who == PROGRAM && params(t->s)->memory_instruction == MEMORY_INSTRUCTION_ISSUED;
}
static inline sim_cycle issued_at(const struct moment *t)
{
    const struct pipeline *p = t->p;

    if (!has_own(t))
        return t->now;
    return t->now + ((p->at == t->now ? p->issued : 0) + PARTS) / p->width;
}

/* When an access could start at the earliest. */
static inline sim_cycle starts(const struct moment *t, const struct access *a)
{
    const sim_cycle issued = issued_at(t) + t->translates;

    return a->after ? u64_max(issued, t->p->value.ready) : issued;
}

/* Adds a load to those that can hold the core up. */
static NO_INLINE void watch(struct moment *t, const struct flight *f)
{
    struct pipeline *p = t->p;

    while (p->n > p->window && wait_oldest(t))
        room(t);
    p->flight[(p->first + p->n++) % (p->window + 1)] = *f;
}

/* A load has been started. One whose value is there before the window can be full of what follows
 * needs no watching. */
static inline void under_way(struct moment *t, struct flight f)
{
    struct pipeline *p = t->p;

    f.number = p->number + has_own(t);
    if (t->who == POLICY)
        p->value = f;
    else
        t->s->machine->core[t->core].ready = f.ready;
    if (f.ready != CYCLE_NEVER && f.ready > p->last.ready)
        p->last = f;
    if (UNLIKELY(f.ready > t->now + p->reach))
        watch(t, &f);
}

static struct mshr *slots(const struct timed *s, unsigned core)
{
    return &s->mshr[core * params(s)->misses];
}

/* The MSHR that fetches the line, and is not done. */
static struct mshr *fetching(const struct moment *t, struct paddr line)
{
    struct mshr *slot = slots(t->s, t->core);

    if (LIKELY(t->p->fetches <= t->now))
        return NULL;
    for (size_t i = 0; i < params(t->s)->misses; i++)
        if (paddr_same(slot[i].addr, line) && slot[i].done > t->now)
            return &slot[i];
    return NULL;
}

/* Returns an MSHR that is free; else the one that will be free first. */
static struct mshr *first_free(const struct moment *t)
{
    struct mshr *slot = slots(t->s, t->core), *first = slot;

    for (size_t i = 1; i < params(t->s)->misses && first->done > t->now; i++)
        if (slot[i].done < first->done)
            first = &slot[i];
    return first;
}

static struct mshr *take_slot(struct moment *t)
{
    struct mshr *slot = first_free(t);

    t->s->st.misses_full += slot->done > t->now;
    while (slot->done > t->now) {
        if (slot->done == CYCLE_NEVER)
            sleep_for(t, SPENT_MISSES);
        else
            passes(t, SPENT_MISSES, slot->done);
        slot = first_free(t);
    }
    return slot;
}

/* An agent fetches the line. */
static void fetch_later(struct moment *t, const struct access *a, struct mshr *slot)
{
    struct timed *s = t->s;

    *slot = (struct mshr){.addr = paddr_down(a->at, s->machine->params.line),
                          .traffic = a->traffic,
                          .done = CYCLE_NEVER};
    t->p->fetches = CYCLE_NEVER;
    queue_at(s, &s->queue.agent[2 * s->machine->params.cores + (size_t)(slot - s->mshr)],
             t->now + t->translates);
    under_way(t, (struct flight){.ready = CYCLE_NEVER, .slot = slot, .level = LEVEL_MEMORY});
    s->st.overlapped++;
}

/* Counts who answered a policy's access: whether other cores were asked, or at least the L1 was not
 * enough. */
static inline void answered(const struct moment *t, uint8_t level)
{
    if (level != LEVEL_L1 && t->run)
        buffers_count(t->run->counts, level);
}

/* A load that has been made now. With core.misses = 0 a miss is waited for. */
static inline struct coh_result made(struct moment *t, const struct access *a, struct mshr *slot,
                                     struct coh_result r)
{
    struct flight f = {.level = r.level};

    answered(t, r.level);
    if (r.level == LEVEL_L1) {
        f.ready = starts(t, a) + t->s->l1_latency;
    } else {
        f.ready = issued_at(t) + t->translates + (r.done - t->now);
        if (slot) {
            *slot = (struct mshr){.addr = paddr_down(a->at, t->s->machine->params.line),
                                  .done = f.ready,
                                  .level = r.level};
            t->p->fetches = u64_max(t->p->fetches, f.ready);
            t->s->st.overlapped++;
        } else {
            passes(t, spent_at((enum mem_level)r.level), r.done + t->translates);
        }
    }
    under_way(t, f);
    return r;
}

static inline struct coh_result make_load(struct moment *t, const struct access *a,
                                          struct mshr *slot)
{
    return made(
        t, a, slot,
        coherence_access(t->s->machine->coherence, t->core, a->at, MEM_LOAD, a->traffic, t->now));
}

static const struct coh_result of_the_l1 = {.level = LEVEL_L1};

static NO_INLINE struct coh_result miss(struct moment *t, const struct access *a)
{
    const struct timed *s = t->s;

    if (a->after)
        wait_value(t, &t->p->value);
    struct mshr *slot = params(s)->misses ? take_slot(t) : NULL;
    turn(t);
    if (!slot || !s->machine->memory.type->later)
        return make_load(t, a, slot);
    fetch_later(t, a, slot);
    return of_the_l1; /* nobody knows yet */
}

static NO_INLINE void merge(struct moment *t, const struct access *a, const struct mshr *slot)
{
    const sim_cycle hit = starts(t, a) + t->s->l1_latency;

    t->s->st.merged++;
    if (slot->done == CYCLE_NEVER)
        under_way(t, (struct flight){.ready = CYCLE_NEVER, .slot = slot, .level = LEVEL_MEMORY});
    else
        under_way(t, (struct flight){.ready = u64_max(hit, slot->done), .level = slot->level});
}

/* The youngest store in the buffer that has all the bytes answers; of a part, all must be in the
 * cache. True: answered. */
static NO_INLINE bool forwarded(struct moment *t, const struct access *a)
{
    const struct core_buffers *b = &t->s->buffers[t->core];
    const enum overlap o = buffers_overlap(t->s, t->core, a->at, a->bytes);

    while (o == OVERLAP_PART && b->n)
        sleep_for(t, SPENT_STORE_BUFFER);
    t->s->st.forwarded += o == OVERLAP_ALL;
    return o == OVERLAP_ALL;
}

static struct coh_result load(struct moment *t, const struct access *a)
{
    struct timed *s = t->s;

    turn(t);
    if (UNLIKELY(s->buffers[t->core].n && forwarded(t, a))) {
        under_way(t, (struct flight){.ready = starts(t, a) + s->l1_latency, .level = LEVEL_L1});
        return of_the_l1;
    }
    /* A miss would find an MSHR and nothing to wait for. */
    if (LIKELY(t->p->fetches <= t->now && !a->after && !s->machine->memory.type->later))
        return make_load(t, a, params(s)->misses ? slots(s, t->core) : NULL);
    const struct mshr *slot = fetching(t, paddr_down(a->at, s->machine->params.line));
    if (slot) {
        merge(t, a, slot);
        return of_the_l1;
    }
    if (coherence_in_l1(s->machine->coherence, t->core, a->at, MEM_LOAD))
        return make_load(t, a, NULL);
    return miss(t, a);
}

void pipeline_fetched(struct timed *s, unsigned core, const struct mshr *slot)
{
    struct pipeline *p = &s->pipe[core];

    for (size_t i = 0; i < p->n; i++) {
        struct flight *f = &p->flight[(p->first + i) % (p->window + 1)];
        if (f->ready == CYCLE_NEVER && f->slot == slot) {
            f->ready = slot->done;
            f->level = slot->level;
        }
    }
    if (p->value.ready == CYCLE_NEVER && p->value.slot == slot) {
        p->value.ready = slot->done;
        p->value.level = slot->level;
    }
    if (slot->done > p->last.ready)
        p->last = (struct flight){.ready = slot->done, .level = slot->level};
    p->fetches = 0;
    for (size_t i = 0; i < params(s)->misses; i++)
        p->fetches = u64_max(p->fetches, slots(s, core)[i].done);
}

/* ---- stores and atomics ---------------------------------------------------------------------- */

/* Waits until all that the core has under way is done. */
static void drain(struct moment *t)
{
    const struct core_buffers *b = &t->s->buffers[t->core];

    for (; t->p->n; room(t))
        wait_oldest(t);
    wait_value(t, &t->p->last); /* what needed no watching */
    while (b->n)
        sleep_for(t, SPENT_STORE_BUFFER);
}

/* Waited for. */
static struct coh_result wait_access(struct moment *t, const struct access *a)
{
    turn(t);
    const struct coh_result r =
        coherence_access(t->s->machine->coherence, t->core, a->at, a->cmd, a->traffic, t->now);
    passes(t, spent_at((enum mem_level)r.level), r.done + t->translates);
    answered(t, r.level);
    return r;
}

/* Tells the state that an atomic's line had for the core, from the answer to the access. */
static enum atomic_line line_was(struct coh_result r)
{
    return r.upgraded                ? ATOMIC_SHARED
           : r.level <= LEVEL_L2     ? ATOMIC_OWN
           : r.level == LEVEL_L3     ? ATOMIC_L3
           : r.level == LEVEL_REMOTE ? ATOMIC_REMOTE
                                     : ATOMIC_MEMORY;
}

static struct coh_result atomic(struct moment *t, const struct access *a)
{
    t->atomic = true;
    drain(t);
    t->atomic = false;
    turn(t);
    const sim_cycle began = t->now;
    const struct coh_result r = wait_access(t, a);
    passes(t, SPENT_ATOMIC, t->now + params(t->s)->atomic);
    struct atomic_count *n = &t->s->st.atomics[line_was(r)];
    n->all++;
    n->cycles += t->now - began;
    if (UNLIKELY(r.far)) {
        n->far++;
        n->far_cycles += t->now - began;
    }
    return r;
}

static struct coh_result store(struct moment *t, const struct access *a)
{
    struct timed *s = t->s;
    const struct core_buffers *b = &s->buffers[t->core];
    const size_t most = params(s)->store_buffer;

    if (!most)
        return wait_access(t, a);
    if (b->n == most)
        turn(t);
    s->st.buffer_full += b->n == most;
    while (b->n == most)
        sleep_for(t, SPENT_STORE_BUFFER);
    buffers_push(
        s, t->core,
        &(struct buffered_store){.addr = a->at,
                                 .bytes = a->bytes,
                                 .from = u64_max(issued_at(t) + t->translates, t->p->last.ready),
                                 .traffic = a->traffic,
                                 .counts = t->run ? t->run->counts : NULL},
        t->now);
    return of_the_l1;
}

/* Makes the access. Returns the level that answered, as far as that is known by now. */
static struct coh_result make(struct moment *t, const struct access *a)
{
    translate(t, a->at);
    if (a->cmd == MEM_ATOMIC)
        return atomic(t, a);
    return a->cmd == MEM_STORE ? store(t, a) : load(t, a);
}

/* ---- the program's --------------------------------------------------------------------------- */

static struct coh_result data_access(struct machine *m, unsigned core, struct paddr addr,
                                     unsigned bytes, enum mem_cmd cmd, sim_cycle now)
{
    struct timed *s = m->scheduler;
    struct moment t = program_at(s, core);
    const struct access a = {.at = addr, .bytes = bytes, .cmd = cmd, .traffic = TRAFFIC_DATA};
    struct coh_result r;

    ENSURE(t.now == now, s->head.env.context,
           "an access of core %u at cycle %llu, whose clock is at %llu; address 0x%llx", core,
           (unsigned long long)now, (unsigned long long)t.now, (unsigned long long)addr.at);
    s->machine->core[core].ready = 0;
    if (cmd != MEM_ATOMIC && s->buffers[core].sync) {
        translate(&t, addr);
        r = wait_access(&t, &a);
    } else {
        r = make(&t, &a);
    }
    r.done = t.now;
    return r;
}

static void issue_own(void *self, unsigned core)
{
    struct moment t = program_at(self, core);

    issue(&t, 1);
}

sim_cycle pipeline_foresees(struct timed *s, unsigned core, uint64_t gap)
{
    take_part(s, core); /* of these instructions: as it begins with them */
    struct pipeline p = s->pipe[core];
    struct moment t = program_at(s, core);

    t.p = &p;
    t.who = FORESEEN;
    issue_before(&t, gap);
    return t.now;
}

void pipeline_arrives(struct timed *s, unsigned core, uint64_t gap)
{
    struct moment t = program_at(s, core);

    issue_before(&t, gap);
    passes(&t, SPENT_WINDOW, s->queue.now); /* it was late, and the loads came in meanwhile */
}

void pipeline_drain(struct timed *s, unsigned core)
{
    struct moment t = program_at(s, core);

    drain(&t);
    turn(&t);
}

void pipeline_finish(struct timed *s, unsigned core)
{
    struct moment t = program_at(s, core);

    for (; t.p->n; room(&t))
        wait_oldest(&t);
    wait_value(&t, &t.p->last);
}

/* ---- a policy's ------------------------------------------------------------------------------ */

static sim_cycle exec(void *self, unsigned core, uint64_t instructions, sim_cycle now)
{
    struct timed *s = self;
    struct moment t = policy_at(s, core, now);

    take_part(s, core);
    s->machine->core[core].instructions += instructions;
    issue(&t, with_unmodelled(&t, instructions));
    return t.now;
}

static void step_begins(const struct moment *t, const struct mem_step *step)
{
    struct mem_counts *n = t->run->counts;

    t->s->machine->core[t->core].instructions += step->instructions;
    n->instructions += step->instructions;
    n->access[step->cmd]++;
    n->bytes += step->bytes;
}

static sim_cycle steps(void *self, unsigned core, const struct mem_run *r, sim_cycle now)
{
    struct moment t = policy_at(self, core, now);

    take_part(self, core);
    t.run = r;
    for (size_t i = 0; i < r->n; i++) {
        const struct mem_step *step = &r->step[i];
        const struct access a = {step->at, step->bytes, (enum mem_cmd)step->cmd, TRAFFIC_METADATA,
                                 step->after};
        t.part = step->part;
        step_begins(&t, step);
        issue_before(&t, with_unmodelled(&t, step->instructions));
        if (r->serial && !step->instructions) { /* hardware needs what software has found before */
            wait_value(&t, &t.p->value);
            translate(&t, a.at);
            wait_access(&t, &a);
        } else {
            make(&t, &a);
        }
    }
    return t.now;
}

/* A policy's branch was guessed wrong: the instructions issued behind it were in vain. The branch
 * decides by the latest load, and so waits for its value. */
static sim_cycle mispredicted(void *self, unsigned core, sim_cycle now)
{
    struct timed *s = self;
    struct moment t = policy_at(s, core, now);

    wait_value(&t, &t.p->value);
    passes(&t, SPENT_EXECUTING, t.now + params(s)->mispredict);
    return t.now;
}

/* ---- making it ------------------------------------------------------------------------------- */

static void declare_atomics(struct timed *s, struct stats_group *all)
{
    static const char *const where[ATOMIC_LINES][2] = {
        [ATOMIC_OWN] = {"own", "Atomics on lines that the core had in E or M."},
        [ATOMIC_SHARED] = {"shared", "Atomics on lines that the core had in S."},
        [ATOMIC_L3] = {"l3", "Atomics on lines that the L3 gave."},
        [ATOMIC_REMOTE] = {"remote", "Atomics on lines that other cores gave or had to give up."},
        [ATOMIC_MEMORY] = {"memory", "Atomics on lines that the memory gave."},
    };

    for (size_t i = 0; i < ATOMIC_LINES; i++) {
        struct stats_group *g = stats_group(all, where[i][0]);
        struct atomic_count *n = &s->st.atomics[i];
        stats_count(g, "accesses", "accesses", where[i][1], &n->all);
        stats_count(g, "cycles", "cycles", "What these took, core.atomic included.", &n->cycles);
        stats_count(g, "far", "accesses", "Of these: another NUMA node took part.", &n->far);
        stats_count(g, "far-cycles", "cycles", "What those took.", &n->far_cycles);
    }
}

static void declare_more(struct timed *s, struct stats_group *core)
{
    if (params(s)->predictor != PREDICTOR_NONE) {
        struct stats_group *g = stats_group(core, "branches");
        stats_count(g, "all", "branches", "Branches of a policy's checks that depend on data.",
                    &s->machine->branches);
        stats_count(g, "mispredicted", "branches", "Of these: guessed wrongly.",
                    &s->machine->mispredicted);
    }
    if (s->machine->tlb_params.entries) {
        struct stats_group *g = stats_group(core, "tlb");
        stats_count(g, "second", "accesses", "Accesses whose translation was in the second level.",
                    &s->st.second_translations);
        stats_count(g, "walks", "accesses", "Accesses whose translation was in neither level.",
                    &s->st.walks);
    }
}

void pipeline_init(struct timed *s, struct machine_turns *turns, struct stats_group *g)
{
    const size_t n = s->machine->params.cores;

    if (!machine_pipelined(s->machine))
        return;
    s->pipe = xcalloc(n, sizeof *s->pipe);
    for (size_t i = 0; i < n; i++) {
        struct pipeline *p = &s->pipe[i];
        p->width = PARTS * params(s)->width + params(s)->width_hundredths;
        p->window = params(s)->window;
        p->reach = (p->window - 1) * PARTS / p->width;
        p->flight = xcalloc(p->window + 1, sizeof *p->flight);
        p->tlb = tlb_new(&s->machine->tlb_params);
    }
    s->machine->scheduler = s;
    s->machine->access = data_access;
    turns->issue = issue_own;
    turns->exec = exec;
    turns->steps = steps;
    turns->mispredicted = mispredicted;
    g = stats_group(g, "core");
    declare_atomics(s, stats_group(g, "atomics"));
    declare_more(s, g);
    g = stats_group(g, "policy");
    for (size_t i = 0; i < SPENTS_MULTICORE; i++)
        stats_count(g, spent_text[i], "cycles",
                    "Cycles of policies, part of machine.spent.handler: as machine.spent has them.",
                    &s->st.policy[i]);
}

void pipeline_free(struct timed *s)
{
    for (size_t i = 0; s->pipe && i < s->machine->params.cores; i++) {
        free(s->pipe[i].flight);
        tlb_free(s->pipe[i].tlb);
    }
    free(s->pipe);
}
