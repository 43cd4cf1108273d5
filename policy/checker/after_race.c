/* after_race.c - disabled locations as ranges of addresses, which live, move and die as histories
 * do; and allocations, which live, move and die in every view. */
#include "policy/checker/after_race.h"

#include <stdlib.h>

#include "policy/hb/hb.h"

const char *const after_race_choices[] = {"continue", "disable-variable", "disable-array", "stop",
                                          NULL};

void after_race_init(struct after_race *a, enum after_race_mode mode, unsigned granule,
                     struct stats_group *g, struct budget *budget)
{
    *a = (struct after_race){.mode = mode, .granule = granule, .budget = budget};
    stats_count(g, "disabled-granules", "granules",
                "Granules of accesses not checked, as they were disabled after a race.",
                &a->granules);
}

void after_race_free(struct after_race *a)
{
    interval_free(a->budget, &a->off);
    interval_free(a->budget, &a->objects);
    budget_give(a->budget, a->cap * sizeof *a->raced);
    free(a->raced);
    a->raced = NULL;
}

/* ---- races ---------------------------------------------------------------------------------- */

static sim_addr granule_mask(const struct after_race *a)
{
    return a->granule == GRANULE_FIELD ? 0 : a->granule - 1;
}

/* A granule may hold the end of one object and the begin of the next: the access says which. */
void after_race_note(struct after_race *a, const struct event *ev, sim_addr location)
{
    const bool inside = ev->addr > location && ev->addr <= (location | granule_mask(a));
    const sim_addr byte = inside ? ev->addr : location;

    if (a->n && a->raced[a->n - 1] == byte)
        return;
    a->raced = budget_grow(a->budget, a->raced, a->n, &a->cap, sizeof *a->raced);
    a->raced[a->n++] = byte;
}

/* NULL: none of them has the byte. */
static const struct interval *having(struct interval *map, sim_addr byte)
{
    return interval_meeting(map, byte, byte);
}

/* The object that has the byte, to whole granules; it alone where none is known. */
static void granules_having(const struct after_race *a, sim_addr byte, sim_addr *first,
                            sim_addr *last)
{
    const struct interval *object = having(a->objects, byte);

    *first = (object ? object->lo : byte) & ~granule_mask(a);
    *last = (object ? object->last : byte) | granule_mask(a);
}

/* Disables the object at each byte. Granules that it shares with others are disabled, too. */
void after_race_settle(struct after_race *a)
{
    for (size_t i = 0; i < a->n; i++) {
        sim_addr first, last;
        if (having(a->off, a->raced[i]))
            continue;
        granules_having(a, a->raced[i], &first, &last);
        interval_mark(a->budget, &a->off, first, last, 1);
    }
    a->settled = a->n;
    a->n = 0;
}

/* ---- accesses ------------------------------------------------------------------------------- */

bool after_race_covers(const struct after_race *a, sim_addr location, bool settled)
{
    for (size_t i = 0; settled && i < a->settled; i++) {
        sim_addr first, last;
        granules_having(a, a->raced[i], &first, &last);
        if (first <= location && location <= last)
            return false;
    }
    return having(a->off, location) != NULL;
}

/* The bytes from *from on are disabled or not up to *end. The location of a field is where it
 * starts, whatever lies behind. */
static bool disabled_run(const struct after_race *a, const struct event *ev, uint32_t from,
                         uint32_t *end)
{
    const sim_addr at = ev->addr + from, last = ev->addr + (ev->size - 1);
    const struct interval *off = interval_meeting(a->off, at, last);
    const bool disabled = off && off->lo <= at;

    if (!off || a->granule == GRANULE_FIELD || (disabled && off->last >= last))
        *end = ev->size;
    else
        *end = (uint32_t)((disabled ? off->last + 1 : off->lo) - ev->addr);
    return disabled;
}

bool after_race_part(struct after_race *a, const struct event *ev, uint32_t *from,
                     struct event *part)
{
    while (*from < ev->size) {
        uint32_t end;
        const bool disabled = disabled_run(a, ev, *from, &end);
        *part = *ev;
        part->addr += *from;
        part->size = end - *from;
        *from = end;
        if (!disabled)
            return true;
        a->granules += granules_count(part, a->granule);
    }
    return false;
}

/* ---- the heap ------------------------------------------------------------------------------- */

void after_race_heap(struct after_race *a, const struct event *ev, bool heeded)
{
    if (a->mode != AFTER_RACE_DISABLE_VARIABLE && a->mode != AFTER_RACE_DISABLE_ARRAY)
        return;
    after_race_settle(a);
    if (ev->kind == EV_ALLOC && a->mode == AFTER_RACE_DISABLE_ARRAY) {
        interval_mark(a->budget, &a->objects, ev->addr, ev->addr + (ev->aux - 1), 1);
    } else if (ev->kind == EV_CLEAR) {
        interval_remove(a->budget, &a->objects, ev->addr, ev->addr + (ev->aux - 1));
        if (heeded)
            interval_remove(a->budget, &a->off, ev->addr, ev->addr + (ev->aux - 1));
    } else if (ev->kind == EV_COPY) {
        interval_move(a->budget, &a->objects, ev->addr, ev[1].addr, ev->aux);
        if (heeded)
            interval_move(a->budget, &a->off, ev->addr, ev[1].addr, ev->aux);
    }
}

/* ---- the end -------------------------------------------------------------------------------- */

/* "the read by thread 0, event 3 (main.c:7)" */
static void side_text(const struct race_side *s, const struct names *names, char *to, size_t room)
{
    const char *name = s->site && names ? names_find(names, NAME_SITE, s->site) : NULL;
    char site[200] = "";

    if (name)
        snprintf(site, sizeof site, " (%.150s)", name);
    else if (s->site)
        snprintf(site, sizeof site, " (site 0x%llx)", (unsigned long long)s->site);
    if (s->known)
        snprintf(to, room, "the %s by thread %u, event %llu%s", ev_info[s->op].text, s->thread,
                 (unsigned long long)s->event, site);
    else
        snprintf(to, room, "an access that the policy does not know");
}

void after_race_stop(const struct race *race, const struct names *names, struct err *e)
{
    char is[300], earlier[300];

    side_text(&race->is, names, is, sizeof is);
    side_text(&race->earlier, names, earlier, sizeof earlier);
    err_set(e, LARD_RACES,
            "policy %s: %s, of %u byte%s at 0x%llx races with %s; the run ends here, as "
            "policy.%s.after-race is stop",
            race->policy, is, race->size, race->size == 1 ? "" : "s",
            (unsigned long long)race->addr, earlier, race->policy);
}
