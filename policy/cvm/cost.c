/* cost.c - what CVM's detector costs a process: calls at accesses, notices at the ends of
 * intervals, and the master's comparison, for which all wait. docs/policies/cvm.md has the steps.
 *
 * In memory: a process's bitmaps are at fixed places (4.2), those of reads and of writes of a page
 * side by side; what is kept of an interval goes to a buffer of the process. The master compares
 * what it has been sent: that is in its caches. */
#include "policy/cvm/cvm.h"

#include "policy/cost/metadata.h"

#define STEPS_DEF     "policy/cvm/steps.def"
#define STEPS_CHARGES cvm_charges
#include "policy/cost/steps.h"

enum { NOTICE_BYTES = 16, BUFFER = 1 << 20 };

static uint64_t bitmap_bytes(const struct cvm *c)
{
    const uint64_t bytes = (c->params.page >> c->word_shift) / 8;

    return bytes < 8 ? 8 : bytes;
}

/* Fixed places: processes have memories of their own; where they do not, eight are apart. */
static struct paddr bitmap_at(const struct cvm *c, uint32_t actor, uint64_t page, bool write)
{
    return paddr_of(METADATA_FIXED + metadata_apart(c->env) + ((sim_addr)(actor % 8) << 50) +
                    (page * 2 + write) * bitmap_bytes(c));
}

/* ---- at an access --------------------------------------------------------------------------- */

static void set_bit(struct cvm *c, uint32_t actor, const struct event *ev)
{
    const uint64_t page = ev->addr >> c->page_shift;
    const uint64_t word = (ev->addr & (c->params.page - 1)) >> c->word_shift;
    const struct paddr at = paddr_plus(bitmap_at(c, actor, page, event_writes(ev)), word / 64 * 8);

    charge_load(c->env, at, 8);
    charge_store(c->env, at, 8);
}

/* Registers that the routine saves and restores: inlined, some are dead, and the mean of the
 * programs' dynamic shares (Table 5) is a part of an instruction. */
static uint64_t spills(struct cvm *c)
{
    enum { ROUTINE = 30, REGISTERS = 10 };

    if (!c->params.inlining)
        return REGISTERS;
    const uint64_t dead = ROUTINE * c->params.liveness; /* in thousandths */
    c->spilled += dead < REGISTERS * 1000 ? REGISTERS * 1000 - dead : 0;
    const uint64_t whole = c->spilled / 1000;
    c->spilled %= 1000;
    return whole;
}

void cvm_charge_access(struct cvm *c, uint32_t actor, const struct event *ev, enum cvm_way way)
{
    const bool shared = !(ev->flags & EVF_PRIVATE);

    ledger_part(c->env->cost, PART_CHECK);
    switch (way) {
    case CVM_NONE:
        return;
    case CVM_NOOPS:
        charge_step(c->env, STEP_NOOP);
        return;
    case CVM_MIX:
    case CVM_NEXT: /* whether it is shared has been found out */
        if (!shared)
            return;
        charge_step(c->env, way == CVM_MIX ? STEP_MIX : STEP_NEXT);
        set_bit(c, actor, ev);
        return;
    case CVM_WHOLE:
        break;
    }
    if (!c->params.inlining)
        charge_step(c->env, STEP_CALL);
    charge_steps(c->env, STEP_SPILL, spills(c));
    charge_step(c->env, STEP_CHECK);
    if (!shared)
        return;
    charge_step(c->env, STEP_SET);
    set_bit(c, actor, ev);
    charge_store(c->env, bitmap_at(c, actor, ev->addr >> c->page_shift, false), 1); /* the notice */
}

/* A program counter for each bit. */
void cvm_charge_site(struct cvm *c, uint32_t actor, sim_addr at, bool write)
{
    enum { COUNTER = 8, BITS = 8 };
    const sim_addr base = METADATA_FIXED + metadata_apart(c->env) + (UINT64_C(1) << 53);
    const sim_addr bitmap = ((at >> c->page_shift) * 2 + write) * bitmap_bytes(c);
    const uint64_t word = (at & (c->params.page - 1)) >> c->word_shift;

    charge_step(c->env, STEP_SITE);
    charge_store(
        c->env,
        paddr_of(base + ((sim_addr)(actor % 8) << 50) + bitmap * BITS * COUNTER + word * COUNTER),
        COUNTER);
}

void cvm_charge_modify(struct cvm *c, uint64_t sites)
{
    charge_steps(c->env, STEP_MODIFY, sites);
    charge_step(c->env, STEP_IMB);
}

/* ---- at the end of an interval -------------------------------------------------------------- */

static struct paddr buffer_take(struct cvm *c, struct cvm_thread *t, uint64_t bytes)
{
    if (!t->buffer.at)
        t->buffer = metadata_take(c->env->cost, c->env->core, BUFFER);
    if (t->filled + bytes > BUFFER)
        t->filled = 0; /* the oldest have been compared by now */
    t->filled += bytes;
    return paddr_plus(t->buffer, t->filled - bytes);
}

