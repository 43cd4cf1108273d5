/* table.h - Table I of SlimState, by enumeration of all footprints and all partitions of small
 * arrays, against the paper's sets. */
#ifndef LARDSIM_TESTS_SLIM_TABLE_H
#define LARDSIM_TESTS_SLIM_TABLE_H

#include <stdbool.h>

bool slim_table_fails(void); /* and tells where */

#endif
