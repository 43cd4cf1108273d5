/* shared.c - several runs over one reading of a source: each batch is decoded, and held against the
 * stream rules, once, and then every run takes it in turn. A run keeps the stack on which it waits
 * for the next batch, so it is the same code as that of a run alone, and gives the same results.
 * Several batches may be kept, so that a run goes through all of them at its turn: its model then
 * stays in the host's caches, and where a source is kept whole, one run is over before the next
 * begins.
 *
 * In program order each run has an execution of its own, so it asks a program of its own, and is
 * over in its first turn.
 *
 * What a run alone would say about a source that fails, or that breaks a rule, only a run alone can
 * say, with the results up to there: such a reading ends, and its runs are given up. */
#include "sim/session/session.h"

#include "base/fiber.h"

#include <stdlib.h>
#include <string.h>

struct side_run { /* a run, as a source sees it: its own end of the reading */
    struct source base;
    struct lardsim_shared *of;
    struct lardsim *run;
    struct fiber *stack;   /* owns; NULL: it has not begun, or has ended */
    struct fiber *waiting; /* where it asked for the next batch; NULL: it has not begun, or ended */
    size_t next;           /* of the batches that are kept */
    bool ended;            /* it asks for no more */
    bool alone;            /* it asks a program of its own, and reads nothing */
};

struct kept { /* a batch */
    struct batch batch;
    struct digest *before; /* owns; of the records before it */
};

struct lardsim_shared {
    struct source *source;   /* owns */
    char *name;              /* owns; as the user wrote it */
    struct names *names;     /* owns; what a run alone would know at the batches that are kept */
    size_t named;            /* of the source's */
    struct rules *rules;     /* owns; NULL: not checked */
    struct digest *identity; /* of the batches before the one in hand; the source's or own */
    struct digest *own;      /* owns; NULL: the source keeps one */
    struct kept *kept;       /* owns; those that runs go through at a turn */
    size_t batches, kept_cap, with_digest;
    struct event *room;   /* owns; their records, where there is more than one */
    size_t records, most; /* in room; of the room */
    struct batch ahead;   /* read, and not kept */
    bool has_ahead;
    bool stopped;
    struct trace_summary told; /* before it is read; if foreseen */
    bool foreseen;
    struct fiber *host; /* owns; the stack that reads */
    struct side_run **reader;
    size_t n, cap;
};

/* Names that were read along with the batches so far. */
static void take_names(struct lardsim_shared *s)
{
    for (const size_t n = names_count(s->source->names); s->named < n; s->named++) {
        const struct name *name = names_at(s->source->names, s->named);
        names_add(s->names, name->space, name->id, name->text, NULL);
    }
}

struct lardsim_shared *lardsim_shared_open(const char *source, bool rules, size_t keep,
                                           struct err *e)
{
    struct source *s = source_open(source, e);

    if (!s)
        return NULL;
    struct lardsim_shared *shared = xcalloc(1, sizeof *shared);
    shared->source = s;
    shared->name = xstrdup(source);
    shared->rules = rules ? rules_new(false) : NULL;
    rules_for_run(shared->rules, s->format);
    shared->own = s->identity ? NULL : digest_new();
    shared->identity = s->identity ? s->identity : shared->own;
    shared->foreseen = source_foresee(s, &shared->told);
    shared->host = fiber_host();
    shared->names = names_new();
    take_names(shared);
    shared->most = keep;
    shared->room = keep ? xmalloc(keep * sizeof *shared->room) : NULL;
    return shared;
}

void lardsim_shared_free(struct lardsim_shared *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        fiber_free(s->reader[i]->stack);
        free(s->reader[i]->waiting);
        digest_free(s->reader[i]->base.identity);
        free(s->reader[i]);
    }
    for (size_t i = 0; i < s->with_digest; i++)
        digest_free(s->kept[i].before);
    free(s->kept);
    free(s->room);
    free(s->reader);
    fiber_free(s->host);
    rules_free(s->rules);
    source_close(s->source);
    names_free(s->names);
    digest_free(s->own);
    free(s->name);
    free(s);
}

/* ---- a run's end of it ----------------------------------------------------------------------- */

/* Leaves the run's stack asleep until there are other batches. */
static int reader_next(struct source *source, struct batch *b, struct err *e)
{
    struct side_run *r = (struct side_run *)source;

    (void)e;
    if (r->next == r->of->batches) {
        r->waiting = fiber_host();
        fiber_switch(r->waiting, r->of->host);
        fiber_free(r->waiting);
        r->waiting = NULL;
    }
    const struct kept *k = &r->of->kept[r->next++];
    *b = k->batch;
    if (r->of->stopped)
        b->records = 0;
    digest_copy(r->base.identity, k->before);
    return 0;
}

/* The reading outlives its readers: it is freed as a whole. */
static void reader_close(struct source *source)
{
    (void)source;
}

