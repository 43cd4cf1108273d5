/* progress.c - tells on standard error how far a run is: on a terminal after a second and then each
 * half second, on one line; else a line each 30 seconds, so that a log stays short. By the wall
 * clock, which no result depends on. */
#include <inttypes.h>
#include <unistd.h>

#include "cli/run/run.h"

static double seconds_since(const struct timespec *began)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - began->tv_sec) + (double)(now.tv_nsec - began->tv_nsec) / 1e9;
}

void progress_begin(struct progress *p)
{
    *p = (struct progress){.terminal = isatty(STDERR_FILENO)};
    clock_gettime(CLOCK_MONOTONIC, &p->began);
}

void progress_tell(void *progress, uint64_t events)
{
    struct progress *p = progress;
    const double now = seconds_since(&p->began);
    const double due = p->terminal ? (p->told > 0 ? p->told + 0.5 : 1) : p->told + 30;

    if (now < due)
        return;
    p->told = now;
    fprintf(stderr,
            p->terminal ? "\r%.0f s, %.1f M events, %.1f M a second\033[K"
                        : "lardsim: %.0f s, %.1f M events, %.1f M a second\n",
            now, (double)events / 1e6, (double)events / 1e6 / now);
}

void progress_end(struct progress *p)
{
    if (p->terminal && p->told > 0)
        fputs("\r\033[K", stderr);
}
