/* races.c - the racy accesses of a run, grouped by pair of sites: one mistake in a program makes
 * thousands of racy accesses, and a reader wants each mistake once. Where neither site is known, by
 * address. Limitation: groups beyond GROUPS_KEPT are only counted. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/run/run.h"

/* Two races with the same key are in one group. Without sites all races would have one id, so the
 * address has to tell them apart. */
static uint64_t group_key(const struct lardsim_race *race)
{
    const uint64_t place[2] = {race->id, race->addr};

    return race->is.site || race->earlier.site ? race->id : digest_bytes(place, sizeof place);
}

/* Names are valid during the call only: the group keeps its own. */
static void keep_name(struct race_groups *g, struct race_group *group, size_t i, const char **name)
{
    budget_take(g->memory, *name ? heap_bytes(strlen(*name) + 1) : 0);
    *name = group->text[i] = *name ? xstrdup(*name) : NULL;
}

/* The group keeps the first race as an example; its counts are by policy. */
static void new_group(struct race_groups *g, const struct lardsim_race *race)
{
    size_t policies = 0;

    while (lardsim_policy(g->run, policies))
        policies++;
    g->group = budget_grow(g->memory, g->group, g->n, &g->cap, sizeof *g->group);
    budget_take(g->memory, heap_bytes(policies * sizeof *g->group->by_policy));
    struct race_group *group = &g->group[g->n++];
    *group = (struct race_group){
        .id = race->id, .by_policy = xcalloc(policies, sizeof *group->by_policy), .first = *race};
    keep_name(g, group, 0, &group->first.is.site_name);
    keep_name(g, group, 1, &group->first.earlier.site_name);
    keep_name(g, group, 2, &group->first.is.thread_name);
    keep_name(g, group, 3, &group->first.earlier.thread_name);
    keep_name(g, group, 4, &group->first.object.name);
    keep_name(g, group, 5, &group->first.object.site_name);
}

void race_groups_add(void *groups, const struct lardsim_race *race)
{
    struct race_groups *g = groups;
    const uint64_t key = group_key(race);
    /* Known groups go on counting when the limit is reached; no new one is made. */
    uint64_t *at = g->n < GROUPS_KEPT ? map_put(&g->index, key) : map_find(&g->index, key);

    if (!at) {
        g->left_out++;
        return;
    }
    if (*at == 0) {
        new_group(g, race);
        *at = g->n;
    }
    struct race_group *group = &g->group[*at - 1];
    for (size_t i = 0; lardsim_policy(g->run, i); i++)
        if (strcmp(lardsim_policy(g->run, i), race->policy) == 0 &&
            ++group->by_policy[i] > group->most)
            group->most = group->by_policy[i];
}

/* The most frequent first; ties in the order of the trace, so that the page is the same each time.
 */
static int compare(const void *a, const void *b)
{
    const struct race_group *x = a, *y = b;

    if (x->most != y->most)
        return x->most < y->most ? 1 : -1;
    if (x->first.is.event != y->first.is.event)
        return x->first.is.event < y->first.is.event ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

void race_groups_sort(struct race_groups *g)
{
    if (g->n)
        qsort(g->group, g->n, sizeof *g->group, compare);
}

void race_groups_free(struct race_groups *g)
{
    for (size_t i = 0; i < g->n; i++) {
        free(g->group[i].by_policy);
        for (size_t k = 0; k < ARRAY_SIZE(g->group[i].text); k++)
            free(g->group[i].text[k]);
    }
    free(g->group);
    map_free(&g->index);
}
