/* shared.c - several runs over one reading of a source: each batch is decoded, and held against the
 * stream rules, once, and then every run takes it in turn. A run keeps the stack on which it waits
 * for the next batch, so it is the same code as that of a run alone, and gives the same results.
 *
 * What a run alone would say about a source that fails, or that breaks a rule, only a run alone can
 * say, with the results up to there: such a reading ends, and its runs are given up. */
#include "sim/session/session.h"

#include "base/fiber.h"

#include <stdlib.h>

struct side_run { /* a run, as a source sees it: its own end of the reading */
    struct source base;
    struct sim_shared *of;
    struct lardsim *run;
    struct fiber *stack;   /* owns; NULL: it has not begun, or has ended */
    struct fiber *waiting; /* where it asked for the next batch; NULL: it has not begun, or ended */
    bool ended;            /* it asks for no more */
};

struct sim_shared {
    struct source *source;   /* owns */
    char *name;              /* owns; as the user wrote it */
    struct rules *rules;     /* owns; NULL: not checked */
    struct digest *identity; /* of the batches before the one in hand; the source's or own */
    struct digest *own;      /* owns; NULL: the source keeps one */
    struct batch batch;
    bool stopped;
    struct fiber *host; /* owns; the stack that reads */
    struct side_run **reader;
    size_t n, cap;
};

struct sim_shared *sim_shared_open(const char *source, bool rules, struct err *e)
{
    struct source *s = source_open(source, e);

    if (!s)
        return NULL;
    struct sim_shared *shared = xcalloc(1, sizeof *shared);
    shared->source = s;
    shared->name = xstrdup(source);
    shared->rules = rules ? rules_new(false) : NULL;
    shared->own = s->identity ? NULL : digest_new();
    shared->identity = s->identity ? s->identity : shared->own;
    shared->host = fiber_host();
    return shared;
}

void sim_shared_free(struct sim_shared *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        if (s->reader[i]->stack)
            fiber_free(s->reader[i]->stack);
        free(s->reader[i]->waiting);
        digest_free(s->reader[i]->base.identity);
        free(s->reader[i]);
    }
    free(s->reader);
    fiber_free(s->host);
    rules_free(s->rules);
    source_close(s->source);
    digest_free(s->own);
    free(s->name);
    free(s);
}

/* ---- a run's end of it ----------------------------------------------------------------------- */

/* It leaves its stack asleep until there is another batch. */
static int reader_next(struct source *source, struct batch *b, struct err *e)
{
    struct side_run *r = (struct side_run *)source;

    (void)e;
    r->waiting = fiber_host();
    fiber_switch(r->waiting, r->of->host);
    fiber_free(r->waiting);
    r->waiting = NULL;
    *b = r->of->batch;
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

    session_pull(r->run, &r->base, r->of->name);
    r->ended = true;
    fiber_switch(r->stack, r->of->host);
}

void sim_shared_add(struct sim_shared *s, struct lardsim *l)
{
    struct side_run *r = xcalloc(1, sizeof *r);

    r->base = *s->source;
    r->base.next = reader_next;
    r->base.close = reader_close;
    r->base.identity = digest_new();
    r->base.kept = (struct budget){0}; /* each run is charged for itself */
    r->of = s;
    r->run = l;
    session_checked(l);
    s->reader = xgrow(s->reader, s->n, &s->cap, sizeof(struct side_run *));
    s->reader[s->n++] = r;
}

/* ---- the reading ---------------------------------------------------------------------------- */

static bool rules_allow(struct sim_shared *s, struct err *e)
{
    const struct event *at = s->batch.rec, *end = at + s->batch.records;
    uint64_t number = s->batch.first;

    if (!s->rules)
        return true;
    if (!s->batch.records)
        return rules_finish(s->rules, e) == 0;
    while (at < end && !e->code) {
        const struct event *next = rules_run(s->rules, at, end, number, e);
        for (; at < next && next < end; at += event_records(at))
            number++; /* it stops at marks of regions of interest */
        at = next;
    }
    return !e->code;
}

static int read_batch(struct sim_shared *s, struct err *e)
{
    if (s->own && s->batch.records)
        digest_add(s->own, s->batch.rec, s->batch.records * sizeof *s->batch.rec);
    if (s->stopped) {
        s->batch.records = 0;
        return 0;
    }
    return source_next(s->source, &s->batch, e) || !rules_allow(s, e) ? -1 : 0;
}

void sim_shared_stop(struct sim_shared *s)
{
    s->stopped = true;
}

bool sim_shared_stopped(const struct sim_shared *s)
{
    return s->stopped;
}

/* Until it asks for the next batch, or ends. */
static void go_on(struct sim_shared *s, struct side_run *r)
{
    if (!r->stack)
        r->stack = fiber_new(run_reader, r);
    fiber_switch(s->host, r->waiting ? r->waiting : r->stack);
}

/* Its first step takes it to its first batch. */
static bool any_begins(struct sim_shared *s, void (*ended)(void *arg, struct lardsim *l), void *arg)
{
    bool any = false;

    for (size_t i = 0; i < s->n; i++) {
        go_on(s, s->reader[i]);
        if (s->reader[i]->ended)
            ended(arg, s->reader[i]->run);
        any |= !s->reader[i]->ended;
    }
    return any;
}

static bool any_goes_on(struct sim_shared *s, void (*ended)(void *arg, struct lardsim *l),
                        void *arg)
{
    bool any = false;

    for (size_t i = 0; i < s->n; i++) {
        struct side_run *r = s->reader[i];
        if (r->ended)
            continue;
        digest_copy(r->base.identity, s->identity);
        go_on(s, r);
        if (r->ended)
            ended(arg, r->run);
        any |= !r->ended;
    }
    return any;
}

int sim_shared_run(struct sim_shared *s, void (*ended)(void *arg, struct lardsim *l), void *arg,
                   struct err *e)
{
    bool more = any_begins(s, ended, arg);

    while (more && !read_batch(s, e))
        more = any_goes_on(s, ended, arg);
    return e->code ? -1 : 0;
}
