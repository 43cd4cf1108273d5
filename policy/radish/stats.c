/* stats.c - what a hardware designer asks of the detector, declared. */
#include "policy/radish/radish.h"

static const char *const outcome_text[OUTCOMES] = {
    [OUTCOME_PERMISSION] = "permission",
    [OUTCOME_FILLED] = "filled",
    [OUTCOME_LOCAL] = "local",
    [OUTCOME_REMOTE] = "remote",
    [OUTCOME_PIGGYBACKED] = "piggybacked",
    [OUTCOME_SOFTWARE] = "software",
};
static const char *const need_text[SOFTWARE_NEEDS] = {
    [NEED_WRITE] = "last-write",
    [NEED_READS] = "reads",
    [NEED_BOTH] = "both",
};

static void declare_checks(struct radish_stats *st, struct stats_group *g)
{
    stats_count(g, "checks.all", "lines",
                "History lines that checked accesses asked, each access once a line.", &st->checks);
    stats_vector(g, "checks.outcome", "lines",
                 "Enough permission; it came with the line, which the manager filled; a check in "
                 "hardware: with the own entries alone, with those of "
                 "other cores, with those that came along; a check in software.",
                 st->outcome, OUTCOMES, outcome_text);
    stats_vector(g, "checks.software", "lines",
                 "Checks in software, by what was not on chip: the last write, reads since, both.",
                 st->need, SOFTWARE_NEEDS, need_text);
    stats_count(g, "checks.asks", "count", "Questions that a home put to other cores.", &st->asks);
    stats_count(g, "checks.asked", "count", "Cores that were asked.", &st->asked);
    stats_count(g, "checks.piggybacked", "bytes",
                "Of entries that came along with messages of the data.", &st->piggybacked);
    stats_invariant(g, "checks.outcome", "Each check has one outcome.",
                    (const uint64_t *const[]){
                        &st->outcome[OUTCOME_PERMISSION], &st->outcome[OUTCOME_FILLED],
                        &st->outcome[OUTCOME_LOCAL], &st->outcome[OUTCOME_REMOTE],
                        &st->outcome[OUTCOME_PIGGYBACKED], &st->outcome[OUTCOME_SOFTWARE], NULL},
                    STATS_EQ, (const uint64_t *const[]){&st->checks, NULL});
    stats_invariant(g, "checks.software", "Each check in software has a reason.",
                    (const uint64_t *const[]){&st->need[NEED_WRITE], &st->need[NEED_READS],
                                              &st->need[NEED_BOTH], NULL},
                    STATS_EQ, (const uint64_t *const[]){&st->outcome[OUTCOME_SOFTWARE], NULL});
}

static void declare_permissions(struct radish_stats *st, struct stats_group *g)
{
    stats_count(g, "permissions.granted", "granules", "Permissions that checks gave.",
                &st->granted);
    stats_count(g, "permissions.lowered", "granules",
                "Permissions that another core's access took or lowered.", &st->lowered);
    stats_count(g, "permissions.taken", "granules",
                "Permissions lost as the core threw out the data.", &st->taken_away);
    stats_count(g, "permissions.cancelled", "lines",
                "History lines in which another core's write made entries void.", &st->cancelled);
}

