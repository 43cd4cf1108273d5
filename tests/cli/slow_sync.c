/* slow_sync.c - to be loaded before the C library (LD_PRELOAD): each fsync takes SLOW_SYNC
 * milliseconds, as on a disk that is busy, and if SYNC_FILE is set, waits until that file is gone.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int fsync(int fd)
{
    const char *slow = getenv("SLOW_SYNC"), *file = getenv("SYNC_FILE");
    const long ms = slow ? strtol(slow, NULL, 10) : 0;
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

    do
        nanosleep(&pause, NULL);
    while (file && access(file, F_OK) == 0);
    return (int)syscall(SYS_fsync, fd);
}
