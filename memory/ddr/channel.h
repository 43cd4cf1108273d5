/* channel.h - a channel's memory controller: transaction queues, command queues, the choice of the
 * next command, refresh. The way of a request is
 *   arrivals -> read or write list -> a bank's command queue -> commands -> done
 * Time is in memory cycles; only ddr/ddr.c knows what they are in processor cycles. For the DDR
 * model only. */
#ifndef LARDSIM_DDR_CHANNEL_H
#define LARDSIM_DDR_CHANNEL_H

#include "base/map.h"
#include "memory/ddr/timing.h"

#define DDR_NONE UINT32_MAX /* no request */

struct ddr_request {
    struct mem_request r;
    uint64_t arrival; /* the memory cycle that takes it in, if there is room */
    uint32_t next;    /* the next read of the same line, in a ring, or the next free one */
};
struct ddr_pool {           /* all requests that a memory has in hand, by number */
    struct ddr_request *at; /* owns */
    uint32_t n, free;       /* free: the first of the list of free ones, or DDR_NONE */
    size_t cap;
};

struct ddr_limits {                   /* the limits of a controller */
    unsigned reads, writes, commands; /* queue sizes; commands: of each command queue */
    unsigned high, low;               /* watermarks of a write drain: begins at high, leaves low */
    unsigned idle;                    /* more writes than this are drained when no command waits */
    unsigned hits; /* column accesses to an open row before a conflict may close it */
};

struct ddr_entry { /* a request in a queue of the controller */
    uint64_t addr;
    uint32_t request, row; /* request: its number in the pool */
    uint32_t column;       /* in bursts */
    uint8_t bank;          /* counted through all ranks of the channel */
    uint8_t queue;         /* the command queue that serves that bank */
    bool write;
};
/* A candidate: a command that a queue could issue next for one of its entries. */
struct ddr_candidate {
    uint16_t entry;      /* its index */
    uint8_t bank, class; /* an enum ddr_class */
};
struct ddr_queue {
    struct ddr_entry *entry; /* owns; oldest first */
    /* Owns; in order of preference, at most one of each class for each bank. */
    struct ddr_candidate *candidate;
    unsigned n, candidates; /* entries; commands in candidate */
};
/* A timing wheel: when to look again at queues that have no command ready. It has a slot for each
 * of the next DDR_SLOTS cycles, with the set of queues that are due then. To look too early, or in
 * vain, does no harm. */
enum { DDR_SLOTS = 256 };
struct ddr_wheel {
    uint64_t slot[DDR_SLOTS];      /* by cycle modulo DDR_SLOTS: a set of queues */
    uint64_t used[DDR_SLOTS / 64]; /* the set of slots that are not empty */
};
/* A transaction queue: reads, or writes, that wait for a place in a command queue. */
struct ddr_list {
    struct ddr_entry *entry;         /* owns; oldest first */
    unsigned n;                      /* entries */
    unsigned waiting[DDR_MAX_BANKS]; /* how many, by command queue */
    uint64_t queues;                 /* the set of command queues that some wait for */
};

struct ddr_count {                             /* the counts of all channels */
    uint64_t hits, misses, conflicts;          /* column commands by their row */
    uint64_t reads, writes;                    /* column commands */
    uint64_t activates, precharges, refreshes; /* commands */
    /* Requests that need no command: reads answered from the write queue, and those of a line that
     * another request is about to read or write. */
    uint64_t forwarded, merged_reads, merged_writes;
    uint64_t waiting_reads, waiting_writes; /* lines still to be read or written; levels */
    uint64_t full, full_cycles;             /* requests that found a queue full */
    uint64_t drains;                        /* times that writes were given way */
    uint64_t busy[DDR_MAX_CHANNELS];        /* cycles of the data bus */
};

struct ddr_channel {
    unsigned number, n_queues;     /* among the channels; of queue, how many are used */
    const struct ddr_rules *rules; /* borrow */
    const struct ddr_limits *limits;
    struct ddr_pool *pool;
    struct ddr_timing banks;               /* from when on each command is allowed */
    struct ddr_queue queue[DDR_MAX_BANKS]; /* of commands: n_queues are used */
    struct ddr_wheel wheel;
    /* Sets of queues, a bit each: those that may have a command ready; those that are not empty;
     * those that are full; those that issue nothing because a refresh is to come. */
    uint64_t due, active, full, refreshing;
    unsigned turn; /* the queue that issued the latest command: round robin goes on behind it */
    struct ddr_list reads, writes; /* transactions that wait for a command queue */
    unsigned draining;             /* writes still to be moved before reads again */
    bool blocked;                  /* the latest drain came to a write that waits for a read */
    bool reads_only;               /* no drain until that read has become a command */
    /* Lines that wait to be read (the number of the last request, plus 1) or written, by
     * address. */
    struct map pending_reads, pending_writes;
    uint32_t *arrivals; /* owns; a ring of requests not yet taken in, by time of arrival */
    size_t first, n_arrivals, arrivals_cap; /* of the ring */
    uint64_t now;                           /* cycles before this are done */
    uint64_t wake;                          /* nothing happens before this cycle */
    uint64_t next_refresh, owed; /* when the next one falls due; due and not yet issued */
    unsigned refresh_target;     /* the rank or bank whose turn it is */
    uint64_t unread;             /* lines still to be read */
    struct ddr_count *count;     /* borrows */
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
void ddr_channel_run(struct ddr_channel *c); /* works through one cycle: c->wake */
/* A lower bound: of the requests that it has, it answers none before this cycle. */
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
    uint64_t earliest; /* if not found: no queue has a command ready before this cycle */
};
/* The command to issue now: first ready, first come, first served in a queue; round robin between
 * queues. */
struct ddr_choice ddr_queue_choose(struct ddr_channel *c, uint64_t now);

/* ddr/refresh.c */
void ddr_refresh_due(struct ddr_channel *c, uint64_t now); /* notes what falls due by now */
/* Issues the next command of the refresh whose turn it is: a precharge, or the refresh itself.
 * False: none can be issued yet. */
bool ddr_refresh_work(struct ddr_channel *c, uint64_t now);
uint64_t ddr_refresh_earliest(const struct ddr_channel *c); /* the cycle of that command */

/* Issue a command: state, counts, monitor. conflict: to make way for another row. */
void ddr_channel_precharge(struct ddr_channel *c, unsigned bank, bool conflict, uint64_t now);
void ddr_channel_refresh(struct ddr_channel *c, unsigned bank, bool whole_rank, uint64_t now);

#endif
