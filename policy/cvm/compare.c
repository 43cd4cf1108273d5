/* compare.c - the comparison that a barrier's master makes (4.3): concurrent intervals with a page
 * in common are put on the check list, and their bitmaps are held against each other. */
#include "policy/cvm/cvm.h"

#include <stdlib.h>

/* ---- a pair of intervals at a page ---------------------------------------------------------- */

static uint64_t word_of(const struct cvm_entry *x, enum cvm_kind k, size_t i)
{
    return x->bits[k] ? x->bits[k][i] : 0;
}

static bool has(const struct cvm_entry *x, enum cvm_kind k, size_t word)
{
    return word_of(x, k, word / 64) >> word % 64 & 1;
}

static uint64_t any(const struct cvm_entry *x, size_t i)
{
    return word_of(x, CVM_READ, i) | word_of(x, CVM_WRITE, i) | word_of(x, CVM_ATOMIC_READ, i) |
           word_of(x, CVM_ATOMIC_WRITE, i);
}

/* 64 words: those at which the two conflict. */
static uint64_t conflicts(const struct cvm_entry *x, const struct cvm_entry *y, size_t i)
{
    return (word_of(x, CVM_WRITE, i) & any(y, i)) | (word_of(y, CVM_WRITE, i) & any(x, i)) |
           (word_of(x, CVM_ATOMIC_WRITE, i) & word_of(y, CVM_READ, i)) |
           (word_of(y, CVM_ATOMIC_WRITE, i) & word_of(x, CVM_READ, i));
}

/* The side of a race: its interval, and the kind of access; if sites are kept, also the interval's
 * first access of that kind. */
static struct race_side side_of(const struct cvm *c, const struct cvm_entry *x, enum cvm_kind k,
                                size_t word)
{
    const struct cvm_place at = cvm_place(c, x->bits[k], word);
    struct race_side is = {.event = x->of->event,
                           .interval = x->of->index,
                           .thread = x->of->tid,
                           .op = CVM_WRITES >> k & 1 ? EV_WRITE : EV_READ,
                           .known = true,
                           .region = !at.known};

    if (at.known) {
        is.event = at.event;
        is.site = at.site;
        is.op = at.op;
    }
    return is;
}

bool cvm_raced(struct cvm *c, struct cvm_page *p, size_t word)
{
    if (!p->raced)
        p->raced = cvm_bitmap(c);
    const uint64_t bit = UINT64_C(1) << word % 64;
    const bool first = !(p->raced[word / 64] & bit);

    p->raced[word / 64] |= bit;
    return first;
}

/* Picks two accesses to the word, by x and y, that conflict: one of them a write, and not both
 * atomic. Writes are named first. */
static void name_kinds(const struct cvm_entry *x, const struct cvm_entry *y, size_t word,
                       enum cvm_kind *kx, enum cvm_kind *ky)
{
    static const enum cvm_kind first[] = {CVM_WRITE, CVM_ATOMIC_WRITE, CVM_READ, CVM_ATOMIC_READ};
    const unsigned atomic = 1 << CVM_ATOMIC_READ | 1 << CVM_ATOMIC_WRITE;

    for (size_t i = 0; i < CVM_KINDS; i++)
        for (size_t j = 0; j < CVM_KINDS; j++) {
            const unsigned both = 1u << first[i] | 1u << first[j];
            *kx = first[i];
            *ky = first[j];
            if (has(x, *kx, word) && has(y, *ky, word) && both & CVM_WRITES && both & ~atomic)
                return;
        }
}

static void find_race(struct cvm *c, struct cvm_page *p, const struct cvm_entry *x,
                      const struct cvm_entry *y, size_t word)
{
    const struct cvm_entry *later = x->of->serial > y->of->serial ? x : y;
    const struct cvm_entry *earlier = later == x ? y : x;
    enum cvm_kind k, other_k;

    name_kinds(later, earlier, word, &k, &other_k);
    struct race_side is = side_of(c, later, k, word), other = side_of(c, earlier, other_k, word);
    if (!is.region && !other.region && other.event > is.event) {
        const struct race_side swap = is;
        is = other;
        other = swap;
        later = earlier;
    }
    c->found = budget_grow(c->env->budget, c->found, c->founds, &c->found_cap, sizeof *c->found);
    c->found[c->founds++] = (struct cvm_found){.page = p,
                                               .one = x->of,
                                               .other = y->of,
                                               .word = word,
                                               .is = is,
                                               .earlier = other,
                                               .system = later->system};
}