static void run_reader(void *reader)
{
    struct side_run *r = reader;

    if (r->alone)
        lardsim_run(r->run, r->of->name);
    else
        session_pull(r->run, &r->base, r->of->name);
    r->ended = true;
    fiber_switch(r->stack, r->of->host);
}

void lardsim_shared_add(struct lardsim_shared *s, struct lardsim *l)
{
    struct side_run *r = xcalloc(1, sizeof *r);

    r->base = *s->source;
    r->base.next = reader_next;
    r->base.names = s->names;
    r->base.close = reader_close;
    r->base.driven = NULL; /* one reading for all */
    r->base.identity = digest_new();
    r->base.kept = (struct budget){0}; /* each run is charged for itself */
    r->of = s;
    r->run = l;
    r->alone = session_asks(l, s->source);
    if (!r->alone)
        session_share(l, s->foreseen ? &s->told : NULL);
    s->reader = xgrow(s->reader, s->n, &s->cap, sizeof(struct side_run *));
    s->reader[s->n++] = r;
}

/* ---- the reading ---------------------------------------------------------------------------- */

static bool rules_allow(struct lardsim_shared *s, const struct batch *b, struct err *e)
{
    const struct event *at = b->rec, *end = at + b->records;
    uint64_t number = b->first;

    if (!s->rules)
        return true;
    if (!b->records)
        return rules_finish(s->rules, e) == 0;
    while (at < end && !e->code) {
        const struct event *next = rules_run(s->rules, at, end, number, e);
        for (; at < next && next < end; at += event_records(at))
            number++; /* it stops at marks of regions of interest */
        at = next;
    }
    return !e->code;
}

/* Adds a batch to those that are kept, with the hash of what is before it. */
static void keep(struct lardsim_shared *s, const struct batch *b)
{
    s->kept = xgrow(s->kept, s->batches, &s->kept_cap, sizeof *s->kept);
    struct kept *k = &s->kept[s->batches++];
    if (s->batches > s->with_digest) {
        k->before = digest_new();
        s->with_digest = s->batches;
    }
    k->batch = *b;
    digest_copy(k->before, s->identity);
    if (s->own)
        digest_add(s->own, b->rec, b->records * sizeof *b->rec);
    if (s->most && b->records) {
        memcpy(s->room + s->records, b->rec, b->records * sizeof *b->rec);
        k->batch.rec = s->room + s->records;
        s->records += b->records;
    }
}

/* Into s->ahead, unless that has one. */
static int read_one(struct lardsim_shared *s, struct err *e)
{
    if (s->has_ahead)
        return 0;
    s->has_ahead = true;
    return source_next(s->source, &s->ahead, e) || !rules_allow(s, &s->ahead, e) ? -1 : 0;
}

/* The batches of the next turn: one, or as many as there is room for. Names are those that a run
 * alone would know: a batch that brings some begins a turn. */
static int read_batches(struct lardsim_shared *s, struct err *e)
{
    const struct batch *b = &s->ahead;

    s->batches = s->records = 0;
    do {
        if (read_one(s, e))
            return -1;
        if (b->records > s->most) { /* room for none, or a large one */
            free(s->room);
            s->most = s->most ? b->records : 0;
            s->room = s->most ? xmalloc(s->most * sizeof *s->room) : NULL;
        }
        take_names(s);
        keep(s, b);
        s->has_ahead = false;
        if (!b->records || !s->most || s->stopped)
            return 0;
        if (read_one(s, e))
            return -1;
    } while (s->records + b->records <= s->most && s->named == names_count(s->source->names));
    return 0;
}

void lardsim_shared_stop(struct lardsim_shared *s)
{
    s->stopped = true;
    for (size_t i = 0; i < s->n; i++) {
        if (s->reader[i]->ended)
            continue;
        s->reader[i]->run->sampled = true;
        if (s->reader[i]->alone)
            lardsim_stop(s->reader[i]->run, SIGTERM);
    }
}

bool lardsim_shared_stopped(const struct lardsim_shared *s)
{
    return s->stopped;
}

static bool any_goes_on(struct lardsim_shared *s, void (*ended)(void *arg, struct lardsim *l),
                        void *arg)
{
    bool any = false;

    for (size_t i = 0; i < s->n; i++) {
        struct side_run *r = s->reader[i];
        if (r->ended)
            continue;
        r->next = 0;
        if (!r->stack)
            r->stack = fiber_new(run_reader, r);
        fiber_switch(s->host, r->waiting ? r->waiting : r->stack); /* until it asks, or ends */
        if (r->ended)
            ended(arg, r->run);
        any |= !r->ended;
    }
    return any;
}

int lardsim_shared_run(struct lardsim_shared *s, void (*ended)(void *arg, struct lardsim *l),
                       void *arg, struct err *e)
{
    bool more = s->n > 0;

    while (more && !read_batches(s, e))
        more = any_goes_on(s, ended, arg);
    return e->code ? -1 : 0;
}
