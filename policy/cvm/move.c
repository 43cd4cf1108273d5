/* move.c - clears and copies: what is fresh in the range is compared first, as afterwards it is
 * gone, or another location's. */
#include "policy/cvm/cvm.h"

#include <stdlib.h>

/* ---- ranges --------------------------------------------------------------------------------- */

/* The words of a page that a range has. */
struct cvm_piece {
    struct cvm_page *page;
    size_t from, last;
};

static int by_number(const void *left, const void *right)
{
    const struct cvm_piece *a = left, *b = right;

    return (a->page->number > b->page->number) - (a->page->number < b->page->number);
}

static struct cvm_piece piece_of(const struct cvm *c, struct cvm_page *p, sim_addr at,
                                 sim_addr last)
{
    const sim_addr base = p->number << c->page_shift;
    const sim_addr end = base + (UINT64_C(1) << c->page_shift) - 1;

    return (struct cvm_piece){p, (size_t)(((at > base ? at : base) - base) >> c->word_shift),
                              (size_t)(((last < end ? last : end) - base) >> c->word_shift)};
}

/* The pieces of a range that have a page, in order. Owned by the caller. */
static struct cvm_piece *pieces(const struct cvm *c, sim_addr at, uint64_t bytes, size_t *n)
{
    const sim_addr last = at + bytes - 1;
    const uint64_t from = at >> c->page_shift, to = last >> c->page_shift;
    const uint64_t most = to - from < c->pages.n ? to - from + 1 : c->pages.n;
    struct cvm_piece *piece = xcalloc((size_t)most + 1, sizeof *piece);
    size_t pos = 0;
    uint64_t number, *value;

    *n = 0;
    if (to - from < c->pages.n) {
        for (number = from; number <= to; number++) {
            struct cvm_page *p = cvm_page_find(c, number);
            if (p)
                piece[(*n)++] = piece_of(c, p, at, last);
        }
        return piece;
    }
    while (map_next(&c->pages, &pos, &number, &value))
        if (number >= from && number <= to)
            piece[(*n)++] = piece_of(c, (struct cvm_page *)(uintptr_t)*value, at, last);
    qsort(piece, *n, sizeof *piece, by_number);
    return piece;
}

static void settle(struct cvm *c, sim_addr at, uint64_t bytes)
{
    size_t n;
    struct cvm_piece *piece = pieces(c, at, bytes, &n);

    for (size_t i = 0; i < n; i++)
        cvm_settle(c, piece[i].page, piece[i].from, piece[i].last);
    c->st.ranges += n > 0;
    free(piece);
}

/* ---- clears --------------------------------------------------------------------------------- */

static void zero(uint64_t *bits, size_t from, size_t last)
{
    for (size_t w = from; bits && w <= last; w++)
        if (w % 64 == 0 && last - w >= 63) {
            bits[w / 64] = 0;
            w += 63;
        } else {
            bits[w / 64] &= ~(UINT64_C(1) << w % 64);
        }
}

static void forget_entries(struct cvm_entry *x, const struct cvm_piece *of)
{
    for (; x; x = x->next)
        for (unsigned k = 0; k < CVM_KINDS; k++)
            zero(x->bits[k], of->from, of->last);
}

static void words_forget(struct cvm *c, sim_addr at, uint64_t bytes)
{
    size_t n;
    struct cvm_piece *piece = pieces(c, at, bytes, &n);

    for (size_t i = 0; i < n; i++) {
        struct cvm_page *p = piece[i].page;
        for (uint32_t l = 0; l < p->lanes; l++) {
            forget_entries(p->lane[l].fresh, &piece[i]);
            forget_entries(p->lane[l].old, &piece[i]);
        }
        zero(p->raced, piece[i].from, piece[i].last);
    }
    free(piece);
}

void cvm_clear(struct cvm *c, sim_addr at, uint64_t bytes)
{
    if (!bytes)
        return;
    settle(c, at, bytes);
    words_forget(c, at, bytes);
}

/* ---- copies --------------------------------------------------------------------------------- */

struct cvm_moved { /* a word's bit on its way */
    struct cvm_interval *of;
    sim_addr to;
    struct cvm_place place;
    uint8_t kind; /* enum cvm_kind; CVM_KINDS: the word has raced */
    bool system;
};
struct cvm_copy {
    struct cvm *c;
    struct cvm_moved *at; /* owns */
    size_t n, cap;
    sim_addr by; /* may wrap */
};

static void bits_take(struct cvm_copy *y, const struct cvm_piece *of, const uint64_t *bits,
                      struct cvm_moved is)
{
    const struct cvm *c = y->c;

    for (size_t w = of->from; bits && w <= of->last; w++) {
        if (!(bits[w / 64] >> w % 64)) {
            w |= 63; /* none in what is left of these 64 */
            continue;
        }
        if (!(bits[w / 64] >> w % 64 & 1))
            continue;
        is.to = (of->page->number << c->page_shift) + ((sim_addr)w << c->word_shift) + y->by;
        if (is.of) {
            is.of->users++;
            is.place = cvm_place(c, bits, w);
        }
        y->at = xgrow(y->at, y->n, &y->cap, sizeof *y->at);
        y->at[y->n++] = is;
    }
}

/* Takes all old entries there; those that were fresh are old by now. */
static void take_all(struct cvm_copy *y, sim_addr from, uint64_t bytes)
{
    size_t n;
    struct cvm_piece *piece = pieces(y->c, from, bytes, &n);

    for (size_t i = 0; i < n; i++) {
        const struct cvm_page *p = piece[i].page;
        for (uint32_t l = 0; l < p->lanes; l++)
            for (struct cvm_entry *x = p->lane[l].old; x; x = x->next)
                for (unsigned k = 0; k < CVM_KINDS; k++)
                    bits_take(
                        y, &piece[i], x->bits[k],
                        (struct cvm_moved){.of = x->of, .kind = (uint8_t)k, .system = x->system});
        bits_take(y, &piece[i], p->raced, (struct cvm_moved){.kind = CVM_KINDS});
    }
    free(piece);
}

static void bit_put(struct cvm *c, const struct cvm_moved *m)
{
    struct cvm_page *p = cvm_page_make(c, m->to >> c->page_shift);
    const size_t w = (size_t)((m->to & ((UINT64_C(1) << c->page_shift) - 1)) >> c->word_shift);

    cvm_list(c, p); /* so that it goes when nothing is left of it */
    if (!m->of) {
        cvm_raced(c, p, w);
        return;
    }
    struct cvm_entry *x = cvm_old_entry(c, cvm_lane(c, p, m->of->actor), m->of);
    x->system |= m->system;
    *cvm_words(c, x, (enum cvm_kind)m->kind, w / 64) |= UINT64_C(1) << w % 64;
    if (m->place.known)
        cvm_put_place(c, x->bits[m->kind], w, m->place);
    cvm_parts(c, x, (enum cvm_kind)m->kind, w);
    cvm_leave_interval(c, m->of);
}

void cvm_copy(struct cvm *c, sim_addr to, sim_addr from, uint64_t bytes)
{
    struct cvm_copy y = {.c = c, .by = to - from};

    if (!bytes)
        return;
    settle(c, from, bytes);
    settle(c, to, bytes);
    take_all(&y, from, bytes);
    words_forget(c, to, bytes);
    for (size_t i = 0; i < y.n; i++)
        bit_put(c, &y.at[i]);
    free(y.at);
}
