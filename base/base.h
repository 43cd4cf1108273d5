/* base.h - what every folder uses: units, errors, memory, budgets, containers, seeded random
 * numbers, digests, the JSON writer, files that appear whole or not at all.
 *
 * Three kinds of error have three mechanisms. The user's: a function returns -1 and has filled a
 * struct err; nothing is printed. Ours: assert. No memory: xmalloc and friends end the process. */
#ifndef LARDSIM_BASE_H
#define LARDSIM_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t sim_cycle;
typedef uint64_t sim_addr;
typedef uint16_t sim_tid; /* a language thread; dense from 0 */

enum { MAX_THREADS = 65536 };

#define ARRAY_SIZE(a) (sizeof(a) / sizeof *(a))

#if defined(__GNUC__)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define NO_RETURN         __attribute__((noreturn))
#define LIKELY(x)         __builtin_expect(!!(x), 1)
#define UNLIKELY(x)       __builtin_expect(!!(x), 0)
#define ALWAYS_INLINE     static inline __attribute__((always_inline))
#define NO_INLINE         __attribute__((noinline))
#else
#define PRINTF_LIKE(f, a)
#define NO_RETURN
#define LIKELY(x)     (x)
#define UNLIKELY(x)   (x)
#define ALWAYS_INLINE static inline
#define NO_INLINE
#endif

/* ---- errors: err.c -------------------------------------------------------------------------- */

enum lard_exit { /* the documented exit codes */
#define EXIT(NAME, code, text) LARD_##NAME = code,
#include "base/exits.def"
#undef EXIT
};

struct err {
    int code;        /* an enum lard_exit; 0: no error */
    char text[1000]; /* one sentence or two: file, place, rule, remedy; no final newline */
};

/* Keeps the first error: a second call on a set err changes nothing. Always returns -1. */
int err_set(struct err *e, enum lard_exit code, const char *fmt, ...) PRINTF_LIKE(3, 4);
void err_clear(struct err *e);
/* A signal has ended a run at this event. Always returns -1. */
int err_stopped(struct err *e, uint64_t event, int signal);

/* Writes to standard error and ends the process with LARD_INTERNAL. For no memory, and for
 * states that can't be. */
void die(const char *fmt, ...) PRINTF_LIKE(1, 2) NO_RETURN;

/* ---- memory: mem.c. None of these returns NULL ---------------------------------------------- */

void *xmalloc(size_t bytes);
void *xcalloc(size_t n, size_t bytes);
void *xrealloc(void *p, size_t n, size_t bytes); /* n * bytes, checked */
/* p, whose first `had` elements stay, with n; those behind them are 0, and large ones cost nothing
 * on the host before they are touched. */
void *xrecalloc(void *p, size_t had, size_t n, size_t bytes);
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);
char *xvasprintf(const char *fmt, va_list ap) PRINTF_LIKE(1, 0);
/* Appends text to *all, with `between` before it unless *all is empty. NULL is as good as "". */
void xappend(char **all, const char *between, const char *text);

/* Makes room for one more element in an array that doubles: returns the array. */
void *xgrow(void *array, size_t n, size_t *cap, size_t bytes);

/* What may grow with the input takes of the host's memory. Whatever can grow charges a budget; the
 * run stops with LARD_LIMIT when that is over. Parts of a run have budgets of their own, and a
 * common one above them has the limit. NULL where a container takes a budget: not accounted. */
struct budget {
    uint64_t live, peak;
    uint64_t limit;    /* bytes; 0: no limit */
    struct budget *of; /* borrows: is charged, too; NULL: none is */
    bool over;         /* it, or what it is of, was over its limit when it was last charged */
    const volatile int *stop; /* not 0: the signal that ends the run; NULL: none can */
};
static inline void budget_take(struct budget *b, uint64_t bytes)
{
    bool over = false;

    for (struct budget *at = b; at; at = at->of) {
        at->live += bytes;
        if (at->live > at->peak)
            at->peak = at->live;
        over |= at->over |= at->limit && at->live > at->limit;
    }
    if (over)
        b->over = true;
}
static inline void budget_give(struct budget *b, uint64_t bytes)
{
    for (; b; b = b->of)
        b->live -= bytes;
}
/* It now has that much, whatever it had. */
static inline void budget_have(struct budget *b, uint64_t bytes)
{
    if (bytes > b->live)
        budget_take(b, bytes - b->live);
    else
        budget_give(b, b->live - bytes);
}
static inline bool budget_over(const struct budget *b)
{
    return b && b->over;
}
/* The error of a run whose budget is over, with LARD_LIMIT: `what` has it, "policy vc", and may
 * take less if ... `remedy`. */
