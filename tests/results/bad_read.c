/* bad_read.c - to be loaded before the C library (LD_PRELOAD): of the reads of files whose path has
 * BAD_READ in it, the one with the number BAD_READ_AT, from 1, fails with EIO, and BAD_READ_HIT is
 * made. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_one(int fd)
{
    const char *part = getenv("BAD_READ");
    char link[64], path[4096];

    if (!part)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return strstr(path, part) != NULL;
}

ssize_t read(int fd, void *to, size_t n)
{
    static long reads;
    const char *at = getenv("BAD_READ_AT"), *hit = getenv("BAD_READ_HIT");
    const int before = errno;

    if (is_one(fd) && at && ++reads == strtol(at, NULL, 10)) {
        const int mark = hit ? open(hit, O_WRONLY | O_CREAT, 0666) : -1;
        if (mark >= 0)
            close(mark);
        errno = EIO;
        return -1;
    }
    errno = before;
    return (ssize_t)syscall(SYS_read, fd, to, n);
}
