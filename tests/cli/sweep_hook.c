/* sweep_hook.c - what goes wrong under a sweep, loaded before it (LD_PRELOAD): the process that makes
 * the folder of the cell $HOOK_CELL crashes, hangs or runs out of memory, as $HOOK_DOES says; and
 * with $HOOK_SLOW every fsync takes so many milliseconds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void go_wrong(const char *how)
{
    const struct rlimit none = {1, 1};

    if (strcmp(how, "crash") == 0)
        abort();
    if (strcmp(how, "memory") == 0)
        setrlimit(RLIMIT_AS, &none);
    while (strcmp(how, "hang") == 0)
        pause();
    while (strcmp(how, "eat") == 0)
        memset(malloc(1 << 20), 1, 1 << 20);
}

static pid_t first; /* the process that the hook was loaded into; those it makes may go wrong */

__attribute__((constructor)) static void note_first(void)
{
    first = getpid();
}

int mkdir(const char *path, mode_t mode)
{
    int (*real)(const char *, mode_t) = (int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir");
    const char *cell = getenv("HOOK_CELL"), *does = getenv("HOOK_DOES");

    if (cell && does && getpid() != first && strstr(path, "/tmp/") && strstr(path, cell))
        go_wrong(does);
    return real(path, mode);
}

int fsync(int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    const char *slow = getenv("HOOK_SLOW");

    if (slow) {
        const struct timespec t = {.tv_nsec = atol(slow) * 1000000};
        nanosleep(&t, NULL);
    }
    return real(fd);
}