/* ---- what is told --------------------------------------------------------------------------- */

static void note_raced(struct cvm *c, const struct cvm_interval *i)
{
    struct cvm_thread *t = &c->thread[i->actor];

    if (t->raced && t->raced < i->serial)
        return;
    t->raced = i->serial;
    t->raced_time = i->time;
}

/* Tells if the interval happens after one that had a race. */
static bool after_race(const struct cvm *c, const struct cvm_interval *i)
{
    for (uint32_t a = 0; a < c->threads; a++) {
        const struct cvm_thread *t = &c->thread[a];
        if (t->raced && (a == i->actor ? t->raced < i->serial
                                       : t->raced_time <= vclock_get(&i->known->clock, a)))
            return true;
    }
    return false;
}

static void found_report(struct cvm *c, const struct cvm_found *f)
{
    const sim_addr location =
        (f->page->number << c->page_shift) + ((sim_addr)f->word << c->word_shift);
    const struct event ev = {.addr = location,
                             .size = 1u << c->word_shift,
                             .tid = f->is.thread,
                             .aux = f->is.site,
                             .flags = f->system ? EVF_SYSTEM : 0,
                             .kind = f->is.op};

    race_region(c->env->report, &ev, &f->is, location, &f->earlier, cvm_raced(c, f->page, f->word));
    race_late_done(c->env->report);
}

/* First races: those of which not both sides come after others' (6.3). Whatever comes after one
 * that is not told of comes after a first one, too. */
static void report_found(struct cvm *c)
{
    const bool first = c->params.report == CVM_REPORT_FIRST;

    for (size_t i = 0; first && i < c->founds; i++) {
        note_raced(c, c->found[i].one);
        note_raced(c, c->found[i].other);
    }
    for (size_t i = 0; i < c->founds; i++) {
        const struct cvm_found *f = &c->found[i];
        if (first && after_race(c, f->one) && after_race(c, f->other))
            c->st.affected++;
        else
            found_report(c, f);
    }
    c->founds = 0;
}

/* ---- bitmaps -------------------------------------------------------------------------------- */

/* Those of the 64 words from 64 * i on that are among from..last. */
static uint64_t words_within(size_t i, size_t from, size_t last)
{
    const uint64_t begin = i == from / 64 ? ~UINT64_C(0) << from % 64 : ~UINT64_C(0);

    return i == last / 64 ? begin & ~UINT64_C(0) >> (63 - last % 64) : begin;
}

/* The conflicts that the two have at the words from..last, of the 64 words from 64 * i on. */
static void compare_words(struct cvm *c, struct cvm_page *p, const struct cvm_entry *x,
                          const struct cvm_entry *y, size_t i, size_t from, size_t last)
{
    for (uint64_t found = conflicts(x, y, i) & words_within(i, from, last); found;
         found &= found - 1)
        find_race(c, p, x, y, i * 64 + (size_t)__builtin_ctzll(found));
}

/* Compares two entries' bitmaps, in those parts of the page alone in which one wrote and the other
 * made an access. */
static NO_INLINE void compare_bitmaps(struct cvm *c, struct cvm_page *p, const struct cvm_entry *x,
                                      const struct cvm_entry *y, uint64_t parts, size_t from,
                                      size_t last)
{
    size_t next = from / 64;

    for (; parts; parts &= parts - 1) {
        const size_t part = (size_t)__builtin_ctzll(parts);
        size_t i = (part << c->part_shift) / 64;
        const size_t end = (((part + 1) << c->part_shift) - 1) / 64;
        for (i = i > next ? i : next; i <= end && i <= last / 64; i++) {
            compare_words(c, p, x, y, i, from, last);
            next = i + 1;
        }
    }
}

/* ---- concurrent intervals at a page ---------------------------------------------------------- */

/* The bitmaps of one side that a pair on the check list asks for, given those that the other
 * has. */
static unsigned wanted(unsigned of_other)
{
    return of_other & CVM_WRITES ? CVM_READS | CVM_WRITES : CVM_WRITES;
}

static NO_INLINE void ask(struct cvm *c, struct cvm_row *x, unsigned kinds)
{
    x->asked |= (uint8_t)kinds;
    c->st.used += !x->of->used;
    x->of->used = true;
}

