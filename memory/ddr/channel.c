/* channel.c - one channel's memory controller. In a cycle it takes in requests, issues a command,
 * and moves one transaction to its command queue; cycles in which nothing can happen are skipped.
 *
 * The policy is DRAMSim3's (Li et al., IEEE CAL 2020), so that results compare: reads go first;
 * writes are posted and drained when their queue is full, or when more than a few wait and no
 * command does; a read of a line that waits to be written is answered from there; requests for one
 * line are one access. So are the cycles, exactly: a test holds each answer against the library's.
 */
#include "memory/ddr/channel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- the pool of requests ------------------------------------------------------------------- */

uint32_t ddr_pool_take(struct ddr_pool *p)
{
    if (p->free != DDR_NONE) {
        const uint32_t i = p->free;
        p->free = p->at[i].next;
        return i;
    }
    p->at = xgrow(p->at, p->n, &p->cap, sizeof *p->at);
    return p->n++;
}

void ddr_pool_give(struct ddr_pool *p, uint32_t request)
{
    p->at[request].next = p->free;
    p->free = request;
}

/* ---- life ----------------------------------------------------------------------------------- */

void ddr_channel_init(struct ddr_channel *c, unsigned number, const struct ddr_rules *rules,
                      const struct ddr_limits *limits, struct ddr_pool *pool,
                      struct ddr_count *count)
{
    *c = (struct ddr_channel){
        .number = number, .rules = rules, .limits = limits, .pool = pool, .count = count};
    ddr_timing_init(&c->banks, rules);
    c->n_queues = rules->per_rank ? (unsigned)rules->ranks : c->banks.n;
    for (unsigned i = 0; i < c->n_queues; i++) {
        c->queue[i].entry = xcalloc(limits->commands, sizeof *c->queue[i].entry);
        c->queue[i].candidate = xcalloc(limits->commands, sizeof *c->queue[i].candidate);
    }
    c->reads.entry = xcalloc(limits->reads, sizeof *c->reads.entry);
    c->writes.entry = xcalloc(limits->writes, sizeof *c->writes.entry);
    map_init(&c->pending_reads, NULL);
    map_init(&c->pending_writes, NULL);
    c->next_refresh = c->wake = rules->refresh_interval;
}

void ddr_channel_free(struct ddr_channel *c)
{
    for (unsigned i = 0; i < c->n_queues; i++) {
        free(c->queue[i].entry);
        free(c->queue[i].candidate);
    }
    free(c->reads.entry);
    free(c->writes.entry);
    free(c->arrivals);
    map_free(&c->pending_reads);
    map_free(&c->pending_writes);
}

/* ---- arrivals ------------------------------------------------------------------------------- */

/* The i-th of the requests that wait to be taken in. */
static uint32_t *arrival(struct ddr_channel *c, size_t i)
{
    return &c->arrivals[(c->first + i) % c->arrivals_cap];
}

static void widen_arrivals(struct ddr_channel *c)
{
    const size_t cap = c->arrivals_cap ? c->arrivals_cap * 2 : 16;
    uint32_t *to = xrealloc(NULL, cap, sizeof *to);

    for (size_t i = 0; i < c->n_arrivals; i++)
        to[i] = *arrival(c, i);
    free(c->arrivals);
    c->arrivals = to;
    c->arrivals_cap = cap;
    c->first = 0;
}

/* Inserts by time of arrival, behind those of the same time. Most come last. */
void ddr_channel_add(struct ddr_channel *c, uint32_t request)
{
    const struct ddr_request *r = &c->pool->at[request];
    size_t i;

    if (c->n_arrivals == c->arrivals_cap)
        widen_arrivals(c);
    for (i = c->n_arrivals++; i > 0; i--) {
        const uint32_t before = *arrival(c, i - 1);
        if (c->pool->at[before].r.at <= r->r.at)
            break;
        *arrival(c, i) = before;
    }
    *arrival(c, i) = request;
    if (r->arrival < c->wake)
        c->wake = u64_max(r->arrival, c->now);
    c->count->waiting_writes += r->r.write;
    c->count->waiting_reads += !r->r.write;
    c->unread += !r->r.write;
}

