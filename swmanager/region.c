/* region.c - clearing, copying and moving regions (LARD 4.1's ClearHistory, CopyHistory; 4.2's
 * MoveHistory), line by line as the tables have them.
 *
 * A copy or move goes by runs: granules that lie in one line of the source and in one of the
 * destination. Like memmove, it goes from the end where the destination is the higher one. */
#include "swmanager/swmanager_int.h"

#include <string.h>

struct run { /* n granules of one line */
    uint64_t first;
    unsigned n;
};

/* The run of the granules from `first` to `last` that lie in the line of the first. */
static struct run run_from(const struct swmanager *s, uint64_t first, uint64_t last)
{
    const unsigned room = s->line_granules - swm_in_line(s, first);

    return (struct run){first, last - first < room ? (unsigned)(last - first) + 1 : room};
}

/* ---- records of a run ----------------------------------------------------------------------- */

struct used { /* a run's first and last granule with accesses, and how many have some */
    unsigned first, last, n;
};

static bool holds(const struct swmanager *s, uint64_t granule)
{
    const struct swm_cell *c = swm_cell_find(s, granule);

    return c && c->n;
}

/* A present bit may be that of a granule that has become void; only_held leaves such granules out.
 */
static struct used used_of(const struct swmanager *s, const struct swm_line *l, struct run r,
                           bool only_held)
{
    struct used u = {0};

    for (unsigned i = 0; l && l->record && i < r.n; i++) {
        if (!swm_bit(s, l, SWM_PRESENT, swm_in_line(s, r.first + i)) ||
            (only_held && !holds(s, r.first + i)))
            continue;
        u.first = u.n ? u.first : i;
        u.last = i;
        u.n++;
    }
    return u;
}

/* Makes one access from the first of these granules' records to the last: they are read or written
 * as a whole. */
static void access_records(struct swm_walk *w, const struct swm_line *l, uint64_t first,
                           struct used u, enum mem_cmd cmd)
{
    if (u.n)
        swm_walk_access(w, l->record + (swm_in_line(w->s, first) + u.first) * SWM_RECORD,
                        (u.last - u.first + 1) * SWM_RECORD, cmd);
}

/* Writes an entry's bits, and before them the address of its record. */
static void store_entry(struct swm_walk *w, uint64_t line, bool record)
{
    const sim_addr entry = swm_entry(w->s, line);

    if (record)
        swm_walk_access(w, entry + SWM_ENTRY_CORES, 8, MEM_STORE);
    swm_walk_access(w, entry + SWM_ENTRY_HEAD, 8 * (uint64_t)w->s->words, MEM_STORE);
}

/* Writes the entry back after its bits have changed; a record with nothing in it is given back. */
static void settle_entry(struct swm_walk *w, uint64_t line, sim_addr record_was)
{
    struct swmanager *s = w->s;
    struct swm_line *l = swm_line_find(s, line);

    swm_walk_step(w, SWM_STEP_CLEAR_END, 1);
    if (!swm_bits_any(s, l, SWM_PRESENT)) {
        swm_walk_give(w, s->record_size, l->record);
        l->record = 0;
        s->st.records--;
    }
    store_entry(w, line, l->record != record_was);
}

/* ---- clear ---------------------------------------------------------------------------------- */

/* Forgets a granule's history, with its block. */
static void drop_granule(struct swm_walk *w, uint64_t granule)
{
    struct swm_cell *c = swm_cell_find(w->s, granule);

    w->s->st.cleared += c && c->n;
    swm_walk_give_block(w, c);
    swm_cell_resize(w->s, granule, 0);
}

static void clear_bits(const struct swmanager *s, struct swm_line *l, struct run r,
                       enum swm_bits which)
{
    for (unsigned i = 0; i < r.n; i++)
        swm_bit_set(s, l, which, swm_in_line(s, r.first + i), false);
}

