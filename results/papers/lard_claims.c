/* lard_claims.c - what LARD says of its Tables 2 and 3, as judgements of a program under a
 * collector, and the programs that are run for it. Numbers are not judged: the programs are not the
 * paper's own. */
#include "results/papers/lard.h"

/* ---- what is run ---------------------------------------------------------------------------- */

#include "suites.inc"

/* Mark-sweep reuses memory, semispace moves objects, too: Clear matters for both, Copy for the
 * second alone. Those of the JVM both move. */
static const struct collector modelled[COLLECTORS] = {{"marksweep", false}, {"semispace", true}};
static const struct collector jvm[COLLECTORS] = {{"serial", true}, {"parallel", true}};
const struct collector no_collector = {"malloc", false};

/* Table 3 is about memory that is reused, and objects that move: so there are collections. The
 * kernels have one small heap, too. */
const struct suite suites[] = {{"twins", "collections=4,alloc=0", twins, modelled},
                               {"kernels", "heap=256Ki,tlab=256,system_gc=on", kernels, modelled},
                               {"real", NULL, real, jvm}};
const char *const suite_names[] = {"twins", "kernels", "real", NULL};

/* ---- what the paper says -------------------------------------------------------------------- */

const char *const verdict_names[] = {"holds", "FAILS", "no case"};
const char *const verdict_keys[] = {"holds", "fails", "no-case"};

static enum verdict when(bool holds)
{
    return holds ? HOLDS : FAILS;
}

static uint64_t falses(const struct cell *c, enum view_id v)
{
    return c->is.view[v][FALSE].n[ACCESSES];
}

static uint64_t missed(const struct cell *c, enum view_id v)
{
    return c->is.view[v][MISSED].n[ACCESSES];
}

static bool has_races(const struct cell *c)
{
    return c->is.truth.n[ACCESSES] > 0;
}

enum verdict judge_program(const struct cell *c)
{
    if (c->program->captured)
        return NO_CASE;
    return when(has_races(c) == c->program->racy);
}

static enum verdict judge_exact(const struct cell *c)
{
    return when(!falses(c, VIEW_LARD) && !missed(c, VIEW_LARD));
}

/* A capture has the program's accesses and synchronisation, and none of the runtime's: what is said
 * of those has no case there. */
static bool has_system(const struct cell *c)
{
    return !c->program->captured || c->is.moves.system > 0;
}

static enum verdict judge_all_memory(const struct cell *c)
{
    if (!has_system(c))
        return NO_CASE;
    return when(falses(c, VIEW_ALL_MEMORY));
}

/* The paper says "nearly all" and gives no number; nine of ten is ours. */
static enum verdict judge_all_sync(const struct cell *c)
{
    const uint64_t some = missed(c, VIEW_ALL_SYNC);

    if (!has_races(c) || !has_system(c))
        return NO_CASE;
    return when(c->program->hidden ? some * 10 >= c->is.truth.n[ACCESSES] * 9 : some > 0);
}

static enum verdict judge_no_clear(const struct cell *c)
{
    /* No memory was used again: there is nothing to mistake, so nothing may be false. */
    if (c->is.moves.uses_again == 0)
        return when(!falses(c, VIEW_NO_CLEAR));
    return falses(c, VIEW_NO_CLEAR) ? HOLDS : NO_CASE;
}

static enum verdict judge_no_copy(const struct cell *c)
{
    /* Nothing moves, or nothing races: then nothing may be missed. Else a miss is what the paper
     * says, and none is no case, as what races need not be what moves. */
    if (!c->collector->moves || !has_races(c))
        return when(!missed(c, VIEW_NO_COPY));
    return missed(c, VIEW_NO_COPY) ? HOLDS : NO_CASE;
}

static enum verdict judge_naive(const struct cell *c)
{
    if (!has_system(c) && !(falses(c, VIEW_NAIVE) && missed(c, VIEW_NAIVE)))
        return NO_CASE;
    return when(falses(c, VIEW_NAIVE) && (!has_races(c) || missed(c, VIEW_NAIVE)));
}

static enum verdict judge_more(const struct cell *c)
{
    const uint64_t *lard = c->is.view[VIEW_LARD][RACES].n, *naive = c->is.view[VIEW_NAIVE][RACES].n;

    if (!has_system(c))
        return NO_CASE;
    return when(naive[ACCESSES] > lard[ACCESSES] && naive[SITES] > lard[SITES] &&
                naive[SYSTEM] > 0);
}

static const struct claim claims2[] = {
    {VIEW_LARD, RACES, "finds what an accurate detector finds", judge_exact},
    {VIEW_NAIVE, RACES, "more, at more sites, also the system's", judge_more},
    {VIEWS, TALLIES, NULL, NULL}};
static const struct claim claims3[] = {
    {VIEW_LARD, RACES, "no false, no missed", judge_exact},
    {VIEW_ALL_MEMORY, FALSE, "false everywhere", judge_all_memory},
    {VIEW_ALL_SYNC, MISSED, "misses where there are races", judge_all_sync},
    {VIEW_NO_CLEAR, FALSE, "false only where memory is reused", judge_no_clear},
    {VIEW_NO_COPY, MISSED, "misses only what races and moves", judge_no_copy},
    {VIEW_NAIVE, FALSE, "false everywhere, misses where races are", judge_naive},
    {VIEW_NAIVE, MISSED, "", NULL},
    {VIEWS, TALLIES, NULL, NULL}};

/* LARD 5.2: "All of these LARD extensions are necessary for accuracy in practice." */
const struct overall_claim needs[NEEDS] = {
    {VIEW_ALL_MEMORY, FALSE, true, "somewhere it has false races"},
    {VIEW_ALL_SYNC, MISSED, true, "somewhere it misses races"},
    {VIEW_NO_CLEAR, FALSE, false, "somewhere it has false races"},
    {VIEW_NO_COPY, MISSED, false, "somewhere it misses races"}};

bool any_system(const struct cell *cell, size_t cells)
{
    for (size_t i = 0; i < cells; i++)
        if (has_system(&cell[i]))
            return true;
    return false;
}

size_t cells_that_need(const struct cell *cell, size_t cells, const struct overall_claim *claim)
{
    size_t n = 0;

    for (size_t i = 0; i < cells; i++)
        n += cell[i].is.view[claim->view][claim->of].n[ACCESSES] > 0;
    return n;
}

const struct paper papers[] = {
    {"lard-table2", "2", "LARD, Table 2: races found, each program and collector", claims2, false},
    {"lard-table3", "3", "LARD, Table 3: false and missed races with single extensions left out",
     claims3, true},
    {NULL, NULL, NULL, NULL, false}};