/* Two bitmaps are held against each other for each of the kinds of conflict. */
static NO_INLINE void count_listed(struct cvm_work *w, unsigned kx, unsigned ky)
{
    const bool xr = kx & CVM_READS, xw = kx & CVM_WRITES, yr = ky & CVM_READS, yw = ky & CVM_WRITES;

    w->listed++;
    w->bitmaps += (uint64_t)(xw && yw) + (xw && yr) + (xr && yw);
}

/* An entry with those of another thread, newest first. The newest may know of it; once one does
 * not, no older one does. Once one happens before it, so do all older ones. Where one of two wrote,
 * the notices overlap: the pair is put on the check list, with the bitmaps that it needs. */
static void compare_with(struct cvm *c, struct cvm_page *p, struct cvm_row *x, struct cvm_row *y,
                         const struct cvm_row *end, size_t from, size_t last)
{
    const unsigned want = wanted(x->kinds);
    const bool counting = c->counts != NULL;
    uint64_t listed = 0;
    unsigned kinds = 0;

    if (y == end)
        return;
    const uint64_t known = vclock_get(&x->of->known->clock, y->of->actor);
    while (y < end && y->time > known && cvm_before(x->of, y->of))
        y++;
    for (; y < end && y->time > known; y++) {
        const unsigned its = y->kinds & want;
        if (!its)
            continue;
        listed++;
        kinds |= its;
        if (UNLIKELY(its & ~(unsigned)y->asked))
            ask(c, y, its);
        if (UNLIKELY(counting))
            count_listed(c->counts, x->kinds, y->kinds);
        const uint64_t parts = (x->writes & y->all) | (y->writes & x->all);
        if (UNLIKELY(parts))
            compare_bitmaps(c, p, x->entry, y->entry, parts, from, last);
    }
    c->st.listed += listed;
    if (listed)
        ask(c, x, x->kinds & wanted(kinds));
}

/* Lists become rows: each is walked as often as there are fresh entries of others. */
static size_t add_rows(struct cvm *c, struct cvm_entry *x)
{
    for (; x; x = x->next) {
        c->row = budget_grow(c->env->budget, c->row, c->rows, &c->row_cap, sizeof *c->row);
        c->row[c->rows++] = (struct cvm_row){.entry = x,
                                             .of = x->of,
                                             .time = x->time,
                                             .all = x->all,
                                             .writes = x->writes,
                                             .kinds = x->kinds,
                                             .asked = x->asked};
    }
    return c->rows;
}

static void compare_rows(struct cvm *c, struct cvm_page *p, size_t from, size_t last)
{
    struct cvm_row *row = c->row;

    for (uint32_t i = 0; i < p->lanes; i++)
        for (size_t x = p->lane[i].row; x < p->lane[i].old_row; x++)
            for (uint32_t j = 0; j < p->lanes; j++) {
                const struct cvm_lane *l = &p->lane[j];
                if (j > i)
                    compare_with(c, p, &row[x], &row[l->row], &row[l->old_row], from, last);
                if (j != i)
                    compare_with(c, p, &row[x], &row[l->old_row], &row[l->end_row], from, last);
            }
}

static void compare_page(struct cvm *c, struct cvm_page *p, size_t from, size_t last)
{
    bool fresh = false;

    for (uint32_t i = 0; i < p->lanes; i++)
        fresh |= p->lane[i].fresh != NULL;
    if (!fresh || p->lanes < 2)
        return;
    c->rows = 0;
    for (uint32_t i = 0; i < p->lanes; i++) {
        struct cvm_lane *l = &p->lane[i];
        l->row = c->rows;
        l->old_row = add_rows(c, l->fresh);
        l->end_row = add_rows(c, l->old);
    }
    compare_rows(c, p, from, last);
    for (size_t i = 0; i < c->rows; i++)
        c->row[i].entry->asked = c->row[i].asked;
}

/* ---- what is kept --------------------------------------------------------------------------- */

/* x loses the words of `seen`, which newer entries of the same thread have, and these get x's:
 * whatever is concurrent with the older access is also with the newer one. */
