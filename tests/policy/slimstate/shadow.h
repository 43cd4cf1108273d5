/* shadow.h - slimstate's shadow is FastTrack's. */
#ifndef LARDSIM_TESTS_SLIM_SHADOW_H
#define LARDSIM_TESTS_SLIM_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

/* After each event of a random execution, up to its first race; else tells where not. */
bool slim_shadow_holds(uint64_t seed);

#endif
