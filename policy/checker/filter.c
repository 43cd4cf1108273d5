/* filter.c - filters of accesses: by flag, by a file of exempt places or what the trace says of
 * them, of locations that one thread alone has touched, of accesses that repeat another in their
 * region.
 *
 * An access passes all of them, in this order, or is spared by the first that spares it. What is
 * spared by an earlier one is unknown to the later ones. */
#include "policy/checker/filter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/checker/filter_file.h"

const char *const filter_flagged_choices[] = {"view", "on", "off", NULL};
const char *const filter_choices[] = {"off", "on", NULL};

struct done { /* what an actor has done to a location, in its region, the epoch */
    epoch region;
    bool wrote; /* else read */
};
struct location {
    struct done *done; /* owns; an actor once; where redundant accesses are spared */
    uint32_t n, cap;
    uint32_t owner; /* actor + 1, ESCAPED; 0: nobody has touched it in this life */
};
#define ESCAPED UINT32_MAX

struct spared { /* an access */
    sim_addr addr;
    uint32_t size;
    uint8_t kind;
    const char *by;
};

struct filter {
    struct filter_params params;
    struct filter_env env;
    struct shadow *locations; /* owns; NULL: no need */
    struct filter_file *file; /* owns; NULL: none */
    char *text;               /* owns */
    uint64_t stack, final, exempt, safe, local, redundant;
    struct spared *spared; /* owns; those that took effect with the event `at` */
    size_t n, cap;
    uint64_t at;
};

/* ---- making one ----------------------------------------------------------------------------- */

static bool at_default(const struct filter_params *p)
{
    return p->stack == FLAGGED_VIEW && p->final == FLAGGED_VIEW && !p->escape && !p->redundant &&
           !p->safe && !*p->exempt;
}

static void add_text(char **to, const char *word, bool add)
{
    if (add)
        xappend(to, strcmp(*to, "filter") ? ", " : " ", word);
}

static char *text_of(const struct filter_params *p)
{
    char *text = xstrdup("filter");

    add_text(&text, "stack", p->stack == FLAGGED_ON);
    add_text(&text, "stack off", p->stack == FLAGGED_OFF);
    add_text(&text, "final", p->final == FLAGGED_ON);
    add_text(&text, "final off", p->final == FLAGGED_OFF);
    add_text(&text, "static", *p->exempt);
    add_text(&text, "safe", p->safe);
    add_text(&text, "escape", p->escape);
    add_text(&text, "redundant", p->redundant);
    return text;
}

static void declare_stats(struct filter *f, struct stats_group *g)
{
    g = stats_group(g, "filter");
    stats_count(g, "stack", "accesses", "Accesses to stacks that were spared.", &f->stack);
    stats_count(g, "final", "accesses", "Accesses to finals that were spared.", &f->final);
    stats_count(g, "static", "accesses", "Accesses at places that the file exempts.", &f->exempt);
    stats_count(g, "safe", "accesses", "Accesses that the trace says are safe.", &f->safe);
    stats_count(g, "escape", "accesses",
                "Accesses to locations that no second thread had touched yet.", &f->local);
    stats_count(g, "redundant", "accesses", "Accesses that repeated one in their region.",
                &f->redundant);
}

int filter_new(struct filter **to, const struct filter_params *p, const struct filter_env *env,
               struct err *e)
{
    *to = NULL;
    if (at_default(p))
        return 0;
    struct filter *f = xcalloc(1, sizeof *f);
    *f = (struct filter){.params = *p, .env = *env};
    if (*p->exempt && filter_file_read(&f->file, p->exempt, env->budget, e)) {
        filter_free(f);
        return -1;
    }
    if (p->escape || p->redundant)
        f->locations =
            shadow_new(env->granule ? env->granule : 1, sizeof(struct location), env->budget);
    f->text = text_of(p);
    declare_stats(f, env->stats);
    *to = f;
    return 0;
}

static bool drop_location(void *arg, sim_addr addr, void *cell)
{
    struct filter *f = arg;
    struct location *x = cell;

    (void)addr;
    budget_give(f->env.budget, x->cap * sizeof *x->done);
    free(x->done);
    *x = (struct location){0};
    return true;
}

void filter_free(struct filter *f)
{
    if (!f)
        return;
    if (f->locations)
        shadow_all(f->locations, drop_location, f);
    shadow_free(f->locations);
    filter_file_free(f->file);
    free(f->spared);
    free(f->text);
    free(f);
}

void filter_names(struct filter *f, const struct names *names)
{
    if (f && f->file)
        filter_file_names(f->file, names);
}

const char *filter_text(const struct filter *f)
{
    return f->text;
}

bool filter_loses(const struct filter *f)
{
    const struct filter_params *p = &f->params;

    return p->stack == FLAGGED_ON || p->final == FLAGGED_ON || *p->exempt || p->safe || p->escape ||
           p->redundant;
}

/* ---- flags ---------------------------------------------------------------------------------- */

static unsigned flagged(unsigned skips, unsigned flag, uint32_t how)
{
    if (how == FLAGGED_VIEW)
        return skips;
    return how == FLAGGED_ON ? skips | flag : skips & ~flag;
}

unsigned filter_flags(const struct filter_params *p, unsigned view_skips)
{
    return flagged(flagged(view_skips, EVF_STACK, p->stack), EVF_FINAL, p->final);
}

void filter_count_flags(struct filter *f, const struct event *ev)
{
    if (ev->flags & EVF_STACK)
        f->stack++;
    else if (ev->flags & EVF_FINAL)
        f->final++;
}

/* ---- locations ------------------------------------------------------------------------------ */

