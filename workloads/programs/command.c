/* command.c - runs other programs: compilers, package tools, programs that are captured. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/programs/programs.h"
#include "base/program/stop.h"

static NO_RETURN void become(const struct child *c)
{
    const int out = c->out ? open(c->out, O_WRONLY | O_CREAT | O_TRUNC, 0666) : 2;
    const int in = open("/dev/null", O_RDONLY);

    if (out >= 0 && in >= 0 && dup2(out, 1) >= 0 && dup2(in, 0) >= 0 && (!c->dir || !chdir(c->dir)))
        execvp(c->argv[0], (char *const *)c->argv);
    _exit(127);
}

/* A signal that came for us ends it, too. */
static int wait_for(pid_t pid, int *status)
{
    const pid_t got = waitpid(pid, status, 0);

    if (got < 0 && errno == EINTR) {
        kill(pid, SIGTERM);
        while (waitpid(pid, status, 0) < 0 && errno == EINTR)
            ;
        errno = EINTR;
        return -1;
    }
    return got < 0 ? -1 : 0;
}

int command_run(const struct child *c, struct err *e)
{
    int status;

    fflush(NULL);
    stop_calls(NULL, NULL);
    const pid_t pid = fork();
    if (pid == 0)
        become(c);
    if (pid < 0 || wait_for(pid, &status))
        return err_set(e, LARD_INTERNAL, "%s: %s", c->argv[0], strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return err_set(e, LARD_USAGE, "%s: can't be run; install it", c->argv[0]);
    return err_set(e, LARD_TRACE, "%s: ended with %s %d; what it said is above", c->argv[0],
                   WIFEXITED(status) ? "exit code" : "signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static NO_RETURN void print_into(int out, const char *const *argv)
{
    const int none = open("/dev/null", O_RDWR);

    dup2(none, 0);
    dup2(none, 2);
    dup2(out, 1);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

char *command_text(const char *const *argv)
{
    int ends[2];
    size_t room = 0;
    char *text = NULL;

    if (pipe2(ends, O_CLOEXEC))
        return NULL;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        print_into(ends[1], argv);
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    if (in && getdelim(&text, &room, '\0', in) < 0) {
        free(text);
        text = NULL;
    }
    if (in)
        fclose(in);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return text;
}
