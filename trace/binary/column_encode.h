/* column_encode.h - what the files of column encoding share. Included by column_encode.c and
 * column_region.c only. */
#ifndef LARDSIM_COLUMN_ENCODE_H
#define LARDSIM_COLUMN_ENCODE_H

#include "trace/binary/column_form.h"

#include <endian.h>

static inline unsigned trailing_zeros(uint64_t v)
{
    return v ? (unsigned)__builtin_ctzll(v) : 0;
}

/* Writes numbers of bits one after the other, the lowest bit first. */
struct packer {
    uint8_t *at; /* borrows; room for eight bytes more than all numbers take */
    uint64_t bits;
    unsigned used; /* below 8 between numbers */
};
static inline void packer_add(struct packer *p, uint64_t v, unsigned width) /* width <= BITS_MAX */
{
    p->bits |= v << p->used;
    p->used += width;
    const uint64_t bytes = htole64(p->bits);
    memcpy(p->at, &bytes, sizeof bytes);
    p->at += p->used / 8;
    p->bits >>= p->used & ~7U;
    p->used &= 7;
}

/* ---- regions: column_region.c --------------------------------------------------------------- */

struct region_finder;
struct region_finder *region_finder_new(void); /* its owner frees it */

/* Divides numbers into at most REGIONS_MAX regions. Returns the bytes that they take, about;
 * UINT64_MAX: they can't be divided. n > 0. */
uint64_t regions_find(struct region_finder *f, const uint64_t *v, size_t n, struct groups groups);

struct region_list { /* the regions that were found; valid until the next find */
    unsigned shift;
    size_t n;
    uint64_t base[REGIONS_MAX], width[REGIONS_MAX];
    uint64_t bits;               /* all numbers together */
    size_t lists;                /* lists of the regions that a group has; 0: not worth it */
    uint64_t length[LISTED_MAX]; /* lengths of the lists */
    size_t listed;
    uint64_t list[LISTED_MAX]; /* one after the other */
    uint64_t *region;          /* each number's region */
    uint64_t *place;           /* each number's place in its group's list */
};
const struct region_list *regions_found(const struct region_finder *f);

#endif
