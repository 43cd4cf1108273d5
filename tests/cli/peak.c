/* peak.c - runs a command and says on the last line of standard error what it took of the host's
 * memory at most, in KiB: "peak 12345". Ends as the command does. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rusage use;
    int status;

    if (argc < 2)
        return 99;
    const pid_t child = fork();
    if (child == 0) {
        execvp(argv[1], argv + 1);
        _exit(99);
    }
    if (child < 0 || wait4(child, &status, 0, &use) != child)
        return 99;
    fprintf(stderr, "peak %ld\n", use.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