/* Clears a run: looks at the line's records for blocks to give back, then takes the bits away. */
static void clear_run(struct swm_walk *w, struct run r)
{
    struct swmanager *s = w->s;
    const uint64_t line = swm_line_of(s, r.first);
    struct swm_line *l = swm_line_find(s, line);
    const struct used u = used_of(s, l, r, false);

    if (swm_walk_find(w, &s->core[w->core]->at, line))
        swm_walk_step(w, SWM_STEP_CLEAR_LINE, 1);
    if (!l)
        return;
    clear_bits(s, l, r, SWM_RACED);
    if (u.n) {
        swm_walk_step(w, SWM_STEP_CLEAR_GRANULE, u.n);
        access_records(w, l, r.first, u, MEM_LOAD);
        for (unsigned i = u.first; i <= u.last; i++)
            drop_granule(w, r.first + i);
        clear_bits(s, l, r, SWM_PRESENT);
        settle_entry(w, line, l->record);
    }
    swm_line_tidy(s, line);
}

/* The last granule of a region. */
static uint64_t last_of(const struct swmanager *s, struct paddr addr, uint64_t bytes)
{
    ENSURE_SWM(bytes - 1 <= UINT64_MAX - addr.at, s,
               "a region of %llu bytes from 0x%llx goes beyond the last address",
               (unsigned long long)bytes, (unsigned long long)addr.at);
    return (addr.at + (bytes - 1)) >> s->shift;
}

sim_cycle swm_clear(struct swmanager *s, unsigned core, struct paddr addr, uint64_t bytes,
                    sim_cycle now)
{
    struct swm_walk w;

    swm_walk_begin(&w, s, core);
    if (bytes) {
        const uint64_t last = last_of(s, addr, bytes);
        struct run r = run_from(s, addr.at >> s->shift, last);
        clear_run(&w, r);
        while (last - r.first >= r.n) {
            r = run_from(s, r.first + r.n, last);
            clear_run(&w, r);
        }
    }
    return swm_walk_end(&w, now);
}

/* ---- copy ----------------------------------------------------------------------------------- */

struct swm_regions {
    struct paddr to, from;
    uint64_t bytes;
};

struct copying { /* a copy or move under way */
    struct swm_walk w;
    struct swm_cursor to_at, from_at; /* each side has its own registers */
    bool down;                        /* it goes from the end */
    bool moves;                       /* the source is left empty */
};

static void copy_block(struct swm_walk *w, struct swm_cell *to, const struct swm_cell *from)
{
    const uint64_t bytes = (from->n - from->written) * SWM_EPOCH;

    swm_walk_take_block(w, to, from->size);
    swm_walk_access(w, from->block, bytes, MEM_LOAD);
    swm_walk_access(w, to->block, bytes, MEM_STORE);
}

static void copy_granule(struct swm_walk *w, uint64_t to, uint64_t from)
{
    struct swmanager *s = w->s;

    drop_granule(w, to);
    const struct swm_cell *c = swm_cell_find(s, from);
    if (!c || !c->n)
        return;
    struct swm_cell *d = swm_cell_resize(s, to, c->n);
    d->written = c->written;
    memcpy(d->at, c->at, c->n * sizeof *c->at);
    if (c->block)
        copy_block(w, d, c);
    s->st.copied++;
}

/* Race marks are copied, too; a line on the host is made only for one that is set. */
static void copy_mark(struct swmanager *s, uint64_t to, uint64_t from)
{
    const struct swm_line *l = swm_line_find(s, swm_line_of(s, from));
    const bool raced = l && swm_bit(s, l, SWM_RACED, swm_in_line(s, from));
    struct swm_line *d =
        raced ? swm_line_make(s, swm_line_of(s, to)) : swm_line_find(s, swm_line_of(s, to));

    if (d)
        swm_bit_set(s, d, SWM_RACED, swm_in_line(s, to), raced);
}

/* ---- move ----------------------------------------------------------------------------------- */

