/* walk.c - reading a whole source, event by event, and what a copy of it says of itself. */
#include "trace/trace.h"

struct sink_info source_copy_info(const struct source *from, uint64_t first)
{
    return (struct sink_info){.producer = from->producer,
                              .first = first,
                              .granularity = from->granularity,
                              .layout = from->layout,
                              .gaps = from->gaps};
}

/* Numbers are the trace's: an event of two records has one. */
int source_walk(struct source *from, walk_fn *fn, void *arg, struct err *e)
{
    struct batch b;

    for (;;) {
        if (source_next(from, &b, e))
            return -1;
        if (b.records == 0)
            return 0;
        uint64_t number = b.first;
        for (size_t i = 0; i < b.records; i += event_records(&b.rec[i])) {
            const int next = fn(arg, &b.rec[i], number++, e);
            if (next != WALK_ON)
                return next == WALK_STOP ? 0 : -1;
        }
    }
}
