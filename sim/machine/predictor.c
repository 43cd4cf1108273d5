/* predictor.c - two-bit counters, and TAGE (predictor.h).
 *
 * TAGE as its authors describe it, with their eight components: a base of 4096 counters, and seven
 * tables of 1024 entries with histories of 5 to 130 branches. Simplified where that is not what
 * decides: an entry that is new is trusted at once, and the shortest table with a free entry gets
 * it (there: one of them by chance). Sums of histories are kept folded (Michaud's way): a shift
 * for each branch, whatever the length. */
#include "sim/machine/predictor.h"

#include <stdlib.h>

#include "base/mem.h"

const char *const predictor_text[] = {"none", "two-bit", "tage", NULL};

enum {
    BASE_BITS = 12,
    TABLES = 7,
    TABLE_BITS = 10,
    TAG_BITS = 11,
    HISTORY = 256,      /* branches that are kept: a power of two */
    FORGETS = 256 << 10 /* branches after which entries are a little less useful */
};
/* Seznec and Michaud, 2006, 4.1: a geometric series from 5 to 130. */
static const unsigned length[TABLES] = {5, 9, 15, 25, 44, 76, 130};

struct folded { /* the latest `length` outcomes, by exclusive or in so many bits */
    uint32_t value;
    unsigned length, bits;
};
struct tagged {
    uint16_t tag;
    int8_t counter; /* -4 to 3: taken from 0 on */
    uint8_t useful; /* 0 to 3 */
};
struct predictor {
    enum predictor_type type;
    int8_t base[1 << BASE_BITS]; /* -2 to 1 */
    struct tagged table[TABLES][1 << TABLE_BITS];
    uint8_t outcome[HISTORY];
    unsigned at; /* of the latest outcome */
    struct folded index[TABLES], tag[TABLES][2];
    uint64_t branches;
};
struct matches { /* what the tables have of a branch */
    struct tagged *entry[TABLES];
    int longest, next; /* that match; -1: the base */
};

/* ---- history -------------------------------------------------------------------------------- */

static void fold(struct folded *f, unsigned now, unsigned gone)
{
    f->value = f->value << 1 | now;
    f->value ^= gone << f->length % f->bits;
    f->value ^= f->value >> f->bits;
    f->value &= (1u << f->bits) - 1;
}

static void remember(struct predictor *p, unsigned outcome)
{
    for (unsigned i = 0; i < TABLES; i++) {
        const unsigned gone = p->outcome[(p->at - length[i] + 1) % HISTORY];
        fold(&p->index[i], outcome, gone);
        fold(&p->tag[i][0], outcome, gone);
        fold(&p->tag[i][1], outcome, gone);
    }
    p->at = (p->at + 1) % HISTORY;
    p->outcome[p->at] = (uint8_t)outcome;
}

void predictor_passes(struct predictor *p, uint64_t from)
{
    const uint64_t mixed = from * UINT64_C(0x9e3779b97f4a7c15);

    if (p->type != PREDICTOR_TAGE)
        return;
    remember(p, (unsigned)(mixed >> 63));
    remember(p, (unsigned)(mixed >> 62 & 1));
}

/* ---- guesses -------------------------------------------------------------------------------- */

static int8_t *base_of(struct predictor *p, uint64_t branch)
{
    return &p->base[branch & ((1 << BASE_BITS) - 1)];
}

static uint16_t tag_of(const struct predictor *p, unsigned table, uint64_t branch)
{
    return (uint16_t)((branch ^ p->tag[table][0].value ^ p->tag[table][1].value << 1) &
                      ((1 << TAG_BITS) - 1));
}

static void look_up(struct predictor *p, uint64_t branch, struct matches *f)
{
    f->longest = f->next = -1;
    for (unsigned i = 0; i < TABLES; i++) {
        const uint64_t at = branch ^ branch >> (TABLE_BITS - i) ^ p->index[i].value;
        f->entry[i] = &p->table[i][at & ((1 << TABLE_BITS) - 1)];
        if (f->entry[i]->tag != (tag_of(p, i, branch) | 1 << TAG_BITS)) /* 0: unused */
            continue;
        f->next = f->longest;
        f->longest = (int)i;
    }
}

static bool guess_of(struct predictor *p, uint64_t branch, const struct matches *f, int table)
{
    return table < 0 ? *base_of(p, branch) >= 0 : f->entry[table]->counter >= 0;
}

/* ---- learning ------------------------------------------------------------------------------- */

static void count(int8_t *counter, bool taken, int most)
{
    if (taken ? *counter < most : *counter > -most - 1)
        *counter = (int8_t)(*counter + (taken ? 1 : -1));
}

static void enter(const struct predictor *p, const struct matches *f, uint64_t branch, bool taken)
{
    for (int i = f->longest + 1; i < TABLES; i++)
        if (!f->entry[i]->useful) {
            *f->entry[i] =
                (struct tagged){.tag = (uint16_t)(tag_of(p, (unsigned)i, branch) | 1 << TAG_BITS),
                                .counter = taken ? 0 : -1};
            return;
        }
    for (int i = f->longest + 1; i < TABLES; i++)
        f->entry[i]->useful--;
}

/* From time to time all entries may be replaced sooner. */
static void forget(struct predictor *p)
{
    for (unsigned i = 0; i < TABLES; i++)
        for (unsigned k = 0; k < 1 << TABLE_BITS; k++)
            p->table[i][k].useful >>= 1;
}

static void learn(struct predictor *p, const struct matches *f, uint64_t branch, bool taken)
{
    const bool guess = guess_of(p, branch, f, f->longest);

    if (f->longest < 0) {
        count(base_of(p, branch), taken, 1);
    } else {
        struct tagged *e = f->entry[f->longest];
        if (guess != guess_of(p, branch, f, f->next) &&
            (guess == taken ? e->useful < 3 : e->useful))
            e->useful = (uint8_t)(e->useful + (guess == taken ? 1 : -1));
        count(&e->counter, taken, 3);
    }
    if (guess != taken)
        enter(p, f, branch, taken);
    if (++p->branches % FORGETS == 0)
        forget(p);
}

bool predictor_guesses(struct predictor *p, uint64_t branch, bool taken)
{
    struct matches f = {.longest = -1, .next = -1};

    if (p->type == PREDICTOR_TAGE)
        look_up(p, branch, &f);
    const bool right = guess_of(p, branch, &f, f.longest) == taken;
    if (p->type == PREDICTOR_TAGE) {
        learn(p, &f, branch, taken);
        remember(p, taken);
    } else {
        count(base_of(p, branch), taken, 1);
    }
    return right;
}

/* ---- life ----------------------------------------------------------------------------------- */

struct predictor *predictor_new(enum predictor_type type)
{
    struct predictor *p = xcalloc(1, sizeof *p);

    p->type = type;
    for (unsigned i = 0; i < TABLES; i++) {
        p->index[i] = (struct folded){0, length[i], TABLE_BITS};
        p->tag[i][0] = (struct folded){0, length[i], TAG_BITS};
        p->tag[i][1] = (struct folded){0, length[i], TAG_BITS - 1};
    }
    return p;
}