/* Decodes the address and appends the transaction. */
static void list_add(struct ddr_channel *c, struct ddr_list *l, uint32_t request)
{
    const struct ddr_rules *r = c->rules;
    const struct mem_request *m = &c->pool->at[request].r;
#define FIELD(f) (m->addr.at >> r->f.shift & r->f.mask)
    const uint64_t rank = FIELD(rank);
    const uint64_t bank = rank * r->rank_banks + FIELD(group) * r->banks + FIELD(bank);
    const uint64_t queue = r->per_rank ? rank : bank;

    l->entry[l->n++] = (struct ddr_entry){.addr = m->addr.at,
                                          .request = request,
                                          .row = (uint32_t)FIELD(row),
                                          .column = (uint32_t)FIELD(column),
                                          .bank = (uint8_t)bank,
                                          .queue = (uint8_t)queue,
                                          .write = m->write};
#undef FIELD
    l->waiting[queue]++;
    l->queues |= UINT64_C(1) << queue;
}

static void list_remove(struct ddr_list *l, unsigned i)
{
    const unsigned queue = l->entry[i].queue;

    if (!--l->waiting[queue])
        l->queues &= ~(UINT64_C(1) << queue);
    l->n--;
    memmove(l->entry + i, l->entry + i + 1, (l->n - i) * sizeof *l->entry);
}

/* Takes a write, which is posted. A write to a line that waits to be written needs no command of
 * its own. */
static void take_write(struct ddr_channel *c, uint32_t request)
{
    uint64_t *pending = map_put(&c->pending_writes, c->pool->at[request].r.addr.at);

    if (*pending) {
        c->count->merged_writes++;
        c->count->waiting_writes--;
        ddr_pool_give(c->pool, request);
        return;
    }
    *pending = 1;
    list_add(c, &c->writes, request);
}

static void drop_read(struct ddr_channel *c)
{
    c->unread--;
    c->count->waiting_reads--;
}

/* A read of a line that waits to be written has its data in the next cycle; one of a line that
 * waits to be read shares that read's data. */
static void take_read(struct ddr_channel *c, uint32_t request, uint64_t now)
{
    const uint64_t addr = c->pool->at[request].r.addr.at;

    if (map_find(&c->pending_writes, addr)) {
        c->count->forwarded++;
        drop_read(c);
        c->done(c->done_arg, request, now + 1);
        return;
    }
    uint64_t *last = map_put(&c->pending_reads, addr);
    struct ddr_request *before = *last ? &c->pool->at[*last - 1] : &c->pool->at[request];
    if (*last) {
        c->count->merged_reads++;
        drop_read(c);
        c->pool->at[request].next = before->next;
    } else {
        list_add(c, &c->reads, request);
    }
    before->next = request;
    *last = (uint64_t)request + 1;
}

static bool has_room(const struct ddr_channel *c, const struct ddr_request *r)
{
    return r->r.write ? c->writes.n < c->limits->writes : c->reads.n < c->limits->reads;
}

/* Takes requests in, in order: one that finds its queue full holds up those behind it. */
static void take_arrivals(struct ddr_channel *c, uint64_t now)
{
    while (c->n_arrivals) {
        const uint32_t request = *arrival(c, 0);
        const struct ddr_request *r = &c->pool->at[request];
        if (r->arrival > now || !has_room(c, r))
            return;
        c->count->full += now > r->arrival;
        c->count->full_cycles += now - r->arrival;
        c->first = (c->first + 1) % c->arrivals_cap;
        c->n_arrivals--;
        if (r->r.write)
            take_write(c, request);
        else
            take_read(c, request, now);
    }
}

/* ---- from transactions to commands ---------------------------------------------------------- */

/* Moves the oldest transaction whose command queue has room; false: none was moved. */
static bool move_first(struct ddr_channel *c, struct ddr_list *l)
{
    if (!(l->queues & ~c->full))
        return false;
    for (unsigned i = 0; i < l->n; i++) {
        const struct ddr_entry *e = &l->entry[i];
        if (c->full >> e->queue & 1)
            continue;
        if (e->write && map_find(&c->pending_reads, e->addr))
            return false; /* the older read first */
        ddr_queue_add(c, e);
        list_remove(l, i);
        return true;
    }
    return false;
}

/* The two reasons to let writes go: too many of them, or nothing else to do. */
static bool must_drain(const struct ddr_channel *c)
{
    return c->writes.n >= c->limits->high || (c->writes.n > c->limits->idle && !c->active);
}

/* Moves one transaction: a write while a drain lasts, else a read. A drain that comes to a write
 * whose line is still to be read ends there, and may begin again in the next cycle. True: one was
 * moved, or may be in the next cycle. */
