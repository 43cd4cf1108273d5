/* compare.h - policies of one run held against one of them (docs/compare.md). */
#ifndef LARDSIM_COMPARE_INT_H
#define LARDSIM_COMPARE_INT_H

#include "base/shadow.h"
#include "policy/checker.h"
#include "sim/sim.h"

enum { COMPARE_INSTANCES = 64 }; /* sets of instances are masks */

/* ---- who happens before whom, in one view: order.c ------------------------------------------ */

struct ordering;
struct ordering *ordering_new(const struct checker *of, struct budget *budget); /* borrows both */
void ordering_free(struct ordering *o);
/* After each event; positions are those of events as they ran, from 1 on. */
void ordering_note(struct ordering *o, const struct event *ev, uint64_t position);
/* True: the event of thread `of` at this position happens before the event in hand, which is tid's.
 */
bool ordering_before(const struct ordering *o, sim_tid of, uint64_t position, sim_tid tid);

/* ---- what became of what was remembered: fate.c --------------------------------------------- */

enum fate_how {
    FATE_KEPT,        /* it is remembered */
    FATE_UNCHECKED,   /* the view does not check it */
    FATE_UNKEPT,      /* it was not remembered, by a rule */
    FATE_DISPLACED,   /* an access took its place */
    FATE_GONE,        /* it is not remembered since an event that is no access there */
    FATE_CLEARED,     /* a clear ended the life of the location */
    FATE_OVERWRITTEN, /* a copy took the place of all that was there */
    FATE_NOT_BROUGHT, /* a copy brought it here for others */
    FATE_ANOTHER,     /* another access of its commit is remembered, of the same kind */
    FATE_ELSEWHERE,   /* it was no access to this location */
    FATE_UNKNOWN      /* the policy does not say what it remembers */
};
struct fate {
    const char *rule; /* a clause; NULL: none */
    uint64_t event;   /* of the access, clear or copy */
    uint8_t how;      /* enum fate_how */
};

struct fates;
struct fates *fates_new(struct checker *const *of, uint32_t n, unsigned granule,
                        struct budget *budget); /* borrows all */
void fates_free(struct fates *f);
/* After each event, once its differences are explained. */
void fates_note(struct fates *f, const struct event *ev, uint64_t number);
/* Returns the fate, as it was before the event in hand, of instance i's record of that access
 * there. */
struct fate fates_find(const struct fates *f, uint32_t i, sim_addr location, uint64_t event,
                       uint8_t op);
/* Whether i remembers it still, after the event in hand. */
bool fates_has_now(struct fates *f, uint32_t i, sim_addr location, uint64_t event, uint8_t op);
/* The position of an access that somebody remembers there, in the order in which events are noted,
 * from 1 on; 0: nobody does. */
uint64_t fates_position(const struct fates *f, sim_addr location, uint64_t event, uint8_t op);

/* ---- a difference --------------------------------------------------------------------------- */

enum verdict { VERDICT_FALSE, VERDICT_MISSED, VERDICTS };
enum of { OF_ACCESS, OF_PLACE, OF_PAIR, OFS };
enum why {                  /* the one that finds no race... */
           WHY_UNCHECKED,   /* does not check the access: it is outside its view */
           WHY_NO_CONFLICT, /* knows no conflict: both are reads */
           WHY_ORDERED,     /* orders the two accesses */
           WHY_FORGOTTEN,   /* has no record of the earlier access at the location */
           WHY_RULE,        /* goes by another rule than happens-before */
           WHY_UNKNOWN,     /* not told: the earlier access is not named, or compare.why is off */
           WHYS
};

struct pair { /* an access, and the earlier one that it is said to race with */
    struct event access;
    sim_addr location;
    struct race_side earlier;
    struct race_side is; /* the access, where it was over when it was told; else not known */
};

struct difference {
    struct pair pair; /* as the one that finds the race names it */
    struct object_place
        object;        /* what lies there: of an access at its address, else at the location */
    uint64_t event;    /* the access's number, or its commit's */
    char *says;        /* owns; what the policy says of its rule; NULL: nothing */
    uint32_t instance; /* whose verdict it is */
    uint8_t of, verdict, why;
    bool system;      /* the access, or its commit, is the runtime system's */
    struct fate fate; /* FORGOTTEN, RULE: of the earlier access, for the silent side */
    bool late;        /* it is told after the access */
    const char *rule; /* RULE: by which the silent side did not check the access; NULL: none */
};

/* ---- instances ------------------------------------------------------------------------------ */

