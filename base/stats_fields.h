/* stats_fields.h - the fields of a component's statistics, of the rows of one table. What includes
 * this, in the middle of a struct, says first which table; stats_declare.h declares them.
 *
 *     struct radish_stats {
 *     #define STATS_DEF "policy/radish/stats.def"
 *     #include "base/stats_fields.h"
 *     };
 */
#ifdef STATS_DEF
#define COUNT(field, name, unit, help)             uint64_t field;
#define LEVEL(field, name, unit, help)             uint64_t field;
#define VECTOR(field, n, labels, name, unit, help) uint64_t field[n];
#define HISTOGRAM(field, name, unit, help)         struct histogram field;
#define RATIO(num, den, name, help)
#include STATS_DEF
#undef COUNT
#undef LEVEL
#undef VECTOR
#undef HISTOGRAM
#undef RATIO
#undef STATS_DEF
#endif