static bool move_one(struct ddr_channel *c)
{
    if (!c->draining && !c->reads_only && must_drain(c)) {
        c->draining = c->writes.n > c->limits->low ? c->writes.n - c->limits->low : 1;
        c->count->drains += !c->blocked;
    }
    if (!c->draining || c->reads_only)
        return move_first(c, &c->reads);
    if (move_first(c, &c->writes)) {
        c->draining--;
        c->blocked = false;
        return true;
    }
    if (!(c->writes.queues & ~c->full))
        return false;
    c->draining = 0;
    c->blocked = true;
    return !must_drain(c);
}

static bool waits_to_be_read(const struct ddr_channel *c, uint64_t addr)
{
    for (unsigned i = 0; i < c->reads.n; i++)
        if (c->reads.entry[i].addr == addr)
            return true;
    return false;
}

/* The first write waits for a read, and reads for the drain, which begins again each cycle: with no
 * command left that would be for ever. Then only reads move until that one is a command. */
static void help_over(struct ddr_channel *c)
{
    if (c->reads_only || (!c->draining && !c->active && must_drain(c)))
        c->reads_only = waits_to_be_read(c, c->writes.entry[0].addr);
}

/* ---- commands ------------------------------------------------------------------------------- */

/* A column command is a hit unless it is the first of its row; then it is a conflict if the row
 * before was closed for it, else a miss. */
static void column(struct ddr_channel *c, unsigned bank, bool write, bool precharge, uint64_t now)
{
    struct ddr_bank *b = &c->banks.bank[bank];

    c->count->busy[c->number] += c->rules->burst;
    c->count->writes += write;
    c->count->reads += !write;
    if (b->accesses)
        c->count->hits++;
    else if (b->conflict)
        c->count->conflicts++;
    else
        c->count->misses++;
    ddr_column(&c->banks, bank, write, precharge, now);
    if (precharge)
        b->conflict = false;
}

static inline void show(const struct ddr_channel *c, enum ddr_command command, unsigned bank,
                        uint64_t row, uint64_t column_number, uint64_t now)
{
    const struct ddr_bank *b = &c->banks.bank[bank];
    const struct ddr_place at = {.channel = c->number,
                                 .rank = b->rank,
                                 .group = b->group % (unsigned)c->rules->groups,
                                 .bank = bank % (unsigned)c->rules->banks,
                                 .row = row,
                                 .column = column_number};

    if (UNLIKELY(c->monitor.see != NULL))
        c->monitor.see(c->monitor.arg, now, command, &at);
}

void ddr_channel_precharge(struct ddr_channel *c, unsigned bank, bool conflict, uint64_t now)
{
    c->count->precharges++;
    c->banks.bank[bank].conflict = conflict;
    ddr_precharge(&c->banks, bank, now);
    show(c, DDR_PRECHARGE, bank, 0, 0, now);
}

void ddr_channel_refresh(struct ddr_channel *c, unsigned bank, bool whole_rank, uint64_t now)
{
    c->count->refreshes++;
    if (whole_rank)
        ddr_refresh_rank(&c->banks, bank, now);
    else
        ddr_refresh_bank(&c->banks, bank, now);
    show(c, whole_rank ? DDR_REFRESH : DDR_REFRESH_BANK, bank, 0, 0, now);
}

static void activate(struct ddr_channel *c, const struct ddr_entry *e, uint64_t now)
{
    c->count->activates++;
    ddr_activate(&c->banks, e->bank, e->row, now);
    show(c, DDR_ACTIVATE, e->bank, e->row, 0, now);
}

/* Answers all reads of the line together, in the order in which they came. */
static void finish_read(struct ddr_channel *c, const struct ddr_entry *e, uint64_t now)
{
    const uint32_t last = (uint32_t)(*map_find(&c->pending_reads, e->addr) - 1);

    drop_read(c);
    map_remove(&c->pending_reads, e->addr);
    for (uint32_t i = c->pool->at[last].next;; i = c->pool->at[i].next) {
        c->done(c->done_arg, i, now + c->rules->read_done);
        if (i == last)
            return;
    }
}

static bool is_column(enum ddr_class c)
{
    return c == CLASS_READ || c == CLASS_WRITE;
}

