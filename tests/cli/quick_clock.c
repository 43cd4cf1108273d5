/* quick_clock.c - to be loaded before the C library (LD_PRELOAD): each time that the monotonic
 * clock is read it has gone on by CLOCK_STEP milliseconds more. What is due after a while is due at
 * once, and what is shown depends on what is done, on no host's speed.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static atomic_long reads;
    const char *step = getenv("CLOCK_STEP");
    const long failed = syscall(SYS_clock_gettime, clock, now);

    if (!failed && clock == CLOCK_MONOTONIC && step) {
        const long ms = strtol(step, NULL, 10) * ++reads;
        now->tv_sec += ms / 1000;
    }
    return (int)failed;
}