int budget_error(const struct budget *b, uint64_t event, const char *what, const char *remedy,
                 struct err *e);
/* What malloc takes for a block of so many bytes: glibc's, on 64 bits, and near enough elsewhere.
 */
static inline uint64_t heap_bytes(uint64_t bytes)
{
    return !bytes ? 0 : bytes <= 24 ? 32 : (bytes + 8 + 15) / 16 * 16;
}
/* Inside an event: what is left of it does not matter any more. A stop is as if nothing more may be
 * taken, so that whoever asks budget_over later knows. */
static inline bool budget_ends(struct budget *b)
{
    if (b && b->stop && UNLIKELY(*b->stop))
        b->over = true;
    return budget_over(b);
}

/* Blocks of one size, from slabs that grow and are freed together; those that were given back are
 * given out first. Many blocks lie on huge pages where the host has them for the asking: random
 * accesses then seldom miss the host's table of pages. Open so that it can be part of a struct. */
struct pool {
    size_t bytes;          /* of a block: a multiple of 64, as is its address */
    void *free_list;       /* blocks given back; each begins with the next */
    void *slabs;           /* owns; each begins with the next */
    unsigned char *at;     /* the next block of the latest slab */
    size_t left, slab;     /* blocks from there on; bytes of the latest slab */
    uint64_t taken;        /* bytes of all slabs */
    struct budget *budget; /* borrows: is charged for slabs; NULL: not accounted */
};
void *pool_get(struct pool *p);
void pool_give(struct pool *p, void *block);
void pool_free(struct pool *p);

/* ---- map: open addressing, 64-bit key to 64-bit value: map.c -------------------------------- */

struct map_slot {
    uint64_t key, value;
};
struct map {
    struct map_slot *slots;   /* owns; NULL while it never had an entry */
    size_t mask, n;           /* capacity - 1; entries, `sentinel` included */
    unsigned shift;           /* 64 less the bits of mask */
    struct map_slot sentinel; /* the entry of the key that marks empty slots */
    bool has_sentinel;
    struct budget *budget; /* borrows; may be NULL */
};

void map_init(struct map *m, struct budget *budget);
void map_free(struct map *m);                         /* leaves an empty map */
static inline uint64_t map_bytes(const struct map *m) /* on the host; what it charges */
{
    return m->slots ? (m->mask + 1) * sizeof *m->slots : 0;
}
/* Inline, as shadow pages are found with it. */
#define MAP_EMPTY UINT64_C(0x8c1f5e0d3b7a9246) /* any number unlikely as an address or a count */
/* Page numbers and addresses differ in low bits, and many follow each other: the high bits of a
 * product with the golden ratio spread those evenly (Knuth, 6.4), so that they seldom meet. */
static inline size_t map_home(const struct map *m, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> m->shift);
}
/* The slot that holds key, or the empty one where it would go. Not for MAP_EMPTY. */
static inline struct map_slot *map_probe(const struct map *m, uint64_t key)
{
    size_t i = map_home(m, key);

    while (UNLIKELY(m->slots[i].key != key) && m->slots[i].key != MAP_EMPTY)
        i = (i + 1) & m->mask;
    return &m->slots[i];
}
uint64_t *map_find_sentinel(const struct map *m);
static inline uint64_t *map_find(const struct map *m,
                                 uint64_t key) /* NULL: none; valid until the next put/remove */
{
    if (UNLIKELY(key == MAP_EMPTY))
        return map_find_sentinel(m);
    if (UNLIKELY(!m->slots))
        return NULL;
    struct map_slot *s = map_probe(m, key);
    return LIKELY(s->key == key) ? &s->value : NULL;
}
uint64_t *map_put(struct map *m, uint64_t key); /* the value, 0 when new; valid as above */
bool map_remove(struct map *m, uint64_t key);   /* false: was not there */
/* Entries in an order that is the same in every run: start with *pos = 0; false at the end.
 * The map must not change meanwhile. */
