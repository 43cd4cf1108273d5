/* predictor.h - a core's branch predictor: what it guessed of a branch, by those before it.
 *
 * A program's own branches are in no trace. Software policies tell of those of their checks whose
 * outcome depends on data (policy/cost/ledger.h). What is guessed wrongly costs core.mispredict
 * cycles, once the latest load's value is there (sim/scheduler/pipeline.c).
 *
 * two-bit: a counter for each branch (Smith, ISCA 1981). tage: the same as a base, and tables with
 * partial tags that are looked up by histories of geometric lengths; the longest that matches
 * decides (Seznec and Michaud, JILP 8, 2006). */
#ifndef LARDSIM_PREDICTOR_H
#define LARDSIM_PREDICTOR_H

#include <stdbool.h>
#include <stdint.h>

enum predictor_type { PREDICTOR_NONE, PREDICTOR_TWO_BIT, PREDICTOR_TAGE };
extern const char *const predictor_text[]; /* NULL-terminated, for parameters */

struct predictor;
struct predictor *predictor_new(enum predictor_type type); /* one block, which the caller frees */
/* A branch, which has gone one way. True: as it was guessed. Other branches follow it. */
bool predictor_guesses(struct predictor *p, uint64_t branch, bool taken);
/* A jump or call that is always taken comes from there: it says on which way branches are met. */
void predictor_passes(struct predictor *p, uint64_t from);

#endif