static void trim(struct cvm *c, struct cvm_entry *x, uint64_t *seen[CVM_KINDS])
{
    for (unsigned k = 0; k < CVM_KINDS; k++) {
        uint64_t rest = 0;
        if (!x->bits[k])
            continue;
        if (!seen[k])
            seen[k] = cvm_bitmap(c);
        for (size_t i = 0; i < c->words; i++) {
            const uint64_t left = x->bits[k][i] & ~seen[k][i];
            seen[k][i] |= left;
            rest |= x->bits[k][i] = left;
            if (c->params.sites && !left)
                cvm_drop_places(c, x->bits[k], i);
        }
        if (rest)
            continue;
        cvm_bitmap_free(c, x->bits[k]);
        x->bits[k] = NULL;
        x->kinds &= (uint8_t) ~(1u << k);
    }
}

/* Whenever there may be twice as many as the last time left. */
static void trim_old(struct cvm *c, struct cvm_lane *l)
{
    enum { FEW = 8 };
    uint64_t *seen[CVM_KINDS] = {NULL};

    if (l->olds < l->trim_at)
        return;
    for (struct cvm_entry **at = &l->old; *at;) {
        struct cvm_entry *x = *at;
        trim(c, x, seen);
        if (x->kinds) {
            at = &x->next;
            continue;
        }
        *at = x->next;
        l->olds--;
        cvm_entry_free(c, x);
    }
    l->trim_at = 2 * l->olds + FEW;
    for (unsigned k = 0; k < CVM_KINDS; k++)
        if (seen[k])
            cvm_bitmap_free(c, seen[k]);
}

static void move_places(struct cvm *c, uint64_t *to, const uint64_t *from, size_t i, uint64_t words)
{
    for (; words; words &= words - 1) {
        const size_t word = i * 64 + (size_t)__builtin_ctzll(words);
        cvm_put_place(c, to, word, cvm_place(c, from, word));
    }
}

/* Moves the words from..last of a fresh entry to the old one of its interval. */
static void move_words(struct cvm *c, struct cvm_entry *to, struct cvm_entry *x, size_t from,
                       size_t last)
{
    to->system |= x->system;
    to->all |= x->all;
    to->writes |= x->writes;
    for (unsigned k = 0; k < CVM_KINDS; k++)
        for (size_t i = from / 64; x->bits[k] && i <= last / 64; i++) {
            const uint64_t moved = x->bits[k][i] & words_within(i, from, last);
            if (!moved)
                continue;
            uint64_t *words = cvm_words(c, to, (enum cvm_kind)k, i);
            if (UNLIKELY(x->of->sited))
                move_places(c, to->bits[k], x->bits[k], i, moved & ~*words);
            *words |= moved;
            x->bits[k][i] &= ~moved;
        }
}

/* Oldest first, as what is newer replaces what is older. */
static struct cvm_entry *reversed(struct cvm_entry *x)
{
    struct cvm_entry *done = NULL;

    while (x) {
        struct cvm_entry *next = x->next;
        x->next = done;
        done = x;
        x = next;
    }
    return done;
}

void cvm_settle(struct cvm *c, struct cvm_page *p, size_t from, size_t last)
{
    compare_page(c, p, from, last);
    report_found(c);
    for (uint32_t i = 0; i < p->lanes; i++) {
        struct cvm_lane *l = &p->lane[i];
        l->fresh = reversed(l->fresh);
        for (struct cvm_entry *x = l->fresh; x; x = x->next)
            move_words(c, cvm_old_entry(c, l, x->of), x, from, last);
        l->fresh = reversed(l->fresh);
    }
}

static void count_bitmaps(struct cvm *c, struct cvm_entry *x)
{
    const bool reads = x->kinds & CVM_READS, writes = x->kinds & CVM_WRITES;

    c->st.read_notices += reads;
    c->st.write_notices += writes;
    c->st.bitmaps += (uint64_t)reads + writes;
    const unsigned asked = (x->asked & CVM_READS ? 1u : 0u) + (x->asked & CVM_WRITES ? 1u : 0u);
    c->st.fetched += asked;
    if (UNLIKELY(c->counts != NULL) && asked)
        cvm_charge_asked(c, x->of->actor, asked);
    x->asked = 0;
}

/* Into its place among the old ones, or into the one of its interval that is there. */
static void add_old(struct cvm *c, struct cvm_lane *l, struct cvm_entry *x)
{
    struct cvm_entry **at = &l->old;

    while (*at && (*at)->of->serial > x->of->serial)
        at = &(*at)->next;
    if (*at && (*at)->of == x->of) {
        move_words(c, *at, x, 0, c->words * 64 - 1);
        cvm_entry_free(c, x);
        return;
    }
    x->next = *at;
    *at = x;
    l->olds++;
}

