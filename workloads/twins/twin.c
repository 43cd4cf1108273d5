/* twin.c - makes accesses in given proportions, on objects and arrays of the modelled heap: reads
 * to writes, how many a thread repeats in a release-free region, how long such a region is, how
 * many locations are array elements. No program: nothing is computed, but for what each location
 * must hold, which is checked whenever it is read.
 *
 * A thread fills new blocks (objects and arrays) and reads old ones of its own and such as the
 * first thread filled before all others; it drops its oldest. A region ends when a lock is released
 * under which fields of a shared object are read and written. An access that repeats is to a place
 * that the thread has read (written) in the same region: in the block at hand, from `low` to `at`.
 */
#include <inttypes.h>

#include "workloads/twins/twin.h"

#define SITES(X)                                                                                   \
    X(INIT, "Twin.init:12")                                                                        \
    X(FORK, "Twin.main:20")                                                                        \
    X(JOIN, "Twin.main:27")                                                                        \
    X(NEW, "Worker.fill:41")                                                                       \
    X(TEXT, "Worker.fill:42")                                                                      \
    X(FILL, "Worker.fill:44")                                                                      \
    X(FILL_AGAIN, "Worker.fill:48")                                                                \
    X(READ, "Worker.scan:60")                                                                      \
    X(READ_AGAIN, "Worker.scan:63")                                                                \
    X(FAR, "Worker.seek:65")                                                                       \
    X(CLASS, "Worker.scan:61")                                                                     \
    X(STATIC_INIT, "Config.init:5")                                                                \
    X(VOLATILE_READ, "Worker.poll:81")                                                             \
    X(VOLATILE_WRITE, "Worker.post:84")                                                            \
    X(LOCK, "Worker.update:71")                                                                    \
    X(LOCKED_READ, "Worker.update:73")                                                             \
    X(LOCKED_WRITE, "Worker.update:76")                                                            \
    X(UNLOCK, "Worker.update:79")
enum at { AT_BEFORE = VM_SITE_FIRST - 1, SITES(VM_SITE_ENUM) AT_END };
const char *const twin_sites[] = {SITES(VM_SITE_TEXT) NULL};

enum { FIELDS = 8 };
#define EIGHT(type, flags)                                                                         \
    {"f0", type, flags}, {"f1", type, flags}, {"f2", type, flags}, {"f3", type, flags},            \
        {"f4", type, flags}, {"f5", type, flags}, {"f6", type, flags},                             \
    {                                                                                              \
        "f7", type, flags                                                                          \
    }
/* By whether places are narrow: records; static fields of a class. */
static const struct vm_type_of record_type[] = {VM_TYPE("Record", EIGHT(VM_I64, 0)),
                                                VM_TYPE("Record", EIGHT(VM_I32, 0))};
static const struct vm_type_of statics_type[] = {VM_TYPE("Statics", EIGHT(VM_I64, EVF_STATIC)),
                                                 VM_TYPE("Statics", EIGHT(VM_I32, EVF_STATIC))};
/* The class of the static fields: its initialisation writes them. */
static void init_statics(struct vm_thread *t, void *arg);
static const struct vm_type_of config_type = VM_TYPE_EMPTY("Config", init_statics);
static const struct vm_type_of flag_type = VM_TYPE("Flag", {"v", VM_I32, EVF_VOLATILE});

enum { LOCKED = 4 };                             /* accesses under a lock, at the most */
enum { SHARED_PART = 64, SHARED_BLOCKS = 2048 }; /* one in so many accesses; the most */

struct block {
    struct vm_ref *ref;
    uint32_t n, step; /* places: a power of two; the i-th that is accessed is i * step mod n */
    bool array, narrow;
    uint64_t read_in, filled_in; /* regions of the thread; 0: none */
};

/* A chance that adds up to a share: what is missed at one time is owed at the next. */
#define ONE (INT64_C(1) << 32)
struct rate {
    int64_t owed, part; /* in parts of ONE */
};

/* Data that live long, in arrays: the first places are read by all threads, the others belong to
 * one thread each. Before the threads begin, each array has been accessed: what a detector makes at
 * the first access to an array, it has made of data that are old. */
#define OLD_PLACES UINT64_C(4096) /* places of an array */
struct old {
    struct block *array;
    uint64_t places, shared;
};