struct difference_counts { /* in order of enum of; roi: within regions of interest */
    uint64_t n[OFS], roi[OFS];
    uint64_t sites, sites_roi, program, system, why[OFS][WHYS];
};

struct instance {
    const struct checker *checker;
    const char *label;
    char *property; /* owns; what it promises */
    unsigned view;
    struct promise promise;
    struct ordering *order; /* borrows; NULL: not asked */
    bool by_access;         /* else by places and pairs alone */
    uint64_t accesses;      /* racy ones */
    struct difference_counts count[VERDICTS];
    struct pair pair; /* of the event in hand: the latest earlier access */
};

/* True: the policy finds what the truth finds: all racy accesses, or places, if it is not compared
 * by accesses. */
bool compare_same(const struct instance *in);

struct compare_params {
    const char *truth;
    uint64_t max;
    bool why;
};

struct found_pair { /* a truth's or a policy's first race at a place or pair, in the event in
                       hand */
    struct pair pair;
    uint64_t key;
    uint32_t instance;
    uint8_t of;
};

struct open {                /* a difference of places or pairs: it stands at the end, or not */
    uint64_t key;            /* which place or pair */
    struct difference *told; /* owns; NULL: not to be told one by one */
    uint32_t instance;
    uint8_t of, verdict, why;
    bool implied; /* the access itself differs, and that is told */
};

struct compare_env { /* borrowed */
    struct config *config;
    struct stats *stats;
    const uint64_t *number;
    unsigned granule;
    struct placement *placement; /* NULL: nobody is told of addresses */
    struct budget *memory;       /* of the whole run */
    struct checker *const *checker;
    size_t checkers;
    void (*tell)(void *arg, const struct difference *d); /* at most compare.max times */
    void *tell_arg;
    struct err *err; /* set where no more can be kept */
};

struct compare {
    struct compare_params params;
    struct compare_env env;
    struct budget budget;
    struct instance instance[COMPARE_INSTANCES];
    uint32_t n, truth;
    struct ordering *order[COMPARE_INSTANCES]; /* own; one for each view of synchronisation */
    uint32_t orders;
    unsigned granule;
    bool granule_is_size; /* locations are granules; else an access's first address */
    struct shadow *ids;   /* uint64_t: a location's identity, from its first race on; 0: none */
    uint64_t last_id;
    struct fates *fates;      /* owns; NULL: compare.why is off */
    uint64_t position, first; /* of the event in hand, from 1 on; the number of the first event */
    bool reordered;           /* events do not run in the order of their numbers */
    struct map seen[OFS], seen_roi[OFS];             /* OF_PLACE, OF_PAIR: masks of instances */
    struct map sites[VERDICTS], sites_roi[VERDICTS]; /* OF_ACCESS: masks of instances */
    uint64_t racy;            /* mask: those that find the event in hand racy */
    struct found_pair *fresh; /* owns */
    size_t fresh_n, fresh_cap;
    struct open *open; /* owns */
    size_t open_n, open_cap;
    uint64_t kept;           /* of those open, to be told */
    uint64_t told, unlisted; /* differences told one by one, and those beyond compare.max */
    bool inside;             /* a region of interest */
};

/* ---- life, and the session's calls: compare.c ----------------------------------------------- */

extern const struct param compare_param_rows[];
struct compare *compare_new(const struct compare_env *env, struct err *e); /* NULL: error */
void compare_free(struct compare *c);
void compare_finish(struct compare *c); /* counts what is only known at the end, and tells it */

/* ---- verdicts: verdict.c -------------------------------------------------------------------- */

/* At each location and earlier access that races, from the checker with this label. */
void compare_conflict(struct compare *c, const char *label, const struct event *ev,
                      sim_addr location, const struct race_side *earlier);
bool compare_both_read(const struct pair *p);
unsigned compare_kind(const struct pair *p);
/* After all checkers' step. */
void compare_step(struct compare *c, const struct event *ev);
void compare_settle(struct compare *c, const struct event *ev);   /* ev: NULL at the end */
void compare_list(struct compare *c, const struct difference *d); /* tells it, if in bounds */

/* ---- as text and JSON: write.c -------------------------------------------------------------- */

extern const char *const why_text[WHYS], *const of_text[OFS], *const of_plural[OFS],
                                                                  *const verdict_text[VERDICTS];
/* Why they differ, as a sentence. */
void compare_reason(const struct compare *c, const struct difference *d, char *to, size_t room);
/* "truth", "policies", "listed", "unlisted". */
void compare_json(const struct compare *c, const struct stats *stats, struct json *j);

#endif