bool map_next(const struct map *m, size_t *pos, uint64_t *key, uint64_t **value);

/* ---- sets of bytes: interval.c -------------------------------------------------------------- */

/* Ordered, disjoint, never adjacent intervals; a set is its root, NULL: empty. Bounds are
 * inclusive, so that the last address needs no care. */
struct interval {
    struct interval *kid[2];
    uint64_t lo, last;
    int height;
    uint32_t mark; /* of a map; 0: this is a set */
};
void interval_add(struct budget *b, struct interval **set, uint64_t lo, uint64_t last);
void interval_remove(struct budget *b, struct interval **set, uint64_t lo, uint64_t last);
/* The part of the set in `to` becomes what the part in `from` is. The regions may overlap. */
void interval_move(struct budget *b, struct interval **set, uint64_t to, uint64_t from,
                   uint64_t bytes);
/* The lowest interval that ends at or after x; that shares a byte with lo..last. NULL: none. */
struct interval *interval_reaching(struct interval *set, uint64_t x);
struct interval *interval_meeting(struct interval *set, uint64_t lo, uint64_t last);
/* How many bytes of lo..last are in it. */
uint64_t interval_bytes(struct interval *set, uint64_t lo, uint64_t last);
/* A map has marks, of 1 or more, for bytes: removed and moved as a set's bytes are. What was marked
 * apart stays apart. */
void interval_mark(struct budget *b, struct interval **map, uint64_t lo, uint64_t last,
                   uint32_t mark);
void interval_free(struct budget *b, struct interval **set); /* leaves it empty */

/* ---- shadow pages: fixed-size cells for addresses: shadow.c --------------------------------- */

/* A cell is in use while it is not all zero. A page has 64 cells and exists while one of them is in
 * use; one whose cells have become zero otherwise than by shadow_each may stay. */
enum { SHADOW_PAGE_CELLS = 64 };
struct shadow_page {
    uint64_t number;
    _Alignas(64) unsigned char cells[]; /* a cell of 64 bytes is a cache line */
};
enum { SHADOW_CACHE_BITS = 9, SHADOW_CACHE = 1 << SHADOW_CACHE_BITS };
struct shadow {     /* open so that a look-up can be inline; only shadow.c writes */
    unsigned shift; /* log2 of the granule */
    size_t cell_bytes;
    struct map pages;         /* number to struct shadow_page * */
    struct pool room;         /* theirs */
    struct shadow_page *last; /* of the latest look-up; NULL: none */
    struct {                  /* a direct-mapped cache of cells that were prefetched, by granule */
        uint64_t index;
        void *cell; /* NULL: none */
    } cache[SHADOW_CACHE];
    struct budget *budget;
};

struct shadow *shadow_new(unsigned granule, size_t cell_bytes,
                          struct budget *budget); /* granule: power of 2 */
