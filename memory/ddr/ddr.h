/* ddr.h - the built-in DDR model's inside: devices, where they come from, and the commands that a
 * monitor sees. For memory/ddr/ and its tests; others use memory.h.
 *
 * Time is in cycles of the memory clock (tCK), as are all timing parameters. Their names are
 * JEDEC's without the t (tRCD is rcd); _s and _l are short and long: to another bank group, to the
 * same. */
#ifndef LARDSIM_DDR_H
#define LARDSIM_DDR_H

#include "memory/memory.h"

enum ddr_protocol { DDR3, DDR4, LPDDR, LPDDR3, LPDDR4, HBM, HBM2, DDR_PROTOCOLS };
extern const char *const ddr_protocol_name[DDR_PROTOCOLS + 1]; /* NULL-terminated */

/* The banks that a refresh command covers, and their turn: a rank, one after another; all ranks,
 * one right after another; a bank (REFpb of LPDDR4 and HBM), one after another. */
enum ddr_refresh { REFRESH_RANKS, REFRESH_RANKS_AT_ONCE, REFRESH_BANKS, DDR_REFRESHES };

enum { DDR_MAX_BANKS = 64 /* of a channel: sets of banks are words */, DDR_MAX_CHANNELS = 64 };

/* Read from a file or a preset; plain numbers only, so that a reader is a table of offsets. */
struct ddr_device {
    uint64_t protocol;                   /* enum ddr_protocol */
    uint64_t groups, banks;              /* groups of a rank; banks of a group */
    uint64_t rows, columns, width, bl;   /* of a device; bits; beats of a burst */
    uint64_t channels, channel_mib, bus; /* bus: bits of a channel */
    uint64_t cmd_queue, trans_queue;     /* places of a command queue; of reads, and of writes */
    uint64_t per_rank;                   /* a command queue for each rank, else for each bank */
    uint64_t refresh, closed;            /* enum ddr_refresh; closed: page policy */
    uint64_t tck;                        /* femtoseconds */
    uint64_t al, cl, cwl;                /* latencies: additive, read, write */
    uint64_t rcd_rd, rcd_wr, rp, ras, rtp, wr;              /* within a bank */
    uint64_t rfc, rfcb, refi, refib, rrefd;                 /* refresh; ...b: of a single bank */
    uint64_t faw, rrd_s, rrd_l, ccd_s, ccd_l, wtr_s, wtr_l; /* within a rank */
    uint64_t rtrs;    /* between ranks: the data bus changes hands */
    uint64_t ppd;     /* from a precharge to the next one in the rank (LPDDR4) */
    uint64_t dual;    /* HBM: a row and a column command in one cycle */
    char mapping[13]; /* six of ro ra bg ba ch co, highest address bits first */
};

struct ddr_preset {
    const char *name, *help;
    struct ddr_device device;
};
extern const struct ddr_preset ddr_presets[]; /* a NULL name ends it */

/* Reads an .ini file in DRAMSim3's form. -1: error that names file (path) and line. */
int ddr_read_ini(struct ddr_device *d, const char *path, FILE *f, struct err *e);
/* Checks the rules that hold for any device, wherever its numbers come from. */
int ddr_check(const struct ddr_device *d, const char *where, struct err *e);
/* Cuts the blanks off both ends of a text, in its place. */
char *ddr_trim(char *s);
static inline bool ddr_is_hbm(const struct ddr_device *d)
{
    return d->protocol == HBM || d->protocol == HBM2;
}

/* The memory's clock and the processor's: a memory cycle is num / den processor cycles, exactly, so
 * that no rounding adds up over a run. Both are below 2^32, so that products of remainders can't
 * overflow. */
struct ddr_clock {
    uint64_t num, den;
};
/* tck: femtoseconds. -1: they have no such ratio; memory: "memory.ddr", for the message. */
int ddr_clock_set(struct ddr_clock *c, uint64_t tck, uint64_t mhz, const char *memory,
                  struct err *e);
/* The last edge of the memory's clock up to a processor cycle. */
static inline uint64_t ddr_last_edge(const struct ddr_clock *c, sim_cycle at)
{
    return at / c->num * c->den + at % c->num * c->den / c->num;
}
/* The processor cycle that begins with a memory cycle, or first after it. */
static inline sim_cycle ddr_to_processor(const struct ddr_clock *c, uint64_t cycle)
{
    return cycle / c->den * c->num + (cycle % c->den * c->num + c->den - 1) / c->den;
}

/* Two commands are near each other in the same bank group, in another of the rank, or in another
 * rank. */
enum ddr_near { NEAR_GROUP, NEAR_RANK, NEAR_CHANNEL };
struct ddr_field { /* of an address: (address >> shift) & mask */
    unsigned shift;
    uint64_t mask;
};
/* Rules derived from a device: the layout of addresses, and cycles between commands. */
struct ddr_rules {
    uint64_t channels, ranks, groups, banks, rank_banks; /* rank_banks: groups * banks */
    unsigned line_shift;                                 /* log2 of the bytes of a burst */
    struct ddr_field channel, rank, group, bank, row, column;
    uint64_t burst;               /* cycles on the data bus */
    uint64_t read_done;           /* from a read to its last data */
    uint64_t read_pre, write_pre; /* to a precharge of the same bank */
    /* Cycles from a column command to the next: [the first is a write][enum ddr_near][the second
     * is]. */
    uint64_t column_wait[2][3][2];
    uint64_t act_act[2];     /* between activates: in the same group, in another of the rank */
    uint64_t act_rd, act_wr; /* from an activate to a read, a write of its bank */
    uint64_t rc, ras, rp, faw, ppd;
    uint64_t rfc, rfcb, rrefd;
    uint64_t refresh_interval; /* from one refresh command's turn to the next one's */
    uint64_t refresh_targets;  /* ranks, or banks, that take turns */
    enum ddr_refresh refresh;
    bool closed, per_rank;
    bool dual; /* a row and a column command in one cycle */
};
void ddr_rules_derive(struct ddr_rules *r, const struct ddr_device *d);
uint64_t ddr_line_bytes(const struct ddr_device *d);

enum ddr_command {
    DDR_ACTIVATE,
    DDR_PRECHARGE,
    DDR_READ,
    DDR_WRITE,
    DDR_READ_AUTO, /* precharges its bank */
    DDR_WRITE_AUTO,
    DDR_REFRESH, /* of a rank */
    DDR_REFRESH_BANK,
    DDR_COMMANDS
};

struct ddr_place { /* the target of a command; a part that it does not need is 0 */
    unsigned channel, rank, group, bank;
    uint64_t row, column; /* column: in bursts */
};

/* Called with every command, in order of cycles a channel. */
struct ddr_monitor {
    void (*see)(void *arg, uint64_t cycle, enum ddr_command c, const struct ddr_place *at);
    void *arg;
};

/* Shows the monitor each command. self: a memory whose type is ddr. */
void ddr_watch(void *self, struct ddr_monitor monitor);

#endif
