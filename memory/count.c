/* count.c - declares what every memory counts about its requests. */
#include "memory/count.h"

static const char *const traffic_labels[TRAFFICS] = {"data", "metadata"};

void memory_count_declare(struct stats_group *g, const struct memory_count *c)
{
    stats_count(g, "reads", "count", "Lines that were read from memory.", &c->reads);
    stats_count(g, "writes", "count", "Lines that were written to memory.", &c->writes);
    stats_vector(g, "bytes-read", "bytes", "Bytes read from memory, by whose they are.",
                 c->bytes_read, TRAFFICS, traffic_labels);
    stats_vector(g, "bytes-written", "bytes", "Bytes written to memory, by whose they are.",
                 c->bytes_written, TRAFFICS, traffic_labels);
    stats_histogram(g, "read-latency", "cycles",
                    "From a read's arrival at the memory to its answer.", &c->latency);
}
