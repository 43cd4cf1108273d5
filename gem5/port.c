/* port.c - see port.h. */
#include "gem5/port.h"

#include <stdlib.h>
#include <string.h>

struct answer { /* on its way to the core */
    void *what;
    uint64_t tick; /* not before */
};

struct port {
    struct live *live;
    struct port_core to;
    struct port_counts counts;
    struct live_access half; /* the read of an atomic operation whose write is to come */
    bool halved;
    struct port_packet asked; /* the latest request */
    struct port_packet whole; /* an access in two requests: all of it */
    const void *part[2];      /* these */
    unsigned parts;           /* so many are to be answered */
    struct port_packet tail;  /* atomic: an access that may go on; took so long */
    uint64_t tail_took;
    struct answer *answer; /* a queue: none overtakes another */
    size_t answers, room;
    unsigned core;
    bool tailed, sending, blocked;
};

struct port *port_new(struct live *l, unsigned core, const struct port_core *to)
{
    struct port *p = calloc(1, sizeof *p);

    if (p)
        *p = (struct port){.live = l, .to = *to, .core = core};
    return p;
}

void port_free(struct port *p)
{
    if (p)
        free(p->answer);
    free(p);
}

const struct port_counts *port_counted(const struct port *p)
{
    return &p->counts;
}

/* ---- accesses ------------------------------------------------------------------------------- */

static bool is_access(const struct port_packet *k)
{
    return (k->is & (PORT_READ | PORT_WRITE)) &&
           !(k->is & (PORT_PREFETCH | PORT_FETCH | PORT_MAINTENANCE | PORT_NO_ADDRESS)) && k->size;
}

/* Are a and b one access that crosses a line? Then they were made in one tick: a core makes the
 * next access, even of the same instruction, only after this one. */
static bool goes_on(const struct port *p, const struct port_packet *a, const struct port_packet *b)
{
    return is_access(a) && is_access(b) && a->is == b->is && a->made == b->made &&
           a->at.pc == b->at.pc && a->at.pid == b->at.pid && a->addr + a->size == b->addr &&
           b->addr % p->to.line == 0;
}

static int tell(struct port *p, const struct live_access *a)
{
    const bool read = a->is & LIVE_READ, write = a->is & LIVE_WRITE;

    p->counts.atomics += read && write;
    p->counts.reads += read && !write;
    p->counts.writes += write && !read;
    p->counts.marked += (a->is & LIVE_MARKED) != 0;
    return live_access(p->live, a);
}

/* Reports an access that is whole, or one half of an atomic operation. */
static int report(struct port *p, const struct port_packet *k, uint64_t took)
{
    struct live_access a = {.at = k->at, .addr = k->addr, .took = took, .size = k->size};
    int bad = 0;

    if (!is_access(k)) {
        p->counts.ignored++;
        return 0;
    }
    a.is = (k->is & PORT_READ ? LIVE_READ : 0u) | (k->is & PORT_WRITE ? LIVE_WRITE : 0u) |
           (k->is & PORT_MARKED ? LIVE_MARKED : 0u) | (k->is & PORT_ON_STACK ? LIVE_ON_STACK : 0u);
    if (p->halved) {
        p->halved = false;
        if ((k->is & PORT_LOCKED) && (k->is & PORT_WRITE) && a.addr == p->half.addr)
            a.took += p->half.took;
        else /* it was given up: a read */
            bad = tell(p, &p->half);
    }
    if ((k->is & PORT_LOCKED) && !(k->is & PORT_WRITE)) {
        p->half = a;
        p->halved = true;
        return bad;
    }
    if (k->is & PORT_LOCKED)
        a.is |= LIVE_READ;
    return bad | tell(p, &a);
}

/* ---- timing --------------------------------------------------------------------------------- */

void port_request(struct port *p, const struct port_packet *k)
{
    const struct port_packet *last = &p->asked;

    if (last->id && !p->parts && goes_on(p, last, k)) {
        p->whole = *last;
        p->whole.size += k->size;
        p->part[0] = last->id;
        p->part[1] = k->id;
        p->parts = 2;
        p->counts.split++;
    }
    p->asked = *k;
}

static bool queue(struct port *p, void *what, uint64_t tick)
{
    if (p->answers == p->room) {
        const size_t room = p->room ? p->room * 2 : 8;
        struct answer *more = realloc(p->answer, room * sizeof *more);

        if (!more)
            return false;
        p->answer = more;
        p->room = room;
    }
    p->answer[p->answers++] = (struct answer){what, tick};
    return true;
}

void port_pump(struct port *p, uint64_t now)
{
    if (p->sending) /* the core asks and is answered while it takes an answer */
        return;
    p->sending = true;
    while (p->answers && !p->blocked && p->answer[0].tick <= now) {
        if (!p->to.send(p->to.arg, p->answer[0].what)) {
            p->blocked = true;
            break;
        }
        memmove(p->answer, p->answer + 1, --p->answers * sizeof *p->answer);
    }
    p->sending = false;
    if (p->answers && !p->blocked)
        p->to.wake(p->to.arg, p->answer[0].tick);
}

void port_retry(struct port *p, uint64_t now)
{
    p->blocked = false;
    port_pump(p, now);
}

bool port_is_idle(const struct port *p)
{
    return !p->answers;
}

int port_answer(struct port *p, const struct port_packet *k, void *answer)
{
    const bool part = p->parts && (k->id == p->part[0] || k->id == p->part[1]);
    const uint64_t now = k->at.tick;
    struct port_packet whole = *k;
    uint64_t owed = 0;
    int bad = 0;

    if (part) {
        whole = p->whole;
        whole.at = k->at;
        p->parts--;
    }
    if (!part || !p->parts) {
        bad = report(p, &whole, now - k->made);
        owed = live_owed(p->live, p->core);
    }
    p->counts.delayed += owed != 0;
    p->counts.ticks += owed;
    if (!queue(p, answer, now + owed))
        abort(); /* no memory, and an answer must not be lost */
    port_pump(p, now);
    return bad;
}

/* ---- atomic --------------------------------------------------------------------------------- */

static void settle(void *arg) /* nothing went on: what has come is all */
{
    struct port *p = arg;

    if (!p->tailed)
        return;
    p->tailed = false;
    report(p, &p->tail, p->tail_took); /* an error stays in the run */
}

uint64_t port_atomic(struct port *p, const struct port_packet *k, uint64_t took)
{
    struct port_packet whole = *k;

    if (p->tailed && goes_on(p, &p->tail, k)) {
        whole.addr = p->tail.addr;
        whole.size += p->tail.size;
        took += p->tail_took;
        p->tailed = false;
        p->counts.split++;
    } else {
        settle(p);
    }
    if (is_access(k) && (k->addr + k->size) % p->to.line == 0) {
        p->tail = whole;
        p->tail_took = took;
        p->tailed = true;
        live_hold(p->live, settle, p);
    } else {
        report(p, &whole, took);
    }
    uint64_t owed = live_owed(p->live, p->core);
    p->counts.delayed += owed != 0;
    p->counts.ticks += owed;
    return owed;
}