static void declare_lines(struct radish_stats *st, struct stats_group *g)
{
    stats_count(g, "lines.loads", "lines", "History lines touched without a change.", &st->loads);
    stats_count(g, "lines.stores", "lines", "History lines changed.", &st->stores);
    stats_count(g, "lines.allocated", "lines", "History lines that came on chip: fills.",
                &st->allocated);
    stats_count(g, "lines.nothing", "lines", "Fills for which the manager had nothing.",
                &st->nothing);
    stats_count(g, "lines.unasked", "lines",
                "Of these, fills for which it was not asked, as the hardware knew (empty).",
                &st->unasked);
    stats_count(g, "lines.dirty", "lines", "Dirty history lines that left through the handler.",
                &st->lost_dirty);
    stats_count(g, "lines.clean", "lines", "Clean history lines that were dropped.",
                &st->lost_clean);
    stats_count(
        g, "lines.storm", "lines",
        "Of those that left as the caches threw them out: by what a handler of evictions did.",
        &st->storm);
    stats_count(g, "storm-cycles", "cycles",
                "Cycles in the handlers of those, the way in included.", &st->storm_cycles);
    stats_count(g, "runtime-cycles", "cycles",
                "Cycles of what the language runtime does at synchronisation and moves.",
                &st->runtime_cycles);
    stats_count(g, "lines.flushed", "lines",
                "History lines flushed at a thread switch or a roll-over.", &st->flushed);
    stats_count(g, "lines.discarded", "lines", "History lines that clears and copies took away.",
                &st->discarded);
    stats_count(g, "lines.homeless", "lines",
                "Of all that left: as the last copy of their data did.", &st->homeless);
    stats_level(g, "lines.live", "lines", "History lines on chip, or in a handler.", &st->lines);
    stats_level(g, "lines.peak", "lines", "The most history lines at once.", &st->lines_peak);
    stats_level(g, "entries", "accesses", "Accesses that history lines hold.", &st->records);
    stats_invariant(g, "lines", "Each line that came has left, or is there.",
                    (const uint64_t *const[]){&st->lost_dirty, &st->lost_clean, &st->flushed,
                                              &st->discarded, &st->lines, NULL},
                    STATS_EQ, (const uint64_t *const[]){&st->allocated, NULL});
}

static void declare_threads(struct radish_stats *st, struct stats_group *g)
{
    stats_count(g, "switches", "switches", "Cores that another thread took.", &st->switches);
    stats_count(g, "moves", "switches", "Threads that came from another core.", &st->moves);
    stats_count(g, "flushes.eager", "switches", "Cores flushed at a switch.", &st->flushes);
    stats_count(g, "flushes.lazy", "lines", "Lines flushed when the next thread touched them.",
                &st->lazy_flushes);
    stats_count(g, "roll-overs", "count", "Global flushes, as a clock no longer fitted.",
                &st->roll_overs);
    stats_count(g, "stopped", "cycles", "How long roll-overs stopped all other cores.",
                &st->stopped);
}

static void declare_queue(struct radish_stats *st, struct stats_group *g)
{
    stats_count(g, "queue.checks", "checks", "Checks that the program did not wait for.",
                &st->queued);
    stats_count(g, "queue.over", "checks", "Of these, those that are over.", &st->drained);
    stats_count(g, "queue.stalls", "checks", "Checks that found the queue full.", &st->stalls);
    stats_count(g, "queue.wait", "cycles", "Waiting for the queue, full or to be emptied.",
                &st->queue_wait);
    stats_histogram(g, "queue.before", "checks", "How many were in the queue when one came.",
                    &st->queue);
    stats_invariant(g, "queue", "What is over was in the queue.",
                    (const uint64_t *const[]){&st->drained, NULL}, STATS_LE,
                    (const uint64_t *const[]){&st->queued, NULL});
}

static void declare_heap(struct radish_stats *st, struct stats_group *g)
{
    stats_count(g, "heap.parts", "pages", "Parts of clears and copies, each in one page.",
                &st->parts);
    stats_count(g, "heap.invalidated", "lines",
                "History lines that clears and copies took out of the caches.", &st->invalidated);
    stats_count(g, "heap.in-cache", "lines", "History lines that copies took along in the caches.",
                &st->in_cache);
    stats_count(g, "heap.moves", "count", "Copies that were one MoveHistory with a clear.",
                &st->moved_histories);
    stats_level(g, "heap.held", "count", "Copies held back for a clear that has not come.",
                &st->held);
    stats_count(g, "blocked.regions", "regions",
                "Regions that a copy outside of collections kept to itself.", &st->blocks);
    stats_count(g, "blocked.requests", "count", "Requests to the manager that met such a region.",
                &st->blocked_requests);
    stats_count(g, "blocked.cycles", "cycles", "How long these waited.", &st->blocked_cycles);
}

void radish_declare(struct radish *r, struct stats_group *g)
{
    struct radish_stats *st = &r->st;

    declare_checks(st, g);
    declare_permissions(st, g);
    declare_lines(st, g);
    declare_threads(st, g);
    declare_queue(st, g);
    declare_heap(st, g);
}