/* Moves the source's history to the destination; its block of reads changes hands as it is. */
static void move_granule(struct swm_walk *w, uint64_t to, uint64_t from)
{
    struct swmanager *s = w->s;

    drop_granule(w, to);
    struct swm_cell *c = swm_cell_find(s, from);
    if (!c)
        return;
    if (c->n) {
        struct swm_cell *d = swm_cell_resize(s, to, c->n);
        d->written = c->written;
        memcpy(d->at, c->at, c->n * sizeof *c->at);
        d->block = c->block;
        d->size = c->size;
        c->block = 0;
        s->st.moved++;
    }
    swm_walk_give_block(w, c); /* a void granule's block, which nobody needs */
    swm_cell_resize(s, from, 0);
}

/* ---- runs ----------------------------------------------------------------------------------- */

/* Granule by granule, in the order of a copy. l, f: the lines of the destination and of the source;
 * l NULL: no accesses on either side, so marks alone. */
static void run_granules(struct copying *c, struct swm_line *l, struct swm_line *f, struct run to,
                         uint64_t from)
{
    struct swmanager *s = c->w.s;

    for (unsigned k = 0; k < to.n; k++) {
        const unsigned i = c->down && !c->moves ? to.n - 1 - k : k;
        const uint64_t here = to.first + i;
        copy_mark(s, here, from + i);
        if (c->moves && f)
            swm_bit_set(s, f, SWM_RACED, swm_in_line(s, from + i), false);
        if (c->moves)
            move_granule(&c->w, here, from + i);
        else if (l)
            copy_granule(&c->w, here, from + i);
        if (l)
            swm_bit_set(s, l, SWM_PRESENT, swm_in_line(s, here), holds(s, here));
    }
}

/* A whole line on either side: the destination's entry gets the source's record, which stays where
 * it is in memory. */
static void move_record(struct copying *c, struct swm_line *f, struct run to, uint64_t from)
{
    struct swm_walk *w = &c->w;
    struct swmanager *s = w->s;
    struct swm_line *l = swm_walk_line(w, &c->to_at, swm_line_of(s, to.first));

    swm_walk_step(w, SWM_STEP_MOVE_RECORD, 1);
    if (l->record) {
        swm_walk_give(w, s->record_size, l->record);
        s->st.records--;
    }
    run_granules(c, l, f, to, from);
    l->record = f->record;
    f->record = 0;
    clear_bits(s, f, (struct run){from, to.n}, SWM_PRESENT);
    store_entry(w, swm_line_of(s, to.first), true);
    store_entry(w, swm_line_of(s, from), true);
}

/* A copy, or a run that is part of a line: granule by granule. Both sides' records are read, the
 * destination gets one if it needs it, and its entry is written back; of a source that is left
 * empty, the bits go. */
static void run_part(struct copying *c, struct swm_line *f, struct run to, uint64_t from)
{
    struct swm_walk *w = &c->w;
    struct swmanager *s = w->s;
    const uint64_t to_line = swm_line_of(s, to.first), from_line = swm_line_of(s, from);
    struct swm_line *l = swm_line_find(s, to_line);
    const struct run source_run = {from, to.n};
    const struct used held = used_of(s, f, source_run, true), there = used_of(s, l, to, false),
                      source = c->moves ? used_of(s, f, source_run, false) : held;
    const sim_addr record_was = l ? l->record : 0, source_was = f ? f->record : 0;

    swm_walk_step(w, SWM_STEP_COPY_GRANULE, source.n + there.n);
    access_records(w, f, from, source, MEM_LOAD);
    access_records(w, l, to.first, there, MEM_LOAD);
    if (held.n)
        l = swm_walk_record(w, &c->to_at, to_line);
    run_granules(c, l, f, to, from);
    access_records(w, l, to.first, held, MEM_STORE);
    if (l && (held.n || there.n))
        settle_entry(w, to_line, record_was);
    if (!c->moves || !source.n)
        return;
    clear_bits(s, f, source_run, SWM_PRESENT);
    settle_entry(w, from_line, source_was);
}