static void make_old(struct cvm *c, struct cvm_lane *l)
{
    struct cvm_entry *x = reversed(l->fresh), *next;

    l->fresh = l->twin = NULL;
    for (; x; x = next) {
        next = x->next;
        count_bitmaps(c, x);
        add_old(c, l, x);
    }
    trim_old(c, l);
}

/* Settles a page, all of which has been compared. */
static void settle_page(struct cvm *c, struct cvm_page *p)
{
    bool empty = true;

    for (uint32_t i = 0; i < p->lanes; i++) {
        make_old(c, &p->lane[i]);
        empty &= !p->lane[i].old;
    }
    p->listed = false;
    if (empty && !p->raced) {
        map_remove(&c->pages, p->number);
        cvm_page_free(c, p);
    }
}

/* ---- what all know of ----------------------------------------------------------------------- */

/* Every process is there, so that an interval that all of them know of is ordered with whatever is
 * to come. */
static bool covered(const struct cvm *c, const struct cvm_interval *i)
{
    for (uint32_t a = 0; a < c->threads; a++)
        if (a != i->actor && c->thread[a].seen && /* it is there */
            i->time > vclock_get(&c->env->hb->actor[a].clock, i->actor))
            return false;
    return true;
}

/* Older ones are covered once a newer one is. */
static void drop_covered(struct cvm *c, struct cvm_lane *l)
{
    struct cvm_entry **at = &l->old;

    while (*at && !covered(c, (*at)->of))
        at = &(*at)->next;
    while (*at) {
        struct cvm_entry *x = *at;
        *at = x->next;
        l->olds--;
        cvm_entry_free(c, x);
    }
}

static void drop_all_covered(struct cvm *c)
{
    size_t pos = 0;
    uint64_t number, *at;

    while (map_next(&c->pages, &pos, &number, &at)) {
        struct cvm_page *p = (struct cvm_page *)(uintptr_t)*at;
        bool empty = true;
        for (uint32_t i = 0; i < p->lanes; i++) {
            drop_covered(c, &p->lane[i]);
            empty &= !p->lane[i].old;
        }
        if (empty)
            cvm_list(c, p); /* it goes where nothing is fresh, either */
    }
}

/* ---- what the master does, where that costs something ---------------------------------------- */

/* Two threads' intervals since the last comparison: each of one against those of the other, newest
 * first, until one happens before it; of concurrent ones the lists of notices are walked. */
static void count_pairs(struct cvm_work *w, const struct cvm_interval *a,
                        const struct cvm_interval *b)
{
    for (; a; a = a->older)
        for (const struct cvm_interval *y = b; y; y = y->older) {
            w->compared++;
            if (cvm_before(y, a))
                break;
            w->walked += cvm_before(a, y) ? 0 : (uint64_t)a->notices + y->notices;
        }
}

static void count_work(struct cvm *c)
{
    for (uint32_t a = 0; c->counts && a < c->threads; a++)
        for (uint32_t b = a + 1; b < c->threads; b++)
            count_pairs(c->counts, c->thread[a].fresh, c->thread[b].fresh);
    for (uint32_t a = 0; a < c->threads; a++)
        for (struct cvm_interval *i; (i = c->thread[a].fresh);) {
            c->thread[a].fresh = i->older;
            cvm_leave_interval(c, i);
        }
}

/* ---- all pages ------------------------------------------------------------------------------ */

static int by_number(const void *left, const void *right)
{
    const struct cvm_page *const *a = left, *const *b = right;

    return ((*a)->number > (*b)->number) - ((*a)->number < (*b)->number);
}

void cvm_consolidate(struct cvm *c)
{
    for (uint32_t a = 0; a < c->threads; a++)
        cvm_end_interval(c, &c->thread[a]);
    count_work(c);
    if (c->listed)
        qsort(c->list, c->listed, sizeof *c->list, by_number);
    for (size_t i = 0; i < c->listed; i++)
        compare_page(c, c->list[i], 0, c->words * 64 - 1);
    report_found(c);
    if (c->params.processes && c->begun == c->params.processes)
        drop_all_covered(c); /* not before, as what is fresh may be older than what all know */
    for (size_t i = 0; i < c->listed; i++)
        settle_page(c, c->list[i]);
    c->listed = 0;
    c->fresh = 0;
}
