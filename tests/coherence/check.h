/* check.h - the invariants of the protocol: one writer or many readers, the directory exact,
 * inclusion, every resident line counted. Ends the process where one does not hold. */
#ifndef LARDSIM_COHERENCE_CHECK_H
#define LARDSIM_COHERENCE_CHECK_H

#include "coherence/coherence.h"

void coherence_check(const struct coherence *c);

#endif
