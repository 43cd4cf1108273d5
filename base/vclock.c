/* vclock.c - vector clocks that are as long as their highest entry: with 65,536 threads a clock of
 * full length would be half a megabyte, and most know few threads. What is beyond the end is 0. */
#include "base/vclock.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static uint64_t bytes_of(uint32_t cap)
{
    return heap_bytes((uint64_t)cap * sizeof(uint64_t));
}

/* Makes room, by half as much again, so that threads that come one by one do not copy the clock
 * each time. */
static void reserve(struct vclock *c, uint32_t n, struct budget *b)
{
    if (n <= c->cap)
        return;
    const uint32_t cap = n < 8 ? 8 : n + n / 2;
    c->at = xrealloc(c->at, cap, sizeof *c->at);
    budget_take(b, bytes_of(cap) - bytes_of(c->cap));
    c->cap = cap;
}

void vclock_extend(struct vclock *c, uint32_t n, struct budget *b)
{
    if (n <= c->n)
        return;
    reserve(c, n, b);
    memset(c->at + c->n, 0, (n - c->n) * sizeof *c->at);
    c->n = n;
}

/* Returns whether `into` knew nothing that `from` does not: the two are equal now. */
bool vclock_join(struct vclock *into, const struct vclock *from, struct budget *b)
{
    bool had_more = into->n > from->n;

    if (!from->n)
        return !had_more;
    vclock_extend(into, from->n, b);
    uint64_t *to = into->at;
    const uint64_t *at = from->at;
    for (uint32_t i = 0; i < from->n; i++) {
        had_more |= to[i] > at[i];
        to[i] = at[i] > to[i] ? at[i] : to[i];
    }
    return !had_more;
}

void vclock_copy(struct vclock *into, const struct vclock *from, struct budget *b)
{
    reserve(into, from->n, b);
    if (from->n)
        memcpy(into->at, from->at, from->n * sizeof *from->at);
    into->n = from->n;
}

void vclock_free(struct vclock *c, struct budget *b)
{
    budget_give(b, bytes_of(c->cap));
    free(c->at);
    *c = (struct vclock){0};
}
