/* rules.h - slimstate's rules one by one. */
#ifndef LARDSIM_TESTS_SLIM_MORE_H
#define LARDSIM_TESTS_SLIM_MORE_H

#include <stdbool.h>

bool slim_more_fails(void); /* and tells where */

#endif
