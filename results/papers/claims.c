/* claims.c - what LARD says of its Tables 2 and 3, as judgements of a program under a collector,
 * and the programs that are run for it. Numbers are not judged: the programs are not the paper's
 * own. What the paper printed is in results/papers/printed/. */
#include "results/papers/claims.h"

#include <stdlib.h>
#include <string.h>

#include "results/papers/table.h"

/* ---- what is run ---------------------------------------------------------------------------- */

static const struct program twins[] = {
    {"javagrande@lard", NULL, false, "Java Grande", false, false, false},
    {"avrora@lard", NULL, true, "avrora", false, false, false},
    {"luindex@lard", NULL, false, "luindex", false, false, false},
    {"lusearch@lard", NULL, false, "lusearch", false, false, false},
    {"pmd@lard", NULL, true, "pmd", true, false, false},
    {"sunflow@lard", NULL, true, "sunflow", true, false, false},
    {"xalan@lard", NULL, true, "xalan", true, false, false},
    {NULL, NULL, false, NULL, false, false, false},
};

static const struct program kernels[] = {
    {"pool", NULL, false, NULL, false, false, false},
    {"pool", "racy=on", true, NULL, false, false, false},
    {"montecarlo", NULL, false, NULL, false, false, false},
    {"raytracer", NULL, false, NULL, false, false, false},
    {"raytracer", "racy=on", true, NULL, false, false, false},
    {"hedc", "queries=200", false, NULL, false, false, false},
    {"hedc", "queries=200,racy=on", true, NULL, false, false, false},
    {"tsp", NULL, false, NULL, false, false, false},
    {"tsp", "racy=on", true, NULL, false, false, false},
    {"multiset", NULL, false, NULL, false, false, false},
    {"philosopher", NULL, false, NULL, false, false, false},
    {"philosopher", "race=on", true, NULL, false, false, false},
    {"churn", "steps=500", false, NULL, false, false, false},
    {"churn", "steps=500,race=on", true, NULL, false, false, false},
    {NULL, NULL, false, NULL, false, false, false},
};

/* Captures of real programs (docs/programs.md), in their small size. */
#define JAVA(name)                                                                                 \
    {                                                                                              \
        name, NULL, false, NULL, false, true, false                                                \
    }
#define NATIVE(name)                                                                               \
    {                                                                                              \
        name, NULL, false, NULL, false, true, true                                                 \
    }
static const struct program real[] = {
    JAVA("batik"),      JAVA("colt"),
    JAVA("fop"),        JAVA("h2"),
    JAVA("hsqldb"),     JAVA("jython"),
    JAVA("lucene"),     JAVA("lucene4"),
    JAVA("sunflow"),    JAVA("tomcat"),
    JAVA("xalan"),      NATIVE("pbzip2"),
    NATIVE("squashfs"), {NULL, NULL, false, NULL, false, false, false},
};

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
    return c->is.view[v].falses.accesses;
}

static uint64_t missed(const struct cell *c, enum view_id v)
{
    return c->is.view[v].missed.accesses;
}

static bool has_races(const struct cell *c)
{
    return c->is.truth.accesses > 0;
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
    return !c->program->captured || c->is.system > 0;
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
    return when(c->program->hidden ? some * 10 >= c->is.truth.accesses * 9 : some > 0);
}

static enum verdict judge_no_clear(const struct cell *c)
{
    /* No memory was used again: there is nothing to mistake, so nothing may be false. */
    if (c->is.uses_again == 0)
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
    const struct tally *lard = &c->is.view[VIEW_LARD].races, *naive = &c->is.view[VIEW_NAIVE].races;

    if (!has_system(c))
        return NO_CASE;
    return when(naive->accesses > lard->accesses && naive->sites > lard->sites &&
                naive->system > 0);
}

static const struct claim claims2[] = {
    {VIEW_LARD, SHOWS_RACES, "finds what an accurate detector finds", judge_exact},
    {VIEW_NAIVE, SHOWS_RACES, "more, at more sites, also the system's", judge_more},
    {VIEWS, 0, NULL, NULL}};
static const struct claim claims3[] = {
    {VIEW_LARD, SHOWS_RACES, "no false, no missed", judge_exact},
    {VIEW_ALL_MEMORY, SHOWS_FALSE, "false everywhere", judge_all_memory},
    {VIEW_ALL_SYNC, SHOWS_MISSED, "misses where there are races", judge_all_sync},
    {VIEW_NO_CLEAR, SHOWS_FALSE, "false only where memory is reused", judge_no_clear},
    {VIEW_NO_COPY, SHOWS_MISSED, "misses only what races and moves", judge_no_copy},
    {VIEW_NAIVE, SHOWS_FALSE | SHOWS_MISSED, "false everywhere, misses where races are",
     judge_naive},
    {VIEWS, 0, NULL, NULL}};

/* LARD 5.2: "All of these LARD extensions are necessary for accuracy in practice." */
const struct overall_claim needs[NEEDS] = {
    {VIEW_ALL_MEMORY, false, true, "somewhere it has false races"},
    {VIEW_ALL_SYNC, true, true, "somewhere it misses races"},
    {VIEW_NO_CLEAR, false, false, "somewhere it has false races"},
    {VIEW_NO_COPY, true, false, "somewhere it misses races"}};

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
        n += (claim->missed ? missed : falses)(&cell[i], claim->view) > 0;
    return n;
}

const struct paper papers[] = {
    {"lard-table2", "2", "LARD, Table 2: races found, each program and collector", claims2, false},
    {"lard-table3", "3", "LARD, Table 3: false and missed races with single extensions left out",
     claims3, true},
    {NULL, NULL, NULL, NULL, false}};

/* ---- what it printed ------------------------------------------------------------------------ */

/* Of LARD: the tables here are its. */
static const struct printed *row_find(const char *table, const char *program, const char *collector,
                                      const char *detector, const char *measure)
{
    return printed_find("lard", table, program, collector, detector, measure);
}

uint64_t paper_value(const char *table, const char *program, const char *collector,
                     const char *detector, const char *measure)
{
    const struct printed *r = row_find(table, program, collector, detector, measure);

    return r ? strtoull(r->value, NULL, 10) : PAPER_NONE;
}

const char *paper_erratum(const char *table, const char *program, const char *collector,
                          const char *detector, const char *measure)
{
    const struct printed *r = row_find(table, program, collector, detector, measure);

    return r ? r->erratum : "";
}
