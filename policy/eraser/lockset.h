/* lockset.h - sets of locks, each kept once: equal sets have equal ids, so that comparing is free
 * and an intersection is computed once. Sets are never dropped: a program holds few different ones.
 */
#ifndef LARDSIM_LOCKSET_H
#define LARDSIM_LOCKSET_H

#include "base/budget.h"

typedef uint32_t lockset_id; /* valid as long as its pool */
enum { LOCKSET_EMPTY = 0 };

struct lockset_pool;
struct lockset_pool *lockset_pool_new(struct budget *budget);
void lockset_pool_free(struct lockset_pool *p);       /* NULL is fine */
uint64_t lockset_count(const struct lockset_pool *p); /* different sets, with the empty one */

uint32_t lockset_size(const struct lockset_pool *p, lockset_id set); /* how many locks */

/* A lock is any number. */
lockset_id lockset_with(struct lockset_pool *p, lockset_id set, uint64_t lock);
lockset_id lockset_without(struct lockset_pool *p, lockset_id set, uint64_t lock);
lockset_id lockset_both(struct lockset_pool *p, lockset_id a, lockset_id b); /* intersection */

#endif
