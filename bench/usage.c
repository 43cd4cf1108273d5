/* usage.c - runs a command and prints what it used: user plus system seconds of all its threads,
 * elapsed seconds, and the largest resident set in KiB. Its output goes to /dev/null. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    struct timeval began, ended;
    struct rusage use;
    int status;

    if (argc < 2) {
        fputs("usage: usage COMMAND [ARGUMENT...]\n", stderr);
        return 2;
    }
    gettimeofday(&began, NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &use) < 0)
        return 1;
    gettimeofday(&ended, NULL);
    printf("%.3f %.3f %ld\n", seconds(use.ru_utime) + seconds(use.ru_stime),
           seconds(ended) - seconds(began), use.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