struct job {
    const struct twin_params *p;
    const struct vm_class *record;
    bool narrow;          /* places of 4 bytes */
    struct block *shared; /* filled before the threads start, then read only */
    uint64_t n_shared;
    struct block *classes; /* their static fields */
    const struct vm_class **config;
    struct vm_ref *locks, *flags;
    struct block *left;        /* by lock: the block that a thread has left under it */
    uint64_t elements, places; /* places of arrays; of arrays and objects */
    uint64_t made, scattered;  /* elements of arrays; of these, in arrays that are scattered */
    struct rate writes, again_reads, again_writes; /* as threads begin with */
    struct rate far; /* the share of old data in reads that repeat none */
    int64_t statics; /* blocks of static fields that are due with each place read; of ONE */
    struct old old;
    struct twin_plants plants;
    uint64_t accesses, sections; /* each thread's */
    uint64_t extra;              /* threads that have one section more */
    uint64_t workers, first;     /* threads that work; those that begin together */
    const struct worker *worker; /* all of them, also those to come */
    uint64_t here;               /* how many of these have begun */
};

struct cursor {
    struct block *in; /* NULL: none yet */
    uint32_t low, at; /* in it: where the region began; the next place */
};

struct mix { /* places in the blocks that have been chosen: arrays' elements, and all */
    uint64_t elements, places;
};

struct worker {
    struct vm_thread *t;
    struct job *job;
    uint64_t id, random, region, left, sections;
    struct rate writes, again_reads, again_writes, renew, shared, far, handed, volatiles;
    uint64_t next_static, statics_read; /* the latter: blocks in this region */
    int64_t statics_owed;               /* blocks of them, of ONE; threads begin anywhere */
    struct cursor fill, scan;
    struct block *own; /* keep of them */
    struct vm_ref *text;
    uint64_t allocated; /* bytes */
    uint64_t n_own, next_fill, next_scan, next_shared;
    struct mix filled, scanned; /* with a share of accesses that is not that of locations */
    uint64_t next_kind[2];      /* the next block: of objects, of arrays */
    unsigned burst;             /* the next one that it has a part in */
    uint64_t collected;
    uint64_t due; /* with so many accesses left there is something else to do */
};

/* ---- chances -------------------------------------------------------------------------------- */

static inline bool draw(struct rate *r, uint32_t bits)
{
    r->owed += r->part;
    if (r->owed <= (int64_t)bits)
        return false;
    r->owed -= ONE;
    return true;
}
static inline void took_place(struct rate *r, bool it_did)
{
    r->owed += r->part - (it_did ? ONE : 0);
}
/* Returns the rate part / of, never more than all. */
static struct rate rate_of(uint64_t part, uint64_t of)
{
    const double share = of ? (double)part / (double)of : 0;

    return (struct rate){0, share >= 1 ? ONE : (int64_t)(share * (double)ONE)};
}

