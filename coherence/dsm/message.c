/* message.c - messages in time: software on both sides, links between hosts, processes that serve
 * one request at a time; and what processes owe for what they did for others.
 *
 * The one whose call it is waits: its software runs at once. Another is interrupted. A request that
 * was sent before this call's start, as its process has waited since, takes no link and no handler
 * away from others: what they have been given since stays. */
#include "coherence/dsm/dsm_int.h"

#include "base/mem.h"

struct path path_begin(struct dsm *d, unsigned process, sim_cycle now)
{
    d->actor = process;
    d->floor = now > d->floor ? now : d->floor;
    return (struct path){.at = now};
}

sim_cycle path_end(struct dsm *d, enum dsm_wait what, sim_cycle since, const struct path *p)
{
    uint64_t sum = 0;

    d->st.wait[what] += p->at - since;
    for (unsigned i = 0; i < DSM_PARTS; i++) {
        d->st.part[what][i] += p->part[i];
        d->st.part_all[i] += p->part[i];
        sum += p->part[i];
    }
    assert(sum == p->at - since);
    (void)sum;
    return p->at;
}

/* ---- software -------------------------------------------------------------------------------- */

enum { MOST_OWED = 1024 };

void process_owe(struct dsm *d, unsigned process, sim_cycle at, sim_cycle cycles)
{
    struct process *q = &d->process[process];

    if (!cycles)
        return;
    d->st.served += cycles;
    if (at >= q->stood && at < q->stood_to) {
        d->st.hidden += cycles;
        return;
    }
    if (q->owes == MOST_OWED) { /* it has done nothing for long: what is old becomes one */
        for (size_t i = 1; i <= MOST_OWED / 2; i++)
            q->owed[0].cycles += q->owed[i].cycles;
        q->owed[0].at = q->owed[MOST_OWED / 2].at;
        q->owes = MOST_OWED - MOST_OWED / 2;
        memmove(q->owed + 1, q->owed + MOST_OWED / 2 + 1, (q->owes - 1) * sizeof *q->owed);
    }
    q->owed = xgrow(q->owed, q->owes, &q->owed_cap, sizeof *q->owed);
    q->owed[q->owes++] = (struct owed){at, cycles};
}

/* Takes the first free time at or after the path's, which waits until then. */
static void reserve(struct dsm *d, struct calendar *c, struct path *p, sim_cycle cycles)
{
    if (p->at < d->floor || !cycles)
        return;
    path_reach(
        p, DSM_PART_QUEUE,
        calendar_take(c, d->floor, p->at, cycles < INT32_MAX ? (unsigned)cycles : INT32_MAX));
}

void process_work(struct dsm *d, struct path *p, unsigned process, enum dsm_part part,
                  sim_cycle cycles)
{
    if (process != d->actor) {
        reserve(d, &d->process[process].handler, p, cycles);
        process_owe(d, process, p->at, cycles);
    }
    path_spend(p, part, cycles);
}

/* Takes what is owed since one cycle and before another. */
static sim_cycle take_owed(struct process *q, sim_cycle from, sim_cycle to)
{
    sim_cycle sum = 0;
    size_t left = 0;

    for (size_t i = 0; i < q->owes; i++)
        if (q->owed[i].at >= from && q->owed[i].at < to)
            sum += q->owed[i].cycles;
        else
            q->owed[left++] = q->owed[i];
    q->owes = left;
    return sum;
}

sim_cycle dsm_owed(struct dsm *d, unsigned process, sim_cycle now)
{
    struct process *q = &d->process[process];

    q->stood_to = u64_min(q->stood_to, now); /* later, it had not begun */
    return take_owed(q, 0, now + 1);
}

void dsm_stood(struct dsm *d, unsigned process, sim_cycle from, sim_cycle to)
{
    struct process *q = &d->process[process];

    q->stood = from;
    q->stood_to = to;
    d->st.hidden += take_owed(q, from, to);
}

/* ---- messages -------------------------------------------------------------------------------- */

static uint64_t load_bytes(const struct load *l)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < DSM_CONTENTS; i++)
        sum += l->bytes[i];
    return sum;
}

void message_add(struct dsm *d, enum dsm_message kind, struct load load)
{
    const uint64_t bytes = load_bytes(&load);

    d->st.bytes += bytes;
    d->st.message_bytes[kind] += bytes;
    for (unsigned i = 0; i < DSM_CONTENTS; i++)
        d->st.content[i] += load.bytes[i];
}

/* Carries the message through the links of both hosts at the same time. */
static void message_wire(struct dsm *d, struct path *p, unsigned from, unsigned to, uint64_t bytes)
{
    const unsigned per = (unsigned)d->params.host;
    struct host *a = &d->host[from / per], *b = &d->host[to / per];

    if (a == b) {
        path_spend(p, DSM_PART_WIRE, d->time.local);
        return;
    }
    const sim_cycle length = (bytes * 8 * d->mhz + d->params.bandwidth - 1) / d->params.bandwidth;
    reserve(d, &a->out, p, length);
    path_spend(p, DSM_PART_WIRE, d->time.latency);
    reserve(d, &b->in, p, length);
    path_spend(p, DSM_PART_WIRE, length);
}

struct mail message_post(struct dsm *d, struct path *p, unsigned from, unsigned to,
                         enum dsm_message kind, struct load load)
{
    load.bytes[DSM_BYTES_HEADER] += d->params.header;
    struct mail m = {.bytes = load_bytes(&load)};

    assert(from != to);
    d->st.messages++;
    d->st.message[kind]++;
    d->st.local += from / d->params.host == to / d->params.host;
    message_add(d, kind, load);
    process_work(d, p, from, DSM_PART_SEND,
                 d->time.send + ns_cycles(d, d->params.copy * m.bytes / 1024));
    m.there = *p;
    message_wire(d, &m.there, from, to, m.bytes);
    return m;
}

void message_accept(struct dsm *d, struct path *p, unsigned to, uint64_t bytes)
{
    process_work(d, p, to, DSM_PART_RECEIVE,
                 d->time.receive + ns_cycles(d, d->params.copy * bytes / 1024));
}

void message_send(struct dsm *d, struct path *p, unsigned from, unsigned to, enum dsm_message kind,
                  struct load load)
{
    const struct mail m = message_post(d, p, from, to, kind, load);

    *p = m.there;
    message_accept(d, p, to, m.bytes);
}

void message_ride(struct dsm *d, struct path *p, unsigned from, unsigned to)
{
    process_work(d, p, from, DSM_PART_SEND, d->time.send);
    message_wire(d, p, from, to, 0);
    process_work(d, p, to, DSM_PART_RECEIVE, d->time.receive);
}

void message_send_on(struct dsm *d, struct path *p, unsigned from, unsigned to, uint64_t bytes)
{
    const sim_cycle copy = ns_cycles(d, d->params.copy * bytes / 1024);

    process_work(d, p, from, DSM_PART_SEND, copy);
    message_wire(d, p, from, to, bytes);
    process_work(d, p, to, DSM_PART_RECEIVE, copy);
}
