/* queue.c - the command queues, one for each bank (or each rank), and the choice of the next
 * command: FR-FCFS (Rixner et al., ISCA 2000). Inside a queue the first ready command is served,
 * the oldest first; queues take turns, round robin.
 *
 * What a queue could issue changes only when its banks or its entries do: then it is reviewed, and
 * its candidates are listed. What is ready changes with time: then only their timing is compared.
 */
#include "memory/ddr/channel.h"

#include <assert.h>
#include <string.h>

static uint64_t bit(uint64_t i)
{
    return UINT64_C(1) << i;
}

/* ---- candidates of a queue ------------------------------------------------------------------ */

/* May the open row make way for the row of entry `from`, its bank's oldest? Yes when no request of
 * the queue hits it, or it has had its share of hits: the cap keeps a stream of hits from starving
 * the conflict. */
static bool may_close(const struct ddr_channel *c, const struct ddr_queue *q, unsigned from)
{
    const unsigned bank = q->entry[from].bank;
    const struct ddr_bank *b = &c->banks.bank[bank];

    if (b->accesses >= c->limits->hits)
        return true;
    for (unsigned i = from; i < q->n; i++)
        if (q->entry[i].bank == bank && q->entry[i].row == b->row)
            return false;
    return true;
}

/* Does an older read of the same place come first? The channel holds writes back behind reads of
 * their line. Two lines are one place where addresses are larger than the device, and wrap. */
static bool is_behind_read(const struct ddr_queue *q, unsigned write)
{
    const struct ddr_entry *w = &q->entry[write];

    for (unsigned i = 0; i < write; i++) {
        const struct ddr_entry *e = &q->entry[i];
        if (!e->write && e->bank == w->bank && e->row == w->row && e->column == w->column)
            return true;
    }
    return false;
}

static void add_candidate(struct ddr_queue *q, unsigned entry, enum ddr_class class)
{
    q->candidate[q->candidates++] =
        (struct ddr_candidate){(uint16_t)entry, q->entry[entry].bank, (uint8_t) class};
}

/* Lists what each entry needs next (its column command, or an activate, or a precharge before
 * that), the oldest first, and once for each class and bank: when the oldest is not ready a later
 * one is not ready either. Rows are opened and closed for a bank's oldest entry alone. */
void ddr_queue_review(struct ddr_channel *c, unsigned queue)
{
    struct ddr_queue *q = &c->queue[queue];
    uint64_t seen = 0, reads = 0, writes = 0; /* sets of banks */

    q->candidates = 0;
    c->due |= bit(queue);
    if (!c->rules->per_rank && q->n &&
        !c->banks.bank[queue].open) { /* common, and the loop below would do the same, slower */
        add_candidate(q, 0, CLASS_ACTIVATE);
        return;
    }
    for (unsigned i = 0; i < q->n; i++) {
        const struct ddr_entry *e = &q->entry[i];
        const struct ddr_bank *b = &c->banks.bank[e->bank];
        const bool oldest = !(seen & bit(e->bank));
        seen |= bit(e->bank);
        if (!b->open) {
            if (oldest)
                add_candidate(q, i, CLASS_ACTIVATE);
        } else if (b->row != e->row) {
            if (oldest && may_close(c, q, i))
                add_candidate(q, i, CLASS_PRECHARGE);
        } else if (!e->write) {
            if (!(reads & bit(e->bank)))
                add_candidate(q, i, CLASS_READ);
            reads |= bit(e->bank);
        } else if (!(writes & bit(e->bank)) && !is_behind_read(q, i)) {
            add_candidate(q, i, CLASS_WRITE);
            writes |= bit(e->bank);
        }
    }
}

void ddr_queue_add(struct ddr_channel *c, const struct ddr_entry *e)
{
    struct ddr_queue *q = &c->queue[e->queue];

    assert(q->n < c->limits->commands);
    q->entry[q->n++] = *e;
    c->active |= bit(e->queue);
    if (q->n == c->limits->commands)
        c->full |= bit(e->queue);
    ddr_queue_review(c, e->queue);
}

