/* diff.c - twins, diffs, and how a copy is brought up to date.
 *
 * A diff is made when somebody needs it, or when its writer's copy becomes invalid. Then the twin
 * goes, and the page is protected against writing: what its writer writes next has a notice of its
 * own. So a notice has one diff, and whoever has applied that has seen all that the notice stands
 * for. */
#include "coherence/dsm/dsm_int.h"

#include "base/mem.h"

static size_t bits_words(const struct dsm *d)
{
    return (size_t)(d->words + 63) / 64;
}

uint64_t *bits_new(struct dsm *d)
{
    budget_take(&d->budget, heap_bytes(bits_words(d) * sizeof(uint64_t)));
    return xcalloc(bits_words(d), sizeof(uint64_t));
}

void bits_free(struct dsm *d, uint64_t *bits)
{
    if (bits)
        budget_give(&d->budget, heap_bytes(bits_words(d) * sizeof(uint64_t)));
    free(bits);
}

void twin_make(struct dsm *d, struct path *p, unsigned process, struct dsm_page *page)
{
    struct process *q = &d->process[process];
    struct copy *c = page->copy[process];

    process_work(d, p, process, DSM_PART_TWIN, d->time.twin);
    d->st.twins++;
    c->twin = q->clock[process] + 1;
    c->written = bits_new(d);
    c->state = DSM_WRITE;
    q->dirty = xgrow(q->dirty, q->dirties, &q->dirty_cap, sizeof(struct dsm_page *));
    q->dirty[q->dirties++] = page;
}

void twin_drop(struct dsm *d, struct copy *c)
{
    bits_free(d, c->written);
    c->written = NULL;
    c->state = DSM_READ;
}

/* Computes the diff's length, as runs of words that follow each other. */
static void measure(const struct dsm *d, struct diff *x)
{
    uint64_t runs = 0, words = 0, before = 0;

    for (size_t i = 0; i < bits_words(d); i++) {
        const uint64_t bits = x->written[i];
        words += (uint64_t)__builtin_popcountll(bits);
        runs += (uint64_t)__builtin_popcountll(bits & ~(bits << 1 | before));
        before = bits >> 63;
    }
    x->changed = words * d->params.word;
    x->bytes = runs * BYTES_RUN + x->changed;
}

static struct notice *notice_of(struct dsm_page *page, const struct ival *of)
{
    for (size_t i = page->notices; i--;)
        if (page->notice[i].of == of)
            return &page->notice[i];
    return NULL;
}

void diff_free(struct dsm *d, struct diff *x)
{
    if (!x)
        return;
    bits_free(d, x->written);
    free(x->word);
    free(x);
}

void diff_make(struct dsm *d, struct path *p, unsigned process, struct dsm_page *page)
{
    struct copy *c = page->copy[process];
    struct notice *n = notice_of(page, ival_find(d, process, c->twin));
    struct diff *x = xcalloc(1, sizeof *x);

    assert(c->state == DSM_WRITE && n && !n->diff);
    x->written = c->written;
    c->written = NULL;
    c->state = DSM_READ;
    if (d->contents) {
        x->word = xmalloc((size_t)d->page);
        memcpy(x->word, c->word, (size_t)d->page);
    }
    measure(d, x);
    n->diff = x;
    d->st.diffs++;
    d->st.protects++;
    ival_kept(d, process, x->bytes);
    process_work(d, p, process, DSM_PART_DIFF,
                 d->time.diff + ns_cycles(d, d->params.diff_change * x->changed / 1024));
    process_work(d, p, process, DSM_PART_TRAP, d->time.protect);
}

/* ---- bringing a copy up to date -------------------------------------------------------------- */

struct notice *notice_lacking(const struct dsm *d, unsigned process, const struct dsm_page *page,
                              size_t *i)
{
    const uint32_t *knows = d->process[process].clock;
    const struct copy *c = page->copy[process];

    for (; *i < page->notices; (*i)++) {
        const struct ival *of = page->notice[*i].of;
        if (of->process != process && of->index <= knows[of->process] &&
            of->index > c->applied[of->process])
            return &page->notice[*i];
    }
    return NULL;
}

static int by_sum(const void *a, const void *b)
{
    const struct ival *x = (*(struct notice *const *)a)->of, *y = (*(struct notice *const *)b)->of;

    return x->sum != y->sum ? (x->sum > y->sum) - (x->sum < y->sum)
                            : (int)x->process - (int)y->process;
}

