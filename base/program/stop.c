/* stop.c - the one place that handles signals: what runs is told to end, what is copied ends with
 * its next batch (results/job/stopped.c). */
#include "base/program/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* SIGXCPU is the limit on processor time (ulimit -t), which the kernel repeats each second. */
static const int stops[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};

static volatile sig_atomic_t came; /* the signal; 0: none */
static struct {
    void (*volatile fn)(void *what, int signal);
    void *volatile what; /* NULL: nothing runs */
} running;

static void on_signal(int signal)
{
    if (came && signal == SIGXCPU)
        return;
    if (came)
        _exit(128 + signal);
    came = signal;
    if (running.what)
        running.fn(running.what, signal);
}

/* Tells if the program's caller has this signal ignored, as a shell's background or nohup does. It
 * stays ignored. */
static bool is_ignored(int signal)
{
    struct sigaction was;

    return sigaction(signal, NULL, &was) || was.sa_handler == SIG_IGN;
}

static void heeded_stops(sigset_t *to)
{
    sigemptyset(to);
    for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
        if (!is_ignored(stops[i]))
            sigaddset(to, stops[i]);
}

/* Calls that wait are interrupted: a pipe may be silent for ever. */
static void catch_signals(void)
{
    struct sigaction now = {.sa_handler = on_signal};

    heeded_stops(&now.sa_mask);
    for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
        if (sigismember(&now.sa_mask, stops[i]))
            sigaction(stops[i], &now, NULL);
}

void stop_leave(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

/* A descriptor gets a blocked signal even where it is ignored. */
int stop_descriptor(sigset_t *before)
{
    sigset_t heeded;

    heeded_stops(&heeded);
    sigprocmask(SIG_BLOCK, &heeded, before);
    const int fd = signalfd(-1, &heeded, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        sigprocmask(SIG_SETMASK, before, NULL);
    return fd;
}

int stop_toggles(void)
{
    sigset_t toggles;

    sigemptyset(&toggles);
    sigaddset(&toggles, SIGUSR2);
    sigprocmask(SIG_BLOCK, &toggles, NULL);
    return signalfd(-1, &toggles, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A signal between the two lines stops it twice, which is no harm. */
void stop_calls(void (*fn)(void *what, int signal), void *what)
{
    catch_signals();
    running.fn = fn;
    running.what = what;
    if (what && came)
        fn(what, came);
}

int stop_error(struct err *e)
{
    return err_set(e, (enum lard_exit)(128 + came),
                   "stopped by SIG%s before its end; no file was "
                   "written",
                   sigabbrev_np(came));
}

const volatile sig_atomic_t *stop_flag(void)
{
    catch_signals();
    return &came;
}

bool stop_code(int code)
{
    for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
        if (code == 128 + stops[i])
            return true;
    return false;
}

int stop_asked(struct err *e)
{
    return came ? stop_error(e) : 0;
}

void stop_judge(struct err *e)
{
    if (!came || !strstr(e->text, strerror(EINTR)))
        return;
    err_clear(e);
    (void)stop_error(e);
}