void shadow_free(struct shadow *s);
struct shadow_page *shadow_page_new(struct shadow *s, uint64_t number);
static inline struct shadow_page *shadow_page_find(const struct shadow *s,
                                                   uint64_t number) /* NULL: none */
{
    if (s->last && s->last->number == number)
        return s->last;
    const uint64_t *at = map_find(&s->pages, number);
    return LIKELY(at != NULL) ? (struct shadow_page *)(uintptr_t)*at : NULL;
}
static inline void *shadow_cell(const struct shadow *s, struct shadow_page *p, uint64_t index)
{
    return p->cells + index % SHADOW_PAGE_CELLS * s->cell_bytes;
}
/* Hashed, as regions of threads often agree in low bits. */
static inline size_t shadow_cache_slot(uint64_t index)
{
    return (size_t)(index * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SHADOW_CACHE_BITS));
}
/* The cell, if it was prefetched not long ago; else NULL. */
static inline void *shadow_prefetched(const struct shadow *s, sim_addr addr)
{
    const uint64_t index = addr >> s->shift;
    const size_t slot = shadow_cache_slot(index);

    return LIKELY(s->cache[slot].index == index) ? s->cache[slot].cell : NULL;
}
/* The cell of the granule that holds addr, made if need be. Valid until it is dropped. */
static inline void *shadow_get(struct shadow *s, sim_addr addr)
{
    const uint64_t index = addr >> s->shift;
    void *cell = shadow_prefetched(s, addr);

    if (cell)
        return cell;
    struct shadow_page *p = shadow_page_find(s, index / SHADOW_PAGE_CELLS);
    if (UNLIKELY(!p))
        p = shadow_page_new(s, index / SHADOW_PAGE_CELLS);
    s->last = p;
    return shadow_cell(s, p, index);
}
/* Its cell will be asked for soon: finds it now, and fetches it into the host's cache. */
static inline void shadow_prefetch(struct shadow *s, sim_addr addr)
{
    const uint64_t index = addr >> s->shift;
    const uint64_t *at = map_find(&s->pages, index / SHADOW_PAGE_CELLS);
    void *cell = at ? shadow_cell(s, (struct shadow_page *)(uintptr_t)*at, index) : NULL;

    s->cache[shadow_cache_slot(index)].index = index;
    s->cache[shadow_cache_slot(index)].cell = cell;
    __builtin_prefetch(cell, 1);
}
/* As shadow_get, but NULL where its page does not exist. */
static inline void *shadow_peek(const struct shadow *s, sim_addr addr)
{
    const uint64_t index = addr >> s->shift;
    struct shadow_page *p = shadow_page_find(s, index / SHADOW_PAGE_CELLS);

    return p ? shadow_cell(s, p, index) : NULL;
}
bool shadow_in_use(const struct shadow *s, const void *cell);
/* Calls fn for every cell in use in [addr, addr+bytes); fn returns true to drop the cell. Costs the
 * smaller of the pages in the range and the pages that exist. Ascending inside a page only. */
typedef bool shadow_visit(void *arg, sim_addr addr, void *cell);
void shadow_each(struct shadow *s, sim_addr addr, uint64_t bytes, shadow_visit *fn, void *arg);
void shadow_all(struct shadow *s, shadow_visit *fn, void *arg); /* every cell in use */
uint64_t shadow_pages(const struct shadow *s);                  /* that exist */
/* The next page there is, in shadow_all's order, for who knows sooner than by all bytes that a cell
 * is not in use. NULL: no more. No cell may be made or dropped meanwhile. */
struct shadow_page *shadow_page_next(const struct shadow *s, size_t *pos);

/* Copying a region, as memmove does: take a snapshot, drop what is at the destination
 * (shadow_each), put the snapshot there. `own` is called for each cell of the snapshot, which is
 * still the same bits as the original, so that it gets its own of whatever it points to; NULL: it
 * points to nothing. */
struct shadow_snapshot;
struct shadow_snapshot *shadow_take(struct shadow *s, sim_addr from, uint64_t bytes,
                                    void (*own)(void *arg, void *cell), void *arg);
/* Cells go where they were plus to - from, over what is there. Frees the snapshot; returns its
 * cells. */
uint64_t shadow_put(struct shadow *s, struct shadow_snapshot *snapshot, sim_addr to);

/* ---- random numbers, the same everywhere for a seed (xoshiro256**): rng.c ------------------- */

struct rng {
    uint64_t s[4];
};
void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n);              /* 0..n-1, unbiased; n > 0 */
bool rng_chance(struct rng *r, uint64_t part, uint64_t of); /* true in part of `of` cases */

/* ---- digests (XXH3, 64 bits): digest.c ------------------------------------------------------ */

struct digest;
struct digest *digest_new(void);
void digest_add(struct digest *d, const void *p, size_t n);
void digest_copy(struct digest *to, const struct digest *from);
uint64_t digest_value(const struct digest *d); /* of all added so far */
void digest_free(struct digest *d);
uint64_t digest_bytes(const void *p, size_t n);

/* The versions of libraries that are in use now, each told by the file that knows the library. */
typedef void library_fn(void *arg, const char *name, const char *version);
void digest_library(library_fn *fn, void *arg);

/* ---- JSON, written as it comes, the same bytes for the same calls: json.c ------------------- */

