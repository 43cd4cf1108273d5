/* input.c - a file that was written is read again, whole. Each read is checked. */
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

int64_t file_bytes(int fd, void *to, size_t most)
{
    size_t n = 0;

    while (n < most) {
        const ssize_t got = read(fd, (char *)to + n, most - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        n += (size_t)got;
    }
    return (int64_t)n;
}

/* Room for what the file says it has, so that most are read at once; a pipe says 0. */
static size_t first_room(int fd, size_t most)
{
    struct stat st;
    const size_t bytes = fstat(fd, &st) || st.st_size < 4096 ? 4096 : (size_t)st.st_size;

    return (bytes < most ? bytes : most) + 2;
}

static char *read_open(int fd, size_t most, size_t *bytes)
{
    size_t room = first_room(fd, most);
    char *text = xmalloc(room);

    for (*bytes = 0;;) {
        const size_t left = room - 1 - *bytes, wanted = left < most - *bytes ? left : most - *bytes;
        const int64_t got = file_bytes(fd, text + *bytes, wanted);
        if (got < 0) {
            free(text);
            return NULL;
        }
        *bytes += (size_t)got;
        if ((size_t)got < wanted || *bytes == most)
            break;
        text = xrealloc(text, room *= 2, 1);
    }
    text[*bytes] = '\0';
    return text;
}

char *file_text(const char *path, size_t most, size_t *bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd < 0 ? NULL : read_open(fd, most, bytes);
    const int reason = text ? 0 : errno;

    if (fd >= 0)
        close(fd);
    errno = reason;
    return text;
}
