/* private.c - a program's instrumented accesses to private data, between those of the program that
 * the kernel makes: as many for one of these, and of such kinds, as CVM's Table 4 counts.
 *
 * A kernel computes with shared data alone. Of the loads and stores that CVM had to look at, most
 * were to private data (5.1): a detector that looks at each pays for them. An access of the kernel
 * with a gap of so many instructions before it gets its private ones into that gap. */
#include <stdlib.h>

#include "base/mem.h"
#include "workloads/vm/vm_int.h"

/* Table 4's figures for the two kinds of data. The row without calls at private data is of shared
 * data alone. */
struct shares {
    uint64_t shared, private, proved, again;
};

struct owing { /* a thread: what it owes, in parts of `shared` or `private` */
    uint64_t due, proved, again, count;
};
struct private_source {
    struct source source; /* first */
    struct source *of;    /* owns */
    struct shares shares;
    struct owing *thread; /* owns */
    size_t threads;
    struct event *rec; /* owns */
    size_t n, cap;
    uint64_t made; /* events delivered */
};

/* A thread's own data lie apart from every heap, and its sites apart from every kernel's. */
#define OWN_DATA UINT64_C(0x7f0000000000)
enum { OWN_BYTES = 4096, APART = 16, SITES = UINT32_C(1) << 20, SITES_EACH = 64, WRITES_IN = 4 };

static void record_put(struct private_source *s, const struct event *ev)
{
    s->rec = xgrow(s->rec, s->n, &s->cap, sizeof *s->rec);
    s->rec[s->n++] = *ev;
}

/* True as often as `part` of `of`, evenly. */
static bool due(uint64_t *owed, uint64_t part, uint64_t of)
{
    *owed += part;
    if (*owed < of)
        return false;
    *owed -= of;
    return true;
}

/* A private access; k: of those before one of the kernel's, from 0. */
static void put_private(struct private_source *s, struct owing *m, const struct event *before,
                        unsigned k, uint32_t gap)
{
    const bool proved = due(&m->proved, s->shares.proved, s->shares.private);
    const bool again = m->count && due(&m->again, s->shares.again, s->shares.private);
    const uint64_t at = again ? m->count - 1 : m->count++;
    const uint64_t site = SITES + (before->aux % SITES) * SITES_EACH + 2 * (k % (SITES_EACH / 2));
    const struct event ev = {.addr =
                                 OWN_DATA + ((sim_addr)before->tid << 24) + at * APART % OWN_BYTES,
                             .aux = site + proved,
                             .size = 8,
                             .gap = gap,
                             .tid = before->tid,
                             .flags = (uint16_t)(EVF_PRIVATE | (proved ? EVF_PROVED : 0)),
                             .kind = at % WRITES_IN ? EV_READ : EV_WRITE};

    record_put(s, &ev);
}

static struct owing *member_at(struct private_source *s, sim_tid tid)
{
    s->thread = budget_reach(NULL, s->thread, &s->threads, tid, sizeof *s->thread);
    return &s->thread[tid];
}

/* The access, and before it those that are due, which take their instructions from its gap. */
static void put_access(struct private_source *s, const struct event *ev)
{
    struct owing *m = member_at(s, ev->tid);
    struct event left = *ev;
    unsigned n = 0;

    for (m->due += s->shares.private; m->due >= s->shares.shared; m->due -= s->shares.shared)
        n++;
    for (unsigned k = 0; k < n; k++) {
        const uint32_t rest = left.gap, gap = rest > n - k ? (rest - (n - k)) / (n - k + 1) : 0;
        put_private(s, m, ev, k, gap);
        left.gap = rest > gap ? rest - gap - 1 : 0;
    }
    record_put(s, &left);
}

static int next(struct source *self, struct batch *b, struct err *e)
{
    struct private_source *s = (struct private_source *)(void *)self;
    struct batch in = {.records = 0};

    if (s->of->next(s->of, &in, e))
        return -1;
    s->n = 0;
    uint64_t events = 0;
    for (const struct event *ev = in.rec; ev < in.rec + in.records; ev += event_records(ev)) {
        const size_t was = s->n;
        if (event_is_access(ev) && event_tracked(ev))
            put_access(s, ev);
        else
            for (unsigned i = 0; i < event_records(ev); i++)
                record_put(s, &ev[i]);
        events += event_is_access(ev) ? s->n - was : 1;
    }
    *b = in;
    b->rec = s->rec;
    b->records = s->n;
    b->first = s->made;
    s->made += events;
    return 0;
}

static void close_source(struct source *self)
{
    struct private_source *s = (struct private_source *)(void *)self;

    s->of->close(s->of);
    free(s->thread);
    free(s->rec);
    free(s);
}

struct source *private_open(struct source *of, const struct workload_private *t)
{
    struct private_source *s = xcalloc(1, sizeof *s);
    const uint64_t batched = t->none - t->batching, batched_shared = t->modified - t->all;

    s->source = *of;
    s->source.next = next;
    s->source.close = close_source;
    s->source.driven = NULL; /* its threads can't be asked one by one */
    s->of = of;
    s->shares = (struct shares){.shared = t->modified,
                                .private = t->none - t->modified,
                                .proved = t->none - t->data_flow,
                                .again = batched > batched_shared ? batched - batched_shared : 0};
    return &s->source;
}
