/* stats_declare.h - declares the statistics of a table (stats_fields.h), each by stats_count and
 * the like, in the order of its rows. What includes this, in a function, says first which table;
 * `st` are the fields, and `g` is the group. */
#ifdef STATS_DEF
#define COUNT(field, name, unit, help) stats_count(g, name, unit, help, &st->field);
#define LEVEL(field, name, unit, help) stats_level(g, name, unit, help, &st->field);
#define VECTOR(field, n, labels, name, unit, help)                                                 \
    stats_vector(g, name, unit, help, st->field, n, labels);
#define HISTOGRAM(field, name, unit, help) stats_histogram(g, name, unit, help, &st->field);
#define RATIO(num, den, name, help)        stats_ratio(g, name, help, &st->num, &st->den);
#include STATS_DEF
#undef COUNT
#undef LEVEL
#undef VECTOR
#undef HISTOGRAM
#undef RATIO
#undef STATS_DEF
#endif