static void copy_run(struct copying *c, struct run to, uint64_t from)
{
    struct swmanager *s = c->w.s;
    const uint64_t to_line = swm_line_of(s, to.first), from_line = swm_line_of(s, from);

    swm_walk_step(&c->w, SWM_STEP_COPY_RUN, 1);
    swm_walk_find(&c->w, &c->from_at, from_line);
    swm_walk_find(&c->w, &c->to_at, to_line);
    struct swm_line *f = swm_line_find(s, from_line), *l = swm_line_find(s, to_line);
    if (c->moves && f && f->record && to.n == s->line_granules)
        move_record(c, f, to, from);
    else if (used_of(s, f, (struct run){from, to.n}, !c->moves).n || used_of(s, l, to, false).n)
        run_part(c, f, to, from);
    else
        run_granules(c, NULL, f, to, from); /* marks alone */
    swm_line_tidy(s, to_line);
    if (c->moves)
        swm_line_tidy(s, from_line);
}

/* ---- whole regions -------------------------------------------------------------------------- */

/* Cuts `left` granules into runs, from the front or from the end. */
static void copy_region(struct copying *c, uint64_t to, uint64_t from, uint64_t left)
{
    const struct swmanager *s = c->w.s;

    while (left) {
        const uint64_t at = c->down ? left - 1 : 0;
        const unsigned t = swm_in_line(s, to + at), f = swm_in_line(s, from + at);
        const unsigned room = c->down ? (t < f ? t : f) + 1 : s->line_granules - (t > f ? t : f);
        const unsigned n = (unsigned)u64_min(left, room);
        const uint64_t skip = c->down ? left - n : 0;

        copy_run(c, (struct run){to + skip, n}, from + skip);
        left -= n;
        to += c->down ? 0 : n;
        from += c->down ? 0 : n;
    }
}

static sim_cycle go_through(struct swmanager *s, unsigned core, const struct swm_regions *of,
                            bool moves, sim_cycle now)
{
    const struct swm_cursor nowhere = {.page = UINT64_MAX, .line = UINT64_MAX};
    struct copying c = {
        .to_at = nowhere, .from_at = nowhere, .down = of->to.at > of->from.at, .moves = moves};

    ENSURE_SWM(((of->to.at - of->from.at) & (s->env.granule - 1)) == 0, s,
               "core %u copies histories from 0x%llx to 0x%llx, which lie differently in granules",
               core, (unsigned long long)of->from.at, (unsigned long long)of->to.at);
    swm_walk_begin(&c.w, s, core);
    if (of->bytes && of->to.at != of->from.at) {
        last_of(s, of->to, of->bytes);
        copy_region(&c, of->to.at >> s->shift, of->from.at >> s->shift,
                    last_of(s, of->from, of->bytes) - (of->from.at >> s->shift) + 1);
    }
    s->core[core]->at = nowhere; /* the registers have been used for the two sides */
    return swm_walk_end(&c.w, now);
}

sim_cycle swm_copy(struct swmanager *s, unsigned core, struct paddr to, struct paddr from,
                   uint64_t bytes, sim_cycle now)
{
    return go_through(s, core, &(struct swm_regions){to, from, bytes}, false, now);
}

/* Does some line have parts of both regions? */
static bool share_lines(const struct swmanager *s, const struct swm_regions *of)
{
    const uint64_t to = of->to.at >> s->line_shift, from = of->from.at >> s->line_shift;
    const uint64_t to_last = (of->to.at + (of->bytes - 1)) >> s->line_shift,
                   from_last = (of->from.at + (of->bytes - 1)) >> s->line_shift;

    return to <= from_last && from <= to_last;
}

/* A move within a line is a copy and a clear, as records can't change hands there. */
sim_cycle swm_move(struct swmanager *s, unsigned core, struct paddr to, struct paddr from,
                   uint64_t bytes, sim_cycle now)
{
    const struct swm_regions of = {to, from, bytes};

    if (!bytes || paddr_same(to, from))
        return now;
    if (!share_lines(s, &of))
        return go_through(s, core, &of, true, now);
    now = go_through(s, core, &of, false, now);
    const bool up = to.at > from.at;
    const uint64_t left = u64_min(up ? to.at - from.at : from.at - to.at, bytes);
    return swm_clear(s, core, up ? from : paddr_plus(from, bytes - left), left, now);
}
