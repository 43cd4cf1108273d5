/* channel.h - a channel's controller: queues, the choice of the next command, refresh. It works
 * through its own cycles; what they are in processor cycles only ddr/ddr.c knows. For the DDR model
 * only. */
#ifndef LARDSIM_DDR_CHANNEL_H
#define LARDSIM_DDR_CHANNEL_H

#include "memory/ddr/timing.h"

#define DDR_NONE UINT32_MAX /* no request */

struct ddr_request {
    struct mem_request r;
    uint64_t arrival; /* cycle */
    uint32_t next;    /* a later read of the same line, or the next free one */
};
struct ddr_pool {           /* all requests that a memory has in hand, by number */
    struct ddr_request *at; /* owns */
    uint32_t n, free;
    size_t cap;
};

struct ddr_limits {                   /* of a controller */
    unsigned reads, writes, commands; /* queue sizes */
    unsigned high, low, idle;         /* marks of the write queue */
    unsigned hits;                    /* on an open row, before a waiting conflict may close it */
};

struct ddr_entry { /* a request in a queue of the controller */
    uint64_t addr;
    uint32_t request, row;
    uint32_t column;
    uint8_t bank;  /* of the channel */
    uint8_t queue; /* of commands, for that bank */
    bool write;
};
/* A command that a queue would issue next, in order of preference: at most one of each class
 * for each bank. */
struct ddr_want {
    uint16_t entry;
    uint8_t bank, class; /* an enum ddr_class */
};
struct ddr_queue {
    struct ddr_entry *entry; /* owns; oldest first */
    struct ddr_want *want;   /* owns */
    unsigned n, wants;
};
/* When queues that have no command ready are to be looked at again: a slot a cycle, each a set of
 * queues. A look too early, or in vain, does no harm. */
enum { DDR_SLOTS = 256 };
struct ddr_wheel {
    uint64_t slot[DDR_SLOTS];
    uint64_t used[DDR_SLOTS / 64]; /* the set of slots that are not empty */
};
struct ddr_list {            /* of transactions that wait for a place in a command queue */
    struct ddr_entry *entry; /* owns; oldest first */
    unsigned n;
    unsigned waiting[DDR_MAX_BANKS]; /* by command queue */
    uint64_t queues;                 /* the set of queues that are waited for */
};

struct ddr_count {                    /* of all channels */
    uint64_t hits, misses, conflicts; /* of column commands */
    uint64_t reads, writes;           /* column commands */
    uint64_t activates, precharges, refreshes;
    uint64_t forwarded, merged_reads, merged_writes;
    uint64_t waiting_reads, waiting_writes; /* not yet any of the above; levels */
    uint64_t full, full_cycles;             /* requests that found a queue full */
    uint64_t drains;
    uint64_t busy[DDR_MAX_CHANNELS]; /* cycles of the data bus */
};

struct ddr_channel {
    unsigned number, n_queues;
    const struct ddr_rules *rules; /* borrow */
    const struct ddr_limits *limits;
    struct ddr_pool *pool;
    struct ddr_timing banks;
    struct ddr_queue queue[DDR_MAX_BANKS];
    struct ddr_wheel wheel;
    uint64_t due;                      /* a set of queues: they may have a command that is ready */
    uint64_t active, full, refreshing; /* sets of queues: not empty; full; kept back */
    unsigned turn;                     /* the queue that had the latest command */
    struct ddr_list reads, writes;
    unsigned draining;                        /* writes still to be moved before reads again */
    struct map pending_reads, pending_writes; /* by address: the first request */
    uint32_t *arrivals; /* owns; a ring of requests not yet taken in, by time of arrival */
    size_t first, n_arrivals, arrivals_cap;
    uint64_t now;  /* cycles before this are done */
    uint64_t wake; /* nothing happens before this cycle */
    uint64_t next_refresh, owed;
    unsigned refresh_target;
    uint64_t unread;         /* lines still to be read */
    struct ddr_count *count; /* borrows */
    struct ddr_monitor monitor;
    /* A read's data is complete. */
    void (*done)(void *arg, uint32_t request, uint64_t cycle);
    void *done_arg;
};

void ddr_channel_init(struct ddr_channel *c, unsigned number, const struct ddr_rules *rules,
                      const struct ddr_limits *limits, struct ddr_pool *pool,
                      struct ddr_count *count);
void ddr_channel_free(struct ddr_channel *c);
void ddr_channel_add(struct ddr_channel *c, uint32_t request);
void ddr_channel_run(struct ddr_channel *c); /* the cycle c->wake */
/* It answers nothing before this cycle, unless it is asked something else. */
uint64_t ddr_channel_quiet(struct ddr_channel *c);
/* Jumps over refreshes of a channel that has nothing else to do, to the last of them before
 * `until`. */
void ddr_channel_skip(struct ddr_channel *c, uint64_t until);

uint32_t ddr_pool_take(struct ddr_pool *p);
void ddr_pool_give(struct ddr_pool *p, uint32_t request);

/* ddr/queue.c */
void ddr_queue_add(struct ddr_channel *c, const struct ddr_entry *e);
void ddr_queue_remove(struct ddr_channel *c, unsigned queue, unsigned entry);
void ddr_queue_review(struct ddr_channel *c, unsigned queue); /* its banks or entries changed */
/* Begins a cycle: queues that are to be looked at in it become due. */
void ddr_queue_begin(struct ddr_channel *c, uint64_t now);
struct ddr_choice {
    bool found;
    unsigned queue, entry;
    enum ddr_class class;
    uint64_t earliest; /* where none is found: none before this cycle */
};
struct ddr_choice ddr_queue_choose(struct ddr_channel *c, uint64_t now);

/* ddr/refresh.c */
void ddr_refresh_due(struct ddr_channel *c, uint64_t now);
bool ddr_refresh_work(struct ddr_channel *c,
                      uint64_t now); /* false: no command can be issued yet */
uint64_t ddr_refresh_earliest(const struct ddr_channel *c); /* of its next command */

/* Issue a command: state, counts, monitor. conflict: to make way for another row. */
void ddr_channel_precharge(struct ddr_channel *c, unsigned bank, bool conflict, uint64_t now);
void ddr_channel_refresh(struct ddr_channel *c, unsigned bank, bool whole_rank, uint64_t now);

#endif