static void diff_apply(struct dsm *d, struct path *p, unsigned process, struct dsm_page *page,
                       const struct notice *n)
{
    struct copy *c = page->copy[process];
    const struct diff *x = n->diff;

    process_work(d, p, process, DSM_PART_APPLY, ns_cycles(d, d->params.apply * x->changed / 1024));
    d->st.applied++;
    if (n->of->index > c->applied[n->of->process])
        c->applied[n->of->process] = n->of->index;
    ival_kept(d, process, x->bytes);
    for (uint64_t w = 0; d->contents && w < d->words; w++)
        if (x->written[w / 64] >> w % 64 & 1)
            memcpy((char *)c->word + w * d->params.word, (char *)x->word + w * d->params.word,
                   (size_t)d->params.word);
}

/* The writer of the interval `last` has the diff of that one: it is its own, or it knew of it when
 * it wrote the page, and had to be up to date for that. */
static bool ival_has(const struct ival *last, const struct ival *of)
{
    return of->index <= (of->process == last->process ? last->index : last->clock[of->process]);
}

/* Sends one request for all of these diffs that the writer of `last` has. Returns the answer, which
 * is on its way back. sent: the path of the sender, which goes on. */
static struct mail diffs_ask(struct dsm *d, struct path *sent, unsigned process,
                             struct dsm_page *page, struct notice *const *want, size_t n,
                             const struct ival *last)
{
    struct load request = {.bytes = {[DSM_BYTES_REQUESTS] = BYTES_PAGE}}, answer = {{0}};

    for (size_t i = 0; i < n; i++)
        request.bytes[DSM_BYTES_REQUESTS] += ival_has(last, want[i]->of) ? BYTES_INTERVAL : 0;
    struct mail m = message_post(d, sent, process, last->process, DSM_MSG_DIFF_REQUEST, request);
    struct path p = m.there;
    message_accept(d, &p, last->process, m.bytes);
    for (size_t i = 0; i < n; i++) {
        struct notice *x = want[i];
        if (!ival_has(last, x->of))
            continue;
        assert(x->diff || x->of->process == last->process);
        if (!x->diff)
            diff_make(d, &p, last->process, page);
        answer.bytes[DSM_BYTES_DIFFS] += BYTES_INTERVAL + x->diff->bytes;
    }
    return message_post(d, &p, last->process, process, DSM_MSG_DIFFS, answer);
}

/* Fetches diffs. All requests leave one after the other; answers are received as they come. want is
 * in order of happens-before, and used up: the last writer is asked for all that it has, then the
 * last of those that are left. */
static void diffs_fetch(struct dsm *d, struct path *p, unsigned process, struct dsm_page *page,
                        struct notice **want, size_t n)
{
    struct mail *answer = NULL;
    size_t answers = 0, cap = 0;

    while (n) {
        const struct ival *last = want[n - 1]->of;
        answer = xgrow(answer, answers, &cap, sizeof *answer);
        answer[answers++] = diffs_ask(d, p, process, page, want, n, last);
        size_t left = 0;
        for (size_t i = 0; i < n; i++)
            if (!ival_has(last, want[i]->of))
                want[left++] = want[i];
        n = left;
    }
    for (size_t i = 0; i < answers; i++) {
        if (answer[i].there.at > p->at)
            *p = answer[i].there;
        message_accept(d, p, process, answer[i].bytes);
    }
    free(answer);
}

void page_update(struct dsm *d, struct path *p, unsigned process, struct dsm_page *page)
{
    struct notice **want = NULL, **ask_for;
    size_t n = 0, cap = 0;

    for (size_t i = 0; notice_lacking(d, process, page, &i); i++) {
        want = xgrow(want, n, &cap, sizeof(struct notice *));
        want[n++] = &page->notice[i];
    }
    if (n) {
        qsort(want, n, sizeof *want, by_sum);
        ask_for = xmalloc(n * sizeof *ask_for);
        memcpy(ask_for, want, n * sizeof *ask_for);
        diffs_fetch(d, p, process, page, ask_for, n);
        for (size_t i = 0; i < n; i++)
            diff_apply(d, p, process, page, want[i]);
        free(ask_for);
    }
    free(want);
}
