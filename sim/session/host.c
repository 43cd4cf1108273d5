/* host.c - what the run cost the host: time and memory. Nothing of it enters a result: it goes to
 * host.json only, as no two runs agree in it. */
#include "sim/session/session.h"

#include <sys/resource.h>
#include <time.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

void host_read(struct host_clock *h)
{
    struct timespec now, date;
    struct rusage use;
    struct tm utc;

    clock_gettime(CLOCK_REALTIME, &date);
    strftime(h->date, sizeof h->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&date.tv_sec, &utc));
    clock_gettime(CLOCK_MONOTONIC, &now);
    getrusage(RUSAGE_SELF, &use);
    h->seconds = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    h->user = seconds(use.ru_utime);
    h->system = seconds(use.ru_stime);
    /* Linux tells it in KiB. */
    h->max_rss = (uint64_t)use.ru_maxrss * 1024;
}