static void keep_bitmap(struct cvm *c, struct cvm_thread *t, uint32_t actor, uint64_t page,
                        bool write)
{
    const uint64_t bytes = bitmap_bytes(c);
    const struct paddr at = bitmap_at(c, actor, page, write);
    const struct paddr to = buffer_take(c, t, bytes + NOTICE_BYTES);

    charge_step(c->env, STEP_NOTICE);
    charge_store(c->env, to, NOTICE_BYTES);
    charge_steps(c->env, STEP_KEEP, bytes / 8);
    charge_load(c->env, at, bytes);
    charge_store(c->env, paddr_plus(to, NOTICE_BYTES), bytes);
    charge_store(c->env, at, bytes);
}

static sim_cycle tell_notices(void *self, unsigned core, void *what, sim_cycle now)
{
    const struct cvm *c = self;
    const struct cvm_thread *t = what;

    return c->env->machine->dsm->notices(c->env->host, core, t->told_reads, t->told_writes, now);
}

void cvm_charge_interval(struct cvm *c, struct cvm_thread *t)
{
    struct cvm_interval *i = t->interval;
    const enum cost_part was = ledger_part(c->env->cost, PART_SYNC);

    charge_step(c->env, STEP_INTERVAL);
    charge_steps(c->env, STEP_ENTRY, i->known->clock.n);
    t->told_reads = t->told_writes = 0;
    for (struct cvm_entry *x = i->entries; x; x = x->sibling) {
        if (x->kinds & CVM_READS)
            keep_bitmap(c, t, i->actor, x->page, false);
        if (x->kinds & CVM_WRITES &&
            c->params.writes == CVM_WRITES_CALLS) /* else the diff has it */
            keep_bitmap(c, t, i->actor, x->page, true);
        t->told_reads += (x->kinds & CVM_READS) != 0;
        t->told_writes += (x->kinds & CVM_WRITES) != 0;
    }
    i->notices = (uint32_t)(t->told_reads + t->told_writes);
    i->older = t->fresh;
    i->users++;
    t->fresh = i;
    ledger_part(c->env->cost, was);
    if (!c->env->machine->dsm || t->core != c->env->core)
        return; /* another's interval is ended where all is consolidated */
    ledger_note_call(c->env->cost, c->env->core, tell_notices, c, t, c->env->core);
}

/* ---- the master ----------------------------------------------------------------------------- */

/* Begins the master's work, on the core that departs first; all others wait for it. Bitmaps are
 * asked for at the same time, and compared when they are there. */
static sim_cycle begin_master(void *self, unsigned core, void *what, sim_cycle now)
{
    struct cvm *c = self;
    const struct policy_dsm *dsm = c->env->machine->dsm;

    (void)what;
    if (dsm && c->asked_any)
        now = dsm->fetch(c->env->host, core, c->asked, now);
    c->released = now + c->work;
    return now;
}

static uint64_t steps_of(uint64_t times, enum step s)
{
    return times * steps[s].instructions;
}

void cvm_charge_master(struct cvm *c, const struct cvm_work *w)
{
    const uint64_t words = w->bitmaps * (bitmap_bytes(c) / 8);
    const enum cost_part was = ledger_part(c->env->cost, PART_SYNC);

    c->work = steps_of(w->compared, STEP_COMPARE) + steps_of(w->walked, STEP_OVERLAP) +
              steps_of(w->listed, STEP_LIST) + steps_of(words, STEP_WORDS);
    ledger_note_call(c->env->cost, c->env->core, begin_master, c, NULL, c->env->core);
    charge_steps(c->env, STEP_COMPARE, w->compared);
    charge_steps(c->env, STEP_OVERLAP, w->walked);
    charge_steps(c->env, STEP_LIST, w->listed);
    charge_steps(c->env, STEP_WORDS, words);
    ledger_part(c->env->cost, was);
}

static sim_cycle wait_for_master(void *self, unsigned core, void *what, sim_cycle now)
{
    const struct cvm *c = self;
    const struct policy_dsm *dsm = c->env->machine->dsm;
    const sim_cycle then = dsm ? dsm->released(c->env->host, core, c->released) : c->released;

    (void)what;
    return then > now ? then : now;
}

void cvm_charge_departure(struct cvm *c)
{
    ledger_note_call(c->env->cost, c->env->core, wait_for_master, c, NULL, c->env->core);
}

/* Counts the bytes of bitmaps that are asked of the process of the actor's core. */
void cvm_charge_asked(struct cvm *c, uint32_t actor, unsigned bitmaps)
{
    const struct policy_machine *m = c->env->machine;

    if (!m->dsm)
        return;
    c->asked[m->dsm->node(c->env->host, c->thread[actor].core)] += bitmaps * bitmap_bytes(c);
    c->asked_any |= bitmaps != 0;
}
