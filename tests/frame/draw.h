/* draw.h - random streams for tests of properties: parameters of the generator drawn by a seed,
 * small changes that the generator never makes, and a stream that shows a difference made as small
 * as it goes. */
#ifndef LARDSIM_TESTS_DRAW_H
#define LARDSIM_TESTS_DRAW_H

#include "base/rng.h"
#include "tests/frame/verdict.h"
#include "trace/trace.h"

uint64_t draw_between(struct rng *r, uint64_t low, uint64_t high); /* both included */
uint64_t draw_share(struct rng *r, uint64_t most); /* often none at all, seldom up to most */

struct synth_params draw_params(struct rng *r, uint64_t seed);
/* For conflicts of regions: few variables, little synchronisation, so that regions go on for long;
 * half of the seeds. The other half is as above. */
struct synth_params draw_regions(struct rng *r, uint64_t seed);
/* For release sequences of C11: most of what orders is atomic accesses to a few locations. */
struct synth_params draw_atomics(struct rng *r, uint64_t seed);
/* For footprints: objects of many variables, every other one an array, of which a thread touches
 * several before it synchronises. */
struct synth_params draw_arrays(struct rng *r, uint64_t seed);
/* For comparisons at barriers, of which some threads alone pass most. */
struct synth_params draw_barriers(struct rng *r, uint64_t seed);
void draw_print(const struct synth_params *p); /* as `lardsim` takes it */

void draw_stream(struct stream *s, const struct synth_params *p);
/* What the generator never does: here and there an event is missing, or has another owner. Not for
 * raw streams: there a runtime writes all entries of a clock, or order isn't transitive. */
void draw_changes(struct rng *r, struct stream *s, bool full);

/* full: all contracts are kept, as rules_new has it. */
bool stream_lawful(const struct stream *s, bool full);
/* All but `count` events from `first`. */
struct stream stream_without(const struct stream *s, size_t first, size_t count);
/* Takes pieces away, from halves down to single events, as long as it differs. */
void stream_minimise(struct stream *s, bool full,
                     bool (*differs)(const struct stream *s, const void *arg), const void *arg);

#endif
