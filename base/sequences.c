/* sequences.c - see sequences.h. A location has few heads: each is a thread that has released there
 * with a read-modify-write since the latest store of another. */
#include "base/sequences.h"

#include <stdlib.h>

#include "base/mem.h"

struct sequences *sequences_new(struct budget *b)
{
    budget_take(b, sizeof(struct sequences));
    return xcalloc(1, sizeof(struct sequences));
}

static struct sequence_head *head_find(const struct sequences *s, uint32_t thread)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->head[i].thread == thread)
            return &s->head[i];
    return NULL;
}

static struct vclock *clock_of(struct sequences *s, uint32_t thread, struct budget *b)
{
    struct sequence_head *h = head_find(s, thread);

    if (h)
        return &h->clock;
    s->head = budget_grow32(b, s->head, s->n, &s->cap, sizeof *s->head);
    s->head[s->n] = (struct sequence_head){.thread = thread};
    return &s->head[s->n++].clock;
}

static void heads_drop(struct sequences *s, struct budget *b)
{
    for (uint32_t i = 0; i < s->n; i++)
        vclock_free(&s->head[i].clock, b);
    s->n = 0;
}

void sequences_free(struct sequences *s, struct budget *b)
{
    if (!s)
        return;
    heads_drop(s, b);
    budget_give(b, sizeof *s + s->cap * sizeof *s->head);
    free(s->head);
    free(s);
}

struct sequences *sequences_copy(const struct sequences *s, struct budget *b)
{
    if (!s)
        return NULL;
    struct sequences *copy = sequences_new(b);
    copy->sole = s->sole;
    for (uint32_t i = 0; i < s->n; i++)
        vclock_copy(clock_of(copy, s->head[i].thread, b), &s->head[i].clock, b);
    return copy;
}

void sequences_merge(struct sequences *s, const struct vclock *all, struct budget *b)
{
    if (s->sole)
        vclock_copy(clock_of(s, s->sole - 1, b), all, b);
    s->sole = 0;
}

void sequences_begin(struct sequences *s, uint32_t thread, const struct vclock *clock,
                     const struct vclock *all, struct budget *b)
{
    if (!all->n)
        s->sole = thread + 1;
    if (s->sole == thread + 1)
        return;
    sequences_merge(s, all, b);
    vclock_join(clock_of(s, thread, b), clock, b);
}

bool sequences_end(struct sequences *s, uint32_t thread, struct vclock *all, struct budget *b)
{
    if (!all->n || s->sole == thread + 1)
        return false;
    struct sequence_head *own = head_find(s, thread);
    s->sole = own ? thread + 1 : 0;
    all->n = 0;
    if (own)
        vclock_copy(all, &own->clock, b);
    heads_drop(s, b);
    return true;
}
