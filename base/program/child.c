/* child.c - see child.h. */
#include "base/program/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/program/stop.h"

/* ---- a program that talks to our user ------------------------------------------------------- */

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

/* ---- a program that is heard ---------------------------------------------------------------- */

struct heard { /* the bytes that come through a pipe */
    int fd;    /* -1: its end was read */
    char *at;
    size_t n, cap;
};

enum { TEXT_MOST = 1 << 20 }; /* more is read, and forgotten */

static void text_read(struct heard *t)
{
    char part[4096];
    const ssize_t n = read(t->fd, part, sizeof part);

    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        close(t->fd);
        t->fd = -1;
        return;
    }
    for (ssize_t i = 0; i < n && t->n < TEXT_MOST; i++) {
        t->at = xgrow(t->at, t->n, &t->cap, 1);
        t->at[t->n++] = part[i];
    }
}

/* A signal that came for us ends the program, too; who else has the pipes is not waited for. */
static void text_read_both(struct heard t[2], pid_t pid)
{
    const volatile sig_atomic_t *const stop = stop_flag();

    while (t[0].fd >= 0 || t[1].fd >= 0) {
        struct pollfd p[2] = {{t[0].fd, POLLIN, 0}, {t[1].fd, POLLIN, 0}};
        const int heard = poll(p, 2, 200);
        if (heard < 0 && errno != EINTR)
            break;
        for (unsigned i = 0; i < 2; i++)
            if (heard > 0 && t[i].fd >= 0 && p[i].revents)
                text_read(&t[i]);
        if (!*stop)
            continue;
        if (pid > 0)
            kill(pid, SIGTERM);
        break;
    }
    for (unsigned i = 0; i < 2; i++) {
        t[i].at = xgrow(t[i].at, t[i].n, &t[i].cap, 1);
        t[i].at[t[i].n] = '\0';
    }
}

/* Runs in the child. A failure is told through the pipe `told`, which a program that starts
 * closes. */
static void start(const char *const *argv, const int pipes[2][2], int told)
{
    const int nothing = open("/dev/null", O_RDONLY);

    if (dup2(nothing, 0) == 0 && dup2(pipes[0][1], 1) == 1 && dup2(pipes[1][1], 2) == 2)
        execvp(argv[0], (char *const *)(uintptr_t)argv);
    const int why = errno;
    _exit(write(told, &why, sizeof why) < 0 ? 126 : 127);
}

int child_run(struct child_process *c, const char *const *argv, struct err *e)
{
    int pipes[2][2], told[2], why = 0;

    *c = (struct child_process){0};
    if (pipe2(told, O_CLOEXEC) || pipe2(pipes[0], O_CLOEXEC) || pipe2(pipes[1], O_CLOEXEC))
        return err_set(e, LARD_LIMIT, "%s can't be started: %s", argv[0], strerror(errno));
    const pid_t pid = fork();
    if (pid == 0)
        start(argv, (const int(*)[2])pipes, told[1]);
    why = pid < 0 ? errno : 0;
    close(told[1]);
    close(pipes[0][1]);
    close(pipes[1][1]);
    if (pid > 0 && read(told[0], &why, sizeof why) != (ssize_t)sizeof why)
        why = 0;
    close(told[0]);
    struct heard t[2] = {{.fd = pipes[0][0]}, {.fd = pipes[1][0]}};
    text_read_both(t, pid);
    c->said = t[0].at;
    c->error = t[1].at;
    while (pid > 0 && waitpid(pid, &c->status, 0) < 0 && errno == EINTR)
        ;
    if (why)
        return err_set(e, LARD_USAGE, "%s can't be started: %s", argv[0], strerror(why));
    return stop_asked(e);
}

void child_free(struct child_process *c)
{
    free(c->said);
    free(c->error);
    *c = (struct child_process){0};
}

bool child_failed(const struct child_process *c)
{
    return !WIFEXITED(c->status) || WEXITSTATUS(c->status);
}

const char *child_complaint(struct child_process *c)
{
    size_t n = c->error ? strlen(c->error) : 0;
    char *last;

    while (n && (c->error[n - 1] == '\n' || c->error[n - 1] == '='))
        c->error[--n] = '\0';
    if (n)
        return (last = strrchr(c->error, '\n')) ? last + 1 : c->error;
    return WIFSIGNALED(c->status) ? strsignal(WTERMSIG(c->status)) : "it says nothing";
}

char *command_text(const char *const *argv)
{
    struct child_process c;
    struct err none = {0};
    const bool silent = child_run(&c, argv, &none) || !*c.said;
    char *text = silent ? NULL : xstrdup(c.said);

    child_free(&c);
    return text;
}