static void access_row(struct ddr_channel *c, const struct ddr_choice *ch, uint64_t now)
{
    static const enum ddr_command command[2][2] = {{DDR_READ, DDR_READ_AUTO},
                                                   {DDR_WRITE, DDR_WRITE_AUTO}};
    const struct ddr_entry e = c->queue[ch->queue].entry[ch->entry];

    column(c, e.bank, e.write, c->rules->closed, now);
    show(c, command[e.write][c->rules->closed], e.bank, e.row, e.column, now);
    ddr_queue_remove(c, ch->queue, ch->entry);
    if (e.write) {
        c->count->waiting_writes--;
        map_remove(&c->pending_writes, e.addr);
        ddr_pool_give(c->pool, e.request);
    } else {
        finish_read(c, &e, now);
    }
}

/* Returns whether it was a column command. */
static bool issue_choice(struct ddr_channel *c, const struct ddr_choice *ch, uint64_t now)
{
    const struct ddr_entry *e = &c->queue[ch->queue].entry[ch->entry];

    if (is_column(ch->class))
        access_row(c, ch, now);
    else if (ch->class == CLASS_ACTIVATE)
        activate(c, e, now);
    else
        ddr_channel_precharge(c, e->bank, true, now);
    ddr_queue_review(c, ch->queue);
    return is_column(ch->class);
}

/* HBM has separate buses for row and column commands: one of each a cycle. */
static void issue_second(struct ddr_channel *c, bool column, uint64_t now)
{
    const struct ddr_choice second = ddr_queue_choose(c, now);

    if (second.found && is_column(second.class) != column)
        issue_choice(c, &second, now);
}

/* Returns the cycle before which no command can be issued, if nothing else happens. */
static uint64_t issue_one(struct ddr_channel *c, uint64_t now)
{
    bool column = false;

    if (!c->owed || !ddr_refresh_work(c, now)) {
        const struct ddr_choice choice = ddr_queue_choose(c, now);
        if (!choice.found)
            return c->owed ? u64_min(ddr_refresh_earliest(c), choice.earliest) : choice.earliest;
        column = issue_choice(c, &choice, now);
    }
    if (c->rules->dual)
        issue_second(c, column, now);
    return now + 1;
}

/* The cycle in which the first arrival can be taken in; UINT64_MAX: once a queue has room, which
 * some other action will bring. */
static uint64_t next_arrival(struct ddr_channel *c, uint64_t now)
{
    if (!c->n_arrivals)
        return UINT64_MAX;
    const struct ddr_request *r = &c->pool->at[*arrival(c, 0)];
    if (r->arrival > now)
        return r->arrival;
    return has_room(c, r) ? now + 1 : UINT64_MAX;
}

/* A cycle. Then it sleeps until the first thing that can happen: a command, an arrival, a refresh.
 */
void ddr_channel_run(struct ddr_channel *c)
{
    const uint64_t now = c->wake;

    assert(now >= c->now);
    ddr_queue_begin(c, now);
    take_arrivals(c, now);
    if (c->writes.n)
        help_over(c);
    ddr_refresh_due(c, now);
    uint64_t wake = issue_one(c, now);
    if (move_one(c))
        wake = now + 1;
    wake = u64_min(wake, next_arrival(c, now));
    c->now = now + 1;
    c->wake = u64_min(wake, c->next_refresh);
}

uint64_t ddr_channel_quiet(struct ddr_channel *c)
{
    if (c->active || c->reads.n || c->draining)
        return c->wake;
    return c->n_arrivals ? c->pool->at[*arrival(c, 0)].arrival : UINT64_MAX;
}

/* Idle channels only refresh. After a whole round of refreshes with nothing else in between, all
 * rows are closed and every round is like the one before: rounds are counted, not simulated, but
 * for the last few, which leave the timing as it would be. */
void ddr_channel_skip(struct ddr_channel *c, uint64_t until)
{
    const struct ddr_rules *r = c->rules;
    const uint64_t turns = r->refresh == REFRESH_RANKS_AT_ONCE ? 1 : r->refresh_targets;
    const uint64_t round = turns * r->refresh_interval;

    if (c->active || c->owed || c->reads.n || c->draining || c->monitor.see ||
        c->wake != c->next_refresh)
        return;
    if (c->n_arrivals)
        until = u64_min(until, c->pool->at[*arrival(c, 0)].arrival);
    if (until == UINT64_MAX || until < c->wake + 4 * round)
        return;
    for (unsigned i = 0; i < c->banks.n; i++)
        if (c->banks.bank[i].open)
            return;
    const uint64_t rounds = (until - c->wake) / round - 2;
    c->count->refreshes += rounds * r->refresh_targets;
    c->next_refresh += rounds * round;
    c->now = c->wake = c->next_refresh;
}