/* True: nobody but this actor has touched any of them. */
static bool is_local(struct filter *f, const struct event *ev, uint32_t actor)
{
    const struct granules g = granules_of(ev, f->env.granule);
    bool local = true;

    for (sim_addr a = g.first;; a += g.step) {
        struct location *x = shadow_get(f->locations, a);
        if (!x->owner)
            x->owner = actor + 1;
        else if (x->owner != actor + 1)
            x->owner = ESCAPED;
        local &= x->owner != ESCAPED;
        if (a == g.last || budget_ends(f->env.budget))
            break;
    }
    return local;
}

static struct done *done_by(const struct location *x, uint32_t actor)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (epoch_thread(x->done[i].region) == actor)
            return &x->done[i];
    return NULL;
}

static void done_note(struct filter *f, struct location *x, epoch region, bool writes)
{
    struct done *d = done_by(x, epoch_thread(region));

    if (d) {
        *d = (struct done){region, writes || (d->wrote && d->region == region)};
        return;
    }
    if (x->n == x->cap) {
        const uint32_t cap = x->cap ? 2 * x->cap : 2;
        x->done = xrealloc(x->done, cap, sizeof *x->done);
        budget_take(f->env.budget, (cap - x->cap) * sizeof *x->done);
        x->cap = cap;
    }
    x->done[x->n++] = (struct done){region, writes};
}

static bool repeated(const struct location *x, epoch region, bool writes)
{
    const struct done *d = done_by(x, epoch_thread(region));

    if (!d || d->region != region)
        return false;
    return d->wrote || !writes;
}

/* Tells if the thread has done as much in this region at all of the access's granules. Marks those
 * at which it hasn't. */
static bool is_redundant(struct filter *f, const struct event *ev, epoch region)
{
    const struct granules g = granules_of(ev, f->env.granule);
    const bool writes = event_writes(ev);
    bool again = true;

    for (sim_addr a = g.first;; a += g.step) {
        struct location *x = shadow_get(f->locations, a);
        again &= repeated(x, region, writes);
        done_note(f, x, region, writes);
        if (a == g.last || budget_ends(f->env.budget))
            return again;
    }
}

/* Forgets what the thread has done there. With history = last an atomic write takes the place of
 * its thread's plain one, and conflicts with less: from then on no earlier access makes one
 * redundant. */
static void done_forget(struct filter *f, const struct event *ev, uint32_t actor)
{
    const struct granules g = granules_of(ev, f->env.granule);

    for (sim_addr a = g.first;; a += g.step) {
        struct location *x = shadow_peek(f->locations, a);
        struct done *d = x ? done_by(x, actor) : NULL;
        if (d)
            *d = x->done[--x->n];
        if (a == g.last)
            return;
    }
}

/* The compiler's: neither part of a transaction nor atomic. */
static bool plain(const struct event *ev)
{
    return !(ev->flags & (EVF_IN_TXN | EVF_ORDER_MASK));
}

/* ---- an access ------------------------------------------------------------------------------ */

/* Notes a spared access for compare: those of one event alone. */
static void note_spared(struct filter *f, const struct event *ev, uint64_t number, const char *by)
{
    if (number != f->at)
        f->n = 0;
    f->at = number;
    f->spared = xgrow(f->spared, f->n, &f->cap, sizeof *f->spared);
    f->spared[f->n++] = (struct spared){ev->addr, ev->size, ev->kind, by};
}

const char *filter_spared(const struct filter *f, const struct event *ev, uint64_t number)
{
    for (size_t i = 0; number == f->at && i < f->n; i++)
        if (f->spared[i].addr == ev->addr && f->spared[i].size == ev->size &&
            f->spared[i].kind == ev->kind)
            return f->spared[i].by;
    return NULL;
}

bool filter_spares(struct filter *f, const struct event *ev, uint64_t number)
{
    const char *by = NULL;

    if (f->file && filter_file_exempts(f->file, ev)) {
        f->exempt++;
        by = "filter.static exempts its place";
    } else if (f->params.safe && ev->flags & EVF_SAFE) {
        f->safe++;
        by = "filter.safe takes it for safe";
    } else if (f->params.escape && is_local(f, ev, hb_actor(f->env.hb, ev->tid))) {
        f->local++;
        by = "filter.escape: no second thread had touched the location";
    } else if (f->params.redundant && plain(ev) &&
               is_redundant(f, ev, hb_epoch(f->env.hb, ev->tid))) {
        f->redundant++;
        by = "filter.redundant: it repeats one in its region";
    } else if (f->params.redundant && ev->flags & EVF_ORDER_MASK) {
        done_forget(f, ev, hb_actor(f->env.hb, ev->tid));
    }
    if (by)
        note_spared(f, ev, number, by);
    return by != NULL;
}

/* ---- the heap ------------------------------------------------------------------------------- */

static void own_done(void *arg, void *cell)
{
    struct filter *f = arg;
    struct location *x = cell;
    const struct done *was = x->done;

    if (!x->cap)
        return;
    x->done = xmalloc(x->cap * sizeof *x->done);
    memcpy(x->done, was, x->n * sizeof *x->done);
    budget_take(f->env.budget, x->cap * sizeof *x->done);
}

void filter_heap(struct filter *f, const struct event *ev)
{
    struct shadow_snapshot *s = NULL;

    if (!f->locations)
        return;
    if (ev->kind == EV_COPY)
        s = shadow_take(f->locations, ev[1].addr, ev->aux, own_done, f);
    shadow_each(f->locations, ev->addr, ev->aux, drop_location, f);
    if (s)
        shadow_put(f->locations, s, ev->addr);
}