static inline uint64_t draw_bits(struct worker *w) /* xorshift* */
{
    w->random ^= w->random >> 12;
    w->random ^= w->random << 25;
    w->random ^= w->random >> 27;
    return w->random * UINT64_C(0x2545f4914f6cdd1d);
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* A place holds its own number, so that every read can be checked. */
ALWAYS_INLINE void put(struct vm_thread *t, const struct block *b, uint32_t i, uint64_t site)
{
    const uint32_t place = i * b->step & (b->n - 1);

    twin_put(t, b->ref, b->array, b->narrow, place, (int64_t)place + 1, site);
}
ALWAYS_INLINE void get(struct vm_thread *t, const struct block *b, uint32_t i, uint64_t site)
{
    const uint32_t place = i * b->step & (b->n - 1);
    const int64_t is = twin_get(t, b->ref, b->array, b->narrow, place, site);

    if (UNLIKELY(is != (int64_t)place + 1 && is != 0))
        vm_fail(t, "twin: place %" PRIu32 " of a block holds %" PRId64, place, is);
}

/* True if the next block has to be an array, for the share of arrays. */
static bool next_is_array(const struct job *j)
{
    return j->p->arrays && j->elements * 100 <= j->p->arrays * j->places;
}

static void make(struct vm_thread *t, struct job *j, struct block *b, bool array, uint64_t site)
{
    const struct twin_params *p = j->p;

    b->array = array;
    b->n = b->array ? (uint32_t)p->length : FIELDS;
    b->step = 1;
    b->narrow = j->narrow;
    if (b->array) {
        vm_new_array(t, b->ref, j->narrow ? VM_I32 : VM_I64, b->n, site);
        j->elements += b->n;
        if (j->scattered * 100 < p->scatter * j->elements) {
            b->step = 5;
            j->scattered += b->n;
        }
    } else {
        vm_new(t, b->ref, j->record, site);
    }
    j->places += b->n;
}

/* ---- whole arrays --------------------------------------------------------------------------- */

/* Counts an access that the region's rules have not chosen. */
static void forced(struct worker *w, bool write)
{
    took_place(&w->writes, write);
    took_place(write ? &w->again_writes : &w->again_reads, false);
    w->left -= w->left > 0;
}

static bool unfinished(const struct worker *w, const struct cursor *c)
{
    return w->job->p->whole && c->in && c->in->array && c->in->step == 1 && c->at < c->in->n;
}

static void finish_scan(struct worker *w)
{
    for (; unfinished(w, &w->scan); forced(w, false))
        get(w->t, w->scan.in, w->scan.at++, AT_READ);
}

/* ---- allocation ----------------------------------------------------------------------------- */

enum { TEXT_BYTES = 32, BLOCK_HEADER = 16 };

/* Bytes that are still to be allocated by now, as the program's own rate is; less than 0: it has
 * been quicker. */
static int64_t owed_bytes(const struct worker *w)
{
    const uint64_t done = w->job->accesses - w->left;

    return (int64_t)(w->job->p->alloc * done / 1000) - (int64_t)w->allocated;
}

/* Bytes that blocks do not make up for are texts and the like, whose fields are final: nothing of
 * them is checked, and they are dropped at once. */
static void make_texts(struct worker *w)
{
    while (owed_bytes(w) >= BLOCK_HEADER + TEXT_BYTES) {
        vm_new_array(w->t, w->text, VM_I8, TEXT_BYTES, AT_TEXT);
        w->allocated += BLOCK_HEADER + TEXT_BYTES;
    }
}

/* Whether a block that may be filled once more is. */
static bool renews(struct worker *w)
{
    return w->job->p->alloc ? owed_bytes(w) <= 0 : draw(&w->renew, (uint32_t)draw_bits(w));
}

/* ---- accesses to arrays, where they are not as many as locations ----------------------------- */

/* Says whether a thread has as many places for arrays as for objects. A block to access is then
 * chosen by the share of accesses; whether it is new, by the share of locations. */
static bool is_mixed(const struct twin_params *p)
{
    return p->array_accesses && p->arrays && p->arrays < 100;
}
static bool wants_array(const struct twin_params *p, const struct mix *m)
{
    return m->elements * 1000 <= p->array_accesses * m->places;
}
static void chose(struct mix *m, const struct block *b)
{
    m->places += b->n;
    m->elements += b->array ? b->n : 0;
}
static struct block *own_of(struct worker *w, bool array, uint64_t *next)
{
    return &w->own[(*next)++ % (w->job->p->keep / 2) * 2 + array];
}
/* True if one more new block of that kind would be too many. */
static bool has_enough(const struct job *j, bool array)
{
    return next_is_array(j) != array;
}
/* Returns the block to fill. Once there are enough places, the first block is filled once more
 * before a place is used that has nothing yet. */
static struct block *own_to_fill(struct worker *w, bool array)
{
    struct block *b = own_of(w, array, &w->next_kind[array]), *first = &w->own[array];

    if (b->n || !first->n || first->filled_in == w->region || !has_enough(w->job, array))
        return b;
    w->next_kind[array] = 1;
    return first;
}

/* ---- fresh places --------------------------------------------------------------------------- */

/* The thread's oldest block is dropped for a new one, or filled once more. */
NO_INLINE static void next_fill(struct worker *w)
{
    const bool mixed = is_mixed(w->job->p), array = mixed && wants_array(w->job->p, &w->filled);
    struct block *b = mixed ? own_to_fill(w, array) : &w->own[w->next_fill++ % w->job->p->keep];

    if (w->fill.at > w->fill.low)
        w->fill.in->filled_in = w->region;
    if (w->scan.in == b) {
        finish_scan(w);
        b->read_in = w->region;
        w->statics_owed += w->job->statics * (int64_t)w->scan.at;
        w->scan = (struct cursor){NULL, 0, 0};
    }
    const bool old = b->n && b->filled_in != w->region;
    if (!old || !(renews(w) || (mixed && has_enough(w->job, array)))) {
        w->n_own += !b->n;
        make(w->t, w->job, b, mixed ? array : next_is_array(w->job), AT_NEW);
        w->allocated += BLOCK_HEADER + b->n * (b->narrow ? 4 : 8);
        b->read_in = 0;
    }
    make_texts(w);
    chose(&w->filled, b);
    w->fill = (struct cursor){b, 0, 0};
}

/* Returns a block of the thread's own that it neither fills nor has read in this region; NULL:
 * there is none. */
static struct block *old_block(struct worker *w, bool mixed, bool array)
{
    for (unsigned tries = 0; tries < 3 && w->n_own > 1; tries++) {
        struct block *b =
            mixed ? own_of(w, array, &w->next_scan) : &w->own[w->next_scan++ % w->n_own];
        if (b->n && b != w->fill.in && b->read_in != w->region)
            return b;
    }
    return NULL;
}

/* Returns the next shared block, or the next of that kind; of the other kind if there is none. */
static struct block *shared_block(struct worker *w, bool mixed, bool array)
{
    const struct job *j = w->job;
    uint64_t tries = mixed ? j->n_shared : 1;
    struct block *b;

    do
        b = &j->shared[w->next_shared++ % j->n_shared];
    while (--tries && b->array != array);
    return b;
}

/* A class's static fields, whenever enough other places have been read since the last ones. The
 * thread's first use of a class is an event. */
static struct block *static_block(struct worker *w)
{
    struct job *j = w->job;

    w->statics_owed += j->statics * (int64_t)w->scan.at;
    if (w->statics_owed < ONE || w->statics_read == j->p->classes)
        return NULL;
    w->statics_owed -= ONE;
    const uint64_t i = w->next_static++ % j->p->classes;
    w->statics_read++;
    vm_class_use(w->t, j->config[i], AT_CLASS);
    return &j->classes[i];
}

/* Goes on with the next block to read: one of the thread's own, or one that all read. */
NO_INLINE static void next_scan(struct worker *w)
{
    const bool mixed = is_mixed(w->job->p), array = mixed && wants_array(w->job->p, &w->scanned);
    struct block *b = NULL;

    if (w->scan.in)
        w->scan.in->read_in = w->region;
    if (UNLIKELY(w->job->statics))
        b = static_block(w);
    if (!b && !draw(&w->shared, (uint32_t)draw_bits(w)))
        b = old_block(w, mixed, array);
    if (!b)
        b = shared_block(w, mixed, array);
    chose(&w->scanned, b);
    w->scan = (struct cursor){b, 0, 0};
}

/* ---- accesses ------------------------------------------------------------------------------- */

ALWAYS_INLINE bool again(struct rate *r, const struct cursor *c, uint32_t bits)
{
    if (!draw(r, bits))
        return false;
    if (c->at > c->low)
        return true;
    r->owed += ONE;
    return false;
}
ALWAYS_INLINE uint32_t one_of(const struct cursor *c, uint64_t bits)
{
    return c->low + (uint32_t)((bits >> 48) * (c->at - c->low) >> 16);
}

ALWAYS_INLINE void write(struct worker *w, uint64_t bits)
{
    struct cursor *c = &w->fill;

    if (again(&w->again_writes, c, (uint32_t)bits)) {
        put(w->t, c->in, one_of(c, bits), AT_FILL_AGAIN);
        return;
    }
    if (UNLIKELY(!c->in || c->at == c->in->n))
        next_fill(w);
    put(w->t, c->in, c->at++, AT_FILL);
}
NO_INLINE static void read_far(struct worker *w)
{
    struct job *j = w->job;
    const uint64_t bits = draw_bits(w), own = j->old.places - j->old.shared;
    const bool shared = draw(&w->shared, (uint32_t)bits);
    const uint64_t from = shared ? 0 : j->old.shared + own / j->workers * w->id;
    const uint64_t n = shared ? j->old.shared : own / j->workers;
    const uint64_t place = from + ((draw_bits(w) >> 32) * n >> 32);

    get(w->t, &j->old.array[place / OLD_PLACES], (uint32_t)(place % OLD_PLACES), AT_FAR);
    j->elements++;
    j->places++;
}

ALWAYS_INLINE void read(struct worker *w, uint64_t bits)
{
    struct cursor *c = &w->scan;

    if (again(&w->again_reads, c, (uint32_t)bits)) {
        get(w->t, c->in, one_of(c, bits), AT_READ_AGAIN);
        return;
    }
    /* Far reads begin when there is something that can be repeated in this region. */
    if (UNLIKELY(w->far.part) && c->at > c->low && draw(&w->far, (uint32_t)(bits >> 32))) {
        read_far(w);
        return;
    }
    if (UNLIKELY(!c->in || c->at == c->in->n))
        next_scan(w);
    get(w->t, c->in, c->at++, AT_READ);
}

/* The hot loop: two draws an access, from the halves of one random number. */
static void access_some(struct worker *w, uint64_t n)
{
    w->left -= n;
    while (n--) {
        const uint64_t bits = draw_bits(w);
        if (draw(&w->writes, (uint32_t)(bits >> 32)))
            write(w, bits * 0x9e3779b97f4a7c15);
        else
            read(w, bits * 0x9e3779b97f4a7c15);
    }
}

/* ---- beside the accesses -------------------------------------------------------------------- */

static void next_region(struct worker *w)
{
    w->region++;
    w->statics_read = 0;
    w->fill.low = w->fill.at;
    w->scan.low = w->scan.at;
}

static void run_burst(struct worker *w)
{
    struct twin_plants *s = &w->job->plants;
    const struct twin_tally n = twin_burst_run(w->t, s, (unsigned)w->id, w->burst);

    for (uint64_t i = 0; i < n.reads + n.writes; i++)
        forced(w, i < n.writes);
    if (n.released)
        next_region(w);
    w->burst = twin_burst_next(s, (unsigned)w->id, w->burst + 1);
}

/* Returns how many accesses are left when it is time for the i-th of n bursts or collections. */
static uint64_t time_of(const struct job *j, uint64_t i, uint64_t n)
{
    return i < n ? j->accesses - j->accesses / (n + 1) * (i + 1) : 0;
}

/* Bursts and collections; sets when the next one is due. */
NO_INLINE static void what_is_due(struct worker *w)
{
    const struct job *j = w->job;
    const uint64_t collections = w->id ? 0 : j->p->collections;

    while (w->burst < j->plants.n && w->left <= time_of(j, w->burst, j->plants.n))
        run_burst(w);
    if (w->collected < collections && w->left <= time_of(j, w->collected, collections)) {
        vm_collect(w->t);
        w->collected++;
    }
    const uint64_t burst = time_of(j, w->burst, j->plants.n);
    const uint64_t collect = time_of(j, w->collected, collections);
    w->due = burst > collect ? burst : collect;
}

/* ---- regions -------------------------------------------------------------------------------- */

static void access_many(struct worker *w, uint64_t n)
{
    while (n > 0 && w->left > 0) {
        if (w->left <= w->due)
            what_is_due(w);
        const uint64_t until = w->left > w->due ? w->left - w->due : w->left;
        const uint64_t some = n < until ? n : until;
        access_some(w, some);
        n -= some;
    }
}

/* Changes an own block for the one that was left under the lock. The reference goes through the
 * object that is locked. */
static void hand_over(struct worker *w, struct block *left)
{
    struct block *b = w->n_own ? &w->own[w->next_scan++ % w->n_own] : NULL;

    if (!b || !b->n || b == w->fill.in || b == w->scan.in)
        return;
    const struct block mine = *b, theirs = *left;
    if (is_mixed(w->job->p) && mine.array != theirs.array)
        return; /* arrays and objects have places of their own */
    vm_assign(w->t, w->text, mine.ref);
    vm_assign(w->t, mine.ref, theirs.ref);
    vm_assign(w->t, theirs.ref, w->text);
    *b = theirs;
    b->ref = mine.ref;
    b->read_in = b->filled_in = 0;
    *left = mine;
    left->ref = theirs.ref;
}

/* Fields of a shared object are read, then fields of it are written, and the region ends. */
static void section(struct worker *w, uint64_t n)
{
    const uint64_t bits = draw_bits(w), place = bits >> 32;
    const uint64_t lock = (bits & 0xffffffff) * w->job->p->locks >> 32;
    struct vm_ref *o = &w->job->locks[lock];
    const bool narrow = w->job->narrow;
    uint64_t writes = 0;

    for (uint64_t i = 0; i < n; i++) {
        const bool it_does = draw(&w->writes, (uint32_t)draw_bits(w));
        took_place(it_does ? &w->again_writes : &w->again_reads, false);
        writes += it_does;
    }
    w->left -= n;
    vm_lock(w->t, o, AT_LOCK);
    for (uint64_t i = 0; i < n - writes; i++)
        twin_get(w->t, o, false, narrow, (uint32_t)(place + i) % FIELDS, AT_LOCKED_READ);
    for (uint64_t i = 0; i < writes; i++)
        twin_put(w->t, o, false, narrow, (uint32_t)(place + i) % FIELDS, (int64_t)w->region,
                 AT_LOCKED_WRITE);
    if (UNLIKELY(w->handed.part) && draw(&w->handed, (uint32_t)draw_bits(w)))
        hand_over(w, &w->job->left[lock]);
    vm_unlock(w->t, o, AT_UNLOCK);
    next_region(w);
}

/* Instead of a lock: what others have done before they wrote a flag, and what this thread has done
 * for those who read it. Nothing is guarded meanwhile, so nothing shared is accessed. */
static void post(struct worker *w, uint64_t n)
{
    struct vm_ref *flag = &w->job->flags[(draw_bits(w) >> 32) * w->job->p->locks >> 32];

    vm_get_i32(w->t, flag, 0, AT_VOLATILE_READ);
    access_some(w, n);
    vm_put_i32(w->t, flag, 0, (int32_t)w->region, AT_VOLATILE_WRITE);
    next_region(w);
}

/* Makes the accesses from a release to the next one. Regions are of about the same length, so that
 * all of them come about. */
static void one_region(struct worker *w)
{
    const uint64_t mean = w->left / (w->sections + 1);
    const uint64_t n = mean / 2 + ((mean + 1) * (draw_bits(w) >> 48) >> 16);
    const uint64_t locked = n / 3 < LOCKED ? n / 3 : LOCKED;

    access_many(w, w->sections ? n - locked : w->left);
    for (; unfinished(w, &w->fill); forced(w, true)) /* so that one footprint is all of it */
        put(w->t, w->fill.in, w->fill.at++, AT_FILL);
    finish_scan(w);
    if (!w->sections)
        return;
    w->sections--;
    const uint64_t last = locked < w->left ? locked : w->left;
    if (UNLIKELY(w->volatiles.part) && draw(&w->volatiles, (uint32_t)draw_bits(w)))
        post(w, last);
    else
        section(w, last);
}

/* ---- threads -------------------------------------------------------------------------------- */

/* The first threads begin together, with no event. */
static void meet(struct worker *w)
{
    if (w->id >= w->job->first)
        return;
    w->job->here++;
    while (w->job->here < w->job->first)
        vm_yield(w->t);
}

static void work(struct vm_thread *t, void *arg)
{
    struct worker *w = arg;
    const struct job *j = w->job;
    struct vm_ref *own = vm_enter(t, (unsigned)j->p->keep + 1);

    w->t = t;
    w->random = rng_next(vm_rng(t)) | 1;
    w->region = 1;
    w->left = j->accesses;
    w->sections = j->sections + (w->id < j->extra);
    w->writes = j->writes;
    w->again_reads = j->again_reads;
    w->again_writes = j->again_writes;
    w->renew = rate_of(j->p->renew, 100);
    w->shared = rate_of(j->p->shared, 100);
    w->far = j->far;
    w->handed = rate_of(j->p->handed, 100);
    w->volatiles = rate_of(j->p->volatiles, 100);
    w->next_static = w->id;
    w->statics_owed = j->statics ? (int64_t)(draw_bits(w) >> 32) : 0;
    w->next_shared = draw_bits(w) % j->n_shared;
    w->own = vm_scratch(t, j->p->keep, sizeof *w->own);
    for (uint64_t i = 0; i < j->p->keep; i++)
        w->own[i].ref = &own[i];
    w->text = &own[j->p->keep];
    w->burst =
        w->id < j->plants.members ? twin_burst_next(&j->plants, (unsigned)w->id, 0) : j->plants.n;
    w->due = UINT64_MAX;
    meet(w);
    while (w->left || w->sections)
        one_region(w);
    what_is_due(w);
    vm_leave(t, own);
}

/* ---- before and after ----------------------------------------------------------------------- */

/* Makes the arrays for far reads: as many of the reads that repeat none as give the wanted misses
 * in a million instructions. Returns how many places were written. */
static uint64_t init_old(struct vm_thread *t, struct job *j)
{
    const struct twin_params *p = j->p;
    const uint64_t arrays = (p->old << 20) / (OLD_PLACES * (j->narrow ? 4 : 8));
    /* An access takes so many hundredths, itself included. */
    const uint64_t instructions = (vm_params(t)->instructions + 100) * vm_params(t)->slower / 100;

    if (!p->misses)
        return 0;
    j->far = rate_of(p->misses * instructions * (p->reads + p->writes),
                     UINT64_C(100000) * p->reads * (1000 - p->again_reads));
    struct vm_ref *r = vm_enter(t, (unsigned)arrays);
    j->old.array = vm_scratch(t, arrays, sizeof *j->old.array);
    for (uint64_t i = 0; i < arrays; i++) {
        j->old.array[i] = (struct block){
            .ref = &r[i], .n = OLD_PLACES, .step = 1, .array = true, .narrow = j->narrow};
        vm_new_array(t, &r[i], j->narrow ? VM_I32 : VM_I64, OLD_PLACES, AT_INIT);
        put(t, &j->old.array[i], 0, AT_INIT);
    }
    j->old.places = arrays * OLD_PLACES;
    j->old.shared = j->old.places * p->shared / 100;
    return arrays;
}

static void init_statics(struct vm_thread *t, void *arg)
{
    const struct block *b = arg;

    for (uint32_t i = 0; i < b->n; i++)
        put(t, b, i, AT_STATIC_INIT);
}

/* Classes are initialised before the threads begin. Fields that are read under a lock are none of
 * them, so there must be more of them among the others. Returns how many places were written. */
static uint64_t init_classes(struct vm_thread *t, struct job *j)
{
    const struct twin_params *p = j->p;
    const double locked = (double)(p->region / 3 < LOCKED ? p->region / 3 : LOCKED),
                 share = (double)p->statics / 1000 / (1 - locked / (double)p->region);

    if (!p->statics)
        return 0;
    struct vm_ref *r = vm_enter(t, (unsigned)p->classes);
    const struct vm_class *k = vm_class(t, &statics_type[j->narrow], NULL);
    j->classes = vm_scratch(t, p->classes, sizeof *j->classes);
    j->config = vm_scratch(t, p->classes, sizeof *j->config);
    for (uint64_t i = 0; i < p->classes; i++) {
        j->classes[i] = (struct block){.ref = &r[i], .n = FIELDS, .step = 1, .narrow = j->narrow};
        j->config[i] = vm_class(t, &config_type, &j->classes[i]);
        vm_new(t, &r[i], k, AT_INIT);
        vm_class_use(t, j->config[i], AT_CLASS);
    }
    j->places += p->classes * FIELDS;
    j->statics = (int64_t)(share * (double)ONE / FIELDS);
    return p->classes * FIELDS;
}

static struct vm_ref *new_objects(struct vm_thread *t, uint64_t n, const struct vm_class *k)
{
    struct vm_ref *r = vm_enter(t, (unsigned)n);

    for (uint64_t i = 0; i < n; i++)
        vm_new(t, &r[i], k, AT_INIT);
    return r;
}

/* Makes new, empty blocks for the locks, as no thread has left any there yet. */
static void init_left(struct vm_thread *t, struct job *j)
{
    struct vm_ref *r = vm_enter(t, (unsigned)j->p->locks);

    j->left = vm_scratch(t, j->p->locks, sizeof *j->left);
    for (uint64_t i = 0; i < j->p->locks; i++) {
        j->left[i].ref = &r[i];
        make(t, j, &j->left[i], next_is_array(j), AT_INIT);
    }
}

/* Makes the data that all threads read, and the locks. Returns how many places were written. */
static uint64_t init(struct vm_thread *t, struct job *j)
{
    const struct twin_params *p = j->p;
    const uint64_t wanted = p->accesses / SHARED_PART + 1;
    struct mix made = {0};
    uint64_t written = 0;

    j->narrow = twin_narrow(t);
    j->record = vm_class(t, &record_type[j->narrow], NULL);
    j->locks = new_objects(t, p->locks, j->record);
    j->places = p->locks * FIELDS;
    if (p->handed)
        init_left(t, j);
    if (p->volatiles)
        j->flags = new_objects(t, p->locks, vm_class(t, &flag_type, NULL));
    const uint64_t static_places = init_classes(t, j);
    j->shared = vm_scratch(t, SHARED_BLOCKS, sizeof *j->shared);
    struct vm_ref *r = vm_enter(t, SHARED_BLOCKS);
    while (written < wanted && j->n_shared < SHARED_BLOCKS) {
        struct block *b = &j->shared[j->n_shared];
        b->ref = &r[j->n_shared++];
        make(t, j, b, is_mixed(p) ? wants_array(p, &made) : next_is_array(j), AT_INIT);
        chose(&made, b);
        for (uint32_t i = 0; i < b->n; i++)
            put(t, b, i, AT_INIT);
        written += b->n;
    }
    return written + static_places;
}

/* Divides what is left of each number, after the beginning, among the threads. */
static void divide(struct job *j, uint64_t threads, uint64_t written)
{
    const struct twin_params *p = j->p;
    const uint64_t left = p->accesses > written ? p->accesses - written : 0;
    const uint64_t writes =
        (uint64_t)((double)p->accesses * (double)p->writes / (double)(p->reads + p->writes));
    const uint64_t regions = p->accesses / p->region, /* some are ended by forks, ends, classes: */
        life = 2 * threads - 1 + (p->statics ? p->classes : 0);
    const uint64_t sections = regions > life ? regions - life : 0;

    j->accesses = left / j->workers;
    j->sections = sections / j->workers;
    j->extra = sections % j->workers;
    j->writes = rate_of(writes > written ? writes - written : 0, left);
    j->again_reads = rate_of(p->again_reads, 1000);
    j->again_writes = writes > written
                          ? rate_of(p->again_writes * writes, 1000 * (writes - written))
                          : (struct rate){0, 0};
}

/* Runs all threads at once; the first thread is one of them. */
static void run_together(struct vm_thread *t, struct worker *w, uint64_t threads)
{
    sim_tid *tid = vm_scratch(t, threads, sizeof *tid);

    for (uint64_t i = 1; i < threads; i++)
        tid[i] = vm_fork(t, work, &w[i], AT_FORK);
    work(t, &w[0]);
    for (uint64_t i = 1; i < threads; i++)
        vm_join(t, tid[i], AT_JOIN);
}

/* The first thread begins another one whenever the oldest has ended. */
static void run_in_turn(struct vm_thread *t, struct worker *w, uint64_t workers, uint64_t at_once)
{
    sim_tid *tid = vm_scratch(t, workers, sizeof *tid);

    for (uint64_t i = 0; i < workers; i++) {
        if (i >= at_once)
            vm_join(t, tid[i - at_once], AT_JOIN);
        tid[i] = vm_fork(t, work, &w[i], AT_FORK);
    }
    for (uint64_t i = workers - at_once; i < workers; i++)
        vm_join(t, tid[i], AT_JOIN);
}

/* Counts the accesses of all threads together. */
static uint64_t accesses_done(const void *job)
{
    const struct job *j = job;
    uint64_t n = 0;

    for (uint64_t i = 0; i < j->workers; i++)
        n += j->worker[i].t ? j->accesses - j->worker[i].left : 0;
    return n;
}

void twin_main(struct vm_thread *t, const void *p)
{
    const uint64_t threads = vm_params(t)->threads;
    struct job *j = vm_scratch(t, 1, sizeof *j);

    j->p = p;
    const bool together = !j->p->live || j->p->live >= threads;
    j->workers = together ? threads : threads - 1;
    j->first = together ? threads : j->p->live - 1;
    const uint64_t written = init(t, j);
    divide(j, threads, written + init_old(t, j));
    if (j->p->rest)
        twin_rest(t, j->p, AT_INIT);
    twin_plants_init(t, &j->plants, j->p, (unsigned)j->first);
    struct worker *w = vm_scratch(t, j->workers, sizeof *w);
    for (uint64_t i = 0; i < j->workers; i++)
        w[i] = (struct worker){.job = j, .id = i};
    j->worker = w;
    vm_progress(t, j->workers * j->accesses, accesses_done, j);
    vm_roi_begin(t);
    if (together)
        run_together(t, w, threads);
    else
        run_in_turn(t, w, j->workers, j->first);
    vm_roi_end(t);
    vm_progress(t, j->workers * j->accesses, NULL, NULL);
}