struct json {  /* open so that it can live on the stack; fields are the writer's own */
    FILE *out; /* borrows */
    unsigned depth;
    bool indent;    /* false: everything on one line, no newline at the end */
    bool after_key; /* a key waits for its value */
    bool first[64]; /* by depth: nothing written at this level yet */
    char close[64]; /* by depth: '}' or ']' */
};
void json_init(struct json *j, FILE *out, bool indent);
void json_object(struct json *j); /* begins */
void json_array(struct json *j);
void json_end(struct json *j); /* ends the innermost; the outermost adds a newline when indented */
void json_key(struct json *j, const char *key);
void json_u64(struct json *j, uint64_t v);
void json_str(struct json *j,
              const char *s); /* NULL: null. Bytes that are not UTF-8 become U+FFFD */
void json_number(struct json *j, const char *text); /* digits, and what else a number has */
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
void json_hex(struct json *j, uint64_t v); /* "0x1f": for addresses, which exceed 2^53 */
/* A key and its value. */
void json_key_u64(struct json *j, const char *key, uint64_t v);
/* In that format, which has one number; null: it is none, or not finite. */
void json_key_double(struct json *j, const char *key, const char *fmt, double x) PRINTF_LIKE(3, 0);
void json_key_str(struct json *j, const char *key, const char *s);
void json_key_bool(struct json *j, const char *key, bool v);
void json_key_hex16(struct json *j, const char *key, uint64_t v); /* "00000000000000ff": digests */
void json_fixed(struct json *j, uint64_t num,
                uint64_t den); /* num/den with 6 decimals, by integers; den 0: null */

/* ---- CSV, written: csv.c -------------------------------------------------------------------- */

void csv_field(FILE *out, const char *text); /* quoted where it has to be */
/* "0.250000": a / b - 1, rounded, by integers, the same text everywhere; b > 0. Owned by the
 * caller. */
char *csv_excess(uint64_t a, uint64_t b);

/* ---- files that appear whole or not at all: outfile.c --------------------------------------- */

/* Writes beside the target, then fsync and rename. "-" is standard output, written directly. A file
 * that is there is an error, at once or when it has appeared meanwhile, unless it may be replaced;
 * devices and pipes are written to. */
struct outfile;
struct outfile *outfile_open(const char *path, bool replace, struct err *e); /* NULL: LARD_OUTPUT */
/* The same; messages call it `shown`. */
struct outfile *outfile_open_as(const char *path, const char *shown, bool replace, struct err *e);
/* In a folder that appears as a whole, and is synced then: under its name at once, and not synced.
 */
struct outfile *outfile_open_in(const char *path, const char *shown, struct err *e);
/* Whether outfile_open would find something in its way now: 0, or -1 and *e. */
int outfile_check(const char *path, bool replace, struct err *e);
FILE *outfile_stream(struct outfile *f); /* borrowed; write errors are found at commit */
int outfile_commit(struct outfile *f, struct err *e); /* frees f in any case */
void outfile_abort(struct outfile *f);                /* NULL is fine; nothing remains */
/* Says that path can't be written, why (an errno), and what to do. Always returns -1. */
int outfile_error(struct err *e, const char *path, int reason);

/* ---- text: text.c --------------------------------------------------------------------------- */

/* The UTF-8 character that begins at text: how many bytes it has, and its number; 0: there is none
 * (bytes that are cut off, overlong, surrogates). At the end, 1 and the number 0. */
enum { UTF8_MAX = 4 };
size_t utf8_char(const char *text, uint32_t *c);
void utf8_put(char to[UTF8_MAX + 1], uint32_t c); /* c is a character */
/* It can't be seen, or changes how others are shown: controls, bidi controls, zero widths, ends of
 * lines and paragraphs, variation selectors, tags. What names contain of it must not reach a
 * terminal. */
bool char_hidden(uint32_t c);
/* For people: \u{202e} in place of what is hidden, \xff of a byte that is no UTF-8. The caller's.
 * What is to be read back (traces, JSON) has its own ways to write the same characters. */
char *text_visible(const char *text);

/* The nearest of n names within a third of its length in edits, or NULL ("did you mean"). */
const char *nearest_name(const char *name, const char *const *names, size_t n);
/* "; did you mean X? " for the nearest of names, or "; ": owned by the caller. */
char *did_you_mean(const char *name, const char *const *names, size_t n);
/* A number as the configuration has them: 42, 0x2a, 64Ki, 1M. */
bool number_of_text(const char *text, uint64_t *to);

#endif