void ddr_queue_remove(struct ddr_channel *c, unsigned queue, unsigned entry)
{
    struct ddr_queue *q = &c->queue[queue];

    q->n--;
    memmove(q->entry + entry, q->entry + entry + 1, (q->n - entry) * sizeof *q->entry);
    c->full &= ~bit(queue);
    if (!q->n)
        c->active &= ~bit(queue);
}

/* ---- which is next -------------------------------------------------------------------------- */

/* Takes a queue out of `due` until a cycle, or as far as the wheel reaches. */
static void look_again(struct ddr_channel *c, unsigned queue, uint64_t at, uint64_t now)
{
    const uint64_t slot = (at - now < DDR_SLOTS ? at : now + DDR_SLOTS - 1) % DDR_SLOTS;

    c->wheel.slot[slot] |= bit(queue);
    c->wheel.used[slot / 64] |= bit(slot % 64);
    c->due &= ~bit(queue);
}

void ddr_queue_begin(struct ddr_channel *c, uint64_t now)
{
    const uint64_t slot = now % DDR_SLOTS;

    c->due |= c->wheel.slot[slot];
    c->wheel.slot[slot] = 0;
    c->wheel.used[slot / 64] &= ~bit(slot % 64);
}

/* The next cycle after now that has a slot in use; UINT64_MAX: none. */
static uint64_t next_slot(const struct ddr_wheel *w, uint64_t now)
{
    enum { WORDS = DDR_SLOTS / 64 };
    const uint64_t from = now + 1;
    uint64_t word = w->used[from / 64 % WORDS] & ~UINT64_C(0) << from % 64;

    for (uint64_t i = from / 64; i <= from / 64 + WORDS; i++) {
        if (word)
            return i * 64 + (unsigned)__builtin_ctzll(word);
        word = w->used[(i + 1) % WORDS];
    }
    return UINT64_MAX;
}

/* A candidate of the queue that is ready now. False: there is none, and it will be looked at again
 * when the first of them is ready. */
static bool queue_ready(struct ddr_channel *c, unsigned queue, uint64_t now, struct ddr_choice *to)
{
    const struct ddr_queue *q = &c->queue[queue];
    uint64_t earliest = UINT64_MAX;

    for (unsigned i = 0; i < q->candidates; i++) {
        const struct ddr_candidate w = q->candidate[i];
        const enum ddr_class class = (enum ddr_class)w.class;
        const uint64_t ready = ddr_ready(&c->banks, class, w.bank);
        if (ready <= now) {
            *to = (struct ddr_choice){true, queue, w.entry, class, now};
            return true;
        }
        earliest = u64_min(earliest, ready);
    }
    look_again(c, queue, earliest, now);
    return false;
}

static bool choose_among(struct ddr_channel *c, uint64_t set, uint64_t now, struct ddr_choice *to)
{
    for (; set; set &= set - 1) {
        const unsigned queue = (unsigned)__builtin_ctzll(set);
        if (queue_ready(c, queue, now, to)) {
            c->turn = queue;
            return true;
        }
    }
    return false;
}

/* Chooses a command. Queues behind the one of the latest command come first, then those up to
 * it. */
struct ddr_choice ddr_queue_choose(struct ddr_channel *c, uint64_t now)
{
    const uint64_t up_to_turn = (UINT64_C(2) << c->turn) - 1;
    struct ddr_choice to = {.earliest = UINT64_MAX};

    const uint64_t set = c->due & c->active & ~c->refreshing;
    if (!choose_among(c, set & ~up_to_turn, now, &to) &&
        !choose_among(c, set & up_to_turn, now, &to) && c->active & ~c->refreshing)
        to.earliest = next_slot(&c->wheel, now);
    return to;
}
