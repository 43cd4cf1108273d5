/* count.h - what every memory counts about its requests. For the memories only. */
#ifndef LARDSIM_MEMORY_COUNT_H
#define LARDSIM_MEMORY_COUNT_H

#include "memory/memory.h"

struct memory_count {
    uint64_t reads, writes; /* requests, each of a line */
    uint64_t bytes_read[TRAFFICS], bytes_written[TRAFFICS];
    struct histogram latency; /* cycles of a read, from arrival to answer */
};

void memory_count_declare(struct stats_group *g, const struct memory_count *c);

static inline void memory_count_request(struct memory_count *c, const struct mem_request *r,
                                        unsigned line)
{
    if (r->write) {
        c->writes++;
        c->bytes_written[r->traffic] += line;
    } else {
        c->reads++;
        c->bytes_read[r->traffic] += line;
    }
}

#endif
